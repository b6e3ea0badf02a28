//! The forms of instructions that only this version has, for code that the versions share
//! (`abi/shared`).

use super::instructions::{Instruction, Part};
use super::layouts::{interp, object};
use super::opcodes as oc;
use crate::abi::read;
use crate::capi::{Obj, Thread};
use cladonia::bytecode::{BinaryIntrinsic, Op, SpecialMethod};
use cladonia::ll::Width;
use cladonia::types::Type;
use pyo3_ffi::{
    Py_DECREF, Py_XDECREF, PyBytes_CheckExact, PyErr_Clear, PyInterpreterState_Get,
    PyList_CheckExact, PyLong_FromLong, PyLong_Type, PyObject_CallMethod, PyObject_GetIter,
    PyTuple_CheckExact, PyTypeObject, PyUnicode_CheckExact,
};
use std::ffi::{c_int, c_longlong};

/// True if the interpreter drops the operands of an instruction from the top down, and not in the
/// order in which they were pushed.
pub const LAST_FIRST: bool = true;

/// True if it does so for the operands of binary operators too.
pub const OPERATORS_LAST_FIRST: bool = true;

/// True if a call with a star always takes named arguments from the stack, a null if there are
/// none.
pub const NULL_FOR_NAMES: bool = true;

/// The instruction that returns a constant: there is none.
pub const RETURN_CONST: Option<u8> = None;

/// The first argument of `LoadConst` where an instruction loads an object that is not among the
/// constants of its code. From here on the common constants, and then the ints from 0.
const IMPLICIT: u32 = 1 << 24;
/// The number of common constants.
const COMMON: u32 = 12;
/// The greatest int for which there is an instruction that loads it.
const SMALL: u32 = 256;

/// Returns the object that `LoadConst` loads where its argument is past the constants of its code.
/// The object is immortal.
///
/// # Safety
/// The thread has the GIL.
pub unsafe fn implicit_constant(arg: u32) -> Option<Obj> {
    let number = arg.checked_sub(IMPLICIT)?;
    // SAFETY: the interpreter's table keeps its objects alive as long as it runs; small ints are
    // made once.
    unsafe {
        match number.checked_sub(COMMON) {
            None => {
                let interpreter = PyInterpreterState_Get();
                Some(read(interpreter, interp::COMMON_CONSTS + 8 * number as i32))
            }
            Some(int) => (int < SMALL).then(|| PyLong_FromLong(int.into())),
        }
    }
}

/// The argument of `BINARY_OP` where it is no operator, but takes an item.
pub(super) const SUBSCRIPT: u32 = 26;

/// The methods that `LOAD_SPECIAL` looks up, by its argument.
const SPECIAL_METHODS: [SpecialMethod; 4] = [
    SpecialMethod::Enter,
    SpecialMethod::Exit,
    SpecialMethod::AsyncEnter,
    SpecialMethod::AsyncExit,
];

/// The second argument of the ops of iterators: beside an iterator there is a place for the index
/// of the next item, and compiled code has null there.
const PAIR: u32 = 1;

