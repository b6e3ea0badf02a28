//! Recovery from failed speculation: exits are counted, failing guards are dropped by recompiling,
//! and guards can be made to fail on purpose.
//!
//! For example, `def area(s): return s.w * s.h` was compiled for instances of `Square`. If
//! instances of `Circle` arrive, its class guard fails. After enough failures the unit is given up,
//! and the next one tests for both classes.

use super::capi::{Frame, Object, get};
use super::function_state::{CodeState, Operands, SiteProfile};
use super::units::{Kind, ProfiledOperands, UnitRef, UnitState};
use super::{Gil, abi, function_state, sampling, units, worth};
use crate::feedback::{LiveClass, class_of_version, relatives};
use crate::objects;
use crate::world::callees::keeps;
use crate::world::classes::{Storage, is_versioned, storage};
use crate::world::{dictionaries, operators};
use cladonia::bytecode::{Code, Met, Numbers, Op, Pc};
use cladonia::exits::{ExitKind, ExitRecord, Reason};
use cladonia::types::Type;
use pyo3_ffi::{Py_TYPE, PyFloat_Type, PyFunction_Type, PyLong_Type};
use std::collections::HashMap;

/// Failures of a guard after which its speculation is not repeated. A failure costs some
/// interpreted instructions, a unit some thousand times as much. A user who sets a low threshold
/// wants early failures too.
pub fn max_failures(gil: Gil) -> u64 {
    (gil.runtime().options.get().threshold / 4).clamp(20, 250)
}

/// Failures of a unit's other guards after which, if the unit is given up, their speculations are
/// not repeated either.
fn few_failures(gil: Gil) -> u64 {
    (max_failures(gil) / 20).max(4)
}

/// The guards that fail on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ForceExit {
    /// None: only the guards that are executed are recorded.
    None,
    /// None, and failing guards are handled as usual: the executions of each are counted.
    Count,
    /// Each, at its first execution.
    First,
    /// Each, at a pseudo-random later execution.
    Seed(u64),
    /// Only the one of this number, at its first execution.
    OneByOne(u64),
}

impl ForceExit {
    /// From the text of the option.
    pub fn parse(text: &str) -> Option<ForceExit> {
        match text.split_once(':') {
            None if text == "none" => Some(ForceExit::None),
            None if text == "count" => Some(ForceExit::Count),
            None if text == "first" => Some(ForceExit::First),
            Some(("seed", n)) => n.parse().ok().map(ForceExit::Seed),
            Some(("one-by-one", n)) => n.parse().ok().map(ForceExit::OneByOne),
            _ => None,
        }
    }
}

/// A countdown that never reaches zero.
const NEVER: u64 = u64::MAX;

/// Numbers the guards of a new unit, and sets the countdown of those that are to fail.
pub fn prepare(gil: Gil, unit: &mut UnitState) {
    let guards: Vec<usize> = unit.guards().collect();
    let first = gil.runtime().guards_numbered.get();
    gil.runtime()
        .guards_numbered
        .set(first + guards.len() as u64);
    unit.first_guard = first;
    let Some(force) = gil.runtime().options.get().force else {
        return;
    };
    let Some(table) = &unit.force else { return };
    for (number, exit) in (first..).zip(guards) {
        let Some(word) = table.get(exit) else {
            continue;
        };
        let countdown = match force {
            ForceExit::None | ForceExit::Count => NEVER,
            ForceExit::First => 1,
            ForceExit::Seed(seed) => 1 + scramble(seed.wrapping_add(number)) % 64,
            ForceExit::OneByOne(wanted) => (number == wanted) as u64,
        };
        word.set(countdown);
        let guards = &gil.runtime().totals.guards;
        guards.set(guards.get() + (countdown != 0) as u64);
    }
}

