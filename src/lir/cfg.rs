//! Control flow: the order that puts definitions before uses, predecessors, dominators and loops.

use super::graph::{Block, Func, HelperId, Imm, Value};
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;

impl Func {
    /// The helpers that some blocks call.
    pub fn helpers_in(&self, blocks: impl Iterator<Item = Block>) -> BTreeSet<HelperId> {
        let insts = blocks.flat_map(|b| &self.blocks[b].insts);
        let called = insts.filter_map(|inst| match inst.imm {
            Imm::Helper(id) => Some(id),
            _ => None,
        });
        called.collect()
    }

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

/// A natural loop: the blocks that a header dominates and that lead back to it.
#[derive(Clone, Debug)]
pub struct NaturalLoop {
    /// The only block that is entered from outside.
    pub header: Block,
    /// All its blocks, those of nested loops and the header included.
    pub body: EntitySet<Block>,
    /// The same in the order of the function, the header first.
    pub blocks: Vec<Block>,
}

impl NaturalLoop {
    /// Returns true if it makes calls only in cold blocks.
    pub fn is_quiet(&self, func: &Func, hot: &EntitySet<Block>) -> bool {
        let mut hot = self.blocks.iter().filter(|b| hot.contains(**b));
        !hot.any(|b| func.blocks[*b].has_calls())
    }
}

/// The loops for which registers matter most: innermost ones that make calls only in cold blocks.
#[derive(Debug)]
pub struct QuietLoops {
    /// The blocks of the function that are reached without passing a cold one.
    pub hot: EntitySet<Block>,
    /// The loops.
    pub loops: Vec<NaturalLoop>,
    /// All other loops.
    pub others: Vec<NaturalLoop>,
}

impl QuietLoops {
    /// Finds them.
    pub fn of(func: &Func, cfg: &Cfg) -> QuietLoops {
        let hot = func.hot_blocks();
        let loops = cfg.loops();
        let headers = innermost(cfg, &loops);
        let is_one =
            |found: &NaturalLoop| headers.contains(found.header) && found.is_quiet(func, &hot);
        let (loops, others) = loops.into_iter().partition(is_one);
        QuietLoops { hot, loops, others }
    }
}

/// The headers of a function's loops that contain no other cycle. (A cycle with two entries is no
/// natural loop: an interpreter's code has such cycles for a loop that is tested at both ends and
/// has a `continue`.)
pub fn innermost(cfg: &Cfg, loops: &[NaturalLoop]) -> EntitySet<Block> {
    let has_other = |found: &NaturalLoop| {
        let mut inside = found.blocks[1..].iter();
        inside.any(|b| cfg.is_led_back_to(*b))
    };
    let mut innermost = EntitySet::new();
    let found = loops.iter().filter(|found| !has_other(found));
    innermost.extend(found.map(|found| found.header));
    innermost
}

/// The blocks that use values, as far as they were noted.
#[derive(Clone, Debug, Default)]
pub struct Users(FxHashMap<Value, SmallVec<[Block; 4]>>);

impl Users {
    /// The blocks that use a value, in the order in which they were noted.
    pub fn of(&self, v: Value) -> &[Block] {
        self.0.get(&v).map_or(&[], |users| users)
    }

    /// Notes that a block uses a value.
    pub fn insert(&mut self, v: Value, b: Block) {
        let users = self.0.entry(v).or_default();
        if !users.contains(&b) {
            users.push(b);
        }
    }

