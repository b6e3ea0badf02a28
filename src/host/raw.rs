//! Raw calls at machine level: see [`RawEntry`](crate::facts::RawEntry).

use crate::facts::{RawKind, RawSignature};
use crate::lir::{Func, Signature};
use crate::ll::Ty;

/// The helper that records a side exit of a closed unit:
/// `(unit token, exit number, words) -> (unused)`; the first two words are the thread and the
/// function. It runs no host code.
pub const RECORD_EXIT: &str = "record_exit";
/// The helper that builds and runs the recorded frames:
/// `(thread, token of the calling unit) -> object`. The result is that of the outermost frame, or
/// null if it raised.
pub const RESUME_EXITS: &str = "resume_exits";
/// The helper that makes a call which a closed unit's boxed entry could not:
/// `(thread, function, arguments, count, unit token, flag) -> object`. The flag is set if an
/// argument had another class. The helper takes over the arguments' references.
pub const CALL_BOXED: &str = "call_boxed";

/// The register type of a kind.
pub fn raw_type(kind: RawKind) -> Ty {
    match kind {
        RawKind::Int => Ty::I64,
        RawKind::Float => Ty::F64,
        RawKind::Bool => Ty::Bool,
    }
}

/// The signature of a closed unit's machine code: thread, function, room and raw arguments, to a
/// status and the raw result. The **room** is the number of nested calls, this one included, before
/// the host's recursion limit. It is in a register, because no code can read the thread's counter
/// while closed units run.
pub fn raw_signature(signature: &RawSignature) -> Signature {
    let mut params = vec![Ty::Ptr, Ty::Ptr, Ty::I64];
    params.extend(signature.params.iter().copied().map(raw_type));
    Signature {
        params,
        results: vec![Ty::I64, raw_type(signature.result)],
    }
}

/// The host's parts of a closed unit.
#[derive(Clone, Debug)]
pub struct ClosedParts {
    pub(crate) boxed_cell: u64,
    pub(crate) raw_cell: u64,
    pub(crate) enter: Func,
}

impl ClosedParts {
    /// The parts of a closed unit: the addresses of the cell with the function's entry for objects
    /// and of the cell with its raw entry, and the LIR `enter`, `(thread) -> ()`. That accounts for
    /// the call, and fails if the call must not begin. It does not test the room.
    pub fn new(boxed_cell: u64, raw_cell: u64, enter: Func) -> ClosedParts {
        ClosedParts {
            boxed_cell,
            raw_cell,
            enter,
        }
    }
}
