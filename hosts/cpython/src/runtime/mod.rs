//! The runtime: everything between compiled code and the interpreter that hosts it.
//!
//! # Terms
//! A **unit** is one piece of compiled code: the body of a function (entered by a call), or the
//! rest of a running frame (entered at a loop header). A **native frame** is a real interpreter
//! frame that a unit runs in; it carries a mark and the unit's token. The **entry cell** of a
//! function holds the address that native callers jump through: its unit, or a **fallback** that
//! runs the call in the interpreter.
//!
//! # Modules
//! | file | owns |
//! | --- | --- |
//! | `gil` | proof of having the GIL, and access to the state |
//! | `capi` | declarations that `pyo3-ffi` lacks |
//! | `units` | a unit's state, invalidation, freeing |
//! | `frames` | native frames: LIR that pushes and pops them, materialising raw locals |
//! | `closed` | closed units: raw entries, and the exits that their frames are rebuilt from |
//! | `exits` | the exit hook: from an exit record to the interpreter |
//! | `rebuilt` | frames that compiled code elided, built at a side exit |
//! | `generators` | units of generators, and their entries |
//! | `front` | start-up, and the translation of objects into the compiler's input |
//! | `entries` | entry stubs, fallbacks, binding of arguments |
//! | `function_state` | the record kept for each code object and its functions |
//! | `compiler` | the compiler, created on first use |
//! | `compiling` | requests to the compiler, installation |
//! | `worth` | the cost model: does compiling pay? |
//! | `chosen` | modules that the user excludes from compiling |
//! | `advice` | warnings about functions that the user asked to compile |
//! | `listening` | code objects whose monitoring events are on |
//! | `pauses` | times during which they are off |
//! | `workers` | threads that generate code beside the program |
//! | `monitoring` | hotness, on-stack replacement |
//! | `watchers` | assumptions, and the events that break them |
//! | `healing` | failing guards, recompiles, forced exits |
//! | `ended` | threads that the interpreter ends |
//! | `recording` | data recorded during a run for the report |
//! | `symbols` | names of machine code for profilers and debuggers |
//! | `stats`, `api` | the interface seen from Python |
//!
//! # Invariants
//! - All state is guarded by the GIL and reached through its token ([`Gil`]). A table is never
//!   borrowed across a call that may run Python code: that code may need the same table, and a
//!   second borrow would panic.
//! - No panic unwinds into C: every entry from C that may run the compiler catches it.

pub use crate::abi;

pub mod advice;
pub mod api;
mod callees;
pub mod capi;
pub mod chosen;
pub mod chunks;
pub mod closed;
pub mod compiler;
pub mod compiling;
pub mod ended;
pub mod entries;
pub mod exits;
pub mod frames;
pub mod front;
pub mod function_state;
pub mod generators;
mod gil;
pub mod healing;
pub mod listening;
pub mod listing;
pub mod local_events;
pub mod locals_proxy;
pub mod monitoring;
pub mod pauses;
pub mod rebuilt;
pub mod recording;
pub mod sampling;
pub mod stats;
pub mod symbols;
pub mod units;
pub mod watchers;
pub mod workers;
pub mod worth;

use crate::cache::Folder;
use capi::{AddressMap, Object};
use cladonia::code::CodeMemory;
use cladonia::engine::Execution;
use cladonia::engine::cache::Cache;
use function_state::{CodeState, Installed};
pub use gil::{Gil, is_started};
use healing::ForceExit;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_void;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Options of `enable`, except [`Runtime::without`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Interpreted calls before a function is compiled; 0 compiles before the first.
    pub threshold: u64,
    /// The policy that makes guards fail on purpose; `None` in normal use.
    pub force: Option<ForceExit>,
    /// The unit's form: machine code, or LIR run by the interpreter (the oracle).
    pub execution: Execution,
    /// True if facts about memory are compiled to run-time checks (a test mode).
    pub check_facts: bool,
    /// True if the cost model decides when to compile; otherwise the threshold alone does.
    pub weighs: bool,
    /// Threads that generate code beside the program; with 0 the thread that requests a unit
    /// generates it.
    pub compile_threads: u32,
}

impl Options {
    /// True if [workers] generate the code. They do not with a threshold of 0 (each function is
    /// compiled before its first call), with forced exits, or in the oracle: these modes must be
    /// deterministic.
    pub fn works_beside(&self) -> bool {
        self.compile_threads != 0
            && self.threshold != 0
            && self.force.is_none()
            && self.execution == Execution::Machine
    }

