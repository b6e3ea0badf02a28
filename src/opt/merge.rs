//! Blocks that follow each other for sure become one.
//!
//! Operations that may raise end their blocks; once they are specialised most of them do not, and what was one
//! straight line should be one again for the passes that look at a block at a time.

use super::Context;
use crate::hir::{Function, Term};

/// Append to each block the only successor that nothing else leads to and that takes no values.
pub fn run(f: &mut Function, _: &Context<'_>) -> bool {
    let preds = f.predecessors();
    let mut changed = false;
    for b in f.order.clone() {
        // What was appended is empty and leads nowhere.
        while let Term::Jump(edge) = &f.blocks[b].term {
            let next = edge.block;
            let data = &f.blocks[next];
            if preds[next].len() != 1 || !data.params.is_empty() || data.is_loop_header {
                break;
            }
            let insts = std::mem::take(&mut f.blocks[next].insts);
            let term = std::mem::replace(&mut f.blocks[next].term, Term::Unreachable);
            let end = f.blocks[next].end;
            let out_locals = std::mem::take(&mut f.blocks[next].out_locals);
            let block = &mut f.blocks[b];
            block.insts.extend(insts);
            block.term = term;
            block.out_locals = out_locals;
            block.end = end;
            changed = true;
        }
    }
    if changed {
        let entry = f.entry();
        f.compute_order(entry);
    }
    changed
}
