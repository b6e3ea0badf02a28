//! Machine code in the user's cache folder, from one process to the next.
//!
//! # The folder
//! One file for each function, named by its key, in one of sixteen subfolders. There is no index: a
//! start reads nothing, and a lookup is one `open` and one `read`. Processes share the folder
//! without locks: a file is written under a temporary name and then renamed, so a reader sees a
//! whole file or none. The key covers all that determines the code, the build of Cladonia included,
//! so a file that another build wrote is never found.
//!
//! # Trust
//! The code in the folder is executed, so the folder and each file must belong to the user, and
//! group and others must not be able to write to them; otherwise the folder is not used. The
//! checksum of a file detects accidental damage, such as a failing disk. It does not protect
//! against code that can write as this user.
//!
//! # Size
//! A subfolder is swept occasionally after a write (one write in [`SWEEPS`], by the key): the least
//! recently used files are removed until its share of the limit is reached. A file that is used is
//! touched, at most once in [`TOUCHED`].
//!
//! # Failure
//! No failure here affects the program. Each error is counted, and the text of the last one is kept
//! for the statistics; after several in a row, nothing is written any more.

use cladonia::engine::cache::{Key, Store, fingerprint};
use std::collections::VecDeque;
use std::ffi::{CString, OsStr};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime};

/// Target for the total size of a folder's files.
pub const LIMIT: u64 = 64 << 20;
/// Subfolders.
const PARTS: u64 = 16;
/// One in this many writes sweeps its subfolder.
const SWEEPS: u8 = 16;
/// Maximum bytes that wait to be written.
const MAX_WAITING: usize = 8 << 20;
/// Number of failures in a row after which nothing is written any more.
const MAX_FAILURES: u32 = 8;
/// Precision of the time at which a file was last used.
const TOUCHED: Duration = Duration::from_secs(60 * 60);
/// A temporary file that is older than this comes from a process that has ended, and is removed.
const FORGOTTEN: Duration = Duration::from_secs(60 * 60);
/// Maximum space that the file system needs for a file besides its bytes.
const BLOCK: u64 = 4096;

/// The start of a file: its kind and format.
const MAGIC: [u8; 8] = *b"cladonC1";
/// The magic, the key, the checksum.
const HEADER: usize = MAGIC.len() + 16 + 16;

/// Counts of operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Functions written.
    pub stored: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Number of errors.
    pub errors: u64,
}

/// A folder of machine code.
pub struct Folder {
    path: PathBuf,
    limit: u64,
    /// Called when there is something to write.
    wake: fn(),
    /// Opened on first use; none if it can't be used.
    root: OnceLock<Option<OwnedFd>>,
    waiting: Mutex<Waiting>,
    stored: AtomicU64,
    bytes: AtomicU64,
    errors: AtomicU64,
    failures: AtomicU32,
    error: Mutex<Option<String>>,
}

#[derive(Default)]
struct Waiting {
    files: VecDeque<(Key, Vec<u8>)>,
    size: usize,
}

