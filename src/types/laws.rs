//! The law checker: every operation, over a universe of types of a hierarchy, against the [`Model`].
//!
//! Three kinds of laws are told apart. *Promised* laws hold always; one failing case is a bug. *Excepted* laws
//! hold but for places that were chosen, each with its reason; a failing case outside them is a bug. *Not promised* laws
//! are the ones a reader might expect of a lattice and must not rely on; the first case against is shown.

use std::collections::HashMap;
use std::fmt;

use super::handles::ClassHandle;
use super::hierarchy::Hierarchy;
use super::model::{Model, Values};
use super::parse::Names;
use super::repr::{Spec, Type};
use super::universe::universe;

/// What is claimed of a law.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// It holds.
    Promised,
    /// It holds but for the exceptions listed.
    Excepted,
    /// It need not hold.
    NotPromised,
}

/// What came of checking one law.
#[derive(Clone, Debug)]
pub struct LawResult {
    /// The law.
    pub law: &'static str,
    /// What is claimed of it.
    pub claim: Claim,
    /// How many cases were looked at.
    pub cases: u64,
    /// How many cases were against it and are nobody's exception.
    pub failures: u64,
    /// The first of them.
    pub first_failure: Option<String>,
    /// For each reason for exceptions: how many there were, and the first.
    pub exceptions: Vec<(Exception, u64, String)>,
}

/// Why an answer may be wider than the tightest type there is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Exception {
    /// `User[Car] | User[Motorcycle]` is `User`: no common ancestor is looked for (the specification's choice).
    NoCommonAncestor,
    /// `a | b` of two objects of a class is the class, not the class `:Exact` (the specification's example).
    ObjectsGiveTheClass,
}

impl Exception {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Exception::NoCommonAncestor => "a union looks for no ancestor common to two classes",
            Exception::ObjectsGiveTheClass => {
                "two objects of a class give the class, not the class `:Exact`"
            }
        }
    }
}

/// What came of checking the laws.
#[derive(Clone, Debug)]
pub struct LawReport {
    /// How many types there were.
    pub types: usize,
    /// How many values there were in the model.
    pub values: usize,
    /// Law by law.
    pub results: Vec<LawResult>,
}

impl LawReport {
    /// Whether all that is claimed holds.
    pub fn holds(&self) -> bool {
        self.results
            .iter()
            .all(|result| result.claim == Claim::NotPromised || result.failures == 0)
    }
}

impl fmt::Display for LawReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} types, {} values", self.types, self.values)?;
        for result in &self.results {
            let verdict = match (result.claim, result.failures) {
                (Claim::NotPromised, 0) => "holds here, not promised",
                (Claim::NotPromised, _) => "not promised",
                (_, 0) => "holds",
                (_, _) => "FAILS",
            };
            writeln!(f, "{:<58} {:>9} cases  {verdict}", result.law, result.cases)?;
            if let Some(case) = &result.first_failure {
                writeln!(f, "    {} against, first: {case}", result.failures)?;
            }
            for (exception, count, case) in &result.exceptions {
                writeln!(
                    f,
                    "    {count} excepted: {}, first: {case}",
                    exception.reason()
                )?;
            }
        }
        Ok(())
    }
}

const TIGHT_UNION: &str = "no type is tighter than a | b";

/// From how many types the triples are taken: their cube is the number of cases.
const TRIPLES: usize = 160;

/// Checks all laws over types of the hierarchy.
pub fn check_laws(hierarchy: &Hierarchy) -> LawReport {
    Checker::new(hierarchy, universe(hierarchy)).run()
}

struct Checker<'a> {
    types: Vec<Type>,
    sets: Vec<Values>,
    by_type: HashMap<Type, usize>,
    /// For each type: those that are strictly tighter.
    tighter: Vec<Vec<usize>>,
    model: Model,
    names: Names,
    hierarchy: &'a Hierarchy,
    results: Vec<LawResult>,
}

