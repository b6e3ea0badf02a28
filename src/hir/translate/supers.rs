//! `super().name`: an attribute from the classes after the code's own in an instance's method
//! resolution order, found when the code is compiled.
//!
//! The code relies on three facts: `super` is the builtin, the class (from the closure's cell
//! `__class__`) is the expected one, and the instance is of a class that has a plan. No `super`
//! object and no bound method is allocated.

use crate::bytecode::{GeneralOp as G, Instr, Reason};
use crate::facts::{AccessKind, AttrPlan, Binds, Builtin, Callee};
use crate::hir::Op;
use crate::hir::build::Builder;
use crate::hir::function::Value;
use crate::hir::translate::dispatch::{Expected, Site, is_one_class, site};
use crate::types::{ObjectHandle, Type};

impl Builder<'_> {
    pub(super) fn load_super_attr(&mut self, instr: &Instr) {
        let as_method = instr.arg2 & 1 != 0;
        self.take_operands(3);
        let Some(class) = self.class_of_super(instr) else {
            return self.load_super_generally(instr);
        };
        let receiver = self.stack[self.stack.len() - 1].value;
        let name = self.code.names[instr.arg as usize].clone();
        let plans = self
            .receivers_of_super(receiver, instr)
            .into_iter()
            .map(|expected| {
                let plan = self.world.load_super(class, expected.ty, &name);
                let usable = match plan {
                    AttrPlan::Constant { binds, .. } => binds == Binds::Nothing || as_method,
                    AttrPlan::Getter { function, .. } => {
                        !as_method && self.method_of(function, 1).is_some()
                    }
                    AttrPlan::General
                    | AttrPlan::Field { .. }
                    | AttrPlan::Absent { .. }
                    | AttrPlan::Computed { .. } => false,
                };
                (expected, usable.then_some(plan))
            })
            .collect();
        let site = site(plans, self.world);
        if matches!(site, Site::General) {
            return self.load_super_generally(instr);
        }
        let place = self.stack.len() - 2;
        let known = self.check_receiver(self.stack[place].value, Type::from_object(class));
        self.f.rely_on(known);
        match site {
            Site::General => {}
            Site::One(types, plan) => {
                let g = self.check_receivers(receiver, types);
                self.count_access(self.kind_of_access(receiver));
                self.f.rely_on(g);
                self.super_by_plan(plan, as_method);
            }
            Site::Several(arms) => {
                let both = [Type::OBJECT, Type::OBJECT.opt()];
                self.dispatch(
                    receiver,
                    arms,
                    &both[..1 + as_method as usize],
                    |b, plan| {
                        b.count_access(AccessKind::Polymorphic);
                        b.super_by_plan(plan, as_method);
                    },
                    |b| b.load_super_generally(instr),
                );
            }
        }
    }

    /// The class after which the search begins, if it is known or speculated, and if `super` is the
    /// builtin.
    fn class_of_super(&self, instr: &Instr) -> Option<ObjectHandle> {
        let [super_, class, _] = self.top_values(3)[..] else {
            return None;
        };
        let builtin = Callee::Builtin(Builtin::Super);
        let is_super = self.world.callee(self.ty(super_).as_object()?) == builtin;
        let failed = self.avoids(Reason::Identity);
        let hinted = || instr.hint.get(1).filter(|_| !failed)?.as_object();
        let class = self.ty(class).as_object().or_else(hinted);
        class.filter(|_| is_super)
    }

    /// The classes to plan for: the proved class of the instance, or else the observed classes and
    /// the one of the hint.
    fn receivers_of_super(&self, v: Value, instr: &Instr) -> Vec<Expected> {
        let one = |ty: &&Type| is_one_class(**ty);
        if is_one_class(self.ty(v)) {
            return vec![Expected::seen(self.ty(v))];
        }
        if self.avoids(Reason::Type) {
            return Vec::new();
        }
        let met = self.met.get(&self.pc);
        let own = self.hints.get(&v).into_iter();
        let seen = own.chain(met.iter().flat_map(|m| &m.seen)).filter(one);
        let mut found: Vec<Expected> = Vec::new();
        let mut types: Vec<Type> = Vec::new();
        let below = met.iter().flat_map(|m| &m.related);
        let likely = instr.hint.get(2).into_iter().chain(below).filter(one);
        for (&ty, guess) in seen.map(|t| (t, false)).chain(likely.map(|t| (t, true))) {
            if types.contains(&ty) || !ty.could_be(self.ty(v)) {
                continue;
            }
            types.push(ty);
            // If no class was observed, the code's own class counts as observed.
            found.push(match guess && !found.is_empty() {
                true => Expected::guessed(ty),
                false => Expected::seen(ty),
            });
        }
        found
    }

    /// Load from an instance of a class that the plan is for; the operands are on the stack.
    fn super_by_plan(&mut self, plan: AttrPlan, as_method: bool) {
        match plan {
            AttrPlan::Constant {
                value,
                binds,
                assumptions,
                ..
            } => {
                self.assume(assumptions);
                let v = self.assumed(value);
                let (this, class, super_) = (self.pop(), self.pop(), self.pop());
                self.push_kept(v);
                self.push_bound(this, binds, as_method);
                self.drop_entry(class);
                self.drop_entry(super_);
            }
            AttrPlan::Getter {
                function,
                assumptions,
            } => {
                let (entry_cell, more) = self.method_of(function, 1).expect("it was asked for");
                self.assume(assumptions);
                self.assume(more);
                let function = self.assumed(function);
                // The stack keeps the operands until the getter has returned, in addition to its
                // own reference.
                let this = self.stack[self.stack.len() - 1].value;
                if self.is_counted(this) {
                    self.emit(Op::Incref, vec![this], Type::BOTTOM);
                }
                let state = self.state();
                let args = vec![function, this];
                let v = self.emit_raising(Op::CallDirect(entry_cell), args, Type::OBJECT, state);
                self.drop_top(3);
                self.push_owned(v);
            }
            AttrPlan::General
            | AttrPlan::Field { .. }
            | AttrPlan::Absent { .. }
            | AttrPlan::Computed { .. } => {
                unreachable!("no plan")
            }
        }
    }

    fn load_super_generally(&mut self, instr: &Instr) {
        let args = self.top_values(3);
        let imms = [instr.arg as i64, instr.arg2 as i64];
        let op = self.general(G::LoadSuperAttr, imms, args, Type::BOTTOM);
        let attr = self.emit(Op::Output(0), vec![op], Type::OBJECT);
        let this = self.emit(Op::Output(1), vec![op], Type::OBJECT.opt());
        self.drop_top(3);
        self.push_owned(attr);
        if instr.arg2 & 1 != 0 {
            self.push_owned(this);
        }
    }
}
