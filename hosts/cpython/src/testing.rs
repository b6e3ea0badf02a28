//! Tests inside a Python interpreter of their own.

use crate::capi::Obj;
use pyo3_ffi::*;
use std::ffi::CString;
use std::sync::{Mutex, Once, PoisonError};

/// Runs `f` with the interpreter's lock held; the first test that needs the interpreter starts it.
pub(crate) fn with_python<R>(f: impl FnOnce() -> R) -> R {
    static START: Once = Once::new();
    // One test at a time: some count allocations, and Python may switch threads at any point.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: started once; each test takes the lock and releases it, also when it panics.
    unsafe {
        START.call_once(|| {
            Py_InitializeEx(0);
            PyEval_SaveThread();
        });
        struct Lock(PyGILState_STATE);
        impl Drop for Lock {
            fn drop(&mut self) {
                // SAFETY: taken below by this thread.
                unsafe { PyGILState_Release(self.0) }
            }
        }
        let _lock = Lock(PyGILState_Ensure());
        f()
    }
}

/// Runs source text in a new module namespace and returns that (a new reference).
///
/// # Panics
/// If it raises; the traceback is printed.
pub(crate) fn run(source: &str, names: &[(&str, Obj)]) -> Obj {
    // SAFETY: the caller is inside `with_python`.
    unsafe {
        let scope = PyDict_New();
        PyDict_SetItemString(scope, c"__builtins__".as_ptr(), PyEval_GetBuiltins());
        for (name, value) in names {
            PyDict_SetItemString(scope, CString::new(*name).unwrap().as_ptr(), *value);
        }
        let source = CString::new(source).unwrap();
        let result = PyRun_String(source.as_ptr(), Py_file_input, scope, scope);
        if result.is_null() {
            PyErr_Print();
            panic!("the Python part of the test raised");
        }
        Py_DECREF(result);
        scope
    }
}

/// A name of a namespace, borrowed.
pub(crate) fn get(scope: Obj, name: &str) -> Obj {
    // SAFETY: the caller is inside `with_python`.
    let found = unsafe { PyDict_GetItemString(scope, CString::new(name).unwrap().as_ptr()) };
    assert!(!found.is_null(), "no `{name}`");
    found
}

/// A builtin function for a script.
pub(crate) struct Method(PyMethodDef);

// SAFETY: never written.
unsafe impl Sync for Method {}

impl Method {
    pub(crate) const fn new(
        name: &'static std::ffi::CStr,
        function: PyCFunction,
        flags: std::ffi::c_int,
    ) -> Method {
        let ml_meth = PyMethodDefPointer {
            PyCFunction: function,
        };
        Method(PyMethodDef {
            ml_name: name.as_ptr(),
            ml_meth,
            ml_flags: flags,
            ml_doc: std::ptr::null(),
        })
    }

    /// The builtin (a new reference).
    pub(crate) fn object(&'static self) -> Obj {
        // SAFETY: the caller is inside `with_python`; the description lives for ever.
        unsafe {
            PyCFunction_NewEx(
                (&raw const self.0).cast_mut(),
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
        }
    }
}
