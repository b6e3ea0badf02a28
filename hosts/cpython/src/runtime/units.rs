//! Units and their life: compiled, entered through cells, invalidated, retired, freed.
//!
//! # The life of a unit
//! ```text
//! compiled --installed--> live --invalidated--> retired --no frame inside--> freed
//! ```
//! A unit's **token**, which its frames carry and the exit hook receives, is the address of its
//! [`UnitState`], so the state must outlive every activation. A retired unit is freed by
//! [`reclaim`] once all its activations are over and nothing runs between a native entry and its
//! frame ([`Busy`]). Entries are freed only when no native code runs at all: a vectorcall stub has
//! no frame, whatever it calls ([`HandedOver`]).
//!
//! # Why activations are counted
//! The frames of the threads do not show every stack that may return into a unit: greenlet, and the
//! libraries built on it (gevent, eventlet, SQLAlchemy's bridge to asyncio), copies the C stack of
//! a suspended coroutine away and unlinks its frames. A count works without finding the stack. The
//! unit's own code keeps it: the LIR that pushes a frame counts an entry (which the statistics need
//! anyway); the LIR that pops or suspends the frame counts, as its last action, that the activation
//! is over; and so does the exit hook, which runs the rest of a frame's function. The cost is one
//! addition in memory per call. Entries without a frame need no count: no user code runs there, so
//! no stack is switched. A thread that is ended in the middle of a call, or that a fork did not
//! copy, never finishes its activations: those units are never freed, as they must not be while its
//! stack exists.

use super::abi;
use super::capi::{CodeShape, Object, get};
use super::generators::Forward;
use super::{DEFAULT_THRESHOLD, Gil, locals_proxy, sampling};
use crate::namespace::NameCell;
use crate::objects;
use crate::world::{Namespaces, dictionaries};
use cladonia::engine::InlinedCode;
use cladonia::engine::{Pins, Unit};
use cladonia::exits::{ExitHead, ExitKind};
use cladonia::facts::Assumption;
use cladonia::host::{Evidence, FrozenWorld, UnitCells};
use cladonia::types::{ClassPin, ObjectHandle, ObjectPin};
use pyo3_ffi::*;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A unit's entry point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A call.
    Function,
    /// An instruction of a running frame: its position in code units, and the stack depth there.
    Loop {
        /// The position.
        pos: u32,
        /// Entries on the operand stack.
        depth: u32,
    },
    /// The frame of a suspended generator.
    Generator,
}

/// The runtime's state of a unit. Compiled code reads and writes the cells.
pub struct UnitState {
    /// The eval-breaker word that needs no handling of pending work, and the validity flag.
    pub checked: UnitCells<Cell<u64>>,
    /// Entries with a frame: one that the unit pushed, a generator's, or the interpreter's at a
    /// loop.
    pub entries: Cell<u64>,
    /// Number of these entries that are over: see the head of this file.
    pub left: Cell<u64>,
    /// Entries without a frame.
    pub raw_entries: Cell<u64>,
    /// General operations of it that were sampled.
    pub sampled: Cell<u32>,
    /// Number of side exits taken.
    pub exits_taken: Cell<u64>,
    /// Estimated cost of these exits, in tenths of a nanosecond.
    pub exit_cost: Cell<i64>,
    /// Number of back edges taken.
    pub iterations: Cell<u64>,
    /// Number of side exits because its frame was kept open.
    pub opened: Cell<u64>,
    /// Closed units only: calls with an argument of another class.
    pub mismatches: Cell<u64>,
    /// Pieces of work under way on its behalf, besides its activations.
    pub keepers: Cell<u64>,
    /// Its code object, kept alive by a reference of the unit's own.
    pub shape: CodeShape,
    /// Globals of the functions it serves.
    pub globals: Object,
    /// Their builtins.
    pub builtins: Object,
    /// Its entry point.
    pub kind: Kind,
    /// The compiled code; `None` only while the compiler is at work.
    pub unit: Option<Unit>,
    /// The assumptions watched and objects pinned for it while a worker compiles it; `None` before
    /// and after.
    pub pending: Option<Pending>,
    /// The progress of that compile.
    pub progress: Cell<Progress>,
    /// For each instruction of the typed bytecode: the host's position and the position to resume
    /// at.
    pub positions: Vec<(u32, u32)>,
    /// For each of them, the operands that the interpreter drops when it raises: depths from the
    /// top, in order.
    pub consumed: Vec<&'static [u8]>,
    /// For each of them, the operands to profile when a guard on them fails.
    pub profiled_operands: Vec<ProfiledOperands>,
    /// Number of units begun before it.
    pub number: u64,
    /// The time of the compile, as the clock of instance-dictionary facts ([`dictionaries::now`]).
    pub made: u64,
    /// The time of the compile, and its duration.
    pub cost: (Instant, Duration),
    /// The functions inlined into it, by the numbers that exits use for them.
    pub inlined: Vec<InlinedShape>,
    /// Number of times each exit was taken.
    pub exit_counts: Vec<Cell<u64>>,
    /// True if its frames are at the top of a module: the globals are their locals too.
    pub at_top: bool,
    /// The entries of its code's names in the globals, if it keeps some in registers.
    pub cells: Option<Box<[NameCell]>>,
    /// Of a generator's: see [`super::generators::resume_table`].
    pub points: Option<Box<[u8]>>,
    /// Generators only: the forwarded values of its resume points, until the code's cell has them.
    pub forwards: Cell<Option<Box<[Forward]>>>,
    /// The number of its first guard, counted over all guards in the process.
    pub first_guard: u64,
    /// Countdown words of forced exits, one per exit record.
    pub force: Option<Box<[Cell<u64>]>>,
}

