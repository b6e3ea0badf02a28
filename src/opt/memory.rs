//! Checks and loads are executed once, for as long as nothing can have changed their results.
//!
//! A forward analysis of *available* facts, as for common subexpressions (Cocke 1970), over objects
//! rather than names: a guard on a user's class, a check of the host's, a length, an item or a load
//! holds until arbitrary user code runs, or an op writes the memory that it has read (the columns
//! `reads` and `writes` of the op table). An instruction whose fact is available on every path is
//! removed; if each path has the fact from another instruction, a guard becomes a `refine`. So each
//! fact is *guarded*.
//!
//! For example, the second load of `self.x` in `self.x * self.x` is the first one.
//!
//! # Aliases
//! Objects are known by their values in HIR, and two values may be one object. A store into a list
//! ends facts about the same place of all lists, but for constant places that differ; the stored
//! value is a new fact about its own place. So does a store of the host's, as far as the host knows
//! which places it and others touch ([`World::field_access`]); otherwise it ends all loads and
//! checks (an attribute of an instance may hide one of its class). It assigns no class, and writes
//! neither into lists nor into cells.
//!
//! A drop of which the code speculates that it runs no user code ([`super::ends`]) ends no fact: if
//! user code ran, the unit exits.
//!
//! If an instance is allocated here and no other code has it yet, the attributes that it lacks are
//! known: the first store into one overwrites nothing.
//!
//! An object may be known to have one of several classes: by a check of them, or of fewer, or by a
//! branch.
//!
//! # The value that a store overwrites
//! It is the value that was known to be there, and has that one's class: if that class is builtin,
//! or if a local has the object too, dropping it runs no user code, which would end all facts.
//!
//! # Facts as checks
//! With [`Context::check_facts`] no instruction is removed: each fact is checked again, and the
//! process ends where it does not hold ([`Function::asserted`]).

use super::Context;
use super::plant::{Fault, is_planted};
use crate::bytecode::Reason;
use crate::facts::{Callee, FieldAccess, InstanceAccess, IntrinsicCall, Source, World};
use crate::hir::{
    Block, Cmp, Expressions, Function, Inst, Memory, Op, Operands, Term, Value, is_builtin_exact,
};
use crate::types::Type;
use cranelift_entity::{EntitySet, SecondaryMap};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The most facts that are carried from block to block, and that are known of memory at a time: the
/// cost of more would exceed their gain.
const MOST_FACTS: usize = 96;

/// A fact: the op and its objects, by number.
type Key = u32;

/// The available facts, in ascending order, each with the value that has it, or none if that
/// depends on the path. A new fact is mostly the last one.
#[derive(Clone, Default)]
struct Known(Vec<(Key, Option<Value>)>);

impl Known {
    fn get(&self, key: Key) -> Option<Option<Value>> {
        let place = self.0.binary_search_by_key(&key, |known| known.0);
        Some(self.0[place.ok()?].1)
    }

    fn insert(&mut self, key: Key, value: Option<Value>) {
        if self.0.last().is_none_or(|last| last.0 < key) {
            self.0.push((key, value));
            return;
        }
        match self.0.binary_search_by_key(&key, |known| known.0) {
            Ok(place) => self.0[place].1 = value,
            Err(place) => self.0.insert(place, (key, value)),
        }
    }

    /// Keeps the facts that are in both sets; returns whether there are fewer than before.
    fn meet(&mut self, others: &Known) -> bool {
        let mut others = others.0.iter().peekable();
        let (before, mut changed) = (self.0.len(), false);
        self.0.retain_mut(|(key, value)| {
            while others.next_if(|other| other.0 < *key).is_some() {}
            let Some((_, other)) = others.next_if(|other| other.0 == *key) else {
                return false;
            };
            if value.is_some() && value != other {
                *value = None;
                changed = true;
            }
            true
        });
        changed || self.0.len() != before
    }
}

/// The available facts. Those that user code may change are kept apart: they are dropped often, and
/// searched for that.
#[derive(Clone, Default)]
struct Facts {
    lasting: Known,
    memory: Known,
    /// Instances that are allocated here and that no other code has yet, with the places of the
    /// attributes stored into them, in order.
    fresh: BTreeMap<Value, Vec<u32>>,
}

