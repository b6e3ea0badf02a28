//! Intervals of integers, with which lowering omits checks.
//!
//! Each raw integer has one interval, computed from its operation and its operands' intervals; a
//! block's parameter has the join of its arguments, iterated to a fixpoint. For example, `i` in
//! `for i in range(n)` is never negative. A bound that moves once is given up, so that the
//! iteration ends soon. (Interval analysis with widening, Cousot and Cousot 1976; comparisons are
//! not used.)

use super::Repr;
use crate::hir::{Edge, Function, Op, Value};
use crate::types::Type;
use cranelift_entity::SecondaryMap;

/// The least and the greatest value of an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Interval {
    pub(super) low: i64,
    pub(super) high: i64,
}

impl Interval {
    /// The interval of an unknown integer.
    pub(super) const ANY: Interval = Interval::new(i64::MIN, i64::MAX);

    /// The interval of a length in objects: more do not fit into the address space.
    const LENGTH: Interval = Interval::new(0, i64::MAX / 8);

    pub(super) const fn new(low: i64, high: i64) -> Interval {
        Interval { low, high }
    }

    /// Returns true if it is never negative.
    pub(super) fn is_natural(self) -> bool {
        self.low >= 0
    }

    /// The interval from the least to the greatest of some numbers, clamped to 64 bits: an
    /// operation that overflows exits.
    fn around<const N: usize>(ends: [i128; N]) -> Interval {
        let end = |n: Option<i128>| {
            let n = n.expect("some numbers");
            n.clamp(i64::MIN.into(), i64::MAX.into()) as i64
        };
        Interval::new(end(ends.into_iter().min()), end(ends.into_iter().max()))
    }

    fn join(self, other: Interval) -> Interval {
        Interval::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// The new interval of a parameter that had the interval `self`.
    fn widen(self, found: Interval) -> Interval {
        Interval {
            low: if found.low < self.low {
                i64::MIN
            } else {
                self.low
            },
            high: if found.high > self.high {
                i64::MAX
            } else {
                self.high
            },
        }
    }
}

/// The intervals of a function's integers.
pub(super) struct Intervals {
    found: SecondaryMap<Value, Option<Interval>>,
    /// The interval of an unboxed int object.
    unboxed: Interval,
}

impl Intervals {
    /// Computes them. Ints that were objects are at most two to the power of `unboxed_bits` away
    /// from 0.
    pub(super) fn of(f: &Function, unboxed_bits: u32) -> Intervals {
        let unboxed = match 1i64.checked_shl(unboxed_bits) {
            Some(most @ 1..) => Interval::new(-most, most),
            _ => Interval::ANY,
        };
        let mut all = Intervals {
            found: SecondaryMap::new(),
            unboxed,
        };
        let mut is_first = true;
        loop {
            let mut changed = false;
            for &b in &f.order {
                for &v in &f.blocks[b].insts {
                    if f.ty(v) <= Type::CINT64 {
                        all.found[v] = all.result(f, v);
                    }
                }
                for edge in f.blocks[b].term.edges() {
                    changed |= all.bring(f, edge, is_first);
                }
            }
            if !changed {
                return all;
            }
            is_first = false;
        }
    }

    /// The interval of an integer.
    pub(super) fn at(&self, f: &Function, v: Value) -> Interval {
        let v = f.resolve(v);
        match *f.op(v) {
            Op::ConstInt(n) => Interval::new(n, n),
            _ => self.found[v].unwrap_or(Interval::ANY),
        }
    }

    /// Joins the arguments of an edge into the block's parameters. Returns true if one was widened.
    /// From the second round on, moved bounds are given up.
    fn bring(&mut self, f: &Function, edge: &Edge, is_first: bool) -> bool {
        let mut changed = false;
        for (&(param, _), &arg) in f.blocks[edge.block].params.iter().zip(&edge.args) {
            if !(f.ty(param) <= Type::CINT64) {
                continue;
            }
            let found = self.at(f, arg);
            let new = match self.found[param] {
                None => found,
                Some(known) if is_first => known.join(found),
                Some(known) => known.widen(found),
            };
            changed |= self.found[param] != Some(new);
            self.found[param] = Some(new);
        }
        changed
    }

