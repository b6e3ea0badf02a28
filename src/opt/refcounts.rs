//! Removal of an `incref` and the `decref` that undoes it, where nothing between can free the
//! object.

use super::Context;
use super::plant::{Fault, is_planted};
use crate::bytecode::GeneralOp;
use crate::facts::{FieldAccess, IntrinsicCall};
use crate::hir::{Block, FrameState, Function, Inst, Op, Predecessors, StateId, Term, Value};
use crate::types::Type;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// The largest distance of the two: the instructions between are walked for each `incref`.
const MOST_BETWEEN: usize = 1000;

/// The number of branches behind which a drop is searched.
const MOST_BRANCHES: usize = 6;

/// The number of blocks that may lie between an `incref` and those that undo it.
const MOST_BLOCKS: usize = 12;

/// Removes `incref v ... decref v` if no instruction between may drop references to objects of
/// other kinds or run user code: within a block, and where each path from the first reaches one of
/// the others. Exits between take a new reference of their own. For example, the operand stack's
/// reference to a local is removed.
///
/// An object that an attribute refers to lives as long as nothing is stored there: a store into
/// another attribute may overwrite another reference to the object, but not the last one.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let unseen = f.unseen_drops(&f.order);
    let preds = f.predecessors();
    let mut objects = Objects::of(f);
    let mut changed = store_once(f, &objects);
    changed |= sink(f, &mut objects, &preds);
    changed |= sink_into_joins(f, &mut objects, &preds);
    let mut needed = EntitySet::new();
    let blocks = f.order.iter().copied();
    let taking: Vec<Block> = blocks
        .filter(|b| has(f, &objects, *b, Step::Incref))
        .collect();
    for &b in &taking {
        let insts = f.blocks[b].insts.clone();
        let mut gone = vec![false; insts.len()];
        let mut needed_here = Vec::new();
        for i in 0..insts.len() {
            if gone[i] || !objects.is(insts[i], Step::Incref) {
                continue;
            }
            let v = f.object_of(f.arg(insts[i], 0));
            let keeps = Keeps::of(cx, &unseen, &insts, i);
            let (j, until) = match undone(
                f,
                &objects,
                &insts[i + 1..],
                &gone[i + 1..],
                v,
                Some(&keeps),
            ) {
                Undone::At { drop, until } => (i + 1 + drop, i + 1 + until),
                Undone::NotHere => continue,
                Undone::Never => {
                    needed_here.push(insts[i]);
                    continue;
                }
            };
            let states: BTreeSet<StateId> = (i + 1..until)
                .filter(|k| !gone[*k])
                .filter_map(|k| f.insts[insts[k]].state)
                .collect();
            for state in states {
                borrow_in_state(f, state, v);
            }
            (gone[i], gone[j]) = (true, true);
        }
        if gone.contains(&true) {
            let mut gone = gone.into_iter();
            f.blocks[b].insts.retain(|_| gone.next() == Some(false));
            changed = true;
        } else {
            needed.extend(needed_here);
        }
    }
    across(f, cx, &objects, &preds, &unseen, &taking, needed) | changed
}

/// Returns true if a block has an instruction of this kind.
fn has(f: &Function, objects: &Objects, b: Block, step: Step) -> bool {
    f.blocks[b].insts.iter().any(|v| objects.is(*v, step))
}

/// A slot that is to get the object that it already has keeps its own reference to it: the store is
/// removed, and the drop behind it drops the reference that the store would have moved.
fn store_once(f: &mut Function, objects: &Objects) -> bool {
    let mut changed = false;
    for b in f.order.clone() {
        if !has(f, objects, b, Step::StoreSlot) {
            continue;
        }
        let mut held = f.blocks[b].entry_state.locals.clone();
        let mut insts = std::mem::take(&mut f.blocks[b].insts);
        let before = insts.len();
        insts.retain(|v| {
            let (k, new) = match *f.op(*v) {
                Op::StoreSlot(k) => (k, f.arg(*v, 0)),
                // The slot has been filled by other code.
                Op::LoadSlot(k) => (k, *v),
                _ => return true,
            };
            let Some(held) = held.get_mut(k as usize) else {
                return true;
            };
            let old = std::mem::replace(held, new);
            new == *v || checked(f, old) != checked(f, new)
        });
        changed |= insts.len() != before;
        f.blocks[b].insts = insts;
    }
    changed
}

