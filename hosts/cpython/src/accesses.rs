//! Executed attribute accesses, by how compiled code makes them: counted where that was asked for.

use cladonia::host::AccessKind;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

static IS_ON: AtomicBool = AtomicBool::new(false);

/// Compiled code adds to these itself.
static COUNTS: [AtomicU64; AccessKind::ALL.len()] =
    [const { AtomicU64::new(0) }; AccessKind::ALL.len()];

/// Count from now on, in what is compiled from now on, or no more.
pub fn enable(on: bool) {
    IS_ON.store(on, Relaxed);
}

/// The word of a kind, if accesses are counted.
pub fn word(kind: AccessKind) -> Option<u64> {
    let word = || COUNTS[kind as usize].as_ptr() as u64;
    IS_ON.load(Relaxed).then(word)
}

/// An access that a general operation makes, by a place that a cache has or not.
pub fn general(is_cached: bool) {
    if IS_ON.load(Relaxed) {
        let kind = match is_cached {
            true => AccessKind::Cached,
            false => AccessKind::General,
        };
        COUNTS[kind as usize].fetch_add(1, Relaxed);
    }
}

/// How many there were of each kind, if they are counted.
pub fn counts() -> Option<BTreeMap<&'static str, u64>> {
    let counted = |kind: AccessKind| (kind.name(), COUNTS[kind as usize].load(Relaxed));
    let is_on = IS_ON.load(Relaxed);
    is_on.then(|| AccessKind::ALL.map(counted).into())
}
