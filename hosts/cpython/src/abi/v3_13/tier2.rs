//! The interpreter's own experimental compiler of traces (`--enable-experimental-jit`,
//! `PYTHON_JIT=1`).
//!
//! It writes to the word of a thread's state that native frames use (`previous_executor`) whenever
//! a trace begins or ends.

use pyo3_ffi::{Py_XDECREF, PyObject};

/// Returns whether it is on. Few builds have it, and most of those have it off by default.
///
/// # Safety
/// The thread has the GIL.
pub unsafe fn is_on() -> bool {
    // SAFETY: a name; the function has this signature in every build that has it, and gives a new
    // reference, or null while it is off.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"_Py_GetOptimizer".as_ptr());
        if found.is_null() {
            return false;
        }
        let optimizer: unsafe extern "C" fn() -> *mut PyObject = std::mem::transmute(found);
        let optimizer = optimizer();
        Py_XDECREF(optimizer);
        !optimizer.is_null()
    }
}
