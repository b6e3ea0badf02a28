//! The contents of lists, tuples, cells and other objects with items, and iterators over them.

use super::hop::HighLevelOp;
use crate::facts::IntrinsicCall;
use crate::hir::Op;
use crate::host::names;
use crate::lir::{self, IntCond, Opcode};
use crate::ll::Ty;
use crate::types::Type;

impl HighLevelOp<'_, '_> {
    /// The offset of a Python index. Most indexes count from the front: an unsigned comparison with
    /// the length finds those in range, and only if it fails is a negative index considered.
    pub(super) fn index(&mut self) -> lir::Value {
        let index = self.arg(0);
        let from_end = matches!(self.lower.f.op(index), Op::ConstInt(n) if *n < 0);
        let (i, len) = self.ints();
        let exit = self.exit();
        if from_end || self.is_natural(index) {
            let offset = if from_end {
                self.b().op(Opcode::Iadd, &[i, len])
            } else {
                i
            };
            let ok = self.b().icmp(IntCond::Ult, offset, len);
            self.b().guard(ok, exit);
            return offset;
        }
        let b = self.b();
        let (from_end, go) = (b.cold_block(), b.block());
        let offset = b.param(go, Ty::I64);
        let ok = b.icmp(IntCond::Ult, i, len);
        b.br(ok, go, &[i], from_end, &[]);
        b.switch_to(from_end);
        // If `i` is not negative, `i + len` is not below the length either, and the exit is taken.
        // A sum that is still negative is a large unsigned number.
        let wrapped = b.op(Opcode::Iadd, &[i, len]);
        let ok = b.icmp(IntCond::Ult, wrapped, len);
        b.br(ok, go, &[wrapped], exit, &[]);
        b.switch_to(go);
        offset
    }

    /// Appends to a list in place; exits if there is no room.
    pub(super) fn append_in_place(&mut self) {
        let exit = self.exit();
        let (list, item) = (self.object(0), self.object(1));
        let id = self.lower.host.intrinsic(names::LIST_APPEND);
        self.lower.perform(id, &[list, item], Some(exit));
    }

    /// The string of one character of a string; exits if the host has no immortal one.
    pub(super) fn character(&mut self) -> lir::Value {
        let exit = self.exit();
        let args = self.inputs(&[Ty::Ptr, Ty::I64]);
        let id = self.lower.host.intrinsic(names::STR_AT);
        self.lower.perform(id, &args, Some(exit))[0]
    }

    /// A new object of the operands; exits if there is no memory.
    pub(super) fn new_object(&mut self, name: &'static str) -> lir::Value {
        let exit = self.exit();
        let host = self.lower.host;
        let id = host.intrinsic(name);
        let args = self.inputs(&host.intrinsics[id].func.signature.params);
        self.lower.perform(id, &args, Some(exit))[0]
    }

    /// A new list of a list's items; exits if there is no memory.
    pub(super) fn list_slice(&mut self, step: i64) -> lir::Value {
        let exit = self.exit();
        let mut args = self.inputs(&[Ty::Ptr, Ty::I64, Ty::I64]);
        args.push(self.b().iconst(step));
        let id = self.lower.host.intrinsic(names::LIST_SLICE);
        self.lower.perform(id, &args, Some(exit))[0]
    }

    /// Replaces items of a list by those of another; exits if the host does not support the case.
    pub(super) fn copy_list_slice(&mut self, step: i64) {
        let exit = self.exit();
        let types = [Ty::Ptr, Ty::I64, Ty::I64, Ty::Ptr, Ty::I64, Ty::I64];
        let mut args = self.inputs(&types);
        args.push(self.b().iconst(step));
        let id = self.lower.host.intrinsic(names::LIST_COPY_SLICE);
        self.lower.perform(id, &args, Some(exit));
    }

    /// The result of an intrinsic on an object's raw items.
    pub(super) fn raw_items(&mut self, call: &IntrinsicCall) -> lir::Value {
        let args = self.plan_inputs(call);
        let number = self.lower.host_call(call, args, None);
        number.expect("a number")
    }

    /// Replaces a raw item; exits if the value does not fit.
    pub(super) fn set_raw_item(&mut self, call: &IntrinsicCall) {
        let args = self.plan_inputs(call);
        let exit = self.exit();
        self.lower.host_call(call, args, Some(exit));
    }

    /// True if a range's iterator has a next value, which is an output.
    pub(super) fn range_next(&mut self) -> lir::Value {
        let iter = self.object(0);
        let results = self.lower.intrinsic(names::RANGE_NEXT, &[iter]);
        self.lower.outputs.insert(self.v, vec![results[0]]);
        results[1]
    }

    /// True if a list's or a tuple's iterator has another item.
    pub(super) fn iter_more(&mut self) -> lir::Value {
        let is_list = self.lower.f.ty(self.arg(0)) <= Type::LIST_ITER;
        self.plain_intrinsic(if is_list {
            names::LIST_ITER_MORE
        } else {
            names::TUPLE_ITER_MORE
        })
    }

    /// The end of a list's or a tuple's iterator; exits if the list would be deallocated.
    pub(super) fn iter_end(&mut self) {
        let iter = self.object(0);
        let exit = self.exit();
        let name = match self.lower.f.ty(self.arg(0)) <= Type::LIST_ITER {
            true => names::LIST_ITER_END,
            false => names::TUPLE_ITER_END,
        };
        let id = self.lower.host.intrinsic(name);
        self.lower.perform(id, &[iter], Some(exit));
    }

    /// An output of another instruction.
    pub(super) fn output(&mut self, n: u32) -> lir::Value {
        let of = self.lower.f.resolve(self.arg(0));
        self.lower.outputs[&of][n as usize]
    }
}
