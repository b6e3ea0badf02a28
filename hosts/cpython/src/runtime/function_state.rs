//! The state of a code object, its functions and their entries.

use super::capi::*;
use super::closed::RawCell;
use super::generators::GeneratorState;
use super::pauses::{Counter, Since};
use super::sampling::{Callees, Locals, Sampled, Sites};
use super::units::{Kind, Progress, UnitRef};
use super::{Gil, abi, entries, units};
use cladonia::bytecode::{Numbers, Pc};
use cladonia::engine::CompiledCode;
use cladonia::exits::Reason;
use cladonia::types::Type;

use pyo3_ffi::Py_REFCNT;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::c_void;
use std::rc::Rc;

/// Maximum versions of one entry, the first included; after that its function stays interpreted.
const MAX_VERSIONS: u32 = 8;
/// The last of these versions. They do not repeat any speculation that has failed at all, and learn
/// no further classes: for a method of a tree's nodes of fifty classes, code without speculation is
/// better than none.
const CAUTIOUS_VERSIONS: u32 = 4;
/// Maximum units given up because code that they left out as never executed was executed. After
/// that nothing is left out.
pub const MAX_REACHED_LATE: u32 = 8;
/// Maximum number of namespaces that one code object is compiled for.
const MAX_NAMESPACES: usize = 4;

/// The state of a code object.
pub struct CodeState {
    /// Its constants.
    pub shape: CodeShape,
    /// Interpreted calls counted.
    pub calls: Cell<u64>,
    /// Starts of its frames that were observed.
    pub starts: Cell<u64>,
    /// Those of them that C code called.
    pub starts_from_c: Cell<u64>,
    /// Calls by native code that the interpreter ran.
    pub fallbacks: Cell<u64>,
    /// Nanoseconds that a start saves once the generators to which it delegates run natively.
    pub delegated: Cell<i64>,
    /// Interpreted starts after there was an entry.
    pub bypassed: Cell<u64>,
    /// Number of times that it was [observed](super::listening) running.
    pub met: Cell<u32>,
    /// True if its own events are enabled, except where they were disabled since.
    pub is_monitored: Cell<bool>,
    /// The time at which they were last enabled.
    pub monitored_since: Cell<u64>,
    /// The time at which disabled events are to be enabled again.
    pub monitor_at: Cell<u64>,
    /// The time of its first event; 0 before.
    pub began: Cell<u64>,
    /// Calls below this number are only counted, not weighed.
    pub next_call: Cell<u64>,
    /// The next count at which its calls are weighed.
    pub counted: Cell<Counter>,
    /// True if compiling pays.
    pub pays: Cell<bool>,
    /// Entries, one for each pair of globals and builtins.
    pub entries: RefCell<Vec<Rc<Entry>>>,
    /// For a generator's code: the units that resume its generators.
    pub generator: GeneratorState,
    /// Units that are ordered, and those that are compiled but not installed yet.
    pub ordered: RefCell<Vec<UnitRef>>,
    /// Units that were stale when their compile finished.
    pub stale: Cell<u32>,
    /// The number of orders that workers had delivered when a request for this code last got
    /// "busy".
    pub busy_at: Cell<Option<u64>>,
    /// Loops by position.
    pub loops: RefCell<BTreeMap<u32, LoopState>>,
    /// The classes of its locals, observed while it was interpreted.
    pub locals: RefCell<Locals>,
    /// The classes observed at its attribute instructions while it was interpreted.
    pub sites: RefCell<Sites>,
    /// The profile that past units have recorded for the next ones.
    pub profile: RefCell<SiteProfile>,
    /// Units that were given up because of sampled operands.
    pub taught: Cell<u32>,
    /// Units that were given up because code that they left out was executed.
    pub reached_late: Cell<u32>,
    /// The reason why calls are not compiled.
    pub refused: OnceCell<String>,
    /// The reason why running frames are not taken over.
    pub loops_refused: OnceCell<String>,
    /// True if closed units have failed, so that no more are compiled.
    pub open: Cell<bool>,
    /// True if a compile was ever tried.
    pub tried: Cell<bool>,
    /// True if there ever was a unit.
    pub compiled: Cell<bool>,
}

