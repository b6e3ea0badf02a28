//! The set operations. For two unspecialized types the operation is an instruction or two on the
//! words, which is inlined at its uses; all others are computed out of line, where a rule on leaves
//! and lifetimes meets a rule on specializations.

use std::cmp::Ordering;
use std::hint::cold_path;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Sub, SubAssign};

use super::handles::{ClassHandle, raw_is_subclass};
use super::repr::{
    KIND_CLASS, KIND_MASK, LIFE_MASK, PLAIN, Spec, Type, has_objects, is_plain_and_lives,
};
use super::table::{Leaf, PRIMITIVE_BITS, bit};

/// The class of which all values of a specialization are instances.
fn class_of(spec: Spec) -> Option<ClassHandle> {
    match spec {
        Spec::Class(class) | Spec::Exact(class) => Some(class),
        Spec::Object(object) => object.class(),
        Spec::None | Spec::Int(_) | Spec::Double(_) => None,
    }
}

impl Type {
    #[inline]
    fn is_subtype_of(self, other: Type) -> bool {
        if other.is_specialized() {
            self.is_subtype_slowly(other)
        } else {
            self.word_is_within(other)
        }
    }

    /// Returns true if all leaves and lifetimes are in `other`.
    #[inline]
    const fn word_is_within(self, other: Type) -> bool {
        self.raw & !(other.raw | KIND_MASK | PLAIN) == 0
    }

    #[inline(never)]
    fn is_subtype_slowly(self, other: Type) -> bool {
        if !self.word_is_within(other) {
            return false;
        }
        // Two classes: by far the most frequent case.
        if self.kind() == KIND_CLASS && other.kind() == KIND_CLASS {
            return self.payload == other.payload || raw_is_subclass(self.payload, other.payload);
        }
        self.spec_is_within(other)
    }

    /// Returns true if the specialization is at least as specific as that of `other`, given that
    /// leaves and lifetime are.
    fn spec_is_within(self, other: Type) -> bool {
        if self.is_bottom() || !other.is_specialized() {
            return true;
        }
        match (self.spec(), other.spec()) {
            (Spec::Class(a) | Spec::Exact(a), Spec::Class(b)) => a.is_subclass_of(b),
            (Spec::Exact(a), Spec::Exact(b)) => a == b,
            (Spec::Object(a), Spec::Object(b)) => a == b,
            (Spec::Object(a), Spec::Exact(b)) => a.class() == Some(b),
            (Spec::Object(a), Spec::Class(b)) => {
                a.class().is_some_and(|class| class.is_subclass_of(b))
            }
            _ => self == other,
        }
    }

    #[inline(never)]
    fn union_slowly(self, other: Type) -> Type {
        if self.is_subtype_of(other) {
            return other;
        }
        if other.is_subtype_of(self) {
            return self;
        }
        let word = self.word() | other.word();
        let (Some(a), Some(b)) = (class_of(self.spec()), class_of(other.spec())) else {
            return Type::from_word(word);
        };
        if self.spec() == other.spec() {
            // Only the lifetimes, or the leaves of a class, differ.
            return Type::with_spec(word, self.spec());
        }
        if a == b
            && self.is_exact()
            && other.is_exact()
            && !(self.as_object().is_some() && other.as_object().is_some())
        {
            return exact_or_plain(word, a);
        }
        if a.is_subclass_of(b) {
            class_or_plain(word, b)
        } else if b.is_subclass_of(a) {
            class_or_plain(word, a)
        } else {
            Type::from_word(word)
        }
    }

    #[inline(never)]
    fn intersect_slowly(self, other: Type) -> Type {
        let word = self.word() & other.word();
        let spec = if self.spec_is_within(other) {
            self.spec()
        } else if other.spec_is_within(self) {
            other.spec()
        } else {
            match (self.spec(), other.spec()) {
                (Spec::Class(a), Spec::Class(b)) if a.could_share_a_subclass(b) => {
                    Spec::Class(first_by_name(a, b))
                }
                _ => return Type::BOTTOM,
            }
        };
        Type::with_spec(word, spec)
    }

    #[inline(never)]
    fn subtract_slowly(self, other: Type) -> Type {
        if self.is_subtype_of(other) {
            return Type::BOTTOM;
        }
        if self.leaves() == bit(Leaf::CBool) {
            // The one primitive with so few values that the remaining one has a name.
            if let Some(value) = other.as_cbool() {
                return Type::from_cbool(!value);
            }
        }
        if !self.spec_is_within(other) {
            return self;
        }
        let word = self.word() | PLAIN;
        let word = subtract_words(word, word & (other.word() | PLAIN));
        Type::with_spec(word, self.spec())
    }

