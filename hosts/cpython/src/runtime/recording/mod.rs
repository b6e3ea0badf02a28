//! A recording of a run, for the report: the distribution of time, the units compiled, installed
//! and discarded, and the operands observed at exits.
//!
//! Nothing is recorded before [`start`]; until then each place that would record something tests
//! one flag. All of it is bounded: samples are added up as they come ([`Profile`]), the list of
//! events stops at [`MAX_EVENTS`], and omitted events are counted.
//!
//! | file | owns |
//! | --- | --- |
//! | `sampler` | timers, the signal's handler, the ring of samples |
//! | `profile` | samples added up: a tree of frames, lines, ticks |
//! | `functions` | the record of each function |
//! | `dicts` | the recording as Python objects |
//!
//! # Code objects
//! They are identified by a number, which is given at the first observation. While the code object
//! lives, its address maps to the number; once it is [deallocated](code_ends), another object may
//! get the address.

mod dicts;
mod functions;
mod profile;
pub mod sampler;

use super::Gil;
use super::abi::eval_breaker;
use super::capi::{AddressMap, CodeShape, Object, get, text};
use super::function_state::CodeState;
use super::units::{Kind, UnitRef, UnitState};
use super::{abi, compiling};
use cladonia::bytecode::Pc;
use cladonia::exits::{ExitKind, ExitRecord, Reason};
use functions::Past;
use profile::Profile;
use pyo3_ffi::Py_TYPE;
use sampler::Sampler;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

pub use dicts::{functions, live, take};

/// Maximum events that are kept.
const MAX_EVENTS: usize = 50_000;
/// Maximum kinds of operands at exits that are kept.
const MAX_MET: usize = 20_000;

/// A number that identifies a code object.
pub type CodeId = u32;

/// The recording, if there is one.
#[derive(Default)]
pub struct Recording {
    /// True while there is one.
    is_on: Cell<bool>,
    /// The reason for the invalidations in progress.
    why: Cell<Option<&'static str>>,
    state: RefCell<Option<Box<State>>>,
}

/// The data recorded so far.
struct State {
    began: Instant,
    /// Sampling, or the reason why there is none.
    sampler: Result<Sampler, String>,
    codes: Codes,
    profile: Profile,
    events: Vec<Event>,
    events_lost: u64,
    /// The operands observed at failed guards.
    met: HashMap<Met, u64>,
    met_lost: u64,
    /// The counts of freed units, by code.
    past: HashMap<CodeId, Past>,
    /// The start of the collection in progress.
    collects_since: Option<Instant>,
    collections: u64,
    collected: Duration,
}

/// An event, and its time.
struct Event {
    at: Duration,
    /// Its duration, where that is of interest.
    took: Duration,
    what: What,
    code: Option<CodeId>,
    /// The number of the unit.
    unit: Option<u64>,
    /// Details, for messages.
    text: String,
}

/// Kinds of events.
#[derive(Clone, Copy)]
enum What {
    /// A unit was compiled: the time is that of the compiler, here and beside.
    Compiled,
    Installed,
    Invalidated,
    Refused,
    Collected,
}

/// Operands of an instruction at which a unit exited.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Met {
    code: CodeId,
    pc: u32,
    line: i32,
    reason: &'static str,
    /// The classes' names, the deeper operand's first.
    classes: Vec<String>,
}

/// Code objects by number.
#[derive(Default)]
struct Codes {
    known: AddressMap<CodeId>,
    infos: Vec<CodeInfo>,
    by_name: HashMap<String, CodeId>,
}

/// A code object, or a library that represents its code.
struct CodeInfo {
    name: String,
    file: String,
    line: i32,
}

impl Codes {
    /// The number of a code object.
    ///
    /// # Safety
    /// The code object is alive.
    unsafe fn id(&mut self, code: Object) -> CodeId {
        if let Some(&id) = self.known.get(&(code as usize)) {
            return id;
        }
        // SAFETY: the caller's promise: the fields of a code object.
        let info = unsafe {
            CodeInfo {
                name: text(get(code.cast(), abi::code::QUALNAME)),
                file: text(get(code.cast(), abi::code::FILENAME)),
                line: get(code.cast(), abi::code::FIRSTLINENO),
            }
        };
        let id = self.infos.len() as CodeId;
        self.infos.push(info);
        self.known.insert(code as usize, id);
        id
    }

