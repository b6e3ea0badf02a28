//! What native execution of an instruction saves, as far as its opcode tells: the interpreter's specialised forms say what
//! kind of operands it has.

use super::opcodes as oc;
use crate::abi::code_units::Saving;

/// Tenths of a nanosecond that one execution of an instruction with this opcode takes less in compiled code. Measured with loops of
/// one kind of instruction each, on an interpreter with the optimisations of a distribution, and rounded: what counts is whether
/// it is a dispatch (1 ns), an operation on unboxed numbers (6 to 10 ns), a call of a Python function (20 ns and more), or
/// work that C code does either way.
const fn of(opcode: u8) -> i64 {
    match opcode {
        oc::BINARY_OP_ADD_FLOAT
        | oc::BINARY_OP_SUBTRACT_FLOAT
        | oc::BINARY_OP_MULTIPLY_FLOAT
        | oc::BINARY_OP_ADD_INT
        | oc::BINARY_OP_SUBTRACT_INT
        | oc::BINARY_OP_MULTIPLY_INT => 90,
        // Without a form of its own: bits, divisions, mixed operands; or something else.
        oc::BINARY_OP => 60,
        oc::COMPARE_OP_INT | oc::COMPARE_OP_FLOAT | oc::FOR_ITER_RANGE => 60,
        oc::BINARY_SUBSCR_LIST_INT | oc::BINARY_SUBSCR_TUPLE_INT | oc::STORE_SUBSCR_LIST_INT => 50,
        oc::FOR_ITER_LIST | oc::FOR_ITER_TUPLE | oc::COMPARE_OP | oc::COMPARE_OP_STR => 30,
        oc::FOR_ITER_GEN | oc::SEND_GEN => 150,
        oc::CALL_PY_EXACT_ARGS | oc::CALL_BOUND_METHOD_EXACT_ARGS => 200,
        oc::CALL_PY_GENERAL | oc::CALL_BOUND_METHOD_GENERAL | oc::CALL_KW => 250,
        oc::CALL_ALLOC_AND_ENTER_INIT => 300,
        oc::LOAD_ATTR_PROPERTY | oc::BINARY_SUBSCR_GETITEM => 150,
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
        // C code does the work: a list or a dict is made, a function of C's called, an attribute looked up.
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

/// What an execution of each instruction of a code object saves, in their order.
///
/// # Safety
/// `units` points to the first of `len` units of a live code object.
pub unsafe fn savings(units: *const u8, len: usize) -> impl Iterator<Item = Saving> {
    // SAFETY: the caller's promise.
    let instructions = unsafe { instructions(units, len) };
    instructions.map(|(at, opcode, arg)| {
        let is_jump = oc::general(opcode) == oc::JUMP_BACKWARD;
        let next = at + 1 + oc::CACHES[opcode as usize] as usize;
        Saving {
            at: at as u32,
            tenths: of(opcode),
            loop_at: is_jump.then(|| next.saturating_sub(arg) as u32),
        }
    })
}

/// Where the instructions of a code object are that load or store an attribute, in units.
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

/// The instructions of a code object: the unit, the opcode, and the argument with its prefixes.
///
/// # Safety
/// As of [`savings`].
unsafe fn instructions(units: *const u8, len: usize) -> impl Iterator<Item = (usize, u8, usize)> {
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
