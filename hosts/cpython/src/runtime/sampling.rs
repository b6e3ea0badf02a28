//! What the general operations meet, sampled: the interpreter notes no classes where it has no specialised form, or has met
//! several, so compiled code is the first that can tell.
//!
//! Each general operation of a kind that could be compiled for classes counts down; one of [`PERIOD`] looks which
//! instruction it stands for and notes the classes of its operands. Once an instruction was met often enough, and a unit made
//! with that knowledge would be another, the unit is given up for one that is.

use super::capi::{CodeShape, Frame, Object, current_thread, get};
use super::function_state::{self, History, Learnt};
use super::units::{self, Teaches, UnitRef};
use super::{Gil, abi, frames};
use crate::capi::Obj;
use crate::feedback::{LiveClass, class_of_version};
use crate::objects;
use crate::world::classes::is_versioned;
use crate::world::operators;
use crate::world::raw_items;
use cladonia::bytecode::{Code, Instr, Met, Numbers, Op, Pc};
use cladonia::exits::Reason;
use cladonia::types::Type;
use pyo3_ffi::*;
use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// One general operation of so many is looked at. It is a prime, so that no loop's operations take turns with it.
const PERIOD: u32 = 61;

/// What a general operation takes longer than one that is compiled for the classes it meets.
const LOST: Duration = Duration::from_nanos(30);

/// What so many general operations that were looked at, and all those that were not, have cost.
pub fn cost_of(samples: u32) -> Duration {
    LOST * PERIOD * samples
}

/// Samples of one instruction after which its unit may be given up.
const ENOUGH: u32 = 4;

/// Samples of another instruction of the same code that are relied on when a unit is made.
const SOME: u32 = 2;

/// Combinations of classes remembered for an instruction.
const MOST_MET: usize = 4;

/// Units of one code given up for what was sampled.
const MOST_TAUGHT: u32 = 12;

/// The classes that an instruction's operands had.
#[derive(Clone, Default)]
pub struct Sampled {
    /// Their versions, the deeper operand's first; 0 where there is none.
    met: Vec<[u32; 3]>,
    /// How raw items of the deeper operand lay, each way once.
    items: Vec<u64>,
    /// How many samples there were.
    count: u32,
    /// Whether a unit was made with this knowledge, or it is known to be of no use.
    told: bool,
}

/// How many are not looked at before the next one that is.
static COUNTDOWN: AtomicU32 = AtomicU32::new(PERIOD - 1);

/// Called by a general operation that compiled code makes on these operands, the deeper one first; the last is the one that an
/// attribute is asked of.
///
/// # Safety
/// The GIL is held; the frame of the unit that calls is the thread's current one and says where it is.
#[inline]
pub unsafe fn count<const N: usize>(operands: [Obj; N]) {
    let left = COUNTDOWN.load(Ordering::Relaxed);
    if left > 0 {
        COUNTDOWN.store(left - 1, Ordering::Relaxed);
        return;
    }
    COUNTDOWN.store(PERIOD - 1, Ordering::Relaxed);
    // SAFETY: the caller's.
    unsafe { sample(&operands) }
}

/// # Safety
/// As of [`count`].
#[cold]
unsafe fn sample(operands: &[Object]) {
    // SAFETY: the caller's.
    let gil = unsafe { Gil::held() };
    if gil.started().is_none() {
        return;
    }
    // SAFETY: the caller's: a native frame's token is of a unit that lives as long as its frame.
    unsafe {
        let frame = get(current_thread(), abi::thread::CURRENT_FRAME);
        let Some(token) = frames::native_token(frame) else {
            return;
        };
        let unit = token as UnitRef;
        if !(*unit).is_valid() {
            return;
        }
        let at: *const u8 = get(frame, abi::frame::INSTR_PTR);
        let pos = at.offset_from((*unit).shape.units()) / 2;
        let positions = &(&(*unit)).positions;
        let Ok(index) = positions.binary_search_by_key(&pos, |p| p.0 as isize) else {
            return;
        };
        note(gil, unit, Pc(index as u32), operands);
    }
}

