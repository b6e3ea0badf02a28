//! `cladonia fuzz`: random programs, in every executor.

use super::program::on_big_stack;
use crate::report::{Failure, Report};
use cladonia::bytecode::Document;
use cladonia_reference::check::{Plan, Program, TOO_LONG, Verdict, check_isolated};
use cladonia_reference::check_facts::check_facts;
use cladonia_reference::coverage::Coverage;
use cladonia_reference::generate::{bytes, generate};
use cladonia_reference::isolate::seconds_used;
use cladonia_reference::reduce::finding;
use cladonia_reference::text::parse_call;
use std::path::PathBuf;

/// The number of bytes of choices from which a program is generated.
const LENGTH: usize = 700;

/// Run random programs in every executor, and print disagreements as reduced file tests
#[derive(clap::Args)]
#[group(skip)]
pub struct Args {
    /// The first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// The number of programs
    #[arg(long, default_value_t = 100)]
    count: u64,

    /// Seconds of processor time after which no further program is started
    #[arg(long)]
    seconds: Option<u64>,

    /// The program of these bytes (a file from `cargo fuzz run programs`) instead of random ones
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,

    /// Run each program in all forms of execution, instead of a random few
    #[arg(long)]
    all: bool,

    /// Look for inferred facts that do not hold, instead of executors that disagree
    #[arg(long, conflicts_with_all = ["all", "stats"])]
    facts: bool,

    /// Print the first program instead
    #[arg(long)]
    print: bool,

    /// Print the reached ops of the bytecode and the HIR, and kinds of exits
    #[arg(long)]
    stats: bool,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Report, Failure> {
    let given = args.input.as_ref().map(std::fs::read).transpose();
    let given = given.map_err(Failure::new)?;
    let (seed, print, stats, all) = (args.seed, args.print, args.stats, args.all);
    let facts = args.facts;
    let count = if given.is_some() { 1 } else { args.count };
    let end = args.seconds;
    on_big_stack(move || {
        let mut skipped = 0;
        let mut run = 0;
        let (mut values, mut told) = (0, 0);
        let mut coverage = Coverage::default();
        for seed in seed..seed + count {
            if end.is_some_and(|end| seconds_used() > end) {
                break;
            }
            run += 1;
            let choices = given.clone().unwrap_or_else(|| bytes(seed, LENGTH));
            let (document, calls) = generate(&choices);
            if print {
                let calls: String = calls.iter().map(|call| format!(";> {call}\n")).collect();
                return Ok(Report::good(document + &calls));
            }
            let program = Program {
                text: document,
                calls: calls.iter().filter_map(|call| parse_call(call)).collect(),
            };
            let plan = match &given {
                Some(bytes) => Plan::of_bytes(bytes),
                None => Plan::sample(seed),
            };
            let plan = Plan {
                is_sampled: !all,
                ..plan
            };
            if stats {
                coverage.add(&program, &plan).map_err(Failure::new)?;
                continue;
            }
            let document = Document::parse(&program.text);
            let document = document.map_err(|e| Failure::new(format_args!("seed {seed}: {e}")))?;
            if facts {
                let found = check_facts(&document, &program.calls, plan.times, plan.max_steps)
                    .map_err(|e| Failure::new(format_args!("seed {seed}: {e}")))?;
                (values, told) = (values + found.values, told + found.told);
                if found.void.is_none() && !found.wrong.is_empty() {
                    let wrong: String = found.wrong.iter().map(|w| format!("; {w}\n")).collect();
                    return Ok(Report {
                        text: format!(
                            "; seed {seed}, after {run} programs\n{wrong}{}",
                            program.text
                        ),
                        is_good: false,
                    });
                }
                continue;
            }
            match check_isolated(&document.codes, &program.calls, &plan) {
                Verdict::Agree => {}
                Verdict::Invalid(why) if why == TOO_LONG => skipped += 1,
                Verdict::Invalid(why) => {
                    return Err(Failure::new(format_args!("seed {seed}: {why}")));
                }
                Verdict::Differs(_, what) => {
                    let seconds = seconds_used();
                    let finding = finding(&program, &plan, &what);
                    let text =
                        format!("; seed {seed}, after {run} programs and {seconds} s\n{finding}");
                    return Ok(Report {
                        text,
                        is_good: false,
                    });
                }
            }
        }
        if stats {
            return Ok(Report::good(coverage.table()));
        }
        if facts {
            return Ok(Report::good(format!(
                "{run} programs, {values} values checked, {told} of them with facts: all facts hold, {} s\n",
                seconds_used()
            )));
        }
        Ok(Report::good(format!(
            "{run} programs agree ({skipped} of them too long), {} s\n",
            seconds_used()
        )))
    })
}
