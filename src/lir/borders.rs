//! Loops whose values have live ranges of their own.
//!
//! The register allocator joins what a loop carries with what comes into it and goes out of it, and gives such a range up, use by use,
//! once it has been split for two calls. So a value that an outer loop carries past calls would be in memory in the inner loop too, which
//! makes none. Here what an innermost loop without calls takes in and gives out is copied at its borders, so that the loop's
//! part is allocated by itself. (Loop-closed form, as in LLVM's and GCC's loop passes, with copies in place of the parameters.)
//!
//! Addresses and floating-point constants that are used in each turn are made before the loop too: the code generator would
//! make them anew for each use.
//!
use super::cfg::Cfg;
use super::graph::{Block, BlockCall, BlockData, Func, Imm, Inst, Term, Value};
use super::ops::Opcode;
use cranelift_entity::{EntitySet, SecondaryMap};
use std::collections::{BTreeMap, BTreeSet};

/// The most values that are copied at one border: a loop has not more registers.
const MOST_COPIED: usize = 24;

/// The most constants that are made before a loop.
const MOST_CONSTANTS: usize = 6;

/// Copy what goes into and out of innermost loops that make no calls but in cold blocks.
pub fn separate_loops(func: &mut Func) {
    if !func.refs.is_empty() {
        return;
    }
    let cfg = Cfg::new(func);
    let mut preds: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    let mut latches: BTreeMap<Block, Vec<Block>> = BTreeMap::new();
    for &b in cfg.order() {
        for call in func.blocks[b].term.iter().flat_map(Term::targets) {
            preds[call.block].push(b);
            if cfg.dominates(call.block, b) {
                latches.entry(call.block).or_default().push(b);
            }
        }
    }
    if latches.is_empty() {
        return;
    }
    let hot = hot_blocks(func);
    let loops: Vec<Loop> = latches
        .iter()
        .filter_map(|(&header, latches_of)| {
            let body = body(&preds, header, latches_of);
            let is_innermost = !body.iter().any(|b| *b != header && latches.contains_key(b));
            let is_quiet = !body
                .iter()
                .any(|b| hot.contains(*b) && calls(&func.blocks[*b]));
            let mut outside = preds[header].iter().filter(|p| !body.contains(p));
            let (before, None) = (*outside.next()?, outside.next()) else {
                return None;
            };
            let enters = matches!(func.blocks[before].term, Some(Term::Jump(_)));
            (is_innermost && is_quiet && enters && hot.contains(header))
                .then_some(Loop { before, body })
        })
        .collect();
    if loops.is_empty() {
        return;
    }
    let mut defined = SecondaryMap::<Value, Option<Block>>::new();
    let mut constants: EntitySet<Value> = EntitySet::new();
    for &b in cfg.order() {
        let data = &func.blocks[b];
        for &p in &data.params {
            defined[p] = Some(b);
        }
        for inst in &data.insts {
            for &result in &inst.results {
                defined[result] = Some(b);
                if inst.args.is_empty() {
                    constants.insert(result);
                }
            }
        }
    }
    for found in &loops {
        // Copies that were made for other loops are neither.
        let is_inside = |v: Value| defined[v].is_some_and(|b| found.body.contains(&b));
        let is_outside = |v: Value| defined[v].is_some_and(|b| !found.body.contains(&b));
        let is_brought = |v: Value| !constants.contains(v) && is_outside(v);
        enter(func, found, &hot, &is_brought);
        leave(func, &cfg, &preds, found, &is_inside);
    }
}

struct Loop {
    before: Block,
    body: BTreeSet<Block>,
}

/// Blocks that the entry reaches without passing a cold one.
fn hot_blocks(func: &Func) -> EntitySet<Block> {
    let mut hot = EntitySet::new();
    let mut work = vec![func.entry()];
    while let Some(b) = work.pop() {
        if func.blocks[b].cold && b != func.entry() || !hot.insert(b) {
            continue;
        }
        let targets = func.blocks[b].term.iter().flat_map(Term::targets);
        work.extend(targets.map(|call| call.block));
    }
    hot
}

fn body(
    preds: &SecondaryMap<Block, Vec<Block>>,
    header: Block,
    latches: &[Block],
) -> BTreeSet<Block> {
    let mut body = BTreeSet::from([header]);
    let mut work = latches.to_vec();
    while let Some(b) = work.pop() {
        if body.insert(b) {
            work.extend(&preds[b]);
        }
    }
    body
}

fn calls(data: &BlockData) -> bool {
    data.insts.iter().any(|inst| inst.op.is_call())
}