/// # Safety
/// A live unit and live operands.
unsafe fn note(gil: Gil, unit: UnitRef, pc: Pc, operands: &[Object]) {
    // SAFETY: the caller's.
    unsafe {
        let teaches = &(&(*unit)).teaches;
        let none = ptr::null_mut();
        let operands = match (teaches[pc.0 as usize], operands) {
            (Teaches::Class, [.., receiver]) => [*receiver, none, none],
            (Teaches::Numbers | Teaches::Operands, [a, b]) => [*a, *b, none],
            (Teaches::Operands | Teaches::Truth | Teaches::Length, [only]) => [*only, none, none],
            (Teaches::Sliced, [sequence, start, stop]) => [*sequence, *start, *stop],
            _ => return,
        };
        let met = operands.map(|operand| version_of(operand));
        let state = function_state::state_of(gil, (*unit).shape.code);
        let items = match operands {
            [container, index, _] if !index.is_null() => raw_items::items_of(container),
            _ => None,
        };
        (*unit).sampled.update(|samples| samples + 1);
        let mut learnt = state.learnt.borrow_mut();
        let sampled = learnt.sampled.entry(pc).or_default();
        sampled.count += 1;
        if let Some(items) = items
            && !sampled.items.contains(&items)
        {
            sampled.items.push(items);
        }
        if !sampled.met.contains(&met) && sampled.met.len() < MOST_MET {
            sampled.met.push(met);
        }
        if sampled.count < ENOUGH || sampled.told || !(*unit).may_be_remade(gil) {
            return;
        }
        sampled.told = true;
        let sampled = sampled.clone();
        drop(learnt);
        let teaches_here = teaches[pc.0 as usize];
        let known = match teaches_here {
            Teaches::Class => None,
            _ => classes_of(&sampled),
        };
        let mut learnt = state.learnt.borrow_mut();
        let is_news = match (teaches_here, &known) {
            (Teaches::Class, _) => {
                are_new(&sampled, learnt.met.get(&pc)) && !has_failed(&learnt, pc, &[])
            }
            (teaches, Some((pairs, _held))) => {
                sampled.is_useful(teaches, pairs) && !has_failed(&learnt, pc, pairs)
            }
            (_, None) => false,
        };
        if !is_news || state.taught.get() == MOST_TAUGHT {
            return;
        }
        state.taught.update(|taught| taught + 1);
        let Learnt { sampled, met, .. } = &mut *learnt;
        for (pc, sampled) in sampled.iter_mut().filter(|(_, s)| s.count >= SOME) {
            sampled.told = true;
            if teaches[pc.0 as usize] == Teaches::Class {
                let history = met.entry(*pc).or_default();
                sampled.receivers().for_each(|version| history.add(version));
            }
        }
        drop(learnt);
        let why = "more is known of its operands";
        let recording = &gil.runtime().recording;
        recording.because(why, || units::invalidate(gil, unit));
    }
}

impl Sampled {
    /// The versions of the classes that an attribute was asked of.
    fn receivers(&self) -> impl Iterator<Item = u32> + '_ {
        self.met
            .iter()
            .map(|met| met[0])
            .filter(|version| *version != 0)
    }
}

/// Whether an attribute's instruction has met a class that the unit's compiler was not told of.
fn are_new(sampled: &Sampled, told: Option<&History>) -> bool {
    let mut receivers = sampled.receivers();
    receivers.any(|version| !told.is_some_and(|history| history.versions.contains(&version)))
}

/// Whether bets on such operands were given up there. Where only one on numbers was, the program's classes were never bet on.
fn has_failed(learnt: &Learnt, pc: Pc, pairs: &[Vec<Type>]) -> bool {
    let failed = |reason| learnt.avoid.contains(&(pc, reason));
    let are_bet_on = !pairs.iter().all(|pair| pair.iter().any(is_of_program));
    failed(Reason::Type) || failed(Reason::Identity) || failed(Reason::Domain) && are_bet_on
}

/// Whether enough was sampled there for a unit to rely on.
pub fn is_sampled(learnt: &Learnt, pc: Pc) -> bool {
    learnt.sampled.get(&pc).is_some_and(|s| s.count >= SOME)
}

/// The version of an object's class; 0 of null, and of a class that has none.
unsafe fn version_of(object: Object) -> u32 {
    if object.is_null() {
        return 0;
    }
    // SAFETY: the caller's: a live object.
    unsafe {
        let class = Py_TYPE(object);
        match is_versioned(class) {
            true => get(class.cast(), abi::type_::VERSION_TAG),
            false => 0,
        }
    }
}

/// The classes of the pairs, and what keeps them alive; nothing if one has changed since.
///
/// # Safety
/// The GIL is held.
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

/// A class that alone says whether its objects are true.
fn says_truth(ty: &Type) -> bool {
    // SAFETY: the caller holds the classes that the types are of.
    class_of(ty).is_some_and(|class| unsafe { operators::says_truth(class) })
}

fn class_of(ty: &Type) -> Option<*mut PyTypeObject> {
    ty.runtime_class_in(objects::host()).map(objects::class_ptr)
}

/// A class that may define operators.
fn is_of_program(ty: &Type) -> bool {
    // SAFETY: the caller holds the classes that the types are of.
    class_of(ty).is_some_and(|class| unsafe { PyType_HasFeature(class, Py_TPFLAGS_HEAPTYPE) != 0 })
}

