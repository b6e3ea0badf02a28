//! The record that a dict keeps of a replaced value: none, it only calls its watchers.

use super::layouts::dict;
use crate::capi::Obj;
use cladonia::lir::{Builder, Value};

/// The offset in a dict of the word with its watchers' bits (i64), and the mask of these bits.
pub const WATCHERS_AT: i32 = dict::WATCHER_TAG;
/// The bits.
pub const WATCHERS: i32 = dict::WATCHERS;

/// Returns the operand of [`bump`], which needs none.
///
/// # Safety
/// None here; in other versions the thread has the GIL and no exception is set.
pub unsafe fn find() -> Option<u64> {
    Some(0)
}

/// LIR that notes that a value was replaced: dicts have no versions.
pub fn bump(_b: &mut Builder<'_>, _namespace: Value, _tag: Value, _counter: u64) {}

/// Notes that a value of a dict was replaced: dicts have no versions.
///
/// # Safety
/// None here; in other versions the thread has the GIL.
pub unsafe fn note_replaced(_dict: Obj, _counter: u64) {}

/// Returns whether a dict may have changed from when it had the first of two words with watchers to
/// when it had the second.
pub fn is_later(before: u64, after: u64) -> bool {
    after == before
}
