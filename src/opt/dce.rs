//! Removal of instructions that have no effect and whose results are not used.

use super::Context;
use super::plant::{Fault, is_planted};
use crate::hir::{Function, Op, Term, Value};
use cranelift_entity::SecondaryMap;

/// Keeps the instructions that must stay by the op table, the values that exits name, and the
/// operands of both.
///
/// Guards stay even if their results are not used: other instructions were folded by the type that
/// the guard proved.
pub fn run(f: &mut Function, _: &Context<'_>) -> bool {
    let mut live = Live {
        is_live: SecondaryMap::with_capacity(f.insts.len()),
        work: Vec::new(),
    };
    live.is_live.resize(f.insts.len());
    for &b in &f.order {
        let data = &f.blocks[b];
        for &v in &data.insts {
            if f.op(v).must_stay() && !is_removed_by_fault(f.op(v)) {
                live.add(v);
            }
        }
        match &data.term {
            Term::Branch { cond, .. } => live.add(f.resolve(*cond)),
            Term::Return(v) => live.add(f.resolve(*v)),
            _ => {}
        }
        data.out_locals.iter().for_each(|v| live.add(f.resolve(*v)));
        let entry = data.entry_state.values();
        entry.for_each(|v| live.add(f.resolve(v)));
        for edge in data.term.edges() {
            edge.args.iter().for_each(|v| live.add(f.resolve(*v)));
        }
    }
    f.relied_on.iter().for_each(|v| live.add(f.resolve(*v)));
    while let Some(v) = live.work.pop() {
        let inst = f.inst(v);
        inst.args.iter().for_each(|a| live.add(f.resolve(*a)));
        if let Some(state) = inst.state {
            let named = f.states[state].values();
            named.for_each(|a| live.add(f.resolve(a)));
        }
    }
    let mut changed = false;
    for b in f.order.clone() {
        let before = f.blocks[b].insts.len();
        f.blocks[b].insts.retain(|v| live.is_live[*v]);
        changed |= f.blocks[b].insts.len() != before;
    }
    changed
}

/// Returns true if the planted fault removes the op: a guard where the interpreter does not raise.
fn is_removed_by_fault(op: &Op) -> bool {
    is_planted(Fault::Dce)
        && matches!(op, Op::GuardTrue(_) | Op::GuardIs(_) | Op::GuardType(_))
        && !op.exit_may_raise()
}

/// The values that are used, as far as they are known.
struct Live {
    is_live: SecondaryMap<Value, bool>,
    /// Live values whose operands have not been visited yet.
    work: Vec<Value>,
}

impl Live {
    fn add(&mut self, v: Value) {
        // Frame states name most values again and again.
        if !std::mem::replace(&mut self.is_live[v], true) {
            self.work.push(v);
        }
    }
}
