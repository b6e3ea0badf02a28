//! Cells that remember where in a dict a name is, so that compiled code finds it without hashing.
//!
//! What a cell says is checked at each use: the dict's table has the same shape as when the cell was filled, and the
//! entry there has just this name as its key. So nothing need tell when a dict is resized or replaced.
//!
//! # Safety contract of the helpers
//! They are called by compiled code only, with the interpreter's lock held: the namespace is an exact dict, the name an
//! interned string, the cell one of a unit that is running.

use crate::abi::{dict, dict_keys as keys};
use crate::capi::{Obj, field};
use pyo3_ffi::*;
use std::ptr;

/// Where a name was found. Read by compiled code.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NameCell {
    /// The word with the sizes and the kind of the dict's table; no table has that of an empty cell.
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
    /// A cell that fits no dict.
    pub const EMPTY: NameCell = NameCell {
        shape: -1,
        index: 0,
        offset: 0,
    };

    /// The value of a name in an exact dict, borrowed; null if the cell does not know where it is, or there is none.
    ///
    /// # Safety
    /// As of the helpers.
    #[inline(always)]
    pub unsafe fn value(&self, namespace: Obj, name: Obj) -> Obj {
        // SAFETY: the caller's: an exact dict, whose table has at least as many entries as it says; one that it has lies at its offset.
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

/// What [`replace`] returns when it failed.
pub const FAILED: usize = 1;

/// The value of a name, borrowed, or null if there is none (or looking might run code of the program); no exception is
/// set. Fills the cell if the dict has a table of its own with only strings as keys.
///
/// # Safety
/// As of the helpers: see the module.
pub unsafe extern "C" fn find(namespace: Obj, name: Obj, cell: *mut NameCell) -> Obj {
    // SAFETY: an exact dict, an interned string, and a cell of a unit that is running, or of the helpers' own.
    unsafe {
        let table: Obj = field(namespace, dict::KEYS);
        let kind: u8 = field(table, keys::KIND);
        if i32::from(kind) == keys::KIND_GENERAL {
            return ptr::null_mut();
        }
        let value = PyDict_GetItemWithError(namespace, name);
        if value.is_null() {
            PyErr_Clear();
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

/// Bind a name to a value, which is taken over. Gives the value it had, owned, or null; [`FAILED`] with an exception.
///
/// # Safety
/// As of the helpers: see the module. The value is owned.
pub unsafe extern "C" fn replace(
    namespace: Obj,
    name: Obj,
    cell: *mut NameCell,
    value: Obj,
) -> Obj {
    // SAFETY: an exact dict, an interned string, a cell of a unit that is running, and an owned value. The old one is owned before the dict
    // drops it.
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

/// 0 if the dict has nothing under the name, a string, and no code of the program need run to see that.
///
/// # Safety
/// As of the helpers: see the module.
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

/// Give a name that is bound another value, which is taken over; gives the old one, owned. Null if nothing was done:
/// nothing is bound to it, looking might run code of the program, or there is no memory.
///
/// # Safety
/// As of the helpers: see the module. The value is owned.
pub unsafe extern "C" fn replace_value(
    dict: Obj,
    name: Obj,
    cell: *mut NameCell,
    value: Obj,
) -> Obj {
    // SAFETY: an exact dict, an interned string, a cell of a unit that is running, and an owned value. The old one is owned before the dict
    // drops it.
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
