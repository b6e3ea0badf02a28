//! Walks against the direction of control: from a node to where goals are bound, past everything that does not overwrite
//! them.
//!
//! The idea that only conditions of nodes on *every* way matter, so that whole conditional statements are stepped over, is
//! the original's. Its search for those nodes is not exact, and condemns what a second way makes possible. Here a node of
//! one shortest way is **mandatory** if no detour that leaves the way before it comes back behind it; one pass over the way
//! and the detours decides that for all its nodes (the argument of Tarjan's bridge finding, 1974, for nodes of one path).

use super::answer::Exhausted;
use super::graph::{Binding, Node};
use super::search::{Fault, View};
use cranelift_entity::SecondaryMap;

/// A set of nodes that is emptied in no time.
#[derive(Clone, Default, Debug)]
struct Marks {
    epoch: u32,
    /// The epoch in which the node was last marked, and a number with it.
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

    /// Whether it was not marked yet.
    fn mark(&mut self, node: Node, number: u32) -> bool {
        let is_new = !self.has(node);
        self.marks[node] = (self.epoch, number);
        is_new
    }
}

/// How a walk treats nodes with conditions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Conditions {
    /// It steps over those that are not on every way.
    Mandatory,
    /// It stops at each.
    All,
}

/// Scratch space for walks, and what they have cost.
#[derive(Clone, Default, Debug)]
pub(super) struct Walker {
    /// Nodes that bind a variable of the goals; 1 where they bind it to a goal.
    bound: Marks,
    /// Nodes that were met, with the index in `queue` of the node from which.
    seen: Marks,
    queue: Vec<Node>,
    /// For each in `queue`: the index of the one before (its own for the first ones), and whether a node with a condition
    /// lies on the way, the node itself included.
    origin: Vec<(usize, bool)>,
    /// Nodes of a way, with their index on it.
    way: Marks,
    detours: Marks,
    stack: Vec<Node>,
    /// Nodes visited so far, by all walks.
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

    /// How many nodes all walks have visited.
    pub(super) fn visits(&self) -> u64 {
        self.visits
    }

    /// The nodes at which a search goes on that has left `from` with these goals, in ascending order. Nothing in between
    /// concerns the goals.
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
                // Overwritten here, or no goal behind.
            } else if bound == Some(1) || is_conditioned && conditions == Conditions::All {
                ends.push(at);
            } else {
                self.spread(view, node, Some(at));
            }
            at += 1;
        }
        let mut found = Vec::with_capacity(ends.len());
        for end in ends {
            // A way without conditions has no mandatory ones.
            let before = self.origin[end].0;
            let is_free = before == end || !self.origin[before].1;
            found.push(match conditions {
                Conditions::Mandatory if !is_free => {
                    let way = self.way_to(end);
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

    /// The shortest way from `from` (left out) to `to`, on which nothing concerns the goals in between: no binding of their
    /// variables, no condition.
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
                return Ok(Some(self.way_to(at)));
            }
            let is_free = !self.bound.has(node) && view.graph.condition(node).is_none();
            if is_free && view.is_behind(far, node) {
                self.spread(view, node, Some(at));
            }
            at += 1;
        }
        Ok(None)
    }

    /// The nodes that end all walks from `from` because they bind a variable of the goals otherwise, in ascending order.
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

    /// Marks what binds the goals' variables. Gives the goal with the fewest origins: no way on which it does not lie ahead
    /// leads anywhere.
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

    /// Puts what lies directly before a node into the queue.
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

    /// The way by which the queue came to an entry, the node of the start left out.
    fn way_to(&self, end: usize) -> Vec<Node> {
        let mut way = vec![self.queue[end]];
        let mut at = end;
        while self.origin[at].0 != at {
            at = self.origin[at].0;
            way.push(self.queue[at]);
        }
        way.reverse();
        way
    }

    /// Goes over the mandatory nodes of the ways from `from` to the last node of `way`, which is one of them, in order and
    /// with that last node, until `is_enough`.
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
        // The farthest node of the way to which a step or a detour has led, as its index plus 1.
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

    /// A shortest way against the direction of control that does not pass `blocked` (it may end in one of them), both ends
    /// included, and those nodes on every such way that have a condition.
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
            let rest = self.way_to(at);
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
