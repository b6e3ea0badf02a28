//! The interpreter of typed bytecode.
//!
//! It drops operands where compiled code does: after the operation, the deepest first; if it
//! raised, with the rest of the stack from the top. So objects are deallocated at the same places
//! in every form of execution.

use super::class;
use super::error::{self, Raised, raise};
use super::frame::FrameRef;
use super::heap::{CellObject, Function, Kind, Ref, alloc};
use super::names;
use super::units::{self, LoopEnd};
use super::{Result, Step, iter, ops, rt};
use cladonia::bytecode::{CompareOp, Instr, Op, Pc};

/// The continuation after an instruction.
enum Next {
    /// The next instruction.
    Follow,
    /// Another instruction.
    Jump(Pc),
    /// None: the frame returns this.
    Return(Ref),
    /// None: an exception that the frame does not handle.
    Leave(Raised),
}

/// Runs a frame from its start.
pub fn run(frame: FrameRef) -> Result<Ref> {
    go_on(frame, Pc(0))
}

/// Runs a frame from an instruction on.
pub fn go_on(frame: FrameRef, mut pc: Pc) -> Result<Ref> {
    loop {
        frame.set_pc(pc);
        rt().step()?;
        rt().tell_step(frame, Step::Before(pc));
        let instr = frame.code().code.instr(pc);
        pc = match step(frame, pc, instr) {
            Ok(Next::Follow) => Pc(pc.0 + 1),
            Ok(Next::Jump(target)) => target,
            Ok(Next::Return(result)) => return Ok(result),
            Ok(Next::Leave(raised)) => return Err(raised),
            Err(raised) => {
                let bare = instr.op == Op::RaiseVarargs && instr.arg == 0;
                let again = bare && rt().thread.handled().is_some();
                unwind(frame, pc, raised, again || instr.op == Op::Reraise)?
            }
        };
    }
}

/// Finds the handler of an exception raised at `pc`: first the instruction's own operands are
/// dropped, then the stack is unwound to the handler. If it is raised `again`, its trace already
/// has this place.
///
/// # Errors
/// The exception, if the frame does not handle it.
pub fn unwind(frame: FrameRef, pc: Pc, raised: Raised, again: bool) -> Result<Pc> {
    let code = &frame.code().code;
    let instr = code.instr(pc);
    let position = (again && instr.arg > 0)
        .then(|| frame.peek(instr.arg as usize - 1))
        .flatten();
    let mut operands: Vec<Option<Ref>> = Vec::new();
    for &depth in instr.dropped_on_error(false) {
        operands.push(frame.take(depth.into()));
    }
    frame.set_depth(frame.depth() - operands.len());
    operands.into_iter().for_each(drop);
    if !again {
        note_raise(frame, pc);
    }
    let handler = code.handler_at(pc);
    let depth = handler.map_or(0, |handler| handler.depth as usize);
    while frame.depth() > depth {
        drop(frame.pop());
    }
    let Some(handler) = handler else {
        return Err(raised);
    };
    if handler.lasti {
        let position = position.unwrap_or_else(|| alloc::int(instr.pos.into()));
        frame.push(Some(position));
    }
    frame.push(Some(raised.0));
    Ok(handler.target)
}

/// Adds this instruction to the trace of the pending exception.
fn note_raise(frame: FrameRef, pc: Pc) {
    let code = &frame.code().code;
    let place = (code.name.clone(), code.instr(pc).line);
    rt().trace.borrow_mut().push(place);
}

/// The same for the current instruction of the innermost frame.
pub fn note_raise_here() {
    let frame = rt().thread.frame();
    let position = frame.position();
    let code = &frame.code().code;
    if let Some(at) = code
        .instrs
        .iter()
        .position(|instr| u64::from(instr.pos) == position)
    {
        note_raise(frame, Pc(at as u32));
    }
}

/// Pops the top `n` entries. Returns them, the deepest first.
fn pop_n(frame: FrameRef, n: usize) -> Vec<Option<Ref>> {
    let mut all: Vec<Option<Ref>> = (0..n).map(|_| frame.pop()).collect();
    all.reverse();
    all
}

/// Pops objects.
fn pop_objects(frame: FrameRef, n: usize) -> Result<Vec<Ref>> {
    match pop_n(frame, n).into_iter().collect() {
        Some(objects) => Ok(objects),
        None => raise(error::SYSTEM, "a null where an object is needed"),
    }
}

