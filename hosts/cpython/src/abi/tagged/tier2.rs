//! The interpreter's own experimental compiler of traces (`--enable-experimental-jit`,
//! `PYTHON_JIT=1`).
//!
//! It executes other code than that of the code objects, and keeps its state for a thread in the
//! thread's state.

use super::layouts::interp;
use crate::abi::read;
use pyo3_ffi::PyInterpreterState_Main;

/// Returns whether it is on. Distributions build it, but have it off by default.
///
/// # Safety
/// The thread has the GIL.
pub unsafe fn is_on() -> bool {
    // SAFETY: a byte of the interpreter's state.
    unsafe { read::<u8, _>(PyInterpreterState_Main(), interp::JIT) != 0 }
}
