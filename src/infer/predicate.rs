//! Predicates on values that branches imply, and the facts that remain where one holds.
//!
//! Refinements are kept as predicates and applied where a value is read. So nothing derived from
//! facts that have since been widened can linger: the engine remembers only the predicates that
//! hold on all paths to a block. For example, `if x is None: ... else: use(x)` gives the predicates
//! "is None" and "is not None" for `x` on the two edges.

use super::engine::Engine;
use super::identity::{Identity, Kind};
use super::value::{Facts, ints};
use crate::hir::Value;
use crate::types::{ConstValue, Type};

/// A predicate on a value.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Predicate {
    /// It is None.
    IsNone,
    /// It is not None.
    NotNone,
    /// It is true.
    Truthy,
    /// It is false.
    Falsy,
    /// It is of this type.
    InType(Type),
    /// It is an int that is not negative, if it is an int at all.
    NotNegative,
    /// It is an instance of one of these classes, or of a class that derives from one.
    Instance(Vec<Identity>),
    /// The negation of `Instance`.
    NotInstance(Vec<Identity>),
    /// It is an instance of exactly one of these classes.
    Exactly(Vec<Identity>),
}

/// The predicates that hold on all paths to a place.
pub(super) type Env = Vec<(Value, Predicate)>;

/// The predicates that hold if either set does: those in both, then for each of the rest the
/// predicate that either one implies.
pub(super) fn common(a: &Env, b: &Env) -> Env {
    let (mut both, rest): (Env, Env) = a.iter().cloned().partition(|p| b.contains(p));
    let mut others: Vec<&(Value, Predicate)> = b.iter().filter(|p| !a.contains(p)).collect();
    for (subject, predicate) in rest {
        let follows = |other: &&(Value, Predicate)| {
            let either = (other.0 == subject).then(|| predicate.either(&other.1));
            either.flatten()
        };
        let found = others.iter().enumerate();
        let mut found = found.filter_map(|(index, other)| Some((index, follows(other)?)));
        if let Some((index, either)) = found.next() {
            others.remove(index);
            extend(&mut both, &vec![(subject, either)]);
        }
    }
    both
}

impl Predicate {
    /// The predicate that holds if one of two predicates of the same kind does. Without it, the
    /// result would depend on the order in which the paths to a block are analysed again after
    /// their classes grew.
    fn either(&self, other: &Predicate) -> Option<Predicate> {
        use Predicate::*;
        let all = |a: &[Identity], b: &[Identity]| {
            let mut all = [a, b].concat();
            all.sort_unstable();
            all.dedup();
            all
        };
        match (self, other) {
            (Instance(a), Instance(b)) => Some(Instance(all(a, b))),
            (Exactly(a), Exactly(b)) => Some(Exactly(all(a, b))),
            (NotInstance(a), NotInstance(b)) => {
                let both: Vec<Identity> = a.iter().filter(|id| b.contains(id)).copied().collect();
                (!both.is_empty()).then_some(NotInstance(both))
            }
            (InType(a), InType(b)) => Some(InType(a.join(*b))),
            (a, b) => (a == b).then(|| a.clone()),
        }
    }
}

/// Adds the predicates that are not in the set yet.
pub(super) fn extend(env: &mut Env, more: &Env) {
    for entry in more {
        if !env.contains(entry) {
            env.push(entry.clone());
        }
    }
}

