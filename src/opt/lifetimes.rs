//! For a host whose objects are traced: no references are counted, and none is the stack's own.

use super::Context;
use crate::hir::{Function, Op};

/// Removes all counting. The passes behind this find no drop that might deallocate an object.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    if cx.lifetimes.are_counted() {
        return false;
    }
    let mut changed = false;
    for b in f.order.clone() {
        let mut insts = std::mem::take(&mut f.blocks[b].insts);
        let before = insts.len();
        insts.retain(|&v| !matches!(f.op(v), Op::Incref | Op::Decref));
        changed |= insts.len() != before;
        f.blocks[b].insts = insts;
    }
    for state in f.states.values_mut() {
        for entry in state.entries_mut() {
            changed |= std::mem::take(&mut entry.owned);
        }
    }
    changed
}
