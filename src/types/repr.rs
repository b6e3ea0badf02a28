//! The sixteen bytes of a [`Type`]: how they are laid out, and the only functions that put them together. It is
//! separate because every other file may rely on the normal form kept here and none may build a `Type` around it.
//!
//! `raw` holds the leaves (bit 0 up), two bits for the lifetimes objects are known *not* to have, and three for the kind of
//! specialization; `payload` holds what that is about. Lifetimes are kept as what is excluded, so that a type that
//! says nothing of mortality has nothing above its leaves: of two such types all operations are plain ones on the leaves, and one
//! compare tells that they are such. Everything but that shortcut works on the *word*, where a lifetime bit means
//! that there are objects that may have it.

use super::handles::{ClassHandle, ObjectHandle};
use super::table::{OBJECT_BITS, PRIMITIVE_BITS};

/// A set of values, as much as sixteen bytes can say about it. See the [module page](super).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type {
    pub(super) raw: u64,
    pub(super) payload: u64,
}

const _: () = assert!(size_of::<Type>() == 16);
const _: () = assert!(size_of::<ClassHandle>() == 8 && size_of::<ObjectHandle>() == 8);

/// How many leaves fit below the lifetime.
pub(crate) const LEAF_BUDGET: u32 = 59;
pub(crate) const KIND_SHIFT: u32 = 61;
pub(crate) const LEAF_MASK: u64 = (1 << LEAF_BUDGET) - 1;
pub(crate) const LIFE_MASK: u64 = 0b11 << LEAF_BUDGET;
pub(crate) const KIND_MASK: u64 = 0b111 << KIND_SHIFT;
/// The mortal half of the lifetime.
pub(crate) const MORTAL: u64 = 1 << LEAF_BUDGET;
/// The immortal half of the lifetime.
pub(crate) const IMMORTAL: u64 = 2 << LEAF_BUDGET;

pub(crate) const KIND_NONE: u64 = 0;
pub(crate) const KIND_CLASS: u64 = 1 << KIND_SHIFT;
pub(crate) const KIND_EXACT: u64 = 2 << KIND_SHIFT;
pub(crate) const KIND_OBJECT: u64 = 3 << KIND_SHIFT;
pub(crate) const KIND_INT: u64 = 4 << KIND_SHIFT;
pub(crate) const KIND_DOUBLE: u64 = 5 << KIND_SHIFT;

/// What a type is specialized with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spec {
    /// Nothing: leaves and lifetime say it all.
    None,
    /// Instances of the class or of one that derives from it.
    Class(ClassHandle),
    /// Instances of exactly the class.
    Exact(ClassHandle),
    /// This object and no other.
    Object(ObjectHandle),
    /// One value of a primitive integer (sign-extended where the leaf is signed), pointer, or boolean (0 or 1).
    Int(u64),
    /// One double, as its bits.
    Double(u64),
}

impl Spec {
    const fn encode(self) -> (u64, u64) {
        match self {
            Spec::None => (KIND_NONE, 0),
            Spec::Class(class) => (KIND_CLASS, class.to_raw()),
            Spec::Exact(class) => (KIND_EXACT, class.to_raw()),
            Spec::Object(object) => (KIND_OBJECT, object.to_raw()),
            Spec::Int(value) => (KIND_INT, value),
            Spec::Double(bits) => (KIND_DOUBLE, bits),
        }
    }
}

impl Type {
    /// The unspecialized type of these leaves, mortal or immortal.
    pub(super) const fn plain(bits: u64) -> Type {
        Type::from_raw_plain(bits)
    }

    /// Leaves without lifetime and specialization.
    #[inline]
    pub(super) const fn from_raw_plain(raw: u64) -> Type {
        Type { raw, payload: 0 }
    }

    /// Whether neither type has a lifetime or a specialization.
    #[inline]
    pub(super) const fn is_plain_with(self, other: Type) -> bool {
        (self.raw | other.raw) >> LEAF_BUDGET == 0
    }

    /// Leaves, lifetimes and kind, with the lifetimes there can be.
    pub(super) const fn word(self) -> u64 {
        if self.raw & OBJECT_BITS == 0 {
            self.raw
        } else {
            self.raw ^ LIFE_MASK
        }
    }

    /// An unspecialized word as a type, in normal form: no objects without a lifetime, no lifetime without objects.
    pub(super) const fn from_word(word: u64) -> Type {
        let has_objects = word & OBJECT_BITS != 0 && word & LIFE_MASK != 0;
        Type::from_raw_plain(if has_objects {
            word ^ LIFE_MASK
        } else {
            word & PRIMITIVE_BITS
        })
    }

    /// Puts a specialized type together; a caller answers for `word`'s leaves being the specialization's.
    /// Leaves and lifetime that leave no value give `Bottom`, whatever the specialization.
    pub(super) const fn with_spec(word: u64, spec: Spec) -> Type {
        let (kind, payload) = spec.encode();
        let plain = Type::from_word(word & !KIND_MASK);
        if plain.is_bottom() {
            plain
        } else {
            Type {
                raw: plain.raw | kind,
                payload,
            }
        }
    }

    #[inline]
    pub(super) const fn kind(self) -> u64 {
        self.raw & KIND_MASK
    }

    #[inline]
    pub(super) const fn leaves(self) -> u64 {
        self.raw & LEAF_MASK
    }

    /// What the type is specialized with.
    #[inline]
    pub const fn spec(self) -> Spec {
        match self.kind() {
            KIND_CLASS => match ClassHandle::from_raw(self.payload) {
                Some(class) => Spec::Class(class),
                None => Spec::None,
            },
            KIND_EXACT => match ClassHandle::from_raw(self.payload) {
                Some(class) => Spec::Exact(class),
                None => Spec::None,
            },
            KIND_OBJECT => match ObjectHandle::from_raw(self.payload) {
                Some(object) => Spec::Object(object),
                None => Spec::None,
            },
            KIND_INT => Spec::Int(self.payload),
            KIND_DOUBLE => Spec::Double(self.payload),
            _ => Spec::None,
        }
    }

    /// The type without its specialization: leaves and lifetime stay.
    #[inline]
    pub const fn unspecialized(self) -> Type {
        Type::from_raw_plain(self.raw & !KIND_MASK)
    }

    /// The type or a null pointer. One specialization cannot speak of both, so it is dropped.
    pub const fn opt(self) -> Type {
        Type::from_raw_plain(
            self.unspecialized().raw | super::table::bit(super::table::Leaf::Nullptr),
        )
    }

    /// The part of the type whose objects are mortal; primitives stay.
    pub const fn mortal(self) -> Type {
        self.with_life(self.word() & MORTAL)
    }

    /// The part of the type whose objects are immortal; primitives stay.
    pub const fn immortal(self) -> Type {
        self.with_life(self.word() & IMMORTAL)
    }

    const fn with_life(self, life: u64) -> Type {
        Type::with_spec(self.leaves() | life, self.spec())
    }

    /// Whether no value is of this type.
    #[inline]
    pub const fn is_bottom(self) -> bool {
        self.raw == 0
    }

    /// Whether the type carries a specialization.
    #[inline]
    pub const fn is_specialized(self) -> bool {
        self.kind() != KIND_NONE
    }
}
