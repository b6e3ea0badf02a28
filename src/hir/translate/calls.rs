//! Calls: of known functions, of builtins that need no call, and of arbitrary objects.

use crate::bytecode::{Const, ConstValue, GeneralOp as G, Instr, Op as B, Pc, Reason};
use crate::facts::Source;
use crate::facts::{
    Argument, Assumption, Builtin, Callee, IntrinsicCall, Kin, NativeCall, Parameters, RawEntry,
    RawKind,
};
use crate::hir::build::{Builder, Unsupported, is_builtin_exact};
use crate::hir::function::{Block, Edge, Entry, StateId, Term, Value};
use crate::hir::translate::dispatch::plain_edge;
use crate::hir::typing;
use crate::hir::{Cmp, Op};
use crate::types::{ClassHandle, ObjectHandle, Type};

/// The entry of a class's `__init__`, with the arguments.
struct Initialiser {
    function: ObjectHandle,
    entry_cell: u64,
    /// The arguments that its parameters get, the object first.
    bound: Vec<Argument>,
    assumptions: Vec<Assumption>,
}

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
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        params.bind(given, &names)
    }

    fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// The most operands of a call that may be lent: as many as a number has bits.
const MOST_LENT: usize = u32::BITS as usize;

/// The source of an argument of a direct call, once the arguments for `*args` and `**kwargs` are in
/// their tuple and dict.
enum Operand {
    /// An argument of the call, by number.
    Given(usize),
    /// A value that is owned.
    Collected(Value),
    /// A constant.
    Default(ObjectHandle),
}

/// One of several functions that a call may be of.
struct Arm {
    /// The function's name, by which arms are ordered.
    name: String,
    test: Test,
    entry_cell: u64,
    bound: Vec<Argument>,
}

