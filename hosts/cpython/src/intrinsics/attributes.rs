//! The building blocks of access plans: checks of an object's dictionary and values, loads and
//! stores of fields.
//!
//! All of them take the object first, whose exact class was checked before (or is checked by this
//! one), and constants last. Offsets count from the object's address. A check has no result, and
//! fails if the plan does not apply.

use super::Set;
use super::containers::element;
use crate::abi::{counts, dict, dict_keys, dict_values, function, object, tuple};
use cladonia::facts::Effects;
use cladonia::lir::{Builder, IntCond, Opcode, Term, Value};
use cladonia::ll::{Ty, Width};
use pyo3_ffi::{PyFloat_Type, PyFunction_Type, PyLong_Type, PyUnicode_Type};

/// `(object, class)`: the object is of exactly this class, which lives forever.
pub const CHECK_CLASS: &str = "check_class";
/// `(object, valid)`: the inline values, whose `valid` byte is at that offset, are in use.
pub const CHECK_INLINE_VALUES: &str = "check_inline_values";
/// `(object, place)`: the word at the offset is null: an inline value that is not set, or a
/// dictionary that does not exist.
pub const CHECK_NULL: &str = "check_null";
/// `(object, place)`: the dictionary at the offset is empty.
pub const CHECK_NO_ENTRIES: &str = "check_no_entries";
/// `(object, count)`: the tuple has so many items.
pub const CHECK_SIZE: &str = "check_size";
/// `(object, (keys, count)...)`: the shared keys of the instances of each of these classes have not
/// grown. So a name that was not among them is on no instance with inline values. Keys never
/// shrink, so it is enough to check the sum of their numbers.
pub const CHECK_SHARED_KEYS: [&str; 6] = [
    "check_shared_keys",
    "check_shared_keys2",
    "check_shared_keys3",
    "check_shared_keys4",
    "check_shared_keys5",
    "check_shared_keys6",
];
/// `(object, place) -> value`: a slot or inline value; fails if it is not set.
pub const LOAD_FIELD: &str = "load_field";
/// `(object, index) -> value`: an item of a tuple; fails if the tuple is too short.
pub const LOAD_ITEM: &str = "load_item";
/// `(object, value, place) -> old`: stores a slot; the old value may be null.
pub const STORE_SLOT: &str = "store_slot";
/// `(object, place)`: dropping the contents of a slot or inline value is not observable: it is
/// null, an object with other references, or one of a class whose objects own no others and have no
/// finaliser.
pub const CHECK_QUIET_SLOT: &str = "check_quiet_slot";
/// `(object, value, values, index) -> old`: stores an inline value; `values` is the offset of the
/// values' header. Fails if the values are not in use or the object has a dictionary.
pub const STORE_INLINE_VALUE: &str = "store_inline_value";

/// `(object, value, values, index, position) -> null`: stores the inline value of a name that a new
/// object does not have yet; the object has `position` values.
pub const STORE_FIRST_VALUE: &str = "store_first_value";

/// `(class) -> object`: a new instance of a user-defined class that allocates as `object` does;
/// fails if there is no memory.
pub const NEW_INSTANCE: &str = "new_instance";

/// `(class, count) -> object`: a new instance of a class derived from `tuple`, with room for so
/// many items that are not set yet; fails if there is no memory.
pub const NEW_TUPLE: &str = "new_tuple";
/// `(object, value, index) -> ()`: sets an item of a new tuple.
pub const STORE_ITEM: &str = "store_item";

/// `(function, code, globals, builtins) -> ()`: the function has these parts.
pub const CHECK_FUNCTION: &str = "check_function";

/// `(object, code, globals, builtins) -> bool`: the object is a function with these parts.
pub const IS_FUNCTION: &str = "is_function";

/// `(function, number) -> cell`: a cell of a function's closure.
pub const CLOSURE_CELL: &str = "closure_cell";

/// `(function, from_end) -> value`: a default of a parameter that may be given by position, the
/// last one if `from_end` is 1; fails if there are not so many.
pub const FUNCTION_DEFAULT: &str = "function_default";

const PTR: Ty = Ty::Ptr;
const INT: Ty = Ty::I64;

