//! Control flow: where a block may go on, the order that puts definitions before uses, and dominators.

use super::graph::{Block, BlockCall, Func, Term};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

impl Term {
    /// The blocks that may come next, with the values they are given.
    pub fn targets(&self) -> impl Iterator<Item = &BlockCall> {
        let (first, second) = match self {
            Term::Jump(call) => (Some(call), None),
            Term::Br { then, els, .. } => (Some(then), Some(els)),
            Term::Return(_) | Term::Fail | Term::Exit { .. } | Term::Unreachable => (None, None),
        };
        first.into_iter().chain(second)
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
    /// The nearest block that dominates a reachable block; none for the entry.
    idom: SecondaryMap<Block, PackedOption<Block>>,
    /// In the dominator tree, in preorder: a block's place, and the first place after what it dominates.
    span: SecondaryMap<Block, (u32, u32)>,
}

impl Cfg {
    /// Walk a function.
    pub fn new(func: &Func) -> Cfg {
        let mut cfg = Cfg::default();
        cfg.walk(func);
        cfg.dominators(func);
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
            if let Some(term) = &data.term {
                stack.extend(term.targets().map(|call| (call.block, false)));
            }
        }
        self.order.reverse();
        for (place, &block) in self.order.iter().enumerate() {
            self.place[block] = place as u32 + 1;
        }
    }

    /// The algorithm of Cooper, Harvey and Kennedy: intersect over predecessors until nothing changes.
    fn dominators(&mut self, func: &Func) {
        let mut predecessors = SecondaryMap::<Block, Vec<Block>>::new();
        for &block in &self.order {
            for call in func.blocks[block].term.iter().flat_map(Term::targets) {
                predecessors[call.block].push(block);
            }
        }
        let Some(&entry) = self.order.first() else {
            return;
        };
        self.idom[entry] = Some(entry).into();
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &self.order[1..] {
                let known = predecessors[block]
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
    }
}
