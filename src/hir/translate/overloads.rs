//! Operators on instances of user classes: calls of the functions that the classes define for them.

use crate::bytecode::{COMPARISON, CompareOp, GeneralOp as G, Instr, Reason};
use crate::facts::{Callee, Operator, OperatorPlan};
use crate::hir::Op;
use crate::hir::build::{Builder, is_builtin_exact};
use crate::hir::function::Value;
use crate::hir::translate::dispatch::is_one_class;
use crate::types::Type;
use std::ops::Range;

/// The result of an operator that calls a method.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The object that the method returns.
    Object,
    /// The truth of that.
    Truth,
    /// Nothing: the object that the method returns is dropped.
    Nothing,
}

/// The type of all objects of a builtin class, if `ty` has only some of them (such as a constant).
fn whole_class(ty: Type) -> Type {
    match is_builtin_exact(ty) {
        true => ty.unspecialized(),
        false => ty,
    }
}

impl Builder<'_> {
    /// The operator on the top `n` owned operands, the deepest first, if their classes are expected
    /// to define it, or are known not to define it. Otherwise returns false and does nothing.
    pub(super) fn overloaded(
        &mut self,
        operator: Operator,
        instr: &Instr,
        n: usize,
        result: Wanted,
    ) -> bool {
        let operands = self.top_values(n);
        // The class of the container alone selects the method of a subscript.
        let deciding = match operator {
            Operator::Item => 0..1,
            Operator::StoreItem => 1..2,
            _ => 0..n,
        };
        let Some(types) = self.classes_of(&operands, deciding.clone(), &instr.hint) else {
            return false;
        };
        let checked = operands[deciding].to_vec();
        if types.iter().all(|ty| is_builtin_exact(*ty)) {
            return false;
        }
        match self.world.operator(operator, &types) {
            OperatorPlan::General
            | OperatorPlan::Operand { .. }
            | OperatorPlan::Forwards(_)
            | OperatorPlan::Iterator { .. }
            | OperatorPlan::NextBy { .. }
            | OperatorPlan::NextItems { .. }
            | OperatorPlan::Items { .. } => false,
            OperatorPlan::Identity { assumptions } => {
                self.check_operands(&checked, &types);
                self.assume(assumptions);
                let mut v = self.emit(Op::Is, operands, Type::CBOOL);
                if operator == Operator::Compare(CompareOp::Ne as u32) {
                    v = self.emit(Op::BoolNot, vec![v], Type::CBOOL);
                }
                self.drop_top(n);
                self.push_bool(v);
                true
            }
            OperatorPlan::True { assumptions } => {
                self.check_operands(&checked, &types);
                self.assume(assumptions);
                let v = self.emit(Op::ConstBool(true), vec![], Type::CBOOL);
                self.drop_top(n);
                self.push_bool(v);
                true
            }
            OperatorPlan::Method {
                function,
                swapped,
                declined,
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
                if !params.takes_just(n) {
                    return false;
                }
                self.check_operands(&checked, &types);
                self.assume(assumptions);
                self.assume(more);
                let mut args = vec![self.assumed(function)];
                args.extend(&operands);
                match operator {
                    _ if swapped => args[1..].reverse(),
                    // The value to store lies deepest, and is the last argument.
                    Operator::StoreItem => args[1..].rotate_left(1),
                    _ => {}
                }
                // The stack keeps the operands until the method has returned, in addition to the
                // method's own references.
                for &operand in &operands {
                    if self.is_counted(operand) {
                        self.emit(Op::Incref, vec![operand], Type::BOTTOM);
                    }
                }
                let state = self.state();
                let mut v =
                    self.emit_raising(Op::CallDirect(entry_cell), args, Type::OBJECT, state);
                if let Some(declined) = declined {
                    let declined = self.object(declined);
                    let number = match operator {
                        Operator::Compare(number) => i64::from(number) + COMPARISON,
                        Operator::Binary(number) => i64::from(number),
                        Operator::Item
                        | Operator::StoreItem
                        | Operator::Truth
                        | Operator::Negative
                        | Operator::Invert
                        | Operator::Iter
                        | Operator::Next
                        | Operator::Call
                        | Operator::Unpack(_)
                        | Operator::UnpackNext(_) => 0,
                    };
                    let mut args = operands;
                    args.extend([declined, v]);
                    let imms = [number, i64::from(swapped)];
                    v = self.general(G::OperatorRest, imms, args, Type::OBJECT);
                }
                if result == Wanted::Nothing {
                    self.decref(v);
                }
                match operator {
                    // The interpreter drops these operands as locals of the method's frame.
                    Operator::Item if self.code.last_first => self.drop_top_as_locals(n),
                    _ => self.drop_top(n),
                }
                match result {
                    Wanted::Object => self.push_owned(v),
                    Wanted::Truth => self.push_truth(v, n),
                    Wanted::Nothing => {}
                }
                true
            }
        }
    }

    /// The class of each of some of an instruction's operands: proved, or speculated.
    pub(super) fn classes_of(
        &self,
        operands: &[Value],
        deciding: Range<usize>,
        hint: &[Type],
    ) -> Option<Vec<Type>> {
        let bets = !self.avoids(Reason::Type);
        let usable = |ty: &Type| is_one_class(*ty) && ty.as_object().is_none();
        let class_of = |i: usize| {
            let v = &operands[i];
            let known = whole_class(self.ty(*v));
            if is_one_class(known) {
                return Some(known);
            }
            // User code may have assigned another class to an instance that this code allocated.
            let made = match self.f.op(self.f.object_of(*v)) {
                Op::New(ty, _) => Some(ty),
                _ => None,
            };
            let all = hint.len() == operands.len();
            let own = hint.get(i).filter(|_| all);
            let own = made.or(own.filter(|ty| usable(ty)));
            let expected = own.or_else(|| self.hints.get(v))?;
            let possible = usable(expected) && expected.could_be(known) && bets;
            possible.then_some(whole_class(*expected))
        };
        deciding.map(class_of).collect()
    }

    pub(super) fn check_operands(&mut self, operands: &[Value], types: &[Type]) {
        for (&operand, &ty) in operands.iter().zip(types) {
            let g = self.guard_type(operand, ty);
            self.f.rely_on(g);
        }
    }

    /// Push the truth of the object that a method returned, in place of `n` operands, which were
    /// dropped.
    fn push_truth(&mut self, v: Value, n: usize) {
        // If the truth test raises, the interpreter pops `n` entries. Those below the method's
        // result are null: the operands were dropped.
        for _ in 1..n {
            self.push_borrowed(self.null);
        }
        self.push_owned(v);
        self.start_instr();
        let truth = self.general(G::Truth, [0, 0], vec![v], Type::CBOOL);
        self.drop_top(n);
        self.push_bool(truth);
    }
}