/// State of a unit while a [worker](super::workers) compiles it: the assumptions behind the answers
/// given so far, and the pins of the objects that the answers name. When the worker is done, both
/// shrink to those of the unit itself.
#[derive(Default)]
pub struct Pending {
    /// The assumptions behind the answers given.
    assumptions: Vec<Assumption>,
    /// The part of [`FrozenWorld`]'s lists that was taken over so far.
    taken: Taken,
    /// Pins of the classes that the answers name, kept alive.
    classes: Vec<Pins>,
    /// The objects that the answers name.
    named: RefCell<Vec<Named>>,
    /// The reason why each of these is alive.
    evidence: Vec<Evidence>,
    /// The constants of its code, which the unit keeps alive.
    pub own: Vec<ObjectHandle>,
    /// Assumptions that were broken, even those that the unit may not rely on.
    broken: RefCell<HashSet<Assumption>>,
    /// Functions created for it, to which nothing else refers.
    pub made: Vec<ObjectHandle>,
    /// Assumptions that the unit may rely on regardless of the answers.
    pub certain: Vec<Assumption>,
    /// The namespaces of functions that were offered for inlining.
    pub others: Namespaces,
}

/// Number of entries of each list of a frozen world that were taken over.
#[derive(Clone, Copy, Default)]
struct Taken {
    assumptions: usize,
    classes: usize,
    objects: usize,
    evidence: usize,
}

/// An object that answers name, pinned, and the reason why it stays alive.
struct Named {
    handle: ObjectHandle,
    pins: Pins,
    lasting: Lasting,
}

/// The reason why an object that an answer names stays alive while a unit is pending.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lasting {
    /// A reference keeps it alive to the end.
    Held,
    /// A reference keeps it alive until the answer's assumption breaks. A class, for example,
    /// reports a change only after it has dropped the old attribute.
    HeldUnchanged,
    /// The watched container keeps it alive, and reports before it drops it.
    Lent,
    /// A function, which reports by itself before it is deallocated or changed.
    Watched,
}

