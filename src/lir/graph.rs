//! LIR functions: values, blocks, instructions, terminators, and the builder that creates them.

use super::ops::{FloatCond, IntCond, OpEffects, Opcode};
use crate::exits::ExitId;
use crate::facts::Effects;
use crate::ll::{Field, Ty, Width};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, PrimaryMap, SecondaryMap, entity_impl};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeSet;
use std::slice;

/// A value, printed `v3`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(u32);
entity_impl!(Value, "v");

/// A block, printed `block2`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block(u32);
entity_impl!(Block, "block");

/// A helper of the host, by its place in the host's helper table; printed `helper4` or by name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HelperId(u32);
entity_impl!(HelperId, "helper");

/// A signature used by `call_indirect`, printed `sig1`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SigId(u32);
entity_impl!(SigId, "sig");

/// A [routine](RoutineRef) used by `call_routine`, printed `routine0`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RoutineId(u32);
entity_impl!(RoutineId, "routine");

/// Parameter and result types of a callable.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Signature {
    /// Parameters.
    pub params: Vec<Ty>,
    /// Results, at most two.
    pub results: Vec<Ty>,
}

impl Signature {
    /// A signature.
    pub fn new(params: &[Ty], results: &[Ty]) -> Signature {
        Signature {
            params: params.to_vec(),
            results: results.to_vec(),
        }
    }
}

/// A helper of the host: its name, address, signature and effects.
#[derive(Clone, Debug)]
pub struct Helper {
    /// The name, unique in the host.
    pub name: &'static str,
    /// Its address in this process.
    pub address: usize,
    /// Its signature (C calling convention).
    pub signature: Signature,
    /// Its effects, if the host declares them.
    pub effects: Option<Effects>,
}

impl Helper {
    /// Returns true if a collector may run before it returns: unless the host says that it neither
    /// releases nor runs host code.
    pub fn may_collect(&self) -> bool {
        self.effects
            .is_none_or(|effects| effects.releases || effects.runs_host_code)
    }

    /// Returns true if it can be called through a guard that keeps all registers: its result, if
    /// any, is a word.
    pub fn can_be_guarded(&self) -> bool {
        matches!(self.signature.results[..], [] | [Ty::I64 | Ty::Ptr])
    }
}

/// Machine code compiled earlier that a function calls, for example an intrinsic that is not
/// inlined.
#[derive(Clone, Debug)]
pub struct RoutineRef {
    /// The name, for text: the address differs between processes.
    pub name: String,
    /// Its address in this process; 0 in a function that was read from text, which can't be
    /// compiled.
    pub address: u64,
    /// Its signature (C calling convention, unless it keeps most registers).
    pub signature: Signature,
    /// True if it keeps more registers of its caller than the C convention requires. Not part of
    /// the text: code is not generated for a function that was read from text.
    pub keeps_most: bool,
    /// True if it may run user code. Not part of the text either: a routine that was read from text
    /// may.
    pub runs_host_code: bool,
}

/// The same routine, at any address.
impl PartialEq for RoutineRef {
    fn eq(&self, other: &RoutineRef) -> bool {
        self.name == other.name && self.signature == other.signature
    }
}

/// An immediate operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Imm {
    /// None.
    None,
    /// An integer.
    Int(i64),
    /// The bits of a double.
    Float(u64),
    /// An address; the name is for the text form only.
    Addr(u64),
    /// An integer condition.
    IntCond(IntCond),
    /// A float condition.
    FloatCond(FloatCond),
    /// A memory access.
    Mem {
        /// The width.
        width: Width,
        /// Bytes added to the address.
        offset: i32,
    },
    /// A helper.
    Helper(HelperId),
    /// A signature.
    Sig(SigId),
    /// A routine.
    Routine(RoutineId),
}

/// The results of an instruction: usually one.
pub type Results = SmallVec<[Value; 2]>;

/// An instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct Inst {
    /// The op.
    pub op: Opcode,
    /// Its operands.
    pub args: SmallVec<[Value; 4]>,
    /// Its immediate.
    pub imm: Imm,
    /// Its results.
    pub results: Results,
}

/// A block and the values for its parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockCall {
    /// The target.
    pub block: Block,
    /// One value for each of its parameters.
    pub args: Vec<Value>,
}

impl BlockCall {
    /// A jump target.
    pub fn new(block: Block, args: Vec<Value>) -> BlockCall {
        BlockCall { block, args }
    }
}

