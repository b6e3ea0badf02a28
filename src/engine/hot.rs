//! The state of one function before and after it is compiled: observed types, counts of calls and
//! back edges, the compiled units, and failed speculations. A host keeps one [`Hot`] with each
//! function.

use super::error::InstallError;
use super::job::Task;
use super::units::{Exit, UnitHandle};
use super::{EntryCell, UnitParts};
use crate::bytecode::{Code, Pc, Reason};
use crate::host::Callee;
use crate::types::Type;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The number of times that a speculation fails before it is not repeated.
const PATIENCE: u64 = 3;
/// The number of units after which the function, or the loop, stays in the interpreter.
const MAX_VERSIONS: u32 = 5;

/// See the module's documentation. It belongs to the host's thread.
///
/// ```no_run
/// # use cladonia::engine::{Engine, Hot, UnitHandle};
/// # use cladonia::{bytecode::Pc, host::{UnitParts, World}, types::Type};
/// # fn call(hot: &Hot, engine: &mut Engine, parts: UnitParts, world: &dyn World) {
/// // A call: compile the function if it is hot.
/// if hot.count(10) {
///     hot.installed(engine.build(hot.task(parts), world));
/// }
/// let unit: Option<UnitHandle> = hot.unit();
/// # }
/// # fn jump(hot: &Hot, header: Pc, locals: Vec<Type>, engine: &mut Engine, parts: UnitParts,
/// #     world: &dyn World) {
/// // A backward jump: compile the loop if it is hot.
/// if hot.count_back_edge(header, 100) {
///     let task = hot.loop_task(header, locals, parts);
///     hot.loop_installed(header, engine.build(task, world));
/// }
/// let unit: Option<UnitHandle> = hot.loop_unit(header);
/// # }
/// ```
#[derive(Debug)]
pub struct Hot {
    code: Arc<Code>,
    cell: Option<EntryCell>,
    function: Progress,
    /// The loops that were entered again, by their headers.
    loops: RefCell<BTreeMap<Pc, Progress>>,
    seen: RefCell<Vec<Vec<Type>>>,
    avoid: RefCell<HashSet<(Pc, Reason)>>,
}

/// The progress of one entry to its unit.
#[derive(Debug, Default)]
struct Progress {
    count: Cell<u64>,
    versions: Cell<u32>,
    is_pending: Cell<bool>,
    unit: RefCell<Option<UnitHandle>>,
    refusal: RefCell<Option<InstallError>>,
}

impl Progress {
    /// Counts one execution. Returns true if the entry should be compiled now.
    fn count(&self, threshold: u64) -> bool {
        self.count.set(self.count.get() + 1);
        let has_unit = || {
            self.unit
                .borrow()
                .as_ref()
                .is_some_and(UnitHandle::is_valid)
        };
        self.count.get() > threshold
            && !self.is_pending.get()
            && self.refusal.borrow().is_none()
            && self.versions.get() < MAX_VERSIONS
            && !has_unit()
    }

    /// Receives the result of a task. Returns the unit before. A stale result may be tried again.
    fn installed(&self, made: Result<UnitHandle, InstallError>) -> Option<UnitHandle> {
        self.is_pending.set(false);
        match made {
            Ok(unit) => {
                self.versions.set(self.versions.get() + 1);
                return self.unit.borrow_mut().replace(unit);
            }
            Err(reason) if reason.is_stale() => {}
            Err(reason) => *self.refusal.borrow_mut() = Some(reason),
        }
        None
    }

    /// The unit to call, if there is a valid one; and an invalid one to drop, so that its code can
    /// be freed. The caller drops it while nothing is borrowed.
    fn unit(&self) -> (Option<UnitHandle>, Option<UnitHandle>) {
        let mut unit = self.unit.borrow_mut();
        let invalid = unit.take_if(|unit| !unit.is_valid());
        (unit.clone(), invalid)
    }
}