    /// The number of an entry that is no Python code.
    fn named(&mut self, name: &str) -> CodeId {
        if let Some(&id) = self.by_name.get(name) {
            return id;
        }
        let id = self.infos.len() as CodeId;
        self.infos.push(CodeInfo {
            name: name.to_owned(),
            file: String::new(),
            line: 0,
        });
        self.by_name.insert(name.to_owned(), id);
        id
    }
}

/// Begins to record; the previous recording is dropped.
pub fn start(gil: Gil, samples: bool) {
    stop(gil);
    let began = Instant::now();
    let sampler = if samples {
        Sampler::start(ask, began)
    } else {
        Err("sampling was not requested".to_owned())
    };
    let recording = &gil.runtime().recording;
    let mut state = Box::new(State {
        began,
        sampler,
        codes: Codes::default(),
        profile: Profile::default(),
        events: Vec::new(),
        events_lost: 0,
        met: HashMap::new(),
        met_lost: 0,
        past: HashMap::new(),
        collects_since: None,
        collections: 0,
        collected: Duration::ZERO,
    });
    for unit in gil.runtime().units() {
        // SAFETY: units in tables are alive.
        unsafe { state.profile.name_unit(&*unit) };
    }
    recording.state.replace(Some(state));
    recording.is_on.set(true);
}

/// Ends the recording, and drops its data.
pub fn stop(gil: Gil) {
    let recording = &gil.runtime().recording;
    recording.is_on.set(false);
    // Dropping a sampler waits for its thread.
    drop(recording.state.take());
}

