//! Addresses in code: the code has numbers for them, and is patched with what they stand for where it is placed.

use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// The addresses of a function, numbered in the order in which they were met. Equal ones have one number.
#[derive(Default)]
pub(super) struct Addresses {
    numbers: FxHashMap<u64, u32>,
    list: Vec<u64>,
}

/// Whether an address is part of the code as any integer is: null, and what lies where a program lies that the system does not place at
/// random. The machine has shorter instructions for these, which depend on their values.
pub(super) fn is_fixed(address: u64) -> bool {
    i32::try_from(address).is_ok()
}

impl Addresses {
    /// Forget all.
    pub(super) fn clear(&mut self) {
        self.numbers.clear();
        self.list.clear();
    }

    /// The number of an address that is not [fixed](is_fixed).
    pub(super) fn number(&mut self, address: u64) -> u32 {
        match self.numbers.entry(address) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let number = self.list.len() as u32;
                self.list.push(address);
                *entry.insert(number)
            }
        }
    }

    /// All, by their numbers.
    pub(super) fn all(&self) -> &[u64] {
        &self.list
    }
}
