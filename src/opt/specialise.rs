//! General operations on operands of known types become primitive ones.
//!
//! The types are already proved or guarded. The primitive form adds its own checks (digits,
//! overflow, bounds, zero), each an op with the frame state of the instruction.

use super::Context;
use crate::bytecode::{self, BinaryOp, GeneralOp as G, INPLACE, Reason};
use crate::hir::{Block, Cmp, Function, Inst, Op, StateId, Value};
use crate::types::{ConstValue, Type};

/// Rewrite every general operation whose operand types allow it.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let mut changed = false;
    for b in f.order.clone() {
        let insts = std::mem::take(&mut f.blocks[b].insts);
        for v in insts {
            let mut rw = Rewriter {
                f,
                cx,
                block: b,
                at: v,
            };
            match rw.rewrite() {
                Some(new) => {
                    f.replace(v, new);
                    changed = true;
                }
                None => f.blocks[b].insts.push(v),
            }
        }
    }
    changed
}

/// Emits before the instruction `at`, into the block's list under construction.
struct Rewriter<'a, 'b> {
    f: &'a mut Function,
    cx: &'a Context<'b>,
    block: Block,
    at: Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    Float,
}

impl Rewriter<'_, '_> {
    fn emit(&mut self, op: Op, args: Vec<Value>, ty: Type) -> Value {
        let pc = self.f.insts[self.at].pc;
        let state = (op.exit_reason().is_some() || matches!(op, Op::Decref)).then(|| self.state());
        let v = self.f.insts.push(Inst {
            op,
            args,
            ty,
            source: crate::facts::Source::Proved,
            state,
            pc,
        });
        self.f.blocks[self.block].insts.push(v);
        v
    }

    fn state(&self) -> StateId {
        self.f.insts[self.at]
            .state
            .expect("a general operation has a state")
    }

    fn avoids(&self, reason: Reason) -> bool {
        let pc = self.f.states[self.state()].pc;
        self.cx.avoid.contains(&(pc, reason))
    }

    fn arg(&self, i: usize) -> Value {
        self.f.arg(self.at, i)
    }

    fn ty(&self, i: usize) -> Type {
        self.f.ty(self.arg(i))
    }

    fn kind(&self, i: usize) -> Option<Kind> {
        let t = self.ty(i);
        if t.is_bottom() {
            None
        } else if t <= Type::LONG_EXACT {
            Some(Kind::Int)
        } else if t <= Type::FLOAT_EXACT {
            Some(Kind::Float)
        } else {
            None
        }
    }

    fn is_bool(&self, i: usize) -> bool {
        self.ty(i) <= Type::BOOL && !self.ty(i).is_bottom()
    }

    /// The kind of an operand of arithmetic: a bool is an int there (`count += x > limit`).
    fn number(&self, i: usize) -> Option<Kind> {
        match self.is_bool(i) {
            true => Some(Kind::Int),
            false => self.kind(i),
        }
    }

    fn int(&mut self, i: usize) -> Value {
        let a = self.arg(i);
        if self.is_bool(i) {
            let truth = self.emit(Op::UnboxBool, vec![a], Type::CBOOL);
            return self.emit(Op::BoolToInt, vec![truth], Type::CINT64);
        }
        self.emit(Op::UnboxInt, vec![a], Type::CINT64)
    }

    fn double(&mut self, i: usize, exact: bool) -> Value {
        let a = self.arg(i);
        if self.kind(i) == Some(Kind::Float) {
            return self.emit(Op::UnboxFloat, vec![a], Type::CDOUBLE);
        }
        let n = self.int(i);
        self.emit(
            if exact {
                Op::IntToDoubleExact
            } else {
                Op::IntToDouble
            },
            vec![n],
            Type::CDOUBLE,
        )
    }

    fn box_int(&mut self, v: Value) -> Value {
        self.emit(Op::BoxInt, vec![v], Type::LONG_EXACT)
    }

