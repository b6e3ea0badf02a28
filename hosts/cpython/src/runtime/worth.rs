//! Whether compiling a code object pays: what native code would have saved so far, against what making it is expected to cost.
//!
//! A program has spent as long in a function as it will spend yet, for all that is known: so what native code would have saved
//! up to now is what it will save, and it pays to compile once that is more than the compiler takes. (The rule of Jikes RVM's
//! adaptive optimization system: Arnold, Fink, Grove, Hind and Sweeney, OOPSLA 2000. It never loses more than half of what knowing
//! the future would have brought.)
//!
//! - What an execution **saves** is estimated from the instructions, as the interpreter has specialised them: arithmetic on
//!   numbers saves much, a call of C code nothing ([`abi::code_units::Saving`]). How often they were executed follows from
//!   the calls and back edges that were counted. Entering native code from interpreted code costs something each time.
//! - What compiling **costs** is what it has cost so far in this process, by instruction. The time of workers counts for less
//!   than the program's own: where there is a processor to spare it costs nothing.
//!
//! Both are looked at again when the counts have grown by a part of what is missing, since the interpreter specialises meanwhile.

use super::capi::CodeShape;
use super::function_state::CodeState;
use super::{Gil, Options, abi};

/// Calls before anything is weighed: by then the interpreter has specialised what runs.
const FIRST_CALLS: u64 = 100;
/// Back edges before anything is weighed.
const FIRST_TURNS: u64 = 400;

/// Tenths of a nanosecond that a call takes longer when interpreted code calls native code, than when it calls interpreted code.
const ENTRY: i64 = 250;

/// What is assumed of the compiler before it has made anything: nanoseconds for so many instructions.
const ASSUMED_INSTRS: u64 = 400;
const ASSUMED_NS: u64 = ASSUMED_INSTRS * 16_000;

/// Of a worker's time this part counts (as a divisor).
const BESIDE: u64 = 2;

/// Each unit costs as much as so many instructions more.
const FIXED_INSTRS: u64 = 40;

/// Where a code object spends its time.
struct Profile {
    /// Instructions.
    instrs: u64,
    /// What a call saves, in tenths of a nanosecond, without the loops.
    straight: i64,
    /// For each loop, what an iteration saves, without the loops inside it: by the position of its first instruction.
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
        // SAFETY: the caller's promise: the units of a live code object, so many.
        let savings: Vec<_> = unsafe {
            let len: isize = abi::read(shape.code, abi::object::VAR_SIZE);
            abi::feedback::savings(shape.units(), len as usize).collect()
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

    /// Nanoseconds that native code would have saved so far, where each call costs `entry` tenths more.
    fn saved(&self, state: &CodeState, entry: i64) -> i64 {
        let mut tenths = (self.straight - entry).saturating_mul(state.calls.get() as i64);
        let counted = state.loops.borrow();
        for l in &self.loops {
            if let Some(slot) = counted.get(&l.first) {
                tenths += l.tenths.saturating_mul(slot.count as i64);
            }
        }
        tenths / 10
    }

    /// Nanoseconds that compiling is expected to take.
    fn cost(&self, gil: Gil) -> i64 {
        let totals = &gil.runtime().totals;
        let spent = totals.compile_ns.get() + totals.beside_ns.get() / BESIDE + ASSUMED_NS;
        let instrs = totals.instrs.get() + ASSUMED_INSTRS;
        ((self.instrs + FIXED_INSTRS) * spent / instrs) as i64
    }
}

/// How much of what compiling costs native code would have saved so far, in percent.
///
/// # Safety
/// The code object is alive.
pub unsafe fn share(gil: Gil, state: &CodeState, entry: i64) -> i64 {
    // SAFETY: the caller's promise.
    let profile = unsafe { Profile::of(&state.shape) };
    profile.saved(state, entry).saturating_mul(100) / profile.cost(gil).max(1)
}

/// The count at which to look again, where `count` has brought a `share` of what is needed.
fn next_look(count: u64, share: i64) -> u64 {
    let missing = 100 * 100 / share.max(1);
    count * missing.clamp(125, 400) as u64 / 100
}

/// Whether a code object is to be compiled now that it has been called once more.
///
/// # Safety
/// The code object is alive.
pub unsafe fn is_due(gil: Gil, state: &CodeState) -> bool {
    let options = gil.runtime().options.get();
    let calls = state.calls.get();
    if state.pays.get() {
        return true;
    }
    if !options.weighs {
        return calls >= options.threshold;
    }
    if calls < state.look_at.get().max(FIRST_CALLS) {
        return false;
    }
    // SAFETY: the caller's promise.
    let share = unsafe { share(gil, state, ENTRY) };
    state.pays.set(share >= 100);
    state.look_at.set(next_look(calls, share));
    share >= 100
}

/// Whether a callee of a code object that is being compiled is worth compiling with it.
///
/// # Safety
/// The code object is alive.
pub unsafe fn is_due_with_caller(gil: Gil, state: &CodeState) -> bool {
    let Options {
        weighs, threshold, ..
    } = gil.runtime().options.get();
    let calls = state.calls.get();
    match weighs {
        false => 2 * calls >= threshold,
        // SAFETY: the caller's promise.
        true => calls >= FIRST_CALLS && unsafe { share(gil, state, 0) } >= 50,
    }
}

/// What a loop that has been around once more asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// Nothing yet.
    Count,
    /// Native code at the next call: this one will be over soon.
    Next,
    /// Native code now.
    Now,
}

/// What a loop asks for that has been around `count` times, of them `here` in this activation.
///
/// # Safety
/// The code object is alive.
pub unsafe fn of_turn(gil: Gil, state: &CodeState, pos: u32) -> Turn {
    let options = gil.runtime().options.get();
    let (count, look_at, here) = state.with_loop(pos, |slot| (slot.count, slot.look_at, slot.here));
    if !options.weighs {
        return match count >= options.loop_threshold() {
            true => Turn::Now,
            false => Turn::Count,
        };
    }
    if count < look_at.max(FIRST_TURNS) {
        return Turn::Count;
    }
    // SAFETY: the caller's promise.
    let share = unsafe { share(gil, state, ENTRY) };
    if share < 100 {
        state.with_loop(pos, |slot| slot.look_at = next_look(count, share));
        return Turn::Count;
    }
    state.pays.set(true);
    // Most calls of this code are short: the next one comes soon.
    if state.shape.optimized() && state.calls.get() > 1 && here * 4 < count {
        state.with_loop(pos, |slot| slot.look_at = count + count / 4);
        return Turn::Next;
    }
    Turn::Now
}
