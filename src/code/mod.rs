//! Code memory: the pages of machine code, and the maps of its frames.
//!
//! # Terms
//! An **arena** is one reservation of address space; a **run** is a number of adjacent pages of it;
//! a **unit** is the result of one compile, and owns one run (several if the linker allocates more
//! than once).
//!
//! # The life of a page
//! ```text
//! reserved (no access)  --allocate-->  writable  --seal-->  executable
//!                                                               |
//!                       reserved (no access)  <--unit dropped---+
//! ```
//! A page is never writable and executable at once, and an executable page is never made writable
//! again while its unit lives: another thread may be executing it. So a run belongs to one unit
//! alone, and each unit wastes half a page on the average.
//!
//! # Fork
//! The reservation is private and anonymous. After `fork`, parent and child each have their own
//! copy of every page (copied on write). So neither sees the other's writes, protections or frees,
//! and code that was published before runs in both. A lock that another thread held at the `fork`
//! stays locked in the child. So a child calls [`CodeMemory::after_fork_in_child`], which starts a
//! new arena and never touches the old one; the old one is kept as long as units in it are.
//!
//! # Invariants
//! - Nothing here interprets the bytes; a full arena, or a failed system call, is a
//!   [`CodeMemoryError`].
//! - Locks are held for bookkeeping only, never across a system call that touches pages.

mod arena;
mod frames;
mod gdb;
mod provider;
mod runs;
mod symbols;

pub use frames::{FrameMap, NativeStack, VisitError};
pub use gdb::Registration as DebuggerName;
#[cfg(not(feature = "internals"))]
pub(crate) use provider::{Provider, UnitPages};
#[cfg(feature = "internals")]
pub use provider::{Provider, UnitPages};

use arena::Arena;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The configuration of code memory.
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
    /// The default: 64 MiB, no names for tools.
    pub fn new() -> Config {
        Config::default()
    }

    /// Sets the most bytes in use. Rounded up to whole pages and reserved at once as address space.
    pub fn limit(mut self, bytes: usize) -> Config {
        self.limit = bytes;
        self
    }

    /// Writes names and addresses of all code to `/tmp/perf-PID.map`, where Linux `perf` looks for
    /// them.
    pub fn perf_map(mut self, on: bool) -> Config {
        self.perf_map = on;
        self
    }

    /// Reports names and addresses of all code to an attached debugger (gdb's JIT interface).
    pub fn debugger(mut self, on: bool) -> Config {
        self.debugger = on;
        self
    }
}

/// The reason why code memory is not available.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CodeMemoryError {
    /// The address space could not be reserved.
    #[error(
        "cannot reserve {bytes} bytes of address space for machine code ({reason}); ask for a smaller limit"
    )]
    Reserve {
        /// The requested bytes.
        bytes: usize,
        /// The system's message.
        reason: String,
    },
    /// No run of free pages is long enough.
    #[error(
        "code memory is full: {requested} bytes wanted, {used} of {limit} in use; raise the limit or drop units"
    )]
    Full {
        /// The wanted bytes, in whole pages.
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
        /// The wanted protection.
        wanted: &'static str,
        /// The system's message.
        reason: String,
    },
    /// The linker tried to place data here.
    #[error("code memory holds no {0} data")]
    Data(&'static str),
}

/// Code memory, shared by all clones.
#[derive(Clone)]
pub struct CodeMemory {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    /// From `Arc::into_raw`. Each arena owns the one before it, so every arena to which this ever
    /// pointed lives as long as `Inner` does.
    current: AtomicPtr<Arena>,
}

impl CodeMemory {
    /// Reserves code memory.
    ///
    /// # Errors
    /// [`CodeMemoryError::Reserve`] if the system refuses the address space.
    pub fn new(config: Config) -> Result<CodeMemory, CodeMemoryError> {
        let arena = Arena::new(config, None);
        arena.reserve()?;
        let current = AtomicPtr::new(Arc::into_raw(Arc::new(arena)).cast_mut());
        Ok(CodeMemory {
            inner: Arc::new(Inner { config, current }),
        })
    }

    /// Starts a new arena in a child process, which must call this before it compiles or drops a
    /// unit.
    ///
    /// Code published before the fork stays in place and runs; its pages are not freed in the
    /// child. The new arena is reserved when something is compiled, so a child that never compiles
    /// pays nothing.
    pub fn after_fork_in_child(&self) {
        let previous = self.arena();
        previous.abandon();
        let old = Arc::as_ptr(&previous).cast_mut();
        let arena =
            Arc::into_raw(Arc::new(Arena::new(self.inner.config, Some(previous)))).cast_mut();
        // Only one of several callers succeeds; the arenas of the others are not needed.
        let unused = match self.inner.current.compare_exchange(
            old,
            arena,
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            Ok(old) => old,
            Err(_) => arena,
        };
        // SAFETY: both pointers came from `Arc::into_raw`, and `current` holds the other one. A
        // thread that still reads through `old` is safe, because the new arena owns it.
        drop(unsafe { Arc::from_raw(unused) });
    }

    /// Bytes in use, in whole pages.
    pub fn used(&self) -> usize {
        self.arena().used()
    }

    /// The most bytes that may be in use.
    pub fn limit(&self) -> usize {
        self.arena().limit()
    }

    /// The name of the code at an address, if it is ours and published.
    pub fn lookup(&self, address: usize) -> Option<String> {
        self.arena().lookup(address)
    }

    /// The map for an address to which a native call returns.
    fn site(&self, address: usize) -> frames::Site {
        self.arena().site(address)
    }

    /// The pages of a new unit: a provider for the linker, and the handle that keeps the provider's
    /// allocations.
    pub fn unit(&self) -> (Provider, UnitPages) {
        provider::unit(self.arena())
    }

    fn arena(&self) -> Arc<Arena> {
        let current = self.inner.current.load(Ordering::Acquire);
        // SAFETY: the pointer came from `Arc::into_raw`, and the arena lives as long as `Inner`
        // (see there), so its count is at least one here.
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
