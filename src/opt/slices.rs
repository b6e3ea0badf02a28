//! Assignments of list slices to list slices, `a[i:j] = b[k:l:m]`, without a list between.
//!
//! [`Op::ListCopySlice`] copies the items. No effect may be observable between the right side and
//! the assignment. An instruction between them that exits, and the assignment itself, resume at the
//! right side: the interpreter then allocates the list, and executes the rest again.
//!
//! The bounds of both slices are ints or absent. For an object with an `__index__`, which is user
//! code, the list is allocated as before.

use super::Context;
use crate::bytecode::GeneralOp;
use crate::hir::{Block, FrameState, Function, Inst, Op, Value};
use crate::types::Type;
use std::collections::BTreeMap;

/// Copies slices without a list between.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let mut changed = false;
    for b in f.order.clone() {
        for slice in f.blocks[b].insts.clone() {
            if let Some(found) = find(f, cx, b, slice) {
                found.copy(f);
                changed = true;
            }
        }
    }
    changed
}

/// A slice and the assignment that uses it.
struct Copied {
    block: Block,
    slice: Value,
    /// The instructions that the assignment needs, which stay before it, ...
    before: Vec<Value>,
    /// ... and this has something to do with its references alone.
    after: Vec<Value>,
    assignment: Value,
}

fn find(f: &Function, cx: &Context<'_>, block: Block, slice: Value) -> Option<Copied> {
    if !matches!(f.insts[slice].op, Op::ListSlice(_)) {
        return None;
    }
    let insts = &f.blocks[block].insts;
    let at = insts.iter().position(|v| *v == slice)?;
    let is_assignment = |v: &Value| {
        matches!(f.op(*v), Op::General(GeneralOp::SetSlice, _)) && f.arg(*v, 3) == slice
    };
    let between = insts[at + 1..].iter().position(is_assignment)?;
    let between = &insts[at + 1..][..between];
    let assignment = insts[at + 1 + between.len()];

    let state = |v: Value| f.insts[v].state.map(|state| &f.states[state]);
    let at_slice = state(slice)?;
    // The speculation that failed there may have been any of those between.
    if cx.avoid.iter().any(|(pc, _)| *pc == at_slice.pc) {
        return None;
    }
    let mut had = owned(f, at_slice, slice);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for &v in between {
        let op = f.op(v);
        if op.is_box() || matches!(op, Op::Incref | Op::Decref) {
            match f.insts[v].args.first().and_then(|a| f.counted(*a)) {
                Some(object) if *op == Op::Incref => *had.entry(object).or_insert(0) += 1,
                Some(_) if *op == Op::Decref => return None,
                _ => {}
            }
            after.push(v);
            continue;
        }
        let effects = op.effects();
        let is_silent = *op == Op::CheckValid
            || !(effects.writes || effects.runs_host_code || op.gives_owned());
        let is_needed_late = |a: &Value| after.contains(a);
        let has_same = |state: &FrameState| owned(f, state, slice) == had;
        if !is_silent
            || f.insts[v].args.iter().any(is_needed_late)
            || !state(v).is_none_or(has_same)
        {
            return None;
        }
        before.push(v);
    }
    let is = |v: Value, ty: Type| !f.ty(v).is_bottom() && f.ty(v) <= ty;
    let is_bound = |v: Value| is(v, Type::LONG_EXACT) || is(v, Type::NONE_TYPE);
    let ends = [f.arg(assignment, 1), f.arg(assignment, 2)];
    if !is(f.arg(assignment, 0), Type::LIST_EXACT) || !ends.into_iter().all(is_bound) {
        return None;
    }
    let found = Copied {
        block,
        slice,
        before,
        after,
        assignment,
    };
    found.is_private(f).then_some(found)
}

