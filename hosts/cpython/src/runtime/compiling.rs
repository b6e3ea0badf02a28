//! Requests to the compiler, and the installation of what it makes.
//!
//! A synchronous compile holds the GIL from the request to the machine code, so its assumptions cannot break meanwhile; they are watched from
//! then on. By default a [worker](super::workers) compiles instead. Then each assumption is watched from the moment at which its answer was
//! given; requests for the unit get [`Refusal::Busy`] and are repeated at the next call or back edge, where the finished unit is installed.

use super::capi::*;
use super::function_state::{self, CodeState, Entry, MOST_REACHED_LATE, state_of};
use super::generators::Forward;
use super::units::{self, FORCE_CAPACITY, Kind, Pending, Progress, UnitRef, UnitState};
use super::workers::{Insisting, Order, Outcome};
use super::{Gil, abi, closed, frames, generators, healing, monitoring, sampling, watchers, worth};
use crate::namespace::{self, NameCell};
use crate::objects;
use crate::world::{Known, Namespaces, supers};
use cladonia::bytecode::{Code, Met, Op, Pc};
use cladonia::codegen::CompiledCode;
use cladonia::engine::{
    CompileError, Entry as Start, FrozenRequest, Generator, Planted, Request, Unit, UnitParts,
};
use cladonia::exits::Reason;
use cladonia::facts::Assumption;
use cladonia::host::{Host, Namespace, World, print_host};
use cladonia::lir::Func;
use cladonia::types::Type;
use pyo3_ffi::*;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How many units are made between two looks for code objects that nothing but their units refers to.
const UNITS_BETWEEN_SWEEPS: u64 = 64;

/// Units of a code object that were stale when they were made, before there are no more.
const MOST_STALE: u32 = 16;

/// Why a compile gave nothing: a lasting reason, or only not now.
#[derive(Debug)]
pub enum Refusal {
    /// The function stays interpreted.
    Lasting(String),
    /// The compiler is at work already, on this unit or what it needs, the stack of the thread is too low for it, or the
    /// process ends.
    Busy,
}

/// Stack that the compiler needs, and what it calls. Most functions take less than 128 KiB; a thread may have 64 KiB, which is enough for
/// the interpreter.
const STACK_FOR_A_COMPILE: usize = 192 << 10;

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Lasting(reason) => f.write_str(reason),
            Refusal::Busy => f.write_str("the compiler is at work"),
        }
    }
}

/// Compile a stub.
///
/// # Errors
/// The compiler's.
pub fn compile_stub(gil: Gil, func: Func) -> Result<CompiledCode, CompileError> {
    let compiler = &gil.runtime().compiler;
    let mut engine = compiler
        .take(gil)
        .map_err(|refusal| CompileError::Internal(refusal.to_string()))?;
    let made = catch_unwind(AssertUnwindSafe(|| engine.compile_stub(&func)));
    compiler.put_back(engine);
    made.unwrap_or_else(|panic| Err(CompileError::Internal(panic_text(&*panic))))
}

/// The fault that `CLADONIA_PLANT` (`lowering` or `codegen`) asks for, to show that comparing executions finds it.
fn planted() -> Option<Planted> {
    static PLANTED: std::sync::LazyLock<Option<Planted>> =
        std::sync::LazyLock::new(|| match std::env::var("CLADONIA_PLANT").as_deref() {
            Ok("lowering") => Some(Planted::Lowering),
            Ok("codegen") => Some(Planted::Codegen),
            _ => None,
        });
    *PLANTED
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
        .unwrap_or_else(|| "a panic".to_owned())
}

/// Whether a unit is to be made, for those who look for the one that misbehaves: `CLADONIA_UNITS` has parts of
/// `file:qualified name` with commas between, `CLADONIA_FIRST` a number of units, `CLADONIA_LOG` tells each.
fn is_wanted(gil: Gil, shape: &CodeShape, kind: Kind) -> bool {
    struct Wanted {
        only: Vec<String>,
        first: Option<u64>,
        log: bool,
    }
    static WANTED: OnceLock<Wanted> = OnceLock::new();
    let wanted = WANTED.get_or_init(|| Wanted {
        only: std::env::var("CLADONIA_UNITS")
            .map_or(Vec::new(), |s| s.split(',').map(str::to_owned).collect()),
        first: std::env::var("CLADONIA_FIRST")
            .ok()
            .and_then(|s| s.parse().ok()),
        log: std::env::var_os("CLADONIA_LOG").is_some(),
    });
    let name = || format!("{}:{}", shape.filename(), shape.name());
    if !wanted.only.is_empty() && !wanted.only.iter().any(|part| name().contains(part)) {
        return false;
    }
    let number = gil.runtime().totals.units.get();
    if wanted.first.is_some_and(|first| number >= first) {
        return false;
    }
    if wanted.log {
        eprintln!(
            "cladonia: unit {number}: {} line {} {kind:?}",
            name(),
            shape.line(0)
        );
    }
    true
}

/// Let go of the classes and objects that a compile has looked at, and no unit holds.
fn release() {
    // SAFETY: under the GIL, no compile is under way, no table is borrowed.
    unsafe { objects::release_seen() };
}

/// What the compiler is told of a unit's namespace, with cells for its names.
///
/// # Safety
/// The unit's globals are an exact dict.
unsafe fn namespace_of(gil: Gil, unit: &mut UnitState) -> Namespace {
    let dict = unit.globals;
    // SAFETY: the names are a tuple of interned strings, which the code object holds; looking a string up among a
    // module's names may only run code of the program where the dict has other keys, and then gives nothing.
    unsafe {
        let tuple: Object = get(unit.shape.code.cast(), abi::code::NAMES);
        let names: Vec<Object> = (0..PyTuple_Size(tuple))
            .map(|index| PyTuple_GetItem(tuple, index))
            .collect();
        let mut cells = vec![NameCell::EMPTY; names.len()].into_boxed_slice();
        let live_type = gil.runtime().front.live_type;
        let live = names.iter().zip(&mut cells);
        let live = live.map(|(name, cell)| live_type(namespace::find(dict, *name, cell)));
        let live = live.collect();
        let addresses = cells.iter().map(|cell| std::ptr::from_ref(cell) as u64);
        let names = names.iter().map(|name| *name as u64).zip(addresses);
        let namespace = Namespace {
            address: dict as u64,
            names: names.collect(),
            notes: gil.runtime().watches.own_bit(),
            live,
        };
        unit.cells = Some(cells);
        namespace
    }
}

