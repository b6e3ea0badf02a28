//! CPython 3.13: all that is peculiar to it.
//!
//! The numbers are those of 64-bit little-endian builds with the GIL and without `Py_DEBUG`. They are the same in all patch
//! versions, unless something here says otherwise.

pub mod audit;
pub mod calls;
pub mod code_units;
pub mod counts;
mod declared;
pub mod dict_versions;
pub mod eval_breaker;
pub mod exports;
pub mod feedback;
pub mod frames;
pub mod free_floats;
pub mod generators;
pub mod instructions;
pub mod layouts;
pub mod monitoring;
mod opcodes;
pub mod recursion;
mod savings;
pub mod slots;
pub mod tables;
#[cfg(test)]
mod tests;
pub mod tier2;

pub use declared::declare;

/// What the host is called.
pub const NAME: &str = "CPython 3.13";

/// The minor version of CPython 3 that this module describes.
pub const MINOR: u32 = 13;

/// The newest patch version with which all tests were run. A later one is used if the self-test passes.
pub const NEWEST_TESTED: u32 = 15;

/// Whether the collector does more when it learns of an object, or is to forget one, than to link it: it may count, for example.
pub const COLLECTOR_COUNTS: bool = false;

/// Where a function has what computes its annotations, if it has that.
pub const ANNOTATE: Option<i32> = None;
