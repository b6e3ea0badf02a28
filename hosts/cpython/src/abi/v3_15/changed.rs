//! Functions of the interpreter that are not as in earlier versions.

use super::layouts::{frame as f, generator as g, object};
use super::{frames, generators, slots};
use crate::abi::read;
use crate::capi::{Frame, Obj, Thread, current_thread};
use cladonia::lir::{Block, Builder, IntCond, Value};
use cladonia::ll::Width;
use pyo3_ffi::{
    Py_DECREF, Py_None, Py_TYPE, Py_XDECREF, Py_XNewRef, PyErr_Clear, PyErr_Format,
    PyExc_TypeError, PyObject, PyObject_SetItem, PyTypeObject,
};
use std::ffi::c_int;
use std::ptr;

#[allow(improper_ctypes)]
unsafe extern "C" {
    fn _PyDict_MergeUniq(dict: Obj, other: Obj, twice: *mut Obj) -> c_int;
    fn _PyEval_FormatKwargsError(thread: Thread, func: Obj, kwargs: Obj, twice: Obj);
    fn _PyEval_ImportName(
        thread: Thread,
        builtins: Obj,
        globals: Obj,
        locals: Obj,
        name: Obj,
        names: Obj,
        level: Obj,
    ) -> Obj;
    fn _PyEval_LazyImportName(
        thread: Thread,
        builtins: Obj,
        globals: Obj,
        locals: Obj,
        name: Obj,
        names: Obj,
        level: Obj,
        lazy: c_int,
    ) -> Obj;
    fn _PyEval_ImportFrom(thread: Thread, module: Obj, name: Obj) -> Obj;
    fn _PyEval_LazyImportFrom(thread: Thread, frame: Frame, module: Obj, name: Obj) -> Obj;
    fn _PyImport_LoadLazyImportTstate(thread: Thread, module: Obj) -> Obj;
    static mut PyLazyImport_Type: PyTypeObject;
}

/// Adds the entries of a mapping to the named arguments of a call; false with an exception, also if
/// a name is there already.
///
/// # Safety
/// `dict` is a dict, the others are live objects.
pub unsafe fn merge_names(thread: Thread, dict: Obj, other: Obj, callable: Obj) -> bool {
    // SAFETY: the caller's promise; the name that is there twice is owned.
    unsafe {
        let mut twice = ptr::null_mut();
        let is_merged = _PyDict_MergeUniq(dict, other, &mut twice) >= 0;
        if !is_merged {
            _PyEval_FormatKwargsError(thread, callable, other, twice);
            Py_XDECREF(twice);
        }
        is_merged
    }
}

/// Raises the error that the operand of a star in a call is not iterable.
///
/// # Safety
/// Live objects.
#[cold]
pub unsafe fn not_iterable(_callable: Obj, args: Obj) {
    // SAFETY: the caller's promise.
    unsafe {
        PyErr_Clear();
        PyErr_Format(
            PyExc_TypeError,
            c"Value after * must be an iterable, not %.200s".as_ptr(),
            (*Py_TYPE(args)).tp_name,
        );
    }
}

/// Raises the error that `__iter__` of an object has returned no iterator.
///
/// # Safety
/// Live objects.
#[cold]
pub unsafe fn not_iterator(iterable: Obj, found: Obj) {
    // SAFETY: the caller's promise.
    unsafe {
        PyErr_Format(
            PyExc_TypeError,
            c"%T.__iter__() must return an iterator, not %T".as_ptr(),
            iterable,
            found,
        );
    }
}

/// The object that a generator delegates to, owned; null if it does not delegate.
///
/// # Safety
/// `generator` is a generator or a coroutine.
pub unsafe fn delegate(generator: Obj) -> Obj {
    // SAFETY: the caller's promise: a generator that delegates has the object on its stack.
    unsafe {
        if generators::state(generator.cast()) != g::STATE_DELEGATING as i8 {
            return ptr::null_mut();
        }
        let frame = generator.cast::<u8>().offset(g::FRAME as isize);
        let place = frames::depth(frame) - 1 - generators::ABOVE_ITERATOR;
        Py_XNewRef(slots::get(frame, f::LOCALSPLUS + 8 * place))
    }
}

/// The import of a module, by the interpreter's own function. `lazy` is 1 if the module is imported
/// when it is first used where the program asks for that, and 2 if the statement says so.
///
/// # Safety
/// The thread's frame, and live objects.
pub unsafe fn import_name(
    thread: Thread,
    frame: Frame,
    name: Obj,
    lazy: i64,
    level: Obj,
    names: Obj,
) -> Option<Obj> {
    // SAFETY: the caller's promise.
    unsafe {
        let [builtins, globals, locals] =
            [f::BUILTINS, f::GLOBALS, f::LOCALS].map(|offset| read::<Obj, _>(frame, offset));
        Some(match lazy {
            0 => _PyEval_ImportName(thread, builtins, globals, locals, name, names, level),
            _ => _PyEval_LazyImportName(
                thread,
                builtins,
                globals,
                locals,
                name,
                names,
                level,
                (lazy == 2).into(),
            ),
        })
    }
}

/// The import of a name from a module, by the interpreter's own function.
///
/// # Safety
/// The thread's frame, and live objects.
pub unsafe fn import_from(thread: Thread, frame: Frame, module: Obj, name: Obj) -> Option<Obj> {
    // SAFETY: the caller's promise.
    unsafe {
        Some(if is_deferred(module) {
            _PyEval_LazyImportFrom(thread, frame, module, name)
        } else {
            _PyEval_ImportFrom(thread, module, name)
        })
    }
}

/// The value of a name that was found in a namespace, which is taken over; null with an exception,
/// or if `value` is null. A module that is still to be imported is imported, and the name is bound
/// to it.
///
/// # Safety
/// Live objects; `value` is owned, or null.
pub unsafe fn found(globals: Obj, name: Obj, value: Obj) -> Obj {
    // SAFETY: the caller's promise.
    unsafe {
        if !is_deferred(value) {
            return value;
        }
        let imported = _PyImport_LoadLazyImportTstate(current_thread(), value);
        Py_DECREF(value);
        if imported.is_null() || PyObject_SetItem(globals, name, imported) < 0 {
            Py_XDECREF(imported);
            return ptr::null_mut();
        }
        imported
    }
}

/// LIR that continues in `slow` if the value that was found in a namespace is a module that is
/// still to be imported.
pub fn check_found(b: &mut Builder<'_>, value: Value, slow: Block) {
    let class = b.load(Width::Ptr, value, object::TYPE);
    let deferred = b.pconst(&raw const PyLazyImport_Type as u64);
    let other = b.icmp(IntCond::Ne, class, deferred);
    b.guard(other, slow);
}

/// Returns true if an object in a namespace is in place of a module that is still to be imported,
/// so that a load gives another object.
///
/// # Safety
/// `object` is a live object or null.
#[inline(always)]
pub unsafe fn is_deferred(object: *mut PyObject) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        !object.is_null() && object != Py_None() && Py_TYPE(object) == &raw mut PyLazyImport_Type
    }
}
