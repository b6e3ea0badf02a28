//! Instances of user classes, allocated and deallocated without the interpreter's general
//! functions.
//!
//! `PyType_GenericAlloc` and `subtype_dealloc` work for every class: they look for slots,
//! finalisers, weak references and bases written in C each time, and allocate and free memory. A
//! [`Plan`] describes a class whose instances have none of these, so the checks are made once. For
//! example, of
//!
//! ```python
//! class Point:
//!     def __init__(self, x, y): self.x, self.y = x, y
//! ```
//!
//! an instance that compiled code deallocates drops two values and a reference to its class, and
//! its memory is kept for the next `Point`. A plan is valid for one version of its class:
//! `Point.__del__ = f` gives the class another one.
//!
//! Both leave the count of allocations that triggers a collection unchanged, since reused memory
//! adds nothing to it.
//!
//! Safety: all functions need the interpreter's lock, and live objects where they take some.

use super::tracking::{track, untrack};
use crate::abi::{self, counts, dict_values as values, object, type_};
use crate::capi::{self, Obj, field, set_field};
use crate::hashing;
use pyo3_ffi::*;
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::ptr;

/// Maximum classes that are known at one time.
const CLASSES: usize = 256;
/// Maximum blocks of memory that are kept for one class.
const MOST_SPARE: usize = 24;
/// Maximum nesting of deallocations before the interpreter takes over, which defers those that nest
/// too deeply.
const MOST_NESTED: u32 = 24;

/// The largest size without values, in bytes: memory for larger ones is not kept.
const LARGEST: Py_ssize_t = 512;

/// The layout of a class's instances.
#[derive(Clone, Copy)]
struct Plan {
    /// Bytes before the object.
    before: i32,
    /// The end of its slots, which start behind the object's head.
    slots_end: i32,
    /// True if it has inline values, behind its slots.
    has_values: bool,
    /// True if it has the word for weak references before it.
    has_weak: bool,
}

/// A class, and the memory of instances that were deallocated.
struct Known {
    class: *mut PyTypeObject,
    version: u32,
    /// `None` if the interpreter's functions must do the work.
    plan: Option<Plan>,
    spare: [Obj; MOST_SPARE],
    count: usize,
}

struct Table {
    rows: UnsafeCell<[Known; CLASSES]>,
    nested: Cell<u32>,
    /// The `tp_dealloc` of all classes that a `class` statement creates without a base that has one
    /// of its own.
    dealloc: Cell<Option<destructor>>,
}

// SAFETY: used with the interpreter's lock only.
unsafe impl Sync for Table {}

const EMPTY: Known = Known {
    class: ptr::null_mut(),
    version: 0,
    plan: None,
    spare: [ptr::null_mut(); MOST_SPARE],
    count: 0,
};

static TABLE: Table = Table {
    rows: UnsafeCell::new([EMPTY; CLASSES]),
    nested: Cell::new(0),
    dealloc: Cell::new(None),
};

/// Finds the function that deallocates instances of most classes, by means of a class created for
/// this. Without it there are no plans.
///
/// # Safety
/// The GIL is held, and no exception is set.
pub unsafe fn find() {
    // SAFETY: this thread has the lock; the class is dropped once.
    unsafe {
        let metaclass: Obj = (&raw mut PyType_Type).cast();
        let class = PyObject_CallFunction(metaclass, c"s(){}".as_ptr(), c"instance".as_ptr());
        if class.is_null() {
            return PyErr_Clear();
        }
        // If the collector counts its objects itself, kept memory would have to be counted too.
        if !abi::COLLECTOR_COUNTS {
            TABLE
                .dealloc
                .set((*class.cast::<PyTypeObject>()).tp_dealloc);
        }
        Py_DECREF(class);
    }
}

