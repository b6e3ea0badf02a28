//! Compiled code: when it is compiled, how it is entered and exited, and the use of its exits. The
//! engine keeps the units, watches their assumptions, and frees them.
//!
//! # Safety contract
//! Everything happens on the runtime's thread. Native code is entered with the thread, a function
//! or a frame, and owned arguments; it exits through `exit` with the values in the exit's record.

use super::code::CodeData;
use super::error::Raised;
use super::frame::{self, FrameRef, give, take};
use super::heap::{Obj, Ref, alloc};
use super::inlined::{self, Within};
use super::world::ReferenceWorld;
use super::{Force, Options, Result, chaos, interp, intrinsics, iter, rt};
use cladonia::bytecode::{Code, Op, Pc, Reason};
use cladonia::engine::{
    Account, CallError, Engine, Entry, Exit, OracleCounts, Task, Unit, UnitHandle, UnitParts,
};
use cladonia::exits::{ExitKind, Live, LiveFrame, LiveObject, VirtualKind};
use cladonia::facts::Assumption;
use cladonia::types::{ClassHandle, ObjectHandle, Type};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// The result of a loop unit after which the interpreter continues in the frame.
const GO_ON: usize = 1;
/// The number of units of a function or loop after which it is not compiled any more.
const MAX_VERSIONS: u32 = 5;

/// The compiler, and the runtime's data about it.
pub struct Jit {
    engine: RefCell<Option<Engine>>,
    /// The engine's account, which takes notifications of changes also while the engine compiles.
    account: Account,
    /// All codes.
    codes: RefCell<Vec<Weak<CodeData>>>,
    /// The instruction at which the interpreter continues after a loop unit.
    resume: Cell<Pc>,
    /// The reasons why functions stay in the interpreter.
    refused: RefCell<Vec<(String, String)>>,
    random: Cell<u64>,
    inlined: Cell<u64>,
    inlined_exits: Cell<u64>,
}

/// Counts of a runtime.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Units compiled.
    pub units: u64,
    /// Calls of native entries from outside.
    pub native_calls: u64,
    /// Loops entered by on-stack replacement.
    pub loop_entries: u64,
    /// Exits taken after a failed speculation.
    pub exits: u64,
    /// Exits taken, by kind and reason.
    pub exits_by_reason: HashMap<(ExitKind, Reason), u64>,
    /// Exits with an exception.
    pub raises: u64,
    /// Units invalidated.
    pub invalidated: u64,
    /// Inlined functions, once for each unit that contains them.
    pub inlined: u64,
    /// Exits taken with inlined frames.
    pub inlined_exits: u64,
    /// Functions that stay in the interpreter, with the reason.
    pub refused: Vec<(String, String)>,
}

impl Jit {
    pub(super) fn new(engine: Engine, seed: u64) -> Jit {
        Jit {
            account: engine.account(),
            engine: RefCell::new(Some(engine)),
            codes: RefCell::default(),
            resume: Cell::new(Pc(0)),
            refused: RefCell::default(),
            random: Cell::new(seed | 1),
            inlined: Cell::new(0),
            inlined_exits: Cell::new(0),
        }
    }

    /// A random number below `n`, from the seed.
    pub(super) fn random(&self, n: u64) -> u64 {
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        (x >> 11) % n
    }

    /// Runs `f` with the compiler, unless it is in use or dropped.
    fn with_engine<T>(&self, f: impl FnOnce(&mut Engine) -> T) -> Option<T> {
        let mut engine = self.engine.try_borrow_mut().ok()?;
        engine.as_mut().map(f)
    }

    /// The counts so far.
    pub(super) fn statistics(&self) -> Statistics {
        let known = self.account.statistics();
        let count = |raises: bool| {
            let exits = known.exits.iter();
            let exits = exits.filter(|((kind, _), _)| kind.raises() == raises);
            exits.map(|(_, times)| times).sum()
        };
        Statistics {
            units: known.installed,
            native_calls: known.calls,
            loop_entries: known.loop_entries,
            exits: count(false),
            raises: count(true),
            invalidated: known.invalidated,
            inlined: self.inlined.get(),
            inlined_exits: self.inlined_exits.get(),
            refused: self.refused.borrow().clone(),
            exits_by_reason: known.exits,
        }
    }

