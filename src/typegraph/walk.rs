//! Walks against the direction of control: from a node to the nodes that bind goals, past all nodes
//! that do not overwrite them.
//!
//! The idea that only conditions of nodes on *every* path matter, so that whole conditional
//! statements are stepped over, is the original's. The original's search for those nodes is not
//! exact, and rejects goals that a second path makes possible. Here a node of one shortest path is
//! **mandatory** if no detour that leaves the path before it returns behind it; one pass over the
//! path and the detours decides that for all its nodes (the argument of Tarjan's bridge finding,
//! 1974, for nodes of one path).
//!
//! For example, a walk from after `if c: y = 1` for a goal about `x` steps over the whole
//! statement: the condition on `c` is on one of two paths only.

use super::answer::Exhausted;
use super::graph::{Binding, Node};
use super::search::{Fault, View};
use cranelift_entity::SecondaryMap;

/// A set of nodes that is emptied in constant time.
#[derive(Clone, Default, Debug)]
struct Marks {
    epoch: u32,
    /// The epoch in which the node was last marked, and a number.
    marks: SecondaryMap<Node, (u32, u32)>,
}

impl Marks {
    fn clear(&mut self) {
        self.epoch = self.epoch.checked_add(1).unwrap_or_else(|| {
            self.marks.clear();
            1
        });
    }

    fn get(&self, node: Node) -> Option<u32> {
        let (epoch, number) = self.marks[node];
        (epoch == self.epoch && epoch != 0).then_some(number)
    }

    fn has(&self, node: Node) -> bool {
        self.get(node).is_some()
    }

    /// Marks a node. Returns true if it was not marked yet.
    fn mark(&mut self, node: Node, number: u32) -> bool {
        let is_new = !self.has(node);
        self.marks[node] = (self.epoch, number);
        is_new
    }
}

/// The treatment of nodes with conditions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Conditions {
    /// Step over those that are not on every path.
    Mandatory,
    /// Stop at each.
    All,
}

/// Scratch space for walks, and their cost.
#[derive(Clone, Default, Debug)]
pub(super) struct Walker {
    /// Nodes that bind a variable of the goals; 1 if they bind it to a goal.
    bound: Marks,
    /// The visited nodes.
    seen: Marks,
    queue: Vec<Node>,
    /// For each entry of `queue`: the index of the previous node (its own for the first ones), and
    /// true if a node with a condition is on the path, the node itself included.
    origin: Vec<(usize, bool)>,
    /// Nodes of a path, with their index on it.
    way: Marks,
    detours: Marks,
    stack: Vec<Node>,
    /// The number of nodes visited so far, by all walks.
    visits: u64,
    fault: Option<Fault>,
}

impl Walker {
    pub(super) fn new(fault: Option<Fault>) -> Walker {
        Walker {
            fault,
            ..Walker::default()
        }
    }

    /// The number of nodes that all walks have visited.
    pub(super) fn visits(&self) -> u64 {
        self.visits
    }

