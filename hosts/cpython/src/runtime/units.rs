//! Units and their life: made by a compile, entered through cells, invalidated, retired, freed.
//!
//! # The life of a unit
//! ```text
//! compiled --installed--> live --invalidated--> retired --no frame inside--> freed
//! ```
//! A unit's **token**, which its frames carry and the exit hook is given, is the address of its [`UnitState`], so the
//! state must outlive every activation. A retired unit is freed by [`reclaim`] once all its activations are over and
//! nothing runs between a native entry and its frame ([`Busy`]). Entries go when no native code is under way at all: a
//! vectorcall stub has no frame, whatever it calls ([`HandedOver`]).
//!
//! # Why activations are counted
//! The frames of the threads do not show every stack that may return into a unit: greenlet, and whatever is built on it
//! (gevent, eventlet, SQLAlchemy's bridge to asyncio), copies the C stack of a suspended coroutine away and unlinks its
//! frames. A count needs no stack to be found. The unit's own code keeps it: the LIR that makes a frame counts an entry
//! (which the statistics want anyway), the LIR that takes the frame down or suspends it counts as the last thing it does
//! that it is over, and so does the exit hook, which runs the rest of a frame's function. That costs one addition in
//! memory a call. Entries without a frame do not matter: no code of the program runs there, so no stack is switched.
//! A thread that is ended in the middle of a call, or was left behind by a fork, leaves entries that are never over:
//! those units are never freed, as they must not be while its stack is there.

use super::abi;
use super::capi::{CodeShape, Object, get};
use super::generators::Forward;
use super::{DEFAULT_THRESHOLD, Gil, locals_proxy, sampling};
use crate::namespace::NameCell;
use crate::objects;
use crate::world::{Namespaces, dictionaries};
use cladonia::engine::{Pins, Unit};
use cladonia::exits::{ExitHead, ExitKind};
use cladonia::facts::Assumption;
use cladonia::hir::InlinedCode;
use cladonia::host::{Evidence, FrozenWorld, UnitCells};
use cladonia::types::{ClassPin, ObjectHandle, ObjectPin};
use pyo3_ffi::*;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Where a unit begins.
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

/// A unit as the runtime sees it. The cells are read and written by compiled code.
pub struct UnitState {
    /// The eval-breaker word with which the unit need not ask what is pending, and whether it may still run.
    pub checked: UnitCells<Cell<u64>>,
    /// How often it was entered with a frame: one that it made, a generator's, or one that was lent to a loop.
    pub entries: Cell<u64>,
    /// How many of these entries are over: see the head of this file.
    pub left: Cell<u64>,
    /// How often it was entered without a frame.
    pub raw_entries: Cell<u64>,
    /// General operations of it that were looked at.
    pub sampled: Cell<u32>,
    /// How often it was left by an exit.
    pub exits_taken: Cell<u64>,
    /// Tenths of a nanosecond that these exits have cost, as estimated.
    pub exit_cost: Cell<i64>,
    /// How often it took a back edge.
    pub iterations: Cell<u64>,
    /// How often it left because its frame was kept open.
    pub opened: Cell<u64>,
    /// Of a closed unit: calls with an argument of another class.
    pub mismatches: Cell<u64>,
    /// Pieces of work under way on its behalf, besides its activations.
    pub keepers: Cell<u64>,
    /// Its code object; the unit holds a reference.
    pub shape: CodeShape,
    /// Globals of the functions it serves.
    pub globals: Object,
    /// Their builtins.
    pub builtins: Object,
    /// Where it begins.
    pub kind: Kind,
    /// What the compiler made; `None` only while it is at work.
    pub unit: Option<Unit>,
    /// What is watched and pinned for it while a worker compiles it; `None` before and after.
    pub pending: Option<Pending>,
    /// How far that is.
    pub progress: Cell<Progress>,
    /// For each instruction of the typed bytecode: the host's position and where to resume.
    pub positions: Vec<(u32, u32)>,
    /// For each of them, the operands that the interpreter drops when it raises: depths from the top, in order.
    pub consumed: Vec<&'static [u8]>,
    /// For each of them, what is learnt from its operands where a bet on them fails.
    pub teaches: Vec<Teaches>,
    /// How many units were made before it.
    pub number: u64,
    /// When it was made: what was known of instances with dictionaries ([`dictionaries::now`]).
    pub made: u64,
    /// When it was made, by the clock, and what that took.
    pub cost: (Instant, Duration),
    /// What stands in it in place of calls, by the numbers that exits have for it.
    pub inlined: Vec<InlinedShape>,
    /// How often each exit was taken.
    pub exit_counts: Vec<Cell<u64>>,
    /// Whether its frames are at the top of a module: the globals are their locals too.
    pub at_top: bool,
    /// Where its code's names are in the globals, if it keeps some in registers.
    pub cells: Option<Box<[NameCell]>>,
    /// Of a generator's: see [`super::generators::resume_table`].
    pub points: Option<Box<[u8]>>,
    /// Of a generator's: what its resume points hand on, until the code's cell has it.
    pub forwards: Cell<Option<Box<[Forward]>>>,
    /// The number of its first guard, of all guards in the process.
    pub first_guard: u64,
    /// Countdown words of forced exits, one an exit record.
    pub force: Option<Box<[Cell<u64>]>>,
}

