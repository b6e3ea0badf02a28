//! Figures of a graph and of its questions, as the original counts them, and the cost of each
//! question.

use super::answer::Answer;
use super::graph::{Binding, Graph, Node};
use std::fmt;

/// Figures of one question, with the questions about its single goals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueryMetrics {
    /// The node of the question.
    pub start: Node,
    /// The node of the last visited state.
    pub end: Node,
    /// The number of goals of the question.
    pub initial_bindings: usize,
    /// The number of goals of all visited states.
    pub total_bindings: usize,
    /// The number of visited states.
    pub nodes_visited: usize,
    /// True if a single goal was impossible, or two of them when all together were too expensive.
    pub shortcircuited: bool,
    /// True if some state was already known.
    pub from_cache: bool,
    /// The visited states, in order.
    pub path: Vec<Step>,
    /// True if conditions that are not on every path had to be considered.
    pub second_pass: bool,
    /// The number of nodes visited by walks.
    pub walked: u64,
    /// Elementary steps: see [`Budget`](super::Budget).
    pub steps: u64,
    /// The answer.
    pub answer: Answer,
}

/// A visited state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Its node.
    pub node: Node,
    /// Its goals, in ascending order.
    pub goals: Box<[Binding]>,
    /// The number of states that led to it.
    pub depth: usize,
}

/// Figures of a solver's cache.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CacheMetrics {
    /// The number of states with a known answer (of the first pass).
    pub size: usize,
    /// The number of needed states that were known.
    pub hits: usize,
    /// The number of needed states that were not known.
    pub misses: usize,
}

/// Figures of one solver.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SolverMetrics {
    /// Each question, in order.
    pub queries: Vec<QueryMetrics>,
    /// The cache.
    pub cache: CacheMetrics,
}

impl SolverMetrics {
    pub(super) fn begin(&mut self, start: Node, goals: usize) {
        self.queries.push(QueryMetrics {
            start,
            end: start,
            initial_bindings: goals,
            total_bindings: 0,
            nodes_visited: 0,
            shortcircuited: false,
            from_cache: false,
            path: Vec::new(),
            second_pass: false,
            walked: 0,
            steps: 0,
            answer: Answer::TOO_LARGE,
        });
    }

    pub(super) fn visit(&mut self, step: Step) {
        if let Some(query) = self.queries.last_mut() {
            query.nodes_visited += 1;
            query.end = step.node;
            query.total_bindings += step.goals.len();
            query.path.push(step);
        }
    }

    /// Changes the figures of the current question.
    pub(super) fn update(&mut self, change: impl FnOnce(&mut QueryMetrics)) {
        if let Some(query) = self.queries.last_mut() {
            change(query);
        }
    }
}

/// Figures of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeMetrics {
    /// The number of edges that end in it.
    pub incoming: usize,
    /// The number of edges that begin in it.
    pub outgoing: usize,
    /// True if it has a condition.
    pub has_condition: bool,
}

/// Figures of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VariableMetrics {
    /// The number of its bindings.
    pub bindings: usize,
    /// The nodes in which it is bound, in ascending order.
    pub nodes: Vec<Node>,
}

/// Figures of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Metrics {
    /// The number of bindings.
    pub bindings: usize,
    /// Of each node, by number.
    pub nodes: Vec<NodeMetrics>,
    /// Of each variable, by number.
    pub variables: Vec<VariableMetrics>,
    /// Of each solver. The first question after an edit creates a new one.
    pub solvers: Vec<SolverMetrics>,
}

impl Metrics {
    pub(super) fn of(graph: &Graph, solvers: Vec<SolverMetrics>) -> Metrics {
        let node = |node| NodeMetrics {
            incoming: graph.predecessors(node).len(),
            outgoing: graph.successors(node).len(),
            has_condition: graph.condition(node).is_some(),
        };
        let variable = |variable| VariableMetrics {
            bindings: graph.bindings_of(variable).len(),
            nodes: graph.nodes_of(variable).to_vec(),
        };
        Metrics {
            bindings: graph.binding_count(),
            nodes: graph.nodes().map(node).collect(),
            variables: graph.variables().map(variable).collect(),
            solvers,
        }
    }
}

impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let edges: usize = self.nodes.iter().map(|node| node.outgoing).sum();
        let conditions = self.nodes.iter().filter(|node| node.has_condition).count();
        writeln!(
            f,
            "nodes {}, edges {edges}, conditions {conditions}, variables {}, bindings {}",
            self.nodes.len(),
            self.variables.len(),
            self.bindings
        )?;
        for (i, node) in self.nodes.iter().enumerate() {
            let condition = if node.has_condition {
                ", condition"
            } else {
                ""
            };
            writeln!(
                f,
                "n{i}: in {}, out {}{condition}",
                node.incoming, node.outgoing
            )?;
        }
        for (i, variable) in self.variables.iter().enumerate() {
            let nodes: Vec<String> = variable.nodes.iter().map(Node::to_string).collect();
            let (count, nodes) = (variable.bindings, nodes.join(", "));
            writeln!(f, "v{i}: bindings {count}, nodes {{{nodes}}}")?;
        }
        for (i, solver) in self.solvers.iter().enumerate() {
            let cache = solver.cache;
            writeln!(
                f,
                "solver {i}: queries {}, cache size {}, hits {}, misses {}",
                solver.queries.len(),
                cache.size,
                cache.hits,
                cache.misses
            )?;
            for query in &solver.queries {
                writeln!(f, "  {query}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for QueryMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} to {}: {}; bindings {} of {}, states {}, walked {}, steps {}",
            self.start,
            self.end,
            self.answer,
            self.initial_bindings,
            self.total_bindings,
            self.nodes_visited,
            self.walked,
            self.steps
        )?;
        for (is_so, what) in [
            (self.shortcircuited, ", short-circuited"),
            (self.from_cache, ", from cache"),
            (self.second_pass, ", second pass"),
        ] {
            f.write_str(if is_so { what } else { "" })?;
        }
        Ok(())
    }
}
