//! The pipeline driver and public API: bytecode in, machine code out.

use crate::bytecode::{Code, Pc};
use crate::code::CodeMemory;
use crate::codegen::{self, Codegen, CompiledCode};
use crate::exits::ExitRecord;
use crate::exits::Reason;
use crate::facts::Assumption;
use crate::hir::{self, NamePlan, Start};
use crate::host::{Host, World};
use crate::lir::{self, Func};
use crate::lower;
use crate::opt;
use crate::types::{ClassHandle, ClassPin, ObjectHandle, ObjectPin, Type};
use std::collections::HashSet;
use std::sync::Arc;

/// Where compiled code begins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Entry {
    /// A call: arguments come in registers, the unit makes its frame.
    Function,
    /// On-stack replacement at an instruction (a loop header, or the function's start) of an interpreter's frame.
    Loop(Pc),
}

/// The host's parts of one unit.
#[derive(Clone, Debug)]
pub struct UnitParts {
    /// Number given to the exit hook.
    pub token: u64,
    /// Address of the cell with the expected eval-breaker word.
    pub pending_cell: u64,
    /// Address of a word that counts the unit's back edges.
    pub loop_counter: u64,
    /// Address of the unit's state cell (the third operand of `still_valid`).
    pub state_cell: u64,
    /// `(thread, function) -> frame`: makes and links the frame with all slots but the arguments' unbound, after it
    /// has looked for pending work; fails where the slow way must be taken. Used by function units only.
    pub enter: Func,
    /// `(thread, frame) -> ()`: unlinks and frees the frame; its slots have been emptied or are dropped here.
    pub leave: Func,
    /// Address of the host's code object: instruction positions are `code_base + 2 * pos` (or the host's unit).
    pub position_base: u64,
    /// Bytes per unit of [`crate::bytecode::Instr::pos`].
    pub position_scale: u32,
    /// The namespace, if the names may be kept in registers.
    pub namespace: Option<Namespace>,
    /// For runs with forced exits: address of a table of 64-bit words, one an exit record; compiled code counts a word
    /// that is not zero down and takes the exit when it gets to zero.
    pub force_table: Option<u64>,
}

/// The namespace of code at the top of a module, whose names a unit may keep in registers.
#[derive(Clone, Debug)]
pub struct Namespace {
    /// Address of the namespace.
    pub address: u64,
    /// For each of the code's names, the addresses of the name and of a cell of the host's own, which lives as long as
    /// the unit.
    pub names: Vec<(u64, u64)>,
    /// Operand of the stores to names in [`Unit::stored_names`]; 0 for those to others.
    pub notes: i64,
    /// Types of what the names hold now.
    pub live: Vec<Type>,
}

/// A request to compile.
pub struct Request<'a> {
    /// The code.
    pub code: &'a Code,
    /// Where to begin.
    pub entry: Entry,
    /// Types of the locals (and, at a loop, of the stack entries after them) as they are now.
    pub live: &'a [Type],
    /// The world.
    pub world: &'a dyn World,
    /// The host's parts.
    pub parts: UnitParts,
    /// Bets not to make again: (instruction, reason).
    pub avoid: &'a HashSet<(Pc, Reason)>,
}

/// Why nothing was compiled.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CompileError {
    /// The function uses something that is not compiled.
    #[error("{what} is not compiled (line {line})")]
    Unsupported {
        /// What.
        what: String,
        /// Where.
        line: u32,
    },
    /// The function is larger than the limits.
    #[error("{what} exceeds the limit of {limit}")]
    LimitExceeded {
        /// What.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// A fault of Cladonia's own; the function stays interpreted.
    #[error("internal: {0}")]
    Internal(String),
}