impl Folder {
    /// A folder that is opened on first use, and created by the first write.
    pub fn new(path: PathBuf, limit: u64, wake: fn()) -> Folder {
        Folder {
            path,
            limit,
            wake,
            root: OnceLock::new(),
            waiting: Mutex::default(),
            stored: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            failures: AtomicU32::new(0),
            error: Mutex::default(),
        }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Counts of the operations so far.
    pub fn counts(&self) -> Counts {
        Counts {
            stored: self.stored.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
        }
    }

    /// The text of the last error.
    pub fn error(&self) -> Option<String> {
        self.error.try_lock().ok()?.clone()
    }

    fn failed(&self, what: &str, error: &dyn std::fmt::Display) {
        self.errors.fetch_add(1, Ordering::Relaxed);
        if let Ok(mut last) = self.error.try_lock() {
            *last = Some(format!("{}: {what}: {error}", self.path.display()));
        }
    }

    /// The folder, if it exists and can be trusted.
    fn root(&self) -> Option<&OwnedFd> {
        if let Some(root) = self.root.get() {
            return root.as_ref();
        }
        let opened = open_root(&self.path);
        if let Err(error) = &opened {
            if error.kind() == io::ErrorKind::NotFound {
                return None;
            }
            self.failed("unusable", error);
        }
        self.root.get_or_init(|| opened.ok()).as_ref()
    }

    /// Creates the folder unless it exists. Returns true if it can be used.
    fn make(&self) -> bool {
        if self.root().is_none() && self.root.get().is_none() {
            let mut builder = DirBuilder::new();
            let made = builder.recursive(true).mode(0o700).create(&self.path);
            if let Err(error) = made {
                self.failed("cannot create it", &error);
                self.root.get_or_init(|| None);
            }
        }
        self.root().is_some()
    }

    fn read(&self, root: &OwnedFd, key: &Key) -> io::Result<Vec<u8>> {
        let file = open_at(root, &name(key), libc::O_RDONLY)?;
        let mut file = File::from(file);
        let metadata = file.metadata()?;
        check_owner(&metadata)?;
        let len = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
        if !metadata.is_file() || len < HEADER || len as u64 > self.largest() {
            return Err(damaged("its size"));
        }
        let mut bytes = vec![0; len];
        file.read_exact(&mut bytes)?;
        let body = check(key, &bytes)?;
        let is_old = |time: SystemTime| time.elapsed().is_ok_and(|age| age > TOUCHED);
        if metadata.modified().is_ok_and(is_old) {
            // SAFETY: a file of ours; null is the time now.
            unsafe { libc::futimens(file.as_raw_fd(), std::ptr::null()) };
        }
        bytes.drain(..body);
        Ok(bytes)
    }

    /// Maximum bytes of one file.
    fn largest(&self) -> u64 {
        (self.limit / PARTS / 2).max(HEADER as u64)
    }

    fn write(&self, key: &Key, body: &[u8]) -> io::Result<u64> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let Some(root) = self.root() else {
            return Ok(0);
        };
        let name = name(key);
        let part = part(key);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let unfinished = format!("{part}/.{}.{number}", std::process::id());
        let unfinished = CString::new(unfinished).expect("digits");
        let create = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
        let file = open_at(root, &unfinished, create).or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                return Err(error);
            }
            let folder = CString::new(part).expect("a digit");
            // SAFETY: a descriptor of ours and a C string.
            let made = unsafe { libc::mkdirat(root.as_raw_fd(), folder.as_ptr(), 0o700) };
            let error = io::Error::last_os_error();
            if made != 0 && error.kind() != io::ErrorKind::AlreadyExists {
                return Err(error);
            }
            open_at(root, &unfinished, create)
        })?;
        let mut file = File::from(file);
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend(MAGIC);
        bytes.extend(key.bytes());
        bytes.extend(checksum(key, body));
        bytes.extend(body);
        let written = file.write_all(&bytes).and_then(|()| {
            let fd = root.as_raw_fd();
            // SAFETY: descriptors of ours and C strings.
            match unsafe { libc::renameat(fd, unfinished.as_ptr(), fd, name.as_ptr()) } {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        });
        if let Err(error) = written {
            // SAFETY: as above.
            unsafe { libc::unlinkat(root.as_raw_fd(), unfinished.as_ptr(), 0) };
            // If the file system is full, a sweep may make room.
            let _ = self.sweep(part);
            return Err(error);
        }
        if key.bytes()[1].is_multiple_of(SWEEPS) {
            self.sweep(part)?;
        }
        Ok(bytes.len() as u64)
    }

    /// Removes the least recently used files from a subfolder that is too large.
    fn sweep(&self, part: &str) -> io::Result<()> {
        let mut files = Vec::new();
        let mut total = 0;
        for entry in fs::read_dir(self.path.join(part))? {
            let entry = entry?;
            // Another process may have removed it.
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let is_unfinished = entry.file_name().as_bytes().starts_with(b".");
            if is_unfinished {
                if used.elapsed().is_ok_and(|age| age > FORGOTTEN) {
                    let _ = fs::remove_file(entry.path());
                }
                continue;
            }
            let size = metadata.len().next_multiple_of(BLOCK);
            total += size;
            files.push((used, size, entry.path()));
        }
        let limit = self.limit / PARTS;
        if total <= limit {
            return Ok(());
        }
        files.sort_unstable();
        for (_, size, path) in files {
            if total <= limit / 4 * 3 {
                break;
            }
            let _ = fs::remove_file(path);
            total -= size;
        }
        Ok(())
    }
}

