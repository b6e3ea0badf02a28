//! What calling a known object does.

use super::classes::is_versioned;
use super::{CPythonWorld, handle_of, object_of};
use crate::abi;
use crate::capi::{Obj, field};
use crate::constructors;
use crate::objects;
use cladonia::facts::Assumption;
use cladonia::host::{Builtin, Callee};
use cladonia::types::ObjectHandle;
use pyo3_ffi::*;
use std::ffi::{CStr, c_char};

/// Functions of C modules whose meaning is known.
const FUNCTIONS: &[(&CStr, &CStr, Builtin)] = &[
    (c"builtins", c"len", Builtin::Len),
    (c"builtins", c"abs", Builtin::Abs),
    (c"builtins", c"min", Builtin::Min),
    (c"builtins", c"max", Builtin::Max),
    (c"builtins", c"isinstance", Builtin::IsInstance),
    (c"builtins", c"chr", Builtin::Chr),
    (c"builtins", c"ord", Builtin::Ord),
    (c"math", c"sqrt", Builtin::Sqrt),
];

const UNPLAIN: i32 = CO_VARARGS | CO_VARKEYWORDS;

impl CPythonWorld<'_> {
    pub(super) fn find_callee(&self, handle: ObjectHandle) -> Option<Callee> {
        let object = object_of(handle)?;
        // SAFETY: a live object of the kind that is checked first.
        unsafe {
            let kind = Py_TYPE(object);
            if kind == &raw mut PyFunction_Type {
                self.function(handle, object)
            } else if kind == &raw mut PyCFunction_Type {
                c_function(object).map(Callee::Builtin)
            } else if kind == &raw mut PyType_Type {
                match class(object) {
                    Some(builtin) => Some(Callee::Builtin(builtin)),
                    None => self.constructor(object.cast()),
                }
            } else if kind == &raw mut PyMethodDescr_Type {
                method_descriptor(object).map(Callee::Builtin)
            } else {
                None
            }
        }
    }

    unsafe fn function(&self, handle: ObjectHandle, object: Obj) -> Option<Callee> {
        // SAFETY: the caller's: a live function.
        unsafe {
            let code: Obj = field(object, abi::function::CODE);
            let flags: i32 = field(code, abi::code::FLAGS);
            let kwonly: i32 = field(code, abi::code::KWONLYARGCOUNT);
            let argcount: i32 = field(code, abi::code::ARGCOUNT);
            if kwonly != 0 || flags & CO_OPTIMIZED == 0 || flags & UNPLAIN != 0 {
                return None;
            }
            let tuple: Obj = field(object, abi::function::DEFAULTS);
            let mut defaults = Vec::new();
            if !tuple.is_null() {
                if PyTuple_CheckExact(tuple) == 0 || Py_SIZE(tuple) > argcount as Py_ssize_t {
                    return None;
                }
                for i in 0..Py_SIZE(tuple) {
                    defaults.push(handle_of(field(tuple, abi::tuple::ITEMS + 8 * i as i32))?);
                }
            }
            let entry_cell = (self.entry_cell_for)(object);
            (entry_cell != 0).then(|| Callee::Function {
                argcount: argcount as u32,
                defaults,
                entry_cell,
                raw: (self.raw_entry_for)(object),
                assumptions: vec![Assumption::FunctionUnchanged(handle)],
            })
        }
    }
}

impl CPythonWorld<'_> {
    /// A class of the program whose instances are allocated and initialised: to its caller a function that takes what its
    /// `__init__` takes but the instance.
    unsafe fn constructor(&self, class: *mut PyTypeObject) -> Option<Callee> {
        // SAFETY: the caller's: a live class.
        unsafe {
            if !is_versioned(class) {
                return None;
            }
            let init = constructors::initialiser(class)?;
            let Callee::Function {
                argcount,
                defaults,
                entry_cell,
                mut assumptions,
                ..
            } = self.function(handle_of(init)?, init)?
            else {
                return None;
            };
            let arguments = argcount.checked_sub(1)?;
            if defaults.len() > arguments as usize {
                return None;
            }
            let entry_cell = constructors::cell(class, init, entry_cell, arguments as usize)?;
            assumptions.push(Assumption::ClassUnchanged(objects::class_handle(class)));
            Some(Callee::Function {
                argcount: arguments,
                defaults,
                entry_cell,
                raw: None,
                assumptions,
            })
        }
    }
}

/// A builtin is known by its module's definition and its own: no program can make another such function.
unsafe fn c_function(object: Obj) -> Option<Builtin> {
    // SAFETY: the caller's: a live C function.
    unsafe {
        let module: Obj = field(object, abi::builtin::SELF);
        if module.is_null() || Py_TYPE(module) != &raw mut PyModule_Type {
            return None;
        }
        let definition = PyModule_GetDef(module);
        if definition.is_null() {
            return None;
        }
        let method: *const PyMethodDef = field(object, abi::builtin::ML);
        let same = |a: *const c_char, b: &CStr| !a.is_null() && CStr::from_ptr(a) == b;
        let row = FUNCTIONS
            .iter()
            .find(|row| same((*definition).m_name, row.0) && same((*method).ml_name, row.1));
        row.map(|row| row.2)
    }
}

unsafe fn class(object: Obj) -> Option<Builtin> {
    let known = [
        (&raw mut PyRange_Type, Builtin::Range),
        (&raw mut PyLong_Type, Builtin::Int),
        (&raw mut PyFloat_Type, Builtin::Float),
        (&raw mut PyBool_Type, Builtin::Bool),
        (&raw mut PySuper_Type, Builtin::Super),
    ];
    known
        .iter()
        .find(|row| row.0.cast() == object)
        .map(|row| row.1)
}

unsafe fn method_descriptor(object: Obj) -> Option<Builtin> {
    // SAFETY: the caller's: a live method descriptor.
    unsafe {
        let owner: *mut PyTypeObject = field(object, abi::descr::TYPE);
        let method: *const PyMethodDef = field(object, abi::descr::METHOD);
        let append =
            owner == &raw mut PyList_Type && CStr::from_ptr((*method).ml_name) == c"append";
        append.then_some(Builtin::ListAppend)
    }
}
