//! The attributes that a class gives its instances: descriptors, inline values, dictionaries.

use crate::abi;
use crate::capi::{_PyType_Lookup, Obj, PyUnstable_Type_AssignVersionTag, field, interned};
use crate::owned::Owned;
use pyo3_ffi::*;
use std::ffi::CStr;
use std::ptr;

/// The role of a class attribute in the lookup of an instance's attribute.
pub(crate) enum Descriptor {
    /// The class has no such attribute.
    Absent,
    /// A slot of objects.
    Slot {
        /// Bytes from the object.
        offset: i64,
        /// True if it may be stored to.
        writable: bool,
    },
    /// An item of the instance, which is a tuple: a field of a `namedtuple`.
    Item(i64),
    /// A data descriptor of another kind: it takes precedence over the instance.
    Data,
    /// A property whose getter is this Python function; it takes precedence over the instance.
    Property(Obj),
    /// An instance of a class with a `__get__` in Python.
    Computed {
        /// The descriptor.
        descriptor: Obj,
        /// The function `__get__`.
        get: Obj,
        /// True for a data descriptor, which takes precedence over the instance.
        is_data: bool,
    },
    /// A function or method descriptor, which binds the instance; the instance takes precedence.
    Method(Obj),
    /// A class method with this callable, which binds the class of the instance; the instance takes
    /// precedence.
    ClassMethod(Obj),
    /// The instance's class.
    Class,
    /// Any other value, which is returned unchanged; the instance takes precedence.
    Plain(Obj),
    /// A descriptor with a binding of its own; the instance takes precedence.
    NonData,
}

impl Descriptor {
    /// True if it takes precedence over the instance.
    pub(crate) fn goes_first(&self) -> bool {
        matches!(
            self,
            Descriptor::Slot { .. }
                | Descriptor::Item(_)
                | Descriptor::Data
                | Descriptor::Class
                | Descriptor::Property(_)
                | Descriptor::Computed { is_data: true, .. }
        )
    }
}

/// True if changes of the class are reported, or impossible.
pub(crate) unsafe fn is_versioned(class: *mut PyTypeObject) -> bool {
    // SAFETY: the caller's: a live class.
    unsafe { PyUnstable_Type_AssignVersionTag(class) != 0 }
}

/// True if the class and its bases can never change.
pub(crate) unsafe fn is_immutable(class: *mut PyTypeObject) -> bool {
    // SAFETY: the caller's: a live class. Bases of an immutable class are immutable.
    unsafe { PyType_HasFeature(class, Py_TPFLAGS_IMMUTABLETYPE) != 0 }
}

/// The attribute `name` of `class`, by its role in lookups on instances.
pub(crate) unsafe fn descriptor(class: *mut PyTypeObject, name: Obj) -> Descriptor {
    // SAFETY: the caller's: a live class and a str. The result of the lookup is borrowed from the
    // class.
    unsafe {
        let found = _PyType_Lookup(class, name);
        if found.is_null() {
            PyErr_Clear();
            return Descriptor::Absent;
        }
        descriptor_of(class, found)
    }
}

/// The class of the attribute `name` of `class`, if other code can still change it. With a method
/// `__get__` or `__set__` added to it, the attribute becomes another kind of descriptor, though
/// `class` itself stays as it is.
pub(crate) unsafe fn changeable_kind(
    class: *mut PyTypeObject,
    name: Obj,
) -> Option<*mut PyTypeObject> {
    // SAFETY: the caller's: a live class and a str.
    unsafe {
        let found = _PyType_Lookup(class, name);
        if found.is_null() {
            PyErr_Clear();
            return None;
        }
        let kind = Py_TYPE(found);
        (!is_immutable(kind)).then_some(kind)
    }
}

