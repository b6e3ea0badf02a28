//! Keeps a word of memory that only callees change in a register.
//!
//! Each iteration of a loop compares the host's word for pending work with the expected one. The
//! expected word is at an address that nothing in the unit writes: it changes, if at all, during
//! calls. So an innermost loop that calls nothing in its hot blocks loads it before the first
//! iteration, and again after the calls of its cold blocks. (Partial redundancy elimination of one
//! load, whose address is always valid.)

use super::cfg::{Cfg, NaturalLoop, QuietLoops};
use super::graph::{Block, BlockCall, Func, Imm, Inst, Renaming, Term, Value};
use super::ops::Opcode;
use crate::ll::{Ty, Width};
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::smallvec;

/// The form of the load.
const WORD: Imm = Imm::Mem {
    width: Width::I64,
    offset: 0,
};

/// Carries the word at `cell` through innermost loops that load it in each iteration. Only callees
/// may change it.
pub(super) fn carry_cell(func: &mut Func, cfg: &Cfg, quiet: &QuietLoops, cell: u64) {
    let mut work = Work {
        hot: &quiet.hot,
        addresses: addresses(func, cfg, cell),
        ends: SecondaryMap::with_capacity(func.blocks.len()),
        func,
        cfg,
        cell,
        known: Renaming::default(),
    };
    for found in &quiet.loops {
        if let Some(before) = work.entered_from(found)
            && work.is_only_read(found)
        {
            work.carry(found, before);
        }
    }
    let known = work.known;
    if !known.is_empty() {
        for &b in cfg.order() {
            func.blocks[b].rename(&known);
        }
    }
}

/// The values that are the address.
fn addresses(func: &Func, cfg: &Cfg, address: u64) -> EntitySet<Value> {
    let insts = cfg.order().iter().flat_map(|b| &func.blocks[*b].insts);
    let same = insts.filter(|inst| inst.op == Opcode::Pconst && inst.imm == Imm::Addr(address));
    let mut addresses = EntitySet::new();
    addresses.extend(same.map(|inst| inst.results[0]));
    addresses
}

struct Work<'a> {
    func: &'a mut Func,
    cfg: &'a Cfg,
    hot: &'a EntitySet<Block>,
    cell: u64,
    addresses: EntitySet<Value>,
    /// The word at the ends of blocks, where it is known.
    ends: SecondaryMap<Block, Option<Value>>,
    /// The replacements of loaded values.
    known: Renaming,
}

