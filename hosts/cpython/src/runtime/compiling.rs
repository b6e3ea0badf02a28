//! Requests to the compiler, and the installation of its results.
//!
//! A synchronous compile holds the GIL from the request to the machine code, so its assumptions
//! cannot break meanwhile; they are watched from then on. By default a [worker](super::workers)
//! compiles instead. Then each assumption is watched as soon as the `World` has answered the
//! question behind it. Until the worker is done, requests for the unit get [`Refusal::Busy`]; they
//! are repeated at the next call or back edge, where the finished unit is installed.

use super::capi::*;
use super::function_state::{self, CodeState, Entry, MAX_REACHED_LATE, state_of};
use super::generators::Forward;
use super::units::{self, FORCE_CAPACITY, Kind, Pending, Progress, UnitRef, UnitState};
use super::workers::{Insisting, Order, Outcome};
use super::{
    Gil, abi, callees, closed, frames, generators, healing, monitoring, sampling, watchers, worth,
};
use crate::namespace::{self, NameCell};
use crate::objects;
use crate::world::{Known, Namespaces, supers};
use cladonia::bytecode::{Code, Met, Op, Pc};
use cladonia::engine::CompiledCode;
use cladonia::engine::{
    CompileError, CompileOptions, Entry as Start, FrozenRequest, Generator, Planted, Request, Unit,
    UnitParts, Verification,
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

/// Number of units compiled between two sweeps for code objects that only their units keep alive.
const UNITS_BETWEEN_SWEEPS: u64 = 64;

/// Limit of stale units of a code object: once more were stale when their compile finished, it is
/// not compiled again.
const MAX_STALE: u32 = 16;

/// The reason why a compile gave no unit: a lasting one, or "not now".
#[derive(Debug)]
pub enum Refusal {
    /// The function stays interpreted.
    Lasting(String),
    /// The compiler is already at work on this unit or on one that it needs, the thread's stack is
    /// too low, or the process is ending.
    Busy,
}

/// Stack that the compiler and its callees need. Most functions take less than 128 KiB. A thread
/// may have only 64 KiB, which is enough for the interpreter but not for a compile.
const STACK_FOR_A_COMPILE: usize = 192 << 10;

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Lasting(reason) => f.write_str(reason),
            Refusal::Busy => f.write_str("the compiler is at work"),
        }
    }
}

/// Compiles a stub.
///
/// # Errors
/// The compiler's.
pub fn compile_stub(gil: Gil, func: Func) -> Result<CompiledCode, CompileError> {
    let compiler = &gil.runtime().compiler;
    let mut engine = compiler
        .take(gil)
        .map_err(|refusal| CompileError::internal(refusal.to_string()))?;
    let made = catch_unwind(AssertUnwindSafe(|| engine.compile_stub(&func)));
    compiler.put_back(engine);
    made.unwrap_or_else(|panic| Err(CompileError::internal(panic_text(&*panic))))
}

/// The compiler's checks of its own work that the environment variable `CLADONIA_VERIFY` requests.
fn verification() -> Verification {
    static REQUESTED: std::sync::LazyLock<Verification> = std::sync::LazyLock::new(|| {
        Verification::named(std::env::var("CLADONIA_VERIFY").ok().as_deref())
    });
    *REQUESTED
}

/// The fault that `CLADONIA_PLANT` (`lowering` or `codegen`) plants. It proves that comparing
/// executions finds such faults.
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

/// True if a unit may be compiled. Serves the search for a miscompiled unit: `CLADONIA_UNITS` lists
/// parts of `file:qualified name`, separated by commas; `CLADONIA_FIRST` limits their number;
/// `CLADONIA_LOG` prints each.
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
    let number = gil.runtime().totals.begun.get();
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

/// Releases the classes and objects that a compile has looked at and no unit keeps alive.
fn release() {
    // SAFETY: under the GIL, no compile is under way, no table is borrowed.
    unsafe { objects::release_seen() };
}

