//! The subcommands. Each has its `Args` and a `run` which says what to print, or what was wrong.

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
