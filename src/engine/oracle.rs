//! Oracle mode: units run in the LIR interpreter in place of machine code.
//!
//! Each function that would have been compiled gets a **stub** of machine code with the same
//! signature: it stores its arguments, calls [`run`] with the function, and loads the results. So
//! nothing changes for the host and for other units: entries are addresses, exits call the same
//! hook with the same records. The code generator only generates stubs; the interpreter executes
//! the unit's LIR.
//!
//! A [trap](crate::lir::interp::Trap) ends the process with the place in LIR: machine code would
//! continue with an undefined result, or crash.

use super::error::{CompileError, CompileFault};
use crate::exits::{EXITING, ExitId};
use crate::host::Host;
use crate::lir::interp::{Native, Outcome, Trap, call_address, check_signature, execute};
use crate::lir::{Builder, Func, HelperId, Imm, IntCond, Signature};
use crate::ll::{Ty, Width};
use cranelift_entity::EntityRef;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The form of execution: machine code or the LIR interpreter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Execution {
    /// Machine code.
    #[default]
    Machine,
    /// The LIR interpreter: slow, and independent of code generation.
    Oracle,
}

/// A planted fault, which a comparison of executions must find. For tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Planted {
    /// `lower` exchanges the operands of an integer subtraction.
    Lowering,
    /// The code generator exchanges them.
    Codegen,
}

/// Counts of an engine's oracle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OracleCounts {
    /// Functions created: one per unit, two for a closed one.
    pub units: u64,
    /// The number of entries, from outside or from another function.
    pub entries: u64,
}

/// The counters behind [`OracleCounts`].
#[derive(Debug, Default)]
pub(super) struct Counters {
    units: AtomicU64,
    entries: AtomicU64,
}

impl Counters {
    pub(super) fn add_unit(&self) {
        self.units.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> OracleCounts {
        OracleCounts {
            units: self.units.load(Ordering::Relaxed),
            entries: self.entries.load(Ordering::Relaxed),
        }
    }
}

/// Checks that the interpreter can make all calls of a function.
///
/// # Errors
/// A call that it can't make is [unsupported](CompileError::is_unsupported); the function is left
/// out.
pub(super) fn check_calls(func: &Func, host: &Host) -> Result<(), CompileError> {
    let insts = func.blocks.values().flat_map(|data| &data.insts);
    let helpers = insts.filter_map(|inst| match inst.imm {
        Imm::Helper(id) => host.helpers.get(id).map(|helper| &helper.signature),
        _ => None,
    });
    let routines = func.routines.values().map(|routine| &routine.signature);
    for signature in helpers.chain(func.sigs.values()).chain(routines) {
        check_signature(signature).map_err(|error| {
            let what = format!("in the LIR interpreter, a call where {error}");
            CompileFault::Unsupported { what, line: 0 }
        })?;
    }
    Ok(())
}

/// A function that is interpreted. Its address is in its stub, so it must live as long as the stub.
pub struct Interpreted {
    func: Func,
    host: Arc<Host>,
    hook: Option<HelperId>,
    token: u64,
    counters: Arc<Counters>,
}

impl Interpreted {
    pub(super) fn new(
        func: Func,
        host: Arc<Host>,
        hook: Option<HelperId>,
        token: u64,
        counters: Arc<Counters>,
    ) -> Arc<Interpreted> {
        Arc::new(Interpreted {
            func,
            host,
            hook,
            token,
            counters,
        })
    }

