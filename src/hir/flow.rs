//! The control flow of the bytecode: the instructions that begin blocks, the order in which blocks
//! are built, and the edges between them.

use super::Op;
use super::build::{Builder, Join, Unsupported, is_builtin_exact};
use super::function::{Block, Edge, FrameState, Inst, Place, Term, Value};
use crate::bytecode::{ArgKind, Code, Handler, Op as B, Pc, Reason};
use crate::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// Normal successors of the instruction at `pc`; the flag is true if it can fall through.
pub(super) fn successors(code: &Code, pc: Pc) -> (SmallVec<[Pc; 2]>, bool) {
    let instr = code.instr(pc);
    match instr.op {
        B::Jump | B::JumpBackward | B::JumpBackwardNoInterrupt => (smallvec![Pc(instr.arg)], false),
        B::PopJumpIfFalse
        | B::PopJumpIfTrue
        | B::PopJumpIfNone
        | B::PopJumpIfNotNone
        | B::ForIter
        | B::Send => (smallvec![Pc(pc.0 + 1), Pc(instr.arg)], true),
        B::ReturnValue | B::ReturnConst | B::RaiseVarargs | B::Reraise | B::InterpreterExit => {
            (smallvec![], false)
        }
        // The unit ends here; the instruction after it is another entry.
        B::YieldValue | B::ReturnGenerator => (smallvec![], false),
        _ => (smallvec![Pc(pc.0 + 1)], true),
    }
}

/// For each instruction that may raise: the index of its innermost handler.
pub(super) fn handlers_by_instr(code: &Code) -> Vec<Option<u32>> {
    let mut table = vec![None; code.instrs.len()];
    for (index, handler) in code.handlers.iter().enumerate() {
        let end = (handler.end.0 as usize).min(table.len());
        let start = (handler.start.0 as usize).min(end);
        for (entry, instr) in table[start..end].iter_mut().zip(&code.instrs[start..end]) {
            if instr.op.info().raises {
                *entry = Some(index as u32);
            }
        }
    }
    table
}