/// What a unit needs while a [worker](super::workers) compiles it: the assumptions that the answers given so far rest on, and the pins of
/// the objects that they name. When the worker is done, both shrink to what the unit itself relies on.
#[derive(Default)]
pub struct Pending {
    /// What the answers that it was given rely on.
    assumptions: Vec<Assumption>,
    /// How much of what [`FrozenWorld`] has is taken, so far.
    taken: Taken,
    /// Pins of the classes that the answers name, which are held.
    classes: Vec<Pins>,
    /// The objects that they name.
    named: RefCell<Vec<Named>>,
    /// Why these are alive.
    evidence: Vec<Evidence>,
    /// The constants of its code, which the unit keeps alive.
    pub own: Vec<ObjectHandle>,
    /// What of the assumptions does not hold any more, whether the unit relies on it or not.
    broken: RefCell<HashSet<Assumption>>,
    /// Functions that are made for it, which nobody else has.
    pub made: Vec<ObjectHandle>,
    /// What it relies on, or may, whatever is answered.
    pub certain: Vec<Assumption>,
    /// Where functions that were offered to be inlined look up their names.
    pub others: Namespaces,
}

/// How many of a frozen world's lists were taken over.
#[derive(Clone, Copy, Default)]
struct Taken {
    assumptions: usize,
    classes: usize,
    objects: usize,
    evidence: usize,
}

/// An object that answers name, pinned, and what becomes of it meanwhile.
struct Named {
    handle: ObjectHandle,
    pins: Pins,
    lasting: Lasting,
}

/// What becomes of an object that an answer names while a unit is pending.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lasting {
    /// It is held to the end.
    Held,
    /// It is held until what the answer relies on is changed: a class has dropped an attribute when it tells that it has changed.
    HeldUnchanged,
    /// What is watched has it, and tells before it lets go.
    Lent,
    /// A function, which tells itself before it ends or changes.
    Watched,
}

