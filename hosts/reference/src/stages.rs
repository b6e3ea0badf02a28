//! The text forms of a program's functions at the stages of compilation.

use crate::diff::diff;
use crate::runtime::load::LoadError;
use crate::runtime::{Options, Session};
use cladonia::bytecode::{Code, ConstValue, Document, Pc};
use cladonia::code::{CodeMemory, Config};
use cladonia::engine::{CompileOptions, Engine, Entry, Request, Unit};
use cladonia::hir;
use cladonia::host::{Lifetimes, ReadUnit, Snapshot, read_units, world_of};
use cladonia::opt;
use cladonia::types::Type;
use std::cell::RefCell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The stages, in the order of compilation.
pub const STAGES: &[&str] = &["bytecode", "hir", "selected", "lir", "clif", "asm"];

/// A query for text forms of a program.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// The function; all if none.
    pub function: Option<String>,
    /// The stage.
    pub stage: String,
    /// Calls that are made in the interpreter first, for their observations.
    pub calls: Vec<(String, Vec<ConstValue>)>,
    /// The loop header of the unit's entry; none for the function's start.
    pub header: Option<u32>,
    /// Types of the arguments, or of locals and stack at a loop.
    pub types: Vec<String>,
    /// The pass after which HIR is shown: its name, perhaps with `#` and the number of the time.
    pub after: Option<String>,
    /// True to show only the changes.
    pub diff: bool,
}

impl Query {
    /// Returns true if the query leaves the entries of units and the types of their arguments to
    /// the document.
    fn is_own(&self) -> bool {
        self.calls.is_empty() && self.types.is_empty() && self.header.is_none()
    }
}

/// The text forms.
///
/// # Errors
/// A message of one line.
pub fn show(text: &str, query: &Query) -> Result<String, String> {
    check_query(query)?;
    let options = Options {
        jit: false,
        keep_text: true,
        ..Options::default()
    };
    let session = Session::new(options).map_err(|e| e.to_string())?;
    let document = Document::parse(text).map_err(|e| e.to_string())?;
    let replays = if query.is_own() {
        Replays::read(&document)?
    } else {
        Replays::default()
    };
    let program = match session.load_codes(&document.codes) {
        Ok(program) => Some(program),
        // A program of another host can be shown, but not run.
        Err(LoadError::Constant(..) | LoadError::Raised(_)) if query.calls.is_empty() => None,
        Err(error) => return Err(error.to_string()),
    };
    if let Some(program) = &program {
        for (name, args) in &query.calls {
            program.call(name, args)?;
        }
    }
    let mut shown = Shown {
        query,
        out: String::new(),
        found: false,
        first: None,
        any: false,
    };
    let functions = match query.stage.as_str() {
        "hir" | "selected" => functions_of(&document)?,
        _ => Vec::new(),
    };
    for code in &document.codes {
        // Codes that the document has in HIR or as a unit are not compiled here.
        let in_hir = functions.iter().any(|f| f.f.code.name == code.name);
        if in_hir || replays.has(&code.name) {
            continue;
        }
        let observed = program
            .as_ref()
            .and_then(|program| program.observed(&code.name));
        let code = observed.as_ref().unwrap_or(code);
        shown.add(&code.name, || one(&session, code, query))?;
    }
    let many = replays.units.len() > 1;
    for unit in &replays.units {
        let name = &unit.replay.code.name;
        if many && query.function.is_none() {
            shown.comment(&format!("; {name}, {}\n", entry_text(unit.replay.entry)));
        }
        shown.add(name, || again(unit, query))?;
    }
    for mut function in functions {
        let name = function.f.code.name.clone();
        shown.add(&name, || function.show(&document, query))?;
    }
    if !shown.found {
        return Err(format!(
            "there is no code `{}`; there are {}",
            query.function.as_deref().unwrap_or_default(),
            listed(document.codes.iter().map(|code| code.name.as_str()))
        ));
    }
    match shown.first {
        Some(why) if !shown.any => Err(why),
        _ => Ok(shown.out),
    }
}

