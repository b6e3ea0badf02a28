//! The program's state for a compile.

use super::class::{Class, binds};
use super::code::CodeData;
use super::dict::Dict;
use super::error;
use super::heap::{Bool, Function, Instance, Kind, Native, Ref, Str};
use super::{call, frame, intrinsics, ops, rt};
use cladonia::bytecode::ConstValue;
use cladonia::facts::{Assumption, Missing};
use cladonia::host::{
    AttrPlan, Binds, Builtin, Callee, Global, Inlinee, IntrinsicCall, MOST_INLINED, Parameters,
    StorePlan, World,
};
use cladonia::types::{ObjectHandle, Type};
use std::sync::Arc;

/// Longer codes are not offered for inlining: the compiler would not inline them.
const MAX_INSTRS: usize = 64;

/// The runtime of this thread.
pub struct ReferenceWorld;

/// An intrinsic of the access plans with its constant.
fn plan(name: &str, imm: i64) -> IntrinsicCall {
    IntrinsicCall {
        id: rt().host.intrinsic(name),
        imms: vec![imm],
    }
}

/// The class of a receiver's type, as an object.
fn class_of(receiver: Type) -> Option<Ref> {
    let handle = receiver.runtime_class()?;
    rt().class_object(handle)
}

fn function_data(function: &Function) -> &CodeData {
    call::code_of(function)
}

impl World for ReferenceWorld {
    fn global(&self, namespace: u64, name: &str) -> Option<Global> {
        let rt = rt();
        let globals = rt.namespace(namespace)?;
        let here = Assumption::NameUnchanged {
            namespace,
            name: name.to_owned(),
        };
        if let Some(value) = globals.get::<Dict>()?.name(name) {
            return Some(Global {
                value: rt.handle_of(&value),
                assumptions: vec![here],
            });
        }
        let value = rt.builtins.get::<Dict>()?.name(name)?;
        Some(Global {
            value: rt.handle_of(&value),
            assumptions: vec![
                here,
                Assumption::NameUnchanged {
                    namespace: rt.builtins.as_ptr() as u64,
                    name: name.to_owned(),
                },
            ],
        })
    }

    fn load_attr(&self, receiver: Type, name: &str) -> AttrPlan {
        if receiver.as_object().is_some() {
            return AttrPlan::General;
        }
        let Some(class) = class_of(receiver) else {
            return AttrPlan::General;
        };
        let content = class.get::<Class>().expect("a class");
        let assumptions = vec![Assumption::ClassUnchanged(content.handle)];
        let mut guards = Vec::new();
        if content.kind == Kind::Instance {
            // SAFETY: shapes live as long as their class.
            let Some(shape) = (unsafe { content.seen.get().as_ref() }) else {
                return AttrPlan::General;
            };
            guards.push(plan(
                intrinsics::CHECK_SHAPE,
                std::ptr::from_ref(shape) as i64,
            ));
            if let Some(index) = shape.index(name) {
                return AttrPlan::Field {
                    guards,
                    load: plan(intrinsics::LOAD_SLOT, index as i64),
                    now: None,
                    assumptions,
                };
            }
        }
        match content.find(name) {
            Some(found) if name != "__class__" => AttrPlan::Constant {
                guards,
                binds: if binds(&found) {
                    Binds::Receiver
                } else {
                    Binds::Nothing
                },
                value: rt().handle_of(&found),
                assumptions,
            },
            _ => AttrPlan::General,
        }
    }

    fn store_attr(&self, receiver: Type, name: &str) -> StorePlan {
        let Some(class) = class_of(receiver) else {
            return StorePlan::General;
        };
        let content = class.get::<Class>().expect("a class");
        if content.kind != Kind::Instance {
            return StorePlan::General;
        }
        // SAFETY: shapes live as long as their class.
        let shape = unsafe { content.seen.get().as_ref() };
        match shape.and_then(|shape| Some((shape, shape.index(name)?))) {
            Some((shape, index)) => StorePlan::Field {
                quiet: None,
                guards: vec![plan(
                    intrinsics::CHECK_SHAPE,
                    std::ptr::from_ref(shape) as i64,
                )],
                store: plan(intrinsics::STORE_SLOT, index as i64),
                assumptions: vec![Assumption::ClassUnchanged(content.handle)],
            },
            None => StorePlan::General,
        }
    }

