//! Notice of events that a tool asks for on one code object.
//!
//! CPython 3.13 gives monitoring a new version when events are asked for everywhere (and for tracing and profiling),
//! which every unit compares. For one code object (`sys.monitoring.set_local_events`) it only rewrites the code. So
//! the function in `sys.monitoring` is replaced, while the JIT is on, by one that calls it and then makes the code's
//! units look. And since that rewrites the code at once, it serves where native code leaves to code that has missed a change.

use super::Gil;
use super::abi;
use super::capi::*;
use abi::frame as f;
use pyo3_ffi::*;
use std::ffi::c_int;
use std::sync::OnceLock;

struct Method(PyMethodDef);

// SAFETY: constant after it is made.
unsafe impl Send for Method {}
// SAFETY: as above.
unsafe impl Sync for Method {}

static METHOD: OnceLock<Method> = OnceLock::new();

const NAME: &std::ffi::CStr = c"set_local_events";

/// Take the function's place in `sys.monitoring`, an object given here.
///
/// # Safety
/// `monitoring` is the module.
pub unsafe fn interpose(gil: Gil, monitoring: Object) {
    let method = METHOD.get_or_init(|| {
        Method(PyMethodDef {
            ml_name: NAME.as_ptr(),
            ml_meth: PyMethodDefPointer {
                PyCFunctionFast: set_local_events,
            },
            ml_flags: METH_FASTCALL,
            ml_doc: std::ptr::null(),
        })
    });
    // SAFETY: the caller's promise; the method table lives for ever.
    unsafe {
        if gil.runtime().original_set_local_events.get() != 0 {
            return;
        }
        let original = PyObject_GetAttrString(monitoring, NAME.as_ptr());
        let ours = PyCFunction_NewEx(
            (&raw const method.0).cast_mut(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        );
        if !original.is_null()
            && !ours.is_null()
            && PyObject_SetAttrString(monitoring, NAME.as_ptr(), ours) == 0
        {
            gil.runtime()
                .original_set_local_events
                .set(original as usize);
        } else {
            PyErr_Clear();
            Py_XDECREF(original);
        }
        Py_XDECREF(ours);
    }
}

/// Give the function its place back.
///
/// # Safety
/// As of [`interpose`].
pub unsafe fn restore(gil: Gil, monitoring: Object) {
    let original = gil.runtime().original_set_local_events.take() as Object;
    if original.is_null() {
        return;
    }
    // SAFETY: the reference was kept for this.
    unsafe {
        if PyObject_SetAttrString(monitoring, NAME.as_ptr(), original) != 0 {
            PyErr_Clear();
        }
        Py_DECREF(original);
    }
}

unsafe extern "C" fn set_local_events(_: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter calls with its lock held.
    let gil = unsafe { Gil::held() };
    // SAFETY: the interpreter calls with `count` arguments; the original is kept while this one is reachable, or None
    // is called in its place, which raises.
    unsafe {
        let original = gil.runtime().original_set_local_events.get() as Object;
        let callee = if original.is_null() {
            Py_None()
        } else {
            original
        };
        let result = PyObject_Vectorcall(callee, args, count as usize, std::ptr::null_mut());
        if !result.is_null() && count == 3 && PyCode_Check(*args.add(1)) != 0 {
            let code = *args.add(1);
            for unit in gil.runtime().units() {
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
        let code: Object = get(frame, f::EXECUTABLE);
        let made: u64 = get(code.cast(), abi::code::INSTRUMENTATION_VERSION);
        if made != abi::eval_breaker::version(ts) {
            rewrite(gil, code);
        }
    }
}

/// Ask for an event of a code object, and then not.
#[cold]
unsafe fn rewrite(gil: Gil, code: Object) {
    let set = gil.runtime().original_set_local_events.get() as Object;
    let (Some(tool), false) = (gil.runtime().monitor.tool.get(), set.is_null()) else {
        return;
    };
    // SAFETY: the caller's promise; the function is kept while it is replaced. An exception may be pending.
    unsafe {
        let pending = PyErr_GetRaisedException();
        for events in [UNHEARD, 0] {
            let format = c"iOi".as_ptr();
            let result = PyObject_CallFunction(set, format, c_int::from(tool), code, events);
            if result.is_null() {
                PyErr_Clear();
            }
            Py_XDECREF(result);
        }
        PyErr_SetRaisedException(pending);
    }
}
