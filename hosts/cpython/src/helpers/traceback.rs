//! Tracebacks: an entry for each frame that an exception passes, made at once or when somebody can see it.
//!
//! # Entries that wait
//! An exception that nobody but its handler has, whose handler drops it before any code of the program may run, dies without
//! anybody having seen its traceback. So its handler's frame enters it only on the ways where it does not: compiled code
//! [asks for that](complete) there, exits do it first of all, and the end of the handler [forgets](forget) it. On none of the
//! ways between does other code run, so there is at most one such entry in the process.
//!
//! Safety: the contract of [`super`].

use crate::abi;
use crate::capi::{_PyErr_ChainExceptions1, Frame, Obj, Thread, field, set_field};
use pyo3_ffi::*;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The exception whose entry waits, or null.
static WAITING: AtomicPtr<PyObject> = AtomicPtr::new(ptr::null_mut());
/// Where the current frame was when that was raised.
static WAITING_AT: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Add the current instruction to the traceback of the pending exception. Without memory for a frame object, as in the
/// interpreter, that is what is pending then. A frame that has not come to its `RESUME` is in no traceback.
///
/// # Safety
/// The running thread; its frame is where the exception was raised.
pub unsafe fn add(thread: Thread) {
    // SAFETY: the caller's: the running thread.
    unsafe {
        ensure_raised(thread);
        let frame: Frame = field(thread, abi::thread::CURRENT_FRAME);
        if abi::frames::is_incomplete(frame) {
            return;
        }
        let object = frame_object(frame);
        if object.is_null() {
            // It has cleared the error that it met.
            PyErr_NoMemory();
            return;
        }
        let pending: Obj = field(thread, abi::thread::CURRENT_EXCEPTION);
        set_field::<Obj>(thread, abi::thread::CURRENT_EXCEPTION, ptr::null_mut());
        if enter(pending, frame, object) {
            set_field(thread, abi::thread::CURRENT_EXCEPTION, pending);
        } else {
            _PyErr_ChainExceptions1(pending);
        }
    }
}

/// An error was returned. If no exception says which, which is a mistake of some C extension, raise the interpreter's `SystemError` for that.
///
/// # Safety
/// The running thread.
#[inline]
pub unsafe fn ensure_raised(thread: Thread) {
    // SAFETY: the caller's: the running thread.
    unsafe {
        if field::<Obj>(thread, abi::thread::CURRENT_EXCEPTION).is_null() {
            raise_missing();
        }
    }
}

#[cold]
fn raise_missing() {
    // SAFETY: the caller runs on a thread that holds the lock; the text lives for ever.
    unsafe {
        PyErr_SetString(
            PyExc_SystemError,
            c"error return without exception set".as_ptr(),
        );
    }
}

/// [`add`], unless the exception is nobody else's and its end shows it to nobody: then that waits.
pub(super) unsafe fn put_off(thread: Thread) {
    // SAFETY: the caller's: the running thread.
    unsafe {
        ensure_raised(thread);
        let pending: Obj = field(thread, abi::thread::CURRENT_EXCEPTION);
        let class = Py_TYPE(pending);
        if Py_REFCNT(pending) > 1 || (*class).tp_finalize.is_some() || (*class).tp_del.is_some() {
            return add(thread);
        }
        let frame: Frame = field(thread, abi::thread::CURRENT_FRAME);
        WAITING.store(pending, Ordering::Relaxed);
        WAITING_AT.store(field(frame, abi::frame::INSTR_PTR), Ordering::Relaxed);
    }
}

/// Enter what waits, if anything does: the current frame into the traceback of an exception that is about to be seen. Without
/// memory for that, the entry is missing.
///
/// # Safety
/// The running thread, whose frame is that of the handler if an entry waits.
#[inline]
pub unsafe fn complete(thread: Thread) {
    // SAFETY: the caller's: the running thread. What waits is alive: its handler has it.
    unsafe {
        let exception = WAITING.load(Ordering::Relaxed);
        if !exception.is_null() {
            WAITING.store(ptr::null_mut(), Ordering::Relaxed);
            enter_late(thread, exception);
        }
    }
}

#[cold]
unsafe fn enter_late(thread: Thread, exception: Obj) {
    // SAFETY: the caller's: the running thread, whose frame is that of the handler, and an exception that it has.
    unsafe {
        let frame: Frame = field(thread, abi::thread::CURRENT_FRAME);
        let here: *mut u8 = field(frame, abi::frame::INSTR_PTR);
        set_field(
            frame,
            abi::frame::INSTR_PTR,
            WAITING_AT.load(Ordering::Relaxed),
        );
        if !abi::frames::is_incomplete(frame) {
            // What is pending already, if anything is, has come from the handler.
            let pending = PyErr_GetRaisedException();
            let object = frame_object(frame);
            if object.is_null() || !enter(exception, frame, object) {
                PyErr_Clear();
            }
            PyErr_SetRaisedException(pending);
        }
        set_field(frame, abi::frame::INSTR_PTR, here);
    }
}

/// The last reference that a handler's frame has to its exception is about to be dropped: what waits for that is not needed, unless
/// somebody has it after all.
#[inline]
pub(super) unsafe fn forget(thread: Thread, exception: Obj) {
    // SAFETY: the caller's: the running thread, and an exception or null.
    unsafe {
        if WAITING.load(Ordering::Relaxed) != exception || exception.is_null() {
            return;
        }
        if Py_REFCNT(exception) > 1 {
            complete(thread);
        }
        WAITING.store(ptr::null_mut(), Ordering::Relaxed);
    }
}

/// The frame object of the current frame; null, and nothing pending, if there is no memory for it.
unsafe fn frame_object(frame: Frame) -> Obj {
    // SAFETY: the caller's: the thread's current frame.
    unsafe {
        let object: Obj = field(frame, abi::frame::FRAME_OBJ);
        if object.is_null() {
            PyEval_GetFrame().cast()
        } else {
            object
        }
    }
}

/// The interpreter's `PyTraceBack_Here` for a frame; false with an exception if there is no memory.
unsafe fn enter(exception: Obj, frame: Frame, object: Obj) -> bool {
    // SAFETY: the caller's: a live exception, a frame and its frame object. The new entry's fields are all set before the collector sees
    // it, and the reference to the one before moves into it.
    unsafe {
        let made: *mut PyTracebackObject = PyObject_GC_New(&raw mut PyTraceBack_Type);
        if made.is_null() {
            return false;
        }
        let code: Obj = abi::slots::code(frame);
        let units = code.cast::<u8>().offset(abi::code::ADAPTIVE as isize);
        let at: *mut u8 = field(frame, abi::frame::INSTR_PTR);
        let exception = exception.cast::<PyBaseExceptionObject>();
        (*made).tb_next = (*exception).traceback.cast();
        (*made).tb_frame = Py_NewRef(object).cast();
        (*made).tb_lasti = at.offset_from(units) as _;
        // Computed when somebody asks.
        (*made).tb_lineno = -1;
        PyObject_GC_Track(made.cast());
        (*exception).traceback = made.cast();
        true
    }
}