impl Store for Folder {
    fn find(&self, key: &Key) -> Option<Vec<u8>> {
        let read = self.read(self.root()?, key);
        match read {
            Ok(body) => Some(body),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    self.failed("cannot read", &error);
                }
                None
            }
        }
    }

    fn keep(&self, key: &Key, bytes: Vec<u8>) {
        if self.failures.load(Ordering::Relaxed) >= MAX_FAILURES
            || (bytes.len() + HEADER) as u64 > self.largest()
        {
            return;
        }
        // If another thread has the lock, this one does not wait.
        let Ok(mut waiting) = self.waiting.try_lock() else {
            return;
        };
        if waiting.size + bytes.len() > MAX_WAITING {
            return;
        }
        waiting.size += bytes.len();
        waiting.files.push_back((*key, bytes));
        drop(waiting);
        (self.wake)();
    }

    fn refuse(&self, key: &Key) {
        self.failed("unusable", &damaged(&format!("the code of {key}")));
        if let Some(root) = self.root() {
            // SAFETY: a descriptor of ours and a C string.
            unsafe { libc::unlinkat(root.as_raw_fd(), name(key).as_ptr(), 0) };
        }
    }

    fn settle(&self) -> bool {
        let next = self.waiting.try_lock().ok().and_then(|mut waiting| {
            let next = waiting.files.pop_front()?;
            waiting.size -= next.1.len();
            Some(next)
        });
        let Some((key, body)) = next else {
            return false;
        };
        if self.failures.load(Ordering::Relaxed) >= MAX_FAILURES || !self.make() {
            return true;
        }
        match self.write(&key, &body) {
            Ok(bytes) => {
                self.failures.store(0, Ordering::Relaxed);
                self.stored.fetch_add(1, Ordering::Relaxed);
                self.bytes.fetch_add(bytes, Ordering::Relaxed);
            }
            Err(error) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                self.failed("cannot write", &error);
            }
        }
        true
    }
}

/// A [`Folder`] that the cache of the compiler and the statistics share.
pub struct Shared(pub Arc<Folder>);

impl Store for Shared {
    fn find(&self, key: &Key) -> Option<Vec<u8>> {
        self.0.find(key)
    }

    fn keep(&self, key: &Key, bytes: Vec<u8>) {
        self.0.keep(key, bytes);
    }

    fn refuse(&self, key: &Key) {
        self.0.refuse(key);
    }

    fn settle(&self) -> bool {
        self.0.settle()
    }
}

/// The subfolder of a key.
fn part(key: &Key) -> &'static str {
    const NAMES: [&str; PARTS as usize] = [
        "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f",
    ];
    NAMES[usize::from(key.bytes()[0] >> 4)]
}

/// The file of a key, relative to the folder.
fn name(key: &Key) -> CString {
    CString::new(format!("{}/{key}", part(key))).expect("digits")
}

fn checksum(key: &Key, body: &[u8]) -> [u8; 16] {
    let [a, b] = [fingerprint(&key.bytes()), fingerprint(body)];
    std::array::from_fn(|i| a[i] ^ b[i])
}

/// The offset of the body in the bytes of a file.
fn check(key: &Key, bytes: &[u8]) -> io::Result<usize> {
    let (header, body) = bytes
        .split_at_checked(HEADER)
        .ok_or_else(|| damaged("its size"))?;
    let (magic, rest) = header.split_at(MAGIC.len());
    let (own, sum) = rest.split_at(16);
    if magic != MAGIC {
        return Err(damaged("its format"));
    }
    if own != key.bytes() || sum != checksum(key, body) {
        return Err(damaged("its checksum"));
    }
    Ok(HEADER)
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what} is wrong"))
}

/// Code that is executed must belong to the user, and only the user may write to it.
fn check_owner(metadata: &fs::Metadata) -> io::Result<()> {
    // SAFETY: it has no preconditions.
    let user = unsafe { libc::geteuid() };
    let wrong = |what: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    if metadata.uid() != user {
        return wrong("it belongs to another user");
    }
    if metadata.mode() & 0o022 != 0 {
        return wrong("others may write to it");
    }
    Ok(())
}

fn open_root(path: &Path) -> io::Result<OwnedFd> {
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_DIRECTORY)
        .open(path)?;
    check_owner(&file.metadata()?)?;
    Ok(file.into())
}

fn open_at(folder: &OwnedFd, name: &CString, flags: i32) -> io::Result<OwnedFd> {
    let flags = flags | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK;
    // SAFETY: an open descriptor and a C string; the descriptor that `openat` returns has no other
    // owner.
    unsafe {
        let fd = libc::openat(folder.as_raw_fd(), name.as_ptr(), flags, 0o600);
        match fd {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// A path from the interpreter's bytes.
pub fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests;