    /// Statistics of the LIR interpreter; zeros if the compiler was dropped.
    pub(super) fn oracle_counts(&self) -> OracleCounts {
        let engine = self.engine.borrow();
        engine
            .as_ref()
            .map_or_else(OracleCounts::default, Engine::oracle_counts)
    }

    /// The units with assumptions, the oldest first.
    pub(super) fn that_rely(&self) -> Vec<UnitHandle> {
        let mut units = self.account.handles();
        units.retain(|unit| !unit.unit().assumptions.is_empty());
        units
    }

    /// Invalidates a unit.
    pub(super) fn invalidate(&self, unit: &UnitHandle) {
        self.account.invalidate(unit);
    }

    /// Invalidates every unit.
    pub(super) fn invalidate_all(&self) {
        self.account.invalidate_all();
    }

    /// Drops the compiler, and all its units: running code exits at its next check.
    pub(super) fn close(&self) {
        drop(self.engine.take());
        for code in self.codes.take().iter().filter_map(Weak::upgrade) {
            code.unit.take();
            code.loops.take();
            code.cell.take();
        }
    }
}

/// Gives a new code an entry that runs its calls in the interpreter.
pub(super) fn prepare(code: &Rc<CodeData>) {
    let jit = &rt().jit;
    if code.is_plain() {
        let arity = code.code.argcount as usize;
        let cell = jit.with_engine(|engine| engine.entry_cell(arity).ok());
        *code.cell.borrow_mut() = cell.flatten();
    }
    let mut codes = jit.codes.borrow_mut();
    if codes.len().is_power_of_two() {
        codes.retain(|code| code.strong_count() > 0);
    }
    codes.push(Rc::downgrade(code));
}

fn options() -> Options {
    rt().options.get()
}

/// Counts a call with bound parameters, and compiles the function if it is hot.
pub(super) fn count_call(code: &Rc<CodeData>, slots: &[Option<Ref>]) {
    let options = options();
    if !options.jit || !code.is_plain() {
        return;
    }
    chaos::ask();
    let calls = code.calls.get() + 1;
    code.calls.set(calls);
    let threshold = chaos::threshold(options.call_threshold, 4);
    if calls <= threshold || code.unit().is_some() || code.refused.borrow().is_some() {
        return;
    }
    if code.versions.get() >= MAX_VERSIONS && !options.chaos {
        return refuse(
            code,
            format!("its speculations failed in {MAX_VERSIONS} versions"),
        );
    }
    let live: Vec<Type> = slots
        .iter()
        .flatten()
        .map(|arg| rt().type_of(arg))
        .collect();
    match compile(code, Entry::Function, live) {
        Ok(unit) => {
            code.versions.set(code.versions.get() + 1);
            *code.unit.borrow_mut() = Some(unit);
        }
        Err(Some(reason)) => refuse(code, reason),
        Err(None) => {}
    }
}

fn refuse(code: &CodeData, reason: String) {
    let refused = &rt().jit.refused;
    refused
        .borrow_mut()
        .push((code.code.name.clone(), reason.clone()));
    *code.refused.borrow_mut() = Some(reason);
}

/// The unit to which calls of a function go now, if there is one.
pub(super) fn native(code: &CodeData) -> Option<UnitHandle> {
    code.unit().filter(|_| rt().thread.pending.get() == 0)
}

/// Calls a function's unit.
pub(super) fn call_native(callee: &Ref, unit: &UnitHandle, args: Vec<Ref>) -> Result<Ref> {
    let args: Vec<Obj> = args.into_iter().map(Ref::into_raw).collect();
    // SAFETY: the unit is the callee's; the arguments are owned, and taken over if it is entered.
    unsafe {
        match enter(unit, callee.as_ptr().cast(), &args) {
            Ok(result) => take(result),
            Err(error) => {
                args.into_iter().for_each(|arg| drop(Ref::from_owned(arg)));
                super::error::raise(super::error::SYSTEM, error.to_string())
            }
        }
    }
}

