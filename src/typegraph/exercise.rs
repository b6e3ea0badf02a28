//! Decodes bytes as a small graph, edits and questions, and compares each answer with the
//! enumeration of all executions. Shared by the fuzzer and the random tests.

use super::answer::{Answer, Budget};
use super::brute::Executions;
use super::graph::{Binding, Graph, Node, Variable};
use super::program::{Limits, Program};
use super::search::Fault;
use super::text::{ScriptOptions, print, run};
use std::ops::AddAssign;

/// Counts of the checks made.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// Questions answered by "infeasible".
    pub infeasible: u64,
    /// Questions answered by "feasible".
    pub feasible: u64,
    /// Questions that needed the second pass.
    pub second_pass: u64,
    /// Questions for which a small budget was not enough.
    pub unknown: u64,
    /// The most visits in an execution that was needed, and the greatest bound on that.
    pub longest: (usize, usize),
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.infeasible += other.infeasible;
        self.feasible += other.feasible;
        self.second_pass += other.second_pass;
        self.unknown += other.unknown;
        let (longest, bound) = other.longest;
        self.longest = (self.longest.0.max(longest), self.longest.1.max(bound));
    }
}

/// The most ends of executions of a generated graph: 7 nodes, 4 variables with 3 bindings each.
pub const MAX_ENDS: usize = 7 * 4 * 4 * 4 * 4;

/// Builds, edits and queries as the bytes direct, and compares. With a planted fault the result
/// should be an error.
///
/// # Errors
/// The first difference, with the graph.
pub fn exercise(bytes: &[u8], fault: Option<Fault>) -> Result<Tally, String> {
    let mut dice = Dice { bytes, at: 0 };
    let mut program = build(&mut dice);
    if let Some(fault) = fault {
        program.plant(fault);
    }
    let mut tally = Tally::default();
    for round in 0..3 {
        if round > 0 {
            edit(&mut program, &mut dice);
        }
        compare(&mut program, &mut dice, &mut tally)?;
        if dice.at >= bytes.len() {
            break;
        }
    }
    Ok(tally)
}

/// Exercises the module with arbitrary bytes: a `t` and a script, or any other byte and a graph.
///
/// # Errors
/// The first difference.
pub fn exercise_input(bytes: &[u8], fault: Option<Fault>) -> Result<(), String> {
    match bytes.split_first() {
        Some((b't', text)) => exercise_text(&String::from_utf8_lossy(text)),
        _ => exercise(bytes, fault).map(drop),
    }
}

/// Runs a script, and reads back the printed result: it must be the same program.
///
/// # Errors
/// The first difference. A script that can't be run is no fault.
fn exercise_text(text: &str) -> Result<(), String> {
    // A script without bounds may run for a long time, and that is no fault.
    if ["budget", "combinations"].iter().any(|w| text.contains(w)) {
        return Ok(());
    }
    let Ok(outcome) = run(text, ScriptOptions { why: true }) else {
        return Ok(());
    };
    let printed = print(&outcome.program);
    let again = run(&printed, ScriptOptions::default());
    let again = again.map_err(|e| format!("{e}, in what was printed:\n{printed}"))?;
    let second = print(&again.program);
    if second != printed {
        return Err(format!("{printed}\nis read as\n{second}"));
    }
    Ok(())
}

/// Numbers from bytes; zeros when the bytes are used up.
struct Dice<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Dice<'_> {
    fn below(&mut self, n: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte as usize % n.max(1)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    fn pick<T: Copy>(&mut self, among: &[T]) -> Option<T> {
        let index = self.below(among.len());
        among.get(index).copied()
    }
}

fn bindings(graph: &Graph) -> Vec<Binding> {
    let variables = graph.variables();
    variables
        .flat_map(|v| graph.bindings_of(v).to_vec())
        .collect()
}

/// A graph of at most 7 nodes and 4 variables with at most 3 bindings each.
fn build(dice: &mut Dice<'_>) -> Program<u8> {
    let limits = Limits {
        bindings: 3,
        ..Limits::default()
    };
    let mut program = Program::with_limits(9, limits);
    program.set_budget(Budget::UNLIMITED);
    let nodes: Vec<Node> = (0..2 + dice.below(6)).map(|_| program.node("")).collect();
    // Chains, and statements with two arms, with additional edges in both directions: the shapes of
    // real programs.
    let mut at = 0;
    while at + 1 < nodes.len() {
        if dice.one_in(2) && at + 3 < nodes.len() {
            for arm in [nodes[at + 1], nodes[at + 2]] {
                program.connect(nodes[at], arm);
                program.connect(arm, nodes[at + 3]);
            }
            at += 3;
        } else {
            if !dice.one_in(8) {
                program.connect(nodes[at], nodes[at + 1]);
            }
            at += 1;
        }
    }
    for _ in 0..dice.below(nodes.len()) {
        edge(&mut program, dice);
    }
    for _ in 0..1 + dice.below(4) {
        let variable = program.variable("");
        for value in 0..1 + dice.below(3) {
            program.bind(variable, value as u8);
        }
    }
    for binding in bindings(&program) {
        for _ in 0..1 + dice.below(2) {
            origin(&mut program, dice, binding);
        }
    }
    for _ in 0..dice.below(nodes.len() + 1) {
        condition(&mut program, dice);
    }
    program
}

fn edge(program: &mut Program<u8>, dice: &mut Dice<'_>) {
    let nodes: Vec<Node> = program.nodes().collect();
    if let (Some(from), Some(to)) = (dice.pick(&nodes), dice.pick(&nodes)) {
        program.connect(from, to);
    }
}

