//! The program's state as one compile sees it: the values of globals, the access paths of
//! attributes, the effects of callees.
//!
//! Everything is read under the interpreter's lock and nothing is changed, except that a class may
//! get a version tag (without one CPython does not report its changes). An answer comes with the
//! facts that it relies on, as an assumption to be watched or as a check in the plan; if neither is
//! possible, the answer is "unknown".
//!
//! For example, the answer for the global name `len` is the builtin function, with two assumptions:
//! the module's dict has no such name, and that of `builtins` is unchanged.
//!
//! # Safety contract
//! A token of a live handle is the address of an object that the handle registry keeps alive. A
//! [`CPythonWorld`] is used with the interpreter's lock held.

mod attributes;
pub mod callees;
pub(crate) mod classes;
mod computed;
pub(crate) mod dictionaries;
pub(crate) mod instances;
mod natives;
pub(crate) mod operators;
pub(crate) mod partials;
pub(crate) mod raw_items;
pub(crate) mod supers;
#[cfg(test)]
mod tests;

use crate::abi::changed;
use crate::accesses;
use crate::capi::Obj;
use crate::intrinsics::{attributes as plan, dictionaries as in_dict, iterators, thread};
use crate::objects;
use cladonia::bytecode::{Code, ConstValue};
use cladonia::facts::{Assumption, RawItems};
use cladonia::host::{
    AccessKind, AttrPlan, Callee, Computed, FieldAccess, Global, Host, Inlinee, InstanceAccess,
    IntrinsicCall, IntrinsicId, NativeCall, Operator, OperatorPlan, RawEntry, StorePlan, World,
};
use cladonia::types::{ClassHandle, ObjectHandle, Type};
use pyo3_ffi::*;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// The intrinsics that access plans consist of.
#[derive(Clone, Copy, Debug)]
struct PlanIds {
    check_class: IntrinsicId,
    check_inline_values: IntrinsicId,
    check_null: IntrinsicId,
    check_no_entries: IntrinsicId,
    check_size: IntrinsicId,
    check_number: IntrinsicId,
    check_no_flag: IntrinsicId,
    count_on: IntrinsicId,
    dict_next_item: IntrinsicId,
    dict_next_key: IntrinsicId,
    dict_next_value: IntrinsicId,
    list_reverse_next: IntrinsicId,
    check_function: IntrinsicId,
    is_function: IntrinsicId,
    closure_cell: IntrinsicId,
    function_default: IntrinsicId,
    check_shared_keys: [IntrinsicId; plan::CHECK_SHARED_KEYS.len()],
    load_field: IntrinsicId,
    load_item: IntrinsicId,
    store_slot: IntrinsicId,
    check_quiet_slot: IntrinsicId,
    store_inline_value: IntrinsicId,
    store_first_value: IntrinsicId,
    frame_room: IntrinsicId,
    new_instance: IntrinsicId,
    new_tuple: IntrinsicId,
    store_item: IntrinsicId,
    check_dict_lacks: IntrinsicId,
    check_instance_lacks: IntrinsicId,
    check_instance_keys: IntrinsicId,
    load_dict_value: IntrinsicId,
    load_global_value: IntrinsicId,
    load_instance_value: IntrinsicId,
    store_dict_value: IntrinsicId,
    store_instance_value: IntrinsicId,
}

