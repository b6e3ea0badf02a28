//! Operations of many instructions on the abstract stack: take operands, put results, drop
//! references.

use crate::bytecode::GeneralOp as G;
use crate::bytecode::{Instr, Pc};
use crate::facts::{Assumption, Source};
use crate::hir::Op;
use crate::hir::build::{Builder, is_builtin_exact};
use crate::hir::function::{Entry, Term, Value};
use crate::hir::typing;
use crate::types::{ObjectHandle, Type};

impl Builder<'_> {
    pub(super) fn constant(&mut self, index: usize) -> Value {
        self.object(self.code.consts[index].object)
    }

    pub(super) fn object(&mut self, object: ObjectHandle) -> Value {
        self.emit(Op::Const(object), vec![], Type::from_object(object))
    }

    /// An object that another owner keeps alive as long as an assumption is valid.
    pub(super) fn assumed(&mut self, object: ObjectHandle) -> Value {
        let v = self.object(object);
        self.f.insts[v].source = Source::Assumed;
        v
    }

    /// Push an assumed object with a reference of the stack's own: code that is called next may
    /// break the assumption, and then drop the object.
    pub(super) fn push_kept(&mut self, v: Value) {
        self.push_borrowed(v);
        let top = self.stack.len() - 1;
        self.own(top);
    }

    /// The value, or an exit where it is null (the interpreter raises).
    pub(super) fn bound(&mut self, v: Value) -> Value {
        if self.ty(v) <= Type::OBJECT {
            return v;
        }
        let state = self.state();
        let ty = self.ty(v) - Type::NULLPTR;
        let ty = if ty.is_bottom() { Type::OBJECT } else { ty };
        let g = self.emit_with(Op::GuardBound, vec![v], ty, Some(state));
        self.f.insts[g].source = Source::Guarded;
        self.replace_in_frame(v, g);
        g
    }

    pub(super) fn top_values(&self, n: usize) -> Vec<Value> {
        self.stack[self.stack.len() - n..]
            .iter()
            .map(|e| e.value)
            .collect()
    }

    /// Pop the top `n` entries and drop their references, the deepest first.
    pub(super) fn drop_top(&mut self, n: usize) {
        let mut entries = self.stack.split_off(self.stack.len() - n);
        if self.drops_last_first() {
            entries.reverse();
        }
        for e in entries {
            self.drop_entry(e);
        }
    }

    /// Pop the top `n` entries, which in the interpreter are locals of a frame, and drop their
    /// references, the last one first.
    pub(super) fn drop_top_as_locals(&mut self, n: usize) {
        let entries = self.stack.split_off(self.stack.len() - n);
        for e in entries.into_iter().rev() {
            self.drop_entry(e);
        }
    }

    /// Returns true if the instruction's operands are dropped from the top down.
    fn drops_last_first(&self) -> bool {
        self.code.instr(self.pc).drops_last_first(self.code)
    }

    /// Pop a slice's bounds, its container, and `n` entries below. The bounds are dropped first,
    /// together with the slice that the interpreter makes of them. The entries below are dropped
    /// before the container unless operands are dropped from the top down.
    pub(super) fn drop_slice(&mut self, n: usize) {
        let bounds = self.stack.split_off(self.stack.len() - 2);
        let mut rest = self.stack.split_off(self.stack.len() - 1 - n);
        if self.drops_last_first() {
            rest.reverse();
        }
        for e in bounds.into_iter().chain(rest) {
            self.drop_entry(e);
        }
    }

    /// Pop the top `n` entries, whose references were taken over.
    pub(super) fn forget_top(&mut self, n: usize) {
        self.stack.truncate(self.stack.len() - n);
    }

    /// A general operation on the top `n` (owned) entries, which are dropped; returns the result.
    pub(super) fn general_on_stack(&mut self, op: G, imms: [i64; 2], n: usize) -> Value {
        let args = self.top_values(n);
        let types: Vec<Type> = args.iter().map(|&a| self.ty(a)).collect();
        let v = self.general(op, imms, args, typing::general(op, imms, &types));
        self.drop_top(n);
        v
    }

    pub(super) fn push_general(&mut self, op: G, imms: [i64; 2], n: usize) {
        self.own_operands(n);
        let v = self.general_on_stack(op, imms, n);
        self.push_owned(v);
    }

    pub(super) fn effect(&mut self, op: G, imms: [i64; 2], n: usize) {
        self.own_operands(n);
        self.general_on_stack(op, imms, n);
    }

    pub(super) fn push_bool(&mut self, v: Value) {
        let b = self.emit(Op::BoxBool, vec![v], Type::BOOL);
        self.push_owned(b);
    }

    pub(super) fn truth_of_bool(&mut self, entry: Entry) -> Value {
        let v = self.refine(entry.value, Type::BOOL);
        let truth = self.emit(Op::UnboxBool, vec![v], Type::CBOOL);
        // A bool is immortal, so its reference need not be dropped. But a reference that was taken
        // before the class was known must be dropped for the counts to balance.
        let object = self.f.object_of(v);
        if entry.owned && !(self.ty(object) <= Type::BOOL) && self.is_counted(object) {
            self.decref(v);
        }
        truth
    }

    pub(super) fn branch(&mut self, cond: Value, t: Pc, f: Pc) {
        self.settle();
        let then = self.edge_with_names(t);
        let els = self.edge_with_names(f);
        self.end_block(Term::Branch { cond, then, els });
    }

    pub(super) fn assume(&mut self, assumptions: Vec<Assumption>) {
        for assumption in assumptions {
            self.f.assume(assumption);
        }
    }

    /// Guard the top `n` entries by the instruction's hint, or by the hints for the values
    /// themselves.
    pub(super) fn bet_operands(&mut self, instr: &Instr, n: usize) {
        self.bet_operands_below(instr, n, 0);
    }

    /// The same for the `n` entries below the top `above` ones.
    pub(super) fn bet_operands_below(&mut self, instr: &Instr, n: usize, above: usize) {
        let base = self.stack.len() - above - n;
        for i in 0..n {
            let v = self.stack[base + i].value;
            let hint = match instr.hint.get(i) {
                Some(&t) if instr.hint.len() == n && is_builtin_exact(t) => t,
                _ => match self.hints.get(&v) {
                    Some(&t) if is_builtin_exact(t) => t,
                    _ => continue,
                },
            };
            self.guard_type(v, hint);
        }
    }
}
