//! Items of `bytes`, `bytearray` and `array.array`: numbers in memory.
//!
//! All take the object first, whose exact class has been checked, then an offset in range, and the number to store. What the
//! number does not fit fails before anything is done.

use super::Set;
use super::attributes::check;
use crate::abi::{bytearray, bytes, object};
use cladonia::facts::Effects;
use cladonia::lir::{Builder, IntCond, Opcode, Term, Value};
use cladonia::ll::{Ty, Width};

/// `arrayobject` of the module `array`, which is in no header: what arrays are that are found to lie so (`world::raw_items`).
pub mod array {
    /// `ob_item`.
    pub const ITEMS: i32 = 24;
    /// `ob_descr`.
    pub const DESCR: i32 = 40;
    /// Size of the struct.
    pub const SIZE: i32 = 64;
}

/// `(object) -> i64`: how many items it has.
pub const ITEM_COUNT: &str = "item_count";
/// `(array, kind)`: the array's items are of the kind that its descriptor, at that address, is of.
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
    /// How many bytes it has, as a power of two.
    log2_size: u32,
    /// Whether it has a sign that a load of its width does not extend.
    is_extended: bool,
}

impl Number {
    const fn new(width: Width, log2_size: u32) -> Number {
        Number {
            width,
            log2_size,
            is_extended: false,
        }
    }

    const fn signed(width: Width, log2_size: u32) -> Number {
        Number {
            width,
            log2_size,
            is_extended: true,
        }
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        self.width == Width::F64
    }

    /// How many bytes it has.
    pub fn size(self) -> usize {
        1 << self.log2_size
    }

    fn ty(self) -> Ty {
        match self.is_float() {
            true => Ty::F64,
            false => Ty::I64,
        }
    }

    /// How many bits a 64-bit integer has beyond its own.
    fn spare_bits(self) -> i64 {
        64 - (8 << self.log2_size)
    }

    fn place(self, b: &mut Builder<'_>, items: Value, offset: Value) -> Value {
        let shift = b.iconst(i64::from(self.log2_size));
        let bytes = match self.log2_size {
            0 => offset,
            _ => b.op(Opcode::Ishl, &[offset, shift]),
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
        match self.is_extended {
            true => self.extend(b, raw),
            false => raw,
        }
    }

    /// Store an integer, or fail if it is none of these.
    fn store(self, b: &mut Builder<'_>, place: Value, raw: Value) {
        let fail = b.cold_block();
        if !self.is_float() && self.spare_bits() > 0 {
            let is_signed = self.is_extended || self.width == Width::I32;
            let same = match is_signed {
                true => self.extend(b, raw),
                false => {
                    let mask = b.iconst((u64::MAX >> self.spare_bits()) as i64);
                    b.op(Opcode::Iand, &[raw, mask])
                }
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

const BYTE: Number = Number::new(Width::U8, 0);

/// The kinds of arrays whose numbers are all 64-bit integers or doubles.
pub const ARRAYS: &[ArrayKind] = &[
    ArrayKind {
        code: b'd',
        number: Number::new(Width::F64, 3),
        get: "array_get_d",
        set: "array_set_d",
    },
    ArrayKind {
        code: b'b',
        number: Number::signed(Width::U8, 0),
        get: "array_get_b",
        set: "array_set_b",
    },
    ArrayKind {
        code: b'B',
        number: BYTE,
        get: "array_get_B",
        set: "array_set_B",
    },
    ArrayKind {
        code: b'h',
        number: Number::signed(Width::U16, 1),
        get: "array_get_h",
        set: "array_set_h",
    },
    ArrayKind {
        code: b'H',
        number: Number::new(Width::U16, 1),
        get: "array_get_H",
        set: "array_set_H",
    },
    ArrayKind {
        code: b'i',
        number: Number::new(Width::I32, 2),
        get: "array_get_i",
        set: "array_set_i",
    },
    ArrayKind {
        code: b'I',
        number: Number::new(Width::U32, 2),
        get: "array_get_I",
        set: "array_set_I",
    },
    ArrayKind {
        code: b'l',
        number: Number::new(Width::I64, 3),
        get: "array_get_l",
        set: "array_set_l",
    },
    ArrayKind {
        code: b'q',
        number: Number::new(Width::I64, 3),
        get: "array_get_q",
        set: "array_set_q",
    },
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
        &[PTR, INT],
        &[],
        Effects::READS,
        |b, p, _| {
            let kind = b.load(Width::Ptr, p[0], array::DESCR);
            let expected = b.op(Opcode::I2p, &[p[1]]);
            let same = b.icmp(IntCond::Eq, kind, expected);
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

/// Of an object with a pointer to its items at `at`.
fn get_and_set(
    set: &mut Set<'_>,
    number: Number,
    at: i32,
    get_name: &'static str,
    set_name: &'static str,
) {
    let ty = number.ty();
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
