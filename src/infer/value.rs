//! The facts about one value: its type, its constant, and the objects of the analysed program that
//! it may be.
//!
//! Facts about the *inside* of an object are not here: they belong to its identity
//! ([`super::Identity`]), which is shared by all values that may be the object.

use super::identity::Identity;
use crate::facts::Source;
use crate::types::{ConstValue, Type};
use cranelift_entity::entity_impl;
use std::fmt;

/// An abstract value, printed `SV12`. It is only an identity: the facts about it are in the
/// [`AnnotationSet`](super::AnnotationSet).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sv(u32);
entity_impl!(Sv, "SV");

impl Sv {
    /// No value can be here: all facts hold vacuously.
    pub const IMPOSSIBLE: Sv = Sv(0);
    /// Anything may be here: no fact holds, and none ever will.
    pub const MOST_GENERAL: Sv = Sv(1);
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Sv::IMPOSSIBLE => f.write_str("impossiblevalue"),
            Sv::MOST_GENERAL => f.write_str("mostgeneralvalue"),
            sv => write!(f, "{sv:?}"),
        }
    }
}

/// A value as the reports name it.
pub(super) struct Named(pub Sv);

/// Types that describe their objects completely, so that no identity is kept for them.
pub(super) fn plain() -> Type {
    Type::PRIMITIVE
        | Type::LONG_EXACT
        | Type::FLOAT_EXACT
        | Type::BOOL
        | Type::UNICODE_EXACT
        | Type::BYTES_EXACT
        | Type::NONE_TYPE
        | Type::CODE
}

/// The types for which a value may be known not to be negative.
pub(super) fn ints() -> Type {
    Type::LONG | Type::CINT
}

/// The objects of the analysed program that a value may be.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Objects {
    /// Identities, ascending.
    pub(super) ids: Vec<Identity>,
    /// It may also be an object from outside the analysed program, of which only the type is known.
    pub(super) open: bool,
}

impl Objects {
    /// One object.
    pub(super) fn one(id: Identity) -> Objects {
        Objects {
            ids: vec![id],
            open: false,
        }
    }

    /// No known object, only outside ones.
    pub(super) const OPEN: Objects = Objects {
        ids: Vec::new(),
        open: true,
    };
}

/// The facts about a value.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The type; `Bottom`: the value is impossible.
    pub ty: Type,
    /// The value of a constant that compiled code computes with.
    pub constant: Option<ConstValue>,
    /// True if the value, if an int, is not negative.
    pub nonneg: bool,
    /// The objects it may be.
    pub objects: Objects,
    /// The weakest reason among those for which the facts hold.
    pub source: Source,
}

impl PartialEq for Facts {
    fn eq(&self, other: &Facts) -> bool {
        self.ty == other.ty
            && same_constant(&self.constant, &other.constant)
            && self.nonneg == other.nonneg
            && self.objects == other.objects
            && self.source == other.source
    }
}

