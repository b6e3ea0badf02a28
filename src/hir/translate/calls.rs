//! Calls: of known functions, of builtins that need no call, and of arbitrary objects.

mod attributes;
mod classes;
mod computed;
mod consumers;
mod instances;
mod names;
mod raw;
mod several;
mod spread;

use crate::bytecode::{Code, Const, ConstValue, GeneralOp as G, Instr, Op as B, Reason};
use crate::facts::Source;
use crate::facts::{Argument, Assumption, Builtin, Callee, Kin, NativeCall, Parameters};
use crate::hir::build::{Builder, is_builtin_exact};
use crate::hir::function::{Entry, Place, Value};
use crate::hir::typing;
use crate::hir::{Cmp, Op};
use crate::types::{ObjectHandle, Type};
use std::sync::Arc;

/// The names of a call's last arguments, in order: the string objects, and their text.
/// `f(1, key=2)` has the name `key`.
#[derive(Default)]
pub(super) struct Named {
    objects: Vec<ObjectHandle>,
    names: Vec<String>,
}

impl Named {
    /// The arguments that the parameters get from a call with so many arguments, these names
    /// included; None if it raises.
    fn bind(&self, params: &Parameters, given: usize) -> Option<Vec<Argument>> {
        params.bind(given, &self.texts())
    }

    /// The same for a call of any function of a code, if there is one; with the defaults of its
    /// function if `loads`.
    fn bind_kin(
        &self,
        params: &Parameters,
        given: usize,
        kin: Option<&Kin>,
        loads: bool,
    ) -> Option<Vec<Argument>> {
        match kin {
            None => self.bind(params, given),
            Some(kin) if loads => params.bind_kin(given, &self.texts(), kin),
            Some(_) => self.bind(&params.without_defaults(), given),
        }
    }

