//! Numbers: ints of any size, floats and truth values.

use super::error::{self, raise};
use super::heap::{Bool, Float, Int, Ref, alloc};
use super::{Result, rt};
use cladonia::bytecode::{BinaryOp, CompareOp};
use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;
use std::fmt;

/// The value of a number object.
#[derive(Clone, Debug)]
pub enum Number {
    /// An int (or a truth value) that fits 64 bits.
    Int(i64),
    /// An int that does not fit.
    Big(BigInt),
    /// A float.
    Float(f64),
}

impl Number {
    /// The value of an object, if it is a number.
    pub fn of(object: &Ref) -> Option<Number> {
        if let Some(int) = object.get::<Int>() {
            return Some(match &int.big {
                None => Number::Int(int.small),
                Some(big) => Number::Big((**big).clone()),
            });
        }
        if let Some(float) = object.get::<Float>() {
            return Some(Number::Float(float.value));
        }
        object
            .get::<Bool>()
            .map(|truth| Number::Int(truth.value as i64))
    }

    /// An object of the value: an int or a float.
    pub fn into_object(self) -> Ref {
        match self {
            Number::Int(value) => alloc::int(value),
            Number::Big(value) => alloc::big(value),
            Number::Float(value) => alloc::float(value),
        }
    }

    /// Returns true if it is not zero.
    pub fn is_true(&self) -> bool {
        match self {
            Number::Int(value) => *value != 0,
            Number::Big(_) => true,
            Number::Float(value) => *value != 0.0,
        }
    }

    fn to_big(&self) -> Option<BigInt> {
        match self {
            Number::Int(value) => Some(BigInt::from(*value)),
            Number::Big(value) => Some(value.clone()),
            Number::Float(_) => None,
        }
    }

    /// The nearest float; none if an int is too large.
    pub fn to_f64(&self) -> Option<f64> {
        match self {
            Number::Int(value) => Some(*value as f64),
            Number::Big(value) => big_to_f64(value),
            Number::Float(value) => Some(*value),
        }
    }

    /// The hash: equal numbers of all classes have the same hash.
    pub fn hash(&self) -> u64 {
        match self {
            Number::Int(value) => *value as u64,
            Number::Big(value) => value.iter_u64_digits().fold(7, |hash, digit| {
                (hash ^ digit).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            }),
            Number::Float(value) => match integral(*value) {
                Some(int) => int.hash(),
                None => value.to_bits(),
            },
        }
    }
}

/// The int that equals a float, if there is one.
pub fn integral(value: f64) -> Option<Number> {
    if value.fract() != 0.0 || !value.is_finite() {
        return None;
    }
    if value.abs() < 9.0e18 {
        return Some(Number::Int(value as i64));
    }
    // 53 bits and a power of two.
    let bits = value.abs().to_bits();
    let (exponent, mantissa) = ((bits >> 52) as i64 - 1075, bits & ((1 << 52) - 1) | 1 << 52);
    let big = BigInt::from(mantissa) << exponent.max(0) as usize;
    Some(Number::Big(if value < 0.0 { -big } else { big }))
}

/// The nearest double, ties to even.
fn big_to_f64(value: &BigInt) -> Option<f64> {
    let bits = value.bits();
    let sign = if value.sign() == Sign::Minus {
        -1.0
    } else {
        1.0
    };
    if bits <= 63 {
        return i64::try_from(value).ok().map(|v| v as f64);
    }
    let shift = bits - 64;
    let magnitude = value.magnitude();
    let top = magnitude >> shift;
    let lost = magnitude
        .trailing_zeros()
        .is_some_and(|zeros| zeros < shift);
    // The lowest of 64 bits is far below the rounding position, so it can represent all lost bits.
    let top = u64::try_from(&top).ok()? | u64::from(lost);
    let result = sign * top as f64 * 2f64.powi(shift.try_into().ok()?);
    result.is_finite().then_some(result)
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(value) => write!(f, "{value}"),
            Number::Big(value) => write!(f, "{value}"),
            Number::Float(value) => f.write_str(&float_text(*value)),
        }
    }
}

