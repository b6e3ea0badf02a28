//! Scalar replacement: a tuple that nothing but this function can ever see is not made.
//!
//! A tuple whose only uses are frame states, slots of locals, and accesses at constant places becomes a **virtual** one
//! ([`Op::VirtualTuple`]): accesses give its items, exits make it from them. The references that it owned are owned by
//! nobody one could name, and dropped one by one where the tuple would have died, the last item first, as a tuple drops
//! them. So each item lives exactly as long as with the tuple, and has the same count.
//!
//! That place must be known: the references to the tuple are counted along every path, and the tuple stays where the count
//! is not the same on all paths to a block, where it would travel as a block's parameter, or where an exit can be taken
//! that does not name it while it lives. Whoever looks at the frame's locals during a call-out (or after a return, through
//! a frame object) must find the tuple too, so there it may have no more items than there are words for.
//!
//! (Escape analysis with virtual objects in frame states: Stadler, Würthinger, Mössenböck, "Partial Escape Analysis and
//! Scalar Replacement for Java", 2014; here without the partial, and with reference counts.)

use super::Context;
use crate::bytecode::GeneralOp;
use crate::facts::Source;
use crate::hir::{Block, FrameState, Function, Inst, Op, SEEN_ITEMS, Term, Value};
use crate::types::Type;
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use std::collections::{HashMap, HashSet};

/// Tuples in tuples in tuples: so many at most.
const MOST_LEVELS: usize = 8;
/// For each instruction of the function, so many may be looked at to count references.
const STEPS_AN_INST: usize = 16;

/// Make virtual what can be.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    // Where a collector may move what an exit names, making one object must not let go of the fields of the next.
    if !cx.lifetimes.are_counted() {
        return false;
    }
    let mut changed = false;
    // A tuple in another one can follow once that is virtual.
    for _ in 0..MOST_LEVELS {
        let Some(world) = Uses::of(f) else {
            break;
        };
        let idom = f.dominators();
        let size: usize = f.order.iter().map(|&b| f.blocks[b].insts.len()).sum();
        let mut steps = STEPS_AN_INST * size;
        let mut gone = HashMap::new();
        let mut items: HashSet<Value> = HashSet::new();
        for &(place, v) in &world.candidates {
            // Of what is in a tuple of this round, not all uses are known.
            if !items.contains(&v)
                && let Some(plan) = Plan::of(f, &world, &idom, &mut steps, place, v)
            {
                items.extend(plan.items.iter().map(|item| f.object_of(*item)));
                plan.carry_out(f, &mut gone);
            }
        }
        if items.is_empty() {
            break;
        }
        sweep(f, gone);
        changed = true;
    }
    changed
}

/// Put into the blocks what stands for the references to tuples that were taken and dropped.
fn sweep(f: &mut Function, mut gone: HashMap<Value, Vec<Value>>) {
    let mut fewer_edges = false;
    for b in f.order.clone() {
        let old = std::mem::take(&mut f.blocks[b].insts);
        let mut insts = Vec::with_capacity(old.len());
        for v in old {
            match gone.remove(&v) {
                Some(instead) => insts.extend(instead),
                None => insts.push(v),
            }
        }
        f.blocks[b].insts = insts;
        if let Term::MayRaise { op, next, .. } = &f.blocks[b].term
            && f.insts[*op].op == Op::VirtualTuple
        {
            f.blocks[b].term = Term::Jump(next.clone());
            fewer_edges = true;
        }
    }
    f.apply_aliases();
    if fewer_edges {
        let entry = f.entry();
        f.compute_order(entry);
    }
}

/// Where a tuple has just been made: a block, and the number of its instructions up to there.
type Place = (Block, usize);

/// The tuples that are made, and who uses them.
struct Uses {
    candidates: Vec<(Place, Value)>,
    /// The instructions that use each.
    users: HashMap<Value, Vec<Value>>,
    /// Those that travel to another block as a parameter, or are returned.
    carried: HashSet<Value>,
    /// The virtual tuples in which a value is.
    holders: HashMap<Value, Vec<Value>>,
}

