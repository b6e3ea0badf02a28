//! Code generation: LIR to Cranelift IR to bytes. Its only input is LIR.
//!
//! # The translation
//! LIR is in SSA form with block parameters, like Cranelift's IR. So each function is translated in
//! one walk in reverse postorder (definitions before uses), without Cranelift's front end.
//! Cranelift selects instructions and allocates registers; it does not optimise, because that is
//! done on HIR. `cranelift-jit` links each function as a module of its own over the pages of
//! [`CodeMemory`].
//!
//! # Exits
//! All exits with the same types of values share one cold block. Its parameters are the exit's
//! number and the values. The thread and the frame, which are the same for nearly all, and values
//! that are only loaded from those, are left out: the block loads those itself. It stores the
//! values to a buffer on the stack, one word each, and calls the exit hook. So a guard costs a
//! comparison, a branch, and in the cold part the moves of its values.
//!
//! # References
//! For a host whose objects are traced ([`Codegen::with_stack_maps`]), the values of [`lir::Refs`]
//! are declared to Cranelift's front end, whose safepoint pass spills each that lives across a call
//! and reads it again afterwards. Before a call that may collect, the stack pointer is stored into
//! the thread's [`NativeStack`](crate::code::NativeStack), and every such call has a [`FrameMap`].
//! A frame has one more word, which marks these calls for Cranelift: it keeps a map (and with it
//! the frame's size) only if the map has an entry.
//!
//! # Calls in the cold parts of loops
//! The C convention lets a call change all floating-point registers. So a value that lives across a
//! loop with a call in it is spilled in each iteration, though the call is rarely executed.
//! Therefore the cold blocks of a loop that makes no other calls call helpers through a register
//! guard, a function that keeps all registers ([`guarded`]), compiled once for each helper.
//!
//! # Calls of routines
//! The register allocator's time also grows with the number of registers that calls may change: it
//! notes each of them for each call. So short routines have a convention that changes half as many
//! ([`lir::RoutineRef::keeps_most`]), and call helpers in their own cold blocks through guards. (A
//! convention that changes none is slower again, since all values then compete for the registers.)
//!
//! # Invariants
//! - No input causes a panic: if Cranelift refuses the input, or panics, the result is a
//!   [`CodegenError`].
//! - Emitted code refers only to the addresses in LIR and the helpers; it needs no tables at run
//!   time.
//!
//! # Addresses
//! Cranelift's input has names in place of addresses, so its output is a body that is patched where
//! it is placed. A [`Cache`] keeps bodies by a key of their whole input, mainly the function with
//! numbers in place of addresses: if a function is the same as an earlier one, in this process or
//! another, its code is not generated again. (Text forms show addresses, and are generated without
//! the cache.)

mod addresses;
mod body;
mod cache;
mod emit;
mod exits;
mod guarded;
mod key;
mod ops;
mod text;

use crate::code::{CodeMemory, CodeMemoryError, FrameMap, Provider, UnitPages};
use crate::lir::{self, Block, Helper, HelperId};
use addresses::Addresses;
use body::Body;
pub use cache::{Cache, CacheCounts, Store};
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{Signature, Type, UserStackMap, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_entity::PrimaryMap;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, ModuleError, ModuleReloc};
use emit::{Declared, Emitter, Scratch};
pub use guarded::{Guards, guarded};
pub use key::{Key, fingerprint};
use siphasher::sip128::SipHasher13;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The input of a compile.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The function: a unit, so without [`lir::Term::Fail`].
    pub func: &'a lir::Func,
    /// The host's helpers.
    pub helpers: &'a PrimaryMap<HelperId, Helper>,
    /// The helper that exits call: `(unit: i64, exit: i64, buffer: ptr) -> ptr`. Required if the
    /// function has an exit.
    pub exit_hook: Option<HelperId>,
    /// The token that is passed to the exit hook.
    pub unit: u64,
    /// True to keep the text forms. Then the code makes no near calls, so that its text does not
    /// depend on its place.
    pub want_text: bool,
    /// The [register guards](guarded) of helpers, if there are any.
    pub guarded: Option<Guards<'a>>,
    /// True if the function keeps every register for its caller. It has no results then.
    pub keeps_registers: bool,
    /// True if it keeps most registers ([`lir::RoutineRef::keeps_most`]). Its cold blocks make
    /// calls through guards, if there are some, so that it saves registers there alone.
    pub keeps_most: bool,
    /// True to generate the code even if a [`Cache`] has it.
    pub is_fresh: bool,
}

