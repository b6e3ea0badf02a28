//! Calls of the host's functions whose results are computed without a call.
//!
//! For example, `math.sin(x)` is a raw function of a double: the operand is unboxed and the result
//! boxed, so both stay raw in a loop. The host lists the ways ([`Computed`]); where the operands
//! are of other types, or the computation fails, the unit exits, and the interpreter makes the
//! call. Where that has happened, the call is made natively.

use crate::bytecode::{GeneralOp as G, Op as B, Reason};
use crate::facts::Computed;
use crate::hir::Op;
use crate::hir::build::Builder;
use crate::hir::function::Value;
use crate::types::{ObjectHandle, Type};

/// The number of calls with a failed speculation from which on there are no more in a function.
const MOST_LOST: usize = 2;

impl Builder<'_> {
    /// Computes the result of a call of a host function, such as `math.sqrt(x)`, without the call.
    /// The last `given` arguments are on the stack. Returns false if the call is needed.
    pub(super) fn compute(
        &mut self,
        object: ObjectHandle,
        base: usize,
        given: usize,
        args: &[Value],
    ) -> bool {
        if self.avoids(Reason::Domain) || self.avoids(Reason::IntTooLarge) {
            return false;
        }
        let shown = args.iter().map(|arg| match self.ty(*arg).as_object() {
            Some(object) => Type::from_object(object),
            None => Type::OBJECT,
        });
        let ways = self.world.computed(object, &shown.collect::<Vec<_>>());
        let mut found = ways.iter().position(|way| self.are_proved(way, args));
        if found.is_none() && !self.bets_were_lost() {
            found = ways.iter().position(|way| self.may_fit(way, args));
        }
        let Some(index) = found else { return false };
        let Computed {
            params,
            call,
            result,
            reads,
        } = ways[index].clone();
        self.own_operands(given);
        let operands = args.iter().zip(&params);
        let operands = operands.filter(|(_, ty)| ty.as_object().is_none());
        let inputs = operands.map(|(arg, ty)| self.passed(*arg, *ty)).collect();
        let is_raw = result <= Type::CINT64 || result <= Type::CDOUBLE || result <= Type::CBOOL;
        let op = match (is_raw, reads) {
            (true, false) => Op::Compute(call),
            (true, true) => Op::Examine(call),
            (false, _) => Op::ComputeObject(call),
        };
        let state = self.state();
        let value = self.emit_with(op, inputs, result, Some(state));
        let boxed = match result {
            ty if ty <= Type::CINT64 => self.emit(Op::BoxInt, vec![value], Type::LONG_EXACT),
            ty if ty <= Type::CDOUBLE => self.emit(Op::BoxFloat, vec![value], Type::FLOAT_EXACT),
            ty if ty <= Type::CBOOL => self.emit(Op::BoxBool, vec![value], Type::BOOL),
            _ => value,
        };
        self.drop_top(self.stack.len() - base);
        self.push_owned(boxed);
        true
    }

    /// `isinstance` of an object and a tuple of known classes; false if it is another call.
    pub(super) fn test_classes(&mut self, object: ObjectHandle, base: usize) -> bool {
        let [_, _, instance, tuple] = self.stack[base..] else {
            return false;
        };
        let root = self.f.object_of(tuple.value);
        let is_tuple = *self.f.op(root) == Op::General(G::BuildTuple, [0, 0]);
        let classes: Vec<Value> = if is_tuple {
            self.f.insts[root].args.clone()
        } else if let Some(known) = self.ty(tuple.value).as_object()
            && let Some(items) = self.world.tuple_items(known)
        {
            items.into_iter().map(|item| self.object(item)).collect()
        } else {
            return false;
        };
        let args = [vec![instance.value], classes].concat();
        self.compute(object, base, 2, &args)
    }

    /// Returns true if operands of several calls were of other types than was speculated: calls of
    /// the same function are likely to have such operands, and each further one costs a version.
    fn bets_were_lost(&self) -> bool {
        let lost = self.avoid.iter().filter(|(pc, reason)| {
            let is_call = self.code.instr(*pc).op == B::Call;
            is_call && matches!(reason, Reason::Type | Reason::Domain)
        });
        lost.count() >= MOST_LOST
    }

    /// Returns true if all operands are known to be of the types that a way takes.
    fn are_proved(&self, way: &Computed, args: &[Value]) -> bool {
        let mut operands = args.iter().zip(&way.params);
        operands.all(|(arg, param)| self.ty(*arg) <= *param && !self.ty(*arg).is_bottom())
    }

    /// Returns true if all operands may be of these types, and no other class was observed of them.
    fn may_fit(&self, way: &Computed, args: &[Value]) -> bool {
        let mut operands = args.iter().zip(&way.params);
        !self.avoids(Reason::Type)
            && operands.all(|(arg, param)| {
                let ty = self.ty(*arg);
                let observed = self.hints.get(arg).copied().unwrap_or(ty);
                ty.could_be(*param) && observed.could_be(*param)
            })
    }

    /// An operand as it is passed: a float as a double, an int as an integer.
    fn passed(&mut self, arg: Value, param: Type) -> Value {
        if param <= Type::LONG_EXACT {
            let arg = self.guard_type(arg, param);
            let state = self.state();
            self.emit_with(Op::UnboxInt, vec![arg], Type::CINT64, Some(state))
        } else if param <= Type::FLOAT_EXACT {
            let arg = self.guard_type(arg, param);
            self.emit(Op::UnboxFloat, vec![arg], Type::CDOUBLE)
        } else if param <= (Type::FLOAT_EXACT | Type::LONG_EXACT) {
            self.as_double(arg, None)
        } else if param == Type::OBJECT {
            arg
        } else {
            self.guard_type(arg, param)
        }
    }
}