/// A float as Python prints it.
fn float_text(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.into();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        return if plain.contains('.') {
            plain
        } else {
            plain + ".0"
        };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// A binary operator; none if it does not apply to these numbers.
pub fn binary(op: BinaryOp, a: &Number, b: &Number) -> Result<Option<Ref>> {
    if let (Number::Int(a), Number::Int(b)) = (a, b)
        && let Some(result) = small(op, *a, *b)
    {
        return Ok(Some(result));
    }
    if let (Some(a), Some(b)) = (a.to_big(), b.to_big()) {
        return large(op, &a, &b);
    }
    let (Some(a), Some(b)) = (a.to_f64(), b.to_f64()) else {
        return raise(error::OVERFLOW, "int too large to convert to float");
    };
    floats(op, a, b)
}

/// Operations on ints if operands and result fit into 64 bits; none if the slow path is needed.
fn small(op: BinaryOp, a: i64, b: i64) -> Option<Ref> {
    Some(alloc::int(match op {
        BinaryOp::Add => a.checked_add(b)?,
        BinaryOp::Subtract => a.checked_sub(b)?,
        BinaryOp::Multiply => a.checked_mul(b)?,
        BinaryOp::FloorDivide if b != 0 => {
            let q = a.checked_div(b)?;
            q - i64::from(a % b != 0 && (a < 0) != (b < 0))
        }
        BinaryOp::Remainder if b != 0 => {
            let r = a.checked_rem(b)?;
            if r != 0 && (r < 0) != (b < 0) {
                r + b
            } else {
                r
            }
        }
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::RightShift if b >= 0 => a >> b.min(63),
        BinaryOp::LeftShift if (0..63).contains(&b) => {
            let r = a << b;
            if r >> b != a {
                return None;
            }
            r
        }
        _ => return None,
    }))
}

fn large(op: BinaryOp, a: &BigInt, b: &BigInt) -> Result<Option<Ref>> {
    let zero = || raise(error::ZERO_DIVISION, "integer division or modulo by zero");
    let too_large = || raise(error::OVERFLOW, "int too large");
    let is_zero = b.sign() == Sign::NoSign;
    Ok(Some(alloc::big(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply if !rt().may_make((a.bits() + b.bits()) as usize) => return too_large(),
        BinaryOp::Multiply => a * b,
        BinaryOp::FloorDivide if is_zero => return zero(),
        BinaryOp::Remainder if is_zero => {
            return raise(error::ZERO_DIVISION, "integer modulo by zero");
        }
        BinaryOp::FloorDivide => divide(a, b).0,
        BinaryOp::Remainder => divide(a, b).1,
        BinaryOp::TrueDivide => {
            if is_zero {
                return raise(error::ZERO_DIVISION, "division by zero");
            }
            return match (big_to_f64(a), big_to_f64(b)) {
                (Some(a), Some(b)) => Ok(Some(alloc::float(a / b))),
                _ => raise(
                    error::OVERFLOW,
                    "integer division result too large for a float",
                ),
            };
        }
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::LeftShift | BinaryOp::RightShift if b.sign() == Sign::Minus => {
            return raise(error::VALUE, "negative shift count");
        }
        BinaryOp::LeftShift => match u64::try_from(b) {
            _ if a.sign() == Sign::NoSign => BigInt::ZERO,
            Ok(count) if rt().may_make(count.saturating_add(a.bits()) as usize) => a << count,
            _ => return too_large(),
        },
        BinaryOp::RightShift => match u64::try_from(b) {
            Ok(count) if count <= a.bits() => a >> count,
            _ if a.sign() == Sign::Minus => BigInt::from(-1),
            _ => BigInt::ZERO,
        },
        BinaryOp::Power if b.sign() == Sign::Minus => {
            return match (big_to_f64(a), big_to_f64(b)) {
                (Some(a), Some(b)) => floats(op, a, b),
                _ => raise(error::OVERFLOW, "int too large to convert to float"),
            };
        }
        BinaryOp::Power => match u32::try_from(b) {
            Ok(power) if rt().may_make((a.bits() * u64::from(power)) as usize) => a.pow(power),
            _ if a.bits() <= 1 => {
                if b.bit(0) || a.sign() != Sign::Minus {
                    if is_zero { BigInt::from(1) } else { a.clone() }
                } else {
                    -a
                }
            }
            _ => return too_large(),
        },
        BinaryOp::MatrixMultiply => return Ok(None),
    })))
}

/// Quotient rounded down and remainder with the divisor's sign.
fn divide(a: &BigInt, b: &BigInt) -> (BigInt, BigInt) {
    let (q, r) = (a / b, a % b);
    if r.sign() != Sign::NoSign && (r.sign() == Sign::Minus) != (b.sign() == Sign::Minus) {
        (q - 1, r + b)
    } else {
        (q, r)
    }
}

