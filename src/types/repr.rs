//! The sixteen bytes of a [`Type`]: their layout, and the only functions that construct them. The
//! module is separate because every other file may rely on the normal form kept here and none may
//! build a `Type` around it.
//!
//! `payload` is the content of the specialization, and `raw` the rest:
//!
//! ```text
//! bit 63 62   61 ........ 15   14 ......... 8   7      6         5       4 ......... 0
//!     kind    leaves: objects  leaves: primit.  plain  immortal  mortal  leaves: primitives
//! ```
//!
//! *Plain* means that there is no specialization, and the two kind bits are then zero; the
//! lifetimes are those that objects may have. In normal form there are lifetimes exactly if there
//! are objects. So union and subtyping of unspecialized types are the plain operation on the word,
//! lifetimes included, and so is intersection if the result has both or neither. The order of the
//! bits makes these tests short: for two words and-ed, one comparison of the lowest byte tests that
//! both are plain and share a lifetime, another comparison of the word that they share an object.

use super::handles::{ClassHandle, ObjectHandle};
use super::table::{Leaf, PRIMITIVE_BITS, bit};

/// A set of values, as far as sixteen bytes can describe it. See the [module page](super).
///
/// ```
/// use cladonia::types::Type;
///
/// let number = Type::LONG_EXACT | Type::FLOAT_EXACT;
/// assert!(Type::LONG_EXACT <= number && !(number <= Type::LONG));
/// assert_eq!(number & Type::LONG, Type::LONG_EXACT);
/// assert_eq!(Type::LONG_EXACT.to_string(), "LongExact");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type {
    pub(super) raw: u64,
    pub(super) payload: u64,
}

const _: () = assert!(size_of::<Type>() == 16);
const _: () = assert!(size_of::<ClassHandle>() == 8 && size_of::<ObjectHandle>() == 8);

/// The number of leaves below the lifetimes.
pub(crate) const LEAVES_BELOW: u32 = 5;
/// The number of bits between these leaves and the others.
pub(crate) const MIDDLE_WIDTH: u32 = 3;
/// The mortal half of the lifetime.
pub(crate) const MORTAL: u64 = 1 << LEAVES_BELOW;
/// The immortal half of the lifetime.
pub(crate) const IMMORTAL: u64 = 2 << LEAVES_BELOW;
pub(crate) const LIFE_MASK: u64 = MORTAL | IMMORTAL;
/// Set if there is no specialization.
pub(crate) const PLAIN: u64 = 4 << LEAVES_BELOW;
const _: () = assert!(PLAIN == 1 << 7, "the highest bit of the lowest byte");

pub(crate) const KIND_SHIFT: u32 = 62;
pub(crate) const KIND_MASK: u64 = 0b11 << KIND_SHIFT;
pub(crate) const KIND_CLASS: u64 = 1 << KIND_SHIFT;
pub(crate) const KIND_EXACT: u64 = 2 << KIND_SHIFT;
/// An object, or a primitive's value, depending on the leaf.
pub(crate) const KIND_VALUE: u64 = 3 << KIND_SHIFT;

/// The number of bits for leaves.
pub(crate) const LEAF_BUDGET: u32 = KIND_SHIFT - MIDDLE_WIDTH;
pub(crate) const LEAF_MASK: u64 = !(KIND_MASK | PLAIN | LIFE_MASK);

/// The specialization of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spec {
    /// None: leaves and lifetime only.
    None,
    /// Instances of the class or of one that derives from it.
    Class(ClassHandle),
    /// Instances of exactly the class.
    Exact(ClassHandle),
    /// This object only.
    Object(ObjectHandle),
    /// One value of a primitive integer (sign-extended where the leaf is signed), pointer, or
    /// boolean (0 or 1).
    Int(u64),
    /// One double, as its bits.
    Double(u64),
}

impl Spec {
    const fn encode(self) -> (u64, u64) {
        match self {
            Spec::None => (PLAIN, 0),
            Spec::Class(class) => (KIND_CLASS, class.to_raw()),
            Spec::Exact(class) => (KIND_EXACT, class.to_raw()),
            Spec::Object(object) => (KIND_VALUE, object.to_raw()),
            Spec::Int(value) => (KIND_VALUE, value),
            Spec::Double(bits) => (KIND_VALUE, bits),
        }
    }
}

/// Returns true if a word without a kind has leaves of objects.
#[inline]
pub(super) const fn has_objects(word: u64) -> bool {
    word > (PRIMITIVE_BITS | LIFE_MASK | PLAIN)
}

/// Returns true if a word is plain and has a lifetime.
#[inline]
pub(super) const fn is_plain_and_lives(word: u64) -> bool {
    word as u8 >= (PLAIN | MORTAL) as u8
}

impl Type {
    /// The unspecialized type of these leaves, mortal or immortal.
    pub(super) const fn plain(bits: u64) -> Type {
        Type::from_word(bits | LIFE_MASK)
    }

    /// Returns true if neither type is specialized.
    #[inline]
    pub(super) const fn is_plain_with(self, other: Type) -> bool {
        self.raw & other.raw & PLAIN != 0
    }

    /// Leaves and lifetimes.
    #[inline]
    pub(super) const fn word(self) -> u64 {
        self.raw & (LEAF_MASK | LIFE_MASK)
    }

    /// The unspecialized type with this word, which is already plain and in normal form.
    #[inline]
    pub(super) const fn from_normal(raw: u64) -> Type {
        Type { raw, payload: 0 }
    }

    /// The unspecialized type of these leaves and lifetimes, in normal form: no objects without a
    /// lifetime, no lifetime without objects.
    #[inline]
    pub(super) const fn from_word(word: u64) -> Type {
        let is_whole = has_objects(word) && word & LIFE_MASK != 0;
        let kept = if is_whole {
            word
        } else {
            word & PRIMITIVE_BITS
        };
        Type::from_normal(kept | PLAIN)
    }

    /// Constructs a specialized type; the caller guarantees that the leaves of `word` fit the
    /// specialization. Leaves and lifetime without values give `Bottom`, regardless of the
    /// specialization.
    pub(super) const fn with_spec(word: u64, spec: Spec) -> Type {
        let (kind, payload) = spec.encode();
        let plain = Type::from_word(word);
        if plain.is_bottom() {
            return plain;
        }
        Type {
            raw: plain.raw & !PLAIN | kind,
            payload,
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

    /// The specialization of the type.
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
            KIND_VALUE if has_objects(self.word()) => match ObjectHandle::from_raw(self.payload) {
                Some(object) => Spec::Object(object),
                None => Spec::None,
            },
            KIND_VALUE if self.leaves() == bit(Leaf::CDouble) => Spec::Double(self.payload),
            KIND_VALUE => Spec::Int(self.payload),
            _ => Spec::None,
        }
    }

    /// The type without its specialization: leaves and lifetime stay.
    #[inline]
    pub const fn unspecialized(self) -> Type {
        Type::from_normal(self.raw & !KIND_MASK | PLAIN)
    }

    /// The type or a null pointer. One specialization cannot describe both, so it is dropped.
    pub const fn opt(self) -> Type {
        Type::from_normal(self.unspecialized().raw | bit(Leaf::Nullptr))
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

    /// Returns true if no value is of this type.
    #[inline]
    pub const fn is_bottom(self) -> bool {
        self.raw == PLAIN
    }

    /// Returns true if the type has a specialization.
    #[inline]
    pub const fn is_specialized(self) -> bool {
        self.raw & PLAIN == 0
    }
}
