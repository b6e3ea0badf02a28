//! Keeps the registers of loops for their hot code.
//!
//! A counter that is incremented at the start of an iteration, since exits in the iteration need
//! both values, takes two registers during the whole iteration, and a move at its end. So in
//! innermost loops without calls,
//!
//! - a sum is sunk to its first use in hot code, and cold code computes it again;
//! - if hot code does not use an operand after a sum of it, cold code and the code after the loop
//!   compute the operand from the sum.
//!
//! And in a loop around others, a sum is sunk past the inner loops to its use.
//!
//! Then the sum can take the register of its operand. (Sinking and rematerialisation, as in LLVM's
//! register allocation; the second is possible because sums wrap around and so can be undone.)
//!
//! For example, `i += 1` at the start of `while True: i += 1; x = a[i - 1]; ...`: the hot code
//! after it needs only the new `i`, and an exit computes the old one as `i - 1`.

use super::cfg::{Cfg, NaturalLoop, QuietLoops, Users};
use super::graph::{Block, BlockData, Func, Imm, Inst, Value};
use super::ops::Opcode;
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::{SmallVec, smallvec};

/// The most hot blocks into which a sum is sunk.
const MAX_PLACES: usize = 3;

/// Sinks sums into innermost loops' cold blocks, and undoes them there.
pub(super) fn sink_sums(func: &mut Func, cfg: &Cfg, quiet: &QuietLoops) {
    let QuietLoops { hot, loops, .. } = quiet;
    let hot_blocks = blocks_of(loops).filter(|b| hot.contains(*b));
    let mut work = Work {
        users: cfg.users(func, &operands_and_sums(func, hot_blocks)),
        defined: definitions(func, loops),
        func,
        cfg,
        hot,
    };
    for found in loops {
        let blocks = found.blocks.iter().copied();
        let blocks: Vec<Block> = blocks.filter(|b| hot.contains(*b)).collect();
        for &b in &blocks {
            // From the last to the first: a sum may be an operand of another one.
            for sum in work.sums(b).into_iter().rev() {
                work.sink(found, b, &sum);
            }
        }
        for &b in &blocks {
            for sum in work.sums(b) {
                work.undo(found, b, &sum);
            }
        }
    }
}

/// Sinks sums across the loops between their definition and their use: the iteration counter of an
/// outer loop, which need not live in the inner ones.
pub(super) fn sink_across_loops(func: &mut Func, cfg: &Cfg, quiet: &QuietLoops) {
    let QuietLoops { loops, others, .. } = quiet;
    let mut depths = SecondaryMap::<Block, u32>::with_capacity(func.blocks.len());
    for b in blocks_of(others).chain(blocks_of(loops)) {
        depths[b] += 1;
    }
    // The blocks of outer loops that are in none of the inner loops.
    let own = |found: &NaturalLoop| {
        let depth = depths[found.header];
        let own = found.blocks.iter().copied();
        let own: Vec<Block> = own.filter(|b| depths[*b] == depth).collect();
        (own.len() < found.blocks.len()).then_some(own)
    };
    let around = others.iter().filter_map(|found| Some((found, own(found)?)));
    let around: Vec<(&NaturalLoop, Vec<Block>)> = around.collect();
    let blocks = around.iter().flat_map(|(_, own)| own).copied();
    let values = operands_and_sums(func, blocks);
    if values.is_empty() {
        return;
    }
    let users = cfg.users(func, &values);
    // The code generator defines constants at their uses.
    let mut constants = EntitySet::new();
    let insts = func.order.iter().flat_map(|b| &func.blocks[*b].insts);
    let known = insts.filter(|inst| inst.op == Opcode::Iconst);
    constants.extend(known.map(|inst| inst.results[0]));
    for (found, own) in around {
        for b in own {
            // From the last to the first, so that the places of the others do not move.
            for at in (0..func.blocks[b].insts.len()).rev() {
                let inst = &func.blocks[b].insts[at];
                if !is_sum(inst) {
                    continue;
                }
                let &[to] = users.of(inst.results[0]) else {
                    continue;
                };
                let is_there = |v: &Value| {
                    let mut users = users.of(*v).iter();
                    constants.contains(*v) || users.any(|user| cfg.dominates(to, *user))
                };
                let is_own = found.body.contains(to) && depths[to] == depths[b];
                if to != b && is_own && inst.args.iter().all(is_there) {
                    let inst = func.blocks[b].insts.remove(at);
                    let first = first_use(&func.blocks[to], inst.results[0]);
                    func.blocks[to].insts.insert(first, inst);
                }
            }
        }
    }
}

