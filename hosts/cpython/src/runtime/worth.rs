//! The cost model: compiling a code object pays if the time that native code would have saved so
//! far exceeds the expected time of the compile.
//!
//! A function is assumed to run for as long again as it has run so far: the time that native code
//! would have saved up to now is the time that it will save, and compiling pays once that is more
//! than the compiler takes. (The rule of Jikes RVM's adaptive optimization system: Arnold, Fink,
//! Grove, Hind and Sweeney, OOPSLA 2000. It never loses more than half of the gain that knowing the
//! future would have brought.)
//!
//! - The **saving** of an execution is estimated from the instructions, as the interpreter has
//!   specialised them: arithmetic on numbers saves much, a call of C code nothing
//!   ([`abi::code_units::Saving`]). The number of executions follows from the calls and back edges
//!   that were counted. Each entry into native code from interpreted code costs something.
//! - The **cost** of a compile is estimated from the compiles so far in this process, per
//!   instruction. The time of workers counts for less than the program's own: with a spare
//!   processor it costs nothing.
//!
//! Both are estimated again when the counts have grown by a part of the missing amount, since the
//! interpreter specialises meanwhile; code that is far from paying is not
//! [monitored](super::listening) for a while.

use super::capi::CodeShape;
use super::function_state::{CodeState, LoopState};
use super::pauses::{FEW_CALLS, FEW_ITERATIONS, Step};
use super::units::UnitState;
use super::{Gil, Options, abi};
use cladonia::exits::Reason;

/// Calls before the cost model is first consulted: by then the interpreter has specialised the
/// code.
const FIRST_CALLS: u64 = 100;
/// Back edges before the cost model is first consulted.
const FIRST_ITERATIONS: u64 = 400;

/// Extra time of a call from interpreted into native code, over one into interpreted code, in
/// tenths of a nanosecond.
const ENTRY: i64 = 125;

/// Time that a call by C code, such as that of a key of `sorted`, takes less into native code than
/// into interpreted code, in tenths of a nanosecond: the interpreter's loop starts for one frame.
const FROM_C: i64 = 80;

/// Extra time of a call from native into interpreted code, over one from interpreted code, in
/// tenths of a nanosecond.
const FALLBACK: i64 = 600;
/// Such calls before the cost model is first consulted.
const FIRST_FALLBACKS: u64 = 32;

/// The assumed speed of the compiler before the first compile: nanoseconds for this many
/// instructions.
const ASSUMED_INSTRS: u64 = 400;
const ASSUMED_NS: u64 = ASSUMED_INSTRS * 8_000;

/// The divisor by which a worker's time is weighted.
pub const BESIDE: u32 = 2;

/// The share of the cost that must have been saved for compiling to pay: as a rule, a program that
/// has run for a while continues to run.
const PAYS: f64 = 0.5;

/// Fixed cost of a unit, as a number of instructions.
const FIXED_INSTRS: u64 = 40;

/// The distribution of a code object's time.
struct Profile {
    /// Instructions.
    instrs: u64,
    /// The saving of a call without its loops, in tenths of a nanosecond.
    straight: i64,
    /// For each loop the saving of an iteration without inner loops, by the position of its first
    /// instruction.
    loops: Vec<Loop>,
}

struct Loop {
    first: u32,
    last: u32,
    tenths: i64,
}

impl Profile {
    /// # Safety
    /// The code object is alive.
    unsafe fn of(shape: &CodeShape) -> Profile {
        // SAFETY: the caller's promise: the units of a live code object, with its length.
        let savings: Vec<_> = unsafe {
            let len: isize = abi::read(shape.code, abi::object::VAR_SIZE);
            abi::feedback::savings(shape.units(), len as usize)
        };
        let mut loops: Vec<Loop> = Vec::new();
        for saving in &savings {
            let Some(first) = saving.loop_at else {
                continue;
            };
            match loops.iter_mut().find(|l| l.first == first) {
                Some(known) => known.last = known.last.max(saving.at),
                None => loops.push(Loop {
                    first,
                    last: saving.at,
                    tenths: 0,
                }),
            }
        }
        let mut straight = 0;
        for saving in &savings {
            let around = loops
                .iter_mut()
                .filter(|l| (l.first..=l.last).contains(&saving.at));
            match around.min_by_key(|l| l.last - l.first) {
                Some(innermost) => innermost.tenths += saving.tenths,
                None => straight += saving.tenths,
            }
        }
        Profile {
            instrs: savings.len() as u64,
            straight,
            loops,
        }
    }