/// The value without checks.
fn checked(f: &Function, v: Value) -> Value {
    let mut v = f.resolve(v);
    while f.op(v).says_what_is_checked() {
        v = f.arg(v, 0);
    }
    v
}

/// The same as `run` does in one block, across the blocks between. For some references it is known
/// that their own block needs them, as long as nothing changes.
fn across(
    f: &mut Function,
    cx: &Context<'_>,
    objects: &Objects,
    preds: &Predecessors,
    unseen: &EntitySet<Value>,
    taking: &[Block],
    mut needed: EntitySet<Value>,
) -> bool {
    let places = f.places();
    let mut changed = false;
    for &b in taking {
        let mut at = 0;
        while let Some(&inst) = f.blocks[b].insts.get(at) {
            let is_taken = objects.is(inst, Step::Incref) && !needed.contains(inst);
            match is_taken
                .then(|| Region::of(f, cx, objects, unseen, preds, &places, (b, at)))
                .flatten()
            {
                Some(region) => {
                    region.borrow(f);
                    needed.clear();
                    changed = true;
                }
                None => at += 1,
            }
        }
    }
    changed
}

/// The instructions between an `incref` and those that undo it: a part of each block.
struct Region {
    taken: (Block, usize),
    /// In order.
    between: Vec<Between>,
    v: Value,
}

/// The part of a block between an `incref` and those that undo it.
struct Between {
    block: Block,
    /// Its start.
    from: usize,
    /// Its end: the place of a `decref`, which is undone, or the end of the block, if the paths
    /// continue from there.
    to: usize,
    /// Up to where frame states have the reference.
    until: usize,
}

impl Region {
    fn of(
        f: &Function,
        cx: &Context<'_>,
        objects: &Objects,
        unseen: &EntitySet<Value>,
        preds: &Predecessors,
        places: &SecondaryMap<Block, usize>,
        (b, at): (Block, usize),
    ) -> Option<Region> {
        let insts = &f.blocks[b].insts;
        let v = f.object_of(f.arg(insts[at], 0));
        let keeps = Keeps::of(cx, unseen, insts, at);
        let first = undone(f, objects, &insts[at + 1..], &[], v, Some(&keeps));
        if matches!(first, Undone::Never) {
            return None;
        }
        let mut first = Some(first);
        let (mut left, mut passed) = (BTreeMap::from([(places[b], b)]), BTreeSet::new());
        let mut between = Vec::new();
        // A block's predecessors come before it, except for back edges.
        while let Some((_, block)) = left.pop_first() {
            let data = &f.blocks[block];
            let is_first = between.is_empty();
            let all_passed = || preds[block].iter().all(|pred| passed.contains(pred));
            if between.len() == MOST_BLOCKS || !is_first && !all_passed() {
                return None;
            }
            let from = if is_first { at + 1 } else { 0 };
            let is_undone = || undone(f, objects, &data.insts[from..], &[], v, Some(&keeps));
            match first.take().unwrap_or_else(is_undone) {
                Undone::At { drop, until } => between.push(Between {
                    block,
                    from,
                    to: from + drop,
                    until: from + until,
                }),
                Undone::Never => return None,
                Undone::NotHere => {
                    let edges = match &data.term {
                        Term::Jump(_) | Term::Branch { .. } => data.term.edges(),
                        _ => return None,
                    };
                    // A value that an edge passes to a parameter takes the reference along.
                    let args = || edges.iter().flat_map(|edge| &edge.args);
                    if args().any(|a| f.object_of(*a) == v) {
                        return None;
                    }
                    let to = data.insts.len();
                    between.push(Between {
                        block,
                        from,
                        to,
                        until: to,
                    });
                    passed.insert(block);
                    left.extend(edges.iter().map(|edge| (places[edge.block], edge.block)));
                }
            }
        }
        let taken = (b, at);
        Some(Region { taken, between, v })
    }

