//! Attributes of instances that have, or may have, a dictionary of their own.
//!
//! All take the object first, whose exact class was checked before, and constants last. The pointer
//! to a dictionary is at an offset from the object. A cell remembers the position of a name in the
//! dictionary (as for the names of a namespace), and each use checks it. A name's hash is passed as
//! an address, since it differs in each process.

use super::attributes::store_inline_value;
use super::namespace::{find, replace};
use super::{Context, Set};
use crate::abi::{counts, dict, dict_iter, dict_keys as keys, dict_values, object};
use cladonia::facts::Effects;
use cladonia::lir::{Block, Builder, IntCond, Opcode, Term, Value};
use cladonia::ll::{Ty, Width};

/// `(object, dict, name, hash)`: the dictionary at the offset does not exist or does not have this
/// name.
pub const CHECK_DICT_LACKS: &str = "check_dict_lacks";
/// `(object, valid, place, name, hash)`: if the inline values are in use, the one at `place` is
/// missing; else the dictionary does not have the name.
pub const CHECK_INSTANCE_LACKS: &str = "check_instance_lacks";
/// `(object, valid, keys, count, name, hash)`: if the inline values are in use, the keys still
/// number `count`, so the name is not among them; else the dictionary does not have the name.
pub const CHECK_INSTANCE_KEYS: &str = "check_instance_keys";
/// `(object, dict, name, cell) -> value`: the value in the dictionary at the offset; fails if there
/// is none.
pub const LOAD_DICT_VALUE: &str = "load_dict_value";
/// `(dict, name, cell) -> value`: the value in this dictionary; fails if there is none.
pub const LOAD_GLOBAL_VALUE: &str = "load_global_value";
/// `(object, valid, place, name, cell) -> value`: the inline value at `place` if those are in use,
/// else the value in the dictionary; fails if there is none.
pub const LOAD_INSTANCE_VALUE: &str = "load_instance_value";
/// `(object, value, dict, name, cell) -> old`: replaces the value in the dictionary at the offset;
/// fails if there is none.
pub const STORE_DICT_VALUE: &str = "store_dict_value";
/// `(object, value, values, index, name, cell) -> old`: stores an inline value if those are in use,
/// else replaces the value in the dictionary; fails if there is none.
pub const STORE_INSTANCE_VALUE: &str = "store_instance_value";

/// `(iterator) -> key, value`: advances an iterator of the items of a dict whose next entry is in
/// use; fails at the end, and for anything that is not simple, such as values that instances share
/// keys for.
pub const NEXT_ITEM: &str = "dict_next_item";
/// `(iterator) -> key`: the same of an iterator of the keys.
pub const NEXT_KEY: &str = "dict_next_key";
/// `(iterator) -> value`: the same of an iterator of the values.
pub const NEXT_VALUE: &str = "dict_next_value";

const PTR: Ty = Ty::Ptr;
const INT: Ty = Ty::I64;

