//! Bets that what is dropped does not end, or that nobody sees it end.
//!
//! Dropping the last reference to an object may run code of the program, after which nothing is known of memory any more. What a
//! store takes out, or somebody else holds, mostly lives on or is a number. So such a drop, or several in a row, is followed by a check that
//! leaves where it ended an object whose end may have been seen ([`Op::CheckUnseen`]): it is made only there, and what is known before the
//! drops is known behind the check. A bet that was lost is not made again, and where several were, none is.

use super::Context;
use crate::bytecode::Reason;
use crate::hir::{Function, Op, Passed, Validity, Value};

/// When so many bets of a function were lost, there are no more in it: each costs a unit.
const MOST_LOST: usize = 4;

/// Make checks of validity that only drops precede checks that those were not seen.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let lost = cx.avoid.iter().filter(|bet| bet.1 == Reason::Ended);
    if lost.count() >= MOST_LOST {
        return false;
    }
    let validity = Validity::of(f);
    let passed = Passed::of(f);
    let mut checks = Vec::new();
    for &b in &f.order {
        // Whether nothing but such drops stands before, and one that is worth a bet among them.
        let mut group = None;
        let dirty = validity.dirty_before(f, b);
        for (&v, is_dirty) in f.blocks[b].insts.iter().zip(dirty) {
            group = match f.op(v) {
                Op::Refine(_) => group,
                Op::Decref => {
                    let dropped = f.arg(v, 0);
                    let may_end_seen = f.drop_runs_host_code(dropped);
                    let is_start = group.is_none() && !is_dirty;
                    match !may_end_seen || is_kept(f, &passed, dropped) {
                        true if is_start || group.is_some() => {
                            Some(may_end_seen || group == Some(true))
                        }
                        _ => None,
                    }
                }
                Op::CheckValid => {
                    checks.extend((group == Some(true)).then_some(v));
                    None
                }
                _ => None,
            };
        }
    }
    checks.retain(|check| {
        let state = f.insts[*check].state.map(|state| &f.states[state]);
        state.is_some_and(|state| !cx.avoid.contains(&(state.pc, Reason::Ended)))
    });
    for check in &checks {
        f.insts[*check].op = Op::CheckUnseen;
    }
    !checks.is_empty()
}

/// Whether dropping the value mostly runs no code of the program: on every way it was stored somewhere for some time, or still is, or the
/// caller has it.
fn is_kept(f: &Function, passed: &Passed, v: Value) -> bool {
    let is_kept = |root: &Value| {
        matches!(
            f.op(*root),
            Op::Store(_)
                | Op::ListSet
                | Op::ItemSet
                | Op::CellSet
                | Op::Load(_)
                | Op::GlobalGet(_)
                | Op::ListGet
                | Op::TupleGet
                | Op::ItemGet
                | Op::CellGet
                | Op::Arg(_)
                | Op::Const(_)
                | Op::Null
        )
    };
    passed.roots(f, v).iter().all(is_kept)
}
