//! Removal of checks of validity and state where no user code can have run since the last one.

use super::Context;
use super::plant::{Fault, is_planted};
use crate::hir::{Function, Op, Validity};

/// Removes each `check_valid` and `check_unseen` if, on every path to it, no host code has run
/// since the last one.
pub fn run(f: &mut Function, _: &Context<'_>) -> bool {
    let validity = Validity::of(f);
    let mut removed = false;
    let is_check = |op: &Op| matches!(op, Op::CheckValid | Op::CheckUnseen);
    for b in f.order.clone() {
        if !f.blocks[b].insts.iter().any(|v| is_check(f.op(*v))) {
            continue;
        }
        let dirty = validity.dirty_before(f, b);
        let insts = f.blocks[b].insts.iter().zip(dirty);
        let kept = insts
            .filter(|(v, dirty)| !is_check(f.op(**v)) || (*dirty && !is_planted(Fault::Checks)));
        let kept: Vec<_> = kept.map(|(v, _)| *v).collect();
        removed |= kept.len() < f.blocks[b].insts.len();
        f.blocks[b].insts = kept;
    }
    removed
}
