//! Checks of loop-carried values move from each iteration to the entry of the loop.
//!
//! An accumulator that came in as an argument has any class in the first iteration, and the class
//! of the loop's result in all others. If each iteration begins with a check of a parameter of the
//! loop's header, and all back edges pass a value of the class that is checked, the parameter is
//! checked before the loop. Then it has that type in the whole loop, needs no check there, and may
//! be carried unboxed. (The second iteration's check of a peeled loop, without the copy.) A loop
//! without iterations may exit at such a check needlessly; that is a speculation like others.
//!
//! The same of other joins: where one edge passes a number that is boxed for the join, and the join
//! checks its parameter, the other edges are checked instead. For example, `total += shape.area()`
//! with several classes of shapes adds the results of inlined methods, and of a call for all other
//! classes. With the check behind the call, no inlined result needs its box.

use super::Context;
use super::ranges::Tree;
use crate::hir::{Block, Function, Inst, Op, Value, is_builtin_exact};
use crate::types::Type;

/// Adds checks before loops and joins.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let changed = check_before_joins(f, cx);
    let headers = f.order.iter().rev().copied();
    let headers: Vec<Block> = headers.filter(|b| f.blocks[*b].is_loop_header).collect();
    if headers.is_empty() {
        return changed;
    }
    let tree = Tree::of(f);
    let mut changed = changed;
    // Inner loops come later in the order: a check before an inner loop is in an iteration of the
    // outer one.
    for header in headers {
        let Some((before, latches)) = tree.ways_into(f, header) else {
            continue;
        };
        for (guard, place) in guards(f, &tree, header, &latches) {
            changed |= check_before(f, cx, [header, before], &latches, guard, place);
        }
    }
    changed
}

fn check_before_joins(f: &mut Function, cx: &Context<'_>) -> bool {
    let mut changed = false;
    for join in f.order.clone() {
        let data = &f.blocks[join];
        if data.is_loop_header || data.params.is_empty() {
            continue;
        }
        let checks = data.insts.iter().filter_map(|&v| match f.op(v) {
            Op::GuardType(ty) if is_builtin_exact(*ty) => {
                let place = data.params.iter().position(|(p, _)| *p == f.arg(v, 0));
                Some((v, place?))
            }
            _ => None,
        });
        let checks: Vec<(Value, usize)> = checks.collect();
        for (guard, place) in checks {
            changed |= check_on_edges(f, cx, join, guard, place);
        }
    }
    changed
}

/// Checks what the edges to a join pass for the parameter at a place, in place of the join's check,
/// if at least one edge passes a box.
fn check_on_edges(
    f: &mut Function,
    cx: &Context<'_>,
    join: Block,
    guard: Value,
    place: usize,
) -> bool {
    let Op::GuardType(ty) = *f.op(guard) else {
        unreachable!("a check of a class")
    };
    let pc = f.blocks[join].entry_state.pc;
    let reason = f.op(guard).exit_reason().expect("a check may fail");
    let mut edges = Vec::new();
    for &pred in &f.order {
        for (n, edge) in f.blocks[pred].term.edges().into_iter().enumerate() {
            if edge.block == join {
                edges.push((pred, n, f.resolve(edge.args[place])));
            }
        }
    }
    let is_of = |v: Value| f.ty(v) <= ty && !f.ty(v).is_bottom();
    let has_box = edges.iter().any(|(.., v)| f.op(*v).is_box() && is_of(*v));
    let may_be = |v: Value| !(f.ty(v) & ty).is_bottom();
    let open: Vec<(Block, usize, Value)> =
        edges.iter().copied().filter(|(.., v)| !is_of(*v)).collect();
    let is_possible = open
        .iter()
        .all(|(.., v)| may_be(*v) && f.ty(*v) <= Type::OBJECT);
    if !has_box || open.is_empty() || !is_possible || cx.avoid.contains(&(pc, reason)) {
        return false;
    }
    for (pred, n, passed) in open {
        let ways = f.blocks[pred].term.edges().len();
        let (pred, n) = match ways {
            1 => (pred, n),
            _ => (super::unbox::split(f, pred, n), 0),
        };
        let state = super::unbox::edge_state(f, pred, n, join);
        let checked = Inst {
            args: vec![passed],
            state: Some(state),
            ..f.insts[guard].clone()
        };
        let checked = f.insts.push(checked);
        f.blocks[pred].insts.push(checked);
        f.blocks[pred].term.edges_mut()[n].args[place] = checked;
    }
    let param = f.arg(guard, 0);
    f.insts[param].ty = f.ty(param) & ty;
    true
}

/// The checks that each iteration makes of parameters of the loop's header, each with the
/// parameter's place.
fn guards(f: &Function, tree: &Tree, header: Block, latches: &[Block]) -> Vec<(Value, usize)> {
    let place_of = |guard: Value| {
        let of = f.arg(guard, 0);
        let mut params = f.blocks[header].params.iter();
        params.position(|(param, _)| *param == of)
    };
    let mut found = Vec::new();
    let mut block = latches[0];
    loop {
        if latches.iter().all(|latch| tree.dominates(block, *latch)) {
            let insts = f.blocks[block].insts.iter().copied();
            found.extend(insts.filter_map(|v| match f.op(v) {
                Op::GuardType(ty) if is_builtin_exact(*ty) => Some((v, place_of(v)?)),
                _ => None,
            }));
        }
        match tree.dominator(block) {
            Some(up) if block != header => block = up,
            _ => return found,
        }
    }
}

fn check_before(
    f: &mut Function,
    cx: &Context<'_>,
    [header, before]: [Block; 2],
    latches: &[Block],
    guard: Value,
    place: usize,
) -> bool {
    let param = f.arg(guard, 0);
    let op = f.op(guard).clone();
    let Op::GuardType(ty) = op else {
        unreachable!("a check of a class")
    };
    let pc = f.blocks[header].entry_state.pc;
    let reason = op.exit_reason().expect("a check may fail");
    let passed = |from: Block| {
        let edges = f.blocks[from].term.edges().into_iter();
        let back = edges.filter(|edge| edge.block == header);
        back.map(|edge| f.resolve(edge.args[place]))
    };
    let is_of = |v: Value| f.ty(v) <= ty && !f.ty(v).is_bottom();
    let first = passed(before).next().expect("an edge into the loop");
    let is_open = !is_of(first) && !(f.ty(first) & ty).is_bottom();
    let gives_it = latches
        .iter()
        .flat_map(|latch| passed(*latch))
        .all(|v| f.object_of(v) == param || is_of(v));
    if !is_open || !gives_it || cx.avoid.contains(&(pc, reason)) {
        return false;
    }
    let state = super::unbox::edge_state(f, before, 0, header);
    let checked = Inst {
        args: vec![first],
        state: Some(state),
        ..f.insts[guard].clone()
    };
    let checked = f.insts.push(checked);
    f.blocks[before].insts.push(checked);
    f.blocks[before].term.edges_mut()[0].args[place] = checked;
    f.insts[param].ty = f.ty(param) & ty;
    true
}
