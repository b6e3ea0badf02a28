//! The functions of generator expressions: a unit creates one of them instead of one at each
//! execution.
//!
//! Only the generator ever refers to such a function, which is called where it is created. If it
//! closes over nothing, all of them are alike. For example, `sum(x * x for x in xs)`.

use super::super::capi::*;
use super::super::function_state;
use super::abi;
use crate::objects;
use crate::owned::Owned;
use cladonia::bytecode::{Code, Const, Op};
use cladonia::facts::Assumption;
use pyo3_ffi::*;

/// The only parameter of code that the compiler creates for a generator expression; no program can
/// write it.
const ITERATOR: &str = ".0";

/// Makes code load the functions of its generator expressions as constants; returns the assumption
/// behind that, if there are any.
///
/// # Safety
/// The caller has the GIL; the code belongs to a live object, and runs with these globals and
/// builtins.
pub unsafe fn make_functions(
    code: &mut Code,
    globals: Object,
    builtins: Object,
) -> Option<Assumption> {
    let own = code.consts.len();
    for i in 2..code.instrs.len() {
        let [load, make, next] = &code.instrs[i - 2..=i] else {
            break;
        };
        if (load.op, make.op) != (Op::LoadConst, Op::MakeFunction)
            || next.op == Op::SetFunctionAttribute
        {
            continue;
        }
        // SAFETY: the caller's promise: the code object keeps its constants alive. The compiler's
        // table keeps the function alive.
        unsafe {
            let body = objects::object_ptr(code.consts[load.arg as usize].object);
            if body.is_null() || !is_expression(body) {
                continue;
            }
            let Some(function) = function_of(body, globals, builtins) else {
                continue;
            };
            code.instrs[i - 2].arg = code.consts.len() as u32;
            code.instrs[i - 1].op = Op::Nop;
            code.consts.push(Const {
                object: objects::object_handle(function.as_ptr()),
                value: objects::const_value(function.as_ptr()),
            });
        }
    }
    // A new function gets the builtins that its globals name at that time.
    let some = code.consts.len() > own;
    some.then(|| Assumption::name(globals as u64, "__builtins__"))
}

/// True for the code of a generator expression that closes over nothing.
unsafe fn is_expression(code: Object) -> bool {
    // SAFETY: the caller's: a live object.
    unsafe {
        if Py_TYPE(code) != &raw mut PyCode_Type {
            return false;
        }
        let int = |offset| get::<i32>(code.cast(), offset);
        let names: Object = get(code.cast(), abi::code::LOCALSPLUS_NAMES);
        int(abi::code::FLAGS) & GENERATORS != 0
            && int(abi::code::ARGCOUNT) == 1
            && int(abi::code::NFREEVARS) == 0
            && objects::text(PyTuple_GET_ITEM(names, 0)).as_deref() == Some(ITERATOR)
    }
}

/// A function as `MAKE_FUNCTION` creates it in such code.
unsafe fn function_of(code: Object, globals: Object, builtins: Object) -> Option<Owned> {
    // SAFETY: the caller's: a code object and the namespaces of its function.
    unsafe {
        let function = Owned::take(PyFunction_New(code, globals));
        let Some(function) = function else {
            PyErr_Clear();
            return None;
        };
        _PyFunction_SetVersion(function.as_ptr(), get(code.cast(), abi::code::VERSION));
        let (.., its) = function_state::parts_of(function.as_ptr());
        (its == builtins).then_some(function)
    }
}
