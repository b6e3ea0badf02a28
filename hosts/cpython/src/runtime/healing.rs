//! Speculation heals: exits are counted, failing bets are given up, and guards can be made to fail on purpose.

use super::units::{UnitRef, UnitState};
use super::{function_state, rt, units};
use cladonia::exits::{ExitKind, ExitRecord, Reason};

/// Failures after which a bet is not made again.
pub const MOST_FAILURES: u64 = 20;

/// Which guards fail on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ForceExit {
    /// Each, the first time it is executed.
    First,
    /// Each at a pseudo-random later time.
    Seed(u64),
    /// Only the one of this number, the first time.
    OneByOne(u64),
}

impl ForceExit {
    /// From the text of the option.
    pub fn parse(text: &str) -> Option<ForceExit> {
        match text.split_once(':') {
            None if text == "first" => Some(ForceExit::First),
            Some(("seed", n)) => n.parse().ok().map(ForceExit::Seed),
            Some(("one-by-one", n)) => n.parse().ok().map(ForceExit::OneByOne),
            _ => None,
        }
    }
}

/// Number the guards of a new unit, and set the countdown of those that are to fail.
pub fn prepare(unit: &mut UnitState) {
    let guards: Vec<usize> = unit.guards().collect();
    let first = rt().guards_numbered;
    rt().guards_numbered += guards.len() as u64;
    let Some(force) = rt().options.force else {
        return;
    };
    let Some(table) = &mut unit.force else { return };
    for (number, exit) in (first..).zip(guards) {
        let Some(word) = table.get_mut(exit) else {
            continue;
        };
        *word = match force {
            ForceExit::First => 1,
            ForceExit::Seed(seed) => 1 + scramble(seed.wrapping_add(number)) % 64,
            ForceExit::OneByOne(wanted) => (number == wanted) as u64,
        };
        rt().totals.guards += (*word != 0) as u64;
    }
}

/// A well-mixed function of a number (splitmix64).
fn scramble(n: u64) -> u64 {
    let mut z = n
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// Count an exit; a bet that fails once too often is given up with its unit.
///
/// # Safety
/// The unit is alive and stays so: an exit of it is being served.
pub unsafe fn count_exit(unit: UnitRef, number: usize, record: &ExitRecord) {
    // SAFETY: the caller's promise; this is the only borrow of the counters.
    unsafe {
        let count = &mut (&mut (*unit).exit_counts)[number];
        *count += 1;
        let count = *count;
        rt().totals.exits += 1;
        let forced = (*unit).force.is_some();
        if forced
            || record.kind != ExitKind::Resume
            || !record.reason.is_bet()
            || count < MOST_FAILURES
        {
            return;
        }
        let shape = (*unit).shape;
        if (*unit).is_valid() {
            let state = function_state::state_of(shape.code);
            state.avoid.insert((record.pc, record.reason));
            state.reached_late += (record.reason == Reason::Unreached) as u32;
            units::invalidate(unit);
        }
    }
}

/// How many forced guards of a unit have not failed yet.
pub fn never_reached(unit: &UnitState) -> u64 {
    let Some(table) = &unit.force else { return 0 };
    // Compiled code writes the table.
    unit.guards()
        .filter(|&g| {
            // SAFETY: the index is in range; the word is read once.
            table
                .get(g)
                .is_some_and(|w| unsafe { std::ptr::from_ref(w).read_volatile() } != 0)
        })
        .count() as u64
}
