//! Side exits: after one, the interpreter runs the rest of the function, and the analysis does not
//! follow it.

use super::Arg;
use crate::bytecode::Op as B;
use crate::hir::{Op, Value};
use crate::infer::engine::Engine;
use crate::infer::identity::Slot;
use crate::infer::value::Facts;
use crate::types::Type;
use std::sync::Arc;

impl Engine<'_> {
    /// Returns true if the operation may deoptimise in the middle of the function.
    pub(super) fn may_leave(&self, op: &Op, args: &[Arg]) -> bool {
        let facts = args.first().map(|arg| &arg.facts);
        match (op, facts) {
            // Exits of these checks are not followed: the unit is valid, nothing is pending, and
            // the frame was not observed.
            (
                Op::CheckValid
                | Op::CheckUnseen
                | Op::CheckPending
                | Op::DoPending
                | Op::CheckQuiet,
                _,
            ) => false,
            // Exits for lack of memory are not followed either.
            (Op::NewCell(_), _) => false,
            (Op::GuardType(ty), Some(facts)) => !facts.is(*ty),
            (Op::GuardBound, Some(facts)) => facts.ty.could_be(Type::NULLPTR),
            (Op::GuardTrue(_), Some(facts)) => facts.as_truth() != Some(true),
            (Op::GuardIs(object), Some(facts)) => !facts.is(Type::from_object(*object)),
            (Op::General(..), _) => false,
            _ => op.exit_reason().is_some(),
        }
    }

    /// From here on the interpreter may run the function, which the analysis does not follow.
    pub(super) fn leave_to_interpreter(&mut self, v: Value) {
        let f = self.function(self.here.version);
        let inst = &f.insts[v];
        let version = self.here.version;
        let raised = self.versions[version].raised;
        if matches!(inst.op, Op::GuardBound) && f.code.handler_at(inst.pc).is_none() {
            for name in ["NameError", "UnboundLocalError"] {
                let facts = self.exception(name);
                self.set.widen(raised, facts);
            }
            return;
        }
        if let Some(state) = inst.state.map(|state| &f.states[state]) {
            for value in state.values() {
                let facts = self.read(value);
                self.set.escape(&facts);
            }
        }
        let ret = self.versions[version].ret;
        self.set.widen(ret, Facts::any_object());
        self.set.widen(raised, Facts::of_type(Type::BASE_EXCEPTION));
        // The interpreter may bind the function's names to any object, pass the values of other
        // names to any code, and create functions.
        let own = self.versions[version].key.namespace.unwrap_or(self.globals);
        for instr in &f.code.instrs {
            let (namespace, index, is_store) = match instr.op {
                B::StoreName => (own, instr.arg, true),
                B::StoreGlobal => (self.globals, instr.arg, true),
                B::LoadName => (own, instr.arg, false),
                B::LoadGlobal => (self.globals, instr.arg, false),
                _ => continue,
            };
            let Some(name) = f.code.names.get(index as usize) else {
                continue;
            };
            let slot = Slot::Attr(Arc::from(name.as_str()));
            if is_store {
                self.set.store_facts(namespace, slot, Facts::any_object())
            } else {
                for namespace in [namespace, self.globals] {
                    let held = self.set.own_slot(namespace, slot.clone());
                    self.set.flow(held, self.sink);
                }
            }
        }
        for constant in &f.code.consts {
            if let Some(&func) = self.program.by_object.get(&constant.object) {
                let id = self.plain_function(func);
                self.set.escape(&Facts::object(Type::FUNC, id));
            }
        }
    }
}
