//! Loads before loops.
//!
//! A value that a loop reads in each iteration and changes in none is read before the loop. Mostly
//! only one instruction in the loop could change it: the check for pending work at the end of an
//! iteration, where signal handlers and other threads may do anything, and hardly ever do. So that
//! check is split into the test whether any work is pending ([`Op::Quiet`]) and a cold block that
//! does it ([`Op::DoPending`]) and then reads everything again; the loop carries the values.
//! (Partial redundancy elimination of loads, Knoop, Rüthing and Steffen 1992, for the one shape in
//! which the first load is on the hot path.)
//!
//! For example, `for i in range(n): s += self.scale` reads `self.scale` before the loop.
//!
//! # The instructions that move
//! Lengths, attributes, contents of cells, items at one place, and addresses of lists' items; with
//! the checks before them, and computations on them alone (a float's value). The object must have
//! the loaded memory wherever the load is made: a list has it by the type of its definition, any
//! other object because all checks of it at the start of each iteration move too. So except for
//! lists, only instructions before the first branch of an iteration move. A check that fails before
//! the loop exits a little earlier.
//!
//! # Stores into other lists
//! `table[i][j] = x` may change `table[i]` or `other[i]` only if a row is the table itself, or the
//! other list. So if a store into a list is all that could change an item that is loaded, and both
//! lists are known before the loop, a check there tests that they are two objects. Then no
//! iteration's store changes the item of the next one, by induction over the iterations: the lists
//! are the same in each.
//!
//! Innermost loops only: the code of an outer loop outside of inner ones is not hot.

mod limits;

use super::Context;
use super::memory::{Changes, Fields};
use super::ranges::Tree;
use crate::bytecode::{Pc, Reason};
use crate::hir::{
    Block, BlockData, Edge, FrameState, Function, Inst, Op, Place, StateId, Term, Value,
};
use crate::types::Type;
use cranelift_entity::SecondaryMap;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// The most values that a loop carries for this: each takes a register.
const MOST_CARRIED: usize = 6;

/// Load before loops.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let tree = Tree::of(f);
    let loops: Vec<Innermost> = f
        .order
        .iter()
        .filter_map(|&header| Innermost::find(f, &tree, header))
        .collect();
    if loops.is_empty() {
        return false;
    }
    // Counted at the first query: most loops read nothing that could be read before.
    let users = OnceCell::new();
    let mut changed = false;
    for found in &loops {
        if let Some(plan) = Plan::of(f, cx, &users, found) {
            plan.carry_out(f, found);
            changed = true;
        }
    }
    if changed {
        let entry = f.entry();
        f.compute_order(entry);
    }
    changed
}

/// A loop that has no other in it.
struct Innermost {
    header: Block,
    /// The one block that leads into it, by a jump.
    before: Block,
    /// Its blocks, in order.
    body: Vec<Block>,
    /// The check for pending work at the end of an iteration.
    pending: Vec<Pending>,
    /// The blocks before the first branch of an iteration, except for the loop's own test.
    straight: Vec<Block>,
}

/// The place of a check for pending work at the end of an iteration.
#[derive(Clone, Copy)]
struct Pending {
    check: Value,
    block: Block,
    /// Its place in the block.
    at: usize,
}

impl Innermost {
    fn find(f: &Function, tree: &Tree, header: Block) -> Option<Innermost> {
        if !f.blocks[header].is_loop_header {
            return None;
        }
        let (before, mut work) = tree.ways_into(f, header)?;
        let mut body = BTreeSet::from([header]);
        while let Some(b) = work.pop() {
            if body.insert(b) {
                if f.blocks[b].is_loop_header {
                    return None;
                }
                work.extend(tree.predecessors(b));
            }
        }
        let mut pending = Vec::new();
        for &block in &body {
            for (at, &check) in f.blocks[block].insts.iter().enumerate() {
                if *f.op(check) == Op::CheckPending {
                    let found = Pending { check, block, at };
                    if !found.ends_turn(f, tree, header) {
                        return None;
                    }
                    pending.push(found);
                }
            }
        }
        let straight = straight(f, &body, header);
        Some(Innermost {
            header,
            before,
            body: body.into_iter().collect(),
            pending,
            straight,
        })
    }
}

