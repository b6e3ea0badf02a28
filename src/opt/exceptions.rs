//! Exceptions that a handler of the function catches and drops unseen are not made.
//!
//! `try: return table[key]` with `except KeyError: return None`, or a `raise` whose handler only
//! counts, makes an exception, adds an entry to its traceback, matches it with the handler's class
//! and drops it. If the class is known and no user code can run in between, none of that is
//! observable: control goes to the handler, and the exception is left out.
//!
//! A path is followed from where the exception would be made to where its last reference is
//! dropped. On it stand operations without effects, and operations on references and slots of
//! locals, which are put behind all others. So an exit on the path has seen no effect: it resumes
//! at the instruction that raises, and the interpreter makes the exception.
//!
//! A missing item is found by [`GeneralOp::FindItem`], which makes no exception for one.

use super::Context;
use crate::bytecode::{GeneralOp as G, Pc};
use crate::facts::{Assumption, Callee, Missing};
use crate::hir::{
    Block, BlockData, Edge, FrameState, Function, Inst, Op, StateId, Term, Value, drops_quietly,
    remove_trivial_params,
};
use crate::types::{ObjectHandle, Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// Instructions of a path and of the rest of the block where it ends; more are not copied.
const MOST_COPIED: usize = 64;

/// Leaves out exceptions that are not observable.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let mut changed = false;
    for b in f.order.clone() {
        // The path of another exception may have been the only one to the block.
        if changed && !f.order.contains(&b) {
            continue;
        }
        let Some(way) = ways(f, cx, b).next() else {
            continue;
        };
        way.take(f);
        let entry = f.entry();
        f.compute_order(entry);
        changed = true;
    }
    if changed {
        f.apply_aliases();
        remove_trivial_params(f);
    }
    changed
}

/// The paths of exceptions that the last instruction of a block may make.
fn ways<'a>(f: &'a Function, cx: &'a Context<'_>, b: Block) -> impl Iterator<Item = Way> + 'a {
    let starts = Start::of(f, cx, b).unwrap_or_default().into_iter();
    starts.filter_map(move |start| Way::of(f, cx, b, start))
}

/// The class of an exception.
enum Raised {
    /// A class whose instances C code makes: those of this one, its bases included.
    Of(Vec<ObjectHandle>),
    /// What a subscript raises.
    Missing(Missing),
}

/// Where an exception would be made.
struct Start {
    /// The instruction that makes it.
    maker: Value,
    raised: Raised,
    /// The block in which the path begins.
    block: Block,
    /// True if the instruction returns the exception, and another one raises it.
    is_call: bool,
    assumptions: Vec<Assumption>,
}

impl Start {
    /// What the last instruction of a block may make.
    fn of(f: &Function, cx: &Context<'_>, b: Block) -> Option<Vec<Start>> {
        let Term::MayRaise { op, next, raised } = &f.blocks[b].term else {
            return None;
        };
        let maker = f.resolve(*op);
        let Op::General(op, imms) = *f.op(maker) else {
            return None;
        };
        let args = &f.inst(maker).args;
        let is_null = |i: usize| *f.op(args[i]) == Op::Null;
        let class = |i: usize| match *f.op(f.object_of(args[i])) {
            Op::Const(class) => match cx.world.callee(class) {
                Callee::Exception {
                    is_plain: true,
                    bases,
                    assumptions,
                    ..
                } => Some((vec![Raised::Of(bases)], assumptions)),
                _ => None,
            },
            _ => None,
        };
        let ((raised, assumptions), block, is_call) = match op {
            G::Raise if imms[0] == 1 => (class(0)?, raised.block, false),
            G::Call if args.len() > 2 && is_null(0) && is_null(2) => (class(1)?, next.block, true),
            G::GetItem => {
                let missing = missing(f.known_type(args[0])).iter().copied();
                let raises = missing.map(Raised::Missing).collect();
                ((raises, Vec::new()), raised.block, false)
            }
            _ => return None,
        };
        let starts = raised.into_iter().map(|raised| Start {
            maker,
            raised,
            block,
            is_call,
            assumptions: assumptions.clone(),
        });
        Some(starts.collect())
    }