impl Sampled {
    /// Whether compiled code that knew of its operands, which are of these classes, would be another.
    fn is_useful(&self, teaches: Teaches, pairs: &[Vec<Type>]) -> bool {
        if teaches == Teaches::Length {
            let is_counted = |ty: &Type| {
                let classes = [Type::LIST_EXACT, Type::TUPLE_EXACT, Type::UNICODE_EXACT];
                classes.into_iter().any(|class| *ty <= class)
            };
            return matches!(pairs, [pair] if pair.iter().all(is_counted));
        }
        if teaches == Teaches::Sliced {
            let is_bound = |ty: &Type| *ty <= Type::LONG_EXACT || *ty <= Type::NONE_TYPE;
            return matches!(pairs, [all] if matches!(&all[..], [sequence, bounds @ ..]
                if *sequence <= Type::LIST_EXACT && bounds.len() == 2 && bounds.iter().all(is_bound)));
        }
        if teaches == Teaches::Truth && pairs.len() > 1 {
            return pairs.iter().flatten().all(says_truth);
        }
        let all_numbers = pairs.iter().all(|pair| pair.iter().all(is_number));
        all_numbers
            || matches!(pairs, [pair] if self.is_item(pair) || pair.iter().any(is_of_program))
    }

    /// A list, a tuple, a string or what has raw items that always lie alike, and an index; or a list and a slice.
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

/// Tell of the instructions of a code what was sampled, where nothing else is known of them. Gives what keeps the classes alive
/// that are named.
///
/// # Safety
/// The GIL is held; `code` is the state's.
pub unsafe fn tell(learnt: &Learnt, code: &mut Code, met: &mut HashMap<Pc, Met>) -> Vec<LiveClass> {
    let mut all_held = Vec::new();
    for (&pc, sampled) in learnt.sampled.iter().filter(|(_, s)| s.count >= SOME) {
        let instr = &mut code.instrs[pc.0 as usize];
        // The classes that attributes were asked of are among those met.
        let is_known = met.contains_key(&pc) || teaches(instr.op) == Teaches::Class;
        if is_known || !(instr.hint.is_empty() || instr.is_unreached()) {
            continue;
        }
        // SAFETY: the caller's.
        let Some((mut pairs, held)) = (unsafe { classes_of(sampled) }) else {
            continue;
        };
        if !sampled.is_useful(teaches(instr.op), &pairs) || has_failed(learnt, pc, &pairs) {
            continue;
        }
        match &mut pairs[..] {
            [pair] => {
                instr.hint = std::mem::take(pair);
                if matches!(instr.op, Op::StoreSubscr | Op::StoreSlice) {
                    // The value lies deeper.
                    instr.hint.insert(0, Type::OBJECT);
                }
                if instr.op == Op::Call {
                    // So does the callable.
                    instr.hint.insert(0, Type::OBJECT);
                }
                instr.items = match sampled.items[..] {
                    [way] => Some(way),
                    _ => None,
                };
            }
            _ if matches!(instr.op, Op::BinaryOp | Op::CompareOp) => {
                let alike = |pair: &Vec<Type>| pair[0] == pair[1];
                let numbers = match pairs.iter().any(alike) {
                    true => Numbers::Any,
                    false => Numbers::Mixed,
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

/// Calls between two at which the classes of the arguments are noted, and back edges between two at which those of the locals are.
const CALLS_BETWEEN: u64 = 4;
const TURNS_BETWEEN: u64 = 15;
/// Samples of either kind, at most: what a function meets later is left to its units.
const MOST_SAMPLES: u64 = 64;
/// Locals that are looked at.
const MOST_LOOKED_AT: u32 = 12;
/// Classes remembered for a local; one with more is of no class.
const MOST_CLASSES: usize = 5;

/// The classes that the locals of a code object had where it was interpreted, by their versions: of its arguments when it was
/// called, and of all locals at back edges.
#[derive(Clone, Default)]
pub struct Locals {
    arguments: Vec<Vec<u32>>,
    others: Vec<Vec<u32>>,
}

impl Locals {
    /// Whether the arguments are to be looked at in the call of this number.
    pub fn are_due_at_call(calls: u64) -> bool {
        calls.is_multiple_of(CALLS_BETWEEN) && calls <= MOST_SAMPLES * CALLS_BETWEEN
    }

    /// Whether the locals are to be looked at where a loop goes round for the so manieth time.
    pub fn are_due_at_turn(turns: u64) -> bool {
        turns.is_multiple_of(TURNS_BETWEEN) && turns <= MOST_SAMPLES * TURNS_BETWEEN
    }

    /// Note the classes of a frame's arguments, at its start.
    ///
    /// # Safety
    /// The frame is one of a code object with so many arguments.
    pub unsafe fn note_arguments(&mut self, frame: Frame, count: i32) {
        // SAFETY: the caller's.
        unsafe { note_locals(&mut self.arguments, frame, count) }
    }

    /// Note the classes of a frame's locals, at a back edge.
    ///
    /// # Safety
    /// The frame is one of a code object with so many locals.
    pub unsafe fn note(&mut self, frame: Frame, count: i32) {
        // SAFETY: the caller's.
        unsafe { note_locals(&mut self.others, frame, count) }
    }
}

/// # Safety
/// The frame has so many slots for locals, each null or a live object.
unsafe fn note_locals(table: &mut Vec<Vec<u32>>, frame: Frame, count: i32) {
    let count = count.min(MOST_LOOKED_AT as i32);
    table.resize(count as usize, Vec::new());
    for (slot, versions) in (0..count).zip(table) {
        // SAFETY: the caller's.
        let version =
            unsafe { version_of(abi::slots::get(frame, abi::frame::LOCALSPLUS + 8 * slot)) };
        if version != 0 && versions.len() <= MOST_CLASSES && !versions.contains(&version) {
            versions.push(version);
        }
    }
}

/// What each attribute's instruction of a code object was specialised for while that was interpreted. The interpreter remembers one class, and
/// another one once that has not come some fifty times: who looks often sees all that are frequent, whatever they are loaded from.
#[derive(Clone, Default)]
pub struct Sites(Option<Vec<Site>>);

#[derive(Clone)]
struct Site {
    /// Where the instruction is, in units.
    at: u32,
    /// The classes' versions.
    versions: Vec<u32>,
}

impl Sites {
    /// Look at all of them.
    ///
    /// # Safety
    /// They are of this code object, which is alive.
    pub unsafe fn note(&mut self, shape: &CodeShape) {
        let units = shape.units();
        // SAFETY: the caller's promise: the units of a live code object, so many.
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
                if site.versions.len() <= MOST_CLASSES && !site.versions.contains(&version) {
                    site.versions.push(version);
                }
            }
        }
    }

    /// Tell of those that have met several classes.
    pub fn expect(&self, learnt: &mut Learnt, code: &Code) {
        let sites = self.0.iter().flatten();
        for site in sites.filter(|site| site.versions.len() > 1) {
            let is_there = |instr: &Instr| {
                instr.pos == site.at && matches!(instr.op, Op::LoadAttr | Op::StoreAttr)
            };
            let Some(index) = code.instrs.iter().position(is_there) else {
                continue;
            };
            let history = learnt.met.entry(Pc(index as u32)).or_default();
            let versions = site.versions.iter();
            versions.for_each(|&version| history.add(version));
        }
    }
}

/// Tell of the instructions that ask something of a local which classes that had, where it had several: the interpreter remembers
/// only the last. Where an argument had many, nothing is bet on.
pub fn expect_locals(locals: &Locals, learnt: &mut Learnt, code: &Code) {
    let is_stored = |slot: u32| {
        let is_store = |instr: &Instr| instr.op == Op::StoreFast && instr.arg == slot;
        code.instrs.iter().any(is_store)
    };
    let none = Vec::new();
    for (pc, pair) in (1..).map(Pc).zip(code.instrs.windows(2)) {
        let [load, instr] = pair else { continue };
        let is_load = matches!(load.op, Op::LoadFast | Op::LoadFastBorrow);
        if !is_load || teaches(instr.op) != Teaches::Class {
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
            0 | 1 => {}
            n if n <= MOST_CLASSES => {
                let history = learnt.met.entry(pc).or_default();
                versions.iter().for_each(|&version| history.add(version));
            }
            _ if is_argument => {
                learnt.avoid.insert((pc, Reason::Type));
            }
            _ => {}
        }
    }
}

/// What is learnt of an instruction's operands.
pub fn teaches(op: Op) -> Teaches {
    match op {
        Op::LoadAttr | Op::StoreAttr | Op::LoadSuperAttr => Teaches::Class,
        Op::BinaryOp | Op::CompareOp => Teaches::Numbers,
        Op::BinarySubscr | Op::StoreSubscr => Teaches::Operands,
        Op::Call => Teaches::Length,
        Op::ToBool => Teaches::Truth,
        Op::UnaryNegative | Op::UnaryInvert => Teaches::Operands,
        Op::BinarySlice | Op::StoreSlice => Teaches::Sliced,
        _ => Teaches::Nothing,
    }
}