impl Pending {
    /// Keeps the objects alive that the answers since the last call name, for a unit of functions
    /// with these globals. Returns the new assumptions, which are to be watched.
    ///
    /// The watched containers keep these objects alive: a namespace its values, a function its
    /// constants, cells and defaults. A reference of our own would be observable where the program
    /// drops its last one (`__del__` would run later). So the objects are [lent](objects::lend),
    /// and each function that is named is watched.
    ///
    /// # Safety
    /// The caller has the GIL, and no user code has run since the last of the answers was given.
    pub unsafe fn take_answers(&mut self, world: &FrozenWorld, globals: Object) -> Vec<Assumption> {
        let taken = self.taken;
        let assumptions = world.assumptions().skip(taken.assumptions);
        let mut new: Vec<Assumption> = assumptions.cloned().collect();
        let all = world.pins();
        self.taken = Taken {
            assumptions: taken.assumptions + new.len(),
            classes: all.classes.len(),
            objects: all.objects.len(),
            evidence: world.evidence().len(),
        };
        if self.assumptions.is_empty() {
            new.extend_from_slice(&self.certain);
        }
        let mut of_classes = HashSet::new();
        let evidence = &world.evidence()[taken.evidence..];
        for shown in evidence {
            let is_class = |it: &Assumption| matches!(it, Assumption::ClassUnchanged(_));
            if shown.assumptions.iter().any(is_class) {
                of_classes.extend(shown.objects.iter().copied());
            }
        }
        self.evidence.extend_from_slice(evidence);
        let objects = &all.objects[taken.objects..];
        for handle in objects.iter().filter_map(ObjectPin::handle) {
            let lasting = match Lasting::of(handle) {
                Lasting::Watched if self.made.contains(&handle) => Lasting::Held,
                Lasting::Lent if of_classes.contains(&handle) => Lasting::HeldUnchanged,
                lasting => lasting,
            };
            if lasting == Lasting::Watched {
                new.push(Assumption::FunctionUnchanged(handle));
            }
            let pins = Pins::of([], [handle]);
            if lasting.is_held() {
                // SAFETY: the answer was given while the GIL was held, which this thread has not
                // released since: the object is alive.
                unsafe { objects::hold(&pins, globals) }
            } else {
                objects::lend(&[handle])
            }
            let named = Named {
                handle,
                pins,
                lasting,
            };
            self.named.get_mut().push(named);
        }
        let classes = all.classes[taken.classes..].iter();
        let classes = Pins::of(classes.filter_map(ClassPin::handle), []);
        // SAFETY: as for the objects.
        unsafe { objects::hold(&classes, globals) };
        self.classes.push(classes);
        self.assumptions.extend_from_slice(&new);
        new
    }

    /// The assumptions watched for it.
    pub fn assumptions(&self) -> &[Assumption] {
        &self.assumptions
    }

    /// Some of its assumptions are broken. Other objects may soon be at the addresses of the old
    /// ones. Many answers are not relied on (a function that a call has observed is often created
    /// for that call only), so only the finished unit decides whether it is stale.
    fn break_what(&self, is_broken: &dyn Fn(&Assumption) -> bool) {
        let broken = self.assumptions.iter().filter(|it| is_broken(it));
        self.broken.borrow_mut().extend(broken.cloned());
        let alive = self.alive();
        self.give_up(|named| named.lasting == Lasting::Held || alive.contains(&named.handle));
    }

    /// True if an answer that it was given is no longer true.
    pub fn has_changed(&self) -> bool {
        !self.broken.borrow().is_empty()
    }

    /// True if a compiled unit relies on a broken assumption, or names an object that may have been
    /// deallocated.
    pub fn is_broken(&self, made: &Unit) -> bool {
        let broken = self.broken.borrow();
        let is_gone = |object: ObjectHandle| {
            broken.contains(&Assumption::FunctionUnchanged(object))
                || objects::object_ptr(object).is_null()
        };
        let mut named = made.pins.objects.iter().filter_map(ObjectPin::handle);
        made.assumptions.iter().any(|it| broken.contains(it)) || named.any(is_gone)
    }

    /// The objects that the remaining answers prove to be alive.
    fn alive(&self) -> HashSet<ObjectHandle> {
        let broken = self.broken.borrow();
        let is_changed =
            |object: ObjectHandle| broken.contains(&Assumption::FunctionUnchanged(object));
        let named = self.named.borrow();
        let lasting = [Lasting::Held, Lasting::Watched];
        let known = named.iter().filter(|it| lasting.contains(&it.lasting));
        let known = known.map(|it| it.handle).filter(|it| !is_changed(*it));
        let mut alive: HashSet<ObjectHandle> = self.own.iter().copied().chain(known).collect();
        loop {
            let before = alive.len();
            for shown in &self.evidence {
                let holds = if shown.assumptions.is_empty() {
                    shown.about.is_some_and(|about| alive.contains(&about))
                } else {
                    !shown.assumptions.iter().any(|it| broken.contains(it))
                };
                if holds {
                    alive.extend(shown.objects.iter().filter(|it| !is_changed(**it)));
                }
            }
            if alive.len() == before {
                return alive;
            }
        }
    }

