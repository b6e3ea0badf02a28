//! The word that every thread looks at where a function begins and a loop turns: what is pending, and which version of
//! monitoring its code is to be of.

use super::layouts::thread;
use crate::abi;

/// The bits for pending events; those above are the version of monitoring, as a code object has it.
pub const EVENTS: u64 = (1 << EVENT_BITS) - 1;

/// How many bits those are.
pub const EVENT_BITS: u32 = 8;

/// Events that cannot raise: another thread wants the lock, a collection is due, a request to stop or to merge reference
/// counts.
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

/// Whether something is pending for a thread.
///
/// # Safety
/// `thread` is a thread state.
#[inline(always)]
pub unsafe fn is_pending(thread: *const u8) -> bool {
    // SAFETY: the caller's promise.
    unsafe { word(thread) & EVENTS != 0 }
}