impl Facts {
    fn get(&self, key: Key) -> Option<Option<Value>> {
        self.lasting.get(key).or_else(|| self.memory.get(key))
    }

    /// Limits the facts to the number that may be carried to another block. The oldest facts stay.
    fn limit(&mut self) {
        self.lasting.0.truncate(MOST_FACTS);
        self.memory.0.truncate(MOST_FACTS - self.lasting.0.len());
    }
}

/// Removes instructions that find only known facts, such as the second load of `self.x` in `self.x
/// * self.x`.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let mut analysis = Analysis::new(f, cx);
    let mut at_entry: SecondaryMap<Block, Option<Facts>> = SecondaryMap::new();
    at_entry[f.entry()] = Some(Facts::default());
    // The blocks whose facts at entry have changed.
    let mut is_pending: SecondaryMap<Block, bool> = SecondaryMap::new();
    is_pending[f.entry()] = true;
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &b in &f.order {
            if !std::mem::take(&mut is_pending[b]) {
                continue;
            }
            let mut facts = at_entry[b].clone().expect("a block that was reached");
            for &v in &f.blocks[b].insts {
                analysis.step(f, v, &mut facts);
            }
            facts.limit();
            let sides = analysis.by_class(f, b, &facts);
            for (n, edge) in f.blocks[b].term.edges().into_iter().enumerate() {
                let facts = sides.as_ref().map_or(&facts, |sides| &sides[n]);
                if meet(&mut at_entry[edge.block], facts) {
                    is_pending[edge.block] = true;
                    changed = true;
                }
            }
        }
    }
    let mut rewritten = false;
    f.taken_out.clear();
    for b in f.order.clone() {
        let Some(mut facts) = at_entry[b].take() else {
            continue;
        };
        let insts = std::mem::take(&mut f.blocks[b].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for v in insts {
            if tells_nothing(f, v, &facts) {
                kept.push(v);
                continue;
            }
            let mut old = None;
            if let Some(item) = analysis.taken_out(f, v, &facts) {
                f.taken_out.insert(v, item);
                old = analysis.old_type(f, v, item, &facts);
                if let Some(ty) = old {
                    (f.insts[v].ty, f.insts[v].source) = (ty, Source::Guarded);
                    rewritten = true;
                } else if !cx.check_facts
                    && let Some(store) = quiet_store(f, v, item)
                {
                    f.insts[v].op = Op::StoreQuiet(store);
                    rewritten = true;
                }
            }
            if !cx.check_facts
                && let Some(is) = analysis.known_class(f, v, &facts)
            {
                let inst = &mut f.insts[v];
                (inst.op, inst.source) = (Op::ConstBool(is), Source::Guarded);
                inst.args.clear();
                rewritten = true;
            }
            if !cx.check_facts
                && let Some(store) = analysis.first_store(f, v, &facts)
            {
                let inst = &mut f.insts[v];
                (inst.op, inst.ty) = (Op::StoreQuiet(store), Type::NULLPTR);
                rewritten = true;
            }
            let known = analysis.step(f, v, &mut facts);
            let gone = match known {
                Some(known) if !cx.check_facts => {
                    rewritten = true;
                    rely_on_known(f, v, known)
                }
                _ => false,
            };
            if !gone {
                kept.push(v);
            }
            if cx.check_facts && (old.is_some() || known.is_some()) {
                let kept = &mut kept;
                let mut checks = Checks { f, block: b, kept };
                match known {
                    Some(known) => checks.known(v, known),
                    None => checks.class(v),
                }
                rewritten = true;
            }
        }
        f.blocks[b].insts = kept;
    }
    rewritten
}

/// Returns true if an instruction neither finds a fact nor ends one. In a large function most
/// instructions do neither.
fn tells_nothing(f: &Function, v: Value, facts: &Facts) -> bool {
    let op = f.op(v);
    let is_apart = matches!(
        op,
        Op::Incref
            | Op::StoreSlot(_)
            | Op::VirtualRangeIter
            | Op::ConstInt(_)
            | Op::ConstBool(_)
            | Op::Const(_)
            | Op::IntAdd
            | Op::IntStep
            | Op::IntSub
            | Op::IntMul
            | Op::IntAnd
    );
    (is_apart || op.is_box()) && facts.fresh.is_empty()
}