    fn box_float(&mut self, v: Value) -> Value {
        self.emit(Op::BoxFloat, vec![v], Type::FLOAT_EXACT)
    }

    /// The value that replaces the instruction, or `None` to keep it.
    fn rewrite(&mut self) -> Option<Value> {
        let Op::General(op, imms) = self.f.insts[self.at].op else {
            return None;
        };
        match op {
            G::Binary => self.binary(BinaryOp::from_arg(imms[0] as u32 % INPLACE)?),
            G::CompareBool => self.compare(Cmp::from_arg(imms[0] as u32)?),
            G::Truth => self.truth(),
            G::Negative => match self.number(0)? {
                Kind::Int
                    if !self.avoids(Reason::Overflow) && !self.avoids(Reason::IntTooLarge) =>
                {
                    let a = self.int(0);
                    let r = self.emit(Op::IntNeg, vec![a], Type::CINT64);
                    Some(self.box_int(r))
                }
                Kind::Float => {
                    let a = self.double(0, false);
                    let r = self.emit(Op::FloatNeg, vec![a], Type::CDOUBLE);
                    Some(self.box_float(r))
                }
                Kind::Int => None,
            },
            G::Invert if self.kind(0)? == Kind::Int && !self.avoids(Reason::IntTooLarge) => {
                let a = self.int(0);
                let r = self.emit(Op::IntInvert, vec![a], Type::CINT64);
                Some(self.box_int(r))
            }
            G::GetItem => self.get_item(),
            G::GetLen if self.is_string(0) => {
                let a = self.arg(0);
                let len = self.emit(Op::StrLen, vec![a], Type::CINT64);
                Some(self.box_int(len))
            }
            G::SetItem => self.set_item(),
            G::GetSlice => self.get_slice(),
            _ => None,
        }
    }

    fn binary(&mut self, op: BinaryOp) -> Option<Value> {
        use BinaryOp::*;
        if self.is_bool(0) && self.is_bool(1) && matches!(op, And | Or | Xor) {
            return Some(self.of_bools(op));
        }
        let (a, b) = (self.number(0)?, self.number(1)?);
        if self.avoids(Reason::IntTooLarge) && (a == Kind::Int || b == Kind::Int) {
            return None;
        }
        if a == Kind::Int && b == Kind::Int {
            let (prim, reason) = match op {
                Add => (Op::IntAdd, Reason::Overflow),
                Subtract => (Op::IntSub, Reason::Overflow),
                Multiply => (Op::IntMul, Reason::Overflow),
                FloorDivide => (Op::IntFloorDiv, Reason::Domain),
                Remainder => (Op::IntMod, Reason::Domain),
                TrueDivide => (Op::IntTrueDiv, Reason::Domain),
                And => (Op::IntAnd, Reason::IntTooLarge),
                Or => (Op::IntOr, Reason::IntTooLarge),
                Xor => (Op::IntXor, Reason::IntTooLarge),
                LeftShift => (Op::IntShl, Reason::Overflow),
                RightShift => (Op::IntShr, Reason::Domain),
                _ => return None,
            };
            if self.avoids(reason) {
                return None;
            }
            let (x, y) = (self.int(0), self.int(1));
            return Some(if op == TrueDivide {
                let r = self.emit(prim, vec![x, y], Type::CDOUBLE);
                self.box_float(r)
            } else {
                let r = self.emit(prim, vec![x, y], Type::CINT64);
                self.box_int(r)
            });
        }
        let prim = match op {
            Add => Op::FloatAdd,
            Subtract => Op::FloatSub,
            Multiply => Op::FloatMul,
            TrueDivide => Op::FloatDiv,
            FloorDivide => Op::FloatFloorDiv,
            Remainder => Op::FloatMod,
            Power => Op::FloatPow,
            _ => return None,
        };
        if prim.exit_reason().is_some_and(|r| self.avoids(r)) {
            return None;
        }
        let (mut x, y) = (self.double(0, false), self.double(1, false));
        if op == Power && self.is_even() {
            // Of a negative number it is that of its absolute value, which the op takes.
            x = self.emit(Op::FloatAbs, vec![x], Type::CDOUBLE);
        }
        let r = self.emit(prim, vec![x, y], Type::CDOUBLE);
        Some(self.box_float(r))
    }

