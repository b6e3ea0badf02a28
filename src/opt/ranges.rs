//! Loops over a range count in a register.
//!
//! The iterator of `for i in range(n)` is an object that nobody else has: `iter` has just made it, only the operand stack holds it,
//! and no collector tracks it. So the loop need not keep it true. Its state becomes parameters of the loop, and the frame states of the
//! loop name the iterator as a [`range_at`](Op::RangeAt), which an exit writes back. (Scalar replacement of its fields, while the
//! object itself is made: a loop that ends drops it without a look at them.)
//!
//! With the step 1, which one or two operands of `range` mean, the next value says how many are left.

use super::Context;
use crate::bytecode::{ConstValue, GeneralOp};
use crate::facts::{Builtin, Callee, Source};
use crate::hir::{Block, Cmp, Edge, FrameState, Function, Inst, Op, Place, Term, Value};
use crate::types::Type;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// A loop over a range that is nobody else's.
struct Loop {
    /// The block that asks for the next value.
    header: Block,
    /// The instruction that does.
    next: Value,
    /// The iterator, of which it is known that it is one of a range.
    iter: Value,
    /// The same object where it was made.
    made: Value,
    /// The one block that leads into the loop.
    before: Block,
    /// Where each turn begins.
    body: Block,
    /// Whether the step is 1.
    by_ones: bool,
    /// The first value, if it is known.
    start: Option<i64>,
}

/// Count in registers.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    // A frame that is suspended must be true for whoever resumes it.
    let mut insts = f.order.iter().flat_map(|&b| &f.blocks[b].insts);
    if insts.any(|v| matches!(f.op(*v), Op::Yield(_) | Op::ResumePoint)) {
        return false;
    }
    let mut changed = false;
    for header in f.order.clone() {
        let asks = |cond: &Value| *f.op(*cond) == Op::RangeNext;
        if !matches!(&f.blocks[header].term, Term::Branch { cond, .. } if asks(cond)) {
            continue;
        }
        let tree = Tree(f.dominators());
        if let Some(found) = find(f, cx, &tree, header)
            && is_private(f, &tree, &found)
        {
            rewrite(f, &tree, &found);
            f.apply_aliases();
            changed = true;
        }
    }
    changed
}

/// The dominators.
struct Tree(SecondaryMap<Block, PackedOption<Block>>);

impl Tree {
    fn dominates(&self, a: Block, mut b: Block) -> bool {
        loop {
            if a == b {
                return true;
            }
            match self.0[b].expand() {
                Some(up) if up != b => b = up,
                _ => return false,
            }
        }
    }
}

/// The loop that a block begins, if it is one over a range that was made for it.
fn find(f: &Function, cx: &Context<'_>, tree: &Tree, header: Block) -> Option<Loop> {
    let Term::Branch { cond, then, els } = &f.blocks[header].term else {
        return None;
    };
    let next = f.resolve(*cond);
    let (body, end) = (then.block, els.block);
    if *f.op(next) != Op::RangeNext || !f.blocks[header].insts.contains(&next) {
        return None;
    }
    let iter = f.arg(next, 0);
    let made = f.object_of(iter);
    if !matches!(f.op(made), Op::General(GeneralOp::GetIter, _))
        || !(f.ty(f.arg(made, 0)) <= Type::RANGE)
    {
        return None;
    }
    let preds = f.predecessors();
    let (back, outside): (Vec<Block>, Vec<Block>) = preds[header]
        .iter()
        .partition(|&&p| tree.dominates(body, p));
    let [before] = outside[..] else { return None };
    let is_before = |v: Value| {
        let mut blocks = f.order.iter().filter(|b| f.blocks[**b].insts.contains(&v));
        blocks.next().is_some_and(|b| tree.dominates(*b, before))
    };
    let is_one = !back.is_empty()
        && body != end
        && preds[body] == [header]
        && matches!(f.blocks[before].term, Term::Jump(_))
        && tree.dominates(before, header)
        && is_before(iter);
    let (by_ones, start) = made_by_call(f, cx, f.arg(made, 0));
    is_one.then_some(Loop {
        header,
        next,
        iter,
        made,
        before,
        body,
        by_ones,
        start,
    })
}

