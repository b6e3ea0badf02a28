//! The typegraph.

mod answer;
mod copy;
mod graph;
mod metrics;
mod program;
mod reach;
mod resolve;
mod search;
mod table;
mod walk;
mod why;

pub use answer::{Answer, Budget, Exhausted};
pub use graph::{Binding, Graph, Node, Origin, SourceSet, Variable};
pub use metrics::{
    CacheMetrics, Metrics, NodeMetrics, QueryMetrics, SolverMetrics, Step, VariableMetrics,
};
pub use program::{Frozen, Limits, Program, Solver};
pub use reach::Reachability;
pub use resolve::Dead;
pub use search::Fault;
pub use why::{Blocked, Refutation, Refuted, Visit, Witness};
