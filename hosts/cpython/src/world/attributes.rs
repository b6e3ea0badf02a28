//! Access plans: the steps by which an attribute of an instance, a class or a module is loaded and
//! stored.
//!
//! The order of a lookup is the interpreter's: data descriptors of the class (slots, properties),
//! then the instance's own attributes, then other attributes of the class. A plan uses the first
//! that is found, and checks that those before it are absent.
//!
//! For example, the plan to load `p.x`, if `x` is the second inline value of the class of `p`, is
//! `check_inline_values` and `load_field`; the class itself is checked by a guard before the plan.

use super::classes::{
    Descriptor, InlineValues, Lookup, Storage, changeable_kind, descriptor, is_immutable,
    is_versioned, setter, storage, wrapped_callable,
};
use super::dictionaries;
use super::{CPythonWorld, Name, PlanIds, call, class_of, handle_of, object_of};
use crate::abi;
use crate::capi::{_PyType_Lookup, Obj, field};
use crate::objects;
use cladonia::facts::Assumption;
use cladonia::host::{AttrPlan, Binds, GetterArg, IntrinsicCall, StorePlan};
use cladonia::types::{ClassHandle, ObjectHandle, Type};
use pyo3_ffi::*;
use std::ptr;

impl CPythonWorld<'_> {
    pub(super) fn plan_load(&self, receiver: Type, name: &str) -> Option<AttrPlan> {
        if let Some(handle) = receiver.as_object_in(objects::host()) {
            let object = object_of(handle)?;
            // SAFETY: a live object.
            let kind = unsafe { Py_TYPE(object) };
            if kind == &raw mut PyModule_Type {
                return self.module_attribute(object, name);
            }
            // SAFETY: live classes.
            if unsafe { PyType_IsSubtype(kind, &raw mut PyType_Type) } != 0 {
                return self.class_attribute(object, name);
            }
            // SAFETY: a live class.
            if unsafe { PyType_HasFeature(kind, Py_TPFLAGS_HEAPTYPE) } != 0 {
                return self.attribute_of_instance(object, name);
            }
        }
        self.attribute_of_class(receiver.runtime_class_in(objects::host())?, name)
    }

    /// An attribute of a known instance. Its class may be assigned to, and nothing watches that, so
    /// the plan for instances of the class begins with a check of the class.
    fn attribute_of_instance(&self, object: Obj, name: &str) -> Option<AttrPlan> {
        // SAFETY: a live object.
        let (class, handle) = unsafe {
            let class = Py_TYPE(object);
            (class, objects::class_handle(class))
        };
        let mut plan = self.attribute_of_class(handle, name)?;
        if let AttrPlan::Field {
            guards, load, now, ..
        } = &mut plan
            && load.id == self.ids.load_field
        {
            // SAFETY: a live instance of the class. Its values are read only if they are in use.
            let holds = |guard: &IntrinsicCall| unsafe {
                guard.id == self.ids.check_inline_values
                    && field::<u8>(object, guard.imms[0] as i32) != 0
            };
            if guards.iter().all(holds) {
                // SAFETY: there is a place for an object.
                *now = unsafe { function_at(object, load.imms[0] as i32) };
            }
        }
        match &mut plan {
            AttrPlan::Field { guards, .. }
            | AttrPlan::Constant { guards, .. }
            | AttrPlan::Absent { guards, .. }
            | AttrPlan::Computed { guards, .. } => {
                guards.insert(0, call(self.ids.check_class, &[class as i64]));
                Some(plan)
            }
            AttrPlan::Getter { .. } | AttrPlan::General => None,
        }
    }

    /// An attribute of the instances of a class.
    fn attribute_of_class(&self, handle: ClassHandle, name: &str) -> Option<AttrPlan> {
        let class = class_of(handle)?;
        // SAFETY: a live class and a str; see the module's contract.
        unsafe {
            let lookup = Lookup::of(class)?;
            if !is_versioned(class) {
                return None;
            }
            let name = Name::new(name)?;
            let assumptions = attribute_assumptions(handle, class, &name)?;
            self.instance_attribute(class, &name, lookup, assumptions)
        }
    }

    unsafe fn instance_attribute(
        &self,
        class: *mut PyTypeObject,
        name: &Name,
        lookup: Lookup,
        assumptions: Vec<Assumption>,
    ) -> Option<AttrPlan> {
        // SAFETY: the caller's: a live class.
        unsafe {
            let found = descriptor(class, name.0);
            // Instances have their own value: a default in the class that they override, or a
            // cached property. Speculate that this one does.
            let has_own = match storage(class) {
                Storage::Inline(values) => values.index_of(name.0).is_some(),
                _ => false,
            };
            if let Descriptor::Plain(_)
            | Descriptor::NonData
            | Descriptor::Computed { is_data: false, .. } = found
                && has_own
            {
                return self.own_attribute(class, name, assumptions);
            }
            // Nothing tells which of the names in a dictionary an instance has.
            let may_have = has_own || matches!(storage(class), Storage::Dict(_));
            match (found, lookup) {
                (Descriptor::Absent, Lookup::WithFallback(function)) if !may_have => {
                    Some(AttrPlan::Computed {
                        guards: self.instance_lacks(class, name)?,
                        function: handle_of(function)?,
                        args: vec![GetterArg::Receiver, GetterArg::Constant(handle_of(name.0)?)],
                        assumptions,
                    })
                }
                // An AttributeError that the function raises calls `__getattr__`.
                (
                    Descriptor::Property(_) | Descriptor::Computed { .. },
                    Lookup::WithFallback(_),
                ) => None,
                (Descriptor::Computed { is_data: false, .. }, _) if may_have => None,
                (Descriptor::Absent, Lookup::Generic) if !may_have => Some(AttrPlan::Absent {
                    guards: self.instance_lacks(class, name)?,
                    assumptions,
                }),
                (found, _) => self.found_attribute(class, name, found, assumptions),
            }
        }
    }

    /// Loads an attribute of an instance of a class, by its role in the class.
    unsafe fn found_attribute(
        &self,
        class: *mut PyTypeObject,
        name: &Name,
        found: Descriptor,
        assumptions: Vec<Assumption>,
    ) -> Option<AttrPlan> {
        // SAFETY: the caller's: a live class.
        unsafe {
            match found {
                Descriptor::Data | Descriptor::NonData => None,
                Descriptor::Computed {
                    descriptor,
                    get,
                    is_data,
                } => Some(AttrPlan::Computed {
                    guards: match is_data {
                        true => Vec::new(),
                        false => self.instance_lacks(class, name)?,
                    },
                    function: handle_of(get)?,
                    args: vec![
                        GetterArg::Constant(handle_of(descriptor)?),
                        GetterArg::Receiver,
                        GetterArg::Constant(handle_of(class.cast())?),
                    ],
                    assumptions,
                }),
                Descriptor::Class => Some(AttrPlan::Constant {
                    guards: Vec::new(),
                    value: handle_of(class.cast())?,
                    binds: Binds::Nothing,
                    assumptions,
                }),
                Descriptor::ClassMethod(value) => {
                    let binds = Binds::Object(handle_of(class.cast())?);
                    self.class_constant(class, name, value, binds, assumptions)
                }
                Descriptor::Property(getter) => Some(AttrPlan::Getter {
                    function: handle_of(getter)?,
                    assumptions,
                }),
                Descriptor::Slot { offset, .. } => Some(AttrPlan::Field {
                    guards: Vec::new(),
                    load: call(self.ids.load_field, &[offset]),
                    now: None,
                    assumptions,
                }),
                Descriptor::Item(index) => Some(AttrPlan::Field {
                    guards: Vec::new(),
                    load: call(self.ids.load_item, &[index]),
                    now: None,
                    assumptions,
                }),
                Descriptor::Absent => self.own_attribute(class, name, assumptions),
                Descriptor::Method(value) => {
                    self.class_constant(class, name, value, Binds::Receiver, assumptions)
                }
                Descriptor::Plain(value) => {
                    self.class_constant(class, name, value, Binds::Nothing, assumptions)
                }
            }
        }
    }

    /// Loads an instance's own attribute.
    unsafe fn own_attribute(
        &self,
        class: *mut PyTypeObject,
        name: &Name,
        assumptions: Vec<Assumption>,
    ) -> Option<AttrPlan> {
        // SAFETY: the caller's: a live class.
        unsafe {
            let (guards, load) = match Place::of(class, name)? {
                Place::Inline(values, index) => (
                    vec![call(self.ids.check_inline_values, &[values.valid()])],
                    call(self.ids.load_field, &[values.place(index)]),
                ),
                Place::Either(values, index, [name, cell]) => {
                    let imms = [values.valid(), values.place(index), name, cell];
                    (Vec::new(), call(self.ids.load_instance_value, &imms))
                }
                Place::Dict(offset, [name, cell]) => (
                    Vec::new(),
                    call(self.ids.load_dict_value, &[offset, name, cell]),
                ),
            };
            Some(AttrPlan::Field {
                guards,
                load,
                now: None,
                assumptions,
            })
        }
    }

    unsafe fn class_constant(
        &self,
        class: *mut PyTypeObject,
        name: &Name,
        value: Obj,
        binds: Binds,
        assumptions: Vec<Assumption>,
    ) -> Option<AttrPlan> {
        // SAFETY: the caller's: a live class and one of its values.
        unsafe {
            let guards = self.instance_lacks(class, name)?;
            Some(AttrPlan::Constant {
                guards,
                value: handle_of(value)?,
                binds,
                assumptions,
            })
        }
    }

    /// Checks that an instance has no attribute of its own with this name.
    unsafe fn instance_lacks(
        &self,
        class: *mut PyTypeObject,
        name: &Name,
    ) -> Option<Vec<IntrinsicCall>> {
        // SAFETY: the caller's: a live class.
        unsafe {
            match storage(class) {
                Storage::None => Some(Vec::new()),
                Storage::Dict(offset) if dictionaries::noted(class, 0) => {
                    let [name, hash] = name.hashed();
                    Some(vec![call(self.ids.check_dict_lacks, &[offset, name, hash])])
                }
                Storage::Dict(offset) => Some(vec![call(self.ids.check_null, &[offset])]),
                Storage::Inline(values) if dictionaries::noted(class, 0) => {
                    let [text, hash] = name.hashed();
                    let check = match values.index_of(name.0) {
                        Some(index) => {
                            let imms = [values.valid(), values.place(index), text, hash];
                            call(self.ids.check_instance_lacks, &imms)
                        }
                        None => {
                            let (keys, count) = (values.keys(), values.count());
                            let imms = [values.valid(), keys, count, text, hash];
                            call(self.ids.check_instance_keys, &imms)
                        }
                    };
                    Some(vec![check])
                }
                Storage::Inline(values) => {
                    let lacks = match values.index_of(name.0) {
                        Some(index) => call(self.ids.check_null, &[values.place(index)]),
                        None => call(
                            self.ids.check_shared_keys[0],
                            &[values.keys(), values.count()],
                        ),
                    };
                    Some(vec![
                        call(self.ids.check_inline_values, &[values.valid()]),
                        lacks,
                    ])
                }
                Storage::Other => None,
            }
        }
    }

    fn module_attribute(&self, module: Obj, name: &str) -> Option<AttrPlan> {
        // SAFETY: a live module.
        unsafe {
            let key = Name::new(name)?;
            if !_PyType_Lookup(&raw mut PyModule_Type, key.0).is_null() {
                return None;
            }
            let dict: Obj = field(module, abi::module::DICT);
            let (found, unchanged) = self.look_up(dict, name).ok()?;
            // A module's class may be assigned one derived from `module`, which may have
            // properties; nothing watches that.
            let class = (&raw mut PyModule_Type) as i64;
            found.map(|value| AttrPlan::Constant {
                guards: vec![call(self.ids.check_class, &[class])],
                value,
                binds: Binds::Nothing,
                assumptions: vec![unchanged],
            })
        }
    }

    /// An attribute of a class.
    fn class_attribute(&self, object: Obj, name: &str) -> Option<AttrPlan> {
        let class = object.cast::<PyTypeObject>();
        // SAFETY: a live class, its metaclass, and a str.
        unsafe {
            let meta = Py_TYPE(object);
            let type_ = &raw mut PyType_Type;
            let generic = match ((*meta).tp_getattro, (*type_).tp_getattro) {
                (Some(asked), Some(usual)) => ptr::fn_addr_eq(asked, usual),
                _ => false,
            };
            if !generic || !is_versioned(class) || !is_versioned(meta) {
                return None;
            }
            let name = Name::new(name)?;
            if descriptor(meta, name.0).goes_first() || changeable_kind(meta, name.0).is_some() {
                return None;
            }
            let found = _PyType_Lookup(class, name.0);
            if found.is_null() {
                PyErr_Clear();
                return None;
            }
            let kind = Py_TYPE(found);
            // A lookup on a class binds nothing: functions and method descriptors are returned as
            // they are.
            let (value, binds) = if (*kind).tp_descr_get.is_none()
                || kind == &raw mut PyFunction_Type
                || kind == &raw mut PyMethodDescr_Type
            {
                (found, Binds::Nothing)
            } else if kind == &raw mut PyStaticMethod_Type {
                (wrapped_callable(found), Binds::Nothing)
            } else if kind == &raw mut PyClassMethod_Type {
                // It binds the class on which it was looked up.
                (wrapped_callable(found), Binds::Receiver)
            } else {
                return None;
            };
            let mut assumptions =
                attribute_assumptions(objects::class_handle(class), class, &name)?;
            let mut guards = Vec::new();
            if meta != type_ {
                // The metaclass of a class may be assigned to if it is user-defined, and nothing
                // watches that.
                guards.push(call(self.ids.check_class, &[meta as i64]));
                assumptions.extend(class_assumption(objects::class_handle(meta), meta));
            }
            Some(AttrPlan::Constant {
                guards,
                value: handle_of(value)?,
                binds,
                assumptions,
            })
        }
    }

    pub(super) fn plan_store(&self, receiver: Type, name: &str) -> Option<StorePlan> {
        if receiver.as_object().is_some() {
            return None;
        }
        let handle = receiver.runtime_class_in(objects::host())?;
        let class = class_of(handle)?;
        // SAFETY: a live class and a str; see the module's contract.
        unsafe {
            let generic = (*class)
                .tp_setattro
                .is_some_and(|f| ptr::fn_addr_eq(f, PyObject_GenericSetAttr as setattrofunc));
            if !generic || !is_versioned(class) {
                return None;
            }
            let name = Name::new(name)?;
            let assumptions = attribute_assumptions(handle, class, &name)?;
            let (store, quiet) = match descriptor(class, name.0) {
                Descriptor::Slot {
                    offset,
                    writable: true,
                } => (
                    call(self.ids.store_slot, &[offset]),
                    Some(call(self.ids.check_quiet_slot, &[offset])),
                ),
                found if found.goes_first() => {
                    let (function, descriptor) = setter(class, name.0)?;
                    let descriptor = match descriptor {
                        Some(object) => Some(handle_of(object)?),
                        None => None,
                    };
                    return Some(StorePlan::Setter {
                        function: handle_of(function)?,
                        descriptor,
                        assumptions,
                    });
                }
                _ => match Place::of(class, &name)? {
                    Place::Inline(values, index) => (
                        call(self.ids.store_inline_value, &[values.offset, index]),
                        Some(call(self.ids.check_quiet_slot, &[values.place(index)])),
                    ),
                    Place::Either(values, index, [name, cell]) => {
                        let imms = [values.offset, index, name, cell];
                        (call(self.ids.store_instance_value, &imms), None)
                    }
                    Place::Dict(offset, [name, cell]) => {
                        (call(self.ids.store_dict_value, &[offset, name, cell]), None)
                    }
                },
            };
            Some(StorePlan::Field {
                guards: Vec::new(),
                store,
                quiet,
                assumptions,
            })
        }
    }
}

