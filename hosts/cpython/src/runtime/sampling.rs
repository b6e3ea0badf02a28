//! Sampling of the operands of general operations. The interpreter records no classes where it has
//! no specialised form, or after it has observed several; so compiled code is the first to observe
//! them.
//!
//! Each general operation that could be compiled for specific classes counts down; one in
//! [`PERIOD`] finds its instruction and records the classes of its operands. Once an instruction
//! has enough samples, and a unit compiled with them would differ, the unit is given up for a new
//! one.
//!
//! For example, `a + b` with two instances of a user-defined class has no specialised form in
//! CPython, so it is first compiled as a general `binary_op`. After some samples the unit is
//! recompiled with a call of `__add__`.

use super::capi::{CodeShape, Frame, Object, current_thread, get};
use super::function_state::{self, History, SiteProfile};
use super::units::{self, ProfiledOperands, UnitRef};
use super::{Gil, abi, frames};
use crate::capi::Obj;
use crate::feedback::{LiveClass, callee_of_version, class_of_version};
use crate::objects;
use crate::world::callees::keeps;
use crate::world::classes::is_versioned;
use crate::world::operators;
use crate::world::partials;
use crate::world::raw_items;
use cladonia::bytecode::{Code, Instr, Met, Numbers, Op, Pc};
use cladonia::exits::Reason;
use cladonia::types::Type;
use pyo3_ffi::*;
use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// One general operation in this many is sampled. It is a prime, so that it does not fall into step
/// with the operations of a loop.
const PERIOD: u32 = 61;

/// Extra time of a general operation over one that is compiled for its operands' classes.
const LOST: Duration = Duration::from_nanos(30);

/// The estimated loss behind this many samples: that of the sampled operations and of those between
/// them.
pub fn cost_of(samples: u32) -> Duration {
    LOST * PERIOD * samples
}

/// Samples of one instruction after which its unit may be given up.
const ENOUGH: u32 = 4;

/// Samples of another instruction of the same code that a compile relies on.
const SOME: u32 = 2;

/// Maximum combinations of classes recorded for an instruction.
const MAX_MET: usize = 8;

/// Maximum units of one code object given up because of samples.
const MAX_TAUGHT: u32 = 12;

/// The observed classes of an instruction's operands.
#[derive(Clone, Default)]
pub struct Sampled {
    /// Their versions, the deeper operand's first; 0 for a missing operand.
    met: Vec<[u32; 3]>,
    /// The layouts of raw items of the deeper operand, without duplicates.
    items: Vec<u64>,
    /// Number of samples.
    count: u32,
    /// True if a unit was compiled with this profile, or if the profile is known to be useless.
    told: bool,
}

/// The functions and other objects that a call instruction has called.
#[derive(Clone, Default)]
pub struct Callees {
    /// Their versions, which functions of one code object share as long as they are as created.
    versions: Vec<u32>,
    /// The versions of the classes of objects that it has called and that are no functions.
    classes: Vec<u32>,
    /// Number of samples since the last new one.
    count: u32,
    /// True if a unit was compiled with this profile, or if the calls are of too many functions.
    told: bool,
    /// True if a guard has failed for a function that was not known.
    has_news: bool,
}

impl Callees {
    /// Records an object that this code has called: a function, or the class of any other, and the
    /// function that a `partial` holds. Returns true if it is a new one.
    ///
    /// # Safety
    /// The caller has the GIL, and both objects are alive.
    pub unsafe fn note(&mut self, caller: Object, callable: Object) -> bool {
        // SAFETY: the caller's.
        unsafe {
            if Py_TYPE(callable) == &raw mut PyFunction_Type {
                return self.note_function(caller, callable);
            }
            let function = partials::function_of_partial(callable);
            let is_new_function = function.is_some_and(|f| self.note_function(caller, f));
            let class = version_of(callable);
            let is_new_class = class != 0 && self.add(class, |callees| &mut callees.classes);
            is_new_function || is_new_class
        }
    }

