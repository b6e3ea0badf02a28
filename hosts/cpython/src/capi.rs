//! Declarations that `pyo3_ffi` lacks, and small readers of CPython's structures.
//!
//! Frames, thread states, code objects and dict tables are opaque bytes here; offsets come from
//! [`crate::abi`]. The `_Py` functions are exported for CPython's own compiler and exist in all
//! supported versions; the differences are in [`abi::exports`].

use crate::abi;
use pyo3_ffi::{Py_ssize_t, PyObject, PyThreadState, PyTypeObject};
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A reference to an object; each use documents if it is owned and if it may be null.
pub type Obj = *mut PyObject;
/// A `PyThreadState`.
pub type Thread = *mut u8;
/// An `_PyInterpreterFrame`.
pub type Frame = *mut u8;

/// The type of `PyFunctionObject.vectorcall`.
pub type VectorCall = unsafe extern "C" fn(Obj, *const Obj, usize, Obj) -> Obj;

#[allow(missing_docs, reason = "CPython's own, under CPython's names")]
#[allow(improper_ctypes)]
unsafe extern "C" {
    pub static mut PyMethod_Type: PyTypeObject;

    pub fn _Py_Dealloc(object: Obj);
    pub fn _Py_CheckFunctionResult(
        thread: Thread,
        callable: Obj,
        result: Obj,
        place: *const c_char,
    ) -> Obj;
    pub fn _PyErr_ChainExceptions1(exc: Obj);
    pub fn _Py_HandlePending(thread: Thread) -> c_int;
    pub fn _PyEval_EvalFrameDefault(thread: Thread, frame: Frame, throw: c_int) -> Obj;
    pub fn _PyEval_CheckExceptTypeValid(thread: Thread, class: Obj) -> c_int;
    pub fn _PyEval_CheckExceptStarTypeValid(thread: Thread, class: Obj) -> c_int;
    pub fn _PyEval_FormatExcCheckArg(thread: Thread, exc: Obj, format: *const c_char, object: Obj);
    pub fn _PyEval_FormatExcUnbound(thread: Thread, code: Obj, slot: c_int);
    pub fn _PyEval_MatchClass(
        thread: Thread,
        subject: Obj,
        class: Obj,
        count: Py_ssize_t,
        names: Obj,
    ) -> Obj;
    pub fn _PyEval_MatchKeys(thread: Thread, map: Obj, keys: Obj) -> Obj;
    pub fn _PyObject_GetMethod(object: Obj, name: Obj, method: *mut Obj) -> c_int;
    pub fn _PyObject_LookupSpecial(object: Obj, name: Obj) -> Obj;
    pub fn _PyObject_FunctionStr(func: Obj) -> Obj;
    pub fn _PySuper_Lookup(
        class: *mut PyTypeObject,
        object: Obj,
        name: Obj,
        method: *mut c_int,
    ) -> Obj;
    pub fn _PyList_Extend(list: Obj, iterable: Obj) -> Obj;
    pub fn _PyDict_FromItems(
        keys: *const Obj,
        key_step: Py_ssize_t,
        values: *const Obj,
        value_step: Py_ssize_t,
        count: Py_ssize_t,
    ) -> Obj;
    pub fn _PySet_Update(set: Obj, iterable: Obj) -> c_int;
    pub fn _PyUnicode_JoinArray(separator: Obj, items: *const Obj, count: Py_ssize_t) -> Obj;
    pub fn _PyFunction_SetVersion(func: Obj, version: u32);
    pub fn PyCode_GetVarnames(code: Obj) -> Obj;
    pub fn _PyType_Lookup(class: *mut PyTypeObject, name: Obj) -> Obj;
    pub fn PyUnstable_Type_AssignVersionTag(class: *mut PyTypeObject) -> c_int;
}

/// Reads a field.
///
/// # Safety
/// `base + offset` holds a `T`.
#[inline(always)]
pub unsafe fn field<T: Copy>(base: *const impl Sized, offset: i32) -> T {
    // SAFETY: the caller's promise; fields of CPython structures are aligned.
    unsafe { *base.cast::<u8>().offset(offset as isize).cast::<T>() }
}

/// Writes a field.
///
/// # Safety
/// `base + offset` holds a `T` that may be written.
#[inline(always)]
pub unsafe fn set_field<T>(base: *mut impl Sized, offset: i32, value: T) {
    // SAFETY: the caller's promise.
    unsafe {
        base.cast::<u8>()
            .offset(offset as isize)
            .cast::<T>()
            .write(value)
    }
}

/// The current thread's state.
#[inline(always)]
pub fn current_thread() -> Thread {
    // SAFETY: compiled code and its helpers run with the interpreter's lock held, so there is a
    // thread state.
    unsafe {
        pyo3_ffi::PyThreadState_GetUnchecked()
            .cast::<PyThreadState>()
            .cast()
    }
}

/// The main interpreter's address.
#[inline(always)]
fn main_interpreter() -> usize {
    static MAIN: AtomicUsize = AtomicUsize::new(0);
    match MAIN.load(Relaxed) {
        0 => {
            // SAFETY: always allowed.
            let main = unsafe { pyo3_ffi::PyInterpreterState_Main() } as usize;
            MAIN.store(main, Relaxed);
            main
        }
        main => main,
    }
}

/// True for a thread of the main interpreter: compiled code runs in no other.
///
/// # Safety
/// A thread state that is alive.
#[inline(always)]
pub unsafe fn is_of_main_interpreter(thread: Thread) -> bool {
    // SAFETY: the caller's promise.
    unsafe { field::<usize>(thread, abi::thread::INTERP) == main_interpreter() }
}

/// True if the current thread is one of the main interpreter. To be checked by functions that
/// replace those of a static class or of a method table, since all interpreters share these: others
/// may have a lock of their own, and have memory of their own then.
#[inline(always)]
pub fn in_main_interpreter() -> bool {
    // SAFETY: always allowed; a thread that has an interpreter's lock has a state. As long as there
    // is only one interpreter, the thread's need not be read.
    unsafe {
        pyo3_ffi::PyInterpreterState_Head() as usize == main_interpreter()
            || is_of_main_interpreter(current_thread())
    }
}

/// Name `index` of the frame's code, borrowed.
///
/// # Safety
/// `frame` is a live frame and `index` one of its code's names.
#[inline(always)]
pub unsafe fn frame_name(frame: Frame, index: i64) -> Obj {
    // SAFETY: the caller's promise; `co_names` is a tuple.
    unsafe {
        let code: Obj = abi::slots::code(frame);
        let names: Obj = field(code, abi::code::NAMES);
        field(names, abi::tuple::ITEMS + 8 * index as i32)
    }
}

/// The address of a singleton or type as a plain object pointer.
macro_rules! object {
    ($name:ident) => {
        (&raw mut pyo3_ffi::$name).cast::<pyo3_ffi::PyObject>()
    };
}
pub(crate) use object;

/// An interned string, created once; null with an exception set if memory ran out.
macro_rules! interned {
    ($text:literal) => {{
        static STRING: std::sync::atomic::AtomicPtr<pyo3_ffi::PyObject> =
            std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
        let known = STRING.load(std::sync::atomic::Ordering::Relaxed);
        if known.is_null() {
            let made = pyo3_ffi::PyUnicode_InternFromString(concat!($text, "\0").as_ptr().cast());
            STRING.store(made, std::sync::atomic::Ordering::Relaxed);
            made
        } else {
            known
        }
    }};
}
pub(crate) use interned;
