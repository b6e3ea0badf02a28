//! Loops that only hand on what another generator yields: `for x in inner: yield x`.
//!
//! A generator that waits in such a loop, to be asked for the next item, waits for the inner one as one does that delegates: all that
//! it does for each item is to keep it in a variable. So it is part of a [chain](super::chain).

use cladonia::bytecode::{Code, Op};

/// What a generator that waits somewhere hands on: nothing (0), or which variable it keeps that in, and how many code units before its
/// place the loop begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Forward(u16);

const SOME: u16 = 1 << 15;
const SLOT_BITS: u32 = 12;

impl Forward {
    /// That of a local, with the loop so many code units before.
    fn new(slot: u32, back: u32) -> Option<Forward> {
        let fits = slot < 1 << SLOT_BITS && back < u32::from(SOME) >> SLOT_BITS;
        fits.then_some(Forward(SOME | (back << SLOT_BITS | slot) as u16))
    }

    /// As kept by [`Forward::bits`].
    pub fn of_bits(bits: u16) -> Forward {
        Forward(bits)
    }

    /// To be kept elsewhere.
    pub fn bits(self) -> u16 {
        self.0
    }

    /// Whether it is one.
    #[inline(always)]
    pub fn is_some(self) -> bool {
        self.0 != 0
    }

    /// Bytes from the loop's `FOR_ITER` to where the generator waits.
    pub fn back(self) -> usize {
        2 * ((self.0 & !SOME) >> SLOT_BITS) as usize
    }

    /// The local that has the item.
    #[inline(always)]
    pub fn slot(self) -> i32 {
        (self.0 & ((1 << SLOT_BITS) - 1)) as i32
    }

    /// For each of so many code units, what waits there hands on; nothing if none does.
    pub fn table(code: &Code, units: usize) -> Option<Box<[Forward]>> {
        let mut table = vec![Forward::default(); units];
        for pc in code.resume_points() {
            let at = pc.0 as usize;
            if let Some(forward) = Forward::at(code, at)
                && let Some(place) = table.get_mut(code.instrs[at].resume as usize)
            {
                *place = forward;
            }
        }
        let some = table.iter().any(|forward| forward.is_some());
        some.then(|| table.into_boxed_slice())
    }

    /// What is handed on by the loop whose `RESUME` is at `at`.
    fn at(code: &Code, at: usize) -> Option<Forward> {
        let first = at.checked_sub(4)?;
        let [next, store, load, give, resume, drop, again] = code.instrs.get(first..at + 3)? else {
            return None;
        };
        let ops = [next, store, load, give, resume, drop, again].map(|instr| match instr.op {
            Op::LoadFastBorrow => Op::LoadFast,
            op => op,
        });
        let is_plain =
            ops == [
                Op::ForIter,
                Op::StoreFast,
                Op::LoadFast,
                Op::YieldValue,
                Op::Resume,
                Op::PopTop,
                Op::JumpBackward,
            ] && store.arg == load.arg
                && again.arg as usize == first
                && next.pos == next.resume;
        is_plain.then(|| Forward::new(store.arg, resume.resume - next.pos))?
    }
}