    /// Returns true if some value could be of both types.
    #[inline]
    pub fn could_be(self, other: Type) -> bool {
        let word = self.raw & other.raw;
        if !has_objects(word) || !is_plain_and_lives(word) {
            cold_path();
            if word & PLAIN == 0 {
                return self.could_be_slowly(other);
            }
            return word & PRIMITIVE_BITS != 0;
        }
        true
    }

    #[inline(never)]
    fn could_be_slowly(self, other: Type) -> bool {
        if Type::from_word(self.word() & other.word()).is_bottom() {
            return false;
        }
        if self.spec_is_within(other) || other.spec_is_within(self) {
            return true;
        }
        matches!((self.spec(), other.spec()), (Spec::Class(a), Spec::Class(b)) if a.could_share_a_subclass(b))
    }
}

/// These leaves of the class and its subclasses; for a predefined class the leaves suffice.
fn class_or_plain(word: u64, class: ClassHandle) -> Type {
    if class.is_builtin_itself() || !class.is_alive() {
        Type::from_word(word)
    } else if class.is_final() {
        Type::with_spec(word, Spec::Exact(class))
    } else {
        Type::with_spec(word, Spec::Class(class))
    }
}

fn exact_or_plain(word: u64, class: ClassHandle) -> Type {
    if class.is_builtin_itself() {
        Type::from_word(word)
    } else {
        Type::with_spec(word, Spec::Exact(class))
    }
}

/// A type can contain only one class, and neither of two unrelated ones is smaller: the choice must
/// not depend on their order.
fn first_by_name(a: ClassHandle, b: ClassHandle) -> ClassHandle {
    if (a.name(), a) <= (b.name(), b) { a } else { b }
}

/// The plain word of leaves and lifetimes without its part in `common` with another plain word.
/// Objects are a rectangle of leaves by lifetimes; the difference is representable only if the
/// other word spans one side of it, otherwise the rectangle stays whole.
#[inline]
const fn subtract_words(word: u64, common: u64) -> u64 {
    // Not `word & !other`: the common part is known, and this needs one register less.
    let rest = word ^ common;
    if rest & LIFE_MASK == 0 {
        // All our lifetimes go: leaves are removed, and with the last object the lifetime.
        if has_objects(rest) {
            return rest + (word & (LIFE_MASK | PLAIN));
        }
        cold_path();
        return rest + PLAIN;
    }
    cold_path();
    if has_objects(rest) {
        return rest | (word & !PRIMITIVE_BITS);
    }
    cold_path();
    // All our leaves go: lifetimes are removed.
    rest + (word & !(PRIMITIVE_BITS | LIFE_MASK))
}

impl BitOr for Type {
    type Output = Type;

    /// The smallest representable type that contains both; see [`super`] for the loss of precision.
    #[inline]
    fn bitor(self, other: Type) -> Type {
        if self.is_plain_with(other) {
            Type::from_normal(self.raw | other.raw)
        } else {
            self.union_slowly(other)
        }
    }
}

impl BitAnd for Type {
    type Output = Type;

    /// A type that contains every value in both; not always a subtype of both, see [`super`].
    #[inline]
    fn bitand(self, other: Type) -> Type {
        let word = self.raw & other.raw;
        if !has_objects(word) || !is_plain_and_lives(word) {
            cold_path();
            if word & PLAIN == 0 {
                return self.intersect_slowly(other);
            }
            return Type::from_normal(word & (PRIMITIVE_BITS | PLAIN));
        }
        Type::from_normal(word)
    }
}

impl Sub for Type {
    type Output = Type;

    /// A type that contains every value of `self` that is not in `other`.
    #[inline]
    fn sub(self, other: Type) -> Type {
        let common = self.raw & other.raw;
        if common & PLAIN != 0 {
            Type::from_normal(subtract_words(self.raw, common))
        } else {
            self.subtract_slowly(other)
        }
    }
}

impl BitOrAssign for Type {
    fn bitor_assign(&mut self, other: Type) {
        *self = *self | other;
    }
}

impl BitAndAssign for Type {
    fn bitand_assign(&mut self, other: Type) {
        *self = *self & other;
    }
}

impl SubAssign for Type {
    fn sub_assign(&mut self, other: Type) {
        *self = *self - other;
    }
}

impl PartialOrd for Type {
    fn partial_cmp(&self, other: &Type) -> Option<Ordering> {
        match (self.is_subtype_of(*other), other.is_subtype_of(*self)) {
            (true, true) => Some(Ordering::Equal),
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            (false, false) => None,
        }
    }

    /// Returns true if every value of `self` is in `other`.
    #[inline]
    fn le(&self, other: &Type) -> bool {
        self.is_subtype_of(*other)
    }

    #[inline]
    fn ge(&self, other: &Type) -> bool {
        other.is_subtype_of(*self)
    }

    #[inline]
    fn lt(&self, other: &Type) -> bool {
        self != other && self.is_subtype_of(*other)
    }

    #[inline]
    fn gt(&self, other: &Type) -> bool {
        other.lt(self)
    }
}
