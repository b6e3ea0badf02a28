//! Attributes: load, store, delete, method lookup, `super()`.
//!
//! Safety: the contract of [`super`].

use super::cache;
use crate::accesses;
use crate::capi::{_PyObject_GetMethod, _PySuper_Lookup, Frame, Obj, frame_name, interned, object};
use crate::owned::Owned;
use crate::runtime::sampling;
use crate::world::classes;
use pyo3_ffi::*;
use std::ptr;

pub unsafe extern "C" fn load_attr(frame: Frame, name: i64, a: Obj) -> Obj {
    // SAFETY: the thread's frame, whose code has a name of this number, and a live operand.
    unsafe {
        sampling::count([a]);
        let name = frame_name(frame, name);
        let known = cache::load(a, name);
        accesses::general(!known.is_null());
        if known.is_null() {
            PyObject_GetAttr(a, name)
        } else {
            known
        }
    }
}

/// Completes the AttributeError that the function of an attribute has raised, as a load of the
/// attribute by the interpreter does: with the name and the object, unless it has one of them.
pub unsafe extern "C" fn getter_raised(frame: Frame, name: i64, a: Obj) -> i64 {
    // SAFETY: the thread's frame, whose code has a name of this number, and a live operand; an
    // exception is pending.
    unsafe { complete_error(a, frame_name(frame, name)) };
    -1
}

/// # Safety
/// A live object and a str; an exception is pending, as it is afterwards. The lock is held.
pub unsafe fn complete_error(object: Obj, name: Obj) {
    // SAFETY: the caller's.
    unsafe {
        if PyErr_ExceptionMatches(PyExc_AttributeError) == 0 {
            return;
        }
        let Some(error) = Owned::take(PyErr_GetRaisedException()) else {
            return;
        };
        let parts = [(interned!("name"), name), (interned!("obj"), object)];
        let is_set = |part: &(Obj, Obj)| {
            !part.0.is_null()
                && classes::has_member(error.as_ptr(), PyExc_AttributeError.cast(), part.0)
        };
        let is_complete = parts.iter().any(is_set);
        let failed = |part: &(Obj, Obj)| PyObject_SetAttr(error.as_ptr(), part.0, part.1) != 0;
        if is_complete || !parts.iter().any(failed) {
            PyErr_SetRaisedException(error.into_ptr());
        }
    }
}

pub unsafe extern "C" fn store_attr(frame: Frame, name: i64, a: Obj, value: Obj) -> i64 {
    // SAFETY: the thread's frame, whose code has a name of this number, and live operands.
    unsafe {
        sampling::count([a]);
        let name = frame_name(frame, name);
        let is_done = cache::store(a, name, value);
        accesses::general(is_done);
        if is_done {
            return 0;
        }
        i64::from(PyObject_SetAttr(a, name, value))
    }
}

pub unsafe extern "C" fn delete_attr(frame: Frame, name: i64, a: Obj) -> i64 {
    // SAFETY: the thread's frame, whose code has a name of this number, and a live operand.
    unsafe {
        accesses::general(false);
        i64::from(PyObject_SetAttr(
            a,
            frame_name(frame, name),
            ptr::null_mut(),
        ))
    }
}

/// Outputs: the function and `self`, or the attribute and null.
pub unsafe extern "C" fn load_method(frame: Frame, name: i64, a: Obj, out: *mut Obj) -> i64 {
    // SAFETY: the thread's frame, whose code has a name of this number, and a live operand; there
    // is room for two results.
    unsafe {
        sampling::count([a]);
        let name = frame_name(frame, name);
        let known = cache::method(a, name);
        accesses::general(!known.is_null());
        if !known.is_null() {
            *out = Py_NewRef(known);
            *out.add(1) = Py_NewRef(a);
            return 0;
        }
        let mut method = ptr::null_mut();
        let unbound = _PyObject_GetMethod(a, name, &mut method);
        if method.is_null() {
            return -1;
        }
        *out = method;
        *out.add(1) = if unbound != 0 {
            Py_NewRef(a)
        } else {
            ptr::null_mut()
        };
        0
    }
}

/// `flags & 1`: a method is wanted; `flags & 2`: `super` was written with two arguments.
///
/// The builtin `super` is not instantiated, as in the interpreter's specialised forms. If the name
/// `super` has another value, that object is called.
pub unsafe extern "C" fn load_super_attr(
    frame: Frame,
    name: i64,
    flags: i64,
    super_: Obj,
    class: Obj,
    self_: Obj,
    out: *mut Obj,
) -> i64 {
    // SAFETY: the thread's frame, whose code has a name of this number, and live operands; there is
    // room for two results. An operand that is no class is only passed to a call.
    unsafe {
        accesses::general(false);
        let name = frame_name(frame, name);
        let attribute = if super_ == object!(PySuper_Type) && PyType_Check(class) != 0 {
            let mut is_method = 0;
            let generic = (*Py_TYPE(self_))
                .tp_getattro
                .is_some_and(|f| ptr::fn_addr_eq(f, PyObject_GenericGetAttr as getattrofunc));
            let wanted = if flags & 1 != 0 && generic {
                &raw mut is_method
            } else {
                ptr::null_mut()
            };
            let attribute = _PySuper_Lookup(class.cast(), self_, name, wanted);
            if is_method != 0 && !attribute.is_null() {
                *out = attribute;
                *out.add(1) = Py_NewRef(self_);
                return 0;
            }
            attribute
        } else {
            let args = [class, self_];
            let proxy =
                PyObject_Vectorcall(super_, args.as_ptr(), (flags & 2) as usize, ptr::null_mut());
            if proxy.is_null() {
                return -1;
            }
            let attribute = PyObject_GetAttr(proxy, name);
            Py_DECREF(proxy);
            attribute
        };
        if attribute.is_null() {
            return -1;
        }
        *out = attribute;
        *out.add(1) = ptr::null_mut();
        0
    }
}
