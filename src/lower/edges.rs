//! Terminators and edges: the places where a local moves between its slot and a register.
//!
//! For example, after `if c: x = 1` and `else: x = obj`, the join has an object in the slot of `x`:
//! the first edge boxes the 1 and stores it there.

use super::{Lower, Repr, Wanted};
use crate::hir::{Block, Edge, Op, Place, Term};
use crate::host::Entry;
use crate::host::names;
use crate::lir;
use crate::ll::{Ty, Width};

impl Lower<'_> {
    pub(super) fn terminator(&mut self, block: Block) {
        match &self.f.blocks[block].term {
            Term::Jump(edge) => {
                self.show_before(edge.block);
                self.depart(edge.block);
                self.edge(edge);
            }
            Term::Branch { cond, then, els } => {
                self.depart(then.block);
                self.depart(els.block);
                let asks = *self.f.op(*cond) == Op::Quiet;
                let (cond, _) = self.convert(*cond, Wanted::of(Ty::Bool));
                let (t, t_direct) = self.branch_target(then);
                let (e, e_direct) = self.branch_target(els);
                if asks {
                    self.b.br_quiet(cond, t, e)
                } else {
                    self.b.br(cond, t, &[], e, &[])
                }
                let locals = self.locals.clone();
                for (edge, target, direct) in [(then, t, t_direct), (els, e, e_direct)] {
                    if !direct {
                        self.b.switch_to(target);
                        self.locals = locals.clone();
                        self.edge(edge);
                    }
                }
            }
            Term::MayRaise { next, .. } => {
                self.depart(next.block);
                self.edge(next);
            }
            Term::Return(v) if self.closed.is_some() => self.return_raw(*v),
            Term::Return(v) => {
                let result = self.moved(*v);
                let pc = self.f.blocks[block].end;
                // A frame object that outlives the frame (a traceback keeps it alive) shows the
                // locals after the return.
                let locals = self.locals.clone();
                self.publish_position(pc);
                if locals.iter().any(|v| self.repr(*v).is_unmade()) {
                    self.publish_locals(pc, &locals);
                }
                if matches!(self.entry, Entry::Function | Entry::Resume) {
                    let leave = self.leave_block();
                    self.b.jump(leave, &[result]);
                } else {
                    self.b.ret(&[result]);
                }
            }
            Term::Unreachable => match self.f.blocks[block].insts.last() {
                Some(&v) if matches!(self.f.op(v), Op::Yield(_)) => self.suspend(v),
                _ => self.b.terminate(lir::Term::Unreachable),
            },
        }
    }

    /// The block that pops the frame and returns its parameter. It serves all returns.
    fn leave_block(&mut self) -> lir::Block {
        if let Some(block) = self.leave {
            return block;
        }
        let here = self.b.current();
        let block = self.b.block();
        let result = self.b.param(block, Ty::Ptr);
        self.reference(result);
        self.b.switch_to(block);
        let leave = &self.parts.leave;
        self.b.inline(leave, &[self.thread, self.frame], None);
        self.b.ret(&[result]);
        self.b.switch_to(here);
        self.leave = Some(block);
        block
    }

    /// The block to which a branch goes for an edge: the target itself if the edge needs no code.
    fn branch_target(&mut self, edge: &Edge) -> (lir::Block, bool) {
        if edge.args.is_empty() && self.transitions(edge).is_empty() {
            (self.blocks[&edge.block], true)
        } else {
            (self.b.block(), false)
        }
    }

    /// Locals that are an object in their slot at one end of the edge and raw at the other.
    fn transitions(&self, edge: &Edge) -> Vec<(u32, Repr, Repr)> {
        // A closed unit has no slots.
        if self.closed.is_some() {
            return Vec::new();
        }
        let target = &self.f.blocks[edge.block].entry_state.locals;
        (0..self.f.code.locals.len())
            .filter_map(|k| {
                if self.locals[k] == target[k] {
                    return None;
                }
                // A virtual object reaches the next block as the same value or not at all.
                let (from, to) = (self.repr(self.locals[k]), self.repr(target[k]));
                (from.is_raw() != to.is_raw()).then_some((k as u32, from, to))
            })
            .collect()
    }

    fn edge(&mut self, edge: &Edge) {
        let params = self.f.blocks[edge.block].params.clone();
        // Raw operands are read before slots change.
        let args: Vec<lir::Value> = edge
            .args
            .iter()
            .zip(&params)
            .map(|(&a, &(p, _))| {
                let wanted = Wanted::of(self.repr(p).low_level());
                self.convert(a, wanted).0
            })
            .collect();
        for (k, from, to) in self.transitions(edge) {
            let offset = self.slot_offset(k);
            if from == Repr::Object && to.is_raw() {
                // A number: dropping it has no side effects.
                if self.is_counted {
                    let old = self.b.load(Width::Ptr, self.frame, offset);
                    // The slot is null if the frame of a generator that starts was inspected, with
                    // its locals found unbound.
                    let local = self.locals[k as usize];
                    self.unless_null(local, old, |s| s.count(names::DECREF_LEAF, old));
                }
                let null = self.b.pconst(0);
                self.b.store(Width::Ptr, self.frame, offset, null);
            } else if from.is_raw() && to == Repr::Object {
                let index = params
                    .iter()
                    .position(|&(_, place)| place == Place::Local(k))
                    .expect("a local whose representation changes has a parameter");
                self.b.store(Width::Ptr, self.frame, offset, args[index]);
            }
        }
        let target = self.blocks[&edge.block];
        self.b.jump(target, &args);
    }
}
