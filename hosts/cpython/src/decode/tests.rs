//! Compares decoding with the `dis` module: every instruction of a sample of the standard library,
//! and each rare one by hand.

use super::*;
use crate::testing::{Method, run, with_python};
use cladonia::bytecode::Document;

unsafe extern "C" fn dump(_: *mut PyObject, code: *mut PyObject) -> *mut PyObject {
    // SAFETY: called by Python code.
    unsafe {
        let text = decode(code).map_or_else(
            |error| format!("error: {error}"),
            |code| Document::print(&[code]),
        );
        ffi::PyUnicode_FromStringAndSize(text.as_ptr().cast(), text.len() as Py_ssize_t)
    }
}

/// Decodes, verifies, prints, parses and prints again; returns the error, or an empty string.
unsafe extern "C" fn round_trip(_: *mut PyObject, code: *mut PyObject) -> *mut PyObject {
    // SAFETY: called by Python code.
    let text = match unsafe { decode(code) } {
        Err(error) => error.to_string(),
        Ok(code) => match code.verify() {
            Err(errors) => format!("{}: {errors}", code.name),
            Ok(()) => reprinted(&code).err().unwrap_or_default(),
        },
    };
    // SAFETY: the same.
    unsafe { ffi::PyUnicode_FromStringAndSize(text.as_ptr().cast(), text.len() as Py_ssize_t) }
}

fn reprinted(code: &Code) -> Result<(), String> {
    let once = Document::print(std::slice::from_ref(code));
    let document = Document::parse(&once).map_err(|error| format!("{error} in\n{once}"))?;
    let twice = Document::print(&document.codes);
    // Numbers in labels count the classes that the host has registered.
    let without_numbers = |text: &str| {
        let pieces = text
            .split('#')
            .map(|piece| piece.trim_start_matches(|c: char| c.is_ascii_digit()));
        pieces.collect::<String>()
    };
    if without_numbers(&once) == without_numbers(&twice) {
        Ok(())
    } else {
        Err(format!("{once}\nthen\n{twice}"))
    }
}

static DUMP: Method = Method::new(c"dump", dump, ffi::METH_O);
static ROUND_TRIP: Method = Method::new(c"round_trip", round_trip, ffi::METH_O);

#[test]
fn code_decodes_as_dis_shows_it() {
    let comparison = include_str!("../../tests/compare_with_dis.py");
    let script = format!(
        "{comparison}
for code in standard_library(one_in=40):
    compare(code, dump(code))
    assert not round_trip(code), round_trip(code)
import argparse, asyncio, collections, json, unittest
for module in (argparse, asyncio, collections, dis, json, types, unittest):
    for value in vars(module).values():
        if isinstance(value, types.FunctionType):
            assert not round_trip(value.__code__), round_trip(value.__code__)
"
    );
    with_python(|| {
        run(
            &script,
            &[("dump", DUMP.object()), ("round_trip", ROUND_TRIP.object())],
        )
    });
}

#[test]
fn instrumented_code_decodes_like_any_other() {
    let comparison = include_str!("../../tests/compare_with_dis.py");
    let script = format!(
        "{comparison}
def f(xs, *, key=None):
    total = 0
    for x in xs:
        if key is not None and x != key:
            total += x
        elif x is None:
            try:
                total = super(int, total).__add__(*[1], **{{}})
            except* ValueError:
                total = (yield x)
    return (yield from [])
list(f([1, 2, 3]))
plain = dump(f.__code__)
events = sys.monitoring.events
everything = 0
for name in ('PY_START', 'PY_RESUME', 'PY_RETURN', 'PY_YIELD', 'CALL', 'LINE', 'INSTRUCTION', 'JUMP', 'BRANCH', 'STOP_ITERATION'):
    everything |= getattr(events, name)
sys.monitoring.use_tool_id(3, 'test')
for mask in (everything, everything & ~events.INSTRUCTION, everything & ~events.INSTRUCTION & ~events.LINE):
    sys.monitoring.set_local_events(3, f.__code__, mask)
    list(f([1, 2, 3]))
    compare(f.__code__, dump(f.__code__))
sys.monitoring.set_local_events(3, f.__code__, 0)
sys.monitoring.free_tool_id(3)
"
    );
    with_python(|| run(&script, &[("dump", DUMP.object())]));
}