impl PlanIds {
    fn new(host: &Host) -> PlanIds {
        PlanIds {
            check_class: host.intrinsic(plan::CHECK_CLASS),
            check_inline_values: host.intrinsic(plan::CHECK_INLINE_VALUES),
            check_null: host.intrinsic(plan::CHECK_NULL),
            check_no_entries: host.intrinsic(plan::CHECK_NO_ENTRIES),
            check_size: host.intrinsic(plan::CHECK_SIZE),
            check_number: host.intrinsic(iterators::CHECK_NUMBER),
            check_no_flag: host.intrinsic(iterators::CHECK_NO_FLAG),
            count_on: host.intrinsic(iterators::COUNT_ON),
            dict_next_item: host.intrinsic(in_dict::NEXT_ITEM),
            dict_next_key: host.intrinsic(in_dict::NEXT_KEY),
            dict_next_value: host.intrinsic(in_dict::NEXT_VALUE),
            list_reverse_next: host.intrinsic(iterators::REVERSE_NEXT),
            check_function: host.intrinsic(plan::CHECK_FUNCTION),
            is_function: host.intrinsic(plan::IS_FUNCTION),
            closure_cell: host.intrinsic(plan::CLOSURE_CELL),
            function_default: host.intrinsic(plan::FUNCTION_DEFAULT),
            check_shared_keys: plan::CHECK_SHARED_KEYS.map(|name| host.intrinsic(name)),
            load_field: host.intrinsic(plan::LOAD_FIELD),
            load_item: host.intrinsic(plan::LOAD_ITEM),
            store_slot: host.intrinsic(plan::STORE_SLOT),
            check_quiet_slot: host.intrinsic(plan::CHECK_QUIET_SLOT),
            store_inline_value: host.intrinsic(plan::STORE_INLINE_VALUE),
            store_first_value: host.intrinsic(plan::STORE_FIRST_VALUE),
            frame_room: host.intrinsic(thread::FRAME_ROOM),
            new_instance: host.intrinsic(plan::NEW_INSTANCE),
            new_tuple: host.intrinsic(plan::NEW_TUPLE),
            store_item: host.intrinsic(plan::STORE_ITEM),
            check_dict_lacks: host.intrinsic(in_dict::CHECK_DICT_LACKS),
            check_instance_lacks: host.intrinsic(in_dict::CHECK_INSTANCE_LACKS),
            check_instance_keys: host.intrinsic(in_dict::CHECK_INSTANCE_KEYS),
            load_dict_value: host.intrinsic(in_dict::LOAD_DICT_VALUE),
            load_global_value: host.intrinsic(in_dict::LOAD_GLOBAL_VALUE),
            load_instance_value: host.intrinsic(in_dict::LOAD_INSTANCE_VALUE),
            store_dict_value: host.intrinsic(in_dict::STORE_DICT_VALUE),
            store_instance_value: host.intrinsic(in_dict::STORE_INSTANCE_VALUE),
        }
    }
}

/// Answers that follow from the intrinsics of plans alone: any thread may query them.
#[derive(Debug)]
pub struct Anywhere(PlanIds);

impl Anywhere {
    /// The answers for this host.
    pub fn new(host: &Host) -> Anywhere {
        Anywhere(PlanIds::new(host))
    }
}

impl World for Anywhere {
    fn access_counter(&self, kind: AccessKind) -> Option<u64> {
        accesses::word(kind)
    }

    fn is_of_class(&self, check: IntrinsicId) -> bool {
        self.0.check_shared_keys.contains(&check)
    }

    fn check_of_both(&self, a: &IntrinsicCall, b: &IntrinsicCall) -> Option<IntrinsicCall> {
        self.0.merged_check(a, b)
    }

    fn field_access(&self, call: &IntrinsicCall) -> Option<FieldAccess> {
        self.0.find_field_access(call)
    }
}

/// Globals and builtins of inlined functions, by the address of the globals.
pub type Namespaces = RefCell<FxHashMap<u64, (Obj, Obj)>>;

/// The interpreter's state for one compile.
pub struct CPythonWorld<'a> {
    ids: PlanIds,
    raw_ids: raw_items::RawIds,
    native_ids: natives::NativeIds,
    computed_ids: computed::ComputedIds,
    code: Obj,
    globals: Obj,
    builtins: Obj,
    known: Known<'a>,
}

/// The runtime's data about functions and names.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The address of the entry cell of functions with this code, these globals and builtins, or 0
    /// if they have none.
    pub entry_cell: &'a dyn Fn([Obj; 3]) -> u64,
    /// The raw entry of a function.
    pub raw_entry: &'a dyn Fn(Obj) -> Option<RawEntry>,
    /// A function's bytecode, if calls of it may be inlined: of the function, if there is one, with
    /// its code, globals and builtins.
    pub inlinee: &'a dyn Fn(Obj, [Obj; 3]) -> Option<Code>,
    /// True if a name of a namespace (its dict's address) has changed too often to be relied on.
    pub is_unstable: &'a dyn Fn(u64, &str) -> bool,
    /// The namespaces of functions that were offered for inlining.
    pub others: &'a Namespaces,
}