    fn texts(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// The most operands of a call that may be lent: as many as a number has bits.
const MOST_LENT: usize = u32::BITS as usize;

/// The most operands of `min` and `max` that are compared in place.
const MOST_COMPARED: usize = 8;

/// The function of a direct call.
struct Target {
    function: Value,
    entry_cell: u64,
    /// The defaults that the call has loaded from the function, borrowed, in the order of their
    /// parameters.
    loaded: Vec<Value>,
}

impl Target {
    /// A function whose defaults are known.
    fn new(function: Value, entry_cell: u64) -> Target {
        Target {
            function,
            entry_cell,
            loaded: Vec::new(),
        }
    }
}

/// The source of an argument of a direct call, once the arguments for `*args` and `**kwargs` are in
/// their tuple and dict.
enum Operand {
    /// An argument of the call, by number.
    Given(usize),
    /// A value that is owned.
    Collected(Value),
    /// A constant.
    Default(ObjectHandle),
    /// A value that the function keeps alive.
    Loaded(Value),
}

/// Returns true if the first parameter gets the first argument: that is not on the stack.
fn begins_with_given(bound: &[Argument]) -> bool {
    bound.first() == Some(&Argument::Given(0))
}

impl Builder<'_> {
    pub(super) fn call(&mut self, instr: &Instr, names: Option<Value>) {
        let n = instr.arg as usize;
        let base = self.stack.len() - n - 2;
        let named = match names {
            None => Some(Named::default()),
            Some(names) => self.named(names),
        };
        if let Some(named) = &named
            && (self.call_known(instr, base, n, named)
                || self.call_method(base, n, named)
                || self.call_one_of(base, n, names, named))
        {
            return;
        }
        if n + 2 >= MOST_LENT {
            self.take_operands(n + 2);
        } else {
            self.own_operands(n + 2);
        }
        if let Some(named) = &named
            && (self.call_some(instr, base, n, names, named)
                || self.call_kin(instr, base, n, named)
                || self.call_instance(instr, base, n, named))
        {
            return;
        }
        self.call_generally(base, n, names);
    }

    /// The names that a call's instruction has, a constant tuple of strings.
    fn named(&self, names: Value) -> Option<Named> {
        let objects = self.world.tuple_items(self.ty(names).as_object()?)?;
        let text = |object: &ObjectHandle| match self.world.value(*object) {
            ConstValue::Str(text) => Some(text),
            _ => None,
        };
        let names = objects.iter().map(text).collect::<Option<_>>()?;
        Some(Named { objects, names })
    }

    pub(super) fn call_generally(&mut self, base: usize, n: usize, names: Option<Value>) {
        let state = self.state_without(n + 2);
        let mut args = vec![names.unwrap_or(self.null)];
        args.extend(self.top_values(n + 2));
        let ty = match self
            .ty(self.stack[base].value)
            .as_object()
            .map(|o| self.world.callee(o))
        {
            Some(Callee::Builtin(b)) if names.is_none() => typing::builtin(b),
            _ => Type::OBJECT,
        };
        let first = self.stack.len() - (n + 2);
        let lent = (0..(n + 2).min(MOST_LENT)).filter(|k| self.is_lent(first + k));
        let lent = lent.fold(0, |all, k| all | 1 << k);
        let (op, imms) = match lent {
            0 => (G::Call, [0, 0]),
            _ => (G::CallLent, [lent, 0]),
        };
        let v = self.general_at(op, imms, args, ty, state);
        self.forget_call(n + 2);
        self.push_owned(v);
    }

    /// A call of a known function or builtin; false if it must be a general one.
    fn call_known(&mut self, instr: &Instr, base: usize, n: usize, named: &Named) -> bool {
        let (callable, this) = (self.stack[base].value, self.stack[base + 1].value);
        let mut known = self.ty(callable).as_object();
        let mut guarded = None;
        let held = self.hints.get(&callable).and_then(|ty| ty.as_object());
        let met = instr.hint.first().and_then(|ty| ty.as_object());
        if known.is_none()
            && let Some(object) = held.or(met.filter(|_| !self.met.contains_key(&self.pc)))
            && self.made_here(callable).is_none()
            && !(Type::from_object(object) <= Type::CODE)
            && !self.avoids(Reason::Identity)
            && matches!(self.world.callee(object), Callee::Function { .. })
            && self.self_is_known(this)
        {
            self.start_instr();
            let state = self.state();
            let g = self.emit_with(
                Op::GuardIs(object),
                vec![callable],
                Type::from_object(object),
                Some(state),
            );
            self.f.insts[g].source = Source::Guarded;
            guarded = Some(g);
            known = Some(object);
        }
        let Some(object) = known else { return false };
        if !self.self_is_known(this) {
            return false;
        }
        let is_bound = !(self.ty(this) <= Type::NULLPTR);
        let given = n + is_bound as usize;
        match self.world.callee(object) {
            Callee::Function {
                params,
                entry_cell,
                raw,
                kin: _,
                assumptions,
            } => {
                let Some(bound) = named.bind(&params, given) else {
                    return false;
                };
                self.assume(assumptions);
                // If there is a guard, the call relies on it.
                let function = guarded.unwrap_or(callable);
                let own = self.closed.filter(|own| own.boxed_cell == entry_cell);
                if !is_bound
                    && named.is_empty()
                    && params.are_plain()
                    && let Some(raw) = own.cloned().or(raw)
                    && self.call_raw(function, base, n, &params.defaults, raw)
                {
                    return true;
                }
                // The unit keeps a known function alive, so the call needs no reference to it.
                for i in base + 1..self.stack.len() {
                    self.own(i);
                }
                self.start_instr();
                // A constant is known to live until the call is over, unlike what a cell has.
                let is_of_cell = matches!(self.f.op(self.f.object_of(callable)), Op::CellGet);
                let function = match guarded.filter(|_| is_of_cell) {
                    Some(guard) => {
                        self.f.rely_on(guard);
                        let constant = self.assumed(object);
                        self.replace_callable(base, constant);
                        self.start_instr();
                        constant
                    }
                    None => function,
                };
                let target = Target::new(function, entry_cell);
                self.call_direct(target, base, None, bound, named);
                true
            }
            Callee::Class {
                class,
                make,
                init,
                assumptions,
            } if !is_bound => {
                let Some(init) = self.initialiser(init, n, named) else {
                    return false;
                };
                self.assume(assumptions);
                self.call_class(class, make, init, base, named);
                true
            }
            Callee::Tuple {
                class,
                params,
                make,
                stores,
                assumptions,
            } if !is_bound => {
                let Some(bound) = named.bind(&params, n) else {
                    return false;
                };
                self.assume(assumptions);
                self.make_tuple(class, make, stores, base, bound);
                true
            }
            _ if !named.is_empty() => false,
            Callee::Builtin(Builtin::ListAppend) if is_bound && n == 1 => self.call_append(this),
            Callee::Builtin(Builtin::DictGet) if is_bound && self.get_of_names(base, n) => true,
            Callee::Builtin(builtin) if self.consume(builtin, base, is_bound) => true,
            Callee::Builtin(builtin @ (Builtin::HasAttr | Builtin::GetAttr))
                if !is_bound && self.attribute_by_name(builtin, object, base, n) =>
            {
                true
            }
            Callee::Builtin(builtin) if !is_bound && self.call_builtin(builtin, base, n) => true,
            Callee::Builtin(Builtin::IsInstance)
                if !is_bound && self.test_classes(object, base) =>
            {
                true
            }
            callee => self.call_native(object, &callee, base, given, None),
        }
    }

    /// A call of a method that was bound to its object just before (`obj.f(x)`); false if it must
    /// be a general one.
    fn call_method(&mut self, base: usize, n: usize, named: &Named) -> bool {
        let [callable, first] = [base, base + 1].map(|i| self.stack[i].value);
        let method = self.f.object_of(callable);
        if *self.f.op(method) != Op::BindMethod || !self.self_is_known(first) {
            return false;
        }
        let [function, this] = [0, 1].map(|i| self.f.arg(method, i));
        let Some(object) = self.ty(function).as_object() else {
            return false;
        };
        // A callable that was put onto the stack with its first argument has that in place of an
        // object to which it is bound: `__exit__`, at the end of a `with` block.
        let n = n + usize::from(!(self.ty(first) <= Type::NULLPTR));
        let given = n + 1;
        match self.world.callee(object) {
            Callee::Function {
                params,
                entry_cell,
                assumptions,
                ..
            } => {
                let Some(bound) = named.bind(&params, given) else {
                    return false;
                };
                if !begins_with_given(&bound) {
                    return false;
                }
                self.assume(assumptions);
                self.take_operands(self.stack.len() - base);
                let target = Target::new(function, entry_cell);
                self.call_direct(target, base, Some(this), bound, named);
                true
            }
            _ if !named.is_empty() => false,
            Callee::Builtin(Builtin::ListAppend) if self.stack.len() - base == 3 && n == 1 => {
                self.call_append(this)
            }
            callee => self.call_native(object, &callee, base, n, Some(this)),
        }
    }

    /// A call of `list.append` with the one argument on the stack; false if the receiver is not
    /// known to be a list.
    fn call_append(&mut self, list: Value) -> bool {
        // Nearly all code has the constant.
        let is_none = |c: &&Const| c.value == ConstValue::None;
        let none = self.code.consts.iter().find(is_none);
        let Some(none) = none.filter(|_| self.ty(list) <= Type::LIST_EXACT) else {
            return false;
        };
        let none = none.object;
        self.own_operands(3);
        let args = [vec![list], self.top_values(1)].concat();
        self.general(G::ListAppend, [0, 0], args, Type::BOTTOM);
        self.drop_top(3);
        let none = self.object(none);
        self.push_owned(none);
        true
    }

    /// The call of a function by its code object, where the speculation on one function object has
    /// failed: a `def` or `lambda` that runs again makes another function of
    /// the same code. Returns false if the code is not known either.
    fn call_kin(&mut self, instr: &Instr, base: usize, n: usize, named: &Named) -> bool {
        let [callable, this] = [base, base + 1].map(|i| self.stack[i].value);
        let failed = |reason| self.avoids(reason);
        let met = instr.hint.first().and_then(|ty| ty.as_object());
        // A function from the same source (the same cell or value) likely has the same code object,
        // also at a call that was never reached, because the call before it deoptimised.
        let root = self.f.object_of(callable);
        let source = match self.f.op(root) {
            Op::CellGet => self.f.arg(root, 0),
            _ => root,
        };
        let is_code = |object: &ObjectHandle| Type::from_object(*object) <= Type::CODE;
        let met = met.filter(|met| failed(Reason::Identity) || is_code(met));
        let made = self.made_here(callable);
        let Some(object) = made.or(met).or(self.kin.get(&source).copied()) else {
            return false;
        };
        let Callee::Function {
            params,
            entry_cell,
            kin: Some(kin),
            ..
        } = self.world.callee(object)
        else {
            return false;
        };
        let Some(bound) = named.bind_kin(&params, n, Some(&kin), true) else {
            return false;
        };
        if !(self.ty(this) <= Type::NULLPTR) || failed(Reason::Type) || failed(Reason::Shape) {
            return false;
        }
        self.take_operands(n + 2);
        self.kin.insert(source, object);
        let function = self.check_kin(callable, kin);
        let target = self.load_defaults(function, entry_cell, &bound);
        self.call_direct(target, base, None, bound, named);
        true
    }

    /// Checks that a callable is this function, or one of its code object; returns it as such.
    fn check_function(
        &mut self,
        callable: Value,
        object: ObjectHandle,
        kin: Option<Kin>,
        assumptions: Vec<Assumption>,
    ) -> Value {
        if let Some(kin) = kin {
            return self.check_kin(callable, kin);
        }
        let checked = self.check_receiver(callable, Type::from_object(object));
        self.f.rely_on(checked);
        self.assume(assumptions);
        self.assumed(object)
    }

    /// Checks that a callable is a function of one code object; returns it as such.
    fn check_kin(&mut self, callable: Value, kin: Kin) -> Value {
        let function = self.guard_type(callable, Type::FUNC);
        let state = self.state();
        let check = Op::Check(kin.check);
        let check = self.emit_with(check, vec![function], Type::BOTTOM, Some(state));
        self.f.insts[check].source = Source::Guarded;
        match kin.code {
            Some(code) => self.emit(Op::Kin(code), vec![function], self.ty(function)),
            None => function,
        }
    }

    /// Loads the defaults that a call needs from a function that is known by its code object.
    fn load_defaults(&mut self, function: Value, entry_cell: u64, bound: &[Argument]) -> Target {
        let state = self.state();
        let mut target = Target::new(function, entry_cell);
        for argument in bound {
            if let Argument::Loaded(load) = argument {
                let load = Op::Load(load.clone());
                let value = self.emit_with(load, vec![function], Type::OBJECT, Some(state));
                target.loaded.push(value);
            }
        }
        target
    }

    /// The code of a function that this unit made (`make_function`).
    fn made_here(&self, callable: Value) -> Option<ObjectHandle> {
        let root = self.f.object_of(callable);
        match self.f.op(root) {
            Op::General(G::MakeFunction, _) => self.ty(self.f.arg(root, 0)).as_object(),
            _ => None,
        }
    }

    /// The call of one of the host's builtin functions with the last `given` entries of the stack.
    /// If the callable is a method, the object that it is bound to comes before them. Returns false
    /// if the host has no plan for the call.
    fn call_native(
        &mut self,
        object: ObjectHandle,
        callee: &Callee,
        base: usize,
        given: usize,
        this: Option<Value>,
    ) -> bool {
        let operands = self.stack.len() - given;
        let args: Vec<Value> = this.into_iter().chain(self.top_values(given)).collect();
        if self.compute(object, base, given, &args) {
            return true;
        }
        match self.world.native_call(object, args.len() as u32) {
            Some(NativeCall::Any {
                call,
                first,
                result,
            }) => {
                let fits = |first: Type| args.first().is_some_and(|arg| self.ty(*arg) <= first);
                if !first.is_none_or(fits) {
                    return false;
                }
                let result = match callee {
                    Callee::Builtin(builtin) => typing::builtin(*builtin) & result,
                    _ => result,
                };
                // The unit keeps a known function alive, but not a method.
                let mut lent = 0;
                for i in operands..self.stack.len() {
                    let k = i - operands + usize::from(this.is_some());
                    if k < MOST_LENT && self.is_lent(i) {
                        lent |= 1 << k;
                    } else {
                        self.own(i);
                    }
                }
                if let Some(this) = this {
                    self.own(base);
                    self.emit(Op::Incref, vec![this], Type::BOTTOM);
                }
                self.start_instr();
                let n = self.stack.len() - base;
                // The callable stays on the stack, also if the call raises.
                let state = self.state_without(n - 1);
                let op = if self.code.last_first {
                    Op::CallNativeLent(call, lent)
                } else {
                    Op::CallNative(call)
                };
                let v = self.emit_raising(op, args, result, state);
                let callable = self.stack[base];
                self.forget_top(n);
                self.drop_entry(callable);
                self.push_owned(v);
                true
            }
            Some(NativeCall::Number { checks, call, kind }) => {
                if self.avoids(Reason::Shape) {
                    return false;
                }
                if given > 0 {
                    self.own(operands);
                }
                self.start_instr();
                let state = self.state();
                for check in checks {
                    self.emit_with(
                        Op::CheckThread(check),
                        Vec::new(),
                        Type::BOTTOM,
                        Some(state),
                    );
                }
                let raw = self.emit(Op::NumberOf(call), args, kind.raw());
                let v = self.emit(Op::boxing(kind), vec![raw], kind.boxed());
                self.drop_top(self.stack.len() - base);
                self.push_owned(v);
                true
            }
            None => false,
        }
    }

    /// The call of a known function, whose operands on the stack are owned: the last ones, and
    /// before them `this`, to which a new reference is taken.
    fn call_direct(
        &mut self,
        target: Target,
        base: usize,
        this: Option<Value>,
        bound: Vec<Argument>,
        named: &Named,
    ) {
        let n = self.stack.len() - base;
        let function = target.function;
        let operands = self.collect(bound, named, target.loaded);
        if let Some(this) = this {
            self.emit(Op::Incref, vec![this], Type::BOTTOM);
        }
        // The callee owns the arguments from here on; the callable stays ours, also if the call
        // raises.
        self.start_instr();
        let state = self.state_without(n - 1);
        let args = self.arguments(function, this, operands);
        let ty = self.result_of_call(function);
        let v = self.emit_raising(Op::CallDirect(target.entry_cell), args, ty, state);
        let callable = self.stack[base];
        self.forget_call(n);
        self.drop_entry(callable);
        self.push_owned(v);
    }

    /// The type of the result of a call: a generator if a loop iterates over the result, or if it
    /// is the only argument of another call, and the function is known to be a generator function.
    fn result_of_call(&self, function: Value) -> Type {
        let is_iterated = match &self.code.instrs[self.pc.0 as usize + 1..] {
            [next, ..] if next.op == B::GetIter => true,
            [next, ..] if next.op == B::Call => next.arg == 1,
            // The bytecode of `any(x > 3 for x in xs)` may have a loop over the generator itself.
            [next, then, ..] => next.op == B::PushNull && then.op == B::ForIter,
            _ => false,
        };
        let known = match *self.f.op(function) {
            Op::Kin(code) => Some(code),
            _ => self.ty(function).as_object(),
        };
        let known = known.filter(|_| is_iterated);
        let inlinee = known.and_then(|function| self.world.inlinee(function));
        let code: Option<Arc<Code>> = inlinee.and_then(|inlinee| inlinee.code_as());
        match code.is_some_and(|code| code.is_generator && !code.is_coroutine) {
            true => Type::GEN,
            false => Type::OBJECT,
        }
    }

    /// Pop the top `n` entries, whose references a call took over, with the names of the arguments.
    fn forget_call(&mut self, n: usize) {
        self.forget_top(n);
        self.names_of_call = None;
    }

    /// Allocate the tuple and the dict for further arguments (`*args`, `**kwargs`), as owned
    /// entries of the stack. The other arguments stay at their places.
    fn collect(&mut self, bound: Vec<Argument>, named: &Named, loaded: Vec<Value>) -> Vec<Operand> {
        let mut loaded = loaded.into_iter();
        let collected = bound.iter().map(|argument| match argument {
            Argument::Rest(range) => range.len(),
            Argument::NamedRest(taken) => taken.len(),
            Argument::Given(_) => 1,
            Argument::Default(_) | Argument::Loaded(_) => 0,
        });
        let given: usize = collected.sum();
        let first_named = given - named.names.len();
        let depth = self.stack.len();
        let place = |argument: usize| depth + argument - given;
        let mut operands = Vec::with_capacity(bound.len());
        for argument in bound {
            operands.push(match argument {
                Argument::Given(argument) => Operand::Given(given - argument),
                Argument::Default(value) => Operand::Default(value),
                Argument::Loaded(_) => {
                    Operand::Loaded(loaded.next().expect("a value for each loaded default"))
                }
                Argument::Rest(range) => {
                    let first = place(range.start);
                    let items: Vec<Value> = range
                        .map(|argument| self.take_operand(place(argument)))
                        .collect();
                    self.start_instr();
                    let tuple = self.general(G::BuildTuple, [0, 0], items, Type::TUPLE_EXACT);
                    // If a later step raises, the interpreter drops the tuple from this entry.
                    self.stack[first] = Entry {
                        value: tuple,
                        owned: true,
                    };
                    Operand::Collected(tuple)
                }
                Argument::NamedRest(taken) => {
                    let mut items = Vec::new();
                    for argument in taken {
                        let key = self.kept(named.objects[argument - first_named]);
                        items.extend([key, self.take_operand(place(argument))]);
                    }
                    self.start_instr();
                    let dict = self.general(G::BuildKeywords, [0, 0], items, Type::DICT_EXACT);
                    Operand::Collected(dict)
                }
            });
        }
        operands
    }

    /// Take an owned entry out of the stack; its place is null afterwards.
    fn take_operand(&mut self, at: usize) -> Value {
        let nothing = Entry {
            value: self.null,
            owned: false,
        };
        std::mem::replace(&mut self.stack[at], nothing).value
    }

    /// A constant with a reference of its own.
    fn kept(&mut self, object: ObjectHandle) -> Value {
        let v = self.object(object);
        if !object.is_immortal() {
            self.emit(Op::Incref, vec![v], Type::BOTTOM);
        }
        v
    }

    /// The arguments of a direct call of a function, with `this` before those on the stack.
    fn arguments(
        &mut self,
        function: Value,
        this: Option<Value>,
        operands: Vec<Operand>,
    ) -> Vec<Value> {
        let depth = self.stack.len();
        let mut args = vec![function];
        for (index, operand) in operands.into_iter().enumerate() {
            args.push(match operand {
                Operand::Given(_)
                    if index == 0
                        && let Some(this) = this =>
                {
                    this
                }
                Operand::Given(from_top) => self.stack[depth - from_top].value,
                Operand::Collected(value) => value,
                Operand::Default(object) => self.kept(object),
                Operand::Loaded(value) => {
                    self.emit(Op::Incref, vec![value], Type::BOTTOM);
                    value
                }
            });
        }
        args
    }

    /// Returns true if it is known that the second entry of a call is null, or that it is not.
    pub(super) fn self_is_known(&self, this: Value) -> bool {
        let is_object = || self.ty(this) <= Type::OBJECT && !self.may_be_from_suspended(this);
        self.ty(this) <= Type::NULLPTR || is_object()
    }

    /// Returns true if a value may have been loaded from the stack of a suspended frame: such
    /// entries count as objects, also the null of a call whose argument is yielded,
    /// `f((yield 1))`.
    fn may_be_from_suspended(&self, v: Value) -> bool {
        let v = self.f.object_of(v);
        let is_stack = |place: &Place| matches!(place, Place::Stack(_));
        let mut params = self.f.blocks.values().flat_map(|block| &block.params);
        self.resumption.is_some()
            && match self.f.op(v) {
                Op::LoadSlot(k) => *k as usize >= self.code.locals.len(),
                Op::Param => params.any(|(param, place)| *param == v && is_stack(place)),
                _ => false,
            }
    }

    /// `isinstance` of an object of a builtin class and a builtin class. In inlined code the
    /// classes of the arguments are speculated on: where the body is inlined, they are proved.
    fn is_instance(&mut self, base: usize) -> bool {
        let (object, class) = (self.stack[base + 2].value, self.stack[base + 3].value);
        let Some(class) = self.ty(class).as_object().and_then(|o| o.denotes()) else {
            return false;
        };
        let exact = Type::from_class_exact(class);
        if !is_builtin_exact(exact) {
            // `isinstance(c, C)` is true if the class of `c` is `C`: the metaclass is not queried.
            let is_own = self.ty(object) <= exact && !self.ty(object).is_bottom();
            if is_own {
                self.own_operands(4);
                self.f.rely_on(object);
                let v = self.emit(Op::ConstBool(true), vec![], Type::CBOOL);
                self.drop_top(4);
                self.push_bool(v);
            }
            return is_own;
        }
        let mut ty = self.ty(object);
        if self.inlined.is_some() && !is_builtin_exact(ty) {
            ty = self.hints.get(&object).copied().unwrap_or(ty);
        }
        let is = ty <= Type::from_class(class);
        let failed = self.avoids(Reason::Type);
        // The type overlaps the class, so the result is not known.
        let unknown = !is && ty.could_be(Type::from_class(class));
        if !is_builtin_exact(ty) || unknown || failed {
            return false;
        }
        self.own_operands(4);
        let object = self.guard_type(self.stack[base + 2].value, ty.unspecialized());
        self.f.rely_on(object);
        let v = self.emit(Op::ConstBool(is), vec![], Type::CBOOL);
        self.drop_top(4);
        self.push_bool(v);
        true
    }

    /// Replace an operand, which is dropped, by an owned value.
    fn replace_operand(&mut self, at: usize, value: Value) {
        let new = Entry { value, owned: true };
        let old = std::mem::replace(&mut self.stack[at], new);
        self.drop_entry(old);
    }

    /// The call of `range` in the head of a loop: pushes the iterator at once, of raw ints. The
    /// `GET_ITER` that follows returns the iterator itself.
    fn iterated_range(&mut self, base: usize, n: usize) -> bool {
        let op_after = |pcs| self.code.instrs.get((self.pc.0 + pcs) as usize);
        let is = |pcs, op| op_after(pcs).is_some_and(|instr| instr.op == op);
        let failed = |reason| self.avoids(reason);
        if !is(1, B::GetIter)
            || !is(2, B::ForIter)
            || !(1..=3).contains(&n)
            || failed(Reason::Type)
            || failed(Reason::IntTooLarge)
        {
            return false;
        }
        let operands = self.top_values(n);
        let may_be_int = |v: &Value| {
            let ty = self.ty(*v);
            let hint = self.hints.get(v).copied().unwrap_or(ty);
            ty.could_be(Type::LONG_EXACT) && hint.could_be(Type::LONG_EXACT)
        };
        if !operands.iter().all(may_be_int) {
            return false;
        }
        // A step of 0 raises.
        let step = match operands[..] {
            [_, _, step] => match *self.f.op(self.f.object_of(step)) {
                Op::Const(object) => self.world.value(object),
                _ => return false,
            },
            _ => ConstValue::Int(1),
        };
        let ConstValue::Int(step @ (1 | -1)) = step else {
            return false;
        };
        self.own_operands(n);
        let state = self.state();
        let mut raw = Vec::new();
        for i in 0..n.min(2) {
            let operand = self.stack[base + 2 + i].value;
            let operand = self.guard_type(operand, Type::LONG_EXACT);
            raw.push(self.emit_with(Op::UnboxInt, vec![operand], Type::CINT64, Some(state)));
        }
        for (i, raw) in raw.into_iter().enumerate() {
            let boxed = self.emit(Op::BoxInt, vec![raw], Type::LONG_EXACT);
            self.replace_operand(base + 2 + i, boxed);
        }
        self.start_instr();
        let mut bounds = self.top_values(n);
        bounds.truncate(2);
        if n == 1 {
            let zero = self.emit(Op::ConstInt(0), vec![], Type::CINT64);
            bounds.insert(0, self.emit(Op::BoxInt, vec![zero], Type::LONG_EXACT));
        }
        let step = self.emit(Op::ConstInt(step), vec![], Type::CINT64);
        bounds.push(self.emit(Op::BoxInt, vec![step], Type::LONG_EXACT));
        let v = self.range_iter(bounds);
        self.drop_top(n + 2);
        self.push_owned(v);
        true
    }

    /// The iterator of a range with these bounds: start, end and step.
    pub(super) fn range_iter(&mut self, bounds: Vec<Value>) -> Value {
        let v = self.general(G::RangeIter, [0, 0], bounds, Type::OBJECT);
        self.hints.insert(v, Type::RANGE_ITER);
        v
    }

    /// The class of the argument of `len`, if it is a list or a tuple: proved, or else observed of
    /// the value or at this call.
    fn class_with_items(&self, arg: Value) -> Option<Type> {
        self.measured(arg, |ty| ty <= Type::LIST_EXACT || ty <= Type::TUPLE_EXACT)
    }

    /// Returns true if the argument of `len` is a string, in the same sense.
    fn is_text(&self, arg: Value) -> bool {
        let text = self.measured(arg, |ty| ty <= Type::UNICODE_EXACT);
        text.is_some()
    }

    /// The class of the argument of `len`, if it is a wanted one.
    fn measured(&self, arg: Value, is_wanted: impl Fn(Type) -> bool) -> Option<Type> {
        let known = self.ty(arg);
        if is_wanted(known) {
            return Some(known.unspecialized());
        }
        let observed = self
            .hints
            .get(&arg)
            .or(self.code.instr(self.pc).hint.get(1));
        let failed = self.avoids(Reason::Type);
        let ty = observed.filter(|ty| is_wanted(**ty) && known.could_be(**ty) && !failed);
        ty.map(|ty| ty.unspecialized())
    }

    /// Builtins that need no call when their operand's type is known.
    pub(super) fn call_builtin(&mut self, builtin: Builtin, base: usize, n: usize) -> bool {
        if builtin == Builtin::IsInstance {
            return n == 2 && self.is_instance(base);
        }
        if builtin == Builtin::Range {
            return self.iterated_range(base, n);
        }
        if matches!(builtin, Builtin::Min | Builtin::Max) {
            return (2..=MOST_COMPARED).contains(&n) && self.extreme(builtin, base, n);
        }
        if n != 1 {
            return false;
        }
        let arg = self.stack[base + 2].value;
        match builtin {
            Builtin::Len if let Some(count) = self.count_of_names(arg) => {
                self.drop_top(3);
                let len = self.emit(Op::ConstInt(count as i64), vec![], Type::CINT64);
                let v = self.emit(Op::BoxInt, vec![len], Type::LONG_EXACT);
                self.push_owned(v);
                true
            }
            Builtin::Len if let Some(ty) = self.class_with_items(arg) => {
                self.own_operands(1);
                let arg = self.guard_type(arg, ty);
                let op = match ty <= Type::LIST_EXACT {
                    true => Op::ListLen,
                    false => Op::TupleLen,
                };
                let len = self.emit(op, vec![arg], Type::CINT64);
                let v = self.emit(Op::BoxInt, vec![len], Type::LONG_EXACT);
                self.drop_top(3);
                self.push_owned(v);
                true
            }
            Builtin::Len => {
                // For any other class: the length without a call of the builtin.
                self.own_operands(3);
                let mut arg = self.stack[base + 2].value;
                if self.is_text(arg) {
                    arg = self.guard_type(arg, Type::UNICODE_EXACT);
                }
                let v = self.general(G::GetLen, [0, 0], vec![arg], Type::LONG_EXACT);
                self.drop_top(3);
                self.push_owned(v);
                true
            }
            Builtin::Type => {
                let top = self.stack.len() - 1;
                self.own(top);
                let class = self.emit(Op::ClassOf, vec![arg], Type::OBJECT);
                self.emit(Op::Incref, vec![class], Type::BOTTOM);
                self.drop_top(3);
                self.push_owned(class);
                true
            }
            Builtin::Abs if self.is_word(arg) && !self.avoids(Reason::Overflow) => {
                self.own_operands(1);
                let state = self.state();
                let raw = self.emit_with(Op::UnboxInt, vec![arg], Type::CINT64, Some(state));
                let zero = self.emit(Op::ConstInt(0), vec![], Type::CINT64);
                let is_less = self.emit(Op::IntCmp(Cmp::Lt), vec![raw, zero], Type::CBOOL);
                let less = self.emit_with(Op::IntNeg, vec![raw], Type::CINT64, Some(state));
                let r = self.emit(Op::Select, vec![is_less, less, raw], Type::CINT64);
                let v = self.emit(Op::BoxInt, vec![r], Type::LONG_EXACT);
                self.drop_top(3);
                self.push_owned(v);
                true
            }
            Builtin::Float if self.is_word(arg) => {
                self.own_operands(1);
                let state = self.state();
                let raw = self.emit_with(Op::UnboxInt, vec![arg], Type::CINT64, Some(state));
                let r = self.emit(Op::IntToDouble, vec![raw], Type::CDOUBLE);
                let v = self.emit(Op::BoxFloat, vec![r], Type::FLOAT_EXACT);
                self.drop_top(3);
                self.push_owned(v);
                true
            }
            Builtin::Float if self.ty(arg) <= Type::FLOAT_EXACT => {
                // `float(x)` of an exact float is x itself.
                let top = self.stack.len() - 1;
                self.own(top);
                let e = self.pop();
                self.f.rely_on(e.value);
                self.drop_top(2);
                self.push_owned(e.value);
                true
            }
            Builtin::Sqrt | Builtin::Abs if self.ty(arg) <= Type::FLOAT_EXACT => {
                self.own_operands(1);
                let state = self.state();
                let raw = self.emit(Op::UnboxFloat, vec![arg], Type::CDOUBLE);
                let r = if builtin == Builtin::Sqrt {
                    if self.avoids(Reason::Domain) {
                        return false;
                    }
                    self.emit_with(Op::FloatSqrt, vec![raw], Type::CDOUBLE, Some(state))
                } else {
                    self.emit(Op::FloatAbs, vec![raw], Type::CDOUBLE)
                };
                let v = self.emit(Op::BoxFloat, vec![r], Type::FLOAT_EXACT);
                self.drop_top(3);
                self.push_owned(v);
                true
            }
            Builtin::Int if self.ty(arg) <= Type::FLOAT_EXACT && !self.avoids(Reason::Domain) => {
                self.own_operands(1);
                let state = self.state();
                let raw = self.emit(Op::UnboxFloat, vec![arg], Type::CDOUBLE);
                let r = self.emit_with(Op::FloatToInt, vec![raw], Type::CINT64, Some(state));
                let v = self.emit(Op::BoxInt, vec![r], Type::LONG_EXACT);
                self.drop_top(3);
                self.push_owned(v);
                true
            }
            _ => false,
        }
    }
}