    /// Removes the `incref` and the instructions that undo it.
    fn borrow(self, f: &mut Function) {
        let mut states = BTreeSet::new();
        let (first, at) = self.taken;
        for part in self.between.iter().rev() {
            let data = &mut f.blocks[part.block];
            let insts = data.insts[part.from..part.until].iter();
            states.extend(insts.filter_map(|v| f.insts[*v].state));
            if part.to < data.insts.len() {
                data.insts.remove(part.to);
            }
        }
        f.blocks[first].insts.remove(at);
        for state in states {
            borrow_in_state(f, state, self.v);
        }
        let behind = self.between.iter().map(|part| part.block);
        for b in behind.filter(|b| *b != first) {
            give_up_at_entry(f, b, self.v);
        }
    }
}

/// Moves an `incref` right before a branch to both sides, if one side undoes it.
fn sink(f: &mut Function, objects: &mut Objects, preds: &Predecessors) -> bool {
    let mut changed = false;
    for b in f.order.clone() {
        let Some(sides) = sides(f, preds, b) else {
            continue;
        };
        while let Some(at) = last_taken(f, b) {
            let incref = f.blocks[b].insts[at];
            let v = f.object_of(f.arg(incref, 0));
            if !is_undone_on_a_side(f, objects, preds, v, sides, MOST_BRANCHES) {
                break;
            }
            f.blocks[b].insts.remove(at);
            for side in sides {
                let copy = f.insts.push(f.insts[incref].clone());
                objects.add(f, copy);
                f.blocks[side].insts.insert(0, copy);
                give_up_at_entry(f, side, v);
            }
            changed = true;
        }
    }
    changed
}

/// The targets of a block's branch, if they have no other predecessor.
fn sides(f: &Function, preds: &Predecessors, b: Block) -> Option<[Block; 2]> {
    let Term::Branch { then, els, .. } = &f.blocks[b].term else {
        return None;
    };
    let sides = [then.block, els.block];
    let is_side = |side: &Block| preds[*side].len() == 1 && f.blocks[*side].params.is_empty();
    sides.iter().all(is_side).then_some(sides)
}

/// Returns true if a reference that is taken before two blocks is dropped in one of them, or behind
/// some more branches with no instruction before them.
fn is_undone_on_a_side(
    f: &Function,
    objects: &Objects,
    preds: &Predecessors,
    v: Value,
    blocks: [Block; 2],
    most: usize,
) -> bool {
    blocks.iter().any(|&side| {
        let insts = &f.blocks[side].insts;
        if is_undone_in(f, objects, insts, v) {
            return true;
        }
        let only_branches = most > 0 && insts.iter().all(|v| is_apart(f, *v));
        let next = only_branches.then(|| sides(f, preds, side)).flatten();
        next.is_some_and(|next| is_undone_on_a_side(f, objects, preds, v, next, most - 1))
    })
}

/// If each edge into a join takes a reference to the value that it passes, right before that, and
/// the join drops it: takes it in the join itself.
fn sink_into_joins(f: &mut Function, objects: &mut Objects, preds: &Predecessors) -> bool {
    let mut changed = false;
    for b in f.order.clone() {
        if preds[b].len() < 2 || f.blocks[b].is_loop_header {
            continue;
        }
        for place in 0..f.blocks[b].params.len() {
            let p = f.blocks[b].params[place].0;
            let is_object = f.ty(p) <= Type::OBJECT && !f.ty(p).is_bottom();
            if !is_object || !is_undone_in(f, objects, &f.blocks[b].insts, p) {
                continue;
            }
            let taken: Option<Vec<_>> = preds[b]
                .iter()
                .map(|pred| taken_for(f, *pred, place))
                .collect();
            let Some(taken) = taken else { continue };
            let incref = Inst::proved(
                Op::Incref,
                vec![p],
                Type::BOTTOM,
                f.blocks[b].entry_state.pc,
            );
            let incref = f.insts.push(incref);
            objects.add(f, incref);
            for (pred, at) in preds[b].iter().zip(taken) {
                if let Some(at) = at {
                    f.blocks[*pred].insts.remove(at);
                }
            }
            f.blocks[b].insts.insert(0, incref);
            give_up_at_entry(f, b, p);
            changed = true;
        }
    }
    changed
}