/// Returns true if two constants are the same. A nan equals itself; `0.0` and `-0.0` differ.
pub(super) fn same_constant(a: &Option<ConstValue>, b: &Option<ConstValue>) -> bool {
    match (a, b) {
        (Some(ConstValue::Float(a)), Some(ConstValue::Float(b))) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

impl Facts {
    /// The facts about an impossible value.
    pub const IMPOSSIBLE: Facts = Facts {
        ty: Type::BOTTOM,
        constant: None,
        nonneg: true,
        objects: Objects {
            ids: Vec::new(),
            open: false,
        },
        source: Source::Proved,
    };

    /// The facts about an unknown value, which may even be absent (null).
    pub const MOST_GENERAL: Facts = Facts {
        ty: Type::OBJECT.opt(),
        constant: None,
        nonneg: false,
        objects: Objects::OPEN,
        source: Source::Proved,
    };

    /// The facts about a value of which only the type is known.
    pub fn of_type(ty: Type) -> Facts {
        let facts = Facts {
            ty,
            constant: ty.as_cbool().map(ConstValue::Bool),
            nonneg: !ty.could_be(ints()),
            objects: Objects::OPEN,
            source: Source::Proved,
        };
        facts.normal()
    }

    /// The facts about any object.
    pub fn any_object() -> Facts {
        Facts::of_type(Type::OBJECT)
    }

    /// The facts about a constant.
    pub fn constant(ty: Type, value: ConstValue) -> Facts {
        let mut facts = Facts::of_type(ty);
        facts.nonneg |= match value {
            ConstValue::Int(value) => value >= 0,
            ConstValue::Bool(_) => true,
            _ => false,
        };
        facts.constant = (value != ConstValue::Other).then_some(value);
        facts
    }

    /// The facts about a truth value, known or not.
    pub fn truth(ty: Type, value: Option<bool>) -> Facts {
        match value {
            Some(value) => Facts::constant(ty, ConstValue::Bool(value)),
            None => Facts::of_type(ty),
        }
    }

    /// The facts about an object of the analysed program.
    pub fn object(ty: Type, id: Identity) -> Facts {
        Facts {
            objects: Objects::one(id),
            ..Facts::of_type(ty)
        }
    }

    /// The same facts, for a value that is not negative.
    pub fn not_negative(mut self) -> Facts {
        self.nonneg = true;
        self
    }

    /// The same facts, with a source that is at most as strong as `source`.
    pub fn because(mut self, source: Source) -> Facts {
        self.source = self.source.max(source);
        self
    }

    /// The objects of the analysed program that the value may be.
    pub fn objects(&self) -> &[Identity] {
        &self.objects.ids
    }

    /// Returns true if the value may be an object from outside the analysed program.
    pub fn is_open(&self) -> bool {
        self.objects.open
    }

    /// Returns true if no value is possible.
    pub fn is_impossible(&self) -> bool {
        self.ty.is_bottom()
    }

    /// Returns true if nothing is known of the object.
    pub fn is_most_general(&self) -> bool {
        Type::OBJECT <= self.ty && self.objects.open && self.objects.ids.is_empty()
    }

    /// The truth value, if it is a constant.
    pub fn as_truth(&self) -> Option<bool> {
        match &self.constant {
            Some(ConstValue::Bool(value)) => Some(*value),
            _ => self.ty.as_cbool(),
        }
    }

    /// Returns true if a value is possible and its type is within `ty`.
    pub fn is(&self, ty: Type) -> bool {
        !self.is_impossible() && self.ty <= ty
    }

    /// The normal form: facts with the same meaning become equal.
    pub(super) fn normal(mut self) -> Facts {
        if self.ty <= plain() {
            self.objects = Objects::default();
        }
        if !self.ty.could_be(ints()) {
            self.nonneg = true;
        }
        if self.is_impossible() {
            let source = self.source;
            return Facts {
                source,
                ..Facts::IMPOSSIBLE
            };
        }
        self
    }

    /// The facts that hold for both values. The objects are those of both; the caller unifies
    /// identities that must be shared.
    pub(super) fn join(&self, other: &Facts) -> Facts {
        if self.is_impossible() || other.is_impossible() {
            let (some, none) = if self.is_impossible() {
                (other, self)
            } else {
                (self, other)
            };
            return some.clone().because(none.source);
        }
        let mut ids = [&self.objects.ids[..], &other.objects.ids[..]].concat();
        ids.sort_unstable();
        ids.dedup();
        let constant = same_constant(&self.constant, &other.constant);
        Facts {
            ty: self.ty.join(other.ty),
            constant: if constant {
                self.constant.clone()
            } else {
                None
            },
            nonneg: self.nonneg && other.nonneg,
            objects: Objects {
                ids,
                open: self.objects.open || other.objects.open,
            },
            source: self.source.max(other.source),
        }
        .normal()
    }
}
