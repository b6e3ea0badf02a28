//! Handlers and `with`: the handled exception, matching, and raising again.

use crate::bytecode::GeneralOp as G;
use crate::hir::Op;
use crate::hir::build::Builder;
use crate::hir::function::Term;
use crate::types::Type;

impl Builder<'_> {
    /// The exception on top becomes the handled one; the one handled before is put below it.
    pub(super) fn push_exc_info(&mut self) {
        let exception = self.stack[self.stack.len() - 1].value;
        let before = self.general(G::PushExcInfo, [0, 0], vec![exception], Type::OBJECT);
        let exception = self.pop();
        self.push_owned(before);
        self.stack.push(exception);
    }

    pub(super) fn pop_except(&mut self) {
        let top = self.stack.len() - 1;
        self.own(top);
        self.start_instr();
        let state = self.state_without(1);
        let before = self.top_values(1);
        self.general_at(G::PopExcept, [0, 0], before, Type::BOTTOM, state);
        self.forget_top(1);
    }

    pub(super) fn check_exc_match(&mut self) {
        self.own_operands(1);
        let args = self.top_values(2);
        let matches = self.general(G::CheckExcMatch, [0, 0], args, Type::CBOOL);
        self.drop_top(1);
        self.push_bool(matches);
    }

    pub(super) fn check_eg_match(&mut self) {
        self.own_operands(2);
        let args = self.top_values(2);
        let op = self.general(G::CheckEgMatch, [0, 0], args, Type::BOTTOM);
        let rest = self.emit(Op::Output(0), vec![op], Type::OBJECT);
        let matched = self.emit(Op::Output(1), vec![op], Type::OBJECT);
        self.drop_top(2);
        self.push_owned(rest);
        self.push_owned(matched);
        self.general(G::SetHandled, [0, 0], vec![matched], Type::BOTTOM);
    }

    /// Raise the exception on top again; `n` entries below it is the position where it was raised
    /// first.
    pub(super) fn reraise(&mut self, n: usize) {
        let top = self.stack.len() - 1;
        let exception = self.stack[top].value;
        let position = if n > 0 {
            self.stack[top - n].value
        } else {
            self.null
        };
        let args = vec![position, exception];
        self.general(G::Reraise, [n as i64, 0], args, Type::BOTTOM);
        self.end_block(Term::Unreachable);
    }

    /// `with` or `async with`, depending on `op`.
    pub(super) fn before_with(&mut self, op: G) {
        self.own_operands(1);
        let manager = self.stack[self.stack.len() - 1].value;
        let op = self.general(op, [0, 0], vec![manager], Type::BOTTOM);
        let exit = self.emit(Op::Output(0), vec![op], Type::OBJECT);
        let entered = self.emit(Op::Output(1), vec![op], Type::OBJECT);
        self.drop_top(1);
        self.push_owned(exit);
        self.push_owned(entered);
    }

    /// The stack is `__exit__`, the position, the exception handled before, the exception: call the
    /// first with the last.
    pub(super) fn with_except_start(&mut self) {
        let n = self.stack.len();
        let args = vec![self.stack[n - 4].value, self.stack[n - 1].value];
        let result = self.general(G::WithExceptStart, [0, 0], args, Type::OBJECT);
        self.push_owned(result);
    }
}
