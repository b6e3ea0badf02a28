//! Calls of C functions and of the methods of C classes by their flavour (`METH_O`,
//! `METH_FASTCALL`), as the interpreter's specialised instructions make them: without the
//! vectorcall that would look the flavour up again. The C function and the errors are the same.
//!
//! Safety: the contract of [`super`].

use super::calls::{Given, with_locals_read};
use crate::abi::{recursion, thread as t};
use crate::capi::{_Py_CheckFunctionResult, Obj, Thread, field};
use pyo3_ffi::*;
use std::ffi::c_int;
use std::ptr;

type One = unsafe extern "C" fn(Obj, Obj) -> Obj;
type Fast = unsafe extern "C" fn(Obj, *const Obj, Py_ssize_t) -> Obj;
type FastWithKeywords = unsafe extern "C" fn(Obj, *const Obj, Py_ssize_t, Obj) -> Obj;

/// The flags that tell how a function is called.
const FLAVOUR: c_int =
    METH_VARARGS | METH_FASTCALL | METH_NOARGS | METH_O | METH_KEYWORDS | METH_METHOD;
const FAST: c_int = METH_FASTCALL;
const FAST_WITH_KEYWORDS: c_int = METH_FASTCALL | METH_KEYWORDS;

/// Call a C function, a method of a C class, or `type` with one argument. `None`, and nothing has
/// happened, for any other callable, and where the arguments do not fit or the C stack is used up:
/// the interpreter then raises the right error. A builtin that reads its caller's locals gets them
/// written to the frame first; those with one of the flavours here take no arguments, or keywords.
///
/// All is borrowed: `positional` arguments, then those that `kwnames` names.
#[inline(always)]
pub(super) unsafe fn call(
    thread: Thread,
    callable: Obj,
    args: *const Obj,
    positional: usize,
    kwnames: Obj,
) -> Option<Obj> {
    // SAFETY: the caller's: live objects and this number of arguments. An object of exactly one of
    // these classes has its fields.
    unsafe {
        let class = Py_TYPE(callable);
        if class == &raw mut PyCFunction_Type {
            let function = callable.cast::<PyCFunctionObject>();
            let method = (*function).m_ml;
            let receiver = match (*method).ml_flags & METH_STATIC {
                0 => (*function).m_self,
                _ => ptr::null_mut(),
            };
            return by_flavour(
                thread, callable, method, receiver, args, positional, kwnames,
            );
        }
        if class == &raw mut PyMethodDescr_Type {
            let descriptor = callable.cast::<PyMethodDescrObject>();
            if positional == 0 || PyObject_TypeCheck(*args, (*descriptor).d_common.d_type) == 0 {
                return None;
            }
            let (method, rest) = ((*descriptor).d_method, args.add(1));
            return by_flavour(
                thread,
                callable,
                method,
                *args,
                rest,
                positional - 1,
                kwnames,
            );
        }
        if callable == (&raw mut PyType_Type).cast() && positional == 1 && kwnames.is_null() {
            return Some(Py_NewRef(Py_TYPE(*args).cast()));
        }
        None
    }
}

#[inline(always)]
unsafe fn by_flavour(
    thread: Thread,
    callable: Obj,
    method: *mut PyMethodDef,
    receiver: Obj,
    args: *const Obj,
    positional: usize,
    kwnames: Obj,
) -> Option<Obj> {
    // SAFETY: the caller's: a method's row, whose flags give the type of its function, and this
    // number of live arguments.
    unsafe {
        let meth = (*method).ml_meth.PyCFunction as *const ();
        let given = positional as Py_ssize_t;
        let passed = Given {
            args,
            positional,
            keywords: !kwnames.is_null(),
        };
        let result = match (*method).ml_flags & FLAVOUR {
            METH_O if positional == 1 && kwnames.is_null() => {
                let left = recursion::enter_c(thread)?;
                let result = std::mem::transmute::<*const (), One>(meth)(receiver, *args);
                recursion::leave_c(thread, left);
                result
            }
            METH_NOARGS if positional == 0 && kwnames.is_null() => {
                let left = recursion::enter_c(thread)?;
                let result = with_locals_read(thread, callable, passed, || {
                    std::mem::transmute::<*const (), One>(meth)(receiver, ptr::null_mut())
                });
                recursion::leave_c(thread, left);
                result
            }
            // As in the interpreter's instructions, these calls do not count towards the recursion
            // limit.
            FAST if kwnames.is_null() => {
                std::mem::transmute::<*const (), Fast>(meth)(receiver, args, given)
            }
            FAST_WITH_KEYWORDS => {
                let function = std::mem::transmute::<*const (), FastWithKeywords>(meth);
                with_locals_read(thread, callable, passed, || {
                    function(receiver, args, given, kwnames)
                })
            }
            _ => return None,
        };
        // There must be a result or an exception, not both and not neither. Else the interpreter's
        // own error is raised.
        let exception: Obj = field(thread, t::CURRENT_EXCEPTION);
        if result.is_null() == exception.is_null() {
            return Some(unfit_result(thread, callable, result));
        }
        Some(result)
    }
}

/// Raises the error for a wrong result of a C function: null without an exception, or an object
/// with one.
///
/// # Safety
/// The thread is the running one; the result is owned, or null.
#[cold]
pub unsafe extern "C" fn unfit_result(thread: Thread, callable: Obj, result: Obj) -> Obj {
    // SAFETY: the caller's promise; the callable is live.
    unsafe { _Py_CheckFunctionResult(thread, callable, result, ptr::null()) }
}