/// Mark the instructions that the interpreter has not executed yet, of code that it has run. In a loop, once is as good
/// as never: nothing has been observed, and what lies in an outer loop may still become hot.
///
/// # Safety
/// `code` is of the live code object of `shape`.
unsafe fn mark_unreached(code: &mut Code, shape: &CodeShape, kind: Kind) {
    let most = matches!(kind, Kind::Loop { .. }) as u32;
    let executions: Vec<Option<u32>> = code
        .instrs
        .iter()
        // SAFETY: positions are those of code units that are no prefixes.
        .map(|i| unsafe {
            abi::feedback::first_executions(shape.units().add(2 * i.pos as usize).cast())
        })
        .collect();
    let is_new = code.instrs.iter().all(|i| i.hint.is_empty())
        && executions.iter().all(|n| n.unwrap_or(0) == 0);
    if is_new {
        return;
    }
    for (instr, count) in code.instrs.iter_mut().zip(executions) {
        if instr.hint.is_empty() && count.is_some_and(|n| n <= most) {
            instr.hint = vec![Type::BOTTOM];
        }
    }
}

/// Say of the uses of `super()` in a function's code which class they are in, and which are below it.
///
/// # Safety
/// A live Python function.
unsafe fn mark_supers(code: &mut Code, met: &mut HashMap<Pc, Met>, function: Object) {
    let uses = (0..).map(Pc).zip(&mut code.instrs);
    let mut uses = uses.filter(|(_, i)| i.op == Op::LoadSuperAttr).peekable();
    if function.is_null() || uses.peek().is_none() {
        return;
    }
    // SAFETY: the caller's.
    let Some(supers::Hints {
        class,
        instance,
        below,
    }) = (unsafe { supers::hints(function) })
    else {
        return;
    };
    for (pc, instr) in uses {
        instr.hint = vec![Type::OBJECT, class, instance];
        met.entry(pc).or_default().related.extend(&below);
    }
}

/// Code units that code may have to be inlined, its caches included; longer code would not be.
const MOST_INLINED_UNITS: isize = 400;

/// The bytecode of a function, if calls of it may become it; the function is null where it may be any of this code.
fn inlinee(gil: Gil, func: Object, [code, globals, builtins]: [Object; 3]) -> Option<Code> {
    // SAFETY: asked only for Python functions and their parts, with the GIL.
    unsafe {
        if gil.runtime().chosen.why_not(gil, globals).is_some() {
            return None;
        }
        let units: isize = get(code.cast(), abi::object::VAR_SIZE);
        let state = state_of(gil, code);
        let shape = state.shape;
        // What has lost bets on numbers is better off with a unit of its own, which has learnt from it.
        let can_forgo = |(_, reason): &(Pc, Reason)| {
            use Reason::{Identity, Shape, Type, Unreached};
            matches!(reason, Type | Shape | Identity | Unreached)
        };
        let learnt = state.learnt.borrow().clone();
        let is_offered = units <= MOST_INLINED_UNITS
            && shape.is_plain()
            && shape.optimized()
            && !shape.is_generator()
            && state.refused.get().is_none()
            && learnt.avoid.iter().all(can_forgo)
            && learnt.operands.is_empty()
            && !monitoring::is_observed(gil, &shape);
        if !is_offered {
            return None;
        }
        let reached_late = state.reached_late.get();
        let translate = gil.runtime().front.translate;
        let made = catch_unwind(|| translate(code, globals, builtins));
        let mut code = made.ok()?.ok()?;
        if gil.runtime().options.get().threshold > 0 && reached_late < MOST_REACHED_LATE {
            mark_unreached(&mut code, &shape, Kind::Function);
        }
        sampling::tell(&learnt, &mut code, &mut HashMap::new());
        // Where a bet was lost or several classes were met, what the call shows of its arguments must be enough.
        let lost = learnt.avoid.iter().map(|(pc, _)| pc);
        for pc in lost.chain(learnt.met.keys()) {
            code.instrs[pc.0 as usize].hint.clear();
        }
        mark_supers(&mut code, &mut HashMap::new(), func);
        Some(code)
    }
}

/// Compile one unit; it is in no table yet.
///
/// # Safety
/// The code object is alive; for a loop, `live` are the types of the frame's locals and stack; the globals are an exact
/// dict and the frame's namespace if it is `at_top` of a module. For a function that may get a closed unit, `calls` is
/// its entry. `function` is one that has the code, or null.
#[allow(clippy::too_many_arguments, reason = "what a unit is made of")]
pub(super) unsafe fn compile_unit(
    gil: Gil,
    shape: CodeShape,
    globals: Object,
    builtins: Object,
    kind: Kind,
    at_top: bool,
    live: &[Type],
    calls: Option<&Entry>,
    function: Object,
) -> Result<UnitRef, Refusal> {
    if !gil.runtime().can_compile() {
        return Err(Refusal::Busy);
    }
    collect(gil);
    // SAFETY: the caller's promise.
    unsafe {
        match ordered(gil, &shape, globals, builtins, kind, at_top)? {
            Some(unit) => Ok(unit),
            None => make_unit(
                gil, shape, globals, builtins, kind, at_top, live, calls, function,
            ),
        }
    }
}

