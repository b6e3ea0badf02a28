//! Lookups in sets of [the most frequent keys](super::keys).
//!
//! Safety: the contract of [`super`].

use super::keys;
use crate::capi::Obj;
use pyo3_ffi::*;

/// The number of entries behind an entry that the interpreter tries before it goes elsewhere
/// (`LINEAR_PROBES` in `Objects/setobject.c`).
const NEXT_PROBES: usize = 9;
/// The number of bits by which it shifts a hash for each further place (`PERTURB_SHIFT`).
const SHIFT: u32 = 5;

/// Tests if a set has an item. `None` if the interpreter must look: the container is no set, the
/// item is of another class, or two items have the same hash and their comparison may run user
/// code.
///
/// # Safety
/// The lock is held; live objects.
pub(super) unsafe fn has(container: Obj, item: Obj) -> Option<bool> {
    // SAFETY: the caller's; the number of entries in a set's table is a power of two, and at least
    // one entry was never used, so each search stops.
    unsafe {
        if PyAnySet_CheckExact(container) == 0 {
            return None;
        }
        let hash = keys::hash_of(item)?;
        let set = &*container.cast::<PySetObject>();
        let mask = set.mask as usize;
        let mut rest = hash as usize;
        let mut place = rest & mask;
        loop {
            let last = match place + NEXT_PROBES <= mask {
                true => place + NEXT_PROBES,
                false => place,
            };
            for at in place..=last {
                let entry = &*set.table.add(at);
                if entry.key.is_null() && entry.hash == 0 {
                    return Some(false);
                }
                // A deleted entry has the hash -1, which no item has.
                if entry.hash == hash && keys::are_equal(entry.key, item)? {
                    return Some(true);
                }
            }
            rest >>= SHIFT;
            place = (place * 5 + 1 + rest) & mask;
        }
    }
}
