//! The LIR interpreter: the semantics of a function, implemented a second time, independently of
//! code generation.
//!
//! It walks a [`Func`] block by block. Everything outside the function belongs to its [`Machine`]:
//! memory, calls, the stack pointer, and exits. So the same walk serves as the oracle in place of
//! machine code (raw memory, the host's helpers by their addresses: [`Native`]) and as a checker of
//! low-level code (checked memory, helpers in Rust: [`Simulated`]).
//!
//! # Rules
//! - A value is the bits of its register. A `bool` is 0 or 1.
//! - Arguments of a jump are read before any parameter is written.
//! - An operand that violates its op's condition in the op table (`sdiv` by zero, a shift by 64) is
//!   undefined in machine code; here it is a [`Trap`].
//! - An exit's values are one word each, in the record's order.

mod call;
mod eval;
mod native;
mod simulated;

pub use call::{CallError, call_address, check_signature};
pub use native::Native;
pub use simulated::{Failure, HelperBody, Simulated, interpret, interpret_raises};

use super::graph::{Block, BlockCall, Func, Helper, HelperId, Imm, Inst, Signature, Term, Value};
use super::ops::Opcode;
use crate::exits::ExitId;
use crate::ll::{Memory, MemoryError, Shape};
use cranelift_entity::{EntityRef, PrimaryMap};