/// [`compile_unit`], where none was ordered.
///
/// # Safety
/// As of [`compile_unit`].
#[allow(clippy::too_many_arguments, reason = "what a unit is made of")]
unsafe fn make_unit(
    gil: Gil,
    shape: CodeShape,
    globals: Object,
    builtins: Object,
    kind: Kind,
    at_top: bool,
    live: &[Type],
    calls: Option<&Entry>,
    function: Object,
) -> Result<UnitRef, Refusal> {
    if !gil.runtime().can_compile() {
        return Err(Refusal::Busy);
    }
    if gil
        .runtime()
        .totals
        .units
        .get()
        .is_multiple_of(UNITS_BETWEEN_SWEEPS)
    {
        function_state::forget_unused(gil);
        // SAFETY: under the GIL, no compile is under way.
        unsafe { objects::release_unused() };
    }
    units::reclaim(gil);
    if gil.runtime().workers.are_full() {
        return Err(Refusal::Busy);
    }
    if !is_wanted(gil, &shape, kind) {
        return Err(Refusal::Lasting("left out on purpose".into()));
    }
    // SAFETY: the caller's promise.
    if let Some(reason) = unsafe { gil.runtime().chosen.why_not(gil, globals) } {
        return Err(Refusal::Lasting(reason.into()));
    }
    if !frames::fits(&shape) {
        return Err(Refusal::Lasting(format!(
            "{} locals exceed the limit",
            shape.nlocalsplus
        )));
    }
    // SAFETY: the caller's promise.
    let state = unsafe { state_of(gil, shape.code) };
    state.tried.set(true);
    // Feedback grows, so each compile translates anew; positions of instructions stay what they were.
    let mut code = catch_unwind(|| (gil.runtime().front.translate)(shape.code, globals, builtins))
        .unwrap_or_else(|panic| Err(CompileError::Internal(panic_text(&*panic))))
        .map_err(|e| Refusal::Lasting(e.to_string()))?;
    // SAFETY: the caller's promise.
    let made_functions = unsafe { generators::make_functions(&mut code, globals, builtins) };
    let skips_unreached = gil.runtime().options.get().threshold > 0;
    if skips_unreached && state.reached_late.get() < MOST_REACHED_LATE {
        // SAFETY: the caller's promise.
        unsafe { mark_unreached(&mut code, &shape, kind) };
    }
    let entry = match kind {
        Kind::Function => Start::Function,
        Kind::Generator => Start::Resume,
        Kind::Loop { pos, .. } => Start::Loop(
            code.pc_at(pos)
                .ok_or_else(|| Refusal::Lasting("no instruction at the loop".into()))?,
        ),
    };
    // SAFETY: the caller's promise.
    let mut unit = unsafe { UnitState::new(gil, shape, globals, builtins, kind) };
    unit.positions = code.instrs.iter().map(|i| (i.pos, i.resume)).collect();
    unit.consumed = code
        .instrs
        .iter()
        .map(|instr| instr.dropped_on_error(code.last_first))
        .collect();
    unit.at_top = at_top;
    if kind == Kind::Generator {
        // SAFETY: the caller's promise.
        let units: isize = unsafe { get(shape.code.cast(), abi::object::VAR_SIZE) };
        let table = generators::resume_table(&code, units as usize).map_err(Refusal::Lasting)?;
        unit.points = Some(table);
        unit.forwards.set(Forward::table(&code, units as usize));
    }
    // SAFETY: the caller's promise.
    let namespace = unsafe {
        let exact = at_top || PyDict_CheckExact(globals) != 0;
        let binds = code.optimized && code.binds_globals() && !shape.is_generator();
        (exact && (at_top || binds)).then(|| namespace_of(gil, &mut unit))
    };
    unit.teaches = code
        .instrs
        .iter()
        .map(|i| sampling::teaches(i.op))
        .collect();
    if gil.runtime().options.get().force.is_some() {
        unit.force = Some(vec![Cell::new(0); FORCE_CAPACITY].into_boxed_slice());
    }
    let closed = calls
        .filter(|_| shape.is_plain() && !state.open.get())
        .map(|entry| closed::parts(entry, &unit));
    let (enter, leave, suspend) = match kind {
        Kind::Generator => (
            generators::enter(&unit),
            generators::leave(&unit),
            Some(generators::suspend(&unit)),
        ),
        _ => (frames::enter(&unit), frames::leave(&unit), None),
    };
    let is_private = gil.runtime().listing.is_unlikely();
    let parts = UnitParts {
        closed,
        token: unit.token(),
        cells: unit.checked.address(),
        loop_counter: unit.iterations.as_ptr() as u64,
        enter,
        leave,
        suspend,
        announcement: (kind == Kind::Generator).then(generators::announcement),
        position_base: shape.units() as u64,
        position_scale: 2,
        namespace,
        objects_are_private: is_private,
        force_table: unit.force.as_ref().map(|t| t.as_ptr() as u64),
    };
    // SAFETY: the caller's promise; the code was decoded from the state's.
    unsafe { healing::expect_others(&state, &code) };
    sampling::expect_locals(
        &state.locals.borrow(),
        &mut state.learnt.borrow_mut(),
        &code,
    );
    let sites = state.sites.borrow();
    sites.expect(&mut state.learnt.borrow_mut(), &code);
    drop(sites);
    let learnt = state.learnt.borrow().clone();
    // SAFETY: the caller's promise. The classes are held until the unit is made, which pins those that it names.
    let (mut met, held) = unsafe { healing::classes_met(&learnt) };
    healing::numbers_met(&learnt, &code, &mut met);
    healing::mark_kin(&learnt, &mut code);
    // SAFETY: the caller's promise.
    let sampled = unsafe { sampling::tell(&learnt, &mut code, &mut met) };
    // SAFETY: the caller's promise.
    unsafe { mark_supers(&mut code, &mut met, function) };
    let started = Instant::now();
    // It was there, and nothing of the program has run since; but who has looked for it may not have left a place to say so.
    let compiler = &gil.runtime().compiler;
    let mut engine = compiler.take(gil)?;
    let options = gil.runtime().options.get();
    engine.execution = options.execution;
    engine.without.clone_from(&gil.runtime().without.borrow());
    engine.planted = planted();
    engine.check_facts = options.check_facts;
    let instrs = &gil.runtime().totals.instrs;
    instrs.update(|instrs| instrs + code.instrs.len() as u64);
    let is_beside = gil.runtime().workers.are_wanted(gil) && engine.replays.is_none();
    let mut pending = Pending::default();
    let Some((host, anywhere)) = compiler.host() else {
        compiler.put_back(engine);
        return Err(Refusal::Busy);
    };
    let made = catch_unwind(AssertUnwindSafe(|| {
        with_world(gil, host, &unit, &pending.others, |world| {
            let request = Request {
                code: &code,
                entry,
                live,
                world,
                parts,
                avoid: &learnt.avoid,
                met: &met,
            };
            match is_beside {
                true => {
                    let frozen = engine.freeze(request, Some(anywhere.clone()));
                    Ok(Made::Frozen(Box::new(frozen)))
                }
                false => engine.compile(request).map(Box::new).map(Made::Unit),
            }
        })
    }));
    compiler.put_back(engine);
    let took = started.elapsed();
    let spent = &gil.runtime().totals.compile_ns;
    spent.update(|spent| spent + took.as_nanos() as u64);
    unit.cost = (Instant::now(), took);
    let made = made
        .unwrap_or_else(|panic| Err(CompileError::Internal(panic_text(&*panic))))
        .map_err(|e| {
            release();
            Refusal::Lasting(e.to_string())
        })?;
    match made {
        Made::Unit(mut made) => {
            made.assumptions.extend(made_functions);
            // SAFETY: what was asked about is referred to until it is released.
            unsafe { unit.finish(*made) };
            drop((held, sampled));
            let unit = Box::into_raw(unit);
            // SAFETY: the unit is alive, and in no table.
            unsafe {
                watch(gil, unit)?;
                complete(gil, unit);
            }
            Ok(unit)
        }
        Made::Frozen(request) => {
            pending.own = code.consts.iter().map(|own| own.object).collect();
            // SAFETY: the code object is alive, and keeps these.
            pending
                .own
                .extend(unsafe { objects::codes_within(shape.code) });
            if made_functions.is_some() {
                pending.made.clone_from(&pending.own);
            }
            pending.certain = made_functions.into_iter().collect();
            if is_private {
                pending.certain.push(Assumption::ObjectsPrivate);
            }
            unit.pending = Some(pending);
            let unit = Box::into_raw(unit);
            // SAFETY: the unit is alive.
            unsafe {
                (*unit).take_answers(request.world());
                // Those that the compiler was told of are pinned.
                drop((held, sampled));
                watch(gil, unit)?;
                order(gil, unit, request);
            }
            Err(Refusal::Busy)
        }
    }
}

