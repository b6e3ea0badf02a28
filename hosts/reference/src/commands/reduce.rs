//! `cladonia reduce`: a smaller program with the same finding.

use super::program::{call_text, on_big_stack};
use crate::report::{Failure, Report, file_name, read};
use cladonia::bytecode::Document;
use cladonia_reference::check::{Plan, Program};
use cladonia_reference::reduce::{Predicate, calls_of, difference, file_of, shrink, shrink_lines};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Make a program smaller as long as it still has the finding
#[derive(clap::Args)]
#[command(
    after_help = EXAMPLES,
    group = clap::ArgGroup::new("what").required(true).args(["check", "differs"])
)]
#[group(skip)]
pub struct Args {
    /// The program; its comments `;> f(1)` are the calls (`-` for the standard input)
    #[arg(value_name = "FILE.tbc")]
    file: String,

    /// Keep programs for which this shell command succeeds; `{}` is the file (otherwise it is
    /// appended)
    #[arg(long, value_name = "COMMAND")]
    check: Option<String>,

    /// Keep programs for which the interpreter and machine code disagree, or that panic
    #[arg(long)]
    differs: bool,

    /// A call of a global function with literals, besides those in the file
    #[arg(long = "call", value_name = "CALL")]
    calls: Vec<String>,

    /// The file for the result, instead of printing it
    #[arg(short, long, value_name = "FILE.tbc")]
    output: Option<PathBuf>,

    /// The most smaller programs to try
    #[arg(long, value_name = "N", default_value_t = 5000)]
    tries: u64,
}

const EXAMPLES: &str = "\
Examples:
  cladonia reduce found.tbc --differs
  cladonia reduce slow.tbc --check 'cladonia lir {} f | grep -q call_boxed' -o small.tbc
  cladonia reduce bad.tbc --check '! cladonia test {}'";

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Report, Failure> {
    let text = read(&args.file)?;
    let mut calls = calls_of(&text);
    for call in &args.calls {
        calls.push(call_text(call)?);
    }
    let program = Program { text, calls };
    let name = file_name(&args.file).to_owned();
    let (check, tries) = (args.check.clone(), args.tries);
    let small = on_big_stack(move || match check {
        Some(command) => by_command(&program, &command, tries, &name),
        None => by_executors(&program, tries, &name),
    })?;
    let text = file_of(&small);
    match &args.output {
        None => Ok(Report::good(text)),
        Some(path) => {
            let fail = |e| Failure::new(format_args!("{}: {e}", path.display()));
            std::fs::write(path, &text).map_err(fail)?;
            let lines = text.lines().count();
            Ok(Report::good(format!("{}: {lines} lines\n", path.display())))
        }
    }
}

fn by_executors(program: &Program, tries: u64, name: &str) -> Result<Program, Failure> {
    Document::parse(&program.text).map_err(|e| Failure::new(format_args!("{name}: {e}")))?;
    let plan = Plan {
        is_sampled: false,
        ..Plan::sample(0)
    };
    let Some((wanted, _)) = difference(program, &plan) else {
        let calls = program.calls.len();
        return Err(Failure::new(format_args!(
            "{name}: the executors agree on its {calls} calls; name others with --call, or use --check"
        )));
    };
    let mut holds =
        |program: &Program| difference(program, &plan).is_some_and(|(found, _)| found == wanted);
    Ok(shrink(program, &mut Predicate::new(tries, &mut holds)))
}

fn by_command(
    program: &Program,
    command: &str,
    tries: u64,
    name: &str,
) -> Result<Program, Failure> {
    let path = std::env::temp_dir().join(format!("cladonia-reduce-{}.tbc", std::process::id()));
    let fault = std::cell::RefCell::new(None);
    let mut holds = |program: &Program| match succeeds(command, &path, program) {
        Ok(succeeds) => succeeds,
        Err(error) => {
            fault.borrow_mut().get_or_insert(error);
            false
        }
    };
    let held = holds(program);
    let mut predicate = Predicate::new(tries, &mut holds);
    let mut small = program.clone();
    if held {
        small = shrink(&small, &mut predicate);
        small = shrink_lines(&small, &mut predicate);
    }
    let _ = std::fs::remove_file(&path);
    match fault.into_inner() {
        Some(error) => Err(error),
        None if held => Ok(small),
        None => Err(Failure::new(format_args!(
            "{name}: the command does not succeed on the whole file, so there is nothing to keep; `! COMMAND` \
             turns it around"
        ))),
    }
}

/// Returns true if the command succeeds on a program, which is written to `path`.
fn succeeds(command: &str, path: &Path, program: &Program) -> Result<bool, Failure> {
    let fail = |e: std::io::Error| Failure::new(format_args!("{}: {e}", path.display()));
    std::fs::write(path, file_of(program)).map_err(fail)?;
    let file = path.display().to_string();
    let line = if command.contains("{}") {
        command.replace("{}", &file)
    } else {
        format!("{command} {file}")
    };
    let status = Command::new("sh")
        .args(["-c", &line])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let status = status.map_err(|e| Failure::new(format_args!("sh: {e}")))?;
    Ok(status.success())
}
