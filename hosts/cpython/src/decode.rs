//! A CPython 3.13 code object as typed bytecode.
//!
//! Superinstructions are taken apart, argument prefixes folded in, specialised and instrumented forms undone, and jump
//! targets made instruction indexes. The hints are added by [`crate::feedback`].

use crate::abi::{self, opcodes as op};
use crate::objects;
use cladonia::bytecode::{Code, Const, Handler, Instr, LocalKind, Op, Pc};
use cladonia::engine::CompileError;
use pyo3_ffi as ffi;
use pyo3_ffi::PyObject;

unsafe extern "C" {
    fn PyCode_GetCode(code: *mut PyObject) -> *mut PyObject;
    fn PyCode_Addr2Line(code: *mut PyObject, offset: i32) -> i32;
}

const CO_OPTIMIZED: i32 = 1;
const CO_VARARGS: i32 = 4;
const CO_VARKEYWORDS: i32 = 8;
/// Generators, coroutines and asynchronous generators.
const CO_GENERATORS: i32 = 0x20 | 0x80 | 0x200;

/// Decode `code`.
///
/// # Errors
/// If the interpreter can't give its code units, or they hold an opcode that 3.13 does not have.
///
/// # Safety
/// The GIL is held; `code` is a live code object.
pub unsafe fn decode(code: *mut PyObject) -> Result<Code, CompileError> {
    // SAFETY: as the caller says; every field read has the type of its table row.
    unsafe {
        let bytes = PyCode_GetCode(code);
        if bytes.is_null() {
            ffi::PyErr_Clear();
            return Err(CompileError::Internal("the code units cannot be read".into()));
        }
        let units = std::slice::from_raw_parts(
            ffi::PyBytes_AsString(bytes).cast::<u8>(),
            ffi::PyBytes_Size(bytes) as usize,
        )
        .to_vec();
        ffi::Py_DECREF(bytes);
        let field = |offset: i32| -> *mut PyObject { abi::read(code, offset) };
        let int = |offset: i32| -> i32 { abi::read(code, offset) };
        let flags = int(abi::code::FLAGS);
        let (instrs, index_of) = instructions(code, &units)?;
        let handlers = handlers(field(abi::code::EXCEPTION_TABLE), &index_of);
        let consts = items(field(abi::code::CONSTS))
            .map(|object| Const { object: objects::object_handle(object), value: objects::const_value(object) })
            .collect();
        let kinds = field(abi::code::LOCALSPLUS_KINDS);
        let kinds = std::slice::from_raw_parts(
            ffi::PyBytes_AsString(kinds).cast::<u8>(),
            ffi::PyBytes_Size(kinds) as usize,
        );
        let locals = items(field(abi::code::LOCALSPLUS_NAMES))
            .zip(kinds)
            .map(|(name, &kind)| {
                let kind = if kind & 0x80 != 0 {
                    LocalKind::Free
                } else if kind & 0x40 != 0 {
                    LocalKind::Cell
                } else {
                    LocalKind::Local
                };
                (text(name), kind)
            })
            .collect();
        Ok(Code {
            name: text(field(abi::code::QUALNAME)),
            file: text(field(abi::code::FILENAME)),
            line: int(abi::code::FIRSTLINENO) as u32,
            argcount: int(abi::code::ARGCOUNT) as u32,
            kwonly: int(abi::code::KWONLYARGCOUNT) as u32,
            varargs: flags & CO_VARARGS != 0,
            varkeywords: flags & CO_VARKEYWORDS != 0,
            is_generator: flags & CO_GENERATORS != 0,
            optimized: flags & CO_OPTIMIZED != 0,
            locals,
            stacksize: int(abi::code::STACKSIZE) as u32,
            consts,
            names: items(field(abi::code::NAMES)).map(|name| text(name)).collect(),
            instrs,
            handlers,
            local_hints: Vec::new(),
        })
    }
}

/// The items of a tuple.
unsafe fn items(tuple: *mut PyObject) -> impl Iterator<Item = *mut PyObject> {
    // SAFETY: the caller passes a live tuple of a code object, which owns its items.
    (0..unsafe { ffi::PyTuple_Size(tuple) }).map(move |i| unsafe { ffi::PyTuple_GetItem(tuple, i) })
}

