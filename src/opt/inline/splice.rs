//! The callee's code in place of the call.

use super::plan::{Dominators, Plan, insts, locals_at_end};
use crate::bytecode::Awaited;
use crate::facts::Source;
use crate::hir::{
    Block, BlockData, Edge, Entry, FrameState, Function, InlinedCode, InlinedState, Inst, Op, Pc,
    Place, StateId, Term, Value,
};
use crate::types::{ConstValue, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Carries out a plan. The uses of the call's result still name the call until aliases are applied.
pub(super) fn splice(f: &mut Function, plan: Plan) {
    let call = f.blocks[plan.block].insts[plan.at];
    let pc = plan.waiting.pc;
    if let Some((callable, block, at)) = plan.callable {
        f.blocks[block].insts.remove(at);
        undo(f, plan.block, call, callable);
    }
    for &arg in plan.undone.iter().rev() {
        undo(f, plan.block, call, arg);
    }
    let cells = cells(f, &plan, call);
    let after = cut(f, &plan, call);
    let mut copier = Copier::new(f, &plan, cells, Vec::new());
    let entry = copier.body(after);
    let result = copier.result(after, &plan.body);
    let block = &mut f.blocks[plan.block];
    block.term = Term::Jump(Edge {
        block: entry,
        args: Vec::new(),
    });
    block.end = pc;
    f.replace(call, result);
    adopt(f, &plan);
}

/// The function relies on what the inlined body relies on; its blocks get their order.
pub(super) fn adopt(f: &mut Function, plan: &Plan) {
    for assumption in &plan.body.assumptions {
        f.assume(assumption.clone());
    }
    let start = f.entry();
    f.compute_order(start);
}

/// The cells of the callee's closure, loaded before the call where they are no constants.
pub(super) fn cells(f: &mut Function, plan: &Plan, call: Value) -> Vec<Value> {
    let Some(closure) = &plan.inlinee.closure else {
        return Vec::new();
    };
    let function = f.insts[call].args[0];
    let cells = (0..plan.code.free_count() as i64).map(|number| {
        let mut load = closure.clone();
        load.imms.push(number);
        let op = Op::ClosureCell(load);
        let inst = Inst::proved(op, vec![function], Type::CELL, plan.waiting.pc);
        f.insts.push(inst)
    });
    let cells: Vec<Value> = cells.collect();
    let insts = &mut f.blocks[plan.block].insts;
    let at = insts.iter().position(|v| *v == call);
    let at = at.expect("the call stands in its block");
    insts.splice(at..at, cells.iter().copied());
    cells
}

/// Moves the instructions after the call into a block of their own. The result is not yet on the
/// stack of that block's state.
fn cut(f: &mut Function, plan: &Plan, call: Value) -> Block {
    let (block, waiting) = (plan.block, &plan.waiting);
    let mut state = waiting.clone();
    if !plan.is_operator() {
        state.pc = Pc(waiting.pc.0 + 1);
    }
    let end = f.blocks[block].end;
    let after = f.blocks.push(BlockData::new(state, end));
    let data = &mut f.blocks[block];
    let at = data.insts.iter().position(|v| *v == call);
    let mut rest = data
        .insts
        .split_off(at.expect("the call stands in its block"));
    rest.remove(0);
    let term = std::mem::replace(&mut data.term, Term::Unreachable);
    let out_locals = std::mem::replace(&mut data.out_locals, waiting.locals.clone());
    let term = match term {
        // Nothing raises here any more.
        Term::MayRaise { op, next, .. } if op == call => Term::Jump(next),
        term => term,
    };
    let new = &mut f.blocks[after];
    (new.insts, new.term, new.out_locals) = (rest, term, out_locals);
    after
}

/// The place of the `incref` of an object before a call, if nothing that happens between the two
/// could drop another reference to the object.
pub(super) fn taken_at(f: &Function, block: Block, call: usize, root: Value) -> Option<usize> {
    let insts = &f.blocks[block].insts;
    for at in (0..call).rev() {
        let inst = &f.insts[insts[at]];
        let is_it = || f.object_of(inst.args[0]) == root;
        match inst.op {
            Op::Incref if is_it() => return Some(at),
            Op::Incref => {}
            // The destructor of such an object touches no other object.
            Op::Decref if !f.drop_runs_host_code(inst.args[0]) && !is_it() => {}
            // The virtual object has taken over the reference.
            ref op
                if op.is_virtual_aggregate()
                    && inst.args.iter().any(|a| f.object_of(*a) == root) =>
            {
                return None;
            }
            Op::Param => return None,
            _ => {
                let effects = inst.op.effects();
                if effects.writes || effects.runs_host_code {
                    return None;
                }
            }
        }
    }
    None
}

/// Undoes the `incref` of a value that was passed to the call, and that the caller keeps alive
/// until after the call. If the `incref` can't be removed, a `decref` before the call undoes it.
pub(super) fn undo(f: &mut Function, block: Block, call: Value, v: Value) {
    let root = f.object_of(v);
    let insts = &f.blocks[block].insts;
    let end = insts.iter().position(|i| *i == call);
    let end = end.expect("the call stands in its block");
    if let Some(at) = taken_at(f, block, end, root) {
        let states = insts[at + 1..end].iter().filter_map(|v| f.insts[*v].state);
        let states: BTreeSet<StateId> = states.collect();
        for state in states {
            super::super::refcounts::borrow_in_state(f, state, root);
        }
        f.blocks[block].insts.remove(at);
        return;
    }
    let (state, pc) = (f.insts[call].state, f.insts[call].pc);
    let drop = f.insts.push(Inst {
        op: Op::Decref,
        args: vec![v],
        ty: Type::BOTTOM,
        source: Source::Proved,
        state,
        pc,
    });
    f.blocks[block].insts.insert(end, drop);
}

pub(super) struct Copier<'a> {
    f: &'a mut Function,
    plan: &'a Plan,
    /// The values of the arguments behind the callee's locals: the cells of its closure.
    cells: Vec<Value>,
    /// What a loop around the copy carries: each block of the copy has a parameter for each.
    carried: Vec<(Value, Place)>,
    /// These parameters of each block.
    pub threads: FxHashMap<Block, Vec<Value>>,
    /// A value in the state of the waiting frame that is null while the callee runs.
    pub placeholder: Option<Value>,
    /// The instruction at which a generator begins, if there are some before it, and the state
    /// before the call: an exit at one of them executes the call again.
    pub begins: Option<(Pc, FrameState)>,
    /// The dominators of the callee's blocks.
    idom: Dominators,
    pub values: FxHashMap<Value, Value>,
    pub blocks: FxHashMap<Block, Block>,
    states: FxHashMap<(Block, StateId), StateId>,
    /// The callee's number in the table of inlined code, and the numbers of the functions that are
    /// inlined in the callee.
    code: u32,
    codes: Vec<u32>,
    pub null: Value,
    /// The results that the callee returns.
    results: Vec<Value>,
}