impl Uses {
    /// `None` if no tuple is made.
    fn of(f: &Function) -> Option<Uses> {
        let mut candidates = Vec::new();
        for &b in &f.order {
            let insts = f.blocks[b].insts.iter().enumerate();
            let made = insts.filter(|(_, v)| is_candidate(f, **v));
            candidates.extend(made.map(|(i, &v)| ((b, i + 1), v)));
        }
        if candidates.is_empty() {
            return None;
        }
        let mut users: HashMap<Value, Vec<Value>> =
            candidates.iter().map(|(_, v)| (*v, Vec::new())).collect();
        let (mut carried, mut holders) = (HashSet::new(), HashMap::<Value, Vec<Value>>::new());
        for &b in &f.order {
            let data = &f.blocks[b];
            for &v in &data.insts {
                let inst = &f.insts[v];
                for object in inst.args.iter().map(|a| f.object_of(*a)) {
                    if let Some(users) = users.get_mut(&object)
                        && users.last() != Some(&v)
                    {
                        users.push(v);
                    }
                    if inst.op == Op::VirtualTuple {
                        holders.entry(object).or_default().push(v);
                    }
                }
            }
            let edges = data.term.edges().into_iter();
            carried.extend(edges.flat_map(|e| &e.args).map(|a| f.object_of(*a)));
            if let Term::Return(v) = data.term {
                carried.insert(f.object_of(v));
            }
        }
        Some(Uses {
            candidates,
            users,
            carried,
            holders,
        })
    }

    /// The virtual tuples that the tuple is in, or is in something that is in them; `None` if they are too many levels.
    fn containers(&self, tuple: Value) -> Option<HashSet<Value>> {
        let mut all = HashSet::new();
        let mut level = vec![tuple];
        for _ in 0..MOST_LEVELS {
            let holders = level.iter().filter_map(|v| self.holders.get(v)).flatten();
            level = holders.copied().filter(|v| all.insert(*v)).collect();
            if level.is_empty() {
                return Some(all);
            }
        }
        None
    }
}

fn is_candidate(f: &Function, v: Value) -> bool {
    let inst = &f.insts[v];
    matches!(inst.op, Op::General(GeneralOp::BuildTuple, _))
        && !inst.args.is_empty()
        && inst
            .args
            .iter()
            .all(|a| f.ty(*a) <= Type::OBJECT && !f.ty(*a).is_bottom())
}

/// A use of the tuple, and what becomes of it.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    /// A reference is taken or dropped.
    Count,
    /// The tuple itself, of which more is known.
    Alias,
    /// Its length.
    Length,
    /// An item.
    Item(usize),
    /// It is named and nothing more.
    Name,
}

struct Plan {
    tuple: Value,
    items: Vec<Value>,
    uses: Vec<(Value, Use)>,
    /// The instructions that drop the last reference.
    deaths: HashSet<Value>,
}

impl Plan {
    fn of(
        f: &Function,
        world: &Uses,
        idom: &Dominators,
        steps: &mut usize,
        (block, start): Place,
        tuple: Value,
    ) -> Option<Plan> {
        let items: Vec<Value> = f.insts[tuple].args.iter().map(|a| f.resolve(*a)).collect();
        let uses = uses(f, world, tuple, items.len())?;
        let mut flow = Flow {
            f,
            tuple,
            items: &items,
            uses: uses.iter().copied().collect(),
            containers: world.containers(tuple)?,
            deaths: HashSet::new(),
            steps,
        };
        flow.run(block, start, idom)?;
        let deaths = flow.deaths;
        Some(Plan {
            tuple,
            items,
            uses,
            deaths,
        })
    }

