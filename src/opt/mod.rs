//! Rewriting of HIR: one pass a file; each takes a function and says whether it changed it.
//!
//! # Invariants
//! A pass keeps the canonical form of [`crate::hir`]; a check is dropped only for a fact that is proved, guarded by a
//! dominating check, or assumed with a watch.

mod checks;
pub mod closed;
mod dce;
mod inline;
mod lifetimes;
mod merge;
mod number;
mod paths;
mod plant;
mod refcounts;
mod simplify;
mod specialise;
#[cfg(test)]
mod tests;
mod types;
mod unbox;
mod virtuals;

use crate::bytecode::{Pc, Reason};
use crate::hir::Function;
use crate::host::{Lifetimes, World};
use std::collections::HashSet;

/// Rounds of removing references and checks.
const MOST_ROUNDS: usize = 8;

/// What passes may ask.
pub struct Context<'a> {
    /// The world.
    pub world: &'a dyn World,
    /// Bets not to make again.
    pub avoid: &'a HashSet<(Pc, Reason)>,
    /// Whether references are counted.
    pub lifetimes: Lifetimes,
    /// Whether calls may be replaced by their callee's code, as far as the world gives that.
    pub inlines: bool,
}

/// A pass: says whether it changed the function.
type Pass = fn(&mut Function, &Context<'_>) -> bool;

/// Every pass by name, in the order in which they first run.
const PASSES: &[(&str, Pass)] = &[
    ("lifetimes", lifetimes::run),
    ("simplify", simplify::run),
    ("types", types::run),
    ("specialise", specialise::run),
    ("inline", inline::run),
    ("virtuals", virtuals::run),
    ("merge", merge::run),
    ("unbox", unbox::run),
    ("number", number::run),
    ("number_again", number::again),
    ("paths", paths::run),
    ("refcounts", refcounts::run),
    ("checks", checks::run),
    ("dce", dce::run),
];

/// The names of all passes.
pub fn names() -> impl Iterator<Item = &'static str> {
    PASSES.iter().map(|(name, _)| *name)
}

/// Run one pass alone; says whether it changed the function, or nothing if there is no such pass.
pub fn run_pass(name: &str, f: &mut Function, cx: &Context<'_>) -> Option<bool> {
    let (_, pass) = PASSES.iter().find(|(other, _)| *other == name)?;
    let changed = pass(f, cx);
    if changed {
        f.apply_aliases();
    }
    Some(changed)
}

/// The passes in order, by name; `after` is called after each one that changed something.
pub fn run(f: &mut Function, cx: &Context<'_>, after: &mut dyn FnMut(&'static str, &Function)) {
    let mut step = |f: &mut Function, name: &'static str| {
        let changed = run_pass(name, f, cx).expect("a pass");
        if changed {
            after(name, f);
        }
        changed
    };
    step(f, "lifetimes");
    step(f, "simplify");
    for _ in 0..2 {
        step(f, "types");
        step(f, "specialise");
        step(f, "lifetimes");
        step(f, "simplify");
        if step(f, "inline") {
            // Fewer calls, fewer checks after them, which would stand in the way of what follows.
            step(f, "checks");
            step(f, "types");
            step(f, "simplify");
        }
        step(f, "virtuals");
        step(f, "merge");
        step(f, "types");
        step(f, "unbox");
        step(f, "simplify");
    }
    step(f, "types");
    step(f, "number");
    step(f, "simplify");
    // After the last motion: what a path proves holds on that path.
    if step(f, "paths") {
        step(f, "types");
        step(f, "simplify");
    }
    // `unbox` drops the boxes that it leaves behind.
    step(f, "lifetimes");
    // More items are raw by now, and what the frame's end would have to drop is less.
    step(f, "virtuals");
    // A reference less to drop is a check of validity less, and that stands between other pairs of references.
    for _ in 0..MOST_ROUNDS {
        step(f, "refcounts");
        if !step(f, "checks") {
            break;
        }
    }
    step(f, "number_again");
    step(f, "dce");
}
