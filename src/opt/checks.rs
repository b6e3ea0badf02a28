//! Removal of checks of what code of the program may have changed, where none can have run.

use super::Context;
use super::plant::{Fault, is_planted};
use crate::hir::{Function, Op, Validity};

/// Drop each `check_valid` and `check_unseen` before which, on every path, nothing has run host code since the last one.
pub fn run(f: &mut Function, _: &Context<'_>) -> bool {
    let validity = Validity::of(f);
    let mut removed = false;
    for b in f.order.clone() {
        let dirty = validity.dirty_before(f, b);
        let insts = f.blocks[b].insts.iter().zip(dirty);
        let kept = insts.filter(|(v, dirty)| {
            !matches!(f.op(**v), Op::CheckValid | Op::CheckUnseen)
                || (*dirty && !is_planted(Fault::Checks))
        });
        let kept: Vec<_> = kept.map(|(v, _)| *v).collect();
        removed |= kept.len() < f.blocks[b].insts.len();
        f.blocks[b].insts = kept;
    }
    removed
}
