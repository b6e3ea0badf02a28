//! Generators: the unit that resumes a suspended frame, at any of its resume points, and the
//! instructions that suspend it.
//!
//! Such a unit has an entry for each of the code's resume points: a tree of comparisons leads from
//! the unit's start to a block for each. There the state of the frame is the contents of its slots.
//! A yield ends its block and the unit, so no path leads through it: a loop in which every
//! iteration yields is no loop here, and raw values are boxed before the yield.

use super::dispatch::plain_edge;
use crate::bytecode::{GeneralOp as G, Instr, LocalKind, Op as B, Pc, Reason};
use crate::facts::Source;
use crate::hir::build::{Builder, Unsupported, is_builtin_exact};
use crate::hir::function::{FrameState, Term, Value};
use crate::hir::{Cmp, Op};
use crate::types::{ConstValue, Type};
use std::collections::HashMap;

/// A unit that resumes frames, while it is built.
#[derive(Default)]
pub(in crate::hir) struct Resumption {
    /// For each resume point, the state with the locals as loaded, and the values by which the code
    /// there names them.
    entered: HashMap<Pc, (FrameState, Vec<Value>)>,
    /// The types of the locals at each yield, by the instruction at which the frame resumes.
    suspended: HashMap<Pc, Vec<Type>>,
}

