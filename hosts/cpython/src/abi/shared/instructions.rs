//! The instructions, and the core's ops for them.
//!
//! This layer hides the encoding of the version: argument prefixes, caches, superinstructions,
//! packed arguments, and the base from which jumps are counted. Instructions that only one version
//! has are in its `forms`.

use super::forms;
use super::opcodes as oc;
use crate::capi::{Obj, Thread};
use cladonia::bytecode::{
    ArgKind, BinaryIntrinsic, BinaryOp, CompareOp, Conversion, FunctionAttribute, INPLACE, Op,
    UnaryIntrinsic,
};
use std::ffi::c_char;

/// An instruction of a code object, without its cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// The opcode, which is a general one.
    pub opcode: u8,
    /// The argument, including the bits of its prefixes.
    pub arg: u32,
    /// The position of its first prefix, in code units: the interpreter may continue there.
    pub resume: u32,
    /// Its own position.
    pub pos: u32,
    /// The position of the next instruction.
    pub next: u32,
}

pub use super::forms::{LAST_FIRST, OPERATORS_LAST_FIRST, implicit_constant};

/// An op with its two arguments; a target is a code unit still.
pub type Part = (Op, u32, u32);

/// Takes code units apart that no specialisation or instrumentation has changed, such as the
/// interpreter gives copies of.
pub fn instructions(bytes: &[u8]) -> impl Iterator<Item = Instruction> + '_ {
    let units = bytes.len() / 2;
    let mut unit = 0;
    std::iter::from_fn(move || {
        if unit >= units {
            return None;
        }
        let resume = unit;
        // The null in place of a call's named arguments is read with the call.
        let word = |unit: usize| bytes.get(2 * unit).copied();
        let unnamed = forms::NULL_FOR_NAMES
            && word(unit) == Some(oc::PUSH_NULL)
            && word(unit + 1) == Some(oc::CALL_FUNCTION_EX);
        unit += usize::from(unnamed);
        let mut arg = u32::from(bytes[2 * unit + 1]);
        while bytes[2 * unit] == oc::EXTENDED_ARG && unit + 1 < units {
            unit += 1;
            arg = arg << 8 | u32::from(bytes[2 * unit + 1]);
        }
        let opcode = bytes[2 * unit];
        let pos = unit;
        if forms::NULL_FOR_NAMES && opcode == oc::CALL_FUNCTION_EX {
            arg = u32::from(!unnamed);
        }
        unit += 1 + usize::from(oc::CACHES[usize::from(opcode)]);
        Some(Instruction {
            opcode,
            arg,
            resume: resume as u32,
            pos: pos as u32,
            next: unit as u32,
        })
    })
}

/// The name of an opcode, for messages.
pub fn name(opcode: u8) -> &'static str {
    oc::ALL
        .iter()
        .find(|row| row.1 == opcode)
        .map_or("<unknown>", |row| row.0)
}

