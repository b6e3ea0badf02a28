//! `cladonia.annotate`: the annotation engine's results for a function and the functions that it
//! can reach.
//!
//! The known program is the function, the functions that names of its module refer to now,
//! recursively, and the code objects inside them. Everything else is unknown: other names of the
//! module, functions of other modules, and functions with defaults, keyword-only parameters or a
//! closure.

use crate::abi;
use crate::capi::{Obj, field};
use crate::decode;
use crate::objects;
use cladonia::bytecode::Code;
use cladonia::engine::inference::{FuncId, Options, Program, Start, analyse};
use cladonia::types::{Names, Predefined, Type};
use pyo3_ffi::*;
use std::collections::HashMap;
use std::ffi::CString;

/// Bindings and annotations of the program reachable from a function, for arguments of these types
/// (as text, one per line).
///
/// # Errors
/// The reason why there are none.
///
/// # Safety
/// The caller has the GIL, the interpreter validated; `func` is a Python function.
pub unsafe fn annotate(func: Obj, types: &str) -> Result<String, String> {
    let names = Names::of(objects::host());
    let read = |text: &str| Type::parse(text, &names).map_err(|e| format!("`{text}`: {e}"));
    let types: Vec<Type> = types.lines().map(read).collect::<Result<_, _>>()?;
    // SAFETY: the caller's promise; a function keeps its globals alive, and they their values while
    // no Python code runs.
    unsafe {
        let mut world = KnownWorld {
            program: Program::default(),
            globals: field(func, abi::function::GLOBALS),
            functions: HashMap::new(),
        };
        let function = world.code(field(func, abi::function::CODE))?;
        world.program.bind(objects::object_handle(func), function);
        let start = Start {
            function,
            types: &types,
        };
        let analysis = analyse(&world.program, &[start], &Options::default());
        Ok(analysis.print(false))
    }
}

struct KnownWorld {
    program: Program,
    globals: Obj,
    /// By the address of their code.
    functions: HashMap<usize, FuncId>,
}

impl KnownWorld {
    /// Adds a code object, with those inside it and those of the functions that its names refer to.
    unsafe fn code(&mut self, code: Obj) -> Result<FuncId, String> {
        if let Some(&known) = self.functions.get(&(code as usize)) {
            return Ok(known);
        }
        // SAFETY: as for `annotate`; the code object owns its constants.
        unsafe {
            let decoded = decode::decode(code).map_err(|e| e.to_string())?;
            let id = self.program.add_code(&decoded)?;
            self.functions.insert(code as usize, id);
            for constant in &decoded.consts {
                let class = constant.object.class().and_then(|class| class.predefined());
                if class == Some(Predefined::Code)
                    && let Ok(inner) = self.code(objects::object_ptr(constant.object))
                {
                    self.program.bind(constant.object, inner);
                }
            }
            self.names(&decoded);
            Ok(id)
        }
    }

    /// Adds the functions that names of the module refer to.
    unsafe fn names(&mut self, code: &Code) {
        for name in &code.names {
            let Ok(key) = CString::new(name.as_str()) else {
                continue;
            };
            // SAFETY: as for `annotate`; the value is borrowed from the globals.
            unsafe {
                let value = PyDict_GetItemString(self.globals, key.as_ptr());
                if value.is_null() {
                    continue;
                }
                let known = if self.is_followed(value) {
                    self.code(field(value, abi::function::CODE)).ok()
                } else {
                    None
                };
                match known {
                    Some(id) => {
                        self.program.bind(objects::object_handle(value), id);
                        self.program.global(name, id);
                    }
                    None => self.program.unknown_global(name),
                }
            }
        }
    }

    /// True for a function whose calls show all its arguments.
    unsafe fn is_followed(&self, object: Obj) -> bool {
        // SAFETY: a live object.
        unsafe {
            let is_null = |offset| field::<Obj>(object, offset).is_null();
            Py_TYPE(object) == &raw mut PyFunction_Type
                && field::<Obj>(object, abi::function::GLOBALS) == self.globals
                && is_null(abi::function::DEFAULTS)
                && is_null(abi::function::KWDEFAULTS)
                && is_null(abi::function::CLOSURE)
        }
    }
}
