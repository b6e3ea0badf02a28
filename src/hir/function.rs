//! HIR functions: values, blocks, frame states.

use super::build::is_of_moment;
use super::ops::Op;
use crate::bytecode::{Awaited, Code, Pc};
use crate::facts::{Assumption, Source};
use crate::types::{ObjectHandle, Type};
use cranelift_entity::{
    EntityRef, EntitySet, PrimaryMap, SecondaryMap, entity_impl,
    packed_option::{PackedOption, ReservedValue},
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::ops::{Deref, DerefMut, Index};
use std::sync::Arc;

/// A value, which is the instruction that defines it; printed `v12`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(u32);
entity_impl!(Value, "v");

/// A block, printed `bb3`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block(u32);
entity_impl!(Block, "bb");

/// A frame state, printed `fs5`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(u32);
entity_impl!(StateId, "fs");

/// An entry of the operand stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The value.
    pub value: Value,
    /// True if the stack has a reference of its own (otherwise it is borrowed from a local or a
    /// constant).
    pub owned: bool,
}

/// The values of the locals at some place. Most places share one list with those before and behind
/// them; the list is copied where one of them changes.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Locals(Arc<[Value]>);

impl Locals {
    /// Returns true if both are one list.
    fn is_shared(&self, other: &Locals) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Neighbouring lists of locals that change alike: the last one, before and after its change.
#[derive(Default)]
struct FixedLocals(Option<(Locals, Locals)>);

impl FixedLocals {
    fn fix_state(&mut self, state: &mut FrameState, find: impl Fn(Value) -> Value) {
        self.fix(&mut state.locals, &find);
        state.change_entries(|v| *v = find(*v));
    }

    fn fix(&mut self, locals: &mut Locals, find: impl Fn(Value) -> Value) {
        if let Some((was, is)) = &self.0
            && locals.is_shared(was)
        {
            locals.clone_from(is);
            return;
        }
        if let Some(values) = Arc::get_mut(&mut locals.0) {
            values.iter_mut().for_each(|v| *v = find(*v));
            return;
        }
        let was = locals.clone();
        if locals.iter().any(|v| find(*v) != *v) {
            *locals = locals.iter().map(|v| find(*v)).collect();
        }
        self.0 = Some((was, locals.clone()));
    }
}

impl Deref for Locals {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl DerefMut for Locals {
    fn deref_mut(&mut self) -> &mut [Value] {
        Arc::make_mut(&mut self.0)
    }
}

impl<'a> IntoIterator for &'a Locals {
    type Item = &'a Value;
    type IntoIter = std::slice::Iter<'a, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Vec<Value>> for Locals {
    fn from(values: Vec<Value>) -> Locals {
        Locals(values.into())
    }
}

impl FromIterator<Value> for Locals {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Locals {
        Locals(values.into_iter().collect())
    }
}

/// The state that the interpreter needs to continue at an instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct FrameState {
    /// The instruction.
    pub pc: Pc,
    /// The locals; after them, for each of the function's [`Function::names`], the C value that the
    /// namespace does not hold yet, or null.
    pub locals: Locals,
    /// The operand stack from the bottom.
    pub stack: Vec<Entry>,
    /// The frames of inlined calls that run within this one, outermost first. If there are some,
    /// this frame waits at its instruction, a call, and the stack is without the operands that the
    /// call consumes.
    pub inlined: Vec<InlinedState>,
}

/// The state of the frame of an inlined call, which the interpreter needs and the unit does not
/// allocate.
#[derive(Clone, PartialEq, Debug)]
pub struct InlinedState {
    /// The frame's code: a number in [`Function::inlined`].
    pub code: u32,
    /// The instruction; of a frame that is not the innermost, the call at which it waits.
    pub pc: Pc,
    /// The call that the frame before it waits for.
    pub awaited: Awaited,
    /// The locals, and behind them the function, where the [table](Function::inlined) has a code
    /// and no function. There are no slots: an entry records whether the frame has a reference of
    /// its own.
    pub locals: Vec<Entry>,
    /// The operand stack from the bottom; of a frame that waits, without the operands that the call
    /// consumes ([`Awaited`]).
    pub stack: Vec<Entry>,
}

impl FrameState {
    /// Every value that the state names.
    pub fn values(&self) -> impl Iterator<Item = Value> + '_ {
        let entries = self.entries().map(|entry| entry.value);
        self.locals.iter().copied().chain(entries)
    }

