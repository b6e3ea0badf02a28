//! The annotation set: all facts of an analysis, and the readers to notify when a fact is widened.
//!
//! Facts only decrease. Every change of a value goes through `widen`, which joins; no function here
//! narrows a value. Work that follows from a change (a slot that takes from another, identities
//! that are unified, objects that escape) is done from a work list, not by recursion; `share`
//! describes it. For example, `a.append(b)` makes the items slot of `a` at least as general as `b`,
//! and every block that has read the items of `a` is queued again.

use super::identity::{Heap, Identity, Kind, Slot, SlotValue};
use super::share::keeps_slots;
use super::value::{Facts, Sv};
use crate::types::{ConstValue, Type};
use cranelift_entity::{EntityRef, PrimaryMap};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// A reader of facts: a number that the owner of the set gives out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Reader(pub u32);

/// The most objects of one immutable kind that a value keeps apart. Beyond that they are unified.
pub const MAX_OBJECTS: usize = 6;

/// A fact that can be set on a value, or killed.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// The value's type.
    Type(Type),
    /// The value's constant.
    Constant(ConstValue),
    /// The value is an int that is not negative.
    NonNegative,
}

/// The name of a fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactName {
    /// The type.
    Type,
    /// The constant.
    Constant,
    /// Not negative.
    NonNegative,
}

impl Fact {
    fn name(&self) -> FactName {
        match self {
            Fact::Type(_) => FactName::Type,
            Fact::Constant(_) => FactName::Constant,
            Fact::NonNegative => FactName::NonNegative,
        }
    }
}

/// The reason why a fact cannot be set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactError {
    /// The most general value has no facts and never will have any.
    MostGeneral,
    /// The impossible value already has all facts.
    Impossible,
    /// The value has, or had, a fact of this name; facts only decrease.
    AlreadySet(FactName),
}

impl fmt::Display for FactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FactError::MostGeneral => f.write_str("a fact about the most general value"),
            FactError::Impossible => f.write_str("a fact about the impossible value"),
            FactError::AlreadySet(name) => write!(f, "the fact {name:?} was set before"),
        }
    }
}

impl std::error::Error for FactError {}

/// The facts about one abstract value, and their readers.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) facts: Option<Facts>,
    /// One flag for each fact that was set alone: type, constant, not negative.
    pub(super) set: [bool; 3],
    pub(super) readers: BTreeSet<Reader>,
    /// Values that are at least as general as this one.
    pub(super) flows: BTreeSet<Sv>,
    /// The value that this one was unified with.
    pub(super) forward: Option<Sv>,
    /// Represents code outside the analysed program: every object that flows here escapes.
    pub(super) beyond: bool,
    /// Outside code can read the value, though not replace it: every object that flows here
    /// escapes.
    pub(super) leaks: bool,
    /// Reached through names that outside code may rebind.
    pub(super) published: bool,
}

/// A step of the work list.
pub(super) enum Task {
    Widen(Sv, Facts),
    Unify(Identity, Identity),
    Escape(Identity),
    Publish(Identity),
}

/// All facts of an analysis.
pub struct AnnotationSet {
    pub(super) nodes: PrimaryMap<Sv, Node>,
    pub(super) heaps: PrimaryMap<Identity, Heap>,
    pub(super) forward: Vec<Identity>,
    pub(super) tasks: Vec<Task>,
    /// The readers to notify.
    pub(super) changed: BTreeSet<Reader>,
    /// Functions and classes that escaped and were not yet fetched by the engine.
    pub(super) escaped: Vec<Identity>,
    /// The number of changes.
    pub(super) changes: u64,
}

impl Default for AnnotationSet {
    fn default() -> AnnotationSet {
        AnnotationSet::new()
    }
}

impl AnnotationSet {
    /// A set with the two extreme values only.
    pub fn new() -> AnnotationSet {
        let mut nodes = PrimaryMap::new();
        for facts in [Facts::IMPOSSIBLE, Facts::MOST_GENERAL] {
            nodes.push(Node {
                facts: Some(facts),
                ..Node::default()
            });
        }
        AnnotationSet {
            nodes,
            heaps: PrimaryMap::new(),
            forward: Vec::new(),
            tasks: Vec::new(),
            changed: BTreeSet::new(),
            escaped: Vec::new(),
            changes: 0,
        }
    }

    // ---- values ---------------------------------------------------------------------------------

    /// Adds a value with these facts.
    pub fn fresh(&mut self, facts: Facts) -> Sv {
        let sv = self.nodes.push(Node {
            facts: Some(Facts::IMPOSSIBLE),
            set: [true; 3],
            ..Node::default()
        });
        self.widen(sv, facts);
        sv
    }

    /// Adds a value without facts, for [`AnnotationSet::set`].
    pub fn blank(&mut self) -> Sv {
        self.nodes.push(Node {
            facts: Some(Facts::MOST_GENERAL),
            ..Node::default()
        })
    }

    /// The value that represents `sv` now.
    pub fn find(&self, mut sv: Sv) -> Sv {
        while let Some(next) = self.nodes[sv].forward {
            sv = next;
        }
        sv
    }

