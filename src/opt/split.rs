//! Operands refined by paths, and joins that are split because their sides disagree.
//!
//! A parameter that is an int from one side and a float from the other has neither type behind the
//! join. If paths show that only one of the two can reach an operation, its operand is refined. If
//! both can, the blocks that the join dominates are copied, once for each type that comes in (tail
//! duplication, Mueller and Whalley 1995), if they are small.

use super::Context;
use crate::bytecode::GeneralOp;
use crate::hir::{
    Block, BlockData, Function, Inst, Op, Passed, Proved, StateId, Term, Value, drops_quietly,
    general_type, is_builtin_exact,
};
use crate::infer::paths::{Disagreement, Fact, Finding, Subjects, find};
use crate::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// The most instructions that one copy may have.
const MOST_COPIED: usize = 120;

/// The most instructions that all copies of a function may have.
const MOST_GROWTH: usize = 360;

/// Splits joins, and refines operands. That no path brings a type to an operand may follow from a
/// guard that a split removes: so the joins come first, and the paths are queried again after the
/// splits.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let ask = |f: &Function| {
        let (found, cost) = find(f, cx.world, Subjects::Operands);
        cx.log.borrow_mut().paths.push(cost);
        found
    };
    let found = ask(f);
    if found.is_empty() {
        return false;
    }
    match split(f, &found) {
        true => {
            f.apply_aliases();
            let found = ask(f);
            narrow(f, found);
            true
        }
        false => narrow(f, found),
    }
}

/// Removes types that no path brings from the types of operands.
fn narrow(f: &mut Function, found: Vec<Finding>) -> bool {
    let mut changed = false;
    for finding in found {
        if let Fact::Narrowed(op, index, ty) = finding.fact
            && let Some(what) = refine(f, op, index, ty)
        {
            finding.guards.iter().for_each(|guard| f.rely_on(*guard));
            f.proved.push(Proved {
                pc: finding.pc,
                what,
                why: finding.proof,
            });
            changed = true;
        }
    }
    changed
}

/// Splits the joins whose sides disagree; returns whether there were any.
fn split(f: &mut Function, found: &[Finding]) -> bool {
    let mut joins: Vec<(&Disagreement, &String)> = Vec::new();
    let mut uses = None;
    for finding in found {
        let Fact::Disagrees(what) = &finding.fact else {
            continue;
        };
        let is_new = joins.iter().all(|(known, _)| known.block != what.block);
        // A speculation that other instructions rely on can't be withdrawn.
        let is_guard = matches!(f.op(what.at), Op::GuardType(_));
        let mut are_general = |v| uses.get_or_insert_with(|| Uses::of(f)).are_general(v);
        if is_new && (!is_guard || are_general(what.at)) {
            joins.push((what, &finding.proof));
        }
    }
    let mut room = MOST_GROWTH;
    let mut split = false;
    for (join, why) in joins {
        let Disagreement { block, param, .. } = *join;
        let pc = f.blocks[block].entry_state.pc;
        for ty in &join.types[1..] {
            if !split_off(f, block, param, *ty, &mut room) {
                continue;
            }
            split = true;
            let entry = f.entry();
            f.compute_order(entry);
            let what = format!("join of {param} in {block}, split for {ty}");
            let why = why.clone();
            f.proved.push(Proved { pc, what, why });
        }
    }
    if split {
        crate::hir::remove_trivial_params(f);
        drop_lost_bets(f);
    }
    split
}

/// The values whose type other code relies on. Their uses, or the uses of values that follow from
/// them, are not all general operations, or a fact that does not name them was derived from them
/// ([`Function::relied_on`]).
struct Uses(FxHashSet<Value>);

impl Uses {
    fn of(f: &Function) -> Uses {
        let mut work: Vec<Value> = f.relied_on.iter().map(|v| f.resolve(*v)).collect();
        for &b in &f.order {
            let data = &f.blocks[b];
            for &v in &data.insts {
                let op = f.op(v);
                let counts = matches!(op, Op::Incref | Op::Decref | Op::StoreSlot(_));
                // An operation that takes operands of one class alone relies on their types.
                let is_general = matches!(op, Op::General(g, _) if *g != GeneralOp::ConcatStrings);
                if !counts && !op.gives_operand() && !is_general {
                    work.extend(f.inst(v).args.iter().map(|a| f.resolve(*a)));
                }
            }
            if let Term::Branch { cond, .. } = &data.term {
                work.push(f.resolve(*cond));
            }
        }
        let passed = Passed::of(f);
        let mut relied = FxHashSet::default();
        while let Some(v) = work.pop() {
            if !relied.insert(v) {
                continue;
            }
            work.extend(passed.values(v));
            let inst = f.inst(v);
            let follows = match inst.op {
                // It checks for itself.
                Op::GuardType(_) | Op::GuardIs(_) => false,
                Op::General(op, imms) => {
                    general_type(op, imms, &vec![Type::OBJECT; inst.args.len()]) != inst.ty
                }
                _ => inst.op.gives_operand(),
            };
            if follows {
                work.extend(inst.args.iter().map(|a| f.resolve(*a)));
            }
        }
        Uses(relied)
    }

