//! The start of the runtime: the compiler with its description of the host, and the functions that
//! translate the interpreter's objects into the compiler's input.

use super::capi::Object;
use super::compiler::Front;
use super::{Gil, api, chunks, closed, exits, frames, generators};
use crate::world::{CPythonWorld, Known};
use crate::{abi, decode, feedback, helpers, intrinsics, objects};
use cladonia::bytecode::Code;
use cladonia::code::{CodeMemory, Config};
use cladonia::engine::{CompileError, Engine};
use cladonia::host::{CALL_BOXED, EXIT_HOOK, Host, RECORD_EXIT, RESUME_EXITS, World};
use cladonia::ll::Ty;
use cladonia::types::Type;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Maximum bytes of machine code, reserved as address space: twice the amount that CPython's
/// largest test files need when everything is compiled.
const CODE_MEMORY: usize = 256 << 20;

/// Starts the runtime.
///
/// # Errors
/// One line with the reason why the JIT cannot work in this process.
///
/// # Safety
/// Called once, with the GIL and no exception pending.
pub unsafe fn start(gil: Gil, not_compiled: Object) -> Result<(), String> {
    // SAFETY: the caller's promise.
    unsafe {
        abi::validate().map_err(|e| e.to_string())?;
        objects::register_builtins();
        let word: u64 = super::capi::get(super::capi::current_thread(), frames::STACK_WORD);
        if abi::tier2::is_on() || word != 0 {
            return Err(
                "CPython's own experimental JIT compiler is on; turn it off with PYTHON_JIT=0"
                    .to_owned(),
            );
        }
        objects::tracking::find()?;
        generators::start()?;
        chunks::keep_blocks();
        let original = api::pristine_vectorcall().ok_or("cannot create a function")?;
        helpers::ORIGINAL_VECTORCALL.store(original as usize, Ordering::Relaxed);
        intrinsics::look_around();
        let memory =
            CodeMemory::new(Config::new().limit(CODE_MEMORY)).map_err(|e| e.to_string())?;
        let front = Front {
            make,
            translate,
            live_type,
            world,
        };
        super::start(gil, memory, front, original, not_compiled);
        Ok(())
    }
}

/// The compiler, with its description of this interpreter.
fn make(memory: CodeMemory) -> Result<Engine, String> {
    let exit = (
        EXIT_HOOK,
        exits::exit as *const () as usize,
        &[Ty::I64, Ty::I64, Ty::Ptr][..],
        &[Ty::Ptr][..],
    );
    let record = (
        RECORD_EXIT,
        closed::record_exit as *const () as usize,
        &[Ty::I64, Ty::I64, Ty::Ptr][..],
        &[Ty::Ptr][..],
    );
    let resume = (
        RESUME_EXITS,
        closed::resume_exits as *const () as usize,
        &[Ty::Ptr, Ty::I64][..],
        &[Ty::Ptr][..],
    );
    let boxed = (
        CALL_BOXED,
        closed::call_boxed as *const () as usize,
        &[Ty::Ptr, Ty::Ptr, Ty::Ptr, Ty::I64, Ty::I64, Ty::I64][..],
        &[Ty::Ptr][..],
    );
    let host = intrinsics::describe(&[exit, record, resume, boxed]).map_err(|e| e.to_string())?;
    Engine::new(Arc::new(host), memory).map_err(|e| e.to_string())
}

fn translate(code: Object, _globals: Object, _builtins: Object) -> Result<Code, CompileError> {
    // SAFETY: a live code object, with the GIL.
    unsafe { decode::decode(code) }.map_err(|e| CompileError::internal(e.to_string()))
}

fn live_type(value: Object) -> Type {
    // SAFETY: null or a live object, with the GIL.
    unsafe { feedback::live_types(&[value])[0] }
}

fn world<'a>(
    host: &Host,
    code: Object,
    globals: Object,
    builtins: Object,
    known: Known<'a>,
) -> Box<dyn World + 'a> {
    // SAFETY: the code and the namespaces are alive as long as the function that is compiled.
    Box::new(unsafe { CPythonWorld::new(host, code, globals, builtins, known) })
}