impl<'a> Checker<'a> {
    fn new(hierarchy: &'a Hierarchy, types: Vec<Type>) -> Self {
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

    fn run(mut self) -> LawReport {
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

    fn law(
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

    fn each(&mut self, law: &'static str, holds: impl Fn(Type) -> bool) {
        let cases: Vec<_> = self
            .types
            .iter()
            .map(|ty| (!holds(*ty)).then(|| ty.to_string()))
            .collect();
        self.law(law, Claim::Promised, cases);
    }

    fn pairs(&mut self, law: &'static str, claim: Claim, holds: impl Fn(Type, Type) -> bool) {
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

    /// Against the model: soundness, and that nothing is tighter.
    fn covers(&mut self) {
        let (types, sets) = (self.types.clone(), self.sets.clone());
        let of = |ty: &Type| &sets[self.by_type[ty]];
        let subtype: Vec<_> = pairs(&types)
            .map(|(a, b)| ((a <= b) != of(&a).is_within(of(&b))).then(|| format!("{a}, {b}")))
            .collect();
        let same: Vec<_> = pairs(&types)
            .map(|(a, b)| ((a == b) != (of(&a) == of(&b))).then(|| format!("{a}, {b}")))
            .collect();
        let could: Vec<_> = pairs(&types)
            .map(|(a, b)| (a.could_be(b) != of(&a).meets(of(&b))).then(|| format!("{a}, {b}")))
            .collect();
        self.law(
            "a <= b exactly if every value of a is one of b",
            Claim::Promised,
            subtype,
        );
        self.law(
            "a == b exactly if the values are the same",
            Claim::Promised,
            same,
        );
        self.law(
            "a could_be b exactly if some value is of both",
            Claim::Promised,
            could,
        );
        self.operation(
            "a | b holds the values of both",
            TIGHT_UNION,
            |a, b| a | b,
            Values::or,
        );
        self.operation(
            "a & b holds the common values",
            "no type is tighter than a & b",
            |a, b| a & b,
            Values::and,
        );
        self.operation(
            "a - b holds the values left",
            "no type is tighter than a - b",
            |a, b| a - b,
            Values::without,
        );
        self.operation(
            "join holds the values of both",
            "",
            |a, b| a.join(b),
            Values::or,
        );
    }

    fn operation(
        &mut self,
        sound: &'static str,
        tight: &'static str,
        apply: fn(Type, Type) -> Type,
        exact: fn(&Values, &Values) -> Values,
    ) {
        let mut unsound = Vec::new();
        let mut tightness = LawResult {
            law: tight,
            claim: Claim::Excepted,
            cases: 0,
            failures: 0,
            first_failure: None,
            exceptions: Vec::new(),
        };
        for (i, a) in self.types.iter().enumerate() {
            for (j, b) in self.types.iter().enumerate() {
                let answer = apply(*a, *b);
                let wanted = exact(&self.sets[i], &self.sets[j]);
                let known = self.by_type.get(&answer);
                let given = known.map_or_else(
                    || self.model.values(answer),
                    |index| self.sets[*index].clone(),
                );
                unsound.push((!wanted.is_within(&given)).then(|| format!("{a}, {b}: {answer}")));
                tightness.cases += 1;
                let tighter = match known {
                    Some(index) => self.tighter[*index]
                        .iter()
                        .find(|low| wanted.is_within(&self.sets[**low]))
                        .copied(),
                    None => self.sets.iter().position(|low| {
                        wanted.is_within(low) && low.is_within(&given) && *low != given
                    }),
                };
                let Some(tighter) = tighter else { continue };
                let case = format!("{a}, {b}: {answer}, but {} would do", self.types[tighter]);
                match exception(tight == TIGHT_UNION, *a, *b, self.types[tighter]) {
                    None => {
                        tightness.failures += 1;
                        tightness.first_failure.get_or_insert(case);
                    }
                    Some(reason) => match tightness
                        .exceptions
                        .iter_mut()
                        .find(|(known, ..)| *known == reason)
                    {
                        Some((_, count, _)) => *count += 1,
                        None => tightness.exceptions.push((reason, 1, case)),
                    },
                }
            }
        }
        self.law(sound, Claim::Promised, unsound);
        if !tight.is_empty() {
            self.results.push(tightness);
        }
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

    fn join_laws(&mut self) {
        self.each("join(a, a) == a", |a| {
            a.join(a) == a && a.join(Type::BOTTOM) == a
        });
        self.pairs("join(a, b) == join(b, a)", Claim::Promised, |a, b| {
            a.join(b) == b.join(a)
        });
        self.pairs("a <= join(a, b)", Claim::Promised, |a, b| {
            a <= a.join(b) && b <= a.join(b)
        });
        self.pairs(
            "join(a, b) != a has less height than a",
            Claim::Promised,
            |a, b| {
                let joined = a.join(b);
                joined == a || joined.join_height() < a.join_height()
            },
        );
        self.join_is_associative();
    }

    /// On all triples: what pairs join to is numbered once, so that a triple is three look-ups.
    fn join_is_associative(&mut self) {
        let count = self.types.len();
        let mut numbers: HashMap<Type, usize> = self.by_type.clone();
        let mut joined = self.types.clone();
        let mut number = |ty: Type, joined: &mut Vec<Type>| {
            *numbers.entry(ty).or_insert_with(|| {
                joined.push(ty);
                joined.len() - 1
            })
        };
        let mut table: Vec<usize> = Vec::new();
        let mut row = 0;
        // Rows for the types, and for whatever two of them join to.
        while row < joined.len() && row < count * count {
            let low = joined[row];
            for high in &self.types {
                let place = number(low.join(*high), &mut joined);
                table.push(place);
            }
            row += 1;
        }
        let at = |row: usize, column: usize| table[row * count + column];
        let (mut failures, mut first_failure) = (0, None);
        for a in 0..count {
            for b in 0..count {
                let ab = at(a, b);
                for c in 0..count {
                    if at(ab, c) != at(at(b, c), a) {
                        failures += 1;
                        first_failure.get_or_insert((a, b, c));
                    }
                }
            }
        }
        let first_failure = first_failure
            .map(|(a, b, c)| format!("{}, {}, {}", self.types[a], self.types[b], self.types[c]));
        let law = "join(join(a, b), c) == join(a, join(b, c))";
        let cases = (count * count * count) as u64;
        let claim = Claim::Promised;
        self.results.push(LawResult {
            law,
            claim,
            cases,
            failures,
            first_failure,
            exceptions: Vec::new(),
        });
    }

    /// Without specializations there is more to rely on; without lifetimes, all of it.
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

fn pairs(types: &[Type]) -> impl Iterator<Item = (Type, Type)> {
    types
        .iter()
        .flat_map(|a| types.iter().map(move |b| (*a, *b)))
}

/// At most `count` of the types, evenly taken.
fn thinned(types: &[Type], count: usize) -> Vec<Type> {
    let count = count.min(types.len());
    (0..count)
        .map(|index| types[index * types.len() / count])
        .collect()
}

/// Whether the specification chose an answer that is not the tightest, and why: `tighter` must be just the type that the choice
/// passes over.
fn exception(union: bool, a: Type, b: Type, tighter: Type) -> Option<Exception> {
    let class = |ty: Type| ty.unique_class().or_else(|| ty.runtime_class());
    let (first, second, kept) = (class(a)?, class(b)?, tighter.unique_class()?);
    let is_ancestor = |low: ClassHandle| low != kept && low.is_subclass_of(kept);
    let objects = a.as_object().is_some() && b.as_object().is_some();
    match () {
        () if !union => None,
        () if is_ancestor(first) && is_ancestor(second) && first != second => {
            Some(Exception::NoCommonAncestor)
        }
        () if objects && first == second && tighter.spec() == Spec::Exact(first) => {
            Some(Exception::ObjectsGiveTheClass)
        }
        () => None,
    }
}
