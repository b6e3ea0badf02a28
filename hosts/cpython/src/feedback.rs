//! What CPython's interpreter has observed: inline caches and live values, as types to bet on.
//!
//! A specialised opcode in `co_code_adaptive` says which classes its operands had, by its name or by a version in its cache. Versions lead back to
//! classes and functions: CPython 3.13 keeps a table for functions, and none for classes, so those are found by
//! walking all classes, once, and again when a version is not known. Nothing read here is proved by it; whatever a
//! cache names is checked (by its version) to be alive before it is touched.

#[cfg(test)]
mod tests;

use crate::abi::{self, function, interp, opcodes as oc, type_};
use crate::objects;
use crate::owned::Owned;
use crate::world::classes::{self, Descriptor, Storage, storage};
use crate::world::dictionaries;
use cladonia::types::Type;
use pyo3_ffi::{self as ffi, PyObject, PyTypeObject};
use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex, PoisonError};

unsafe extern "C" {
    fn PyWeakref_GetRef(reference: *mut PyObject, object: *mut *mut PyObject) -> std::ffi::c_int;
}

/// The types of live values, as bets on parameters and locals: each value's own class; `Object` where there is no value.
///
/// # Safety
/// The GIL is held; each value is null or a live object.
pub unsafe fn live_types(values: &[*mut PyObject]) -> Vec<Type> {
    let of = |value: &*mut PyObject| {
        if value.is_null() {
            return Type::OBJECT;
        }
        // SAFETY: as the caller says.
        unsafe { exact(ffi::Py_TYPE(*value)) }
    };
    values.iter().map(of).collect()
}

/// What the instruction at `unit` (an opcode in `co_code_adaptive`, with its cache behind it) says of its operands, from the deepest to the
/// top, or, of a call, of its callee. Empty if it says nothing.
///
/// # Safety
/// The GIL is held; `unit` points to a code unit of a live code object and is no argument prefix.
pub unsafe fn hints(unit: *const u16) -> Vec<Type> {
    let cache = Cache(unit);
    // SAFETY: as the caller says.
    unsafe {
        let opcode = unit.cast::<u8>().read();
        if let Some((_, types)) = FIXED.iter().find(|row| row.0 == opcode) {
            return types.to_vec();
        }
        match opcode {
            oc::CONTAINS_OP_SET => vec![Type::OBJECT, Type::SET_EXACT.join(Type::FROZEN_SET_EXACT)],
            oc::TO_BOOL_ALWAYS_TRUE => cache
                .class()
                .map(|class| vec![exact(class.as_type())])
                .unwrap_or_default(),
            oc::LOAD_ATTR_WITH_HINT => cache
                .class_with_dicts()
                .map(|class| vec![exact(class.as_type())])
                .unwrap_or_default(),
            oc::LOAD_ATTR_INSTANCE_VALUE
            | oc::LOAD_ATTR_SLOT
            | oc::LOAD_ATTR_PROPERTY
            | oc::LOAD_ATTR_GETATTRIBUTE_OVERRIDDEN
            | oc::LOAD_ATTR_METHOD_WITH_VALUES
            | oc::LOAD_ATTR_METHOD_NO_DICT
            | oc::LOAD_ATTR_METHOD_LAZY_DICT
            | oc::LOAD_ATTR_NONDESCRIPTOR_WITH_VALUES
            | oc::LOAD_ATTR_NONDESCRIPTOR_NO_DICT => cache
                .class()
                .map(|class| vec![exact(class.as_type())])
                .unwrap_or_default(),
            oc::STORE_ATTR_WITH_HINT => cache
                .class_with_dicts()
                .map(|class| vec![Type::OBJECT, exact(class.as_type())])
                .unwrap_or_default(),
            oc::STORE_ATTR_INSTANCE_VALUE | oc::STORE_ATTR_SLOT => cache
                .class()
                .map(|class| vec![Type::OBJECT, exact(class.as_type())])
                .unwrap_or_default(),
            oc::LOAD_ATTR_CLASS | oc::CALL_ALLOC_AND_ENTER_INIT => cache
                .class()
                .map(|class| vec![object(class.0.as_ptr())])
                .unwrap_or_default(),
            oc::CALL_TYPE_1 => vec![object((&raw mut ffi::PyType_Type).cast())],
            oc::CALL_STR_1 => vec![object((&raw mut ffi::PyUnicode_Type).cast())],
            oc::CALL_TUPLE_1 => vec![object((&raw mut ffi::PyTuple_Type).cast())],
            // The function of a bound method is not what is called.
            oc::CALL_PY_EXACT_ARGS | oc::CALL_PY_GENERAL => function_of_version(cache.version())
                .map(|f| vec![object(f.as_ptr())])
                .unwrap_or_default(),
            _ => Vec::new(),
        }
    }
}

