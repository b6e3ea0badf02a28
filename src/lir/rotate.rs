//! Loops that test at the bottom.
//!
//! A loop initially has its test at the top: each iteration ends with a jump to it, and values that
//! are needed only after the loop (a flag that a variable is bound, its last value) are carried by
//! every iteration. This pass copies the test to the end of the iteration, and the original runs
//! once, before the first iteration. The code after the loop is then reached from two places, which
//! pass it the values that only it needs. (Loop inversion, as in LLVM's and GCC's rotation of
//! loops.)
//!
//! If an outer loop has made the same test, the first test is known to hold and is left out
//! ([`entered_loops`]). Then loops around others test at the bottom too, since they have no
//! additional test.
//!
//! The values of the test's block have two definitions afterwards; where they join, a block gets a
//! parameter, if a later block uses the value.

use super::cfg::{Cfg, Users, innermost};
use super::entered::entered_loops;
use super::graph::{Block, BlockCall, Func, Insertions, Renaming, Term, Value};
use cranelift_entity::{EntitySet, SecondaryMap};
use std::collections::{BTreeMap, VecDeque};

/// The most instructions of a test that is copied.
const MAX_COPIED: usize = 16;

/// Makes innermost loops test at the bottom, if their test may be copied, and also loops that are
/// always entered, which then have only that test. Returns true if some loop was changed. Then the
/// control-flow graph is recomputed, and some blocks only jump.
pub(super) fn rotate_loops(func: &mut Func, cfg: &mut Cfg) -> bool {
    let found = cfg.loops();
    let entered = entered_loops(func, cfg, &found);
    let innermost = innermost(cfg, &found);
    let mut hot = func.hot_blocks();
    let mut rotated: Vec<Rotated> = Vec::new();
    let mut insertions = Insertions::default();
    let mut renaming = Renaming::default();
    for found in &found {
        let is_entered = entered.contains(found.header);
        if !is_entered && !innermost.contains(found.header) {
            continue;
        }
        let data = &func.blocks[found.header];
        let Some(Term::Br { then, els, .. }) = &data.term else {
            continue;
        };
        let targets = [then.block, els.block];
        let (inside, outside): (Vec<Block>, Vec<Block>) =
            targets.iter().partition(|b| found.body.contains(**b));
        let ([first], [behind]) = (&inside[..], &outside[..]) else {
            continue;
        };
        let is_test = hot.contains(found.header)
            && hot.contains(*behind)
            && *first != found.header
            && data.insts.len() <= MAX_COPIED
            && !data.has_calls();
        if is_test {
            let from = cfg.predecessors(found.header).iter().copied();
            let latches: Vec<Block> = from.filter(|b| found.body.contains(*b)).collect();
            let new = Rotated::new(func, found.header, *first, latches, &mut renaming);
            if is_entered {
                new.enter(func);
            }
            insertions.behind(new.first, new.enter);
            insertions.behind(new.first, new.copy);
            // The copy may be after an inner loop.
            hot.insert(new.copy);
            rotated.push(new);
        }
    }
    if rotated.is_empty() {
        return false;
    }
    insertions.apply(func);
    *cfg = Cfg::new(func);
    let mut tested = EntitySet::new();
    let copied = rotated.iter().flat_map(|rotated| &rotated.copies);
    tested.extend(copied.map(|(v, _)| *v));
    let users = cfg.users(func, &tested);
    let mut repair = Repair {
        func,
        cfg,
        users: &users,
        reaching: SecondaryMap::new(),
        renaming,
    };
    for rotated in &rotated {
        repair.run(rotated);
    }
    true
}

/// A loop whose test was copied.
struct Rotated {
    /// The block with the test that runs before the first iteration.
    first: Block,
    /// The block from which the loop is entered.
    enter: Block,
    /// The block with the copy.
    copy: Block,
    /// The values that the test's block defines, each with its copy.
    copies: Vec<(Value, Value)>,
}

/// The definition of a value that reaches a place.
#[derive(Clone, Copy, PartialEq)]
enum Reaches {
    /// That of the first test.
    First,
    /// That of the copy.
    Copy,
    /// Different ones, joined in a parameter of this block.
    Param(Block),
}