    /// # Safety
    /// As of [`note`](Self::note), with a function.
    unsafe fn note_function(&mut self, caller: Object, function: Object) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let (code, ..) = function_state::parts_of(function);
            // Of a function that the caller creates, only the code counts.
            let version: u32 = if keeps(caller, code) {
                get(code.cast(), abi::code::VERSION)
            } else {
                get(function.cast(), abi::function::VERSION)
            };
            callee_of_version(version).is_some()
                && self.add(version, |callees| &mut callees.versions)
        }
    }

    /// Adds a version to one of the lists; returns true if it is a new one.
    fn add(&mut self, version: u32, list: fn(&mut Callees) -> &mut Vec<u32>) -> bool {
        let versions = list(self);
        if versions.contains(&version) {
            return false;
        }
        if versions.len() == MAX_MET {
            self.told = true;
            return false;
        }
        versions.push(version);
        (self.told, self.has_news) = (false, true);
        true
    }

    /// False if no plan of a call is for these callables, such as instances of C classes.
    ///
    /// # Safety
    /// The caller has the GIL.
    unsafe fn is_useful(&self) -> bool {
        // SAFETY: the caller's; the class is alive.
        let is_called_in_python = |version: &u32| unsafe {
            class_of_version(*version)
                .is_some_and(|class| operators::has_method(class.as_type(), c"__call__"))
        };
        !self.versions.is_empty() || self.classes.iter().any(is_called_in_python)
    }

    /// Returns true if a guard has failed for a new function since the last call of this.
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }
}

/// Number of operations to skip before the next sample.
static COUNTDOWN: AtomicU32 = AtomicU32::new(PERIOD - 1);

/// Counts a general operation or call; true if it is one to sample.
#[inline]
fn is_due() -> bool {
    let left = COUNTDOWN.load(Ordering::Relaxed);
    COUNTDOWN.store(left.checked_sub(1).unwrap_or(PERIOD - 1), Ordering::Relaxed);
    left == 0
}

/// Called by a general operation of compiled code with its operands, the deeper one first; the last
/// is the owner of an attribute.
///
/// # Safety
/// The caller has the GIL; the frame of the calling unit is the thread's current one and has its
/// position.
#[inline]
pub unsafe fn count<const N: usize>(operands: [Obj; N]) {
    if is_due() {
        // SAFETY: the caller's.
        unsafe { sample(&operands) }
    }
}

/// Called by a general call of compiled code with the object that it calls: a Python function, or
/// an instance of a class from the heap.
///
/// # Safety
/// As for [`count`].
#[inline]
pub unsafe fn count_callee(callable: Obj) {
    if is_due() {
        // SAFETY: the caller's.
        unsafe { sample_callee(callable) }
    }
}

/// # Safety
/// As for [`count`].
#[cold]
unsafe fn sample(operands: &[Object]) {
    // SAFETY: the caller's.
    unsafe {
        if let Some((gil, unit, pc)) = calling_instruction() {
            note(gil, unit, pc, operands);
        }
    }
}

/// # Safety
/// As for [`count_callee`].
#[cold]
unsafe fn sample_callee(callable: Object) {
    // SAFETY: the caller's.
    unsafe {
        if let Some((gil, unit, pc)) = calling_instruction() {
            note_callee(gil, unit, pc, callable);
        }
    }
}

/// The instruction whose helper is running, of the unit of the thread's current frame; none if that
/// unit is no longer valid.
///
/// # Safety
/// As for [`count`].
unsafe fn calling_instruction() -> Option<(Gil, UnitRef, Pc)> {
    // SAFETY: the caller's: a native frame's token is of a unit that lives as long as its frame.
    unsafe {
        let gil = Gil::held();
        gil.started()?;
        let frame = get(current_thread(), abi::thread::CURRENT_FRAME);
        let unit = frames::native_token(frame)? as UnitRef;
        if !(*unit).is_valid() {
            return None;
        }
        let at: *const u8 = get(frame, abi::frame::INSTR_PTR);
        let pos = at.offset_from((*unit).shape.units()) / 2;
        let positions = &(&(*unit)).positions;
        let index = positions.binary_search_by_key(&pos, |p| p.0 as isize);
        Some((gil, unit, Pc(index.ok()? as u32)))
    }
}

