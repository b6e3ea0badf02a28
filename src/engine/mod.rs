//! The public API: an engine compiles a host's functions, installs them, and keeps account of them.
//!
//! There are two ways to use it.
//!
//! - **Managed.** [`Engine::build`] compiles a [`Task`] at once, or [`Engine::job`] creates a
//!   [`Job`] that any thread may run and whose result [`Engine::install`] takes. Both give a
//!   [`UnitHandle`]. The engine creates the cells that compiled code tests, watches the assumptions
//!   of units ([`Engine::changed`]), publishes entries in [`EntryCell`]s, counts exits, and frees
//!   code. This is for new hosts; `examples/tiny_host/main.rs` is a complete one. [`Hot`] has the
//!   other data that a function needs: counts, hints, and failed speculations.
//! - **By hand.** [`Engine::compile`] gives a [`Unit`], and the host does the rest.
//!   [`Engine::freeze`] creates a [`FrozenRequest`], which a [`Generator`] compiles on another
//!   thread: a job consists of these.
//!
//! # When code is freed
//! A unit's code is freed when its last handle is gone and no activation can be inside. The engine
//! has a handle of every valid unit in its list ([`Engine::units`]): an invalid or forgotten unit
//! leaves the list. An activation is a call from the host into native code ([`UnitHandle::call`],
//! [`UnitHandle::activate`]); while there is one, units without handles wait, since calls between
//! native functions are not counted.
//!
//! # When an engine is dropped
//! Its units become invalid: running native code exits at its next check, and calls give a
//! [`CallError`] that [`is_invalid`](CallError::is_invalid). The code stays mapped until the last
//! activation has ended and the last handle is gone. A running job ends with
//! [`CompileReason::EngineDropped`].
//!
//! # Collectors
//! A host whose objects are traced ([`Lifetimes::Traced`](crate::host::Lifetimes::Traced)) finds
//! the references in native frames with [`NativeStack::visit`](crate::code::NativeStack::visit), to
//! which it passes the engine's [memory](Engine::memory): a clone of that can be used while the
//! engine itself is borrowed.
//!
//! # Threads
//! A job runs anywhere. All else belongs to the host's thread (or to the thread that has the host's
//! lock): handles may be sent and dropped elsewhere, but code is called where the host allows its
//! objects to be used.

mod account;
pub mod cache;
mod compiler;
mod error;
mod frozen;
mod hot;
pub mod inference;
mod job;
mod options;
mod oracle;
mod routines;
mod stubs;
mod units;

pub use crate::codegen::CompiledCode;
pub use crate::hir::InlinedCode;
pub use crate::host::{Entry, Pins, RawMap, Replay, UnitParts};
pub use crate::infer::paths::QuestionCost;
pub use crate::opt::{Log, Pass, optional as optional_passes};
pub use account::{Account, ExitInfo, Statistics, UnitInfo};
pub use compiler::{Generator, MAX_HIR, Request, Unit};
pub use error::{CallError, CompileError, CompileReason, InstallError, InstallReason};
pub use frozen::FrozenRequest;
pub use hot::Hot;
pub use job::{Finished, Installed, Job, Task};
pub use options::{CompileOptions, Verification};
pub use oracle::{Execution, Interpreted, OracleCounts, Planted};
pub use stubs::EntryCell;
pub use units::{Activation, Exit, UnitHandle, UnitId};

use crate::code::CodeMemory;
use crate::codegen::Cache;
use crate::host::{Host, Recorder, World};
use crate::lir::Func;
use compiler::{Compiler, Stop};
use error::InstallFault;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use units::{Shared, Ticket};

