//! Rewriting of HIR: one pass a file; each takes a function and says whether it changed it.
//!
//! # Invariants
//! A pass keeps the canonical form of [`crate::hir`]; a check is dropped only for a fact that is proved, guarded by a
//! dominating check, or assumed with a watch.

mod bounds;
mod checks;
pub mod closed;
mod cut;
mod dce;
mod ends;
mod headers;
mod heap;
mod held;
mod inline;
mod lifetimes;
mod memory;
mod merge;
mod number;
mod paths;
mod plant;
mod preload;
mod ranges;
mod refcounts;
mod reuse;
mod sequences;
mod signs;
mod simplify;
mod slices;
mod specialise;
mod split;
#[cfg(test)]
mod tests;
mod tracebacks;
mod types;
mod unbox;
mod virtuals;

use crate::bytecode::{Pc, Reason};
use crate::hir::Function;
use crate::host::{Lifetimes, World};
use std::cell::RefCell;
use std::collections::HashSet;
use std::time::{Duration, Instant};

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
    /// Whether compiled code may keep where a list's items lie.
    pub item_arrays: bool,
    /// Whether compiled code may read strings.
    pub strings: bool,
    /// Whether numbers that are about to end may become others.
    pub reuses: bool,
    /// Whether the host watches for code that finds objects which it was not given.
    pub objects_are_private: bool,
    /// Whether facts about memory become checks that end the process where they are false; else they are relied on.
    pub check_facts: bool,
    /// Passes that [`run`] leaves out.
    pub without: &'a [&'static str],
    /// What the passes have cost.
    pub log: RefCell<Log>,
}

/// What the passes over a function have cost.
#[derive(Clone, Default, Debug)]
pub struct Log {
    /// The time that each pass took, by name; one that ran several times is counted whole.
    pub passes: Vec<(&'static str, Duration)>,
    /// The graphs and questions of `paths`.
    pub paths: Vec<crate::infer::paths::Cost>,
}

impl Log {
    fn add(&mut self, pass: &'static str, took: Duration) {
        match self.passes.iter_mut().find(|known| known.0 == pass) {
            Some(known) => known.1 += took,
            None => self.passes.push((pass, took)),
        }
    }

    /// Add what other passes have cost.
    pub fn include(&mut self, other: Log) {
        for (pass, took) in other.passes {
            self.add(pass, took);
        }
        self.paths.extend(other.paths);
    }
}

/// The passes that may be left out: code is right without them, and slower. Types are computed without `types` too, but nothing is known of
/// what comes together in joins.
pub const OPTIONAL: &[&str] = &[
    "types",
    "split",
    "inline",
    "virtuals",
    "headers",
    "heap",
    "held",
    "signs",
    "memory",
    "bounds",
    "number",
    "paths",
    "checks",
    "slices",
    "ends",
    "sequences",
    "ranges",
    "preload",
    "reuse",
];

/// A pass that there is not, or that can't be left out.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no pass that can be left out; those are {list}", list = OPTIONAL.join(", "))]
pub struct NotOptional(pub String);

/// The passes of these names, separated by commas, which are to be left out.
///
/// # Errors
/// One of them is not [optional](OPTIONAL).
pub fn optional(names: &str) -> Result<Vec<&'static str>, NotOptional> {
    let find = |name: &str| OPTIONAL.iter().find(|known| **known == name).copied();
    let names = names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    names
        .map(|name| find(name).ok_or_else(|| NotOptional(name.to_owned())))
        .collect()
}

