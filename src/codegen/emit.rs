//! One LIR function into Cranelift IR: the walk, the blocks, the terminators. Ops are in `ops`.

use super::addresses::{Addresses, is_fixed};
use super::body::{ADDRESSES, CALLEES};
use super::exits::{ExitBlocks, Tail};
use super::{CodegenError, Input, malformed};
use crate::lir::{
    Block, BlockCall, Cfg, Func, HelperId, Imm, NaturalLoop, OpEffects, RoutineId, SigId,
    Signature, Term, Value,
};
use crate::ll::Ty;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{
    self, BlockArg, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, TrapCode,
    UserFuncName, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;

/// The operands of an instruction.
pub(super) type Values = SmallVec<[ir::Value; 8]>;

/// The arguments of an edge.
type Passed = SmallVec<[BlockArg; 8]>;

/// The calling convention of routines that keep most registers: that of Windows, in which a call
/// may change half as many registers as in the C convention of other systems, so that two more
/// words stay in registers across it.
const KEEPS_MOST: CallConv = CallConv::WindowsFastcall;

/// The trap for reaching the end of a block that does not end.
const UNREACHABLE: TrapCode = TrapCode::unwrap_user(1);

/// Working memory, reused from one function to the next.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) cfg: Cfg,
    /// Blocks that are reachable without passing a block marked as cold.
    pub(super) hot: EntitySet<Block>,
    /// Cold blocks of loops that make no calls in their hot blocks.
    pub(super) sheltered: EntitySet<Block>,
    pub(super) loops: Vec<NaturalLoop>,
    /// The innermost loop of each block.
    pub(super) innermost: SecondaryMap<Block, Option<usize>>,
    /// Truth values that are used once.
    singles: EntitySet<Value>,
    /// Unused results of instructions without effects. These are not emitted: instruction selection
    /// would count them as uses of their operands.
    idle: EntitySet<Value>,
    blocks: SecondaryMap<Block, PackedOption<ir::Block>>,
    values: SecondaryMap<Value, PackedOption<ir::Value>>,
    helpers: SecondaryMap<HelperId, PackedOption<ir::FuncRef>>,
    routines: SecondaryMap<RoutineId, PackedOption<ir::FuncRef>>,
    guarded: SecondaryMap<HelperId, PackedOption<ir::FuncRef>>,
    sigs: SecondaryMap<SigId, PackedOption<ir::SigRef>>,
    slots: Vec<ir::StackSlot>,
    /// The stack slot of each value that is its address, if the slot holds references.
    ref_slots: SecondaryMap<Value, PackedOption<ir::StackSlot>>,
}

/// A callee with a linker symbol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Declared {
    Helper(HelperId),
    Routine(RoutineId),
    /// The [register guard](super::guarded) of a helper, and its address.
    Guarded(HelperId, u64),
}

impl Declared {
    /// The linker's name. Not the host's, which could hide a library function that Cranelift itself
    /// calls.
    pub(super) fn symbol(self) -> String {
        match self {
            Declared::Helper(id) => id.to_string(),
            Declared::Routine(id) => id.to_string(),
            Declared::Guarded(id, _) => format!("guarded_{id}"),
        }
    }

    /// Its name and address.
    pub(super) fn of(self, input: &Input<'_>) -> Result<(String, usize), CodegenError> {
        let found = match self {
            Declared::Helper(id) => {
                let helper = input.helpers.get(id);
                helper.map(|helper| (helper.name.to_owned(), helper.address))
            }
            Declared::Guarded(id, address) => {
                let helper = input.helpers.get(id);
                helper.map(|helper| (format!("guarded {}", helper.name), address as usize))
            }
            Declared::Routine(id) => {
                let routine = input.func.routines.get(id);
                if routine.is_some_and(|routine| routine.address == 0) {
                    let what = format!("{id} was read from text and has no address");
                    return Err(malformed(input.func, what));
                }
                routine.map(|routine| (routine.name.clone(), routine.address as usize))
            }
        };
        found.ok_or_else(|| malformed(input.func, format!("no {}", self.symbol())))
    }
}