/// The compiler, with its code memory and its units.
///
/// [`build`](Engine::build) compiles a host's functions; the [crate's page](crate) has an example.
/// It also compiles functions that a host writes in LIR:
///
/// ```
/// use cladonia::code::{CodeMemory, Config};
/// use cladonia::engine::Engine;
/// use cladonia::{host::HostBuilder, lir, types::HostId};
/// use std::sync::Arc;
///
/// extern "C" fn exit(_unit: u64, _exit: u64, _buffer: *const u64) -> *mut u8 {
///     unreachable!("there are no units")
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut host = HostBuilder::new("example", HostId::new());
/// host.partial().define("exit", exit as extern "C" fn(_, _, _) -> _);
/// let host = Arc::new(host.finish()?);
/// let twice = r#"function "twice"(i64) -> i64 {
/// block0(v0: i64):
///   v1 = iadd v0, v0
///   return v1
/// }"#;
/// let twice = lir::parse(twice, host.helpers())?;
/// let mut engine = Engine::new(host, CodeMemory::new(Config::new())?)?;
/// let code = engine.compile_stub(&twice)?;
/// // SAFETY: the code has this signature.
/// let twice: extern "C" fn(i64) -> i64 = unsafe { std::mem::transmute(code.entry()) };
/// assert_eq!(twice(21), 42);
/// # Ok(())
/// # }
/// ```
pub struct Engine {
    compiler: Compiler,
    shared: Arc<Shared>,
    /// The recorded inputs: see [`Engine::set_recording`].
    recording: Option<Vec<String>>,
}

impl Engine {
    /// An engine for a host.
    ///
    /// # Errors
    /// If the machine is not supported.
    pub fn new(host: Arc<Host>, memory: CodeMemory) -> Result<Engine, CompileError> {
        Ok(Engine {
            compiler: Compiler::new(host, memory)?,
            shared: Arc::default(),
            recording: None,
        })
    }

    /// The host.
    pub fn host(&self) -> &Arc<Host> {
        self.compiler.host()
    }

    /// The oracle's counts so far.
    pub fn oracle_counts(&self) -> OracleCounts {
        self.compiler.counters.read()
    }

    /// The options of compiles from now on.
    pub fn options(&self) -> &CompileOptions {
        &self.compiler.options
    }

    /// Sets the options of compiles from now on. Existing units and jobs keep theirs.
    pub fn set_options(&mut self, options: CompileOptions) {
        self.compiler.options = options;
    }

    /// Records the input of each [`Engine::compile`] and [`Engine::build`] from now on, also of
    /// those that give no unit, after these: sections of a document, from which
    /// [`read_units`](crate::host::read_units) reads each compile back. `None` ends the recording.
    /// Returns the recording so far.
    pub fn set_recording(&mut self, recording: Option<Vec<String>>) -> Option<Vec<String>> {
        std::mem::replace(&mut self.recording, recording)
    }

    /// Returns true if inputs are recorded.
    pub fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// The code memory.
    pub fn memory(&self) -> &CodeMemory {
        self.compiler.memory()
    }

