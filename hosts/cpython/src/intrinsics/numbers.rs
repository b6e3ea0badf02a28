//! Ints, floats and bools: to raw values and back.
//!
//! An int is a sign and a number of 30-bit digits in one tag word, then the digits. One digit is
//! the hot path, two are handled out of line, more fail: raw ints of compiled code have at most 60
//! bits.

use super::{FreeInts, Set};
use crate::abi::{counts, float, free_floats, long, object};
use cladonia::facts::Effects;
use cladonia::host::names;
use cladonia::lir::{Builder, IntCond, Opcode, Term, Value};
use cladonia::ll::{Ty, Width};
use pyo3_ffi::{Py_False, Py_True, PyFloat_Type, PyLong_Type};

pub(super) fn define(set: &mut Set<'_>) {
    set.add(
        names::INT_REUSE,
        &[Ty::Ptr, Ty::I64],
        &[Ty::Bool],
        Effects::WRITES,
        |b, p, _| int_reuse(b, p[0], p[1]),
    );
    set.add(
        names::FLOAT_REUSE,
        &[Ty::Ptr, Ty::F64],
        &[Ty::Bool],
        Effects::WRITES,
        |b, p, _| {
            let (write, done) = (b.block(), b.block());
            let own = is_ones(b, p[0]);
            b.br(own, write, &[], done, &[]);
            b.switch_to(write);
            b.store(Width::F64, p[0], float::VALUE, p[1]);
            b.jump(done, &[]);
            b.switch_to(done);
            b.ret(&[own]);
        },
    );
    set.add(
        names::INT_UNBOX,
        &[Ty::Ptr],
        &[Ty::I64],
        Effects::READS,
        |b, p, _| int_unbox(b, p[0]),
    );
    set.add(
        names::INT_BOX,
        &[Ty::I64],
        &[Ty::Ptr],
        Effects::WRITES,
        |b, p, context| {
            let done = b.block();
            let result = b.param(done, Ty::Ptr);
            let Some(first) = context.small_ints else {
                let made = b.call(context.box_int, &[p[0]], &[Ty::Ptr])[0];
                b.jump(done, &[made]);
                b.switch_to(done);
                b.ret(&[result]);
                return;
            };
            {
                let (small, large) = (b.block(), b.block());
                let five = b.iconst(5);
                let index = b.op(Opcode::Iadd, &[p[0], five]);
                let is_small = b.icmp_imm(
                    IntCond::Ult,
                    index,
                    i64::from(long::SMALL_NEGATIVE + long::SMALL_INTS),
                );
                b.br(is_small, small, &[], large, &[]);
                b.switch_to(small);
                let first = b.pconst(first);
                let size = b.iconst(i64::from(long::SIZE));
                let bytes = b.op(Opcode::Imul, &[index, size]);
                let known = b.op(Opcode::Padd, &[first, bytes]);
                b.jump(done, &[known]);
                b.switch_to(large);
            }
            let (fits, pop, call) = (b.block(), b.block(), b.cold_block());
            let sixty_three = b.iconst(63);
            let negative = b.op(Opcode::Isshr, &[p[0], sixty_three]);
            let flipped = b.op(Opcode::Ixor, &[p[0], negative]);
            let magnitude = b.op(Opcode::Isub, &[flipped, negative]);
            let one_digit = b.icmp_imm(IntCond::Ult, magnitude, 1 << long::DIGIT_BITS);
            b.br(one_digit, fits, &[], call, &[]);
            b.switch_to(fits);
            let free = b.pconst(FreeInts::address());
            let head = b.load(Width::Ptr, free, FreeInts::HEAD);
            let none = b.is_null(head);
            b.br(none, call, &[], pop, &[]);
            b.switch_to(pop);
            let next = b.load(Width::Ptr, head, object::TYPE);
            b.store(Width::Ptr, free, FreeInts::HEAD, next);
            let count = b.load(Width::I64, free, FreeInts::COUNT);
            let one = b.iconst(1);
            let less = b.op(Opcode::Isub, &[count, one]);
            b.store(Width::I64, free, FreeInts::COUNT, less);
            counts::first(b, head);
            let class = b.pconst((&raw const PyLong_Type) as u64);
            b.store(Width::Ptr, head, object::TYPE, class);
            // Zero is a small int, so the sign is positive or negative.
            let sign = b.iconst(i64::from(long::SIGN_NEGATIVE));
            let sign = b.op(Opcode::Iand, &[negative, sign]);
            let digits = b.iconst(1 << long::NON_SIZE_BITS);
            let tag = b.op(Opcode::Ior, &[sign, digits]);
            b.store(Width::I64, head, long::TAG, tag);
            b.store(Width::U32, head, long::DIGITS, magnitude);
            b.jump(done, &[head]);
            b.switch_to(call);
            let made = b.call(context.box_int, &[p[0]], &[Ty::Ptr])[0];
            b.jump(done, &[made]);
            b.switch_to(done);
            b.ret(&[result]);
        },
    );
    set.add(
        names::FLOAT_UNBOX,
        &[Ty::Ptr],
        &[Ty::F64],
        Effects::NONE,
        |b, p, _| {
            let value = b.load(Width::F64, p[0], float::VALUE);
            b.ret(&[value]);
        },
    );
    set.add(
        names::FLOAT_BOX,
        &[Ty::F64],
        &[Ty::Ptr],
        Effects::WRITES,
        |b, p, context| {
            let Some(interpreter) = context.float_freelist else {
                let made = b.call(context.box_float, &[p[0]], &[Ty::Ptr])[0];
                b.ret(&[made]);
                return;
            };
            let interpreter = b.pconst(interpreter);
            let (empty, done) = (b.cold_block(), b.block());
            let result = b.param(done, Ty::Ptr);
            let head = free_floats::pop(b, interpreter, empty);
            counts::first(b, head);
            let class = b.pconst((&raw const PyFloat_Type) as u64);
            b.store(Width::Ptr, head, object::TYPE, class);
            b.store(Width::F64, head, float::VALUE, p[0]);
            b.jump(done, &[head]);
            b.switch_to(empty);
            let made = b.call(context.box_float, &[p[0]], &[Ty::Ptr])[0];
            b.jump(done, &[made]);
            b.switch_to(done);
            b.ret(&[result]);
        },
    );
    set.add(
        names::BOOL_UNBOX,
        &[Ty::Ptr],
        &[Ty::Bool],
        Effects::NONE,
        |b, p, _| {
            let yes = b.pconst(truth(true));
            let value = b.icmp(IntCond::Eq, p[0], yes);
            b.ret(&[value]);
        },
    );
    set.add(
        names::BOOL_BOX,
        &[Ty::Bool],
        &[Ty::Ptr],
        Effects::NONE,
        |b, p, _| {
            let (yes, no) = (b.pconst(truth(true)), b.pconst(truth(false)));
            let value = b.select(p[0], yes, no);
            b.ret(&[value]);
        },
    );
}

