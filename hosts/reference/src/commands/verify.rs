//! `cladonia verify`: checks that a document is well-formed typed bytecode.

use crate::report::{Failure, Report, file_name, read};
use cladonia::bytecode::Document;
use cladonia::hir;
use cladonia::host::{read_units, world_of};
use std::fmt::Write;

/// Check that documents of typed bytecode are well-formed
#[derive(clap::Args)]
#[group(skip)]
pub struct Args {
    /// The documents (`-` for the standard input)
    #[arg(value_name = "FILE.tbc", required = true)]
    files: Vec<String>,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Report, Failure> {
    let (mut text, mut is_good) = (String::new(), true);
    for file in &args.files {
        let name = file_name(file);
        match Document::parse(&read(file)?) {
            Err(error) => {
                is_good = false;
                let _ = writeln!(text, "{name}: {error}");
            }
            Ok(document) => {
                let mut faults = 0;
                for code in &document.codes {
                    if let Err(errors) = code.verify() {
                        faults += 1;
                        let _ = writeln!(text, "{name}: in `{}`: {errors}", code.name);
                    }
                }
                let mut functions = 0;
                for section in document.sections.iter().filter(|s| s.keyword == "function") {
                    functions += 1;
                    let read = hir::parse_section(&document, section);
                    let checked = read
                        .map_err(|e| e.to_string())
                        .and_then(|f| hir::verify(&f).map_err(|e| e.to_string()));
                    if let Err(error) = checked {
                        faults += 1;
                        let _ = writeln!(text, "{name}: {error}");
                    }
                }
                let rest = world_of(&document).map(|_| 0);
                let rest = rest.and_then(|_| Ok(read_units(&document)?.len()));
                let units = rest.unwrap_or_else(|error| {
                    faults += 1;
                    let _ = writeln!(text, "{name}: {error}");
                    0
                });
                is_good &= faults == 0;
                if faults == 0 {
                    let more = |n: usize, what: &str| match n {
                        0 => String::new(),
                        n => format!(", {n} {what}"),
                    };
                    let (functions, units) =
                        (more(functions, "functions in HIR"), more(units, "units"));
                    let codes = document.codes.len();
                    let _ = writeln!(text, "{name}: {codes} codes{functions}{units}: well-formed");
                }
            }
        }
    }
    Ok(Report { text, is_good })
}