/// A name's text; a lone surrogate makes it unprintable but no less unique.
unsafe fn text(name: *mut PyObject) -> String {
    // SAFETY: the caller passes a live string.
    unsafe { objects::text(name).unwrap_or_else(|| format!("<name at {name:p}>")) }
}

/// Which instruction starts at each code unit.
type IndexOf = Vec<Option<u32>>;

/// # Safety
/// `code` is a live code object, `units` its general code units.
unsafe fn instructions(code: *mut PyObject, units: &[u8]) -> Result<(Vec<Instr>, IndexOf), CompileError> {
    let n = units.len() / 2;
    let mut instrs: Vec<Instr> = Vec::with_capacity(n);
    let mut index_of: IndexOf = vec![None; n + 1];
    // Jumps: instruction and the code unit it goes to.
    let mut jumps: Vec<(usize, usize)> = Vec::new();
    let (mut at, mut arg, mut resume) = (0usize, 0u32, 0usize);
    while at < n {
        let opcode = units[2 * at];
        arg = arg << 8 | units[2 * at + 1] as u32;
        if opcode == op::EXTENDED_ARG {
            at += 1;
            continue;
        }
        let next = at + 1 + op::CACHES[opcode as usize] as usize;
        for unit in &mut index_of[resume..=at] {
            *unit = Some(instrs.len() as u32);
        }
        // SAFETY: as the caller says.
        let line = unsafe { PyCode_Addr2Line(code, 2 * at as i32) }.max(0) as u32;
        let mut push = |op: Op, arg: u32, arg2: u32, resumable: bool| {
            instrs.push(Instr {
                op,
                arg,
                arg2,
                pos: at as u32,
                resume: resume as u32,
                resumable,
                hint: Vec::new(),
                line,
            });
        };
        match simple(opcode) {
            Some(op) => push(op, arg, 0, true),
            None => match opcode {
                op::LOAD_FAST_LOAD_FAST => {
                    push(Op::LoadFast, arg >> 4, 0, true);
                    push(Op::LoadFast, arg & 15, 0, false);
                }
                op::STORE_FAST_LOAD_FAST => {
                    push(Op::StoreFast, arg >> 4, 0, true);
                    push(Op::LoadFast, arg & 15, 0, false);
                }
                op::STORE_FAST_STORE_FAST => {
                    push(Op::StoreFast, arg >> 4, 0, true);
                    push(Op::StoreFast, arg & 15, 0, false);
                }
                op::LOAD_GLOBAL => push(Op::LoadGlobal, arg >> 1, arg & 1, true),
                op::LOAD_ATTR => push(Op::LoadAttr, arg >> 1, arg & 1, true),
                op::LOAD_SUPER_ATTR => push(Op::LoadSuperAttr, arg >> 2, arg & 3, true),
                op::COMPARE_OP => push(Op::CompareOp, arg >> 5, arg >> 4 & 1, true),
                op::FOR_ITER => {
                    // The interpreter skips the loop's END_FOR and POP_TOP when the iterator is used up.
                    jumps.push((instrs.len(), next + arg as usize + 2));
                    instrs_push_jump(&mut instrs, Op::ForIter, at, resume, line);
                }
                _ => {
                    let Some((op, forward)) = jump(opcode) else {
                        return Err(CompileError::Internal(format!("unknown opcode {opcode}")));
                    };
                    let target = if forward { next + arg as usize } else { next.wrapping_sub(arg as usize) };
                    jumps.push((instrs.len(), target));
                    instrs_push_jump(&mut instrs, op, at, resume, line);
                }
            },
        }
        at = next;
        (arg, resume) = (0, next);
    }
    for (i, unit) in jumps {
        let target = index_of.get(unit).copied().flatten();
        instrs[i].arg = target.ok_or_else(|| CompileError::Internal("a jump outside the code".into()))?;
    }
    Ok((instrs, index_of))
}

fn instrs_push_jump(instrs: &mut Vec<Instr>, op: Op, at: usize, resume: usize, line: u32) {
    instrs.push(Instr {
        op,
        arg: 0,
        arg2: 0,
        pos: at as u32,
        resume: resume as u32,
        resumable: true,
        hint: Vec::new(),
        line,
    });
}