/// # Safety
/// A live unit and a live object.
unsafe fn note_callee(gil: Gil, unit: UnitRef, pc: Pc, callable: Object) {
    // SAFETY: the caller's.
    unsafe {
        let state = function_state::state_of(gil, (*unit).shape.code);
        (*unit).sampled.update(|samples| samples + 1);
        let mut profile = state.profile.borrow_mut();
        let callees = profile.callees.entry(pc).or_default();
        callees.count += 1;
        if callees.note((*unit).shape.code, callable) {
            (callees.count, callees.has_news) = (1, false);
        }
        if callees.count < ENOUGH || callees.told || !(*unit).may_be_recompiled(gil) {
            return;
        }
        callees.told = true;
        if state.taught.get() == MAX_TAUGHT || !callees.is_useful() {
            return;
        }
        state.taught.update(|taught| taught + 1);
        drop(profile);
        let why = "its callees were profiled";
        let recording = &gil.runtime().recording;
        recording.because(why, || units::invalidate(gil, unit));
    }
}

/// # Safety
/// A live unit and live operands.
unsafe fn note(gil: Gil, unit: UnitRef, pc: Pc, operands: &[Object]) {
    // SAFETY: the caller's.
    unsafe {
        let profiled_operands = &(&(*unit)).profiled_operands;
        let none = ptr::null_mut();
        let operands = match (profiled_operands[pc.0 as usize], operands) {
            (ProfiledOperands::Class, [.., receiver]) => [*receiver, none, none],
            (ProfiledOperands::Numbers | ProfiledOperands::Operands, [a, b]) => [*a, *b, none],
            (
                ProfiledOperands::Operands
                | ProfiledOperands::Truth
                | ProfiledOperands::Length
                | ProfiledOperands::Unpacked,
                [only],
            ) => [*only, none, none],
            (ProfiledOperands::Sliced, [sequence, start, stop]) => [*sequence, *start, *stop],
            _ => return,
        };
        let met = operands.map(|operand| version_of(operand));
        let state = function_state::state_of(gil, (*unit).shape.code);
        let items = match operands {
            [container, index, _] if !index.is_null() => raw_items::items_of(container),
            _ => None,
        };
        (*unit).sampled.update(|samples| samples + 1);
        let mut profile = state.profile.borrow_mut();
        let sampled = profile.sampled.entry(pc).or_default();
        sampled.count += 1;
        if let Some(items) = items
            && !sampled.items.contains(&items)
        {
            sampled.items.push(items);
        }
        if !sampled.met.contains(&met) && sampled.met.len() < MAX_MET {
            sampled.met.push(met);
        }
        if sampled.count < ENOUGH || sampled.told || !(*unit).may_be_recompiled(gil) {
            return;
        }
        sampled.told = true;
        let sampled = sampled.clone();
        drop(profile);
        let teaches_here = profiled_operands[pc.0 as usize];
        let known = match teaches_here {
            ProfiledOperands::Class => None,
            _ => classes_of(&sampled),
        };
        let mut profile = state.profile.borrow_mut();
        let is_news = match (teaches_here, &known) {
            (ProfiledOperands::Class, _) => {
                are_new(&sampled, profile.met.get(&pc)) && !has_failed(&profile, pc, &[])
            }
            (profiled_operands, Some((pairs, _held))) => {
                sampled.is_useful(profiled_operands, pairs) && !has_failed(&profile, pc, pairs)
            }
            (_, None) => false,
        };
        if !is_news || state.taught.get() == MAX_TAUGHT {
            return;
        }
        state.taught.update(|taught| taught + 1);
        let SiteProfile { sampled, met, .. } = &mut *profile;
        for (pc, sampled) in sampled.iter_mut().filter(|(_, s)| s.count >= SOME) {
            sampled.told = true;
            if profiled_operands[pc.0 as usize] == ProfiledOperands::Class {
                let history = met.entry(*pc).or_default();
                sampled.receivers().for_each(|version| history.add(version));
            }
        }
        drop(profile);
        let why = "its operands were profiled";
        let recording = &gil.runtime().recording;
        recording.because(why, || units::invalidate(gil, unit));
    }
}