    /// Every entry with its own flag for a reference: the stack's, then those of inlined frames.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        let inlined = self.inlined.iter();
        let entries = inlined.flat_map(|frame| frame.locals.iter().chain(&frame.stack));
        self.stack.iter().chain(entries)
    }

    /// As [`FrameState::entries`], to change.
    pub fn entries_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        let inlined = self.inlined.iter_mut();
        let entries = inlined.flat_map(|frame| frame.locals.iter_mut().chain(&mut frame.stack));
        self.stack.iter_mut().chain(entries)
    }

    /// Let `change` change every value that the state names.
    pub fn change_values(&mut self, change: impl Fn(&mut Value)) {
        self.locals.iter_mut().for_each(&change);
        self.change_entries(change);
    }

    /// The same, but for the locals.
    fn change_entries(&mut self, change: impl Fn(&mut Value)) {
        self.stack
            .iter_mut()
            .for_each(|entry| change(&mut entry.value));
        for frame in &mut self.inlined {
            let entries = frame.locals.iter_mut().chain(&mut frame.stack);
            entries.for_each(|entry| change(&mut entry.value));
        }
    }
}

/// Code that was inlined: a user function that is watched, and its bytecode.
#[derive(Clone, PartialEq, Debug)]
pub struct InlinedCode {
    /// The function; or its code, where many functions share it (the operation `kin` of HIR).
    pub function: ObjectHandle,
    /// Its bytecode.
    pub code: Arc<Code>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Inst {
    /// The op.
    pub op: Op,
    /// Operands.
    pub args: Vec<Value>,
    /// The result's type (`Bottom` if there is none).
    pub ty: Type,
    /// The source of the type.
    pub source: Source,
    /// For ops that may exit, raise or run host code: the state before the bytecode instruction.
    pub state: Option<StateId>,
    /// The bytecode instruction.
    pub pc: Pc,
}

impl Inst {
    /// An instruction without a frame state, whose type is proved.
    pub fn proved(op: Op, args: Vec<Value>, ty: Type, pc: Pc) -> Inst {
        Inst {
            op,
            args,
            ty,
            source: Source::Proved,
            state: None,
            pc,
        }
    }
}

/// A block and the values for its parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Edge {
    /// The target.
    pub block: Block,
    /// One value for each parameter.
    pub args: Vec<Value>,
}

/// The terminator of a block.
#[derive(Clone, PartialEq, Debug)]
pub enum Term {
    /// Jump.
    Jump(Edge),
    /// Branch on a C truth value.
    Branch {
        /// The condition.
        cond: Value,
        /// If the condition holds.
        then: Edge,
        /// If not.
        els: Edge,
    },
    /// The block's last instruction may raise, in the range of a handler. If it does not, control
    /// continues in `next`; if it does, in its landing block. Neither has another predecessor.
    /// Neither edge carries values, and an instruction that has raised has no value.
    MayRaise {
        /// The instruction.
        op: Value,
        /// The block behind it.
        next: Edge,
        /// The landing block.
        raised: Edge,
    },
    /// Return the object (owned).
    Return(Value),
    /// The operation before never returns normally.
    Unreachable,
}

impl Term {
    /// The edges out.
    pub fn edges(&self) -> SmallVec<[&Edge; 2]> {
        match self {
            Term::Jump(e) => smallvec![e],
            Term::Branch { then, els, .. } => smallvec![then, els],
            Term::MayRaise { next, raised, .. } => smallvec![next, raised],
            _ => smallvec![],
        }
    }

    /// The edges out, to change.
    pub fn edges_mut(&mut self) -> SmallVec<[&mut Edge; 2]> {
        match self {
            Term::Jump(e) => smallvec![e],
            Term::Branch { then, els, .. } => smallvec![then, els],
            Term::MayRaise { next, raised, .. } => smallvec![next, raised],
            _ => smallvec![],
        }
    }

    /// Let `change` change every value that the terminator names.
    pub fn change_values(&mut self, change: impl Fn(&mut Value)) {
        match self {
            Term::Branch { cond: v, .. } | Term::MayRaise { op: v, .. } | Term::Return(v) => {
                change(v);
            }
            Term::Jump(_) | Term::Unreachable => {}
        }
        for edge in self.edges_mut() {
            edge.args.iter_mut().for_each(&change);
        }
    }
}

/// The predecessors of each block: a row for each, with one entry an edge, in the order of the
/// blocks.
#[derive(Debug)]
pub struct Predecessors {
    from: Vec<Block>,
    /// The end of the row before a block's, and of its own.
    ends: Vec<usize>,
}