/// What a request to the compiler has come to.
enum Made {
    Unit(Box<Unit>),
    /// For a worker.
    Frozen(Box<FrozenRequest>),
}

/// Ask the program as it is now what the compiler asks of it for a unit.
fn with_world<R>(
    gil: Gil,
    host: &Host,
    unit: &UnitState,
    others: &Namespaces,
    ask: impl FnOnce(&dyn World) -> R,
) -> R {
    // SAFETY: the compiler asks for Python functions that are alive.
    let entry_cell = |parts| unsafe { function_state::entry_cell(gil, parts).unwrap_or(0) };
    // SAFETY: as above.
    let raw_entry = |func| unsafe { closed::raw_entry(gil, func) };
    let is_unstable = |dict, name: &str| gil.runtime().watches.is_unstable(dict, name);
    let known = Known {
        entry_cell: &entry_cell,
        raw_entry: &raw_entry,
        inlinee: &|func, parts| inlinee(gil, func, parts),
        is_unstable: &is_unstable,
        others,
    };
    let UnitState {
        shape,
        globals,
        builtins,
        ..
    } = unit;
    let world = (gil.runtime().front.world)(host, shape.code, *globals, *builtins, known);
    ask(&*world)
}

/// Watch what a new unit relies on, and let go of what was only looked at.
///
/// # Errors
/// A [`Refusal`]: the unit is gone, or it is retired.
///
/// # Safety
/// The unit is alive and in no table.
unsafe fn watch(gil: Gil, unit: UnitRef) -> Result<(), Refusal> {
    // SAFETY: the caller's promise. What is released may run code of the program, which may change what the unit relies on: then it is
    // retired, but not reclaimed yet; retired units are alive until they are.
    unsafe {
        let watched = gil.runtime().watches.register(gil, unit);
        units::keeping(unit, release);
        if !watched {
            // No table and no compiled code refers to the unit yet.
            drop(Box::from_raw(unit));
            return Err(Refusal::Lasting(
                "what it relies on cannot be watched".into(),
            ));
        }
        match (*unit).is_valid() {
            true => Ok(()),
            false => Err(Refusal::Busy),
        }
    }
}

/// Whether who asked for a unit of a code object last was told that workers are at what it needs, and they have delivered nothing
/// since: then it is in vain to ask again.
pub fn is_waiting(gil: Gil, state: &CodeState) -> bool {
    let workers = &gil.runtime().workers;
    let Some(busy_at) = state.busy_at.get() else {
        return false;
    };
    if workers.is_empty_handed() || !workers.are_wanted(gil) {
        return false;
    }
    let delivered = workers.delivered();
    if busy_at == delivered {
        return true;
    }
    // Something was delivered, but nothing of this code.
    let is_open = state.is_all_ordered() && {
        collect(gil);
        state.is_all_ordered()
    };
    if is_open {
        state.busy_at.set(Some(delivered));
    }
    is_open
}

/// Make a unit of a code object, unless it is [in vain](is_waiting) to ask.
///
/// # Errors
/// Those of `make`.
///
/// # Safety
/// The code object is alive.
pub(super) unsafe fn unless_busy<T>(
    gil: Gil,
    code: Object,
    make: impl FnOnce() -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    // SAFETY: the caller's promise.
    let state = unsafe { state_of(gil, code) };
    if is_waiting(gil, &state) {
        return Err(Refusal::Busy);
    }
    let delivered = gil.runtime().workers.delivered();
    let totals = &gil.runtime().totals;
    let is_outermost = !totals.is_stalled.replace(true);
    if is_outermost {
        gil.runtime().recording.compiles(true);
    }
    let (started, before) = (Instant::now(), totals.instrs.get());
    let made = make();
    if is_outermost {
        totals.is_stalled.set(false);
        gil.runtime().recording.compiles(false);
        // To ask in vain, or to install what is there, takes microseconds.
        if totals.instrs.get() != before {
            totals.stalled(started.elapsed());
        }
    }
    let is_busy = matches!(made, Err(Refusal::Busy));
    // SAFETY: as before; it may be another state by now.
    let state = unsafe { state_of(gil, code) };
    state.busy_at.set(is_busy.then_some(delivered));
    made
}

