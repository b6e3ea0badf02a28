//! Cladonia inside CPython 3.13.

pub mod abi;
pub mod owned;
