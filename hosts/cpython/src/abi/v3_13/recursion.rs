//! The limits of a thread's recursion: a counter for Python's recursion limit, and one for C
//! functions and the interpreter's own recursion, which both count down.

use super::layouts::thread;
use crate::abi::{read, write};
use cladonia::lir::{Block, Builder, IntCond, Opcode, Value};
use cladonia::ll::Width;

/// C recursion left to other code: native calls deeper than this run interpreted.
const RESERVE: i32 = 4500;

/// The values of both counters, for [`take`].
pub struct Left {
    python: Value,
    native: Value,
}

/// LIR that fails where native code may not call any deeper; continues in a new block.
pub fn check(b: &mut Builder<'_>, thread: Value, fail: Block) -> Left {
    let python = b.load(Width::I32, thread, thread::PY_RECURSION_REMAINING);
    let enough = b.icmp_imm(IntCond::Sgt, python, 0);
    b.guard(enough, fail);
    let native = b.load(Width::I32, thread, thread::C_RECURSION_REMAINING);
    let enough = b.icmp_imm(IntCond::Sgt, native, RESERVE.into());
    b.guard(enough, fail);
    Left { python, native }
}

/// LIR that counts a native frame.
pub fn take(b: &mut Builder<'_>, thread: Value, left: &Left) {
    let minus = b.iconst(-1);
    for (offset, left) in [
        (thread::PY_RECURSION_REMAINING, left.python),
        (thread::C_RECURSION_REMAINING, left.native),
    ] {
        let left = b.op(Opcode::Iadd, &[left, minus]);
        b.store(Width::I32, thread, offset, left);
    }
}

/// LIR that undoes [`take`].
pub fn give(b: &mut Builder<'_>, thread: Value) {
    for offset in [
        thread::PY_RECURSION_REMAINING,
        thread::C_RECURSION_REMAINING,
    ] {
        b.add_at(Width::I32, thread, offset, 1);
    }
}

/// Undoes [`take`] when a native frame returns.
///
/// # Safety
/// `thread` is the current thread's state.
#[inline(always)]
pub unsafe fn give_back(thread: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        for offset in [
            thread::PY_RECURSION_REMAINING,
            thread::C_RECURSION_REMAINING,
        ] {
            write(thread, offset, read::<i32, _>(thread, offset) + 1);
        }
    }
}

/// Counts the native stack of a frame that so far counts only towards Python's limit.
///
/// # Safety
/// `thread` is the current thread's state.
#[inline(always)]
pub unsafe fn take_native(thread: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        let left: i32 = read(thread, thread::C_RECURSION_REMAINING);
        write(thread, thread::C_RECURSION_REMAINING, left - 1);
    }
}

/// Returns whether native code may not call any deeper, though Python's limit may not be reached.
///
/// # Safety
/// `thread` is the current thread's state.
#[inline(always)]
pub unsafe fn is_native_low(thread: *const u8) -> bool {
    // SAFETY: the caller's promise.
    unsafe { read::<i32, _>(thread, thread::C_RECURSION_REMAINING) <= RESERVE }
}

/// Returns whether a C function may be called.
///
/// # Safety
/// `thread` is the current thread's state.
#[inline(always)]
pub unsafe fn may_call_c(thread: *const u8) -> bool {
    // SAFETY: the caller's promise.
    unsafe { read::<i32, _>(thread, thread::C_RECURSION_REMAINING) > 0 }
}

/// Counts a call of a C function, as the interpreter counts those without arguments and with one.
/// Returns the operand of [`leave_c`], `None` if there is no room.
///
/// # Safety
/// `thread` is the current thread's state.
#[inline(always)]
pub unsafe fn enter_c(thread: *mut u8) -> Option<i32> {
    // SAFETY: the caller's promise.
    unsafe {
        let left: i32 = read(thread, thread::C_RECURSION_REMAINING);
        if left <= 0 {
            return None;
        }
        write(thread, thread::C_RECURSION_REMAINING, left - 1);
        Some(left)
    }
}

/// Undoes [`enter_c`].
///
/// # Safety
/// `thread` is the current thread's state; `left` is the result of that.
#[inline(always)]
pub unsafe fn leave_c(thread: *mut u8, left: i32) {
    // SAFETY: the caller's promise.
    unsafe { write(thread, thread::C_RECURSION_REMAINING, left) }
}

/// LIR of [`enter_c`]: continues in `go`, or in `deep` with nothing done.
pub fn check_c(b: &mut Builder<'_>, thread: Value, go: Block, deep: Block) -> Value {
    let left = b.load(Width::I32, thread, thread::C_RECURSION_REMAINING);
    let is_room = b.icmp_imm(IntCond::Sgt, left, 0);
    b.br(is_room, go, &[], deep, &[]);
    left
}

/// LIR that counts a call, after [`check_c`].
pub fn take_c(b: &mut Builder<'_>, thread: Value, left: Value) {
    let one = b.iconst(1);
    let less = b.op(Opcode::Isub, &[left, one]);
    b.store(Width::I32, thread, thread::C_RECURSION_REMAINING, less);
}

/// LIR that undoes [`take_c`].
pub fn give_c(b: &mut Builder<'_>, thread: Value, left: Value) {
    b.store(Width::I32, thread, thread::C_RECURSION_REMAINING, left);
}

/// Returns whether a thread's counter of native recursion is plausible.
///
/// # Safety
/// `thread` is the current thread's state.
pub unsafe fn is_plausible(thread: *const u8) -> bool {
    // SAFETY: the caller's promise.
    let left = unsafe { read::<i32, _>(thread, thread::C_RECURSION_REMAINING) };
    (1..=100_000).contains(&left)
}
