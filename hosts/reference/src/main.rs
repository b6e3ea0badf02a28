//! The `cladonia` command-line tool: functions of the core that need no host with programs. Each
//! subcommand has a file in `commands`; here is only their list.

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
    Run(commands::run::Args),
    /// Print typed bytecode, with the observations of the program's calls
    Bytecode(commands::stage::Args),
    /// Print the HIR that is built from bytecode
    Hir(commands::stage::Args),
    /// Print the HIR after all passes
    Selected(commands::stage::Args),
    /// Print the LIR and the exit records
    Lir(commands::stage::Args),
    /// Print the input of the code generator
    Clif(commands::stage::Args),
    /// Print the machine code
    Asm(commands::stage::Args),
    Infer(commands::infer::Args),
    Plan(commands::plan::Args),
    Verify(commands::verify::Args),
    Test(commands::test::Args),
    Reduce(commands::reduce::Args),
    Fuzz(commands::fuzz::Args),
    Type(commands::type_::Args),
    Typegraph(commands::typegraph::Args),
}

fn main() -> ExitCode {
    #[cfg(feature = "plant")]
    if let Ok(fault) = std::env::var("CLADONIA_PLANT") {
        cladonia::opt::plant(&fault);
    }
    let cli = Cli::parse();
    report::finish(match cli.command {
        Command::Run(args) => commands::run::run(&args),
        Command::Bytecode(args) => commands::stage::run("bytecode", &args),
        Command::Hir(args) => commands::stage::run("hir", &args),
        Command::Selected(args) => commands::stage::run("selected", &args),
        Command::Lir(args) => commands::stage::run("lir", &args),
        Command::Clif(args) => commands::stage::run("clif", &args),
        Command::Asm(args) => commands::stage::run("asm", &args),
        Command::Infer(args) => commands::infer::run(&args),
        Command::Plan(args) => commands::plan::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
        Command::Reduce(args) => commands::reduce::run(&args),
        Command::Fuzz(args) => commands::fuzz::run(&args),
        Command::Test(args) => commands::test::run(&args),
        Command::Type(args) => commands::type_::run(&args),
        Command::Typegraph(args) => commands::typegraph::run(&args),
    })
}
