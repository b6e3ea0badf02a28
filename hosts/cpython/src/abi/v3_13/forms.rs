//! The forms of instructions that only this version has, for code that the versions share
//! (`abi/shared`).

use super::instructions::{Instruction, Part};
use super::layouts::object;
use super::opcodes as oc;
use crate::capi::{Obj, Thread};
use cladonia::bytecode::Op;
use cladonia::ll::Width;
use cladonia::types::Type;

/// True if the interpreter drops the operands of an instruction from the top down, and not in the
/// order in which they were pushed.
pub const LAST_FIRST: bool = false;

/// True if it does so for the operands of binary operators too.
pub const OPERATORS_LAST_FIRST: bool = false;

/// True if a call with a star always takes named arguments from the stack, a null if there are
/// none.
pub const NULL_FOR_NAMES: bool = false;

/// The instruction that returns a constant.
pub const RETURN_CONST: Option<u8> = Some(oc::RETURN_CONST);

/// Returns the object that `LoadConst` loads where its argument is past the constants of its code:
/// there is none.
///
/// # Safety
/// None here; in other versions the thread has the GIL.
pub unsafe fn implicit_constant(_arg: u32) -> Option<Obj> {
    None
}

/// Lowers an instruction that is no single op and that only this version has: there is none.
pub fn lower(_instruction: &Instruction) -> Option<[Option<Part>; 2]> {
    None
}

/// Opcodes of this version that are ops of the same meaning.
pub const PLAIN: &[(u8, Op)] = &[
    (oc::BEFORE_ASYNC_WITH, Op::BeforeAsyncWith),
    (oc::BEFORE_WITH, Op::BeforeWith),
    (oc::BINARY_SUBSCR, Op::BinarySubscr),
    (oc::BUILD_CONST_KEY_MAP, Op::BuildConstKeyMap),
    (oc::LOAD_ASSERTION_ERROR, Op::LoadAssertionError),
    (oc::RETURN_CONST, Op::ReturnConst),
    (oc::GET_YIELD_FROM_ITER, Op::GetYieldFromIter),
];

/// Builds a template string: there are none.
pub const TEMPLATE: Option<unsafe extern "C" fn(Thread, Obj, Obj) -> Obj> = None;

/// The instructions that only this version specialises.
pub const ADAPTIVE: &[u8] = &[oc::BINARY_SUBSCR];

const INT: Type = Type::LONG_EXACT;
const STR: Type = Type::UNICODE_EXACT;
const ANY: Type = Type::OBJECT;

/// Specialised opcodes of this version whose names give the types of the operands.
pub const FIXED: &[(u8, &[Type])] = &[
    (oc::BINARY_SUBSCR_DICT, &[Type::DICT_EXACT, ANY]),
    (oc::BINARY_SUBSCR_LIST_INT, &[Type::LIST_EXACT, INT]),
    (oc::BINARY_SUBSCR_TUPLE_INT, &[Type::TUPLE_EXACT, INT]),
    (oc::BINARY_SUBSCR_STR_INT, &[STR, INT]),
];

/// Specialised opcodes of this version whose cache has the version of the class that is the
/// operand.
pub const CLASS: &[u8] = &[];

/// Returns the types of the operands of an operator that is specialised by functions of its own:
/// none is.
///
/// # Safety
/// None here; in other versions `unit` points to an instruction with its cache.
pub unsafe fn extended(_unit: *const u16) -> Option<[Type; 2]> {
    None
}

/// The least version that a function can have; lower numbers mean that it has none.
pub const FIRST_FUNCTION_VERSION: u32 = 1;

/// Returns the time (as in `savings`) that native execution saves of an instruction that only this
/// version has.
pub const fn saving(opcode: u8) -> Option<i64> {
    Some(match opcode {
        oc::BINARY_SUBSCR_LIST_INT | oc::BINARY_SUBSCR_TUPLE_INT => 50,
        oc::BINARY_SUBSCR_GETITEM => 150,
        _ => return None,
    })
}

/// The count of the free list of floats.
pub type FreeFloats = i32;

/// Its width.
pub const FREE_FLOATS: Width = Width::I32;

/// The offset in a float of that list of the pointer to the next one.
pub const NEXT_FREE_FLOAT: i32 = object::TYPE;

/// The number of the event where an iterator has ended without an exception for it.
pub const STOP_ITERATION: i64 = 9;

/// Events of an interpreter that have a byte each, with a bit for each tool.
pub const GLOBAL_EVENTS: usize = 15;

/// Those of a code object.
pub const LOCAL_EVENTS: usize = 10;

/// The number of entries on the stack above the iterator of a loop or of a delegation: none.
pub const ABOVE_ITERATOR: i32 = 0;
