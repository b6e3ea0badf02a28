//! Guards and tests: the choice of a type check that proves the candidates.
//!
//! For example, candidates `A` and its subclass `B` have the check "an instance of `A` or a class
//! derived from it" if `A` has no other subclass.

use super::index::Types;
use super::world::{Name, World};
use std::collections::BTreeSet;
use std::fmt;

/// The exactness of a type check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exactness {
    /// This exact type.
    Specific,
    /// This type or one derived from it.
    Common,
}

/// The aspect of a type that a check tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aspect {
    /// An instance of it.
    Instance,
    /// The class itself.
    Type,
    /// Either.
    Object,
    /// A module.
    Module,
}

/// A check of a type at run time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeCheck {
    /// The exactness.
    pub exactness: Exactness,
    /// The aspect.
    pub aspect: Aspect,
    /// The type.
    pub ty: Name,
}

impl fmt::Display for Exactness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Exactness::Specific => "specific",
            Exactness::Common => "common",
        })
    }
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Aspect::Instance => "instance",
            Aspect::Type => "type",
            Aspect::Object => "object",
            Aspect::Module => "module",
        })
    }
}

impl fmt::Display for TypeCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{} {}", self.exactness, self.aspect, self.ty)
    }
}

/// The way in which an accessor's type is known at an access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Test {
    /// The program's text determines it: it is one of these.
    Constrained(TypeCheck),
    /// The program's text allows several types that no single check covers.
    ConstrainedMany,
    /// A guard at the accessor's definition checks it.
    Guarded(TypeCheck),
    /// The access itself checks it.
    Checked(TypeCheck),
    /// No type check suffices: the access must look whether the attribute exists.
    Validate,
}

impl Test {
    /// The check, if there is one.
    pub fn check(&self) -> Option<&TypeCheck> {
        match self {
            Test::Constrained(check) | Test::Guarded(check) | Test::Checked(check) => Some(check),
            Test::ConstrainedMany | Test::Validate => None,
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Test::Constrained(c) => write!(f, "constrained-{}-{}", c.exactness, c.aspect),
            Test::Guarded(c) => write!(f, "guarded-{}-{}", c.exactness, c.aspect),
            Test::Checked(c) => write!(f, "test-{}-{}", c.exactness, c.aspect),
            Test::ConstrainedMany => f.write_str("constrained-many"),
            Test::Validate => f.write_str("validate"),
        }
    }
}

/// The types from which all others derive: a type is dropped if the set contains one of its bases
/// with all that derives from that.
pub(super) fn general(world: &World<'_>, types: &BTreeSet<Name>) -> BTreeSet<Name> {
    let covered = |ty: &Name| {
        let order = &world.classes[ty].mro;
        order.iter().any(|base| {
            base != ty && types.contains(base) && world.descendants(base).is_subset(types)
        })
    };
    types.iter().filter(|ty| !covered(ty)).cloned().collect()
}

/// The single check that accepts exactly these types.
pub(super) fn check_for(world: &World<'_>, types: &Types) -> Option<TypeCheck> {
    if !types.module.is_empty() {
        let is_one = types.len() == 1;
        return is_one.then(|| TypeCheck {
            exactness: Exactness::Specific,
            aspect: Aspect::Module,
            ty: types.module.first().expect("there is one").clone(),
        });
    }
    let (aspect, set) = match (types.class.is_empty(), types.instance.is_empty()) {
        (true, true) => return None,
        (true, false) => (Aspect::Instance, &types.instance),
        (false, true) => (Aspect::Type, &types.class),
        (false, false) if types.class == types.instance => (Aspect::Object, &types.class),
        // If the two sets differ, a check is possible only where all types of a set derive from
        // one.
        (false, false) => {
            let of_class = general(world, &types.class);
            let of_instance = general(world, &types.instance);
            if of_class != of_instance {
                return None;
            }
            (Aspect::Object, &types.instance)
        }
    };
    let one_of = |set: &BTreeSet<Name>| match set.len() {
        1 => set.first().cloned(),
        _ => None,
    };
    // Everything derives from `object`, so a check for it is useless.
    let says_something = |ty: &Name| &**ty != "object";
    if let Some(ty) = one_of(set).filter(says_something) {
        let exactness = Exactness::Specific;
        return Some(TypeCheck {
            exactness,
            aspect,
            ty,
        });
    }
    let ty = one_of(&general(world, set)).filter(says_something)?;
    Some(TypeCheck {
        exactness: Exactness::Common,
        aspect,
        ty,
    })
}
