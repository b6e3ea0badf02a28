//! The shared part of the subcommands that load programs.

use crate::report::Failure;
use cladonia::bytecode::ConstValue;
use cladonia::engine::Execution;
use cladonia_reference::runtime::{Force, Options};
use cladonia_reference::text::parse_call;

/// The form of execution.
#[derive(clap::Args, Clone)]
pub struct Choice {
    /// In the interpreter only
    #[arg(long)]
    interpret: bool,

    /// Calls before a function is compiled
    #[arg(long, value_name = "N", default_value_t = 2)]
    calls_before: u64,

    /// Loop iterations before a loop is compiled
    #[arg(long, value_name = "N", default_value_t = 10)]
    loops_before: u64,

    /// Force each exit of a speculation about once in N times, at random
    #[arg(long, value_name = "N")]
    force: Option<Force>,

    /// Compile, invalidate and disturb at random
    #[arg(long)]
    chaos: bool,

    /// Run units in the LIR interpreter in place of machine code
    #[arg(long)]
    oracle: bool,

    /// The seed of random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

impl Choice {
    /// The options of a runtime.
    pub fn options(&self) -> Options {
        Options {
            jit: !self.interpret,
            call_threshold: self.calls_before,
            loop_threshold: self.loops_before,
            force: self.force,
            chaos: self.chaos,
            seed: self.seed,
            execution: if self.oracle {
                Execution::Oracle
            } else {
                Execution::Machine
            },
            ..Options::default()
        }
    }
}

/// A call written as `name(literal, ...)`.
pub fn call_text(text: &str) -> Result<(String, Vec<ConstValue>), Failure> {
    parse_call(text).ok_or_else(|| {
        Failure::new(format_args!(
            "`{text}` is no call with literals, such as `f(1, 2.5)`"
        ))
    })
}

/// Runs `run` on a thread whose stack is large enough for the deepest allowed recursion.
pub fn on_big_stack<T: Send + 'static>(
    run: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(run);
    let thread = thread.map_err(Failure::new)?;
    thread
        .join()
        .unwrap_or_else(|_| Err(Failure::new("a fault of Cladonia's own; see above")))
}