/// Jumps: the op, and whether it goes forward.
fn jump(opcode: u8) -> Option<(Op, bool)> {
    Some(match opcode {
        op::JUMP_FORWARD => (Op::Jump, true),
        op::JUMP_BACKWARD => (Op::JumpBackward, false),
        op::JUMP_BACKWARD_NO_INTERRUPT => (Op::JumpBackwardNoInterrupt, false),
        op::POP_JUMP_IF_FALSE => (Op::PopJumpIfFalse, true),
        op::POP_JUMP_IF_TRUE => (Op::PopJumpIfTrue, true),
        op::POP_JUMP_IF_NONE => (Op::PopJumpIfNone, true),
        op::POP_JUMP_IF_NOT_NONE => (Op::PopJumpIfNotNone, true),
        op::SEND => (Op::Send, true),
        _ => return None,
    })
}

/// Opcodes that are one op with the same argument.
fn simple(opcode: u8) -> Option<Op> {
    Some(match opcode {
        op::NOP | op::END_FOR | op::CACHE | op::RESERVED => {
            return Some(if opcode == op::END_FOR { Op::PopTop } else { Op::Nop });
        }
        op::RESUME => Op::Resume,
        op::POP_TOP => Op::PopTop,
        op::PUSH_NULL => Op::PushNull,
        op::COPY => Op::Copy,
        op::SWAP => Op::Swap,
        op::LOAD_CONST => Op::LoadConst,
        op::LOAD_FAST => Op::LoadFast,
        op::LOAD_FAST_CHECK => Op::LoadFastCheck,
        op::LOAD_FAST_AND_CLEAR => Op::LoadFastAndClear,
        op::STORE_FAST => Op::StoreFast,
        op::DELETE_FAST => Op::DeleteFast,
        op::LOAD_NAME => Op::LoadName,
        op::STORE_NAME => Op::StoreName,
        op::DELETE_NAME => Op::DeleteName,
        op::STORE_GLOBAL => Op::StoreGlobal,
        op::DELETE_GLOBAL => Op::DeleteGlobal,
        op::LOAD_LOCALS => Op::LoadLocals,
        op::LOAD_FROM_DICT_OR_GLOBALS => Op::LoadFromDictOrGlobals,
        op::LOAD_DEREF => Op::LoadDeref,
        op::STORE_DEREF => Op::StoreDeref,
        op::DELETE_DEREF => Op::DeleteDeref,
        op::LOAD_FROM_DICT_OR_DEREF => Op::LoadFromDictOrDeref,
        op::MAKE_CELL => Op::MakeCell,
        op::COPY_FREE_VARS => Op::CopyFreeVars,
        op::UNARY_NEGATIVE => Op::UnaryNegative,
        op::UNARY_NOT => Op::UnaryNot,
        op::UNARY_INVERT => Op::UnaryInvert,
        op::TO_BOOL => Op::ToBool,
        op::BINARY_OP => Op::BinaryOp,
        op::BINARY_SUBSCR => Op::BinarySubscr,
        op::STORE_SUBSCR => Op::StoreSubscr,
        op::DELETE_SUBSCR => Op::DeleteSubscr,
        op::BINARY_SLICE => Op::BinarySlice,
        op::STORE_SLICE => Op::StoreSlice,
        op::BUILD_SLICE => Op::BuildSlice,
        op::IS_OP => Op::IsOp,
        op::CONTAINS_OP => Op::ContainsOp,
        op::STORE_ATTR => Op::StoreAttr,
        op::DELETE_ATTR => Op::DeleteAttr,
        op::GET_ITER => Op::GetIter,
        op::GET_YIELD_FROM_ITER => Op::GetYieldFromIter,
        op::END_SEND => Op::EndSend,
        op::YIELD_VALUE => Op::YieldValue,
        op::RETURN_GENERATOR => Op::ReturnGenerator,
        op::RETURN_VALUE => Op::ReturnValue,
        op::RETURN_CONST => Op::ReturnConst,
        op::CALL => Op::Call,
        op::CALL_KW => Op::CallKw,
        op::CALL_FUNCTION_EX => Op::CallFunctionEx,
        op::CALL_INTRINSIC_1 => Op::CallIntrinsic1,
        op::CALL_INTRINSIC_2 => Op::CallIntrinsic2,
        op::BUILD_TUPLE => Op::BuildTuple,
        op::BUILD_LIST => Op::BuildList,
        op::BUILD_SET => Op::BuildSet,
        op::BUILD_MAP => Op::BuildMap,
        op::BUILD_CONST_KEY_MAP => Op::BuildConstKeyMap,
        op::BUILD_STRING => Op::BuildString,
        op::LIST_APPEND => Op::ListAppend,
        op::LIST_EXTEND => Op::ListExtend,
        op::SET_ADD => Op::SetAdd,
        op::SET_UPDATE => Op::SetUpdate,
        op::MAP_ADD => Op::MapAdd,
        op::DICT_UPDATE => Op::DictUpdate,
        op::DICT_MERGE => Op::DictMerge,
        op::UNPACK_SEQUENCE => Op::UnpackSequence,
        op::UNPACK_EX => Op::UnpackEx,
        op::FORMAT_SIMPLE => Op::FormatSimple,
        op::FORMAT_WITH_SPEC => Op::FormatWithSpec,
        op::CONVERT_VALUE => Op::ConvertValue,
        op::MAKE_FUNCTION => Op::MakeFunction,
        op::SET_FUNCTION_ATTRIBUTE => Op::SetFunctionAttribute,
        op::LOAD_BUILD_CLASS => Op::LoadBuildClass,
        op::LOAD_ASSERTION_ERROR => Op::LoadAssertionError,
        op::RAISE_VARARGS => Op::RaiseVarargs,
        op::RERAISE => Op::Reraise,
        op::PUSH_EXC_INFO => Op::PushExcInfo,
        op::POP_EXCEPT => Op::PopExcept,
        op::CHECK_EXC_MATCH => Op::CheckExcMatch,
        op::CHECK_EG_MATCH => Op::CheckEgMatch,
        op::WITH_EXCEPT_START => Op::WithExceptStart,
        op::BEFORE_WITH => Op::BeforeWith,
        op::BEFORE_ASYNC_WITH => Op::BeforeAsyncWith,
        op::GET_AWAITABLE => Op::GetAwaitable,
        op::GET_AITER => Op::GetAiter,
        op::GET_ANEXT => Op::GetAnext,
        op::END_ASYNC_FOR => Op::EndAsyncFor,
        op::CLEANUP_THROW => Op::CleanupThrow,
        op::IMPORT_NAME => Op::ImportName,
        op::IMPORT_FROM => Op::ImportFrom,
        op::MATCH_CLASS => Op::MatchClass,
        op::MATCH_KEYS => Op::MatchKeys,
        op::MATCH_MAPPING => Op::MatchMapping,
        op::MATCH_SEQUENCE => Op::MatchSequence,
        op::GET_LEN => Op::GetLen,
        op::SETUP_ANNOTATIONS => Op::SetupAnnotations,
        op::EXIT_INIT_CHECK => Op::ExitInitCheck,
        op::INTERPRETER_EXIT => Op::InterpreterExit,
        _ => return None,
    })
}

/// The exception table as instruction ranges.
///
/// # Safety
/// `table` is a live bytes object.
unsafe fn handlers(table: *mut PyObject, index_of: &IndexOf) -> Vec<Handler> {
    // SAFETY: as the caller says.
    let bytes = unsafe {
        std::slice::from_raw_parts(ffi::PyBytes_AsString(table).cast::<u8>(), ffi::PyBytes_Size(table) as usize)
    };
    let mut at = 0;
    let mut varint = || {
        let mut value = 0u32;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            value = value << 6 | (byte & 63) as u32;
            if byte & 64 == 0 {
                return Some(value);
            }
        }
        None
    };
    let pc = |unit: u32| index_of.get(unit as usize).copied().flatten().map(Pc);
    let last = Pc(index_of.iter().flatten().max().map_or(0, |m| m + 1));
    let mut handlers = Vec::new();
    while let (Some(start), Some(size), Some(target), Some(depth)) = (varint(), varint(), varint(), varint()) {
        if let (Some(from), Some(target)) = (pc(start), pc(target)) {
            let end = pc(start + size).unwrap_or(last);
            handlers.push(Handler { start: from, end, target, depth: depth >> 1, lasti: depth & 1 != 0 });
        }
    }
    handlers
}
