//! The data of classes and objects that every subtype test reads, stored so that reading takes no
//! lock.
//!
//! A slot is reused after its class died, so a reader must never see half of one class and half of
//! another: each slot is a sequence lock over plain atomics. `generation` is 0 while the slot is
//! free, and otherwise a number never used before in this slot; a read counts only if the
//! generation is the handle's own before *and* after. All writers have the registry's lock.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Slots are allocated in blocks of this many, and a block never moves.
const BLOCK: u32 = 512;
/// The most blocks.
const BLOCKS: usize = 8192;
/// The most slots.
pub(super) const MAX_SLOTS: u32 = BLOCK * BLOCKS as u32;

/// Room for the ancestors of a class, hashed without collision.
const ANCESTORS: usize = 16;
const ANCESTOR_SHIFT: u32 = u32::BITS - ANCESTORS.trailing_zeros();

/// Blocks of slots, allocated at the first use.
pub(super) struct Slots<S> {
    blocks: [OnceLock<Box<[S; BLOCK as usize]>>; BLOCKS],
}

impl<S: Default> Slots<S> {
    const fn new() -> Self {
        Slots {
            blocks: [const { OnceLock::new() }; BLOCKS],
        }
    }

    /// The slot, if its block exists.
    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&S> {
        Some(&self.blocks.get((slot / BLOCK) as usize)?.get()?[(slot % BLOCK) as usize])
    }

    /// The slot, whose block is allocated if necessary; none beyond [`MAX_SLOTS`].
    pub(super) fn get_or_make(&self, slot: u32) -> Option<&S> {
        let block = self.blocks.get((slot / BLOCK) as usize)?;
        Some(
            &block.get_or_init(|| Box::new(std::array::from_fn(|_| S::default())))
                [(slot % BLOCK) as usize],
        )
    }
}

pub(super) static CLASSES: Slots<ClassSlot> = Slots::new();
pub(super) static OBJECTS: Slots<ObjectSlot> = Slots::new();

/// The hot part of a class.
#[derive(Default)]
pub(super) struct ClassSlot {
    generation: AtomicU32,
    /// A hash multiplier that spreads the ancestors over `ancestors` without collision; 0 if none
    /// was found.
    multiplier: AtomicU32,
    meta: AtomicU32,
    ancestors: [AtomicU64; ANCESTORS],
}

/// The answer of [`ClassSlot::derives_from`].
pub(super) enum Lineage {
    Yes,
    No,
    /// The ancestors did not fit: use the registry.
    Unknown,
}

/// Runs `read` on a slot that has `generation` before and after.
macro_rules! consistent {
    ($slot:expr, $generation:expr, $read:expr) => {{
        if $slot.generation.load(Ordering::Acquire) != $generation {
            None
        } else {
            let value = $read;
            fence(Ordering::Acquire);
            ($slot.generation.load(Ordering::Relaxed) == $generation).then_some(value)
        }
    }};
}

impl ClassSlot {
    #[inline]
    pub(super) fn is_alive(&self, generation: u32) -> bool {
        self.generation.load(Ordering::Acquire) == generation
    }

    /// The class's flags (see the registry), if it is alive.
    #[inline]
    pub(super) fn meta(&self, generation: u32) -> Option<u32> {
        consistent!(self, generation, self.meta.load(Ordering::Relaxed))
    }

    /// Returns true if the class of this generation derives from the class `ancestor` in
    /// `ancestor_slot`.
    #[inline]
    pub(super) fn derives_from(
        &self,
        generation: u32,
        ancestor_slot: u32,
        ancestor: u64,
    ) -> Lineage {
        let read = consistent!(self, generation, {
            let multiplier = self.multiplier.load(Ordering::Relaxed);
            let index = ancestor_slot.wrapping_mul(multiplier) >> ANCESTOR_SHIFT;
            (
                multiplier,
                self.ancestors[index as usize].load(Ordering::Relaxed),
            )
        });
        match read {
            Some((_, found)) if found == ancestor => Lineage::Yes,
            Some((0, _)) => Lineage::Unknown,
            _ => Lineage::No,
        }
    }

