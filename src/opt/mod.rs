//! Rewriting of HIR: one pass a file. A pass takes a function and returns whether it changed it;
//! the table and the order of the passes are in `passes`.
//!
//! # Invariants
//! A pass keeps the canonical form of [`crate::hir`]; a check is dropped only for a fact that is
//! proved, guarded by a dominating check, or assumed with a watch.

mod bounds;
mod checks;
pub mod closed;
mod cut;
mod dce;
mod ends;
mod exceptions;
mod headers;
mod heap;
mod held;
mod inline;
mod lifetimes;
mod memory;
mod merge;
mod number;
mod passes;
mod paths;
mod plant;
mod preload;
mod ranges;
mod refcounts;
mod reuse;
mod sequences;
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
use crate::host::{Lifetimes, World};
pub use passes::{NotOptional, Pass, PassInfo, Progress, Property, Step, optional, run, run_pass};
#[cfg(feature = "plant")]
pub use plant::plant;
use std::cell::RefCell;
use std::collections::HashSet;
use std::time::Duration;

/// The world and the options of a compile.
pub struct Context<'a> {
    /// The world, which answers questions about the host and the program.
    pub world: &'a dyn World,
    /// Speculations that have failed, which are not made again.
    pub avoid: &'a HashSet<(Pc, Reason)>,
    /// The host's way to recognise unused objects: by reference counts, or by a collector.
    pub lifetimes: Lifetimes,
    /// True if calls may be replaced by their callee's code, where the world provides it.
    pub inlines: bool,
    /// True if compiled code may keep the address of a list's items.
    pub item_arrays: bool,
    /// True if compiled code may read strings.
    pub strings: bool,
    /// True if numbers that are about to be deallocated may get another value.
    pub reuses: bool,
    /// True if the host watches for code that finds objects which it was not given, such as
    /// `gc.get_objects()`.
    pub objects_are_private: bool,
    /// True if facts about memory become checks that end the process where they are false. If
    /// false, passes rely on the facts unchecked.
    pub check_facts: bool,
    /// Passes that [`run`] leaves out.
    pub without: &'a [Pass],
    /// The cost of the passes.
    pub log: RefCell<Log>,
}

/// The cost of the passes over a function.
#[derive(Clone, Default, Debug)]
pub struct Log {
    /// The time of each pass; of one that ran several times, the sum.
    pub passes: Vec<(Pass, Duration)>,
    /// The graphs and questions of `paths`.
    pub paths: Vec<crate::infer::paths::Cost>,
}

impl Log {
    fn add(&mut self, pass: Pass, took: Duration) {
        match self.passes.iter_mut().find(|known| known.0 == pass) {
            Some(known) => known.1 += took,
            None => self.passes.push((pass, took)),
        }
    }

    /// Adds the cost of other passes.
    pub fn include(&mut self, other: Log) {
        for (pass, took) in other.passes {
            self.add(pass, took);
        }
        self.paths.extend(other.paths);
    }
}
