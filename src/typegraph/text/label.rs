//! Names of nodes and variables in text: their given names, made unique.

use super::super::graph::{Binding, Graph, Node, Variable};
use super::super::program::Program;
use super::lex::quote;
use cranelift_entity::{EntityRef, SecondaryMap};
use std::collections::HashSet;
use std::fmt::Display;

/// Names for all nodes and variables of a graph, as they are written in a script. Names of nodes
/// are unique, and so are those of variables.
#[derive(Clone, Debug)]
pub struct Labels {
    nodes: SecondaryMap<Node, String>,
    variables: SecondaryMap<Variable, String>,
}

impl Labels {
    /// The labels of a graph. A nameless node or variable is called by its number; one with the
    /// name of another gets its number as a suffix.
    pub fn of(graph: &Graph) -> Labels {
        let nodes = graph.nodes().map(|n| (n, graph.node_name(n).to_owned()));
        let variables = graph.variables();
        let variables = variables.map(|v| (v, graph.variable_name(v).to_owned()));
        Labels {
            nodes: unique(nodes),
            variables: unique(variables),
        }
    }

    /// The name of a node.
    pub fn node(&self, node: Node) -> &str {
        &self.nodes[node]
    }

    /// The name of a variable.
    pub fn variable(&self, variable: Variable) -> &str {
        &self.variables[variable]
    }

    /// `variable=value`.
    pub fn binding<D: PartialEq + Display>(
        &self,
        program: &Program<D>,
        binding: Binding,
    ) -> String {
        let variable = self.variable(program.variable_of(binding));
        format!("{variable}={}", quote(&program.data(binding).to_string()))
    }

    /// `{x=1, y=2}`.
    pub fn set<D: PartialEq + Display>(
        &self,
        program: &Program<D>,
        bindings: &[Binding],
    ) -> String {
        let bindings = bindings.iter().map(|&b| self.binding(program, b));
        format!("{{{}}}", Vec::from_iter(bindings).join(", "))
    }
}

fn unique<E: EntityRef + Display>(
    names: impl Iterator<Item = (E, String)>,
) -> SecondaryMap<E, String> {
    let mut labels = SecondaryMap::new();
    let mut taken = HashSet::new();
    for (entity, name) in names {
        let number = entity.to_string();
        let mut name = if name.is_empty() {
            number.clone()
        } else {
            name
        };
        while !taken.insert(name.clone()) {
            name = format!("{name}.{number}");
        }
        labels[entity] = quote(&name);
    }
    labels
}
