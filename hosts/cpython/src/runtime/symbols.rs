//! Names of machine code, with file and line, for profilers and debuggers outside of the process.
//! All of this is off by default:
//!
//! - **perf map**: `/tmp/perf-PID.map`, one line `start size name` per unit, which Linux `perf`
//!   reads for code that is in no file.
//! - **jitdump**: `jit-PID.dump`, the code itself with names and lines, from which `perf inject
//!   --jit` makes object files.
//! - **debugger**: gdb's JIT interface, which lldb supports too.
//!
//! A unit's name has the line where its function begins: the compiler keeps no table of lines.
//! Where compiled code has called out, the line is in the interpreter's frame, which `faulthandler`
//! and sampling profilers for Python read.

use super::Gil;
use super::abi;
use super::capi::get;
use super::function_state::Entry;
use super::units::{Kind, UnitState};
use cladonia::code::DebuggerName;
use cladonia::engine::CompiledCode;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::fs::{File, OpenOptions};
use std::io::{Error, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

/// The consumers of names.
#[derive(Default)]
pub struct Symbols {
    sinks: RefCell<Sinks>,
}

#[derive(Default)]
struct Sinks {
    /// The process that these files belong to: a forked child starts its own.
    process: u32,
    map: Option<File>,
    dump: Option<Dump>,
    /// Names given to the debugger, by address; `None` if it is not to get any.
    debugger: Option<HashMap<usize, DebuggerName>>,
    folder: Option<PathBuf>,
}

/// The consumers that the user selects.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// `perf`, by a map.
    pub map: bool,
    /// `perf`, by a dump in this folder.
    pub dump: Option<PathBuf>,
    /// Debuggers.
    pub debugger: bool,
}

impl Symbols {
    /// Publishes the names of all existing code, and of code compiled from now on.
    ///
    /// # Errors
    /// A file that can't be written.
    pub fn tell(&self, gil: Gil, wanted: Wanted) -> Result<(), Error> {
        let mut sinks = self.sinks.borrow_mut();
        sinks.process = std::process::id();
        sinks.folder = wanted.dump;
        if wanted.map && sinks.map.is_none() {
            sinks.map = Some(open_map()?);
        }
        if let (Some(folder), None) = (&sinks.folder, &sinks.dump) {
            sinks.dump = Some(Dump::open(folder)?);
        }
        if wanted.debugger {
            sinks.debugger.get_or_insert_default();
        }
        drop(sinks);
        for unit in gil.runtime().units() {
            // SAFETY: units in tables are alive.
            self.name(unsafe { &*unit });
        }
        Ok(())
    }

    /// Names a new unit.
    pub fn name(&self, unit: &UnitState) {
        let mut sinks = self.sinks.borrow_mut();
        if !sinks.is_any() {
            return;
        }
        let Some(made) = &unit.unit else { return };
        sinks.after_fork();
        let file = unit.shape.filename();
        let (line, what) = match unit.kind {
            // SAFETY: a unit's code object is alive.
            Kind::Function | Kind::Generator => unsafe {
                (get(unit.shape.code.cast(), abi::code::FIRSTLINENO), "")
            },
            Kind::Loop { pos, .. } => (unit.shape.line(pos), " loop"),
        };
        let raw = made.raw.as_ref().map(|(code, _)| (code, " raw"));
        for (code, part) in [(&made.code, "")].into_iter().chain(raw) {
            let name = format!("py::{}{what}{part} {file}:{line}", unit.shape.name());
            sinks.add(code, &name, &file, line);
        }
    }

    /// Names a new entry stub, through which the interpreter calls units of a function.
    pub fn name_entry(&self, entry: &Entry) {
        let mut sinks = self.sinks.borrow_mut();
        let Some(code) = entry.stub.get().filter(|_| sinks.is_any()) else {
            return;
        };
        sinks.after_fork();
        let file = entry.shape.filename();
        // SAFETY: an entry's code object is alive.
        let line = unsafe { get(entry.shape.code.cast(), abi::code::FIRSTLINENO) };
        let name = format!("py::{} entry {file}:{line}", entry.shape.name());
        sinks.add(code, &name, &file, line);
    }

    /// The entry stub of a function is being freed, if nothing else has it.
    pub fn forget_entry(&self, entry: &Entry) {
        let mut sinks = self.sinks.borrow_mut();
        if let (Some(known), Some(code)) = (&mut sinks.debugger, entry.stub.get()) {
            known.remove(&(code.entry() as usize));
        }
    }

    /// A unit is being freed.
    pub fn forget(&self, unit: &UnitState) {
        let mut sinks = self.sinks.borrow_mut();
        let (Some(known), Some(made)) = (&mut sinks.debugger, &unit.unit) else {
            return;
        };
        known.remove(&(made.code.entry() as usize));
        if let Some((raw, _)) = &made.raw {
            known.remove(&(raw.entry() as usize));
        }
    }
}

