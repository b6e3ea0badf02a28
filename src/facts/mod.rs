//! Facts and their sources, assumptions, effects, and the plans with which a host answers queries.

mod raw;
mod snapshot;
mod text;
mod world;

pub use raw::{RawEntry, RawKind, RawSignature};
pub use snapshot::{Answer, Question, Recorder, Snapshot};
pub use world::{
    AccessKind, AnyCode, Argument, AttrPlan, Binds, Builtin, Callee, Computed, FieldAccess,
    Forwarding, GetterArg, Global, Inlinee, InstanceAccess, IntrinsicCall, IntrinsicId, Kin,
    LOCAL_WORDS, MOST_INLINED, Missing, NativeCall, Operator, OperatorPlan, Parameters, Parts,
    RawItems, StorePlan, World,
};

use crate::types::{ClassHandle, ObjectHandle};
use std::fmt;

/// The reason why a fact holds. A hint is none of these: it only suggests a speculation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Source {
    /// It follows from the program.
    Proved,
    /// A run-time check dominates it.
    Guarded,
    /// A watch invalidates the code when it ceases to hold.
    Assumed,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Proved => "proved",
            Source::Guarded => "guarded",
            Source::Assumed => "assumed",
        })
    }
}

/// A fact about the program's state on which a unit relies without a check; the host watches it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Assumption {
    /// The class, and those it inherits from, keep their attributes.
    ClassUnchanged(ClassHandle),
    /// A name keeps its value in a namespace (the host's token for the namespace).
    NameUnchanged {
        /// The namespace.
        namespace: u64,
        /// The name.
        name: String,
    },
    /// A function keeps its code and its defaults.
    FunctionUnchanged(ObjectHandle),
    /// No code finds objects that it was not given: neither those in the locals of a frame whose
    /// unit is running, nor any through `gc.get_objects()`.
    ObjectsPrivate,
}

impl Assumption {
    /// A name keeps its value.
    pub fn name(namespace: u64, name: &str) -> Assumption {
        Assumption::NameUnchanged {
            namespace,
            name: name.to_owned(),
        }
    }
}

/// The possible effects of an operation besides its result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Effects {
    /// Reads memory that other code may write.
    pub reads: bool,
    /// Writes memory that other code may read.
    pub writes: bool,
    /// May run user code or the embedder's code (and so may have any effect).
    pub runs_host_code: bool,
    /// May raise an exception.
    pub raises: bool,
    /// May drop the last reference to an object, or free memory. If the host traces objects, may
    /// run the collector.
    pub releases: bool,
}

impl Effects {
    /// None at all.
    pub const NONE: Effects = Effects {
        reads: false,
        writes: false,
        runs_host_code: false,
        raises: false,
        releases: false,
    };
    /// Reads only.
    pub const READS: Effects = Effects {
        reads: true,
        ..Effects::NONE
    };
    /// Reads and writes.
    pub const WRITES: Effects = Effects {
        reads: true,
        writes: true,
        ..Effects::NONE
    };
    /// All effects.
    pub const ANY: Effects = Effects {
        reads: true,
        writes: true,
        runs_host_code: true,
        raises: true,
        releases: true,
    };

    /// The first effect, in words, that this has and `other` lacks. A read counts only if `other`
    /// has no effect on memory, since an operation that writes may also read.
    pub fn first_beyond(self, other: Effects) -> Option<&'static str> {
        let rows = [
            (self.writes, other.writes, "write memory"),
            (self.reads, other.reads || other.writes, "read memory"),
            (self.runs_host_code, other.runs_host_code, "run host code"),
            (self.raises, other.raises, "raise"),
        ];
        let beyond = rows.into_iter().find(|&(own, others, _)| own && !others);
        beyond.map(|row| row.2)
    }
}
