//! Removes counters that a loop need not keep.
//!
//! Each iteration of a loop adds one to a word of memory, which only statistics read: a load, a sum
//! and a store per iteration, and a register for the address. If another value changes by one in
//! each iteration, such as the number of items that a range has left, then the number of iterations
//! follows from it. So every path out of the loop adds them all at once, and the iteration adds
//! nothing. (A derived induction variable, whose store is sunk out of the loop.) For example, the
//! loop of `for i in range(n)` counts down the values that are left.

use super::cfg::{Cfg, NaturalLoop, QuietLoops};
use super::graph::{Block, BlockCall, BlockData, Func, Imm, Insertions, Inst, Term, Value};
use super::ops::Opcode;
use crate::ll::{Ty, Width};
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;

/// Removes the iteration counter in `cell` from loops where another value counts the iterations
/// too. No other code may read the cell during the loop. Returns true if blocks were added.
pub(super) fn derive_counts(func: &mut Func, cfg: &Cfg, quiet: &QuietLoops, cell: u64) -> bool {
    let known = Known::of(func);
    let blocks = func.blocks.len();
    let mut insertions = Insertions::default();
    for found in &quiet.loops {
        if quiet.hot.contains(found.header)
            && let Some(counted) = Counted::find(func, cfg, found, &known, cell)
        {
            counted.rewrite(func, cfg, found, &known, cell, &mut insertions);
        }
    }
    insertions.apply(func);
    func.blocks.len() > blocks
}

/// Facts about values.
struct Known {
    constants: SecondaryMap<Value, Option<u64>>,
    /// The number of uses of each value.
    uses: SecondaryMap<Value, u32>,
}

impl Known {
    fn of(func: &Func) -> Known {
        let values = func.values.len();
        let mut known = Known {
            constants: SecondaryMap::with_capacity(values),
            uses: SecondaryMap::with_capacity(values),
        };
        for data in func.order.iter().map(|b| &func.blocks[*b]) {
            for inst in &data.insts {
                let constant = match inst.imm {
                    Imm::Int(n) if inst.op == Opcode::Iconst => n.cast_unsigned(),
                    Imm::Addr(at) if inst.op == Opcode::Pconst => at,
                    _ => continue,
                };
                known.constants[inst.results[0]] = Some(constant);
            }
            data.uses().for_each(|v| known.uses[v] += 1);
        }
        known
    }

    fn is(&self, v: Value, n: u64) -> bool {
        self.constants[v] == Some(n)
    }

    /// The instructions that add one to the cell in a block and have no other use: a load, a sum
    /// and a store.
    fn increment(&self, data: &BlockData, load: &Inst, store: &Inst) -> Option<[Inst; 3]> {
        let loaded = *load.results.first()?;
        let sum = data.insts.iter().find(|inst| inst.args.contains(&loaded))?;
        let is_increment = store.op == Opcode::Store
            && load.imm == store.imm
            && sum.op == Opcode::Iadd
            && sum.args.iter().any(|v| self.is(*v, 1))
            && store.args[1] == sum.results[0];
        let is_private = self.uses[loaded] == 1 && self.uses[sum.results[0]] == 1;
        (is_increment && is_private).then(|| [load.clone(), sum.clone(), store.clone()])
    }

    /// Removes an increment of the cell at the start of a block, as the end of another loop's
    /// iteration has it. Returns true if there was one.
    fn take_increment(&self, data: &mut BlockData, cell: u64) -> bool {
        let is_constant = |inst: &&Inst| matches!(inst.op, Opcode::Iconst | Opcode::Pconst);
        let mut first = data.insts.iter().filter(|inst| !is_constant(inst));
        let (Some(load), Some(_), Some(store)) = (first.next(), first.next(), first.next()) else {
            return false;
        };
        let is_load = load.op == Opcode::Load && self.is(load.args[0], cell);
        let is_store = |store: &Inst| store.op == Opcode::Store && self.is(store.args[0], cell);
        if !is_load || !is_store(store) {
            return false;
        }
        let Some(increment) = self.increment(data, load, store) else {
            return false;
        };
        data.insts.retain(|inst| !increment.contains(inst));
        true
    }
}

/// A value that counts the iterations of a loop.
#[derive(Clone, Copy)]
struct Counter {
    /// The header's parameter.
    param: Value,
    /// Its value in the first iteration.
    first: Value,
    /// The same, if it is a constant.
    known: Option<i64>,
    /// True if it falls by one in each iteration; otherwise it rises.
    falls: bool,
}

