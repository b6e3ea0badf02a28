//! The memory of objects that have ended, kept for the next ones alike: making one costs no way through the interpreter's
//! allocator, which looks for its state in thread-local storage each time.

use crate::capi::Obj;
use pyo3_ffi::PyObject_GC_Del;
use std::cell::Cell;

/// How many are kept.
const MOST: usize = 16;

/// Memory of objects of one class and size: without references, and not known to the collector.
pub struct Spares {
    count: Cell<usize>,
    memory: [Cell<usize>; MOST],
}

impl Spares {
    /// None yet.
    pub const fn new() -> Spares {
        Spares {
            count: Cell::new(0),
            memory: [const { Cell::new(0) }; MOST],
        }
    }

    /// The memory of one, whose class is still there.
    #[inline(always)]
    pub fn take(&self) -> Option<Obj> {
        let count = self.count.get().checked_sub(1)?;
        let slot = self.memory.get(count)?;
        self.count.set(count);
        Some(slot.get() as Obj)
    }

    /// Whether there is room for another.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.count.get() < MOST
    }

    /// Keep an object's memory, if there is room.
    #[inline(always)]
    pub fn keep(&self, object: Obj) -> bool {
        let count = self.count.get();
        let Some(slot) = self.memory.get(count) else {
            return false;
        };
        slot.set(object as usize);
        self.count.set(count + 1);
        true
    }

    /// Give all of it back.
    ///
    /// # Safety
    /// The GIL is held.
    pub unsafe fn free(&self) {
        while let Some(object) = self.take() {
            // SAFETY: memory of an object that the collector does not know.
            unsafe { PyObject_GC_Del(object.cast()) };
        }
    }
}

impl Default for Spares {
    fn default() -> Spares {
        Spares::new()
    }
}

impl Drop for Spares {
    fn drop(&mut self) {
        // SAFETY: who keeps the memory of objects holds the GIL.
        unsafe { self.free() };
    }
}
