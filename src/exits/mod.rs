//! Exit records: what the host needs to go on where compiled code leaves.
//!
//! An exit is taken when a guard fails (the instruction is executed again by the host's interpreter), when a helper
//! raised (the exception is pending), or when the unit must give way (tracing, invalidation). The record is data: it
//! names, for each local and stack entry of the frame, where its value is. Compiled code only stores the values that
//! the record lists, in order, into the exit buffer.

mod inlined;
mod live;
mod packed;
mod parse;
mod virtuals;

pub use inlined::InlinedFrame;
pub use live::{Live, LiveFrame, LiveInlined, LiveObject};

pub use crate::bytecode::Reason;
pub use packed::{ExitHead, Exits};
pub use parse::RecordError;
pub use virtuals::{RecordFault, VirtualKind, VirtualObject};

use crate::bytecode::Pc;
use cranelift_entity::entity_impl;
use std::fmt;

/// An exit of a unit, printed `exit7`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExitId(u32);
entity_impl!(ExitId, "exit");

/// The status of a raw call that gave a value.
pub const VALUE: i64 = 0;
/// The status of a raw call that was left: what its frames would hold is recorded.
pub const EXITING: i64 = 1;
/// The status of a raw call that was not begun (something is pending, the stack is low, the unit is gone): the caller
/// must make it in another way.
pub const NOT_ENTERED: i64 = 2;

/// How the host goes on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ExitKind {
    /// Execute the instruction at `pc` (again), with the stack as recorded.
    Resume,
    /// An exception is pending, raised by the instruction at `pc`; the recorded stack is what it had not consumed.
    Raise,
    /// The instruction at `pc` calls a function whose own exit was recorded before: its result, or its exception, comes
    /// later. The recorded stack is without what the call consumes.
    Await,
    /// What is pending may have been done by the instruction at `pc`: as `Raise` if there is an exception, else as `Resume`.
    Pending,
    /// The same as `Raise`, and the exception needs no more to its traceback: it was raised before. The frame's position
    /// is left as it is.
    Reraise,
}

impl ExitKind {
    /// Whether an exception is pending for sure.
    pub fn raises(self) -> bool {
        matches!(self, ExitKind::Raise | ExitKind::Reraise)
    }
}

/// Where a value is, and what it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// The slot already holds it (a local whose object lives in the frame).
    Keep,
    /// No value (an unbound local, a null on the stack).
    Null,
    /// An object in the exit buffer whose reference the frame takes over.
    Owned(u32),
    /// An object in the exit buffer; the frame takes a new reference.
    Borrowed(u32),
    /// A signed 64-bit integer in the exit buffer, to be boxed.
    Int(u32),
    /// A signed 64-bit integer in the exit buffer and a number to add to it, with wrapping, to be boxed.
    IntPlus(u32, i32),
    /// An integer that is the same whenever the exit is taken, to be boxed.
    ConstInt(i64),
    /// An object likewise, by the host's word for it; the frame takes a new reference.
    Const(u64),
    /// A double in the exit buffer, to be boxed.
    Float(u32),
    /// 0 or 1 in the exit buffer, to be boxed as a truth value.
    Bool(u32),
    /// An integer as above if the second word is 1; no value (an unbound local) if it is 0.
    IntIf(u32, u32),
    /// A double as above if the second word is 1; no value if it is 0.
    FloatIf(u32, u32),
    /// An object of the record's [`ExitRecord::virtuals`]; whoever names it takes a reference of its own.
    Virtual(u32),
}

impl Source {
    /// The place in the exit buffer, if there is one.
    pub fn slot(self) -> Option<u32> {
        match self {
            Source::Keep
            | Source::Null
            | Source::Virtual(_)
            | Source::ConstInt(_)
            | Source::Const(_) => None,
            Source::Owned(n)
            | Source::Borrowed(n)
            | Source::Int(n)
            | Source::IntPlus(n, _)
            | Source::Float(n)
            | Source::Bool(n)
            | Source::IntIf(n, _)
            | Source::FloatIf(n, _) => Some(n),
        }
    }

