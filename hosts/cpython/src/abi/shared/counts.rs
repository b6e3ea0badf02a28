//! Reference counts: the low 32 bits of a 64-bit word, negative as a signed number for an immortal
//! object, whose count never changes. The upper half has flags of the object from 3.14 on; they are
//! all 0 for a new one.
//!
//! In 3.13 the interpreter leaves a count alone only where it is all ones, and counts on between
//! 2^31 and that. No object has so many references.

use super::layouts::{gc_head, object};
use cladonia::lir::{Block, Builder, IntCond, Opcode, Value};
use cladonia::ll::Width;
use pyo3_ffi::{PyFunction_Type, PyObject, PyTypeObject};

/// Returns whether the count with this low half is that of an immortal object.
#[inline(always)]
pub fn is_immortal_count(low: i32) -> bool {
    low < 0
}

/// Returns whether the object is immortal.
///
/// # Safety
/// `object` is a live object.
#[inline(always)]
pub unsafe fn is_immortal(object: *mut PyObject) -> bool {
    // SAFETY: the caller's promise.
    is_immortal_count(unsafe { crate::abi::read(object, object::REFCNT) })
}

/// LIR that takes a reference to an object, unless that is immortal; continues in a new block.
pub fn take(b: &mut Builder<'_>, object: Value) {
    let count = b.load(Width::I32, object, object::REFCNT);
    let immortal = b.icmp_imm(IntCond::Slt, count, 0);
    let (bump, done) = (b.block(), b.block());
    b.br(immortal, done, &[], bump, &[]);
    b.switch_to(bump);
    let one = b.iconst(1);
    let more = b.op(Opcode::Iadd, &[count, one]);
    b.store(Width::I32, object, object::REFCNT, more);
    b.jump(done, &[]);
    b.switch_to(done);
}

/// Drops a reference to an object that is not immortal. Returns true if it was the last one: then
/// the caller deallocates the object.
///
/// # Safety
/// A live object; the reference is the caller's.
#[inline(always)]
pub unsafe fn drop_is_last(object: *mut PyObject) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if is_immortal(object) {
            return false;
        }
        let count: u32 = crate::abi::read(object, object::REFCNT);
        crate::abi::write(object, object::REFCNT, count - 1);
        count == 1
    }
}

/// LIR that drops a reference to an object, unless that is immortal: continues in `die` if it was
/// the last one, else in `done`.
pub fn drop(b: &mut Builder<'_>, object: Value, die: Block, done: Block) {
    let count = b.load(Width::I32, object, object::REFCNT);
    let immortal = b.icmp_imm(IntCond::Slt, count, 0);
    let mortal = b.block();
    b.br(immortal, done, &[], mortal, &[]);
    b.switch_to(mortal);
    let one = b.iconst(1);
    let less = b.op(Opcode::Isub, &[count, one]);
    b.store(Width::I32, object, object::REFCNT, less);
    let dead = b.icmp_imm(IntCond::Eq, less, 0);
    b.br(dead, die, &[], done, &[]);
}

/// LIR for whether a reference to an object is the only one.
pub fn is_only(b: &mut Builder<'_>, object: Value) -> Value {
    // An immortal object's count is large.
    let count = b.load(Width::I64, object, object::REFCNT);
    b.icmp_imm(IntCond::Eq, count, 1)
}

/// LIR that gives a new object its first reference.
pub fn first(b: &mut Builder<'_>, object: Value) {
    let one = b.iconst(1);
    b.store(Width::I64, object, object::REFCNT, one);
}

/// Gives a new object its first reference.
///
/// # Safety
/// The object is not reachable from elsewhere.
#[inline(always)]
pub unsafe fn set_first(object: *mut PyObject) {
    // SAFETY: the caller's promise.
    unsafe { crate::abi::write(object, object::REFCNT, 1i64) }
}

/// Takes a reference to an object, also if it has none left.
///
/// # Safety
/// `object` is one, which has not been deallocated.
pub unsafe fn take_again(object: *mut PyObject) {
    // SAFETY: the caller's promise.
    unsafe { change(object, 1) };
}

/// Drops a reference to an object, which is not deallocated if it was the last one.
///
/// # Safety
/// `object` is a live object.
pub unsafe fn drop_only(object: *mut PyObject) {
    // SAFETY: the caller's promise.
    unsafe { change(object, -1) };
}

/// # Safety
/// `object` is an object.
unsafe fn change(object: *mut PyObject, by: i32) {
    // SAFETY: the caller's promise.
    unsafe {
        let count: i32 = crate::abi::read(object, object::REFCNT);
        if !is_immortal_count(count) {
            crate::abi::write(object, object::REFCNT, count + by);
        }
    }
}

/// Returns true for an object without references whose deallocation the interpreter has put off.
/// From 3.14 on it puts off the deallocation of objects that the collector tracks when the thread's
/// stack is nearly used up, which is always so in a thread with a stack of 64 KiB. Watchers are
/// called only at the deallocation. Until then the interpreter links such objects, through the
/// place of the collector's link (3.14.8), or else through that of the count. In the latter case a
/// function is not tracked, while a live function always is.
///
/// # Safety
/// `object` is an object whose memory has not been freed.
pub unsafe fn is_put_off(object: *mut PyObject) -> bool {
    // SAFETY: the caller's promise; a function has a header of the collector's.
    unsafe {
        let count: i32 = crate::abi::read(object, object::REFCNT);
        let class: *mut PyTypeObject = crate::abi::read(object, object::TYPE);
        let link = gc_head::NEXT - object::GC_HEAD;
        count == 0
            || class == &raw mut PyFunction_Type && crate::abi::read::<u64, _>(object, link) == 0
    }
}