/// A loop in which each iteration adds one to the cell.
struct Counted {
    counter: Counter,
    /// For each block of the loop: true if the iteration has added its one at the block's end.
    added: BTreeMap<Block, bool>,
    /// The blocks that add it, with the instructions.
    adds: BTreeMap<Block, [Inst; 3]>,
}

impl Counted {
    fn find(
        func: &Func,
        cfg: &Cfg,
        found: &NaturalLoop,
        known: &Known,
        cell: u64,
    ) -> Option<Counted> {
        let mut adds = BTreeMap::new();
        for &b in &found.blocks {
            let insts = func.blocks[b].insts.iter();
            let accesses: Vec<&Inst> = insts
                .filter(|inst| matches!(inst.op, Opcode::Load | Opcode::Store))
                .filter(|inst| known.is(inst.args[0], cell))
                .collect();
            match accesses[..] {
                [] => {}
                [load, store] => {
                    adds.insert(b, known.increment(&func.blocks[b], load, store)?);
                }
                _ => return None,
            }
        }
        if adds.is_empty() {
            return None;
        }
        Some(Counted {
            added: Counted::flow(func, cfg, found, &adds)?,
            counter: Counter::find(func, cfg, found, known)?,
            adds,
        })
    }

    /// For each block: true if the iteration has added its one. None if that depends on the path,
    /// or if an iteration adds none or two.
    fn flow(
        func: &Func,
        cfg: &Cfg,
        found: &NaturalLoop,
        adds: &BTreeMap<Block, [Inst; 3]>,
    ) -> Option<BTreeMap<Block, bool>> {
        let mut added = BTreeMap::new();
        for &b in &found.blocks {
            let before = if b == found.header {
                false
            } else {
                // The blocks before are known, unless there is another loop.
                let mut from = cfg.predecessors(b).iter().map(|p| added.get(p).copied());
                let first = from.next()??;
                from.all(|other| other == Some(first)).then_some(first)?
            };
            if before && adds.contains_key(&b) {
                return None;
            }
            let behind = before || adds.contains_key(&b);
            added.insert(b, behind);
            let mut targets = func.blocks[b].targets();
            if !behind && targets.any(|call| call.block == found.header) {
                return None;
            }
        }
        Some(added)
    }

    /// Adds where the loop is left, and no longer in its iterations.
    fn rewrite(
        self,
        func: &mut Func,
        cfg: &Cfg,
        found: &NaturalLoop,
        known: &Known,
        cell: u64,
        insertions: &mut Insertions,
    ) {
        for (b, increment) in &self.adds {
            let insts = &mut func.blocks[*b].insts;
            insts.retain(|inst| !increment.contains(inst));
        }
        let mut leaving: BTreeMap<Block, Vec<Block>> = BTreeMap::new();
        for &b in &found.blocks {
            for call in func.blocks[b].targets() {
                if !found.body.contains(call.block) {
                    leaving.entry(call.block).or_default().push(b);
                }
            }
        }
        for (to, from) in leaving {
            let is_all = cfg.predecessors(to).len() == from.len();
            let is_same = from.iter().all(|b| self.added[b] == self.added[&from[0]]);
            if is_all && is_same {
                let more = known.take_increment(&mut func.blocks[to], cell);
                let insts = self.add(func, cell, from[0], more.into());
                func.blocks[to].insts.splice(0..0, insts);
                continue;
            }
            for b in from {
                let between = self.add_on_edge(func, cell, b, to);
                insertions.before(to, between);
            }
        }
    }

    /// Adds on an edge, in a block of its own, which is placed before `to`.
    fn add_on_edge(&self, func: &mut Func, cell: u64, from: Block, to: Block) -> Block {
        let between = func.make_block();
        func.blocks[between].cold = func.blocks[to].cold;
        let term = func.blocks[from].term.as_mut();
        let edge = term.and_then(|term| term.targets_mut().find(|call| call.block == to));
        let edge = edge.expect("an edge that leaves the loop");
        let args = std::mem::take(&mut edge.args);
        edge.block = between;
        let insts = self.add(func, cell, from, 0);
        func.blocks[between].insts = insts;
        func.blocks[between].term = Some(Term::Jump(BlockCall::new(to, args)));
        between
    }