    /// Change all but what takes and drops references: what becomes of those, `gone` gets.
    fn carry_out(&self, f: &mut Function, gone: &mut HashMap<Value, Vec<Value>>) {
        let tuple = self.tuple;
        let inst = &mut f.insts[tuple];
        (inst.op, inst.state, inst.source) = (Op::VirtualTuple, None, Source::Proved);
        for &(v, u) in &self.uses {
            match u {
                Use::Alias => f.replace(v, tuple),
                Use::Item(i) => {
                    // The place is known to be one of the tuple's.
                    let offset = f.arg(v, 1);
                    let inst = &mut f.insts[offset];
                    (inst.op, inst.state) = (Op::ConstInt(i as i64), None);
                    inst.args.clear();
                    f.replace(v, self.items[i]);
                }
                Use::Length => {
                    let inst = &mut f.insts[v];
                    inst.op = Op::ConstInt(self.items.len() as i64);
                    inst.args.clear();
                }
                Use::Count => {
                    let instead = match self.deaths.contains(&v) {
                        true => self.drops(f, v),
                        false => Vec::new(),
                    };
                    gone.insert(v, instead);
                }
                Use::Name => {}
            }
        }
        // Nothing has to look at the tuple for its type to be believed.
        let mut relied_on = std::mem::take(&mut f.relied_on);
        relied_on.retain(|v| f.object_of(*v) != tuple);
        f.relied_on = relied_on;
    }

    /// What the tuple's end does, in place of `death`.
    fn drops(&self, f: &mut Function, death: Value) -> Vec<Value> {
        let mut drops = Vec::new();
        for &item in self.items.iter().rev() {
            if is_uncounted(f, item) {
                continue;
            }
            let dropped = f.insts.push(Inst {
                args: vec![item],
                ..f.insts[death].clone()
            });
            if f.settled.contains(&death) {
                f.settled.insert(dropped);
            }
            drops.push(dropped);
        }
        drops
    }
}

/// Whether the value holds no reference that could be dropped: a box that is not made, or an object that stays.
fn is_uncounted(f: &Function, v: Value) -> bool {
    let v = f.object_of(v);
    matches!(f.op(v), Op::Const(object) if object.is_immortal()) || is_box(f, v)
}

fn is_box(f: &Function, v: Value) -> bool {
    matches!(
        f.op(f.object_of(v)),
        Op::BoxInt | Op::BoxFloat | Op::BoxBool
    )
}

/// What every instruction that uses the tuple wants of it; `None` if one of them needs the object.
fn uses(f: &Function, world: &Uses, tuple: Value, count: usize) -> Option<Vec<(Value, Use)>> {
    if world.carried.contains(&tuple) {
        return None;
    }
    let found = |v: Value| {
        Some(match &f.insts[v].op {
            Op::Incref | Op::Decref => Use::Count,
            Op::StoreSlot(_) | Op::VirtualTuple => Use::Name,
            Op::GuardType(ty) | Op::Refine(ty) if f.ty(tuple) <= *ty => Use::Alias,
            Op::GuardBound => Use::Alias,
            Op::TupleLen => Use::Length,
            Op::TupleGet => Use::Item(constant_offset(f, tuple, count, f.arg(v, 1))?),
            _ => return None,
        })
    };
    let users = world.users[&tuple].iter();
    users.map(|&v| Some((v, found(v)?))).collect()
}

/// The place that an access at `offset` means, if that is constant and there is such an item.
fn constant_offset(f: &Function, tuple: Value, count: usize, offset: Value) -> Option<usize> {
    let is_length = |v: Value| matches!(f.op(v), Op::TupleLen) && f.object_of(f.arg(v, 0)) == tuple;
    let place = match f.op(offset) {
        Op::ConstInt(n) => *n,
        Op::Index => {
            let Op::ConstInt(n) = *f.op(f.arg(offset, 0)) else {
                return None;
            };
            let length = f.arg(offset, 1);
            let known = matches!(f.op(length), Op::ConstInt(n) if *n == count as i64);
            if !known && !is_length(length) {
                return None;
            }
            if n < 0 { n + count as i64 } else { n }
        }
        _ => return None,
    };
    usize::try_from(place).ok().filter(|n| *n < count)
}

/// How a frame state names the tuple.
#[derive(Clone, Copy, PartialEq)]
enum Mention {
    Itself,
    InAnother,
}

type Dominators = SecondaryMap<Block, PackedOption<Block>>;

/// The references to the tuple, counted along all paths.
struct Flow<'a> {
    f: &'a Function,
    tuple: Value,
    items: &'a [Value],
    uses: HashMap<Value, Use>,
    containers: HashSet<Value>,
    deaths: HashSet<Value>,
    /// What may still be looked at, for all tuples together.
    steps: &'a mut usize,
}