/// The place of the `incref` of the value that a block passes to a parameter of the only block
/// after it; `Some(None)` if the value is immortal, and `None` if there is no such `incref`.
fn taken_for(f: &Function, pred: Block, place: usize) -> Option<Option<usize>> {
    let Term::Jump(edge) = &f.blocks[pred].term else {
        return None;
    };
    let arg = f.object_of(edge.args[place]);
    if matches!(f.op(arg), Op::Const(object) if object.is_immortal()) {
        return Some(None);
    }
    let at = last_taken(f, pred)?;
    let is_it = f.object_of(f.arg(f.blocks[pred].insts[at], 0)) == arg;
    is_it.then_some(Some(at))
}

/// The place of the last `incref` of a block, if the instructions after it need no state.
fn last_taken(f: &Function, b: Block) -> Option<usize> {
    let insts = f.blocks[b].insts.iter().enumerate().rev();
    let mut insts = insts.skip_while(|(_, v)| is_apart(f, **v));
    let (at, v) = insts.next()?;
    matches!(f.op(*v), Op::Incref).then_some(at)
}

/// Returns true if references may be taken behind the instruction as well as before it.
fn is_apart(f: &Function, v: Value) -> bool {
    let is_quiet = f.op(v).is_pure() || matches!(f.op(v), Op::IsClass(_) | Op::NumberOf(_));
    is_quiet && f.insts[v].state.is_none()
}

/// The kind of an instruction for the search for a reference's drop. Most instructions are examined
/// for many references, and concern few of them: the kind is found once.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Step {
    /// It deallocates nothing; it may use an object.
    Harmless,
    Incref,
    StoreSlot,
    /// A drop that runs no user code.
    QuietDecref,
    Decref,
    /// The search must examine the instruction.
    #[default]
    Other,
}

/// For each value, the object that it is ([`Function::object_of`]), and its step in the search.
/// Both are looked up once: this pass replaces no value by another.
struct Objects {
    of_checked: SecondaryMap<Value, PackedOption<Value>>,
    /// With the object of the first operand, but where the step is harmless or another.
    steps: SecondaryMap<Value, (Step, PackedOption<Value>)>,
    /// True if some values are aliases of others, as while a pass has replaced some.
    are_renamed: bool,
}

impl Objects {
    fn of(f: &Function) -> Objects {
        let mut objects = Objects {
            of_checked: SecondaryMap::with_capacity(f.insts.len()),
            steps: SecondaryMap::with_capacity(f.insts.len()),
            are_renamed: f.has_aliases(),
        };
        objects.of_checked.resize(f.insts.len());
        objects.steps.resize(f.insts.len());
        for &v in f.order.iter().flat_map(|b| &f.blocks[*b].insts) {
            objects.add(f, v);
        }
        objects
    }

    /// Records the object and the step of an instruction.
    fn add(&mut self, f: &Function, v: Value) {
        let op = f.op(v);
        if op.gives_operand() {
            self.of_checked[v] = f.object_of(v).into();
        }
        let (step, has_operand) = match op {
            Op::GuardType(_)
            | Op::TupleGet
            | Op::Refine(_)
            | Op::Held
            | Op::Kin(_)
            | Op::ClosureCell(_)
            | Op::RangeNext => (Step::Harmless, false),
            Op::Incref => (Step::Incref, true),
            Op::StoreSlot(_) => (Step::StoreSlot, true),
            Op::Decref if !f.drop_runs_host_code(f.arg(v, 0)) => (Step::QuietDecref, true),
            Op::Decref => (Step::Decref, true),
            // As for all that nothing was noted of.
            _ => return,
        };
        let operand = has_operand.then(|| f.object_of(f.arg(v, 0)));
        self.steps[v] = (step, operand.into());
    }

