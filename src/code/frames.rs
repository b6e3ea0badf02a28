//! Native frames that hold references: which words of them do, and how a collector finds and updates those.
//!
//! # How
//! Code for a host whose objects are traced keeps each reference that it needs after a call in its frame, and loads it
//! again afterwards. A [`FrameMap`] says, for the address a call returns to, which words these are. Before a call that
//! may collect, the code stores its stack pointer into the [`NativeStack`] of its thread. From there
//! [`NativeStack::visit`] goes outwards: the innermost frame is found by the stack pointer and the return address below
//! it, the others by their frame pointers, until a return address is none of ours. That frame was called by the host,
//! which had noted in [`NativeStack::enter`] where the frames before it are.
//!
//! Wasmtime walks its stacks in the same way; there trampolines note where native code is left.

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

/// What is known of a return address.
pub(super) enum Site {
    /// It is no code of this memory.
    Foreign,
    /// Our code (by name), but not behind a call that may collect.
    Unmapped(String),
    /// The frame's map.
    Mapped(std::sync::Arc<FrameMap>),
}

/// Why native frames could not be visited. The collection must not go on: what they hold is not known.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum VisitError {
    /// Native code was entered and has called nothing that may collect.
    #[error("a collection below native code that has not called anything that may collect")]
    NoCall,
    /// The innermost call is not one that may collect.
    #[error("a collection in a call of `{function}` that was said not to collect")]
    NotCollecting {
        /// The native function.
        function: String,
    },
    /// The return address is no code of this memory.
    #[error("a native frame returns to {0:#x}, which is no code of this engine")]
    Foreign(usize),
}

/// The native frames of one thread: a part of the host's thread structure, at the place that it has declared.
///
/// Compiled code writes to it, by address; the host makes it, [visits](NativeStack::visit) it, and goes through
/// [`enter`](NativeStack::enter) if it calls compiled code in a way of its own.
#[repr(C)]
pub struct NativeStack {
    /// The stack pointer at the last call out of native code that may collect; zero if there was none since it was
    /// entered.
    sp: Cell<usize>,
    /// The innermost entry.
    entry: Cell<*const Entry>,
}

/// Compiled code stores to the first word.
const _: () = assert!(offset_of!(NativeStack, sp) == 0);

/// A call from the host into native code. It lies on the host's stack, further out than the frames it leads to.
struct Entry {
    /// Where native code had left before.
    sp: usize,
    outer: *const Entry,
}

impl NativeStack {
    /// One without frames.
    pub const fn new() -> NativeStack {
        NativeStack {
            sp: Cell::new(0),
            entry: Cell::new(std::ptr::null()),
        }
    }

    /// Call native code: `native` does that and nothing else. [`UnitHandle::call`](crate::engine::UnitHandle::call)
    /// comes through here.
    pub fn enter<R>(&self, native: impl FnOnce() -> R) -> R {
        /// Puts back what was there.
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

    /// Whether native code has been entered and not left.
    pub fn is_empty(&self) -> bool {
        self.entry.get().is_null()
    }

    /// Show every reference in the native frames of this thread, innermost first, and take its new value from what
    /// `visit` leaves in the word. Words without an object are left out; the others are whatever the host's values are
    /// (a number in the word itself too). Each word is shown once, though several may name one object.
    ///
    /// To be called where compiled code of `memory` has called the host: in a helper, in an intrinsic's helper, or in the
    /// exit hook (the words of the exit buffer are shown too). The frames of all engines over the same memory are found.
    ///
    /// # Errors
    /// [`VisitError`] if a helper collects that was said not to. Some frames have been visited then.
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

/// The frames from the one with this stack pointer out to the one that the host has called.
fn visit_frames(
    sp: usize,
    memory: &CodeMemory,
    visit: &mut impl FnMut(&mut u64),
) -> Result<(), VisitError> {
    if sp == 0 {
        return Err(VisitError::NoCall);
    }
    // On x86-64 a call leaves the return address right below the caller's stack pointer.
    // SAFETY: native code has stored its stack pointer and then called what runs now, and its frames lie above.
    let mut address = unsafe { word(sp - 8) };
    // Where the next frame's pointer is, once the innermost one is behind.
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
            // SAFETY: the map says that this word of the frame holds a reference, which only this thread sees.
            let word = unsafe { &mut *place };
            if *word != 0 {
                visit(word);
            }
        }
        let pointer = bottom + map.size as usize;
        // SAFETY: each frame begins with the caller's frame pointer, and above it where the caller goes on.
        unsafe {
            frame = Some(word(pointer));
            address = word(pointer + 8);
        }
    }
}

/// # Safety
/// A word of a live frame of this thread is there.
unsafe fn word(address: usize) -> usize {
    // SAFETY: the caller's promise.
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
