//! Call-outs: general operations through helpers, and calls of known functions.

use super::{Lower, Routine, Shadows};
use crate::hir::{GeneralOp, Gives, Value};
use crate::host::{DEALLOC, FREE_LEAF, IntrinsicCall, names};
use crate::lir::{self, IntCond, Signature};
use crate::ll::{Ty, Width};
use crate::types::Type;

impl Lower<'_> {
    pub(super) fn general(&mut self, v: Value, op: GeneralOp, imms: [i64; 2]) {
        let info = op.info();
        let args = self.f.inst(v).args.clone();
        if op == GeneralOp::ListAppend && self.f.ty(args[0]) <= Type::LIST_EXACT {
            return self.append(v, &args);
        }
        if op == GeneralOp::OperatorRest {
            return self.operator_rest(v, imms, &args);
        }
        // Nobody looks while a quiet helper runs; one that raises leaves its position for the traceback.
        if info.raises || !info.quiet {
            self.publish(v);
        }
        let mut operands = Vec::new();
        if info.thread {
            operands.push(self.thread);
        }
        if info.frame {
            operands.push(self.frame);
        }
        for &imm in &imms[..info.imms as usize] {
            operands.push(self.b.iconst(imm));
        }
        let (fixed, rest) = args.split_at(info.operands as usize);
        let mut fresh = Vec::new();
        for &a in fixed {
            let (p, made) = self.object(a);
            if made {
                fresh.push((a, p));
            }
            operands.push(p);
        }
        if info.variadic {
            let slot = self.b.slot(8 * rest.len().max(1) as u32);
            self.references_in(slot, rest.len());
            let pointers: Vec<lir::Value> = rest.iter().map(|&a| self.moved(a)).collect();
            let buffer = self.b.stack_addr(slot);
            for (i, p) in pointers.into_iter().enumerate() {
                self.b.store(Width::Ptr, buffer, 8 * i as i32, p);
            }
            operands.push(buffer);
            operands.push(self.b.iconst(rest.len() as i64));
        }
        let count = self.output_counts.get(&v).copied().unwrap_or(0);
        // The helper fills as many as its row says, read or not.
        let capacity = count.max(match op {
            GeneralOp::UnpackSequence => imms[0] as u32,
            GeneralOp::UnpackEx => ((imms[0] & 0xff) + (imms[0] >> 8) + 1) as u32,
            _ => 2,
        });
        let outputs = info.outputs.then(|| {
            let slot = self.b.slot(8 * capacity);
            self.b.stack_addr(slot)
        });
        operands.extend(outputs);
        let ty = if info.gives == Gives::Object {
            Ty::Ptr
        } else {
            Ty::I64
        };
        let helper = self.host.helper(info.name);
        let result = self.b.call(helper, &operands, &[ty])[0];
        for (a, p) in fresh {
            self.drop_fresh(a, p);
        }
        if info.raises {
            let failed = if info.gives == Gives::Object {
                self.b.is_null(result)
            } else {
                self.b.icmp_imm(IntCond::Slt, result, 0)
            };
            let raise = self.raise_target(v);
            let go = self.b.block();
            self.b.br(failed, raise, &[], go, &[]);
            self.b.switch_to(go);
        }
        match info.gives {
            Gives::Object => {
                self.reference(result);
                self.values.insert(v, result);
            }
            Gives::Bool | Gives::Next => {
                let truth = self.b.icmp_imm(IntCond::Ne, result, 0);
                self.values.insert(v, truth);
            }
            Gives::Nothing => {}
        }
        if let Some(buffer) = outputs {
            let loads = (0..count)
                .map(|i| {
                    let output = self.b.load(Width::Ptr, buffer, 8 * i as i32);
                    self.reference(output)
                })
                .collect();
            self.outputs.insert(v, loads);
        }
    }

    /// Append to a list: in place where there is room. What the helper does when there is none runs no code of the
    /// program, but may find no memory.
    fn append(&mut self, v: Value, args: &[Value]) {
        let (list, _) = self.object(args[0]);
        let (item, made) = self.object(args[1]);
        let full = self.b.cold_block();
        let host = self.host;
        let id = host.intrinsic(names::LIST_APPEND);
        self.perform(id, &[list, item], Some(full));
        if !made {
            self.count(names::INCREF, item);
        }
        let go = self.b.block();
        self.b.jump(go, &[]);
        self.b.switch_to(full);
        let (position, shadows) = (self.position, self.shadows.clone());
        self.publish(v);
        let helper = host.helper(GeneralOp::ListAppend.info().name);
        let status = self.b.call(helper, &[list, item], &[Ty::I64])[0];
        if made {
            self.drop_fresh(args[1], item);
        }
        let failed = self.b.icmp_imm(IntCond::Slt, status, 0);
        let raise = self.raise_target(v);
        self.b.br(failed, raise, &[], go, &[]);
        self.b.switch_to(go);
        self.forget_published(position, shadows);
    }

    /// What an operator's method has given, unless that says that it does not know such operands.
    fn operator_rest(&mut self, v: Value, imms: [i64; 2], args: &[Value]) {
        let given = self.moved(args[3]);
        let declined = self.object(args[2]).0;
        let (ask, go) = (self.b.cold_block(), self.b.block());
        let result = self.b.param(go, Ty::Ptr);
        let is_declined = self.b.icmp(IntCond::Eq, given, declined);
        self.b.br(is_declined, ask, &[], go, &[given]);
        self.b.switch_to(ask);
        let (position, shadows) = (self.position, self.shadows.clone());
        self.publish(v);
        let mut operands: Vec<lir::Value> = imms.iter().map(|&imm| self.b.iconst(imm)).collect();
        let mut fresh = Vec::new();
        for &a in &args[..2] {
            let (p, made) = self.object(a);
            if made {
                fresh.push((a, p));
            }
            operands.push(p);
        }
        let slot = self.b.slot(8);
        self.references_in(slot, 1);
        let buffer = self.b.stack_addr(slot);
        self.b.store(Width::Ptr, buffer, 0, given);
        operands.extend([declined, buffer, self.b.iconst(1)]);
        let helper = self.host.helper(GeneralOp::OperatorRest.info().name);
        let rest = self.b.call(helper, &operands, &[Ty::Ptr])[0];
        for (a, p) in fresh {
            self.drop_fresh(a, p);
        }
        let failed = self.b.is_null(rest);
        let raise = self.raise_target(v);
        self.b.br(failed, raise, &[], go, &[rest]);
        self.b.switch_to(go);
        self.forget_published(position, shadows);
        self.reference(result);
        self.values.insert(v, result);
    }

    /// A call of a function of the host's, by the address of its operands, which are let go before an exception goes on.
    pub(super) fn call_native(&mut self, v: Value, call: &IntrinsicCall) {
        let args = self.f.inst(v).args.clone();
        self.publish(v);
        let slot = self.b.slot(8 * args.len().max(1) as u32);
        self.references_in(slot, args.len());
        let operands: Vec<_> = args.iter().map(|&a| self.object(a)).collect();
        let buffer = self.b.stack_addr(slot);
        for (i, (p, _)) in operands.iter().enumerate() {
            self.b.store(Width::Ptr, buffer, 8 * i as i32, *p);
        }
        let result = self.host_call(call, vec![self.thread, buffer], None);
        let result = result.expect("a call gives an object");
        for (&a, (p, made)) in args.iter().zip(operands) {
            match made {
                true => self.drop_fresh(a, p),
                false => self.drop_operand(a, p),
            }
        }
        let failed = self.b.is_null(result);
        let raise = self.raise_target(v);
        let go = self.b.block();
        self.b.br(failed, raise, &[], go, &[]);
        self.b.switch_to(go);
        self.reference(result);
        self.values.insert(v, result);
    }

    /// Drop an operand of a call that has been made: the frame is true, and the unit is looked at afterwards.
    fn drop_operand(&mut self, operand: Value, p: lir::Value) {
        if self.needs_no_count(operand) {
            return;
        }
        if let Some(name) = self.unseen_end(operand) {
            return self.count(name, p);
        }
        let go = self.b.block();
        let loud = self.release(p, go);
        self.b.switch_to(loud);
        self.b.call(self.host.helper(DEALLOC), &[p], &[]);
        self.b.jump(go, &[]);
        self.b.switch_to(go);
    }

    pub(super) fn call_direct(&mut self, v: Value, cell: u64) {
        let args = self.f.inst(v).args.clone();
        self.publish(v);
        let mut operands = vec![self.thread, self.object(args[0]).0];
        for &a in &args[1..] {
            operands.push(self.moved(a));
        }
        let result = self.call_boxed(cell, &operands);
        let failed = self.b.is_null(result);
        let raise = self.raise_target(v);
        let go = self.b.block();
        self.b.br(failed, raise, &[], go, &[]);
        self.b.switch_to(go);
        self.values.insert(v, result);
    }

    /// Call through the cell of an entry for objects.
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

    /// Count a back edge, for the statistics.
    pub(super) fn count_iteration(&mut self) {
        self.count_at(self.parts.loop_counter);
    }

    /// Add one to the word at an address.
    pub(super) fn count_at(&mut self, word: u64) {
        let word = self.b.pconst(word);
        self.b.add_at(Width::I64, word, 0, 1);
    }

    /// Do pending work if there is any; leave if the unit must give way.
    pub(super) fn check_pending(&mut self, v: Value, exit: lir::Block) {
        let cell = self.b.pconst(self.parts.pending_cell);
        let quiet = self.intrinsic(names::NOTHING_PENDING, &[self.thread, cell])[0];
        let (slow, go) = (self.b.cold_block(), self.b.block());
        self.b.br(quiet, go, &[], slow, &[]);
        self.b.switch_to(slow);
        let (position, shadows) = (self.position, self.shadows.clone());
        self.publish(v);
        let helper = self.host.helper("handle_pending");
        let status = self.b.call(helper, &[self.thread], &[Ty::I64])[0];
        let failed = self.b.icmp_imm(IntCond::Slt, status, 0);
        let raise = self.raise_target(v);
        let done = self.b.cold_block();
        self.b.br(failed, raise, &[], done, &[]);
        self.b.switch_to(done);
        let quiet = self.intrinsic(names::NOTHING_PENDING, &[self.thread, cell])[0];
        let again = self.b.cold_block();
        self.b.br(quiet, again, &[], exit, &[]);
        self.b.switch_to(again);
        let valid = self.still_valid();
        self.b.br(valid, go, &[], exit, &[]);
        self.b.switch_to(go);
        (self.position, self.shadows) = (position, shadows);
        self.position = None;
    }

    pub(super) fn incref(&mut self, v: Value) {
        if self.needs_no_count(v) {
            return;
        }
        let p = self.object(v).0;
        self.unless_null(v, p, |s| s.count(names::INCREF, p));
    }

    pub(super) fn decref(&mut self, v: Value, dropped: Value) {
        if self.needs_no_count(dropped) {
            return;
        }
        let p = self.object(dropped).0;
        if self.f.ty(dropped) == Type::FLOAT_EXACT | Type::LONG_EXACT {
            self.drop_number(dropped, p);
            return;
        }
        let name = self.unseen_end(dropped);
        self.unless_null(dropped, p, |s| match name {
            Some(name) => s.count(name, p),
            None => s.drop_object(v, p),
        });
    }

    /// A float's end is short, and so is an int's: neither takes the way through its class.
    fn drop_number(&mut self, dropped: Value, p: lir::Value) {
        let (float, int, go) = (self.b.block(), self.b.block(), self.b.block());
        let is_float = self.is_class(dropped, &[Type::FLOAT_EXACT]);
        self.b.br(is_float, float, &[], int, &[]);
        for (side, name) in [(float, names::DECREF_FLOAT), (int, names::DECREF_INT)] {
            self.b.switch_to(side);
            self.count(name, p);
            self.b.jump(go, &[]);
        }
        self.b.switch_to(go);
    }

    /// How a reference to an object is dropped whose end runs no code of the program.
    fn unseen_end(&self, dropped: Value) -> Option<&'static str> {
        let ty = self.f.ty(dropped);
        if ty <= Type::FLOAT_EXACT {
            Some(names::DECREF_FLOAT)
        } else if ty <= Type::LONG_EXACT {
            Some(names::DECREF_INT)
        } else {
            (!self.f.drop_runs_host_code(dropped)).then_some(names::DECREF_LEAF)
        }
    }

    /// Drop a reference to any object. The frame is made true for others only where the object dies, and only there the
    /// unit may end.
    fn drop_object(&mut self, v: Value, p: lir::Value) {
        let go = self.b.block();
        let loud = self.release(p, go);
        self.b.switch_to(loud);
        let (position, shadows) = (self.position, self.shadows.clone());
        self.publish(v);
        self.b.call(self.host.helper(DEALLOC), &[p], &[]);
        match self.check_after {
            Some(check) => {
                let valid = self.still_valid();
                let exit = self.guard_exit(check);
                self.b.br(valid, go, &[], exit, &[]);
                self.checked = Some(check);
            }
            None => self.b.jump(go, &[]),
        }
        self.b.switch_to(go);
        self.forget_published(position, shadows);
    }

    /// Drop a reference, and exit if it is the last one, before that.
    pub(super) fn drop_shared(&mut self, v: Value, dropped: Value) {
        if self.needs_no_count(dropped) {
            return;
        }
        let p = self.object(dropped).0;
        let exit = self.guard_exit(v);
        self.unless_null(dropped, p, |s| {
            let last = s.b.cold_block();
            s.perform(s.host.intrinsic(names::DROP), &[p], Some(last));
            let here = s.b.current();
            s.b.switch_to(last);
            s.count(names::INCREF, p);
            s.b.jump(exit, &[]);
            s.b.switch_to(here);
        });
    }

    /// Drop a reference, and go to `go` unless the object's end may be noticed: then to the cold block that this gives.
    fn release(&mut self, p: lir::Value, go: lir::Block) -> lir::Block {
        let loud = self.b.cold_block();
        if let Some(routine) = self.called(Routine::Release, usize::MAX) {
            let done = self.b.call_routine(routine, &[p]);
            self.b.br(done[0], go, &[], loud, &[]);
            return loud;
        }
        let last = self.b.cold_block();
        let id = self.host.intrinsic(names::DROP);
        self.perform(id, &[p], Some(last));
        self.b.jump(go, &[]);
        self.b.switch_to(last);
        // What dies unseen needs no frame.
        let freed = self.b.call(self.host.helper(FREE_LEAF), &[p], &[Ty::I64])[0];
        let freed = self.b.icmp_imm(IntCond::Ne, freed, 0);
        self.b.br(freed, go, &[], loud, &[]);
        loud
    }

    /// Where a path that has published meets one that has not, only what both have stored holds.
    fn forget_published(&mut self, position: Option<u32>, shadows: Shadows) {
        self.shadows = shadows
            .into_iter()
            .filter(|(k, raw)| self.shadows.get(k) == Some(raw))
            .collect();
        self.position = position.filter(|p| self.position == Some(*p));
    }

    /// Raw values, boxes not made, immortal objects, and what a collector traces are not counted.
    fn needs_no_count(&self, v: Value) -> bool {
        let root = self.f.object_of(v);
        !self.is_counted
            || self.repr(v) != super::Repr::Object
            || matches!(self.f.op(root), crate::hir::Op::Const(o) if o.is_immortal())
            || (!self.f.ty(v).is_bottom()
                && self.f.ty(v) <= (Type::BOOL | Type::NONE_TYPE | Type::NULLPTR))
    }

    pub(super) fn unless_null(&mut self, v: Value, p: lir::Value, then: impl FnOnce(&mut Self)) {
        if self.f.ty(v) <= Type::OBJECT {
            then(self);
            return;
        }
        let null = self.b.is_null(p);
        let (some, go) = (self.b.block(), self.b.block());
        self.b.br(null, go, &[], some, &[]);
        self.b.switch_to(some);
        then(self);
        self.b.jump(go, &[]);
        self.b.switch_to(go);
    }
}
