//! Names of a namespace, found through their cells: what the interpreter does for `STORE_NAME` and `LOAD_NAME` in a dict
//! whose keys did not change.

use super::{Context, Set};
use crate::abi::{dict, dict_keys as keys};
use crate::namespace::{FAILED, SHAPE_MASK, VERSION_STEP, WATCHERS, cell};
use cladonia::facts::Effects;
use cladonia::host::names;
use cladonia::lir::{Block, Builder, IntCond, Opcode, Term, Value};
use cladonia::ll::{Ty, Width};

pub(super) fn define(set: &mut Set<'_>) {
    set.add(
        names::NAME_GET,
        &[Ty::Ptr; 3],
        &[Ty::Ptr],
        Effects::READS,
        |b, p, context| {
            let slow = b.cold_block();
            let (_, value) = find(b, p, slow);
            b.ret(&[value]);
            b.switch_to(slow);
            let value = b.call(context.find_name, &p[..3], &[Ty::Ptr]);
            b.ret(&value);
        },
    );
    set.add(
        names::NAME_SET,
        &[Ty::Ptr, Ty::Ptr, Ty::Ptr, Ty::Ptr, Ty::I64],
        &[Ty::Ptr],
        Effects::WRITES,
        store,
    );
}

/// The entry of a name and the value there, which is not null; to `slow` if the cell does not tell.
fn find(b: &mut Builder<'_>, p: &[Value], slow: Block) -> (Value, Value) {
    let (namespace, name, place) = (p[0], p[1], p[2]);
    let table = b.load(Width::Ptr, namespace, dict::KEYS);
    let shape = b.load(Width::U32, table, keys::LOG2_SIZE);
    let mask = b.iconst(SHAPE_MASK);
    let shape = b.op(Opcode::Iand, &[shape, mask]);
    let known = b.load(Width::I64, place, cell::SHAPE);
    let same = b.icmp(IntCond::Eq, shape, known);
    b.guard(same, slow);
    let used = b.load(Width::I64, table, keys::NENTRIES);
    let index = b.load(Width::I64, place, cell::INDEX);
    let inside = b.icmp(IntCond::Ult, index, used);
    b.guard(inside, slow);
    let offset = b.load(Width::I64, place, cell::OFFSET);
    let entry = b.op(Opcode::Padd, &[table, offset]);
    let key = b.load(Width::Ptr, entry, 0);
    let same = b.icmp(IntCond::Eq, key, name);
    b.guard(same, slow);
    let value = b.load(Width::Ptr, entry, keys::UNICODE_ENTRY_VALUE);
    let null = b.is_null(value);
    let some = b.op(Opcode::Bnot, &[null]);
    b.guard(some, slow);
    (entry, value)
}

fn store(b: &mut Builder<'_>, p: &[Value], context: &Context) {
    let (namespace, value, notes) = (p[0], p[3], p[4]);
    let slow = b.cold_block();
    if let Some(counter) = context.dict_version {
        let (entry, old) = find(b, p, slow);
        // Who watches the dict must be told, but for those that need not hear of this name.
        let tag = b.load(Width::I64, namespace, dict::VERSION_TAG);
        let mask = b.iconst(WATCHERS);
        let watchers = b.op(Opcode::Iand, &[tag, mask]);
        let all = b.op(Opcode::Ior, &[watchers, notes]);
        let untold = b.icmp(IntCond::Eq, all, notes);
        b.guard(untold, slow);
        // The collector must know of a dict that holds more than atoms.
        let next = b.load(Width::I64, namespace, GC_NEXT);
        let tracked = b.icmp_imm(IntCond::Ne, next, 0);
        b.guard(tracked, slow);
        let counter = b.pconst(counter);
        let version = b.load(Width::I64, counter, 0);
        let step = b.iconst(VERSION_STEP);
        let version = b.op(Opcode::Iadd, &[version, step]);
        b.store(Width::I64, counter, 0, version);
        let own = b.iconst(VERSION_STEP - 1);
        let own = b.op(Opcode::Iand, &[tag, own]);
        let tag = b.op(Opcode::Ior, &[version, own]);
        b.store(Width::I64, namespace, dict::VERSION_TAG, tag);
        b.store(Width::Ptr, entry, keys::UNICODE_ENTRY_VALUE, value);
        b.ret(&[old]);
    } else {
        b.jump(slow, &[]);
    }
    b.switch_to(slow);
    let old = b.call(context.replace_name, &p[..4], &[Ty::Ptr])[0];
    let failed = b.pconst(FAILED as u64);
    let failed = b.icmp(IntCond::Eq, old, failed);
    let (fail, done) = (b.cold_block(), b.block());
    b.br(failed, fail, &[], done, &[]);
    b.switch_to(fail);
    b.terminate(Term::Fail);
    b.switch_to(done);
    b.ret(&[old]);
}

/// `_gc_next` in the header before an object: 0 while the collector does not know of it.
const GC_NEXT: i32 = -16;