/// Observations at failed guards, by instruction.
#[derive(Clone, Default)]
pub struct SiteProfile {
    /// Speculations that failed too often.
    pub avoid: HashSet<(Pc, Reason)>,
    /// Classes of receivers that differed from the speculated class.
    pub met: HashMap<Pc, History>,
    /// The shared keys of instances whose layout differed from the speculated one.
    pub keys: HashMap<Pc, Keys>,
    /// Number types of operands that differed from the speculated ones.
    pub operands: HashMap<Pc, Operands>,
    /// The code object of callees that differed from the speculated function. This code keeps it
    /// alive.
    pub kin: HashMap<Pc, Object>,
    /// Addresses of the code objects of functions that were deallocated while a unit relied on
    /// them. For example, a function that calls its sibling `leaf` in
    /// `def outer(): def leaf(): ...` observes another `leaf` with each call of `outer`.
    pub deallocated: HashSet<usize>,
    /// Operands observed by sampling general operations.
    pub sampled: HashMap<Pc, Sampled>,
    /// Functions observed by sampling general calls.
    pub callees: HashMap<Pc, Callees>,
}

/// Units that were given up because of one instruction's operands.
#[derive(Clone, Copy, Default)]
pub struct Failures {
    count: u32,
    /// The number of units begun when the last one was given up.
    begun: u64,
}

/// Maximum units given up because of one instruction's operands; after that it is compiled for
/// operands of any type.
const MAX_OPERAND_FAILURES: u32 = 3;

impl Failures {
    /// Counts a unit, the `number`th of `begun`. Returns true if the speculation is not to be
    /// repeated. A unit that was begun before the last one was given up lacked that one's profile,
    /// so it does not count.
    pub fn count(&mut self, number: u64, begun: u64) -> bool {
        if number >= self.begun {
            self.count += 1;
            self.begun = begun;
        }
        self.count >= MAX_OPERAND_FAILURES
    }
}

/// Classes observed at an attribute instruction.
#[derive(Clone, Default)]
pub struct History {
    /// Their versions: to compiled code, a class that has changed since is another class.
    pub versions: Vec<u32>,
    /// The units that were given up because of these classes.
    pub failures: Failures,
    /// True if an object with a dictionary of its own was observed and the unit did not expect one.
    pub has_dicts: bool,
}

/// The number of keys that the instances of a class shared when one of them did not have the
/// speculated layout. Keys grow: the next unit knows more of them, and may be right.
#[derive(Clone, Copy, Default)]
pub struct Keys {
    /// At the last observation.
    pub met: i64,
    /// When a unit was last given up because of it.
    pub given_up: i64,
}

/// Maximum classes recorded for an instruction.
const MAX_CLASSES: usize = 10;

impl History {
    /// Records a class, by its version.
    pub fn add(&mut self, version: u32) {
        if !self.versions.contains(&version) {
            // The newest are the most likely to be alive.
            if self.versions.len() == MAX_CLASSES {
                self.versions.remove(0);
            }
            self.versions.push(version);
        }
    }
}

/// The types of operands of arithmetic or a comparison that differed from the speculated ones.
#[derive(Clone, Copy, Default)]
pub struct Operands {
    /// Two numbers of one kind.
    pub alike: bool,
    /// A float and an int.
    pub mixed: bool,
    /// Something else.
    pub others: bool,
    /// The units that were given up because of them.
    pub failures: Failures,
}

impl Operands {
    /// The number types to expect, if only numbers were observed.
    pub fn numbers(&self) -> Option<Numbers> {
        match self {
            Operands { others: true, .. } => None,
            Operands { alike: true, .. } => Some(Numbers::Any),
            Operands { mixed: true, .. } => Some(Numbers::Mixed),
            _ => None,
        }
    }
}

/// The entry of the functions of one code object and namespace.
pub struct Entry {
    /// The code object's constants.
    pub shape: CodeShape,
    /// Globals.
    pub globals: Object,
    /// Builtins.
    pub builtins: Object,
    /// The cell that native callers jump through.
    pub cell: Box<Cell<u64>>,
    /// The fallback of this arity.
    pub fallback: u64,
    /// The cells that native callers with raw values jump through: one for each signature that a
    /// closed unit has had.
    pub raw_cells: RefCell<Vec<RawCell>>,
    /// The vectorcall stub, compiled when first installed.
    pub stub: OnceCell<CompiledCode>,
    /// The unit.
    pub unit: Cell<Option<UnitRef>>,
    /// Number of units compiled.
    pub versions: Cell<u32>,
    /// True if the unit was lost and another may be compiled.
    pub recompile: Cell<bool>,
    /// The types of its arguments when it was first compiled.
    pub live: RefCell<Vec<Type>>,
}

