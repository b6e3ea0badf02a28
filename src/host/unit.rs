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

/// The host's parts of one unit: LIR that creates and releases its frames, and what the host does
/// in a special way. [`Host::frames_by`](super::Host::frames_by) creates them for a host in which
/// two helpers do that.
///
/// ```
/// use cladonia::host::UnitParts;
/// use cladonia::lir::Func;
///
/// /// The parts of a unit of a function whose bytecode begins at an address, two bytes for each
/// /// position.
/// fn parts(enter: Func, leave: Func, bytecode: u64) -> UnitParts {
///     UnitParts::new(enter, leave)
///         .positions(bytecode, 2)
///         .objects_are_private(true)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct UnitParts {
    pub(crate) token: u64,
    /// The address of the unit's [`UnitCells`].
    pub(crate) cells: u64,
    pub(crate) loop_counter: u64,
    pub(crate) enter: Func,
    pub(crate) leave: Func,
    pub(crate) suspend: Option<Func>,
    pub(crate) announcement: Option<Announcement>,
    pub(crate) position_base: u64,
    pub(crate) position_scale: u32,
    pub(crate) closed: Option<ClosedParts>,
    pub(crate) namespace: Option<Namespace>,
    pub(crate) objects_are_private: bool,
    pub(crate) force_table: Option<u64>,
}

impl UnitParts {
    /// The parts of a unit that
    /// [`Engine::build`](crate::engine::Engine::build) or a [`Job`](crate::engine::Job) compiles:
    /// the engine fills in token and cells. Instruction positions are indexes, there is no closed
    /// unit and no namespace, and no exit is forced.
    ///
    /// - `enter`, `(thread, function) -> frame`, tests for pending work, then creates and links the
    ///   frame, with all slots but the arguments' unbound. It fails if the call must take the slow
    ///   path. Only function units call it.
    /// - `leave`, `(thread, frame) -> ()`, unlinks and frees the frame. Its slots have been
    ///   emptied, or are dropped here.
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

    /// Replaces `enter`.
    pub fn enter(mut self, enter: Func) -> UnitParts {
        self.enter = enter;
        self
    }

    /// The LIR that creates the frame.
    pub fn get_enter(&self) -> &Func {
        &self.enter
    }

    /// Sets the number that is passed to the exit hook. For units compiled by hand
    /// ([`Engine::compile`](crate::engine::Engine::compile)); the engine has numbers of its own.
    pub fn token(mut self, token: u64) -> UnitParts {
        self.token = token;
        self
    }

    /// Sets the unit's cells, and a word that counts its back edges. For units compiled by hand.
    /// The words must live as long as the code.
    pub fn cells<W>(mut self, cells: &UnitCells<W>, loop_counter: *const u64) -> UnitParts {
        self.cells = cells.address();
        self.loop_counter = loop_counter.expose_provenance() as u64;
        self
    }

    /// For a unit with [`Entry::Resume`] only: `(thread, frame, words, depth, delegates) -> ()`
    /// suspends and unlinks the frame. Its locals and `depth` stack entries are in their slots, and
    /// its position is the one at which it continues. The `enter` of such a unit is
    /// `(thread, generator) -> (frame, point, words)`: it links the frame of a generator that is
    /// suspended at the resume point of that number, and passes its stack to the unit; it fails for
    /// any other. `words` is the address of the words that are otherwise after the frame,
    /// [`LOCAL_WORDS`](crate::facts::LOCAL_WORDS) for each local and two more. The host provides
    /// them, since code that inspects the frame reads them: they must stay readable while the
    /// native stack is switched away, as a coroutine library does.
    pub fn suspend(mut self, suspend: Func) -> UnitParts {
        self.suspend = Some(suspend);
        self
    }

    /// Sets the action before calls that may inspect frames other than the unit's own, if the host
    /// defers work until then.
    pub fn announcement(mut self, announcement: Announcement) -> UnitParts {
        self.announcement = Some(announcement);
        self
    }

    /// Sets the addresses that the intrinsic `set_position` receives: `base + scale * pos`, where
    /// `pos` is [`Instr::pos`](crate::bytecode::Instr::pos). For example the address of the host's
    /// bytecode, and the bytes of a code unit.
    pub fn positions(mut self, base: u64, scale: u32) -> UnitParts {
        (self.position_base, self.position_scale) = (base, scale);
        self
    }

    /// Accepts a closed unit of the function, if the host has the helpers for it.
    pub fn closed(mut self, parts: ClosedParts) -> UnitParts {
        self.closed = Some(parts);
        self
    }

    /// Sets the namespace whose names may be kept in registers.
    pub fn namespace(mut self, namespace: Namespace) -> UnitParts {
        self.namespace = Some(namespace);
        self
    }

    /// Declares if a unit may assume
    /// [`ObjectsPrivate`](crate::facts::Assumption::ObjectsPrivate): the host makes units that
    /// assume it exit when code inspects the locals of their frames, and invalidates them when code
    /// lists all objects.
    pub fn objects_are_private(mut self, are_private: bool) -> UnitParts {
        self.objects_are_private = are_private;
        self
    }

    /// For runs with forced exits: sets the address of a table of 64-bit words, one for each exit
    /// record. Compiled code decrements a word that is not zero, and takes the exit when it reaches
    /// zero. A [`Task`](crate::engine::Task) whose exits
    /// [can be forced](crate::engine::Task::forcible) needs none.
    pub fn force_table(mut self, address: u64) -> UnitParts {
        self.force_table = Some(address);
        self
    }

    /// The address of the cell with the expected pending-work word.
    pub(crate) fn pending_cell(&self) -> u64 {
        self.cells
    }

    /// The address of the cell that is 0 while the unit is valid.
    pub(crate) fn state_cell(&self) -> u64 {
        self.cells.wrapping_add(STATE_OFFSET)
    }
}

/// The namespace of a module's top-level code, or of a function that binds globals, whose names a
/// unit may keep in registers.
#[derive(Clone, Debug)]
pub struct Namespace {
    pub(crate) address: u64,
    /// For each of the code's names, the addresses of the name and of its cell.
    pub(crate) names: Vec<(u64, u64)>,
    pub(crate) notes: i64,
    /// The types of the current values of the names.
    pub(crate) live: Vec<Type>,
}

impl Namespace {
    /// The namespace at an address, without names.
    pub fn new(address: u64) -> Namespace {
        Namespace {
            address,
            names: Vec::new(),
            notes: 0,
            live: Vec::new(),
        }
    }

    /// Adds the next of the code's names: the addresses of the name and of a cell of the host's
    /// own, which lives as long as the unit, and the type of the current value.
    pub fn name(mut self, name: u64, cell: u64, live: Type) -> Namespace {
        self.names.push((name, cell));
        self.live.push(live);
        self
    }

    /// Sets an operand of stores to names that the unit stores often (`Unit::stored_names` of the
    /// engine), by which the host recognises them. It is 0 for stores to other names.
    pub fn notes(mut self, notes: i64) -> Namespace {
        self.notes = notes;
        self
    }
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