/// The reason why the interpreter can't continue. Machine code would have an undefined result here,
/// or crash.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Trap {
    /// A faulty access to memory.
    #[error("{0}")]
    Memory(#[from] MemoryError),
    /// A call that can't be made.
    #[error("{0}")]
    Call(#[from] CallError),
    /// Division by zero, or of the smallest integer by -1.
    #[error("`{op}` of {dividend} by {divisor}")]
    Division {
        /// The op's name.
        op: &'static str,
        /// The dividend.
        dividend: i64,
        /// The divisor.
        divisor: i64,
    },
    /// A shift by 64 or more.
    #[error("`{op}` by {count}")]
    Shift {
        /// The op's name.
        op: &'static str,
        /// The count.
        count: u64,
    },
    /// Control reached `unreachable`.
    #[error("control reached the end of {block}, which is marked as unreachable")]
    Unreachable {
        /// The block.
        block: Block,
    },
    /// More blocks were executed than the machine allows.
    #[error("more than {limit} blocks were executed")]
    TooLong {
        /// The limit.
        limit: u64,
    },
    /// A helper of a simulated machine was used in a way that it does not support.
    #[error("{0}")]
    Helper(String),
    /// The function is not well formed; the verifier says more.
    #[error("malformed LIR: {0}")]
    Malformed(&'static str),
}

/// A trap, with its place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{func}`, {block}, {place}: {trap}")]
pub struct Fault {
    /// The function.
    pub func: String,
    /// The block.
    pub block: Block,
    /// The instruction's text, or `end`.
    pub place: String,
    /// The trap.
    pub trap: Trap,
}

/// The end of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It returned these values.
    Return(Vec<u64>),
    /// An intrinsic does not apply.
    Fail,
    /// It took an exit, with these words.
    Exit {
        /// The record's number.
        exit: ExitId,
        /// The values of the record.
        words: Vec<u64>,
    },
}

/// The callee of a call.
#[derive(Clone, Copy, Debug)]
pub enum Callee<'a> {
    /// A helper of the host.
    Helper(&'a Helper),
    /// An address.
    Address(u64),
}

/// The environment of an interpreted function.
pub trait Machine: Memory {
    /// Makes a call. Returns as many words as the signature has results.
    ///
    /// # Errors
    /// If this machine can't make it.
    fn call(&mut self, callee: Callee<'_>, sig: &Signature, args: &[u64])
    -> Result<[u64; 2], Trap>;

    /// The stack pointer, or a substitute.
    fn stack_pointer(&self) -> u64;

    /// Takes an exit. The function's stack slots still exist.
    ///
    /// # Errors
    /// If the machine can't take it.
    fn exit(&mut self, exit: ExitId, words: Vec<u64>) -> Result<Outcome, Trap> {
        Ok(Outcome::Exit { exit, words })
    }

    /// Called at the start of a block, to limit an execution.
    ///
    /// # Errors
    /// [`Trap::TooLong`].
    #[inline]
    fn step(&mut self) -> Result<(), Trap> {
        Ok(())
    }
}

/// Executes a function that the verifier accepts, with one word for each parameter.
///
/// # Errors
/// The [`Fault`] that ended the execution: an operation that is undefined in machine code.
pub fn execute<M: Machine>(
    func: &Func,
    helpers: &PrimaryMap<HelperId, Helper>,
    args: &[u64],
    machine: &mut M,
) -> Result<Outcome, Box<Fault>> {
    let mut activation = Activation {
        func,
        helpers,
        values: vec![0; func.values.len()],
        slots: Vec::with_capacity(func.slots.len()),
        moved: Vec::new(),
        block: func.entry(),
        inst: None,
    };
    let result = activation.run(args, machine);
    for &slot in &activation.slots {
        // A checked memory reports an error only if the function itself has released the slot,
        // which has trapped.
        let _ = machine.release(slot);
    }
    result.map_err(|trap| Box::new(activation.fault(trap)))
}

struct Activation<'a> {
    func: &'a Func,
    helpers: &'a PrimaryMap<HelperId, Helper>,
    /// The bits of each value that has been defined.
    values: Vec<u64>,
    /// Addresses of the stack slots.
    slots: Vec<u64>,
    /// Arguments that are about to become parameters.
    moved: Vec<u64>,
    block: Block,
    /// The current instruction; none at the block's end.
    inst: Option<usize>,
}

impl<'a> Activation<'a> {
    fn get(&self, value: Value) -> u64 {
        self.values[value.index()]
    }

    fn set(&mut self, value: Value, bits: u64) {
        self.values[value.index()] = bits;
    }

    fn read(&self, values: &[Value]) -> Vec<u64> {
        values.iter().map(|&v| self.get(v)).collect()
    }

    fn fault(&self, trap: Trap) -> Fault {
        let place = match self.inst {
            Some(index) => super::text::instruction(self.func, self.helpers, self.block, index),
            None => "end".to_owned(),
        };
        Fault {
            func: self.func.name.clone(),
            block: self.block,
            place,
            trap,
        }
    }

    fn run<M: Machine>(&mut self, args: &[u64], machine: &mut M) -> Result<Outcome, Trap> {
        let func = self.func;
        if args.len() != func.params().len() {
            return Err(Trap::Malformed("an argument too many or too few"));
        }
        for (&param, &arg) in func.params().iter().zip(args) {
            self.set(param, arg);
        }
        for (number, &bytes) in func.slots.iter().enumerate() {
            let name = format!("slot{number} of {}", func.name);
            self.slots
                .push(machine.allocate(&name, &Shape::untyped(bytes), 0)?);
        }
        loop {
            machine.step()?;
            let data = &func.blocks[self.block];
            for (index, inst) in data.insts.iter().enumerate() {
                self.inst = Some(index);
                self.inst(inst, machine)?;
            }
            self.inst = None;
            let term = data
                .term
                .as_ref()
                .ok_or(Trap::Malformed("a block without end"))?;
            match term {
                Term::Jump(call) => self.jump(call),
                Term::Br {
                    cond, then, els, ..
                } => {
                    let taken = if self.get(*cond) & 1 != 0 { then } else { els };
                    self.jump(taken);
                }
                Term::Return(values) => return Ok(Outcome::Return(self.read(values))),
                Term::Fail => return Ok(Outcome::Fail),
                Term::Exit { exit, args } => {
                    let words = self.read(args);
                    return machine.exit(*exit, words);
                }
                Term::Unreachable => return Err(Trap::Unreachable { block: self.block }),
            }
        }
    }

    fn jump(&mut self, call: &BlockCall) {
        let mut moved = std::mem::take(&mut self.moved);
        moved.clear();
        moved.extend(call.args.iter().map(|&v| self.get(v)));
        for (&param, &bits) in self.func.blocks[call.block].params.iter().zip(&moved) {
            self.set(param, bits);
        }
        self.moved = moved;
        self.block = call.block;
    }

    fn inst<M: Machine>(&mut self, inst: &Inst, machine: &mut M) -> Result<(), Trap> {
        let arg = |n: usize| self.get(inst.args[n]);
        let bits = match (inst.op, inst.imm) {
            (Opcode::Load, Imm::Mem { width, offset }) => {
                machine.load(width, arg(0).wrapping_add_signed(i64::from(offset)))?
            }
            (Opcode::Store, Imm::Mem { width, offset }) => {
                let address = arg(0).wrapping_add_signed(i64::from(offset));
                return Ok(machine.store(width, address, arg(1))?);
            }
            (Opcode::Call, Imm::Helper(id)) => {
                let helper = &self.helpers[id];
                let args = self.read(&inst.args);
                let results = machine.call(Callee::Helper(helper), &helper.signature, &args)?;
                self.set_all(inst, results);
                return Ok(());
            }
            (Opcode::CallRoutine, Imm::Routine(id)) => {
                let routine = &self.func.routines[id];
                let args = self.read(&inst.args);
                let callee = Callee::Address(routine.address);
                let results = machine.call(callee, &routine.signature, &args)?;
                self.set_all(inst, results);
                return Ok(());
            }
            (Opcode::CallIndirect, Imm::Sig(id)) => {
                let args = self.read(&inst.args);
                let callee = Callee::Address(args[0]);
                let results = machine.call(callee, &self.func.sigs[id], &args[1..])?;
                self.set_all(inst, results);
                return Ok(());
            }
            (Opcode::Sp, _) => machine.stack_pointer(),
            (Opcode::StackAddr, Imm::Int(number)) => *usize::try_from(number)
                .ok()
                .and_then(|n| self.slots.get(n))
                .ok_or(Trap::Malformed("there is no such stack slot"))?,
            _ => {
                let mut args = [0; 3];
                for (word, &value) in args.iter_mut().zip(&inst.args) {
                    *word = self.get(value);
                }
                let (first, second) = eval::evaluate(inst.op, inst.imm, args)?;
                self.set_all(inst, [first, second]);
                return Ok(());
            }
        };
        self.set(inst.results[0], bits);
        Ok(())
    }

    fn set_all(&mut self, inst: &Inst, bits: [u64; 2]) {
        for (&value, bits) in inst.results.iter().zip(bits) {
            // C's truth values are one byte.
            let is_bool = self.func.values[value] == crate::ll::Ty::Bool;
            self.set(value, if is_bool { bits & 1 } else { bits });
        }
    }
}

#[cfg(test)]
mod checked_tests;
#[cfg(test)]
mod tests;
