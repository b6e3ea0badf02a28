//! The parts of a typegraph: nodes, variables, bindings and origins, without the data of the
//! bindings. All searches work on this part alone, so it is not generic.

use cranelift_entity::{PrimaryMap, entity_impl};

/// A node of the control flow graph: a place where variables may be bound. Numbered from 0, in the
/// order of creation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(u32);
entity_impl!(Node, "n");

/// A variable of the program that is described.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable(u32);
entity_impl!(Variable, "v");

/// A variable with one of its possible values. Numbered through the whole program; never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Binding(u32);
entity_impl!(Binding, "b");

/// Bindings that must all hold together, in ascending order.
pub type SourceSet = Box<[Binding]>;

/// The place at which a binding is created, and its sources: one of the source sets must hold, with
/// all of its members.
///
/// Without any source set it can never hold; the empty source set always does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The node in which the binding is created.
    pub node: Node,
    /// The alternatives, without repetition and in ascending order of their members' numbers.
    pub sources: Vec<SourceSet>,
}

#[derive(Clone, Default, Debug)]
struct NodeData {
    name: String,
    predecessors: Vec<Node>,
    successors: Vec<Node>,
    /// True if the node may follow itself directly.
    repeats: bool,
    condition: Option<Binding>,
    bindings: Vec<Binding>,
}

#[derive(Clone, Default, Debug)]
struct VariableData {
    name: String,
    bindings: Vec<Binding>,
    /// The nodes in which some binding of the variable has an origin, in ascending order.
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct BindingData {
    variable: Variable,
    origins: Vec<Origin>,
    /// Node and index in `origins`, in ascending order of nodes.
    by_node: Vec<(Node, usize)>,
}

/// Nodes, edges, conditions, variables, bindings and origins of a [`Program`](super::Program).
///
/// The methods panic for a node, variable or binding of another program that this one does not
/// have.
#[derive(Clone, Default, Debug)]
pub struct Graph {
    nodes: PrimaryMap<Node, NodeData>,
    variables: PrimaryMap<Variable, VariableData>,
    bindings: PrimaryMap<Binding, BindingData>,
    conditions: usize,
}

impl Graph {
    /// All nodes, in the order of creation.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + use<> {
        self.nodes.keys()
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The name of a node; may be empty, and need not be unique.
    pub fn node_name(&self, node: Node) -> &str {
        &self.nodes[node].name
    }

    /// Nodes with an edge to this one, in the order of the edges' creation. Never the node itself;
    /// see [`Graph::repeats`].
    pub fn predecessors(&self, node: Node) -> &[Node] {
        &self.nodes[node].predecessors
    }

    /// Nodes to which this one has an edge, in the order of the edges' creation. Never the node
    /// itself.
    pub fn successors(&self, node: Node) -> &[Node] {
        &self.nodes[node].successors
    }

    /// Returns true if the node was connected to itself. Such an edge is in no list of edges, as in
    /// the original. But the original ignored it, and so denied bindings that only a second visit
    /// makes possible.
    pub fn repeats(&self, node: Node) -> bool {
        self.nodes[node].repeats
    }

    /// The nodes from which control comes directly: the predecessors, and the node itself if it
    /// repeats.
    pub fn before(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let data = &self.nodes[node];
        let own = data.repeats.then_some(node);
        data.predecessors.iter().copied().chain(own)
    }

    /// The binding that must hold whenever control passes the node.
    pub fn condition(&self, node: Node) -> Option<Binding> {
        self.nodes[node].condition
    }

    /// The number of nodes with a condition.
    pub fn condition_count(&self) -> usize {
        self.conditions
    }

    /// The bindings with an origin in a node, in the order in which they got it.
    pub fn bindings_at(&self, node: Node) -> &[Binding] {
        &self.nodes[node].bindings
    }

    /// All variables, in the order of creation.
    pub fn variables(&self) -> impl Iterator<Item = Variable> + use<> {
        self.variables.keys()
    }

    /// The number of variables.
    pub fn variable_count(&self) -> usize {
        self.variables.len()
    }

    /// The name of a variable; may be empty, and need not be unique.
    pub fn variable_name(&self, variable: Variable) -> &str {
        &self.variables[variable].name
    }

    /// The bindings of a variable, in the order of creation.
    pub fn bindings_of(&self, variable: Variable) -> &[Binding] {
        &self.variables[variable].bindings
    }

