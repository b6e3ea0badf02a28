//! Installed units: their handles, invalidation, entry and exit, and release.

use super::account::{ExitInfo, Statistics, UnitInfo};
use super::compiler::Unit;
use super::error::{CallError, CallFault, CompileError, CompileFault, InstallError, InstallFault};
use super::job::Task;
use super::stubs::{EntryCell, Stubs};
use super::{Entry, UnitParts};
use crate::code::NativeStack;
use crate::codegen::CompiledCode;
use crate::exits::{ExitHead, ExitRecord, LiveFrame};
use crate::facts::Assumption;
use crate::hir::InlinedCode;
use crate::host::{ObjectRef, UnitCells, World};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// A unit's number in its engine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct UnitId(u64);

impl fmt::Display for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unit{}", self.0)
    }
}

/// The most exits of a unit whose exits may be forced.
const MAX_FORCED: usize = 1 << 14;

/// Data that compiled code accesses by address: created before the code, and alive as long as it.
#[derive(Debug)]
pub(super) struct Link {
    cells: UnitCells<AtomicU64>,
    iterations: AtomicU64,
    /// For each exit, the number of passes through its guard until it is taken even if the guard
    /// holds; 0 for never.
    countdowns: Option<Box<[AtomicU64]>>,
    body: OnceLock<Weak<Body>>,
}

impl Link {
    /// A link for a unit whose exits may be forced, or not.
    pub(super) fn new(can_force: bool) -> Arc<Link> {
        let countdowns = || (0..MAX_FORCED).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Link {
            cells: UnitCells::default(),
            iterations: AtomicU64::new(0),
            countdowns: can_force.then(countdowns),
            body: OnceLock::new(),
        })
    }

    /// The host's parts, completed by the engine's.
    pub(super) fn fill(self: &Arc<Link>, parts: &UnitParts) -> UnitParts {
        UnitParts {
            token: Arc::as_ptr(self) as u64,
            cells: self.cells.address(),
            loop_counter: self.iterations.as_ptr() as u64,
            force_table: match &self.countdowns {
                Some(countdowns) => Some(countdowns.as_ptr() as u64),
                None => parts.force_table,
            },
            ..parts.clone()
        }
    }

    /// Checks that there is a countdown for each exit of a unit, if exits may be forced.
    pub(super) fn check_room(&self, unit: &Unit) -> Result<(), CompileError> {
        if self.countdowns.is_some() && unit.exits.len() > MAX_FORCED {
            let fault = CompileFault::LimitExceeded {
                what: "the number of exits that may be forced".into(),
                limit: MAX_FORCED as u64,
            };
            Err(fault.into())
        } else {
            Ok(())
        }
    }

    fn force(&self, exit: usize, rounds: u64) -> bool {
        let countdown = self.countdowns.as_ref().and_then(|all| all.get(exit));
        countdown.map(|word| word.store(rounds, SeqCst)).is_some()
    }
}

/// A unit with all its data.
pub(super) struct Body {
    id: UnitId,
    name: String,
    entry: Entry,
    arity: usize,
    unit: Unit,
    link: Arc<Link>,
    /// The number of times that each exit was taken.
    taken: Box<[AtomicU64]>,
    entered: AtomicU64,
    adapter: Arc<CompiledCode>,
    cell: Option<EntryCell>,
    /// Cells that the code calls through.
    _calls: Vec<EntryCell>,
    shared: Weak<Shared>,
}

impl Body {
    fn is_valid(&self) -> bool {
        self.link.cells.state.load(SeqCst) == 0
    }

    fn count_exit(&self, number: usize) -> u64 {
        self.taken[number].fetch_add(1, SeqCst) + 1
    }
}

/// Keeps an installed unit. When the last handle is gone, the code is freed as soon as nothing runs
/// in it.
///
/// ```no_run
/// # use cladonia::engine::{CallError, UnitHandle};
/// /// Calls a function of one argument, in machine code while its unit is valid.
/// fn call(unit: &UnitHandle, vm: *mut u8, function: *mut u8, arg: *mut u8) -> Option<*mut u8> {
///     // SAFETY: the unit was compiled from this function, and takes over the argument.
///     match unsafe { unit.call(vm, function, &[arg]) } {
///         Ok(result) => Some(result),
///         Err(error) if error.is_invalid() => None,
///         Err(error) => panic!("{error}"),
///     }
/// }
/// ```
#[derive(Clone)]
pub struct UnitHandle(Arc<Lease>);

struct Lease {
    body: Arc<Body>,
    shared: Arc<Shared>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.shared.retire(self.body.clone());
    }
}

