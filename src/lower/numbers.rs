//! Operations on C values: arithmetic and comparisons, with exits where they have no result.

use super::hop::HighLevelOp;
use super::intervals::Overflow;
use crate::hir::{Cmp, Op, Value};
use crate::lir::{self, FloatCond, IntCond, Opcode};
use crate::ll::Ty;
use crate::types::Type;

/// Integers up to this size convert to doubles without loss.
const EXACT_DOUBLE: i64 = 1 << 53;

impl HighLevelOp<'_, '_> {
    /// An operation that exits if it overflows. Where intervals allow it, a comparison replaces the
    /// overflow flag.
    pub(super) fn overflowing(&mut self, op: Opcode) -> lir::Value {
        let [at_a, at_b] = [0, 1].map(|i| self.lower.interval(self.arg(i)));
        let (plain, overflow) = match op {
            Opcode::IaddOvf => (Opcode::Iadd, Overflow::of_sum(at_a, at_b)),
            Opcode::IsubOvf => (Opcode::Isub, Overflow::of_difference(at_a, at_b)),
            _ => (Opcode::Imul, Overflow::of_product(at_a, at_b)),
        };
        let (mut a, mut b) = self.ints();
        if self.lower.planted && op == Opcode::IsubOvf {
            std::mem::swap(&mut a, &mut b);
        }
        let (r, o) = match overflow {
            Overflow::Flag => self.b().op2(op, a, b),
            Overflow::Never => return self.b().op(plain, &[a, b]),
            Overflow::Negative => {
                let r = self.b().op(plain, &[a, b]);
                (r, self.b().icmp_imm(IntCond::Slt, r, 0))
            }
            Overflow::Less => {
                let r = self.b().op(plain, &[a, b]);
                (r, self.b().icmp(IntCond::Slt, r, a))
            }
            Overflow::Greater => {
                let r = self.b().op(plain, &[a, b]);
                (r, self.b().icmp(IntCond::Sgt, r, a))
            }
        };
        let exit = self.exit();
        let go = self.b().block();
        self.b().br(o, exit, &[], go, &[]);
        self.b().switch_to(go);
        r
    }

    pub(super) fn negate(&mut self) -> lir::Value {
        if self.lower.interval(self.arg(0)).low > i64::MIN {
            return self.plain(Opcode::Ineg);
        }
        let zero = self.b().iconst(0);
        let a = self.int(0);
        let (r, o) = self.b().op2(Opcode::IsubOvf, zero, a);
        let ok = self.b().op(Opcode::Bnot, &[o]);
        self.guard(ok);
        r
    }

    pub(super) fn true_division(&mut self) -> lir::Value {
        let (a, b) = self.ints();
        let ok = self.b().icmp_imm(IntCond::Ne, b, 0);
        let (x, y) = (self.fits_double(a), self.fits_double(b));
        let both = self.b().op(Opcode::Band, &[x, y]);
        let ok = self.b().op(Opcode::Band, &[ok, both]);
        self.guard(ok);
        let [a, b] = [a, b].map(|n| self.b().op(Opcode::I2f, &[n]));
        self.b().op(Opcode::Fdiv, &[a, b])
    }

    pub(super) fn shift_left(&mut self) -> lir::Value {
        let (a, n) = self.ints();
        let small = self.b().icmp_imm(IntCond::Ult, n, 63);
        let exit = self.exit();
        self.b().guard(small, exit);
        let r = self.b().op(Opcode::Ishl, &[a, n]);
        let back = self.b().op(Opcode::Isshr, &[r, n]);
        let ok = self.b().icmp(IntCond::Eq, back, a);
        self.b().guard(ok, exit);
        r
    }

    pub(super) fn shift_right(&mut self) -> lir::Value {
        let (a, n) = self.ints();
        let ok = self.b().icmp_imm(IntCond::Sge, n, 0);
        self.guard(ok);
        let most = self.b().iconst(63);
        let small = self.b().icmp(IntCond::Slt, n, most);
        let n = self.b().select(small, n, most);
        self.b().op(Opcode::Isshr, &[a, n])
    }

    pub(super) fn compare_ints(&mut self, cmp: Cmp) -> lir::Value {
        let (a, b) = self.ints();
        self.b().icmp(int_cond(cmp), a, b)
    }

    pub(super) fn compare_floats(&mut self, cmp: Cmp) -> lir::Value {
        let (a, b) = (self.double(0), self.double(1));
        self.b().fcmp(float_cond(cmp), a, b)
    }