    fn is_missing(&self) -> bool {
        matches!(self.raised, Raised::Missing(_))
    }

    /// The state to which exits of the path go: before the instruction.
    fn state<'a>(&self, f: &'a Function) -> Option<&'a FrameState> {
        match self.is_call {
            // The state of a call is without the operands that it consumes.
            true => Some(&f.blocks[self.block].entry_state),
            false => f.inst(self.maker).state.map(|state| &f.states[state]),
        }
    }
}

/// The errors that a missing item may be, by the type of the container.
fn missing(container: Type) -> &'static [Missing] {
    let is = |want: Type| !container.is_bottom() && container <= want;
    if is(Type::DICT_EXACT) {
        &[Missing::Key]
    } else if is(Type::LIST_EXACT | Type::TUPLE_EXACT) {
        &[Missing::Index]
    } else {
        // The search checks the class.
        &[Missing::Key, Missing::Index]
    }
}

/// A path on which an exception is not observable.
struct Way {
    start: Start,
    from: Block,
    /// The path's operations without effects, ...
    before: Vec<Value>,
    /// ... and those on references and slots.
    after: Vec<Value>,
    /// Truth values that are known on the path.
    truths: FxHashMap<Value, bool>,
    /// The arguments of the block parameters on the path.
    passed: FxHashMap<Value, Value>,
    /// The block in which the path ends, and the place of the first instruction behind it.
    end: (Block, usize),
    /// True if other paths lead to the end, too.
    is_shared: bool,
}

impl Way {
    fn of(f: &Function, cx: &Context<'_>, from: Block, start: Start) -> Option<Way> {
        let mut walk = Walk {
            f,
            cx,
            block: start.block,
            way: Way {
                from,
                before: Vec::new(),
                after: Vec::new(),
                truths: FxHashMap::default(),
                passed: FxHashMap::default(),
                end: (start.block, 0),
                is_shared: false,
                start,
            },
            exceptions: Vec::new(),
            owners: 0,
            handled_before: None,
            is_popped: false,
            raise: None,
            stores: false,
            blocks: Vec::new(),
        };
        walk.follow()?;
        let Walk {
            mut way, blocks, ..
        } = walk;
        let end = &f.blocks[way.end.0];
        let rest = &end.insts[way.end.1..];
        if way.before.len() + way.after.len() + rest.len() > MOST_COPIED {
            return None;
        }
        // The speculation that failed where the path starts may have been any of those on it.
        let pc = way.start.state(f)?.pc;
        let failed = |v: &Value| {
            let reason = f.op(*v).exit_reason();
            reason.is_some_and(|reason| cx.avoid.contains(&(pc, reason)))
        };
        if way.before.iter().any(failed) {
            return None;
        }
        way.is_shared = way.start.is_missing() || reaches(f, from, way.end.0);
        if way.is_shared {
            let copied: FxHashSet<Value> = [&way.before[..], &way.after, rest]
                .concat()
                .into_iter()
                .collect();
            let stays = matches!(end.term, Term::Jump(_) | Term::Return(_));
            if !stays || is_used_behind(f, &blocks, &copied) {
                return None;
            }
        }
        Some(way)
    }
}

/// Returns true if a path leads to a block that does not take the edges out of another one.
fn reaches(f: &Function, without: Block, target: Block) -> bool {
    let mut seen = FxHashSet::default();
    let mut work = vec![f.entry()];
    while let Some(b) = work.pop() {
        if !seen.insert(b) {
            continue;
        }
        if b == target {
            return true;
        }
        if b != without {
            work.extend(f.blocks[b].term.edges().iter().map(|edge| edge.block));
        }
    }
    false
}

/// Returns true if code behind the last one of a path's blocks names one of the path's values.
fn is_used_behind(f: &Function, path: &[Block], values: &FxHashSet<Value>) -> bool {
    let mut behind = FxHashSet::default();
    let mut work = path.last().copied().into_iter().collect::<Vec<_>>();
    while let Some(b) = work.pop() {
        let next = f.blocks[b].term.edges().into_iter().map(|edge| edge.block);
        // The path itself defines the values again.
        work.extend(next.filter(|b| !path.contains(b) && behind.insert(*b)));
    }
    let mut named = behind.iter().flat_map(|b| f.named_in(*b));
    named.any(|v| values.contains(&f.resolve(v)))
}

