//! Bets that what is dropped does not end, or that nobody sees it end.
//!
//! Dropping the last reference to an object may run code of the program, after which nothing is
//! known of memory any more. What a store takes out, or somebody else holds, mostly lives on or is
//! a number. So such a drop, or several with nothing but stores into locals between, is followed by
//! a check that leaves where it ended an object whose end may have been seen ([`Op::CheckUnseen`]):
//! it is made only there, and what is known before the drops is known behind the check. A bet that
//! was lost is not made again, and where several were, none is.

use super::Context;
use crate::bytecode::Reason;
use crate::hir::{Function, Op, Passed, Validity, Value};

/// When so many bets of a function were lost, there are no more in it: each costs a unit.
const MOST_LOST: usize = 4;

/// How many drops one check is for: where one was seen, what follows it may be made elsewhere, each
/// time again.
const MOST_IN_ROW: usize = 4;

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
        // If nothing but such drops stands before: how many, and whether one that is worth a bet is
        // among them.
        let mut group: Option<(usize, bool)> = None;
        let dirty = validity.dirty_before(f, b);
        for (&v, is_dirty) in f.blocks[b].insts.iter().zip(dirty) {
            group = match f.op(v) {
                Op::Refine(_) | Op::Held | Op::Kin(_) => group,
                // Who sees a drop is shown the object that is stored next.
                Op::StoreSlot(_) if !f.op(f.arg(v, 0)).is_virtual() => group,
                Op::Decref => {
                    let dropped = f.arg(v, 0);
                    let may_end_seen = f.drop_runs_host_code(dropped);
                    let before = group.or((!is_dirty).then_some((0, false)));
                    let before = before.filter(|(count, _)| *count < MOST_IN_ROW);
                    let before = before.filter(|_| !may_end_seen || is_kept(f, &passed, dropped));
                    before.map(|(count, is_worth)| (count + 1, is_worth || may_end_seen))
                }
                Op::CheckValid => {
                    checks.extend(group.filter(|(_, is_worth)| *is_worth).map(|_| v));
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

/// Whether dropping the value mostly runs no code of the program: on every way it was stored
/// somewhere for some time, or still is, or the caller has it.
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