impl Pending {
    /// Returns true if nothing is read between the check and the next iteration.
    fn ends_turn(self, f: &Function, tree: &Tree, header: Block) -> bool {
        let is_idle = |insts: &[Value]| {
            insts.iter().all(|v| {
                let op = f.op(*v);
                op.reads().is_nothing() && !op.must_stay() && op.exit_reason().is_none()
            })
        };
        let leads_back =
            |b: Block| matches!(&f.blocks[b].term, Term::Jump(edge) if edge.block == header);
        let data = &f.blocks[self.block];
        match &data.term {
            Term::MayRaise { op, next, .. } => {
                f.resolve(*op) == self.check
                    && leads_back(next.block)
                    && tree.predecessors(next.block).len() == 1
                    && is_idle(&f.blocks[next.block].insts)
            }
            _ => leads_back(self.block) && is_idle(&data.insts[self.at + 1..]),
        }
    }
}

/// The blocks at the start of each iteration: each leads to the next alone, except for the loop's
/// own test of numbers.
fn straight(f: &Function, body: &BTreeSet<Block>, header: Block) -> Vec<Block> {
    let mut straight = vec![header];
    loop {
        let last = straight[straight.len() - 1];
        let next = match &f.blocks[last].term {
            Term::Jump(edge) => edge.block,
            Term::MayRaise { next, .. } => next.block,
            Term::Branch { cond, then, els } if last == header => {
                let inside: Vec<Block> = [then.block, els.block]
                    .into_iter()
                    .filter(|b| body.contains(b))
                    .collect();
                let is_test = matches!(
                    f.op(*cond),
                    Op::IntCmp(_) | Op::FloatCmp(_) | Op::RangeNext | Op::IterMore
                );
                match inside[..] {
                    [inside] if is_test => inside,
                    _ => return straight,
                }
            }
            _ => return straight,
        };
        if !body.contains(&next) || straight.contains(&next) {
            return straight;
        }
        straight.push(next);
    }
}

/// The number of uses of each value.
fn count_users(f: &Function) -> SecondaryMap<Value, u32> {
    let mut users = SecondaryMap::new();
    for &b in &f.order {
        f.named_in(b).for_each(|v| users[f.resolve(v)] += 1);
    }
    users
}

/// An instruction that is executed before a loop, and again behind pending work.
struct Step {
    /// The instruction in the loop; `None` for the address of a list's items, which no instruction
    /// in the loop computes.
    of: Option<Value>,
    op: Op,
    args: Vec<Operand>,
    ty: Type,
    pc: Pc,
    /// The source of the result in the loop, if the loop needs it.
    use_: Use,
}

#[derive(Clone, Copy, PartialEq)]
enum Operand {
    /// Of before the loop.
    Outside(Value),
    /// An earlier step.
    Step(usize),
}

#[derive(Clone, Copy, PartialEq)]
enum Use {
    Nothing,
    /// The object is the same in all iterations: the one of before the loop.
    Same,
    /// The latest result of this step.
    Carried,
    /// The result of another step, which is the same object.
    As(usize),
}

struct Plan {
    steps: Vec<Step>,
    /// Accesses to items, each with the step that finds them.
    items: Vec<(Value, usize)>,
    /// Checks of bounds that steps make for all iterations, each with its place.
    needless: Vec<(Value, Value)>,
    /// The frame at the start of the loop, if a step may exit there.
    state: Option<FrameState>,
    /// The instructions for the values of that state.
    made: Vec<Value>,
}

/// Finds the instructions that may be executed before a loop.
struct Planner<'a> {
    f: &'a Function,
    cx: &'a Context<'a>,
    found: &'a Innermost,
    inside: BTreeSet<Value>,
    changes: Vec<Changes>,
    fields: Fields<'a>,
    /// Objects that are still checked in the loop.
    open: BTreeSet<Value>,
    /// The steps of instructions of the loop.
    known: BTreeMap<Value, usize>,
    /// The step that finds a list's items.
    items: BTreeMap<Value, usize>,
    steps: Vec<Step>,
    /// Pairs of lists that must be different objects: a list from which an item is loaded, and a
    /// list that is stored into.
    apart: Vec<(Operand, Value)>,
    /// Lists that are stored into and not known before the loop.
    elsewhere: BTreeSet<Value>,
    may_leave: bool,
}