    /// Back edges before a loop is compiled.
    pub fn loop_threshold(&self) -> u64 {
        self.threshold * BACK_EDGES_PER_CALL
    }
}

/// The default number of calls before a function is compiled.
///
/// Compiling one instruction takes as long as interpreting it about 2,000 times, so a lower count
/// cannot pay; and a program that waits until about that much time was spent never loses more than
/// half.
pub const DEFAULT_THRESHOLD: u64 = 1000;
const BACK_EDGES_PER_CALL: u64 = 2;
/// The default number of threads that generate code.
pub const DEFAULT_COMPILE_THREADS: u32 = 1;

impl Default for Options {
    fn default() -> Options {
        Options {
            threshold: DEFAULT_THRESHOLD,
            force: None,
            execution: Execution::Machine,
            check_facts: false,
            weighs: true,
            compile_threads: DEFAULT_COMPILE_THREADS,
        }
    }
}

/// All state of the runtime. It is shared, so everything that changes is in cells: one cell for
/// each counter, flag and table. A table is borrowed only while it is read or written, never across
/// a call that may run Python code.
pub struct Runtime {
    /// True while hot code is compiled and entered.
    pub on: Cell<bool>,
    /// Number of active helpers whose own Python code must not be compiled.
    pub quiet: Cell<u32>,
    /// True once the process is ending: nothing is compiled or installed any more.
    pub finished: Cell<bool>,
    /// Options.
    pub options: Cell<Options>,
    /// Compiler passes that are disabled.
    pub without: RefCell<Vec<cladonia::engine::Pass>>,
    /// Translates the interpreter's objects into the compiler's input.
    pub front: compiler::Front,
    /// Entries of forgotten code objects, which native code may still refer to.
    pub buried: RefCell<Vec<Rc<function_state::Entry>>>,
    /// The compiler.
    pub compiler: compiler::Compiler,
    /// The state of each code object, by address.
    pub codes: RefCell<AddressMap<Rc<CodeState>>>,
    /// Functions whose entry was replaced, by address.
    pub functions: RefCell<AddressMap<Installed>>,
    /// The most recently called entries of native code.
    pub stubs: entries::Stubs,
    /// Units that may not be entered any more but may still be running.
    pub retired: RefCell<Vec<units::UnitRef>>,
    /// Frames of closed units that are exiting, innermost first.
    pub recorded: RefCell<Vec<rebuilt::Rebuilt>>,
    /// The units that watch each part of the program.
    pub watches: watchers::Watches,
    /// Detects code that lists objects through the collector (`gc.get_objects()`).
    pub listing: listing::Listing,
    /// Detects code that reads the locals of native frames.
    pub proxies: locals_proxy::Proxies,
    /// The monitoring tool.
    pub monitor: monitoring::Monitor,
    /// Records which code objects get local monitoring events.
    pub local_events: local_events::LocalEvents,
    /// Fallback stubs by arity.
    pub fallbacks: RefCell<HashMap<usize, cladonia::engine::CompiledCode>>,
    /// The `vectorcall` entry that CPython gives to new functions.
    pub original_vectorcall: *const c_void,
    /// `NotCompiled`.
    pub not_compiled: Object,
    /// Nesting depth of compiles in which a caller waits for its callee.
    pub compile_depth: Cell<u32>,
    /// Sums for the statistics.
    pub totals: stats::Totals,
    /// Modules that the user excludes from compiling.
    pub chosen: chosen::Chosen,
    /// Warnings about functions that the user asked to compile.
    pub advice: advice::Advice,
    /// Data recorded during a run for the report.
    pub recording: recording::Recording,
    /// Names of machine code for profilers and debuggers.
    pub symbols: symbols::Symbols,
    /// Times during which no code is monitored.
    pub pauses: pauses::Pauses,
    /// Code objects that are monitored.
    pub listening: listening::Listening,
    /// The threads that generate code beside the program.
    pub workers: workers::Workers,
    /// Machine code shared between processes.
    pub cache: RefCell<Option<CodeCache>>,
    /// Guards numbered so far, over all units (for forced exits one by one).
    pub guards_numbered: Cell<u64>,
}

/// Machine code shared between processes: the compiler's view of it, and its folder.
pub struct CodeCache {
    /// The compiler's view.
    pub code: Arc<Cache>,
    /// The folder.
    pub folder: Arc<Folder>,
}

