//! Types of values: the sets of values the compiler can speak of.
//!
//! A [`Type`] is sixteen bytes: leaves of the predefined hierarchy, a lifetime, and at most one specialization.

mod dot;
mod exercise;
mod handles;
mod hierarchy;
mod join;
mod laws;
mod model;
mod ops;
mod parse;
mod repr;
mod spec;
mod table;
mod text;

pub use dot::dot;
pub use exercise::{Operations, World, exercise};
pub use handles::{
    ClassDesc, ClassHandle, ClassPin, HandleError, HostId, ObjectDesc, ObjectHandle, ObjectPin,
};
pub use hierarchy::{Hierarchy, HierarchyError, HierarchyFault};
pub use laws::{Claim, Exception, LawReport, LawResult, check_laws, universe};
pub use model::{Model, Values};
pub use parse::{Answer, Names, ParseError, evaluate};
pub use repr::{Spec, Type};
pub use spec::LiteralError;
pub use table::Predefined;
pub use text::predefined_names;

#[cfg(test)]
mod tests;
