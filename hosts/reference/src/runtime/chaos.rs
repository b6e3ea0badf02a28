//! What happens at random, all of it from the options' seed: when functions and loops are compiled, when compiled code
//! has to look for pending work, and when what units rely on changes.

use super::rt;

/// Calls of helpers between two changes of the world, about.
const CALM: u64 = 24;

fn is_on() -> bool {
    rt().options.get().chaos
}

/// How often something is to be counted before it is compiled: at random below `n` under chaos, else `usual`.
pub(super) fn threshold(usual: u64, n: u64) -> u64 {
    match is_on() {
        true => rt().jit.random(n),
        false => usual,
    }
}

/// At random, ask compiled code to look for pending work.
pub(super) fn ask() {
    if is_on() && rt().jit.random(8) == 0 {
        rt().thread.pending.set(1);
    }
}

/// Do what compiled code was asked to look for.
pub(super) fn do_pending() {
    let rt = rt();
    if rt.thread.pending.replace(0) != 0 && is_on() && rt.jit.random(2) == 0 {
        rt.jit.invalidate_all();
    }
}

/// A helper that may run code of the program runs: at random, that code changes what a unit relies on.
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
