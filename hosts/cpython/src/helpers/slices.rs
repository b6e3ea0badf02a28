//! Slices with a start and a stop.
//!
//! A slice object is only made where somebody may see it: lists, tuples and strings are cut directly where the bounds
//! are `None` or ints.
//!
//! Safety: the contract of [`super`].
#![allow(unsafe_op_in_unsafe_fn)]

use crate::abi;
use crate::capi::{Obj, field, set_field};
use pyo3_ffi::*;
use std::ptr;

pub unsafe extern "C" fn get_slice(a: Obj, start: Obj, stop: Obj) -> Obj {
    let cut: Option<unsafe extern "C" fn(Obj, Py_ssize_t, Py_ssize_t) -> Obj> =
        if PyList_CheckExact(a) != 0 {
            Some(PyList_GetSlice)
        } else if PyTuple_CheckExact(a) != 0 {
            Some(PyTuple_GetSlice)
        } else if PyUnicode_CheckExact(a) != 0 {
            Some(PyUnicode_Substring)
        } else {
            None
        };
    if let Some(cut) = cut
        && let Some((low, high)) = bounds(start, stop, length(a))
    {
        return cut(a, low, high);
    }
    let slice = PySlice_New(start, stop, ptr::null_mut());
    if slice.is_null() {
        return slice;
    }
    let result = PyObject_GetItem(a, slice);
    Py_DECREF(slice);
    result
}

pub unsafe extern "C" fn set_slice(a: Obj, start: Obj, stop: Obj, value: Obj) -> i64 {
    // What is not a sequence of one of these has its own ways to fail.
    if PyList_CheckExact(a) != 0
        && (PyList_CheckExact(value) != 0 || PyTuple_CheckExact(value) != 0)
        && let Some((low, high)) = bounds(start, stop, length(a))
    {
        let same_length = PyList_CheckExact(value) != 0
            && value != a
            && Py_SIZE(value) == high - low
            && high - low <= MOST_REPLACED as isize;
        if same_length {
            replace(a, low, value);
            return 0;
        }
        return i64::from(PyList_SetSlice(a, low, high, value));
    }
    let slice = PySlice_New(start, stop, ptr::null_mut());
    if slice.is_null() {
        return -1;
    }
    let status = PyObject_SetItem(a, slice, value);
    Py_DECREF(slice);
    i64::from(status)
}

pub unsafe extern "C" fn build_slice(start: Obj, stop: Obj, step: Obj) -> Obj {
    PySlice_New(start, stop, step)
}

/// `a[start:stop:step]`, where no step may be null.
pub unsafe extern "C" fn get_extended_slice(a: Obj, bounds: *mut Obj, count: i64) -> Obj {
    let [start, stop, step] = [0, 1, 2].map(|i| *bounds.add(i));
    let mut result = if PyList_CheckExact(a) != 0 {
        cut_list(
            a,
            start,
            stop,
            if step.is_null() { Py_None() } else { step },
        )
    } else {
        ptr::null_mut()
    };
    if result.is_null() {
        let slice = PySlice_New(start, stop, step);
        if !slice.is_null() {
            result = PyObject_GetItem(a, slice);
            Py_DECREF(slice);
        }
    }
    for i in 0..count as usize {
        Py_XDECREF(*bounds.add(i));
    }
    result
}

/// `a[slice]` of an exact list by a slice of ints; null, and no exception, if it must be asked for in the general way.
pub unsafe fn get_extended(a: Obj, slice: Obj) -> Obj {
    let slice = slice.cast::<PySliceObject>();
    cut_list(a, (*slice).start, (*slice).stop, (*slice).step)
}