pub(super) fn define(set: &mut Set<'_>) {
    let (reads, writes) = (Effects::READS, Effects::WRITES);
    for (name, gives) in [
        (NEXT_ITEM, [true, true]),
        (NEXT_KEY, [true, false]),
        (NEXT_VALUE, [false, true]),
    ] {
        let results = [PTR, PTR];
        let count = gives.iter().filter(|gives| **gives).count();
        set.add(name, &[PTR], &results[..count], writes, |b, p, _| {
            next_entry(b, p[0], gives);
        });
    }
    let params = [PTR, INT, PTR, PTR];
    set.add(CHECK_DICT_LACKS, &params, &[], reads, |b, p, context| {
        dict_lacks(b, p[0], p[1], p[2], p[3], context);
    });
    let params = [PTR, INT, INT, PTR, PTR];
    set.add(
        CHECK_INSTANCE_LACKS,
        &params,
        &[],
        reads,
        |b, p, context| {
            let missing = |b: &mut Builder<'_>| {
                let place = b.op(Opcode::Padd, &[p[0], p[2]]);
                let word = b.load(Width::Ptr, place, 0);
                b.is_null(word)
            };
            instance_lacks(b, p, missing, context);
        },
    );
    let params = [PTR, INT, PTR, INT, PTR, PTR];
    set.add(CHECK_INSTANCE_KEYS, &params, &[], reads, |b, p, context| {
        let same = |b: &mut Builder<'_>| {
            let count = b.load(Width::I64, p[2], keys::NENTRIES);
            b.icmp(IntCond::Eq, count, p[3])
        };
        instance_lacks(b, p, same, context);
    });
    let params = [PTR, INT, PTR, PTR];
    set.add(LOAD_DICT_VALUE, &params, &[PTR], reads, |b, p, context| {
        load_dict(b, p[0], p[1], p[2], p[3], context);
    });
    let params = [PTR, PTR, PTR];
    set.add(
        LOAD_GLOBAL_VALUE,
        &params,
        &[PTR],
        reads,
        |b, p, context| {
            let unset = fail(b);
            value_in(b, p[0], (p[1], p[2]), unset, context);
        },
    );
    let params = [PTR, INT, INT, PTR, PTR];
    set.add(LOAD_INSTANCE_VALUE, &params, &[PTR], reads, load_instance);
    let params = [PTR, PTR, INT, PTR, PTR];
    set.add(
        STORE_DICT_VALUE,
        &params,
        &[PTR],
        writes,
        |b, p, context| {
            store_dict(b, p, p[2], context);
        },
    );
    let params = [PTR, PTR, INT, INT, PTR, PTR];
    set.add(
        STORE_INSTANCE_VALUE,
        &params,
        &[PTR],
        writes,
        store_instance,
    );
}

/// Branches on the byte at the offset: are the object's inline values in use?
fn by_values(b: &mut Builder<'_>, owner: Value, valid: Value) -> (Block, Block) {
    let (inline, own) = (b.block(), b.block());
    let place = b.op(Opcode::Padd, &[owner, valid]);
    let valid = b.load(Width::U8, place, 0);
    let is_valid = b.icmp_imm(IntCond::Ne, valid, 0);
    b.br(is_valid, inline, &[], own, &[]);
    (inline, own)
}

fn managed_dict(b: &mut Builder<'_>) -> Value {
    b.iconst(i64::from(object::MANAGED_DICT))
}

/// A block that fails.
fn fail(b: &mut Builder<'_>) -> Block {
    let (here, fail) = (b.current(), b.cold_block());
    b.switch_to(fail);
    b.terminate(Term::Fail);
    b.switch_to(here);
    fail
}

fn load_instance(b: &mut Builder<'_>, p: &[Value], context: &Context) {
    let (inline, own) = by_values(b, p[0], p[1]);
    b.switch_to(inline);
    let unset = fail(b);
    let place = b.op(Opcode::Padd, &[p[0], p[2]]);
    let value = b.load(Width::Ptr, place, 0);
    let none = b.is_null(value);
    let some = b.op(Opcode::Bnot, &[none]);
    b.guard(some, unset);
    b.ret(&[value]);
    b.switch_to(own);
    let offset = managed_dict(b);
    load_dict(b, p[0], offset, p[3], p[4], context);
}

/// The dictionary at an offset; jumps to `none` if there is none.
fn the_dict(b: &mut Builder<'_>, owner: Value, offset: Value, none: Block) -> Value {
    let place = b.op(Opcode::Padd, &[owner, offset]);
    let dict = b.load(Width::Ptr, place, 0);
    let is_none = b.is_null(dict);
    let some = b.op(Opcode::Bnot, &[is_none]);
    b.guard(some, none);
    dict
}

fn load_dict(
    b: &mut Builder<'_>,
    owner: Value,
    offset: Value,
    name: Value,
    cell: Value,
    context: &Context,
) {
    let unset = fail(b);
    let dict = the_dict(b, owner, offset, unset);
    value_in(b, dict, (name, cell), unset, context);
}