impl Instruction {
    /// Returns the one or two ops that have the effect of the instruction; `None` if it does not
    /// occur in a function.
    pub fn lower(&self) -> Option<[Option<Part>; 2]> {
        let own = forms::lower(self);
        if own.is_some() {
            return own;
        }
        let (arg, next) = (self.arg, self.next);
        let two = |first: Op, second: Op| [Some((first, arg >> 4, 0)), Some((second, arg & 15, 0))];
        let one = |op: Op, arg: u32, arg2: u32| [Some((op, arg, arg2)), None];
        Some(match self.opcode {
            oc::LOAD_FAST_LOAD_FAST => two(Op::LoadFast, Op::LoadFast),
            oc::STORE_FAST_LOAD_FAST => two(Op::StoreFast, Op::LoadFast),
            oc::STORE_FAST_STORE_FAST => two(Op::StoreFast, Op::StoreFast),
            oc::LOAD_GLOBAL => one(Op::LoadGlobal, arg >> 1, arg & 1),
            oc::LOAD_ATTR => one(Op::LoadAttr, arg >> 1, arg & 1),
            oc::LOAD_SUPER_ATTR => one(Op::LoadSuperAttr, arg >> 2, arg & 3),
            oc::COMPARE_OP => {
                let comparison = *COMPARISONS.get(arg as usize >> 5)?;
                one(Op::CompareOp, comparison as u32, arg >> 4 & 1)
            }
            oc::JUMP_BACKWARD => one(Op::JumpBackward, next.checked_sub(arg)?, 0),
            oc::JUMP_BACKWARD_NO_INTERRUPT => {
                one(Op::JumpBackwardNoInterrupt, next.checked_sub(arg)?, 0)
            }
            oc::CALL_INTRINSIC_1 => {
                let intrinsic = *UNARY_INTRINSICS.get((arg as usize).checked_sub(1)?)?;
                one(Op::CallIntrinsic1, intrinsic as u32, 0)
            }
            oc::CALL_INTRINSIC_2 => {
                let intrinsic = *BINARY_INTRINSICS.get((arg as usize).checked_sub(1)?)?;
                one(Op::CallIntrinsic2, intrinsic as u32, 0)
            }
            oc::CONVERT_VALUE => {
                let conversion = *CONVERSIONS.get((arg as usize).checked_sub(1)?)?;
                one(Op::ConvertValue, conversion as u32, 0)
            }
            oc::SET_FUNCTION_ATTRIBUTE => {
                let row = FUNCTION_ATTRIBUTES.iter().find(|row| row.0 == arg)?;
                one(Op::SetFunctionAttribute, row.1 as u32, 0)
            }
            oc::BINARY_OP => {
                let operators = BinaryOp::ALL.len() as u32;
                let in_place = if arg < operators { 0 } else { INPLACE };
                let operator = *BINARY_OPERATORS.get((arg % operators) as usize)?;
                (arg < 2 * operators).then(|| one(Op::BinaryOp, operator as u32 + in_place, 0))?
            }
            // The interpreter continues behind END_FOR and the instruction after it (POP_TOP, or
            // POP_ITER, which pops the iterator).
            oc::FOR_ITER => one(Op::ForIter, next + arg + 2, 0),
            opcode => {
                let mut rows = PLAIN.iter().chain(forms::PLAIN);
                let op = rows.find(|row| row.0 == opcode)?.1;
                match op.info().arg {
                    ArgKind::None => one(op, 0, 0),
                    ArgKind::Target => one(op, next + arg, 0),
                    _ => one(op, arg, 0),
                }
            }
        })
    }
}

/// The comparisons by their numbers in the argument of `COMPARE_OP`.
const COMPARISONS: [CompareOp; 6] = [
    CompareOp::Lt,
    CompareOp::Le,
    CompareOp::Eq,
    CompareOp::Ne,
    CompareOp::Gt,
    CompareOp::Ge,
];

/// The operators by their numbers in the argument of `BINARY_OP`; those in place follow in the same
/// order.
const BINARY_OPERATORS: [BinaryOp; 13] = [
    BinaryOp::Add,
    BinaryOp::And,
    BinaryOp::FloorDivide,
    BinaryOp::LeftShift,
    BinaryOp::MatrixMultiply,
    BinaryOp::Multiply,
    BinaryOp::Remainder,
    BinaryOp::Or,
    BinaryOp::Power,
    BinaryOp::RightShift,
    BinaryOp::Subtract,
    BinaryOp::TrueDivide,
    BinaryOp::Xor,
];

/// The operations of `CALL_INTRINSIC_1` by its argument, from 1.
const UNARY_INTRINSICS: [UnaryIntrinsic; 11] = [
    UnaryIntrinsic::ShowValue,
    UnaryIntrinsic::ImportStar,
    UnaryIntrinsic::StopIterationError,
    UnaryIntrinsic::WrapAsyncYield,
    UnaryIntrinsic::Positive,
    UnaryIntrinsic::ListToTuple,
    UnaryIntrinsic::TypeVar,
    UnaryIntrinsic::ParamSpec,
    UnaryIntrinsic::TypeVarTuple,
    UnaryIntrinsic::SubscriptGeneric,
    UnaryIntrinsic::TypeAlias,
];