unsafe fn cut_list(a: Obj, start: Obj, stop: Obj, step: Obj) -> Obj {
    let length = Py_SIZE(a);
    let step = match word(step) {
        Some(Some(step)) if step != 0 && step != Py_ssize_t::MIN => step,
        Some(None) => 1,
        _ => return ptr::null_mut(),
    };
    // With a negative step an end that is not given, or lies below the list, is one before the first item.
    let (least, most, first, last) = if step > 0 {
        (0, length, 0, length)
    } else {
        (-1, length - 1, length - 1, -1)
    };
    let limit = |bound: Option<Py_ssize_t>, none: Py_ssize_t| match bound {
        None => none,
        Some(n) if n < 0 => n.saturating_add(length).max(least),
        Some(n) => n.min(most),
    };
    let (Some(start), Some(stop)) = (word(start), word(stop)) else {
        return ptr::null_mut();
    };
    let (start, stop) = (limit(start, first), limit(stop, last));
    let span = if step > 0 { stop - start } else { start - stop };
    let count = if span > 0 {
        (span - 1) / step.abs() + 1
    } else {
        0
    };
    let result = PyList_New(0);
    if result.is_null() {
        PyErr_Clear();
        return result;
    }
    if count > 0 {
        // Not zeroed: every item is stored at once.
        let items = PyMem_Malloc(8 * count as usize).cast::<Obj>();
        if items.is_null() {
            Py_DECREF(result);
            return ptr::null_mut();
        }
        let from: *const Obj = field(a, abi::list::ITEMS);
        for i in 0..count {
            *items.offset(i) = Py_NewRef(*from.offset(start + i * step));
        }
        set_field(result, abi::list::ITEMS, items);
        set_field(result, abi::list::ALLOCATED, count);
        set_field(result, abi::object::VAR_SIZE, count);
    }
    result
}

/// Items that are replaced one by one, on the native stack.
const MOST_REPLACED: usize = 64;

/// Replace as many items of a list from `low` as another list has; the old ones die when all are replaced, the last
/// first.
unsafe fn replace(list: Obj, low: Py_ssize_t, with: Obj) {
    let count = Py_SIZE(with) as usize;
    let from: *const Obj = field(with, abi::list::ITEMS);
    let into: *mut Obj = field::<*mut Obj>(list, abi::list::ITEMS).offset(low);
    let mut old = [ptr::null_mut(); MOST_REPLACED];
    for (i, place) in old.iter_mut().enumerate().take(count) {
        *place = into.add(i).replace(Py_NewRef(*from.add(i)));
    }
    for &object in old[..count].iter().rev() {
        Py_DECREF(object);
    }
}

unsafe fn length(a: Obj) -> Py_ssize_t {
    if PyUnicode_CheckExact(a) != 0 {
        PyUnicode_GetLength(a)
    } else {
        Py_SIZE(a)
    }
}

/// The offsets that two bounds stand for, in order and in range; `None` if they are not `None` or ints of a machine
/// word.
unsafe fn bounds(start: Obj, stop: Obj, length: Py_ssize_t) -> Option<(Py_ssize_t, Py_ssize_t)> {
    let low = offset(start, 0, length)?;
    let high = offset(stop, length, length)?;
    Some((low, high.max(low)))
}

unsafe fn offset(bound: Obj, none: Py_ssize_t, length: Py_ssize_t) -> Option<Py_ssize_t> {
    let Some(value) = word(bound)? else {
        return Some(none);
    };
    let value = if value < 0 {
        value.saturating_add(length)
    } else {
        value
    };
    Some(value.clamp(0, length))
}

/// The value of an int of a machine word, `Some(None)` for `None`.
unsafe fn word(bound: Obj) -> Option<Option<Py_ssize_t>> {
    if bound == Py_None() {
        return Some(None);
    }
    if PyLong_CheckExact(bound) == 0 {
        return None;
    }
    let tag: usize = field(bound, abi::long::TAG);
    if tag >> abi::long::NON_SIZE_BITS <= 1 {
        let digit: u32 = field(bound, abi::long::DIGITS);
        let sign = 1 - (tag as i32 & abi::long::SIGN_MASK) as isize;
        return Some(Some(sign * digit as isize));
    }
    let mut overflow = 0;
    let value = PyLong_AsLongLongAndOverflow(bound, &mut overflow) as Py_ssize_t;
    (overflow == 0).then_some(Some(value))
}
