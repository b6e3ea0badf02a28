//! Tests that questions which are expensive in the original cost little here, or are given up.
//! Costs are counted, not timed.

use super::{bind, chain};
use crate::typegraph::{Answer, Binding, Budget, Exhausted, Node, Program};

/// Each binding has the previous one as its source.
fn dependent_chain(count: usize) -> (Program<u32>, Vec<Node>, Binding) {
    let mut program = Program::new(0);
    let nodes = chain(&mut program, count);
    let mut last = bind(&mut program, 1, nodes[0], &[]);
    for &node in &nodes[1..] {
        last = bind(&mut program, 1, node, &[last]);
    }
    (program, nodes, last)
}

fn steps(program: &Program<u32>) -> u64 {
    let metrics = program.solver_metrics().expect("something was asked");
    metrics.queries.last().expect("something was asked").steps
}

/// J04: the original's recursion overflows its stack, and building takes it 13 seconds.
#[test]
fn a_chain_of_20_000_bindings_is_answered_in_linear_cost() {
    let (mut program, nodes, last) = dependent_chain(20_000);
    let end = nodes[nodes.len() - 1];
    let open = Answer::Unknown(Exhausted::States);
    assert_eq!(program.ask(end, &[last]), open, "by the usual budget");
    program.set_budget(Budget::UNLIMITED);
    let (answer, witness) = program.witness(end, &[last]);
    assert_eq!(answer, Answer::Feasible);
    let witness = witness.expect("it is feasible");
    assert_eq!(witness.visits().len(), 20_000);
    assert_eq!(witness.check(&program, end, &[last]), Ok(()));
    assert!(steps(&program) < 20_000 * 32, "{}", steps(&program));
}

#[test]
fn a_chain_of_20_000_bindings_with_a_broken_end_is_refuted() {
    let (mut program, nodes, last) = dependent_chain(20_000);
    program.set_budget(Budget::UNLIMITED);
    let impossible = program.variable("");
    let impossible = program.bind(impossible, 1);
    program.set_condition(nodes[0], Some(impossible));
    let end = nodes[nodes.len() - 1];
    assert_eq!(program.ask(end, &[last]), Answer::Infeasible);
    assert!(steps(&program) < 20_000 * 16, "{}", steps(&program));
    let (_, refutation) = program.refutation(end, &[last]);
    assert!(!refutation.expect("it is infeasible").is_complete);
}

/// Goals that each have two alternatives in one node, `.0`, and the sources of the alternatives.
fn alternatives(program: &mut Program<u32>, node: Node, from: Node, count: usize) -> Vec<Binding> {
    let goal = |_| {
        let variable = program.variable("");
        let sources = [0, 1].map(|data| program.bind_at(variable, data, from, &[]));
        let goal = bind(program, 1, node, &[sources[0]]);
        program.add_origin(goal, node, &[sources[1]]);
        goal
    };
    (0..count).map(goal).collect()
}

/// J05: the original enumerates 2^20 results before it visits the first.
#[test]
fn contradictory_combinations_are_never_enumerated() {
    let mut program = Program::new(0);
    let nodes = chain(&mut program, 2);
    let mut goals = alternatives(&mut program, nodes[1], nodes[0], 20);
    // The contradiction comes last, and is in the sources.
    let z = program.variable("");
    for data in [1, 2] {
        let z = program.bind_at(z, data, nodes[0], &[]);
        goals.push(bind(&mut program, 1, nodes[1], &[z]));
    }
    assert_eq!(program.ask(nodes[1], &goals), Answer::Infeasible);
    assert!(steps(&program) < 2_000, "{}", steps(&program));
    goals.pop();
    assert_eq!(program.ask(nodes[1], &goals), Answer::Feasible);
    assert!(steps(&program) < 20_000, "{}", steps(&program));
}

/// Goals with two alternatives each, and three of which any two can hold together, but not all:
/// each excludes one of three arms.
fn contradiction_of_three(program: &mut Program<u32>, count: usize) -> (Vec<Binding>, Node) {
    let top = program.node("");
    let arms = [(); 3].map(|()| program.node_after(top, ""));
    let join = program.node("");
    arms.iter().for_each(|&arm| program.connect(arm, join));
    let end = program.node_after(join, "");
    let mut goals = alternatives(program, end, top, count);
    for excluded in arms {
        let variable = program.variable("");
        for arm in arms.into_iter().filter(|&arm| arm != excluded) {
            program.bind_at(variable, 1, arm, &[]);
        }
        program.bind_at(variable, 2, excluded, &[]);
        let goal = program.find(variable, &1);
        goals.extend(goal);
    }
    (goals, end)
}