impl Sampled {
    /// The versions of the classes of attribute owners.
    fn receivers(&self) -> impl Iterator<Item = u32> + '_ {
        self.met
            .iter()
            .map(|met| met[0])
            .filter(|version| *version != 0)
    }
}

/// True if an attribute instruction has observed a class that the unit's compiler did not know.
fn are_new(sampled: &Sampled, told: Option<&History>) -> bool {
    let mut receivers = sampled.receivers();
    receivers.any(|version| !told.is_some_and(|history| history.versions.contains(&version)))
}

/// True if speculation on such operands was given up there. If only speculation on numbers was,
/// user-defined classes were never tried.
fn has_failed(profile: &SiteProfile, pc: Pc, pairs: &[Vec<Type>]) -> bool {
    let failed = |reason| profile.avoid.contains(&(pc, reason));
    let are_bet_on = !pairs.iter().all(|pair| pair.iter().any(is_user_class));
    failed(Reason::Type) || failed(Reason::Identity) || failed(Reason::Domain) && are_bet_on
}

/// True if there are enough samples for a unit to rely on.
pub fn is_sampled(profile: &SiteProfile, pc: Pc) -> bool {
    profile.sampled.get(&pc).is_some_and(|s| s.count >= SOME)
}

/// The version of an object's class; 0 of null, and of a class that has none.
unsafe fn version_of(object: Object) -> u32 {
    if object.is_null() {
        return 0;
    }
    // SAFETY: the caller's: a live object.
    unsafe {
        let class = Py_TYPE(object);
        if is_versioned(class) {
            get(class.cast(), abi::type_::VERSION_TAG)
        } else {
            0
        }
    }
}

/// The classes of the pairs, and references that keep them alive; `None` if one has changed since.
///
/// # Safety
/// The caller has the GIL.
unsafe fn classes_of(sampled: &Sampled) -> Option<(Vec<Vec<Type>>, Vec<LiveClass>)> {
    let (mut pairs, mut held) = (Vec::new(), Vec::new());
    for met in &sampled.met {
        let mut types = Vec::new();
        for &version in met.iter().filter(|version| **version != 0) {
            // SAFETY: the caller's; the class is alive.
            unsafe {
                let class = class_of_version(version)?;
                types.push(Type::from_class_exact(objects::class_handle(
                    class.as_type(),
                )));
                held.push(class);
            }
        }
        pairs.push(types);
    }
    Some((pairs, held))
}

fn is_number(ty: &Type) -> bool {
    *ty <= Type::LONG_EXACT || *ty <= Type::FLOAT_EXACT
}

/// True for a class that alone determines the truth of its objects.
fn says_truth(ty: &Type) -> bool {
    // SAFETY: the caller keeps the classes of the types alive.
    class_of(ty).is_some_and(|class| unsafe { operators::says_truth(class) })
}

fn class_of(ty: &Type) -> Option<*mut PyTypeObject> {
    ty.runtime_class_in(objects::host()).map(objects::class_ptr)
}

/// True for a class that may define operators in Python.
fn is_user_class(ty: &Type) -> bool {
    // SAFETY: the caller keeps the classes of the types alive.
    class_of(ty).is_some_and(|class| unsafe { PyType_HasFeature(class, Py_TPFLAGS_HEAPTYPE) != 0 })
}