fn is_sum(inst: &Inst) -> bool {
    matches!(inst.op, Opcode::Iadd | Opcode::Isub)
}

/// The blocks of loops, of each in order.
fn blocks_of(loops: &[NaturalLoop]) -> impl Iterator<Item = Block> {
    loops.iter().flat_map(|found| &found.blocks).copied()
}

/// The sums in blocks, and their operands.
fn operands_and_sums(func: &Func, blocks: impl Iterator<Item = Block>) -> EntitySet<Value> {
    let mut values = EntitySet::new();
    for b in blocks {
        let sums = func.blocks[b].insts.iter().filter(|inst| is_sum(inst));
        values.extend(sums.flat_map(|inst| inst.args.iter().chain(&inst.results).copied()));
    }
    values
}

/// The defining blocks of values in loops. Constants have none, since the code generator defines
/// them at their uses.
fn definitions(func: &Func, loops: &[NaturalLoop]) -> SecondaryMap<Value, Option<Block>> {
    let mut defined = SecondaryMap::<Value, Option<Block>>::with_capacity(func.values.len());
    for b in blocks_of(loops) {
        let data = &func.blocks[b];
        let insts = data.insts.iter().filter(|inst| !inst.args.is_empty());
        let results = insts.flat_map(|inst| &inst.results);
        for &v in data.params.iter().chain(results) {
            defined[v] = Some(b);
        }
    }
    defined
}

struct Work<'a> {
    func: &'a mut Func,
    cfg: &'a Cfg,
    hot: &'a EntitySet<Block>,
    /// The users of sums, and of their operands.
    users: Users,
    defined: SecondaryMap<Value, Option<Block>>,
}

/// A sum or a difference.
struct Sum {
    inst: Inst,
    value: Value,
}

