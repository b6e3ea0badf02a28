//! The hash and the equality of the most frequent keys of dicts and sets: strings, small ints, and
//! tuples of these (a place of a grid, the arguments of a call). They run no user code.
//!
//! Safety: the contract of [`super`].

use super::numbers::small_int;
use super::strings::same_text;
use crate::abi::{tuple, unicode};
use crate::capi::{Obj, field};
use pyo3_ffi::*;
use std::slice;

/// The constants of the interpreter's hash of tuples (`Objects/tupleobject.c`): those of xxHash,
/// and what it adds to the number of items.
const PRIME_1: usize = 11_400_714_785_074_694_791;
const PRIME_2: usize = 14_029_467_366_897_019_727;
const PRIME_5: usize = 2_870_177_450_012_600_261;
const OF_LENGTH: usize = PRIME_5 ^ 3_527_539;
/// The hash in place of -1, which is none.
const IN_PLACE_OF_NONE: Py_hash_t = 1_546_275_796;

/// The most items of a tuple that is hashed here.
const MOST_ITEMS: usize = 4;

/// The hash of a key; `None` if it is of another class.
///
/// # Safety
/// A live object.
#[inline]
pub(super) unsafe fn hash_of(key: Obj) -> Option<Py_hash_t> {
    // SAFETY: the caller's.
    unsafe { hash_of_plain(key).or_else(|| hash_of_tuple(key)) }
}

/// The hash of an exact string or of a small int.
#[inline]
unsafe fn hash_of_plain(key: Obj) -> Option<Py_hash_t> {
    // SAFETY: the caller's: a live object; an exact string has its fields. Hashing it cannot fail.
    unsafe {
        if PyUnicode_CheckExact(key) != 0 {
            let hash: Py_hash_t = field(key, unicode::HASH);
            return Some(if hash == -1 { PyObject_Hash(key) } else { hash });
        }
        let value = small_int(key)?;
        Some(if value == -1 { -2 } else { value })
    }
}

/// The items of an exact tuple of not too many.
unsafe fn items_of<'a>(key: Obj) -> Option<&'a [Obj]> {
    // SAFETY: the caller's: a live object; an exact tuple has as many items as its size says, and
    // they do not change.
    unsafe {
        if PyTuple_CheckExact(key) == 0 || Py_SIZE(key) > MOST_ITEMS as Py_ssize_t {
            return None;
        }
        let first = key.cast::<u8>().offset(tuple::ITEMS as isize);
        Some(slice::from_raw_parts(first.cast(), Py_SIZE(key) as usize))
    }
}

unsafe fn hash_of_tuple(key: Obj) -> Option<Py_hash_t> {
    // SAFETY: the caller's: a live object.
    unsafe {
        let items = items_of(key)?;
        let mut sum = PRIME_5;
        for &item in items {
            let hash = hash_of_plain(item)? as usize;
            sum = sum.wrapping_add(hash.wrapping_mul(PRIME_2));
            sum = sum.rotate_left(31).wrapping_mul(PRIME_1);
        }
        let hash = sum.wrapping_add(items.len() ^ OF_LENGTH) as Py_hash_t;
        Some(if hash == -1 { IN_PLACE_OF_NONE } else { hash })
    }
}

/// Compares two keys with the same hash; `None` if that might run user code.
///
/// # Safety
/// Live objects.
pub(super) unsafe fn are_equal(a: Obj, b: Obj) -> Option<bool> {
    // SAFETY: the caller's.
    unsafe {
        if let Some(equal) = are_plain_equal(a, b) {
            return Some(equal);
        }
        let (a, b) = (items_of(a)?, items_of(b)?);
        if a.len() != b.len() {
            return Some(false);
        }
        for (&a, &b) in a.iter().zip(b) {
            if !are_plain_equal(a, b)? {
                return Some(false);
            }
        }
        Some(true)
    }
}

unsafe fn are_plain_equal(a: Obj, b: Obj) -> Option<bool> {
    // SAFETY: the caller's: live objects.
    unsafe {
        if a == b {
            return Some(true);
        }
        let are_texts = PyUnicode_CheckExact(a) != 0 && PyUnicode_CheckExact(b) != 0;
        if are_texts {
            return Some(same_text(a, b) != 0);
        }
        let is_text = PyUnicode_CheckExact(a) != 0 || PyUnicode_CheckExact(b) != 0;
        match (small_int(a), small_int(b)) {
            (Some(a), Some(b)) => Some(a == b),
            // A string and an int are not equal.
            (Some(_), None) | (None, Some(_)) if is_text => Some(false),
            _ => None,
        }
    }
}
