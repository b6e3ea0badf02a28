//! Cladonia inside CPython.

// References to statics and through raw pointers are taken explicitly, as rustc's own lints demand.
#![allow(clippy::deref_addrof, clippy::needless_borrow)]
// An error that is only an exception already set in the interpreter.
#![allow(clippy::result_unit_err)]
// Positions in argument arrays are indexed as in the interpreter.
#![allow(clippy::needless_range_loop)]
// A guard with a side effect in `new` needs no `Default`.
#![allow(clippy::new_without_default)]

pub mod abi;
pub mod accesses;
mod allocator;
pub mod annotate;
pub mod cache;
pub mod capi;
pub mod decode;
pub mod export;
pub mod feedback;
mod hashing;
pub mod helpers;
pub mod intrinsics;
pub mod memory;
pub mod namespace;
pub mod objects;
pub mod owned;
pub mod runtime;
pub mod template;
#[cfg(test)]
mod testing;
pub mod type_object;
pub mod world;

/// Compiling 1,000 bytecodes allocates some 70,000 small objects; this allocator saves a tenth of
/// the time over the C library's. The interpreter's own allocations do not use it.
#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

/// The module's entry for the import system.
///
/// # Safety
/// Called by CPython, with the interpreter's lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn PyInit__cladonia() -> *mut pyo3_ffi::PyObject {
    // SAFETY: as above.
    unsafe {
        runtime::api::make_module(|gil, not_compiled| runtime::front::start(gil, not_compiled))
    }
}
