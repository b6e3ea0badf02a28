//! The `cladonia` command-line tool: what the core can show without a host that runs programs. One file a subcommand,
//! in `commands`; here is only which there are.

mod commands;
mod report;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cladonia", version, about = "Look into the Cladonia compiler")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Type(commands::type_::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    report::finish(match cli.command {
        Command::Type(args) => commands::type_::run(&args),
    })
}
