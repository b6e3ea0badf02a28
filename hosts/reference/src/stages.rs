//! The text forms of a program's functions at the stages of compilation.

use crate::diff::diff;
use crate::runtime::load::LoadError;
use crate::runtime::{Options, Session};
use cladonia::bytecode::{Code, ConstValue, Document, Pc};
use cladonia::engine::{Entry, Unit};
use cladonia::types::Type;

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
