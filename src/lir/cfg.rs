//! Control flow: the order that puts definitions before uses, predecessors, dominators and loops.

use super::graph::{Block, Func, Value};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use std::collections::{BTreeMap, BTreeSet};

impl Func {
    /// Blocks that the entry reaches without passing a cold one.
    pub fn hot_blocks(&self) -> EntitySet<Block> {
        let mut hot = EntitySet::new();
        let mut work = vec![self.entry()];
        while let Some(block) = work.pop() {
            let data = &self.blocks[block];
            if data.cold && block != self.entry() || !hot.insert(block) {
                continue;
            }
            work.extend(data.targets().map(|call| call.block));
        }
        hot
    }
}

/// What is run again and again: the blocks that a header dominates and that lead back to it.
#[derive(Clone, Debug)]
pub struct NaturalLoop {
    /// The only block that is entered from outside.
    pub header: Block,
    /// All its blocks, those of loops in it and the header included.
    pub body: EntitySet<Block>,
}

impl NaturalLoop {
    /// Whether it makes no calls but in cold blocks.
    pub fn is_quiet(&self, func: &Func, hot: &EntitySet<Block>) -> bool {
        let mut hot = self.body.iter().filter(|b| hot.contains(*b));
        !hot.any(|b| func.blocks[b].has_calls())
    }
}

/// Reachable blocks in reverse postorder, and which block dominates which.
///
/// A target that is no block of the function is left out; the verifier reports it.
#[derive(Debug, Default)]
pub struct Cfg {
    order: Vec<Block>,
    /// Place in `order`, plus one; zero for a block that is not reachable.
    place: SecondaryMap<Block, u32>,
    /// From which blocks reachable blocks are entered, once for each edge: those of one block in a row.
    predecessors: Vec<Block>,
    /// Where the row of a block begins and ends.
    rows: SecondaryMap<Block, (u32, u32)>,
    /// The nearest block that dominates a reachable block; none for the entry.
    idom: SecondaryMap<Block, PackedOption<Block>>,
    /// In the dominator tree, in preorder: a block's place, and the first place after what it dominates.
    span: SecondaryMap<Block, (u32, u32)>,
}

impl Cfg {
    /// Walk a function.
    pub fn new(func: &Func) -> Cfg {
        let mut cfg = Cfg::default();
        let blocks = func.blocks.len();
        cfg.place.resize(blocks);
        cfg.idom.resize(blocks);
        cfg.span.resize(blocks);
        cfg.walk(func);
        cfg.connect(func);
        cfg.dominators();
        cfg.number_tree();
        cfg
    }

    /// Reachable blocks, each after the blocks that dominate it.
    pub fn order(&self) -> &[Block] {
        &self.order
    }