/// Lowers an instruction that is no single op and that only this version has.
pub fn lower(instruction: &Instruction) -> Option<[Option<Part>; 2]> {
    let arg = instruction.arg;
    let one = |op: Op, arg: u32| Some([Some((op, arg, 0)), None]);
    match instruction.opcode {
        oc::LOAD_FAST_BORROW_LOAD_FAST_BORROW => Some([
            Some((Op::LoadFastBorrow, arg >> 4, 0)),
            Some((Op::LoadFastBorrow, arg & 15, 0)),
        ]),
        oc::BINARY_OP if arg == SUBSCRIPT => one(Op::BinarySubscr, 0),
        oc::LOAD_SMALL_INT if arg < SMALL => one(Op::LoadConst, IMPLICIT + COMMON + arg),
        oc::LOAD_COMMON_CONSTANT if arg < COMMON => one(Op::LoadConst, IMPLICIT + arg),
        // The interpreter continues behind END_FOR and POP_ITER.
        oc::FOR_ITER => Some([Some((Op::ForIter, instruction.next + arg + 2, PAIR)), None]),
        oc::GET_ITER if arg == 0 => Some([Some((Op::GetIter, 0, PAIR)), None]),
        oc::GET_ITER => Some([Some((Op::GetYieldFromIter, 0, PAIR)), None]),
        oc::SEND => Some([Some((Op::Send, instruction.next + arg, PAIR)), None]),
        oc::END_SEND => Some([Some((Op::EndSend, 0, PAIR)), None]),
        oc::CLEANUP_THROW => Some([Some((Op::CleanupThrow, 0, PAIR)), None]),
        oc::POP_ITER => Some([Some((Op::PopTop, 0, 0)), Some((Op::PopTop, 0, 0))]),
        oc::IMPORT_NAME => {
            let lazy = match arg & 3 {
                0 => 1,
                1 => 2,
                _ => 0,
            };
            Some([Some((Op::ImportName, arg >> 2, lazy)), None])
        }
        oc::BUILD_INTERPOLATION => one(Op::BuildInterpolation, arg >> 2 << 1 | arg & 1),
        oc::BUILD_TEMPLATE => one(Op::CallIntrinsic2, BinaryIntrinsic::Template as u32),
        oc::LOAD_SPECIAL => {
            let method = *SPECIAL_METHODS.get(arg as usize)?;
            one(Op::LoadSpecial, method as u32)
        }
        _ => None,
    }
}

/// Opcodes of this version that are ops of the same meaning.
pub const PLAIN: &[(u8, Op)] = &[
    (oc::LOAD_FAST_BORROW, Op::LoadFastBorrow),
    (oc::NOT_TAKEN, Op::Nop),
];

/// Builds a template string of strings and values.
pub const TEMPLATE: Option<unsafe extern "C" fn(Thread, Obj, Obj) -> Obj> = Some(template);

unsafe extern "C" fn template(_thread: Thread, strings: Obj, values: Obj) -> Obj {
    // SAFETY: called for an instruction, with live operands.
    unsafe { _PyTemplate_Build(strings, values) }
}

unsafe extern "C" {
    fn _PyTemplate_Build(strings: Obj, values: Obj) -> Obj;
}

/// The instructions that only this version specialises.
pub const ADAPTIVE: &[u8] = &[oc::CALL_KW];

const INT: Type = Type::LONG_EXACT;
const STR: Type = Type::UNICODE_EXACT;
const ANY: Type = Type::OBJECT;

/// Specialised opcodes of this version whose names give the types of the operands.
pub const FIXED: &[(u8, &[Type])] = &[
    (oc::BINARY_OP_SUBSCR_DICT, &[Type::DICT_EXACT, ANY]),
    (oc::BINARY_OP_SUBSCR_LIST_INT, &[Type::LIST_EXACT, INT]),
    (oc::BINARY_OP_SUBSCR_TUPLE_INT, &[Type::TUPLE_EXACT, INT]),
    (oc::BINARY_OP_SUBSCR_STR_INT, &[STR, INT]),
    (oc::BINARY_OP_SUBSCR_USTR_INT, &[STR, INT]),
    (oc::BINARY_OP_SUBSCR_LIST_SLICE, &[Type::LIST_EXACT, ANY]),
];

/// Specialised opcodes of this version whose cache has the version of the class that is the
/// operand.
pub const CLASS: &[u8] = &[oc::LOAD_ATTR_CLASS_WITH_METACLASS_CHECK];

/// Returns the types of the operands of an operator that is specialised by functions of its own
/// (`&`, `|` and `^` of ints, and operators of an int and a float), if both are ints. The cache has
/// a description with the types, or else with a function that checks two operands for them.
///
/// # Safety
/// `unit` points to an instruction with its cache; the thread has the GIL.
pub unsafe fn extended(unit: *const u16) -> Option<[Type; 2]> {
    // SAFETY: the caller's promise; the description is a constant of the interpreter's. The
    // function reads two objects.
    unsafe {
        if unit.cast::<u8>().read() != oc::BINARY_OP_EXTEND {
            return None;
        }
        let description = unit.add(DESCRIPTION).cast::<*const u8>().read_unaligned();
        let int = &raw mut PyLong_Type;
        let known = [LEFT, RIGHT].map(|offset| read::<*mut PyTypeObject, _>(description, offset));
        let guard: Option<Guard> = read(description, GUARD);
        let one = PyLong_FromLong(1);
        let both = match guard {
            _ if known.iter().all(|class| !class.is_null()) => known == [int; 2],
            Some(guard) => guard(one, one) != 0,
            None => false,
        };
        both.then_some([INT, INT])
    }
}

