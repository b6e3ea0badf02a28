//! Checks and loads that depend on memory, made once for as long as nothing can have changed it.
//!
//! A forward analysis of *available* facts, as for common subexpressions (Cocke 1970), over objects rather than names: a
//! guard on a user's class, a check of the host's, a length or a load holds until something runs code of the program, or
//! writes what it has read. What is available on every path is not done again.

use super::Context;
use super::plant::{Fault, is_planted};
use crate::hir::{Block, Function, Op, Value, is_builtin_exact};
use cranelift_entity::SecondaryMap;
use std::collections::BTreeMap;
use std::collections::HashMap;

/// The most facts that are carried from block to block: more would cost more than they bring.
const MOST_FACTS: usize = 96;

/// A fact: the op and the objects that it was asked of, by number.
type Key = u32;

/// What is available: by fact the value that has it, or none if that depends on the path.
type Facts = BTreeMap<Key, Option<Value>>;

/// Drop what is known already.
pub fn run(f: &mut Function, _: &Context<'_>) -> bool {
    let mut analysis = Analysis::default();
    let mut at_entry: SecondaryMap<Block, Option<Facts>> = SecondaryMap::new();
    at_entry[f.entry()] = Some(Facts::new());
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &b in &f.order {
            let Some(mut facts) = at_entry[b].clone() else {
                continue;
            };
            for &v in &f.blocks[b].insts {
                analysis.step(f, v, &mut facts);
            }
            while facts.len() > MOST_FACTS {
                facts.pop_last();
            }
            for edge in f.blocks[b].term.edges() {
                changed |= meet(&mut at_entry[edge.block], &facts);
            }
        }
    }
    let mut rewritten = false;
    for b in f.order.clone() {
        let Some(mut facts) = at_entry[b].take() else {
            continue;
        };
        let mut dropped = Vec::new();
        for v in f.blocks[b].insts.clone() {
            let Some(known) = analysis.step(f, v, &mut facts) else {
                continue;
            };
            let inst = &mut f.insts[v];
            match (&inst.op, known) {
                (_, Some(first)) => {
                    dropped.push(v);
                    f.replace(v, first);
                }
                // It holds on every path, by another guard on each.
                (Op::GuardType(ty), None) => {
                    inst.op = Op::Refine(*ty);
                    inst.state = None;
                }
                (_, None) => dropped.push(v),
            }
            rewritten = true;
        }
        if !dropped.is_empty() {
            let mut next = dropped.iter().peekable();
            f.blocks[b].insts.retain(|v| next.next_if_eq(&v).is_none());
        }
    }
    rewritten
}

/// What holds where two paths meet; says whether less holds than before.
fn meet(known: &mut Option<Facts>, other: &Facts) -> bool {
    let Some(facts) = known else {
        *known = Some(other.clone());
        return true;
    };
    let before = facts.len();
    facts.retain(|key, _| other.contains_key(key));
    let mut changed = facts.len() != before;
    for (key, value) in facts {
        if value.is_some() && other[key] != *value {
            *value = None;
            changed = true;
        }
    }
    changed
}

#[derive(Default)]
struct Analysis {
    keys: HashMap<(Op, Vec<Value>), Key>,
    ops: Vec<Op>,
}

impl Analysis {
    /// The number of what the instruction finds out from memory, if it does.
    fn key(&mut self, f: &Function, v: Value) -> Option<Key> {
        let op = f.op(v);
        let is_memory = match op {
            Op::GuardType(ty) => !is_builtin_exact(*ty),
            op => matches!(
                op,
                Op::Check(_) | Op::CheckClasses(_) | Op::ListLen | Op::Load(_)
            ),
        };
        if !is_memory {
            return None;
        }
        let args = f.inst(v).args.iter().map(|a| f.object_of(*a)).collect();
        let next = self.ops.len() as Key;
        let key = *self.keys.entry((op.clone(), args)).or_insert(next);
        if key == next {
            self.ops.push(op.clone());
        }
        Some(key)
    }

    /// Go past an instruction. If it finds out what is known, the value that has it, as far as it is one on all paths.
    fn step(&mut self, f: &Function, v: Value, facts: &mut Facts) -> Option<Option<Value>> {
        if let Some(key) = self.key(f, v) {
            // A value that depends on the path is found out here once more, for all that follows.
            let needs_value = matches!(f.op(v), Op::ListLen | Op::Load(_));
            let known = facts.get(&key).copied();
            let known = known.filter(|first| first.is_some() || !needs_value);
            if !matches!(known, Some(Some(_))) {
                facts.insert(key, Some(v));
            }
            return known;
        }
        if is_planted(Fault::Memory) {
            return None;
        }
        match f.op(v) {
            _ if f.may_run_host_code(v) => facts.clear(),
            // These write lists, iterators, cells and counts, which no load of the host's reads.
            Op::Incref
            | Op::Decref
            | Op::StoreSlot(_)
            | Op::ListSet
            | Op::CellSet
            | Op::RangeNext
            | Op::ListIterNext
            | Op::TupleIterNext => {}
            // What is stored may also hide what a class has; it changes no class.
            op if op.effects().writes => {
                let stays = |op: &Op| matches!(op, Op::GuardType(_) | Op::CheckClasses(_));
                facts.retain(|key, _| stays(&self.ops[*key as usize]));
            }
            _ => {}
        }
        None
    }
}
