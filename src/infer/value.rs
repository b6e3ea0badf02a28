//! What is known of one value: its type, its constant, and which objects of the known world it may be.
//!
//! Facts about what is *inside* an object are not here: they belong to its identity ([`super::Identity`]), which all
//! values that may be the object share.

use super::identity::Identity;
use crate::facts::Source;
use crate::types::{ConstValue, Type};
use cranelift_entity::entity_impl;
use std::fmt;

/// An abstract value, printed `SV12`. It is only an identity: what is known of it is in the
/// [`AnnotationSet`](super::AnnotationSet).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sv(u32);
entity_impl!(Sv, "SV");

impl Sv {
    /// No value can be here: all facts still hold.
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

/// Objects whose type says all that there is to know: they have no identity that matters.
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

/// The ints, which may be known not to be negative.
pub(super) fn ints() -> Type {
    Type::LONG | Type::CINT
}

/// Which objects of the known world a value may be.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Objects {
    /// Identities, ascending.
    pub(super) ids: Vec<Identity>,
    /// It may also be an object from beyond the known world, of which only the type is known.
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

    /// None that is known.
    pub(super) const OPEN: Objects = Objects {
        ids: Vec::new(),
        open: true,
    };
}

/// What is known of a value.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The type; `Bottom`: the value is impossible.
    pub ty: Type,
    /// The value of a constant that compiled code computes with.
    pub constant: Option<ConstValue>,
    /// Whether the value, where it is an int, is not negative.
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

/// Whether two constants are the same: a nan is itself, zeros of different signs are not each other.
pub(super) fn same_constant(a: &Option<ConstValue>, b: &Option<ConstValue>) -> bool {
    match (a, b) {
        (Some(ConstValue::Float(a)), Some(ConstValue::Float(b))) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

impl Facts {
    /// Of a value that is not possible.
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

    /// Of a value of which nothing is known, not even whether it is there.
    pub const MOST_GENERAL: Facts = Facts {
        ty: Type::OBJECT.opt(),
        constant: None,
        nonneg: false,
        objects: Objects::OPEN,
        source: Source::Proved,
    };

    /// Of a value of which the type is known and nothing else.
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

    /// Of any object.
    pub fn any_object() -> Facts {
        Facts::of_type(Type::OBJECT)
    }

    /// Of the constant.
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

    /// Of a truth value, known or not.
    pub fn truth(ty: Type, value: Option<bool>) -> Facts {
        match value {
            Some(value) => Facts::constant(ty, ConstValue::Bool(value)),
            None => Facts::of_type(ty),
        }
    }

    /// Of an object of the known world.
    pub fn object(ty: Type, id: Identity) -> Facts {
        Facts {
            objects: Objects::one(id),
            ..Facts::of_type(ty)
        }
    }

    /// The same, not negative.
    pub fn not_negative(mut self) -> Facts {
        self.nonneg = true;
        self
    }

    /// The same for no better reason than `source`.
    pub fn because(mut self, source: Source) -> Facts {
        self.source = self.source.max(source);
        self
    }

    /// The objects of the known world that the value may be.
    pub fn objects(&self) -> &[Identity] {
        &self.objects.ids
    }

    /// Whether the value may be an object from beyond the known world.
    pub fn is_open(&self) -> bool {
        self.objects.open
    }

    /// Whether no value is possible.
    pub fn is_impossible(&self) -> bool {
        self.ty.is_bottom()
    }

    /// Whether nothing is known at all of the object.
    pub fn is_most_general(&self) -> bool {
        Type::OBJECT <= self.ty && self.objects.open && self.objects.ids.is_empty()
    }

    /// The truth value, if it is a constant one.
    pub fn as_truth(&self) -> Option<bool> {
        match &self.constant {
            Some(ConstValue::Bool(value)) => Some(*value),
            _ => self.ty.as_cbool(),
        }
    }

    /// Whether the type is of this one, and a value possible.
    pub fn is(&self, ty: Type) -> bool {
        !self.is_impossible() && self.ty <= ty
    }

    /// The one form that facts of the same meaning have.
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

    /// What holds for both, but for the objects: those are all of them, and the caller makes them share what they must.
    pub(super) fn join(&self, other: &Facts) -> Facts {
        if self.is_impossible() || other.is_impossible() {
            let (some, none) = match self.is_impossible() {
                true => (other, self),
                false => (self, other),
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