/// A loop (or the start) of a code object, entered from running frames.
#[derive(Default)]
pub struct LoopState {
    /// Back edges counted.
    pub turns: Counter,
    /// Back edges of the activation that began last.
    pub here: u64,
    /// The number of that activation among the calls.
    pub call: u64,
    /// Units, by namespace and stack depth.
    pub units: Vec<UnitRef>,
    /// Number of units compiled.
    pub versions: u32,
    /// Entries refused because of the frame's state.
    pub misfits: u32,
    /// True if no further unit is compiled.
    pub closed: bool,
}

/// A function whose vectorcall was replaced.
#[derive(Clone, Copy, Debug)]
pub struct Installed {
    /// Its code object.
    pub code: Object,
    /// Its version before installation.
    pub version: u32,
    /// Its vectorcall before installation.
    pub original: *const c_void,
    /// Its vectorcall since.
    pub stub: *const c_void,
    /// The entry cell.
    pub cell: *const Cell<u64>,
    /// The code object's constants.
    pub shape: CodeShape,
}

impl CodeState {
    /// An empty state.
    pub fn new(shape: CodeShape) -> CodeState {
        CodeState {
            shape,
            calls: Cell::new(0),
            starts: Cell::new(0),
            starts_from_c: Cell::new(0),
            fallbacks: Cell::new(0),
            delegated: Cell::new(0),
            bypassed: Cell::new(0),
            met: Cell::new(0),
            is_monitored: Cell::new(false),
            monitored_since: Cell::new(0),
            monitor_at: Cell::new(u64::MAX),
            began: Cell::new(0),
            next_call: Cell::new(0),
            counted: Cell::default(),
            pays: Cell::new(false),
            entries: RefCell::default(),
            generator: GeneratorState::default(),
            ordered: RefCell::default(),
            stale: Cell::default(),
            busy_at: Cell::default(),
            loops: RefCell::default(),
            locals: RefCell::default(),
            sites: RefCell::default(),
            profile: RefCell::default(),
            taught: Cell::new(0),
            reached_late: Cell::new(0),
            refused: OnceCell::new(),
            loops_refused: OnceCell::new(),
            open: Cell::new(false),
            tried: Cell::new(false),
            compiled: Cell::new(false),
        }
    }

    /// Maximum versions of one entry before its function stays interpreted.
    pub fn max_versions(&self) -> u32 {
        MAX_VERSIONS + self.reached_late.get() + self.taught.get()
    }

    /// Returns true if what follows a unit is one of the last versions, which are cautious.
    ///
    /// # Safety
    /// The unit is alive.
    pub unsafe fn is_cautious_after(&self, unit: UnitRef) -> bool {
        // SAFETY: the caller's promise.
        let made = match unsafe { (*unit).kind } {
            Kind::Loop { pos, .. } => self.with_loop(pos, |slot| slot.versions),
            Kind::Generator => self.generator.versions.get(),
            _ => {
                let entries = self.entries.borrow();
                let of = entries.iter().find(|e| e.unit.get() == Some(unit));
                of.map_or(0, |entry| entry.versions.get())
            }
        };
        made + CAUTIOUS_VERSIONS >= self.max_versions()
    }

    /// Compiling it pays: its next call triggers a compile.
    pub fn set_pays(&self, gil: Gil) {
        if self.pays.replace(true) {
            return;
        }
        self.next_call.set(0);
        if self.counted.get().is_paused() || !self.is_monitored.get() {
            gil.runtime().listening.want(self);
        }
    }

    /// The time since which it is monitored: now, if this is its first event.
    pub fn since(&self, gil: Gil) -> Since {
        if self.began.get() == 0 {
            self.began.set(gil.runtime().pauses.now());
        }
        Since {
            began: self.began.get(),
            monitored_since: self.monitored_since.get(),
        }
    }

    /// Its events are to be enabled again when it is next observed after this time.
    pub fn monitor_again(&self, at: u64) {
        self.monitor_at.update(|known| known.min(at));
    }

    /// The entry of a namespace.
    pub fn entry(&self, globals: Object, builtins: Object) -> Option<Rc<Entry>> {
        let entries = self.entries.borrow();
        let mut entries = entries.iter();
        let entry = entries.find(|e| e.globals == globals && e.builtins == builtins);
        entry.cloned()
    }

