//! Calls: of known functions, of builtins that need none, and of anything.

use crate::bytecode::Instr;
use crate::exits::Reason;
use crate::facts::Source;
use crate::hir::build::Builder;
use crate::hir::function::Value;
use crate::hir::typing;
use crate::hir::{GeneralOp as G, Op};
use crate::host::{Builtin, Callee};
use crate::types::Type;

impl Builder<'_> {
    pub(super) fn call(&mut self, instr: &Instr, names: Option<Value>) {
        let n = instr.arg as usize;
        let base = self.stack.len() - n - 2;
        if names.is_none() && self.call_known(instr, base, n) {
            return;
        }
        self.own_operands(n + 2);
        let state = self.state_without(n + 2);
        let mut args = vec![names.unwrap_or(self.null)];
        args.extend(self.top_values(n + 2));
        let ty = match self
            .ty(self.stack[base].value)
            .as_object()
            .map(|o| self.world.callee(o))
        {
            Some(Callee::Builtin(b)) if names.is_none() => typing::builtin(b),
            _ => Type::OBJECT,
        };
        let v = self.general_at(G::Call, [0, 0], args, ty, state);
        self.forget_top(n + 2);
        self.push_owned(v);
    }

    /// A call of a known function or builtin; false if it must be a general one.
    pub(super) fn call_known(&mut self, instr: &Instr, base: usize, n: usize) -> bool {
        let (callable, this) = (self.stack[base].value, self.stack[base + 1].value);
        let mut known = self.ty(callable).as_object();
        let mut guarded = None;
        if known.is_none()
            && let Some(object) = instr.hint.first().and_then(|t| t.as_object())
            && !self.avoid.contains(&(self.pc, Reason::Identity))
            && matches!(self.world.callee(object), Callee::Function { .. })
            && self.self_is_known(this)
        {
            self.start_instr();
            let state = self.state();
            let g = self.emit_with(
                Op::GuardIs(object),
                vec![callable],
                Type::from_object(object),
                Some(state),
            );
            self.f.insts[g].source = Source::Guarded;
            guarded = Some(g);
            known = Some(object);
        }
        let Some(object) = known else { return false };
        if !self.self_is_known(this) {
            return false;
        }
        let bound = !(self.ty(this) <= Type::NULLPTR);
        let given = n + bound as usize;
        match self.world.callee(object) {
            Callee::Function {
                argcount,
                defaults,
                entry_cell,
                assumptions,
            } => {
                let argcount = argcount as usize;
                if given > argcount || argcount - given > defaults.len() {
                    return false;
                }
                self.assume(assumptions);
                // The unit keeps a known function alive: no reference of the call's own.
                for i in base + 1..self.stack.len() {
                    self.own(i);
                }
                self.start_instr();
                let state = self.state_without(n + 2);
                // The guard, if there is one, is what the call relies on.
                let function = guarded.unwrap_or(callable);
                let mut args = vec![function];
                args.extend(self.top_values(given));
                for &default in &defaults[defaults.len() - (argcount - given)..] {
                    let v = self.object(default);
                    if !default.is_immortal() {
                        self.emit(Op::Incref, vec![v], Type::BOTTOM);
                    }
                    args.push(v);
                }
                let v = self.emit_raising(Op::CallDirect(entry_cell), args, Type::OBJECT, state);
                let callable = self.stack[base];
                self.forget_top(n + 2);
                self.drop_entry(callable);
                self.push_owned(v);
                true
            }
            Callee::Builtin(builtin) if !bound => self.call_builtin(builtin, base, n),
            _ => false,
        }
    }

    /// Whether it is known if the second entry of a call is null.
    pub(super) fn self_is_known(&self, this: Value) -> bool {
        self.ty(this) <= Type::NULLPTR || self.ty(this) <= Type::OBJECT
    }

    /// Builtins that need no call when their operand's type is known.
    pub(super) fn call_builtin(&mut self, builtin: Builtin, base: usize, n: usize) -> bool {
        if n != 1 {
            return false;
        }
        let arg = self.stack[base + 2].value;
        let hint = self.hints.get(&arg).copied().unwrap_or(self.ty(arg));
        match builtin {
            Builtin::Len if hint <= Type::LIST_EXACT || hint <= Type::TUPLE_EXACT => {
                self.own_operands(1);
                let arg = self.guard_type(arg, hint.unspecialized());
                let op = if self.ty(arg) <= Type::LIST_EXACT {
                    Op::ListLen
                } else if self.ty(arg) <= Type::TUPLE_EXACT {
                    Op::TupleLen
                } else {
                    return false;
                };
                let len = self.emit(op, vec![arg], Type::CINT64);
                let v = self.emit(Op::BoxInt, vec![len], Type::LONG_EXACT);
                self.drop_top(3);
                self.push_owned(v);
                true
            }
            Builtin::Float if self.ty(arg) <= Type::FLOAT_EXACT => {
                // `float(x)` of an exact float is x itself.
                let top = self.stack.len() - 1;
                self.own(top);
                let e = self.pop();
                self.drop_top(2);
                self.push_owned(e.value);
                true
            }
            Builtin::Sqrt | Builtin::Abs if self.ty(arg) <= Type::FLOAT_EXACT => {
                self.own_operands(1);
                let state = self.state();
                let raw = self.emit(Op::UnboxFloat, vec![arg], Type::CDOUBLE);
                let r = if builtin == Builtin::Sqrt {
                    if self.avoid.contains(&(self.pc, Reason::Domain)) {
                        return false;
                    }
                    self.emit_with(Op::FloatSqrt, vec![raw], Type::CDOUBLE, Some(state))
                } else {
                    self.emit(Op::FloatAbs, vec![raw], Type::CDOUBLE)
                };
                let v = self.emit(Op::BoxFloat, vec![r], Type::FLOAT_EXACT);
                self.drop_top(3);
                self.push_owned(v);
                true
            }
            Builtin::Int
                if self.ty(arg) <= Type::FLOAT_EXACT
                    && !self.avoid.contains(&(self.pc, Reason::Domain)) =>
            {
                self.own_operands(1);
                let state = self.state();
                let raw = self.emit(Op::UnboxFloat, vec![arg], Type::CDOUBLE);
                let r = self.emit_with(Op::FloatToInt, vec![raw], Type::CINT64, Some(state));
                let v = self.emit(Op::BoxInt, vec![r], Type::LONG_EXACT);
                self.drop_top(3);
                self.push_owned(v);
                true
            }
            _ => false,
        }
    }
}
