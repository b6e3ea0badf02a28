//! A cache of generated code: of this process, and of others if there is a store.
//!
//! Only code generation is saved. The caller has already made the low-level code, with all checks
//! and assumptions, and the key is a hash of that code.

use super::body::Body;
use super::key::Key;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Keeps code from one process to the next, for example in a folder of the host's. It is called on
/// the thread that generates code.
pub trait Store: Send + Sync {
    /// The bytes that were kept under a key: all of them unchanged, or none.
    fn find(&self, key: &Key) -> Option<Vec<u8>>;

    /// Keeps bytes, now or later. No result depends on it.
    fn keep(&self, key: &Key, bytes: Vec<u8>);

    /// Reports that the bytes under a key are useless.
    fn refuse(&self, key: &Key);

    /// Does a part of the deferred work, at a time when no compile waits. Returns true if there was
    /// any.
    fn settle(&self) -> bool;
}

/// Counts of requests for code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CacheCounts {
    /// Functions whose code this process had generated before.
    pub shared: u64,
    /// Functions whose code was in the store.
    pub found: u64,
    /// Functions whose code was generated.
    pub missed: u64,
    /// Units whose functions all had their code found or shared.
    pub units_found: u64,
    /// Other units.
    pub units_missed: u64,
}

/// The cache of generated code.
pub struct Cache {
    store: Box<dyn Store>,
    recent: Mutex<Recent>,
    shared: AtomicU64,
    found: AtomicU64,
    missed: AtomicU64,
    units_found: AtomicU64,
    units_missed: AtomicU64,
}

/// The latest code of this process: small functions are often the same in several namespaces, and
/// each function has stubs.
#[derive(Default)]
struct Recent {
    bodies: HashMap<Key, Arc<Body>>,
    order: VecDeque<Key>,
    size: usize,
}

impl Recent {
    /// The most bytes of all bodies.
    const LIMIT: usize = 512 << 10;
    /// The most bytes of one body.
    const LARGEST: usize = 16 << 10;

    fn insert(&mut self, key: Key, body: &Arc<Body>) {
        if body.size() > Recent::LARGEST || self.bodies.insert(key, body.clone()).is_some() {
            return;
        }
        self.order.push_back(key);
        self.size += body.size();
        while self.size > Recent::LIMIT {
            let oldest = self.order.pop_front();
            let Some(oldest) = oldest.and_then(|key| self.bodies.remove(&key)) else {
                return;
            };
            self.size -= oldest.size();
        }
    }
}

impl Cache {
    /// A cache in front of a store.
    pub fn new(store: Box<dyn Store>) -> Cache {
        Cache {
            store,
            recent: Mutex::default(),
            shared: AtomicU64::new(0),
            found: AtomicU64::new(0),
            missed: AtomicU64::new(0),
            units_found: AtomicU64::new(0),
            units_missed: AtomicU64::new(0),
        }
    }

    /// The counts so far.
    pub fn counts(&self) -> CacheCounts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        CacheCounts {
            shared: read(&self.shared),
            found: read(&self.found),
            missed: read(&self.missed),
            units_found: read(&self.units_found),
            units_missed: read(&self.units_missed),
        }
    }

    /// Counts a unit.
    pub(crate) fn count_unit(&self, found: bool) {
        let count = if found {
            &self.units_found
        } else {
            &self.units_missed
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Does a part of the store's deferred work: see [`Store::settle`].
    pub fn settle(&self) -> bool {
        self.store.settle()
    }

    /// The body that was kept under a key.
    pub(super) fn find(&self, key: &Key) -> Option<Arc<Body>> {
        // If the lock is taken, it is by another thread, of this process or of the one it was
        // forked from: do not wait.
        let recent = self.recent.try_lock();
        if let Some(body) = recent
            .ok()
            .and_then(|recent| recent.bodies.get(key).cloned())
        {
            self.shared.fetch_add(1, Ordering::Relaxed);
            return Some(body);
        }
        let bytes = self.store.find(key)?;
        let Some(body) = Body::decode(&bytes) else {
            self.store.refuse(key);
            return None;
        };
        self.found.fetch_add(1, Ordering::Relaxed);
        let body = Arc::new(body);
        self.remember(key, &body);
        Some(body)
    }

    /// Reports that the body under a key does not fit the function.
    pub(super) fn refuse(&self, key: &Key) {
        if let Ok(mut recent) = self.recent.try_lock()
            && let Some(body) = recent.bodies.remove(key)
        {
            recent.size -= body.size();
            recent.order.retain(|other| other != key);
        }
        self.store.refuse(key);
    }

    /// Keeps a new body.
    pub(super) fn keep(&self, key: &Key, body: Body) {
        self.missed.fetch_add(1, Ordering::Relaxed);
        if let Some(bytes) = body.encode() {
            self.store.keep(key, bytes);
        }
        self.remember(key, &Arc::new(body));
    }

    /// The number of bytes in memory.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.recent.lock().unwrap().size
    }

    fn remember(&self, key: &Key, body: &Arc<Body>) {
        if let Ok(mut recent) = self.recent.try_lock() {
            recent.insert(*key, body);
        }
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}
