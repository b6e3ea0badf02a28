//! `cladonia bytecode`, `hir`, `selected`, `lir`, `clif`, `asm`: a program's functions at one stage
//! of compilation.

use super::program::{call_text, on_big_stack};
use crate::report::{Failure, Report, file_name, read};
use cladonia_reference::stages::{Query, show};

/// Print a program's functions at this stage of compilation
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

    /// A call that is made in the interpreter first, for its observations
    #[arg(long = "call", value_name = "CALL")]
    calls: Vec<String>,

    /// Types of the arguments (of locals and stack, with --at)
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    types: Vec<String>,

    /// The instruction of a loop's header, as the entry of the unit
    #[arg(long, value_name = "N")]
    at: Option<u32>,

    /// HIR after this pass has changed it (`types#2`: for the second time)
    #[arg(long, value_name = "PASS")]
    after: Option<String>,

    /// The changes of the passes
    #[arg(long)]
    diff: bool,
}

const EXAMPLES: &str = "\
Examples:
  cladonia hir program.tbc f
  cladonia selected program.tbc f --call 'f(1)' --types LongExact
  cladonia hir program.tbc f --after unbox --diff
  cladonia asm program.tbc f --at 7";

/// Runs the subcommand.
pub fn run(stage: &str, args: &Args) -> Result<Report, Failure> {
    let text = read(&args.file)?;
    let calls = args
        .calls
        .iter()
        .map(|call| call_text(call))
        .collect::<Result<_, _>>()?;
    let query = Query {
        function: args.function.clone(),
        stage: stage.to_owned(),
        calls,
        header: args.at,
        types: args.types.clone(),
        after: args.after.clone(),
        diff: args.diff,
    };
    let file = args.file.clone();
    on_big_stack(move || {
        let shown = show(&text, &query);
        shown
            .map(Report::good)
            .map_err(|e| Failure::new(format_args!("{}: {e}", file_name(&file))))
    })
}
