//! The work that follows from a change: values that take from others, identities that are unified,
//! objects that escape or can be reached through names.
//!
//! It is done from a work list. Two identities are linked *before* their insides are merged: so a
//! list that contains itself can be unified with another such list.

use super::annset::{AnnotationSet, MAX_OBJECTS, Reader, Task};
use super::identity::{Heap, Identity, Kind, Slot};
use super::value::{Facts, Sv};
use crate::facts::Source;
use crate::types::Type;
use cranelift_entity::EntityRef;
use std::collections::BTreeMap;

impl AnnotationSet {
    pub(super) fn work(&mut self) {
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Widen(sv, facts) => self.do_widen(sv, &facts),
                Task::Unify(a, b) => self.do_unify(a, b),
                Task::Escape(id) => self.do_escape(id),
                Task::Publish(id) => self.do_publish(id),
            }
        }
    }

    /// The facts with identities as they are now.
    pub(super) fn resolved(&self, facts: &Facts) -> Facts {
        let mut facts = facts.clone();
        let ids = &mut facts.objects.ids;
        // The limit counts the immutable identities that were seen; it does not depend on later
        // unifications.
        for id in ids.iter_mut() {
            if self.heaps[*id].kind.is_mutable_container() {
                *id = self.same(*id);
            }
        }
        // An object that outside code can reach is like any other unknown object, so its identity
        // adds nothing. A class stays: values stored into it are known.
        if facts.objects.open {
            ids.retain(|id| {
                let heap = self.heap(*id);
                !heap.escaped || matches!(heap.kind, Kind::Class | Kind::Namespace)
            });
        }
        ids.sort_unstable();
        ids.dedup();
        facts
    }

    /// The join. Identities that must be unified are queued.
    pub(super) fn joined(&mut self, a: &Facts, b: &Facts) -> Facts {
        let mut joined = a.join(b);
        if joined.objects.open {
            // If the type includes every object, identities add nothing. Nothing is known of the
            // insides of the host's exceptions.
            let is_any = Type::OBJECT <= joined.ty;
            let heaps = &self.heaps;
            let tasks = &mut self.tasks;
            joined.objects.ids.retain(|id| {
                if is_any {
                    tasks.push(Task::Escape(*id));
                }
                !is_any && heaps[*id].kind != Kind::Exception
            });
        }
        let ids = &joined.objects.ids;
        if ids.len() < 2 {
            return joined;
        }
        let mut by_kind: BTreeMap<Kind, Vec<Identity>> = BTreeMap::new();
        for &id in ids {
            by_kind.entry(self.heaps[id].kind).or_default().push(id);
        }
        for (kind, ids) in by_kind {
            let crowded = kind.may_be_crowded() && ids.len() > MAX_OBJECTS;
            if kind.is_mutable_container() || crowded {
                for pair in ids.windows(2) {
                    self.tasks.push(Task::Unify(pair[0], pair[1]));
                }
            }
        }
        joined
    }

    fn do_widen(&mut self, sv: Sv, facts: &Facts) {
        let sv = self.find(sv);
        if sv == Sv::MOST_GENERAL || sv == Sv::IMPOSSIBLE {
            debug_assert!(sv == Sv::MOST_GENERAL || facts.is_impossible());
            return;
        }
        let (beyond, published) = (self.nodes[sv].beyond, self.nodes[sv].published);
        let mut facts = facts.clone();
        if self.nodes[sv].leaks {
            let ids = self.get(sv).objects.ids;
            let ids = ids.iter().chain(&facts.objects.ids);
            self.tasks.extend(ids.map(|id| Task::Escape(*id)));
        }
        if beyond {
            let ids = std::mem::take(&mut facts.objects.ids);
            self.tasks.extend(ids.into_iter().map(Task::Escape));
            facts = Facts::MOST_GENERAL;
        } else if published {
            let ids = facts.objects.ids.iter();
            self.tasks.extend(ids.map(|id| Task::Publish(*id)));
            facts = facts.because(Source::Assumed);
        }
        let old = self.get(sv);
        let new = if beyond {
            // The value has escaped, so it is as unknown as any value outside.
            Facts::MOST_GENERAL.because(old.source.max(facts.source))
        } else {
            let new = self.joined(&old, &facts);
            self.resolved(&new)
        };
        if new == old {
            return;
        }
        self.changes += 1;
        let node = &mut self.nodes[sv];
        node.facts = Some(new.clone());
        self.changed.extend(node.readers.iter().copied());
        let flows: Vec<Sv> = node.flows.iter().copied().collect();
        let flows = flows.into_iter().map(|to| Task::Widen(to, new.clone()));
        self.tasks.extend(flows);
    }

    /// Sets the source of all facts to proved, except for those behind names that outside code may
    /// rebind.
    pub(super) fn forget_sources(&mut self) {
        let all: Vec<Sv> = self.nodes.keys().collect();
        for sv in all {
            let node = &mut self.nodes[sv];
            let source = if node.published {
                Source::Assumed
            } else {
                Source::Proved
            };
            if let Some(facts) = &mut node.facts {
                facts.source = source;
                let flows = node.flows.iter().map(|to| Task::Widen(*to, facts.clone()));
                self.tasks.extend(flows);
            }
        }
        self.work();
    }

    fn do_unify(&mut self, a: Identity, b: Identity) {
        let (a, b) = (self.same(a), self.same(b));
        if a == b {
            return;
        }
        self.changes += 1;
        let (winner, loser) = (a.min(b), a.max(b));
        for id in [winner, loser] {
            let slots: Vec<Slot> = self.heaps[id].slots.keys().cloned().collect();
            for slot in slots {
                self.make_own(id, slot);
            }
        }
        // First the link, then the insides, which may contain the two identities again.
        self.forward[loser.index()] = winner;
        let lost = self.heaps[loser].clone();
        let kept = &mut self.heaps[winner];
        kept.mutated |= lost.mutated;
        kept.resized |= lost.resized;
        kept.members.extend(&lost.members);
        kept.members.sort_unstable();
        // A flag of one of them holds for both now, and for the insides of both.
        if kept.escaped != lost.escaped {
            kept.escaped = false;
            self.tasks.push(Task::Escape(winner));
        }
        if kept.published != lost.published {
            kept.published = false;
            self.tasks.push(Task::Publish(winner));
        }
        for (slot, value) in lost.slots {
            match self.heaps[winner].slots.get(&slot) {
                Some(kept) => {
                    let kept = kept.sv;
                    self.unify_values(kept, value.sv);
                }
                None => {
                    self.heaps[winner].slots.insert(slot, value);
                }
            }
        }
    }

    /// Unifies two values that are slots' own.
    fn unify_values(&mut self, a: Sv, b: Sv) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        let (winner, loser) = (a.min(b), a.max(b));
        let (one, other) = (self.get(winner), self.get(loser));
        let joined = self.joined(&one, &other);
        let lost = std::mem::take(&mut self.nodes[loser]);
        self.nodes[loser].forward = Some(winner);
        if joined != one {
            let readers: Vec<Reader> = self.nodes[winner].readers.iter().copied().collect();
            self.changed.extend(readers);
        }
        if joined != other {
            self.changed.extend(lost.readers.iter().copied());
        }
        let node = &mut self.nodes[winner];
        node.facts = Some(joined.clone());
        node.beyond |= lost.beyond;
        node.published |= lost.published;
        node.leaks |= lost.leaks;
        node.readers.extend(lost.readers);
        node.flows.extend(lost.flows);
        node.flows.remove(&winner);
        node.flows.remove(&loser);
        let flows: Vec<Sv> = node.flows.iter().copied().collect();
        self.changes += 1;
        let flows = flows.into_iter().map(|to| Task::Widen(to, joined.clone()));
        self.tasks.extend(flows);
        self.tasks.push(Task::Widen(winner, Facts::IMPOSSIBLE));
    }

    fn do_escape(&mut self, id: Identity) {
        let id = self.same(id);
        if std::mem::replace(&mut self.heaps[id].escaped, true) {
            return;
        }
        self.changes += 1;
        let members = self.heaps[id].members.clone();
        self.escaped.extend(members);
        let slots: Vec<Slot> = self.heaps[id].slots.keys().cloned().collect();
        let keeps = keeps_slots(self.heaps[id].kind);
        for slot in slots {
            let facts = self.slot_facts(id, &slot).unwrap_or(Facts::IMPOSSIBLE);
            let contents = facts.objects.ids.iter().copied();
            self.tasks.extend(contents.map(Task::Escape));
            let own = self.make_own(id, slot);
            if keeps {
                self.nodes[own].leaks = true;
            } else {
                self.nodes[own].beyond = true;
                self.tasks.push(Task::Widen(own, Facts::MOST_GENERAL));
            }
        }
        // Outside code can read the class of an instance, and so its methods.
        for member in self.heaps[id].members.clone() {
            let Heap { kind, link, .. } = self.heaps[member];
            if kind == Kind::Instance && link != u32::MAX {
                self.tasks.push(Task::Escape(Identity::from_u32(link)));
            }
        }
    }

    fn do_publish(&mut self, id: Identity) {
        let id = self.same(id);
        if std::mem::replace(&mut self.heaps[id].published, true) {
            return;
        }
        self.changes += 1;
        let slots: Vec<Slot> = self.heaps[id].slots.keys().cloned().collect();
        for slot in slots {
            let own = self.make_own(id, slot);
            self.nodes[own].published = true;
            let facts = self.get(own);
            self.tasks.push(Task::Widen(own, facts));
        }
    }
}

/// Returns true if outside code can change the insides of such objects only by rebinding names. The
/// analysis assumes that it does not.
pub(super) fn keeps_slots(kind: Kind) -> bool {
    matches!(kind, Kind::Class | Kind::Function | Kind::Namespace)
}
