//! The host functions and methods that the engine knows.

use super::Arg;
use crate::facts::Source;
use crate::infer::engine::{Engine, Outcome};
use crate::infer::identity::{Kind, Slot};
use crate::infer::value::{Facts, plain};
use crate::types::{ConstValue, Type};

fn int() -> Facts {
    Facts::of_type(Type::LONG_EXACT)
}

fn none() -> Facts {
    Facts::constant(Type::NONE_TYPE, ConstValue::None)
}

impl Engine<'_> {
    /// Calls a builtin by its name.
    pub(super) fn call_builtin(&mut self, name: &str, args: &[Arg], source: Source) -> Outcome {
        let weakest = args.iter().map(|arg| arg.facts.source).max();
        let source = source.max(weakest.unwrap_or(Source::Proved));
        match self.known_call(name, args) {
            Some(Outcome::Value(facts)) => Outcome::Value(facts.because(source)),
            Some(outcome) => outcome,
            None => {
                for arg in args {
                    self.set.escape(&arg.facts);
                }
                self.raise_any();
                Outcome::Value(Facts::any_object())
            }
        }
    }

    fn known_call(&mut self, name: &str, args: &[Arg]) -> Option<Outcome> {
        if let Some((class, method)) = name.split_once('.') {
            return match class {
                "list" => self.list_method(method, args),
                "dict" => self.dict_method(method, args),
                "set" => self.set_method(method, args),
                "str" => self.str_method(method, args),
                _ => Some(Outcome::Value(none())),
            };
        }
        if matches!(
            name,
            "list" | "dict" | "set" | "tuple" | "sorted" | "iter" | "enumerate"
        ) {
            return self.container_call(name, args);
        }
        let is_plain = args.iter().all(|arg| arg.facts.is(plain()));
        let first = args.first().map(|arg| arg.facts.clone());
        let facts = match (name, first) {
            ("__build_class__", _) => return Some(self.build_class(args)),
            ("len", Some(facts)) if args.len() == 1 => return self.length_call(facts, args),
            ("range", Some(_)) if args.len() <= 3 => return Some(self.range(args)),
            ("isinstance", Some(facts)) if args.len() == 2 => {
                let operand = args[1].facts.clone();
                let known = match self.classes_of(&operand) {
                    Some(classes) => self.is_instance(&facts, &operand, classes),
                    None => return None,
                };
                if operand.ty.could_be(plain()) {
                    self.raise_named("TypeError");
                }
                Facts::truth(Type::BOOL, known)
            }
            ("type", Some(facts)) if args.len() == 1 => return Some(self.type_of(&facts)),
            ("int", Some(facts)) if args.len() == 1 && is_plain => {
                if !facts.is(Type::LONG_EXACT | Type::BOOL) {
                    for name in ["ValueError", "OverflowError", "TypeError"] {
                        self.raise_named(name);
                    }
                }
                int()
            }
            ("float", Some(facts)) if args.len() == 1 && is_plain => {
                if !facts.is(Type::FLOAT_EXACT | Type::BOOL) {
                    for name in ["ValueError", "OverflowError", "TypeError"] {
                        self.raise_named(name);
                    }
                }
                Facts::of_type(Type::FLOAT_EXACT)
            }
            ("bool", Some(_)) if args.len() == 1 => {
                let op = self.here.op;
                let truth = self.truth(op, args);
                let truth = self.outcome_facts(truth);
                Facts::truth(Type::BOOL, truth.as_truth())
            }
            ("str" | "repr", _) if is_plain => Facts::of_type(Type::UNICODE_EXACT),
            ("abs", Some(facts)) if facts.is(Type::LONG_EXACT | Type::BOOL) => int().not_negative(),
            ("abs", Some(facts)) if facts.is(Type::FLOAT_EXACT) => {
                Facts::of_type(Type::FLOAT_EXACT)
            }
            ("min" | "max", Some(facts)) if args.len() >= 2 && is_plain => {
                self.raise_named("TypeError");
                args[1..].iter().fold(facts, |a, b| {
                    let mut joined = a.join(&b.facts);
                    joined.constant = None;
                    joined
                })
            }
            ("chr", Some(facts)) if facts.is(Type::LONG_EXACT | Type::BOOL) => {
                self.raise_named("ValueError");
                self.raise_named("OverflowError");
                Facts::of_type(Type::UNICODE_EXACT)
            }
            ("ord", Some(facts)) if facts.is(Type::UNICODE_EXACT) => {
                self.raise_named("TypeError");
                int().not_negative()
            }
            ("hash" | "id", _) if is_plain => int(),
            ("print", _) if is_plain => none(),
            ("object", None) => return None,
            (name, _) => {
                let class = self.builtin(name)?;
                if !self.is_exception(class) {
                    return None;
                }
                for arg in args {
                    self.set.escape(&arg.facts);
                }
                self.instance_of(class)
            }
        };
        Some(Outcome::Value(facts))
    }

    /// `len` of an object.
    fn length_call(&mut self, facts: Facts, args: &[Arg]) -> Option<Outcome> {
        let sized = Type::LIST_EXACT
            | Type::TUPLE_EXACT
            | Type::DICT_EXACT
            | Type::SET_EXACT
            | Type::UNICODE_EXACT
            | Type::BYTES_EXACT
            | Type::RANGE;
        if facts.is(plain() - Type::UNICODE_EXACT - Type::BYTES_EXACT) {
            self.raise_named("TypeError");
            return Some(Outcome::Blocked);
        }
        if !facts.is(sized) {
            if facts.ty.could_be(plain()) {
                return None;
            }
            let outcome = self.special(&args[0], "__len__", Vec::new())?;
            let length = self.outcome_facts(outcome);
            if length.is_impossible() {
                return Some(Outcome::Blocked);
            }
            if !length.is(plain()) {
                return None;
            }
            self.raise_named("TypeError");
            self.raise_named("ValueError");
            self.raise_named("OverflowError");
            return Some(Outcome::Value(int().not_negative()));
        }
        Some(Outcome::Value(self.length(&facts)))
    }

    /// A call of a function that makes a container or an iterator.
    fn container_call(&mut self, name: &str, args: &[Arg]) -> Option<Outcome> {
        match (name, args.first().map(|arg| arg.facts.clone())) {
            ("list", None) => Some(self.build(Kind::List, Type::LIST_EXACT, &[])),
            ("dict", None) => Some(self.build_map(&[])),
            ("set", None) => Some(self.build(Kind::Set, Type::SET_EXACT, &[])),
            ("tuple", None) => Some(self.build_tuple(&[])),
            ("sorted", Some(facts)) if self.is_iterable(&facts) => {
                let items = self.iterated(&facts);
                if args.len() != 1 || !(items.ty <= plain()) {
                    return None;
                }
                self.raise_named("TypeError");
                Some(self.offspring(Kind::List, Type::LIST_EXACT, &[&facts]))
            }
            ("list" | "tuple" | "set", Some(_)) if args.len() != 1 => None,
            ("list", Some(facts)) if self.is_iterable(&facts) => {
                Some(self.offspring(Kind::List, Type::LIST_EXACT, &[&facts]))
            }
            ("set", Some(facts)) if self.is_iterable(&facts) => {
                let items = self.iterated(&facts);
                self.use_key(&items, &facts);
                Some(self.offspring(Kind::Set, Type::SET_EXACT, &[&facts]))
            }
            ("tuple", Some(facts)) if self.is_iterable(&facts) => {
                Some(self.offspring(Kind::Tuple, Type::TUPLE_EXACT, &[&facts]))
            }
            ("iter", Some(_)) if args.len() == 1 => {
                let op = self.here.op;
                Some(self.get_iter(op, &args[0]))
            }
            ("enumerate", Some(facts)) if args.len() == 1 && self.is_iterable(&facts) => {
                Some(self.enumerate(&facts))
            }
            _ => None,
        }
    }

    /// Returns true if iteration over the value runs no user code: it is one of the builtin
    /// containers.
    pub(super) fn is_iterable(&self, facts: &Facts) -> bool {
        facts.is(Type::LIST_EXACT
            | Type::TUPLE_EXACT
            | Type::SET_EXACT
            | Type::DICT_EXACT
            | Type::RANGE
            | Type::UNICODE_EXACT
            | Type::BYTES_EXACT)
    }

    fn range(&mut self, args: &[Arg]) -> Outcome {
        let is_int = |arg: &Arg| arg.facts.is(Type::LONG_EXACT | Type::BOOL);
        let id = self.site(0, Kind::Range, "");
        if !args.iter().all(is_int) {
            self.raise_any();
            for arg in args {
                self.set.escape(&arg.facts);
            }
            for slot in [Slot::Items, Slot::RangeStep] {
                self.set.store_facts(id, slot, int());
            }
            self.set.store_facts(id, Slot::Len, int().not_negative());
            return Outcome::Value(Facts::object(Type::RANGE, id));
        }
        let step = match args {
            [_, _, step] => {
                self.raise_named("ValueError");
                step.facts.clone()
            }
            _ => Facts::constant(Type::LONG_EXACT, ConstValue::Int(1)),
        };
        let up = matches!(step.constant, Some(ConstValue::Int(1..)));
        let from_zero = match args {
            [_] => true,
            [start, ..] => start.facts.nonneg,
            [] => false,
        };
        let mut items = int();
        items.nonneg = up && from_zero;
        self.set.store_facts(id, Slot::Items, items);
        self.set.store_facts(id, Slot::RangeStep, step);
        self.set.store_facts(id, Slot::Len, int().not_negative());
        Outcome::Value(Facts::object(Type::RANGE, id))
    }

    fn type_of(&mut self, facts: &Facts) -> Outcome {
        let mut found = Facts::IMPOSSIBLE;
        let mut rest = facts.clone();
        for &id in &facts.objects.ids {
            let class = match self.set.own_heap(id).kind {
                Kind::Instance | Kind::Exception => self.class_of(id),
                _ => continue,
            };
            found = found.join(&Facts::object(Type::TYPE_EXACT, class));
        }
        if !facts.objects.open {
            rest.ty = rest.ty - Type::USER - Type::BASE_EXCEPTION - Type::OBJECT_EXACT;
        }
        for (ty, name) in [
            (Type::LONG_EXACT, "int"),
            (Type::BOOL, "bool"),
            (Type::FLOAT_EXACT, "float"),
            (Type::UNICODE_EXACT, "str"),
            (Type::LIST_EXACT, "list"),
            (Type::TUPLE_EXACT, "tuple"),
            (Type::DICT_EXACT, "dict"),
            (Type::SET_EXACT, "set"),
            (Type::NONE_TYPE, "NoneType"),
        ] {
            if rest.ty.could_be(ty)
                && let Some(class) = self.builtin_facts(name)
            {
                found = found.join(&class);
                rest.ty -= ty;
            }
        }
        if rest.ty.is_bottom() {
            Outcome::Value(found)
        } else {
            self.set.escape(facts);
            Outcome::Value(found.join(&Facts::of_type(Type::TYPE)))
        }
    }

    fn enumerate(&mut self, facts: &Facts) -> Outcome {
        let pair = self.site(1, Kind::Tuple, "");
        let length = Facts::constant(Type::LONG_EXACT, ConstValue::Int(2));
        self.set.store_facts(pair, Slot::Len, length);
        self.set
            .store_facts(pair, Slot::TupleItem(0), int().not_negative());
        let items = self.iterated(facts);
        let id = self.site(0, Kind::Iterator, "");
        if !items.is_impossible() {
            self.set.store_facts(pair, Slot::TupleItem(1), items);
            let pair = Facts::object(Type::TUPLE_EXACT, pair);
            self.set.store_facts(id, Slot::Items, pair);
        }
        Outcome::Value(Facts::object(Type::OBJECT_EXACT, id))
    }

    fn list_method(&mut self, method: &str, args: &[Arg]) -> Option<Outcome> {
        let list = args.first()?;
        let facts = list.facts.clone();
        let op = self.here.op;
        let is_plain = |facts: &Facts| facts.ty <= plain();
        match (method, args) {
            ("append", [_, item]) => self.append(list, item),
            ("insert", [_, index, item]) if is_plain(&index.facts) => {
                if !index.facts.is(Type::LONG_EXACT | Type::BOOL) {
                    self.raise_named("TypeError");
                }
                self.append(list, item);
            }
            ("extend", [_, _]) => {
                self.extend_from(op, args);
            }
            ("pop", [_] | [_, _]) => {
                self.raise_named("IndexError");
                for index in &args[1..] {
                    if !is_plain(&index.facts) {
                        return None;
                    }
                    if !index.facts.is(Type::LONG_EXACT | Type::BOOL) {
                        self.raise_named("TypeError");
                    }
                }
                return Some(self.take_item(&facts, Kind::List));
            }
            ("reverse" | "clear", [_]) => self.resize(&facts),
            ("copy", [_]) => {
                return Some(self.offspring(Kind::List, Type::LIST_EXACT, &[&facts]));
            }
            ("sort" | "index" | "count" | "remove", _) => {
                // An object that is no int may define `__index__`.
                for index in args.iter().skip(2) {
                    if !index.facts.is(Type::LONG_EXACT | Type::BOOL) {
                        return None;
                    }
                }
                let items = self.items_or_keys(&facts, Slot::Items);
                if !is_plain(&items) || !args[1..].iter().all(|arg| is_plain(&arg.facts)) {
                    return None;
                }
                match method {
                    "sort" => self.raise_named("TypeError"),
                    "index" | "remove" => self.raise_named("ValueError"),
                    _ => {}
                }
                if method == "index" || method == "count" {
                    return Some(Outcome::Value(int().not_negative()));
                }
                self.resize(&facts);
            }
            _ => return None,
        }
        Some(Outcome::Value(none()))
    }

    fn dict_method(&mut self, method: &str, args: &[Arg]) -> Option<Outcome> {
        let facts = args.first()?.facts.clone();
        if let Some(key) = args.get(1) {
            self.use_key(&key.facts, &facts);
        }
        let value = self.slots_of(&facts, &Slot::Values, Kind::Dict);
        let found = match (method, args) {
            ("get", [_, _]) => value.join(&none()),
            ("get", [_, _, default]) => value.join(&default.facts),
            ("pop", [_, _]) => {
                self.raise_named("KeyError");
                self.resize(&facts);
                value
            }
            ("pop", [_, _, default]) => {
                self.resize(&facts);
                value.join(&default.facts)
            }
            ("setdefault", [_, key, default]) => {
                self.resize(&facts);
                self.store_in(&facts, Slot::Keys, Kind::Dict, key);
                self.store_in(&facts, Slot::Values, Kind::Dict, default);
                value.join(&default.facts)
            }
            ("clear", [_]) => {
                self.resize(&facts);
                none()
            }
            ("copy", [_]) => {
                return Some(self.offspring(Kind::Dict, Type::DICT_EXACT, &[&facts]));
            }
            // A view is treated as an iterator over the same values: a program cannot store through
            // one.
            ("keys" | "values" | "items", [_]) => {
                let id = self.site(0, Kind::Iterator, "");
                let keys = self.items_or_keys(&facts, Slot::Keys);
                let items = match method {
                    "keys" => keys,
                    "values" => value,
                    _ if keys.is_impossible() => keys,
                    _ => {
                        let pair = self.site(1, Kind::Tuple, "");
                        let length = Facts::constant(Type::LONG_EXACT, ConstValue::Int(2));
                        self.set.store_facts(pair, Slot::Len, length);
                        self.set.store_facts(pair, Slot::TupleItem(0), keys);
                        self.set.store_facts(pair, Slot::TupleItem(1), value);
                        Facts::object(Type::TUPLE_EXACT, pair)
                    }
                };
                self.set.store_facts(id, Slot::Items, items);
                return Some(Outcome::Value(Facts::object(Type::OBJECT_EXACT, id)));
            }
            _ => return None,
        };
        Some(if found.is_impossible() {
            Outcome::Blocked
        } else {
            Outcome::Value(found)
        })
    }

    /// An item that is removed from a list or a set.
    fn take_item(&mut self, facts: &Facts, kind: Kind) -> Outcome {
        self.resize(facts);
        let item = self.slots_of(facts, &Slot::Items, kind);
        if item.is_impossible() {
            Outcome::Blocked
        } else {
            Outcome::Value(item)
        }
    }

    fn set_method(&mut self, method: &str, args: &[Arg]) -> Option<Outcome> {
        let facts = args.first()?.facts.clone();
        if let Some(item) = args.get(1) {
            self.use_key(&item.facts, &facts);
        }
        match (method, args) {
            ("add", [set, item]) => self.add_to(set, item, Kind::Set),
            ("discard" | "clear", _) => self.resize(&facts),
            ("remove", _) => {
                self.raise_named("KeyError");
                self.resize(&facts);
            }
            ("pop", [_]) => {
                self.raise_named("KeyError");
                return Some(self.take_item(&facts, Kind::Set));
            }
            ("copy", [_]) => return Some(self.offspring(Kind::Set, Type::SET_EXACT, &[&facts])),
            _ => return None,
        }
        Some(Outcome::Value(none()))
    }

    fn str_method(&mut self, method: &str, args: &[Arg]) -> Option<Outcome> {
        let is_plain = args[1..].iter().all(|arg| arg.facts.is(plain()));
        let text = Facts::of_type(Type::UNICODE_EXACT);
        let facts = match (method, args) {
            ("join", [_, parts]) => {
                let parts = parts.facts.clone();
                let items = self.iterated(&parts);
                if !self.is_iterable(&parts) || !(items.is_impossible() || items.is(plain())) {
                    return None;
                }
                if !items.is(Type::UNICODE_EXACT) {
                    self.raise_named("TypeError");
                }
                text
            }
            _ if !is_plain => return None,
            ("upper" | "lower" | "strip", _) => text,
            ("replace" | "format", _) => {
                self.raise_any();
                text
            }
            ("startswith" | "endswith", _) => {
                self.raise_named("TypeError");
                Facts::of_type(Type::BOOL)
            }
            ("find", _) => {
                self.raise_named("TypeError");
                int()
            }
            ("split", _) => {
                self.raise_any();
                let id = self.site(0, Kind::List, "");
                self.set.store_facts(id, Slot::Items, text);
                self.set.store_facts(id, Slot::Len, int().not_negative());
                Facts::object(Type::LIST_EXACT, id)
            }
            _ => return None,
        };
        Some(Outcome::Value(facts))
    }
}