    /// The same with other numbers of words.
    pub(crate) fn with_words(self, number: impl Fn(u32) -> u32) -> Source {
        match self {
            Source::Keep
            | Source::Null
            | Source::Virtual(_)
            | Source::ConstInt(_)
            | Source::Const(_) => self,
            Source::Owned(n) => Source::Owned(number(n)),
            Source::Borrowed(n) => Source::Borrowed(number(n)),
            Source::Int(n) => Source::Int(number(n)),
            Source::IntPlus(n, more) => Source::IntPlus(number(n), more),
            Source::Float(n) => Source::Float(number(n)),
            Source::Bool(n) => Source::Bool(number(n)),
            Source::IntIf(n, flag) => Source::IntIf(number(n), number(flag)),
            Source::FloatIf(n, flag) => Source::FloatIf(number(n), number(flag)),
        }
    }

    /// The places in the exit buffer.
    pub fn words(self) -> impl Iterator<Item = u32> {
        let flag = match self {
            Source::IntIf(_, flag) | Source::FloatIf(_, flag) => Some(flag),
            _ => None,
        };
        self.slot().into_iter().chain(flag)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Keep => write!(f, "keep"),
            Source::Null => write!(f, "null"),
            Source::Owned(n) => write!(f, "owned {n}"),
            Source::Borrowed(n) => write!(f, "borrowed {n}"),
            Source::Int(n) => write!(f, "int {n}"),
            Source::IntPlus(n, more) => write!(f, "int {n} plus {more}"),
            Source::ConstInt(n) => write!(f, "const_int {n}"),
            Source::Const(object) => write!(f, "const {object}"),
            Source::Float(n) => write!(f, "float {n}"),
            Source::Bool(n) => write!(f, "bool {n}"),
            Source::IntIf(n, m) => write!(f, "int {n} if {m}"),
            Source::FloatIf(n, m) => write!(f, "float {n} if {m}"),
            Source::Virtual(n) => write!(f, "virtual {n}"),
        }
    }
}

/// A name of the namespace to be written before the host goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NameWrite {
    /// Index in the code's names.
    pub name: u32,
    /// The value.
    pub source: Source,
}

/// One exit.
#[derive(Clone, PartialEq, Debug)]
pub struct ExitRecord {
    /// How the host goes on, in the innermost frame.
    pub kind: ExitKind,
    /// Why.
    pub reason: Reason,
    /// The instruction; if there are inlined frames, the call at which this frame waits for the next one's result.
    pub pc: Pc,
    /// The objects that only this exit makes, those first that are in others.
    pub virtuals: Vec<VirtualObject>,
    /// One source for each local that is not [`Source::Keep`]: (slot, source).
    pub locals: Vec<(u32, Source)>,
    /// Module-level names whose newest value is not yet in the namespace.
    pub names: Vec<NameWrite>,
    /// The operand stack from the bottom; of a frame that waits, without what the call consumes.
    pub stack: Vec<Source>,
    /// The frames within this one that compiled code never made, outermost first.
    pub inlined: Vec<InlinedFrame>,
    /// Number of words in the exit buffer, the two of the context (thread, frame) first.
    pub words: u32,
    /// Words of the frame's own, which sources number behind those of the buffer: their offsets in bytes from the frame. What compiled
    /// code has stored there for whoever looks at the frame, it need not pass.
    pub shown: Vec<u32>,
}

/// Words at the start of every exit buffer: the thread state and the frame.
pub const CONTEXT_WORDS: u32 = 2;

impl fmt::Display for ExitRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ExitKind::Resume => "resume",
            ExitKind::Raise => "raise",
            ExitKind::Await => "await",
            ExitKind::Pending => "pending",
            ExitKind::Reraise => "reraise",
        };
        write!(f, "{kind} {} {}", self.pc, self.reason)?;
        for (n, object) in self.virtuals.iter().enumerate() {
            write!(f, ", virtual {n} = {object}")?;
        }
        for (slot, source) in &self.locals {
            write!(f, ", local {slot} = {source}")?;
        }
        for name in &self.names {
            write!(f, ", name {} = {}", name.name, name.source)?;
        }
        write!(f, ", stack {}", inlined::List(&self.stack))?;
        for frame in &self.inlined {
            write!(f, ", {frame}")?;
        }
        if !self.shown.is_empty() {
            write!(f, ", shown {} {:?}", self.words, self.shown)?;
        }
        Ok(())
    }
}
