//! Compares nodes on every path with their definition: without one of them there is no path.

use crate::typegraph::reach::Reachability;
use crate::typegraph::search::View;
use crate::typegraph::walk::Walker;
use crate::typegraph::{Graph, Node};

fn has_path(graph: &Graph, from: Node, to: Node, blocked: &[Node]) -> bool {
    let (mut seen, mut left) = (vec![from], vec![from]);
    while let Some(node) = left.pop() {
        for &before in graph.predecessors(node) {
            if before == to {
                return true;
            }
            if !blocked.contains(&before) && !seen.contains(&before) {
                seen.push(before);
                left.push(before);
            }
        }
    }
    false
}

#[test]
fn mandatory_nodes_are_on_every_path() {
    let mut dice = 99u64;
    let mut below = |n: usize| {
        dice = dice
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (dice >> 33) as usize % n
    };
    let mut walker = Walker::default();
    let mut mandatory = 0;
    for _ in 0..2000 {
        let mut graph = Graph::default();
        let count = 3 + below(8);
        let nodes: Vec<Node> = (0..count).map(|_| graph.add_node(String::new())).collect();
        for i in 1..count {
            graph.add_edge(nodes[i - 1], nodes[i]);
        }
        for _ in 0..below(count + 2) {
            graph.add_edge(nodes[below(count)], nodes[below(count)]);
        }
        // Every node has a condition, so all mandatory nodes are reported.
        let variable = graph.add_variable(String::new());
        let binding = graph.add_binding(variable);
        nodes
            .iter()
            .for_each(|&n| graph.set_condition(n, Some(binding)));
        let reach = Reachability::of(&graph);
        let view = View {
            graph: &graph,
            reach: &reach,
        };
        let (from, to) = (nodes[below(count)], nodes[below(count)]);
        let blocked: Vec<Node> = (0..below(3)).map(|_| nodes[below(count)]).collect();
        if from == to || blocked.contains(&from) {
            continue;
        }
        let found = walker.way(view, from, to, &blocked);
        assert_eq!(found.is_some(), has_path(&graph, from, to, &blocked));
        let Some((way, conditioned)) = found else {
            continue;
        };
        assert_eq!((way[0], way[way.len() - 1]), (from, to));
        for pair in way.windows(2) {
            assert!(graph.predecessors(pair[0]).contains(&pair[1]));
        }
        let expected: Vec<Node> = way
            .iter()
            .copied()
            .filter(|&node| {
                let without = [&blocked[..], &[node]].concat();
                node == from || node == to || !has_path(&graph, from, to, &without)
            })
            .collect();
        assert_eq!(conditioned, expected);
        mandatory += expected.len().saturating_sub(2);
    }
    assert!(mandatory > 500, "{mandatory}");
}