/// Returns the value of a name in a dictionary, found through the name's cell.
fn value_in(
    b: &mut Builder<'_>,
    dict: Value,
    (name, cell): (Value, Value),
    unset: Block,
    context: &Context,
) {
    let slow = b.cold_block();
    let p = [dict, name, cell];
    let (_, value) = find(b, &p, slow);
    b.ret(&[value]);
    b.switch_to(slow);
    let value = b.call(context.find_name, &p, &[Ty::Ptr])[0];
    let none = b.is_null(value);
    let some = b.op(Opcode::Bnot, &[none]);
    b.guard(some, unset);
    b.ret(&[value]);
}

fn store_instance(b: &mut Builder<'_>, p: &[Value], context: &Context) {
    let valid = b.iconst(i64::from(dict_values::VALID));
    let valid = b.op(Opcode::Iadd, &[p[2], valid]);
    let (inline, own) = by_values(b, p[0], valid);
    b.switch_to(inline);
    store_inline_value(b, p[0], p[1], p[2], p[3]);
    b.switch_to(own);
    let offset = managed_dict(b);
    store_dict(b, &[p[0], p[1], offset, p[4], p[5]], offset, context);
}

/// `p` has the owner, the value, the offset, the name and the cell.
fn store_dict(b: &mut Builder<'_>, p: &[Value], offset: Value, context: &Context) {
    let (unset, slow) = (fail(b), b.cold_block());
    let dict = the_dict(b, p[0], offset, unset);
    let p = [dict, p[3], p[4], p[1]];
    replace(b, &p, None, context, slow);
    b.switch_to(slow);
    let old = b.call(context.replace_value, &p, &[Ty::Ptr])[0];
    let none = b.is_null(old);
    let some = b.op(Opcode::Bnot, &[none]);
    b.guard(some, unset);
    b.ret(&[old]);
}

