//! One reservation of address space, and the protection of its pages.

use super::frames::{FrameMap, Site};
use super::runs::{FreeRuns, Run};
use super::symbols::{PerfMap, Symbols};
use super::{CodeMemoryError, Config};
use memmap2::{MmapMut, MmapOptions};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The distance that a near call is sure to reach.
const REACH: usize = if cfg!(target_arch = "x86_64") {
    1 << 31
} else {
    1 << 27
};

/// One reservation.
pub(super) struct Arena {
    page: usize,
    pages: usize,
    used_pages: AtomicUsize,
    /// Set in a forked child, in which threads that no longer exist may have the locks below.
    abandoned: AtomicBool,
    /// The parent process's arena, whose code this process still executes.
    previous: Option<Arc<Arena>>,
    perf_map: Option<PerfMap>,
    debugger: bool,
    state: Mutex<State>,
}

struct State {
    /// Created at the first use.
    mapping: Option<MmapMut>,
    free: FreeRuns,
    symbols: Symbols,
}

/// A writable run that is not yet sealed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) run: Run,
    /// The address of the first byte.
    pub(super) address: usize,
    /// Bytes.
    pub(super) len: usize,
}

#[derive(Clone, Copy)]
enum Access {
    None,
    Write,
    Execute,
}

impl Arena {
    /// An arena that is reserved when it is first used.
    pub(super) fn new(config: Config, previous: Option<Arc<Arena>>) -> Arena {
        // SAFETY: `sysconf` has no preconditions.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
        let pages = config.limit.div_ceil(page);
        Arena {
            page,
            pages,
            used_pages: AtomicUsize::new(0),
            abandoned: AtomicBool::new(false),
            previous,
            perf_map: config.perf_map.then(PerfMap::new),
            debugger: config.debugger,
            state: Mutex::new(State {
                mapping: None,
                free: FreeRuns::all(pages),
                symbols: Symbols::default(),
            }),
        }
    }

    /// Ensures that the address space is reserved, and returns its first address.
    pub(super) fn reserve(&self) -> Result<usize, CodeMemoryError> {
        let mut state = self.lock();
        if let Some(mapping) = &state.mapping {
            return Ok(mapping.as_ptr().expose_provenance());
        }
        let bytes = self.limit();
        let failed = |e: io::Error| CodeMemoryError::Reserve {
            bytes,
            reason: e.to_string(),
        };
        if isize::try_from(bytes).is_err() {
            return Err(failed(io::Error::from(io::ErrorKind::OutOfMemory)));
        }
        let mapping = MmapOptions::new()
            .len(bytes)
            .no_reserve_swap()
            .map_anon()
            .map_err(failed)?;
        let base = mapping.as_ptr().expose_provenance();
        protect(base, bytes, Access::None).map_err(failed)?;
        state.mapping = Some(mapping);
        Ok(base)
    }

    /// Returns true if a near call from anywhere in this arena reaches an address.
    pub(super) fn reaches(&self, address: usize) -> bool {
        let Ok(base) = self.reserve() else {
            return false;
        };
        let end = base + self.limit();
        address.abs_diff(base).max(address.abs_diff(end)) < REACH
    }

    pub(super) fn used(&self) -> usize {
        self.used_pages.load(Ordering::Relaxed) * self.page
    }

    pub(super) fn limit(&self) -> usize {
        self.pages.saturating_mul(self.page)
    }

    /// A writable run of at least `bytes`.
    pub(super) fn allocate(&self, bytes: usize) -> Result<Placed, CodeMemoryError> {
        let base = self.reserve()?;
        let pages = bytes.div_ceil(self.page).max(1);
        let Some(run) = self.lock().free.take(pages) else {
            return Err(CodeMemoryError::Full {
                requested: pages.saturating_mul(self.page),
                used: self.used(),
                limit: self.limit(),
            });
        };
        let placed = Placed {
            run,
            address: base + run.start * self.page,
            len: pages * self.page,
        };
        if let Err(error) = self.change(&placed, Access::Write) {
            self.lock().free.give(run);
            return Err(error);
        }
        self.used_pages.fetch_add(pages, Ordering::Relaxed);
        Ok(placed)
    }

    /// Makes a written run executable, for good.
    pub(super) fn seal(&self, placed: &Placed) -> Result<(), CodeMemoryError> {
        synchronise_instructions(placed);
        self.change(placed, Access::Execute)
    }

