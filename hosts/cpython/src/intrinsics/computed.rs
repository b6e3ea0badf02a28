//! Results of builtins that are computed without a call ([`cladonia::host::Computed`]): raw code
//! for the short ones, and for the others a call of a raw function (`helpers/computed`), whose
//! address is an operand. They fail where the builtin itself must be called.

use super::strings::is_set;
use super::{Context, Set};
use crate::abi::{object, unicode};
use cladonia::facts::Effects;
use cladonia::lir::{Block, Builder, FloatCond, IntCond, Opcode, Signature, Term, Value};
use cladonia::ll::{Ty, Width};

/// `(f64, function) -> f64`: fails unless the result is finite, or nan like the operand.
pub const OF_DOUBLE: &str = "of_double";
/// `(f64, f64, function) -> f64`: fails unless the operands and the result are finite.
pub const OF_DOUBLES: &str = "of_doubles";
/// `(f64) -> f64`: the absolute value.
pub const MAGNITUDE: &str = "magnitude";
/// `(f64, bits) -> f64`: the product with a constant.
pub const SCALED: &str = "scaled";
/// `(f64) -> bool`.
pub const IS_NAN: &str = "is_nan";
/// `(f64) -> bool`.
pub const IS_INFINITE: &str = "is_infinite";
/// `(f64) -> bool`.
pub const IS_FINITE: &str = "is_finite";
/// `(f64) -> i64`: rounded down; fails unless it fits 63 bits.
pub const FLOOR: &str = "floor";
/// `(f64) -> i64`: rounded up.
pub const CEIL: &str = "ceil";
/// `(f64) -> i64`: rounded to the nearest integer, of two as near to the even one.
pub const ROUND: &str = "round";
/// `(i64) -> i64`: the operand.
pub const SAME_INT: &str = "same_int";
/// `(i64, function) -> i64`: fails if the result is the least integer.
pub const OF_INT: &str = "of_int";
/// `(i64, i64, function) -> i64`: fails likewise.
pub const OF_INTS: &str = "of_ints";
/// `(object, object, function) -> i64`: fails likewise.
pub const NUMBER_OF_TWO: &str = "number_of_two";
/// `(object, function) -> bool`: fails if the function gives neither 0 nor 1.
pub const TEST_OF_ONE: &str = "test_of_one";
/// `(object, object, function) -> bool`: fails likewise.
pub const TEST_OF_TWO: &str = "test_of_two";
/// `(str) -> i64`: the code of its only character.
pub const CODE: &str = "code_of_character";
/// `(i64) -> object`: the string of a character with a code up to 255.
pub const CHARACTER: &str = "character_of_code";
/// All of these.
pub const ALL: &[&str] = &[
    OF_DOUBLE,
    OF_DOUBLES,
    MAGNITUDE,
    SCALED,
    IS_NAN,
    IS_INFINITE,
    IS_FINITE,
    FLOOR,
    CEIL,
    ROUND,
    SAME_INT,
    OF_INT,
    OF_INTS,
    NUMBER_OF_TWO,
    TEST_OF_ONE,
    TEST_OF_TWO,
    CODE,
    CHARACTER,
];
/// `(object, class..., test) -> bool`, for one to four classes: true if an object is an instance of
/// one of them.
pub const IS_INSTANCE: [&str; 4] = [
    "is_instance_of_1",
    "is_instance_of_2",
    "is_instance_of_3",
    "is_instance_of_4",
];

const PTR: Ty = Ty::Ptr;
const INT: Ty = Ty::I64;
const DOUBLE: Ty = Ty::F64;

/// The largest magnitude of a double that becomes an integer.
const LIMIT: f64 = 4.0e18;

pub(super) fn define(set: &mut Set<'_>) {
    define_floats(set);
    define_ints(set);
    define_of_objects(set);
    define_characters(set);
    for (index, name) in IS_INSTANCE.into_iter().enumerate() {
        let params = vec![PTR; index + 3];
        let effects = Effects::READS;
        set.add(name, &params, &[Ty::Bool], effects, |b, p, _| {
            is_instance(b, p);
        });
    }
}