fn pop_one(frame: FrameRef) -> Result<Ref> {
    match frame.pop() {
        Some(object) => Ok(object),
        None => raise(error::SYSTEM, "a null where an object is needed"),
    }
}

/// Pops an entry that the bytecode requires to be an exception.
fn pop_exception(frame: FrameRef) -> Result<Ref> {
    let is_one = |object: &Ref| error::is_a(object, "BaseException");
    if frame.peek(0).as_ref().is_some_and(is_one) {
        pop_one(frame)
    } else {
        raise(error::SYSTEM, "no exception where one is needed")
    }
}

/// Runs an operation on the top `n` entries, and drops them if it succeeded, the deepest first.
fn with<const N: usize, T>(frame: FrameRef, run: impl FnOnce([&Ref; N]) -> Result<T>) -> Result<T> {
    let mut entries: [Option<Ref>; N] = std::array::from_fn(|i| frame.peek(N - 1 - i));
    if entries.iter().any(Option::is_none) {
        return raise(error::SYSTEM, "a null where an object is needed");
    }
    let operands = std::array::from_fn(|i| entries[i].as_ref().expect("checked above"));
    let result = run(operands);
    // The stack still owns references, so dropping these copies first has no side effects.
    entries.iter_mut().for_each(|entry| drop(entry.take()));
    let result = result?;
    drop_top(frame, N);
    Ok(result)
}

/// Pops the top `n` entries and drops them, the deepest first.
fn drop_top(frame: FrameRef, n: usize) {
    pop_n(frame, n).into_iter().for_each(drop);
}

/// An operation with `N` operands and one result.
fn result<const N: usize>(
    frame: FrameRef,
    run: impl FnOnce([&Ref; N]) -> Result<Ref>,
) -> Result<Next> {
    let result = with(frame, run)?;
    frame.push(Some(result));
    Ok(Next::Follow)
}

/// An operation with `N` operands and no result.
fn effect<const N: usize>(
    frame: FrameRef,
    run: impl FnOnce([&Ref; N]) -> Result<()>,
) -> Result<Next> {
    with(frame, run)?;
    Ok(Next::Follow)
}

/// An operation with `N` operands and a truth value as result.
fn truth<const N: usize>(
    frame: FrameRef,
    run: impl FnOnce([&Ref; N]) -> Result<bool>,
) -> Result<Next> {
    let result = with(frame, run)?;
    frame.push(Some(rt().bool(result)));
    Ok(Next::Follow)
}

/// Notes the types of the top `n` entries.
fn observe(frame: FrameRef, pc: Pc, n: usize) {
    let types: Vec<_> = (0..n)
        .rev()
        .map(|i| {
            frame
                .peek(i)
                .map_or(cladonia::types::Type::OBJECT, |o| rt().type_of(&o))
        })
        .collect();
    frame.code().observe(pc, &types);
}

/// Pops an entry that the bytecode requires to be a bool.
fn pop_bool(frame: FrameRef) -> Result<bool> {
    let value = pop_one(frame)?;
    match value.kind() {
        Kind::Bool => Ok(value.is(&rt().true_)),
        _ => raise(error::SYSTEM, "a jump on something that is no bool"),
    }
}

