//! The runtime: everything between compiled code and the interpreter that hosts it.
//!
//! # Terms
//! A **unit** is one piece of compiled code, for calls of a function or for going on from inside a running frame. A
//! **native frame** is a real interpreter frame that a unit runs in; it carries a mark and the unit's token. The
//! **entry cell** of a function holds the address that native callers jump through: its unit, or a **fallback** that
//! runs the call in the interpreter.
//!
//! # Rooms
//! | file | owns |
//! | --- | --- |
//! | `gil` | proof that the lock is held, and the way to the state |
//! | `capi` | what `pyo3-ffi` does not declare |
//! | `units` | a unit's state, invalidation, freeing |
//! | `frames` | native frames: LIR to make and leave them, materialising raw locals |
//! | `closed` | closed units: raw entries, and what they leave when they exit |
//! | `exits` | the exit hook: from an exit record to the interpreter |
//! | `rebuilt` | frames that compiled code did without, built when it leaves |
//! | `generators` | units of generators, and the ways into them |
//! | `front` | the start, and what turns the interpreter's things into the compiler's |
//! | `entries` | entry stubs, fallbacks, binding of arguments |
//! | `function_state` | what is known of a code object and its functions |
//! | `compiling` | requests to the compiler, installation |
//! | `monitoring` | hotness, on-stack replacement |
//! | `watchers` | assumptions and what breaks them |
//! | `healing` | failing bets, recompiles, forced exits |
//! | `ended` | threads that the interpreter ends |
//! | `stats`, `api` | what Python sees |
//!
//! # Invariants
//! - All state is under the GIL, and reached by its token ([`Gil`]). A borrow of a table never lasts over a call that may run Python code: what
//!   that code needs of the table would be refused.
//! - No panic crosses into C: every entry from C that may run the compiler catches it.

pub use crate::abi;

pub mod api;
pub mod capi;
pub mod chunks;
pub mod closed;
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
pub mod listing;
pub mod local_events;
pub mod locals_proxy;
pub mod monitoring;
pub mod rebuilt;
pub mod sampling;
pub mod stats;
pub mod units;
pub mod watchers;

use capi::{AddressMap, Object};
use cladonia::engine::{Engine, Execution};
use function_state::{CodeState, Installed};
pub use gil::{Gil, is_started};
use healing::ForceExit;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_void;
use std::rc::Rc;

/// Options of `enable`, but for [`Runtime::without`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Interpreted calls before a function is compiled; 0 compiles before the first.
    pub threshold: u64,
    /// Guards that fail on purpose.
    pub force: Option<ForceExit>,
    /// Whether what is compiled is machine code or runs in the LIR interpreter.
    pub execution: Execution,
    /// Whether facts about memory become checks.
    pub check_facts: bool,
}

impl Options {
    /// Back edges before a loop is compiled.
    pub fn loop_threshold(&self) -> u64 {
        self.threshold * BACK_EDGES_PER_CALL
    }
}

/// Calls before a function is compiled, if nothing else is asked for.
///
/// To compile an instruction takes as long as to interpret it some 2,000 times, so nothing less has any chance to pay; and who
/// waits until about as much time was spent never loses more than half.
pub const DEFAULT_THRESHOLD: u64 = 1000;
const BACK_EDGES_PER_CALL: u64 = 2;

impl Default for Options {
    fn default() -> Options {
        Options {
            threshold: DEFAULT_THRESHOLD,
            force: None,
            execution: Execution::Machine,
            check_facts: false,
        }
    }
}