/// Replaces an instruction by the known value. Returns true if the instruction is removed.
fn rely_on_known(f: &mut Function, v: Value, known: Option<Value>) -> bool {
    if let Some(first) = known {
        let ty = f.ty(v);
        if f.insts[v].op == Op::ListGet && !(f.ty(first) <= ty) {
            // The type of the loaded item is more precise than the type of the stored one.
            let inst = &mut f.insts[v];
            (inst.op, inst.args) = (Op::Refine(ty), vec![first]);
            return false;
        }
        f.replace(v, first);
        return true;
    }
    // It holds on every path, by another guard on each.
    let inst = &mut f.insts[v];
    inst.op = match inst.op {
        Op::GuardType(ty) => Op::Refine(ty),
        Op::GuardTrue(_) => Op::Refine(Type::CBOOL),
        _ => return true,
    };
    inst.state = None;
    false
}

/// Keeps the facts that hold on both of two paths; returns whether there are fewer than before.
fn meet(known: &mut Option<Facts>, other: &Facts) -> bool {
    let Some(facts) = known else {
        *known = Some(other.clone());
        return true;
    };
    let lasting = facts.lasting.meet(&other.lasting);
    let fresh = facts.fresh.len();
    facts
        .fresh
        .retain(|v, stored| other.fresh.get(v) == Some(stored));
    facts.memory.meet(&other.memory) || lasting || facts.fresh.len() != fresh
}

struct Analysis<'a> {
    world: &'a dyn World,
    expressions: Expressions,
    /// The guards on the class of each object that has some, and which of these an object's are,
    /// plus one.
    guards: Vec<SmallVec<[Key; 2]>>,
    guards_on: SecondaryMap<Value, u32>,
    fields: Fields<'a>,
    /// True if facts become checks. Some facts hold although a check of them would fail, and are
    /// not used then: that a number is equal to the stored one, though it is another object; that
    /// an instance lacks attributes that others of its class may have by now.
    checks_facts: bool,
}

