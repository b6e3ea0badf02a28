//! One strong reference to an object, dropped with it.

use pyo3_ffi::{Py_DECREF, Py_INCREF, PyErr_Clear, PyObject};
use std::ptr::NonNull;

/// A strong reference. Created, used and dropped under the GIL.
#[derive(Debug)]
pub struct Owned(NonNull<PyObject>);

// SAFETY: an `Owned` is a counted pointer; every function that creates or drops one needs the GIL,
// which makes this correct on any thread.
unsafe impl Send for Owned {}

impl Owned {
    /// Takes over the reference returned by a call of the C API; a null (with its exception, which
    /// is dropped) is `None`.
    ///
    /// # Safety
    /// The caller has the GIL; `object` is null or a strong reference of the caller's.
    pub unsafe fn take(object: *mut PyObject) -> Option<Owned> {
        let owned = NonNull::new(object).map(Owned);
        if owned.is_none() {
            // SAFETY: this thread has the GIL.
            unsafe { PyErr_Clear() };
        }
        owned
    }

    /// A new reference to an object that another owner keeps alive; `None` for null.
    ///
    /// # Safety
    /// The caller has the GIL; `object` is null or a live object.
    pub unsafe fn borrow(object: *mut PyObject) -> Option<Owned> {
        let object = NonNull::new(object)?;
        // SAFETY: the object is alive and this thread has the GIL.
        unsafe { Py_INCREF(object.as_ptr()) };
        Some(Owned(object))
    }

    /// The object, which lives at least as long as `self`.
    pub fn as_ptr(&self) -> *mut PyObject {
        self.0.as_ptr()
    }

    /// Gives the reference to the caller.
    pub fn into_ptr(self) -> *mut PyObject {
        let object = self.0.as_ptr();
        std::mem::forget(self);
        object
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, and this thread has the GIL wherever an `Owned` is
        // dropped.
        unsafe { Py_DECREF(self.0.as_ptr()) };
    }
}
