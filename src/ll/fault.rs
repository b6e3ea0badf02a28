//! What can be wrong with low-level types and with what is done with them.

use super::MemoryError;

/// A rule of composition that a type breaks.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TypeFault {
    /// A field's name begins with an underscore.
    #[error(
        "the field `{field}` of `{structure}` begins with an underscore; such names are kept for the implementation"
    )]
    FieldName {
        /// The structure.
        structure: String,
        /// The field.
        field: String,
    },
    /// Two fields have one name.
    #[error("`{structure}` has two fields `{field}`")]
    RepeatedField {
        /// The structure.
        structure: String,
        /// The field.
        field: String,
    },
    /// An array of open length is followed by another field.
    #[error(
        "the array `{field}` can't lie in `{structure}` unless as the last field of a structure"
    )]
    ArrayNotLast {
        /// The structure.
        structure: String,
        /// The field.
        field: String,
    },
    /// An array without stored length in a structure that a collector must be able to measure.
    #[error("the array `{field}` of `{structure}` must have a length: a collector walks it")]
    NoLengthInGcStruct {
        /// The structure.
        structure: String,
        /// The field.
        field: String,
    },
    /// A collector's array lies in something.
    #[error("a {0} can't lie in another container; use a pointer to it")]
    GcArrayInlined(String),
    /// A collector's structure lies in something other than the first field of a collector's structure.
    #[error("a {0} can only lie in a GcStruct, as its first field; use a pointer to it")]
    GcStructInlined(String),
    /// A collector's opaque data lies in something.
    #[error("a {0} can't lie in another container; use a pointer to it")]
    GcOpaqueInlined(String),
    /// A structure of open size lies in something.
    #[error("a {0} has no size of its own, so it can't lie in another container")]
    VarsizedInlined(String),
    /// A function lies in something.
    #[error("a {0} can't lie in a container; use a pointer to it")]
    FunctionInlined(String),
    /// Not allowed in an array.
    #[error(
        "an array can't have items {0}: only primitives, pointers and structures of known size that no collector owns"
    )]
    Item(String),
    /// A pointer to something that is no container.
    #[error("a pointer can't point to {0}: put it into a structure with one field")]
    PointerTo(String),
    /// A container is passed or returned.
    #[error("a function can't take or give a {0} itself; use a pointer to it")]
    Passed(String),
    /// A forward reference is used before it is defined.
    #[error("a forward reference is used before it is defined")]
    Unresolved,
    /// Not a forward reference, or already defined.
    #[error("{0} is no forward reference that is still open")]
    NotForward(String),
    /// A forward reference would become a value.
    #[error("a forward reference can only become a container, not {0}")]
    BecomesValue(String),
    /// A forward reference would become owned otherwise than promised.
    #[error(
        "{0} is not owned by a collector, or not left alone by it, as the forward reference promised"
    )]
    BecomesOtherKind(String),
}

/// What can be wrong with an allocation, an access, a cast or a call.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LlError {
    /// A wrong access to memory.
    #[error("{0}")]
    Memory(#[from] MemoryError),
    /// A value of another type than the place wants.
    #[error("{place} takes {expected}, not {found}")]
    WrongType {
        /// Where.
        place: String,
        /// The type it takes.
        expected: String,
        /// The value's.
        found: String,
    },
    /// No such field.
    #[error("{container} has no field `{field}`")]
    NoField {
        /// The container's type.
        container: String,
        /// The field.
        field: String,
    },
    /// Not an array, or one without length where that is needed.
    #[error("{0} is no array with a length")]
    NoArray(String),
    /// A container can't be assigned as a whole.
    #[error("{0} lies in its container and can't be assigned")]
    AssignsContainer(String),
    /// The index is not in the array.
    #[error("index {index} of {object}, which has {length} items")]
    Index {
        /// The index.
        index: i64,
        /// What is indexed.
        object: String,
        /// Its length.
        length: u64,
    },
    /// A pointer to null is used.
    #[error("{0} through null")]
    Null(String),
    /// Only a collector's containers may be allocated in this way.
    #[error("{0} is owned by no collector: allocate it raw or immortal")]
    NotOwned(String),
    /// It has no size, or is no data.
    #[error("{0} can't be allocated")]
    Unmallocable(String),
    /// A length is missing or given where there is none.
    #[error("{container} {}", if *needed { "needs a length" } else { "takes no length" })]
    Length {
        /// The type.
        container: String,
        /// Whether one is needed.
        needed: bool,
    },
    /// A negative length.
    #[error("an allocation of {0} items")]
    NegativeLength(i64),
    /// No memory holds so much.
    #[error("an allocation of {0} items is too large")]
    TooLarge(i64),
    /// Only raw allocations are freed by hand.
    #[error("{0} belongs to a collector and is not freed by hand")]
    FreesOwned(String),
    /// The pointer is not to the start of an allocation.
    #[error("{0} is no allocation of its own")]
    NotAnAllocation(String),
    /// Pointer types that are not related.
    #[error("a pointer to {from} can't be cast to one to {to}")]
    InvalidCast {
        /// From.
        from: String,
        /// To.
        to: String,
    },
    /// A cast must not change who owns the target.
    #[error("a cast from {from} to {to} changes whether a collector owns it")]
    CastChangesOwner {
        /// From.
        from: String,
        /// To.
        to: String,
    },
    /// The object is not part of the larger structure that the pointer is cast to.
    #[error("widening to trash: {object} is not the first field of a {to}")]
    WideningToTrash {
        /// What is pointed to.
        object: String,
        /// The type it is cast to.
        to: String,
    },
    /// Pointers of different types are compared.
    #[error("a pointer to {0} is compared with one to {1}")]
    Compared(String, String),
    /// A call of null or of something without body.
    #[error("a call of the undefined function {0}")]
    Undefined(String),
    /// A call with too many or too few arguments.
    #[error("`{function}` takes {expected} arguments, not {found}")]
    Arity {
        /// The function.
        function: String,
        /// How many it takes.
        expected: usize,
        /// How many it got.
        found: usize,
    },
    /// No run-time type information.
    #[error("{0} has no run-time type information")]
    NoTypeInfo(String),
    /// A query function of another type.
    #[error(
        "a query function must be Func(* {structure}) -> * Opaque RuntimeTypeInfo, not {found}"
    )]
    QueryFunction {
        /// The structure.
        structure: String,
        /// The function's type.
        found: String,
    },
    /// The query function and the allocation disagree.
    #[error("the query function says {told}, but {object} is a {found}")]
    WrongTypeInfo {
        /// The object.
        object: String,
        /// What the query function said.
        told: String,
        /// What it is.
        found: String,
    },
    /// Raw allocations were not freed.
    #[error("not freed: {}", .0.join(", "))]
    Leaks(Vec<String>),
    /// What a function's body raised.
    #[error("{0}")]
    Raised(String),
}
