//! `cladonia fuzz`: random programs, in every executor.

use super::program::on_big_stack;
use crate::report::{Failure, Report};
use cladonia_reference::check::{self, Plan, Program};
use cladonia_reference::generate::{bytes, generate};
use cladonia_reference::reduce::{file_of, reduce};
use cladonia_reference::text::parse_call;
use std::fmt::Write;

/// Run random programs in every executor, and print what they disagree on as a reduced program
#[derive(clap::Args)]
#[group(skip)]
pub struct Args {
    /// The first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// How many programs
    #[arg(long, default_value_t = 100)]
    count: u64,

    /// Print the program of the first seed instead
    #[arg(long)]
    print: bool,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Report, Failure> {
    let (seed, count, print) = (args.seed, args.count, args.print);
    on_big_stack(move || {
        let mut text = String::new();
        let mut skipped = 0;
        for seed in seed..seed + count {
            let (document, calls) = generate(&bytes(seed, 400));
            if print {
                return Ok(Report::good(document));
            }
            let program = Program {
                text: document,
                calls: calls.iter().filter_map(|call| parse_call(call)).collect(),
            };
            let plan = plan();
            match check::check(&program, &plan) {
                Ok(_) => {}
                Err(check::Failure::Invalid(_)) => skipped += 1,
                Err(check::Failure::Differs(what)) => {
                    let small = reduce(&program, &plan);
                    let _ = write!(text, "; seed {seed}: {what}\n{}", file_of(&small));
                    return Ok(Report {
                        text,
                        is_good: false,
                    });
                }
            }
        }
        let _ = writeln!(text, "{count} programs agree ({skipped} of them too long)");
        Ok(Report::good(text))
    })
}

/// How thoroughly.
pub fn plan() -> Plan {
    Plan {
        times: 3,
        seeds: 1,
        max_steps: 300_000,
    }
}