impl Scratch {
    /// Orders the blocks and finds the hot ones. Returns the callees with symbols, each once, the
    /// hook included.
    pub(super) fn walk(
        &mut self,
        func: &Func,
        hook: Option<HelperId>,
    ) -> Result<Vec<Declared>, CodegenError> {
        self.cfg = Cfg::new(func);
        if self.cfg.order().is_empty() {
            return Err(malformed(func, "no entry block".to_owned()));
        }
        for &block in self.cfg.order() {
            let data = &func.blocks[block];
            if data.term.is_none() {
                return Err(malformed(func, format!("{block} has no terminator")));
            }
            for target in data.targets() {
                if !func.blocks.is_valid(target.block) {
                    return Err(malformed(func, format!("no {}", target.block)));
                }
            }
        }
        self.hot = func.hot_blocks();
        self.loops = self.cfg.loops();
        self.innermost.clear();
        for (i, NaturalLoop { blocks, .. }) in self.loops.iter().enumerate() {
            blocks
                .iter()
                .for_each(|block| self.innermost[*block] = Some(i));
        }
        self.count_uses(func);

        let mut declared = Vec::new();
        let mut exits = false;
        for &block in self.cfg.order() {
            let data = &func.blocks[block];
            exits |= matches!(data.term, Some(Term::Exit { .. }));
            for inst in &data.insts {
                match inst.imm {
                    Imm::Helper(id) => declared.push(Declared::Helper(id)),
                    Imm::Routine(id) => declared.push(Declared::Routine(id)),
                    _ => {}
                }
            }
        }
        if exits {
            declared.extend(hook.map(Declared::Helper));
        }
        declared.sort_unstable();
        declared.dedup();
        Ok(declared)
    }

    fn count_uses(&mut self, func: &Func) {
        let mut used = EntitySet::with_capacity(func.values.len());
        self.singles.clear();
        self.idle.clear();
        let mut count = |used: &mut EntitySet<Value>, v: Value| {
            let is_first = used.insert(v);
            match func.values.get(v) {
                Some(Ty::Bool) if is_first => drop(self.singles.insert(v)),
                Some(Ty::Bool) => drop(self.singles.remove(v)),
                _ => {}
            }
        };
        // In this order, uses come before definitions.
        for &block in self.cfg.order().iter().rev() {
            let data = &func.blocks[block];
            let given = data.targets().flat_map(|call| &call.args);
            let ends = data.term.iter().flat_map(Term::args);
            given.chain(ends).for_each(|v| count(&mut used, *v));
            for inst in data.insts.iter().rev() {
                let effects = inst.op.info().effects;
                if (effects.is_pure() || effects == OpEffects::READS)
                    && !inst.results.iter().any(|v| used.contains(*v))
                {
                    self.idle.extend(inst.results.iter().copied());
                } else {
                    inst.args.iter().for_each(|v| count(&mut used, *v));
                }
            }
        }
    }

    /// Returns true if the target for a false condition should be the first of a branch.
    ///
    /// Cranelift numbers blocks in reverse postorder, and visits the first target of a branch
    /// first: so that one is placed last, after all blocks reachable from the other. The register
    /// allocator treats all blocks between the ends of a loop in this order as part of it, and
    /// prefers the values that are used there. So a cold target, or one outside the loop, comes
    /// first in the branch.
    fn is_other_first(&self, from: Block, then: Block, els: Block) -> bool {
        let Some(i) = self.innermost[from] else {
            return false;
        };
        let rank = |to: Block| {
            if self.hot.contains(to) {
                if !self.loops[i].body.contains(to) {
                    1
                } else {
                    2
                }
            } else {
                0
            }
        };
        rank(els) < rank(then)
    }

    /// The Cranelift values of an emitted function's references.
    pub(super) fn references(&self, func: &Func) -> Vec<ir::Value> {
        let values = func.refs.values.iter();
        values.filter_map(|v| self.values[v].expand()).collect()
    }
}