/// `a % b` of floats, with the divisor's sign.
pub fn float_mod(a: f64, b: f64) -> f64 {
    let r = a % b;
    if r == 0.0 {
        0f64.copysign(b)
    } else if (r < 0.0) != (b < 0.0) {
        r + b
    } else {
        r
    }
}

/// `a // b` of floats.
pub fn float_floordiv(a: f64, b: f64) -> f64 {
    let r = a % b;
    let mut q = (a - r) / b;
    if r != 0.0 && (r < 0.0) != (b < 0.0) {
        q -= 1.0;
    }
    if q == 0.0 {
        return 0f64.copysign(a / b);
    }
    let floor = q.floor();
    if q - floor > 0.5 { floor + 1.0 } else { floor }
}

fn floats(op: BinaryOp, a: f64, b: f64) -> Result<Option<Ref>> {
    let by_zero = |what: &str| raise(error::ZERO_DIVISION, what);
    Ok(Some(alloc::float(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::TrueDivide if b == 0.0 => return by_zero("float division by zero"),
        BinaryOp::TrueDivide => a / b,
        BinaryOp::FloorDivide if b == 0.0 => return by_zero("float floor division by zero"),
        BinaryOp::FloorDivide => float_floordiv(a, b),
        BinaryOp::Remainder if b == 0.0 => return by_zero("float modulo by zero"),
        BinaryOp::Remainder => float_mod(a, b),
        BinaryOp::Power => {
            if a == 0.0 && b < 0.0 {
                return by_zero("zero to a negative power");
            }
            if a < 0.0 && a.is_finite() && b.is_finite() && b.fract() != 0.0 {
                return raise(
                    error::VALUE,
                    "a negative number to a fractional power is complex",
                );
            }
            let result = a.powf(b);
            if result.is_infinite() && a.is_finite() && b.is_finite() {
                return raise(error::OVERFLOW, "Numerical result out of range");
            }
            result
        }
        _ => return Ok(None),
    })))
}

/// `-a`
pub fn negative(a: &Number) -> Ref {
    match a {
        Number::Int(value) => match value.checked_neg() {
            Some(result) => alloc::int(result),
            None => alloc::big(-BigInt::from(*value)),
        },
        Number::Big(value) => alloc::big(-value.clone()),
        Number::Float(value) => alloc::float(-value),
    }
}

/// `~a`
pub fn invert(a: &Number) -> Option<Ref> {
    match a {
        Number::Int(value) => Some(alloc::int(!value)),
        Number::Big(value) => Some(alloc::big(-value.clone() - 1)),
        Number::Float(_) => None,
    }
}

/// The order of two numbers; none with a NaN.
fn order(a: &Number, b: &Number) -> Option<Ordering> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => Some(a.cmp(b)),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(b),
        (Number::Float(float), int) => order_float(*float, int),
        (int, Number::Float(float)) => order_float(*float, int).map(Ordering::reverse),
        (a, b) => Some(a.to_big()?.cmp(&b.to_big()?)),
    }
}

/// The exact order of a float and an int.
fn order_float(float: f64, int: &Number) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float.is_infinite() {
        return Some(if float > 0.0 {
            Ordering::Greater
        } else {
            Ordering::Less
        });
    }
    let whole = integral(float.trunc())?.to_big()?;
    let other = int.to_big()?;
    Some(whole.cmp(&other).then(float.fract().partial_cmp(&0.0)?))
}

/// A comparison.
pub fn compare(op: CompareOp, a: &Number, b: &Number) -> bool {
    let order = order(a, b);
    match op {
        CompareOp::Lt => order == Some(Ordering::Less),
        CompareOp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        CompareOp::Eq => order == Some(Ordering::Equal),
        CompareOp::Ne => order != Some(Ordering::Equal),
        CompareOp::Gt => order == Some(Ordering::Greater),
        CompareOp::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// `int(a)` of a number.
pub fn to_int(a: &Number) -> Result<Ref> {
    match a {
        Number::Float(value) if value.is_nan() => {
            raise(error::VALUE, "cannot convert float NaN to integer")
        }
        Number::Float(value) if value.is_infinite() => {
            raise(error::OVERFLOW, "cannot convert float infinity to integer")
        }
        Number::Float(value) => {
            Ok(integral(value.trunc()).map_or_else(|| rt().none.clone(), Number::into_object))
        }
        other => Ok(other.clone().into_object()),
    }
}