impl Plan {
    fn of(
        f: &mut Function,
        cx: &Context<'_>,
        users: &OnceCell<SecondaryMap<Value, u32>>,
        found: &Innermost,
    ) -> Option<Plan> {
        let fields = Fields::new(f, cx.world, &found.body);
        let mut changes = Vec::new();
        let mut inside = BTreeSet::new();
        for &b in &found.body {
            inside.extend(f.blocks[b].params.iter().map(|(p, _)| *p));
            for &v in &f.blocks[b].insts {
                inside.insert(v);
                let change = match f.op(v) {
                    Op::CheckPending => Changes::Nothing,
                    _ => Changes::of(f, v, &fields),
                };
                match change {
                    Changes::All => return None,
                    Changes::Nothing => {}
                    change if changes.contains(&change) => {}
                    change => changes.push(change),
                }
            }
        }
        let mut made = Vec::new();
        let state = state_before(f, found, &mut made);
        let mut planner = Planner {
            f,
            cx,
            found,
            inside,
            changes,
            fields,
            open: BTreeSet::new(),
            known: BTreeMap::new(),
            items: BTreeMap::new(),
            steps: Vec::new(),
            apart: Vec::new(),
            elsewhere: BTreeSet::new(),
            may_leave: state.is_some(),
        };
        let accesses = planner.look();
        let needless = planner.limits();
        let mut steps = planner.steps;
        if !steps.iter().any(|step| !step.op.reads().is_nothing()) {
            return None;
        }
        let has_pending = !found.pending.is_empty();
        let users = users.get_or_init(|| count_users(f));
        decide(f, users, has_pending, &mut steps, &accesses, &needless)?;
        let leaves = steps.iter().any(|step| step.op.exit_reason().is_some());
        Some(Plan {
            steps,
            items: accesses,
            needless,
            state: state.filter(|_| leaves),
            made,
        })
    }

    /// Emits the steps at the end of a block.
    fn make(
        &self,
        f: &mut Function,
        b: Block,
        state: Option<StateId>,
        pc: Option<Pc>,
    ) -> Vec<Value> {
        let mut made: Vec<Value> = Vec::new();
        for step in &self.steps {
            let args = step.args.iter().map(|arg| match *arg {
                Operand::Outside(v) => v,
                Operand::Step(n) => made[n],
            });
            let inst = Inst {
                state: state.filter(|_| step.op.exit_reason().is_some()),
                source: step
                    .of
                    .map_or(crate::facts::Source::Proved, |v| f.insts[v].source),
                ..Inst::proved(
                    step.op.clone(),
                    args.collect(),
                    step.ty,
                    pc.unwrap_or(step.pc),
                )
            };
            let v = f.insts.push(inst);
            f.blocks[b].insts.push(v);
            made.push(v);
        }
        made
    }

    fn carry_out(self, f: &mut Function, found: &Innermost) {
        f.blocks[found.before].insts.extend(&self.made);
        let state = self.state.clone().map(|state| f.states.push(state));
        let first = self.make(f, found.before, state, None);
        let carried: Vec<usize> = (0..self.steps.len())
            .filter(|n| self.steps[*n].use_ == Use::Carried)
            .collect();
        // The loop's value for each step.
        let mut given = first.clone();
        if !found.pending.is_empty() {
            for &n in &carried {
                given[n] = param(f, found.header, self.steps[n].ty);
            }
        }
        let of_all = |all: &[Value]| carried.iter().map(|n| all[*n]).collect::<Vec<_>>();
        let (before, current) = (of_all(&first), of_all(&given));
        for pending in &found.pending {
            let (cold, go) = self.take_apart(f, *pending);
            let state = f.insts[pending.check].state;
            let pc = f.insts[pending.check].pc;
            let again = self.make(f, cold, state, Some(pc));
            let behind: Vec<Value> = carried
                .iter()
                .map(|n| param(f, go, self.steps[*n].ty))
                .collect();
            give(f, cold, go, &of_all(&again));
            give(f, pending.block, go, &current);
            give(f, go, found.header, &behind);
        }
        if !found.pending.is_empty() {
            give(f, found.before, found.header, &before);
            // An iteration may end on another path.
            for &b in &found.body {
                let pending = found.pending.iter().any(|p| p.block == b);
                if !pending {
                    complete(f, b, found.header, &current);
                }
            }
        }
        for &(access, n) in &self.items {
            let inst = &mut f.insts[access];
            inst.op = match inst.op {
                Op::ListGet => Op::ItemGet,
                _ => Op::ItemSet,
            };
            inst.args[0] = given[n];
        }
        for &(check, place) in &self.needless {
            f.replace(check, place);
        }
        for (n, step) in self.steps.iter().enumerate() {
            if let Some(v) = step.of {
                let by = match step.use_ {
                    Use::As(other) => given[other],
                    _ => given[n],
                };
                f.replace(v, by);
            }
        }
    }

