//! Names of machine code: the table behind `lookup`, and the file that Linux `perf` reads.

use super::gdb::Registration;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Names by start address.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    by_start: BTreeMap<usize, Symbol>,
}

#[derive(Debug)]
struct Symbol {
    len: usize,
    name: String,
    /// Dropped with the name.
    _registration: Option<Registration>,
}

impl Symbols {
    /// Name code; `debugger`: also for an attached debugger.
    pub(super) fn insert(&mut self, start: usize, len: usize, name: &str, debugger: bool) {
        let registration = debugger.then(|| Registration::new(start, len, name));
        self.by_start.insert(
            start,
            Symbol {
                len,
                name: name.to_owned(),
                _registration: registration,
            },
        );
    }

    /// Forget what lies in a range.
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

    pub(super) fn find(&self, address: usize) -> Option<String> {
        let (start, symbol) = self.by_start.range(..=address).next_back()?;
        (address - start < symbol.len).then(|| symbol.name.clone())
    }
}

/// `/tmp/perf-PID.map`: one line `start size name` for each unit, for `perf report`. Lines of freed code stay; perf
/// takes the newest of overlapping ones.
#[derive(Debug)]
pub(super) struct PerfMap {
    /// Opened at the first line, so that a forked child that compiles nothing leaves no file. `None` inside: could not be opened.
    file: Mutex<Option<Option<File>>>,
}

impl PerfMap {
    pub(super) fn new() -> PerfMap {
        PerfMap {
            file: Mutex::new(None),
        }
    }

    /// Add a line. A file that cannot be written costs the names, nothing else.
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
