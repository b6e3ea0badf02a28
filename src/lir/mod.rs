//! LIR: low-level ops over low-level types, the only input of code generation.
//!
//! # Terms
//! A **function** is a list of blocks with parameters. A **value** has one [`Ty`](crate::ll::Ty)
//! and one definition that dominates its uses. An **intrinsic** is a function that the host wrote,
//! which the inliner copies into compiled code. An **exit** leaves the function by a record of
//! `exits`.
//!
//! # Invariants
//! - Every block in `order` has a terminator; the entry has the signature's parameters and no
//!   predecessors.
//! - `Fail` occurs only in intrinsics, `Exit` only in units.
//! - LIR knows no object model: reference counts, tags and layouts are loads, stores and helper
//!   calls.

mod announce;
mod borders;
mod cells;
mod cfg;
mod counts;
#[cfg(test)]
mod docs;
mod entered;
mod graph;
mod inline;
#[cfg(not(feature = "internals"))]
pub(crate) mod interp;
#[cfg(feature = "internals")]
pub mod interp;
mod lex;
mod liveness;
mod loops;
mod ops;
mod parse;
mod pending;
#[cfg(test)]
pub(crate) mod random;
mod rotate;
mod sink;
mod text;
mod tidy;
mod verify;

pub use announce::Announcement;
pub use graph::{
    Block, BlockCall, BlockData, Builder, Func, Helper, HelperId, Imm, Inst, Refs, Results,
    RoutineId, RoutineRef, SigId, Signature, Term, Value,
};
pub use inline::End;
pub use ops::{Condition, FloatCond, ImmKind, IntCond, OpEffects, OpInfo, Opcode};
pub use parse::{ParseError, parse, parse_all};
pub use text::print;
pub use verify::{Fault, Mode, Place, VerifierErrors, verify};

#[cfg(not(feature = "internals"))]
pub(crate) use self::{
    cfg::{Cfg, NaturalLoop},
    loops::tend_loops,
    tidy::tidy,
};
#[cfg(feature = "internals")]
pub use self::{
    cfg::{Cfg, NaturalLoop},
    loops::tend_loops,
    tidy::tidy,
};
