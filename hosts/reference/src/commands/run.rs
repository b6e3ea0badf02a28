//! `cladonia run`: a program of typed bytecode, in the interpreter and natively.

use super::program::{Choice, call_text, on_big_stack};
use crate::report::{Failure, Report, file_name, read};
use cladonia::engine::Execution;
use cladonia_reference::runtime::{Options, Session};
use std::fmt::Write;

/// Run a program: its module body, then the requested calls
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[group(skip)]
pub struct Args {
    /// The program (`-` for the standard input)
    #[arg(value_name = "FILE.tbc")]
    file: String,

    /// A call of a global function with literals, whose result is printed
    #[arg(long = "call", value_name = "CALL")]
    calls: Vec<String>,

    #[command(flatten)]
    choice: Choice,

    /// The number of times that each call is made; the last result is printed
    #[arg(long, value_name = "N", default_value_t = 1)]
    times: u32,

    /// Print statistics of the compiler
    #[arg(long)]
    stats: bool,
}

const EXAMPLES: &str = "\
Examples:
  cladonia run program.tbc
  cladonia run fib.tbc --call 'fib(20)' --stats
  cladonia run fib.tbc --call 'fib(20)' --interpret";

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Report, Failure> {
    let text = read(&args.file)?;
    let options = args.choice.options();
    let is_oracle = options.execution == Execution::Oracle;
    let (file, calls, times, stats) = (
        args.file.clone(),
        args.calls.clone(),
        args.times,
        args.stats,
    );
    on_big_stack(move || {
        let options = Options {
            max_depth: 1000,
            ..options
        };
        let session = Session::new(options).map_err(Failure::new)?;
        let program = session.load(&text);
        let mut out = session.take_output();
        let program =
            program.map_err(|e| Failure::new(format_args!("{out}{}: {e}", file_name(&file))))?;
        let mut is_good = true;
        for call in &calls {
            let (name, values) = call_text(call)?;
            let mut result = Ok(String::new());
            for _ in 0..times {
                result = program.call(&name, &values);
            }
            out += &session.take_output();
            match result {
                Ok(text) => out += &(text + "\n"),
                Err(raised) => {
                    is_good = false;
                    out += &(raised + "\n");
                }
            }
        }
        if stats {
            statistics(&session, &mut out);
        }
        if stats || is_oracle {
            oracle_statistics(&session, &mut out);
        }
        Ok(Report { text: out, is_good })
    })
}

fn statistics(session: &Session, out: &mut String) {
    let s = session.statistics();
    let _ = writeln!(
        out,
        "units {}, native calls {}, loops entered {}, exits {}, exceptions {}, invalidated {}",
        s.units, s.native_calls, s.loop_entries, s.exits, s.raises, s.invalidated
    );
}

/// Statistics of the LIR interpreter, and functions that ran neither in it nor as machine code.
fn oracle_statistics(session: &Session, out: &mut String) {
    let oracle = session.oracle_counts();
    if oracle.units > 0 {
        let _ = writeln!(
            out,
            "in the LIR interpreter: units {}, entries {}; left out: entry stubs, which are the host's",
            oracle.units, oracle.entries
        );
    }
    for (name, reason) in session.statistics().refused {
        let _ = writeln!(out, "`{name}` stays in the interpreter: {reason}");
    }
}
