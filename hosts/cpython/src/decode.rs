//! Decodes a code object of CPython to typed bytecode.
//!
//! The instructions come from the deoptimised copy that the interpreter makes (`co_code`), the
//! hints from the adaptive one, where both agree on the family. The [version's
//! module](crate::abi::instructions) translates an instruction into ops; here jump targets become
//! instruction indexes. Positions are code units: `pos` of the opcode itself, `resume` of its first
//! prefix.

#[cfg(test)]
mod tests;

use crate::abi::{self, code as layout, instructions, tables};
use crate::owned::Owned;
use crate::{feedback, objects};
use cladonia::bytecode::{ArgKind, Code, Const, Handler, Instr, LocalKind, Op, Pc};
use pyo3_ffi::{self as ffi, Py_ssize_t, PyObject};
use rustc_hash::FxHashMap;

/// The reason why a code object was not decoded.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The object is no code object.
    #[error("not a code object")]
    NotCode,
    /// An opcode that cannot occur in a function.
    #[error("opcode {name} ({opcode}) at {position}")]
    Opcode {
        /// The opcode.
        opcode: u8,
        /// Its name.
        name: &'static str,
        /// Its position, in code units.
        position: u32,
    },
    /// A jump target that is not the start of an instruction.
    #[error("the jump at {position} has no instruction for a target")]
    Target {
        /// The position of the jump, in code units.
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

/// Decodes a code object, with the hints from its inline caches. [`Code::local_hints`] is left
/// empty; see [`feedback::live_types`].
///
/// # Errors
/// A [`DecodeError`] if the code does not come from a compiler.
///
/// # Safety
/// The caller has the GIL; the interpreter has been [validated](abi::validate).
pub unsafe fn decode(code: *mut PyObject) -> Result<Code, DecodeError> {
    // SAFETY: this thread has the GIL, the layout is known, and `code` keeps alive all that is read
    // here.
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
            feedback::hints(adaptive.add(position as usize), opcode)
        })?;
        let object = |offset| abi::read::<*mut PyObject, _>(code, offset);
        let names = object(layout::NAMES);
        for instr in &mut decoded.instrs {
            let unit = adaptive.add(instr.pos as usize);
            // Code that a program has assembled itself may use names that do not exist; the
            // verifier reports that later.
            let is_named = (instr.arg as Py_ssize_t) < ffi::PyTuple_GET_SIZE(names);
            if instr.op == Op::LoadAttr && is_named && instr.hint.is_empty() {
                let name = ffi::PyTuple_GET_ITEM(names, instr.arg as isize);
                instr.hint = feedback::unspecialised_getter(unit, name);
            }
        }
        let mut consts = constants(object(layout::CONSTS));
        add_implicit(&mut decoded.instrs, &mut consts);
        let int = |offset| abi::read::<i32, _>(code, offset) as u32;
        let handlers = decode_handlers(bytes_of(object(layout::EXCEPTION_TABLE)), &decoded)?;
        let lines = tables::lines(
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
            is_coroutine: has(ffi::CO_COROUTINE | ffi::CO_ASYNC_GENERATOR),
            globals: 0,
            last_first: instructions::LAST_FIRST,
            operators_last_first: instructions::OPERATORS_LAST_FIRST,
            optimized: has(ffi::CO_OPTIMIZED),
            locals: locals
                .into_iter()
                .zip(kinds.iter().map(|kind| local_kind(*kind)))
                .collect(),
            stacksize: int(layout::STACKSIZE),
            consts,
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

/// Instructions, and the one that begins at each code unit.
#[derive(PartialEq, Debug)]
pub(crate) struct Decoded {
    pub instrs: Vec<Instr>,
    /// For each code unit (and the end): the instruction that begins there, argument prefixes
    /// included, or [`NOWHERE`].
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

/// Decodes deoptimised code units. `hints` is called with the position and the opcode of each
/// instruction.
pub(crate) fn decode_units(
    bytes: &[u8],
    mut hints: impl FnMut(u32, u8) -> Vec<cladonia::types::Type>,
) -> Result<Decoded, DecodeError> {
    let units = bytes.len() / 2;
    let mut decoded = Decoded {
        instrs: Vec::with_capacity(units),
        at_unit: vec![NOWHERE; units + 1],
    };
    for found in instructions::instructions(bytes) {
        let parts = found.lower().ok_or_else(|| DecodeError::Opcode {
            opcode: found.opcode,
            name: instructions::name(found.opcode),
            position: found.pos,
        })?;
        decoded.at_unit[found.resume as usize..=found.pos as usize]
            .fill(decoded.instrs.len() as u32);
        let mut hint = hints(found.pos, found.opcode);
        for (i, (op, arg, arg2)) in parts.into_iter().flatten().enumerate() {
            decoded.instrs.push(Instr {
                op,
                arg,
                arg2,
                pos: found.pos,
                resume: found.resume,
                resumable: i == 0,
                hint: std::mem::take(&mut hint),
                items: None,
                line: 0,
            });
        }
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

/// The handlers of an exception table, except those that need the position of the raising
/// instruction in a form that is no object: the interpreter runs those.
pub(crate) fn decode_handlers(table: &[u8], code: &Decoded) -> Result<Vec<Handler>, DecodeError> {
    let at = |unit| code.at(unit).ok_or(DecodeError::ExceptionTable);
    let handler = |entry: Result<tables::HandlerEntry, _>| {
        let entry = entry.map_err(|_| DecodeError::ExceptionTable)?;
        let end = if entry.end as usize + 1 == code.at_unit.len() {
            Pc(code.instrs.len() as u32)
        } else {
            at(entry.end)?
        };
        Ok(Handler {
            start: at(entry.start)?,
            end,
            target: at(entry.target)?,
            depth: entry.depth,
            lasti: entry.lasti,
        })
    };
    let known = |handler: &Result<Handler, _>| {
        let position = handler.as_ref().is_ok_and(|handler| handler.lasti);
        !position || abi::slots::POSITIONS_ARE_OBJECTS
    };
    tables::handlers(table).map(handler).filter(known).collect()
}

/// Adds the constants that instructions load implicitly to those of the code, and makes the
/// instructions load them from there.
///
/// # Safety
/// The caller has the GIL.
unsafe fn add_implicit(instrs: &mut [Instr], consts: &mut Vec<Const>) {
    let mut places = FxHashMap::default();
    for instr in instrs.iter_mut().filter(|instr| instr.op == Op::LoadConst) {
        // SAFETY: as the caller says; the objects live forever.
        let Some(object) = (unsafe { instructions::implicit_constant(instr.arg) }) else {
            continue;
        };
        instr.arg = *places.entry(instr.arg).or_insert_with(|| {
            // SAFETY: the same.
            consts.push(unsafe { constant(object) });
            consts.len() as u32 - 1
        });
    }
}

/// # Safety
/// The caller has the GIL.
unsafe fn constant(object: *mut PyObject) -> Const {
    // SAFETY: as the caller says.
    unsafe {
        Const {
            object: objects::object_handle(object),
            value: objects::const_value(object),
        }
    }
}

/// # Safety
/// The caller has the GIL; `tuple` is a tuple.
unsafe fn constants(tuple: *mut PyObject) -> Vec<Const> {
    // SAFETY: as the caller says.
    unsafe { items(tuple).map(|object| constant(object)).collect() }
}

/// # Safety
/// The caller has the GIL; `tuple` is a tuple of strings.
unsafe fn strings(tuple: *mut PyObject) -> Result<Vec<String>, DecodeError> {
    // SAFETY: as the caller says.
    unsafe {
        items(tuple)
            .map(|name| objects::text(name).ok_or(DecodeError::Name))
            .collect()
    }
}

/// # Safety
/// The caller has the GIL; `tuple` is a tuple that outlives the iterator.
unsafe fn items(tuple: *mut PyObject) -> impl Iterator<Item = *mut PyObject> {
    // SAFETY: as the caller says.
    unsafe { (0..ffi::PyTuple_GET_SIZE(tuple)).map(move |i| ffi::PyTuple_GET_ITEM(tuple, i)) }
}

/// A string for messages, with lone surrogates (of file names that are not UTF-8) escaped.
///
/// # Safety
/// The caller has the GIL; `string` is a `str`.
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