fn entry_text(entry: Entry) -> String {
    match entry {
        Entry::Function => "from its start".into(),
        Entry::Loop(pc) => format!("from its loop at {pc}"),
        Entry::Resume => "from where it is suspended".into(),
    }
}

/// The units in a document. They are compiled again, but never run.
#[derive(Default)]
struct Replays {
    units: Vec<ReadUnit>,
}

impl Replays {
    fn read(document: &Document) -> Result<Replays, String> {
        let units = read_units(document).map_err(|e| e.to_string())?;
        Ok(Replays { units })
    }

    fn has(&self, name: &str) -> bool {
        self.units.iter().any(|unit| unit.replay.code.name == name)
    }
}

/// The text for a query about a unit that is compiled again.
fn again(unit: &ReadUnit, query: &Query) -> Result<String, String> {
    if query.stage == "bytecode" {
        return Ok(unit.replay.code.to_string());
    }
    let memory = CodeMemory::new(Config::new().limit(REPLAY_MEMORY)).map_err(|e| e.to_string())?;
    let mut engine = Engine::new(unit.host.clone(), memory).map_err(|e| e.to_string())?;
    engine.set_options(
        CompileOptions::new()
            .keep_dumps(true)
            .verify(crate::runtime::verification()),
    );
    let made = catch(|| engine.compile(Request::from(&unit.replay)))?;
    of_unit(&made.map_err(|e| e.to_string())?, query)
}

/// Bytes of code memory for units that are compiled again.
const REPLAY_MEMORY: usize = 64 << 20;

/// The functions that a document has in HIR.
fn functions_of(document: &Document) -> Result<Vec<FunctionInHir>, String> {
    let sections = document.sections.iter();
    let count = sections.filter(|s| s.keyword == "function").count();
    (0..count)
        .map(|number| FunctionInHir::read(document, number))
        .collect()
}

/// Names in backticks, separated by commas.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}

/// Checks of a query that need no program.
fn check_query(query: &Query) -> Result<(), String> {
    let asks = query.after.is_some() || query.diff;
    if asks && !matches!(query.stage.as_str(), "hir" | "selected") {
        return Err(format!(
            "--after and --diff show what passes do to HIR, not the stage `{}`; ask `cladonia hir`",
            query.stage
        ));
    }
    live_types(&query.types)?;
    let Some(after) = &query.after else {
        return Ok(());
    };
    let (name, time) = after.split_once('#').unwrap_or((after, "1"));
    pass_named(name)?;
    match time.parse::<u32>() {
        Ok(1..) => Ok(()),
        _ => Err(format!(
            "`{after}`: which time a pass ran is a number from 1, as in `{name}#2`"
        )),
    }
}

/// The output so far.
struct Shown<'a> {
    query: &'a Query,
    out: String,
    /// True if there is a code of the requested name.
    found: bool,
    /// The reason for the first code without text.
    first: Option<String>,
    /// True if some code has text.
    any: bool,
}

impl Shown<'_> {
    fn ends_with_comment(&self) -> bool {
        self.out
            .lines()
            .last()
            .is_some_and(|line| line.starts_with("; "))
    }

    fn comment(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out += text;
    }

    /// Adds the text of a code, if it is requested.
    fn add(
        &mut self,
        name: &str,
        one: impl FnOnce() -> Result<String, String>,
    ) -> Result<(), String> {
        let wanted = self.query.function.as_deref();
        if wanted.is_some_and(|wanted| wanted != name) {
            return Ok(());
        }
        self.found = true;
        if !self.out.is_empty() && !self.ends_with_comment() {
            self.out.push('\n');
        }
        match one() {
            Ok(text) => {
                self.any = true;
                self.out += &text;
            }
            Err(why) => {
                self.out += &format!("; `{name}`: {why}\n");
                self.first.get_or_insert(format!("`{name}`: {why}"));
            }
        }
        Ok(())
    }
}

