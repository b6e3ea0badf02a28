//! Loops that only forward the values of another generator: `for x in inner: yield x`.
//!
//! A generator that is suspended in such a loop waits for the inner one as a delegating generator
//! does: its only action for each item is to store it in a variable. So it is part of a
//! [chain](super::chain).
//!
//! For example, a recursive walk over a tree, `for node in walk(child): yield node`, has one such
//! generator for each level.

use cladonia::bytecode::{Code, Op};

/// The forwarding of a waiting generator: none (0), or the variable that it stores the item in, and
/// the number of code units from the start of the loop to its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Forward(u16);

const SOME: u16 = 1 << 15;
const SLOT_BITS: u32 = 12;

impl Forward {
    /// The forwarding through a local, with the start of the loop this many code units before.
    fn new(slot: u32, back: u32) -> Option<Forward> {
        let fits = slot < 1 << SLOT_BITS && back < u32::from(SOME) >> SLOT_BITS;
        fits.then_some(Forward(SOME | (back << SLOT_BITS | slot) as u16))
    }

    /// From the value of [`Forward::bits`].
    pub fn of_bits(bits: u16) -> Forward {
        Forward(bits)
    }

    /// The value as bits, to be stored elsewhere.
    pub fn bits(self) -> u16 {
        self.0
    }

    /// True if it is one.
    #[inline(always)]
    pub fn is_some(self) -> bool {
        self.0 != 0
    }

    /// Bytes from the loop's `FOR_ITER` to the position at which the generator waits.
    pub fn back(self) -> usize {
        2 * ((self.0 & !SOME) >> SLOT_BITS) as usize
    }

    /// The local that has the item.
    #[inline(always)]
    pub fn slot(self) -> i32 {
        (self.0 & ((1 << SLOT_BITS) - 1)) as i32
    }

    /// For each of this many code units, the forwarding of a generator that waits there; `None` if
    /// there are none.
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

    /// The forwarding by the loop whose `RESUME` is at `at`.
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
