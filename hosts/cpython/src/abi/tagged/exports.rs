//! Functions of the interpreter that change from version to version, by their purpose.

use super::layouts::{list, thread as t, tuple};
use super::slots::{self, Word};
use crate::abi::{read, write};
use crate::capi::{_PyObject_LookupSpecial, Frame, Obj, Thread};
use cladonia::bytecode::SpecialMethod;
use pyo3_ffi::{
    Py_DECREF, Py_None, Py_ssize_t, PyErr_Format, PyErr_Occurred, PyExc_TypeError, PyList_New,
    PyTuple_GET_SIZE, PyTuple_Size, PyType_GenericAlloc, PyTypeObject, PyUnicode_New,
};
use smallvec::SmallVec;
use std::ffi::{c_char, c_int};

#[allow(improper_ctypes)]
unsafe extern "C" {
    fn _PyEvalFramePushAndInit(
        thread: Thread,
        func: Word,
        locals: Obj,
        args: *const Word,
        count: usize,
        kwnames: Obj,
        previous: Frame,
    ) -> Frame;
    fn _PyEval_ExceptionGroupMatch(
        frame: Frame,
        exc: Obj,
        class: Obj,
        matched: *mut Obj,
        rest: *mut Obj,
    ) -> c_int;
    fn _PyEval_UnpackIterableStackRef(
        thread: Thread,
        iterable: Obj,
        before: c_int,
        after: c_int,
        top: *mut Word,
    ) -> c_int;
    fn _PyTuple_FromStackRefStealOnSuccess(items: *const Word, count: Py_ssize_t) -> Obj;
    fn _PyEval_SpecialMethodCanSuggest(object: Obj, number: c_int) -> c_int;
    fn _PyInterpolation_Build(value: Obj, text: Obj, conversion: c_int, format: Obj) -> Obj;
    static _Py_SpecialMethods: [SpecialRow; 4];
}

/// A row of `_Py_SpecialMethods`.
#[repr(C)]
struct SpecialRow {
    name: Obj,
    error: *const c_char,
    suggestion: *const c_char,
}

/// Pushes a frame of a function with arguments bound, which is not linked; null with an exception
/// if that fails.
///
/// # Safety
/// The function, the namespace and the arguments are owned, and taken over in any case.
pub unsafe fn push_call(
    thread: Thread,
    func: Obj,
    locals: Obj,
    args: *const Obj,
    count: usize,
    kwnames: Obj,
) -> Frame {
    // SAFETY: the caller's promise.
    unsafe {
        let named = if kwnames.is_null() {
            0
        } else {
            PyTuple_GET_SIZE(kwnames) as usize
        };
        let words: SmallVec<[Word; 8]> = (0..count + named)
            .map(|k| slots::word(args.add(k).read()))
            .collect();
        push(thread, func, locals, &words, count, kwnames)
    }
}

/// Pushes a frame of a function whose slots are all to be overwritten: its positional and
/// keyword-only parameters are None.
///
/// # Safety
/// The function is owned, and taken over in any case; it has so many positional parameters.
/// `kwnames` is the tuple of the names of its keyword-only parameters, or null.
pub unsafe fn push_frame(thread: Thread, func: Obj, argcount: usize, kwnames: Obj) -> Frame {
    // SAFETY: the caller's promise; None is immortal.
    unsafe {
        let named = if kwnames.is_null() {
            0
        } else {
            PyTuple_Size(kwnames) as usize
        };
        let none = slots::word(Py_None());
        let words: SmallVec<[Word; 8]> = SmallVec::from_elem(none, argcount + named);
        let null = std::ptr::null_mut();
        push(thread, func, null, &words, argcount, kwnames)
    }
}

unsafe fn push(
    thread: Thread,
    func: Obj,
    locals: Obj,
    words: &[Word],
    count: usize,
    kwnames: Obj,
) -> Frame {
    // SAFETY: the caller's.
    unsafe {
        let previous: Frame = read(thread, t::CURRENT_FRAME);
        let (func, args) = (slots::word(func), words.as_ptr());
        _PyEvalFramePushAndInit(thread, func, locals, args, count, kwnames, previous)
    }
}

/// A new instance of a class derived from `tuple`, whose items are not set yet; null with an
/// exception if there is no memory.
///
/// # Safety
/// A live class derived from `tuple`, with its `tp_alloc`; this thread has the lock.
pub unsafe fn new_tuple(class: *mut PyTypeObject, count: Py_ssize_t) -> Obj {
    // SAFETY: the caller's promise.
    unsafe {
        let made = match (*class).tp_alloc {
            Some(alloc) => alloc(class, count),
            None => PyType_GenericAlloc(class, count),
        };
        if !made.is_null() {
            // The hash is not known yet.
            write(made, tuple::HASH, -1isize);
        }
        made
    }
}