impl Engine<'_> {
    /// The facts that remain where the predicate holds.
    pub(super) fn refine(&mut self, facts: Facts, predicate: &Predicate) -> Facts {
        match predicate {
            _ if facts.is_impossible() => facts,
            Predicate::IsNone => {
                let mut facts = self.restrict(facts, Type::NONE_TYPE);
                facts.constant = Some(ConstValue::None);
                facts.normal()
            }
            Predicate::NotNone => self.without(facts, Type::NONE_TYPE),
            Predicate::InType(ty) => self.restrict(facts, *ty),
            Predicate::NotNegative => facts.not_negative(),
            Predicate::Truthy => {
                let facts = self.without(facts, Type::NONE_TYPE);
                match facts.constant {
                    Some(ConstValue::Bool(false) | ConstValue::Int(0)) => Facts::IMPOSSIBLE,
                    _ if facts.is(Type::BOOL | Type::CBOOL) => Facts {
                        constant: Some(ConstValue::Bool(true)),
                        ..facts
                    },
                    _ => facts,
                }
            }
            Predicate::Falsy => match facts.constant {
                Some(ConstValue::Bool(true)) => Facts::IMPOSSIBLE,
                _ if facts.is(Type::BOOL | Type::CBOOL) => Facts {
                    constant: Some(ConstValue::Bool(false)),
                    ..facts
                },
                _ => facts,
            },
            Predicate::Instance(classes) => self.instances(facts, classes, false),
            Predicate::Exactly(classes) => self.instances(facts, classes, true),
            Predicate::NotInstance(classes) => {
                let mut facts = facts;
                for class in classes {
                    let mask = self.instance_type(*class);
                    // The type of an exception only says that it is one.
                    if self.is_builtin_class(*class) && !self.is_exception(*class) {
                        facts = self.without(facts, mask);
                    }
                }
                self.keep_instances(&mut facts, |class| !self.derives_from_one(class, classes));
                self.settle(facts)
            }
        }
    }

    /// The part of the facts that is of the type.
    pub(super) fn restrict(&mut self, mut facts: Facts, ty: Type) -> Facts {
        let both = facts.ty & ty;
        // The intersection of unrelated classes may be either of them; never lose a known fact.
        facts.ty = both;
        self.settle(facts)
    }

    fn without(&mut self, mut facts: Facts, ty: Type) -> Facts {
        facts.ty -= ty;
        self.settle(facts)
    }

    /// Drops the objects that the type excludes, and the part of the type for which there is no
    /// object.
    fn settle(&mut self, mut facts: Facts) -> Facts {
        let ids = std::mem::take(&mut facts.objects.ids);
        let fits = |id: &Identity| self.set.own_heap(*id).kind.ty().could_be(facts.ty);
        facts.objects.ids = ids.into_iter().filter(fits).collect();
        if !facts.objects.open {
            let mut present = super::value::plain() | Type::CODE;
            for id in &facts.objects.ids {
                present |= self.set.own_heap(*id).kind.ty();
            }
            facts.ty &= present;
        }
        if facts.constant.is_some() && facts.is_impossible() {
            facts.constant = None;
        }
        facts.normal()
    }

    /// Drops the instances of classes for which `holds` is false.
    fn keep_instances(&self, facts: &mut Facts, holds: impl Fn(Identity) -> bool) {
        facts.objects.ids.retain(|id| {
            let heap = self.set.own_heap(*id);
            let is_instance = matches!(heap.kind, Kind::Instance | Kind::Exception);
            !is_instance || holds(Identity::from_u32(heap.link))
        });
    }

    /// The part of the facts that is an instance of one of the classes.
    fn instances(&mut self, mut facts: Facts, classes: &[Identity], exactly: bool) -> Facts {
        let mut mask = Type::BOTTOM;
        for class in classes {
            let ty = self.instance_type(*class);
            mask |= if exactly && self.is_builtin_class(*class) {
                ty - Type::USER - self.subtypes(ty)
            } else {
                ty
            };
        }
        self.keep_instances(&mut facts, |class| {
            if exactly {
                classes.contains(&class)
            } else {
                self.derives_from_one(class, classes)
            }
        });
        let facts = self.restrict(facts, mask);
        if facts.is_impossible() || !facts.objects.open || !facts.objects.ids.is_empty() {
            return facts;
        }
        // Here an object of unknown class becomes an instance of known classes. The insides of
        // those from outside the analysed program are unknown.
        facts
    }

    /// The instances of another builtin class that a builtin class's type includes: bools for ints.
    fn subtypes(&self, ty: Type) -> Type {
        if Type::BOOL <= ty && ty != Type::BOOL {
            Type::BOOL
        } else {
            Type::BOTTOM
        }
    }

    /// Returns which of `y` and `x` a true `x op y` on ints proves not negative.
    pub(super) fn order_tells(&self, symbol: &str, x: &Facts, y: &Facts) -> (bool, bool) {
        if !(x.is(ints() | Type::BOOL) && y.is(ints() | Type::BOOL)) {
            return (false, false);
        }
        let at_least = |facts: &Facts, least: i64| match facts.constant {
            Some(ConstValue::Int(value)) => value >= least,
            _ => facts.nonneg && least <= 0,
        };
        match symbol {
            "<" => (false, at_least(x, -1)),
            "<=" => (false, at_least(x, 0)),
            ">" => (at_least(y, -1), false),
            ">=" => (at_least(y, 0), false),
            "==" => (at_least(y, 0), at_least(x, 0)),
            _ => (false, false),
        }
    }
}

/// The comparison that holds where this one does not, between ints.
pub(super) fn negated(symbol: &str) -> &'static str {
    match symbol {
        "<" => ">=",
        "<=" => ">",
        ">" => "<=",
        ">=" => "<",
        "==" => "!=",
        _ => "==",
    }
}
