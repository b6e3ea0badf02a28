//! `with`, and pending work.
//!
//! Safety: the contract of [`super`].

use crate::abi::{eval_breaker, exports};
use crate::capi::{_Py_HandlePending, _PyObject_LookupSpecial, Obj, Thread, interned};
use crate::runtime::sampling;
use cladonia::bytecode::SpecialMethod;
use pyo3_ffi::*;

pub unsafe extern "C" fn load_assertion_error() -> Obj {
    // SAFETY: the class is a static of the interpreter's, which it sets when it starts.
    unsafe { Py_NewRef(PyExc_AssertionError) }
}

pub unsafe extern "C" fn before_with(_thread: Thread, manager: Obj, out: *mut Obj) -> i64 {
    // SAFETY: a live operand; the methods and results are owned, and dropped once; there is room
    // for two results.
    unsafe {
        sampling::count([manager]);
        let (enter_name, exit_name) = (interned!("__enter__"), interned!("__exit__"));
        if enter_name.is_null() || exit_name.is_null() {
            return -1;
        }
        let enter = _PyObject_LookupSpecial(manager, enter_name);
        if enter.is_null() {
            if PyErr_Occurred().is_null() {
                PyErr_Format(
                    PyExc_TypeError,
                    c"'%.200s' object does not support the context manager protocol".as_ptr(),
                    (*Py_TYPE(manager)).tp_name,
                );
            }
            return -1;
        }
        let exit = _PyObject_LookupSpecial(manager, exit_name);
        if exit.is_null() {
            if PyErr_Occurred().is_null() {
                PyErr_Format(
                PyExc_TypeError,
                c"'%.200s' object does not support the context manager protocol (missed __exit__ method)".as_ptr(),
                (*Py_TYPE(manager)).tp_name,
            );
            }
            Py_DECREF(enter);
            return -1;
        }
        let entered = PyObject_CallNoArgs(enter);
        Py_DECREF(enter);
        if entered.is_null() {
            Py_DECREF(exit);
            return -1;
        }
        *out = exit;
        *out.add(1) = entered;
        0
    }
}

/// A special method of a context manager, bound, such as `manager.__enter__`. The immediate is a
/// [`SpecialMethod`].
pub unsafe extern "C" fn load_special(_thread: Thread, which: i64, manager: Obj) -> Obj {
    let method = SpecialMethod::from_arg(which as u32).unwrap_or(SpecialMethod::Exit);
    // SAFETY: a live operand.
    unsafe { exports::load_special(manager, method) }
}

/// Does the pending work, if there is any.
pub unsafe extern "C" fn handle_pending(thread: Thread) -> i64 {
    // SAFETY: the running thread, which has no exception set.
    unsafe {
        if !eval_breaker::is_pending(thread) {
            return 0;
        }
        if _Py_HandlePending(thread) != 0 {
            -1
        } else {
            0
        }
    }
}
