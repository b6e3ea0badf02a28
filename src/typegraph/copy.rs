//! Giving a variable the values of another: paste, assign, and binding several at once.

use super::graph::{Binding, Node, Variable};
use super::program::Program;

impl<D: PartialEq> Program<D> {
    /// A variable with these values, all bound in one node from the same sources.
    pub fn variable_with(
        &mut self,
        name: impl Into<String>,
        data: impl IntoIterator<Item = D>,
        node: Node,
        sources: &[Binding],
    ) -> Variable {
        let variable = self.variable(name);
        for data in data {
            self.bind_at(variable, data, node, sources);
        }
        variable
    }

    /// Makes a binding follow another. With a node, it is bound there, from the other and `extra`.
    /// Without one, it gets all origins of the other, with `extra` added to each source set.
    pub fn copy_origins(
        &mut self,
        binding: Binding,
        other: Binding,
        node: Option<Node>,
        extra: &[Binding],
    ) {
        match node {
            Some(node) => {
                let sources = [&[other], extra].concat();
                self.add_origin(binding, node, &sources);
            }
            None => {
                for origin in self.origins(other).to_vec() {
                    self.add_empty_origin(binding, origin.node);
                    for sources in &origin.sources {
                        self.add_origin(binding, origin.node, &[sources, extra].concat());
                    }
                }
            }
        }
    }

    /// Gives a variable the value of a binding, as [`copy_origins`](Program::copy_origins)
    /// describes. If all origins of the binding are in the node itself, they are copied instead of
    /// referred to, which saves searches a step.
    pub fn paste_binding(
        &mut self,
        variable: Variable,
        binding: Binding,
        node: Option<Node>,
        extra: &[Binding],
    ) -> Binding {
        let data = self.data_index(binding);
        let new = self.bind_same(variable, data);
        let origins = self.origins(binding);
        let is_here = !origins.is_empty() && origins.iter().all(|o| Some(o.node) == node);
        let node = if is_here { None } else { node };
        self.copy_origins(new, binding, node, extra);
        new
    }

    /// Gives a variable all values of another.
    pub fn paste_variable(
        &mut self,
        variable: Variable,
        other: Variable,
        node: Option<Node>,
        extra: &[Binding],
    ) {
        for binding in self.bindings_of(other).to_vec() {
            self.paste_binding(variable, binding, node, extra);
        }
    }

    /// Gives a variable another value wherever a binding has an origin.
    pub fn paste_with_data(&mut self, variable: Variable, binding: Binding, data: D) -> Binding {
        let new = self.bind(variable, data);
        self.copy_origins(new, binding, None, &[]);
        new
    }

    /// A fresh variable with the values of these bindings, as
    /// [`copy_origins`](Program::copy_origins) describes.
    pub fn assign(
        &mut self,
        name: impl Into<String>,
        bindings: &[Binding],
        node: Option<Node>,
    ) -> Variable {
        let variable = self.variable(name);
        for &binding in bindings {
            let data = self.data_index(binding);
            let new = self.bind_same(variable, data);
            self.copy_origins(new, binding, node, &[]);
        }
        variable
    }
}
