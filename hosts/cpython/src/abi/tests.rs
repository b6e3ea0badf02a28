//! The tables against the headers and the modules of the interpreter that the tests embed.

use super::{
    AbiError, MINOR, NAME, NEWEST_TESTED, TABLE, check_debug_offsets, debug, in_words, read,
    validate,
};
use crate::testing::{get, run, with_python};
use cladonia::bytecode::{BinaryOp, INPLACE};
use pyo3_ffi::*;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn the_interpreter_that_runs_validates_again_and_again() {
    with_python(|| {
        for _ in 0..300 {
            // SAFETY: the thread has the GIL.
            assert_eq!(unsafe { validate() }, Ok(()));
        }
    });
}

#[test]
fn a_patch_version_that_nobody_has_tested_is_called_newer() {
    let word = |patch: u32| in_words((3 << 24 | MINOR << 16 | patch << 8 | 0xf0).into());
    assert_eq!(word(0), format!("CPython 3.{MINOR}.0"));
    let (newest, newer) = (word(NEWEST_TESTED), word(NEWEST_TESTED + 12));
    assert_eq!(newest, format!("CPython 3.{MINOR}.{NEWEST_TESTED}"));
    assert!(
        newer.ends_with(" (newer than any this build was tested with; its self-test passed)"),
        "{newer}"
    );
}

#[test]
fn the_words_for_audit_hooks_are_found_and_are_null() {
    with_python(|| {
        // SAFETY: the thread has the GIL; the words are the interpreter's.
        let words =
            unsafe { super::audit_hooks().map(|words| words.map(|at| *(at as *const u64))) };
        assert_eq!(words, Some([0, 0]));
    });
}

unsafe extern "C" fn validate_here(_: *mut PyObject, _: *mut PyObject) -> *mut PyObject {
    // SAFETY: called by Python code.
    let message =
        unsafe { validate() }.map_or_else(|error| error.to_string(), |()| "ok".to_owned());
    // SAFETY: the same.
    unsafe { PyUnicode_FromStringAndSize(message.as_ptr().cast(), message.len() as Py_ssize_t) }
}

#[test]
fn tracers_and_monitors_do_not_disturb_the_validation() {
    static DEF: crate::testing::Method =
        crate::testing::Method::new(c"validate", validate_here, METH_NOARGS);
    with_python(|| {
        run(
            "
import sys
def tracer(*_):
    return tracer
sys.settrace(tracer)
sys.setprofile(lambda *_: None)
assert validate() == 'ok', validate()
sys.settrace(None)
sys.setprofile(None)
sys.monitoring.use_tool_id(3, 'test')
sys.monitoring.register_callback(3, sys.monitoring.events.INSTRUCTION, lambda *_: None)
sys.monitoring.set_events(3, sys.monitoring.events.INSTRUCTION)
assert validate() == 'ok', validate()
sys.monitoring.set_events(3, 0)
sys.monitoring.free_tool_id(3)
assert validate() == 'ok'
",
            &[("validate", DEF.object())],
        );
    });
}

#[test]
fn a_layout_that_differs_is_named() {
    unsafe extern "C" {
        static _PyRuntime: [u8; 1024];
    }
    with_python(|| {
        // SAFETY: the runtime state is far larger than that.
        let mut copy = unsafe { (&raw const _PyRuntime).read() };
        // SAFETY: a copy of the offsets.
        let check = |copy: &[u8; 1024]| unsafe { check_debug_offsets(copy.as_ptr()) };
        assert_eq!(check(&copy), Ok(()));
        let at = (debug::LIST + 8) as usize;
        copy[at] += 8;
        let error = check(&copy).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "the layout of this CPython differs from that of {NAME}: `PyListObject.ob_item` is 32, expected 24"
            )
        );
        copy[at] -= 8;
        copy[debug::FREE_THREADED as usize] = 1;
        assert_eq!(check(&copy), Err(AbiError::FreeThreaded));
        copy[debug::VERSION as usize + 2] = 99;
        assert_eq!(
            check(&copy),
            Err(AbiError::Version {
                major: 3,
                minor: 99
            })
        );
        copy[0] = 0;
        assert!(matches!(check(&copy), Err(AbiError::SelfTest { .. })));
        // SAFETY: eight bytes of the copy.
        assert_eq!(unsafe { read::<u8, _>(copy.as_ptr(), 1) }, b'd');
    });
}

/// Returns the headers of the interpreter that the tests embed, and those of others of the same
/// minor version, as `CLADONIA_HEADERS` names them: `python3.13` folders with a `:` between them.
fn header_folders() -> Vec<String> {
    let own = with_python(|| {
        let scope = run(
            "import sysconfig\npath = sysconfig.get_paths()['include']",
            &[],
        );
        // SAFETY: a string of the script.
        unsafe { crate::objects::text(get(scope, "path")) }
    });
    let others = std::env::var("CLADONIA_HEADERS").unwrap_or_default();
    let others = others.split(':').filter(|path| !path.is_empty());
    own.into_iter().chain(others.map(str::to_owned)).collect()
}

/// Runs `tests/probe.c` against the headers in a folder; none if there are none, or no compiler.
fn probe(include: &str) -> Option<String> {
    if !Path::new(include).join("internal/pycore_frame.h").exists() {
        eprintln!("skipped: no internal headers in {include}");
        return None;
    }
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/probe.c");
    let program = std::env::temp_dir().join(format!("cladonia-probe-{}", std::process::id()));
    let compiled = Command::new(compiler)
        .arg("-w")
        .arg("-I")
        .arg(include)
        // Distributions have `pyconfig.h` beside.
        .arg("-idirafter")
        .arg(Path::new(include).parent().unwrap_or(Path::new(include)))
        .arg(source)
        .arg("-o")
        .arg(&program)
        .status();
    let Ok(status) = compiled else {
        eprintln!("skipped: no C compiler");
        return None;
    };
    assert!(status.success(), "the probe does not compile");
    let output = Command::new(&program).output().expect("the probe runs");
    let _ = std::fs::remove_file(program);
    Some(String::from_utf8(output.stdout).expect("the probe prints ASCII"))
}

#[test]
fn the_table_is_what_the_headers_say() {
    for include in header_folders() {
        let Some(printed) = probe(&include) else {
            continue;
        };
        let theirs: Vec<&str> = printed.lines().collect();
        assert_eq!(theirs.len(), TABLE.len(), "{include}");
        for (&(group, name, value), theirs) in TABLE.iter().zip(theirs) {
            let (what, number) = theirs.split_once(' ').expect("a name and a number");
            assert_eq!(what, format!("{group}.{name}"), "{include}");
            let number: i32 = number.parse().expect("a number");
            // It grows behind its last field.
            let agrees = number == value || what == "thread.SIZE" && number > value;
            assert!(agrees, "{what} is {number} in {include}, not {value}");
        }
    }
}

#[test]
fn binary_operators_have_the_interpreters_numbers() {
    let inplace = |op: &BinaryOp| format!("{}=", op.symbol());
    let ours: Vec<String> = BinaryOp::ALL
        .iter()
        .map(|op| op.symbol().to_owned())
        .chain(BinaryOp::ALL.iter().map(inplace))
        .collect();
    assert_eq!(BinaryOp::ALL.len(), INPLACE as usize);
    with_python(|| {
        // Taking an item may be among them, as `[]`: the module of such a version has its number.
        run(
            &format!(
                "import opcode\nassert [op for _, op in opcode._nb_ops if op != '[]'] == {ours:?}"
            ),
            &[],
        )
    });
}
