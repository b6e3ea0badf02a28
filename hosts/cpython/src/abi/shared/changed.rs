//! Functions of the interpreter that 3.15 changes, as they were before it.

use crate::capi::{_PyObject_FunctionStr, Frame, Obj, Thread};
use cladonia::lir::{Block, Builder, Value};
use pyo3_ffi::{Py_DECREF, Py_TYPE, PyErr_Clear, PyErr_Format, PyExc_TypeError, PyObject};
use std::ffi::c_int;

#[allow(improper_ctypes)]
unsafe extern "C" {
    fn _PyDict_MergeEx(dict: Obj, other: Obj, override_: c_int) -> c_int;
    fn _PyEval_FormatKwargsError(thread: Thread, func: Obj, kwargs: Obj);
    fn _PyGen_yf(generator: Obj) -> Obj;
}

/// Adds the entries of a mapping to the named arguments of a call; false with an exception, also if
/// a name is there already.
///
/// # Safety
/// `dict` is a dict, the others are live objects.
pub unsafe fn merge_names(thread: Thread, dict: Obj, other: Obj, callable: Obj) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let is_merged = _PyDict_MergeEx(dict, other, 2) >= 0;
        if !is_merged {
            _PyEval_FormatKwargsError(thread, callable, other);
        }
        is_merged
    }
}

/// Raises the error that the operand of a star in a call is not iterable.
///
/// # Safety
/// Live objects.
#[cold]
pub unsafe fn not_iterable(callable: Obj, args: Obj) {
    // SAFETY: the caller's promise.
    unsafe {
        PyErr_Clear();
        let text = _PyObject_FunctionStr(callable);
        if !text.is_null() {
            PyErr_Format(
                PyExc_TypeError,
                c"%U argument after * must be an iterable, not %.200s".as_ptr(),
                text,
                (*Py_TYPE(args)).tp_name,
            );
            Py_DECREF(text);
        }
    }
}

/// Raises the error that `__iter__` of an object has returned no iterator.
///
/// # Safety
/// Live objects.
#[cold]
pub unsafe fn not_iterator(_iterable: Obj, found: Obj) {
    // SAFETY: the caller's promise.
    unsafe {
        PyErr_Format(
            PyExc_TypeError,
            c"iter() returned non-iterator of type '%.100s'".as_ptr(),
            (*Py_TYPE(found)).tp_name,
        );
    }
}

/// The object that a generator delegates to, owned; null if it does not delegate.
///
/// # Safety
/// `generator` is a generator or a coroutine.
pub unsafe fn delegate(generator: Obj) -> Obj {
    // SAFETY: the caller's promise.
    unsafe { _PyGen_yf(generator) }
}

/// The import of a module, by the interpreter's own function; `None` if there is none.
///
/// # Safety
/// None here.
#[inline(always)]
pub unsafe fn import_name(
    _thread: Thread,
    _frame: Frame,
    _name: Obj,
    _lazy: i64,
    _level: Obj,
    _names: Obj,
) -> Option<Obj> {
    None
}

/// The import of a name from a module, by the interpreter's own function; `None` if there is none.
///
/// # Safety
/// None here.
#[inline(always)]
pub unsafe fn import_from(_thread: Thread, _frame: Frame, _module: Obj, _name: Obj) -> Option<Obj> {
    None
}

/// The value of a name that was found in a namespace, which is taken over; null with an exception,
/// or if `value` is null.
///
/// # Safety
/// None here.
#[inline(always)]
pub unsafe fn found(_globals: Obj, _name: Obj, value: Obj) -> Obj {
    value
}

/// LIR that continues in `slow` if the value that was found in a namespace is none yet.
pub fn check_found(_b: &mut Builder<'_>, _value: Value, _slow: Block) {}

/// Returns true if an object in a namespace is in place of a module that is still to be imported,
/// so that a load gives another object.
///
/// # Safety
/// None here.
#[inline(always)]
pub unsafe fn is_deferred(_object: *mut PyObject) -> bool {
    false
}
