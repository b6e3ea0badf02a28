//! A program written as a script that builds it: with the same numbers, edges, origins and limits.

use super::super::graph::{Binding, Node, Origin, Variable};
use super::super::program::{Limits, Program};
use super::label::Labels;
use super::lex::quote;
use cranelift_entity::EntityRef;
use std::fmt::{Display, Write};

/// The program as a script. Predecessors may be read back in another order; no result depends on
/// it.
pub fn print<D: PartialEq + Display>(program: &Program<D>) -> String {
    let labels = Labels::of(program);
    let mut text = String::new();
    let _ = writeln!(
        text,
        "default {}",
        quote(&program.default_data().to_string())
    );
    // A variable may have been filled under another limit.
    let most = program.variables().map(|v| program.bindings_of(v).len());
    let (limits, usual) = (program.limits(), Limits::default());
    let enough = most.max().unwrap_or(0) + 2;
    if enough > usual.bindings {
        let _ = writeln!(text, "limit bindings {enough}");
    }
    nodes(program, &labels, &mut text);
    bindings(program, &labels, &mut text);
    for node in program.nodes() {
        if let Some(condition) = program.condition(node) {
            let condition = labels.binding(program, condition);
            let _ = writeln!(text, "condition {}: {condition}", labels.node(node));
        }
    }
    if let Some(entry) = program.entry() {
        let _ = writeln!(text, "entry {}", labels.node(entry));
    }
    if limits.bindings != usual.bindings || enough > usual.bindings {
        let _ = writeln!(text, "limit bindings {}", limits.bindings);
    }
    if limits.combinations != usual.combinations {
        let _ = writeln!(text, "limit combinations {}", limits.combinations);
    }
    text
}

/// A line for each node with its edges. A name that first occurs there gets the next number, so
/// nodes in between come first.
fn nodes<D: PartialEq + Display>(program: &Program<D>, labels: &Labels, text: &mut String) {
    let mut named = 0;
    for node in program.nodes() {
        let own = program.repeats(node).then_some(node);
        let after: Vec<Node> = program
            .successors(node)
            .iter()
            .copied()
            .chain(own)
            .collect();
        // In the order in which the line would introduce them.
        let mut next = named;
        let is_in_order = std::iter::once(&node).chain(&after).all(|n| {
            let is_next = n.index() <= next;
            next = next.max(n.index() + 1);
            is_next
        });
        if !is_in_order {
            let most = after.iter().map(|n| n.index()).max().unwrap_or(0);
            for node in (named..most).map(Node::new) {
                let _ = writeln!(text, "node {}", labels.node(node));
            }
        }
        named = next;
        let arrow = if after.is_empty() { "" } else { " -> " };
        let after: Vec<&str> = after.iter().map(|&n| labels.node(n)).collect();
        let _ = writeln!(
            text,
            "node {}{arrow}{}",
            labels.node(node),
            after.join(", ")
        );
    }
}

/// Each binding with its first origin whose sources are already written; the other origins after
/// all bindings.
fn bindings<D: PartialEq + Display>(program: &Program<D>, labels: &Labels, text: &mut String) {
    let mut origins = String::new();
    let mut variables = program.variables().peekable();
    for binding in (0..program.binding_count()).map(Binding::new) {
        while let Some(variable) = variables.next_if(|&v| v <= program.variable_of(binding)) {
            if variable != program.variable_of(binding) {
                let _ = writeln!(text, "variable {}", labels.variable(variable));
            }
        }
        let head = format!("{} = {}", labels.variable(program.variable_of(binding)), {
            quote(&program.data(binding).to_string())
        });
        let mut rest = program.origins(binding).iter();
        let is_written = |origin: &&Origin| {
            let mut sources = origin.sources.iter().flatten();
            sources.all(|source| *source < binding)
        };
        let first = rest.as_slice().first().filter(is_written);
        *text += &head;
        if let Some(origin) = first {
            *text += &at(program, labels, origin);
            rest.next();
        }
        text.push('\n');
        for origin in rest {
            let _ = writeln!(origins, "{head}{}", at(program, labels, origin));
        }
    }
    for variable in variables {
        let _ = writeln!(text, "variable {}", labels.variable(variable));
    }
    *text += &origins;
}

/// ` @ node {sources} | {sources}`.
fn at<D: PartialEq + Display>(program: &Program<D>, labels: &Labels, origin: &Origin) -> String {
    let sets = origin.sources.iter().map(|set| labels.set(program, set));
    let sets = Vec::from_iter(sets).join(" | ");
    let sets = match &origin.sources[..] {
        [] => " never".to_owned(),
        [only] if only.is_empty() => String::new(),
        _ => format!(" {sets}"),
    };
    format!(" @ {}{sets}", labels.node(origin.node))
}

/// The lines of a variable's bindings.
pub(super) fn print_variable<D: PartialEq + Display>(
    program: &Program<D>,
    variable: Variable,
) -> String {
    let labels = Labels::of(program);
    let mut text = String::new();
    for &binding in program.bindings_of(variable) {
        let data = quote(&program.data(binding).to_string());
        let head = format!("{} = {data}", labels.variable(variable));
        if program.origins(binding).is_empty() {
            let _ = writeln!(text, "{head}");
        }
        for origin in program.origins(binding) {
            let _ = writeln!(text, "{head}{}", at(program, &labels, origin));
        }
    }
    text
}