impl Pending {
    /// Keep what the answers name that were given since this was called last, for a unit of functions with these globals. Gives what they
    /// rely on, which is to be watched.
    ///
    /// What is watched keeps alive what the answers name: a namespace its values, a function its constants, cells and defaults. A reference
    /// to them would be observable where the program drops the last of its own (`__del__` would run later): so they are
    /// [lent](objects::lend), and each function that is named is watched.
    ///
    /// # Safety
    /// The GIL is held, and no code of the program has run since the last of the answers was given.
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
            match lasting.is_held() {
                // SAFETY: the answer was given while the GIL was held, which this thread has not released since: the object is alive.
                true => unsafe { objects::hold(&pins, globals) },
                false => objects::lend(&[handle]),
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

    /// What is watched for it.
    pub fn assumptions(&self) -> &[Assumption] {
        &self.assumptions
    }

    /// Some of it does not hold any more: then others may soon be where what it was about was. Much of what is asked is not relied on (a
    /// function that a call has met, for one, is often made for that call): so it is seen only in the end whether the unit relies on it.
    fn break_what(&self, is_broken: &dyn Fn(&Assumption) -> bool) {
        let broken = self.assumptions.iter().filter(|it| is_broken(it));
        self.broken.borrow_mut().extend(broken.cloned());
        let alive = self.alive();
        self.give_up(|named| named.lasting == Lasting::Held || alive.contains(&named.handle));
    }

    /// Whether something that it was told does not hold any more.
    pub fn has_changed(&self) -> bool {
        !self.broken.borrow().is_empty()
    }

    /// Whether a unit that was made relies on something that holds no more, or names what may have ended.
    pub fn is_broken(&self, made: &Unit) -> bool {
        let broken = self.broken.borrow();
        let is_gone = |object: ObjectHandle| {
            broken.contains(&Assumption::FunctionUnchanged(object))
                || objects::object_ptr(object).is_null()
        };
        let mut named = made.pins.objects.iter().filter_map(ObjectPin::handle);
        made.assumptions.iter().any(|it| broken.contains(it)) || named.any(is_gone)
    }

    /// What the answers still show to be alive.
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
                let holds = match shown.assumptions.is_empty() {
                    true => shown.about.is_some_and(|about| alive.contains(&about)),
                    false => !shown.assumptions.iter().any(|it| broken.contains(it)),
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

    /// Nothing is asked or made of objects any more but of these.
    fn give_up(&self, is_kept: impl Fn(&Named) -> bool) {
        let mut named = self.named.borrow_mut();
        let gone: Vec<Named> = named.extract_if(.., |named| !is_kept(named)).collect();
        objects::disown(&Named::end(&gone));
    }
}

impl Named {
    /// Ends what is done for these; gives those that are lent.
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
        // SAFETY: it was pinned with the lock held, which nobody has let go of since, when it was alive.
        unsafe {
            let class = Py_TYPE(object);
            if class == &raw mut PyFunction_Type {
                return Lasting::Watched;
            }
            // What the interpreter's caches name, which nothing watches.
            let is_callee = PyType_Check(object) != 0
                || class == &raw mut PyCFunction_Type
                || class == &raw mut PyMethodDescr_Type;
            match is_callee {
                true => Lasting::Held,
                false => Lasting::Lent,
            }
        }
    }

    fn is_held(self) -> bool {
        matches!(self, Lasting::Held | Lasting::HeldUnchanged)
    }
}

/// A function whose code stands in a unit in place of calls. The function is watched, so both live as long as the unit
/// may be entered, and no code of the program runs where it stands.
pub struct InlinedShape {
    /// The function; null where it is one of many of this code, which each exit names.
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
        // SAFETY: nothing has run since the compiler was given the function's code, which is a constant of the unit's own if it is all
        // that was given.
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

/// How far the making of a unit is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Its code was [ordered](super::workers).
    Ordered,
    /// It may be installed.
    Ready,
}

/// What an instruction's operands say where a bet on them fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Teaches {
    /// Nothing.
    Nothing,
    /// The class of the top of the stack, which is asked for an attribute.
    Class,
    /// Which numbers the two on top of the stack are.
    Numbers,
    /// Their classes, but only where the general operation looks.
    Operands,
    /// The class of the top of the stack, whose truth is asked for.
    Truth,
    /// The class of a call's only argument, where the callable is `len` and the general operation looks.
    Length,
    /// The classes of what a slice is taken of, or replaced in, and of its bounds, where the general operation looks.
    Sliced,
}

/// Exit records that a table of forced exits has room for.
pub const FORCE_CAPACITY: usize = 65536;

/// A unit that took no longer than this to make may be made anew at any time.
const CHEAP: Duration = Duration::from_millis(10);

/// Any other must have been there so many times as long: in each corner of a large function something new is met, for which it would be
/// made again and again while it hardly runs.
const TIMES_ITS_COST: u32 = 4;

impl UnitState {
    /// The state of a unit about to be compiled, with a token that stays its own.
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
            teaches: Vec::new(),
            number: gil.runtime().totals.units.get(),
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

    /// The number that stands for this unit in frames and exits.
    pub fn token(&self) -> u64 {
        std::ptr::from_ref(self) as u64
    }

    /// The native entry.
    pub fn entry(&self) -> *const u8 {
        self.unit
            .as_ref()
            .map_or(std::ptr::null(), |u| u.code.entry())
    }

    /// Whether it is a unit of this kind and place, for this namespace.
    pub fn is_at(&self, kind: Kind, globals: Object, builtins: Object, at_top: bool) -> bool {
        let same = self.globals == globals && self.builtins == builtins;
        same && self.kind == kind && self.at_top == at_top
    }

    /// Whether it may be entered.
    pub fn is_valid(&self) -> bool {
        self.checked.state.get() == 0
    }

    /// Whether code of its may be on a stack, running or suspended.
    pub fn is_active(&self) -> bool {
        self.entries.get() != self.left.get() || self.keepers.get() != 0
    }

    /// An activation is over: the last thing before the unit's code returns.
    pub fn leave(&self) {
        self.left.set(self.left.get() + 1);
    }

    /// All entries, with a frame or without.
    pub fn all_entries(&self) -> u64 {
        self.entries.get() + self.raw_entries.get()
    }