/// `p` begins with the object and the offset of the byte, and ends with the name and its hash.
fn instance_lacks(
    b: &mut Builder<'_>,
    p: &[Value],
    inline_lacks: impl FnOnce(&mut Builder<'_>) -> Value,
    context: &Context,
) {
    let (inline, own) = by_values(b, p[0], p[1]);
    b.switch_to(inline);
    let fails = fail(b);
    let lacks = inline_lacks(b);
    b.guard(lacks, fails);
    b.ret(&[]);
    b.switch_to(own);
    let offset = managed_dict(b);
    dict_lacks(b, p[0], offset, p[p.len() - 2], p[p.len() - 1], context);
}

fn dict_lacks(
    b: &mut Builder<'_>,
    owner: Value,
    offset: Value,
    name: Value,
    hash: Value,
    context: &Context,
) {
    let (fails, slow, none) = (fail(b), b.cold_block(), b.block());
    let dict = the_dict(b, owner, offset, none);
    let table = b.load(Width::Ptr, dict, dict::KEYS);
    let kind = b.load(Width::U8, table, keys::KIND);
    let strings = b.icmp_imm(IntCond::Eq, kind, i64::from(keys::KIND_UNICODE));
    b.guard(strings, slow);
    let log2 = b.load(Width::U8, table, keys::LOG2_SIZE);
    let bits = b.load(Width::U8, table, keys::LOG2_INDEX_BYTES);
    let bytes = b.icmp(IntCond::Eq, log2, bits);
    b.guard(bytes, slow);
    // The first place of the probe sequence: if it was never used, the dictionary does not have the
    // name.
    let one = b.iconst(1);
    let size = b.op(Opcode::Ishl, &[one, log2]);
    let mask = b.op(Opcode::Isub, &[size, one]);
    let hash = b.op(Opcode::P2i, &[hash]);
    let first = b.op(Opcode::Iand, &[hash, mask]);
    let place = b.op(Opcode::Padd, &[table, first]);
    let index = b.load(Width::U8, place, keys::INDICES);
    let empty = b.icmp_imm(IntCond::Eq, index, keys::EMPTY.into());
    b.guard(empty, slow);
    b.jump(none, &[]);
    b.switch_to(none);
    b.ret(&[]);
    b.switch_to(slow);
    let has = b.call(context.dict_may_have, &[dict, name], &[Ty::I64])[0];
    let lacks = b.icmp_imm(IntCond::Eq, has, 0);
    b.guard(lacks, fails);
    b.ret(&[]);
}

/// The key, the value or both of the entry at the position of an iterator, if the dict has not
/// changed its size.
fn next_entry(b: &mut Builder<'_>, iter: Value, gives: [bool; 2]) {
    let fail = b.cold_block();
    let go_if = |b: &mut Builder<'_>, cond: Value| {
        let go = b.block();
        b.br(cond, go, &[], fail, &[]);
        b.switch_to(go);
    };
    let table = b.load(Width::Ptr, iter, dict_iter::DICT);
    let none = b.is_null(table);
    let some = b.op(Opcode::Bnot, &[none]);
    go_if(b, some);
    let (used, now) = (
        b.load(Width::I64, iter, dict_iter::USED),
        b.load(Width::I64, table, dict::USED),
    );
    let same = b.icmp(IntCond::Eq, used, now);
    go_if(b, same);
    let left = b.load(Width::I64, iter, dict_iter::LEFT);
    let more = b.icmp_imm(IntCond::Sgt, left, 0);
    go_if(b, more);
    let values = b.load(Width::Ptr, table, dict::VALUES);
    let combined = b.is_null(values);
    go_if(b, combined);
    let names = b.load(Width::Ptr, table, dict::KEYS);
    let position = b.load(Width::I64, iter, dict_iter::POSITION);
    let count = b.load(Width::I64, names, keys::NENTRIES);
    let inside = b.icmp(IntCond::Slt, position, count);
    go_if(b, inside);
    let one = b.iconst(1);
    let log2 = b.load(Width::U8, names, keys::LOG2_INDEX_BYTES);
    let index_bytes = b.op(Opcode::Ishl, &[one, log2]);
    let entries = b.op(Opcode::Padd, &[names, index_bytes]);
    let kind = b.load(Width::U8, names, keys::KIND);
    let general = b.icmp_imm(IntCond::Eq, kind, keys::KIND_GENERAL.into());
    let (hashed, text, found) = (b.block(), b.block(), b.block());
    let (key, value) = (b.param(found, PTR), b.param(found, PTR));
    b.br(general, hashed, &[], text, &[]);
    let forms = [
        (
            hashed,
            keys::GENERAL_ENTRY_SIZE,
            keys::GENERAL_ENTRY_KEY,
            keys::GENERAL_ENTRY_VALUE,
        ),
        (text, keys::UNICODE_ENTRY_SIZE, 0, keys::UNICODE_ENTRY_VALUE),
    ];
    for (form, size, of_key, of_value) in forms {
        b.switch_to(form);
        let size = b.iconst(size.into());
        let offset = b.op(Opcode::Imul, &[position, size]);
        let entry = b.op(Opcode::Padd, &[entries, offset]);
        let key = b.load(Width::Ptr, entry, keys::INDICES + of_key);
        let value = b.load(Width::Ptr, entry, keys::INDICES + of_value);
        b.jump(found, &[key, value]);
    }
    b.switch_to(found);
    let hole = b.is_null(value);
    let filled = b.op(Opcode::Bnot, &[hole]);
    go_if(b, filled);
    let next = b.op(Opcode::Iadd, &[position, one]);
    b.store(Width::I64, iter, dict_iter::POSITION, next);
    let fewer = b.op(Opcode::Isub, &[left, one]);
    b.store(Width::I64, iter, dict_iter::LEFT, fewer);
    let given = [key, value].into_iter().zip(gives);
    let given: Vec<Value> = given.filter_map(|(v, is)| is.then_some(v)).collect();
    given.iter().for_each(|v| counts::take(b, *v));
    b.ret(&given);
    b.switch_to(fail);
    b.terminate(Term::Fail);
}