    /// Nanoseconds that native code would have saved so far, if each call costs `entry` tenths
    /// more.
    fn saved(&self, state: &CodeState, entry: i64) -> i64 {
        let mut tenths = (self.straight - entry).saturating_mul(state.calls.get() as i64);
        tenths += FALLBACK.saturating_mul(state.fallbacks.get() as i64);
        let counted = state.loops.borrow();
        for l in &self.loops {
            if let Some(slot) = counted.get(&l.first) {
                tenths += l.tenths.saturating_mul(slot.turns.count as i64);
            }
        }
        tenths / 10
    }

    /// Nanoseconds that compiling is expected to take.
    fn cost(&self, gil: Gil) -> i64 {
        let totals = &gil.runtime().totals;
        let spent =
            totals.compile_ns.get() + totals.beside_ns.get() / u64::from(BESIDE) + ASSUMED_NS;
        let instrs = totals.instrs.get() + ASSUMED_INSTRS;
        ((self.instrs + FIXED_INSTRS) * spent / instrs) as i64
    }
}

/// The share of the saving needed to pay that was reached so far: 1.0 or more if compiling pays. It
/// is not rounded: for a loop that has just begun it is a thousandth or less, and decides when the
/// loop is checked again.
///
/// # Safety
/// The code object is alive.
pub unsafe fn share(gil: Gil, state: &CodeState, entry: i64) -> f64 {
    // SAFETY: the caller's promise.
    let profile = unsafe {
        state.sites.borrow_mut().note(&state.shape);
        Profile::of(&state.shape)
    };
    let needed = profile.cost(gil) as f64 * PAYS;
    profile.saved(state, entry) as f64 / needed.max(1.0)
}

/// Extra time of a call of a code object into native code, over one into interpreted code, in
/// tenths of a nanosecond: less than nothing if most of its calls come from C code.
fn extra_of_entry(state: &CodeState) -> i64 {
    let starts = state.starts.get().max(1) as i64;
    ENTRY - (ENTRY + FROM_C) * state.starts_from_c.get() as i64 / starts
}

/// The verdict on a code object after one more start.
///
/// # Safety
/// The code object is alive.
pub unsafe fn of_call(gil: Gil, state: &CodeState) -> Verdict {
    let calls = state.calls.get() + 1;
    if calls < state.next_call.get() {
        state.calls.set(calls);
        return Verdict::Count;
    }
    let options = gil.runtime().options.get();
    if state.pays.get() || !options.weighs {
        state.calls.set(calls);
        return if state.pays.get() || calls >= options.threshold {
            Verdict::Compile
        } else {
            Verdict::Count
        };
    }
    let mut counter = state.counted.get();
    counter.count = state.calls.get();
    let (step, grown) = counter.step(gil, state, FIRST_CALLS);
    state.calls.set(counter.count);
    if let Some(by) = grown {
        let monitored_since = state.monitored_since.get();
        let mut loops = state.loops.borrow_mut();
        loops
            .values_mut()
            .for_each(|l| l.turns.grow(monitored_since, by));
    }
    let step = match step {
        Step::Look => {
            // SAFETY: the caller's promise.
            let share = unsafe { share(gil, state, extra_of_entry(state)) };
            if share >= 1.0 {
                state.set_pays(gil);
                return Verdict::Compile;
            }
            counter.missed(gil, state, share, FEW_CALLS)
        }
        step => step,
    };
    state.counted.set(counter);
    state.next_call.set(counter.next(FIRST_CALLS));
    match step {
        Step::Pause => Verdict::Pause,
        _ => Verdict::Count,
    }
}