/// Runs native code.
///
/// # Safety
/// `second` and `args` are the unit's arguments after the thread; it takes the arguments over if it
/// is entered.
unsafe fn enter(
    unit: &UnitHandle,
    second: *mut u8,
    args: &[Obj],
) -> std::result::Result<Obj, CallError> {
    let words: Vec<*mut u8> = args.iter().map(|arg| arg.cast()).collect();
    let thread = std::ptr::from_ref(&rt().thread).cast_mut();
    // SAFETY: the runtime's thread, and the caller promises the arguments.
    let result = unsafe { unit.call(thread.cast(), second, &words) };
    result.map(|object| object as Obj)
}

/// The parts of a code's native entry that create and free frames.
fn parts(code: &CodeData) -> UnitParts {
    let leave = super::helpers::leave as *const () as usize;
    UnitParts::new(intrinsics::enter(code), intrinsics::leave(leave)).objects_are_private(true)
}

/// Compiles and installs a unit.
///
/// # Errors
/// The reason why not; none if it may be tried again.
fn compile(
    code: &CodeData,
    entry: Entry,
    live: Vec<Type>,
) -> std::result::Result<UnitHandle, Option<String>> {
    let jit = &rt().jit;
    let options = options();
    let task = Task::new(Arc::new(code.with_hints()), entry, parts(code))
        .live(live)
        .publish_in(code.cell.borrow().clone())
        .avoid(code.avoid.borrow().clone())
        .met(code.several())
        .forcible(options.force.is_some());
    let made = jit.with_engine(|engine| {
        let is_open = engine.statistics().installed < options.max_units;
        is_open.then(|| engine.build(task, &ReferenceWorld))
    });
    let unit = match made.flatten() {
        Some(Ok(unit)) => unit,
        None => return Err(None),
        Some(Err(error)) if error.is_stale() => return Err(None),
        Some(Err(error)) => return Err(Some(error.to_string())),
    };
    (0..unit.unit().exits.len()).for_each(|number| {
        unit.force(number, rounds(true));
    });
    let inlined = unit.unit().inlined.len() as u64;
    jit.inlined.set(jit.inlined.get() + inlined);
    if let Some(observer) = &mut *rt().on_compile.borrow_mut() {
        observer(&code.code.name, entry, unit.unit());
    }
    Ok(unit)
}

/// The number of rounds after which an exit is forced, 0 for never; `is_new` if it was never
/// forced.
fn rounds(is_new: bool) -> u64 {
    match options().force {
        Some(Force::First) => is_new.into(),
        Some(Force::Random(period)) => 1 + rt().jit.random(period.max(1)),
        None => 0,
    }
}

/// Compiles a code for its text forms: the unit is never entered.
///
/// # Errors
/// The reason why not.
pub(super) fn compile_text(
    code: &Code,
    entry: Entry,
    live: &[Type],
) -> std::result::Result<Unit, String> {
    let data = CodeData::new(code.clone(), Vec::new(), Vec::new());
    let task = Task::new(Arc::new(code.clone()), entry, parts(&data)).live(live);
    let made = rt()
        .jit
        .with_engine(|engine| engine.inspect(&task, &ReferenceWorld));
    let made = made.ok_or("the compiler is in use, or was dropped")?;
    made.map_err(|error| error.to_string())
}

/// Called before a change: units that rely on the assumption are not entered any more.
fn changes(assumption: &Assumption) {
    rt().jit.account.changed(assumption);
}

pub(super) fn class_changes(class: ClassHandle) {
    changes(&Assumption::ClassUnchanged(class));
}

pub(super) fn name_changes(namespace: u64, name: &str) {
    let name = name.to_owned();
    changes(&Assumption::NameUnchanged { namespace, name });
}

pub(super) fn function_dies(function: ObjectHandle) {
    changes(&Assumption::FunctionUnchanged(function));
}

