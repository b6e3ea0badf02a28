//! Separate live ranges for the values of loops.
//!
//! The register allocator joins a value that a loop carries with its values before and after the
//! loop, and spills such a range, use by use, once it has been split for two calls. So a value that
//! an outer loop carries across calls would be in memory in the inner loop too, which makes none.
//! Here the values that enter and leave an innermost loop without calls are copied at its borders,
//! so that the loop's part is allocated separately. (Loop-closed form, as in LLVM's and GCC's loop
//! passes, with copies in place of the parameters.) For example, let `for i in a` call `f(i)` and
//! then contain the loop `for j in b: s += j`: `s` is live across the calls of `f`, but needs a
//! register in the inner loop.
//!
//! Addresses and floating-point constants that are used in each iteration are also computed before
//! the loop; otherwise the code generator would compute them again for each use. So are addresses
//! for comparisons, such as the class of an object, if registers are left; otherwise each
//! comparison loads its own from memory.

use super::cfg::{Cfg, NaturalLoop, QuietLoops, Users};
use super::graph::{Block, BlockCall, Func, Imm, Insertions, Inst, Renaming, Term, Value};
use super::ops::Opcode;
use crate::exits::CONTEXT_WORDS;
use crate::ll::Ty;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeSet;

/// The most values that are copied at one border: a loop does not have more registers.
const MAX_COPIED: usize = 24;

/// The most constants that are computed before a loop.
const MAX_CONSTANTS: usize = 6;

/// If a loop keeps this number of words and addresses live all the time, the remaining registers
/// are left to the iteration's own values.
const MAX_LIVE: usize = 10;

/// Copies the values that enter and leave loops. Returns true if some loop has borders now.
pub(super) fn separate_loops(func: &mut Func, cfg: &Cfg, quiet: &QuietLoops) -> bool {
    if !func.refs.is_empty() {
        return false;
    }
    let hot = &quiet.hot;
    let loops: Vec<Loop<'_>> = (quiet.loops.iter())
        .filter(|found| hot.contains(found.header))
        .filter_map(|found| {
            let from = cfg.predecessors(found.header);
            let mut outside = from.iter().filter(|p| !found.body.contains(**p));
            let (before, None) = (*outside.next()?, outside.next()) else {
                return None;
            };
            let enters = matches!(func.blocks[before].term, Some(Term::Jump(_)));
            enters.then_some(Loop { before, found })
        })
        .collect();
    if loops.is_empty() {
        return false;
    }
    let constants = Constants::of(func, cfg);
    let mut home = SecondaryMap::<Value, u32>::with_capacity(func.values.len());
    let mut given_out = EntitySet::new();
    for (number, found) in (1..).zip(&loops) {
        for v in defined(func, found.found) {
            home[v] = number;
            given_out.insert(v);
        }
    }
    let users = cfg.users(func, &given_out);
    let known = func.values.len();
    let mut insertions = Insertions::default();
    let mut copies = Renaming::default();
    for (number, found) in (1..).zip(&loops) {
        // Copies that were made for other loops are neither inside nor live-in.
        let is_brought = |v: Value| v.index() < known && home[v] != number && !constants.contain(v);
        enter(func, cfg, found, hot, &is_brought, &constants, &mut copies);
        let borders = Borders {
            cfg,
            found: found.found,
            users: &users,
            constants: &constants,
            home: &home,
            number,
        };
        borders.make(func, &mut copies, &mut insertions);
    }
    insertions.apply(func);
    true
}

/// The values that a loop's blocks define.
fn defined(func: &Func, found: &NaturalLoop) -> impl Iterator<Item = Value> {
    let blocks = found.blocks.iter().map(|b| &func.blocks[*b]);
    blocks.flat_map(|data| {
        let results = data.insts.iter().flat_map(|inst| &inst.results);
        data.params.iter().chain(results).copied()
    })
}

/// The instructions that define constants.
struct Constants(SecondaryMap<Value, Option<(Block, u32)>>);

impl Constants {
    fn of(func: &Func, cfg: &Cfg) -> Constants {
        let mut places = SecondaryMap::with_capacity(func.values.len());
        for &b in cfg.order() {
            for (i, inst) in (0..).zip(&func.blocks[b].insts) {
                if inst.args.is_empty() && inst.op.info().effects.is_pure() {
                    inst.results.iter().for_each(|v| places[*v] = Some((b, i)));
                }
            }
        }
        Constants(places)
    }

    fn contain(&self, v: Value) -> bool {
        self.0[v].is_some()
    }

    /// The instruction that defines a value, if it is a constant. (From here on instructions are
    /// only appended to blocks, so places are stable.)
    fn get(&self, func: &Func, v: Value) -> Option<Inst> {
        let (b, i) = self.0[v]?;
        Some(func.blocks[b].insts[i as usize].clone())
    }
}

/// A loop that gets borders.
struct Loop<'a> {
    before: Block,
    found: &'a NaturalLoop,
}

