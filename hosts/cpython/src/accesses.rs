//! Counts of executed attribute accesses, by kind, if the user enabled them.

use cladonia::host::AccessKind;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

static IS_ON: AtomicBool = AtomicBool::new(false);

/// Compiled code adds to these directly.
static COUNTS: [AtomicU64; AccessKind::ALL.len()] =
    [const { AtomicU64::new(0) }; AccessKind::ALL.len()];

/// Enables or disables counting, for code that is compiled from now on.
pub fn enable(on: bool) {
    IS_ON.store(on, Relaxed);
}

/// The word of a kind, if accesses are counted.
pub fn word(kind: AccessKind) -> Option<u64> {
    let word = || COUNTS[kind as usize].as_ptr() as u64;
    IS_ON.load(Relaxed).then(word)
}

/// Counts an access by a general operation, through a cached place or not.
pub fn general(is_cached: bool) {
    if IS_ON.load(Relaxed) {
        let kind = if is_cached {
            AccessKind::Cached
        } else {
            AccessKind::General
        };
        COUNTS[kind as usize].fetch_add(1, Relaxed);
    }
}

/// The counts by kind, if accesses are counted.
pub fn counts() -> Option<BTreeMap<&'static str, u64>> {
    let counted = |kind: AccessKind| (kind.name(), COUNTS[kind as usize].load(Relaxed));
    let is_on = IS_ON.load(Relaxed);
    is_on.then(|| AccessKind::ALL.map(counted).into())
}
