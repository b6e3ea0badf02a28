//! Blocks that follow each other for sure become one.
//!
//! Operations that may raise end their blocks. Most of them do not raise once they are specialised,
//! and straight code should be one block again for the passes that look at one block at a time.
//!
//! A branch of which one side only exits (code that was never reached) becomes a check, and the
//! other side follows it.

use super::Context;
use crate::bytecode::{GeneralOp, Pc, Reason};
use crate::facts::Source;
use crate::hir::{Block, Function, Inst, Op, StateId, Term, Value};
use crate::types::Type;

/// Append to each block the only successor that nothing else leads to and that takes no values.
pub fn run(f: &mut Function, _: &Context<'_>) -> bool {
    let mut changed = false;
    for b in f.order.clone() {
        changed |= check_branch(f, b);
    }
    if changed {
        // No edge leads to the block that exits.
        let entry = f.entry();
        f.compute_order(entry);
    }
    let preds = f.predecessors();
    for b in f.order.clone() {
        // The block that was appended is empty and has no successors.
        while let Term::Jump(edge) = &f.blocks[b].term {
            let next = edge.block;
            let data = &f.blocks[next];
            if preds[next].len() != 1
                || !data.params.is_empty()
                || data.is_loop_header
                || !holds_the_same(f, b, next)
            {
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

/// Returns true if the slots of locals have the same objects at the end of a block as at the start
/// of the next one. If a local travels raw from there on, its object is dropped on the edge.
fn holds_the_same(f: &Function, b: Block, next: Block) -> bool {
    let before = f.blocks[b].out_locals.iter();
    let after = f.blocks[next].entry_state.locals.iter();
    let mut slots = before.zip(after).take(f.code.locals.len());
    slots.all(|(before, after)| before == after || f.counted(*before) == f.counted(*after))
}

/// Replaces the branch at the end of a block by a check, if one side only exits.
fn check_branch(f: &mut Function, b: Block) -> bool {
    let Term::Branch { cond, then, els } = f.blocks[b].term.clone() else {
        return false;
    };
    // At the end of a loop over an iterator there is no item.
    if matches!(
        f.op(cond),
        Op::RangeNext
            | Op::IterMore
            | Op::General(
                GeneralOp::IterNext | GeneralOp::IterNextBy | GeneralOp::NextItems,
                _
            )
    ) {
        return false;
    }
    let (at, negated, on) = match (leaves_at(f, els.block), leaves_at(f, then.block)) {
        (Some(at), _) => (at, false, then),
        (None, Some(at)) => (at, true, els),
        (None, None) => return false,
    };
    let (reason, state, pc) = at;
    let mut push = |op: Op, arg: Value, ty: Type, state: Option<StateId>| {
        let v = f.insts.push(Inst {
            op,
            args: vec![arg],
            ty,
            source: Source::Proved,
            state,
            pc,
        });
        f.blocks[b].insts.push(v);
        v
    };
    let cond = match negated {
        true => push(Op::BoolNot, cond, Type::CBOOL, None),
        false => cond,
    };
    push(Op::GuardTrue(reason), cond, Type::BOTTOM, Some(state));
    f.blocks[b].term = Term::Jump(on);
    true
}

/// The exit of a block that does nothing else.
fn leaves_at(f: &Function, block: Block) -> Option<(Reason, StateId, Pc)> {
    let data = &f.blocks[block];
    let (&last, rest) = data.insts.split_last()?;
    let inst = &f.insts[last];
    let Op::GuardTrue(reason) = inst.op else {
        return None;
    };
    // Others may be forced where they hold.
    let is_never = reason.is_dead_end() && *f.op(inst.args[0]) == Op::ConstBool(false);
    let is_bare = rest.iter().all(|v| matches!(f.op(*v), Op::ConstBool(_)));
    let ends = data.params.is_empty() && data.term == Term::Unreachable;
    (is_never && is_bare && ends).then_some((reason, inst.state?, inst.pc))
}
