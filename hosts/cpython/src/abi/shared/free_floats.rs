//! The interpreter's free list of floats, which compiled code pushes to and pops from: a head,
//! linked through the place of the class or that of the reference count, and a count.

use super::forms::{FREE_FLOATS, FreeFloats, NEXT_FREE_FLOAT};
use super::layouts::{interp, thread};
use crate::abi::read;
use crate::capi::{self, Obj};
use cladonia::lir::{Block, Builder, IntCond, Opcode, Value};
use cladonia::ll::Width;
use pyo3_ffi::{Py_DECREF, Py_XDECREF, PyErr_Clear, PyFloat_FromDouble};

/// The interpreter whose free list may be used. A test with two floats checks that the list is at
/// the layout's offset.
///
/// # Safety
/// The thread has the GIL and no exception is pending.
pub unsafe fn find() -> Option<u64> {
    // SAFETY: reads of interpreter memory inside its structure; freed floats are looked at only
    // through the list.
    unsafe {
        let interp: *mut u8 = read(capi::current_thread(), thread::INTERP);
        let count = || count(interp);
        let head = || read::<Obj, _>(interp, interp::FLOAT_ITEMS);
        let (a, b) = (PyFloat_FromDouble(1.5), PyFloat_FromDouble(2.5));
        if a.is_null() || b.is_null() {
            PyErr_Clear();
            Py_XDECREF(a);
            Py_XDECREF(b);
            return None;
        }
        let (before, first) = (count(), head());
        let plausible =
            (0..=interp::FLOAT_MAXFREE - 2).contains(&before) && (before == 0) == first.is_null();
        Py_DECREF(a);
        let one = count() == before + 1 && head() == a;
        Py_DECREF(b);
        let two = count() == before + 2 && head() == b;
        let linked = two && next(b) == a && next(a) == first;
        (plausible && one && linked).then_some(interp as u64)
    }
}

/// LIR that gives a dead float to the free list of an interpreter and continues in `done`; in
/// `full`, with nothing done, if there is no room.
pub fn push(b: &mut Builder<'_>, interpreter: Value, float: Value, full: Block, done: Block) {
    let free = b.load(FREE_FLOATS, interpreter, interp::FLOAT_NUMFREE);
    // Unsigned: the list is closed by a count of -1 when the interpreter ends.
    let room = b.icmp_imm(IntCond::Ult, free, i64::from(interp::FLOAT_MAXFREE));
    let push = b.block();
    b.br(room, push, &[], full, &[]);
    b.switch_to(push);
    let one = b.iconst(1);
    let more = b.op(Opcode::Iadd, &[free, one]);
    let head = b.load(Width::Ptr, interpreter, interp::FLOAT_ITEMS);
    b.store(Width::Ptr, float, NEXT_FREE_FLOAT, head);
    b.store(Width::Ptr, interpreter, interp::FLOAT_ITEMS, float);
    b.store(FREE_FLOATS, interpreter, interp::FLOAT_NUMFREE, more);
    b.jump(done, &[]);
}

/// LIR that takes a float from the free list of an interpreter, whose class and count are to be
/// set; continues in `empty` if there is none.
pub fn pop(b: &mut Builder<'_>, interpreter: Value, empty: Block) -> Value {
    let head = b.load(Width::Ptr, interpreter, interp::FLOAT_ITEMS);
    let none = b.is_null(head);
    let pop = b.block();
    b.br(none, empty, &[], pop, &[]);
    b.switch_to(pop);
    let next = b.load(Width::Ptr, head, NEXT_FREE_FLOAT);
    b.store(Width::Ptr, interpreter, interp::FLOAT_ITEMS, next);
    let free = b.load(FREE_FLOATS, interpreter, interp::FLOAT_NUMFREE);
    let one = b.iconst(1);
    let less = b.op(Opcode::Isub, &[free, one]);
    b.store(FREE_FLOATS, interpreter, interp::FLOAT_NUMFREE, less);
    head
}

/// Returns the number of floats in the list of an interpreter.
///
/// # Safety
/// The thread has the GIL; the interpreter is one whose list is where the layout says, or the
/// number may be any.
#[allow(clippy::unnecessary_cast)] // A word of 64 bits in some versions.
pub unsafe fn count(interpreter: *const u8) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { read::<FreeFloats, _>(interpreter, interp::FLOAT_NUMFREE) as i32 }
}

/// The first one of the list, or null.
///
/// # Safety
/// As of [`count`].
pub unsafe fn head(interpreter: *const u8) -> Obj {
    // SAFETY: the caller's promise.
    unsafe { read(interpreter, interp::FLOAT_ITEMS) }
}

/// The float after another in the list, or null.
///
/// # Safety
/// The float is in the list.
pub unsafe fn next(float: Obj) -> Obj {
    // SAFETY: the caller's promise.
    unsafe { read(float, NEXT_FREE_FLOAT) }
}

/// The greatest number of floats in the list.
#[cfg(test)]
pub const MOST: i32 = interp::FLOAT_MAXFREE;
