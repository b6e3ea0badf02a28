//! Generated code and the process: page protection, names, threads, fork.

use super::*;

const FIVE: &str = "() -> i64 {\nblock0:\n  v0 = iconst 5\n  return v0\n}";
const SIX: &str = "() -> i64 {\nblock0:\n  v0 = iconst 6\n  return v0\n}";

/// Permissions of the mapping that holds an address, such as `r-xp`.
#[cfg(target_os = "linux")]
fn permissions(address: usize) -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let bound = |hex| usize::from_str_radix(hex, 16).unwrap();
        (bound(start)..bound(end))
            .contains(&address)
            .then(|| rest[..4].to_owned())
    })
}

#[test]
#[cfg(target_os = "linux")]
fn pages_are_never_writable_and_executable() {
    let mut jit = Jit::new();
    let code = jit.compile(FIVE);
    let entry = code.entry().addr();
    assert_eq!(permissions(entry).unwrap(), "r-xp");
    let page = code.footprint();
    assert_eq!(permissions(entry + page).unwrap(), "---p");
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(!maps.lines().any(|line| line.contains(" rwx")), "{maps}");
    drop(code);
    assert_eq!(permissions(entry).unwrap(), "---p");
}

#[test]
fn code_is_found_by_any_address_inside_while_it_lives() {
    let mut jit = Jit::new();
    let code = jit.compile(FIVE);
    let entry = code.entry().addr();
    assert_eq!(jit.memory.lookup(entry).as_deref(), Some("test"));
    assert_eq!(
        jit.memory.lookup(entry + code.size() - 1).as_deref(),
        Some("test")
    );
    assert_eq!(jit.memory.lookup(entry + code.size()), None);
    assert_eq!(jit.memory.lookup(entry - 1), None);
    drop(code);
    assert_eq!(jit.memory.lookup(entry), None);
}

#[test]
fn threads_compile_into_one_memory() {
    let memory = CodeMemory::new(Config::new()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut jit = Jit {
                    memory: memory.clone(),
                    ..Jit::new()
                };
                for n in 0..50 {
                    let code = jit.compile(&format!(
                        "() -> i64 {{\nblock0:\n  v0 = iconst {n}\n  return v0\n}}"
                    ));
                    let other = jit.compile(SIX);
                    assert_eq!(
                        (call!(code, fn() -> i64,), call!(other, fn() -> i64,)),
                        (n, 6)
                    );
                }
            });
        }
    });
    assert_eq!(memory.used(), 0);
}

/// Runs `child` in a forked process, and returns its result. It must not print: another thread may
/// have taken that lock.
#[cfg(unix)]
fn in_child(child: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child uses the allocator, which survives `fork`, and locks that only this thread
    // uses; it ends by `_exit`. The alarm ends it if that is wrong.
    unsafe {
        match libc::fork() {
            -1 => panic!("fork failed"),
            0 => {
                libc::alarm(20);
                let ok = catch_unwind(AssertUnwindSafe(child)).unwrap_or(false);
                libc::_exit(if ok { 0 } else { 1 })
            }
            pid => {
                let mut status = 0;
                assert_eq!(libc::waitpid(pid, &raw mut status, 0), pid);
                libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
            }
        }
    }
}

#[test]
#[cfg(unix)]
fn a_forked_child_runs_old_code_and_compiles_into_a_new_arena() {
    let mut jit = Jit::new();
    let old = std::mem::ManuallyDrop::new(jit.compile(FIVE));
    let (entry, used) = (old.entry().addr(), jit.memory.used());
    let ok = in_child(|| {
        jit.memory.after_fork_in_child();
        let fresh = jit.memory.used() == 0;
        let new = jit.compile(SIX);
        let named = [entry, new.entry().addr()]
            .iter()
            .all(|&a| jit.memory.lookup(a).as_deref() == Some("test"));
        let ran = call!(old, fn() -> i64,) == 5 && call!(new, fn() -> i64,) == 6;
        // Dropping a unit of the parent's arena is harmless.
        // SAFETY: the parent's copy of the handle is another one, in another process.
        drop(unsafe { std::ptr::read(&raw const *old) });
        fresh && named && ran && jit.memory.used() == used
    });
    assert!(ok);
    assert_eq!(call!(old, fn() -> i64,), 5);
    assert_eq!(jit.memory.lookup(entry).as_deref(), Some("test"));
    drop(std::mem::ManuallyDrop::into_inner(old));
    assert_eq!(jit.memory.used(), 0);
}

#[test]
#[cfg(unix)]
fn a_child_frees_and_writes_only_its_own_memory() {
    let mut jit = Jit::new();
    let kept = std::mem::ManuallyDrop::new(jit.compile(FIVE));
    let entry = kept.entry();
    let ok = in_child(|| {
        // Without a new arena the child would reopen a page that the parent still executes. SAFETY:
        // the parent's copy of the handle is another one, in another process.
        drop(unsafe { std::ptr::read(&raw const *kept) });
        let mine = jit.compile(SIX);
        mine.entry() == entry && call!(mine, fn() -> i64,) == 6
    });
    assert!(ok);
    assert_eq!(call!(kept, fn() -> i64,), 5);
    drop(std::mem::ManuallyDrop::into_inner(kept));
    assert_eq!(jit.memory.used(), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_perf_map_is_written_only_if_it_is_configured() {
    let path = format!("/tmp/perf-{}.map", std::process::id());
    let line = |code: &CompiledCode| format!("{:x} {:x} test", code.entry().addr(), code.size());
    let mut jit = Jit::new();
    let silent = jit.compile(FIVE);
    jit.memory = CodeMemory::new(Config::new().perf_map(true)).unwrap();
    let named = jit.compile(FIVE);
    let map = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(map.lines().any(|l| l == line(&named)), "{map}");
    assert!(!map.lines().any(|l| l == line(&silent)), "{map}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_well_formed_function_compiles(seed: u64) {
        let helpers = lir::random::helpers();
        let func = lir::random::func(seed, lir::Mode::Unit, &helpers);
        let memory = CodeMemory::new(Config::new()).unwrap();
        let exit_hook = helpers.keys().next();
        let input = Input { exit_hook, unit: 1, want_text: true, ..Input::new(&func, &helpers) };
        if let Err(error) = Codegen::new().unwrap().compile(&memory, input) {
            panic!("{error}\n{}", lir::print(&func, &helpers));
        }
    }
}
