//! The contents of a frame's slots, and their owner. In this version a slot has an owned object or
//! null, both in the interpreter's frames and in those of compiled code.

use super::layouts::frame;
use crate::abi::{read, write};
use pyo3_ffi::{Py_XDECREF, PyLong_FromLong, PyObject};

/// A slot, as it lies in memory.
pub type Word = *mut PyObject;

/// True if the position of an instruction that has raised, as a handler finds it on the stack, is
/// an object.
pub const POSITIONS_ARE_OBJECTS: bool = true;

/// Returns the word for a slot that takes over a reference, or null.
///
/// # Safety
/// `object` is an owned object or null.
#[inline(always)]
pub unsafe fn word(object: *mut PyObject) -> Word {
    object
}

/// The object in a slot, borrowed; null if there is none.
#[inline(always)]
pub fn object(word: Word) -> *mut PyObject {
    word
}

/// Drops the object that a slot owns.
///
/// # Safety
/// The slot is not used any more.
#[inline(always)]
pub unsafe fn close(word: Word) {
    // SAFETY: the caller's promise.
    unsafe { Py_XDECREF(word) }
}

/// Puts the position of an instruction that has raised onto the stack of a frame, where the handler
/// looks for it; null if there is no memory.
pub fn position(units: i64) -> Word {
    // SAFETY: a new object.
    unsafe { PyLong_FromLong(units as _) }
}

/// The object in a slot of a frame, borrowed; null if there is none.
///
/// # Safety
/// The frame has a slot at that place.
#[inline(always)]
pub unsafe fn get(frame: *const u8, place: i32) -> *mut PyObject {
    // SAFETY: the caller's promise.
    unsafe { object(read(frame, place)) }
}

/// Puts an owned object, or null, into a slot of a frame of the interpreter. The old content is
/// overwritten, not dropped.
///
/// # Safety
/// The frame has a slot at that place.
#[inline(always)]
pub unsafe fn put(frame: *mut u8, place: i32, object: *mut PyObject) {
    // SAFETY: the caller's promise.
    unsafe { write(frame, place, word(object)) }
}

/// Hands the first slots of a frame of compiled code over to the interpreter.
///
/// # Safety
/// The frame has so many slots, with objects or null in them.
#[inline(always)]
pub unsafe fn show(_frame: *mut u8, _slots: i32) {}

/// Hands the first slots of a frame of the interpreter over to compiled code, which owns the
/// objects in them from here on. False, and nothing has changed, if there is no memory for that, or
/// if a slot has a content that compiled code does not know.
///
/// # Safety
/// As of [`show`].
#[inline(always)]
pub unsafe fn hide(_frame: *mut u8, _slots: i32) -> bool {
    true
}

/// Returns whether a slot of a frame's stack has a container whose items a loop takes by the index
/// in the slot above it: never.
///
/// # Safety
/// None here.
pub unsafe fn is_iterated(_frame: *const u8, _place: i32) -> bool {
    false
}

/// The function that makes a frame of compiled code one of the interpreter, for LIR: it does so for
/// all slots that are in use. `None` if there is nothing to do.
pub const SHOW: Option<unsafe extern "C" fn(*mut u8)> = None;

/// The function for the other direction.
pub const HIDE: Option<unsafe extern "C" fn(*mut u8)> = None;

/// The code object of a frame, which is not an entry frame.
///
/// # Safety
/// `frame` is such a frame.
#[inline(always)]
pub unsafe fn code(frame: *const u8) -> *mut PyObject {
    // SAFETY: the caller's promise.
    unsafe { get(frame, frame::EXECUTABLE) }
}

/// The function of a frame.
///
/// # Safety
/// As of [`code`].
#[inline(always)]
pub unsafe fn function(frame: *const u8) -> *mut PyObject {
    // SAFETY: the caller's promise.
    unsafe { get(frame, frame::FUNCOBJ) }
}
