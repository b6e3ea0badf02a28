//! Lists, tuples and cells.

use super::Set;
use crate::abi::{cell, list, object, tuple};
use cladonia::facts::Effects;
use cladonia::host::names;
use cladonia::lir::{Builder, HelperId, IntCond, Opcode, Term, Value};
use cladonia::ll::{Ty, Width};

const PTR: Ty = Ty::Ptr;

pub(super) fn define(set: &mut Set<'_>) {
    set.add(
        names::LIST_LEN,
        &[PTR],
        &[Ty::I64],
        Effects::READS,
        |b, p, _| length(b, p),
    );
    set.add(
        names::TUPLE_LEN,
        &[PTR],
        &[Ty::I64],
        Effects::NONE,
        |b, p, _| length(b, p),
    );
    set.add(
        names::LIST_GET,
        &[PTR, Ty::I64],
        &[PTR],
        Effects::READS,
        |b, p, _| {
            let items = b.load(Width::Ptr, p[0], list::ITEMS);
            let place = element(b, items, p[1]);
            let item = b.load(Width::Ptr, place, 0);
            b.ret(&[item]);
        },
    );
    set.add(
        names::LIST_SET,
        &[PTR, Ty::I64, PTR],
        &[PTR],
        Effects::WRITES,
        |b, p, _| {
            let items = b.load(Width::Ptr, p[0], list::ITEMS);
            let place = element(b, items, p[1]);
            let old = b.load(Width::Ptr, place, 0);
            b.store(Width::Ptr, place, 0, p[2]);
            b.ret(&[old]);
        },
    );
    set.add(
        names::LIST_ITEMS,
        &[PTR],
        &[Ty::I64],
        Effects::READS,
        |b, p, _| {
            let items = b.load(Width::I64, p[0], list::ITEMS);
            b.ret(&[items]);
        },
    );
    set.add(
        names::ITEM_GET,
        &[Ty::I64, Ty::I64],
        &[PTR],
        Effects::READS,
        |b, p, _| {
            let items = b.op(Opcode::I2p, &[p[0]]);
            let place = element(b, items, p[1]);
            let item = b.load(Width::Ptr, place, 0);
            b.ret(&[item]);
        },
    );
    set.add(
        names::ITEM_SET,
        &[Ty::I64, Ty::I64, PTR],
        &[PTR],
        Effects::WRITES,
        |b, p, _| {
            let items = b.op(Opcode::I2p, &[p[0]]);
            let place = element(b, items, p[1]);
            let old = b.load(Width::Ptr, place, 0);
            b.store(Width::Ptr, place, 0, p[2]);
            b.ret(&[old]);
        },
    );
    set.add(
        names::LIST_APPEND,
        &[PTR, PTR],
        &[],
        Effects::WRITES,
        |b, p, _| {
            let full = b.cold_block();
            let size = b.load(Width::I64, p[0], object::VAR_SIZE);
            let allocated = b.load(Width::I64, p[0], list::ALLOCATED);
            let room = b.icmp(IntCond::Slt, size, allocated);
            b.guard(room, full);
            let items = b.load(Width::Ptr, p[0], list::ITEMS);
            let place = element(b, items, size);
            b.store(Width::Ptr, place, 0, p[1]);
            let one = b.iconst(1);
            let more = b.op(Opcode::Iadd, &[size, one]);
            b.store(Width::I64, p[0], object::VAR_SIZE, more);
            b.ret(&[]);
            b.switch_to(full);
            b.terminate(Term::Fail);
        },
    );
    set.add(
        names::LIST_SLICE,
        &[PTR, Ty::I64, Ty::I64, Ty::I64],
        &[PTR],
        Effects::WRITES,
        |b, p, context| made_by(b, p, context.list_slice),
    );
    set.add(
        names::NEW_CELL,
        &[PTR],
        &[PTR],
        Effects::WRITES,
        |b, p, context| made_by(b, p, context.new_cell),
    );
    set.add(
        names::BIND_METHOD,
        &[PTR, PTR],
        &[PTR],
        Effects::WRITES,
        |b, p, context| made_by(b, p, context.bind_method),
    );
    set.add(
        names::LIST_COPY_SLICE,
        &[PTR, Ty::I64, Ty::I64, PTR, Ty::I64, Ty::I64, Ty::I64],
        &[],
        Effects::WRITES,
        |b, p, context| {
            let undone = b.cold_block();
            let status = b.call(context.list_copy_slice, p, &[Ty::I64])[0];
            let done = b.icmp_imm(IntCond::Ne, status, 0);
            b.guard(done, undone);
            b.ret(&[]);
            b.switch_to(undone);
            b.terminate(Term::Fail);
        },
    );
    set.add(
        names::TUPLE_GET,
        &[PTR, Ty::I64],
        &[PTR],
        Effects::NONE,
        |b, p, _| {
            let place = element(b, p[0], p[1]);
            let item = b.load(Width::Ptr, place, tuple::ITEMS);
            b.ret(&[item]);
        },
    );
    set.add(
        names::CELL_GET,
        &[PTR],
        &[PTR],
        Effects::READS,
        |b, p, _| {
            let content = b.load(Width::Ptr, p[0], cell::CONTENT);
            b.ret(&[content]);
        },
    );
    set.add(
        names::CELL_SET,
        &[PTR, PTR],
        &[PTR],
        Effects::WRITES,
        |b, p, _| {
            let old = b.load(Width::Ptr, p[0], cell::CONTENT);
            b.store(Width::Ptr, p[0], cell::CONTENT, p[1]);
            b.ret(&[old]);
        },
    );
}

/// Returns the result of a helper; fails if the helper returns null for lack of memory.
fn made_by(b: &mut Builder<'_>, p: &[Value], helper: HelperId) {
    let no_memory = b.cold_block();
    let object = b.call(helper, p, &[PTR])[0];
    let null = b.is_null(object);
    let made = b.op(Opcode::Bnot, &[null]);
    b.guard(made, no_memory);
    b.ret(&[object]);
    b.switch_to(no_memory);
    b.terminate(Term::Fail);
}

fn length(b: &mut Builder<'_>, p: &[Value]) {
    let size = b.load(Width::I64, p[0], object::VAR_SIZE);
    b.ret(&[size]);
}

/// The address of word `index` from `base` on.
pub(super) fn element(b: &mut Builder<'_>, base: Value, index: Value) -> Value {
    let three = b.iconst(3);
    let bytes = b.op(Opcode::Ishl, &[index, three]);
    b.op(Opcode::Padd, &[base, bytes])
}