pub(super) fn define(set: &mut Set<'_>) {
    set.add(
        CHECK_INLINE_VALUES,
        &[PTR, INT],
        &[],
        Effects::READS,
        |b, p, _| {
            let place = b.op(Opcode::Padd, &[p[0], p[1]]);
            let valid = b.load(Width::U8, place, 0);
            let is_valid = b.icmp_imm(IntCond::Ne, valid, 0);
            check(b, is_valid);
        },
    );
    set.add(CHECK_CLASS, &[PTR, PTR], &[], Effects::READS, |b, p, _| {
        let class = b.load(Width::Ptr, p[0], object::TYPE);
        let same = b.icmp(IntCond::Eq, class, p[1]);
        check(b, same);
    });
    set.add(
        CHECK_FUNCTION,
        &[PTR, PTR, PTR, PTR],
        &[],
        Effects::READS,
        |b, p, _| {
            let same = has_parts(b, p);
            check(b, same);
        },
    );
    set.add(
        IS_FUNCTION,
        &[PTR, PTR, PTR, PTR],
        &[Ty::Bool],
        Effects::READS,
        |b, p, _| {
            let (is_one, done) = (b.block(), b.block());
            let answer = b.param(done, Ty::Bool);
            let class = b.load(Width::Ptr, p[0], object::TYPE);
            let functions = b.pconst(&raw mut PyFunction_Type as u64);
            let is_function = b.icmp(IntCond::Eq, class, functions);
            b.br(is_function, is_one, &[], done, &[is_function]);
            b.switch_to(is_one);
            let same = has_parts(b, p);
            b.jump(done, &[same]);
            b.switch_to(done);
            b.ret(&[answer]);
        },
    );
    set.add(
        CLOSURE_CELL,
        &[PTR, INT],
        &[PTR],
        Effects::NONE,
        |b, p, _| {
            let closure = b.load(Width::Ptr, p[0], function::CLOSURE);
            let place = element(b, closure, p[1]);
            let cell = b.load(Width::Ptr, place, tuple::ITEMS);
            b.ret(&[cell]);
        },
    );
    set.add(
        FUNCTION_DEFAULT,
        &[PTR, INT],
        &[PTR],
        Effects::READS,
        |b, p, _| {
            let fail = b.cold_block();
            let defaults = b.load(Width::Ptr, p[0], function::DEFAULTS);
            let none = b.is_null(defaults);
            let some = b.op(Opcode::Bnot, &[none]);
            b.guard(some, fail);
            let count = b.load(Width::I64, defaults, object::VAR_SIZE);
            let index = b.op(Opcode::Isub, &[count, p[1]]);
            let has = b.icmp(IntCond::Ult, index, count);
            b.guard(has, fail);
            let place = element(b, defaults, index);
            let value = b.load(Width::Ptr, place, tuple::ITEMS);
            b.ret(&[value]);
            b.switch_to(fail);
            b.terminate(Term::Fail);
        },
    );
    set.add(CHECK_NULL, &[PTR, INT], &[], Effects::READS, |b, p, _| {
        let place = b.op(Opcode::Padd, &[p[0], p[1]]);
        let word = b.load(Width::Ptr, place, 0);
        let none = b.is_null(word);
        check(b, none);
    });
    set.add(CHECK_SIZE, &[PTR, INT], &[], Effects::READS, |b, p, _| {
        let size = b.load(Width::I64, p[0], object::VAR_SIZE);
        let same = b.icmp(IntCond::Eq, size, p[1]);
        check(b, same);
    });
    set.add(
        CHECK_NO_ENTRIES,
        &[PTR, INT],
        &[],
        Effects::READS,
        |b, p, _| {
            let place = b.op(Opcode::Padd, &[p[0], p[1]]);
            let dictionary = b.load(Width::Ptr, place, 0);
            let count = b.load(Width::I64, dictionary, dict::USED);
            let empty = b.icmp_imm(IntCond::Eq, count, 0);
            check(b, empty);
        },
    );
    for (more, name) in CHECK_SHARED_KEYS.into_iter().enumerate() {
        let mut params = vec![PTR, PTR, INT];
        params.extend([PTR, INT].repeat(more));
        set.add(name, &params, &[], Effects::READS, |b, p, _| {
            let mut sums: Option<(Value, Value)> = None;
            for pair in p[1..].chunks(2) {
                let count = b.load(Width::I64, pair[0], dict_keys::NENTRIES);
                sums = Some(match sums {
                    None => (count, pair[1]),
                    Some((found, expected)) => (
                        b.op(Opcode::Iadd, &[found, count]),
                        b.op(Opcode::Iadd, &[expected, pair[1]]),
                    ),
                });
            }
            let (found, expected) = sums.expect("a class");
            let same = b.icmp(IntCond::Eq, found, expected);
            check(b, same);
        });
    }
    set.add(LOAD_ITEM, &[PTR, INT], &[PTR], Effects::READS, |b, p, _| {
        let fail = b.cold_block();
        let count = b.load(Width::I64, p[0], object::VAR_SIZE);
        let has = b.icmp(IntCond::Ult, p[1], count);
        b.guard(has, fail);
        let place = element(b, p[0], p[1]);
        let item = b.load(Width::Ptr, place, tuple::ITEMS);
        b.ret(&[item]);
        b.switch_to(fail);
        b.terminate(Term::Fail);
    });
    set.add(
        LOAD_FIELD,
        &[PTR, INT],
        &[PTR],
        Effects::READS,
        |b, p, _| {
            let (unset, set) = (b.cold_block(), b.block());
            let place = b.op(Opcode::Padd, &[p[0], p[1]]);
            let value = b.load(Width::Ptr, place, 0);
            let none = b.is_null(value);
            b.br(none, unset, &[], set, &[]);
            b.switch_to(set);
            b.ret(&[value]);
            b.switch_to(unset);
            b.terminate(Term::Fail);
        },
    );
    set.add(
        STORE_SLOT,
        &[PTR, PTR, INT],
        &[PTR],
        Effects::WRITES,
        |b, p, _| {
            let place = b.op(Opcode::Padd, &[p[0], p[2]]);
            let old = b.load(Width::Ptr, place, 0);
            b.store(Width::Ptr, place, 0, p[1]);
            b.ret(&[old]);
        },
    );
    set.add(
        NEW_INSTANCE,
        &[PTR],
        &[PTR],
        Effects::WRITES,
        |b, p, context| {
            let made = b.call(context.new_instance, &[p[0]], &[Ty::Ptr])[0];
            made_or_fail(b, made);
        },
    );
    set.add(
        NEW_TUPLE,
        &[PTR, INT],
        &[PTR],
        Effects::WRITES,
        |b, p, context| {
            let made = b.call(context.new_tuple, &[p[0], p[1]], &[Ty::Ptr])[0];
            made_or_fail(b, made);
        },
    );
    set.add(
        STORE_ITEM,
        &[PTR, PTR, INT],
        &[],
        Effects::WRITES,
        |b, p, _| {
            let place = element(b, p[0], p[2]);
            b.store(Width::Ptr, place, tuple::ITEMS, p[1]);
            b.ret(&[]);
        },
    );
    set.add(
        CHECK_QUIET_SLOT,
        &[PTR, INT],
        &[],
        Effects::READS,
        |b, p, _| {
            let (some, last, fine, fail) = (b.block(), b.block(), b.block(), b.cold_block());
            let place = b.op(Opcode::Padd, &[p[0], p[1]]);
            let old = b.load(Width::Ptr, place, 0);
            let none = b.is_null(old);
            b.br(none, fine, &[], some, &[]);
            b.switch_to(some);
            let only = counts::is_only(b, old);
            b.br(only, last, &[], fine, &[]);
            b.switch_to(last);
            let class = b.load(Width::Ptr, old, object::TYPE);
            for quiet in [
                &raw mut PyFloat_Type,
                &raw mut PyLong_Type,
                &raw mut PyUnicode_Type,
            ] {
                let next = b.block();
                let quiet = b.pconst(quiet as u64);
                let same = b.icmp(IntCond::Eq, class, quiet);
                b.br(same, fine, &[], next, &[]);
                b.switch_to(next);
            }
            b.jump(fail, &[]);
            b.switch_to(fine);
            b.ret(&[]);
            b.switch_to(fail);
            b.terminate(Term::Fail);
        },
    );
    set.add(
        STORE_INLINE_VALUE,
        &[PTR, PTR, INT, INT],
        &[PTR],
        Effects::WRITES,
        |b, p, _| {
            store_inline_value(b, p[0], p[1], p[2], p[3]);
        },
    );
    set.add(
        STORE_FIRST_VALUE,
        &[PTR, PTR, INT, INT, INT],
        &[PTR],
        Effects::WRITES,
        |b, p, _| {
            let values = b.op(Opcode::Padd, &[p[0], p[2]]);
            let place = value_place(b, values, p[3]);
            b.store(Width::Ptr, place, dict_values::VALUES, p[1]);
            put_in_order(b, values, p[4], p[3]);
            let null = b.pconst(0);
            b.ret(&[null]);
        },
    );
}

