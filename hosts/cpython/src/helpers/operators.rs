//! Operators, subscripts, truth and length.
//!
//! Safety: the contract of [`super`].

use super::dictionaries::{self, is_dict_by, look_up};
use super::numbers::small_int;
use super::sets;
use super::unpack::items_of;
use crate::abi::instructions::binary_function;
use crate::abi::long;
use crate::capi::{Obj, field};
use crate::runtime::sampling;
use crate::world::operators;
use cladonia::bytecode::INPLACE;
use pyo3_ffi::*;
use std::ptr;
use std::sync::OnceLock;

pub unsafe extern "C" fn binary(op: i64, a: Obj, b: Obj) -> Obj {
    // SAFETY: live operands; the number is one of the interpreter's own table, which the builder
    // has checked.
    unsafe {
        sampling::count([a, b]);
        binary_function(op as usize)(a, b)
    }
}

/// An operator on two exact ints: the function of `int`, without a search for the operands'
/// classes.
pub unsafe extern "C" fn binary_ints(op: i64, a: Obj, b: Obj) -> Obj {
    static FUNCTIONS: OnceLock<[binaryfunc; 2 * INPLACE as usize]> = OnceLock::new();
    // SAFETY: live exact ints, and one of the interpreter's numbers; the slots of `int` never
    // change.
    unsafe {
        let functions = FUNCTIONS.get_or_init(|| {
            std::array::from_fn(|number| {
                let own = operators::binary(number as u32);
                let own = own.and_then(|operator| operator.of(&raw mut PyLong_Type));
                own.unwrap_or(binary_function(number))
            })
        });
        functions[op as usize](a, b)
    }
}

pub unsafe extern "C" fn compare(op: i64, a: Obj, b: Obj) -> Obj {
    // SAFETY: live operands, and a comparison's number.
    unsafe {
        sampling::count([a, b]);
        PyObject_RichCompare(a, b, op as i32)
    }
}

/// Not `PyObject_RichCompareBool`, which takes identical objects for equal.
pub unsafe extern "C" fn compare_bool(op: i64, a: Obj, b: Obj) -> i64 {
    // SAFETY: live operands; the result is owned, and dropped once.
    unsafe {
        sampling::count([a, b]);
        let result = PyObject_RichCompare(a, b, op as i32);
        if result.is_null() {
            return -1;
        }
        let truth = PyObject_IsTrue(result);
        Py_DECREF(result);
        i64::from(truth)
    }
}

/// The container is the second operand.
pub unsafe extern "C" fn contains(item: Obj, container: Obj) -> i64 {
    // SAFETY: live operands.
    unsafe {
        if PyDict_CheckExact(container) != 0
            && let Some(found) = look_up(container, item)
        {
            return i64::from(!found.is_null());
        }
        if let Some(found) = sets::has(container, item) {
            return found.into();
        }
        match int_among(item, container) {
            Some(found) => found.into(),
            None => i64::from(PySequence_Contains(container, item)),
        }
    }
}

/// Searches for a small int among the items of a list or tuple. `None` if an item before it is no
/// int: only comparisons of ints run no other code.
unsafe fn int_among(item: Obj, container: Obj) -> Option<bool> {
    // SAFETY: the caller's: live objects. An exact list or tuple has the number of items that its
    // size gives, and an exact int has its first digit.
    unsafe {
        if PyLong_CheckExact(item) == 0 {
            return None;
        }
        let tag: u64 = field(item, long::TAG);
        if tag >> long::NON_SIZE_BITS > 1 {
            return None;
        }
        let digit: u32 = field(item, long::DIGITS);
        let items = items_of(container)?;
        for k in 0..Py_SIZE(container) {
            let other = *items.offset(k);
            if other == item {
                return Some(true);
            }
            if PyLong_CheckExact(other) == 0 {
                return None;
            }
            let differs = (field::<u64>(other, long::TAG) ^ tag) & !(long::IMMORTAL as u64);
            if differs == 0 && field::<u32>(other, long::DIGITS) == digit {
                return Some(true);
            }
        }
        Some(false)
    }
}

pub unsafe extern "C" fn truth(a: Obj) -> i64 {
    // SAFETY: a live operand.
    unsafe {
        sampling::count([a]);
        i64::from(PyObject_IsTrue(a))
    }
}