    fn are_general(&self, v: Value) -> bool {
        !self.0.contains(&v)
    }
}

/// Drops guards that can't hold, where the code speculated on the types of the other side of a
/// join: the uses of the value are general, and are specialised for the type that it has.
fn drop_lost_bets(f: &mut Function) {
    let uses = Uses::of(f);
    let mut dropped = Vec::new();
    for b in f.order.clone() {
        let lost = |v: &Value| match f.op(*v) {
            Op::GuardType(ty) => {
                let known = f.known_type(f.arg(*v, 0));
                // Nothing is checked behind a drop that runs no user code.
                let drops_as_well = drops_quietly(known) || !drops_quietly(*ty);
                is_builtin_exact(known)
                    && (known & *ty).is_bottom()
                    && drops_as_well
                    && uses.are_general(*v)
            }
            _ => false,
        };
        let lost: Vec<Value> = f.blocks[b].insts.iter().copied().filter(lost).collect();
        f.blocks[b].insts.retain(|v| !lost.contains(v));
        dropped.extend(lost);
    }
    if dropped.is_empty() {
        return;
    }
    let forgotten = forget_derived_types(f);
    for v in dropped {
        let operand = f.arg(v, 0);
        f.replace(v, operand);
    }
    derive_again(f, &forgotten);
}

/// Forgets the types of general operations whose operands' types may not hold any more. Returns
/// those.
fn forget_derived_types(f: &mut Function) -> Vec<Value> {
    let mut forgotten = Vec::new();
    for &v in f.order.iter().flat_map(|b| &f.blocks[*b].insts) {
        let Op::General(op, imms) = *f.op(v) else {
            continue;
        };
        let mut types: Vec<Type> = f.inst(v).args.iter().map(|a| f.ty(*a)).collect();
        // A type that does not follow from them is known for another reason.
        if general_type(op, imms, &types) == f.ty(v) {
            types.fill(Type::OBJECT);
            forgotten.push((v, general_type(op, imms, &types)));
        }
    }
    let values = forgotten.iter().map(|(v, _)| *v).collect();
    for (v, ty) in forgotten {
        f.insts[v].ty = ty;
    }
    values
}

/// Derives the types of general operations again from the known types of their operands: other code
/// may rely on the types that still hold.
fn derive_again(f: &mut Function, forgotten: &[Value]) {
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &v in forgotten {
            let Op::General(op, imms) = *f.op(v) else {
                continue;
            };
            let args = &f.inst(v).args;
            let types: Vec<Type> = args.iter().map(|a| f.ty(f.resolve(*a))).collect();
            let ty = general_type(op, imms, &types);
            if ty != f.ty(v) {
                f.insts[v].ty = ty;
                changed = true;
            }
        }
    }
}

/// Gives an operation an operand of a more precise type.
fn refine(f: &mut Function, op: Value, index: usize, ty: Type) -> Option<String> {
    let operand = f.arg(op, index);
    let ty = f.ty(operand) & ty;
    if ty.is_bottom() || f.ty(operand) <= ty {
        return None;
    }
    let block = f.order.iter().copied();
    let mut places =
        block.filter_map(|b| Some((b, f.blocks[b].insts.iter().position(|v| *v == op)?)));
    let (block, at) = places.next()?;
    let refined = f.insts.push(Inst::proved(
        Op::Refine(ty),
        vec![operand],
        ty,
        f.insts[op].pc,
    ));
    f.blocks[block].insts.insert(at, refined);
    f.insts[op].args[index] = refined;
    Some(format!("type of {operand} but {ty} in {op}"))
}

