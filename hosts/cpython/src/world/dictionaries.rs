//! Instances whose attributes are in a dictionary of their own, though their class has room for values behind each object:
//! an instance gets one with its thirtieth attribute or so, when the keys that its class shares are used up, or when its
//! `__dict__` is assigned.
//!
//! Which classes have such instances is learnt where the interpreter or compiled code has met one. That and the cells are
//! hints: whatever compiled code takes from them it checks.

use crate::capi::{Obj, field};
use crate::namespace::NameCell;
use crate::{abi, world::classes};
use pyo3_ffi::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{LazyLock, Mutex, PoisonError};

#[derive(Default)]
struct Known {
    /// When the class was met, in classes met before.
    classes: FxHashMap<usize, u64>,
    /// Where a name was found last among the attributes of a class's instances. A cell lives as long as the process, for
    /// units name it.
    cells: FxHashMap<(usize, usize), &'static NameCell>,
    /// Names that units may name: held for good.
    names: FxHashSet<usize>,
}

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

fn known() -> std::sync::MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Note that `class` has an instance with a dictionary of its own.
pub(crate) fn note(class: *mut PyTypeObject) {
    let mut known = known();
    let now = known.classes.len() as u64 + 1;
    known.classes.entry(class as usize).or_insert(now);
}

/// How many classes have been noted: a time.
pub(crate) fn now() -> u64 {
    known().classes.len() as u64
}

/// Whether `class` was noted, and if so, after this time.
pub(crate) fn noted(class: *mut PyTypeObject, since: u64) -> bool {
    known()
        .classes
        .get(&(class as usize))
        .is_some_and(|&when| when > since)
}

/// Whether an object keeps attributes in a dictionary of its own, whatever its class has room for.
///
/// # Safety
/// A live object, with the interpreter's lock.
pub(crate) unsafe fn has_own(object: Obj) -> bool {
    // SAFETY: the caller's; where there are inline values, the dictionary's pointer is before the object.
    unsafe {
        let class = Py_TYPE(object);
        match classes::storage(class) {
            classes::Storage::Inline(values) => {
                field::<u8>(object, values.valid() as i32) == 0
                    && !field::<Obj>(object, abi::object::MANAGED_DICT).is_null()
            }
            classes::Storage::Dict(offset) => !field::<Obj>(object, offset as i32).is_null(),
            classes::Storage::None | classes::Storage::Other => false,
        }
    }
}

/// The cell that remembers where `name`, an interned string, is in dictionaries of instances of `class`.
///
/// # Safety
/// A live string, with the interpreter's lock.
pub(crate) unsafe fn cell(class: *mut PyTypeObject, name: Obj) -> i64 {
    let key = (class as usize, name as usize);
    // SAFETY: the caller's.
    unsafe { hold(name) };
    let mut known = known();
    let new = || &*Box::leak(Box::new(NameCell::EMPTY));
    std::ptr::from_ref::<NameCell>(known.cells.entry(key).or_insert_with(new)) as i64
}

/// Let a name stay what its address stands for.
///
/// # Safety
/// A live string, with the interpreter's lock.
pub(crate) unsafe fn hold(name: Obj) {
    if known().names.insert(name as usize) {
        // SAFETY: the caller's.
        unsafe { Py_INCREF(name) };
    }
}
