//! Traceback entries that are not observable are put off.
//!
//! A handler that drops its exception before any user code can have run does not show it:
//! `except KeyError: n += 1`, also `as e`, if only the local has it. The entry for its own frame,
//! which needs an object of the frame and one of its own, would be allocated for nothing. So if a
//! handler may end like that, its exception is caught with the entry put off ([`GeneralOp::Catch`]
//! with 2), and on each path where the exception may be observed, [`GeneralOp::CompleteTraceback`]
//! adds it just before. That one tests whether anything was put off: the catching code checks
//! whether the exception has another owner. Exits add the entry first. The end of the handler, or
//! the point where its local is unbound ([`GeneralOp::ForgetTraceback`]), forgets it, unless the
//! exception has another owner after all. So this pass must ensure two conditions: the unit calls
//! nothing, raises nothing and does not return in between, and no other instruction drops the last
//! reference.
//!
//! It is the last pass: one that moved instructions later would have to know about this.

use super::Context;
use crate::bytecode::{GeneralOp as G, Pc};
use crate::hir::{Block, Function, Inst, Op, Term, Value};
use crate::types::Type;
use rustc_hash::FxHashSet;
use smallvec::smallvec;
use std::collections::{BTreeMap, BTreeSet};

/// Puts entries off where that may save work.
pub fn run(f: &mut Function, _: &Context<'_>) -> bool {
    let mut caught = Vec::new();
    for &b in &f.order {
        for (i, &v) in f.blocks[b].insts.iter().enumerate() {
            if matches!(f.op(v), Op::General(G::Catch, [1, _])) {
                caught.push((b, i, v));
            }
        }
    }
    let ways = caught.iter().map(|&(b, i, _)| Way::of(f, b, i + 1));
    let ways = Vec::from_iter(ways);
    let popped: BTreeSet<Value> = ways.iter().flat_map(|way| &way.popped).copied().collect();
    let (mut seen, mut unbound) = (BTreeSet::new(), BTreeMap::new());
    let mut changed = false;
    for ((.., v), way) in caught.into_iter().zip(ways) {
        // An instruction at the end of two paths could not distinguish whether a local has the
        // exception.
        if !way.ends_unseen || way.kept.iter().any(|end| popped.contains(end)) {
            continue;
        }
        seen.extend(way.seen);
        unbound.extend(way.unbound);
        for end in way.kept {
            f.insts[end].op = Op::General(G::PopExcept, [1, 0]);
        }
        f.insts[v].op = Op::General(G::Catch, [2, 0]);
        changed = true;
    }
    for b in f.order.clone() {
        let returns = seen.contains(&Place::Return(b)).then(|| f.blocks[b].end);
        let mut insts = Vec::with_capacity(f.blocks[b].insts.len());
        for v in std::mem::take(&mut f.blocks[b].insts) {
            if seen.contains(&Place::Before(v)) {
                insts.push(general(f, G::CompleteTraceback, Vec::new(), f.insts[v].pc));
            }
            if let Some(&exception) = unbound.get(&v) {
                insts.push(general(
                    f,
                    G::ForgetTraceback,
                    vec![exception],
                    f.insts[v].pc,
                ));
            }
            insts.push(v);
        }
        insts.extend(returns.map(|pc| general(f, G::CompleteTraceback, Vec::new(), pc)));
        f.blocks[b].insts = insts;
    }
    changed
}

fn general(f: &mut Function, op: G, args: Vec<Value>, pc: Pc) -> Value {
    f.insts.push(Inst::proved(
        Op::General(op, [0, 0]),
        args,
        Type::BOTTOM,
        pc,
    ))
}

/// The places where a caught exception may be observed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// When an instruction is executed.
    Before(Value),
    /// When the block's caller continues.
    Return(Block),
}

/// The effect of an instruction on a caught exception.
enum Does {
    /// It is not observable there.
    Nothing,
    /// It becomes the handled one.
    Handles(Value),
    /// A local has it, too.
    Binds,
    /// It is not the handled exception any more, and is deallocated if it has no other owner.
    Pops,
    /// The local has it no more.
    Unbinds(Value),
    /// A reference is taken to some object.
    Takes(Value),
    /// A reference that was taken on the path is dropped, so the object lives on.
    Gives(Value),
    /// It may be observed.
    Shows,
}

/// The state of the exception at a place.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Known {
    /// Values that are it, once it is handled.
    values: Vec<Value>,
    /// True if a local has it.
    bound: bool,
    /// True if it is not the handled exception any more.
    popped: bool,
    /// Objects to which references were taken on the path.
    taken: Vec<Value>,
}