/// A unit was made: count it, and prepare it to be entered.
///
/// # Safety
/// The unit is alive and watched, and nobody else refers to it but those who watch.
unsafe fn complete(gil: Gil, unit: UnitRef) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(compiled) = &(*unit).unit {
            gil.runtime().totals.compiled(compiled);
        }
        healing::prepare(gil, &mut *unit);
        gil.runtime().totals.units.update(|made| made + 1);
        gil.runtime().recording.compiled(unit);
        gil.runtime().symbols.name(&*unit);
        state_of(gil, (*unit).shape.code).compiled.set(true);
        // Those that rely on what the unit stores are alive, as units in tables are.
        watchers::announce_stores(gil, unit);
    }
}

/// Have a unit made beside the program.
///
/// # Safety
/// The unit is alive, watched and valid.
unsafe fn order(gil: Gil, unit: UnitRef, request: Box<FrozenRequest>) {
    // SAFETY: the caller's promise.
    unsafe {
        let state = state_of(gil, (*unit).shape.code);
        state.ordered.borrow_mut().push(unit);
        let entry = match (*unit).kind {
            Kind::Function => state.entry((*unit).globals, (*unit).builtins),
            _ => None,
        };
        let without = entry.filter(|entry| entry.stub.get().is_none());
        let stub = without.map(|entry| super::entries::stub(&entry));
        place(gil, unit, Order { request, stub });
        while let Some(order) = gil.runtime().workers.asked_at_once(unit) {
            take(gil, unit, Outcome::Asks(order));
        }
    }
}

/// Give workers an order, the first or another one for its unit.
fn place(gil: Gil, unit: UnitRef, order: Order) {
    with_generators(gil, |generator| {
        gil.runtime().workers.order(gil, unit, order, generator);
    });
}

/// Do something for which there is a maker of code generators.
fn with_generators(gil: Gil, act: impl FnOnce(&dyn Fn() -> Generator)) {
    let compiler = &gil.runtime().compiler;
    compiler.if_made(|engine| act(&|| engine.generator()));
}

/// Take what workers have made since this was called last: each unit is ready to be installed, or stale and given up; and answer what they
/// have asked. Called wherever the program is watched, since it costs nothing while there is nothing.
pub fn collect(gil: Gil) {
    let workers = &gil.runtime().workers;
    if !workers.have_news() || !gil.runtime().can_compile() {
        return;
    }
    if workers.are_missing() {
        workers.start(gil);
        with_generators(gil, |generator| workers.supply(generator));
    }
    let started = Instant::now();
    let mut are_taken = false;
    gil.runtime().recording.compiles(true);
    while let Some((unit, outcome)) = workers.collect() {
        // SAFETY: the order of a unit that goes away is withdrawn.
        unsafe { take(gil, unit, outcome) };
        are_taken = true;
    }
    let is_stalled = gil.runtime().totals.is_stalled.get();
    gil.runtime().recording.compiles(is_stalled);
    if are_taken && !is_stalled {
        gil.runtime().totals.stalled(started.elapsed());
    }
}

/// Take what has come of one order.
///
/// # Safety
/// It is the unit's, which is alive, and nothing was compiled since it was [collected](super::workers::Workers::collect).
unsafe fn take(gil: Gil, unit: UnitRef, outcome: Outcome) {
    // SAFETY: the caller's promise.
    unsafe {
        if !(*unit).is_valid() {
            // It was retired while its order was taken back.
            return;
        }
        let made = match outcome {
            Outcome::Asks(mut order) => match answer(gil, unit, &mut order.request) {
                Ok(true) => return place(gil, unit, order),
                Ok(false) => return,
                Err(error) => Err(error),
            },
            Outcome::Made(made, stub) => {
                let made = made.map(|made| *made);
                if let Some(Ok(stub)) = stub {
                    let state = state_of(gil, (*unit).shape.code);
                    if let Some(entry) = state.entry((*unit).globals, (*unit).builtins) {
                        entry.stub.get_or_init(|| stub);
                        gil.runtime().symbols.name_entry(&entry);
                    }
                }
                made
            }
        };
        settle(gil, unit, made);
    }
}

/// Answer what the compiler has asked for a unit. Gives whether the unit is still valid.
///
/// # Errors
/// What was answered can't be watched.
///
/// # Safety
/// The unit is alive and pending.
unsafe fn answer(
    gil: Gil,
    unit: UnitRef,
    request: &mut FrozenRequest,
) -> Result<bool, CompileError> {
    let Some((host, _)) = gil.runtime().compiler.host() else {
        return Err(CompileError::EngineDropped);
    };
    let started = Instant::now();
    // SAFETY: the caller's promise.
    let (state, pending) = unsafe { (&*unit, (*unit).pending.as_ref()) };
    let Some(pending) = pending else {
        return Ok(false);
    };
    let answered = catch_unwind(AssertUnwindSafe(|| {
        with_world(gil, host, state, &pending.others, |world| {
            request.answer(world)
        })
    }));
    // SAFETY: the caller's promise; nothing else borrows it now.
    unsafe {
        let new = (*unit).take_answers(request.world());
        let is_watched = (*unit).is_valid() && gil.runtime().watches.watch(gil, unit, &new);
        units::keeping(unit, release);
        let spent = &gil.runtime().totals.compile_ns;
        spent.update(|spent| spent + started.elapsed().as_nanos() as u64);
        match answered {
            Err(panic) => Err(CompileError::Internal(panic_text(&*panic))),
            Ok(_) if !(*unit).is_valid() => Ok(false),
            Ok(_) if is_watched => Ok(true),
            Ok(_) => Err(CompileError::Invalid(
                "what it relies on cannot be watched".into(),
            )),
        }
    }
}

/// A unit was made that was ordered, or can't be: then it is gone, and that is on record.
///
/// # Safety
/// The unit is alive, pending and valid, and its order is taken.
unsafe fn settle(gil: Gil, unit: UnitRef, made: Result<Unit, CompileError>) {
    // SAFETY: the caller's promise.
    unsafe {
        let state = state_of(gil, (*unit).shape.code);
        let pos = match (*unit).kind {
            Kind::Loop { pos, .. } => Some(pos),
            _ => None,
        };
        let has_changed = (*unit).pending.as_ref().is_none_or(Pending::has_changed);
        let reason = match made {
            // Things may have ended that it would have named. If it is a fault, the next unit shows it too.
            Err(_) if has_changed => match give_up_stale(gil, unit) {
                Refusal::Lasting(reason) => reason,
                Refusal::Busy => return,
            },
            Err(error) => error.to_string(),
            Ok(made) => match install_pending(gil, unit, made) {
                Err(Refusal::Lasting(reason)) => reason,
                Ok(()) | Err(Refusal::Busy) => return,
            },
        };
        state.ordered.borrow_mut().retain(|&other| other != unit);
        gil.runtime().watches.forget(unit);
        drop(Box::from_raw(unit));
        match pos {
            None => drop(refuse(gil, state.shape.code, reason)),
            Some(pos) => {
                state.with_loop(pos, |slot| slot.closed = true);
                state.loops_refused.get_or_init(|| reason);
            }
        }
    }
}