/// What a block uses, with the values for the blocks that come next.
fn uses(data: &BlockData) -> impl Iterator<Item = Value> + '_ {
    let ends: Vec<Value> = match &data.term {
        Some(Term::Br { cond, then, els }) => {
            let args = then.args.iter().chain(&els.args);
            args.chain([cond]).copied().collect()
        }
        Some(Term::Jump(call)) => call.args.clone(),
        Some(Term::Return(args) | Term::Exit { args, .. }) => args.clone(),
        _ => Vec::new(),
    };
    let insts = data.insts.iter().flat_map(|inst| &inst.args);
    insts.copied().chain(ends)
}

/// Let a block use copies.
fn rename(data: &mut BlockData, copies: &BTreeMap<Value, Value>) {
    let change = |v: &mut Value| {
        if let Some(copy) = copies.get(v) {
            *v = *copy;
        }
    };
    for inst in &mut data.insts {
        inst.args.iter_mut().for_each(change);
    }
    match &mut data.term {
        Some(Term::Br { cond, then, els }) => {
            change(cond);
            then.args.iter_mut().chain(&mut els.args).for_each(change);
        }
        Some(Term::Jump(call)) => call.args.iter_mut().for_each(change),
        Some(Term::Return(args) | Term::Exit { args, .. }) => args.iter_mut().for_each(change),
        _ => {}
    }
}

/// Append an instruction that copies a value.
fn copy(func: &mut Func, block: Block, v: Value) -> Value {
    let result = func.values.push(func.values[v]);
    func.blocks[block].insts.push(Inst {
        op: Opcode::Copy,
        args: vec![v],
        imm: Imm::None,
        results: vec![result],
    });
    result
}

/// The addresses that blocks load from or store to, and their floating-point numbers.
fn constants(func: &Func, blocks: &[Block]) -> Vec<(Value, Inst)> {
    let insts = || blocks.iter().flat_map(|b| &func.blocks[*b].insts);
    let accesses = insts().filter(|inst| matches!(inst.op, Opcode::Load | Opcode::Store));
    let places: BTreeSet<Value> = accesses
        .filter_map(|inst| inst.args.first().copied())
        .collect();
    let made = insts().filter_map(|inst| {
        let &[result] = &inst.results[..] else {
            return None;
        };
        let is_worth_it = match inst.op {
            Opcode::Pconst => places.contains(&result),
            op => op == Opcode::Fconst,
        };
        is_worth_it.then(|| (result, inst.clone()))
    });
    made.collect()
}

/// Copy what the loop's first turn is given, and what its hot blocks use of what was there before.
fn enter(
    func: &mut Func,
    found: &Loop,
    hot: &EntitySet<Block>,
    is_brought: &dyn Fn(Value) -> bool,
) {
    let hot: Vec<Block> = found
        .body
        .iter()
        .filter(|b| hot.contains(**b))
        .copied()
        .collect();
    let constants = constants(func, &hot);
    let used: BTreeSet<Value> = hot
        .iter()
        .flat_map(|b| uses(&func.blocks[*b]))
        .filter(|v| is_brought(*v))
        .take(MOST_COPIED)
        .collect();
    let Some(Term::Jump(call)) = func.blocks[found.before].term.clone() else {
        return;
    };
    let mut given = call;
    for arg in &mut given.args {
        *arg = copy(func, found.before, *arg);
    }
    func.blocks[found.before].term = Some(Term::Jump(given));
    let mut copies = BTreeMap::new();
    for v in used {
        copies.insert(v, copy(func, found.before, v));
    }
    let mut made: Vec<(Imm, Value)> = Vec::new();
    for (v, inst) in constants {
        let known = made.iter().find(|(imm, _)| *imm == inst.imm);
        let constant = match known {
            Some((_, constant)) => *constant,
            None if made.len() == MOST_CONSTANTS => continue,
            None => {
                let result = func.values.push(func.values[v]);
                let imm = inst.imm;
                func.blocks[found.before].insts.push(Inst {
                    results: vec![result],
                    ..inst
                });
                let constant = copy(func, found.before, result);
                made.push((imm, constant));
                constant
            }
        };
        copies.insert(v, constant);
    }
    for &b in &found.body {
        rename(&mut func.blocks[b], &copies);
    }
}

