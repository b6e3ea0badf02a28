//! Tests of the enumeration of executions and of the checker of witnesses.

use super::{bind, chain};
use crate::typegraph::brute::visit;
use crate::typegraph::exercise::MAX_ENDS;
use crate::typegraph::{Binding, Executions, Graph, Node, Program, Visit, Witness};
use cranelift_entity::EntityRef;

/// All paths of an acyclic graph one by one, nothing merged.
fn paths(graph: &Graph) -> Vec<Vec<Node>> {
    let mut found: Vec<Vec<Node>> = graph.nodes().map(|node| vec![node]).collect();
    let mut at = 0;
    while at < found.len() {
        let last = found[at][found[at].len() - 1];
        for &next in graph.successors(last) {
            let path = [&found[at][..], &[next]].concat();
            found.push(path);
        }
        at += 1;
    }
    found
}

#[test]
fn merging_executions_with_the_same_end_loses_none() {
    let mut dice = 12345u64;
    let mut below = |n: u64| {
        dice = dice
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (dice >> 33) % n
    };
    let mut feasible = 0;
    for _ in 0..300 {
        let mut p = Program::new(0);
        let nodes: Vec<Node> = (0..5).map(|_| p.node("")).collect();
        for _ in 0..6 {
            let (a, b) = (below(5) as usize, below(5) as usize);
            if a != b {
                p.connect(nodes[a.min(b)], nodes[a.max(b)]);
            }
        }
        let mut all = Vec::new();
        for _ in 0..3 {
            let variable = p.variable("");
            all.extend([1, 2].map(|data| p.bind(variable, data)));
        }
        for &binding in &all {
            let count = below(3);
            let sources: Vec<_> = (0..count).map(|_| all[below(6) as usize]).collect();
            p.add_origin(binding, nodes[below(5) as usize], &sources);
        }
        p.set_condition(nodes[below(5) as usize], Some(all[below(6) as usize]));
        let executions = Executions::of(&p, MAX_ENDS).expect("it is small");
        let mut ends = vec![Vec::new(); 5];
        for path in paths(&p) {
            let mut values = vec![vec![0; 3]];
            for &node in &path {
                values = values.iter().flat_map(|v| visit(&p, node, v)).collect();
            }
            ends[path[path.len() - 1].index()].extend(values);
        }
        for &node in &nodes {
            for &a in &all {
                for &b in &all {
                    let value = |binding: Binding| {
                        let variable = p.variable_of(binding);
                        let at = p.bindings_of(variable).iter().position(|&x| x == binding);
                        (variable.index(), at.map_or(0, |at| at as u8 + 1))
                    };
                    let (a_value, b_value) = (value(a), value(b));
                    let is_there = ends[node.index()].iter().any(|values: &Vec<u8>| {
                        values[a_value.0] == a_value.1 && values[b_value.0] == b_value.1
                    });
                    assert_eq!(executions.can_have(&p, node, &[a, b]), is_there);
                    feasible += usize::from(is_there);
                }
            }
        }
    }
    assert!(feasible > 1000);
}

#[test]
fn a_witness_that_is_none_is_found_out() {
    let mut p = Program::new(0);
    let nodes = chain(&mut p, 3);
    let x = bind(&mut p, 1, nodes[0], &[]);
    let y = bind(&mut p, 1, nodes[1], &[x]);
    let other = p.bind_at(p.variable_of(x), 2, nodes[1], &[]);
    let c = bind(&mut p, 1, nodes[0], &[]);
    p.set_condition(nodes[2], Some(c));
    let (_, witness) = p.witness(nodes[2], &[y]);
    let right = witness.expect("it is feasible");
    assert_eq!(right.check(&p, nodes[2], &[y]), Ok(()));
    let wrong = |change: &dyn Fn(&mut Vec<Visit>), said: &str| {
        let mut visits = right.visits().to_vec();
        change(&mut visits);
        let found = Witness::from(visits).check(&p, nodes[2], &[y]);
        let found = found.expect_err("it was changed");
        assert!(found.contains(said), "{found}");
    };
    wrong(&|v| v.clear(), "no node");
    wrong(&|v| drop(v.remove(0)), "begins");
    wrong(&|v| drop(v.remove(1)), "no edge");
    wrong(&|v| drop(v.pop()), "nothing gives");
    wrong(&|v| v[1].here.clear(), "does not hold after");
    wrong(&|v| v[1].here[0].1 = 1, "no source set");
    wrong(&|v| v[1].before.retain(|&b| b != x), "does not hold");
    wrong(&|v| v[0].before.retain(|&b| b != c), "condition");
    wrong(&|v| v[0].before.extend([x, other]), "one variable");
    wrong(&|v| v[2].here.push((other, 0)), "one variable");
}
