//! The pipeline driver and public API: bytecode in, machine code out.

use crate::bytecode::{Code, Pc};
use crate::codegen::CompiledCode;
use crate::exits::ExitRecord;
use crate::exits::Reason;
use crate::facts::Assumption;
use crate::host::{Host, World};
use crate::lir::Func;
use crate::types::Type;
use std::collections::HashSet;
use std::sync::Arc;

/// Where compiled code begins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Entry {
    /// A call: arguments come in registers, the unit makes its frame.
    Function,
    /// On-stack replacement at an instruction (a loop header, or the function's start) of an interpreter's frame.
    Loop(Pc),
}

/// The host's parts of one unit.
#[derive(Clone, Debug)]
pub struct UnitParts {
    /// Number given to the exit hook.
    pub token: u64,
    /// Address of the cell with the expected eval-breaker word.
    pub pending_cell: u64,
    /// Address of the unit's state cell (its second word of `still_valid`).
    pub state_cell: u64,
    /// `(thread, function) -> frame`: makes and links the frame with all slots but the arguments' unbound; fails
    /// where the slow way must be taken. Used by function units only.
    pub enter: Func,
    /// `(thread, frame) -> ()`: unlinks and frees the frame; its slots have been emptied or are dropped here.
    pub leave: Func,
    /// Address of the host's code object: instruction positions are `code_base + 2 * pos` (or the host's unit).
    pub position_base: u64,
    /// Bytes per unit of [`crate::bytecode::Instr::pos`].
    pub position_scale: u32,
    /// For runs with forced exits: address of a table of 64-bit words, one an exit record; compiled code counts a word
    /// that is not zero down and takes the exit when it gets to zero.
    pub force_table: Option<u64>,
}

/// A request to compile.
pub struct Request<'a> {
    /// The code.
    pub code: &'a Code,
    /// Where to begin.
    pub entry: Entry,
    /// Types of the locals (and, at a loop, of the stack entries after them) as they are now.
    pub live: &'a [Type],
    /// The world.
    pub world: &'a dyn World,
    /// The host's parts.
    pub parts: UnitParts,
    /// Bets not to make again: (instruction, reason).
    pub avoid: &'a HashSet<(Pc, Reason)>,
}

/// Why nothing was compiled.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CompileError {
    /// The function uses something that is not compiled.
    #[error("{what} is not compiled (line {line})")]
    Unsupported {
        /// What.
        what: String,
        /// Where.
        line: u32,
    },
    /// The function is larger than the limits.
    #[error("{what} exceeds the limit of {limit}")]
    LimitExceeded {
        /// What.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// A fault of Cladonia's own; the function stays interpreted.
    #[error("internal: {0}")]
    Internal(String),
}

/// A compiled unit. Dropping it frees its code: the host drops it when no frame is inside.
pub struct Unit {
    /// The machine code.
    pub code: CompiledCode,
    /// Exit records by number.
    pub exits: Vec<ExitRecord>,
    /// What must be watched while the unit is installed.
    pub assumptions: Vec<Assumption>,
    /// Text forms, if they were asked for: (stage, text).
    pub dumps: Vec<(&'static str, String)>,
    /// For each call-out position (the host's offset): which locals are raw, and where their words lie.
    pub raw_maps: Vec<RawMap>,
}

/// Which locals of a frame are raw values while a call-out at `pc` runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawMap {
    /// The instruction.
    pub pc: Pc,
    /// Local slot and kind.
    pub locals: Vec<(u32, crate::exits::Source)>,
}

/// The compiler with its code memory.
pub struct Engine {
    /// The host.
    pub host: Arc<Host>,
}