    /// The interval of an operation's result, if it does not exit.
    fn result(&self, f: &Function, v: Value) -> Option<Interval> {
        let at = |i: usize| self.at(f, f.arg(v, i));
        let constant = |i: usize| {
            let at = at(i);
            (at.low == at.high).then_some(at.low)
        };
        let wide = |at: Interval| [i128::from(at.low), i128::from(at.high)];
        Some(match f.op(v) {
            Op::IntAdd | Op::IntStep => {
                let ([a, b], [c, d]) = (wide(at(0)), wide(at(1)));
                Interval::around([a + c, b + d])
            }
            Op::IntSub => {
                let ([a, b], [c, d]) = (wide(at(0)), wide(at(1)));
                Interval::around([a - d, b - c])
            }
            Op::IntMul => {
                let ([a, b], [c, d]) = (wide(at(0)), wide(at(1)));
                let product = Interval::around([a * c, a * d, b * c, b * d]);
                if f.resolve(f.arg(v, 0)) == f.resolve(f.arg(v, 1)) {
                    Interval::new(product.low.max(0), product.high)
                } else {
                    product
                }
            }
            Op::Select => at(1).join(at(2)),
            Op::IntNeg => {
                let [a, b] = wide(at(0));
                Interval::around([-b, -a])
            }
            Op::IntInvert => Interval::new(!at(0).high, !at(0).low),
            Op::IntFloorDiv => match constant(1) {
                Some(n) if n > 0 => {
                    Interval::new(at(0).low.div_euclid(n), at(0).high.div_euclid(n))
                }
                _ => Interval::ANY,
            },
            // The remainder has the divisor's sign.
            Op::IntMod if at(1).low > 0 => Interval::new(0, at(1).high - 1),
            Op::IntMod if at(1).high < 0 => Interval::new(at(1).low + 1, 0),
            Op::IntAnd => {
                let naturals = [at(0), at(1)].into_iter().filter(|at| at.is_natural());
                match naturals.map(|at| at.high).min() {
                    Some(most) => Interval::new(0, most),
                    None => Interval::ANY,
                }
            }
            Op::IntOr | Op::IntXor if at(0).is_natural() && at(1).is_natural() => {
                let bits = (at(0).high | at(1).high).leading_zeros();
                // If both are zero, all bits are shifted out.
                let most = u64::MAX.checked_shr(bits).unwrap_or(0);
                Interval::new(0, most.cast_signed())
            }
            Op::IntShr => match constant(1) {
                Some(n @ 0..64) => Interval::new(at(0).low >> n, at(0).high >> n),
                _ if at(0).is_natural() => Interval::new(0, at(0).high),
                _ => Interval::ANY,
            },
            Op::UnboxInt => match Repr::of(f, f.arg(v, 0)) {
                // The box was virtual: the value is the raw one.
                Repr::Int(raw) | Repr::IntIf(raw, _) => self.at(f, raw),
                _ => self.unboxed,
            },
            Op::BoolToInt => Interval::new(0, 1),
            Op::ListLen | Op::TupleLen | Op::StrLen => Interval::LENGTH,
            // The items may be single bytes.
            Op::RawLen(_) => Interval::new(0, i64::MAX),
            Op::Index => Interval::new(0, at(1).high.saturating_sub(1).max(0)),
            _ => Interval::ANY,
        })
    }
}

/// The method of detecting the overflow of an operation on two integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Overflow {
    /// It never overflows.
    Never,
    /// If the result is below zero.
    Negative,
    /// If the result is below the first operand.
    Less,
    /// If the result is above the first operand.
    Greater,
    /// Only the machine's overflow flag shows it.
    Flag,
}

impl Overflow {
    /// The detection for `a + b`.
    pub(super) fn of_sum(a: Interval, b: Interval) -> Overflow {
        let (least, most) = (
            i128::from(a.low) + i128::from(b.low),
            i128::from(a.high) + i128::from(b.high),
        );
        Overflow::of(a, least, most, b.low >= 0, b.high <= 0)
    }

    /// The detection for `a - b`.
    pub(super) fn of_difference(a: Interval, b: Interval) -> Overflow {
        let (least, most) = (
            i128::from(a.low) - i128::from(b.high),
            i128::from(a.high) - i128::from(b.low),
        );
        Overflow::of(a, least, most, b.high <= 0, b.low >= 0)
    }

