//! A code object of CPython 3.13 as typed bytecode.
//!
//! The instructions come from the deoptimised copy that the interpreter makes (`co_code`), the hints from the adaptive
//! one, where both agree on the family. Superinstructions are taken apart, argument prefixes folded, caches skipped, jump
//! targets made instruction indexes. Positions are code units: `pos` of the opcode itself, `resume` of its first prefix.

#[cfg(test)]
mod tests;

use crate::abi::{self, code as layout, opcodes as oc};
use crate::owned::Owned;
use crate::{feedback, objects};
use cladonia::bytecode::{ArgKind, Code, Const, Handler, Instr, LocalKind, Op, Pc};
use pyo3_ffi::{self as ffi, Py_ssize_t, PyObject};

/// Why a code object was not decoded.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The object is no code object.
    #[error("not a code object")]
    NotCode,
    /// An opcode that has no place in a function.
    #[error("opcode {name} ({opcode}) at {position}")]
    Opcode {
        /// The opcode.
        opcode: u8,
        /// Its name.
        name: &'static str,
        /// Where it is, in code units.
        position: u32,
    },
    /// A jump to where no instruction begins.
    #[error("the jump at {position} has no instruction for a target")]
    Target {
        /// Where the jump is, in code units.
        position: u32,
    },
    /// The exception table can't be read.
    #[error("the exception table is malformed")]
    ExceptionTable,
    /// A name is no valid text.
    #[error("a name is not valid unicode")]
    Name,
    /// The interpreter had no memory for a copy of the code.
    #[error("out of memory")]
    Memory,
}

unsafe extern "C" {
    fn PyCode_GetCode(code: *mut PyObject) -> *mut PyObject;
}

/// Decodes a code object, with the hints its inline caches hold. [`Code::local_hints`] is left empty; see
/// [`feedback::live_types`].
///
/// # Errors
/// A [`DecodeError`] if the code is no compiler's.
///
/// # Safety
/// The GIL is held; the interpreter has been [validated](abi::validate).
pub unsafe fn decode(code: *mut PyObject) -> Result<Code, DecodeError> {
    // SAFETY: the GIL is held, the layout is known, and `code` holds all that is read here.
    unsafe {
        if ffi::Py_TYPE(code) != &raw mut ffi::PyCode_Type {
            return Err(DecodeError::NotCode);
        }
        let plain = Owned::take(PyCode_GetCode(code)).ok_or(DecodeError::Memory)?;
        let units = bytes_of(plain.as_ptr());
        let adaptive = code
            .byte_offset(layout::ADAPTIVE as isize)
            .cast::<u16>()
            .cast_const();
        let mut decoded = decode_units(units, |position, opcode| {
            let unit = adaptive.add(position as usize);
            let actual = unit.cast::<u8>().read();
            if actual != opcode && oc::general(actual) == opcode {
                feedback::hints(unit)
            } else {
                Vec::new()
            }
        })?;
        let object = |offset| abi::read::<*mut PyObject, _>(code, offset);
        let names = object(layout::NAMES);
        for instr in &mut decoded.instrs {
            let unit = adaptive.add(instr.pos as usize);
            // What a program has put together itself may name what there is not; that is found later.
            let is_named = (instr.arg as Py_ssize_t) < ffi::PyTuple_GET_SIZE(names);
            if instr.op == Op::LoadAttr && is_named && unit.cast::<u8>().read() == oc::LOAD_ATTR {
                let name = ffi::PyTuple_GET_ITEM(names, instr.arg as isize);
                instr.hint = feedback::asked_getter(unit, name);
            }
        }
        let int = |offset| abi::read::<i32, _>(code, offset) as u32;
        let handlers = decode_handlers(bytes_of(object(layout::EXCEPTION_TABLE)), &decoded)?;
        let lines = decode_lines(
            bytes_of(object(layout::LINETABLE)),
            int(layout::FIRSTLINENO),
            units.len() / 2,
        );
        for instr in &mut decoded.instrs {
            instr.line = lines[instr.pos as usize];
        }
        let kinds = bytes_of(object(layout::LOCALSPLUS_KINDS));
        let locals = strings(object(layout::LOCALSPLUS_NAMES))?;
        let flags = int(layout::FLAGS) as std::ffi::c_int;
        let has = |flag: std::ffi::c_int| flags & flag != 0;
        Ok(Code {
            name: lossy(object(layout::QUALNAME)),
            file: lossy(object(layout::FILENAME)),
            line: int(layout::FIRSTLINENO),
            argcount: int(layout::ARGCOUNT),
            kwonly: int(layout::KWONLYARGCOUNT),
            varargs: has(ffi::CO_VARARGS),
            varkeywords: has(ffi::CO_VARKEYWORDS),
            is_generator: has(ffi::CO_GENERATOR | ffi::CO_COROUTINE | ffi::CO_ASYNC_GENERATOR),
            globals: 0,
            optimized: has(ffi::CO_OPTIMIZED),
            locals: locals
                .into_iter()
                .zip(kinds.iter().map(|kind| local_kind(*kind)))
                .collect(),
            stacksize: int(layout::STACKSIZE),
            consts: constants(object(layout::CONSTS)),
            names: strings(object(layout::NAMES))?,
            instrs: decoded.instrs,
            handlers,
            local_hints: Vec::new(),
        })
    }
}

