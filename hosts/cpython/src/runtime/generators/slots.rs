//! The slots and methods through which C code iterates over generators and sends into them, and
//! through which they are freed: functions of ours before the interpreter's.

use super::super::capi::*;
use super::{Gil, is_suspended, make, resume};
use crate::capi::{in_main_interpreter, is_of_main_interpreter};
use pyo3_ffi::*;
use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

static ORIGINAL_SEND: AtomicUsize = AtomicUsize::new(0);
static ORIGINAL_NEXT: AtomicUsize = AtomicUsize::new(0);
static ORIGINAL_DEALLOC: AtomicUsize = AtomicUsize::new(0);
/// `send`, or 0 if it is not replaced.
static ORIGINAL_METHOD: AtomicUsize = AtomicUsize::new(0);

/// Finds the interpreter's own functions.
///
/// # Safety
/// As for [`super::start`].
pub(super) unsafe fn find() -> Result<(), String> {
    // SAFETY: the classes are static; their tables are complete.
    unsafe {
        let methods = PyGen_Type.tp_as_async;
        let send = (!methods.is_null()).then(|| (*methods).am_send).flatten();
        let (Some(send), Some(next), Some(dealloc)) =
            (send, PyGen_Type.tp_iternext, PyGen_Type.tp_dealloc)
        else {
            return Err("the generator class has no slots to replace".to_owned());
        };
        ORIGINAL_DEALLOC.store(dealloc as usize, Ordering::Relaxed);
        ORIGINAL_SEND.store(send as usize, Ordering::Relaxed);
        ORIGINAL_NEXT.store(next as usize, Ordering::Relaxed);
        // Only if the same function serves both classes is it replaced.
        if let [Some(one), Some(other)] = send_rows() {
            let (one, other) = (one.ml_meth.PyCFunction, other.ml_meth.PyCFunction);
            if one as usize == other as usize {
                ORIGINAL_METHOD.store(one as usize, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

/// The slots' own function for sending.
#[inline(always)]
pub(super) unsafe fn original_send() -> sendfunc {
    // SAFETY: set at the start, before anything is compiled.
    unsafe { std::mem::transmute::<usize, sendfunc>(ORIGINAL_SEND.load(Ordering::Relaxed)) }
}

/// As [`resume`], for the current thread, which may be one of any interpreter: they share the
/// classes, but the extras of other interpreters' code objects are not ours.
///
/// # Safety
/// The thread has its interpreter's lock; `generator` is one and lives as long as the call.
#[inline(always)]
unsafe fn resume_here(generator: Object, value: Object) -> Option<Object> {
    // SAFETY: the caller's promise; the token is created only for the main interpreter's lock.
    unsafe {
        let ts = current_thread();
        if !is_of_main_interpreter(ts) {
            return None;
        }
        resume(Gil::held(), ts, generator, value)
    }
}

unsafe extern "C" fn next_slot(generator: Object) -> Object {
    // SAFETY: a slot's promises.
    unsafe {
        match resume_here(generator, Py_None()) {
            Some(result) => {
                if result.is_null() || is_suspended(generator) {
                    return result;
                }
                if result != Py_None() {
                    _PyGen_SetStopIterationValue(result);
                }
                Py_DECREF(result);
                std::ptr::null_mut()
            }
            None => {
                let next = ORIGINAL_NEXT.load(Ordering::Relaxed);
                std::mem::transmute::<usize, iternextfunc>(next)(generator)
            }
        }
    }
}

unsafe extern "C" fn send_slot(
    generator: Object,
    value: Object,
    result: *mut Object,
) -> PySendResult {
    // SAFETY: a slot's promises.
    unsafe {
        match resume_here(generator, value) {
            Some(object) => {
                *result = object;
                if object.is_null() {
                    PySendResult::PYGEN_ERROR
                } else if is_suspended(generator) {
                    PySendResult::PYGEN_NEXT
                } else {
                    PySendResult::PYGEN_RETURN
                }
            }
            None => original_send()(generator, value, result),
        }
    }
}

unsafe extern "C" fn dealloc_slot(generator: Object) {
    // SAFETY: a slot's promises.
    unsafe {
        if !in_main_interpreter() || !make::retire(generator) {
            let dealloc = ORIGINAL_DEALLOC.load(Ordering::Relaxed);
            std::mem::transmute::<usize, destructor>(dealloc)(generator);
        }
    }
}

/// `send` of generators and coroutines.
unsafe extern "C" fn send_method(generator: Object, value: Object) -> Object {
    // SAFETY: a method's promises.
    unsafe {
        match resume_here(generator, value) {
            Some(result) => {
                if result.is_null() || is_suspended(generator) {
                    return result;
                }
                if result == Py_None() {
                    PyErr_SetNone(PyExc_StopIteration);
                } else {
                    _PyGen_SetStopIterationValue(result);
                }
                Py_DECREF(result);
                std::ptr::null_mut()
            }
            None => {
                let send = ORIGINAL_METHOD.load(Ordering::Relaxed);
                std::mem::transmute::<usize, PyCFunction>(send)(generator, value)
            }
        }
    }
}

/// The rows of the methods `send`.
fn send_rows() -> [Option<&'static mut PyMethodDef>; 2] {
    // SAFETY: this thread has the GIL; the table of a static class ends with a row without a name.
    [&raw mut PyGen_Type, &raw mut PyCoro_Type].map(|class| unsafe {
        let mut row = (*class).tp_methods;
        while !row.is_null() && !(*row).ml_name.is_null() {
            if CStr::from_ptr((*row).ml_name) == c"send" && (*row).ml_flags == METH_O {
                return Some(&mut *row);
            }
            row = row.add(1);
        }
        None
    })
}

/// Lets C code that iterates over generators, or sends into them, resume them natively; undone by
/// [`restore`].
pub fn interpose() {
    set(
        next_slot as *const () as usize,
        send_slot as *const () as usize,
        match ORIGINAL_METHOD.load(Ordering::Relaxed) {
            0 => 0,
            _ => send_method as *const () as usize,
        },
        dealloc_slot as *const () as usize,
    );
}

/// Restores the classes' own functions.
pub fn restore() {
    let next = ORIGINAL_NEXT.load(Ordering::Relaxed);
    let send = ORIGINAL_SEND.load(Ordering::Relaxed);
    let dealloc = ORIGINAL_DEALLOC.load(Ordering::Relaxed);
    set(next, send, ORIGINAL_METHOD.load(Ordering::Relaxed), dealloc);
}

fn set(next: usize, send: usize, method: usize, dealloc: usize) {
    // SAFETY: this thread has the GIL; the classes are static and complete, and nothing compares
    // these slots.
    unsafe {
        if ORIGINAL_NEXT.load(Ordering::Relaxed) == 0 {
            return;
        }
        PyGen_Type.tp_iternext = Some(std::mem::transmute::<usize, iternextfunc>(next));
        for class in [&raw mut PyGen_Type, &raw mut PyCoro_Type] {
            (*class).tp_dealloc = Some(std::mem::transmute::<usize, destructor>(dealloc));
        }
        for methods in [PyGen_Type.tp_as_async, PyCoro_Type.tp_as_async] {
            if !methods.is_null() {
                (*methods).am_send = Some(std::mem::transmute::<usize, sendfunc>(send));
            }
        }
        if method != 0 {
            for row in send_rows().into_iter().flatten() {
                row.ml_meth.PyCFunction = std::mem::transmute::<usize, PyCFunction>(method);
            }
        }
    }
}