/// True if the cost model is consulted after so many calls: four times before their number has
/// doubled.
fn is_check(calls: u64) -> bool {
    calls >= FIRST_FALLBACKS && calls.is_multiple_of((1 << calls.ilog2()) / 4)
}

/// True if a code object is to be compiled that native code has called once more, and that the
/// interpreter has run.
///
/// # Safety
/// The code object is alive.
pub unsafe fn of_native_call(gil: Gil, state: &CodeState) -> bool {
    let fallbacks = state.fallbacks.get() + 1;
    state.fallbacks.set(fallbacks);
    if !gil.runtime().options.get().weighs || state.refused.get().is_some() {
        return false;
    }
    if !state.pays.get() && is_check(fallbacks) {
        // SAFETY: the caller's promise.
        let share = unsafe { share(gil, state, 0) };
        if share >= 1.0 {
            state.set_pays(gil);
        }
    }
    state.pays.get()
}

/// True if a generator's code is to be compiled that has delegated once more to a generator with a
/// unit, which the interpreter therefore runs: compiling it gains the saving of that unit too, and
/// of those to which that one delegates. For example, `a` is `yield from b()`, `b` is `yield from
/// c()`, and only `c` has a loop.
///
/// # Safety
/// The code objects are alive.
pub unsafe fn of_delegation(gil: Gil, state: &CodeState, inner: &CodeState) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if of_native_call(gil, state) || !gil.runtime().options.get().weighs {
            return state.pays.get();
        }
        let starts = state.fallbacks.get();
        if !is_check(starts) || state.refused.get().is_some() {
            return false;
        }
        let own = Profile::of(&inner.shape).saved(inner, 0) / inner.calls.get().max(1) as i64;
        let of_inner = own.max(0) + inner.delegated.get();
        state.delegated.update(|known| known.max(of_inner));
        let of_outer = Profile::of(&state.shape);
        let saved = of_outer.saved(state, 0) + of_inner.saturating_mul(starts as i64);
        if saved as f64 >= of_outer.cost(gil) as f64 * PAYS {
            state.set_pays(gil);
        }
        state.pays.get()
    }
}

/// True if a callee of a code object that is being compiled pays off to compile with it.
///
/// # Safety
/// The code object is alive.
pub unsafe fn is_due_with_caller(gil: Gil, state: &CodeState) -> bool {
    let Options {
        weighs, threshold, ..
    } = gil.runtime().options.get();
    let calls = state.calls.get();
    if weighs {
        // SAFETY: the caller's promise.
        calls >= FIRST_CALLS && unsafe { share(gil, state, 0) } >= 0.5
    } else {
        2 * calls >= threshold
    }
}

/// The reaction to an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Only count it.
    Count,
    /// Disable the event for a while.
    Pause,
    /// Compile.
    Compile,
}

/// The verdict on entering a running frame natively at a loop, after one more back edge.
///
/// # Safety
/// The code object is alive.
pub unsafe fn of_back_edge(gil: Gil, state: &CodeState, pos: u32) -> Verdict {
    let options = gil.runtime().options.get();
    let calls = state.calls.get();
    let (step, turns, here, has_unit) = state.with_loop(pos, |slot| {
        if slot.call != calls {
            (slot.call, slot.here) = (calls, 0);
        }
        slot.here += 1;
        let step = match options.weighs {
            true if state.pays.get()
                || slot.turns.count + 1 < slot.turns.next(FIRST_ITERATIONS) =>
            {
                slot.turns.count += 1;
                Step::Count
            }
            true => slot.turns.step(gil, state, FIRST_ITERATIONS).0,
            false => {
                slot.turns.count += 1;
                Step::Look
            }
        };
        (step, slot.turns, slot.here, !slot.units.is_empty())
    });
    if !options.weighs {
        return if turns.count >= options.loop_threshold() {
            Verdict::Compile
        } else {
            Verdict::Count
        };
    }
    if step == Step::Pause {
        return Verdict::Pause;
    }
    if step == Step::Look && !state.pays.get() {
        // SAFETY: the caller's promise.
        let share = unsafe { share(gil, state, extra_of_entry(state)) };
        if share < 1.0 {
            let missed =
                |slot: &mut LoopState| slot.turns.missed(gil, state, share, FEW_ITERATIONS);
            return match state.with_loop(pos, missed) {
                Step::Pause => Verdict::Pause,
                _ => Verdict::Count,
            };
        }
        state.set_pays(gil);
    }
    // If most calls of this code are short, the next one comes soon, and starts natively.
    let is_long = !state.shape.optimized() || calls <= 1 || here * 4 >= turns.count;
    if state.pays.get() && (has_unit || is_long) {
        Verdict::Compile
    } else {
        Verdict::Count
    }
}