impl PlanIds {
    /// One check of the shared keys of all the classes of both checks, as long as there are few.
    pub(super) fn merged_check(
        &self,
        a: &IntrinsicCall,
        b: &IntrinsicCall,
    ) -> Option<IntrinsicCall> {
        let ids = &self.check_shared_keys;
        if ![a, b].iter().all(|check| ids.contains(&check.id)) {
            return None;
        }
        // In the order of the classes: the order of addresses differs in each process.
        let mut pairs: Vec<[i64; 2]> = Vec::new();
        for pair in a.imms.chunks(2).chain(b.imms.chunks(2)) {
            let &[keys, count] = pair else {
                return None;
            };
            match pairs.iter().find(|pair| pair[0] == keys) {
                Some(known) if known[1] != count => return None,
                Some(_) => {}
                None => pairs.push([keys, count]),
            }
        }
        let id = *ids.get(pairs.len() - 1)?;
        let imms = pairs.concat();
        Some(call(id, &imms))
    }
}

/// The Python function at a place of an object.
///
/// # Safety
/// A live object with an object or null there; the lock is held.
unsafe fn function_at(object: Obj, place: i32) -> Option<ObjectHandle> {
    // SAFETY: the caller's.
    unsafe {
        let held: Obj = field(object, place);
        let is_function = !held.is_null() && Py_TYPE(held) == &raw mut PyFunction_Type;
        is_function.then(|| handle_of(held)).flatten()
    }
}

