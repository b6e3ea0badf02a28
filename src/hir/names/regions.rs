//! The regions where names can be in registers: the loops, or parts of loops, without barriers.

use super::Names;
use crate::bytecode::{Code, Instr, Op as B, Pc, Reason};
use crate::facts::RawKind;
use crate::hir::flow::successors;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A loop's blocks without barriers.
#[derive(Debug)]
pub(super) struct Region {
    /// The names that its instructions use.
    pub(super) used: BTreeSet<u32>,
    /// The names that its instructions bind or delete.
    pub(super) stored: BTreeSet<u32>,
    /// The names in registers, and the class of those that are dirty; known once the region is
    /// entered.
    pub(super) held: Option<BTreeMap<u32, Option<RawKind>>>,
}

impl Names<'_> {
    /// Find the regions. Gives the names that are stored in loops: those that may become dirty.
    pub(in crate::hir) fn find_regions(
        &mut self,
        code: &Code,
        blocks: &[Pc],
        ends: &HashSet<Pc>,
        avoid: &HashSet<(Pc, Reason)>,
    ) -> Vec<u32> {
        let leaders: HashSet<Pc> = blocks.iter().chain(ends).copied().collect();
        let body = |leader: Pc| {
            let mut pcs = vec![leader];
            loop {
                let pc = *pcs.last().expect("it begins with one");
                let unreached = code.instr(pc).is_unreached();
                if unreached && !avoid.contains(&(pc, Reason::Unreached)) {
                    return (pcs, Vec::new());
                }
                let (mut next, _) = successors(code, pc);
                if next.len() != 1 || next[0] != Pc(pc.0 + 1) || leaders.contains(&next[0]) {
                    next.retain(|pc| !ends.contains(pc));
                    return (pcs, next.into_vec());
                }
                pcs.push(next[0]);
            }
        };
        let bodies: HashMap<Pc, (Vec<Pc>, Vec<Pc>)> =
            blocks.iter().map(|&b| (b, body(b))).collect();
        let handlers: HashSet<Pc> = code.handlers.iter().map(|h| h.target).collect();
        let stores = |pcs: &[Pc]| -> BTreeSet<u32> {
            let binds = |i: &&Instr| is_store(i) || is_delete(i);
            let instrs = pcs.iter().map(|pc| code.instr(*pc));
            instrs.filter(binds).map(|i| i.arg).collect()
        };
        for (pcs, _) in bodies.values() {
            self.bound.extend(stores(pcs));
        }
        let mut hot = BTreeSet::new();
        if code.optimized {
            // A function is called often, so all its stores count as hot.
            hot.extend(&self.bound);
        }
        for component in components(blocks, &|b| bodies[&b].1.clone()) {
            hot.extend(component.iter().flat_map(|b| stores(&bodies[b].0)));
        }
        // Outside loops a store is no reason to speculate on the destructor of the overwritten
        // value.
        for pc in bodies.values().flat_map(|(pcs, _)| pcs) {
            let instr = code.instr(*pc);
            let cold = is_store(instr) && !hot.contains(&instr.arg);
            if cold || is_delete(instr) {
                self.barriers.insert(*pc);
            }
        }
        let quiet: Vec<Pc> = blocks
            .iter()
            .copied()
            .filter(|b| !handlers.contains(b))
            .filter(|b| bodies[b].0.iter().all(|pc| !self.barriers.contains(pc)))
            .collect();
        let is_quiet: HashSet<Pc> = quiet.iter().copied().collect();
        let next = |b: Pc| -> Vec<Pc> {
            let next = bodies[&b].1.iter().copied();
            next.filter(|b| is_quiet.contains(b)).collect()
        };
        for component in components(&quiet, &next) {
            let failed = component.iter().any(|&b| {
                let failed = |reason| avoid.contains(&(b, reason));
                failed(Reason::Name) || failed(Reason::IntTooLarge)
            });
            if failed {
                continue;
            }
            let (mut used, mut stored) = (BTreeSet::new(), BTreeSet::new());
            for b in &component {
                let pcs = &bodies[b].0;
                stored.extend(stores(pcs));
                let instrs = pcs.iter().map(|pc| code.instr(*pc));
                let loads = instrs.filter(|i| match i.op {
                    B::LoadName => true,
                    // A name that the unit does not bind is watched, or is one of the builtins.
                    B::LoadGlobal => self.bound.contains(&i.arg),
                    _ => false,
                });
                used.extend(loads.map(|i| i.arg));
                self.region_of.insert(*b, self.regions.len());
            }
            used.extend(&stored);
            self.regions.push(Region {
                used,
                stored,
                held: None,
            });
        }
        hot.into_iter().collect()
    }
}