impl<'a> CPythonWorld<'a> {
    /// The `World` of a function with this code, and these globals and builtins (as in its frame).
    ///
    /// # Safety
    /// The caller has the interpreter's lock, and all three objects live, as long as this is used.
    pub unsafe fn new(
        host: &Host,
        code: Obj,
        globals: Obj,
        builtins: Obj,
        known: Known<'a>,
    ) -> CPythonWorld<'a> {
        let ids = PlanIds::new(host);
        CPythonWorld {
            ids,
            raw_ids: raw_items::RawIds::new(host),
            native_ids: natives::NativeIds::new(host),
            computed_ids: computed::ComputedIds::new(host),
            code,
            globals,
            builtins,
            known,
        }
    }

    /// A namespace's globals and builtins.
    fn namespace(&self, token: u64) -> Option<(Obj, Obj)> {
        match token {
            0 => Some((self.globals, self.builtins)),
            other => self.known.others.borrow().get(&other).copied(),
        }
    }

    /// The value of a name in an exact dict, and the assumption that it stays: `Ok(None)` if there
    /// is none, an error if it cannot be relied on.
    fn look_up(
        &self,
        dict: Obj,
        name: &str,
    ) -> Result<(Option<ObjectHandle>, Assumption), Unreliable> {
        // SAFETY: see the module's contract; the value is registered before its dict could drop it.
        unsafe {
            if PyDict_CheckExact(dict) == 0 || (self.known.is_unstable)(dict as u64, name) {
                return Err(Unreliable);
            }
            let key = Name::new(name).ok_or(Unreliable)?;
            let value = PyDict_GetItemWithError(dict, key.0);
            if value.is_null() && !PyErr_Occurred().is_null() {
                PyErr_Clear();
                return Err(Unreliable);
            }
            if changed::is_deferred(value) {
                return Err(Unreliable);
            }
            let handle = if value.is_null() {
                None
            } else {
                Some(handle_of(value).ok_or(Unreliable)?)
            };
            Ok((
                handle,
                Assumption::NameUnchanged {
                    namespace: dict as u64,
                    name: name.to_owned(),
                },
            ))
        }
    }
}

/// The name's value cannot be relied on.
#[derive(Debug)]
struct Unreliable;

/// An interned string, with a reference of our own.
struct Name(Obj);

impl Name {
    fn new(text: &str) -> Option<Name> {
        // SAFETY: this thread has the lock.
        unsafe {
            let mut object =
                PyUnicode_FromStringAndSize(text.as_ptr().cast(), text.len() as Py_ssize_t);
            if object.is_null() {
                PyErr_Clear();
                return None;
            }
            PyUnicode_InternInPlace(&mut object);
            Some(Name(object))
        }
    }

    /// Its address, which is kept alive forever, and its hash.
    fn hashed(&self) -> [i64; 2] {
        // SAFETY: this thread has the lock; a unit that names the string may outlive the string's
        // other owners.
        unsafe {
            let hash = PyObject_Hash(self.0);
            dictionaries::hold(self.0);
            [self.0 as i64, hash as i64]
        }
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        // SAFETY: the reference is ours.
        unsafe { Py_DECREF(self.0) }
    }
}

/// The object of a handle.
fn object_of(handle: ObjectHandle) -> Option<Obj> {
    Some(objects::object_ptr(handle)).filter(|object| !object.is_null())
}

/// The class of a handle.
fn class_of(handle: ClassHandle) -> Option<*mut PyTypeObject> {
    Some(objects::class_ptr(handle)).filter(|class| !class.is_null())
}

/// The handle of a live object.
unsafe fn handle_of(object: Obj) -> Option<ObjectHandle> {
    // SAFETY: the caller's: a live object.
    Some(unsafe { objects::object_handle(object) }).filter(|handle| handle.is_alive())
}

fn call(id: IntrinsicId, imms: &[i64]) -> IntrinsicCall {
    IntrinsicCall {
        id,
        imms: imms.to_vec(),
    }
}

/// True if a unit may keep a global's value alive: not an instance of a user-defined class (or a
/// bare `object()`), since the program may wait for its deallocation or read its reference count.
fn may_keep_alive(value: ObjectHandle) -> bool {
    let Some(object) = object_of(value) else {
        return false;
    };
    // SAFETY: a live object.
    unsafe {
        let class = Py_TYPE(object);
        PyType_Check(object) != 0
            || (PyType_HasFeature(class, Py_TPFLAGS_HEAPTYPE) == 0
                && class != &raw mut PyBaseObject_Type)
    }
}