/// A well-mixed function of a number (splitmix64).
pub(super) fn scramble(n: u64) -> u64 {
    let mut z = n
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// Counts an exit; if a guard fails too often, its unit is given up.
///
/// # Safety
/// The unit is alive and stays so: an exit of it is being served.
pub unsafe fn count_exit(gil: Gil, unit: UnitRef, number: usize, record: &ExitRecord) {
    // SAFETY: the caller's promise.
    unsafe {
        let counter = &(&(*unit).exit_counts)[number];
        let count = counter.get() + 1;
        counter.set(count);
        gil.runtime().totals.exits.update(|exits| exits + 1);
        worth::count_exit(&*unit, record.reason);
        // The next unit does not repeat failed speculations.
        let heals = record.kind == ExitKind::Resume && record.reason.is_bet();
        if !heals && worth::is_lost(gil, &*unit) && (*unit).is_valid() {
            give_up(gil, unit, "its exits cost more than its code saves");
            return;
        }
        let force = || gil.runtime().options.get().force;
        let forced = (*unit).force.is_some() && force() != Some(ForceExit::Count);
        if forced
            || record.kind != ExitKind::Resume
            || !record.reason.is_bet()
            || count < max_failures(gil)
        {
            return;
        }
        if (*unit).is_valid() {
            learn(gil, unit);
            let why = "a guard failed too often";
            let recording = &gil.runtime().recording;
            recording.because(why, || units::invalidate(gil, unit));
        }
    }
}

/// Minimum calls and iterations per exit from a frame that was kept open; with fewer a unit does
/// not pay.
const ITERATIONS_PER_OPENING: u64 = 16;

/// Counts an exit from a frame whose slots are still being read, or were set. A unit that exits so
/// again and again after a short time is given up for good: the program will continue to read its
/// frames.
///
/// # Safety
/// The unit is alive and stays so: an exit of it is being served.
pub unsafe fn count_opened(gil: Gil, unit: UnitRef) {
    // SAFETY: the caller's promise.
    unsafe {
        let opened = (*unit).opened.get() + 1;
        (*unit).opened.set(opened);
        let ran = (*unit).all_entries() + (*unit).iterations.get();
        if opened < max_failures(gil)
            || ran > opened * ITERATIONS_PER_OPENING
            || !(*unit).is_valid()
        {
            return;
        }
        give_up(gil, unit, "others set its locals while it runs");
    }
}

/// Gives a unit up, without a replacement.
///
/// # Safety
/// As for [`count_exit`].
unsafe fn give_up(gil: Gil, unit: UnitRef, reason: &str) {
    // SAFETY: the caller's promise.
    unsafe {
        let code = (*unit).shape.code;
        if let Kind::Loop { pos, .. } = (*unit).kind {
            let state = function_state::state_of(gil, code);
            state.with_loop(pos, |slot| slot.closed = true);
        } else {
            function_state::give_up(gil, code, reason);
        }
        let why = "it was slower than the interpreter";
        let recording = &gil.runtime().recording;
        recording.because(why, || units::invalidate(gil, unit));
    }
}

/// Records a unit's failed speculations, which the next unit does not repeat: all guards that
/// failed more than a few times, so that a unit that fails in several places is not recompiled for
/// each.
unsafe fn learn(gil: Gil, unit: UnitRef) {
    // SAFETY: the caller's unit is alive.
    unsafe {
        let Some(made) = &(&(*unit)).unit else { return };
        let state = function_state::state_of(gil, (*unit).shape.code);
        let mut profile = state.profile.borrow_mut();
        let profile = &mut *profile;
        let begun = gil.runtime().totals.begun.get();
        let mut reached_late = false;
        let is_cautious = state.is_cautious_after(unit);
        let few_failures = if is_cautious { 1 } else { few_failures(gil) };
        for (record, count) in made.exits.heads().iter().zip(&(&(*unit)).exit_counts) {
            let counts = record.kind == ExitKind::Resume && record.reason.is_bet();
            if !counts || count.get() < few_failures {
                continue;
            }
            reached_late |= record.reason == Reason::Unreached;
            if is_cautious {
                profile.avoid.insert((record.pc, record.reason));
                continue;
            }
            if record.reason == Reason::Type
                && let Some(met) = profile.met.get_mut(&record.pc)
                && !met.failures.count((*unit).number, begun)
            {
                continue;
            }
            if record.reason == Reason::Shape
                && let Some(met) = profile.met.get_mut(&record.pc)
                && std::mem::take(&mut met.has_dicts)
            {
                continue;
            }
            if record.reason == Reason::Shape
                && let Some(keys) = profile.keys.get_mut(&record.pc)
                && keys.met > keys.given_up
            {
                keys.given_up = keys.met;
                continue;
            }
            if record.reason == Reason::Shape
                && let Some(callees) = profile.callees.get_mut(&record.pc)
                && callees.take_news()
            {
                continue;
            }
            if matches!(record.reason, Reason::Type | Reason::Domain)
                && let Some(operands) = profile.operands.get_mut(&record.pc)
                && operands.numbers().is_some()
                && !operands.failures.count((*unit).number, begun)
            {
                continue;
            }
            profile.avoid.insert((record.pc, record.reason));
        }
        let late = &state.reached_late;
        late.set(late.get() + reached_late as u32);
    }
}

/// Records the class of the object on top of the stack, where an attribute instruction or a truth
/// test exits because of it, or because the object has a dictionary of its own.
///
/// # Safety
/// The unit is alive; `frame` is complete for the exit.
pub unsafe fn note_class(gil: Gil, unit: UnitRef, record: &ExitRecord, frame: Frame) {
    let profiled_operands = matches!(record.reason, Reason::Type | Reason::Shape | Reason::Domain);
    // The operands of inlined code are in no frame yet.
    if record.kind != ExitKind::Resume || !profiled_operands || !record.inlined.is_empty() {
        return;
    }
    // SAFETY: the caller's promise; the operand is an object.
    unsafe {
        let (profiled_operands, shape) = (&(&(*unit)).profiled_operands, (*unit).shape);
        let top: i32 = abi::frames::depth(frame);
        let entry =
            |k: i32| -> Object { abi::slots::get(frame, abi::frame::LOCALSPLUS + 8 * (top - k)) };
        // There may be null above an iterator.
        let object = match entry(1) {
            null if null.is_null() => entry(1 + abi::generators::ABOVE_ITERATOR),
            object => object,
        };
        if object.is_null() {
            return;
        }
        let Some(&profiled_operands) = profiled_operands.get(record.pc.0 as usize) else {
            return;
        };
        match profiled_operands {
            ProfiledOperands::Class if record.reason != Reason::Domain => {}
            ProfiledOperands::Truth if record.reason == Reason::Type => {}
            ProfiledOperands::Numbers => {
                let other: Object = abi::slots::get(frame, abi::frame::LOCALSPLUS + 8 * (top - 2));
                let state = function_state::state_of(gil, shape.code);
                let mut profile = state.profile.borrow_mut();
                let operands = profile.operands.entry(record.pc).or_default();
                note_operands(operands, record.reason, object, other);
                return;
            }
            _ => return,
        }
        let class = Py_TYPE(object);
        if record.reason == Reason::Shape {
            if dictionaries::has_own(object) {
                dictionaries::note(class);
                // The next unit will differ, if this one did not know.
                if dictionaries::noted(class, (*unit).made) {
                    let state = function_state::state_of(gil, shape.code);
                    let mut profile = state.profile.borrow_mut();
                    profile.met.entry(record.pc).or_default().has_dicts = true;
                }
            } else if let Storage::Inline(values) = storage(class) {
                let state = function_state::state_of(gil, shape.code);
                let mut profile = state.profile.borrow_mut();
                profile.keys.entry(record.pc).or_default().met = values.count();
            }
            return;
        }
        let is_news = match profiled_operands {
            ProfiledOperands::Truth => operators::says_truth(class),
            _ => true,
        };
        if !is_versioned(class) || !is_news {
            return;
        }
        let version: u32 = get(class.cast(), abi::type_::VERSION_TAG);
        let state = function_state::state_of(gil, shape.code);
        let mut profile = state.profile.borrow_mut();
        profile.met.entry(record.pc).or_default().add(version);
    }
}

/// Records the code object of a called function that differs from the speculated one: of the
/// topmost function on the stack whose code has several functions.
///
/// # Safety
/// The unit is alive; `frame` is complete for the exit.
pub unsafe fn note_function(gil: Gil, unit: UnitRef, record: &ExitRecord, frame: Frame) {
    let may_be_other = matches!(record.reason, Reason::Identity | Reason::Shape);
    if record.kind != ExitKind::Resume || !may_be_other || !record.inlined.is_empty() {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { note_callee(gil, unit, record, frame) };
    if record.reason != Reason::Identity {
        return;
    }
    // SAFETY: the caller's promise; the stack has nulls and objects.
    unsafe {
        let shape = (*unit).shape;
        let state = function_state::state_of(gil, shape.code);
        let top: i32 = abi::frames::depth(frame);
        let first = shape.nlocalsplus.min(top);
        for place in (first..top).rev() {
            let object: Object = abi::slots::get(frame, abi::frame::LOCALSPLUS + 8 * place);
            if object.is_null() || Py_TYPE(object) != &raw mut PyFunction_Type {
                continue;
            }
            let (code, ..) = function_state::parts_of(object);
            if keeps(shape.code, code) {
                state.profile.borrow_mut().kin.insert(record.pc, code);
                return;
            }
        }
    }
}

/// Records the function that a call of another function than the speculated one calls.
///
/// # Safety
/// As for [`note_function`].
unsafe fn note_callee(gil: Gil, unit: UnitRef, record: &ExitRecord, frame: Frame) {
    // SAFETY: the caller's promise: the operands of the call are on the stack.
    unsafe {
        let pc = record.pc.0 as usize;
        if (&(*unit).profiled_operands).get(pc) != Some(&ProfiledOperands::Length) {
            return;
        }
        let shape = (*unit).shape;
        let (pos, _) = (&(*unit).positions)[pc];
        let given = abi::instructions::argument(shape.units().add(2 * pos as usize));
        let place = abi::frames::depth(frame) - i32::from(given) - 2;
        if place < shape.nlocalsplus {
            return;
        }
        let callable: Object = abi::slots::get(frame, abi::frame::LOCALSPLUS + 8 * place);
        if callable.is_null() || Py_TYPE(callable) != &raw mut PyFunction_Type {
            return;
        }
        let state = function_state::state_of(gil, shape.code);
        let mut profile = state.profile.borrow_mut();
        let callees = profile.callees.entry(record.pc).or_default();
        callees.note(shape.code, callable);
    }
}

/// Removes the speculation on a single function that the code itself creates, once the code was
/// called more than once: each call creates another function, and a unit that speculates on one
/// would keep it alive, with the contents of its cells, for nothing. The same holds for a closure
/// that calls itself, whose own function is in a cell. A call that passes all arguments needs only
/// the code of the function. For example, in `def outer(): def inner(): ...; inner()`, each call of
/// `outer` calls another `inner`.
/// # Safety
/// The caller has the GIL; `code` was decoded from the state's code object.
pub unsafe fn expect_others(state: &CodeState, code: &Code) {
    let is_called_again = state.calls.get() >= 2;
    for (pc, instr) in (0..).map(Pc).zip(&code.instrs) {
        let met = instr.hint.first().and_then(|ty| ty.as_object());
        let function = met.map_or(std::ptr::null_mut(), objects::object_ptr);
        // SAFETY: an object of a live handle is alive.
        unsafe {
            if function.is_null() || Py_TYPE(function) != &raw mut PyFunction_Type {
                continue;
            }
            let (made, ..) = function_state::parts_of(function.cast());
            let are_others = if made == state.shape.code {
                let closure: Object = get(function.cast(), abi::function::CLOSURE);
                !closure.is_null() && instr.arg as i32 == state.shape.argcount
            } else {
                keeps(state.shape.code, made)
            };
            let mut profile = state.profile.borrow_mut();
            let is_known_by_code = are_others && is_called_again;
            if is_known_by_code {
                profile.kin.insert(pc, made);
            }
            if is_known_by_code || profile.deallocated.contains(&(made as usize)) {
                profile.avoid.insert((pc, Reason::Identity));
            }
        }
    }
}

/// Marks calls that have observed several functions of one code object with that code object.
pub fn mark_kin(profile: &SiteProfile, code: &mut Code) {
    for (pc, kin) in &profile.kin {
        if let Some(instr) = code.instrs.get_mut(pc.0 as usize) {
            // SAFETY: the code that is compiled keeps this one.
            let kin = unsafe { objects::object_handle(*kin) };
            instr.hint = vec![Type::from_object(kin)];
        }
    }
}

/// Records the number types of two operands.
///
/// # Safety
/// Live objects.
unsafe fn note_operands(operands: &mut Operands, reason: Reason, a: Object, b: Object) {
    // SAFETY: the caller's promise.
    let of = |class| unsafe { (Py_TYPE(a) == class) as u8 + (Py_TYPE(b) == class) as u8 };
    match (of(&raw mut PyLong_Type), of(&raw mut PyFloat_Type)) {
        // Two floats and no other speculation: the operation itself failed.
        (0, 2) if reason == Reason::Domain => {}
        (2, 0) | (0, 2) => operands.alike = true,
        (1, 1) => operands.mixed = true,
        _ => operands.others = true,
    }
}

/// The instructions that accept floats and ints alike: those that have observed both. If there are
/// any, also those of the same function that expected floats, or that have neither expectation nor
/// profile.
pub fn observed_numbers(profile: &SiteProfile, code: &Code, met: &mut HashMap<Pc, Met>) {
    let all = || profile.operands.values().filter_map(Operands::numbers);
    let any = all().any(|numbers| numbers == Numbers::Any);
    let Some(usual) = all().next() else { return };
    let usual = if any { Numbers::Any } else { usual };
    for (pc, instr) in (0..).map(Pc).zip(&code.instrs) {
        if !matches!(instr.op, Op::BinaryOp | Op::CompareOp) {
            continue;
        }
        let is_float = |t: &Type| *t == Type::FLOAT_EXACT;
        let is_likely = !sampling::is_sampled(profile, pc) && instr.hint.iter().all(is_float);
        let likely = || is_likely.then_some(usual);
        let own = profile.operands.get(&pc).map(Operands::numbers);
        if let Some(numbers) = own.unwrap_or_else(likely) {
            met.entry(pc).or_default().numbers = Some(numbers);
        }
    }
}

/// The observed classes that have not changed since, by instruction, with their relatives; and
/// references that keep them alive.
///
/// # Safety
/// The caller has the GIL.
pub unsafe fn observed_classes(profile: &SiteProfile) -> (HashMap<Pc, Met>, Vec<LiveClass>) {
    let (mut all, mut held) = (HashMap::new(), Vec::new());
    for (&pc, history) in profile.met.iter().filter(|(_, h)| !h.versions.is_empty()) {
        let mut met = Met::default();
        for &version in &history.versions {
            // SAFETY: the caller's promise; the classes are alive.
            unsafe {
                let Some(class) = class_of_version(version) else {
                    continue;
                };
                met.seen.push(exact(&class));
                for relative in relatives(class.as_type()) {
                    let ty = exact(&relative);
                    if !met.related.contains(&ty) {
                        met.related.push(ty);
                        held.push(relative);
                    }
                }
                held.push(class);
            }
        }
        all.insert(pc, met);
    }
    (all, held)
}

/// # Safety
/// The caller has the GIL.
unsafe fn exact(class: &LiveClass) -> Type {
    // SAFETY: the class is alive.
    Type::from_class_exact(unsafe { objects::class_handle(class.as_type()) })
}

/// The current countdowns of a unit's guards, by number.
fn countdowns(unit: &UnitState) -> impl Iterator<Item = (u64, u64)> + '_ {
    let table = unit.force.as_deref().unwrap_or_default();
    let guards = (unit.first_guard..).zip(unit.guards());
    guards.filter_map(|(number, guard)| Some((number, table.get(guard)?.get())))
}

/// Number of forced guards of a unit that have not failed yet.
pub fn never_reached(unit: &UnitState) -> u64 {
    countdowns(unit).filter(|(_, word)| *word != 0).count() as u64
}

/// Executions of a unit's guards, by reason, if none is to fail on purpose.
pub fn executions(gil: Gil, unit: &UnitState) -> impl Iterator<Item = (&'static str, u64)> + '_ {
    let counts = matches!(
        gil.runtime().options.get().force,
        Some(ForceExit::None | ForceExit::Count)
    );
    let exits = unit.exits();
    let reasons = unit.guards().map(|guard| exits[guard].reason.name());
    let words = countdowns(unit).map(|(_, word)| NEVER - word);
    reasons
        .zip(words)
        .filter(move |(_, count)| counts && *count != 0)
}

/// The numbers of the guards that were executed, if none is to fail.
pub fn reached(gil: Gil, unit: &UnitState) -> Vec<u64> {
    if gil.runtime().options.get().force != Some(ForceExit::None) {
        return Vec::new();
    }
    let executed = countdowns(unit).filter(|(_, word)| *word != NEVER);
    executed.map(|(number, _)| number).collect()
}