    /// Returns true if an instruction is of this kind.
    fn is(&self, v: Value, step: Step) -> bool {
        self.steps[v].0 == step
    }

    fn get(&self, f: &Function, v: Value) -> Value {
        let v = match self.are_renamed {
            true => f.resolve(v),
            false => v,
        };
        self.of_checked[v].expand().unwrap_or(v)
    }

    /// [`Function::is_in_local`].
    fn is_in_local(&self, f: &Function, inst: Value, object: Value) -> bool {
        let state = f.insts[inst].state.map(|s| &f.states[s]);
        state.is_some_and(|s| s.locals.iter().any(|l| self.get(f, *l) == object))
    }
}

/// Facts about instructions that could deallocate an object.
struct Keeps<'a> {
    cx: &'a Context<'a>,
    /// Drops after which the unit exits if they have run user code.
    unseen: &'a EntitySet<Value>,
    /// Among these instructions the place of the one that takes the reference.
    taken: (&'a [Value], usize),
    holder: OnceCell<Option<Holder>>,
}

/// The attribute that refers to a loaded object.
struct Holder {
    object: Value,
    load: IntrinsicCall,
}

impl<'a> Keeps<'a> {
    /// The facts for the object to which a reference is taken at this place among instructions.
    fn of(
        cx: &'a Context<'a>,
        unseen: &'a EntitySet<Value>,
        insts: &'a [Value],
        at: usize,
    ) -> Keeps<'a> {
        Keeps {
            cx,
            unseen,
            taken: (insts, at),
            holder: OnceCell::new(),
        }
    }

    /// Returns true if a store does not change the attribute that refers to the object, and a local
    /// keeps the attribute's owner alive.
    fn stays(&self, f: &Function, inst: Value, store: &IntrinsicCall) -> bool {
        let (insts, at) = self.taken;
        let holder = self.holder.get_or_init(|| Holder::of(f, insts, at));
        let Some(holder) = holder else {
            return false;
        };
        let access = |call| self.cx.world.field_access(call);
        let is_elsewhere = || match (access(&holder.load), access(store)) {
            (Some(FieldAccess::Reads(held)), Some(FieldAccess::Writes { place, .. })) => {
                held != place
            }
            _ => false,
        };
        f.is_in_local(inst, holder.object) && is_elsewhere()
    }
}

impl Holder {
    /// The attribute that refers to the object to which a reference is taken at this place among
    /// instructions, if it was loaded among them.
    fn of(f: &Function, insts: &[Value], at: usize) -> Option<Holder> {
        let v = f.object_of(f.arg(insts[at], 0));
        let Op::Load(load) = f.op(v) else { return None };
        let loaded = insts[..at].iter().rposition(|inst| *inst == v)?;
        let mut since = insts[loaded + 1..at].iter();
        let is_quiet = |inst: &Value| {
            let effects = f.op(*inst).effects();
            let counts = matches!(f.op(*inst), Op::Incref | Op::StoreSlot(_));
            counts || !effects.writes && !effects.runs_host_code
        };
        since.all(is_quiet).then(|| Holder {
            object: f.object_of(f.arg(v, 0)),
            load: load.clone(),
        })
    }
}

/// Returns true if a reference that was taken to `v` before these instructions is dropped among
/// them.
fn is_undone_in(f: &Function, objects: &Objects, insts: &[Value], v: Value) -> bool {
    matches!(undone(f, objects, insts, &[], v, None), Undone::At { .. })
}

/// The drop of a reference.
enum Undone {
    At {
        /// By which of these instructions.
        drop: usize,
        /// Before which of them frame states have it: behind that, a local has.
        until: usize,
    },
    /// No drop is among these instructions, and none of them needs the reference.
    NotHere,
    /// It is needed before.
    Never,
}

