//! The time that native execution of an instruction saves, estimated from its opcode: the
//! interpreter's specialised forms show the types of its operands.

use super::forms;
use super::opcodes as oc;
use crate::abi::code_units::Saving;
use rustc_hash::FxHashMap;

/// Tenths of a nanosecond that one execution of an instruction with this opcode takes less in
/// compiled code. Measured with loops of one kind of instruction each, on an interpreter with the
/// optimisations of a distribution, and rounded. Only the class matters: a dispatch (1 ns), an
/// operation on unboxed numbers (6 to 10 ns), a call of a Python function (20 ns and more), or work
/// that C code does in both cases.
const fn of(opcode: u8) -> i64 {
    if let Some(tenths) = forms::saving(opcode) {
        return tenths;
    }
    match opcode {
        oc::BINARY_OP_ADD_FLOAT
        | oc::BINARY_OP_SUBTRACT_FLOAT
        | oc::BINARY_OP_MULTIPLY_FLOAT
        | oc::BINARY_OP_ADD_INT
        | oc::BINARY_OP_SUBTRACT_INT
        | oc::BINARY_OP_MULTIPLY_INT => 90,
        // No specialised form: bit operations, divisions, mixed or other operands.
        oc::BINARY_OP => 60,
        oc::COMPARE_OP_INT | oc::COMPARE_OP_FLOAT | oc::FOR_ITER_RANGE => 60,
        oc::STORE_SUBSCR_LIST_INT => 50,
        oc::FOR_ITER_LIST | oc::FOR_ITER_TUPLE | oc::COMPARE_OP | oc::COMPARE_OP_STR => 30,
        oc::FOR_ITER_GEN | oc::SEND_GEN => 150,
        oc::CALL_PY_EXACT_ARGS | oc::CALL_BOUND_METHOD_EXACT_ARGS => 200,
        oc::CALL_PY_GENERAL | oc::CALL_BOUND_METHOD_GENERAL | oc::CALL_KW => 250,
        oc::CALL_ALLOC_AND_ENTER_INIT => 300,
        oc::LOAD_ATTR_PROPERTY => 150,
        oc::CALL_ISINSTANCE | oc::CALL_LEN | oc::CALL_TYPE_1 => 60,
        oc::LOAD_ATTR_INSTANCE_VALUE
        | oc::LOAD_ATTR_SLOT
        | oc::LOAD_ATTR_WITH_HINT
        | oc::STORE_ATTR_INSTANCE_VALUE
        | oc::STORE_ATTR_SLOT
        | oc::UNARY_NEGATIVE
        | oc::TO_BOOL
        | oc::TO_BOOL_INT => 30,
        oc::LOAD_ATTR_METHOD_WITH_VALUES
        | oc::LOAD_ATTR_METHOD_NO_DICT
        | oc::LOAD_ATTR_MODULE
        | oc::LOAD_ATTR_CLASS
        | oc::LOAD_GLOBAL_MODULE
        | oc::LOAD_GLOBAL_BUILTIN
        | oc::UNPACK_SEQUENCE_TWO_TUPLE
        | oc::UNPACK_SEQUENCE_TUPLE
        | oc::BUILD_TUPLE => 20,
        // C code does the work: a list or a dict is made, a function of C's called, an attribute
        // C code does the work: it makes a list or a dict, calls a C function, or looks up an
        // attribute.
        oc::CALL_NON_PY_GENERAL
        | oc::CALL_BUILTIN_CLASS
        | oc::CALL_FUNCTION_EX
        | oc::CALL
        | oc::LOAD_ATTR
        | oc::STORE_ATTR
        | oc::BUILD_MAP
        | oc::BUILD_SET
        | oc::BUILD_STRING
        | oc::FORMAT_SIMPLE
        | oc::IMPORT_NAME
        | oc::MAKE_FUNCTION
        | oc::RAISE_VARARGS
        | oc::WITH_EXCEPT_START => 0,
        _ => 10,
    }
}

/// Returns the time that an execution of a code object saves in each of its instructions, in their
/// order; for an instruction in a loop, the time that one iteration saves.
///
/// # Safety
/// `units` points to the first of `len` units of a live code object.
pub unsafe fn savings(units: *const u8, len: usize) -> Vec<Saving> {
    // SAFETY: the caller's promise.
    let instructions: Vec<_> = unsafe { instructions(units, len).collect() };
    // SAFETY: a cache follows its instruction.
    let history = |at: usize| unsafe { units.add(2 * at + 2).cast::<u16>().read_unaligned() };
    let shares = shares(&instructions, history);
    let saving = |(&(at, opcode, arg), share): (&Instruction, f64)| Saving {
        at: at as u32,
        tenths: (of(opcode) as f64 * share) as i64,
        loop_at: loop_at(at, opcode, arg).map(|at| at as u32),
    };
    instructions.iter().zip(shares).map(saving).collect()
}

/// Returns the start of the loop that an instruction closes, if it closes one.
fn loop_at(at: usize, opcode: u8, arg: usize) -> Option<usize> {
    let is_jump = oc::general(opcode) == oc::JUMP_BACKWARD;
    is_jump.then(|| next(at, opcode).saturating_sub(arg))
}

/// The unit after an instruction and its caches.
fn next(at: usize, opcode: u8) -> usize {
    at + 1 + oc::CACHES[opcode as usize] as usize
}

