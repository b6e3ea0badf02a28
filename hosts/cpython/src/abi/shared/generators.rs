//! The state of a generator, whose numbers are in the order created, waiting, running, ended.

use super::layouts::generator;
use crate::abi::read;
use cladonia::lir::{Builder, IntCond, Opcode, Value};
use cladonia::ll::Width;

pub use super::forms::ABOVE_ITERATOR;

/// Returns whether the state is that of a generator that has not begun or waits.
#[inline(always)]
pub fn may_be_resumed(state: i8) -> bool {
    state < generator::STATE_EXECUTING as i8
}

/// Returns whether the state is that of a generator that waits.
#[inline(always)]
pub fn is_suspended(state: i8) -> bool {
    state == generator::STATE_SUSPENDED as i8 || state == generator::STATE_DELEGATING as i8
}

/// Returns whether the state is that of a generator that has finished.
#[inline(always)]
pub fn has_ended(state: i8) -> bool {
    state > generator::STATE_EXECUTING as i8
}

/// The state of a generator.
///
/// # Safety
/// `generator` is one.
#[inline(always)]
pub unsafe fn state(generator: *const u8) -> i8 {
    // SAFETY: the caller's promise.
    unsafe { read(generator, generator::FRAME_STATE) }
}

/// LIR for whether a generator has not begun, or waits.
pub fn waits(b: &mut Builder<'_>, generator: Value) -> Value {
    let state = b.load(Width::U8, generator, generator::FRAME_STATE);
    if generator::STATE_CREATED < 0 {
        // As unsigned bytes, those below 0 are the largest.
        b.icmp_imm(IntCond::Uge, state, (generator::STATE_CREATED as u8).into())
    } else {
        b.icmp_imm(IntCond::Ult, state, generator::STATE_EXECUTING.into())
    }
}

/// LIR that lets a generator wait; `delegates` is 1 if it does at a `yield from` or an `await`,
/// else 0.
pub fn suspend(b: &mut Builder<'_>, generator: Value, delegates: Value) {
    const { assert!(generator::STATE_DELEGATING == generator::STATE_SUSPENDED + 1) }
    let waits = b.iconst((generator::STATE_SUSPENDED as u8).into());
    let waits = b.op(Opcode::Iadd, &[waits, delegates]);
    b.store(Width::U8, generator, generator::FRAME_STATE, waits);
}

/// LIR that lets a generator run.
pub fn run(b: &mut Builder<'_>, generator: Value) {
    let running = b.iconst(generator::STATE_EXECUTING.into());
    b.store(Width::U8, generator, generator::FRAME_STATE, running);
}
