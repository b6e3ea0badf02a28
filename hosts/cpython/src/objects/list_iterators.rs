//! Iterators of lists, made by compiled code in the memory of those that have ended: each loop over a list needs one, and each
//! of those in a nested loop lives shortly.

use super::spares::Spares;
use super::tracking;
use crate::abi::{list_iter, thread};
use crate::capi::Obj;
use crate::runtime::capi::{_Py_NewReference, current_thread, get, put};
use pyo3_ffi::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What is only used with the main interpreter's GIL held.
struct Locked(Spares);

// SAFETY: as above.
unsafe impl Sync for Locked {}

static SPARES: Locked = Locked(Spares::new());

/// The class's own function, once it was replaced.
static ORIGINAL: AtomicUsize = AtomicUsize::new(0);

/// The main interpreter: others, which share the class, have locks and memory of their own.
static MAIN: AtomicUsize = AtomicUsize::new(0);

/// `iter(list)`.
///
/// # Safety
/// The GIL is held; an exact list.
#[inline]
pub unsafe fn make(list: Obj) -> Obj {
    // SAFETY: the caller's promise; the memory is that of an iterator of a list, whose class is still there.
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

/// What the class's own function does, but for the memory in the main interpreter.
unsafe extern "C" fn dealloc(iterator: Obj) {
    // SAFETY: a slot's promises.
    unsafe {
        tracking::untrack(iterator);
        Py_XDECREF(get(iterator.cast(), list_iter::SEQ));
        let interpreter: usize = get(current_thread(), thread::INTERP);
        if interpreter != MAIN.load(Relaxed) || !SPARES.0.keep(iterator) {
            PyObject_GC_Del(iterator.cast());
        }
    }
}

/// Let the memory of iterators be kept; undone by [`restore`].
///
/// # Safety
/// The GIL is held.
pub unsafe fn interpose() {
    // SAFETY: the class is static and complete, and nothing compares this slot.
    unsafe {
        if let Some(own) = PyListIter_Type.tp_dealloc
            && own as usize != dealloc as *const () as usize
        {
            MAIN.store(PyInterpreterState_Main() as usize, Relaxed);
            ORIGINAL.store(own as usize, Relaxed);
            PyListIter_Type.tp_dealloc = Some(dealloc);
        }
    }
}

/// Give the class its own function back.
///
/// # Safety
/// The GIL is held.
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
