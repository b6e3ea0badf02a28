//! Call-outs: general operations through helpers, and calls of known functions.

use super::Lower;
use super::hop::HighLevelOp;
use super::shown::Shadows;
use crate::facts::{IntrinsicCall, IntrinsicId};
use crate::hir::{GeneralOp, Gives, NO_INTRINSIC};
use crate::host::names;
use crate::lir::{self, IntCond, Signature};
use crate::ll::{Ty, Width};
use crate::types::Type;

impl HighLevelOp<'_, '_> {
    /// A general operation. Returns its result, if it has one.
    pub(super) fn general(&mut self, op: GeneralOp, imms: [i64; 2]) -> Option<lir::Value> {
        let info = op.info();
        match op {
            GeneralOp::ListAppend if self.lower.f.ty(self.arg(0)) <= Type::LIST_EXACT => {
                self.append();
                return None;
            }
            GeneralOp::OperatorRest => return Some(self.operator_rest(imms)),
            GeneralOp::NextItems if imms[1] != NO_INTRINSIC => {
                return Some(self.next_by(op, imms[0] as usize, imms[1], &imms));
            }
            GeneralOp::IterNextBy => return Some(self.next_by(op, 1, imms[0], &imms[..1])),
            GeneralOp::Binary if self.are_ints() => {
                // A faster form, without which a host works as well.
                let ints = GeneralOp::BinaryInts;
                if !self.lower.host.lacks(ints.info().name) {
                    return self.general(ints, imms);
                }
            }
            _ => {}
        }
        // A helper with the `quiet` flag runs no code that could inspect the frame. A helper that
        // raises needs the position for the traceback.
        if info.raises || !info.quiet {
            self.publish();
        }
        let mut operands = Vec::new();
        if info.thread {
            operands.push(self.lower.thread);
        }
        if info.frame {
            operands.push(self.lower.frame);
        }
        let fixed = info.operands as usize;
        let mut imms = imms;
        if op == GeneralOp::CallLent {
            // An object that is made here is the helper's.
            for k in 0..self.args().len() - fixed {
                if self.is_unmade(fixed + k) {
                    imms[0] &= !(1 << k);
                }
            }
        }
        for &imm in &imms[..info.imms as usize] {
            operands.push(self.b().iconst(imm));
        }
        for i in 0..fixed {
            operands.push(self.object(i));
        }
        if info.variadic {
            let slot = self.array(self.args().len() - fixed);
            let pointers = (fixed..self.args().len()).map(|i| self.passed_on(i));
            let pointers: Vec<lir::Value> = pointers.collect();
            operands.push(self.fill(slot, &pointers));
            operands.push(self.b().iconst(pointers.len() as i64));
        }
        let count = self.lower.output_counts.get(&self.v).copied().unwrap_or(0);
        // The helper fills as many as its row says, read or not.
        let capacity = count.max(match op {
            GeneralOp::UnpackSequence | GeneralOp::NextItems => imms[0] as u32,
            GeneralOp::UnpackEx => ((imms[0] & 0xff) + (imms[0] >> 8) + 1) as u32,
            _ => 2,
        });
        let outputs = info.outputs.then(|| {
            let slot = self.b().slot(8 * capacity);
            self.b().stack_addr(slot)
        });
        operands.extend(outputs);
        let result = self.call(info.name, &operands)[0];
        self.drop_made();
        if info.raises {
            let failed = match info.gives {
                Gives::Object => self.b().is_null(result),
                _ => self.b().icmp_imm(IntCond::Slt, result, 0),
            };
            self.exception_is_here_if(failed);
        }
        let result = match info.gives {
            Gives::Object => Some(result),
            Gives::Bool | Gives::Next => Some(self.b().icmp_imm(IntCond::Ne, result, 0)),
            Gives::Nothing => None,
        };
        if let Some(buffer) = outputs {
            let load = |i| {
                let output = self.b().load(Width::Ptr, buffer, 8 * i as i32);
                self.lower.reference(output)
            };
            let loads = (0..count).map(load).collect();
            self.lower.outputs.insert(self.v, loads);
        }
        result
    }

