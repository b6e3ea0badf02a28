//! The owner of a typegraph: builds it, keeps the bindings' data, and answers questions between
//! edits.

use super::answer::{Answer, Budget};
use super::graph::{Binding, Graph, Node, Variable};
use super::metrics::{Metrics, SolverMetrics};
use super::reach::Reachability;
use super::search::{Fault, Search, View};
use super::why::{Refutation, Witness};
use cranelift_entity::EntityRef;
use std::collections::HashSet;
use std::ops::Deref;

/// Limits at which the graph becomes coarser, so that it stays affordable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most bindings of a variable, at least 1. At the limit, the last binding has the default
    /// data and represents all further values.
    pub bindings: usize,
    /// The most combinations that [`Program::views`] returns; beyond that it returns a single one,
    /// of default data.
    pub combinations: usize,
}

impl Default for Limits {
    /// The limits of the original: 64 bindings (63 and the default), 1024 combinations.
    fn default() -> Limits {
        Limits {
            bindings: 64,
            combinations: 1024,
        }
    }
}

/// A typegraph: nodes with conditions, variables, bindings with opaque data of type `D`, and the
/// results of searches.
///
/// Data are the same if they are equal; two bindings of one variable never have the same data. They
/// are dropped with the program. Methods that take a node, variable or binding panic if it is one
/// of a larger program.
///
/// The methods of [`Graph`] read it. Questions that need a search take `&mut self`, since their
/// results are kept until the next edit; [`freeze`](Program::freeze) gives a graph that many
/// threads may query.
pub struct Program<D> {
    graph: Graph,
    data: Vec<D>,
    /// For each binding, its index in `data`.
    data_of: Vec<usize>,
    default_data: usize,
    limits: Limits,
    entry: Option<Node>,
    budget: Budget,
    /// Created by the first question, then updated.
    reach: Option<Reachability>,
    /// Created by the first question after an edit.
    search: Option<Search>,
    retired: Vec<SolverMetrics>,
    fault: Option<Fault>,
}

impl<D> Deref for Program<D> {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        &self.graph
    }
}

impl<D: PartialEq> Program<D> {
    /// An empty program with the limits of the original. `default_data` represents an unknown
    /// value.
    pub fn new(default_data: D) -> Program<D> {
        Program::with_limits(default_data, Limits::default())
    }

    /// An empty program.
    pub fn with_limits(default_data: D, limits: Limits) -> Program<D> {
        Program {
            graph: Graph::default(),
            data: vec![default_data],
            data_of: Vec::new(),
            default_data: 0,
            limits,
            entry: None,
            budget: Budget::default(),
            reach: None,
            search: None,
            retired: Vec::new(),
            fault: None,
        }
    }

    /// Adds a node. The name is for messages, and may be empty.
    pub fn node(&mut self, name: impl Into<String>) -> Node {
        self.changed();
        if let Some(reach) = &mut self.reach {
            reach.add_node();
        }
        self.graph.add_node(name.into())
    }

    /// Adds a node, and an edge to it.
    pub fn node_after(&mut self, before: Node, name: impl Into<String>) -> Node {
        let node = self.node(name);
        self.connect(before, node);
        node
    }

    /// Adds an edge. An existing edge is not doubled; an edge to the node itself is only noted
    /// ([`Graph::repeats`]).
    pub fn connect(&mut self, from: Node, to: Node) {
        self.changed();
        if self.graph.add_edge(from, to)
            && let Some(reach) = &mut self.reach
        {
            reach.add_edge(from, to);
        }
    }

    /// Sets the binding that must hold whenever control passes a node.
    pub fn set_condition(&mut self, node: Node, condition: Option<Binding>) {
        if let Some(binding) = condition {
            self.graph.variable_of(binding);
        }
        self.changed();
        self.graph.set_condition(node, condition);
    }

    /// The entry of the program. For readers only: no answer depends on it.
    pub fn entry(&self) -> Option<Node> {
        self.entry
    }

    /// Sets the entry of the program.
    pub fn set_entry(&mut self, node: Node) {
        self.graph.predecessors(node);
        self.entry = Some(node);
    }

    /// Adds a variable. The name is for messages, and may be empty. No answer changes.
    pub fn variable(&mut self, name: impl Into<String>) -> Variable {
        self.graph.add_variable(name.into())
    }

    /// The binding of a variable to a value: the existing one, or a new one, which is visible
    /// nowhere until it gets an origin. At the limit of bindings it is the one to the default data.
    pub fn bind(&mut self, variable: Variable, data: D) -> Binding {
        self.find(variable, &data).unwrap_or_else(|| {
            let is_full = self.graph.bindings_of(variable).len() + 1 >= self.limits.bindings.max(1);
            if is_full {
                return self.bind_default(variable);
            }
            self.data.push(data);
            self.new_binding(variable, self.data.len() - 1)
        })
    }

