//! The arguments of a vectorcall from the interpreter, which are in an array that it makes of the
//! words on the operand stack of the frame that is calling. The words stay on the stack until the
//! call is over, and keep the references that they own. A frame of compiled code has no such words,
//! and its stack is empty while it calls.
//!
//! So a callee that has copied the arguments [gives up](give_up) the references of these words, as
//! if they had been passed to it: `f(D())` in the interpreter deallocates the instance where `f`
//! drops its parameter, and not when `f` has returned.

use super::layouts::{code, frame, thread};
use super::opcodes as oc;
use super::slots::{self, Word};
use crate::abi::{frames, read};
use crate::capi::Thread;
use cladonia::lir::{Block, Builder, Signature, Value};
use cladonia::ll::Ty;
use pyo3_ffi::{Py_DECREF, Py_NewRef, Py_None, PyObject};
use smallvec::SmallVec;

/// LIR that branches to `copy`: the array is the interpreter's own.
pub fn branch_on_owner(
    b: &mut Builder<'_>,
    _ts: Value,
    _callee: Value,
    _args: Value,
    _given: usize,
    _take: Block,
    copy: Block,
) {
    b.jump(copy, &[]);
}

/// LIR that drops the references of the calling frame's stack to the `given` arguments of a
/// vectorcall of `callee`. The caller has taken references of its own.
pub fn give_up(b: &mut Builder<'_>, ts: Value, callee: Value, args: Value, given: usize) {
    let helper = b.pconst(drop_owned as *const () as u64);
    let given = b.iconst(given as i64);
    let signature = Signature::new(&[Ty::Ptr, Ty::Ptr, Ty::Ptr, Ty::I64], &[]);
    b.call_indirect(signature, helper, &[ts, callee, args, given]);
}

unsafe extern "C" fn drop_owned(
    ts: Thread,
    callee: *mut PyObject,
    args: *const *mut PyObject,
    given: usize,
) {
    // SAFETY: called by LIR that has taken a reference to each argument, so that none is
    // deallocated here.
    unsafe {
        let Some(first) = on_stack(ts, callee, args, given) else {
            return;
        };
        // The interpreter has a copy of the object to which the callable was bound.
        let bound = usize::from(slots::object(*first.sub(1)) == callee);
        for place in (bound..given).map(|index| first.add(index)) {
            if let Some(object) = slots::owned(*place) {
                *place = slots::word(Py_None());
                Py_DECREF(object);
            }
        }
    }
}

/// Returns whether the arguments of a vectorcall are on the operand stack of the interpreter's
/// frame that is calling just this function; `given` counts arguments by position and by name.
///
/// # Safety
/// `ts` is the current thread; the arguments are those of a vectorcall of `callee`.
pub unsafe fn are_owned(
    ts: Thread,
    callee: *mut PyObject,
    args: *const *mut PyObject,
    given: usize,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe { on_stack(ts, callee, args, given).is_some() }
}

/// Returns references to the arguments, and gives up those that the stack owns.
///
/// # Safety
/// The arguments are [owned](are_owned).
pub unsafe fn take(
    ts: Thread,
    callee: *mut PyObject,
    args: *const *mut PyObject,
    given: usize,
) -> SmallVec<[*mut PyObject; 8]> {
    // SAFETY: the caller's promise; None is immortal.
    unsafe {
        let taken = (0..given)
            .map(|index| Py_NewRef(*args.add(index)))
            .collect();
        drop_owned(ts, callee, args, given);
        taken
    }
}

/// The first of the words on the stack of the frame that is calling, if they are these arguments.
///
/// Below them are the callable and null, or the callable alone where the first argument is the
/// object to which it was bound. A C function may call `callee` with arguments that happen to be on
/// the stack of the frame that called it, but then they are fewer than the instruction of that
/// frame passes.
#[inline]
unsafe fn on_stack(
    ts: Thread,
    callee: *mut PyObject,
    args: *const *mut PyObject,
    given: usize,
) -> Option<*mut Word> {
    // SAFETY: a frame that is not the interpreter's own stands at an instruction, and its stack
    // ends at its stack pointer. The words that are read lie between the frame's header and that
    // end.
    unsafe {
        let current: *mut u8 = read(ts, thread::CURRENT_FRAME);
        if current.is_null() || frames::is_entry(current) {
            return None;
        }
        let at: *const u8 = read(current, frame::INSTR_PTR);
        let names = match oc::general(*at) {
            // The tool gets the first argument after the call.
            _ if matches!(*at, oc::INSTRUMENTED_CALL | oc::INSTRUMENTED_CALL_KW) => return None,
            oc::CALL => 0,
            oc::CALL_KW => 1,
            _ => return None,
        };
        let end: *mut Word = read(current, frame::STACKPOINTER);
        let locals: i32 = read(slots::code(current), code::NLOCALSPLUS);
        let bottom = current.offset((frame::LOCALSPLUS + 8 * locals) as isize);
        let bottom = bottom.cast::<Word>();
        let below = end.offset_from(bottom) - (given + names) as isize;
        if below < 1 {
            return None;
        }
        let first = end.sub(given + names);
        let passed = match slots::object(*first.sub(1)) {
            object if object == callee => given.wrapping_sub(1),
            object if object.is_null() && below > 1 && slots::object(*first.sub(2)) == callee => {
                given
            }
            _ => return None,
        };
        let same = |index| slots::object(*first.add(index)) == *args.add(index);
        (*at.add(1) == passed as u8 && (0..given).all(same)).then_some(first)
    }
}
