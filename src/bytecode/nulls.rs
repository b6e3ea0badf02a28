//! Entries of the operand stack that are null by the rules of the bytecode.
//!
//! For example, `f(x)` has null between `f` and `x` where `f` is no method. A unit that is entered
//! in the middle of the code (a loop, or a generator that is resumed) need not check these entries.

use super::{Code, Instr, Op, Pc};
use std::collections::VecDeque;

impl Code {
    /// Before each instruction: for each entry of the operand stack, whether it is null in every
    /// execution. None for unreachable ones. The code must be valid.
    pub fn null_entries(&self) -> Vec<Option<Vec<bool>>> {
        let mut found: Vec<Option<Vec<bool>>> = vec![None; self.instrs.len()];
        let mut todo = VecDeque::from([(Pc(0), Vec::new())]);
        while let Some((at, entries)) = todo.pop_front() {
            let Some(place) = found.get_mut(at.0 as usize) else {
                continue;
            };
            let merged = match place {
                None => entries,
                Some(old) => old.iter().zip(&entries).map(|(a, b)| *a && *b).collect(),
            };
            if place.as_ref() == Some(&merged) {
                continue;
            }
            *place = Some(merged.clone());
            for handler in self.handlers.iter().filter(|h| h.start <= at && at < h.end) {
                let mut entries = merged.clone();
                entries.truncate(handler.depth as usize);
                entries.resize(handler.entry_depth() as usize, false);
                todo.push_back((handler.target, entries));
            }
            let instr = self.instr(at);
            let Some(successors) = instr.successors(merged.len() as u32) else {
                continue;
            };
            let after = entries_after(instr, merged);
            if let Some((target, depth)) = successors.jump {
                let mut entries = after.clone();
                entries.truncate(depth as usize);
                todo.push_back((target, entries));
            }
            if successors.next.is_some() {
                todo.push_back((Pc(at.0 + 1), after));
            }
        }
        found
    }
}

/// The entries after an instruction with these entries before it.
fn entries_after(instr: &Instr, mut entries: Vec<bool>) -> Vec<bool> {
    let info = instr.op.info();
    let pops = (info.pops)(instr.arg, instr.arg2) as usize;
    let pushes = (info.pushes)(instr.arg, instr.arg2) as usize;
    let (kept, last) = (
        entries.len() - pops,
        entries.len() - 1_usize.min(entries.len()),
    );
    let nth = |entries: &[bool]| (entries.len() - instr.arg as usize).min(last);
    match instr.op {
        Op::Swap => {
            let other = nth(&entries);
            entries.swap(other, last);
        }
        Op::Copy => {
            let copied = entries[nth(&entries)];
            entries.push(copied);
        }
        // They add to a container so far below the top.
        Op::ListAppend
        | Op::ListExtend
        | Op::SetAdd
        | Op::SetUpdate
        | Op::MapAdd
        | Op::DictUpdate
        | Op::DictMerge => entries.truncate(kept + pushes),
        op => {
            entries.truncate(kept);
            entries.resize(kept + pushes, false);
            let pair = instr.arg2 == 1;
            match op {
                Op::PushNull => entries[kept] = true,
                Op::LoadGlobal | Op::GetIter | Op::GetYieldFromIter if pair => {
                    entries[kept + 1] = true;
                }
                Op::ForIter | Op::Send | Op::CleanupThrow if pair => entries[kept + 1] = true,
                _ => {}
            }
        }
    }
    entries
}
