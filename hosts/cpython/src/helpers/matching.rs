//! Structural pattern matching.
//!
//! Safety: the contract of [`super`].

use crate::capi::{_PyEval_MatchClass, _PyEval_MatchKeys, Obj, Thread};
use pyo3_ffi::*;

pub unsafe extern "C" fn match_mapping(a: Obj) -> i64 {
    // SAFETY: a live operand has a class.
    unsafe { i64::from(PyType_HasFeature(Py_TYPE(a), Py_TPFLAGS_MAPPING) != 0) }
}

pub unsafe extern "C" fn match_sequence(a: Obj) -> i64 {
    // SAFETY: a live operand has a class.
    unsafe { i64::from(PyType_HasFeature(Py_TYPE(a), Py_TPFLAGS_SEQUENCE) != 0) }
}

pub unsafe extern "C" fn match_keys(thread: Thread, a: Obj, keys: Obj) -> Obj {
    // SAFETY: the running thread and live operands, the keys being a tuple of the code's.
    unsafe { _PyEval_MatchKeys(thread, a, keys) }
}

pub unsafe extern "C" fn match_class(
    thread: Thread,
    count: i64,
    a: Obj,
    class: Obj,
    names: Obj,
) -> Obj {
    // SAFETY: the running thread and live operands, the names being a tuple of the code's.
    unsafe {
        let attributes = _PyEval_MatchClass(thread, a, class, count as Py_ssize_t, names);
        if attributes.is_null() && PyErr_Occurred().is_null() {
            return Py_NewRef(Py_None());
        }
        attributes
    }
}