impl Sampled {
    /// True if code compiled with operands of these classes would differ.
    fn is_useful(&self, profiled_operands: ProfiledOperands, pairs: &[Vec<Type>]) -> bool {
        if profiled_operands == ProfiledOperands::Length {
            let is_counted = |ty: &Type| {
                let classes = [Type::LIST_EXACT, Type::TUPLE_EXACT, Type::UNICODE_EXACT];
                classes.into_iter().any(|class| *ty <= class)
            };
            return matches!(pairs, [pair] if pair.iter().all(is_counted));
        }
        if profiled_operands == ProfiledOperands::Unpacked {
            // SAFETY: the caller keeps the classes of the types alive.
            let holds_items = |ty: &Type| unsafe {
                is_user_class(ty) && class_of(ty).is_some_and(|c| operators::iterates_as_tuple(c))
            };
            return matches!(pairs, [pair] if pair.iter().all(holds_items));
        }
        if profiled_operands == ProfiledOperands::Sliced {
            let is_bound = |ty: &Type| *ty <= Type::LONG_EXACT || *ty <= Type::NONE_TYPE;
            return matches!(pairs, [all] if matches!(&all[..], [sequence, bounds @ ..]
                if *sequence <= Type::LIST_EXACT && bounds.len() == 2 && bounds.iter().all(is_bound)));
        }
        if profiled_operands == ProfiledOperands::Truth && pairs.len() > 1 {
            return pairs.iter().flatten().all(says_truth);
        }
        let all_numbers = pairs.iter().all(|pair| pair.iter().all(is_number));
        all_numbers
            || matches!(pairs, [pair] if self.is_item(pair) || pair.iter().any(is_user_class))
    }

    /// True for an index into a list, a tuple, a string or an object with raw items of one layout;
    /// also for a list and a slice.
    fn is_item(&self, pair: &[Type]) -> bool {
        matches!(*pair, [sequence, index]
            if index <= Type::LONG_EXACT
                && (sequence <= Type::LIST_EXACT
                    || sequence <= Type::TUPLE_EXACT
                    || sequence <= Type::UNICODE_EXACT
                    || self.items.len() == 1)
                || index <= Type::SLICE && sequence <= Type::LIST_EXACT)
    }
}

/// Adds the samples to the hints of a code's instructions that have no other profile. Returns
/// references that keep the named classes alive.
///
/// # Safety
/// The caller has the GIL; `code` is the state's.
pub unsafe fn tell(
    profile: &SiteProfile,
    code: &mut Code,
    met: &mut HashMap<Pc, Met>,
) -> Vec<LiveClass> {
    let mut all_held = Vec::new();
    for (&pc, sampled) in profile.sampled.iter().filter(|(_, s)| s.count >= SOME) {
        let instr = &mut code.instrs[pc.0 as usize];
        // The classes of attribute owners are among those observed.
        let is_known =
            met.contains_key(&pc) || profiled_operands(instr.op) == ProfiledOperands::Class;
        if is_known || !(instr.hint.is_empty() || instr.is_unreached()) {
            continue;
        }
        // SAFETY: the caller's.
        let Some((mut pairs, held)) = (unsafe { classes_of(sampled) }) else {
            continue;
        };
        if !sampled.is_useful(profiled_operands(instr.op), &pairs)
            || has_failed(profile, pc, &pairs)
        {
            continue;
        }
        match &mut pairs[..] {
            [pair] => {
                instr.hint = std::mem::take(pair);
                if matches!(instr.op, Op::StoreSubscr | Op::StoreSlice) {
                    // The value is deeper on the stack.
                    instr.hint.insert(0, Type::OBJECT);
                }
                if instr.op == Op::Call {
                    // So is the callable.
                    instr.hint.insert(0, Type::OBJECT);
                }
                instr.items = match sampled.items[..] {
                    [way] => Some(way),
                    _ => None,
                };
            }
            _ if matches!(instr.op, Op::BinaryOp | Op::CompareOp) => {
                let alike = |pair: &Vec<Type>| pair[0] == pair[1];
                let numbers = if pairs.iter().any(alike) {
                    Numbers::Any
                } else {
                    Numbers::Mixed
                };
                met.entry(pc).or_default().numbers = Some(numbers);
            }
            _ if instr.op == Op::ToBool => {
                met.entry(pc).or_default().seen = pairs.concat();
            }
            _ => continue,
        }
        all_held.extend(held);
    }
    all_held
}