/// A unit that was made beside the program can't be used, since what it was told has changed. Gives why: if the refusal is
/// [busy](Refusal::Busy), the unit is retired and may be made again.
///
/// # Safety
/// The unit is alive and valid.
unsafe fn give_up_stale(gil: Gil, unit: UnitRef) -> Refusal {
    // SAFETY: the caller's promise.
    unsafe {
        let state = state_of(gil, (*unit).shape.code);
        state.stale.update(|stale| stale + 1);
        gil.runtime().totals.stale.update(|stale| stale + 1);
        if state.stale.get() > MOST_STALE {
            return Refusal::Lasting(
                "what it relies on was gone when it was made, again and again".into(),
            );
        }
        let why = "it was stale when it was made";
        let recording = &gil.runtime().recording;
        recording.because(why, || units::invalidate(gil, unit));
        Refusal::Busy
    }
}

/// Take over a unit that was made beside the program: from now on only what it relies on is watched, and only what it names is held.
///
/// # Errors
/// A [`Refusal`]; if it is busy, the unit is retired.
///
/// # Safety
/// The unit is alive, pending and valid.
unsafe fn install_pending(gil: Gil, unit: UnitRef, mut made: Unit) -> Result<(), Refusal> {
    // SAFETY: the caller's promise.
    unsafe {
        let is_broken = |pending: &Pending| pending.is_broken(&made);
        if (*unit).pending.as_ref().is_none_or(is_broken) {
            return Err(give_up_stale(gil, unit));
        }
        let Some(pending) = (*unit).pending.take() else {
            return Err(Refusal::Busy);
        };
        // The compiler says itself whether that is relied on.
        let certain = pending.certain.iter();
        let certain = certain.filter(|other| **other != Assumption::ObjectsPrivate);
        made.assumptions.extend(certain.cloned());
        let took: Duration = made.timings.iter().map(|(_, took)| *took).sum();
        let beside = &gil.runtime().totals.beside_ns;
        beside.update(|ns| ns + took.as_nanos() as u64);
        let (_, here) = (*unit).cost;
        (*unit).cost = (Instant::now(), here + took / worth::BESIDE);
        (*unit).finish(made);
        let watches = &gil.runtime().watches;
        let is_watched = watches.register(gil, unit);
        let kept: HashSet<&Assumption> = (*unit).assumptions().iter().collect();
        for assumption in pending.assumptions() {
            if !kept.contains(assumption) {
                watches.unwatch(unit, assumption);
            }
        }
        if !is_watched {
            return Err(Refusal::Lasting(
                "what it relies on cannot be watched".into(),
            ));
        }
        units::keeping(unit, || {
            drop(pending);
            release();
        });
        if !(*unit).is_valid() {
            return Err(Refusal::Busy);
        }
        complete(gil, unit);
        Ok(())
    }
}

/// Make a unit here that was ordered.
///
/// # Safety
/// The unit is alive, pending and valid, and its order is taken back.
unsafe fn finish_here(gil: Gil, unit: UnitRef, mut request: Box<FrozenRequest>) {
    let compiler = &gil.runtime().compiler;
    loop {
        let started = Instant::now();
        let made = compiler.with(gil, |engine| engine.generator().compile(&mut request));
        let spent = &gil.runtime().totals.compile_ns;
        spent.update(|spent| spent + started.elapsed().as_nanos() as u64);
        // SAFETY: the caller's promise.
        let made = unsafe {
            match made {
                None => Err(CompileError::Internal("the compiler is at work".into())),
                Some(Some(made)) => made,
                Some(None) => match answer(gil, unit, &mut request) {
                    Ok(true) => continue,
                    Ok(false) => return,
                    Err(error) => Err(error),
                },
            }
        };
        // SAFETY: the caller's promise.
        return unsafe { settle(gil, unit, made) };
    }
}

/// The unit that was ordered for this place, if it is ready to be installed; it is in no table any more.
///
/// # Errors
/// [`Refusal::Busy`] while a worker is at it, unless the caller insists: then it is waited for.
///
/// # Safety
/// The code object is alive.
unsafe fn ordered(
    gil: Gil,
    shape: &CodeShape,
    globals: Object,
    builtins: Object,
    kind: Kind,
    at_top: bool,
) -> Result<Option<UnitRef>, Refusal> {
    // SAFETY: the caller's promise; units in tables are alive.
    unsafe {
        let state = state_of(gil, shape.code);
        let find = || state.ordered_unit(kind, globals, builtins, at_top);
        let Some(unit) = find() else {
            return Ok(None);
        };
        if (*unit).progress.get() == Progress::Ordered {
            if gil.runtime().workers.are_wanted(gil) {
                return Err(Refusal::Busy);
            }
            match gil.runtime().workers.take_back(unit) {
                Some(Outcome::Asks(order)) => finish_here(gil, unit, order.request),
                Some(made) => take(gil, unit, made),
                None => {}
            }
        }
        let Some(unit) = find() else {
            return Ok(None);
        };
        state.ordered.borrow_mut().retain(|&other| other != unit);
        Ok(Some(unit))
    }
}

