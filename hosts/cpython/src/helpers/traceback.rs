//! Tracebacks: an entry for each frame that an exception passes, added at once or when the
//! traceback becomes observable.
//!
//! # Entries that wait
//! ```python
//! try:
//!     x = table[key]
//! except KeyError:
//!     x = None
//! ```
//! Only the handler has this exception, and it drops it before arbitrary user code may run. So no
//! code ever sees its traceback, and the entry of the handler's frame is not added. The entry
//! waits, and is added only on the paths on which the traceback is observable: compiled code
//! [completes](complete) it there, and side exits do so before all else. The end of the handler
//! [forgets](forget) it. No other code runs on the paths in between, so at most one entry waits in
//! the process.
//!
//! Safety: the contract of [`super`].

use crate::abi;
use crate::capi::{_PyErr_ChainExceptions1, Frame, Obj, Thread, field, set_field};
use pyo3_ffi::*;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The exception whose entry waits, or null.
static WAITING: AtomicPtr<PyObject> = AtomicPtr::new(ptr::null_mut());
/// The instruction of the current frame that raised that exception.
static WAITING_AT: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Add the current instruction to the traceback of the pending exception. Without memory for a
/// frame object, a `MemoryError` is pending afterwards, as in the interpreter. A frame that has not
/// come to its `RESUME` is in no traceback.
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
            // `frame_object` has cleared its error.
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

/// Call this after an error. If no exception is set, which is a mistake of some C extension, it
/// raises the interpreter's `SystemError` for that.
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

/// [`add`], or let the entry wait, if there is no other reference to the exception and no finaliser
/// that gets it.
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

/// Add the entry that waits, if there is one: the current frame, to the traceback of an exception
/// that becomes observable now. Without memory for that, the entry is missing.
///
/// # Safety
/// The running thread, whose frame is that of the handler if an entry waits.
#[inline]
pub unsafe fn complete(thread: Thread) {
    // SAFETY: the caller's: the running thread. The exception of a waiting entry is alive: its
    // handler has a reference.
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
    // SAFETY: the caller's: the running thread, whose frame is that of the handler, and an
    // exception of which it has a reference.
    unsafe {
        let frame: Frame = field(thread, abi::thread::CURRENT_FRAME);
        let here: *mut u8 = field(frame, abi::frame::INSTR_PTR);
        set_field(
            frame,
            abi::frame::INSTR_PTR,
            WAITING_AT.load(Ordering::Relaxed),
        );
        if !abi::frames::is_incomplete(frame) {
            // An exception that is pending here, if there is one, comes from the handler.
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

/// Call this before the handler's frame drops its last reference to its exception. A waiting entry
/// is not needed any more, unless there is another reference to the exception.
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
    // SAFETY: the caller's: a live exception, a frame and its frame object. All fields of the new
    // entry are set before the collector tracks it, and the reference to the entry before moves
    // into it.
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
        // -1: computed when the attribute is read.
        (*made).tb_lineno = -1;
        PyObject_GC_Track(made.cast());
        (*exception).traceback = made.cast();
        true
    }
}
