//! Typed bytecode: one stack-machine form for every host and version, with the types that the host
//! declared or observed.
//!
//! # Terms
//! A [`Code`] is one function or module body: instructions, constants, names, handlers. A
//! **position** is the host's own offset of an instruction, which exits and tracebacks need. A
//! **hint** lists types that were observed at an instruction or in a local. It is a suggestion for
//! speculation and never proves anything.
//!
//! # Invariants
//! - Jump targets are instruction indexes; stack depths agree where paths join (the verifier checks
//!   both).
//! - Constants and observed objects are handles of [`crate::types`]; nothing here can reach the
//!   host's memory.

mod awaited;
mod builder;
mod general;
mod nulls;
mod ops;
mod parse;
mod reason;
#[cfg(test)]
mod tests;
mod text;
mod verify;

pub use awaited::{Awaited, Operation};
pub use builder::{BuildError, CodeBuilder, Label};
pub use general::{COMPARISON, GeneralInfo, GeneralOp, Gives, NO_INTRINSIC};
pub use ops::{
    ArgKind, BinaryIntrinsic, BinaryOp, CompareOp, Conversion, FunctionAttribute, INPLACE, Op,
    OpInfo, SpecialMethod, UnaryIntrinsic,
};
pub(crate) use parse::parse_code;
pub use parse::{Document, Section};
pub use reason::Reason;
pub(crate) use text::Words;
pub use verify::{Successors, VerifierError, VerifierErrors};

pub use crate::types::{ConstValue, TextError};

use crate::types::{ObjectHandle, Type};
use std::fmt;

/// An instruction's index in its code, printed `@12`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Pc(pub u32);

impl fmt::Display for Pc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instr {
    /// The op.
    pub op: Op,
    /// Its argument.
    pub arg: u32,
    /// The second argument of the few ops that have one.
    pub arg2: u32,
    /// The host's offset of the instruction (CPython: in code units).
    pub pos: u32,
    /// The host offset at which its interpreter must start to execute the instruction again (before
    /// its argument prefixes).
    pub resume: u32,
    /// True if the host can resume here. False in the middle of a host instruction that was split
    /// into several.
    pub resumable: bool,
    /// Observed operand types from the deepest operand to the top, or the observed callee (for
    /// calls, perhaps with the only argument); may be empty. A single `Bottom` means that the host
    /// has never executed the instruction (see [`Instr::is_unreached`]).
    pub hint: Vec<Type>,
    /// For subscripts of a container with raw items: the host's word for their layout
    /// (`facts::World::raw_items`).
    pub items: Option<u64>,
    /// The source line, if known.
    pub line: u32,
}

/// The receivers or operands that an instruction observed where its speculated class was wrong.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Met {
    /// Their classes.
    pub seen: Vec<Type>,
    /// Classes that are likely because of those, such as their subclasses.
    pub related: Vec<Type>,
    /// For arithmetic and comparisons whose operands are floats and ints.
    pub numbers: Option<Numbers>,
}

/// The mix of floats and ints that an instruction has observed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbers {
    /// One of two is a float.
    Mixed,
    /// Two ints as well.
    Any,
}

impl Instr {
    /// The operands that the interpreter drops itself when the instruction raises, before it adds
    /// to the traceback: by their depth from the top, in the interpreter's order. The other
    /// operands stay on the stack, and the interpreter drops them from the top; operands that calls
    /// take over are not listed. `last_first` is [the code's](Code::last_first).
    pub fn dropped_on_error(&self, last_first: bool) -> &'static [u8] {
        match self.dropped_in_order() {
            depths if !last_first => depths,
            _ if matches!(self.op, Op::BinaryOp | Op::BinarySubscr) => &[],
            _ if self.op == Op::StoreSlice => &[1, 0, 2, 3],
            [1, 0] if self.op != Op::CallIntrinsic2 => &[0, 1],
            [2, 1, 0] => &[0, 1, 2],
            // The bounds of a slice go first in any case.
            depths => depths,
        }
    }

    /// Returns true if the interpreter drops the operands of this instruction from the top down
    /// when it does not raise.
    pub fn drops_last_first(&self, code: &Code) -> bool {
        match self.op {
            Op::BinaryOp | Op::BinarySubscr => code.operators_last_first,
            Op::CallIntrinsic2 => false,
            _ => code.last_first,
        }
    }

    fn dropped_in_order(&self) -> &'static [u8] {
        match self.op {
            Op::BinaryOp | Op::BinarySubscr | Op::CompareOp | Op::ContainsOp => &[1, 0],
            Op::DeleteSubscr | Op::StoreAttr | Op::ImportName | Op::FormatWithSpec => &[1, 0],
            Op::MapAdd | Op::CheckEgMatch | Op::CallIntrinsic2 => &[1, 0],
            Op::CheckExcMatch | Op::GetAwaitable | Op::GetAiter => &[0],
            Op::StoreSubscr | Op::LoadSuperAttr | Op::MatchClass => &[2, 1, 0],
            Op::BinarySlice => &[1, 0, 2],
            Op::StoreSlice => &[1, 0, 3, 2],
            Op::RaiseVarargs if self.arg == 1 => &[0],
            Op::RaiseVarargs if self.arg == 2 => &[1, 0],
            _ => &[],
        }
    }

    /// Returns true if the host says that it has never executed the instruction, so that its
    /// operands are unknown.
    pub fn is_unreached(&self) -> bool {
        matches!(self.hint[..], [ty] if ty.is_bottom())
    }
}

