//! `isinstance` of abstract base classes: keeps the answers of `ABCMeta` for the next instances of
//! the same class.
//!
//! `isinstance(x, collections.abc.Mapping)` calls `ABCMeta.__instancecheck__`, a function written
//! in Python, which has `_abc` look for the class of `x` among weak references. `_abc` itself keeps
//! both answers. "It is a subclass" holds for ever; "it is not" holds until any class is registered
//! with any abstract class (`abc.get_cache_token`). So a row here is valid as long as the versions
//! of three classes: that of the instance, the abstract class, and its metaclass. A negative row
//! also needs the same token.
//!
//! Safety: the contract of [`super`].

use crate::abi::{function, type_};
use crate::capi::{_PyType_Lookup, Obj, field};
use pyo3_ffi::*;
use std::cell::Cell;
use std::ffi::{CStr, c_int};
use std::ptr;
use std::sync::OnceLock;

const ROWS: usize = 512;

/// The token of a row with a positive answer.
const FOR_EVER: i64 = -1;

#[derive(Clone, Copy)]
struct Row {
    /// The class of the instance, and its version; 0 if the row is empty.
    own: *mut PyTypeObject,
    own_version: u32,
    /// The abstract class.
    class: Obj,
    class_version: u32,
    metaclass_version: u32,
    /// The token at the time of the answer.
    token: i64,
    answer: bool,
}

struct Table([Cell<Row>; ROWS]);

// SAFETY: used with the interpreter's lock only.
unsafe impl Sync for Table {}

static TABLE: Table = Table(
    [const {
        Cell::new(Row {
            own: ptr::null_mut(),
            own_version: 0,
            class: ptr::null_mut(),
            class_version: 0,
            metaclass_version: 0,
            token: 0,
            answer: false,
        })
    }; ROWS],
);

/// The parts of `ABCMeta`, found at the start of the runtime.
struct Known {
    metaclass: usize,
    /// Its two methods that a check calls, and the code of these functions.
    methods: [(usize, usize); 2],
    /// `_abc.get_cache_token`.
    token: usize,
}

static KNOWN: OnceLock<Option<Known>> = OnceLock::new();

const METHODS: [&CStr; 2] = [c"__instancecheck__", c"__subclasscheck__"];

/// Find `ABCMeta` at the start, before the program can change it. Without it no answer is kept.
pub(crate) unsafe fn find() {
    KNOWN.get_or_init(|| {
        // SAFETY: the lock is held. References are kept for ever, so the addresses stay valid.
        unsafe {
            let metaclass = attribute(c"abc", c"ABCMeta")?;
            let token = attribute(c"_abc", c"get_cache_token")?;
            if PyType_Check(metaclass) == 0 || PyCFunction_Check(token) == 0 {
                return None;
            }
            let mut methods = [(0, 0); 2];
            for (place, name) in methods.iter_mut().zip(METHODS) {
                let found = method(metaclass.cast(), name)?;
                *place = (
                    Py_NewRef(found) as usize,
                    Py_NewRef(code_of(found)?) as usize,
                );
            }
            Some(Known {
                metaclass: metaclass as usize,
                methods,
                token: token as usize,
            })
        }
    });
}

/// An attribute of a module that was imported, as a new reference.
unsafe fn attribute(module: &CStr, name: &CStr) -> Option<Obj> {
    // SAFETY: the caller's: the lock is held; each new reference is dropped once.
    unsafe {
        let modules = PyImport_GetModuleDict();
        let module = PyDict_GetItemString(modules, module.as_ptr());
        if module.is_null() {
            return None;
        }
        let found = PyObject_GetAttrString(module, name.as_ptr());
        if found.is_null() {
            PyErr_Clear();
        }
        (!found.is_null()).then_some(found)
    }
}

/// An attribute as a class has it or inherits it, borrowed.
pub(super) unsafe fn method(class: *mut PyTypeObject, name: &CStr) -> Option<Obj> {
    // SAFETY: the caller's: a live class.
    unsafe {
        let name = PyUnicode_InternFromString(name.as_ptr());
        if name.is_null() {
            PyErr_Clear();
            return None;
        }
        let found = _PyType_Lookup(class, name);
        Py_DECREF(name);
        PyErr_Clear();
        (!found.is_null()).then_some(found)
    }
}

/// The code of a function written in Python.
unsafe fn code_of(object: Obj) -> Option<Obj> {
    // SAFETY: the caller's: a live object; a function has its code.
    unsafe { (PyFunction_Check(object) != 0).then(|| field(object, function::CODE)) }
}

unsafe fn version(class: *mut PyTypeObject) -> u32 {
    // SAFETY: the caller's: a live class.
    unsafe { field(class, type_::VERSION_TAG) }
}

/// The token that changes when a class is registered; none if it is no small number.
unsafe fn token(known: &Known) -> Option<i64> {
    // SAFETY: a function without parameters; its result is dropped here.
    unsafe {
        let token = PyObject_CallNoArgs(known.token as Obj);
        if token.is_null() {
            PyErr_Clear();
            return None;
        }
        let value = PyLong_AsLongLong(token);
        Py_DECREF(token);
        if value < 0 {
            PyErr_Clear();
        }
        (value >= 0).then_some(value)
    }
}

/// Answers `isinstance` for a class whose metaclass is `ABCMeta` or derives from it: 1, 0, or -1
/// with an exception. `None` for other classes. `has_own_class` is true if `__class__` of the
/// object is its class.
pub(super) unsafe fn is_instance(
    object: Obj,
    class: Obj,
    has_own_class: impl FnOnce() -> bool,
) -> Option<c_int> {
    // SAFETY: the caller's: live objects.
    unsafe {
        let known = KNOWN.get()?.as_ref()?;
        let metaclass = Py_TYPE(class);
        let derives = metaclass as usize == known.metaclass
            || PyType_Check(class) != 0
                && PyType_IsSubtype(metaclass, known.metaclass as *mut PyTypeObject) != 0;
        if !derives || !has_own_class() {
            return None;
        }
        let is_changed =
            |(method, code): &(usize, usize)| code_of(*method as Obj) != Some(*code as Obj);
        if known.methods.iter().any(is_changed) {
            return None;
        }
        let own = Py_TYPE(object);
        let versions = [version(own), version(class.cast()), version(metaclass)];
        let mixed = (class as usize >> 4) ^ (own as usize >> 4).rotate_left(7);
        let place = &TABLE.0[mixed % ROWS];
        let row = place.get();
        let is_same = (row.own, row.class) == (own, class)
            && [row.own_version, row.class_version, row.metaclass_version] == versions
            && !versions.contains(&0);
        if is_same && row.token == FOR_EVER {
            return Some(row.answer.into());
        }
        let now = token(known)?;
        if is_same && row.token == now {
            return Some(row.answer.into());
        }
        let answer = PyObject_IsInstance(object, class);
        if answer < 0 || Py_TYPE(object) != own {
            return Some(answer);
        }
        // A check gives classes their versions.
        let versions = [version(own), version(class.cast()), version(metaclass)];
        let are_known = METHODS
            .iter()
            .zip(&known.methods)
            .all(|(name, (known, _))| method(metaclass, name) == Some(*known as Obj));
        if are_known && !versions.contains(&0) && token(known) == Some(now) {
            place.set(Row {
                own,
                own_version: versions[0],
                class,
                class_version: versions[1],
                metaclass_version: versions[2],
                token: if answer == 1 { FOR_EVER } else { now },
                answer: answer == 1,
            });
        }
        Some(answer)
    }
}
