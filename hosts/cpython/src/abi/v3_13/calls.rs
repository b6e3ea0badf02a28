//! The arguments of a vectorcall from the interpreter, which are on the operand stack of the frame
//! that is calling.
//!
//! They lie in the slots of the current frame, on the data stack or in a generator. Below them lies
//! the callable, or a null and then the callable. A C function may pass on its own arguments where
//! they lie (`context.run(f, x)` calls `f` with `x` in place), and then `f` is below its arguments
//! too. But those are fewer than the instruction of the current frame passes: that has as many as
//! its argument gives, and one more where an object is between the callable and them.

use super::layouts::{code, frame, thread};
use crate::abi::read;
use cladonia::lir::{Block, Builder, IntCond, Opcode, Value};
use cladonia::ll::Width;
use pyo3_ffi::{Py_None, PyObject};
use smallvec::SmallVec;

/// The offset in a code unit of the low byte of its instruction's argument.
const ARGUMENT: i32 = 1;
/// Bytes of a slot as a power of two.
const SLOT_SHIFT: i64 = 3;
/// Size of a slot.
const SLOT: i32 = 1 << SLOT_SHIFT;

/// Returns the argument byte of a call of so many in its own code unit. Higher bytes, if there are
/// any, are in units before it.
fn low_byte(count: usize) -> i64 {
    (count & 0xff) as i64
}

/// LIR that branches to `take` if `given` arguments of a vectorcall of `callee` are on the operand
/// stack of the interpreter's frame that is calling just this function, so that it owns them; else
/// to `copy`.
pub fn branch_on_owner(
    b: &mut Builder<'_>,
    ts: Value,
    callee: Value,
    args: Value,
    given: usize,
    take: Block,
    copy: Block,
) {
    let current = b.load(Width::Ptr, ts, thread::CURRENT_FRAME);
    // A thread that comes from C has no frame. A thread that has returned from all its frames has
    // the frame of the C stack, which has no code.
    let (none, some) = (b.is_null(current), b.block());
    b.br(none, copy, &[], some, &[]);
    b.switch_to(some);
    let owner = b.load(Width::U8, current, frame::OWNER);
    let has_code = b.icmp_imm(IntCond::Ne, owner, frame::OWNED_BY_CSTACK.into());
    go_on_if(b, has_code, copy);
    let executable = b.load(Width::Ptr, current, frame::EXECUTABLE);
    let slots = b.load(Width::U32, executable, code::FRAMESIZE);
    let shift = b.iconst(SLOT_SHIFT);
    let size = b.op(Opcode::Ishl, &[slots, shift]);
    let header = b.iconst(frame::LOCALSPLUS.into());
    let low = b.op(Opcode::Padd, &[current, header]);
    let high = b.op(Opcode::Padd, &[current, size]);
    let above = b.icmp(IntCond::Ule, low, args);
    go_on_if(b, above, copy);
    let inside = b.icmp(IntCond::Ult, args, high);
    go_on_if(b, inside, copy);

    let at = b.load(Width::Ptr, current, frame::INSTR_PTR);
    let argument = b.load(Width::U8, at, ARGUMENT);
    let below = b.load(Width::Ptr, args, -SLOT);
    let is_callee = b.icmp(IntCond::Eq, below, callee);
    let (direct, indirect, null) = (b.block(), b.block(), b.block());
    b.br(is_callee, direct, &[], indirect, &[]);
    b.switch_to(direct);
    let fits = b.icmp_imm(IntCond::Eq, argument, low_byte(given.wrapping_sub(1)));
    b.br(fits, take, &[], copy, &[]);
    b.switch_to(indirect);
    let is_null = b.is_null(below);
    b.br(is_null, null, &[], copy, &[]);
    b.switch_to(null);
    let below = b.load(Width::Ptr, args, -2 * SLOT);
    let is_callee = b.icmp(IntCond::Eq, below, callee);
    go_on_if(b, is_callee, copy);
    let fits = b.icmp_imm(IntCond::Eq, argument, low_byte(given));
    b.br(fits, take, &[], copy, &[]);
}

/// Continue in a new block if a condition holds; else branch to `other`.
fn go_on_if(b: &mut Builder<'_>, condition: Value, other: Block) {
    let next = b.block();
    b.br(condition, next, &[], other, &[]);
    b.switch_to(next);
}

/// The same test as [`branch_on_owner`], in Rust; `given` counts arguments by position and by name.
///
/// # Safety
/// `ts` is the current thread; the arguments are those of a vectorcall of `callee`.
pub unsafe fn are_owned(
    ts: *const u8,
    callee: *mut PyObject,
    args: *const *mut PyObject,
    given: usize,
) -> bool {
    // SAFETY: a frame that is not the C stack's has a code object and an instruction of that. The
    // words that are read below the arguments lie between the start of the frame and them.
    unsafe {
        let current: *const u8 = read(ts, thread::CURRENT_FRAME);
        if current.is_null()
            || i32::from(read::<u8, _>(current, frame::OWNER)) == frame::OWNED_BY_CSTACK
        {
            return false;
        }
        let executable: *mut PyObject = read(current, frame::EXECUTABLE);
        let slots: i32 = read(executable, code::FRAMESIZE);
        let offset = (args as usize).wrapping_sub(current as usize);
        if offset < frame::LOCALSPLUS as usize || offset >= (slots as usize) << SLOT_SHIFT {
            return false;
        }
        let at: *const u8 = read(current, frame::INSTR_PTR);
        let argument = i64::from(read::<u8, _>(at, ARGUMENT));
        match *args.sub(1) {
            below if below == callee => argument == low_byte(given.wrapping_sub(1)),
            below if below.is_null() => *args.sub(2) == callee && argument == low_byte(given),
            _ => false,
        }
    }
}

/// LIR that gives up the references that the calling frame's stack owns to copied arguments: none,
/// since it owns no argument that is copied.
pub fn give_up(_b: &mut Builder<'_>, _ts: Value, _callee: Value, _args: Value, _given: usize) {}

/// Returns the arguments, which are taken from the stack.
///
/// # Safety
/// The arguments are [owned](are_owned).
pub unsafe fn take(
    _ts: *const u8,
    _callee: *mut PyObject,
    args: *const *mut PyObject,
    given: usize,
) -> SmallVec<[*mut PyObject; 8]> {
    // SAFETY: the caller's promise: they are on the stack of the frame that is calling; None is
    // immortal.
    unsafe {
        let place = |index| &mut *args.add(index).cast_mut();
        (0..given)
            .map(|index| std::mem::replace(place(index), Py_None()))
            .collect()
    }
}