/// Goals with two alternatives each, and two that no path satisfies both, which shows only far from
/// them.
fn contradiction_behind_results(program: &mut Program<u32>, count: usize) -> (Vec<Binding>, Node) {
    let (top, diamonds) = diamonds(program, 1);
    let [left, right, join] = diamonds[0];
    let end = program.node_after(join, "");
    let mut goals = alternatives(program, end, top, count);
    goals.push(bind(program, 1, left, &[]));
    goals.push(bind(program, 1, right, &[]));
    (goals, end)
}

#[test]
fn two_goals_of_different_paths_are_refuted_over_2_to_the_20_results() {
    let mut program = Program::new(0);
    let (goals, end) = contradiction_behind_results(&mut program, 20);
    assert_eq!(program.ask(end, &goals), Answer::Infeasible);
    assert!(steps(&program) <= program.budget().steps / 4);
    // The second time the answer is cached.
    assert_eq!(program.ask(end, &goals), Answer::Infeasible);
    assert!(steps(&program) < 1000, "{}", steps(&program));
}

#[test]
fn three_goals_of_different_paths_are_given_up_within_the_budget() {
    let mut program = Program::new(0);
    let (goals, end) = contradiction_of_three(&mut program, 20);
    let exhausted = Answer::Unknown(Exhausted::States);
    assert_eq!(program.ask(end, &goals), exhausted);
    assert!(steps(&program) <= program.budget().steps);
    // Without the goals that have alternatives, the question is refuted at once, and then it is
    // cached.
    assert_eq!(program.ask(end, &goals[20..]), Answer::Infeasible);
    assert!(steps(&program) < 1000, "{}", steps(&program));
    assert_eq!(program.ask(end, &goals), Answer::Infeasible);
}

/// Diamonds in sequence. Returns the node before the first, and the arms of each with the node
/// after.
fn diamonds(program: &mut Program<u32>, count: usize) -> (Node, Vec<[Node; 3]>) {
    let top = program.node("");
    let mut last = top;
    let mut found = Vec::new();
    for _ in 0..count {
        let arms = [program.node_after(last, ""), program.node_after(last, "")];
        let join = program.node_after(arms[0], "");
        program.connect(arms[1], join);
        found.push([arms[0], arms[1], join]);
        last = join;
    }
    (top, found)
}

#[test]
fn goals_over_many_diamonds_are_found_feasible_in_polynomial_cost() {
    let mut program = Program::new(0);
    let (_, diamonds) = diamonds(&mut program, 14);
    let last = diamonds[13][2];
    let goals: Vec<Binding> = diamonds
        .iter()
        .map(|&[left, right, _]| {
            let variable = program.variable("");
            let a = program.bind_at(variable, 1, left, &[]);
            let b = program.bind_at(variable, 2, right, &[]);
            let goal = bind(&mut program, 1, last, &[a]);
            program.add_origin(goal, last, &[b]);
            goal
        })
        .collect();
    assert_eq!(program.ask(last, &goals), Answer::Feasible);
    assert!(steps(&program) < 10_000, "{}", steps(&program));
    // With one more goal that no path satisfies, the original visits 2^14 states. Alone it is
    // impossible.
    let nowhere = program.node("");
    let more = bind(&mut program, 1, nowhere, &[]);
    let goals = [&goals[..], &[more]].concat();
    assert_eq!(program.ask(last, &goals), Answer::Infeasible);
    assert!(steps(&program) < 10_000, "{}", steps(&program));
}

/// The page's unsatisfiable case: goals that are possible one by one and contradict each other over
/// all diamonds.
#[test]
fn goals_over_many_diamonds_that_contradict_each_other_stay_within_the_budget() {
    let mut program = Program::new(0);
    let (top, diamonds) = diamonds(&mut program, 14);
    let last = diamonds[13][2];
    // On either arm, one of two values of `flag` was there at the beginning; the first and the last
    // differ.
    let flag = program.variable("flag");
    let flags = [1, 2].map(|data| program.bind_at(flag, data, top, &[]));
    let mut goals = Vec::new();
    for (i, &[left, right, _]) in diamonds.iter().enumerate() {
        let variable = program.variable("");
        let from = match i {
            0 => vec![flags[0]],
            13 => vec![flags[1]],
            _ => vec![],
        };
        let a = program.bind_at(variable, 1, left, &from);
        let b = program.bind_at(variable, 2, right, &from);
        let goal = bind(&mut program, 1, last, &[a]);
        program.add_origin(goal, last, &[b]);
        goals.push(goal);
    }
    assert_eq!(program.ask(last, &goals), Answer::Infeasible);
    assert!(steps(&program) <= program.budget().steps);
}