    /// The instructions that add to the cell the iterations after a block and `more`.
    fn add(&self, func: &mut Func, cell: u64, from: Block, more: i64) -> Vec<Inst> {
        let Counter {
            param,
            first,
            known,
            falls,
        } = self.counter;
        let mut insts = Vec::new();
        let mut push = |op, args: &[Value], imm, ty| {
            let result = func.values.push(ty);
            insts.push(Inst {
                op,
                args: SmallVec::from_slice(args),
                imm,
                results: smallvec![result],
            });
            result
        };
        let mut int = |n: i64| push(Opcode::Iconst, &[], Imm::Int(n), Ty::I64);
        let more = more + i64::from(self.added[&from]);
        let (from, less, more) = match (known, falls) {
            (Some(n), true) => (int(n.wrapping_add(more)), Some(param), 0),
            (Some(n), false) => (
                param,
                Some(n.wrapping_sub(more)).filter(|n| *n != 0).map(&mut int),
                0,
            ),
            (None, true) => (first, Some(param), more),
            (None, false) => (param, Some(first), more),
        };
        let more = (more != 0).then(|| int(more));
        let mut turns = from;
        // An exit's shared block may subtract the difference for each of several exits.
        for (op, other) in [(Opcode::Iadd, more), (Opcode::Isub, less)] {
            if let Some(other) = other {
                turns = push(op, &[turns, other], Imm::None, Ty::I64);
            }
        }
        let place = push(Opcode::Pconst, &[], Imm::Addr(cell), Ty::Ptr);
        let access = Imm::Mem {
            width: Width::I64,
            offset: 0,
        };
        let old = push(Opcode::Load, &[place], access, Ty::I64);
        let new = push(Opcode::Iadd, &[old, turns], Imm::None, Ty::I64);
        insts.push(Inst {
            op: Opcode::Store,
            args: smallvec![place, new],
            imm: access,
            results: smallvec![],
        });
        insts
    }
}

impl Counter {
    /// A parameter of the header that each iteration raises or lowers by one.
    fn find(func: &Func, cfg: &Cfg, found: &NaturalLoop, known: &Known) -> Option<Counter> {
        let (mut back, mut outside) = (Vec::new(), Vec::new());
        for &from in cfg.predecessors(found.header) {
            let list = if found.body.contains(from) {
                &mut back
            } else {
                &mut outside
            };
            let to_header = func.blocks[from].targets();
            list.extend(to_header.filter(|call| call.block == found.header));
        }
        let [enters] = outside[..] else { return None };
        let insts = found.blocks.iter().flat_map(|b| &func.blocks[*b].insts);
        let sums: FxHashMap<Value, &Inst> = insts
            .filter(|inst| matches!(inst.op, Opcode::Iadd | Opcode::IaddOvf | Opcode::Isub))
            .map(|inst| (inst.results[0], inst))
            .collect();
        // True if a sum is the parameter plus one, false if minus one.
        let step = |param: Value, next: Value| -> Option<bool> {
            let inst = sums.get(&next)?;
            let &[a, b] = &inst.args[..] else { return None };
            let other = match inst.op {
                _ if a == param => b,
                Opcode::Iadd | Opcode::IaddOvf if b == param => a,
                _ => return None,
            };
            let (one, less) = (known.is(other, 1), known.is(other, u64::MAX));
            match inst.op {
                Opcode::Isub if one => Some(true),
                Opcode::Iadd | Opcode::IaddOvf if less => Some(true),
                Opcode::Iadd | Opcode::IaddOvf if one => Some(false),
                _ => None,
            }
        };
        let passed = passed_on(func, cfg, found);
        let params = func.blocks[found.header].params.iter().enumerate();
        let mut counters = params.filter_map(|(i, &param)| {
            let source = |call: &BlockCall| {
                let next = call.args[i];
                passed.get(&next).copied().unwrap_or(next)
            };
            let mut steps = back.iter().map(|call| step(param, source(call)));
            let falls = steps.next()??;
            let first = enters.args[i];
            steps.all(|other| other == Some(falls)).then(|| Counter {
                param,
                first,
                known: known.constants[first].map(u64::cast_signed),
                falls,
            })
        });
        // A counter with a constant start needs no register for the start.
        let any = counters.next()?;
        let better = counters.find(|counter| any.known.is_none() && counter.known.is_some());
        Some(better.unwrap_or(any))
    }
}