    /// Removes the note that a block uses a value.
    pub fn remove(&mut self, v: Value, b: Block) {
        if let Some(users) = self.0.get_mut(&v) {
            users.retain(|user| *user != b);
        }
    }
}

/// Reachable blocks in reverse postorder, and the dominator relation.
///
/// A target that is no block of the function is left out; the verifier reports it.
#[derive(Debug, Default)]
pub struct Cfg {
    order: Vec<Block>,
    /// Place in `order`, plus one; zero for a block that is not reachable.
    place: SecondaryMap<Block, u32>,
    /// The predecessors of reachable blocks, once for each edge. Those of one block are adjacent,
    /// in the order of `order`.
    predecessors: Vec<Block>,
    /// The end of the row of the block at a place; it begins at the end of the previous one.
    ends: Vec<u32>,
    /// For the block at a place in `order`: its place in a preorder of the dominator tree, and the
    /// first place after the blocks that it dominates.
    spans: Vec<(u32, u32)>,
    /// True if some block leads to one that dominates it.
    has_loops: bool,
}

/// The targets of each block, by number: at most two.
type Targets = Vec<[u32; 2]>;

/// No block, in [`Targets`].
const NONE: u32 = u32::MAX;

impl Cfg {
    /// Walks a function.
    pub fn new(func: &Func) -> Cfg {
        let mut cfg = Cfg::default();
        cfg.place.resize(func.blocks.len());
        let targets = cfg.walk(func);
        let rows = cfg.connect(&targets);
        cfg.dominators(&rows);
        cfg
    }

    /// Reachable blocks, each after the blocks that dominate it.
    pub fn order(&self) -> &[Block] {
        &self.order
    }

    /// Returns true if the block is reachable.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.place[block] != 0
    }

