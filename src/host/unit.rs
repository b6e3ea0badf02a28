//! What the host gives for one unit, and what it learns of the unit's frames.

use super::ClosedParts;
use crate::bytecode::Pc;
use crate::exits::{Source, VirtualObject};
use crate::lir::{Announcement, Func};
use crate::types::Type;

/// Where compiled code begins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Entry {
    /// A call: arguments come in registers, the unit makes its frame.
    Function,
    /// On-stack replacement at an instruction (a loop header, or the function's start) of an interpreter's frame.
    Loop(Pc),
    /// A suspended frame is resumed, at whichever of the code's [resume points](crate::bytecode::Code::resume_points) it
    /// waits: the generator and what is sent into it, which is taken over, come in registers.
    Resume,
}

/// The words that a unit's code looks at to see whether it may go on, side by side, so that one address leads to both. `W` is a word that
/// may change while code runs: a `Cell<u64>`, or an `AtomicU64`.
#[repr(C)]
#[derive(Debug, Default)]
pub struct UnitCells<W> {
    /// The pending-work word that the code expects (what `nothing_pending` compares).
    pub pending: W,
    /// 0 while the unit is valid (the third operand of `still_valid`).
    pub state: W,
}

impl<W> UnitCells<W> {
    /// What code takes the cells by.
    pub fn address(&self) -> u64 {
        std::ptr::from_ref(self).expose_provenance() as u64
    }
}

/// Where the state is in [`UnitCells`].
pub(crate) const STATE_OFFSET: u64 = std::mem::offset_of!(UnitCells<u64>, state) as u64;

/// The host's parts of one unit.
#[derive(Clone, Debug)]
pub struct UnitParts {
    /// Number given to the exit hook.
    pub token: u64,
    /// Address of the unit's [`UnitCells`].
    pub cells: u64,
    /// Address of a word that counts the unit's back edges.
    pub loop_counter: u64,
    /// `(thread, function) -> frame`: makes and links the frame with all slots but the arguments' unbound, after it
    /// has looked for pending work; fails where the slow way must be taken. Used by function units only.
    pub enter: Func,
    /// `(thread, frame) -> ()`: unlinks and frees the frame; its slots have been emptied or are dropped here.
    pub leave: Func,
    /// Of a unit with [`Entry::Resume`], and of no other: `(thread, frame, words, depth, delegates) -> ()` suspends and unlinks
    /// the frame, whose locals and `depth` stack entries are in their slots, and whose position is where it goes on.
    /// Such a unit's `enter` is `(thread, generator) -> (frame, point, words)`: it links the frame of a generator that is
    /// suspended at the resume point of that number, with its stack given up to the unit, and fails for any other. `words`
    /// is where the unit keeps what else would lie behind the frame, [`LOCAL_WORDS`](crate::facts::LOCAL_WORDS) a local and two
    /// more. The host provides them, since whoever looks at the frame reads them: they must lie where they can be read
    /// while the native stack is switched away, as a coroutine library does it.
    pub suspend: Option<Func>,
    /// What the unit does before it calls what may look at other frames than its own, if the host puts something off till then.
    pub announcement: Option<Announcement>,
    /// Address of the host's code object: instruction positions are `code_base + 2 * pos` (or the host's unit).
    pub position_base: u64,
    /// Bytes per unit of [`crate::bytecode::Instr::pos`].
    pub position_scale: u32,
    /// What a closed unit of the function needs, if the host takes one (and has the helpers for it).
    pub closed: Option<ClosedParts>,
    /// The namespace, if the names may be kept in registers.
    pub namespace: Option<Namespace>,
    /// Whether a unit may rely on it that [nobody finds objects that he was not given](crate::facts::Assumption::ObjectsPrivate): the host
    /// lets units that assume it leave where somebody looks at their frames' locals, and invalidates them where somebody asks for all
    /// objects.
    pub objects_are_private: bool,
    /// For runs with forced exits: address of a table of 64-bit words, one an exit record; compiled code counts a word
    /// that is not zero down and takes the exit when it gets to zero.
    pub force_table: Option<u64>,
}

impl UnitParts {
    /// Address of the cell with the expected pending-work word.
    pub fn pending_cell(&self) -> u64 {
        self.cells
    }

    /// Address of the cell that is 0 while the unit is valid.
    pub fn state_cell(&self) -> u64 {
        self.cells.wrapping_add(STATE_OFFSET)
    }

    /// What every unit needs: how its frames are made and unmade. Token and cells are the engine's to fill in
    /// ([`crate::engine::Engine::build`]); instruction positions are indexes, there is no closed unit and no namespace,
    /// and no exit is forced.
    pub fn new(enter: Func, leave: Func) -> UnitParts {
        UnitParts {
            token: 0,
            cells: 0,
            loop_counter: 0,
            enter,
            leave,
            suspend: None,
            announcement: None,
            position_base: 0,
            position_scale: 1,
            closed: None,
            namespace: None,
            objects_are_private: false,
            force_table: None,
        }
    }
}

/// The namespace of code at the top of a module, or of a function that binds globals, whose names a unit may keep in registers.
#[derive(Clone, Debug)]
pub struct Namespace {
    /// Address of the namespace.
    pub address: u64,
    /// For each of the code's names, the addresses of the name and of a cell of the host's own, which lives as long as
    /// the unit.
    pub names: Vec<(u64, u64)>,
    /// Operand of the stores to names that the unit stores often (`Unit::stored_names` of the engine): the host knows
    /// that it does. 0 for those to others.
    pub notes: i64,
    /// Types of what the names hold now.
    pub live: Vec<Type>,
}

/// Which locals of a frame are raw values while a call-out at `pc` runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawMap {
    /// The instruction.
    pub pc: Pc,
    /// A unit may have several copies of an instruction, or several instructions at one position, that differ in this. If there are
    /// several maps for one position, the word behind those of the locals has the number of the copy that runs.
    pub copy: u64,
    /// Local slot and kind.
    pub locals: Vec<(u32, Source)>,
    /// The virtual objects among them. Objects in them are borrowed.
    pub virtuals: Vec<VirtualObject>,
}