fn step(frame: FrameRef, pc: Pc, instr: &Instr) -> Result<Next> {
    let arg = instr.arg as usize;
    match instr.op {
        Op::Nop => {}
        Op::Resume => names::handle_pending()?,
        Op::PopTop => drop(frame.pop()),
        Op::PushNull => frame.push(None),
        Op::Copy => frame.push(frame.peek(arg - 1)),
        Op::Swap => {
            let (top, other) = (frame.stack_word(0), frame.stack_word(arg - 1));
            top.swap(other);
        }
        Op::LoadConst => frame.push(Some(frame.code().consts[arg].clone())),
        Op::LoadFast | Op::LoadFastBorrow | Op::LoadFastCheck => match frame.local(arg) {
            Some(value) => frame.push(Some(value)),
            None if instr.op != Op::LoadFastCheck => {
                return raise(error::SYSTEM, "an unbound local");
            }
            None => return names::unbound(frame, arg),
        },
        Op::LoadFastAndClear => {
            let value = frame.replace_local(arg, None);
            frame.push(value);
        }
        Op::StoreFast => {
            let value = frame.pop();
            frame.set_local(arg, value);
        }
        Op::DeleteFast => {
            if frame.local(arg).is_none() {
                return names::unbound(frame, arg);
            }
            frame.set_local(arg, None);
        }
        Op::LoadGlobal => {
            frame.push(Some(names::load_global(frame, arg)?));
            if instr.arg2 != 0 {
                frame.push(None);
            }
        }
        Op::LoadName => frame.push(Some(names::load_name(frame, arg)?)),
        Op::StoreName => return effect(frame, |[v]| names::store_name(frame, arg, v.clone())),
        Op::DeleteName => names::delete_name(frame, arg)?,
        Op::StoreGlobal => return effect(frame, |[v]| names::store_global(frame, arg, v.clone())),
        Op::DeleteGlobal => names::delete_global(frame, arg)?,
        Op::LoadLocals => frame.push(Some(names::load_locals(frame)?)),
        Op::LoadFromDictOrGlobals => {
            return result(frame, |[m]| names::load_from_dict_or_globals(frame, m, arg));
        }
        Op::LoadFromDictOrDeref => {
            return result(frame, |[m]| names::load_from_dict_or_deref(frame, m, arg));
        }
        Op::LoadDeref => frame.push(Some(names::load_deref(frame, arg)?)),
        Op::StoreDeref | Op::DeleteDeref => {
            let value = match instr.op {
                Op::StoreDeref => Some(pop_one(frame)?),
                _ => {
                    names::load_deref(frame, arg)?;
                    None
                }
            };
            let cell = frame.local(arg);
            match cell.as_ref().and_then(|cell| cell.get::<CellObject>()) {
                Some(cell) => drop(cell.content.replace(value)),
                None => return raise(error::SYSTEM, "a local is no cell"),
            }
        }
        Op::MakeCell => names::make_cell(frame, arg),
        Op::CopyFreeVars => names::copy_free_vars(frame, arg),

        Op::UnaryNegative => {
            observe(frame, pc, 1);
            return result(frame, |[a]| ops::negative(a));
        }
        Op::UnaryInvert => {
            observe(frame, pc, 1);
            return result(frame, |[a]| ops::invert(a));
        }
        Op::UnaryNot => {
            let value = pop_bool(frame)?;
            frame.push(Some(rt().bool(!value)));
        }
        Op::ToBool => {
            observe(frame, pc, 1);
            return truth(frame, |[a]| ops::truth(a));
        }
        Op::BinaryOp => {
            observe(frame, pc, 2);
            return result(frame, |[a, b]| ops::binary(instr.arg, a, b));
        }
        Op::BinarySubscr => {
            observe(frame, pc, 2);
            return result(frame, |[a, b]| ops::get_item(a, b));
        }
        Op::StoreSubscr => {
            observe(frame, pc, 3);
            return effect(frame, |[v, a, b]| ops::set_item(a, b, v));
        }
        Op::DeleteSubscr => return effect(frame, |[a, b]| ops::del_item(a, b)),
        Op::BinarySlice => {
            let made = {
                let operands = [2, 1, 0].map(|i| frame.peek(i));
                let [Some(a), Some(b), Some(c)] = operands else {
                    return raise(error::SYSTEM, "a null where an object is needed");
                };
                ops::get_slice(&a, &[b, c, rt().none.clone()])?
            };
            // The bounds are dropped first, then the container.
            let mut entries = pop_n(frame, 3).into_iter();
            let container = entries.next();
            entries.for_each(drop);
            drop(container);
            frame.push(Some(made));
        }
        Op::StoreSlice => {
            {
                let operands = [3, 2, 1, 0].map(|i| frame.peek(i));
                let [Some(v), Some(a), Some(b), Some(c)] = operands else {
                    return raise(error::SYSTEM, "a null where an object is needed");
                };
                ops::set_slice(&a, &b, &c, &v)?;
            }
            let mut entries = pop_n(frame, 4).into_iter();
            let (value, container) = (entries.next(), entries.next());
            entries.for_each(drop);
            drop(value);
            drop(container);
        }
        Op::BuildSlice => {
            let mut parts: Vec<Option<Ref>> = (0..arg).rev().map(|i| frame.peek(i)).collect();
            parts.resize(3, Some(rt().none.clone()));
            let parts: Option<Vec<Ref>> = parts.into_iter().collect();
            let Some(Ok(parts)) = parts.map(<[Ref; 3]>::try_from) else {
                return raise(error::SYSTEM, "a null where an object is needed");
            };
            drop_top(frame, arg);
            frame.push(Some(alloc::slice(parts)));
        }
        Op::CompareOp => {
            observe(frame, pc, 2);
            let Some(op) = CompareOp::from_arg(instr.arg) else {
                return raise(error::SYSTEM, "an unknown comparison");
            };
            if instr.arg2 != 0 {
                return truth(frame, |[a, b]| {
                    let result = ops::compare(op, a, b)?;
                    ops::truth(&result)
                });
            }
            return result(frame, |[a, b]| ops::compare(op, a, b));
        }
        Op::IsOp => {
            let [a, b] = [frame.peek(1), frame.peek(0)]
                .map(|o| o.map_or(std::ptr::null_mut(), |o| o.as_ptr()));
            drop_top(frame, 2);
            frame.push(Some(rt().bool((a == b) == (arg == 0))));
        }
        Op::ContainsOp => return truth(frame, |[a, b]| Ok(ops::contains(a, b)? == (arg == 0))),
        Op::LoadAttr => {
            observe(frame, pc, 1);
            if let Some(receiver) = frame.peek(0).filter(|o| o.kind() == Kind::Instance) {
                frame.code().meet(pc, rt().type_of(&receiver));
            }
            let name = &frame.code().names[arg];
            if instr.arg2 == 0 {
                return result(frame, |[a]| class::get_attr(a, name));
            }
            let (callee, this) = with(frame, |[a]| class::get_method(a, name))?;
            frame.push(Some(callee));
            frame.push(this);
        }
        Op::StoreAttr => {
            // The hint for the compiler is the receiver's type, which is the last operand.
            let receiver = frame
                .peek(0)
                .map_or(cladonia::types::Type::OBJECT, |o| rt().type_of(&o));
            frame
                .code()
                .observe(pc, &[cladonia::types::Type::OBJECT, receiver]);
            if frame.peek(0).is_some_and(|o| o.kind() == Kind::Instance) {
                frame.code().meet(pc, receiver);
            }
            return effect(frame, |[v, a]| {
                class::set_attr(a, &frame.code().names[arg], v.clone())
            });
        }
        Op::DeleteAttr => {
            return effect(frame, |[a]| class::delete_attr(a, &frame.code().names[arg]));
        }
        Op::LoadSuperAttr => {
            let name = &frame.code().names[arg];
            let (callee, this) = with(frame, |[_, class, this]| {
                class::get_super(class, this, name)
            })?;
            if instr.arg2 & 1 != 0 {
                frame.push(Some(callee));
                frame.push(this);
            } else {
                frame.push(Some(match this {
                    Some(this) => alloc::method(callee, this),
                    None => callee,
                }));
            }
        }

        Op::Jump | Op::JumpBackwardNoInterrupt => return Ok(Next::Jump(Pc(instr.arg))),
        Op::JumpBackward => {
            names::handle_pending()?;
            let target = Pc(instr.arg);
            return match units::enter_loop(frame, target) {
                LoopEnd::Interpret(pc) => Ok(Next::Jump(pc)),
                LoopEnd::Return(result) => Ok(Next::Return(result)),
                LoopEnd::Raise(raised) => Ok(Next::Leave(raised)),
            };
        }
        Op::PopJumpIfFalse | Op::PopJumpIfTrue => {
            if pop_bool(frame)? == (instr.op == Op::PopJumpIfTrue) {
                return Ok(Next::Jump(Pc(instr.arg)));
            }
        }
        Op::PopJumpIfNone | Op::PopJumpIfNotNone => {
            let value = frame.pop();
            let is_none = value.as_ref().is_some_and(|v| v.is(&rt().none));
            drop(value);
            if is_none == (instr.op == Op::PopJumpIfNone) {
                return Ok(Next::Jump(Pc(instr.arg)));
            }
        }
        Op::GetIter => return result(frame, |[a]| iter::iter(a)),
        Op::ForIter => {
            observe(frame, pc, 1);
            let iterator = frame.peek(0);
            let Some(iterator) = iterator else {
                return raise(error::SYSTEM, "a null where an object is needed");
            };
            let item = iter::next(&iterator)?;
            drop(iterator);
            match item {
                Some(item) => frame.push(Some(item)),
                None => {
                    drop(frame.pop());
                    return Ok(Next::Jump(Pc(instr.arg)));
                }
            }
        }
        Op::ReturnValue => return Ok(Next::Return(pop_one(frame)?)),
        Op::ReturnConst => return Ok(Next::Return(frame.code().consts[arg].clone())),
        _ => return rare(frame, pc, instr),
    }
    Ok(Next::Follow)
}