/// The parameters of a loop's blocks, except the header's, that have the same value on every edge:
/// several paths round the loop may join before its test, and pass the counter.
fn passed_on(func: &Func, cfg: &Cfg, found: &NaturalLoop) -> FxHashMap<Value, Value> {
    let mut passed = FxHashMap::default();
    for &b in &found.blocks[1..] {
        for (i, &param) in func.blocks[b].params.iter().enumerate() {
            let from = cfg.predecessors(b).iter();
            let calls = from.flat_map(|from| func.blocks[*from].targets());
            let mut values = calls.filter(|call| call.block == b).map(|call| {
                let value = call.args[i];
                passed.get(&value).copied().unwrap_or(value)
            });
            let first = values.next();
            if let Some(first) = first.filter(|first| values.all(|other| other == *first)) {
                passed.insert(param, first);
            }
        }
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::super::{random, tend_loops};
    use super::*;
    use crate::lir::Builder;
    use expect_test::{Expect, expect};

    fn derive(func: &mut Func, cell: u64) {
        let cfg = Cfg::new(func);
        derive_counts(func, &cfg, &QuietLoops::of(func, &cfg), cell);
    }

    fn check(text: &str, expect: Expect) {
        expect.assert_eq(&random::after(|func| derive(func, 4096), text));
    }

    #[test]
    fn a_loop_that_counts_down_adds_its_iterations_at_its_exits() {
        check(
            "(i64, i64) -> ptr {\nblock0(v0: i64, v1: i64):\n  jump block1(v0)\n\
             block1(v2: i64):\n  v3 = iconst -1\n  v4 = iadd v2, v3\n  v5 = icmp slt v4, v1\n  br v5, block3, block2\n\
             block2 cold:\n  exit exit0(v2)\n\
             block3:\n  v6 = pconst 4096\n  v7 = load.i64 v6\n  v8 = iconst 1\n  v9 = iadd v7, v8\n  store.i64 v6, v9\n\
             \x20 v10 = iconst 0\n  v11 = icmp sgt v4, v10\n  br v11, block1(v4), block4\nblock4:\n  v12 = i2p v4\n  return v12\n}",
            expect![[r#"
                function "test"(i64, i64) -> ptr {
                block0(v0: i64, v1: i64):
                  jump block1(v0)

                block1(v2: i64):
                  v3 = iconst -1
                  v4 = iadd v2, v3
                  v5 = icmp slt v4, v1
                  br v5, block3, block2

                block2 cold:
                  v13 = isub v0, v2
                  v14 = pconst 0x1000
                  v15 = load.i64 v14
                  v16 = iadd v15, v13
                  store.i64 v14, v16
                  exit exit0(v2)

                block3:
                  v6 = pconst 0x1000
                  v8 = iconst 1
                  v10 = iconst 0
                  v11 = icmp sgt v4, v10
                  br v11, block1(v4), block4

                block4:
                  v17 = iconst 1
                  v18 = iadd v0, v17
                  v19 = isub v18, v2
                  v20 = pconst 0x1000
                  v21 = load.i64 v20
                  v22 = iadd v21, v19
                  store.i64 v20, v22
                  v12 = i2p v4
                  return v12
                }
            "#]],
        );
    }

    #[test]
    fn a_count_that_two_paths_pass_to_the_test_is_one_count() {
        check(
            "(i64, i64) -> ptr {\nblock0(v0: i64, v1: i64):\n  v20 = iconst 0\n  jump block1(v20)\n\
             block1(v2: i64):\n  v3 = iconst 1\n  v4 = iadd v2, v3\n  v5 = icmp slt v4, v1\n  br v5, block2, block3\n\
             block2:\n  v6 = pconst 4096\n  v7 = load.i64 v6\n  v8 = iconst 1\n  v9 = iadd v7, v8\n  store.i64 v6, v9\n\
             \x20 jump block4(v4)\n\
             block3:\n  v11 = pconst 4096\n  v12 = load.i64 v11\n  v13 = iconst 1\n  v14 = iadd v12, v13\n\
             \x20 store.i64 v11, v14\n  jump block4(v4)\n\
             block4(v15: i64):\n  v16 = icmp slt v15, v0\n  br v16, block1(v15), block5\nblock5:\n  v17 = i2p v15\n\
             \x20 return v17\n}",
            expect![[r#"
                function "test"(i64, i64) -> ptr {
                block0(v0: i64, v1: i64):
                  v20 = iconst 0
                  jump block1(v20)

                block1(v2: i64):
                  v3 = iconst 1
                  v4 = iadd v2, v3
                  v5 = icmp slt v4, v1
                  br v5, block2, block3

                block2:
                  v6 = pconst 0x1000
                  v8 = iconst 1
                  jump block4(v4)

                block3:
                  v11 = pconst 0x1000
                  v13 = iconst 1
                  jump block4(v4)

                block4(v15: i64):
                  v16 = icmp slt v15, v0
                  br v16, block1(v15), block5

                block5:
                  v21 = iconst -1
                  v22 = isub v2, v21
                  v23 = pconst 0x1000
                  v24 = load.i64 v23
                  v25 = iadd v24, v22
                  store.i64 v23, v25
                  v17 = i2p v15
                  return v17
                }
            "#]],
        );
    }

    #[test]
    fn an_exit_at_the_end_of_an_iteration_counts_that_iteration() {
        check(
            "(i64, i64) -> ptr {\nblock0(v0: i64, v1: i64):\n  v20 = iconst 0\n  jump block1(v20)\n\
             block1(v2: i64):\n  jump block2(v20)\n\
             block2(v3: i64):\n  v4 = pconst 4096\n  v5 = load.i64 v4\n  v6 = iconst 1\n  v7 = iadd v5, v6\n  store.i64 v4, v7\n\
             \x20 v8 = iadd v3, v6\n  v9 = icmp slt v8, v1\n  br v9, block2(v8), block3\n\
             block3:\n  v10 = pconst 4096\n  v11 = load.i64 v10\n  v12 = iconst 1\n  v13 = iadd v11, v12\n  store.i64 v10, v13\n\
             \x20 v14 = iadd v2, v12\n  v15 = icmp slt v14, v0\n  br v15, block1(v14), block4\n\
             block4:\n  v16 = i2p v14\n  return v16\n}",
            expect![[r#"
                function "test"(i64, i64) -> ptr {
                block0(v0: i64, v1: i64):
                  v20 = iconst 0
                  jump block1(v20)

                block1(v2: i64):
                  jump block2(v20)

                block2(v3: i64):
                  v4 = pconst 0x1000
                  v6 = iconst 1
                  v8 = iadd v3, v6
                  v9 = icmp slt v8, v1
                  br v9, block2(v8), block3

                block3:
                  v21 = iconst -2
                  v22 = isub v3, v21
                  v23 = pconst 0x1000
                  v24 = load.i64 v23
                  v25 = iadd v24, v22
                  store.i64 v23, v25
                  v10 = pconst 0x1000
                  v12 = iconst 1
                  v14 = iadd v2, v12
                  v15 = icmp slt v14, v0
                  br v15, block1(v14), block4

                block4:
                  v16 = i2p v14
                  return v16
                }
            "#]],
        );
    }

    #[test]
    fn a_loop_without_another_counter_is_unchanged() {
        check(
            "(i64, i64) -> ptr {\nblock0(v0: i64, v1: i64):\n  jump block1(v0)\n\
             block1(v2: i64):\n  v3 = iconst 2\n  v4 = iadd v2, v3\n\
             \x20 v6 = pconst 4096\n  v7 = load.i64 v6\n  v8 = iconst 1\n  v9 = iadd v7, v8\n  store.i64 v6, v9\n\
             \x20 v11 = icmp slt v4, v1\n  br v11, block1(v4), block4\nblock4:\n  v12 = i2p v4\n  return v12\n}",
            expect![[r#"
                function "test"(i64, i64) -> ptr {
                block0(v0: i64, v1: i64):
                  jump block1(v0)

                block1(v2: i64):
                  v3 = iconst 2
                  v4 = iadd v2, v3
                  v6 = pconst 0x1000
                  v7 = load.i64 v6
                  v8 = iconst 1
                  v9 = iadd v7, v8
                  store.i64 v6, v9
                  v11 = icmp slt v4, v1
                  br v11, block1(v4), block4

                block4:
                  v12 = i2p v4
                  return v12
                }
            "#]],
        );
    }

    #[test]
    fn random_loops_keep_their_counts() {
        let counting = |func: &mut Func, cell: u64| {
            let cfg = Cfg::new(func);
            for NaturalLoop { header, body, .. } in cfg.loops() {
                let from = cfg.predecessors(header).iter().copied();
                let latches: Vec<Block> = from.filter(|b| body.contains(*b)).collect();
                for latch in latches {
                    let term = func.blocks[latch].term.take().expect("an end");
                    let mut b = Builder::new(func);
                    b.switch_to(latch);
                    if matches!(term, Term::Jump(_)) {
                        let word = b.pconst(cell);
                        b.add_at(Width::I64, word, 0, 1);
                    }
                    b.terminate(term);
                }
            }
        };
        random::keeps_memory(counting, derive);
        random::keeps_memory(counting, |func, cell| {
            tend_loops(func, &random::helpers(), cell, 0)
        });
    }

    #[test]
    fn every_function_stays_well_formed() {
        random::stays_well_formed(|func| derive(func, 0x1000));
    }
}
