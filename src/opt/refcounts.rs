//! Removal of an `incref` and the `decref` that undoes it, where nothing between can free the object.

use super::Context;
use super::plant::{Fault, is_planted};
use crate::hir::{Block, Function, Op, StateId, Term, Value};
use std::collections::BTreeSet;

/// How far apart the two may stand: the way between is walked for each `incref`.
const MOST_BETWEEN: usize = 1000;

/// Within a block: `incref v ... decref v` go when no instruction between may drop references to objects of other
/// kinds or run host code. Exits between then take a new reference of their own.
pub fn run(f: &mut Function, _: &Context<'_>) -> bool {
    let mut changed = sink(f);
    for b in f.order.clone() {
        let insts = f.blocks[b].insts.clone();
        let mut gone = vec![false; insts.len()];
        for i in 0..insts.len() {
            if !gone[i]
                && matches!(f.op(insts[i]), Op::Incref)
                && let Some(j) = matching_decref(f, &insts, &gone, i)
            {
                let v = f.object_of(f.arg(insts[i], 0));
                let states: BTreeSet<StateId> = (i + 1..j)
                    .filter(|k| !gone[*k])
                    .filter_map(|k| f.insts[insts[k]].state)
                    .collect();
                for state in states {
                    borrow_in_state(f, state, v);
                }
                (gone[i], gone[j]) = (true, true);
            }
        }
        if gone.contains(&true) {
            let mut gone = gone.into_iter();
            f.blocks[b].insts.retain(|_| gone.next() == Some(false));
            changed = true;
        }
    }
    changed
}

/// Move what is taken right before a branch to both sides, where one of them undoes it.
fn sink(f: &mut Function) -> bool {
    let preds = f.predecessors();
    let mut changed = false;
    for b in f.order.clone() {
        let Term::Branch { then, els, .. } = &f.blocks[b].term else {
            continue;
        };
        let sides = [then.block, els.block];
        let is_side = |side: &Block| preds[*side].len() == 1 && f.blocks[*side].params.is_empty();
        if !sides.iter().all(is_side) {
            continue;
        }
        while let Some(at) = last_taken(f, b) {
            let incref = f.blocks[b].insts[at];
            let is_undone = |side: &Block| {
                let mut insts = vec![incref];
                insts.extend(&f.blocks[*side].insts);
                matching_decref(f, &insts, &vec![false; insts.len()], 0).is_some()
            };
            if !sides.iter().any(is_undone) {
                break;
            }
            f.blocks[b].insts.remove(at);
            for side in sides {
                let copy = f.insts.push(f.insts[incref].clone());
                f.blocks[side].insts.insert(0, copy);
            }
            changed = true;
        }
    }
    changed
}

/// The place of the last `incref` of a block, if what comes after it needs no state.
fn last_taken(f: &Function, b: Block) -> Option<usize> {
    let insts = f.blocks[b].insts.iter().enumerate().rev();
    let mut insts = insts.skip_while(|(_, v)| f.op(**v).is_pure() && f.insts[**v].state.is_none());
    let (at, v) = insts.next()?;
    matches!(f.op(*v), Op::Incref).then_some(at)
}

fn matching_decref(f: &Function, insts: &[Value], gone: &[bool], from: usize) -> Option<usize> {
    let v = f.object_of(f.arg(insts[from], 0));
    // Once code of the program may have run, only a reference that nobody uses any more may still be undone, and only
    // while a local keeps the object alive: then it could as well have been dropped before.
    let mut crossed = false;
    for (j, &inst) in insts.iter().enumerate().skip(from + 1).take(MOST_BETWEEN) {
        if gone[j] {
            continue;
        }
        if crossed
            && !matches!(f.op(inst), Op::Decref)
            && f.insts[inst].args.iter().any(|a| f.object_of(*a) == v)
        {
            return None;
        }
        match f.op(inst) {
            Op::Decref if f.object_of(f.arg(inst, 0)) == v => return Some(j),
            // An object of a quiet class dies without touching others.
            Op::Decref if !f.drop_runs_host_code(f.arg(inst, 0)) => {}
            Op::Incref | Op::RangeNext => {}
            // Moves the reference on: it is needed.
            Op::StoreSlot(_) if f.object_of(f.arg(inst, 0)) == v => return None,
            Op::StoreSlot(_) => {}
            Op::VirtualTuple if f.insts[inst].args.iter().any(|a| f.object_of(*a) == v) => {
                return None;
            }
            Op::Param => return None,
            // Writes a number.
            Op::RawSet(_) => {}
            Op::ListSet if f.object_of(f.insts[inst].args[2]) != v => {}
            Op::Store(_) if f.object_of(f.insts[inst].args[1]) != v => {}
            // What it takes out may be the object itself, of which a local has another reference.
            Op::StoreQuiet(_)
                if f.object_of(f.insts[inst].args[1]) != v && is_local(f, inst, v) => {}
            Op::Decref if is_local(f, inst, v) => crossed = true,
            op if (op.effects().writes || op.effects().runs_host_code)
                && !is_planted(Fault::Refcounts) =>
            {
                return None;
            }
            _ => {}
        }
    }
    None
}

/// Whether a local holds the object while `inst` runs.
fn is_local(f: &Function, inst: Value, v: Value) -> bool {
    f.insts[inst]
        .state
        .is_some_and(|s| f.states[s].locals.iter().any(|l| f.object_of(*l) == v))
}

pub(super) fn borrow_in_state(f: &mut Function, id: StateId, v: Value) {
    let mut state = f.states[id].clone();
    let owned = state
        .entries_mut()
        .filter(|e| e.owned && f.object_of(e.value) == v);
    // One reference was taken: one entry gives it up, of the innermost frame that has one.
    if let Some(entry) = owned.last() {
        entry.owned = false;
        f.states[id] = state;
    }
}
