//! One function's way to machine code: what was observed in it, how often it ran, what is compiled of it, and which bets
//! were lost. A host keeps one [`Hot`] with each function (and one with each loop that it enters on the way).

use super::job::Task;
use super::units::{Exit, InstallError, UnitHandle};
use super::{EntryCell, UnitParts};
use crate::bytecode::{Code, Pc, Reason};
use crate::host::Callee;
use crate::types::Type;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Arc;

/// How often a bet is lost before it is not made again.
const PATIENCE: u64 = 3;
/// How many units are made before the function stays in the interpreter.
const MOST_VERSIONS: u32 = 5;

/// See the module's page. It belongs to the host's thread.
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

    /// The cell it is called through.
    pub fn cell(&self) -> Option<&EntryCell> {
        self.cell.as_ref()
    }

    /// What calling the function does, for [`World::callee`](crate::host::World::callee): it never changes and has no
    /// defaults.
    pub fn callee(&self) -> Callee {
        match &self.cell {
            Some(cell) => Callee::function(self.code.argcount, cell.address()),
            None => Callee::Unknown,
        }
    }

    /// Note the types of an instruction's operands, from the deepest to the top: they are the compiler's hints. What
    /// had several types gets their union.
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

    /// It is about to run; true if it is to be compiled now: it has run more than `threshold` times, has no unit that is
    /// valid, and was not refused.
    pub fn count(&self, threshold: u64) -> bool {
        self.calls.set(self.calls.get() + 1);
        self.calls.get() > threshold
            && !self.is_pending.get()
            && self.refusal.borrow().is_none()
            && self.versions.get() < MOST_VERSIONS
            && self.unit().is_none()
    }

    /// What is to be compiled: the function with the hints so far, without the bets that were lost. Until
    /// [`installed`](Self::installed) is told of the result, [`count`](Self::count) asks for no other one.
    pub fn task(&self, parts: UnitParts) -> Task {
        self.is_pending.set(true);
        let mut code = Code::clone(&self.code);
        for (instr, seen) in code.instrs.iter_mut().zip(&*self.seen.borrow()) {
            if !seen.is_empty() {
                instr.hint = seen.clone();
            }
        }
        Task {
            cell: self.cell.clone(),
            avoid: self.avoid.borrow().clone(),
            ..Task::function(Arc::new(code), parts)
        }
    }

    /// The task was compiled, or not. One that was stale may be tried again.
    pub fn installed(&self, made: Result<UnitHandle, InstallError>) {
        self.is_pending.set(false);
        match made {
            Ok(unit) => {
                self.versions.set(self.versions.get() + 1);
                *self.unit.borrow_mut() = Some(unit);
            }
            Err(InstallError::Stale { .. }) => {}
            Err(reason) => *self.refusal.borrow_mut() = Some(reason),
        }
    }

    /// The unit to call, if there is a valid one.
    pub fn unit(&self) -> Option<UnitHandle> {
        let mut unit = self.unit.borrow_mut();
        // An invalid one is let go, so that its code can be.
        let invalid = unit.take_if(|unit| !unit.is_valid());
        let valid = unit.clone();
        drop(unit);
        drop(invalid);
        valid
    }

    /// Why it is not compiled.
    pub fn refusal(&self) -> Option<InstallError> {
        self.refusal.borrow().clone()
    }

    /// Its unit was left: a bet that was lost often enough makes it invalid and is not made again.
    pub fn left(&self, exit: &Exit<'_>) {
        let record = exit.record();
        if record.reason.is_bet() && exit.count() >= PATIENCE {
            self.avoid.borrow_mut().insert((record.pc, record.reason));
            exit.invalidate();
        }
    }
}