    /// The stub: the function's signature, with [`run`] behind it.
    pub(super) fn stub(&self) -> Func {
        let signature = self.func.signature.clone();
        let mut stub = Func::new(format!("oracle of {}", self.func.name), signature);
        let params = stub.params().to_vec();
        let results = stub.signature.results.clone();
        let mut b = Builder::new(&mut stub);
        let args = b.slot(8 * params.len().max(1) as u32);
        let out = b.slot(16);
        let (args, out) = (b.stack_addr(args), b.stack_addr(out));
        for (n, &param) in params.iter().enumerate() {
            let (width, word) = match b.func.values[param] {
                Ty::Bool => (Width::I64, b.op(crate::lir::Opcode::B2i, &[param])),
                Ty::I64 => (Width::I64, param),
                Ty::F64 => (Width::F64, param),
                Ty::Ptr => (Width::Ptr, param),
            };
            b.store(width, args, 8 * n as i32, word);
        }
        let this = b.pconst((&raw const *self).expose_provenance() as u64);
        let callee = b.pconst((run as *const ()).expose_provenance() as u64);
        let sig = Signature::new(&[Ty::Ptr, Ty::Ptr, Ty::Ptr], &[]);
        b.call_indirect(sig, callee, &[this, args, out]);
        let results: Vec<_> = (0..)
            .zip(results)
            .map(|(n, ty)| match ty {
                Ty::Bool => {
                    let word = b.load(Width::I64, out, 8 * n);
                    b.icmp_imm(IntCond::Ne, word, 0)
                }
                Ty::I64 => b.load(Width::I64, out, 8 * n),
                Ty::F64 => b.load(Width::F64, out, 8 * n),
                Ty::Ptr => b.load(Width::Ptr, out, 8 * n),
            })
            .collect();
        b.ret(&results);
        stub
    }

    fn execute(&self, args: &[u64]) -> Result<Vec<u64>, String> {
        self.counters.entries.fetch_add(1, Ordering::Relaxed);
        let mut leave = |exit: ExitId, words: Vec<u64>| self.leave(exit, words);
        // SAFETY: this LIR was generated to run as machine code in this place: the host and the
        // compiler guarantee its accesses and calls.
        let mut machine = unsafe { Native::new() }.on_exit(&mut leave);
        match execute(&self.func, &self.host.helpers, args, &mut machine) {
            Ok(Outcome::Return(words)) => Ok(words),
            Ok(Outcome::Fail | Outcome::Exit { .. }) => Err("a unit fails".to_owned()),
            Err(fault) => Err(fault.to_string()),
        }
    }

    /// The action of an exit: the hook receives the words, and returns the result.
    fn leave(&self, exit: ExitId, words: Vec<u64>) -> Result<Outcome, Trap> {
        let hook = self
            .hook
            .ok_or(Trap::Malformed("a function without exit hook exits"))?;
        let hook = &self.host.helpers[hook];
        let buffer = words.as_ptr().expose_provenance() as u64;
        let args = [self.token, exit.index() as u64, buffer];
        // SAFETY: the hook's signature is checked when the host is described; the buffer has the
        // record's words.
        let results = unsafe { call_address(hook.address as u64, &hook.signature, &args) }?;
        Ok(Outcome::Return(match self.func.signature.results[..] {
            // A raw call: the hook has only recorded the exit.
            [_, _] => vec![EXITING.cast_unsigned(), 0],
            _ => vec![results[0]],
        }))
    }
}

impl std::fmt::Debug for Interpreted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interpreted")
            .field("func", &self.func.name)
            .finish_non_exhaustive()
    }
}

/// The function that stubs call.
///
/// # Safety
/// `this` is alive; `args` has a word for each parameter of its function, `out` two.
unsafe extern "C" fn run(this: *const Interpreted, args: *const u64, out: *mut u64) {
    // SAFETY: the caller guarantees valid pointers.
    let (this, args) = unsafe {
        let this = &*this;
        let count = this.func.signature.params.len();
        (this, std::slice::from_raw_parts(args, count))
    };
    match this.execute(args) {
        Ok(words) => {
            for (n, word) in words.into_iter().enumerate() {
                // SAFETY: the caller guarantees two words, and a function has at most two results.
                unsafe { out.add(n).write(word) };
            }
        }
        Err(what) => {
            eprintln!("cladonia: the LIR interpreter can't go on: {what}");
            std::process::abort();
        }
    }
}