impl Work<'_> {
    /// The sums of a block.
    fn sums(&self, b: Block) -> Vec<Sum> {
        let insts = self.func.blocks[b].insts.iter();
        let sums = insts.filter(|inst| is_sum(inst));
        let sum = |inst: &Inst| Sum {
            value: inst.results[0],
            inst: inst.clone(),
        };
        sums.map(sum).collect()
    }

    /// Returns true if a value does not change in the loop.
    fn is_steady(&self, found: &NaturalLoop, v: Value) -> bool {
        self.defined[v].is_none_or(|b| !found.body.contains(b))
    }

    fn is_hot(&self, found: &NaturalLoop, b: Block) -> bool {
        found.body.contains(b) && self.hot.contains(b)
    }

    /// Returns true if a block uses a sum, or the operand of one.
    fn uses(&self, b: Block, v: Value) -> bool {
        self.users.of(v).contains(&b)
    }

    /// Sinks a sum of a value and a loop invariant to its uses.
    fn sink(&mut self, found: &NaturalLoop, b: Block, sum: &Sum) {
        if !sum.inst.args.iter().any(|v| self.is_steady(found, *v)) {
            return;
        }
        let users = self.users.of(sum.value).to_vec();
        if users.contains(&b) {
            let data = &mut self.func.blocks[b];
            let at = position(data, sum.value);
            let inst = data.insts.remove(at);
            let at = first_use(data, sum.value);
            data.insts.insert(at, inst);
            return;
        }
        let (hot, cold): (Vec<Block>, Vec<Block>) =
            users.into_iter().partition(|b| self.is_hot(found, *b));
        if hot.len() > MAX_PLACES {
            return;
        }
        let data = &mut self.func.blocks[b];
        data.insts.remove(position(data, sum.value));
        for v in &sum.inst.args {
            self.forget(*v, b);
        }
        // The blocks that compute it now, with its value there.
        let mut made: Vec<(Block, Value)> = Vec::new();
        for (to, is_hot) in hot
            .iter()
            .map(|b| (*b, true))
            .chain(cold.iter().map(|b| (*b, false)))
        {
            let above = made
                .iter()
                .find(|(above, _)| self.cfg.dominates(*above, to));
            let known = above.map(|(_, v)| *v);
            let v = known.unwrap_or_else(|| {
                let at = first_use(&self.func.blocks[to], sum.value);
                self.make(to, at, sum.inst.op, &sum.inst.args, sum.value)
            });
            if is_hot && known.is_none() {
                made.push((to, v));
            }
            self.replace(to, sum.value, v);
        }
    }

    /// Makes code that is not hot and needs an operand of a sum after it compute the operand from
    /// the sum.
    fn undo(&mut self, found: &NaturalLoop, b: Block, sum: &Sum) {
        let &[first, second] = &sum.inst.args[..] else {
            return;
        };
        let both = [(first, second), (second, first)];
        let operands = match sum.inst.op {
            Opcode::Iadd => &both[..],
            _ => &both[..1],
        };
        for &(operand, other) in operands {
            if operand == other || self.is_steady(found, operand) {
                continue;
            }
            let users = self.users.of(operand).iter();
            let (hot, cold): (Vec<Block>, Vec<Block>) =
                users.partition(|b| self.is_hot(found, **b));
            let data = &self.func.blocks[b];
            let rest = &data.insts[position(data, sum.value) + 1..];
            let is_used_on = rest.iter().any(|inst| inst.args.contains(&operand))
                || data.term.iter().any(|term| term.uses(operand));
            let behind: Vec<Block> = cold
                .into_iter()
                .filter(|c| self.cfg.dominates(b, *c))
                .collect();
            let is_over = hot.iter().all(|h| *h == b || self.cfg.dominates(*h, b));
            let has_other = |c: &Block| self.is_steady(found, other) || self.uses(*c, other);
            if is_used_on || !is_over || behind.is_empty() || !behind.iter().all(has_other) {
                continue;
            }
            let op = match sum.inst.op {
                Opcode::Iadd => Opcode::Isub,
                _ => Opcode::Iadd,
            };
            for c in behind {
                let v = self.make(c, 0, op, &[sum.value, other], operand);
                self.replace(c, operand, v);
            }
            return;
        }
    }

    /// Inserts an instruction with a result like `like`.
    fn make(&mut self, b: Block, at: usize, op: Opcode, args: &[Value], like: Value) -> Value {
        let result = self.func.twin(like);
        let inst = Inst {
            op,
            args: SmallVec::from_slice(args),
            imm: Imm::None,
            results: smallvec![result],
        };
        self.func.blocks[b].insts.insert(at, inst);
        self.defined[result] = Some(b);
        for v in args {
            self.users.insert(*v, b);
        }
        result
    }

    /// Replaces a value in a block by `new`.
    fn replace(&mut self, b: Block, old: Value, new: Value) {
        self.func.blocks[b].map_uses(|v| {
            if *v == old {
                *v = new;
            }
        });
        self.users.remove(old, b);
        self.users.insert(new, b);
    }

    /// Updates the users after a block may have lost its last use of a value.
    fn forget(&mut self, v: Value, b: Block) {
        if !self.func.blocks[b].uses().any(|used| used == v) {
            self.users.remove(v, b);
        }
    }
}

