//! Cladonia inside CPython 3.13.

pub mod abi;
pub mod decode;
pub mod feedback;
pub mod objects;
pub mod owned;