fn truth(value: bool) -> u64 {
    // SAFETY: the addresses of two statics.
    unsafe { (if value { Py_True() } else { Py_False() }) as u64 }
}

/// True if the only reference to an object is this one.
fn is_ones(b: &mut Builder<'_>, p: Value) -> Value {
    counts::is_only(b, p)
}

/// Changes the value of an int in place to one of one digit. Fails for the small ints, of which
/// there is only one object each.
fn int_reuse(b: &mut Builder<'_>, p: Value, value: Value) {
    let (fits, write, done) = (b.block(), b.block(), b.block());
    let result = b.param(done, Ty::Bool);
    let no = b.bconst(false);
    let own = is_ones(b, p);
    b.br(own, fits, &[], done, &[no]);
    b.switch_to(fits);
    // 0 where the value is positive, -1 where it is negative.
    let bits = b.iconst(63);
    let negative = b.op(Opcode::Isshr, &[value, bits]);
    let flipped = b.op(Opcode::Ixor, &[value, negative]);
    let magnitude = b.op(Opcode::Isub, &[flipped, negative]);
    let least = b.iconst(i64::from(long::SMALL_INTS));
    let above = b.op(Opcode::Isub, &[magnitude, least]);
    let most = (1 << long::DIGIT_BITS) - i64::from(long::SMALL_INTS);
    let one_digit = b.icmp_imm(IntCond::Ult, above, most);
    b.br(one_digit, write, &[], done, &[no]);
    b.switch_to(write);
    // The sign is 0 for positive, 2 for negative.
    let two = b.iconst(2);
    let sign = b.op(Opcode::Iand, &[negative, two]);
    let one = b.iconst(i64::from(1 << long::NON_SIZE_BITS));
    let tag = b.op(Opcode::Ior, &[sign, one]);
    b.store(Width::I64, p, long::TAG, tag);
    b.store(Width::U32, p, long::DIGITS, magnitude);
    let yes = b.bconst(true);
    b.jump(done, &[yes]);
    b.switch_to(done);
    b.ret(&[result]);
}

/// Returns the value of an int, or fails.
pub(super) fn int_unbox(b: &mut Builder<'_>, p: Value) {
    let (one_digit, longer, two_digits, too_long) =
        (b.block(), b.cold_block(), b.cold_block(), b.cold_block());
    let done = b.block();
    let magnitude = b.param(done, Ty::I64);
    let tag = b.load(Width::I64, p, long::TAG);
    let below = |digits: i32| i64::from(digits << long::NON_SIZE_BITS);
    let compact = b.icmp_imm(IntCond::Ult, tag, below(2));
    b.br(compact, one_digit, &[], longer, &[]);
    b.switch_to(one_digit);
    let low = b.load(Width::U32, p, long::DIGITS);
    b.jump(done, &[low]);
    b.switch_to(done);
    // The sign is 0 for positive, 1 for zero, 2 for negative.
    let mask = b.iconst(i64::from(long::SIGN_MASK));
    let sign = b.op(Opcode::Iand, &[tag, mask]);
    let one = b.iconst(1);
    let factor = b.op(Opcode::Isub, &[one, sign]);
    let value = b.op(Opcode::Imul, &[magnitude, factor]);
    b.ret(&[value]);
    b.switch_to(longer);
    let two = b.icmp_imm(IntCond::Ult, tag, below(3));
    b.br(two, two_digits, &[], too_long, &[]);
    b.switch_to(two_digits);
    let low = b.load(Width::U32, p, long::DIGITS);
    let high = b.load(Width::U32, p, long::DIGITS + size_of::<u32>() as i32);
    let bits = b.iconst(i64::from(long::DIGIT_BITS));
    let high = b.op(Opcode::Ishl, &[high, bits]);
    let both = b.op(Opcode::Ior, &[low, high]);
    b.jump(done, &[both]);
    b.switch_to(too_long);
    b.terminate(Term::Fail);
}
