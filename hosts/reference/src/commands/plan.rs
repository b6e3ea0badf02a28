//! `cladonia plan`: the plans of a program's attribute accesses.

use super::program::on_big_stack;
use crate::report::{Failure, Report, file_name, read};
use cladonia::bytecode::Document;
use cladonia_reference::plan::planned;

/// Deduce types from attribute usage, and plan each attribute access
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[group(skip)]
pub struct Args {
    /// The program (`-` for the standard input)
    #[arg(value_name = "FILE.tbc")]
    file: String,

    /// The function; all if none is given
    #[arg(value_name = "FUNCTION")]
    function: Option<String>,

    /// Use the facts of the annotation engine
    #[arg(long)]
    facts: bool,

    /// Print only the number of accesses for each final method
    #[arg(long, conflicts_with = "function")]
    kinds: bool,
}

const EXAMPLES: &str = "\
Examples:
  cladonia plan program.tbc
  cladonia plan program.tbc C.method
  cladonia plan program.tbc --facts --kinds";

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Report, Failure> {
    let text = read(&args.file)?;
    let (file, facts, kinds) = (args.file.clone(), args.facts, args.kinds);
    let function = args.function.clone();
    on_big_stack(move || {
        let document = Document::parse(&text).map_err(|e| e.to_string());
        let report = document.and_then(|document| planned(&document, facts));
        let report = report.map_err(|e| Failure::new(format_args!("{}: {e}", file_name(&file))))?;
        if let Some(name) = &function
            && !report.functions.iter().any(|f| f.name == *name)
        {
            let names: Vec<&str> = report.functions.iter().map(|f| &*f.name).collect();
            let all = names.join(", ");
            return Err(Failure::new(format_args!(
                "{}: there is no code `{name}`; there are {all}",
                file_name(&file)
            )));
        }
        Ok(Report {
            text: if kinds {
                format!("{}\n", report.kinds())
            } else {
                report.text(function.as_deref())
            },
            is_good: true,
        })
    })
}
