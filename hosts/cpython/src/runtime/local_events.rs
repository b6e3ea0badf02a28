//! Notice of events that a tool asks for on one code object.
//!
//! CPython 3.13 gives monitoring a new version when events are asked for everywhere (and for tracing and profiling),
//! which every unit compares. For one code object (`sys.monitoring.set_local_events`) it only rewrites the code. So
//! what that function does is replaced, while the JIT is on, by a C function that does the same and then makes the code's
//! units look. It is replaced in the function's row of the module's table of methods: whoever has taken the function before, or keeps it
//! until after, has the same one. And since it rewrites the code at once, it serves where native code leaves to code that has missed a change.

use super::Gil;
use super::abi;
use super::capi::*;
use super::listening;
use super::listing::{self, Row};
use pyo3_ffi::*;
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::OnceLock;

/// The row of the function, and what it does, before it was replaced.
static ORIGINAL: OnceLock<(Row, PyCFunctionFast)> = OnceLock::new();

const NAME: &std::ffi::CStr = c"set_local_events";

/// Whether the function of `sys.monitoring` does ours too.
#[derive(Default)]
pub struct LocalEvents {
    is_watched: Cell<bool>,
}

/// Hear who asks for local events; undone by [`restore`].
///
/// # Safety
/// `monitoring` is the module.
pub unsafe fn interpose(gil: Gil, monitoring: Object) {
    // SAFETY: the caller's promise; the flags say how the function is called.
    unsafe {
        if ORIGINAL.get().is_none()
            && let Some(row) = listing::row(monitoring, NAME, METH_FASTCALL)
        {
            let _ = ORIGINAL.set((row, row.function().PyCFunctionFast));
        }
        if let Some((row, original)) = ORIGINAL.get() {
            let is_ours = row.exchange(*original as usize, set_local_events as *const () as usize);
            gil.runtime().local_events.is_watched.set(is_ours);
        }
    }
}

/// Let the function do what it did, unless somebody else has replaced ours since.
pub fn restore(gil: Gil) {
    gil.runtime().local_events.is_watched.set(false);
    if let Some((row, original)) = ORIGINAL.get() {
        // SAFETY: the lock is held.
        unsafe { row.exchange(set_local_events as *const () as usize, *original as usize) };
    }
}

unsafe extern "C" fn set_local_events(
    module: Object,
    args: *mut Object,
    count: Py_ssize_t,
) -> Object {
    let (_, original) = ORIGINAL.get().expect("it was replaced");
    // SAFETY: a method's promises. Other interpreters share the table of methods; the main one's lock is held by its own threads, and
    // compiled code is its alone.
    unsafe {
        let result = original(module, args, count);
        let is_main = PyInterpreterState_Get() == PyInterpreterState_Main();
        if is_main && !result.is_null() && count == 3 && PyCode_Check(*args.add(1)) != 0 {
            let code = *args.add(1);
            for unit in Gil::held().runtime().units() {
                let inlined = || (*unit).inlined.iter().any(|i| i.shape.code == code);
                if (*unit).shape.code == code || inlined() {
                    (*unit).checked.pending.set(abi::eval_breaker::NEVER);
                }
            }
        }
        result
    }
}

/// An event that no tool of ours is called for.
const UNHEARD: c_int = 1 << abi::monitoring::PY_YIELD;

/// Let the code of a frame be rewritten for the events that are asked for now, if they have changed since it was: the interpreter looks
/// for that where a function begins or a generator goes on, and compiled code has come past there without it.
///
/// # Safety
/// The frame is the thread's, and the interpreter is to go on in it.
#[inline(always)]
pub unsafe fn renew(gil: Gil, ts: Thread, frame: Frame) {
    // SAFETY: the caller's promise.
    unsafe {
        let code: Object = abi::slots::code(frame);
        let made: u64 = get(code.cast(), abi::code::INSTRUMENTATION_VERSION);
        if made != abi::eval_breaker::version(ts) {
            rewrite(gil, code);
        }
    }
}

/// Ask for an event of a code object, and then not; what of it is listened to is from then on as it was.
#[cold]
unsafe fn rewrite(gil: Gil, code: Object) {
    let is_heard = gil
        .runtime()
        .state(code)
        .is_some_and(|state| state.is_heard.get());
    set(gil, code, UNHEARD);
    set(gil, code, if is_heard { listening::EVENTS } else { 0 });
}

/// Have these events of a code object, and no others, told to our tool, besides those of all code; they are enabled wherever they were
/// disabled, if there were none before. Of those events that are for the second tool, it hears too.
pub fn set(gil: Gil, code: Object, events: c_int) {
    let monitor = &gil.runtime().monitor;
    if let Some(tool) = monitor.tool.get() {
        set_for(gil, tool, code, events);
    }
    if let Some(second) = monitor.second.get() {
        set_for(
            gil,
            second,
            code,
            events & 1 << abi::monitoring::STOP_ITERATION,
        );
    }
}

fn set_for(gil: Gil, tool: u8, code: Object, events: c_int) {
    let is_watched = gil.runtime().local_events.is_watched.get();
    let (Some((_, set)), true) = (ORIGINAL.get(), is_watched) else {
        return;
    };
    // SAFETY: the lock is held, and the code object alive. The function does not look at its module; small ints are there for ever. An
    // exception may be pending.
    unsafe {
        let pending = PyErr_GetRaisedException();
        let [tool, events] =
            [tool.into(), events].map(|number: c_int| PyLong_FromLong(number.into()));
        let mut args = [tool, code, events];
        let result = set(
            std::ptr::null_mut(),
            args.as_mut_ptr(),
            args.len() as Py_ssize_t,
        );
        if result.is_null() {
            PyErr_Clear();
        }
        Py_XDECREF(result);
        Py_DECREF(tool);
        Py_DECREF(events);
        PyErr_SetRaisedException(pending);
    }
}