/// A deallocated code invalidates its units.
impl Drop for CodeData {
    fn drop(&mut self) {
        let loops = self.loops.take().into_values();
        let units = loops.filter_map(|state| state.unit).chain(self.unit.take());
        units.for_each(|unit| rt().jit.invalidate(&unit));
    }
}

/// The end of a loop that may have run natively.
pub(super) enum LoopEnd {
    /// The interpreter continues here.
    Interpret(Pc),
    /// The frame returned.
    Return(Ref),
    /// An exception that the frame does not handle.
    Raise(Raised),
}

/// Counts an iteration of a loop, and runs the loop natively if it is hot.
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
        let is_open = !state.is_closed && (state.versions < MAX_VERSIONS || options.chaos);
        (state.unit(), state.count > threshold && is_open)
    };
    let unit = if unit.is_none() && wanted {
        let words = (0..code.code.locals.len()).map(|k| frame.local(k));
        let stack = (0..frame.depth()).rev().map(|i| frame.peek(i));
        let live = words
            .chain(stack)
            .map(|value| value.map_or(Type::NULLPTR, |value| rt().type_of(&value)))
            .collect();
        let made = compile(code, Entry::Loop(target), live);
        let mut loops = code.loops.borrow_mut();
        let state = loops.entry(target).or_default();
        match made {
            Ok(unit) => {
                state.unit = Some(unit.clone());
                state.versions += 1;
                Some(unit)
            }
            Err(Some(reason)) => {
                state.is_closed = true;
                let refused = &rt().jit.refused;
                refused
                    .borrow_mut()
                    .push((format!("{} at {target}", code.code.name), reason));
                None
            }
            Err(None) => None,
        }
    } else {
        unit
    };
    let Some(unit) = unit.filter(|_| rt().thread.pending.get() == 0) else {
        return LoopEnd::Interpret(target);
    };
    let depth = frame.depth();
    frame.set_depth(0);
    // SAFETY: a unit of this loop, which takes its stack entries from the frame.
    let Ok(result) = (unsafe { enter(&unit, frame.as_ptr().cast(), &[]) }) else {
        frame.set_depth(depth);
        return LoopEnd::Interpret(target);
    };
    drop(unit);
    if result as usize == GO_ON {
        return LoopEnd::Interpret(rt().jit.resume.get());
    }
    // SAFETY: a loop unit returns the frame's result or null.
    match unsafe { take(result) } {
        Ok(result) => LoopEnd::Return(result),
        Err(raised) => LoopEnd::Raise(raised),
    }
}

/// Handles an exit: if its speculation fails too often, the next unit does not repeat it.
fn learn(exit: &Exit<'_>, code: &CodeData) {
    let record = exit.record();
    if record.kind.raises() {
        return;
    }
    let options = options();
    if options.force.is_some() {
        exit.force(rounds(false));
        // If exits are forced at random, their counts are meaningless.
        if options.force != Some(Force::First) {
            return;
        }
    }
    if record.reason.is_bet() && exit.count() >= options.patience {
        let bet = (record.pc, record.reason);
        code.avoid.borrow_mut().insert(bet);
        exit.invalidate();
    }
}

