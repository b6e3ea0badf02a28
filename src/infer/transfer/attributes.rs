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

/// The possible values of a receiver's attribute.
#[derive(Default)]
pub(super) struct Found {
    /// Values that are given as they are.
    pub plain: Vec<Facts>,
    /// Functions, each with the receiver that it is bound to.
    pub methods: Vec<(Facts, Facts)>,
    /// The value may be any object.
    pub unknown: bool,
}

impl Engine<'_> {
    /// The class of the instances.
    pub(in crate::infer) fn class_of(&self, instance: Identity) -> Identity {
        Identity::from_u32(self.set.own_heap(instance).link)
    }

    /// The namespace that the current code binds names in: a class's or the module's.
    fn namespace(&self) -> Identity {
        let key = &self.versions[self.here.version].key;
        key.namespace.unwrap_or(self.globals)
    }

    /// Loads a global name or, in the body of a class or module, any name.
    pub(super) fn load_global(&mut self, v: Value, op: G, index: i64) -> Outcome {
        let name = self.name(index);
        let func = self.versions[self.here.version].key.func;
        let namespace = self.namespace();
        let mut found = Facts::IMPOSSIBLE;
        let is_bound_here = op == G::LoadName && self.names.is_bound_at(func, &name, v);
        if is_bound_here || op == G::LoadName && namespace != self.globals {
            let (sv, own) = self.read_slot(namespace, Slot::Attr(name.clone()));
            if is_bound_here {
                return Outcome::Same(sv);
            }
            found = own;
        }
        if matches!(
            &*name,
            "__name__" | "__qualname__" | "__module__" | "__file__" | "__doc__"
        ) {
            let text = Facts::of_type(Type::UNICODE_EXACT).because(Source::Assumed);
            return Outcome::Value(found.join(&text));
        }
        let (sv, facts) = self.read_slot(self.globals, Slot::Attr(name.clone()));
        // The answer whether the name may be unbound must not depend on the progress of the
        // analysis.
        let from_start = self.program.globals.contains_key(&*name);
        if from_start && !self.names.is_deleted(&name) {
            return if found.is_impossible() {
                Outcome::Same(sv)
            } else {
                Outcome::Value(found.join(&facts))
            };
        }
        found = found.join(&facts);
        match self.builtin_facts(&name) {
            Some(builtin) => found = found.join(&builtin.because(Source::Assumed)),
            // A name that the program binds holds the bound values, or is unbound. Other names are
            // unknown.
            None if self.names.is_bound(&name) || from_start => self.raise_named("NameError"),
            None => {
                let other = self.unknown(v, &[]);
                let other = self.outcome_facts(other);
                found = found.join(&other);
            }
        }
        Outcome::Value(found)
    }

    pub(super) fn store_name(&mut self, index: i64, value: &Arg, op: G) -> Outcome {
        let name = self.name(index);
        let namespace = match op {
            G::StoreGlobal => self.globals,
            _ => self.namespace(),
        };
        // The compiler stores the class of a body in a cell, for `super()` in its methods.
        if &*name == "__classcell__" && namespace != self.globals {
            let class = Facts::object(Type::TYPE_EXACT, namespace);
            for cell in self.of_kind(&value.facts.clone(), Kind::Cell) {
                self.set.store_facts(cell, Slot::Content, class.clone());
            }
        }
        // `__set_name__` of an instance is called with its class and name.
        let is_told = value.facts.objects.ids.iter().any(|&id| {
            self.set.own_heap(id).kind == Kind::Instance && {
                let class = self.class_of(id);
                !self.lookup(class, "__set_name__").is_absent()
            }
        });
        if is_told && namespace != self.globals {
            self.set.escape(&value.facts);
            self.set.escape(&Facts::object(Type::TYPE_EXACT, namespace));
        }
        self.store_arg(namespace, Slot::Attr(name), value);
        Outcome::Nothing
    }

    /// Looks an attribute up in all objects that the receiver may be.
    pub(super) fn find_attribute(&mut self, receiver: &Facts, name: &Arc<str>) -> Found {
        let mut found = Found::default();
        let mut seen = Type::BOTTOM;
        for &id in &receiver.objects.ids {
            let kind = self.set.own_heap(id).kind;
            seen |= kind.ty();
            match kind {
                Kind::Instance => self.find_in_instance(receiver, id, name, &mut found),
                Kind::Exception => {
                    let looked = self.lookup(self.class_of(id), name);
                    if looked.facts.is_impossible() {
                        self.missing(receiver, name, &mut found)
                    } else {
                        found.plain.push(looked.facts)
                    }
                }
                Kind::Class if self.is_builtin_class(id) => found.unknown = true,
                Kind::Class => self.find_in_class(receiver, id, name, &mut found),
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
                _ => self.lost(receiver, &mut found),
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
            if name.starts_with("__") {
                found.unknown = true;
            } else {
                self.raise_named("AttributeError");
            }
        }
        if !(others - Type::NONE_TYPE - Type::PRIMITIVE).is_bottom() || receiver.objects.open {
            found.unknown = true;
        }
        found
    }

    /// Notes that the attribute is unknown, and that its value may keep the receiver.
    fn lost(&mut self, receiver: &Facts, found: &mut Found) {
        found.unknown = true;
        self.set.escape(receiver);
    }

    /// Handles a missing attribute. Those that every object has, such as `__class__`, are unknown.
    fn missing(&mut self, receiver: &Facts, name: &str, found: &mut Found) {
        let of_all =
            name.starts_with("__") || matches!(name, "with_traceback" | "add_note" | "mro");
        if matches!(name, "__context__" | "__cause__" | "__traceback__") {
            let handled = self.set.read(self.handled, self.here.reader);
            self.set.escape(&handled);
        }
        if of_all {
            self.lost(receiver, found)
        } else {
            self.raise_named("AttributeError")
        }
    }

    fn find_in_class(&mut self, receiver: &Facts, id: Identity, name: &str, found: &mut Found) {
        let looked = self.lookup(id, name);
        let has_slots = !self.lookup(id, "__slots__").is_absent();
        if has_slots {
            self.lost(receiver, found);
        }
        if !looked.surely {
            self.missing(receiver, name, found);
        }
        // An object from outside may be a descriptor, which receives the class.
        if looked.facts.objects.open && !(looked.facts.ty <= plain()) {
            self.lost(receiver, found);
        }
        if self.may_be_descriptor(&looked.facts) {
            self.lost(receiver, found);
        }
        if !looked.facts.is_impossible() {
            found.plain.push(looked.facts);
        }
    }

    /// Returns true if the value may be an instance that defines `__get__`.
    fn may_be_descriptor(&mut self, facts: &Facts) -> bool {
        facts.objects.ids.iter().any(|&id| {
            self.set.own_heap(id).kind == Kind::Instance && {
                let class = self.class_of(id);
                !self.lookup(class, "__get__").is_absent()
            }
        })
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
            let hook = self.lookup(class, hook);
            if !hook.is_absent() {
                self.set.escape(&hook.facts);
                self.lost(receiver, found);
            }
        }
        if matches!(&**name, "__class__" | "__dict__") {
            self.lost(receiver, found);
        }
        let (_, own) = self.read_slot(id, Slot::Attr(name.clone()));
        let looked = self.lookup(class, name);
        if !looked.surely {
            self.missing(receiver, name, found);
        }
        let shared = looked.facts;
        if self.may_be_descriptor(&shared) {
            self.lost(receiver, found);
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
                _ => values.objects.ids.push(member),
            }
        }
        if shared.objects.open && !(shared.ty <= plain()) {
            self.lost(receiver, found);
        }
        let rest = if values.objects.ids.is_empty() && !values.objects.open {
            values.ty & plain()
        } else {
            values.ty
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
            let ty = if function.ty.could_be(Type::FUNC) {
                Type::METHOD
            } else {
                Type::BUILTIN_METHOD_EXACT
            };
            facts = facts.join(&Facts::object(ty, id));
        }
        if facts.is_impossible() {
            Outcome::Blocked
        } else {
            Outcome::Value(facts.because(arg.facts.source))
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

    /// `super().name`: the lookup in the bases of the class.
    pub(super) fn load_super(&mut self, v: Value, imms: [i64; 2], args: &[Arg]) -> Outcome {
        let name = self.name(imms[0]);
        let (class, receiver) = (args[1].facts.clone(), args[2].facts.clone());
        let classes = self.of_kind(&class, Kind::Class);
        let mut found = Facts::IMPOSSIBLE;
        let mut known =
            !class.objects.open && !receiver.objects.open && !(receiver.ty.could_be(plain()));
        for &instance in &receiver.objects.ids {
            if self.set.own_heap(instance).kind != Kind::Instance {
                known = false;
                continue;
            }
            let Some(order) = self.linearized(self.class_of(instance)) else {
                known = false;
                continue;
            };
            for id in &classes {
                match order.iter().position(|class| class == id) {
                    Some(at) => {
                        let looked = self.lookup_in(&order[at + 1..], &name);
                        known &= looked.surely;
                        found = found.join(&looked.facts);
                    }
                    None => self.raise_named("TypeError"),
                }
            }
        }
        if known && found.is_impossible() {
            return Outcome::Blocked;
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
        if matches!(&*name, "__class__" | "__dict__" | "__bases__") {
            return self.unknown(v, args);
        }
        let mut stored = false;
        for &id in &receiver.objects.ids {
            match self.set.own_heap(id).kind {
                Kind::Instance => {
                    let class = self.class_of(id);
                    let setter = self.lookup(class, "__setattr__");
                    let shared = self.lookup(class, &name).facts;
                    // A descriptor may define `__set__`.
                    let is_plain = shared.is(plain() | Type::FUNC);
                    if !setter.is_absent() || !(shared.is_impossible() || is_plain) {
                        return self.unknown(v, args);
                    }
                    if !self.lookup(class, "__slots__").is_absent() {
                        self.raise_named("AttributeError");
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
        if stored {
            Outcome::Nothing
        } else {
            Outcome::Blocked
        }
    }

    /// Calls a special method of the operand's classes. None if the operand may be an object whose
    /// class the program does not define.
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
        let looked = self.special_methods(&facts, name)?;
        if !looked.surely {
            return None;
        }
        if looked.facts.is_impossible() {
            return Some(Outcome::Blocked);
        }
        let callee = Arg {
            sv: crate::infer::Sv::MOST_GENERAL,
            facts: looked.facts,
        };
        let mut all = vec![receiver.clone()];
        all.extend(args);
        Some(self.call(&callee, all))
    }
}
