//! The callees that are expected of calls that the interpreter does not profile.

use super::abi;
use super::capi::{Object, get};
use super::function_state::SiteProfile;
use crate::owned::Owned;
use crate::world::callees::keeps;
use crate::{feedback, objects};
use cladonia::bytecode::{Code, Instr, LocalKind, Op, Pc};
use cladonia::types::Type;
use pyo3_ffi::*;
use std::cell::RefCell;

/// Marks the calls of a name of an enclosing function that have no profile, or only one by a code
/// object that this code does not keep, with the function that has this name now. For example, a
/// decorator's `wrapper` calls `f(*args)`.
///
/// # Safety
/// The caller has the GIL; `object` is the code object of `code`. The function is alive and has it,
/// or is null: then any function of that code may be called. `profile` is that of the code.
/// `is_alone` is true if the code is compiled for this function alone.
pub unsafe fn mark(
    code: &mut Code,
    object: Object,
    function: Object,
    profile: &RefCell<SiteProfile>,
    is_alone: bool,
) {
    let is_call = |instr: &Instr| {
        matches!(instr.op, Op::CallKw | Op::CallFunctionEx) || is_alone && instr.op == Op::Call
    };
    if !code.instrs.iter().any(is_call) {
        return;
    }
    let frees = |(_, kind): &(String, LocalKind)| *kind == LocalKind::Free;
    let Some(first_free) = code.locals.iter().position(frees) else {
        return;
    };
    // SAFETY: the caller's promise.
    let function = unsafe {
        match Owned::borrow(function) {
            Some(function) => Some(function),
            None => feedback::function_of_version(get(object.cast(), abi::code::VERSION)),
        }
    };
    let Some(function) = function else {
        return;
    };
    for at in 0..code.instrs.len() {
        let instr = &code.instrs[at];
        // SAFETY: the caller's promise.
        let is_told = match is_alone {
            true => unsafe { says_enough(instr, object) },
            false => !instr.hint.is_empty(),
        };
        if !is_call(instr) || is_told {
            continue;
        }
        let load = loaded_by(code, at).filter(|load| load.op == Op::LoadDeref);
        let Some(index) = load.and_then(|load| (load.arg as usize).checked_sub(first_free)) else {
            continue;
        };
        // SAFETY: the caller's promise: the closure has a cell for each free variable.
        unsafe {
            let closure: Object = get(function.as_ptr().cast(), abi::function::CLOSURE);
            if closure.is_null() || index as Py_ssize_t >= PyTuple_Size(closure) {
                continue;
            }
            let cell = PyTuple_GetItem(closure, index as Py_ssize_t);
            let callee: Object = get(cell.cast(), abi::cell::CONTENT);
            if !callee.is_null() && Py_TYPE(callee) == &raw mut PyFunction_Type {
                // A later compile may find no function with this code, and so no closure.
                let mut profile = profile.borrow_mut();
                let known = profile.callees.entry(Pc(at as u32)).or_default();
                known.note(object, callee);
                let callee = Type::from_object(objects::object_handle(callee));
                code.instrs[at].hint = vec![callee];
            }
        }
    }
}

/// True if an instruction has a hint from which code of `object` can speculate: not only a code
/// object of other functions.
///
/// # Safety
/// The caller has the GIL; a live code object.
unsafe fn says_enough(instr: &Instr, object: Object) -> bool {
    let Some(hint) = instr.hint.first() else {
        return false;
    };
    let met = hint.as_object().map(objects::object_ptr);
    // SAFETY: an object of a live handle is alive.
    let is_others = |met: &Object| unsafe { PyCode_Check(*met) != 0 && !keeps(object, *met) };
    !met.is_some_and(|met| is_others(&met))
}

/// The instruction that pushes the callable of a call, if it is in the same straight line.
fn loaded_by(code: &Code, call: usize) -> Option<&Instr> {
    let effect = |instr: &Instr| {
        // These leave what is below their operand.
        if matches!(instr.op, Op::DictMerge | Op::DictUpdate | Op::ListExtend) {
            return (1, 0);
        }
        let info = instr.op.info();
        let (pops, pushes) = (info.pops, info.pushes);
        (pops(instr.arg, instr.arg2), pushes(instr.arg, instr.arg2))
    };
    let mut depth = effect(&code.instrs[call]).0;
    for instr in code.instrs[..call].iter().rev() {
        let (pops, pushes) = effect(instr);
        if depth <= pushes {
            return (pushes == 1).then_some(instr);
        }
        depth = depth - pushes + pops;
    }
    None
}