impl Index<Block> for Predecessors {
    type Output = [Block];

    fn index(&self, block: Block) -> &[Block] {
        let i = block.index();
        &self.from[self.ends[i]..self.ends[i + 1]]
    }
}

/// The place of the interpreter's frame that a block parameter represents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A local.
    Local(u32),
    /// A stack entry.
    Stack(u32),
    /// A C truth value: a raw local is bound.
    Bound(u32),
    /// A name of the namespace.
    Name(u32),
    /// None: a number that a transformed loop carries between iterations.
    Carried,
    /// A place in the frame of an inlined call: always an object, with a reference of its own.
    Inlined,
    /// None: a field of a virtual object, with a reference of its own.
    Field,
}

/// A block.
#[derive(Clone, Debug)]
pub struct BlockData {
    /// Parameters and their places.
    pub params: Vec<(Value, Place)>,
    /// Instructions in order.
    pub insts: Vec<Value>,
    /// The terminator.
    pub term: Term,
    /// The state at the start of the block (for checks put on edges into it).
    pub entry_state: FrameState,
    /// The locals at the end.
    pub out_locals: Locals,
    /// The bytecode instruction that ends the block.
    pub end: Pc,
    /// True if a back edge leads here.
    pub is_loop_header: bool,
}

impl BlockData {
    /// A block without instructions and successors, for the instruction `end`.
    pub fn new(entry_state: FrameState, end: Pc) -> BlockData {
        BlockData {
            params: Vec::new(),
            insts: Vec::new(),
            term: Term::Unreachable,
            entry_state,
            out_locals: Locals::default(),
            end,
            is_loop_header: false,
        }
    }
}

/// A check, a side of a branch or a type that was removed because no path fails it, takes it or has
/// it; or a join that was split because several paths do; with the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proved {
    /// The bytecode instruction.
    pub pc: Pc,
    /// The instruction that was removed.
    pub what: String,
    /// The queries about paths, as text: those whose path was infeasible, or, at a split join,
    /// feasible.
    pub why: String,
}

/// A function in HIR.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its bytecode.
    pub code: Arc<Code>,
    /// Instructions by value.
    pub insts: PrimaryMap<Value, Inst>,
    /// Blocks.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// Reachable blocks in reverse postorder; the first is the entry.
    pub order: Vec<Block>,
    /// Frame states.
    pub states: PrimaryMap<StateId, FrameState>,
    /// The assumptions that the host must watch.
    pub assumptions: Vec<Assumption>,
    /// Values whose types were used by code that does not name them: their guards must stay.
    pub relied_on: Vec<Value>,
    /// Names of the namespace that frame states may have values for: indexes in the code's names,
    /// ascending.
    pub names: Vec<u32>,
    /// Names that did not stay numbers of one class.
    pub unsteady_names: Vec<u32>,
    /// Instructions that may run user code at a point where the namespace has the values of all
    /// names.
    pub settled: FxHashSet<Value>,
    /// Guards that are known to hold and that test this knowledge: if one fails, the process ends.
    pub asserted: FxHashSet<Value>,
    /// For each store that overwrites a known value: the load that read this value from the same
    /// place.
    pub taken_out: FxHashMap<Value, Value>,
    /// The instructions that were removed by reasoning about paths.
    pub proved: Vec<Proved>,
    /// Instructions that were translated together with the one before them, as pairs of the first
    /// and the second.
    pub fused: Vec<(Pc, Pc)>,
    /// The code that was inlined, by the numbers that frame states have for it.
    pub inlined: Vec<InlinedCode>,
    aliases: SecondaryMap<Value, PackedOption<Value>>,
}

/// Returns true if the destructor of an object of this type runs no user code, whatever its
/// contents.
pub(crate) fn drops_quietly(ty: Type) -> bool {
    let quiet = Type::LONG_EXACT
        | Type::FLOAT_EXACT
        | Type::BOOL
        | Type::UNICODE_EXACT
        | Type::BYTES_EXACT
        | Type::NONE_TYPE
        | Type::RANGE
        | Type::RANGE_ITER
        | Type::NULLPTR
        | Type::PRIMITIVE;
    ty.unspecialized() <= quiet
}

