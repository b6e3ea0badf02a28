//! Arithmetic and comparisons where floats and ints were observed (`x * 2`, with `x` a float or an
//! int). The code takes both classes: a speculation on one would fail now and then. Also `min` and
//! `max` of numbers.

use crate::bytecode::{BinaryOp, GeneralOp as G, INPLACE, Instr, Numbers, Reason};
use crate::facts::Builtin;
use crate::hir::build::Builder;
use crate::hir::function::{Term, Value};
use crate::hir::translate::dispatch::plain_edge;
use crate::hir::{Cmp, Op};
use crate::types::Type;

fn number() -> Type {
    Type::LONG_EXACT | Type::FLOAT_EXACT
}

impl Builder<'_> {
    /// The operator on two owned operands, if they are such numbers; if not, returns false and does
    /// nothing.
    pub(super) fn binary_on_numbers(&mut self, instr: &Instr) -> bool {
        let op = match BinaryOp::from_arg(instr.arg % INPLACE) {
            Some(BinaryOp::Add) => Op::FloatAdd,
            Some(BinaryOp::Subtract) => Op::FloatSub,
            Some(BinaryOp::Multiply) => Op::FloatMul,
            Some(BinaryOp::TrueDivide) => Op::FloatDiv,
            _ => return false,
        };
        let Some((numbers, operands)) = self.numbers() else {
            return false;
        };
        let [a, b] = self.objects(operands);
        let one_is_float = [a, b].iter().any(|v| self.ty(*v) <= Type::FLOAT_EXACT);
        if numbers == Numbers::Mixed || one_is_float {
            self.float_operator(op, a, b);
        } else {
            self.either_operator(instr, op, a, b);
        }
        true
    }

    /// The comparison of two owned operands, if they are such numbers.
    pub(super) fn compare_numbers(&mut self, instr: &Instr) -> bool {
        let Some(cmp) = Cmp::from_arg(instr.arg) else {
            return false;
        };
        let Some((_, operands)) = self.numbers() else {
            return false;
        };
        let [a, b] = self.objects(operands);
        let (x, y) = (self.as_double(a, None), self.as_double(b, None));
        let v = self.emit(Op::FloatCmp(cmp), vec![x, y], Type::CBOOL);
        self.drop_numbers();
        self.push_bool(v);
        true
    }

    /// The operands of an instruction that has observed floats and ints, if they may be numbers
    /// here and are not proved to be both ints or both floats.
    fn numbers(&self) -> Option<(Numbers, [Value; 2])> {
        let numbers = self.met.get(&self.pc)?.numbers?;
        let [a, b] = self.top_values(2)[..] else {
            return None;
        };
        let all = |ty: Type| self.ty(a) <= ty && self.ty(b) <= ty;
        let possible = self.ty(a).could_be(number()) && self.ty(b).could_be(number());
        let settled = all(Type::FLOAT_EXACT) || all(Type::LONG_EXACT);
        let failed = self.avoids(Reason::Domain);
        (possible && !settled && !failed).then_some((numbers, [a, b]))
    }

    /// The operands as objects. A block parameter may have a type with null; an operator's operand
    /// is never null.
    fn objects(&mut self, operands: [Value; 2]) -> [Value; 2] {
        operands.map(|v| self.refine(v, self.ty(v) & Type::OBJECT))
    }

    /// The operator on two numbers of which at least one is a float.
    fn float_operator(&mut self, op: Op, a: Value, b: Value) {
        let (x, y) = (self.as_double(a, Some(b)), self.as_double(b, Some(a)));
        let state = op.exit_reason().map(|_| self.state());
        let r = self.emit_with(op, vec![x, y], Type::CDOUBLE, state);
        let v = self.emit(Op::BoxFloat, vec![r], Type::FLOAT_EXACT);
        self.drop_numbers();
        self.push_owned(v);
    }

    /// Two ints take one arm, all other pairs the other.
    fn either_operator(&mut self, instr: &Instr, op: Op, a: Value, b: Value) {
        let (join, floats) = (self.inner_block(), self.inner_block());
        let before = self.before_arms();
        for v in [a, b] {
            let is = self.emit(Op::IsClass(vec![Type::LONG_EXACT]), vec![v], Type::CBOOL);
            let ints = self.inner_block();
            self.end_block(Term::Branch {
                cond: is,
                then: plain_edge(ints),
                els: plain_edge(floats),
            });
            self.cur = ints;
        }
        for v in [a, b] {
            self.refine(v, Type::LONG_EXACT);
        }
        let v = self.general_on_stack(G::Binary, [instr.arg as i64, 0], 2);
        self.push_owned(v);
        self.end_arm(join, 1);
        self.next_arm(floats, &before);
        self.float_operator(op, a, b);
        self.end_arm(join, 1);
        self.enter_join(join, &[number()], before);
    }

    /// A number as a double. With another operand, it exits unless one of the two is a float.
    pub(super) fn as_double(&mut self, v: Value, other: Option<Value>) -> Value {
        let state = self.state();
        let args = [v].into_iter().chain(other).collect();
        self.emit_with(Op::UnboxNumber, args, Type::CDOUBLE, Some(state))
    }

    /// Drop the operands, which are numbers.
    fn drop_numbers(&mut self) {
        for v in self.top_values(2) {
            self.refine(v, number());
        }
        self.drop_top(2);
    }

    /// Returns true if a value is an exact int, and no unit has exited here because an int had too
    /// many digits.
    pub(super) fn is_word(&self, v: Value) -> bool {
        let ty = self.ty(v);
        ty <= Type::LONG_EXACT && !ty.is_bottom() && !self.avoids(Reason::IntTooLarge)
    }

    /// `min` or `max` of `n` operands of which one is known to be an int or a float, and the others
    /// are speculated to be of the same class.
    pub(super) fn extreme(&mut self, builtin: Builtin, base: usize, n: usize) -> bool {
        let operands: Vec<Value> = self.top_values(n);
        let is_of = |class: Type| {
            let types = || operands.iter().map(|v| self.ty(*v));
            let is_known = |ty: Type| ty <= class && !ty.is_bottom();
            let is_bet = types().any(is_known) && !self.avoids(Reason::Type);
            types().all(is_known) || is_bet && types().all(|ty| ty.could_be(class))
        };
        let (class, raw_type) = match (is_of(Type::LONG_EXACT), is_of(Type::FLOAT_EXACT)) {
            (true, _) if !self.avoids(Reason::IntTooLarge) => (Type::LONG_EXACT, Type::CINT64),
            (false, true) => (Type::FLOAT_EXACT, Type::CDOUBLE),
            _ => return false,
        };
        self.own_operands(n);
        let is_int = class == Type::LONG_EXACT;
        let guarded: Vec<Value> = operands
            .into_iter()
            .map(|v| self.guard_type(v, class))
            .collect();
        let state = self.state();
        let unboxed = guarded.into_iter().map(|v| match is_int {
            true => self.emit_with(Op::UnboxInt, vec![v], raw_type, Some(state)),
            false => self.emit(Op::UnboxFloat, vec![v], raw_type),
        });
        let raw: Vec<Value> = unboxed.collect();
        // The result is the first operand, unless a later one is less (or greater): also if both
        // are equal, or if one is not a number (`nan`).
        let cmp = match builtin {
            Builtin::Min => Cmp::Lt,
            _ => Cmp::Gt,
        };
        let mut r = raw[0];
        for next in &raw[1..] {
            let cmp = match is_int {
                true => Op::IntCmp(cmp),
                false => Op::FloatCmp(cmp),
            };
            let is_next = self.emit(cmp, vec![*next, r], Type::CBOOL);
            r = self.emit(Op::Select, vec![is_next, *next, r], raw_type);
        }
        let v = match is_int {
            true => self.emit(Op::BoxInt, vec![r], class),
            false => self.emit(Op::BoxFloat, vec![r], class),
        };
        self.drop_top(self.stack.len() - base);
        self.push_owned(v);
        true
    }
}
