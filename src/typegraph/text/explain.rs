//! Reasons in words.

use super::super::graph::{Binding, Node};
use super::super::program::Program;
use super::super::resolve::Dead;
use super::super::why::{Refutation, Refuted, Witness};
use super::label::Labels;
use std::fmt::Display;

/// The data for explaining a reason.
pub(super) struct Speaker<'a, D> {
    program: &'a Program<D>,
    labels: Labels,
}

impl<'a, D: PartialEq + Display> Speaker<'a, D> {
    pub(super) fn of(program: &'a Program<D>) -> Speaker<'a, D> {
        let labels = Labels::of(program);
        Speaker { program, labels }
    }

    /// A line for each visit, the last one first.
    pub(super) fn witness(&self, witness: &Witness) -> Vec<String> {
        let visit = |visit: &super::super::why::Visit| {
            let mut parts = Vec::new();
            for &(binding, set) in &visit.here {
                let origin = self.program.origin_at(binding, visit.node);
                let sources = origin.and_then(|origin| origin.sources.get(set));
                let from = match sources {
                    Some(set) if !set.is_empty() => format!(" from {}", self.set(set)),
                    _ => String::new(),
                };
                parts.push(self.binding(binding) + &from);
            }
            if !visit.before.is_empty() {
                parts.push(format!("needs {}", self.set(&visit.before)));
            }
            let colon = if parts.is_empty() { "" } else { ": " };
            format!("{}{colon}{}", self.node(visit.node), parts.join("; "))
        };
        witness.visits().iter().map(visit).collect()
    }

    /// A line for each state.
    pub(super) fn refutation(&self, refutation: &Refutation) -> Vec<String> {
        let lines = refutation.states.iter().map(|state| self.refuted(state));
        let rest = (!refutation.is_complete).then(|| "and so on".to_owned());
        lines.chain(rest).collect()
    }

    fn refuted(&self, state: &Refuted) -> String {
        let mut parts: Vec<String> = Vec::new();
        for dead in &state.dead {
            parts.push(match *dead {
                Dead::Overwritten(goal) => {
                    format!("{} is overwritten", self.binding(goal))
                }
                Dead::WithoutSources(goal) => {
                    format!("{} has no sources here", self.binding(goal))
                }
                Dead::OutOfReach(goal) => {
                    format!("no way leads here from {}", self.binding(goal))
                }
                Dead::Contradiction(a, b) => {
                    let (a, b) = (self.binding(a), self.binding(b));
                    format!("{a} contradicts {b}")
                }
            });
        }
        for blocked in &state.blocked {
            let goals = self.set(&blocked.goals);
            let by: Vec<&str> = blocked.by.iter().map(|&node| self.node(node)).collect();
            parts.push(if by.is_empty() {
                format!("{goals} is met nowhere")
            } else {
                format!("{goals} is blocked by {}", by.join(", "))
            });
        }
        match state.others {
            0 => {}
            1 => parts.push("needs a state below".to_owned()),
            n => parts.push(format!("needs one of {n} states below")),
        }
        let (node, goals) = (self.node(state.node), self.set(&state.goals));
        format!("{node} {goals}: {}", parts.join("; "))
    }

    fn node(&self, node: Node) -> &str {
        self.labels.node(node)
    }

    fn binding(&self, binding: Binding) -> String {
        self.labels.binding(self.program, binding)
    }

    fn set(&self, bindings: &[Binding]) -> String {
        self.labels.set(self.program, bindings)
    }
}
