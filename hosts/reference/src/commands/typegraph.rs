//! `cladonia typegraph`: scripts that build typegraphs and query them.

use cladonia::typegraph::{ScriptOptions, dot, run as run_script};

use crate::report::{Failure, Report, file_name, read};
use std::fmt::Write;

/// Build typegraphs from a script and answer its questions: which bindings can hold together where,
/// and why
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[group(skip)]
pub struct Args {
    /// The script (`-` for the standard input)
    #[arg(value_name = "FILE.tg")]
    file: String,

    /// Give a reason with each answer: a path, or the obstacle on every path
    #[arg(long)]
    why: bool,

    /// Print the final graph in the language of Graphviz, without answers
    #[arg(long, conflicts_with_all = ["why", "metrics"])]
    dot: bool,

    /// Print figures of the graph and of the questions after the answers
    #[arg(long)]
    metrics: bool,
}

const EXAMPLES: &str = "\
A script has lines like these; docs/typegraph.md has them all:
  node n1 -> n2, n3            # edges
  x = 1 @ n1                   # a binding, and where it is made
  y = 2 @ n2 {x=1}             # from what
  condition n3: x=1            # what must hold to pass a node
  n3? {x=1, y=2}               # can these hold together here?

Examples:
  cladonia typegraph script.tg --why
  cladonia typegraph script.tg --dot | dot -Tsvg -o graph.svg";

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Report, Failure> {
    let text = read(&args.file)?;
    let outcome = run_script(&text, ScriptOptions { why: args.why });
    let outcome = outcome.map_err(|error| {
        let line = text.lines().nth(error.line - 1).unwrap_or_default();
        let message = format!("{}: {error}", file_name(&args.file));
        Failure::at_column(line, error.column, message)
    })?;
    if args.dot {
        return Ok(Report::good(dot(&outcome.program)));
    }
    let mut out = String::new();
    for reply in &outcome.replies {
        match &reply.answer[..] {
            [] => {
                let _ = writeln!(out, "{}: nothing", reply.question);
            }
            // An answer, perhaps with reasons, is on the line of the question; a list or a text is
            // below.
            [first, rest @ ..] if rest.iter().all(|line| line.starts_with("  ")) => {
                let _ = writeln!(out, "{}: {first}", reply.question);
                rest.iter().for_each(|line| {
                    let _ = writeln!(out, "{line}");
                });
            }
            all => {
                let _ = writeln!(out, "{}:", reply.question);
                all.iter().for_each(|line| {
                    let _ = writeln!(out, "  {line}");
                });
            }
        }
    }
    if args.metrics {
        let _ = write!(out, "{}", outcome.program.metrics());
    }
    Ok(Report::good(out))
}
