//! Iterators of ranges, lists and tuples, advanced in place.

use super::Set;
use super::attributes::check;
use super::containers::element;
use super::numbers::int_unbox;
use crate::abi::{
    counts, list, list_iter, list_reverse_iter, object, range, range_iter, tuple, tuple_iter,
};
use cladonia::facts::Effects;
use cladonia::host::names;
use cladonia::lir::{Builder, IntCond, Opcode, Term, Value};
use cladonia::ll::{Ty, Width};

/// `(object, place)`: the number at the offset is far from the largest one.
pub const CHECK_NUMBER: &str = "check_number";
/// `(object, place) -> number`: adds 1 to the number at the offset; returns the one of before.
pub const COUNT_ON: &str = "count_on";
/// `(iterator) -> item`: advances an iterator over a list from its end; fails when it has ended.
pub const REVERSE_NEXT: &str = "list_reverse_next";
/// `(object, place)`: the C int at the offset is 0.
pub const CHECK_NO_FLAG: &str = "check_no_flag";

pub(super) fn define(set: &mut Set<'_>) {
    set.add(
        CHECK_NUMBER,
        &[Ty::Ptr, Ty::I64],
        &[],
        Effects::READS,
        |b, p, _| {
            let place = b.op(Opcode::Padd, &[p[0], p[1]]);
            let number = b.load(Width::I64, place, 0);
            // No loop counts from here to the end.
            let far = b.icmp_imm(IntCond::Slt, number, 1 << 62);
            check(b, far);
        },
    );
    set.add(
        CHECK_NO_FLAG,
        &[Ty::Ptr, Ty::I64],
        &[],
        Effects::READS,
        |b, p, _| {
            let place = b.op(Opcode::Padd, &[p[0], p[1]]);
            let flag = b.load(Width::I32, place, 0);
            let none = b.icmp_imm(IntCond::Eq, flag, 0);
            check(b, none);
        },
    );
    set.add(
        COUNT_ON,
        &[Ty::Ptr, Ty::I64],
        &[Ty::I64],
        Effects::WRITES,
        |b, p, _| {
            let place = b.op(Opcode::Padd, &[p[0], p[1]]);
            let number = b.load(Width::I64, place, 0);
            let one = b.iconst(1);
            let next = b.op(Opcode::Iadd, &[number, one]);
            b.store(Width::I64, place, 0, next);
            b.ret(&[number]);
        },
    );
    set.add(
        REVERSE_NEXT,
        &[Ty::Ptr],
        &[Ty::Ptr],
        Effects::WRITES,
        |b, p, _| {
            let (open, inside, fail) = (b.block(), b.block(), b.cold_block());
            let items = b.load(Width::Ptr, p[0], list_reverse_iter::SEQ);
            let none = b.is_null(items);
            b.br(none, fail, &[], open, &[]);
            b.switch_to(open);
            let index = b.load(Width::I64, p[0], list_reverse_iter::INDEX);
            let size = b.load(Width::I64, items, object::VAR_SIZE);
            // Also false for -1.
            let more = b.icmp(IntCond::Ult, index, size);
            b.br(more, inside, &[], fail, &[]);
            b.switch_to(inside);
            let array = b.load(Width::Ptr, items, list::ITEMS);
            let place = element(b, array, index);
            let item = b.load(Width::Ptr, place, 0);
            let one = b.iconst(1);
            let before = b.op(Opcode::Isub, &[index, one]);
            b.store(Width::I64, p[0], list_reverse_iter::INDEX, before);
            counts::take(b, item);
            b.ret(&[item]);
            b.switch_to(fail);
            b.terminate(Term::Fail);
        },
    );
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
        (names::RANGE_FIRST, range::START),
        (names::RANGE_END, range::STOP),
        (names::RANGE_BY, range::STEP),
    ] {
        set.add(name, &[Ty::Ptr], &[Ty::I64], Effects::NONE, |b, p, _| {
            let field = b.load(Width::Ptr, p[0], offset);
            int_unbox(b, field);
        });
    }
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
    for (name, seq, index) in [
        (names::LIST_ITER_END, list_iter::SEQ, list_iter::INDEX),
        (names::TUPLE_ITER_END, tuple_iter::SEQ, tuple_iter::INDEX),
    ] {
        set.add(name, &[Ty::Ptr], &[], Effects::WRITES, |b, p, _| {
            let (open, last, ended) = (b.block(), b.cold_block(), b.block());
            let (dropped, closed) = (b.block(), b.cold_block());
            let items = b.load(Width::Ptr, p[0], seq);
            let none = b.is_null(items);
            b.br(none, closed, &[], open, &[]);
            b.switch_to(open);
            counts::drop(b, items, last, dropped);
            b.switch_to(dropped);
            let null = b.pconst(0);
            b.store(Width::Ptr, p[0], seq, null);
            // By this the interpreter knows an exhausted iterator, too.
            let none = b.iconst(-1);
            b.store(Width::I64, p[0], index, none);
            b.jump(ended, &[]);
            b.switch_to(closed);
            b.jump(ended, &[]);
            b.switch_to(ended);
            b.ret(&[]);
            b.switch_to(last);
            counts::take(b, items);
            b.terminate(Term::Fail);
        });
    }
    set.add(
        names::LIST_ITER_NEXT,
        &[Ty::Ptr],
        &[Ty::Ptr],
        Effects::WRITES,
        |b, p, _| {
            let list = b.load(Width::Ptr, p[0], list_iter::SEQ);
            let items = b.load(Width::Ptr, list, list::ITEMS);
            next(b, p[0], items, list_iter::INDEX, 0);
        },
    );
    set.add(
        names::TUPLE_ITER_NEXT,
        &[Ty::Ptr],
        &[Ty::Ptr],
        Effects::WRITES,
        |b, p, _| {
            let items = b.load(Width::Ptr, p[0], tuple_iter::SEQ);
            next(b, p[0], items, tuple_iter::INDEX, tuple::ITEMS);
        },
    );
}

/// Returns the item at the iterator's index, which is in range, and advances it.
fn next(b: &mut Builder<'_>, iter: Value, items: Value, index_at: i32, first: i32) {
    let index = b.load(Width::I64, iter, index_at);
    let place = element(b, items, index);
    let item = b.load(Width::Ptr, place, first);
    let one = b.iconst(1);
    let following = b.op(Opcode::Iadd, &[index, one]);
    b.store(Width::I64, iter, index_at, following);
    b.ret(&[item]);
}