/// The location of an instance's own attribute.
enum Place {
    /// In the inline values, at this index.
    Inline(InlineValues, i64),
    /// In either the values or a dictionary: with the name's address and that of its cell.
    Either(InlineValues, i64, [i64; 2]),
    /// In a dictionary at this offset.
    Dict(i64, [i64; 2]),
}

impl Place {
    /// The most likely location.
    unsafe fn of(class: *mut PyTypeObject, name: &Name) -> Option<Place> {
        // SAFETY: the caller's: a live class.
        unsafe {
            let has_dicts = dictionaries::noted(class, 0);
            let cell = || [name.0 as i64, dictionaries::cell(class.cast(), name.0)];
            match storage(class) {
                Storage::Inline(values) => match values.index_of(name.0) {
                    Some(index) if has_dicts => Some(Place::Either(values, index, cell())),
                    Some(index) => Some(Place::Inline(values, index)),
                    None => {
                        has_dicts.then(|| Place::Dict(i64::from(abi::object::MANAGED_DICT), cell()))
                    }
                },
                Storage::Dict(offset) => Some(Place::Dict(offset, cell())),
                Storage::None | Storage::Other => None,
            }
        }
    }
}

/// The assumptions for a plan for an attribute of a class's instances: that the class stays as it
/// is, and the class of the value that the class has for that name. `None` if changes of that are
/// not reported.
unsafe fn attribute_assumptions(
    handle: ClassHandle,
    class: *mut PyTypeObject,
    name: &Name,
) -> Option<Vec<Assumption>> {
    // SAFETY: the caller's: live classes.
    unsafe {
        let mut assumptions = class_assumption(handle, class);
        if let Some(kind) = changeable_kind(class, name.0) {
            if !is_versioned(kind) {
                return None;
            }
            assumptions.extend(class_assumption(objects::class_handle(kind), kind));
        }
        Some(assumptions)
    }
}

pub(super) fn class_assumption(handle: ClassHandle, class: *mut PyTypeObject) -> Vec<Assumption> {
    // SAFETY: a live class.
    if unsafe { is_immutable(class) } {
        Vec::new()
    } else {
        vec![Assumption::ClassUnchanged(handle)]
    }
}
