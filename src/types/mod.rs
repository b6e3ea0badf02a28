//! Types of values: the sets of values that the compiler can express.
//!
//! A [`Type`] is sixteen bytes and has the same meaning everywhere: an intersection of *leaves*
//! (the predefined types at the bottom of the hierarchy), a *lifetime* (mortal, immortal, either)
//! and at most one *specialization* (a class, exactly a class, an object, a primitive's value).
//! `docs/types.md` has the picture, the rules and the laws.
//!
//! # Guarantees to readers
//!
//! - **An answer contains every value that it should.** If the exact set can't be represented, the
//!   answer is wider, never narrower. So `!a.could_be(b)` and `a <= b` may drop a check; `a & b`
//!   may be wider than either.
//! - **One type, one representation.** Two types with the same values are `==`. `repr` ensures
//!   that: objects have a lifetime, other values have none; a class has only those leaves in which
//!   its instances can be; the one object of `NoneType` and classes that *are* predefined types
//!   need no specialization; an object known to be immortal is `Immortal`.
//! - **`|` for types in the program, [`join`](Type::join) for fixpoints.** `|` is neither
//!   associative nor monotone for sibling classes, by specification. The join is a semilattice of
//!   bounded height.
//! - **A type keeps nothing alive.** A compile that relies on a class or an object keeps a pin. A
//!   handle whose class is gone is equal to and below only itself, and every query about it has a
//!   harmless answer.
//! - **Nothing here panics on input**, and nothing here calls a host: subtyping depends on
//!   resolution orders alone.
//!
//! # The files
//!
//! `table` is the one table of predefined types. `repr` lays out the bytes, `ops` and `join`
//! operate on them, `spec` converts between host entities and types and answers queries. `handles`
//! is the process-wide table of classes and objects. `text` prints, `parse` reads types and
//! expressions, `hierarchy` reads classes written as text. `model` defines the meaning of types by
//! enumerating values, `laws` checks the operations against it over a `universe`, `exercise` does
//! so on arbitrary bytes, `dot` draws.
//!
//! Deliberately absent: any other module, any host, references into a host, and unions in which a
//! specialization applies to some leaves only.

// Tests of laws use expressions such as `a <= a`, and `!(a <= b)`, which is not `a > b`.
#![allow(
    clippy::eq_op,
    clippy::nonminimal_bool,
    clippy::double_comparisons,
    clippy::neg_cmp_op_on_partial_ord
)]

mod declare;
mod dot;
mod exercise;
mod handles;
mod hierarchy;
mod join;
mod laws;
mod model;
mod ops;
mod parse;
mod reader;
mod repr;
mod scope;
mod spec;
mod table;
mod text;
mod universe;
mod value;

pub(crate) use declare::Declarations;
pub use handles::{
    ClassDesc, ClassHandle, ClassPin, HandleError, HostId, ObjectDesc, ObjectHandle, ObjectPin,
};
pub use hierarchy::{Hierarchy, HierarchyError, HierarchyFault};
pub use parse::{Names, ParseError};
pub use reader::TextError;
pub(crate) use reader::{Line, Lines, Parsed};
pub use repr::{Spec, Type};
pub(crate) use scope::Scope;
pub use spec::LiteralError;
pub use table::Predefined;
pub use text::predefined_names;
pub use value::ConstValue;
pub(crate) use value::Quoted;

// The workbench of the lattice: its laws, checked against sets of values.
#[cfg(feature = "internals")]
pub use self::{
    dot::dot,
    exercise::{Operations, World, exercise},
    laws::{Claim, Exception, LawReport, LawResult, check_laws},
    model::{Model, Values},
    parse::{Answer, evaluate},
    universe::universe,
};
#[cfg(not(feature = "internals"))]
pub(crate) use self::{
    dot::dot,
    exercise::{Operations, World, exercise},
    laws::{Claim, Exception, LawReport, LawResult, check_laws},
    model::{Model, Values},
    parse::{Answer, evaluate},
    universe::universe,
};

#[cfg(test)]
mod tests;