/// While it lives, native code of the engine may run, so none is freed.
pub struct Activation {
    shared: Arc<Shared>,
}

impl Drop for Activation {
    fn drop(&mut self) {
        if self.shared.inside.fetch_sub(1, SeqCst) == 1 {
            self.shared.reclaim();
        }
    }
}

impl UnitHandle {
    pub(super) fn body(&self) -> &Arc<Body> {
        &self.0.body
    }

    /// Its number.
    pub fn id(&self) -> UnitId {
        self.0.body.id
    }

    /// The machine code with its exit records, assumptions, text forms, and pins.
    pub fn unit(&self) -> &Unit {
        &self.0.body.unit
    }

    /// Returns true if it may still be entered.
    pub fn is_valid(&self) -> bool {
        self.0.body.is_valid()
    }

    /// The text of a stage (`hir`, `selected`, `lir`, `clif`, `asm`), if the engine keeps them.
    pub fn dump(&self, stage: &str) -> Option<&str> {
        let dumps = &self.0.body.unit.dumps;
        let found = dumps.iter().find(|(name, _)| *name == stage);
        found.map(|(_, text)| text.as_str())
    }

    /// Information about it.
    pub fn info(&self) -> UnitInfo {
        self.0.body.info()
    }

    /// Notes that native code is entered, for a host that calls it by itself.
    pub fn activate(&self) -> Activation {
        let shared = &self.0.shared;
        self.0.body.entered.fetch_add(1, SeqCst);
        match self.0.body.entry {
            Entry::Function | Entry::Resume => shared.calls.fetch_add(1, SeqCst),
            Entry::Loop(_) => shared.loop_entries.fetch_add(1, SeqCst),
        };
        shared.activate()
    }

    /// Forces an exit though its guard holds: the `rounds`-th time from now that control reaches
    /// the guard, or never if `rounds` is 0. So a test can make the host continue from every exit.
    /// Returns false if the unit has no such exit, or was not compiled for this
    /// ([`Task::forcible`]).
    pub fn force(&self, exit: usize, rounds: u64) -> bool {
        let body = &self.0.body;
        exit < body.unit.exits.len() && body.link.force(exit, rounds)
    }

    /// Calls the unit: a function unit as `(thread, function, arguments...)`, a loop unit as
    /// `(thread, frame)`. Returns the unit's result: see [the calling
    /// convention](crate::host#calling-convention-of-compiled-code).
    ///
    /// # Errors
    /// [`CallError`]; then the unit has not run, and the arguments still belong to the caller.
    ///
    /// # Safety
    /// On the host's thread; the pointers have the types that the host's own helpers and intrinsics
    /// expect (if objects are traced, the thread has a [`NativeStack`] at the declared offset), and
    /// the arguments' references belong to the unit from here on.
    pub unsafe fn call(
        &self,
        thread: *mut u8,
        second: *mut u8,
        args: &[*mut u8],
    ) -> Result<*mut u8, CallError> {
        let body = &self.0.body;
        if args.len() != body.arity {
            let (expected, given) = (body.arity, args.len());
            return Err(CallFault::Arity { expected, given }.into());
        }
        if !body.is_valid() {
            return Err(CallFault::Invalid.into());
        }
        let _activation = self.activate();
        let code = &body.unit.code;
        type Adapter = unsafe extern "C" fn(*mut u8, *mut u8, *const u8, *const *mut u8) -> *mut u8;
        // SAFETY: compiled with this signature; the caller guarantees the arguments.
        let call = || unsafe {
            let call: Adapter = std::mem::transmute(body.adapter.entry());
            call(thread, second, code.entry(), args.as_ptr())
        };
        Ok(match code.native_stack() {
            None => call(),
            Some(offset) => {
                // SAFETY: the host has declared that its threads have one there.
                let stack = unsafe { &*thread.byte_offset(offset as isize).cast::<NativeStack>() };
                stack.enter(call)
            }
        })
    }
}