impl Work<'_> {
    /// The only block that leads into a loop, if it ends with a jump.
    fn entered_from(&self, found: &NaturalLoop) -> Option<Block> {
        let from = self.cfg.predecessors(found.header).iter().copied();
        let mut outside = from.filter(|b| !found.body.contains(*b));
        let (before, None) = (outside.next()?, outside.next()) else {
            return None;
        };
        matches!(self.func.blocks[before].term, Some(Term::Jump(_))).then_some(before)
    }

    fn is_load(&self, inst: &Inst) -> bool {
        inst.op == Opcode::Load && inst.imm == WORD && self.addresses.contains(inst.args[0])
    }

    /// Returns true if hot blocks of a loop load the word, and no block of it stores there.
    fn is_only_read(&self, found: &NaturalLoop) -> bool {
        let insts = |b: Block| self.func.blocks[b].insts.iter();
        let mut blocks = found.blocks.iter().copied();
        let mut hot = blocks.clone().filter(|b| self.hot.contains(*b));
        let is_store =
            |inst: &Inst| inst.op == Opcode::Store && self.addresses.contains(inst.args[0]);
        hot.any(|b| insts(b).any(|inst| self.is_load(inst)))
            && !blocks.any(|b| insts(b).any(is_store))
    }

    /// Makes a loop carry the word.
    fn carry(&mut self, found: &NaturalLoop, before: Block) {
        let first = self.load(before);
        let param = self.param(found.header);
        for &b in &found.blocks {
            let held = if b == found.header {
                param
            } else {
                self.arriving(b)
            };
            if self.hot.contains(b) {
                self.replace_loads(b, held);
            }
            // A callee may change it.
            self.ends[b] = Some(if self.func.blocks[b].has_calls() {
                self.load(b)
            } else {
                held
            });
        }
        self.ends[before] = Some(first);
        self.bring(found.header);
    }

    /// The word at the start of a block whose predecessors are known: a parameter, if they differ.
    fn arriving(&mut self, b: Block) -> Value {
        let held = |from: &Block| self.ends[*from].expect("a loop without others in it");
        let mut from = self.cfg.predecessors(b).iter();
        let one = held(from.next().expect("a block of a loop"));
        if from.all(|from| held(from) == one) {
            return one;
        }
        let param = self.param(b);
        self.bring(b);
        param
    }

    /// Passes the word for a block's last parameter on all edges.
    fn bring(&mut self, to: Block) {
        let mut from = self.cfg.predecessors(to).to_vec();
        // A block that occurs twice has two edges.
        from.sort_unstable();
        from.dedup();
        for from in from {
            let held = self.ends[from].expect("a block before it");
            let term = self.func.blocks[from].term.iter_mut();
            let edges = term.flat_map(Term::targets_mut);
            edges
                .filter(|edge: &&mut BlockCall| edge.block == to)
                .for_each(|edge| edge.args.push(held));
        }
    }

    fn param(&mut self, b: Block) -> Value {
        let param = self.func.values.push(Ty::I64);
        self.func.blocks[b].params.push(param);
        param
    }

    /// Loads the word at the end of a block.
    fn load(&mut self, b: Block) -> Value {
        let address = self.func.values.push(Ty::Ptr);
        let word = self.func.values.push(Ty::I64);
        let insts = &mut self.func.blocks[b].insts;
        insts.push(Inst {
            op: Opcode::Pconst,
            args: smallvec![],
            imm: Imm::Addr(self.cell),
            results: smallvec![address],
        });
        insts.push(Inst {
            op: Opcode::Load,
            args: smallvec![address],
            imm: WORD,
            results: smallvec![word],
        });
        word
    }

    /// Replaces a block's loads of the word by the carried value.
    fn replace_loads(&mut self, b: Block, held: Value) {
        let insts = std::mem::take(&mut self.func.blocks[b].insts);
        let (loads, rest): (Vec<Inst>, Vec<Inst>) =
            insts.into_iter().partition(|inst| self.is_load(inst));
        self.func.blocks[b].insts = rest;
        for load in loads {
            self.known.insert(load.results[0], held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random;
    use super::*;
    use expect_test::{Expect, expect};

    fn carry(func: &mut Func, cell: u64) {
        let cfg = Cfg::new(func);
        carry_cell(func, &cfg, &QuietLoops::of(func, &cfg), cell);
    }

    fn check(text: &str, expect: Expect) {
        expect.assert_eq(&random::after(|func| carry(func, 0x1000), text));
    }

    #[test]
    fn the_word_is_loaded_before_the_loop_and_after_instructions_that_may_change_it() {
        check(
            "(ptr, i64) {\n  sig0 () -> bool\nblock0(v0: ptr, v1: i64):\n  jump block1(v1)\n\
             block1(v2: i64):\n  v3 = pconst 4096\n  v4 = load.i64 v0+24\n  v5 = load.i64 v3\n  v6 = icmp eq v4, v5\n\
             \x20 br v6, block4, block2\nblock2 cold:\n  v7 = pconst 8192\n  v8 = call_indirect sig0 v7()\n  br v8, block3, block5\n\
             block3 cold:\n  v9 = load.i64 v3\n  v10 = icmp eq v9, v4\n  br v10, block4, block5\n\
             block4:\n  v11 = iadd v2, v1\n  jump block1(v11)\nblock5 cold:\n  return\n}",
            expect![[r#"
                function "test"(ptr, i64) {
                  sig0 () -> bool

                block0(v0: ptr, v1: i64):
                  v12 = pconst 0x1000
                  v13 = load.i64 v12
                  jump block1(v1, v13)

                block1(v2: i64, v14: i64):
                  v3 = pconst 0x1000
                  v4 = load.i64 v0+24
                  v6 = icmp eq v4, v14
                  br v6, block4(v14), block2

                block2 cold:
                  v7 = pconst 0x2000
                  v8 = call_indirect sig0 v7()
                  v15 = pconst 0x1000
                  v16 = load.i64 v15
                  br v8, block3, block5

                block3 cold:
                  v9 = load.i64 v3
                  v10 = icmp eq v9, v4
                  br v10, block4(v16), block5

                block4(v17: i64):
                  v11 = iadd v2, v1
                  jump block1(v11, v17)

                block5 cold:
                  return
                }
            "#]],
        );
    }

    #[test]
    fn a_loop_with_calls_loads_the_word_in_each_iteration() {
        check(
            "(ptr) {\n  sig0 () -> bool\nblock0(v0: ptr):\n  jump block1\n\
             block1:\n  v1 = pconst 4096\n  v2 = load.i64 v1\n  v3 = load.i64 v0\n  v4 = icmp eq v2, v3\n  br v4, block2, block3\n\
             block2:\n  v5 = call_indirect sig0 v0()\n  br v5, block1, block3\nblock3:\n  return\n}",
            expect![[r#"
                function "test"(ptr) {
                  sig0 () -> bool

                block0(v0: ptr):
                  jump block1

                block1:
                  v1 = pconst 0x1000
                  v2 = load.i64 v1
                  v3 = load.i64 v0
                  v4 = icmp eq v2, v3
                  br v4, block2, block3

                block2:
                  v5 = call_indirect sig0 v0()
                  br v5, block1, block3

                block3:
                  return
                }
            "#]],
        );
    }

    #[test]
    fn a_loop_that_stores_to_the_word_is_unchanged() {
        check(
            "(i64) {\nblock0(v0: i64):\n  jump block1(v0)\nblock1(v1: i64):\n  v2 = pconst 4096\n  v3 = load.i64 v2\n\
             \x20 v4 = iadd v3, v1\n  store.i64 v2, v4\n  v5 = icmp slt v4, v0\n  br v5, block1(v4), block2\nblock2:\n  return\n}",
            expect![[r#"
                function "test"(i64) {
                block0(v0: i64):
                  jump block1(v0)

                block1(v1: i64):
                  v2 = pconst 0x1000
                  v3 = load.i64 v2
                  v4 = iadd v3, v1
                  store.i64 v2, v4
                  v5 = icmp slt v4, v0
                  br v5, block1(v4), block2

                block2:
                  return
                }
            "#]],
        );
    }

    #[test]
    fn a_cycle_with_two_entries_is_unchanged() {
        let text = "(bool) {\nblock0(v0: bool):\n  jump block1\n\
                    block1:\n  v1 = pconst 4096\n  v2 = load.i64 v1\n  br v0, block2, block3\n\
                    block2:\n  jump block3\nblock3:\n  br v0, block2, block4\n\
                    block4:\n  br v0, block1, block5\nblock5:\n  return\n}";
        let left = random::after(|func| carry(func, 0x1000), text);
        assert_eq!(left, random::after(|_| (), text));
    }

    #[test]
    fn every_function_stays_well_formed() {
        random::stays_well_formed(|func| carry(func, 0x1000));
    }
}
