//! The methods of `cladonia.Type`: constructors and queries.

use super::{is_quiet, new, own, ready, type_of};
use crate::objects;
use crate::runtime::Gil;
use crate::runtime::api::{guarded, raise};
use crate::runtime::capi::Object;
use cladonia::types::{ClassHandle, Names, ObjectHandle, Type};
use pyo3_ffi::*;
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_int};
use std::ptr::null_mut;

/// A table that Python reads and that is constant after it was created.
struct Table<T>(UnsafeCell<T>);
// SAFETY: read by Python under the GIL.
unsafe impl<T> Sync for Table<T> {}

const fn method(
    name: &CStr,
    function: PyMethodDefPointer,
    flags: c_int,
    doc: &CStr,
) -> PyMethodDef {
    PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth: function,
        ml_flags: flags,
        ml_doc: doc.as_ptr(),
    }
}

/// A query: a method without arguments, answered from the type alone.
macro_rules! question {
    ($name:literal, $doc:literal, |$ty:ident| $answer:expr) => {{
        unsafe extern "C" fn ask(object: Object, _: Object) -> Object {
            // SAFETY: the interpreter passes a type of ours, which is alive.
            guarded(|| unsafe {
                let $ty = own(object);
                $answer
            })
        }
        method(
            $name,
            PyMethodDefPointer { PyCFunction: ask },
            METH_NOARGS,
            $doc,
        )
    }};
}

static METHODS: Table<[PyMethodDef; 25]> = Table(UnsafeCell::new([
    method(
        c"of",
        PyMethodDefPointer { PyCFunction: of },
        METH_O | METH_STATIC,
        c"of(obj, /)\n--\n\nThe type of this object and no other.",
    ),
    method(
        c"of_class",
        PyMethodDefPointer {
            PyCFunctionWithKeywords: of_class,
        },
        METH_VARARGS | METH_KEYWORDS | METH_STATIC,
        c"of_class(cls, exact=False)\n--\n\nThe instances of a class, with or without those of classes that derive from it.",
    ),
    method(
        c"parse",
        PyMethodDefPointer { PyCFunction: parse },
        METH_O | METH_STATIC,
        c"parse(text, /)\n--\n\nThe type with this text form. Classes and objects have the names under which live types print them.\nRaises ValueError, with the column, for anything else.",
    ),
    method(
        c"could_be",
        PyMethodDefPointer {
            PyCFunction: could_be,
        },
        METH_O,
        c"could_be($self, other, /)\n--\n\nTrue if some value could be of both types.",
    ),
    method(
        c"join",
        PyMethodDefPointer { PyCFunction: join },
        METH_O,
        c"join($self, other, /)\n--\n\nAn upper bound of both. The order in which several types are joined does not matter.",
    ),
    question!(
        c"unique_class",
        c"unique_class($self, /)\n--\n\nThe class if the type is, apart from mortality, the instances of one class (with or without derived classes), else None.",
        |ty| class_or_none(ty.unique_class_in(objects::host()))
    ),
    question!(
        c"runtime_class",
        c"runtime_class($self, /)\n--\n\nThe class of every value, if there is one, or None.",
        |ty| class_or_none(ty.runtime_class_in(objects::host()))
    ),
    question!(
        c"is_exact",
        c"is_exact($self, /)\n--\n\nTrue if no value's class is a proper subclass of the class that the type names.",
        |ty| boolean(ty.is_exact())
    ),
    question!(
        c"is_single_value",
        c"is_single_value($self, /)\n--\n\nTrue if the type has exactly one, known value.",
        |ty| boolean(ty.is_single_value())
    ),
    question!(
        c"as_object",
        c"as_object($self, /)\n--\n\nThe object that is the only value; None if there is no such object, or if it is None (see is_single_value).",
        |ty| object_or_none(ty.as_object_in(objects::host()))
    ),
    question!(
        c"as_primitive",
        c"as_primitive($self, /)\n--\n\nThe value of a primitive literal as an int, bool or float, or None.",
        |ty| primitive(ty)
    ),
    question!(
        c"has_value_spec",
        c"has_value_spec($self, /)\n--\n\nTrue if the type is specialized with an object or a primitive's value.",
        |ty| boolean(ty.has_value_spec())
    ),
    question!(
        c"is_specialized",
        c"is_specialized($self, /)\n--\n\nTrue if the type is specialized with a class, an object or a primitive's value.",
        |ty| boolean(ty.is_specialized())
    ),
    question!(
        c"unspecialized",
        c"unspecialized($self, /)\n--\n\nThe type without its specialization.",
        |ty| new(ty.unspecialized())
    ),
    question!(
        c"drop_mortality",
        c"drop_mortality($self, /)\n--\n\nThe type without its mortality.",
        |ty| new(ty.drop_mortality())
    ),
    question!(
        c"mortal",
        c"mortal($self, /)\n--\n\nThe part of the type whose objects are mortal; primitives stay.",
        |ty| new(ty.mortal())
    ),
    question!(
        c"immortal",
        c"immortal($self, /)\n--\n\nThe part of the type whose objects are immortal; primitives stay.",
        |ty| new(ty.immortal())
    ),
    question!(
        c"opt",
        c"opt($self, /)\n--\n\nThe type or a null pointer; a specialization is lost.",
        |ty| new(ty.opt())
    ),
    question!(
        c"as_boxed",
        c"as_boxed($self, /)\n--\n\nThe type of the boxed values, or None if some have no box.",
        |ty| ty.as_boxed().map_or_else(none, |ty| new(ty))
    ),
    question!(
        c"size_in_bytes",
        c"size_in_bytes($self, /)\n--\n\nThe size of a value in bytes, or None if sizes differ or there is no value.",
        |ty| ty
            .size_in_bytes()
            .map_or_else(none, |size| made(PyLong_FromLong(size.into())))
    ),
    question!(
        c"is_leaf_scalar",
        c"is_leaf_scalar($self, /)\n--\n\nTrue if no value refers to other objects or runs code when it is deallocated.",
        |ty| boolean(ty.is_leaf_scalar())
    ),
    question!(
        c"is_bottom",
        c"is_bottom($self, /)\n--\n\nTrue if the type has no values.",
        |ty| boolean(ty.is_bottom())
    ),
    // A type never changes.
    method(
        c"__copy__",
        PyMethodDefPointer {
            PyCFunction: itself,
        },
        METH_NOARGS,
        c"__copy__($self, /)\n--\n\nThe type itself.",
    ),
    method(
        c"__deepcopy__",
        PyMethodDefPointer {
            PyCFunction: itself,
        },
        METH_O,
        c"__deepcopy__($self, memo, /)\n--\n\nThe type itself.",
    ),
    PyMethodDef::zeroed(),
]));