/// The end of a block.
#[derive(Clone, PartialEq, Debug)]
pub enum Term {
    /// Unconditional jump.
    Jump(BlockCall),
    /// Two-way branch.
    Br {
        /// The condition, a `bool`.
        cond: Value,
        /// The target if it is true.
        then: BlockCall,
        /// The target if it is false.
        els: BlockCall,
        /// True if it tests for pending work between instructions (signal handlers, other threads);
        /// `then` is the target if there is none.
        quiet: bool,
    },
    /// Return from the function.
    Return(Vec<Value>),
    /// In an intrinsic: the operation does not apply. The inliner binds this to the caller's exit.
    Fail,
    /// A side exit: the values are stored to the exit buffer, the host's exit hook is called with
    /// the unit, the exit's number and the buffer, and the function returns the hook's result.
    Exit {
        /// The record.
        exit: ExitId,
        /// The values that it lists.
        args: Vec<Value>,
    },
    /// Control never comes here (after a helper that does not return).
    Unreachable,
}

impl Term {
    /// The successor blocks, with the values that they receive.
    pub fn targets(&self) -> impl Iterator<Item = &BlockCall> {
        let (first, second) = match self {
            Term::Jump(call) => (Some(call), None),
            Term::Br { then, els, .. } => (Some(then), Some(els)),
            Term::Return(_) | Term::Fail | Term::Exit { .. } | Term::Unreachable => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// [`Term::targets`], mutable.
    pub fn targets_mut(&mut self) -> impl Iterator<Item = &mut BlockCall> {
        let (first, second) = match self {
            Term::Jump(call) => (Some(call), None),
            Term::Br { then, els, .. } => (Some(then), Some(els)),
            Term::Return(_) | Term::Fail | Term::Exit { .. } | Term::Unreachable => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Returns true if it uses a value, for itself or for successor blocks.
    pub fn uses(&self, value: Value) -> bool {
        let mut given = self.targets().flat_map(|call| &call.args);
        self.args().contains(&value) || given.any(|v| *v == value)
    }

    /// The values that it uses itself, without those for successor blocks.
    pub fn args(&self) -> &[Value] {
        match self {
            Term::Br { cond, .. } => slice::from_ref(cond),
            Term::Return(args) | Term::Exit { args, .. } => args,
            Term::Jump(_) | Term::Fail | Term::Unreachable => &[],
        }
    }

    fn args_mut(&mut self) -> &mut [Value] {
        match self {
            Term::Br { cond, .. } => slice::from_mut(cond),
            Term::Return(args) | Term::Exit { args, .. } => args,
            Term::Jump(_) | Term::Fail | Term::Unreachable => &mut [],
        }
    }
}

/// A block: parameters, instructions, terminator.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockData {
    /// Parameters.
    pub params: Vec<Value>,
    /// Instructions, in order.
    pub insts: Vec<Inst>,
    /// The terminator; `None` only while the block is being built.
    pub term: Option<Term>,
    /// True if only exits and slow paths come here.
    pub cold: bool,
}

impl BlockData {
    /// The successor blocks, with the values that they receive. None while the block is being
    /// built.
    pub fn targets(&self) -> impl Iterator<Item = &BlockCall> {
        self.term.iter().flat_map(Term::targets)
    }

    /// The values that it uses, with those for successor blocks.
    pub fn uses(&self) -> impl Iterator<Item = Value> {
        let insts = self.insts.iter().flat_map(|inst| &inst.args);
        let ends = self.term.iter().flat_map(Term::args);
        let given = self.targets().flat_map(|call| &call.args);
        insts.chain(ends).chain(given).copied()
    }

    /// Changes each of [`BlockData::uses`].
    pub fn map_uses(&mut self, mut change: impl FnMut(&mut Value)) {
        for inst in &mut self.insts {
            inst.args.iter_mut().for_each(&mut change);
        }
        if let Some(term) = &mut self.term {
            term.args_mut().iter_mut().for_each(&mut change);
            for call in term.targets_mut() {
                call.args.iter_mut().for_each(&mut change);
            }
        }
    }

    /// Replaces uses of renamed values.
    pub(super) fn rename(&mut self, others: &Renaming) {
        self.map_uses(|v| *v = others.get(*v));
    }

    /// Returns true if it has calls.
    pub fn has_calls(&self) -> bool {
        self.insts.iter().any(|inst| inst.op.is_call())
    }
}

/// A renaming of values, which [`BlockData::rename`] applies.
#[derive(Debug, Default)]
pub(super) struct Renaming {
    others: SecondaryMap<Value, PackedOption<Value>>,
    renamed: Vec<Value>,
}

impl Renaming {
    /// Renames `v` to `other`.
    pub(super) fn insert(&mut self, v: Value, other: Value) {
        if self.others[v].is_none() {
            self.renamed.push(v);
        }
        self.others[v] = other.into();
    }

    /// The new name of a value, or the value itself.
    pub(super) fn get(&self, v: Value) -> Value {
        self.others[v].expand().unwrap_or(v)
    }

    /// Returns true if no value is renamed.
    pub(super) fn is_empty(&self) -> bool {
        self.renamed.is_empty()
    }

    /// Removes all renamings. Takes time for the renamed values only.
    pub(super) fn clear(&mut self) {
        for v in self.renamed.drain(..) {
            self.others[v] = None.into();
        }
    }
}

/// Blocks that are inserted into the layout together: a single insertion would walk the whole
/// layout.
#[derive(Debug, Default)]
pub(super) struct Insertions {
    /// New blocks that are placed right before a block, in the order of insertion.
    before: Vec<(Block, Block)>,
    /// New blocks that are placed right after a block, in the order of insertion.
    behind: Vec<(Block, Block)>,
}

impl Insertions {
    /// Inserts `new` right before a block of the layout, after earlier insertions there.
    pub(super) fn before(&mut self, at: Block, new: Block) {
        self.before.push((at, new));
    }

    /// Inserts `new` right after a block of the layout, after earlier insertions there.
    pub(super) fn behind(&mut self, at: Block, new: Block) {
        self.behind.push((at, new));
    }

    /// Changes the layout.
    pub(super) fn apply(mut self, func: &mut Func) {
        if self.before.is_empty() && self.behind.is_empty() {
            return;
        }
        let mut place = SecondaryMap::<Block, usize>::with_capacity(func.blocks.len());
        for (i, b) in func.order.iter().enumerate() {
            place[*b] = i;
        }
        // The sort is stable: insertions at one place stay in order.
        self.before.sort_by_key(|(at, _)| place[*at]);
        self.behind.sort_by_key(|(at, _)| place[*at]);
        let count = func.order.len() + self.before.len() + self.behind.len();
        let mut order = Vec::with_capacity(count);
        let mut before = self.before.into_iter().peekable();
        let mut behind = self.behind.into_iter().peekable();
        for &b in &func.order {
            while let Some((_, new)) = before.next_if(|(at, _)| *at == b) {
                order.push(new);
            }
            order.push(b);
            while let Some((_, new)) = behind.next_if(|(at, _)| *at == b) {
                order.push(new);
            }
        }
        func.order = order;
    }
}

/// A LIR function: the only input of code generation, and the form in which a host writes its
/// intrinsics.
#[derive(Clone, Debug)]
pub struct Func {
    /// The name, for symbols and text.
    pub name: String,
    /// Parameter and result types; the entry block's parameters are the function's.
    pub signature: Signature,
    /// The type of each value.
    pub values: PrimaryMap<Value, Ty>,
    /// All blocks; those not in `order` do not exist.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// Blocks in layout order; the first is the entry.
    pub order: Vec<Block>,
    /// Signatures for `call_indirect`.
    pub sigs: PrimaryMap<SigId, Signature>,
    /// Routines for `call_routine`.
    pub routines: PrimaryMap<RoutineId, RoutineRef>,
    /// Sizes in bytes of the stack slots (8-byte aligned).
    pub slots: Vec<u32>,
    /// The references: see [`Refs`].
    pub refs: Refs,
}

/// The values and slots that hold references to objects that a collector traces, and perhaps moves:
/// it must know them whenever it may run. Empty for a host that counts references.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Refs {
    /// Values. One that is used after a call that may collect is in memory during the call, and
    /// read again afterwards.
    pub values: EntitySet<Value>,
    /// Stack slots, by number, whose words all hold references in each call that receives the
    /// slot's address.
    pub slots: BTreeSet<u32>,
}

impl Refs {
    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.slots.is_empty()
    }
}

impl Func {
    /// The effects of an instruction besides its results: those in its op's row or, for a call,
    /// those of the helper or routine.
    pub fn effects(&self, inst: &Inst, helpers: &PrimaryMap<HelperId, Helper>) -> OpEffects {
        match inst.imm {
            Imm::Helper(id) => {
                let effects = helpers.get(id).and_then(|helper| helper.effects);
                effects.map_or(OpEffects::ANY, OpEffects::of_helper)
            }
            Imm::Routine(id) => OpEffects {
                runs_host_code: self.routines[id].runs_host_code,
                ..OpEffects::ANY
            },
            _ => inst.op.info().effects,
        }
    }

