//! Removal of an `incref` and the `decref` that undoes it, where nothing between can free the object.

use super::Context;
use crate::hir::{Function, Op, StateId, Value};
use std::collections::BTreeSet;

/// Within a block: `incref v ... decref v` go when no instruction between may drop references to objects of other
/// kinds or run host code. Exits between then take a new reference of their own.
pub fn run(f: &mut Function, _: &Context<'_>) -> bool {
    let mut changed = false;
    for b in f.order.clone() {
        let mut insts = f.blocks[b].insts.clone();
        let mut i = 0;
        while i < insts.len() {
            if matches!(f.op(insts[i]), Op::Incref)
                && let Some(j) = matching_decref(f, &insts, i)
            {
                let v = object_of(f, f.arg(insts[i], 0));
                let states: BTreeSet<StateId> = insts[i + 1..j].iter().filter_map(|v| f.insts[*v].state).collect();
                for state in states {
                    borrow_in_state(f, state, v);
                }
                insts.remove(j);
                insts.remove(i);
                changed = true;
            } else {
                i += 1;
            }
        }
        f.blocks[b].insts = insts;
    }
    changed
}

/// The value without guards and refinements: the same object.
fn object_of(f: &Function, mut v: Value) -> Value {
    v = f.resolve(v);
    while matches!(f.op(v), Op::GuardType(_) | Op::GuardIs(_) | Op::GuardBound | Op::Refine(_)) {
        v = f.arg(v, 0);
    }
    v
}

fn matching_decref(f: &Function, insts: &[Value], from: usize) -> Option<usize> {
    let v = object_of(f, f.arg(insts[from], 0));
    for (j, &inst) in insts.iter().enumerate().skip(from + 1) {
        match f.op(inst) {
            Op::Decref if object_of(f, f.arg(inst, 0)) == v => return Some(j),
            // An object of a quiet class dies without touching others.
            Op::Decref if !f.drop_runs_host_code(f.arg(inst, 0)) => {}
            Op::Incref | Op::RangeNext => {}
            // Moves the reference on: it is needed.
            Op::StoreSlot(_) if object_of(f, f.arg(inst, 0)) == v => return None,
            Op::StoreSlot(_) => {}
            Op::Param => return None,
            op if op.effects().writes || op.effects().runs_host_code => return None,
            _ => {}
        }
    }
    None
}

fn borrow_in_state(f: &mut Function, id: StateId, v: Value) {
    let entries: Vec<usize> = (0..f.states[id].stack.len())
        .filter(|&k| f.states[id].stack[k].owned && object_of(f, f.states[id].stack[k].value) == v)
        .collect();
    // One reference was taken: one entry gives it up.
    if let Some(&k) = entries.last() {
        f.states[id].stack[k].owned = false;
    }
}
