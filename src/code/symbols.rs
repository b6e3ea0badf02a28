//! Names of machine code and maps of its frames: the table behind `lookup` and `site`, and the file
//! that Linux `perf` reads.

use super::frames::{FrameMap, Site};
use super::gdb::Registration;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// Names by start address.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    by_start: BTreeMap<usize, Symbol>,
}

#[derive(Debug)]
struct Symbol {
    len: usize,
    name: String,
    /// Maps of its frames by the offset of the return address.
    maps: BTreeMap<usize, Arc<FrameMap>>,
    /// Dropped with the name.
    _registration: Option<Registration>,
}

impl Symbols {
    /// Names code; `debugger`: also for an attached debugger.
    pub(super) fn insert(&mut self, start: usize, len: usize, name: &str, debugger: bool) {
        let registration = debugger.then(|| Registration::new(start, len, name));
        self.by_start.insert(
            start,
            Symbol {
                len,
                name: name.to_owned(),
                maps: BTreeMap::new(),
                _registration: registration,
            },
        );
    }

    /// Removes the names in a range.
    pub(super) fn remove(&mut self, start: usize, len: usize) {
        let inside: Vec<usize> = self
            .by_start
            .range(start..start + len)
            .map(|(&s, _)| s)
            .collect();
        for start in inside {
            self.by_start.remove(&start);
        }
    }

    /// Keeps frame maps for the code that begins at `start`, by offset.
    pub(super) fn map_frames(
        &mut self,
        start: usize,
        maps: impl IntoIterator<Item = (usize, FrameMap)>,
    ) {
        if let Some(symbol) = self.by_start.get_mut(&start) {
            let maps = maps.into_iter();
            let maps = maps.map(|(offset, map)| (offset, Arc::new(map)));
            symbol.maps.extend(maps);
        }
    }

    pub(super) fn find(&self, address: usize) -> Option<String> {
        self.symbol(address).map(|(_, symbol)| symbol.name.clone())
    }

    /// The map for a return address.
    pub(super) fn site(&self, address: usize) -> Site {
        let Some((start, symbol)) = self.symbol(address) else {
            return Site::Foreign;
        };
        match symbol.maps.get(&(address - start)) {
            Some(map) => Site::Mapped(map.clone()),
            None => Site::Unmapped(symbol.name.clone()),
        }
    }

    /// The code at an address, and where it begins.
    fn symbol(&self, address: usize) -> Option<(usize, &Symbol)> {
        let (&start, symbol) = self.by_start.range(..=address).next_back()?;
        (address - start < symbol.len).then_some((start, symbol))
    }
}

/// `/tmp/perf-PID.map`: one line `start size name` for each unit, for `perf report`. Lines of freed
/// code stay; perf takes the newest of overlapping ones.
#[derive(Debug)]
pub(super) struct PerfMap {
    /// Opened at the first line, so that a forked child that compiles nothing leaves no file.
    /// `None` inside: could not be opened.
    file: Mutex<Option<Option<File>>>,
}

impl PerfMap {
    pub(super) fn new() -> PerfMap {
        PerfMap {
            file: Mutex::new(None),
        }
    }

    /// Adds a line. If the file cannot be written, only the names are lost.
    pub(super) fn append(&self, start: usize, len: usize, name: &str) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let file = file.get_or_insert_with(|| {
            let path = format!("/tmp/perf-{}.map", std::process::id());
            OpenOptions::new().create(true).append(true).open(path).ok()
        });
        if let Some(file) = file {
            let name = name.replace(['\n', '\r'], " ");
            let _ = file.write_all(format!("{start:x} {len:x} {name}\n").as_bytes());
        }
    }
}
