//! Calls of program functions, methods, classes, builtins and unknown callables.

use super::Arg;
use crate::bytecode::{FunctionAttribute, LocalKind};
use crate::facts::Source;
use crate::hir::{Op, Value};
use crate::infer::Sv;
use crate::infer::engine::{BEYOND, Engine, MAX_CALLEES, Outcome, Version, VersionKey};
use crate::infer::identity::{Identity, Kind, Slot};
use crate::infer::program::FuncId;
use crate::infer::special::Site;
use crate::infer::value::{Facts, plain};
use crate::types::{ConstValue, Type};

impl Engine<'_> {
    /// The general call. Operands: the names of keywords or null, the callable, self or null,
    /// arguments.
    pub(super) fn call_general(&mut self, v: Value, mut args: Vec<Arg>) -> Outcome {
        let names = args.remove(0);
        let callee = args.remove(0);
        let this = args.remove(0);
        if !names.facts.is(Type::NULLPTR) {
            // Arguments by keyword are not matched with parameters: all arguments escape.
            let mut all = vec![callee, this];
            all.extend(args);
            return self.unknown(v, &all);
        }
        let bound = this.facts.ty.could_be(Type::NULLPTR);
        let mut with_self = args.clone();
        let mut receiver = this.clone();
        receiver.facts = self.restrict(this.facts.clone(), Type::OBJECT);
        let receiver_possible = !receiver.facts.is_impossible();
        with_self.insert(0, receiver);
        match (bound, receiver_possible) {
            (true, false) => self.call(&callee, args),
            (false, _) => self.call(&callee, with_self),
            // The callable may or may not be a method.
            (true, true) => {
                let (mut methods, mut others) = (callee.clone(), callee.clone());
                let ids = callee.facts.objects.ids.clone();
                let is_function = |id: &Identity| {
                    matches!(self.set.own_heap(*id).kind, Kind::Function | Kind::Builtin)
                };
                methods.facts.objects.ids = ids.iter().copied().filter(is_function).collect();
                others.facts.objects.ids = ids.to_vec();
                // An unknown callable may be a method too.
                if methods.facts.objects.ids.is_empty() && !methods.facts.objects.open {
                    return self.call(&callee, args);
                }
                let one = self.call(&methods, with_self);
                let one = self.outcome_facts(one);
                let other = self.call(&others, args);
                let other = self.outcome_facts(other);
                Outcome::Value(one.join(&other))
            }
        }
    }

    /// Calls each callable that the value may be.
    pub(in crate::infer) fn call(&mut self, callee: &Arg, args: Vec<Arg>) -> Outcome {
        let facts = callee.facts.clone();
        let mut outcomes: Vec<Outcome> = Vec::new();
        let site = self.call_site();
        let many = self.plan.is_crowded(&site);
        if facts.objects.open || many {
            self.set.escape(&facts);
            for arg in &args {
                self.set.escape(&arg.facts);
            }
            self.raise_any();
            outcomes.push(Outcome::Value(Facts::any_object()));
        }
        if facts.objects.ids.len() > MAX_CALLEES {
            self.crowded.insert(site);
        }
        if !many {
            for &id in &facts.objects.ids {
                let outcome = self.call_one(id, &args, callee.facts.source);
                outcomes.push(outcome);
            }
        }
        if facts.ty.could_be(plain()) {
            self.raise_named("TypeError");
        }
        if facts.objects.ids.is_empty() && !facts.objects.open {
            return Outcome::Blocked;
        }
        // The source of a result is at most as strong as that of the callable.
        let shares = |engine: &Engine<'_>, outcome: &Outcome| match outcome {
            Outcome::Same(sv) => engine.set.get(*sv).source >= facts.source,
            _ => false,
        };
        if outcomes.len() == 1 && (facts.source == Source::Proved || shares(self, &outcomes[0])) {
            return outcomes.remove(0);
        }
        let mut joined = Facts::IMPOSSIBLE;
        for outcome in outcomes {
            let one = self.outcome_facts(outcome);
            joined = joined.join(&one);
        }
        Outcome::Value(joined.because(facts.source))
    }

    fn call_one(&mut self, id: Identity, args: &[Arg], source: Source) -> Outcome {
        let heap = self.set.own_heap(id);
        let (kind, link, name) = (heap.kind, heap.link, heap.name.clone());
        match kind {
            Kind::Function => self.call_function(id, FuncId::from_u32(link), args),
            Kind::Bound => {
                let (sv, this) = self.read_slot(id, Slot::ImSelf);
                let (_, function) = self.read_slot(id, Slot::ImFunc);
                let mut all = vec![Arg { sv, facts: this }];
                all.extend(args.iter().cloned());
                let callee = Arg {
                    sv: Sv::MOST_GENERAL,
                    facts: function,
                };
                self.call(&callee, all)
            }
            Kind::Builtin => self.call_builtin(&name, args, source),
            Kind::Class if self.is_builtin_class(id) => self.call_builtin(&name, args, source),
            Kind::Class => self.construct(id, args),
            Kind::Instance => {
                let class = self.class_of(id);
                let looked = self.lookup(class, "__call__");
                if !looked.surely {
                    self.raise_named("TypeError");
                }
                let function = looked.facts;
                if function.is_impossible() {
                    return Outcome::Value(Facts::IMPOSSIBLE);
                }
                let this = Facts {
                    ty: Type::USER,
                    ..Facts::object(Type::USER, id)
                };
                let mut all = vec![Arg {
                    sv: Sv::MOST_GENERAL,
                    facts: this,
                }];
                all.extend(args.iter().cloned());
                let callee = Arg {
                    sv: Sv::MOST_GENERAL,
                    facts: function,
                };
                self.call(&callee, all)
            }
            _ => {
                self.raise_named("TypeError");
                Outcome::Value(Facts::IMPOSSIBLE)
            }
        }
    }

    /// Calls a function of the program.
    fn call_function(&mut self, id: Identity, func: FuncId, args: &[Arg]) -> Outcome {
        let program = self.program;
        let code = &program.functions[func].code;
        let positional = code.argcount as usize;
        if code.kwonly > 0 || code.varkeywords {
            self.set.escape(&Facts::object(Type::FUNC, id));
            for arg in args {
                self.set.escape(&arg.facts);
            }
            self.raise_any();
            return Outcome::Value(Facts::any_object());
        }
        let (_, defaults) = self.read_slot(id, Slot::Defaults);
        let given = args.len();
        if given > positional && !code.varargs {
            self.raise_named("TypeError");
            return Outcome::Value(Facts::IMPOSSIBLE);
        }
        let mut all: Vec<Facts> = args
            .iter()
            .take(positional)
            .map(|a| a.facts.clone())
            .collect();
        while all.len() < positional {
            let missing = self.default_value(&defaults, all.len(), positional);
            // A function that exists from the start may be called before its defaults are set.
            let is_there_before = self.plain_functions.get(&func) == Some(&id);
            if is_there_before || missing.is_impossible() {
                self.raise_named("TypeError");
            }
            if missing.is_impossible() {
                return Outcome::Value(Facts::IMPOSSIBLE);
            }
            all.push(missing);
        }
        let extra: Vec<&Arg> = args.iter().skip(positional).collect();
        let site = self.call_site();
        self.note_call(site.clone(), func, &all);
        let version = self.version(VersionKey {
            func,
            group: self.plan.group(&site, func),
            extra: extra.len() as u32,
            namespace: None,
        });
        if code.varargs {
            let rest = self.rest_of(version, &extra);
            all.push(rest);
        }
        for (index, facts) in all.into_iter().enumerate() {
            let param = self.versions[version].params[index];
            self.merge_traced(param, facts, |engine| {
                format!("{}, argument {index}", engine.version_name(version))
            });
        }
        self.bind_cells(id, version);
        let (ret, raised) = (self.versions[version].ret, self.versions[version].raised);
        let exceptions = self.set.read(raised, self.here.reader);
        self.raise(exceptions);
        Outcome::Same(ret)
    }

    /// The current operation, as a call site.
    pub(super) fn call_site(&self) -> Site {
        let here = &self.versions[self.here.version].key;
        Site {
            func: here.func,
            group: here.group.clone(),
            op: Some(self.here.op),
        }
    }

    /// The tuple of the arguments that `*args` takes up.
    fn rest_of(&mut self, version: crate::infer::VersionId, extra: &[&Arg]) -> Facts {
        let key = (version, Value::from_u32(u32::MAX - 1), 0);
        let id = match self.sites.get(&key) {
            Some(&id) => id,
            None => {
                let id = self.set.identity(Kind::Tuple, "");
                self.sites.insert(key, id);
                let length = ConstValue::Int(extra.len() as i64);
                let length = Facts::constant(Type::LONG_EXACT, length);
                self.set.store_facts(id, Slot::Len, length);
                id
            }
        };
        for (index, arg) in extra.iter().enumerate() {
            let facts = arg.facts.clone();
            self.set
                .store_facts(id, Slot::TupleItem(index as u32), facts);
        }
        Facts::object(Type::TUPLE_EXACT, id)
    }

    fn default_value(&mut self, defaults: &Facts, index: usize, positional: usize) -> Facts {
        if defaults.is_impossible() {
            return Facts::IMPOSSIBLE;
        }
        let length = self.length(defaults).constant;
        match (length, defaults.objects.open) {
            (Some(ConstValue::Int(length)), false) => {
                let from_end = (positional - index) as i64;
                if from_end > length {
                    return Facts::IMPOSSIBLE;
                }
                let slot = Slot::TupleItem((length - from_end) as u32);
                self.slots_of(&defaults.clone(), &slot, Kind::Tuple)
            }
            _ => Facts::any_object(),
        }
    }

    /// Gives a version the cells of a function's closure.
    fn bind_cells(&mut self, id: Identity, version: crate::infer::VersionId) {
        let count = self.versions[version].free.len();
        if count == 0 {
            return;
        }
        let (_, closure) = self.read_slot(id, Slot::Closure);
        for index in 0..count {
            let slot = Slot::TupleItem(index as u32);
            let cell = self.slots_of(&closure.clone(), &slot, Kind::Tuple);
            let free = self.versions[version].free[index];
            self.set.widen(free, cell);
        }
    }

    pub(super) fn make_function(&mut self, v: Value, code: &Arg) -> Outcome {
        let f = self.function(self.here.version);
        let mut operand = f.insts[v].args[0];
        while f.insts[operand].op.gives_operand() {
            operand = f.insts[operand].args[0];
        }
        let func = match f.insts[operand].op {
            Op::Const(object) => self.program.by_object.get(&object).copied(),
            _ => None,
        };
        let Some(func) = func else {
            return self.unknown(v, std::slice::from_ref(code));
        };
        let name = self.program.functions[func].code.name.clone();
        let id = self.site(0, Kind::Function, &name);
        self.set.heap_mut(id).link = func.as_u32();
        Outcome::Value(Facts::object(Type::FUNC, id))
    }

    pub(super) fn set_function_attribute(&mut self, which: i64, args: &[Arg]) -> Outcome {
        let slot = match FunctionAttribute::from_arg(which as u32) {
            Some(FunctionAttribute::Defaults) => Slot::Defaults,
            Some(FunctionAttribute::Closure) => Slot::Closure,
            Some(
                FunctionAttribute::KeywordDefaults
                | FunctionAttribute::Annotations
                | FunctionAttribute::Annotate,
            )
            | None => return Outcome::Nothing,
        };
        let functions = args[0].facts.clone();
        self.store_in(&functions, slot, Kind::Function, &args[1]);
        Outcome::Nothing
    }

    /// The identity of a function that no place in the program creates.
    pub(in crate::infer) fn plain_function(&mut self, func: FuncId) -> Identity {
        if let Some(&id) = self.plain_functions.get(&func) {
            return id;
        }
        let name = self.program.functions[func].code.name.clone();
        let id = self.set.identity(Kind::Function, &name);
        self.set.heap_mut(id).link = func.as_u32();
        let locals = &self.program.functions[func].code.locals;
        if locals.iter().any(|local| local.1 == LocalKind::Free) {
            let cells = Facts::of_type(Type::TUPLE_EXACT);
            self.set.store_facts(id, Slot::Closure, cells);
        }
        self.plain_functions.insert(func, id);
        id
    }

    /// Calls a user class.
    fn construct(&mut self, class: Identity, args: &[Arg]) -> Outcome {
        let instance = self.instance_of(class);
        if !self.lookup(class, "__new__").is_absent() {
            self.set.escape(&Facts::object(Type::TYPE_EXACT, class));
            for arg in args {
                self.set.escape(&arg.facts);
            }
            self.raise_any();
            return Outcome::Value(Facts::any_object());
        }
        let as_arg = |facts: &Facts| Arg {
            sv: Sv::MOST_GENERAL,
            facts: facts.clone(),
        };
        let init = self.lookup(class, "__init__").facts;
        // The call runs the first `__init__` found, and `__del__` runs when the instance is
        // deallocated.
        let end = self.lookup(class, "__del__").facts;
        if !end.is_impossible() {
            let raises = self.raises.clone();
            self.call(&as_arg(&end), vec![as_arg(&instance)]);
            self.raises = raises;
        }
        if init.is_impossible() {
            return Outcome::Blocked;
        }
        if init.ty.could_be(Type::BUILTIN_METHOD) && !args.is_empty() {
            if !self.is_exception(class) {
                self.raise_named("TypeError");
            }
            for arg in args {
                self.set.escape(&arg.facts);
            }
        }
        let mut all = vec![as_arg(&instance)];
        all.extend(args.iter().cloned());
        let outcome = self.call(&as_arg(&init), all);
        let result = self.outcome_facts(outcome);
        if result.is_impossible() {
            return Outcome::Blocked;
        }
        if !result.is(Type::NONE_TYPE) {
            self.raise_named("TypeError");
        }
        Outcome::Value(instance)
    }

    /// The `class` statement. Operands: the function of the body, the name, the bases.
    pub(super) fn build_class(&mut self, args: &[Arg]) -> Outcome {
        let body = args.first().map(|arg| arg.facts.clone());
        let functions = body.map(|facts| self.of_kind(&facts, Kind::Function));
        let Some([body]) = functions.as_deref() else {
            return Outcome::Value(Facts::any_object());
        };
        let body = *body;
        let func = FuncId::from_u32(self.set.own_heap(body).link);
        let name = self.program.functions[func].code.name.clone();
        let class = self.site(0, Kind::Class, &name);
        let instance = self.site(1, Kind::Instance, &name);
        self.set.heap_mut(class).link = instance.as_u32();
        self.set.heap_mut(instance).link = class.as_u32();
        self.bodies.insert(class, func);
        if self.is_executed_once() {
            self.made_once.insert(class);
        }
        let mut bases = Vec::new();
        for arg in args.iter().skip(2) {
            let ids = self.of_kind(&arg.facts.clone(), Kind::Class);
            let [base] = ids[..] else {
                return self.unknown_class(class, args);
            };
            let builtin = self.is_builtin_class(base) && !self.is_exception(base);
            let is_object = self.builtin("object") == Some(base);
            if arg.facts.objects.open || builtin && !is_object {
                return self.unknown_class(class, args);
            }
            if !self.lookup(base, "__init_subclass__").is_absent() {
                return self.unknown_class(class, args);
            }
            bases.push(arg.clone());
        }
        if bases.len() > 1 {
            // The orders of several bases may conflict.
            self.raise_named("TypeError");
        }
        self.set.publish(class);
        for (index, base) in bases.iter().enumerate() {
            self.store_arg(class, Slot::Base(index as u32), base);
        }
        let version = self.version(VersionKey {
            func,
            group: None,
            extra: 0,
            namespace: Some(class),
        });
        self.bind_cells(body, version);
        let raised = self.versions[version].raised;
        let exceptions = self.set.read(raised, self.here.reader);
        self.raise(exceptions);
        let ret = self.versions[version].ret;
        let result = self.set.read(ret, self.here.reader);
        if result.is_impossible() {
            return Outcome::Blocked;
        }
        // The body returns the cell in which its methods find the class.
        let made = Facts::object(Type::TYPE_EXACT, class);
        for cell in self.of_kind(&result, Kind::Cell) {
            self.set.store_facts(cell, Slot::Content, made.clone());
        }
        Outcome::Value(Facts::object(Type::TYPE_EXACT, class))
    }

    /// Returns true if the current operation is in the module's body, outside its loops.
    fn is_executed_once(&self) -> bool {
        let f = self.function(self.here.version);
        let is_module = self.program.module == Some(self.versions[self.here.version].key.func);
        let rank = &self.versions[self.here.version].rank;
        let here = rank[self.here.block];
        // A loop's blocks lie between its header and its back edges.
        let mut behind = f.order.iter().filter(|b| rank[**b] >= here);
        is_module
            && !behind.any(|b| {
                let edges = f.blocks[*b].term.edges();
                edges.iter().any(|edge| rank[edge.block] <= here)
            })
    }

    /// Handles a class that unknown code creates. An earlier step, with fewer facts, may have
    /// created it here.
    fn unknown_class(&mut self, class: Identity, args: &[Arg]) -> Outcome {
        let class = Facts::object(Type::TYPE_EXACT, class);
        self.set.escape(&class);
        for arg in args {
            self.set.escape(&arg.facts);
        }
        self.raise_any();
        Outcome::Value(class.join(&Facts::any_object()))
    }

    /// The namespace of a body that outside code runs.
    fn foreign_namespace(&mut self, func: FuncId) -> Identity {
        if let Some(&id) = self.foreign.get(&func) {
            return id;
        }
        let id = self.set.identity(Kind::Namespace, "");
        self.set.escape(&Facts::object(Type::MODULE, id));
        self.foreign.insert(func, id);
        id
    }

    /// Outside code may call this function, or the methods of this class, with any arguments.
    pub(in crate::infer) fn call_from_beyond(&mut self, id: Identity) {
        let heap = self.set.own_heap(id);
        match heap.kind {
            Kind::Function => {
                let func = FuncId::from_u32(heap.link);
                let program = self.program;
                let code = &program.functions[func].code;
                let namespace = if code.optimized || program.module == Some(func) {
                    None
                } else {
                    Some(self.foreign_namespace(func))
                };
                let version = self.version(VersionKey {
                    func,
                    group: None,
                    extra: 0,
                    namespace,
                });
                for index in 0..code.arity() as usize {
                    let ty =
                        match index as u32 - u32::min(index as u32, code.argcount + code.kwonly) {
                            0 if index < (code.argcount + code.kwonly) as usize => Type::OBJECT,
                            0 if code.varargs => Type::TUPLE_EXACT,
                            _ => Type::DICT_EXACT,
                        };
                    let param = self.versions[version].params[index];
                    self.set.widen(param, Facts::of_type(ty));
                }
                let nowhere = self.here.reader;
                self.here.reader = crate::infer::annset::Reader(BEYOND + id.as_u32());
                self.bind_cells(id, version);
                self.here.reader = nowhere;
                let Version { ret, raised, .. } = self.versions[version];
                self.set.flow(ret, self.sink);
                self.set.flow(raised, self.sink);
            }
            Kind::Class if !self.is_builtin_class(id) => {
                // Outside code may create instances; their attributes are unknown.
                let instance = Identity::from_u32(self.set.own_heap(id).link);
                self.set.escape(&Facts::object(Type::USER, instance));
            }
            _ => {}
        }
    }
}