impl Rotated {
    /// Copies the test in `first` to the ends of the iterations, which begin at `turn`.
    fn new(
        func: &mut Func,
        first: Block,
        turn: Block,
        latches: Vec<Block>,
        renaming: &mut Renaming,
    ) -> Rotated {
        let copy = func.make_block();
        let mut data = func.blocks[first].clone();
        let mut copies = Vec::new();
        let results = data.insts.iter_mut().flat_map(|inst| &mut inst.results);
        for v in data.params.iter_mut().chain(results) {
            let twin = func.twin(*v);
            copies.push((*v, twin));
            renaming.insert(*v, twin);
            *v = twin;
        }
        data.rename(renaming);
        renaming.clear();
        func.blocks[copy] = data;
        for latch in latches {
            edges(func, latch, first).for_each(|edge| edge.block = copy);
        }
        // The loop is entered by a jump, so that there is a place for code that runs once.
        let enter = func.make_block();
        let edge = edges(func, first, turn).next();
        let edge = edge.expect("an edge into the loop");
        let args = std::mem::take(&mut edge.args);
        edge.block = enter;
        func.blocks[enter].term = Some(Term::Jump(BlockCall::new(turn, args)));
        Rotated {
            first,
            enter,
            copy,
            copies,
        }
    }

    /// Enters the loop without the first test, which always holds.
    fn enter(&self, func: &mut Func) {
        func.blocks[self.first].term = Some(Term::Jump(BlockCall::new(self.enter, Vec::new())));
    }

    /// The copy of a value that the test's block defines.
    fn copy_of(&self, v: Value) -> Value {
        let copy = self.copies.iter().find(|(first, _)| *first == v);
        copy.expect("a value of the test").1
    }

    /// The definitions that reach the successors of a block, if that is known yet.
    fn behind(&self, b: Block, reaching: &SecondaryMap<Block, Option<Reaches>>) -> Option<Reaches> {
        match b {
            b if b == self.first => Some(Reaches::First),
            b if b == self.copy => Some(Reaches::Copy),
            b => reaching[b],
        }
    }
}

/// Replaces each use of a test's value by the definition that reaches it, for one loop after the
/// other.
struct Repair<'a> {
    func: &'a mut Func,
    cfg: &'a Cfg,
    users: &'a Users,
    /// The definitions that reach the starts of blocks, the same for all values. Filled for the
    /// blocks of one loop's region at a time.
    reaching: SecondaryMap<Block, Option<Reaches>>,
    renaming: Renaming,
}

impl Repair<'_> {
    fn run(&mut self, rotated: &Rotated) {
        let cfg = self.cfg;
        let is_behind = |b: &Block| *b != rotated.first && cfg.dominates(rotated.first, *b);
        let users = rotated.copies.iter().flat_map(|(v, _)| self.users.of(*v));
        let mut users: Vec<Block> = users.copied().filter(is_behind).collect();
        users.sort_unstable_by_key(|b| cfg.place(*b));
        users.dedup();
        let region = self.region(rotated, &users);
        self.reach(rotated, &region);
        let mut definitions = Definitions {
            func: self.func,
            rotated,
            reaching: &self.reaching,
            params: BTreeMap::new(),
            wanted: VecDeque::new(),
        };
        let mut uses = Vec::new();
        for b in users.into_iter().filter(|b| *b != rotated.copy) {
            let first = rotated.copies.iter().map(|(v, _)| *v);
            uses.extend(first.filter(|v| self.users.of(*v).contains(&b)));
            uses.sort_unstable();
            for v in uses.drain(..) {
                let reaches = self.reaching[b];
                self.renaming.insert(v, definitions.at(v, reaches));
            }
            definitions.func.blocks[b].rename(&self.renaming);
            self.renaming.clear();
        }
        definitions.bring(cfg);
        for b in region {
            self.reaching[b] = None;
        }
    }

    /// The blocks between the definitions and their uses, in order. (Not all blocks after the loop,
    /// so that a sequence of many loops takes linear time.)
    fn region(&mut self, rotated: &Rotated, users: &[Block]) -> Vec<Block> {
        let mut work = users.to_vec();
        let mut region = Vec::new();
        while let Some(b) = work.pop() {
            if b != rotated.first && b != rotated.copy && self.reaching[b].is_none() {
                // Marked, so that it is found once.
                self.reaching[b] = Some(Reaches::First);
                region.push(b);
                work.extend(self.cfg.predecessors(b));
            }
        }
        for &b in &region {
            self.reaching[b] = None;
        }
        region.sort_unstable_by_key(|b| self.cfg.place(*b));
        region
    }

    /// Computes the definitions that reach the starts of blocks.
    fn reach(&mut self, rotated: &Rotated, region: &[Block]) {
        let reaching = &mut self.reaching;
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &b in region {
                if reaching[b] == Some(Reaches::Param(b)) {
                    continue;
                }
                let from = self.cfg.predecessors(b).iter();
                let mut from = from.filter_map(|p| rotated.behind(*p, reaching));
                let Some(one) = from.next() else {
                    continue;
                };
                let same = from.all(|other| other == one);
                let found = Some(if same { one } else { Reaches::Param(b) });
                changed |= reaching[b] != found;
                reaching[b] = found;
            }
        }
    }
}

