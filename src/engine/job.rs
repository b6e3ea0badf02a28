//! Compiles as values: a task, and a job that runs it on another thread.

use super::compiler::{Generator, Request, Unit};
use super::error::{CompileError, InstallError, InstallFault};
use super::units::{Link, Shared, Ticket, UnitHandle};
use super::{Engine, Entry, FrozenRequest, UnitParts};
use crate::bytecode::{Code, Met, Pc, Reason};
use crate::host::{FrozenWorld, World};
use crate::types::Type;
use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A task to compile: the code with its hints, the entry, and what is known from earlier runs.
///
/// ```no_run
/// # use cladonia::engine::{Engine, InstallError, Task, UnitHandle};
/// # use cladonia::{bytecode::Code, host::{UnitParts, World}};
/// # use std::sync::Arc;
/// # fn build(engine: &mut Engine, code: Arc<Code>, parts: UnitParts, world: &dyn World)
/// #     -> Result<UnitHandle, InstallError> {
/// let cell = engine.entry_cell(code.argcount as usize)?;
/// let task = Task::function(code, parts).publish_in(Some(cell));
/// engine.build(task, world)
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Task {
    pub(super) code: Arc<Code>,
    pub(super) entry: Entry,
    live: Vec<Type>,
    pub(super) parts: UnitParts,
    pub(super) cell: Option<super::EntryCell>,
    avoid: HashSet<(Pc, Reason)>,
    met: HashMap<Pc, Met>,
    pub(super) can_force: bool,
}

impl Task {
    /// Code that is entered in this form. The engine fills in the token, the cells and the loop
    /// counter of the parts.
    pub fn new(code: Arc<Code>, entry: Entry, parts: UnitParts) -> Task {
        Task {
            code,
            entry,
            live: Vec::new(),
            parts,
            cell: None,
            avoid: HashSet::new(),
            met: HashMap::new(),
            can_force: false,
        }
    }

    /// A function that is called with objects.
    pub fn function(code: Arc<Code>, parts: UnitParts) -> Task {
        Task::new(code, Entry::Function, parts)
    }

    /// A loop that is entered at its header from a frame of the interpreter, whose locals and stack
    /// entries have these types.
    pub fn on_stack(code: Arc<Code>, header: Pc, live: Vec<Type>, parts: UnitParts) -> Task {
        Task::new(code, Entry::Loop(header), parts).live(live)
    }

    /// Sets the types of the arguments (at a loop: of the locals, and of the stack entries after
    /// them) as they are now. For arguments there may be fewer, or none.
    pub fn live(mut self, live: impl Into<Vec<Type>>) -> Task {
        self.live = live.into();
        self
    }

    /// Sets the cell in which a function unit is published while it is valid.
    pub fn publish_in(mut self, cell: Option<super::EntryCell>) -> Task {
        self.cell = cell;
        self
    }

    /// Sets the speculations that must not be repeated: (instruction, reason).
    pub fn avoid(mut self, avoid: HashSet<(Pc, Reason)>) -> Task {
        self.avoid = avoid;
        self
    }

    /// Sets the classes of receivers that were observed where the speculated class was wrong, by
    /// instruction.
    pub fn met(mut self, met: HashMap<Pc, Met>) -> Task {
        self.met = met;
        self
    }

    /// Sets if exits may be forced though their guards hold ([`UnitHandle::force`]). The unit is
    /// slower then.
    pub fn forcible(mut self, can_force: bool) -> Task {
        self.can_force = can_force;
        self
    }

    /// The code, with its hints.
    pub fn code(&self) -> &Arc<Code> {
        &self.code
    }

    /// The entry.
    pub fn entry(&self) -> Entry {
        self.entry
    }

    /// The request to compile it.
    fn request<'a>(&'a self, parts: UnitParts, world: &'a dyn World) -> Request<'a> {
        Request::new(&self.code, self.entry, parts, world)
            .live(&self.live)
            .avoid(&self.avoid)
            .met(&self.met)
    }
}

