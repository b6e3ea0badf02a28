//! HIR (being written)
mod general;
pub use general::{EXIT_HOOK, GeneralInfo, GeneralOp, Gives, HelperRow, MATH, helpers};
