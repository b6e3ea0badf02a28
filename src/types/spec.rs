//! Conversions between host entities and types: constructors, literals, and queries.

use super::handles::{ClassHandle, HostId, ObjectHandle};
use super::repr::{IMMORTAL, LIFE_MASK, Spec, Type};
use super::table::{
    BUILTIN_EXACT_BITS, CSIGNED_BITS, Leaf, OBJECT_BITS, PRIMITIVE_BITS, PRIMITIVES, Predefined,
    bit,
};

/// The reason why there is no such literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiteralError {
    /// The value is not in the type.
    #[error("{value} does not fit `{base}`")]
    OutOfRange {
        /// The value.
        value: i128,
        /// The type of the literal.
        base: Type,
    },
    /// The type is no single primitive integer type.
    #[error("`{base}` is not one primitive integer type")]
    NotAnInteger {
        /// The type of the literal.
        base: Type,
    },
}

/// The width and signedness of a primitive integer type.
fn integer_shape(base: Type) -> Option<(u32, bool)> {
    let leaves = base.leaves();
    let integers = Type::CINT.word() | Type::CPTR.word();
    if base.is_specialized() || leaves & integers == 0 {
        return None;
    }
    let (_, bytes) = PRIMITIVES.iter().find(|(leaf, _)| *leaf == leaves)?;
    Some((bytes * 8, leaves & CSIGNED_BITS != 0))
}

impl Type {
    /// The class as a type: its instances and those of all its subclasses. A predefined class gives
    /// its predefined type; a stale one gives `Object`, which claims nothing.
    pub fn from_class(class: ClassHandle) -> Type {
        let Some(row) = class.predefined() else {
            return Type::OBJECT;
        };
        if class.is_builtin_itself() {
            return row.ty();
        }
        if class.is_final() {
            return Type::from_class_exact(class);
        }
        Type::with_spec(row.user_family_bits() | LIFE_MASK, Spec::Class(class))
    }

    /// The class's own instances, without those of its subclasses.
    pub fn from_class_exact(class: ClassHandle) -> Type {
        let Some(row) = class.predefined() else {
            return Type::OBJECT;
        };
        if class.is_builtin_itself() {
            return row.exact_ty();
        }
        Type::with_spec(row.user_bit() | LIFE_MASK, Spec::Exact(class))
    }

    /// This object only, immortal if that is known. The one object of `NoneType` needs no
    /// specialization; a stale object gives `Object`.
    pub fn from_object(object: ObjectHandle) -> Type {
        let Some(class) = object.class() else {
            return Type::OBJECT;
        };
        let Some(row) = class.predefined() else {
            return Type::OBJECT;
        };
        let life = if object.is_immortal() {
            IMMORTAL
        } else {
            LIFE_MASK
        };
        let leaf = if class.is_builtin_itself() {
            row.exact_bit()
        } else {
            row.user_bit()
        };
        let spec = if row == Predefined::NoneType {
            Spec::None
        } else {
            Spec::Object(object)
        };
        Type::with_spec(leaf | life, spec)
    }

    /// One value of a primitive integer type.
    pub fn from_cint(base: Type, value: i64) -> Result<Type, LiteralError> {
        Type::from_integer(base, i128::from(value))
    }

    /// One value of a primitive integer or pointer type.
    pub fn from_cuint(base: Type, value: u64) -> Result<Type, LiteralError> {
        Type::from_integer(base, i128::from(value))
    }

    /// One address.
    pub fn from_cptr(address: u64) -> Type {
        Type::with_spec(Type::CPTR.word(), Spec::Int(address))
    }

    pub(super) fn from_integer(base: Type, value: i128) -> Result<Type, LiteralError> {
        let (bits, signed) = integer_shape(base).ok_or(LiteralError::NotAnInteger { base })?;
        let (low, high) = if signed {
            (-1_i128 << (bits - 1), 1_i128 << (bits - 1))
        } else {
            (0, 1 << bits)
        };
        if value < low || value >= high {
            return Err(LiteralError::OutOfRange { value, base });
        }
        Ok(Type::with_spec(base.word(), Spec::Int(value as u64)))
    }

    /// One boolean.
    pub const fn from_cbool(value: bool) -> Type {
        Type::with_spec(Type::CBOOL.word(), Spec::Int(value as u64))
    }

    /// One double, identified by its bits: 0.0 differs from -0.0, and a NaN equals itself.
    pub const fn from_cdouble(value: f64) -> Type {
        Type::with_spec(Type::CDOUBLE.word(), Spec::Double(value.to_bits()))
    }

    /// The class in a specialization: all values are instances of it, or of its subclasses unless
    /// [`is_exact`](Self::is_exact). None for an object, and for predefined types: those belong to
    /// no host, use [`unique_class_in`](Self::unique_class_in).
    pub fn unique_class(self) -> Option<ClassHandle> {
        match self.spec() {
            Spec::Class(class) | Spec::Exact(class) => Some(class),
            _ => None,
        }
    }

    /// The class in this host that the type describes, apart from mortality: `from_class` or
    /// `from_class_exact` of it has the same leaves. None for an object.
    pub fn unique_class_in(self, host: HostId) -> Option<ClassHandle> {
        match self.spec() {
            Spec::None => host.builtin_class(self.unique_predefined()?),
            _ => self
                .unique_class()
                .filter(|class| class.host() == Some(host)),
        }
    }

    /// The predefined class that the type describes, apart from mortality, exactly or with its
    /// subclasses.
    pub fn unique_predefined(self) -> Option<Predefined> {
        if self.is_specialized() {
            return None;
        }
        let same = |row: &&Predefined| {
            self.leaves() == row.family_bits() || self.leaves() == row.exact_bit()
        };
        Predefined::ALL.iter().find(same).copied()
    }

