//! Items of `bytes`, `bytearray` and `array.array`: numbers in memory.
//!
//! All take the object first, whose exact class was checked before, then an offset in range, and
//! the number to store. A number that does not fit fails before any side effect.

use super::Set;
use super::attributes::check;
use crate::abi::{array, bytearray, bytes, object};
use cladonia::facts::Effects;
use cladonia::lir::{Builder, IntCond, Opcode, Term, Value};
use cladonia::ll::{Ty, Width};

/// `(object) -> i64`: its number of items.
pub const ITEM_COUNT: &str = "item_count";
/// `(array, kind)`: the array has the descriptor at that address.
pub const CHECK_ARRAY_KIND: &str = "check_array_kind";
/// `(bytes, offset) -> i64`.
pub const BYTES_GET: &str = "bytes_get";
/// `(bytearray, offset) -> i64`.
pub const BYTEARRAY_GET: &str = "bytearray_get";
/// `(bytearray, offset, i64)`.
pub const BYTEARRAY_SET: &str = "bytearray_set";

/// A kind of array.
pub struct ArrayKind {
    /// Its type code.
    pub code: u8,
    /// Its numbers in memory.
    pub number: Number,
    /// `(array, offset) -> i64` or `f64`.
    pub get: &'static str,
    /// `(array, offset, i64 or f64)`.
    pub set: &'static str,
}

/// A number in memory.
#[derive(Clone, Copy)]
pub struct Number {
    width: Width,
    /// True for signed integers.
    is_signed: bool,
}

impl Number {
    /// True if it is a float.
    pub fn is_float(self) -> bool {
        self.width == Width::F64
    }

    /// Its size in bytes.
    pub fn size(self) -> usize {
        self.width.bytes() as usize
    }

    /// Number of bits that a 64-bit integer has in addition.
    fn spare_bits(self) -> i64 {
        64 - 8 * i64::from(self.width.bytes())
    }

    fn place(self, b: &mut Builder<'_>, items: Value, offset: Value) -> Value {
        let bytes = match self.width.bytes() {
            1 => offset,
            size => {
                let shift = b.iconst(i64::from(size.trailing_zeros()));
                b.op(Opcode::Ishl, &[offset, shift])
            }
        };
        b.op(Opcode::Padd, &[items, bytes])
    }

    fn extend(self, b: &mut Builder<'_>, raw: Value) -> Value {
        let bits = b.iconst(self.spare_bits());
        let up = b.op(Opcode::Ishl, &[raw, bits]);
        b.op(Opcode::Isshr, &[up, bits])
    }

    fn load(self, b: &mut Builder<'_>, place: Value, at: i32) -> Value {
        let raw = b.load(self.width, place, at);
        // A load of these is zero-extended.
        match self.width {
            Width::U8 | Width::U16 if self.is_signed => self.extend(b, raw),
            _ => raw,
        }
    }

    /// Stores an integer, or fails if it is out of range.
    fn store(self, b: &mut Builder<'_>, place: Value, raw: Value) {
        let fail = b.cold_block();
        if !self.is_float() && self.spare_bits() > 0 {
            let same = if self.is_signed {
                self.extend(b, raw)
            } else {
                let mask = b.iconst((u64::MAX >> self.spare_bits()) as i64);
                b.op(Opcode::Iand, &[raw, mask])
            };
            let fits = b.icmp(IntCond::Eq, same, raw);
            b.guard(fits, fail);
        }
        b.store(self.width, place, 0, raw);
        b.ret(&[]);
        b.switch_to(fail);
        b.terminate(Term::Fail);
    }
}

const BYTE: Number = Number {
    width: Width::U8,
    is_signed: false,
};

const fn kind(
    code: u8,
    width: Width,
    is_signed: bool,
    get: &'static str,
    set: &'static str,
) -> ArrayKind {
    ArrayKind {
        code,
        number: Number { width, is_signed },
        get,
        set,
    }
}

/// The kinds of arrays whose numbers are all 64-bit integers or doubles.
pub const ARRAYS: &[ArrayKind] = &[
    kind(b'd', Width::F64, true, "array_get_d", "array_set_d"),
    kind(b'b', Width::U8, true, "array_get_b", "array_set_b"),
    kind(b'B', Width::U8, false, "array_get_B", "array_set_B"),
    kind(b'h', Width::U16, true, "array_get_h", "array_set_h"),
    kind(b'H', Width::U16, false, "array_get_H", "array_set_H"),
    kind(b'i', Width::I32, true, "array_get_i", "array_set_i"),
    kind(b'I', Width::U32, false, "array_get_I", "array_set_I"),
    kind(b'l', Width::I64, true, "array_get_l", "array_set_l"),
    kind(b'q', Width::I64, true, "array_get_q", "array_set_q"),
];

const PTR: Ty = Ty::Ptr;
const INT: Ty = Ty::I64;

pub(super) fn define(set: &mut Set<'_>) {
    set.add(ITEM_COUNT, &[PTR], &[INT], Effects::READS, |b, p, _| {
        let count = b.load(Width::I64, p[0], object::VAR_SIZE);
        b.ret(&[count]);
    });
    set.add(
        CHECK_ARRAY_KIND,
        &[PTR, PTR],
        &[],
        Effects::READS,
        |b, p, _| {
            let kind = b.load(Width::Ptr, p[0], array::DESCR);
            let same = b.icmp(IntCond::Eq, kind, p[1]);
            check(b, same);
        },
    );
    set.add(BYTES_GET, &[PTR, INT], &[INT], Effects::READS, |b, p, _| {
        let place = BYTE.place(b, p[0], p[1]);
        let item = BYTE.load(b, place, bytes::DATA);
        b.ret(&[item]);
    });
    get_and_set(set, BYTE, bytearray::START, BYTEARRAY_GET, BYTEARRAY_SET);
    for kind in ARRAYS {
        get_and_set(set, kind.number, array::ITEMS, kind.get, kind.set);
    }
}

/// For an object with a pointer to its items at `at`.
fn get_and_set(
    set: &mut Set<'_>,
    number: Number,
    at: i32,
    get_name: &'static str,
    set_name: &'static str,
) {
    let ty = number.width.ty();
    set.add(get_name, &[PTR, INT], &[ty], Effects::READS, |b, p, _| {
        let items = b.load(Width::Ptr, p[0], at);
        let place = number.place(b, items, p[1]);
        let item = number.load(b, place, 0);
        b.ret(&[item]);
    });
    set.add(
        set_name,
        &[PTR, INT, ty],
        &[],
        Effects::WRITES,
        |b, p, _| {
            let items = b.load(Width::Ptr, p[0], at);
            let place = number.place(b, items, p[1]);
            number.store(b, place, p[2]);
        },
    );
}
