//! Numbers that are surely not below zero.
//!
//! The length of a vector is the root of a sum of squares: no square is below zero, and no sum of them, so the root needs no check of that,
//! and a power is a float. What is left of a power is that it may be too large, or one of zero: then the host's operation is asked, which
//! raises.

use super::Context;
use crate::hir::{Function, Op, Value};

/// How far back the sign of a number is looked for.
const DEPTH: u32 = 8;

/// Drop the checks of signs.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let mut changed = false;
    for b in f.order.clone() {
        for i in 0..f.blocks[b].insts.len() {
            let v = f.blocks[b].insts[i];
            let state = f.insts[v].state;
            let (op, state) = match f.insts[v].op {
                Op::FloatSqrt => (Op::FloatRoot, None),
                // What takes raw numbers has no frame to raise in.
                Op::FloatPow if cx.inlines && may_raise_here(f, v) => (Op::FloatPower, state),
                _ => continue,
            };
            if is_not_below_zero(f, f.arg(v, 0), DEPTH) {
                let inst = &mut f.insts[v];
                (inst.op, inst.state) = (op, state);
                changed = true;
            }
        }
    }
    changed
}

/// Whether an exception of an instruction just leaves: a handler would have to be entered by an edge, and the caller of inlined code
/// raises at its call.
fn may_raise_here(f: &Function, v: Value) -> bool {
    let inst = &f.insts[v];
    let state = inst.state.map(|state| &f.states[state]);
    state.is_some_and(|state| state.inlined.is_empty()) && f.code.handler_at(inst.pc).is_none()
}

/// Whether a double is surely nan, or not below zero: a square, a root, a size, and sums, products and quotients of such.
fn is_not_below_zero(f: &Function, v: Value, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let is = |i: usize| is_not_below_zero(f, f.arg(v, i), depth);
    match *f.op(v) {
        Op::ConstDouble(bits) => f64::from_bits(bits) >= 0.0,
        Op::FloatAbs | Op::FloatSqrt | Op::FloatRoot | Op::FloatPow | Op::FloatPower => true,
        Op::FloatMul => f.arg(v, 0) == f.arg(v, 1) || is(0) && is(1),
        Op::FloatAdd | Op::FloatDiv => is(0) && is(1),
        Op::Select => is(1) && is(2),
        _ => false,
    }
}
