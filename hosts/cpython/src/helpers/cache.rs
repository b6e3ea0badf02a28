//! A cache for attributes of instances on whose class compiled code does not speculate. It maps the
//! version of the class and the name to the place of the attribute.
//!
//! A row is valid as long as its version: CPython gives a class a new version whenever the class or
//! one of its bases changes, and never uses a version twice. A method in a row is borrowed from its
//! class for that time.
//!
//! Safety: the contract of [`super`].

use crate::abi;
use crate::capi::{Obj, field};
use crate::hashing;
use crate::objects::instances::drop_one;
use crate::world::classes::{
    Descriptor, Storage, changeable_kind, descriptor, is_versioned, storage,
};
use pyo3_ffi::*;
use std::cell::UnsafeCell;
use std::ptr;

const ROWS: usize = 2048;

/// The condition under which an instance does not hide a method of its class: it has no attribute
/// of this name itself. After `p.area = f`, `p.area()` must not call `Point.area`.
#[derive(Clone, Copy)]
enum Lacks {
    /// Always true: instances have no attributes of their own.
    Nothing,
    /// The pointer at this offset (its dictionary) is null.
    Null(i64),
    /// Its values are in use (the byte at the first offset), and the value at the second offset is
    /// null.
    Value(i64, i64),
    /// Its values are in use, and its class's keys have the same number of entries as before, none
    /// of which is the name.
    Keys(i64, *const u8, i64),
}

#[derive(Clone, Copy)]
enum Place {
    /// The interpreter looks the attribute up.
    General,
    /// A slot at this offset.
    Slot(i64),
    /// A value at the second offset, if the byte at the first says that values are in use.
    Value(i64, i64),
    /// A method of the class.
    Method(Obj, Lacks),
}

#[derive(Clone, Copy)]
struct Row {
    version: u32,
    /// Owned.
    name: Obj,
    place: Place,
}

struct Table(UnsafeCell<[Row; ROWS]>);

// SAFETY: used with the interpreter's lock only.
unsafe impl Sync for Table {}

const EMPTY: Row = Row {
    version: 0,
    name: ptr::null_mut(),
    place: Place::General,
};
static LOADS: Table = Table(UnsafeCell::new([EMPTY; ROWS]));
static STORES: Table = Table(UnsafeCell::new([EMPTY; ROWS]));

/// The first of the two neighbouring rows that may have a pair. The versions of a program's classes
/// are close to each other, and so are the addresses of its names. So both are mixed (Fibonacci
/// hashing): without it, half a million lookups a second collided in pyparsing.
fn first_row(version: u32, name: Obj) -> usize {
    hashing::row::<ROWS>(hashing::mix(version.into()) ^ (name as u64 >> 4))
}

impl Table {
    /// The place of `name` in instances of `class`; `find` computes it where the table does not
    /// have it. The next lookup may replace the row.
    unsafe fn place(
        &self,
        class: *mut PyTypeObject,
        name: Obj,
        find: unsafe fn(*mut PyTypeObject, Obj) -> Place,
    ) -> &Place {
        // SAFETY: the caller's: a live class and name, with the lock held. The reference to a row
        // is created last, when no more code runs here, and the caller copies the row's contents
        // before other code runs.
        unsafe {
            let rows = (*self.0.get()).as_mut_ptr();
            let version: u32 = field(class, abi::type_::VERSION_TAG);
            let first = first_row(version, name);
            for index in [first, first ^ 1] {
                let row = rows.add(index);
                if version != 0 && (*row).version == version && (*row).name == name {
                    return &(*row).place;
                }
            }
            // A lookup may give the class its first version.
            let place = find(class, name);
            let version: u32 = field(class, abi::type_::VERSION_TAG);
            if version == 0 {
                return &Place::General;
            }
            let row = rows.add(first_row(version, name));
            let new = Row {
                version,
                name: Py_NewRef(name),
                place,
            };
            // The latest pair goes into the first row. The pair that was there moves to the second
            // row, which a lookup searches next.
            let older = ptr::replace(row, new);
            let dropped = ptr::replace(rows.add(first_row(version, name) ^ 1), older);
            Py_XDECREF(dropped.name);
            &(*row).place
        }
    }
}

/// An attribute, if the cache knows where it is; null without an exception otherwise.
pub(super) unsafe fn load(object: Obj, name: Obj) -> Obj {
    // SAFETY: the caller's: live objects. A row of the class's version gives the place of the value
    // in its instances.
    unsafe {
        let value: Obj = match *LOADS.place(Py_TYPE(object), name, find_load) {
            Place::Slot(offset) => field(object, offset as i32),
            Place::Value(valid, place) if field::<u8>(object, valid as i32) != 0 => {
                field(object, place as i32)
            }
            _ => ptr::null_mut(),
        };
        Py_XINCREF(value);
        value
    }
}

