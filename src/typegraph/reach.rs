//! Reachability between nodes: a bit for every pair, 64 nodes per word.
//!
//! The rows, the update at a new edge, and queries from the later node for the earlier one are the
//! original's. For a graph that is already known, rows are built in one pass: edge by edge costs up
//! to n³/64 steps for n nodes, one pass over the strongly connected components (Tarjan 1972)
//! n·e/64.

use super::graph::{Graph, Node};
use cranelift_entity::EntityRef;

/// For every node, the nodes from which control can reach it. A node is always reachable from
/// itself.
///
/// Memory is n²/8 bytes for n nodes.
#[derive(Clone, Default, Debug)]
pub struct Reachability {
    /// The number of words in a row.
    words: usize,
    nodes: usize,
    rows: Vec<u64>,
}

impl Reachability {
    /// No nodes.
    pub fn new() -> Reachability {
        Reachability::default()
    }

    /// The reachability of a graph, in one pass.
    pub fn of(graph: &Graph) -> Reachability {
        let nodes = graph.node_count();
        let words = nodes.div_ceil(64);
        let mut reach = Reachability {
            words,
            nodes,
            rows: vec![0; words * nodes],
        };
        // A component is listed after all components that reach it.
        for component in components(graph) {
            let first = component[0].index();
            for &node in &component {
                reach.set(first, node.index());
                for &from in graph.predecessors(node) {
                    reach.include(first, from.index());
                }
            }
            for &node in &component[1..] {
                reach.include(node.index(), first);
            }
        }
        reach
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes
    }

    /// Adds the next node, which only itself reaches.
    pub fn add_node(&mut self) {
        if self.nodes == self.words * 64 {
            // The number of words doubles, so that each row is rarely moved.
            let words = (self.words * 2).max(1);
            let mut rows = vec![0; words * self.nodes];
            for (new, old) in rows
                .chunks_exact_mut(words)
                .zip(self.rows.chunks_exact(self.words.max(1)))
            {
                new[..self.words].copy_from_slice(old);
            }
            (self.words, self.rows) = (words, rows);
        }
        self.nodes += 1;
        self.rows.resize(self.words * self.nodes, 0);
        self.set(self.nodes - 1, self.nodes - 1);
    }

    /// Adds an edge.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn add_edge(&mut self, from: Node, to: Node) {
        let (from, to) = (from.index(), to.index());
        assert!(from < self.nodes && to < self.nodes, "no such node");
        if self.has(to, from) {
            return;
        }
        // Row `from` changes too if `to` reaches `from`, but only by bits that it already has.
        for row in 0..self.nodes {
            if self.has(row, to) {
                self.include(row, from);
            }
        }
    }

    /// Returns true if control can get from `from` to `to`.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn reaches(&self, from: Node, to: Node) -> bool {
        assert!(from.index() < self.nodes, "no such node");
        self.has(to.index(), from.index())
    }

    /// The number of nodes from which control can reach `to`, itself included: those that a plain
    /// walk backwards from it visits.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn walk(&self, to: Node) -> usize {
        let row = &self.rows[to.index() * self.words..][..self.words];
        row.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn has(&self, row: usize, bit: usize) -> bool {
        self.rows[row * self.words + (bit >> 6)] & 1 << (bit & 63) != 0
    }

    fn set(&mut self, row: usize, bit: usize) {
        self.rows[row * self.words + (bit >> 6)] |= 1 << (bit & 63);
    }

    /// Adds all bits of one row to another.
    fn include(&mut self, row: usize, other: usize) {
        if row == other {
            return;
        }
        let (low, high) = (row.min(other), row.max(other));
        let (head, tail) = self.rows.split_at_mut(high * self.words);
        let low = &mut head[low * self.words..][..self.words];
        let high = &mut tail[..self.words];
        let (to, from) = if row < other {
            (low, high)
        } else {
            (high, low)
        };
        for (to, from) in to.iter_mut().zip(from) {
            *to |= *from;
        }
    }
}

