//! The typegraph: the values that can hold together, on some path, at a place of a function. For
//! example, after `x = 1 if c else "a"` followed by `y = 2 if c else "b"`, the bindings `x=1` and
//! `y="b"` cannot hold together.
//!
//! `docs/typegraph.md` has the model, the rules for building a graph, the grammar of scripts and
//! examples. The model is that of pytype's typegraph (Google, Apache-2.0; written from its
//! description and its tests). The answers are stricter, since a compiler removes checks by an
//! "infeasible".
//!
//! # Guarantees to readers
//!
//! - **[`Answer::Infeasible`] is a proof**: on no path, with any number of iterations of loops,
//!   with every condition on it satisfied. `search` gives the reasons, `brute` defines the meaning,
//!   `exercise` compares the two.
//! - **[`Answer::Feasible`] has a [`Witness`]**, and `Witness::check` checks it independently of
//!   the solver. Without a budget there is no third answer.
//! - **The same program gives the same answers, reasons and costs**: everything is ordered by
//!   numbers given in the order of creation. Hash tables are only looked up, never iterated.
//! - **No recursion** to a depth that the input decides.
//! - **An edit discards the results that it may have changed**. A [`Frozen`] graph has no edits,
//!   and each thread queries it through a [`Solver`] of its own.
//!
//! # The files
//!
//! `graph` is the data without values, `program` owns it with the values and is edited, `copy`
//! pastes, `views` answers questions about variables. `reach` computes reachability. `search` is
//! the solver: `resolve` applies one node to goals, `walk` goes to the next node, `table` caches,
//! `answer` has answers and budgets, `why` reasons, `metrics` figures. `brute` and `exercise` are
//! for tests and fuzzing. `text` is the text form.
//!
//! Deliberately absent: any other module, types, HIR. Only the embedder knows the values of
//! bindings.

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