/// The test of a callable being a function.
enum Test {
    /// By its code: the host's test, and the code if calls may be inlined.
    Code(IntrinsicCall, Option<ObjectHandle>),
    /// By its identity, as long as the function is unchanged.
    Identity(ObjectHandle, Vec<Assumption>),
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
                || self.call_kin(instr, base, n, named))
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

    fn call_generally(&mut self, base: usize, n: usize, names: Option<Value>) {
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
        if known.is_none()
            && let Some(object) = instr.hint.first().and_then(|t| t.as_object())
            && self.made_here(callable).is_none()
            && !(Type::from_object(object) <= Type::CODE)
            && !self.avoids(Reason::Identity)
            && !self.met.contains_key(&self.pc)
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
                self.call_direct(function, entry_cell, base, None, bound, named);
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
            Callee::Builtin(builtin) if !is_bound && self.call_builtin(builtin, base, n) => true,
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
                self.call_direct(function, entry_cell, base, Some(this), bound, named);
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

    /// The call of a function of which only the code object is known, where the speculation on one
    /// function object has failed: a `def` or `lambda` that runs again makes another function of
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
        // Functions of the same code may have different defaults.
        let Some(bound) = named.bind(&params.without_defaults(), n) else {
            return false;
        };
        if !(self.ty(this) <= Type::NULLPTR) || failed(Reason::Type) || failed(Reason::Shape) {
            return false;
        }
        self.take_operands(n + 2);
        self.kin.insert(source, object);
        let function = self.check_kin(callable, kin);
        self.call_direct(function, entry_cell, base, None, bound, named);
        true
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
        function: Value,
        entry_cell: u64,
        base: usize,
        this: Option<Value>,
        bound: Vec<Argument>,
        named: &Named,
    ) {
        let n = self.stack.len() - base;
        let operands = self.collect(bound, named);
        if let Some(this) = this {
            self.emit(Op::Incref, vec![this], Type::BOTTOM);
        }
        // The callee owns the arguments from here on; the callable stays ours, also if the call
        // raises.
        self.start_instr();
        let state = self.state_without(n - 1);
        let args = self.arguments(function, this, operands);
        let v = self.emit_raising(Op::CallDirect(entry_cell), args, Type::OBJECT, state);
        let callable = self.stack[base];
        self.forget_call(n);
        self.drop_entry(callable);
        self.push_owned(v);
    }

    /// Pop the top `n` entries, whose references a call took over, with the names of the arguments.
    fn forget_call(&mut self, n: usize) {
        self.forget_top(n);
        self.names_of_call = None;
    }

    /// Allocate the tuple and the dict for further arguments (`*args`, `**kwargs`), as owned
    /// entries of the stack. The other arguments stay at their places.
    fn collect(&mut self, bound: Vec<Argument>, named: &Named) -> Vec<Operand> {
        let collected = bound.iter().map(|argument| match argument {
            Argument::Rest(range) => range.len(),
            Argument::NamedRest(taken) => taken.len(),
            Argument::Given(_) => 1,
            Argument::Default(_) => 0,
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
                    let dict = self.general(G::BuildMap, [0, 0], items, Type::DICT_EXACT);
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
            });
        }
        args
    }

    /// The entry of an `__init__` for an object and `n` arguments, if it takes them; `Some(None)`
    /// if the class has none and there are no arguments.
    fn initialiser(
        &self,
        init: Option<ObjectHandle>,
        n: usize,
        named: &Named,
    ) -> Option<Option<Initialiser>> {
        let Some(function) = init else {
            return (n == 0).then_some(None);
        };
        match self.world.callee(function) {
            Callee::Function {
                params,
                entry_cell,
                assumptions,
                ..
            } => {
                let bound = named.bind(&params, n + 1)?;
                begins_with_given(&bound).then_some(Some(Initialiser {
                    function,
                    entry_cell,
                    bound,
                    assumptions,
                }))
            }
            _ => None,
        }
    }

    /// The call of a class: a new object, which its `__init__` is called with.
    fn call_class(
        &mut self,
        class: ClassHandle,
        make: IntrinsicCall,
        init: Option<Initialiser>,
        base: usize,
        named: &Named,
    ) {
        for i in base + 1..self.stack.len() {
            self.own(i);
        }
        self.start_instr();
        let state = self.state();
        let ty = Type::from_class_exact(class);
        let new = Op::New(ty, make);
        let object = self.emit_with(new, Vec::new(), ty.unspecialized(), Some(state));
        // The object keeps its class alive from here on, and is at the place of the call's result.
        let entry = Entry {
            value: object,
            owned: true,
        };
        let callable = std::mem::replace(&mut self.stack[base], entry);
        self.drop_entry(callable);
        let n = self.stack.len() - base - 1;
        let Some(init) = init else {
            return self.forget_call(n);
        };
        self.assume(init.assumptions);
        let function = self.assumed(init.function);
        let operands = self.collect(init.bound, named);
        self.emit(Op::Incref, vec![object], Type::BOTTOM);
        // The object is new, so its class cannot have changed.
        let this = self.emit(Op::Refine(ty), vec![object], ty);
        let args = self.arguments(function, Some(this), operands);
        self.start_instr();
        let state = self.state_without(n);
        let call = Op::CallDirect(init.entry_cell);
        let result = self.emit_raising(call, args, Type::OBJECT, state);
        self.forget_call(n);
        self.push_owned(result);
        self.start_instr();
        self.general(G::InitResult, [0, 0], vec![result], Type::BOTTOM);
        self.drop_top(1);
    }

    /// The call of a class derived from `tuple`: a new instance with these items.
    fn make_tuple(
        &mut self,
        class: ClassHandle,
        make: IntrinsicCall,
        stores: Vec<IntrinsicCall>,
        base: usize,
        bound: Vec<Argument>,
    ) {
        for i in base + 1..self.stack.len() {
            self.own(i);
        }
        self.start_instr();
        let state = self.state();
        let ty = Type::from_class_exact(class);
        let new = Op::New(ty, make);
        let object = self.emit_with(new, Vec::new(), ty.unspecialized(), Some(state));
        let entry = Entry {
            value: object,
            owned: true,
        };
        let callable = std::mem::replace(&mut self.stack[base], entry);
        self.drop_entry(callable);
        let this = self.emit(Op::Refine(ty), vec![object], ty);
        for (store, argument) in stores.into_iter().zip(bound) {
            // The instance takes over the stack's reference.
            let item = match argument {
                Argument::Given(k) => self.stack[base + 2 + k].value,
                Argument::Default(value) => self.kept(value),
                Argument::Rest(_) | Argument::NamedRest(_) => {
                    unreachable!("each parameter has one argument")
                }
            };
            self.emit(Op::InitField(store), vec![this, item], Type::BOTTOM);
        }
        self.forget_call(self.stack.len() - base - 1);
    }

    /// A call of one of several methods: tests of the callable branch to each one's direct call.
    /// False if there are none that take these arguments.
    fn call_one_of(&mut self, base: usize, n: usize, names: Option<Value>, named: &Named) -> bool {
        let callable = self.stack[base].value;
        let Some(methods) = self.candidates.get(&callable) else {
            return false;
        };
        let mut arms = Vec::new();
        for &method in methods {
            if let Callee::Function {
                params,
                entry_cell,
                assumptions,
                ..
            } = self.world.callee(method)
                && let Some(bound) = named.bind(&params, n + 1)
            {
                arms.push((method, bound, entry_cell, assumptions));
            }
        }
        if arms.is_empty() {
            return false;
        }
        self.take_operands(n + 2);
        let (join, general) = (self.inner_block(), self.inner_block());
        // If the attribute is no method of the class, there is no `self` on the stack.
        let null = self.emit(Op::IsNull, vec![self.stack[base + 1].value], Type::CBOOL);
        let there = self.emit(Op::BoolNot, vec![null], Type::CBOOL);
        let chain = self.inner_block();
        self.end_block(Term::Branch {
            cond: there,
            then: plain_edge(chain),
            els: plain_edge(general),
        });
        self.cur = chain;
        let before = self.before_arms();
        for (method, bound, entry_cell, assumptions) in arms {
            self.assume(assumptions);
            let function = self.assumed(method);
            let is = self.emit(Op::Is, vec![callable, function], Type::CBOOL);
            let next = self.fork(is);
            let this = self.stack[base + 1].value;
            self.stack[base + 1].value =
                self.emit(Op::Refine(Type::OBJECT), vec![this], Type::OBJECT);
            self.call_direct(function, entry_cell, base, None, bound, named);
            self.end_call(join);
            self.next_arm(next, &before);
        }
        self.end_block(Term::Jump(plain_edge(general)));
        self.cur = general;
        self.call_generally(base, n, names);
        self.end_call(join);
        self.enter_join(join, &[Type::OBJECT], before);
        self.unchecked = true;
        true
    }

    /// The call of one of several functions that were observed here: tests of the callable branch
    /// to the direct call of each. Functions of a code object that the unit keeps alive are told
    /// by that, others by their identity. The operands are owned. Returns false, and does nothing,
    /// unless at least two were observed that take these arguments.
    fn call_some(
        &mut self,
        instr: &Instr,
        base: usize,
        n: usize,
        names: Option<Value>,
        named: &Named,
    ) -> bool {
        let [callable, this] = [base, base + 1].map(|i| self.stack[i].value);
        let Some(met) = self.met.get(&self.pc) else {
            return false;
        };
        if !(self.ty(this) <= Type::NULLPTR) {
            return false;
        }
        let mut arms: Vec<Arm> = Vec::new();
        let observed = instr.hint.first().into_iter().chain(&met.seen);
        for object in observed.filter_map(|ty| ty.as_object()) {
            let Callee::Function {
                params,
                entry_cell,
                kin,
                assumptions,
                ..
            } = self.world.callee(object)
            else {
                continue;
            };
            let by_code = kin.and_then(|kin| Some((kin.test?, kin.code)));
            let params = match by_code {
                Some(_) => params.without_defaults(),
                None => params,
            };
            if let Some(bound) = named.bind(&params, n) {
                let test = match by_code {
                    Some((test, code)) => Test::Code(test, code),
                    None => Test::Identity(object, assumptions),
                };
                if arms.iter().any(|arm: &Arm| arm.entry_cell == entry_cell) {
                    continue;
                }
                arms.push(Arm {
                    name: Type::from_object(object).to_string(),
                    test,
                    entry_cell,
                    bound,
                });
            }
        }
        if arms.len() < 2 {
            return false;
        }
        // The same functions give the same code, in whatever order they were observed.
        arms.sort_by(|a, b| a.name.cmp(&b.name));
        self.take_operands(n + 2);
        let join = self.inner_block();
        let before = self.before_arms();
        for arm in arms {
            let next = match arm.test {
                Test::Code(test, code) => {
                    let is = self.emit(Op::NumberOf(test), vec![callable], Type::CBOOL);
                    let next = self.fork(is);
                    let function = self.emit(Op::Refine(Type::FUNC), vec![callable], Type::FUNC);
                    let function = match code {
                        Some(code) => self.emit(Op::Kin(code), vec![function], Type::FUNC),
                        None => function,
                    };
                    self.call_direct(function, arm.entry_cell, base, None, arm.bound, named);
                    next
                }
                Test::Identity(object, assumptions) => {
                    self.assume(assumptions);
                    let function = self.assumed(object);
                    let is = self.emit(Op::Is, vec![callable, function], Type::CBOOL);
                    let next = self.fork(is);
                    self.replace_callable(base, function);
                    self.call_direct(function, arm.entry_cell, base, None, arm.bound, named);
                    next
                }
            };
            self.end_call(join);
            self.next_arm(next, &before);
        }
        self.call_generally(base, n, names);
        self.end_call(join);
        self.enter_join(join, &[Type::OBJECT], before);
        self.unchecked = true;
        true
    }

    /// `f(*args)` of a known function with a tuple of a known number of items, or with one whose
    /// length is speculated to be the number of its parameters: the items become the arguments.
    /// Speculations are made at the current instruction, and `call` is the one that calls. Returns
    /// false, and does nothing, for any other call.
    pub(super) fn call_spread(&mut self, call: Pc) -> bool {
        let base = self.stack.len() - 3;
        let [callable, this, tuple] = [0, 1, 2].map(|i| self.stack[base + i].value);
        let is_tuple = self.ty(tuple) <= Type::TUPLE_EXACT && !self.ty(tuple).is_bottom();
        if !(self.ty(this) <= Type::NULLPTR) || !is_tuple {
            return false;
        }
        let known = self.ty(callable).as_object();
        let failed = self.avoids(Reason::Identity);
        let instr = self.code.instr(call);
        let expected = || instr.hint.first().filter(|_| !failed)?.as_object();
        let Some(object) = known.or_else(expected) else {
            return false;
        };
        let Callee::Function {
            params,
            entry_cell,
            kin,
            assumptions,
            ..
        } = self.world.callee(object)
        else {
            return false;
        };
        let kin = kin.filter(|_| known.is_none());
        let params = match &kin {
            Some(_) => params.without_defaults(),
            None => params,
        };
        if kin.is_some() && (self.avoids(Reason::Type) || self.avoids(Reason::Shape)) {
            return false;
        }
        let count = self.items_of(tuple);
        let arity = params.positional as usize;
        let is_likely = params.takes_just(arity) && !self.avoids(Reason::Length);
        let Some(n) = count.or(is_likely.then_some(arity)) else {
            return false;
        };
        let Some(bound) = params.bind(n, &[]) else {
            return false;
        };
        self.take_operands(3);
        let function = match kin {
            Some(kin) => self.check_kin(callable, kin),
            None => {
                let checked = self.check_receiver(callable, Type::from_object(object));
                self.f.rely_on(checked);
                self.assume(assumptions);
                self.assumed(object)
            }
        };
        if count.is_none() {
            let state = self.state();
            let len = self.emit(Op::TupleLen, vec![tuple], Type::CINT64);
            let want = self.emit(Op::ConstInt(n as i64), vec![], Type::CINT64);
            let same = self.emit(Op::IntCmp(Cmp::Eq), vec![len, want], Type::CBOOL);
            let check = Op::GuardTrue(Reason::Length);
            self.emit_with(check, vec![same], Type::BOTTOM, Some(state));
        }
        self.pc = call;
        self.start_instr();
        if *self.f.op(function) == Op::Const(object) && known.is_none() {
            self.replace_callable(base, function);
        }
        let mut items = Vec::with_capacity(n);
        for k in 0..n {
            let place = self.emit(Op::ConstInt(k as i64), vec![], Type::CINT64);
            let item = self.emit(Op::TupleGet, vec![tuple, place], Type::OBJECT);
            self.emit(Op::Incref, vec![item], Type::BOTTOM);
            items.push(item);
        }
        // The interpreter drops the tuple before the callee begins.
        self.drop_top(1);
        items.into_iter().for_each(|item| self.push_owned(item));
        self.call_direct(function, entry_cell, base, None, bound, &Named::default());
        true
    }

    /// The number of items of a tuple, if that is known.
    fn items_of(&self, tuple: Value) -> Option<usize> {
        let root = self.f.object_of(tuple);
        match *self.f.op(root) {
            Op::General(G::BuildTuple, _) => Some(self.f.insts[root].args.len()),
            Op::Const(object) => self.world.tuple_items(object).map(|items| items.len()),
            Op::Arg(k) => *self.inlined?.sizes.get(k as usize)?,
            _ => None,
        }
    }

    /// `f(*args, **names)` where `names` is a dict that the caller has made without entries: the
    /// instructions up to the call, which copy it, are skipped. Returns false, and does nothing, in
    /// any other place.
    pub(super) fn forwards_no_names(&mut self) -> bool {
        let ahead = |k: u32| self.code.instrs.get((self.pc.0 + k) as usize);
        let [Some(load), Some(merge), Some(call)] = [1, 2, 3].map(ahead) else {
            return false;
        };
        let is_load = matches!(load.op, B::LoadFast | B::LoadFastBorrow);
        if !is_load
            || (merge.op, merge.arg) != (B::DictMerge, 1)
            || (call.op, call.arg & 1) != (B::CallFunctionEx, 1)
            || (1..=3).any(|k| self.is_leader(Pc(self.pc.0 + k)))
        {
            return false;
        }
        let names = self.f.object_of(self.locals[load.arg as usize]);
        let size = match *self.f.op(names) {
            Op::Arg(k) => self.inlined.and_then(|shown| *shown.sizes.get(k as usize)?),
            _ => None,
        };
        let is_empty = size == Some(0) && self.ty(names) <= Type::DICT_EXACT;
        is_empty && self.call_spread(Pc(self.pc.0 + 3))
    }

    fn end_call(&mut self, join: Block) {
        let args = self.top_values(1);
        self.end_block(Term::Jump(Edge { block: join, args }));
    }

    /// Unboxes an object of this class. An int may have too many digits: only then the unit
    /// deoptimises here.
    fn take_out(&mut self, object: Value, kind: RawKind, state: StateId) -> Value {
        let op = Op::unboxing(kind);
        let state = op.exit_reason().map(|_| state);
        self.emit_with(op, vec![object], kind.raw(), state)
    }

    /// A call through a raw entry: each argument is unboxed, and a virtual box replaces its object,
    /// to be allocated only where an instruction needs it. Returns false, and does nothing, if an
    /// argument is expected to be of another class.
    fn call_raw(
        &mut self,
        function: Value,
        base: usize,
        n: usize,
        defaults: &[ObjectHandle],
        entry: RawEntry,
    ) -> bool {
        let params = entry.signature.params.clone();
        let first_default = defaults.len() - (params.len() - n);
        let large = self.avoids(Reason::IntTooLarge);
        for (i, &kind) in params.iter().enumerate() {
            let ty = match self.stack.get(base + 2 + i) {
                Some(entry) => {
                    let ty = self.ty(entry.value);
                    let hint = self.hints.get(&entry.value).copied().unwrap_or(ty);
                    let bets = ty.could_be(kind.boxed())
                        && hint.could_be(kind.boxed())
                        && !self.avoids(Reason::Type);
                    if bets { kind.boxed() } else { ty }
                }
                None => Type::from_object(defaults[first_default + i - n]),
            };
            if !(ty <= kind.boxed()) || kind == RawKind::Int && large {
                return false;
            }
        }
        self.start_instr();
        let state = self.state();
        let mut args = vec![function];
        for (i, &kind) in params.iter().enumerate() {
            let object = match self.stack.get(base + 2 + i) {
                Some(entry) => self.guard_type(entry.value, kind.boxed()),
                None => self.object(defaults[first_default + i - n]),
            };
            args.push(self.take_out(object, kind, state));
        }
        for (i, &kind) in params.iter().enumerate().take(n) {
            let boxed = self.emit(Op::boxing(kind), vec![args[1 + i]], kind.boxed());
            self.replace_operand(base + 2 + i, boxed);
        }
        // While raw code runs, no code can drop the function; where other code runs, the call keeps
        // the function alive.
        let callable = std::mem::replace(
            &mut self.stack[base],
            Entry {
                value: function,
                owned: false,
            },
        );
        self.drop_entry(callable);
        self.start_instr();
        let state = self.state();
        let result = entry.signature.result;
        let call = Op::CallRaw(entry, n as u32 + 2);
        let raw = self.emit_raising(call, args, result.raw(), state);
        let boxed = self.emit(Op::boxing(result), vec![raw], result.boxed());
        self.forget_top(n + 2);
        self.push_owned(boxed);
        true
    }

    /// Return `v`, which the instruction has popped or which is its constant; a closed unit returns
    /// the raw value.
    pub(super) fn return_value(&mut self, v: Value, popped: bool) -> Result<(), Unsupported> {
        let Some(own) = self.closed else {
            self.end_block(Term::Return(v));
            return Ok(());
        };
        let kind = own.signature.result;
        if !self.ty(v).could_be(kind.boxed()) {
            return Err(self.unsupported("a result of several classes in a closed unit"));
        }
        if popped {
            self.push_owned(v);
            self.start_instr();
        }
        let state = self.state();
        let v = self.guard_type(v, kind.boxed());
        if !(self.ty(v) <= kind.boxed()) {
            return Err(self.unsupported("a result of several classes in a closed unit"));
        }
        let raw = self.take_out(v, kind, state);
        if popped {
            self.forget_top(1);
        }
        self.end_block(Term::Return(raw));
        Ok(())
    }

    /// Returns true if it is known that the second entry of a call is null, or that it is not.
    pub(super) fn self_is_known(&self, this: Value) -> bool {
        self.ty(this) <= Type::NULLPTR || self.ty(this) <= Type::OBJECT
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

    /// Replace a callable on the stack by the constant that it was found to be.
    fn replace_callable(&mut self, at: usize, function: Value) {
        self.emit(Op::Incref, vec![function], Type::BOTTOM);
        let new = Entry {
            value: function,
            owned: true,
        };
        let old = std::mem::replace(&mut self.stack[at], new);
        if old.owned && self.is_counted(old.value) {
            let ty = self.ty(old.value);
            let held = self.emit(Op::Held, vec![old.value], ty);
            self.decref(held);
        }
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
            return n == 2 && self.extreme(builtin, base);
        }
        if n != 1 {
            return false;
        }
        let arg = self.stack[base + 2].value;
        match builtin {
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
