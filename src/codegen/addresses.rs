//! Addresses in code: the generated code refers to them by number, and is patched with their values
//! where it is placed.

use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// The addresses of a function, numbered in the order of their first use. Equal ones have one
/// number.
#[derive(Default)]
pub(super) struct Addresses {
    numbers: FxHashMap<u64, u32>,
    list: Vec<u64>,
}

/// Returns true if an address is part of the code like any other integer: null, and low addresses,
/// which the system does not randomise. The machine has shorter instructions for these, depending
/// on their values.
pub(super) fn is_fixed(address: u64) -> bool {
    i32::try_from(address).is_ok()
}

impl Addresses {
    /// Removes all addresses.
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

    /// All addresses, by their numbers.
    pub(super) fn all(&self) -> &[u64] {
        &self.list
    }
}