fn is_store(instr: &Instr) -> bool {
    matches!(instr.op, B::StoreName | B::StoreGlobal)
}

fn is_delete(instr: &Instr) -> bool {
    matches!(instr.op, B::DeleteName | B::DeleteGlobal)
}

/// The strongly connected components that are cycles.
fn components(nodes: &[Pc], next: &dyn Fn(Pc) -> Vec<Pc>) -> Vec<Vec<Pc>> {
    // Kosaraju's algorithm: search along the edges, then along the reversed edges, beginning each
    // time with the node that the first search finished last. Each tree of the second search is a
    // component.
    fn search(from: Pc, next: &dyn Fn(Pc) -> Vec<Pc>, seen: &mut HashSet<Pc>) -> Vec<Pc> {
        let mut done = Vec::new();
        if !seen.insert(from) {
            return done;
        }
        let mut stack = vec![(from, next(from))];
        while let Some((node, targets)) = stack.last_mut() {
            match targets.pop() {
                Some(target) => {
                    if seen.insert(target) {
                        stack.push((target, next(target)));
                    }
                }
                None => {
                    done.push(*node);
                    stack.pop();
                }
            }
        }
        done
    }
    let (mut seen, mut order) = (HashSet::new(), Vec::new());
    let mut before: HashMap<Pc, Vec<Pc>> = HashMap::new();
    for &node in nodes {
        order.extend(search(node, next, &mut seen));
        for target in next(node) {
            before.entry(target).or_default().push(node);
        }
    }
    seen.clear();
    let back = |node: Pc| before.get(&node).cloned().unwrap_or_default();
    let trees = order.into_iter().rev().map(|n| search(n, &back, &mut seen));
    trees
        .filter(|tree| tree.len() > 1 || tree.iter().any(|&n| next(n).contains(&n)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::components;
    use crate::bytecode::Pc;

    fn check(edges: &[(u32, u32)], expected: &[&[u32]]) {
        let next = |pc: Pc| {
            let out = edges.iter().filter(|(from, _)| *from == pc.0);
            out.map(|(_, to)| Pc(*to)).collect()
        };
        let mut nodes: Vec<Pc> = edges.iter().flat_map(|&(a, b)| [Pc(a), Pc(b)]).collect();
        nodes.sort();
        nodes.dedup();
        let mut found: Vec<Vec<u32>> = components(&nodes, &next)
            .into_iter()
            .map(|c| {
                let mut c: Vec<u32> = c.into_iter().map(|pc| pc.0).collect();
                c.sort();
                c
            })
            .collect();
        found.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_straight_line_has_no_loop() {
        check(&[(0, 1), (1, 2), (0, 2)], &[]);
    }

    #[test]
    fn a_block_that_jumps_to_itself_is_a_loop() {
        check(&[(0, 1), (1, 1), (1, 2)], &[&[1]]);
    }

    #[test]
    fn nested_loops_are_one_and_separate_ones_are_not() {
        let nested = [(0, 1), (1, 2), (2, 2), (2, 1), (1, 3)];
        let after = [(3, 4), (4, 5), (5, 3), (5, 6)];
        check(&[&nested[..], &after[..]].concat(), &[&[1, 2], &[3, 4, 5]]);
    }
}
