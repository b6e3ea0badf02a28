//! Cells that remember the position of a name in a dict, so that compiled code finds it without
//! hashing.
//!
//! A cell is checked at each use: the dict's table must have the same shape as when the cell was
//! filled, and the entry must have this name as its key. So no notification is needed when a dict
//! is resized or replaced.
//!
//! For example, the cell of `total` in a module has the index of its entry in the module's dict, so
//! that `total += 1` at the top of the module is a load, an addition and a store.
//!
//! # Safety contract of the helpers
//! They are called by compiled code only, with the interpreter's lock held: the namespace is an
//! exact dict, the name an interned string, the cell one of a unit that is running.

use crate::abi::{changed, dict, dict_keys as keys};
use crate::capi::{Obj, field};
use pyo3_ffi::*;
use std::ptr;

/// The position of a name. Read by compiled code.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NameCell {
    /// The word with the sizes and the kind of the dict's table; no table has the word of an empty
    /// cell.
    pub shape: i64,
    /// The index of the entry.
    pub index: i64,
    /// The entry's distance from the start of the table, in bytes.
    pub offset: i64,
}

/// Offsets in a [`NameCell`].
pub mod cell {
    /// `shape`.
    pub const SHAPE: i32 = 0;
    /// `index`.
    pub const INDEX: i32 = 8;
    /// `offset`.
    pub const OFFSET: i32 = 16;
}

impl NameCell {
    /// A cell that matches no dict.
    pub const EMPTY: NameCell = NameCell {
        shape: -1,
        index: 0,
        offset: 0,
    };

    /// The value of a name in an exact dict, borrowed; null if the cell does not match, or if there
    /// is none.
    ///
    /// # Safety
    /// As for the helpers.
    #[inline(always)]
    pub unsafe fn value(&self, namespace: Obj, name: Obj) -> Obj {
        // SAFETY: the caller's: an exact dict, whose table has at least the number of entries that
        // it records; the entry is at its offset.
        unsafe {
            let table: Obj = field(namespace, dict::KEYS);
            let word: u32 = field(table, keys::LOG2_SIZE);
            let fits = self.shape == i64::from(word) & i64::from(keys::SHAPE_MASK)
                && self.index < field(table, keys::NENTRIES)
                && field::<Obj>(table, self.offset as i32) == name;
            if fits {
                field(table, self.offset as i32 + keys::UNICODE_ENTRY_VALUE)
            } else {
                ptr::null_mut()
            }
        }
    }
}

/// The value that [`replace`] returns on failure.
pub const FAILED: usize = 1;

/// The value of a name, borrowed, or null if there is none (or if the lookup might run arbitrary
/// user code); no exception is set. Fills the cell if the dict has a table of its own with only
/// strings as keys.
///
/// # Safety
/// As for the helpers: see the module.
pub unsafe extern "C" fn find(namespace: Obj, name: Obj, cell: *mut NameCell) -> Obj {
    // SAFETY: an exact dict, an interned string, and a cell of a unit that is running, or of the
    // helpers' own.
    unsafe {
        let table: Obj = field(namespace, dict::KEYS);
        let kind: u8 = field(table, keys::KIND);
        if i32::from(kind) == keys::KIND_GENERAL {
            return ptr::null_mut();
        }
        let value = PyDict_GetItemWithError(namespace, name);
        if value.is_null() {
            PyErr_Clear();
        } else if changed::is_deferred(value) {
            return ptr::null_mut();
        } else if i32::from(kind) == keys::KIND_UNICODE {
            fill(table, name, cell);
        }
        value
    }
}

unsafe fn fill(table: Obj, name: Obj, cell: *mut NameCell) {
    // SAFETY: the caller's: the table of a dict with strings as keys, and a cell.
    unsafe {
        let bits: u8 = field(table, keys::LOG2_INDEX_BYTES);
        let entries = i64::from(keys::INDICES) + (1 << bits);
        let used: i64 = field(table, keys::NENTRIES);
        for index in 0..used {
            let offset = entries + index * i64::from(keys::UNICODE_ENTRY_SIZE);
            if field::<Obj>(table, offset as i32) == name {
                let word: u32 = field(table, keys::LOG2_SIZE);
                *cell = NameCell {
                    shape: i64::from(word) & i64::from(keys::SHAPE_MASK),
                    index,
                    offset,
                };
                return;
            }
        }
    }
}

/// Binds a name to a value, which is taken over. Returns the old value, owned, or null; [`FAILED`]
/// with an exception.
///
/// # Safety
/// As for the helpers: see the module. The value is owned.
pub unsafe extern "C" fn replace(
    namespace: Obj,
    name: Obj,
    cell: *mut NameCell,
    value: Obj,
) -> Obj {
    // SAFETY: an exact dict, an interned string, a cell of a unit that is running, and an owned
    // value. The old one is owned before the dict drops it.
    unsafe {
        let old = PyDict_GetItemWithError(namespace, name);
        Py_XINCREF(old);
        let failed = old.is_null() && !PyErr_Occurred().is_null()
            || PyDict_SetItem(namespace, name, value) < 0;
        Py_DECREF(value);
        if failed {
            Py_XDECREF(old);
            return FAILED as Obj;
        }
        find(namespace, name, cell);
        old
    }
}

/// Returns 0 if the dict does not have the name, a string, and the lookup needs no user code.
///
/// # Safety
/// As for the helpers: see the module.
pub unsafe extern "C" fn may_have(dict: Obj, name: Obj) -> i64 {
    // SAFETY: an exact dict and an interned string.
    unsafe {
        let table: Obj = field(dict, dict::KEYS);
        if i32::from(field::<u8>(table, keys::KIND)) == keys::KIND_GENERAL {
            return 1;
        }
        let found = PyDict_GetItemWithError(dict, name);
        if found.is_null() {
            PyErr_Clear();
        }
        i64::from(!found.is_null())
    }
}

/// Replaces the value of a bound name; the new value is taken over. Returns the old one, owned.
/// Null, without side effects, if the name is not bound, if the lookup might run arbitrary user
/// code, or if there is no memory.
///
/// # Safety
/// As for the helpers: see the module. The value is owned.
pub unsafe extern "C" fn replace_value(
    dict: Obj,
    name: Obj,
    cell: *mut NameCell,
    value: Obj,
) -> Obj {
    // SAFETY: an exact dict, an interned string, a cell of a unit that is running, and an owned
    // value. The old one is owned before the dict drops it.
    unsafe {
        let old = find(dict, name, cell);
        if old.is_null() {
            return old;
        }
        Py_INCREF(old);
        if PyDict_SetItem(dict, name, value) < 0 {
            PyErr_Clear();
            Py_DECREF(old);
            return ptr::null_mut();
        }
        Py_DECREF(value);
        old
    }
}