/// The role of an attribute that was found, in a lookup on an instance of `class`.
pub(crate) unsafe fn descriptor_of(class: *mut PyTypeObject, found: Obj) -> Descriptor {
    // SAFETY: the caller's: a live class and a value of it or of one of its bases.
    unsafe {
        let kind = Py_TYPE(found);
        if kind == &raw mut PyMemberDescr_Type {
            return member(class, found).unwrap_or(Descriptor::Data);
        }
        if kind == &raw mut PyProperty_Type {
            let getter = property_function(found, c"fget");
            return getter.map_or(Descriptor::Data, Descriptor::Property);
        }
        let is_data = (*kind).tp_descr_set.is_some();
        if (*kind).tp_descr_get.is_some()
            && let Some(get) = python_method(kind, interned!("__get__"))
        {
            return Descriptor::Computed {
                descriptor: found,
                get,
                is_data,
            };
        }
        if is_data {
            if kind == &raw mut PyGetSetDescr_Type && found == own_class() {
                return Descriptor::Class;
            }
            let is_tuple = PyType_IsSubtype(class, &raw mut PyTuple_Type) != 0;
            return match item_getter(found).filter(|_| is_tuple) {
                Some(index) => Descriptor::Item(index),
                None => Descriptor::Data,
            };
        }
        if PyType_HasFeature(kind, Py_TPFLAGS_METHOD_DESCRIPTOR) != 0 {
            return Descriptor::Method(found);
        }
        match (*kind).tp_descr_get {
            None => Descriptor::Plain(found),
            Some(_) if kind == &raw mut PyStaticMethod_Type => {
                Descriptor::Plain(wrapped_callable(found))
            }
            Some(_) if kind == &raw mut PyClassMethod_Type => {
                Descriptor::ClassMethod(wrapped_callable(found))
            }
            Some(_) => Descriptor::NonData,
        }
    }
}

/// The Python function that a class has as a special method, borrowed.
///
/// # Safety
/// A live class, and a str or null; the lock is held.
pub(super) unsafe fn python_method(class: *mut PyTypeObject, name: Obj) -> Option<Obj> {
    // SAFETY: the caller's.
    unsafe {
        let found = match name.is_null() {
            true => ptr::null_mut(),
            false => _PyType_Lookup(class, name),
        };
        if found.is_null() {
            PyErr_Clear();
            return None;
        }
        (Py_TYPE(found) == &raw mut PyFunction_Type).then_some(found)
    }
}

/// How the attributes of a class's instances are looked up.
pub(super) enum Lookup {
    /// As those of `object`.
    Generic,
    /// In the same way; if that finds nothing, the class's `__getattr__` is called, which is this
    /// Python function.
    WithFallback(Obj),
}

impl Lookup {
    /// The lookup of a class; `None` for a class with its own `__getattribute__`.
    ///
    /// # Safety
    /// A live class; the lock is held.
    pub(super) unsafe fn of(class: *mut PyTypeObject) -> Option<Lookup> {
        // SAFETY: the caller's. A class with a lookup in C has a `__getattribute__` for it, or has
        // no function as `__getattr__`.
        unsafe {
            let generic = PyObject_GenericGetAttr as getattrofunc;
            if (*class)
                .tp_getattro
                .is_some_and(|f| ptr::fn_addr_eq(f, generic))
            {
                return Some(Lookup::Generic);
            }
            let name = interned!("__getattribute__");
            let fallback = python_method(class, interned!("__getattr__"))?;
            if name.is_null() {
                PyErr_Clear();
                return None;
            }
            let own = _PyType_Lookup(class, name);
            let usual = _PyType_Lookup(&raw mut PyBaseObject_Type, name);
            (!own.is_null() && own == usual).then_some(Lookup::WithFallback(fallback))
        }
    }
}

/// The attribute `__class__` of `object`, borrowed.
unsafe fn own_class() -> Obj {
    // SAFETY: the caller's: this thread has the lock. `object` is never changed.
    unsafe {
        // The name is cached: this may be called when there is no memory for another one.
        let name = interned!("__class__");
        if name.is_null() {
            PyErr_Clear();
            return ptr::null_mut();
        }
        let dict = PyType_GetDict(&raw mut PyBaseObject_Type);
        let found = PyDict_GetItemWithError(dict, name);
        Py_DECREF(dict);
        found
    }
}

