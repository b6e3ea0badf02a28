//! The state of an interpreter frame: how much of its operand stack is in use, who owns it, and a
//! mark that the runtime may put in it.
//!
//! They are a pointer, and a `u16` and a byte of the word behind that, whose other bytes are zero.

use super::layouts::{code, frame, frame_object};
use super::slots;
use crate::abi::{read, write};
use cladonia::lir::{Builder, Opcode, Value};
use cladonia::ll::Width;

/// True if a frame that is popped is cleared from its last slot to its first one.
pub const CLEARED_FROM_TOP: bool = true;

/// The fields of a frame object that refer to what is lost with it: the trace function, locals that
/// the code does not have, and the objects that `f_locals` has overwritten, which live until then.
pub const OWN_FIELDS_OF_OBJECT: &[i32] = &[
    frame_object::TRACE,
    frame_object::EXTRA_LOCALS,
    frame_object::OVERWRITTEN_LOCALS,
];

/// The field with the end of a frame's slots that are in use.
pub const TOP: (&str, i32, Width) = ("stackpointer", frame::STACKPOINTER, Width::Ptr);

/// Returns the number of slots of a frame that are in use, its locals included.
///
/// # Safety
/// `frame` is a frame that the interpreter is not running.
#[inline(always)]
pub unsafe fn depth(frame: *const u8) -> i32 {
    // SAFETY: the caller's promise: a pointer into the frame.
    unsafe {
        let top: usize = read(frame, frame::STACKPOINTER);
        (top.wrapping_sub(frame as usize + frame::LOCALSPLUS as usize) / 8) as i32
    }
}

/// Returns whether a frame is an entry frame of the interpreter, which runs no user code.
///
/// # Safety
/// `frame` is a frame of a thread.
pub unsafe fn is_entry(frame: *const u8) -> bool {
    // SAFETY: the caller's promise.
    unsafe { i32::from(read::<u8, _>(frame, frame::OWNER)) >= frame::OWNED_BY_INTERPRETER }
}

/// Records how many slots of a frame are in use, its locals included.
///
/// # Safety
/// As of [`depth`]; the slots hold objects or null.
#[inline(always)]
pub unsafe fn set_depth(frame: *mut u8, slots: i32) {
    // SAFETY: the caller's promise.
    unsafe {
        let top = frame.wrapping_add((frame::LOCALSPLUS + 8 * slots) as usize);
        write(frame, frame::STACKPOINTER, top);
    }
}

/// The mark in a frame. The interpreter uses the field only while it runs the frame and the frame
/// makes a call.
///
/// # Safety
/// `frame` is a frame.
#[inline(always)]
pub unsafe fn mark(frame: *const u8) -> u16 {
    // SAFETY: the caller's promise.
    unsafe { read(frame, frame::RETURN_OFFSET) }
}

/// Leaves a mark in a frame; 0 is none.
///
/// # Safety
/// `frame` is a frame, which the interpreter does not run.
#[inline(always)]
pub unsafe fn set_mark(frame: *mut u8, mark: u16) {
    // SAFETY: the caller's promise.
    unsafe { write(frame, frame::RETURN_OFFSET, mark) }
}

/// Records the owner of a new frame, and that it has no mark.
///
/// # Safety
/// `frame` has room for one.
#[inline(always)]
pub unsafe fn begin(frame: *mut u8, owner: i32) {
    // SAFETY: the caller's promise.
    unsafe { write(frame, frame::RETURN_OFFSET, state_word(owner, 0)) }
}

/// The word with the mark and the owner.
const fn state_word(owner: i32, mark: u16) -> u64 {
    mark as u64 | (owner as u64) << (8 * (frame::OWNER - frame::RETURN_OFFSET))
}

/// LIR for the mark in a frame.
pub fn load_mark(b: &mut Builder<'_>, frame: Value) -> Value {
    b.load(Width::U16, frame, frame::RETURN_OFFSET)
}

/// LIR that records the state of a frame: `slots` slots in use, plus the number in `more`, its
/// owner, and its mark.
pub fn store_state(
    b: &mut Builder<'_>,
    frame: Value,
    slots: i32,
    more: Option<Value>,
    owner: i32,
    mark: u16,
) {
    let mut top = b.padd_imm(frame, (frame::LOCALSPLUS + 8 * slots).into());
    if let Some(more) = more {
        let shift = b.iconst(3);
        let bytes = b.op(Opcode::Ishl, &[more, shift]);
        top = b.op(Opcode::Padd, &[top, bytes]);
    }
    b.store(Width::Ptr, frame, frame::STACKPOINTER, top);
    let word = b.iconst(state_word(owner, mark) as i64);
    b.store(Width::I64, frame, frame::RETURN_OFFSET, word);
}

/// Returns whether a frame of this owner is that of a function or a generator that runs, or may
/// run.
#[inline(always)]
pub fn is_activation(owner: u8) -> bool {
    matches!(
        i32::from(owner),
        frame::OWNED_BY_THREAD | frame::OWNED_BY_GENERATOR
    )
}

/// Returns whether a frame belongs to no code, or its code has not begun: the interpreter's
/// `_PyFrame_IsIncomplete`.
///
/// # Safety
/// `frame` is linked in a thread.
pub unsafe fn is_incomplete(frame: *const u8) -> bool {
    // SAFETY: the caller's promise; a frame that is not the interpreter's own has a code object.
    unsafe {
        if is_entry(frame) {
            return true;
        }
        let owner = i32::from(read::<u8, _>(frame, frame::OWNER));
        let code = slots::code(frame);
        let first: i32 = read(code, code::FIRST_TRACEABLE);
        let units = code.cast::<u8>().add(code::ADAPTIVE as usize);
        let at: *mut u8 = read(frame, frame::INSTR_PTR);
        owner != frame::OWNED_BY_GENERATOR && at < units.add(2 * first as usize)
    }
}
