//! CPython 3.15: all that is peculiar to it.
//!
//! The numbers are those of 64-bit little-endian builds with the GIL and without `Py_DEBUG`. They
//! are the same in all patch versions, unless a comment here says otherwise.

#[path = "../shared/audit.rs"]
pub mod audit;
#[path = "../tagged/calls.rs"]
pub mod calls;
pub mod changed;
#[path = "../shared/code_units.rs"]
pub mod code_units;
#[path = "../shared/counts.rs"]
pub mod counts;
#[path = "../shared/declared.rs"]
mod declared;
#[path = "../tagged/dict_versions.rs"]
pub mod dict_versions;
#[path = "../shared/eval_breaker.rs"]
pub mod eval_breaker;
#[path = "../tagged/exports.rs"]
pub mod exports;
#[path = "../shared/feedback.rs"]
pub mod feedback;
mod forms;
#[path = "../tagged/frames.rs"]
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
#[path = "../tagged/recursion.rs"]
pub mod recursion;
#[path = "../shared/savings.rs"]
mod savings;
#[cfg(test)]
#[path = "../shared/tests.rs"]
mod shared_tests;
#[path = "../tagged/slots.rs"]
pub mod slots;
#[path = "../shared/tables.rs"]
pub mod tables;
#[cfg(test)]
#[path = "../tagged/tests.rs"]
mod tagged_tests;
#[cfg(test)]
mod tests;
#[path = "../tagged/tier2.rs"]
pub mod tier2;

pub use declared::declare;

/// The name of the host.
pub const NAME: &str = "CPython 3.15";

/// The minor version of CPython 3 that this module describes.
pub const MINOR: u32 = 15;

/// The newest patch version with which all tests were run. A later one is used if the self-test
/// passes.
pub const NEWEST_TESTED: u32 = 0;

/// True if tracking or untracking an object does more than to link it: the collector may count, for
/// example.
pub const COLLECTOR_COUNTS: bool = true;

/// The offset in a function of the object that computes its annotations, if it has one.
pub const ANNOTATE: Option<i32> = Some(layouts::function::ANNOTATE);
