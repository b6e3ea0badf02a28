//! Handlers and `with`: the handled exception, matching, and raising again.

use crate::bytecode::{GeneralOp as G, Instr};
use crate::facts::{Assumption, AttrPlan, Binds, Builtin, Callee};
use crate::hir::Op;
use crate::hir::build::Builder;
use crate::hir::function::{Term, Value};
use crate::hir::translate::dispatch::{Expected, is_one_class};
use crate::types::{ObjectHandle, Type};

/// The names of the methods that `load_special` looks up, by its argument.
const SPECIAL: [&str; 4] = ["__enter__", "__exit__", "__aenter__", "__aexit__"];

/// A function of a class, with the facts to watch.
struct Method {
    function: ObjectHandle,
    assumptions: Vec<Assumption>,
}

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

    /// `raise StopIteration` in a `__next__` that is inlined in a loop: the body returns null.
    /// Returns false, and does nothing, for any other exception and elsewhere.
    pub(super) fn end_of_iteration(&mut self) -> bool {
        let raised = self.stack[self.stack.len() - 1].value;
        let object = self.ty(raised).as_object();
        let is_stop = || {
            let stop = Callee::Builtin(Builtin::StopIteration);
            object.is_some_and(|object| self.world.callee(object) == stop)
        };
        if !self.inlined.is_some_and(|shown| shown.is_next) || !is_stop() {
            return false;
        }
        let entry = self.pop();
        self.f.rely_on(entry.value);
        self.drop_entry(entry);
        self.end_block(Term::Return(self.null));
        true
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

    /// `with manager:` of a user class with the functions `__enter__` and `__exit__`: the bound
    /// `__exit__` replaces the manager, and `__enter__` is called. Returns false, and does nothing,
    /// if no such class is expected.
    pub(super) fn enter_manager(&mut self, instr: &Instr) -> bool {
        let manager = self.stack[self.stack.len() - 1].value;
        let Some((ty, [enter, exit])) = self.methods_of(manager, instr, ["__enter__", "__exit__"])
        else {
            return false;
        };
        let Some((entry_cell, more)) = self.method_of(enter.function, 1) else {
            return false;
        };
        self.take_operands(1);
        let manager = self.check_receiver(manager, ty);
        self.f.rely_on(manager);
        self.assume(enter.assumptions);
        self.assume(exit.assumptions);
        self.assume(more);
        let (enter, exit) = (self.assumed(enter.function), self.assumed(exit.function));
        let state = self.state();
        let bind = Op::BindMethod;
        let exit = self.emit_with(bind, vec![exit, manager], Type::METHOD, Some(state));
        self.forget_top(1);
        self.push_owned(exit);
        self.emit(Op::Incref, vec![manager], Type::BOTTOM);
        self.start_instr();
        let state = self.state();
        let call = Op::CallDirect(entry_cell);
        let entered = self.emit_raising(call, vec![enter, manager], Type::OBJECT, state);
        self.push_owned(entered);
        true
    }

    /// The lookup of a special method, such as `__enter__`, in the class of the top of the stack:
    /// pushes the function, and the object for its first argument. Returns false, and does nothing,
    /// if no class with such a function is expected.
    pub(super) fn load_special(&mut self, instr: &Instr) -> bool {
        let Some(name) = SPECIAL.get(instr.arg as usize) else {
            return false;
        };
        let object = self.stack[self.stack.len() - 1].value;
        let Some((ty, [method])) = self.methods_of(object, instr, [name]) else {
            return false;
        };
        self.take_operands(1);
        let checked = self.check_receiver(object, ty);
        self.f.rely_on(checked);
        self.assume(method.assumptions);
        let function = self.assumed(method.function);
        let this = self.pop();
        self.push_kept(function);
        self.stack.push(this);
        true
    }

    /// The class that is expected of an object, if that is one user class, and its functions of
    /// these names. An instance's own attributes do not count.
    fn methods_of<const N: usize>(
        &self,
        object: Value,
        instr: &Instr,
        names: [&str; N],
    ) -> Option<(Type, [Method; N])> {
        let expected = self.receiver_types(object, instr);
        let [Expected { ty, .. }] = expected[..] else {
            return None;
        };
        if !is_one_class(ty) || ty.as_object().is_some() {
            return None;
        }
        let methods = names.map(|name| match self.world.load_attr(ty, name) {
            AttrPlan::Constant {
                value,
                binds: Binds::Receiver,
                assumptions,
                ..
            } if Type::from_object(value) <= Type::FUNC => Some(Method {
                function: value,
                assumptions,
            }),
            _ => None,
        });
        if methods.iter().any(Option::is_none) {
            return None;
        }
        Some((ty, methods.map(|method| method.expect("all are there"))))
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
