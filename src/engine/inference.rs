//! Types of a whole program without compiling it: the annotation engine as a library.
//!
//! [`Program`] collects functions and the values of globals, [`analyse`] finds the types of all
//! locals to a fixpoint.

pub use crate::infer::{Analysis, FuncId, Options, Program, Start, analyse};
