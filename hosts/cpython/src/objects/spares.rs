//! The memory of freed objects, kept for reuse by objects of the same class. This saves the
//! interpreter's allocator, which looks up its state in thread-local storage at each allocation.

use crate::capi::Obj;
use pyo3_ffi::PyObject_GC_Del;
use std::cell::Cell;

/// Maximum number of kept objects.
const MOST: usize = 16;

/// Memory of objects of one class and size: without references, and not tracked by the collector.
pub struct Spares {
    count: Cell<usize>,
    memory: [Cell<usize>; MOST],
}

impl Spares {
    /// An empty list.
    pub const fn new() -> Spares {
        Spares {
            count: Cell::new(0),
            memory: [const { Cell::new(0) }; MOST],
        }
    }

    /// The memory of one object, whose class field is still set.
    #[inline(always)]
    pub fn take(&self) -> Option<Obj> {
        let count = self.count.get().checked_sub(1)?;
        let slot = self.memory.get(count)?;
        self.count.set(count);
        Some(slot.get() as Obj)
    }

    /// True if there is room for another.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.count.get() < MOST
    }

    /// Keeps an object's memory, if there is room.
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

    /// Frees all of it.
    ///
    /// # Safety
    /// The caller has the GIL.
    pub unsafe fn free(&self) {
        while let Some(object) = self.take() {
            // SAFETY: memory of an object that the collector does not track.
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
        // SAFETY: the owner of such memory holds the GIL.
        unsafe { self.free() };
    }
}
