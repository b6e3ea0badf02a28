//! `hasattr` and `getattr` with a constant name: what an access plan answers, without the call.
//!
//! For example, `hasattr(node, "children")` with nodes of two classes, one of which has such a slot
//! and one of which has no such attribute, is a test of the class, and a load of the slot.

use crate::bytecode::{ConstValue, Op as B, Pc, Reason};
use crate::facts::{AttrPlan, Binds, Builtin, Callee};
use crate::hir::Op;
use crate::hir::build::Builder;
use crate::hir::function::Value;
use crate::hir::translate::dispatch::{Expected, Site, is_one_class, site};
use crate::types::{ObjectHandle, Type};

impl Builder<'_> {
    /// A call of `hasattr` or `getattr` with `n` arguments, if the classes of the object are
    /// expected, and the access to an attribute of this name is known for each of them. Otherwise
    /// returns false and does nothing.
    pub(super) fn attribute_by_name(
        &mut self,
        builtin: Builtin,
        object: ObjectHandle,
        base: usize,
        n: usize,
    ) -> bool {
        let is_test = builtin == Builtin::HasAttr;
        let has_default = n == 3;
        if !(n == 2 || n == 3 && !is_test) {
            return false;
        }
        let [receiver, name] = [base + 2, base + 3].map(|i| self.stack[i].value);
        let Some(name) = self.text_of(name) else {
            return false;
        };
        let plans = self.classes_of_argument(receiver).into_iter();
        let plans = plans.map(|expected| {
            let plan = self.world.load_attr(expected.ty, &name);
            let usable = match plan {
                AttrPlan::Field { .. } => true,
                AttrPlan::Constant { binds, .. } => is_test || binds == Binds::Nothing,
                AttrPlan::Absent { .. } => is_test || has_default,
                AttrPlan::General | AttrPlan::Getter { .. } | AttrPlan::Computed { .. } => false,
            };
            (expected, usable.then_some(plan))
        });
        let site = site(plans.collect(), self.world);
        if matches!(site, Site::General) {
            return false;
        }
        self.own_operands(n + 2);
        match site {
            Site::General => {}
            Site::One(types, plan) => {
                let receiver = self.check_receivers(receiver, types);
                self.f.rely_on(receiver);
                self.answer_by_plan(receiver, plan, is_test, n + 2);
            }
            Site::Several(arms) => {
                let result = match is_test {
                    true => Type::BOOL,
                    false => Type::OBJECT,
                };
                self.dispatch(
                    receiver,
                    arms,
                    &[result],
                    |b, plan| b.answer_by_plan(receiver, plan, is_test, n + 2),
                    |b| {
                        let callee = Callee::Builtin(builtin);
                        if !b.call_native(object, &callee, base, n, None) {
                            b.call_generally(base, n, None);
                        }
                        if is_test {
                            let top = b.stack.len() - 1;
                            let v = b.stack[top].value;
                            b.stack[top].value = b.emit(Op::Refine(result), vec![v], result);
                        }
                    },
                );
            }
        }
        true
    }

    /// Replaces the `count` operands of a call by the attribute, or by the truth that there is one.
    fn answer_by_plan(&mut self, receiver: Value, plan: AttrPlan, is_test: bool, count: usize) {
        let is_there = !matches!(plan, AttrPlan::Absent { .. });
        let found = match plan {
            AttrPlan::Field {
                guards,
                load,
                assumptions,
                ..
            } => {
                self.assume(assumptions);
                self.checks(receiver, &guards);
                Some(self.load_from(load, receiver, Type::OBJECT))
            }
            AttrPlan::Constant {
                guards,
                value,
                assumptions,
                ..
            } => {
                self.assume(assumptions);
                self.checks(receiver, &guards);
                (!is_test).then(|| self.assumed(value))
            }
            AttrPlan::Absent {
                guards,
                assumptions,
            } => {
                self.assume(assumptions);
                self.checks(receiver, &guards);
                // The default.
                Some(self.stack[self.stack.len() - 1].value)
            }
            AttrPlan::General | AttrPlan::Getter { .. } | AttrPlan::Computed { .. } => {
                unreachable!("no plan")
            }
        };
        match found.filter(|_| !is_test) {
            Some(v) => {
                if self.is_counted(v) {
                    self.emit(Op::Incref, vec![v], Type::BOTTOM);
                }
                self.drop_top(count);
                self.push_owned(v);
            }
            None => {
                let v = self.emit(Op::ConstBool(is_there), vec![], Type::CBOOL);
                self.drop_top(count);
                self.push_bool(v);
            }
        }
    }

    /// The classes that are expected of an argument of a call: that of the value, or those that the
    /// local had from which the argument is loaded.
    fn classes_of_argument(&self, v: Value) -> Vec<Expected> {
        let known = self.ty(v);
        if known.as_object().is_some() || is_one_class(known) {
            return vec![Expected::seen(known)];
        }
        if self.avoids(Reason::Type) || self.avoids(Reason::Shape) {
            return Vec::new();
        }
        if let Op::New(ty, _) = self.f.op(self.f.object_of(v)) {
            return vec![Expected::seen(*ty)];
        }
        let hint = self.hints.get(&v).copied();
        let met = self.load_of_argument().and_then(|pc| self.met.get(&pc));
        let seen = met.iter().flat_map(|met| met.seen.iter().copied());
        let mut types: Vec<Expected> = Vec::new();
        for ty in seen.chain(hint) {
            let is_new = !types.iter().any(|t| t.ty == ty);
            if is_one_class(ty) && ty.as_object().is_none() && ty.could_be(known) && is_new {
                types.push(Expected::seen(ty));
            }
        }
        types
    }

    /// The load of the first argument of the call here, if the others are loaded by one instruction
    /// each.
    fn load_of_argument(&self) -> Option<Pc> {
        let count = self.code.instr(self.pc).arg;
        let pc = Pc(self.pc.0.checked_sub(count)?);
        let load = self.code.instr(pc).op;
        matches!(load, B::LoadFast | B::LoadFastBorrow).then_some(pc)
    }

    /// The text of a constant string.
    fn text_of(&self, v: Value) -> Option<String> {
        let Op::Const(object) = *self.f.op(self.f.object_of(v)) else {
            return None;
        };
        match self.world.value(object) {
            ConstValue::Str(text) => Some(text.to_string()),
            _ => None,
        }
    }
}
