//! Globals and attributes: the plans of the `World` become checks, loads and stores.

use crate::bytecode::{GeneralOp as G, Instr, Reason};
use crate::facts::Source;
use crate::facts::{
    AccessKind, Assumption, AttrPlan, Binds, Callee, GetterArg, Global, IntrinsicCall, StorePlan,
};
use crate::hir::Op;
use crate::hir::build::{Builder, Unsupported};
use crate::hir::function::{Entry, Value};
use crate::hir::translate::dispatch::{Expected, Site, is_one_class, site};
use crate::types::{ObjectHandle, Type};

impl Builder<'_> {
    pub(super) fn load_global(&mut self, instr: &Instr) {
        let name = &self.code.names[instr.arg as usize];
        // A name that the code itself stores is not relied on: its value changes with that store.
        let known = match self.code.rebinds(name) {
            true => None,
            false => self.world.global(self.code.globals, name),
        };
        if let Some(global) = known {
            return self.push_global(global);
        }
        let load = match self.avoids(Reason::Name) {
            true => None,
            false => self.world.global_get(self.code.globals, name),
        };
        match load {
            Some(load) => {
                let state = self.state();
                let op = Op::GlobalGet(load);
                let v = self.emit_with(op, Vec::new(), Type::OBJECT, Some(state));
                self.emit(Op::Incref, vec![v], Type::BOTTOM);
                self.push_owned(v);
            }
            None => self.push_general(G::LoadGlobal, [instr.arg as i64, 0], 0),
        }
    }

    /// Push the value of a name that is watched.
    pub(in crate::hir) fn push_global(&mut self, global: Global) {
        self.assume(global.assumptions);
        let v = self.assumed(global.value);
        self.push_kept(v);
    }

    /// Check that `v` is the object that `ty` names, or an instance of its exact class.
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

    /// Loads a part of an object, borrowed.
    pub(super) fn load_from(&mut self, load: IntrinsicCall, object: Value, ty: Type) -> Value {
        let state = self.state();
        self.emit_with(Op::Load(load), vec![object], ty, Some(state))
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

    pub(super) fn load_attr(&mut self, instr: &Instr) -> Result<(), Unsupported> {
        let as_method = instr.arg2 != 0;
        self.own_operands(1);
        let receiver = self.stack[self.stack.len() - 1].value;
        let name = self.code.names[instr.arg as usize].clone();
        let mut types = self.receiver_types(receiver, instr);
        if types.is_empty() {
            types.extend(self.expected_to_bind(receiver, &name));
        }
        let plans = types
            .into_iter()
            .map(|expected| {
                let plan = self.world.load_attr(expected.ty, &name);
                let usable = match plan {
                    AttrPlan::General | AttrPlan::Absent { .. } => false,
                    AttrPlan::Field { .. } => true,
                    AttrPlan::Constant { binds, value, .. } => {
                        binds == Binds::Nothing || as_method || can_be_bound(value)
                    }
                    AttrPlan::Getter { function, .. } => {
                        !as_method && self.method_of(function, 1).is_some()
                    }
                    AttrPlan::Computed {
                        function, ref args, ..
                    } => self.method_of(function, args.len()).is_some(),
                };
                (expected, usable.then_some(plan))
            })
            .collect();
        match site(plans, self.world) {
            Site::General => self.load_generally(instr, receiver),
            Site::One(types, plan) => {
                let g = self.check_receivers(receiver, types);
                self.count_access(self.kind_of_access(receiver));
                if !matches!(plan, AttrPlan::Field { .. }) {
                    self.f.rely_on(g);
                }
                self.load_by_plan(g, plan, as_method);
            }
            Site::Several(arms) if let Some(call) = self.call_ahead().filter(|_| as_method) => {
                self.load_and_call(instr, receiver, arms, call)?;
            }
            Site::Several(arms) => {
                let methods = arms
                    .iter()
                    .filter_map(|(_, plan)| match plan {
                        AttrPlan::Constant {
                            value,
                            binds: Binds::Receiver | Binds::Object(_),
                            ..
                        } => Some(*value),
                        _ => None,
                    })
                    .collect();
                let both = [Type::OBJECT, Type::OBJECT.opt()];
                let results = self.dispatch(
                    receiver,
                    arms,
                    &both[..1 + as_method as usize],
                    |b, plan| b.load_polymorphic(receiver, plan, as_method),
                    |b| b.load_generally(instr, receiver),
                );
                if as_method {
                    self.candidates.insert(results[0], methods);
                }
            }
        }
        Ok(())
    }

    /// Load in the arm for some of several classes.
    pub(super) fn load_polymorphic(&mut self, receiver: Value, plan: AttrPlan, as_method: bool) {
        self.count_access(AccessKind::Polymorphic);
        self.load_by_plan(receiver, plan, as_method);
    }

    /// Count an access that follows a plan, if the host counts them.
    pub(super) fn count_access(&mut self, kind: AccessKind) {
        if let Some(word) = self.world.access_counter(kind) {
            self.emit(Op::Count(word), vec![], Type::BOTTOM);
        }
    }

    /// The kind of access by the only plan of a site for this receiver: watched if the class is
    /// proved, guarded otherwise.
    pub(super) fn kind_of_access(&self, receiver: Value) -> AccessKind {
        let ty = self.ty(receiver);
        match ty.as_object().is_some() || is_one_class(ty) {
            true => AccessKind::Watched,
            false => AccessKind::Guarded,
        }
    }

    /// The one class that was observed of a receiver elsewhere, unless speculation on it has failed
    /// here.
    fn hinted_class(&self, receiver: Value) -> Option<Type> {
        if self.avoids(Reason::Type) || self.avoids(Reason::Shape) {
            return None;
        }
        let fits = |ty: &Type| is_one_class(*ty) && ty.could_be(self.ty(receiver));
        self.hints.get(&receiver).copied().filter(fits)
    }

    /// The class that was observed of a receiver elsewhere, where the access itself has no profile
    /// and the attribute is a property or a method of the class. A host may stop profiling
    /// properties whose getters are compiled, and does not profile methods that are loaded without
    /// a call.
    fn expected_to_bind(&self, receiver: Value, name: &str) -> Option<Expected> {
        let hint = self.hinted_class(receiver)?;
        let plan = self.world.load_attr(hint, name);
        let binds = match plan {
            AttrPlan::Getter { .. } | AttrPlan::Computed { .. } => true,
            AttrPlan::Constant { binds, value, .. } => {
                binds != Binds::Nothing && can_be_bound(value)
            }
            _ => false,
        };
        binds.then(|| Expected::seen(hint))
    }

    /// The class that was observed of a receiver elsewhere, where the attribute that is stored is a
    /// property of the class: the interpreter does not profile such a store.
    fn expected_to_set(&self, receiver: Value, name: &str) -> Option<Expected> {
        let hint = self.hinted_class(receiver)?;
        let plan = self.world.store_attr(hint, name);
        matches!(plan, StorePlan::Setter { .. }).then(|| Expected::seen(hint))
    }

    /// Load from a receiver of a class that the plan is for.
    fn load_by_plan(&mut self, receiver: Value, plan: AttrPlan, as_method: bool) {
        match plan {
            AttrPlan::General | AttrPlan::Absent { .. } => unreachable!("no plan"),
            AttrPlan::Field {
                guards,
                load,
                now,
                assumptions,
            } => {
                self.assume(assumptions);
                self.checks(receiver, &guards);
                let v = self.load_from(load, receiver, Type::OBJECT);
                if let Some(function) = now {
                    self.hints.insert(v, Type::from_object(function));
                }
                self.emit(Op::Incref, vec![v], Type::BOTTOM);
                self.drop_top(1);
                self.push_owned(v);
                if as_method {
                    self.push_borrowed(self.null);
                }
            }
            AttrPlan::Getter {
                function,
                assumptions,
            } => {
                let (entry_cell, more) = self.method_of(function, 1).expect("it was asked for");
                self.assume(assumptions);
                self.assume(more);
                let function = self.assumed(function);
                // The callee owns the receiver from here on.
                self.take_operands(1);
                let state = self.state_without(1);
                let this = self.pop();
                let args = vec![function, this.value];
                let v = self.emit_raising(Op::CallDirect(entry_cell), args, Type::OBJECT, state);
                self.push_owned(v);
            }
            AttrPlan::Computed {
                guards,
                function,
                args,
                assumptions,
            } => {
                self.assume(assumptions);
                self.checks(receiver, &guards);
                self.load_computed(receiver, function, &args);
                if as_method {
                    self.push_borrowed(self.null);
                }
            }
            AttrPlan::Constant {
                guards,
                value,
                binds,
                assumptions,
            } => {
                self.assume(assumptions);
                self.checks(receiver, &guards);
                let v = self.assumed(value);
                if binds != Binds::Nothing && !as_method {
                    return self.bind_method(v, binds);
                }
                let this = self.pop();
                self.push_kept(v);
                self.push_bound(this, binds, as_method);
            }
        }
    }

    /// Replace the receiver on top of the stack by the result of the function that computes the
    /// attribute. The stack keeps the receiver until it has returned, in addition to the function's
    /// own references.
    fn load_computed(&mut self, receiver: Value, function: ObjectHandle, args: &[GetterArg]) {
        let (entry_cell, more) = self
            .method_of(function, args.len())
            .expect("the plan is usable");
        self.assume(more);
        let mut operands = vec![self.assumed(function)];
        for arg in args {
            let operand = match arg {
                GetterArg::Receiver => receiver,
                GetterArg::Constant(object) => self.assumed(*object),
            };
            if self.is_counted(operand) {
                self.emit(Op::Incref, vec![operand], Type::BOTTOM);
            }
            operands.push(operand);
        }
        let place = args.iter().position(|arg| *arg == GetterArg::Receiver);
        let place = place.expect("the object is an argument") as u32;
        let name = self.code.instr(self.pc).arg;
        let state = self.state();
        let call = Op::CallGetter(entry_cell, place, name);
        let v = self.emit_raising(call, operands, Type::OBJECT, state);
        self.drop_top(1);
        self.push_owned(v);
    }

    /// Replace the receiver on top of the stack by a bound method: a constant bound to the
    /// receiver, or to another object if the plan names one (a class, for a class method).
    fn bind_method(&mut self, function: Value, binds: Binds) {
        if let Some(object) = binds.object() {
            let object = self.assumed(object);
            let this = self.pop();
            self.push_kept(object);
            self.drop_entry(this);
        }
        self.take_operands(1);
        let state = self.state();
        let this = self.stack[self.stack.len() - 1].value;
        let ty = match self.ty(function) <= Type::FUNC {
            true => Type::METHOD,
            false => Type::BUILTIN_METHOD_EXACT,
        };
        let method = self.emit_with(Op::BindMethod, vec![function, this], ty, Some(state));
        self.forget_top(1);
        self.push_owned(method);
    }

    /// Push the object to which the constant on top of the stack is bound, in place of the
    /// receiver.
    pub(super) fn push_bound(&mut self, this: Entry, binds: Binds, as_method: bool) {
        match binds {
            Binds::Receiver => return self.stack.push(this),
            Binds::Object(object) => {
                let object = self.assumed(object);
                self.push_kept(object);
            }
            Binds::Nothing if as_method => self.push_borrowed(self.null),
            Binds::Nothing => {}
        }
        self.drop_entry(this);
    }

    /// The entry of a function that takes exactly `count` objects, and the assumptions about it.
    pub(super) fn method_of(
        &self,
        function: ObjectHandle,
        count: usize,
    ) -> Option<(u64, Vec<Assumption>)> {
        match self.world.callee(function) {
            Callee::Function {
                params,
                entry_cell,
                assumptions,
                ..
            } if params.takes_just(count) => Some((entry_cell, assumptions)),
            _ => None,
        }
    }

    pub(super) fn load_generally(&mut self, instr: &Instr, receiver: Value) {
        let imms = [instr.arg as i64, 0];
        if instr.arg2 == 0 {
            let v = self.general_on_stack(G::LoadAttr, imms, 1);
            return self.push_owned(v);
        }
        let op = self.general(G::LoadMethod, imms, vec![receiver], Type::BOTTOM);
        let callable = self.emit(Op::Output(0), vec![op], Type::OBJECT);
        let this = self.emit(Op::Output(1), vec![op], Type::OBJECT.opt());
        self.drop_top(1);
        self.push_owned(callable);
        self.push_owned(this);
    }

    pub(super) fn store_attr(&mut self, instr: &Instr) {
        self.own_operands(2);
        let receiver = self.stack[self.stack.len() - 1].value;
        let name = self.code.names[instr.arg as usize].clone();
        let mut types = self.receiver_types(receiver, instr);
        if types.is_empty() {
            types.extend(self.expected_to_set(receiver, &name));
        }
        let plans = types
            .into_iter()
            .filter(|expected| expected.ty.as_object().is_none())
            .map(|expected| {
                let plan = self.world.store_attr(expected.ty, &name);
                let usable = match plan {
                    StorePlan::General => false,
                    StorePlan::Field { .. } => true,
                    StorePlan::Setter {
                        function,
                        descriptor,
                        ..
                    } => {
                        let count = 2 + usize::from(descriptor.is_some());
                        self.method_of(function, count).is_some()
                    }
                };
                (expected, usable.then_some(plan))
            })
            .collect();
        match site(plans, self.world) {
            Site::General => self.store_generally(instr),
            Site::One(types, plan) => {
                let g = self.check_receivers(receiver, types);
                self.count_access(self.kind_of_access(receiver));
                self.store_by_plan(g, plan);
            }
            Site::Several(arms) => {
                self.dispatch(
                    receiver,
                    arms,
                    &[],
                    |b, plan| {
                        b.count_access(AccessKind::Polymorphic);
                        b.store_by_plan(receiver, plan);
                    },
                    |b| b.store_generally(instr),
                );
            }
        }
    }

    /// Store into a receiver of a class that the plan is for.
    fn store_by_plan(&mut self, receiver: Value, plan: StorePlan) {
        let (guards, store, quiet, assumptions) = match plan {
            StorePlan::General => unreachable!("no plan"),
            StorePlan::Field {
                guards,
                store,
                quiet,
                assumptions,
            } => (guards, store, quiet, assumptions),
            StorePlan::Setter {
                function,
                descriptor,
                assumptions,
            } => {
                self.assume(assumptions);
                return self.store_by_setter(receiver, function, descriptor);
            }
        };
        self.assume(assumptions);
        self.checks(receiver, &guards);
        let store = match quiet.filter(|_| self.inlined.is_some()) {
            Some(check) => {
                self.checks(receiver, &[check]);
                Op::StoreQuiet(store)
            }
            None => Op::Store(store),
        };
        // The object owns the value from here on.
        let below = self.stack.len() - 2;
        if !self.stack[below].owned {
            self.own(below);
            self.start_instr();
        }
        let state = self.state();
        let value = self.stack[below].value;
        let old = self.emit_with(
            store,
            vec![receiver, value],
            Type::OBJECT.opt(),
            Some(state),
        );
        let owner = self.pop();
        self.pop();
        self.decref(old);
        self.drop_entry(owner);
    }

    /// Call a property's setter with the receiver and the value, or a descriptor's `__set__` with
    /// itself before these. The stack keeps both until it has returned, in addition to the setter's
    /// own references.
    fn store_by_setter(
        &mut self,
        receiver: Value,
        function: ObjectHandle,
        descriptor: Option<ObjectHandle>,
    ) {
        let value = self.stack[self.stack.len() - 2].value;
        let descriptor = descriptor.map(|object| self.assumed(object));
        let operands: Vec<Value> = descriptor.into_iter().chain([receiver, value]).collect();
        let setter = self.method_of(function, operands.len());
        let (entry_cell, more) = setter.expect("the plan is usable");
        self.f.rely_on(receiver);
        self.assume(more);
        let mut args = vec![self.assumed(function)];
        for &operand in &operands {
            if self.is_counted(operand) {
                self.emit(Op::Incref, vec![operand], Type::BOTTOM);
            }
        }
        args.extend(operands);
        let state = self.state();
        let v = self.emit_raising(Op::CallDirect(entry_cell), args, Type::OBJECT, state);
        self.decref(v);
        self.drop_top(2);
    }

    fn store_generally(&mut self, instr: &Instr) {
        let n = self.stack.len();
        let args = vec![self.stack[n - 1].value, self.stack[n - 2].value];
        let imms = [instr.arg as i64, 0];
        self.general(G::StoreAttr, imms, args, Type::BOTTOM);
        self.drop_top(2);
    }
}

/// Returns true if a constant of a class becomes an object of its own as an attribute of an
/// instance, and this object does nothing but call the constant: `obj.f` is such a bound method.
fn can_be_bound(value: ObjectHandle) -> bool {
    let ty = Type::from_object(value);
    !ty.is_bottom() && (ty <= Type::FUNC || ty <= Type::METHOD_DESCR)
}
