//! One bytecode instruction to HIR.

use super::build::{Builder, Unsupported, is_builtin_exact};
use super::function::{Term, Value};
use super::typing;
use super::{GeneralOp as G, Op};
use crate::bytecode::{BinaryOp, CompareOp, INPLACE, Instr, Op as B, Pc};
use crate::exits::Reason;
use crate::facts::{Assumption, Source};
use crate::host::{AttrPlan, Builtin, Callee, Global, IntrinsicCall, StorePlan};
use crate::types::{ObjectHandle, Type};

type Done = Result<bool, Unsupported>;

/// The one-operand intrinsics that the helpers know (star import, unary plus, list to tuple).
const INTRINSICS_1: [u32; 3] = [2, 5, 6];

impl Builder<'_> {
    /// Translate an instruction; true if it ended the block.
    pub(super) fn translate(&mut self, instr: &Instr) -> Done {
        let arg = instr.arg as usize;
        match instr.op {
            B::Nop => {}
            B::Resume if self.enters => {}
            B::Resume => {
                let state = self.state();
                self.emit_with(Op::CheckPending, vec![], Type::BOTTOM, Some(state));
            }
            B::PopTop => {
                let e = self.pop();
                self.drop_entry(e);
            }
            B::PushNull => self.push_borrowed(self.null),
            B::Copy => {
                let e = self.stack[self.stack.len() - arg];
                if e.owned {
                    self.push_new_ref(e.value);
                } else {
                    self.push_borrowed(e.value);
                }
            }
            B::Swap => {
                let top = self.stack.len() - 1;
                self.stack.swap(top, top + 1 - arg);
            }
            B::LoadConst => {
                let v = self.constant(arg);
                self.push_borrowed(v);
            }
            B::LoadFast => {
                let v = self.locals[arg];
                let v = self.refine(v, Type::OBJECT);
                self.push_borrowed(v);
            }
            B::LoadFastCheck => {
                let v = self.bound(self.locals[arg]);
                self.push_borrowed(v);
            }
            B::LoadFastAndClear => {
                let v = self.locals[arg];
                for i in 0..self.stack.len() {
                    if self.stack[i].value == v {
                        self.own(i);
                    }
                }
                self.emit(Op::StoreSlot(instr.arg), vec![self.null], Type::BOTTOM);
                self.locals[arg] = self.null;
                self.push_owned(v);
            }
            B::StoreFast => {
                let top = self.stack.len() - 1;
                self.own(top);
                let e = self.pop();
                self.set_local(arg, e.value);
            }
            B::DeleteFast => {
                self.bound(self.locals[arg]);
                self.set_local(arg, self.null);
            }
            B::LoadGlobal => {
                self.load_global(instr);
                if instr.arg2 != 0 {
                    self.push_borrowed(self.null);
                }
            }
            B::LoadName if self.load_name(instr.arg) => {}
            B::LoadName => self.push_general(G::LoadName, [arg as i64, 0], 0),
            B::StoreName if self.store_name(instr.arg) => {}
            B::StoreName => self.effect(G::StoreName, [arg as i64, 0], 1),
            B::DeleteName => self.effect(G::DeleteName, [arg as i64, 0], 0),
            B::StoreGlobal => self.effect(G::StoreGlobal, [arg as i64, 0], 1),
            B::DeleteGlobal => self.effect(G::DeleteGlobal, [arg as i64, 0], 0),
            B::LoadLocals => self.push_general(G::LoadLocals, [0, 0], 0),
            B::LoadFromDictOrGlobals => {
                self.push_general(G::LoadFromDictOrGlobals, [arg as i64, 0], 1)
            }
            B::LoadFromDictOrDeref => self.push_general(G::LoadFromDictOrDeref, [arg as i64, 0], 1),
            B::LoadDeref => {
                let cell = self.refine(self.locals[arg], Type::CELL);
                let v = self.emit(Op::CellGet, vec![cell], Type::OBJECT.opt());
                let v = self.bound(v);
                self.push_new_ref(v);
            }
            B::StoreDeref => {
                let top = self.stack.len() - 1;
                self.own(top);
                let cell = self.refine(self.locals[arg], Type::CELL);
                let e = self.pop();
                let old = self.emit(Op::CellSet, vec![cell, e.value], Type::OBJECT.opt());
                self.decref(old);
            }
            B::DeleteDeref => {
                let cell = self.refine(self.locals[arg], Type::CELL);
                let v = self.emit(Op::CellGet, vec![cell], Type::OBJECT.opt());
                self.bound(v);
                let old = self.emit(Op::CellSet, vec![cell, self.null], Type::OBJECT.opt());
                self.decref(old);
            }
            B::MakeCell => {
                self.general(G::MakeCell, [arg as i64, 0], vec![], Type::BOTTOM);
                self.locals[arg] = self.emit(Op::LoadSlot(instr.arg), vec![], Type::CELL);
            }
            B::CopyFreeVars => {
                self.general(G::CopyFreeVars, [arg as i64, 0], vec![], Type::BOTTOM);
                let n = self.locals.len();
                for k in n - arg..n {
                    self.locals[k] = self.emit(Op::LoadSlot(k as u32), vec![], Type::CELL);
                }
            }

            B::UnaryNegative => self.unary(G::Negative, instr),
            B::UnaryInvert => self.unary(G::Invert, instr),
            B::UnaryNot => {
                let e = self.pop();
                let b = self.truth_of_bool(e.value);
                let n = self.emit(Op::BoolNot, vec![b], Type::CBOOL);
                self.push_bool(n);
            }
            B::ToBool => self.test_truth(instr),
            B::BinaryOp => self.binary(instr)?,
            B::CompareOp => self.compare(instr)?,
            B::BinarySubscr => {
                self.own_operands(2);
                self.bet_operands(instr, 2);
                let v = self.general_on_stack(G::GetItem, [0, 0], 2);
                self.push_owned(v);
            }
            B::StoreSubscr => {
                self.own_operands(3);
                self.bet_operands(instr, 3);
                let n = self.stack.len();
                let (v, c, k) = (
                    self.stack[n - 3].value,
                    self.stack[n - 2].value,
                    self.stack[n - 1].value,
                );
                self.general(G::SetItem, [0, 0], vec![c, k, v], Type::BOTTOM);
                self.drop_top(3);
            }
            B::DeleteSubscr => {
                self.own_operands(2);
                self.general_on_stack(G::DelItem, [0, 0], 2);
            }
            B::BinarySlice => {
                self.own_operands(3);
                let args = self.top_values(3);
                let types: Vec<Type> = args.iter().map(|&a| self.ty(a)).collect();
                let v = self.general(
                    G::GetSlice,
                    [0, 0],
                    args,
                    typing::general(G::GetSlice, [0, 0], &types),
                );
                self.drop_slice(0);
                self.push_owned(v);
            }
            B::StoreSlice => {
                self.own_operands(4);
                let n = self.stack.len();
                let args = [n - 3, n - 2, n - 1, n - 4]
                    .map(|i| self.stack[i].value)
                    .to_vec();
                self.general(G::SetSlice, [0, 0], args, Type::BOTTOM);
                self.drop_slice(1);
            }
            B::BuildSlice => {
                self.own_operands(arg);
                let mut args = self.top_values(arg);
                args.resize(3, self.null);
                let v = self.general(G::BuildSlice, [0, 0], args, Type::SLICE);
                self.drop_top(arg);
                self.push_owned(v);
            }
            B::IsOp => {
                let (r, l) = (self.pop(), self.pop());
                let mut v = self.emit(Op::Is, vec![l.value, r.value], Type::CBOOL);
                if arg != 0 {
                    v = self.emit(Op::BoolNot, vec![v], Type::CBOOL);
                }
                self.drop_entry(l);
                self.drop_entry(r);
                self.push_bool(v);
            }
            B::ContainsOp => {
                self.own_operands(2);
                let mut v = self.general_on_stack(G::Contains, [0, 0], 2);
                if arg != 0 {
                    v = self.emit(Op::BoolNot, vec![v], Type::CBOOL);
                }
                self.push_bool(v);
            }
            B::LoadAttr => self.load_attr(instr),
            B::StoreAttr => self.store_attr(instr),
            B::DeleteAttr => self.effect(G::DeleteAttr, [arg as i64, 0], 1),
            B::LoadSuperAttr => {
                self.own_operands(3);
                let args = self.top_values(3);
                let op = self.general(
                    G::LoadSuperAttr,
                    [arg as i64, instr.arg2 as i64],
                    args,
                    Type::BOTTOM,
                );
                let attr = self.emit(Op::Output(0), vec![op], Type::OBJECT);
                let this = self.emit(Op::Output(1), vec![op], Type::OBJECT.opt());
                self.drop_top(3);
                self.push_owned(attr);
                if instr.arg2 & 1 != 0 {
                    self.push_owned(this);
                }
            }

            B::Jump | B::JumpBackwardNoInterrupt => {
                self.jump_to(Pc(instr.arg), false);
                return Ok(true);
            }
            B::JumpBackward => {
                self.settle();
                self.carry_names(Pc(instr.arg));
                self.start_instr();
                let state = self.state();
                let check = if self.holds_names_at(Pc(instr.arg)) {
                    Op::CheckQuiet
                } else {
                    Op::CheckPending
                };
                self.emit_with(check, vec![], Type::BOTTOM, Some(state));
                self.jump_to(Pc(instr.arg), true);
                return Ok(true);
            }
            B::PopJumpIfFalse | B::PopJumpIfTrue => {
                let e = self.pop();
                let cond = self.truth_of_bool(e.value);
                let next = Pc(self.pc.0 + 1);
                let (t, f) = if instr.op == B::PopJumpIfTrue {
                    (Pc(instr.arg), next)
                } else {
                    (next, Pc(instr.arg))
                };
                self.branch(cond, t, f);
                return Ok(true);
            }
            B::PopJumpIfNone | B::PopJumpIfNotNone => {
                let e = self.pop();
                let cond = self.emit(Op::IsNone, vec![e.value], Type::CBOOL);
                self.drop_entry(e);
                let next = Pc(self.pc.0 + 1);
                let (t, f) = if instr.op == B::PopJumpIfNone {
                    (Pc(instr.arg), next)
                } else {
                    (next, Pc(instr.arg))
                };
                self.branch(cond, t, f);
                return Ok(true);
            }
            B::GetIter => {
                self.own_operands(1);
                let ty = typing::iterator_of(self.ty(self.stack[self.stack.len() - 1].value));
                let v = self.general_on_stack(G::GetIter, [0, 0], 1);
                if let Some((iter, proved)) = ty {
                    if proved {
                        self.f.insts[v].ty = iter;
                    } else {
                        self.hints.insert(v, iter);
                    }
                }
                self.push_owned(v);
            }
            B::ForIter => {
                self.for_iter(instr);
                return Ok(true);
            }
            B::ReturnValue => {
                self.publish_names(self.pc);
                let top = self.stack.len() - 1;
                self.own(top);
                let e = self.pop();
                self.end_block(Term::Return(e.value));
                return Ok(true);
            }
            B::ReturnConst => {
                self.publish_names(self.pc);
                let v = self.constant(arg);
                self.push_borrowed(v);
                let top = self.stack.len() - 1;
                self.own(top);
                self.pop();
                self.end_block(Term::Return(v));
                return Ok(true);
            }

            B::Call => self.call(instr, None),
            B::CallKw => {
                let names = self.pop();
                self.start_instr();
                self.call(instr, Some(names.value));
                self.drop_entry(names);
            }
            B::CallFunctionEx => {
                let n = 3 + (arg & 1);
                self.own_operands(n);
                let top = self.top_values(n);
                let kwargs = if arg & 1 != 0 { top[3] } else { self.null };
                let v = self.general(
                    G::CallEx,
                    [0, 0],
                    vec![top[0], top[2], kwargs],
                    Type::OBJECT,
                );
                self.drop_top(n);
                self.push_owned(v);
            }
            B::CallIntrinsic1 => {
                if !INTRINSICS_1.contains(&instr.arg) {
                    return Err(self.unsupported(format!("intrinsic {}", instr.arg)));
                }
                self.push_general(G::CallIntrinsic1, [arg as i64, 0], 1);
            }
            B::BuildTuple => self.build_from(G::BuildTuple, arg, Type::TUPLE_EXACT),
            B::BuildList => self.build_from(G::BuildList, arg, Type::LIST_EXACT),
            B::BuildSet => self.build_from(G::BuildSet, arg, Type::SET_EXACT),
            B::BuildMap => self.build_from(G::BuildMap, 2 * arg, Type::DICT_EXACT),
            B::BuildString => self.build_from(G::BuildString, arg, Type::UNICODE_EXACT),
            B::BuildConstKeyMap => {
                let keys = self.pop();
                self.own_operands(arg);
                let state = self.state_without(arg);
                let mut args = vec![keys.value];
                args.extend(self.top_values(arg));
                let v = self.general_at(G::BuildConstKeyMap, [0, 0], args, Type::DICT_EXACT, state);
                self.forget_top(arg);
                self.drop_entry(keys);
                self.push_owned(v);
            }
            B::ListAppend => self.update(G::ListAppend, 1, arg),
            B::ListExtend => self.update(G::ListExtend, 1, arg),
            B::SetAdd => self.update(G::SetAdd, 1, arg),
            B::SetUpdate => self.update(G::SetUpdate, 1, arg),
            B::MapAdd => self.update(G::MapAdd, 2, arg),
            B::DictUpdate => self.update(G::DictUpdate, 1, arg),
            B::DictMerge => {
                self.own_operands(1);
                let n = self.stack.len();
                let (dict, source) = (self.stack[n - 1 - arg].value, self.stack[n - 1].value);
                let callee = self.stack[n - 1 - arg - 3].value;
                self.general(
                    G::DictMerge,
                    [0, 0],
                    vec![dict, source, callee],
                    Type::BOTTOM,
                );
                self.drop_top(1);
            }
            B::UnpackSequence => self.unpack(instr),
            B::UnpackEx => {
                self.own_operands(1);
                let n = (arg & 0xff) + (arg >> 8) + 1;
                let seq = self.stack[self.stack.len() - 1].value;
                let op = self.general(G::UnpackEx, [arg as i64, 0], vec![seq], Type::BOTTOM);
                self.push_outputs(op, n);
            }
            B::FormatSimple => {
                if !(self.ty(self.stack[self.stack.len() - 1].value) <= Type::UNICODE_EXACT) {
                    self.push_general(G::FormatSimple, [0, 0], 1);
                }
            }
            B::FormatWithSpec => self.push_general(G::FormatWithSpec, [0, 0], 2),
            B::ConvertValue => self.push_general(G::ConvertValue, [arg as i64, 0], 1),
            B::MakeFunction => self.push_general(G::MakeFunction, [0, 0], 1),
            B::SetFunctionAttribute => {
                self.own_operands(2);
                let n = self.stack.len();
                let (attr, function) = (self.stack[n - 2], self.stack[n - 1]);
                self.general(
                    G::SetFunctionAttribute,
                    [arg as i64, 0],
                    vec![function.value, attr.value],
                    Type::BOTTOM,
                );
                self.forget_top(2);
                self.drop_entry(attr);
                self.push_owned(function.value);
            }
            B::LoadBuildClass => self.push_general(G::LoadBuildClass, [0, 0], 0),
            B::LoadAssertionError => self.push_general(G::LoadAssertionError, [0, 0], 0),
            B::RaiseVarargs => {
                self.own_operands(arg);
                let mut args = self.top_values(arg);
                args.resize(2, self.null);
                self.general(G::Raise, [arg as i64, 0], args, Type::BOTTOM);
                self.end_block(Term::Unreachable);
                return Ok(true);
            }
            B::BeforeWith => {
                self.own_operands(1);
                let manager = self.stack[self.stack.len() - 1].value;
                let op = self.general(G::BeforeWith, [0, 0], vec![manager], Type::BOTTOM);
                let exit = self.emit(Op::Output(0), vec![op], Type::OBJECT);
                let entered = self.emit(Op::Output(1), vec![op], Type::OBJECT);
                self.drop_top(1);
                self.push_owned(exit);
                self.push_owned(entered);
            }
            B::ImportName => self.push_general(G::ImportName, [arg as i64, 0], 2),
            B::ImportFrom => {
                let top = self.stack.len() - 1;
                self.own(top);
                self.start_instr();
                let module = self.stack[top].value;
                let v = self.general(G::ImportFrom, [arg as i64, 0], vec![module], Type::OBJECT);
                self.push_owned(v);
            }
            B::MatchMapping | B::MatchSequence => {
                let subject = self.stack[self.stack.len() - 1].value;
                let op = if instr.op == B::MatchMapping {
                    G::MatchMapping
                } else {
                    G::MatchSequence
                };
                let v = self.general(op, [0, 0], vec![subject], Type::CBOOL);
                self.push_bool(v);
            }
            B::MatchKeys => {
                self.own_operands(2);
                let args = self.top_values(2);
                let v = self.general(G::MatchKeys, [0, 0], args, Type::OBJECT);
                self.push_owned(v);
            }
            B::MatchClass => {
                self.own_operands(3);
                let v = self.general_on_stack(G::MatchClass, [arg as i64, 0], 3);
                self.push_owned(v);
            }
            B::GetLen => {
                let top = self.stack.len() - 1;
                self.own(top);
                self.start_instr();
                let v = self.general(
                    G::GetLen,
                    [0, 0],
                    vec![self.stack[top].value],
                    Type::LONG_EXACT,
                );
                self.push_owned(v);
            }
            B::SetupAnnotations => self.effect(G::SetupAnnotations, [0, 0], 0),
            B::EndSend
            | B::GetYieldFromIter
            | B::Send
            | B::YieldValue
            | B::ReturnGenerator
            | B::CallIntrinsic2
            | B::Reraise
            | B::PushExcInfo
            | B::PopExcept
            | B::CheckExcMatch
            | B::CheckEgMatch
            | B::WithExceptStart
            | B::BeforeAsyncWith
            | B::GetAwaitable
            | B::GetAiter
            | B::GetAnext
            | B::EndAsyncFor
            | B::CleanupThrow
            | B::ExitInitCheck
            | B::InterpreterExit => {
                return Err(self.unsupported(format!("`{}`", instr.op.info().name)));
            }
        }
        Ok(false)
    }

    // ---- small pieces -------------------------------------------------------------------------------------------

    fn constant(&mut self, index: usize) -> Value {
        self.object(self.code.consts[index].object)
    }

    pub(super) fn object(&mut self, object: ObjectHandle) -> Value {
        self.emit(Op::Const(object), vec![], Type::from_object(object))
    }

    /// An object that somebody else holds for as long as an assumption lasts.
    fn assumed(&mut self, object: ObjectHandle) -> Value {
        let v = self.object(object);
        self.f.insts[v].source = Source::Assumed;
        v
    }

    /// Push an assumed object with a reference of the stack's own: what is called next may break the assumption.
    fn push_kept(&mut self, v: Value) {
        self.push_borrowed(v);
        let top = self.stack.len() - 1;
        self.own(top);
    }

    /// The value, or an exit where it is null (the interpreter raises).
    fn bound(&mut self, v: Value) -> Value {
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

    fn top_values(&self, n: usize) -> Vec<Value> {
        self.stack[self.stack.len() - n..]
            .iter()
            .map(|e| e.value)
            .collect()
    }

    /// Pop the top `n` entries and drop their references, the deepest first.
    fn drop_top(&mut self, n: usize) {
        let entries = self.stack.split_off(self.stack.len() - n);
        for e in entries {
            self.drop_entry(e);
        }
    }

    /// Pop a slice's bounds, which die first with the slice that the interpreter makes of them, its container, and
    /// `n` entries below, which go before the container.
    fn drop_slice(&mut self, n: usize) {
        let bounds = self.stack.split_off(self.stack.len() - 2);
        let rest = self.stack.split_off(self.stack.len() - 1 - n);
        for e in bounds.into_iter().chain(rest) {
            self.drop_entry(e);
        }
    }

    /// Pop the top `n` entries, whose references were taken over.
    fn forget_top(&mut self, n: usize) {
        self.stack.truncate(self.stack.len() - n);
    }

    /// A general operation on the top `n` (owned) entries, which are dropped; gives the result.
    fn general_on_stack(&mut self, op: G, imms: [i64; 2], n: usize) -> Value {
        let args = self.top_values(n);
        let types: Vec<Type> = args.iter().map(|&a| self.ty(a)).collect();
        let v = self.general(op, imms, args, typing::general(op, imms, &types));
        self.drop_top(n);
        v
    }

    fn push_general(&mut self, op: G, imms: [i64; 2], n: usize) {
        self.own_operands(n);
        let v = self.general_on_stack(op, imms, n);
        self.push_owned(v);
    }

    fn effect(&mut self, op: G, imms: [i64; 2], n: usize) {
        self.own_operands(n);
        self.general_on_stack(op, imms, n);
    }

    fn unary(&mut self, op: G, instr: &Instr) {
        self.own_operands(1);
        self.bet_operands(instr, 1);
        let v = self.general_on_stack(op, [0, 0], 1);
        self.push_owned(v);
    }

    fn push_bool(&mut self, v: Value) {
        let b = self.emit(Op::BoxBool, vec![v], Type::BOOL);
        self.push_owned(b);
    }

    fn truth_of_bool(&mut self, v: Value) -> Value {
        let v = self.refine(v, Type::BOOL);
        self.emit(Op::UnboxBool, vec![v], Type::CBOOL)
    }

    fn branch(&mut self, cond: Value, t: Pc, f: Pc) {
        self.settle();
        let then = self.edge_with_names(t);
        let els = self.edge_with_names(f);
        self.end_block(Term::Branch { cond, then, els });
    }

    fn assume(&mut self, assumptions: Vec<Assumption>) {
        for a in assumptions {
            if !self.f.assumptions.contains(&a) {
                self.f.assumptions.push(a);
            }
        }
    }

    /// Guard the top `n` entries by the instruction's hint, or by what is hinted of the values themselves.
    fn bet_operands(&mut self, instr: &Instr, n: usize) {
        let base = self.stack.len() - n;
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

    fn binary(&mut self, instr: &Instr) -> Result<(), Unsupported> {
        if BinaryOp::from_arg(instr.arg % INPLACE).is_none() || instr.arg >= 2 * INPLACE {
            return Err(self.unsupported("an unknown binary operator"));
        }
        self.own_operands(2);
        self.bet_operands(instr, 2);
        let v = self.general_on_stack(G::Binary, [instr.arg as i64, 0], 2);
        self.push_owned(v);
        Ok(())
    }

    fn compare(&mut self, instr: &Instr) -> Result<(), Unsupported> {
        if CompareOp::from_arg(instr.arg).is_none() {
            return Err(self.unsupported("an unknown comparison"));
        }
        self.own_operands(2);
        self.bet_operands(instr, 2);
        let n = self.stack.len();
        let plain = |t: Type| {
            t <= (Type::LONG_EXACT | Type::FLOAT_EXACT | Type::BOOL | Type::UNICODE_EXACT)
        };
        let both =
            plain(self.ty(self.stack[n - 1].value)) && plain(self.ty(self.stack[n - 2].value));
        if instr.arg2 != 0 || both {
            let v = self.general_on_stack(G::CompareBool, [instr.arg as i64, 0], 2);
            self.push_bool(v);
        } else {
            let v = self.general_on_stack(G::Compare, [instr.arg as i64, 0], 2);
            self.push_owned(v);
        }
        Ok(())
    }

    fn test_truth(&mut self, instr: &Instr) {
        self.own_operands(1);
        self.bet_operands(instr, 1);
        let v = self.stack[self.stack.len() - 1].value;
        if self.ty(v) <= Type::BOOL {
            return;
        }
        let t = self.general_on_stack(G::Truth, [0, 0], 1);
        self.push_bool(t);
    }

    fn load_global(&mut self, instr: &Instr) {
        let name = &self.code.names[instr.arg as usize];
        match self.world.global(self.code, name) {
            Some(global) => self.push_global(global),
            None => self.push_general(G::LoadGlobal, [instr.arg as i64, 0], 0),
        }
    }

    /// Push the value of a name that is watched.
    pub(super) fn push_global(&mut self, global: Global) {
        self.assume(global.assumptions);
        let v = self.assumed(global.value);
        self.push_kept(v);
    }

    fn for_iter(&mut self, instr: &Instr) {
        self.settle();
        self.start_instr();
        self.bet_operands(instr, 1);
        let iter = self.stack[self.stack.len() - 1].value;
        let ty = self.ty(iter);
        let next = Pc(self.pc.0 + 1);
        let sequence = ty <= Type::LIST_ITER || ty <= Type::TUPLE_ITER;
        if sequence && self.names.is_some() {
            return self.for_iter_with_names(instr, iter);
        }
        // The loop goes on with the item on the stack; it ends without the iterator.
        let (more, item) = if ty <= Type::RANGE_ITER {
            let more = self.emit(Op::RangeNext, vec![iter], Type::CBOOL);
            let raw = self.emit(Op::Output(0), vec![more], Type::CINT64);
            (
                more,
                Some(self.emit(Op::BoxInt, vec![raw], Type::LONG_EXACT)),
            )
        } else if sequence {
            let item = self.next_item(iter);
            let none = self.emit(Op::IsNull, vec![item], Type::CBOOL);
            let more = self.emit(Op::BoolNot, vec![none], Type::CBOOL);
            self.emit(Op::Incref, vec![item], Type::BOTTOM);
            let item = self.emit(Op::Refine(Type::OBJECT), vec![item], Type::OBJECT);
            (more, Some(item))
        } else {
            let more = self.general(G::IterNext, [0, 0], vec![iter], Type::CBOOL);
            let item = self.emit(Op::Output(0), vec![more], Type::OBJECT.opt());
            (more, Some(item))
        };
        let item = item.expect("every iterator gives items");
        self.push_owned(item);
        let then = self.edge_with_names(next);
        self.forget_top(1);
        self.end_iteration(instr, more, then, |_, _| {});
    }

    fn next_item(&mut self, iter: Value) -> Value {
        let op = if self.ty(iter) <= Type::LIST_ITER {
            Op::ListIterNext
        } else {
            Op::TupleIterNext
        };
        self.emit(op, vec![iter], Type::OBJECT.opt())
    }

    /// At its end an iterator drops its list, whose end may be seen by the program: names must be stored then, but not
    /// at each item.
    fn for_iter_with_names(&mut self, instr: &Instr, iter: Value) {
        let next = Pc(self.pc.0 + 1);
        let more = self.emit(Op::IterMore, vec![iter], Type::CBOOL);
        let at = self.pc;
        let then = self.edge_through(next, at, |b| {
            let item = b.next_item(iter);
            b.emit(Op::Incref, vec![item], Type::BOTTOM);
            let item = b.emit(Op::Refine(Type::OBJECT), vec![item], Type::OBJECT);
            b.push_owned(item);
        });
        self.end_iteration(instr, more, then, |b, iter| {
            b.publish_names(b.pc);
            let last = b.next_item(iter);
            b.f.settled.insert(last);
            b.unchecked = true;
        });
    }

    /// End the block of a loop's head: to `then` if there are `more` items, else out, where the used-up iterator is
    /// dropped after `last`.
    fn end_iteration(
        &mut self,
        instr: &Instr,
        more: Value,
        then: crate::hir::function::Edge,
        last: impl FnOnce(&mut Self, Value),
    ) {
        // On the way out, in a block of its own.
        let e = self.pop();
        let from = self.cur;
        let out = self.f.blocks.push(super::function::BlockData {
            params: Vec::new(),
            insts: Vec::new(),
            term: Term::Unreachable,
            entry_state: super::function::FrameState {
                pc: Pc(instr.arg),
                locals: self.locals.clone(),
                stack: self.stack.clone(),
            },
            out_locals: Vec::new(),
            is_loop_header: false,
        });
        let els = super::function::Edge {
            block: out,
            args: Vec::new(),
        };
        self.end_block(Term::Branch {
            cond: more,
            then,
            els,
        });
        self.cur = out;
        self.start_instr();
        last(self, e.value);
        self.drop_entry(e);
        if self.names.is_some() {
            // Nothing is known of names here, or the iterator is no list's, and then what it drops is nothing's.
            let dropped = self.f.blocks[out].insts.last().copied();
            self.f.settled.extend(dropped);
        }
        self.jump_to(Pc(instr.arg), false);
        self.cur = from;
    }

    fn unpack(&mut self, instr: &Instr) {
        let n = instr.arg as usize;
        self.own_operands(1);
        self.bet_operands(instr, 1);
        let seq = self.stack[self.stack.len() - 1].value;
        let ty = self.ty(seq);
        let exact = ty <= Type::TUPLE_EXACT || ty <= Type::LIST_EXACT;
        if exact && !self.avoid.contains(&(self.pc, Reason::Length)) {
            let (len, get) = if ty <= Type::TUPLE_EXACT {
                (Op::TupleLen, Op::TupleGet)
            } else {
                (Op::ListLen, Op::ListGet)
            };
            let state = self.state();
            let len = self.emit(len, vec![seq], Type::CINT64);
            let want = self.emit(Op::ConstInt(n as i64), vec![], Type::CINT64);
            let same = self.emit(Op::IntCmp(super::Cmp::Eq), vec![len, want], Type::CBOOL);
            self.emit_with(
                Op::GuardTrue(Reason::Length),
                vec![same],
                Type::BOTTOM,
                Some(state),
            );
            let mut items = Vec::new();
            for i in 0..n {
                let index = self.emit(Op::ConstInt(i as i64), vec![], Type::CINT64);
                let item = self.emit(get.clone(), vec![seq, index], Type::OBJECT);
                self.emit(Op::Incref, vec![item], Type::BOTTOM);
                items.push(item);
            }
            self.drop_top(1);
            for item in items.into_iter().rev() {
                self.push_owned(item);
            }
            return;
        }
        let op = self.general(G::UnpackSequence, [n as i64, 0], vec![seq], Type::BOTTOM);
        self.push_outputs(op, n);
    }

    /// Replace the top by `n` outputs of `op`, the first one on top.
    fn push_outputs(&mut self, op: Value, n: usize) {
        let outputs: Vec<Value> = (0..n)
            .map(|i| self.emit(Op::Output(i as u32), vec![op], Type::OBJECT))
            .collect();
        self.drop_top(1);
        for v in outputs.into_iter().rev() {
            self.push_owned(v);
        }
    }

    fn build_from(&mut self, op: G, n: usize, ty: Type) {
        self.own_operands(n);
        let state = self.state_without(n);
        let args = self.top_values(n);
        let v = self.general_at(op, [0, 0], args, ty, state);
        self.forget_top(n);
        self.push_owned(v);
    }

    /// Pop `n` values into the container at depth `depth`.
    fn update(&mut self, op: G, n: usize, depth: usize) {
        self.own_operands(n);
        let len = self.stack.len();
        let mut args = vec![self.stack[len - n - depth].value];
        args.extend(self.top_values(n));
        self.general(op, [0, 0], args, Type::BOTTOM);
        self.drop_top(n);
    }

    // ---- attributes ---------------------------------------------------------------------------------------------

    /// The receiver's type to plan for: proved, or hinted (then guarded by the caller).
    fn receiver_type(&self, v: Value, instr: &Instr) -> Option<Type> {
        let ty = self.ty(v);
        if ty.as_object().is_some() || (ty.is_exact() && ty.runtime_class().is_some()) {
            return Some(ty);
        }
        let hint = *instr.hint.first()?;
        if hint.is_bottom() || hint == Type::OBJECT {
            return None;
        }
        let failed = self.avoid.contains(&(self.pc, Reason::Type))
            || self.avoid.contains(&(self.pc, Reason::Shape))
            || self.avoid.contains(&(self.pc, Reason::Identity));
        (!failed && hint.could_be(ty)).then_some(hint)
    }

    /// Check that `v` is what `ty` says: an object, or an instance of an exact class.
    fn check_receiver(&mut self, v: Value, ty: Type) -> Value {
        match ty.as_object() {
            Some(object) if self.ty(v).as_object() != Some(object) => {
                let state = self.state();
                let g = self.emit_with(Op::GuardIs(object), vec![v], ty, Some(state));
                self.f.insts[g].source = Source::Guarded;
                g
            }
            Some(_) => v,
            None => self.guard_type(v, ty),
        }
    }

    fn checks(&mut self, receiver: Value, guards: &[IntrinsicCall]) {
        let state = self.state();
        for guard in guards {
            self.emit_with(
                Op::Check(guard.clone()),
                vec![receiver],
                Type::BOTTOM,
                Some(state),
            );
        }
    }

    fn load_attr(&mut self, instr: &Instr) {
        let as_method = instr.arg2 != 0;
        self.own_operands(1);
        let top = self.stack.len() - 1;
        let receiver = self.stack[top].value;
        let name = self.code.names[instr.arg as usize].clone();
        let plan = self
            .receiver_type(receiver, instr)
            .map(|ty| (ty, self.world.load_attr(ty, &name)))
            .unwrap_or((Type::OBJECT, AttrPlan::General));
        match plan {
            (
                ty,
                AttrPlan::Field {
                    guards,
                    load,
                    assumptions,
                },
            ) => {
                let g = self.check_receiver(receiver, ty);
                self.assume(assumptions);
                self.checks(g, &guards);
                let state = self.state();
                let v = self.emit_with(Op::Load(load), vec![g], Type::OBJECT, Some(state));
                self.emit(Op::Incref, vec![v], Type::BOTTOM);
                self.drop_top(1);
                self.push_owned(v);
                if as_method {
                    self.push_borrowed(self.null);
                }
            }
            (
                ty,
                AttrPlan::Constant {
                    guards,
                    value,
                    method,
                    assumptions,
                },
            ) if !method || as_method => {
                let g = self.check_receiver(receiver, ty);
                self.assume(assumptions);
                self.checks(g, &guards);
                self.f.rely_on(g);
                let v = self.assumed(value);
                let this = self.pop();
                self.push_kept(v);
                if method {
                    self.stack.push(this);
                } else {
                    self.drop_entry(this);
                    if as_method {
                        self.push_borrowed(self.null);
                    }
                }
            }
            _ if as_method => {
                let op = self.general(
                    G::LoadMethod,
                    [instr.arg as i64, 0],
                    vec![receiver],
                    Type::BOTTOM,
                );
                let callable = self.emit(Op::Output(0), vec![op], Type::OBJECT);
                let this = self.emit(Op::Output(1), vec![op], Type::OBJECT.opt());
                self.drop_top(1);
                self.push_owned(callable);
                self.push_owned(this);
            }
            _ => {
                let v = self.general_on_stack(G::LoadAttr, [instr.arg as i64, 0], 1);
                self.push_owned(v);
            }
        }
    }

    fn store_attr(&mut self, instr: &Instr) {
        self.own_operands(2);
        let n = self.stack.len();
        let (value, receiver) = (self.stack[n - 2].value, self.stack[n - 1].value);
        let name = self.code.names[instr.arg as usize].clone();
        let plan = self
            .receiver_type(receiver, instr)
            .filter(|ty| ty.as_object().is_none())
            .map(|ty| (ty, self.world.store_attr(ty, &name)))
            .unwrap_or((Type::OBJECT, StorePlan::General));
        match plan {
            (
                ty,
                StorePlan::Field {
                    guards,
                    store,
                    assumptions,
                },
            ) => {
                let g = self.check_receiver(receiver, ty);
                self.assume(assumptions);
                self.checks(g, &guards);
                let state = self.state();
                let old = self.emit_with(
                    Op::Store(store),
                    vec![g, value],
                    Type::OBJECT.opt(),
                    Some(state),
                );
                self.pop();
                let receiver_entry = crate::hir::function::Entry {
                    value: receiver,
                    owned: true,
                };
                self.pop();
                self.decref(old);
                self.drop_entry(receiver_entry);
            }
            _ => {
                self.general(
                    G::StoreAttr,
                    [instr.arg as i64, 0],
                    vec![receiver, value],
                    Type::BOTTOM,
                );
                self.drop_top(2);
            }
        }
    }

    // ---- calls --------------------------------------------------------------------------------------------------

    fn call(&mut self, instr: &Instr, names: Option<Value>) {
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
    fn call_known(&mut self, instr: &Instr, base: usize, n: usize) -> bool {
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
                self.unchecked = true;
                let v = self.emit_with(Op::CallDirect(entry_cell), args, Type::OBJECT, Some(state));
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
    fn self_is_known(&self, this: Value) -> bool {
        self.ty(this) <= Type::NULLPTR || self.ty(this) <= Type::OBJECT
    }

    /// Builtins that need no call when their operand's type is known.
    fn call_builtin(&mut self, builtin: Builtin, base: usize, n: usize) -> bool {
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
