//! Containers: building, items, lengths and iteration.

use super::Arg;
use crate::hir::Value;
use crate::infer::engine::{Engine, Outcome};
use crate::infer::identity::{Identity, Kind, Slot};
use crate::infer::value::{Facts, plain};
use crate::types::{ConstValue, Type};

impl Engine<'_> {
    // ---- slots of all objects that a value may be
    // ---------------------------------------------------

    /// The identities of one kind that a value may be, each once.
    pub(super) fn of_kind(&self, facts: &Facts, kind: Kind) -> Vec<Identity> {
        let ids = facts.objects.ids.iter();
        let ids = ids.filter(|id| self.set.own_heap(**id).kind == kind);
        let mut ids: Vec<Identity> = ids.map(|id| self.set.same(*id)).collect();
        ids.dedup();
        ids
    }

    /// The content of a slot, over all objects of the kind that the value may be.
    pub(super) fn slots_of(&mut self, facts: &Facts, slot: &Slot, kind: Kind) -> Facts {
        let mut found = Facts::IMPOSSIBLE.because(facts.source);
        for id in self.of_kind(facts, kind) {
            let (_, one) = self.read_slot(id, slot.clone());
            found = found.join(&one);
        }
        if facts.objects.open && facts.ty.could_be(kind.ty()) {
            let beyond = match kind {
                Kind::Cell | Kind::Iterator => Facts::MOST_GENERAL,
                _ => Facts::any_object(),
            };
            found = found.join(&beyond);
        }
        found
    }

    /// Stores into a slot of all objects of the kind that the value may be.
    pub(super) fn store_in(&mut self, facts: &Facts, slot: Slot, kind: Kind, arg: &Arg) {
        for id in self.of_kind(facts, kind) {
            self.store_arg(id, slot.clone(), arg);
        }
        if facts.objects.open && facts.ty.could_be(kind.ty()) {
            self.set.escape(&arg.facts);
        }
    }

    /// Stores an operand, with its facts at this place.
    pub(super) fn store_arg(&mut self, id: Identity, slot: Slot, arg: &Arg) {
        if self.set.get(arg.sv) == arg.facts {
            self.set.store(id, slot, arg.sv)
        } else {
            self.set.store_facts(id, slot, arg.facts.clone())
        }
    }

    /// The items (or keys) of all containers that the value may be.
    pub(super) fn items_or_keys(&mut self, facts: &Facts, slot: Slot) -> Facts {
        let mut found = Facts::IMPOSSIBLE;
        let kinds: &[Kind] = match slot {
            Slot::Keys => &[Kind::Dict],
            _ => &[Kind::List, Kind::Set, Kind::Iterator],
        };
        for kind in kinds {
            for id in self.of_kind(facts, *kind) {
                let (_, one) = self.read_slot(id, slot.clone());
                found = found.join(&one);
            }
        }
        if slot == Slot::Items {
            for id in self.of_kind(facts, Kind::Tuple) {
                found = found.join(&self.all_of_tuple(id));
            }
            if facts.ty.could_be(Type::RANGE) {
                let ints = Facts::of_type(Type::LONG_EXACT);
                found = found.join(&self.range_items(facts).unwrap_or(ints));
            }
            if facts.ty.could_be(Type::UNICODE_EXACT) {
                found = found.join(&Facts::of_type(Type::UNICODE_EXACT));
            }
            if facts.ty.could_be(Type::BYTES_EXACT) {
                found = found.join(&Facts::of_type(Type::LONG_EXACT).not_negative());
            }
        }
        let inside = facts.ty - plain() - Type::RANGE;
        if facts.objects.open && !inside.is_bottom() {
            found.join(&Facts::any_object())
        } else {
            found
        }
    }

    /// The items that iteration over the value gives.
    pub(super) fn iterated(&mut self, facts: &Facts) -> Facts {
        let items = self.items_or_keys(facts, Slot::Items);
        items.join(&self.items_or_keys(facts, Slot::Keys))
    }

    fn range_items(&mut self, facts: &Facts) -> Option<Facts> {
        if facts.objects.open {
            return None;
        }
        let mut found = Facts::IMPOSSIBLE;
        for id in self.of_kind(facts, Kind::Range) {
            let (_, one) = self.read_slot(id, Slot::Items);
            found = found.join(&one);
        }
        Some(found)
    }

    /// Any item of a tuple.
    pub(super) fn all_of_tuple(&mut self, id: Identity) -> Facts {
        let mut found = Facts::IMPOSSIBLE;
        let slots: Vec<Slot> = self.set.heap(id).slots.keys().cloned().collect();
        for slot in slots {
            if matches!(slot, Slot::TupleItem(_) | Slot::Items) {
                let (_, one) = self.read_slot(id, slot);
                found = found.join(&one);
            }
        }
        found
    }

    /// The length.
    pub(super) fn length(&mut self, facts: &Facts) -> Facts {
        let any = Facts::of_type(Type::LONG_EXACT).not_negative();
        let mut found = Facts::IMPOSSIBLE;
        for kind in [Kind::List, Kind::Set, Kind::Dict, Kind::Tuple, Kind::Range] {
            for id in self.of_kind(facts, kind) {
                let (_, one) = self.read_slot(id, Slot::Len);
                found = found.join(&one);
            }
        }
        let texts = Type::UNICODE_EXACT | Type::BYTES_EXACT;
        if facts.objects.open || facts.ty.could_be(texts) || found.is_impossible() {
            found.join(&any)
        } else {
            found
        }
        .because(facts.source)
    }

    fn set_length(&mut self, id: Identity, length: usize) {
        let ty = Type::LONG_EXACT;
        let facts = Facts::constant(ty, ConstValue::Int(length as i64));
        self.set.store_facts(id, Slot::Len, facts);
    }

    /// Removes the lengths of the containers that a value may be.
    pub(super) fn resize(&mut self, facts: &Facts) {
        for kind in [Kind::List, Kind::Set, Kind::Dict] {
            for id in self.of_kind(facts, kind) {
                let any = Facts::of_type(Type::LONG_EXACT).not_negative();
                self.set.store_facts(id, Slot::Len, any);
                let heap = self.set.heap_mut(id);
                (heap.resized, heap.mutated) = (true, true);
            }
        }
    }

    // ---- building
    // ----------------------------------------------------------------------------------

    pub(super) fn build(&mut self, kind: Kind, ty: Type, args: &[Arg]) -> Outcome {
        let id = self.site(0, kind, "");
        if kind == Kind::Set && !args.is_empty() {
            let any = Facts::of_type(Type::LONG_EXACT).not_negative();
            self.set.store_facts(id, Slot::Len, any);
        } else {
            self.set_length(id, args.len());
        }
        self.set.slot(id, Slot::Items);
        for arg in args {
            self.store_arg(id, Slot::Items, arg);
        }
        if kind == Kind::Set {
            let set = Facts::object(ty, id);
            for arg in args {
                self.use_key(&arg.facts, &set);
            }
        }
        Outcome::Value(Facts::object(ty, id))
    }

    pub(super) fn build_map(&mut self, args: &[Arg]) -> Outcome {
        let id = self.site(0, Kind::Dict, "");
        if args.is_empty() {
            self.set_length(id, 0)
        } else {
            let any = Facts::of_type(Type::LONG_EXACT).not_negative();
            self.set.store_facts(id, Slot::Len, any);
        }
        for (index, arg) in args.iter().enumerate() {
            let slot = match index % 2 {
                0 => Slot::Keys,
                _ => Slot::Values,
            };
            self.store_arg(id, slot, arg);
        }
        let dict = Facts::object(Type::DICT_EXACT, id);
        for key in args.iter().step_by(2) {
            self.use_key(&key.facts, &dict);
        }
        Outcome::Value(dict)
    }

    pub(super) fn build_tuple(&mut self, args: &[Arg]) -> Outcome {
        let id = self.site(0, Kind::Tuple, "");
        self.set_length(id, args.len());
        for (index, arg) in args.iter().enumerate() {
            self.store_arg(id, Slot::TupleItem(index as u32), arg);
        }
        Outcome::Value(Facts::object(Type::TUPLE_EXACT, id))
    }

    /// A new list at the current place, with the items of others.
    pub(super) fn offspring(&mut self, kind: Kind, ty: Type, sources: &[&Facts]) -> Outcome {
        let id = self.site(0, kind, "");
        let any = Facts::of_type(Type::LONG_EXACT).not_negative();
        self.set.store_facts(id, Slot::Len, any);
        for facts in sources {
            match kind {
                Kind::Dict => {
                    let keys = self.items_or_keys(facts, Slot::Keys);
                    self.set.store_facts(id, Slot::Keys, keys);
                }
                _ => {
                    let items = self.iterated(facts);
                    self.set.store_facts(id, Slot::Items, items);
                }
            }
            if kind == Kind::Dict {
                let values = self.slots_of(facts, &Slot::Values, Kind::Dict);
                self.set.store_facts(id, Slot::Values, values);
            }
        }
        Outcome::Value(Facts::object(ty, id))
    }

    /// `a + b` or `a * n` of lists. In place, the result is the list itself.
    pub(super) fn concatenate(
        &mut self,
        in_place: bool,
        op: crate::bytecode::BinaryOp,
        args: &[Arg],
    ) -> Outcome {
        let (a, b) = (args[0].facts.clone(), args[1].facts.clone());
        if in_place {
            match op {
                crate::bytecode::BinaryOp::Add => {
                    self.extend_from(self.here.op, args);
                }
                _ => self.resize(&a),
            }
            return Outcome::Value(a);
        }
        self.offspring(Kind::List, Type::LIST_EXACT, &[&a, &b])
    }

    pub(super) fn concatenate_tuples(&mut self, args: &[Arg]) -> Outcome {
        let id = self.site(0, Kind::Tuple, "");
        let lengths = [0, 1].map(|i| {
            let facts = args[i].facts.clone();
            match self.length(&facts).constant {
                Some(ConstValue::Int(value)) => Some(value as u32),
                _ => None,
            }
        });
        let (a, b) = (args[0].facts.clone(), args[1].facts.clone());
        match lengths {
            [Some(m), Some(n)] if !a.objects.open && !b.objects.open => {
                self.set_length(id, (m + n) as usize);
                for (facts, count, base) in [(&a, m, 0), (&b, n, m)] {
                    for index in 0..count {
                        let item = self.slots_of(facts, &Slot::TupleItem(index), Kind::Tuple);
                        self.set
                            .store_facts(id, Slot::TupleItem(base + index), item);
                    }
                }
            }
            _ => {
                let any = Facts::of_type(Type::LONG_EXACT).not_negative();
                self.set.store_facts(id, Slot::Len, any);
                for facts in [&a, &b] {
                    let items = self.items_or_keys(facts, Slot::Items);
                    self.set.store_facts(id, Slot::Items, items);
                }
            }
        }
        Outcome::Value(Facts::object(Type::TUPLE_EXACT, id))
    }

    // ---- items
    // -------------------------------------------------------------------------------------

    pub(super) fn get_item(&mut self, v: Value, args: &[Arg]) -> Outcome {
        let (container, index) = (args[0].facts.clone(), args[1].facts.clone());
        let sequences = Type::LIST_EXACT
            | Type::TUPLE_EXACT
            | Type::UNICODE_EXACT
            | Type::BYTES_EXACT
            | Type::RANGE;
        let mut found = Facts::IMPOSSIBLE;
        let mut rest = container.clone();
        if container.ty.could_be(sequences) {
            if index.is(Type::SLICE) && container.is(sequences) {
                return self.get_slice(v, args);
            }
            // An object may define `__index__`.
            if !index.is(plain()) {
                return self.unknown(v, args);
            }
            if !index.is(Type::LONG_EXACT | Type::BOOL) {
                self.raise_named("TypeError");
            }
            let constant = match index.constant {
                Some(ConstValue::Int(value)) => Some(value),
                _ => None,
            };
            found = found.join(&self.item_of(&container, constant));
            let inside = rest.ty - sequences;
            rest = self.restrict(rest, inside);
        }
        if rest.ty.could_be(Type::DICT_EXACT) {
            self.raise_named("KeyError");
            self.use_key(&index, &rest);
            found = found.join(&self.slots_of(&rest, &Slot::Values, Kind::Dict));
            let inside = rest.ty - Type::DICT_EXACT;
            rest = self.restrict(rest, inside);
        }
        if rest.ty.could_be(plain()) {
            self.raise_named("TypeError");
            let inside = rest.ty - plain();
            rest = self.restrict(rest, inside);
        }
        if !rest.is_impossible() {
            let receiver = Arg {
                facts: rest,
                ..args[0]
            };
            let outcome = match self.special(&receiver, "__getitem__", vec![args[1].clone()]) {
                Some(outcome) => outcome,
                None => self.unknown(v, args),
            };
            if found.is_impossible() {
                return outcome;
            }
            found = found.join(&self.outcome_facts(outcome));
        }
        if found.is_impossible() {
            Outcome::Blocked
        } else {
            Outcome::Value(found.because(container.source.max(index.source)))
        }
    }

    /// The item of a sequence at a constant index, or at any index.
    pub(super) fn item_of(&mut self, container: &Facts, at: Option<i64>) -> Facts {
        let tuples = self.of_kind(container, Kind::Tuple);
        let sequences = container.clone();
        let mut is_certain = !container.objects.open && container.is(Type::TUPLE_EXACT);
        let mut found = Facts::IMPOSSIBLE;
        for id in tuples {
            let (_, length) = self.read_slot(id, Slot::Len);
            let place = match (length.constant, at) {
                (Some(ConstValue::Int(length)), Some(at)) if (-length..length).contains(&at) => {
                    Some(at.rem_euclid(length))
                }
                _ => None,
            };
            let one = match place {
                Some(place) => self.read_slot(id, Slot::TupleItem(place as u32)).1,
                None => {
                    is_certain = false;
                    self.all_of_tuple(id)
                }
            };
            found = found.join(&one);
        }
        if !is_certain {
            self.raise_named("IndexError");
            let other = sequences.ty - Type::TUPLE_EXACT;
            let open = sequences.objects.open;
            if open || !other.is_bottom() {
                let mut other = self.restrict(sequences, other);
                other.objects.open = false;
                if open && other.ty.could_be(Type::RANGE) {
                    found = found.join(&Facts::of_type(Type::LONG_EXACT));
                }
                let items = self.items_or_keys(&other, Slot::Items);
                found = found.join(&items);
            }
            if open && container.ty.could_be(Type::LIST_EXACT | Type::TUPLE_EXACT) {
                found = found.join(&Facts::any_object());
            }
        }
        found
    }

    /// The item at an offset in range.
    pub(super) fn item_at(&mut self, args: &[Arg]) -> Outcome {
        let at = match args[1].facts.constant {
            Some(ConstValue::Int(value)) => Some(value),
            _ => None,
        };
        let facts = self.item_of(&args[0].facts.clone(), at);
        // A check before has tested the offset.
        self.raises = Facts::IMPOSSIBLE;
        if facts.is_impossible() {
            Outcome::Blocked
        } else {
            self.derived(facts, args)
        }
    }

    pub(super) fn set_item(&mut self, v: Value, args: &[Arg]) -> Outcome {
        let container = args[0].facts.clone();
        if container.is(Type::LIST_EXACT) {
            self.raise_named("IndexError");
            if args[1].facts.ty.could_be(Type::SLICE) || !args[1].facts.is(plain()) {
                return if args[1].facts.is(Type::SLICE) && self.is_iterable(&args[2].facts) {
                    self.raise_any();
                    self.extend_from(v, &[args[0].clone(), args[2].clone()])
                } else {
                    self.unknown(v, args)
                };
            }
            if !args[1].facts.is(Type::LONG_EXACT | Type::BOOL) {
                self.raise_named("TypeError");
            }
            self.replace_item(&args[0], &args[2]);
            return Outcome::Nothing;
        }
        if container.is(Type::DICT_EXACT) {
            self.use_key(&args[1].facts, &container);
            self.resize(&container);
            self.store_in(&container, Slot::Keys, Kind::Dict, &args[1]);
            self.store_in(&container, Slot::Values, Kind::Dict, &args[2]);
            return Outcome::Nothing;
        }
        match self.special(&args[0], "__setitem__", args[1..].to_vec()) {
            Some(Outcome::Blocked) => Outcome::Blocked,
            Some(_) => Outcome::Nothing,
            None => self.unknown(v, args),
        }
    }

    /// Replaces an item of a list.
    pub(super) fn replace_item(&mut self, list: &Arg, item: &Arg) {
        self.store_in(&list.facts, Slot::Items, Kind::List, item);
        for id in self.of_kind(&list.facts, Kind::List) {
            self.set.heap_mut(id).mutated = true;
        }
    }

    pub(super) fn del_item(&mut self, v: Value, args: &[Arg]) -> Outcome {
        let container = args[0].facts.clone();
        let index = &args[1].facts;
        let is_known = index.is(plain() | Type::SLICE) || container.is(Type::DICT_EXACT);
        if !container.is(Type::LIST_EXACT | Type::DICT_EXACT) || !is_known {
            return self.unknown(v, args);
        }
        if container.ty.could_be(Type::DICT_EXACT) {
            self.use_key(index, &container);
        }
        if container.ty.could_be(Type::LIST_EXACT) && !index.is(Type::LONG_EXACT | Type::BOOL) {
            self.raise_any();
        }
        for (ty, name) in [
            (Type::LIST_EXACT, "IndexError"),
            (Type::DICT_EXACT, "KeyError"),
        ] {
            if container.ty.could_be(ty) {
                self.raise_named(name);
            }
        }
        self.resize(&container);
        Outcome::Nothing
    }

    pub(super) fn get_slice(&mut self, v: Value, args: &[Arg]) -> Outcome {
        let facts = args[0].facts.clone();
        let bound = Type::LONG_EXACT | Type::BOOL | Type::NONE_TYPE | Type::SLICE | Type::NULLPTR;
        if !args[1..].iter().all(|arg| arg.facts.is(bound)) {
            return self.unknown(v, args);
        }
        // A step may be 0, which raises.
        if args.len() > 3
            || args[1..]
                .iter()
                .any(|arg| arg.facts.ty.could_be(Type::SLICE))
        {
            self.raise_named("ValueError");
        }
        // The bounds that are objects escape: a slice does not keep their facts.
        if args[1..]
            .iter()
            .any(|arg| arg.facts.ty.could_be(Type::SLICE))
        {
            self.raise_named("TypeError");
        }
        if facts.is(Type::UNICODE_EXACT | Type::BYTES_EXACT) {
            self.derived(
                Facts::of_type(facts.ty.unspecialized().drop_mortality()),
                args,
            )
        } else if facts.is(Type::LIST_EXACT) {
            self.offspring(Kind::List, Type::LIST_EXACT, &[&facts])
        } else if facts.is(Type::TUPLE_EXACT) {
            self.offspring(Kind::Tuple, Type::TUPLE_EXACT, &[&facts])
        } else {
            self.unknown(v, args)
        }
    }

    /// `a[b:c] = d`
    pub(super) fn set_slice(&mut self, v: Value, args: &[Arg]) -> Outcome {
        let bound = Type::LONG_EXACT | Type::BOOL | Type::NONE_TYPE;
        let is_list = args[0].facts.is(Type::LIST_EXACT);
        if !is_list || !args[1..3].iter().all(|arg| arg.facts.is(bound)) {
            return self.unknown(v, args);
        }
        self.extend_from(v, &[args[0].clone(), args[3].clone()])
    }

    pub(super) fn append(&mut self, list: &Arg, item: &Arg) {
        self.add_to(list, item, Kind::List);
    }

    pub(super) fn add_to(&mut self, container: &Arg, item: &Arg, kind: Kind) {
        if kind == Kind::Set {
            self.use_key(&item.facts, &container.facts);
        }
        self.store_in(&container.facts, Slot::Items, kind, item);
        self.resize(&container.facts);
    }

    pub(super) fn extend_from(&mut self, v: Value, args: &[Arg]) -> Outcome {
        let source = args[1].facts.clone();
        if !self.is_iterable(&source) {
            self.unknown(v, args);
        }
        let items = Arg {
            sv: crate::infer::Sv::MOST_GENERAL,
            facts: self.iterated(&source),
        };
        if args[0].facts.ty.could_be(Type::SET_EXACT) && !items.facts.is_impossible() {
            self.use_key(&items.facts, &args[0].facts);
        }
        for kind in [Kind::List, Kind::Set] {
            self.store_in(&args[0].facts.clone(), Slot::Items, kind, &items);
        }
        self.resize(&args[0].facts.clone());
        Outcome::Nothing
    }

    /// The facts about an outcome's value.
    pub(super) fn outcome_facts(&mut self, outcome: Outcome) -> Facts {
        match outcome {
            Outcome::Value(facts) => facts,
            Outcome::Same(sv) => self.set.read(sv, self.here.reader),
            _ => Facts::IMPOSSIBLE,
        }
    }
}