    /// Selects one of two raw values by a truth value.
    pub(super) fn select(&mut self) -> lir::Value {
        let kind = if self.lower.f.ty(self.arg(1)) <= Type::CDOUBLE {
            Ty::F64
        } else {
            Ty::I64
        };
        let args = self.inputs(&[Ty::Bool, kind, kind]);
        self.b().select(args[0], args[1], args[2])
    }

    pub(super) fn exact_double(&mut self) -> lir::Value {
        let a = self.int(0);
        let ok = self.fits_double(a);
        self.guard(ok);
        self.b().op(Opcode::I2f, &[a])
    }

    /// True if an integer converts to a double without loss.
    pub(super) fn fits_double(&mut self, a: lir::Value) -> lir::Value {
        let limit = self.b().iconst(EXACT_DOUBLE);
        let up = self.b().op(Opcode::Iadd, &[a, limit]);
        self.b().icmp_imm(IntCond::Ule, up, 2 * EXACT_DOUBLE)
    }

    /// Exits if the divisor is zero.
    pub(super) fn nonzero(&mut self) {
        if let Op::ConstDouble(bits) = self.lower.f.op(self.arg(1))
            && f64::from_bits(*bits) != 0.0
        {
            return;
        }
        let b = self.double(1);
        let zero = self.b().fconst(0.0);
        let ok = self.b().fcmp(FloatCond::Ne, b, zero);
        self.guard(ok);
    }

    pub(super) fn power(&mut self) -> lir::Value {
        let a = self.double(0);
        let zero = self.b().fconst(0.0);
        // For zero, only negative powers are an error.
        let cond = if self.is_positive(1) {
            FloatCond::Ge
        } else {
            FloatCond::Gt
        };
        let ok = self.b().fcmp(cond, a, zero);
        let exit = self.exit();
        self.b().guard(ok, exit);
        let r = self.plain_call("float_pow");
        // A finite result minus itself is zero; nothing else is.
        let d = self.b().op(Opcode::Fsub, &[r, r]);
        let ok = self.b().fcmp(FloatCond::Eq, d, zero);
        self.b().guard(ok, exit);
        r
    }

    /// Returns true if a double is known to be above zero.
    fn is_positive(&self, i: usize) -> bool {
        let f = self.lower.f;
        let v = self.arg(i);
        match *f.op(v) {
            Op::ConstDouble(bits) => f64::from_bits(bits) > 0.0,
            Op::IntToDouble => matches!(f.op(f.arg(v, 0)), Op::ConstInt(n) if *n > 0),
            _ => false,
        }
    }

    pub(super) fn square_root(&mut self) -> lir::Value {
        let a = self.double(0);
        let zero = self.b().fconst(0.0);
        let ok = self.b().fcmp(FloatCond::Ge, a, zero);
        self.guard(ok);
        self.b().op(Opcode::Fsqrt, &[a])
    }

    pub(super) fn integer_part(&mut self) -> lir::Value {
        let a = self.double(0);
        let limit = self.b().fconst(4.0e18);
        let size = self.b().op(Opcode::Fabs, &[a]);
        let ok = self.b().fcmp(FloatCond::Lt, size, limit);
        self.guard(ok);
        self.b().op(Opcode::F2i, &[a])
    }

    /// Returns true if an integer is never negative.
    pub(super) fn is_natural(&self, v: Value) -> bool {
        self.lower.interval(v).is_natural()
    }

    /// Python's floor division or remainder: rounded down, the remainder with the divisor's sign.
    pub(super) fn divide(&mut self, quotient: bool) -> lir::Value {
        let constant = match self.lower.f.op(self.arg(1)) {
            Op::ConstInt(n) if *n > 0 => Some(*n),
            _ => None,
        };
        let (a, b) = self.ints();
        if constant.is_none() {
            // Zero raises; with -1 the smallest integer overflows (and -1 is rare).
            let exit = self.exit();
            let zero = self.b().icmp_imm(IntCond::Ne, b, 0);
            self.b().guard(zero, exit);
            let minus = self.b().icmp_imm(IntCond::Ne, b, -1);
            self.b().guard(minus, exit);
        }
        if let Some(n) = constant
            && n & (n - 1) == 0
        {
            return if quotient {
                let shift = self.b().iconst(n.trailing_zeros() as i64);
                self.b().op(Opcode::Isshr, &[a, shift])
            } else {
                let mask = self.b().iconst(n - 1);
                self.b().op(Opcode::Iand, &[a, mask])
            };
        }
        if let Some(n) = constant {
            let is_natural = self.is_natural(self.arg(0));
            return self.divide_by_constant(a, n, quotient, is_natural);
        }
        let q = self.b().op(Opcode::Sdiv, &[a, b]);
        let product = self.b().op(Opcode::Imul, &[q, b]);
        let r = self.b().op(Opcode::Isub, &[a, product]);
        let inexact = self.b().icmp_imm(IntCond::Ne, r, 0);
        let signs = self.b().op(Opcode::Ixor, &[r, b]);
        let differ = self.b().icmp_imm(IntCond::Slt, signs, 0);
        let adjust = self.b().op(Opcode::Band, &[inexact, differ]);
        if quotient {
            let one = self.b().op(Opcode::B2i, &[adjust]);
            self.b().op(Opcode::Isub, &[q, one])
        } else {
            let moved = self.b().op(Opcode::Iadd, &[r, b]);
            self.b().select(adjust, moved, r)
        }
    }