impl Hot {
    /// A function that has not run. Its units are published in the cell.
    pub fn new(code: Arc<Code>, cell: Option<EntryCell>) -> Hot {
        Hot {
            seen: RefCell::new(vec![Vec::new(); code.instrs.len()]),
            code,
            cell,
            function: Progress::default(),
            loops: RefCell::default(),
            avoid: RefCell::default(),
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
        self.function.count(threshold)
    }

    /// Counts a jump back to a loop's header. Returns true if the loop should be compiled now, for
    /// on-stack replacement: more than `threshold` jumps were counted, the loop has no valid unit,
    /// and was not refused.
    pub fn count_back_edge(&self, header: Pc, threshold: u64) -> bool {
        let mut loops = self.loops.borrow_mut();
        loops.entry(header).or_default().count(threshold)
    }

    /// The task to compile: the function with the hints so far, without the failed speculations.
    /// [`count`](Self::count) returns false until [`installed`](Self::installed) receives the
    /// result.
    pub fn task(&self, parts: UnitParts) -> Task {
        self.function.is_pending.set(true);
        Task::function(self.hinted(), parts)
            .publish_in(self.cell.clone())
            .avoid(self.avoid.borrow().clone())
    }

    /// The task to compile a loop for frames whose locals, and stack entries after them, have these
    /// types. [`count_back_edge`](Self::count_back_edge) returns false until
    /// [`loop_installed`](Self::loop_installed) receives the result.
    pub fn loop_task(&self, header: Pc, live: impl Into<Vec<Type>>, parts: UnitParts) -> Task {
        let mut loops = self.loops.borrow_mut();
        loops.entry(header).or_default().is_pending.set(true);
        Task::on_stack(self.hinted(), header, live.into(), parts).avoid(self.avoid.borrow().clone())
    }

    /// The code with the hints so far.
    fn hinted(&self) -> Arc<Code> {
        let mut code = Code::clone(&self.code);
        for (instr, seen) in code.instrs.iter_mut().zip(&*self.seen.borrow()) {
            if !seen.is_empty() {
                instr.hint = seen.clone();
            }
        }
        Arc::new(code)
    }

    /// Receives the result of the task. A stale result may be tried again.
    pub fn installed(&self, made: Result<UnitHandle, InstallError>) {
        drop(self.function.installed(made));
    }

    /// Receives the result of a loop's task. A stale result may be tried again.
    pub fn loop_installed(&self, header: Pc, made: Result<UnitHandle, InstallError>) {
        let mut loops = self.loops.borrow_mut();
        let before = loops.entry(header).or_default().installed(made);
        // A handle is dropped while nothing is borrowed.
        drop(loops);
        drop(before);
    }

    /// The unit to call, if there is a valid one.
    pub fn unit(&self) -> Option<UnitHandle> {
        self.function.unit().0
    }

    /// The unit of a loop, if there is a valid one.
    pub fn loop_unit(&self, header: Pc) -> Option<UnitHandle> {
        let loops = self.loops.borrow();
        let (unit, invalid) = loops.get(&header)?.unit();
        drop(loops);
        drop(invalid);
        unit
    }

    /// The reason why it is not compiled.
    pub fn refusal(&self) -> Option<InstallError> {
        self.function.refusal.borrow().clone()
    }

    /// The reason why a loop is not compiled.
    pub fn loop_refusal(&self, header: Pc) -> Option<InstallError> {
        let loops = self.loops.borrow();
        loops.get(&header)?.refusal.borrow().clone()
    }

    /// Receives a side exit of one of its units. A speculation that has failed often enough makes
    /// the unit invalid and is not repeated.
    pub fn left(&self, exit: &Exit<'_>) {
        let record = exit.record();
        if record.reason.is_bet() && exit.count() >= PATIENCE {
            self.avoid.borrow_mut().insert((record.pc, record.reason));
            exit.invalidate();
        }
    }
}