    /// `&`, `|` or `^` of two bools, which is a bool.
    fn of_bools(&mut self, op: BinaryOp) -> Value {
        let op = match op {
            BinaryOp::And => Op::IntAnd,
            BinaryOp::Or => Op::IntOr,
            _ => Op::IntXor,
        };
        let args = vec![self.int(0), self.int(1)];
        let r = self.emit(op, args, Type::CINT64);
        let zero = self.emit(Op::ConstInt(0), vec![], Type::CINT64);
        let r = self.emit(Op::IntCmp(Cmp::Ne), vec![r, zero], Type::CBOOL);
        self.emit(Op::BoxBool, vec![r], Type::BOOL)
    }

    /// Returns true if the second operand is known to be an even number.
    fn is_even(&self) -> bool {
        let object = self.ty(1).as_object();
        match object.map(|object| self.cx.world.value(object)) {
            Some(ConstValue::Int(n)) => n % 2 == 0,
            Some(ConstValue::Float(x)) => x % 2.0 == 0.0,
            _ => false,
        }
    }

    /// Returns true if an operand is an exact string, and the host's strings may be read.
    fn is_string(&self, i: usize) -> bool {
        let ty = self.ty(i);
        self.cx.strings && ty <= Type::UNICODE_EXACT && !ty.is_bottom()
    }

    fn compare(&mut self, c: Cmp) -> Option<Value> {
        if matches!(c, Cmp::Eq | Cmp::Ne) && self.is_string(0) && self.is_string(1) {
            let (a, b) = (self.arg(0), self.arg(1));
            let same = self.emit(Op::StrEq, vec![a, b], Type::CBOOL);
            return Some(match c {
                Cmp::Eq => same,
                _ => self.emit(Op::BoolNot, vec![same], Type::CBOOL),
            });
        }
        let (a, b) = (self.number(0)?, self.number(1)?);
        if self.avoids(Reason::IntTooLarge) && (a == Kind::Int || b == Kind::Int) {
            return None;
        }
        if a == Kind::Int && b == Kind::Int {
            let (x, y) = (self.int(0), self.int(1));
            return Some(self.emit(Op::IntCmp(c), vec![x, y], Type::CBOOL));
        }
        if a != b && self.avoids(Reason::Domain) {
            return None;
        }
        let (x, y) = (self.double(0, true), self.double(1, true));
        Some(self.emit(Op::FloatCmp(c), vec![x, y], Type::CBOOL))
    }

    fn truth(&mut self) -> Option<Value> {
        let t = self.ty(0);
        if t.is_bottom() {
            return None;
        }
        let a = self.arg(0);
        if t <= Type::BOOL {
            return Some(self.emit(Op::UnboxBool, vec![a], Type::CBOOL));
        }
        if t <= Type::NONE_TYPE {
            self.f.rely_on(a);
            return Some(self.emit(Op::ConstBool(false), vec![], Type::CBOOL));
        }
        let n = match self.kind(0) {
            Some(Kind::Int) if !self.avoids(Reason::IntTooLarge) && !self.is_within_operator() => {
                self.int(0)
            }
            Some(Kind::Float) => {
                let x = self.double(0, false);
                let zero = self.emit(Op::ConstDouble(0), vec![], Type::CDOUBLE);
                return Some(self.emit(Op::FloatCmp(Cmp::Ne), vec![x, zero], Type::CBOOL));
            }
            _ if t <= Type::LIST_EXACT => self.emit(Op::ListLen, vec![a], Type::CINT64),
            _ if t <= Type::TUPLE_EXACT => self.emit(Op::TupleLen, vec![a], Type::CINT64),
            _ if self.is_string(0) => self.emit(Op::StrLen, vec![a], Type::CINT64),
            _ => return None,
        };
        let zero = self.emit(Op::ConstInt(0), vec![], Type::CINT64);
        Some(self.emit(Op::IntCmp(Cmp::Ne), vec![n, zero], Type::CBOOL))
    }