/// The description of a unit's namespace for the compiler, with a cell for each name.
///
/// # Safety
/// The unit's globals are an exact dict.
unsafe fn namespace_of(gil: Gil, unit: &mut UnitState) -> Namespace {
    let dict = unit.globals;
    // SAFETY: the names are a tuple of interned strings, which the code object keeps alive. Looking
    // up a string among a module's names can run arbitrary user code only if the dict has keys of
    // other types, and then finds nothing.
    unsafe {
        let tuple: Object = get(unit.shape.code.cast(), abi::code::NAMES);
        let names: Vec<Object> = (0..PyTuple_Size(tuple))
            .map(|index| PyTuple_GetItem(tuple, index))
            .collect();
        let mut cells = vec![NameCell::EMPTY; names.len()].into_boxed_slice();
        let live_type = gil.runtime().front.live_type;
        let mut namespace = Namespace::new(dict as u64).notes(gil.runtime().watches.own_bit());
        for (name, cell) in names.iter().zip(&mut cells) {
            let live = live_type(namespace::find(dict, *name, cell));
            namespace = namespace.name(*name as u64, std::ptr::from_ref(cell) as u64, live);
        }
        unit.cells = Some(cells);
        namespace
    }
}

/// Marks the instructions that the interpreter has not executed yet, of code that has run. In a
/// loop, one execution counts as none: nothing has been observed, and code in an outer loop may
/// still become hot.
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

/// Records for each `super()` call in a function's code the class that it is in and the class after
/// it in the MRO.
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

/// Maximum length in code units (inline caches included) of a function that may be inlined.
const MAX_INLINED_UNITS: isize = 400;

/// The bytecode of a function whose calls may be inlined. `func` is null if any function with this
/// code may be called.
fn inlinee(gil: Gil, func: Object, [code, globals, builtins]: [Object; 3]) -> Option<Code> {
    // SAFETY: asked only for Python functions and their parts, with the GIL.
    unsafe {
        if gil.runtime().chosen.why_not(gil, globals).is_some() {
            return None;
        }
        let units: isize = get(code.cast(), abi::object::VAR_SIZE);
        let state = state_of(gil, code);
        let shape = state.shape;
        // A function that has failed speculations on numbers is better off with a unit of its own,
        // compiled from its own profile.
        let can_forgo = |(_, reason): &(Pc, Reason)| {
            use Reason::{Identity, Shape, Type, Unreached};
            matches!(reason, Type | Shape | Identity | Unreached)
        };
        let profile = state.profile.borrow().clone();
        let is_offered = units <= MAX_INLINED_UNITS
            && shape.optimized()
            && state.refused.get().is_none()
            && profile.avoid.iter().all(can_forgo)
            && profile.operands.is_empty()
            && !monitoring::is_observed(gil, &shape);
        if !is_offered {
            return None;
        }
        let reached_late = state.reached_late.get();
        let translate = gil.runtime().front.translate;
        let made = catch_unwind(|| translate(code, globals, builtins));
        let mut code = made.ok()?.ok()?;
        if gil.runtime().options.get().threshold > 0 && reached_late < MAX_REACHED_LATE {
            mark_unreached(&mut code, &shape, Kind::Function);
        }
        sampling::tell(&profile, &mut code, &mut HashMap::new());
        // Where a guard failed or several classes were observed, the hint is dropped: the types of
        // the call's arguments have to be enough.
        let lost = profile.avoid.iter().map(|(pc, _)| pc);
        for pc in lost.chain(profile.met.keys()) {
            code.instrs[pc.0 as usize].hint.clear();
        }
        mark_supers(&mut code, &mut HashMap::new(), func);
        callees::mark(&mut code, shape.code, func, &state.profile, !func.is_null());
        sampling::tell_callees(&profile, shape.code, &mut code, &mut HashMap::new());
        Some(code)
    }
}

/// Compiles one unit, or takes the one that a worker has compiled. It is in no table yet: the
/// caller installs it.
///
/// # Safety
/// The code object is alive; for a loop, `live` are the types of the frame's locals and stack; the
/// globals are an exact dict and the frame's namespace if it is `at_top` of a module. For a
/// function that may get a closed unit, `calls` is its entry. `function` is one that has the code,
/// or null.
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
        let unit = match ordered(gil, &shape, globals, builtins, kind, at_top)? {
            Some(unit) => unit,
            None => make_unit(
                gil, shape, globals, builtins, kind, at_top, live, calls, function,
            )?,
        };
        gil.runtime().recording.installed(unit);
        Ok(unit)
    }
}

