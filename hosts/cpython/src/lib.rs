//! Cladonia inside CPython 3.13.

pub mod abi;
pub mod capi;
pub mod decode;
pub mod feedback;
pub mod helpers;
pub mod intrinsics;
pub mod objects;
pub mod owned;
pub mod runtime;
#[cfg(test)]
mod testing;
pub mod world;

/// The module's entry for the import system.
///
/// # Safety
/// Called by CPython, with the interpreter's lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn PyInit__cladonia() -> *mut pyo3_ffi::PyObject {
    // SAFETY: as above.
    unsafe { runtime::api::make_module(|not_compiled| runtime::front::start(not_compiled)) }
}
