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
mod refcounts;
mod simplify;
mod specialise;
mod types;
mod unbox;

use crate::bytecode::{Pc, Reason};
use crate::hir::Function;
use crate::host::World;
use std::collections::HashSet;

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
        if pass(f, cx) {
            f.apply_aliases();
            after(name, f);
        }
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
    step(f, "refcounts", refcounts::run);
    step(f, "checks", checks::run);
    step(f, "dce", dce::run);
}