/// The exit hook, which compiled code calls: completes the frame, and continues in the interpreter.
pub(super) extern "C" fn exit(token: u64, number: u64, buffer: *const u64) -> Obj {
    // SAFETY: called by compiled code of installed units only.
    let exit = unsafe { Exit::from_hook(token, number, buffer) };
    let mut live = exit.frame();
    // SAFETY: the second word of an exit is the unit's frame.
    let frame = unsafe { FrameRef::from_raw(live.frame as *mut frame::Frame) };
    let (kind, pc, entry) = (exit.record().kind, exit.record().pc, exit.entry());
    let raised = match kind {
        ExitKind::Raise | ExitKind::Reraise | ExitKind::Pending => rt().thread.take_exception(),
        ExitKind::Resume => None,
        ExitKind::Await => unreachable!("an exit of closed units, which this host lacks"),
    };
    let virtuals = make_virtuals(std::mem::take(&mut live.virtuals));
    let inlined = std::mem::take(&mut live.inlined);
    let old = complete(frame, live, &virtuals);
    learn(&exit, frame.code());
    if !inlined.is_empty() {
        let jit = &rt().jit;
        jit.inlined_exits.set(jit.inlined_exits.get() + 1);
        frame.set_pc(pc);
    }
    let within = Within::make(inlined, |code| exit.inlined(code).function, &virtuals);
    drop(virtuals);
    // From here on the interpreter runs.
    drop(exit);
    drop(old);
    let next = match (raised, within) {
        (Some(exception), _) => {
            if frame.code().code.instr(pc).op == Op::Reraise {
                // The interpreter has popped it.
                drop(frame.pop());
            }
            interp::unwind(frame, pc, Raised(exception), kind == ExitKind::Reraise)
        }
        (None, Some(within)) => inlined::come_back(frame, pc, within.run()),
        (None, None) => Ok(pc),
    };
    match (entry, next) {
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
        (Entry::Resume, _) => unreachable!("this host has no generators"),
    }
}

/// Materialises the virtual objects.
fn make_virtuals(objects: Vec<LiveObject>) -> Vec<Option<Ref>> {
    let mut virtuals: Vec<Option<Ref>> = Vec::new();
    for object in objects {
        // Each is materialised, because a place refers to it; its fields precede it.
        let fields = object
            .fields
            .into_iter()
            .map(|value| object_of(value, &virtuals));
        let fields: Vec<Option<Ref>> = fields.collect();
        if let Some(other) = object.instead {
            virtuals.push(object_of(other, &virtuals));
            continue;
        }
        let fields = fields.into_iter().collect::<Option<Vec<Ref>>>();
        let fields = fields.expect("fields are objects");
        virtuals.push(Some(match object.kind {
            VirtualKind::Tuple => alloc::tuple(fields),
            VirtualKind::Dict => super::names::build_map(fields).expect("keys are strings"),
            VirtualKind::Cell => alloc::cell(fields.into_iter().next()),
            VirtualKind::Method => match &fields[..] {
                [function, this] => alloc::method(function.clone(), this.clone()),
                _ => unreachable!("a function and an object"),
            },
            VirtualKind::RangeIter => {
                let bounds = fields.try_into().expect("a range has three bounds");
                iter::range_iter(bounds).expect("a range of ints")
            }
            VirtualKind::SeqIter => match &fields[..] {
                [seq, next] => iter::seq_iter_at(seq, next).expect("an iterator of a sequence"),
                _ => unreachable!("a sequence and an offset"),
            },
            VirtualKind::Instance { .. } => {
                unreachable!("`World::instance_access` knows no instance here")
            }
            VirtualKind::Generator { .. } | VirtualKind::Chain => {
                unreachable!("`World::inlinee` offers no generator here")
            }
        }));
    }
    virtuals
}

/// Writes the values of an exit into the frame. Returns the locals' old values.
fn complete(frame: FrameRef, live: LiveFrame, virtuals: &[Option<Ref>]) -> Vec<Option<Ref>> {
    let mut old = Vec::new();
    for (slot, value) in live.locals {
        old.push(frame.replace_local(slot as usize, object_of(value, virtuals)));
    }
    frame.set_depth(0);
    for value in live.stack {
        frame.push(object_of(value, virtuals));
    }
    old
}

/// A value of a frame as an object, where `virtuals` are the materialised objects of the frame, or
/// the values to use instead.
pub(super) fn object_of(value: Live, virtuals: &[Option<Ref>]) -> Option<Ref> {
    Some(match value {
        Live::Null => return None,
        // SAFETY: the word is an object with an owned reference.
        Live::Owned(word) => unsafe { Ref::from_owned(word as Obj) },
        // SAFETY: the word is a live object.
        Live::Borrowed(word) => unsafe { Ref::from_borrowed(word as Obj) },
        Live::Int(value) => alloc::int(value),
        Live::Float(value) => alloc::float(value),
        Live::Bool(truth) => rt().bool(truth),
        Live::Virtual(n) => return virtuals[n as usize].clone(),
    })
}
