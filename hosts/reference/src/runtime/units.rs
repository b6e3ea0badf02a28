//! Compiled code: when it is made, how it is entered, how it is left, and when it goes.
//!
//! A unit is invalid from the moment something it relies on changes; it is freed once no native code is on the stack.
//!
//! # Safety contract
//! A unit's token is the address of its [`UnitState`], which lives until no activation can be left. Everything happens
//! on the runtime's thread.

use super::code::CodeData;
use super::error::Raised;
use super::frame::{self, FrameRef, Thread, give, take};
use super::heap::{Obj, Ref, alloc};
use super::world::ReferenceWorld;
use super::{Force, Options, Result, chaos, interp, intrinsics, rt};
use cladonia::bytecode::{Code, Op, Pc, Reason};
use cladonia::codegen::CompiledCode;
use cladonia::engine::{Engine, Entry, OracleCounts, Request, Unit, UnitParts};
use cladonia::exits::{ExitKind, ExitRecord, Source, VirtualKind};
use cladonia::facts::Assumption;
use cladonia::types::Type;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// What a loop unit returns when the interpreter is to go on in the frame.
const GO_ON: usize = 1;
/// Exit records that a table of forced exits has room for.
const FORCE_CAPACITY: usize = 1 << 14;
/// How many units a function or loop gets before its bets are given up.
const MOST_VERSIONS: u32 = 5;

/// A unit as the runtime sees it. The cells are read and written by compiled code.
pub struct UnitState {
    /// How many units were made before it.
    serial: u64,
    pending: Cell<u64>,
    state: Cell<u64>,
    iterations: Cell<u64>,
    /// Whose code it is; null when that is gone.
    code: Cell<*const CodeData>,
    entry: Entry,
    unit: Option<Unit>,
    exit_counts: RefCell<Vec<u64>>,
    force: Option<Box<[Cell<u64>]>>,
}

/// Bets not to make: instruction and reason.
pub type Avoided = HashSet<(Pc, Reason)>;

/// What somebody relies on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Watch {
    Class(u64),
    Name(u64, String),
    Function(u64),
}

/// The compiler and what it has made.
pub struct Jit {
    engine: RefCell<Option<Engine>>,
    fallbacks: RefCell<HashMap<usize, CompiledCode>>,
    adapters: RefCell<HashMap<usize, CompiledCode>>,
    pub(super) watches: RefCell<HashMap<Watch, Vec<*mut UnitState>>>,
    retired: RefCell<Vec<*mut UnitState>>,
    /// Native activations on the stack.
    native_depth: Cell<u32>,
    /// Where the interpreter goes on after a loop unit.
    resume: Cell<Pc>,
    /// What happened.
    pub statistics: Statistics,
    random: Cell<u64>,
}

/// Counters of a run.
#[derive(Debug, Default)]
pub struct Statistics {
    /// Units compiled.
    pub units: Cell<u64>,
    /// Calls of native entries from outside.
    pub native_calls: Cell<u64>,
    /// Loops entered on the way.
    pub loop_entries: Cell<u64>,
    /// Exits taken where a bet failed.
    pub exits: Cell<u64>,
    /// Exits taken, by what is done after them and why.
    pub exits_by_reason: RefCell<HashMap<(ExitKind, Reason), u64>>,
    /// Exits with an exception.
    pub raises: Cell<u64>,
    /// Units invalidated.
    pub invalidated: Cell<u64>,
    /// Why functions stayed in the interpreter: the function and the reason.
    pub refused: RefCell<Vec<(String, String)>>,
}

fn add(counter: &Cell<u64>) {
    counter.set(counter.get() + 1);
}

impl Jit {
    pub(super) fn new(engine: Engine, seed: u64) -> Jit {
        Jit {
            engine: RefCell::new(Some(engine)),
            fallbacks: RefCell::default(),
            adapters: RefCell::default(),
            watches: RefCell::default(),
            retired: RefCell::default(),
            native_depth: Cell::new(0),
            resume: Cell::new(Pc(0)),
            statistics: Statistics::default(),
            random: Cell::new(seed | 1),
        }
    }

    /// A number below `n`, from the seed.
    pub(super) fn random(&self, n: u64) -> u64 {
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        (x >> 11) % n
    }