    /// Returns true if every path to `b` passes `a`. Both are reachable.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let (start, end) = self.span(a);
        (start..end).contains(&self.span(b).0)
    }

    /// Returns true if there is a natural loop.
    pub fn has_loops(&self) -> bool {
        self.has_loops
    }

    /// The predecessors of a block, once for each edge. None if it is not reachable.
    pub fn predecessors(&self, block: Block) -> &[Block] {
        let Some(place) = self.place[block].checked_sub(1) else {
            return &[];
        };
        let start = place.checked_sub(1).map_or(0, |p| self.ends[p as usize]);
        &self.predecessors[start as usize..self.ends[place as usize] as usize]
    }

    /// Returns true if an edge into a block comes from a block at or after its place in the order:
    /// each cycle has such a block.
    pub fn is_led_back_to(&self, block: Block) -> bool {
        let mut from = self.predecessors(block).iter();
        from.any(|from| self.place[*from] >= self.place[block])
    }

    /// The place of a block in the order, from one on. Zero for a block that is not reachable.
    pub fn place(&self, block: Block) -> u32 {
        self.place[block]
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
            let mut blocks = vec![header];
            let mut work = latches;
            while let Some(block) = work.pop() {
                if body.insert(block) {
                    blocks.push(block);
                    work.extend(self.predecessors(block));
                }
            }
            blocks.sort_unstable_by_key(|b| self.place[*b]);
            Some(NaturalLoop {
                header,
                body,
                blocks,
            })
        });
        found.collect()
    }

    /// The blocks that use each of some values.
    pub fn users(&self, func: &Func, values: &EntitySet<Value>) -> Users {
        let mut users = Users::default();
        for &b in &self.order {
            for v in func.blocks[b].uses().filter(|v| values.contains(*v)) {
                let users = users.0.entry(v).or_default();
                if users.last() != Some(&b) {
                    users.push(b);
                }
            }
        }
        users
    }

    fn span(&self, block: Block) -> (u32, u32) {
        let place = self.place[block].checked_sub(1);
        place.map_or((0, 0), |place| self.spans[place as usize])
    }

    /// Computes the order. Returns the targets of each block.
    fn walk(&mut self, func: &Func) -> Targets {
        let mut targets: Targets = vec![[NONE; 2]; func.blocks.len()];
        let mut seen = vec![false; func.blocks.len()];
        // The blocks that are being walked, each with the number of targets left.
        let mut stack: Vec<(u32, u8)> = Vec::new();
        let mut enter = |block: u32, stack: &mut Vec<(u32, u8)>, targets: &mut Targets| {
            if block == NONE || std::mem::replace(&mut seen[block as usize], true) {
                return;
            }
            let to = &mut targets[block as usize];
            for (to, call) in to
                .iter_mut()
                .zip(func.blocks[Block::from_u32(block)].targets())
            {
                if func.blocks.is_valid(call.block) {
                    *to = call.block.as_u32();
                }
            }
            stack.push((block, 2));
        };
        if let Some(entry) = func.order.first().filter(|b| func.blocks.is_valid(**b)) {
            enter(entry.as_u32(), &mut stack, &mut targets);
        }
        // The last target first, so that the first one is placed right after its block.
        while let Some((block, left)) = stack.last_mut() {
            match left.checked_sub(1) {
                Some(n) => {
                    *left = n;
                    let to = targets[*block as usize][n as usize];
                    enter(to, &mut stack, &mut targets);
                }
                None => {
                    self.order.push(Block::from_u32(*block));
                    stack.pop();
                }
            }
        }
        self.order.reverse();
        for (place, &block) in self.order.iter().enumerate() {
            self.place[block] = place as u32 + 1;
        }
        targets
    }

    /// Computes the predecessors. Returns their places too.
    fn connect(&mut self, targets: &Targets) -> Vec<u32> {
        let place_of = |place: &SecondaryMap<Block, u32>, to: u32| match to {
            NONE => None,
            to => place[Block::from_u32(to)].checked_sub(1),
        };
        let mut ends = vec![0u32; self.order.len()];
        for from in &self.order {
            for to in targets[from.index()] {
                if let Some(to) = place_of(&self.place, to) {
                    ends[to as usize] += 1;
                }
            }
        }
        let mut start = 0;
        for end in &mut ends {
            // The end moves as the row is filled.
            start += std::mem::replace(end, start);
        }
        let mut rows = vec![0u32; start as usize];
        for (place, from) in self.order.iter().enumerate() {
            for to in targets[from.index()] {
                if let Some(to) = place_of(&self.place, to) {
                    let end = &mut ends[to as usize];
                    rows[*end as usize] = place as u32;
                    *end += 1;
                }
            }
        }
        self.predecessors = rows
            .iter()
            .map(|place| self.order[*place as usize])
            .collect();
        self.ends = ends;
        rows
    }

    /// The algorithm of Cooper, Harvey and Kennedy: intersect over predecessors until nothing
    /// changes. Then each subtree of the dominator tree gets a range; a block comes after its
    /// dominator in `order`.
    fn dominators(&mut self, rows: &[u32]) {
        let count = self.order.len();
        if count == 0 {
            return;
        }
        let row = |place: usize| {
            let start = place.checked_sub(1).map_or(0, |p| self.ends[p]);
            &rows[start as usize..self.ends[place] as usize]
        };
        let mut idom = vec![NONE; count];
        idom[0] = 0;
        let meet = |idom: &[u32], mut a: u32, mut b: u32| {
            while a != b {
                let later = if a > b { &mut a } else { &mut b };
                *later = idom[*later as usize];
            }
            a
        };
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for place in 1..count {
                let known = row(place).iter().copied();
                let known = known.filter(|&p| idom[p as usize] != NONE);
                let new = known.reduce(|a, b| meet(&idom, a, b)).unwrap_or(NONE);
                changed |= std::mem::replace(&mut idom[place], new) != new;
            }
        }
        let mut sizes = vec![1u32; count];
        for place in (1..count).rev() {
            sizes[idom[place] as usize] += sizes[place];
        }
        // The place for the next child of each block.
        let mut next = vec![1u32; count];
        self.spans = vec![(0, count as u32); count];
        for place in 1..count {
            let up = idom[place] as usize;
            let start = next[up];
            next[up] += sizes[place];
            next[place] = start + 1;
            self.spans[place] = (start, start + sizes[place]);
        }
        self.has_loops = (0..count).any(|place| {
            let header = self.spans[place];
            let mut from = row(place).iter();
            from.any(|p| (header.0..header.1).contains(&self.spans[*p as usize].0))
        });
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
    fn a_loop_has_the_blocks_that_reach_its_header_and_its_hot_blocks_avoid_cold_ones() {
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