/// The strongly connected components, each after all that precede it in the direction of control.
fn components(graph: &Graph) -> Vec<Vec<Node>> {
    const FRESH: u32 = u32::MAX;
    let count = graph.node_count();
    let (mut index, mut low) = (vec![FRESH; count], vec![0; count]);
    let mut is_open = vec![false; count];
    let (mut next, mut open, mut found) = (0, Vec::new(), Vec::new());
    // The nodes being visited, each with the number of predecessors seen.
    let mut visits: Vec<(Node, usize)> = Vec::new();
    for root in graph.nodes() {
        if index[root.index()] != FRESH {
            continue;
        }
        visits.push((root, 0));
        while let Some((node, at)) = visits.last_mut() {
            let i = node.index();
            if *at == 0 && index[i] == FRESH {
                (index[i], low[i], is_open[i]) = (next, next, true);
                next += 1;
                open.push(*node);
            }
            if let Some(&from) = graph.predecessors(*node).get(*at) {
                *at += 1;
                let j = from.index();
                if index[j] == FRESH {
                    visits.push((from, 0));
                } else if is_open[j] {
                    low[i] = low[i].min(index[j]);
                }
                continue;
            }
            let node = *node;
            visits.pop();
            if let Some((parent, _)) = visits.last() {
                let p = parent.index();
                low[p] = low[p].min(low[i]);
            }
            if low[i] == index[i] {
                let start = open.iter().rposition(|&n| n == node).unwrap_or(0);
                let component = open.split_off(start);
                component.iter().for_each(|n| is_open[n.index()] = false);
                found.push(component);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(count: usize) -> (Vec<Node>, Reachability) {
        let mut reach = Reachability::new();
        (0..count).for_each(|_| reach.add_node());
        ((0..count).map(Node::new).collect(), reach)
    }

    /// T16 of the reference: edges go from child to parent there.
    #[test]
    fn two_hundred_nodes_are_connected_one_by_one() {
        let (n, mut reach) = nodes(201);
        for i in 0..201 {
            for j in 0..201 {
                assert_eq!(reach.reaches(n[i], n[j]), i == j);
            }
        }
        let mut connect = |child: usize, parent: usize| reach.add_edge(n[parent], n[child]);
        connect(1, 1);
        connect(2, 1);
        connect(1, 4);
        connect(1, 22);
        connect(22, 200);
        let backwards = |from: usize, to: usize| reach.reaches(n[to], n[from]);
        assert!(backwards(2, 1) && !backwards(1, 2));
        assert!(backwards(1, 4) && backwards(2, 4) && !backwards(4, 2) && !backwards(4, 1));
        assert!(backwards(1, 200) && backwards(2, 200) && backwards(22, 200) && backwards(1, 22));
        assert!(!backwards(1, 5) && !backwards(5, 1) && !backwards(22, 4) && !backwards(4, 22));
        assert!(!backwards(4, 200) && !backwards(200, 4));
        for i in (5..200).filter(|&i| i != 22) {
            for j in (5..200).filter(|&j| j != 22) {
                assert_eq!(backwards(i, j), i == j, "{i} {j}");
            }
        }
    }

    #[test]
    fn one_pass_agrees_with_edge_by_edge_and_with_a_walk() {
        for seed in 0..200u64 {
            let mut dice = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut below = |n: u64| {
                dice ^= dice << 13;
                dice ^= dice >> 7;
                dice ^= dice << 17;
                dice % n
            };
            let count = 1 + below(90) as usize;
            let mut graph = Graph::default();
            let (n, mut reach) = nodes(count);
            n.iter().for_each(|_| {
                graph.add_node(String::new());
            });
            for _ in 0..below(2 * count as u64 + 1) {
                let (a, b) = (below(count as u64) as usize, below(count as u64) as usize);
                graph.add_edge(n[a], n[b]);
                reach.add_edge(n[a], n[b]);
            }
            let whole = Reachability::of(&graph);
            for &a in &n {
                let mut seen = vec![false; count];
                let mut left = vec![a];
                while let Some(node) = left.pop() {
                    if !std::mem::replace(&mut seen[node.index()], true) {
                        left.extend(graph.successors(node));
                    }
                }
                for &b in &n {
                    assert_eq!(reach.reaches(a, b), seen[b.index()], "seed {seed}: {a} {b}");
                    assert_eq!(whole.reaches(a, b), seen[b.index()], "seed {seed}: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn a_long_chain_is_built_in_one_pass() {
        let mut graph = Graph::default();
        let nodes: Vec<Node> = (0..5000).map(|_| graph.add_node(String::new())).collect();
        nodes.windows(2).for_each(|pair| {
            graph.add_edge(pair[0], pair[1]);
        });
        let reach = Reachability::of(&graph);
        assert!(reach.reaches(nodes[0], nodes[4999]) && !reach.reaches(nodes[4999], nodes[0]));
    }
}
