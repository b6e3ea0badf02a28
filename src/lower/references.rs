//! References to objects: taking them, dropping them, and deallocation after the last one.
//!
//! For example, `x = y` takes a reference to the object of `y` for the slot of `x`, and drops the
//! reference to the old object of `x`. If that was the last one, a `__del__` may run, and the unit
//! must check afterwards that it is still valid.

use super::routines::{MAX_TAKEN, size};
use super::{Lower, Repr, Routine, UnitValidity};
use crate::hir::{Op, Value};
use crate::host::{DEALLOC, FREE_LEAF, names};
use crate::lir::{self, IntCond, Opcode};
use crate::ll::{Ty, Width};
use crate::types::Type;

impl Lower<'_> {
    /// The slot of local `k` takes over a reference, or is emptied if the local has none.
    pub(super) fn store_slot(&mut self, k: u32, new: Value) {
        let old = std::mem::replace(&mut self.locals[k as usize], new);
        let offset = self.slot_offset(k);
        match self.repr(new) {
            Repr::Object => {
                let p = self.object(new).0;
                self.b.store(Width::Ptr, self.frame, offset, p);
            }
            _ if self.repr(old) == Repr::Object => {
                let null = self.b.pconst(0);
                self.b.store(Width::Ptr, self.frame, offset, null);
            }
            _ => {}
        }
    }

    pub(super) fn incref(&mut self, v: Value) {
        if self.needs_no_count(v) {
            return;
        }
        let p = self.object(v).0;
        self.unless_null(v, p, |s| s.count(names::INCREF, p));
    }

    /// Emits one call for the references that these instructions take in sequence. Returns the
    /// number of instructions that it replaces.
    pub(super) fn incref_all(&mut self, insts: &[Value]) -> usize {
        let mut taken = Vec::new();
        for &v in insts.iter().take(MAX_TAKEN) {
            let object = match self.f.op(v) {
                Op::Incref => self.f.arg(v, 0),
                _ => break,
            };
            if self.needs_no_count(object) || !(self.f.ty(object) <= Type::OBJECT) {
                break;
            }
            taken.push(object);
        }
        if taken.len() < 2 {
            return 0;
        }
        let incref = &self.host.intrinsics[self.host.intrinsic(names::INCREF)];
        let copied = taken.len() * size(&incref.func);
        let Some(routine) = self.called(Routine::IncrefAll(taken.len()), copied) else {
            return 0;
        };
        let operands: Vec<lir::Value> = taken.iter().map(|v| self.object(*v).0).collect();
        self.b.call_routine(routine, &operands);
        taken.len()
    }

    pub(super) fn decref(&mut self, v: Value, dropped: Value) {
        if self.needs_no_count(dropped) {
            self.is_accounted = true;
            return;
        }
        let p = self.object(dropped).0;
        if self.f.ty(dropped) == Type::FLOAT_EXACT | Type::LONG_EXACT {
            self.drop_number(dropped, p);
            return;
        }
        let name = self.silent_dealloc(dropped);
        if name.is_none() && self.drop_by_call(v, p) {
            return;
        }
        self.unless_null(dropped, p, |s| match name {
            Some(name) => s.count(name, p),
            None => s.drop_object(v, p),
        });
    }

    /// Deallocating a float or an int takes few instructions, so neither goes through its class.
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

    /// The intrinsic that drops a reference to an object whose deallocation runs no user code.
    fn silent_dealloc(&self, dropped: Value) -> Option<&'static str> {
        let ty = self.f.ty(dropped);
        if ty <= Type::FLOAT_EXACT {
            Some(names::DECREF_FLOAT)
        } else if ty <= Type::LONG_EXACT {
            Some(names::DECREF_INT)
        } else {
            (!self.f.drop_runs_host_code(dropped)).then_some(names::DECREF_LEAF)
        }
    }

    /// Drops a reference to a possibly null value by one call, where a call is preferred. The call
    /// includes the test for null, the frame's position and the check of validity. Not used if more
    /// of the frame must be published.
    fn drop_by_call(&mut self, v: Value, p: lir::Value) -> bool {
        if !self.publishes_position_alone(v) {
            return false;
        }
        let is_published = self.is_published(v) && self.check_after.is_none() && !self.wants_answer;
        let routine = if is_published {
            Routine::Drop
        } else if self.exits_if_user_code_ran() {
            Routine::DropUnseen
        } else {
            Routine::DropAt
        };
        let Some(routine) = self.called(routine, usize::MAX) else {
            return false;
        };
        let before = self.published();
        let position = self.published_at(v);
        if is_published {
            self.b.call_routine(routine, &[p]);
            return true;
        }
        let position = self.b.pconst(position);
        let mut operands = vec![p, self.frame, position];
        if !self.exits_if_user_code_ran() {
            operands.push(self.thread);
            operands.push(self.b.pconst(self.parts.cells));
        }
        let valid = self.b.call_routine(routine, &operands)[0];
        match self.check_after {
            Some(check) if self.stores_follow() => {
                let leave = self.b.cold_block();
                self.b.guard(valid, leave);
                let here = self.b.current();
                self.b.switch_to(leave);
                self.exit_after_drop(check);
                self.b.switch_to(here);
            }
            // An earlier drop of the same group may have run user code.
            Some(_) if self.exits_if_user_code_ran() => self.account(valid),
            Some(check) => {
                let exit = self.guard_exit(check);
                self.b.guard(valid, exit);
                self.checked = Some(check);
            }
            None if self.wants_answer => self.account(valid),
            None => {}
        }
        self.forget_published(before);
        true
    }

    /// Drops a reference to any object. Only where the object is deallocated is the frame
    /// published, and only there may the unit exit.
    fn drop_object(&mut self, v: Value, p: lir::Value) {
        let go = self.b.block();
        let loud = self.release(p, go);
        self.b.switch_to(loud);
        let before = self.published();
        self.publish(v);
        self.b.call(self.host.helper(DEALLOC), &[p], &[]);
        match self.check_after {
            Some(check) if self.exits_if_user_code_ran() => {
                self.exit_after_drop(check);
                match self.validity {
                    UnitValidity::Known(_) => self.is_accounted = true,
                    UnitValidity::Clean | UnitValidity::Unknown => self.checked = Some(check),
                }
                self.b.switch_to(go);
                (self.position, self.shadows) = before;
                return;
            }
            Some(check) => {
                let valid = self.still_valid();
                if self.stores_follow() {
                    let leave = self.b.cold_block();
                    self.b.br(valid, go, &[], leave, &[]);
                    self.b.switch_to(leave);
                    self.exit_after_drop(check);
                } else {
                    let exit = self.guard_exit(check);
                    self.b.br(valid, go, &[], exit, &[]);
                }
                self.checked = Some(check);
            }
            None => self.b.jump(go, &[]),
        }
        self.b.switch_to(go);
        self.forget_published(before);
    }

    /// The exit of a unit that can't continue after a drop: runs the instructions up to the check,
    /// then exits. A finaliser may have set slots of locals, and code that inspects the frame may
    /// have stored all its locals there. So objects are stored into slots, and the old contents
    /// dropped.
    fn exit_after_drop(&mut self, check: Value) {
        let locals = self.locals.clone();
        let before = self.published();
        let rest = std::mem::take(&mut self.rest_of_group);
        let mut done = Vec::new();
        for (i, &v) in rest.iter().enumerate() {
            let operand = self.f.arg(v, 0);
            if let Op::StoreSlot(k) = *self.f.op(v) {
                let new = self.object(operand).0;
                let known = std::mem::replace(&mut self.locals[k as usize], operand);
                let is_counted = !self.needs_no_count(known);
                let known = self.f.object_of(known);
                let mut drops = rest[i + 1..].iter().copied();
                let drop = drops.find(|drop| {
                    let is_drop = *self.f.op(*drop) == Op::Decref && !done.contains(drop);
                    is_drop && self.f.object_of(self.f.arg(*drop, 0)) == known
                });
                if let Some(drop) = drop {
                    self.publish(drop);
                    done.push(drop);
                } else if is_counted {
                    // The reference was moved to the stack.
                    let offset = self.slot_offset(k);
                    self.b.store(Width::Ptr, self.frame, offset, new);
                    continue;
                }
                self.replace_slot(k, new);
            } else if !done.contains(&v) && !self.needs_no_count(operand) {
                self.publish(v);
                let p = self.object(operand).0;
                self.drop_whatever(p);
            }
        }
        self.locals = locals;
        let exit = self.guard_exit(check);
        self.b.jump(exit, &[]);
        (self.position, self.shadows) = before;
    }

    /// Stores an object into the slot of a local, and drops the old content.
    fn replace_slot(&mut self, k: u32, new: lir::Value) {
        let offset = self.slot_offset(k);
        if let Some(routine) = self.called(Routine::Replace, usize::MAX) {
            let offset = self.b.iconst(i64::from(offset));
            let place = self.b.op(Opcode::Padd, &[self.frame, offset]);
            self.b.call_routine(routine, &[place, new]);
            return;
        }
        let old = self.b.load(Width::Ptr, self.frame, offset);
        self.b.store(Width::Ptr, self.frame, offset, new);
        self.drop_whatever(old);
    }

    /// Drops a reference to a possibly null value. The frame is published, and the unit exits
    /// afterwards.
    fn drop_whatever(&mut self, p: lir::Value) {
        if let Some(routine) = self.called(Routine::Drop, usize::MAX) {
            self.b.call_routine(routine, &[p]);
            return;
        }
        let (some, go) = (self.b.cold_block(), self.b.cold_block());
        let null = self.b.is_null(p);
        self.b.br(null, go, &[], some, &[]);
        self.b.switch_to(some);
        self.release_or_dealloc(p, go);
    }

    /// Returns true if the objects that these instructions store can be materialised there.
    pub(super) fn can_store_openly(&self, insts: &[Value]) -> bool {
        let is_unmade = |v: &Value| {
            let repr = self.repr(self.f.arg(*v, 0));
            matches!(repr, Repr::Virtual | Repr::Borrowed(_))
        };
        let mut stores = insts
            .iter()
            .filter(|v| matches!(self.f.op(**v), Op::StoreSlot(_)));
        self.closed.is_none() && !stores.any(is_unmade)
    }

    /// Returns true if locals are stored between this drop and its check.
    fn stores_follow(&self) -> bool {
        let mut rest = self.rest_of_group.iter();
        rest.any(|v| matches!(self.f.op(*v), Op::StoreSlot(_)))
    }

    /// Returns true if the check after the drop exits if user code ran.
    fn exits_if_user_code_ran(&self) -> bool {
        let check = self.check_after;
        check.is_some_and(|check| *self.f.op(check) == Op::CheckUnseen)
    }

    /// Exits if the drops right before may have run user code, and did not exit themselves.
    pub(super) fn check_unseen(&mut self, v: Value) {
        let unseen = match self.validity {
            UnitValidity::Clean => return,
            UnitValidity::Known(unseen) => unseen,
            UnitValidity::Unknown => self.b.bconst(false),
        };
        self.guard(v, unseen);
    }

    /// Drops a reference; exits before that if it is the last one.
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

    /// Drops the reference of a box that was allocated for one use.
    pub(super) fn drop_fresh(&mut self, v: Value, p: lir::Value) {
        match self.repr(v) {
            Repr::Double(_) => self.count(names::DECREF_FLOAT, p),
            Repr::Int(_) => self.count(names::DECREF_INT, p),
            Repr::IntIf(..) | Repr::DoubleIf(..) if self.is_counted => {
                self.unless_null(v, p, |s| s.count(names::DECREF_LEAF, p));
            }
            _ => {}
        }
    }

    /// Drops an operand of a call that has returned. The frame is published, and the unit is
    /// checked afterwards.
    pub(super) fn drop_operand(&mut self, operand: Value, p: lir::Value) {
        if self.needs_no_count(operand) {
            return;
        }
        if let Some(name) = self.silent_dealloc(operand) {
            return self.count(name, p);
        }
        let go = self.b.block();
        self.release_or_dealloc(p, go);
    }

    /// Drops a reference, deallocates the object if that was the last one, and continues at `go`.
    fn release_or_dealloc(&mut self, p: lir::Value, go: lir::Block) {
        let loud = self.release(p, go);
        self.b.switch_to(loud);
        self.b.call(self.host.helper(DEALLOC), &[p], &[]);
        self.b.jump(go, &[]);
        self.b.switch_to(go);
    }

    /// Drops a reference, and continues at `go`, unless deallocation may run user code: then at the
    /// returned cold block.
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
        // A deallocation without side effects needs no frame.
        let freed = self.b.call(self.host.helper(FREE_LEAF), &[p], &[Ty::I64])[0];
        let freed = self.b.icmp_imm(IntCond::Ne, freed, 0);
        self.b.br(freed, go, &[], loud, &[]);
        loud
    }

    /// Returns true if the value is not counted: raw values, virtual boxes, immortal objects, and
    /// all objects of a tracing host.
    fn needs_no_count(&self, v: Value) -> bool {
        let root = self.f.object_of(v);
        !self.is_counted
            || self.repr(v) != Repr::Object
            || matches!(self.f.op(root), Op::Const(o) if o.is_immortal())
            || *self.f.op(root) == Op::StrAt
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
