//! Code units that the runtime has the interpreter execute, and distances between those that it
//! knows.

use super::forms;
use super::opcodes as oc;

/// The number of copies of a unit. Several, so that one of them is at a suitable distance.
const COPIES: usize = 64;

/// Code units outside any code object. The interpreter only reads `instr_ptr`, so it executes them
/// in any frame whose `instr_ptr` points to them.
#[repr(C, align(8))]
struct Units([[u8; 2]; COPIES]);

static RETURN_UNITS: Units = Units([[oc::RETURN_VALUE, 0]; COPIES]);
static RERAISE_UNITS: Units = Units([[oc::RERAISE, 1]; COPIES]);

/// A unit that returns the top of the stack.
pub fn return_unit() -> *const u8 {
    RETURN_UNITS.0[0].as_ptr()
}

/// Units that raise the exception on the stack again, the position of the raising instruction below
/// it. Several, because a handler is looked up by the distance from the code object's start as a
/// 32-bit number, which must not fall into that code.
pub fn reraise_units() -> impl Iterator<Item = *const u8> {
    RERAISE_UNITS.0.iter().map(|unit| unit.as_ptr())
}

/// The kind of return of the instruction at which a frame stopped, if it returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Returns {
    /// It returns the top of the stack.
    Top,
    /// It returns a constant, and takes nothing from the stack.
    Constant,
    /// It does something else.
    No,
}

/// Returns how an instruction returns, if it does.
///
/// # Safety
/// `at` points to one.
pub unsafe fn returns(at: *const u8) -> Returns {
    // SAFETY: the caller's promise.
    match unsafe { at.read() } {
        oc::RETURN_VALUE => Returns::Top,
        opcode if Some(opcode) == forms::RETURN_CONST => Returns::Constant,
        _ => Returns::No,
    }
}

/// The time that native execution of an instruction saves.
#[derive(Clone, Copy, Debug)]
pub struct Saving {
    /// Its position, in units.
    pub at: u32,
    /// Tenths of a nanosecond, each time.
    pub tenths: i64,
    /// The unit that it jumps back to, if it ends a loop.
    pub loop_at: Option<u32>,
}

/// Returns whether the traceable part of a function begins with this opcode.
pub fn is_start(opcode: u8) -> bool {
    // The instrumented ones hide the instructions that they replace.
    let is_hidden = matches!(opcode, oc::INSTRUMENTED_LINE | oc::INSTRUMENTED_INSTRUCTION);
    is_hidden || oc::general(opcode) == oc::RESUME
}

/// The beginning of a generator's code, up to the instruction that makes the generator.
#[derive(Clone, Copy, Debug)]
pub struct GeneratorStart {
    /// The instruction after that.
    pub next: *const u8,
    /// The number of variables of the closure that are copied before it.
    pub copied: i32,
    /// True if the iterator of the first local is made before it, and goes onto the generator's
    /// stack: a generator expression, in some versions.
    pub iterates: bool,
}

/// The beginning of a generator's code, if nothing else is done there, and no tool gets events for
/// it.
///
/// # Safety
/// `units` points to the first unit of a code object.
pub unsafe fn generator_start(units: *const u8) -> Option<GeneratorStart> {
    // SAFETY: the caller's promise: each read is of an instruction behind one that is known.
    unsafe {
        let (mut at, mut copied) = (units, 0);
        if *at == oc::COPY_FREE_VARS {
            copied = (*at.add(1)).into();
            at = at.add(2);
        }
        let iterates = matches!(*at, oc::RESUME | oc::RESUME_CHECK);
        if iterates {
            for (opcode, arg) in [
                (oc::RESUME, None),
                (oc::LOAD_FAST, Some(0)),
                (oc::GET_ITER, Some(0)),
            ] {
                if oc::general(*at) != opcode || arg.is_some_and(|arg| *at.add(1) != arg) {
                    return None;
                }
                at = at.add(2 + 2 * usize::from(oc::CACHES[usize::from(opcode)]));
            }
        }
        (*at == oc::RETURN_GENERATOR).then(|| GeneratorStart {
            next: at.add(2),
            copied,
            iterates,
        })
    }
}

