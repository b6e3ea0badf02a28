//! Faults in low-level types, and errors of operations on their values.

use super::MemoryError;

/// A type that breaks a rule of composition.
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
    /// An array without stored length is in a structure that a collector must be able to measure.
    #[error("the array `{field}` of `{structure}` must have a length: a collector walks it")]
    NoLengthInGcStruct {
        /// The structure.
        structure: String,
        /// The field.
        field: String,
    },
    /// A collector's array is part of another container.
    #[error("a {0} can't lie in another container; use a pointer to it")]
    GcArrayInlined(String),
    /// A collector's structure is part of a container other than as the first field of a
    /// collector's structure.
    #[error("a {0} can only lie in a GcStruct, as its first field; use a pointer to it")]
    GcStructInlined(String),
    /// A collector's opaque data is part of a container.
    #[error("a {0} can't lie in another container; use a pointer to it")]
    GcOpaqueInlined(String),
    /// A structure of open size is part of a container.
    #[error("a {0} has no size of its own, so it can't lie in another container")]
    VarsizedInlined(String),
    /// A function is part of a container.
    #[error("a {0} can't lie in a container; use a pointer to it")]
    FunctionInlined(String),
    /// Not allowed in an array.
    #[error(
        "an array can't have items {0}: only primitives, pointers and structures of known size that no collector owns"
    )]
    Item(String),
    /// A pointer to a type that is no container.
    #[error("a pointer can't point to {0}: put it into a structure with one field")]
    PointerTo(String),
    /// A container is passed or returned.
    #[error("a function can't take or give a {0} itself; use a pointer to it")]
    Passed(String),
    /// A forward reference is used before its definition.
    #[error("a forward reference is used before it is defined")]
    Unresolved,
    /// The type is not a forward reference, or is already defined.
    #[error("{0} is not an undefined forward reference")]
    NotForward(String),
    /// A forward reference is defined as a type of plain values.
    #[error("a forward reference can only become a container, not {0}")]
    BecomesValue(String),
    /// A forward reference is defined as a type with another owner than declared.
    #[error("{0} does not have the owner that the forward reference declared")]
    BecomesOtherKind(String),
}

/// An error of an allocation, an access, a cast or a call.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LlError {
    /// A faulty access to memory.
    #[error("{0}")]
    Memory(#[from] MemoryError),
    /// A value of a type that the place does not take.
    #[error("{place} takes {expected}, not {found}")]
    WrongType {
        /// The place.
        place: String,
        /// The type that the place takes.
        expected: String,
        /// The value's type.
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
        /// The indexed object.
        object: String,
        /// Its length.
        length: u64,
    },
    /// A null pointer is used.
    #[error("{0} through null")]
    Null(String),
    /// Only a collector's containers may be allocated in this way.
    #[error("{0} is owned by no collector: allocate it raw or immortal")]
    NotOwned(String),
    /// The type has no size, or is not data.
    #[error("{0} can't be allocated")]
    Unmallocable(String),
    /// A length is missing, or given for a type without one.
    #[error("{container} {}", if *needed { "needs a length" } else { "takes no length" })]
    Length {
        /// The type.
        container: String,
        /// True if a length is needed.
        needed: bool,
    },
    /// A negative length.
    #[error("an allocation of {0} items")]
    NegativeLength(i64),
    /// There is not enough memory.
    #[error("an allocation of {0} items is too large")]
    TooLarge(i64),
    /// A free of an allocation that is not raw.
    #[error("{0} belongs to a collector and is not freed by hand")]
    FreesOwned(String),
    /// The pointer is not to the start of an allocation.
    #[error("{0} is no allocation of its own")]
    NotAnAllocation(String),
    /// Pointer types that are not related.
    #[error("a pointer to {from} can't be cast to one to {to}")]
    InvalidCast {
        /// The source type.
        from: String,
        /// The target type.
        to: String,
    },
    /// A cast that would change the owner of the target.
    #[error("a cast from {from} to {to} changes whether a collector owns it")]
    CastChangesOwner {
        /// The source type.
        from: String,
        /// The target type.
        to: String,
    },
    /// The object is not part of the larger structure to which the pointer is cast.
    #[error("widening to trash: {object} is not the first field of a {to}")]
    WideningToTrash {
        /// The object.
        object: String,
        /// The type it is cast to.
        to: String,
    },
    /// A comparison of pointers of different types.
    #[error("a pointer to {0} is compared with one to {1}")]
    Compared(String, String),
    /// A call of null or of a function without body.
    #[error("a call of the undefined function {0}")]
    Undefined(String),
    /// A call with too many or too few arguments.
    #[error("`{function}` takes {expected} arguments, not {found}")]
    Arity {
        /// The function.
        function: String,
        /// The number of parameters.
        expected: usize,
        /// The number of arguments.
        found: usize,
    },
    /// A type without run-time type information.
    #[error("{0} has no run-time type information")]
    NoTypeInfo(String),
    /// A query function of a wrong type.
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
        /// The result of the query function.
        told: String,
        /// The actual type.
        found: String,
    },
    /// Raw allocations were not freed.
    #[error("not freed: {}", .0.join(", "))]
    Leaks(Vec<String>),
    /// An exception raised by a function's body.
    #[error("{0}")]
    Raised(String),
}