fn define_floats(set: &mut Set<'_>) {
    let mut add = |name, params: &[Ty], result, body: fn(&mut Builder<'_>, &[Value]) -> Value| {
        set.add(name, params, &[result], Effects::NONE, |b, p, _| {
            let value = body(b, p);
            b.ret(&[value]);
        });
    };
    add(OF_DOUBLE, &[DOUBLE, PTR], DOUBLE, |b, p| {
        let signature = Signature::new(&[DOUBLE], &[DOUBLE]);
        let result = b.call_indirect(signature, p[1], &[p[0]])[0];
        let (check, done) = (b.cold_block(), b.block());
        let finite = is_finite(b, result);
        b.br(finite, done, &[], check, &[]);
        b.switch_to(check);
        let is_nan = b.fcmp(FloatCond::Ne, p[0], p[0]);
        require(b, is_nan);
        b.jump(done, &[]);
        b.switch_to(done);
        result
    });
    add(OF_DOUBLES, &[DOUBLE, DOUBLE, PTR], DOUBLE, |b, p| {
        for operand in &p[..2] {
            let finite = is_finite(b, *operand);
            require(b, finite);
        }
        let signature = Signature::new(&[DOUBLE, DOUBLE], &[DOUBLE]);
        let result = b.call_indirect(signature, p[2], &[p[0], p[1]])[0];
        let finite = is_finite(b, result);
        require(b, finite);
        result
    });
    add(MAGNITUDE, &[DOUBLE], DOUBLE, |b, p| {
        b.op(Opcode::Fabs, &[p[0]])
    });
    add(SCALED, &[DOUBLE, INT], DOUBLE, |b, p| {
        let factor = b.op(Opcode::Bits2f, &[p[1]]);
        b.op(Opcode::Fmul, &[p[0], factor])
    });
    add(IS_NAN, &[DOUBLE], Ty::Bool, |b, p| {
        b.fcmp(FloatCond::Ne, p[0], p[0])
    });
    add(IS_INFINITE, &[DOUBLE], Ty::Bool, |b, p| {
        let size = b.op(Opcode::Fabs, &[p[0]]);
        let infinity = b.fconst(f64::INFINITY);
        b.fcmp(FloatCond::Eq, size, infinity)
    });
    add(IS_FINITE, &[DOUBLE], Ty::Bool, |b, p| is_finite(b, p[0]));
    add(FLOOR, &[DOUBLE], INT, |b, p| {
        fits(b, p[0]);
        let down = b.op(Opcode::Ffloor, &[p[0]]);
        b.op(Opcode::F2i, &[down])
    });
    add(CEIL, &[DOUBLE], INT, |b, p| {
        fits(b, p[0]);
        let negative = b.op(Opcode::Fneg, &[p[0]]);
        let down = b.op(Opcode::Ffloor, &[negative]);
        let up = b.op(Opcode::F2i, &[down]);
        b.op(Opcode::Ineg, &[up])
    });
    add(ROUND, &[DOUBLE], INT, |b, p| {
        fits(b, p[0]);
        let down = b.op(Opcode::Ffloor, &[p[0]]);
        // Exact: an operand with a fraction is below 2^52.
        let fraction = b.op(Opcode::Fsub, &[p[0], down]);
        let down = b.op(Opcode::F2i, &[down]);
        let half = b.fconst(0.5);
        let above = b.fcmp(FloatCond::Gt, fraction, half);
        let between = b.fcmp(FloatCond::Eq, fraction, half);
        let one = b.iconst(1);
        let last = b.op(Opcode::Iand, &[down, one]);
        let odd = b.icmp_imm(IntCond::Ne, last, 0);
        let to_even = b.op(Opcode::Band, &[between, odd]);
        let up = b.op(Opcode::Bor, &[above, to_even]);
        let up = b.op(Opcode::B2i, &[up]);
        b.op(Opcode::Iadd, &[down, up])
    });
}

/// True if a double is finite: only then its difference with itself is zero.
fn is_finite(b: &mut Builder<'_>, value: Value) -> Value {
    let difference = b.op(Opcode::Fsub, &[value, value]);
    let zero = b.fconst(0.0);
    b.fcmp(FloatCond::Eq, difference, zero)
}

/// Fails unless a double is in the range of integers.
fn fits(b: &mut Builder<'_>, value: Value) {
    let size = b.op(Opcode::Fabs, &[value]);
    let limit = b.fconst(LIMIT);
    let is_small = b.fcmp(FloatCond::Lt, size, limit);
    require(b, is_small);
}

/// Fails unless a truth value holds.
fn require(b: &mut Builder<'_>, holds: Value) {
    let (go, fail) = (b.block(), b.cold_block());
    b.br(holds, go, &[], fail, &[]);
    b.switch_to(fail);
    b.terminate(Term::Fail);
    b.switch_to(go);
}

fn define_ints(set: &mut Set<'_>) {
    set.add(SAME_INT, &[INT], &[INT], Effects::NONE, |b, p, _| {
        b.ret(&[p[0]]);
    });
    for (name, count) in [(OF_INT, 1), (OF_INTS, 2)] {
        let params = [vec![INT; count], vec![PTR]].concat();
        set.add(name, &params, &[INT], Effects::NONE, |b, p, _| {
            let value = called(b, p, INT, INT);
            let holds = b.icmp_imm(IntCond::Ne, value, i64::MIN);
            require(b, holds);
            b.ret(&[value]);
        });
    }
}

fn define_of_objects(set: &mut Set<'_>) {
    let params = [PTR; 3];
    set.add(NUMBER_OF_TWO, &params, &[INT], Effects::READS, |b, p, _| {
        let value = called(b, p, PTR, INT);
        let holds = b.icmp_imm(IntCond::Ne, value, i64::MIN);
        require(b, holds);
        b.ret(&[value]);
    });
    for (name, count) in [(TEST_OF_ONE, 1), (TEST_OF_TWO, 2)] {
        let params = vec![PTR; count + 1];
        set.add(name, &params, &[Ty::Bool], Effects::READS, |b, p, _| {
            let value = called(b, p, PTR, INT);
            let holds = b.icmp_imm(IntCond::Ule, value, 1);
            require(b, holds);
            let value = b.icmp_imm(IntCond::Ne, value, 0);
            b.ret(&[value]);
        });
    }
}