    /// Splits a check for pending work. Returns the cold block that does the work, up to where the
    /// unit continues, and the block where both paths join, which lacks its parameters yet.
    fn take_apart(&self, f: &mut Function, pending: Pending) -> (Block, Block) {
        let Pending { check, block, at } = pending;
        let Inst { state, pc, .. } = f.insts[check];
        let state = state.expect("a check for pending work has a frame state");
        let state = f.states[state].clone();
        let end = f.blocks[block].end;
        let new = |f: &mut Function, term| {
            f.blocks.push(BlockData {
                term,
                out_locals: state.locals.clone(),
                ..BlockData::new(state.clone(), end)
            })
        };
        let to = |block| Edge {
            block,
            args: Vec::new(),
        };
        f.insts[check].op = Op::DoPending;
        let term = f.blocks[block].term.clone();
        let cold = new(f, Term::Unreachable);
        f.blocks[cold].insts.push(check);
        let (last, go) = match term {
            Term::MayRaise { op, next, raised } => {
                let last = new(f, Term::Jump(to(next.block)));
                f.blocks[cold].term = Term::MayRaise {
                    op,
                    next: to(last),
                    raised,
                };
                (last, next.block)
            }
            term => {
                let go = new(f, term);
                f.blocks[go].insts = f.blocks[block].insts.split_off(at + 1);
                f.blocks[go].out_locals = f.blocks[block].out_locals.clone();
                f.blocks[cold].term = Term::Jump(to(go));
                (cold, go)
            }
        };
        f.blocks[block].insts.truncate(at);
        let quiet = f
            .insts
            .push(Inst::proved(Op::Quiet, Vec::new(), Type::CBOOL, pc));
        let data = &mut f.blocks[block];
        data.insts.push(quiet);
        data.out_locals = state.locals.clone();
        data.term = Term::Branch {
            cond: quiet,
            then: to(go),
            els: to(cold),
        };
        (last, go)
    }
}

/// A parameter that a block carries.
fn param(f: &mut Function, b: Block, ty: Type) -> Value {
    let pc = f.blocks[b].entry_state.pc;
    let v = f.insts.push(Inst::proved(Op::Param, Vec::new(), ty, pc));
    f.blocks[b].params.push((v, Place::Carried));
    v
}

/// Appends values to the arguments of the edges from one block to another.
fn give(f: &mut Function, from: Block, to: Block, values: &[Value]) {
    for edge in f.blocks[from].term.edges_mut() {
        if edge.block == to {
            edge.args.extend(values);
        }
    }
}

/// The same, if the edge has none for them yet.
fn complete(f: &mut Function, from: Block, to: Block, values: &[Value]) {
    let all = f.blocks[to].params.len();
    for edge in f.blocks[from].term.edges_mut() {
        if edge.block == to && edge.args.len() < all {
            edge.args.extend(values);
        }
    }
}