/// The operations of `CALL_INTRINSIC_2` by its argument, from 1.
const BINARY_INTRINSICS: [BinaryIntrinsic; 5] = [
    BinaryIntrinsic::RestOfGroup,
    BinaryIntrinsic::TypeVarWithBound,
    BinaryIntrinsic::TypeVarWithConstraints,
    BinaryIntrinsic::SetTypeParams,
    BinaryIntrinsic::SetTypeParamDefault,
];

/// The conversions by the argument of `CONVERT_VALUE`, from 1.
const CONVERSIONS: [Conversion; 3] = [Conversion::Str, Conversion::Repr, Conversion::Ascii];

/// The arguments of `SET_FUNCTION_ATTRIBUTE`.
const FUNCTION_ATTRIBUTES: [(u32, FunctionAttribute); 5] = [
    (1, FunctionAttribute::Defaults),
    (2, FunctionAttribute::KeywordDefaults),
    (4, FunctionAttribute::Annotations),
    (8, FunctionAttribute::Closure),
    (16, FunctionAttribute::Annotate),
];

/// The interpreter's function for the operator with this number of the core's, which is the
/// interpreter's own number.
///
/// # Panics
/// There is no operator with the number.
#[inline(always)]
pub fn binary_function(number: usize) -> BinaryFunc {
    const {
        let mut k = 0;
        while k < BINARY_OPERATORS.len() {
            assert!(BINARY_OPERATORS[k] as usize == k);
            k += 1;
        }
        assert!(INPLACE as usize == BINARY_OPERATORS.len());
    }
    // SAFETY: a constant table of the interpreter.
    unsafe { _PyEval_BinaryOps[number] }
}

/// The interpreter's function for the [`UnaryIntrinsic`] with this number.
#[inline]
pub fn unary_intrinsic(number: usize) -> Option<unsafe extern "C" fn(Thread, Obj) -> Obj> {
    const PLACES: [usize; UNARY_INTRINSICS.len()] = {
        let (mut places, mut k) = ([0; UNARY_INTRINSICS.len()], 0);
        while k < places.len() {
            places[UNARY_INTRINSICS[k] as usize] = k + 1;
            k += 1;
        }
        places
    };
    // SAFETY: a constant table of the interpreter, whose first row is for a number that is none.
    unsafe { _PyIntrinsics_UnaryFunctions[*PLACES.get(number)?].func }
}

/// The interpreter's function for the [`BinaryIntrinsic`] with this number.
#[inline]
pub fn binary_intrinsic(number: usize) -> Option<unsafe extern "C" fn(Thread, Obj, Obj) -> Obj> {
    if number == BinaryIntrinsic::Template as usize {
        return forms::TEMPLATE;
    }
    const PLACES: [usize; BINARY_INTRINSICS.len()] = {
        let (mut places, mut k) = ([0; BINARY_INTRINSICS.len()], 0);
        while k < places.len() {
            places[BINARY_INTRINSICS[k] as usize] = k + 1;
            k += 1;
        }
        places
    };
    // SAFETY: a constant table of the interpreter, whose first row is for a number that is none.
    unsafe { _PyIntrinsics_BinaryFunctions[*PLACES.get(number)?].func }
}

/// The interpreter's function for the [`Conversion`] with this number.
#[inline]
pub fn conversion(number: usize) -> Option<ConversionFunc> {
    const PLACES: [usize; CONVERSIONS.len()] = {
        let (mut places, mut k) = ([0; CONVERSIONS.len()], 0);
        while k < places.len() {
            places[CONVERSIONS[k] as usize] = k + 1;
            k += 1;
        }
        places
    };
    // SAFETY: a constant table of the interpreter, whose first row is for a number that is none.
    unsafe { _PyEval_ConversionFuncs[*PLACES.get(number)?] }
}

/// A row of `_PyIntrinsics_UnaryFunctions`.
#[repr(C)]
struct UnaryRow {
    func: Option<unsafe extern "C" fn(Thread, Obj) -> Obj>,
    name: *const c_char,
}

