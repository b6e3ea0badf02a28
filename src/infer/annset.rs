//! The annotation set: everything that is known, and who must be told when it becomes less.
//!
//! Facts only decrease. Every way to change a value goes through `widen`, which joins; nothing here can narrow one. Work
//! that follows from a change (a slot that takes from another, identities that become one, objects that escape) is
//! done from a list, not by recursion; what that is, `share` says.

use super::identity::{Heap, Identity, Kind, Slot, SlotValue};
use super::share::keeps_slots;
use super::value::{Facts, Sv};
use crate::types::{ConstValue, Type};
use cranelift_entity::{EntityRef, PrimaryMap};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// Whoever reads a fact: a number that the owner of the set gives out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Reader(pub u32);

/// The most objects of one immutable kind that a value keeps apart; more become one identity.
pub const MAX_OBJECTS: usize = 6;

/// A fact that can be set on a value, or killed.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// Its type.
    Type(Type),
    /// Its constant.
    Constant(ConstValue),
    /// That it is an int that is not negative.
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

/// Why a fact can't be set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactError {
    /// Nothing is or ever will be known of the most general value.
    MostGeneral,
    /// The impossible value has all facts already.
    Impossible,
    /// The value has, or had, such a fact: facts only decrease.
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

/// What is known of one abstract value, and who wants to know.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) facts: Option<Facts>,
    /// Facts that were set one by one: type, constant, not negative.
    pub(super) set: [bool; 3],
    pub(super) readers: BTreeSet<Reader>,
    /// Values that hold whatever this one does.
    pub(super) flows: BTreeSet<Sv>,
    /// The value this one has become.
    pub(super) forward: Option<Sv>,
    /// Beyond the known world: whatever comes here escapes.
    pub(super) beyond: bool,
    /// Others can read it: whatever comes here escapes, though they do not replace it.
    pub(super) leaks: bool,
    /// Reached through names that others may rebind.
    pub(super) published: bool,
}

/// Something still to be done.
pub(super) enum Task {
    Widen(Sv, Facts),
    Unify(Identity, Identity),
    Escape(Identity),
    Publish(Identity),
}

/// All that is known.
pub struct AnnotationSet {
    pub(super) nodes: PrimaryMap<Sv, Node>,
    pub(super) heaps: PrimaryMap<Identity, Heap>,
    pub(super) forward: Vec<Identity>,
    pub(super) tasks: Vec<Task>,
    /// Readers to tell.
    pub(super) changed: BTreeSet<Reader>,
    /// Functions and classes that escaped and were not asked for yet.
    pub(super) escaped: Vec<Identity>,
    /// How many changes there were.
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

    // ---- values ---------------------------------------------------------------------------------------------------

    /// A value with these facts.
    pub fn fresh(&mut self, facts: Facts) -> Sv {
        let sv = self.nodes.push(Node {
            facts: Some(Facts::IMPOSSIBLE),
            set: [true; 3],
            ..Node::default()
        });
        self.widen(sv, facts);
        sv
    }

    /// A value about which nothing is known yet, for [`AnnotationSet::set`].
    pub fn blank(&mut self) -> Sv {
        self.nodes.push(Node {
            facts: Some(Facts::MOST_GENERAL),
            ..Node::default()
        })
    }

    /// The value that stands for `sv` now.
    pub fn find(&self, mut sv: Sv) -> Sv {
        while let Some(next) = self.nodes[sv].forward {
            sv = next;
        }
        sv
    }

    /// What is known of a value.
    pub fn get(&self, sv: Sv) -> Facts {
        let facts = self.nodes[self.find(sv)].facts.as_ref();
        self.resolved(facts.unwrap_or(&Facts::IMPOSSIBLE))
    }

    /// What is known of a value; the reader will be told when it is less.
    pub fn read(&mut self, sv: Sv, reader: Reader) -> Facts {
        let sv = self.find(sv);
        if sv != Sv::MOST_GENERAL {
            self.nodes[sv].readers.insert(reader);
        }
        self.get(sv)
    }

    /// Set a fact of a value that has none of that name.
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

