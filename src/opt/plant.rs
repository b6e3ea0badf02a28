//! Wrong rewrites, planted to test that the fuzzers find them. They exist only with the feature
//! `plant`, which `scripts/fuzz-planted` switches on; then [`plant`] activates one of them.

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
static PLANTED: std::sync::OnceLock<String> = std::sync::OnceLock::new();

/// Activates the fault of this name in all compiles of the process. The first call counts.
#[cfg(feature = "plant")]
pub fn plant(name: &str) {
    PLANTED.get_or_init(|| name.to_owned());
}

#[cfg(feature = "plant")]
pub(super) fn is_planted(fault: Fault) -> bool {
    let name = PLANTED.get();
    name.is_some_and(|name| format!("{fault:?}").eq_ignore_ascii_case(name))
}

#[cfg(not(feature = "plant"))]
pub(super) const fn is_planted(_: Fault) -> bool {
    false
}
