//! Questions about a variable's bindings at a node, and about combinations of several variables'
//! bindings.

use super::graph::{Binding, Node, Variable};
use super::program::Program;
use std::collections::HashSet;

/// The values of some variables together: one binding for each.
pub type Combination = Vec<Binding>;

impl<D: PartialEq> Program<D> {
    /// Returns true if a binding may be the value of its variable when control has passed through a
    /// node: true unless that is disproved.
    pub fn is_visible(&mut self, binding: Binding, node: Node) -> bool {
        self.has_combination(node, &[binding])
    }

    /// Returns true if bindings may hold together when control has passed through a node: true
    /// unless that is disproved. Without any bindings: true if control may pass the node, as far as
    /// its own condition decides.
    pub fn has_combination(&mut self, node: Node, goals: &[Binding]) -> bool {
        !self.ask(node, goals).is_infeasible()
    }

    /// Returns true if every binding has an origin from which control reaches the node. This test
    /// is fast, and a "no" is right; it ignores overwriting, conditions and sources.
    pub fn can_have_combination(&mut self, node: Node, goals: &[Binding]) -> bool {
        goals.iter().all(|&goal| {
            let origins = self.origins(goal).iter().map(|origin| origin.node);
            let origins: Vec<Node> = origins.collect();
            origins
                .into_iter()
                .any(|from| self.is_reachable(from, node))
        })
    }

    /// The bindings of a variable that may be its value when control has passed through a node. If
    /// `is_strict` is false, the only binding of a variable is returned without a search.
    pub fn filter(&mut self, variable: Variable, node: Node, is_strict: bool) -> Vec<Binding> {
        let mut bindings = self.bindings_of(variable).to_vec();
        if is_strict || bindings.len() != 1 {
            bindings.retain(|&binding| self.is_visible(binding, node));
        }
        bindings
    }

    /// The bindings of a variable that reach a node without being overwritten, in ascending order;
    /// all of them without a node. Conditions and sources are ignored (reaching definitions). The
    /// only binding of a variable is returned if control reaches the node from any of its origins.
    pub fn prune(&mut self, variable: Variable, node: Option<Node>) -> Vec<Binding> {
        let bindings = self.bindings_of(variable).to_vec();
        let Some(node) = node else {
            return bindings;
        };
        if let [only] = bindings[..] {
            let is_behind = self.can_have_combination(node, &[only]);
            return Vec::from_iter(is_behind.then_some(only));
        }
        let (mut found, mut left) = (Vec::new(), vec![node]);
        let mut seen = HashSet::from([node]);
        while let Some(node) = left.pop() {
            if self.binds(node, variable) {
                let here = self.bindings_at(node).iter().copied();
                found.extend(here.filter(|&b| self.variable_of(b) == variable));
            } else {
                let before = self.predecessors(node).iter().copied();
                left.extend(before.filter(|&n| seen.insert(n)));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The combinations of some variables' bindings that
    /// [`can_have_combination`](Program::can_have_combination) allows at a node, the last
    /// variable's binding changing fastest. If there are more combinations than the limit, allowed
    /// or not, there is a single one, in which each variable has the default data, bound at the
    /// node.
    pub fn views(&mut self, variables: &[Variable], node: Node) -> Vec<Combination> {
        let mut sizes = variables.iter().map(|&v| self.bindings_of(v).len());
        let count = sizes.try_fold(1usize, usize::checked_mul);
        if count.is_none_or(|count| count > self.limits().combinations) {
            let of_default = |&variable: &Variable| {
                let binding = self.bind_default(variable);
                self.add_origin(binding, node, &[]);
                binding
            };
            return vec![variables.iter().map(of_default).collect()];
        }
        let mut combinations = vec![Combination::new()];
        for &variable in variables {
            // A binding that is impossible alone is impossible with others.
            let bindings = self.bindings_of(variable).to_vec();
            let possible = bindings.into_iter();
            let possible: Vec<Binding> = possible
                .filter(|&binding| self.can_have_combination(node, &[binding]))
                .collect();
            combinations = combinations
                .iter()
                .flat_map(|begun| {
                    let with = |&binding: &Binding| [&begun[..], &[binding]].concat();
                    possible.iter().map(with)
                })
                .collect();
        }
        combinations
    }
}