    /// Gives up all named objects except those to keep.
    fn give_up(&self, is_kept: impl Fn(&Named) -> bool) {
        let mut named = self.named.borrow_mut();
        let gone: Vec<Named> = named.extract_if(.., |named| !is_kept(named)).collect();
        objects::disown(&Named::end(&gone));
    }
}

impl Named {
    /// Releases these objects; returns those that are lent.
    fn end(all: &[Named]) -> Vec<ObjectHandle> {
        let (held, lent): (Vec<&Named>, Vec<&Named>) =
            all.iter().partition(|named| named.lasting.is_held());
        held.iter().for_each(|named| objects::unhold(&named.pins));
        lent.iter().map(|named| named.handle).collect()
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.classes.iter().for_each(objects::unhold);
        objects::give_back(&Named::end(self.named.get_mut()));
    }
}

impl Lasting {
    fn of(handle: ObjectHandle) -> Lasting {
        let object = objects::object_ptr(handle);
        if object.is_null() {
            return Lasting::Lent;
        }
        // SAFETY: it was alive when it was pinned, under the lock, which has not been released
        // since.
        unsafe {
            let class = Py_TYPE(object);
            if class == &raw mut PyFunction_Type {
                return Lasting::Watched;
            }
            // The interpreter's inline caches name these, and nothing watches them.
            let is_callee = PyType_Check(object) != 0
                || class == &raw mut PyCFunction_Type
                || class == &raw mut PyMethodDescr_Type;
            if is_callee {
                Lasting::Held
            } else {
                Lasting::Lent
            }
        }
    }

    fn is_held(self) -> bool {
        matches!(self, Lasting::Held | Lasting::HeldUnchanged)
    }
}

/// A function that is inlined into a unit. The function is watched, so both live as long as the
/// unit may be entered, and no user code runs in the inlined part.
pub struct InlinedShape {
    /// The function; null if any function with this code may be called: then each exit names the
    /// function.
    pub func: Object,
    /// Its code object.
    pub shape: CodeShape,
    /// As [`UnitState::positions`].
    pub positions: Vec<(u32, u32)>,
}

impl InlinedShape {
    fn of(inlined: &InlinedCode) -> InlinedShape {
        let object = objects::object_ptr(inlined.function);
        let positions = inlined.code.instrs.iter().map(|i| (i.pos, i.resume));
        // SAFETY: no user code has run since the compiler was given the function or code object. A
        // code object alone is a constant of the unit's own code.
        let (func, shape) = unsafe {
            match PyCode_Check(object) {
                0 => (
                    object,
                    CodeShape::of(get(object.cast(), abi::function::CODE)),
                ),
                _ => (std::ptr::null_mut(), CodeShape::of(object)),
            }
        };
        InlinedShape {
            func,
            shape,
            positions: positions.collect(),
        }
    }
}

/// The progress of an ordered unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Its code was [ordered](super::workers).
    Ordered,
    /// It may be installed.
    Ready,
}

/// The operands to profile when a guard on them fails, by instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProfiledOperands {
    /// None.
    Nothing,
    /// The class of the top of the stack, an attribute's owner.
    Class,
    /// The number types of the top two stack entries.
    Numbers,
    /// Their classes, but only if the general operation records them.
    Operands,
    /// The class of the top of the stack, whose truth value is tested.
    Truth,
    /// The class of the only argument of a call of `len`, if the general operation records it.
    Length,
    /// The class of an object that is unpacked, if the general operation records it.
    Unpacked,
    /// The classes of a slice's container and bounds, if the general operation records them.
    Sliced,
}