/// Whether a range has the step 1, and its first value, as far as the call of `range` that has made it says.
fn made_by_call(f: &Function, cx: &Context<'_>, range: Value) -> (bool, Option<i64>) {
    let call = f.object_of(range);
    if !matches!(f.op(call), Op::General(GeneralOp::Call, _)) {
        return (false, None);
    }
    let args = &f.inst(call).args;
    let [names, callable, this, ref operands @ ..] = args[..] else {
        return (false, None);
    };
    let is_range = |object| matches!(cx.world.callee(object), Callee::Builtin(Builtin::Range));
    let is_call = f.ty(names) <= Type::NULLPTR
        && f.ty(this) <= Type::NULLPTR
        && f.ty(callable).as_object().is_some_and(is_range);
    match operands {
        _ if !is_call => (false, None),
        [_] => (true, Some(0)),
        [start, rest @ ..] => (rest.len() == 1, constant(f, cx, *start)),
        [] => (false, None),
    }
}

/// The value of an operand, if it is a known int.
fn constant(f: &Function, cx: &Context<'_>, v: Value) -> Option<i64> {
    match *f.op(f.object_of(v)) {
        Op::Const(object) => match cx.world.value(object) {
            ConstValue::Int(n) => Some(n),
            _ => None,
        },
        Op::BoxInt => match *f.op(f.arg(f.object_of(v), 0)) {
            Op::ConstInt(n) => Some(n),
            _ => None,
        },
        _ => None,
    }
}

/// Where a frame state names the iterator.
#[derive(Clone, Copy, PartialEq)]
enum Where {
    /// Before the loop: it is true.
    Before,
    /// Before the loop asks for the next value.
    Head,
    /// In a turn.
    Turn,
    /// Anywhere else.
    Outside,
}

impl Loop {
    /// Where instruction `i` of a block stands.
    fn place(&self, f: &Function, tree: &Tree, b: Block, i: usize) -> Where {
        if tree.dominates(self.body, b) {
            return Where::Turn;
        }
        if b == self.header {
            let asks = f.blocks[b].insts.iter().position(|v| *v == self.next);
            return if asks.is_some_and(|at| i <= at) {
                Where::Head
            } else {
                Where::Outside
            };
        }
        if tree.dominates(b, self.before) {
            return Where::Before;
        }
        Where::Outside
    }
}

/// Whether nothing but the loop and frame states in it, on their stacks, needs to know how far the iterator is.
fn is_private(f: &Function, tree: &Tree, found: &Loop) -> bool {
    let names = |v: Value| f.object_of(v) == found.made;
    for &b in &f.order {
        let data = &f.blocks[b];
        for (i, &v) in data.insts.iter().enumerate() {
            let inst = &f.insts[v];
            let is_known = match inst.op {
                Op::GuardType(_) | Op::Refine(_) | Op::Decref => true,
                _ => v == found.next,
            };
            if !is_known && inst.args.iter().any(|a| names(*a)) {
                return false;
            }
            let Some(state) = inst.state.map(|s| &f.states[s]) else {
                continue;
            };
            let on_stack = state.stack.iter().filter(|e| names(e.value)).count();
            let everywhere = state.values().filter(|v| names(*v)).count();
            if everywhere > 1
                || everywhere != on_stack
                || everywhere > 0 && found.place(f, tree, b, i) == Where::Outside
            {
                return false;
            }
        }
        let carried = data.term.edges().into_iter().flat_map(|e| &e.args);
        if carried.chain(&data.out_locals).any(|v| names(*v)) {
            return false;
        }
        if matches!(data.term, Term::Return(v) if names(v)) {
            return false;
        }
    }
    true
}