    fn stub(
        &self,
        table: &RefCell<HashMap<usize, CompiledCode>>,
        arity: usize,
        make: impl FnOnce(usize) -> cladonia::lir::Func,
    ) -> Option<*const u8> {
        if let Some(known) = table.borrow().get(&arity) {
            return Some(known.entry());
        }
        let mut engine = self.engine.try_borrow_mut().ok()?;
        let stub = engine.as_mut()?.compile_stub(&make(arity)).ok()?;
        let entry = stub.entry();
        table.borrow_mut().insert(arity, stub);
        Some(entry)
    }

    fn fallback(&self, arity: usize) -> u64 {
        let interpreted = super::helpers::call_interpreted as *const () as usize;
        self.stub(&self.fallbacks, arity, |n| {
            cladonia::host::interpreted_call_at(n, interpreted)
        })
        .map_or(0, |entry| entry as u64)
    }

    /// What the LIR interpreter has run; nothing where the compiler is gone.
    pub(super) fn oracle_counts(&self) -> OracleCounts {
        let engine = self.engine.borrow();
        engine
            .as_ref()
            .map_or_else(OracleCounts::default, Engine::oracle_counts)
    }

    /// Free everything; no native code is running.
    pub(super) fn close(&self) {
        self.engine.borrow_mut().take();
        for unit in self.retired.take() {
            // SAFETY: see the module's contract.
            drop(unsafe { Box::from_raw(unit) });
        }
    }
}

/// Give a new code an entry that runs its calls in the interpreter.
pub(super) fn prepare(code: &CodeData) {
    if code.is_plain() {
        code.entry
            .set(rt().jit.fallback(code.code.argcount as usize));
    }
}

fn options() -> Options {
    rt().options.get()
}

/// A call with bound parameters is about to be made: count it, and compile the function if it is hot.
pub(super) fn count_call(code: &Rc<CodeData>, slots: &[Option<Ref>]) {
    let options = options();
    if !options.jit || !code.is_plain() {
        return;
    }
    chaos::ask();
    let calls = code.calls.get() + 1;
    code.calls.set(calls);
    let threshold = chaos::threshold(options.call_threshold, 4);
    if calls <= threshold || !code.unit.get().is_null() || code.refused.borrow().is_some() {
        return;
    }
    let live: Vec<Type> = slots
        .iter()
        .flatten()
        .map(|arg| rt().type_of(arg))
        .collect();
    match compile(code, Entry::Function, &live) {
        Ok(unit) => {
            code.versions.set(code.versions.get() + 1);
            code.unit.set(unit);
            // SAFETY: just made.
            code.entry.set(unsafe { (*unit).address() } as u64);
        }
        Err(Some(reason)) => refuse(code, reason),
        Err(None) => {}
    }
}

fn refuse(code: &CodeData, reason: String) {
    let refused = &rt().jit.statistics.refused;
    refused
        .borrow_mut()
        .push((code.code.name.clone(), reason.clone()));
    *code.refused.borrow_mut() = Some(reason);
}

/// Whether calls go to compiled code.
pub(super) fn has_native(code: &CodeData) -> bool {
    !code.unit.get().is_null() && rt().thread.pending.get() == 0
}

/// Call a function's native entry.
pub(super) fn call_native(callee: &Ref, code: &CodeData, args: Vec<Ref>) -> Result<Ref> {
    add(&rt().jit.statistics.native_calls);
    let args: Vec<Obj> = args.into_iter().map(Ref::into_raw).collect();
    let entry = code.entry.get() as *const u8;
    // SAFETY: as many arguments as the entry has parameters, owned; the callee is held by the caller.
    unsafe {
        let result = enter(entry, callee.as_ptr().cast(), &args);
        take(result)
    }
}