    /// The number of a routine, which is added if it is new.
    pub(super) fn routine(&mut self, routine: RoutineRef) -> RoutineId {
        let known = self.routines.iter().find(|(_, known)| **known == routine);
        match known {
            Some((id, _)) => id,
            None => self.routines.push(routine),
        }
    }

    /// The number of a signature for `call_indirect`, which is added if it is new.
    pub(super) fn sig(&mut self, sig: Signature) -> SigId {
        let known = self.sigs.iter().find(|(_, known)| **known == sig);
        match known {
            Some((id, _)) => id,
            None => self.sigs.push(sig),
        }
    }

    /// An empty function with an entry block.
    pub fn new(name: impl Into<String>, signature: Signature) -> Func {
        let mut func = Func {
            name: name.into(),
            signature,
            values: PrimaryMap::new(),
            blocks: PrimaryMap::new(),
            order: Vec::new(),
            sigs: PrimaryMap::new(),
            routines: PrimaryMap::new(),
            slots: Vec::new(),
            refs: Refs::default(),
        };
        let entry = func.make_block();
        for ty in func.signature.params.clone() {
            func.add_param(entry, ty);
        }
        func.order.push(entry);
        func
    }

    /// The entry block.
    pub fn entry(&self) -> Block {
        self.order[0]
    }

