//! The meaning of answers, by enumeration: slow, obvious, and independent of the solver. Tests and
//! fuzzing compare the solver with it.
//!
//! An **execution** is a walk along the edges that may begin at any node. At each moment every
//! variable has one of its bindings as its value, or an unknown value; at the beginning all are
//! unknown. Visiting a node leads from values *before* to values *after*:
//!
//! - a variable that the node does not bind keeps its value;
//! - a variable that it binds gets a binding with an origin in the node, one of whose source sets
//!   **holds**, or an unknown value;
//! - a source holds if it is the value of its variable before, or if it has an origin in the node
//!   and is the value after;
//! - the node's condition must hold in the same sense, or the node can't be visited.
//!
//! Bindings can hold together at a node if some execution ends with a visit of the node after which
//! all are values.
//!
//! # The bound
//! For all that follows, an execution is equivalent to any other that ends in the same node with
//! the same values. There are at most `N = nodes · (b₁ + 1) · ... · (bₖ + 1)` such ends, where `bᵢ`
//! is the number of bindings of the i-th variable. If an execution to some end has more than `N`
//! visits, two of its visits have the same end; cutting out the part between them gives a shorter
//! execution to the same end. So executions of at most `N` visits reach all ends: loops are
//! unrolled that far.
//!
//! # Why the solver must give the same answers
//! Backwards: take an execution that ends with the goals. Walk back over it. Before each visit must
//! hold: each goal that the node does not bind, and each source or condition that holds by a value
//! before. The values that the node binds for goals, and for sources that hold by a value after,
//! are those "here". That is a result of `resolve`, and the nodes form a witness, cut off as soon
//! as no goal is left. Forwards: a witness, read from its end, is an execution in which every
//! variable without a goal has an unknown value.

use super::graph::{Binding, Graph, Node};
use cranelift_entity::EntityRef;
use std::collections::HashSet;

/// For each variable its value: an index in the variable's bindings plus 1, or 0.
type Values = Vec<u8>;

/// All ends of executions of a small graph.
pub struct Executions {
    /// For each node, the values after a visit.
    ends: Vec<HashSet<Values>>,
    /// The number of visits in the longest execution that was needed.
    longest: usize,
    bound: usize,
}

impl Executions {
    /// Enumerates the executions. None if there are more than `limit` ends.
    pub fn of(graph: &Graph, limit: usize) -> Option<Executions> {
        let mut sizes = graph.variables().map(|v| graph.bindings_of(v).len() + 1);
        let ends = sizes.try_fold(graph.node_count(), usize::checked_mul);
        let bound = ends.filter(|&ends| ends <= limit)?;
        let mut found = Executions {
            ends: vec![HashSet::new(); graph.node_count()],
            longest: 0,
            bound,
        };
        let none = vec![0; graph.variable_count()];
        let mut new: Vec<(Node, Values)> = graph
            .nodes()
            .flat_map(|node| visit(graph, node, &none).map(move |after| (node, after)))
            .collect();
        // In each round the executions are longer by one visit.
        while found.longest < bound {
            new.retain(|(node, values)| found.ends[node.index()].insert(values.clone()));
            if new.is_empty() {
                break;
            }
            found.longest += 1;
            let mut next = Vec::new();
            for (node, values) in &new {
                let own = graph.repeats(*node).then_some(*node);
                for &after in graph.successors(*node).iter().chain(&own) {
                    next.extend(visit(graph, after, values).map(|values| (after, values)));
                }
            }
            new = next;
        }
        Some(found)
    }

    /// Returns true if the bindings can hold together at a node.
    pub fn can_have(&self, graph: &Graph, node: Node, goals: &[Binding]) -> bool {
        let mut ends = self.ends[node.index()].iter();
        ends.any(|values| goals.iter().all(|&goal| is_value(graph, values, goal)))
    }

    /// The number of visits in the longest execution that reached a new end, and the bound on it.
    pub fn longest(&self) -> (usize, usize) {
        (self.longest, self.bound)
    }
}

fn is_value(graph: &Graph, values: &[u8], binding: Binding) -> bool {
    let variable = graph.variable_of(binding);
    let bindings = graph.bindings_of(variable);
    let value = values[variable.index()] as usize;
    value > 0 && bindings[value - 1] == binding
}

/// All values after a visit.
pub(super) fn visit(
    graph: &Graph,
    node: Node,
    before: &[u8],
) -> impl Iterator<Item = Values> + use<> {
    let mut found = vec![before.to_vec()];
    for variable in graph.variables().filter(|&v| graph.binds(node, v)) {
        let bindings = graph.bindings_of(variable).iter().enumerate();
        let bound = bindings.filter(|(_, b)| graph.origin_at(**b, node).is_some());
        let values: Vec<u8> = bound.map(|(i, _)| i as u8 + 1).chain([0]).collect();
        found = found
            .iter()
            .flat_map(|after| {
                values.iter().map(|&value| {
                    let mut after = after.clone();
                    after[variable.index()] = value;
                    after
                })
            })
            .collect();
    }
    found.retain(|after| {
        let holds = |&source: &Binding| {
            let is_here = graph.origin_at(source, node).is_some();
            is_value(graph, before, source) || is_here && is_value(graph, after, source)
        };
        let is_made = |&binding: &Binding| {
            let origin = graph.origin_at(binding, node);
            let sets = origin.map_or(&[][..], |origin| &origin.sources);
            sets.iter().any(|set| set.iter().all(holds))
        };
        let here = graph.bindings_at(node).iter();
        let mut made = here.filter(|&&binding| is_value(graph, after, binding));
        made.all(is_made) && graph.condition(node).iter().all(holds)
    });
    found.into_iter()
}