/// The row of a class, up to date; null if the class has no version.
#[inline]
unsafe fn row(class: *mut PyTypeObject) -> *mut Known {
    // SAFETY: this thread has the lock; the class is alive.
    unsafe {
        let index = hashing::row::<CLASSES>(class as u64 >> 4);
        let row = (*TABLE.rows.get()).as_mut_ptr().add(index);
        let version: u32 = field(class, type_::VERSION_TAG);
        if version == 0 {
            return ptr::null_mut();
        }
        if (*row).class != class || (*row).version != version {
            forget(row);
            (*row).class = class;
            (*row).version = version;
            (*row).plan = plan(class);
        }
        row
    }
}

/// Frees the memory that is kept for a class, which may be deallocated already.
#[cold]
unsafe fn forget(row: *mut Known) {
    // SAFETY: the memory comes from objects of the row's plan, with that number of bytes before
    // them.
    unsafe {
        let Some(plan) = (*row).plan else { return };
        while (*row).count > 0 {
            (*row).count -= 1;
            let memory = (*row).spare[(*row).count].cast::<u8>();
            PyObject_Free(memory.offset(-plan.before as isize).cast());
        }
    }
}

/// The plan for instances of a class, if one plan fits all of them.
#[cold]
unsafe fn plan(class: *mut PyTypeObject) -> Option<Plan> {
    const MANAGED: u64 = (type_::FLAG_INLINE_VALUES | type_::FLAG_MANAGED_DICT) as u64;
    // SAFETY: a live class.
    unsafe {
        let dealloc = TABLE.dealloc.get()?;
        let flags: u64 = field(class, type_::FLAGS);
        let is_generic = |class: *mut PyTypeObject| {
            let flags: u64 = field(class, type_::FLAGS);
            flags & type_::FLAG_HEAPTYPE as u64 != 0
                && (*class)
                    .tp_dealloc
                    .is_some_and(|own| ptr::fn_addr_eq(own, dealloc))
                && (*class).tp_itemsize == 0
                && (*class).tp_del.is_none()
        };
        let mut base = class;
        while base != &raw mut PyBaseObject_Type {
            // The slots of a class with only bases like this one are objects.
            if base.is_null() || !is_generic(base) {
                return None;
            }
            base = (*base).tp_base;
        }
        let frees = (*class)
            .tp_free
            .is_some_and(|f| ptr::fn_addr_eq(f, PyObject_GC_Del as freefunc));
        let allocates = (*class)
            .tp_alloc
            .is_some_and(|f| ptr::fn_addr_eq(f, PyType_GenericAlloc as allocfunc));
        let has_values = flags & MANAGED == MANAGED;
        if !frees
            || !allocates
            || PyType_IS_GC(class) == 0
            || (*class).tp_finalize.is_some()
            || (*class).tp_basicsize > LARGEST
            || PyType_HasFeature(class, Py_TPFLAGS_IS_ABSTRACT) != 0
            || (flags & MANAGED != 0) != has_values
        {
            return None;
        }
        let has_weak = PyType_HasFeature(class, Py_TPFLAGS_MANAGED_WEAKREF) != 0;
        let (weak, dict) = ((*class).tp_weaklistoffset, (*class).tp_dictoffset);
        // If one of these is among the slots, it is not an object that is simply dropped.
        if weak > 0 || dict > 0 {
            return None;
        }
        Some(Plan {
            before: match has_values || has_weak {
                true => -object::MANAGED_WEAKREF,
                false => object::GC_HEAD,
            },
            slots_end: (*class).tp_basicsize as i32,
            has_values,
            has_weak,
        })
    }
}

/// A new instance of a class without attributes, as `object.__new__` creates it; `None` if there is
/// no plan for the class. Null, with an exception, if there is no memory.
///
/// # Safety
/// The GIL is held; a live class whose `__new__` is that of `object`.
pub unsafe fn allocate(class: *mut PyTypeObject) -> Option<Obj> {
    // SAFETY: the kept memory comes from an object of this class, with null in its slots and
    // values.
    unsafe {
        let row = row(class);
        let plan = row.as_ref()?.plan?;
        if (*row).count == 0 {
            return Some(PyType_GenericAlloc(class, 0));
        }
        (*row).count -= 1;
        let made = (*row).spare[(*row).count];
        counts::set_first(made);
        Py_INCREF(class.cast());
        if plan.has_values {
            let own = made.cast::<u8>().offset(plan.slots_end as isize);
            set_field::<u8>(own, values::USED, 0);
            set_field::<u8>(own, values::VALID, 1);
        }
        track(made);
        Some(made)
    }
}

