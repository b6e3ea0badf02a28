//! Loops over generators that the function itself creates: `for x in squares(n)`.
//!
//! The generator's body is inlined as the body of a called function is, and in place of its `yield`
//! is the body of the loop: where the generator passes an item, the loop's body begins, and where
//! the loop requests the next item, the generator continues behind its `yield`. So the generator's
//! own loop becomes the loop of both, whose locals travel as values.
//!
//! While the loop's body runs, the generator is a [`Op::VirtualGenerator`] on the operand stack of
//! the frame states: an exit materialises it, suspended. While the generator's body runs, its frame
//! is that of an inlined call for which the loop's instruction waits: an exit materialises a
//! running generator.
//!
//! The generator must be a leaf, as other inlined functions are, with one `yield` and without
//! handlers of its own. It owns its arguments: nothing is borrowed from the caller's frame, since
//! the loop's body may assign to the caller's locals.

use super::plan::{
    Arguments, Bodies, MOST_INSTRS, MOST_SLOTS, Plan, checked, collected, counts_as_code,
    dropped_after, insts, is_quiet, lent_cells, named_values, optimised,
};
use super::splice::{Copier, adopt, cells, undo};
use crate::bytecode::{self, Awaited, Code, GeneralOp, Instr, Operation, Pc, Reason};
use crate::facts::{MOST_INLINED, Source};
use crate::hir::{
    Block, BlockData, Edge, Entry, FrameState, Function, Inst, Op, Place, Term, Value,
};
use crate::host::code_of;
use crate::opt::Context;
use crate::opt::unbox::edge_state;
use crate::types::{ObjectHandle, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::HashSet;
use std::sync::Arc;

/// The most blocks of a generator.
const MOST_BLOCKS: usize = 16;
/// The most instructions of an optimised generator, without constants.
const MOST_INSTS: usize = 96;

/// A loop over a generator, and the code that replaces both the call that creates the generator and
/// the loop's instruction.
pub(super) struct Consumer {
    /// The call, and the frame that waits at the loop's instruction.
    plan: Plan,
    /// The call's value: the generator.
    made: Value,
    /// The place of the generator on the operand stack where an item is requested.
    operand: usize,
    /// The list of the items that a builtin gathers, which is allocated behind the call.
    gathered: Option<Value>,
    /// The instructions behind the call, before the loop, that the loop does not need.
    idle: Vec<Value>,
    /// The loop's header, which requests the next item, and the request.
    header: Block,
    next: Value,
    /// The block that branches on whether there is an item.
    test: Block,
    /// The instruction of the body that passes an item, and its block.
    yields: (Block, Value),
    regions: Regions,
}

/// The blocks behind a loop's header.
struct Regions {
    /// Those that only an item leads to.
    body: FxHashSet<Block>,
    /// Those that only the generator's end leads to.
    out: FxHashSet<Block>,
    /// Those that both lead to: where `break` and the loop's end come together.
    join: FxHashSet<Block>,
    /// The block at which the join is entered, if there is one.
    joined_at: Option<Block>,
}

/// Returns the next loop whose generator is inlined. Calls of which none can be made are added to
/// `refused`.
pub(super) fn next(
    f: &Function,
    cx: &Context<'_>,
    within: &[ObjectHandle],
    bodies: &mut Bodies,
    refused: &mut HashSet<Value>,
) -> Option<Consumer> {
    for &block in &f.order {
        for (at, &call) in f.blocks[block].insts.iter().enumerate() {
            let is_made = matches!(f.insts[call].op, Op::CallDirect(_)) && is_generator(f, call);
            if is_made && refused.insert(call) {
                let found = Consumer::of(f, cx, within, bodies, (block, at));
                if found.is_some() {
                    return found;
                }
            }
        }
    }
    None
}

fn is_generator(f: &Function, v: Value) -> bool {
    let ty = f.ty(v);
    ty <= Type::GEN && !ty.is_bottom()
}

impl Consumer {
    /// The number of instructions that are inserted.
    pub(super) fn size(&self) -> usize {
        self.plan.size
    }

    fn of(
        f: &Function,
        cx: &Context<'_>,
        within: &[ObjectHandle],
        bodies: &mut Bodies,
        (block, at): (Block, usize),
    ) -> Option<Consumer> {
        let made = f.blocks[block].insts[at];
        let inst = &f.insts[made];
        let calling = &f.states[inst.state?];
        let function = f.resolve(inst.args[0]);
        let kin = match *f.op(function) {
            Op::Kin(code) => Some(code),
            _ => None,
        };
        let object = kin.or_else(|| f.ty(function).as_object())?;
        // A failed check of the function's identity does not count where there is none: for a call
        // that was compiled for the code of a function, or of a function that this code makes.
        let is_own =
            matches!(f.op(function), Op::Const(_)) && f.insts[function].source == Source::Proved;
        let failed = |reason: Reason| !((kin.is_some() || is_own) && reason == Reason::Identity);
        let fails = |pc: Pc| {
            cx.avoid
                .iter()
                .any(|(at, reason)| *at == pc && failed(*reason))
        };
        if inst.pc != calling.pc
            || !calling.inlined.is_empty()
            || fails(calling.pc)
            || f.code.instr(calling.pc).op != bytecode::Op::Call
            || within.len() >= MOST_INLINED
            || within.contains(&object)
            || !f.names.is_empty()
        {
            return None;
        }
        let entry = calling.stack.last()?;
        let callable = match entry.owned {
            false => None,
            true => Some(dropped_after(f, block, at, entry.value)?),
        };
        let root = f.object_of(entry.value);
        let is_it = match kin {
            Some(_) => root == f.object_of(function),
            None => matches!(f.op(root), Op::Const(_)),
        };
        if !is_it || callable.is_some_and(|(_, drop, _)| drop != block) {
            return None;
        }

        let Term::Jump(Edge { block: header, .. }) = f.blocks[block].term else {
            return None;
        };
        let request = Request::of(f, header, made)?;
        let waits = &f.states[f.insts[request.next].state?];
        if fails(waits.pc) {
            return None;
        }
        let mut waiting = waits.clone();
        let awaited = awaited(f.code.instr(waits.pc))?;
        // There may be a null above the iterator of a loop.
        let above = match awaited {
            Awaited::Operator(operation) => operation.operands() - 1,
            _ => 0,
        };
        let operand = waiting.stack.len().checked_sub(1 + above)?;
        let top = waiting.stack[operand];
        let root = f.object_of(top.value);
        let gathered = matches!(f.op(root), Op::VirtualChain).then(|| f.object_of(f.arg(root, 0)));
        let consumed = match gathered {
            Some(_) => f.object_of(f.arg(root, 1)),
            None => root,
        };
        if consumed != made || !top.owned || !waiting.inlined.is_empty() {
            return None;
        }

        let idom = f.dominators();
        let is_behind = |mut b: Block| {
            while b != header {
                match idom[b].expand() {
                    Some(up) if up != b => b = up,
                    _ => return false,
                }
            }
            true
        };
        let preds = f.predecessors();
        let outside = preds[header].iter().filter(|b| !is_behind(**b));
        if outside.copied().collect::<Vec<_>>() != [block] {
            return None;
        }
        let regions = Regions::of(f, header, &request, is_behind)?;
        let drop = callable.map(|(_, _, at)| f.blocks[block].insts[at]);
        let idle = idle_behind(f, block, at, made, [drop, gathered])?;
        if !is_consumed_only(f, made, &request, &regions, &idle, block) {
            return None;
        }

        let inlinee = cx.world.inlinee(object)?;
        let code = code_of(&inlinee)?;
        let args = &inst.args[1..];
        if !may_be_inlined(&code) || args.len() != code.arity() as usize {
            return None;
        }
        let (args, classes) = checked(f, block, at, args);
        let known = Arguments {
            types: args.iter().map(|a| f.ty(*a)).collect(),
            classes,
            collected: args.iter().map(|arg| collected(f, *arg)).collect(),
            is_next: false,
        };
        let within = [within, &[object]].concat();
        let named = named_values(f, &args, &known.collected);
        let body = bodies.of((object, known), |known| {
            let cells = kin.is_none().then_some(&inlinee.cells[..]);
            let mut body = optimised(&code, known, cells, cx, &within)?;
            relax_drops(&mut body);
            if is_quiet_body(&body) {
                // The loop has made sure that the unit is valid where it requests an item.
                for b in body.order.clone() {
                    remove(&mut body, b, |op| *op == Op::CheckValid);
                }
            }
            Some(body)
        })?;
        let yields = single_yield(&body)?;
        let size = leaf_size(&body)?;
        let begins = begins_at(&code);
        let n = f.code.instr(calling.pc).arg as usize;
        let is_plain = (n..=n + 1).contains(&args.len()) && named.is_empty();
        if begins != Pc(0) && !(is_plain && may_call_again(&body, begins, args.len())) {
            return None;
        }
        let is_late = begins != Pc(0) && gathered.is_some();
        if is_late && !begins_behind_entry(&body, begins) {
            return None;
        }
        // The place of the running generator has the list of the items that it has passed so far,
        // or nothing.
        waiting.stack[operand] = Entry {
            value: gathered.unwrap_or(made),
            owned: gathered.is_some(),
        };
        let lent = lent_cells(&code);
        Some(Consumer {
            plan: Plan {
                block,
                at,
                waiting,
                callable,
                awaited,
                object,
                function: kin.map(|_| *entry),
                inlinee,
                code,
                body,
                args,
                named,
                lent,
                undone: Vec::new(),
                size,
            },
            made,
            operand,
            gathered,
            idle,
            header,
            next: request.next,
            test: request.test,
            yields,
            regions,
        })
    }
}

/// The use of an item by an instruction that requests it: a loop's, or the call of a builtin.
fn awaited(instr: &Instr) -> Option<Awaited> {
    match instr.op {
        bytecode::Op::ForIter => Some(Awaited::Operator(Operation {
            op: instr.op,
            arg: instr.arg,
            swapped: false,
            flag: instr.arg2 != 0,
        })),
        bytecode::Op::Call => Some(Awaited::Item),
        _ => None,
    }
}

/// The place at which a loop requests an item.
struct Request {
    /// The request.
    next: Value,
    /// The block that branches on its success.
    test: Block,
    /// The edges for an item, and for the end.
    then: Edge,
    els: Edge,
}

impl Request {
    /// The request of a loop's header, if it is for the next item of this generator and if the
    /// header does nothing else.
    fn of(f: &Function, header: Block, made: Value) -> Option<Request> {
        let data = &f.blocks[header];
        let mut insts = data.insts.iter().copied();
        let next = insts.find(|v| *f.op(*v) != Op::VirtualChain)?;
        let is_it = matches!(f.op(next), Op::General(GeneralOp::IterNext, _))
            && f.object_of(f.arg(next, 0)) == made;
        let test = match &data.term {
            Term::MayRaise { op, next: edge, .. } if *op == next => edge.block,
            _ => header,
        };
        let rest = match test == header {
            true => insts.collect(),
            false => f.blocks[test].insts.clone(),
        };
        let is_item = |v: &Value| matches!(f.op(*v), Op::Output(0)) && f.arg(*v, 0) == next;
        let Term::Branch { cond, then, els } = &f.blocks[test].term else {
            return None;
        };
        if !is_it || f.resolve(*cond) != next || !rest.iter().all(is_item) || !data.is_loop_header {
            return None;
        }
        Some(Request {
            next,
            test,
            then: then.clone(),
            els: els.clone(),
        })
    }
}

impl Regions {
    /// The regions behind a header; `None` if the join is entered at several blocks.
    fn of(
        f: &Function,
        header: Block,
        request: &Request,
        is_behind: impl Fn(Block) -> bool,
    ) -> Option<Regions> {
        let reached = |from: Block| {
            let mut seen = FxHashSet::default();
            let mut work = vec![from];
            while let Some(b) = work.pop() {
                if b != header && is_behind(b) && seen.insert(b) {
                    work.extend(f.blocks[b].term.edges().iter().map(|edge| edge.block));
                }
            }
            seen
        };
        let mut body = reached(request.then.block);
        let mut out = reached(request.els.block);
        // The landing block of a request that raises is reached no more.
        let join: FxHashSet<Block> = body.intersection(&out).copied().collect();
        body.retain(|b| !join.contains(b));
        out.retain(|b| !join.contains(b));
        if join.contains(&request.els.block) || join.contains(&request.then.block) {
            return None;
        }
        let preds = f.predecessors();
        let is_entered = |b: &&Block| preds[**b].iter().any(|p| !join.contains(p));
        let entries: Vec<Block> = join.iter().filter(is_entered).copied().collect();
        let joined_at = match entries[..] {
            [] => None,
            [only] => Some(only),
            _ => return None,
        };
        Some(Regions {
            body,
            out,
            join,
            joined_at,
        })
    }
}

/// The instructions between the call and the loop that go with the call: checks that the call has
/// not invalidated the unit. `None` if something there may exit while the generator has not begun,
/// except those `known`: the drop of the callable, and the allocation of the list of the items.
fn idle_behind(
    f: &Function,
    block: Block,
    at: usize,
    made: Value,
    known: [Option<Value>; 2],
) -> Option<Vec<Value>> {
    let mut idle = Vec::new();
    for &v in &f.blocks[block].insts[at + 1..] {
        let names_it = || {
            let state = f.insts[v].state;
            state.is_some_and(|state| f.states[state].values().any(|v| f.object_of(v) == made))
        };
        match f.insts[v].op {
            _ if known.contains(&Some(v)) => {}
            Op::CheckValid => idle.push(v),
            _ if names_it() => return None,
            _ => {}
        }
    }
    Some(idle)
}

/// Returns true if nothing but the loop uses the generator: the request, drops of it behind the
/// header, and the stacks of frame states there.
fn is_consumed_only(
    f: &Function,
    made: Value,
    request: &Request,
    regions: &Regions,
    idle: &[Value],
    before: Block,
) -> bool {
    let is_it = |v: &Value| f.object_of(*v) == made;
    let names_in_locals = |state: &FrameState| state.locals.iter().any(is_it);
    let names_on_stack = |state: &FrameState| state.entries().any(|entry| is_it(&entry.value));
    let header = f
        .order
        .iter()
        .find(|b| f.blocks[**b].insts.contains(&request.next));
    f.order.iter().all(|&b| {
        let data = &f.blocks[b];
        let in_body = regions.body.contains(&b);
        let in_loop = in_body || Some(&b) == header || b == request.test;
        let passes = data
            .term
            .edges()
            .iter()
            .any(|edge| edge.args.iter().any(is_it));
        if passes || data.out_locals.iter().any(is_it) || names_in_locals(&data.entry_state) {
            return false;
        }
        data.insts.iter().all(|&v| {
            let inst = &f.insts[v];
            if idle.contains(&v) || v == made || v == request.next {
                return true;
            }
            let state = inst.state.map(|state| &f.states[state]);
            let named = state.is_some_and(|s| names_in_locals(s) || names_on_stack(s));
            let in_locals = state.is_some_and(names_in_locals);
            let used = inst.args.iter().any(is_it);
            let is_drop = inst.op == Op::Decref;
            // The drop of the callable, before the loop, names it as well.
            !in_locals
                && (!used
                    || is_drop && (in_body || regions.out.contains(&b))
                    || inst.op == Op::VirtualChain && in_loop)
                && (!named || in_loop || b == before)
        })
    })
}

/// Returns true for the code of a generator that nothing but its end and its items concerns: its
/// only handler is the one that makes a `RuntimeError` of a `StopIteration`.
fn may_be_inlined(code: &Code) -> bool {
    let converts = |handler: &bytecode::Handler| {
        let at = handler.target.0 as usize;
        let ops = code.instrs.get(at..at + 2).unwrap_or_default();
        matches!(ops, [a, b] if a.op == bytecode::Op::CallIntrinsic1 && b.op == bytecode::Op::Reraise)
    };
    code.optimized
        && code.is_generator
        && !code.is_coroutine
        && code.handlers.iter().all(converts)
        && code.instrs.len() <= MOST_INSTRS
        && code.locals.len() <= MOST_SLOTS
        && code.stacksize as usize <= MOST_SLOTS
        && !code
            .instrs
            .iter()
            .any(|instr| instr.op == bytecode::Op::MakeCell)
}

/// The only instruction of a body that passes an item, and its block.
fn single_yield(body: &Function) -> Option<(Block, Value)> {
    let mut found = None;
    for &b in &body.order {
        for &v in &body.blocks[b].insts {
            if body.insts[v].op == Op::YieldItem && found.replace((b, v)).is_some() {
                return None;
            }
        }
    }
    let (_, v) = found?;
    let state = &body.states[body.insts[v].state?];
    state.inlined.is_empty().then_some(found?)
}

/// The number of instructions of a generator, if it is a leaf that returns None.
fn leaf_size(body: &Function) -> Option<usize> {
    let entry = &body.blocks[body.entry()];
    if !entry.params.is_empty() || entry.is_loop_header {
        return None;
    }
    let returns_constant = |v: Value| match body.op(v) {
        Op::Const(object) => object.is_immortal(),
        _ => false,
    };
    let ends = body.order.iter().all(|&b| match body.blocks[b].term {
        Term::MayRaise { .. } => false,
        Term::Return(v) => returns_constant(v),
        Term::Jump(_) | Term::Branch { .. } | Term::Unreachable => true,
    });
    let returns = body
        .order
        .iter()
        .any(|&b| matches!(body.blocks[b].term, Term::Return(_)));
    let size = insts(body).filter(|v| counts_as_code(body, *v)).count();
    let fits = body.order.len() <= MOST_BLOCKS && size <= MOST_INSTS;
    (ends && is_quiet_body(body) && returns && fits).then_some(size)
}

/// The instruction that makes the generator; 0 if none before it may exit. The code of a generator
/// expression may make the iterator before it.
fn begins_at(code: &Code) -> Pc {
    let makes = |instr: &Instr| instr.op == bytecode::Op::ReturnGenerator;
    let place = code.instrs.iter().position(makes).unwrap_or(0);
    let is_quiet = |instr: &Instr| instr.op == bytecode::Op::CopyFreeVars;
    match code.instrs[..place].iter().all(is_quiet) {
        true => Pc(0),
        false => Pc(place as u32),
    }
}

/// Returns true if the instructions before the generator begins have only the arguments in their
/// frame where they exit, so that an exit may execute the call again.
fn may_call_again(body: &Function, begins: Pc, arity: usize) -> bool {
    insts(body).all(|v| {
        let Some(state) = body.insts[v].state.map(|state| &body.states[state]) else {
            return true;
        };
        let are_empty = |locals: &[Value]| locals.iter().all(|v| body.ty(*v) <= Type::NULLPTR);
        let has_arguments =
            are_empty(&state.locals[arity..]) && state.stack.iter().all(|e| !e.owned);
        state.pc.0 >= begins.0 || has_arguments
    })
}

/// Returns true if the instructions before the generator begins are all of the first block, and
/// only they.
fn begins_behind_entry(body: &Function, begins: Pc) -> bool {
    let entry = body.entry();
    let are_there = body.order.iter().all(|&b| {
        let states = body.blocks[b]
            .insts
            .iter()
            .filter_map(|v| body.insts[*v].state);
        let pcs = states.map(|state| body.states[state].pc.0);
        pcs.into_iter().all(|pc| (pc < begins.0) == (b == entry))
    });
    are_there && matches!(body.blocks[entry].term, Term::Jump(_))
}

/// Returns true if no instruction of a body runs user code.
fn is_quiet_body(body: &Function) -> bool {
    insts(body).all(|v| match body.insts[v].op {
        Op::YieldItem | Op::CheckQuiet | Op::CheckValid => true,
        _ => is_quiet(body, v) || is_iteration(body, v),
    })
}

/// Removes instructions from a block.
fn remove(body: &mut Function, b: Block, is_it: impl Fn(&Op) -> bool) {
    let insts = std::mem::take(&mut body.blocks[b].insts);
    let kept = insts.into_iter().filter(|v| !is_it(body.op(*v)));
    body.blocks[b].insts = kept.collect();
}

/// Returns true for an instruction of a loop over a range, a list or a tuple, which changes its own
/// iterator only, and for a drop that deallocates nothing. Where it raises, the exit creates the
/// frame that raises.
fn is_iteration(body: &Function, v: Value) -> bool {
    let over = |at| body.ty(body.arg(v, at));
    match *body.op(v) {
        Op::RangeNext | Op::ListIterNext | Op::TupleIterNext | Op::IterEnd => true,
        Op::General(GeneralOp::RangeIter, _) | Op::DropShared => true,
        Op::General(GeneralOp::GetIter, _) => {
            let exact = [Type::LIST_EXACT, Type::TUPLE_EXACT, Type::RANGE];
            exact.iter().any(|ty| over(0) <= *ty)
        }
        _ => false,
    }
}

/// Where the type of a local's old value turns out to be one whose destructor runs no user code, it
/// may be the last reference.
fn relax_drops(body: &mut Function) {
    for v in insts(body).collect::<Vec<_>>() {
        if body.insts[v].op == Op::DropShared && !body.drop_runs_host_code(body.insts[v].args[0]) {
            body.insts[v].op = Op::Decref;
        }
    }
}

/// Makes the block that passes an item end there. Returns the block behind it.
fn split(body: &mut Function, (block, yields): (Block, Value)) -> Block {
    let data = &mut body.blocks[block];
    let at = data.insts.iter().position(|v| *v == yields);
    let rest = data
        .insts
        .split_off(at.expect("the yield is in its block") + 1);
    let term = std::mem::replace(&mut data.term, Term::Unreachable);
    let (end, out_locals) = (data.end, data.out_locals.clone());
    let state = body.insts[yields]
        .state
        .expect("a suspended frame has a state");
    let state = body.states[state].clone();
    body.blocks[block].out_locals = state.locals.clone();
    let behind = body.blocks.push(BlockData {
        insts: rest,
        term,
        out_locals,
        ..BlockData::new(state, end)
    });
    body.blocks[block].term = Term::Jump(Edge {
        block: behind,
        args: Vec::new(),
    });
    let entry = body.entry();
    body.compute_order(entry);
    behind
}

/// Removes checks for pending work from loops in which each iteration passes an item: the consuming
/// loop has such a check.
fn drop_checks(body: &mut Function, block: Block) {
    let idom = body.dominators();
    for b in body.order.clone() {
        let mut up = Some(b);
        while let Some(at) = up.filter(|at| *at != block) {
            up = idom[at].expand().filter(|next| *next != at);
        }
        if up.is_some() && b != block {
            remove(body, b, |op| *op == Op::CheckQuiet);
        }
    }
}

/// Replaces the call and the loop's request by the generator's code.
pub(super) fn splice(f: &mut Function, consumer: Consumer) {
    let Consumer {
        mut plan,
        made,
        operand,
        gathered,
        idle,
        header,
        next,
        test,
        yields,
        regions,
    } = consumer;
    let before = plan.block;
    let mut body = (*plan.body).clone();
    let behind = split(&mut body, yields);
    drop_checks(&mut body, yields.0);
    plan.body = Arc::new(body);

    if let Some((callable, block, at)) = plan.callable.take() {
        f.blocks[block].insts.remove(at);
        // A generator has a reference to its function.
        if plan.function.is_none() {
            undo(f, block, made, callable);
        }
    }
    let cells = cells(f, &plan, made);
    f.blocks[before].insts.retain(|v| !idle.contains(v));

    // There is no generator yet where the list is allocated: if that raises, the call that creates
    // the generator does.
    let begins = begins_at(&plan.code);
    if let Some(list) = gathered.filter(|_| begins == Pc(0)) {
        (f.insts[list].state, f.insts[list].pc) = (f.insts[made].state, f.insts[made].pc);
        let insts = &mut f.blocks[before].insts;
        insts.retain(|v| *v != list);
        let at = insts.iter().position(|v| *v == made);
        insts.insert(at.expect("the call is in its block"), list);
    }

    // What the loop carries travels through the generator's blocks too.
    let carried = f.blocks[header].params.clone();
    let (then, els) = match &f.blocks[test].term {
        Term::Branch { then, els, .. } => (then.clone(), els.clone()),
        _ => unreachable!("the loop branches on whether there is an item"),
    };
    let out = f.blocks.push(BlockData {
        out_locals: f.blocks[test].out_locals.clone(),
        ..BlockData::new(f.blocks[header].entry_state.clone(), plan.waiting.pc)
    });
    // The state before the call has the operands that the call consumes.
    let mut calling = f.states[f.insts[made].state.expect("a call has a state")].clone();
    let given = f.code.instr(calling.pc).arg as usize;
    let mut copier = Copier::new(f, &plan, cells, carried.clone());
    let nothing = copier.null;
    if plan.args.len() == given {
        calling.stack.push(Entry {
            value: nothing,
            owned: false,
        });
    }
    calling.stack.extend(plan.args.iter().map(|arg| Entry {
        value: *arg,
        owned: true,
    }));
    copier.placeholder = Some(made);
    copier.begins = Some((begins, calling));
    let ended = copier.thread(out);
    let entry = copier.body(out);
    let pre = copier.blocks[&yields.0];
    let post = copier.blocks[&behind];
    let passed = copier.values[&yields.1];
    let threads = copier.threads;

    // If exits at the first instructions make the generator again, the list is allocated behind
    // them, and the generator raises if that fails.
    if let Some(list) = gathered.filter(|_| begins != Pc(0)) {
        f.blocks[before].insts.retain(|v| *v != list);
        let target = f.blocks[entry].term.edges()[0].block;
        let id = edge_state(f, entry, 0, target);
        f.states[id].stack[operand] = Entry {
            value: nothing,
            owned: false,
        };
        f.insts[list].state = Some(id);
        f.blocks[entry].insts.push(list);
    }

    // The entry.
    let Term::Jump(edge) = &mut f.blocks[before].term else {
        unreachable!("the loop follows the call");
    };
    edge.block = entry;
    f.blocks[before].insts.retain(|v| *v != made);

    // The item, and the suspended generator.
    let item = f.arg(passed, 0);
    let suspended = suspend(f, pre, passed);
    let parameter = Inst::proved(Op::Param, Vec::new(), f.ty(item), plan.waiting.pc);
    let parameter = f.insts.push(parameter);
    let mut args = threads[&pre].clone();
    args.push(item);
    f.blocks[pre].term = Term::Jump(Edge {
        block: header,
        args,
    });
    let data = &mut f.blocks[header];
    data.params.push((parameter, Place::Inlined));
    data.is_loop_header = false;
    data.insts.retain(|v| *v != next);
    if test != header {
        data.term = Term::Jump(Edge {
            block: test,
            args: Vec::new(),
        });
    }
    let items = f.blocks[test].insts.clone();
    let items = items.into_iter().chain(f.blocks[header].insts.clone());
    let items: Vec<Value> = items
        .filter(|v| *f.op(*v) == Op::Output(0) && f.arg(*v, 0) == next)
        .collect();
    for block in [header, test] {
        f.blocks[block].insts.retain(|v| !items.contains(v));
    }
    for v in items {
        f.replace(v, parameter);
    }
    f.blocks[test].term = Term::Jump(then);

    // The end. Nothing refers to the generator then.
    let data = &mut f.blocks[out];
    data.entry_state.stack.truncate(operand);
    data.entry_state.pc = Pc(plan.waiting.pc.0 + 1);
    data.term = Term::Jump(els);
    if let Some(Entry { value, owned: true }) = plan.function {
        let state = f.states.push(f.blocks[out].entry_state.clone());
        let drop = f.insts.push(Inst {
            state: Some(state),
            ..Inst::proved(Op::Decref, vec![value], Type::BOTTOM, plan.waiting.pc)
        });
        f.blocks[out].insts.push(drop);
    }
    let renamed: FxHashMap<Value, Value> = carried
        .iter()
        .map(|(p, _)| *p)
        .zip(ended.iter().copied())
        .collect();
    rename(f, out, &renamed);
    for &b in &regions.out {
        rename(f, b, &renamed);
        let kept = f.blocks[b].insts.clone();
        let kept = kept.into_iter().filter(|v| {
            !(f.insts[*v].op == Op::Decref && f.object_of(f.insts[*v].args[0]) == made)
        });
        f.blocks[b].insts = kept.collect();
    }
    if let Some(at) = regions.joined_at {
        join(f, at, &regions, &carried, &renamed);
    }

    // The loop's own jumps back.
    for &b in &regions.body {
        for edge in f.blocks[b].term.edges_mut() {
            if edge.block == header {
                edge.block = post;
            }
        }
        drop_in(f, b, made, suspended);
    }
    let loops = [header, test]
        .into_iter()
        .chain(regions.body.iter().copied());
    let places = FxHashMap::from_iter([(made, suspended)]);
    for b in loops.collect::<FxHashSet<_>>() {
        rename(f, b, &places);
    }
    debug_assert!(
        f.insts[nothing].op == Op::Null,
        "the placeholder of a running generator"
    );
    adopt(f, &plan);
}

/// Replaces the passing of an item at the end of a block by the suspended generator.
fn suspend(f: &mut Function, block: Block, passed: Value) -> Value {
    let state = f.insts[passed]
        .state
        .expect("a suspended frame has a state");
    let frame = f.states[state]
        .inlined
        .last()
        .expect("the generator's frame");
    let entries: Vec<Entry> = frame.locals.iter().chain(&frame.stack).copied().collect();
    let op = Op::VirtualGenerator(frame.code, frame.pc.0);
    let pc = f.insts[passed].pc;
    f.blocks[block].insts.retain(|v| *v != passed);
    let mut args = Vec::with_capacity(entries.len());
    for Entry { value, owned } in entries {
        let ty = f.ty(value);
        args.push(if owned || ty <= Type::NULLPTR {
            value
        } else {
            let borrowed = f
                .insts
                .push(Inst::proved(Op::Borrowed, vec![value], ty, pc));
            f.blocks[block].insts.push(borrowed);
            borrowed
        });
    }
    let v = f.insts.push(Inst::proved(op, args, Type::GEN, pc));
    f.blocks[block].insts.push(v);
    v
}

/// Drops what a suspended generator refers to where the loop drops the generator.
fn drop_in(f: &mut Function, b: Block, made: Value, suspended: Value) {
    let old = std::mem::take(&mut f.blocks[b].insts);
    let mut new = Vec::with_capacity(old.len());
    for v in old {
        let inst = &f.insts[v];
        if !(inst.op == Op::Decref && f.object_of(inst.args[0]) == made) {
            new.push(v);
            continue;
        }
        let (state, pc) = (inst.state, inst.pc);
        for item in f.insts[suspended].args.clone() {
            let is_held = !matches!(f.op(item), Op::Borrowed | Op::Null);
            if is_held {
                new.push(f.insts.push(Inst {
                    op: Op::Decref,
                    args: vec![item],
                    ty: Type::BOTTOM,
                    source: Source::Proved,
                    state,
                    pc,
                }));
            }
        }
    }
    f.blocks[b].insts = new;
}

/// Where `break` and the loop's end come together, what the loop carries has two values.
fn join(
    f: &mut Function,
    at: Block,
    regions: &Regions,
    carried: &[(Value, Place)],
    ended: &FxHashMap<Value, Value>,
) {
    let named: FxHashSet<Value> = (regions.join.iter())
        .flat_map(|b| f.named_in(*b).map(|v| f.resolve(v)).collect::<Vec<_>>())
        .collect();
    let mut renamed = FxHashMap::default();
    for &(value, place) in carried.iter().filter(|(value, _)| named.contains(value)) {
        let inst = Inst::proved(Op::Param, Vec::new(), f.ty(value), f.insts[value].pc);
        let param = f.insts.push(inst);
        renamed.insert(value, param);
        f.blocks[at].params.push((param, place));
        for b in f.order.clone() {
            let passed = if regions.join.contains(&b) {
                param
            } else if regions.out.contains(&b) {
                ended[&value]
            } else {
                value
            };
            for edge in f.blocks[b].term.edges_mut() {
                if edge.block == at {
                    edge.args.push(passed);
                }
            }
        }
    }
    for &b in &regions.join {
        rename(f, b, &renamed);
    }
}

/// Renames values in a block.
fn rename(f: &mut Function, b: Block, renamed: &FxHashMap<Value, Value>) {
    let find = |f: &Function, v: Value| {
        let v = f.resolve(v);
        renamed.get(&v).copied().unwrap_or(v)
    };
    for v in f.blocks[b].insts.clone() {
        let args = f.insts[v].args.iter().map(|a| find(f, *a)).collect();
        f.insts[v].args = args;
        if let Some(state) = f.insts[v].state
            && f.states[state].values().any(|v| find(f, v) != v)
        {
            let mut state = f.states[state].clone();
            state.change_values(|v| *v = find(f, *v));
            f.insts[v].state = Some(f.states.push(state));
        }
    }
    let mut data = f.blocks[b].clone();
    data.entry_state.change_values(|v| *v = find(f, *v));
    data.out_locals.iter_mut().for_each(|v| *v = find(f, *v));
    match &mut data.term {
        Term::Branch { cond: v, .. } | Term::Return(v) => *v = find(f, *v),
        Term::MayRaise { .. } | Term::Jump(_) | Term::Unreachable => {}
    }
    for edge in data.term.edges_mut() {
        edge.args.iter_mut().for_each(|v| *v = find(f, *v));
    }
    f.blocks[b] = data;
}
