//! An instruction during its lowering: its operands in the wanted forms, calls, and the place where
//! it may raise.
//!
//! # Marks
//! An op that may raise, as its row in the HIR table says, declares exactly once either the place
//! in its LIR where it raises ([`exception_is_here`](HighLevelOp::exception_is_here)) or that it
//! raises nothing here ([`exception_cannot_occur`](HighLevelOp::exception_cannot_occur)). It does
//! so with or without a handler in the function; any other op declares neither. So an exception
//! leaves an instruction by one path, to its landing block or out of the unit, and no lowering
//! forgets it. [`finish`](HighLevelOp::finish) checks this; a violation is a [fault](super::fault),
//! and the function is refused.

use super::fault::What;
use super::{Lower, Repr, Wanted};
use crate::exits::{ExitKind, Reason};
use crate::facts::RawKind;
use crate::hir::{Inst, Op, Pc, StateId, Value};
use crate::lir::{self, Builder, Opcode};
use crate::ll::Ty;

/// An HIR instruction that is being lowered.
pub(super) struct HighLevelOp<'l, 'a> {
    pub(super) lower: &'l mut Lower<'a>,
    /// Its result.
    pub(super) v: Value,
    inst: &'a Inst,
    /// The operands for which boxes were allocated, which [`drop_made`](Self::drop_made) drops.
    made: Vec<(Value, lir::Value)>,
    is_marked: bool,
}

impl Lower<'_> {
    /// Lowers an instruction.
    pub(super) fn inst(&mut self, v: Value) {
        let mut hop = HighLevelOp::new(self, v);
        let result = hop.dispatch();
        hop.finish(result);
    }
}

impl<'l, 'a> HighLevelOp<'l, 'a> {
    pub(super) fn new(lower: &'l mut Lower<'a>, v: Value) -> HighLevelOp<'l, 'a> {
        lower.lowered = Some(v);
        let inst = lower.f.inst(v);
        HighLevelOp {
            lower,
            v,
            inst,
            made: Vec::new(),
            is_marked: false,
        }
    }