/// Deallocates an object that has no reference any more: replaces `_Py_Dealloc`.
///
/// # Safety
/// The GIL is held; the object has no reference any more, and nothing else uses it.
pub unsafe extern "C" fn dealloc(dead: Obj) {
    // SAFETY: this thread has the lock; there is no other reference to the object.
    unsafe {
        let class = Py_TYPE(dead);
        let generic = TABLE.dealloc.get();
        let is_generic = match ((*class).tp_dealloc, generic) {
            (Some(own), Some(generic)) => ptr::fn_addr_eq(own, generic),
            _ => false,
        };
        let nested = TABLE.nested.get();
        if !is_generic || nested >= MOST_NESTED {
            return capi::_Py_Dealloc(dead);
        }
        let row = row(class);
        let plan = if row.is_null() { None } else { (*row).plan };
        match plan {
            Some(plan) if is_plain(dead, plan) => {
                TABLE.nested.set(nested + 1);
                end(dead, class, plan);
                TABLE.nested.set(nested);
            }
            _ => capi::_Py_Dealloc(dead),
        }
    }
}

/// True if an instance has neither a dict of its own nor weak references.
#[inline]
unsafe fn is_plain(dead: Obj, plan: Plan) -> bool {
    // SAFETY: the caller's: an instance of the plan's class.
    unsafe {
        let is_null = |place| field::<Obj>(dead, place).is_null();
        (!plan.has_weak || is_null(object::MANAGED_WEAKREF))
            && (!plan.has_values
                || is_null(object::MANAGED_DICT)
                    && field::<u8>(dead, plan.slots_end + values::VALID) != 0)
    }
}

/// Drops an instance's values, and keeps its memory.
unsafe fn end(dead: Obj, class: *mut PyTypeObject, plan: Plan) {
    // SAFETY: the caller's: an instance of the plan's class, for which `is_plain` is true. Dropping
    // its values may run arbitrary user code, which cannot reach it: the collector does not track
    // it any more.
    unsafe {
        untrack(dead);
        let mut place = size_of::<PyObject>() as i32;
        while place < plan.slots_end {
            drop_at(dead, place);
            place += 8;
        }
        if plan.has_values {
            let own = plan.slots_end;
            let capacity: u8 = field(dead, own + values::CAPACITY);
            set_field::<u8>(dead, own + values::VALID, 0);
            for index in 0..i32::from(capacity) {
                drop_at(dead, own + values::VALUES + 8 * index);
            }
        }
        // The class may have changed meanwhile, and its row may belong to another class.
        let row = row(class);
        if !row.is_null() && (*row).plan.is_some() && (*row).count < MOST_SPARE {
            // Not tracked by the collector, and with none of its flags.
            set_field::<[usize; 2]>(dead, -object::GC_HEAD, [0, 0]);
            (*row).spare[(*row).count] = dead;
            (*row).count += 1;
        } else {
            PyObject_GC_Del(dead.cast::<c_void>());
        }
        Py_DECREF(class.cast());
    }
}

/// Drops the object at a place of another one, and leaves null there.
#[inline]
unsafe fn drop_at(dead: Obj, place: i32) {
    // SAFETY: the caller's: there is null or an object.
    unsafe {
        let value: Obj = field(dead, place);
        if value.is_null() {
            return;
        }
        set_field::<Obj>(dead, place, ptr::null_mut());
        drop_one(value);
    }
}

/// Drops a reference.
///
/// # Safety
/// The GIL is held; a live object, and the reference is the caller's.
#[inline]
pub unsafe fn drop_one(value: Obj) {
    // SAFETY: the caller's reference.
    unsafe {
        if counts::drop_is_last(value) {
            dealloc(value);
        }
    }
}
