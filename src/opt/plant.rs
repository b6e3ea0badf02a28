//! Wrong rewrites, planted to see that the fuzzers find them. There are none without the feature
//! `plant`, which nothing but `scripts/fuzz-planted` switches on; with it, `CLADONIA_PLANT` names
//! the one that is made.

/// A wrong rewrite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// `simplify` takes a constant for its absolute value.
    Fold,
    /// `dce` drops guards whose results nobody names: of conditions, say that a divisor is not
    /// zero.
    Dce,
    /// `refcounts` takes references away though code of the program runs between.
    Refcounts,
    /// `memory` keeps what it knows across code of the program.
    Memory,
    /// `checks` drops every check of validity.
    Checks,
    /// `types` believes a block parameter's type from the first edge.
    Types,
}

#[cfg(feature = "plant")]
pub(super) fn is_planted(fault: Fault) -> bool {
    static PLANTED: std::sync::LazyLock<String> =
        std::sync::LazyLock::new(|| std::env::var("CLADONIA_PLANT").unwrap_or_default());
    format!("{fault:?}").eq_ignore_ascii_case(&PLANTED)
}

#[cfg(not(feature = "plant"))]
pub(super) const fn is_planted(_: Fault) -> bool {
    false
}
