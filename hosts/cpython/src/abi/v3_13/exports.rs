//! Functions of the interpreter that change from version to version, by their purpose.

use crate::capi::{Frame, Obj, Thread};
use cladonia::bytecode::SpecialMethod;
use pyo3_ffi::{
    Py_None, Py_ssize_t, PyErr_SetString, PyExc_SystemError, PyTuple_Size, PyType_GenericAlloc,
    PyTypeObject,
};
use std::ffi::c_int;

#[allow(improper_ctypes)]
unsafe extern "C" {
    fn _PyEvalFramePushAndInit(
        thread: Thread,
        func: Obj,
        locals: Obj,
        args: *const Obj,
        count: usize,
        kwnames: Obj,
    ) -> Frame;
    fn _PyEval_ExceptionGroupMatch(
        exc: Obj,
        class: Obj,
        matched: *mut Obj,
        rest: *mut Obj,
    ) -> c_int;
    fn _PyEval_UnpackIterable(
        thread: Thread,
        iterable: Obj,
        before: c_int,
        after: c_int,
        top: *mut Obj,
    ) -> c_int;
    fn _PyTuple_FromArraySteal(items: *const Obj, count: Py_ssize_t) -> Obj;
    fn _PyList_FromArraySteal(items: *const Obj, count: Py_ssize_t) -> Obj;
}

/// Pushes a frame of a function with arguments bound, which is not linked; null with an exception
/// if that fails.
///
/// # Safety
/// The function, the namespace and the arguments are owned, and taken over in any case.
#[inline(always)]
pub unsafe fn push_call(
    thread: Thread,
    func: Obj,
    locals: Obj,
    args: *const Obj,
    count: usize,
    kwnames: Obj,
) -> Frame {
    // SAFETY: the caller's promise.
    unsafe { _PyEvalFramePushAndInit(thread, func, locals, args, count, kwnames) }
}

/// Pushes a frame of a function whose slots are all to be overwritten: its positional and
/// keyword-only parameters are None.
///
/// # Safety
/// The function is owned, and taken over in any case; it has so many positional parameters.
/// `kwnames` is the tuple of the names of its keyword-only parameters, or null.
pub unsafe fn push_frame(thread: Thread, func: Obj, argcount: usize, kwnames: Obj) -> Frame {
    // SAFETY: the caller's promise; None is immortal.
    unsafe {
        let named = if kwnames.is_null() {
            0
        } else {
            PyTuple_Size(kwnames) as usize
        };
        let args = vec![Py_None(); argcount + named + 1];
        let null = std::ptr::null_mut();
        _PyEvalFramePushAndInit(thread, func, null, args.as_ptr(), argcount, kwnames)
    }
}

/// A new instance of a class derived from `tuple`, whose items are not set yet; null with an
/// exception if there is no memory.
///
/// # Safety
/// A live class derived from `tuple`, with its `tp_alloc`; this thread has the lock.
pub unsafe fn new_tuple(class: *mut PyTypeObject, count: Py_ssize_t) -> Obj {
    // SAFETY: the caller's promise.
    unsafe {
        match (*class).tp_alloc {
            Some(alloc) => alloc(class, count),
            None => PyType_GenericAlloc(class, count),
        }
    }
}

/// Splits an exception for `except*` into the part that is of a class and the rest; negative with
/// an exception.
///
/// # Safety
/// Live objects; `frame` is the current frame.
pub unsafe fn match_group(
    _frame: Frame,
    exc: Obj,
    class: Obj,
    matched: &mut Obj,
    rest: &mut Obj,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { _PyEval_ExceptionGroupMatch(exc, class, matched, rest) }
}

/// Writes the items of an iterable, and those behind a star, downwards from `top`, each owned; 0
/// with an exception.
///
/// # Safety
/// There is room for as many.
pub unsafe fn unpack_iterable(
    thread: Thread,
    iterable: Obj,
    before: c_int,
    after: c_int,
    top: *mut Obj,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { _PyEval_UnpackIterable(thread, iterable, before, after, top) }
}

/// A list of items, which are taken over in any case.
///
/// # Safety
/// So many owned objects.
#[inline(always)]
pub unsafe fn list_of(items: *const Obj, count: Py_ssize_t) -> Obj {
    // SAFETY: the caller's promise.
    unsafe { _PyList_FromArraySteal(items, count) }
}

/// A tuple of items, which are taken over in any case.
///
/// # Safety
/// So many owned objects, in an array that may be changed.
#[inline(always)]
pub unsafe fn tuple_of(items: *mut Obj, count: Py_ssize_t) -> Obj {
    // SAFETY: the caller's promise.
    unsafe { _PyTuple_FromArraySteal(items, count) }
}

/// A method of a context manager; no instruction of this version looks one up.
///
/// # Safety
/// The thread has the GIL.
pub unsafe fn load_special(_manager: Obj, _method: SpecialMethod) -> Obj {
    // SAFETY: the caller's promise.
    unsafe {
        PyErr_SetString(PyExc_SystemError, c"no such instruction".as_ptr());
    }
    std::ptr::null_mut()
}

/// A value of a template string; this version has none.
///
/// # Safety
/// The thread has the GIL.
pub unsafe fn build_interpolation(_conversion: c_int, _parts: &[Obj]) -> Obj {
    // SAFETY: the caller's promise.
    unsafe {
        PyErr_SetString(PyExc_SystemError, c"no such instruction".as_ptr());
    }
    std::ptr::null_mut()
}
