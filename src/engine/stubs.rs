//! Small pieces of native code between a host and its units, and the cells through which functions
//! are called.

use super::error::CompileError;
use super::{Engine, units::Shared};
use crate::codegen::CompiledCode;
use crate::host::{adapter, interpreted_call};
use crate::lir::Func;
use crate::ll::Ty;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// The stubs of an engine by number of arguments, and its cells by address.
#[derive(Default)]
pub(super) struct Stubs {
    interpreted: HashMap<usize, Arc<CompiledCode>>,
    adapters: HashMap<usize, Arc<CompiledCode>>,
    cells: HashMap<u64, Weak<Cell>>,
}

/// The cell through which native code calls a function ([`crate::host::Callee::Function`]). It
/// holds the address of the function's unit, or of a stub that runs the call in the host's
/// interpreter.
///
/// A host creates one with a function ([`Engine::entry_cell`]) and keeps it as long as the
/// function; units that call through it keep it too.
#[derive(Clone, Debug)]
pub struct EntryCell(Arc<Cell>);

#[derive(Debug)]
struct Cell {
    entry: AtomicU64,
    interpreted: Arc<CompiledCode>,
}

impl EntryCell {
    /// The cell's address, for [`crate::host::Callee::Function`].
    pub fn address(&self) -> u64 {
        self.0.entry.as_ptr() as u64
    }

    /// The current callee.
    pub fn entry(&self) -> *const u8 {
        std::ptr::with_exposed_provenance(self.0.entry.load(Ordering::SeqCst) as usize)
    }

    /// Returns true if that is a unit.
    pub fn is_native(&self) -> bool {
        self.entry() != self.0.interpreted.entry()
    }

    pub(super) fn publish(&self, entry: *const u8) {
        self.0.entry.store(entry as u64, Ordering::SeqCst);
    }

    /// Redirects calls to the interpreter, if they go to `entry` now.
    pub(super) fn withdraw(&self, entry: *const u8) {
        let stub = self.0.interpreted.entry() as u64;
        let (seq, relaxed) = (Ordering::SeqCst, Ordering::Relaxed);
        let _ = self
            .0
            .entry
            .compare_exchange(entry as u64, stub, seq, relaxed);
    }
}

impl Stubs {
    /// The live cell at an address.
    pub(super) fn cell(&self, address: u64) -> Option<EntryCell> {
        self.cells.get(&address)?.upgrade().map(EntryCell)
    }
}

impl Engine {
    /// A cell for a function with `arity` parameters. Its calls go to the interpreter (the helper
    /// `call_interpreted`) until a unit with this cell is installed.
    ///
    /// # Errors
    /// If the stub can't be compiled: the host has no such helper, or code memory is full.
    pub fn entry_cell(&mut self, arity: usize) -> Result<EntryCell, CompileError> {
        let known = self.shared.stubs().interpreted.get(&arity).cloned();
        let interpreted = match known {
            Some(stub) => stub,
            None => {
                let stub = Arc::new(self.compile_stub(&self.interpreted(arity))?);
                let mut stubs = self.shared.stubs();
                stubs.interpreted.insert(arity, stub.clone());
                stub
            }
        };
        let cell = Arc::new(Cell {
            entry: AtomicU64::new(interpreted.entry() as u64),
            interpreted,
        });
        let cell = EntryCell(cell);
        let mut stubs = self.shared.stubs();
        if stubs.cells.len().is_power_of_two() {
            stubs.cells.retain(|_, cell| cell.strong_count() > 0);
        }
        stubs.cells.insert(cell.address(), Arc::downgrade(&cell.0));
        Ok(cell)
    }

    fn interpreted(&self, arity: usize) -> Func {
        let helper = self.host().helper("call_interpreted");
        interpreted_call(arity, |b, args| b.call(helper, args, &[Ty::Ptr])[0])
    }

    /// The stub that calls an entry with this number of arguments from an array.
    pub(super) fn adapter(&mut self, arity: usize) -> Result<Arc<CompiledCode>, CompileError> {
        if let Some(known) = self.shared.stubs().adapters.get(&arity) {
            return Ok(known.clone());
        }
        let stub = Arc::new(self.compile_stub(&adapter(arity))?);
        self.shared.stubs().adapters.insert(arity, stub.clone());
        Ok(stub)
    }
}

impl Shared {
    /// The engine's own cells that a unit calls through. None if one of them is gone.
    pub(super) fn cells_of(&self, addresses: &[u64]) -> Option<Vec<EntryCell>> {
        let stubs = self.stubs();
        let own = addresses.iter().filter(|a| stubs.cells.contains_key(a));
        own.map(|&address| stubs.cell(address)).collect()
    }
}
