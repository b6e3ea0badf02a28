//! `cladonia infer`: the types and heap facts of a program.

use super::program::on_big_stack;
use crate::report::{Failure, Report, file_name, read};
use cladonia::bytecode::Document;
use cladonia::infer::Options;
use cladonia_reference::check_facts::check_facts;
use cladonia_reference::infer::{Query, infer};
use cladonia_reference::text::parse_call;

/// Infer types and heap facts through a whole program
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[group(skip)]
pub struct Args {
    /// The program (`-` for the standard input)
    #[arg(value_name = "FILE.tbc")]
    file: String,

    /// The function to begin with, after the module's body
    #[arg(value_name = "FUNCTION")]
    function: Option<String>,

    /// Types of its arguments
    #[arg(
        long,
        value_name = "TYPE",
        value_delimiter = ',',
        requires = "function"
    )]
    types: Vec<String>,

    /// Exit with 1 if an operation cannot run with any of the operands that reach it
    #[arg(long)]
    strict: bool,

    /// Print the steps
    #[arg(long)]
    trace: bool,

    /// Run the calls that the file has as requests (`;> f(1)`) in the interpreter too, and exit
    /// with 1 if a value is not one of those inferred for its place
    #[arg(long, conflicts_with_all = ["function", "strict", "trace", "shuffle"])]
    check: bool,

    /// Take the steps in an order that follows from this number; the facts do not depend on it
    #[arg(long, value_name = "SEED")]
    shuffle: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  cladonia infer program.tbc
  cladonia infer program.tbc fact --types LongExact
  cladonia infer program.tbc fact --types LongExact --trace
  cladonia infer program.tbc main --strict
  cladonia infer program.tbc --check";

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Report, Failure> {
    let text = read(&args.file)?;
    if args.check {
        return check(&args.file, text);
    }
    let query = Query {
        function: args.function.clone(),
        types: args.types.clone(),
        options: Options {
            shuffle: args.shuffle,
            trace: args.trace,
            ..Options::default()
        },
    };
    let (file, strict) = (args.file.clone(), args.strict);
    on_big_stack(move || {
        let document = Document::parse(&text).map_err(|e| e.to_string());
        let analysis = document.and_then(|document| infer(&document, &query));
        let analysis =
            analysis.map_err(|e| Failure::new(format_args!("{}: {e}", file_name(&file))))?;
        Ok(Report {
            text: analysis.print(strict),
            is_good: !strict || analysis.errors().next().is_none(),
        })
    })
}

/// The most steps of a run.
const MAX_STEPS: u64 = 10_000_000;

fn check(file: &str, text: String) -> Result<Report, Failure> {
    let file = file_name(file).to_owned();
    on_big_stack(move || {
        let requests = text.lines().filter_map(|line| line.strip_prefix(";> "));
        let calls: Vec<_> = requests.filter_map(parse_call).collect();
        let document = Document::parse(&text).map_err(|e| e.to_string());
        let found = document.and_then(|document| check_facts(&document, &calls, 2, MAX_STEPS));
        let found = found.map_err(|e| Failure::new(format_args!("{file}: {e}")))?;
        let mut text = format!(
            "{} values checked, {} of them with facts; {} facts do not hold\n",
            found.values,
            found.told,
            found.wrong.len()
        );
        for wrong in &found.wrong {
            text += &format!("{wrong}\n");
        }
        Ok(Report {
            text,
            is_good: found.wrong.is_empty(),
        })
    })
}