impl Recording {
    /// True while there is a recording.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.is_on.get()
    }

    /// Changes the recording. No Python code may run meanwhile.
    fn with<R>(&self, act: impl FnOnce(&mut State) -> R) -> Option<R> {
        if !self.is_on.get() {
            return None;
        }
        // A record made during another one is omitted.
        let mut state = self.state.try_borrow_mut().ok()?;
        state.as_deref_mut().map(act)
    }

    /// Runs an action that may invalidate units, with this reason.
    pub fn because<R>(&self, why: &'static str, act: impl FnOnce() -> R) -> R {
        // If actions are nested, the outermost reason counts: it caused the others.
        let before = self.why.get();
        self.why.set(before.or(Some(why)));
        let result = act();
        self.why.set(before);
        result
    }

    /// A unit was compiled, and may be installed.
    ///
    /// # Safety
    /// It is alive and has its code.
    pub unsafe fn compiled(&self, unit: UnitRef) {
        self.with(|state| {
            // SAFETY: the caller's promise.
            let unit = unsafe { &*unit };
            let (_, took) = unit.cost;
            let made = unit.unit.as_ref();
            let beside: Duration = made.map_or(Duration::ZERO, |made| {
                made.timings.iter().map(|(_, took)| *took).sum()
            });
            let is_cached = made.is_some_and(|made| made.code.is_cached());
            // SAFETY: a unit's code object is alive.
            let code = unsafe { state.codes.id(unit.shape.code) };
            let past = state.past.entry(code).or_default();
            past.compiled += beside.max(took);
            past.versions += 1;
            past.bytes += made.map_or(0, |made| made.code.size()) as u64;
            state.profile.name_unit(unit);
            let text = match (unit.kind, is_cached) {
                (Kind::Function, false) => "function",
                (Kind::Function, true) => "function, from the cache",
                (Kind::Generator, false) => "generator",
                (Kind::Generator, true) => "generator, from the cache",
                (Kind::Loop { .. }, false) => "loop",
                (Kind::Loop { .. }, true) => "loop, from the cache",
            };
            state.note(
                What::Compiled,
                beside.max(took),
                Some(code),
                Some(unit.number),
                text,
            );
        });
    }

    /// A compiled unit is entered from now on.
    ///
    /// # Safety
    /// It is alive.
    pub unsafe fn installed(&self, unit: UnitRef) {
        self.with(|state| {
            // SAFETY: the caller's promise; a unit's code object is alive.
            let (code, number) = unsafe { (state.codes.id((*unit).shape.code), (*unit).number) };
            state.note(
                What::Installed,
                Duration::ZERO,
                Some(code),
                Some(number),
                "",
            );
        });
    }

    /// A unit is invalid from now on.
    ///
    /// # Safety
    /// It is alive.
    pub unsafe fn invalidated(&self, unit: &UnitState) {
        let why = self.why.get().unwrap_or("an assumption was broken");
        self.with(|state| {
            // SAFETY: a unit's code object is alive.
            let code = unsafe { state.codes.id(unit.shape.code) };
            *state
                .past
                .entry(code)
                .or_default()
                .invalidated
                .entry(why)
                .or_default() += 1;
            state.note(
                What::Invalidated,
                Duration::ZERO,
                Some(code),
                Some(unit.number),
                why,
            );
        });
    }

    /// A function is not compiled, for this reason.
    ///
    /// # Safety
    /// The code object is alive.
    pub unsafe fn refused(&self, code: Object, reason: &str) {
        self.with(|state| {
            // SAFETY: the caller's promise.
            let code = unsafe { state.codes.id(code) };
            state.note(What::Refused, Duration::ZERO, Some(code), None, reason);
        });
    }

    /// A unit has exited. `operands` are those that the failed guard tested.
    ///
    /// # Safety
    /// It is alive, and so are the operands.
    pub unsafe fn exited(&self, unit: &UnitState, record: &ExitRecord, operands: &[Object]) {
        self.with(|state| {
            state.profile.count_exit(sampler::now_in_ticks());
            if operands.is_empty() {
                return;
            }
            // SAFETY: the caller's promise.
            let classes = operands
                .iter()
                .map(|&operand| unsafe { class_name(operand) });
            let met = Met {
                // SAFETY: a unit's code object is alive.
                code: unsafe { state.codes.id(unit.shape.code) },
                pc: record.pc.0,
                line: compiling::line_of(unit, record.pc),
                reason: record.reason.name(),
                classes: classes.collect(),
            };
            if state.met.len() >= MAX_MET && !state.met.contains_key(&met) {
                state.met_lost += 1;
                return;
            }
            *state.met.entry(met).or_default() += 1;
        });
    }

    /// A unit is being freed.
    ///
    /// # Safety
    /// It is alive.
    pub unsafe fn freed(&self, unit: &UnitState) {
        self.drain();
        self.with(|state| {
            // SAFETY: a unit's code object is alive.
            let code = unsafe { state.codes.id(unit.shape.code) };
            state.past.entry(code).or_default().absorb(unit);
            state.profile.forget_unit(unit);
        });
    }

    /// The state of a code object is being dropped.
    ///
    /// # Safety
    /// It is alive.
    pub unsafe fn forgotten(&self, known: &CodeState) {
        self.with(|state| {
            // SAFETY: the caller's promise.
            let code = unsafe { state.codes.id(known.shape.code) };
            state.past.entry(code).or_default().forget(known);
        });
    }

    /// A collection begins or ends.
    pub fn collects(&self, begins: bool, generation: i64) {
        if !self.is_on.get() {
            return;
        }
        self.resume();
        sampler::COLLECTS.store(begins, Ordering::Relaxed);
        self.with(|state| {
            if begins {
                state.collects_since = Some(Instant::now());
            } else if let Some(since) = state.collects_since.take() {
                let took = since.elapsed();
                state.collections += 1;
                state.collected += took;
                // There are thousands of young ones in a second.
                if generation == 2 || took > Duration::from_millis(1) {
                    let text = format!("generation {generation}");
                    state.note(What::Collected, took, None, None, &text);
                }
            }
        });
    }

    /// The compiler begins or ceases to block this thread.
    #[inline]
    pub fn compiles(&self, begins: bool) {
        if self.is_on.get() {
            self.resume();
            sampler::COMPILES.store(begins, Ordering::Relaxed);
        }
    }

    /// Adds up the waiting samples.
    pub fn drain(&self) {
        self.with(|state| {
            let State { profile, codes, .. } = state;
            Sampler::drain(|sample| profile.add(sample, codes));
        });
    }

    /// A code object is being deallocated: samples name it by its address, which another object may
    /// get.
    pub fn code_ends(&self, code: Object) {
        if self.is_on.get() {
            self.drain();
            self.with(|state| state.codes.known.remove(&(code as usize)));
        }
    }

    /// The JIT is being turned off, and with it the watcher for the deallocation of code objects:
    /// sampling stops.
    pub fn unwatched(&self) {
        self.drain();
        self.with(|state| {
            if state.sampler.is_ok() {
                state.sampler = Err("the JIT was turned off".to_owned());
            }
            state.codes.known.clear();
        });
    }

    /// Ends our thread before a fork, since Python warns if there are several.
    pub fn before_fork(&self) {
        self.drain();
        self.with(|state| {
            if let Ok(sampler) = &mut state.sampler {
                sampler.pause();
            }
        });
    }

    /// Restarts our thread, if it is time after a fork.
    pub fn resume(&self) {
        self.with(|state| {
            if let Ok(sampler) = &mut state.sampler
                && sampler.is_due()
                && let Err(reason) = sampler.resume()
            {
                state.sampler = Err(reason);
            }
        });
    }

    /// The thread exists again after a fork. A child's recording continues from its parent's, as
    /// all counts do.
    pub fn after_fork(&self, in_child: bool) {
        self.with(|state| {
            if let Ok(sampler) = &mut state.sampler {
                if !in_child {
                    sampler.resume_later();
                    return;
                }
                sampler.after_fork_in_child();
                if let Err(reason) = sampler.resume() {
                    state.sampler = Err(reason);
                }
            }
        });
    }
}

