//! Lookups in dicts of [the most frequent keys](super::keys), without a call of the interpreter's
//! functions.
//!
//! Safety: the contract of [`super`].

use super::keys::{are_equal, hash_of};
use crate::abi::{dict, dict_keys as keys, dict_versions, unicode};
use crate::capi::{Obj, field};
use crate::objects::instances::drop_one;
use crate::objects::tracking::is_tracked;
use pyo3_ffi::*;
use std::ptr;
use std::sync::OnceLock;

/// The number of bits by which the interpreter shifts a hash for each further place that it tries
/// (`PERTURB_SHIFT`).
const SHIFT: u32 = 5;

/// The value of a dict under a key, borrowed, or null if the key is not there. `None` if the
/// interpreter must look: the key is of another class, or two keys have the same hash and their
/// comparison may run user code.
///
/// # Safety
/// The lock is held; a live dict, or an instance of a subclass, and a live key.
#[inline]
pub unsafe fn look_up(container: Obj, key: Obj) -> Option<Obj> {
    // SAFETY: the caller's; a place that is found has a value, which may have been deleted.
    unsafe {
        let place = find(container, key)?;
        Some(place.map_or(ptr::null_mut(), |place| *place))
    }
}

/// The place of the value under a key, `Some(None)` if the key is not there. `None` as for
/// [`look_up`].
///
/// # Safety
/// As for [`look_up`]; the place is valid until the dict changes.
#[inline]
unsafe fn find(container: Obj, key: Obj) -> Option<Option<*mut Obj>> {
    // SAFETY: the caller's: a dict has a table. A table has `1 << LOG2_SIZE` indices of the width
    // that it records, and as many entries as the largest index needs. At least one index is marked
    // as never used, so each search stops.
    unsafe {
        let hash = hash_of(key)?;
        let table: *const u8 = field(container, dict::KEYS);
        let byte = |offset: i32| *table.offset(offset as isize);
        let (size, index_bytes) = (byte(keys::LOG2_SIZE), byte(keys::LOG2_INDEX_BYTES));
        let is_general = match i32::from(byte(keys::KIND)) {
            keys::KIND_GENERAL => true,
            // All keys are strings. A lookup of an int would find nothing; it is rare in such a
            // dict and is left to the interpreter.
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
                return Some(None);
            }
            if index >= 0 {
                let (known, value, same_hash) = if is_general {
                    let entry = entries.offset(index * keys::GENERAL_ENTRY_SIZE as isize);
                    let at = |offset: i32| entry.offset(offset as isize).cast::<Obj>();
                    let same = *entry.cast::<Py_hash_t>() == hash;
                    let (known, value) = (keys::GENERAL_ENTRY_KEY, keys::GENERAL_ENTRY_VALUE);
                    (*at(known), at(value).cast_mut(), same)
                } else {
                    let entry = entries.offset(index * keys::UNICODE_ENTRY_SIZE as isize);
                    let at = |offset: i32| entry.offset(offset as isize).cast::<Obj>();
                    let known = *at(0);
                    let same = field::<Py_hash_t>(known, unicode::HASH) == hash;
                    (known, at(keys::UNICODE_ENTRY_VALUE).cast_mut(), same)
                };
                if known == key {
                    return Some(Some(value));
                }
                if same_hash && are_equal(known, key)? {
                    return Some(Some(value));
                }
            }
            rest >>= SHIFT;
            place = (place * 5 + rest + 1) & mask;
        }
    }
}

/// Returns true for a dict, and for an instance of a subclass (such as `Counter`) that does not
/// override this method of the mapping protocol: both classes have the same function in the slot.
///
/// # Safety
/// A live object.
#[inline]
pub unsafe fn is_dict_by<F: PartialEq>(object: Obj, slot: impl Fn(&PyMappingMethods) -> F) -> bool {
    // SAFETY: the caller's; a class with a dict's layout has the table of methods that it has
    // inherited.
    unsafe {
        let class = Py_TYPE(object);
        if class == &raw mut PyDict_Type {
            return true;
        }
        if PyDict_Check(object) == 0 {
            return false;
        }
        let own = (*class).tp_as_mapping.as_ref();
        let of_dict = (*&raw const PyDict_Type).tp_as_mapping.as_ref();
        own.zip(of_dict)
            .is_some_and(|(own, of_dict)| slot(own) == slot(of_dict))
    }
}

/// Replace the value under a key that is there; false if nothing was done.
///
/// # Safety
/// The lock is held; live objects. The old value may be deallocated, which runs arbitrary user
/// code.
pub unsafe fn replace(container: Obj, key: Obj, value: Obj) -> bool {
    // SAFETY: the caller's. Three kinds of dicts are left to the interpreter: one whose values are
    // apart (`ma_values`) and so not in its table, one with watchers, and one that the collector
    // would have to track from now on.
    unsafe {
        let set = |methods: &PyMappingMethods| methods.mp_ass_subscript.map(|set| set as usize);
        let Some(counter) = versions() else {
            return false;
        };
        if !is_dict_by(container, set)
            || !field::<Obj>(container, dict::VALUES).is_null()
            || field::<u64>(container, dict_versions::WATCHERS_AT) & dict_versions::WATCHERS as u64
                != 0
            || (!is_tracked(container) && PyType_IS_GC(Py_TYPE(value)) != 0)
        {
            return false;
        }
        let Some(Some(place)) = find(container, key) else {
            return false;
        };
        let old = *place;
        if old.is_null() {
            return false;
        }
        if old != value {
            *place = Py_NewRef(value);
            dict_versions::note_replaced(container, counter);
            drop_one(old);
        }
        true
    }
}

/// The address where the interpreter counts the versions of dicts, if it does so where the layout
/// has it.
pub fn versions() -> Option<u64> {
    static VERSIONS: OnceLock<Option<u64>> = OnceLock::new();
    // SAFETY: the first call is at the start of the runtime, with the interpreter's lock held.
    *VERSIONS.get_or_init(|| unsafe { dict_versions::find() })
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