/// Run native code.
///
/// # Safety
/// `entry` is a native entry whose second parameter is `second`, and `args` the others, which it takes over.
unsafe fn enter(entry: *const u8, second: *mut u8, args: &[Obj]) -> Obj {
    let rt = rt();
    let adapter = rt
        .jit
        .stub(&rt.jit.adapters, args.len(), cladonia::host::adapter);
    let Some(adapter) = adapter else {
        for &arg in args {
            // SAFETY: taken over.
            drop(unsafe { Ref::from_owned(arg) });
        }
        return give(super::error::raise(
            super::error::SYSTEM,
            "code memory is full",
        ));
    };
    type Adapter = extern "C" fn(*const Thread, *mut u8, *const u8, *const Obj) -> Obj;
    // SAFETY: compiled with this signature.
    let call: Adapter = unsafe { std::mem::transmute(adapter) };
    rt.jit.native_depth.set(rt.jit.native_depth.get() + 1);
    let result = call(&rt.thread, second, entry, args.as_ptr());
    rt.jit.native_depth.set(rt.jit.native_depth.get() - 1);
    reclaim();
    result
}

/// Free the units that were retired, if no native code is on the stack.
fn reclaim() {
    let jit = &rt().jit;
    if jit.native_depth.get() == 0 {
        for unit in jit.retired.take() {
            // SAFETY: it is in no table, and nothing runs in it.
            drop(unsafe { Box::from_raw(unit) });
        }
    }
}

/// Compile a unit and register what it relies on.
///
/// # Errors
/// The reason why not; none if the compiler is at work.
fn compile(
    code: &CodeData,
    entry: Entry,
    live: &[Type],
) -> std::result::Result<*mut UnitState, Option<String>> {
    let jit = &rt().jit;
    let Ok(mut engine) = jit.engine.try_borrow_mut() else {
        return Err(None);
    };
    let engine = engine.as_mut().ok_or(None)?;
    let options = options();
    if jit.statistics.units.get() >= options.max_units {
        return Err(None);
    }
    let mut state = Box::new(UnitState {
        serial: jit.statistics.units.get(),
        pending: Cell::new(0),
        state: Cell::new(0),
        iterations: Cell::new(0),
        code: Cell::new(code),
        entry,
        unit: None,
        exit_counts: RefCell::default(),
        force: options
            .force
            .map(|_| vec![Cell::new(0); FORCE_CAPACITY].into_boxed_slice()),
    });
    let hinted = code.with_hints();
    let avoid = code.avoid.borrow().clone();
    let met = code.several();
    let request = Request {
        code: &hinted,
        entry,
        live,
        world: &ReferenceWorld,
        parts: UnitParts {
            closed: None,
            namespace: None,
            token: std::ptr::from_ref(&*state) as u64,
            pending_cell: state.pending.as_ptr() as u64,
            loop_counter: state.iterations.as_ptr() as u64,
            state_cell: state.state.as_ptr() as u64,
            enter: intrinsics::enter(code),
            leave: intrinsics::leave(super::helpers::leave as *const () as usize),
            position_base: 0,
            position_scale: 1,
            force_table: state.force.as_ref().map(|table| table.as_ptr() as u64),
        },
        avoid: &avoid,
        met: &met,
    };
    let made = catch_unwind(AssertUnwindSafe(|| engine.compile(request)));
    let unit = match made {
        Ok(Ok(unit)) => unit,
        Ok(Err(error)) => return Err(Some(error.to_string())),
        Err(panic) => {
            return Err(Some(format!("internal: {}", panic_text(&*panic))));
        }
    };
    *state.exit_counts.borrow_mut() = vec![0; unit.exits.len()];
    let assumptions = unit.assumptions.clone();
    if let Some(observer) = &mut *rt().on_compile.borrow_mut() {
        observer(&code.code.name, entry, &unit);
    }
    state.unit = Some(unit);
    state.arm_all();
    let state = Box::into_raw(state);
    for assumption in assumptions {
        for watch in watches_of(&assumption) {
            jit.watches
                .borrow_mut()
                .entry(watch)
                .or_default()
                .push(state);
        }
    }
    add(&jit.statistics.units);
    Ok(state)
}