/// The methods, for the class's slot.
pub(super) fn table() -> *mut PyMethodDef {
    METHODS.0.get().cast()
}

pub(super) fn boolean(answer: bool) -> Result<Object, ()> {
    // SAFETY: this thread has the GIL.
    Ok(unsafe { PyBool_FromLong(answer.into()) })
}

fn none() -> Result<Object, ()> {
    // SAFETY: None is immortal.
    Ok(unsafe { Py_NewRef(Py_None()) })
}

/// The result of a constructor of the interpreter: null has its exception set.
fn made(object: Object) -> Result<Object, ()> {
    if object.is_null() {
        Err(())
    } else {
        Ok(object)
    }
}

fn fail(class: Object, message: &str) -> Result<Object, ()> {
    raise(class, message);
    Err(())
}

/// # Safety
/// The caller has the GIL; the handle is alive, so its class is.
unsafe fn class_or_none(class: Option<ClassHandle>) -> Result<Object, ()> {
    let class = class.map_or(null_mut(), objects::class_ptr);
    // SAFETY: the caller's promise.
    unsafe { object(class.cast()) }
}

/// # Safety
/// The caller has the GIL; the handle is alive, so its object is.
unsafe fn object_or_none(handle: Option<ObjectHandle>) -> Result<Object, ()> {
    // SAFETY: the caller's promise.
    unsafe { object(handle.map_or(null_mut(), objects::object_ptr)) }
}

/// # Safety
/// The caller has the GIL; the object is null or alive.
unsafe fn object(object: Object) -> Result<Object, ()> {
    if object.is_null() {
        return none();
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { Py_NewRef(object) })
}