impl Planner<'_> {
    /// Finds the steps. Returns the accesses to items at an address that a step finds.
    fn look(&mut self) -> Vec<(Value, usize)> {
        loop {
            let accesses = self.look_once();
            let stored = self.apart.iter().map(|(_, stored)| *stored);
            let is_elsewhere = |list: &Value| self.operand(*list).is_none();
            let elsewhere: Vec<Value> = stored.filter(is_elsewhere).collect();
            if elsewhere.is_empty() {
                self.keep_apart();
                return accesses;
            }
            self.elsewhere.extend(elsewhere);
            self.apart.clear();
            self.open.clear();
            self.known.clear();
            self.items.clear();
            self.steps.clear();
        }
    }

    fn look_once(&mut self) -> Vec<(Value, usize)> {
        let mut accesses = Vec::new();
        let straight = self.found.straight.clone();
        let rest = self.found.body.iter().filter(|b| !straight.contains(b));
        let rest: Vec<Block> = rest.copied().collect();
        let blocks = straight.iter().map(|b| (*b, true));
        for (b, is_straight) in blocks.chain(rest.iter().map(|b| (*b, false))) {
            for &v in &self.f.blocks[b].insts {
                if let Some(args) = self.movable(v, is_straight) {
                    self.tell_apart(v, args[..].first());
                    let inst = &self.f.insts[v];
                    let step = Step {
                        of: Some(v),
                        op: inst.op.clone(),
                        args,
                        ty: inst.ty,
                        pc: inst.pc,
                        use_: Use::Nothing,
                    };
                    self.known.insert(v, self.steps.len());
                    self.steps.push(step);
                    continue;
                }
                self.stays(v);
                if matches!(self.f.op(v), Op::ListGet | Op::ListSet)
                    && let Some(step) = self.items_of(v, is_straight)
                {
                    accesses.push((v, step));
                }
            }
        }
        accesses
    }

    /// The operand, if it is not defined in an iteration.
    fn operand(&self, v: Value) -> Option<Operand> {
        let v = self.f.resolve(v);
        match self.known.get(&v) {
            Some(step) => Some(Operand::Step(*step)),
            None => (!self.inside.contains(&v)).then_some(Operand::Outside(v)),
        }
    }

    /// The operands of an instruction that may be executed before the loop.
    fn movable(&self, v: Value, is_straight: bool) -> Option<Vec<Operand>> {
        let f = self.f;
        let inst = f.inst(v);
        let args: Option<Vec<Operand>> = inst.args.iter().map(|a| self.operand(*a)).collect();
        let args = args?;
        let objects: Vec<Value> = inst.args.iter().map(|a| f.object_of(*a)).collect();
        let keeps = |change: &Changes| {
            change.keep(f, &inst.op, &objects, &self.fields) || self.other_list(v, change).is_some()
        };
        let is_index = |i: usize| *f.op(f.arg(v, i)) == Op::Index;
        let is_of_step = || args.iter().any(|arg| matches!(arg, Operand::Step(_)));
        let may_move = match inst.op {
            Op::ListLen if self.is_list(inst.args[0]) => true,
            _ if !is_straight || f.asserted.contains(&v) => false,
            Op::GlobalGet(_) => true,
            Op::ListLen => is_of_step(),
            Op::GuardType(_) | Op::Check(_) | Op::CheckClasses(_) => self.is_closed(objects[0]),
            Op::Load(_) | Op::RawLen(_) | Op::CellGet => self.is_closed(objects[0]),
            Op::ListGet | Op::RawGet(_) => is_index(1) && self.is_closed(objects[0]),
            Op::GuardBound | Op::Refine(_) | Op::Index => is_of_step(),
            Op::UnboxInt | Op::UnboxFloat | Op::UnboxBool | Op::IntToDouble => is_of_step(),
            _ => false,
        };
        let has_way_out = match inst.op.exit_reason() {
            None => true,
            Some(reason) => self.may_leave && !self.is_avoided(reason),
        };
        let is_known =
            !f.ty(v).is_bottom() || matches!(inst.op, Op::Check(_) | Op::CheckClasses(_));
        (may_move && has_way_out && is_known && self.changes.iter().all(keeps)).then_some(args)
    }

    /// The list of which an iteration changes an item, if that item can be the loaded one only
    /// where the two lists are the same object, and the code may speculate that they are not.
    fn other_list(&self, load: Value, change: &Changes) -> Option<Value> {
        let Changes::Item(list, _) = *change else {
            return None;
        };
        let f = self.f;
        let is_bet = *f.op(load) == Op::ListGet
            && f.object_of(f.arg(load, 0)) != list
            && self.may_leave
            && !self.elsewhere.contains(&list)
            && !self.is_avoided(Reason::Alias);
        is_bet.then_some(list)
    }

    /// Records the lists that must be other objects than the list from which an instruction loads
    /// an item.
    fn tell_apart(&mut self, load: Value, list: Option<&Operand>) {
        let (f, Some(&list)) = (self.f, list) else {
            return;
        };
        let objects: Vec<Value> = f.inst(load).args.iter().map(|a| f.object_of(*a)).collect();
        let changes = self.changes.iter();
        let changes = changes.filter(|c| !c.keep(f, f.op(load), &objects, &self.fields));
        let others = changes.filter_map(|change| self.other_list(load, change));
        for other in others.collect::<Vec<_>>() {
            if !self.apart.contains(&(list, other)) {
                self.apart.push((list, other));
            }
        }
    }

    /// Adds the steps that check that the lists are different objects.
    fn keep_apart(&mut self) {
        for (list, other) in std::mem::take(&mut self.apart) {
            let other = self.operand(other).expect("a list that is known before");
            let is = self.step(Op::Is, vec![list, other], Type::CBOOL);
            let are_two = self.step(Op::BoolNot, vec![is], Type::CBOOL);
            self.step(Op::GuardTrue(Reason::Alias), vec![are_two], Type::BOTTOM);
        }
    }

    /// A step that no instruction of the loop is.
    fn step(&mut self, op: Op, args: Vec<Operand>, ty: Type) -> Operand {
        self.steps.push(Step {
            of: None,
            op,
            args,
            ty,
            pc: self.f.blocks[self.found.header].entry_state.pc,
            use_: Use::Nothing,
        });
        Operand::Step(self.steps.len() - 1)
    }

    /// Returns true if an object is a list by the type of its definition.
    fn is_list(&self, v: Value) -> bool {
        let (f, v) = (self.f, self.f.resolve(v));
        !self.inside.contains(&v) && !f.ty(v).is_bottom() && f.ty(v) <= Type::LIST_EXACT
    }

    /// Returns true if no check of the object stays in the loop.
    fn is_closed(&self, object: Value) -> bool {
        !self.open.contains(&object)
    }

    /// Records an instruction that stays in the loop: later loads may need the facts that it
    /// checks.
    fn stays(&mut self, v: Value) {
        let f = self.f;
        if f.op(v).exit_reason().is_none() && !f.op(v).gives_operand() {
            return;
        }
        // The operand that a condition tests.
        let mut work: Vec<(Value, u32)> = f.inst(v).args.iter().map(|a| (*a, 0)).collect();
        while let Some((v, depth)) = work.pop() {
            self.open.insert(f.object_of(v));
            let is_question = matches!(*f.op(v), Op::Is | Op::IsNull | Op::IsNone | Op::ClassOf)
                || matches!(f.op(v), Op::IsClass(_) | Op::BoolNot);
            if is_question && depth < 4 {
                work.extend(f.inst(v).args.iter().map(|a| (*a, depth + 1)));
            }
        }
    }

    /// Returns true if a speculation failed at the start of the loop, or at the end of an
    /// iteration.
    fn is_avoided(&self, reason: Reason) -> bool {
        let f = self.f;
        let pending = self.found.pending.iter().map(|p| f.insts[p.check].pc);
        let mut places = pending.chain([f.blocks[self.found.header].entry_state.pc]);
        places.any(|pc| self.cx.avoid.contains(&(pc, reason)))
    }

    /// The step that finds the items that are accessed, if they may be found before the loop.
    fn items_of(&mut self, v: Value, is_straight: bool) -> Option<usize> {
        let f = self.f;
        let list = f.arg(v, 0);
        let object = f.object_of(list);
        if let Some(step) = self.items.get(&object) {
            return Some(*step);
        }
        let is_list = self.is_list(list) || is_straight && self.known.contains_key(&list);
        let keeps = |change: &Changes| change.keep(f, &Op::ListItems, &[object], &self.fields);
        if !self.cx.item_arrays || !is_list || !self.changes.iter().all(keeps) {
            return None;
        }
        let step = Step {
            of: None,
            op: Op::ListItems,
            args: vec![self.operand(list)?],
            ty: Type::CINT64,
            pc: f.insts[v].pc,
            use_: Use::Carried,
        };
        self.steps.push(step);
        self.items.insert(object, self.steps.len() - 1);
        Some(self.steps.len() - 1)
    }
}