    /// Returns a run to the free pages. No thread executes or reads it any more.
    pub(super) fn free(&self, placed: &Placed) {
        if self.abandoned.load(Ordering::Relaxed) {
            return;
        }
        // SAFETY: the run is inside the mapping, whole pages, and belongs to a unit that is being
        // dropped.
        unsafe {
            libc::madvise(
                std::ptr::with_exposed_provenance_mut(placed.address),
                placed.len,
                libc::MADV_DONTNEED,
            )
        };
        // If the system refuses, the pages keep their protection until they are used again, which
        // is harmless.
        let _ = self.change(placed, Access::None);
        let mut state = self.lock();
        state.symbols.remove(placed.address, placed.len);
        state.free.give(placed.run);
        drop(state);
        self.used_pages
            .fetch_sub(placed.run.pages, Ordering::Relaxed);
    }

    /// Names the code at an address.
    pub(super) fn name(&self, address: usize, len: usize, name: &str) {
        self.lock()
            .symbols
            .insert(address, len, name, self.debugger);
        if let Some(perf_map) = &self.perf_map {
            perf_map.append(address, len, name);
        }
    }

    /// The name of the code at an address, also of the process this one was forked from.
    pub(super) fn lookup(&self, address: usize) -> Option<String> {
        let own = if self.abandoned.load(Ordering::Relaxed) {
            self.state.try_lock().ok()?.symbols.find(address)
        } else {
            self.lock().symbols.find(address)
        };
        own.or_else(|| self.previous.as_ref()?.lookup(address))
    }

    /// Keeps maps of frames of named code.
    pub(super) fn map_frames(
        &self,
        code: usize,
        maps: impl IntoIterator<Item = (usize, FrameMap)>,
    ) {
        self.lock().symbols.map_frames(code, maps);
    }

    /// The map for a return address, also in code of the process this one was forked from.
    pub(super) fn site(&self, address: usize) -> Site {
        let own = if self.abandoned.load(Ordering::Relaxed) {
            let state = self.state.try_lock();
            state.map_or(Site::Foreign, |state| state.symbols.site(address))
        } else {
            self.lock().symbols.site(address)
        };
        match (own, &self.previous) {
            (Site::Foreign, Some(previous)) => previous.site(address),
            (own, _) => own,
        }
    }

    /// Makes this process neither wait for the arena's lock nor change its pages from now on.
    pub(super) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent at every statement that could panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, placed: &Placed, access: Access) -> Result<(), CodeMemoryError> {
        protect(placed.address, placed.len, access).map_err(|e| CodeMemoryError::Protect {
            bytes: placed.len,
            wanted: match access {
                Access::None => "inaccessible",
                Access::Write => "writable",
                Access::Execute => "executable",
            },
            reason: e.to_string(),
        })
    }
}

fn protect(address: usize, len: usize, access: Access) -> io::Result<()> {
    let protection = match access {
        Access::None => libc::PROT_NONE,
        Access::Write => libc::PROT_READ | libc::PROT_WRITE,
        Access::Execute => libc::PROT_READ | libc::PROT_EXEC,
    };
    // SAFETY: the range is whole pages of our own mapping, into which no Rust reference points.
    match unsafe {
        libc::mprotect(
            std::ptr::with_exposed_provenance_mut(address),
            len,
            protection,
        )
    } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Makes written code visible to instruction fetch. On x86-64 the hardware does this.
#[cfg(target_arch = "x86_64")]
fn synchronise_instructions(_placed: &Placed) {}

/// Makes written code visible to instruction fetch, on all cores.
#[cfg(target_arch = "aarch64")]
fn synchronise_instructions(placed: &Placed) {
    unsafe extern "C" {
        fn __clear_cache(start: *mut libc::c_void, end: *mut libc::c_void);
    }
    let start = std::ptr::with_exposed_provenance_mut::<libc::c_void>(placed.address);
    // SAFETY: the range is mapped and readable.
    unsafe { __clear_cache(start, start.byte_add(placed.len)) };
    // Other cores must refetch; `membarrier` with SYNC_CORE (registered by the same call pair)
    // makes them. If the kernel lacks it, all that remains is that fresh pages are entered by an
    // indirect branch.
    #[cfg(target_os = "linux")]
    // SAFETY: `membarrier` touches no memory of ours.
    unsafe {
        const PRIVATE_EXPEDITED_SYNC_CORE: i32 = 1 << 5;
        const REGISTER_PRIVATE_EXPEDITED_SYNC_CORE: i32 = 1 << 6;
        libc::syscall(
            libc::SYS_membarrier,
            REGISTER_PRIVATE_EXPEDITED_SYNC_CORE,
            0,
            0,
        );
        libc::syscall(libc::SYS_membarrier, PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
    }
}