/// The number of references that a state has to each object but the slice.
fn owned(f: &Function, state: &FrameState, slice: Value) -> BTreeMap<Value, usize> {
    let mut counts = BTreeMap::new();
    let mut state = state.clone();
    let owned = state.entries_mut().filter(|entry| entry.owned);
    for entry in owned {
        match f.counted(entry.value) {
            Some(object) if object != slice => *counts.entry(object).or_insert(0) += 1,
            _ => {}
        }
    }
    counts
}

impl Copied {
    /// Returns true if only the assignment uses the slice.
    fn is_private(&self, f: &Function) -> bool {
        let names = |v: &Value| f.object_of(*v) == self.slice;
        f.order.iter().all(|&b| {
            let data = &f.blocks[b];
            let edges = data.term.edges();
            let mut passed = edges.iter().flat_map(|edge| &edge.args);
            let is_private = |&v: &Value| {
                let inst = &f.insts[v];
                let uses = inst.args.iter().filter(|a| names(a)).count();
                let leaves = inst.op.exit_reason().is_some() && !self.before.contains(&v);
                let is_named = || {
                    inst.state
                        .is_some_and(|s| f.states[s].values().any(|v| names(&v)))
                };
                match inst.op {
                    Op::Decref => true,
                    _ if v == self.assignment => uses == 1,
                    _ => uses == 0 && !(leaves && is_named()),
                }
            };
            !passed.any(names)
                && !data.out_locals.iter().any(names)
                && data.insts.iter().all(is_private)
        })
    }

    fn copy(self, f: &mut Function) {
        let Inst { pc, .. } = f.insts[self.assignment];
        let Op::ListSlice(step) = f.insts[self.slice].op else {
            unreachable!("a slice")
        };
        let state = f.insts[self.slice].state.expect("a slice may leave");
        let state = f.states[state].clone();
        for &v in &self.before {
            if f.insts[v].state.is_some() {
                f.insts[v].state = Some(f.states.push(state.clone()));
            }
        }
        let mut insts = self.before;
        let mut emit = |f: &mut Function, op, args, ty| {
            let mut inst = Inst::proved(op, args, ty, pc);
            if inst.op.exit_reason().is_some() {
                inst.state = Some(f.states.push(state.clone()));
            }
            let v = f.insts.push(inst);
            insts.push(v);
            v
        };
        let into = f.arg(self.assignment, 0);
        let mut args = vec![into];
        for (i, open) in [(1, i64::MIN), (2, i64::MAX)] {
            let end = f.arg(self.assignment, i);
            args.push(match *f.op(f.object_of(end)) {
                Op::BoxInt => f.arg(f.object_of(end), 0),
                _ if f.ty(end) <= Type::NONE_TYPE => {
                    f.rely_on(end);
                    emit(f, Op::ConstInt(open), vec![], Type::CINT64)
                }
                _ => emit(f, Op::UnboxInt, vec![end], Type::CINT64),
            });
        }
        args.extend(&f.insts[self.slice].args);
        let copy = emit(f, Op::ListCopySlice(step), args, Type::BOTTOM);
        insts.extend(self.after);

        // The rest names no object: frames that are suspended while references are dropped behind
        // the assignment.
        let slice = &mut f.insts[self.slice];
        (slice.op, slice.args, slice.ty) = (Op::Null, Vec::new(), Type::NULLPTR);
        slice.state = None;
        for b in f.order.clone() {
            let is_drop =
                |f: &Function, v: Value| *f.op(v) == Op::Decref && f.arg(v, 0) == self.slice;
            let kept = f.blocks[b].insts.iter().filter(|v| !is_drop(f, **v));
            f.blocks[b].insts = kept.copied().collect();
        }
        let all = &f.blocks[self.block].insts;
        let place = |v| {
            all.iter()
                .position(|w| *w == v)
                .expect("an instruction of the block")
        };
        let (first, last) = (place(self.slice), place(self.assignment));
        f.blocks[self.block].insts.splice(first + 1..last, insts);
        f.replace(self.assignment, copy);
        f.apply_aliases();
    }
}
