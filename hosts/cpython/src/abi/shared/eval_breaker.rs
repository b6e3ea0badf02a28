//! The word that every thread reads where a function begins and where a loop iterates: the bits of
//! its pending work, and the version of monitoring that its code must have.

use super::layouts::thread;
use crate::abi;
use pyo3_ffi::{PyInterpreterState, PyInterpreterState_Main};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

unsafe extern "C" {
    fn _PyEval_AddPendingCall(
        interpreter: *mut PyInterpreterState,
        call: PendingCall,
        argument: *mut c_void,
        flags: c_int,
    ) -> c_int;
}

/// A function that the interpreter calls between two instructions, with its lock held. It gives 0.
pub type PendingCall = extern "C" fn(*mut c_void) -> c_int;

/// Requests that a thread of the main interpreter makes a call soon; the first thread that checks
/// for pending work makes it. (The public function leaves the call to the main thread, which may be
/// waiting for the others.) Returns false if there was no room. Any thread may call this, with the
/// lock or without.
///
/// # Safety
/// The interpreter is not being taken down.
pub unsafe fn ask_for_call(call: PendingCall) -> bool {
    // SAFETY: the caller's promise; without flags the call is the interpreter's, and not its main
    // thread's.
    unsafe { _PyEval_AddPendingCall(PyInterpreterState_Main(), call, null_mut(), 0) == 0 }
}

/// The bits for pending events; those above are the version of monitoring, as a code object has it.
pub const EVENTS: u64 = (1 << EVENT_BITS) - 1;

/// The number of those bits.
pub const EVENT_BITS: u32 = 8;

/// Events that cannot raise: another thread wants the lock, a collection is due, a request to stop
/// or to merge reference counts.
pub const HARMLESS: u64 = 1 | 1 << 4 | 1 << 5 | 1 << 6;

/// A value that no thread's word ever has: all events, and a version that is never reached.
pub const NEVER: u64 = u64::MAX;

/// The word of a thread.
///
/// # Safety
/// `thread` is a thread state.
#[inline(always)]
pub unsafe fn word(thread: *const u8) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { abi::read(thread, thread::EVAL_BREAKER) }
}

/// The version of monitoring that a thread's code is to be of.
///
/// # Safety
/// `thread` is a thread state.
#[inline(always)]
pub unsafe fn version(thread: *const u8) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { word(thread) & !EVENTS }
}

/// Returns whether something is pending for a thread.
///
/// # Safety
/// `thread` is a thread state.
#[inline(always)]
pub unsafe fn is_pending(thread: *const u8) -> bool {
    // SAFETY: the caller's promise.
    unsafe { word(thread) & EVENTS != 0 }
}