fn local_kind(kind: u8) -> LocalKind {
    let kind = i32::from(kind);
    if kind & layout::KIND_FREE != 0 {
        LocalKind::Free
    } else if kind & layout::KIND_CELL != 0 {
        LocalKind::Cell
    } else {
        LocalKind::Local
    }
}

/// Instructions, and which one begins at a code unit.
struct Decoded {
    instrs: Vec<Instr>,
    /// For each code unit (and the end): the instruction that begins there, argument prefixes included, or [`NOWHERE`].
    at_unit: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl Decoded {
    fn at(&self, unit: u32) -> Option<Pc> {
        self.at_unit
            .get(unit as usize)
            .copied()
            .filter(|index| *index != NOWHERE)
            .map(Pc)
    }
}

/// Decodes deoptimised code units. `hints` is asked with the position and the opcode of each instruction.
fn decode_units(
    bytes: &[u8],
    mut hints: impl FnMut(u32, u8) -> Vec<cladonia::types::Type>,
) -> Result<Decoded, DecodeError> {
    let units = bytes.len() / 2;
    let mut decoded = Decoded {
        instrs: Vec::with_capacity(units),
        at_unit: vec![NOWHERE; units + 1],
    };
    let mut unit = 0;
    while unit < units {
        let resume = unit;
        let mut arg = u32::from(bytes[2 * unit + 1]);
        while bytes[2 * unit] == oc::EXTENDED_ARG && unit + 1 < units {
            unit += 1;
            arg = arg << 8 | u32::from(bytes[2 * unit + 1]);
        }
        let opcode = bytes[2 * unit];
        let next = unit + 1 + usize::from(oc::CACHES[usize::from(opcode)]);
        let parts = translate(opcode, arg, next as u32).ok_or_else(|| DecodeError::Opcode {
            opcode,
            name: oc::name(opcode),
            position: unit as u32,
        })?;
        decoded.at_unit[resume..=unit].fill(decoded.instrs.len() as u32);
        let mut hint = hints(unit as u32, opcode);
        for (i, (op, arg, arg2)) in parts.into_iter().flatten().enumerate() {
            decoded.instrs.push(Instr {
                op,
                arg,
                arg2,
                pos: unit as u32,
                resume: resume as u32,
                resumable: i == 0,
                hint: std::mem::take(&mut hint),
                items: None,
                line: 0,
            });
        }
        unit = next;
    }
    for i in 0..decoded.instrs.len() {
        let instr = &decoded.instrs[i];
        if instr.op.info().arg == ArgKind::Target {
            let target = decoded.at(instr.arg).ok_or(DecodeError::Target {
                position: instr.pos,
            })?;
            decoded.instrs[i].arg = target.0;
        }
    }
    Ok(decoded)
}

/// What an instruction does, as one or two ops with their arguments; jump targets are code units still. `next` is the
/// unit after the instruction and its cache.
fn translate(opcode: u8, arg: u32, next: u32) -> Option<[Option<(Op, u32, u32)>; 2]> {
    let two = |first: Op, second: Op| [Some((first, arg >> 4, 0)), Some((second, arg & 15, 0))];
    let one = |op: Op, arg: u32, arg2: u32| [Some((op, arg, arg2)), None];
    Some(match opcode {
        oc::LOAD_FAST_LOAD_FAST => two(Op::LoadFast, Op::LoadFast),
        oc::STORE_FAST_LOAD_FAST => two(Op::StoreFast, Op::LoadFast),
        oc::STORE_FAST_STORE_FAST => two(Op::StoreFast, Op::StoreFast),
        oc::LOAD_GLOBAL => one(Op::LoadGlobal, arg >> 1, arg & 1),
        oc::LOAD_ATTR => one(Op::LoadAttr, arg >> 1, arg & 1),
        oc::LOAD_SUPER_ATTR => one(Op::LoadSuperAttr, arg >> 2, arg & 3),
        oc::COMPARE_OP => one(Op::CompareOp, arg >> 5, arg >> 4 & 1),
        oc::JUMP_BACKWARD => one(Op::JumpBackward, next.checked_sub(arg)?, 0),
        oc::JUMP_BACKWARD_NO_INTERRUPT => {
            one(Op::JumpBackwardNoInterrupt, next.checked_sub(arg)?, 0)
        }
        // The interpreter goes on behind END_FOR and POP_TOP, having popped the iterator itself.
        oc::FOR_ITER => one(Op::ForIter, next + arg + 2, 0),
        _ => {
            let op = plain(opcode)?;
            let info = op.info();
            match info.arg {
                ArgKind::None => one(op, 0, 0),
                ArgKind::Target => one(op, next + arg, 0),
                _ => one(op, arg, 0),
            }
        }
    })
}

/// The op of an opcode that is translated as it stands.
fn plain(opcode: u8) -> Option<Op> {
    PLAIN.iter().find(|row| row.0 == opcode).map(|row| row.1)
}

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

/// Decodes an exception table: entries of start, length, target, and depth with a flag, each a big-endian number of six
/// bits a byte.
fn decode_handlers(table: &[u8], code: &Decoded) -> Result<Vec<Handler>, DecodeError> {
    let mut bytes = table.iter().copied();
    let mut number = || {
        let mut byte = bytes.next()?;
        let mut value = u32::from(byte & 63);
        while byte & 64 != 0 {
            byte = bytes.next()?;
            value = value.checked_mul(64)? | u32::from(byte & 63);
        }
        Some(value)
    };
    let mut handlers = Vec::new();
    while let Some(start) = number() {
        let mut entry = || Some((start.checked_add(number()?)?, number()?, number()?));
        let (end, target, depth) = entry().ok_or(DecodeError::ExceptionTable)?;
        let at = |unit| code.at(unit).ok_or(DecodeError::ExceptionTable);
        let end = if end as usize + 1 == code.at_unit.len() {
            Pc(code.instrs.len() as u32)
        } else {
            at(end)?
        };
        handlers.push(Handler {
            start: at(start)?,
            end,
            target: at(target)?,
            depth: depth >> 1,
            lasti: depth & 1 != 0,
        });
    }
    Ok(handlers)
}

/// The line of each code unit, from a location table; 0 where there is none.
fn decode_lines(table: &[u8], first: u32, units: usize) -> Vec<u32> {
    /// Entries without a location, with columns only at the ends of a varint, and so on: see `Objects/locations.md`.
    const NO_LOCATION: u8 = 15;
    const LONG: u8 = 14;
    const NO_COLUMNS: u8 = 13;
    const ONE_LINE_0: u8 = 10;
    let mut lines = Vec::with_capacity(units);
    let mut line = i64::from(first);
    let mut at = 0;
    while at < table.len() && lines.len() < units {
        let (kind, length) = (table[at] >> 3 & 15, usize::from(table[at] & 7) + 1);
        at += 1;
        match kind {
            LONG | NO_COLUMNS => {
                let (mut value, mut shift) = (0_u64, 0);
                while let Some(byte) = table.get(at + shift / 6) {
                    value |= u64::from(byte & 63) << shift.min(58);
                    shift += 6;
                    if byte & 64 == 0 {
                        break;
                    }
                }
                line += if value & 1 != 0 {
                    -((value >> 1) as i64)
                } else {
                    (value >> 1) as i64
                };
            }
            ONE_LINE_0..=12 => line += i64::from(kind - ONE_LINE_0),
            _ => {}
        }
        let shown = if kind == NO_LOCATION {
            0
        } else {
            u32::try_from(line).unwrap_or(0)
        };
        lines.extend(std::iter::repeat_n(shown, length.min(units - lines.len())));
        // An entry's first byte is the only one with the high bit.
        while table.get(at).is_some_and(|byte| byte & 0x80 == 0) {
            at += 1;
        }
    }
    lines.resize(units, 0);
    lines
}

/// # Safety
/// The GIL is held; `tuple` is a tuple.
unsafe fn constants(tuple: *mut PyObject) -> Vec<Const> {
    // SAFETY: as the caller says.
    unsafe {
        items(tuple)
            .map(|object| Const {
                object: objects::object_handle(object),
                value: objects::const_value(object),
            })
            .collect()
    }
}

/// # Safety
/// The GIL is held; `tuple` is a tuple of strings.
unsafe fn strings(tuple: *mut PyObject) -> Result<Vec<String>, DecodeError> {
    // SAFETY: as the caller says.
    unsafe {
        items(tuple)
            .map(|name| objects::text(name).ok_or(DecodeError::Name))
            .collect()
    }
}

/// # Safety
/// The GIL is held; `tuple` is a tuple that outlives the iterator.
unsafe fn items(tuple: *mut PyObject) -> impl Iterator<Item = *mut PyObject> {
    // SAFETY: as the caller says.
    unsafe { (0..ffi::PyTuple_GET_SIZE(tuple)).map(move |i| ffi::PyTuple_GET_ITEM(tuple, i)) }
}

/// A string for people, with lone surrogates (of file names that are not UTF-8) escaped.
///
/// # Safety
/// The GIL is held; `string` is a `str`.
unsafe fn lossy(string: *mut PyObject) -> String {
    // SAFETY: as the caller says.
    unsafe {
        if let Some(text) = objects::text(string) {
            return text;
        }
        let bytes = Owned::take(ffi::PyUnicode_AsEncodedString(
            string,
            c"utf-8".as_ptr(),
            c"backslashreplace".as_ptr(),
        ));
        bytes.map_or_else(String::new, |bytes| {
            String::from_utf8_lossy(bytes_of(bytes.as_ptr())).into_owned()
        })
    }
}

/// # Safety
/// `object` is a `bytes` that outlives the slice.
unsafe fn bytes_of<'a>(object: *mut PyObject) -> &'a [u8] {
    // SAFETY: as the caller says.
    unsafe {
        let length = abi::read::<Py_ssize_t, _>(object, abi::object::VAR_SIZE) as usize;
        std::slice::from_raw_parts(object.byte_offset(abi::bytes::DATA as isize).cast(), length)
    }
}
