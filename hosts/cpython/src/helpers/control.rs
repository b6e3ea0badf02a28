//! Raising, `with`, and what is pending.
//!
//! Safety: the contract of [`super`].
#![allow(unsafe_op_in_unsafe_fn)]

use crate::abi;
use crate::capi::{
    _Py_HandlePending, _PyObject_LookupSpecial, Frame, Obj, Thread, field, interned,
};
use pyo3_ffi::*;
use std::ptr;

/// The status of [`raise`] when a bare `raise` has raised the handled exception again: its traceback gets no new
/// entry for this instruction (any other failure has status -1 and gets one).
pub const RERAISED: i64 = -2;

pub unsafe extern "C" fn load_assertion_error() -> Obj {
    Py_NewRef(PyExc_AssertionError)
}

/// Always negative: an exception is set afterwards.
pub unsafe extern "C" fn raise(_thread: Thread, _operands: i64, exc: Obj, cause: Obj) -> i64 {
    if exc.is_null() {
        let handled = PyErr_GetHandledException();
        if handled.is_null() {
            PyErr_SetString(
                PyExc_RuntimeError,
                c"No active exception to reraise".as_ptr(),
            );
            return -1;
        }
        PyErr_SetRaisedException(handled);
        return RERAISED;
    }
    let value = if PyExceptionClass_Check(exc) != 0 {
        instantiate(exc)
    } else if PyExceptionInstance_Check(exc) != 0 {
        Py_NewRef(exc)
    } else {
        PyErr_SetString(
            PyExc_TypeError,
            c"exceptions must derive from BaseException".as_ptr(),
        );
        ptr::null_mut()
    };
    if value.is_null() {
        return -1;
    }
    if cause.is_null() || attach_cause(value, cause) {
        let class = if PyExceptionClass_Check(exc) != 0 {
            exc
        } else {
            PyExceptionInstance_Class(exc)
        };
        PyErr_SetObject(class, value);
    }
    Py_DECREF(value);
    -1
}

/// Add the current instruction to the traceback of the pending exception.
pub unsafe fn add_traceback() {
    let frame = PyEval_GetFrame();
    if !frame.is_null() {
        PyTraceBack_Here(frame);
    }
}

pub unsafe extern "C" fn catch(add: i64) -> Obj {
    if add != 0 {
        add_traceback();
    }
    PyErr_GetRaisedException()
}

/// Always negative. The position is an exact int that the interpreter made.
pub unsafe extern "C" fn reraise(frame: Frame, entries: i64, position: Obj, exc: Obj) -> i64 {
    if entries != 0 {
        let code: Obj = field(frame, abi::frame::EXECUTABLE);
        let units = code.cast::<u8>().offset(abi::code::ADAPTIVE as isize);
        let unit = units.offset(2 * PyLong_AsLong(position) as isize);
        frame
            .cast::<u8>()
            .offset(abi::frame::INSTR_PTR as isize)
            .cast::<*const u8>()
            .write(unit);
    }
    PyErr_SetRaisedException(Py_NewRef(exc));
    -1
}

/// A new exception of a class, or null.
unsafe fn instantiate(class: Obj) -> Obj {
    let value = PyObject_CallNoArgs(class);
    if !value.is_null() && PyExceptionInstance_Check(value) == 0 {
        PyErr_Format(
            PyExc_TypeError,
            c"calling %R should have returned an instance of BaseException, not %R".as_ptr(),
            class,
            Py_TYPE(value),
        );
        Py_DECREF(value);
        return ptr::null_mut();
    }
    value
}

unsafe fn attach_cause(value: Obj, cause: Obj) -> bool {
    let cause = if PyExceptionClass_Check(cause) != 0 {
        let made = instantiate(cause);
        if made.is_null() {
            return false;
        }
        made
    } else if PyExceptionInstance_Check(cause) != 0 {
        Py_NewRef(cause)
    } else if cause == Py_None() {
        ptr::null_mut()
    } else {
        PyErr_SetString(
            PyExc_TypeError,
            c"exception causes must derive from BaseException".as_ptr(),
        );
        return false;
    };
    PyException_SetCause(value, cause);
    true
}

pub unsafe extern "C" fn before_with(_thread: Thread, manager: Obj, out: *mut Obj) -> i64 {
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

/// The low byte of the eval breaker holds the events.
pub unsafe extern "C" fn handle_pending(thread: Thread) -> i64 {
    let breaker: u64 = field(thread, abi::thread::EVAL_BREAKER);
    if breaker & 0xff == 0 {
        return 0;
    }
    if _Py_HandlePending(thread) != 0 {
        -1
    } else {
        0
    }
}