    /// Whether it may be given up, though it serves, for one that knows more: what it was seen to lose is as much as making
    /// another costs. (Who asks for units early means to see that early too.)
    pub fn may_be_remade(&self, gil: Gil) -> bool {
        let (made, took) = self.cost;
        let options = gil.runtime().options.get();
        if options.weighs {
            return sampling::cost_of(self.sampled.get()) >= took;
        }
        took <= CHEAP
            || options.threshold < DEFAULT_THRESHOLD
            || made.elapsed() >= took * TIMES_ITS_COST
    }

    /// Take over what was answered since this was called last, if it is pending: see [`Pending::take_answers`].
    ///
    /// # Safety
    /// As of that.
    pub unsafe fn take_answers(&mut self, world: &FrozenWorld) -> Vec<Assumption> {
        let pending = self.pending.as_mut();
        pending.map_or_else(Vec::new, |pending| {
            // SAFETY: the caller's promise.
            unsafe { pending.take_answers(world, self.globals) }
        })
    }

    /// Take over what the compiler has made.
    ///
    /// # Safety
    /// The GIL is held, and what the unit names is alive.
    pub unsafe fn finish(&mut self, made: Unit) {
        self.inlined = made.inlined.iter().map(InlinedShape::of).collect();
        // SAFETY: the caller's promise.
        unsafe { objects::hold(&made.pins, self.globals) };
        self.exit_counts = vec![Cell::new(0); made.exits.len()];
        self.unit = Some(made);
        self.progress.set(Progress::Ready);
    }

    /// What is known of its exits without their records.
    pub fn exits(&self) -> &[ExitHead] {
        self.unit.as_ref().map_or(&[], |unit| unit.exits.heads())
    }

    /// The exits that are bets: the ones that can be forced.
    pub fn guards(&self) -> impl Iterator<Item = usize> + '_ {
        let exits = self.exits().iter().enumerate();
        exits
            .filter(|(_, e)| {
                e.kind == ExitKind::Resume && e.reason.is_bet() && !e.reason.is_dead_end()
            })
            .map(|(i, _)| i)
    }

    /// What it relies on.
    pub fn assumptions(&self) -> &[Assumption] {
        let pending = self.pending.as_ref().map(|pending| &pending.assumptions);
        let made = self.unit.as_ref().map(|unit| &unit.assumptions);
        made.or(pending).map_or(&[], Vec::as_slice)
    }

    /// Whether it relies on it that nobody finds the objects which it has made.
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
        // SAFETY: the reference taken by `new`; the GIL is held.
        unsafe { Py_DECREF(self.shape.code) };
    }
}

/// A unit that is shared by tables and compiled code, by its token.
pub type UnitRef = *mut UnitState;

/// A number that all threads change under the GIL, so that none needs the bus for it.
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

/// How many calls are being made by the interpreter for units that could not make their frames, over all threads: such
/// a unit is on a native stack, and no count of its own shows it.
static BUSY: Count = Count::new();

/// Keeps all units while it lives.
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

/// How many calls that native code has handed to the interpreter are under way, over all threads.
static HANDED_OVER: Count = Count::new();

/// Keeps the entries while it lives: in a call that the interpreter makes in place of a unit. Whoever calls it is a unit
/// with a frame that shows it, or a stub. Units are freed meanwhile: such a call may be the whole of a program.
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

/// In a forked child only the forking thread lives on: what others were doing is not counted any more, but what they
/// were running may not be told apart, so nothing that was busy is ever freed.
pub fn is_busy() -> bool {
    BUSY.get() != 0
}

/// Make a unit unusable for good and take it out of every table; its activations leave at their next check.
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

/// What these units rely on does not hold any more: they are invalid, but those that are pending, which may not need it.
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

/// Do something that may retire and reclaim units, but does not reclaim this one.
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

/// Do not reclaim a unit until [`unkeep`].
///
/// # Safety
/// The unit is alive.
pub unsafe fn keep(unit: UnitRef) {
    // SAFETY: the caller's promise.
    unsafe { (*unit).keepers.update(|keepers| keepers + 1) };
}

/// Undo one [`keep`].
///
/// # Safety
/// The unit was kept.
pub unsafe fn unkeep(unit: UnitRef) {
    // SAFETY: the caller's promise.
    unsafe { (*unit).keepers.update(|keepers| keepers - 1) };
}

/// Whether there are units that may not be entered any more but may still be running.
pub fn are_retired(gil: Gil) -> bool {
    !gil.runtime().retired.borrow().is_empty()
}

/// Free the retired units that nothing runs in.
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