/// True if the function `p[0]` has the code, globals and builtins behind it.
fn has_parts(b: &mut Builder<'_>, p: &[Value]) -> Value {
    let fields = [function::CODE, function::GLOBALS, function::BUILTINS];
    let differ = fields.into_iter().zip(&p[1..]).map(|(field, want)| {
        let found = b.load(Width::I64, p[0], field);
        let want = b.op(Opcode::P2i, &[*want]);
        b.op(Opcode::Ixor, &[found, want])
    });
    let differ: Vec<Value> = differ.collect();
    let some = b.op(Opcode::Ior, &[differ[0], differ[1]]);
    let some = b.op(Opcode::Ior, &[some, differ[2]]);
    b.icmp_imm(IntCond::Eq, some, 0)
}

/// Returns a new object, or fails if it is null.
fn made_or_fail(b: &mut Builder<'_>, made: Value) {
    let fail = b.cold_block();
    let none = b.is_null(made);
    let there = b.op(Opcode::Bnot, &[none]);
    b.guard(there, fail);
    b.ret(&[made]);
    b.switch_to(fail);
    b.terminate(Term::Fail);
}

/// Continues if `cond` holds, and ends the intrinsic on both paths.
pub(super) fn check(b: &mut Builder<'_>, cond: Value) {
    let fail = b.cold_block();
    b.guard(cond, fail);
    b.ret(&[]);
    b.switch_to(fail);
    b.terminate(Term::Fail);
}