impl Runtime {
    /// True if a compile can start now: the compiler is idle, and the process is not ending.
    pub fn can_compile(&self) -> bool {
        !self.compiler.is_at_work() && !self.finished.get()
    }

    /// The state of a code object, if it has one.
    pub fn state(&self, code: Object) -> Option<Rc<CodeState>> {
        self.codes.borrow().get(&(code as usize)).cloned()
    }

    /// True if a function's entry was replaced.
    pub fn is_installed(&self, func: Object) -> bool {
        self.functions.borrow().contains_key(&(func as usize))
    }

    /// True if an entry of one of a code object's functions was replaced.
    pub fn is_code_installed(&self, code: Object) -> bool {
        let functions = self.functions.borrow();
        functions.values().any(|installed| installed.code == code)
    }

    /// Sets the folder that keeps machine code from now on, or none. The folder is not used with
    /// forced exits (which must be deterministic) or in the oracle (which has no machine code).
    /// Running workers keep the folder that they have.
    pub fn use_cache(&self, folder: Option<PathBuf>) {
        let options = self.options.get();
        let folder =
            folder.filter(|_| options.force.is_none() && options.execution == Execution::Machine);
        let mut cache = self.cache.borrow_mut();
        if cache.as_ref().map(|cache| cache.folder.path()) != folder.as_deref() {
            *cache = folder.map(|path| {
                let folder = Folder::new(path, crate::cache::LIMIT, workers::wake);
                let folder = Arc::new(folder);
                let store = Box::new(crate::cache::Shared(folder.clone()));
                let code = Arc::new(Cache::new(store));
                CodeCache { code, folder }
            });
        }
        drop(cache);
        self.compiler
            .if_made(|engine| engine.set_cache(self.code_cache()));
    }

    /// The cache that is searched before code is generated.
    fn code_cache(&self) -> Option<Arc<Cache>> {
        Some(self.cache.borrow().as_ref()?.code.clone())
    }

    /// The units of all code objects that may be entered.
    pub fn units(&self) -> Vec<units::UnitRef> {
        let codes = self.codes.borrow();
        codes.values().flat_map(|state| state.units()).collect()
    }
}

/// Runs `body`, which runs Python code of Cladonia's own, without compiling that code. Otherwise a
/// helper that needs the interpreter could be compiled into a call of itself.
pub fn interpreted<R>(gil: Gil, body: impl FnOnce() -> R) -> R {
    let runtime = gil.started();
    if let Some(runtime) = runtime {
        runtime.quiet.update(|quiet| quiet + 1);
    }
    let result = body();
    if let Some(runtime) = runtime {
        runtime.quiet.update(|quiet| quiet - 1);
    }
    result
}

/// Creates the runtime. Nothing is watched or counted before `enable`.
///
/// # Panics
/// If it is up.
///
/// # Safety
/// `original_vectorcall` is the entry of plain functions.
pub unsafe fn start(
    gil: Gil,
    memory: CodeMemory,
    front: compiler::Front,
    original_vectorcall: *const c_void,
    not_compiled: Object,
) {
    let runtime = Box::new(Runtime {
        on: Cell::new(false),
        quiet: Cell::new(0),
        finished: Cell::new(false),
        local_events: local_events::LocalEvents::default(),
        options: Cell::default(),
        without: RefCell::default(),
        front,
        buried: RefCell::default(),
        compiler: compiler::Compiler::new(memory),
        codes: RefCell::default(),
        functions: RefCell::default(),
        stubs: entries::Stubs::new(),
        retired: RefCell::default(),
        recorded: RefCell::default(),
        watches: watchers::Watches::default(),
        listing: listing::Listing::default(),
        proxies: locals_proxy::Proxies::default(),
        monitor: monitoring::Monitor::default(),
        fallbacks: RefCell::default(),
        original_vectorcall,
        not_compiled,
        compile_depth: Cell::new(0),
        totals: stats::Totals::default(),
        chosen: chosen::Chosen::default(),
        advice: advice::Advice::default(),
        recording: recording::Recording::default(),
        symbols: symbols::Symbols::default(),
        pauses: pauses::Pauses::default(),
        listening: listening::Listening::default(),
        workers: workers::Workers::default(),
        cache: RefCell::default(),
        guards_numbered: Cell::new(0),
    });
    gil.publish(runtime);
}