/// The function of a description (`_PyBinaryOpSpecializationDescr`).
type Guard = unsafe extern "C" fn(Obj, Obj) -> c_int;

/// The unit of an instruction's cache at which the address of the description begins.
const DESCRIPTION: usize = 2;

/// The offset of the function in a description.
const GUARD: i32 = 8;
/// The offset of the class of the left operand.
const LEFT: i32 = 40;
/// The offset of the class of the right operand.
const RIGHT: i32 = 48;

/// The least version that a function can have (`FUNC_VERSION_FIRST_VALID`); lower numbers mean that
/// it has none.
pub const FIRST_FUNCTION_VERSION: u32 = 2;

/// Returns the time (as in `savings`) that native execution saves of an instruction that only this
/// version has.
pub const fn saving(opcode: u8) -> Option<i64> {
    Some(match opcode {
        oc::BINARY_OP_EXTEND => 60,
        oc::BINARY_OP_SUBSCR_LIST_INT | oc::BINARY_OP_SUBSCR_TUPLE_INT => 50,
        oc::CALL_KW_PY | oc::CALL_KW_BOUND_METHOD => 250,
        oc::BINARY_OP_SUBSCR_GETITEM => 150,
        oc::CALL_KW_NON_PY => 0,
        _ => return None,
    })
}

/// The count of the free list of floats.
pub type FreeFloats = i64;

/// Its width.
pub const FREE_FLOATS: Width = Width::I64;

/// The offset in a float of that list of the pointer to the next one.
pub const NEXT_FREE_FLOAT: i32 = object::REFCNT;

/// The number of the event where an iterator has ended without an exception for it.
pub const STOP_ITERATION: i64 = 10;

/// Events of an interpreter that have a byte each, with a bit for each tool.
pub const GLOBAL_EVENTS: usize = 16;

/// Those of a code object.
pub const LOCAL_EVENTS: usize = 16;

/// The number of entries on the stack above the iterator of a loop or of a delegation: one, a place
/// for an index.
pub const ABOVE_ITERATOR: i32 = 1;

/// Returns whether loops take the items of an object by their index (`_tp_iteritem`): a list's, a
/// tuple's, a string's or those of bytes.
///
/// # Safety
/// A live object or null.
pub unsafe fn is_iterated(object: Obj) -> bool {
    // SAFETY: the caller's promise; the classes are static.
    unsafe {
        !object.is_null()
            && (PyList_CheckExact(object) != 0
                || PyTuple_CheckExact(object) != 0
                || PyUnicode_CheckExact(object) != 0
                || PyBytes_CheckExact(object) != 0)
    }
}

/// An iterator that continues at an index of an object [whose items are taken by
/// index](is_iterated); a negative index is past the end. `None`, without an exception, if there is
/// no memory.
///
/// # Safety
/// Such an object; the thread has the GIL.
pub unsafe fn iterator(container: Obj, index: i64) -> Option<Obj> {
    // SAFETY: the caller's promise; these iterators are the interpreter's own, and their method
    // stores the index.
    unsafe {
        let index = if index < 0 { i64::MAX >> 1 } else { index };
        let iterator = PyObject_GetIter(container);
        if index == 0 && !iterator.is_null() {
            return Some(iterator);
        }
        let done = match iterator.is_null() {
            true => iterator,
            false => PyObject_CallMethod(
                iterator,
                c"__setstate__".as_ptr(),
                c"L".as_ptr(),
                index as c_longlong,
            ),
        };
        if done.is_null() {
            PyErr_Clear();
            Py_XDECREF(iterator);
            return None;
        }
        Py_DECREF(done);
        Some(iterator)
    }
}
