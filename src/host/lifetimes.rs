//! When an object is needed no more: what the host does about it, and so what compiled code does.

use super::{DEALLOC, FREE_LEAF, names};

/// How it is known when an object is needed no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Lifetimes {
    /// References are counted. Compiled code takes and drops them where the host's interpreter does; objects may be
    /// immortal.
    #[default]
    Counted,
    /// A collector finds what is needed, and may move it. Compiled code counts nothing. It keeps its references where
    /// [`NativeStack::visit`](crate::code::NativeStack::visit) shows them and takes their new values from there, and
    /// those of its calls' arguments and of exit buffers too.
    ///
    /// The host keeps to this:
    /// - Frames and threads do not move, and the collector knows the slots of frames itself.
    /// - What the compiler has a name for does not move or die: registered classes and objects (constants, what globals
    ///   held when they were looked up, callees), and singletons. Their addresses are in the code.
    /// - A collection happens only where something has been called that [may
    ///   collect](crate::lir::Helper::may_collect).
    /// - Helpers take care of their own operands and results. (An array of arguments is updated in place while the helper
    ///   runs that was given it.)
    /// - An intrinsic that needs an address after such a call lists it as a [reference](crate::lir::Refs), and keeps no
    ///   address of a part of an object across one ([`HostBuilder::finish`](super::HostBuilder::finish) looks). Write
    ///   barriers are in the intrinsics that store.
    Traced {
        /// Byte offset, in the thread that compiled code is given, of the thread's
        /// [`NativeStack`](crate::code::NativeStack).
        native_stack: i32,
    },
}

impl Lifetimes {
    /// Whether references are counted.
    pub fn are_counted(self) -> bool {
        self == Lifetimes::Counted
    }

    /// Whether the standard intrinsic or helper of this name is needed.
    pub(super) fn needs(self, name: &str) -> bool {
        self.are_counted() || !COUNTING.contains(&name)
    }
}

/// The standard intrinsics and helpers that count references, or end lives.
const COUNTING: &[&str] = &[
    names::INCREF,
    names::DROP,
    names::DECREF_LEAF,
    names::DECREF_INT,
    names::DECREF_FLOAT,
    FREE_LEAF,
    DEALLOC,
];