/// What an instruction that loads the attribute `name`, and is not specialised, says of its operand from the time when it was: the
/// interpreter gives up what it knew of a property as soon as the getter is compiled.
///
/// # Safety
/// The GIL is held; `unit` points to a `LOAD_ATTR` of a live code object, with its cache behind it; `name` is its name.
pub unsafe fn asked_getter(unit: *const u16, name: *mut PyObject) -> Vec<Type> {
    // SAFETY: as the caller says. The version may be that of a module's keys, or of a class that was loaded from: what comes of
    // that is a bet like any other.
    unsafe {
        let Some(class) = Cache(unit).class() else {
            return Vec::new();
        };
        match classes::descriptor(class.as_type(), name) {
            Descriptor::Property(_) => vec![exact(class.as_type())],
            _ => Vec::new(),
        }
    }
}

/// How often the interpreter has executed the instruction, while that is too seldom to specialise it: its counter begins
/// with a wait of two executions and has a longer one after every attempt that fails. `None` from then on, and for what
/// is never specialised.
///
/// # Safety
/// The GIL is held; `unit` points to a code unit of a live code object and is no argument prefix.
pub unsafe fn first_executions(unit: *const u16) -> Option<u32> {
    // SAFETY: as the caller says; what is adaptive has a cache that begins with the counter.
    unsafe {
        if !ADAPTIVE.contains(&unit.cast::<u8>().read()) {
            return None;
        }
        let counter = unit.add(1).read();
        (counter & 15 == WARM_UP && counter >> 4 <= WARM_UP)
            .then(|| u32::from(WARM_UP - (counter >> 4)))
    }
}

/// What the interpreter specialises.
const ADAPTIVE: &[u8] = &[
    oc::BINARY_OP,
    oc::BINARY_SUBSCR,
    oc::CALL,
    oc::COMPARE_OP,
    oc::CONTAINS_OP,
    oc::FOR_ITER,
    oc::LOAD_ATTR,
    oc::LOAD_GLOBAL,
    oc::STORE_ATTR,
    oc::STORE_SUBSCR,
    oc::TO_BOOL,
    oc::UNPACK_SEQUENCE,
];

/// The value and the backoff of a new counter (`ADAPTIVE_WARMUP_VALUE`, `ADAPTIVE_WARMUP_BACKOFF`).
const WARM_UP: u16 = 1;

const INT: Type = Type::LONG_EXACT;
const FLOAT: Type = Type::FLOAT_EXACT;
const STR: Type = Type::UNICODE_EXACT;
const ANY: Type = Type::OBJECT;

