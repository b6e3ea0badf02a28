//! Checks that no path fails, and branches that no path takes to one of their sides: see
//! [`crate::infer::paths`].

use super::Context;
use crate::hir::{Function, Op, Proved, Term, Value};
use crate::infer::paths::{Fact, Subjects, find};
use crate::types::Type;

/// Removes checks that paths prove needless. It must come after all motion: the proof holds at the
/// place of the check, and need not hold before it.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let (found, cost) = find(f, cx.world, Subjects::Checks);
    cx.log.borrow_mut().paths.push(cost);
    let changed = !found.is_empty();
    for finding in found {
        finding.guards.iter().for_each(|guard| f.rely_on(*guard));
        let what = match finding.fact {
            Fact::Holds(v) => drop_check(f, v),
            Fact::Taken(b, holds) => {
                let Term::Branch { then, els, .. } = &f.blocks[b].term else {
                    unreachable!("a finding about a branch");
                };
                let taken = if holds { then } else { els }.clone();
                let what = format!("branch to {}", if holds { els } else { then }.block);
                f.blocks[b].term = Term::Jump(taken);
                what
            }
            Fact::Narrowed(..) | Fact::Disagrees(_) => {
                unreachable!("operands were not asked about")
            }
        };
        f.proved.push(Proved {
            pc: finding.pc,
            what,
            why: finding.proof,
        });
    }
    if changed {
        let entry = f.entry();
        f.compute_order(entry);
        crate::hir::remove_trivial_params(f);
    }
    changed
}

/// Replaces a check by its result.
fn drop_check(f: &mut Function, v: Value) -> String {
    let inst = &mut f.insts[v];
    let (what, ty) = match &inst.op {
        Op::GuardType(ty) => (format!("guard_type {ty}"), *ty),
        Op::GuardIs(object) => ("guard_is".to_owned(), Type::from_object(*object)),
        Op::GuardBound => ("guard_bound".to_owned(), Type::OBJECT),
        _ => (inst.op.name().to_owned(), Type::CBOOL),
    };
    inst.op = Op::Refine(ty);
    inst.state = None;
    format!("{what} {v}")
}
