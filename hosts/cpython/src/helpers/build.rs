//! Displays, comprehensions and formatted strings.
//!
//! Safety: the contract of [`super`].

use super::texts;
use crate::abi;
use crate::capi::{
    _PyDict_FromItems, _PyList_Extend, _PySet_Update, _PyUnicode_JoinArray, Obj, Thread, interned,
};
use pyo3_ffi::*;
use std::ptr;

/// The last one first: the interpreter drops the operands of an instruction with an array in this
/// order.
unsafe fn drop_all(items: *const Obj, count: i64) {
    // SAFETY: the caller's: so many owned references, each of which is dropped once.
    unsafe {
        for i in (0..count as usize).rev() {
            Py_DECREF(*items.add(i));
        }
    }
}

pub unsafe extern "C" fn build_tuple(items: *mut Obj, count: i64) -> Obj {
    // SAFETY: the array's references are taken over, which also failing does.
    unsafe { abi::exports::tuple_of(items, count as Py_ssize_t) }
}

pub unsafe extern "C" fn build_list(items: *mut Obj, count: i64) -> Obj {
    // SAFETY: the array's references are taken over, which also failing does.
    unsafe { abi::exports::list_of(items, count as Py_ssize_t) }
}

pub unsafe extern "C" fn build_set(items: *mut Obj, count: i64) -> Obj {
    // SAFETY: the array's references are owned, and dropped once each; no other code has the new
    // set yet.
    unsafe {
        let set = PySet_New(ptr::null_mut());
        if set.is_null() {
            drop_all(items, count);
            return set;
        }
        let mut status = 0;
        for i in 0..count as usize {
            let item = *items.add(i);
            if status == 0 {
                status = PySet_Add(set, item);
            }
            Py_DECREF(item);
        }
        if status != 0 {
            Py_DECREF(set);
            return ptr::null_mut();
        }
        set
    }
}

pub unsafe extern "C" fn build_map(items: *mut Obj, count: i64) -> Obj {
    // SAFETY: the array has so many owned references, keys and values alternately, which the dict
    // does not take over.
    unsafe {
        let dict = _PyDict_FromItems(
            items,
            2,
            items.add(usize::from(count > 0)),
            2,
            (count / 2) as Py_ssize_t,
        );
        drop_all(items, count);
        dict
    }
}

pub unsafe extern "C" fn build_const_key_map(keys: Obj, values: *mut Obj, count: i64) -> Obj {
    // SAFETY: the keys are a tuple with one item for each value; the values are owned and the dict
    // does not take them over.
    unsafe {
        let first = keys
            .cast::<u8>()
            .add(abi::tuple::ITEMS as usize)
            .cast::<Obj>();
        let dict = _PyDict_FromItems(first, 1, values, 1, count as Py_ssize_t);
        drop_all(values, count);
        dict
    }
}

pub unsafe extern "C" fn build_string(items: *mut Obj, count: i64) -> Obj {
    // SAFETY: the array has so many owned strings, which the new one does not take over.
    unsafe {
        let parts = std::slice::from_raw_parts(items, count as usize);
        let text = match texts::joined(parts) {
            Some(text) => text,
            None => {
                let empty = interned!("");
                if empty.is_null() {
                    empty
                } else {
                    _PyUnicode_JoinArray(empty, items, count as Py_ssize_t)
                }
            }
        };
        drop_all(items, count);
        text
    }
}

pub unsafe extern "C" fn concat_strings(items: *mut Obj, count: i64) -> Obj {
    // SAFETY: the array has so many owned strings. Of two the result replaces the first, and the
    // second is dropped.
    unsafe {
        if count > 2 {
            return join_strings(items, count);
        }
        let (first, more) = (*items, *items.add(1));
        let whole = texts::appended(first, more);
        Py_DECREF(more);
        whole
    }
}

