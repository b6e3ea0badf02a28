//! One check of bounds for several constant places of a sequence.
//!
//! If a block reads the same sequence at several constant places, and its length is one value for
//! all of them, the check of the last place covers the others: it is made first, and the others
//! become constants. For example `x, y, z = p[0], p[1], p[2]` checks `2` alone. Where it fails, the
//! unit exits a little earlier than it would have.
//!
//! (Guard widening, as in LLVM's and Graal's loops, on straight code.)

use super::Context;
use crate::facts::Source;
use crate::hir::{Function, Inst, Op, Value};
use crate::types::Type;

/// Checks of one length.
struct Group {
    len: Value,
    /// Each check with its place, in order.
    checks: Vec<(Value, i64)>,
}

/// Join checks of constant places.
pub fn run(f: &mut Function, _: &Context<'_>) -> bool {
    let mut changed = false;
    for b in f.order.clone() {
        let mut groups: Vec<Group> = Vec::new();
        for &v in &f.blocks[b].insts {
            let Some((len, place)) = constant_place(f, v) else {
                continue;
            };
            match groups.iter_mut().find(|group| group.len == len) {
                Some(group) => group.checks.push((v, place)),
                None => groups.push(Group {
                    len,
                    checks: vec![(v, place)],
                }),
            }
        }
        for Group { len, checks } in groups {
            let last = checks.iter().map(|check| check.1).max();
            if let (Some(last), true) = (last, checks.len() > 1) {
                join(f, b, len, last, &checks);
                changed = true;
            }
        }
    }
    changed
}

/// The length and the place that a check is about, if the place is a constant from the front.
fn constant_place(f: &Function, v: Value) -> Option<(Value, i64)> {
    if f.insts[v].op != Op::Index || f.asserted.contains(&v) {
        return None;
    }
    match *f.op(f.arg(v, 0)) {
        Op::ConstInt(place) if place >= 0 => Some((f.arg(v, 1), place)),
        _ => None,
    }
}

/// Checks the last place before the first check, and makes all checks constants.
fn join(f: &mut Function, b: crate::hir::Block, len: Value, last: i64, checks: &[(Value, i64)]) {
    let (first, _) = checks[0];
    let (state, pc) = (f.insts[first].state, f.insts[first].pc);
    let mut push = |op, args, state| {
        f.insts.push(Inst {
            op,
            args,
            ty: Type::CINT64,
            source: Source::Proved,
            state,
            pc,
        })
    };
    let place = push(Op::ConstInt(last), Vec::new(), None);
    let check = push(Op::Index, vec![place, len], state);
    let insts = &mut f.blocks[b].insts;
    let at = insts.iter().position(|v| *v == first);
    let at = at.expect("the check stands in its block");
    insts.splice(at..at, [place, check]);
    for &(v, place) in checks {
        let inst = &mut f.insts[v];
        (inst.op, inst.state) = (Op::ConstInt(place), None);
        inst.args.clear();
    }
}
