//! A typegraph as a picture, in the language of Graphviz.

use super::super::program::Program;
use super::label::Labels;
use std::fmt::{Display, Write};

/// The nodes with their conditions (dashed boxes), their bindings with sources, and the edges.
pub fn dot<D: PartialEq + Display>(program: &Program<D>) -> String {
    let labels = Labels::of(program);
    let mut text = String::from(
        "digraph typegraph {\n    rankdir=TB;\n    node [shape=box, fontname=\"monospace\"];\n",
    );
    for node in program.nodes() {
        let mut lines = vec![labels.node(node).to_owned()];
        let condition = program.condition(node);
        lines.extend(condition.map(|c| format!("if {}", labels.binding(program, c))));
        for &binding in program.bindings_at(node) {
            let sources = program.origin_at(binding, node);
            let sets = sources.map_or(&[][..], |origin| &origin.sources).iter();
            let sets: Vec<String> = sets.map(|set| labels.set(program, set)).collect();
            let name = labels.binding(program, binding);
            lines.push(match &sets[..] {
                [] => format!("{name} never"),
                [only] if only == "{}" => name,
                _ => format!("{name} from {}", sets.join(" or ")),
            });
        }
        let label = lines.iter().map(|line| escape(line) + "\\l");
        let label: String = label.collect();
        let dashed = if condition.is_some() {
            ", style=dashed"
        } else {
            ""
        };
        let _ = writeln!(text, "    {node} [label=\"{label}\"{dashed}];");
    }
    for node in program.nodes() {
        let own = program.repeats(node).then_some(node);
        for after in program.successors(node).iter().chain(&own) {
            let _ = writeln!(text, "    {node} -> {after};");
        }
    }
    text.push_str("}\n");
    text
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
