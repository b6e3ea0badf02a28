//! Counters, and the dict that `stats()` returns.

use super::capi::Object;
use super::function_state::CodeState;
use super::healing::ForceExit;
use super::units::UnitState;
use super::{Gil, compiling, healing};
use crate::accesses;
use cladonia::engine::QuestionCost;
use cladonia::engine::Unit;
use pyo3_ffi::*;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::time::Duration;

/// Function, line, reason of an exit.
type ExitKey = (String, i32, &'static str);

/// Number of buckets for the lengths of stalls: each up to twice as long as the one before,
/// starting at a microsecond.
const STALLS: usize = 24;

/// Counts over the process.
#[derive(Default)]
pub struct Totals {
    /// Units begun, which numbers them: a worker compiles one while others are begun and finished.
    pub begun: Cell<u64>,
    /// Units compiled.
    pub units: Cell<u64>,
    /// Units invalidated.
    pub invalidated: Cell<u64>,
    /// Time in the compiler, on the program's threads.
    pub compile_ns: Cell<u64>,
    /// Histogram of the times for which the compiler has blocked a thread of the program, by the
    /// logarithm of the microseconds.
    pub stalls: Cell<[u64; STALLS]>,
    /// The longest of these times.
    pub longest_stall: Cell<Duration>,
    /// True while a thread is blocked.
    pub is_stalled: Cell<bool>,
    /// Instructions of the code that was compiled.
    pub instrs: Cell<u64>,
    /// Time in the code generator, on threads beside the program.
    pub beside_ns: Cell<u64>,
    /// Units that were stale before their code was generated.
    pub stale: Cell<u64>,
    /// Observed calls that ran in the interpreter.
    pub interpreted_calls: Cell<u64>,
    /// Observed back edges that ran in the interpreter.
    pub interpreted_iterations: Cell<u64>,
    /// Running frames that were taken over.
    pub loop_entries: Cell<u64>,
    /// Exits taken.
    pub exits: Cell<u64>,
    /// Guards that were set to fail on purpose.
    pub guards: Cell<u64>,
    /// The cost of past compiles, and the counts of units that were freed.
    past: RefCell<Sums>,
}

/// Sums of the counts that units keep, and of records about them.
#[derive(Clone, Default)]
struct Sums {
    /// Forced guards of freed units that never failed.
    never_reached: u64,
    /// Guards that were executed in a run without forced failures.
    reached: BTreeSet<u64>,
    /// Number of these executions, by reason.
    executions: BTreeMap<&'static str, u64>,
    /// Time in the stages of the compiler, and in its passes.
    stages: BTreeMap<&'static str, Duration>,
    passes: BTreeMap<&'static str, Duration>,
    /// Path queries.
    paths: Paths,
    native_iterations: u64,
    entries: u64,
    units_entered: u64,
    exit_counts: BTreeMap<ExitKey, u64>,
    eligible: u64,
    compiled: u64,
    refused: BTreeMap<String, u64>,
}

/// The cost and results of path queries.
#[derive(Clone, Default)]
struct Paths {
    graphs: u64,
    nodes: u64,
    proved: u64,
    /// Of each query: its steps, and the nodes that a plain backwards walk visits.
    questions: Vec<QuestionCost>,
}

impl Paths {
    /// The median ratio of the steps to a plain backwards walk.
    fn median(&self) -> f64 {
        let ratio = |q: &QuestionCost| q.steps as f64 / q.walk.max(1) as f64;
        let mut ratios: Vec<f64> = self.questions.iter().map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied().unwrap_or_default()
    }
}

impl Totals {
    /// Adds the cost of compiling a unit.
    pub fn compiled(&self, unit: &Unit) {
        self.past.borrow_mut().compiled(unit);
    }

    /// Adds a time for which the compiler has blocked a thread of the program.
    pub fn stalled(&self, time: Duration) {
        let power = time.as_micros().checked_ilog2().map_or(0, |n| n + 1);
        let mut stalls = self.stalls.get();
        stalls[(power as usize).min(STALLS - 1)] += 1;
        self.stalls.set(stalls);
        self.longest_stall.update(|longest| longest.max(time));
    }

    /// Adds the counts of a unit that is being freed.
    pub fn absorb(&self, gil: Gil, unit: &UnitState) {
        self.past.borrow_mut().absorb(gil, unit);
    }

    /// Entries and back edges of freed units, and the number of refused functions that were freed.
    pub fn past_counts(&self) -> (u64, u64, u64) {
        let past = self.past.borrow();
        (
            past.entries,
            past.native_iterations,
            past.refused.values().sum(),
        )
    }

    /// Adds the counts of a code object that is being freed.
    pub fn forget(&self, state: &CodeState) {
        self.past.borrow_mut().forget(state);
    }
}

impl Sums {
    fn compiled(&mut self, unit: &Unit) {
        for &(stage, took) in &unit.timings {
            *self.stages.entry(stage).or_default() += took;
        }
        for &(pass, took) in &unit.log.passes {
            *self.passes.entry(pass.name()).or_default() += took;
        }
        let paths = &mut self.paths;
        paths.proved += unit.proved as u64;
        for cost in unit.log.paths.iter().filter(|cost| cost.nodes > 0) {
            paths.graphs += 1;
            paths.nodes += cost.nodes as u64;
            paths.questions.extend(&cost.questions);
        }
    }

    fn absorb(&mut self, gil: Gil, unit: &UnitState) {
        self.entries += unit.all_entries();
        self.native_iterations += unit.iterations.get();
        self.units_entered += (unit.all_entries() != 0) as u64;
        self.never_reached += healing::never_reached(unit);
        self.reached.extend(healing::reached(gil, unit));
        for (reason, count) in healing::executions(gil, unit) {
            *self.executions.entry(reason).or_default() += count;
        }
        let Some(compiled) = &unit.unit else { return };
        for (record, count) in compiled.exits.heads().iter().zip(&unit.exit_counts) {
            let count = count.get();
            if count != 0 {
                let key = (
                    unit.shape.name(),
                    compiling::line_of(unit, record.pc),
                    record.reason.name(),
                );
                *self.exit_counts.entry(key).or_default() += count;
            }
        }
    }

    fn forget(&mut self, state: &CodeState) {
        self.eligible += state.tried.get() as u64;
        self.compiled += state.compiled.get() as u64;
        if state.tried.get()
            && let Some(reason) = state.refused.get()
        {
            *self.refused.entry(reason.clone()).or_default() += 1;
        }
    }
}

/// The sums as of now, live units included.
fn sums(gil: Gil) -> Sums {
    let mut sums = gil.runtime().totals.past.borrow().clone();
    for state in gil.runtime().codes.borrow().values() {
        sums.forget(state);
        for unit in state.units() {
            // SAFETY: units in tables are alive.
            sums.absorb(gil, unsafe { &*unit });
        }
    }
    for &unit in &*gil.runtime().retired.borrow() {
        // SAFETY: retired units are alive until they are freed.
        sums.absorb(gil, unsafe { &*unit });
    }
    sums
}

/// The dict of `stats()`; null with an exception.
pub fn dict(gil: Gil) -> Object {
    let (totals, sums) = (&gil.runtime().totals, sums(gil));
    // SAFETY: each object is created here and given to the dict.
    unsafe {
        let dict = Dict::new();
        let exits = PyList_New(0);
        for ((function, line, reason), count) in &sums.exit_counts {
            let row = Dict::new();
            row.set("function", text(function));
            row.set("line", PyLong_FromLong(*line as _));
            row.set("reason", text(reason));
            row.set("count", number(*count));
            PyList_Append(exits, row.0);
            Py_DECREF(row.0);
        }
        dict.set("available", Py_NewRef(Py_None()));
        let build = if cfg!(debug_assertions) {
            "with debug assertions"
        } else {
            "release"
        };
        dict.set("build", text(build));
        dict.set("units", number(totals.units.get()));
        dict.set("entries", number(sums.entries));
        dict.set("exits", exits);
        dict.set("refused", counts(&sums.refused));
        dict.set("invalidated", number(totals.invalidated.get()));
        let waiting = gil.runtime().retired.borrow().len();
        dict.set("waiting", number(waiting as u64));
        dict.set(
            "compile_ms",
            PyFloat_FromDouble(totals.compile_ns.get() as f64 / 1e6),
        );
        dict.set(
            "compile_beside_ms",
            PyFloat_FromDouble(totals.beside_ns.get() as f64 / 1e6),
        );
        dict.set("stale", number(totals.stale.get()));
        dict.set("cache", cache(gil));
        let memory = Dict::new();
        let resident = crate::memory::resident();
        memory.set("library", number(resident.library));
        memory.set("heap", number(resident.heap));
        let code = gil.runtime().compiler.if_made(|e| e.memory().used() as u64);
        memory.set("code", number(code.unwrap_or(0)));
        dict.set("memory", memory.0);
        let stalls = Dict::new();
        let longest = totals.longest_stall.get().as_secs_f64() * 1e3;
        stalls.set("longest_ms", PyFloat_FromDouble(longest));
        let below = Dict::new();
        for (power, count) in totals.stalls.get().into_iter().enumerate() {
            if count != 0 {
                let limit = format!("{}", (1u64 << power) as f64 / 1e3);
                below.set(&limit, number(count));
            }
        }
        stalls.set("counts", below.0);
        dict.set("stalls", stalls.0);
        dict.set("stages_ms", times(&sums.stages));
        dict.set("passes_ms", times(&sums.passes));
        let paths = Dict::new();
        paths.set("graphs", number(sums.paths.graphs));
        paths.set("nodes", number(sums.paths.nodes));
        paths.set("questions", number(sums.paths.questions.len() as u64));
        let steps = sums.paths.questions.iter().map(|q| q.steps);
        paths.set("steps", number(steps.sum()));
        paths.set("median_walks", PyFloat_FromDouble(sums.paths.median()));
        paths.set("proved", number(sums.paths.proved));
        dict.set("paths", paths.0);
        let oracle = Dict::new();
        let compiler = &gil.runtime().compiler;
        let ran = compiler.if_made(|engine| engine.oracle_counts());
        let ran = ran.unwrap_or_default();
        oracle.set("units", number(ran.units));
        oracle.set("entries", number(ran.entries));
        dict.set("oracle", oracle.0);
        let coverage = Dict::new();
        coverage.set("functions_eligible", number(sums.eligible));
        coverage.set("functions_compiled", number(sums.compiled));
        coverage.set("refusals", counts(&sums.refused));
        coverage.set("units_entered", number(sums.units_entered));
        let loop_entries = totals.loop_entries.get();
        coverage.set("native_calls", number(sums.entries - loop_entries));
        let interpreted_calls = totals.interpreted_calls.get();
        coverage.set("interpreted_calls", number(interpreted_calls));
        coverage.set("native_loop_entries", number(loop_entries));
        coverage.set("native_loop_iterations", number(sums.native_iterations));
        coverage.set(
            "interpreted_loop_iterations",
            number(totals.interpreted_iterations.get()),
        );
        dict.set("coverage", coverage.0);
        let forced = Dict::new();
        let guards = totals.guards.get();
        forced.set("guards", number(guards));
        forced.set("taken", number(guards - sums.never_reached));
        forced.set("never_reached", number(sums.never_reached));
        if gil.runtime().options.get().force == Some(ForceExit::None) {
            forced.set("reached", numbers(&sums.reached));
        }
        if !sums.executions.is_empty() {
            forced.set("executions", counts(&sums.executions));
        }
        dict.set("forced_exits", forced.0);
        if let Some(counted) = accesses::counts() {
            dict.set("accesses", counts(&counted));
        }
        if PyErr_Occurred().is_null() {
            dict.0
        } else {
            Py_DECREF(dict.0);
            std::ptr::null_mut()
        }
    }
}

/// Hits and misses of the cache of machine code.
fn cache(gil: Gil) -> Object {
    let cache = gil.runtime().cache.borrow();
    let (code, done) = match &*cache {
        Some(cache) => (cache.code.counts(), cache.folder.counts()),
        None => Default::default(),
    };
    let folder = cache.as_ref().map(|cache| &cache.folder);
    let error = folder.and_then(|folder| folder.error());
    let folder = folder.map(|folder| folder.path().to_string_lossy().into_owned());
    drop(cache);
    let text_or_none = |said: Option<String>| match said {
        Some(said) => text(&said),
        // SAFETY: this thread has the GIL.
        None => unsafe { Py_NewRef(Py_None()) },
    };
    let dict = Dict::new();
    dict.set("folder", text_or_none(folder));
    dict.set("units_found", number(code.units_found));
    dict.set("units_missed", number(code.units_missed));
    dict.set("found", number(code.found));
    dict.set("shared", number(code.shared));
    dict.set("missed", number(code.missed));
    dict.set("stored", number(done.stored));
    dict.set("bytes", number(done.bytes));
    dict.set("errors", number(done.errors));
    dict.set("error", text_or_none(error));
    dict.0
}

/// A dict under construction.
pub(super) struct Dict(pub(super) Object);

impl Dict {
    /// An empty dict.
    pub(super) fn new() -> Dict {
        // SAFETY: this thread has the GIL.
        Dict(unsafe { PyDict_New() })
    }

    /// Sets a key, taking the value over.
    pub(super) fn set(&self, key: &str, value: Object) {
        let Ok(key) = CString::new(key) else { return };
        // SAFETY: a null value is an earlier failure; its exception stays pending for the caller.
        unsafe {
            if !value.is_null() && !self.0.is_null() {
                PyDict_SetItemString(self.0, key.as_ptr(), value);
            }
            Py_XDECREF(value);
        }
    }
}

fn counts<K: AsRef<str>>(map: &BTreeMap<K, u64>) -> Object {
    let dict = Dict::new();
    for (key, &count) in map {
        dict.set(&key.as_ref().replace('\0', ""), number(count));
    }
    dict.0
}

/// Milliseconds by name.
fn times(map: &BTreeMap<&'static str, Duration>) -> Object {
    let dict = Dict::new();
    for (key, took) in map {
        // SAFETY: this thread has the GIL.
        let took = unsafe { PyFloat_FromDouble(took.as_secs_f64() * 1e3) };
        dict.set(key, took);
    }
    dict.0
}

/// A new list.
fn numbers(set: &BTreeSet<u64>) -> Object {
    // SAFETY: under the GIL; the list takes over the results of `number`; a null one leaves an
    // exception for the caller.
    unsafe {
        let list = PyList_New(0);
        for &n in set {
            let n = number(n);
            if list.is_null() || n.is_null() || PyList_Append(list, n) < 0 {
                Py_XDECREF(n);
                break;
            }
            Py_DECREF(n);
        }
        list
    }
}

/// An int.
pub(super) fn number(n: u64) -> Object {
    // SAFETY: this thread has the GIL.
    unsafe { PyLong_FromUnsignedLongLong(n) }
}

/// A str.
pub fn text(s: &str) -> Object {
    // SAFETY: the bytes are UTF-8 and live for the call.
    unsafe { PyUnicode_FromStringAndSize(s.as_ptr().cast(), s.len() as Py_ssize_t) }
}
