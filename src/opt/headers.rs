//! Checks of loop-carried values move from each iteration to the entry of the loop.
//!
//! An accumulator that came in as an argument has any class in the first iteration, and the class
//! of the loop's result in all others. If each iteration begins with a check of a parameter of the
//! loop's header, and all back edges pass a value of the class that is checked, the parameter is
//! checked before the loop. Then it has that type in the whole loop, needs no check there, and may
//! be carried unboxed. (The second iteration's check of a peeled loop, without the copy.) A loop
//! without iterations may exit at such a check needlessly; that is a speculation like others.

use super::Context;
use super::ranges::Tree;
use crate::hir::{Block, Function, Inst, Op, Value, is_builtin_exact};

/// Adds checks before loops.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let headers = f.order.iter().rev().copied();
    let headers: Vec<Block> = headers.filter(|b| f.blocks[*b].is_loop_header).collect();
    if headers.is_empty() {
        return false;
    }
    let tree = Tree::of(f);
    let mut changed = false;
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
