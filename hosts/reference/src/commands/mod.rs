//! The subcommands. Each has its `Args` and a `run` that returns the text to print, or an error.

pub mod fuzz;
pub mod infer;
pub mod plan;
mod program;
pub mod reduce;
pub mod run;
pub mod stage;
pub mod test;
pub mod type_;
pub mod typegraph;
pub mod verify;