/// Translates one function.
pub(super) struct Emitter<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) cursor: FuncCursor<'a>,
    pub(super) exits: ExitBlocks,
    call_conv: CallConv,
    scratch: &'a mut Scratch,
    addresses: &'a mut Addresses,
    /// Cranelift's names of addresses, by their numbers.
    symbols: Vec<PackedOption<ir::GlobalValue>>,
    /// See [`super::Codegen::plant`].
    pub(super) planted: bool,
    /// See [`super::Codegen::with_stack_maps`].
    pub(super) native_stack: Option<i32>,
    /// The slot that marks calls which may collect, created for the first.
    collects: Option<ir::StackSlot>,
    /// The slot for the results of guarded calls, created for the first.
    pub(super) given: Option<ir::StackSlot>,
    /// True if calls here must keep all registers.
    pub(super) is_sheltered: bool,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(
        input: &'a Input<'a>,
        call_conv: CallConv,
        func: &'a mut ir::Function,
        scratch: &'a mut Scratch,
        addresses: &'a mut Addresses,
    ) -> Emitter<'a> {
        Emitter {
            input,
            cursor: FuncCursor::new(func),
            exits: ExitBlocks::default(),
            call_conv,
            scratch,
            addresses,
            symbols: Vec::new(),
            planted: false,
            native_stack: None,
            collects: None,
            given: None,
            is_sheltered: false,
        }
    }

    /// Translates the function, whose blocks [`Scratch::walk`] has ordered. Each callee has a flag
    /// that is true if a near call reaches it.
    pub(super) fn emit(mut self, declared: &[(Declared, bool)]) -> Result<(), CodegenError> {
        let func = self.input.func;
        let name: String = func
            .name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '_' {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        self.cursor.func.name = UserFuncName::testcase(name);
        self.cursor.func.signature = self.signature(&func.signature);
        if self.input.keeps_registers {
            self.cursor.func.signature.call_conv = CallConv::PreserveAll;
        } else if self.input.keeps_most {
            self.cursor.func.signature.call_conv = KEEPS_MOST;
        }
        self.declare(declared);
        self.make_blocks();
        let cfg = std::mem::take(&mut self.scratch.cfg);
        // With a collector, exits pass their words, so that it finds them.
        let shares_tails = self.native_stack.is_none();
        let mut subtracted = SecondaryMap::new();
        for &block in cfg.order().iter().filter(|_| shares_tails) {
            Tail::count(&func.blocks[block], &mut subtracted);
        }
        for &block in cfg.order() {
            let target = self.block(block)?;
            self.cursor.goto_bottom(target);
            self.is_sheltered = self.scratch.sheltered.contains(block);
            let data = &func.blocks[block];
            let tail = if shares_tails {
                Tail::of(data, &subtracted)
            } else {
                Tail::default()
            };
            for inst in &data.insts[..data.insts.len() - tail.len()] {
                let is_idle = |v: &Value| self.scratch.idle.contains(*v);
                if !inst.results.first().is_some_and(is_idle) {
                    self.inst(inst)?;
                }
            }
            self.term(block, tail)?;
        }
        self.scratch.cfg = cfg;
        self.emit_exit_blocks()
    }

    /// The signature in Cranelift's terms. The caller extends truth values, as C compilers expect.
    pub(super) fn signature(&self, signature: &Signature) -> ir::Signature {
        let mut result = ir::Signature::new(self.call_conv);
        let param = |&ty: &Ty| match ty {
            Ty::Bool => ir::AbiParam::new(types::I8).uext(),
            ty => ir::AbiParam::new(clif_type(ty)),
        };
        result.params.extend(signature.params.iter().map(param));
        result.returns.extend(signature.results.iter().map(param));
        result
    }

    fn declare(&mut self, declared: &[(Declared, bool)]) {
        self.scratch.helpers.clear();
        self.scratch.routines.clear();
        self.scratch.guarded.clear();
        self.scratch.sigs.clear();
        self.scratch.slots.clear();
        self.scratch.ref_slots.clear();
        for (index, &(callee, is_near)) in (0..).zip(declared) {
            let signature = match callee {
                Declared::Helper(id) => self.signature(&self.input.helpers[id].signature),
                Declared::Routine(id) => {
                    let routine = &self.input.func.routines[id];
                    let mut signature = self.signature(&routine.signature);
                    if routine.keeps_most {
                        signature.call_conv = KEEPS_MOST;
                    }
                    signature
                }
                Declared::Guarded(id, _) => self.guarded_signature(id),
            };
            let name = self.name(CALLEES, index);
            let signature = self.cursor.func.import_signature(signature);
            let reference = self.cursor.func.import_function(ir::ExtFuncData {
                name,
                signature,
                colocated: is_near,
                patchable: false,
            });
            match callee {
                Declared::Helper(id) => self.scratch.helpers[id] = reference.into(),
                Declared::Routine(id) => self.scratch.routines[id] = reference.into(),
                Declared::Guarded(id, _) => self.scratch.guarded[id] = reference.into(),
            }
        }
        for &bytes in &self.input.func.slots {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
            self.scratch
                .slots
                .push(self.cursor.func.create_sized_stack_slot(data));
        }
    }

    /// A name that is resolved where the code is placed.
    fn name(&mut self, namespace: u32, index: u32) -> ir::ExternalName {
        let name = ir::UserExternalName { namespace, index };
        ir::ExternalName::user(self.cursor.func.declare_imported_user_function(name))
    }

    /// An address.
    pub(super) fn address(&mut self, address: u64) -> ir::Value {
        if self.input.want_text || is_fixed(address) {
            return self.cursor.ins().iconst(types::I64, address.cast_signed());
        }
        let number = self.addresses.number(address);
        let index = number as usize;
        if index >= self.symbols.len() {
            self.symbols.resize(index + 1, None.into());
        }
        let symbol = match self.symbols[index].expand() {
            Some(symbol) => symbol,
            None => {
                let name = self.name(ADDRESSES, number);
                let symbol = self
                    .cursor
                    .func
                    .create_global_value(ir::GlobalValueData::Symbol {
                        name,
                        offset: 0.into(),
                        colocated: false,
                        tls: false,
                    });
                self.symbols[index] = symbol.into();
                symbol
            }
        };
        self.cursor.ins().symbol_value(types::I64, symbol)
    }

    /// Creates the reachable blocks, in the function's own order.
    fn make_blocks(&mut self) {
        let func = self.input.func;
        let Scratch {
            cfg,
            hot,
            blocks,
            values,
            ..
        } = &mut *self.scratch;
        blocks.clear();
        values.clear();
        let reachable = func.order.iter().filter(|b| cfg.is_reachable(**b));
        for &block in reachable {
            let target = self.cursor.func.dfg.make_block();
            self.cursor.func.layout.append_block(target);
            if !hot.contains(block) {
                self.cursor.func.layout.set_cold(target);
            }
            blocks[block] = target.into();
            for &param in &func.blocks[block].params {
                let ty = clif_type(func.values[param]);
                values[param] = self.cursor.func.dfg.append_block_param(target, ty).into();
            }
        }
    }

    fn term(&mut self, block: Block, tail: Tail<'_>) -> Result<(), CodegenError> {
        let func = self.input.func;
        match func.blocks[block]
            .term
            .as_ref()
            .expect("the walk has seen it")
        {
            Term::Jump(call) => {
                let (target, args) = self.call(call)?;
                self.cursor.ins().jump(target, &args);
            }
            Term::Br {
                cond, then, els, ..
            } => {
                let swaps = self.scratch.is_other_first(block, then.block, els.block);
                let is_single = self.is_single(*cond);
                let cond = self.value(*cond)?;
                let (mut then, mut els) = (self.call(then)?, self.call(els)?);
                let (mut cond, is_negated) = match self.negated(cond) {
                    Some(cond) => (cond, true),
                    None => (cond, false),
                };
                if is_negated != swaps {
                    std::mem::swap(&mut then, &mut els);
                }
                if swaps {
                    cond = self.opposite(cond, is_single && !is_negated);
                }
                let ((then, then_args), (els, els_args)) = (then, els);
                let ins = self.cursor.ins();
                ins.brif(cond, then, &then_args, els, &els_args);
            }
            Term::Return(values) => {
                let values = self.values(values)?;
                self.cursor.ins().return_(&values);
            }
            Term::Exit { exit, args } => self.exit(*exit, args, tail)?,
            Term::Unreachable => {
                self.cursor.ins().trap(UNREACHABLE);
            }
            Term::Fail => {
                return Err(CodegenError::Fail {
                    func: func.name.clone(),
                    block,
                });
            }
        }
        Ok(())
    }

    /// Returns true if a truth value is used once.
    pub(super) fn is_single(&self, value: Value) -> bool {
        self.scratch.singles.contains(value)
    }

    fn call(&self, call: &BlockCall) -> Result<(ir::Block, Passed), CodegenError> {
        let args = call
            .args
            .iter()
            .map(|&v| Ok(self.value(v)?.into()))
            .collect::<Result<_, CodegenError>>()?;
        Ok((self.block(call.block)?, args))
    }

    fn block(&self, block: Block) -> Result<ir::Block, CodegenError> {
        self.scratch.blocks[block]
            .expand()
            .ok_or_else(|| self.malformed(format!("no {block}")))
    }

    /// The Cranelift value of a value.
    pub(super) fn value(&self, value: Value) -> Result<ir::Value, CodegenError> {
        self.scratch.values[value]
            .expand()
            .ok_or_else(|| self.malformed(format!("{value} is used where it is not defined")))
    }

    pub(super) fn values(&self, values: &[Value]) -> Result<Values, CodegenError> {
        values.iter().map(|&v| self.value(v)).collect()
    }

    /// Sets the Cranelift value of a value.
    pub(super) fn define(&mut self, value: Value, result: ir::Value) {
        self.scratch.values[value] = result.into();
    }

    /// The declared helper.
    pub(super) fn helper(&self, id: HelperId) -> Result<ir::FuncRef, CodegenError> {
        self.scratch.helpers[id]
            .expand()
            .ok_or_else(|| self.malformed(format!("{id} is not declared")))
    }

    /// The declared register guard of a helper.
    pub(super) fn guarded(&self, id: HelperId) -> Option<ir::FuncRef> {
        self.scratch.guarded[id].expand()
    }

    /// The declared routine.
    pub(super) fn routine(&self, id: RoutineId) -> Result<ir::FuncRef, CodegenError> {
        self.scratch.routines[id]
            .expand()
            .ok_or_else(|| self.malformed(format!("{id} is not declared")))
    }

    /// The signature of an indirect call, created at its first use.
    pub(super) fn sig(&mut self, id: SigId) -> Result<ir::SigRef, CodegenError> {
        if let Some(sig) = self.scratch.sigs[id].expand() {
            return Ok(sig);
        }
        let signature = self
            .input
            .func
            .sigs
            .get(id)
            .ok_or_else(|| self.malformed(format!("no {id}")))?;
        let signature = self.signature(signature);
        let sig = self.cursor.func.import_signature(signature);
        self.scratch.sigs[id] = sig.into();
        Ok(sig)
    }

    /// The stack slot of a number.
    pub(super) fn slot(&self, number: i64) -> Result<ir::StackSlot, CodegenError> {
        let slot = usize::try_from(number)
            .ok()
            .and_then(|n| self.scratch.slots.get(n).copied());
        slot.ok_or_else(|| self.malformed(format!("no stack slot {number}")))
    }

    /// Notes the address of a stack slot, for [`Emitter::collects`].
    pub(super) fn slot_address(&mut self, address: Option<&Value>, number: i64) {
        let holds_refs =
            u32::try_from(number).is_ok_and(|n| self.input.func.refs.slots.contains(&n));
        if let (true, Some(&address)) = (holds_refs, address) {
            self.scratch.ref_slots[address] = self.scratch.slots[number as usize].into();
        }
    }

    /// Stores the place of this frame before a call that may collect.
    pub(super) fn leave_mark(&mut self) -> Result<(), CodegenError> {
        let Some(offset) = self.native_stack else {
            return Ok(());
        };
        let func = self.input.func;
        let thread = match (func.params().first(), &func.signature.params[..]) {
            (Some(&thread), [Ty::Ptr, ..]) => self.value(thread)?,
            _ => return Err(self.malformed("the first parameter is not the thread".to_owned())),
        };
        let sp = self.cursor.ins().get_stack_pointer(types::I64);
        self.cursor
            .ins()
            .store(MemFlagsData::trusted(), sp, thread, offset);
        Ok(())
    }

    /// Marks the latest call as one that may collect, with the stack slots of references whose
    /// addresses it receives.
    pub(super) fn collects(&mut self, call: ir::Inst, args: &[Value]) {
        if self.native_stack.is_none() {
            return;
        }
        let func = &mut *self.cursor.func;
        let mark = *self.collects.get_or_insert_with(|| {
            func.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3))
        });
        let mut entries = vec![(super::COLLECTS, mark, 0)];
        for slot in args
            .iter()
            .filter_map(|&v| self.scratch.ref_slots[v].expand())
        {
            let words = (0..func.sized_stack_slots[slot].size).step_by(8);
            entries.extend(words.map(|offset| (types::I64, slot, offset)));
        }
        for (ty, slot, offset) in entries {
            let entry = ir::UserStackMapEntry { ty, slot, offset };
            func.dfg.append_user_stack_map_entry(call, entry);
        }
    }

    pub(super) fn malformed(&self, what: String) -> CodegenError {
        malformed(self.input.func, what)
    }
}

/// The Cranelift type of a LIR type.
pub(super) fn clif_type(ty: Ty) -> ir::Type {
    match ty {
        Ty::Bool => types::I8,
        Ty::I64 | Ty::Ptr => types::I64,
        Ty::F64 => types::F64,
    }
}