    /// The nodes at which a search that has left `from` with these goals continues, in ascending
    /// order. No node in between concerns the goals.
    pub(super) fn positions(
        &mut self,
        view: View<'_>,
        from: Node,
        goals: &[Binding],
        conditions: Conditions,
        steps: &mut u64,
    ) -> Result<Vec<Node>, Exhausted> {
        let far = self.prepare(view, goals, steps)?;
        let mut ends = Vec::new();
        self.start(view, from);
        let mut at = 0;
        while at < self.queue.len() {
            let node = self.queue[at];
            self.visit(steps)?;
            let is_conditioned = view.graph.condition(node).is_some();
            self.origin[at].1 |= is_conditioned;
            let bound = self.bound.get(node);
            if bound == Some(0) || !view.is_behind(far, node) {
                // The node overwrites a goal, or no goal is reachable behind it.
            } else if bound == Some(1) || is_conditioned && conditions == Conditions::All {
                ends.push(at);
            } else {
                self.spread(view, node, Some(at));
            }
            at += 1;
        }
        let mut found = Vec::with_capacity(ends.len());
        for end in ends {
            // A path without conditions has no mandatory ones.
            let before = self.origin[end].0;
            let is_free = before == end || !self.origin[before].1;
            found.push(match conditions {
                Conditions::Mandatory if !is_free => {
                    let way = self.path_to(end);
                    let mut first = self.queue[end];
                    self.mandatory(view, from, &way, far, steps, |node| {
                        let is_found = view.graph.condition(node).is_some();
                        if is_found {
                            first = node;
                        }
                        is_found
                    })?;
                    first
                }
                _ => self.queue[end],
            });
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The shortest path from `from` (left out) to `to` without nodes in between that concern the
    /// goals: no binding of their variables, no condition.
    pub(super) fn free_way(
        &mut self,
        view: View<'_>,
        from: Node,
        to: Node,
        goals: &[Binding],
        steps: &mut u64,
    ) -> Result<Option<Vec<Node>>, Exhausted> {
        let far = self.prepare(view, goals, steps)?;
        self.start(view, from);
        let mut at = 0;
        while at < self.queue.len() {
            let node = self.queue[at];
            self.visit(steps)?;
            if node == to {
                return Ok(Some(self.path_to(at)));
            }
            let is_free = !self.bound.has(node) && view.graph.condition(node).is_none();
            if is_free && view.is_behind(far, node) {
                self.spread(view, node, Some(at));
            }
            at += 1;
        }
        Ok(None)
    }

    /// The nodes that end all walks from `from` because they bind a variable of the goals to
    /// another value, in ascending order.
    pub(super) fn blocking(&mut self, view: View<'_>, from: Node, goals: &[Binding]) -> Vec<Node> {
        let _ = self.prepare(view, goals, &mut u64::MAX.clone());
        self.start(view, from);
        let (mut at, mut found) = (0, Vec::new());
        while at < self.queue.len() {
            let node = self.queue[at];
            self.visits += 1;
            match self.bound.get(node) {
                Some(0) => found.push(node),
                Some(_) => {}
                None => self.spread(view, node, Some(at)),
            }
            at += 1;
        }
        found.sort_unstable();
        found
    }

    /// Marks the nodes that bind the goals' variables. Returns the goal with the fewest origins:
    /// every useful path leads to one of them.
    fn prepare(
        &mut self,
        view: View<'_>,
        goals: &[Binding],
        steps: &mut u64,
    ) -> Result<Option<Binding>, Exhausted> {
        let nodes = |goal: &Binding| view.graph.nodes_of(view.graph.variable_of(*goal)).len();
        let nodes: usize = goals.iter().map(nodes).sum();
        *steps = steps.checked_sub(nodes as u64).ok_or(Exhausted::Steps)?;
        self.bound.clear();
        for &goal in goals {
            for &node in view.graph.nodes_of(view.graph.variable_of(goal)) {
                self.bound.mark(node, 0);
            }
        }
        for &goal in goals {
            for origin in view.graph.origins(goal) {
                self.bound.mark(origin.node, 1);
            }
        }
        let origins = |&goal: &Binding| view.graph.origins(goal).len();
        Ok(goals.iter().copied().min_by_key(origins))
    }

    fn start(&mut self, view: View<'_>, from: Node) {
        self.seen.clear();
        self.queue.clear();
        self.origin.clear();
        self.spread(view, from, None);
    }

    /// Queues the direct predecessors of a node.
    fn spread(&mut self, view: View<'_>, node: Node, at: Option<usize>) {
        for before in view.graph.before(node) {
            if self.seen.mark(before, 0) {
                let origin = at.unwrap_or(self.queue.len());
                let is_conditioned = at.is_some_and(|at| self.origin[at].1);
                self.queue.push(before);
                self.origin.push((origin, is_conditioned));
            }
        }
    }

    fn visit(&mut self, steps: &mut u64) -> Result<(), Exhausted> {
        self.visits += 1;
        *steps = steps.checked_sub(1).ok_or(Exhausted::Steps)?;
        Ok(())
    }

    /// The path from the start to an entry of the queue, without the start.
    fn path_to(&self, end: usize) -> Vec<Node> {
        let mut way = vec![self.queue[end]];
        let mut at = end;
        while self.origin[at].0 != at {
            at = self.origin[at].0;
            way.push(self.queue[at]);
        }
        way.reverse();
        way
    }

    /// Visits the mandatory nodes of the paths from `from` to the last node of `way`, which is one
    /// of them, in order and including that last node, until `is_enough`.
    fn mandatory(
        &mut self,
        view: View<'_>,
        from: Node,
        way: &[Node],
        goal: Option<Binding>,
        steps: &mut u64,
        mut is_enough: impl FnMut(Node) -> bool,
    ) -> Result<(), Exhausted> {
        self.way.clear();
        self.detours.clear();
        for (i, &node) in way.iter().enumerate() {
            self.way.mark(node, i as u32 + 1);
        }
        // The farthest node of the path to which a step or a detour has led, as its index plus 1.
        let mut far = 0;
        for (i, &node) in std::iter::once(&from).chain(way).enumerate() {
            let is_mandatory = far <= i as u32 || self.fault == Some(Fault::OneWayIsAll);
            if i > 0 && is_mandatory && is_enough(node) || i == way.len() {
                break;
            }
            self.stack.clear();
            self.stack.push(node);
            while let Some(node) = self.stack.pop() {
                self.visit(steps)?;
                for before in view.graph.before(node) {
                    if let Some(index) = self.way.get(before) {
                        far = far.max(index);
                    } else if !self.bound.has(before)
                        && view.is_behind(goal, before)
                        && self.detours.mark(before, 0)
                    {
                        self.stack.push(before);
                    }
                }
            }
        }
        Ok(())
    }

    /// A shortest path against the direction of control that does not pass `blocked` (it may end in
    /// one of them), both ends included, and those nodes on every such path that have a condition.
    pub(super) fn way(
        &mut self,
        view: View<'_>,
        from: Node,
        to: Node,
        blocked: &[Node],
    ) -> Option<(Vec<Node>, Vec<Node>)> {
        let is_conditioned = |node: &Node| view.graph.condition(*node).is_some();
        let mut way = vec![from];
        let mut conditioned = Vec::from_iter(Some(from).filter(is_conditioned));
        if from != to {
            self.bound.clear();
            for &node in blocked {
                self.bound.mark(node, 0);
            }
            if self.bound.has(from) {
                return None;
            }
            self.bound.mark(to, 1);
            self.start(view, from);
            let mut at = 0;
            while *self.queue.get(at)? != to {
                if !self.bound.has(self.queue[at]) {
                    self.spread(view, self.queue[at], Some(at));
                }
                at += 1;
            }
            let rest = self.path_to(at);
            let steps = &mut u64::MAX.clone();
            let _ = self.mandatory(view, from, &rest, None, steps, |node| {
                conditioned.extend(Some(node).filter(is_conditioned));
                false
            });
            way.extend(rest);
        }
        Some((way, conditioned))
    }
}
