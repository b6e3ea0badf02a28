//! Iteration, unpacking, and the making and filling of containers.

use crate::bytecode::{GeneralOp as G, Instr, Pc, Reason};
use crate::hir::build::Builder;
use crate::hir::function::{Edge, Term, Value};
use crate::hir::{Cmp, Op};
use crate::types::Type;

impl Builder<'_> {
    pub(super) fn for_iter(&mut self, instr: &Instr) {
        self.settle();
        self.start_instr();
        self.bet_operands(instr, 1);
        let iter = self.stack[self.stack.len() - 1].value;
        let ty = self.ty(iter);
        let next = Pc(self.pc.0 + 1);
        let sequence = ty <= Type::LIST_ITER || ty <= Type::TUPLE_ITER;
        if sequence && self.names.is_some() {
            return self.for_iter_with_names(instr, iter);
        }
        // The loop goes on with the item on the stack; it ends without the iterator.
        let (more, item) = if ty <= Type::RANGE_ITER {
            let more = self.emit(Op::RangeNext, vec![iter], Type::CBOOL);
            let raw = self.emit(Op::Output(0), vec![more], Type::CINT64);
            (
                more,
                Some(self.emit(Op::BoxInt, vec![raw], Type::LONG_EXACT)),
            )
        } else if sequence {
            let item = self.next_item(iter);
            let none = self.emit(Op::IsNull, vec![item], Type::CBOOL);
            let more = self.emit(Op::BoolNot, vec![none], Type::CBOOL);
            self.emit(Op::Incref, vec![item], Type::BOTTOM);
            let item = self.emit(Op::Refine(Type::OBJECT), vec![item], Type::OBJECT);
            (more, Some(item))
        } else {
            let more = self.general(G::IterNext, [0, 0], vec![iter], Type::CBOOL);
            let item = self.emit(Op::Output(0), vec![more], Type::OBJECT.opt());
            (more, Some(item))
        };
        let item = item.expect("every iterator gives items");
        self.push_owned(item);
        let then = self.edge_with_names(next);
        self.forget_top(1);
        self.end_iteration(instr, more, then, |_, _| {});
    }

    fn next_item(&mut self, iter: Value) -> Value {
        let op = if self.ty(iter) <= Type::LIST_ITER {
            Op::ListIterNext
        } else {
            Op::TupleIterNext
        };
        self.emit(op, vec![iter], Type::OBJECT.opt())
    }

    /// At its end an iterator drops its list, whose end may be seen by the program: names must be stored then, but not
    /// at each item.
    fn for_iter_with_names(&mut self, instr: &Instr, iter: Value) {
        let next = Pc(self.pc.0 + 1);
        let more = self.emit(Op::IterMore, vec![iter], Type::CBOOL);
        let at = self.pc;
        let then = self.edge_through(next, at, |b| {
            let item = b.next_item(iter);
            b.emit(Op::Incref, vec![item], Type::BOTTOM);
            let item = b.emit(Op::Refine(Type::OBJECT), vec![item], Type::OBJECT);
            b.push_owned(item);
        });
        self.end_iteration(instr, more, then, |b, iter| {
            b.publish_names(b.pc);
            let last = b.next_item(iter);
            b.f.settled.insert(last);
            b.unchecked = true;
        });
    }

    /// End the block of a loop's head: to `then` if there are `more` items, else out, where the used-up iterator is
    /// dropped after `last`.
    fn end_iteration(
        &mut self,
        instr: &Instr,
        more: Value,
        then: Edge,
        last: impl FnOnce(&mut Self, Value),
    ) {
        // On the way out, in a block of its own.
        let e = self.pop();
        let from = self.cur;
        let out = self.follower();
        self.f.blocks[out].entry_state.pc = Pc(instr.arg);
        let els = Edge {
            block: out,
            args: Vec::new(),
        };
        self.end_block(Term::Branch {
            cond: more,
            then,
            els,
        });
        self.cur = out;
        self.start_instr();
        last(self, e.value);
        self.drop_entry(e);
        if self.names.is_some() {
            // Nothing is known of names here, or the iterator is no list's, and then what it drops is nothing's.
            let dropped = self.f.blocks[out].insts.last().copied();
            self.f.settled.extend(dropped);
        }
        self.jump_to(Pc(instr.arg), false);
        self.cur = from;
    }

    pub(super) fn unpack(&mut self, instr: &Instr) {
        let n = instr.arg as usize;
        self.own_operands(1);
        self.bet_operands(instr, 1);
        let seq = self.stack[self.stack.len() - 1].value;
        let ty = self.ty(seq);
        let exact = ty <= Type::TUPLE_EXACT || ty <= Type::LIST_EXACT;
        if exact && !self.avoid.contains(&(self.pc, Reason::Length)) {
            let (len, get) = if ty <= Type::TUPLE_EXACT {
                (Op::TupleLen, Op::TupleGet)
            } else {
                (Op::ListLen, Op::ListGet)
            };
            let state = self.state();
            let len = self.emit(len, vec![seq], Type::CINT64);
            let want = self.emit(Op::ConstInt(n as i64), vec![], Type::CINT64);
            let same = self.emit(Op::IntCmp(Cmp::Eq), vec![len, want], Type::CBOOL);
            self.emit_with(
                Op::GuardTrue(Reason::Length),
                vec![same],
                Type::BOTTOM,
                Some(state),
            );
            let mut items = Vec::new();
            for i in 0..n {
                let index = self.emit(Op::ConstInt(i as i64), vec![], Type::CINT64);
                let item = self.emit(get.clone(), vec![seq, index], Type::OBJECT);
                self.emit(Op::Incref, vec![item], Type::BOTTOM);
                items.push(item);
            }
            self.drop_top(1);
            for item in items.into_iter().rev() {
                self.push_owned(item);
            }
            return;
        }
        let op = self.general(G::UnpackSequence, [n as i64, 0], vec![seq], Type::BOTTOM);
        self.push_outputs(op, n);
    }

    /// Replace the top by `n` outputs of `op`, the first one on top.
    pub(super) fn push_outputs(&mut self, op: Value, n: usize) {
        let outputs: Vec<Value> = (0..n)
            .map(|i| self.emit(Op::Output(i as u32), vec![op], Type::OBJECT))
            .collect();
        self.drop_top(1);
        for v in outputs.into_iter().rev() {
            self.push_owned(v);
        }
    }

    pub(super) fn build_from(&mut self, op: G, n: usize, ty: Type) {
        self.own_operands(n);
        let state = self.state_without(n);
        let args = self.top_values(n);
        let v = self.general_at(op, [0, 0], args, ty, state);
        self.forget_top(n);
        self.push_owned(v);
    }

    /// Pop `n` values into the container at depth `depth`.
    pub(super) fn update(&mut self, op: G, n: usize, depth: usize) {
        self.own_operands(n);
        let len = self.stack.len();
        let mut args = vec![self.stack[len - n - depth].value];
        args.extend(self.top_values(n));
        self.general(op, [0, 0], args, Type::BOTTOM);
        self.drop_top(n);
    }
}