pub unsafe extern "C" fn negative(a: Obj) -> Obj {
    // SAFETY: a live operand.
    unsafe {
        sampling::count([a]);
        PyNumber_Negative(a)
    }
}

pub unsafe extern "C" fn invert(a: Obj) -> Obj {
    // SAFETY: a live operand.
    unsafe {
        sampling::count([a]);
        PyNumber_Invert(a)
    }
}

/// Null without an exception for an item that is missing in a dict (`kind` 0) or in a list or tuple.
pub unsafe extern "C" fn find_item(kind: i64, a: Obj, key: Obj) -> Obj {
    // SAFETY: live operands; an exact list or tuple has the number of items that its size gives.
    unsafe {
        if kind == 0 {
            if PyDict_CheckExact(a) != 0
                && let Some(found) = look_up(a, key)
            {
                return Py_XNewRef(found);
            }
        } else if let Some(items) = items_of(a)
            && let Some(index) = small_int(key)
        {
            let place = place_in(a, index);
            return place.map_or(ptr::null_mut(), |place| Py_NewRef(*items.offset(place)));
        }
        PyObject_GetItem(a, key)
    }
}

pub unsafe extern "C" fn get_item(a: Obj, key: Obj) -> Obj {
    // SAFETY: live operands; an exact list, slice or bytes object has the fields of its class.
    unsafe {
        sampling::count([a, key]);
        let get = |methods: &PyMappingMethods| methods.mp_subscript.map(|get| get as usize);
        if is_dict_by(a, get)
            && let Some(found) = look_up(a, key)
            && !found.is_null()
        {
            return Py_NewRef(found);
        }
        if PyList_CheckExact(a) != 0 && Py_TYPE(key) == &raw mut PySlice_Type {
            let result = super::slices::get_extended(a, key);
            if !result.is_null() {
                return result;
            }
        }
        if PyBytes_CheckExact(a) != 0
            && let Some(byte) = byte_at(a, key)
        {
            return PyLong_FromLong(byte.into());
        }
        PyObject_GetItem(a, key)
    }
}

/// The byte at an index, if that is a small int of exactly that class, and inside.
#[inline]
unsafe fn byte_at(bytes: Obj, key: Obj) -> Option<u8> {
    // SAFETY: the caller's: a live bytes object and a live key; the index is inside.
    unsafe {
        let place = place_in(bytes, small_int(key)?)?;
        Some(field(bytes, crate::abi::bytes::DATA + place as i32))
    }
}

/// The place of an index in a sequence, counted from the end if it is negative; none if it is
/// outside.
///
/// # Safety
/// The lock is held; a live object of variable size.
#[inline]
unsafe fn place_in(sequence: Obj, index: Py_ssize_t) -> Option<Py_ssize_t> {
    // SAFETY: the caller's.
    let length = unsafe { Py_SIZE(sequence) };
    let place = if index < 0 { index + length } else { index };
    (0..length).contains(&place).then_some(place)
}

pub unsafe extern "C" fn set_item(a: Obj, key: Obj, value: Obj) -> i64 {
    // SAFETY: live operands.
    unsafe {
        sampling::count([a, key]);
        if dictionaries::replace(a, key, value) {
            return 0;
        }
        i64::from(PyObject_SetItem(a, key, value))
    }
}

pub unsafe extern "C" fn del_item(a: Obj, key: Obj) -> i64 {
    // SAFETY: live operands.
    unsafe { i64::from(PyObject_DelItem(a, key)) }
}

/// The result of `iter(range(start, stop, step))`.
///
/// # Safety
/// Live operands; the lock is held.
pub unsafe extern "C" fn range_iter(start: Obj, stop: Obj, step: Obj) -> Obj {
    // SAFETY: live operands; the array has the given number of them; the range is owned, and its
    // iterator keeps it alive.
    unsafe {
        let arguments = [start, stop, step];
        let class = (&raw mut PyRange_Type).cast();
        let range = PyObject_Vectorcall(class, arguments.as_ptr(), 3, ptr::null_mut());
        if range.is_null() {
            return range;
        }
        let iter = PyObject_GetIter(range);
        Py_DECREF(range);
        iter
    }
}

pub unsafe extern "C" fn get_len(a: Obj) -> Obj {
    // SAFETY: a live operand.
    unsafe {
        sampling::count([a]);
        let length = PyObject_Length(a);
        if length < 0 {
            ptr::null_mut()
        } else {
            PyLong_FromSsize_t(length)
        }
    }
}