fn origin(program: &mut Program<u8>, dice: &mut Dice<'_>, binding: Binding) {
    let (nodes, all): (Vec<Node>, _) = (program.nodes().collect(), bindings(program));
    // A value that is bound early has a long path to the question.
    let early = if dice.one_in(2) { 1 } else { nodes.len() };
    let Some(node) = dice.pick(&nodes[..early.min(nodes.len())]) else {
        return;
    };
    if dice.one_in(16) {
        return program.add_empty_origin(binding, node);
    }
    for _ in 0..1 + dice.below(2) {
        let count = [0, 0, 0, 1, 1, 1, 2, 3][dice.below(8)];
        let sources: Vec<Binding> = (0..count).filter_map(|_| dice.pick(&all)).collect();
        program.add_origin(binding, node, &sources);
    }
}

fn condition(program: &mut Program<u8>, dice: &mut Dice<'_>) {
    let (nodes, all): (Vec<Node>, _) = (program.nodes().collect(), bindings(program));
    let condition = dice.pick(&all).filter(|_| !dice.one_in(8));
    if let Some(node) = dice.pick(&nodes) {
        program.set_condition(node, condition);
    }
}

/// A change of any kind that keeps the graph small.
fn edit(program: &mut Program<u8>, dice: &mut Dice<'_>) {
    let (nodes, all): (Vec<Node>, _) = (program.nodes().collect(), bindings(program));
    let variables: Vec<Variable> = program.variables().collect();
    let (Some(binding), Some(variable)) = (dice.pick(&all), dice.pick(&variables)) else {
        return;
    };
    let node = dice.pick(&nodes);
    match dice.below(7) {
        0 => edge(program, dice),
        1 => origin(program, dice, binding),
        2 => condition(program, dice),
        3 => {
            let value = dice.below(5) as u8;
            let binding = program.bind(variable, value);
            origin(program, dice, binding);
        }
        4 => {
            program.paste_binding(variable, binding, node, &[]);
        }
        5 => {
            let other = program.variable_of(binding);
            let extra = dice.pick(&all).filter(|_| dice.one_in(3));
            let node = node.filter(|_| !dice.one_in(3));
            program.paste_variable(variable, other, node, extra.as_slice());
        }
        _ if nodes.len() < 7 => {
            let new = program.node("");
            if let Some(node) = node {
                program.connect(node, new);
            }
        }
        _ => edge(program, dice),
    }
}

/// Makes some questions, with one solver and with new ones.
fn compare(
    program: &mut Program<u8>,
    dice: &mut Dice<'_>,
    tally: &mut Tally,
) -> Result<(), String> {
    let graph: &Graph = &Graph::clone(program);
    let Some(executions) = Executions::of(graph, MAX_ENDS) else {
        return Err(format!("too large: {graph:?}"));
    };
    let (longest, bound) = executions.longest();
    if longest > bound {
        return Err(format!("{longest} visits, though {bound} are enough"));
    }
    tally.longest = (tally.longest.0.max(longest), tally.longest.1.max(bound));
    let (nodes, all): (Vec<Node>, _) = (program.nodes().collect(), bindings(program));
    for _ in 0..2 + dice.below(6) {
        let Some(node) = dice.pick(&nodes) else {
            break;
        };
        let count = [1, 1, 2, 2, 2, 3, 0, 1][dice.below(8)];
        let goals: Vec<Binding> = (0..count).filter_map(|_| dice.pick(&all)).collect();
        let (answer, witness) = program.witness(node, &goals);
        let fail = |what: &str| Err(format!("{node}? {goals:?}: {answer}, {what}\n{graph:#?}"));
        let is_possible = executions.can_have(graph, node, &goals);
        match answer {
            Answer::Infeasible if is_possible => return fail("but an execution does it"),
            Answer::Feasible if !is_possible => return fail("but no execution does it"),
            Answer::Unknown(_) => return fail("without a bound"),
            Answer::Infeasible => tally.infeasible += 1,
            Answer::Feasible => tally.feasible += 1,
        }
        match (answer, &witness) {
            (Answer::Feasible, None) => return fail("without a witness"),
            (Answer::Feasible, Some(witness)) => {
                if let Err(what) = witness.check(graph, node, &goals) {
                    return fail(&format!("but the witness is invalid: {what}"));
                }
            }
            _ => {}
        }
        let is_second = |m: &super::metrics::SolverMetrics| {
            m.queries.last().is_some_and(|query| query.second_pass)
        };
        tally.second_pass += u64::from(program.solver_metrics().is_some_and(is_second));
        if answer.is_infeasible() && program.refutation(node, &goals).1.is_none() {
            return fail("without a reason");
        }
        // A small budget may be insufficient for an answer, but must not give a different one.
        let mut other = program.fresh_solver();
        other.set_budget(Budget {
            nodes: usize::MAX,
            states: 1 + dice.below(6),
            results: 1 + dice.below(4),
            goals: 1 + dice.below(4),
            steps: 1 + dice.below(200) as u64,
        });
        for _ in 0..2 {
            match other.ask(node, &goals) {
                Answer::Unknown(_) => tally.unknown += 1,
                decided if decided != answer => return fail(&format!("and once {decided}")),
                _ => {}
            }
        }
        // The remains of a search that was given up must not affect the next.
        other.set_budget(Budget::UNLIMITED);
        let again = other.ask(node, &goals);
        if again != answer {
            return fail(&format!("but {again} from another solver"));
        }
    }
    Ok(())
}
