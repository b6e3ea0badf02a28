//! Checks that the facts of the annotation engine hold when the program runs: before each
//! instruction of the interpreter, each local and each entry of the stack must be one of the values
//! that were inferred for it there.

use crate::runtime::frame::{Frame, FrameRef};
use crate::runtime::heap::Ref;
use crate::runtime::ops::repr;
use crate::runtime::{Options, Session, Step, belongs};
use cladonia::bytecode::{Code, ConstValue, Document, Op as B, Pc};
use cladonia::hir::{FrameState, Function, Op};
use cladonia::infer::{self, Analysis, Facts, FuncId, Program, Start, analyse};
use cladonia::types::Type;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The number of other orders of steps in which the analysis runs, to check that the facts are the
/// same.
const ORDERS: u64 = 2;

/// The most items of a sequence, or bits of an int, that an operator creates.
const MAX_SIZE: usize = 1 << 12;

/// The number of times that one instruction is checked.
const LOOKS: u32 = 200;

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The number of checked values.
    pub values: u64,
    /// The number of those that have facts.
    pub told: u64,
    /// Facts that do not hold, each once for an instruction.
    pub wrong: Vec<String>,
    /// The reason why the run proves nothing, if so.
    pub void: Option<String>,
}

/// The possible values before an instruction, in one version of its function.
struct Place<'a> {
    version: usize,
    state: &'a FrameState,
    is_reached: bool,
    is_between: bool,
}

/// A call of a global function, with its arguments.
pub type Call = (String, Vec<ConstValue>);

/// Analyses a program from its module's body and the calls, runs it in the interpreter, and
/// compares.
///
/// # Errors
/// If the document is no program, or can't be loaded.
pub fn check_facts(
    document: &Document,
    calls: &[Call],
    times: u32,
    max_steps: u64,
) -> Result<Report, String> {
    check_facts_of(document, calls, calls, times, max_steps)
}

/// The same with an analysis of the calls `told` and a run of other calls. If those have other
/// types, facts do not hold.
///
/// # Errors
/// As for [`check_facts`].
pub fn check_facts_of(
    document: &Document,
    told: &[Call],
    calls: &[Call],
    times: u32,
    max_steps: u64,
) -> Result<Report, String> {
    let program = Rc::new(Program::of_document(document)?);
    let types: Vec<Vec<Type>> = told
        .iter()
        .map(|(_, args)| args.iter().map(type_of).collect())
        .collect();
    let starts: Vec<Start<'_>> = told
        .iter()
        .zip(&types)
        .filter_map(|((name, _), types)| {
            let function = program.find(name)?;
            Some(Start { function, types })
        })
        .collect();
    let analysis = analyse(&program, &starts, &infer::Options::default());
    let mut differing = Vec::new();
    for seed in 1..=ORDERS {
        let options = infer::Options {
            shuffle: Some(seed),
            ..infer::Options::default()
        };
        let other = analyse(&program, &starts, &options);
        if other.canonical != analysis.canonical {
            let lines = analysis.canonical.lines().zip(other.canonical.lines());
            let first = lines.into_iter().find(|(a, b)| a != b);
            let (a, b) = first.unwrap_or(("", "one is longer"));
            differing.push(format!("in order {seed} there is\n{b}\nfor\n{a}"));
            break;
        }
    }
    let mut report = check_run(
        &document.codes,
        calls,
        times,
        max_steps,
        program.clone(),
        analysis,
    )?;
    report.wrong.extend(differing);
    Ok(report)
}

fn type_of(value: &ConstValue) -> Type {
    match value {
        ConstValue::None => Type::NONE_TYPE,
        ConstValue::Bool(_) => Type::BOOL,
        ConstValue::Int(_) => Type::LONG_EXACT,
        ConstValue::Float(_) => Type::FLOAT_EXACT,
        ConstValue::Str(_) => Type::UNICODE_EXACT,
        ConstValue::Other => Type::OBJECT,
    }
}

/// Exceptions that the analysis does not follow: signals, memory, the depth of recursion and faults
/// of the runtime itself.
fn is_left_out(object: &Ref) -> bool {
    match &*object.class().name {
        "RecursionError" | "MemoryError" | "SystemError" => true,
        // Includes this runtime's exception for objects that are too large.
        "OverflowError" => repr(object).is_ok_and(|text| text == "OverflowError('int too large')"),
        _ => false,
    }
}

