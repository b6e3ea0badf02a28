//! Iterators of lists, allocated by compiled code in the memory of freed ones: each loop over a
//! list needs one, and in nested loops they are short-lived.

use super::spares::Spares;
use super::tracking;
use crate::abi::list_iter;
use crate::capi::{Obj, in_main_interpreter};
use crate::runtime::capi::{_Py_NewReference, get, put};
use pyo3_ffi::*;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Data that is only used with the main interpreter's GIL held.
struct Locked(Spares);

// SAFETY: as above.
unsafe impl Sync for Locked {}

static SPARES: Locked = Locked(Spares::new());

/// The class's own function, once it was replaced.
static ORIGINAL: AtomicUsize = AtomicUsize::new(0);

/// `iter(list)`.
///
/// # Safety
/// The caller has the GIL; an exact list.
#[inline]
pub unsafe fn make(list: Obj) -> Obj {
    // SAFETY: the caller's promise; the memory comes from an iterator of a list, and still has its
    // class.
    unsafe {
        let Some(made) = SPARES.0.take() else {
            return PyObject_GetIter(list);
        };
        _Py_NewReference(made);
        put::<Py_ssize_t>(made.cast(), list_iter::INDEX, 0);
        put(made.cast(), list_iter::SEQ, Py_NewRef(list));
        tracking::track(made);
        made
    }
}

/// The next item of an iterator, as in `for`: 1 if there is one, which is then at `out` (owned),
/// else 0.
///
/// # Safety
/// The caller has the GIL; an iterator of exactly this class.
#[inline]
pub unsafe fn next(iterator: Obj, out: *mut Obj) -> i64 {
    // SAFETY: the caller's promise; an iterator that is not exhausted has its list.
    unsafe {
        let index: Py_ssize_t = get(iterator.cast(), list_iter::INDEX);
        if index < 0 {
            return 0;
        }
        let list: Obj = get(iterator.cast(), list_iter::SEQ);
        if index < PyList_GET_SIZE(list) {
            *out = Py_NewRef(PyList_GET_ITEM(list, index));
            put(iterator.cast(), list_iter::INDEX, index + 1);
            return 1;
        }
        put::<Py_ssize_t>(iterator.cast(), list_iter::INDEX, -1);
        put::<Obj>(iterator.cast(), list_iter::SEQ, ptr::null_mut());
        Py_DECREF(list);
    }
    0
}

/// The class's own actions, except that the main interpreter keeps the memory.
unsafe extern "C" fn dealloc(iterator: Obj) {
    // SAFETY: a slot's promises.
    unsafe {
        tracking::untrack(iterator);
        Py_XDECREF(get(iterator.cast(), list_iter::SEQ));
        if !in_main_interpreter() || !SPARES.0.keep(iterator) {
            PyObject_GC_Del(iterator.cast());
        }
    }
}

/// Keeps the memory of iterators from now on; undone by [`restore`].
///
/// # Safety
/// The caller has the GIL.
pub unsafe fn interpose() {
    // SAFETY: the class is static and complete, and nothing compares this slot.
    unsafe {
        if let Some(own) = PyListIter_Type.tp_dealloc
            && own as usize != dealloc as *const () as usize
        {
            ORIGINAL.store(own as usize, Relaxed);
            PyListIter_Type.tp_dealloc = Some(dealloc);
        }
    }
}

/// Restores the class's own function.
///
/// # Safety
/// The caller has the GIL.
pub unsafe fn restore() {
    let original = ORIGINAL.load(Relaxed);
    if original != 0 {
        // SAFETY: as for [`interpose`]; it was the slot's.
        unsafe {
            PyListIter_Type.tp_dealloc = Some(std::mem::transmute::<usize, destructor>(original));
            SPARES.0.free();
        }
    }
}