impl<'a> Analysis<'a> {
    fn new(f: &Function, cx: &Context<'a>) -> Analysis<'a> {
        let world = cx.world;
        Analysis {
            world,
            checks_facts: cx.check_facts,
            expressions: Expressions::default(),
            guards: Vec::new(),
            guards_on: SecondaryMap::with_capacity(f.insts.len()),
            fields: Fields::new(f, world, &f.order),
        }
    }

    /// The number of a fact.
    fn number(&mut self, op: &Op, args: &[Value]) -> Key {
        let next = self.expressions.count() as Key;
        let key = self.expressions.number(op, args);
        if key == next
            && let (Op::GuardType(_) | Op::CheckClasses(_), [object]) = (op, args)
        {
            let on = &mut self.guards_on[*object];
            if *on == 0 {
                self.guards.push(SmallVec::new());
                *on = self.guards.len() as u32;
            }
            self.guards[*on as usize - 1].push(key);
        }
        key
    }

    /// The guards on the class of an object.
    fn guards_on(&self, object: Value) -> &[Key] {
        match self.guards_on[object].checked_sub(1) {
            Some(on) => &self.guards[on as usize],
            None => &[],
        }
    }

    /// The number of the fact that the instruction finds, if it finds one.
    fn key(&mut self, f: &Function, v: Value) -> Option<Key> {
        let inst = f.inst(v);
        let object = |i: usize| f.object_of(inst.args[i]);
        let args: Operands = match &inst.op {
            Op::GuardType(_)
            | Op::CheckClasses(_)
            | Op::Load(_)
            | Op::ListLen
            | Op::RawLen(_)
            | Op::CellGet
            | Op::TupleLen
            | Op::StrLen
            | Op::RangeField(_)
            | Op::UnboxInt => smallvec![object(0)],
            Op::CheckThread(_) | Op::GlobalGet(_) => smallvec![],
            Op::Check(call) if self.world.is_of_class(call.id) => smallvec![],
            Op::Check(_) => smallvec![object(0)],
            Op::ListGet | Op::TupleGet | Op::StrAt | Op::RawGet(_) => {
                smallvec![object(0), f.resolve(inst.args[1])]
            }
            // These have raw operands, which facts about memory show to be the same.
            Op::Index | Op::IntCmp(_) | Op::GuardTrue(_) => {
                inst.args.iter().map(|a| f.resolve(*a)).collect()
            }
            _ => return None,
        };
        Some(self.number(&inst.op, &args))
    }

    /// Adds a fact that `v` has found. If there are too many facts that stores may end, the oldest
    /// is removed.
    fn add(&self, facts: &mut Facts, key: Key, v: Value) {
        if self.expressions.get(key).0.reads().is_nothing() {
            facts.lasting.insert(key, Some(v));
            return;
        }
        facts.memory.insert(key, Some(v));
        if facts.memory.0.len() > MOST_FACTS {
            facts.memory.0.remove(0);
        }
    }

    /// Follows the facts past an instruction. If the instruction finds a known fact, returns the
    /// value that has it, if that is the same value on all paths.
    fn step(&mut self, f: &Function, v: Value, facts: &mut Facts) -> Option<Option<Value>> {
        if tells_nothing(f, v, facts) {
            return None;
        }
        let is_implied = match f.op(v) {
            Op::CheckClasses(types) => self.is_one_of(f.object_of(f.arg(v, 0)), types, facts),
            Op::Check(call) if self.holds_of_fresh(f, f.arg(v, 0), call, facts) => true,
            Op::Check(call) if self.world.is_of_class(call.id) => self.is_checked(call, facts),
            Op::Check(call) => self.is_of_number(f, f.arg(v, 0), call, facts),
            _ => false,
        };
        if is_implied {
            return Some(None);
        }
        if let Some(key) = self.key(f, v) {
            // A value that depends on the path is found out here once more, for all that follows.
            let needs_value = !is_only_check(f.op(v));
            let known = facts.get(key);
            let known = known.filter(|first| first.is_some() || !needs_value);
            if let Some(Some(stored)) = known
                && self.is_number_of(f, v, f.object_of(stored), facts)
            {
                self.add(facts, key, v);
                return None;
            }
            if !matches!(known, Some(Some(_))) {
                self.add(facts, key, v);
            }
            return known.filter(|first| *first != Some(v));
        }
        if is_planted(Fault::Memory) {
            return None;
        }
        if !facts.fresh.is_empty() || matches!(f.op(v), Op::New(..)) {
            if self.drops_class_of_fresh(f, v, facts) {
                return None;
            }
            self.follow_fresh(f, v, facts);
        }
        let changes = Changes::of(f, v, &self.fields);
        match &changes {
            Changes::Nothing => {}
            Changes::All => facts.memory.0.clear(),
            _ => facts.memory.0.retain(|(key, _)| {
                let (op, args) = self.expressions.get(*key);
                changes.keep(f, op, args, &self.fields)
            }),
        }
        if let Op::New(ty, _) = f.op(v) {
            let class = self.number(&Op::GuardType(*ty), &[v]);
            facts.memory.insert(class, None);
        }
        let now = match changes {
            Changes::Item(list, place) => Some((Op::ListGet, [list, place].into(), f.arg(v, 2))),
            Changes::Attribute(_, load) => {
                let object = f.object_of(f.arg(v, 0));
                Some((Op::Load(load), Operands::from_slice(&[object]), f.arg(v, 1)))
            }
            _ => None,
        };
        if let Some((op, args, value)) = now
            && (!self.checks_facts || !f.op(f.object_of(value)).is_box())
        {
            let key = self.number(&op, &args);
            self.add(facts, key, value);
        }
        None
    }

    /// Returns true if the stored value is a box, which becomes another object wherever it is
    /// allocated. Then the loaded object has the box's class and value, and these facts are added.
    fn is_number_of(&mut self, f: &Function, v: Value, stored: Value, facts: &mut Facts) -> bool {
        let unboxing = match f.op(stored) {
            Op::BoxInt => Op::UnboxInt,
            Op::BoxFloat => Op::UnboxFloat,
            Op::BoxBool => Op::UnboxBool,
            op => return op.is_box(),
        };
        let class = Op::GuardType(f.ty(stored).unspecialized().drop_mortality());
        let class = self.number(&class, &[v]);
        facts.lasting.insert(class, None);
        let raw = self.number(&unboxing, &[v]);
        facts.lasting.insert(raw, Some(f.arg(stored, 0)));
        true
    }

    /// Returns true if a check tests that the value at a place can be dropped without running user
    /// code, and that value is a number.
    fn is_of_number(&self, f: &Function, v: Value, call: &IntrinsicCall, facts: &Facts) -> bool {
        let Some(FieldAccess::Reads(place)) = self.fields.access(call) else {
            return false;
        };
        let object = f.object_of(v);
        let is_number = |item: Value| {
            let known = |ty: &Type| *ty <= Type::LONG_EXACT || *ty <= Type::FLOAT_EXACT;
            let own = f.ty(item);
            !own.is_bottom() && known(&own)
                || self.classes(item, facts).any(|c| c.iter().all(known))
        };
        let mut loads = facts.memory.0.iter().filter_map(|(key, item)| {
            let (op, args) = self.expressions.get(*key);
            let Op::Load(load) = op else { return None };
            let reads =
                args == [object] && self.fields.access(load) == Some(FieldAccess::Reads(place));
            item.filter(|_| reads)
        });
        loads.any(|item| is_number(f.object_of(item)))
            && self.world.instance_access(f.ty(v), call) == Some(InstanceAccess::Quiet(place))
    }

    /// The sets of classes that an object is known to have one of: one set for each check.
    fn classes<'b>(&'b self, object: Value, facts: &'b Facts) -> impl Iterator<Item = &'b [Type]> {
        let guards = self.guards_on(object).iter();
        let known = guards.filter(|key| facts.get(**key).is_some());
        known.filter_map(|key| match self.expressions.get(*key).0 {
            Op::GuardType(ty) => Some(std::slice::from_ref(ty)),
            Op::CheckClasses(types) => Some(&types[..]),
            _ => None,
        })
    }

    fn is_one_of(&self, object: Value, types: &[Type], facts: &Facts) -> bool {
        self.classes(object, facts)
            .any(|known| known.iter().all(|ty| types.contains(ty)))
    }

    /// Returns true if a check that reads nothing of its object is known to hold.
    fn is_checked(&self, call: &IntrinsicCall, facts: &Facts) -> bool {
        let known = facts.memory.0.iter();
        let mut checks = known.map(|(key, _)| self.expressions.get(*key));
        checks.any(|(op, args)| match op {
            Op::Check(known) if args.is_empty() => {
                known == call || self.world.check_of_both(known, call).as_ref() == Some(known)
            }
            _ => false,
        })
    }

    /// Returns true if the object's class is one of those that an instruction tests; `None` if that
    /// is not known.
    fn known_class(&self, f: &Function, v: Value, facts: &Facts) -> Option<bool> {
        let Op::IsClass(types) = f.op(v) else {
            return None;
        };
        let object = f.object_of(f.arg(v, 0));
        if self.is_one_of(object, types, facts) {
            return Some(true);
        }
        let apart = |known: &[Type]| known.iter().all(|ty| !types.contains(ty));
        self.classes(object, facts).any(apart).then_some(false)
    }

    /// The facts on both sides of a branch on an object's class, or on whether it is None.
    fn by_class(&mut self, f: &Function, b: Block, facts: &Facts) -> Option<[Facts; 2]> {
        let Term::Branch { cond, .. } = &f.blocks[b].term else {
            return None;
        };
        let cond = f.resolve(*cond);
        if *f.op(cond) == Op::IsNone {
            let (mut is, is_not) = (facts.clone(), facts.clone());
            let object = f.object_of(f.arg(cond, 0));
            let key = self.number(&Op::GuardType(Type::NONE_TYPE), &[object]);
            is.lasting.insert(key, None);
            return Some([is, is_not]);
        }
        let Op::IsClass(types) = f.op(cond) else {
            return None;
        };
        // Found out right here: nothing has run since.
        if !f.blocks[b].insts.ends_with(&[cond]) {
            return None;
        }
        let object = f.object_of(f.arg(cond, 0));
        let rest = self.classes(object, facts).min_by_key(|known| known.len());
        let rest = rest.map(|known| {
            let rest = known.iter().filter(|ty| !types.contains(ty));
            rest.copied().collect::<Vec<_>>()
        });
        let (mut is, mut is_not) = (facts.clone(), facts.clone());
        let key = self.number(&is_one_of(types), &[object]);
        is.memory.insert(key, None);
        if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
            let key = self.number(&is_one_of(&rest), &[object]);
            is_not.memory.insert(key, None);
        }
        Some([is, is_not])
    }

