//! Removal of validity checks that no call-out precedes.

use super::Context;
use super::plant::{Fault, is_planted};
use crate::hir::{Block, Function, Op};
use cranelift_entity::SecondaryMap;

/// Drop each `check_valid` before which, on every path, nothing has run host code since the last one.
pub fn run(f: &mut Function, _: &Context<'_>) -> bool {
    let mut dirty_in: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        for &b in &f.order {
            let out = flow(f, b, dirty_in[b], &mut |_| {});
            // Lowering goes to a landing block only while the unit is valid.
            let landing = f.landing(b).map(|l| l.1);
            for edge in f.blocks[b].term.edges() {
                let out = out && Some(edge.block) != landing;
                if out && !dirty_in[edge.block] {
                    dirty_in[edge.block] = true;
                    changed = true;
                }
            }
        }
    }
    let mut removed = false;
    for b in f.order.clone() {
        let mut needless = Vec::new();
        flow(f, b, dirty_in[b], &mut |v| needless.push(v));
        if !needless.is_empty() {
            // In the order of the block.
            let mut next = needless.iter().peekable();
            f.blocks[b].insts.retain(|v| next.next_if_eq(&v).is_none());
            removed = true;
        }
    }
    removed
}

fn flow(
    f: &Function,
    b: Block,
    mut dirty: bool,
    needless: &mut dyn FnMut(crate::hir::Value),
) -> bool {
    for &v in &f.blocks[b].insts {
        match f.op(v) {
            Op::CheckValid => {
                if !dirty || is_planted(Fault::Checks) {
                    needless(v);
                }
                dirty = false;
            }
            // Looks itself after the pending work is done.
            Op::CheckPending | Op::CallRaw(..) => dirty = false,
            _ => dirty |= f.may_run_host_code(v),
        }
    }
    dirty
}