/// Nanoseconds that a unit is estimated to have saved so far, by its entries and back edges, minus
/// the cost of its exits.
///
/// # Safety
/// The unit is alive.
pub unsafe fn gain(unit: &UnitState) -> i64 {
    // SAFETY: a unit's code object is alive.
    let (calls, turns) = unsafe { saved_by(unit) };
    (calls.saturating_add(turns) - unit.exit_cost.get()) / 10
}

/// Nanoseconds that `entries` entries from interpreted code cost.
pub fn cost_of_entries(entries: u64) -> i64 {
    ENTRY.saturating_mul(entries as i64) / 10
}

/// Tenths of a nanosecond that a unit has saved: in its calls, and in iterations of its loops.
///
/// # Safety
/// The unit is alive.
unsafe fn saved_by(unit: &UnitState) -> (i64, i64) {
    // SAFETY: a unit's code object is alive.
    let profile = unsafe { Profile::of(&unit.shape) };
    let of_loops: i64 = profile.loops.iter().map(|l| l.tenths).sum();
    let an_iteration = of_loops / profile.loops.len().max(1) as i64;
    let calls = profile.straight.saturating_mul(unit.all_entries() as i64);
    let turns = an_iteration.saturating_mul(unit.iterations.get() as i64);
    (calls, turns)
}

/// Tenths of a nanosecond that an exit costs: the frame is built, and the interpreter runs the rest
/// of the call.
const EXIT: i64 = 8_000;
/// The same for an exit with which an exception leaves the function. It is lower, since raising
/// costs time in the interpreter as well.
const RAISE: i64 = 500;
/// Exits of a unit until the first check that it still pays; the next one is after twice as many.
const FIRST_EXITS: u64 = 256;

/// Adds an exit to the cost of a unit so far.
pub fn count_exit(unit: &UnitState, reason: Reason) {
    let cost = match reason {
        Reason::Raised => RAISE,
        _ => EXIT,
    };
    unit.exits_taken.update(|taken| taken + 1);
    unit.exit_cost.update(|total| total.saturating_add(cost));
}

/// True if a unit's exits, with the present one, have cost more than the unit has saved. The cost
/// of its compile is spent in any case.
///
/// # Safety
/// The unit is alive.
pub unsafe fn is_lost(gil: Gil, unit: &UnitState) -> bool {
    let taken = unit.exits_taken.get();
    if taken < FIRST_EXITS || !taken.is_power_of_two() || !gil.runtime().options.get().weighs {
        return false;
    }
    // SAFETY: the caller's promise.
    let (calls, turns) = unsafe { saved_by(unit) };
    let saved = calls
        .saturating_add(turns)
        .saturating_add(saved_for_callers(gil, unit));
    unit.exit_cost.get() > saved
}

/// Tenths of a nanosecond that native callers of a unit have saved, since they have not called interpreted code: as many of its calls
/// are theirs, it is assumed, as were before there was a unit.
fn saved_for_callers(gil: Gil, unit: &UnitState) -> i64 {
    let Some(state) = gil.runtime().state(unit.shape.code) else {
        return 0;
    };
    let (native, others) = (state.fallbacks.get(), state.calls.get());
    let part = native as f64 / (native + others).max(1) as f64;
    (part * unit.all_entries() as f64) as i64 * FALLBACK
}
