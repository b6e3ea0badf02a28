//! Calls that keep all registers: which there are, and how they are made.

use super::CodegenError;
use super::emit::{Emitter, Scratch, clif_type};
use crate::lir::{Block, Builder, Func, Helper, HelperId, Imm, Inst, Opcode, Signature, Term};
use crate::ll::{Ty, Width};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, types};
use cranelift_codegen::isa::CallConv;
use cranelift_entity::{EntitySet, SecondaryMap};
use cranelift_module::{Linkage, Module};

/// The function that calls a helper for a caller which loses no register by it: with a result, a pointer to where that goes follows the
/// operands. None for a helper with another result than a word.
pub fn guarded(id: HelperId, helper: &Helper) -> Option<Func> {
    let Signature { params, results } = &helper.signature;
    let mut params = params.clone();
    match results[..] {
        [] => {}
        [Ty::I64 | Ty::Ptr] => params.push(Ty::Ptr),
        _ => return None,
    }
    let mut func = Func::new(
        format!("guarded {}", helper.name),
        Signature::new(&params, &[]),
    );
    let mut args = func.params().to_vec();
    let place = (!results.is_empty()).then(|| args.pop()).flatten();
    let mut b = Builder::new(&mut func);
    let given = b.call(id, &args, results);
    if let (Some(place), [given]) = (place, &given[..]) {
        b.store(Width::I64, place, 0, *given);
    }
    b.ret(&[]);
    Some(func)
}

impl Scratch {
    /// The helpers that sheltered blocks call, each once.
    pub(super) fn sheltered_calls(&self, func: &Func) -> Vec<HelperId> {
        let blocks = self.order.iter().filter(|b| self.sheltered.contains(**b));
        let insts = blocks.flat_map(|b| &func.blocks[*b].insts);
        let mut ids: Vec<HelperId> = insts
            .filter_map(|inst| match (inst.op, inst.imm) {
                (Opcode::Call, Imm::Helper(id)) => Some(id),
                _ => None,
            })
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Find the blocks that nothing hot leads to in loops that call nothing in their hot blocks; none, if they are of no use.
    pub(super) fn shelter(&mut self, func: &Func, is_useful: bool) {
        self.sheltered.clear();
        if !is_useful || self.order.iter().all(|b| self.hot.contains(*b)) {
            return;
        }
        let mut place: SecondaryMap<Block, usize> = SecondaryMap::new();
        let mut preds: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
        for (i, &b) in self.order.iter().enumerate() {
            place[b] = i;
        }
        let targets = |b: Block| {
            let term = func.blocks[b].term.iter();
            term.flat_map(Term::targets).map(|call| call.block)
        };
        let mut latches: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
        for &b in &self.order {
            for target in targets(b) {
                preds[target].push(b);
                if place[target] <= place[b] {
                    latches[target].push(b);
                }
            }
        }
        // Inner loops come later in the order: a block belongs to the first that has it.
        let mut taken: EntitySet<Block> = EntitySet::new();
        for &header in self.order.iter().rev() {
            if latches[header].is_empty() {
                continue;
            }
            let mut body: EntitySet<Block> = EntitySet::new();
            body.insert(header);
            let mut blocks = vec![header];
            let mut work = std::mem::take(&mut latches[header]);
            while let Some(b) = work.pop() {
                if body.insert(b) {
                    blocks.push(b);
                    work.extend(&preds[b]);
                }
            }
            let calls = |b: &Block| {
                let mut insts = func.blocks[*b].insts.iter();
                insts.any(|inst| matches!(inst.op, Opcode::Call | Opcode::CallIndirect))
            };
            let is_quiet = !blocks.iter().any(|b| self.hot.contains(*b) && calls(b));
            for b in blocks {
                if taken.insert(b) && is_quiet && !self.hot.contains(b) {
                    self.sheltered.insert(b);
                }
            }
        }
    }
}

/// The linker's name of what is called for a helper.
pub(super) fn symbol(id: HelperId) -> String {
    format!("{id}_guarded")
}

impl Emitter<'_> {
    /// Declare what is called for these helpers.
    pub(super) fn declare_guards(&mut self, ids: &[HelperId]) -> Result<(), CodegenError> {
        self.scratch.guards.clear();
        for &id in ids {
            let Signature { params, results } = &self.input.helpers[id].signature;
            let mut signature = ir::Signature::new(CallConv::PreserveAll);
            let place = results.iter().map(|_| &Ty::Ptr);
            let params = params.iter().chain(place);
            let params = params.map(|&ty| ir::AbiParam::new(clif_type(ty)));
            signature.params.extend(params);
            let import = self
                .module
                .declare_function(&symbol(id), Linkage::Import, &signature)
                .map_err(|e| super::from_module_error(self.input.func, e))?;
            let reference = self.module.declare_func_in_func(import, self.cursor.func);
            self.scratch.guards[id] = reference.into();
        }
        Ok(())
    }

    /// Call a helper so that no register is lost, if this is a place for that; says whether it was.
    pub(super) fn call_guarded(
        &mut self,
        id: HelperId,
        inst: &Inst,
        args: &[ir::Value],
    ) -> Result<bool, CodegenError> {
        let Some(guard) = self.scratch.guards[id]
            .expand()
            .filter(|_| self.is_sheltered)
        else {
            return Ok(false);
        };
        let mut args = args.to_vec();
        let place = (!inst.results.is_empty()).then(|| {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3);
            let func = &mut *self.cursor.func;
            *self
                .given
                .get_or_insert_with(|| func.create_sized_stack_slot(data))
        });
        if let Some(place) = place {
            args.push(self.cursor.ins().stack_addr(types::I64, place, 0));
        }
        self.cursor.ins().call(guard, &args);
        if let (Some(place), [result]) = (place, &inst.results[..]) {
            let place = self.cursor.ins().stack_addr(types::I64, place, 0);
            let flags = MemFlagsData::trusted();
            let given = self.cursor.ins().load(types::I64, flags, place, 0);
            self.define(*result, given);
        }
        Ok(true)
    }
}
