//! The lifetimes of objects: counted references or a tracing collector.

use super::{DEALLOC, FREE_LEAF, names};

/// The way in which unused objects are recognised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Lifetimes {
    /// References are counted. Compiled code takes and drops them where the host's interpreter
    /// does; objects may be immortal.
    #[default]
    Counted,
    /// A collector finds the live objects, and may move them. Compiled code counts nothing. It
    /// keeps its references where [`NativeStack::visit`](crate::code::NativeStack::visit) visits
    /// and updates them, including those in its calls' arguments and in exit buffers.
    ///
    /// Requirements on the host:
    /// - Frames and threads do not move, and the collector knows the slots of frames itself.
    /// - Objects to which compiled code refers by address do not move or die: registered classes
    ///   and objects (constants, the values of globals when they were queried, callees), and
    ///   singletons.
    /// - A collection happens only in a call of a function that [may
    ///   collect](crate::lir::Helper::may_collect).
    /// - Helpers take care of their own operands and results. (An array of arguments is updated in
    ///   place while the helper that received it runs.)
    /// - An intrinsic that needs an address after such a call lists it as a
    ///   [reference](crate::lir::Refs), and keeps no address of a part of an object across one
    ///   ([`HostBuilder::finish`](super::HostBuilder::finish) checks that). Write barriers are in
    ///   the intrinsics that store.
    Traced {
        /// The byte offset of the thread's [`NativeStack`](crate::code::NativeStack) in the thread
        /// that compiled code receives.
        native_stack: i32,
    },
}

impl Lifetimes {
    /// Returns true if references are counted.
    pub fn are_counted(self) -> bool {
        self == Lifetimes::Counted
    }

    /// Returns true if the standard intrinsic or helper of this name is needed.
    pub(super) fn needs(self, name: &str) -> bool {
        self.are_counted() || !COUNTING.contains(&name)
    }
}

/// The standard intrinsics and helpers that count references, or deallocate objects.
const COUNTING: &[&str] = &[
    names::INCREF,
    names::DROP,
    names::DECREF_LEAF,
    names::DECREF_INT,
    names::DECREF_FLOAT,
    FREE_LEAF,
    DEALLOC,
];