/// The sum of strings from left to right: an empty one adds nothing, also no new object.
unsafe fn join_strings(items: *mut Obj, count: i64) -> Obj {
    // SAFETY: the caller's: so many owned strings.
    unsafe {
        let strings = std::slice::from_raw_parts(items, count as usize);
        let mut filled = strings.iter().filter(|s| PyUnicode_GET_LENGTH(**s) > 0);
        let first = filled.next().copied();
        if filled.next().is_some() {
            return build_string(items, count);
        }
        let only = Py_NewRef(first.unwrap_or(strings[0]));
        drop_all(items, count);
        only
    }
}

pub unsafe extern "C" fn list_append(list: Obj, item: Obj) -> i64 {
    // SAFETY: a list that the code builds, and a live item.
    unsafe { i64::from(PyList_Append(list, item)) }
}

pub unsafe extern "C" fn list_extend(_thread: Thread, list: Obj, iterable: Obj) -> i64 {
    // SAFETY: a list that the code builds, and a live operand, whose class has a name.
    unsafe {
        let none = _PyList_Extend(list, iterable);
        if !none.is_null() {
            Py_DECREF(none);
            return 0;
        }
        if PyErr_ExceptionMatches(PyExc_TypeError) != 0
            && (*Py_TYPE(iterable)).tp_iter.is_none()
            && PySequence_Check(iterable) == 0
        {
            PyErr_Clear();
            PyErr_Format(
                PyExc_TypeError,
                c"Value after * must be an iterable, not %.200s".as_ptr(),
                (*Py_TYPE(iterable)).tp_name,
            );
        }
        -1
    }
}

pub unsafe extern "C" fn set_add(set: Obj, item: Obj) -> i64 {
    // SAFETY: a set that the code builds, and a live item.
    unsafe { i64::from(PySet_Add(set, item)) }
}

pub unsafe extern "C" fn set_update(set: Obj, iterable: Obj) -> i64 {
    // SAFETY: a set that the code builds, and a live operand.
    unsafe { i64::from(_PySet_Update(set, iterable)) }
}

pub unsafe extern "C" fn map_add(dict: Obj, key: Obj, value: Obj) -> i64 {
    // SAFETY: a dict that the code builds, and live operands.
    unsafe { i64::from(PyDict_SetItem(dict, key, value)) }
}

pub unsafe extern "C" fn dict_update(_thread: Thread, dict: Obj, other: Obj) -> i64 {
    // SAFETY: a dict that the code builds, and a live operand, whose class has a name.
    unsafe {
        if PyDict_Update(dict, other) >= 0 {
            return 0;
        }
        if PyErr_ExceptionMatches(PyExc_AttributeError) != 0 {
            PyErr_Format(
                PyExc_TypeError,
                c"'%.200s' object is not a mapping".as_ptr(),
                (*Py_TYPE(other)).tp_name,
            );
        }
        -1
    }
}

pub unsafe extern "C" fn dict_merge(thread: Thread, dict: Obj, other: Obj, callable: Obj) -> i64 {
    // SAFETY: the running thread, a dict that the code builds, and live operands.
    unsafe {
        if abi::changed::merge_names(thread, dict, other, callable) {
            0
        } else {
            -1
        }
    }
}

pub unsafe extern "C" fn format_simple(a: Obj) -> Obj {
    // SAFETY: a live operand.
    unsafe { texts::formatted(a) }
}

pub unsafe extern "C" fn format_with_spec(a: Obj, spec: Obj) -> Obj {
    // SAFETY: live operands, the second one a string.
    unsafe { PyObject_Format(a, spec) }
}

pub unsafe extern "C" fn convert_value(which: i64, a: Obj) -> Obj {
    // SAFETY: a live operand; the functions are the interpreter's own table.
    unsafe {
        match abi::instructions::conversion(which as usize) {
            Some(convert) => texts::converted(a, convert),
            None => {
                PyErr_SetString(
                    PyExc_SystemError,
                    c"invalid conversion of a formatted value".as_ptr(),
                );
                ptr::null_mut()
            }
        }
    }
}