/// All state of the runtime. It is shared: what changes is in cells. Counters and flags have one each; so has each table, which is borrowed
/// for as long as it is looked at, and never over a call that may run Python code.
pub struct Runtime {
    /// Whether hot code is compiled and entered.
    pub on: Cell<bool>,
    /// How many pieces of Python that must not be compiled are running: helpers' own.
    pub quiet: Cell<u32>,
    /// Whether the process is ending: nothing is compiled or installed any more.
    pub finished: Cell<bool>,
    /// Options.
    pub options: Cell<Options>,
    /// Passes of the compiler that are left out.
    pub without: RefCell<Vec<&'static str>>,
    /// What turns the interpreter's things into the compiler's.
    pub front: compiling::Front,
    /// Entries of forgotten code objects, which native code may still refer to.
    pub buried: RefCell<Vec<Rc<function_state::Entry>>>,
    /// The compiler; absent while it works, so that nothing it runs can ask it again.
    pub engine: RefCell<Option<Box<Engine>>>,
    /// What is known of code objects, by address.
    pub codes: RefCell<AddressMap<Rc<CodeState>>>,
    /// Functions whose entry was replaced, by address.
    pub functions: RefCell<AddressMap<Installed>>,
    /// The entries that native code has called last.
    pub stubs: entries::Stubs,
    /// Units that may not be entered any more but may still be running.
    pub retired: RefCell<Vec<units::UnitRef>>,
    /// Frames of closed units that are leaving, the innermost first.
    pub recorded: RefCell<Vec<rebuilt::Rebuilt>>,
    /// Blocks of the data stack that native frames have left.
    pub spare_chunks: chunks::Spares,
    /// Who watches what.
    pub watches: watchers::Watches,
    /// Who asks the collector for objects.
    pub listing: listing::Listing,
    /// Who looks into native frames.
    pub proxies: locals_proxy::Proxies,
    /// The monitoring tool.
    pub monitor: monitoring::Monitor,
    /// Whether it is heard which code objects get events of their own.
    pub local_events: local_events::LocalEvents,
    /// Fallback stubs by arity.
    pub fallbacks: RefCell<HashMap<usize, cladonia::codegen::CompiledCode>>,
    /// The entry that functions are born with.
    pub original_vectorcall: *const c_void,
    /// `NotCompiled`.
    pub not_compiled: Object,
    /// Compiles of callees that wait for each other.
    pub compile_depth: Cell<u32>,
    /// Sums.
    pub totals: stats::Totals,
    /// Guards numbered so far, over all units (for forced exits one by one).
    pub guards_numbered: Cell<u64>,
}

impl Runtime {
    /// Whether the compiler is there: it is not while it is at work.
    pub fn has_engine(&self) -> bool {
        self.engine.borrow().is_some()
    }

    /// What is known of a code object, if anything is.
    pub fn state(&self, code: Object) -> Option<Rc<CodeState>> {
        self.codes.borrow().get(&(code as usize)).cloned()
    }

    /// Whether a function's entry was replaced.
    pub fn is_installed(&self, func: Object) -> bool {
        self.functions.borrow().contains_key(&(func as usize))
    }

    /// Whether an entry of a code object's functions was replaced.
    pub fn is_code_installed(&self, code: Object) -> bool {
        let functions = self.functions.borrow();
        functions.values().any(|installed| installed.code == code)
    }

    /// The units of all code objects, which may be entered.
    pub fn units(&self) -> Vec<units::UnitRef> {
        let codes = self.codes.borrow();
        codes.values().flat_map(|state| state.units()).collect()
    }
}

/// Run something that runs Python code of ours, which is not to be compiled: a helper that needs the interpreter would
/// otherwise be asked to help with itself.
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

/// Bring the runtime up: nothing is watched or counted before `enable`.
///
/// # Panics
/// If it is up.
///
/// # Safety
/// `original_vectorcall` is the entry of plain functions.
pub unsafe fn start(
    gil: Gil,
    engine: Engine,
    front: compiling::Front,
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
        engine: RefCell::new(Some(Box::new(engine))),
        codes: RefCell::default(),
        functions: RefCell::default(),
        stubs: entries::Stubs::new(),
        retired: RefCell::default(),
        recorded: RefCell::default(),
        spare_chunks: chunks::Spares::new(),
        watches: watchers::Watches::default(),
        listing: listing::Listing::default(),
        proxies: locals_proxy::Proxies::default(),
        monitor: monitoring::Monitor::default(),
        fallbacks: RefCell::default(),
        original_vectorcall,
        not_compiled,
        compile_depth: Cell::new(0),
        totals: stats::Totals::default(),
        guards_numbered: Cell::new(0),
    });
    gil.publish(runtime);
}