    /// Returns true if a check of an instance holds because the instance is new.
    fn holds_of_fresh(&self, f: &Function, v: Value, call: &IntrinsicCall, facts: &Facts) -> bool {
        let object = f.object_of(v);
        let Some(stored) = facts.fresh.get(&object) else {
            return false;
        };
        match self.world.instance_access(class_of_new(f, object), call) {
            Some(InstanceAccess::Holds) => true,
            Some(InstanceAccess::Lacks(place) | InstanceAccess::Quiet(place)) => {
                !stored.contains(&place)
            }
            Some(InstanceAccess::LacksFrom(place)) => {
                !self.checks_facts && stored.iter().all(|p| *p < place)
            }
            _ => false,
        }
    }

    /// For a store into a new instance: the instance, the place, and the host's store.
    fn store_in_fresh<'f>(
        &self,
        f: &'f Function,
        v: Value,
        facts: &Facts,
    ) -> Option<(Value, u32, &'f IntrinsicCall)> {
        let (Op::Store(store) | Op::StoreQuiet(store)) = f.op(v) else {
            return None;
        };
        let object = f.object_of(f.arg(v, 0));
        facts.fresh.get(&object)?;
        match self.world.instance_access(class_of_new(f, object), store)? {
            InstanceAccess::Store(place) => Some((object, place, store)),
            _ => None,
        }
    }

    /// The host's shorter store for an instance that is new and has nothing at the place, if there
    /// is one.
    fn first_store(&self, f: &Function, v: Value, facts: &Facts) -> Option<IntrinsicCall> {
        let (object, place, store) = self.store_in_fresh(f, v, facts)?;
        let stored = &facts.fresh[&object];
        if stored.contains(&place) || f.ty(v) == Type::NULLPTR {
            return None;
        }
        let class = class_of_new(f, object);
        self.world.first_store(class, store, stored)
    }

    /// Returns true if an instruction drops a reference to the class of a new instance, which keeps
    /// its class alive.
    fn drops_class_of_fresh(&self, f: &Function, v: Value, facts: &Facts) -> bool {
        if !matches!(f.op(v), Op::Decref) || facts.fresh.is_empty() {
            return false;
        }
        let class = f.ty(f.object_of(f.arg(v, 0))).as_object();
        match class.map(|class| self.world.callee(class)) {
            Some(Callee::Class { class, .. } | Callee::Tuple { class, .. }) => {
                let mut fresh = facts.fresh.keys();
                fresh.any(|instance| class_of_new(f, *instance).runtime_class() == Some(class))
            }
            _ => false,
        }
    }

    /// Updates the new instances past an instruction that finds no fact.
    fn follow_fresh(&self, f: &Function, v: Value, facts: &mut Facts) {
        let inst = f.inst(v);
        if let Some((object, place, _)) = self.store_in_fresh(f, v, facts) {
            let stored = facts.fresh.get_mut(&object).expect("it is there");
            if !stored.contains(&place) {
                stored.push(place);
            }
            facts.fresh.remove(&f.object_of(inst.args[1]));
            return;
        }
        match &inst.op {
            Op::New(ty, call) => {
                if let Some(InstanceAccess::New(_)) = self.world.instance_access(*ty, call) {
                    facts.fresh.insert(v, Vec::new());
                }
            }
            // After these still only the frame has the instance.
            Op::Incref | Op::StoreSlot(_) | Op::Refine(_) | Op::Held | Op::Kin(_) => {}
            _ if self.fields.may_run_host_code(f, v) => facts.fresh.clear(),
            Op::Decref => {}
            op if op.effects().writes => facts.fresh.clear(),
            _ => {
                for arg in &inst.args {
                    facts.fresh.remove(&f.object_of(*arg));
                }
            }
        }
    }

    /// The value that a store overwrites, if it is known.
    fn taken_out(&self, f: &Function, v: Value, facts: &Facts) -> Option<Value> {
        let inst = f.inst(v);
        let object = f.object_of(*inst.args.first()?);
        let key = match &inst.op {
            Op::ListSet => {
                let place = f.resolve(inst.args[1]);
                self.expressions.find(&Op::ListGet, &[object, place])
            }
            Op::Store(store) | Op::StoreQuiet(store) => match self.fields.access(store)? {
                FieldAccess::Writes { load, .. } => {
                    self.expressions.find(&Op::Load(load), &[object])
                }
                FieldAccess::Apart | FieldAccess::Reads(_) => None,
            },
            _ => None,
        };
        Some(f.object_of(facts.get(key?)??))
    }

    /// The class of the item that a store overwrites, if it is known and more precise than before.
    fn old_type(&self, f: &Function, v: Value, item: Value, facts: &Facts) -> Option<Type> {
        let inst = f.inst(v);
        let guards = self.guards_on(item).iter();
        let guards = guards.filter(|key| facts.get(**key).is_some());
        let guards = guards.filter_map(|key| match *self.expressions.get(*key).0 {
            Op::GuardType(ty) => Some(ty),
            _ => None,
        });
        let mut types = guards.chain([f.ty(item)]);
        types.find(|ty| is_builtin_exact(*ty) && *ty != inst.ty && *ty <= inst.ty)
    }
}

