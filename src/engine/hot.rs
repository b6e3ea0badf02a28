//! The state of one function before and after it is compiled: observed types, call counts, the
//! compiled unit, and failed speculations. A host keeps one [`Hot`] with each function (and one
//! with each loop that is entered by on-stack replacement).

use super::error::InstallError;
use super::job::Task;
use super::units::{Exit, UnitHandle};
use super::{EntryCell, UnitParts};
use crate::bytecode::{Code, Pc, Reason};
use crate::host::Callee;
use crate::types::Type;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Arc;

/// The number of times that a speculation fails before it is not repeated.
const PATIENCE: u64 = 3;
/// The number of units after which the function stays in the interpreter.
const MAX_VERSIONS: u32 = 5;

/// See the module's documentation. It belongs to the host's thread.
#[derive(Debug)]
pub struct Hot {
    code: Arc<Code>,
    cell: Option<EntryCell>,
    calls: Cell<u64>,
    versions: Cell<u32>,
    is_pending: Cell<bool>,
    seen: RefCell<Vec<Vec<Type>>>,
    avoid: RefCell<HashSet<(Pc, Reason)>>,
    unit: RefCell<Option<UnitHandle>>,
    refusal: RefCell<Option<InstallError>>,
}

impl Hot {
    /// A function that has not run. Its units are published in the cell.
    pub fn new(code: Arc<Code>, cell: Option<EntryCell>) -> Hot {
        Hot {
            seen: RefCell::new(vec![Vec::new(); code.instrs.len()]),
            code,
            cell,
            calls: Cell::new(0),
            versions: Cell::new(0),
            is_pending: Cell::new(false),
            avoid: RefCell::default(),
            unit: RefCell::default(),
            refusal: RefCell::default(),
        }
    }

    /// The code.
    pub fn code(&self) -> &Arc<Code> {
        &self.code
    }

    /// The cell through which it is called.
    pub fn cell(&self) -> Option<&EntryCell> {
        self.cell.as_ref()
    }

    /// The effect of calling the function, for [`World::callee`](crate::host::World::callee): it
    /// never changes and has no defaults.
    pub fn callee(&self) -> Callee {
        match &self.cell {
            Some(cell) => Callee::function(self.code.argcount, cell.address()),
            None => Callee::Unknown,
        }
    }

    /// Notes the types of an instruction's operands, from the deepest to the top: they become the
    /// compiler's hints. An operand with several types gets their union.
    ///
    /// # Panics
    /// If the code has no such instruction.
    pub fn observe(&self, pc: Pc, operands: impl IntoIterator<Item = Type>) {
        let types = &mut self.seen.borrow_mut()[pc.0 as usize];
        for (k, ty) in operands.into_iter().enumerate() {
            match types.get_mut(k) {
                Some(known) => *known |= ty,
                None => types.push(ty),
            }
        }
    }

    /// Counts a call. Returns true if the function should be compiled now: it has run more than
    /// `threshold` times, has no valid unit, and was not refused.
    pub fn count(&self, threshold: u64) -> bool {
        self.calls.set(self.calls.get() + 1);
        self.calls.get() > threshold
            && !self.is_pending.get()
            && self.refusal.borrow().is_none()
            && self.versions.get() < MAX_VERSIONS
            && self.unit().is_none()
    }

    /// The task to compile: the function with the hints so far, without the failed speculations.
    /// [`count`](Self::count) returns false until [`installed`](Self::installed) receives the
    /// result.
    pub fn task(&self, parts: UnitParts) -> Task {
        self.is_pending.set(true);
        let mut code = Code::clone(&self.code);
        for (instr, seen) in code.instrs.iter_mut().zip(&*self.seen.borrow()) {
            if !seen.is_empty() {
                instr.hint = seen.clone();
            }
        }
        Task::function(Arc::new(code), parts)
            .publish_in(self.cell.clone())
            .avoid(self.avoid.borrow().clone())
    }

    /// Receives the result of the task. A stale result may be tried again.
    pub fn installed(&self, made: Result<UnitHandle, InstallError>) {
        self.is_pending.set(false);
        match made {
            Ok(unit) => {
                self.versions.set(self.versions.get() + 1);
                *self.unit.borrow_mut() = Some(unit);
            }
            Err(reason) if reason.is_stale() => {}
            Err(reason) => *self.refusal.borrow_mut() = Some(reason),
        }
    }

    /// The unit to call, if there is a valid one.
    pub fn unit(&self) -> Option<UnitHandle> {
        let mut unit = self.unit.borrow_mut();
        // An invalid unit is dropped, so that its code can be freed.
        let invalid = unit.take_if(|unit| !unit.is_valid());
        let valid = unit.clone();
        drop(unit);
        drop(invalid);
        valid
    }

    /// The reason why it is not compiled.
    pub fn refusal(&self) -> Option<InstallError> {
        self.refusal.borrow().clone()
    }

    /// Receives a side exit of its unit. A speculation that has failed often enough makes the unit
    /// invalid and is not repeated.
    pub fn left(&self, exit: &Exit<'_>) {
        let record = exit.record();
        if record.reason.is_bet() && exit.count() >= PATIENCE {
            self.avoid.borrow_mut().insert((record.pc, record.reason));
            exit.invalidate();
        }
    }
}