impl Function {
    /// A function without blocks.
    pub fn new(code: Arc<Code>) -> Function {
        // Roughly the size of a function: growing the table would move all instructions, which
        // takes a good part of the time to build.
        let size = code.instrs.len();
        Function {
            insts: PrimaryMap::with_capacity(7 * size),
            states: PrimaryMap::with_capacity(3 * size),
            code,
            blocks: PrimaryMap::new(),
            order: Vec::new(),
            assumptions: Vec::new(),
            relied_on: Vec::new(),
            names: Vec::new(),
            unsteady_names: Vec::new(),
            settled: FxHashSet::default(),
            asserted: FxHashSet::default(),
            taken_out: FxHashMap::default(),
            proved: Vec::new(),
            fused: Vec::new(),
            inlined: Vec::new(),
            aliases: SecondaryMap::new(),
        }
    }

    /// The entry block.
    pub fn entry(&self) -> Block {
        self.order[0]
    }

    /// Returns true if the bytecode instruction jumps back (and so checks for pending work).
    pub fn is_back_edge(&self, pc: Pc) -> bool {
        self.code.instr(pc).op == crate::bytecode::Op::JumpBackward
    }

    /// The value that replaces `v`, or `v`.
    pub fn resolve(&self, mut v: Value) -> Value {
        while let Some(next) = self.aliases[v].expand() {
            v = next;
        }
        v
    }

    /// Returns true if some value replaces another one that uses still name.
    pub fn has_aliases(&self) -> bool {
        self.aliases.values().len() > 0
    }

    /// Replaces `old` by `new` everywhere.
    pub fn replace(&mut self, old: Value, new: Value) {
        let (old, new) = (self.resolve(old), self.resolve(new));
        if old != new {
            self.aliases[old] = new.into();
        }
    }

    /// Rely on a fact that the host watches.
    pub fn assume(&mut self, assumption: Assumption) {
        if !self.assumptions.contains(&assumption) {
            self.assumptions.push(assumption);
        }
    }

    /// Keep the checks from which the type of `v` follows: a fact was derived from it that does not
    /// use `v`. An argument has no checks here, but may have some where the function is inlined.
    pub fn rely_on(&mut self, v: Value) {
        let v = self.resolve(v);
        let op = &self.insts[v].op;
        if !matches!(op, Op::Const(_) | Op::Null) && !op.is_box() {
            self.relied_on.push(v);
        }
    }

    /// The instruction of a value (resolved).
    pub fn inst(&self, v: Value) -> &Inst {
        &self.insts[self.resolve(v)]
    }

    /// The op of a value.
    pub fn op(&self, v: Value) -> &Op {
        &self.inst(v).op
    }

    /// The type of a value.
    pub fn ty(&self, v: Value) -> Type {
        self.inst(v).ty
    }

    /// Operand `i` of a value, resolved.
    pub fn arg(&self, v: Value, i: usize) -> Value {
        self.resolve(self.inst(v).args[i])
    }

    /// The value without the checks that are only valid until user code runs.
    pub(crate) fn lasting(&self, v: Value) -> Value {
        let mut v = self.resolve(v);
        while matches!(self.op(v), Op::GuardType(_) | Op::Refine(_)) && is_of_moment(self.ty(v)) {
            v = self.arg(v, 0);
        }
        v
    }

    /// The value without guards and refinements: the same object.
    pub fn object_of(&self, v: Value) -> Value {
        let mut v = self.resolve(v);
        loop {
            let inst = &self.insts[v];
            if !inst.op.gives_operand() {
                return v;
            }
            v = self.resolve(inst.args[0]);
        }
    }