    /// Floor division or remainder by a number above 1 that is no power of two, with a
    /// multiplication (Granlund and Montgomery 1994).
    ///
    /// A negative dividend is complemented, which gives the numerator of the complemented quotient:
    /// of 63 bits, unsigned.
    fn divide_by_constant(
        &mut self,
        a: lir::Value,
        n: i64,
        quotient: bool,
        is_natural: bool,
    ) -> lir::Value {
        let (factor, shift) = reciprocal(n);
        let b = self.b();
        let factor = b.iconst(factor.cast_signed());
        let shift = b.iconst(i64::from(shift));
        let q = if is_natural {
            let high = b.op(Opcode::Umulhi, &[a, factor]);
            b.op(Opcode::Iushr, &[high, shift])
        } else {
            let most = b.iconst(63);
            let sign = b.op(Opcode::Isshr, &[a, most]);
            let numerator = b.op(Opcode::Ixor, &[a, sign]);
            let high = b.op(Opcode::Umulhi, &[numerator, factor]);
            let q = b.op(Opcode::Iushr, &[high, shift]);
            b.op(Opcode::Ixor, &[q, sign])
        };
        if quotient {
            return q;
        }
        let n = b.iconst(n);
        let product = b.op(Opcode::Imul, &[q, n]);
        b.op(Opcode::Isub, &[a, product])
    }
}

/// A factor and a shift: for every `x` below 2^63, `x / n` is the upper half of `x * factor`,
/// shifted right. `n` is above 1.
fn reciprocal(n: i64) -> (u64, u32) {
    // 2^(63 + bits) lies above the factor times n by no more than 2^bits, which is at least n; so
    // the error stays below 1 / n.
    let bits = 64 - (n - 1).leading_zeros();
    let power = 1u128 << (63 + bits);
    let factor = power / n as u128 + 1;
    (factor as u64, bits - 1)
}

fn int_cond(c: Cmp) -> IntCond {
    match c {
        Cmp::Lt => IntCond::Slt,
        Cmp::Le => IntCond::Sle,
        Cmp::Eq => IntCond::Eq,
        Cmp::Ne => IntCond::Ne,
        Cmp::Gt => IntCond::Sgt,
        Cmp::Ge => IntCond::Sge,
    }
}

fn float_cond(c: Cmp) -> FloatCond {
    match c {
        Cmp::Lt => FloatCond::Lt,
        Cmp::Le => FloatCond::Le,
        Cmp::Eq => FloatCond::Eq,
        Cmp::Ne => FloatCond::Ne,
        Cmp::Gt => FloatCond::Gt,
        Cmp::Ge => FloatCond::Ge,
    }
}

#[cfg(test)]
mod tests {
    use super::reciprocal;

    #[test]
    fn multiplying_by_a_reciprocal_divides_all_that_it_is_for() {
        let edges = |n: u64| {
            let near = |m: u64| [m.wrapping_sub(1), m, m + 1];
            let most = i64::MAX as u64;
            let multiples = [0, n, 2 * n.min(most / 2), most / n * n, most - n];
            multiples
                .into_iter()
                .flat_map(near)
                .chain([most, 1 << 62, (1 << 62) - 1])
        };
        let divisors = (3..2000).chain((2..62).flat_map(|k| [(1i64 << k) - 1, (1 << k) + 1]));
        for n in divisors.chain([i64::MAX, i64::MAX - 1, 10_i64.pow(9) + 7]) {
            let (factor, shift) = reciprocal(n);
            for x in edges(n as u64).filter(|x| *x <= i64::MAX as u64) {
                let high = (u128::from(x) * u128::from(factor)) >> 64;
                assert_eq!(high as u64 >> shift, x / n as u64, "{x} / {n}");
            }
        }
    }
}