/// Appends an instruction that copies a value.
fn copy(func: &mut Func, block: Block, v: Value) -> Value {
    let result = func.twin(v);
    func.blocks[block].insts.push(Inst {
        op: Opcode::Copy,
        args: smallvec![v],
        imm: Imm::None,
        results: smallvec![result],
    });
    result
}

/// Appends another definition of a constant.
fn constant(func: &mut Func, block: Block, inst: Inst) -> Value {
    let result = func.twin(inst.results[0]);
    func.blocks[block].insts.push(Inst {
        results: smallvec![result],
        ..inst
    });
    result
}

/// Appends another definition of a value: a constant itself, anything else as a copy.
fn anew(func: &mut Func, block: Block, v: Value, constants: &Constants) -> Value {
    match constants.get(func, v) {
        Some(inst) => constant(func, block, inst),
        None => copy(func, block, v),
    }
}

/// The addresses that blocks load from or store to, and their floating-point constants.
fn places_and_numbers(func: &Func, blocks: &[Block]) -> Vec<(Value, Inst)> {
    let insts = blocks.iter().flat_map(|b| &func.blocks[*b].insts);
    let accesses = insts.filter(|inst| matches!(inst.op, Opcode::Load | Opcode::Store));
    let places: BTreeSet<Value> = accesses
        .filter_map(|inst| inst.args.first().copied())
        .collect();
    made_by(func, blocks, |op, result| match op {
        Opcode::Pconst => places.contains(&result),
        op => op == Opcode::Fconst,
    })
}

/// The addresses with which blocks compare, except those that fit into an instruction.
fn compared(func: &Func, blocks: &[Block]) -> Vec<(Value, Inst)> {
    let insts = blocks.iter().flat_map(|b| &func.blocks[*b].insts);
    let compared = insts.filter(|inst| inst.op == Opcode::Icmp);
    let operands: BTreeSet<Value> = compared.flat_map(|inst| &inst.args).copied().collect();
    let mut made = made_by(func, blocks, |op, result| {
        op == Opcode::Pconst && operands.contains(&result)
    });
    made.retain(|(_, inst)| !matches!(inst.imm, Imm::Addr(0..=0x7fff_ffff)));
    made
}

/// The wanted instructions of blocks with one result, and the results.
fn made_by(
    func: &Func,
    blocks: &[Block],
    is_wanted: impl Fn(Opcode, Value) -> bool,
) -> Vec<(Value, Inst)> {
    let insts = blocks.iter().flat_map(|b| &func.blocks[*b].insts);
    let made = insts.filter_map(|inst| match inst.results[..] {
        [result] if is_wanted(inst.op, result) => Some((result, inst.clone())),
        _ => None,
    });
    made.collect()
}

/// The first words of an exit: the thread and the frame.
fn context(func: &Func, b: Block) -> SmallVec<[Value; CONTEXT_WORDS as usize]> {
    let args = func.blocks[b].term.iter().flat_map(Term::args);
    args.take(CONTEXT_WORDS as usize).copied().collect()
}

/// The exits that only the loop takes.
fn exits(func: &Func, cfg: &Cfg, found: &NaturalLoop) -> Vec<Block> {
    let targets = found.blocks.iter().flat_map(|b| func.blocks[*b].targets());
    let is_exit = |b: &Block| {
        let mut from = cfg.predecessors(*b).iter();
        matches!(func.blocks[*b].term, Some(Term::Exit { .. }))
            && from.all(|from| found.body.contains(*from))
    };
    let mut exits: Vec<Block> = targets.map(|call| call.block).filter(is_exit).collect();
    exits.sort_unstable();
    exits.dedup();
    exits
}

/// Copies the values that the first iteration receives, and those from before the loop that its hot
/// blocks use. Its exits use the copies too; otherwise a value and its copy would both be live in
/// the loop.
fn enter(
    func: &mut Func,
    cfg: &Cfg,
    &Loop { before, found }: &Loop<'_>,
    hot: &EntitySet<Block>,
    is_brought: &dyn Fn(Value) -> bool,
    constants: &Constants,
    copies: &mut Renaming,
) {
    let hot = found.blocks.iter().filter(|b| hot.contains(**b));
    let hot: Vec<Block> = hot.copied().collect();
    let needed = places_and_numbers(func, &hot);
    let compared = compared(func, &hot);
    let uses = hot.iter().flat_map(|b| func.blocks[*b].uses());
    let brought = uses.filter(|v| is_brought(*v)).take(MAX_COPIED);
    let mut used: Vec<Value> = brought.collect();
    used.sort_unstable();
    used.dedup();
    let Some(Term::Jump(mut given)) = func.blocks[before].term.clone() else {
        return;
    };
    for arg in &mut given.args {
        *arg = anew(func, before, *arg, constants);
    }
    func.blocks[before].term = Some(Term::Jump(given));
    let params = &func.blocks[found.header].params;
    let carried = params.iter().chain(&used);
    let mut held = carried.filter(|v| func.values[**v] != Ty::F64).count();
    for v in used {
        copies.insert(v, copy(func, before, v));
    }
    let mut made: Vec<(Imm, Value)> = Vec::new();
    let needed = needed.into_iter().map(|constant| (constant, true));
    let needed = needed.chain(compared.into_iter().map(|constant| (constant, false)));
    for ((v, inst), is_place) in needed {
        let known = made.iter().find(|(imm, _)| *imm == inst.imm);
        let constant = match known {
            Some((_, constant)) => *constant,
            None if made.len() == MAX_CONSTANTS || !is_place && held >= MAX_LIVE => continue,
            None => {
                let imm = inst.imm;
                held += usize::from(inst.op == Opcode::Pconst);
                let constant = constant(func, before, inst);
                let constant = copy(func, before, constant);
                made.push((imm, constant));
                constant
            }
        };
        copies.insert(v, constant);
    }
    for &b in &found.blocks {
        func.blocks[b].rename(copies);
    }
    for b in exits(func, cfg, found) {
        let context = context(func, b);
        func.blocks[b].rename(copies);
        // The thread and the frame are needed after the loop anyway, and are the same for all exits
        // of the function.
        if let Some(Term::Exit { args, .. }) = &mut func.blocks[b].term {
            args[..context.len()].copy_from_slice(&context);
        }
    }
    copies.clear();
}

