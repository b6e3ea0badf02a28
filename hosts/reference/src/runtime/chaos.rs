//! Random events, all determined by the options' seed: the compilation of functions and loops,
//! requests to compiled code to test for pending work, and changes of units' assumptions.

use super::rt;

/// The average number of helper calls between two changes.
const CALM: u64 = 24;

fn is_on() -> bool {
    rt().options.get().chaos
}

/// The number of counts before a compile: random below `n` under chaos, otherwise `usual`.
pub(super) fn threshold(usual: u64, n: u64) -> u64 {
    if is_on() { rt().jit.random(n) } else { usual }
}

/// At random, requests compiled code to test for pending work.
pub(super) fn ask() {
    if is_on() && rt().jit.random(8) == 0 {
        rt().thread.pending.set(1);
    }
}

/// Runs the pending work.
pub(super) fn do_pending() {
    let rt = rt();
    if rt.thread.pending.replace(0) != 0 && is_on() && rt.jit.random(2) == 0 {
        rt.jit.invalidate_all();
    }
}

/// Called by helpers that may run user code: at random, as if that code changed an assumption of a
/// unit.
pub(super) fn change() {
    if !is_on() || rt().jit.random(CALM) != 0 {
        return;
    }
    let jit = &rt().jit;
    let units = jit.that_rely();
    if !units.is_empty() {
        jit.invalidate(&units[jit.random(units.len() as u64) as usize]);
    }
}
