//! From bytecode to HIR: abstract interpretation of the stack, SSA with block parameters, and the bets that hints
//! suggest, as guards.
//!
//! # Ownership
//! The builder mirrors the interpreter's references. A local's slot owns its object. A stack entry is either owned or
//! borrowed from a local or constant; it becomes owned (`incref`) when that local is overwritten, at the end of a
//! block, and before an operation that may run host code. References are dropped (`decref`) exactly where the
//! interpreter drops them.
//!
//! # Bets
//! Where a hint names a type and the value's type does not prove it, a guard is inserted and the guarded value takes
//! the place of the old one in the whole frame, so that one guard serves all later uses. A bet in the `avoid` set is
//! not made again.

use super::function::{
    BlockData, Edge, Entry, FrameState, Function, Inst, Place, StateId, Term, Value,
};
use super::names::{Names, Plan};
use super::{Block, Op};
use crate::bytecode::{Code, GeneralOp, Op as B, Pc, Reason};
use crate::facts::Source;
use crate::facts::{RawEntry, World};
use crate::types::Type;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Why no HIR was made: what, and the line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// What is not compiled.
    pub what: String,
    /// The source line.
    pub line: u32,
}

/// Where the unit begins, with what is known of the values there.
#[derive(Clone, Debug)]
pub enum Start<'a> {
    /// At the function's start; types of the arguments.
    Function(&'a [Type]),
    /// At the start of a closed unit: what it takes and gives, and where its own function is called.
    Closed(&'a RawEntry),
    /// At an instruction; types of locals and stack entries.
    Loop(Pc, &'a [Type]),
}

/// Limits on what is compiled.
pub const MAX_INSTRS: usize = 12_000;

pub(super) struct Builder<'a> {
    pub(super) f: Function,
    pub(super) code: &'a Code,
    pub(super) world: &'a dyn World,
    pub(super) avoid: &'a HashSet<(Pc, Reason)>,
    pub(super) locals: Vec<Value>,
    pub(super) stack: Vec<Entry>,
    pub(super) pc: Pc,
    pub(super) cur: Block,
    /// The stack at the start of the instruction (after its operands were made owned).
    pub(super) start_stack: Vec<Entry>,
    state: Option<StateId>,
    /// A call-out has happened since the last validity check.
    pub(super) unchecked: bool,
    pub(super) hints: HashMap<Value, Type>,
    pub(super) null: Value,
    blocks: BTreeMap<Pc, Block>,
    pub(super) pred_count: HashMap<Pc, u32>,
    pub(super) headers: HashSet<Pc>,
    /// Where the unit ends and the interpreter goes on.
    ends: HashSet<Pc>,
    entered: HashSet<Block>,
    unchecked_in: HashSet<Block>,
    /// The unit makes its frame, and has looked for pending work then.
    pub(super) enters: bool,
    /// What is known of the namespace's names, in code that has them in registers.
    pub(super) names: Option<Names<'a>>,
    /// For a closed unit: where its own function is called.
    pub(super) closed: Option<&'a RawEntry>,
}

/// Build the HIR of `code` from `start`; with a plan for them, names of its namespace are kept in registers.
///
/// # Errors
/// [`Unsupported`] names the first thing that is not compiled.
pub fn build(
    code: &Arc<Code>,
    start: Start<'_>,
    world: &dyn World,
    avoid: &HashSet<(Pc, Reason)>,
    names: Option<&Plan>,
) -> Result<Function, Unsupported> {
    let refuse = |what: &str| {
        Err(Unsupported {
            what: what.into(),
            line: code.line,
        })
    };
    if code.is_generator {
        return refuse("a generator");
    }
    if code.instrs.len() > MAX_INSTRS {
        return refuse("a function of this size");
    }
    if !matches!(start, Start::Loop(..)) {
        if code.varargs || code.varkeywords || code.kwonly > 0 {
            return refuse("a signature with * or keyword-only parameters");
        }
        if !code.optimized {
            return refuse("module or class code from its start");
        }
    }
    let f = Function::new(code.clone());
    let mut b = Builder {
        f,
        code,
        world,
        avoid,
        locals: Vec::new(),
        stack: Vec::new(),
        pc: Pc(0),
        cur: Block::from_u32(0),
        start_stack: Vec::new(),
        state: None,
        unchecked: false,
        hints: HashMap::new(),
        null: Value::from_u32(0),
        blocks: BTreeMap::new(),
        pred_count: HashMap::new(),
        headers: HashSet::new(),
        ends: HashSet::new(),
        entered: HashSet::new(),
        unchecked_in: HashSet::new(),
        names: names.map(Names::new),
        enters: !matches!(start, Start::Loop(..)),
        closed: match start {
            Start::Closed(own) => Some(own),
            _ => None,
        },
    };
    b.run(start)?;
    let mut f = b.f;
    let entry = f.order[0];
    f.compute_order(entry);
    remove_trivial_params(&mut f);
    f.apply_aliases();
    Ok(f)
}

/// Normal successors of the instruction at `pc`, and whether it can fall through.
pub(super) fn successors(code: &Code, pc: Pc) -> (Vec<Pc>, bool) {
    let instr = code.instr(pc);
    match instr.op {
        B::Jump | B::JumpBackward | B::JumpBackwardNoInterrupt => (vec![Pc(instr.arg)], false),
        B::PopJumpIfFalse
        | B::PopJumpIfTrue
        | B::PopJumpIfNone
        | B::PopJumpIfNotNone
        | B::ForIter => (vec![Pc(pc.0 + 1), Pc(instr.arg)], true),
        B::ReturnValue | B::ReturnConst | B::RaiseVarargs | B::Reraise | B::InterpreterExit => {
            (vec![], false)
        }
        _ => (vec![Pc(pc.0 + 1)], true),
    }
}

impl Builder<'_> {
    fn run(&mut self, start: Start<'_>) -> Result<(), Unsupported> {
        let first = match start {
            Start::Function(_) | Start::Closed(_) => Pc(0),
            Start::Loop(pc, _) => pc,
        };
        let order = self.find_blocks(first)?;
        let entry = self.new_block(false);
        self.f.order = vec![entry];
        self.cur = entry;
        self.pc = first;
        self.null = self.emit(Op::Null, vec![], Type::NULLPTR);
        self.enter(&start);
        self.f.blocks[entry].entry_state = self.frame_state(first);
        self.jump_to(first, false);
        for pc in order {
            self.block(pc)?;
        }
        Ok(())
    }

    /// Leaders reachable from `first`, in reverse postorder.
    fn find_blocks(&mut self, first: Pc) -> Result<Vec<Pc>, Unsupported> {
        // Which instructions are reachable, which start blocks, and how many edges lead to each.
        let n = self.code.instrs.len();
        let mut reachable = vec![false; n];
        let mut leaders: HashSet<Pc> = HashSet::from([first]);
        let mut work = vec![first];
        let inside = self.loop_around(first);
        while let Some(pc) = work.pop() {
            if inside.as_ref().is_some_and(|i| !i.contains(&pc)) {
                self.ends.insert(pc);
                leaders.insert(pc);
                continue;
            }
            if std::mem::replace(&mut reachable[pc.0 as usize], true) {
                continue;
            }
            let (next, _) = successors(self.code, pc);
            if next.iter().any(|t| t.0 as usize >= n) {
                return Err(self.unsupported("a jump outside the code"));
            }
            if next.len() != 1 || next[0] != Pc(pc.0 + 1) {
                leaders.extend(next.iter().copied());
            }
            work.extend(next);
        }
        *self.pred_count.entry(first).or_default() += 1;
        for pc in (0..n as u32).map(Pc).filter(|pc| reachable[pc.0 as usize]) {
            for t in successors(self.code, pc).0 {
                if leaders.contains(&t) {
                    *self.pred_count.entry(t).or_default() += 1;
                }
            }
        }
        // Depth-first for the reverse postorder and the loop headers.
        let block_succ = |from: Pc| {
            let mut pc = from;
            loop {
                let (mut next, _) = successors(self.code, pc);
                if next.len() != 1 || leaders.contains(&next[0]) {
                    next.retain(|t| !self.ends.contains(t));
                    return next;
                }
                pc = next[0];
            }
        };
        let (mut post, mut seen, mut open) =
            (Vec::new(), HashSet::from([first]), HashSet::from([first]));
        let mut stack = vec![(first, block_succ(first), 0)];
        while let Some((pc, succ, i)) = stack.pop() {
            if i < succ.len() {
                let t = succ[succ.len() - 1 - i];
                stack.push((pc, succ, i + 1));
                if seen.insert(t) {
                    open.insert(t);
                    stack.push((t, block_succ(t), 0));
                } else if open.contains(&t) {
                    self.headers.insert(t);
                }
            } else {
                open.remove(&pc);
                post.push(pc);
            }
        }
        post.reverse();
        for &pc in &post {
            let header = self.headers.contains(&pc);
            let block = self.new_block(header);
            self.blocks.insert(pc, block);
        }
        if let Some(names) = &mut self.names {
            self.f.names = names.find_regions(self.code, &post, &self.ends, self.avoid);
        }
        Ok(post)
    }

    /// The instructions of the outermost loop with `first` in it, if what follows it is left to the interpreter: code
    /// that is no function's runs once.
    fn loop_around(&self, first: Pc) -> Option<HashSet<Pc>> {
        if self.code.optimized {
            return None;
        }
        let (mut reached, mut work) = (HashSet::new(), vec![first]);
        let mut before: HashMap<Pc, Vec<Pc>> = HashMap::new();
        while let Some(pc) = work.pop() {
            if pc.0 as usize >= self.code.instrs.len() || !reached.insert(pc) {
                continue;
            }
            for next in successors(self.code, pc).0 {
                before.entry(next).or_default().push(pc);
                work.push(next);
            }
        }
        let (mut inside, mut work) = (HashSet::new(), before.remove(&first)?);
        while let Some(pc) = work.pop() {
            if inside.insert(pc) {
                work.extend(before.get(&pc).into_iter().flatten());
            }
        }
        inside.insert(first);
        Some(inside)
    }

    /// The edge out of what is compiled: a block that leaves.
    fn edge_out(&mut self, pc: Pc) -> Edge {
        let block = self.new_block(false);
        let entry_state = FrameState {
            pc,
            locals: self.locals.clone(),
            stack: self.stack.clone(),
        };
        let state = self.f.states.push(entry_state.clone());
        self.f.blocks[block].entry_state = entry_state;
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

    fn new_block(&mut self, is_loop_header: bool) -> Block {
        self.f.blocks.push(BlockData {
            params: Vec::new(),
            insts: Vec::new(),
            term: Term::Unreachable,
            entry_state: FrameState {
                pc: Pc(0),
                locals: Vec::new(),
                stack: Vec::new(),
            },
            out_locals: Vec::new(),
            is_loop_header,
        })
    }

    /// Values of the frame at the unit's entry, with guards for what is known of them.
    fn enter(&mut self, start: &Start<'_>) {
        let nlocals = self.code.locals.len() as u32;
        let no_names = vec![self.null; self.f.names.len()];
        match *start {
            Start::Function(types) => {
                for k in 0..nlocals {
                    let v = if k < self.code.argcount {
                        self.emit(Op::Arg(k), vec![], Type::OBJECT)
                    } else {
                        self.null
                    };
                    self.locals.push(v);
                }
                self.locals.extend(no_names);
                self.start_instr();
                for (k, &ty) in types.iter().enumerate().take(self.code.argcount as usize) {
                    self.bet_at_entry(self.locals[k], ty);
                }
            }
            Start::Closed(own) => {
                for (k, &kind) in own.signature.params.iter().enumerate() {
                    let raw = self.emit(Op::Arg(k as u32), vec![], kind.raw());
                    let boxed = self.emit(Op::boxing(kind), vec![raw], kind.boxed());
                    self.locals.push(boxed);
                }
                self.locals.resize(nlocals as usize, self.null);
                self.start_instr();
            }
            Start::Loop(_, types) => {
                for k in 0..nlocals {
                    let v = self.emit(Op::LoadSlot(k), vec![], Type::OBJECT.opt());
                    self.locals.push(v);
                }
                self.locals.extend(no_names);
                for k in nlocals..types.len() as u32 {
                    let v = self.emit(Op::LoadSlot(k), vec![], Type::OBJECT.opt());
                    self.stack.push(Entry {
                        value: v,
                        owned: true,
                    });
                }
                self.start_instr();
                for (k, &ty) in types.iter().enumerate() {
                    let k = k as u32;
                    let v = if k < nlocals {
                        self.locals[k as usize]
                    } else {
                        self.stack[(k - nlocals) as usize].value
                    };
                    self.bet_at_entry(v, ty);
                }
            }
        }
    }

    /// A bet on the type of a value at the entry: only on builtin classes, whose objects never change class.
    fn bet_at_entry(&mut self, v: Value, ty: Type) {
        if ty <= Type::NULLPTR {
            return;
        }
        let ty = ty.unspecialized();
        self.hints.insert(v, ty);
        if is_builtin_exact(ty) {
            self.guard_type(v, ty);
        }
    }

    fn block(&mut self, pc: Pc) -> Result<(), Unsupported> {
        let block = self.blocks[&pc];
        if !self.entered.contains(&block) {
            // Reached only by edges that were found dead.
            return Ok(());
        }
        self.cur = block;
        self.locals = self.f.blocks[block].entry_state.locals.clone();
        self.stack = self.f.blocks[block].entry_state.stack.clone();
        self.unchecked = self.unchecked_in.contains(&block);
        self.names_at(block);
        let mut pc = pc;
        loop {
            self.pc = pc;
            self.state = None;
            let instr = self.code.instr(pc);
            if self.unchecked && instr.resumable {
                self.unchecked = false;
                self.start_instr();
                let state = self.state();
                self.emit_with(Op::CheckValid, vec![], Type::BOTTOM, Some(state));
            }
            self.start_instr();
            if instr.is_unreached() && !self.avoid.contains(&(pc, Reason::Unreached)) {
                self.leave_unreached();
                return Ok(());
            }
            let barrier = self.names_before(pc);
            self.start_instr();
            let ended = self.translate(instr)?;
            if ended {
                return Ok(());
            }
            if barrier {
                self.forget_names();
            }
            pc = Pc(pc.0 + 1);
            if self.blocks.contains_key(&pc) || self.is_end(pc) {
                self.jump_to(pc, false);
                return Ok(());
            }
        }
    }

    /// End the block with an exit: what was never executed is not compiled before something is known of it.
    fn leave_unreached(&mut self) {
        let state = self.state();
        let never = self.emit(Op::ConstBool(false), vec![], Type::CBOOL);
        self.emit_with(
            Op::GuardTrue(Reason::Unreached),
            vec![never],
            Type::BOTTOM,
            Some(state),
        );
        self.end_block(Term::Unreachable);
    }

    /// Note the stack as it is at the start of an instruction.
    pub(super) fn start_instr(&mut self) {
        self.state = None;
        self.start_stack = self.stack.clone();
    }

    pub(super) fn unsupported(&self, what: impl Into<String>) -> Unsupported {
        Unsupported {
            what: what.into(),
            line: self
                .code
                .instrs
                .get(self.pc.0 as usize)
                .map_or(0, |i| i.line),
        }
    }

    // ---- emission -----------------------------------------------------------------------------------------------

    pub(super) fn emit_with(
        &mut self,
        op: Op,
        args: Vec<Value>,
        ty: Type,
        state: Option<StateId>,
    ) -> Value {
        let v = self.f.insts.push(Inst {
            op,
            args,
            ty,
            source: Source::Proved,
            state,
            pc: self.pc,
        });
        self.f.blocks[self.cur].insts.push(v);
        v
    }

    pub(super) fn emit(&mut self, op: Op, args: Vec<Value>, ty: Type) -> Value {
        self.emit_with(op, args, ty, None)
    }

    fn frame_state(&self, pc: Pc) -> FrameState {
        FrameState {
            pc,
            locals: self.locals.clone(),
            stack: self.start_stack.clone(),
        }
    }

    /// The state at the start of the current instruction.
    pub(super) fn state(&mut self) -> StateId {
        if let Some(id) = self.state {
            return id;
        }
        let state = self.frame_state(self.pc);
        let id = self.f.states.push(state);
        self.state = Some(id);
        id
    }

    pub(super) fn ty(&self, v: Value) -> Type {
        self.f.ty(v)
    }

    /// Exit unless `v` has type `want`; gives the value to use from here on.
    ///
    /// No guard is made where the type is proved, where it is impossible, or where the bet has failed before.
    pub(super) fn guard_type(&mut self, v: Value, want: Type) -> Value {
        let have = self.ty(v);
        if have <= want || !have.could_be(want) || self.avoid.contains(&(self.pc, Reason::Type)) {
            return v;
        }
        let state = self.state();
        let g = self.emit_with(Op::GuardType(want), vec![v], want, Some(state));
        self.f.insts[g].source = Source::Guarded;
        // The class of an object of a user's class may be assigned, so such a fact does not outlive the instruction.
        if is_builtin_exact(want) {
            self.replace_in_frame(v, g);
        }
        g
    }

    /// A value known to be of type `ty` by the bytecode's own rules.
    pub(super) fn refine(&mut self, v: Value, ty: Type) -> Value {
        if self.ty(v) <= ty {
            return v;
        }
        let r = self.emit(Op::Refine(ty), vec![v], ty);
        self.replace_in_frame(v, r);
        r
    }

    pub(super) fn replace_in_frame(&mut self, old: Value, new: Value) {
        if let Some(&hint) = self.hints.get(&old) {
            self.hints.insert(new, hint);
        }
        self.locals
            .iter_mut()
            .filter(|l| **l == old)
            .for_each(|l| *l = new);
        if let Some(names) = &mut self.names {
            names.replace(old, new);
        }
        self.stack
            .iter_mut()
            .filter(|e| e.value == old)
            .for_each(|e| e.value = new);
        self.start_stack
            .iter_mut()
            .filter(|e| e.value == old)
            .for_each(|e| e.value = new);
    }

    /// Whether a reference is needed to keep the value alive.
    fn is_counted(&self, v: Value) -> bool {
        match self.f.op(v) {
            Op::Null => false,
            // A closed unit holds no references: the program's own cannot go while it runs.
            Op::Const(object) => !object.is_immortal() && self.closed.is_none(),
            _ => !(self.ty(v) <= Type::NULLPTR),
        }
    }

    /// Make the stack entry at `index` owned.
    pub(super) fn own(&mut self, index: usize) {
        let entry = self.stack[index];
        if !entry.owned {
            if self.is_counted(entry.value) {
                self.emit(Op::Incref, vec![entry.value], Type::BOTTOM);
            }
            self.stack[index].owned = true;
        }
    }

    /// Make the top `n` entries owned and restart the instruction's state from there.
    pub(super) fn own_operands(&mut self, n: usize) {
        let len = self.stack.len();
        for i in len - n..len {
            self.own(i);
        }
        self.start_instr();
    }

    pub(super) fn pop(&mut self) -> Entry {
        self.stack
            .pop()
            .expect("verified bytecode does not pop an empty stack")
    }

    pub(super) fn push_owned(&mut self, value: Value) {
        self.stack.push(Entry { value, owned: true });
    }

    pub(super) fn push_borrowed(&mut self, value: Value) {
        self.stack.push(Entry {
            value,
            owned: false,
        });
    }

    /// Take a reference to a borrowed result and push it.
    pub(super) fn push_new_ref(&mut self, value: Value) {
        self.emit(Op::Incref, vec![value], Type::BOTTOM);
        self.push_owned(value);
    }

    /// Drop a popped entry's reference.
    pub(super) fn drop_entry(&mut self, entry: Entry) {
        if entry.owned && self.is_counted(entry.value) {
            self.decref(entry.value);
        }
    }

    pub(super) fn decref(&mut self, v: Value) {
        let state = self.state();
        self.emit_with(Op::Decref, vec![v], Type::BOTTOM, Some(state));
        if self.f.drop_runs_host_code(v) {
            self.unchecked = true;
        }
    }

    /// A general operation on borrowed operands.
    pub(super) fn general(
        &mut self,
        op: GeneralOp,
        imms: [i64; 2],
        args: Vec<Value>,
        ty: Type,
    ) -> Value {
        let state = self.state();
        self.general_at(op, imms, args, ty, state)
    }

    pub(super) fn general_at(
        &mut self,
        op: GeneralOp,
        imms: [i64; 2],
        args: Vec<Value>,
        ty: Type,
        state: StateId,
    ) -> Value {
        if op.info().raises {
            self.unchecked = true;
        }
        self.emit_with(Op::General(op, imms), args, ty, Some(state))
    }

    /// The state for an operation that takes over the references of the top `n` entries.
    pub(super) fn state_without(&mut self, n: usize) -> StateId {
        let mut state = self.frame_state(self.pc);
        let keep = state.stack.len() - n;
        state.stack.truncate(keep);
        self.f.states.push(state)
    }

    /// Replace local `k`: its slot takes over a reference to `v`, and the old object's reference is dropped.
    pub(super) fn set_local(&mut self, k: usize, v: Value) {
        let old = self.locals[k];
        for i in 0..self.stack.len() {
            if self.stack[i].value == old {
                self.own(i);
            }
        }
        self.emit(Op::StoreSlot(k as u32), vec![v], Type::BOTTOM);
        self.locals[k] = v;
        if !matches!(self.f.op(old), Op::Null) {
            // The state for the drop: the slot holds the new value already.
            let mut state = self.frame_state(self.pc);
            let below = self.stack.len().min(state.stack.len());
            state.stack.truncate(below);
            let state = self.f.states.push(state);
            self.emit_with(Op::Decref, vec![old], Type::BOTTOM, Some(state));
            if self.f.drop_runs_host_code(old) {
                self.unchecked = true;
            }
        }
    }

    // ---- control flow -------------------------------------------------------------------------------------------

    /// Make every stack entry owned, as it must be where blocks meet.
    pub(super) fn settle(&mut self) {
        for i in 0..self.stack.len() {
            self.own(i);
        }
    }

    /// The edge to the block at `pc` from the current frame; makes the target's parameters at the first edge.
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
                    *slot = self.param(block, *slot, Place::Local(k as u32));
                }
                for (k, entry) in stack.iter_mut().enumerate() {
                    entry.value = self.param(block, entry.value, Place::Stack(k as u32));
                }
            }
            self.enter_names(block, pc, &mut locals);
            self.f.blocks[block].entry_state = FrameState { pc, locals, stack };
        }
        if self.unchecked {
            self.unchecked_in.insert(block);
        }
        let args = if joins {
            let names = self.name_args(pc);
            self.locals[..self.code.locals.len()]
                .iter()
                .copied()
                .chain(self.stack.iter().map(|e| e.value))
                .chain(names)
                .collect()
        } else {
            Vec::new()
        };
        Edge { block, args }
    }

    pub(super) fn param(&mut self, block: Block, from: Value, place: Place) -> Value {
        let v = self.f.insts.push(Inst {
            op: Op::Param,
            args: vec![],
            ty: Type::OBJECT.opt(),
            source: Source::Proved,
            state: None,
            pc: self.pc,
        });
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
        // Look before the jump, not at its target: that may be a loop's header.
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
        self.f.blocks[self.cur].term = term;
    }
}