/// Data for a loop's outgoing values.
struct Borders<'a> {
    cfg: &'a Cfg,
    found: &'a NaturalLoop,
    /// The blocks that use values defined in loops.
    users: &'a Users,
    constants: &'a Constants,
    /// The number of the loop that defines a value.
    home: &'a SecondaryMap<Value, u32>,
    number: u32,
}

impl Borders<'_> {
    /// Copies the loop's values that blocks after it use. Constants are defined again there, so
    /// that they take no register in the loop.
    fn make(&self, func: &mut Func, copies: &mut Renaming, insertions: &mut Insertions) {
        for &from in &self.found.blocks {
            let targets: SmallVec<[Block; 2]> =
                func.blocks[from].targets().map(|call| call.block).collect();
            for (n, to) in targets.into_iter().enumerate() {
                let ends = matches!(func.blocks[to].term, Some(Term::Exit { .. }));
                if self.found.body.contains(to) || ends {
                    continue;
                }
                let border = func.make_block();
                func.blocks[border].cold = func.blocks[to].cold;
                insertions.before(to, border);
                let term = func.blocks[from].term.as_mut();
                let edge = term.and_then(|term| term.targets_mut().nth(n));
                let edge = edge.expect("the terminator has this target");
                let args = std::mem::take(&mut edge.args);
                edge.block = border;
                // The values of the loop that are used there.
                let mut used: Vec<Value> = args.clone();
                used.retain(|v| self.home[*v] == self.number);
                let behind = match self.cfg.predecessors(to).len() {
                    1 => self.users_behind(func, to, &mut used),
                    _ => Vec::new(),
                };
                used.sort_unstable();
                used.dedup();
                for v in used.into_iter().take(MAX_COPIED) {
                    copies.insert(v, anew(func, border, v, self.constants));
                }
                for b in behind {
                    func.blocks[b].rename(copies);
                }
                let args = args.iter().map(|v| copies.get(*v)).collect();
                func.blocks[border].term = Some(Term::Jump(BlockCall::new(to, args)));
                copies.clear();
            }
        }
    }

    /// The blocks from `to` on that use values of the loop. Appends the values to `used`.
    fn users_behind(&self, func: &Func, to: Block, used: &mut Vec<Value>) -> Vec<Block> {
        let mut behind = Vec::new();
        for v in defined(func, self.found) {
            let users = self.users.of(v).iter();
            let before = behind.len();
            behind.extend(users.filter(|b| self.cfg.dominates(to, **b)));
            if behind.len() > before {
                used.push(v);
            }
        }
        behind.sort_unstable();
        behind.dedup();
        behind
    }
}

#[cfg(test)]
mod tests {
    use super::super::random;
    use super::*;
    use expect_test::{Expect, expect};

    fn separate(func: &mut Func) {
        let cfg = Cfg::new(func);
        separate_loops(func, &cfg, &QuietLoops::of(func, &cfg));
    }

    fn check(text: &str, expect: Expect) {
        expect.assert_eq(&random::after(separate, text));
    }

    #[test]
    fn values_that_enter_and_leave_a_loop_are_copied() {
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
                  v12 = fconst 0.0
                  v13 = copy.i64 v0
                  v14 = copy.f64 v1
                  jump block1(v11, v12)

                block1(v4: i64, v5: f64):
                  v6 = icmp slt v4, v13
                  br v6, block2, block4

                block2:
                  v7 = iconst 1
                  v8 = iadd v4, v7
                  v9 = fadd v5, v14
                  jump block1(v8, v9)

                block4:
                  v15 = copy.f64 v5
                  jump block3

                block3:
                  v10 = fadd v15, v15
                  return v10
                }
            "#]],
        );
    }

    #[test]
    fn outer_loops_and_loops_with_calls_are_unchanged() {
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

    #[test]
    fn random_loops_keep_their_results() {
        random::keeps_meaning(separate);
    }

    #[test]
    fn every_function_stays_well_formed() {
        random::stays_well_formed(separate);
    }
}
