//! Operators, comparisons and truth.

use crate::bytecode::{BinaryOp, CompareOp, GeneralOp as G, INPLACE, Instr, Reason};
use crate::hir::build::Builder;
use crate::hir::function::Value;
use crate::hir::{Cmp, Op, Unsupported};
use crate::types::Type;

impl Builder<'_> {
    pub(super) fn unary(&mut self, op: G, instr: &Instr) {
        self.own_operands(1);
        self.bet_operands(instr, 1);
        let v = self.general_on_stack(op, [0, 0], 1);
        self.push_owned(v);
    }

    pub(super) fn binary(&mut self, instr: &Instr) -> Result<(), Unsupported> {
        if BinaryOp::from_arg(instr.arg % INPLACE).is_none() || instr.arg >= 2 * INPLACE {
            return Err(self.unsupported("an unknown binary operator"));
        }
        self.own_operands(2);
        let raw = match BinaryOp::from_arg(instr.arg % INPLACE) {
            Some(BinaryOp::Add) => Some(Op::FloatAdd),
            Some(BinaryOp::Subtract) => Some(Op::FloatSub),
            Some(BinaryOp::Multiply) => Some(Op::FloatMul),
            Some(BinaryOp::TrueDivide) => Some(Op::FloatDiv),
            _ => None,
        };
        if let Some(op) = raw
            && let Some([a, b]) = self.mixed_numbers()
        {
            let (x, y) = (self.as_double(a, b), self.as_double(b, a));
            let state = op.exit_reason().map(|_| self.state());
            let r = self.emit_with(op, vec![x, y], Type::CDOUBLE, state);
            let v = self.emit(Op::BoxFloat, vec![r], Type::FLOAT_EXACT);
            self.drop_numbers();
            self.push_owned(v);
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
        if let Some([a, b]) = self.mixed_numbers()
            && let Some(cmp) = Cmp::from_arg(instr.arg)
        {
            let (x, y) = (self.as_double(a, a), self.as_double(b, b));
            let v = self.emit(Op::FloatCmp(cmp), vec![x, y], Type::CBOOL);
            self.drop_numbers();
            self.push_bool(v);
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

    /// The operands of an instruction that has met floats and ints, if they may be both here.
    fn mixed_numbers(&self) -> Option<[Value; 2]> {
        let mixed = self.met.get(&self.pc).is_some_and(|met| met.mixed);
        if !mixed || self.avoid.contains(&(self.pc, Reason::Domain)) {
            return None;
        }
        let [a, b] = self.top_values(2)[..] else {
            return None;
        };
        let number = Type::LONG_EXACT | Type::FLOAT_EXACT;
        let either = |v: Value| {
            let ty = self.ty(v);
            ty.could_be(number) && !(ty <= Type::LONG_EXACT)
        };
        let floats = self.ty(a) <= Type::FLOAT_EXACT && self.ty(b) <= Type::FLOAT_EXACT;
        let numbers = self.ty(a).could_be(number) && self.ty(b).could_be(number);
        (numbers && !floats && (either(a) || either(b))).then_some([a, b])
    }

    fn as_double(&mut self, v: Value, other: Value) -> Value {
        let state = self.state();
        self.emit_with(Op::UnboxNumber, vec![v, other], Type::CDOUBLE, Some(state))
    }

    /// Drop the operands, which are numbers.
    fn drop_numbers(&mut self) {
        for v in self.top_values(2) {
            self.refine(v, Type::LONG_EXACT | Type::FLOAT_EXACT);
        }
        self.drop_top(2);
    }

    pub(super) fn test_truth(&mut self, instr: &Instr) {
        self.own_operands(1);
        self.bet_operands(instr, 1);
        let v = self.stack[self.stack.len() - 1].value;
        if self.ty(v) <= Type::BOOL {
            return;
        }
        let t = self.general_on_stack(G::Truth, [0, 0], 1);
        self.push_bool(t);
    }
}