/// The index of a value's definition in a block.
fn position(data: &BlockData, v: Value) -> usize {
    let at = data.insts.iter().position(|inst| inst.results.contains(&v));
    at.expect("the block defines it")
}

/// The place before a block's first use of a value.
fn first_use(data: &BlockData, v: Value) -> usize {
    let at = data.insts.iter().position(|inst| inst.args.contains(&v));
    at.unwrap_or(data.insts.len())
}

#[cfg(test)]
mod tests {
    use super::super::{random, tend_loops};
    use super::*;
    use expect_test::{Expect, expect};

    fn sink(func: &mut Func) {
        let cfg = Cfg::new(func);
        sink_sums(func, &cfg, &QuietLoops::of(func, &cfg));
    }

    fn check(text: &str, expect: Expect) {
        expect.assert_eq(&random::after(sink, text));
    }

    #[test]
    fn a_counter_is_increased_at_its_hot_use_and_again_in_exits() {
        check(
            "(i64, i64) -> ptr {\nblock0(v0: i64, v1: i64):\n  v2 = iconst 0\n  jump block1(v2)\n\
             block1(v3: i64):\n  v4 = iconst 1\n  v5 = iadd v3, v4\n  v6, v7 = imul_ovf v3, v3\n  br v7, block2, block3\n\
             block2 cold:\n  exit exit0(v3, v5)\n\
             block3:\n  v8 = icmp slt v5, v0\n  br v8, block1(v5), block4\nblock4:\n  v9 = i2p v3\n  return v9\n}",
            expect![[r#"
                function "test"(i64, i64) -> ptr {
                block0(v0: i64, v1: i64):
                  v2 = iconst 0
                  jump block1(v2)

                block1(v3: i64):
                  v4 = iconst 1
                  v6, v7 = imul_ovf v3, v3
                  br v7, block2, block3

                block2 cold:
                  v11 = iadd v3, v4
                  exit exit0(v3, v11)

                block3:
                  v10 = iadd v3, v4
                  v8 = icmp slt v10, v0
                  br v8, block1(v10), block4

                block4:
                  v12 = isub v10, v4
                  v9 = i2p v12
                  return v9
                }
            "#]],
        );
    }

    #[test]
    fn the_old_value_of_an_addition_is_recomputed_in_cold_code() {
        check(
            "(i64, i64) -> ptr {\nblock0(v0: i64, v1: i64):\n  v2 = iconst 0\n  jump block1(v2)\n\
             block1(v3: i64):\n  v4 = imul v3, v1\n  v5 = iadd v3, v4\n  v6 = iconst 0\n  v7 = icmp slt v5, v6\n  br v7, block2, block3\n\
             block2 cold:\n  exit exit0(v3, v4)\n\
             block3:\n  v8 = icmp slt v5, v0\n  br v8, block1(v5), block4\nblock4:\n  v9 = i2p v5\n  return v9\n}",
            expect![[r#"
                function "test"(i64, i64) -> ptr {
                block0(v0: i64, v1: i64):
                  v2 = iconst 0
                  jump block1(v2)

                block1(v3: i64):
                  v4 = imul v3, v1
                  v5 = iadd v3, v4
                  v6 = iconst 0
                  v7 = icmp slt v5, v6
                  br v7, block2, block3

                block2 cold:
                  v10 = isub v5, v4
                  exit exit0(v10, v4)

                block3:
                  v8 = icmp slt v5, v0
                  br v8, block1(v5), block4

                block4:
                  v9 = i2p v5
                  return v9
                }
            "#]],
        );
    }

    #[test]
    fn values_that_hot_code_uses_again_stay() {
        check(
            "(i64, i64) -> ptr {\nblock0(v0: i64, v1: i64):\n  v2 = iconst 0\n  jump block1(v2)\n\
             block1(v3: i64):\n  v5 = iadd v3, v1\n  v7 = icmp slt v5, v3\n  br v7, block2, block3\n\
             block2 cold:\n  exit exit0(v3)\n\
             block3:\n  v8 = icmp slt v5, v0\n  br v8, block1(v5), block4\nblock4:\n  v9 = i2p v5\n  return v9\n}",
            expect![[r#"
                function "test"(i64, i64) -> ptr {
                block0(v0: i64, v1: i64):
                  v2 = iconst 0
                  jump block1(v2)

                block1(v3: i64):
                  v5 = iadd v3, v1
                  v7 = icmp slt v5, v3
                  br v7, block2, block3

                block2 cold:
                  exit exit0(v3)

                block3:
                  v8 = icmp slt v5, v0
                  br v8, block1(v5), block4

                block4:
                  v9 = i2p v5
                  return v9
                }
            "#]],
        );
    }

    fn check_across(text: &str, expect: Expect) {
        let sink = |func: &mut Func| {
            let cfg = Cfg::new(func);
            sink_across_loops(func, &cfg, &QuietLoops::of(func, &cfg));
        };
        expect.assert_eq(&random::after(sink, text));
        random::keeps_meaning(sink);
        random::stays_well_formed(sink);
    }

    #[test]
    fn the_counter_of_an_outer_loop_is_increased_after_its_inner_loops() {
        check_across(
            "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = iconst 0\n  jump block1(v1)\n\
             block1(v2: i64):\n  v3 = iconst 1\n  v4 = iadd v2, v3\n  jump block2(v1)\n\
             block2(v5: i64):\n  v6 = iadd v5, v3\n  v7 = icmp slt v6, v0\n  br v7, block2(v6), block3\n\
             block3:\n  v8 = icmp slt v4, v0\n  br v8, block1(v4), block4(v2)\nblock4(v9: i64):\n  return v9\n}",
            expect![[r#"
                function "test"(i64) -> i64 {
                block0(v0: i64):
                  v1 = iconst 0
                  jump block1(v1)

                block1(v2: i64):
                  v3 = iconst 1
                  jump block2(v1)

                block2(v5: i64):
                  v6 = iadd v5, v3
                  v7 = icmp slt v6, v0
                  br v7, block2(v6), block3

                block3:
                  v4 = iadd v2, v3
                  v8 = icmp slt v4, v0
                  br v8, block1(v4), block4(v2)

                block4(v9: i64):
                  return v9
                }
            "#]],
        );
    }

    #[test]
    fn no_value_sinks_past_the_life_of_its_operands() {
        check_across(
            "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = iconst 0\n  jump block1(v1)\n\
             block1(v2: i64):\n  v3 = iconst 1\n  v4 = iadd v2, v3\n  jump block2(v1)\n\
             block2(v5: i64):\n  v6 = iadd v5, v3\n  v7 = icmp slt v6, v0\n  br v7, block2(v6), block3\n\
             block3:\n  v8 = icmp slt v4, v0\n  br v8, block1(v4), block4(v4)\nblock4(v9: i64):\n  return v9\n}",
            expect![[r#"
                function "test"(i64) -> i64 {
                block0(v0: i64):
                  v1 = iconst 0
                  jump block1(v1)

                block1(v2: i64):
                  v3 = iconst 1
                  v4 = iadd v2, v3
                  jump block2(v1)

                block2(v5: i64):
                  v6 = iadd v5, v3
                  v7 = icmp slt v6, v0
                  br v7, block2(v6), block3

                block3:
                  v8 = icmp slt v4, v0
                  br v8, block1(v4), block4(v4)

                block4(v9: i64):
                  return v9
                }
            "#]],
        );
    }

    #[test]
    fn random_loops_keep_their_results() {
        random::keeps_meaning(sink);
        random::keeps_meaning(|func| tend_loops(func, &random::helpers(), 0, 0));
    }

    #[test]
    fn every_function_stays_well_formed() {
        random::stays_well_formed(sink);
    }
}
