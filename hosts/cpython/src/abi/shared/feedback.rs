//! The profile that the interpreter keeps in a code object while it executes it: specialised
//! opcodes, their caches, and counters.

use super::forms;
use super::layouts::{code, function, interp};
use super::opcodes as oc;
use crate::abi;
use cladonia::types::Type;
use pyo3_ffi::{self as ffi, PyObject};

pub use super::savings::{attribute_sites, savings};

/// The operands that the interpreter observed at an instruction.
#[derive(Clone, PartialEq, Debug)]
pub enum Observed {
    /// Nothing.
    Nothing,
    /// The types of its operands, from the deepest to the top.
    Types(Vec<Type>),
    /// The top operand is an instance of the class that has this version.
    Instance {
        /// The version.
        version: u32,
        /// The number of operands below it.
        below: usize,
        /// True if it had a dictionary of its own.
        has_dict: bool,
    },
    /// The operand, or the callee, is the class that has this version.
    Class(u32),
    /// The callee is this builtin class.
    Builtin(*mut PyObject),
    /// The callee is the function that has this version.
    Function(u32),
}

/// Returns the operands that the interpreter observed at the instruction at `unit` (of
/// `co_code_adaptive`), if it is a specialised form of the general opcode `general`.
///
/// # Safety
/// `unit` points to a code unit of a live code object, which is no argument prefix.
pub unsafe fn observed(unit: *const u16, general: u8) -> Observed {
    // SAFETY: the caller's promise; the caches read are those of the opcodes.
    unsafe {
        let opcode = opcode_at(unit);
        if general == oc::FOR_ITER && super::code_units::is_generalised_loop(unit) {
            return Observed::Types(vec![Type::GEN]);
        }
        if opcode == general || oc::general(opcode) != general {
            return Observed::Nothing;
        }
        if let Some(types) = forms::extended(unit) {
            return Observed::Types(types.to_vec());
        }
        let mut rows = FIXED.iter().chain(forms::FIXED);
        if let Some((_, types)) = rows.find(|row| row.0 == opcode) {
            return Observed::Types(types.to_vec());
        }
        let instance = |below, has_dict| Observed::Instance {
            version: version(unit),
            below,
            has_dict,
        };
        match opcode {
            oc::CONTAINS_OP_SET => Observed::Types(vec![
                Type::OBJECT,
                Type::SET_EXACT.join(Type::FROZEN_SET_EXACT),
            ]),
            oc::LOAD_ATTR_WITH_HINT => instance(0, true),
            oc::TO_BOOL_ALWAYS_TRUE
            | oc::LOAD_ATTR_INSTANCE_VALUE
            | oc::LOAD_ATTR_SLOT
            | oc::LOAD_ATTR_PROPERTY
            | oc::LOAD_ATTR_GETATTRIBUTE_OVERRIDDEN
            | oc::LOAD_ATTR_METHOD_WITH_VALUES
            | oc::LOAD_ATTR_METHOD_NO_DICT
            | oc::LOAD_ATTR_METHOD_LAZY_DICT
            | oc::LOAD_ATTR_NONDESCRIPTOR_WITH_VALUES
            | oc::LOAD_ATTR_NONDESCRIPTOR_NO_DICT => instance(0, false),
            oc::STORE_ATTR_WITH_HINT => instance(1, true),
            oc::STORE_ATTR_INSTANCE_VALUE | oc::STORE_ATTR_SLOT => instance(1, false),
            oc::LOAD_ATTR_CLASS | oc::CALL_ALLOC_AND_ENTER_INIT => Observed::Class(version(unit)),
            _ if forms::CLASS.contains(&opcode) => Observed::Class(version(unit)),
            oc::CALL_TYPE_1 => Observed::Builtin((&raw mut ffi::PyType_Type).cast()),
            oc::CALL_STR_1 => Observed::Builtin((&raw mut ffi::PyUnicode_Type).cast()),
            oc::CALL_TUPLE_1 => Observed::Builtin((&raw mut ffi::PyTuple_Type).cast()),
            // The forms for bound methods are not here: their version is that of the method's
            // function, and the callee is the bound method.
            oc::CALL_PY_EXACT_ARGS | oc::CALL_PY_GENERAL => Observed::Function(version(unit)),
            _ => Observed::Nothing,
        }
    }
}

