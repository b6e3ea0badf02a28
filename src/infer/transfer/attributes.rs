//! Names and attributes: modules, classes, instances, methods.

use super::Arg;
use crate::bytecode::GeneralOp as G;
use crate::facts::Source;
use crate::hir::Value;
use crate::infer::engine::{Engine, Outcome};
use crate::infer::identity::{Identity, Kind, Slot};
use crate::infer::value::{Facts, plain};
use crate::types::Type;
use std::sync::Arc;

/// What an attribute of a receiver may be.
#[derive(Default)]
pub(super) struct Found {
    /// Values.
    pub plain: Vec<Facts>,
    /// Functions that bind a receiver.
    pub methods: Vec<(Facts, Facts)>,
    /// It may be anything at all.
    pub unknown: bool,
}

impl Engine<'_> {
    /// The class of the instances.
    pub(super) fn class_of(&self, instance: Identity) -> Identity {
        Identity::from_u32(self.set.own_heap(instance).link)
    }

    /// The names that the code at hand binds: a class's, or the module's.
    fn namespace(&self) -> Identity {
        let key = &self.versions[self.here.version].key;
        key.namespace.unwrap_or(self.globals)
    }

    pub(super) fn load_global(&mut self, v: Value, index: i64) -> Outcome {
        let name = self.name(index);
        let namespace = self.namespace();
        if namespace != self.globals {
            let (sv, own) = self.read_slot(namespace, Slot::Attr(name.clone()));
            if !own.is_impossible() {
                return Outcome::Same(sv);
            }
        }
        if matches!(
            &*name,
            "__name__" | "__qualname__" | "__module__" | "__file__" | "__doc__"
        ) {
            return Outcome::Value(Facts::of_type(Type::UNICODE_EXACT).because(Source::Assumed));
        }
        let (sv, facts) = self.read_slot(self.globals, Slot::Attr(name.clone()));
        if !facts.is_impossible() {
            return Outcome::Same(sv);
        }
        if let Some(facts) = self.builtin_facts(&name) {
            return Outcome::Value(facts.because(Source::Assumed));
        }
        // A name that the program binds holds what it binds, once it has; others are not known.
        match self.binds(&name) {
            true => Outcome::Blocked,
            false => self.unknown(v, &[]),
        }
    }

    /// Whether some code of the program binds the name in the module.
    fn binds(&self, name: &str) -> bool {
        use crate::bytecode::Op as B;
        self.program.functions.values().any(|f| {
            f.code.instrs.iter().any(|instr| {
                let is_module = instr.op == B::StoreName && f.code.name == "<module>";
                (is_module || instr.op == B::StoreGlobal)
                    && f.code
                        .names
                        .get(instr.arg as usize)
                        .is_some_and(|n| n == name)
            })
        })
    }

    pub(super) fn store_name(&mut self, index: i64, value: &Arg, op: G) -> Outcome {
        let name = self.name(index);
        let namespace = match op {
            G::StoreGlobal => self.globals,
            _ => self.namespace(),
        };
        // The class of a body is put into the cell that its methods find it in.
        if &*name == "__classcell__" && namespace != self.globals {
            let class = Facts::object(Type::TYPE_EXACT, namespace);
            for cell in self.of_kind(&value.facts.clone(), Kind::Cell) {
                self.set.store_facts(cell, Slot::Content, class.clone());
            }
        }
        self.store_arg(namespace, Slot::Attr(name), value);
        Outcome::Nothing
    }

    /// Look an attribute up in all that the receiver may be.
    pub(super) fn find_attribute(&mut self, receiver: &Facts, name: &Arc<str>) -> Found {
        let mut found = Found::default();
        let mut seen = Type::BOTTOM;
        for &id in &receiver.objects.ids {
            let heap = self.set.own_heap(id);
            let (kind, label) = (heap.kind, heap.name.clone());
            seen |= kind.ty();
            match kind {
                Kind::Instance => self.find_in_instance(receiver, id, name, &mut found),
                Kind::Exception => match self.class_attribute(self.class_of(id), name) {
                    facts if facts.is_impossible() => self.raise_named("AttributeError"),
                    facts => found.plain.push(facts),
                },
                Kind::Class => match self.class_attribute(id, name) {
                    facts if !facts.is_impossible() => found.plain.push(facts),
                    _ if self.is_builtin_class(id) => found.unknown = true,
                    _ => self.raise_named("AttributeError"),
                },
                Kind::List | Kind::Dict | Kind::Set => {
                    let class = match kind {
                        Kind::List => "list",
                        Kind::Dict => "dict",
                        _ => "set",
                    };
                    match self.builtin_facts(&format!("{class}.{name}")) {
                        Some(method) => {
                            let own = Facts {
                                objects: super::super::value::Objects::one(id),
                                ..receiver.clone()
                            };
                            let own = self.restrict(own, kind.ty());
                            found.methods.push((method, own));
                        }
                        None => self.lost(receiver, &mut found),
                    }
                }
                _ => {
                    let _ = label;
                    self.lost(receiver, &mut found);
                }
            }
        }
        let rest = receiver.ty - seen;
        let texts = rest & Type::UNICODE_EXACT;
        if !texts.is_bottom() {
            match self.builtin_facts(&format!("str.{name}")) {
                Some(method) => found
                    .methods
                    .push((method, Facts::of_type(Type::UNICODE_EXACT))),
                None => found.unknown = true,
            }
        }
        let others = (rest - Type::UNICODE_EXACT) & plain();
        if others.could_be(Type::NONE_TYPE) {
            self.raise_named("AttributeError");
        }
        if !(others - Type::NONE_TYPE - Type::PRIMITIVE).is_bottom() || receiver.objects.open {
            found.unknown = true;
        }
        found
    }

    /// The attribute is one of those that nothing is known of, and what it belongs to may go with it.
    fn lost(&mut self, receiver: &Facts, found: &mut Found) {
        found.unknown = true;
        self.set.escape(receiver);
    }

    fn find_in_instance(
        &mut self,
        receiver: &Facts,
        id: Identity,
        name: &Arc<str>,
        found: &mut Found,
    ) {
        let class = self.class_of(id);
        for hook in ["__getattr__", "__getattribute__"] {
            let facts = self.class_attribute(class, &Arc::from(hook));
            if !facts.is_impossible() {
                self.set.escape(&facts);
                self.lost(receiver, found);
            }
        }
        let (_, own) = self.read_slot(id, Slot::Attr(name.clone()));
        let shared = self.class_attribute(class, name);
        if own.is_impossible() && shared.is_impossible() {
            self.raise_named("AttributeError");
            return;
        }
        if !own.is_impossible() {
            found.plain.push(own);
        }
        let bound = Facts {
            objects: super::super::value::Objects::one(id),
            ..receiver.clone()
        };
        let bound = self.restrict(bound, Kind::Instance.ty());
        let mut values = shared.clone();
        values.objects.ids.clear();
        for &member in &shared.objects.ids {
            match self.set.own_heap(member).kind {
                Kind::Function | Kind::Builtin => {
                    let ty = self.set.own_heap(member).kind.ty();
                    let function = Facts::object(ty, member).because(shared.source);
                    found.methods.push((function, bound.clone()));
                }
                // An instance may have a say in what reading it gives.
                Kind::Instance => {
                    let getter = self.class_of(member);
                    let getter = self.class_attribute(getter, &Arc::from("__get__"));
                    match getter.is_impossible() {
                        true => values.objects.ids.push(member),
                        false => self.lost(receiver, found),
                    }
                }
                _ => values.objects.ids.push(member),
            }
        }
        if shared.objects.open && !(shared.ty <= plain()) {
            self.lost(receiver, found);
        }
        let rest = match values.objects.ids.is_empty() && !values.objects.open {
            true => values.ty & plain(),
            false => values.ty,
        };
        values.ty = rest;
        let values = values.normal();
        if !shared.is_impossible() && !values.is_impossible() {
            found.plain.push(values);
        }
    }

    pub(super) fn load_attr(&mut self, v: Value, index: i64, arg: &Arg) -> Outcome {
        let name = self.name(index);
        let found = self.find_attribute(&arg.facts.clone(), &name);
        if found.unknown {
            return self.unknown(v, std::slice::from_ref(arg));
        }
        let mut facts = Facts::IMPOSSIBLE;
        for one in &found.plain {
            facts = facts.join(one);
        }
        for (number, (function, receiver)) in found.methods.iter().enumerate() {
            let label = match function.objects.ids.first() {
                Some(id) => self.set.own_heap(*id).name.clone(),
                None => name.clone(),
            };
            let id = self.site(number as u32, Kind::Bound, &label);
            let same = self.set.get(arg.sv) == *receiver;
            let this = Arg {
                sv: if same {
                    arg.sv
                } else {
                    crate::infer::Sv::MOST_GENERAL
                },
                facts: receiver.clone(),
            };
            self.store_arg(id, Slot::ImSelf, &this);
            self.set.store_facts(id, Slot::ImFunc, function.clone());
            let ty = match function.ty.could_be(Type::FUNC) {
                true => Type::METHOD,
                false => Type::BUILTIN_METHOD_EXACT,
            };
            facts = facts.join(&Facts::object(ty, id));
        }
        match facts.is_impossible() {
            true => Outcome::Blocked,
            false => Outcome::Value(facts.because(arg.facts.source)),
        }
    }

    pub(super) fn load_method(&mut self, v: Value, index: i64, arg: &Arg) -> Outcome {
        let name = self.name(index);
        let found = self.find_attribute(&arg.facts.clone(), &name);
        if found.unknown {
            for output in [0, 1] {
                self.output(output, Facts::MOST_GENERAL);
            }
            return self.unknown(v, std::slice::from_ref(arg));
        }
        let (mut callable, mut this) = (Facts::IMPOSSIBLE, Facts::IMPOSSIBLE);
        for facts in &found.plain {
            callable = callable.join(facts);
            this = this.join(&Facts::of_type(Type::NULLPTR));
        }
        for (function, receiver) in &found.methods {
            callable = callable.join(function);
            this = this.join(receiver);
        }
        if callable.is_impossible() {
            return Outcome::Blocked;
        }
        self.output(0, callable.because(arg.facts.source));
        self.output(1, this);
        Outcome::Nothing
    }

    /// `super().name`: what the bases of the class have.
    pub(super) fn load_super(&mut self, v: Value, imms: [i64; 2], args: &[Arg]) -> Outcome {
        let name = self.name(imms[0]);
        let (class, receiver) = (args[1].facts.clone(), args[2].facts.clone());
        let classes = self.of_kind(&class, Kind::Class);
        let mut found = Facts::IMPOSSIBLE;
        let known = !class.objects.open && !receiver.objects.open;
        for id in classes {
            for index in 0.. {
                let Some(base) = self.set.slot_facts(id, &Slot::Base(index)) else {
                    break;
                };
                for base in base.objects.ids {
                    found = found.join(&self.class_attribute(base, &name));
                }
            }
            if self.set.slot_facts(id, &Slot::Base(0)).is_none()
                && let Some(object) = self.builtin("object")
            {
                found = found.join(&self.class_attribute(object, &name));
            }
        }
        let functions = Type::FUNC | Type::BUILTIN_METHOD_EXACT;
        if !known || found.is_impossible() || !found.is(functions) || found.objects.open {
            for output in [0, 1] {
                self.output(output, Facts::MOST_GENERAL);
            }
            return self.unknown(v, args);
        }
        if imms[1] & 1 == 0 {
            return self.unknown(v, args);
        }
        self.output(0, found);
        self.output(1, receiver);
        Outcome::Nothing
    }

    pub(super) fn store_attr(&mut self, v: Value, index: i64, args: &[Arg]) -> Outcome {
        let name = self.name(index);
        let (receiver, value) = (args[0].facts.clone(), &args[1]);
        let mut stored = false;
        for &id in &receiver.objects.ids {
            match self.set.own_heap(id).kind {
                Kind::Instance => {
                    let class = self.class_of(id);
                    let setter = self.class_attribute(class, &Arc::from("__setattr__"));
                    let shared = self.class_attribute(class, &name);
                    // A descriptor may have a say in what is stored.
                    let is_plain = shared.is(plain() | Type::FUNC);
                    if !setter.is_impossible() || !(shared.is_impossible() || is_plain) {
                        return self.unknown(v, args);
                    }
                    self.store_arg(id, Slot::Attr(name.clone()), value);
                    stored = true;
                }
                Kind::Class if !self.is_builtin_class(id) => {
                    self.store_arg(id, Slot::Attr(name.clone()), value);
                    stored = true;
                }
                _ => return self.unknown(v, args),
            }
        }
        if receiver.objects.open {
            return self.unknown(v, args);
        }
        if receiver.ty.could_be(plain()) {
            self.raise_named("AttributeError");
        }
        match stored {
            true => Outcome::Nothing,
            false => Outcome::Blocked,
        }
    }

    /// Call a special method of the operand's classes; none if it may be an object without a class of the program.
    pub(super) fn special(
        &mut self,
        receiver: &Arg,
        name: &str,
        args: Vec<Arg>,
    ) -> Option<Outcome> {
        let facts = receiver.facts.clone();
        if facts.objects.open || facts.objects.ids.is_empty() || facts.ty.could_be(plain()) {
            return None;
        }
        let name: Arc<str> = Arc::from(name);
        let mut callee = Facts::IMPOSSIBLE;
        for &id in &facts.objects.ids {
            if self.set.own_heap(id).kind != Kind::Instance {
                return None;
            }
            let class = self.class_of(id);
            let one = self.class_attribute(class, &name);
            if one.is_impossible() {
                return None;
            }
            callee = callee.join(&one);
        }
        if !callee.is(Type::FUNC) || callee.objects.open {
            return None;
        }
        let callee = Arg {
            sv: crate::infer::Sv::MOST_GENERAL,
            facts: callee,
        };
        let mut all = vec![receiver.clone()];
        all.extend(args);
        // A method that gives NotImplemented leaves it to the other operand.
        Some(self.call(&callee, all))
    }
}