impl UnitHandle {
    /// Calls a function unit with references of the host's Rust types. Returns the unit's result,
    /// none for null.
    ///
    /// # Errors
    /// As for [`call`](Self::call); the arguments are dropped.
    ///
    /// # Safety
    /// As for [`call`](Self::call): the unit was compiled from this function, whose objects and
    /// threads are of these types.
    pub unsafe fn call_with<T, V: ObjectRef>(
        &self,
        thread: &T,
        function: &V,
        mut args: Vec<V>,
    ) -> Result<Option<V>, CallError> {
        const { assert!(size_of::<V>() == size_of::<u64>() && size_of::<Option<V>>() == 8) };
        let thread = std::ptr::from_ref(thread).cast_mut().cast();
        // SAFETY: an `ObjectRef` is one word, that of the object, and its option is that word or 0;
        // arguments that the unit has taken over are not dropped here; the caller guarantees the
        // rest.
        unsafe {
            let function = std::mem::transmute_copy::<V, *mut u8>(function);
            let words = std::slice::from_raw_parts(args.as_ptr().cast::<*mut u8>(), args.len());
            let result = self.call(thread, function, words)?;
            args.set_len(0);
            Ok(std::mem::transmute_copy::<*mut u8, Option<V>>(&result))
        }
    }
}

impl fmt::Debug for UnitHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.info().fmt(f)
    }
}

/// An exit that compiled code takes: the form in which the exit hook sees its arguments.
pub struct Exit<'a> {
    body: Arc<Body>,
    number: usize,
    /// The exit buffer. If objects are traced, a collector updates it.
    words: *const u64,
    /// Its lifetime is that of the hook's activation.
    _here: PhantomData<&'a u64>,
}

impl Exit<'_> {
    /// The exit for which the hook was called; it is counted.
    ///
    /// # Safety
    /// The arguments are those with which code of an installed unit has called the exit hook, in
    /// this call.
    pub unsafe fn from_hook<'a>(token: u64, number: u64, buffer: *const u64) -> Exit<'a> {
        // SAFETY: the token is the address of the unit's link, which lives as long as the code,
        // which runs.
        let link = unsafe { &*std::ptr::with_exposed_provenance::<Link>(token as usize) };
        let body = link.body.get().and_then(Weak::upgrade);
        let body = body.expect("code that runs belongs to a unit that is installed");
        let number = number as usize;
        body.count_exit(number);
        if let Some(shared) = body.shared.upgrade() {
            shared.count_exit(body.unit.exits.heads()[number]);
        }
        Exit {
            words: buffer,
            body,
            number,
            _here: PhantomData,
        }
    }

    /// The record.
    pub fn record(&self) -> &ExitRecord {
        &self.body.unit.exits[self.number]
    }

    /// The code of an inlined frame, by the number in the record.
    ///
    /// # Panics
    /// If the unit has no such code; its records only have valid numbers.
    pub fn inlined(&self, code: u32) -> &InlinedCode {
        &self.body.unit.inlined[code as usize]
    }

    /// The unit's number.
    pub fn unit(&self) -> UnitId {
        self.body.id
    }

    /// The entry of the unit.
    pub fn entry(&self) -> Entry {
        self.body.entry
    }

    /// The number of times that the unit has taken this exit, this time included.
    pub fn count(&self) -> u64 {
        self.body.taken[self.number].load(SeqCst)
    }

    /// Its number among the unit's exits.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Forces it again though its guard holds: see [`UnitHandle::force`].
    pub fn force(&self, rounds: u64) -> bool {
        self.body.link.force(self.number, rounds)
    }

    /// The current content of the frame. If objects are traced, the words of objects are valid
    /// until the next collection; after that, call this again for the updated words.
    pub fn frame(&self) -> LiveFrame {
        // SAFETY: the code has stored the words of the record, and nothing runs that changes them.
        let words = unsafe { self.record().all_words(self.words) };
        let frame = self.record().read(&words);
        frame.expect("the buffer is as long as the record says")
    }

    /// Invalidates the unit; it is freed when it is not running any more.
    pub fn invalidate(&self) {
        if let Some(shared) = self.body.shared.upgrade() {
            shared.invalidate(&self.body);
        }
    }
}

impl Body {
    fn info(&self) -> UnitInfo {
        let exits = self.unit.exits.heads().iter().zip(&self.taken).enumerate();
        let exits = exits.map(|(number, (head, taken))| ExitInfo {
            number,
            pc: head.pc,
            reason: head.reason,
            taken: taken.load(SeqCst),
        });
        UnitInfo {
            id: self.id,
            name: self.name.clone(),
            entry: self.entry,
            is_valid: self.is_valid(),
            code_size: self.unit.code.size(),
            entered: self.entered.load(SeqCst),
            iterations: self.link.iterations.load(SeqCst),
            assumptions: self.unit.assumptions.clone(),
            exits: exits.filter(|exit| exit.taken > 0).collect(),
        }
    }
}

