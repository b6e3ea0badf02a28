//! Lookups in dicts of what most keys are, strings and small ints, without a call of the interpreter's functions.
//!
//! Safety: the contract of [`super`].

use super::numbers::small_int;
use crate::abi::{dict, dict_keys as keys, unicode};
use crate::capi::{Obj, field};
use pyo3_ffi::*;
use std::ptr;

/// By how much the interpreter shifts a hash for each further place that it tries (`PERTURB_SHIFT`).
const SHIFT: u32 = 5;

/// What an exact dict has under a key, borrowed, or null if it has nothing. None if the interpreter is to look: the key is of another
/// class, or two keys have the same hash and must be compared.
///
/// # Safety
/// The lock is held; live objects.
#[inline]
pub unsafe fn look_up(container: Obj, key: Obj) -> Option<Obj> {
    // SAFETY: the caller's: an exact dict has a table. A table has `1 << LOG2_SIZE` indices, of as many bytes as their size says, and as many
    // entries as the largest index needs; one index at least says that nothing was ever there, so each search ends.
    unsafe {
        if PyDict_CheckExact(container) == 0 {
            return None;
        }
        let hash = hash_of(key)?;
        let table: *const u8 = field(container, dict::KEYS);
        let byte = |offset: i32| *table.offset(offset as isize);
        let (size, index_bytes) = (byte(keys::LOG2_SIZE), byte(keys::LOG2_INDEX_BYTES));
        let is_general = match i32::from(byte(keys::KIND)) {
            keys::KIND_GENERAL => true,
            // An int is none of its keys, but who asks for one has not met such a dict.
            keys::KIND_UNICODE if PyUnicode_CheckExact(key) != 0 => false,
            _ => return None,
        };
        let indices = table.offset(keys::INDICES as isize);
        let entries = indices.add(1 << index_bytes);
        let mask = (1usize << size) - 1;
        let mut rest = hash as usize;
        let mut place = rest & mask;
        loop {
            let index = match index_bytes - size {
                0 => *indices.cast::<i8>().add(place) as isize,
                1 => *indices.cast::<i16>().add(place) as isize,
                2 => *indices.cast::<i32>().add(place) as isize,
                _ => *indices.cast::<isize>().add(place),
            };
            if index == -1 {
                return Some(ptr::null_mut());
            }
            if index >= 0 {
                let (known, value, same_hash) = match is_general {
                    true => {
                        let entry = entries.offset(index * keys::GENERAL_ENTRY_SIZE as isize);
                        let at = |offset: i32| entry.offset(offset as isize).cast::<Obj>();
                        let same = *entry.cast::<Py_hash_t>() == hash;
                        (
                            *at(keys::GENERAL_ENTRY_KEY),
                            *at(keys::GENERAL_ENTRY_VALUE),
                            same,
                        )
                    }
                    false => {
                        let entry = entries.offset(index * keys::UNICODE_ENTRY_SIZE as isize);
                        let at = |offset: i32| entry.offset(offset as isize).cast::<Obj>();
                        let known = *at(0);
                        let same = field::<Py_hash_t>(known, unicode::HASH) == hash;
                        (known, *at(keys::UNICODE_ENTRY_VALUE), same)
                    }
                };
                if known == key {
                    return Some(value);
                }
                if same_hash {
                    match (small_int(known), small_int(key)) {
                        (Some(a), Some(b)) if a == b => return Some(value),
                        // -1 and -2 have the same hash.
                        (Some(_), Some(_)) => {}
                        _ => return None,
                    }
                }
            }
            rest >>= SHIFT;
            place = (place * 5 + rest + 1) & mask;
        }
    }
}

/// The hash of an exact string that has been hashed before, or of a small int.
#[inline]
unsafe fn hash_of(key: Obj) -> Option<Py_hash_t> {
    // SAFETY: the caller's: a live object; an exact string has its fields.
    unsafe {
        if PyUnicode_CheckExact(key) != 0 {
            let hash: Py_hash_t = field(key, unicode::HASH);
            return (hash != -1).then_some(hash);
        }
        let value = small_int(key)?;
        Some(if value == -1 { -2 } else { value })
    }
}

/// `dict.get`, as a method with an array of one or two arguments.
///
/// # Safety
/// As of such a method of a dict.
pub unsafe extern "C" fn get(container: Obj, args: *mut Obj, given: Py_ssize_t) -> Obj {
    // SAFETY: the caller's: as many live arguments as are said.
    unsafe {
        let found = match look_up(container, *args) {
            Some(found) => found,
            None => {
                let found = PyDict_GetItemWithError(container, *args);
                if found.is_null() && !PyErr_Occurred().is_null() {
                    return found;
                }
                found
            }
        };
        if !found.is_null() {
            return Py_NewRef(found);
        }
        Py_NewRef(if given > 1 { *args.add(1) } else { Py_None() })
    }
}
