//! What lowering finds wrong with a function, or with itself: each is a fault of the compiler's, and the function is refused.

use super::{Lower, Repr, Wanted};
use crate::hir::Value;
use crate::ll::Ty;
use std::fmt;

/// A fault, with its place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{function}`, line {line}, {place}: {what}")]
pub struct Fault {
    /// The function.
    pub function: String,
    /// The line of what is lowered.
    pub line: u32,
    /// What is lowered: an instruction, or the end of a block.
    pub place: String,
    /// What is wrong there.
    pub what: What,
}

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum What {
    /// The instruction may raise, as the op table says, and its lowering does not say where, nor that it can't.
    #[error("may raise, and is not marked with where")]
    NoMark,
    /// Its lowering says twice where it raises, or that it can't.
    #[error("is marked twice with where it raises")]
    SecondMark,
    /// Its lowering says where it raises, and the op table that it does not.
    #[error("is marked with where it raises, and its op does not")]
    IdleMark,
    /// An operand can't become what is wanted of it.
    #[error("wants {wanted:?} of {value}, which is {repr:?}: there is no such conversion")]
    NoConversion {
        /// The operand.
        value: Value,
        /// What it is.
        repr: Repr,
        /// What is wanted of it.
        wanted: Wanted,
    },
    /// The result is in another kind of register than the value's representation says.
    #[error("gives {given:?} where {repr:?} is due")]
    WrongResult {
        /// What the value should be.
        repr: Repr,
        /// What was made.
        given: Ty,
    },
}

/// All faults that were found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Fault::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Faults {}

impl Lower<'_> {
    /// Note a fault of what is lowered now. Lowering goes on, so that all are found.
    #[cold]
    pub(super) fn fault(&mut self, what: What) {
        let (pc, place) = match self.lowered {
            Some(v) => {
                let inst = self.f.inst(v);
                let name = inst.op.name();
                (inst.pc, format!("{v} = {name}"))
            }
            None => {
                let block = self.f.order[self.place];
                (self.f.blocks[block].end, format!("the end of {block}"))
            }
        };
        self.faults.push(Fault {
            function: self.f.code.name.clone(),
            line: self.f.code.instr(pc).line,
            place,
            what,
        });
    }
}
