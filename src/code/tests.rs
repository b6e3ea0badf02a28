//! Tests of code memory without a compiler. Codegen's tests run code in it.

use super::*;
use cranelift_jit::{BranchProtection, JITMemoryKind, JITMemoryProvider};
use std::io;

fn memory(pages: usize) -> (CodeMemory, usize) {
    let page = CodeMemory::new(Config::new().limit(1)).unwrap().limit();
    (
        CodeMemory::new(Config::new().limit(pages * page)).unwrap(),
        page,
    )
}

fn code(provider: &mut Provider, bytes: usize) -> io::Result<*mut u8> {
    provider.allocate(bytes, 16, JITMemoryKind::Executable)
}

/// The typed error inside the linker's error.
fn typed(error: &io::Error) -> &CodeMemoryError {
    error
        .get_ref()
        .and_then(|e| e.downcast_ref())
        .expect("an error of code memory")
}

#[test]
fn each_request_gets_pages_of_its_own() {
    let (memory, page) = memory(8);
    let (mut provider, unit) = memory.unit();
    let first = code(&mut provider, 1).unwrap();
    let second = code(&mut provider, page + 1).unwrap();
    assert_eq!(second.addr() - first.addr(), page);
    assert_eq!((memory.used(), unit.size()), (3 * page, 3 * page));
    // SAFETY: the provider gave these bytes to write, and they are not sealed.
    unsafe { second.write_bytes(0x90, page + 1) };
    provider.finalize(BranchProtection::None).unwrap();
    // SAFETY: sealed pages stay readable.
    assert_eq!(unsafe { second.add(page).read() }, 0x90);
}

#[test]
fn pages_are_free_when_both_the_linker_and_the_unit_are_done() {
    let (memory, page) = memory(4);
    let (mut provider, unit) = memory.unit();
    code(&mut provider, 1).unwrap();
    drop(unit);
    assert_eq!(memory.used(), page);
    drop(provider);
    assert_eq!(memory.used(), 0);
}

#[test]
fn freed_pages_are_used_again_and_read_as_zero() {
    let (memory, page) = memory(4);
    let (mut provider, unit) = memory.unit();
    let address = code(&mut provider, 2 * page).unwrap();
    // SAFETY: the provider gave these bytes to write.
    unsafe { address.write_bytes(0xcc, 2 * page) };
    provider.finalize(BranchProtection::None).unwrap();
    drop((provider, unit));
    let (mut provider, _unit) = memory.unit();
    let again = code(&mut provider, 3 * page).unwrap();
    assert_eq!(again, address);
    // SAFETY: the provider gave these bytes to write.
    assert_eq!(unsafe { again.add(page).read() }, 0);
}

#[test]
fn the_error_of_a_full_arena_has_its_figures() {
    let (memory, page) = memory(3);
    let (mut provider, _unit) = memory.unit();
    code(&mut provider, 2 * page).unwrap();
    let error = code(&mut provider, 2 * page).unwrap_err();
    assert_eq!(
        typed(&error),
        &CodeMemoryError::Full {
            requested: 2 * page,
            used: 2 * page,
            limit: 3 * page
        }
    );
    code(&mut provider, page).unwrap();
    assert!(matches!(
        typed(&code(&mut provider, usize::MAX).unwrap_err()),
        CodeMemoryError::Full { .. }
    ));
}

#[test]
fn address_space_that_cannot_be_had_is_an_error() {
    for bytes in [usize::MAX, 1 << 62, 1 << 50] {
        let error = CodeMemory::new(Config::new().limit(bytes)).unwrap_err();
        assert!(matches!(error, CodeMemoryError::Reserve { .. }), "{error}");
    }
    let nothing = CodeMemory::new(Config::new().limit(0)).unwrap();
    let error = code(&mut nothing.unit().0, 1).unwrap_err();
    assert!(
        matches!(typed(&error), CodeMemoryError::Full { limit: 0, .. }),
        "{error}"
    );
}

#[test]
fn only_code_is_kept() {
    let (memory, _) = memory(3);
    let (mut provider, _unit) = memory.unit();
    for kind in [JITMemoryKind::Writable, JITMemoryKind::ReadOnly] {
        assert!(matches!(
            typed(&provider.allocate(8, 8, kind).unwrap_err()),
            CodeMemoryError::Data(_)
        ));
    }
}

#[test]
fn a_unit_outlives_the_handle_it_came_from() {
    let (memory, page) = memory(2);
    let (mut provider, unit) = memory.unit();
    let address = code(&mut provider, 1).unwrap();
    provider.finalize(BranchProtection::None).unwrap();
    drop((memory, provider));
    // SAFETY: sealed pages stay readable while the unit is alive.
    assert_eq!(unsafe { address.read() }, 0);
    assert_eq!(unit.size(), page);
}

#[test]
fn starting_anew_more_than_once_keeps_all_arenas() {
    let (memory, page) = memory(2);
    let units: Vec<_> = (0..3)
        .map(|_| {
            let (mut provider, unit) = memory.unit();
            let address = code(&mut provider, 1).unwrap();
            unit.name(address, 1, "unit");
            assert_eq!(memory.used(), page);
            memory.after_fork_in_child();
            (address, unit)
        })
        .collect();
    for (address, _) in &units {
        assert_eq!(memory.lookup(address.addr()).as_deref(), Some("unit"));
    }
    assert_eq!(memory.used(), 0);
}
