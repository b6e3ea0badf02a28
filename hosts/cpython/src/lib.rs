//! Cladonia inside CPython 3.13.

pub mod abi;
pub mod capi;
pub mod decode;
pub mod feedback;
pub mod helpers;
pub mod intrinsics;
pub mod objects;
pub mod owned;
#[cfg(test)]
mod testing;
pub mod world;