impl Builder<'_> {
    /// Normal successors of the instruction at `pc` in this unit. The body of a generator that is
    /// inlined continues behind its `yield`.
    fn successors(&self, pc: Pc) -> (SmallVec<[Pc; 2]>, bool) {
        let suspends = matches!(self.code.instr(pc).op, B::YieldValue | B::ReturnGenerator);
        if suspends && self.inlined.is_some() {
            return (smallvec![Pc(pc.0 + 1)], true);
        }
        successors(self.code, pc)
    }

    /// The innermost handler of the instruction at `pc`, if the instruction may raise at all.
    pub(super) fn handler(&self, pc: Pc) -> Option<&Handler> {
        let index = (*self.handlers.get(pc.0 as usize)?)?;
        Some(&self.code.handlers[index as usize])
    }

    /// Leaders reachable from the places where the unit begins, in reverse postorder.
    pub(super) fn find_blocks(&mut self, firsts: &[Pc]) -> Result<Vec<Pc>, Unsupported> {
        let reach = self.reach(firsts)?;
        self.count_edges(firsts, &reach);
        let successors_of = |from| self.block_successors(from, &reach.leaders);
        let (order, headers) = reverse_postorder(firsts, successors_of);
        let assigned = self.assignments(firsts, &order, &headers, successors_of);
        self.assigned = assigned;
        self.headers = headers;
        for &pc in &order {
            let header = self.headers.contains(&pc);
            let block = self.new_block(header);
            self.blocks.insert(pc, block);
        }
        if let Some(names) = &mut self.names {
            self.f.names = names.find_regions(self.code, &order, &self.ends, self.avoid);
        }
        Ok(order)
    }

    /// The instructions that are reachable from these, and those of them that begin a block.
    fn reach(&mut self, firsts: &[Pc]) -> Result<Reach, Unsupported> {
        let code = self.code;
        let n = code.instrs.len();
        let mut reachable = vec![false; n];
        let mut leaders: FxHashSet<Pc> = firsts.iter().copied().collect();
        let mut work = firsts.to_vec();
        let mut handlers = Vec::new();
        let inside = self.loop_around(firsts[0]);
        // First the instructions that are reached without an exception, then the handlers.
        loop {
            let Some(pc) = work.pop() else {
                if self.expected.is_empty() {
                    self.expected = reachable.clone();
                }
                let Some(target) = handlers.pop() else { break };
                work.push(target);
                continue;
            };
            if inside.as_ref().is_some_and(|i| !i.contains(&pc)) {
                self.ends.insert(pc);
                leaders.insert(pc);
                continue;
            }
            if std::mem::replace(&mut reachable[pc.0 as usize], true) {
                continue;
            }
            let (next, _) = self.successors(pc);
            let handler = self.handler(pc).map(|h| h.target);
            if next.iter().chain(&handler).any(|t| t.0 as usize >= n) {
                return Err(self.unsupported("a jump outside the code"));
            }
            // A jump ends its block even if its target is the next instruction.
            let jumps = code.instr(pc).op.info().arg == ArgKind::Target;
            if jumps || next.len() != 1 || next[0] != Pc(pc.0 + 1) {
                leaders.extend(next.iter().copied());
            }
            leaders.extend(handler);
            work.extend(next);
            handlers.extend(handler);
        }
        Ok(Reach { reachable, leaders })
    }

    /// Counts the edges to each block.
    fn count_edges(&mut self, firsts: &[Pc], reach: &Reach) {
        for &first in firsts {
            *self.pred_count.entry(first).or_default() += 1;
        }
        let all = (0..reach.reachable.len() as u32).map(Pc);
        for pc in all.filter(|pc| reach.reachable[pc.0 as usize]) {
            for t in self.successors(pc).0 {
                if reach.leaders.contains(&t) {
                    *self.pred_count.entry(t).or_default() += 1;
                }
            }
            // Each instruction that may raise brings its own edge.
            if let Some(handler) = self.handler(pc) {
                *self.pred_count.entry(handler.target).or_default() += 2;
            }
        }
    }

    /// The successors of the block that begins here. Handlers are last: they come after the
    /// instructions that they guard.
    fn block_successors(&self, from: Pc, leaders: &FxHashSet<Pc>) -> Vec<Pc> {
        let mut pc = from;
        let mut handlers: Vec<Pc> = Vec::new();
        loop {
            let (mut next, _) = self.successors(pc);
            if let Some(handler) = self.handler(pc)
                && !handlers.contains(&handler.target)
            {
                handlers.push(handler.target);
            }
            if next.len() != 1 || leaders.contains(&next[0]) {
                next.extend(handlers);
                next.retain(|t| !self.ends.contains(t));
                return next.into_vec();
            }
            pc = next[0];
        }
    }

    /// For the head of each loop that is entered from one place outside, and only through its head:
    /// for each local, true if the loop assigns to it. `order` are all blocks in reverse postorder.
    fn assignments(
        &self,
        firsts: &[Pc],
        order: &[Pc],
        headers: &FxHashSet<Pc>,
        successors_of: impl Fn(Pc) -> Vec<Pc>,
    ) -> FxHashMap<Pc, Vec<bool>> {
        let mut found = FxHashMap::default();
        if headers.is_empty() {
            return found;
        }
        let places = order.iter().enumerate();
        let places: FxHashMap<Pc, usize> = places.map(|(place, pc)| (*pc, place)).collect();
        let mut before: FxHashMap<Pc, Vec<Pc>> = FxHashMap::default();
        for &from in order {
            for to in successors_of(from) {
                before.entry(to).or_default().push(from);
            }
        }
        let is_handler = |pc: Pc| self.code.handlers.iter().any(|h| h.target == pc);
        for &header in headers {
            let (back, outside): (Vec<Pc>, Vec<Pc>) = before[&header]
                .iter()
                .partition(|from| places[from] >= places[&header]);
            let begins = usize::from(firsts.contains(&header));
            if outside.len() + begins != 1 || is_handler(header) {
                continue;
            }
            let mut inside = FxHashSet::from_iter([header]);
            let mut work = back;
            let mut is_natural = true;
            while let Some(pc) = work.pop() {
                if inside.insert(pc) {
                    is_natural &= places[&pc] > places[&header] && !firsts.contains(&pc);
                    work.extend(before.get(&pc).into_iter().flatten());
                }
            }
            if is_natural {
                found.insert(header, self.assigned_in(&inside, &places));
            }
        }
        found
    }

    /// For each local, true if one of the blocks assigns to it; `all` are those that begin a block.
    fn assigned_in(&self, blocks: &FxHashSet<Pc>, all: &FxHashMap<Pc, usize>) -> Vec<bool> {
        let mut assigned = vec![false; self.code.locals.len()];
        for &block in blocks {
            let mut pc = block;
            while let Some(instr) = self.code.instrs.get(pc.0 as usize) {
                match instr.op {
                    B::StoreFast | B::DeleteFast | B::LoadFastAndClear | B::MakeCell => {
                        assigned[instr.arg as usize] = true;
                    }
                    B::CopyFreeVars => assigned.fill(true),
                    _ => {}
                }
                pc.0 += 1;
                if all.contains_key(&pc) {
                    break;
                }
            }
        }
        assigned
    }

    /// Returns true if the block at `pc` is the head of a loop that does not assign to the local:
    /// in every iteration the local has the value that it had before the loop.
    fn is_fixed(&self, pc: Pc, local: usize) -> bool {
        self.assigned
            .get(&pc)
            .is_some_and(|assigned| !assigned[local])
    }

    /// The instructions of the outermost loop with `first` in it. None for the code of a function.
    /// Other code (such as a module's) runs once: the instructions behind the loop are left to the
    /// interpreter.
    fn loop_around(&self, first: Pc) -> Option<FxHashSet<Pc>> {
        if self.code.optimized {
            return None;
        }
        let (mut reached, mut work) = (FxHashSet::default(), vec![first]);
        let mut before: FxHashMap<Pc, Vec<Pc>> = FxHashMap::default();
        while let Some(pc) = work.pop() {
            if pc.0 as usize >= self.code.instrs.len() || !reached.insert(pc) {
                continue;
            }
            let raised = self.handler(pc).map(|h| h.target);
            for next in self.successors(pc).0.into_iter().chain(raised) {
                before.entry(next).or_default().push(pc);
                work.push(next);
            }
        }
        let (mut inside, mut work) = (FxHashSet::default(), before.remove(&first)?);
        while let Some(pc) = work.pop() {
            if inside.insert(pc) {
                work.extend(before.get(&pc).into_iter().flatten());
            }
        }
        inside.insert(first);
        Some(inside)
    }

    /// An edge to an instruction that is not compiled: its block exits to the interpreter.
    fn edge_out(&mut self, pc: Pc) -> Edge {
        let block = self.follower();
        self.f.blocks[block].entry_state.pc = pc;
        let state = self.f.blocks[block].entry_state.clone();
        let state = self.f.states.push(state);
        let from = std::mem::replace(&mut self.cur, block);
        let never = self.emit(Op::ConstBool(false), vec![], Type::CBOOL);
        self.emit_with(
            Op::GuardTrue(Reason::NotCompiled),
            vec![never],
            Type::BOTTOM,
            Some(state),
        );
        self.end_block(Term::Unreachable);
        self.cur = from;
        Edge {
            block,
            args: Vec::new(),
        }
    }

    pub(super) fn is_end(&self, pc: Pc) -> bool {
        self.ends.contains(&pc)
    }

    /// Make every stack entry owned, as it must be where blocks join.
    pub(super) fn settle(&mut self) {
        for i in 0..self.stack.len() {
            self.own(i);
        }
    }

    /// The edge to the block at `pc` from the current frame; makes the target's parameters at the
    /// first edge.
    pub(super) fn edge_to(&mut self, pc: Pc) -> Edge {
        if self.is_end(pc) {
            return self.edge_out(pc);
        }
        let block = self.blocks[&pc];
        let joins = self.pred_count[&pc] > 1 || self.headers.contains(&pc);
        if self.entered.insert(block) {
            let (mut locals, mut stack) = (self.locals.clone(), self.stack.clone());
            if joins {
                let real = self.code.locals.len();
                for (k, slot) in locals[..real].iter_mut().enumerate() {
                    if self.is_fixed(pc, k) {
                        continue;
                    }
                    *slot = self.param(block, *slot, Place::Local(k as u32));
                }
                for (k, entry) in stack.iter_mut().enumerate() {
                    entry.value = self.param(block, entry.value, Place::Stack(k as u32));
                }
            }
            self.enter_names(block, pc, &mut locals);
            self.f.blocks[block].entry_state = FrameState {
                pc,
                locals,
                stack,
                inlined: Vec::new(),
            };
        }
        if joins && !self.headers.contains(&pc) && !self.meet_slots(block) {
            return self.edge_out(pc);
        }
        if self.unchecked {
            self.unchecked_in.insert(block);
        }
        let args = if joins {
            let names = self.name_args(pc);
            let locals = (0..self.code.locals.len()).filter(|k| !self.is_fixed(pc, *k));
            let locals = locals.map(|k| self.locals[k]);
            let stack = self.stack.iter().map(|entry| entry.value);
            locals.chain(stack).chain(names).collect()
        } else {
            Vec::new()
        };
        Edge { block, args }
    }

    /// The values of locals and of the stack.
    fn slots(&self) -> impl Iterator<Item = Value> {
        let locals = &self.locals[..self.code.locals.len()];
        let stack = self.stack.iter().map(|e| e.value);
        locals.iter().copied().chain(stack)
    }

    /// Record the values of locals and stack entries on an edge to a block where paths join.
    /// Returns false if the block was built already, and relies on values that this edge does not
    /// have.
    fn meet_slots(&mut self, block: Block) -> bool {
        let now: Vec<Value> = self.slots().collect();
        let f = &self.f;
        let is_same = |known: Value, now: Value| f.object_of(known) == f.object_of(now);
        let Some(join) = self.joins.get_mut(&block) else {
            let join = Join {
                same: now.into_iter().map(Some).collect(),
                paths: 1,
                is_built: false,
            };
            self.joins.insert(block, join);
            return true;
        };
        let mut pairs = join.same.iter_mut().zip(now);
        if join.is_built {
            return pairs.all(|(known, now)| known.is_none_or(|known| is_same(known, now)));
        }
        join.paths += 1;
        for (known, now) in pairs {
            *known = known.filter(|known| is_same(*known, now)).map(|known| {
                match f.resolve(known) == f.resolve(now) {
                    true => known,
                    false => f.object_of(known),
                }
            });
        }
        true
    }

    /// Use, in place of a block's parameters, the values on which all edges to the block agree:
    /// more is known of such a value than of a parameter. Does nothing if some edge is still
    /// missing (a handler may be built before all paths to it).
    pub(super) fn know_slots(&mut self, block: Block, pc: Pc) {
        let all = self.pred_count[&pc];
        let Some(join) = self.joins.get_mut(&block).filter(|join| join.paths >= all) else {
            return;
        };
        join.is_built = true;
        let stack = self.stack.iter_mut().map(|entry| &mut entry.value);
        let locals = self.locals[..self.code.locals.len()].iter_mut();
        for (slot, same) in locals.chain(stack).zip(&join.same) {
            let Some(same) = *same else { continue };
            if let Some(hint) = self.hints.get(slot).copied() {
                self.hints.entry(same).or_insert(hint);
            }
            *slot = same;
        }
    }

    pub(super) fn param(&mut self, block: Block, from: Value, place: Place) -> Value {
        let v = self
            .f
            .insts
            .push(Inst::proved(Op::Param, vec![], Type::OBJECT.opt(), self.pc));
        let hint = self
            .hints
            .get(&from)
            .copied()
            .unwrap_or_else(|| self.ty(from).unspecialized());
        if is_builtin_exact(hint) {
            self.hints.insert(v, hint);
        }
        self.f.blocks[block].params.push((v, place));
        v
    }

    pub(super) fn jump_to(&mut self, pc: Pc, checked: bool) {
        if checked {
            self.unchecked = false;
        }
        self.settle();
        // Check before the jump, not at its target: that may be a loop's header.
        if self.unchecked && self.code.instr(pc).resumable {
            self.unchecked = false;
            self.start_instr();
            let state = self.frame_state(pc);
            let state = self.f.states.push(state);
            self.emit_with(Op::CheckValid, vec![], Type::BOTTOM, Some(state));
        }
        self.carry_names(pc);
        let edge = self.edge_to(pc);
        self.end_block(Term::Jump(edge));
    }

    pub(super) fn end_block(&mut self, term: Term) {
        self.f.blocks[self.cur].out_locals = self.locals.clone();
        self.f.blocks[self.cur].end = self.pc;
        self.f.blocks[self.cur].term = term;
    }
}