/// A store that overwrites an item that a local has as well, so that the store does not deallocate
/// it.
fn quiet_store(f: &Function, v: Value, item: Value) -> Option<IntrinsicCall> {
    let Op::Store(store) = f.op(v) else {
        return None;
    };
    let is_held = !f.op(item).is_box() && f.is_in_local(v, item);
    is_held.then(|| store.clone())
}

/// The places that the host's intrinsics touch (each queried once), and the drops that have run no
/// user code where the unit continues.
pub(super) struct Fields<'a> {
    world: &'a dyn World,
    known: RefCell<FxHashMap<IntrinsicCall, Option<FieldAccess>>>,
    unseen: EntitySet<Value>,
}

impl<'a> Fields<'a> {
    /// The fields for queries about instructions of these blocks.
    pub(super) fn new(f: &Function, world: &'a dyn World, blocks: &[Block]) -> Fields<'a> {
        Fields {
            world,
            known: RefCell::default(),
            unseen: f.unseen_drops(blocks),
        }
    }

    /// Returns true if user code may have run where the unit continues behind an instruction.
    fn may_run_host_code(&self, f: &Function, v: Value) -> bool {
        f.may_run_host_code(v) && !self.unseen.contains(v)
    }

    fn access(&self, call: &IntrinsicCall) -> Option<FieldAccess> {
        let mut known = self.known.borrow_mut();
        if let Some(access) = known.get(call) {
            return access.clone();
        }
        let access = self.world.field_access(call);
        known.insert(call.clone(), access.clone());
        access
    }
}

/// The part of the memory of facts that an instruction changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Changes {
    /// Nothing: no fact is about counts, slots and iterators.
    Nothing,
    /// The item of this list at this place.
    Item(Value, Value),
    /// A raw item at this place of some object.
    RawItem(Value),
    /// The attribute at a place of some object, and the load from there.
    Attribute(u32, IntrinsicCall),
    /// Any memory of these classes.
    Memory(Memory),
    /// All: arbitrary user code may run.
    All,
}

