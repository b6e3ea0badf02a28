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
use std::collections::{HashMap, HashSet};

/// Make virtual what can be.
pub fn run(f: &mut Function, _: &Context<'_>) -> bool {
    let mut changed = false;
    // A tuple in another one can follow once that is virtual.
    loop {
        let blocks = f.order.iter().map(|&b| (b, &f.blocks[b].insts));
        let all = blocks.flat_map(|(b, insts)| insts.iter().map(move |&v| (b, v)));
        let tuples: Vec<(Block, Value)> = all.filter(|(_, v)| is_candidate(f, *v)).collect();
        let mut again = false;
        for (block, v) in tuples {
            if let Some(plan) = Plan::of(f, block, v) {
                plan.carry_out(f);
                f.apply_aliases();
                again = true;
            }
        }
        if !again {
            return changed;
        }
        changed = true;
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
    fn of(f: &Function, block: Block, tuple: Value) -> Option<Plan> {
        let items: Vec<Value> = f.insts[tuple].args.iter().map(|a| f.resolve(*a)).collect();
        let uses = uses(f, tuple, items.len())?;
        let mut flow = Flow {
            f,
            tuple,
            items: &items,
            uses: uses.iter().copied().collect(),
            deaths: HashSet::new(),
        };
        flow.run(block)?;
        let deaths = flow.deaths;
        Some(Plan {
            tuple,
            items,
            uses,
            deaths,
        })
    }

    fn carry_out(self, f: &mut Function) {
        let tuple = self.tuple;
        let inst = &mut f.insts[tuple];
        (inst.op, inst.state, inst.source) = (Op::VirtualTuple, None, Source::Proved);
        // Nothing has to look at the tuple for its type to be believed.
        let aliases: HashSet<Value> = self
            .uses
            .iter()
            .filter(|(_, u)| *u == Use::Alias)
            .map(|(v, _)| *v)
            .chain([tuple])
            .collect();
        f.relied_on.retain(|v| !aliases.contains(v));
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
                Use::Count | Use::Name => {}
            }
        }
        let counts: HashSet<Value> = self
            .uses
            .iter()
            .filter(|(_, u)| *u == Use::Count)
            .map(|(v, _)| *v)
            .collect();
        let mut fewer_edges = false;
        for b in f.order.clone() {
            let old = std::mem::take(&mut f.blocks[b].insts);
            let mut insts = Vec::with_capacity(old.len());
            for v in old {
                if !counts.contains(&v) {
                    insts.push(v);
                } else if self.deaths.contains(&v) {
                    self.drop_items(f, v, &mut insts);
                }
            }
            f.blocks[b].insts = insts;
            if let Term::MayRaise { op, next, .. } = &f.blocks[b].term
                && *op == tuple
            {
                f.blocks[b].term = Term::Jump(next.clone());
                fewer_edges = true;
            }
        }
        if fewer_edges {
            let entry = f.entry();
            f.compute_order(entry);
        }
    }

    /// What the tuple's end does, in place of `death`.
    fn drop_items(&self, f: &mut Function, death: Value, insts: &mut Vec<Value>) {
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
            insts.push(dropped);
        }
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

/// Every instruction that uses the tuple; `None` if one of them needs the object.
fn uses(f: &Function, tuple: Value, count: usize) -> Option<Vec<(Value, Use)>> {
    let is_tuple = |v: Value| f.object_of(v) == tuple;
    let mut uses = Vec::new();
    for &b in &f.order {
        for &v in &f.blocks[b].insts {
            let inst = &f.insts[v];
            if !inst.args.iter().any(|a| is_tuple(*a)) {
                continue;
            }
            let found = match &inst.op {
                Op::Incref | Op::Decref => Use::Count,
                Op::StoreSlot(_) | Op::VirtualTuple => Use::Name,
                Op::GuardType(ty) | Op::Refine(ty) if f.ty(tuple) <= *ty => Use::Alias,
                Op::GuardBound => Use::Alias,
                Op::TupleLen => Use::Length,
                Op::TupleGet => Use::Item(constant_offset(f, tuple, count, f.arg(v, 1))?),
                _ => return None,
            };
            uses.push((v, found));
        }
        let term = &f.blocks[b].term;
        let carried = term.edges().into_iter().flat_map(|e| &e.args);
        if carried.into_iter().any(|a| is_tuple(*a))
            || matches!(term, Term::Return(v) if is_tuple(*v))
        {
            return None;
        }
    }
    Some(uses)
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

fn mention(f: &Function, v: Value, tuple: Value) -> Option<Mention> {
    let v = f.object_of(v);
    if v == tuple {
        return Some(Mention::Itself);
    }
    let inside = *f.op(v) == Op::VirtualTuple
        && f.inst(v)
            .args
            .iter()
            .any(|a| mention(f, *a, tuple).is_some());
    inside.then_some(Mention::InAnother)
}

/// The references to the tuple, counted along all paths.
struct Flow<'a> {
    f: &'a Function,
    tuple: Value,
    items: &'a [Value],
    uses: HashMap<Value, Use>,
    deaths: HashSet<Value>,
}

impl Flow<'_> {
    /// From where the tuple stands, in `home`; `None` if something forbids that it is virtual.
    fn run(&mut self, home: Block) -> Option<()> {
        let f = self.f;
        let idom = f.dominators();
        let dominated = |mut b: Block| {
            while b != home {
                let up = idom[b].expand()?;
                if up == b {
                    return None;
                }
                b = up;
            }
            Some(())
        };
        let mut counts: HashMap<Block, usize> = HashMap::new();
        let start = f.blocks[home].insts.iter().position(|v| *v == self.tuple)?;
        let mut work = vec![(home, start + 1, 1)];
        while let Some((b, from, count)) = work.pop() {
            let count = self.block(b, from, count)?;
            for edge in f.blocks[b].term.edges() {
                let next = edge.block;
                let is_landing_of_tuple = f.landing(b) == Some((self.tuple, next));
                if is_landing_of_tuple {
                    continue;
                }
                if next == home || dominated(next).is_none() {
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

    /// The number of references at the end of a block.
    fn block(&mut self, b: Block, from: usize, mut count: usize) -> Option<usize> {
        let f = self.f;
        for &v in &f.blocks[b].insts[from..] {
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
        let stack = state.stack.iter().map(|e| e.value);
        let mut all = state.locals.iter().copied().chain(stack);
        all.any(|v| mention(self.f, v, self.tuple).is_some())
    }

    /// Others may look at these locals: the number of those that hold the tuple, if it can be shown in them.
    fn seen(&self, locals: &[Value], alive: bool) -> Option<usize> {
        let mut held = 0;
        for &local in locals {
            match mention(self.f, local, self.tuple) {
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