/// Number of exit records that a table of forced exits can hold.
pub const FORCE_CAPACITY: usize = 65536;

/// A unit whose compile took no longer may be recompiled at any time.
const CHEAP: Duration = Duration::from_millis(10);

/// A unit whose compile took longer must have existed for this multiple of that time. Otherwise
/// each newly observed class in some corner of a large function would cause a recompile of a unit
/// that hardly runs.
const TIMES_ITS_COST: u32 = 4;

impl UnitState {
    /// The state of a unit about to be compiled. Its address, the token, is stable.
    ///
    /// # Safety
    /// `shape` is of a code object that is alive.
    pub unsafe fn new(
        gil: Gil,
        shape: CodeShape,
        globals: Object,
        builtins: Object,
        kind: Kind,
    ) -> Box<UnitState> {
        // SAFETY: the caller's promise.
        unsafe { Py_INCREF(shape.code) };
        let begun = &gil.runtime().totals.begun;
        Box::new(UnitState {
            checked: UnitCells::default(),
            entries: Cell::new(0),
            left: Cell::new(0),
            raw_entries: Cell::new(0),
            sampled: Cell::new(0),
            exits_taken: Cell::new(0),
            exit_cost: Cell::new(0),
            iterations: Cell::new(0),
            opened: Cell::new(0),
            mismatches: Cell::new(0),
            keepers: Cell::new(0),
            shape,
            globals,
            builtins,
            kind,
            unit: None,
            pending: None,
            progress: Cell::new(Progress::Ordered),
            positions: Vec::new(),
            consumed: Vec::new(),
            profiled_operands: Vec::new(),
            number: begun.replace(begun.get() + 1),
            made: dictionaries::now(),
            cost: (Instant::now(), Duration::ZERO),
            inlined: Vec::new(),
            exit_counts: Vec::new(),
            at_top: false,
            cells: None,
            points: None,
            forwards: Cell::new(None),
            first_guard: 0,
            force: None,
        })
    }

    /// The number that identifies this unit in frames and exits.
    pub fn token(&self) -> u64 {
        std::ptr::from_ref(self) as u64
    }

    /// The native entry.
    pub fn entry(&self) -> *const u8 {
        self.unit
            .as_ref()
            .map_or(std::ptr::null(), |u| u.code.entry())
    }

    /// True if it is a unit of this kind and place, for this namespace.
    pub fn is_at(&self, kind: Kind, globals: Object, builtins: Object, at_top: bool) -> bool {
        let same = self.globals == globals && self.builtins == builtins;
        same && self.kind == kind && self.at_top == at_top
    }

    /// True if it may be entered.
    pub fn is_valid(&self) -> bool {
        self.checked.state.get() == 0
    }

    /// True if its code may be on a stack, running or suspended.
    pub fn is_active(&self) -> bool {
        self.entries.get() != self.left.get() || self.keepers.get() != 0
    }

    /// An activation is over. This is the last action before the unit's code returns.
    pub fn leave(&self) {
        self.left.set(self.left.get() + 1);
    }

    /// All entries, with a frame or without.
    pub fn all_entries(&self) -> u64 {
        self.entries.get() + self.raw_entries.get()
    }

    /// True if it may be replaced, though it is valid, by a unit compiled from a better profile:
    /// its measured loss must be as much as a compile costs. A user who sets a low threshold wants
    /// an early replacement too.
    pub fn may_be_recompiled(&self, gil: Gil) -> bool {
        let (made, took) = self.cost;
        let options = gil.runtime().options.get();
        if options.weighs {
            return sampling::cost_of(self.sampled.get()) >= took;
        }
        took <= CHEAP
            || options.threshold < DEFAULT_THRESHOLD
            || made.elapsed() >= took * TIMES_ITS_COST
    }

    /// Takes over the answers given since the last call, if it is pending: see
    /// [`Pending::take_answers`].
    ///
    /// # Safety
    /// As for that.
    pub unsafe fn take_answers(&mut self, world: &FrozenWorld) -> Vec<Assumption> {
        let pending = self.pending.as_mut();
        pending.map_or_else(Vec::new, |pending| {
            // SAFETY: the caller's promise.
            unsafe { pending.take_answers(world, self.globals) }
        })
    }