/// Compile a function and let its calls run natively.
///
/// # Errors
/// A [`Refusal`]; a lasting one is recorded.
///
/// # Safety
/// `func` is a Python function.
pub unsafe fn compile_function(gil: Gil, func: Object, live: &[Type]) -> Result<(), Refusal> {
    if !frames::has_stack(STACK_FOR_A_COMPILE) {
        return Err(Refusal::Busy);
    }
    // SAFETY: the caller's promise, here and below.
    unsafe {
        let (code, ..) = function_state::parts_of(func);
        let state = state_of(gil, code);
        if let Some(reason) = state.refused.get() {
            return Err(Refusal::Lasting(reason.clone()));
        }
        let shape = state.shape;
        if !shape.optimized() {
            return Err(refuse(gil, code, "its locals are a namespace".into()));
        }
        unless_busy(gil, code, || {
            make_function(gil, func, shape, live)?;
            ensure_stub(gil, func)
        })?;
        let entry = function_state::entry_of(gil, func).expect("made above");
        if let Some(unit) = entry.unit.get() {
            entry.cell.set((*unit).entry() as u64);
        }
        function_state::install(gil, func);
        Ok(())
    }
}

/// The part of [`compile_function`] that makes units.
///
/// # Safety
/// As of [`compile_function`].
unsafe fn make_function(
    gil: Gil,
    func: Object,
    shape: CodeShape,
    live: &[Type],
) -> Result<(), Refusal> {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        let (code, globals, builtins) = function_state::parts_of(func);
        // The locals' types say something of the generator's start only.
        let mut live = live;
        if shape.is_generator() {
            compile_callees(gil, shape, code, globals)?;
            match generators::compile(gil, func, live) {
                Err(Refusal::Lasting(reason)) => return Err(refuse(gil, code, reason)),
                done => done?,
            }
            live = &[];
        }
        let Some(entry) = function_state::entry_of(gil, func) else {
            return Err(refuse(
                gil,
                code,
                "it runs in too many namespaces, or code memory is full".into(),
            ));
        };
        if let Some(maker) = generators::maker(&state_of(gil, code)) {
            let entry = function_state::entry_of(gil, func).expect("made above");
            entry.cell.set(maker);
            entry.versions.set(1);
        } else if entry.unit.get().is_none() {
            compile_callees(gil, shape, code, globals)?;
            let entry = function_state::entry_of(gil, func).expect("made above");
            let most = state_of(gil, code).most_versions();
            if entry.versions.get() >= most {
                return Err(refuse(
                    gil,
                    code,
                    format!("its bets failed in {most} versions"),
                ));
            }
            if entry.live.borrow().is_empty() {
                entry.live.replace(live.to_vec());
            }
            let live = entry.live.borrow().clone();
            let calls = (!shape.is_generator()).then_some(&*entry);
            let made = match compile_unit(
                gil,
                shape,
                globals,
                builtins,
                Kind::Function,
                false,
                &live,
                calls,
                func,
            ) {
                Ok(unit) => unit,
                Err(Refusal::Lasting(reason)) => return Err(refuse(gil, code, reason)),
                Err(busy) => return Err(busy),
            };
            let entry = function_state::entry_of(gil, func).expect("made above");
            entry.unit.set(Some(made));
            entry.versions.update(|made| made + 1);
            entry.recompile.set(false);
            if closed::install(&entry, &*made) {
                // Units that call it with what an older unit took would do so in vain.
                watchers::raw_entry_changed(gil, code, made);
            }
        }
        Ok(())
    }
}

/// Compile the functions that a code object names and that are about to be hot themselves, so that it can call them
/// with raw values.
///
/// # Errors
/// [`Refusal::Busy`] if one of them is being made beside the program: it is worth waiting for.
unsafe fn compile_callees(
    gil: Gil,
    shape: CodeShape,
    code: Object,
    globals: Object,
) -> Result<(), Refusal> {
    /// Callees of callees are compiled first, to this depth.
    const MOST_DEPTH: u32 = 4;
    let threshold = gil.runtime().options.get().threshold;
    let depth = &gil.runtime().compile_depth;
    if threshold == 0 || depth.get() >= MOST_DEPTH {
        return Ok(());
    }
    depth.update(|depth| depth + 1);
    let mut are_made = Ok(());
    // SAFETY: names are a tuple of strings that the code object holds, globals a dict; a callee is held meanwhile.
    unsafe {
        let names: Object = get(shape.code.cast(), abi::code::NAMES);
        for index in 0..PyTuple_Size(names) {
            let callee = PyDict_GetItemWithError(globals, PyTuple_GetItem(names, index));
            if callee.is_null() {
                PyErr_Clear();
                continue;
            }
            if Py_TYPE(callee) != &raw mut PyFunction_Type {
                continue;
            }
            let (other, ..) = function_state::parts_of(callee);
            let is_due = || {
                let state = gil.runtime().state(other);
                state.is_some_and(|state| worth::is_due_with_caller(gil, &state))
            };
            if other == code || !is_due() {
                continue;
            }
            let is_new = |e: Rc<Entry>| e.unit.get().is_none() && e.versions.get() == 0;
            if function_state::entry_of(gil, callee).is_some_and(is_new) {
                let callee = Py_NewRef(callee);
                // What is refused is recorded.
                are_made = match compile_function(gil, callee, &[]) {
                    Err(Refusal::Busy) => Err(Refusal::Busy),
                    _ => Ok(()),
                };
                Py_DECREF(callee);
                // One at a time: each keeps the program from its work.
                if are_made.is_err() {
                    break;
                }
            }
        }
    }
    depth.update(|depth| depth - 1);
    are_made
}

unsafe fn ensure_stub(gil: Gil, func: Object) -> Result<(), Refusal> {
    // SAFETY: the caller's promise.
    unsafe {
        let entry = function_state::entry_of(gil, func).ok_or(Refusal::Busy)?;
        if entry.stub.get().is_none() {
            let (code, ..) = function_state::parts_of(func);
            match compile_stub(gil, super::entries::stub(&entry)) {
                Ok(stub) => entry.stub.get_or_init(|| stub),
                Err(error) => return Err(refuse(gil, code, error.to_string())),
            };
            gil.runtime().symbols.name_entry(&entry);
        }
        Ok(())
    }
}

/// Record that a function stays interpreted.
fn refuse(gil: Gil, code: Object, reason: String) -> Refusal {
    // SAFETY: the code object is alive.
    let state = unsafe { state_of(gil, code) };
    // SAFETY: the code object is alive.
    unsafe { gil.runtime().recording.refused(code, &reason) };
    state.refused.get_or_init(|| reason.clone());
    Refusal::Lasting(reason)
}