#[test]
fn diamonds_with_conditions_that_do_not_matter_are_stepped_over() {
    let mut program = Program::new(0);
    let (top, diamonds) = diamonds(&mut program, 1000);
    for &[left, right, _] in &diamonds {
        let variable = program.variable("");
        for (arm, data) in [(left, 1), (right, 2)] {
            let condition = program.bind_at(variable, data, top, &[]);
            program.set_condition(arm, Some(condition));
        }
    }
    let x = program.variable("x");
    let nothing = program.variable("");
    let nothing = program.bind(nothing, 1);
    let refuted = program.bind_at(x, 1, top, &[nothing]);
    let last = diamonds[999][2];
    assert_eq!(program.ask(last, &[refuted]), Answer::Infeasible);
    let metrics = program.solver_metrics().expect("something was asked");
    assert_eq!(metrics.queries[0].nodes_visited, 2);
    // One walk over the graph, and one over the detours.
    assert!(metrics.queries[0].walked <= 2 * 3001 + 2, "{metrics:?}");
}

#[test]
fn queries_of_a_binding_from_3001_nodes_cost_one_walk_each() {
    let mut program = Program::new(0);
    let (top, diamonds) = diamonds(&mut program, 1000);
    let x = bind(&mut program, 1, top, &[]);
    let all = diamonds.iter().flatten().copied();
    for node in all {
        assert_eq!(program.ask(node, &[x]), Answer::Feasible);
    }
    let metrics = program.solver_metrics().expect("something was asked");
    for query in &metrics.queries {
        assert!(query.walked <= 2 * 3001, "{query}");
    }
}

#[test]
fn a_cyclic_web_of_sources_is_decided_in_polynomial_cost() {
    // Every value of every node depends on every value of the node before, in a cycle, and none has
    // an empty source set.
    let mut program = Program::new(0);
    let nodes = chain(&mut program, 12);
    program.connect(nodes[11], nodes[0]);
    let variables: Vec<_> = nodes.iter().map(|_| program.variable("")).collect();
    let bindings: Vec<[Binding; 4]> = variables
        .iter()
        .map(|&variable| [0, 1, 2, 3].map(|data| program.bind(variable, data)))
        .collect();
    for i in 0..12 {
        for &binding in &bindings[i] {
            for &source in &bindings[(i + 11) % 12] {
                program.add_origin(binding, nodes[i], &[source]);
            }
        }
    }
    assert_eq!(program.ask(nodes[5], &[bindings[5][0]]), Answer::Infeasible);
    let metrics = program.solver_metrics().expect("something was asked");
    assert!(metrics.queries[0].nodes_visited <= 12 * 4);
}

#[test]
fn every_part_of_the_budget_is_kept() {
    let (mut program, nodes, last) = dependent_chain(100);
    let end = nodes[99];
    let goals = {
        let two: Vec<Binding> = (0..2)
            .map(|_| bind(&mut program, 1, nodes[50], &[]))
            .collect();
        let mut of_two = alternatives(&mut program, end, nodes[0], 4);
        of_two.extend(two);
        of_two
    };
    let unlimited = Budget::UNLIMITED;
    for (budget, goals, exhausted) in [
        (
            Budget {
                nodes: 99,
                ..unlimited
            },
            vec![last],
            Exhausted::Nodes,
        ),
        (
            Budget {
                states: 50,
                ..unlimited
            },
            vec![last],
            Exhausted::States,
        ),
        (
            Budget {
                steps: 50,
                ..unlimited
            },
            vec![last],
            Exhausted::Steps,
        ),
        (
            Budget {
                goals: 1,
                ..unlimited
            },
            goals.clone(),
            Exhausted::Goals,
        ),
    ] {
        program.set_budget(budget);
        let mut solver = program.fresh_solver();
        assert_eq!(solver.ask(end, &goals), Answer::Unknown(exhausted));
        solver.set_budget(unlimited);
        let expected = match exhausted {
            // The solver was not built for a graph of that size.
            Exhausted::Nodes => Answer::Unknown(exhausted),
            _ => Answer::Feasible,
        };
        assert_eq!(solver.ask(end, &goals), expected);
    }
}

#[test]
fn results_are_bounded() {
    let mut program = Program::new(0);
    let (goals, end) = contradiction_of_three(&mut program, 10);
    program.set_budget(Budget {
        results: 8,
        ..Budget::UNLIMITED
    });
    let exhausted = Answer::Unknown(Exhausted::Results);
    assert_eq!(program.ask(end, &goals), exhausted);
    program.set_budget(Budget::UNLIMITED);
    assert_eq!(program.ask(end, &goals), Answer::Infeasible);
}