    /// The nodes in which a variable is bound (and so overwritten), in ascending order.
    pub fn nodes_of(&self, variable: Variable) -> &[Node] {
        &self.variables[variable].nodes
    }

    /// Returns true if a node binds a variable.
    pub fn binds(&self, node: Node, variable: Variable) -> bool {
        self.variables[variable].nodes.binary_search(&node).is_ok()
    }

    /// The number of bindings.
    pub fn binding_count(&self) -> usize {
        self.bindings.len()
    }

    /// The variable of a binding.
    pub fn variable_of(&self, binding: Binding) -> Variable {
        self.bindings[binding].variable
    }

    /// The origins of a binding, at most one per node, in the order of creation.
    pub fn origins(&self, binding: Binding) -> &[Origin] {
        &self.bindings[binding].origins
    }

    /// The origin of a binding in a node.
    pub fn origin_at(&self, binding: Binding, node: Node) -> Option<&Origin> {
        let data = &self.bindings[binding];
        let found = data.by_node.binary_search_by_key(&node, |&(n, _)| n);
        found.ok().map(|i| &data.origins[data.by_node[i].1])
    }

    /// Returns true if `source` is `binding`, or contributes to it in some origin: a property of
    /// the graph's text, regardless of paths.
    pub fn has_source(&self, binding: Binding, source: Binding) -> bool {
        let mut seen = vec![false; self.bindings.len()];
        let mut left = vec![binding];
        while let Some(binding) = left.pop() {
            if binding == source {
                return true;
            }
            if std::mem::replace(&mut seen[binding.0 as usize], true) {
                continue;
            }
            for origin in self.origins(binding) {
                left.extend(origin.sources.iter().flatten());
            }
        }
        false
    }

    pub(super) fn add_node(&mut self, name: String) -> Node {
        self.nodes.push(NodeData {
            name,
            ..NodeData::default()
        })
    }

    /// Adds an edge. Returns true if it is new (an edge to the node itself never is).
    pub(super) fn add_edge(&mut self, from: Node, to: Node) -> bool {
        if from == to {
            self.nodes[from].repeats = true;
            return false;
        }
        // Search the shorter of the two lists: some nodes have thousands of edges, but rarely both
        // ends of one edge.
        let (out, into) = (&self.nodes[from].successors, &self.nodes[to].predecessors);
        let is_there = if out.len() < into.len() {
            out.contains(&to)
        } else {
            into.contains(&from)
        };
        if !is_there {
            self.nodes[from].successors.push(to);
            self.nodes[to].predecessors.push(from);
        }
        !is_there
    }

    pub(super) fn set_condition(&mut self, node: Node, condition: Option<Binding>) {
        let old = std::mem::replace(&mut self.nodes[node].condition, condition);
        self.conditions += usize::from(condition.is_some());
        self.conditions -= usize::from(old.is_some());
    }

    pub(super) fn add_variable(&mut self, name: String) -> Variable {
        self.variables.push(VariableData {
            name,
            ..VariableData::default()
        })
    }

    pub(super) fn add_binding(&mut self, variable: Variable) -> Binding {
        let binding = self.bindings.push(BindingData {
            variable,
            origins: Vec::new(),
            by_node: Vec::new(),
        });
        self.variables[variable].bindings.push(binding);
        binding
    }

    /// The origin of a binding in a node, created without source sets if it is new.
    pub(super) fn add_origin(&mut self, binding: Binding, node: Node) -> &mut Origin {
        let data = &mut self.bindings[binding];
        let index = match data.by_node.binary_search_by_key(&node, |&(n, _)| n) {
            Ok(at) => data.by_node[at].1,
            Err(at) => {
                let index = data.origins.len();
                data.by_node.insert(at, (node, index));
                data.origins.push(Origin {
                    node,
                    sources: Vec::new(),
                });
                self.nodes[node].bindings.push(binding);
                let nodes = &mut self.variables[data.variable].nodes;
                if let Err(at) = nodes.binary_search(&node) {
                    nodes.insert(at, node);
                }
                index
            }
        };
        &mut data.origins[index]
    }

    /// Adds an alternative to the origin of a binding in a node.
    pub(super) fn add_sources(&mut self, binding: Binding, node: Node, mut sources: Vec<Binding>) {
        sources.sort_unstable();
        sources.dedup();
        let alternatives = &mut self.add_origin(binding, node).sources;
        let sources = sources.into_boxed_slice();
        if let Err(at) = alternatives.binary_search(&sources) {
            alternatives.insert(at, sources);
        }
    }
}