/// # Safety
/// The caller has the GIL.
unsafe fn primitive(ty: Type) -> Result<Object, ()> {
    // SAFETY: the caller's promise.
    unsafe {
        match () {
            () if ty.as_cbool().is_some() => boolean(ty.as_cbool() == Some(true)),
            () => match (
                ty.as_cint(),
                ty.as_cuint().or(ty.as_cptr()),
                ty.as_cdouble(),
            ) {
                (Some(value), ..) => made(PyLong_FromLongLong(value)),
                (_, Some(value), _) => made(PyLong_FromUnsignedLongLong(value)),
                (_, _, Some(value)) => made(PyFloat_FromDouble(value)),
                _ => none(),
            },
        }
    }
}

unsafe extern "C" fn of(_: Object, object: Object) -> Object {
    // SAFETY: the argument is alive.
    guarded(|| unsafe {
        ready()?;
        let handle = objects::object_handle(object);
        let ty = new(Type::from_object(handle));
        give_up_if_strange(handle.is_alive());
        ty
    })
}

/// A class that the core cannot represent may have left entries for its bases, which are released.
///
/// # Safety
/// The caller has the GIL.
unsafe fn give_up_if_strange(is_known: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        if !is_known && is_quiet(Gil::held()) {
            objects::release_unused();
        }
    }
}

unsafe extern "C" fn of_class(_: Object, args: Object, keywords: Object) -> Object {
    // SAFETY: the interpreter's calling convention: a tuple, and a dict or null.
    guarded(|| unsafe {
        let names = [c"cls".as_ptr(), c"exact".as_ptr(), std::ptr::null()];
        let mut class: Object = null_mut();
        let mut exact: c_int = 0;
        let parsed = PyArg_ParseTupleAndKeywords(
            args,
            keywords,
            c"O|p:of_class".as_ptr(),
            names.as_ptr(),
            &raw mut class,
            &raw mut exact,
        );
        if parsed == 0 {
            return Err(());
        }
        if PyType_Check(class) == 0 {
            let name = (*Py_TYPE(class)).tp_name;
            let name = CStr::from_ptr(name).to_string_lossy();
            return fail(PyExc_TypeError, &format!("cls must be a class, not {name}"));
        }
        ready()?;
        let handle = objects::class_handle(class.cast());
        let ty = new(if exact != 0 {
            Type::from_class_exact(handle)
        } else {
            Type::from_class(handle)
        });
        give_up_if_strange(handle.is_alive());
        ty
    })
}

unsafe extern "C" fn parse(_: Object, source: Object) -> Object {
    // SAFETY: the argument is alive.
    guarded(|| unsafe {
        if PyUnicode_Check(source) == 0 {
            let name = CStr::from_ptr((*Py_TYPE(source)).tp_name).to_string_lossy();
            return fail(PyExc_TypeError, &format!("text must be a str, not {name}"));
        }
        let Some(source) = objects::text(source) else {
            return fail(PyExc_ValueError, "the text has a lone surrogate in it");
        };
        match Type::parse(&source, &Names::of(objects::host())) {
            Ok(ty) => new(ty),
            Err(error) => fail(PyExc_ValueError, &error.to_string()),
        }
    })
}

/// The other operand of a method, which must be a type.
///
/// # Safety
/// The caller has the GIL; the object is alive.
unsafe fn operand(object: Object) -> Result<Type, ()> {
    // SAFETY: the caller's promise.
    unsafe {
        type_of(object).ok_or_else(|| {
            let name = CStr::from_ptr((*Py_TYPE(object)).tp_name).to_string_lossy();
            raise(
                PyExc_TypeError,
                &format!("other must be a cladonia.Type, not {name}"),
            );
        })
    }
}

unsafe extern "C" fn could_be(object: Object, other: Object) -> Object {
    // SAFETY: the interpreter passes a type of ours and a live object.
    guarded(|| unsafe { boolean(own(object).could_be(operand(other)?)) })
}

unsafe extern "C" fn join(object: Object, other: Object) -> Object {
    // SAFETY: the interpreter passes a type of ours and a live object.
    guarded(|| unsafe { new(own(object).join(operand(other)?)) })
}

unsafe extern "C" fn itself(object: Object, _: Object) -> Object {
    // SAFETY: the interpreter passes a type of ours.
    unsafe { Py_NewRef(object) }
}