/// The code of a unit, for [`find_blocks`](Builder::find_blocks).
struct Reach {
    /// For each instruction, true if it is reachable.
    reachable: Vec<bool>,
    /// The instructions that begin a block.
    leaders: FxHashSet<Pc>,
}

/// The blocks that are reachable from these in reverse postorder, and the heads of loops. Each of
/// the places is the start of a depth-first search; in the order the first of them comes first.
fn reverse_postorder(
    firsts: &[Pc],
    successors_of: impl Fn(Pc) -> Vec<Pc>,
) -> (Vec<Pc>, FxHashSet<Pc>) {
    let (mut post, mut seen, mut open) = (Vec::new(), FxHashSet::default(), FxHashSet::default());
    let mut headers = FxHashSet::default();
    // The blocks on the path from the start: each with its successors, and the number of those that
    // were visited.
    let mut stack: Vec<(Pc, Vec<Pc>, usize)> = Vec::new();
    for &start in firsts.iter().rev() {
        if seen.insert(start) {
            open.insert(start);
            stack.push((start, successors_of(start), 0));
        }
        while let Some((pc, succ, i)) = stack.pop() {
            if i == succ.len() {
                open.remove(&pc);
                post.push(pc);
                continue;
            }
            let t = succ[succ.len() - 1 - i];
            stack.push((pc, succ, i + 1));
            if seen.insert(t) {
                open.insert(t);
                stack.push((t, successors_of(t), 0));
            } else if open.contains(&t) {
                headers.insert(t);
            }
        }
    }
    post.reverse();
    (post, headers)
}
