//! The use that a waiting frame makes of a called function's result.
//!
//! For example, if `a + b` calls `A.__add__`, which was inlined, and an exit is taken in it, the
//! frame of `a + b` waits with [`Awaited::Operator`].

use super::Op;
use std::fmt;

/// The use of a frame's result in the frame before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// The result is pushed onto the stack, which is without the operands that the call consumes.
    Result,
    /// The frame is the `__init__` of an object that is already on the stack. Its result, which
    /// must be None, is dropped.
    Constructed,
    /// The frame is a special method, such as `__add__`, that an operator's instruction in the
    /// frame before it called. That instruction's operands are on the stack, and it continues with
    /// the method's result.
    Operator(Operation),
    /// The frame is a generator's that a builtin consumes (`any(x > 3 for x in xs)`), whose call is
    /// the instruction, with all its operands on the stack. An item is put back in front of the
    /// generator, and the instruction is executed again.
    Item,
}

/// An operator's instruction that has called a special method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The instruction's op.
    pub op: Op,
    /// Its argument.
    pub arg: u32,
    /// True for a method of the right operand, such as `__radd__`.
    pub swapped: bool,
    /// Its second argument. For example, a comparison with it gives the truth of the result.
    pub flag: bool,
}

impl Operation {
    /// The ops whose instructions may wait for a special method.
    pub const OPS: [Op; 10] = [
        Op::BinaryOp,
        Op::CompareOp,
        Op::BinarySubscr,
        Op::StoreSubscr,
        Op::StoreAttr,
        Op::LoadAttr,
        Op::LoadSuperAttr,
        Op::ForIter,
        Op::UnaryNegative,
        Op::UnaryInvert,
    ];

    /// The number of operands that the instruction has on the stack, and drops. (A loop's
    /// instruction keeps the iterator for its next item.)
    pub fn operands(self) -> usize {
        (self.op.info().pops)(self.arg, self.flag.into()) as usize
    }

    /// Returns true if the method may return NotImplemented, so that another one is called.
    pub fn may_decline(self) -> bool {
        matches!(self.op, Op::BinaryOp | Op::CompareOp)
    }

    /// Returns true if the instruction gives the truth of the method's result.
    pub fn gives_truth(self) -> bool {
        self.flag && self.op == Op::CompareOp
    }

    /// Returns true if the instruction leaves a result on the stack.
    pub fn gives(self) -> bool {
        (self.op.info().pushes)(self.arg, self.flag.into()) != 0
    }
}

impl Awaited {
    /// Returns true if a frame can wait for it at an instruction.
    pub(crate) fn fits(self, op: Op, arg: u32) -> bool {
        match self {
            Awaited::Result => {
                matches!(
                    op,
                    Op::Call | Op::CallKw | Op::CallFunctionEx | Op::LoadAttr | Op::BeforeWith
                )
            }
            Awaited::Constructed => matches!(op, Op::Call | Op::CallKw),
            Awaited::Item => op == Op::Call,
            Awaited::Operator(it) => (it.op, it.arg) == (op, arg) && Operation::OPS.contains(&op),
        }
    }

    /// Reads the text that [`fmt::Display`] writes. `eat` consumes a word if it is next; `number`
    /// reads a number.
    pub(crate) fn read<R, E>(
        reader: &mut R,
        eat: impl Fn(&mut R, &str) -> bool,
        number: impl Fn(&mut R) -> Result<u32, E>,
    ) -> Result<Awaited, E> {
        if eat(reader, "constructs") {
            return Ok(Awaited::Constructed);
        }
        if eat(reader, "consumes") {
            return Ok(Awaited::Item);
        }
        let Some(op) = Operation::OPS.iter().find(|op| eat(reader, op.info().name)) else {
            return Ok(Awaited::Result);
        };
        Ok(Awaited::Operator(Operation {
            op: *op,
            arg: number(reader)?,
            swapped: eat(reader, "swapped"),
            flag: eat(reader, "flag"),
        }))
    }
}

/// Followed by a space, unless it is empty: `constructs `, `compare_op 2 swapped flag `.
impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Awaited::Result => Ok(()),
            Awaited::Constructed => write!(f, "constructs "),
            Awaited::Item => write!(f, "consumes "),
            Awaited::Operator(it) => {
                write!(f, "{} {} ", it.op.info().name, it.arg)?;
                f.write_str(if it.swapped { "swapped " } else { "" })?;
                f.write_str(if it.flag { "flag " } else { "" })
            }
        }
    }
}
