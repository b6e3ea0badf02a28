//! Direct calls of C functions, of methods of C classes and of some of those classes, without a
//! test of their kind at each call.
//!
//! For example, `math.sqrt` takes one object (`METH_O`), so its C function is called directly with
//! the argument.

use super::callees::defined_in;
use super::{CPythonWorld, call, object_of};
use crate::abi;
use crate::capi::{Obj, field};
use crate::helpers::{dict_get, is_frame_reader, is_instance, repr_of, text_of};
use crate::intrinsics::calls::{ADDRESS_OF, CALL_UNARY, CHECK_UNAUDITED, FLAVOURS, Takes};
use crate::objects;
use cladonia::facts::RawKind;
use cladonia::host::{Host, IntrinsicId, NativeCall};
use cladonia::types::{ObjectHandle, Type};
use pyo3_ffi::*;
use std::ffi::{CStr, c_int};
use std::ptr;

/// The intrinsics for calls of C functions.
#[derive(Clone, Debug)]
pub(super) struct NativeIds {
    /// In the order of [`FLAVOURS`].
    flavours: [IntrinsicId; FLAVOURS.len()],
    unary: IntrinsicId,
    check_unaudited: IntrinsicId,
    address_of: IntrinsicId,
}

impl NativeIds {
    pub(super) fn new(host: &Host) -> NativeIds {
        NativeIds {
            flavours: FLAVOURS.map(|(name, ..)| host.intrinsic(name)),
            unary: host.intrinsic(CALL_UNARY),
            check_unaudited: host.intrinsic(CHECK_UNAUDITED),
            address_of: host.intrinsic(ADDRESS_OF),
        }
    }
}

/// A C function to be called with some of these arguments.
struct Target {
    callable: Obj,
    function: i64,
    takes: Takes,
    /// The first C argument, if it is not the call's first operand.
    receiver: Option<Obj>,
}

