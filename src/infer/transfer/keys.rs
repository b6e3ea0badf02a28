//! Keys of dicts and items of sets: hashing and comparing them may run user code (`__hash__`,
//! `__eq__`).

use crate::infer::engine::Engine;
use crate::infer::identity::{Kind, Slot};
use crate::infer::value::{Facts, plain};

impl Engine<'_> {
    /// Returns true if hashing and comparing the value runs no user code.
    fn hashes_without_user_code(&mut self, facts: &Facts, depth: u32) -> bool {
        if facts.ty <= plain() {
            return true;
        }
        if facts.objects.open || depth == 0 {
            return false;
        }
        facts
            .objects
            .ids
            .clone()
            .into_iter()
            .all(|id| match self.set.own_heap(id).kind {
                Kind::Instance => {
                    let class = self.class_of(id);
                    let names = ["__eq__", "__hash__"];
                    names
                        .iter()
                        .all(|name| self.lookup(class, name).is_absent())
                }
                Kind::Tuple => {
                    let items = self.all_of_tuple(id);
                    self.hashes_without_user_code(&items, depth - 1)
                }
                Kind::Function | Kind::Class | Kind::Builtin => true,
                _ => false,
            })
    }

    /// Looks a key up among those of containers.
    pub(super) fn use_key(&mut self, key: &Facts, containers: &Facts) {
        let mut all = key.clone();
        for slot in [Slot::Keys, Slot::Items] {
            for kind in [Kind::Dict, Kind::Set] {
                for id in self.of_kind(containers, kind) {
                    let (_, keys) = self.read_slot(id, slot.clone());
                    all = all.join(&keys);
                }
            }
        }
        if !self.hashes_without_user_code(&all, 3) {
            self.set.escape(&all);
            self.raise_any();
        }
    }
}