/// Compile a code for its text forms: the unit is never entered.
///
/// # Errors
/// The reason why not.
pub(super) fn compile_text(
    code: &Code,
    entry: Entry,
    live: &[Type],
    avoid: &Avoided,
) -> std::result::Result<Unit, String> {
    let jit = &rt().jit;
    let mut engine = jit
        .engine
        .try_borrow_mut()
        .map_err(|_| "the compiler is at work")?;
    let engine = engine.as_mut().ok_or("there is no compiler")?;
    let data = CodeData::new(code.clone(), Vec::new(), Vec::new());
    let request = Request {
        code,
        entry,
        live,
        world: &ReferenceWorld,
        parts: UnitParts {
            closed: None,
            namespace: None,
            token: 0,
            pending_cell: 0,
            loop_counter: 0,
            state_cell: 0,
            enter: intrinsics::enter(&data),
            leave: intrinsics::leave(super::helpers::leave as *const () as usize),
            position_base: 0,
            position_scale: 1,
            force_table: None,
        },
        avoid,
        met: &HashMap::new(),
    };
    let keep = std::mem::replace(&mut engine.keep_dumps, true);
    let made = catch_unwind(AssertUnwindSafe(|| engine.compile(request)));
    engine.keep_dumps = keep;
    match made {
        Ok(made) => made.map_err(|error| error.to_string()),
        Err(panic) => Err(format!("internal: {}", panic_text(&*panic))),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
        .unwrap_or_default()
}

/// What is to be watched for an assumption. The flags make changes be told.
fn watches_of(assumption: &Assumption) -> Vec<Watch> {
    match assumption {
        Assumption::ClassUnchanged(class) => {
            let bases = class.mro();
            std::iter::once(*class)
                .chain(bases.iter().copied())
                .map(|class| {
                    rt().watch_class(class);
                    Watch::Class(class.token())
                })
                .collect()
        }
        Assumption::NameUnchanged { namespace, name } => {
            rt().watch_namespace(*namespace);
            vec![Watch::Name(*namespace, name.clone())]
        }
        Assumption::FunctionUnchanged(function) => vec![Watch::Function(function.token())],
    }
}

fn fire(watch: &Watch) {
    let units = rt().jit.watches.borrow_mut().remove(watch);
    for unit in units.unwrap_or_default() {
        // SAFETY: units in the table are alive.
        unsafe { invalidate(unit) };
    }
}

pub(super) fn class_changes(class: u64) {
    fire(&Watch::Class(class));
}

pub(super) fn name_changes(namespace: u64, name: &str) {
    fire(&Watch::Name(namespace, name.to_owned()));
}

pub(super) fn function_dies(function: u64) {
    fire(&Watch::Function(function));
}

/// Make a unit unusable for good and take it out of all tables.
///
/// # Safety
/// The unit is alive.
pub(super) unsafe fn invalidate(unit: *mut UnitState) {
    let jit = &rt().jit;
    // SAFETY: the caller's promise; it is freed later.
    let state = unsafe { &*unit };
    if state.state.replace(1) != 0 {
        return;
    }
    add(&jit.statistics.invalidated);
    for units in jit.watches.borrow_mut().values_mut() {
        units.retain(|other| *other != unit);
    }
    jit.watches
        .borrow_mut()
        .retain(|_, units| !units.is_empty());
    // SAFETY: null when the code is gone.
    if let Some(code) = unsafe { state.code.get().as_ref() } {
        match state.entry {
            Entry::Function => {
                if code.unit.get() == unit {
                    code.unit.set(std::ptr::null_mut());
                    code.entry.set(jit.fallback(code.code.argcount as usize));
                }
                if code.versions.get() >= MOST_VERSIONS && !options().chaos {
                    refuse(code, format!("its bets failed in {MOST_VERSIONS} versions"));
                }
            }
            Entry::Loop(pc) => {
                if let Some(state) = code.loops.borrow_mut().get_mut(&pc) {
                    state.unit = std::ptr::null_mut();
                    state.is_closed = state.versions >= MOST_VERSIONS && !options().chaos;
                }
            }
        }
    }
    jit.retired.borrow_mut().push(unit);
}

/// A code is gone: so are its units.
impl Drop for CodeData {
    fn drop(&mut self) {
        let loops = self.loops.take();
        let units = loops.values().map(|state| state.unit);
        for unit in units
            .chain([self.unit.get()])
            .filter(|unit| !unit.is_null())
        {
            // SAFETY: units that a code names are alive.
            unsafe {
                (*unit).code.set(std::ptr::null());
                invalidate(unit);
            }
        }
    }
}

/// Invalidate every unit.
pub(super) fn invalidate_all() {
    let watched: Vec<Watch> = rt().jit.watches.borrow().keys().cloned().collect();
    watched.iter().for_each(fire);
}

/// How a loop that was tried natively ended.
pub(super) enum LoopEnd {
    /// The interpreter goes on here.
    Interpret(Pc),
    /// The frame returned.
    Return(Ref),
    /// An exception that the frame does not handle.
    Raise(Raised),
}

/// A loop goes round: count it, and run it natively if it is hot.
pub(super) fn enter_loop(frame: FrameRef, target: Pc) -> LoopEnd {
    let options = options();
    if !options.jit || frame.code().code.is_generator {
        return LoopEnd::Interpret(target);
    }
    chaos::ask();
    let code = frame.code();
    let (unit, wanted) = {
        let mut loops = code.loops.borrow_mut();
        let state = loops.entry(target).or_default();
        state.count += 1;
        let threshold = chaos::threshold(options.loop_threshold, 6);
        (state.unit, state.count > threshold && !state.is_closed)
    };
    let unit = if unit.is_null() && wanted {
        let words = (0..code.code.locals.len()).map(|k| frame.local(k));
        let stack = (0..frame.depth()).rev().map(|i| frame.peek(i));
        let live: Vec<Type> = words
            .chain(stack)
            .map(|value| value.map_or(Type::NULLPTR, |value| rt().type_of(&value)))
            .collect();
        let made = compile(code, Entry::Loop(target), &live);
        let mut loops = code.loops.borrow_mut();
        let state = loops.entry(target).or_default();
        match made {
            Ok(unit) => {
                state.unit = unit;
                state.versions += 1;
                unit
            }
            Err(Some(reason)) => {
                state.is_closed = true;
                let refused = &rt().jit.statistics.refused;
                refused
                    .borrow_mut()
                    .push((format!("{} at {target}", code.code.name), reason));
                unit
            }
            Err(None) => unit,
        }
    } else {
        unit
    };
    if unit.is_null() || rt().thread.pending.get() != 0 {
        return LoopEnd::Interpret(target);
    }
    add(&rt().jit.statistics.loop_entries);
    frame.set_depth(0);
    // SAFETY: the unit is alive while it is in the table, and retired ones are while they run.
    let result = unsafe { enter((*unit).address(), frame.as_ptr().cast(), &[]) };
    if result as usize == GO_ON {
        return LoopEnd::Interpret(rt().jit.resume.get());
    }
    // SAFETY: a loop unit gives the frame's result or null.
    match unsafe { take(result) } {
        Ok(result) => LoopEnd::Return(result),
        Err(raised) => LoopEnd::Raise(raised),
    }
}

impl UnitState {
    pub(super) fn serial(&self) -> u64 {
        self.serial
    }

    fn address(&self) -> *const u8 {
        self.unit
            .as_ref()
            .map_or(std::ptr::null(), |unit| unit.code.entry())
    }

    /// Let every exit be forced after some time.
    fn arm_all(&self) {
        let count = self.unit.as_ref().map_or(0, |unit| unit.exits.len());
        (0..count).for_each(|number| self.arm(number, true));
    }

    /// Let an exit be forced; `is_new` if it never was.
    fn arm(&self, number: usize, is_new: bool) {
        let Some(word) = self.force.as_ref().and_then(|table| table.get(number)) else {
            return;
        };
        match options().force {
            Some(Force::First) => word.set(is_new.into()),
            Some(Force::Random(period)) => word.set(1 + rt().jit.random(period.max(1))),
            None => {}
        }
    }

    /// An exit was taken: where its bet fails too often, the next unit does not make it.
    fn count_exit(&self, number: usize, record: &ExitRecord) {
        let statistics = &rt().jit.statistics;
        *statistics
            .exits_by_reason
            .borrow_mut()
            .entry((record.kind, record.reason))
            .or_default() += 1;
        if record.kind.raises() {
            return add(&statistics.raises);
        }
        add(&statistics.exits);
        if self.force.is_some() {
            self.arm(number, false);
            // Where bets fail at random, nothing is to be learnt from it.
            if options().force != Some(Force::First) {
                return;
            }
        }
        if !record.reason.is_bet() {
            return;
        }
        let mut counts = self.exit_counts.borrow_mut();
        counts[number] += 1;
        if counts[number] < options().patience {
            return;
        }
        drop(counts);
        // SAFETY: null when the code is gone.
        if let Some(code) = unsafe { self.code.get().as_ref() } {
            code.avoid.borrow_mut().insert((record.pc, record.reason));
        }
        // SAFETY: the unit is running, so it is alive; it is freed later.
        unsafe { invalidate(std::ptr::from_ref(self).cast_mut()) };
    }
}

/// What compiled code calls to leave: the frame is completed, and the interpreter goes on in it.
pub(super) extern "C" fn exit(token: u64, number: u64, buffer: *const u64) -> Obj {
    // SAFETY: the module's contract; the buffer has the record's words, thread and frame first.
    unsafe {
        let state = &*(token as *const UnitState);
        let unit = state.unit.as_ref().expect("a running unit");
        let record = &unit.exits[number as usize];
        let frame = FrameRef::from_raw(*buffer.add(1) as *mut frame::Frame);
        let words = std::slice::from_raw_parts(buffer, record.words as usize);
        let raised = match record.kind {
            ExitKind::Raise | ExitKind::Reraise => rt().thread.take_exception(),
            ExitKind::Resume => None,
            ExitKind::Await => unreachable!("an exit of closed units, which this host has not"),
        };
        let old = complete(frame, record, words);
        state.count_exit(number as usize, record);
        drop(old);
        let next = match raised {
            Some(exception) => {
                let again = record.kind == ExitKind::Reraise;
                if frame.code().code.instr(record.pc).op == Op::Reraise {
                    // The interpreter has popped it.
                    drop(frame.pop());
                }
                interp::unwind(frame, record.pc, Raised(exception), again)
            }
            None => Ok(record.pc),
        };
        match (state.entry, next) {
            (Entry::Function, next) => {
                let result = next.and_then(|pc| interp::go_on(frame, pc));
                frame::pop(frame);
                give(result)
            }
            (Entry::Loop(_), Ok(pc)) => {
                rt().jit.resume.set(pc);
                GO_ON as Obj
            }
            (Entry::Loop(_), Err(raised)) => give(Err(raised)),
        }
    }
}

/// Write what an exit record says into the frame; gives the locals' old values.
///
/// # Safety
/// The words are what the record describes.
unsafe fn complete(frame: FrameRef, record: &ExitRecord, words: &[u64]) -> Vec<Option<Ref>> {
    let mut virtuals: Vec<Ref> = Vec::new();
    for object in &record.virtuals {
        // SAFETY: the caller's promise. Each is made, because each is named; what is in it stands before it.
        let field = |&field| unsafe { value_of(field, words, &virtuals) };
        let fields = object.fields.iter().map(field);
        let fields = fields
            .collect::<Option<Vec<Ref>>>()
            .expect("fields are objects");
        virtuals.push(match object.kind {
            VirtualKind::Tuple => alloc::tuple(fields),
        });
    }
    // SAFETY: as above.
    let value = |source| unsafe { value_of(source, words, &virtuals) };
    let mut old = Vec::new();
    for &(slot, source) in &record.locals {
        if source != Source::Keep {
            old.push(frame.replace_local(slot as usize, value(source)));
        }
    }
    frame.set_depth(0);
    for &source in &record.stack {
        frame.push(value(source));
    }
    old
}

/// The object of a source.
///
/// # Safety
/// The words are what the record of the source describes.
unsafe fn value_of(source: Source, words: &[u64], virtuals: &[Ref]) -> Option<Ref> {
    let word = |n: u32| words[n as usize];
    let object = |n: u32| (word(n) != 0).then_some(word(n) as Obj);
    // SAFETY: words that the record calls objects are objects or null.
    unsafe {
        match source {
            Source::Keep | Source::Null => None,
            Source::Owned(n) => object(n).map(|p| Ref::from_owned(p)),
            Source::Borrowed(n) => object(n).map(|p| Ref::from_borrowed(p)),
            Source::IntIf(_, bound) | Source::FloatIf(_, bound) if word(bound) & 1 == 0 => None,
            Source::Int(n) | Source::IntIf(n, _) => Some(alloc::int(word(n) as i64)),
            Source::Float(n) | Source::FloatIf(n, _) => Some(alloc::float(f64::from_bits(word(n)))),
            Source::Bool(n) => Some(rt().bool(word(n) & 1 != 0)),
            Source::Virtual(n) => Some(virtuals[n as usize].clone()),
        }
    }
}