    /// The op with its immediates.
    pub(super) fn op(&self) -> &'a Op {
        &self.inst.op
    }

    /// The operands.
    pub(super) fn args(&self) -> &'a [Value] {
        &self.inst.args
    }

    /// An operand.
    pub(super) fn arg(&self, i: usize) -> Value {
        self.inst.args[i]
    }

    /// Its bytecode instruction.
    pub(super) fn pc(&self) -> Pc {
        self.inst.pc
    }

    /// The frame state of an op that may deoptimise.
    ///
    /// # Panics
    /// If it has none, which the verifier forbids.
    pub(super) fn state(&self) -> StateId {
        let state = self.inst.state;
        state.unwrap_or_else(|| panic!("{} may leave but has no frame state", self.v))
    }

    /// The representation of an operand.
    pub(super) fn repr(&self, i: usize) -> Repr {
        self.lower.repr(self.arg(i))
    }

    /// The builder of LIR.
    pub(super) fn b(&mut self) -> &mut Builder<'a> {
        &mut self.lower.b
    }

    /// An operand in the wanted form. If a box is allocated for that, the op must either pass on
    /// its reference or call [`drop_made`](Self::drop_made).
    pub(super) fn input(&mut self, i: usize, wanted: Wanted) -> lir::Value {
        let v = self.arg(i);
        let (value, is_made) = self.lower.convert(v, wanted);
        if is_made {
            self.made.push((v, value));
        }
        value
    }

    /// The pointer of an operand.
    pub(super) fn object(&mut self, i: usize) -> lir::Value {
        self.input(i, Wanted::Object)
    }

    /// The pointer of an operand whose reference is passed on.
    pub(super) fn passed_on(&mut self, i: usize) -> lir::Value {
        self.lower.moved(self.arg(i))
    }

    /// An operand that is a C integer.
    pub(super) fn int(&mut self, i: usize) -> lir::Value {
        self.input(i, Wanted::Raw(RawKind::Int))
    }

    /// Two operands that are C integers.
    pub(super) fn ints(&mut self) -> (lir::Value, lir::Value) {
        (self.int(0), self.int(1))
    }

    /// An operand that is a C double.
    pub(super) fn double(&mut self, i: usize) -> lir::Value {
        self.input(i, Wanted::Raw(RawKind::Float))
    }

    /// An operand that is a C truth value.
    pub(super) fn truth(&mut self, i: usize) -> lir::Value {
        self.input(i, Wanted::Raw(RawKind::Bool))
    }

    /// The operands with these low-level types.
    pub(super) fn inputs(&mut self, types: &[Ty]) -> Vec<lir::Value> {
        let each = types.iter().enumerate();
        each.map(|(i, &ty)| self.input(i, Wanted::of(ty))).collect()
    }

    /// Drops the boxes that were allocated for operands of this op.
    pub(super) fn drop_made(&mut self) {
        for (v, p) in std::mem::take(&mut self.made) {
            self.lower.drop_fresh(v, p);
        }
    }

    /// Returns true if a box was allocated for an operand.
    pub(super) fn is_made(&self, i: usize) -> bool {
        self.made.iter().any(|(v, _)| *v == self.arg(i))
    }

    /// Returns true if an object would have to be allocated for an operand.
    pub(super) fn is_unmade(&self, i: usize) -> bool {
        !matches!(self.lower.repr(self.arg(i)), Repr::Object | Repr::Null)
    }

    /// Emits the LIR op that is equivalent to this op, with its operands.
    pub(super) fn plain(&mut self, op: Opcode) -> lir::Value {
        let types = op.info().args.expect("an op with fixed operands");
        let args = self.inputs(types);
        self.b().op(op, &args)
    }

    /// The same, with a helper.
    pub(super) fn plain_call(&mut self, helper: &'static str) -> lir::Value {
        let host = self.lower.host;
        let signature = &host.helpers[host.helper(helper)].signature;
        let args = self.inputs(&signature.params);
        self.call(helper, &args)[0]
    }

    /// The same, with a standard intrinsic; references to objects are passed on.
    pub(super) fn plain_intrinsic(&mut self, name: &'static str) -> lir::Value {
        let host = self.lower.host;
        let signature = &host.intrinsics[host.intrinsic(name)].func.signature;
        let args = self.inputs(&signature.params);
        self.intrinsic(name, &args)
    }

    /// Calls a helper.
    pub(super) fn call(&mut self, helper: &'static str, args: &[lir::Value]) -> lir::Results {
        let host = self.lower.host;
        let id = host.helper(helper);
        self.b().call(id, args, &host.helpers[id].signature.results)
    }

    /// A standard intrinsic that cannot fail, with one result.
    pub(super) fn intrinsic(&mut self, name: &'static str, args: &[lir::Value]) -> lir::Value {
        self.lower.intrinsic(name, args)[0]
    }

    /// Continues only if `ok`; otherwise the interpreter resumes at this instruction.
    pub(super) fn guard(&mut self, ok: lir::Value) {
        self.lower.guard(self.v, ok);
    }

    /// The exit of a guard.
    pub(super) fn exit(&mut self) -> lir::Block {
        self.lower.guard_exit(self.v)
    }

    /// Marks the place where pending work has run. Returns the exit block, which serves both if
    /// that raised and if it did not.
    pub(super) fn leave_pending(&mut self) -> lir::Block {
        self.mark();
        self.lower.leave_as(ExitKind::Pending, self.v)
    }

    /// Stores the frame's position and raw locals before a call-out, for code that inspects the
    /// frame.
    pub(super) fn publish(&mut self) {
        self.lower.publish(self.v);
    }

    /// Returns true if a handler of the function catches exceptions of the instruction.
    pub(super) fn has_implicit_exception(&self) -> bool {
        self.landing().is_some()
    }

    /// The block that receives exceptions of the instruction.
    fn landing(&self) -> Option<lir::Block> {
        let landing = self.lower.landing.filter(|(v, _)| *v == self.v);
        landing.map(|(_, block)| self.lower.blocks[&block])
    }

    /// Marks the place where the instruction raises. Returns the cold block to go to with the
    /// exception pending. It leads to the landing block, if there is one and the unit may continue,
    /// or to an exit.
    pub(super) fn exception_is_here(&mut self) -> lir::Block {
        self.mark();
        let state = self.state();
        let kind = match self.op() {
            Op::General(op, _) if op.info().traced => ExitKind::Reraise,
            _ => ExitKind::Raise,
        };
        let consumed = match *self.op() {
            // The stack owns the callable's reference.
            Op::CallRaw(_, consumed) => consumed - 1,
            _ => 0,
        };
        let lower = &mut *self.lower;
        let exit = lower.exit_at_call(kind, Reason::Raised, state, consumed, None);
        let Some(landing) = self.landing() else {
            return exit;
        };
        let here = self.b().current();
        let block = self.b().cold_block();
        self.b().switch_to(block);
        let valid = self.lower.still_valid();
        self.b().br(valid, landing, &[], exit, &[]);
        self.b().switch_to(here);
        block
    }

    /// The instruction raises here if `failed`; otherwise it continues.
    pub(super) fn exception_is_here_if(&mut self, failed: lir::Value) {
        let raise = self.exception_is_here();
        let go = self.b().block();
        self.b().br(failed, raise, &[], go, &[]);
        self.b().switch_to(go);
    }

    /// Declares that the instruction raises nothing here: no edge leads to a landing block.
    pub(super) fn exception_cannot_occur(&mut self) {
        self.mark();
    }

    fn mark(&mut self) {
        if std::mem::replace(&mut self.is_marked, true) {
            self.lower.fault(What::SecondMark);
        }
    }

    /// Records the result, if there is one, and checks the marks.
    pub(super) fn finish(self, result: Option<lir::Value>) {
        let may_raise = self.op().raises() || self.has_implicit_exception();
        let lower = self.lower;
        match (may_raise, self.is_marked) {
            (true, false) => lower.fault(What::NoMark),
            (false, true) => lower.fault(What::IdleMark),
            _ => {}
        }
        let Some(result) = result else { return };
        let given = lower.b.func.values[result];
        let repr = lower.repr(self.v);
        if given != repr.low_level() {
            lower.fault(What::WrongResult { repr, given });
        }
        if given == Ty::Ptr {
            lower.reference(result);
        }
        lower.values[self.v] = result.into();
    }
}