    /// The function's parameters.
    pub fn params(&self) -> &[Value] {
        &self.blocks[self.entry()].params
    }

    /// A new block, not yet in the layout.
    pub fn make_block(&mut self) -> Block {
        self.blocks.push(BlockData {
            params: Vec::new(),
            insts: Vec::new(),
            term: None,
            cold: false,
        })
    }

    /// A new value with the type of another one; it is a reference if that one is.
    pub(super) fn twin(&mut self, value: Value) -> Value {
        let twin = self.values.push(self.values[value]);
        if self.refs.values.contains(value) {
            self.refs.values.insert(twin);
        }
        twin
    }

    /// A new parameter of a block.
    pub fn add_param(&mut self, block: Block, ty: Ty) -> Value {
        let value = self.values.push(ty);
        self.blocks[block].params.push(value);
        value
    }
}

/// Builds a function block by block.
///
/// `switch_to` puts a block into the layout and makes it current; every block must get one
/// terminator.
pub struct Builder<'a> {
    /// The function under construction.
    pub func: &'a mut Func,
    current: Block,
    /// The blocks that are in the layout.
    placed: EntitySet<Block>,
    /// The facts about values, if operations on constants are folded.
    folding: Option<Folding>,
}

/// The facts about values of a builder that folds.
#[derive(Default)]
struct Folding {
    constants: SecondaryMap<Value, Option<i64>>,
    /// For an address: the address and the offset from which it was computed.
    addresses: SecondaryMap<Value, Option<(Value, i32)>>,
}

impl Folding {
    /// Folds an instruction on constants, and records the base of an address.
    fn fold(&mut self, inst: &mut Inst) {
        let constant = |i: usize| self.constants[inst.args[i]];
        let both = |op: fn(i64, i64) -> i64| Some(op(constant(0)?, constant(1)?));
        let folded = match (inst.op, inst.imm) {
            (Opcode::Iconst | Opcode::Bconst, Imm::Int(n)) => {
                self.constants[inst.results[0]] = Some(n);
                return;
            }
            (Opcode::Padd, _) => {
                let (base, before) = self.addresses[inst.args[0]].unwrap_or((inst.args[0], 0));
                let bytes = constant(1).and_then(|n| i64::from(before).checked_add(n));
                let bytes = bytes.and_then(|n| i32::try_from(n).ok());
                self.addresses[inst.results[0]] = bytes.map(|n| (base, n));
                return;
            }
            (Opcode::Load | Opcode::Store, Imm::Mem { width, offset }) => {
                if let Some((base, before)) = self.addresses[inst.args[0]]
                    && let Some(offset) = offset.checked_add(before)
                {
                    inst.args[0] = base;
                    inst.imm = Imm::Mem { width, offset };
                }
                return;
            }
            (Opcode::I2p, _) => {
                if let Some(n) = constant(0) {
                    inst.args.clear();
                    (inst.op, inst.imm) = (Opcode::Pconst, Imm::Addr(n.cast_unsigned()));
                }
                return;
            }
            (Opcode::B2i, _) => constant(0),
            (Opcode::Iadd, _) => both(i64::wrapping_add),
            (Opcode::Isub, _) => both(i64::wrapping_sub),
            (Opcode::Imul, _) => both(i64::wrapping_mul),
            (Opcode::Ishl, _) => both(|n, by| n.wrapping_shl(by as u32)),
            _ => return,
        };
        if let Some(n) = folded {
            inst.args.clear();
            (inst.op, inst.imm) = (Opcode::Iconst, Imm::Int(n));
            self.constants[inst.results[0]] = Some(n);
        }
    }
}

