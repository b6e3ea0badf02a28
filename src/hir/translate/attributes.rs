//! Globals and attributes: plans of the world made into checks, loads and stores.

use crate::bytecode::{GeneralOp as G, Instr, Reason};
use crate::facts::Source;
use crate::facts::{AttrPlan, Global, IntrinsicCall, StorePlan};
use crate::hir::Op;
use crate::hir::build::Builder;
use crate::hir::function::{Entry, Value};
use crate::types::Type;

impl Builder<'_> {
    pub(super) fn load_global(&mut self, instr: &Instr) {
        let name = &self.code.names[instr.arg as usize];
        // What the code stores itself may be relied on only until then.
        let known = match self.code.rebinds(name) {
            true => None,
            false => self.world.global(self.code.globals, name),
        };
        match known {
            Some(global) => self.push_global(global),
            None => self.push_general(G::LoadGlobal, [instr.arg as i64, 0], 0),
        }
    }

    /// Push the value of a name that is watched.
    pub(in crate::hir) fn push_global(&mut self, global: Global) {
        self.assume(global.assumptions);
        let v = self.assumed(global.value);
        self.push_kept(v);
    }

    /// The receiver's type to plan for: proved, or hinted (then guarded by the caller).
    pub(super) fn receiver_type(&self, v: Value, instr: &Instr) -> Option<Type> {
        let ty = self.ty(v);
        if ty.as_object().is_some() || (ty.is_exact() && ty.runtime_class().is_some()) {
            return Some(ty);
        }
        // The receiver is the last operand: what is stored lies below it.
        let hint = *instr.hint.last()?;
        if hint.is_bottom() || hint == Type::OBJECT {
            return None;
        }
        let failed = self.avoid.contains(&(self.pc, Reason::Type))
            || self.avoid.contains(&(self.pc, Reason::Shape))
            || self.avoid.contains(&(self.pc, Reason::Identity));
        (!failed && hint.could_be(ty)).then_some(hint)
    }

    /// Check that `v` is what `ty` says: an object, or an instance of an exact class.
    pub(super) fn check_receiver(&mut self, v: Value, ty: Type) -> Value {
        match ty.as_object() {
            Some(object) if self.ty(v).as_object() != Some(object) => {
                let state = self.state();
                let g = self.emit_with(Op::GuardIs(object), vec![v], ty, Some(state));
                self.f.insts[g].source = Source::Guarded;
                g
            }
            Some(_) => v,
            None => self.guard_type(v, ty),
        }
    }

    pub(super) fn checks(&mut self, receiver: Value, guards: &[IntrinsicCall]) {
        let state = self.state();
        for guard in guards {
            self.emit_with(
                Op::Check(guard.clone()),
                vec![receiver],
                Type::BOTTOM,
                Some(state),
            );
        }
    }

    pub(super) fn load_attr(&mut self, instr: &Instr) {
        let as_method = instr.arg2 != 0;
        self.own_operands(1);
        let top = self.stack.len() - 1;
        let receiver = self.stack[top].value;
        let name = self.code.names[instr.arg as usize].clone();
        let plan = self
            .receiver_type(receiver, instr)
            .map(|ty| (ty, self.world.load_attr(ty, &name)))
            .unwrap_or((Type::OBJECT, AttrPlan::General));
        match plan {
            (
                ty,
                AttrPlan::Field {
                    guards,
                    load,
                    assumptions,
                },
            ) => {
                let g = self.check_receiver(receiver, ty);
                self.assume(assumptions);
                self.checks(g, &guards);
                let state = self.state();
                let v = self.emit_with(Op::Load(load), vec![g], Type::OBJECT, Some(state));
                self.emit(Op::Incref, vec![v], Type::BOTTOM);
                self.drop_top(1);
                self.push_owned(v);
                if as_method {
                    self.push_borrowed(self.null);
                }
            }
            (
                ty,
                AttrPlan::Constant {
                    guards,
                    value,
                    method,
                    assumptions,
                },
            ) if !method || as_method => {
                let g = self.check_receiver(receiver, ty);
                self.assume(assumptions);
                self.checks(g, &guards);
                self.f.rely_on(g);
                let v = self.assumed(value);
                let this = self.pop();
                self.push_kept(v);
                if method {
                    self.stack.push(this);
                } else {
                    self.drop_entry(this);
                    if as_method {
                        self.push_borrowed(self.null);
                    }
                }
            }
            _ if as_method => {
                let op = self.general(
                    G::LoadMethod,
                    [instr.arg as i64, 0],
                    vec![receiver],
                    Type::BOTTOM,
                );
                let callable = self.emit(Op::Output(0), vec![op], Type::OBJECT);
                let this = self.emit(Op::Output(1), vec![op], Type::OBJECT.opt());
                self.drop_top(1);
                self.push_owned(callable);
                self.push_owned(this);
            }
            _ => {
                let v = self.general_on_stack(G::LoadAttr, [instr.arg as i64, 0], 1);
                self.push_owned(v);
            }
        }
    }

    pub(super) fn store_attr(&mut self, instr: &Instr) {
        self.own_operands(2);
        let n = self.stack.len();
        let (value, receiver) = (self.stack[n - 2].value, self.stack[n - 1].value);
        let name = self.code.names[instr.arg as usize].clone();
        let plan = self
            .receiver_type(receiver, instr)
            .filter(|ty| ty.as_object().is_none())
            .map(|ty| (ty, self.world.store_attr(ty, &name)))
            .unwrap_or((Type::OBJECT, StorePlan::General));
        match plan {
            (
                ty,
                StorePlan::Field {
                    guards,
                    store,
                    assumptions,
                },
            ) => {
                let g = self.check_receiver(receiver, ty);
                self.assume(assumptions);
                self.checks(g, &guards);
                let state = self.state();
                let old = self.emit_with(
                    Op::Store(store),
                    vec![g, value],
                    Type::OBJECT.opt(),
                    Some(state),
                );
                self.pop();
                let receiver_entry = Entry {
                    value: receiver,
                    owned: true,
                };
                self.pop();
                self.decref(old);
                self.drop_entry(receiver_entry);
            }
            _ => {
                self.general(
                    G::StoreAttr,
                    [instr.arg as i64, 0],
                    vec![receiver, value],
                    Type::BOTTOM,
                );
                self.drop_top(2);
            }
        }
    }
}