/// The fate of a caught exception.
#[derive(Default)]
struct Found {
    /// The places where it is observed first.
    seen: Vec<Place>,
    /// Instructions that drop it from the local that alone has it, and which value it is there.
    unbound: Vec<(Value, Value)>,
    /// Ends of handling after which a local has it.
    kept: Vec<Value>,
    /// Ends of handling after which it has no owner.
    popped: Vec<Value>,
    /// True if a path reaches the end of the handler without the exception having been observed.
    ends_unseen: bool,
}

/// The paths from where an exception is caught to where it is observed or dropped.
struct Way<'a> {
    f: &'a Function,
    visited: FxHashSet<(Block, Known)>,
    found: Found,
}

impl Way<'_> {
    /// All paths from instruction `i` of block `b`.
    fn of(f: &Function, b: Block, i: usize) -> Found {
        let mut way = Way {
            f,
            visited: FxHashSet::default(),
            found: Found::default(),
        };
        way.follow(b, i);
        way.found
    }

    /// Follows the paths that start in `b` at its instruction `i`.
    fn follow(&mut self, b: Block, i: usize) {
        let mut work = vec![(b, i, Known::default())];
        while let Some((b, i, known)) = work.pop() {
            let Some(known) = self.through(b, i, known) else {
                continue;
            };
            let f = self.f;
            let edges = match &f.blocks[b].term {
                Term::Return(_) => {
                    self.found.seen.push(Place::Return(b));
                    continue;
                }
                // If it raises, the exception has been observed.
                Term::MayRaise { next, .. } => smallvec![next],
                term => term.edges(),
            };
            for edge in edges {
                let mut known = known.clone();
                let params = f.blocks[edge.block].params.iter();
                for ((param, _), arg) in params.zip(&edge.args) {
                    let is_it = known.values.contains(&f.object_of(*arg));
                    if is_it && !known.values.contains(param) {
                        known.values.push(*param);
                    }
                }
                if self.visited.insert((edge.block, known.clone())) {
                    work.push((edge.block, 0, known));
                }
            }
        }
    }

    /// Walks a block from its instruction `i`; returns the state at its end, unless the path ends
    /// before.
    fn through(&mut self, b: Block, i: usize, mut known: Known) -> Option<Known> {
        for &v in &self.f.blocks[b].insts[i..] {
            match does(self.f, v, &known) {
                Does::Nothing => {}
                Does::Handles(exception) => known.values.push(exception),
                Does::Binds => known.bound = true,
                Does::Pops if known.bound => {
                    self.found.kept.push(v);
                    known.popped = true;
                }
                Does::Pops => {
                    self.found.popped.push(v);
                    self.found.ends_unseen = true;
                    return None;
                }
                Does::Unbinds(exception) => {
                    self.found.unbound.push((v, exception));
                    self.found.ends_unseen = true;
                    return None;
                }
                Does::Takes(object) => known.taken.push(object),
                Does::Gives(object) => {
                    let place = known.taken.iter().position(|taken| *taken == object);
                    known.taken.swap_remove(place.expect("it was taken"));
                }
                Does::Shows => {
                    self.found.seen.push(Place::Before(v));
                    return None;
                }
            }
        }
        Some(known)
    }
}

fn does(f: &Function, v: Value, known: &Known) -> Does {
    let inst = f.inst(v);
    let is_it = |arg: &Value| known.values.contains(&f.object_of(*arg));
    let shows = match inst.op {
        Op::General(G::PushExcInfo, _) if known.values.is_empty() => {
            return Does::Handles(f.object_of(inst.args[0]));
        }
        Op::General(G::PopExcept, _) if !known.values.is_empty() && !known.popped => {
            return Does::Pops;
        }
        // Completes the traceback itself where it raises.
        Op::General(G::CheckExcMatch, _) => false,
        Op::Incref => return Does::Takes(f.object_of(inst.args[0])),
        Op::Decref if known.taken.contains(&f.object_of(inst.args[0])) => {
            return Does::Gives(f.object_of(inst.args[0]));
        }
        Op::Decref if inst.args.iter().any(is_it) => {
            if known.popped {
                return Does::Unbinds(inst.args[0]);
            }
            // It has an owner while it is handled.
            false
        }
        Op::StoreSlot(_) if inst.args.iter().any(is_it) => return Does::Binds,
        Op::Yield(_) => true,
        Op::CheckValid => false,
        _ => inst.op.raises() || f.may_run_host_code(v),
    };
    if shows { Does::Shows } else { Does::Nothing }
}
