//! `await`, `async for` and `async with`.
//!
//! Safety: the contract of [`super`].

use crate::abi::{changed, generator as g};
use crate::capi::{_PyObject_LookupSpecial, Obj, Thread, field, interned};
use crate::runtime::capi::{
    _PyCoro_GetAwaitableIter, _PyErr_FormatFromCause, _PyEval_FormatAwaitableError,
};
use pyo3_ffi::*;
use std::ptr;

/// The immediate is 0 for `await`, 1 and 2 for the two awaits of `async with`: of `__aenter__` and
/// of `__aexit__`.
pub unsafe extern "C" fn get_awaitable(thread: Thread, place: i64, awaitable: Obj) -> Obj {
    // SAFETY: the running thread and a live operand; an exact coroutine has its state.
    unsafe {
        if Py_TYPE(awaitable) == &raw mut PyCoro_Type
            && field::<i8>(awaitable, g::FRAME_STATE) != g::STATE_DELEGATING as i8
        {
            // It is its own iterator, and awaits nothing yet.
            return Py_NewRef(awaitable);
        }
        let iter = _PyCoro_GetAwaitableIter(awaitable);
        if iter.is_null() {
            _PyEval_FormatAwaitableError(thread, Py_TYPE(awaitable), place as _);
            return iter;
        }
        if Py_TYPE(iter) == &raw mut PyCoro_Type {
            let awaits = changed::delegate(iter);
            if !awaits.is_null() {
                Py_DECREF(awaits);
                Py_DECREF(iter);
                PyErr_SetString(
                    PyExc_RuntimeError,
                    c"coroutine is being awaited already".as_ptr(),
                );
                return ptr::null_mut();
            }
        }
        iter
    }
}

/// The asynchronous slots of an object's class.
unsafe fn slots(object: Obj) -> Option<&'static PyAsyncMethods> {
    // SAFETY: the caller's: a live object. Its class's table lives as long as the class, and is
    // read only while the object is alive.
    unsafe { (*Py_TYPE(object)).tp_as_async.as_ref() }
}

pub unsafe extern "C" fn get_aiter(_thread: Thread, object: Obj) -> Obj {
    // SAFETY: a live operand; a slot is called as the interpreter does, and its result is owned.
    unsafe {
        let Some(aiter) = slots(object).and_then(|slots| slots.am_aiter) else {
            PyErr_Format(
                PyExc_TypeError,
                c"'async for' requires an object with __aiter__ method, got %.100s".as_ptr(),
                (*Py_TYPE(object)).tp_name,
            );
            return ptr::null_mut();
        };
        let iter = aiter(object);
        if !iter.is_null() && slots(iter).is_none_or(|slots| slots.am_anext.is_none()) {
            PyErr_Format(
            PyExc_TypeError,
            c"'async for' received an object from __aiter__ that does not implement __anext__: %.100s"
                .as_ptr(),
            (*Py_TYPE(iter)).tp_name,
        );
            Py_DECREF(iter);
            return ptr::null_mut();
        }
        iter
    }
}

pub unsafe extern "C" fn get_anext(_thread: Thread, aiter: Obj) -> Obj {
    // SAFETY: a live operand; a slot is called as the interpreter does, and its result is owned.
    unsafe {
        let Some(anext) = slots(aiter).and_then(|slots| slots.am_anext) else {
            PyErr_Format(
                PyExc_TypeError,
                c"'async for' requires an iterator with __anext__ method, got %.100s".as_ptr(),
                (*Py_TYPE(aiter)).tp_name,
            );
            return ptr::null_mut();
        };
        let next = anext(aiter);
        if next.is_null() || Py_TYPE(aiter) == &raw mut PyAsyncGen_Type {
            return next;
        }
        let awaitable = _PyCoro_GetAwaitableIter(next);
        if awaitable.is_null() {
            _PyErr_FormatFromCause(
                PyExc_TypeError,
                c"'async for' received an invalid object from __anext__: %.100s".as_ptr(),
                (*Py_TYPE(next)).tp_name,
            );
        }
        Py_DECREF(next);
        awaitable
    }
}

pub unsafe extern "C" fn end_async_for(exception: Obj) -> i64 {
    // SAFETY: a live exception.
    unsafe {
        if PyErr_GivenExceptionMatches(exception, PyExc_StopAsyncIteration) != 0 {
            return 0;
        }
        PyErr_SetRaisedException(Py_NewRef(exception));
        -1
    }
}

pub unsafe extern "C" fn before_async_with(_thread: Thread, manager: Obj, out: *mut Obj) -> i64 {
    // SAFETY: a live operand; the methods and results are owned, and dropped once; there is room
    // for two results.
    unsafe {
        let (enter_name, exit_name) = (interned!("__aenter__"), interned!("__aexit__"));
        if enter_name.is_null() || exit_name.is_null() {
            return -1;
        }
        let enter = _PyObject_LookupSpecial(manager, enter_name);
        if enter.is_null() {
            if PyErr_Occurred().is_null() {
                PyErr_Format(
                    PyExc_TypeError,
                    c"'%.200s' object does not support the asynchronous context manager protocol"
                        .as_ptr(),
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
                c"'%.200s' object does not support the asynchronous context manager protocol (missed __aexit__ method)"
                    .as_ptr(),
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
