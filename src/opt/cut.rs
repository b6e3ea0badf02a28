//! Removal of instructions behind checks that always fail, where any type may have been derived.

use super::Context;
use crate::hir::{Function, Term, remove_trivial_params};

/// End blocks with the first check in them that always fails.
pub fn run(f: &mut Function, _: &Context<'_>) -> bool {
    let mut changed = false;
    for b in f.order.clone() {
        let insts = &f.blocks[b].insts;
        let Some(last) = insts.iter().position(|v| f.always_fails(*v)) else {
            continue;
        };
        let Some(state) = f.insts[insts[last]].state else {
            continue;
        };
        if last + 1 == insts.len() && f.blocks[b].term == Term::Unreachable {
            continue;
        }
        let locals = f.states[state].locals.clone();
        let data = &mut f.blocks[b];
        data.insts.truncate(last + 1);
        data.term = Term::Unreachable;
        data.out_locals = locals;
        changed = true;
    }
    if changed {
        let entry = f.entry();
        f.compute_order(entry);
        remove_trivial_params(f);
    }
    changed
}
