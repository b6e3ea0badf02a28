//! Decoding against the `dis` module: every instruction of a sample of the standard library, and each odd one by hand.

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

/// Decodes, verifies, prints, parses and prints again; what went wrong, or nothing.
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
    // Numbers in labels count what the host has registered.
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

/// Op, arguments, position, where to resume, whether one can.
type Row = (Op, u32, u32, u32, u32, bool);

/// Bytes of instructions, decoded without hints.
fn decoded(units: &[(u8, u8)]) -> Result<Vec<Row>, DecodeError> {
    let bytes: Vec<u8> = units
        .iter()
        .flat_map(|(opcode, arg)| [*opcode, *arg])
        .collect();
    let decoded = decode_units(&bytes, |_, _| Vec::new())?;
    Ok(decoded
        .instrs
        .iter()
        .map(|i| (i.op, i.arg, i.arg2, i.pos, i.resume, i.resumable))
        .collect())
}

#[test]
fn prefixes_fold_and_superinstructions_come_apart() {
    let found = decoded(&[
        (oc::EXTENDED_ARG, 1),
        (oc::EXTENDED_ARG, 2),
        (oc::LOAD_CONST, 3),
        (oc::STORE_FAST_STORE_FAST, 0x52),
        (oc::EXTENDED_ARG, 1),
        (oc::LOAD_ATTR, 7),
    ]);
    assert_eq!(
        found,
        Ok(vec![
            (Op::LoadConst, 0x010203, 0, 2, 0, true),
            (Op::StoreFast, 5, 0, 3, 3, true),
            (Op::StoreFast, 2, 0, 3, 3, false),
            (Op::LoadAttr, 0x83, 1, 5, 4, true),
        ])
    );
}

#[test]
fn a_loop_ends_behind_the_interpreters_own_clean_up() {
    let found = decoded(&[
        (oc::FOR_ITER, 3),
        (oc::CACHE, 0),
        (oc::POP_TOP, 0),
        (oc::JUMP_BACKWARD, 5),
        (oc::CACHE, 0),
        (oc::END_FOR, 0),
        (oc::POP_TOP, 0),
        (oc::RETURN_CONST, 0),
    ]);
    let ops: Vec<(Op, u32)> = found.unwrap().iter().map(|i| (i.0, i.1)).collect();
    assert_eq!(
        ops,
        [
            (Op::ForIter, 5),
            (Op::PopTop, 0),
            (Op::JumpBackward, 0),
            (Op::PopTop, 0),
            (Op::PopTop, 0),
            (Op::ReturnConst, 0)
        ]
    );
}

#[test]
fn what_no_compiler_makes_is_refused() {
    assert_eq!(
        decoded(&[(oc::NOP, 0), (oc::ENTER_EXECUTOR, 0)]),
        Err(DecodeError::Opcode {
            opcode: oc::ENTER_EXECUTOR,
            name: "ENTER_EXECUTOR",
            position: 1
        })
    );
    assert_eq!(
        decoded(&[(250, 0)]).unwrap_err().to_string(),
        "opcode INSTRUMENTED_POP_JUMP_IF_TRUE (250) at 0"
    );
    assert_eq!(
        decoded(&[(oc::JUMP_FORWARD, 9)]),
        Err(DecodeError::Target { position: 0 })
    );
    assert!(matches!(
        decoded(&[(oc::JUMP_BACKWARD, 9), (oc::CACHE, 0)]),
        Err(DecodeError::Opcode { .. })
    ));
    assert!(matches!(
        decoded(&[(oc::EXTENDED_ARG, 9)]),
        Err(DecodeError::Opcode { .. })
    ));
}

#[test]
fn malformed_tables_are_refused_or_give_no_line() {
    let code = decode_units(&[oc::NOP, 0, oc::NOP, 0], |_, _| Vec::new()).unwrap();
    let entry = |start, end| Handler {
        start: Pc(start),
        end: Pc(end),
        target: Pc(0),
        depth: 1,
        lasti: true,
    };
    assert_eq!(
        decode_handlers(&[0x80 | 1, 1, 0, 3], &code),
        Ok(vec![entry(1, 2)])
    );
    assert_eq!(
        decode_handlers(&[0x80 | 1, 1, 0], &code),
        Err(DecodeError::ExceptionTable)
    );
    assert_eq!(
        decode_handlers(&[0x80, 9, 0, 0], &code),
        Err(DecodeError::ExceptionTable)
    );
    assert_eq!(decode_lines(&[], 7, 2), [0, 0]);
    assert_eq!(decode_lines(&[0xf9], 7, 3), [0, 0, 0]);
    assert_eq!(
        decode_lines(
            &[
                0x80 | 13 << 3,
                0x7f,
                0x7f,
                0x7f,
                0x7f,
                0x7f,
                0x7f,
                0x7f,
                0x7f,
                0x7f,
                0x7f,
                0x7f
            ],
            7,
            1
        )
        .len(),
        1
    );
}