pub(super) fn store_inline_value(
    b: &mut Builder<'_>,
    owner: Value,
    value: Value,
    values_at: Value,
    index: Value,
) {
    let (fail, first, done) = (b.cold_block(), b.cold_block(), b.block());
    let dict = b.load(Width::Ptr, owner, object::MANAGED_DICT);
    let no_dict = b.is_null(dict);
    b.guard(no_dict, fail);
    let values = b.op(Opcode::Padd, &[owner, values_at]);
    let valid = b.load(Width::U8, values, dict_values::VALID);
    let is_valid = b.icmp_imm(IntCond::Ne, valid, 0);
    b.guard(is_valid, fail);
    let place = value_place(b, values, index);
    let old = b.load(Width::Ptr, place, dict_values::VALUES);
    b.store(Width::Ptr, place, dict_values::VALUES, value);
    let is_first = b.is_null(old);
    b.br(is_first, first, &[], done, &[]);
    b.switch_to(done);
    b.ret(&[old]);
    b.switch_to(first);
    let used = b.load(Width::U8, values, dict_values::USED);
    put_in_order(b, values, used, index);
    b.jump(done, &[]);
    b.switch_to(fail);
    b.terminate(Term::Fail);
}

/// The address of an inline value, without the header.
fn value_place(b: &mut Builder<'_>, values: Value, index: Value) -> Value {
    let three = b.iconst(3);
    let bytes = b.op(Opcode::Ishl, &[index, three]);
    b.op(Opcode::Padd, &[values, bytes])
}

/// Appends the index of a new inline value to the order of insertion, an array of bytes behind the
/// values, of which `used` are used.
fn put_in_order(b: &mut Builder<'_>, values: Value, used: Value, index: Value) {
    let capacity = b.load(Width::U8, values, dict_values::CAPACITY);
    let order = value_place(b, values, capacity);
    let end = b.op(Opcode::Padd, &[order, used]);
    b.store(Width::U8, end, dict_values::VALUES, index);
    let one = b.iconst(1);
    let more = b.op(Opcode::Iadd, &[used, one]);
    b.store(Width::U8, values, dict_values::USED, more);
}
