//! Calls of objects that are no functions: instances of classes with a method `__call__`, and
//! objects that forward their calls (CPython: `functools.partial`).

use super::{Named, Target, begins_with_given};
use crate::bytecode::{Instr, Reason};
use crate::facts::{Callee, Forwarding, Operator, OperatorPlan};
use crate::hir::Op;
use crate::hir::build::Builder;
use crate::hir::function::{Entry, Value};
use crate::types::{ObjectHandle, Type};

impl Builder<'_> {
    /// The call of an object whose class is proved, or was observed at this call. The operands are
    /// owned. Returns false, and does nothing, if the class has no Python method for calls.
    pub(super) fn call_instance(
        &mut self,
        instr: &Instr,
        base: usize,
        n: usize,
        named: &Named,
    ) -> bool {
        let [callable, this] = [base, base + 1].map(|i| self.stack[i].value);
        if !(self.ty(this) <= Type::NULLPTR) {
            return false;
        }
        let class = &instr.hint[..instr.hint.len().min(1)];
        let Some(types) = self.classes_of(&[callable], 0..1, class) else {
            return false;
        };
        match self.world.operator(Operator::Call, &types) {
            OperatorPlan::Method {
                function,
                swapped: false,
                declined: None,
                assumptions,
            } => {
                let Callee::Function {
                    params,
                    entry_cell,
                    assumptions: more,
                    ..
                } = self.world.callee(function)
                else {
                    return false;
                };
                let bound = named.bind(&params, n + 1);
                let Some(bound) = bound.filter(|bound| begins_with_given(bound)) else {
                    return false;
                };
                self.take_operands(n + 2);
                self.check_operands(&[callable], &types);
                self.assume(assumptions);
                self.assume(more);
                let target = Target::new(self.assumed(function), entry_cell);
                self.pass_over(base, target.function);
                self.call_direct(target, base, Some(callable), bound, named);
                true
            }
            OperatorPlan::Forwards(plan) => self.forward_call(instr, base, &types, plan, named),
            _ => false,
        }
    }

    /// The call of the function that a callable holds, with the items that it holds before the
    /// arguments on the stack. The function was observed at this call; the number of the items is
    /// speculated to be that of the parameters that are left.
    fn forward_call(
        &mut self,
        instr: &Instr,
        base: usize,
        types: &[Type],
        plan: Forwarding,
        named: &Named,
    ) -> bool {
        let observed = instr.hint.get(1).and_then(|ty| ty.as_object());
        let failed = self.avoids(Reason::Identity)
            || self.avoids(Reason::Shape)
            || self.avoids(Reason::Length);
        let Some(object) = observed.filter(|_| !failed) else {
            return false;
        };
        let Callee::Function {
            params,
            entry_cell,
            kin,
            assumptions,
            ..
        } = self.world.callee(object)
        else {
            return false;
        };
        let n = self.stack.len() - base - 2;
        let arity = params.positional as usize;
        let Some(held) = arity.checked_sub(n).filter(|_| params.takes_just(arity)) else {
            return false;
        };
        let Some(bound) = named.bind_kin(&params, held + n, kin.as_ref(), true) else {
            return false;
        };
        self.take_operands(n + 2);
        let callable = self.stack[base].value;
        self.check_operands(&[callable], types);
        self.assume(plan.assumptions);
        self.checks(callable, &plan.guards);
        let found = self.load_from(plan.callable, callable, Type::OBJECT);
        let function = self.check_function(found, object, kin, assumptions);
        let tuple = self.load_from(plan.items, callable, Type::TUPLE_EXACT);
        self.guard_length(tuple, held);
        let items = self.first_items(tuple, held);
        if let Some(placeholder) = plan.placeholder {
            self.check_differ(&items, placeholder);
        }
        let target = self.load_defaults(function, entry_cell, &bound);
        self.pass_over(base, function);
        // These have references of their own.
        let items = items.into_iter().map(|value| Entry { value, owned: true });
        let items: Vec<Entry> = items.collect();
        self.stack.splice(base + 2..base + 2, items);
        self.call_direct(target, base, None, bound, named);
        true
    }

    /// Replaces a callable on the stack by the function that it calls, as far as nothing is
    /// deallocated: if a local has the callable too. A call of the callable on the stack can be
    /// inlined.
    fn pass_over(&mut self, base: usize, function: Value) {
        let callable = self.f.object_of(self.stack[base].value);
        let mut locals = self.locals.iter();
        if locals.any(|local| self.f.object_of(*local) == callable) {
            self.replace_callable(base, function);
        }
    }

    /// Checks that none of these is the object.
    fn check_differ(&mut self, items: &[Value], object: ObjectHandle) {
        let state = self.state();
        let object = self.object(object);
        for &item in items {
            let same = self.emit(Op::Is, vec![item, object], Type::CBOOL);
            let differ = self.emit(Op::BoolNot, vec![same], Type::CBOOL);
            let check = Op::GuardTrue(Reason::Length);
            self.emit_with(check, vec![differ], Type::BOTTOM, Some(state));
        }
    }
}