/// The drop of the reference that was taken to `v` before these instructions, of which some are
/// `gone`.
fn undone(
    f: &Function,
    objects: &Objects,
    insts: &[Value],
    gone: &[bool],
    v: Value,
    keeps: Option<&Keeps<'_>>,
) -> Undone {
    // Once user code may have run, a pair may only be removed if no instruction uses the reference
    // any more, and while a local keeps the object alive: then the reference could as well have
    // been dropped before.
    let mut crossed = false;
    // A new instance takes the reference over, and has it as long as nothing takes that out again.
    let mut stored = false;
    // Drops that have run no user code where the unit continues behind their check: the object may
    // be dropped among them, no later.
    let mut unchecked = false;
    // A local has taken the reference: then the dropped reference is another one to the same
    // object, which is not observable meanwhile.
    let mut moved = None;
    let here = |j: usize| Undone::At { drop: j, until: j };
    let object_of = |v: Value| objects.get(f, v);
    for (j, &inst) in insts.iter().enumerate() {
        if j == MOST_BETWEEN {
            return Undone::Never;
        }
        if gone.get(j) == Some(&true) {
            continue;
        }
        // Most instructions need only these cases.
        let (step, operand) = objects.steps[inst];
        let is_it = operand.expand() == Some(v);
        if let Some(until) = moved {
            match step {
                Step::Decref | Step::QuietDecref if is_it => return Undone::At { drop: j, until },
                Step::StoreSlot | Step::QuietDecref => continue,
                // A reference that is taken to another value may be the one that is dropped; it
                // would be left for the local's, which frame states have before.
                Step::Incref if !is_it => continue,
                Step::Harmless if f.op(inst).exit_reason().is_none() => continue,
                _ => return Undone::Never,
            }
        }
        match step {
            _ if stored => {}
            Step::Harmless | Step::Incref if !crossed => continue,
            Step::StoreSlot if is_it && !crossed && !unchecked => {
                moved = Some(j);
                continue;
            }
            // Moves the reference on: it is needed.
            Step::StoreSlot if is_it => return Undone::Never,
            Step::Decref | Step::QuietDecref if is_it => return here(j),
            Step::StoreSlot | Step::QuietDecref => continue,
            Step::Harmless | Step::Incref | Step::Decref | Step::Other => {}
        }
        if crossed
            && !matches!(f.op(inst), Op::Decref)
            && f.insts[inst].args.iter().any(|a| object_of(*a) == v)
        {
            return Undone::Never;
        }
        // An exit here would drop the instance's reference and that of a local, which are one if
        // this one is removed later.
        if stored && !gives_up(f, objects, inst, v) {
            return Undone::Never;
        }
        match f.op(inst) {
            // Most instructions are these.
            Op::GuardType(_)
            | Op::TupleGet
            | Op::Refine(_)
            | Op::Held
            | Op::Kin(_)
            | Op::ClosureCell(_)
            | Op::Incref
            | Op::RangeNext => {}
            Op::CheckUnseen if !unchecked => {}
            Op::Decref if object_of(f.arg(inst, 0)) == v => return here(j),
            // The destructor of such an object touches no other object.
            Op::Decref if !f.drop_runs_host_code(f.arg(inst, 0)) => {}
            // Moves the reference on: it is needed.
            Op::StoreSlot(_) if object_of(f.arg(inst, 0)) == v => return Undone::Never,
            Op::StoreSlot(_) => {}
            op if op.is_virtual_aggregate()
                && f.insts[inst].args.iter().any(|a| object_of(*a) == v) =>
            {
                return Undone::Never;
            }
            Op::Param => return Undone::Never,
            // Writes a number.
            Op::RawSet(_) => {}
            Op::ListSet
                if object_of(f.insts[inst].args[2]) != v && !takes_out(f, objects, inst, v) => {}
            // The iterator of a list or a tuple takes a reference of its own.
            Op::General(GeneralOp::GetIter, _)
                if f.ty(f.arg(inst, 0)) <= (Type::LIST_EXACT | Type::TUPLE_EXACT) => {}
            // The appended object only gets one more owner.
            Op::General(GeneralOp::ListAppend, _) => {}
            Op::ListAppend if object_of(f.arg(inst, 1)) != v => {}
            // It deallocates no list, though items of a list may be deallocated.
            Op::ListCopySlice(_) if f.ty(v) <= Type::LIST_EXACT => {}
            Op::StoreQuiet(_) if f.ty(inst) == Type::NULLPTR => {
                let takes = object_of(f.insts[inst].args[1]) == v;
                if takes && stored {
                    return Undone::Never;
                }
                stored |= takes;
            }
            Op::Store(_) | Op::StoreQuiet(_) if stored => return Undone::Never,
            Op::Store(store) | Op::StoreQuiet(store)
                if object_of(f.insts[inst].args[1]) != v
                    && !f.drop_runs_host_code(inst)
                    && keeps.is_some_and(|keeps| keeps.stays(f, inst, store)) => {}
            Op::Store(_)
                if object_of(f.insts[inst].args[1]) != v && !takes_out(f, objects, inst, v) => {}
            // The overwritten value may be the object itself: then a local has another reference,
            // or the object's owner has one, as an object with attributes is not deallocated
            // unseen.
            Op::StoreQuiet(_)
                if object_of(f.insts[inst].args[1]) != v
                    && (objects.is_in_local(f, inst, v)
                        || object_of(f.insts[inst].args[0]) == v) => {}
            Op::Decref if objects.is_in_local(f, inst, v) => crossed = true,
            Op::Decref if keeps.is_some_and(|keeps| keeps.unseen.contains(inst)) => {
                unchecked = true;
            }
            Op::CheckUnseen if unchecked => return Undone::Never,
            // Moves the reference into a new object (a bound method, a cell): frame states before
            // the `decref` own it by that object.
            op if op
                .takes_over(f.insts[inst].args.len())
                .any(|k| object_of(f.insts[inst].args[k]) == v) =>
            {
                return Undone::Never;
            }
            op if (op.effects().writes || op.effects().runs_host_code)
                && !is_planted(Fault::Refcounts) =>
            {
                return Undone::Never;
            }
            _ => {}
        }
    }
    match crossed || stored || unchecked || moved.is_some() {
        true => Undone::Never,
        false => Undone::NotHere,
    }
}

