//! The pipeline driver: bytecode in, a unit of machine code out. It does not keep the units.

use super::error::{CompileError, CompileFault};
use super::options::{CompileOptions, Verification};
use super::oracle::{self, Execution, Interpreted, Planted};
use super::routines::Routines;
use crate::bytecode::{Code, Met, Pc, Reason};
use crate::code::CodeMemory;
use crate::codegen::{self, Cache, Codegen, CompiledCode};
use crate::exits::{ExitRecord, Exits};
use crate::facts::Assumption;
use crate::facts::{RawEntry, RawSignature};
use crate::hir::{self, NamePlan, Start};
use crate::host::{
    EXIT_HOOK, Entry, Host, Lifetimes, Pins, RECORD_EXIT, RawMap, Replay, Snapshot, UnitParts,
    World,
};
use crate::lir::{self, Func};
use crate::lower;
use crate::opt;
use crate::types::Type;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// A request to compile, for hosts that keep the unit themselves
/// ([`Engine::compile`](super::Engine::compile)); a [`Task`](super::Task) is the managed form.
pub struct Request<'a> {
    pub(super) code: &'a Code,
    pub(super) entry: Entry,
    pub(super) live: &'a [Type],
    pub(super) world: &'a dyn World,
    pub(super) parts: UnitParts,
    pub(super) avoid: &'a HashSet<(Pc, Reason)>,
    pub(super) met: &'a HashMap<Pc, Met>,
}

/// No failed speculation.
static NONE_FAILED: LazyLock<HashSet<(Pc, Reason)>> = LazyLock::new(HashSet::default);
/// No observed class.
static NONE_MET: LazyLock<HashMap<Pc, Met>> = LazyLock::new(HashMap::default);