/// Whether the type is of one builtin class exactly: objects of such classes never change class.
pub(crate) fn is_builtin_exact(ty: Type) -> bool {
    [
        Type::LONG_EXACT,
        Type::FLOAT_EXACT,
        Type::BOOL,
        Type::NONE_TYPE,
        Type::LIST_EXACT,
        Type::TUPLE_EXACT,
        Type::DICT_EXACT,
        Type::UNICODE_EXACT,
        Type::SET_EXACT,
        Type::BYTES_EXACT,
        Type::RANGE,
        Type::RANGE_ITER,
        Type::LIST_ITER,
        Type::TUPLE_ITER,
    ]
    .iter()
    .any(|t| ty <= *t && !ty.is_bottom())
}

/// Remove block parameters that always get one value (guards and refinements of it, and the parameter itself, count
/// as that value: they are the same object).
pub fn remove_trivial_params(f: &mut Function) {
    fn root(f: &Function, v: Value) -> Value {
        let mut v = f.resolve(v);
        while matches!(
            f.op(v),
            Op::GuardType(_) | Op::GuardIs(_) | Op::GuardBound | Op::Refine(_)
        ) {
            v = f.arg(v, 0);
        }
        v
    }
    let mut changed = true;
    while changed {
        changed = false;
        for b in f.order.clone() {
            let mut index = 0;
            while index < f.blocks[b].params.len() {
                let param = f.blocks[b].params[index].0;
                let mut same: Option<Value> = None;
                let mut exact: Option<Value> = None;
                let mut trivial = true;
                for &p in &f.order {
                    for edge in f.blocks[p].term.edges() {
                        if edge.block != b {
                            continue;
                        }
                        let arg = f.resolve(edge.args[index]);
                        let r = root(f, arg);
                        if r == param {
                            continue;
                        }
                        match same {
                            None => {
                                same = Some(r);
                                exact = Some(arg);
                            }
                            Some(s) if s == r => {
                                if exact != Some(arg) {
                                    exact = Some(r);
                                }
                            }
                            Some(_) => trivial = false,
                        }
                    }
                }
                if let (true, Some(value)) = (trivial, exact) {
                    f.replace(param, value);
                    f.blocks[b].params.remove(index);
                    for p in f.order.clone() {
                        for edge in f.blocks[p].term.edges_mut() {
                            if edge.block == b {
                                edge.args.remove(index);
                            }
                        }
                    }
                    changed = true;
                } else {
                    index += 1;
                }
            }
        }
    }
}
