//! Register guards: functions that call a helper and keep all registers.
//!
//! For example, the cold block of a loop that runs pending work calls the helper through its guard,
//! so that the loop's numbers stay in registers.

use super::CodegenError;
use super::emit::{Declared, Emitter, Scratch, clif_type};
use crate::lir::{Builder, Func, Helper, HelperId, Inst, Signature};
use crate::ll::{Ty, Width};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, types};
use cranelift_codegen::isa::CallConv;

/// The register guard of a helper: a function that calls it for a caller that loses no register. If
/// there is a result, a pointer to its place follows the operands. None for a helper with a result
/// other than a word.
pub fn guarded(id: HelperId, helper: &Helper) -> Option<Func> {
    let Signature { params, results } = &helper.signature;
    if !helper.can_be_guarded() {
        return None;
    }
    let mut params = params.clone();
    params.extend(results.iter().map(|_| Ty::Ptr));
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

/// The address of a helper's register guard, if it has one.
pub type Guards<'a> = &'a dyn Fn(HelperId) -> Option<u64>;

impl Scratch {
    /// Finds the cold blocks of loops that make no calls in their hot blocks, or of a function that
    /// keeps most registers, and declares the guards for their callees.
    pub(super) fn shelter(
        &mut self,
        func: &Func,
        keeps_most: bool,
        guarded: Option<Guards<'_>>,
        declared: &mut Vec<Declared>,
    ) {
        self.sheltered.clear();
        let Some(guarded) = guarded else {
            return;
        };
        if self.cfg.order().iter().all(|b| self.hot.contains(*b)) {
            return;
        }
        if keeps_most {
            let blocks = self.cfg.order().iter().copied();
            self.sheltered
                .extend(blocks.filter(|b| !self.hot.contains(*b)));
        } else {
            self.find_sheltered(func)
        }
        let called = func.helpers_in(self.sheltered.iter()).into_iter();
        declared.extend(called.filter_map(|id| Some(Declared::Guarded(id, guarded(id)?))));
    }

    fn find_sheltered(&mut self, func: &Func) {
        for (i, found) in self.loops.iter().enumerate() {
            if !found.is_quiet(func, &self.hot) {
                continue;
            }
            for &b in &found.blocks {
                if self.innermost[b] == Some(i) && !self.hot.contains(b) {
                    self.sheltered.insert(b);
                }
            }
        }
    }
}

impl Emitter<'_> {
    /// The signature of a helper's guard, in Cranelift's terms.
    pub(super) fn guarded_signature(&self, id: HelperId) -> ir::Signature {
        let Signature { params, results } = &self.input.helpers[id].signature;
        let mut signature = ir::Signature::new(CallConv::PreserveAll);
        let param = |&ty: &Ty| ir::AbiParam::new(clif_type(ty));
        signature.params.extend(params.iter().map(param));
        if !results.is_empty() {
            signature.params.push(ir::AbiParam::new(types::I64));
        }
        signature
    }

    /// Calls a helper so that no register is lost, if the block requires it. Returns true if it
    /// did.
    pub(super) fn call_guarded(
        &mut self,
        id: HelperId,
        inst: &Inst,
        args: &[ir::Value],
    ) -> Result<bool, CodegenError> {
        let guarded = self.guarded(id);
        let Some(guarded) = guarded.filter(|_| self.is_sheltered) else {
            return Ok(false);
        };
        // Copies: the call wants its arguments in certain registers, while values of hot code must
        // keep theirs.
        let mut args: Vec<ir::Value> = args.iter().map(|&arg| self.copy(arg)).collect();
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
        self.cursor.ins().call(guarded, &args);
        if let (Some(place), [result]) = (place, &inst.results[..]) {
            let place = self.cursor.ins().stack_addr(types::I64, place, 0);
            let flags = MemFlagsData::trusted();
            let given = self.cursor.ins().load(types::I64, flags, place, 0);
            self.define(*result, given);
        }
        Ok(true)
    }
}
