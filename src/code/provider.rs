//! The pages of one unit, and the linker's interface to them.

use super::arena::{Arena, Placed};
use super::{CodeMemoryError, FrameMap};
use cranelift_jit::{BranchProtection, JITMemoryKind, JITMemoryProvider};
use cranelift_module::{ModuleError, ModuleResult};
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The allocator that the linker uses while it places one unit.
pub struct Provider {
    pages: Arc<Pages>,
}

/// Keeps the pages of one unit. Dropping it frees them, so it must not be dropped while its code
/// runs or may be called.
pub struct UnitPages {
    pages: Arc<Pages>,
}

struct Pages {
    arena: Arc<Arena>,
    placed: Mutex<Vec<(Placed, bool)>>,
}

/// The provider and the handle of a new unit.
pub(super) fn unit(arena: Arc<Arena>) -> (Provider, UnitPages) {
    let pages = Arc::new(Pages {
        arena,
        placed: Mutex::new(Vec::new()),
    });
    (
        Provider {
            pages: Arc::clone(&pages),
        },
        UnitPages { pages },
    )
}

impl UnitPages {
    /// Names the unit's code for [`super::CodeMemory::lookup`] and the perf map.
    pub fn name(&self, address: *const u8, len: usize, name: &str) {
        self.pages.arena.name(address.addr(), len, name);
    }

    /// Keeps the maps of frames of code that has been [named](UnitPages::name), each with the
    /// offset in it that the call returns to, for [`super::NativeStack::visit`].
    pub fn map_frames(&self, code: *const u8, maps: impl IntoIterator<Item = (usize, FrameMap)>) {
        self.pages.arena.map_frames(code.addr(), maps);
    }

    /// Returns true if a near call from any code of the unit reaches an address.
    pub fn reaches(&self, address: usize) -> bool {
        self.pages.arena.reaches(address)
    }

    /// Bytes of the unit's pages.
    pub fn size(&self) -> usize {
        self.pages.lock().iter().map(|(placed, _)| placed.len).sum()
    }
}

impl Pages {
    fn lock(&self) -> MutexGuard<'_, Vec<(Placed, bool)>> {
        self.placed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        for (placed, _) in self.lock().iter() {
            self.arena.free(placed);
        }
    }
}

impl JITMemoryProvider for Provider {
    fn allocate(&mut self, size: usize, _align: u64, kind: JITMemoryKind) -> io::Result<*mut u8> {
        // A run begins at a page, which satisfies every alignment that code requires.
        match kind {
            JITMemoryKind::Executable => {
                let placed = self.pages.arena.allocate(size).map_err(io::Error::other)?;
                self.pages.lock().push((placed, false));
                Ok(std::ptr::with_exposed_provenance_mut(placed.address))
            }
            JITMemoryKind::Writable => Err(io::Error::other(CodeMemoryError::Data("writable"))),
            JITMemoryKind::ReadOnly => Err(io::Error::other(CodeMemoryError::Data("constant"))),
        }
    }

    unsafe fn free_memory(&mut self) {
        // `UnitPages` frees them when it is dropped.
    }

    fn finalize(&mut self, _branch_protection: BranchProtection) -> ModuleResult<()> {
        for (placed, sealed) in self.pages.lock().iter_mut().filter(|(_, sealed)| !sealed) {
            self.pages
                .arena
                .seal(placed)
                .map_err(|e| ModuleError::Allocation {
                    err: io::Error::other(e),
                })?;
            *sealed = true;
        }
        Ok(())
    }
}

impl fmt::Debug for UnitPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnitPages")
            .field("size", &self.size())
            .finish()
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Provider")
    }
}