    /// Takes over the compiler's result.
    ///
    /// # Safety
    /// The caller has the GIL, and the objects that the unit names are alive.
    pub unsafe fn finish(&mut self, made: Unit) {
        self.inlined = made.inlined.iter().map(InlinedShape::of).collect();
        // SAFETY: the caller's promise.
        unsafe { objects::hold(&made.pins, self.globals) };
        self.exit_counts = vec![Cell::new(0); made.exits.len()];
        self.unit = Some(made);
        self.progress.set(Progress::Ready);
    }

    /// The heads of its exits, without their records.
    pub fn exits(&self) -> &[ExitHead] {
        self.unit.as_ref().map_or(&[], |unit| unit.exits.heads())
    }

    /// The exits of guards: these can be forced.
    pub fn guards(&self) -> impl Iterator<Item = usize> + '_ {
        let exits = self.exits().iter().enumerate();
        exits
            .filter(|(_, e)| {
                e.kind == ExitKind::Resume && e.reason.is_bet() && !e.reason.is_dead_end()
            })
            .map(|(i, _)| i)
    }

    /// Its assumptions.
    pub fn assumptions(&self) -> &[Assumption] {
        let pending = self.pending.as_ref().map(|pending| &pending.assumptions);
        let made = self.unit.as_ref().map(|unit| &unit.assumptions);
        made.or(pending).map_or(&[], Vec::as_slice)
    }

    /// True if it assumes that the objects which it allocates are not visible to introspection.
    pub fn has_private_objects(&self) -> bool {
        self.assumptions().contains(&Assumption::ObjectsPrivate)
    }

    /// The unit behind a token.
    ///
    /// # Safety
    /// The token is of a unit that is not freed, and no other borrow of it is mutable.
    pub unsafe fn of_token<'a>(token: u64) -> &'a UnitState {
        // SAFETY: a token is the state's address.
        unsafe { &*(token as *const UnitState) }
    }
}

impl Drop for UnitState {
    fn drop(&mut self) {
        if let Some(unit) = &self.unit {
            objects::unhold(&unit.pins);
        }
        // SAFETY: the reference taken by `new`; this thread has the GIL.
        unsafe { Py_DECREF(self.shape.code) };
    }
}

/// A unit, by its token, as tables and compiled code share it.
pub type UnitRef = *mut UnitState;

/// A number that all threads change under the GIL, so that no atomic read-modify-write is needed.
struct Count(AtomicUsize);

