//! `sys.monitoring`: the numbers of its events, and the interpreter's tables of the tools that are
//! registered for them.

use super::forms::{GLOBAL_EVENTS, LOCAL_EVENTS};
use super::layouts::{code, interp};
use crate::abi;
use pyo3_ffi::{PyInterpreterState, PyObject};

/// The number of the event at the start of a function.
pub const PY_START: i64 = 0;
/// The number of the event of a `yield`, which no tool of ours is called for.
pub const PY_YIELD: i64 = 3;
/// The number of the event of a jump.
pub const JUMP: i64 = 7;
pub use super::forms::STOP_ITERATION;

/// Tool ids from the highest that has no owner by convention, then that of optimizers, then those
/// of the others.
pub const TOOL_IDS: [u8; 6] = [4, 5, 3, 2, 1, 0];

/// `what_event` of a thread when there is none.
pub const NO_EVENT: i32 = -1;

/// True if the interpreter forgets which instructions of a code object are traced one by one
/// (`f_trace_opcodes`, with which `pdb.set_trace()` stops in its own line) when the first event
/// gets a second tool. `sys.settrace` is such a second tool after ours.
pub const FORGETS_TRACED_INSTRUCTIONS: bool = true;

/// Returns true if the table of monitors has this tool recorded for an event. After the first
/// events have been registered, the runtime checks with it the bytes that [`tools_of`] reads: they
/// must have the tool for the registered events, and not for others.
///
/// # Safety
/// The thread has the GIL.
pub unsafe fn hears(interpreter: *mut PyInterpreterState, event: i64, tool: u8) -> bool {
    // SAFETY: a byte of the interpreter's state.
    let tools: u8 = unsafe { abi::read(interpreter, interp::MONITORS + event as i32) };
    tools & 1 << tool != 0
}

/// The tools that are called for any event in the whole interpreter, a bit each.
///
/// # Safety
/// The thread has the GIL.
#[inline]
pub unsafe fn tools_of(interpreter: *mut PyInterpreterState) -> u8 {
    // SAFETY: the table is an array of bytes there.
    union(unsafe {
        let events = interpreter.cast::<u8>().offset(interp::MONITORS as isize);
        std::slice::from_raw_parts(events, GLOBAL_EVENTS)
    })
}

/// The tools that are called for any event of a code object, a bit each.
///
/// # Safety
/// The thread has the GIL; `code` is a code object.
#[inline]
pub unsafe fn tools_of_code(code: *mut PyObject) -> u8 {
    // SAFETY: the table, if there is one, is an array of bytes at the beginning of the data for
    // instrumentation.
    unsafe {
        let local: *const u8 = abi::read(code, code::MONITORING);
        if local.is_null() {
            0
        } else {
            union(std::slice::from_raw_parts(local, LOCAL_EVENTS))
        }
    }
}

/// The loop has no early exit, so a few vector instructions do it.
fn union(events: &[u8]) -> u8 {
    events.iter().fold(0, |all, tools| all | tools)
}
