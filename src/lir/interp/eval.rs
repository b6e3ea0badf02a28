//! Ops on registers alone. The match is complete, so an op that is neither here nor in the machine
//! does not compile.

use super::Trap;
use crate::lir::graph::Imm;
use crate::lir::ops::{FloatCond, IntCond, Opcode};

/// The result of an op that uses registers only; the second word is for ops with two results.
pub(super) fn evaluate(op: Opcode, imm: Imm, [x, y, z]: [u64; 3]) -> Result<(u64, u64), Trap> {
    let (a, b) = (x.cast_signed(), y.cast_signed());
    let (fa, fb) = (f64::from_bits(x), f64::from_bits(y));
    let float = |value: f64| value.to_bits();
    let int = |value: i64| value.cast_unsigned();
    let wrong = || Trap::Malformed("an op with another's immediate");
    let bits = match op {
        Opcode::Iconst | Opcode::Bconst => match imm {
            Imm::Int(n) => int(n),
            _ => return Err(wrong()),
        },
        Opcode::Fconst => match imm {
            Imm::Float(bits) => bits,
            _ => return Err(wrong()),
        },
        Opcode::Pconst => match imm {
            Imm::Addr(address) => address,
            _ => return Err(wrong()),
        },
        Opcode::Iadd | Opcode::Padd => x.wrapping_add(y),
        Opcode::Isub => x.wrapping_sub(y),
        Opcode::Imul => x.wrapping_mul(y),
        Opcode::Umulhi => ((u128::from(x) * u128::from(y)) >> 64) as u64,
        Opcode::Sdiv => int(a.checked_div(b).ok_or_else(|| division(op, a, b))?),
        Opcode::Srem => int(a.checked_rem(b).ok_or_else(|| division(op, a, b))?),
        Opcode::Iand | Opcode::Band => x & y,
        Opcode::Ior | Opcode::Bor => x | y,
        Opcode::Ixor | Opcode::Bxor => x ^ y,
        Opcode::Ishl => x << count(op, y)?,
        Opcode::Isshr => int(a >> count(op, y)?),
        Opcode::Iushr => x >> count(op, y)?,
        Opcode::Ineg => int(a.wrapping_neg()),
        Opcode::Inot => !x,
        Opcode::IaddOvf => return Ok(overflowing(a.overflowing_add(b))),
        Opcode::IsubOvf => return Ok(overflowing(a.overflowing_sub(b))),
        Opcode::ImulOvf => return Ok(overflowing(a.overflowing_mul(b))),
        Opcode::Icmp => match imm {
            Imm::IntCond(cond) => u64::from(match cond {
                IntCond::Eq => x == y,
                IntCond::Ne => x != y,
                IntCond::Slt => a < b,
                IntCond::Sle => a <= b,
                IntCond::Sgt => a > b,
                IntCond::Sge => a >= b,
                IntCond::Ult => x < y,
                IntCond::Ule => x <= y,
                IntCond::Ugt => x > y,
                IntCond::Uge => x >= y,
            }),
            _ => return Err(wrong()),
        },
        Opcode::Fadd => float(fa + fb),
        Opcode::Fsub => float(fa - fb),
        Opcode::Fmul => float(fa * fb),
        Opcode::Fdiv => float(fa / fb),
        Opcode::Fneg => x ^ (1 << 63),
        Opcode::Fabs => x & !(1 << 63),
        Opcode::Fsqrt => float(fa.sqrt()),
        Opcode::Ffloor => float(fa.floor()),
        Opcode::Ftrunc => float(fa.trunc()),
        Opcode::Fcmp => match imm {
            Imm::FloatCond(cond) => u64::from(match cond {
                FloatCond::Eq => fa == fb,
                FloatCond::Ne => fa != fb,
                FloatCond::Lt => fa < fb,
                FloatCond::Le => fa <= fb,
                FloatCond::Gt => fa > fb,
                FloatCond::Ge => fa >= fb,
            }),
            _ => return Err(wrong()),
        },
        Opcode::I2f => float(a as f64),
        // `as` saturates, and gives 0 for nan.
        Opcode::F2i => int(fa as i64),
        Opcode::F2bits
        | Opcode::Bits2f
        | Opcode::P2i
        | Opcode::I2p
        | Opcode::B2i
        | Opcode::Copy => x,
        Opcode::Bnot => x ^ 1,
        Opcode::Select => {
            if x & 1 != 0 {
                y
            } else {
                z
            }
        }
        Opcode::Sp
        | Opcode::StackAddr
        | Opcode::Load
        | Opcode::Store
        | Opcode::Call
        | Opcode::CallIndirect
        | Opcode::CallRoutine => return Err(Trap::Malformed("an op of the machine's")),
    };
    Ok((bits, 0))
}

fn overflowing((value, overflowed): (i64, bool)) -> (u64, u64) {
    (value.cast_unsigned(), u64::from(overflowed))
}

fn division(op: Opcode, dividend: i64, divisor: i64) -> Trap {
    Trap::Division {
        op: op.info().name,
        dividend,
        divisor,
    }
}

fn count(op: Opcode, count: u64) -> Result<u32, Trap> {
    let op = op.info().name;
    u32::try_from(count)
        .ok()
        .filter(|&n| n < 64)
        .ok_or(Trap::Shift { op, count })
}