/// Calls between two records of the arguments' classes, and back edges between two records of the
/// locals' classes.
const CALLS_BETWEEN: u64 = 4;
/// A prime: many loops repeat after three or five iterations.
const ITERATIONS_BETWEEN: u64 = 13;
/// Maximum samples of either kind: classes that appear later are left to the units.
const MAX_SAMPLES: u64 = 64;
/// Maximum locals that are sampled.
const MAX_LOOKED_AT: u32 = 12;
/// Maximum classes recorded for a local; a local with more gets no class.
const MAX_CLASSES: usize = 8;

/// The classes of a code object's locals while it was interpreted, by their versions: of the
/// arguments at calls, and of all locals at back edges. Of locals that are functions, these too.
#[derive(Clone, Default)]
pub struct Locals {
    arguments: Vec<Vec<u32>>,
    others: Vec<Vec<u32>>,
    functions: Vec<Callees>,
}

impl Locals {
    /// True if the arguments are to be sampled in the call of this number.
    pub fn are_due_at_call(calls: u64) -> bool {
        calls.is_multiple_of(CALLS_BETWEEN) && calls <= MAX_SAMPLES * CALLS_BETWEEN
    }

    /// True if the locals are to be sampled at the back edge of this number.
    pub fn are_due_at_back_edge(turns: u64) -> bool {
        turns.is_multiple_of(ITERATIONS_BETWEEN) && turns <= MAX_SAMPLES * ITERATIONS_BETWEEN
    }

    /// Records the classes of a frame's arguments, at its start.
    ///
    /// # Safety
    /// The frame's code object has `count` arguments.
    pub unsafe fn note_arguments(&mut self, frame: Frame, count: i32) {
        // SAFETY: the caller's.
        unsafe {
            note_locals(&mut self.arguments, frame, count);
            self.note_functions(frame, count);
        }
    }

    /// Records the classes of a frame's locals, at a back edge.
    ///
    /// # Safety
    /// The frame's code object has `count` locals.
    pub unsafe fn note(&mut self, frame: Frame, count: i32) {
        // SAFETY: the caller's.
        unsafe {
            note_locals(&mut self.others, frame, count);
            self.note_functions(frame, count);
        }
    }

    /// # Safety
    /// As for [`note_locals`].
    unsafe fn note_functions(&mut self, frame: Frame, count: i32) {
        let count = count.min(MAX_LOOKED_AT as i32);
        let known = self.functions.len().max(count as usize);
        self.functions.resize(known, Callees::default());
        // SAFETY: the caller's; a frame has its code object.
        unsafe {
            let code = abi::slots::code(frame);
            for (slot, functions) in (0..count).zip(&mut self.functions) {
                let local = abi::slots::get(frame, abi::frame::LOCALSPLUS + 8 * slot);
                if !local.is_null() && Py_TYPE(local) == &raw mut PyFunction_Type {
                    functions.note_function(code, local);
                }
            }
        }
    }
}

/// # Safety
/// The frame has `count` slots for locals, each null or a live object.
unsafe fn note_locals(table: &mut Vec<Vec<u32>>, frame: Frame, count: i32) {
    let count = count.min(MAX_LOOKED_AT as i32);
    table.resize(count as usize, Vec::new());
    for (slot, versions) in (0..count).zip(table) {
        // SAFETY: the caller's.
        let version =
            unsafe { version_of(abi::slots::get(frame, abi::frame::LOCALSPLUS + 8 * slot)) };
        if version != 0 && versions.len() <= MAX_CLASSES && !versions.contains(&version) {
            versions.push(version);
        }
    }
}

/// The classes for which the interpreter has specialised each attribute instruction of a code
/// object. The interpreter remembers one class, and another one only after the first was absent
/// some fifty times. Frequent looks thus see all frequent classes.
#[derive(Clone, Default)]
pub struct Sites(Option<Vec<Site>>);

#[derive(Clone)]
struct Site {
    /// The position of the instruction, in units.
    at: u32,
    /// The classes' versions.
    versions: Vec<u32>,
}