impl Changes {
    /// The changes of `v`: those that its row declares, or a single place if the operands name it.
    pub(super) fn of(f: &Function, v: Value, fields: &Fields<'_>) -> Changes {
        let inst = &f.inst(v);
        let op = &inst.op;
        match op {
            Op::Decref if fields.may_run_host_code(f, v) => return Changes::All,
            Op::Decref => return Changes::Nothing,
            Op::ListSet => {
                return Changes::Item(f.object_of(inst.args[0]), f.resolve(inst.args[1]));
            }
            Op::RawSet(_) => return Changes::RawItem(f.resolve(inst.args[1])),
            Op::Store(store) | Op::StoreQuiet(store) => {
                if let Some(FieldAccess::Writes { place, load }) = fields.access(store) {
                    return Changes::Attribute(place, load);
                }
            }
            _ => {}
        }
        let row = op.row();
        if row.runs_host_code() {
            return Changes::All;
        }
        let written = row.writes.within(Memory::WRITABLE);
        if written.is_nothing() {
            Changes::Nothing
        } else {
            Changes::Memory(written)
        }
    }

    /// Returns true if the fact of `op` and `args` still holds.
    pub(super) fn keep(&self, f: &Function, op: &Op, args: &[Value], fields: &Fields<'_>) -> bool {
        let reads = op.reads();
        match self {
            Changes::Nothing => true,
            Changes::Item(_, place) => {
                !reads.meets(Memory::ITEMS) || *op == Op::ListGet && are_apart(f, args[1], *place)
            }
            Changes::RawItem(place) => {
                !reads.meets(Memory::RAW_ITEMS)
                    || matches!(op, Op::RawGet(_)) && are_apart(f, args[1], *place)
            }
            Changes::Attribute(place, _) => match op {
                Op::Load(call) | Op::Check(call) => match fields.access(call) {
                    Some(FieldAccess::Apart) => true,
                    Some(FieldAccess::Reads(other)) => other != *place,
                    Some(FieldAccess::Writes { .. }) | None => false,
                },
                _ => !reads.meets(Memory::ATTRIBUTES),
            },
            Changes::Memory(written) => !reads.meets(*written),
            Changes::All => reads.is_nothing(),
        }
    }
}

