//! Making instances of classes of the program without a call of the class: `object.__new__` is an allocation, and `__init__` is
//! entered as any known function is.
//!
//! To compiled code a constructor looks like the entry of a function that takes what `__init__` takes but the instance. There
//! is one for each number of arguments; which `__init__` is meant it finds by the class's version, which changes whenever
//! that may be another.

use crate::abi::{thread as t, type_};
use crate::capi::{self, Obj, Thread, field, set_field};
use pyo3_ffi::*;
use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::ptr;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The `__init__` of the classes of one version.
#[derive(Clone, Copy)]
struct Row {
    version: u32,
    /// Borrowed from the class, which has it as long as it has the version.
    init: Obj,
    /// The cell with the address of its entry.
    cell: *const u64,
}

// SAFETY: used with the interpreter's lock only.
unsafe impl Send for Row {}

const ROWS: usize = 1024;

/// The rows that were used last, each at its version's place.
struct Table(UnsafeCell<[Row; ROWS]>);

// SAFETY: used with the interpreter's lock only.
unsafe impl Sync for Table {}

static TABLE: Table = Table(UnsafeCell::new(
    [Row {
        version: 0,
        init: ptr::null_mut(),
        cell: ptr::null(),
    }; ROWS],
));

/// All rows, by version.
static ROWS_BY_VERSION: LazyLock<Mutex<HashMap<u32, Row>>> = LazyLock::new(Mutex::default);

/// The function that makes instances of `class`, if making one is an allocation and a call of that.
///
/// # Safety
/// A live class of the class `type`, with the interpreter's lock.
pub(crate) unsafe fn initialiser(class: *mut PyTypeObject) -> Option<Obj> {
    // SAFETY: the caller's; what is found in a class is borrowed from it.
    unsafe {
        let is_allocation = (*class).tp_new.map(|new| new as usize)
            == PyBaseObject_Type.tp_new.map(|new| new as usize)
            && (*class)
                .tp_alloc
                .is_some_and(|alloc| ptr::fn_addr_eq(alloc, PyType_GenericAlloc as allocfunc))
            && PyType_HasFeature(class, Py_TPFLAGS_HEAPTYPE) != 0
            && PyType_HasFeature(class, Py_TPFLAGS_IS_ABSTRACT) == 0;
        if !is_allocation {
            return None;
        }
        let name = PyUnicode_InternFromString(c"__init__".as_ptr());
        if name.is_null() {
            PyErr_Clear();
            return None;
        }
        let init = capi::_PyType_Lookup(class, name);
        Py_DECREF(name);
        (!init.is_null() && Py_TYPE(init) == &raw mut PyFunction_Type).then_some(init)
    }
}

/// The cell with the address of the constructor of `class`, which takes `arguments`; none if they are too many. `cell` is
/// that of its initialiser.
///
/// # Safety
/// As for [`initialiser`], which has given `init`; the cell outlives every unit that relies on that function.
pub(crate) unsafe fn cell(
    class: *mut PyTypeObject,
    init: Obj,
    cell: u64,
    arguments: usize,
) -> Option<u64> {
    // SAFETY: the caller's.
    let version: u32 = unsafe { field(class, type_::VERSION_TAG) };
    let constructor = CELLS.get(arguments).filter(|_| version != 0)?;
    let row = Row {
        version,
        init,
        cell: cell as *const u64,
    };
    let mut rows = ROWS_BY_VERSION
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    rows.insert(version, row);
    // SAFETY: the caller's; nobody else has the table.
    unsafe { (*TABLE.0.get())[version as usize % ROWS] = row };
    Some(std::ptr::from_ref(constructor) as u64)
}

/// The row of a class.
unsafe fn row(class: Obj) -> Option<Row> {
    // SAFETY: the caller's: a live class, with the lock.
    unsafe {
        let version: u32 = field(class, type_::VERSION_TAG);
        let place = (*TABLE.0.get()).as_mut_ptr().add(version as usize % ROWS);
        if (*place).version == version && version != 0 {
            return Some(*place);
        }
        let rows = ROWS_BY_VERSION
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let found = *rows.get(&version)?;
        *place = found;
        Some(found)
    }
}

/// A new instance that has not been initialised; null with an exception.
#[inline]
unsafe fn allocate(class: Obj) -> Obj {
    // SAFETY: the caller's: a live class whose instances are allocated so.
    unsafe { PyType_GenericAlloc(class.cast(), 0) }
}

/// What a constructor gives: the instance, which is taken over, if its initialiser gave None; else null with an exception.
#[inline]
unsafe fn finish(instance: Obj, result: Obj) -> Obj {
    // SAFETY: the caller's: owned references, the result null where it raised.
    unsafe {
        if result == Py_None() {
            return instance;
        }
        if !result.is_null() {
            PyErr_Format(
                PyExc_TypeError,
                c"__init__() should return None, not '%.200s'".as_ptr(),
                (*Py_TYPE(result)).tp_name,
            );
            Py_DECREF(result);
        }
        Py_DECREF(instance);
        ptr::null_mut()
    }
}

/// Count the frame that the interpreter has between the caller's and the initialiser's.
#[inline]
unsafe fn deepen(ts: Thread, by: i32) {
    // SAFETY: the caller's: the current thread.
    unsafe {
        let left: i32 = field(ts, t::PY_RECURSION_REMAINING);
        set_field(ts, t::PY_RECURSION_REMAINING, left - by);
    }
}

/// Call the class in the interpreter's way; the arguments are taken over.
unsafe fn call_class(class: Obj, args: &[Obj]) -> Obj {
    // SAFETY: the caller's: a live class, owned arguments.
    unsafe {
        let result = PyObject_Vectorcall(class, args.as_ptr(), args.len(), ptr::null_mut());
        for &arg in args {
            Py_DECREF(arg);
        }
        result
    }
}

macro_rules! constructors {
    ($($name:ident($($arg:ident),*);)*) => {
        $(
            unsafe extern "C" fn $name(ts: Thread, class: Obj $(, $arg: Obj)*) -> Obj {
                type Entry = unsafe extern "C" fn(Thread, Obj, Obj $(, constructors!(@object $arg))*) -> Obj;
                // SAFETY: a native call's promises: the class is alive, the arguments are owned; a row's cell holds an entry
                // with the initialiser's arity, and both last as long as the version.
                unsafe {
                    let Some(Row { init, cell, .. }) = row(class) else {
                        return call_class(class, &[$($arg),*]);
                    };
                    let instance = allocate(class);
                    if instance.is_null() {
                        $(Py_DECREF($arg);)*
                        return instance;
                    }
                    let entry: Entry = std::mem::transmute(*cell as usize);
                    deepen(ts, 1);
                    let result = entry(ts, init, Py_NewRef(instance) $(, $arg)*);
                    deepen(ts, -1);
                    finish(instance, result)
                }
            }
        )*
        /// The addresses of the constructors, by the number of their arguments.
        static CELLS: LazyLock<Vec<u64>> = LazyLock::new(|| vec![$($name as *const () as u64),*]);
    };
    (@object $arg:ident) => { Obj };
}

constructors! {
    construct_0();
    construct_1(a);
    construct_2(a, b);
    construct_3(a, b, c);
    construct_4(a, b, c, d);
    construct_5(a, b, c, d, e);
    construct_6(a, b, c, d, e, f);
    construct_7(a, b, c, d, e, f, g);
    construct_8(a, b, c, d, e, f, g, h);
}
