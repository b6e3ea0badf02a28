//! Value numbering over the dominator tree, and motion of invariant guards and computations out of
//! loops.

use super::Context;
use super::ranges::Tree;
use crate::hir::{Block, Expressions, Function, Op, Operands, Value};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use rustc_hash::FxHashSet;

/// Hoist, then number.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let hoisted = hoist(f, cx);
    number(f) | hoisted
}

/// Returns true if the op may be numbered across blocks.
fn is_stable(op: &Op) -> bool {
    op.is_pure() && !matches!(op, Op::Null | Op::GuardTrue(_))
}

fn number(f: &mut Function) -> bool {
    let idom = f.dominators();
    let mut children: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    for &b in &f.order[1..] {
        children[idom[b].expect("a reachable block")].push(b);
    }
    let mut changed = false;
    walk(f, f.entry(), &children, &mut changed);
    changed
}

fn walk(
    f: &mut Function,
    b: Block,
    children: &SecondaryMap<Block, Vec<Block>>,
    changed: &mut bool,
) {
    // An explicit stack of scopes: generated code may be deep.
    enum Step {
        Enter(Block),
        Leave(Vec<u32>),
    }
    let mut expressions = Expressions::default();
    // The values that are available in the scope, by the expressions' numbers.
    let mut known: Vec<Option<Value>> = Vec::new();
    let mut work = vec![Step::Enter(b)];
    while let Some(step) = work.pop() {
        match step {
            Step::Leave(added) => {
                for number in added {
                    known[number as usize] = None;
                }
            }
            Step::Enter(b) => {
                let mut added = Vec::new();
                for v in f.blocks[b].insts.clone() {
                    let inst = &f.insts[v];
                    if !is_stable(&inst.op) {
                        continue;
                    }
                    let args: Operands = inst.args.iter().map(|a| f.resolve(*a)).collect();
                    let number = expressions.number(&inst.op, &args);
                    known.resize(expressions.count(), None);
                    match known[number as usize] {
                        Some(first) => {
                            f.replace(v, first);
                            *changed = true;
                        }
                        None => {
                            known[number as usize] = Some(v);
                            added.push(number);
                        }
                    }
                }
                work.push(Step::Leave(added));
                work.extend(children[b].iter().map(|c| Step::Enter(*c)));
            }
        }
    }
}

/// Moves invariant instructions to the block before their loop.
fn hoist(f: &mut Function, cx: &Context<'_>) -> bool {
    let tree = Tree::of(f);
    let mut changed = false;
    let places = f.places();
    // For each value, the header of the last loop looked at that defines it.
    let mut made_in: SecondaryMap<Value, PackedOption<Block>> = SecondaryMap::new();
    made_in.resize(f.insts.len());
    // Inner loops come later in the order: hoist from them first, then on from the outer ones.
    for header in f.order.clone().into_iter().rev() {
        let Some((before, back)) = tree.ways_into(f, header) else {
            continue;
        };
        let mut body: FxHashSet<Block> = FxHashSet::from_iter([header]);
        let mut work = back.clone();
        while let Some(b) = work.pop() {
            if body.insert(b) {
                work.extend(tree.predecessors(b));
            }
        }
        let mut body: Vec<Block> = body.into_iter().collect();
        body.sort_unstable_by_key(|b| places[*b]);
        for &b in &body {
            for v in f.blocks[b]
                .insts
                .iter()
                .chain(f.blocks[b].params.iter().map(|(p, _)| p))
            {
                made_in[*v] = header.into();
            }
        }
        let pc = f.blocks[header].entry_state.pc;
        for b in body {
            let always = back.iter().all(|e| tree.dominates(b, *e));
            for v in f.blocks[b].insts.clone() {
                let inst = &f.insts[v];
                let movable = match inst.op.exit_reason() {
                    // A type that is known on one path only holds there only.
                    None => is_stable(&inst.op) && !matches!(inst.op, Op::Refine(_)),
                    Some(reason) => {
                        always
                            && matches!(
                                inst.op,
                                Op::GuardType(_) | Op::UnboxInt | Op::RangeField(_)
                            )
                            && is_stable(&inst.op)
                            && !cx.avoid.contains(&(pc, reason))
                    }
                };
                let is_inside = |a: &Value| made_in[f.resolve(*a)].expand() == Some(header);
                if !movable || inst.args.iter().any(is_inside) {
                    continue;
                }
                if inst.op.exit_reason().is_some() {
                    let state = super::unbox::edge_state(f, before, 0, header);
                    f.insts[v].state = Some(state);
                }
                f.blocks[b].insts.retain(|x| *x != v);
                f.blocks[before].insts.push(v);
                made_in[v] = None.into();
                changed = true;
            }
        }
    }
    changed
}