/// The definitions of a test's values, while uses are replaced.
struct Definitions<'a> {
    func: &'a mut Func,
    rotated: &'a Rotated,
    reaching: &'a SecondaryMap<Block, Option<Reaches>>,
    /// The parameters created so far.
    params: BTreeMap<(Value, Block), Value>,
    /// The parameters that no edge passes yet, in order of creation.
    wanted: VecDeque<(Value, Block)>,
}

impl Definitions<'_> {
    /// A value at a place that these definitions reach.
    fn at(&mut self, v: Value, reaches: Option<Reaches>) -> Value {
        match reaches.expect("a block behind the test") {
            Reaches::First => v,
            Reaches::Copy => self.rotated.copy_of(v),
            Reaches::Param(b) => match self.params.get(&(v, b)) {
                Some(param) => *param,
                None => {
                    let param = self.func.twin(v);
                    self.func.blocks[b].params.push(param);
                    self.params.insert((v, b), param);
                    self.wanted.push_back((v, b));
                    param
                }
            },
        }
    }

    /// Passes the parameters on the edges.
    fn bring(&mut self, cfg: &Cfg) {
        while let Some((v, b)) = self.wanted.pop_front() {
            // A block that occurs twice has two edges.
            let mut from = cfg.predecessors(b).to_vec();
            from.dedup();
            for from in from {
                let arg = self.at(v, self.rotated.behind(from, self.reaching));
                edges(self.func, from, b).for_each(|edge| edge.args.push(arg));
            }
        }
    }
}

/// The edges from one block to another.
fn edges(func: &mut Func, from: Block, to: Block) -> impl Iterator<Item = &mut BlockCall> {
    let edges = func.blocks[from].term.iter_mut();
    let edges = edges.flat_map(Term::targets_mut);
    edges.filter(move |edge| edge.block == to)
}

#[cfg(test)]
mod tests {
    use super::super::random;
    use super::super::tidy::merge_blocks;
    use super::*;
    use expect_test::{Expect, expect};

    fn rotate(func: &mut Func) {
        if rotate_loops(func, &mut Cfg::new(func)) {
            merge_blocks(func);
        }
    }

    fn check(text: &str, expect: Expect) {
        expect.assert_eq(&random::after(rotate, text));
    }

