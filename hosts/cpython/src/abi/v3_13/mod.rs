//! CPython 3.13: all that is peculiar to it.
//!
//! The numbers are those of 64-bit little-endian builds with the GIL and without `Py_DEBUG`. They
//! are the same in all patch versions, unless a comment here says otherwise.

#[path = "../shared/audit.rs"]
pub mod audit;
pub mod calls;
#[path = "../shared/changed.rs"]
pub mod changed;
#[path = "../shared/code_units.rs"]
pub mod code_units;
#[path = "../shared/counts.rs"]
pub mod counts;
#[path = "../shared/declared.rs"]
mod declared;
pub mod dict_versions;
#[path = "../shared/eval_breaker.rs"]
pub mod eval_breaker;
pub mod exports;
#[path = "../shared/feedback.rs"]
pub mod feedback;
mod forms;
pub mod frames;
#[path = "../shared/free_floats.rs"]
pub mod free_floats;
#[path = "../shared/generators.rs"]
pub mod generators;
#[path = "../shared/instructions.rs"]
pub mod instructions;
pub mod layouts;
#[path = "../shared/monitoring.rs"]
pub mod monitoring;
mod opcodes;
pub mod recursion;
#[path = "../shared/savings.rs"]
mod savings;
#[cfg(test)]
#[path = "../shared/tests.rs"]
mod shared_tests;
pub mod slots;
#[path = "../shared/tables.rs"]
pub mod tables;
#[cfg(test)]
mod tests;
pub mod tier2;

pub use declared::declare;

/// The name of the host.
pub const NAME: &str = "CPython 3.13";

/// The minor version of CPython 3 that this module describes.
pub const MINOR: u32 = 13;

/// The newest patch version with which all tests were run. A later one is used if the self-test
/// passes.
pub const NEWEST_TESTED: u32 = 15;

/// True if tracking or untracking an object does more than to link it: the collector may count, for
/// example.
pub const COLLECTOR_COUNTS: bool = false;

/// The offset in a function of the object that computes its annotations, if it has one.
pub const ANNOTATE: Option<i32> = None;