/// [`compile_unit`], if this unit was not ordered.
///
/// # Safety
/// As for [`compile_unit`].
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
        return Err(Refusal::Lasting(
            "excluded by CLADONIA_UNITS or CLADONIA_FIRST".into(),
        ));
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
    // Feedback grows, so each compile translates again; the positions of instructions stay the
    // same.
    let mut code = catch_unwind(|| (gil.runtime().front.translate)(shape.code, globals, builtins))
        .unwrap_or_else(|panic| Err(CompileError::internal(panic_text(&*panic))))
        .map_err(|e| Refusal::Lasting(e.to_string()))?;
    // SAFETY: the caller's promise.
    let made_functions = unsafe { generators::make_functions(&mut code, globals, builtins) };
    let skips_unreached = gil.runtime().options.get().threshold > 0;
    if skips_unreached && state.reached_late.get() < MAX_REACHED_LATE {
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
    unit.profiled_operands = code
        .instrs
        .iter()
        .map(|i| sampling::profiled_operands(i.op))
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
    let mut parts = UnitParts::new(enter, leave)
        .token(unit.token())
        .cells(&unit.checked, unit.iterations.as_ptr())
        .positions(shape.units() as u64, 2)
        .objects_are_private(is_private);
    if let Some(closed) = closed {
        parts = parts.closed(closed);
    }
    if let Some(suspend) = suspend {
        parts = parts
            .suspend(suspend)
            .announcement(generators::announcement());
    }
    if let Some(namespace) = namespace {
        parts = parts.namespace(namespace);
    }
    if let Some(table) = &unit.force {
        parts = parts.force_table(table.as_ptr() as u64);
    }
    // SAFETY: the caller's promise; the code was decoded from the state's.
    unsafe { healing::expect_others(&state, &code) };
    sampling::expect_locals(
        &state.locals.borrow(),
        &mut state.profile.borrow_mut(),
        &code,
    );
    sampling::expect_functions(
        &state.locals.borrow(),
        &mut state.profile.borrow_mut(),
        &code,
    );
    let sites = state.sites.borrow();
    sites.expect(&mut state.profile.borrow_mut(), &code);
    drop(sites);
    let profile = state.profile.borrow().clone();
    // SAFETY: the caller's promise. The classes are kept alive until the unit is compiled, which
    // pins those that it names.
    let (mut met, held) = unsafe { healing::observed_classes(&profile) };
    healing::observed_numbers(&profile, &code, &mut met);
    healing::mark_kin(&profile, &mut code);
    // SAFETY: the caller's promise.
    let sampled = unsafe { sampling::tell(&profile, &mut code, &mut met) };
    // SAFETY: the caller's promise.
    let callables = unsafe { sampling::tell_callees(&profile, shape.code, &mut code, &mut met) };
    // SAFETY: the caller's promise.
    unsafe { mark_supers(&mut code, &mut met, function) };
    // SAFETY: the caller's promise.
    unsafe { callees::mark(&mut code, shape.code, function, &state.profile, false) };
    let started = Instant::now();
    // The compiler was idle when that was checked, and no user code has run since. The code here
    // has no proof of that, so it passes a refusal on.
    let compiler = &gil.runtime().compiler;
    let mut engine = compiler.take(gil)?;
    let options = gil.runtime().options.get();
    let compiling = CompileOptions::new()
        .keep_dumps(engine.options().keeps_dumps())
        .execution(options.execution)
        .without(gil.runtime().without.borrow().clone())
        .plant(planted())
        .check_facts(options.check_facts)
        .verify(verification());
    engine.set_options(compiling);
    let instrs = &gil.runtime().totals.instrs;
    instrs.update(|instrs| instrs + code.instrs.len() as u64);
    let is_beside = gil.runtime().workers.are_wanted(gil) && !engine.is_recording();
    let mut pending = Pending::default();
    let Some((host, anywhere)) = compiler.host() else {
        compiler.put_back(engine);
        return Err(Refusal::Busy);
    };
    let made = catch_unwind(AssertUnwindSafe(|| {
        with_world(gil, host, &unit, &pending.others, |world| {
            let request = Request::new(&code, entry, parts, world)
                .live(live)
                .avoid(&profile.avoid)
                .met(&met);
            if is_beside {
                let frozen = engine.freeze(request, Some(anywhere.clone()));
                Ok(Made::Frozen(Box::new(frozen)))
            } else {
                engine.compile(request).map(Box::new).map(Made::Unit)
            }
        })
    }));
    compiler.put_back(engine);
    let took = started.elapsed();
    let spent = &gil.runtime().totals.compile_ns;
    spent.update(|spent| spent + took.as_nanos() as u64);
    unit.cost = (Instant::now(), took);
    let made = made
        .unwrap_or_else(|panic| Err(CompileError::internal(panic_text(&*panic))))
        .map_err(|e| {
            release();
            Refusal::Lasting(e.to_string())
        })?;
    match made {
        Made::Unit(mut made) => {
            made.assumptions.extend(made_functions);
            // SAFETY: a reference keeps these objects alive until `release`.
            unsafe { unit.finish(*made) };
            drop((held, sampled, callables));
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
                // Objects that the compiler was told about are pinned.
                drop((held, sampled, callables));
                watch(gil, unit)?;
                order(gil, unit, request);
            }
            Err(Refusal::Busy)
        }
    }
}