impl<'a> Input<'a> {
    /// A function without exits, without text forms, that uses the C convention.
    pub fn new(func: &'a lir::Func, helpers: &'a PrimaryMap<HelperId, Helper>) -> Input<'a> {
        Input {
            func,
            helpers,
            exit_hook: None,
            unit: 0,
            want_text: false,
            guarded: None,
            keeps_registers: false,
            keeps_most: false,
            is_fresh: false,
        }
    }
}

/// The reason why no code was generated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CodegenError {
    /// Cranelift does not support this machine.
    #[error("no code generator for this machine: {0}")]
    Machine(String),
    /// A unit has a `fail`, which only an intrinsic may have.
    #[error("{block} of `{func}` ends in `fail`, which only intrinsics may")]
    Fail {
        /// The function.
        func: String,
        /// The block.
        block: Block,
    },
    /// A function with exits, but without a hook.
    #[error("`{func}` has exits but there is no exit hook to call")]
    NoExitHook {
        /// The function.
        func: String,
    },
    /// The exit hook has a wrong signature, or the function returns another type than the hook.
    #[error("{what} must be {expected}")]
    ExitSignature {
        /// The fault.
        what: String,
        /// The requirement.
        expected: &'static str,
    },
    /// The LIR verifier found faults. It runs in debug builds only.
    #[error(transparent)]
    Verifier(#[from] lir::VerifierErrors),
    /// The function is not well-formed.
    #[error("malformed LIR function `{func}`: {what}")]
    Malformed {
        /// The function.
        func: String,
        /// The fault.
        what: String,
    },
    /// The function is larger than Cranelift takes.
    #[error("`{func}` is too large for the code generator")]
    TooLarge {
        /// The function.
        func: String,
    },
    /// There is no memory for the code.
    #[error(transparent)]
    Memory(#[from] CodeMemoryError),
    /// Any other failure of Cranelift.
    #[error("the code generator failed on `{func}`: {what}")]
    Internal {
        /// The function.
        func: String,
        /// Its message.
        what: String,
    },
}

/// Machine code of one function. Dropping it frees its pages, so it must not be dropped while the
/// code runs or may still be called.
#[derive(Debug)]
pub struct CompiledCode {
    entry: usize,
    size: usize,
    clif: Option<String>,
    asm: Option<String>,
    native_stack: Option<i32>,
    is_cached: bool,
    /// Freed when this is dropped.
    pages: UnitPages,
}

impl CompiledCode {
    /// The start of the code, which has the machine's C calling convention.
    pub fn entry(&self) -> *const u8 {
        std::ptr::with_exposed_provenance(self.entry)
    }

    /// Bytes of code, with its constants.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The code memory that it occupies, in bytes of whole pages.
    pub fn footprint(&self) -> usize {
        self.pages.size()
    }

    /// If it has stack maps: the offset of the [`NativeStack`](crate::code::NativeStack) in the
    /// thread's structure.
    pub fn native_stack(&self) -> Option<i32> {
        self.native_stack
    }

    /// Returns true if it was taken from a [`Cache`] instead of generated.
    pub fn is_cached(&self) -> bool {
        self.is_cached
    }

    /// Cranelift's intermediate form, if requested.
    pub fn clif(&self) -> Option<&str> {
        self.clif.as_deref()
    }

    /// The machine instructions, if requested.
    pub fn asm(&self) -> Option<&str> {
        self.asm.as_deref()
    }
}

/// The code generator, with memory that it reuses from one function to the next.
pub struct Codegen {
    isa: OwnedTargetIsa,
    context: Context,
    scratch: Scratch,
    addresses: Addresses,
    /// The common part of all [`Key`]s.
    generator: Option<SipHasher13>,
    cache: Option<Arc<Cache>>,
    /// The offset of the `NativeStack`, if there are stack maps.
    native_stack: Option<i32>,
    safepoints: FunctionBuilderContext,
    /// A fault for tests: see [`Codegen::plant`].
    planted: bool,
}

impl Codegen {
    /// A code generator for this machine.
    ///
    /// # Errors
    /// [`CodegenError::Machine`] if there is none.
    pub fn new() -> Result<Codegen, CodegenError> {
        let mut flags = settings::builder();
        let values = [
            ("opt_level", "none"),
            ("regalloc_algorithm", "backtracking"),
            ("preserve_frame_pointers", "true"),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            // A frame of more than a page must not skip the guard page.
            ("enable_probestack", "true"),
            ("probestack_strategy", "inline"),
            // Compiled code is never unwound, and frame pointers suffice for debuggers and
            // profilers.
            ("unwind_info", "false"),
            (
                "enable_verifier",
                if cfg!(debug_assertions) {
                    "true"
                } else {
                    "false"
                },
            ),
        ];
        for (name, value) in values {
            flags
                .set(name, value)
                .map_err(|e| CodegenError::Machine(format!("{name}: {e}")))?;
        }
        let isa = cranelift_native::builder()
            .map_err(|e| CodegenError::Machine(e.to_owned()))?
            .finish(settings::Flags::new(flags))
            .map_err(|e| CodegenError::Machine(e.to_string()))?;
        Ok(Codegen {
            isa,
            context: Context::new(),
            scratch: Scratch::default(),
            addresses: Addresses::default(),
            generator: None,
            cache: None,
            native_stack: None,
            safepoints: FunctionBuilderContext::new(),
            planted: false,
        })
    }

    /// The same, with stack maps for the references of LIR functions, whose first parameter is then
    /// the thread: `native_stack` is the byte offset of its
    /// [`NativeStack`](crate::code::NativeStack).
    ///
    /// # Errors
    /// [`CodegenError::Machine`] on machines other than x86-64, where the return address of the
    /// innermost call can't be found from the stack pointer.
    pub fn with_stack_maps(mut self, native_stack: i32) -> Result<Codegen, CodegenError> {
        if !cfg!(target_arch = "x86_64") {
            let what = "stack maps are supported only on x86-64".to_owned();
            return Err(CodegenError::Machine(what));
        }
        self.native_stack = Some(native_stack);
        self.generator = None;
        Ok(self)
    }

    /// Sets the cache that is searched before code is generated, and that keeps generated code.
    pub fn set_cache(&mut self, cache: Option<Arc<Cache>>) {
        self.cache = cache;
    }

    /// The cache that is searched before code is generated.
    pub fn cache(&self) -> Option<&Arc<Cache>> {
        self.cache.as_ref()
    }

    /// Switches a planted fault on or off: exchanged operands of an integer subtraction that may
    /// overflow. For tests that must find it.
    #[doc(hidden)]
    pub fn plant(&mut self, fault: bool) {
        self.planted = fault;
    }

    /// Frees the working memory, which grows with the largest function so far.
    pub fn rest(&mut self) {
        self.context = Context::new();
        self.scratch = Scratch::default();
        self.addresses = Addresses::default();
        self.safepoints = FunctionBuilderContext::new();
    }

    /// Another code generator for the same machine, for another thread.
    pub fn fork(&self) -> Codegen {
        Codegen {
            isa: self.isa.clone(),
            context: Context::new(),
            scratch: Scratch::default(),
            addresses: Addresses::default(),
            generator: self.generator,
            cache: self.cache.clone(),
            native_stack: self.native_stack,
            safepoints: FunctionBuilderContext::new(),
            planted: false,
        }
    }

    /// Compiles one function into `memory`.
    ///
    /// # Errors
    /// A [`CodegenError`]; then nothing of the function is kept.
    pub fn compile(
        &mut self,
        memory: &CodeMemory,
        input: Input,
    ) -> Result<CompiledCode, CodegenError> {
        let result = catch_unwind(AssertUnwindSafe(|| self.compile_inner(memory, &input)));
        if !matches!(result, Ok(Ok(_))) {
            // Working memory is not reused after a failure.
            self.context = Context::new();
            self.scratch = Scratch::default();
            self.safepoints = FunctionBuilderContext::new();
        }
        result.unwrap_or_else(|panic| {
            let what = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("panic")
                .to_owned();
            Err(CodegenError::Internal {
                func: input.func.name.clone(),
                what,
            })
        })
    }

    fn compile_inner(
        &mut self,
        memory: &CodeMemory,
        input: &Input,
    ) -> Result<CompiledCode, CodegenError> {
        if cfg!(debug_assertions) {
            lir::verify(input.func, lir::Mode::Unit, input.helpers)?;
        }
        let (provider, pages) = memory.unit();
        let mut declared = self.scratch.walk(input.func, input.exit_hook)?;
        // A frame map describes a frame that makes calls itself.
        let guarded = input.guarded.filter(|_| self.native_stack.is_none());
        self.scratch
            .shelter(input.func, input.keeps_most, guarded, &mut declared);
        let mut callees = Vec::with_capacity(declared.len());
        for callee in declared {
            let (name, address) = callee.of(input)?;
            callees.push(Callee {
                declared: callee,
                is_near: !input.want_text && pages.reaches(address),
                name,
                address,
            });
        }
        let linked: Vec<_> = callees.iter().map(|c| (c.declared, c.is_near)).collect();
        self.addresses.clear();
        let cache = self.cache.clone();
        let mut cache = cache.filter(|_| !input.want_text && !input.is_fresh && !self.planted);
        let mut key = None;
        if let Some(cache) = &mut cache {
            let generator = match self.generator {
                Some(generator) => generator,
                None => *self.generator.insert(key::generator(self)),
            };
            let known = key::key(&generator, input, &linked, &mut self.addresses);
            if let Some(body) = cache.find(&known) {
                if let Some((code, relocs)) = body.link(callees.len(), self.addresses.all()) {
                    let text = Text::default();
                    let placed = (provider, pages);
                    let mut code =
                        self.place(input, placed, &body, &callees, (code, relocs), text)?;
                    code.is_cached = true;
                    return Ok(code);
                }
                cache.refuse(&known);
            }
            key = Some(known);
        }

        self.context.clear();
        self.context.set_disasm(input.want_text);
        let context = &mut self.context;
        let call_conv = self.isa.default_call_conv();
        let mut emitter = Emitter::new(
            input,
            call_conv,
            &mut context.func,
            &mut self.scratch,
            &mut self.addresses,
        );
        emitter.planted = self.planted;
        emitter.native_stack = self.native_stack;
        emitter.emit(&linked)?;
        if self.native_stack.is_some() {
            let mut builder = FunctionBuilder::new(&mut context.func, &mut self.safepoints);
            for value in self.scratch.references(input.func) {
                builder.declare_value_needs_stack_map(value);
            }
            builder.finalize(self.isa.frontend_config());
        }
        let names = || callees.iter().map(|callee| &*callee.name).collect();
        let names: Vec<&str> = if input.want_text { names() } else { Vec::new() };
        let mut text = Text {
            clif: input.want_text.then(|| text::clif(&context.func, &names)),
            asm: None,
        };

        let compiled = context.compile(&*self.isa, &mut ControlPlane::default());
        let compiled = compiled.map_err(|e| from_module_error(input.func, e.into()))?;
        let vcode = compiled.vcode.as_deref();
        text.asm = vcode.map(|vcode| text::asm(vcode, &names));
        let maps = frame_maps(compiled);
        let compiled = context.compiled_code();
        let body = compiled.and_then(|compiled| Body::new(&context.func, compiled, maps));
        let body = body.ok_or_else(|| malformed(input.func, "no code".to_owned()))?;
        let linked = body.link(callees.len(), self.addresses.all());
        let linked = linked.ok_or_else(|| malformed(input.func, "foreign names".to_owned()))?;
        let code = self.place(input, (provider, pages), &body, &callees, linked, text)?;
        if let (Some(cache), Some(key)) = (cache, key) {
            cache.keep(&key, body);
        }
        Ok(code)
    }

    /// Places a body in code memory.
    fn place(
        &self,
        input: &Input<'_>,
        (provider, pages): (Provider, UnitPages),
        body: &Body,
        callees: &[Callee],
        (code, relocs): (Vec<u8>, Vec<ModuleReloc>),
        text: Text,
    ) -> Result<CompiledCode, CodegenError> {
        let mut builder =
            JITBuilder::with_isa(self.isa.clone(), cranelift_module::default_libcall_names());
        builder.memory_provider(Box::new(provider));
        for callee in callees {
            let symbol = callee.declared.symbol();
            builder.symbol(symbol, std::ptr::with_exposed_provenance(callee.address));
        }
        let mut module = JITModule::new(builder);
        let failed = |e: ModuleError| from_module_error(input.func, e);
        // The linker does not use signatures.
        let signature = Signature::new(self.isa.default_call_conv());
        for callee in callees {
            let symbol = callee.declared.symbol();
            module
                .declare_function(&symbol, Linkage::Import, &signature)
                .map_err(failed)?;
        }
        let id = module
            .declare_function(&input.func.name, Linkage::Local, &signature)
            .map_err(failed)?;
        module
            .define_function_bytes(id, body.align(), &code, &relocs)
            .map_err(failed)?;
        module.finalize_definitions().map_err(failed)?;
        let entry = module.get_finalized_function(id);
        pages.name(entry, code.len(), &input.func.name);
        pages.map_frames(entry, body.maps.iter().cloned());
        Ok(CompiledCode {
            entry: entry.expose_provenance(),
            size: code.len(),
            clif: text.clif,
            asm: text.asm,
            native_stack: self.native_stack,
            is_cached: false,
            pages,
        })
    }
}

/// A callee of a function.
struct Callee {
    declared: Declared,
    is_near: bool,
    name: String,
    address: usize,
}

/// The requested text forms.
#[derive(Default)]
struct Text {
    clif: Option<String>,
    asm: Option<String>,
}

impl fmt::Debug for Codegen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codegen")
            .field("isa", &self.isa.triple().to_string())
            .finish_non_exhaustive()
    }
}

