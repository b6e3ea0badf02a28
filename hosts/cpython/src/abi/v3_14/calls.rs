//! How the interpreter passes the arguments of a vectorcall: in an array of its own, from which nothing may be taken. Those on the operand
//! stack of the calling frame have tags, so they are copied.

use cladonia::lir::{Block, Builder, Value};
use pyo3_ffi::PyObject;

/// LIR that branches to `copy`: the arguments of a vectorcall are never the callee's.
pub fn branch_on_owner(
    b: &mut Builder<'_>,
    _ts: Value,
    _callee: Value,
    _args: Value,
    _given: usize,
    _take: Block,
    copy: Block,
) {
    b.jump(copy, &[]);
}

/// The same question as [`branch_on_owner`] in Rust.
///
/// # Safety
/// None here; in other versions `ts` is the current thread, and the arguments are those of a vectorcall of `callee`.
pub unsafe fn are_owned(
    _ts: *const u8,
    _callee: *mut PyObject,
    _args: *const *mut PyObject,
    _given: usize,
) -> bool {
    false
}