    /// Whether the entry reaches a block.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.place[block] != 0
    }

    /// Whether every path to `b` passes `a`. Both are reachable.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let (start, end) = self.span[a];
        (start..end).contains(&self.span[b].0)
    }

    /// The blocks that a reachable block is entered from, once for each edge.
    pub fn predecessors(&self, block: Block) -> &[Block] {
        let (start, end) = self.rows[block];
        &self.predecessors[start as usize..end as usize]
    }

    /// The natural loops, one for each header, outer ones before those in them.
    pub fn loops(&self) -> Vec<NaturalLoop> {
        let found = self.order.iter().filter_map(|&header| {
            let from = self.predecessors(header).iter().copied();
            let latches: Vec<Block> = from.filter(|b| self.dominates(header, *b)).collect();
            if latches.is_empty() {
                return None;
            }
            let mut body = EntitySet::new();
            body.insert(header);
            let mut work = latches;
            while let Some(block) = work.pop() {
                if body.insert(block) {
                    work.extend(self.predecessors(block));
                }
            }
            Some(NaturalLoop { header, body })
        });
        found.collect()
    }

    /// The natural loops that have no other in them.
    pub fn innermost_loops(&self) -> Vec<NaturalLoop> {
        let mut found = self.loops();
        let mut headers = EntitySet::new();
        headers.extend(found.iter().map(|found| found.header));
        found.retain(|NaturalLoop { header, body }| {
            !body.iter().any(|b| b != *header && headers.contains(b))
        });
        found
    }

    /// The innermost loops that make no calls but in cold blocks.
    pub fn quiet_loops(&self, func: &Func, hot: &EntitySet<Block>) -> Vec<NaturalLoop> {
        let mut found = self.innermost_loops();
        found.retain(|found| found.is_quiet(func, hot));
        found
    }

    /// The blocks that use each of some values.
    pub fn users(
        &self,
        func: &Func,
        values: &EntitySet<Value>,
    ) -> BTreeMap<Value, BTreeSet<Block>> {
        let mut users = BTreeMap::<Value, BTreeSet<Block>>::new();
        for &b in &self.order {
            for v in func.blocks[b].uses().filter(|v| values.contains(*v)) {
                users.entry(v).or_default().insert(b);
            }
        }
        users
    }

    fn walk(&mut self, func: &Func) {
        let mut seen = SecondaryMap::<Block, bool>::new();
        let mut stack: Vec<(Block, bool)> = func
            .order
            .first()
            .map(|&entry| (entry, false))
            .into_iter()
            .collect();
        while let Some((block, finished)) = stack.pop() {
            if finished {
                self.order.push(block);
                continue;
            }
            let Some(data) = func.blocks.get(block).filter(|_| !seen[block]) else {
                continue;
            };
            seen[block] = true;
            stack.push((block, true));
            stack.extend(data.targets().map(|call| (call.block, false)));
        }
        self.order.reverse();
        for (place, &block) in self.order.iter().enumerate() {
            self.place[block] = place as u32 + 1;
        }
    }

    fn connect(&mut self, func: &Func) {
        let edges = || {
            let blocks = self.order.iter();
            blocks.flat_map(|&from| {
                let targets = func.blocks[from].targets();
                targets.map(move |call| (from, call.block))
            })
        };
        let edges = || edges().filter(|(_, to)| self.place[*to] != 0);
        let mut rows = SecondaryMap::<Block, (u32, u32)>::new();
        rows.resize(func.blocks.len());
        for (_, to) in edges() {
            rows[to].1 += 1;
        }
        let mut start = 0;
        for &block in &self.order {
            let row = &mut rows[block];
            let end = start + row.1;
            // The end moves as the row is filled.
            *row = (start, start);
            start = end;
        }
        let Some(&entry) = self.order.first() else {
            return;
        };
        let mut predecessors = vec![entry; start as usize];
        for (from, to) in edges() {
            let row = &mut rows[to];
            predecessors[row.1 as usize] = from;
            row.1 += 1;
        }
        self.predecessors = predecessors;
        self.rows = rows;
    }

    /// The algorithm of Cooper, Harvey and Kennedy: intersect over predecessors until nothing changes.
    fn dominators(&mut self) {
        let Some(&entry) = self.order.first() else {
            return;
        };
        self.idom[entry] = Some(entry).into();
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &self.order[1..] {
                let known = self
                    .predecessors(block)
                    .iter()
                    .copied()
                    .filter(|&p| self.idom[p].is_some());
                let new = known.reduce(|a, b| self.meet(a, b));
                if self.idom[block].expand() != new {
                    self.idom[block] = new.into();
                    changed = true;
                }
            }
        }
        self.idom[entry] = None.into();
    }

    /// Give each subtree of the dominator tree a range. A block comes after its dominator in `order`.
    fn number_tree(&mut self) {
        let mut sizes = SecondaryMap::<Block, u32>::with_default(1);
        for &block in self.order.iter().rev() {
            if let Some(up) = self.idom[block].expand() {
                sizes[up] += sizes[block];
            }
        }
        // The place for the next child of each block.
        let mut next = SecondaryMap::<Block, u32>::new();
        for &block in &self.order {
            let start = match self.idom[block].expand() {
                Some(up) => {
                    let start = next[up];
                    next[up] += sizes[block];
                    start
                }
                None => 0,
            };
            next[block] = start + 1;
            self.span[block] = (start, start + sizes[block]);
        }
    }

    fn meet(&self, mut a: Block, mut b: Block) -> Block {
        while a != b {
            let later = if self.place[a] > self.place[b] {
                &mut a
            } else {
                &mut b
            };
            *later = self.idom[*later].expect("a block that was visited");
        }
        a
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::{Builder, Signature};
    use crate::ll::Ty;

    #[test]
    fn neither_arm_of_a_diamond_dominates_its_end() {
        let mut func = Func::new("diamond", Signature::new(&[Ty::Bool], &[]));
        let entry = func.entry();
        let cond = func.params()[0];
        let mut b = Builder::new(&mut func);
        let (left, right, end, lost) = (b.block(), b.block(), b.block(), b.block());
        b.br(cond, left, &[], right, &[]);
        for arm in [left, right, lost] {
            b.switch_to(arm);
            b.jump(end, &[]);
        }
        b.switch_to(end);
        b.br(cond, right, &[], end, &[]);
        let cfg = Cfg::new(&func);
        assert_eq!(cfg.order().first(), Some(&entry));
        assert_eq!(cfg.order().len(), 4);
        assert!(cfg.dominates(entry, end) && cfg.dominates(end, end));
        assert!(
            !cfg.dominates(left, end) && !cfg.dominates(right, end) && !cfg.dominates(end, right)
        );
        assert!(!cfg.is_reachable(lost));
        assert_eq!(cfg.predecessors(right), [entry, end]);
    }

    #[test]
    fn a_loop_has_what_leads_back_to_its_header_and_is_hot_where_nothing_cold_is_passed() {
        let mut func = Func::new("loops", Signature::new(&[Ty::Bool], &[]));
        let entry = func.entry();
        let cond = func.params()[0];
        let mut b = Builder::new(&mut func);
        let (outer, inner, rare, latch, end) =
            (b.block(), b.block(), b.cold_block(), b.block(), b.block());
        b.jump(outer, &[]);
        b.switch_to(outer);
        b.br(cond, inner, &[], end, &[]);
        b.switch_to(inner);
        b.br(cond, inner, &[], rare, &[]);
        b.switch_to(rare);
        b.br(cond, inner, &[], latch, &[]);
        b.switch_to(latch);
        b.jump(outer, &[]);
        b.switch_to(end);
        b.ret(&[]);
        let found = Cfg::new(&func).loops();
        let found = found
            .iter()
            .map(|l| (l.header, l.body.iter().collect::<Vec<_>>()));
        let expected = [
            (outer, vec![outer, inner, rare, latch]),
            (inner, vec![inner, rare]),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        let hot: Vec<Block> = func.hot_blocks().iter().collect();
        assert_eq!(hot, [entry, outer, inner, end]);
    }
}
