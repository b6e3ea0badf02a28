//! Code memory: the pages machine code lives in, and the maps of its frames.
//!
//! # Terms
//! An **arena** is one reservation of address space; a **run** is adjacent pages of it; a **unit** is what one
//! compile publishes, and owns one run (several if the linker asks more than once).
//!
//! # The life of a page
//! ```text
//! reserved (no access)  --allocate-->  writable  --seal-->  executable  --unit dropped-->  reserved (no access)
//! ```
//! A page is never writable and executable at once, and an executable page is never opened again while its unit
//! lives: another thread may be running on it. So a run belongs to one unit alone, and half a page is lost a unit.
//!
//! # Fork
//! The reservation is private and anonymous. After `fork` parent and child each have their own copy of every page
//! (copied on write), so neither sees what the other writes, protects or frees, and code that was published before
//! runs in both. What `fork` does not copy well is a lock that another thread held at that moment, so a child calls
//! [`CodeMemory::after_fork_in_child`]: it starts a new arena and leaves the old one alone, which is kept as long as
//! units in it are.
//!
//! # Invariants
//! - Nothing here knows what the bytes are; a full arena, or a refused system call, is a [`CodeMemoryError`].
//! - Locks are held for bookkeeping only, never across a system call that touches pages.

mod arena;
mod frames;
mod gdb;
mod provider;
mod runs;
mod symbols;

pub use frames::{FrameMap, NativeStack, VisitError};
pub use gdb::Registration as DebuggerName;
pub use provider::{Provider, UnitPages};

use arena::Arena;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

/// How code memory is set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    limit: usize,
    perf_map: bool,
    debugger: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            limit: 64 << 20,
            perf_map: false,
            debugger: false,
        }
    }
}

impl Config {
    /// The default: 64 MiB, names for nobody.
    pub fn new() -> Config {
        Config::default()
    }

    /// Bytes that may be in use at most; rounded up to whole pages and reserved at once as address space.
    pub fn limit(mut self, bytes: usize) -> Config {
        self.limit = bytes;
        self
    }

    /// Write names and addresses of all code to `/tmp/perf-PID.map`, where Linux `perf` looks for them.
    pub fn perf_map(mut self, on: bool) -> Config {
        self.perf_map = on;
        self
    }

    /// Tell names and addresses of all code to an attached debugger (gdb's JIT interface).
    pub fn debugger(mut self, on: bool) -> Config {
        self.debugger = on;
        self
    }
}

/// Why code memory could not be had.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CodeMemoryError {
    /// The address space could not be reserved.
    #[error(
        "cannot reserve {bytes} bytes of address space for machine code ({reason}); ask for a smaller limit"
    )]
    Reserve {
        /// Bytes asked for.
        bytes: usize,
        /// What the system said.
        reason: String,
    },
    /// No run of free pages is long enough.
    #[error(
        "code memory is full: {requested} bytes wanted, {used} of {limit} in use; raise the limit or drop units"
    )]
    Full {
        /// Bytes wanted, in whole pages.
        requested: usize,
        /// Bytes in use.
        used: usize,
        /// The limit.
        limit: usize,
    },
    /// The system refused to change the protection of pages.
    #[error("cannot make {bytes} bytes of code memory {wanted} ({reason})")]
    Protect {
        /// Bytes of the run.
        bytes: usize,
        /// What they were to become.
        wanted: &'static str,
        /// What the system said.
        reason: String,
    },
    /// Something other than code was to be placed here.
    #[error("code memory holds no {0} data")]
    Data(&'static str),
}

/// Code memory, shared by whoever holds a clone.
#[derive(Clone)]
pub struct CodeMemory {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    /// From `Arc::into_raw`. Each arena owns the one before it, so every arena this ever pointed to lives as long as
    /// `Inner` does.
    current: AtomicPtr<Arena>,
}

impl CodeMemory {
    /// Reserve code memory.
    ///
    /// # Errors
    /// [`CodeMemoryError::Reserve`] if the system does not give the address space.
    pub fn new(config: Config) -> Result<CodeMemory, CodeMemoryError> {
        let arena = Arena::new(config, None);
        arena.reserve()?;
        let current = AtomicPtr::new(Arc::into_raw(Arc::new(arena)).cast_mut());
        Ok(CodeMemory {
            inner: Arc::new(Inner { config, current }),
        })
    }

    /// Start afresh in a child process, which must call this before it compiles or drops a unit.
    ///
    /// Code published before the fork stays where it is and runs; its pages are not given back in the child. The new
    /// arena is reserved when something is compiled, so a child that never compiles pays nothing.
    pub fn after_fork_in_child(&self) {
        let previous = self.arena();
        previous.abandon();
        let old = Arc::as_ptr(&previous).cast_mut();
        let arena =
            Arc::into_raw(Arc::new(Arena::new(self.inner.config, Some(previous)))).cast_mut();
        // Only one of several callers can win: the others' arenas are not needed.
        let unused = match self.inner.current.compare_exchange(
            old,
            arena,
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            Ok(old) => old,
            Err(_) => arena,
        };
        // SAFETY: both pointers came from `Arc::into_raw`, and `current` holds the other one. Whoever still reads
        // through `old` is safe, because the new arena owns it.
        drop(unsafe { Arc::from_raw(unused) });
    }

    /// Bytes in use, in whole pages.
    pub fn used(&self) -> usize {
        self.arena().used()
    }

    /// Bytes that may be in use at most.
    pub fn limit(&self) -> usize {
        self.arena().limit()
    }

    /// The name of the code at an address, if it is ours and published.
    pub fn lookup(&self, address: usize) -> Option<String> {
        self.arena().lookup(address)
    }

    /// What is known of an address that a native call returns to.
    fn site(&self, address: usize) -> frames::Site {
        self.arena().site(address)
    }

    /// The pages of a new unit: a provider for the linker, and the handle that keeps what it allocates.
    pub fn unit(&self) -> (Provider, UnitPages) {
        provider::unit(self.arena())
    }

    fn arena(&self) -> Arc<Arena> {
        let current = self.inner.current.load(Ordering::Acquire);
        // SAFETY: the pointer came from `Arc::into_raw`, and the arena lives as long as `Inner` (see there), so its
        // count is at least one here.
        unsafe {
            Arc::increment_strong_count(current);
            Arc::from_raw(current)
        }
    }
}

impl fmt::Debug for CodeMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeMemory")
            .field("used", &self.used())
            .field("limit", &self.limit())
            .finish()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `Arc::into_raw` and this is its last use.
        drop(unsafe { Arc::from_raw(*self.current.get_mut()) });
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<CodeMemory>();
    shared::<UnitPages>();
};

#[cfg(test)]
mod tests;
