//! Speculation that dropped objects are not deallocated, or that their destructors run no user
//! code.
//!
//! Dropping the last reference to an object may run arbitrary user code, after which nothing is
//! known of memory any more. The value that a store overwrites mostly has other owners or is a
//! number. So such a drop, or several with only stores into locals between them, is followed by
//! [`Op::CheckUnseen`], which exits if a drop has deallocated an object whose destructor may run
//! user code. Facts from before the drops still hold behind the check. A speculation that failed is
//! not made again, and after several failures in a function there are none in it.

use super::Context;
use crate::bytecode::Reason;
use crate::hir::{Function, Op, Passed, Validity, Value};

/// After so many failures in a function it has no more of these speculations: each failure costs a
/// unit.
const MOST_LOST: usize = 4;

/// The number of drops that one check covers. After a failure, the code behind the check may be
/// compiled again for the place where the exit resumes, once more for each failure.
const MOST_IN_ROW: usize = 4;

/// Replaces checks of validity that only such drops precede by [`Op::CheckUnseen`].
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let lost = cx.avoid.iter().filter(|bet| bet.1 == Reason::Ended);
    if lost.count() >= MOST_LOST {
        return false;
    }
    let validity = Validity::of(f);
    let passed = Passed::of(f);
    let mut checks = Vec::new();
    for &b in &f.order {
        // If only such drops precede: their number, and whether one of them is a reason to
        // speculate.
        let mut group: Option<(usize, bool)> = None;
        let dirty = validity.dirty_before(f, b);
        for (&v, is_dirty) in f.blocks[b].insts.iter().zip(dirty) {
            group = match f.op(v) {
                Op::Refine(_) | Op::Held | Op::Kin(_) => group,
                // User code that a drop runs finds the object that is stored next in the frame.
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

/// Returns true if dropping the value rarely runs user code: on every path it was stored somewhere
/// for some time, or still is, or the caller has it.
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
