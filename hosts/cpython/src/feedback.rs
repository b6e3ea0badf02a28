//! The interpreter's feedback: inline caches and live values, as types to speculate on.
//!
//! A specialised instruction records the classes of its operands, by its name or by a version in
//! its cache (the version's module [reads them](crate::abi::feedback)). Versions lead back to
//! classes and functions: the interpreter has a table for functions; classes are found by walking
//! all of them, once, and again when a version is unknown. Feedback proves nothing; an object that
//! a cache refers to is checked (by its version) to be alive before it is used.
//!
//! For example, `LOAD_ATTR_INSTANCE_VALUE` has the version of the receiver's class in its cache,
//! and `BINARY_OP_ADD_INT` means that both operands were ints.

#[cfg(test)]
mod tests;

use crate::abi::feedback::{self as noted, Observed};
use crate::abi::{self, type_};
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

/// The types of live values, to speculate on for parameters and locals: each value's own class;
/// `Object` for an empty slot.
///
/// # Safety
/// The caller has the GIL; each value is null or a live object.
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

/// The types of the operands of the instruction at `unit` (an opcode in `co_code_adaptive`, with
/// its cache behind it), from the deepest to the top, or, for a call, of its callee, if it is a
/// specialised form of the general opcode. Empty without feedback.
///
/// # Safety
/// The caller has the GIL; `unit` points to a code unit of a live code object and is no argument
/// prefix.
pub unsafe fn hints(unit: *const u16, general: u8) -> Vec<Type> {
    // SAFETY: as the caller says.
    unsafe {
        match noted::observed(unit, general) {
            Observed::Nothing => Vec::new(),
            Observed::Types(types) => types,
            Observed::Instance {
                version,
                below,
                has_dict,
            } => {
                let Some(class) = class_of_version(version) else {
                    return Vec::new();
                };
                if has_dict {
                    dictionaries::note(class.as_type());
                }
                let mut types = vec![Type::OBJECT; below];
                types.push(exact(class.as_type()));
                types
            }
            Observed::Class(version) => class_of_version(version)
                .map(|class| vec![object(class.0.as_ptr())])
                .unwrap_or_default(),
            Observed::Builtin(class) => vec![object(class)],
            Observed::Function(version) => callee_of_version(version)
                .map(|callee| vec![object(callee.as_ptr())])
                .unwrap_or_default(),
        }
    }
}

/// The type of the operand of an unspecialised instruction that loads the attribute `name`, from
/// the time when it was specialised: the interpreter drops its feedback on a property as soon as
/// the getter is compiled.
///
/// # Safety
/// The caller has the GIL; `unit` points to an instruction of a live code object, with its cache
/// behind it, that loads the attribute `name`.
pub unsafe fn unspecialised_getter(unit: *const u16, name: *mut PyObject) -> Vec<Type> {
    // SAFETY: as the caller says. The version may be that of a module's keys, or of a class that
    // was the receiver: the result is a hint like any other.
    unsafe {
        let Some(class) = noted::kept_version(unit).and_then(|version| class_of_version(version))
        else {
            return Vec::new();
        };
        match classes::descriptor(class.as_type(), name) {
            Descriptor::Property(_) | Descriptor::Computed { .. } => vec![exact(class.as_type())],
            _ => Vec::new(),
        }
    }
}

/// # Safety
/// The caller has the GIL; `class` is a live class.
unsafe fn exact(class: *mut PyTypeObject) -> Type {
    // SAFETY: as the caller says.
    Type::from_class_exact(unsafe { objects::class_handle(class) })
}

/// # Safety
/// The caller has the GIL; `object` is a live object.
unsafe fn object(object: *mut PyObject) -> Type {
    // SAFETY: as the caller says.
    Type::from_object(unsafe { objects::object_handle(object) })
}

/// A class with an owned reference.
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
/// The caller has the GIL.
pub unsafe fn function_of_version(version: u32) -> Option<Owned> {
    // SAFETY: as the caller says; the result is alive now.
    unsafe { Owned::borrow(noted::function_of_version(version)) }
}

/// The function that has this version now, or the code object whose functions have it, if none of
/// them is alive.
///
/// # Safety
/// The caller has the GIL.
pub unsafe fn callee_of_version(version: u32) -> Option<Owned> {
    // SAFETY: as the caller says.
    unsafe { function_of_version(version).or_else(|| code_of_version(version)) }
}

/// The code object whose functions have this version, if none of them is alive.
///
/// # Safety
/// The caller has the GIL.
unsafe fn code_of_version(version: u32) -> Option<Owned> {
    // SAFETY: as the caller says; the result is alive now.
    unsafe { Owned::borrow(noted::code_of_version(version)) }
}

/// The classes that share the class's base, with the base, if that is a user-defined class with few
/// subclasses: where instances of one were observed, those of the others are likely. If some of
/// these classes have instances with attributes, those without are omitted: they may have no
/// instances.
///
/// # Safety
/// The caller has the GIL; `class` is a live class.
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
            if passed == MAX_RELATIVES {
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

/// Maximum classes of which each is expected.
const MAX_RELATIVES: usize = 8;

/// Classes by version, with weak references.
#[derive(Default)]
struct Versions {
    classes: HashMap<u32, Owned>,
    /// Versions that a walk did not find: no class will get them again.
    gone: HashSet<u32>,
}

static VERSIONS: LazyLock<Mutex<Versions>> = LazyLock::new(Mutex::default);

/// The class that has this version now.
///
/// # Safety
/// The caller has the GIL.
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
    /// The caller has the GIL.
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

    /// Finds the newest of the classes that derive from `object` alone: a program's own classes are
    /// mostly among them, and a process has some hundred others.
    ///
    /// # Safety
    /// The caller has the GIL.
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

    /// Finds every class from `object` down. Classes whose subclasses can't be listed (out of
    /// memory) are omitted.
    ///
    /// # Safety
    /// The caller has the GIL.
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

    /// Records a class under its version, if it has one.
    ///
    /// # Safety
    /// A live class; the caller has the GIL.
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

/// Number of the newest classes that are examined before all are.
const NEWEST: usize = 64;

/// `type.__subclasses__`, which itself runs no Python code, even for a class with a metaclass.
struct Subclasses(Owned);

impl Subclasses {
    /// `None` if it can't be loaded (out of memory).
    ///
    /// # Safety
    /// The caller has the GIL.
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

    /// A class's subclasses, in the order of their creation; none if there is no memory for the
    /// list.
    ///
    /// # Safety
    /// A live class; the caller has the GIL.
    unsafe fn of(&self, class: *mut PyObject) -> Vec<Owned> {
        // SAFETY: as the caller says; the list keeps its classes alive.
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
