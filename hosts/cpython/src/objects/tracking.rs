//! Objects tracked and untracked by the garbage collector: the interpreter's functions, without
//! their access to the collector's state through thread-local storage.

use crate::abi;
use crate::capi::Obj;
use crate::owned::Owned;
use pyo3_ffi::{PyList_New, PyObject_GC_IsTracked, PyObject_GC_Track, PyObject_GC_UnTrack};
use std::sync::atomic::{AtomicUsize, Ordering};

/// An object's header, or the head of a list of the collector's: the next one, and the previous one
/// with two flags. Headers are word-aligned, but the heads need not be: in one 3.13.15 they are
/// not.
type Header = *mut [usize; 2];

/// One of the two words of a header; it may be unaligned.
#[inline(always)]
fn next(header: Header) -> *mut usize {
    header.cast()
}

/// The other one.
#[inline(always)]
fn before(header: Header) -> *mut usize {
    header.cast::<usize>().wrapping_add(1)
}

const FLAGS: usize = abi::gc_head::FLAGS as usize;
const FINALIZED: usize = abi::gc_head::FINALIZED as usize;

/// The head of the list of the youngest objects, at a fixed address in the main interpreter.
static YOUNGEST: AtomicUsize = AtomicUsize::new(0);

/// Finds the list of the youngest objects.
///
/// # Errors
/// The reason why the list could not be found.
///
/// # Safety
/// Called once, with the GIL of the main interpreter, before anything is tracked.
pub unsafe fn find() -> Result<(), String> {
    // SAFETY: this thread has the GIL. A newly tracked object is the last of the list, so the head
    // is its next one.
    unsafe {
        if abi::COLLECTOR_COUNTS {
            return Ok(());
        }
        let made = Owned::take(PyList_New(0)).ok_or("no memory for a list")?;
        let header = header_of(made.as_ptr());
        let head = next(header).read_unaligned() as Header;
        if head.is_null() || before(head).read_unaligned() != header as usize {
            return Err("the collector's list is not as expected".to_owned());
        }
        YOUNGEST.store(head as usize, Ordering::Relaxed);
        Ok(())
    }
}

#[inline(always)]
fn header_of(object: Obj) -> Header {
    object
        .cast::<u8>()
        .wrapping_sub(abi::object::GC_HEAD as usize)
        .cast()
}

/// True if the collector tracks an object.
///
/// # Safety
/// The caller has the GIL; a live object of a class that the collector supports.
#[inline(always)]
pub unsafe fn is_tracked(object: Obj) -> bool {
    // SAFETY: the caller's promise: the object has a header.
    unsafe { next(header_of(object)).read_unaligned() != 0 }
}

/// Makes the collector track an object.
///
/// # Safety
/// The caller has the GIL of the main interpreter; the object is complete, and not tracked.
#[inline(always)]
pub unsafe fn track(object: Obj) {
    // SAFETY: the caller's promise; headers in the list are those of live objects.
    unsafe {
        if abi::COLLECTOR_COUNTS {
            return PyObject_GC_Track(object.cast());
        }
        let (header, head) = (
            header_of(object),
            YOUNGEST.load(Ordering::Relaxed) as Header,
        );
        let last = before(head).read_unaligned() as Header;
        next(last).write_unaligned(header as usize);
        let flags = before(header).read() & FLAGS;
        before(header).write(last as usize | flags);
        next(header).write(head as usize);
        before(head).write_unaligned(header as usize);
    }
}

/// Stops the collector from tracking an object, if it does.
///
/// # Safety
/// The caller has the GIL; the object is one that may be tracked.
#[inline(always)]
pub unsafe fn untrack(object: Obj) {
    // SAFETY: the caller's promise; headers in the list are those of live objects.
    unsafe {
        if abi::COLLECTOR_COUNTS {
            if PyObject_GC_IsTracked(object) != 0 {
                PyObject_GC_UnTrack(object.cast());
            }
            return;
        }
        let header = header_of(object);
        let (after, flagged) = (next(header).read() as Header, before(header).read());
        if after.is_null() {
            return;
        }
        let last = flagged & !FLAGS;
        next(last as Header).write_unaligned(after as usize);
        let flags = before(after).read_unaligned() & FLAGS;
        before(after).write_unaligned(last | flags);
        next(header).write(0);
        before(header).write(flagged & FINALIZED);
    }
}