/// The result of a request to the compiler.
enum Made {
    Unit(Box<Unit>),
    /// For a worker.
    Frozen(Box<FrozenRequest>),
}

/// Calls `ask` with a `World` that answers the compiler's questions about the program as it is now.
fn with_world<R>(
    gil: Gil,
    host: &Host,
    unit: &UnitState,
    others: &Namespaces,
    ask: impl FnOnce(&dyn World) -> R,
) -> R {
    // SAFETY: the compiler queries live Python functions.
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

/// Watches the assumptions of a new unit, and releases the objects that were only looked at.
///
/// # Errors
/// A [`Refusal`]: the unit is gone, or it is retired.
///
/// # Safety
/// The unit is alive and in no table.
unsafe fn watch(gil: Gil, unit: UnitRef) -> Result<(), Refusal> {
    // SAFETY: the caller's promise. Releasing an object may run arbitrary user code, which may
    // break an assumption of the unit. Then the unit is retired but not reclaimed yet, so it is
    // still alive here.
    unsafe {
        let watched = gil.runtime().watches.register(gil, unit);
        units::keeping(unit, release);
        if !watched {
            // No table and no compiled code refers to the unit yet.
            drop(Box::from_raw(unit));
            return Err(Refusal::Lasting(
                "an assumption of its code cannot be watched".into(),
            ));
        }
        if (*unit).is_valid() {
            Ok(())
        } else {
            Err(Refusal::Busy)
        }
    }
}

/// True if the last request for a unit of this code object got "busy" and the workers have
/// delivered nothing since: another request would get the same answer.
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
    // Something was delivered, but no unit of this code object.
    let is_open = state.is_all_ordered() && {
        collect(gil);
        state.is_all_ordered()
    };
    if is_open {
        state.busy_at.set(Some(delivered));
    }
    is_open
}

/// Compiles a unit of a code object, unless a request would be [in vain](is_waiting).
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
        // A request in vain, or the installation of a finished unit, takes only microseconds.
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

/// Counts a new unit, and prepares it to be entered.
///
/// # Safety
/// The unit is alive and watched; only the watch tables refer to it.
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
        // Units that rely on the memory that this unit stores to are in tables, so they are alive.
        watchers::announce_stores(gil, unit);
    }
}

/// Orders a unit from the workers.
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
        while let Some(order) = gil.runtime().workers.returned_at_once(unit) {
            take(gil, unit, Outcome::Asks(order));
        }
    }
}

/// Gives an order to the workers: the first one for its unit, or a continued one.
fn place(gil: Gil, unit: UnitRef, order: Order) {
    with_generators(gil, |generator| {
        gil.runtime().workers.order(gil, unit, order, generator);
    });
}

/// Calls `act` with a function that creates code generators.
fn with_generators(gil: Gil, act: impl FnOnce(&dyn Fn() -> Generator)) {
    let compiler = &gil.runtime().compiler;
    compiler.if_made(|engine| act(&|| engine.generator()));
}