/// A unit for going on from inside a frame, compiled if there is none yet.
///
/// # Errors
/// A [`Refusal`]; a lasting one is recorded.
///
/// # Safety
/// The code object is alive and `live` are the types of the frame's locals and stack; the globals are an exact dict and
/// the frame's namespace if it is `at_top` of a module. `function` is the frame's.
#[allow(clippy::too_many_arguments, reason = "what a unit is made of")]
pub unsafe fn compile_loop(
    gil: Gil,
    shape: CodeShape,
    globals: Object,
    builtins: Object,
    kind: Kind,
    at_top: bool,
    live: &[Type],
    function: Object,
) -> Result<UnitRef, Refusal> {
    let Kind::Loop { pos, .. } = kind else {
        return Err(Refusal::Busy);
    };
    // SAFETY: the caller's promise.
    unsafe {
        let state = state_of(gil, shape.code);
        if let Some(unit) = state.loop_unit(kind, globals, builtins, at_top) {
            return Ok(unit);
        }
        if !frames::has_stack(STACK_FOR_A_COMPILE) {
            return Err(Refusal::Busy);
        }
        if let Some(reason) = state.loops_refused.get() {
            return Err(Refusal::Lasting(reason.clone()));
        }
        let most = state.most_versions();
        let is_closed = state.with_loop(pos, |slot| {
            slot.closed |= slot.versions >= most;
            slot.closed
        });
        if is_closed {
            return Err(Refusal::Lasting(format!(
                "its bets failed in {most} versions"
            )));
        }
        let made = unless_busy(gil, shape.code, || {
            compile_unit(
                gil, shape, globals, builtins, kind, at_top, live, None, function,
            )
        });
        match made {
            Ok(unit) => {
                state_of(gil, shape.code).with_loop(pos, |slot| {
                    slot.versions += 1;
                    slot.units.push(unit);
                });
                Ok(unit)
            }
            Err(Refusal::Lasting(reason)) => {
                let state = state_of(gil, shape.code);
                state.with_loop(pos, |slot| slot.closed = true);
                gil.runtime().recording.refused(shape.code, &reason);
                state.loops_refused.get_or_init(|| reason.clone());
                if !shape.optimized() || !state.has_function_unit() {
                    state.refused.get_or_init(|| reason.clone());
                }
                Err(Refusal::Lasting(reason))
            }
            Err(busy) => Err(busy),
        }
    }
}

/// Native code has called a function that has no unit. If it lost one and may get another, or if it pays to have one, it is
/// asked for.
///
/// # Safety
/// `func` is a Python function of this code.
pub unsafe fn called_by_native(gil: Gil, func: Object, code: Object) {
    let runtime = gil.runtime();
    let Some(state) = runtime.state(code) else {
        return;
    };
    if !runtime.can_compile() {
        return;
    }
    // Again also where the JIT is not on: who asked for this function to be compiled asked for more than its first unit.
    let is_lost = state.entries.borrow().iter().any(|e| e.recompile.get());
    // SAFETY: the caller's promise.
    unsafe {
        if is_lost || runtime.on.get() && worth::of_native_call(gil, &state) {
            recompile(gil, func);
        }
    }
}

/// Compile a function again. What is wrong is recorded; the call that asked goes on in the interpreter.
///
/// # Safety
/// `func` is a Python function.
pub unsafe fn recompile(gil: Gil, func: Object) {
    // SAFETY: the caller's promise.
    unsafe {
        let (code, ..) = function_state::parts_of(func);
        match compile_function(gil, func, &[]) {
            Ok(()) | Err(Refusal::Busy) => {}
            Err(Refusal::Lasting(reason)) => function_state::give_up(gil, code, &reason),
        }
    }
}

/// A compile that was made for its text forms only.
pub struct Inspected {
    /// The text of each stage; why there is none.
    pub stages: Result<Vec<(&'static str, String)>, Refusal>,
    /// What the compile followed from, if it came so far: a section of a document.
    pub unit: Option<String>,
}

/// The text forms of a function, of a unit that is never entered.
///
/// # Safety
/// `func` is a Python function.
pub unsafe fn inspect(gil: Gil, func: Object) -> Inspected {
    // SAFETY: the caller's promise.
    unsafe {
        let (code, globals, builtins) = function_state::parts_of(func);
        let shape = CodeShape::of(code);
        let compiler = &gil.runtime().compiler;
        let before = compiler.with(gil, |engine| {
            engine.keep_dumps = true;
            engine.replays.replace(Vec::new())
        });
        let calls = function_state::entry_of(gil, func);
        let kind = if shape.is_generator() {
            Kind::Generator
        } else {
            Kind::Function
        };
        let calls = calls.as_deref();
        let _insisting = Insisting::new(gil);
        let made = make_unit(gil, shape, globals, builtins, kind, false, &[], calls, func);
        let text = compiler.with(gil, |engine| {
            engine.keep_dumps = false;
            std::mem::replace(&mut engine.replays, before.flatten())?.pop()
        });
        let stages = made.map(|unit| {
            let compiled = (*unit).unit.as_mut();
            let dumps = compiled.map(|u| std::mem::take(&mut u.dumps));
            gil.runtime().watches.forget(unit);
            drop(Box::from_raw(unit));
            gil.runtime().totals.units.update(|made| made - 1);
            dumps.unwrap_or_default()
        });
        Inspected {
            stages,
            unit: text.flatten(),
        }
    }
}

/// Keep what compiles follow from, from now on.
pub fn record(gil: Gil) {
    let compiler = &gil.runtime().compiler;
    compiler.with(gil, |engine| {
        engine.replays.get_or_insert_default();
    });
}

/// What compiles have followed from since [`record`], which is over.
pub fn recorded(gil: Gil) -> Vec<String> {
    let compiler = &gil.runtime().compiler;
    let replays = compiler.if_made(|engine| engine.replays.take());
    replays.flatten().unwrap_or_default()
}

/// The compiler's host as a section of a document.
pub fn host_text(gil: Gil) -> Option<String> {
    let compiler = &gil.runtime().compiler;
    compiler.with(gil, |engine| print_host(engine.host()))
}

/// The position in the typed bytecode of an exit record, for people.
pub fn line_of(unit: &UnitState, pc: Pc) -> i32 {
    unit.positions
        .get(pc.0 as usize)
        .map_or(0, |p| unit.shape.line(p.0))
}
