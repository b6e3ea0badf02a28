//! Facts and where they come from: sources, assumptions, effects, and the plans that a host answers questions with.

mod raw;
mod snapshot;
mod text;
mod world;

pub use raw::{RawEntry, RawKind, RawSignature};
pub use snapshot::{Answer, Question, Recorder, Snapshot};
pub use world::{
    AccessKind, AnyCode, Argument, AttrPlan, Binds, Builtin, Callee, FieldAccess, Global, Inlinee,
    InstanceAccess, IntrinsicCall, IntrinsicId, Kin, LOCAL_WORDS, MOST_INLINED, NativeCall,
    Operator, OperatorPlan, Parameters, RawItems, StorePlan, World,
};

use crate::types::{ClassHandle, ObjectHandle};
use std::fmt;

/// Why a fact holds. A hint is none of these: it says what to bet on.
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

/// Something about the world that a unit relies on without checking; the host watches it.
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
    /// Nobody finds objects that he was not given: neither those of a frame's locals while its unit goes on, nor any by asking which
    /// objects there are.
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

/// What an operation may do besides giving its result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Effects {
    /// Reads memory that others may write.
    pub reads: bool,
    /// Writes memory that others may read.
    pub writes: bool,
    /// May run code of the program or the host's users (and so may do anything).
    pub runs_host_code: bool,
    /// May raise an exception.
    pub raises: bool,
    /// May drop the last reference to an object, or give memory back; where objects are traced, may run the collector.
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
    /// Anything.
    pub const ANY: Effects = Effects {
        reads: true,
        writes: true,
        runs_host_code: true,
        raises: true,
        releases: true,
    };

    /// The first thing in words that this may do and `other` may not. Reads count only if `other` says that it does
    /// nothing to memory at all, since what writes may read.
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