impl World for CPythonWorld<'_> {
    fn global(&self, namespace: u64, name: &str) -> Option<Global> {
        let (globals, builtins) = self.namespace(namespace)?;
        let (found, here) = self.look_up(globals, name).ok()?;
        if let Some(value) = found {
            if !may_keep_alive(value) {
                return None;
            }
            return Some(Global {
                value,
                assumptions: vec![here],
            });
        }
        let (found, builtin) = self.look_up(builtins, name).ok()?;
        found.map(|value| Global {
            value,
            assumptions: vec![here, builtin],
        })
    }

    fn global_get(&self, namespace: u64, name: &str) -> Option<IntrinsicCall> {
        let (globals, _) = self.namespace(namespace)?;
        // SAFETY: this thread has the lock while a world is queried; a live dictionary and string.
        unsafe {
            let name = Name::new(name)?;
            if PyDict_CheckExact(globals) == 0 || PyDict_GetItemWithError(globals, name.0).is_null()
            {
                PyErr_Clear();
                return None;
            }
            let cell = dictionaries::cell(globals, name.0);
            let imms = [globals as i64, name.0 as i64, cell];
            Some(call(self.ids.load_global_value, &imms))
        }
    }

    fn load_attr(&self, receiver: Type, name: &str) -> AttrPlan {
        self.plan_load(receiver, name).unwrap_or(AttrPlan::General)
    }

    fn load_super(&self, class: ObjectHandle, receiver: Type, name: &str) -> AttrPlan {
        self.plan_super(class, receiver, name)
            .unwrap_or(AttrPlan::General)
    }

    fn store_attr(&self, receiver: Type, name: &str) -> StorePlan {
        self.plan_store(receiver, name)
            .unwrap_or(StorePlan::General)
    }

    fn raw_items(&self, receiver: Type, way: u64) -> Option<RawItems> {
        self.plan_raw_items(receiver, way)
    }

    fn access_counter(&self, kind: AccessKind) -> Option<u64> {
        Anywhere(self.ids).access_counter(kind)
    }

    fn is_of_class(&self, check: IntrinsicId) -> bool {
        Anywhere(self.ids).is_of_class(check)
    }

    fn check_of_both(&self, a: &IntrinsicCall, b: &IntrinsicCall) -> Option<IntrinsicCall> {
        Anywhere(self.ids).check_of_both(a, b)
    }

    fn instance_access(&self, instance: Type, call: &IntrinsicCall) -> Option<InstanceAccess> {
        self.find_instance_access(instance, call)
    }

    fn first_store(
        &self,
        instance: Type,
        store: &IntrinsicCall,
        stored: &[u32],
    ) -> Option<IntrinsicCall> {
        self.find_first_store(instance, store, stored)
    }

    fn field_access(&self, call: &IntrinsicCall) -> Option<FieldAccess> {
        Anywhere(self.ids).field_access(call)
    }

    fn operator(&self, operator: Operator, operands: &[Type]) -> OperatorPlan {
        self.plan_operator(operator, operands)
            .unwrap_or(OperatorPlan::General)
    }

    fn callee(&self, callee: ObjectHandle) -> Callee {
        self.find_callee(callee).unwrap_or(Callee::Unknown)
    }

    fn native_call(&self, callee: ObjectHandle, given: u32) -> Option<NativeCall> {
        self.plan_native_call(callee, given)
    }

    fn computed(&self, callee: ObjectHandle, operands: &[Type]) -> Vec<Computed> {
        self.ways_to_compute(callee, operands).unwrap_or_default()
    }

    fn inlinee(&self, callee: ObjectHandle) -> Option<Inlinee> {
        self.find_inlinee(callee)
    }

    fn tuple_items(&self, object: ObjectHandle) -> Option<Vec<ObjectHandle>> {
        let tuple = object_of(object)?;
        // SAFETY: this thread has the lock while a world is queried; a tuple owns its items.
        unsafe {
            (PyTuple_CheckExact(tuple) != 0).then(|| {
                (0..PyTuple_Size(tuple))
                    .map(|i| objects::object_handle(PyTuple_GetItem(tuple, i)))
                    .collect()
            })
        }
    }

    fn value(&self, object: ObjectHandle) -> ConstValue {
        // SAFETY: a live object; see the module's contract.
        object_of(object).map_or(ConstValue::Other, |object| unsafe {
            objects::const_value(object)
        })
    }
}