/// The walk along a path.
struct Walk<'a> {
    f: &'a Function,
    cx: &'a Context<'a>,
    block: Block,
    way: Way,
    /// Values that are the exception.
    exceptions: Vec<Value>,
    /// The references to it that the path has and has not dropped.
    owners: usize,
    /// The exception that was handled before.
    handled_before: Option<Value>,
    is_popped: bool,
    /// The instruction that raises the exception that a call has made.
    raise: Option<Value>,
    /// True if a slot has changed.
    stores: bool,
    /// The blocks of the path.
    blocks: Vec<Block>,
}

impl Walk<'_> {
    fn follow(&mut self) -> Option<()> {
        let f = self.f;
        if self.way.start.is_call {
            self.exceptions.push(self.way.start.maker);
            self.owners = 1;
            for dropped in consumed(f, self.way.start.maker) {
                if !self.is_kept(dropped) {
                    return None;
                }
            }
        }
        loop {
            if self.blocks.contains(&self.block) {
                return None;
            }
            self.blocks.push(self.block);
            for (i, &v) in f.blocks[self.block].insts.iter().enumerate() {
                if self.is_over() {
                    self.way.end = (self.block, i);
                    return Some(());
                }
                self.pass(v)?;
            }
            if self.is_over() {
                self.way.end = (self.block, f.blocks[self.block].insts.len());
                return Some(());
            }
            let edge = match &f.blocks[self.block].term {
                Term::Jump(edge) => edge,
                Term::Branch { cond, then, els } => match self.truth(*cond)? {
                    true => then,
                    false => els,
                },
                Term::MayRaise { op, next, raised } => {
                    let op = f.resolve(*op);
                    match self.raise == Some(op) {
                        true => raised,
                        false => self.truth(op).map(|_| next)?,
                    }
                }
                _ => return None,
            };
            let params = f.blocks[edge.block].params.iter();
            for (&(param, _), &arg) in params.zip(&edge.args) {
                let arg = self.known(arg);
                if self.is_exception(arg) {
                    self.exceptions.push(param);
                } else if self.handled_before == Some(arg) {
                    return None;
                } else {
                    self.way.passed.insert(param, arg);
                }
            }
            self.block = edge.block;
        }
    }

    /// Returns true behind the last instruction that has to do with the exception.
    fn is_over(&self) -> bool {
        self.is_popped && self.owners == 0
    }

    /// The value that another one is on the path.
    fn known(&self, v: Value) -> Value {
        let v = self.f.resolve(v);
        self.way.passed.get(&v).copied().unwrap_or(v)
    }

    fn truth(&self, v: Value) -> Option<bool> {
        self.way.truths.get(&self.f.resolve(v)).copied()
    }

    fn is_exception(&self, v: Value) -> bool {
        self.exceptions.contains(&self.f.object_of(v))
    }

    /// Returns true if dropping a reference to an object runs no user code where the path starts:
    /// of its class nothing does, or the reference was taken just before.
    fn is_kept(&self, object: Value) -> bool {
        let (f, object) = (self.f, self.known(object));
        if drops_quietly(f.known_type(object)) || !f.drop_runs_host_code(object) {
            return true;
        }
        let object = f.object_of(object);
        let insts = &f.blocks[self.way.from].insts;
        // The maker is the last instruction.
        let before = insts.iter().rev().skip(1);
        before
            .take_while(|v| {
                let op = f.op(**v);
                *op == Op::Incref
                    || op.is_box()
                    || !(op.effects().runs_host_code || op.effects().writes)
            })
            .any(|v| *f.op(*v) == Op::Incref && f.object_of(f.arg(*v, 0)) == object)
    }

    /// One instruction of the path; none if it may observe the exception.
    fn pass(&mut self, v: Value) -> Option<()> {
        let f = self.f;
        let inst = f.inst(v);
        let arg = |i: usize| f.resolve(inst.args[i]);
        let has_exception = inst.args.first().is_some_and(|a| self.is_exception(*a));
        match inst.op {
            Op::General(G::Raise, [1, _]) if has_exception && self.raise.is_none() => {
                self.raise = Some(v);
            }
            Op::General(G::Catch, _) if self.handled_before.is_none() => {
                self.exceptions.push(v);
                self.owners += 1;
            }
            Op::General(G::PushExcInfo, _) if has_exception && self.handled_before.is_none() => {
                self.handled_before = Some(v);
            }
            Op::General(G::PopExcept, _)
                if inst.args.len() == 1 && self.handled_before == Some(arg(0)) =>
            {
                self.is_popped = true;
                self.handled_before = None;
            }
            Op::General(G::CheckExcMatch, _) if has_exception => {
                let matches = self.is_caught_by(arg(1))?;
                self.way.truths.insert(v, matches);
            }
            Op::BoolNot if self.truth(arg(0)).is_some() => {
                let truth = self.truth(arg(0))?;
                self.way.truths.insert(v, !truth);
            }
            Op::Incref if has_exception => self.owners += 1,
            Op::Decref if has_exception => self.owners = self.owners.checked_sub(1)?,
            // The slot is empty or has another object again before the path ends.
            Op::StoreSlot(_) if has_exception => {}
            _ => self.pass_other(v)?,
        }
        Some(())
    }

    /// An instruction that has nothing to do with the exception.
    fn pass_other(&mut self, v: Value) -> Option<()> {
        let f = self.f;
        let inst = f.inst(v);
        let is_its =
            |a: &Value| self.is_exception(*a) || self.handled_before == Some(f.resolve(*a));
        if inst.args.iter().any(is_its) {
            return None;
        }
        match inst.op {
            Op::Incref => self.way.after.push(v),
            Op::StoreSlot(_) => {
                self.stores = true;
                self.way.after.push(v);
            }
            Op::Decref => {
                let object = f.object_of(inst.args[0]);
                let taken =
                    |w: &Value| *f.op(*w) == Op::Incref && f.object_of(f.arg(*w, 0)) == object;
                let is_kept =
                    self.way.after.iter().any(taken) || !self.stores && self.is_kept(object);
                if !is_kept && f.may_run_host_code(v) {
                    return None;
                }
                self.way.after.push(v);
            }
            ref op if op.is_box() => self.way.after.push(v),
            ref op => {
                let effects = op.effects();
                let is_silent = *op == Op::CheckValid
                    || !(effects.writes || effects.runs_host_code || op.gives_owned());
                if !is_silent
                    || inst
                        .args
                        .iter()
                        .any(|a| self.way.after.contains(&f.resolve(*a)))
                {
                    return None;
                }
                self.way.before.push(v);
            }
        }
        Some(())
    }

    /// Whether a clause for a class catches the exception.
    fn is_caught_by(&self, class: Value) -> Option<bool> {
        let Op::Const(class) = *self.f.op(self.f.object_of(class)) else {
            return None;
        };
        let Callee::Exception { missing, .. } = self.cx.world.callee(class) else {
            return None;
        };
        Some(match &self.way.start.raised {
            Raised::Of(bases) => bases.contains(&class),
            Raised::Missing(kind) => missing.contains(kind),
        })
    }
}

