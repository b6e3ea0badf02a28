//! Interpreted code that resumes generators which have a unit.
//!
//! The interpreter's specialised loops (`FOR_ITER_GEN`) and `SEND` continue a generator's frame in
//! place; they do not look at the slots by which native code is found. So a compiled generator that
//! is consumed by an interpreted loop would never run natively. For example, a tree's `walk` is
//! hot, and each of its many callers has a loop that is not:
//!
//! ```python
//! for node in tree.walk():
//!     ...
//! ```
//!
//! Each interpreted start of such a generator is an event. It leads to the instruction that has
//! resumed the generator: a loop is made to call `tp_iternext` from then on, which costs less than
//! the event, and a generator that delegates with `yield from` or `await` is compiled, since each
//! value passes through it.

use super::super::capi::*;
use super::super::function_state::{CodeState, state_of};
use super::super::{Gil, abi, compiling, frames, worth};
use abi::code_units::{self, Consumer};
use abi::{frame as f, slots};
use pyo3_ffi::PyCode_Check;

/// Lets the code that has resumed a generator, whose body has just started interpreted, find the
/// generator's unit, if there is one. Returns true if the start needs no more attention.
///
/// # Safety
/// `frame` is the thread's innermost one, a generator's, and `state` is that of its code; the
/// interpreter is in an event of it.
pub unsafe fn lead_consumer(gil: Gil, state: &CodeState, frame: Frame) -> bool {
    // With a threshold, consumers are compiled themselves; and a general loop uses the native stack at
    // each level, which the LIR interpreter has less of.
    if !gil.runtime().options.get().weighs {
        return false;
    }
    if state.generator.unit.get().is_none() {
        return false;
    }
    // SAFETY: the caller's promise: a frame that was resumed is linked with the one that has done
    // so.
    unsafe {
        let consumer: Frame = get(frame, f::PREVIOUS);
        if consumer.is_null()
            || abi::frames::is_entry(consumer)
            || frames::native_token(consumer).is_some()
            || PyCode_Check(slots::code(consumer)) == 0
        {
            return false;
        }
        let at: *mut u8 = get(consumer, f::INSTR_PTR);
        match code_units::consumer(at) {
            Consumer::Loop => code_units::generalise_loop(at),
            Consumer::Delegation => compile_delegating(gil, consumer, state),
            Consumer::Other => return false,
        }
        true
    }
}

/// Compiles the code of a frame that delegates to a generator with a unit, once that pays.
unsafe fn compile_delegating(gil: Gil, frame: Frame, inner: &CodeState) {
    // SAFETY: the caller's promise: an interpreted frame.
    unsafe {
        let state = state_of(gil, slots::code(frame));
        let is_done = !state.shape.is_generator() || state.generator.unit.get().is_some();
        if is_done
            || !worth::of_delegation(gil, &state, inner)
            || compiling::is_waiting(gil, &state)
        {
            return;
        }
        // A refusal is on record with the code.
        let _ = compiling::compile_function(gil, slots::function(frame), &[]);
    }
}
