//! `isinstance` where it calls no arbitrary user code.
//!
//! Safety: the contract of [`super`].

use super::abstract_classes;
use crate::abi::type_;
use crate::capi::{Obj, field};
use pyo3_ffi::*;
use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;
use std::sync::OnceLock;

/// `isinstance`, as a function with an array of two arguments.
///
/// # Safety
/// As of such a function.
pub unsafe extern "C" fn is_instance(_: Obj, args: *mut Obj, _: Py_ssize_t) -> Obj {
    // SAFETY: the caller's: two live arguments.
    unsafe {
        let (object, class) = (*args, *args.add(1));
        let answer = answer(object, class).unwrap_or_else(|| PyObject_IsInstance(object, class));
        match answer {
            0 => Py_NewRef(Py_False()),
            1 => Py_NewRef(Py_True()),
            _ => ptr::null_mut(),
        }
    }
}

/// Answers `isinstance` for a class or a tuple of classes: 1, 0, or -1 with an exception. `None` if
/// the interpreter must answer; nothing was called then.
unsafe fn answer(object: Obj, class: Obj) -> Option<c_int> {
    // SAFETY: the caller's: live objects; an exact tuple has the number of items that its size
    // gives.
    unsafe {
        let own = Py_TYPE(object);
        if own.cast() == class {
            return Some(1);
        }
        let kind = Py_TYPE(class);
        if kind == &raw mut PyTuple_Type {
            for index in 0..Py_SIZE(class) {
                let item = PyTuple_GET_ITEM(class, index);
                // The interpreter gets single items to answer, since it too goes item by item. It
                // also gets tuples in the tuple, because it counts how deep they are nested.
                let of_item = if Py_TYPE(item) == kind {
                    None
                } else {
                    answer(object, item)
                };
                let answer = of_item.unwrap_or_else(|| PyObject_IsInstance(object, item));
                if answer != 0 {
                    return Some(answer);
                }
            }
            return Some(0);
        }
        if kind != &raw mut PyType_Type {
            return abstract_classes::is_instance(object, class, || has_own_class(own));
        }
        if PyType_IsSubtype(own, class.cast()) != 0 {
            return Some(1);
        }
        // If the class does not derive, the interpreter also compares the object's `__class__`.
        has_own_class(own).then_some(0)
    }
}

/// Returns true if `__class__` of a class's instances is their class: nothing overrides the
/// attribute of `object`.
pub(super) unsafe fn has_own_class(class: *mut PyTypeObject) -> bool {
    // SAFETY: the caller's: a live class. Its version changes when it or one of its bases changes.
    unsafe {
        let generic = PyObject_GenericGetAttr as *const () as usize;
        if (*class).tp_getattro.map(|f| f as usize) != Some(generic) {
            return false;
        }
        // 0 if the class has no version.
        let version: u32 = field(class.cast::<PyObject>(), type_::VERSION_TAG);
        let place = &KNOWN.0[version as usize % KNOWN.0.len()];
        if version != 0 && place.get() == version {
            return true;
        }
        let of_object = OF_OBJECT.get_or_init(|| class_of(&raw mut PyBaseObject_Type));
        let is_own = class_of(class) == *of_object && *of_object != 0;
        if is_own && version != 0 {
            place.set(version);
        }
        is_own
    }
}

/// The attribute `__class__` of a class or of its bases; 0 if it cannot be found.
unsafe fn class_of(class: *mut PyTypeObject) -> usize {
    // SAFETY: the caller's: a live class.
    unsafe { abstract_classes::method(class, c"__class__").map_or(0, |found| found as usize) }
}

/// The attribute `__class__` of `object`.
static OF_OBJECT: OnceLock<usize> = OnceLock::new();

/// Versions of classes whose `__class__` is known to be that of `object`. No two classes ever have
/// the same version.
struct Known([Cell<u32>; 256]);

// SAFETY: it is used with the interpreter's lock held.
unsafe impl Sync for Known {}

static KNOWN: Known = Known([const { Cell::new(0) }; 256]);