impl Builder<'_> {
    /// From the entry block to a block for each resume point. `types` are those of the locals at
    /// the first.
    pub(in crate::hir) fn enter_suspended(&mut self, types: &[Type]) {
        let points = self.code.resume_points();
        self.locals = vec![self.null; self.code.locals.len() + self.f.names.len()].into();
        let point = self.emit(Op::ResumePoint, vec![], Type::CINT64);
        let sent = self.emit(Op::Sent, vec![], Type::OBJECT);
        let nulls = self.code.null_entries();
        self.choose_point(point, sent, &points, 0, types, &nulls);
    }

    /// Branch to the blocks of these points, the first of which has the number `first`.
    fn choose_point(
        &mut self,
        point: Value,
        sent: Value,
        points: &[Pc],
        first: i64,
        types: &[Type],
        nulls: &[Option<Vec<bool>>],
    ) {
        if let [pc] = *points {
            let types = if first == 0 { types } else { &[] };
            return self.enter_at(pc, sent, types, nulls);
        }
        let (low, high) = points.split_at(points.len() / 2);
        let middle = first + low.len() as i64;
        let number = self.emit(Op::ConstInt(middle), vec![], Type::CINT64);
        let cond = self.emit(Op::IntCmp(Cmp::Lt), vec![point, number], Type::CBOOL);
        let (then, els) = (self.follower(), self.follower());
        self.end_block(Term::Branch {
            cond,
            then: plain_edge(then),
            els: plain_edge(els),
        });
        let locals = self.locals.clone();
        for (block, points, first) in [(then, low, first), (els, high, middle)] {
            self.cur = block;
            self.locals = locals.clone();
            self.stack.clear();
            self.choose_point(point, sent, points, first, types, nulls);
        }
    }

    /// The frame with the contents of its slots at `pc`, and with the value that was sent on top of
    /// the stack.
    fn enter_at(&mut self, pc: Pc, sent: Value, types: &[Type], nulls: &[Option<Vec<bool>>]) {
        self.pc = pc;
        let locals = self.code.locals.len();
        for k in 0..locals {
            let v = self.emit(Op::LoadSlot(k as u32), vec![], Type::OBJECT.opt());
            self.locals[k] = v;
        }
        let entries = nulls[pc.0 as usize].as_deref();
        let (_, below) = entries
            .and_then(<[bool]>::split_last)
            .expect("control comes to a resume point, with the value that was sent");
        for (k, &is_null) in below.iter().enumerate() {
            if is_null {
                self.push_borrowed(self.null);
                continue;
            }
            let slot = Op::LoadSlot((locals + k) as u32);
            let v = self.emit(slot, vec![], Type::OBJECT);
            self.push_owned(v);
        }
        self.push_owned(sent);
        self.start_instr();
        let loaded = self.frame_state(pc);
        self.f.blocks[self.cur].entry_state = loaded.clone();
        let expects_none = self.expects_none(pc);
        // Each local as a new value, for the guards of `bet_on_resumption`.
        let mut seen = Vec::new();
        for k in 0..locals {
            let any = Type::OBJECT.opt();
            let v = self.emit(Op::Refine(any), vec![self.locals[k]], any);
            if let Some(&ty) = types.get(k)
                && !(ty <= Type::NULLPTR)
            {
                self.hints.insert(v, ty.unspecialized());
            }
            seen.push(v);
        }
        self.locals[..locals].copy_from_slice(&seen);
        self.start_instr();
        if expects_none == Some(Source::Proved) {
            self.expect_unbound();
        }
        if let Some(resumption) = &mut self.resumption {
            resumption.entered.insert(pc, (loaded, seen));
        }
        match expects_none {
            Some(Source::Proved) => {
                self.refine(sent, Type::NONE_TYPE);
            }
            Some(_) => {
                self.guard_type(sent, Type::NONE_TYPE);
            }
            None => {}
        }
        self.jump_to(pc, false);
    }

    /// At a generator's start only its parameters have values, unless other code has assigned to a
    /// local through its frame (`g.gi_frame.f_locals["x"] = 1`): guards that the others are null.
    fn expect_unbound(&mut self) {
        if self.avoids(Reason::Unbound) {
            return;
        }
        let locals = self.code.locals.iter().enumerate();
        let plain = locals.filter(|(_, local)| local.1 == LocalKind::Local);
        let plain: Vec<usize> = plain.map(|(k, _)| k).collect();
        for k in plain {
            if k >= self.code.arity() as usize {
                self.guard_null(self.locals[k]);
                self.locals[k] = self.null;
                self.start_instr();
            }
        }
    }

    /// Deoptimise if there is an object.
    pub(super) fn guard_null(&mut self, v: Value) {
        let empty = self.emit(Op::IsNull, vec![v], Type::CBOOL);
        let state = self.state();
        let guard = Op::GuardTrue(Reason::Unbound);
        self.emit_with(guard, vec![empty], Type::BOTTOM, Some(state));
    }

    /// Returns how it is known that the frame is resumed with None at `pc`: proved at a generator's
    /// start; speculated where the result is not used (`yield x` as a statement) or is passed on by
    /// `yield from`. `None` if it is not expected.
    fn expects_none(&self, pc: Pc) -> Option<Source> {
        let before = pc.0.checked_sub(1).map(|pc| self.code.instr(Pc(pc)).op);
        if before == Some(B::ReturnGenerator) {
            return Some(Source::Proved);
        }
        let next = self.code.instrs.get(pc.0 as usize + 1)?;
        if self.code.instr(pc).op != B::Resume {
            return None;
        }
        matches!(next.op, B::PopTop | B::JumpBackwardNoInterrupt).then_some(Source::Guarded)
    }

    /// Speculate that the locals at each resume point have the types that they had where the frame
    /// was suspended: other code hardly ever changes them.
    pub(in crate::hir) fn bet_on_resumption(&mut self) {
        let Some(resumption) = self.resumption.take() else {
            return;
        };
        for (pc, (mut state, seen)) in resumption.entered {
            let Some(types) = resumption.suspended.get(&pc) else {
                continue;
            };
            if self.avoid.contains(&(pc, Reason::Type)) {
                continue;
            }
            for (k, (&v, &ty)) in seen.iter().zip(types).enumerate() {
                let ty = ty.unspecialized().drop_mortality();
                if is_builtin_exact(ty) {
                    let id = self.f.states.push(state.clone());
                    let guard = &mut self.f.insts[v];
                    guard.op = Op::GuardType(ty);
                    guard.ty = ty;
                    guard.source = Source::Guarded;
                    guard.state = Some(id);
                }
                state.locals[k] = v;
            }
        }
    }

    /// Make the generator of this frame, which is the result of the call. The body of a generator
    /// that is inlined just continues, with the None that the first `next` sends.
    pub(super) fn make_generator(&mut self) -> Result<bool, Unsupported> {
        if self.inlined.is_some() {
            self.push_none()?;
            return Ok(false);
        }
        if self.closed.is_some() {
            return Err(self.unsupported("a generator in a closed unit"));
        }
        // Its frame takes over the stack.
        let n = self.stack.len();
        self.take_operands(n);
        let (state, entries) = (self.state_without(n), self.top_values(n));
        let v = self.general_at(G::MakeGenerator, [0, 0], entries, Type::OBJECT, state);
        self.forget_top(n);
        self.end_block(Term::Return(v));
        Ok(true)
    }

    /// Suspend the frame. It resumes at the next instruction with the value that is sent then.
    pub(super) fn yield_value(&mut self, instr: &Instr) -> Result<bool, Unsupported> {
        if self.inlined.is_some() {
            return self.yield_item(instr);
        }
        if self.resumption.is_none() {
            return Err(self.unsupported("`yield` in a frame that nobody resumes"));
        }
        self.settle();
        self.start_instr();
        let value = self.pop();
        let state = FrameState {
            pc: Pc(self.pc.0 + 1),
            locals: self.locals.clone(),
            stack: self.stack.clone(),
            inlined: Vec::new(),
        };
        let types = self.locals[..self.code.locals.len()].iter();
        let types = types.map(|&v| self.ty(v)).collect();
        if let Some(resumption) = &mut self.resumption {
            resumption.suspended.insert(state.pc, types);
        }
        let state = self.f.states.push(state);
        let op = Op::Yield(instr.arg != 0);
        self.emit_with(op, vec![value.value], Type::BOTTOM, Some(state));
        self.end_block(Term::Unreachable);
        Ok(true)
    }

    /// Pass an item to the loop that consumes this generator, which is inlined there.
    fn yield_item(&mut self, instr: &Instr) -> Result<bool, Unsupported> {
        if instr.arg != 0 {
            return Err(self.unsupported("`yield from` in a generator that is inlined"));
        }
        self.settle();
        self.start_instr();
        let item = self.pop();
        let state = FrameState {
            pc: Pc(self.pc.0 + 1),
            locals: self.locals.clone(),
            stack: self.stack.clone(),
            inlined: Vec::new(),
        };
        let state = self.f.states.push(state);
        self.emit_with(Op::YieldItem, vec![item.value], Type::BOTTOM, Some(state));
        // The loop has made sure that the unit is still valid where it requests the next item.
        self.unchecked = false;
        self.push_none()?;
        Ok(false)
    }

    /// In an inlined generator, whose frame user code would miss: drop what a local holds before
    /// the local gets another value, and exit if that would deallocate the object. For example, the
    /// loop variable in `for item in items: yield item`, which the list mostly keeps alive.
    pub(super) fn drop_before_store(&mut self, local: usize) {
        let old = self.locals[local];
        let is_inlined = self.inlined.is_some() && self.code.is_generator;
        let is_seen = self.is_counted(old) && self.f.drop_runs_host_code(old);
        if is_inlined && is_seen && !self.stack.iter().any(|e| e.value == old) {
            self.start_instr();
            let state = self.state();
            self.emit_with(Op::DropShared, vec![old], Type::BOTTOM, Some(state));
            self.locals[local] = self.null;
        }
    }

    /// Push None, which a loop sends to the generator that it consumes.
    fn push_none(&mut self) -> Result<(), Unsupported> {
        let consts = &self.code.consts;
        let none = consts.iter().position(|c| c.value == ConstValue::None);
        let Some(none) = none else {
            return Err(self.unsupported("an inlined generator without the constant None"));
        };
        let none = self.constant(none);
        self.push_borrowed(none);
        Ok(())
    }

    /// `receiver, value -> receiver, result`: continue at the next instruction where the receiver
    /// has yielded, jump where it has returned. Null may lie between the two.
    pub(super) fn send(&mut self, instr: &Instr) {
        self.settle();
        self.start_instr();
        let operands = self.top_values(2 + instr.arg2 as usize);
        let args = vec![operands[0], operands[operands.len() - 1]];
        let yielded = self.general(G::Send, [0, 0], args, Type::CBOOL);
        let result = self.emit(Op::Output(0), vec![yielded], Type::OBJECT);
        let value = self.pop();
        self.push_owned(result);
        self.drop_entry(value);
        self.branch(yielded, Pc(self.pc.0 + 1), Pc(instr.arg));
    }
}
