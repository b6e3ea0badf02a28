//! Wrong rewrites, planted to test that the fuzzers find them. They exist only with the feature
//! `plant`, which `scripts/fuzz-planted` switches on; then `CLADONIA_PLANT` names the active one.

/// A wrong rewrite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// `simplify` takes a constant for its absolute value.
    Fold,
    /// `dce` drops guards whose results are not used: for example that a divisor is not zero.
    Dce,
    /// `refcounts` removes pairs of references though user code runs between.
    Refcounts,
    /// `memory` keeps facts across user code.
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