impl<'a> Request<'a> {
    /// A request without knowledge of earlier runs.
    pub fn new(
        code: &'a Code,
        entry: Entry,
        parts: UnitParts,
        world: &'a dyn World,
    ) -> Request<'a> {
        Request {
            code,
            entry,
            live: &[],
            world,
            parts,
            avoid: &NONE_FAILED,
            met: &NONE_MET,
        }
    }

    /// Sets the types of the arguments (at a loop: of the locals, and of the stack entries after
    /// them) as they are now.
    pub fn live(mut self, live: &'a [Type]) -> Request<'a> {
        self.live = live;
        self
    }

    /// Sets the speculations that must not be repeated: (instruction, reason).
    pub fn avoid(mut self, avoid: &'a HashSet<(Pc, Reason)>) -> Request<'a> {
        self.avoid = avoid;
        self
    }

    /// Sets the classes of receivers that were observed where the speculated class was wrong, by
    /// instruction.
    pub fn met(mut self, met: &'a HashMap<Pc, Met>) -> Request<'a> {
        self.met = met;
        self
    }
}

impl Request<'_> {
    /// The request as data, with these answers of its `World`.
    pub(super) fn replay(&self, world: Snapshot) -> Replay {
        Replay {
            code: self.code.clone(),
            entry: self.entry,
            live: self.live.to_vec(),
            avoid: self.avoid.clone(),
            met: self.met.clone(),
            parts: self.parts.clone(),
            world,
        }
    }
}

impl<'a> From<&'a Replay> for Request<'a> {
    fn from(replay: &'a Replay) -> Request<'a> {
        Request::new(
            &replay.code,
            replay.entry,
            replay.parts.clone(),
            &replay.world,
        )
        .live(&replay.live)
        .avoid(&replay.avoid)
        .met(&replay.met)
    }
}

/// A compiled unit. Dropping it frees its code: the host drops it when no frame is inside.
pub struct Unit {
    /// In oracle mode, the functions that are interpreted: `code` and `raw` are stubs that enter
    /// the interpreter.
    pub interpreted: Vec<Arc<Interpreted>>,
    /// The machine code.
    pub code: CompiledCode,
    /// For a closed unit: its raw entry, which `code` calls, with its signature.
    pub raw: Option<(CompiledCode, RawSignature)>,
    /// Exit records by number.
    pub exits: Exits,
    /// The code of inlined calls, by the numbers in exit records.
    pub inlined: Vec<hir::InlinedCode>,
    /// The assumptions to watch while the unit is installed.
    pub assumptions: Vec<Assumption>,
    /// Text forms, if requested: (stage, text).
    pub dumps: Vec<(&'static str, String)>,
    /// HIR after each pass that changed it, if text forms were requested.
    pub passes: Vec<(&'static str, String)>,
    /// The input of the compile, if text forms were requested: a section of a document.
    pub replay: Option<String>,
    /// For each call-out position (the host's offset): the raw locals, and the places of their
    /// words.
    pub raw_maps: Vec<RawMap>,
    /// Names of the namespace that the unit stores often: the host ensures that no other unit
    /// relies on one.
    pub stored_names: Vec<u32>,
    /// Addresses of the entry cells that the code calls through
    /// ([`crate::host::Callee::Function`]).
    pub entry_cells: Vec<u64>,
    /// The time of each stage: `build` (to HIR), `optimise`, `lower`, `generate`. A stage that ran
    /// several times is summed.
    pub timings: Vec<(&'static str, Duration)>,
    /// The costs of the passes of `optimise`.
    pub log: opt::Log,
    /// The number of checks and branches that no path needs.
    pub proved: usize,
    /// Keeps the classes and objects whose addresses are in the code alive.
    pub pins: Pins,
    /// Keeps the code of called intrinsics alive.
    pub(super) _routines: Arc<Routines>,
}

/// The parts of a unit that are known as soon as its HIR is optimised.
struct Draft {
    inlined: Vec<hir::InlinedCode>,
    assumptions: Vec<Assumption>,
    pins: Pins,
    dumps: Vec<(&'static str, String)>,
    passes: Vec<(&'static str, String)>,
    stored_names: Vec<u32>,
    entry_cells: Vec<u64>,
    timings: Vec<(&'static str, Duration)>,
    log: opt::Log,
    proved: usize,
    signature: Option<RawSignature>,
    routines: Arc<Routines>,
}

impl Draft {
    /// The unit, with the machine code that was generated for this draft.
    fn finish(self, generated: Generated) -> Unit {
        let Generated {
            code,
            raw,
            interpreted,
            exits,
            raw_maps,
            dumps,
            lowering,
            generation,
        } = generated;
        let raw = raw.zip(self.signature);
        let mut timings = self.timings;
        timings.extend([("lower", lowering), ("generate", generation)]);
        let mut all_dumps = self.dumps;
        all_dumps.extend(dumps);
        Unit {
            interpreted,
            code,
            raw,
            exits,
            inlined: self.inlined,
            assumptions: self.assumptions,
            dumps: all_dumps,
            passes: self.passes,
            replay: None,
            raw_maps,
            stored_names: self.stored_names,
            entry_cells: self.entry_cells,
            timings,
            log: self.log,
            proved: self.proved,
            pins: self.pins,
            _routines: self.routines,
        }
    }
}

/// The optimised HIR of a unit.
struct Optimised {
    f: hir::Function,
    /// For a closed unit, its raw entry.
    own: Option<RawEntry>,
}

/// The machine code of a unit.
struct Generated {
    code: CompiledCode,
    raw: Option<CompiledCode>,
    interpreted: Vec<Arc<Interpreted>>,
    exits: Exits,
    raw_maps: Vec<RawMap>,
    dumps: Vec<(&'static str, String)>,
    lowering: Duration,
    generation: Duration,
}

/// The reason why a compile gave no unit.
pub(super) enum Stop {
    Failed(CompileError),
    /// It continues where it stopped, once its `World` has more answers.
    LacksAnswers,
}

impl From<CompileError> for Stop {
    fn from(error: CompileError) -> Stop {
        Stop::Failed(error)
    }
}

impl From<CompileFault> for Stop {
    fn from(fault: CompileFault) -> Stop {
        Stop::Failed(fault.into())
    }
}

/// The progress of a compile whose `World` [lacked answers](World::lacks_answers).
#[derive(Default)]
pub(super) struct Memo {
    /// The functions selected so far, in order.
    selected: Vec<Selected>,
    /// For the current function: its text before all passes, and the progress of these.
    text: String,
    progress: opt::Progress,
}

/// The compiler of another thread: see [`Engine::generator`](super::Engine::generator).
pub struct Generator(pub(super) Compiler);

impl Generator {
    /// Compiles a [frozen](super::Engine::freeze) request, or continues with it. Calls nothing of
    /// the host. Returns none if a query had no answer yet; call it again after
    /// [`FrozenRequest::answer`](super::FrozenRequest::answer).
    ///
    /// # Errors
    /// As for [`Engine::compile`](super::Engine::compile). A panic is an
    /// [internal](CompileError::is_internal) error.
    pub fn compile(
        &mut self,
        request: &mut super::FrozenRequest,
    ) -> Option<Result<Unit, CompileError>> {
        match catch_unwind(AssertUnwindSafe(|| request.compile(&mut self.0))) {
            Ok(Ok(unit)) => Some(Ok(unit)),
            Ok(Err(Stop::LacksAnswers)) => None,
            Ok(Err(Stop::Failed(error))) => Some(Err(error)),
            Err(panic) => Some(Err(CompileError::internal(super::job::panic_text(&*panic)))),
        }
    }

    /// Does a part of the deferred work of the engine's [cache](super::Engine::set_cache). Returns
    /// true if there was any.
    pub fn settle(&self) -> bool {
        let cache = self.0.codegen.cache();
        cache.is_some_and(|cache| cache.settle())
    }

    /// Frees the working memory, some megabytes, for a time without compiles.
    pub fn rest(&mut self) {
        self.0.rest();
    }
}

impl Generator {
    /// Compiles a stub, as [`Engine::compile_stub`](super::Engine::compile_stub) does.
    ///
    /// # Errors
    /// As for [`Generator::compile`].
    pub fn compile_stub(&mut self, func: &Func) -> Result<CompiledCode, CompileError> {
        catch_unwind(AssertUnwindSafe(|| self.0.compile_stub(func)))
            .unwrap_or_else(|panic| Err(CompileError::internal(super::job::panic_text(&*panic))))
    }
}

const _: () = {
    const fn sent<T: Send>() {}
    sent::<Func>();
    sent::<Unit>();
    sent::<Generator>();
};

/// Pins of all classes and objects in a function's instructions.
fn pins_of(f: &hir::Function) -> Pins {
    let (mut classes, mut objects) = (HashSet::new(), HashSet::new());
    // Includes objects that are in no type, such as None: lowering uses their addresses, perhaps
    // later.
    let mut named = Vec::new();
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
            hir::Op::GuardIs(object)
            | hir::Op::Const(object)
            | hir::Op::Kin(object)
            | hir::Op::VirtualMethod(object) => {
                add(Type::from_object(*object));
                named.push(*object);
            }
            hir::Op::New(ty, _) | hir::Op::NameGetRaw(_, ty) => add(*ty),
            _ => {}
        }
        add(f.ty(v));
    }
    for inlined in &f.inlined {
        add(Type::from_object(inlined.function));
    }
    for assumption in &f.assumptions {
        match assumption {
            Assumption::ClassUnchanged(class) => add(Type::from_class(*class)),
            Assumption::FunctionUnchanged(object) => add(Type::from_object(*object)),
            Assumption::NameUnchanged { .. } | Assumption::ObjectsPrivate => {}
        }
    }
    objects.extend(named);
    Pins::of(classes, objects)
}

/// The compiler of an engine, or of a job on another thread.
#[derive(Debug)]
pub(super) struct Compiler {
    host: Arc<Host>,
    memory: CodeMemory,
    codegen: Codegen,
    /// CompileOptions for the next unit.
    pub(super) options: CompileOptions,
    pub(super) counters: Arc<oracle::Counters>,
    routines: Arc<Routines>,
}

impl Compiler {
    pub(super) fn new(host: Arc<Host>, memory: CodeMemory) -> Result<Compiler, CompileError> {
        let codegen = match host.lifetimes {
            Lifetimes::Counted => Codegen::new(),
            Lifetimes::Traced { native_stack } => {
                Codegen::new().and_then(|codegen| codegen.with_stack_maps(native_stack))
            }
        };
        let codegen = codegen.map_err(|e| CompileError::internal(e.to_string()))?;
        let routines = Routines::new(host.clone(), memory.clone(), codegen.fork());
        Ok(Compiler {
            host,
            memory,
            codegen,
            routines,
            options: CompileOptions::default(),
            counters: Arc::default(),
        })
    }

    /// Another compiler over the same host and code memory, for another thread.
    pub(super) fn fork(&self) -> Compiler {
        Compiler {
            host: self.host.clone(),
            memory: self.memory.clone(),
            codegen: self.codegen.fork(),
            options: self.options.clone(),
            counters: self.counters.clone(),
            routines: self.routines.clone(),
        }
    }

    /// Sets the cache that is searched before code is generated.
    pub(super) fn set_cache(&mut self, cache: Option<Arc<Cache>>) {
        self.codegen.set_cache(cache.clone());
        self.routines.set_cache(cache);
    }

    /// See [`Codegen::rest`].
    pub(super) fn rest(&mut self) {
        self.codegen.rest();
        self.routines.rest();
    }

    /// The host.
    pub(super) fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// The code memory.
    pub(super) fn memory(&self) -> &CodeMemory {
        &self.memory
    }

    /// Compiles a unit: see [`Engine::compile`](super::Engine::compile). With a memo, it may stop
    /// because the `World` [lacks answers](World::lacks_answers).
    pub(super) fn compile(
        &mut self,
        request: &Request<'_>,
        memo: Option<&mut Memo>,
    ) -> Result<Unit, Stop> {
        let (draft, optimised) = self.optimise(request, memo)?;
        let generated = self.generate_unit(optimised, request)?;
        Ok(draft.finish(generated))
    }

    /// The first half of a compile, to optimised HIR.
    fn optimise(
        &mut self,
        request: &Request<'_>,
        memo: Option<&mut Memo>,
    ) -> Result<(Draft, Optimised), Stop> {
        let mut course = Course {
            clock: Clock::default(),
            memo,
            selects: 0,
        };
        let mut dumps = Vec::new();
        let mut dump = |keep: bool, stage: &'static str, text: &dyn Fn() -> String| {
            if keep {
                dumps.push((stage, text()));
            }
        };
        let keep = self.options.keep_dumps;
        validate(request)?;
        if self.options.execution != Execution::Machine && !self.host.lifetimes.are_counted() {
            let what = "the LIR interpreter holds references where no collector finds them";
            return Err(CompileError::invalid_request(what).into());
        }
        let code = Arc::new(request.code.clone());
        let start = match request.entry {
            Entry::Function => Start::Function(request.live),
            Entry::Loop(pc) => Start::Loop(pc, request.live),
            Entry::Resume => Start::Resume(request.live),
        };
        if request.entry == Entry::Resume && !self.host.lifetimes.are_counted() {
            return Err(CompileFault::Unsupported {
                what: "a generator, where references are traced,".into(),
                line: code.line,
            }
            .into());
        }
        let mut built = self.select_with_names(&code, start, request, &mut course)?;
        let closed = match request.entry {
            Entry::Function => self.close(&code, &built.f, request, &mut course)?,
            Entry::Loop(_) | Entry::Resume => None,
        };
        let own = closed.map(|(selected, own)| {
            built = selected;
            own
        });
        let f = &built.f;
        dump(keep, "hir", &|| built.text.clone());
        dump(keep, "selected", &|| f.to_string());
        if f.insts.len() > MAX_HIR {
            return Err(CompileFault::LimitExceeded {
                what: "the number of HIR values".into(),
                limit: MAX_HIR as u64,
            }
            .into());
        }
        let draft = Draft {
            inlined: f.inlined.clone(),
            assumptions: f.assumptions.clone(),
            pins: pins_of(f),
            dumps,
            passes: built.passes,
            stored_names: f.names.clone(),
            entry_cells: entry_cells(f),
            timings: course.clock.stages,
            log: course.clock.log,
            proved: f.proved.len(),
            signature: own.as_ref().map(|own| own.signature.clone()),
            routines: self.routines.clone(),
        };
        let optimised = Optimised { f: built.f, own };
        Ok((draft, optimised))
    }

    /// The second half of a compile: machine code from the result of the first half. It queries
    /// neither the `World` nor the host.
    fn generate_unit(
        &mut self,
        optimised: Optimised,
        request: &Request<'_>,
    ) -> Result<Generated, CompileError> {
        let Optimised { f, own } = optimised;
        let Request { entry, parts, .. } = request;
        let CompileOptions {
            keep_dumps,
            execution,
            planted,
            ..
        } = self.options;
        let started = Instant::now();
        let is_planted = planted == Some(Planted::Lowering);
        let lowered = match &own {
            Some(own) => lower::lower_closed(&f, own, &self.host, parts, is_planted),
            None => {
                // The oracle only has functions that it interprets.
                let is_machine = execution == Execution::Machine;
                let routines =
                    |routine| is_machine.then(|| self.routines.address(routine)).flatten();
                lower::lower(&f, &self.host, parts, *entry, is_planted, &routines)
            }
        };
        let lowered = lowered.map_err(|e| CompileError::internal(format!("lowering: {e}\n{f}")))?;
        if self.options.verification >= Verification::Passes {
            check_exits(&lowered.exits)?;
        }
        if let Some((what, name)) = self.host.missing_in(&lowered.func) {
            let fault = CompileFault::Missing {
                function: f.code.name.clone(),
                host: self.host.name,
                what,
                name,
            };
            return Err(fault.into());
        }
        let mut dumps = Vec::new();
        if keep_dumps {
            dumps.push(("lir", lir_text(&lowered, &self.host)));
        }
        let hook = match &own {
            Some(_) => RECORD_EXIT,
            None => EXIT_HOOK,
        };
        let exit_hook = Some(self.host.helper(hook));
        let token = parts.token;
        let adapter = own
            .as_ref()
            .map(|own| lower::adapter(&f.code.name, own, &self.host, token));
        let exits = Exits::pack(&lowered.exits);
        let lowering = started.elapsed();

        let started = Instant::now();
        let mut interpreted = Vec::new();
        let mut code = self.make(lowered.func, exit_hook, token, &mut interpreted)?;
        if keep_dumps {
            dumps.push(("clif", code.clif().unwrap_or_default().to_string()));
            dumps.push(("asm", code.asm().unwrap_or_default().to_string()));
        }
        let mut raw = None;
        if let Some(adapter) = adapter {
            let adapter = self.make(adapter, None, token, &mut interpreted)?;
            raw = Some(std::mem::replace(&mut code, adapter));
        }
        let is_cached = code.is_cached() && raw.as_ref().is_none_or(CompiledCode::is_cached);
        if let Some(cache) = self.codegen.cache() {
            cache.count_unit(is_cached);
        }
        Ok(Generated {
            code,
            raw,
            interpreted,
            exits,
            raw_maps: lowered.raw_maps,
            dumps,
            lowering,
            generation: started.elapsed(),
        })
    }

    /// The selected HIR of a unit from `start`, with the names of its namespace in registers if the
    /// host allows it.
    fn select_with_names(
        &self,
        code: &Arc<Code>,
        start: Start<'_>,
        request: &Request<'_>,
        course: &mut Course<'_>,
    ) -> Result<Selected, Stop> {
        let namespace = request.parts.namespace.as_ref();
        if let Some(namespace) = namespace {
            let mut plan = NamePlan::new(&namespace.live);
            for _ in 0..MAX_ATTEMPTS {
                let selected = self.select(code, start.clone(), request, Some(&plan), course)?;
                if !plan.learn(&selected.f) {
                    return Ok(selected);
                }
            }
        }
        self.select(code, start, request, None, course)
    }

    /// The selected HIR of a function from `start`.
    fn select(
        &self,
        code: &Arc<Code>,
        start: Start<'_>,
        request: &Request<'_>,
        names: Option<&NamePlan>,
        course: &mut Course<'_>,
    ) -> Result<Selected, Stop> {
        let Course {
            clock,
            memo,
            selects,
        } = course;
        let number = *selects;
        *selects += 1;
        if let Some(memo) = memo
            && let Some(known) = memo.selected.get(number)
        {
            return Ok(known.clone());
        }
        let started = Instant::now();
        let met = request.met;
        // The exits of a closed unit are recorded as those of one frame.
        let inlines = !matches!(start, Start::Closed(_));
        let keep = self.options.keep_dumps;
        let verifies = self.options.verification >= Verification::Passes;
        let resumed = memo.as_ref().and_then(|memo| {
            let f = memo.progress.function()?;
            Some((f.clone(), memo.text.clone()))
        });
        let (mut f, text) = match resumed {
            Some(resumed) => resumed,
            None => {
                let f = hir::build(code, start, request.world, request.avoid, met, names);
                if memo.is_some() && request.world.lacks_answers() {
                    return Err(Stop::LacksAnswers);
                }
                let f = f.map_err(|e| CompileFault::Unsupported {
                    what: e.what,
                    line: e.line,
                })?;
                if verifies {
                    check(&f, "build")?;
                }
                let text = if keep { f.to_string() } else { String::new() };
                (f, text)
            }
        };
        clock.add("build", started);
        let cx = opt::Context {
            world: request.world,
            avoid: request.avoid,
            lifetimes: self.host.lifetimes,
            inlines,
            item_arrays: self.host.has_item_arrays(),
            strings: self.host.has_strings(),
            reuses: self.host.has_reuse(),
            objects_are_private: request.parts.objects_are_private,
            check_facts: self.options.check_facts,
            without: &self.options.without,
            log: RefCell::default(),
        };
        let started = Instant::now();
        let mut passes = Vec::new();
        let mut fault = Ok(());
        let progress = memo.as_mut().map(|memo| &mut memo.progress);
        let is_done = opt::run(&mut f, &cx, progress, &mut |name, f| {
            if keep {
                passes.push((name, f.to_string()));
            }
            if verifies && fault.is_ok() {
                fault = check(f, name);
            }
        });
        fault?;
        clock.add("optimise", started);
        clock.log.include(cx.log.into_inner());
        if !is_done {
            if let Some(memo) = memo {
                memo.text = text;
            }
            return Err(Stop::LacksAnswers);
        }
        let audits = self.options.verification >= Verification::References;
        // A closed unit has no frame, and counts nothing.
        if audits && inlines && self.host.lifetimes.are_counted() {
            check_references(&f)?;
        }
        let selected = Selected { f, text, passes };
        if let Some(memo) = memo {
            memo.progress = opt::Progress::default();
            memo.selected.push(selected.clone());
        }
        Ok(selected)
    }

    /// The function as a closed unit, if it can be one.
    fn close(
        &self,
        code: &Arc<Code>,
        f: &hir::Function,
        request: &Request<'_>,
        course: &mut Course<'_>,
    ) -> Result<Option<(Selected, RawEntry)>, Stop> {
        let parts = request.parts.closed.as_ref();
        let parts = parts.filter(|_| self.host.has_closed_units());
        let asked = parts.and_then(|parts| Some((parts, opt::closed::signature(f)?)));
        let Some((parts, signature)) = asked else {
            return Ok(None);
        };
        let own = RawEntry {
            cell: parts.raw_cell,
            boxed_cell: parts.boxed_cell,
            signature,
        };
        match self.select(code, Start::Closed(&own), request, None, course) {
            Ok(selected) if opt::closed::find_open(&selected.f).is_none() => {
                Ok(Some((selected, own)))
            }
            Ok(_) | Err(Stop::Failed(_)) => Ok(None),
            Err(Stop::LacksAnswers) => Err(Stop::LacksAnswers),
        }
    }

    /// Compiles a function that is already LIR.
    pub(super) fn compile_stub(&mut self, func: &Func) -> Result<CompiledCode, CompileError> {
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
        if self.options.execution == Execution::Machine {
            self.codegen
                .plant(self.options.planted == Some(Planted::Codegen));
            return self.generate(&func, exit_hook, token);
        }
        lir::verify(&func, lir::Mode::Unit, &self.host.helpers)
            .map_err(|e| CompileError::internal(e.to_string()))?;
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
        let guarded = |id| self.routines.guarded(id);
        let input = codegen::Input {
            exit_hook,
            unit,
            want_text: self.options.keep_dumps,
            is_fresh: self.options.execution != Execution::Machine,
            guarded: Some(&guarded),
            ..codegen::Input::new(func, &self.host.helpers)
        };
        self.codegen
            .compile(&self.memory, input)
            .map_err(|e| CompileError::internal(e.to_string()))
    }
}

/// The entry cells of a function's calls.
fn entry_cells(f: &hir::Function) -> Vec<u64> {
    let mut cells = Vec::new();
    for &v in f.order.iter().flat_map(|&b| &f.blocks[b].insts) {
        match f.op(v) {
            hir::Op::CallDirect(cell) | hir::Op::CallNext(cell) | hir::Op::CallGetter(cell, ..) => {
                cells.push(*cell)
            }
            hir::Op::CallRaw(entry, _) => cells.extend([entry.cell, entry.boxed_cell]),
            _ => {}
        }
    }
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// The progress of one compile.
struct Course<'a> {
    clock: Clock,
    /// Earlier progress, for a compile that may stop if its `World` lacks answers.
    memo: Option<&'a mut Memo>,
    /// The number of functions whose selection has ended or begun.
    selects: usize,
}

/// The times of the stages so far.
#[derive(Default)]
struct Clock {
    stages: Vec<(&'static str, Duration)>,
    log: opt::Log,
}

impl Clock {
    /// Adds the time of a stage that began at `started`.
    fn add(&mut self, stage: &'static str, started: Instant) {
        let took = started.elapsed();
        match self.stages.iter_mut().find(|known| known.0 == stage) {
            Some(known) => known.1 += took,
            None => self.stages.push((stage, took)),
        }
    }
}

/// Checks a request for errors of the host.
fn validate(request: &Request<'_>) -> Result<(), CompileError> {
    let code = request.code;
    if let Err(errors) = code.verify() {
        let name = code.name.clone();
        return Err(CompileFault::BadBytecode { name, errors }.into());
    }
    let given = request.live.len();
    let invalid = |what: String| Err(CompileError::invalid_request(what));
    match request.entry {
        Entry::Resume if request.parts.suspend.is_none() || request.parts.namespace.is_some() => {
            invalid("a unit that resumes frames needs `suspend`, and no namespace".into())
        }
        Entry::Function | Entry::Resume if given > code.locals.len() => {
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
        Entry::Function | Entry::Resume => Ok(()),
    }
}

/// A function after all passes.
#[derive(Clone)]
struct Selected {
    f: hir::Function,
    /// Its text before them, if text forms were requested.
    text: String,
    /// Its text after each pass that changed it.
    passes: Vec<(&'static str, String)>,
}

/// The most times that a function is built to find out which of its instructions run user code.
const MAX_ATTEMPTS: u32 = 8;

fn check_exits(exits: &[ExitRecord]) -> Result<(), CompileError> {
    let fault = |record: &ExitRecord| Some((record.verify().err()?, record.to_string()));
    match exits.iter().find_map(fault) {
        Some((fault, record)) => Err(CompileError::internal(format!("{fault}: {record}"))),
        None => Ok(()),
    }
}

fn check(f: &hir::Function, pass: &str) -> Result<(), CompileError> {
    hir::verify(f).map_err(|e| CompileError::internal(format!("after {pass}: {e}\n{f}")))
}

fn check_references(f: &hir::Function) -> Result<(), CompileError> {
    hir::check_balance(f).map_err(|e| CompileError::internal(format!("references: {e}\n{f}")))
}

/// Functions with more HIR values than this are not compiled.
pub const MAX_HIR: usize = 100_000;

fn lir_text(lowered: &lower::Lowered, host: &Host) -> String {
    let mut text = lir::print(&lowered.func, &host.helpers);
    for (i, exit) in lowered.exits.iter().enumerate() {
        text += &format!("exit{i}: {exit}\n");
    }
    text
}
