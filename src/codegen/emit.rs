//! One LIR function into Cranelift IR: the walk, the blocks, the terminators. Ops are in `ops`.

use super::exits::ExitBlocks;
use super::{CodegenError, Input, malformed, symbol};
use crate::lir::{Block, BlockCall, Func, HelperId, Imm, Opcode, SigId, Signature, Term, Value};
use crate::ll::Ty;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{
    self, BlockArg, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, TrapCode,
    UserFuncName, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use cranelift_jit::JITModule;
use cranelift_module::{Linkage, Module};

/// Reaching the end of a block that does not end.
const UNREACHABLE: TrapCode = TrapCode::unwrap_user(1);

/// Working memory, kept from one function to the next.
#[derive(Default)]
pub(super) struct Scratch {
    /// Reachable blocks, definitions before uses.
    pub(super) order: Vec<Block>,
    /// Blocks that the entry reaches without passing a block marked as cold.
    pub(super) hot: EntitySet<Block>,
    /// Cold blocks of loops that call nothing in their hot blocks.
    pub(super) sheltered: EntitySet<Block>,
    /// Blocks that the entry reaches.
    seen: EntitySet<Block>,
    stack: Vec<(Block, bool)>,
    blocks: SecondaryMap<Block, PackedOption<ir::Block>>,
    values: SecondaryMap<Value, PackedOption<ir::Value>>,
    helpers: SecondaryMap<HelperId, PackedOption<ir::FuncRef>>,
    /// What is called for a helper so that no register is lost.
    pub(super) guards: SecondaryMap<HelperId, PackedOption<ir::FuncRef>>,
    sigs: SecondaryMap<SigId, PackedOption<ir::SigRef>>,
    slots: Vec<ir::StackSlot>,
    /// Which stack slot's address a value is, if the slot holds references.
    ref_slots: SecondaryMap<Value, PackedOption<ir::StackSlot>>,
}

impl Scratch {
    /// Order the blocks and find the hot ones. Gives the helpers that are called, each once, the hook included.
    pub(super) fn walk(
        &mut self,
        func: &Func,
        hook: Option<HelperId>,
    ) -> Result<Vec<HelperId>, CodegenError> {
        let entry = *func
            .order
            .first()
            .ok_or_else(|| malformed(func, "no entry block".to_owned()))?;
        self.order.clear();
        self.hot.clear();
        self.seen.clear();
        self.stack.clear();
        self.stack.push((entry, false));
        while let Some((block, finished)) = self.stack.pop() {
            if finished {
                self.order.push(block);
                continue;
            }
            if !self.seen.insert(block) {
                continue;
            }
            self.stack.push((block, true));
            let data = func
                .blocks
                .get(block)
                .ok_or_else(|| malformed(func, format!("no {block}")))?;
            let term = data
                .term
                .as_ref()
                .ok_or_else(|| malformed(func, format!("{block} has no terminator")))?;
            self.stack
                .extend(term.targets().map(|call| (call.block, false)));
        }
        self.order.reverse();

        self.stack.push((entry, false));
        while let Some((block, _)) = self.stack.pop() {
            let data = &func.blocks[block];
            if (data.cold && block != entry) || !self.hot.insert(block) {
                continue;
            }
            self.stack.extend(
                data.term
                    .iter()
                    .flat_map(Term::targets)
                    .map(|call| (call.block, false)),
            );
        }

        let mut helpers = Vec::new();
        let mut exits = false;
        for &block in &self.order {
            let data = &func.blocks[block];
            exits |= matches!(data.term, Some(Term::Exit { .. }));
            for inst in &data.insts {
                if let (Opcode::Call, Imm::Helper(id)) = (inst.op, inst.imm) {
                    helpers.push(id);
                }
            }
        }
        if exits {
            helpers.extend(hook);
        }
        helpers.sort_unstable();
        helpers.dedup();
        Ok(helpers)
    }

    /// What the references of a function that has been emitted became.
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
    pub(super) module: &'a mut JITModule,
    pub(super) scratch: &'a mut Scratch,
    /// See [`super::Codegen::plant`].
    pub(super) planted: bool,
    /// See [`super::Codegen::with_stack_maps`].
    pub(super) native_stack: Option<i32>,
    /// The word that marks calls which may collect, made for the first.
    collects: Option<ir::StackSlot>,
    /// Where guarded calls leave their results, made for the first.
    pub(super) given: Option<ir::StackSlot>,
    /// Whether calls here are to keep all registers.
    pub(super) is_sheltered: bool,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(
        input: &'a Input<'a>,
        module: &'a mut JITModule,
        func: &'a mut ir::Function,
        scratch: &'a mut Scratch,
    ) -> Emitter<'a> {
        Emitter {
            input,
            cursor: FuncCursor::new(func),
            exits: ExitBlocks::default(),
            module,
            scratch,
            planted: false,
            native_stack: None,
            collects: None,
            given: None,
            is_sheltered: false,
        }
    }

    /// Translate the function, whose blocks [`Scratch::walk`] has ordered.
    pub(super) fn emit(
        mut self,
        helpers: &[HelperId],
        guards: &[HelperId],
    ) -> Result<(), CodegenError> {
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
        }
        self.declare(helpers)?;
        self.declare_guards(guards)?;
        self.make_blocks();
        let order = std::mem::take(&mut self.scratch.order);
        for &block in &order {
            let target = self.block(block)?;
            self.cursor.goto_bottom(target);
            self.is_sheltered = self.scratch.sheltered.contains(block);
            for inst in &func.blocks[block].insts {
                self.inst(inst)?;
            }
            self.term(block)?;
        }
        self.scratch.order = order;
        self.emit_exit_blocks()
    }

    /// The signature in Cranelift's terms. Truth values are extended by whoever passes them, as C compilers expect.
    pub(super) fn signature(&self, signature: &Signature) -> ir::Signature {
        let mut result = ir::Signature::new(self.module.isa().default_call_conv());
        let param = |&ty: &Ty| match ty {
            Ty::Bool => ir::AbiParam::new(types::I8).uext(),
            ty => ir::AbiParam::new(clif_type(ty)),
        };
        result.params.extend(signature.params.iter().map(param));
        result.returns.extend(signature.results.iter().map(param));
        result
    }

    fn declare(&mut self, helpers: &[HelperId]) -> Result<(), CodegenError> {
        self.scratch.helpers.clear();
        self.scratch.sigs.clear();
        self.scratch.slots.clear();
        self.scratch.ref_slots.clear();
        for &id in helpers {
            let signature = self.signature(&self.input.helpers[id].signature);
            let import = self
                .module
                .declare_function(&symbol(id), Linkage::Import, &signature)
                .map_err(|e| super::from_module_error(self.input.func, e))?;
            let reference = self.module.declare_func_in_func(import, self.cursor.func);
            self.scratch.helpers[id] = reference.into();
        }
        for &bytes in &self.input.func.slots {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
            self.scratch
                .slots
                .push(self.cursor.func.create_sized_stack_slot(data));
        }
        Ok(())
    }

    /// Make the reachable blocks, in the function's own order.
    fn make_blocks(&mut self) {
        let func = self.input.func;
        let Scratch {
            seen,
            hot,
            blocks,
            values,
            ..
        } = &mut *self.scratch;
        blocks.clear();
        values.clear();
        for &block in func.order.iter().filter(|&&block| seen.contains(block)) {
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

    fn term(&mut self, block: Block) -> Result<(), CodegenError> {
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
            Term::Br { cond, then, els } => {
                let cond = self.value(*cond)?;
                let (then, then_args) = self.call(then)?;
                let (els, els_args) = self.call(els)?;
                match self.negated(cond) {
                    Some(cond) => self
                        .cursor
                        .ins()
                        .brif(cond, els, &els_args, then, &then_args),
                    None => self
                        .cursor
                        .ins()
                        .brif(cond, then, &then_args, els, &els_args),
                };
            }
            Term::Return(values) => {
                let values = self.values(values)?;
                self.cursor.ins().return_(&values);
            }
            Term::Exit { exit, args } => self.exit(*exit, args)?,
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

    fn call(&self, call: &BlockCall) -> Result<(ir::Block, Vec<BlockArg>), CodegenError> {
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

    /// What a value became.
    pub(super) fn value(&self, value: Value) -> Result<ir::Value, CodegenError> {
        self.scratch.values[value]
            .expand()
            .ok_or_else(|| self.malformed(format!("{value} is used where it is not defined")))
    }

    pub(super) fn values(&self, values: &[Value]) -> Result<Vec<ir::Value>, CodegenError> {
        values.iter().map(|&v| self.value(v)).collect()
    }

    /// Say what a value became.
    pub(super) fn define(&mut self, value: Value, result: ir::Value) {
        self.scratch.values[value] = result.into();
    }

    /// The declared helper.
    pub(super) fn helper(&self, id: HelperId) -> Result<ir::FuncRef, CodegenError> {
        self.scratch.helpers[id]
            .expand()
            .ok_or_else(|| self.malformed(format!("{id} is not declared")))
    }

    /// The signature of an indirect call, made at its first use.
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

    /// Remember what a stack slot's address became, for [`Emitter::collects`].
    pub(super) fn slot_address(&mut self, address: Option<&Value>, number: i64) {
        let holds_refs =
            u32::try_from(number).is_ok_and(|n| self.input.func.refs.slots.contains(&n));
        if let (true, Some(&address)) = (holds_refs, address) {
            self.scratch.ref_slots[address] = self.scratch.slots[number as usize].into();
        }
    }

    /// Before a call that may collect: note where this frame is.
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

    /// The call that has just been made may collect: mark it, and name the stack slots with references whose addresses
    /// it is given.
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
