//! Calls of `functools.partial` objects: the call of the function that one holds, with the
//! arguments that it holds first.
//!
//! For example, after `add3 = partial(add, 3)`, the call `add3(x)` becomes `add(3, x)`, with checks
//! that the object still holds `add` and one argument.

use super::classes::plain_member;
use super::{CPythonWorld, call, handle_of};
use crate::capi::{_PyType_Lookup, Obj, field, interned};
use crate::owned::Owned;
use cladonia::facts::IntrinsicCall;
use cladonia::host::{Forwarding, OperatorPlan};
use cladonia::types::ObjectHandle;
use pyo3_ffi::*;
use std::ffi::CStr;

/// `_Py_T_OBJECT`: a member that reads as `None` where the field holds no object.
///
/// pyo3-ffi marks its name deprecated; CPython's own C modules use it.
const OBJECT_OR_NONE: std::ffi::c_int = 6;

/// True for the class `functools.partial` of the C module `_functools`: it is immutable.
///
/// # Safety
/// A live class.
pub(crate) unsafe fn is_partial(class: *mut PyTypeObject) -> bool {
    // SAFETY: the caller's: the name lives as long as the class.
    unsafe {
        PyType_HasFeature(class, Py_TPFLAGS_IMMUTABLETYPE) != 0
            && PyType_HasFeature(class, Py_TPFLAGS_HEAPTYPE) != 0
            && CStr::from_ptr((*class).tp_name) == c"functools.partial"
            && module_of(class).is_some()
    }
}

/// The function that a `partial` calls, borrowed, if it is a Python function.
///
/// # Safety
/// A live object.
pub(crate) unsafe fn function_of_partial(object: Obj) -> Option<Obj> {
    // SAFETY: the caller's; the member is at the offset that its descriptor has.
    unsafe {
        let class = Py_TYPE(object);
        if !is_partial(class) {
            return None;
        }
        let function: Obj = field(object, member(class, interned!("func"))? as i32);
        (!function.is_null() && Py_TYPE(function) == &raw mut PyFunction_Type).then_some(function)
    }
}

/// The module of a class, borrowed, if that is `_functools`.
unsafe fn module_of(class: *mut PyTypeObject) -> Option<Obj> {
    // SAFETY: the caller's: a live class from the heap, which keeps its module alive.
    unsafe {
        let module = PyType_GetModule(class);
        if module.is_null() {
            PyErr_Clear();
            return None;
        }
        let definition = PyModule_GetDef(module);
        let is_functools =
            !definition.is_null() && CStr::from_ptr((*definition).m_name) == c"_functools";
        is_functools.then_some(module)
    }
}

impl CPythonWorld<'_> {
    /// The plan for calls of instances of a class, if that is `partial`.
    pub(super) unsafe fn plan_partial(&self, class: *mut PyTypeObject) -> Option<OperatorPlan> {
        // SAFETY: the caller's: a live class; this thread has the lock while a world is queried.
        unsafe {
            if !is_partial(class) {
                return None;
            }
            let at = |name: Obj| Some(member(class, name)? as i64);
            let load =
                |name| -> Option<IntrinsicCall> { Some(call(self.ids.load_field, &[at(name)?])) };
            let keywords = at(interned!("keywords"))?;
            Some(OperatorPlan::Forwards(Forwarding {
                guards: vec![call(self.ids.check_no_entries, &[keywords])],
                callable: load(interned!("func"))?,
                items: load(interned!("args"))?,
                placeholder: placeholder(module_of(class)?)?,
                assumptions: Vec::new(),
            }))
        }
    }
}

/// The offset of the object that a member descriptor of a class reads.
unsafe fn member(class: *mut PyTypeObject, name: Obj) -> Option<Py_ssize_t> {
    // SAFETY: the caller's: a live class, which keeps its descriptors alive.
    unsafe {
        if name.is_null() {
            PyErr_Clear();
            return None;
        }
        let found = _PyType_Lookup(class, name);
        if found.is_null() || Py_TYPE(found) != &raw mut PyMemberDescr_Type {
            PyErr_Clear();
            return None;
        }
        let member = plain_member(class, found)?;
        let is_object = [OBJECT_OR_NONE, Py_T_OBJECT_EX].contains(&member.type_code);
        is_object.then_some(member.offset)
    }
}

/// The `Placeholder` of the module, where there is one: the outer `None` means that it cannot be
/// told.
unsafe fn placeholder(module: Obj) -> Option<Option<ObjectHandle>> {
    // SAFETY: the caller's: a live module; this thread has the lock.
    unsafe {
        let found = Owned::take(PyObject_GetAttrString(module, c"Placeholder".as_ptr()));
        if found.is_none() {
            PyErr_Clear();
            return Some(None);
        }
        // It is immortal, and the module's state owns it besides.
        Some(Some(handle_of(found?.as_ptr())?))
    }
}