/// The class of a new instance while no other code has it.
fn class_of_new(f: &Function, object: Value) -> Type {
    match f.op(object) {
        Op::New(ty, _) => *ty,
        _ => f.ty(object),
    }
}

/// The check that an object has one of these classes.
fn is_one_of(types: &[Type]) -> Op {
    match types {
        [ty] => Op::GuardType(*ty),
        _ => Op::CheckClasses(types.to_vec()),
    }
}

/// Returns true if the op returns its operand, or no value.
fn is_only_check(op: &Op) -> bool {
    matches!(
        op,
        Op::GuardType(_)
            | Op::Check(_)
            | Op::CheckThread(_)
            | Op::CheckClasses(_)
            | Op::GuardTrue(_)
    )
}

/// Returns true if two offsets into lists, both in range, are certainly different.
fn are_apart(f: &Function, a: Value, b: Value) -> bool {
    let constant = |v: Value| match f.op(v) {
        Op::ConstInt(n) => Some(*n),
        Op::Index => match f.op(f.arg(v, 0)) {
            // An index from the end depends on the length.
            Op::ConstInt(n) if *n >= 0 => Some(*n),
            _ => None,
        },
        _ => None,
    };
    matches!((constant(a), constant(b)), (Some(a), Some(b)) if a != b)
}

/// Puts checks of facts behind instructions that could rely on them.
struct Checks<'a> {
    f: &'a mut Function,
    block: Block,
    kept: &'a mut Vec<Value>,
}

impl Checks<'_> {
    /// The fact of `v` is known already.
    fn known(&mut self, v: Value, known: Option<Value>) {
        let f = &mut *self.f;
        if f.insts[v].op.exit_reason().is_some() {
            f.asserted.insert(v);
        }
        let is_made = |v: Value| !f.op(f.object_of(v)).is_box();
        let (same, known) = match (&f.insts[v].op, known) {
            (Op::ListLen | Op::TupleLen | Op::StrLen | Op::RawLen(_), Some(known)) => {
                (Op::IntCmp(Cmp::Eq), known)
            }
            (
                Op::Load(_) | Op::GlobalGet(_) | Op::ListGet | Op::TupleGet | Op::CellGet,
                Some(known),
            ) if is_made(known) => (Op::Is, known),
            _ => return,
        };
        let same = self.emit(same, vec![v, known], Type::CBOOL);
        let guard = self.emit(Op::GuardTrue(Reason::Type), vec![same], Type::BOTTOM);
        self.f.asserted.insert(guard);
    }

    /// The result of `v` has the class of its type.
    fn class(&mut self, v: Value) {
        let ty = self.f.ty(v).drop_mortality();
        let guard = self.emit(Op::GuardType(ty), vec![v], ty);
        self.f.asserted.insert(guard);
    }

    fn emit(&mut self, op: Op, args: Vec<Value>, ty: Type) -> Value {
        let f = &mut *self.f;
        // The process does not continue from here if the check fails.
        let state = f.blocks[self.block].entry_state.clone();
        let state = op.exit_reason().map(|_| f.states.push(state));
        let pc = f.insts[args[0]].pc;
        let v = f.insts.push(Inst {
            op,
            args,
            ty,
            source: Source::Proved,
            state,
            pc,
        });
        self.kept.push(v);
        v
    }
}
