//! The effects of operations in a [unit](crate::infer::unit): rules that hold for every program.

use super::Arg;
use crate::bytecode::GeneralOp as G;
use crate::hir::{Op, Value};
use crate::infer::engine::{Engine, Outcome};
use crate::infer::value::Facts;

impl Engine<'_> {
    /// The outcome of the operation, if the rule for whole programs does not hold here or there is
    /// none. None if that rule holds.
    pub(super) fn transfer_in_unit(&mut self, v: Value, args: &[Arg]) -> Option<Outcome> {
        let f = self.function(self.here.version);
        let inst = &f.insts[v];
        Some(match &inst.op {
            // The content of slots is not followed: it may be from before the unit's entry. A value
            // that the unit stores and loads again escapes at the store.
            Op::Arg(_) | Op::LoadSlot(_) => Outcome::Value(Facts::MOST_GENERAL),
            Op::StoreSlot(slot) => {
                if self.unit.as_ref().is_some_and(|slots| slots.contains(slot)) {
                    self.set.escape(&args[0].facts);
                }
                Outcome::Nothing
            }
            // The constant may carry a builtin's name and be another object.
            Op::Const(object) => Outcome::Value(match self.program.values.get(object) {
                Some(value) => Facts::constant(inst.ty, value.clone()),
                None => Facts::of_type(inst.ty),
            }),
            Op::GuardIs(_) => Outcome::Value(Facts::of_type(inst.ty)),
            Op::General(op, _) if has_rule(*op) => return None,
            Op::General(..) => self.unknown(v, args),
            Op::Param
            | Op::ConstInt(_)
            | Op::ConstDouble(_)
            | Op::ConstBool(_)
            | Op::Null
            | Op::Incref
            | Op::Decref
            | Op::CheckValid
            | Op::CheckUnseen
            | Op::CheckPending
            | Op::DoPending
            | Op::CheckQuiet
            | Op::CheckClasses(_)
            | Op::Check(_)
            | Op::Count(_)
            | Op::CheckThread(_)
            | Op::GuardType(_)
            | Op::GuardBound
            | Op::GuardTrue(_)
            | Op::Refine(_)
            | Op::Held
            | Op::Kin(_)
            | Op::ClosureCell(_)
            | Op::BoxInt
            | Op::BoxFloat
            | Op::BoxBool
            | Op::UnboxInt
            | Op::UnboxFloat
            | Op::UnboxBool
            | Op::BoolNot
            | Op::BoolAnd
            | Op::IsNone
            | Op::IsNull
            | Op::Is
            | Op::Output(_)
            | Op::CellGet
            | Op::CellSet
            | Op::RangeNext
            | Op::IterMore
            | Op::ListIterNext
            | Op::TupleIterNext
            | Op::ListLen
            | Op::TupleLen
            | Op::ListGet
            | Op::TupleGet
            | Op::ListAppend
            | Op::ListSet
            | Op::ListSlice(_)
            | Op::ListCopySlice(_) => return None,
            _ => self.beyond(v, args),
        })
    }

    /// An operation of which only the result type is known. Objects among its operands escape.
    fn beyond(&mut self, v: Value, args: &[Arg]) -> Outcome {
        for arg in args {
            self.set.escape(&arg.facts);
        }
        let ty = self.function(self.here.version).insts[v].ty;
        if ty.is_bottom() {
            Outcome::Nothing
        } else {
            Outcome::Value(Facts::of_type(ty))
        }
    }
}

/// Returns true if the rule for an operation of whole programs holds in a unit: the operation
/// neither looks up names or attributes, nor calls an object that it found.
fn has_rule(op: G) -> bool {
    matches!(
        op,
        G::Binary
            | G::Compare
            | G::CompareBool
            | G::Contains
            | G::Truth
            | G::Negative
            | G::Invert
            | G::GetItem
            | G::FindItem
            | G::SetItem
            | G::MapAdd
            | G::GetIter
            | G::IterNext
            | G::IterNextBy
            | G::NextItems
            | G::EndIteration
            | G::GetterRaised
            | G::BuildTuple
            | G::BuildList
            | G::BuildSet
            | G::BuildMap
            | G::BuildKeywords
            | G::ListAppend
            | G::ListExtend
            | G::SetAdd
            | G::SetUpdate
            | G::UnpackSequence
            | G::BuildSlice
    )
}
