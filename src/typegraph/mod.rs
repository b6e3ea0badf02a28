//! The typegraph: which values can hold together, on some path, at a place of a function.
//!
//! `docs/typegraph.md` has the model, the rules for who builds a graph, the grammar of scripts and examples. The model is
//! that of pytype's typegraph (Google, Apache-2.0; written anew from its description and its tests), the answers are
//! stricter: by "infeasible" a compiler removes checks.
//!
//! # What a reader may rely on
//!
//! - **[`Answer::Infeasible`] is a proof**: on no path, however often it goes round a loop, with every condition on it met.
//!   `search` says why, `brute` defines what it means, `exercise` compares the two.
//! - **[`Answer::Feasible`] has a [`Witness`]**, and `Witness::check` needs nothing of the solver's to check it. Without a
//!   budget there is no third answer.
//! - **The same program gives the same answers, reasons and costs**: everything is ordered by numbers given in the order of
//!   creation. Hash tables are asked, never gone through.
//! - **No recursion** on anything whose depth the input decides.
//! - **An edit forgets what it may have changed**; a [`Frozen`] graph has no edits, and each thread asks it through a
//!   [`Solver`] of its own.
//!
//! # What is where
//!
//! `graph` is the data without values, `program` owns it with the values and is edited, `copy` pastes, `views` asks about
//! variables. `reach` says what is reachable. `search` is the solver: `resolve` does what one node does to goals, `walk`
//! goes to the next node, `table` remembers, `answer` has answers and budgets, `why` reasons, `metrics` figures. `brute`
//! and `exercise` are for tests and fuzzing. `text` is the text form.
//!
//! Deliberately absent: any other room, types, HIR. What the values of bindings are, only the embedder knows.

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
pub use exercise::{MAX_ENDS, Tally, exercise, exercise_input};
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
