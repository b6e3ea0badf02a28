//! Tests the operations against the model: no value is lost, and no type is tighter than the
//! answer.

use super::checker::{Checker, pairs};
use super::{Claim, Exception, LawResult};
use crate::types::handles::ClassHandle;
use crate::types::model::Values;
use crate::types::repr::{Spec, Type};

const TIGHT_UNION: &str = "no type is tighter than a | b";

impl Checker<'_> {
    /// Soundness against the model, and tightness.
    pub(super) fn covers(&mut self) {
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
}

/// The reason, if the specification chose an answer that is not the tightest: `tighter` must be
/// exactly the type that the choice ignores.
fn exception(union: bool, a: Type, b: Type, tighter: Type) -> Option<Exception> {
    let class = |ty: Type| ty.unique_class().or_else(|| ty.runtime_class());
    let (first, second, kept) = (class(a)?, class(b)?, tighter.unique_class()?);
    let is_ancestor = |low: ClassHandle| low != kept && low.is_subclass_of(kept);
    let objects = a.as_object().is_some() && b.as_object().is_some();
    if !union {
        None
    } else if is_ancestor(first) && is_ancestor(second) && first != second {
        Some(Exception::NoCommonAncestor)
    } else if objects && first == second && tighter.spec() == Spec::Exact(first) {
        Some(Exception::ObjectsGiveTheClass)
    } else {
        None
    }
}