/// Calls, containers, exceptions and rarer instructions.
fn rare(frame: FrameRef, pc: Pc, instr: &Instr) -> Result<Next> {
    let arg = instr.arg as usize;
    match instr.op {
        Op::Call => {
            if let Some(callee) = frame.peek(arg + 1) {
                let known = callee.get::<Function>().is_some();
                let ty = if known {
                    rt().type_of_object(&callee)
                } else {
                    cladonia::types::Type::OBJECT
                };
                frame.code().observe(pc, &[ty]);
            }
            return call(frame, arg, None);
        }
        Op::CallKw => {
            let names = pop_one(frame)?;
            return call(frame, arg, Some(names));
        }
        Op::CallFunctionEx => {
            let n = 3 + (arg & 1);
            let mut entries: Vec<Option<Ref>> = (0..n).map(|_| frame.pop()).collect();
            entries.reverse();
            let (Some(callee), Some(args)) = (&entries[0], &entries[2]) else {
                return raise(error::SYSTEM, "a null where an object is needed");
            };
            let kwargs = entries.get(3).and_then(Option::as_ref);
            let result = names::call_ex(callee, args, kwargs);
            drop(entries);
            frame.push(Some(result?));
        }
        Op::CallIntrinsic1 => return result(frame, |[a]| names::intrinsic_1(instr.arg, a)),
        Op::BuildTuple => {
            let items = pop_objects(frame, arg)?;
            frame.push(Some(alloc::tuple(items)));
        }
        Op::BuildList => {
            let items = pop_objects(frame, arg)?;
            frame.push(Some(alloc::list(items)));
        }
        Op::BuildSet => {
            let items = pop_objects(frame, arg)?;
            frame.push(Some(names::build_set(items)?));
        }
        Op::BuildMap => {
            let items = pop_objects(frame, 2 * arg)?;
            frame.push(Some(names::build_map(items)?));
        }
        Op::BuildConstKeyMap => {
            let keys = pop_one(frame)?;
            let values = pop_objects(frame, arg)?;
            frame.push(Some(names::build_const_key_map(&keys, values)?));
        }
        Op::BuildString => {
            let parts = pop_objects(frame, arg)?;
            frame.push(Some(names::build_string(&parts)?));
        }
        Op::ListAppend => {
            return update(frame, arg, |list, [v]| names::list_append(list, v.clone()));
        }
        Op::ListExtend => return update(frame, arg, |list, [v]| ops::extend(list, v)),
        Op::SetAdd => return update(frame, arg, |set, [v]| names::set_add(set, v.clone())),
        Op::SetUpdate => return update(frame, arg, |set, [v]| names::set_update(set, v)),
        Op::MapAdd => {
            return update(frame, arg, |dict, [k, v]| {
                names::map_add(dict, k.clone(), v.clone())
            });
        }
        Op::DictUpdate => {
            return update(frame, arg, |dict, [v]| names::dict_update(dict, v, false));
        }
        Op::DictMerge => return update(frame, arg, |dict, [v]| names::dict_update(dict, v, true)),
        Op::UnpackSequence => {
            observe(frame, pc, 1);
            let items = with(frame, |[a]| iter::unpack(a, arg))?;
            items
                .into_iter()
                .rev()
                .for_each(|item| frame.push(Some(item)));
        }
        Op::UnpackEx => {
            let items = with(frame, |[a]| iter::unpack_ex(a, arg & 0xff, arg >> 8))?;
            items
                .into_iter()
                .rev()
                .for_each(|item| frame.push(Some(item)));
        }
        Op::FormatSimple => {
            if frame.peek(0).is_none_or(|v| v.kind() != Kind::Str) {
                return result(frame, |[a]| Ok(alloc::str(ops::str(a)?)));
            }
        }
        Op::FormatWithSpec => {
            return result(frame, |[a, spec]| {
                Ok(alloc::str(ops::format(
                    a,
                    spec.as_str().unwrap_or_default(),
                )?))
            });
        }
        Op::ConvertValue => return result(frame, |[a]| names::convert(instr.arg, a)),
        Op::MakeFunction => return result(frame, |[code]| names::make_function(frame, code)),
        Op::SetFunctionAttribute => {
            let (function, attr) = (pop_one(frame)?, pop_one(frame)?);
            names::set_function_attribute(&function, instr.arg, attr);
            frame.push(Some(function));
        }
        Op::LoadBuildClass => frame.push(Some(rt().build_class.clone())),
        Op::LoadAssertionError => frame.push(Some(rt().exception_class(error::ASSERTION))),
        Op::RaiseVarargs => {
            let exception = (arg > 0).then(|| frame.peek(arg - 1)).flatten();
            return Err(names::raise_varargs(exception.as_ref()));
        }
        Op::Reraise => return Err(Raised(pop_exception(frame)?)),
        Op::PushExcInfo => {
            let exception = pop_exception(frame)?;
            let before = rt().thread.replace_handled(Some(exception.clone()));
            frame.push(Some(before.unwrap_or_else(|| rt().none.clone())));
            frame.push(Some(exception));
        }
        Op::PopExcept => {
            let before = match frame.peek(0) {
                Some(none) if none.is(&rt().none) => {
                    drop(frame.pop());
                    None
                }
                _ => Some(pop_exception(frame)?),
            };
            drop(rt().thread.replace_handled(before));
        }
        Op::CheckExcMatch => {
            let [Some(exception), Some(class)] = [frame.peek(1), frame.peek(0)] else {
                return raise(error::SYSTEM, "a null where an object is needed");
            };
            let result = names::matches(&exception, &class)?;
            drop(class);
            drop(frame.pop());
            frame.push(Some(rt().bool(result)));
        }
        Op::WithExceptStart => {
            let [Some(exit), Some(exception)] = [frame.peek(3), frame.peek(0)] else {
                return raise(error::SYSTEM, "a null where an object is needed");
            };
            let class = exception.class_ref();
            let args = vec![class, exception, rt().none.clone()];
            frame.push(Some(super::call::call(&exit, args)?));
        }
        Op::BeforeWith => {
            let (exit, entered) = with(frame, |[manager]| names::before_with(manager))?;
            frame.push(Some(exit));
            frame.push(Some(entered));
        }
        Op::LoadSpecial => {
            let method = with(frame, |[manager]| names::load_special(manager, instr.arg))?;
            frame.push(Some(method));
            frame.push(None);
        }
        Op::BuildInterpolation => return names::no_templates().map(Next::Return),
        Op::ImportName | Op::ImportFrom => return names::no_modules().map(Next::Return),
        Op::MatchMapping | Op::MatchSequence => {
            let kind = frame.peek(0).map(|o| o.kind());
            let is = match instr.op {
                Op::MatchMapping => kind == Some(Kind::Dict),
                _ => matches!(kind, Some(Kind::List | Kind::Tuple | Kind::Range)),
            };
            frame.push(Some(rt().bool(is)));
        }
        Op::MatchKeys => {
            let [Some(subject), Some(keys)] = [frame.peek(1), frame.peek(0)] else {
                return raise(error::SYSTEM, "a null where an object is needed");
            };
            frame.push(Some(names::match_keys(&subject, &keys)?));
        }
        Op::MatchClass => {
            return result(frame, |[subject, class, names]| {
                names::match_class(subject, class, names, instr.arg)
            });
        }
        Op::GetLen => {
            let top = frame.peek(0);
            let Some(top) = top else {
                return raise(error::SYSTEM, "a null where an object is needed");
            };
            frame.push(Some(alloc::int(ops::length(&top)?)));
        }
        Op::SetupAnnotations => names::setup_annotations(frame)?,
        op => {
            return raise(error::NOT_IMPLEMENTED, format!("`{}`", op.info().name));
        }
    }
    Ok(Next::Follow)
}

fn call(frame: FrameRef, n: usize, names: Option<Ref>) -> Result<Next> {
    let args = pop_objects(frame, n)?;
    let this = frame.pop();
    let callee = pop_one(frame)?;
    let result = names::call_stack(callee, this, args, names.as_ref())?;
    drop(names);
    frame.push(Some(result));
    Ok(Next::Follow)
}

/// Pops values into the container at depth `depth` below them.
fn update<const N: usize>(
    frame: FrameRef,
    depth: usize,
    run: impl FnOnce(&Ref, [&Ref; N]) -> Result<()>,
) -> Result<Next> {
    let Some(container) = frame.peek(N + depth - 1) else {
        return raise(error::SYSTEM, "a null where an object is needed");
    };
    effect(frame, |values| run(&container, values))
}
