//! The law checker: tests every operation, over a universe of types of a hierarchy, against the
//! [`Model`].
//!
//! There are three kinds of laws. *Promised* laws always hold; one failing case is a bug.
//! *Excepted* laws hold except in chosen places, each with its reason; a failing case outside them
//! is a bug. *Not promised* laws are those that a reader might expect of a lattice and must not
//! rely on; the first counterexample is shown.

mod checker;
mod covers;
mod joins;

use std::fmt;

use super::hierarchy::Hierarchy;
use super::universe::universe;
use checker::Checker;

/// The claim about a law.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// It holds.
    Promised,
    /// It holds except in the listed cases.
    Excepted,
    /// It need not hold.
    NotPromised,
}

/// The result of checking one law.
#[derive(Clone, Debug)]
pub struct LawResult {
    /// The law.
    pub law: &'static str,
    /// The claim about it.
    pub claim: Claim,
    /// The number of cases.
    pub cases: u64,
    /// The number of failing cases that are no exceptions.
    pub failures: u64,
    /// The first of them.
    pub first_failure: Option<String>,
    /// For each reason for exceptions: their number, and the first.
    pub exceptions: Vec<(Exception, u64, String)>,
}

/// The reason why an answer may be wider than the tightest type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Exception {
    /// `User[Car] | User[Motorcycle]` is `User`: a union does not look for a common ancestor (the
    /// specification's choice).
    NoCommonAncestor,
    /// `a | b` of two objects of a class is the class, not the class `:Exact` (the specification's
    /// example).
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

/// The result of checking the laws.
#[derive(Clone, Debug)]
pub struct LawReport {
    /// The number of types.
    pub types: usize,
    /// The number of values in the model.
    pub values: usize,
    /// The results, law by law.
    pub results: Vec<LawResult>,
}

impl LawReport {
    /// Returns true if all claims hold.
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