/// Splits an exception for `except*` into the part that is of a class and the rest; negative with
/// an exception.
///
/// # Safety
/// Live objects; `frame` is the current frame.
pub unsafe fn match_group(
    frame: Frame,
    exc: Obj,
    class: Obj,
    matched: &mut Obj,
    rest: &mut Obj,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { _PyEval_ExceptionGroupMatch(frame, exc, class, matched, rest) }
}

/// Writes the items of an iterable, and those behind a star, downwards from `top`, each owned; 0
/// with an exception.
///
/// # Safety
/// There is room for as many.
pub unsafe fn unpack_iterable(
    thread: Thread,
    iterable: Obj,
    before: c_int,
    after: c_int,
    top: *mut Obj,
) -> c_int {
    // SAFETY: the caller's promise; a word is as large as a pointer. The words that the function
    // has written are owned, or immortal.
    unsafe {
        let done = _PyEval_UnpackIterableStackRef(thread, iterable, before, after, top.cast());
        if done != 0 {
            let count = match after {
                ..0 => before,
                _ => before + 1 + after,
            };
            for k in 1..=count as usize {
                let place = top.sub(k);
                *place = slots::object(place.cast::<Word>().read());
            }
        }
        done
    }
}

/// A list of items, which are taken over in any case.
///
/// # Safety
/// So many owned objects.
pub unsafe fn list_of(items: *const Obj, count: Py_ssize_t) -> Obj {
    // SAFETY: the caller's promise; a new list has room for so many, and no other code has it.
    unsafe {
        let made = PyList_New(count);
        if made.is_null() {
            for k in 0..count {
                Py_DECREF(items.offset(k).read());
            }
        } else if count > 0 {
            let to: *mut Obj = read(made, list::ITEMS);
            std::ptr::copy_nonoverlapping(items, to, count as usize);
        }
        made
    }
}

/// A tuple of items, which are taken over in any case. As for the interpreter's own tuples, the
/// collector does not track it if it cannot be in a cycle.
///
/// # Safety
/// So many owned objects, in an array that may be changed.
pub unsafe fn tuple_of(items: *mut Obj, count: Py_ssize_t) -> Obj {
    // SAFETY: the caller's promise; a word is as large as a pointer.
    unsafe {
        for k in 0..count {
            let place = items.offset(k);
            place.cast::<Word>().write(slots::word(*place));
        }
        let made = _PyTuple_FromStackRefStealOnSuccess(items.cast(), count);
        if made.is_null() {
            for k in 0..count {
                slots::close(items.offset(k).cast::<Word>().read());
            }
        }
        made
    }
}

/// A method of a context manager's class, bound; null with an exception if there is none.
///
/// # Safety
/// A live object; the thread has the GIL.
pub unsafe fn load_special(manager: Obj, method: SpecialMethod) -> Obj {
    let number = match method {
        SpecialMethod::Enter => 0,
        SpecialMethod::Exit => 1,
        SpecialMethod::AsyncEnter => 2,
        SpecialMethod::AsyncExit => 3,
    };
    // SAFETY: the caller's promise; the table is the interpreter's, and says how an error is put.
    unsafe {
        let row = &_Py_SpecialMethods[number];
        let found = _PyObject_LookupSpecial(manager, row.name);
        if found.is_null() && PyErr_Occurred().is_null() {
            let suggests = _PyEval_SpecialMethodCanSuggest(manager, number as c_int) != 0;
            let message = if suggests { row.suggestion } else { row.error };
            PyErr_Format(PyExc_TypeError, message, manager);
        }
        found
    }
}

/// A value of a template string, from the value, its expression, and a format if there is one; null
/// with an exception.
///
/// # Safety
/// Two or three live objects; the thread has the GIL.
pub unsafe fn build_interpolation(conversion: c_int, parts: &[Obj]) -> Obj {
    // SAFETY: the caller's promise.
    unsafe {
        let empty = match parts.get(2) {
            Some(_) => std::ptr::null_mut(),
            None => PyUnicode_New(0, 0),
        };
        let format = parts.get(2).copied().unwrap_or(empty);
        if format.is_null() {
            return format;
        }
        let made = _PyInterpolation_Build(parts[0], parts[1], conversion, format);
        if !empty.is_null() {
            Py_DECREF(empty);
        }
        made
    }
}
