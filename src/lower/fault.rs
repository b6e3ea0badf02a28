//! Faults that lowering finds in a function, or in itself. Each is a bug of the compiler, and the
//! function is refused.

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
    /// The source line.
    pub line: u32,
    /// The lowered instruction, or the end of a block.
    pub place: String,
    /// The fault.
    pub what: What,
}

/// A kind of fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum What {
    /// The op table says that the instruction may raise, but its lowering neither marks the place
    /// nor says that it can't.
    #[error("may raise, but does not mark where")]
    NoMark,
    /// Its lowering marks two places.
    #[error("marks twice where it raises")]
    SecondMark,
    /// Its lowering marks a place, but the op table says that it does not raise.
    #[error("marks where it raises, but its op does not raise")]
    IdleMark,
    /// An operand can't be converted to the wanted form.
    #[error("wants {wanted:?} from {value}, which is {repr:?}: there is no such conversion")]
    NoConversion {
        /// The operand.
        value: Value,
        /// Its representation.
        repr: Repr,
        /// The wanted form.
        wanted: Wanted,
    },
    /// The result is in another kind of register than the value's representation requires.
    #[error("has a result of type {given:?}, but {repr:?} is required")]
    WrongResult {
        /// The representation of the value.
        repr: Repr,
        /// The type of the result.
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
    /// Notes a fault of the current instruction. Lowering continues, so that all faults are found.
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
