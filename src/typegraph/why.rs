//! Reasons: a path on which goals hold together, or the obstacles on every path.

use super::graph::{Binding, Graph, Node};
use super::resolve::{Dead, Resolved, Resolver};
use super::search::View;
use super::walk::{Conditions, Walker};
use std::collections::{HashSet, VecDeque};

/// One visit of a node on a [`Witness`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Visit {
    /// The node.
    pub node: Node,
    /// The relevant bindings created in it, each with the index of its source set in the origin; in
    /// ascending order.
    pub here: Vec<(Binding, usize)>,
    /// The goals before it, in ascending order.
    pub before: Vec<Binding>,
}

/// A path through the graph on which bindings hold together, from the node of the question
/// backwards to where no goal is left.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Witness {
    visits: Vec<Visit>,
}

impl From<Vec<Visit>> for Witness {
    fn from(visits: Vec<Visit>) -> Witness {
        Witness { visits }
    }
}

impl Witness {
    /// The visited nodes, the last one first.
    pub fn visits(&self) -> &[Visit] {
        &self.visits
    }

    pub(super) fn visit(&mut self, node: Node, resolved: Resolved) {
        let Resolved { here, before } = resolved;
        self.visits.push(Visit { node, here, before });
    }

    pub(super) fn pass(&mut self, node: Node, goals: &[Binding]) {
        self.visits.push(Visit {
            node,
            here: Vec::new(),
            before: goals.to_vec(),
        });
    }

    /// Checks that this is a witness that goals can hold together at a node: each step follows an
    /// edge, each node's condition holds, each created binding has a source set that holds, no
    /// variable has two values at a time, no goal is overwritten, and at the end no goal is left.
    /// Independent of the solver.
    ///
    /// # Errors
    /// The fault, in words.
    pub fn check(&self, graph: &Graph, node: Node, goals: &[Binding]) -> Result<(), String> {
        let mut after = goals.to_vec();
        let first = self.visits.first().ok_or("no node is visited")?;
        if first.node != node {
            return Err(format!("begins at {}", first.node));
        }
        for (i, visit) in self.visits.iter().enumerate() {
            let fail = |what: String| Err(format!("visit {i} of {}: {what}", visit.node));
            let here = |b: Binding| visit.here.iter().any(|&(other, _)| other == b);
            let before = |b: Binding| visit.before.contains(&b);
            let values: Vec<Binding> = visit.here.iter().map(|h| h.0).collect();
            for values in [&values, &visit.before] {
                for (j, &a) in values.iter().enumerate() {
                    let same = |b: &&Binding| graph.variable_of(**b) == graph.variable_of(a);
                    if let Some(b) = values[j + 1..].iter().find(same) {
                        return fail(format!("{a} and {b} are values of one variable"));
                    }
                }
            }
            for &goal in &after {
                let is_bound = graph.binds(visit.node, graph.variable_of(goal));
                if if is_bound { !here(goal) } else { !before(goal) } {
                    return fail(format!("{goal} does not hold after it"));
                }
            }
            if let Some(condition) = graph.condition(visit.node)
                && !here(condition)
                && !before(condition)
            {
                return fail(format!("the condition {condition} does not hold"));
            }
            for &(binding, set) in &visit.here {
                let origin = graph.origin_at(binding, visit.node);
                let Some(sources) = origin.and_then(|origin| origin.sources.get(set)) else {
                    return fail(format!("{binding} has no source set {set}"));
                };
                if let Some(source) = sources.iter().find(|s| !here(**s) && !before(**s)) {
                    return fail(format!("the source {source} of {binding} does not hold"));
                }
            }
            match self.visits.get(i + 1) {
                Some(next) if !graph.before(visit.node).any(|n| n == next.node) => {
                    return fail(format!("no edge from {}", next.node));
                }
                None if !visit.before.is_empty() => {
                    return fail(format!("nothing gives {:?}", visit.before));
                }
                _ => after.clone_from(&visit.before),
            }
        }
        Ok(())
    }
}

/// A state that was refuted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refuted {
    /// The node.
    pub node: Node,
    /// The goals when control leaves it.
    pub goals: Vec<Binding>,
    /// Contradictions found in resolving the goals at the node.
    pub dead: Vec<Dead>,
    /// Goals for before the node that no path satisfies.
    pub blocked: Vec<Blocked>,
    /// The number of other sufficient states, all of them refuted.
    pub others: usize,
}

/// Goals that no walk from a node reaches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// The goals for before the node.
    pub goals: Vec<Binding>,
    /// The nodes that bind a variable of the goals to another value and so end the walks, in
    /// ascending order.
    pub by: Vec<Node>,
}

/// The reasons why goals can't hold together: the visited states, and the reason for each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refutation {
    /// The states, that of the question first; each of the others follows from one before it.
    pub states: Vec<Refuted>,
    /// True if these are all.
    pub is_complete: bool,
}

/// The most states that a refutation shows.
const SHOWN: usize = 64;

impl Refutation {
    /// Visits the states again, for the reasons.
    pub(super) fn find(
        view: View<'_>,
        walker: &mut Walker,
        node: Node,
        goals: &[Binding],
        conditions: Conditions,
    ) -> Refutation {
        let mut goals = goals.to_vec();
        goals.sort_unstable();
        goals.dedup();
        let mut left = VecDeque::from([(node, goals.clone())]);
        let mut seen = HashSet::from([(node, goals)]);
        let mut states = Vec::new();
        let steps = &mut u64::MAX.clone();
        while let Some((node, goals)) = left.pop_front() {
            if states.len() == SHOWN {
                let is_complete = false;
                return Refutation {
                    states,
                    is_complete,
                };
            }
            let mut resolver = Resolver::explaining(view, node, &goals);
            let mut blocked: Vec<Blocked> = Vec::new();
            let mut others = 0;
            while let Ok(Some(Resolved { before, .. })) = resolver.next(view, steps) {
                let positions = walker.positions(view, node, &before, conditions, steps);
                let positions = positions.unwrap_or_default();
                if positions.is_empty() && blocked.iter().all(|b| b.goals != before) {
                    let by = walker.blocking(view, node, &before);
                    blocked.push(Blocked {
                        goals: before.clone(),
                        by,
                    });
                }
                for position in positions {
                    others += 1;
                    if seen.insert((position, before.clone())) {
                        left.push_back((position, before.clone()));
                    }
                }
                if others + blocked.len() > SHOWN {
                    break;
                }
            }
            states.push(Refuted {
                node,
                goals,
                dead: resolver.into_dead(),
                blocked,
                others,
            });
        }
        Refutation {
            states,
            is_complete: true,
        }
    }
}
