//! The pipeline driver and public API: bytecode in, machine code out.

mod oracle;

pub use crate::host::{Entry, RawMap, UnitParts};
pub use oracle::{Execution, Interpreted, OracleCounts, Planted};

use crate::bytecode::{Code, Met, Pc, Reason};
use crate::code::CodeMemory;
use crate::codegen::{self, Codegen, CompiledCode};
use crate::exits::ExitRecord;
use crate::facts::Assumption;
use crate::facts::{RawEntry, RawSignature};
use crate::hir::{self, NamePlan, Start};
use crate::host::{EXIT_HOOK, Host, RECORD_EXIT, World};
use crate::lir::{self, Func};
use crate::lower;
use crate::opt;
use crate::types::{ClassHandle, ClassPin, ObjectHandle, ObjectPin, Type};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

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
    /// Classes of receivers that were met where the one that was bet on was not, by instruction.
    pub met: &'a HashMap<Pc, Met>,
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
    /// The request contradicts itself: a fault of the host's.
    #[error("the request is wrong: {0}")]
    Invalid(String),
    /// A fault of Cladonia's own; the function stays interpreted.
    #[error("internal: {0}")]
    Internal(String),
}

/// A compiled unit. Dropping it frees its code: the host drops it when no frame is inside.
pub struct Unit {
    /// The machine code.
    pub code: CompiledCode,
    /// Of a closed unit: its raw entry, which `code` calls, and what that takes and gives.
    pub raw: Option<(CompiledCode, RawSignature)>,
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
    /// In oracle mode, what runs in place of machine code: `code` and `raw` are stubs that enter it.
    pub interpreted: Vec<Arc<Interpreted>>,
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
                hir::Op::CheckClasses(types) | hir::Op::IsClass(types) => {
                    types.iter().copied().for_each(&mut add)
                }
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

/// The compiler with its code memory.
pub struct Engine {
    host: Arc<Host>,
    memory: CodeMemory,
    codegen: Codegen,
    /// Keep the text of every stage with each unit.
    pub keep_dumps: bool,
    /// How the units that are compiled from now on run.
    pub execution: Execution,
    /// A fault to put into the units that are compiled from now on.
    #[doc(hidden)]
    pub planted: Option<Planted>,
    counters: Arc<oracle::Counters>,
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
            execution: Execution::default(),
            planted: None,
            counters: Arc::default(),
        })
    }

    /// The host.
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// What the oracle has done so far.
    pub fn oracle_counts(&self) -> OracleCounts {
        self.counters.read()
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
        let mut dump = |keep: bool, stage: &'static str, text: &dyn Fn() -> String| {
            if keep {
                dumps.push((stage, text()));
            }
        };
        let keep = self.keep_dumps;
        validate(&request)?;
        let code = Arc::new(request.code.clone());
        let start = match request.entry {
            Entry::Function => Start::Function(request.live),
            Entry::Loop(pc) => Start::Loop(pc, request.live),
        };
        let mut built = self.select_with_names(&code, start, &request)?;
        let closed = (request.entry == Entry::Function)
            .then(|| self.close(&code, &built.f, &request))
            .flatten();
        let own = closed.map(|(selected, own)| {
            built = selected;
            own
        });
        let f = &built.f;
        dump(keep, "hir", &|| built.text.clone());
        dump(keep, "selected", &|| f.to_string());
        if f.insts.len() > MAX_HIR {
            return Err(CompileError::LimitExceeded {
                what: "the number of HIR values".into(),
                limit: MAX_HIR as u64,
            });
        }
        let planted = self.planted == Some(Planted::Lowering);
        let lowered = match &own {
            Some(own) => lower::lower_closed(f, own, &self.host, &request.parts, planted),
            None => lower::lower(f, &self.host, &request.parts, request.entry, planted),
        };
        dump(keep, "lir", &|| lir_text(&lowered, &self.host));
        let hook = match &own {
            Some(_) => RECORD_EXIT,
            None => EXIT_HOOK,
        };
        let exit_hook = Some(self.host.helper(hook));
        let pins = Pins::of(f);
        let token = request.parts.token;
        let mut interpreted = Vec::new();
        let mut code = self.make(lowered.func, exit_hook, token, &mut interpreted)?;
        dump(keep, "clif", &|| {
            code.clif().unwrap_or_default().to_string()
        });
        dump(keep, "asm", &|| code.asm().unwrap_or_default().to_string());
        let mut raw = None;
        if let Some(own) = own {
            let adapter = lower::adapter(&f.code.name, &own, &self.host, token);
            let adapter = self.make(adapter, None, token, &mut interpreted)?;
            raw = Some((std::mem::replace(&mut code, adapter), own.signature));
        }
        Ok(Unit {
            code,
            raw,
            exits: lowered.exits,
            assumptions: f.assumptions.clone(),
            stored_names: f.names.clone(),
            dumps,
            passes: built.passes,
            raw_maps: lowered.raw_maps,
            pins,
            interpreted,
        })
    }

    /// The selected HIR of a unit from `start`, with the names of its namespace in registers if the host allows it.
    fn select_with_names(
        &self,
        code: &Arc<Code>,
        start: Start<'_>,
        request: &Request<'_>,
    ) -> Result<Selected, CompileError> {
        let namespace = request.parts.namespace.as_ref();
        if let Some(namespace) = namespace {
            let mut plan = NamePlan::new(&namespace.live);
            for _ in 0..MAX_ATTEMPTS {
                let selected = self.select(code, start.clone(), request, Some(&plan))?;
                if !plan.learn(&selected.f) {
                    return Ok(selected);
                }
            }
        }
        self.select(code, start, request, None)
    }

    /// The selected HIR of a function from `start`.
    fn select(
        &self,
        code: &Arc<Code>,
        start: Start<'_>,
        request: &Request<'_>,
        names: Option<&NamePlan>,
    ) -> Result<Selected, CompileError> {
        let met = request.met;
        let f = hir::build(code, start, request.world, request.avoid, met, names);
        let mut f = f.map_err(|e| CompileError::Unsupported {
            what: e.what,
            line: e.line,
        })?;
        check(&f, "build")?;
        let keep = self.keep_dumps;
        let text = if keep { f.to_string() } else { String::new() };
        let cx = opt::Context {
            world: request.world,
            avoid: request.avoid,
        };
        let mut passes = Vec::new();
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
        Ok(Selected { f, text, passes })
    }

    /// The function as a closed unit, if it can be one.
    fn close(
        &self,
        code: &Arc<Code>,
        f: &hir::Function,
        request: &Request<'_>,
    ) -> Option<(Selected, RawEntry)> {
        let parts = request.parts.closed.as_ref();
        let parts = parts.filter(|_| self.host.has_closed_units())?;
        let own = RawEntry {
            cell: parts.raw_cell,
            boxed_cell: parts.boxed_cell,
            signature: opt::closed::signature(f)?,
        };
        let selected = self.select(code, Start::Closed(&own), request, None).ok()?;
        opt::closed::find_open(&selected.f)
            .is_none()
            .then_some((selected, own))
    }

    /// Compile a stub that a host wrote as LIR (an entry, an adapter).
    ///
    /// # Errors
    /// As for [`Engine::compile`].
    pub fn compile_stub(&mut self, func: &Func) -> Result<CompiledCode, CompileError> {
        self.generate(func, None, 0)
    }

    /// A function of a unit: machine code, or a stub that enters the interpreter.
    fn make(
        &mut self,
        func: Func,
        exit_hook: Option<lir::HelperId>,
        token: u64,
        interpreted: &mut Vec<Arc<Interpreted>>,
    ) -> Result<CompiledCode, CompileError> {
        if self.execution == Execution::Machine {
            self.codegen.plant(self.planted == Some(Planted::Codegen));
            return self.generate(&func, exit_hook, token);
        }
        lir::verify(&func, lir::Mode::Unit, &self.host.helpers)
            .map_err(|e| CompileError::Internal(e.to_string()))?;
        oracle::check_calls(&func, &self.host)?;
        let (host, counters) = (self.host.clone(), self.counters.clone());
        let function = Interpreted::new(func, host, exit_hook, token, counters);
        self.codegen.plant(false);
        let stub = self.generate(&function.stub(), None, token)?;
        self.counters.add_unit();
        interpreted.push(function);
        Ok(stub)
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

/// What a host might get wrong in a request, beyond what the bytecode verifier finds in the code.
fn validate(request: &Request<'_>) -> Result<(), CompileError> {
    let code = request.code;
    let given = request.live.len();
    let invalid = |what: String| Err(CompileError::Invalid(what));
    match request.entry {
        Entry::Function if given > code.locals.len() => {
            invalid(format!("{given} types for {} locals", code.locals.len()))
        }
        Entry::Loop(pc) if pc.0 as usize >= code.instrs.len() => {
            invalid(format!("there is no instruction {pc}"))
        }
        Entry::Loop(pc) => match code.stack_depths()[pc.0 as usize] {
            Some(depth) if given != code.locals.len() + depth as usize => invalid(format!(
                "{given} types for {} locals and {depth} stack entries at {pc}",
                code.locals.len()
            )),
            Some(_) => Ok(()),
            None => invalid(format!("control never comes to {pc}")),
        },
        Entry::Function => Ok(()),
    }
}

/// A function after all passes.
struct Selected {
    f: hir::Function,
    /// Its text before them, if text forms were asked for.
    text: String,
    /// Its text after each pass that changed it.
    passes: Vec<(&'static str, String)>,
}

/// How often a function is built to find out which of its instructions run code of the program.
const MAX_ATTEMPTS: u32 = 8;

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

/// Functions with more HIR values than this are not compiled.
pub const MAX_HIR: usize = 60_000;

fn lir_text(lowered: &lower::Lowered, host: &Host) -> String {
    let mut text = lir::print(&lowered.func, &host.helpers);
    for (i, exit) in lowered.exits.iter().enumerate() {
        text += &format!("exit{i}: {exit}\n");
    }
    text
}
