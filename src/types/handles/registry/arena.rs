//! Slots that are reused, each time under another generation.

use super::super::slots::MAX_SLOTS;

/// Slots with generations.
pub(in crate::types::handles) struct Arena<R> {
    slots: Vec<(u32, Option<R>)>,
    free: Vec<u32>,
}

impl<R> Default for Arena<R> {
    fn default() -> Self {
        Arena {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<R> Arena<R> {
    pub(in crate::types::handles) fn get(&self, slot: u32, generation: u32) -> Option<&R> {
        match self.slots.get(slot as usize)? {
            (current, Some(record)) if *current == generation => Some(record),
            _ => None,
        }
    }

    /// Returns true if this generation of the slot was ever given out.
    pub(in crate::types::handles) fn was_given(&self, slot: u32, generation: u32) -> bool {
        self.slots
            .get(slot as usize)
            .is_some_and(|(current, _)| generation <= *current)
    }

    pub(in crate::types::handles) fn get_mut(
        &mut self,
        slot: u32,
        generation: u32,
    ) -> Option<&mut R> {
        match self.slots.get_mut(slot as usize)? {
            (current, Some(record)) if *current == generation => Some(record),
            _ => None,
        }
    }

    /// The occupants: slot, generation, and record.
    pub(super) fn inhabitants(&self) -> impl Iterator<Item = (u32, u32, &R)> {
        let slots = self.slots.iter().zip(0..);
        slots.filter_map(|((generation, record), slot)| Some((slot, *generation, record.as_ref()?)))
    }

    /// A free slot, and the generation of its next occupant.
    pub(super) fn vacancy(&mut self) -> Option<(u32, u32)> {
        if self.free.is_empty() {
            let slot = u32::try_from(self.slots.len())
                .ok()
                .filter(|slot| *slot < MAX_SLOTS)?;
            self.slots.push((0, None));
            self.free.push(slot);
        }
        let slot = *self.free.last()?;
        Some((slot, self.slots.get(slot as usize)?.0 + 1))
    }

    /// Puts `record` into the slot that [`vacancy`](Self::vacancy) returned last.
    pub(super) fn occupy(&mut self, slot: u32, generation: u32, record: R) {
        self.free.pop();
        if let Some(entry) = self.slots.get_mut(slot as usize) {
            *entry = (generation, Some(record));
        }
    }

    /// Removes the occupant. A slot whose generations are used up is not reused.
    pub(super) fn vacate(&mut self, slot: u32, generation: u32) -> Option<R> {
        let entry = self
            .slots
            .get_mut(slot as usize)
            .filter(|(current, _)| *current == generation)?;
        let record = entry.1.take()?;
        if generation < u32::MAX {
            self.free.push(slot);
        }
        Some(record)
    }
}
