//! The contents of a frame's slots, and their owner.
//!
//! To the interpreter a slot is a `_PyStackRef`, which is one of these:
//! - an object that the slot owns;
//! - an object that it does not own, immortal or borrowed from another slot, with the lowest bit
//!   set;
//! - nothing, which is 1;
//! - an int, with both low bits set: the position of an instruction that has raised, or (in 3.15)
//!   the index at which a loop takes the next item of the list, for example, in the slot below.
//!
//! None and the bools are compared with the bit, so it is always set for immortal objects.
//!
//! While compiled code runs in a frame, its slots have owned objects, or null. It [hides](hide) the
//! slots of a frame that it takes over, and [shows](show) them before the interpreter, or other
//! code that reads frames as it does, may use them. The collector and other code that only reads a
//! slot's object find the same object in both forms. Each may be repeated without effect.

use super::forms;
use super::frames;
use super::layouts::{code, frame, object as o};
use crate::abi::{read, write};
use pyo3_ffi::{Py_DECREF, Py_FatalError, Py_INCREF, PyObject};

/// A slot, as it lies in memory.
pub type Word = u64;

/// An empty slot of the interpreter.
const NULL: Word = 1;
/// The bit of an object that a slot does not own.
const UNOWNED: Word = 1;
/// The bits of an int.
const INT: Word = 3;
/// The bit of an object's flags that marks it as immortal: the same bit.
const IMMORTAL: Word = 1;
/// The offset in an object of its flags (u16), in the upper half of the word with its count.
const FLAGS: i32 = o::REFCNT + 6;

/// True if the position of an instruction that has raised, as a handler finds it on the stack, is
/// an object.
pub const POSITIONS_ARE_OBJECTS: bool = false;

/// Returns the word for a slot that takes over a reference, or null.
///
/// # Safety
/// `object` is an owned object or null.
#[inline(always)]
pub unsafe fn word(object: *mut PyObject) -> Word {
    if object.is_null() {
        return NULL;
    }
    // SAFETY: the caller's promise.
    object as Word | Word::from(unsafe { read::<u16, _>(object, FLAGS) }) & IMMORTAL
}

/// The object in a slot, borrowed; null if there is none.
#[inline(always)]
pub fn object(word: Word) -> *mut PyObject {
    if word & INT == INT {
        return std::ptr::null_mut();
    }
    (word & !UNOWNED) as *mut PyObject
}

/// The object that a slot owns, if it owns one.
#[inline(always)]
pub fn owned(word: Word) -> Option<*mut PyObject> {
    (word != 0 && word & UNOWNED == 0).then_some(word as *mut PyObject)
}

/// Drops the object that a slot owns.
///
/// # Safety
/// The slot is not used any more.
#[inline(always)]
pub unsafe fn close(word: Word) {
    if let Some(object) = owned(word) {
        // SAFETY: the caller's promise: an owned object.
        unsafe { Py_DECREF(object) }
    }
}

/// The position of an instruction that has raised, as the stack of a frame has it where a handler
/// looks for it.
pub fn position(units: i64) -> Word {
    (units as Word) << 2 | INT
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

/// The first slots of a frame.
unsafe fn first(frame: *mut u8, slots: i32) -> &'static mut [Word] {
    // SAFETY: the caller's promise: a frame with so many slots, which nothing else reads or writes
    // while the slice is used.
    unsafe {
        let first = frame.byte_offset(frame::LOCALSPLUS as isize).cast::<Word>();
        std::slice::from_raw_parts_mut(first, slots.max(0) as usize)
    }
}

/// Hands the first slots of a frame of compiled code over to the interpreter.
///
/// # Safety
/// The frame has so many slots, with objects or null in them.
#[inline]
pub unsafe fn show(frame: *mut u8, slots: i32) {
    // SAFETY: the caller's promise.
    unsafe {
        for slot in first(frame, slots) {
            if *slot & UNOWNED == 0 {
                *slot = word(*slot as *mut PyObject);
            }
        }
    }
}

/// Hands the first slots of a frame of the interpreter over to compiled code, which owns the
/// objects in them from here on. False, and nothing has changed, if a slot has a content that
/// compiled code does not know.
///
/// # Safety
/// As of [`show`].
#[inline]
pub unsafe fn hide(frame: *mut u8, slots: i32) -> bool {
    // SAFETY: the caller's promise; a borrowed object is alive, since it is in its slot.
    unsafe {
        let slots = first(frame, slots);
        if slots.iter().any(|slot| slot & INT == INT) && !make_iterators(frame, slots) {
            return false;
        }
        for slot in slots {
            if *slot & UNOWNED != 0 {
                *slot &= !UNOWNED;
                if *slot != 0 {
                    Py_INCREF(*slot as *mut PyObject);
                }
            }
        }
        true
    }
}

/// Where a loop has a container and an index on the stack, puts an iterator of that container, and
/// null, in their place. False, with the slots as they are, if an int is no such index, or if there
/// is no memory.
#[cold]
unsafe fn make_iterators(frame: *mut u8, slots: &mut [Word]) -> bool {
    // SAFETY: the caller's promise: a frame's slots, locals first.
    unsafe {
        let locals: i32 = read(self::code(frame), code::NLOCALSPLUS);
        let is_index = |slots: &[Word], k: usize| slots[k] & INT == INT;
        let may_become = |k: usize| {
            k > locals as usize
                && !is_index(slots, k - 1)
                && forms::is_iterated(object(slots[k - 1]))
        };
        let indexes = || (0..slots.len()).filter(|k| is_index(slots, *k));
        if !indexes().all(may_become) {
            return false;
        }
        for k in indexes().collect::<Vec<usize>>() {
            let container = slots[k - 1];
            let Some(iterator) = forms::iterator(object(container), slots[k] as i64 >> 2) else {
                return false;
            };
            slots[k - 1] = word(iterator);
            slots[k] = NULL;
            close(container);
        }
        true
    }
}

/// Returns whether a slot of a frame's stack has a container whose items a loop takes by the index
/// in the slot above it.
///
/// # Safety
/// The frame has both slots.
pub unsafe fn is_iterated(frame: *const u8, place: i32) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let [below, above]: [Word; 2] = read(frame, place);
        above & INT == INT && below & INT != INT && forms::is_iterated(object(below))
    }
}

unsafe extern "C" fn show_all(frame: *mut u8) {
    // SAFETY: called by LIR for a frame that says how many slots are in use.
    unsafe { show(frame, frames::depth(frame)) };
}

unsafe extern "C" fn hide_all(frame: *mut u8) {
    // SAFETY: the same. The slots of a frame at a position where compiled code may continue have
    // only objects, and indexes of loops.
    unsafe {
        if !hide(frame, frames::depth(frame)) {
            Py_FatalError(c"no memory for an iterator of a generator's loop".as_ptr());
        }
    }
}

/// The function that makes a frame of compiled code one of the interpreter, for LIR: it does so for
/// all slots that are in use. `None` if there is nothing to do.
pub const SHOW: Option<unsafe extern "C" fn(*mut u8)> = Some(show_all);

/// The function for the other direction.
pub const HIDE: Option<unsafe extern "C" fn(*mut u8)> = Some(hide_all);

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
