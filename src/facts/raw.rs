//! Raw entries: calls of closed units, whose arguments and result are in registers.
//!
//! A **closed unit** runs no user code and none of the embedder's, so no code can look at its
//! frame, and it needs none. It is called as
//! `(thread, function, raw arguments...) -> (status, raw result)`. If it must deoptimise, it
//! records the contents of its frame and returns the status *exiting*. Each native caller then
//! records its own state, until one that has a frame lets the host build the missing frames,
//! outermost first, and run them to their ends, innermost first. For example, if `f` calls the
//! closed unit of `g` and `g` overflows, `g` records its frame and returns *exiting*, and `f`,
//! which has a frame, lets the host run the rest of `g` in the interpreter.

use crate::types::Type;

/// The form of a value in a register.
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
    /// The kind for objects of type `ty`, if they are all of one such class.
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

/// The parameters and the result of a closed unit.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RawSignature {
    /// Its parameters.
    pub params: Vec<RawKind>,
    /// Its result.
    pub result: RawKind,
}

/// The raw entry of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RawEntry {
    /// The address of a cell that holds the address of the raw entry, or of code that returns the
    /// status *not entered*.
    pub cell: u64,
    /// The address of the cell that holds the function's entry for objects.
    pub boxed_cell: u64,
    /// The parameters and the result.
    pub signature: RawSignature,
}