/// The result of the function that is the last operand, of the operands before it.
fn called(b: &mut Builder<'_>, p: &[Value], param: Ty, result: Ty) -> Value {
    let count = p.len() - 1;
    let signature = Signature::new(&vec![param; count], &[result]);
    b.call_indirect(signature, p[count], &p[..count])[0]
}

fn define_characters(set: &mut Set<'_>) {
    let effects = Effects::NONE;
    set.add(CODE, &[PTR], &[INT], effects, |b, p, _| {
        let length = b.load(Width::I64, p[0], unicode::LENGTH);
        let is_one = b.icmp_imm(IntCond::Eq, length, 1);
        require(b, is_one);
        let state = b.load(Width::U32, p[0], unicode::STATE);
        let (ascii, other) = (b.block(), b.block());
        let is_ascii = is_set(b, state, unicode::STATE_ASCII);
        b.br(is_ascii, ascii, &[], other, &[]);
        b.switch_to(ascii);
        let code = b.load(Width::U8, p[0], unicode::ASCII_DATA);
        b.ret(&[code]);
        b.switch_to(other);
        // The kind is the number of bytes, 1, 2 or 4, in units of its lowest bit.
        let kinds = b.iconst(i64::from(unicode::STATE_KIND));
        let kind = b.op(Opcode::Iand, &[state, kinds]);
        let (byte, wide) = (b.block(), b.block());
        let is_byte = b.icmp_imm(IntCond::Eq, kind, i64::from(unicode::STATE_KIND_BYTE));
        b.br(is_byte, byte, &[], wide, &[]);
        b.switch_to(byte);
        let code = b.load(Width::U8, p[0], unicode::COMPACT_DATA);
        b.ret(&[code]);
        b.switch_to(wide);
        let (two, four) = (b.block(), b.block());
        let is_two = b.icmp_imm(IntCond::Eq, kind, 2 * i64::from(unicode::STATE_KIND_BYTE));
        b.br(is_two, two, &[], four, &[]);
        b.switch_to(four);
        let code = b.load(Width::U32, p[0], unicode::COMPACT_DATA);
        b.ret(&[code]);
        b.switch_to(two);
        let code = b.load(Width::U16, p[0], unicode::COMPACT_DATA);
        b.ret(&[code]);
    });
    set.add(CHARACTER, &[INT], &[PTR], effects, |b, p, context| {
        character(b, p[0], context);
    });
}

/// The immortal string of one character.
fn character(b: &mut Builder<'_>, code: Value, context: &Context) {
    let is_known = b.icmp_imm(IntCond::Ult, code, 256);
    require(b, is_known);
    let table = b.pconst(context.characters);
    let three = b.iconst(3);
    let at = b.op(Opcode::Ishl, &[code, three]);
    let at = b.op(Opcode::Padd, &[table, at]);
    let text = b.load(Width::Ptr, at, 0);
    let null = b.is_null(text);
    let holds = b.op(Opcode::Bnot, &[null]);
    require(b, holds);
    b.ret(&[text]);
}

/// Compares the class of an object with each class, then asks the function about each.
fn is_instance(b: &mut Builder<'_>, p: &[Value]) {
    let (object, classes, function) = (p[0], &p[1..p.len() - 1], p[p.len() - 1]);
    let answer = b.block();
    let result = b.param(answer, Ty::Bool);
    let (yes, no) = (b.bconst(true), b.bconst(false));
    let own = b.load(Width::Ptr, object, object::TYPE);
    for class in classes {
        let other = b.block();
        let is_own = b.icmp(IntCond::Eq, own, *class);
        b.br(is_own, answer, &[yes], other, &[]);
        b.switch_to(other);
    }
    let fail = b.cold_block();
    for class in classes {
        let signature = Signature::new(&[PTR, PTR], &[INT]);
        let found = b.call_indirect(signature, function, &[object, *class])[0];
        let (sure, other) = (b.block(), b.block());
        settled(b, found, sure, fail);
        b.switch_to(sure);
        let holds = b.icmp_imm(IntCond::Ne, found, 0);
        b.br(holds, answer, &[yes], other, &[]);
        b.switch_to(other);
    }
    b.jump(answer, &[no]);
    b.switch_to(answer);
    b.ret(&[result]);
    b.switch_to(fail);
    b.terminate(Term::Fail);
}

/// Branches to `fail` unless a number is 0 or 1.
fn settled(b: &mut Builder<'_>, found: Value, sure: Block, fail: Block) {
    let is_sure = b.icmp_imm(IntCond::Ule, found, 1);
    b.br(is_sure, sure, &[], fail, &[]);
}
