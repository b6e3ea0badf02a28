//! Calls through raw entries, and the returns of closed units.

use crate::bytecode::Reason;
use crate::facts::{RawEntry, RawKind};
use crate::hir::Op;
use crate::hir::build::{Builder, Unsupported};
use crate::hir::function::{Entry, StateId, Term, Value};
use crate::types::{ObjectHandle, Type};

impl Builder<'_> {
    /// Unboxes an object of this class. An int may have too many digits: only then the unit
    /// deoptimises here.
    pub(super) fn take_out(&mut self, object: Value, kind: RawKind, state: StateId) -> Value {
        let op = Op::unboxing(kind);
        let state = op.exit_reason().map(|_| state);
        self.emit_with(op, vec![object], kind.raw(), state)
    }

    /// A call through a raw entry: each argument is unboxed, and a virtual box replaces its object,
    /// to be allocated only where an instruction needs it. Returns false, and does nothing, if an
    /// argument is expected to be of another class.
    pub(super) fn call_raw(
        &mut self,
        function: Value,
        base: usize,
        n: usize,
        defaults: &[ObjectHandle],
        entry: RawEntry,
    ) -> bool {
        let params = entry.signature.params.clone();
        let first_default = defaults.len() - (params.len() - n);
        let large = self.avoids(Reason::IntTooLarge);
        for (i, &kind) in params.iter().enumerate() {
            let ty = match self.stack.get(base + 2 + i) {
                Some(entry) => {
                    let ty = self.ty(entry.value);
                    let hint = self.hints.get(&entry.value).copied().unwrap_or(ty);
                    let bets = ty.could_be(kind.boxed())
                        && hint.could_be(kind.boxed())
                        && !self.avoids(Reason::Type);
                    if bets { kind.boxed() } else { ty }
                }
                None => Type::from_object(defaults[first_default + i - n]),
            };
            if !(ty <= kind.boxed()) || kind == RawKind::Int && large {
                return false;
            }
        }
        self.start_instr();
        let state = self.state();
        let mut args = vec![function];
        for (i, &kind) in params.iter().enumerate() {
            let object = match self.stack.get(base + 2 + i) {
                Some(entry) => self.guard_type(entry.value, kind.boxed()),
                None => self.object(defaults[first_default + i - n]),
            };
            args.push(self.take_out(object, kind, state));
        }
        for (i, &kind) in params.iter().enumerate().take(n) {
            let boxed = self.emit(Op::boxing(kind), vec![args[1 + i]], kind.boxed());
            self.replace_operand(base + 2 + i, boxed);
        }
        // While raw code runs, no code can drop the function; where other code runs, the call keeps
        // the function alive.
        let callable = std::mem::replace(
            &mut self.stack[base],
            Entry {
                value: function,
                owned: false,
            },
        );
        self.drop_entry(callable);
        self.start_instr();
        let state = self.state();
        let result = entry.signature.result;
        let call = Op::CallRaw(entry, n as u32 + 2);
        let raw = self.emit_raising(call, args, result.raw(), state);
        let boxed = self.emit(Op::boxing(result), vec![raw], result.boxed());
        self.forget_top(n + 2);
        self.push_owned(boxed);
        true
    }

    /// Return `v`, which the instruction has popped or which is its constant; a closed unit returns
    /// the raw value.
    pub(in crate::hir::translate) fn return_value(
        &mut self,
        v: Value,
        popped: bool,
    ) -> Result<(), Unsupported> {
        let Some(own) = self.closed else {
            self.end_block(Term::Return(v));
            return Ok(());
        };
        let kind = own.signature.result;
        if !self.ty(v).could_be(kind.boxed()) {
            return Err(self.unsupported("a result of several classes in a closed unit"));
        }
        if popped {
            self.push_owned(v);
            self.start_instr();
        }
        let state = self.state();
        let v = self.guard_type(v, kind.boxed());
        if !(self.ty(v) <= kind.boxed()) {
            return Err(self.unsupported("a result of several classes in a closed unit"));
        }
        let raw = self.take_out(v, kind, state);
        if popped {
            self.forget_top(1);
        }
        self.end_block(Term::Return(raw));
        Ok(())
    }
}