/// Decides the source of each step's result in the loop; `None` if the loop would have to carry too
/// many values.
fn decide(
    f: &Function,
    users: &SecondaryMap<Value, u32>,
    has_pending: bool,
    steps: &mut [Step],
    accesses: &[(Value, usize)],
    needless: &[(Value, Value)],
) -> Option<()> {
    // The uses by steps, by their instructions and by needless instructions are removed with them.
    let mut own: BTreeMap<Value, u32> = BTreeMap::new();
    let moved = steps.iter().filter_map(|step| step.of);
    for v in moved.chain(needless.iter().map(|(v, _)| *v)) {
        for v in f.named_by(f.resolve(v)) {
            *own.entry(f.resolve(v)).or_default() += 1;
        }
    }
    for (v, _) in accesses {
        *own.entry(f.arg(*v, 0)).or_default() += 1;
    }
    let is_needed = |v: Value| users[v] > own.get(&v).copied().unwrap_or(0);
    let by_value: BTreeMap<Value, usize> = steps
        .iter()
        .enumerate()
        .filter_map(|(n, step)| Some((step.of?, n)))
        .collect();
    // One value represents an object: the one with the most precise type.
    let mut stands: BTreeMap<usize, usize> = BTreeMap::new();
    for n in 0..steps.len() {
        let Some(v) = steps[n].of.filter(|_| has_pending) else {
            continue;
        };
        let root = f.object_of(v);
        let Some(&root) = by_value.get(&root) else {
            steps[n].use_ = Use::Same;
            continue;
        };
        if !is_needed(v) {
            continue;
        }
        let best = stands.entry(root).or_insert(n);
        if steps[n].ty <= steps[*best].ty {
            *best = n;
        } else if !(steps[*best].ty <= steps[n].ty) {
            return None;
        }
    }
    for (n, step) in steps.iter_mut().enumerate() {
        let Some(v) = step.of.filter(|_| has_pending) else {
            continue;
        };
        if step.use_ == Use::Same || !is_needed(v) {
            continue;
        }
        let root = by_value[&f.object_of(v)];
        step.use_ = match stands[&root] {
            best if best == n => Use::Carried,
            best => Use::As(best),
        };
    }
    let carried = steps.iter().filter(|step| step.use_ == Use::Carried);
    (!has_pending || carried.count() <= MOST_CARRIED).then_some(())
}

