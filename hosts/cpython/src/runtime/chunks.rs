//! Blocks of the interpreter's data stack, for native frames that the topmost block has no room for.
//!
//! The interpreter frees a block with the first frame in it. Native frames are larger than its own, so fewer calls fill one, and a
//! recursion that goes up and down past the end of a block would map, fault in and unmap memory each time. So blocks that native frames
//! leave are kept for the next that need one. They are the interpreter's in all other ways: from its arenas, linked as it links them, and
//! freed by it where it pops the frame.

use super::Gil;
use super::abi::{chunk as c, thread as t};
use super::capi::*;
use pyo3_ffi::{PyObject_GetArenaAllocator, PyObjectArenaAllocator};
use std::cell::Cell;

/// The most blocks that are kept: what the usual recursion limit can fill.
const MOST_SPARE: usize = 16;

/// Blocks that native frames have left, all of the usual size.
pub struct Spares {
    blocks: [Cell<*mut u8>; MOST_SPARE],
    /// How many of the places are taken: the first ones.
    count: Cell<usize>,
}

impl Spares {
    /// None yet.
    pub const fn new() -> Spares {
        Spares {
            blocks: [const { Cell::new(std::ptr::null_mut()) }; MOST_SPARE],
            count: Cell::new(0),
        }
    }

    /// The block that was kept last, if there is one.
    fn take(&self) -> Option<*mut u8> {
        let last = self.count.get().checked_sub(1)?;
        let block = self.blocks.get(last)?.get();
        self.count.set(last);
        Some(block)
    }

    /// Keep a block; false if there is no room.
    fn keep(&self, block: *mut u8) -> bool {
        let count = self.count.get();
        let Some(place) = self.blocks.get(count) else {
            return false;
        };
        place.set(block);
        self.count.set(count + 1);
        true
    }
}

/// Room for a frame of so many words in a new block, or null if there is no memory; the caller fills it before anything looks at it.
///
/// # Safety
/// Called on the current thread, with its GIL.
pub unsafe extern "C" fn push(ts: Thread, words: usize) -> Frame {
    // SAFETY: compiled code runs with the interpreter's lock held.
    let gil = unsafe { Gil::held() };
    // As the interpreter leaves room: so a block that is new has place for a call from this frame too.
    let needed = c::DATA as usize + 8 * (words + 1000);
    let mut size = c::USUAL_SIZE as usize;
    while size < needed {
        size *= 2;
    }
    let spare = (size == c::USUAL_SIZE as usize).then(|| gil.runtime().spare_chunks.take());
    // SAFETY: the thread's block is the topmost one, or null in a thread without any; the new one has the size that it says.
    unsafe {
        let chunk = spare.flatten().unwrap_or_else(|| allocate(size));
        if chunk.is_null() {
            return chunk;
        }
        let below: *mut u8 = get(ts, t::DATASTACK_CHUNK);
        put(chunk, c::PREVIOUS, below);
        put(chunk, c::SIZE, size);
        put(chunk, c::TOP, 0usize);
        let mut frame = chunk.add(c::DATA as usize);
        if below.is_null() {
            // A thread's first block stays when its first frame goes, which therefore stands behind an empty word.
            frame = frame.add(8);
        } else {
            let top: *mut u8 = get(ts, t::DATASTACK_TOP);
            let taken = top.offset_from(below.add(c::DATA as usize)) as usize / 8;
            put(below, c::TOP, taken);
        }
        put(ts, t::DATASTACK_CHUNK, chunk);
        put(ts, t::DATASTACK_LIMIT, chunk.add(size));
        put(ts, t::DATASTACK_TOP, frame.add(8 * words));
        frame
    }
}

/// Leave the topmost block, whose first frame is gone.
///
/// # Safety
/// Called on the current thread, with its GIL; there is a block below.
pub unsafe extern "C" fn pop(ts: Thread) {
    // SAFETY: compiled code runs with the interpreter's lock held.
    let gil = unsafe { Gil::held() };
    // SAFETY: the caller's promise; nothing stands in the block any more.
    unsafe {
        let chunk: *mut u8 = get(ts, t::DATASTACK_CHUNK);
        let below: *mut u8 = get(chunk, c::PREVIOUS);
        let (size, taken): (usize, usize) = (get(below, c::SIZE), get(below, c::TOP));
        put(ts, t::DATASTACK_CHUNK, below);
        put(ts, t::DATASTACK_LIMIT, below.add(size));
        put(
            ts,
            t::DATASTACK_TOP,
            below.add(c::DATA as usize + 8 * taken),
        );
        let size: usize = get(chunk, c::SIZE);
        let is_kept = size == c::USUAL_SIZE as usize && gil.runtime().spare_chunks.keep(chunk);
        if !is_kept {
            let arenas = arenas();
            (arenas.free.expect("the interpreter has arenas"))(arenas.ctx, chunk.cast(), size);
        }
    }
}

/// Memory for a block from where the interpreter, which may free it, has its own.
fn allocate(size: usize) -> *mut u8 {
    let arenas = arenas();
    (arenas.alloc.expect("the interpreter has arenas"))(arenas.ctx, size).cast()
}

fn arenas() -> PyObjectArenaAllocator {
    let mut arenas = std::mem::MaybeUninit::uninit();
    // SAFETY: it fills the struct.
    unsafe {
        PyObject_GetArenaAllocator(arenas.as_mut_ptr());
        arenas.assume_init()
    }
}
