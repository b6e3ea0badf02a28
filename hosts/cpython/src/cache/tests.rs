//! Tests of the folder: each creates one of its own and damages it in some way.

use super::*;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::AtomicUsize;

/// A place for a folder, which is removed at the end.
struct Place(PathBuf);

impl Place {
    fn new() -> Place {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cladonia-cache-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Place(path)
    }

    /// The folder as a new process sees it.
    fn folder(&self) -> Folder {
        self.with_limit(LIMIT)
    }

    fn with_limit(&self, limit: u64) -> Folder {
        Folder::new(self.0.join("code"), limit, || ())
    }

    fn file(&self, key: &Key) -> PathBuf {
        self.0.join("code").join(name(key).to_str().unwrap())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn key(first: u8, second: u8) -> Key {
    let mut bytes = [7; 16];
    (bytes[0], bytes[1]) = (first, second);
    Key::from_bytes(bytes)
}

fn keep(folder: &Folder, key: &Key, body: &[u8]) {
    folder.keep(key, body.to_vec());
    while folder.settle() {}
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn stored_code_is_found_by_other_processes_and_private_to_its_owner() {
    let place = Place::new();
    let (first, other) = (place.folder(), key(18, 1));
    assert_eq!(first.find(&other), None);
    // A lookup creates nothing.
    assert!(!place.0.join("code").exists());
    first.keep(&other, b"body".to_vec());
    assert!(
        !place.0.join("code").exists(),
        "it is written where nobody waits"
    );
    assert!(first.settle());
    assert!(!first.settle());
    assert_eq!(first.counts().stored, 1);
    assert_eq!(first.counts().bytes, HEADER as u64 + 4);
    let second = place.folder();
    assert_eq!(second.find(&other).unwrap(), b"body");
    assert_eq!(second.find(&key(18, 2)), None);
    assert_eq!(second.counts(), Counts::default());
    assert_eq!(mode(&place.0.join("code")), 0o700);
    assert_eq!(mode(&place.0.join("code/1")), 0o700);
    assert_eq!(mode(&place.file(&other)), 0o600);
}

#[test]
fn a_damaged_file_is_a_count_and_is_written_again() {
    let place = Place::new();
    let key = key(0, 1);
    keep(&place.folder(), &key, b"the body of a function");
    let sound = fs::read(place.file(&key)).unwrap();
    // One byte of each part is flipped: the format, the key, the checksum, the body. Other files
    // are truncated or too long.
    let flipped = [0, 7, 8, 23, 24, 39, HEADER, sound.len() - 1].map(|at| {
        let mut bytes = sound.clone();
        bytes[at] ^= 16;
        bytes
    });
    let cut = [0, 1, HEADER - 1, HEADER, sound.len() - 1].map(|len| sound[..len].to_vec());
    let longer = [[&sound[..], b"x"].concat()];
    for bytes in flipped.into_iter().chain(cut).chain(longer) {
        fs::write(place.file(&key), &bytes).unwrap();
        let folder = place.folder();
        assert_eq!(folder.find(&key), None, "{bytes:?}");
        assert_eq!(folder.counts().errors, 1);
        assert!(folder.error().is_some());
        keep(&folder, &key, b"the body of a function");
        assert_eq!(fs::read(place.file(&key)).unwrap(), sound);
        assert!(folder.find(&key).is_some());
    }
}

#[test]
fn a_file_under_another_key_is_not_taken() {
    let place = Place::new();
    let [a, b] = [key(0, 1), key(0, 2)];
    keep(&place.folder(), &a, b"a");
    fs::copy(place.file(&a), place.file(&b)).unwrap();
    assert_eq!(place.folder().find(&b), None);
}

#[test]
fn a_link_a_pipe_and_a_folder_are_not_read() {
    let place = Place::new();
    let [a, b, c, d] = [1, 2, 3, 4].map(|n| key(0, n));
    keep(&place.folder(), &a, b"a");
    std::os::unix::fs::symlink(place.file(&a), place.file(&b)).unwrap();
    let pipe = CString::new(place.file(&c).as_os_str().as_bytes()).unwrap();
    // SAFETY: a C string.
    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
    fs::create_dir(place.file(&d)).unwrap();
    let folder = place.folder();
    for key in [b, c, d] {
        assert_eq!(folder.find(&key), None);
    }
    assert_eq!(folder.counts().errors, 3);
}

#[test]
fn a_folder_that_others_may_write_to_is_not_used() {
    let place = Place::new();
    let key = key(0, 1);
    keep(&place.folder(), &key, b"a");
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    set(&place.file(&key), 0o666).unwrap();
    let folder = place.folder();
    assert_eq!(folder.find(&key), None);
    assert!(folder.error().unwrap().contains("others may write"));
    set(&place.file(&key), 0o600).unwrap();
    for mode in [0o777, 0o720, 0o702] {
        set(&place.0.join("code"), mode).unwrap();
        let folder = place.folder();
        assert_eq!(folder.find(&key), None);
        keep(&folder, &key, b"b");
        assert_eq!((folder.counts().stored, folder.counts().errors), (0, 1));
        assert!(folder.error().unwrap().contains("others may write"));
    }
    set(&place.0.join("code"), 0o755).unwrap();
    assert_eq!(place.folder().find(&key).unwrap(), b"a");
}

#[test]
fn a_folder_of_another_user_is_not_used() {
    // Only root can change the owner of a file.
    // SAFETY: it has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    let place = Place::new();
    let key = key(0, 1);
    keep(&place.folder(), &key, b"a");
    std::os::unix::fs::chown(place.0.join("code"), Some(12345), None).unwrap();
    let folder = place.folder();
    assert_eq!(folder.find(&key), None);
    assert!(folder.error().unwrap().contains("another user"));
}

#[test]
fn after_repeated_write_errors_no_write_is_tried() {
    let place = Place::new();
    // A file is in the place of the folder, so no user can create it.
    fs::write(place.0.join("code"), b"").unwrap();
    let folder = place.folder();
    for n in 0..20 {
        keep(&folder, &key(0, n), b"a");
        assert_eq!(folder.find(&key(0, n)), None);
    }
    assert_eq!((folder.counts().stored, folder.counts().errors), (0, 1));

    let place = Place::new();
    keep(&place.folder(), &key(0, 0), b"a");
    // The subfolder of the others is a file.
    fs::write(place.0.join("code/2"), b"").unwrap();
    let folder = place.folder();
    for n in 0..20 {
        keep(&folder, &key(32, n), b"a");
    }
    let counts = folder.counts();
    assert_eq!((counts.stored, counts.errors), (0, u64::from(MAX_FAILURES)));
    assert_eq!(folder.find(&key(0, 0)).unwrap(), b"a");
}

/// `/dev/full` simulates a full disk, but is no folder; a limit on the size of files has nearly the
/// same effect.
#[test]
fn a_full_disk_leaves_nothing_half_written() {
    // The limit is a process's, so this test alone runs in a child.
    const MARK: &str = "CLADONIA_TEST_FULL";
    if std::env::var_os(MARK).is_none() {
        let test = std::env::current_exe().unwrap();
        let name = "cache::tests::a_full_disk_leaves_nothing_half_written";
        let mut child = std::process::Command::new(test);
        let output = child
            .args([name, "--exact"])
            .env(MARK, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{text}"
        );
        return;
    }
    let place = Place::new();
    let limit = libc::rlimit {
        rlim_cur: 1000,
        rlim_max: 1000,
    };
    // SAFETY: affects this process only; writing too much is an error then, not a signal.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
    }
    let folder = place.folder();
    keep(&folder, &key(0, 1), &[1; 5000]);
    keep(&folder, &key(0, 2), &[1; 500]);
    assert_eq!((folder.counts().stored, folder.counts().errors), (1, 1));
    let files = fs::read_dir(place.0.join("code/0")).unwrap().count();
    assert_eq!(files, 1);
    assert_eq!(folder.find(&key(0, 1)), None);
}

#[test]
fn the_least_recently_used_file_is_removed_first() {
    let place = Place::new();
    // Sixteen files of a block in each subfolder.
    let folder = place.with_limit(PARTS * 16 * BLOCK);
    let keys: Vec<Key> = (1..16).map(|n| key(0, n)).collect();
    for key in &keys {
        keep(&folder, key, b"a");
    }
    let at = |hours: u64| SystemTime::now() - Duration::from_secs(hours * 3600);
    let file = |key: &Key| File::options().write(true).open(place.file(key)).unwrap();
    for (hours, key) in (10..).zip(&keys) {
        file(key).set_modified(at(hours)).unwrap();
    }
    // The oldest one is used again.
    assert!(folder.find(&keys[14]).is_some());
    // A temporary file that an ended process has left, and one of a process that is still writing.
    let unfinished = |name: &str, hours| {
        let path = place.0.join("code/0").join(name);
        fs::write(&path, b"").unwrap();
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(at(hours))
            .unwrap();
        path
    };
    let (old, new) = (unfinished(".1.0", 2), unfinished(".2.0", 0));
    keep(&folder, &key(0, 17), b"a");
    assert!(old.exists(), "nothing was swept");
    // One write in sixteen sweeps, by the key.
    keep(&folder, &key(0, 16), b"a");
    assert!(!old.exists() && new.exists());
    let left: Vec<bool> = keys.iter().map(|key| place.file(key).exists()).collect();
    let expected: Vec<bool> = (0..15).map(|n| n < 9 || n == 14).collect();
    assert_eq!(left, expected);
    assert_eq!(folder.counts().errors, 0);
}

#[test]
fn one_large_function_is_not_kept() {
    let place = Place::new();
    let folder = place.with_limit(PARTS * 2 * BLOCK);
    keep(&folder, &key(0, 1), &[0; BLOCK as usize]);
    assert_eq!(folder.counts(), Counts::default());
    assert!(!place.0.join("code").exists());
}

#[test]
fn many_at_once_see_whole_files_or_none() {
    let place = Place::new();
    let body = |n: u8| vec![n; 3000 + 10 * usize::from(n)];
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let folder = place.with_limit(PARTS * 64 * BLOCK);
                for round in 0..30_u8 {
                    for n in 0..20_u8 {
                        if let Some(found) = folder.find(&key(n, n)) {
                            assert_eq!(found, body(n));
                        }
                        if (n + round) % 7 == 0 {
                            keep(&folder, &key(n, n), &body(n));
                        }
                    }
                }
                assert_eq!(folder.counts().errors, 0, "{:?}", folder.error());
            });
        }
    });
    let folder = place.folder();
    assert!((0..20).all(|n| folder.find(&key(n, n)) == Some(body(n))));
}
