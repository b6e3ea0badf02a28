//! Operators, comparisons and truth.

use crate::bytecode::{BinaryOp, CompareOp, GeneralOp as G, INPLACE, Instr};
use crate::facts::Operator;
use crate::hir::Unsupported;
use crate::hir::build::Builder;
use crate::hir::translate::overloads::Wanted;
use crate::types::Type;

impl Builder<'_> {
    pub(super) fn unary(&mut self, op: G, operator: Operator, instr: &Instr) {
        self.own_operands(1);
        if self.overloaded(operator, instr, 1, Wanted::Object) {
            return;
        }
        self.bet_operands(instr, 1);
        let v = self.general_on_stack(op, [0, 0], 1);
        self.push_owned(v);
    }

    pub(super) fn binary(&mut self, instr: &Instr) -> Result<(), Unsupported> {
        if BinaryOp::from_arg(instr.arg % INPLACE).is_none() || instr.arg >= 2 * INPLACE {
            return Err(self.unsupported("an unknown binary operator"));
        }
        self.own_operands(2);
        if self.binary_on_numbers(instr)
            || self.overloaded(Operator::Binary(instr.arg), instr, 2, Wanted::Object)
        {
            return Ok(());
        }
        self.bet_operands(instr, 2);
        let v = self.general_on_stack(G::Binary, [instr.arg as i64, 0], 2);
        self.push_owned(v);
        Ok(())
    }

    pub(super) fn compare(&mut self, instr: &Instr) -> Result<(), Unsupported> {
        if CompareOp::from_arg(instr.arg).is_none() {
            return Err(self.unsupported("an unknown comparison"));
        }
        self.own_operands(2);
        let result = match instr.arg2 {
            0 => Wanted::Object,
            _ => Wanted::Truth,
        };
        if self.compare_numbers(instr)
            || self.overloaded(Operator::Compare(instr.arg), instr, 2, result)
        {
            return Ok(());
        }
        self.bet_operands(instr, 2);
        let n = self.stack.len();
        let plain = |t: Type| {
            t <= (Type::LONG_EXACT | Type::FLOAT_EXACT | Type::BOOL | Type::UNICODE_EXACT)
        };
        let both =
            plain(self.ty(self.stack[n - 1].value)) && plain(self.ty(self.stack[n - 2].value));
        if instr.arg2 != 0 || both {
            let v = self.general_on_stack(G::CompareBool, [instr.arg as i64, 0], 2);
            self.push_bool(v);
        } else {
            let v = self.general_on_stack(G::Compare, [instr.arg as i64, 0], 2);
            self.push_owned(v);
        }
        Ok(())
    }

    pub(super) fn test_truth(&mut self, instr: &Instr) {
        self.own_operands(1);
        if self.overloaded(Operator::Truth, instr, 1, Wanted::Object) {
            return;
        }
        self.bet_operands(instr, 1);
        let v = self.stack[self.stack.len() - 1].value;
        if self.ty(v) <= Type::BOOL {
            return;
        }
        let t = self.general_on_stack(G::Truth, [0, 0], 1);
        self.push_bool(t);
    }
}