    /// The binding of a variable to a value, with an origin in a node from these sources (all of
    /// them together).
    pub fn bind_at(
        &mut self,
        variable: Variable,
        data: D,
        node: Node,
        sources: &[Binding],
    ) -> Binding {
        let binding = self.bind(variable, data);
        self.add_origin(binding, node, sources);
        binding
    }

    /// The binding of a variable to the default data.
    pub fn bind_default(&mut self, variable: Variable) -> Binding {
        self.bind_same(variable, self.default_data)
    }

    /// Adds a source set to the origin of a binding in a node.
    pub fn add_origin(&mut self, binding: Binding, node: Node, sources: &[Binding]) {
        for &source in sources {
            self.graph.variable_of(source);
        }
        self.changed();
        self.graph.add_sources(binding, node, sources.to_vec());
    }

    /// Creates an origin of a binding in a node without any source set, if it has none there. By
    /// this alone the binding is never visible, but the node overwrites the variable.
    pub fn add_empty_origin(&mut self, binding: Binding, node: Node) {
        self.changed();
        self.graph.add_origin(binding, node);
    }

    /// The binding of a variable to a value, if there is one.
    pub fn find(&self, variable: Variable, data: &D) -> Option<Binding> {
        let bindings = self.graph.bindings_of(variable).iter().copied();
        bindings.into_iter().find(|&b| self.data(b) == data)
    }

    /// The value of a binding.
    pub fn data(&self, binding: Binding) -> &D {
        &self.data[self.data_of[binding.index()]]
    }

    /// The data for unknown values.
    pub fn default_data(&self) -> &D {
        &self.data[self.default_data]
    }

    /// Sets the data for unknown values; bindings that have the old data keep it.
    pub fn set_default_data(&mut self, data: D) {
        self.data.push(data);
        self.default_data = self.data.len() - 1;
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Sets the limits for later additions.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// The budget of a question.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Sets the budget of a question. Earlier results stay.
    pub fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// The answer: can these bindings hold together when control has passed through `node`?
    pub fn ask(&mut self, node: Node, goals: &[Binding]) -> Answer {
        if !self.is_small() {
            return Answer::TOO_LARGE;
        }
        let (search, view) = self.search();
        search.ask(view, node, goals)
    }

    /// The answer and, if the bindings can hold together, a path on which they do.
    pub fn witness(&mut self, node: Node, goals: &[Binding]) -> (Answer, Option<Witness>) {
        if !self.is_small() {
            return (Answer::TOO_LARGE, None);
        }
        let (search, view) = self.search();
        search.witness(view, node, goals)
    }

    /// The answer and, if the bindings can't hold together, the reasons.
    pub fn refutation(&mut self, node: Node, goals: &[Binding]) -> (Answer, Option<Refutation>) {
        if !self.is_small() {
            return (Answer::TOO_LARGE, None);
        }
        let (search, view) = self.search();
        search.refutation(view, node, goals)
    }

    /// Returns true if control can get from `from` to `to`, regardless of conditions. A node always
    /// reaches itself.
    pub fn is_reachable(&mut self, from: Node, to: Node) -> bool {
        if self.is_small() {
            return self.reachability().reaches(from, to);
        }
        let (mut seen, mut left) = (HashSet::from([to]), vec![to]);
        while let Some(node) = left.pop() {
            if node == from {
                return true;
            }
            let before = self.graph.predecessors(node).iter().copied();
            left.extend(before.filter(|&before| seen.insert(before)));
        }
        false
    }

    /// The number of nodes that a plain walk backwards from `to` visits. None if the graph is
    /// larger than the budget.
    pub fn backward_walk(&mut self, to: Node) -> Option<usize> {
        self.is_small().then(|| self.reachability().walk(to))
    }

    /// Returns true if rows of bits for all nodes are affordable.
    fn is_small(&self) -> bool {
        self.graph.node_count() <= self.budget.nodes
    }

    /// Returns true if results of searches are being kept: from the first question after an edit to
    /// the next edit.
    pub fn has_solver(&self) -> bool {
        self.search.is_some()
    }

    /// Figures of the questions asked since the last edit.
    pub fn solver_metrics(&self) -> Option<&SolverMetrics> {
        self.search.as_ref().map(Search::metrics)
    }

    /// A new solver without results, while the graph does not change.
    pub fn fresh_solver(&mut self) -> Solver<'_> {
        let is_small = self.is_small();
        if is_small {
            self.reachability();
        }
        let mut search = Search::new(self.fault);
        search.set_budget(self.budget);
        Solver {
            graph: &self.graph,
            reach: self.reach.as_ref().filter(|_| is_small),
            search,
        }
    }

    /// Plants a fault in the solver.
    pub(super) fn plant(&mut self, fault: Fault) {
        self.fault = Some(fault);
        self.changed();
    }

