//! Dicts: insertion order, keys compared by the program's own `==`.

use super::heap::{Head, Ref};
use super::{Result, ops, units};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// A dict.
#[repr(C)]
pub struct Dict {
    head: Head,
    table: RefCell<Table>,
    /// True if a unit relies on its names.
    pub is_watched: Cell<bool>,
}

#[derive(Default)]
struct Table {
    /// Entries in order; deleted ones are gaps.
    entries: Vec<Option<Entry>>,
    /// Entries by hash.
    index: HashMap<u64, Vec<usize>>,
    len: usize,
}

struct Entry {
    hash: u64,
    key: Ref,
    value: Ref,
}

impl Dict {
    pub(super) fn new(head: Head) -> Dict {
        Dict {
            head,
            table: RefCell::default(),
            is_watched: Cell::new(false),
        }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.table.borrow().len
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place of a key. Comparing may run user code, so nothing is borrowed meanwhile.
    fn find(&self, key: &Ref, hash: u64) -> Result<Option<usize>> {
        let places = self.table.borrow().index.get(&hash).cloned();
        for place in places.unwrap_or_default() {
            let known = match self.table.borrow().entries.get(place) {
                Some(Some(entry)) => entry.key.clone(),
                _ => continue,
            };
            if known.is(key) || ops::equal(&known, key)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// The value of a key.
    pub fn get(&self, key: &Ref) -> Result<Option<Ref>> {
        let place = self.find(key, ops::hash(key)?)?;
        let table = self.table.borrow();
        let entry = place.and_then(|place| table.entries.get(place)?.as_ref());
        Ok(entry.map(|entry| entry.value.clone()))
    }

    /// Sets the value of a key.
    pub fn set(&self, key: Ref, value: Ref) -> Result<()> {
        self.tell(&key);
        let hash = ops::hash(&key)?;
        let place = self.find(&key, hash)?;
        let mut table = self.table.borrow_mut();
        if let Some(Some(entry)) = place.and_then(|place| table.entries.get_mut(place)) {
            let old = std::mem::replace(&mut entry.value, value);
            drop(table);
            drop(old);
            return Ok(());
        }
        let at = table.entries.len();
        table.entries.push(Some(Entry { hash, key, value }));
        table.index.entry(hash).or_default().push(at);
        table.len += 1;
        Ok(())
    }

    /// Removes a key. Returns its value.
    pub fn remove(&self, key: &Ref) -> Result<Option<Ref>> {
        self.tell(key);
        let hash = ops::hash(key)?;
        let Some(place) = self.find(key, hash)? else {
            return Ok(None);
        };
        let mut table = self.table.borrow_mut();
        let Some(entry) = table.entries.get_mut(place).and_then(Option::take) else {
            return Ok(None);
        };
        table.len -= 1;
        if let Some(places) = table.index.get_mut(&entry.hash) {
            places.retain(|known| *known != place);
        }
        drop(table);
        Ok(Some(entry.value))
    }

    /// Notifies the units that rely on the name, before it changes.
    fn tell(&self, key: &Ref) {
        if self.is_watched.get()
            && let Some(name) = key.as_str()
        {
            units::name_changes(std::ptr::from_ref(self) as u64, name);
        }
    }

    /// New references to all keys and values, in order.
    pub fn items(&self) -> Vec<(Ref, Ref)> {
        let table = self.table.borrow();
        let entries = table.entries.iter().flatten();
        entries
            .map(|entry| (entry.key.clone(), entry.value.clone()))
            .collect()
    }

    /// The value of a name: strings are compared without running user code.
    pub fn name(&self, name: &str) -> Option<Ref> {
        let table = self.table.borrow();
        let places = table.index.get(&ops::hash_str(name))?;
        places.iter().find_map(|place| {
            let entry = table.entries.get(*place)?.as_ref()?;
            (entry.key.as_str() == Some(name)).then(|| entry.value.clone())
        })
    }

    /// Removes all entries, the last one first.
    pub fn clear(&self) {
        let mut entries = std::mem::take(&mut *self.table.borrow_mut()).entries;
        while let Some(entry) = entries.pop() {
            drop(entry);
        }
    }
}
