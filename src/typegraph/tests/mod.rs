//! Tests of the module as a whole. The answers themselves are tested by the scripts in
//! `jit-tests/files/typegraph`.

mod cost;
mod edits;
mod oracle;
mod random;
mod text;
mod walks;

use super::{Binding, Node, Program};

/// Nodes in sequence.
fn chain(program: &mut Program<u32>, count: usize) -> Vec<Node> {
    let nodes: Vec<Node> = (0..count).map(|_| program.node("")).collect();
    for pair in nodes.windows(2) {
        program.connect(pair[0], pair[1]);
    }
    nodes
}

/// A variable bound to one value in one node.
fn bind(program: &mut Program<u32>, data: u32, node: Node, sources: &[Binding]) -> Binding {
    let variable = program.variable("");
    program.bind_at(variable, data, node, sources)
}