    /// The class of every value, if the specialization determines it: an exact class, or an
    /// object's.
    pub fn runtime_class(self) -> Option<ClassHandle> {
        match self.spec() {
            Spec::Exact(class) => Some(class),
            Spec::Object(object) => object.class(),
            _ => None,
        }
    }

    /// The class of every value, as this host's class.
    pub fn runtime_class_in(self, host: HostId) -> Option<ClassHandle> {
        match self.spec() {
            Spec::None if self.is_exact() => host.builtin_class(self.unique_predefined()?),
            Spec::None => None,
            _ => self
                .runtime_class()
                .filter(|class| class.host() == Some(host)),
        }
    }

    /// Returns true if no value's class is a proper subclass of the class or classes of the type.
    /// False for primitives, which have no class, and for `Bottom`.
    pub fn is_exact(self) -> bool {
        match self.spec() {
            Spec::Exact(_) | Spec::Object(_) => true,
            Spec::None => self.leaves() & !BUILTIN_EXACT_BITS == 0 && !self.is_bottom(),
            _ => false,
        }
    }

    /// Returns true if the type has one value, which is known (for `NoneType`: one for each host).
    pub fn is_single_value(self) -> bool {
        self.has_value_spec()
            || self.leaves() == bit(Leaf::NoneType)
            || self.leaves() == bit(Leaf::Nullptr)
    }

    /// Returns true if the type is specialized with a value: an object or a primitive's.
    pub fn has_value_spec(self) -> bool {
        matches!(
            self.spec(),
            Spec::Object(_) | Spec::Int(_) | Spec::Double(_)
        )
    }

    /// The object of an object specialization.
    pub fn as_object(self) -> Option<ObjectHandle> {
        match self.spec() {
            Spec::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The one object of the type in this host: as [`as_object`](Self::as_object), and of
    /// `NoneType` too.
    pub fn as_object_in(self, host: HostId) -> Option<ObjectHandle> {
        if self.leaves() == bit(Leaf::NoneType) {
            return host.none_object();
        }
        self.as_object()
            .filter(|object| object.host() == Some(host))
    }

    /// The value of an integer literal, if it fits.
    pub fn as_cint(self) -> Option<i64> {
        match self.spec() {
            Spec::Int(value) if self.leaves() & CSIGNED_BITS != 0 => Some(value as i64),
            Spec::Int(value) if self.leaves() & Type::CUNSIGNED.word() != 0 => {
                i64::try_from(value).ok()
            }
            _ => None,
        }
    }

    /// The value of an integer literal that is not negative.
    pub fn as_cuint(self) -> Option<u64> {
        match self.spec() {
            Spec::Int(value) if self.leaves() & CSIGNED_BITS != 0 => {
                u64::try_from(value as i64).ok()
            }
            Spec::Int(value) if self.leaves() & Type::CUNSIGNED.word() != 0 => Some(value),
            _ => None,
        }
    }

    /// The value of a boolean literal.
    pub fn as_cbool(self) -> Option<bool> {
        match self.spec() {
            Spec::Int(value) if self.leaves() == bit(Leaf::CBool) => Some(value != 0),
            _ => None,
        }
    }

    /// The value of a pointer literal.
    pub fn as_cptr(self) -> Option<u64> {
        match self.spec() {
            Spec::Int(value) if self.leaves() == bit(Leaf::CPtr) => Some(value),
            _ => None,
        }
    }

    /// The value of a double literal.
    pub fn as_cdouble(self) -> Option<f64> {
        match self.spec() {
            Spec::Double(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// The type without its mortality. An object that is known to be immortal stays so.
    pub fn drop_mortality(self) -> Type {
        match self.spec() {
            Spec::Object(object) if object.is_immortal() => self,
            _ if self.leaves() & OBJECT_BITS == 0 => self,
            _ => Type::with_spec(self.word() | LIFE_MASK, self.spec()),
        }
    }

    /// The type of the boxed values: an exact int, an exact float, a bool. None if some values have
    /// no box: objects are boxed already, pointers never are.
    pub fn as_boxed(self) -> Option<Type> {
        let boxes = [
            (Type::CBOOL, Type::BOOL),
            (Type::CINT, Type::LONG_EXACT),
            (Type::CDOUBLE, Type::FLOAT_EXACT),
        ];
        let mut boxed = Type::BOTTOM;
        let mut rest = self.leaves();
        for (raw, object) in boxes {
            if rest & raw.word() != 0 {
                boxed = Type::from_word(boxed.word() | object.word());
                rest &= !raw.word();
            }
        }
        (rest == 0).then_some(boxed)
    }

    /// The size of a value in a register or a slot, in bytes: a pointer's for objects. None if
    /// sizes are mixed, and for `Bottom`.
    pub fn size_in_bytes(self) -> Option<u32> {
        let objects = (self.leaves() & OBJECT_BITS != 0).then_some(8);
        let primitives = PRIMITIVES
            .iter()
            .filter(|(leaf, _)| self.leaves() & leaf != 0)
            .map(|(_, size)| *size);
        let mut sizes = objects.into_iter().chain(primitives);
        let first = sizes.next()?;
        sizes.all(|size| size == first).then_some(first)
    }

    /// Returns true if no value refers to other objects or runs code when it is deallocated, so
    /// that its deallocation is not observable.
    pub fn is_leaf_scalar(self) -> bool {
        const SCALARS: u64 = PRIMITIVE_BITS
            | bit(Leaf::LongExact)
            | bit(Leaf::Bool)
            | bit(Leaf::FloatExact)
            | bit(Leaf::UnicodeExact)
            | bit(Leaf::BytesExact)
            | bit(Leaf::NoneType);
        self.leaves() & !SCALARS == 0
    }
}