    /// The next item of an iterator, or the items in it, by an intrinsic, or where that fails by
    /// the operation's helper.
    fn next_by(&mut self, op: GeneralOp, count: usize, id: i64, imms: &[i64]) -> lir::Value {
        let iter = self.object(0);
        let id = IntrinsicId::from_u32(id as u32);
        let (slow, go) = (self.b().cold_block(), self.b().block());
        let more = self.b().param(go, Ty::Bool);
        let outputs: Vec<lir::Value> = (0..count).map(|_| self.b().param(go, Ty::Ptr)).collect();
        let mut results = vec![self.b().bconst(true)];
        results.extend(self.lower.perform(id, &[iter], Some(slow)));
        self.b().jump(go, &results);
        self.b().switch_to(slow);
        let before = self.lower.published();
        self.publish();
        let slot = self.b().slot(8 * count.max(2) as u32);
        let buffer = self.b().stack_addr(slot);
        let mut operands = vec![self.lower.thread];
        for &imm in imms {
            operands.push(self.b().iconst(imm));
        }
        operands.extend([iter, buffer]);
        let status = self.call(op.info().name, &operands)[0];
        let failed = self.b().icmp_imm(IntCond::Slt, status, 0);
        self.exception_is_here_if(failed);
        let mut results = vec![self.b().icmp_imm(IntCond::Ne, status, 0)];
        for k in 0..count {
            results.push(self.b().load(Width::Ptr, buffer, 8 * k as i32));
        }
        self.b().jump(go, &results);
        self.b().switch_to(go);
        self.lower.forget_published(before);
        let outputs = outputs.into_iter().map(|v| self.lower.reference(v));
        let outputs = outputs.collect();
        self.lower.outputs.insert(self.v, outputs);
        more
    }

    /// True if both operands are exact ints.
    fn are_ints(&self) -> bool {
        [0, 1].into_iter().all(|i| {
            let ty = self.lower.f.ty(self.arg(i));
            ty <= Type::LONG_EXACT && !ty.is_bottom()
        })
    }

    /// A stack slot for `words` objects.
    fn array(&mut self, words: usize) -> i64 {
        let slot = self.b().slot(8 * words.max(1) as u32);
        self.lower.references_in(slot, words);
        slot
    }

    /// Stores objects into a stack slot. Returns its address.
    fn fill(&mut self, slot: i64, pointers: &[lir::Value]) -> lir::Value {
        let buffer = self.b().stack_addr(slot);
        for (i, &p) in pointers.iter().enumerate() {
            self.b().store(Width::Ptr, buffer, 8 * i as i32, p);
        }
        buffer
    }

    /// Appends to a list, in place if there is room. Otherwise a helper grows the list: it runs no
    /// user code, but may fail for lack of memory.
    fn append(&mut self) {
        let (list, item) = (self.object(0), self.object(1));
        let full = self.b().cold_block();
        let id = self.lower.host.intrinsic(names::LIST_APPEND);
        self.lower.perform(id, &[list, item], Some(full));
        if !self.is_made(1) {
            self.lower.count(names::INCREF, item);
        }
        let go = self.b().block();
        self.b().jump(go, &[]);
        self.b().switch_to(full);
        let before = self.lower.published();
        self.publish();
        let status = self.call(GeneralOp::ListAppend.info().name, &[list, item])[0];
        self.drop_made();
        let failed = self.b().icmp_imm(IntCond::Slt, status, 0);
        let raise = self.exception_is_here();
        self.b().br(failed, raise, &[], go, &[]);
        self.b().switch_to(go);
        self.lower.forget_published(before);
    }

    /// The result of an operator's method, unless that is NotImplemented.
    fn operator_rest(&mut self, imms: [i64; 2]) -> lir::Value {
        let given = self.passed_on(3);
        let declined = self.object(2);
        let (ask, go) = (self.b().cold_block(), self.b().block());
        let result = self.b().param(go, Ty::Ptr);
        let is_declined = self.b().icmp(IntCond::Eq, given, declined);
        self.b().br(is_declined, ask, &[], go, &[given]);
        self.b().switch_to(ask);
        let before = self.lower.published();
        self.publish();
        let mut operands = imms.map(|imm| self.b().iconst(imm)).to_vec();
        operands.extend([0, 1].map(|i| self.object(i)));
        let slot = self.array(1);
        let buffer = self.fill(slot, &[given]);
        operands.extend([declined, buffer, self.b().iconst(1)]);
        let rest = self.call(GeneralOp::OperatorRest.info().name, &operands)[0];
        self.drop_made();
        let failed = self.b().is_null(rest);
        let raise = self.exception_is_here();
        self.b().br(failed, raise, &[], go, &[rest]);
        self.b().switch_to(go);
        self.lower.forget_published(before);
        result
    }