    /// Calls `act` with the state of a loop, created on first use.
    pub fn with_loop<R>(&self, pos: u32, act: impl FnOnce(&mut LoopState) -> R) -> R {
        act(self.loops.borrow_mut().entry(pos).or_default())
    }

    /// Removes an invalidated unit from the tables.
    pub fn detach(&self, unit: UnitRef) {
        let most = self.max_versions();
        let reason = || format!("its speculation failed in {most} versions");
        self.withdraw_order(unit);
        for entry in &*self.entries.borrow() {
            if entry.unit.get() == Some(unit) {
                entry.unit.set(None);
                entry.cell.set(entry.fallback);
                entry.raw_cells.borrow().iter().for_each(RawCell::close);
                entry.recompile.set(entry.versions.get() < most);
                if !entry.recompile.get() {
                    self.refused.get_or_init(reason);
                }
            }
        }
        if self.generator.unit.get() == Some(unit) {
            let again = self.generator.versions.get() < most && self.refused.get().is_none();
            // SAFETY: the unit keeps its code object alive.
            unsafe { self.generator.withdraw(self.shape.code, again) };
            if !again {
                self.refused.get_or_init(reason);
            }
        }
        for state in self.loops.borrow_mut().values_mut() {
            state.units.retain(|&u| u != unit);
            state.closed |= state.units.is_empty() && state.versions >= most;
        }
    }

    /// An order that has become stale counts as a version: a unit installed in its place would have
    /// been invalidated too.
    fn withdraw_order(&self, unit: UnitRef) {
        let mut ordered = self.ordered.borrow_mut();
        let before = ordered.len();
        ordered.retain(|&other| other != unit);
        if ordered.len() == before {
            return;
        }
        // SAFETY: units in tables are alive.
        let unit = unsafe { &*unit };
        match unit.kind {
            Kind::Function => {
                if let Some(entry) = self.entry(unit.globals, unit.builtins) {
                    entry.versions.update(|made| made + 1);
                }
            }
            Kind::Generator => self.generator.versions.update(|made| made + 1),
            Kind::Loop { pos, .. } => self.with_loop(pos, |slot| slot.versions += 1),
        }
    }

    /// The ordered unit for this place and namespace, if there is one.
    pub fn ordered_unit(
        &self,
        kind: Kind,
        globals: Object,
        builtins: Object,
        at_top: bool,
    ) -> Option<UnitRef> {
        let ordered = self.ordered.borrow();
        let mut ordered = ordered.iter().copied();
        // SAFETY: units in tables are alive.
        ordered.find(|&u| unsafe { (*u).is_at(kind, globals, builtins, at_top) })
    }

    /// True if there are orders, and none of them is compiled yet.
    pub fn is_all_ordered(&self) -> bool {
        let ordered = self.ordered.borrow();
        // SAFETY: units in tables are alive.
        let is_open = |unit: &UnitRef| unsafe { (**unit).progress.get() } == Progress::Ordered;
        !ordered.is_empty() && ordered.iter().all(is_open)
    }

    /// All units.
    pub fn units(&self) -> Vec<UnitRef> {
        let (entries, loops) = (self.entries.borrow(), self.loops.borrow());
        let functions = entries.iter().filter_map(|e| e.unit.get());
        functions
            .chain(self.ordered.borrow().iter().copied())
            .chain(self.generator.unit.get())
            .chain(loops.values().flat_map(|l| l.units.iter().copied()))
            .collect()
    }

    /// True if a call of one of its functions may run natively.
    pub fn has_function_unit(&self) -> bool {
        let entries = self.entries.borrow();
        entries.iter().any(|e| e.unit.get().is_some()) || self.generator.unit.get().is_some()
    }

    /// The unit by which a loop can be entered here.
    pub fn loop_unit(
        &self,
        kind: Kind,
        globals: Object,
        builtins: Object,
        at_top: bool,
    ) -> Option<UnitRef> {
        let Kind::Loop { pos, .. } = kind else {
            return None;
        };
        let loops = self.loops.borrow();
        let mut units = loops.get(&pos)?.units.iter().copied();
        // SAFETY: units in tables are alive.
        units.find(|&u| unsafe { (*u).is_at(kind, globals, builtins, at_top) })
    }
}

/// The state of a code object, created on first use.
///
/// # Safety
/// `code` is a code object.
pub unsafe fn state_of(gil: Gil, code: Object) -> Rc<CodeState> {
    let mut codes = gil.runtime().codes.borrow_mut();
    // SAFETY: the caller's promise.
    let new = || Rc::new(CodeState::new(unsafe { CodeShape::of(code) }));
    Rc::clone(codes.entry(code as usize).or_insert_with(new))
}

