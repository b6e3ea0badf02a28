//! The lowering of each op, one row per op. The functions that it calls handle the representations
//! of operands.

use super::UnitValidity;
use super::hop::HighLevelOp;
use crate::facts::RawKind;
use crate::hir::Op;
use crate::host::names;
use crate::lir::{self, Opcode};
use crate::ll::Width;

impl HighLevelOp<'_, '_> {
    /// Lowers the op. Returns its result, if it has one in a register of its own.
    pub(super) fn dispatch(&mut self) -> Option<lir::Value> {
        Some(match self.op() {
            // These emit no code: the value is in a register already, or computed at its uses.
            Op::Param
            | Op::Arg(_)
            | Op::Const(_)
            | Op::Null
            | Op::ConstInt(_)
            | Op::ConstDouble(_)
            | Op::ConstBool(_)
            | Op::BoxInt
            | Op::BoxFloat
            | Op::BoxBool
            | Op::BoxIntIf
            | Op::BoxFloatIf
            | Op::VirtualTuple
            | Op::VirtualDict
            | Op::VirtualInstance(..)
            | Op::VirtualCell
            | Op::VirtualMethod(_)
            | Op::VirtualIf
            | Op::VirtualGenerator(..)
            | Op::VirtualChain
            | Op::VirtualRangeIter
            | Op::VirtualSeqIter
            | Op::Borrowed
            | Op::RangeAt(_)
            | Op::Refine(_)
            | Op::Held
            | Op::Kin(_) => return None,
            // Emitted at the end of its block.
            Op::Yield(_) => return None,
            Op::YieldItem => unreachable!("a yield of a generator that is not inlined"),
            Op::ResumePoint => self.lower.resumed().point,
            Op::Sent => self.lower.resumed().sent,

            Op::LoadSlot(k) => self.load_slot(*k),
            // A closed unit has no slots, and owns no references.
            Op::StoreSlot(_) | Op::Incref | Op::Decref if self.lower.closed.is_some() => {
                return None;
            }
            Op::StoreSlot(k) => {
                self.lower.store_slot(*k, self.arg(0));
                return None;
            }
            Op::Incref => {
                self.lower.incref(self.arg(0));
                return None;
            }
            Op::Decref => {
                self.lower.decref(self.v, self.arg(0));
                return None;
            }
            Op::DropShared => {
                self.lower.drop_shared(self.v, self.arg(0));
                return None;
            }

            Op::GuardType(ty) => {
                self.guard_type(*ty);
                return None;
            }
            Op::CheckClasses(types) => {
                self.check_classes(types);
                return None;
            }
            Op::IsClass(types) => self.lower.is_class(self.arg(0), types),
            Op::GuardIs(object) => {
                self.guard_is(*object);
                return None;
            }
            Op::GuardBound => {
                self.guard_bound();
                return None;
            }
            Op::GuardTrue(_) => {
                let ok = self.truth(0);
                self.guard(ok);
                return None;
            }
            Op::CheckValid => {
                let ok = match self.lower.validity {
                    UnitValidity::Known(valid) => valid,
                    UnitValidity::Clean | UnitValidity::Unknown => self.lower.still_valid(),
                };
                self.guard(ok);
                return None;
            }
            Op::CheckUnseen => {
                self.lower.check_unseen(self.v);
                return None;
            }
            Op::CheckPending => {
                self.check_pending();
                return None;
            }
            Op::CheckQuiet => {
                self.check_quiet();
                return None;
            }
            Op::Quiet => self.quiet(),
            Op::DoPending => {
                self.do_pending();
                return None;
            }
            Op::Count(word) => {
                self.lower.count_at(*word);
                return None;
            }

            Op::NameGet(name) => self.name_get(*name),
            Op::NameGetRaw(name, class) => self.name_get_raw(*name, *class),
            Op::NameSet(name) => self.name_set(*name),

            Op::UnboxInt => self.unbox_int(),
            Op::UnboxFloat => self.unbox(RawKind::Float),
            Op::UnboxBool => self.unbox(RawKind::Bool),
            Op::UnboxNumber => self.unbox_number(),

            Op::IntAdd => self.overflowing(Opcode::IaddOvf),
            Op::IntStep => self.plain(Opcode::Iadd),
            Op::IntSub => self.overflowing(Opcode::IsubOvf),
            Op::IntMul => self.overflowing(Opcode::ImulOvf),
            Op::IntNeg => self.negate(),
            Op::IntFloorDiv => self.divide(true),
            Op::IntMod => self.divide(false),
            Op::IntTrueDiv => self.true_division(),
            Op::IntAnd => self.plain(Opcode::Iand),
            Op::IntOr => self.plain(Opcode::Ior),
            Op::IntXor => self.plain(Opcode::Ixor),
            Op::IntShl => self.shift_left(),
            Op::IntShr => self.shift_right(),
            Op::IntInvert => self.plain(Opcode::Inot),
            Op::IntCmp(cmp) => self.compare_ints(*cmp),
            Op::IntToDouble => self.plain(Opcode::I2f),
            Op::IntToDoubleExact => self.exact_double(),
            Op::BoolToInt => self.plain(Opcode::B2i),

            Op::FloatAdd => self.plain(Opcode::Fadd),
            Op::FloatSub => self.plain(Opcode::Fsub),
            Op::FloatMul => self.plain(Opcode::Fmul),
            Op::FloatNeg => self.plain(Opcode::Fneg),
            Op::FloatAbs => self.plain(Opcode::Fabs),
            Op::FloatDiv => {
                self.nonzero();
                self.plain(Opcode::Fdiv)
            }
            Op::FloatFloorDiv => {
                self.nonzero();
                self.plain_call("float_floordiv")
            }
            Op::FloatMod => {
                self.nonzero();
                self.plain_call("float_mod")
            }
            Op::FloatPow => self.power(),
            Op::FloatSqrt => self.square_root(),
            Op::FloatToInt => self.integer_part(),
            Op::FloatCmp(cmp) => self.compare_floats(*cmp),
            Op::Select => self.select(),
            Op::BoolNot => self.plain(Opcode::Bnot),
            Op::BoolAnd => self.plain(Opcode::Band),

            Op::Is => self.is_same(),
            Op::IsNull => self.is_null(),
            Op::IsNone => self.is_none(),
            Op::ClassOf => self.class_of(),
            Op::NumberOf(call) | Op::IterIndex(call) | Op::ClosureCell(call) => {
                self.number_of(call)
            }

            Op::Compute(call) | Op::Examine(call) | Op::ComputeObject(call) => self.compute(call),

            Op::ListLen => self.plain_intrinsic(names::LIST_LEN),
            Op::Reuse => self.reuse(),
            Op::TupleLen => self.plain_intrinsic(names::TUPLE_LEN),
            Op::StrLen => self.plain_intrinsic(names::STR_LEN),
            Op::StrEq => self.plain_intrinsic(names::STR_EQ),
            Op::StrAt => self.character(),
            Op::Index => self.index(),
            Op::ListGet => self.plain_intrinsic(names::LIST_GET),
            Op::TupleGet => self.plain_intrinsic(names::TUPLE_GET),
            Op::ListSet => self.plain_intrinsic(names::LIST_SET),
            Op::ListItems => self.plain_intrinsic(names::LIST_ITEMS),
            Op::ItemGet => self.plain_intrinsic(names::ITEM_GET),
            Op::ItemSet => self.plain_intrinsic(names::ITEM_SET),
            Op::ListAppend => {
                self.append_in_place();
                return None;
            }
            Op::ListSlice(step) => self.list_slice(*step),
            Op::ListCopySlice(step) => {
                self.copy_list_slice(*step);
                return None;
            }
            Op::RawLen(call) | Op::RawGet(call) => self.raw_items(call),
            Op::RawSet(call) => {
                self.set_raw_item(call);
                return None;
            }
            Op::NewCell(_) => self.new_object(names::NEW_CELL),
            Op::BindMethod => self.new_object(names::BIND_METHOD),
            Op::CellGet => self.plain_intrinsic(names::CELL_GET),
            Op::CellSet => self.plain_intrinsic(names::CELL_SET),
            Op::RangeNext => self.range_next(),
            Op::RangeField(field) => self.range_field(*field),
            Op::RangeStart => self.plain_intrinsic(names::RANGE_START),
            Op::RangeStep => self.plain_intrinsic(names::RANGE_STEP),
            Op::RangeLeft => self.plain_intrinsic(names::RANGE_LEFT),
            Op::IterMore => self.iter_more(),
            Op::ListIterNext => self.plain_intrinsic(names::LIST_ITER_NEXT),
            Op::IterEnd => {
                self.iter_end();
                return None;
            }
            Op::TupleIterNext => self.plain_intrinsic(names::TUPLE_ITER_NEXT),
            Op::Output(n) => self.output(*n),

            // The result of a check, if any, is not used.
            Op::Check(call) => {
                self.access(call);
                return None;
            }
            Op::CheckThread(call) => {
                self.check_thread(call);
                return None;
            }
            Op::InitField(call) => {
                let args = vec![self.object(0), self.passed_on(1)];
                self.lower.host_call(call, args, None);
                return None;
            }
            Op::New(_, call) | Op::GlobalGet(call) => self.without_object(call),
            Op::Load(call) | Op::Store(call) | Op::StoreQuiet(call) => {
                self.access(call).expect("a value, or the old one")
            }

            Op::General(op, imms) => return self.general(*op, *imms),
            Op::CallNative(call) => self.call_native(call, None),
            Op::CallNativeLent(call, lent) => self.call_native(call, Some(*lent)),
            Op::CallDirect(cell) => self.call_direct(*cell),
            Op::CallGetter(cell, receiver, name) => self.call_getter(*cell, *receiver, *name),
            Op::CallNext(cell) => self.call_next(*cell),
            Op::CallRaw(entry, consumed) => self.call_raw(entry, *consumed),
        })
    }

    fn load_slot(&mut self, k: u32) -> lir::Value {
        if let Some(local) = self.lower.locals.get_mut(k as usize) {
            *local = self.v;
        }
        let (frame, offset) = (self.lower.frame, self.lower.slot_offset(k));
        self.b().load(Width::Ptr, frame, offset)
    }
}
