//! The typegraph.

mod answer;
mod brute;
mod copy;
mod exercise;
mod graph;
mod metrics;
mod program;
mod reach;
mod resolve;
mod search;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod views;
mod walk;
mod why;

pub use answer::{Answer, Budget, Exhausted};
pub use brute::Executions;
pub use exercise::{MAX_ENDS, Tally, exercise, exercise_text};
pub use graph::{Binding, Graph, Node, Origin, SourceSet, Variable};
pub use metrics::{
    CacheMetrics, Metrics, NodeMetrics, QueryMetrics, SolverMetrics, Step, VariableMetrics,
};
pub use program::{Frozen, Limits, Program, Solver};
pub use reach::Reachability;
pub use resolve::Dead;
pub use search::Fault;
pub use text::{
    Labels, Outcome, Reply, ScriptError, ScriptFault, ScriptOptions, check, dot, print, run,
};
pub use views::Combination;
pub use why::{Blocked, Refutation, Refuted, Visit, Witness};