/// The version of the class whose instances an instruction that loads or stores an attribute is
/// specialised for now.
///
/// # Safety
/// As of [`observed`].
pub unsafe fn receiver_version(unit: *const u16) -> Option<u32> {
    // SAFETY: the caller's promise.
    match unsafe { observed(unit, oc::general(opcode_at(unit))) } {
        Observed::Instance { version, .. } => Some(version),
        _ => None,
    }
}

/// The version that an instruction that loads an attribute, and is not specialised any more, has
/// kept from the time when it was: that of a class, or of a module's keys.
///
/// # Safety
/// As of [`observed`].
pub unsafe fn kept_version(unit: *const u16) -> Option<u32> {
    // SAFETY: the caller's promise.
    unsafe { (opcode_at(unit) == oc::LOAD_ATTR).then(|| version(unit)) }
}

/// Returns how often the interpreter has executed the instruction, as long as that is too seldom to
/// specialise it. Its counter begins with a wait of two executions and has a longer one after every
/// attempt that fails. `None` from then on, and for an instruction that is never specialised.
///
/// # Safety
/// As of [`observed`].
pub unsafe fn first_executions(unit: *const u16) -> Option<u32> {
    // SAFETY: the caller's promise; an adaptive instruction has a cache that begins with the
    // counter.
    unsafe {
        let opcode = opcode_at(unit);
        if !ADAPTIVE.contains(&opcode) && !forms::ADAPTIVE.contains(&opcode) {
            return None;
        }
        let counter = unit.add(1).read();
        (counter & BACKOFF == WARM_UP && counter >> BACKOFF_BITS <= WARM_UP)
            .then(|| u32::from(WARM_UP - (counter >> BACKOFF_BITS)))
    }
}

/// The function that the interpreter knows by this version, borrowed; null if there is none.
///
/// # Safety
/// The thread has the GIL.
pub unsafe fn function_of_version(version: u32) -> *mut PyObject {
    // SAFETY: the caller's promise; an entry of the table is the memory of a function, with the
    // collector's header before it.
    unsafe {
        let found = of_version(version, 0, function::VERSION);
        if found.is_null() || super::counts::is_put_off(found) {
            return std::ptr::null_mut();
        }
        found
    }
}

/// The code whose functions begin with this version, borrowed; null if there is none. The functions
/// that were made of it may have died.
///
/// # Safety
/// The thread has the GIL.
pub unsafe fn code_of_version(version: u32) -> *mut PyObject {
    // SAFETY: the caller's promise.
    unsafe { of_version(version, interp::FUNC_VERSION_CACHE_CODE, code::VERSION) }
}

/// Returns the object at the offset `part` in the cache's entry for a version, if the object has
/// that version itself, at its offset `own`.
unsafe fn of_version(version: u32, part: i32, own: i32) -> *mut PyObject {
    // Lower numbers say that there is none.
    if version < forms::FIRST_FUNCTION_VERSION {
        return std::ptr::null_mut();
    }
    let place =
        (version % interp::FUNC_VERSION_CACHE_LEN as u32) as i32 * interp::FUNC_VERSION_CACHE_ENTRY;
    // SAFETY: the interpreter clears an entry before its function, or its code, dies; the
    // validation has found the table where it is.
    unsafe {
        let found = abi::read::<*mut PyObject, _>(
            ffi::PyInterpreterState_Get(),
            interp::FUNC_VERSION_CACHE + place + part,
        );
        if found.is_null() || abi::read::<u32, _>(found, own) != version {
            return std::ptr::null_mut();
        }
        found
    }
}