/// Code, globals and builtins of a function.
///
/// # Safety
/// `func` is a Python function.
pub unsafe fn parts_of(func: Object) -> (Object, Object, Object) {
    // SAFETY: the caller's promise.
    unsafe {
        let base = func.cast::<u8>();
        (
            get(base, abi::function::CODE),
            get(base, abi::function::GLOBALS),
            get(base, abi::function::BUILTINS),
        )
    }
}

/// The entry of a function, created with its fallback on first use. `None` if the code object has
/// too many namespaces or the fallback cannot be compiled.
///
/// # Safety
/// `func` is a Python function.
pub unsafe fn entry_of(gil: Gil, func: Object) -> Option<Rc<Entry>> {
    // SAFETY: the caller's promise.
    unsafe { entry_of_parts(gil, parts_of(func)) }
}

/// The same for functions of this code, with these globals and builtins.
unsafe fn entry_of_parts(
    gil: Gil,
    (code, globals, builtins): (Object, Object, Object),
) -> Option<Rc<Entry>> {
    // SAFETY: the caller's promise.
    let state = unsafe { state_of(gil, code) };
    if let Some(entry) = state.entry(globals, builtins) {
        return Some(entry);
    }
    if state.entries.borrow().len() >= MAX_NAMESPACES {
        return None;
    }
    let fallback = fallback_of(gil, state.shape.arity())?;
    let entry = Rc::new(Entry {
        shape: state.shape,
        globals,
        builtins,
        cell: Box::new(Cell::new(fallback)),
        fallback,
        raw_cells: RefCell::default(),
        stub: OnceCell::new(),
        unit: Cell::new(None),
        versions: Cell::new(0),
        recompile: Cell::new(false),
        live: RefCell::default(),
    });
    state.entries.borrow_mut().push(Rc::clone(&entry));
    Some(entry)
}

/// The address of the cell through which native code calls functions with this code, these globals
/// and builtins: the answer to `World::callee`.
///
/// # Safety
/// The first is a code object.
pub unsafe fn entry_cell(gil: Gil, [code, globals, builtins]: [Object; 3]) -> Option<u64> {
    // SAFETY: the caller's promise.
    unsafe { entry_of_parts(gil, (code, globals, builtins)).map(|e| e.cell.as_ptr() as u64) }
}

fn fallback_of(gil: Gil, arity: usize) -> Option<u64> {
    if let Some(address) = entries::small_fallback(arity) {
        return Some(address);
    }
    let made = &gil.runtime().fallbacks;
    let known = made.borrow().get(&arity).map(|code| code.entry() as u64);
    if known.is_some() {
        return known;
    }
    let code = super::compiling::compile_stub(gil, entries::fallback(arity)).ok()?;
    let address = code.entry() as u64;
    made.borrow_mut().insert(arity, code);
    Some(address)
}

/// Routes the calls of a function through its entry.
///
/// # Safety
/// `func` is a Python function whose entry has a stub.
pub unsafe fn install(gil: Gil, func: Object) -> bool {
    // SAFETY: the caller's promise; `PyFunction_SetVectorcall` clears the version, so that every
    // call site that was specialised for the function checks again.
    unsafe {
        if gil.runtime().is_installed(func) {
            return true;
        }
        let (code, ..) = parts_of(func);
        let Some(entry) = entry_of(gil, func) else {
            return false;
        };
        let Some(stub) = entry.stub.get() else {
            return false;
        };
        let target = stub.entry().cast::<c_void>();
        let original: *const c_void = get(func.cast(), abi::function::VECTORCALL);
        if original != gil.runtime().original_vectorcall {
            return false;
        }
        let version: u32 = get(func.cast(), abi::function::VERSION);
        let (cell, shape) = (&raw const *entry.cell, entry.shape);
        gil.runtime().functions.borrow_mut().insert(
            func as usize,
            Installed {
                code,
                version,
                original,
                stub: target,
                cell,
                shape,
            },
        );
        PyFunction_SetVectorcall(func, target);
        true
    }
}