    /// Compiles a unit, and leaves the rest to the caller: its cells, its watches, its entry, and
    /// its release.
    ///
    /// # Errors
    /// [`CompileError`] for an unsupported construct, an exceeded limit, or a bug of Cladonia. The
    /// function then stays in the host's interpreter.
    ///
    /// # Panics
    /// On a broken invariant of the compiler; a host that must not unwind catches it and treats it
    /// as `Internal`.
    pub fn compile(&mut self, request: Request<'_>) -> Result<Unit, CompileError> {
        let compile = |compiler: &mut Compiler, request: &Request<'_>| {
            compiler.compile(request, None).map_err(|stop| match stop {
                Stop::Failed(error) => error,
                Stop::LacksAnswers => unreachable!("without a memo it does not stop"),
            })
        };
        if !self.compiler.options.keep_dumps && self.recording.is_none() {
            return compile(&mut self.compiler, &request);
        }
        let recorder = Recorder::new(request.world);
        let request = Request {
            world: &recorder,
            ..request
        };
        let made = catch_unwind(AssertUnwindSafe(|| compile(&mut self.compiler, &request)));
        let text = request.replay(recorder.snapshot()).print(self.host());
        if let Some(recording) = &mut self.recording {
            recording.push(text.clone());
        }
        let mut unit = made.unwrap_or_else(|panic| resume_unwind(panic))?;
        unit.replay = Some(text);
        Ok(unit)
    }

    /// A request for another thread's [`Generator`], with the probably needed answers of its
    /// `World`, as they are now. A caller that lets the program run meanwhile must watch their
    /// assumptions ([`FrozenWorld::assumptions`](crate::host::FrozenWorld::assumptions)), keep
    /// their objects alive ([`FrozenWorld::pins`](crate::host::FrozenWorld::pins)), and drop a
    /// stale result. `anywhere` answers queries that do not depend on the program's state, on the
    /// other thread.
    pub fn freeze(
        &mut self,
        request: Request<'_>,
        anywhere: Option<Arc<dyn World + Send + Sync>>,
    ) -> FrozenRequest {
        FrozenRequest::new(self.compiler.options.clone(), request, anywhere)
    }

    /// Sets the cache that is searched before code is generated, and that keeps generated code.
    /// Existing generators and jobs are not affected. Code with text forms, with a planted fault,
    /// or for the oracle is never taken from the cache.
    pub fn set_cache(&mut self, cache: Option<Arc<Cache>>) {
        self.compiler.set_cache(cache);
    }

    /// A compiler for another thread, over the same code memory.
    pub fn generator(&self) -> Generator {
        Generator(self.compiler.fork())
    }

    /// Compiles a stub that a host wrote as LIR (an entry, an adapter). If objects are traced, its
    /// first parameter is the thread, provided that it makes calls that may collect.
    ///
    /// # Errors
    /// As for [`Engine::compile`].
    pub fn compile_stub(&mut self, func: &Func) -> Result<CompiledCode, CompileError> {
        self.compiler.compile_stub(func)
    }

    /// Compiles a task here and installs the unit.
    ///
    /// # Errors
    /// [`InstallError`]. It [`is_stale`](InstallError::is_stale) if a query to the `World` caused a
    /// change of one of the unit's assumptions ([`Account::changed`]). Nothing panics: a broken
    /// invariant of the compiler is an error that [`is_internal`](CompileError::is_internal).
    pub fn build(&mut self, task: Task, world: &dyn World) -> Result<UnitHandle, InstallError> {
        let link = units::Link::new(task.can_force);
        let ticket = Ticket::new(&self.shared);
        let made = job::compile(&task, link.fill(&task.parts), world, |request| {
            self.compile(request)
        });
        if let Ok(unit) = &made
            && let Some(assumption) = ticket.first_changed(unit.assumptions.iter())
        {
            ticket.count_stale();
            let name = task.code.name.clone();
            return Err(InstallFault::Stale { name, assumption }.into());
        }
        self.finish(task, link, made, world)
    }

    /// Compiles a task only for the text of its stages. Nothing is installed or watched, and the
    /// cells that the engine creates for a unit have the address 0, so that texts can be compared.
    /// The unit must not be entered.
    ///
    /// # Errors
    /// As for [`Engine::build`].
    pub fn inspect(&mut self, task: &Task, world: &dyn World) -> Result<Unit, CompileError> {
        let keep = std::mem::replace(&mut self.compiler.options.keep_dumps, true);
        let made = job::compile(task, task.parts.clone(), world, |request| {
            self.compile(request)
        });
        self.compiler.options.keep_dumps = keep;
        made
    }

    /// A task for another thread, with the probably needed facts, as they are now. A change of an
    /// assumption ([`Engine::changed`]) before the result is installed makes it stale.
    pub fn job(&mut self, task: Task, world: &dyn World) -> Job {
        Job::new(self, task, world)
    }

    /// Installs the result of a job, or answers its open queries ([`Installed::Again`]: run that
    /// job too).
    ///
    /// # Errors
    /// [`InstallError`]; it [`is_stale`](InstallError::is_stale) if an assumption of the result has
    /// changed since the job was created.
    pub fn install(
        &mut self,
        finished: Finished,
        world: &dyn World,
    ) -> Result<Installed, InstallError> {
        if !finished.is_of(&self.shared) {
            return Err(InstallFault::OtherEngine.into());
        }
        match finished.into_parts(world)? {
            job::Parts::Again(job) => Ok(Installed::Again(job)),
            job::Parts::Made { task, link, made } => {
                let handle = self.finish(*task, link, made.map(|unit| *unit), world)?;
                Ok(Installed::Unit(handle))
            }
        }
    }

    fn finish(
        &mut self,
        task: Task,
        link: Arc<units::Link>,
        made: Result<Unit, CompileError>,
        world: &dyn World,
    ) -> Result<UnitHandle, InstallError> {
        let arity = match task.entry {
            Entry::Function => task.code.arity() as usize,
            Entry::Loop(_) => 0,
            Entry::Resume => 1,
        };
        let made = made.and_then(|unit| {
            link.check_room(&unit)?;
            Ok((unit, self.adapter(arity)?))
        });
        self.shared.install(task, link, made, world)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("host", &self.host().name)
            .field("memory", self.memory())
            .finish_non_exhaustive()
    }
}
