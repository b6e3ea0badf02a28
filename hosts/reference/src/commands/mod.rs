//! The subcommands. Each has its `Args` and a `run` which says what to print, or what was wrong.

pub mod type_;
