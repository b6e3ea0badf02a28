//! Drops that deallocate nothing, since a tuple has the object too.
//!
//! A tuple keeps its items alive, and a local keeps the tuple alive. So a reference to an item of
//! the tuple is not the last one while the local has the tuple: dropping it runs no user code, and
//! needs no check behind it. For example, `a, b = pair` drops the old `a`, which is an item of the
//! local `last`.

use super::Context;
use crate::hir::{Block, Function, Inst, Op, Validity, Value};

/// Marks objects that a tuple keeps alive where they are dropped ([`Op::Held`]).
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let blocks = f.order.iter().copied();
    let blocks: Vec<Block> = blocks
        .filter(|b| f.blocks[*b].insts.iter().any(|v| is_of_tuple(f, *v)))
        .collect();
    if blocks.is_empty() || !cx.lifetimes.are_counted() {
        return false;
    }
    let validity = Validity::of(f);
    let mut changed = false;
    for b in blocks {
        let held = held_in(f, &validity, b);
        changed |= !held.is_empty();
        // From the end, so that the places of the others stay valid.
        for at in held.into_iter().rev() {
            let drop = f.blocks[b].insts[at];
            let dropped = f.arg(drop, 0);
            let inst = Inst::proved(Op::Held, vec![dropped], f.ty(dropped), f.insts[drop].pc);
            let held = f.insts.push(inst);
            f.insts[drop].args[0] = held;
            f.blocks[b].insts.insert(at, held);
        }
    }
    changed
}

/// Returns true if an instruction drops an item of a tuple, and the item's destructor may run user
/// code.
fn is_of_tuple(f: &Function, v: Value) -> bool {
    *f.op(v) == Op::Decref && {
        let dropped = f.arg(v, 0);
        *f.op(f.object_of(dropped)) == Op::TupleGet && f.drop_runs_host_code(dropped)
    }
}

/// The places of the instructions that drop an item of a tuple which a local keeps alive.
fn held_in(f: &Function, validity: &Validity, b: Block) -> Vec<usize> {
    let data = &f.blocks[b];
    // A value that has no reference of its own in the slot, or is no object, keeps nothing alive.
    let kept = |v: Value| {
        let op = f.op(v);
        let keeps = !op.is_virtual() && !matches!(op, Op::Borrowed | Op::RangeAt(_));
        keeps.then(|| f.object_of(v))
    };
    let locals = &data.entry_state.locals[..f.code.locals.len()];
    let mut locals: Vec<Option<Value>> = locals.iter().map(|v| kept(f.resolve(*v))).collect();
    let mut held = Vec::new();
    let mut is_dirty = validity.is_dirty_at(b);
    for (at, &v) in data.insts.iter().enumerate() {
        match *f.op(v) {
            Op::StoreSlot(k) => locals[k as usize] = kept(f.arg(v, 0)),
            Op::LoadSlot(k) if (k as usize) < locals.len() => locals[k as usize] = Some(v),
            Op::Decref => {
                let dropped = f.object_of(f.arg(v, 0));
                let tuple = || Some(f.object_of(f.arg(dropped, 0)));
                // User code may have changed the locals since the last check of validity.
                let is_held = !is_dirty && is_of_tuple(f, v) && locals.contains(&tuple());
                // A local may have given its reference to the drop, as all do at the end.
                let given_up = |local: &&mut Option<Value>| **local == Some(dropped);
                locals
                    .iter_mut()
                    .filter(given_up)
                    .for_each(|local| *local = None);
                if is_held {
                    held.push(at);
                    continue;
                }
            }
            _ => {}
        }
        is_dirty = Validity::is_dirty_behind(f, v, is_dirty);
    }
    held
}