/// A method of the object's class, borrowed, if the cache knows that the object has no attribute of
/// this name itself.
pub(super) unsafe fn method(object: Obj, name: Obj) -> Obj {
    // SAFETY: the caller's: live objects. A row of the class's version gives the place of the value
    // in its instances, and is valid only while the class has the method.
    unsafe {
        let Place::Method(function, lacks) = *LOADS.place(Py_TYPE(object), name, find_load) else {
            return ptr::null_mut();
        };
        let holds = match lacks {
            Lacks::Nothing => true,
            Lacks::Null(offset) => field::<Obj>(object, offset as i32).is_null(),
            Lacks::Value(valid, place) => {
                field::<u8>(object, valid as i32) != 0
                    && field::<Obj>(object, place as i32).is_null()
            }
            Lacks::Keys(valid, keys, count) => {
                field::<u8>(object, valid as i32) != 0
                    && field::<i64>(keys, abi::dict_keys::NENTRIES) == count
            }
        };
        if holds { function } else { ptr::null_mut() }
    }
}

/// A method of the object's class, borrowed, if the cache knows it. An attribute of the object
/// itself does not count.
pub(super) unsafe fn class_method(object: Obj, name: Obj) -> Obj {
    // SAFETY: the caller's: live objects. A row of the class's version is valid only while the
    // class has the method.
    unsafe {
        match *LOADS.place(Py_TYPE(object), name, find_load) {
            Place::Method(function, _) => function,
            _ => ptr::null_mut(),
        }
    }
}

/// Replace an attribute that is there already, if the cache knows where; false if nothing was done.
pub(super) unsafe fn store(object: Obj, name: Obj, value: Obj) -> bool {
    // SAFETY: the caller's: live objects. A row of the class's version gives the place of the value
    // in its instances. The old value is dropped after the new one is in its place.
    unsafe {
        let offset = match *STORES.place(Py_TYPE(object), name, find_store) {
            Place::Slot(offset) => offset,
            Place::Value(valid, place)
                if field::<u8>(object, valid as i32) != 0
                    && field::<Obj>(object, abi::object::MANAGED_DICT).is_null() =>
            {
                place
            }
            _ => return false,
        };
        let place = object.cast::<u8>().offset(offset as isize).cast::<Obj>();
        let old = *place;
        if old.is_null() {
            return false;
        }
        *place = Py_NewRef(value);
        drop_one(old);
        true
    }
}

unsafe fn find_load(class: *mut PyTypeObject, name: Obj) -> Place {
    // SAFETY: the caller's: a live class and name.
    unsafe {
        let generic = (*class)
            .tp_getattro
            .is_some_and(|f| ptr::fn_addr_eq(f, PyObject_GenericGetAttr as getattrofunc));
        if !generic || PyUnicode_CheckExact(name) == 0 || !is_versioned(class) {
            return Place::General;
        }
        match descriptor(class, name) {
            Descriptor::Slot { offset, .. } => Place::Slot(offset),
            Descriptor::Absent => match storage(class) {
                Storage::Inline(values) => values.index_of(name).map_or(Place::General, |i| {
                    Place::Value(values.valid(), values.place(i))
                }),
                _ => Place::General,
            },
            Descriptor::Method(function) => match storage(class) {
                Storage::None => Place::Method(function, Lacks::Nothing),
                Storage::Dict(offset) => Place::Method(function, Lacks::Null(offset)),
                Storage::Inline(values) => {
                    let lacks = match values.index_of(name) {
                        Some(i) => Lacks::Value(values.valid(), values.place(i)),
                        None => {
                            Lacks::Keys(values.valid(), values.keys() as *const u8, values.count())
                        }
                    };
                    Place::Method(function, lacks)
                }
                Storage::Other => Place::General,
            },
            _ => Place::General,
        }
    }
}

unsafe fn find_store(class: *mut PyTypeObject, name: Obj) -> Place {
    // SAFETY: the caller's: a live class and name.
    unsafe {
        let generic = (*class)
            .tp_setattro
            .is_some_and(|f| ptr::fn_addr_eq(f, PyObject_GenericSetAttr as setattrofunc));
        if !generic || PyUnicode_CheckExact(name) == 0 || !is_versioned(class) {
            return Place::General;
        }
        match descriptor(class, name) {
            _ if changeable_kind(class, name).is_some() => Place::General,
            Descriptor::Slot {
                offset,
                writable: true,
            } => Place::Slot(offset),
            Descriptor::Absent
            | Descriptor::Method(_)
            | Descriptor::Plain(_)
            | Descriptor::NonData
            | Descriptor::Computed { is_data: false, .. }
            | Descriptor::ClassMethod(_) => match storage(class) {
                Storage::Inline(values) => values.index_of(name).map_or(Place::General, |i| {
                    Place::Value(values.valid(), values.place(i))
                }),
                _ => Place::General,
            },
            _ => Place::General,
        }
    }
}
