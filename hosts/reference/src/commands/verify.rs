//! `cladonia verify`: whether a document is well-formed typed bytecode.

use crate::report::{Failure, Report, file_name, read};
use cladonia::bytecode::Document;
use cladonia::hir;
use cladonia::host::world_of;
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
                if let Err(error) = world_of(&document) {
                    faults += 1;
                    let _ = writeln!(text, "{name}: {error}");
                }
                is_good &= faults == 0;
                if faults == 0 {
                    let functions = match functions {
                        0 => String::new(),
                        n => format!(" and {n} functions in HIR"),
                    };
                    let codes = document.codes.len();
                    let _ = writeln!(text, "{name}: {codes} codes{functions}, well-formed");
                }
            }
        }
    }
    Ok(Report { text, is_good })
}