impl Count {
    const fn new() -> Count {
        Count(AtomicUsize::new(0))
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn raise(&self) {
        self.0.store(self.get().wrapping_add(1), Ordering::Relaxed);
    }

    #[inline(always)]
    fn lower(&self) {
        self.0.store(self.get().wrapping_sub(1), Ordering::Relaxed);
    }
}

/// Number of calls, over all threads, that the interpreter makes for units that could not push
/// their frames. Such a unit is on a native stack, but no count of its own shows it.
static BUSY: Count = Count::new();

/// While it lives, no unit is freed.
pub struct Busy(());

impl Busy {
    /// Nothing is freed from here on.
    pub fn new() -> Busy {
        BUSY.raise();
        Busy(())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        BUSY.lower();
    }
}

/// Number of active calls, over all threads, that native code has handed to the interpreter.
static HANDED_OVER: Count = Count::new();

/// While it lives, no entry is freed: the interpreter runs a call in place of a unit. The caller is
/// a unit with a frame, which is counted, or a stub. Units can be freed meanwhile: such a call may
/// be as long as the whole program.
pub struct HandedOver(());

impl HandedOver {
    /// No entry is freed from here on.
    pub fn new() -> HandedOver {
        HANDED_OVER.raise();
        HandedOver(())
    }
}

impl Drop for HandedOver {
    fn drop(&mut self) {
        HANDED_OVER.lower();
    }
}

/// True if a call is active that no unit's count shows. In a forked child only the forking thread
/// survives, and the calls of the others never end: a child forked during such a call frees no
/// unit.
pub fn is_busy() -> bool {
    BUSY.get() != 0
}

/// Makes a unit unusable for good and removes it from every table. Its activations exit at their
/// next validity check.
///
/// # Safety
/// The unit is alive.
pub unsafe fn invalidate(gil: Gil, unit: UnitRef) {
    // SAFETY: the caller's promise; only cells are written.
    let state = unsafe { &*unit };
    if !state.is_valid() {
        return;
    }
    state.checked.state.set(1);
    let rt = gil.runtime();
    rt.totals.invalidated.update(|count| count + 1);
    // SAFETY: the caller's promise.
    unsafe { rt.recording.invalidated(state) };
    // SAFETY: the caller's promise.
    unsafe { rt.watches.forget(unit) };
    if let Some(pending) = &state.pending {
        pending.give_up(|named| named.lasting.is_held());
    }
    if rt.workers.withdraw(unit) {
        rt.totals.stale.update(|stale| stale + 1);
    }
    if let Some(code) = rt.state(state.shape.code) {
        code.detach(unit);
    }
    rt.retired.borrow_mut().push(unit);
}

/// Invalidates units whose assumption is broken. Pending units only record it: they may not
/// need it.
///
/// # Safety
/// The units are alive.
pub unsafe fn break_units(gil: Gil, units: Vec<UnitRef>, is_broken: &dyn Fn(&Assumption) -> bool) {
    for unit in units {
        // SAFETY: the caller's promise: invalidating one frees none.
        unsafe {
            match &(*unit).pending {
                Some(pending) => pending.break_what(is_broken),
                None => invalidate(gil, unit),
            }
        }
    }
}

/// Runs an action that may retire and reclaim units, but keeps this one alive.
///
/// # Safety
/// The unit is alive.
pub unsafe fn keeping<R>(unit: UnitRef, act: impl FnOnce() -> R) -> R {
    // SAFETY: the caller's promise, and then that of the count.
    unsafe {
        keep(unit);
        let result = act();
        unkeep(unit);
        result
    }
}

/// Keeps a unit from being reclaimed until [`unkeep`].
///
/// # Safety
/// The unit is alive.
pub unsafe fn keep(unit: UnitRef) {
    // SAFETY: the caller's promise.
    unsafe { (*unit).keepers.update(|keepers| keepers + 1) };
}

/// Undoes one [`keep`].
///
/// # Safety
/// The unit was kept.
pub unsafe fn unkeep(unit: UnitRef) {
    // SAFETY: the caller's promise.
    unsafe { (*unit).keepers.update(|keepers| keepers - 1) };
}

/// True if there are units that may not be entered any more but may still be running.
pub fn are_retired(gil: Gil) -> bool {
    !gil.runtime().retired.borrow().is_empty()
}

/// Frees the retired units that have no activation.
pub fn reclaim(gil: Gil) {
    let rt = gil.runtime();
    let is_clear = || rt.retired.borrow().is_empty() && rt.buried.borrow().is_empty();
    if is_clear() || is_busy() {
        return;
    }
    let (keep, free): (Vec<UnitRef>, Vec<UnitRef>) = rt
        .retired
        .take()
        .into_iter()
        // SAFETY: retired units are alive until they are freed here.
        .partition(|&u| unsafe { (*u).is_active() });
    let nothing_runs = || {
        let units = rt.units();
        // SAFETY: units in tables are alive.
        HANDED_OVER.get() == 0 && units.iter().all(|unit| unsafe { !(**unit).is_active() })
    };
    if !rt.buried.borrow().is_empty() && keep.is_empty() && nothing_runs() {
        rt.stubs.clear();
        let buried = rt.buried.take();
        buried
            .iter()
            .for_each(|entry| rt.symbols.forget_entry(entry));
    }
    rt.retired.replace(keep);
    for unit in free {
        // SAFETY: the pointer came from `Box::into_raw` and is in no table any more.
        let unit = unsafe { Box::from_raw(unit) };
        // SAFETY: it is alive until it is dropped here.
        unsafe { rt.recording.freed(&unit) };
        rt.symbols.forget(&unit);
        rt.totals.absorb(gil, &unit);
        drop(unit);
    }
    locals_proxy::restore_if_last(gil);
}
