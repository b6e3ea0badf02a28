//! From bytecode to HIR: abstract interpretation of the stack, SSA with block parameters, and the
//! speculations that hints suggest, as guards.
//!
//! # Ownership
//! The builder mirrors the interpreter's references. A local's slot owns its object. A stack entry
//! is either owned or borrowed from a local or constant; it becomes owned (`incref`) when that
//! local is overwritten, at the end of a block, and before an operation that may run user code.
//! References are dropped (`decref`) exactly where the interpreter drops them.
//!
//! # Speculation
//! If a hint names a type and the value's type does not prove it, a guard is inserted, and the
//! guarded value takes the place of the old one in the whole frame, so that one guard serves all
//! later uses. A speculation in the `avoid` set is not made again.

use super::flow::handlers_by_instr;
use super::function::{BlockData, Entry, FrameState, Function, Inst, Locals, StateId, Value};
use super::names::{Names, Plan};
use super::params::remove_trivial_params;
use super::translate::Resumption;
use super::{Block, Op};
use crate::bytecode::Op::LoadFastBorrow;
use crate::bytecode::{Code, GeneralOp, Instr, Met, Pc, Reason};
use crate::facts::Source;
use crate::facts::{RawEntry, World};
use crate::types::{ObjectHandle, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The reason why no HIR was built, and the line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// The unsupported feature.
    pub what: String,
    /// The source line.
    pub line: u32,
}

