//! The word that every thread looks at where a function begins and a loop iterates: the pending
//! work, and which version of monitoring its code is to be of.

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

/// Have a thread of the main interpreter make a call soon, whichever comes first: the public
/// function leaves it to the main thread, which may wait for the others. Gives whether there was
/// room for it. Any thread may ask, with the lock or without.
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

/// A word that no thread's is ever: all events, and a version that is never reached.
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
