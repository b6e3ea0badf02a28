//! Removal of instructions whose results nobody needs and that do nothing else.

use super::Context;
use super::plant::{Fault, is_planted};
use crate::hir::{Function, Op, Term, Value};
use cranelift_entity::SecondaryMap;

/// Keep what has effects, what may be seen at an exit, and what those need.
///
/// Guards stay even if nothing names their result: what was folded by the type they gave does not.
pub fn run(f: &mut Function, _: &Context<'_>) -> bool {
    let mut live: SecondaryMap<Value, bool> = SecondaryMap::new();
    let mut work: Vec<Value> = Vec::new();
    for &b in &f.order {
        let data = &f.blocks[b];
        for &v in &data.insts {
            let op = f.op(v);
            let is_guard = matches!(
                op,
                Op::GuardTrue(_) | Op::GuardBound | Op::GuardIs(_) | Op::GuardType(_)
            );
            if op.has_side_effect() || op.exit_may_raise() || is_guard && !is_planted(Fault::Dce) {
                work.push(v);
            }
        }
        match &data.term {
            Term::Branch { cond, .. } => work.push(f.resolve(*cond)),
            Term::Return(v) => work.push(f.resolve(*v)),
            _ => {}
        }
        work.extend(data.out_locals.iter().map(|v| f.resolve(*v)));
        let entry = &data.entry_state;
        work.extend(entry.locals.iter().map(|v| f.resolve(*v)));
        work.extend(entry.stack.iter().map(|e| f.resolve(e.value)));
        for edge in data.term.edges() {
            work.extend(edge.args.iter().map(|v| f.resolve(*v)));
        }
    }
    work.extend(f.relied_on.iter().map(|v| f.resolve(*v)));
    while let Some(v) = work.pop() {
        if std::mem::replace(&mut live[v], true) {
            continue;
        }
        let inst = f.inst(v);
        work.extend(inst.args.iter().map(|a| f.resolve(*a)));
        if let Some(state) = inst.state {
            let state = &f.states[state];
            work.extend(state.locals.iter().map(|a| f.resolve(*a)));
            work.extend(state.stack.iter().map(|e| f.resolve(e.value)));
        }
    }
    let mut changed = false;
    for b in f.order.clone() {
        let before = f.blocks[b].insts.len();
        f.blocks[b].insts.retain(|v| live[*v]);
        changed |= f.blocks[b].insts.len() != before;
    }
    changed
}