/// Bytes from a `SEND`, with its cache and the `YIELD_VALUE` after it, to the `RESUME` at which a
/// frame waits.
pub const SEND_TO_RESUME: usize = 6;

/// Bytes from `SEND` or `FOR_ITER`, with its cache, to the instruction that has the value.
pub const WAIT_TO_NEXT: usize = 4;

/// Returns where the interpreter continues when a `SEND` has a result.
///
/// # Safety
/// `send` points to one.
pub unsafe fn after_send(send: *const u8) -> *const u8 {
    // SAFETY: the caller's promise: an instruction with its operand.
    unsafe { send.add(WAIT_TO_NEXT + 2 * send.add(1).read() as usize) }
}

/// Returns where the interpreter continues when the iterator of a `FOR_ITER` is exhausted: behind
/// `END_FOR` and the instruction that pops the iterator.
///
/// # Safety
/// `for_iter` points to one.
pub unsafe fn after_loop(for_iter: *const u8) -> *const u8 {
    // SAFETY: the caller's promise: an instruction with its operand.
    unsafe { for_iter.add(WAIT_TO_NEXT + 2 * (for_iter.add(1).read() as usize + 2)) }
}

/// The instruction by which an interpreted frame has resumed a generator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Consumer {
    /// A `for` loop.
    Loop,
    /// `yield from` or `await`.
    Delegation,
    /// A call, or an instruction that is instrumented for another tool.
    Other,
}

/// Returns the kind of the instruction that an interpreted frame stands at while a generator that
/// it has resumed runs.
///
/// # Safety
/// `at` points to an instruction.
pub unsafe fn consumer(at: *const u8) -> Consumer {
    // SAFETY: the caller's promise.
    match unsafe { at.read() } {
        oc::FOR_ITER | oc::FOR_ITER_GEN => Consumer::Loop,
        oc::SEND | oc::SEND_GEN => Consumer::Delegation,
        _ => Consumer::Other,
    }
}

/// A counter on which the interpreter never acts: its backoff, the low bits, is one that no counter
/// gets. 3.14 counts the value above it down all the same.
const NEVER: u16 = u16::MAX;
/// The bits of the backoff.
const BACKOFF: u16 = 15;

/// Makes a `for` loop that is specialised for generators call `tp_iternext` from now on: the
/// specialised form continues a generator's frame in the interpreter without a look at that slot.
/// It is not specialised again.
///
/// # Safety
/// `at` points to an instruction with its cache, in the code of an interpreted frame; the thread
/// has the GIL.
pub unsafe fn generalise_loop(at: *mut u8) {
    // SAFETY: the caller's promise. Both forms have the same cache, which begins with the counter.
    unsafe {
        if at.read() == oc::FOR_ITER_GEN {
            at.add(2).cast::<u16>().write(NEVER);
            at.write(oc::FOR_ITER);
        }
    }
}

/// Returns whether a `for` loop was specialised for generators, before it was
/// [generalised](generalise_loop).
///
/// # Safety
/// `unit` points to an instruction with its cache.
pub unsafe fn is_generalised_loop(unit: *const u16) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        unit.cast::<u8>().read() == oc::FOR_ITER && unit.add(1).read() & BACKOFF == NEVER & BACKOFF
    }
}

/// Units of a call with its cache: so far behind it the interpreter continues when the callee has
/// returned.
pub const CALL_LENGTH: u16 = 1 + oc::CACHES[oc::CALL as usize] as u16;

const _: () = assert!(WAIT_TO_NEXT == 2 + 2 * oc::CACHES[oc::SEND as usize] as usize);
const _: () = assert!(WAIT_TO_NEXT == 2 + 2 * oc::CACHES[oc::FOR_ITER as usize] as usize);
const _: () = assert!(SEND_TO_RESUME == WAIT_TO_NEXT + 2);