/// Specialised opcodes whose name says it all.
const FIXED: &[(u8, &[Type])] = &[
    (oc::BINARY_OP_ADD_INT, &[INT, INT]),
    (oc::BINARY_OP_SUBTRACT_INT, &[INT, INT]),
    (oc::BINARY_OP_MULTIPLY_INT, &[INT, INT]),
    (oc::BINARY_OP_ADD_FLOAT, &[FLOAT, FLOAT]),
    (oc::BINARY_OP_SUBTRACT_FLOAT, &[FLOAT, FLOAT]),
    (oc::BINARY_OP_MULTIPLY_FLOAT, &[FLOAT, FLOAT]),
    (oc::BINARY_OP_ADD_UNICODE, &[STR, STR]),
    (oc::BINARY_OP_INPLACE_ADD_UNICODE, &[STR, STR]),
    (oc::COMPARE_OP_INT, &[INT, INT]),
    (oc::COMPARE_OP_FLOAT, &[FLOAT, FLOAT]),
    (oc::COMPARE_OP_STR, &[STR, STR]),
    (oc::BINARY_SUBSCR_DICT, &[Type::DICT_EXACT, ANY]),
    (oc::BINARY_SUBSCR_LIST_INT, &[Type::LIST_EXACT, INT]),
    (oc::BINARY_SUBSCR_TUPLE_INT, &[Type::TUPLE_EXACT, INT]),
    (oc::BINARY_SUBSCR_STR_INT, &[STR, INT]),
    (oc::STORE_SUBSCR_DICT, &[ANY, Type::DICT_EXACT, ANY]),
    (oc::STORE_SUBSCR_LIST_INT, &[ANY, Type::LIST_EXACT, INT]),
    (oc::CONTAINS_OP_DICT, &[ANY, Type::DICT_EXACT]),
    (oc::UNPACK_SEQUENCE_TWO_TUPLE, &[Type::TUPLE_EXACT]),
    (oc::UNPACK_SEQUENCE_TUPLE, &[Type::TUPLE_EXACT]),
    (oc::UNPACK_SEQUENCE_LIST, &[Type::LIST_EXACT]),
    (oc::FOR_ITER_LIST, &[Type::LIST_ITER]),
    (oc::FOR_ITER_TUPLE, &[Type::TUPLE_ITER]),
    (oc::FOR_ITER_RANGE, &[Type::RANGE_ITER]),
    (oc::FOR_ITER_GEN, &[Type::GEN]),
    (oc::TO_BOOL_BOOL, &[Type::BOOL]),
    (oc::TO_BOOL_INT, &[INT]),
    (oc::TO_BOOL_LIST, &[Type::LIST_EXACT]),
    (oc::TO_BOOL_NONE, &[Type::NONE_TYPE]),
    (oc::TO_BOOL_STR, &[STR]),
];

/// # Safety
/// The GIL is held; `class` is a live class.
unsafe fn exact(class: *mut PyTypeObject) -> Type {
    // SAFETY: as the caller says.
    Type::from_class_exact(unsafe { objects::class_handle(class) })
}

/// # Safety
/// The GIL is held; `object` is a live object.
unsafe fn object(object: *mut PyObject) -> Type {
    // SAFETY: as the caller says.
    Type::from_object(unsafe { objects::object_handle(object) })
}

/// An instruction with its inline cache.
struct Cache(*const u16);

impl Cache {
    /// The version that follows the counter, in every family that has one.
    ///
    /// # Safety
    /// The instruction is of such a family.
    unsafe fn version(&self) -> u32 {
        // SAFETY: the cache is three units at least: a counter, then the version, low half first.
        unsafe { u32::from(self.0.add(2).read()) | u32::from(self.0.add(3).read()) << 16 }
    }

    /// The class with the cache's version.
    ///
    /// # Safety
    /// The GIL is held; the instruction is of a family whose cache has a class's version.
    unsafe fn class(&self) -> Option<LiveClass> {
        // SAFETY: as the caller says.
        unsafe { class_of_version(self.version()) }
    }

    /// The same, of an instance that had a dictionary of its own.
    ///
    /// # Safety
    /// As for [`Cache::class`].
    unsafe fn class_with_dicts(&self) -> Option<LiveClass> {
        // SAFETY: as the caller says.
        let class = unsafe { self.class() };
        if let Some(class) = &class {
            dictionaries::note(class.as_type());
        }
        class
    }
}