impl<'a> Builder<'a> {
    /// A builder whose current block is the entry.
    pub fn new(func: &'a mut Func) -> Builder<'a> {
        let current = func.entry();
        let mut placed = EntitySet::new();
        placed.extend(func.order.iter().copied());
        Builder {
            func,
            current,
            placed,
            folding: None,
        }
    }

    /// A builder that folds operations on constants, for copies of general code.
    pub(crate) fn folding(func: &'a mut Func) -> Builder<'a> {
        Builder {
            folding: Some(Folding::default()),
            ..Builder::new(func)
        }
    }

    /// The current block.
    pub fn current(&self) -> Block {
        self.current
    }

    /// Returns true if the current block still lacks its terminator.
    pub fn is_open(&self) -> bool {
        self.func.blocks[self.current].term.is_none()
    }

    /// A new block.
    pub fn block(&mut self) -> Block {
        self.func.make_block()
    }

    /// A new block that only exits and slow paths reach.
    pub fn cold_block(&mut self) -> Block {
        let block = self.func.make_block();
        self.func.blocks[block].cold = true;
        block
    }

    /// A new parameter.
    pub fn param(&mut self, block: Block, ty: Ty) -> Value {
        self.func.add_param(block, ty)
    }

    /// Makes `block` current, and appends it to the layout if it is not there.
    pub fn switch_to(&mut self, block: Block) {
        if self.placed.insert(block) {
            self.func.order.push(block);
        }
        self.current = block;
    }

    /// Appends an instruction with results of the given types.
    pub fn push(&mut self, op: Opcode, args: &[Value], imm: Imm, results: &[Ty]) -> Results {
        let results = results.iter().map(|&ty| self.func.values.push(ty));
        let results: Results = results.collect();
        self.push_inst(Inst {
            op,
            args: SmallVec::from_slice(args),
            imm,
            results: results.clone(),
        });
        results
    }

    /// Appends an instruction whose results exist.
    pub(super) fn push_inst(&mut self, mut inst: Inst) {
        debug_assert!(self.is_open(), "{} is already terminated", self.current);
        if let Some(folding) = &mut self.folding {
            folding.fold(&mut inst);
        }
        self.func.blocks[self.current].insts.push(inst);
    }

    /// Appends an op with one result, whose type is in its row.
    pub fn op(&mut self, op: Opcode, args: &[Value]) -> Value {
        let results = op.info().results.expect("an op with fixed results");
        self.push(op, args, Imm::None, results)[0]
    }

    /// Appends an op with two results (value, overflowed).
    pub fn op2(&mut self, op: Opcode, a: Value, b: Value) -> (Value, Value) {
        let r = self.push(op, &[a, b], Imm::None, &[Ty::I64, Ty::Bool]);
        (r[0], r[1])
    }

    /// An integer constant.
    pub fn iconst(&mut self, v: i64) -> Value {
        self.push(Opcode::Iconst, &[], Imm::Int(v), &[Ty::I64])[0]
    }

    /// A truth constant.
    pub fn bconst(&mut self, v: bool) -> Value {
        self.push(Opcode::Bconst, &[], Imm::Int(v as i64), &[Ty::Bool])[0]
    }

    /// A double constant.
    pub fn fconst(&mut self, v: f64) -> Value {
        self.push(Opcode::Fconst, &[], Imm::Float(v.to_bits()), &[Ty::F64])[0]
    }

    /// An address constant: the only form in which an address may be in a function. A cache of code
    /// between processes replaces these by numbers.
    pub fn pconst(&mut self, address: u64) -> Value {
        self.push(Opcode::Pconst, &[], Imm::Addr(address), &[Ty::Ptr])[0]
    }

    /// An address as an integer. It is not an integer constant, since it differs between processes.
    pub fn address(&mut self, address: u64) -> Value {
        let p = self.pconst(address);
        self.op(Opcode::P2i, &[p])
    }

    /// Compares integers or addresses.
    pub fn icmp(&mut self, cond: IntCond, a: Value, b: Value) -> Value {
        self.push(Opcode::Icmp, &[a, b], Imm::IntCond(cond), &[Ty::Bool])[0]
    }

    /// Compares an integer with a constant.
    pub fn icmp_imm(&mut self, cond: IntCond, a: Value, b: i64) -> Value {
        let b = self.iconst(b);
        self.icmp(cond, a, b)
    }

    /// True if an address is null.
    pub fn is_null(&mut self, p: Value) -> Value {
        let zero = self.pconst(0);
        self.icmp(IntCond::Eq, p, zero)
    }

    /// Compares doubles.
    pub fn fcmp(&mut self, cond: FloatCond, a: Value, b: Value) -> Value {
        self.push(Opcode::Fcmp, &[a, b], Imm::FloatCond(cond), &[Ty::Bool])[0]
    }

    /// `a` if `cond`, else `b`.
    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.func.values[a];
        self.push(Opcode::Select, &[cond, a, b], Imm::None, &[ty])[0]
    }

    /// Loads from `ptr + offset`.
    pub fn load(&mut self, width: Width, ptr: Value, offset: i32) -> Value {
        self.push(
            Opcode::Load,
            &[ptr],
            Imm::Mem { width, offset },
            &[width.ty()],
        )[0]
    }

    /// Stores to `ptr + offset`.
    pub fn store(&mut self, width: Width, ptr: Value, offset: i32, value: Value) {
        self.push(
            Opcode::Store,
            &[ptr, value],
            Imm::Mem { width, offset },
            &[],
        );
    }

    /// Loads a field.
    pub fn load_field(&mut self, ptr: Value, field: Field) -> Value {
        self.load(field.width, ptr, field.offset)
    }

    /// Stores a field.
    pub fn store_field(&mut self, ptr: Value, field: Field, value: Value) {
        self.store(field.width, ptr, field.offset, value);
    }

    /// Address plus a constant number of bytes.
    pub fn padd_imm(&mut self, ptr: Value, bytes: i64) -> Value {
        let n = self.iconst(bytes);
        self.op(Opcode::Padd, &[ptr, n])
    }

    /// Adds `n` to the integer at an address. Returns the new one.
    pub fn add_at(&mut self, width: Width, base: Value, offset: i32, n: i64) -> Value {
        let old = self.load(width, base, offset);
        let n = self.iconst(n);
        let new = self.op(Opcode::Iadd, &[old, n]);
        self.store(width, base, offset, new);
        new
    }

    /// A new stack slot of `bytes`.
    pub fn slot(&mut self, bytes: u32) -> i64 {
        self.func.slots.push(bytes);
        self.func.slots.len() as i64 - 1
    }

    /// Marks a value as a reference ([`Refs`]).
    pub fn mark_ref(&mut self, value: Value) {
        self.func.refs.values.insert(value);
    }

    /// Marks all words of a stack slot as references in calls that receive its address ([`Refs`]).
    pub fn mark_ref_slot(&mut self, slot: i64) {
        self.func.refs.slots.insert(slot as u32);
    }

    /// The address of a stack slot.
    pub fn stack_addr(&mut self, slot: i64) -> Value {
        self.push(Opcode::StackAddr, &[], Imm::Int(slot), &[Ty::Ptr])[0]
    }

    /// Calls a helper; `results` are its signature's.
    pub fn call(&mut self, helper: HelperId, args: &[Value], results: &[Ty]) -> Results {
        self.push(Opcode::Call, args, Imm::Helper(helper), results)
    }

    /// Calls through an address.
    pub fn call_indirect(&mut self, sig: Signature, callee: Value, args: &[Value]) -> Results {
        let results = sig.results.clone();
        let sig = self.func.sig(sig);
        let mut all: SmallVec<[Value; 8]> = smallvec![callee];
        all.extend_from_slice(args);
        self.push(Opcode::CallIndirect, &all, Imm::Sig(sig), &results)
    }

    /// The number of a routine, which is added if it is new.
    pub fn routine(&mut self, routine: RoutineRef) -> RoutineId {
        self.func.routine(routine)
    }

    /// Calls a routine.
    pub fn call_routine(&mut self, routine: RoutineId, args: &[Value]) -> Results {
        let results = self.func.routines[routine].signature.results.clone();
        self.push(Opcode::CallRoutine, args, Imm::Routine(routine), &results)
    }

    /// Ends the current block.
    pub fn terminate(&mut self, term: Term) {
        let block = &mut self.func.blocks[self.current];
        debug_assert!(
            block.term.is_none(),
            "{} is already terminated",
            self.current
        );
        block.term = Some(term);
    }

    /// Jumps.
    pub fn jump(&mut self, block: Block, args: &[Value]) {
        self.terminate(Term::Jump(BlockCall::new(block, args.to_vec())));
    }

    /// Branches.
    pub fn br(
        &mut self,
        cond: Value,
        then: Block,
        then_args: &[Value],
        els: Block,
        els_args: &[Value],
    ) {
        self.terminate(Term::Br {
            cond,
            then: BlockCall::new(then, then_args.to_vec()),
            els: BlockCall::new(els, els_args.to_vec()),
            quiet: false,
        });
    }

    /// Branches to `then` if nothing is pending.
    pub fn br_quiet(&mut self, cond: Value, then: Block, els: Block) {
        self.terminate(Term::Br {
            cond,
            then: BlockCall::new(then, Vec::new()),
            els: BlockCall::new(els, Vec::new()),
            quiet: true,
        });
    }

    /// Continues in a new block if `cond` is true, otherwise at `els` (a cold block without
    /// parameters).
    pub fn guard(&mut self, cond: Value, els: Block) {
        let next = self.block();
        self.br(cond, next, &[], els, &[]);
        self.switch_to(next);
    }

    /// Returns.
    pub fn ret(&mut self, values: &[Value]) {
        self.terminate(Term::Return(values.to_vec()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::inline::End;
    use super::super::{random, text};
    use super::*;
    use expect_test::expect;

    #[test]
    fn constants_are_folded_if_that_is_configured() {
        let signature = Signature::new(&[Ty::Ptr], &[Ty::I64]);
        let mut func = Func::new("test", signature);
        let p = func.params()[0];
        let mut b = Builder::folding(&mut func);
        let (place, three) = (b.iconst(2), b.iconst(3));
        let bytes = b.op(Opcode::Ishl, &[place, three]);
        let at = b.op(Opcode::Padd, &[p, bytes]);
        let further = b.padd_imm(at, 4);
        let item = b.load(Width::I64, further, 24);
        b.store(Width::I64, at, i32::MAX, item);
        let yes = b.bconst(true);
        let one = b.op(Opcode::B2i, &[yes]);
        let sum = b.op(Opcode::Iadd, &[one, bytes]);
        let fixed = b.op(Opcode::I2p, &[sum]);
        let word = b.load(Width::I64, fixed, 0);
        let sum = b.op(Opcode::Iadd, &[item, word]);
        b.ret(&[sum]);
        expect![[r#"
            function "test"(ptr) -> i64 {
            block0(v0: ptr):
              v1 = iconst 2
              v2 = iconst 3
              v3 = iconst 16
              v4 = padd v0, v3
              v5 = iconst 4
              v6 = padd v4, v5
              v7 = load.i64 v0+44
              store.i64 v4+2147483647, v7
              v8 = bconst 1
              v9 = iconst 1
              v10 = iconst 17
              v11 = pconst 0x11
              v12 = load.i64 v11
              v13 = iadd v7, v12
              return v13
            }
        "#]]
        .assert_eq(&text::print(&func, &random::helpers()));
    }

    #[test]
    fn random_functions_keep_their_results() {
        random::keeps_meaning(|func| {
            let mut folded = Func::new(func.name.clone(), func.signature.clone());
            folded.slots = func.slots.clone();
            folded.refs.slots = func.refs.slots.clone();
            let params = folded.params().to_vec();
            Builder::folding(&mut folded).copy_body(func, &params, 0, &mut |_, end| match end {
                End::Return(values) => Term::Return(values),
                End::Fail => Term::Fail,
                End::Exit(exit, args) => Term::Exit { exit, args },
            });
            *func = folded;
        });
    }
}