impl<'a> Copier<'a> {
    pub(super) fn new(
        f: &'a mut Function,
        plan: &'a Plan,
        cells: Vec<Value>,
        carried: Vec<(Value, Place)>,
    ) -> Copier<'a> {
        let code = number(
            f,
            InlinedCode {
                function: plan.object,
                code: plan.code.clone(),
            },
        );
        let inner = plan.body.inlined.clone();
        let codes = inner.into_iter().map(|inner| number(f, inner)).collect();
        let null = f.insts.push(Inst::proved(
            Op::Null,
            Vec::new(),
            Type::NULLPTR,
            plan.waiting.pc,
        ));
        Copier {
            f,
            plan,
            cells,
            carried,
            threads: FxHashMap::default(),
            placeholder: None,
            begins: None,
            idom: plan.body.dominators(),
            values: FxHashMap::default(),
            blocks: FxHashMap::default(),
            states: FxHashMap::default(),
            code,
            codes,
            null,
            results: Vec::new(),
        }
    }

    /// Adds parameters to a block for what a loop around the copy carries; returns them.
    pub(super) fn thread(&mut self, block: Block) -> Vec<Value> {
        let mut thread = Vec::with_capacity(self.carried.len());
        for &(value, place) in &self.carried {
            let inst = Inst::proved(
                Op::Param,
                Vec::new(),
                self.f.ty(value),
                self.plan.waiting.pc,
            );
            let param = self.f.insts.push(inst);
            self.f.blocks[block].params.push((param, place));
            thread.push(param);
        }
        self.threads.insert(block, thread.clone());
        thread
    }

    /// The state of the waiting frame in a block of the copy.
    fn waiting(&self, block: Block) -> FrameState {
        let mut state = self.plan.waiting.clone();
        let thread = self.threads.get(&block).filter(|thread| !thread.is_empty());
        if thread.is_some() || self.placeholder.is_some() {
            let f = &self.f;
            state.change_values(|v| {
                let named = f.resolve(*v);
                if self.placeholder == Some(f.object_of(named)) {
                    *v = self.null;
                }
                let mut carried = self.carried.iter().zip(thread.into_iter().flatten());
                if let Some((_, param)) = carried.find(|((value, _), _)| *value == named) {
                    *v = *param;
                }
            });
        }
        state
    }

    /// Copies the body, whose returns jump to `after`. Returns the first block of the copy.
    pub(super) fn body(&mut self, after: Block) -> Block {
        let plan = self.plan;
        let body = &plan.body;
        let pc = plan.waiting.pc;
        // Every value gets its number first: a frame state may name a value that is defined later,
        // as long as no exit needs it.
        for v in body.insts.keys() {
            let new = match body.insts[v].op {
                Op::Arg(k) => {
                    let more = (k as usize).checked_sub(plan.code.locals.len());
                    match more.map(|k| (k, k.checked_sub(plan.code.free_count()))) {
                        Some((_, Some(named))) => plan.named[named],
                        Some((cell, None)) => self.cells[cell],
                        None => plan.args[k as usize],
                    }
                }
                _ => self.f.insts.push(Inst {
                    args: Vec::new(),
                    state: None,
                    pc,
                    ..body.insts[v].clone()
                }),
            };
            self.values.insert(v, new);
        }
        for &b in &body.order {
            let new = self.f.blocks.push(BlockData::new(plan.waiting.clone(), pc));
            let params = body.blocks[b].params.iter();
            let params = params.map(|(p, _)| (self.values[p], Place::Inlined));
            self.f.blocks[new].params = params.collect();
            self.thread(new);
            let state = self.state(&body.blocks[b].entry_state, new);
            let data = &mut self.f.blocks[new];
            data.out_locals = state.locals.clone();
            data.entry_state = state;
            data.is_loop_header = body.blocks[b].is_loop_header;
            self.blocks.insert(b, new);
        }
        let placed: FxHashSet<Value> = insts(body).collect();
        for &b in &body.order {
            for &v in &body.blocks[b].insts {
                let inst = &body.insts[v];
                if matches!(inst.op, Op::Arg(_)) {
                    continue;
                }
                let args = inst.args.iter().map(|a| self.value(*a)).collect();
                let state = inst.state.map(|s| self.state_id(s, self.blocks[&b]));
                let new = self.values[&v];
                self.f.insts[new].args = args;
                self.f.insts[new].state = state;
            }
        }
        let first = self.blocks[&body.order[0]];
        self.f.blocks[first].insts = self.checks(first);
        for &b in &body.order {
            self.block(b, after);
        }
        // Values that are in no block any more were not copied, and no copied instruction relies on
        // them.
        for v in body.relied_on.iter().map(|v| body.resolve(*v)) {
            if placed.contains(&v) || matches!(body.op(v), Op::Arg(_)) {
                self.f.rely_on(self.value(v));
            }
        }
        first
    }

    /// The checks that the host requires. Their exits resume at the callee's start; a generator's
    /// is behind the instruction that creates the generator, with the None that the first `next`
    /// sends, or at the call, if there are instructions before that one.
    fn checks(&mut self, first: Block) -> Vec<Value> {
        let plan = self.plan;
        let mut list = vec![self.null];
        let start = plan.code.resume_points().first().copied();
        let start = start.filter(|_| plan.code.is_generator);
        let stack = start.map(|_| {
            let sent = plan
                .code
                .consts
                .iter()
                .find(|c| c.value == ConstValue::None);
            let sent = sent
                .expect("a generator's code has the constant None")
                .object;
            let ty = Type::from_object(sent);
            let inst = Inst::proved(Op::Const(sent), Vec::new(), ty, plan.waiting.pc);
            list.push(self.f.insts.push(inst));
            let (value, owned) = (list[1], false);
            Entry { value, owned }
        });
        let locals = (0..plan.code.locals.len()).map(|k| Entry {
            value: plan.args.get(k).copied().unwrap_or(self.null),
            owned: !plan.lent[k],
        });
        let locals = locals.chain(plan.function).collect();
        let mut state = self.waiting(first);
        state.inlined = vec![InlinedState {
            code: self.code,
            pc: start.unwrap_or(Pc(0)),
            awaited: plan.awaited,
            locals,
            stack: stack.into_iter().collect(),
        }];
        if let Some((Pc(1..), calling)) = &self.begins {
            state = calling.clone();
        }
        let state = self.f.states.push(state);
        for check in &plan.inlinee.checks {
            list.push(self.f.insts.push(Inst {
                op: Op::CheckThread(check.clone()),
                args: Vec::new(),
                ty: Type::BOTTOM,
                source: Source::Proved,
                state: Some(state),
                pc: plan.waiting.pc,
            }));
        }
        list
    }

    fn block(&mut self, b: Block, after: Block) {
        let body = &self.plan.body;
        let data = &body.blocks[b];
        let new = self.blocks[&b];
        let kept = data.insts.iter().filter(|v| {
            // The callee has no slots, and its arguments are the caller's values.
            !matches!(body.insts[**v].op, Op::Arg(_) | Op::StoreSlot(_))
        });
        let kept: Vec<Value> = kept.map(|v| self.values[v]).collect();
        self.f.blocks[new].insts.extend(kept);
        let term = match &data.term {
            Term::Jump(edge) => Term::Jump(self.edge(edge, new)),
            Term::Branch { cond, then, els } => Term::Branch {
                cond: self.value(*cond),
                then: self.edge(then, new),
                els: self.edge(els, new),
            },
            // A loop does not use what a generator returns: a constant.
            Term::Return(_) if self.plan.code.is_generator => {
                self.drop_locals(b, new);
                Term::Jump(Edge {
                    block: after,
                    args: self.threads[&new].clone(),
                })
            }
            Term::Return(v) => {
                self.drop_locals(b, new);
                let result = self.f.lasting(self.value(*v));
                self.results.push(result);
                Term::Jump(Edge {
                    block: after,
                    args: vec![result],
                })
            }
            Term::MayRaise { .. } | Term::Unreachable => Term::Unreachable,
        };
        self.f.blocks[new].term = term;
    }

    /// Drops the references that the callee's locals own, in the host's order, where the callee's
    /// frame would be deallocated.
    fn drop_locals(&mut self, b: Block, new: Block) {
        let locals = locals_at_end(&self.plan.body, &self.idom, b);
        let mut order: Vec<usize> = (0..locals.len()).collect();
        if self.plan.body.code.last_first {
            order.reverse();
        }
        for k in order {
            let local = locals[k];
            let v = self.value(local);
            if self.plan.lent[k] || *self.f.op(v) == Op::Null {
                continue;
            }
            let waiting = self.waiting(new);
            let state = self.f.states.push(waiting);
            let drop = self.f.insts.push(Inst {
                op: Op::Decref,
                args: vec![v],
                ty: Type::BOTTOM,
                source: Source::Proved,
                state: Some(state),
                pc: self.plan.waiting.pc,
            });
            self.f.blocks[new].insts.push(drop);
        }
    }

    /// The value that replaces the call: the only result, or a parameter of the block after the
    /// call.
    fn result(&mut self, after: Block, body: &Function) -> Value {
        let depth = self.plan.waiting.stack.len() as u32;
        let value = match self.results[..] {
            [only] => {
                for b in body.order.iter().map(|b| self.blocks[b]) {
                    if let Term::Jump(edge) = &mut self.f.blocks[b].term
                        && edge.block == after
                    {
                        edge.args.clear();
                    }
                }
                only
            }
            _ => {
                let types = self.results.iter().map(|v| self.f.ty(*v));
                let param = Inst::proved(
                    Op::Param,
                    Vec::new(),
                    types.fold(Type::BOTTOM, |all, ty| all | ty),
                    self.plan.waiting.pc,
                );
                let param = self.f.insts.push(param);
                let place = match self.plan.awaited {
                    Awaited::Result => Place::Stack(depth),
                    // The caller's instruction continues with it.
                    Awaited::Constructed | Awaited::Operator(_) | Awaited::Item => Place::Inlined,
                };
                self.f.blocks[after].params = vec![(param, place)];
                param
            }
        };
        if self.plan.awaited == Awaited::Result {
            let owned = true;
            let entry = Entry { value, owned };
            self.f.blocks[after].entry_state.stack.push(entry);
        }
        value
    }

    fn value(&self, v: Value) -> Value {
        self.values[&self.plan.body.resolve(v)]
    }

    /// The copy of an edge of the body that leaves the block `from` of the copy.
    fn edge(&self, edge: &Edge, from: Block) -> Edge {
        let args = edge.args.iter().map(|a| self.value(*a));
        let carried = self.threads[&from].iter().copied();
        Edge {
            block: self.blocks[&edge.block],
            args: args.chain(carried).collect(),
        }
    }

    fn state_id(&mut self, id: StateId, block: Block) -> StateId {
        if let Some(known) = self.states.get(&(block, id)) {
            return *known;
        }
        let state = self.state(&self.plan.body.states[id], block);
        let new = self.f.states.push(state);
        self.states.insert((block, id), new);
        new
    }

    /// A state of the callee in a block of the copy, inside the state of the caller's frame, which
    /// waits for it.
    fn state(&self, inner: &FrameState, block: Block) -> FrameState {
        if let Some((begins, calling)) = &self.begins
            && inner.pc.0 < begins.0
        {
            return calling.clone();
        }
        let entry = |e: &Entry| Entry {
            value: self.value(e.value),
            owned: e.owned,
        };
        let locals = inner.locals.iter().enumerate().map(|(k, v)| Entry {
            value: self.value(*v),
            owned: !self.plan.lent[k],
        });
        let mut state = self.waiting(block);
        state.inlined.push(InlinedState {
            code: self.code,
            pc: inner.pc,
            awaited: self.plan.awaited,
            locals: locals.chain(self.plan.function).collect(),
            stack: inner.stack.iter().map(entry).collect(),
        });
        state
            .inlined
            .extend(inner.inlined.iter().map(|frame| InlinedState {
                code: self.codes[frame.code as usize],
                pc: frame.pc,
                awaited: frame.awaited,
                locals: frame.locals.iter().map(entry).collect(),
                stack: frame.stack.iter().map(entry).collect(),
            }));
        state
    }
}

/// The number of a code in the function's table.
fn number(f: &mut Function, code: InlinedCode) -> u32 {
    let known = f.inlined.iter().position(|c| c.function == code.function);
    known.unwrap_or_else(|| {
        f.inlined.push(code);
        f.inlined.len() - 1
    }) as u32
}