    /// Forget a fact of a value, and tell who relied on it. Nothing happens if there is none.
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

    /// Make a value at least as general as `facts`; says whether anything changed.
    pub fn widen(&mut self, sv: Sv, facts: Facts) -> bool {
        let before = self.changes;
        self.tasks.push(Task::Widen(sv, facts));
        self.work();
        before != self.changes
    }

    /// Let `to` hold, now and later, whatever `from` does.
    pub fn flow(&mut self, from: Sv, to: Sv) {
        let (from, to) = (self.find(from), self.find(to));
        if from != to && self.nodes[from].flows.insert(to) {
            let facts = self.get(from);
            self.widen(to, facts);
        }
    }

    /// A value that may be either. Immutable values stay as they are: the result is one of them if that says no more than
    /// the other, else a third value. Mutable objects become the same for the whole program.
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
        match () {
            () if joined == self.get(a) => a,
            () if joined == self.get(b) => b,
            () => self.fresh(joined),
        }
    }

    /// Whether two values share a mutable object.
    pub fn is_shared(&self, a: Sv, b: Sv) -> bool {
        let (a, b) = (self.get(a), self.get(b));
        let mutable = |id: &&Identity| {
            let kind = self.heaps[**id].kind;
            kind.is_mutable_container() || kind == Kind::Instance
        };
        (a.objects.ids.iter().filter(mutable)).any(|id| b.objects.ids.contains(id))
    }

    /// Whoever read something that is less now; each once.
    pub fn take_changed(&mut self) -> BTreeSet<Reader> {
        std::mem::take(&mut self.changed)
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nobody has made a value.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() <= 2
    }

    // ---- identities -----------------------------------------------------------------------------------------------

    /// A new identity.
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

    /// All identities there are.
    pub fn identities(&self) -> impl Iterator<Item = Identity> + use<> {
        self.heaps.keys()
    }

    /// The identity that stands for `id` now.
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

    /// The heap record of exactly this identity, also where it has become one with another.
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

    /// What the slot holds, if something was ever stored in it or read from it.
    pub fn slot_facts(&self, id: Identity, slot: &Slot) -> Option<Facts> {
        let heap = self.heap(id);
        heap.slots.get(slot).map(|value| self.get(value.sv))
    }

    /// Store into a slot, whatever it held before. The first to do so shares its value with the slot.
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
            // Nothing was stored so far: who has read that is told, and the slot shares the value.
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

    /// Store facts that no value has.
    pub fn store_facts(&mut self, id: Identity, slot: Slot, facts: Facts) {
        let own = self.own_slot(id, slot);
        self.widen(own, facts);
    }

    /// The slot's own value, which nobody else has.
    pub(super) fn own_slot(&mut self, id: Identity, slot: Slot) -> Sv {
        let sv = self.make_own(self.same(id), slot);
        self.work();
        self.find(sv)
    }

    /// The same of exactly this identity, with the work that follows noted and not done.
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
            // Who read the slot has read the shared value.
            self.changed.extend(node.readers.iter().copied());
            node.flows.insert(sv);
            let facts = self.get(shared);
            self.tasks.push(Task::Widen(sv, facts));
        }
        sv
    }

    /// Say that these objects can be reached by what is beyond the known world.
    pub fn escape(&mut self, facts: &Facts) {
        for id in &facts.objects.ids {
            self.tasks.push(Task::Escape(*id));
        }
        self.work();
    }

    /// Say that this object can be reached through names that others may rebind.
    pub(super) fn publish(&mut self, id: Identity) {
        self.tasks.push(Task::Publish(id));
        self.work();
    }
}

impl AnnotationSet {
    /// A value of its own to which whatever flows escapes.
    pub(super) fn beyond(&mut self) -> Sv {
        self.nodes.push(Node {
            facts: Some(Facts::MOST_GENERAL),
            set: [true; 3],
            beyond: true,
            ..Node::default()
        })
    }

    /// Tell all who have read the value, though it has not changed.
    pub(super) fn tell(&mut self, sv: Sv) {
        let sv = self.find(sv);
        let node = &self.nodes[sv];
        self.changed.extend(node.readers.iter().copied());
    }
}
