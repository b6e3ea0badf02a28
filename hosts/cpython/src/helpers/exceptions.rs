//! Raising, catching, and the handled exception.
//!
//! Safety: the contract of [`super`].

use super::traceback;
use crate::abi;
use crate::capi::{
    _PyEval_CheckExceptStarTypeValid, _PyEval_CheckExceptTypeValid, Frame, Obj, Thread,
    current_thread, field, set_field,
};
use pyo3_ffi::*;
use std::ptr;

/// Always negative: an exception is set afterwards.
pub unsafe extern "C" fn raise(thread: Thread, _operands: i64, exc: Obj, cause: Obj) -> i64 {
    // SAFETY: the running thread and live operands; the new exception is owned, and given away or
    // dropped.
    unsafe {
        let value = if PyExceptionClass_Check(exc) != 0 {
            instantiate(exc)
        } else if PyExceptionInstance_Check(exc) != 0 {
            Py_NewRef(exc)
        } else {
            PyErr_SetString(
                PyExc_TypeError,
                c"exceptions must derive from BaseException".as_ptr(),
            );
            ptr::null_mut()
        };
        if value.is_null() {
            return -1;
        }
        if !cause.is_null() && !attach_cause(value, cause) {
            Py_DECREF(value);
            return -1;
        }
        let class = if PyExceptionClass_Check(exc) != 0 {
            exc
        } else {
            PyExceptionInstance_Class(exc)
        };
        // Besides the reference taken here, the raiser may have one.
        let references = 1 + (value == exc) as Py_ssize_t;
        let is_plain = Py_TYPE(value).cast() == class && Py_TYPE(class) == &raw mut PyType_Type;
        let pending: Obj = field(thread, abi::thread::CURRENT_EXCEPTION);
        if is_plain && Py_REFCNT(value) == references && pending.is_null() {
            set_unshared(thread, value);
            return -1;
        }
        PyErr_SetObject(class, value);
        Py_DECREF(value);
        -1
    }
}

/// Raise an exception to which only its raiser has a reference, and take that over. The exception
/// that is being handled becomes its context. No object refers to the new exception, so this makes
/// no cycle.
unsafe fn set_unshared(thread: Thread, value: Obj) {
    // SAFETY: the caller's: the running thread, with no exception pending, and an owned exception.
    // The thread's chain of handled exceptions ends with null.
    unsafe {
        let mut handling: *mut u8 = field(thread, abi::thread::EXC_INFO);
        loop {
            let handled: Obj = field(handling, abi::exc_info::VALUE);
            if !handled.is_null() && handled != Py_None() {
                PyException_SetContext(value, Py_NewRef(handled));
                break;
            }
            handling = field(handling, abi::exc_info::PREVIOUS);
            if handling.is_null() {
                break;
            }
        }
        set_field(thread, abi::thread::CURRENT_EXCEPTION, value);
    }
}

/// Takes the pending exception from the thread. The immediate tells if the current instruction is
/// added to its traceback first: 0 if not, 2 if it is added when the traceback becomes observable,
/// else 1.
pub unsafe extern "C" fn catch(thread: Thread, add: i64) -> Obj {
    // SAFETY: the running thread, with an exception pending, whose reference goes to the caller.
    unsafe {
        match add {
            0 => {}
            2 => traceback::put_off(thread),
            _ => traceback::add(thread),
        }
        let exception: Obj = field(thread, abi::thread::CURRENT_EXCEPTION);
        set_field::<Obj>(thread, abi::thread::CURRENT_EXCEPTION, ptr::null_mut());
        exception
    }
}

/// Whether an exception is pending.
pub unsafe extern "C" fn is_raised(thread: Thread) -> i64 {
    // SAFETY: the running thread.
    unsafe { i64::from(!field::<Obj>(thread, abi::thread::CURRENT_EXCEPTION).is_null()) }
}

/// Adds the entry that [`catch`] put off, if there is one.
pub unsafe extern "C" fn complete_traceback(thread: Thread) -> i64 {
    // SAFETY: the running thread.
    unsafe {
        traceback::complete(thread);
        0
    }
}