/// The data that the engine, its handles, jobs and activations share.
#[derive(Default)]
pub(super) struct Shared {
    /// Activations.
    inside: AtomicU64,
    calls: AtomicU64,
    loop_entries: AtomicU64,
    state: Mutex<State>,
    stubs: Mutex<Stubs>,
}

#[derive(Default)]
struct State {
    closed: bool,
    next: u64,
    units: BTreeMap<UnitId, UnitHandle>,
    watchers: HashMap<Assumption, Vec<Weak<Body>>>,
    retired: Vec<Arc<Body>>,
    /// The changes since the oldest job began.
    changes: Vec<Assumption>,
    /// The number of changes before those.
    forgotten: u64,
    /// For each job, its start among the changes.
    jobs: BTreeMap<u64, u64>,
    statistics: Statistics,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data behind the locks is consistent at every statement that could panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The assumptions to watch for an assumption: for a class, its bases too.
fn watched(assumption: &Assumption) -> Vec<Assumption> {
    match assumption {
        Assumption::ClassUnchanged(class) => {
            let mro = class.mro();
            let classes = std::iter::once(*class).chain(mro.iter().copied());
            classes.map(Assumption::ClassUnchanged).collect()
        }
        other => vec![other.clone()],
    }
}

impl Shared {
    pub(super) fn stubs(&self) -> MutexGuard<'_, Stubs> {
        lock(&self.stubs)
    }

    fn activate(self: &Arc<Shared>) -> Activation {
        self.inside.fetch_add(1, SeqCst);
        let shared = self.clone();
        Activation { shared }
    }

    /// Installs the result of a compile.
    pub(super) fn install(
        self: &Arc<Shared>,
        task: Task,
        link: Arc<Link>,
        made: Result<(Unit, Arc<CompiledCode>), CompileError>,
        world: &dyn World,
    ) -> Result<UnitHandle, InstallError> {
        let name = task.code.name.clone();
        let installed = self.try_install(task, link, made, world);
        let mut state = lock(&self.state);
        match &installed {
            Ok(_) => state.statistics.installed += 1,
            Err(error) => {
                state.statistics.refused += 1;
                state.statistics.refusals.insert(name, error.clone());
            }
        }
        drop(state);
        installed
    }

    fn try_install(
        self: &Arc<Shared>,
        task: Task,
        link: Arc<Link>,
        made: Result<(Unit, Arc<CompiledCode>), CompileError>,
        world: &dyn World,
    ) -> Result<UnitHandle, InstallError> {
        let (unit, adapter) = made?;
        let name = task.code.name.clone();
        let watches: Vec<Assumption> = unit.assumptions.iter().flat_map(watched).collect();
        for assumption in &watches {
            if !world.watch(assumption) {
                let assumption = assumption.clone();
                return Err(InstallFault::Unwatched { name, assumption }.into());
            }
        }
        let Some(calls) = self.cells_of(&unit.entry_cells) else {
            let what = "a called function was deallocated";
            return Err(CompileError::invalid_request(what).into());
        };
        let mut state = lock(&self.state);
        state.next += 1;
        let id = UnitId(state.next);
        let body = Arc::new(Body {
            id,
            name,
            entry: task.entry,
            arity: match task.entry {
                Entry::Function => task.code.arity() as usize,
                Entry::Loop(_) => 0,
                Entry::Resume => 1,
            },
            taken: unit
                .exits
                .heads()
                .iter()
                .map(|_| AtomicU64::new(0))
                .collect(),
            unit,
            link,
            entered: AtomicU64::new(0),
            adapter,
            cell: task.cell,
            _calls: calls,
            shared: Arc::downgrade(self),
        });
        let _ = body.link.body.set(Arc::downgrade(&body));
        for assumption in watches {
            let units = state.watchers.entry(assumption).or_default();
            units.push(Arc::downgrade(&body));
        }
        for &(stage, took) in &body.unit.timings {
            let stages = &mut state.statistics.stages;
            match stages.iter_mut().find(|known| known.0 == stage) {
                Some(known) => known.1 += took,
                None => stages.push((stage, took)),
            }
        }
        if let (Some(cell), Entry::Function) = (&body.cell, body.entry) {
            cell.publish(body.unit.code.entry());
        }
        let shared = self.clone();
        let handle = UnitHandle(Arc::new(Lease { body, shared }));
        state.units.insert(id, handle.clone());
        Ok(handle)
    }

    pub(super) fn changed(&self, assumption: &Assumption) -> usize {
        let mut state = lock(&self.state);
        if !state.jobs.is_empty() {
            state.changes.push(assumption.clone());
        }
        let units = state.watchers.remove(assumption).unwrap_or_default();
        drop(state);
        let units = units.iter().filter_map(Weak::upgrade);
        units.filter(|body| self.invalidate(body)).count()
    }