/// Takes the results that workers have delivered since the last call. Each unit becomes ready to be
/// installed, or is stale and given up; a worker's questions are answered. Called wherever the
/// program is watched, since it costs nothing if there is no news.
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

/// Takes the result of one order.
///
/// # Safety
/// It is the unit's, which is alive, and nothing was compiled since it was
/// [collected](super::workers::Workers::collect).
unsafe fn take(gil: Gil, unit: UnitRef, outcome: Outcome) {
    // SAFETY: the caller's promise.
    unsafe {
        if !(*unit).is_valid() {
            // It was retired while its order was withdrawn.
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

/// Answers the questions that the compiler has about a unit. Returns true if the unit is still
/// valid.
///
/// # Errors
/// An assumption behind an answer can't be watched.
///
/// # Safety
/// The unit is alive and pending.
unsafe fn answer(
    gil: Gil,
    unit: UnitRef,
    request: &mut FrozenRequest,
) -> Result<bool, CompileError> {
    let Some((host, _)) = gil.runtime().compiler.host() else {
        return Err(CompileError::engine_dropped());
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
            Err(panic) => Err(CompileError::internal(panic_text(&*panic))),
            Ok(_) if !(*unit).is_valid() => Ok(false),
            Ok(_) if is_watched => Ok(true),
            Ok(_) => Err(CompileError::invalid_request(
                "an assumption of its code cannot be watched",
            )),
        }
    }
}

/// An ordered unit was compiled, or cannot be: then it is given up with a recorded reason.
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
            // An object that the unit would have named may have been deallocated, which explains
            // the error. If it is a fault of the compiler, the next attempt shows it again.
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

/// Gives up a unit compiled by a worker, since the answers it was compiled from have changed.
/// Returns the reason: if it is [busy](Refusal::Busy), the unit is retired and may be compiled
/// again.
///
/// # Safety
/// The unit is alive and valid.
unsafe fn give_up_stale(gil: Gil, unit: UnitRef) -> Refusal {
    // SAFETY: the caller's promise.
    unsafe {
        let state = state_of(gil, (*unit).shape.code);
        state.stale.update(|stale| stale + 1);
        gil.runtime().totals.stale.update(|stale| stale + 1);
        if state.stale.get() > MAX_STALE {
            return Refusal::Lasting(
                "its assumptions were broken during each of many compiles".into(),
            );
        }
        let why = "it was stale when its compile finished";
        let recording = &gil.runtime().recording;
        recording.because(why, || units::invalidate(gil, unit));
        Refusal::Busy
    }
}

/// Installs a unit compiled by a worker: from now on only its own assumptions are watched, and only
/// the objects that it names are kept alive.
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
        // The compiler itself reports an assumption that relies on this.
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
                "an assumption of its code cannot be watched".into(),
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

/// Compiles an ordered unit on this thread.
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
                None => Err(CompileError::internal("the compiler is at work")),
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

/// The ordered unit for this place, if it is ready to be installed; it is then in no table any
/// more.
///
/// # Errors
/// [`Refusal::Busy`] while a worker compiles it, unless the caller insists: then this waits for it.
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

/// Compiles a function and lets its calls run natively.
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

/// The part of [`compile_function`] that compiles units.
///
/// # Safety
/// As for [`compile_function`].
unsafe fn make_function(
    gil: Gil,
    func: Object,
    shape: CodeShape,
    live: &[Type],
) -> Result<(), Refusal> {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        let (code, globals, builtins) = function_state::parts_of(func);
        // The types of the locals describe only the generator's start.
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
            let most = state_of(gil, code).max_versions();
            if entry.versions.get() >= most {
                return Err(refuse(
                    gil,
                    code,
                    format!("its speculation failed in {most} versions"),
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
                // Units that call it with the parameter types of an older unit would always be
                // refused.
                watchers::raw_entry_changed(gil, code, made);
            }
        }
        Ok(())
    }
}

/// Compiles the functions that a code object names and that are about to be hot themselves, so that
/// it can call them with raw values. For example, `def f(n): return g(n) + 1` compiles `g` first if
/// `g` is warm.
///
/// # Errors
/// [`Refusal::Busy`] if a worker is compiling one of them: waiting for it pays.
unsafe fn compile_callees(
    gil: Gil,
    shape: CodeShape,
    code: Object,
    globals: Object,
) -> Result<(), Refusal> {
    /// Maximum depth to which callees of callees are compiled first.
    const MAX_DEPTH: u32 = 4;
    let threshold = gil.runtime().options.get().threshold;
    let depth = &gil.runtime().compile_depth;
    if threshold == 0 || depth.get() >= MAX_DEPTH {
        return Ok(());
    }
    depth.update(|depth| depth + 1);
    let mut are_made = Ok(());
    // SAFETY: the names are a tuple of strings that the code object keeps alive, and globals is a
    // dict; a reference keeps the callee alive during its compile.
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
                // A refusal is recorded.
                are_made = match compile_function(gil, callee, &[]) {
                    Err(Refusal::Busy) => Err(Refusal::Busy),
                    _ => Ok(()),
                };
                Py_DECREF(callee);
                // One at a time: each compile delays the program.
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

/// Records that a function stays interpreted.
fn refuse(gil: Gil, code: Object, reason: String) -> Refusal {
    // SAFETY: the code object is alive.
    let state = unsafe { state_of(gil, code) };
    // SAFETY: the code object is alive.
    unsafe { gil.runtime().recording.refused(code, &reason) };
    state.refused.get_or_init(|| reason.clone());
    Refusal::Lasting(reason)
}

/// A unit that continues inside a running frame, compiled if there is none yet.
///
/// # Errors
/// A [`Refusal`]; a lasting one is recorded.
///
/// # Safety
/// The code object is alive and `live` are the types of the frame's locals and stack; the globals
/// are an exact dict and the frame's namespace if it is `at_top` of a module. `function` is the
/// frame's.
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
        let most = state.max_versions();
        let is_closed = state.with_loop(pos, |slot| {
            slot.closed |= slot.versions >= most;
            slot.closed
        });
        if is_closed {
            return Err(Refusal::Lasting(format!(
                "its speculation failed in {most} versions"
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

/// Native code has called a function that has no unit. Requests one if the function lost its unit
/// and may get another, or if the cost model says that one pays.
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
    // Recompile even if the JIT is off: a user who requested this function (`@cladonia.jit`) wants
    // more than its first unit.
    let is_lost = state.entries.borrow().iter().any(|e| e.recompile.get());
    // SAFETY: the caller's promise.
    unsafe {
        if is_lost || runtime.on.get() && worth::of_native_call(gil, &state) {
            recompile(gil, func);
        }
    }
}

/// Compiles a function again. An error is recorded; the call that triggered this continues in the
/// interpreter.
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

/// A compile for its text forms only.
pub struct Inspected {
    /// The text of each stage, or the reason why there is none.
    pub stages: Result<Vec<(&'static str, String)>, Refusal>,
    /// The input of the compile, if it came that far: a section of a replay document.
    pub unit: Option<String>,
}

/// The text forms of a function's unit, which is never entered.
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
            let options = engine.options().clone();
            engine.set_options(options.keep_dumps(true));
            engine.set_recording(Some(Vec::new()))
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
            let options = engine.options().clone();
            engine.set_options(options.keep_dumps(false));
            engine.set_recording(before.flatten())?.pop()
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

/// Keeps the inputs of all compiles from now on.
pub fn record(gil: Gil) {
    let compiler = &gil.runtime().compiler;
    compiler.with(gil, |engine| {
        if !engine.is_recording() {
            engine.set_recording(Some(Vec::new()));
        }
    });
}

/// The inputs of all compiles since [`record`], and ends the recording.
pub fn recorded(gil: Gil) -> Vec<String> {
    let compiler = &gil.runtime().compiler;
    let replays = compiler.if_made(|engine| engine.set_recording(None));
    replays.flatten().unwrap_or_default()
}

/// The compiler's host description as a section of a document.
pub fn host_text(gil: Gil) -> Option<String> {
    let compiler = &gil.runtime().compiler;
    compiler.with(gil, |engine| print_host(engine.host()))
}

/// The source line of a position in the typed bytecode, for messages.
pub fn line_of(unit: &UnitState, pc: Pc) -> i32 {
    unit.positions
        .get(pc.0 as usize)
        .map_or(0, |p| unit.shape.line(p.0))
}
