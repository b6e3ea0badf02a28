//! Which modules of the program may be compiled, where the user has said so: all, only some, or all but some.
//!
//! A name stands for the module, and what is below it: `shop` for `shop` and `shop.orders`. What is left out is not compiled, and does not stand
//! in the machine code of others either.

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
    /// From now on, compile only what is in the first list, if there is anything, and nothing of the second. Names are separated by commas.
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

    /// Why functions with these globals are left out, if they are.
    ///
    /// # Safety
    /// The GIL is held; globals of a function.
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

/// The name of the module that globals are of; none where they say none.
///
/// # Safety
/// As of [`Chosen::why_not`].
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
