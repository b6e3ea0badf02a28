//! What checks and loads have found out, made once for as long as nothing can have changed it.
//!
//! A forward analysis of *available* facts, as for common subexpressions (Cocke 1970), over objects rather than names: a
//! guard on a user's class, a check of the host's, a length, an item or a load holds until something runs code of the
//! program, or writes what it has read. What is available on every path is not done again; where each path has found it out
//! by another instruction, a guard becomes a `refine`. So each fact is *guarded*.
//!
//! # What is told apart
//! Objects are known by their values in HIR, and two values may be one object. A store into a list ends what is known of
//! the same place of all lists, but for constant places that differ; it is known then what is in its own. A store of the
//! host's ends all its loads and checks (what is stored may hide what a class has); it changes no class, and writes neither
//! into lists nor into cells.
//!
//! # What a store takes out
//! It is what was known to be there, and of that value's class: where that is builtin, dropping it runs no code of the
//! program, which would end all that is known.
//!
//! # Facts as checks
//! With [`Context::check_facts`] nothing goes: what is known to hold is found out again, and the process ends where it does
//! not hold ([`Function::asserted`]).

use super::Context;
use super::plant::{Fault, is_planted};
use crate::bytecode::Reason;
use crate::facts::Source;
use crate::hir::{Block, Cmp, Function, Inst, Op, Value, is_builtin_exact};
use crate::types::Type;
use cranelift_entity::SecondaryMap;
use std::collections::BTreeMap;
use std::collections::HashMap;

/// The most facts that are carried from block to block, and that are known of memory at a time: more would cost more than they bring.
const MOST_FACTS: usize = 96;

/// A fact: the op and the objects that it was asked of, by number.
type Key = u32;

/// What is available: by fact the value that has it, or none if that depends on the path.
type Known = BTreeMap<Key, Option<Value>>;

/// What is available, what code of the program may change apart from the rest: that is dropped often, and looked through for it.
#[derive(Clone, Default)]
struct Facts {
    lasting: Known,
    memory: Known,
}

impl Facts {
    fn get(&self, key: Key) -> Option<Option<Value>> {
        let known = self.lasting.get(&key).or_else(|| self.memory.get(&key));
        known.copied()
    }

    /// Keep what is known to what may be carried on, the oldest first.
    fn limit(&mut self) {
        while self.lasting.len() > MOST_FACTS {
            self.lasting.pop_last();
        }
        while self.memory.len() > MOST_FACTS - self.lasting.len().min(MOST_FACTS) {
            self.memory.pop_last();
        }
    }
}