/// Copy what blocks behind the loop use of its values.
fn leave(
    func: &mut Func,
    cfg: &Cfg,
    preds: &SecondaryMap<Block, Vec<Block>>,
    found: &Loop,
    is_inside: &dyn Fn(Value) -> bool,
) {
    for &from in &found.body {
        let targets = func.blocks[from].term.iter().flat_map(Term::targets);
        let targets: Vec<Block> = targets.map(|call| call.block).collect();
        for (n, to) in targets.into_iter().enumerate() {
            let ends = matches!(func.blocks[to].term, Some(Term::Exit { .. }));
            if found.body.contains(&to) || ends {
                continue;
            }
            let border = func.make_block();
            func.blocks[border].cold = func.blocks[to].cold;
            let edge = nth_target(func, from, n);
            let args = std::mem::take(&mut edge.args);
            edge.block = border;
            let mut copies = BTreeMap::new();
            let mut behind = Vec::new();
            if preds[to].len() == 1 {
                let dominated = cfg.order().iter().filter(|b| cfg.dominates(to, **b));
                behind.extend(dominated.copied());
            }
            let used = behind.iter().flat_map(|b| uses(&func.blocks[*b]));
            let used: BTreeSet<Value> = used.chain(args.iter().copied()).collect();
            for v in used.into_iter().filter(|v| is_inside(*v)).take(MOST_COPIED) {
                copies.insert(v, copy(func, border, v));
            }
            for b in behind {
                rename(&mut func.blocks[b], &copies);
            }
            let args = args.iter().map(|v| *copies.get(v).unwrap_or(v)).collect();
            func.blocks[border].term = Some(Term::Jump(BlockCall::new(to, args)));
            // Before the block that it leads to, which comes after the loop.
            let at = func.order.iter().position(|b| *b == to);
            func.order.insert(at.unwrap_or(func.order.len()), border);
        }
    }
}

fn nth_target(func: &mut Func, from: Block, n: usize) -> &mut BlockCall {
    match (&mut func.blocks[from].term, n) {
        (Some(Term::Jump(call)), _) | (Some(Term::Br { then: call, .. }), 0) => call,
        (Some(Term::Br { els: call, .. }), _) => call,
        _ => unreachable!("the terminator has this target"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Mode, parse, print, random, verify};
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expect: Expect) {
        let helpers = random::helpers();
        let mut func = parse(&format!("function test{text}"), &helpers).unwrap();
        separate_loops(&mut func);
        verify(&func, Mode::Unit, &helpers).unwrap();
        expect.assert_eq(&print(&func, &helpers));
    }

    #[test]
    fn what_a_loop_takes_in_and_gives_out_is_copied() {
        check(
            "(i64, f64) -> f64 {\nblock0(v0: i64, v1: f64):\n  v2 = iconst 0\n  v3 = fconst 0.0\n  jump block1(v2, v3)\n\
             block1(v4: i64, v5: f64):\n  v6 = icmp slt v4, v0\n  br v6, block2, block3\n\
             block2:\n  v7 = iconst 1\n  v8 = iadd v4, v7\n  v9 = fadd v5, v1\n  jump block1(v8, v9)\n\
             block3:\n  v10 = fadd v5, v5\n  return v10\n}",
            expect![[r#"
                function "test"(i64, f64) -> f64 {
                block0(v0: i64, v1: f64):
                  v2 = iconst 0
                  v3 = fconst 0.0
                  v11 = iconst 0
                  v12 = iadd v2, v11
                  v13 = fneg v3
                  v14 = fneg v13
                  v15 = iconst 0
                  v16 = iadd v0, v15
                  v17 = fneg v1
                  v18 = fneg v17
                  jump block1(v12, v14)

                block1(v4: i64, v5: f64):
                  v6 = icmp slt v4, v16
                  br v6, block2, block4

                block2:
                  v7 = iconst 1
                  v8 = iadd v4, v7
                  v9 = fadd v5, v18
                  jump block1(v8, v9)

                block4:
                  v19 = fneg v5
                  v20 = fneg v19
                  jump block3

                block3:
                  v10 = fadd v20, v20
                  return v10
                }
            "#]],
        );
    }

    #[test]
    fn a_loop_around_another_and_one_that_calls_are_left_alone() {
        check(
            "(i64, bool) {\n  sig0 ()\nblock0(v0: i64, v1: bool):\n  jump block1\nblock1:\n  v2 = pconst 4096\n  call_indirect sig0 v2()\n\
             \x20 br v1, block1, block2\nblock2:\n  return\n}",
            expect![[r#"
                function "test"(i64, bool) {
                  sig0 ()

                block0(v0: i64, v1: bool):
                  jump block1

                block1:
                  v2 = pconst 0x1000
                  call_indirect sig0 v2()
                  br v1, block1, block2

                block2:
                  return
                }
            "#]],
        );
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

        #[test]
        fn every_function_stays_well_formed(seed: u64) {
            let helpers = random::helpers();
            let mut func = random::func(seed, Mode::Unit, &helpers);
            separate_loops(&mut func);
            verify(&func, Mode::Unit, &helpers).unwrap();
        }
    }
}