impl Sites {
    /// Reads all of them.
    ///
    /// # Safety
    /// They belong to this code object, which is alive.
    pub unsafe fn note(&mut self, shape: &CodeShape) {
        let units = shape.units();
        // SAFETY: the caller's promise: the units of a live code object, with its length.
        unsafe {
            let sites = self.0.get_or_insert_with(|| {
                let len: isize = get(shape.code.cast(), abi::object::VAR_SIZE);
                let sites = abi::feedback::attribute_sites(units, len as usize);
                let site = |at| Site {
                    at,
                    versions: Vec::new(),
                };
                sites.map(site).collect()
            });
            for site in sites {
                let unit = units.add(2 * site.at as usize).cast();
                let Some(version) = abi::feedback::receiver_version(unit) else {
                    continue;
                };
                if site.versions.len() <= MAX_CLASSES && !site.versions.contains(&version) {
                    site.versions.push(version);
                }
            }
        }
    }

    /// Adds those that have observed several classes to the profile.
    pub fn expect(&self, profile: &mut SiteProfile, code: &Code) {
        let sites = self.0.iter().flatten();
        for site in sites.filter(|site| site.versions.len() > 1) {
            let is_there = |instr: &Instr| {
                instr.pos == site.at && matches!(instr.op, Op::LoadAttr | Op::StoreAttr)
            };
            let Some(index) = code.instrs.iter().position(is_there) else {
                continue;
            };
            let history = profile.met.entry(Pc(index as u32)).or_default();
            let versions = site.versions.iter();
            versions.for_each(|&version| history.add(version));
        }
    }
}

/// Adds the classes of a local to the profile of the instructions that use it, where it had
/// several: the interpreter remembers only the last one. If an argument had many, nothing is
/// speculated.
pub fn expect_locals(locals: &Locals, profile: &mut SiteProfile, code: &Code) {
    let is_stored = |slot: u32| {
        let is_store = |instr: &Instr| instr.op == Op::StoreFast && instr.arg == slot;
        code.instrs.iter().any(is_store)
    };
    let none = Vec::new();
    for (pc, pair) in (1..).map(Pc).zip(code.instrs.windows(2)) {
        let [load, instr] = pair else { continue };
        let is_load = matches!(load.op, Op::LoadFast | Op::LoadFastBorrow);
        // The first argument of `hasattr(x, "y")`, and of `getattr`: its classes are those of the
        // load.
        let behind = &code.instrs[pc.0 as usize + 1..];
        let calls = |count: usize| {
            let call = behind.get(count - 2);
            call.is_some_and(|call| call.op == Op::Call && call.arg as usize == count)
        };
        let is_named = is_load && instr.op == Op::LoadConst && (calls(2) || calls(3));
        let pc = if is_named { Pc(pc.0 - 1) } else { pc };
        if !is_load || !is_named && profiled_operands(instr.op) != ProfiledOperands::Class {
            continue;
        }
        let slot = load.arg as usize;
        let is_argument = slot < locals.arguments.len() && !is_stored(load.arg);
        let table = if is_argument {
            &locals.arguments
        } else {
            &locals.others
        };
        let versions = table.get(slot).unwrap_or(&none);
        match versions.len() {
            0 => {}
            1 if !is_named => {}
            n if n <= MAX_CLASSES => {
                let history = profile.met.entry(pc).or_default();
                versions.iter().for_each(|&version| history.add(version));
            }
            _ if is_argument && !is_named => {
                profile.avoid.insert((pc, Reason::Type));
            }
            _ => {}
        }
    }
}

/// Adds the functions that a local was to the profile of the calls of it, if there were several:
/// the interpreter remembers only the last one.
pub fn expect_functions(locals: &Locals, profile: &mut SiteProfile, code: &Code) {
    for (at, pair) in code.instrs.windows(2).enumerate() {
        let [load, next] = pair else { continue };
        let is_load = matches!(load.op, Op::LoadFast | Op::LoadFastBorrow);
        if !is_load || next.op != Op::PushNull {
            continue;
        }
        let functions = locals.functions.get(load.arg as usize);
        let Some(functions) = functions.filter(|functions| functions.versions.len() > 1) else {
            continue;
        };
        if let Some(call) = call_behind(code, at + 2) {
            let callees = profile.callees.entry(call).or_default();
            for &version in &functions.versions {
                callees.add(version, |callees| &mut callees.versions);
            }
            // That is no failure of a guard.
            callees.has_news = false;
        }
    }
}

