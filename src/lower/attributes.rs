//! The host's plans for attributes: checks, loads, stores and new instances, each a host intrinsic
//! with constants.

use super::Lower;
use super::Repr;
use super::hop::HighLevelOp;
use crate::facts::IntrinsicCall;
use crate::lir;
use crate::ll::Ty;

impl HighLevelOp<'_, '_> {
    /// The operands of a plan's intrinsic, without its constants.
    pub(super) fn plan_inputs(&mut self, call: &IntrinsicCall) -> Vec<lir::Value> {
        let host = self.lower.host;
        let params = &host.intrinsics[call.id].func.signature.params;
        self.inputs(&params[..self.args().len()])
    }

    /// A plan's intrinsic on objects, with a side exit on failure.
    pub(super) fn access(&mut self, call: &IntrinsicCall) -> Option<lir::Value> {
        let mut exit = self.exit();
        let args = self.plan_inputs(call);
        if (0..args.len()).any(|i| self.repr(i) != Repr::Object) {
            // The frame state has the raw number, and only this operation refers to its box, which
            // is dropped here.
            let (here, failed) = (self.b().current(), self.b().cold_block());
            self.b().switch_to(failed);
            self.drop_made();
            self.b().jump(exit, &[]);
            self.b().switch_to(here);
            exit = failed;
        }
        self.lower.host_call(call, args, Some(exit))
    }

    /// A check of the thread.
    pub(super) fn check_thread(&mut self, call: &IntrinsicCall) {
        let thread = self.lower.thread;
        let exit = self.exit();
        self.lower.host_call(call, vec![thread], Some(exit));
    }

    /// An intrinsic that takes no object and gives one.
    pub(super) fn without_object(&mut self, call: &IntrinsicCall) -> lir::Value {
        let exit = self.exit();
        let object = self.lower.host_call(call, Vec::new(), Some(exit));
        object.expect("an object")
    }
}

impl Lower<'_> {
    /// Inlines a plan's intrinsic, with its immediates after the operands: addresses where it takes
    /// pointers.
    pub(super) fn host_call(
        &mut self,
        call: &IntrinsicCall,
        mut args: Vec<lir::Value>,
        exit: Option<lir::Block>,
    ) -> Option<lir::Value> {
        let params = &self.host.intrinsics[call.id].func.signature.params;
        for &n in &call.imms {
            let constant = match params.get(args.len()) {
                Some(Ty::Ptr) => self.b.pconst(n.cast_unsigned()),
                _ => self.b.iconst(n),
            };
            args.push(constant);
        }
        self.perform(call.id, &args, exit).first().copied()
    }
}
