//! One check of bounds before a loop, for those of all iterations.
//!
//! If a loop counts up to a limit and each iteration reads a sequence at its counter (or at a
//! constant distance from it), and no iteration changes the length, the check of the limit covers
//! all iterations: the limit is compared with the length where that is read, before the loop and
//! again behind pending work. Where the comparison fails, the unit exits there, and the interpreter
//! finds out whether an iteration gets that far; where it fails often, each iteration checks for
//! itself in the next version. For example, `for i in range(n): s += a[i]` compares `n` with
//! `len(a)`.
//!
//! (Guard motion out of counted loops, as in Würthinger, Wimmer and Mössenböck's elimination of
//! bounds checks for HotSpot, 2007.)

use super::{Operand, Planner};
use crate::bytecode::Reason;
use crate::hir::{Cmp, Function, Op, Term, Value};
use crate::types::Type;

/// The counter of a loop, from a start up to a limit, which it does not reach.
struct Counter {
    counter: Value,
    start: Value,
    limit: Operand,
}

impl Planner<'_> {
    /// Adds the steps that check the bounds of all iterations; returns the checks that are needless
    /// then, each with its place.
    pub(super) fn limits(&mut self) -> Vec<(Value, Value)> {
        let mut needless = Vec::new();
        if !self.may_leave || self.is_avoided(Reason::Bounds) {
            return needless;
        }
        let Some(counter) = self.counter() else {
            return needless;
        };
        let start = constant(self.f, counter.start);
        let mut checked: Vec<(Operand, i64)> = Vec::new();
        for &b in &self.found.straight[1..] {
            for &v in &self.f.blocks[b].insts {
                let Some((len, distance)) = self.checked(v, counter.counter) else {
                    continue;
                };
                // A place before the first may be one from the end.
                if start.is_some_and(|start| start + distance < 0) {
                    continue;
                }
                needless.push((v, self.f.arg(v, 0)));
                if !checked.contains(&(len, distance)) {
                    checked.push((len, distance));
                }
            }
        }
        let mut starts: Vec<i64> = Vec::new();
        for (len, distance) in checked {
            let most = match distance {
                0 => len,
                _ => {
                    let back = self.step(Op::ConstInt(-distance), Vec::new(), Type::CINT64);
                    self.step(Op::IntStep, vec![len, back], Type::CINT64)
                }
            };
            self.demand(Cmp::Le, counter.limit, most);
            if start.is_none() && !starts.contains(&distance) {
                starts.push(distance);
                let least = self.step(Op::ConstInt(-distance), Vec::new(), Type::CINT64);
                self.demand(Cmp::Ge, Operand::Outside(counter.start), least);
            }
        }
        needless
    }

    /// A check that exits before the loop if a comparison does not hold.
    fn demand(&mut self, cmp: Cmp, a: Operand, b: Operand) {
        let holds = self.step(Op::IntCmp(cmp), vec![a, b], Type::CBOOL);
        self.step(Op::GuardTrue(Reason::Bounds), vec![holds], Type::BOTTOM);
    }

    /// The counter that the loop's test compares.
    fn counter(&self) -> Option<Counter> {
        let (f, found) = (self.f, self.found);
        let header = &f.blocks[found.header];
        let Term::Branch { cond, then, els } = &header.term else {
            return None;
        };
        let is_inside = |b| found.body.contains(&b);
        if *f.op(*cond) != Op::IntCmp(Cmp::Lt) || !is_inside(then.block) || is_inside(els.block) {
            return None;
        }
        let counter = f.arg(*cond, 0);
        let limit = self.operand(f.arg(*cond, 1))?;
        let place = header.params.iter().position(|(p, _)| *p == counter)?;
        let to_header = |b| {
            let edges = f.blocks[b].term.edges().into_iter();
            edges.filter(|edge| edge.block == found.header)
        };
        let counts = |v: Value| {
            let is_sum = matches!(f.op(v), Op::IntStep | Op::IntAdd);
            is_sum && f.arg(v, 0) == counter && constant(f, f.arg(v, 1)).is_some_and(|by| by > 0)
        };
        let mut turns = found.body.iter().flat_map(|b| to_header(*b));
        if !turns.all(|edge| counts(f.resolve(edge.args[place]))) {
            return None;
        }
        let start = to_header(found.before).next()?.args[place];
        Some(Counter {
            counter,
            start: f.resolve(start),
            limit,
        })
    }

    /// The length and the distance from the counter of a place that each iteration checks.
    fn checked(&self, v: Value, counter: Value) -> Option<(Operand, i64)> {
        let f = self.f;
        if *f.op(v) != Op::Index || f.asserted.contains(&v) {
            return None;
        }
        let place = f.arg(v, 0);
        let distance = match f.op(place) {
            _ if place == counter => 0,
            Op::IntAdd | Op::IntStep if f.arg(place, 0) == counter => constant(f, f.arg(place, 1))?,
            Op::IntSub if f.arg(place, 0) == counter => -constant(f, f.arg(place, 1))?,
            _ => return None,
        };
        Some((self.operand(f.arg(v, 1))?, distance))
    }
}

/// A constant that can be added to any length.
fn constant(f: &Function, v: Value) -> Option<i64> {
    match *f.op(v) {
        Op::ConstInt(n) => i32::try_from(n).ok().map(i64::from),
        _ => None,
    }
}