    pub(super) fn invalidate(&self, body: &Arc<Body>) -> bool {
        if body.link.cells.state.swap(1, SeqCst) != 0 {
            return false;
        }
        if let Some(cell) = &body.cell {
            cell.withdraw(body.unit.code.entry());
        }
        let mut state = lock(&self.state);
        state.statistics.invalidated += 1;
        for assumption in body.unit.assumptions.iter().flat_map(watched) {
            let Some(units) = state.watchers.get_mut(&assumption) else {
                continue;
            };
            units.retain(|other| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(body)));
            if units.is_empty() {
                state.watchers.remove(&assumption);
            }
        }
        let handle = state.units.remove(&body.id);
        // A handle must not be dropped under the lock.
        drop(state);
        drop(handle);
        true
    }

    pub(super) fn forget(&self, unit: UnitId) -> bool {
        let handle = lock(&self.state).units.remove(&unit);
        handle.is_some()
    }

    pub(super) fn unit(&self, unit: UnitId) -> Option<UnitHandle> {
        lock(&self.state).units.get(&unit).cloned()
    }

    pub(super) fn handles(&self) -> Vec<UnitHandle> {
        lock(&self.state).units.values().cloned().collect()
    }

    fn count_exit(&self, head: ExitHead) {
        let mut state = lock(&self.state);
        let exits = &mut state.statistics.exits;
        *exits.entry((head.kind, head.reason)).or_default() += 1;
    }

    pub(super) fn statistics(&self) -> Statistics {
        let state = lock(&self.state);
        Statistics {
            waiting: state.retired.len(),
            jobs: state.jobs.len(),
            calls: self.calls.load(SeqCst),
            loop_entries: self.loop_entries.load(SeqCst),
            ..state.statistics.clone()
        }
    }

    /// Handles the drop of a unit's last handle.
    fn retire(&self, body: Arc<Body>) {
        self.invalidate(&body);
        lock(&self.state).retired.push(body);
        self.reclaim();
    }

    /// Frees the waiting units, if no native code runs.
    fn reclaim(&self) {
        let mut state = lock(&self.state);
        if self.inside.load(SeqCst) != 0 {
            return;
        }
        let retired = std::mem::take(&mut state.retired);
        state.statistics.freed += retired.len() as u64;
        // Freeing pages takes time, and needs none of our locks.
        drop(state);
        drop(retired);
    }

    /// Handles the drop of the engine.
    pub(super) fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        let handles = std::mem::take(&mut state.units);
        drop(state);
        for handle in handles.values() {
            self.invalidate(handle.body());
        }
        // Units and cells keep the stubs that they need.
        *self.stubs() = Stubs::default();
    }
}

/// A job's place among the reported changes.
pub(super) struct Ticket {
    shared: Arc<Shared>,
    number: u64,
}

impl Ticket {
    pub(super) fn new(shared: &Arc<Shared>) -> Ticket {
        let mut state = lock(&shared.state);
        state.next += 1;
        let (number, now) = (state.next, state.forgotten + state.changes.len() as u64);
        state.jobs.insert(number, now);
        drop(state);
        let shared = shared.clone();
        Ticket { shared, number }
    }

    pub(super) fn is_of(&self, shared: &Arc<Shared>) -> bool {
        Arc::ptr_eq(&self.shared, shared)
    }

    pub(super) fn is_open(&self) -> bool {
        !lock(&self.shared.state).closed
    }

    pub(super) fn count_stale(&self) {
        lock(&self.shared.state).statistics.stale += 1;
    }

    /// The first of the assumptions that was reported to have changed since the job began.
    pub(super) fn first_changed<'a>(
        &self,
        mut assumptions: impl Iterator<Item = &'a Assumption>,
    ) -> Option<Assumption> {
        let state = lock(&self.shared.state);
        let begun = state.jobs.get(&self.number)? - state.forgotten;
        let changes = &state.changes[begun as usize..];
        let changed = |a: &&Assumption| watched(a).iter().any(|a| changes.contains(a));
        assumptions.find(changed).cloned()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        state.jobs.remove(&self.number);
        let now = state.forgotten + state.changes.len() as u64;
        let oldest = state.jobs.values().copied().min().unwrap_or(now);
        let gone = (oldest - state.forgotten) as usize;
        state.changes.drain(..gone);
        state.forgotten = oldest;
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<UnitHandle>();
    shared::<Activation>();
};