/// The index of the tuple item that a descriptor of `collections` returns, if it is one of these.
/// No program can create or change that class; the index from `__reduce__` must equal the one in
/// the descriptor's memory.
unsafe fn item_getter(found: Obj) -> Option<i64> {
    // SAFETY: the caller's: a live object; the type of `__reduce__`'s result is checked before it
    // is read.
    unsafe {
        let kind = Py_TYPE(found);
        let is_getter = PyType_HasFeature(kind, Py_TPFLAGS_IMMUTABLETYPE) != 0
            && CStr::from_ptr((*kind).tp_name) == c"collections._tuplegetter"
            && (*kind).tp_basicsize == abi::tuple_getter::SIZE as Py_ssize_t;
        if !is_getter {
            return None;
        }
        let index: Py_ssize_t = field(found, abi::tuple_getter::INDEX);
        let parts = Owned::take(PyObject_CallMethod(
            found,
            c"__reduce__".as_ptr(),
            ptr::null(),
        ))?;
        let made_of = Owned::take(PySequence_GetItem(parts.as_ptr(), 1))?;
        let first = Owned::take(PySequence_GetItem(made_of.as_ptr(), 0))?;
        let said = PyLong_AsSsize_t(first.as_ptr());
        PyErr_Clear();
        (said == index && index >= 0).then_some(index as i64)
    }
}

/// The Python function that stores attribute `name` of instances of `class`, borrowed from the
/// class: the setter of a property, or the `__set__` of a descriptor, which is its first argument.
pub(crate) unsafe fn setter(class: *mut PyTypeObject, name: Obj) -> Option<(Obj, Option<Obj>)> {
    // SAFETY: the caller's: a live class and a str. The result of the lookup is borrowed from the
    // class.
    unsafe {
        let found = _PyType_Lookup(class, name);
        if found.is_null() {
            PyErr_Clear();
            return None;
        }
        let kind = Py_TYPE(found);
        if kind == &raw mut PyProperty_Type {
            return property_function(found, c"fset").map(|function| (function, None));
        }
        (*kind).tp_descr_set?;
        let set = python_method(kind, interned!("__set__"))?;
        Some((set, Some(found)))
    }
}

/// The Python function that a property has as `fget` or `fset`, borrowed.
unsafe fn property_function(property: Obj, role: &CStr) -> Option<Obj> {
    // SAFETY: the caller's: a live property, which owns its functions.
    unsafe {
        let function = PyObject_GetAttrString(property, role.as_ptr());
        if function.is_null() {
            PyErr_Clear();
            return None;
        }
        Py_DECREF(function);
        (Py_TYPE(function) == &raw mut PyFunction_Type).then_some(function)
    }
}

/// The callable of a `staticmethod` or a `classmethod`, borrowed.
pub(crate) unsafe fn wrapped_callable(method: Obj) -> Obj {
    // SAFETY: the caller's: one of these two, whose callable follows the object's head.
    unsafe { field(method, abi::object::VAR_SIZE) }
}

unsafe fn member(class: *mut PyTypeObject, found: Obj) -> Option<Descriptor> {
    // SAFETY: `found` is a member descriptor.
    unsafe {
        let def = plain_member(class, found)?;
        (def.type_code == Py_T_OBJECT_EX).then_some(Descriptor::Slot {
            offset: def.offset as i64,
            writable: def.flags & Py_READONLY == 0,
        })
    }
}

/// The definition of a member that lies at a fixed offset in instances of a class.
///
/// # Safety
/// A live class, and a member descriptor, which keeps its definition alive.
pub(super) unsafe fn plain_member<'a>(
    class: *mut PyTypeObject,
    found: Obj,
) -> Option<&'a PyMemberDef> {
    // SAFETY: the caller's.
    unsafe {
        let owner: *mut PyTypeObject = field(found, abi::descr::TYPE);
        let def: *const PyMemberDef = field(found, abi::descr::MEMBER);
        let fits = (*def).flags & !Py_READONLY == 0
            && (*def).offset > 0
            && PyType_IsSubtype(class, owner) != 0;
        fits.then(|| &*def)
    }
}

