//! What a frame waits for while a function that it has called runs.

use super::Op;
use std::fmt;

/// What becomes of a frame's result in the frame before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// It goes onto the stack, which is without what the call consumes.
    Result,
    /// The frame is the `__init__` of an object that is on the stack already: what it returns, which must be None, is dropped.
    Constructed,
    /// The frame is the method of an operator, in the midst of which the frame before it is: its operands are on the stack. The
    /// operator goes on from there.
    Operator(Operation),
}

/// An operator's instruction that has asked a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The instruction's op.
    pub op: Op,
    /// Its argument.
    pub arg: u32,
    /// Whether the method is the right operand's.
    pub swapped: bool,
    /// Whether the instruction gives the truth of the result.
    pub truth: bool,
}

impl Operation {
    /// The ops whose instructions may wait for a method.
    pub const OPS: [Op; 6] = [
        Op::BinaryOp,
        Op::CompareOp,
        Op::BinarySubscr,
        Op::StoreSubscr,
        Op::UnaryNegative,
        Op::UnaryInvert,
    ];

    /// How many operands the instruction has on the stack, which it drops.
    pub fn operands(self) -> usize {
        (self.op.info().pops)(self.arg, 0) as usize
    }

    /// Whether the method may decline, so that others are asked.
    pub fn may_decline(self) -> bool {
        matches!(self.op, Op::BinaryOp | Op::CompareOp)
    }

    /// Whether the instruction leaves a result on the stack.
    pub fn gives(self) -> bool {
        (self.op.info().pushes)(self.arg, 0) != 0
    }
}

impl Awaited {
    /// Whether a frame can wait for it at an instruction.
    pub(crate) fn fits(self, op: Op, arg: u32) -> bool {
        match self {
            Awaited::Result => matches!(op, Op::Call | Op::CallKw | Op::LoadAttr),
            Awaited::Constructed => matches!(op, Op::Call | Op::CallKw),
            Awaited::Operator(it) => (it.op, it.arg) == (op, arg) && Operation::OPS.contains(&op),
        }
    }

    /// Read what [`fmt::Display`] writes: `eat` is told of a word that may be there, `number` gives the number that is.
    pub(crate) fn read<R, E>(
        reader: &mut R,
        eat: impl Fn(&mut R, &str) -> bool,
        number: impl Fn(&mut R) -> Result<u32, E>,
    ) -> Result<Awaited, E> {
        if eat(reader, "constructs") {
            return Ok(Awaited::Constructed);
        }
        let Some(op) = Operation::OPS.iter().find(|op| eat(reader, op.info().name)) else {
            return Ok(Awaited::Result);
        };
        Ok(Awaited::Operator(Operation {
            op: *op,
            arg: number(reader)?,
            swapped: eat(reader, "swapped"),
            truth: eat(reader, "truth"),
        }))
    }
}

/// With a space after it, where there is anything to say: `constructs `, `compare_op 2 swapped truth `.
impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Awaited::Result => Ok(()),
            Awaited::Constructed => write!(f, "constructs "),
            Awaited::Operator(it) => {
                write!(f, "{} {} ", it.op.info().name, it.arg)?;
                f.write_str(if it.swapped { "swapped " } else { "" })?;
                f.write_str(if it.truth { "truth " } else { "" })
            }
        }
    }
}