    fn callee(&self, callee: ObjectHandle) -> Callee {
        let Some(object) = rt().object_of(callee) else {
            return Callee::Unknown;
        };
        if let Some(function) = object.get::<Function>() {
            let code = function_data(function);
            let Some(cell) = code.cell.borrow().as_ref().map(|cell| cell.address()) else {
                return Callee::Unknown;
            };
            let defaults = function.defaults.borrow().clone();
            let defaults = defaults
                .as_ref()
                .and_then(Ref::as_tuple)
                .unwrap_or_default();
            return Callee::Function {
                raw: None,
                kin: None,
                params: Parameters {
                    defaults: defaults.iter().map(|d| rt().handle_of(d)).collect(),
                    ..Parameters::positional(code.code.argcount)
                },
                entry_cell: cell,
                assumptions: vec![Assumption::FunctionUnchanged(callee)],
            };
        }
        if let Some(exception) = exception_class(&object) {
            return exception;
        }
        let builtin = match object.get::<Native>().map(|native| native.name) {
            Some("len") => Builtin::Len,
            Some("abs") => Builtin::Abs,
            Some("min") => Builtin::Min,
            Some("max") => Builtin::Max,
            Some("isinstance") => Builtin::IsInstance,
            Some("sqrt") => Builtin::Sqrt,
            Some("chr") => Builtin::Chr,
            Some("ord") => Builtin::Ord,
            _ => {
                let classes = &rt().classes;
                if object.is(&classes.range) {
                    Builtin::Range
                } else if object.is(&classes.int) {
                    Builtin::Int
                } else if object.is(&classes.float) {
                    Builtin::Float
                } else if object.is(&classes.bool) {
                    Builtin::Bool
                } else {
                    return Callee::Unknown;
                }
            }
        };
        Callee::Builtin(builtin)
    }

    fn inlinee(&self, callee: ObjectHandle) -> Option<Inlinee> {
        let rt = rt();
        let object = rt.object_of(callee)?;
        let code = function_data(object.get::<Function>()?);
        // A code with failed speculations is better called, since its own unit avoids them.
        let is_offered = rt.options.get().inline
            && code.is_plain()
            && code.code.instrs.len() <= MAX_INSTRS
            && frame::size(&code.code) <= intrinsics::SMALL_FRAME
            && code.avoid.borrow().is_empty();
        if !is_offered {
            return None;
        }
        let room = IntrinsicCall {
            id: rt.host.intrinsic(intrinsics::FRAME_ROOM),
            imms: vec![MOST_INLINED as i64],
        };
        Some(Inlinee {
            code: Arc::new(code.with_hints()),
            checks: vec![room],
            closure: None,
            cells: Vec::new(),
        })
    }

    fn watch(&self, assumption: &Assumption) -> bool {
        // The flags enable notifications of changes. A deallocation is always reported.
        match assumption {
            Assumption::ClassUnchanged(class) => rt().watch_class(*class),
            Assumption::NameUnchanged { namespace, .. } => rt().watch_namespace(*namespace),
            Assumption::FunctionUnchanged(_) => {}
            // No code can read another frame's locals, or list all objects.
            Assumption::ObjectsPrivate => {}
        }
        true
    }

    fn tuple_items(&self, object: ObjectHandle) -> Option<Vec<ObjectHandle>> {
        let object = rt().object_of(object)?;
        let items = object.as_tuple()?;
        Some(items.iter().map(|item| rt().handle_of(item)).collect())
    }

    fn value(&self, object: ObjectHandle) -> ConstValue {
        rt().object_of(object)
            .map_or(ConstValue::Other, |o| const_value(&o))
    }
}

/// The value of an object as a constant.
pub fn const_value(object: &Ref) -> ConstValue {
    if object.is(&rt().none) {
        return ConstValue::None;
    }
    if let Some(truth) = object.get::<Bool>() {
        return ConstValue::Bool(truth.value != 0);
    }
    if let Some(value) = ops::as_i64(object) {
        return ConstValue::Int(value);
    }
    if let Some(value) = ops::as_f64(object) {
        return ConstValue::Float(value);
    }
    match object.get::<Str>() {
        Some(text) => ConstValue::Str(text.text.to_string()),
        None => ConstValue::Other,
    }
}

/// The attribute names of an instance's shape; for tests.
pub fn shape_names(object: &Ref) -> Vec<String> {
    object.get::<Instance>().map_or(Vec::new(), |instance| {
        instance
            .shape()
            .names
            .iter()
            .map(|name| name.to_string())
            .collect()
    })
}

/// The facts about a class, if it derives from `BaseException`: for example, that an `except`
/// clause for `LookupError` catches `KeyError` and `IndexError`.
fn exception_class(object: &Ref) -> Option<Callee> {
    let class = object.get::<Class>()?;
    let base = &rt().classes.base_exception;
    if !class.is_subclass(base) {
        return None;
    }
    let base = base.get::<Class>()?;
    let is_inherited = |name: &str| {
        class.find(name).map(|found| found.as_ptr()) == base.find(name).map(|found| found.as_ptr())
    };
    let catches = |name: &str| {
        let error = error::class_named(name);
        error
            .get::<Class>()
            .is_some_and(|error| error.is_subclass(object))
    };
    let missing = [(error::KEY, Missing::Key), (error::INDEX, Missing::Index)];
    let missing = missing.into_iter().filter(|(name, _)| catches(name));
    Some(Callee::Exception {
        bases: [object]
            .into_iter()
            .chain(&class.mro)
            .map(|base| rt().handle_of(base))
            .collect(),
        is_plain: ["__init__", "__new__", "__del__"]
            .into_iter()
            .all(is_inherited),
        missing: missing.map(|(_, missing)| missing).collect(),
        assumptions: vec![Assumption::ClassUnchanged(class.handle)],
    })
}