    /// The value, then the operand of which it is a check or refinement, and so on, down to its
    /// [`object_of`](Self::object_of).
    pub(crate) fn checks_of(&self, v: Value) -> impl Iterator<Item = Value> + '_ {
        std::iter::successors(Some(self.resolve(v)), |v| {
            let inst = &self.insts[*v];
            inst.op.gives_operand().then(|| self.resolve(inst.args[0]))
        })
    }

    /// The type of an object: by a check of it, and by its definition.
    pub(crate) fn known_type(&self, v: Value) -> Type {
        self.ty(v) & self.ty(self.object_of(v))
    }

    /// Returns true if an instruction is a check that fails by the type of its operand: nothing
    /// behind it is executed.
    pub(crate) fn always_fails(&self, v: Value) -> bool {
        let known = || self.known_type(self.arg(v, 0));
        match self.op(v) {
            Op::GuardType(ty) => !known().could_be(*ty),
            Op::GuardBound => known() <= Type::NULLPTR,
            Op::UnboxNumber => !known().could_be(Type::FLOAT_EXACT | Type::LONG_EXACT),
            Op::GuardIs(object) => !known().could_be(Type::from_object(*object)),
            _ => false,
        }
    }

    /// The values that an instruction and its frame state name; not resolved.
    pub fn named_by(&self, v: Value) -> impl Iterator<Item = Value> + '_ {
        let inst = &self.insts[v];
        let state = inst.state.map(|state| &self.states[state]);
        let state = state.into_iter().flat_map(FrameState::values);
        inst.args.iter().copied().chain(state)
    }

    /// The values that a block names in its instructions, its entry state and its terminator; not
    /// resolved.
    pub fn named_in(&self, b: Block) -> impl Iterator<Item = Value> + '_ {
        let data = &self.blocks[b];
        let last = match data.term {
            Term::Branch { cond: v, .. } | Term::Return(v) => Some(v),
            _ => None,
        };
        let insts = data.insts.iter().flat_map(|v| self.named_by(*v));
        let ends = data.entry_state.values().chain(last);
        let passed = data.term.edges().into_iter().flat_map(|edge| &edge.args);
        insts
            .chain(ends)
            .chain(data.out_locals.iter().chain(passed).copied())
    }

    /// Returns true if `order` has the successors of all its blocks.
    fn is_ordered(&self) -> bool {
        let known: FxHashSet<Block> = self.order.iter().copied().collect();
        let edges = self.order.iter().flat_map(|b| self.blocks[*b].term.edges());
        edges.into_iter().all(|edge| known.contains(&edge.block))
    }

    /// Writes the aliases into every use in the blocks of `order`, which must have all reachable
    /// ones, and forgets them. If an instruction that might have raised was replaced by others, its
    /// block no longer ends with a raise.
    pub fn apply_aliases(&mut self) {
        if !self.has_aliases() {
            self.relied_on_once();
            return;
        }
        debug_assert!(
            self.is_ordered(),
            "a block that can be reached is not in the order"
        );
        // Many frame states name the same value, so each value is resolved once.
        let mut resolved: Vec<Value> = self.insts.keys().collect();
        for (v, alias) in self.aliases.iter() {
            if let Some(alias) = alias.expand() {
                resolved[v.index()] = self.resolve(alias);
            }
        }
        self.aliases = SecondaryMap::new();
        let find = |v: Value| resolved[v.index()];
        let mut lists = FixedLocals::default();
        // Instructions that share a state are next to each other.
        let mut fixed = None;
        let mut fewer_edges = false;
        for &b in &self.order {
            let block = &mut self.blocks[b];
            lists.fix_state(&mut block.entry_state, find);
            // Most instructions that were ever created are no longer in a block: their operands are
            // not read.
            block.insts.retain(|v| find(*v) == *v);
            for &v in &block.insts {
                let inst = &mut self.insts[v];
                inst.args.iter_mut().for_each(|a| *a = find(*a));
                if let Some(state) = inst.state.filter(|state| fixed != Some(*state)) {
                    lists.fix_state(&mut self.states[state], find);
                    fixed = Some(state);
                }
            }
            lists.fix(&mut block.out_locals, find);
            if let Term::MayRaise { op, next, .. } = &block.term
                && find(*op) != *op
            {
                block.term = Term::Jump(next.clone());
                fewer_edges = true;
            }
            block.term.change_values(|v| *v = find(*v));
        }
        self.relied_on.iter_mut().for_each(|v| *v = find(*v));
        self.relied_on_once();
        self.taken_out.values_mut().for_each(|v| *v = find(*v));
        if fewer_edges {
            let entry = self.entry();
            self.compute_order(entry);
        }
    }

    fn relied_on_once(&mut self) {
        let mut seen = FxHashSet::default();
        self.relied_on.retain(|v| seen.insert(*v));
    }

    /// Returns true if dropping a reference to `v` may run user code.
    pub fn drop_runs_host_code(&self, v: Value) -> bool {
        let inst = self.inst(v);
        if matches!(inst.op, Op::StoreQuiet(_) | Op::Held | Op::IterEnd) {
            return false;
        }
        // The code object keeps its constants alive; an assumed object may lose all other
        // references.
        let held =
            matches!(inst.op, Op::Const(o) if o.is_immortal() || inst.source == Source::Proved);
        !drops_quietly(self.ty(v)) && !held
    }

    /// The drops in some blocks after which the unit exits if they have run user code: those
    /// followed by a [`CheckUnseen`](Op::CheckUnseen), with only other such drops between.
    pub fn unseen_drops(&self, blocks: &[Block]) -> EntitySet<Value> {
        let mut drops = EntitySet::new();
        let mut group = Vec::new();
        for &b in blocks {
            group.clear();
            for &v in &self.blocks[b].insts {
                match self.op(v) {
                    Op::Refine(_) | Op::Held | Op::Kin(_) | Op::StoreSlot(_) => {}
                    Op::CheckUnseen => drops.extend(group.drain(..)),
                    Op::Decref => group.push(v),
                    _ => group.clear(),
                }
            }
        }
        drops
    }

    /// Returns true if a local has an object while the instruction runs.
    pub fn is_in_local(&self, inst: Value, object: Value) -> bool {
        let state = self.insts[inst].state.map(|s| &self.states[s]);
        state.is_some_and(|s| s.locals.iter().any(|l| self.object_of(*l) == object))
    }

    /// Returns true if the instruction may run user code.
    pub fn may_run_host_code(&self, v: Value) -> bool {
        let inst = self.inst(v);
        match inst.op {
            Op::Decref => self.drop_runs_host_code(inst.args[0]),
            _ => inst.op.effects().runs_host_code,
        }
    }

    /// The instruction at the end of a block that may raise, and its landing block.
    pub fn landing(&self, block: Block) -> Option<(Value, Block)> {
        match &self.blocks[block].term {
            Term::MayRaise { op, raised, .. } => Some((*op, raised.block)),
            _ => None,
        }
    }

    /// The place of each block in the order; zero for one that is not in it.
    pub fn places(&self) -> SecondaryMap<Block, usize> {
        let mut places = SecondaryMap::new();
        places.resize(self.blocks.len());
        for (place, &block) in self.order.iter().enumerate() {
            places[block] = place;
        }
        places
    }

    /// Predecessors of each block (one entry an edge).
    pub fn predecessors(&self) -> Predecessors {
        let edges = || {
            let from = self.order.iter();
            from.flat_map(|b| {
                let edges = self.blocks[*b].term.edges();
                edges.into_iter().map(|edge| (*b, edge.block.index()))
            })
        };
        // At first the end of the row of the block before; it moves on as the row is filled.
        let mut ends = vec![0; self.blocks.len() + 2];
        edges().for_each(|(_, to)| ends[to + 2] += 1);
        for i in 1..ends.len() {
            ends[i] += ends[i - 1];
        }
        let mut from = vec![Block::reserved_value(); ends[ends.len() - 1]];
        for (block, to) in edges() {
            from[ends[to + 1]] = block;
            ends[to + 1] += 1;
        }
        Predecessors { from, ends }
    }

    /// Recompute `order` as the reverse postorder of the reachable blocks.
    pub fn compute_order(&mut self, entry: Block) {
        let mut seen = vec![false; self.blocks.len()];
        let mut post = Vec::new();
        let mut stack = vec![(entry, 0usize)];
        seen[entry.index()] = true;
        while let Some((block, next)) = stack.pop() {
            let edges = self.blocks[block].term.edges();
            // The last edge first: so a loop's body comes right after its header.
            if next < edges.len() {
                let target = edges[edges.len() - 1 - next].block;
                stack.push((block, next + 1));
                if !seen[target.index()] {
                    seen[target.index()] = true;
                    stack.push((target, 0));
                }
            } else {
                post.push(block);
            }
        }
        post.reverse();
        self.order = post;
    }

    /// Immediate dominators by block (the entry's is itself), over `order`.
    pub fn dominators(&self) -> SecondaryMap<Block, PackedOption<Block>> {
        let places = self.places();
        let preds = self.predecessors();
        let mut idom: SecondaryMap<Block, PackedOption<Block>> = SecondaryMap::new();
        idom[self.order[0]] = self.order[0].into();
        let mut changed = true;
        while changed {
            changed = false;
            for &b in &self.order[1..] {
                let mut new: Option<Block> = None;
                for &p in &preds[b] {
                    if idom[p].is_none() {
                        continue;
                    }
                    new = Some(match new {
                        None => p,
                        Some(mut a) => {
                            let mut c = p;
                            while a != c {
                                while places[a] > places[c] {
                                    a = idom[a].expect("a dominator");
                                }
                                while places[c] > places[a] {
                                    c = idom[c].expect("a dominator");
                                }
                            }
                            a
                        }
                    });
                }
                if let Some(new) = new
                    && idom[b].expand() != Some(new)
                {
                    idom[b] = new.into();
                    changed = true;
                }
            }
        }
        idom
    }
}