/// Drop what is known already.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let mut analysis = Analysis::default();
    let mut at_entry: SecondaryMap<Block, Option<Facts>> = SecondaryMap::new();
    at_entry[f.entry()] = Some(Facts::default());
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &b in &f.order {
            let Some(mut facts) = at_entry[b].clone() else {
                continue;
            };
            for &v in &f.blocks[b].insts {
                analysis.step(f, v, &mut facts);
            }
            facts.limit();
            for edge in f.blocks[b].term.edges() {
                changed |= meet(&mut at_entry[edge.block], &facts);
            }
        }
    }
    let mut rewritten = false;
    for b in f.order.clone() {
        let Some(mut facts) = at_entry[b].take() else {
            continue;
        };
        let insts = std::mem::take(&mut f.blocks[b].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for v in insts {
            let old = analysis.old_type(f, v, &facts);
            if let Some(ty) = old {
                (f.insts[v].ty, f.insts[v].source) = (ty, Source::Guarded);
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

/// Let what is known stand for an instruction; says whether that goes.
fn rely_on_known(f: &mut Function, v: Value, known: Option<Value>) -> bool {
    if let Some(first) = known {
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

/// What holds where two paths meet; says whether less holds than before.
fn meet(known: &mut Option<Facts>, other: &Facts) -> bool {
    let Some(facts) = known else {
        *known = Some(other.clone());
        return true;
    };
    let lasting = meet_known(&mut facts.lasting, &other.lasting);
    meet_known(&mut facts.memory, &other.memory) || lasting
}

fn meet_known(facts: &mut Known, other: &Known) -> bool {
    let before = facts.len();
    facts.retain(|key, _| other.contains_key(key));
    let mut changed = facts.len() != before;
    for (key, value) in facts {
        if value.is_some() && other[key] != *value {
            *value = None;
            changed = true;
        }
    }
    changed
}

#[derive(Default)]
struct Analysis {
    keys: HashMap<(Op, Vec<Value>), Key>,
    ops: Vec<(Op, Vec<Value>)>,
    /// The guards on the class of each object.
    guards: HashMap<Value, Vec<Key>>,
}

impl Analysis {
    /// The number of a fact.
    fn number(&mut self, op: Op, args: Vec<Value>) -> Key {
        let next = self.ops.len() as Key;
        let key = *self.keys.entry((op.clone(), args.clone())).or_insert(next);
        if key == next {
            if let (Op::GuardType(_), [object]) = (&op, &args[..]) {
                self.guards.entry(*object).or_default().push(key);
            }
            self.ops.push((op, args));
        }
        key
    }

    /// The number of what the instruction finds out, if it does.
    fn key(&mut self, f: &Function, v: Value) -> Option<Key> {
        let inst = f.inst(v);
        let object = |i: usize| f.object_of(inst.args[i]);
        let args = match &inst.op {
            Op::GuardType(_)
            | Op::Check(_)
            | Op::CheckClasses(_)
            | Op::Load(_)
            | Op::ListLen
            | Op::RawLen(_)
            | Op::CellGet
            | Op::TupleLen
            | Op::UnboxInt => vec![object(0)],
            Op::CheckThread(_) => Vec::new(),
            Op::ListGet | Op::TupleGet | Op::RawGet(_) => vec![object(0), f.resolve(inst.args[1])],
            // Of raw values: what is known of memory shows that they are the same.
            Op::Index | Op::IntCmp(_) | Op::GuardTrue(_) => {
                inst.args.iter().map(|a| f.resolve(*a)).collect()
            }
            _ => return None,
        };
        Some(self.number(inst.op.clone(), args))
    }

    /// `v` has found out a fact. The oldest goes where there are too many that may change.
    fn add(&self, facts: &mut Facts, key: Key, v: Value) {
        if !is_memory(&self.ops[key as usize].0) {
            facts.lasting.insert(key, Some(v));
            return;
        }
        facts.memory.insert(key, Some(v));
        if facts.memory.len() > MOST_FACTS {
            facts.memory.pop_first();
        }
    }

    /// Go past an instruction. If it finds out what is known, the value that has it, as far as it is one on all paths.
    fn step(&mut self, f: &Function, v: Value, facts: &mut Facts) -> Option<Option<Value>> {
        if let Some(key) = self.key(f, v) {
            // A value that depends on the path is found out here once more, for all that follows.
            let needs_value = !is_only_check(f.op(v));
            let known = facts.get(key);
            let known = known.filter(|first| first.is_some() || !needs_value);
            if !matches!(known, Some(Some(_))) {
                self.add(facts, key, v);
            }
            return known.filter(|first| *first != Some(v));
        }
        if is_planted(Fault::Memory) {
            return None;
        }
        let changes = Changes::of(f, v);
        match changes {
            Changes::Nothing => {}
            Changes::All => facts.memory.clear(),
            _ => facts.memory.retain(|key, _| {
                let (op, args) = &self.ops[*key as usize];
                changes.keep(f, op, args)
            }),
        }
        if let Changes::Item(list, place) = changes {
            let item = f.arg(v, 2);
            // The object of a raw value is another one wherever it is made.
            if !f.op(f.object_of(item)).is_box() {
                let key = self.number(Op::ListGet, vec![list, place]);
                self.add(facts, key, item);
            }
        }
        None
    }

    /// The class of what a store takes out of a list, if that is known and news.
    fn old_type(&mut self, f: &Function, v: Value, facts: &Facts) -> Option<Type> {
        let inst = f.inst(v);
        if inst.op != Op::ListSet {
            return None;
        }
        let place = vec![f.object_of(inst.args[0]), f.resolve(inst.args[1])];
        let key = self.keys.get(&(Op::ListGet, place))?;
        let item = f.object_of(facts.get(*key)??);
        let guards = self.guards.get(&item).into_iter().flatten();
        let guards = guards.filter(|key| facts.get(**key).is_some());
        let guards = guards.filter_map(|key| match self.ops[*key as usize].0 {
            Op::GuardType(ty) => Some(ty),
            _ => None,
        });
        let mut types = guards.chain([f.ty(item)]);
        types.find(|ty| is_builtin_exact(*ty) && *ty != inst.ty && *ty <= inst.ty)
    }
}

/// What an instruction changes of what ops [find out of memory](is_memory).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Changes {
    /// Nothing: counts, slots and iterators are read by none of them.
    Nothing,
    /// The item of this list at this place.
    Item(Value, Value),
    /// A raw item at this place of some object: those lie in memory of their own.
    RawItem(Value),
    /// What some cell holds.
    Cell,
    /// An attribute, with which others may be hidden.
    Attribute,
    /// All that can be written, but no class.
    Written,
    /// All.
    All,
}

impl Changes {
    /// What `v` changes.
    pub(super) fn of(f: &Function, v: Value) -> Changes {
        let inst = f.inst(v);
        match &inst.op {
            _ if f.may_run_host_code(v) => Changes::All,
            Op::Incref
            | Op::Decref
            | Op::StoreSlot(_)
            | Op::RangeNext
            | Op::ListIterNext
            | Op::TupleIterNext => Changes::Nothing,
            Op::ListSet => Changes::Item(f.object_of(inst.args[0]), f.resolve(inst.args[1])),
            Op::RawSet(_) => Changes::RawItem(f.resolve(inst.args[1])),
            Op::CellSet => Changes::Cell,
            Op::Store(_) | Op::StoreQuiet(_) => Changes::Attribute,
            op if op.effects().writes => Changes::Written,
            _ => Changes::Nothing,
        }
    }

    /// Whether what `op` has found out of `args` still holds.
    pub(super) fn keep(self, f: &Function, op: &Op, args: &[Value]) -> bool {
        match self {
            Changes::Nothing => true,
            Changes::Item(_, place) => *op != Op::ListGet || are_apart(f, args[1], place),
            Changes::RawItem(place) => !matches!(op, Op::RawGet(_)) || are_apart(f, args[1], place),
            Changes::Cell => *op != Op::CellGet,
            Changes::Attribute => !matches!(op, Op::Load(_) | Op::Check(_)),
            Changes::Written => !matches!(
                op,
                Op::ListLen
                    | Op::ListGet
                    | Op::ListItems
                    | Op::RawLen(_)
                    | Op::RawGet(_)
                    | Op::CellGet
                    | Op::Load(_)
                    | Op::Check(_)
            ),
            Changes::All => !is_memory(op),
        }
    }
}

/// Whether the op gives its operand, or nothing.
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

/// Whether code of the program may change what the op finds out.
pub(super) fn is_memory(op: &Op) -> bool {
    match op {
        Op::GuardType(ty) => !is_builtin_exact(*ty),
        Op::Check(_)
        | Op::CheckThread(_)
        | Op::CheckClasses(_)
        | Op::Load(_)
        | Op::ListLen
        | Op::ListGet
        | Op::ListItems
        | Op::RawLen(_)
        | Op::RawGet(_)
        | Op::CellGet => true,
        _ => false,
    }
}

/// Whether two offsets into lists, both in range, are surely different.
fn are_apart(f: &Function, a: Value, b: Value) -> bool {
    let constant = |v: Value| match f.op(v) {
        Op::ConstInt(n) => Some(*n),
        Op::Index => match f.op(f.arg(v, 0)) {
            // From the end, the offset depends on the length.
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
    /// What `v` finds out is known.
    fn known(&mut self, v: Value, known: Option<Value>) {
        let f = &mut *self.f;
        if f.insts[v].op.exit_reason().is_some() {
            f.asserted.insert(v);
        }
        let is_made = |v: Value| !f.op(f.object_of(v)).is_box();
        let (same, known) = match (&f.insts[v].op, known) {
            (Op::ListLen | Op::TupleLen | Op::RawLen(_), Some(known)) => {
                (Op::IntCmp(Cmp::Eq), known)
            }
            (Op::Load(_) | Op::ListGet | Op::TupleGet | Op::CellGet, Some(known))
                if is_made(known) =>
            {
                (Op::Is, known)
            }
            _ => return,
        };
        let same = self.emit(same, vec![v, known], Type::CBOOL);
        let guard = self.emit(Op::GuardTrue(Reason::Type), vec![same], Type::BOTTOM);
        self.f.asserted.insert(guard);
    }

    /// What `v` gives is of the class that it is typed by.
    fn class(&mut self, v: Value) {
        let ty = self.f.ty(v).drop_mortality();
        let guard = self.emit(Op::GuardType(ty), vec![v], ty);
        self.f.asserted.insert(guard);
    }

    fn emit(&mut self, op: Op, args: Vec<Value>, ty: Type) -> Value {
        let f = &mut *self.f;
        // Nobody goes on from here if it does not hold.
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