/// The maps of calls that may collect, by the offset of the return address in the code.
fn frame_maps(code: &cranelift_codegen::CompiledCode) -> Vec<(usize, FrameMap)> {
    let maps = code.buffer.user_stack_maps().iter();
    let marked = maps.filter(|(.., map)| map.entries().any(|(ty, _)| ty == COLLECTS));
    let map = |(offset, size, map): &(u32, u32, UserStackMap)| {
        let words = map.entries().filter(|&(ty, _)| ty == types::I64);
        let words = words.map(|(_, offset)| offset).collect();
        (*offset as usize, FrameMap { size: *size, words })
    };
    marked.map(map).collect()
}

/// The type of the entry that marks calls which may collect; references have the type of words.
const COLLECTS: Type = types::I8;

fn malformed(func: &lir::Func, what: String) -> CodegenError {
    CodegenError::Malformed {
        func: func.name.clone(),
        what,
    }
}

fn from_module_error(func: &lir::Func, error: ModuleError) -> CodegenError {
    use cranelift_codegen::CodegenError as Cranelift;
    let func = func.name.clone();
    match error {
        ModuleError::Allocation { err } => match err
            .get_ref()
            .and_then(|e| e.downcast_ref::<CodeMemoryError>())
        {
            Some(error) => CodegenError::Memory(error.clone()),
            None => CodegenError::Internal {
                func,
                what: err.to_string(),
            },
        },
        ModuleError::Compilation(Cranelift::CodeTooLarge | Cranelift::ImplLimitExceeded) => {
            CodegenError::TooLarge { func }
        }
        ModuleError::Compilation(Cranelift::Verifier(errors)) => CodegenError::Internal {
            func,
            what: format!("Cranelift's verifier: {errors}"),
        },
        other => CodegenError::Internal {
            func,
            what: other.to_string(),
        },
    }
}

#[cfg(test)]
mod tests;