    #[test]
    fn the_test_is_before_the_loop_and_at_the_end_of_each_iteration() {
        check(
            "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = iconst 0\n  jump block1(v1, v1)\n\
             block1(v2: i64, v3: i64):\n  v4 = icmp slt v2, v0\n  br v4, block2, block3\n\
             block2:\n  v5 = iconst 1\n  v6 = iadd v2, v5\n  jump block1(v6, v2)\n\
             block3:\n  return v3\n}",
            expect![[r#"
                function "test"(i64) -> i64 {
                block0(v0: i64):
                  v1 = iconst 0
                  v4 = icmp slt v1, v0
                  br v4, block5, block3(v1)

                block5:
                  jump block2(v1)

                block2(v10: i64):
                  v5 = iconst 1
                  v6 = iadd v10, v5
                  v9 = icmp slt v6, v0
                  br v9, block2(v6), block3(v10)

                block3(v11: i64):
                  return v11
                }
            "#]],
        );
    }

    #[test]
    fn a_block_reached_from_the_loop_and_from_code_after_it_gets_parameters() {
        check(
            "(i64, bool) -> i64 {\nblock0(v0: i64, v1: bool):\n  v2 = iconst 0\n  jump block1(v2)\n\
             block1(v3: i64):\n  v4 = iadd v3, v3\n  v5 = icmp slt v4, v0\n  br v5, block2, block5\n\
             block2:\n  br v1, block3, block4\nblock3:\n  jump block1(v4)\nblock4:\n  br v1, block1(v3), block6\n\
             block5:\n  jump block6\nblock6:\n  v6 = iadd v3, v4\n  return v6\n}",
            expect![[r#"
                function "test"(i64, bool) -> i64 {
                block0(v0: i64, v1: bool):
                  v2 = iconst 0
                  v4 = iadd v2, v2
                  v5 = icmp slt v4, v0
                  br v5, block8, block5(v2, v4)

                block8:
                  jump block2(v4, v2)

                block7(v7: i64):
                  v8 = iadd v7, v7
                  v9 = icmp slt v8, v0
                  br v9, block2(v8, v7), block5(v7, v8)

                block2(v10: i64, v11: i64):
                  br v1, block3, block4

                block3:
                  jump block7(v10)

                block4:
                  br v1, block7(v11), block6(v11, v10)

                block5(v14: i64, v15: i64):
                  jump block6(v14, v15)

                block6(v12: i64, v13: i64):
                  v6 = iadd v12, v13
                  return v6
                }
            "#]],
        );
    }

    #[test]
    fn outer_loops_and_tests_that_call_or_lead_to_exits_stay() {
        check(
            "(bool) {\n  sig0 () -> bool\nblock0(v0: bool):\n  jump block1\nblock1:\n  v1 = pconst 4096\n\
             \x20 v2 = call_indirect sig0 v1()\n  br v2, block2, block3\nblock2:\n  br v0, block1, block4\n\
             block3:\n  return\nblock4 cold:\n  return\n}",
            expect![[r#"
                function "test"(bool) {
                  sig0 () -> bool

                block0(v0: bool):
                  jump block1

                block1:
                  v1 = pconst 0x1000
                  v2 = call_indirect sig0 v1()
                  br v2, block2, block3

                block2:
                  br v0, block1, block4

                block3:
                  return

                block4 cold:
                  return
                }
            "#]],
        );
    }

    #[test]
    fn a_loop_that_is_sure_to_be_entered_tests_at_the_bottom_alone_also_around_another() {
        check(
            "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = iconst 0\n  jump block1(v1, v1, v1)\n\
             block1(v2: i64, v3: i64, v4: i64):\n  v5 = icmp slt v2, v0\n  br v5, block2, block8\n\
             block2:\n  v6 = iconst 1\n  v7 = iadd v2, v6\n  jump block3(v1, v3, v4)\n\
             block3(v8: i64, v9: i64, v10: i64):\n  v11 = icmp slt v8, v0\n  br v11, block4, block7\n\
             block4:\n  v12 = iconst 1\n  v13 = iadd v8, v12\n  jump block5(v1, v10)\n\
             block5(v14: i64, v15: i64):\n  v16 = icmp slt v14, v0\n  br v16, block6, block3(v13, v8, v15)\n\
             block6:\n  v17 = iconst 1\n  v18 = iadd v14, v17\n  jump block5(v18, v14)\n\
             block7:\n  jump block1(v7, v9, v10)\n\
             block8:\n  v19 = iadd v3, v4\n  return v19\n}",
            expect![[r#"
                function "test"(i64) -> i64 {
                block0(v0: i64):
                  v1 = iconst 0
                  jump block1(v1, v1, v1)

                block1(v2: i64, v3: i64, v4: i64):
                  v5 = icmp slt v2, v0
                  br v5, block2, block8

                block2:
                  v6 = iconst 1
                  v7 = iadd v2, v6
                  v11 = icmp slt v1, v0
                  jump block4(v1, v4)

                block9(v20: i64, v21: i64, v22: i64):
                  v23 = icmp slt v20, v0
                  br v23, block4(v20, v22), block7

                block4(v27: i64, v28: i64):
                  v12 = iconst 1
                  v13 = iadd v27, v12
                  v16 = icmp slt v1, v0
                  jump block6(v1)

                block6(v29: i64):
                  v17 = iconst 1
                  v18 = iadd v29, v17
                  v26 = icmp slt v18, v0
                  br v26, block6(v18), block9(v13, v27, v29)

                block7:
                  jump block1(v7, v21, v22)

                block8:
                  v19 = iadd v3, v4
                  return v19
                }
            "#]],
        );
    }

    #[test]
    fn random_loops_keep_their_results() {
        random::keeps_meaning(rotate);
    }

    #[test]
    fn every_function_stays_well_formed() {
        random::stays_well_formed(rotate);
    }
}