impl Sinks {
    fn is_any(&self) -> bool {
        self.map.is_some() || self.dump.is_some() || self.debugger.is_some()
    }

    /// Publishes the name of code that is alive.
    fn add(&mut self, code: &CompiledCode, name: &str, file: &str, line: i32) {
        let name = name.replace(['\n', '\r', '\0'], " ");
        let (entry, size) = (code.entry() as usize, code.size());
        // If a file can't be written, only the names are lost.
        if let Some(map) = &mut self.map {
            let _ = map.write_all(format!("{entry:x} {size:x} {name}\n").as_bytes());
        }
        if let Some(dump) = &mut self.dump {
            // SAFETY: the caller's: the code has this size.
            let bytes = unsafe { std::slice::from_raw_parts(code.entry(), size) };
            let _ = dump.add(entry, bytes, &name, file, line);
        }
        if let Some(known) = &mut self.debugger {
            known.insert(entry, DebuggerName::new(entry, size, &name));
        }
    }

    /// In a forked child, continues in files of its own.
    fn after_fork(&mut self) {
        let process = std::process::id();
        if self.process == process {
            return;
        }
        self.process = process;
        self.map = self.map.take().and_then(|_| open_map().ok());
        let folder = self.folder.as_ref();
        self.dump = self.dump.take().and_then(|_| Dump::open(folder?).ok());
    }
}

fn open_map() -> Result<File, Error> {
    let path = format!("/tmp/perf-{}.map", std::process::id());
    create(Path::new(&path))
}

/// A new file of the user's own. An existing one is replaced, and a link is not followed.
fn create(path: &Path) -> Result<File, Error> {
    let _ = std::fs::remove_file(path);
    let mut options = OpenOptions::new();
    options.read(true).append(true).create_new(true).mode(0o600);
    options.open(path)
}

/// A jitdump: see `tools/perf/Documentation/jitdump-specification.txt` of Linux.
struct Dump {
    file: File,
    /// A page of it is mapped as code, which tells `perf record` about the file.
    page: *mut c_void,
    count: u64,
}

const PAGE: usize = 4096;

impl Dump {
    fn open(folder: &Path) -> Result<Dump, Error> {
        const MAGIC: u32 = u32::from_be_bytes(*b"JiTD");
        const VERSION: u32 = 1;
        const HEADER: u32 = 40;
        let machine: u32 = if cfg!(target_arch = "aarch64") {
            183
        } else {
            62
        };
        let process = std::process::id();
        let mut file = create(&folder.join(format!("jit-{process}.dump")))?;
        let mut header = Vec::new();
        for word in [MAGIC, VERSION, HEADER, machine, 0, process] {
            header.extend(word.to_ne_bytes());
        }
        header.extend(now().to_ne_bytes());
        header.extend(0u64.to_ne_bytes());
        file.write_all(&header)?;
        // SAFETY: a new mapping, of a file that is open.
        let page = unsafe {
            let (read, private) = (libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE);
            libc::mmap(null_mut(), PAGE, read, private, file.as_raw_fd(), 0)
        };
        if page == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        Ok(Dump {
            file,
            page,
            count: 0,
        })
    }

    /// Adds code: its debug information, then the code itself.
    fn add(
        &mut self,
        at: usize,
        code: &[u8],
        name: &str,
        file: &str,
        line: i32,
    ) -> Result<(), Error> {
        const LOAD: u32 = 0;
        const LINES: u32 = 2;
        let mut lines = Vec::new();
        for word in [at as u64, 1, at as u64] {
            lines.extend(word.to_ne_bytes());
        }
        lines.extend((line.max(0) as u32).to_ne_bytes());
        lines.extend(0u32.to_ne_bytes());
        lines.extend(file.bytes().filter(|&byte| byte != 0));
        lines.push(0);
        // SAFETY: returns a number.
        let thread = unsafe { libc::gettid() };
        let mut load = Vec::new();
        load.extend(std::process::id().to_ne_bytes());
        load.extend(thread.to_ne_bytes());
        for word in [at as u64, at as u64, code.len() as u64, self.count] {
            load.extend(word.to_ne_bytes());
        }
        load.extend(name.bytes());
        load.push(0);
        load.extend(code);
        self.count += 1;
        let mut record = Vec::new();
        for (kind, body) in [(LINES, lines), (LOAD, load)] {
            let size = 16 + body.len() as u32;
            record.extend(kind.to_ne_bytes());
            record.extend(size.to_ne_bytes());
            record.extend(now().to_ne_bytes());
            record.extend(body);
        }
        self.file.write_all(&record)
    }
}

impl Drop for Dump {
    fn drop(&mut self) {
        // SAFETY: it was mapped, and is unmapped once.
        unsafe { libc::munmap(self.page, PAGE) };
    }
}

/// The clock of `perf record -k mono`, in nanoseconds.
fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: it writes the time.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
