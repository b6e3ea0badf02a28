//! Native frames that hold references: the words with references, and the walk with which a
//! collector finds and updates them.
//!
//! # The walk
//! Code for a host that traces its objects keeps each reference that it needs after a call in its
//! frame, and loads it again afterwards. A [`FrameMap`] lists these words for the return address of
//! a call. Before a call that may collect, the code stores its stack pointer into the
//! [`NativeStack`] of its thread. From there [`NativeStack::visit`] walks outwards: it finds the
//! innermost frame by the stack pointer and the return address below it, and the others by their
//! frame pointers, until a return address is outside our code. That frame was called by the host,
//! and [`NativeStack::enter`] had saved the place of the frames before it.
//!
//! Wasmtime walks its stacks in the same way; there, trampolines record the exits from native code.

use super::CodeMemory;
use std::cell::Cell;
use std::fmt;
use std::mem::offset_of;

/// The references in a native frame at one call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FrameMap {
    /// Bytes from the stack pointer to the saved frame pointer.
    pub size: u32,
    /// Bytes from the stack pointer to each word that holds a reference.
    pub words: Vec<u32>,
}

/// The result of looking up a return address.
pub(super) enum Site {
    /// It is not in code of this memory.
    Foreign,
    /// It is in our code (of this name), but not behind a call that may collect.
    Unmapped(String),
    /// The frame's map.
    Mapped(std::sync::Arc<FrameMap>),
}

/// The reason why native frames could not be visited. The collection must stop: the references of
/// the frames are not known.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum VisitError {
    /// Native code was entered and has made no call that may collect.
    #[error("a collection below native code that has not called anything that may collect")]
    NoCall,
    /// The innermost call is declared not to collect.
    #[error("a collection in a call of `{function}` that is declared not to collect")]
    NotCollecting {
        /// The native function.
        function: String,
    },
    /// The return address is not in code of this memory.
    #[error("a native frame returns to {0:#x}, which is not in code of this engine")]
    Foreign(usize),
}

/// The native frames of one thread: a part of the host's thread structure, at the place that it has
/// declared.
///
/// Compiled code writes to it, by address; the host creates it, [visits](NativeStack::visit) it,
/// and uses [`enter`](NativeStack::enter) if it calls compiled code by itself.
#[repr(C)]
pub struct NativeStack {
    /// The stack pointer at the last call out of native code that may collect. Zero if there was
    /// none since native code was entered.
    sp: Cell<usize>,
    /// The innermost entry.
    entry: Cell<*const Entry>,
}

/// Compiled code stores to the first word.
const _: () = assert!(offset_of!(NativeStack, sp) == 0);

/// A call from the host into native code. It lies on the host's stack, further out than the frames
/// it leads to.
struct Entry {
    /// The saved stack pointer of the native code further out.
    sp: usize,
    outer: *const Entry,
}

impl NativeStack {
    /// A stack without frames.
    pub const fn new() -> NativeStack {
        NativeStack {
            sp: Cell::new(0),
            entry: Cell::new(std::ptr::null()),
        }
    }

    /// Calls native code: `native` does nothing else.
    /// [`UnitHandle::call`](crate::engine::UnitHandle::call) uses this.
    pub fn enter<R>(&self, native: impl FnOnce() -> R) -> R {
        /// Restores the previous entry.
        struct Leave<'a>(&'a NativeStack, &'a Entry);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.sp.set(self.1.sp);
                self.0.entry.set(self.1.outer);
            }
        }
        let entry = Entry {
            sp: self.sp.replace(0),
            outer: self.entry.get(),
        };
        self.entry.set(&raw const entry);
        let _leave = Leave(self, &entry);
        native()
    }

    /// Returns true if no native code is running.
    pub fn is_empty(&self) -> bool {
        self.entry.get().is_null()
    }

    /// Calls `visit` with every reference in the native frames of this thread, innermost first, and
    /// replaces it by the value that `visit` leaves in the word. Null words are left out; the
    /// others are any values of the host (numbers encoded in the word too). Each word is visited
    /// once, though several may refer to one object.
    ///
    /// Call it where compiled code of `memory` has called the host: in a helper, in an intrinsic's
    /// helper, or in the exit hook (the words of the exit buffer are visited too). It finds the
    /// frames of all engines that use the same memory.
    ///
    /// # Errors
    /// [`VisitError`] if a helper collects that was declared not to. Some frames have been visited
    /// then.
    pub fn visit(
        &self,
        memory: &CodeMemory,
        mut visit: impl FnMut(&mut u64),
    ) -> Result<(), VisitError> {
        let (mut sp, mut entry) = (self.sp.get(), self.entry.get());
        // SAFETY: entries live as long as they are linked here.
        while let Some(outer) = unsafe { entry.as_ref() } {
            visit_frames(sp, memory, &mut visit)?;
            (sp, entry) = (outer.sp, outer.outer);
        }
        Ok(())
    }
}

/// The frames from the one with this stack pointer out to the one that the host called.
fn visit_frames(
    sp: usize,
    memory: &CodeMemory,
    visit: &mut impl FnMut(&mut u64),
) -> Result<(), VisitError> {
    if sp == 0 {
        return Err(VisitError::NoCall);
    }
    // On x86-64 a call leaves the return address right below the caller's stack pointer. SAFETY:
    // native code stored its stack pointer before it called the running code, and its frames lie
    // above.
    let mut address = unsafe { word(sp - 8) };
    // The frame pointer of the next frame, after the innermost one.
    let mut frame = None;
    loop {
        let map = match memory.site(address) {
            Site::Mapped(map) => map,
            Site::Foreign if frame.is_some() => return Ok(()),
            Site::Foreign => return Err(VisitError::Foreign(address)),
            Site::Unmapped(function) => return Err(VisitError::NotCollecting { function }),
        };
        let bottom = frame.map_or(sp, |pointer: usize| pointer - map.size as usize);
        for &offset in &map.words {
            let place: *mut u64 = std::ptr::with_exposed_provenance_mut(bottom + offset as usize);
            // SAFETY: the map says that this word of the frame holds a reference; only this thread
            // accesses it.
            let word = unsafe { &mut *place };
            if *word != 0 {
                visit(word);
            }
        }
        let pointer = bottom + map.size as usize;
        // SAFETY: each frame begins with the caller's frame pointer, followed by the return
        // address.
        unsafe {
            frame = Some(word(pointer));
            address = word(pointer + 8);
        }
    }
}

/// # Safety
/// A word of a live frame of this thread is there.
unsafe fn word(address: usize) -> usize {
    // SAFETY: the caller promises a word of a live frame.
    unsafe { std::ptr::with_exposed_provenance::<usize>(address).read() }
}

impl Default for NativeStack {
    fn default() -> NativeStack {
        NativeStack::new()
    }
}

impl fmt::Debug for NativeStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativeStack")
            .field("is_empty", &self.is_empty())
            .finish_non_exhaustive()
    }
}
