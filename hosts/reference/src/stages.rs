//! The text forms of a program's functions at the stages of compilation.

use crate::diff::diff;
use crate::runtime::load::LoadError;
use crate::runtime::{Options, Session};
use cladonia::bytecode::{Code, ConstValue, Document, Pc};
use cladonia::engine::{Entry, Unit};
use cladonia::hir;
use cladonia::host::{Snapshot, world_of};
use cladonia::opt;
use cladonia::types::Type;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The stages, in the order of the way.
pub const STAGES: &[&str] = &["bytecode", "hir", "selected", "lir", "clif", "asm"];

/// What is to be shown of a program.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// The function; all if none.
    pub function: Option<String>,
    /// The stage.
    pub stage: String,
    /// Calls that are made in the interpreter before, for what they observe.
    pub calls: Vec<(String, Vec<ConstValue>)>,
    /// The loop header at which the unit begins; none for the function's start.
    pub header: Option<u32>,
    /// Types of the arguments, or of locals and stack at a loop.
    pub types: Vec<String>,
    /// The pass after which HIR is shown: its name, or that with `#` and which time.
    pub after: Option<String>,
    /// Show what changed, and not the whole.
    pub diff: bool,
}

/// The text forms.
///
/// # Errors
/// One line that says what is wrong.
pub fn show(text: &str, query: &Query) -> Result<String, String> {
    let options = Options {
        jit: false,
        keep_text: true,
        ..Options::default()
    };
    let session = Session::new(options).map_err(|e| e.to_string())?;
    let document = Document::parse(text).map_err(|e| e.to_string())?;
    let program = match session.load_codes(&document.codes) {
        Ok(program) => Some(program),
        // A program of another host can be shown, if not run.
        Err(LoadError::Constant(..) | LoadError::Raised(_)) => None,
        Err(error) => return Err(error.to_string()),
    };
    if let Some(program) = &program {
        for (name, args) in &query.calls {
            program.call(name, args)?;
        }
    }
    let mut out = String::new();
    let mut found = false;
    for code in &document.codes {
        if query
            .function
            .as_ref()
            .is_some_and(|name| *name != code.name)
        {
            continue;
        }
        found = true;
        let observed = program
            .as_ref()
            .and_then(|program| program.observed(&code.name));
        let code = observed.as_ref().unwrap_or(code);
        if !out.is_empty() {
            out.push('\n');
        }
        match one(&session, code, query) {
            Ok(text) => out += &text,
            Err(why) if query.function.is_none() => out += &format!("; `{}`: {why}\n", code.name),
            Err(why) => return Err(format!("`{}`: {why}", code.name)),
        }
    }
    if !found {
        return Err(format!(
            "there is no code `{}`",
            query.function.as_deref().unwrap_or_default()
        ));
    }
    Ok(out)
}

fn one(session: &Session, code: &Code, query: &Query) -> Result<String, String> {
    if query.stage == "bytecode" {
        return Ok(code.to_string());
    }
    let unit = compile(session, code, query.header, &query.types)?;
    let stage = |name: &str| {
        let found = unit.dumps.iter().find(|(stage, _)| *stage == name);
        found.map(|(_, text)| text.as_str())
    };
    if query.diff || query.after.is_some() {
        return passes(stage("hir").unwrap_or_default(), &unit, query);
    }
    let text = stage(&query.stage)
        .ok_or_else(|| format!("there is no text of the stage `{}`", query.stage))?;
    Ok(text.to_owned())
}

/// HIR after a pass, or what the passes changed.
fn passes(built: &str, unit: &Unit, query: &Query) -> Result<String, String> {
    let mut out = String::new();
    let mut before = built;
    let mut times = std::collections::HashMap::new();
    for (name, after) in &unit.passes {
        let time = times.entry(*name).and_modify(|n| *n += 1).or_insert(1u32);
        let label = format!("{name}#{time}");
        let wanted = match &query.after {
            None => true,
            Some(wanted) => *wanted == label || wanted == name && *time == 1,
        };
        if wanted {
            if query.diff {
                out += &format!("; {label}\n{}", diff(before, after, 1));
            } else {
                out += after;
            }
        }
        before = after;
    }
    match &query.after {
        Some(wanted) if out.is_empty() => Err(format!(
            "no pass `{wanted}` changed it; these did: {}",
            times.keys().copied().collect::<Vec<_>>().join(", ")
        )),
        _ => Ok(out),
    }
}

/// Compile a code for its text forms.
///
/// # Errors
/// Why it is not compiled, or what is wrong with the types.
pub fn compile(
    session: &Session,
    code: &Code,
    header: Option<u32>,
    types: &[String],
) -> Result<Unit, String> {
    let names = cladonia::types::Hierarchy::parse("")
        .map_err(|e| e.to_string())?
        .names();
    let live = types
        .iter()
        .map(|text| Type::parse(text, &names).map_err(|e| format!("`{text}`: {e}")))
        .collect::<Result<Vec<Type>, String>>()?;
    let entry = match header {
        Some(pc) if pc as usize >= code.instrs.len() => {
            return Err(format!("there is no instruction @{pc}"));
        }
        Some(pc) => Entry::Loop(Pc(pc)),
        None => Entry::Function,
    };
    session.compile_text(code, entry, &live)
}

/// A function that a document has in HIR, with what the document says of its world.
pub struct FunctionInHir {
    /// The function.
    pub f: hir::Function,
    world: Snapshot,
}

impl FunctionInHir {
    /// The document's function in HIR with this number.
    ///
    /// # Errors
    /// There is none, or it can't be read.
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
    /// It does not.
    pub fn text(&self, document: &Document) -> Result<String, String> {
        let text = self.f.to_string();
        let names = cladonia::types::Names::of(document.host());
        let again = hir::parse(&text, &self.f.code, document.host(), &names);
        match again {
            Ok(f) if f.to_string() == text => Ok(text),
            Ok(_) => Err(format!("the text reads back as something else:\n{text}")),
            Err(error) => Err(format!("the text does not read back: {error}\n{text}")),
        }
    }

    /// Run one pass; says whether it changed something.
    ///
    /// # Errors
    /// There is no such pass, or the function is not well-formed before or after it.
    pub fn run_pass(&mut self, name: &str) -> Result<bool, String> {
        let known: Vec<&str> = opt::names().collect();
        if !known.contains(&name) {
            return Err(format!(
                "there is no pass `{name}`; there are {}",
                known.join(", ")
            ));
        }
        verified(&self.f, "before the passes")?;
        let (world, f) = (&self.world, &mut self.f);
        let avoid = HashSet::new();
        let cx = opt::Context {
            world,
            avoid: &avoid,
        };
        let changed = catch(|| opt::run_pass(name, f, &cx))?;
        verified(&self.f, &format!("after {name}"))?;
        Ok(changed == Some(true))
    }

    /// Run all passes; `after` gets the function after each that changed it.
    ///
    /// # Errors
    /// The function is not well-formed before or after one.
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
        };
        let mut fault = Ok(());
        catch(|| {
            opt::run(f, &cx, &mut |name, f| {
                if fault.is_ok() {
                    fault = verified(f, &format!("after {name}"));
                }
                after(name, f);
            })
        })?;
        fault
    }
}

fn verified(f: &hir::Function, when: &str) -> Result<(), String> {
    hir::verify(f).map_err(|errors| format!("not well-formed {when}:\n{errors}"))
}

/// What a fault of Cladonia's own says, where HIR written by hand may bring one to light.
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
