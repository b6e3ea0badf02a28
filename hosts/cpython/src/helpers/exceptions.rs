//! Raising, catching, and the handled exception.
//!
//! Safety: the contract of [`super`].
#![allow(unsafe_op_in_unsafe_fn)]

use crate::abi;
use crate::capi::{
    _PyEval_CheckExceptStarTypeValid, _PyEval_CheckExceptTypeValid, _PyEval_ExceptionGroupMatch,
    Frame, Obj, Thread, current_thread, field,
};
use pyo3_ffi::*;
use std::ptr;

/// Always negative: an exception is set afterwards.
pub unsafe extern "C" fn raise(_thread: Thread, _operands: i64, exc: Obj, cause: Obj) -> i64 {
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

/// Add the current instruction to the traceback of the pending exception. Without memory for a frame object, as in the
/// interpreter, that is what is pending then. A frame that has not come to its `RESUME` is in no traceback.
pub unsafe fn add_traceback() {
    if is_incomplete(field(current_thread(), abi::thread::CURRENT_FRAME)) {
        return;
    }
    let frame = PyEval_GetFrame();
    if frame.is_null() {
        // It has cleared the error that it met.
        PyErr_NoMemory();
    } else {
        PyTraceBack_Here(frame);
    }
}

/// The interpreter's `_PyFrame_IsIncomplete`.
unsafe fn is_incomplete(frame: Frame) -> bool {
    let owner = i32::from(field::<u8>(frame, abi::frame::OWNER));
    if owner == abi::frame::OWNED_BY_CSTACK {
        return true;
    }
    let code: Obj = field(frame, abi::frame::EXECUTABLE);
    let first: i32 = field(code, abi::code::FIRST_TRACEABLE);
    let units = code.cast::<u8>().add(abi::code::ADAPTIVE as usize);
    let at: *mut u8 = field(frame, abi::frame::INSTR_PTR);
    owner != abi::frame::OWNED_BY_GENERATOR && at < units.add(2 * first as usize)
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

/// Always negative. With nothing to raise again, the error has its traceback here.
pub unsafe extern "C" fn raise_again() -> i64 {
    let handled = PyErr_GetHandledException();
    if handled.is_null() || handled == Py_None() {
        Py_XDECREF(handled);
        PyErr_SetString(
            PyExc_RuntimeError,
            c"No active exception to reraise".as_ptr(),
        );
        add_traceback();
        return -1;
    }
    PyErr_SetRaisedException(handled);
    -1
}

/// The place of the thread's handled exception: an owned reference, or null.
unsafe fn handled(thread: Thread) -> *mut Obj {
    // `exc_value` is the first field of what the thread points to.
    field(thread, abi::thread::EXC_INFO)
}

pub unsafe extern "C" fn push_exc_info(thread: Thread, exc: Obj) -> Obj {
    let place = handled(thread);
    let before = ptr::replace(place, Py_NewRef(exc));
    if before.is_null() {
        Py_NewRef(Py_None())
    } else {
        before
    }
}

/// Takes over the one entry.
pub unsafe extern "C" fn pop_except(thread: Thread, entry: *mut Obj, _count: i64) -> i64 {
    let before = *entry;
    let value = if before == Py_None() {
        Py_DECREF(before);
        ptr::null_mut()
    } else {
        before
    };
    Py_XDECREF(ptr::replace(handled(thread), value));
    0
}

pub unsafe extern "C" fn check_exc_match(thread: Thread, exc: Obj, class: Obj) -> i64 {
    // What is raised is an exception, so its class is one.
    if Py_TYPE(exc).cast() == class {
        return 1;
    }
    if _PyEval_CheckExceptTypeValid(thread, class) < 0 {
        return -1;
    }
    PyErr_GivenExceptionMatches(exc, class).into()
}

pub unsafe extern "C" fn check_eg_match(
    thread: Thread,
    exc: Obj,
    class: Obj,
    out: *mut Obj,
) -> i64 {
    if _PyEval_CheckExceptStarTypeValid(thread, class) < 0 {
        return -1;
    }
    let (mut matched, mut rest) = (ptr::null_mut(), ptr::null_mut());
    if _PyEval_ExceptionGroupMatch(exc, class, &mut matched, &mut rest) < 0 || matched.is_null() {
        return -1;
    }
    *out = rest;
    *out.add(1) = matched;
    0
}

pub unsafe extern "C" fn set_handled(exc: Obj) -> i64 {
    if exc != Py_None() {
        PyErr_SetHandledException(exc);
    }
    0
}

pub unsafe extern "C" fn with_except_start(exit: Obj, exc: Obj) -> Obj {
    let traceback = PyException_GetTraceback(exc);
    let shown = if traceback.is_null() {
        Py_None()
    } else {
        // The exception holds it.
        Py_DECREF(traceback);
        traceback
    };
    let class = Py_TYPE(exc).cast::<PyObject>();
    let args = [ptr::null_mut(), class, exc, shown];
    let count = 3 | PY_VECTORCALL_ARGUMENTS_OFFSET;
    PyObject_Vectorcall(exit, args.as_ptr().add(1), count, ptr::null_mut())
}