/// Gives the edges that pass a value of this type to a parameter their own copy of all blocks that
/// `block` dominates. Returns true if it has made a copy.
fn split_off(f: &mut Function, block: Block, param: Value, ty: Type, room: &mut usize) -> bool {
    let params = &f.blocks[block].params;
    let Some(index) = params.iter().position(|(p, _)| *p == param) else {
        return false;
    };
    let idom = f.dominators();
    let mut region: Vec<Block> = Vec::new();
    let mut inside: FxHashSet<Block> = FxHashSet::default();
    for &b in &f.order {
        if b == block || idom[b].expand().is_some_and(|up| inside.contains(&up)) {
            inside.insert(b);
            region.push(b);
        }
    }
    let size: usize = region.iter().map(|b| f.blocks[*b].insts.len() + 1).sum();
    if size > MOST_COPIED.min(*room) {
        return false;
    }
    let (mut taken, mut others): (Vec<(Block, usize)>, usize) = (Vec::new(), 0);
    for &from in &f.order {
        for (place, edge) in f.blocks[from].term.edges().into_iter().enumerate() {
            if edge.block != block {
                continue;
            }
            // For a loop, the values that its back edges carry would have to be separated too.
            if inside.contains(&from) {
                return false;
            }
            match f.ty(edge.args[index]) <= ty {
                true => taken.push((from, place)),
                false => others += 1,
            }
        }
    }
    if taken.is_empty() || others == 0 {
        return false;
    }
    *room -= size;
    let copy = copy_region(f, &region)[&block];
    for (from, place) in taken {
        f.blocks[from].term.edges_mut()[place].block = copy;
    }
    true
}

/// Copies blocks that their first one dominates, which are all that it dominates: only edges carry
/// values out of them.
fn copy_region(f: &mut Function, region: &[Block]) -> FxHashMap<Block, Block> {
    let mut values: FxHashMap<Value, Value> = FxHashMap::default();
    let mut blocks: FxHashMap<Block, Block> = FxHashMap::default();
    for &b in region {
        let data = &f.blocks[b];
        let placed: Vec<Value> = data
            .params
            .iter()
            .map(|(p, _)| *p)
            .chain(data.insts.iter().copied())
            .collect();
        for v in placed {
            let inst = f.insts[v].clone();
            values.insert(v, f.insts.push(inst));
        }
        let data = BlockData {
            is_loop_header: f.blocks[b].is_loop_header,
            ..BlockData::new(f.blocks[b].entry_state.clone(), f.blocks[b].end)
        };
        blocks.insert(b, f.blocks.push(data));
    }
    let mut states: FxHashMap<StateId, StateId> = FxHashMap::default();
    for &b in region {
        let value = |v: &mut Value| {
            *v = f.resolve(*v);
            if let Some(copy) = values.get(v) {
                *v = *copy;
            }
        };
        let mut data = f.blocks[b].clone();
        data.params.iter_mut().for_each(|(p, _)| value(p));
        data.insts.iter_mut().for_each(value);
        data.entry_state.change_values(value);
        data.out_locals.iter_mut().for_each(value);
        data.term.change_values(value);
        for edge in data.term.edges_mut() {
            if let Some(copy) = blocks.get(&edge.block) {
                edge.block = *copy;
            }
        }
        let copies: Vec<Value> = data
            .params
            .iter()
            .map(|(p, _)| *p)
            .chain(data.insts.iter().copied())
            .collect();
        let changed: Vec<(Value, Vec<Value>, Option<StateId>)> = copies
            .iter()
            .map(|&v| {
                let mut args = f.insts[v].args.clone();
                args.iter_mut().for_each(value);
                (v, args, f.insts[v].state)
            })
            .collect();
        let wanted: BTreeSet<StateId> = changed.iter().filter_map(|c| c.2).collect();
        let mut new_states = Vec::new();
        for id in wanted.into_iter().filter(|id| !states.contains_key(id)) {
            let mut state = f.states[id].clone();
            state.change_values(value);
            new_states.push((id, state));
        }
        for (id, state) in new_states {
            states.insert(id, f.states.push(state));
        }
        for (v, args, state) in changed {
            f.insts[v].args = args;
            f.insts[v].state = state.map(|id| states[&id]);
        }
        f.blocks[blocks[&b]] = data;
    }
    let copy = |v: &Value| values.get(&f.resolve(*v)).copied();
    let relied_on: Vec<Value> = f.relied_on.iter().filter_map(copy).collect();
    let settled: Vec<Value> = f.settled.iter().filter_map(copy).collect();
    f.relied_on.extend(relied_on);
    f.settled.extend(settled);
    blocks
}