/// Let the loop count.
fn rewrite(f: &mut Function, tree: &Tree, found: &Loop) {
    let &Loop {
        header,
        next: asks,
        iter,
        before,
        body,
        by_ones,
        start,
        ..
    } = found;
    let pc = f.insts[asks].pc;
    let int = Type::CINT64;
    let add = |f: &mut Function, op, args, ty| {
        f.insts.push(Inst {
            op,
            args,
            ty,
            source: Source::Proved,
            state: None,
            pc,
        })
    };
    let start = match start {
        Some(n) => add(f, Op::ConstInt(n), vec![], int),
        None => add(f, Op::RangeStart, vec![iter], int),
    };
    let left = add(f, Op::RangeLeft, vec![iter], int);
    let mut prepared = vec![start, left];
    let next = add(f, Op::Param, vec![], int);
    let mut params = vec![next];
    let mut first = vec![start];
    let mut following = Vec::new();
    let mut turn = Vec::new();
    // What an iterator that is at `next` has in its frame state besides.
    let (at_head, at_turn, more);
    if by_ones {
        let one = add(f, Op::ConstInt(1), vec![], int);
        let end = add(f, Op::IntStep, vec![start, left], int);
        prepared.extend([one, end]);
        let after = add(f, Op::IntStep, vec![next, one], int);
        turn.push(after);
        following.push(after);
        (at_head, at_turn) = (vec![iter, next, end], vec![iter, after, end]);
        more = (Op::IntCmp(Cmp::Lt), vec![next, end]);
    } else {
        let step = add(f, Op::RangeStep, vec![iter], int);
        let none = add(f, Op::ConstInt(0), vec![], int);
        let less = add(f, Op::ConstInt(-1), vec![], int);
        prepared.extend([step, none, less]);
        let count = add(f, Op::Param, vec![], int);
        params.push(count);
        first.push(left);
        let after = add(f, Op::IntStep, vec![next, step], int);
        let fewer = add(f, Op::IntStep, vec![count, less], int);
        turn.extend([after, fewer]);
        following.extend([after, fewer]);
        (at_head, at_turn) = (vec![iter, next, count], vec![iter, after, fewer]);
        more = (Op::IntCmp(Cmp::Gt), vec![count, none]);
    }
    let ty = f.ty(iter);
    let at_head = add(f, Op::RangeAt(by_ones), at_head, ty);
    let at_turn = add(f, Op::RangeAt(by_ones), at_turn, ty);
    turn.push(at_turn);

    let made = found.made;
    for b in f.order.clone() {
        for (i, v) in f.blocks[b].insts.clone().into_iter().enumerate() {
            let Some(state) = f.insts[v].state else {
                continue;
            };
            let at = match found.place(f, tree, b, i) {
                Where::Head => at_head,
                Where::Turn => at_turn,
                Where::Before | Where::Outside => continue,
            };
            let mut state = f.states[state].clone();
            if rename(f, &mut state, made, at) {
                f.insts[v].state = Some(f.states.push(state));
            }
        }
        let at = match found.place(f, tree, b, 0) {
            Where::Head => at_head,
            Where::Turn => at_turn,
            Where::Before | Where::Outside => continue,
        };
        let mut state = f.blocks[b].entry_state.clone();
        rename(f, &mut state, made, at);
        f.blocks[b].entry_state = state;
    }

    f.blocks[before].insts.extend(prepared);
    let mut preds = f.predecessors()[header].clone();
    preds.dedup();
    for pred in preds {
        let values = if pred == before { &first } else { &following };
        for edge in f.blocks[pred].term.edges_mut() {
            if edge.block == header {
                let Edge { args, .. } = edge;
                args.extend(values);
            }
        }
    }
    let places = params.into_iter().map(|p| (p, Place::Carried));
    f.blocks[header].params.extend(places);
    f.blocks[header].insts.insert(0, at_head);
    f.blocks[body].insts.splice(0..0, turn);
    (f.insts[asks].op, f.insts[asks].args) = more;
    let outputs = f.order.iter().flat_map(|&b| &f.blocks[b].insts);
    let outputs = outputs.filter(|v| *f.op(**v) == Op::Output(0) && f.arg(**v, 0) == asks);
    for output in outputs.copied().collect::<Vec<_>>() {
        f.replace(output, next);
    }
}

/// Let the stack of a state name the iterator as it is there; says whether it has it.
fn rename(f: &Function, state: &mut FrameState, made: Value, at: Value) -> bool {
    let mut has = false;
    for entry in &mut state.stack {
        if f.object_of(entry.value) == made {
            entry.value = at;
            has = true;
        }
    }
    has
}