/// The start of the unit, with the types of the values there.
#[derive(Clone, Debug)]
pub enum Start<'a> {
    /// At the function's start; types of the arguments.
    Function(&'a [Type]),
    /// The same for the body of an inlined call.
    Inlined(Shown<'a>),
    /// At the start of a closed unit: its signature (the raw values that it takes and returns), and
    /// the entry through which it calls its own function.
    Closed(&'a RawEntry),
    /// At an instruction; types of locals and stack entries.
    Loop(Pc, &'a [Type]),
    /// At each of the code's resume points, in a frame that is suspended there; types of the locals
    /// at the first.
    Resume(&'a [Type]),
}

/// The types of the arguments of a call, as long as no user code runs, and its callee's closure.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// Types of the arguments.
    pub types: &'a [Type],
    /// For each argument the classes that it is checked to be one of, if it is.
    pub classes: &'a [Vec<Type>],
    /// For each argument what the caller has collected in it, if it has made it.
    pub collected: &'a [Option<Collected>],
    /// The cells in the function's closure. None if the cells are further arguments, behind the
    /// code's locals.
    pub cells: Option<&'a [ObjectHandle]>,
    /// True if the body returns null where it raises StopIteration ([`Op::CallNext`]).
    pub is_next: bool,
}

/// The content of a tuple or a dict that the caller has made as an argument.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Collected {
    /// A tuple of so many items.
    Items(usize),
    /// A dict of named arguments with these names. Their values are further arguments of the code,
    /// behind its locals and the cells of its closure.
    Names(Vec<ObjectHandle>),
}

/// Limits on the size of compiled code.
pub const MAX_INSTRS: usize = 16_000;

/// The most instructions times locals of a function. Frame states may name as many values, and the
/// time to generate code grows faster than that.
const MAX_NAMED: usize = 300_000;

/// The state of a block where paths join, from the edges so far.
pub(super) struct Join {
    /// For each local and each stack entry: the object that all paths so far bring, if it is the
    /// same one.
    pub same: Vec<Option<Value>>,
    /// The number of these edges.
    pub paths: u32,
    /// True if the block was built for that state.
    pub is_built: bool,
}

pub(super) struct Builder<'a> {
    pub(super) f: Function,
    pub(super) code: &'a Code,
    pub(super) world: &'a dyn World,
    pub(super) avoid: &'a HashSet<(Pc, Reason)>,
    pub(super) met: &'a HashMap<Pc, Met>,
    /// For a value that is one of several methods: these methods.
    pub(super) candidates: FxHashMap<Value, Vec<ObjectHandle>>,
    pub(super) locals: Locals,
    pub(super) stack: Vec<Entry>,
    pub(super) pc: Pc,
    pub(super) cur: Block,
    /// The stack at the start of the instruction (after its operands became owned).
    pub(super) start_stack: Vec<Entry>,
    pub(super) state: Option<StateId>,
    /// The names of a call's arguments, while the call is translated. In the interpreter they are
    /// on top of the stack; here they are not.
    pub(super) names_of_call: Option<Entry>,
    /// A call-out has happened since the last validity check.
    pub(super) unchecked: bool,
    pub(super) hints: FxHashMap<Value, Type>,
    /// For loops over an object that is its own iterator: the instruction of the next item, and the
    /// object's class.
    pub(super) iterators: FxHashMap<Pc, Type>,
    /// Values that are functions of one code object, each with one of these functions.
    pub(super) kin: FxHashMap<Value, ObjectHandle>,
    pub(super) null: Value,
    pub(super) blocks: BTreeMap<Pc, Block>,
    pub(super) pred_count: FxHashMap<Pc, u32>,
    pub(super) headers: FxHashSet<Pc>,
    /// For heads of loops with one entry from outside: for each local, true if the loop assigns to
    /// it.
    pub(super) assigned: FxHashMap<Pc, Vec<bool>>,
    /// The instructions where the unit ends and the interpreter continues.
    pub(super) ends: HashSet<Pc>,
    pub(super) entered: FxHashSet<Block>,
    /// The states of blocks where paths join, except for loops' headers.
    pub(super) joins: FxHashMap<Block, Join>,
    pub(super) unchecked_in: FxHashSet<Block>,
    /// For each instruction that may raise: the index of its handler.
    pub(super) handlers: Vec<Option<u32>>,
    /// The instructions that are reached without an exception.
    pub(super) expected: Vec<bool>,
    /// The unit allocates its frame, and has checked for pending work then.
    pub(super) enters: bool,
    /// True if the code has loads that borrow (`load_fast_borrow`); then the other loads take
    /// references.
    pub(super) lends: bool,
    /// The entries and suspended states of the unit's frame, if that is one that is suspended and
    /// resumed (a generator's).
    pub(super) resumption: Option<Resumption>,
    /// The state of the namespace's names, in code that has them in registers.
    pub(super) names: Option<Names<'a>>,
    /// For a closed unit: the entry through which it calls its own function.
    pub(super) closed: Option<&'a RawEntry>,
    /// For the body of an inlined call, the types at the call: the effects of the body must not be
    /// observable.
    pub(super) inlined: Option<Shown<'a>>,
}

/// Builds the HIR of `code` from `start`; with a plan for them, names of its namespace are kept in
/// registers.
///
/// # Errors
/// [`Unsupported`] names the first feature that is not compiled.
pub fn build(
    code: &Arc<Code>,
    start: Start<'_>,
    world: &dyn World,
    avoid: &HashSet<(Pc, Reason)>,
    met: &HashMap<Pc, Met>,
    names: Option<&Plan>,
) -> Result<Function, Unsupported> {
    let refuse = |what: &str| {
        Err(Unsupported {
            what: what.into(),
            line: code.line,
        })
    };
    if matches!(start, Start::Resume(_)) != code.is_generator
        && !matches!(start, Start::Function(_) | Start::Inlined(..))
    {
        return refuse("a generator");
    }
    let named = code.instrs.len() * code.locals.len();
    if code.instrs.len() > MAX_INSTRS || named > MAX_NAMED {
        return refuse(&format!(
            "a function of this size (more than {MAX_INSTRS} instructions, or {MAX_NAMED} instructions times locals)"
        ));
    }
    if !matches!(start, Start::Loop(..)) && !code.optimized {
        return refuse("module or class code from its start");
    }
    let f = Function::new(code.clone());
    let mut b = Builder {
        f,
        code,
        world,
        avoid,
        met,
        candidates: FxHashMap::default(),
        locals: Locals::default(),
        stack: Vec::new(),
        pc: Pc(0),
        cur: Block::from_u32(0),
        start_stack: Vec::new(),
        state: None,
        names_of_call: None,
        unchecked: false,
        hints: FxHashMap::default(),
        iterators: FxHashMap::default(),
        kin: FxHashMap::default(),
        null: Value::from_u32(0),
        blocks: BTreeMap::new(),
        pred_count: FxHashMap::default(),
        assigned: FxHashMap::default(),
        headers: FxHashSet::default(),
        ends: HashSet::new(),
        names: names.map(Names::new),
        entered: FxHashSet::default(),
        joins: FxHashMap::default(),
        unchecked_in: FxHashSet::default(),
        handlers: match start {
            // The interpreter runs its exception handlers: an instruction that raises exits.
            Start::Inlined(_) if code.is_generator => vec![None; code.instrs.len()],
            _ => handlers_by_instr(code),
        },
        expected: Vec::new(),
        enters: !matches!(start, Start::Loop(..)),
        lends: code.instrs.iter().any(|i| i.op == LoadFastBorrow),
        resumption: matches!(start, Start::Resume(_)).then(Resumption::default),
        inlined: match start {
            Start::Inlined(shown) => Some(shown),
            _ => None,
        },
        closed: match start {
            Start::Closed(own) => Some(own),
            _ => None,
        },
    };
    b.run(start)?;
    b.bet_on_resumption();
    let mut f = b.f;
    let entry = f.order[0];
    f.compute_order(entry);
    remove_trivial_params(&mut f);
    f.apply_aliases();
    Ok(f)
}

impl Builder<'_> {
    fn run(&mut self, start: Start<'_>) -> Result<(), Unsupported> {
        let firsts = match start {
            Start::Function(_) | Start::Inlined(..) | Start::Closed(_) => vec![Pc(0)],
            Start::Loop(pc, _) => vec![pc],
            Start::Resume(_) => self.code.resume_points(),
        };
        let Some(&first) = firsts.first() else {
            return Err(self.unsupported("a generator that never begins"));
        };
        let order = self.find_blocks(&firsts)?;
        let entry = self.new_block(false);
        self.f.order = vec![entry];
        self.cur = entry;
        self.pc = first;
        self.null = self.emit(Op::Null, vec![], Type::NULLPTR);
        self.enter(&start);
        if self.resumption.is_none() {
            self.f.blocks[entry].entry_state = self.frame_state(first);
            self.jump_to(first, false);
        }
        // A handler may be visited before any edge to it exists. If its first edge turns out to be
        // dead, a later edge may still reach it: such blocks are tried again.
        let mut left = order;
        loop {
            let before = left.len();
            let mut next = Vec::new();
            for pc in left {
                if self.entered.contains(&self.blocks[&pc]) {
                    self.block(pc)?;
                } else {
                    next.push(pc);
                }
            }
            if next.len() == before {
                return Ok(());
            }
            left = next;
        }
    }

    pub(super) fn new_block(&mut self, is_loop_header: bool) -> Block {
        let state = FrameState {
            pc: Pc(0),
            locals: Locals::default(),
            stack: Vec::new(),
            inlined: Vec::new(),
        };
        self.f.blocks.push(BlockData {
            is_loop_header,
            ..BlockData::new(state, self.pc)
        })
    }

    /// Values of the frame at the unit's entry, with guards for the types that are expected of
    /// them.
    fn enter(&mut self, start: &Start<'_>) {
        let nlocals = self.code.locals.len() as u32;
        // Behind the locals: one place for each name whose value the namespace does not have yet.
        let count = nlocals as usize + self.f.names.len();
        let mut locals = Vec::with_capacity(count);
        match *start {
            Start::Function(types) | Start::Inlined(Shown { types, .. }) => {
                for k in 0..nlocals {
                    let v = if k < self.code.arity() {
                        // A type that is proved of the argument is proved of the parameter.
                        let known = |ty: &&Type| **ty <= Type::OBJECT && !ty.is_bottom();
                        let shown = types.get(k as usize).filter(known);
                        let ty = *shown
                            .filter(|_| self.inlined.is_some())
                            .unwrap_or(&self.type_of_parameter(k));
                        self.emit(Op::Arg(k), vec![], ty)
                    } else {
                        self.null
                    };
                    locals.push(v);
                }
                locals.resize(count, self.null);
                self.locals = locals.into();
                self.start_instr();
                for (k, &ty) in types.iter().enumerate().take(self.code.arity() as usize) {
                    self.bet_at_entry(self.locals[k], ty);
                }
            }
            Start::Closed(own) => {
                for (k, &kind) in own.signature.params.iter().enumerate() {
                    let raw = self.emit(Op::Arg(k as u32), vec![], kind.raw());
                    let boxed = self.emit(Op::boxing(kind), vec![raw], kind.boxed());
                    locals.push(boxed);
                }
                locals.resize(nlocals as usize, self.null);
                self.locals = locals.into();
                self.start_instr();
            }
            Start::Resume(types) => {
                self.f.blocks[self.cur].entry_state.locals =
                    vec![self.null; nlocals as usize].into();
                self.enter_suspended(types);
            }
            Start::Loop(pc, types) => {
                let nulls = self.code.null_entries().swap_remove(pc.0 as usize);
                let nulls = nulls.unwrap_or_default();
                for k in 0..nlocals {
                    let v = self.emit(Op::LoadSlot(k), vec![], Type::OBJECT.opt());
                    locals.push(v);
                }
                locals.resize(count, self.null);
                self.locals = locals.into();
                for k in nlocals..types.len() as u32 {
                    if nulls.get((k - nlocals) as usize) == Some(&true) {
                        self.push_borrowed(self.null);
                        continue;
                    }
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

    /// The type that a parameter always has: `*args` is a tuple, and `**names` a dict.
    fn type_of_parameter(&self, k: u32) -> Type {
        let named = self.code.argcount + self.code.kwonly;
        let has_rest = self.code.varargs;
        if has_rest && k == named {
            Type::TUPLE_EXACT
        } else if self.code.varkeywords && k == named + u32::from(has_rest) {
            Type::DICT_EXACT
        } else {
            Type::OBJECT
        }
    }

    /// Speculates on the type of a value at the entry: only on builtin classes, whose objects never
    /// change class.
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
        self.cur = block;
        self.locals = self.f.blocks[block].entry_state.locals.clone();
        self.stack = self.f.blocks[block].entry_state.stack.clone();
        self.know_slots(block, pc);
        self.unchecked = self.unchecked_in.contains(&block);
        self.names_at(block);
        let mut pc = pc;
        loop {
            self.pc = pc;
            self.state = None;
            let instr = self.code.instr(pc);
            self.look_at_validity(instr);
            self.settle_for_handler();
            self.start_instr();
            if instr.is_unreached() && !self.avoid.contains(&(pc, Reason::Unreached)) {
                self.give_up(Reason::Unreached);
                return Ok(());
            }
            let barrier = self.names_before(pc);
            self.start_instr();
            let ended = match self.translate(instr) {
                Ok(ended) => ended,
                // Only an exception leads here, which is rare: the interpreter continues at no
                // great loss.
                Err(_) if instr.resumable && !self.expected[pc.0 as usize] => {
                    self.give_up(Reason::NotCompiled)
                }
                Err(unsupported) => return Err(unsupported),
            };
            if ended {
                return Ok(());
            }
            if barrier {
                self.forget_names();
            }
            // Two instructions may be translated as one.
            if self.pc != pc {
                self.f.fused.push((self.pc, pc));
            }
            pc = Pc(self.pc.0 + 1);
            if self.is_leader(pc) {
                self.jump_to(pc, false);
                return Ok(());
            }
        }
    }

    /// Before an instruction: checks whether the unit is still valid, if user code may have run.
    pub(super) fn look_at_validity(&mut self, instr: &Instr) {
        if self.unchecked && instr.resumable {
            self.unchecked = false;
            self.start_instr();
            let state = self.state();
            self.emit_with(Op::CheckValid, vec![], Type::BOTTOM, Some(state));
        }
    }

    /// Returns true if a block begins at an instruction.
    pub(super) fn is_leader(&self, pc: Pc) -> bool {
        self.blocks.contains_key(&pc) || self.is_end(pc)
    }

    /// Record the stack at the start of an instruction.
    pub(super) fn start_instr(&mut self) {
        self.state = None;
        self.start_stack = self.stack.clone();
        self.start_stack.extend(self.names_of_call);
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

    // ---- emission ----

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

    pub(super) fn frame_state(&self, pc: Pc) -> FrameState {
        FrameState {
            pc,
            locals: self.locals.clone(),
            stack: self.start_stack.clone(),
            inlined: Vec::new(),
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

    /// Returns true if this speculation has failed at the instruction: it is not made again.
    pub(super) fn avoids(&self, reason: Reason) -> bool {
        self.avoid.contains(&(self.pc, reason))
    }

    /// Emits an exit unless `v` has type `want`; returns the value to use from here on.
    ///
    /// There is no guard if the type is proved, if it is impossible, or if the speculation has
    /// failed before.
    pub(super) fn guard_type(&mut self, v: Value, want: Type) -> Value {
        let have = self.ty(v);
        // A guard tests the class, which does not depend on mortality.
        let want = want.drop_mortality();
        if have <= want || !have.could_be(want) || self.avoids(Reason::Type) {
            return v;
        }
        let state = self.state();
        let g = self.emit_with(Op::GuardType(want), vec![v], want, Some(state));
        self.f.insts[g].source = Source::Guarded;
        // User code may assign the class of an instance of a user class, so such a fact is valid
        // only for this instruction.
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

    /// Returns true if a reference is needed to keep the value alive.
    pub(super) fn is_counted(&self, v: Value) -> bool {
        match self.f.op(v) {
            Op::Null => false,
            // A closed unit holds no references: the function keeps its constants alive while it
            // runs.
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

    /// Returns whether the stack entry at `index` was pushed by a load that borrows
    /// (`load_fast_borrow`): the local still has the object, and keeps it alive until the entry is
    /// popped.
    pub(super) fn is_lent(&self, index: usize) -> bool {
        let entry = self.stack[index];
        let object = self.f.object_of(entry.value);
        let real = &self.locals[..self.code.locals.len()];
        self.lends
            && !entry.owned
            && !matches!(self.f.op(object), Op::Null | Op::Const(_))
            && real.iter().any(|local| self.f.object_of(*local) == object)
    }

    /// Make the top `n` entries owned, but for those that are [lent](Self::is_lent), and restart
    /// the instruction's state from there.
    pub(super) fn own_operands(&mut self, n: usize) {
        let len = self.stack.len();
        for i in len - n..len {
            if !self.is_lent(i) {
                self.own(i);
            }
        }
        self.start_instr();
    }

    /// The same for an instruction that takes the entries over: all are owned.
    pub(super) fn take_operands(&mut self, n: usize) {
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
        self.emit_raising(Op::General(op, imms), args, ty, state)
    }

    /// The state after the instruction, with the stack as it is now.
    pub(super) fn state_after(&mut self) -> StateId {
        self.start_instr();
        let state = self.frame_state(Pc(self.pc.0 + 1));
        self.f.states.push(state)
    }

    /// Continue as at the start of the instruction, with this stack.
    pub(super) fn restart(&mut self, start_stack: &[Entry]) {
        self.state = None;
        self.start_stack = start_stack.to_vec();
    }

    /// The state for an operation that takes over the references of the top `n` entries.
    pub(super) fn state_without(&mut self, n: usize) -> StateId {
        let mut state = self.frame_state(self.pc);
        let names = self.names_of_call.is_some() as usize;
        let keep = state.stack.len() - n - names;
        state.stack.truncate(keep);
        self.f.states.push(state)
    }

    /// Replace local `k`: its slot takes over a reference to `v`, and the old object's reference is
    /// dropped.
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
            // The state for the drop: the slot has the new value already.
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
}

/// Returns true if the type names the user class of an object. User code may assign an object's
/// class (`x.__class__ = C`), so the fact is valid only until user code runs.
pub(crate) fn is_of_moment(ty: Type) -> bool {
    ty.could_be(Type::USER) && ty.as_object().is_none() && ty.runtime_class().is_some()
}

/// Returns true if the type is of one builtin class exactly: objects of such classes never change
/// class.
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
        Type::DICT_ITEM_ITER,
        Type::DICT_KEY_ITER,
    ]
    .iter()
    .any(|t| ty <= *t && !ty.is_bottom())
}
