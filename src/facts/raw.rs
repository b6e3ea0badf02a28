//! Raw entries: calls of closed units, whose arguments and result travel in registers.
//!
//! A **closed unit** runs no code of the program or the host's users, so nobody can look while it runs and it has no
//! frame. It is called as `(thread, function, raw arguments...) -> (status, raw result)`. Where it must leave, it
//! records what its frame would hold and returns the status *exiting*; each native caller records its own state in turn, until
//! one that has a frame lets the host build the missing ones, outermost first, and run them to their ends, innermost
//! first.

use crate::types::Type;

/// How a value travels in a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RawKind {
    /// An int as a 64-bit integer.
    Int,
    /// A float as a double.
    Float,
    /// A bool as a truth value.
    Bool,
}

impl RawKind {
    /// The kind in which objects of type `ty` travel, if they are of one such class.
    pub fn of(ty: Type) -> Option<RawKind> {
        [RawKind::Bool, RawKind::Int, RawKind::Float]
            .into_iter()
            .find(|kind| !ty.is_bottom() && ty <= kind.boxed())
    }

    /// The type of the objects.
    pub fn boxed(self) -> Type {
        match self {
            RawKind::Int => Type::LONG_EXACT,
            RawKind::Float => Type::FLOAT_EXACT,
            RawKind::Bool => Type::BOOL,
        }
    }

    /// The type of the raw values.
    pub fn raw(self) -> Type {
        match self {
            RawKind::Int => Type::CINT64,
            RawKind::Float => Type::CDOUBLE,
            RawKind::Bool => Type::CBOOL,
        }
    }
}

/// What a closed unit takes and gives.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RawSignature {
    /// Its parameters.
    pub params: Vec<RawKind>,
    /// Its result.
    pub result: RawKind,
}

/// Where a function can be called raw.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RawEntry {
    /// Address of the cell with the address of the raw entry, or of code that gives
    /// the status *not entered*.
    pub cell: u64,
    /// Address of the cell with the function's entry for objects.
    pub boxed_cell: u64,
    /// What it takes and gives.
    pub signature: RawSignature,
}
