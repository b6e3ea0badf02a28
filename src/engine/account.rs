//! The engine's reports about its units and itself, and notifications of changes, which also arrive
//! while it is compiling.

use super::error::InstallError;
use super::units::{Shared, UnitHandle, UnitId};
use super::{Engine, Entry};
use crate::bytecode::{Pc, Reason};
use crate::exits::ExitKind;
use crate::facts::Assumption;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Information about a unit.
#[derive(Clone, Debug)]
pub struct UnitInfo {
    /// Its number.
    pub id: UnitId,
    /// The function's name.
    pub name: String,
    /// Its entry.
    pub entry: Entry,
    /// True if it may be entered.
    pub is_valid: bool,
    /// Bytes of machine code.
    pub code_size: usize,
    /// Calls from the host.
    pub entered: u64,
    /// Back edges taken.
    pub iterations: u64,
    /// Its assumptions.
    pub assumptions: Vec<Assumption>,
    /// The exits that were taken.
    pub exits: Vec<ExitInfo>,
}

/// The number of times that an exit was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct ExitInfo {
    /// Its number.
    pub number: usize,
    /// The instruction.
    pub pc: Pc,
    /// The reason.
    pub reason: Reason,
    /// The count.
    pub taken: u64,
}

/// Counts of an engine's work.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Units installed.
    pub installed: u64,
    /// Units that became invalid.
    pub invalidated: u64,
    /// Units whose code was freed.
    pub freed: u64,
    /// Compiles whose result was stale.
    pub stale: u64,
    /// Compiles without a result.
    pub refused: u64,
    /// The reason of the latest refusal of each function, by name.
    pub refusals: BTreeMap<String, InstallError>,
    /// Units to be freed after native code has ended.
    pub waiting: usize,
    /// Running jobs.
    pub jobs: usize,
    /// Calls of function units from the host, without those that native code makes itself.
    pub calls: u64,
    /// Loops that were entered from a frame of the host's interpreter.
    pub loop_entries: u64,
    /// Exits that were taken, also by units that were freed: by kind and reason.
    pub exits: HashMap<(ExitKind, Reason), u64>,
    /// Time spent by stage.
    pub stages: Vec<(&'static str, Duration)>,
    /// Bytes of code memory in use, in whole pages, including those of other engines over the same
    /// memory.
    pub code_memory: usize,
}

/// An engine's account of its units, for code that can't borrow the engine. For example, while
/// [`Engine::build`] borrows the engine, a query to the [`World`] may run code of the host's that
/// changes an assumption. The account keeps no unit and no code memory, and outlives the engine,
/// whose units are invalid then.
///
/// [`World`]: crate::host::World
#[derive(Clone)]
pub struct Account(Arc<Shared>);

impl Account {
    /// See [`Engine::changed`]. A unit that is being compiled with this assumption becomes stale.
    pub fn changed(&self, assumption: &Assumption) -> usize {
        self.0.changed(assumption)
    }

    /// See [`Engine::invalidate`].
    pub fn invalidate(&self, unit: &UnitHandle) -> bool {
        self.0.invalidate(unit.body())
    }

    /// Invalidates every unit, as if all their assumptions had changed; for a host that begins to
    /// trace, or for tests. Returns the number of units that were valid.
    pub fn invalidate_all(&self) -> usize {
        let units = self.0.handles();
        units.iter().filter(|unit| self.invalidate(unit)).count()
    }

    /// See [`Engine::handles`].
    pub fn handles(&self) -> Vec<UnitHandle> {
        self.0.handles()
    }

    /// See [`Engine::units`].
    pub fn units(&self) -> Vec<UnitInfo> {
        self.0.handles().iter().map(UnitHandle::info).collect()
    }

    /// See [`Engine::statistics`]; without the code memory, which belongs to the engine.
    pub fn statistics(&self) -> Statistics {
        self.0.statistics()
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Account")
            .field(&self.0.statistics())
            .finish()
    }
}

impl Engine {
    /// The engine's account, for use while the engine is borrowed.
    pub fn account(&self) -> Account {
        Account(self.shared.clone())
    }

    /// Notifies the engine that the assumption does not hold any more. For a changed class,
    /// `ClassUnchanged` of that class alone is enough: units that rely on a subclass are found.
    /// Returns the number of units that became invalid.
    pub fn changed(&self, assumption: &Assumption) -> usize {
        self.shared.changed(assumption)
    }

    /// Invalidates a unit: it is not entered any more, and native code in it exits at its next
    /// check. Returns false if it was invalid.
    pub fn invalidate(&self, unit: &UnitHandle) -> bool {
        self.shared.invalidate(unit.body())
    }

    /// Drops the engine's own handle of a unit, which stays valid while there is another. Returns
    /// false if the engine has none.
    pub fn forget(&self, unit: UnitId) -> bool {
        self.shared.forget(unit)
    }

    /// The unit of this number, if the engine has a handle of it.
    pub fn unit(&self, unit: UnitId) -> Option<UnitHandle> {
        self.shared.unit(unit)
    }

    /// Every unit in the engine's list, the oldest first.
    pub fn handles(&self) -> Vec<UnitHandle> {
        self.shared.handles()
    }

    /// Information about every unit in the engine's list, the oldest first.
    pub fn units(&self) -> Vec<UnitInfo> {
        self.account().units()
    }

    /// The counts so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            code_memory: self.memory().used(),
            ..self.shared.statistics()
        }
    }
}