    /// The facts about a value.
    pub fn get(&self, sv: Sv) -> Facts {
        let facts = self.nodes[self.find(sv)].facts.as_ref();
        self.resolved(facts.unwrap_or(&Facts::IMPOSSIBLE))
    }

    /// The facts about a value. The reader is notified when they are widened.
    pub fn read(&mut self, sv: Sv, reader: Reader) -> Facts {
        let sv = self.find(sv);
        if sv != Sv::MOST_GENERAL {
            self.nodes[sv].readers.insert(reader);
        }
        self.get(sv)
    }

    /// Sets a fact of a value that has none of that name.
    ///
    /// # Errors
    /// The value is one of the extreme ones, or such a fact was set before.
    pub fn set(&mut self, sv: Sv, fact: Fact) -> Result<(), FactError> {
        let sv = self.find(sv);
        match sv {
            Sv::MOST_GENERAL => return Err(FactError::MostGeneral),
            Sv::IMPOSSIBLE => return Err(FactError::Impossible),
            _ => {}
        }
        let name = fact.name();
        let node = &mut self.nodes[sv];
        if std::mem::replace(&mut node.set[name as usize], true) {
            return Err(FactError::AlreadySet(name));
        }
        let mut facts = node.facts.clone().unwrap_or(Facts::MOST_GENERAL);
        match fact {
            Fact::Type(ty) => facts.ty = ty,
            Fact::Constant(value) => facts.constant = Some(value),
            Fact::NonNegative => facts.nonneg = true,
        }
        node.facts = Some(facts.normal());
        Ok(())
    }

    /// Removes a fact of a value, and notifies its readers. Does nothing if there is no such fact.
    pub fn kill(&mut self, sv: Sv, name: FactName) {
        let sv = self.find(sv);
        if sv.index() < 2 {
            return;
        }
        let mut facts = self.get(sv);
        match name {
            FactName::Type => {
                facts.ty = Type::OBJECT.opt();
                facts.objects.open = true;
            }
            FactName::Constant => facts.constant = None,
            FactName::NonNegative => facts.nonneg = false,
        }
        self.nodes[sv].set[name as usize] = true;
        self.widen(sv, facts);
    }

    /// Makes a value at least as general as `facts`. Returns true if anything changed.
    pub fn widen(&mut self, sv: Sv, facts: Facts) -> bool {
        let before = self.changes;
        self.tasks.push(Task::Widen(sv, facts));
        self.work();
        before != self.changes
    }

    /// Makes `to` at least as general as `from`, now and after every later change.
    pub fn flow(&mut self, from: Sv, to: Sv) {
        let (from, to) = (self.find(from), self.find(to));
        if from != to && self.nodes[from].flows.insert(to) {
            let facts = self.get(from);
            self.widen(to, facts);
        }
    }

    /// Returns a value that covers both. Immutable values stay as they are: the result is one of
    /// them if it covers the other, otherwise a third value. Mutable objects are unified for the
    /// whole program.
    pub fn merge(&mut self, a: Sv, b: Sv) -> Sv {
        let (a, b) = (self.find(a), self.find(b));
        match (a, b) {
            (Sv::IMPOSSIBLE, other) | (other, Sv::IMPOSSIBLE) => return other,
            (Sv::MOST_GENERAL, _) | (_, Sv::MOST_GENERAL) => return Sv::MOST_GENERAL,
            _ if a == b => return a,
            _ => {}
        }
        let joined = self.joined(&self.get(a), &self.get(b));
        self.work();
        let joined = self.resolved(&joined);
        if joined == self.get(a) {
            a
        } else if joined == self.get(b) {
            b
        } else {
            self.fresh(joined)
        }
    }

    /// Returns true if the two values share a mutable object.
    pub fn is_shared(&self, a: Sv, b: Sv) -> bool {
        let (a, b) = (self.get(a), self.get(b));
        let mutable = |id: &&Identity| {
            let kind = self.heaps[**id].kind;
            kind.is_mutable_container() || kind == Kind::Instance
        };
        (a.objects.ids.iter().filter(mutable)).any(|id| b.objects.ids.contains(id))
    }

    /// Takes the readers of values that were widened; each appears once.
    pub fn take_changed(&mut self) -> BTreeSet<Reader> {
        std::mem::take(&mut self.changed)
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if there is no value but the two extreme ones.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() <= 2
    }

    // ---- identities -----------------------------------------------------------------------------

    /// Adds an identity.
    pub fn identity(&mut self, kind: Kind, name: &str) -> Identity {
        let id = self.heaps.next_key();
        self.forward.push(id);
        self.heaps.push(Heap {
            kind,
            name: Arc::from(name),
            link: u32::MAX,
            slots: BTreeMap::new(),
            escaped: false,
            published: false,
            mutated: false,
            resized: false,
            members: vec![id],
        })
    }

    /// All identities.
    pub fn identities(&self) -> impl Iterator<Item = Identity> + use<> {
        self.heaps.keys()
    }

