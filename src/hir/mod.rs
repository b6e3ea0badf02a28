//! HIR: the SSA form that analyses and rewriting work on.
//!
//! # Terms
//! A **value** is an instruction's result; a **block** has parameters where paths join; a **frame
//! state** has all that the interpreter needs to continue at a bytecode instruction. A **guard** is
//! an instruction that exits unless a speculation holds. **General** ops work on objects through
//! the host's helpers, **primitive** ops on C values; `box_*` and `unbox_*` join them. A box is
//! virtual: it is allocated only where an instruction needs the object. Only frame states, slots of
//! locals and other virtual tuples name a **virtual tuple**: only an exit materialises it.
//!
//! # Canonical form
//! - Every value has one definition that dominates its uses; every value has a
//!   [`crate::types::Type`] within that of its op's row, and the source of that fact.
//! - References are explicit: `incref` and `decref` count the references that the interpreter
//!   counts, at the same places. The slot of a local owns its object. On a value that has no object
//!   (a C value, or a virtual box) they do nothing. A virtual tuple is not counted: it owns its
//!   items from its definition to where they are dropped one by one, or to an exit.
//! - Every op that may exit, raise or run user code has a frame state.
//! - An op that may raise in the range of a handler ends its block with two successors. The
//!   exceptional one is a **landing block** of its own. It does the work of the interpreter between
//!   the raise and the handler (drops the entries of the operand stack above the handler's depth,
//!   adds to the traceback, takes the exception) and then jumps to the handler's block with the
//!   locals, the rest of the stack, the position if it is wanted, and the exception.
//!
//! # Deliberately absent
//! No layouts and no addresses of the host's structures: those are in the host's intrinsics. No
//! decision between boxed and raw: that follows in `lower`.

mod balance;
mod build;
mod expressions;
mod flow;
mod function;
mod immediates;
mod landing;
mod names;
mod ops;
mod params;
mod parse;
mod passed;
mod rows;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod translate;
mod typing;
mod validity;
mod verify;

/// Parts of HIR that bytecode defines.
pub use crate::bytecode::{
    BinaryOp, FunctionAttribute, GeneralOp, Gives, NO_INTRINSIC, Pc, Reason,
};
pub use balance::check_balance;
pub use build::{Collected, MAX_INSTRS, Shown, Start, Unsupported, build};
pub(crate) use build::{is_builtin_exact, is_of_moment};
pub(crate) use expressions::{Expressions, Operands};
pub(crate) use function::drops_quietly;
pub use function::{
    Block, BlockData, Edge, Entry, FrameState, Function, InlinedCode, InlinedState, Inst, Locals,
    Place, Predecessors, Proved, StateId, Term, Value,
};
pub use names::Plan as NamePlan;
pub use ops::{Cmp, Op};
pub use params::remove_trivial_params;
pub use parse::{parse, parse_section};
#[cfg(test)]
pub(crate) use parse::{parse_only, try_parse_only};
pub use passed::Passed;
pub use rows::{Again, Exit, Form, Memory, Operand, Reference, Rest, Row, Rule, Unused, UserCode};
pub use typing::{
    builtin as builtin_type, general as general_type, iterator_of, result as result_type,
};
pub use validity::Validity;
pub use verify::{VerifierErrors, verify};
