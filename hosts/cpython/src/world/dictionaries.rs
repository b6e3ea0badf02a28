//! Instances whose attributes are in a dictionary of their own, though their class has room for
//! values behind each object: an instance gets one with about its thirtieth attribute, when the
//! shared keys of its class are full, or when its `__dict__` is assigned.
//!
//! A class is recorded when the interpreter or compiled code has observed such an instance. This
//! record and the cells are hints: compiled code checks them.

use crate::capi::{Obj, field};
use crate::namespace::NameCell;
use crate::{abi, world::classes};
use pyo3_ffi::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{LazyLock, Mutex, PoisonError};

#[derive(Default)]
struct Known {
    /// The time of the first observation, as the number of classes recorded before.
    classes: FxHashMap<usize, u64>,
    /// The last position of a name in the dictionaries of an owner, such as a class. Cells live as
    /// long as the process, since units refer to them.
    cells: FxHashMap<(usize, usize), &'static NameCell>,
    /// Names that units may refer to: kept alive forever.
    names: FxHashSet<usize>,
}

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

fn known() -> std::sync::MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records that `class` has an instance with a dictionary of its own.
pub(crate) fn note(class: *mut PyTypeObject) {
    let mut known = known();
    let now = known.classes.len() as u64 + 1;
    known.classes.entry(class as usize).or_insert(now);
}

/// Number of classes recorded: a time.
pub(crate) fn now() -> u64 {
    known().classes.len() as u64
}

/// True if `class` was recorded after this time.
pub(crate) fn noted(class: *mut PyTypeObject, since: u64) -> bool {
    known()
        .classes
        .get(&(class as usize))
        .is_some_and(|&when| when > since)
}

/// True if an object has a dictionary of its own, even if its class has room for inline values.
///
/// # Safety
/// A live object, with the interpreter's lock.
pub(crate) unsafe fn has_own(object: Obj) -> bool {
    // SAFETY: the caller's; if there are inline values, the dictionary's pointer is before the
    // object.
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

/// The cell with the position of `name`, an interned string, in dictionaries of one owner: of
/// instances of a class, or with the defaults of functions of a code object.
///
/// # Safety
/// A live string, with the interpreter's lock.
pub(crate) unsafe fn cell(owner: Obj, name: Obj) -> i64 {
    let key = (owner as usize, name as usize);
    // SAFETY: the caller's.
    unsafe { hold(name) };
    let mut known = known();
    let new = || &*Box::leak(Box::new(NameCell::EMPTY));
    std::ptr::from_ref::<NameCell>(known.cells.entry(key).or_insert_with(new)) as i64
}

/// Keeps a name alive forever, so that its address remains valid.
///
/// # Safety
/// A live string, with the interpreter's lock.
pub(crate) unsafe fn hold(name: Obj) {
    if known().names.insert(name as usize) {
        // SAFETY: the caller's.
        unsafe { Py_INCREF(name) };
    }
}
