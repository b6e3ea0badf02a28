//! The places where user code may have run since the last check of validity.

use super::function::{Block, Function, Value};
use super::ops::Op;
use cranelift_entity::SecondaryMap;

/// For each block: true if user code may have run, on some path to it, since the last check of
/// validity.
pub struct Validity(SecondaryMap<Block, bool>);

impl Validity {
    /// Analyse a function.
    pub fn of(f: &Function) -> Validity {
        let mut dirty_in: SecondaryMap<Block, bool> = SecondaryMap::new();
        dirty_in.resize(f.blocks.len());
        let blocks = f.order.iter();
        let settled: Vec<Option<bool>> = blocks
            .map(|b| f.blocks[*b].insts.iter().rev().find_map(|v| settles(f, *v)))
            .collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (&b, settled) in f.order.iter().zip(&settled) {
                let out = settled.unwrap_or(dirty_in[b]);
                // Control reaches a landing block only while the unit is valid.
                let landing = f.landing(b).map(|l| l.1);
                for edge in f.blocks[b].term.edges() {
                    let out = out && Some(edge.block) != landing;
                    if out && !dirty_in[edge.block] {
                        dirty_in[edge.block] = true;
                        changed = true;
                    }
                }
            }
        }
        Validity(dirty_in)
    }

    /// Before each instruction of a block: true if user code may have run since the last check.
    pub fn dirty_before<'a>(&self, f: &'a Function, b: Block) -> impl Iterator<Item = bool> + 'a {
        let insts = f.blocks[b].insts.iter();
        insts.scan(self.0[b], |dirty, &v| {
            let before = *dirty;
            *dirty = Validity::is_dirty_behind(f, v, before);
            Some(before)
        })
    }

    /// The same where a block begins.
    pub fn is_dirty_at(&self, b: Block) -> bool {
        self.0[b]
    }

    /// The same behind an instruction; `before` is the state before it.
    pub fn is_dirty_behind(f: &Function, v: Value, before: bool) -> bool {
        settles(f, v).unwrap_or(before)
    }
}

/// Returns whether user code may have run behind the instruction, if that does not depend on the
/// state before.
fn settles(f: &Function, v: Value) -> Option<bool> {
    match f.op(v) {
        // These check validity themselves after the pending work, or the call, is done; and a loop
        // does so before it requests the next item of a generator.
        Op::CheckValid
        | Op::CheckUnseen
        | Op::CheckPending
        | Op::DoPending
        | Op::CallRaw(..)
        | Op::YieldItem => Some(false),
        _ => f.may_run_host_code(v).then_some(true),
    }
}