/// The objects to which an instruction takes over a reference.
fn consumed(f: &Function, maker: Value) -> Vec<Value> {
    let args = &f.inst(maker).args;
    let taken = f.op(maker).takes_over(args.len());
    let taken = taken.map(|i| f.resolve(args[i]));
    taken.filter(|v| f.counted(*v).is_some()).collect()
}

/// Copies of values and states.
struct Copies<'a> {
    f: &'a mut Function,
    values: FxHashMap<Value, Value>,
    states: FxHashMap<StateId, StateId>,
    insts: Vec<Value>,
}

impl Copies<'_> {
    fn value(&self, v: Value) -> Value {
        let mut v = self.f.resolve(v);
        while let Some(&copy) = self.values.get(&v) {
            v = copy;
        }
        v
    }

    /// Copies an instruction with another state or none.
    fn copy(&mut self, v: Value, state: Option<StateId>) {
        let mut inst = self.f.insts[v].clone();
        inst.args = inst.args.iter().map(|a| self.value(*a)).collect();
        inst.state = state;
        let copy = self.push(inst);
        self.values.insert(v, copy);
        if self.f.relied_on.contains(&v) {
            self.f.relied_on.push(copy);
        }
        if self.f.settled.contains(&v) {
            self.f.settled.insert(copy);
        }
    }

    fn push(&mut self, inst: Inst) -> Value {
        let v = self.f.insts.push(inst);
        self.insts.push(v);
        v
    }

    fn state(&mut self, id: StateId) -> StateId {
        if let Some(copy) = self.states.get(&id) {
            return *copy;
        }
        let mut state = self.f.states[id].clone();
        state.change_values(|v| *v = self.value(*v));
        let copy = self.f.states.push(state);
        self.states.insert(id, copy);
        copy
    }
}

