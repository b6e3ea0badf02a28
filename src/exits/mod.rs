//! Exit records: the data with which the host continues after a side exit.
//!
//! An exit is taken when a guard fails (the host's interpreter executes the instruction again),
//! when a helper raised (the exception is pending), or when the unit must stop (tracing,
//! invalidation). The record is data: for each local and stack entry of the frame it lists the
//! place of the value. Compiled code only stores the values that the record lists, in order, into
//! the exit buffer.
//!
//! For example, the text form `resume @7 overflow, local 0 = int 2, stack [owned 3]` describes an
//! exit at instruction 7 whose addition overflowed: local 0 is the raw int in word 2 of the buffer,
//! and the operand stack has one object, in word 3.

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

/// The status of a raw call that returned a value.
pub const VALUE: i64 = 0;
/// The status of a raw call that deoptimised: the contents of its frames are recorded.
pub const EXITING: i64 = 1;
/// The status of a raw call that did not start (work is pending, the stack is low, or the unit was
/// freed). The caller must make the call in another way.
pub const NOT_ENTERED: i64 = 2;

/// The way in which the host continues.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ExitKind {
    /// Execute the instruction at `pc` (again), with the stack as recorded.
    Resume,
    /// An exception is pending, raised by the instruction at `pc`. The recorded stack is without
    /// the operands that it consumed.
    Raise,
    /// The instruction at `pc` calls a function whose own exit was recorded before; its result or
    /// exception comes later. The recorded stack is without the operands that the call consumes.
    Await,
    /// The instruction at `pc` may have run the pending work: continue as `Raise` if there is an
    /// exception, otherwise as `Resume`.
    Pending,
    /// Like `Raise`, but the exception was raised before, and its traceback needs no new entry. The
    /// frame's position is left as it is.
    Reraise,
}

impl ExitKind {
    /// Returns true if an exception is certainly pending.
    pub fn raises(self) -> bool {
        matches!(self, ExitKind::Raise | ExitKind::Reraise)
    }
}

/// The place and the form of a value.
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
    /// A signed 64-bit integer in the exit buffer, which the host boxes.
    Int(u32),
    /// The wrapping sum of a signed 64-bit integer in the exit buffer and a constant, which the
    /// host boxes.
    IntPlus(u32, i32),
    /// A constant integer, which the host boxes.
    ConstInt(i64),
    /// A constant object, by the host's word for it; the frame takes a new reference.
    Const(u64),
    /// A double in the exit buffer, which the host boxes.
    Float(u32),
    /// 0 or 1 in the exit buffer, which the host boxes as a truth value.
    Bool(u32),
    /// An integer as above if the second word is 1; no value (an unbound local) if it is 0.
    IntIf(u32, u32),
    /// A double as above if the second word is 1; no value if it is 0.
    FloatIf(u32, u32),
    /// An object of the record's [`ExitRecord::virtuals`]; each place that refers to it takes a
    /// reference of its own.
    Virtual(u32),
}

impl Source {
    /// The index in the exit buffer, if there is one.
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

    /// The same source with other indexes in the exit buffer.
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

    /// The indexes in the exit buffer.
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

/// A name of the namespace that is written before the host continues.
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
    /// The way in which the host continues, in the innermost frame.
    pub kind: ExitKind,
    /// The reason of the exit.
    pub reason: Reason,
    /// The instruction. If there are inlined frames, the call at which this frame waits for the
    /// next one's result.
    pub pc: Pc,
    /// The objects that only this exit materialises, inner ones first.
    pub virtuals: Vec<VirtualObject>,
    /// One source for each local that is not [`Source::Keep`]: (slot, source).
    pub locals: Vec<(u32, Source)>,
    /// Module-level names whose newest value is not yet in the namespace.
    pub names: Vec<NameWrite>,
    /// The operand stack from the bottom. For a waiting frame, without the operands that the call
    /// consumes.
    pub stack: Vec<Source>,
    /// The inlined frames, outermost first.
    pub inlined: Vec<InlinedFrame>,
    /// Number of words in the exit buffer, the two of the context (thread, frame) first.
    pub words: u32,
    /// Offsets in bytes from the frame of words in the frame. Sources number them after the words
    /// of the buffer. Compiled code stores raw locals there before calls, so that an inspection of
    /// the frame finds them; an exit need not store them again.
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