/// A class, held.
pub struct LiveClass(Owned);

impl LiveClass {
    /// The class.
    pub fn as_type(&self) -> *mut PyTypeObject {
        self.0.as_ptr().cast()
    }
}

/// The function that has this version now.
///
/// # Safety
/// The GIL is held.
pub unsafe fn function_of_version(version: u32) -> Option<Owned> {
    if version == 0 {
        return None;
    }
    let place =
        (version % interp::FUNC_VERSION_CACHE_LEN as u32) as i32 * interp::FUNC_VERSION_CACHE_ENTRY;
    // SAFETY: the interpreter clears an entry before its function dies; the validation has found the table where it is.
    unsafe {
        let f = abi::read::<*mut PyObject, _>(
            ffi::PyInterpreterState_Get(),
            interp::FUNC_VERSION_CACHE + place,
        );
        if f.is_null() || abi::read::<u32, _>(f, function::VERSION) != version {
            return None;
        }
        Owned::borrow(f)
    }
}

/// The classes that share the class's base, with the base, if that is a class of the program with few below it: where
/// instances of one have been seen, those of the others are likely. Not those of which no instance has ever had an attribute, if some of
/// the class have: there may be none.
///
/// # Safety
/// The GIL is held; `class` is a live class.
pub unsafe fn relatives(class: *mut PyTypeObject) -> Vec<LiveClass> {
    let mut found: Vec<LiveClass> = Vec::new();
    // SAFETY: live classes, and a class's base; `type.__subclasses__` runs no Python code.
    unsafe {
        let has_attributes = |class| match storage(class) {
            Storage::Inline(values) => values.count() > 0,
            _ => true,
        };
        let expects_attributes = has_attributes(class);
        let base = (*class).tp_base;
        if base.is_null() || ffi::PyType_HasFeature(base, ffi::Py_TPFLAGS_HEAPTYPE) == 0 {
            return found;
        }
        let Some(subclasses) = Subclasses::new() else {
            return found;
        };
        let mut todo: Vec<Owned> = Owned::borrow(base.cast()).into_iter().collect();
        let mut passed = 0;
        while let Some(class) = todo.pop() {
            if passed == MOST_RELATIVES {
                return Vec::new();
            }
            passed += 1;
            todo.extend(subclasses.of(class.as_ptr()));
            if !expects_attributes || has_attributes(class.as_ptr().cast()) {
                found.push(LiveClass(class));
            }
        }
    }
    found
}

/// Classes that are few enough to expect each of them.
const MOST_RELATIVES: usize = 8;

/// Classes by version, held weakly.
#[derive(Default)]
struct Versions {
    classes: HashMap<u32, Owned>,
    /// Versions that a walk did not find: no class will have them again.
    gone: HashSet<u32>,
}

static VERSIONS: LazyLock<Mutex<Versions>> = LazyLock::new(Mutex::default);

/// The class that has this version now.
///
/// # Safety
/// The GIL is held.
pub unsafe fn class_of_version(version: u32) -> Option<LiveClass> {
    if version == 0 {
        return None;
    }
    let mut versions = VERSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: as the caller says; no Python code runs under the lock.
    unsafe {
        if let Some(class) = versions.get(version) {
            return Some(class);
        }
        if versions.gone.contains(&version) {
            return None;
        }
        versions.look_at_newest();
        if let Some(class) = versions.get(version) {
            return Some(class);
        }
        versions.walk();
        let found = versions.get(version);
        if found.is_none() {
            versions.gone.insert(version);
        }
        found
    }
}

