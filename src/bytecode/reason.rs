//! Why compiled code leaves at an instruction. It is a room below the exits' own, because bets are made and avoided by
//! instruction and reason long before an exit record exists.

use std::fmt;

/// Why compiled code leaves; each reason has a counter and a name for people.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Reason {
    /// A value has not the class that was bet on.
    Type,
    /// An int has more digits than a machine word takes.
    IntTooLarge,
    /// Integer arithmetic left 64 bits.
    Overflow,
    /// An index is outside its list or tuple, or negative where that is not compiled.
    Bounds,
    /// A division by zero, or a shift by a negative or large count: the interpreter raises or computes.
    Domain,
    /// A value is not the object that was bet on.
    Identity,
    /// Two values are one object that were bet to be two.
    Alias,
    /// A local, cell or attribute has no value.
    Unbound,
    /// An attribute is not where it was bet to be.
    Shape,
    /// A sequence has not the length that was bet on.
    Length,
    /// A name of the namespace has no value, or not one of the class that was bet on.
    Name,
    /// An object ended that was bet not to, and its end may have run code of the program.
    Ended,
    /// Something the unit assumed was changed.
    Invalidated,
    /// Tracing or monitoring was switched on, or the frame was opened to others.
    Observed,
    /// The instruction had never been executed when the unit was compiled.
    Unreached,
    /// The instruction is not compiled natively.
    NotCompiled,
    /// A helper raised an exception.
    Raised,
}

impl Reason {
    /// All reasons.
    pub const ALL: [Reason; 17] = [
        Reason::Type,
        Reason::IntTooLarge,
        Reason::Overflow,
        Reason::Bounds,
        Reason::Domain,
        Reason::Identity,
        Reason::Alias,
        Reason::Unbound,
        Reason::Shape,
        Reason::Length,
        Reason::Name,
        Reason::Ended,
        Reason::Invalidated,
        Reason::Observed,
        Reason::Unreached,
        Reason::NotCompiled,
        Reason::Raised,
    ];

    /// The name shown in statistics and text forms.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Type => "type",
            Reason::IntTooLarge => "int_too_large",
            Reason::Overflow => "overflow",
            Reason::Bounds => "bounds",
            Reason::Domain => "domain",
            Reason::Identity => "identity",
            Reason::Alias => "alias",
            Reason::Unbound => "unbound",
            Reason::Shape => "shape",
            Reason::Length => "length",
            Reason::Name => "name",
            Reason::Ended => "ended",
            Reason::Invalidated => "invalidated",
            Reason::Observed => "observed",
            Reason::Unreached => "unreached",
            Reason::NotCompiled => "not_compiled",
            Reason::Raised => "raised",
        }
    }

    /// Whether control comes to such an exit only to leave. Where a branch to it was made a check, what the check leaves with holds
    /// for that side of the branch alone: it must not be taken where it holds, not even on purpose.
    pub fn is_dead_end(self) -> bool {
        matches!(self, Reason::Unreached | Reason::NotCompiled)
    }

    /// Whether the reason is a bet that failed, so that recompiling without it helps.
    pub fn is_bet(self) -> bool {
        !matches!(
            self,
            Reason::Invalidated | Reason::Observed | Reason::NotCompiled | Reason::Raised
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