/// Always negative. The position is an exact int that the interpreter made.
pub unsafe extern "C" fn reraise(frame: Frame, entries: i64, position: Obj, exc: Obj) -> i64 {
    // SAFETY: the thread's frame and live operands; the position is one of its code.
    unsafe {
        if entries != 0 {
            let code: Obj = abi::slots::code(frame);
            let units = code.cast::<u8>().offset(abi::code::ADAPTIVE as isize);
            let unit = units.offset(2 * PyLong_AsLong(position) as isize);
            frame
                .cast::<u8>()
                .offset(abi::frame::INSTR_PTR as isize)
                .cast::<*const u8>()
                .write(unit);
        }
        PyErr_SetRaisedException(Py_NewRef(exc));
        -1
    }
}

/// A new exception of a class, or null.
unsafe fn instantiate(class: Obj) -> Obj {
    // SAFETY: the caller's: a live class of exceptions.
    unsafe {
        if makes_plainly(class) {
            return new_plainly(class, ptr::null(), 0);
        }
        let value = PyObject_CallNoArgs(class);
        if !value.is_null() && PyExceptionInstance_Check(value) == 0 {
            PyErr_Format(
                PyExc_TypeError,
                c"calling %R should have returned an instance of BaseException, not %R".as_ptr(),
                class,
                Py_TYPE(value),
            );
            Py_DECREF(value);
            return ptr::null_mut();
        }
        value
    }
}

/// Returns true for a class that, called without keywords, makes its instances as `BaseException`
/// does: of a tuple of the arguments alone. (The initialisers of two of its subclasses also look
/// for keywords.)
#[inline]
pub(super) unsafe fn makes_plainly(class: Obj) -> bool {
    // SAFETY: the caller's: a live object; the interpreter's exceptions are classes from its start
    // on.
    unsafe {
        if Py_TYPE(class) != &raw mut PyType_Type {
            return false;
        }
        let class = class.cast::<PyTypeObject>();
        let of = |known: Obj| known.cast::<PyTypeObject>();
        let new = |class: *mut PyTypeObject| (*class).tp_new.map(|f| f as usize);
        let init = |class: *mut PyTypeObject| (*class).tp_init.map(|f| f as usize);
        let plain = [PyExc_BaseException, PyExc_AttributeError, PyExc_NameError];
        new(class) == new(of(plain[0]))
            && plain
                .into_iter()
                .any(|known| init(class) == init(of(known)))
    }
}

/// A new exception of a class that [makes its instances plainly](makes_plainly), or null. Its
/// initialiser is not called: it would only set the same arguments again.
pub(super) unsafe fn new_plainly(class: Obj, args: *const Obj, count: usize) -> Obj {
    // SAFETY: the caller's: a live class of exceptions, and so many live arguments.
    unsafe {
        let tuple = PyTuple_New(count as Py_ssize_t);
        if tuple.is_null() {
            return tuple;
        }
        for i in 0..count {
            PyTuple_SetItem(tuple, i as Py_ssize_t, Py_NewRef(*args.add(i)));
        }
        let class = class.cast::<PyTypeObject>();
        let made = match (*class).tp_new {
            Some(new) => new(class, tuple, ptr::null_mut()),
            None => ptr::null_mut(),
        };
        Py_DECREF(tuple);
        made
    }
}

unsafe fn attach_cause(value: Obj, cause: Obj) -> bool {
    // SAFETY: the caller's: a live exception and cause; a new cause is owned and given away.
    unsafe {
        let cause = if PyExceptionClass_Check(cause) != 0 {
            let made = instantiate(cause);
            if made.is_null() {
                return false;
            }
            made
        } else if PyExceptionInstance_Check(cause) != 0 {
            Py_NewRef(cause)
        } else if cause == Py_None() {
            ptr::null_mut()
        } else {
            PyErr_SetString(
                PyExc_TypeError,
                c"exception causes must derive from BaseException".as_ptr(),
            );
            return false;
        };
        PyException_SetCause(value, cause);
        true
    }
}

/// Always negative. If there is no exception to raise again, the `RuntimeError` for that gets its
/// traceback entry here.
pub unsafe extern "C" fn raise_again() -> i64 {
    // SAFETY: the lock is held, so there is a thread; the handled exception is returned as owned.
    unsafe {
        let thread = current_thread();
        let handled = PyErr_GetHandledException();
        if handled.is_null() || handled == Py_None() {
            Py_XDECREF(handled);
            PyErr_SetString(
                PyExc_RuntimeError,
                c"No active exception to reraise".as_ptr(),
            );
            traceback::add(thread);
            return -1;
        }
        PyErr_SetRaisedException(handled);
        -1
    }
}