/// A pass: says whether it changed the function.
type Pass = fn(&mut Function, &Context<'_>) -> bool;

/// Every pass by name, in the order in which they first run.
const PASSES: &[(&str, Pass)] = &[
    ("lifetimes", lifetimes::run),
    ("simplify", simplify::run),
    ("types", types::run),
    ("split", split::run),
    ("specialise", specialise::run),
    ("inline", inline::run),
    ("virtuals", virtuals::run),
    ("merge", merge::run),
    ("headers", headers::run),
    ("unbox", unbox::run),
    ("heap", heap::run),
    ("cut", cut::run),
    ("refcounts", refcounts::run),
    ("held", held::run),
    ("checks", checks::run),
    ("memory", memory::run),
    ("number", number::run),
    ("signs", signs::run),
    ("paths", paths::run),
    ("slices", slices::run),
    ("ends", ends::run),
    ("bounds", bounds::run),
    ("sequences", sequences::run),
    ("ranges", ranges::run),
    ("preload", preload::run),
    ("reuse", reuse::run),
    ("dce", dce::run),
    ("tracebacks", tracebacks::run),
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

/// How far the passes came with a function before the world [lacked answers](World::lacks_answers).
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// The function where passes may go on, and what those before it have found: whether each changed something.
    resume: Option<(Function, Vec<bool>)>,
}

/// The passes before which the function is kept, as it is before the first one: those that ask most.
const RESUMED_AT: &[&str] = &["split", "inline", "virtuals", "cut", "memory"];

impl Progress {
    /// The function where passes go on, if some have run already.
    pub fn function(&self) -> Option<&Function> {
        self.resume.as_ref().map(|(f, _)| f)
    }
}

/// The passes in order, by name; `after` is called after each one that changed something.
///
/// With `progress`, they end where the world lacks answers, and give false: called again with [`Progress::function`], they go on from there.
pub fn run(
    f: &mut Function,
    cx: &Context<'_>,
    mut progress: Option<&mut Progress>,
    after: &mut dyn FnMut(&'static str, &Function),
) -> bool {
    // The passes that have found nothing to change since something was changed: they would find nothing again.
    let mut settled: Vec<&'static str> = Vec::new();
    let resume = progress.as_ref().and_then(|known| known.resume.as_ref());
    let mut found_before = resume
        .map_or(Vec::new(), |(_, found)| found.clone())
        .into_iter();
    let mut found: Vec<bool> = Vec::new();
    let mut has_ended = false;
    let mut step = |f: &mut Function, name: &'static str| -> bool {
        // That one leaves out itself what can be left out of it.
        if cx.without.contains(&name) && name != "types" || settled.contains(&name) || has_ended {
            return false;
        }
        let known = found_before.next();
        if let Some(progress) = &mut progress
            && known.is_none()
            && (found.is_empty() || RESUMED_AT.contains(&name))
        {
            progress.resume = Some((f.clone(), found.clone()));
        }
        let changed = known.unwrap_or_else(|| {
            let started = Instant::now();
            let changed = run_pass(name, f, cx).expect("a pass");
            cx.log.borrow_mut().add(name, started.elapsed());
            has_ended = progress.is_some() && cx.world.lacks_answers();
            changed
        });
        if has_ended {
            return false;
        }
        found.push(changed);
        if changed {
            if known.is_none() {
                after(name, f);
            }
            settled.clear();
        } else {
            settled.push(name);
        }
        changed
    };
    step(f, "lifetimes");
    step(f, "simplify");
    for round in 0..2 {
        step(f, "types");
        // What calls have become the unit's own code by now gives nothing away.
        if round > 0 && step(f, "heap") {
            step(f, "types");
            step(f, "simplify");
        }
        if step(f, "split") {
            step(f, "types");
        }
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
        if step(f, "headers") {
            step(f, "types");
        }
        step(f, "unbox");
        step(f, "simplify");
    }
    // The guards that are left on the paths of a lost bet stay.
    step(f, "cut");
    step(f, "types");
    step(f, "refcounts");
    // The stack's own references to what locals hold are gone.
    if step(f, "held") {
        step(f, "refcounts");
    }
    step(f, "checks");
    // What is loaded once has its guards once.
    step(f, "memory");
    step(f, "number");
    step(f, "simplify");
    // A number and itself are one value by now.
    step(f, "signs");
    // After the last motion: what a path proves holds on that path.
    if step(f, "paths") {
        step(f, "types");
        step(f, "simplify");
    }
    // `unbox` drops the boxes that it leaves behind.
    step(f, "lifetimes");
    // More items are raw by now, and what the frame's end would have to drop is less.
    if step(f, "virtuals") {
        step(f, "types");
        step(f, "simplify");
        step(f, "unbox");
        step(f, "simplify");
    }
    // A reference less to drop is a check of validity less, and that stands between other pairs of references.
    let settle = |f: &mut Function, step: &mut dyn FnMut(&mut Function, &'static str) -> bool| {
        let mut changed = false;
        for _ in 0..MOST_ROUNDS {
            changed |= step(f, "refcounts");
            if !step(f, "checks") {
                break;
            }
            changed = true;
        }
        changed
    };
    settle(f, &mut step);
    if step(f, "slices") {
        settle(f, &mut step);
    }
    // What ends facts about memory is mostly references that are dropped, of which there are as few as there will be; but
    // each fact may show that another one is dropped quietly.
    if step(f, "ends") {
        settle(f, &mut step);
    }
    for _ in 0..MOST_ROUNDS {
        if !step(f, "memory") || cx.check_facts {
            break;
        }
        let mut is_news = step(f, "types");
        is_news |= step(f, "simplify");
        is_news |= step(f, "lifetimes");
        is_news |= settle(f, &mut step);
        is_news |= step(f, "ends");
        if !is_news {
            break;
        }
    }
    step(f, "bounds");
    if step(f, "sequences") {
        step(f, "checks");
    }
    if step(f, "ranges") {
        // No iterator is made any more between a range that is taken and dropped again.
        step(f, "refcounts");
    }
    // What loops read is what it will be.
    step(f, "preload");
    // Nothing is known of what numbers are in memory any more.
    step(f, "reuse");
    step(f, "dce");
    step(f, "tracebacks");
    !has_ended
}
