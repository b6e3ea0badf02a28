//! Iterators of ranges, lists and tuples, advanced in place.

use super::Set;
use super::containers::element;
use crate::abi::{list, list_iter, object, range_iter, tuple, tuple_iter};
use cladonia::facts::Effects;
use cladonia::host::names;
use cladonia::lir::{Builder, HelperId, IntCond, Opcode, Value};
use cladonia::ll::{Ty, Width};

pub(super) fn define(set: &mut Set<'_>) {
    set.add(
        names::RANGE_NEXT,
        &[Ty::Ptr],
        &[Ty::I64, Ty::Bool],
        Effects::WRITES,
        |b, p, _| {
            let (more, end) = (b.block(), b.block());
            let length = b.load(Width::I64, p[0], range_iter::LEN);
            let some = b.icmp_imm(IntCond::Sgt, length, 0);
            b.br(some, more, &[], end, &[]);
            b.switch_to(more);
            let value = b.load(Width::I64, p[0], range_iter::START);
            let step = b.load(Width::I64, p[0], range_iter::STEP);
            let next = b.op(Opcode::Iadd, &[value, step]);
            b.store(Width::I64, p[0], range_iter::START, next);
            let one = b.iconst(1);
            let left = b.op(Opcode::Isub, &[length, one]);
            b.store(Width::I64, p[0], range_iter::LEN, left);
            let yes = b.bconst(true);
            b.ret(&[value, yes]);
            b.switch_to(end);
            let (zero, no) = (b.iconst(0), b.bconst(false));
            b.ret(&[zero, no]);
        },
    );
    for (name, offset) in [
        (names::RANGE_START, range_iter::START),
        (names::RANGE_STEP, range_iter::STEP),
        (names::RANGE_LEFT, range_iter::LEN),
    ] {
        set.add(name, &[Ty::Ptr], &[Ty::I64], Effects::READS, |b, p, _| {
            let field = b.load(Width::I64, p[0], offset);
            b.ret(&[field]);
        });
    }
    set.add(
        names::RANGE_PUT,
        &[Ty::Ptr, Ty::I64, Ty::I64],
        &[],
        Effects::WRITES,
        |b, p, _| {
            b.store(Width::I64, p[0], range_iter::START, p[1]);
            b.store(Width::I64, p[0], range_iter::LEN, p[2]);
            b.ret(&[]);
        },
    );
    for (name, seq, index) in [
        (names::LIST_ITER_MORE, list_iter::SEQ, list_iter::INDEX),
        (names::TUPLE_ITER_MORE, tuple_iter::SEQ, tuple_iter::INDEX),
    ] {
        set.add(name, &[Ty::Ptr], &[Ty::Bool], Effects::READS, |b, p, _| {
            let (open, closed) = (b.block(), b.cold_block());
            let items = b.load(Width::Ptr, p[0], seq);
            let none = b.is_null(items);
            b.br(none, closed, &[], open, &[]);
            b.switch_to(open);
            let index = b.load(Width::I64, p[0], index);
            let size = b.load(Width::I64, items, object::VAR_SIZE);
            let more = b.icmp(IntCond::Ult, index, size);
            b.ret(&[more]);
            b.switch_to(closed);
            let no = b.bconst(false);
            b.ret(&[no]);
        });
    }
    // At the end the iterator drops its list or tuple, which may die and take anything with it.
    let effects = Effects {
        raises: false,
        ..Effects::ANY
    };
    set.add(
        names::LIST_ITER_NEXT,
        &[Ty::Ptr],
        &[Ty::Ptr],
        effects,
        |b, p, context| {
            next(
                b,
                p[0],
                list_iter::SEQ,
                list_iter::INDEX,
                context.iter_end,
                |b, seq, index| {
                    let items = b.load(Width::Ptr, seq, list::ITEMS);
                    let place = element(b, items, index);
                    b.load(Width::Ptr, place, 0)
                },
            );
        },
    );
    set.add(
        names::TUPLE_ITER_NEXT,
        &[Ty::Ptr],
        &[Ty::Ptr],
        effects,
        |b, p, context| {
            next(
                b,
                p[0],
                tuple_iter::SEQ,
                tuple_iter::INDEX,
                context.iter_end,
                |b, seq, index| {
                    let place = element(b, seq, index);
                    b.load(Width::Ptr, place, tuple::ITEMS)
                },
            );
        },
    );
}

fn next(
    b: &mut Builder<'_>,
    iter: Value,
    seq_at: i32,
    index_at: i32,
    iter_end: HelperId,
    item: impl FnOnce(&mut Builder<'_>, Value, Value) -> Value,
) {
    let (open, more, end, over) = (b.block(), b.block(), b.cold_block(), b.cold_block());
    let seq = b.load(Width::Ptr, iter, seq_at);
    let closed = b.is_null(seq);
    b.br(closed, over, &[], open, &[]);
    b.switch_to(open);
    let index = b.load(Width::I64, iter, index_at);
    let size = b.load(Width::I64, seq, object::VAR_SIZE);
    // Unsigned: a negative index is past the end too.
    let some = b.icmp(IntCond::Ult, index, size);
    b.br(some, more, &[], end, &[]);
    b.switch_to(more);
    let item = item(b, seq, index);
    let one = b.iconst(1);
    let following = b.op(Opcode::Iadd, &[index, one]);
    b.store(Width::I64, iter, index_at, following);
    b.ret(&[item]);
    b.switch_to(end);
    b.call(iter_end, &[iter], &[]);
    b.jump(over, &[]);
    b.switch_to(over);
    let null = b.pconst(0);
    b.ret(&[null]);
}