    /// The detection for `a * b`.
    pub(super) fn of_product(a: Interval, b: Interval) -> Overflow {
        let ends = [
            (a.low, b.low),
            (a.low, b.high),
            (a.high, b.low),
            (a.high, b.high),
        ];
        let fits = |(a, b): (i64, i64)| a.checked_mul(b).is_some();
        if ends.into_iter().all(fits) {
            Overflow::Never
        } else {
            Overflow::Flag
        }
    }

    /// For `a` and an operation that never makes it smaller (`grows`), or never larger (`shrinks`).
    fn of(a: Interval, least: i128, most: i128, grows: bool, shrinks: bool) -> Overflow {
        let (below, above) = (least < i64::MIN.into(), most > i64::MAX.into());
        match (below, above) {
            (false, false) => Overflow::Never,
            // A result that is too large by less than 2^63 looks negative.
            (false, true) if a.is_natural() && grows => Overflow::Negative,
            _ if grows => Overflow::Less,
            _ if shrinks => Overflow::Greater,
            _ => Overflow::Flag,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An int object has few digits; a raw value that was never an object may be of any size.
    #[test]
    fn an_int_that_never_was_an_object_is_as_large_as_it_was() {
        const TEXT: &str = "code \"f\" {\n  params 2\n  stack 2\n  local a\n  local b\n  load_fast a\n  return_value\n}\n\n\
            function \"f\" {\nbb0 {@0 [v0 v1] []}:\n    v0: LongExact = arg 0\n    v1: LongExact = arg 1\n    \
            v2: CInt64 = unbox_int v0 {@0 [v0 v1] []}\n    v3: CInt64 = unbox_int v1 {@0 [v0 v1] []}\n    \
            v4: CInt64 = int_mul v2, v3 {@0 [v0 v1] []}\n    v5: LongExact = box_int v4\n    \
            v6: CInt64 = unbox_int v5 {@0 [v0 v1] []}\n    v7: CInt64 = int_add v6, v6 {@0 [v0 v1] []}\n    \
            v8: LongExact = box_int v7\n    return v8 {@1 [v0 v1]}\n}\n";
        let f = crate::hir::parse_only(TEXT);
        let all = Intervals::of(&f, 60);
        let of = |op: Op| {
            let insts = f.order.iter().flat_map(|&b| &f.blocks[b].insts);
            let found = insts.filter(|v| *f.op(**v) == op);
            found.map(|v| all.at(&f, *v)).collect::<Vec<_>>()
        };
        let short = Interval::new(-1 << 60, 1 << 60);
        assert_eq!(of(Op::UnboxInt), [short, short, Interval::ANY]);
        assert_eq!(of(Op::IntMul), [Interval::ANY]);
    }

    fn interval() -> impl Strategy<Value = Interval> {
        let near = |n: i64| (n.saturating_sub(3))..=(n.saturating_add(3));
        let end = prop_oneof![near(0), near(i64::MIN), near(i64::MAX), any::<i64>()];
        (end.clone(), end).prop_map(|(a, b)| Interval::new(a.min(b), a.max(b)))
    }

    /// Returns true if the chosen test finds an overflow.
    fn is_found(overflow: Overflow, a: i64, result: i64, overflowed: bool) -> bool {
        match overflow {
            Overflow::Never => false,
            Overflow::Negative => result < 0,
            Overflow::Less => result < a,
            Overflow::Greater => result > a,
            Overflow::Flag => overflowed,
        }
    }

    proptest! {
        #[test]
        fn comparisons_find_the_overflows_and_nothing_else(a in interval(), b in interval(), n: u64, m: u64) {
            let within = |at: Interval, n: u64| {
                let width = at.high.wrapping_sub(at.low).cast_unsigned();
                let step = match width {
                    u64::MAX => n,
                    width => n % (width + 1),
                };
                at.low.wrapping_add(step.cast_signed())
            };
            for x in [a.low, a.high, within(a, n)] {
                for y in [b.low, b.high, within(b, m)] {
                    let sum = x.overflowing_add(y);
                    prop_assert_eq!(is_found(Overflow::of_sum(a, b), x, sum.0, sum.1), sum.1);
                    let less = x.overflowing_sub(y);
                    prop_assert_eq!(is_found(Overflow::of_difference(a, b), x, less.0, less.1), less.1);
                    let product = x.overflowing_mul(y);
                    prop_assert_eq!(is_found(Overflow::of_product(a, b), x, product.0, product.1), product.1);
                }
            }
        }
    }
}
