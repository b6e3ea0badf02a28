//! The host's parts of one unit, and the unit's data about its frames for the host.

use super::ClosedParts;
use crate::bytecode::Pc;
use crate::exits::{Source, VirtualObject};
use crate::lir::{Announcement, Func};
use crate::types::Type;

/// The entry of compiled code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Entry {
    /// A call: arguments are in registers, and the unit creates its frame.
    Function,
    /// On-stack replacement at an instruction (a loop header, or the function's start) of an
    /// interpreter's frame.
    Loop(Pc),
    /// A suspended frame is resumed, at any of the code's [resume
    /// points](crate::bytecode::Code::resume_points). The generator and the sent value, which is
    /// taken over, are in registers.
    Resume,
}

/// The words that a unit's code tests to decide if it may continue, side by side, so that one
/// address leads to both. `W` is a word that may change while code runs: a `Cell<u64>`, or an
/// `AtomicU64`.
#[repr(C)]
#[derive(Debug, Default)]
pub struct UnitCells<W> {
    /// The pending-work word that the code expects (with which `nothing_pending` compares).
    pub pending: W,
    /// 0 while the unit is valid (the third operand of `still_valid`).
    pub state: W,
}

impl<W> UnitCells<W> {
    /// The address through which code accesses the cells.
    pub fn address(&self) -> u64 {
        std::ptr::from_ref(self).expose_provenance() as u64
    }
}

/// The offset of the state in [`UnitCells`].
pub(crate) const STATE_OFFSET: u64 = std::mem::offset_of!(UnitCells<u64>, state) as u64;

/// The host's parts of one unit.
#[derive(Clone, Debug)]
pub struct UnitParts {
    /// The number passed to the exit hook.
    pub token: u64,
    /// The address of the unit's [`UnitCells`].
    pub cells: u64,
    /// The address of a word that counts the unit's back edges.
    pub loop_counter: u64,
    /// `(thread, function) -> frame`: tests for pending work, then creates and links the frame,
    /// with all slots but the arguments' unbound. Fails if the call must take the slow path. Used
    /// by function units only.
    pub enter: Func,
    /// `(thread, frame) -> ()`: unlinks and frees the frame. Its slots have been emptied, or are
    /// dropped here.
    pub leave: Func,
    /// For a unit with [`Entry::Resume`] only: `(thread, frame, words, depth, delegates) -> ()`
    /// suspends and unlinks the frame. Its locals and `depth` stack entries are in their slots, and
    /// its position is the one at which it continues. The `enter` of such a unit is
    /// `(thread, generator) -> (frame, point, words)`: it links the frame of a generator that is
    /// suspended at the resume point of that number, and passes its stack to the unit; it fails for
    /// any other. `words` is the address of the words that are otherwise after the frame,
    /// [`LOCAL_WORDS`](crate::facts::LOCAL_WORDS) for each local and two more. The host provides
    /// them, since code that inspects the frame reads them: they must stay readable while the
    /// native stack is switched away, as a coroutine library does.
    pub suspend: Option<Func>,
    /// The action before calls that may inspect frames other than the unit's own, if the host
    /// defers work until then.
    pub announcement: Option<Announcement>,
    /// The address of the host's code object: instruction positions are
    /// `position_base + position_scale * pos`.
    pub position_base: u64,
    /// Bytes per unit of [`crate::bytecode::Instr::pos`].
    pub position_scale: u32,
    /// The parts of a closed unit of the function, if the host accepts one (and has the helpers for
    /// it).
    pub closed: Option<ClosedParts>,
    /// The namespace, if its names may be kept in registers.
    pub namespace: Option<Namespace>,
    /// True if a unit may assume [`ObjectsPrivate`](crate::facts::Assumption::ObjectsPrivate): the
    /// host makes units that assume it exit when code inspects the locals of their frames, and
    /// invalidates them when code lists all objects.
    pub objects_are_private: bool,
    /// For runs with forced exits: the address of a table of 64-bit words, one for each exit
    /// record. Compiled code decrements a word that is not zero, and takes the exit when it reaches
    /// zero.
    pub force_table: Option<u64>,
}

impl UnitParts {
    /// The address of the cell with the expected pending-work word.
    pub fn pending_cell(&self) -> u64 {
        self.cells
    }

    /// The address of the cell that is 0 while the unit is valid.
    pub fn state_cell(&self) -> u64 {
        self.cells.wrapping_add(STATE_OFFSET)
    }

    /// The parts of every unit: the creation and release of its frames. The engine fills in token
    /// and cells ([`crate::engine::Engine::build`]). Instruction positions are indexes, there is no
    /// closed unit and no namespace, and no exit is forced.
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

/// The namespace of a module's top-level code, or of a function that binds globals, whose names a
/// unit may keep in registers.
#[derive(Clone, Debug)]
pub struct Namespace {
    /// The address of the namespace.
    pub address: u64,
    /// For each of the code's names, the addresses of the name and of a cell of the host's own,
    /// which lives as long as the unit.
    pub names: Vec<(u64, u64)>,
    /// An operand of stores to names that the unit stores often (`Unit::stored_names` of the
    /// engine), by which the host recognises them. 0 for stores to other names.
    pub notes: i64,
    /// The types of the current values of the names.
    pub live: Vec<Type>,
}

/// The locals of a frame that are raw values during a call-out at `pc`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawMap {
    /// The instruction.
    pub pc: Pc,
    /// The number of the copy. A unit may have several copies of an instruction, or several
    /// instructions at one position, with different raw locals. If there are several maps for one
    /// position, the word after those of the locals has the number of the running copy.
    pub copy: u64,
    /// Local slot and kind.
    pub locals: Vec<(u32, Source)>,
    /// The virtual objects among them. Objects in their fields are borrowed.
    pub virtuals: Vec<VirtualObject>,
}
