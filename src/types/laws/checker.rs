//! Tests one law after another on the types of a universe, and keeps the results. The laws of order
//! and algebra are here; those against the model are in `covers`, those of the join in `joins`.

use std::collections::HashMap;

use super::{Claim, LawReport, LawResult};
use crate::types::hierarchy::Hierarchy;
use crate::types::model::{Model, Values};
use crate::types::parse::Names;
use crate::types::repr::Type;

/// The number of types from which triples are taken: its cube is the number of cases.
const TRIPLES: usize = 160;

pub(super) struct Checker<'a> {
    pub(super) types: Vec<Type>,
    pub(super) sets: Vec<Values>,
    pub(super) by_type: HashMap<Type, usize>,
    /// For each type, the strictly tighter ones.
    pub(super) tighter: Vec<Vec<usize>>,
    pub(super) model: Model,
    pub(super) names: Names,
    pub(super) hierarchy: &'a Hierarchy,
    pub(super) results: Vec<LawResult>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(hierarchy: &'a Hierarchy, types: Vec<Type>) -> Self {
        let model = Model::new(hierarchy, &types);
        let sets: Vec<_> = types.iter().map(|ty| model.values(*ty)).collect();
        let strictly = |high: &Values| {
            let below = |low: &Values| low.is_within(high) && low != high;
            sets.iter()
                .enumerate()
                .filter(|(_, low)| below(low))
                .map(|(index, _)| index)
                .collect()
        };
        let tighter = sets.iter().map(strictly).collect();
        let by_type = types
            .iter()
            .enumerate()
            .map(|(index, ty)| (*ty, index))
            .collect();
        Checker {
            types,
            sets,
            by_type,
            tighter,
            model,
            names: hierarchy.names(),
            hierarchy,
            results: Vec::new(),
        }
    }

    pub(super) fn run(mut self) -> LawReport {
        self.order();
        self.covers();
        self.algebra();
        self.join_laws();
        self.plain_laws();
        self.unpromised();
        LawReport {
            types: self.types.len(),
            values: self.model.len(),
            results: self.results,
        }
    }

    pub(super) fn law(
        &mut self,
        law: &'static str,
        claim: Claim,
        cases: impl IntoIterator<Item = Option<String>>,
    ) {
        let (mut count, mut failures, mut first_failure) = (0, 0, None);
        for case in cases {
            count += 1;
            if let Some(case) = case {
                failures += 1;
                first_failure.get_or_insert(case);
            }
        }
        self.results.push(LawResult {
            law,
            claim,
            cases: count,
            failures,
            first_failure,
            exceptions: Vec::new(),
        });
    }

    pub(super) fn each(&mut self, law: &'static str, holds: impl Fn(Type) -> bool) {
        let cases: Vec<_> = self
            .types
            .iter()
            .map(|ty| (!holds(*ty)).then(|| ty.to_string()))
            .collect();
        self.law(law, Claim::Promised, cases);
    }

    pub(super) fn pairs(
        &mut self,
        law: &'static str,
        claim: Claim,
        holds: impl Fn(Type, Type) -> bool,
    ) {
        let types = self.types.clone();
        let case = |a: Type, b: Type| (!holds(a, b)).then(|| format!("{a}, {b}"));
        self.law(
            law,
            claim,
            types
                .iter()
                .flat_map(|a| types.iter().map(move |b| (*a, *b)))
                .map(|(a, b)| case(a, b)),
        );
    }

    fn triples(
        &mut self,
        law: &'static str,
        claim: Claim,
        types: &[Type],
        holds: impl Fn(Type, Type, Type) -> bool,
    ) {
        let types = thinned(types, TRIPLES);
        let pairs = types
            .iter()
            .flat_map(|a| types.iter().map(move |b| (*a, *b)));
        let all = pairs.flat_map(|(a, b)| types.iter().map(move |c| (a, b, *c)));
        self.law(
            law,
            claim,
            all.map(|(a, b, c)| (!holds(a, b, c)).then(|| format!("{a}, {b}, {c}"))),
        );
    }

    fn order(&mut self) {
        self.each("a <= a", |a| a <= a && a >= a && !(a < a));
        self.each("Bottom <= a <= Top", |a| {
            Type::BOTTOM <= a && a <= Type::TOP
        });
        self.pairs(
            "a <= b and b <= a only if a == b",
            Claim::Promised,
            |a, b| (a <= b && b <= a) == (a == b),
        );
        let types = self.types.clone();
        self.triples(
            "a <= b <= c gives a <= c",
            Claim::Promised,
            &types,
            |a, b, c| !(a <= b && b <= c) || a <= c,
        );
        let names = self.names.clone();
        self.each("parse(print(a)) == a", |a| {
            Type::parse(&a.to_string(), &names) == Ok(a)
        });
    }

    fn algebra(&mut self) {
        self.each("a | a == a & a == a", |a| {
            a | a == a && a & a == a && (a - a).is_bottom()
        });
        self.each("Bottom and Top are neutral", |a| {
            a | Type::BOTTOM == a
                && a & Type::TOP == a
                && a - Type::BOTTOM == a
                && (a - Type::TOP).is_bottom()
        });
        self.pairs("a | b == b | a", Claim::Promised, |a, b| a | b == b | a);
        self.pairs("a & b == b & a", Claim::Promised, |a, b| a & b == b & a);
        self.pairs("a <= a | b", Claim::Promised, |a, b| {
            a <= a | b && b <= a | b
        });
        self.pairs("a - b <= a", Claim::Promised, |a, b| a - b <= a);
        self.pairs(
            "a <= b gives a | b == b, a & b == a, a - b == Bottom",
            Claim::Promised,
            |a, b| !(a <= b) || (a | b == b && a & b == a && (a - b).is_bottom()),
        );
        self.pairs(
            "a could_be b exactly if a & b != Bottom",
            Claim::Promised,
            |a, b| a.could_be(b) == !(a & b).is_bottom() && a.could_be(b) == b.could_be(a),
        );
    }

    /// Without specializations more laws hold; without lifetimes, all of them.
    fn plain_laws(&mut self) {
        let plain: Vec<_> = self
            .types
            .iter()
            .copied()
            .filter(|ty| !ty.is_specialized())
            .collect();
        self.triples(
            "unspecialized: | and & are associative",
            Claim::Promised,
            &plain,
            |a, b, c| (a | b) | c == a | (b | c) && (a & b) & c == a & (b & c),
        );
        self.triples(
            "unspecialized: | and & are monotone",
            Claim::Promised,
            &plain,
            |a, b, c| !(a <= b) || (a | c <= b | c && a & c <= b & c),
        );
        let bits: Vec<_> = plain
            .into_iter()
            .filter(|ty| ty.drop_mortality() == *ty)
            .collect();
        self.triples(
            "no lifetimes: Boolean algebra",
            Claim::Promised,
            &bits,
            |a, b, c| {
                let not = |ty| Type::TOP - ty;
                a & (b | c) == (a & b) | (a & c)
                    && a | (b & c) == (a | b) & (a | c)
                    && a & (a | b) == a
                    && a | (a & b) == a
                    && not(not(a)) == a
                    && not(a | b) == not(a) & not(b)
                    && (a | not(a)) == Type::TOP
                    && (a & not(a)).is_bottom()
                    && a - b == a & not(b)
            },
        );
    }

    fn unpromised(&mut self) {
        let types = self.specialized_first();
        self.pairs("a & b <= a", Claim::NotPromised, |a, b| a & b <= a);
        self.triples(
            "(a | b) | c == a | (b | c)",
            Claim::NotPromised,
            &types,
            |a, b, c| (a | b) | c == a | (b | c),
        );
        self.triples(
            "(a & b) & c == a & (b & c)",
            Claim::NotPromised,
            &types,
            |a, b, c| (a & b) & c == a & (b & c),
        );
        self.triples(
            "a <= b gives a | c <= b | c",
            Claim::NotPromised,
            &types,
            |a, b, c| !(a <= b) || a | c <= b | c,
        );
        self.triples(
            "a <= b gives a & c <= b & c",
            Claim::NotPromised,
            &types,
            |a, b, c| !(a <= b) || a & c <= b & c,
        );
        self.triples(
            "a & (b | c) == (a & b) | (a & c)",
            Claim::NotPromised,
            &types,
            |a, b, c| a & (b | c) == (a & b) | (a & c),
        );
        self.pairs("join(a, b) <= a | b", Claim::NotPromised, |a, b| {
            a.join(b) <= a | b
        });
        self.pairs(
            "a <= b gives join(a, b) == b",
            Claim::NotPromised,
            |a, b| !(a <= b) || a.join(b) == b,
        );
    }

    /// The types about the hierarchy's own classes before the others.
    fn specialized_first(&self) -> Vec<Type> {
        let classes = self.hierarchy.classes().iter();
        let mut types: Vec<_> = classes
            .flat_map(|class| [Type::from_class(*class), Type::from_class_exact(*class)])
            .collect();
        types.truncate(TRIPLES / 2);
        let rest: Vec<_> = self
            .types
            .iter()
            .copied()
            .filter(|ty| !types.contains(ty))
            .collect();
        types.extend(thinned(&rest, TRIPLES - types.len()));
        types
    }
}

pub(super) fn pairs(types: &[Type]) -> impl Iterator<Item = (Type, Type)> {
    types
        .iter()
        .flat_map(|a| types.iter().map(move |b| (*a, *b)))
}

/// At most `count` of the types, evenly chosen.
fn thinned(types: &[Type], count: usize) -> Vec<Type> {
    let count = count.min(types.len());
    (0..count)
        .map(|index| types[index * types.len() / count])
        .collect()
}