    /// Calls a host function with the address of its operands. These are dropped before an
    /// exception propagates: the first one first, or those that are not `lent`, the last one first.
    pub(super) fn call_native(&mut self, call: &IntrinsicCall, lent: Option<u32>) -> lir::Value {
        self.publish();
        let count = self.args().len();
        let slot = self.array(count);
        let operands: Vec<lir::Value> = (0..count).map(|i| self.object(i)).collect();
        let buffer = self.fill(slot, &operands);
        let thread = self.lower.thread;
        let result = self.lower.host_call(call, vec![thread, buffer], None);
        let result = result.expect("a call gives an object");
        let mut order: Vec<usize> = (0..count).collect();
        if lent.is_some() {
            order.reverse();
        }
        let is_lent = |i: usize| lent.is_some_and(|lent| i < 32 && lent >> i & 1 != 0);
        for i in order {
            if self.is_made(i) {
                self.lower.drop_fresh(self.arg(i), operands[i]);
            } else if !is_lent(i) {
                self.lower.drop_operand(self.arg(i), operands[i]);
            }
        }
        let failed = self.b().is_null(result);
        self.exception_is_here_if(failed);
        result
    }

    /// A call of a `__next__` through the cell of its entry: null if it raises StopIteration.
    pub(super) fn call_next(&mut self, cell: u64) -> lir::Value {
        self.publish();
        let operands = [self.lower.thread, self.object(0), self.passed_on(1)];
        let result = self.lower.call_boxed(cell, &operands);
        let (none, go) = (self.b().cold_block(), self.b().block());
        let is_none = self.b().is_null(result);
        self.b().br(is_none, none, &[], go, &[]);
        self.b().switch_to(none);
        let before = self.lower.published();
        let thread = self.lower.thread;
        let status = self.call(GeneralOp::EndIteration.info().name, &[thread])[0];
        let failed = self.b().icmp_imm(IntCond::Slt, status, 0);
        let raise = self.exception_is_here();
        self.b().br(failed, raise, &[], go, &[]);
        self.b().switch_to(go);
        self.lower.forget_published(before);
        result
    }

    /// A call of a known function through the cell of its entry.
    pub(super) fn call_direct(&mut self, cell: u64) -> lir::Value {
        let operands = self.operands_of_call();
        let result = self.lower.call_boxed(cell, &operands);
        let failed = self.b().is_null(result);
        self.exception_is_here_if(failed);
        result
    }

    /// A call of a function that computes an attribute. The stack keeps the object alive.
    pub(super) fn call_getter(&mut self, cell: u64, receiver: u32, name: u32) -> lir::Value {
        let operands = self.operands_of_call();
        let result = self.lower.call_boxed(cell, &operands);
        let (failed, go) = (self.b().cold_block(), self.b().block());
        let is_null = self.b().is_null(result);
        self.b().br(is_null, failed, &[], go, &[]);
        self.b().switch_to(failed);
        let before = self.lower.published();
        // After the thread and the function.
        let object = operands[2 + receiver as usize];
        let completion = [self.lower.frame, self.b().iconst(name.into()), object];
        let status = self.call(GeneralOp::GetterRaised.info().name, &completion)[0];
        let failed = self.b().icmp_imm(IntCond::Slt, status, 0);
        let raise = self.exception_is_here();
        self.b().br(failed, raise, &[], go, &[]);
        self.b().switch_to(go);
        self.lower.forget_published(before);
        result
    }

    /// The operands of a call of an entry for objects.
    fn operands_of_call(&mut self) -> Vec<lir::Value> {
        self.publish();
        let mut operands = vec![self.lower.thread, self.object(0)];
        for i in 1..self.args().len() {
            operands.push(self.passed_on(i));
        }
        operands
    }
}

impl Lower<'_> {
    /// Calls through the cell of an entry for objects.
    pub(super) fn call_boxed(&mut self, cell: u64, operands: &[lir::Value]) -> lir::Value {
        let cell = self.b.pconst(cell);
        let entry = self.b.load(Width::Ptr, cell, 0);
        let sig = Signature {
            params: vec![Ty::Ptr; operands.len()],
            results: vec![Ty::Ptr],
        };
        let result = self.b.call_indirect(sig, entry, operands)[0];
        self.reference(result)
    }

    /// The values that the frame's words hold here.
    pub(super) fn published(&self) -> (Option<u32>, Shadows) {
        (self.position, self.shadows.clone())
    }

    /// At a join, keeps only the published values that both paths have stored.
    pub(super) fn forget_published(&mut self, (position, shadows): (Option<u32>, Shadows)) {
        self.shadows = shadows
            .into_iter()
            .filter(|(k, raw)| self.shadows.get(k) == Some(raw))
            .collect();
        self.position = position.filter(|p| self.position == Some(*p));
    }
}