/// Routes the calls of a new function through the entry of its code's functions, if there is one;
/// otherwise its first call would have to look for it. (A generator expression is called once, and
/// needs none.)
///
/// # Safety
/// `func` is a Python function.
pub unsafe fn adopt(gil: Gil, func: Object) {
    let Some(runtime) = gil.started() else { return };
    if !runtime.on.get() || runtime.finished.get() {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let (code, globals, builtins) = parts_of(func);
        let flags: i32 = get(code.cast(), abi::code::FLAGS);
        if flags & GENERATORS != 0 {
            return;
        }
        let Some(state) = runtime.state(code) else {
            return;
        };
        let entry = state.entry(globals, builtins);
        let has_stub = entry.is_some_and(|entry| entry.stub.get().is_some());
        if state.refused.get().is_none() && has_stub {
            install(gil, func);
        }
    }
}

/// Restores a function's own vectorcall, and its version if the function is unchanged.
///
/// # Safety
/// `func` is a Python function that is alive.
pub unsafe fn uninstall(gil: Gil, func: Object) {
    let installed = gil
        .runtime()
        .functions
        .borrow_mut()
        .remove(&(func as usize));
    let Some(installed) = installed else {
        return;
    };
    // SAFETY: the caller's promise.
    unsafe {
        PyFunction_SetVectorcall(func, installed.original);
        if get::<Object>(func.cast(), abi::function::CODE) == installed.code
            && installed.version != 0
        {
            _PyFunction_SetVersion(func, installed.version);
        }
    }
}

/// Uninstalls all functions of a code object.
pub fn uninstall_all_of(gil: Gil, code: Object) {
    let functions = gil.runtime().functions.borrow();
    let its = functions.iter().filter(|(_, i)| i.code == code);
    let its: Vec<usize> = its.map(|(&f, _)| f).collect();
    drop(functions);
    for func in its {
        // SAFETY: functions in the table are alive: their destruction removes them.
        unsafe { uninstall(gil, func as Object) };
    }
}

/// Leaves a code object to the interpreter from now on.
///
/// # Safety
/// `code` is a code object.
pub unsafe fn give_up(gil: Gil, code: Object, reason: &str) {
    // SAFETY: the caller's promise; functions and units in the tables are alive.
    unsafe {
        uninstall_all_of(gil, code);
        let state = state_of(gil, code);
        state.refused.get_or_init(|| reason.to_owned());
        gil.runtime().advice.given_up(code, reason);
        let most = state.max_versions();
        let mut units = Vec::from_iter(state.generator.unit.get());
        for entry in &*state.entries.borrow() {
            units.extend(entry.unit.get());
            entry.recompile.set(false);
            entry.versions.set(most);
        }
        for unit in units {
            units::invalidate(gil, unit);
        }
    }
}

/// Forgets a code object that is being freed, or whose last function is: its units are retired.
///
/// # Safety
/// No function of it is installed.
pub unsafe fn forget(gil: Gil, code: usize) {
    let Some(state) = gil.runtime().state(code as Object) else {
        return;
    };
    gil.runtime()
        .recording
        .because("its code object was deallocated", || {
            for unit in state.units() {
                // SAFETY: units in tables are alive.
                unsafe { units::invalidate(gil, unit) };
            }
        });
    let removed = gil.runtime().codes.borrow_mut().remove(&code);
    if let Some(state) = removed {
        if state.shape.is_generator() {
            // SAFETY: a code object that is being freed is still whole.
            unsafe { state.generator.forget(code as Object) };
        }
        // SAFETY: it is whole during this call.
        unsafe { gil.runtime().recording.forgotten(&state) };
        gil.runtime().totals.forget(&state);
        // Native callers may still hold the address of a cell, and a stub may be on a native stack.
        gil.runtime()
            .buried
            .borrow_mut()
            .extend(state.entries.take());
    }
}

/// Forgets the code objects that only their units keep alive, so that these can be freed. A
/// module's top level, for example, has no function whose deallocation would report this.
pub fn forget_unused(gil: Gil) {
    let mut held: HashMap<usize, usize> = HashMap::new();
    let mut all = gil.runtime().units();
    all.extend(&*gil.runtime().retired.borrow());
    for unit in all {
        // SAFETY: units in tables are alive.
        *held
            .entry(unsafe { (*unit).shape.code } as usize)
            .or_default() += 1;
    }
    for (code, units) in held {
        // A function and a running frame refer to their code object.
        // SAFETY: each unit owns a reference to its code object; without any other there is no
        // function of it.
        unsafe {
            if Py_REFCNT(code as Object) as usize == units {
                forget(gil, code);
            }
        }
    }
}