    /// Returns true if the operand is the result of an operator's method, such as `a.__lt__(b)`,
    /// whose truth value the instruction takes. The method must not be called twice, so the code
    /// may not exit.
    fn is_within_operator(&self) -> bool {
        let Some(state) = self.f.insts[self.at].state.map(|s| &self.f.states[s]) else {
            return false;
        };
        let instr = match state.inlined.last() {
            Some(frame) => self.f.inlined[frame.code as usize].code.instr(frame.pc),
            None => self.f.code.instr(state.pc),
        };
        // A builtin that tests the items of a generator has taken the item already.
        instr.op == bytecode::Op::Call
            || instr.op == bytecode::Op::CompareOp && !matches!(self.f.op(self.arg(0)), Op::BoxInt)
    }

    /// The checked offset for an access to the sequence `args[0]` at `args[1]`, and the op that
    /// reads the item there.
    fn offset(&mut self) -> Option<(Value, Value, Op)> {
        let (length, get) = match self.ty(0) {
            ty if ty.is_bottom() => return None,
            ty if ty <= Type::LIST_EXACT => (Op::ListLen, Op::ListGet),
            ty if ty <= Type::TUPLE_EXACT => (Op::TupleLen, Op::TupleGet),
            _ if self.is_string(0) && !self.avoids(Reason::Domain) => (Op::StrLen, Op::StrAt),
            _ => return None,
        };
        if self.kind(1)? != Kind::Int
            || self.avoids(Reason::Bounds)
            || self.avoids(Reason::IntTooLarge)
        {
            return None;
        }
        let seq = self.arg(0);
        let index = self.int(1);
        let len = self.emit(length, vec![seq], Type::CINT64);
        let offset = self.emit(Op::Index, vec![index, len], Type::CINT64);
        Some((seq, offset, get))
    }

    fn get_item(&mut self) -> Option<Value> {
        let (seq, offset, get) = self.offset()?;
        let ty = match get {
            Op::StrAt => Type::UNICODE_EXACT,
            _ => Type::OBJECT,
        };
        let v = self.emit(get, vec![seq, offset], ty);
        self.emit(Op::Incref, vec![v], Type::BOTTOM);
        Some(v)
    }

    fn get_slice(&mut self) -> Option<Value> {
        let is = |ty: Type, want: Type| !ty.is_bottom() && ty <= want;
        let is_bound = |i| is(self.ty(i), Type::LONG_EXACT) || is(self.ty(i), Type::NONE_TYPE);
        if !is(self.ty(0), Type::LIST_EXACT)
            || !is_bound(1)
            || !is_bound(2)
            || self.avoids(Reason::Shape)
            || self.avoids(Reason::IntTooLarge)
        {
            return None;
        }
        let list = self.arg(0);
        let mut bound = |i, open| match is(self.ty(i), Type::LONG_EXACT) {
            true => self.int(i),
            false => {
                self.f.rely_on(self.arg(i));
                self.emit(Op::ConstInt(open), vec![], Type::CINT64)
            }
        };
        let (start, stop) = (bound(1, i64::MIN), bound(2, i64::MAX));
        let ends = vec![list, start, stop];
        Some(self.emit(Op::ListSlice(1), ends, Type::LIST_EXACT))
    }

    fn set_item(&mut self) -> Option<Value> {
        if !(self.ty(0) <= Type::LIST_EXACT) {
            return None;
        }
        let (list, offset, _) = self.offset()?;
        let value = self.arg(2);
        self.emit(Op::Incref, vec![value], Type::BOTTOM);
        let old = self.emit(Op::ListSet, vec![list, offset, value], Type::OBJECT);
        self.emit(Op::Decref, vec![old], Type::BOTTOM);
        Some(old)
    }
}
