//! The instructions of 3.13, and what they do in terms of the core's ops.
//!
//! What is peculiar to the version ends here: argument prefixes, caches, superinstructions, how arguments are packed, and
//! from where jumps are counted.

use super::opcodes as oc;
use cladonia::bytecode::{ArgKind, CompareOp, Op};

/// An instruction of a code object, without its cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// The opcode, which is a general one.
    pub opcode: u8,
    /// The argument, with what prefixes add to it.
    pub arg: u32,
    /// Where its first prefix stands, in code units: the interpreter may go on there.
    pub resume: u32,
    /// Where it stands itself.
    pub pos: u32,
    /// Where the next one begins.
    pub next: u32,
}

/// An op with its two arguments; a target is a code unit still.
pub type Part = (Op, u32, u32);

/// Takes code units apart that no specialisation or instrumentation has changed, such as the interpreter gives copies of.
pub fn instructions(bytes: &[u8]) -> impl Iterator<Item = Instruction> + '_ {
    let units = bytes.len() / 2;
    let mut unit = 0;
    std::iter::from_fn(move || {
        if unit >= units {
            return None;
        }
        let resume = unit;
        let mut arg = u32::from(bytes[2 * unit + 1]);
        while bytes[2 * unit] == oc::EXTENDED_ARG && unit + 1 < units {
            unit += 1;
            arg = arg << 8 | u32::from(bytes[2 * unit + 1]);
        }
        let opcode = bytes[2 * unit];
        let pos = unit;
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
    /// What the instruction does, as one or two ops; `None` if it has no place in a function.
    pub fn lower(&self) -> Option<[Option<Part>; 2]> {
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
            // The interpreter goes on behind END_FOR and POP_TOP, having popped the iterator itself.
            oc::FOR_ITER => one(Op::ForIter, next + arg + 2, 0),
            opcode => {
                let op = PLAIN.iter().find(|row| row.0 == opcode)?.1;
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

/// Opcodes that are ops of the same meaning. What is in no table here never occurs in a code object: `CACHE`,
/// `RESERVED`, `ENTER_EXECUTOR` (undone by the interpreter's own copy).
const PLAIN: &[(u8, Op)] = &[
    (oc::BEFORE_ASYNC_WITH, Op::BeforeAsyncWith),
    (oc::BEFORE_WITH, Op::BeforeWith),
    (oc::BINARY_OP, Op::BinaryOp),
    (oc::BINARY_SLICE, Op::BinarySlice),
    (oc::BINARY_SUBSCR, Op::BinarySubscr),
    (oc::BUILD_CONST_KEY_MAP, Op::BuildConstKeyMap),
    (oc::BUILD_LIST, Op::BuildList),
    (oc::BUILD_MAP, Op::BuildMap),
    (oc::BUILD_SET, Op::BuildSet),
    (oc::BUILD_SLICE, Op::BuildSlice),
    (oc::BUILD_STRING, Op::BuildString),
    (oc::BUILD_TUPLE, Op::BuildTuple),
    (oc::CALL, Op::Call),
    (oc::CALL_FUNCTION_EX, Op::CallFunctionEx),
    (oc::CALL_INTRINSIC_1, Op::CallIntrinsic1),
    (oc::CALL_INTRINSIC_2, Op::CallIntrinsic2),
    (oc::CALL_KW, Op::CallKw),
    (oc::CHECK_EG_MATCH, Op::CheckEgMatch),
    (oc::CHECK_EXC_MATCH, Op::CheckExcMatch),
    (oc::CLEANUP_THROW, Op::CleanupThrow),
    (oc::CONTAINS_OP, Op::ContainsOp),
    (oc::CONVERT_VALUE, Op::ConvertValue),
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
    // Reached only when a generator that the interpreter runs inline is used up; it drops what the generator returned.
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
    (oc::GET_YIELD_FROM_ITER, Op::GetYieldFromIter),
    (oc::IMPORT_FROM, Op::ImportFrom),
    (oc::IMPORT_NAME, Op::ImportName),
    (oc::INTERPRETER_EXIT, Op::InterpreterExit),
    (oc::IS_OP, Op::IsOp),
    (oc::JUMP_FORWARD, Op::Jump),
    (oc::LIST_APPEND, Op::ListAppend),
    (oc::LIST_EXTEND, Op::ListExtend),
    (oc::LOAD_ASSERTION_ERROR, Op::LoadAssertionError),
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
    (oc::RETURN_CONST, Op::ReturnConst),
    (oc::RETURN_GENERATOR, Op::ReturnGenerator),
    (oc::RETURN_VALUE, Op::ReturnValue),
    (oc::SEND, Op::Send),
    (oc::SETUP_ANNOTATIONS, Op::SetupAnnotations),
    (oc::SET_ADD, Op::SetAdd),
    (oc::SET_FUNCTION_ATTRIBUTE, Op::SetFunctionAttribute),
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
