//! The join: the operation with which a fixpoint accumulates.
//!
//! `|` is as tight as the specification wants and therefore depends on the order in which it is
//! applied: for two sibling classes it keeps neither, for a class and its sibling's parent it keeps
//! the parent. A fixpoint needs the opposite: a result that depends only on *which* types were
//! joined, never on the order, and ascending chains that end. For example, for siblings `A` and `B`
//! below `Base`: `A | B` is `User`, `A.join(B)` is `User[Base]`.
//!
//! So the join works on a simpler order. Leaves and lifetimes are ordered by inclusion, and
//! specializations form a tree: an object is below its class `:Exact`, that below the class, and
//! each class below *one* of its bases, the one with the longest path to the root (the first such
//! in its resolution order); predefined classes and `object` are the root, without a
//! specialization. The join is the union of the first two and the nearest common ancestor of the
//! third. Each of the three is a semilattice, hence the join is: commutative, associative,
//! idempotent. Every step up the tree is a step up in `<=`, hence the join is above both. A chain
//! has at most one step for each leaf, two for the lifetimes, and one for each level of the tree.
//!
//! The cost appears under multiple inheritance: a class joined with a base that is not on its path
//! to the root gives the common ancestor of the two, while `|` gives the base. In return siblings
//! keep their common parent, while `|` loses it.

use super::handles::ClassHandle;
use super::repr::{Spec, Type};
use super::table::LEAVES;

impl Type {
    /// An upper bound of both, independent of the order in which several types are joined.
    #[inline]
    pub fn join(self, other: Type) -> Type {
        if self.is_plain_with(other) {
            self | other
        } else {
            self.join_slowly(other)
        }
    }

    fn join_slowly(self, other: Type) -> Type {
        if self == other || other.is_bottom() {
            return self;
        }
        if self.is_bottom() {
            return other;
        }
        let word = self.word() | other.word();
        if !self.is_specialized() || !other.is_specialized() {
            return Type::from_word(word);
        }
        let (mut a, mut b) = (Rung::of(self), Rung::of(other));
        while let (Some(low), Some(high)) = (a, b) {
            if low == high {
                return Type::with_spec(word, low.spec);
            }
            let (low_height, high_height) = (low.level(), high.level());
            if low_height >= high_height {
                a = low.parent();
            }
            if high_height >= low_height {
                b = high.parent();
            }
        }
        Type::from_word(word)
    }

    /// The most steps up a chain of joins from this type, with the current classes: one for each
    /// leaf and lifetime, and one for each level of the tree above its specialization.
    pub fn join_height(self) -> u32 {
        if self.is_bottom() {
            // The first type joined may be anything; from there it has its own bound.
            return u32::MAX;
        }
        let levels = Rung::of(self).map_or(0, |rung| rung.level() + 1);
        LEAVES + 2 - self.word().count_ones() + levels
    }
}

/// A place in the tree of specializations other than its root; literals of different leaves are
/// different places.
#[derive(Clone, Copy, PartialEq)]
struct Rung {
    spec: Spec,
    literal_leaf: u64,
}

impl Rung {
    fn of(ty: Type) -> Option<Rung> {
        let literal_leaf = if matches!(ty.spec(), Spec::Int(_)) {
            ty.leaves()
        } else {
            0
        };
        ty.is_specialized().then_some(Rung {
            spec: ty.spec(),
            literal_leaf,
        })
    }

    /// The number of steps to the root's children.
    fn level(self) -> u32 {
        let mut level = 0;
        let mut rung = self;
        loop {
            match rung.spec {
                // The levels of a class are known without climbing.
                Spec::Class(class) => return level + class.join_depth(),
                _ => match rung.parent() {
                    Some(parent) => (level, rung) = (level + 1, parent),
                    None => return level,
                },
            }
        }
    }

    fn parent(self) -> Option<Rung> {
        let up = |spec| {
            Some(Rung {
                spec,
                literal_leaf: 0,
            })
        };
        let base = |class: ClassHandle| {
            class
                .join_parent()
                .and_then(|parent| up(Spec::Class(parent)))
        };
        match self.spec {
            Spec::Object(object) => object
                .class()
                .filter(|class| !class.is_builtin_itself())
                .and_then(|class| up(Spec::Exact(class))),
            Spec::Exact(class) if class.is_final() => base(class),
            Spec::Exact(class) if class.is_alive() => up(Spec::Class(class)),
            Spec::Class(class) => base(class),
            _ => None,
        }
    }
}