/// # Safety
/// `unit` points to a code unit.
unsafe fn opcode_at(unit: *const u16) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { unit.cast::<u8>().read() }
}

/// The version that follows the counter, in every family that has one.
///
/// # Safety
/// The instruction is of such a family.
unsafe fn version(unit: *const u16) -> u32 {
    // SAFETY: the cache is three units at least: a counter, then the version, low half first.
    unsafe { u32::from(unit.add(2).read()) | u32::from(unit.add(3).read()) << 16 }
}

/// The instructions that every version specialises.
const ADAPTIVE: &[u8] = &[
    oc::BINARY_OP,
    oc::CALL,
    oc::COMPARE_OP,
    oc::CONTAINS_OP,
    oc::FOR_ITER,
    oc::LOAD_ATTR,
    oc::LOAD_GLOBAL,
    oc::STORE_ATTR,
    oc::STORE_SUBSCR,
    oc::TO_BOOL,
    oc::UNPACK_SEQUENCE,
];

/// A counter has its backoff in the low bits, and its value above.
const BACKOFF_BITS: u32 = 4;
const BACKOFF: u16 = (1 << BACKOFF_BITS) - 1;

/// The value and the backoff of a new counter (`ADAPTIVE_WARMUP_VALUE`, `ADAPTIVE_WARMUP_BACKOFF`).
const WARM_UP: u16 = 1;

const INT: Type = Type::LONG_EXACT;
const FLOAT: Type = Type::FLOAT_EXACT;
const STR: Type = Type::UNICODE_EXACT;
const ANY: Type = Type::OBJECT;

/// Specialised opcodes whose names give the types of the operands.
const FIXED: &[(u8, &[Type])] = &[
    (oc::BINARY_OP_ADD_INT, &[INT, INT]),
    (oc::BINARY_OP_SUBTRACT_INT, &[INT, INT]),
    (oc::BINARY_OP_MULTIPLY_INT, &[INT, INT]),
    (oc::BINARY_OP_ADD_FLOAT, &[FLOAT, FLOAT]),
    (oc::BINARY_OP_SUBTRACT_FLOAT, &[FLOAT, FLOAT]),
    (oc::BINARY_OP_MULTIPLY_FLOAT, &[FLOAT, FLOAT]),
    (oc::BINARY_OP_ADD_UNICODE, &[STR, STR]),
    (oc::BINARY_OP_INPLACE_ADD_UNICODE, &[STR, STR]),
    (oc::COMPARE_OP_INT, &[INT, INT]),
    (oc::COMPARE_OP_FLOAT, &[FLOAT, FLOAT]),
    (oc::COMPARE_OP_STR, &[STR, STR]),
    (oc::STORE_SUBSCR_DICT, &[ANY, Type::DICT_EXACT, ANY]),
    (oc::STORE_SUBSCR_LIST_INT, &[ANY, Type::LIST_EXACT, INT]),
    (oc::CONTAINS_OP_DICT, &[ANY, Type::DICT_EXACT]),
    (oc::UNPACK_SEQUENCE_TWO_TUPLE, &[Type::TUPLE_EXACT]),
    (oc::UNPACK_SEQUENCE_TUPLE, &[Type::TUPLE_EXACT]),
    (oc::UNPACK_SEQUENCE_LIST, &[Type::LIST_EXACT]),
    (oc::FOR_ITER_LIST, &[Type::LIST_ITER]),
    (oc::FOR_ITER_TUPLE, &[Type::TUPLE_ITER]),
    (oc::FOR_ITER_RANGE, &[Type::RANGE_ITER]),
    (oc::FOR_ITER_GEN, &[Type::GEN]),
    (oc::TO_BOOL_BOOL, &[Type::BOOL]),
    (oc::TO_BOOL_INT, &[INT]),
    (oc::TO_BOOL_LIST, &[Type::LIST_EXACT]),
    (oc::TO_BOOL_NONE, &[Type::NONE_TYPE]),
    (oc::TO_BOOL_STR, &[STR]),
];
