//! The modules of the program that may be compiled, if the user limits them: all, only some, or all
//! except some.
//!
//! A name includes the module's submodules: `shop` is `shop` and `shop.orders`. An excluded
//! function is neither compiled nor inlined into others.

use super::Gil;
use super::capi::{Object, text};
use pyo3_ffi::{
    Py_DECREF, PyDict_Check, PyDict_GetItemWithError, PyErr_Clear, PyUnicode_InternFromString,
};
use std::cell::RefCell;

/// The user's lists.
#[derive(Default)]
pub struct Chosen {
    only: RefCell<Vec<String>>,
    not: RefCell<Vec<String>>,
}

impl Chosen {
    /// Sets the lists: from now on only modules of the first list are compiled (if it is not
    /// empty), and none of the second. Names are separated by commas.
    pub fn set(&self, only: &str, not: &str) {
        let names = |list: &str| {
            let names = list.split(',').map(str::trim);
            names
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect()
        };
        self.only.replace(names(only));
        self.not.replace(names(not));
    }

    /// The reason why functions with these globals are excluded, if they are.
    ///
    /// # Safety
    /// The caller has the GIL; globals of a function.
    pub unsafe fn why_not(&self, gil: Gil, globals: Object) -> Option<&'static str> {
        let (only, not) = (self.only.borrow(), self.not.borrow());
        if only.is_empty() && not.is_empty() {
            return None;
        }
        // SAFETY: the caller's promise.
        let module = unsafe { name_of(gil, globals) };
        let is_in = |list: &[String]| {
            list.iter().any(|name| {
                let below = module.strip_prefix(name.as_str());
                below.is_some_and(|below| below.is_empty() || below.starts_with('.'))
            })
        };
        if is_in(&not) {
            return Some("its module is left out by CLADONIA_NOT");
        }
        (!only.is_empty() && !is_in(&only)).then_some("its module is left out by CLADONIA_ONLY")
    }
}

/// The name of the module that globals belong to; empty if they have no `__name__`.
///
/// # Safety
/// As for [`Chosen::why_not`].
unsafe fn name_of(_: Gil, globals: Object) -> String {
    // SAFETY: the caller's promise: a dict that is alive, and an interned key.
    unsafe {
        if PyDict_Check(globals) == 0 {
            return String::new();
        }
        let key = PyUnicode_InternFromString(c"__name__".as_ptr());
        if key.is_null() {
            PyErr_Clear();
            return String::new();
        }
        let name = PyDict_GetItemWithError(globals, key);
        Py_DECREF(key);
        if name.is_null() {
            PyErr_Clear();
        }
        text(name)
    }
}