    /// Puts a class in. `ancestors` are (slot, raw handle).
    pub(super) fn occupy(&self, generation: u32, meta: u32, ancestors: &[(u32, u64)]) {
        self.vacate();
        let (multiplier, table) = spread(ancestors).unwrap_or((0, [0; ANCESTORS]));
        self.multiplier.store(multiplier, Ordering::Relaxed);
        self.meta.store(meta, Ordering::Relaxed);
        for (cell, value) in self.ancestors.iter().zip(table) {
            cell.store(value, Ordering::Relaxed);
        }
        self.generation.store(generation, Ordering::Release);
    }

    /// Removes the class: from now on no read of it counts.
    pub(super) fn vacate(&self) {
        self.generation.store(0, Ordering::Relaxed);
        fence(Ordering::Release);
    }
}

/// A multiplier that maps each ancestor's slot to a cell of its own, and the cells.
fn spread(ancestors: &[(u32, u64)]) -> Option<(u32, [u64; ANCESTORS])> {
    const TRIES: u32 = 512;
    if ancestors.len() > ANCESTORS {
        return None;
    }
    let mut multiplier = 0x9e37_79b1_u32;
    'next: for _ in 0..TRIES {
        multiplier = multiplier
            .wrapping_mul(0x2c92_77b5)
            .wrapping_add(0x6d2b_79f6)
            | 1;
        let mut table = [0; ANCESTORS];
        for &(slot, raw) in ancestors {
            let cell = &mut table[(slot.wrapping_mul(multiplier) >> ANCESTOR_SHIFT) as usize];
            if *cell != 0 {
                continue 'next;
            }
            *cell = raw;
        }
        return Some((multiplier, table));
    }
    None
}

/// The hot part of an object.
#[derive(Default)]
pub(super) struct ObjectSlot {
    generation: AtomicU32,
    immortal: AtomicU32,
    class: AtomicU64,
}

impl ObjectSlot {
    #[inline]
    pub(super) fn is_alive(&self, generation: u32) -> bool {
        self.generation.load(Ordering::Acquire) == generation
    }

    /// The object's class, if it is alive.
    #[inline]
    pub(super) fn class(&self, generation: u32) -> Option<u64> {
        consistent!(self, generation, self.class.load(Ordering::Relaxed))
    }

    /// True if the object lives forever; none if it is not alive.
    #[inline]
    pub(super) fn is_immortal(&self, generation: u32) -> Option<bool> {
        consistent!(self, generation, self.immortal.load(Ordering::Relaxed) != 0)
    }

    /// Updates the flag that the object lives forever.
    pub(super) fn set_immortal(&self, immortal: bool) {
        self.immortal.store(u32::from(immortal), Ordering::Relaxed);
    }

    /// Puts an object in.
    pub(super) fn occupy(&self, generation: u32, class: u64, immortal: bool) {
        self.vacate();
        self.class.store(class, Ordering::Relaxed);
        self.immortal.store(u32::from(immortal), Ordering::Relaxed);
        self.generation.store(generation, Ordering::Release);
    }

    /// Removes the object.
    pub(super) fn vacate(&self) {
        self.generation.store(0, Ordering::Relaxed);
        fence(Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_get_cells_of_their_own() {
        for count in 0..=10_u32 {
            let ancestors: Vec<_> = (0..count).map(|i| (i * 37 + 5, u64::from(i) + 1)).collect();
            let (multiplier, table) = spread(&ancestors).expect("ten ancestors fit");
            for (slot, raw) in ancestors {
                assert_eq!(
                    table[(slot.wrapping_mul(multiplier) >> ANCESTOR_SHIFT) as usize],
                    raw
                );
            }
        }
    }

    #[test]
    fn too_many_ancestors_are_stored_in_the_registry() {
        let many: Vec<_> = (0..17).map(|i| (i, u64::from(i) + 1)).collect();
        assert!(spread(&many).is_none());
        let slot = ClassSlot::default();
        slot.occupy(3, 0, &many);
        assert!(matches!(slot.derives_from(3, 0, 1), Lineage::Unknown));
        assert!(
            matches!(slot.derives_from(2, 0, 1), Lineage::No),
            "another generation derives from nothing"
        );
    }
}