impl CPythonWorld<'_> {
    pub(super) fn plan_native_call(&self, handle: ObjectHandle, given: u32) -> Option<NativeCall> {
        let object = object_of(handle)?;
        // SAFETY: a live object of the kind that is checked first.
        unsafe {
            let kind = Py_TYPE(object);
            if kind == &raw mut PyCFunction_Type {
                self.plan_function(object, given)
            } else if kind == &raw mut PyMethodDescr_Type {
                self.plan_method(object, given)
            } else if kind == &raw mut PyType_Type {
                self.plan_class(object, given)
            } else {
                None
            }
        }
    }

    unsafe fn plan_function(&self, object: Obj, given: u32) -> Option<NativeCall> {
        // SAFETY: the caller's: a live C function.
        unsafe {
            if given == 1 && defined_in(object, c"builtins", c"id") {
                return self.identity();
            }
            if is_frame_reader(object) {
                return None;
            }
            let method: *const PyMethodDef = field(object, abi::builtin::ML);
            let is_instance_test = given == 2 && defined_in(object, c"builtins", c"isinstance");
            let is_repr = given == 1 && defined_in(object, c"builtins", c"repr");
            let receiver = match (*method).ml_flags & METH_STATIC {
                0 => field(object, abi::builtin::SELF),
                _ => ptr::null_mut(),
            };
            let target = Target {
                callable: object,
                function: if is_instance_test {
                    is_instance as *const () as i64
                } else if is_repr {
                    repr_of as *const () as i64
                } else {
                    (*method).ml_meth.PyCFunction as usize as i64
                },
                takes: takes((*method).ml_flags, given)?,
                receiver: Some(receiver),
            };
            Some(self.any(&target, given, None, Type::OBJECT))
        }
    }

    unsafe fn plan_method(&self, object: Obj, given: u32) -> Option<NativeCall> {
        // SAFETY: the caller's: a live method descriptor.
        unsafe {
            let owner: *mut PyTypeObject = field(object, abi::descr::TYPE);
            let method: *const PyMethodDef = field(object, abi::descr::METHOD);
            let given = given.checked_sub(1)?;
            // While the arguments are computed, an instance with the layout of `object` may be
            // assigned another class, which need not derive from this one.
            let base = &raw mut PyBaseObject_Type;
            if owner != base && (*owner).tp_basicsize <= (*base).tp_basicsize {
                return None;
            }
            let is_dict_get = owner == &raw mut PyDict_Type
                && (1..=2).contains(&given)
                && CStr::from_ptr((*method).ml_name) == c"get";
            let target = Target {
                callable: object,
                function: if is_dict_get {
                    dict_get as *const () as i64
                } else {
                    (*method).ml_meth.PyCFunction as usize as i64
                },
                takes: takes((*method).ml_flags, given)?,
                receiver: None,
            };
            let first = Type::from_class(objects::class_handle(owner));
            let views = [
                (c"items", &raw mut PyDictItems_Type),
                (c"keys", &raw mut PyDictKeys_Type),
                (c"values", &raw mut PyDictValues_Type),
            ];
            let name = CStr::from_ptr((*method).ml_name);
            let view = views.iter().find(|(method, _)| *method == name);
            let view = view.filter(|_| owner == &raw mut PyDict_Type && given == 0);
            let result = view.map_or(Type::OBJECT, |(_, class)| {
                Type::from_class_exact(objects::class_handle(*class))
            });
            Some(self.any(&target, given, Some(first), result))
        }
    }

    /// A class of the interpreter that has a vectorcall of its own.
    unsafe fn plan_class(&self, object: Obj, given: u32) -> Option<NativeCall> {
        // SAFETY: the caller's: a live class whose own class is `type`.
        unsafe {
            let class = object.cast::<PyTypeObject>();
            if PyType_HasFeature(class, Py_TPFLAGS_IMMUTABLETYPE) == 0 {
                return None;
            }
            if class == &raw mut PyUnicode_Type && given == 1 {
                return Some(NativeCall::Any {
                    call: call(self.native_ids.unary, &[text_of as *const () as i64]),
                    first: None,
                    result: Type::OBJECT,
                });
            }
            // Without arguments it reads its caller's frame.
            if class == &raw mut PySuper_Type {
                return None;
            }
            let gives_its_own = [
                &raw mut PyTuple_Type,
                &raw mut PyList_Type,
                &raw mut PyDict_Type,
                &raw mut PySet_Type,
                &raw mut PyFrozenSet_Type,
                &raw mut PyEnum_Type,
                &raw mut PyZip_Type,
            ];
            let target = Target {
                callable: object,
                function: (*class).tp_vectorcall? as usize as i64,
                takes: Takes::ArrayAndNames,
                receiver: Some(object),
            };
            let result = if gives_its_own.contains(&class) {
                Type::from_class_exact(objects::class_handle(class))
            } else {
                Type::OBJECT
            };
            Some(self.any(&target, given, None, result))
        }
    }

    fn any(&self, target: &Target, given: u32, first: Option<Type>, result: Type) -> NativeCall {
        let is_method = target.receiver.is_none();
        let flavour = FLAVOURS
            .iter()
            .position(|(_, takes, method)| (*takes, *method) == (target.takes, is_method))
            .expect("all flavours are there");
        let receiver = target.receiver.unwrap_or(ptr::null_mut());
        let imms = [
            target.callable as i64,
            target.function,
            receiver as i64,
            i64::from(given),
        ];
        NativeCall::Any {
            call: call(self.native_ids.flavours[flavour], &imms),
            first,
            result,
        }
    }

    /// `id(x)`, if there is no audit hook; none if the hooks cannot be checked.
    fn identity(&self) -> Option<NativeCall> {
        // SAFETY: this thread has the lock.
        let hooks = unsafe { abi::audit_hooks() }?;
        Some(NativeCall::Number {
            checks: vec![call(self.native_ids.check_unaudited, &hooks)],
            call: call(self.native_ids.address_of, &[]),
            kind: RawKind::Int,
        })
    }
}

/// The convention by which a C function with these flags takes this many arguments; none if it does
/// not, or by another convention.
fn takes(flags: c_int, given: u32) -> Option<Takes> {
    const FLAVOUR: c_int =
        METH_VARARGS | METH_FASTCALL | METH_NOARGS | METH_O | METH_KEYWORDS | METH_METHOD;
    const WITH_NAMES: c_int = METH_FASTCALL | METH_KEYWORDS;
    match flags & FLAVOUR {
        METH_NOARGS if given == 0 => Some(Takes::Nothing),
        METH_O if given == 1 => Some(Takes::One),
        METH_FASTCALL => Some(Takes::Array),
        WITH_NAMES => Some(Takes::ArrayAndNames),
        _ => None,
    }
}