fn one(session: &Session, code: &Code, query: &Query) -> Result<String, String> {
    if query.stage == "bytecode" {
        return Ok(code.to_string());
    }
    let unit = compile(session, code, query.header, &query.types)?;
    of_unit(&unit, query)
}

/// The text for a query about a unit.
fn of_unit(unit: &Unit, query: &Query) -> Result<String, String> {
    let stage = |name: &str| {
        let found = unit.dumps.iter().find(|(stage, _)| *stage == name);
        found
            .map(|(_, text)| text.as_str())
            .ok_or_else(|| format!("there is no text of the stage `{name}`"))
    };
    match query.stage.as_str() {
        "hir" | "selected" => of_hir(stage("hir")?, &unit.passes, stage("selected")?, query),
        other => Ok(stage(other)?.to_owned()),
    }
}

/// HIR as it was built, after the passes, after one, or the changes of one or all.
fn of_hir(
    built: &str,
    passes: &[(&'static str, String)],
    selected: &str,
    query: &Query,
) -> Result<String, String> {
    let is_hir = query.stage == "hir";
    match &query.after {
        None if query.diff && is_hir => return Ok(changes(built, passes, None)),
        None if query.diff => return Ok(diff(built, selected, 1)),
        None if is_hir => return Ok(built.to_owned()),
        None => return Ok(selected.to_owned()),
        Some(_) => {}
    }
    let after = query.after.as_deref().unwrap_or_default();
    let (name, time) = after.split_once('#').unwrap_or((after, "1"));
    let nth = time.parse::<usize>().unwrap_or(1) - 1;
    let mut runs = passes
        .iter()
        .enumerate()
        .filter(|(_, (pass, _))| *pass == name);
    let Some((at, (_, text))) = runs.nth(nth) else {
        let mut changed: Vec<&str> = Vec::new();
        for (pass, _) in passes {
            if !changed.contains(pass) {
                changed.push(pass);
            }
        }
        return Err(format!(
            "`{after}` changed nothing in it; these did: {}",
            listed(changed.into_iter())
        ));
    };
    if query.diff {
        Ok(changes(built, passes, Some(at)))
    } else {
        Ok(text.clone())
    }
}

/// The changes of each pass, or only of the one at an index.
fn changes(built: &str, passes: &[(&'static str, String)], only: Option<usize>) -> String {
    let mut out = String::new();
    for (at, (name, text)) in passes.iter().enumerate() {
        if only.is_some_and(|only| only != at) {
            continue;
        }
        let before = at.checked_sub(1).map_or(built, |before| &passes[before].1);
        let time = passes[..=at]
            .iter()
            .filter(|(other, _)| other == name)
            .count();
        out += &format!("; {name}#{time}\n{}", diff(before, text, 1));
    }
    out
}

/// Compiles a code for its text forms.
///
/// # Errors
/// The reason why it is not compiled, or the error in the types.
pub fn compile(
    session: &Session,
    code: &Code,
    header: Option<u32>,
    types: &[String],
) -> Result<Unit, String> {
    let live = live_types(types)?;
    let entry = match header {
        Some(pc) if pc as usize >= code.instrs.len() => {
            return Err(format!("there is no instruction @{pc}"));
        }
        Some(pc) => Entry::Loop(Pc(pc)),
        None => Entry::Function,
    };
    session.compile_text(code, entry, &live)
}

/// Types by their text; those of builtin classes have names.
fn live_types(types: &[String]) -> Result<Vec<Type>, String> {
    let names = cladonia::types::Hierarchy::parse("")
        .map_err(|e| e.to_string())?
        .names();
    let read = |text: &String| Type::parse(text, &names).map_err(|e| format!("`{text}`: {e}"));
    types.iter().map(read).collect()
}

/// A function that a document has in HIR, with the document's answers about its `World`.
pub struct FunctionInHir {
    /// The function.
    pub f: hir::Function,
    world: Snapshot,
}

impl FunctionInHir {
    /// The document's function in HIR with this number.
    ///
    /// # Errors
    /// If there is none, or it can't be read.
    pub fn read(document: &Document, number: usize) -> Result<FunctionInHir, String> {
        let mut sections = document.sections.iter().filter(|s| s.keyword == "function");
        let section = sections.nth(number).ok_or("there is no function in HIR")?;
        let f = hir::parse_section(document, section).map_err(|e| e.to_string())?;
        let world = world_of(document).map_err(|e| e.to_string())?;
        Ok(FunctionInHir { f, world })
    }

    /// Its text, which reads back as the same.
    ///
    /// # Errors
    /// If it does not.
    pub fn text(&self, document: &Document) -> Result<String, String> {
        let text = self.f.to_string();
        let names = cladonia::types::Names::of(document.host());
        let again = hir::parse(
            &text,
            &self.f.code,
            &self.f.inlined,
            document.host(),
            &names,
        );
        match again {
            Ok(f) if f.to_string() == text => Ok(text),
            Ok(_) => Err(format!("the text reads back as something else:\n{text}")),
            Err(error) => Err(format!("the text does not read back: {error}\n{text}")),
        }
    }

    /// The text for a query about it.
    fn show(&mut self, document: &Document, query: &Query) -> Result<String, String> {
        let built = self.text(document)?;
        if query.stage == "hir" && query.after.is_none() && !query.diff {
            return Ok(built);
        }
        let mut passes = Vec::new();
        self.run_all(&mut |name, f| passes.push((name, f.to_string())))?;
        of_hir(&built, &passes, &self.text(document)?, query)
    }

    /// Runs one pass. Returns true if it changed something.
    ///
    /// # Errors
    /// If there is no such pass, or the function is not well-formed before or after it.
    pub fn run_pass(&mut self, name: &str) -> Result<bool, String> {
        let pass = pass_named(name)?;
        verified(&self.f, "before the passes")?;
        let (world, f) = (&self.world, &mut self.f);
        let avoid = HashSet::new();
        let cx = opt::Context {
            world,
            avoid: &avoid,
            lifetimes: Lifetimes::Counted,
            inlines: true,
            item_arrays: true,
            strings: true,
            reuses: true,
            objects_are_private: true,
            check_facts: false,
            without: &[],
            log: RefCell::default(),
        };
        let changed = catch(|| opt::run_pass(pass, f, &cx))?;
        verified(&self.f, &format!("after {name}"))?;
        Ok(changed)
    }

    /// Runs all passes; `after` gets the function after each that changed it.
    ///
    /// # Errors
    /// If the function is not well-formed before or after one.
    pub fn run_all(
        &mut self,
        after: &mut dyn FnMut(&'static str, &hir::Function),
    ) -> Result<(), String> {
        verified(&self.f, "before the passes")?;
        let (world, f) = (&self.world, &mut self.f);
        let avoid = HashSet::new();
        let cx = opt::Context {
            world,
            avoid: &avoid,
            lifetimes: Lifetimes::Counted,
            inlines: true,
            item_arrays: true,
            strings: true,
            reuses: true,
            objects_are_private: true,
            check_facts: false,
            without: &[],
            log: RefCell::default(),
        };
        let mut fault = Ok(());
        catch(|| {
            opt::run(f, &cx, None, &mut |name, f| {
                if fault.is_ok() {
                    fault = verified(f, &format!("after {name}"));
                }
                after(name, f);
            })
        })?;
        fault
    }
}

fn pass_named(name: &str) -> Result<opt::Pass, String> {
    opt::Pass::named(name).ok_or_else(|| {
        let known = opt::Pass::ALL.iter().map(|pass| pass.name());
        format!("there is no pass `{name}`; there are {}", listed(known))
    })
}

fn verified(f: &hir::Function, when: &str) -> Result<(), String> {
    hir::verify(f).map_err(|errors| format!("not well-formed {when}:\n{errors}"))
}

/// The message of a panic, since HIR written by hand may trigger a bug of Cladonia.
///
/// # Errors
/// The message of a panic.
pub fn catch<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("internal: {}", text.unwrap_or("a panic"))
    })
}
