//! The record of each function: the counts of its units, and its own.

use super::super::Gil;
use super::super::capi::{Object, get};
use super::super::function_state::CodeState;
use super::super::units::{Kind, UnitRef, UnitState};
use super::super::{abi, compiling, worth};
use super::{CodeId, State};
use pyo3_ffi::Py_XNewRef;
use std::collections::{BTreeMap, HashMap};
use std::ptr::null_mut;
use std::time::Duration;

/// The counts of freed units, and the cost of those that were recorded.
#[derive(Clone, Default)]
pub struct Past {
    /// Time in the compiler, here and beside.
    pub compiled: Duration,
    /// Number of units compiled.
    pub versions: u64,
    /// Bytes of machine code generated.
    pub bytes: u64,
    /// Units invalidated, by reason.
    pub invalidated: BTreeMap<&'static str, u64>,
    counts: Counts,
    /// Of deallocated code: interpreted calls, and the reason why it was not compiled.
    known: Option<Known>,
}

/// Counts of units.
#[derive(Clone, Default)]
struct Counts {
    entries: u64,
    iterations: u64,
    /// Calls with arguments that a closed unit does not accept.
    mismatches: u64,
    /// Nanoseconds that native code is estimated to have saved.
    gain: i64,
    /// Exits by line and reason.
    exits: BTreeMap<(i32, &'static str), u64>,
}

/// The record of a code object.
#[derive(Clone, Default)]
struct Known {
    calls: u64,
    fallbacks: u64,
    refused: Option<String>,
    loops_refused: Option<String>,
    is_compiled: bool,
}

/// A unit that may be entered.
pub struct Live {
    pub number: u64,
    pub kind: &'static str,
    pub line: i32,
    pub bytes: u64,
    pub entries: u64,
    pub iterations: u64,
    pub exits: u64,
    pub took: Duration,
}

/// The record of a function.
pub struct Row {
    pub name: String,
    pub file: String,
    pub line: i32,
    /// The number that samples and events use for it, if there is a recording.
    pub code: Option<CodeId>,
    /// A function whose entry was replaced, with an owned reference; null if there is none.
    pub function: Object,
    /// True if a call of it enters machine code.
    pub is_native: bool,
    /// True if there ever was a unit.
    pub is_compiled: bool,
    pub refused: Option<String>,
    pub loops_refused: Option<String>,
    /// Observed interpreted calls.
    pub calls: u64,
    pub fallbacks: u64,
    pub entries: u64,
    pub iterations: u64,
    pub mismatches: u64,
    pub gain: i64,
    pub exits: Vec<(i32, &'static str, u64)>,
    pub versions: u64,
    pub invalidated: Vec<(&'static str, u64)>,
    pub compiled: Duration,
    pub bytes: u64,
    pub units: Vec<Live>,
}

impl Counts {
    fn absorb(&mut self, unit: &UnitState) {
        self.entries += unit.all_entries();
        self.iterations += unit.iterations.get();
        self.mismatches += unit.mismatches.get();
        // SAFETY: a unit's code object is alive.
        self.gain += unsafe { worth::gain(unit) };
        let Some(made) = &unit.unit else { return };
        for (record, count) in made.exits.heads().iter().zip(&unit.exit_counts) {
            if count.get() != 0 {
                let key = (compiling::line_of(unit, record.pc), record.reason.name());
                *self.exits.entry(key).or_default() += count.get();
            }
        }
    }
}

impl Known {
    fn of(state: &CodeState) -> Known {
        Known {
            calls: state.calls.get(),
            fallbacks: state.fallbacks.get(),
            refused: state.refused.get().cloned(),
            loops_refused: state.loops_refused.get().cloned(),
            is_compiled: state.compiled.get(),
        }
    }
}

impl Past {
    /// Adds the counts of a unit that is being freed.
    pub fn absorb(&mut self, unit: &UnitState) {
        self.counts.absorb(unit);
    }

    /// Keeps the counts of a code object that is dropped.
    pub fn forget(&mut self, state: &CodeState) {
        let now = Known::of(state);
        let known = self.known.get_or_insert_default();
        known.calls += now.calls;
        known.fallbacks += now.fallbacks;
        known.refused = now.refused.or(known.refused.take());
        known.loops_refused = now.loops_refused.or(known.loops_refused.take());
        known.is_compiled |= now.is_compiled;
    }
}

/// A row for each function that has any record, with or without a recording.
pub fn rows(gil: Gil, state: Option<&State>) -> Vec<Row> {
    let runtime = gil.runtime();
    let mut retired: HashMap<usize, Vec<UnitRef>> = HashMap::new();
    for &unit in &*runtime.retired.borrow() {
        // SAFETY: retired units are alive until they are freed.
        let code = unsafe { (*unit).shape.code } as usize;
        retired.entry(code).or_default().push(unit);
    }
    let functions = runtime.functions.borrow();
    let functions = functions
        .iter()
        .map(|(&function, of)| (of.code as usize, function as Object));
    let functions: HashMap<usize, Object> = functions.collect();
    let mut rows = Vec::new();
    let mut seen = Vec::new();
    let codes = runtime.codes.borrow();
    for (&address, known) in &*codes {
        let code = state.and_then(|state| state.codes.known.get(&address).copied());
        let is_of_interest = known.tried.get() || known.calls.get() != 0 || code.is_some();
        if !is_of_interest {
            continue;
        }
        seen.extend(code);
        let past = code.and_then(|code| state?.past.get(&code));
        let past = past.cloned().unwrap_or_default();
        let mut counts = past.counts;
        let live = known.units();
        for &unit in live
            .iter()
            .chain(retired.get(&address).into_iter().flatten())
        {
            // SAFETY: units in tables are alive.
            counts.absorb(unsafe { &*unit });
        }
        // SAFETY: units in tables are alive.
        let live: Vec<&UnitState> = live.iter().map(|&unit| unsafe { &*unit }).collect();
        let now = Known::of(known);
        let before = past.known.unwrap_or_default();
        let function = functions.get(&address).copied().unwrap_or(null_mut());
        rows.push(Row {
            // SAFETY: functions in the table are alive.
            function: unsafe { Py_XNewRef(function) },
            name: known.shape.name(),
            file: known.shape.filename(),
            // SAFETY: code objects in the table are alive.
            line: unsafe { get(known.shape.code.cast(), abi::code::FIRSTLINENO) },
            code,
            is_native: known.has_function_unit(),
            is_compiled: now.is_compiled || before.is_compiled,
            refused: now.refused.or(before.refused),
            loops_refused: now.loops_refused.or(before.loops_refused),
            calls: now.calls + before.calls,
            fallbacks: now.fallbacks + before.fallbacks,
            entries: counts.entries,
            iterations: counts.iterations,
            mismatches: counts.mismatches,
            gain: counts.gain,
            exits: counts
                .exits
                .iter()
                .map(|(&(line, reason), &n)| (line, reason, n))
                .collect(),
            versions: past.versions.max(live.len() as u64),
            invalidated: past.invalidated.into_iter().collect(),
            compiled: past.compiled,
            bytes: past.bytes,
            units: live
                .into_iter()
                .filter(|unit| unit.unit.is_some())
                .map(Live::of)
                .collect(),
        });
    }
    drop(codes);
    let Some(state) = state else { return rows };
    // Code that was sampled but never monitored, and deallocated code.
    for (code, info) in (0..).zip(&state.codes.infos) {
        if seen.contains(&code) || info.file.is_empty() {
            continue;
        }
        let past = state.past.get(&code).cloned().unwrap_or_default();
        let known = past.known.unwrap_or_default();
        rows.push(Row {
            name: info.name.clone(),
            file: info.file.clone(),
            line: info.line,
            code: Some(code),
            function: null_mut(),
            is_native: false,
            is_compiled: known.is_compiled,
            refused: known.refused,
            loops_refused: known.loops_refused,
            calls: known.calls,
            fallbacks: known.fallbacks,
            entries: past.counts.entries,
            iterations: past.counts.iterations,
            mismatches: past.counts.mismatches,
            gain: past.counts.gain,
            exits: past
                .counts
                .exits
                .iter()
                .map(|(&(line, reason), &n)| (line, reason, n))
                .collect(),
            versions: past.versions,
            invalidated: past.invalidated.into_iter().collect(),
            compiled: past.compiled,
            bytes: past.bytes,
            units: Vec::new(),
        });
    }
    rows
}

impl Live {
    fn of(unit: &UnitState) -> Live {
        let (kind, line) = match unit.kind {
            // SAFETY: a unit's code object is alive.
            Kind::Function => ("function", first_line(unit.shape.code)),
            Kind::Generator => ("generator", first_line(unit.shape.code)),
            Kind::Loop { pos, .. } => ("loop", unit.shape.line(pos)),
        };
        let made = unit.unit.as_ref();
        let raw = made.and_then(|made| made.raw.as_ref());
        Live {
            number: unit.number,
            kind,
            line,
            bytes: made.map_or(0, |made| {
                made.code.size() + raw.map_or(0, |(raw, _)| raw.size())
            }) as u64,
            entries: unit.all_entries(),
            iterations: unit.iterations.get(),
            exits: unit.exit_counts.iter().map(|count| count.get()).sum(),
            took: unit.cost.1,
        }
    }
}

fn first_line(code: Object) -> i32 {
    // SAFETY: a unit's code object is alive.
    unsafe { get(code.cast(), abi::code::FIRSTLINENO) }
}