impl State {
    fn note(
        &mut self,
        what: What,
        took: Duration,
        code: Option<CodeId>,
        unit: Option<u64>,
        text: &str,
    ) {
        if self.events.len() >= MAX_EVENTS {
            self.events_lost += 1;
            return;
        }
        self.events.push(Event {
            at: self.began.elapsed(),
            took,
            what,
            code,
            unit,
            text: text.to_owned(),
        });
    }
}

/// The name of an object's class.
///
/// # Safety
/// Null or alive.
unsafe fn class_name(object: Object) -> String {
    // SAFETY: the caller's promise; a class has a name.
    unsafe {
        if object.is_null() {
            return "nothing".to_owned();
        }
        let name = (*Py_TYPE(object)).tp_name;
        let name = std::ffi::CStr::from_ptr(name).to_string_lossy();
        name.rsplit('.').next().unwrap_or(&name).to_owned()
    }
}

/// The operands that the guard of an exit tested: the top of the stack, or the top two entries.
///
/// # Safety
/// The frame is complete for the exit.
pub unsafe fn operands_of(unit: &UnitState, record: &ExitRecord, frame: *mut u8) -> Vec<Object> {
    use super::units::ProfiledOperands;
    let is_on_operands = matches!(
        record.reason,
        Reason::Type | Reason::Shape | Reason::Domain | Reason::IntTooLarge
    );
    if record.kind != ExitKind::Resume || !is_on_operands || !record.inlined.is_empty() {
        return Vec::new();
    }
    let Pc(pc) = record.pc;
    let count = match unit.profiled_operands.get(pc as usize) {
        Some(ProfiledOperands::Numbers | ProfiledOperands::Operands) => 2,
        Some(_) => 1,
        None => return Vec::new(),
    };
    // SAFETY: the caller's promise: the stack has nulls and objects.
    unsafe {
        let shape: CodeShape = unit.shape;
        let mut top = abi::frames::depth(frame);
        let last: Object = abi::slots::get(frame, abi::frame::LOCALSPLUS + 8 * (top - 1));
        if last.is_null() {
            // Null above an iterator.
            top -= abi::generators::ABOVE_ITERATOR;
        }
        let first = (top - count).max(shape.nlocalsplus);
        (first..top)
            .map(|place| abi::slots::get(frame, abi::frame::LOCALSPLUS + 8 * place))
            .collect()
    }
}

/// Requests that the waiting samples are added up. Called without the GIL.
fn ask() {
    // SAFETY: the calling thread is ended before the interpreter is finalised.
    unsafe { eval_breaker::ask_for_call(drain_when_called) };
}

extern "C" fn drain_when_called(_: *mut c_void) -> c_int {
    // SAFETY: the interpreter makes pending calls with its lock held.
    let gil = unsafe { Gil::held() };
    if let Some(runtime) = gil.started() {
        runtime.recording.drain();
    }
    0
}