    /// The identity that represents `id` now.
    pub fn same(&self, mut id: Identity) -> Identity {
        while self.forward[id.index()] != id {
            id = self.forward[id.index()];
        }
        id
    }

    pub(super) fn heap(&self, id: Identity) -> &Heap {
        &self.heaps[self.same(id)]
    }

    pub(super) fn heap_mut(&mut self, id: Identity) -> &mut Heap {
        let id = self.same(id);
        &mut self.heaps[id]
    }

    /// The heap record of exactly this identity, even if it was unified with another.
    pub(super) fn own_heap(&self, id: Identity) -> &Heap {
        &self.heaps[id]
    }

    /// The value of a slot.
    pub fn slot(&mut self, id: Identity, slot: Slot) -> Sv {
        let id = self.same(id);
        if let Some(value) = self.heaps[id].slots.get(&slot) {
            return self.find(value.sv);
        }
        self.own_slot(id, slot)
    }

    /// The facts about the slot, if it was ever stored to or read.
    pub fn slot_facts(&self, id: Identity, slot: &Slot) -> Option<Facts> {
        let heap = self.heap(id);
        heap.slots.get(slot).map(|value| self.get(value.sv))
    }

    /// Stores into a slot, regardless of its previous content. The first store shares its value
    /// with the slot.
    pub fn store(&mut self, id: Identity, slot: Slot, sv: Sv) {
        let (id, sv) = (self.same(id), self.find(sv));
        if sv == Sv::IMPOSSIBLE {
            return;
        }
        let heap = &self.heaps[id];
        let flagged = heap.escaped || heap.published;
        match heap.slots.get(&slot) {
            None if !flagged => {
                let value = SlotValue { sv, own: false };
                self.heaps[id].slots.insert(slot, value);
                self.changes += 1;
            }
            Some(value) if self.find(value.sv) == sv => {}
            // This is the first store: readers of the empty slot are notified, and the slot shares
            // the value.
            Some(value) if !flagged && self.get(value.sv).is_impossible() => {
                let old = self.find(value.sv);
                self.tell(old);
                let flows: Vec<Sv> = self.nodes[old].flows.iter().copied().collect();
                let value = SlotValue { sv, own: false };
                self.heaps[id].slots.insert(slot, value);
                self.changes += 1;
                for to in flows {
                    self.flow(sv, to);
                }
            }
            _ => {
                let own = self.own_slot(id, slot);
                self.flow(sv, own);
            }
        }
    }

    /// Stores facts that belong to no value.
    pub fn store_facts(&mut self, id: Identity, slot: Slot, facts: Facts) {
        let own = self.own_slot(id, slot);
        self.widen(own, facts);
    }

    /// The slot's own value, which no other slot or variable shares.
    pub(super) fn own_slot(&mut self, id: Identity, slot: Slot) -> Sv {
        let sv = self.make_own(self.same(id), slot);
        self.work();
        self.find(sv)
    }

    /// The same for exactly this identity. Follow-up work is queued, not done.
    pub(super) fn make_own(&mut self, id: Identity, slot: Slot) -> Sv {
        let old = self.heaps[id].slots.get(&slot).copied();
        if let Some(value) = old
            && value.own
        {
            return self.find(value.sv);
        }
        let heap = &mut self.heaps[id];
        let beyond = heap.escaped && !keeps_slots(heap.kind);
        let sv = self.nodes.push(Node {
            facts: Some(Facts::IMPOSSIBLE),
            set: [true; 3],
            beyond,
            leaks: heap.escaped && !beyond,
            published: heap.published,
            ..Node::default()
        });
        heap.slots.insert(slot, SlotValue { sv, own: true });
        if beyond {
            self.tasks.push(Task::Widen(sv, Facts::MOST_GENERAL));
        }
        if let Some(value) = old {
            let shared = self.find(value.sv);
            let node = &mut self.nodes[shared];
            // Readers of the slot have read the shared value.
            self.changed.extend(node.readers.iter().copied());
            node.flows.insert(sv);
            let facts = self.get(shared);
            self.tasks.push(Task::Widen(sv, facts));
        }
        sv
    }

    /// Marks these objects as reachable from outside the analysed program.
    pub fn escape(&mut self, facts: &Facts) {
        for id in &facts.objects.ids {
            self.tasks.push(Task::Escape(*id));
        }
        self.work();
    }

    /// Marks this object as reachable through names that outside code may rebind.
    pub(super) fn publish(&mut self, id: Identity) {
        self.tasks.push(Task::Publish(id));
        self.work();
    }
}

impl AnnotationSet {
    /// Adds a value that makes everything that flows into it escape.
    pub(super) fn beyond(&mut self) -> Sv {
        self.nodes.push(Node {
            facts: Some(Facts::MOST_GENERAL),
            set: [true; 3],
            beyond: true,
            ..Node::default()
        })
    }

    /// Notifies all readers of the value, though it has not changed.
    pub(super) fn tell(&mut self, sv: Sv) {
        let sv = self.find(sv);
        let node = &self.nodes[sv];
        self.changed.extend(node.readers.iter().copied());
    }
}
