//! Iteration and unpacking.

use super::Arg;
use crate::hir::{self, Value};
use crate::infer::engine::{Engine, Outcome};
use crate::infer::identity::{Kind, Slot};
use crate::infer::value::Facts;
use crate::types::{ConstValue, Type};

impl Engine<'_> {
    pub(super) fn get_iter(&mut self, v: Value, arg: &Arg) -> Outcome {
        let facts = arg.facts.clone();
        let known = Type::LIST_EXACT
            | Type::TUPLE_EXACT
            | Type::SET_EXACT
            | Type::DICT_EXACT
            | Type::RANGE
            | Type::UNICODE_EXACT
            | Type::BYTES_EXACT;
        let iterators = self.of_kind(&facts, Kind::Iterator);
        if !iterators.is_empty()
            && iterators.len() == facts.objects.ids.len()
            && !facts.objects.open
        {
            return Outcome::Value(facts);
        }
        if facts.is(Type::NONE_TYPE | Type::LONG_EXACT | Type::FLOAT_EXACT | Type::BOOL) {
            self.raise_named("TypeError");
            return Outcome::Blocked;
        }
        if !facts.is(known) {
            return match self.special(arg, "__iter__", Vec::new()) {
                Some(outcome) => outcome,
                None => self.unknown(v, std::slice::from_ref(arg)),
            };
        }
        let ty = match hir::iterator_of(facts.ty) {
            Some((ty, true)) => ty,
            Some((ty, false)) => ty | Type::OBJECT_EXACT,
            None => Type::OBJECT_EXACT | Type::DICT_KEY_ITER,
        };
        let id = self.site(0, Kind::Iterator, "");
        for slot in [Slot::Items, Slot::Keys] {
            let items = self.items_or_keys(&facts, slot);
            self.set.store_facts(id, Slot::Items, items);
        }
        Outcome::Value(Facts::object(ty, id).because(facts.source))
    }

    pub(super) fn iter_next(&mut self, v: Value, arg: &Arg) -> Outcome {
        let facts = arg.facts.clone();
        let iterators = self.of_kind(&facts, Kind::Iterator);
        if facts.objects.open || iterators.len() != facts.objects.ids.len() {
            if !facts.objects.open
                && let Some(outcome) = self.special(arg, "__next__", Vec::new())
            {
                let item = self.outcome_facts(outcome);
                self.output(0, item.join(&Facts::of_type(Type::NULLPTR)));
                return Outcome::Value(Facts::of_type(Type::CBOOL));
            }
            self.output(0, Facts::MOST_GENERAL);
            return self.unknown(v, std::slice::from_ref(arg));
        }
        let item = self.slots_of(&facts, &Slot::Items, Kind::Iterator);
        let known = item.is_impossible().then_some(false);
        if !facts.is(Type::LIST_ITER | Type::TUPLE_ITER | Type::RANGE_ITER) {
            // If a dict or set changes its size during iteration, the next step raises.
            self.raise_named("RuntimeError");
        }
        // At the end of the iteration there is no item.
        let facts = item.join(&Facts::of_type(Type::NULLPTR));
        self.output(0, facts);
        self.derived(Facts::truth(Type::CBOOL, known), std::slice::from_ref(arg))
    }

    pub(super) fn iter_more(&mut self, arg: &Arg) -> Outcome {
        let item = self.slots_of(&arg.facts.clone(), &Slot::Items, Kind::Iterator);
        let known = item.is_impossible().then_some(false);
        self.derived(Facts::truth(Type::CBOOL, known), std::slice::from_ref(arg))
    }

    pub(super) fn unpack(&mut self, v: Value, count: u32, arg: &Arg) -> Outcome {
        let facts = arg.facts.clone();
        if facts.is(Type::NONE_TYPE | Type::LONG_EXACT | Type::FLOAT_EXACT | Type::BOOL) {
            self.raise_named("TypeError");
            return Outcome::Blocked;
        }
        let known = Type::LIST_EXACT | Type::TUPLE_EXACT;
        if !facts.is(known) || facts.objects.open {
            for index in 0..count {
                self.output(index, Facts::any_object());
            }
            return self.unknown(v, std::slice::from_ref(arg));
        }
        let length = self.length(&facts);
        match length.constant {
            Some(ConstValue::Int(length)) if length == count as i64 => {}
            _ => self.raise_named("ValueError"),
        }
        let is_other =
            matches!(length.constant, Some(ConstValue::Int(length)) if length != count as i64);
        if is_other {
            return Outcome::Never;
        }
        let raises = self.raises.clone();
        for index in 0..count {
            let item = self.item_of(&facts, Some(index as i64));
            if item.is_impossible() {
                self.raises = raises;
                return Outcome::Blocked;
            }
            self.output(index, item.because(facts.source));
        }
        self.raises = raises;
        Outcome::Nothing
    }
}
