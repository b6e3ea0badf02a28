//! Detects events that a tool requests for one code object.
//!
//! CPython 3.13 gives monitoring a new version when events are requested for all code (and for
//! tracing and profiling), and every unit compares this version. For one code object
//! (`sys.monitoring.set_local_events`) it only rewrites the code. So that function is replaced,
//! while the JIT is on, by a C function that calls it and then makes the code's units check for
//! events. The replacement is in the function's row of the module's method table, so references to
//! the function object that were taken before, or are kept until after, call the same one. Since
//! the function rewrites the code at once, it also serves where native code exits to code that has
//! missed a change.

use super::Gil;
use super::abi;
use super::capi::*;
use super::listening;
use super::listing::{self, Row};
use crate::capi::in_main_interpreter;
use pyo3_ffi::*;
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::OnceLock;

/// The row of the function, and its own C function.
static ORIGINAL: OnceLock<(Row, PyCFunctionFast)> = OnceLock::new();

const NAME: &std::ffi::CStr = c"set_local_events";

/// The state of the replacement.
#[derive(Default)]
pub struct LocalEvents {
    is_watched: Cell<bool>,
}

/// Replaces the function; undone by [`restore`].
///
/// # Safety
/// `monitoring` is the module.
pub unsafe fn interpose(gil: Gil, monitoring: Object) {
    // SAFETY: the caller's promise; the flags give the function's calling convention.
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

/// Restores the function, unless other code has replaced ours since.
pub fn restore(gil: Gil) {
    gil.runtime().local_events.is_watched.set(false);
    if let Some((row, original)) = ORIGINAL.get() {
        // SAFETY: this thread has the lock.
        unsafe { row.exchange(set_local_events as *const () as usize, *original as usize) };
    }
}

unsafe extern "C" fn set_local_events(
    module: Object,
    args: *mut Object,
    count: Py_ssize_t,
) -> Object {
    let (_, original) = ORIGINAL.get().expect("it was replaced");
    // SAFETY: a method's promises. Other interpreters share the method table; only the main one has
    // compiled code, and only its own threads hold its lock.
    unsafe {
        let result = original(module, args, count);
        if in_main_interpreter()
            && !result.is_null()
            && count == 3
            && PyCode_Check(*args.add(1)) != 0
        {
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

/// An event for which none of our tools has a callback.
const UNHEARD: c_int = 1 << abi::monitoring::PY_YIELD;

/// Rewrites the code of a frame for the events that are requested now, if they have changed. The
/// interpreter checks for this where a function begins or a generator resumes; compiled code has
/// skipped that check.
///
/// # Safety
/// The frame is the thread's, and the interpreter is to continue in it.
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

/// Requests an event of a code object and removes it again, which rewrites the code. The events
/// that are monitored stay the same.
#[cold]
unsafe fn rewrite(gil: Gil, code: Object) {
    let is_monitored = gil
        .runtime()
        .state(code)
        .is_some_and(|state| state.is_monitored.get());
    set(gil, code, UNHEARD);
    set(gil, code, if is_monitored { listening::EVENTS } else { 0 });
}

/// Requests these events of a code object, and no others, for our tool, besides the events of all
/// code. If there were none before, they are enabled wherever they were disabled. The second tool
/// gets its share of the events too.
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
    // SAFETY: this thread has the lock, and the code object is alive. The function does not use its
    // module; small ints are immortal. An exception may be pending.
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