/// A compiled unit. Dropping it frees its code: the host drops it when no frame is inside.
pub struct Unit {
    /// The machine code.
    pub code: CompiledCode,
    /// Exit records by number.
    pub exits: Vec<ExitRecord>,
    /// What must be watched while the unit is installed.
    pub assumptions: Vec<Assumption>,
    /// Text forms, if they were asked for: (stage, text).
    pub dumps: Vec<(&'static str, String)>,
    /// HIR after each pass that changed it, if text forms were asked for.
    pub passes: Vec<(&'static str, String)>,
    /// For each call-out position (the host's offset): which locals are raw, and where their words lie.
    pub raw_maps: Vec<RawMap>,
    /// Names of the namespace that the unit stores often: the host sees to it that no other unit relies on one.
    pub stored_names: Vec<u32>,
    /// Keeps the classes and objects whose addresses are in the code.
    pub pins: Pins,
}

/// Handles that must not go stale while a unit lives.
#[derive(Debug, Default)]
pub struct Pins {
    /// Classes.
    pub classes: Vec<ClassPin>,
    /// Objects.
    pub objects: Vec<ObjectPin>,
}

impl Pins {
    /// Pin everything that a function's instructions name.
    fn of(f: &hir::Function) -> Pins {
        let (mut classes, mut objects) = (HashSet::new(), HashSet::new());
        let mut add = |ty: Type| {
            classes.extend(ty.unique_class());
            objects.extend(ty.as_object());
        };
        for &v in f.order.iter().flat_map(|&b| &f.blocks[b].insts) {
            match f.op(v) {
                hir::Op::GuardType(ty) | hir::Op::Refine(ty) => add(*ty),
                hir::Op::GuardIs(object) | hir::Op::Const(object) => {
                    add(Type::from_object(*object))
                }
                _ => {}
            }
            add(f.ty(v));
        }
        for assumption in &f.assumptions {
            match assumption {
                Assumption::ClassUnchanged(class) => add(Type::from_class(*class)),
                Assumption::FunctionUnchanged(object) => add(Type::from_object(*object)),
                Assumption::NameUnchanged { .. } => {}
            }
        }
        Pins {
            classes: classes
                .into_iter()
                .filter_map(ClassHandle::try_pin)
                .collect(),
            objects: objects
                .into_iter()
                .filter_map(ObjectHandle::try_pin)
                .collect(),
        }
    }
}

/// Which locals of a frame are raw values while a call-out at `pc` runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawMap {
    /// The instruction.
    pub pc: Pc,
    /// Local slot and kind.
    pub locals: Vec<(u32, crate::exits::Source)>,
}

/// The compiler with its code memory.
pub struct Engine {
    host: Arc<Host>,
    memory: CodeMemory,
    codegen: Codegen,
    /// Keep the text of every stage with each unit.
    pub keep_dumps: bool,
}

impl Engine {
    /// An engine for a host.
    ///
    /// # Errors
    /// If no code memory can be had, or the machine is not supported.
    pub fn new(host: Arc<Host>, memory: CodeMemory) -> Result<Engine, CompileError> {
        let codegen = Codegen::new().map_err(|e| CompileError::Internal(e.to_string()))?;
        Ok(Engine {
            host,
            memory,
            codegen,
            keep_dumps: false,
        })
    }

    /// The host.
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// The code memory.
    pub fn memory(&self) -> &CodeMemory {
        &self.memory
    }