impl Flow<'_> {
    /// From behind the tuple, at `start` in `home`; `None` if something forbids that it is virtual.
    fn run(&mut self, home: Block, start: usize, idom: &Dominators) -> Option<()> {
        let f = self.f;
        let mut counts: HashMap<Block, usize> = HashMap::new();
        let mut work = vec![(home, start, 1)];
        while let Some((b, from, count)) = work.pop() {
            let count = self.block(b, from, count)?;
            for edge in f.blocks[b].term.edges() {
                let next = edge.block;
                let is_landing_of_tuple = f.landing(b) == Some((self.tuple, next));
                if is_landing_of_tuple {
                    continue;
                }
                if !self.dominates(home, next, idom)? {
                    // Where the tuple is not known, nobody could drop it.
                    if count > 0 {
                        return None;
                    }
                    continue;
                }
                match counts.get(&next) {
                    Some(known) if *known != count => return None,
                    Some(_) => {}
                    None => {
                        counts.insert(next, count);
                        work.push((next, 0, count));
                    }
                }
            }
        }
        Some(())
    }

    /// Whether `b` is behind `home` on every path; `None` if that takes too long to find out.
    fn dominates(&mut self, home: Block, mut b: Block, idom: &Dominators) -> Option<bool> {
        if b == home {
            return Some(false);
        }
        while b != home {
            *self.steps = self.steps.checked_sub(1)?;
            match idom[b].expand() {
                Some(up) if up != b => b = up,
                _ => return Some(false),
            }
        }
        Some(true)
    }

    /// The number of references at the end of a block.
    fn block(&mut self, b: Block, from: usize, mut count: usize) -> Option<usize> {
        let f = self.f;
        for &v in &f.blocks[b].insts[from..] {
            *self.steps = self.steps.checked_sub(1)?;
            let inst = &f.insts[v];
            let counted = self.uses.get(&v) == Some(&Use::Count);
            match (&inst.op, counted) {
                (Op::Incref, true) => count += 1,
                (_, true) => {
                    count = count.checked_sub(1)?;
                    if count == 0 {
                        self.deaths.insert(v);
                    }
                }
                _ => {}
            }
            let Some(state) = inst.state.map(|s| &f.states[s]) else {
                continue;
            };
            // A frame that is suspended holds objects.
            if matches!(inst.op, Op::Yield(_)) && self.is_named(state) {
                return None;
            }
            let leaves = inst.op.exit_reason().is_some() || inst.op.raises();
            if leaves && self.is_named(state) != (count > 0) {
                return None;
            }
            let shown = inst.op.raises() || f.may_run_host_code(v);
            if shown && !(counted && count > 0) {
                self.seen(&state.locals, count > 0)?;
            }
        }
        let data = &f.blocks[b];
        if let Term::Return(_) = data.term {
            let held = self.seen(&data.out_locals, count > 0)?;
            // The frame's end drops what slots hold, in their order; these are in none.
            if held != count || count > 0 && !self.items.iter().all(|v| is_uncounted(f, *v)) {
                return None;
            }
        }
        Some(count)
    }

    fn is_named(&self, state: &FrameState) -> bool {
        state.values().any(|v| self.mention(v).is_some())
    }

    fn mention(&self, v: Value) -> Option<Mention> {
        let v = self.f.object_of(v);
        if v == self.tuple {
            return Some(Mention::Itself);
        }
        self.containers.contains(&v).then_some(Mention::InAnother)
    }

    /// Others may look at these locals: the number of those that hold the tuple, if it can be shown in them.
    fn seen(&self, locals: &[Value], alive: bool) -> Option<usize> {
        let mut held = 0;
        for &local in locals {
            match self.mention(local) {
                None => {}
                Some(Mention::Itself) if alive && self.can_be_seen() => held += 1,
                Some(_) => return None,
            }
        }
        Some(held)
    }

    fn can_be_seen(&self) -> bool {
        self.items.len() <= SEEN_ITEMS
            && self.items.iter().all(|v| {
                let op = self.f.op(self.f.object_of(*v));
                !matches!(op, Op::VirtualTuple | Op::BoxIntIf | Op::BoxFloatIf)
            })
    }
}
