//! Rewriting of HIR: one pass a file; each takes a function and says whether it changed it.
//!
//! # Invariants
//! A pass keeps the canonical form of [`crate::hir`]; a check is dropped only for a fact that is proved, guarded by a
//! dominating check, or assumed with a watch.

mod checks;
pub mod closed;
mod dce;
mod merge;
mod number;
mod plant;
mod refcounts;
mod simplify;
mod specialise;
#[cfg(test)]
mod tests;
mod types;
mod unbox;

use crate::bytecode::{Pc, Reason};
use crate::hir::Function;
use crate::host::World;
use std::collections::HashSet;

/// Rounds of removing references and checks.
const MOST_ROUNDS: usize = 8;

/// What passes may ask.
pub struct Context<'a> {
    /// The world.
    pub world: &'a dyn World,
    /// Bets not to make again.
    pub avoid: &'a HashSet<(Pc, Reason)>,
}

/// The passes in order, by name; `after` is called after each one that changed something.
pub fn run(f: &mut Function, cx: &Context<'_>, after: &mut dyn FnMut(&'static str, &Function)) {
    type Pass = fn(&mut Function, &Context<'_>) -> bool;
    let mut step = |f: &mut Function, name: &'static str, pass: Pass| {
        let changed = pass(f, cx);
        if changed {
            f.apply_aliases();
            after(name, f);
        }
        changed
    };
    step(f, "simplify", simplify::run);
    for _ in 0..2 {
        step(f, "types", types::run);
        step(f, "specialise", specialise::run);
        step(f, "simplify", simplify::run);
        step(f, "merge", merge::run);
        step(f, "types", types::run);
        step(f, "unbox", unbox::run);
        step(f, "simplify", simplify::run);
    }
    step(f, "types", types::run);
    step(f, "number", number::run);
    step(f, "simplify", simplify::run);
    // A reference less to drop is a check of validity less, and that stands between other pairs of references.
    for _ in 0..MOST_ROUNDS {
        step(f, "refcounts", refcounts::run);
        if !step(f, "checks", checks::run) {
            break;
        }
    }
    step(f, "dce", dce::run);
}