    /// Compile a unit.
    ///
    /// # Errors
    /// [`CompileError`] says what is not compiled, what is too large, or that Cladonia itself is at fault. The
    /// function then stays in the host's interpreter.
    ///
    /// # Panics
    /// On a broken invariant of the compiler; a host that must not unwind catches it and treats it as `Internal`.
    pub fn compile(&mut self, request: Request<'_>) -> Result<Unit, CompileError> {
        let mut dumps = Vec::new();
        let keep = self.keep_dumps;
        let code = Arc::new(request.code.clone());
        let start = match request.entry {
            Entry::Function => Start::Function(request.live),
            Entry::Loop(pc) => Start::Loop(pc, request.live),
        };
        let mut names = request
            .parts
            .namespace
            .as_ref()
            .map(|n| NamePlan::new(&n.live));
        let mut passes = Vec::new();
        let mut attempts = 0;
        let f = loop {
            attempts += 1;
            passes.clear();
            let f = hir::build(
                &code,
                start.clone(),
                request.world,
                request.avoid,
                names.as_ref(),
            );
            let mut f = f.map_err(|e| CompileError::Unsupported {
                what: e.what,
                line: e.line,
            })?;
            check(&f, "build")?;
            let built = keep.then(|| f.to_string());
            let cx = opt::Context {
                world: request.world,
                avoid: request.avoid,
            };
            let mut fault = Ok(());
            opt::run(&mut f, &cx, &mut |name, f| {
                if keep {
                    passes.push((name, f.to_string()));
                }
                if fault.is_ok() {
                    fault = check(f, name);
                }
            });
            fault?;
            if f.insts.len() > MAX_HIR {
                return Err(CompileError::LimitExceeded {
                    what: "the number of HIR values".into(),
                    limit: MAX_HIR as u64,
                });
            }
            if names.as_mut().is_some_and(|plan| plan.learn(&f)) {
                if attempts == MAX_ATTEMPTS {
                    names = None;
                }
                continue;
            }
            dumps.extend(built.map(|text| ("hir", text)));
            break f;
        };
        let mut dump = |keep: bool, stage: &'static str, text: &dyn Fn() -> String| {
            if keep {
                dumps.push((stage, text()));
            }
        };
        dump(keep, "selected", &|| f.to_string());
        let lowered = lower::lower(&f, &self.host, &request.parts, request.entry);
        dump(keep, "lir", &|| lir_text(&lowered, &self.host));
        let exit_hook = Some(self.host.helper(hir::EXIT_HOOK));
        let pins = Pins::of(&f);
        let code = self.generate(&lowered.func, exit_hook, request.parts.token)?;
        dump(keep, "clif", &|| {
            code.clif().unwrap_or_default().to_string()
        });
        dump(keep, "asm", &|| code.asm().unwrap_or_default().to_string());
        Ok(Unit {
            code,
            exits: lowered.exits,
            assumptions: f.assumptions,
            stored_names: f.names,
            dumps,
            passes,
            raw_maps: lowered.raw_maps,
            pins,
        })
    }

    /// Compile a stub that a host wrote as LIR (an entry, an adapter).
    ///
    /// # Errors
    /// As for [`Engine::compile`].
    pub fn compile_stub(&mut self, func: &Func) -> Result<CompiledCode, CompileError> {
        self.generate(func, None, 0)
    }

    fn generate(
        &mut self,
        func: &Func,
        exit_hook: Option<lir::HelperId>,
        unit: u64,
    ) -> Result<CompiledCode, CompileError> {
        let input = codegen::Input {
            func,
            helpers: &self.host.helpers,
            exit_hook,
            unit,
            want_text: self.keep_dumps,
        };
        self.codegen
            .compile(&self.memory, input)
            .map_err(|e| CompileError::Internal(e.to_string()))
    }
}

/// In debug builds, and wherever `CLADONIA_VERIFY` is set, the HIR is verified after each pass.
fn check(f: &hir::Function, pass: &str) -> Result<(), CompileError> {
    static VERIFY: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| {
        cfg!(debug_assertions) || std::env::var_os("CLADONIA_VERIFY").is_some()
    });
    if !*VERIFY {
        return Ok(());
    }
    hir::verify(f).map_err(|e| CompileError::Internal(format!("after {pass}: {e}\n{f}")))
}

/// How often a function is built to find out which of its instructions run code of the program.
const MAX_ATTEMPTS: u32 = 8;

/// Functions with more HIR values than this are not compiled.
pub const MAX_HIR: usize = 60_000;

fn lir_text(lowered: &lower::Lowered, host: &Host) -> String {
    let mut text = lir::print(&lowered.func, &host.helpers);
    for (i, exit) in lowered.exits.iter().enumerate() {
        text += &format!("exit{i}: {exit}\n");
    }
    text
}