    /// Figures of the graph, and of all questions so far.
    pub fn metrics(&self) -> Metrics {
        let live = self.search.as_ref().map(|search| search.metrics().clone());
        let solvers = self.retired.iter().cloned().chain(live).collect();
        Metrics::of(&self.graph, solvers)
    }

    /// The graph in a form that can't change any more, and that many threads may query.
    pub fn freeze(mut self) -> Frozen<D> {
        self.changed();
        if self.is_small() {
            self.reachability();
        }
        Frozen { program: self }
    }

    fn reachability(&mut self) -> &Reachability {
        let graph = &self.graph;
        self.reach.get_or_insert_with(|| Reachability::of(graph))
    }

    /// The binding of a variable to data that the program already has.
    pub(super) fn bind_same(&mut self, variable: Variable, data: usize) -> Binding {
        let of = |b: &Binding| &self.data[self.data_of[b.index()]];
        let bindings = self.graph.bindings_of(variable);
        if let Some(found) = bindings.iter().find(|b| *of(b) == self.data[data]) {
            return *found;
        }
        let is_full = bindings.len() + 1 >= self.limits.bindings.max(1);
        if is_full && data != self.default_data {
            return self.bind_default(variable);
        }
        self.new_binding(variable, data)
    }

    pub(super) fn data_index(&self, binding: Binding) -> usize {
        self.data_of[binding.index()]
    }

    fn new_binding(&mut self, variable: Variable, data: usize) -> Binding {
        self.changed();
        self.data_of.push(data);
        self.graph.add_binding(variable)
    }

    fn search(&mut self) -> (&mut Search, View<'_>) {
        let graph = &self.graph;
        let reach = self.reach.get_or_insert_with(|| Reachability::of(graph));
        let search = self.search.get_or_insert_with(|| Search::new(self.fault));
        search.set_budget(self.budget);
        (search, View { graph, reach })
    }

    /// Discards the results. Every method that changes an answer calls it.
    fn changed(&mut self) {
        if let Some(search) = self.search.take() {
            self.retired.push(search.metrics().clone());
        }
    }
}

/// A typegraph that can't change any more. It is `Sync` if its data are: every thread queries it
/// through a [`Solver`] of its own, which keeps that thread's results.
pub struct Frozen<D> {
    program: Program<D>,
}

impl<D: PartialEq> Frozen<D> {
    /// A new solver.
    pub fn solver(&self) -> Solver<'_> {
        let mut search = Search::new(self.program.fault);
        search.set_budget(self.program.budget);
        Solver {
            graph: &self.program.graph,
            reach: self.program.reach.as_ref(),
            search,
        }
    }

    /// The value of a binding.
    pub fn data(&self, binding: Binding) -> &D {
        self.program.data(binding)
    }

    /// The binding of a variable to a value, if there is one.
    pub fn find(&self, variable: Variable, data: &D) -> Option<Binding> {
        self.program.find(variable, data)
    }

    /// Converts it back to a graph that can be changed.
    pub fn thaw(self) -> Program<D> {
        self.program
    }
}

impl<D> Deref for Frozen<D> {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        &self.program.graph
    }
}

/// Queries a frozen graph, and keeps the results.
pub struct Solver<'g> {
    graph: &'g Graph,
    /// None if the graph is too large for its budget.
    reach: Option<&'g Reachability>,
    search: Search,
}

impl<'g> Solver<'g> {
    /// Sets the budget of a question. Earlier results stay. A graph that was too large when it was
    /// frozen stays so.
    pub fn set_budget(&mut self, budget: Budget) {
        self.search.set_budget(budget);
    }

    /// See [`Program::ask`].
    pub fn ask(&mut self, node: Node, goals: &[Binding]) -> Answer {
        match self.view() {
            Some(view) => self.search.ask(view, node, goals),
            None => Answer::TOO_LARGE,
        }
    }

    /// See [`Program::witness`].
    pub fn witness(&mut self, node: Node, goals: &[Binding]) -> (Answer, Option<Witness>) {
        match self.view() {
            Some(view) => self.search.witness(view, node, goals),
            None => (Answer::TOO_LARGE, None),
        }
    }

    /// See [`Program::refutation`].
    pub fn refutation(&mut self, node: Node, goals: &[Binding]) -> (Answer, Option<Refutation>) {
        match self.view() {
            Some(view) => self.search.refutation(view, node, goals),
            None => (Answer::TOO_LARGE, None),
        }
    }

    /// Figures of this solver's questions.
    pub fn metrics(&self) -> &SolverMetrics {
        self.search.metrics()
    }

    fn view(&self) -> Option<View<'g>> {
        let reach = self.reach?;
        Some(View {
            graph: self.graph,
            reach,
        })
    }
}