fn check_run(
    codes: &[Code],
    calls: &[Call],
    times: u32,
    max_steps: u64,
    program: Rc<Program>,
    analysis: Analysis,
) -> Result<Report, String> {
    let options = Options {
        jit: false,
        max_steps,
        max_size: MAX_SIZE,
        ..Options::default()
    };
    let session = Session::new(options).map_err(|e| e.to_string())?;
    let report = Rc::new(RefCell::new(Report::default()));
    let seen = report.clone();
    let mut checker = Checker::new(program, analysis);
    session.on_step(Box::new(move |frame, step| {
        checker.look(frame, step, &mut seen.borrow_mut());
    }));
    match session.load_codes(codes) {
        Ok(loaded) => {
            for (name, args) in calls {
                for _ in 0..times {
                    // Exceptions were checked when they were raised.
                    let _ = loaded.call(name, args);
                }
            }
        }
        Err(error @ crate::runtime::load::LoadError::Raised(_)) => drop(error),
        Err(error) => return Err(error.to_string()),
    }
    if session.is_broken() {
        report.borrow_mut().void = Some("the bytecode breaks its own rules".into());
    }
    drop(session);
    let report = report.borrow().clone();
    Ok(report)
}

/// The facts, prepared for lookups at each instruction.
struct Checker {
    program: Rc<Program>,
    analysis: Analysis,
    /// The functions by name; none for a code without HIR.
    functions: HashMap<String, Option<FuncId>>,
    looks: HashMap<(FuncId, Pc), u32>,
    told: HashSet<(FuncId, Pc)>,
    /// For each frame, the last instruction, and true if it has left the part that the analysis
    /// follows.
    frames: HashMap<*mut Frame, (Pc, bool)>,
    /// True after an exception that the analysis does not follow: from here on the run proves
    /// nothing.
    is_over: bool,
}

impl Checker {
    fn new(program: Rc<Program>, analysis: Analysis) -> Checker {
        Checker {
            program,
            analysis,
            functions: HashMap::new(),
            looks: HashMap::new(),
            told: HashSet::new(),
            frames: HashMap::new(),
            is_over: false,
        }
    }

    fn look(&mut self, frame: FrameRef, step: Step<'_>, report: &mut Report) {
        self.is_over |= match step {
            Step::Before(_) => {
                frame.depth() > 0 && frame.peek(0).is_some_and(|top| is_left_out(&top))
            }
            Step::Returned(_) => false,
            Step::Raised(object) => is_left_out(object),
        };
        if self.is_over {
            return;
        }
        let name = &frame.code().code.name;
        let func = match self.functions.get(name) {
            Some(func) => *func,
            None => {
                let func = self.program.find(name);
                self.functions.insert(name.clone(), func);
                func
            }
        };
        let Some(func) = func else { return };
        let program = self.program.clone();
        let f = program.function(func);
        if self.exits_to_interpreter(frame, f, &step) {
            return;
        }
        let pc = match step {
            Step::Before(pc) => pc,
            Step::Returned(_) | Step::Raised(_) => Pc(u32::MAX),
        };
        let looks = self.looks.entry((func, pc)).or_default();
        *looks += 1;
        if *looks > LOOKS || self.told.contains(&(func, pc)) {
            return;
        }
        let found = match step {
            Step::Before(pc) => self.at(func, f, frame, pc, report),
            Step::Returned(object) => self.left(func, object, |found| &found.result),
            Step::Raised(object) => self.left(func, object, |found| &found.raised),
        };
        if let Err(why) = found {
            self.told.insert((func, pc));
            let place = match step {
                Step::Before(pc) => {
                    let instr = f.code.instr(pc);
                    format!(
                        "`{name}` before @{} ({:?}, line {})",
                        pc.0, instr.op, instr.line
                    )
                }
                Step::Returned(_) => format!("the result of `{name}`"),
                Step::Raised(_) => format!("the exception of `{name}`"),
            };
            report.wrong.push(format!("{place}: {why}"));
        }
    }

