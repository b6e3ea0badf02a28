//! What an engine tells of its units and of itself, and how it is told of the world: also while it is at work.

use super::units::{InstallError, Shared, UnitHandle, UnitId};
use super::{Engine, Entry};
use crate::bytecode::{Pc, Reason};
use crate::exits::ExitKind;
use crate::facts::Assumption;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What is known of a unit.
#[derive(Clone, Debug)]
pub struct UnitInfo {
    /// Its number.
    pub id: UnitId,
    /// The function's name.
    pub name: String,
    /// Where it begins.
    pub entry: Entry,
    /// Whether it may be entered.
    pub is_valid: bool,
    /// Bytes of machine code.
    pub code_size: usize,
    /// Calls from the host.
    pub entered: u64,
    /// Back edges taken.
    pub iterations: u64,
    /// What it relies on.
    pub assumptions: Vec<Assumption>,
    /// The exits that were taken.
    pub exits: Vec<ExitInfo>,
}

/// How often an exit was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct ExitInfo {
    /// Its number.
    pub number: usize,
    /// The instruction.
    pub pc: Pc,
    /// Why.
    pub reason: Reason,
    /// How often.
    pub taken: u64,
}

/// What an engine has done.
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
    /// Compiles that gave nothing.
    pub refused: u64,
    /// Why functions were refused the last time: by name.
    pub refusals: BTreeMap<String, InstallError>,
    /// Units that wait for native code to end.
    pub waiting: usize,
    /// Jobs that are under way.
    pub jobs: usize,
    /// Calls of function units from the host. Those that native code makes itself are not counted.
    pub calls: u64,
    /// Loops that were entered from a frame of the host's interpreter.
    pub loop_entries: u64,
    /// Exits that were taken, also by units that are gone: by what is done after them, and why.
    pub exits: HashMap<(ExitKind, Reason), u64>,
    /// Time spent by stage.
    pub stages: Vec<(&'static str, Duration)>,
    /// Bytes of code memory in use, in whole pages; that of other engines over the same memory included.
    pub code_memory: usize,
}

/// An engine's account of its units, for whoever can't borrow the engine: what the compiler asks of a [`World`] may run
/// code of the host's that changes something, while the engine is borrowed by [`Engine::build`]. It keeps no unit and
/// no code memory, and outlives the engine, whose units are invalid then.
///
/// [`World`]: crate::host::World
#[derive(Clone)]
pub struct Account(Arc<Shared>);

impl Account {
    /// See [`Engine::changed`]. A unit that is being compiled and relies on it is stale.
    pub fn changed(&self, assumption: &Assumption) -> usize {
        self.0.changed(assumption)
    }

    /// See [`Engine::invalidate`].
    pub fn invalidate(&self, unit: &UnitHandle) -> bool {
        self.0.invalidate(unit.body())
    }

    /// Make every unit invalid, as if all that any of them relies on had changed; for a host that begins to trace or
    /// that is to be disturbed in a test. Gives how many were valid.
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

    /// See [`Engine::statistics`]; without the code memory, which the engine has.
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

    /// What the host says to have changed: the assumption does not hold any more. A changed class is told as
    /// `ClassUnchanged` of that class alone; units that rely on a class that derives from it are found. Gives how many
    /// units became invalid.
    pub fn changed(&self, assumption: &Assumption) -> usize {
        self.shared.changed(assumption)
    }

    /// Make a unit invalid: it is entered no more, and native code in it leaves at its next check. False if it was.
    pub fn invalidate(&self, unit: &UnitHandle) -> bool {
        self.shared.invalidate(unit.body())
    }

    /// Give up the engine's own handle of a unit, which stays valid while somebody else has one. False if the engine
    /// has none.
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

    /// What is known of every unit in the engine's list, the oldest first.
    pub fn units(&self) -> Vec<UnitInfo> {
        self.account().units()
    }

    /// What has happened so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            code_memory: self.memory().used(),
            ..self.shared.statistics()
        }
    }
}