/// Returns how often each instruction is executed in one execution of the code, or in one iteration
/// of the innermost loop around it. This follows from the last sixteen outcomes of each branch,
/// which the interpreter keeps in its cache (`history`). Code that only an exception reaches counts
/// as never executed.
fn shares(instructions: &[Instruction], history: impl Fn(usize) -> u16) -> Vec<f64> {
    let ends = instructions
        .iter()
        .filter_map(|&(at, opcode, arg)| Some((loop_at(at, opcode, arg)?, at)));
    // First instruction, last one, and how often it is entered.
    let mut loops: Vec<(usize, usize, f64)> = Vec::new();
    for (first, last) in ends {
        match loops.iter_mut().find(|known| known.0 == first) {
            Some(known) => known.1 = known.1.max(last),
            None => loops.push((first, last, 0.0)),
        }
    }
    let mut coming: FxHashMap<usize, f64> = FxHashMap::default();
    let mut here = 1.0;
    let mut shares = Vec::with_capacity(instructions.len());
    for &(at, opcode, arg) in instructions {
        here += coming.remove(&at).unwrap_or(0.0);
        if let Some(entered) = loops.iter_mut().find(|known| known.0 == at) {
            entered.2 = here;
            here = 1.0;
        }
        shares.push(here);
        let target = next(at, opcode) + arg;
        let taken = match oc::general(opcode) {
            oc::POP_JUMP_IF_FALSE
            | oc::POP_JUMP_IF_TRUE
            | oc::POP_JUMP_IF_NONE
            | oc::POP_JUMP_IF_NOT_NONE => {
                here * f64::from(history(at).count_ones()) / f64::from(u16::BITS)
            }
            oc::JUMP_FORWARD => here,
            // The exit at the end of the loop is no part of an iteration.
            oc::FOR_ITER | oc::SEND => 0.0,
            oc::JUMP_BACKWARD
            | oc::JUMP_BACKWARD_NO_INTERRUPT
            | oc::RETURN_VALUE
            | oc::RAISE_VARARGS
            | oc::RERAISE => {
                here = 0.0;
                continue;
            }
            general if Some(general) == forms::RETURN_CONST => {
                here = 0.0;
                continue;
            }
            _ => continue,
        };
        here -= taken;
        // A loop is left as often as it is entered, by any of its exits.
        let left = loops
            .iter()
            .filter(|(first, last, _)| (*first..=*last).contains(&at) && target > *last);
        let entered = left.map(|known| known.2).reduce(f64::min);
        let sum = coming.entry(target).or_default();
        *sum = match entered {
            Some(entered) => entered.min(*sum + entered),
            None => *sum + taken,
        };
    }
    shares
}

/// Returns the positions of the instructions of a code object that load or store an attribute, in
/// units.
///
/// # Safety
/// As of [`savings`].
pub unsafe fn attribute_sites(units: *const u8, len: usize) -> impl Iterator<Item = u32> {
    // SAFETY: the caller's promise.
    let instructions = unsafe { instructions(units, len) };
    instructions
        .filter(|&(_, opcode, _)| matches!(oc::general(opcode), oc::LOAD_ATTR | oc::STORE_ATTR))
        .map(|(at, ..)| at as u32)
}

/// An instruction: the unit, the opcode, and the argument with its prefixes.
type Instruction = (usize, u8, usize);

/// The instructions of a code object.
///
/// # Safety
/// As of [`savings`].
unsafe fn instructions(units: *const u8, len: usize) -> impl Iterator<Item = Instruction> {
    let (mut at, mut extended) = (0, 0usize);
    std::iter::from_fn(move || {
        while at < len {
            // SAFETY: the caller's promise.
            let (opcode, arg) = unsafe { (*units.add(2 * at), *units.add(2 * at + 1)) };
            let caches = oc::CACHES[opcode as usize] as usize;
            let (here, arg) = (at, extended << 8 | arg as usize);
            at += 1 + caches;
            if opcode == oc::EXTENDED_ARG {
                extended = arg;
                continue;
            }
            extended = 0;
            return Some((here, opcode, arg));
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `if a: x = 1` with a branch of this history, and `for i in r: y = 2` after it.
    fn code() -> Vec<Instruction> {
        vec![
            (0, oc::RESUME, 0),
            (1, oc::POP_JUMP_IF_FALSE, 2),
            (3, oc::LOAD_CONST, 0),
            (4, oc::STORE_FAST, 0),
            (5, oc::GET_ITER, 0),
            (6, oc::FOR_ITER, 4),
            (8, oc::LOAD_CONST, 0),
            (9, oc::STORE_FAST, 1),
            (10, oc::JUMP_BACKWARD, 6),
            (12, oc::END_FOR, 0),
            (13, oc::POP_TOP, 0),
            (14, oc::LOAD_CONST, 0),
            (15, oc::RETURN_VALUE, 0),
            (16, oc::PUSH_EXC_INFO, 0),
        ]
    }

    #[test]
    fn a_branch_is_taken_as_often_as_before() {
        let shares = |history| shares(&code(), |_| history);
        let half = shares(0x5555);
        assert_eq!(half[..6], [1.0, 1.0, 0.5, 0.5, 1.0, 1.0]);
        assert_eq!(shares(0)[2], 1.0);
        assert_eq!(shares(u16::MAX)[2], 0.0);
    }

    #[test]
    fn a_loop_counts_by_iteration_and_a_handler_not_at_all() {
        let shares = shares(&code(), |_| 0x5555);
        assert_eq!(shares[6..], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
    }
}