/// A range of instructions and its exception handler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Handler {
    /// First instruction covered.
    pub start: Pc,
    /// First instruction after.
    pub end: Pc,
    /// The handler.
    pub target: Pc,
    /// Stack depth to unwind to.
    pub depth: u32,
    /// True if the position of the raising instruction is pushed too.
    pub lasti: bool,
}

/// The kind of a local slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LocalKind {
    /// A plain local.
    Local,
    /// A local in a cell of its own.
    Cell,
    /// A cell of an enclosing function.
    Free,
}

/// A constant.
#[derive(Clone, PartialEq, Debug)]
pub struct Const {
    /// The object, exactly typed.
    pub object: ObjectHandle,
    /// Its value, if compiled code computes with values of its kind.
    pub value: ConstValue,
}

/// A function's or module's code.
#[derive(Clone, PartialEq, Debug)]
pub struct Code {
    /// Qualified name.
    pub name: String,
    /// File.
    pub file: String,
    /// First line.
    pub line: u32,
    /// Positional parameters (positional-only ones included); they are the first locals.
    pub argcount: u32,
    /// Keyword-only parameters.
    pub kwonly: u32,
    /// True if there is a `*args`.
    pub varargs: bool,
    /// True if there is a `**kwargs`.
    pub varkeywords: bool,
    /// True for a generator, coroutine or asynchronous generator.
    pub is_generator: bool,
    /// True for a coroutine or asynchronous generator, whose objects no `for` loop iterates over.
    pub is_coroutine: bool,
    /// The host's token for the namespace of the code's globals. 0 means the namespace of the
    /// compile's `World`.
    pub globals: u64,
    /// True if the interpreter drops the operands of most instructions from the top down, instead
    /// of in the order in which they were pushed.
    pub last_first: bool,
    /// True if it does so for binary operators too. They may differ: `a + b` drops `a` first in one
    /// interpreter where `a < b` drops `b` first.
    pub operators_last_first: bool,
    /// True if locals are slots; false if they are in a namespace, as in modules and class bodies.
    pub optimized: bool,
    /// Local slots in frame order: name, kind.
    pub locals: Vec<(String, LocalKind)>,
    /// Operand stack size.
    pub stacksize: u32,
    /// Constants.
    pub consts: Vec<Const>,
    /// Names of globals and attributes.
    pub names: Vec<String>,
    /// Instructions.
    pub instrs: Vec<Instr>,
    /// Exception table; the innermost handler of an instruction is the last that covers it.
    pub handlers: Vec<Handler>,
    /// Observed types of the locals at the entry (live values), or empty.
    pub local_hints: Vec<Type>,
}

impl Code {
    /// Number of parameters, which are the first locals: positional, keyword-only, `*args`,
    /// `**kwargs`.
    pub fn arity(&self) -> u32 {
        self.argcount + self.kwonly + self.varargs as u32 + self.varkeywords as u32
    }

    /// Number of cells in the closure of a function of this code.
    pub fn free_count(&self) -> usize {
        let kinds = self.locals.iter().map(|(_, kind)| *kind);
        kinds.filter(|kind| *kind == LocalKind::Free).count()
    }

    /// The hints of its instructions and locals.
    pub fn hints(&self) -> impl Iterator<Item = Type> + '_ {
        let hints = self.instrs.iter().flat_map(|instr| &instr.hint);
        hints.chain(&self.local_hints).copied()
    }

    /// The instruction at `pc`.
    ///
    /// # Panics
    /// If `pc` is outside the code.
    pub fn instr(&self, pc: Pc) -> &Instr {
        &self.instrs[pc.0 as usize]
    }

    /// Returns true if the code itself rebinds the name outside its local slots.
    pub fn rebinds(&self, name: &str) -> bool {
        self.instrs.iter().any(|instr| {
            matches!(
                instr.op,
                Op::StoreGlobal | Op::DeleteGlobal | Op::StoreName | Op::DeleteName
            ) && self
                .names
                .get(instr.arg as usize)
                .is_some_and(|n| n == name)
        })
    }

    /// Returns true if the code binds or deletes a name of its globals.
    pub fn binds_globals(&self) -> bool {
        let binds = |instr: &Instr| matches!(instr.op, Op::StoreGlobal | Op::DeleteGlobal);
        self.instrs.iter().any(binds)
    }

    /// The instructions at which a generator's frame continues when it is resumed: after the
    /// instruction that created the generator, after each `yield`, and where the generator to which
    /// it delegated has returned, as far as control reaches them. In each case the sent value is
    /// pushed onto the stack. Empty for other code; ascending.
    pub fn resume_points(&self) -> Vec<Pc> {
        let depths = self.stack_depths();
        let next = |(instr, next): (&Instr, u32)| match instr.op {
            Op::ReturnGenerator | Op::YieldValue => Some(next),
            Op::Send => Some(instr.arg),
            _ => None,
        };
        let points = self.instrs.iter().zip(1..).filter_map(next);
        let reached = |pc: &u32| depths.get(*pc as usize).is_some_and(Option::is_some);
        let points: std::collections::BTreeSet<u32> = points.filter(reached).collect();
        points.into_iter().map(Pc).collect()
    }

    /// The innermost handler that covers `pc`.
    pub fn handler_at(&self, pc: Pc) -> Option<&Handler> {
        self.handlers
            .iter()
            .rev()
            .find(|h| h.start <= pc && pc < h.end)
    }

    /// The instruction at the host's offset `pos`, if one starts there.
    pub fn pc_at(&self, pos: u32) -> Option<Pc> {
        self.instrs
            .iter()
            .position(|i| i.resumable && (i.pos == pos || i.resume == pos))
            .map(|i| Pc(i as u32))
    }
}