/// The place of the thread's handled exception: an owned reference, or null.
unsafe fn handled(thread: Thread) -> *mut Obj {
    // SAFETY: the caller's: the running thread, which always has a place for the handled exception.
    unsafe {
        let handling: *mut u8 = field(thread, abi::thread::EXC_INFO);
        handling.offset(abi::exc_info::VALUE as isize).cast()
    }
}

pub unsafe extern "C" fn push_exc_info(thread: Thread, exc: Obj) -> Obj {
    // SAFETY: the running thread and a live exception; the place's reference goes to the caller.
    unsafe {
        let place = handled(thread);
        let before = ptr::replace(place, Py_NewRef(exc));
        if before.is_null() {
            Py_NewRef(Py_None())
        } else {
            before
        }
    }
}

/// The frame is about to drop an exception that it has caught.
pub unsafe extern "C" fn forget_traceback(thread: Thread, exception: Obj) -> i64 {
    // SAFETY: the running thread and a live exception.
    unsafe {
        traceback::forget(thread, exception);
        0
    }
}

/// Takes over the one entry. If a local keeps the exception (`kept`), its waiting traceback entry
/// continues to wait, unless the exception is deallocated here.
pub unsafe extern "C" fn pop_except(
    thread: Thread,
    kept: i64,
    entry: *mut Obj,
    _count: i64,
) -> i64 {
    // SAFETY: the running thread; the one entry is owned and moves to the place, whose reference is
    // dropped.
    unsafe {
        let before = *entry;
        let value = if before == Py_None() {
            Py_DECREF(before);
            ptr::null_mut()
        } else {
            before
        };
        let ended = ptr::replace(handled(thread), value);
        if kept == 0 || !ended.is_null() && Py_REFCNT(ended) == 1 {
            traceback::forget(thread, ended);
        }
        Py_XDECREF(ended);
        0
    }
}

pub unsafe extern "C" fn check_exc_match(thread: Thread, exc: Obj, class: Obj) -> i64 {
    // SAFETY: the running thread and live operands, the first one an exception.
    unsafe {
        // The operand is an exception, so if its class is the other operand, that is a class of
        // exceptions.
        if Py_TYPE(exc).cast() == class {
            return 1;
        }
        if _PyEval_CheckExceptTypeValid(thread, class) < 0 {
            traceback::complete(thread);
            return -1;
        }
        PyErr_GivenExceptionMatches(exc, class).into()
    }
}

pub unsafe extern "C" fn check_eg_match(
    thread: Thread,
    exc: Obj,
    class: Obj,
    out: *mut Obj,
) -> i64 {
    // SAFETY: the running thread and live operands; there is room for two results.
    unsafe {
        if _PyEval_CheckExceptStarTypeValid(thread, class) < 0 {
            return -1;
        }
        let (mut matched, mut rest) = (ptr::null_mut(), ptr::null_mut());
        let frame = field(thread, abi::thread::CURRENT_FRAME);
        if abi::exports::match_group(frame, exc, class, &mut matched, &mut rest) < 0
            || matched.is_null()
        {
            return -1;
        }
        *out = rest;
        *out.add(1) = matched;
        0
    }
}

pub unsafe extern "C" fn set_handled(exc: Obj) -> i64 {
    // SAFETY: a live operand: an exception, or None.
    unsafe {
        if exc != Py_None() {
            PyErr_SetHandledException(exc);
        }
        0
    }
}

pub unsafe extern "C" fn with_except_start(exit: Obj, exc: Obj) -> Obj {
    // SAFETY: live operands; the arguments stand behind a place that the callee may use.
    unsafe {
        let traceback = PyException_GetTraceback(exc);
        let shown = if traceback.is_null() {
            Py_None()
        } else {
            // The exception has a reference to it.
            Py_DECREF(traceback);
            traceback
        };
        let class = Py_TYPE(exc).cast::<PyObject>();
        let args = [ptr::null_mut(), class, exc, shown];
        let count = 3 | PY_VECTORCALL_ARGUMENTS_OFFSET;
        PyObject_Vectorcall(exit, args.as_ptr().add(1), count, ptr::null_mut())
    }
}