impl Versions {
    /// # Safety
    /// The GIL is held.
    unsafe fn get(&self, version: u32) -> Option<LiveClass> {
        let reference = self.classes.get(&version)?;
        let mut class = std::ptr::null_mut();
        // SAFETY: the map holds weak references to classes.
        unsafe {
            if PyWeakref_GetRef(reference.as_ptr(), &mut class) < 0 {
                ffi::PyErr_Clear();
            }
            let class = Owned::take(class)?;
            (abi::read::<u32, _>(class.as_ptr(), type_::VERSION_TAG) == version)
                .then_some(LiveClass(class))
        }
    }

    /// Finds the newest of the classes that derive from `object` alone: a program's own are mostly among them, and a process has
    /// some hundred others.
    ///
    /// # Safety
    /// The GIL is held.
    unsafe fn look_at_newest(&mut self) {
        // SAFETY: live classes; the caller holds the lock.
        unsafe {
            let Some(subclasses) = Subclasses::new() else {
                return;
            };
            let object = (&raw mut ffi::PyBaseObject_Type).cast();
            for class in subclasses.of(object).iter().rev().take(NEWEST) {
                self.note(class.as_ptr());
            }
        }
    }

    /// Finds every class from `object` down. What can't be asked (out of memory) is left out.
    ///
    /// # Safety
    /// The GIL is held.
    unsafe fn walk(&mut self) {
        self.classes.clear();
        if self.gone.len() > 10_000 {
            self.gone.clear();
        }
        // SAFETY: live classes; the caller holds the lock.
        unsafe {
            let Some(subclasses) = Subclasses::new() else {
                return;
            };
            let mut seen = HashSet::new();
            let mut todo: Vec<Owned> = Owned::borrow((&raw mut ffi::PyBaseObject_Type).cast())
                .into_iter()
                .collect();
            while let Some(class) = todo.pop() {
                if !seen.insert(class.as_ptr() as usize) {
                    continue;
                }
                self.note(class.as_ptr());
                todo.extend(subclasses.of(class.as_ptr()));
            }
        }
    }

    /// Notes a class under its version, if it has one.
    ///
    /// # Safety
    /// A live class; the GIL is held.
    unsafe fn note(&mut self, class: *mut PyObject) {
        // SAFETY: as the caller says.
        unsafe {
            let version = abi::read::<u32, _>(class, type_::VERSION_TAG);
            if version != 0
                && let Some(weak) = Owned::take(ffi::PyWeakref_NewRef(class, std::ptr::null_mut()))
            {
                self.classes.insert(version, weak);
            }
        }
    }
}

/// So many of the classes made last are looked at before all are.
const NEWEST: usize = 64;

/// `type.__subclasses__`, which itself runs no Python code, whatever a metaclass does.
struct Subclasses(Owned);

impl Subclasses {
    /// None if it can't be had (out of memory).
    ///
    /// # Safety
    /// The GIL is held.
    unsafe fn new() -> Option<Subclasses> {
        // SAFETY: as the caller says.
        unsafe {
            let meta = (&raw mut ffi::PyType_Type).cast::<PyObject>();
            let found = Owned::take(ffi::PyObject_GetAttrString(
                meta,
                c"__subclasses__".as_ptr(),
            ));
            if found.is_none() {
                ffi::PyErr_Clear();
            }
            found.map(Subclasses)
        }
    }

    /// A class's subclasses, in the order in which they were made; none if there is no memory for them.
    ///
    /// # Safety
    /// A live class; the GIL is held.
    unsafe fn of(&self, class: *mut PyObject) -> Vec<Owned> {
        // SAFETY: as the caller says; the list holds live classes.
        unsafe {
            let Some(list) = Owned::take(ffi::PyObject_CallOneArg(self.0.as_ptr(), class)) else {
                ffi::PyErr_Clear();
                return Vec::new();
            };
            let items = 0..ffi::PyList_GET_SIZE(list.as_ptr());
            items
                .filter_map(|i| Owned::borrow(ffi::PyList_GET_ITEM(list.as_ptr(), i)))
                .collect()
        }
    }
}