/// Compiles a task with these parts by `compile`. A panic is an
/// [internal](CompileError::is_internal) error.
pub(super) fn compile(
    task: &Task,
    parts: UnitParts,
    world: &dyn World,
    compile: impl FnOnce(Request<'_>) -> Result<Unit, CompileError>,
) -> Result<Unit, CompileError> {
    let request = task.request(parts, world);
    catch_unwind(AssertUnwindSafe(|| compile(request)))
        .unwrap_or_else(|panic| Err(CompileError::internal(panic_text(&*panic))))
}

pub(super) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
        .unwrap_or_else(|| "a panic".to_owned())
}

/// A task with the facts that it needs, for any thread.
pub struct Job {
    // Boxed, since a job is moved often.
    inner: Box<Inner>,
}

struct Inner {
    task: Task,
    request: FrozenRequest,
    generator: Generator,
    link: Arc<Link>,
    ticket: Ticket,
}

/// The result of a job. It goes back to the engine: [`super::Engine::install`].
pub struct Finished {
    inner: Box<Inner>,
    /// None if the job must run again with more answers.
    made: Option<Result<Box<Unit>, CompileError>>,
}

/// The result of installing.
#[derive(Debug)]
pub enum Installed {
    /// The unit is installed.
    Unit(UnitHandle),
    /// The compile made queries that the frozen facts could not answer; now they can. The job must
    /// run again.
    Again(Job),
}

/// The content of [`Finished`], for the engine.
pub(super) enum Parts {
    Again(Job),
    Made {
        task: Box<Task>,
        link: Arc<Link>,
        made: Result<Box<Unit>, CompileError>,
    },
}

impl Job {
    pub(super) fn new(engine: &mut Engine, task: Task, world: &dyn World) -> Job {
        let ticket = Ticket::new(&engine.shared);
        let link = Link::new(task.can_force);
        let request = task.request(link.fill(&task.parts), world);
        let request = engine.freeze(request, None);
        Job {
            inner: Box::new(Inner {
                generator: engine.generator(),
                request,
                task,
                link,
                ticket,
            }),
        }
    }

    /// The task.
    pub fn task(&self) -> &Task {
        &self.inner.task
    }

    /// Its facts.
    pub fn frozen(&self) -> &FrozenWorld {
        self.inner.request.world()
    }

    /// Compiles on this thread. Calls nothing of the host.
    pub fn run(self) -> Finished {
        let mut inner = self.inner;
        if !inner.ticket.is_open() {
            let made = Some(Err(CompileError::engine_dropped()));
            return Finished { inner, made };
        }
        let Inner {
            request, generator, ..
        } = &mut *inner;
        let made = generator.compile(request);
        let made = made.map(|made| made.map(Box::new));
        Finished { inner, made }
    }
}

impl Finished {
    /// The reason why nothing was compiled, if so. It is
    /// [`EngineDropped`](super::CompileReason::EngineDropped) if the engine was gone when the job
    /// ran, and there is no engine in which to install anything.
    pub fn error(&self) -> Option<&CompileError> {
        self.made.as_ref()?.as_ref().err()
    }

    pub(super) fn is_of(&self, shared: &Arc<Shared>) -> bool {
        self.inner.ticket.is_of(shared)
    }

    /// The unit to install, unless it is stale.
    pub(super) fn into_parts(self, world: &dyn World) -> Result<Parts, InstallError> {
        let Finished { mut inner, made } = self;
        let stale = match &made {
            Some(Ok(unit)) => inner.ticket.first_changed(unit.assumptions.iter()),
            Some(Err(_)) => None,
            None => inner
                .ticket
                .first_changed(inner.request.world().assumptions()),
        };
        if let Some(assumption) = stale {
            let name = inner.task.code.name.clone();
            inner.ticket.count_stale();
            return Err(InstallFault::Stale { name, assumption }.into());
        }
        let Some(made) = made else {
            inner.request.answer(world);
            return Ok(Parts::Again(Job { inner }));
        };
        let Inner { task, link, .. } = *inner;
        let task = Box::new(task);
        Ok(Parts::Made { task, link, made })
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job")
            .field("function", &self.inner.task.code.name)
            .field("facts", &self.inner.request.world().len())
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Finished")
            .field("function", &self.inner.task.code.name)
            .finish_non_exhaustive()
    }
}

const _: () = {
    const fn sent<T: Send>() {}
    sent::<Job>();
    sent::<Finished>();
};
