//! Reasons for side exits. They are below the exit records' module, because speculations are
//! recorded and avoided by instruction and reason long before an exit record exists.

use std::fmt;

/// The reason of a side exit. Each has a counter and a readable name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Reason {
    /// A value does not have the speculated class.
    Type,
    /// An int does not fit into a machine word.
    IntTooLarge,
    /// Integer arithmetic left 64 bits.
    Overflow,
    /// An index is outside its list or tuple, or is negative where only other ones are compiled.
    Bounds,
    /// A division by zero, or a shift by a negative or large count: the interpreter raises or
    /// computes.
    Domain,
    /// A value is not the speculated object.
    Identity,
    /// Two values that were speculated to be different are the same object.
    Alias,
    /// A local, cell or attribute has no value.
    Unbound,
    /// An attribute is not in the speculated place.
    Shape,
    /// A sequence does not have the speculated length.
    Length,
    /// A name of the namespace has no value, or not one of the speculated class.
    Name,
    /// An object that was speculated to live was deallocated, and its finaliser may have run user
    /// code. For example, `x = None` dropped the last reference to an object with `__del__`.
    Ended,
    /// An assumption of the unit was invalidated.
    Invalidated,
    /// Tracing or monitoring was switched on, or the frame was inspected.
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

    /// Returns true if control only reaches such an exit to deoptimise. If a branch to it was
    /// turned into a check, the exit state of the check is right only for that side of the branch.
    /// So a test that forces exits must not take it while the check holds.
    pub fn is_dead_end(self) -> bool {
        matches!(self, Reason::Unreached | Reason::NotCompiled)
    }

    /// Returns true if the reason is a failed speculation, so that recompiling without it helps.
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