/// Returns true if an instruction has no exit, or the frame at its exit owns a reference to `v` on
/// a stack, which it can borrow instead.
fn gives_up(f: &Function, objects: &Objects, inst: Value, v: Value) -> bool {
    let Some(state) = f.insts[inst].state else {
        return true;
    };
    let mut entries = f.states[state].entries();
    entries.any(|e| e.owned && objects.get(f, e.value) == v)
}

/// Returns true if the value that a store overwrites may be `v`, its destructor runs no user code,
/// and no local has a reference to `v`.
fn takes_out(f: &Function, objects: &Objects, store: Value, v: Value) -> bool {
    // The object that it stores into is known to have the class that it needs.
    let into = f.arg(store, 0);
    let ty = match objects.get(f, into) == v {
        true => f.ty(into),
        false => f.ty(v),
    };
    !f.drop_runs_host_code(store) && f.ty(store).could_be(ty) && !objects.is_in_local(f, store, v)
}

pub(super) fn borrow_in_state(f: &mut Function, id: StateId, v: Value) {
    let mut state = f.states[id].clone();
    if give_up_one(f, &mut state, v) {
        f.states[id] = state;
    }
}

/// A reference is taken only behind the start of a block.
fn give_up_at_entry(f: &mut Function, b: Block, v: Value) {
    let mut state = f.blocks[b].entry_state.clone();
    give_up_one(f, &mut state, v);
    f.blocks[b].entry_state = state;
}

/// Makes one owned entry for `v` a borrowed one, in the innermost frame that has one: only one
/// reference was taken. Returns true if there was such an entry.
fn give_up_one(f: &Function, state: &mut FrameState, v: Value) -> bool {
    let entries = state.entries_mut();
    let owned = entries.filter(|e| e.owned && f.object_of(e.value) == v);
    let last = owned.last();
    last.map(|entry| entry.owned = false).is_some()
}
