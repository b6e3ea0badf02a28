//! Traceback entries that nobody will see wait.
//!
//! A handler that drops its exception before any code of the program can have run shows it to nobody: `except KeyError: n += 1`.
//! The entry for its own frame, which needs an object of the frame and one of its own, is then made for nothing. So where a handler may
//! end like that, its exception is caught with the entry put off ([`GeneralOp::Catch`] with 2), and on each way where the exception
//! may be seen, [`GeneralOp::CompleteTraceback`] adds it just before. That asks whether anything was put off: who caught it looks
//! whether the exception is nobody else's. Exits add it first of all, the end of the handler forgets it, unless somebody has the exception
//! after all. So this pass must see to one thing: that the unit calls nobody, raises nothing and returns nowhere in between.
//!
//! The last pass: what moves later would have to know.

use super::Context;
use crate::bytecode::GeneralOp as G;
use crate::facts::Source;
use crate::hir::{Block, Function, Inst, Op, Term, Value};
use crate::types::Type;
use std::collections::{BTreeSet, HashSet};

/// Put entries off where that may pay.
pub fn run(f: &mut Function, _: &Context<'_>) -> bool {
    let mut caught = Vec::new();
    for &b in &f.order {
        for (i, &v) in f.blocks[b].insts.iter().enumerate() {
            if matches!(f.op(v), Op::General(G::Catch, [1, _])) {
                caught.push((b, i, v));
            }
        }
    }
    let mut seen = BTreeSet::new();
    let mut changed = false;
    for (b, i, v) in caught {
        let mut way = Way::new(f);
        way.follow(b, i + 1, Vec::new());
        if way.ends_unseen {
            seen.extend(way.seen);
            f.insts[v].op = Op::General(G::Catch, [2, 0]);
            changed = true;
        }
    }
    for b in f.order.clone() {
        let returns = seen.contains(&Place::Return(b)).then(|| f.blocks[b].end);
        let mut insts = Vec::with_capacity(f.blocks[b].insts.len());
        for v in std::mem::take(&mut f.blocks[b].insts) {
            if seen.contains(&Place::Before(v)) {
                insts.push(complete(f, f.insts[v].pc));
            }
            insts.push(v);
        }
        insts.extend(returns.map(|pc| complete(f, pc)));
        f.blocks[b].insts = insts;
    }
    changed
}

fn complete(f: &mut Function, pc: crate::bytecode::Pc) -> Value {
    f.insts.push(Inst {
        op: Op::General(G::CompleteTraceback, [0, 0]),
        args: Vec::new(),
        ty: Type::BOTTOM,
        source: Source::Proved,
        state: None,
        pc,
    })
}

/// Where an exception that was caught may be seen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// When an instruction is executed.
    Before(Value),
    /// When the block's caller goes on.
    Return(Block),
}

/// What an instruction does to an exception that was caught.
enum Does {
    /// Nobody sees it.
    Nothing,
    /// It becomes the handled one.
    Handles(Value),
    /// It is the handled one no more, and dies if nobody else has it.
    Drops,
    /// Somebody may see it.
    Shows,
}

/// The ways from where an exception is caught to where it is seen or dropped.
struct Way<'a> {
    f: &'a Function,
    visited: HashSet<Block>,
    seen: Vec<Place>,
    /// Whether a way comes to the handler's end without anybody having seen the exception.
    ends_unseen: bool,
}

impl Way<'_> {
    fn new(f: &Function) -> Way<'_> {
        Way {
            f,
            visited: HashSet::new(),
            seen: Vec::new(),
            ends_unseen: false,
        }
    }

    /// Go on in `b` from its instruction `i`. Once the exception is handled, `handled` are values that are it.
    fn follow(&mut self, b: Block, i: usize, handled: Vec<Value>) {
        let mut work = vec![(b, i, handled)];
        while let Some((b, i, handled)) = work.pop() {
            let Some(handled) = self.through(b, i, handled) else {
                continue;
            };
            let f = self.f;
            let edges = match &f.blocks[b].term {
                Term::Return(_) => {
                    self.seen.push(Place::Return(b));
                    continue;
                }
                // Where it raises, it has shown the exception.
                Term::MayRaise { next, .. } => vec![next],
                term => term.edges(),
            };
            for edge in edges {
                if !self.visited.insert(edge.block) {
                    continue;
                }
                let params = f.blocks[edge.block].params.iter();
                let renamed = params.zip(&edge.args).filter_map(|((param, _), arg)| {
                    handled.contains(&f.object_of(*arg)).then_some(*param)
                });
                let handled = handled.iter().copied().chain(renamed).collect();
                work.push((edge.block, 0, handled));
            }
        }
    }

    /// Through a block, from its instruction `i`: what is handled at its end, unless the way has come to its own.
    fn through(&mut self, b: Block, i: usize, mut handled: Vec<Value>) -> Option<Vec<Value>> {
        for &v in &self.f.blocks[b].insts[i..] {
            match does(self.f, v, &handled) {
                Does::Nothing => {}
                Does::Handles(exception) => handled.push(exception),
                Does::Drops => {
                    self.ends_unseen = true;
                    return None;
                }
                Does::Shows => {
                    self.seen.push(Place::Before(v));
                    return None;
                }
            }
        }
        Some(handled)
    }
}

fn does(f: &Function, v: Value, handled: &[Value]) -> Does {
    let inst = f.inst(v);
    let is_handled = |arg: &Value| handled.contains(&f.object_of(*arg));
    let shows = match inst.op {
        Op::General(G::PushExcInfo, _) if handled.is_empty() => {
            return Does::Handles(f.object_of(inst.args[0]));
        }
        Op::General(G::PopExcept, _) if !handled.is_empty() => return Does::Drops,
        // Completes the traceback itself where it raises.
        Op::General(G::CheckExcMatch, _) => false,
        // It is held by being handled.
        Op::Decref if inst.args.iter().any(is_handled) => false,
        Op::StoreSlot(_) if inst.args.iter().any(is_handled) => true,
        Op::Yield(_) => true,
        Op::CheckValid => false,
        _ => inst.op.raises() || f.may_run_host_code(v),
    };
    if shows { Does::Shows } else { Does::Nothing }
}
