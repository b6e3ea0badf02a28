//! New strings, where the usual case is short: ints of up to 64 bits in decimal, and ASCII strings
//! put together.
//!
//! The interpreter's own functions serve all cases of a conversion or a join in one loop with a
//! writer. Here a result is allocated once, with its final length, and its characters are copied.
//!
//! Safety: the contract of [`super`].

use super::strings::{bytes, is_ascii};
use crate::abi::{long, unicode};
use crate::capi::{Obj, field};
use pyo3_ffi::*;
use std::slice;

/// The digits of an `i64` and its sign.
const MOST_DIGITS: usize = 20;

/// A new exact string of these ASCII characters; null with an exception if there is no memory.
///
/// # Safety
/// Called inside the interpreter.
unsafe fn of_ascii(text: &[u8]) -> Obj {
    // SAFETY: the new string has room for so many ASCII characters, and nothing else has it yet.
    unsafe {
        let made = PyUnicode_New(text.len() as Py_ssize_t, 127);
        if !made.is_null() {
            room(made, text.len()).copy_from_slice(text);
        }
        made
    }
}

/// The place for the characters of a new ASCII string of this length.
///
/// # Safety
/// Nothing else refers to the string while the slice is used.
unsafe fn room<'a>(made: Obj, length: usize) -> &'a mut [u8] {
    // SAFETY: the caller's: the characters of an ASCII string follow its head.
    unsafe {
        let data = made.cast::<u8>().offset(unicode::ASCII_DATA as isize);
        slice::from_raw_parts_mut(data, length)
    }
}

/// An int in decimal, as `str` and `repr` have it; `None` if it has more than two digits of the
/// interpreter's (60 bits) or is no exact int.
///
/// # Safety
/// A live object.
unsafe fn decimal(object: Obj) -> Option<Obj> {
    // SAFETY: the caller's: an exact int has a tag and at least one digit.
    unsafe {
        if PyLong_CheckExact(object) == 0 {
            return None;
        }
        let tag: u64 = field(object, long::TAG);
        let mut rest = u64::from(field::<u32>(object, long::DIGITS));
        match tag >> long::NON_SIZE_BITS {
            0 | 1 => {}
            2 => {
                rest |= u64::from(field::<u32>(object, long::DIGITS + size_of::<u32>() as i32))
                    << long::DIGIT_BITS
            }
            _ => return None,
        }
        let mut text = [0; MOST_DIGITS];
        let mut at = MOST_DIGITS;
        loop {
            at -= 1;
            text[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if tag & long::SIGN_MASK as u64 == long::SIGN_NEGATIVE as u64 {
            at -= 1;
            text[at] = b'-';
        }
        Some(of_ascii(&text[at..]))
    }
}

/// `str(object)`.
///
/// # Safety
/// A live object.
pub unsafe extern "C" fn text_of(object: Obj) -> Obj {
    // SAFETY: a live operand.
    unsafe { decimal(object).unwrap_or_else(|| PyObject_Str(object)) }
}

/// `repr(object)`, as a function of a module.
///
/// # Safety
/// A live object.
pub unsafe extern "C" fn repr_of(_module: Obj, object: Obj) -> Obj {
    // SAFETY: a live operand.
    unsafe { decimal(object).unwrap_or_else(|| PyObject_Repr(object)) }
}

/// `format(object)`.
pub(super) unsafe fn formatted(object: Obj) -> Obj {
    // SAFETY: the caller's: a live object.
    unsafe {
        if PyUnicode_CheckExact(object) != 0 {
            return Py_NewRef(object);
        }
        decimal(object).unwrap_or_else(|| PyObject_Format(object, std::ptr::null_mut()))
    }
}

/// An object converted by a function that gives the digits of an int: `str`, `repr` or `ascii`.
pub(super) unsafe fn converted(object: Obj, convert: unsafe extern "C" fn(Obj) -> Obj) -> Obj {
    // SAFETY: the caller's: a live object.
    unsafe { decimal(object).unwrap_or_else(|| convert(object)) }
}

/// Strings one after the other; `None` if there are not at least two, if one is no exact string or
/// if one is not ASCII.
///
/// # Safety
/// Live objects.
pub(super) unsafe fn joined(parts: &[Obj]) -> Option<Obj> {
    // SAFETY: the caller's: the class of each is checked before it is read as a string; the new
    // string has room for them all, and nothing else has it yet.
    unsafe {
        let mut length = 0;
        for &part in parts {
            if PyUnicode_CheckExact(part) == 0 || !is_ascii(part) {
                return None;
            }
            length += bytes(part).len();
        }
        if parts.len() < 2 || length == 0 {
            return None;
        }
        let made = PyUnicode_New(length as Py_ssize_t, 127);
        if made.is_null() {
            return Some(made);
        }
        let mut rest = room(made, length);
        for &part in parts {
            let text = bytes(part);
            let (here, behind) = rest.split_at_mut(text.len());
            here.copy_from_slice(text);
            rest = behind;
        }
        Some(made)
    }
}

/// The sum of two strings, as `first += second`: takes over the reference to the first one; the
/// result is owned, or null with an exception if there is no memory.
///
/// # Safety
/// Live exact strings; the first one is owned.
pub(super) unsafe fn appended(mut first: Obj, second: Obj) -> Obj {
    // SAFETY: the caller's.
    unsafe {
        // A string without another reference grows in place.
        let is_shared = Py_REFCNT(first) > 1;
        let are_filled = PyUnicode_GET_LENGTH(first) > 0 && PyUnicode_GET_LENGTH(second) > 0;
        if is_shared
            && are_filled
            && let Some(made) = joined(&[first, second])
        {
            Py_DECREF(first);
            return made;
        }
        PyUnicode_Append(&mut first, second);
        first
    }
}