/// A row of `_PyIntrinsics_BinaryFunctions`.
#[repr(C)]
struct BinaryRow {
    func: Option<unsafe extern "C" fn(Thread, Obj, Obj) -> Obj>,
    name: *const c_char,
}

/// An entry of `_PyEval_BinaryOps`.
pub type BinaryFunc = unsafe extern "C" fn(Obj, Obj) -> Obj;
/// An entry of `_PyEval_ConversionFuncs`.
pub type ConversionFunc = unsafe extern "C" fn(Obj) -> Obj;

#[allow(improper_ctypes)]
unsafe extern "C" {
    static _PyEval_BinaryOps: [BinaryFunc; 2 * BINARY_OPERATORS.len()];
    static _PyEval_ConversionFuncs: [Option<ConversionFunc>; 1 + CONVERSIONS.len()];
    static _PyIntrinsics_UnaryFunctions: [UnaryRow; 1 + UNARY_INTRINSICS.len()];
    static _PyIntrinsics_BinaryFunctions: [BinaryRow; 1 + BINARY_INTRINSICS.len()];
}

/// Opcodes that are ops of the same meaning. An opcode in no table here never occurs in a code
/// object: `CACHE`, `RESERVED`, `ENTER_EXECUTOR` (undone by the interpreter's own copy).
const PLAIN: &[(u8, Op)] = &[
    (oc::BINARY_SLICE, Op::BinarySlice),
    (oc::BUILD_LIST, Op::BuildList),
    (oc::BUILD_MAP, Op::BuildMap),
    (oc::BUILD_SET, Op::BuildSet),
    (oc::BUILD_SLICE, Op::BuildSlice),
    (oc::BUILD_STRING, Op::BuildString),
    (oc::BUILD_TUPLE, Op::BuildTuple),
    (oc::CALL, Op::Call),
    (oc::CALL_FUNCTION_EX, Op::CallFunctionEx),
    (oc::CALL_KW, Op::CallKw),
    (oc::CHECK_EG_MATCH, Op::CheckEgMatch),
    (oc::CHECK_EXC_MATCH, Op::CheckExcMatch),
    (oc::CLEANUP_THROW, Op::CleanupThrow),
    (oc::CONTAINS_OP, Op::ContainsOp),
    (oc::COPY, Op::Copy),
    (oc::COPY_FREE_VARS, Op::CopyFreeVars),
    (oc::DELETE_ATTR, Op::DeleteAttr),
    (oc::DELETE_DEREF, Op::DeleteDeref),
    (oc::DELETE_FAST, Op::DeleteFast),
    (oc::DELETE_GLOBAL, Op::DeleteGlobal),
    (oc::DELETE_NAME, Op::DeleteName),
    (oc::DELETE_SUBSCR, Op::DeleteSubscr),
    (oc::DICT_MERGE, Op::DictMerge),
    (oc::DICT_UPDATE, Op::DictUpdate),
    (oc::END_ASYNC_FOR, Op::EndAsyncFor),
    // Reached only when a generator that the interpreter runs inline is used up; it drops the value
    // that the generator returned.
    (oc::END_FOR, Op::PopTop),
    (oc::END_SEND, Op::EndSend),
    (oc::EXIT_INIT_CHECK, Op::ExitInitCheck),
    (oc::FORMAT_SIMPLE, Op::FormatSimple),
    (oc::FORMAT_WITH_SPEC, Op::FormatWithSpec),
    (oc::GET_AITER, Op::GetAiter),
    (oc::GET_ANEXT, Op::GetAnext),
    (oc::GET_AWAITABLE, Op::GetAwaitable),
    (oc::GET_ITER, Op::GetIter),
    (oc::GET_LEN, Op::GetLen),
    (oc::IMPORT_FROM, Op::ImportFrom),
    (oc::IMPORT_NAME, Op::ImportName),
    (oc::INTERPRETER_EXIT, Op::InterpreterExit),
    (oc::IS_OP, Op::IsOp),
    (oc::JUMP_FORWARD, Op::Jump),
    (oc::LIST_APPEND, Op::ListAppend),
    (oc::LIST_EXTEND, Op::ListExtend),
    (oc::LOAD_BUILD_CLASS, Op::LoadBuildClass),
    (oc::LOAD_CONST, Op::LoadConst),
    (oc::LOAD_DEREF, Op::LoadDeref),
    (oc::LOAD_FAST, Op::LoadFast),
    (oc::LOAD_FAST_AND_CLEAR, Op::LoadFastAndClear),
    (oc::LOAD_FAST_CHECK, Op::LoadFastCheck),
    (oc::LOAD_FROM_DICT_OR_DEREF, Op::LoadFromDictOrDeref),
    (oc::LOAD_FROM_DICT_OR_GLOBALS, Op::LoadFromDictOrGlobals),
    (oc::LOAD_LOCALS, Op::LoadLocals),
    (oc::LOAD_NAME, Op::LoadName),
    (oc::MAKE_CELL, Op::MakeCell),
    (oc::MAKE_FUNCTION, Op::MakeFunction),
    (oc::MAP_ADD, Op::MapAdd),
    (oc::MATCH_CLASS, Op::MatchClass),
    (oc::MATCH_KEYS, Op::MatchKeys),
    (oc::MATCH_MAPPING, Op::MatchMapping),
    (oc::MATCH_SEQUENCE, Op::MatchSequence),
    (oc::NOP, Op::Nop),
    (oc::POP_EXCEPT, Op::PopExcept),
    (oc::POP_JUMP_IF_FALSE, Op::PopJumpIfFalse),
    (oc::POP_JUMP_IF_NONE, Op::PopJumpIfNone),
    (oc::POP_JUMP_IF_NOT_NONE, Op::PopJumpIfNotNone),
    (oc::POP_JUMP_IF_TRUE, Op::PopJumpIfTrue),
    (oc::POP_TOP, Op::PopTop),
    (oc::PUSH_EXC_INFO, Op::PushExcInfo),
    (oc::PUSH_NULL, Op::PushNull),
    (oc::RAISE_VARARGS, Op::RaiseVarargs),
    (oc::RERAISE, Op::Reraise),
    (oc::RESUME, Op::Resume),
    (oc::RETURN_GENERATOR, Op::ReturnGenerator),
    (oc::RETURN_VALUE, Op::ReturnValue),
    (oc::SEND, Op::Send),
    (oc::SETUP_ANNOTATIONS, Op::SetupAnnotations),
    (oc::SET_ADD, Op::SetAdd),
    (oc::SET_UPDATE, Op::SetUpdate),
    (oc::STORE_ATTR, Op::StoreAttr),
    (oc::STORE_DEREF, Op::StoreDeref),
    (oc::STORE_FAST, Op::StoreFast),
    (oc::STORE_GLOBAL, Op::StoreGlobal),
    (oc::STORE_NAME, Op::StoreName),
    (oc::STORE_SLICE, Op::StoreSlice),
    (oc::STORE_SUBSCR, Op::StoreSubscr),
    (oc::SWAP, Op::Swap),
    (oc::TO_BOOL, Op::ToBool),
    (oc::UNARY_INVERT, Op::UnaryInvert),
    (oc::UNARY_NEGATIVE, Op::UnaryNegative),
    (oc::UNARY_NOT, Op::UnaryNot),
    (oc::UNPACK_EX, Op::UnpackEx),
    (oc::UNPACK_SEQUENCE, Op::UnpackSequence),
    (oc::WITH_EXCEPT_START, Op::WithExceptStart),
    (oc::YIELD_VALUE, Op::YieldValue),
];

/// The argument of an instruction, without the bits of an argument prefix.
///
/// # Safety
/// `unit` points to a code unit of a live code object.
pub unsafe fn argument(unit: *const u8) -> u8 {
    // SAFETY: the caller's promise: a unit is an opcode and its argument.
    unsafe { unit.add(1).read() }
}