/// The call of a callable that is on the stack before the instruction at an index, if there is no
/// branch before the call.
fn call_behind(code: &Code, start: usize) -> Option<Pc> {
    let mut depth = 0;
    for (at, instr) in code.instrs.iter().enumerate().skip(start) {
        if instr.op == Op::Call && instr.arg == depth {
            return Some(Pc(at as u32));
        }
        let after = instr
            .successors(depth)
            .filter(|after| after.jump.is_none())?;
        depth = after.next?;
    }
    None
}

/// Adds the functions that calls were sampled to call to the profile of a compile: a single one as
/// the hint of a call that has none, and the class of an object that is no function, followed by
/// the function that it forwards its calls to. A function that the code itself creates is known by
/// its code object: each call creates another one, and a unit that names one would keep it alive.
/// Returns references that keep the named classes alive.
///
/// # Safety
/// The caller has the GIL; `object` is the state's code object, from which `code` was decoded.
pub unsafe fn tell_callees(
    profile: &SiteProfile,
    object: Object,
    code: &mut Code,
    met: &mut HashMap<Pc, Met>,
) -> Vec<LiveClass> {
    let mut held = Vec::new();
    // SAFETY: the caller's. A handle keeps its object alive for a while, so a function that is not
    // named gets none.
    let named = |version: &u32| unsafe {
        let callee = callee_of_version(*version)?;
        let mut named: Object = callee.as_ptr();
        if Py_TYPE(named) == &raw mut PyFunction_Type {
            let (code, ..) = function_state::parts_of(named);
            if keeps(object, code) {
                named = code;
            }
        }
        Some(Type::from_object(objects::object_handle(named)))
    };
    for (&pc, callees) in &profile.callees {
        let functions: Vec<Type> = callees.versions.iter().filter_map(named).collect();
        let instr = code.instrs.get_mut(pc.0 as usize);
        // SAFETY: the caller's; the class is alive. One without `__call__` in Python has no plan.
        let class = match callees.classes[..] {
            [version] => unsafe {
                class_of_version(version).filter(|class| {
                    let class = class.as_type();
                    partials::is_partial(class) || operators::has_method(class, c"__call__")
                })
            },
            _ => None,
        };
        if let Some(class) = class {
            let Some(instr) = instr.filter(|instr| instr.hint.is_empty()) else {
                continue;
            };
            // SAFETY: the class is alive.
            let class_type = unsafe {
                let is_partial = partials::is_partial(class.as_type());
                let says_enough = functions.len() == usize::from(is_partial);
                says_enough.then(|| Type::from_class_exact(objects::class_handle(class.as_type())))
            };
            if let Some(class_type) = class_type {
                instr.hint = [vec![class_type], functions].concat();
                held.push(class);
            }
            continue;
        }
        match (&functions[..], instr) {
            ([], _) => {}
            ([only], Some(instr)) if instr.hint.is_empty() => instr.hint = vec![*only],
            _ => met.entry(pc).or_default().seen.extend(functions),
        }
    }
    held
}

/// The operands of an instruction that are profiled.
pub fn profiled_operands(op: Op) -> ProfiledOperands {
    match op {
        Op::LoadAttr | Op::StoreAttr | Op::LoadSuperAttr | Op::ForIter | Op::BeforeWith => {
            ProfiledOperands::Class
        }
        Op::BinaryOp | Op::CompareOp => ProfiledOperands::Numbers,
        Op::BinarySubscr | Op::StoreSubscr => ProfiledOperands::Operands,
        Op::Call => ProfiledOperands::Length,
        Op::ToBool => ProfiledOperands::Truth,
        Op::UnpackSequence => ProfiledOperands::Unpacked,
        Op::UnaryNegative | Op::UnaryInvert => ProfiledOperands::Operands,
        Op::BinarySlice | Op::StoreSlice => ProfiledOperands::Sliced,
        _ => ProfiledOperands::Nothing,
    }
}
