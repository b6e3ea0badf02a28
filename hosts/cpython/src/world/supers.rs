//! Attributes of `super(class, instance)`: looked up in the classes after `class` in the MRO of the
//! instance's class.
//!
//! For example, `super().area()` in a method of `Square(Shape)` is `Shape.area` for an instance of
//! `Square`, but may be that of another base for an instance of a class that derives from both.

use super::classes::{Descriptor, descriptor_of, is_versioned};
use super::{CPythonWorld, Name, attributes, class_of, handle_of, object_of};
use crate::capi::Obj;
use crate::objects;
use cladonia::host::{AttrPlan, Binds};
use cladonia::types::{ObjectHandle, Type};
use pyo3_ffi::*;

impl CPythonWorld<'_> {
    pub(super) fn plan_super(
        &self,
        class: ObjectHandle,
        receiver: Type,
        name: &str,
    ) -> Option<AttrPlan> {
        let handle = receiver.runtime_class_in(objects::host())?;
        let (start, kind) = (object_of(class)?, class_of(handle)?);
        // SAFETY: live classes and a str; this thread has the lock while a world is queried.
        unsafe {
            // `super` has a `__class__` of its own.
            if PyType_Check(start) == 0 || name == "__class__" || !is_versioned(kind) {
                return None;
            }
            // A change of any class in the MRO is also reported for the instance's class.
            let assumptions = attributes::class_assumption(handle, kind);
            let found = find(start.cast(), kind, &Name::new(name)?)?;
            match descriptor_of(kind, found) {
                Descriptor::Method(value) => Some(AttrPlan::Constant {
                    guards: Vec::new(),
                    value: handle_of(value)?,
                    binds: Binds::Receiver,
                    assumptions,
                }),
                Descriptor::ClassMethod(value) => Some(AttrPlan::Constant {
                    guards: Vec::new(),
                    value: handle_of(value)?,
                    binds: Binds::Object(handle_of(kind.cast())?),
                    assumptions,
                }),
                Descriptor::Plain(value) => Some(AttrPlan::Constant {
                    guards: Vec::new(),
                    value: handle_of(value)?,
                    binds: Binds::Nothing,
                    assumptions,
                }),
                Descriptor::Property(getter) => Some(AttrPlan::Getter {
                    function: handle_of(getter)?,
                    assumptions,
                }),
                Descriptor::Absent
                | Descriptor::Item(_)
                | Descriptor::Slot { .. }
                | Descriptor::Data
                | Descriptor::Computed { .. }
                | Descriptor::Class
                | Descriptor::NonData => None,
            }
        }
    }
}

/// The attribute of this name of the first class after `start` in the MRO of `kind`, borrowed.
unsafe fn find(start: *mut PyTypeObject, kind: *mut PyTypeObject, name: &Name) -> Option<Obj> {
    // SAFETY: the caller's: live classes; their order is a tuple of classes, each of which has a
    // dictionary.
    unsafe {
        let order = (*kind).tp_mro;
        if order.is_null() {
            return None;
        }
        let classes = (0..PyTuple_Size(order)).map(|i| PyTuple_GetItem(order, i));
        for class in classes.skip_while(|class| *class != start.cast()).skip(1) {
            let dict = PyType_GetDict(class.cast());
            if dict.is_null() {
                PyErr_Clear();
                return None;
            }
            let found = PyDict_GetItemWithError(dict, name.0);
            Py_DECREF(dict);
            if !found.is_null() {
                return Some(found);
            }
            if !PyErr_Occurred().is_null() {
                PyErr_Clear();
                return None;
            }
        }
        None
    }
}

/// Maximum classes that a call of `super()` is expected to observe.
const MAX_CLASSES: usize = 8;

/// The classes to speculate on where a function of a class uses `super()`.
pub(crate) struct Hints {
    /// The class itself.
    pub(crate) class: Type,
    /// Its instances.
    pub(crate) instance: Type,
    /// Instances of the classes below.
    pub(crate) below: Vec<Type>,
}

/// The hints for a function; `None` if its closure has no class.
///
/// # Safety
/// A live Python function, with the interpreter's lock.
pub(crate) unsafe fn hints(function: Obj) -> Option<Hints> {
    // SAFETY: the caller's.
    unsafe {
        let class = class_cell(function)?;
        let object = Type::from_object(objects::object_handle(class));
        let mut found = Vec::new();
        let meta = (&raw mut PyType_Type).cast::<PyObject>();
        let subclasses = PyObject_GetAttrString(meta, c"__subclasses__".as_ptr());
        if subclasses.is_null() {
            PyErr_Clear();
            return None;
        }
        // Each is kept alive by its base, or by a reference of ours while it is examined.
        let mut todo = vec![Py_NewRef(class)];
        while let Some(class) = todo.pop() {
            if found.len() < MAX_CLASSES {
                let handle = objects::class_handle(class.cast());
                let ty = Type::from_class_exact(handle);
                if !found.contains(&ty) {
                    found.push(ty);
                }
                let list = PyObject_CallOneArg(subclasses, class);
                if list.is_null() {
                    PyErr_Clear();
                } else {
                    todo.extend((0..PyList_Size(list)).map(|i| Py_NewRef(PyList_GetItem(list, i))));
                    Py_DECREF(list);
                }
            }
            Py_DECREF(class);
        }
        Py_DECREF(subclasses);
        let below = found.split_off(1);
        Some(Hints {
            class: object,
            instance: found[0],
            below,
        })
    }
}

/// The contents of the cell `__class__` of a function's closure, borrowed, if that is a
/// user-defined class.
unsafe fn class_cell(function: Obj) -> Option<Obj> {
    // SAFETY: the caller's: a live function; its closure is a tuple with a cell for each free
    // variable.
    unsafe {
        let closure = PyFunction_GetClosure(function);
        if closure.is_null() {
            return None;
        }
        let names = PyObject_GetAttrString(PyFunction_GetCode(function), c"co_freevars".as_ptr());
        if names.is_null() {
            PyErr_Clear();
            return None;
        }
        let count = PyTuple_Size(names).min(PyTuple_Size(closure));
        let is_class = |i: &Py_ssize_t| {
            PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, *i), c"__class__".as_ptr()) == 0
        };
        let cell = (0..count)
            .find(is_class)
            .map(|i| PyTuple_GetItem(closure, i));
        Py_DECREF(names);
        let held: Obj = crate::capi::field(cell?, crate::abi::cell::CONTENT);
        let is_class = !held.is_null()
            && PyType_Check(held) != 0
            && PyType_HasFeature(held.cast(), Py_TPFLAGS_HEAPTYPE) != 0;
        is_class.then_some(held)
    }
}
