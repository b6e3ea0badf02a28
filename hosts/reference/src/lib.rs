//! The reference host: a small complete runtime on Cladonia's public interface, which runs typed
//! bytecode in its interpreter and natively. Tests, the fuzzer and the `cladonia` tool are built on
//! it; it is also an example for embedders.

#![deny(missing_docs)]

pub mod check;
pub mod check_facts;
pub mod coverage;
pub mod diff;
pub mod filetest;
pub mod generate;
pub mod infer;
pub mod isolate;
pub mod plan;
pub mod reduce;
pub mod runtime;
pub mod stages;
pub mod text;