/// True if an object has a value in the member `name` of `class`, a builtin class.
///
/// # Safety
/// A live instance of the class, and a str.
pub(crate) unsafe fn has_member(object: Obj, class: *mut PyTypeObject, name: Obj) -> bool {
    // SAFETY: the caller's. The class keeps its member descriptors alive.
    unsafe {
        let found = _PyType_Lookup(class, name);
        if found.is_null() || Py_TYPE(found) != &raw mut PyMemberDescr_Type {
            return false;
        }
        let def = plain_member(class, found);
        def.is_some_and(|def| !field::<Obj>(object, def.offset as i32).is_null())
    }
}

/// The storage of attributes that are not in slots.
pub(crate) enum Storage {
    /// None: the instances have no dictionary.
    None,
    /// In values directly behind the object, named by keys that the class's instances share.
    Inline(InlineValues),
    /// In a dictionary, with a pointer at this offset (null until it is needed).
    Dict(i64),
    /// In a form that plans do not support.
    Other,
}

/// The inline values of a class's instances.
#[derive(Clone, Copy)]
pub(crate) struct InlineValues {
    /// Bytes from the object to the values' header.
    pub(crate) offset: i64,
    /// The shared keys.
    keys: *const u8,
}

/// The storage of a class's instances.
pub(crate) unsafe fn storage(class: *mut PyTypeObject) -> Storage {
    // SAFETY: the caller's: a live class.
    unsafe {
        let flags: u64 = field(class, abi::type_::FLAGS);
        let dict_offset: isize = field(class, abi::type_::DICTOFFSET);
        if flags & abi::type_::FLAG_INLINE_VALUES as u64 != 0 {
            let keys: *const u8 = field(class, abi::type_::CACHED_KEYS);
            let basicsize: isize = field(class, abi::type_::BASICSIZE);
            if keys.is_null() {
                return Storage::Other;
            }
            return Storage::Inline(InlineValues {
                offset: basicsize as i64,
                keys,
            });
        }
        match dict_offset {
            _ if flags & abi::type_::FLAG_MANAGED_DICT as u64 != 0 => {
                Storage::Dict(i64::from(abi::object::MANAGED_DICT))
            }
            0 => Storage::None,
            offset if offset > 0 => Storage::Dict(offset as i64),
            _ => Storage::Other,
        }
    }
}

impl InlineValues {
    /// The index of a name among the values, if some instance has had it. Indexes never change.
    pub(crate) unsafe fn index_of(self, name: Obj) -> Option<i64> {
        // SAFETY: the keys live as long as their class; entries of a table of strings are pairs of
        // key and value.
        unsafe {
            let log2_index_bytes: u8 = field(self.keys, abi::dict_keys::LOG2_INDEX_BYTES);
            let entries = self
                .keys
                .offset(abi::dict_keys::INDICES as isize)
                .add(1 << log2_index_bytes);
            (0..self.count()).find(|&i| {
                let key: Obj = field(entries, i as i32 * abi::dict_keys::UNICODE_ENTRY_SIZE);
                !key.is_null() && (key == name || PyUnicode_Compare(key, name) == 0)
            })
        }
    }

    /// Number of names.
    pub(crate) unsafe fn count(self) -> i64 {
        // SAFETY: as above.
        unsafe { field(self.keys, abi::dict_keys::NENTRIES) }
    }

    /// The address of the keys.
    pub(crate) fn keys(self) -> i64 {
        self.keys as i64
    }

    /// Bytes from the object to the byte that is set while the values are in use.
    pub(crate) fn valid(self) -> i64 {
        self.offset + i64::from(abi::dict_values::VALID)
    }

    /// Bytes from the object to a value.
    pub(crate) fn place(self, index: i64) -> i64 {
        self.offset + i64::from(abi::dict_values::VALUES) + 8 * index
    }
}
