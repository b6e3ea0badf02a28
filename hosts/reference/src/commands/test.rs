//! `cladonia test`: file tests.

use super::program::on_big_stack;
use crate::report::{Failure, Report};
use cladonia_reference::filetest::{Verdict, is_test, run_file};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Run file tests: documents with expected results in comments
#[derive(clap::Args)]
#[command(
    after_help = "See docs/filetests.md for the requests. BLESS=1 in the environment is the same as --bless."
)]
#[group(skip)]
pub struct Args {
    /// Files, or folders of .tbc and .tg files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Write the answers instead of comparing them
    #[arg(long)]
    bless: bool,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Report, Failure> {
    let bless = args.bless || std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let mut files = Vec::new();
    for path in &args.files {
        collect(path, &mut files)?;
    }
    on_big_stack(move || {
        let (mut text, mut failed, mut requests) = (String::new(), 0, 0);
        for file in &files {
            match run_file(file, bless) {
                Ok(Verdict::Passed(count)) => requests += count,
                Ok(Verdict::Blessed) => {}
                Err(faults) => {
                    failed += 1;
                    let _ = writeln!(text, "{}:\n{faults}", file.display());
                }
            }
        }
        let _ = if bless {
            writeln!(text, "{} files blessed, {failed} failed", files.len())
        } else {
            writeln!(
                text,
                "{} files, {requests} requests, {failed} files failed",
                files.len()
            )
        };
        Ok(Report {
            text,
            is_good: failed == 0,
        })
    })
}

/// The file, or all files below a folder, in order.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let fail = |e: std::io::Error| Failure::new(format_args!("{}: {e}", path.display()));
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut inside: Vec<PathBuf> = std::fs::read_dir(path)
        .map_err(fail)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(fail)?;
    inside.sort();
    for path in inside {
        if path.is_dir() || is_test(&path) {
            collect(&path, files)?;
        }
    }
    Ok(())
}
