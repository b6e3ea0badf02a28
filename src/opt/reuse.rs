//! A number object that a store overwrites gets the new number's value.
//!
//! `self.count += 1` and `l[i] = l[i] * 2.0` allocate a number, store it, and drop the old one.
//! Mostly the store's place has the only reference to the old object, which has the same class:
//! then [`Op::Reuse`] gives it the new value, which is not observable, and nothing is allocated,
//! stored or deallocated. If the object has another owner, the store is done as before. (As in the
//! reuse of cells whose reference is the last one: Reinking, Xie, de Moura and Leijen 2021.)
//!
//! # Conditions
//! The overwritten value is known to be the object that was loaded from that place before in the
//! same block, and is dropped at once. No instruction behind the store names the old object, which
//! is another number then; and no pass relies on its value.

use super::Context;
use crate::hir::{Block, BlockData, Edge, Function, Inst, Op, Term, Value};
use crate::types::Type;
use cranelift_entity::SecondaryMap;
use std::cell::OnceCell;

/// Gives number objects that are about to be deallocated the value of a new number.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    if !cx.reuses || cx.check_facts || f.taken_out.is_empty() {
        return false;
    }
    // Counted at the first query: most functions have no such store.
    let uses = OnceCell::new();
    let mut changed = false;
    for b in f.order.clone() {
        // The last store first: the instructions behind a store move to another block.
        while let Some(found) = find(f, &uses, b) {
            take_apart(f, b, found);
            changed = true;
        }
    }
    if changed {
        let entry = f.entry();
        f.compute_order(entry);
    }
    changed
}

/// The number of uses of each object, by any of its names, including edges and the frames at the
/// ends of blocks.
fn count_uses(f: &Function) -> SecondaryMap<Value, usize> {
    let mut uses = SecondaryMap::new();
    for &b in &f.order {
        f.named_in(b).for_each(|v| uses[f.object_of(v)] += 1);
    }
    uses
}

/// A store of a number in the place of another one.
struct Found {
    /// Its place in the block.
    at: usize,
    /// The number of instructions from the store to the drop of the overwritten value.
    len: usize,
    /// The number that was there.
    old: Value,
    /// The raw value of the new number, and its box.
    raw: Value,
    boxed: Value,
}

fn find(f: &Function, uses: &OnceCell<SecondaryMap<Value, usize>>, b: Block) -> Option<Found> {
    let insts = &f.blocks[b].insts;
    insts.iter().enumerate().rev().find_map(|(at, &store)| {
        let place = match f.op(store) {
            Op::ListSet | Op::ItemSet => 2,
            Op::Store(_) | Op::StoreQuiet(_) => 1,
            _ => return None,
        };
        let old = f.object_of(*f.taken_out.get(&store)?);
        let is_loaded = matches!(f.op(old), Op::ListGet | Op::ItemGet | Op::Load(_));
        let boxed = f.object_of(f.arg(store, place));
        let class = match f.op(boxed) {
            Op::BoxFloat => Type::FLOAT_EXACT,
            Op::BoxInt => Type::LONG_EXACT,
            _ => return None,
        };
        let ty = f.ty(store);
        if !is_loaded || !(ty <= class) || ty.is_bottom() {
            return None;
        }
        // References to virtual objects are not counted.
        let is_idle = |v: &Value| {
            matches!(f.op(*v), Op::Incref | Op::Decref) && f.op(f.object_of(f.arg(*v, 0))).is_box()
        };
        let behind = &insts[at + 1..];
        let between = behind.iter().take_while(|v| is_idle(v)).count();
        let dropped = *behind.get(between)?;
        let is_dropped = *f.op(dropped) == Op::Decref && f.arg(dropped, 0) == f.resolve(store);
        // The old object is named only before the store, in this block.
        let start = insts[..at].iter().position(|v| *v == old)?;
        let named = insts[start..at].iter().flat_map(|v| f.named_by(*v));
        let before = named.filter(|v| f.object_of(*v) == old).count();
        if !is_dropped {
            return None;
        }
        let uses = uses.get_or_init(|| count_uses(f));
        let only_there = before == uses[old] && uses[f.resolve(store)] == 1;
        only_there.then_some(Found {
            at,
            len: between + 2,
            old,
            raw: f.arg(boxed, 0),
            boxed,
        })
    })
}

/// Splits a block at a store.
fn take_apart(f: &mut Function, b: Block, found: Found) {
    let Found {
        at,
        len,
        old,
        raw,
        boxed,
    } = found;
    let mut rest = f.blocks[b].insts.split_off(at);
    let behind = rest.split_off(len);
    let dropped = *rest.last().expect("the drop");
    let Inst { state, pc, .. } = f.insts[dropped];
    let state = match state {
        Some(state) => f.states[state].clone(),
        None => f.blocks[b].entry_state.clone(),
    };
    let end = f.blocks[b].end;
    let out_locals = f.blocks[b].out_locals.clone();
    let term = std::mem::replace(&mut f.blocks[b].term, Term::Unreachable);
    let to = |block| Edge {
        block,
        args: Vec::new(),
    };
    let mut new = |insts, term, out_locals| {
        f.blocks.push(BlockData {
            insts,
            term,
            out_locals,
            ..BlockData::new(state.clone(), end)
        })
    };
    let go = new(behind, term, out_locals);
    let slow = new(rest, Term::Jump(to(go)), state.locals.clone());
    let fast = new(Vec::new(), Term::Jump(to(go)), state.locals.clone());
    // The reference that the store would have taken over, and the other references between it and
    // the drop.
    let mut counts: Vec<Inst> = Vec::new();
    let drop = Inst::proved(Op::Decref, vec![boxed], Type::BOTTOM, pc);
    counts.push(Inst {
        state: f.insts[dropped].state,
        ..drop
    });
    let between = &f.blocks[slow].insts[1..len - 1];
    counts.extend(between.iter().map(|v| f.insts[*v].clone()));
    for inst in counts {
        let v = f.insts.push(inst);
        f.blocks[fast].insts.push(v);
    }
    let reuse = Inst::proved(Op::Reuse, vec![old, raw], Type::CBOOL, pc);
    let reuse = f.insts.push(reuse);
    let data = &mut f.blocks[b];
    data.insts.push(reuse);
    data.out_locals = state.locals;
    data.term = Term::Branch {
        cond: reuse,
        then: to(fast),
        els: to(slow),
    };
}