    /// Returns true if the frame took a path that HIR leaves to the interpreter: an operation that
    /// may exit raised, and the function handles that.
    fn exits_to_interpreter(&mut self, frame: FrameRef, f: &Function, step: &Step<'_>) -> bool {
        let Step::Before(pc) = *step else {
            self.frames.remove(&frame.as_ptr());
            return false;
        };
        let (last, left) = self.frames.entry(frame.as_ptr()).or_insert((pc, false));
        let handler = f.code.handler_at(*last);
        if !*left && handler.is_some_and(|handler| handler.target == pc) {
            let exits = |op: &Op| {
                let is_between = matches!(op, Op::CheckValid | Op::CheckPending | Op::CheckQuiet);
                op.exit_reason().is_some() && !is_between
            };
            *left = f
                .insts
                .values()
                .any(|inst| inst.pc == *last && exits(&inst.op));
        }
        *last = pc;
        *left
    }

    fn left(
        &self,
        func: FuncId,
        object: &Ref,
        facts: impl Fn(&infer::Found) -> &Facts,
    ) -> Result<(), String> {
        let mut why = "the function is never reached".to_owned();
        for found in self.analysis.of(func) {
            match belongs(&self.analysis, facts(found), Some(object)) {
                Ok(()) => return Ok(()),
                Err(what) => why = what,
            }
        }
        Err(why)
    }

    fn at(
        &self,
        func: FuncId,
        f: &Function,
        frame: FrameRef,
        pc: Pc,
        report: &mut Report,
    ) -> Result<(), String> {
        // Compiled code has the results of these in the frame from its start.
        if matches!(f.code.instr(pc).op, B::MakeCell | B::CopyFreeVars) {
            return Ok(());
        }
        let places = self.places(func, f, pc, frame.depth());
        // A check between instructions is on one of several outgoing paths.
        if places.iter().all(|place| place.is_between) {
            return Ok(());
        }
        let mut why = "nothing leads here".to_owned();
        for place in places.iter().filter(|place| place.is_reached) {
            match self.fits(place, f, frame, report) {
                Ok(()) => return Ok(()),
                Err(what) => why = what,
            }
        }
        Err(why)
    }

    /// The states before an instruction, in all versions.
    fn places<'a>(&self, func: FuncId, f: &'a Function, pc: Pc, depth: usize) -> Vec<Place<'a>> {
        let mut places = Vec::new();
        for &block in &f.order {
            for (index, &v) in f.blocks[block].insts.iter().enumerate() {
                let Some(state) = f.insts[v].state.map(|state| &f.states[state]) else {
                    continue;
                };
                // Where an object is released, the instruction has already had some effect.
                let is_before = state.pc == pc && state.stack.len() == depth;
                if !is_before || matches!(f.insts[v].op, Op::Decref) {
                    continue;
                }
                let op = &f.insts[v].op;
                let is_between = matches!(op, Op::CheckValid | Op::CheckPending | Op::CheckQuiet);
                let versions = self.analysis.versions.iter().enumerate();
                for (version, found) in versions.filter(|(_, found)| found.func == func) {
                    let is_before = found.stops.get(&block).is_none_or(|stop| {
                        let insts = &f.blocks[block].insts;
                        let stop = insts.iter().position(|v| v == stop);
                        stop.is_some_and(|stop| index <= stop)
                    });
                    places.push(Place {
                        version,
                        state,
                        is_reached: found.reached.contains(&block) && is_before,
                        is_between,
                    });
                }
                if self.analysis.of(func).next().is_none() {
                    places.push(Place {
                        version: usize::MAX,
                        state,
                        is_reached: false,
                        is_between,
                    });
                }
            }
        }
        places
    }

    fn fits(
        &self,
        place: &Place<'_>,
        f: &Function,
        frame: FrameRef,
        report: &mut Report,
    ) -> Result<(), String> {
        let found = &self.analysis.versions[place.version];
        let locals = f.code.locals.iter().zip(&place.state.locals).enumerate();
        let depth = frame.depth();
        let stack = place.state.stack.iter().enumerate();
        let values =
            locals
                .map(|(k, (local, v))| (format!("local {}", local.0), *v, frame.local(k)))
                .chain(stack.map(|(k, entry)| {
                    (format!("stack {k}"), entry.value, frame.peek(depth - 1 - k))
                }));
        for (what, v, object) in values {
            report.values += 1;
            let Some(facts) = found.values.get(&v) else {
                return Err(format!("{what} ({v:?}) is impossible, and is {object:?}"));
            };
            report.told += !facts.is_most_general() as u64;
            belongs(&self.analysis, facts, object.as_ref())
                .map_err(|why| format!("{what} ({v:?}): {why}"))?;
        }
        Ok(())
    }
}
