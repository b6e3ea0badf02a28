//! One bytecode instruction to HIR: the dispatch, and the instructions that are a few lines each.

mod attributes;
mod calls;
mod containers;
mod dispatch;
mod exceptions;
mod methods;
mod numbers;
mod operators;
mod overloads;
mod raw_items;
mod resume;
mod stack;
mod supers;

pub(super) use resume::Resumption;

use super::Op;
use super::build::{Builder, Shown, Unsupported};
use super::function::Term;
use super::typing;
use crate::bytecode::{GeneralOp as G, Instr, Op as B, Pc};
use crate::facts::Operator;
use crate::types::Type;

type Done = Result<bool, Unsupported>;

impl Builder<'_> {
    /// Translate an instruction; true if it ended the block.
    pub(super) fn translate(&mut self, instr: &Instr) -> Done {
        let arg = instr.arg as usize;
        match instr.op {
            B::Nop => {}
            B::Resume if self.enters => {}
            B::Resume => {
                let state = self.state();
                self.emit_raising(Op::CheckPending, vec![], Type::BOTTOM, state);
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
            B::LoadFast | B::LoadFastBorrow => {
                let v = self.locals[arg];
                let v = self.refine(v, Type::OBJECT);
                self.push_borrowed(v);
                if instr.op == B::LoadFast && self.lends {
                    self.own(self.stack.len() - 1);
                }
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
                self.drop_before_store(arg);
                let e = self.pop();
                self.set_local(arg, e.value);
            }
            B::DeleteFast => {
                self.bound(self.locals[arg]);
                self.set_local(arg, self.null);
            }
            B::LoadGlobal => {
                if !(self.binds_name(instr.arg) && self.load_name(instr.arg)) {
                    self.load_global(instr);
                }
                if instr.arg2 != 0 {
                    self.push_borrowed(self.null);
                }
            }
            B::LoadName if self.load_name(instr.arg) => {}
            B::LoadName => self.push_general(G::LoadName, [arg as i64, 0], 0),
            B::StoreName if self.store_name(instr.arg) => {}
            B::StoreName => self.effect(G::StoreName, [arg as i64, 0], 1),
            B::DeleteName => self.effect(G::DeleteName, [arg as i64, 0], 0),
            B::StoreGlobal if self.store_name(instr.arg) => {}
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
                let state = self.state();
                let content = vec![self.locals[arg]];
                let op = Op::NewCell(instr.arg);
                let cell = self.emit_with(op, content, Type::CELL, Some(state));
                self.emit(Op::StoreSlot(instr.arg), vec![cell], Type::BOTTOM);
                self.locals[arg] = cell;
            }
            B::CopyFreeVars if let Some(Shown { cells, .. }) = self.inlined => {
                // The caller relies on the function, so its closure is fixed too.
                let count = self.code.locals.len();
                let first = count - arg;
                if cells.is_some_and(|cells| cells.len() != arg) {
                    return Err(self.unsupported("a closure that is not known"));
                }
                for k in 0..arg {
                    let v = match cells {
                        Some(cells) => self.assumed(cells[k]),
                        None => self.emit(Op::Arg((count + k) as u32), vec![], Type::OBJECT),
                    };
                    self.locals[first + k] = self.refine(v, Type::CELL);
                }
            }
            B::CopyFreeVars => {
                self.general(G::CopyFreeVars, [arg as i64, 0], vec![], Type::BOTTOM);
                let n = self.code.locals.len();
                for k in n - arg..n {
                    self.locals[k] = self.emit(Op::LoadSlot(k as u32), vec![], Type::CELL);
                }
            }

            B::UnaryNegative => self.unary(G::Negative, Operator::Negative, instr),
            B::UnaryInvert => self.unary(G::Invert, Operator::Invert, instr),
            B::UnaryNot => {
                let e = self.pop();
                let b = self.truth_of_bool(e);
                let n = self.emit(Op::BoolNot, vec![b], Type::CBOOL);
                self.push_bool(n);
            }
            B::ToBool => self.test_truth(instr),
            B::BinaryOp => self.binary(instr)?,
            B::CompareOp => self.compare(instr)?,
            B::BinarySubscr if self.get_raw_item(instr) || self.item_of_names() => {}
            B::BinarySubscr => {
                self.own_operands(2);
                if self.overloaded(Operator::Item, instr, 2, overloads::Wanted::Object) {
                    return Ok(false);
                }
                self.bet_operands(instr, 2);
                let v = self.general_on_stack(G::GetItem, [0, 0], 2);
                self.push_owned(v);
            }
            B::StoreSubscr if self.set_raw_item(instr) => {}
            B::StoreSubscr => {
                self.own_operands(3);
                if self.overloaded(Operator::StoreItem, instr, 3, overloads::Wanted::Nothing) {
                    return Ok(false);
                }
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
                self.bet_operands(instr, 3);
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
                self.bet_operands(instr, 4);
                let n = self.stack.len();
                let args = [n - 3, n - 2, n - 1, n - 4]
                    .map(|i| self.stack[i].value)
                    .to_vec();
                self.general(G::SetSlice, [0, 0], args, Type::BOTTOM);
                self.drop_slice(1);
            }
            B::BuildSlice if self.cut_at_once(arg) => {}
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
            B::ContainsOp if self.is_in_names(arg != 0) => {}
            B::ContainsOp => {
                self.own_operands(2);
                let mut v = self.general_on_stack(G::Contains, [0, 0], 2);
                if arg != 0 {
                    v = self.emit(Op::BoolNot, vec![v], Type::CBOOL);
                }
                self.push_bool(v);
            }
            B::LoadAttr => self.load_attr(instr)?,
            B::StoreAttr => self.store_attr(instr),
            B::DeleteAttr => self.effect(G::DeleteAttr, [arg as i64, 0], 1),
            B::LoadSuperAttr => self.load_super_attr(instr),

            B::Jump | B::JumpBackwardNoInterrupt => {
                self.jump_to(Pc(instr.arg), false);
                return Ok(true);
            }
            B::JumpBackward => {
                self.settle();
                self.carry_names(Pc(instr.arg));
                self.start_instr();
                let state = self.state();
                // No frame shows an inlined generator to the code that pending work may run.
                if self.holds_names_at(Pc(instr.arg)) || self.inlined.is_some() {
                    self.emit_with(Op::CheckQuiet, vec![], Type::BOTTOM, Some(state));
                } else {
                    self.emit_raising(Op::CheckPending, vec![], Type::BOTTOM, state);
                }
                self.jump_to(Pc(instr.arg), true);
                return Ok(true);
            }
            B::PopJumpIfFalse | B::PopJumpIfTrue => {
                let e = self.pop();
                let cond = self.truth_of_bool(e);
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
                self.get_iter(instr);
                self.push_pair(instr);
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
                self.return_value(e.value, true)?;
                return Ok(true);
            }
            B::ReturnConst => {
                self.publish_names(self.pc);
                let v = self.constant(arg);
                self.push_borrowed(v);
                let top = self.stack.len() - 1;
                self.own(top);
                self.pop();
                self.return_value(v, false)?;
                return Ok(true);
            }

            B::Call => self.call(instr, None),
            B::CallKw => {
                let names = self.pop();
                self.names_of_call = Some(names);
                self.start_instr();
                self.call(instr, Some(names.value));
                self.names_of_call = None;
                self.drop_entry(names);
            }
            B::BuildMap if arg == 0 && self.forwards_names() => {}
            B::CallFunctionEx if arg & 1 == 0 && self.call_spread(self.pc) => {}
            B::CallFunctionEx => {
                let n = 3 + (arg & 1);
                let nothing = self.stack[self.stack.len() - n + 1].value;
                if !(self.ty(nothing) <= Type::NULLPTR) {
                    // A loop was entered with this stack entry, so its type is not known; by the
                    // bytecode's rules it is null.
                    self.start_instr();
                    self.guard_null(nothing);
                }
                self.call_with_collected(n);
            }
            B::CallIntrinsic1 => self.push_general(G::CallIntrinsic1, [arg as i64, 0], 1),
            B::CallIntrinsic2 => self.push_general(G::CallIntrinsic2, [arg as i64, 0], 2),
            B::BuildTuple => self.build_from(G::BuildTuple, arg, Type::TUPLE_EXACT),
            B::BuildList if arg > 0 && self.forwards_list(arg) => {}
            B::BuildList => self.build_from(G::BuildList, arg, Type::LIST_EXACT),
            B::BuildSet => self.build_from(G::BuildSet, arg, Type::SET_EXACT),
            B::BuildMap => self.build_from(G::BuildMap, 2 * arg, Type::DICT_EXACT),
            B::BuildString => self.build_from(G::BuildString, arg, Type::UNICODE_EXACT),
            B::BuildInterpolation => {
                let n = 2 + (arg & 1);
                self.take_operands(n);
                let state = self.state_without(n);
                let args = self.top_values(n);
                let conversion = (arg >> 1) as i64;
                let v = self.general_at(
                    G::BuildInterpolation,
                    [conversion, 0],
                    args,
                    Type::OBJECT,
                    state,
                );
                self.forget_top(n);
                self.push_owned(v);
            }
            B::BuildConstKeyMap => {
                let keys = self.pop();
                self.take_operands(arg);
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
                self.take_operands(2);
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
            B::RaiseVarargs if arg == 0 => {
                self.general(G::RaiseAgain, [0, 0], vec![], Type::BOTTOM);
                self.end_block(Term::Unreachable);
                return Ok(true);
            }
            B::RaiseVarargs if arg == 1 && self.end_of_iteration() => return Ok(true),
            B::RaiseVarargs => {
                self.own_operands(arg);
                let mut args = self.top_values(arg);
                args.resize(2, self.null);
                self.general(G::Raise, [arg as i64, 0], args, Type::BOTTOM);
                self.end_block(Term::Unreachable);
                return Ok(true);
            }
            B::BeforeWith if self.enter_manager(instr) => {}
            B::BeforeWith => self.before_with(G::BeforeWith),
            B::LoadSpecial if self.load_special(instr) => {}
            B::LoadSpecial => {
                self.push_general(G::LoadSpecial, [arg as i64, 0], 1);
                self.push_borrowed(self.null);
            }
            B::ImportName => {
                self.push_general(G::ImportName, [arg as i64, instr.arg2.into()], 2);
            }
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
            B::PushExcInfo => self.push_exc_info(),
            B::PopExcept => self.pop_except(),
            B::CheckExcMatch => self.check_exc_match(),
            B::CheckEgMatch => self.check_eg_match(),
            B::WithExceptStart => self.with_except_start(),
            B::Reraise => {
                self.reraise(arg);
                return Ok(true);
            }
            B::ReturnGenerator => return self.make_generator(),
            B::YieldValue => return self.yield_value(instr),
            B::GetYieldFromIter => {
                self.push_general(G::GetYieldFromIter, [0, 0], 1);
                self.push_pair(instr);
            }
            B::Send => {
                self.send(instr);
                return Ok(true);
            }
            B::EndSend => {
                self.take_operands(2 + instr.arg2 as usize);
                let value = self.pop();
                self.forget_top(instr.arg2 as usize);
                let receiver = self.pop();
                self.push_owned(value.value);
                self.drop_entry(receiver);
            }
            B::GetAwaitable => self.push_general(G::GetAwaitable, [arg as i64, 0], 1),
            B::GetAiter => self.push_general(G::GetAiter, [0, 0], 1),
            B::GetAnext => {
                self.own_operands(1);
                let aiter = self.top_values(1);
                let v = self.general(G::GetAnext, [0, 0], aiter, Type::OBJECT);
                self.push_owned(v);
            }
            B::EndAsyncFor => {
                self.own_operands(2);
                let exception = self.top_values(1);
                self.general(G::EndAsyncFor, [0, 0], exception, Type::BOTTOM);
                self.drop_top(2);
            }
            B::BeforeAsyncWith => self.before_with(G::BeforeAsyncWith),
            B::CleanupThrow | B::ExitInitCheck | B::InterpreterExit => {
                return Err(self.unsupported(format!("`{}`", instr.op.info().name)));
            }
        }
        Ok(false)
    }
}
