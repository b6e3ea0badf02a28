//! The law checker: every operation, over a universe of types of a hierarchy, against the [`Model`].
//!
//! Three kinds of laws are told apart. *Promised* laws hold always; one failing case is a bug. *Excepted* laws
//! hold but for places that were chosen, each with its reason; a failing case outside them is a bug. *Not promised* laws
//! are the ones a reader might expect of a lattice and must not rely on; the first case against is shown.

mod checker;
mod covers;
mod joins;

use std::fmt;

use super::hierarchy::Hierarchy;
use super::universe::universe;
use checker::Checker;

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

/// Checks all laws over types of the hierarchy.
pub fn check_laws(hierarchy: &Hierarchy) -> LawReport {
    Checker::new(hierarchy, universe(hierarchy)).run()
}
