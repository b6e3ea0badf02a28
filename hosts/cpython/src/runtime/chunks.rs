//! Blocks of the interpreter's data stack: unused ones are kept for the next frames that need one.
//!
//! The interpreter maps a block when the topmost one has no room for a frame, and unmaps it with
//! the first frame in it. So a recursion that goes up and down across the end of a block maps,
//! faults in and unmaps memory each time; native frames are larger than the interpreter's own, so
//! fewer calls fill a block. All blocks come from the arena allocator, so an allocator in front of
//! the interpreter's keeps the blocks of the usual size.

use super::abi::{chunk as c, thread as t};
use super::capi::*;
use pyo3_ffi::{PyObject_GetArenaAllocator, PyObject_SetArenaAllocator, PyObjectArenaAllocator};
use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Maximum blocks that are kept: enough for the usual recursion limit.
const MAX_SPARE: usize = 16;

/// The size of almost all blocks, in bytes; no arena of objects has it.
const USUAL_SIZE: usize = c::USUAL_SIZE as usize;

/// Unused blocks of the usual size. Interpreters with a lock of their own share them, hence the
/// atomics.
static SPARES: [AtomicPtr<c_void>; MAX_SPARE] =
    [const { AtomicPtr::new(ptr::null_mut()) }; MAX_SPARE];

/// The arena allocator behind ours.
static BEHIND: OnceLock<Behind> = OnceLock::new();

struct Behind(PyObjectArenaAllocator);

// SAFETY: two functions and their context, which the interpreter itself uses on any thread.
unsafe impl Send for Behind {}
// SAFETY: as above.
unsafe impl Sync for Behind {}

/// Keeps unused blocks from now on, including those of the interpreter's own frames.
///
/// # Safety
/// Called with the GIL.
pub unsafe fn keep_blocks() {
    BEHIND.get_or_init(|| {
        let behind = arenas();
        let mut ours = PyObjectArenaAllocator {
            ctx: ptr::null_mut(),
            alloc: Some(allocate),
            free: Some(free),
        };
        // SAFETY: the caller's promise; all memory that ours frees was allocated by the one behind
        // it.
        unsafe { PyObject_SetArenaAllocator(&raw mut ours) };
        Behind(behind)
    });
}

extern "C" fn allocate(_: *mut c_void, size: usize) -> *mut c_void {
    if size == USUAL_SIZE {
        for spare in &SPARES {
            if spare.load(Ordering::Relaxed).is_null() {
                continue;
            }
            let block = spare.swap(ptr::null_mut(), Ordering::Acquire);
            if !block.is_null() {
                return block;
            }
        }
    }
    let Behind(arenas) = BEHIND.wait();
    (arenas.alloc.expect("the interpreter has arenas"))(arenas.ctx, size)
}

extern "C" fn free(_: *mut c_void, block: *mut c_void, size: usize) {
    if size == USUAL_SIZE {
        for spare in &SPARES {
            let (none, kept) = (ptr::null_mut(), block);
            let order = (Ordering::Release, Ordering::Relaxed);
            if spare.compare_exchange(none, kept, order.0, order.1).is_ok() {
                return;
            }
        }
    }
    let Behind(arenas) = BEHIND.wait();
    (arenas.free.expect("the interpreter has arenas"))(arenas.ctx, block, size);
}

/// Room for a frame of `words` words in a new block, or null if there is no memory; the caller
/// fills it before any code reads it.
///
/// # Safety
/// Called on the current thread, with its GIL.
pub unsafe extern "C" fn push(ts: Thread, words: usize) -> Frame {
    // As much room as the interpreter leaves: a new block also has space for a call from this
    // frame.
    let needed = c::DATA as usize + 8 * (words + 1000);
    let mut size = USUAL_SIZE;
    while size < needed {
        size *= 2;
    }
    // SAFETY: the thread's block is the topmost one, or null in a thread without any; the new one
    // has the size written into it.
    unsafe {
        let arenas = arenas();
        let alloc = arenas.alloc.expect("the interpreter has arenas");
        let chunk: *mut u8 = alloc(arenas.ctx, size).cast();
        if chunk.is_null() {
            return chunk;
        }
        let below: *mut u8 = get(ts, t::DATASTACK_CHUNK);
        put(chunk, c::PREVIOUS, below);
        put(chunk, c::SIZE, size);
        put(chunk, c::TOP, 0usize);
        let mut frame = chunk.add(c::DATA as usize);
        if below.is_null() {
            // A thread's first block outlives its first frame, so that frame starts behind an empty
            // word.
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

/// Pops the topmost block, whose first frame is gone.
///
/// # Safety
/// Called on the current thread, with its GIL; there is a block below.
pub unsafe extern "C" fn pop(ts: Thread) {
    // SAFETY: the caller's promise; the block is empty.
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
        let arenas = arenas();
        (arenas.free.expect("the interpreter has arenas"))(arenas.ctx, chunk.cast(), size);
    }
}

fn arenas() -> PyObjectArenaAllocator {
    let mut arenas = std::mem::MaybeUninit::uninit();
    // SAFETY: it fills the struct.
    unsafe {
        PyObject_GetArenaAllocator(arenas.as_mut_ptr());
        arenas.assume_init()
    }
}
