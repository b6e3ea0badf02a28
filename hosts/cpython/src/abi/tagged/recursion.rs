//! The limits of a thread's recursion: a counter for Python's recursion limit, which counts down,
//! and, for C functions and the interpreter's own recursion, an address that the stack must not go
//! below. Compiled code has a limit of its own, far above that address.

use super::layouts::{debug, thread, thread_impl};
use crate::abi::{_PyRuntime, read, write};
use cladonia::lir::{Block, Builder, IntCond, Opcode, Value};
use cladonia::ll::Width;

/// The value of the counter for Python's limit, for [`take`].
pub struct Left {
    python: Value,
}

/// Returns the offset of the address in a thread's state: it is behind a struct that grows in patch
/// versions, whose size the runtime reports.
fn limit_at() -> i32 {
    // SAFETY: the runtime state begins with the offsets of its structs, of which this is the size
    // of one.
    let size: u64 = unsafe { read(&raw const _PyRuntime, debug::THREAD) };
    size as i32 + thread_impl::SOFT_LIMIT
}

/// LIR that fails where native code may not call any deeper; continues in a new block.
pub fn check(b: &mut Builder<'_>, thread: Value, fail: Block) -> Left {
    let python = b.load(Width::I32, thread, thread::PY_RECURSION_REMAINING);
    let enough = b.icmp_imm(IntCond::Sgt, python, 0);
    b.guard(enough, fail);
    Left { python }
}

/// LIR that counts a native frame.
pub fn take(b: &mut Builder<'_>, thread: Value, left: &Left) {
    let minus = b.iconst(-1);
    let left = b.op(Opcode::Iadd, &[left.python, minus]);
    b.store(Width::I32, thread, thread::PY_RECURSION_REMAINING, left);
}

/// LIR that undoes [`take`].
pub fn give(b: &mut Builder<'_>, thread: Value) {
    b.add_at(Width::I32, thread, thread::PY_RECURSION_REMAINING, 1);
}

/// Undoes [`take`] when a native frame returns.
///
/// # Safety
/// `thread` is the current thread's state.
#[inline(always)]
pub unsafe fn give_back(thread: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        let left: i32 = read(thread, thread::PY_RECURSION_REMAINING);
        write(thread, thread::PY_RECURSION_REMAINING, left + 1);
    }
}

/// Counts the native stack of a frame that so far counts only towards Python's limit. In this
/// version no counter is needed for it.
///
/// # Safety
/// `thread` is the current thread's state.
#[inline(always)]
pub unsafe fn take_native(_thread: *mut u8) {}

/// Returns true if native code may not call any deeper, though Python's limit may not be reached:
/// if there is no room on the stack for a call of a C function.
///
/// # Safety
/// `thread` is the current thread's state.
#[inline(always)]
pub unsafe fn is_native_low(thread: *const u8) -> bool {
    // SAFETY: the caller's promise.
    unsafe { !may_call_c(thread) }
}

/// Returns whether a C function may be called.
///
/// # Safety
/// `thread` is the current thread's state.
#[inline(always)]
pub unsafe fn may_call_c(thread: *const u8) -> bool {
    let here = 0u8;
    // SAFETY: the caller's promise.
    unsafe { &raw const here as usize >= read::<usize, _>(thread, limit_at()) }
}

/// Checks that there is room for a call of a C function, as the interpreter does before those
/// without arguments and with one. Returns the operand of [`leave_c`], `None` if there is no room.
///
/// # Safety
/// `thread` is the current thread's state.
#[inline(always)]
pub unsafe fn enter_c(thread: *mut u8) -> Option<i32> {
    // SAFETY: the caller's promise.
    unsafe { may_call_c(thread).then_some(0) }
}

/// Undoes [`enter_c`].
///
/// # Safety
/// `thread` is the current thread's state; `left` is the result of that.
#[inline(always)]
pub unsafe fn leave_c(_thread: *mut u8, _left: i32) {}

/// LIR of [`enter_c`]: continues in `go`, or in `deep` with nothing done.
pub fn check_c(b: &mut Builder<'_>, thread: Value, go: Block, deep: Block) -> Value {
    let here = b.op(Opcode::Sp, &[]);
    let limit = b.load(Width::I64, thread, limit_at());
    let is_room = b.icmp(IntCond::Uge, here, limit);
    b.br(is_room, go, &[], deep, &[]);
    here
}

/// LIR that counts a call, after [`check_c`].
pub fn take_c(_b: &mut Builder<'_>, _thread: Value, _left: Value) {}

/// LIR that undoes [`take_c`].
pub fn give_c(_b: &mut Builder<'_>, _thread: Value, _left: Value) {}

/// Returns whether a thread's limit of its stack is plausible: the address is below that of a
/// local, if it is known.
///
/// # Safety
/// `thread` is the current thread's state.
pub unsafe fn is_plausible(thread: *const u8) -> bool {
    let here = 0u8;
    // SAFETY: the caller's promise.
    let limit = unsafe { read::<usize, _>(thread, limit_at()) };
    let below = (&raw const here as usize).wrapping_sub(limit);
    limit == 0 || below < 1 << 40
}
