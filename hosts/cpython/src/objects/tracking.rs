//! Objects made known to the garbage collector, and taken from it: what the interpreter's functions do, without their way to
//! the collector's state, which leads through thread-local storage.

use crate::abi;
use crate::capi::Obj;
use crate::owned::Owned;
use pyo3_ffi::PyList_New;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An object's header, or the head of a list of the collector's: the next one, and the one before with two flags.
type Header = *mut usize;

const FLAGS: usize = abi::gc_head::FLAGS as usize;
const FINALIZED: usize = abi::gc_head::FINALIZED as usize;

/// The head of the list of the youngest objects; it lies in the main interpreter, and stays there.
static YOUNGEST: AtomicUsize = AtomicUsize::new(0);

/// Find the list of the youngest objects.
///
/// # Errors
/// The list is not there; what is said is why.
///
/// # Safety
/// Called once, with the GIL of the main interpreter, before anything is tracked.
pub unsafe fn find() -> Result<(), String> {
    // SAFETY: the GIL is held. An object that was just tracked is the last of the list, so that the head is next.
    unsafe {
        let made = Owned::take(PyList_New(0)).ok_or("no memory for a list")?;
        let header = header_of(made.as_ptr());
        let head = *header as Header;
        if head.is_null() || *head.add(1) != header as usize {
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

/// Let the collector know of an object.
///
/// # Safety
/// The GIL of the main interpreter is held; the object is complete, and not tracked.
#[inline(always)]
pub unsafe fn track(object: Obj) {
    // SAFETY: the caller's promise; headers in the list are those of live objects.
    unsafe {
        let (header, head) = (
            header_of(object),
            YOUNGEST.load(Ordering::Relaxed) as Header,
        );
        let last = *head.add(1) as Header;
        *last = header as usize;
        *header.add(1) = last as usize | *header.add(1) & FLAGS;
        *header = head as usize;
        *head.add(1) = header as usize;
    }
}

/// Let the collector forget an object, if it knows of it.
///
/// # Safety
/// The GIL is held; the object is one that may be tracked.
#[inline(always)]
pub unsafe fn untrack(object: Obj) {
    // SAFETY: the caller's promise; headers in the list are those of live objects.
    unsafe {
        let header = header_of(object);
        let (next, before) = (*header as Header, *header.add(1));
        if next.is_null() {
            return;
        }
        *((before & !FLAGS) as Header) = next as usize;
        *next.add(1) = before & !FLAGS | *next.add(1) & FLAGS;
        *header = 0;
        *header.add(1) = before & FINALIZED;
    }
}