impl Way {
    /// Lets control take the path.
    fn take(self, f: &mut Function) {
        for assumption in &self.start.assumptions {
            f.assume(assumption.clone());
        }
        let maker = self.start.maker;
        let pc = f.insts[maker].pc;
        let dropped = match self.start.is_call {
            true => consumed(f, maker),
            false => Vec::new(),
        };
        let state = self.start.state(f).expect("a path has a state").clone();
        let state = f.states.push(state);
        let mut copies = Copies {
            f,
            values: self.passed.clone(),
            states: FxHashMap::default(),
            insts: Vec::new(),
        };
        for (&v, &truth) in &self.truths {
            let known = Inst::proved(Op::ConstBool(truth), vec![], Type::CBOOL, pc);
            let known = copies.push(known);
            copies.values.insert(v, known);
        }
        for &v in &self.before {
            let state = copies.f.insts[v].state.map(|_| state);
            copies.copy(v, state);
        }
        for object in dropped {
            copies.push(Inst::proved(Op::Decref, vec![object], Type::BOTTOM, pc));
        }
        for &v in &self.after {
            copies.copy(v, None);
        }
        let (end, at) = self.end;
        let rest = copies.f.blocks[end].insts[at..].to_owned();
        for v in rest {
            let state = copies.f.insts[v].state.map(|state| copies.state(state));
            copies.copy(v, state);
        }
        let data = copies.f.blocks[end].clone();
        let mut term = data.term.clone();
        term.change_values(|v| *v = copies.value(*v));
        let mut out_locals = data.out_locals.clone();
        out_locals.iter_mut().for_each(|v| *v = copies.value(*v));
        let Copies { values, insts, .. } = copies;
        if !self.is_shared {
            for (v, copy) in values {
                f.replace(v, copy);
            }
        }
        if self.start.is_missing() {
            let entry = f.blocks[self.start.block].entry_state.clone();
            let quiet = f.blocks.push(BlockData {
                insts,
                term,
                out_locals,
                ..BlockData::new(entry, data.end)
            });
            self.find(f, quiet, pc);
        } else {
            let block = &mut f.blocks[self.from];
            block.insts.pop();
            block.insts.extend(insts);
            block.term = term;
            block.out_locals = out_locals;
            block.end = data.end;
        }
    }

    /// Replaces a subscript by a search, which leads to a block where nothing was found.
    fn find(&self, f: &mut Function, quiet: Block, pc: Pc) {
        let (maker, landing) = (self.start.maker, self.start.block);
        let is_index = matches!(self.start.raised, Raised::Missing(Missing::Index));
        f.insts[maker].op = Op::General(G::FindItem, [is_index.into(), 0]);
        let raised = Op::General(G::IsRaised, [0, 0]);
        let raised = f.insts.push(Inst::proved(raised, vec![], Type::CBOOL, pc));
        let to = |block| Edge {
            block,
            args: Vec::new(),
        };
        let data = &f.blocks[landing];
        let missing = BlockData {
            insts: vec![raised],
            term: Term::Branch {
                cond: raised,
                then: to(landing),
                els: to(quiet),
            },
            out_locals: data.entry_state.locals.clone(),
            ..BlockData::new(data.entry_state.clone(), pc)
        };
        let missing = f.blocks.push(missing);
        if let Term::MayRaise { raised, .. } = &mut f.blocks[self.from].term {
            raised.block = missing;
        }
    }
}