/// The frame at the start of a loop, in terms of the values before it; none if it contains a value
/// of the loop. The instructions for it are added to `made`.
fn state_before(f: &mut Function, found: &Innermost, made: &mut Vec<Value>) -> Option<FrameState> {
    let header = &f.blocks[found.header];
    let mut state = header.entry_state.clone();
    let edges = f.blocks[found.before].term.edges();
    let params = header.params.iter().map(|(p, _)| *p);
    let mut here: BTreeMap<Value, Value> = params.zip(edges[0].args.iter().copied()).collect();
    let own: BTreeSet<Value> = header.insts.iter().copied().collect();
    // The slots are unchanged, unless the loop's local has no reference.
    for (k, local) in f.blocks[found.before].out_locals.iter().enumerate() {
        if *f.op(state.locals[k]) != Op::Borrowed {
            state.locals[k] = *local;
        }
    }
    let mut values = state.values().map(|v| f.resolve(v)).collect::<Vec<_>>();
    while let Some(&v) = values.last() {
        if here.contains_key(&v) || !own.contains(&v) {
            values.pop();
            continue;
        }
        let inst = f.insts[v].clone();
        let stands_for = inst.op.is_box() || inst.op.is_virtual();
        if !stands_for && !matches!(inst.op, Op::Borrowed | Op::RangeAt(_) | Op::Refine(_)) {
            return None;
        }
        let args = inst.args.iter().map(|a| f.resolve(*a));
        let args: Vec<Value> = args.collect();
        let is_there = |a: &&Value| here.contains_key(a) || !own.contains(a);
        match args.iter().find(|a| !is_there(a)) {
            Some(first) => values.push(*first),
            None => {
                let args = args.iter().map(|a| here.get(a).copied().unwrap_or(*a));
                let args = args.collect();
                let copy = f.insts.push(Inst { args, ..inst });
                made.push(copy);
                here.insert(v, copy);
                values.pop();
            }
        }
    }
    let there = |v: &mut Value| {
        if let Some(value) = here.get(&f.resolve(*v)) {
            *v = *value;
        }
    };
    state.change_values(there);
    Some(state)
}
