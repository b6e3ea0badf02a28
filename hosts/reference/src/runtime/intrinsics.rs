//! The standard intrinsics for this host's objects as LIR, and those of its access plans.

use super::frame::layout as fl;
use super::heap::layout as at;
use cladonia::facts::Effects;
use cladonia::host::{HostBuilder, names};
use cladonia::lir::{Builder, Func, HelperId, IntCond, Opcode, Signature, Term, Value};
use cladonia::ll::{Ty, Width};

/// `(object, shape)`: the instance has this shape.
pub const CHECK_SHAPE: &str = "check_shape";
/// `(object, slot) -> value`: the value in a slot.
pub const LOAD_SLOT: &str = "load_instance_slot";
/// `(object, value, slot) -> old`: replaces the value in a slot.
pub const STORE_SLOT: &str = "store_instance_slot";

/// `(thread, frames)`: there is room for this number of further frames, each of [`SMALL_FRAME`]
/// bytes.
pub const FRAME_ROOM: &str = "frame_room";
/// The most bytes of an inlined frame.
pub const SMALL_FRAME: usize = 1024;

/// The helpers that the intrinsics call.
pub(super) struct Called {
    /// `(object)`: deallocates it.
    pub dealloc: HelperId,
    /// `(i64) -> object`
    pub box_int: HelperId,
    /// `(f64) -> object`
    pub box_float: HelperId,
    /// `(string) -> i64`
    pub str_len: HelperId,
    /// `(string, string) -> i64`: 1 if they are equal
    pub str_eq: HelperId,
    /// `(string, i64) -> object`, borrowed, or null
    pub str_at: HelperId,
    /// `(list, start, stop, step) -> object`
    pub list_slice: HelperId,
    pub new_cell: HelperId,
    pub bind_method: HelperId,
    /// `(list, low, high, list, start, stop, step) -> i64`: 1 if it was done
    pub list_copy_slice: HelperId,
}

struct Set<'a> {
    host: &'a mut HostBuilder,
    called: Called,
    truths: (u64, u64),
}

impl Set<'_> {
    fn add(
        &mut self,
        name: &'static str,
        params: &[Ty],
        results: &[Ty],
        effects: Effects,
        body: impl FnOnce(&mut Builder<'_>, &[Value], &Called),
    ) {
        let mut func = Func::new(name, Signature::new(params, results));
        let args = func.params().to_vec();
        body(&mut Builder::new(&mut func), &args, &self.called);
        self.host.intrinsic(name, effects, func);
    }

    /// An intrinsic that is one load.
    fn field(&mut self, name: &'static str, width: Width, offset: i32, effects: Effects) {
        self.add(name, &[Ty::Ptr], &[width.ty()], effects, |b, p, _| {
            let value = b.load(width, p[0], offset);
            b.ret(&[value]);
        });
    }
}

/// Defines all intrinsics; `truths` are the addresses of true and false.
pub(super) fn define(host: &mut HostBuilder, called: Called, truths: (u64, u64)) {
    let mut set = Set {
        host,
        called,
        truths,
    };
    references(&mut set);
    numbers(&mut set);
    containers(&mut set);
    strings(&mut set);
    iterators(&mut set);
    thread(&mut set);
    attributes(&mut set);
    frames(&mut set);
}

const PTR: Ty = Ty::Ptr;
const INT: Ty = Ty::I64;

fn references(set: &mut Set<'_>) {
    set.add(names::INCREF, &[PTR], &[], Effects::WRITES, |b, p, _| {
        let count = b.load(Width::I64, p[0], at::COUNT);
        let mortal = b.icmp_imm(IntCond::Sge, count, 0);
        let (bump, done) = (b.block(), b.block());
        b.br(mortal, bump, &[], done, &[]);
        b.switch_to(bump);
        let one = b.iconst(1);
        let more = b.op(Opcode::Iadd, &[count, one]);
        b.store(Width::I64, p[0], at::COUNT, more);
        b.jump(done, &[]);
        b.switch_to(done);
        b.ret(&[]);
    });
    set.add(names::DROP, &[PTR], &[], Effects::WRITES, |b, p, _| {
        drop_reference(b, p[0], |b| b.terminate(Term::Fail));
    });
    for name in [names::DECREF_LEAF, names::DECREF_INT, names::DECREF_FLOAT] {
        set.add(name, &[PTR], &[], Effects::WRITES, |b, p, called| {
            drop_reference(b, p[0], |b| {
                b.call(called.dealloc, &[p[0]], &[]);
                b.ret(&[]);
            });
        });
    }
    set.field(names::CLASS_OF, Width::Ptr, at::CLASS, Effects::READS);
}

/// Drops a reference and returns; `last` ends the block for the last one.
fn drop_reference(b: &mut Builder<'_>, p: Value, last: impl FnOnce(&mut Builder<'_>)) {
    let count = b.load(Width::I64, p, at::COUNT);
    let immortal = b.icmp_imm(IntCond::Slt, count, 0);
    let (less, die, done) = (b.block(), b.block(), b.block());
    b.br(immortal, done, &[], less, &[]);
    b.switch_to(less);
    let one = b.iconst(1);
    let left = b.op(Opcode::Isub, &[count, one]);
    b.store(Width::I64, p, at::COUNT, left);
    let dead = b.icmp_imm(IntCond::Eq, left, 0);
    b.br(dead, die, &[], done, &[]);
    b.switch_to(die);
    last(b);
    b.switch_to(done);
    b.ret(&[]);
}

/// Changes an object if there is a single reference to it, and `may` is true. The result is true if
/// it was changed.
fn reuse(b: &mut Builder<'_>, p: Value, may: Value, write: impl FnOnce(&mut Builder<'_>)) {
    let (change, done) = (b.block(), b.block());
    let count = b.load(Width::I64, p, at::COUNT);
    let own = b.icmp_imm(IntCond::Eq, count, 1);
    let is_free = b.op(Opcode::Band, &[own, may]);
    b.br(is_free, change, &[], done, &[]);
    b.switch_to(change);
    write(b);
    b.jump(done, &[]);
    b.switch_to(done);
    b.ret(&[is_free]);
}

fn numbers(set: &mut Set<'_>) {
    set.add(
        names::INT_UNBOX,
        &[PTR],
        &[INT],
        Effects::READS,
        |b, p, _| {
            let fail = b.cold_block();
            let big = b.load(Width::Ptr, p[0], at::INT_BIG);
            let small = b.is_null(big);
            b.guard(small, fail);
            let value = b.load(Width::I64, p[0], at::INT_SMALL);
            b.ret(&[value]);
            b.switch_to(fail);
            b.terminate(Term::Fail);
        },
    );
    set.add(
        names::INT_BOX,
        &[INT],
        &[PTR],
        Effects::WRITES,
        |b, p, called| {
            let made = b.call(called.box_int, &[p[0]], &[PTR])[0];
            b.ret(&[made]);
        },
    );
    set.add(
        names::INT_REUSE,
        &[PTR, INT],
        &[Ty::Bool],
        Effects::WRITES,
        |b, p, _| {
            let big = b.load(Width::Ptr, p[0], at::INT_BIG);
            let is_small = b.is_null(big);
            // There is one shared object for each int from -5 to 256.
            let five = b.iconst(5);
            let index = b.op(Opcode::Iadd, &[p[1], five]);
            let is_other = b.icmp_imm(IntCond::Uge, index, 262);
            let may = b.op(Opcode::Band, &[is_small, is_other]);
            reuse(b, p[0], may, |b| {
                b.store(Width::I64, p[0], at::INT_SMALL, p[1])
            });
        },
    );
    set.add(
        names::FLOAT_REUSE,
        &[PTR, Ty::F64],
        &[Ty::Bool],
        Effects::WRITES,
        |b, p, _| {
            let any = b.bconst(true);
            reuse(b, p[0], any, |b| {
                b.store(Width::F64, p[0], at::FLOAT_VALUE, p[1])
            });
        },
    );
    set.field(
        names::FLOAT_UNBOX,
        Width::F64,
        at::FLOAT_VALUE,
        Effects::NONE,
    );
    set.add(
        names::FLOAT_BOX,
        &[Ty::F64],
        &[PTR],
        Effects::WRITES,
        |b, p, called| {
            let made = b.call(called.box_float, &[p[0]], &[PTR])[0];
            b.ret(&[made]);
        },
    );
    let (true_, false_) = set.truths;
    set.add(
        names::BOOL_UNBOX,
        &[PTR],
        &[Ty::Bool],
        Effects::NONE,
        |b, p, _| {
            let yes = b.pconst(true_);
            let value = b.icmp(IntCond::Eq, p[0], yes);
            b.ret(&[value]);
        },
    );
    set.add(
        names::BOOL_BOX,
        &[Ty::Bool],
        &[PTR],
        Effects::NONE,
        |b, p, _| {
            let (yes, no) = (b.pconst(true_), b.pconst(false_));
            let value = b.select(p[0], yes, no);
            b.ret(&[value]);
        },
    );
}

/// The address of word `index` from `base` on.
fn element(b: &mut Builder<'_>, base: Value, index: Value) -> Value {
    let three = b.iconst(3);
    let bytes = b.op(Opcode::Ishl, &[index, three]);
    b.op(Opcode::Padd, &[base, bytes])
}

fn strings(set: &mut Set<'_>) {
    set.add(
        names::STR_LEN,
        &[PTR],
        &[INT],
        Effects::NONE,
        |b, p, called| {
            let len = b.call(called.str_len, p, &[INT]);
            b.ret(&len);
        },
    );
    set.add(
        names::STR_EQ,
        &[PTR, PTR],
        &[Ty::Bool],
        Effects::NONE,
        |b, p, called| {
            let same = b.call(called.str_eq, p, &[INT])[0];
            let same = b.icmp_imm(IntCond::Ne, same, 0);
            b.ret(&[same]);
        },
    );
    set.add(
        names::STR_AT,
        &[PTR, INT],
        &[PTR],
        Effects::NONE,
        |b, p, called| {
            let none = b.cold_block();
            let found = b.call(called.str_at, p, &[PTR])[0];
            let null = b.is_null(found);
            let is_there = b.op(Opcode::Bnot, &[null]);
            b.guard(is_there, none);
            b.ret(&[found]);
            b.switch_to(none);
            b.terminate(Term::Fail);
        },
    );
}

fn containers(set: &mut Set<'_>) {
    set.field(names::LIST_LEN, Width::I64, at::LIST_LEN, Effects::READS);
    set.field(names::TUPLE_LEN, Width::I64, at::TUPLE_LEN, Effects::NONE);
    for (name, items, effects) in [
        (names::LIST_GET, at::LIST_ITEMS, Effects::READS),
        (names::TUPLE_GET, at::TUPLE_ITEMS, Effects::NONE),
    ] {
        set.add(name, &[PTR, INT], &[PTR], effects, |b, p, _| {
            let items = b.load(Width::Ptr, p[0], items);
            let place = element(b, items, p[1]);
            let item = b.load(Width::Ptr, place, 0);
            b.ret(&[item]);
        });
    }
    set.add(
        names::LIST_SET,
        &[PTR, INT, PTR],
        &[PTR],
        Effects::WRITES,
        |b, p, _| {
            let items = b.load(Width::Ptr, p[0], at::LIST_ITEMS);
            let place = element(b, items, p[1]);
            let old = b.load(Width::Ptr, place, 0);
            b.store(Width::Ptr, place, 0, p[2]);
            b.ret(&[old]);
        },
    );
    set.field(
        names::LIST_ITEMS,
        Width::I64,
        at::LIST_ITEMS,
        Effects::READS,
    );
    set.add(
        names::ITEM_GET,
        &[INT, INT],
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
        &[INT, INT, PTR],
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
            let len = b.load(Width::I64, p[0], at::LIST_LEN);
            let capacity = b.load(Width::I64, p[0], at::LIST_CAPACITY);
            let room = b.icmp(IntCond::Slt, len, capacity);
            b.guard(room, full);
            let items = b.load(Width::Ptr, p[0], at::LIST_ITEMS);
            let place = element(b, items, len);
            b.store(Width::Ptr, place, 0, p[1]);
            let one = b.iconst(1);
            let more = b.op(Opcode::Iadd, &[len, one]);
            b.store(Width::I64, p[0], at::LIST_LEN, more);
            b.ret(&[]);
            b.switch_to(full);
            b.terminate(Term::Fail);
        },
    );
    set.add(
        names::LIST_SLICE,
        &[PTR, INT, INT, INT],
        &[PTR],
        Effects::WRITES,
        |b, p, called| {
            let list = b.call(called.list_slice, p, &[PTR]);
            b.ret(&list);
        },
    );
    set.add(
        names::NEW_CELL,
        &[PTR],
        &[PTR],
        Effects::WRITES,
        |b, p, called| {
            let cell = b.call(called.new_cell, p, &[PTR]);
            b.ret(&cell);
        },
    );
    set.add(
        names::BIND_METHOD,
        &[PTR, PTR],
        &[PTR],
        Effects::WRITES,
        |b, p, called| {
            let method = b.call(called.bind_method, p, &[PTR]);
            b.ret(&method);
        },
    );
    set.add(
        names::LIST_COPY_SLICE,
        &[PTR, INT, INT, PTR, INT, INT, INT],
        &[],
        Effects::WRITES,
        |b, p, called| {
            let undone = b.cold_block();
            let status = b.call(called.list_copy_slice, p, &[INT])[0];
            let done = b.icmp_imm(IntCond::Ne, status, 0);
            b.guard(done, undone);
            b.ret(&[]);
            b.switch_to(undone);
            b.terminate(Term::Fail);
        },
    );
    set.field(
        names::CELL_GET,
        Width::Ptr,
        at::CELL_CONTENT,
        Effects::READS,
    );
    set.add(
        names::CELL_SET,
        &[PTR, PTR],
        &[PTR],
        Effects::WRITES,
        |b, p, _| {
            let old = b.load(Width::Ptr, p[0], at::CELL_CONTENT);
            b.store(Width::Ptr, p[0], at::CELL_CONTENT, p[1]);
            b.ret(&[old]);
        },
    );
}

fn iterators(set: &mut Set<'_>) {
    set.add(
        names::RANGE_NEXT,
        &[PTR],
        &[INT, Ty::Bool],
        Effects::WRITES,
        |b, p, _| {
            let (more, end) = (b.block(), b.block());
            let left = b.load(Width::I64, p[0], at::RANGE_ITER_LEFT);
            let some = b.icmp_imm(IntCond::Sgt, left, 0);
            b.br(some, more, &[], end, &[]);
            b.switch_to(more);
            let value = b.load(Width::I64, p[0], at::RANGE_ITER_NEXT);
            let step = b.load(Width::I64, p[0], at::RANGE_ITER_STEP);
            let next = b.op(Opcode::Iadd, &[value, step]);
            b.store(Width::I64, p[0], at::RANGE_ITER_NEXT, next);
            let one = b.iconst(1);
            let left = b.op(Opcode::Isub, &[left, one]);
            b.store(Width::I64, p[0], at::RANGE_ITER_LEFT, left);
            let yes = b.bconst(true);
            b.ret(&[value, yes]);
            b.switch_to(end);
            let (zero, no) = (b.iconst(0), b.bconst(false));
            b.ret(&[zero, no]);
        },
    );
    for (name, offset) in [
        (names::RANGE_FIRST, at::RANGE_START),
        (names::RANGE_END, at::RANGE_STOP),
        (names::RANGE_BY, at::RANGE_STEP),
        (names::RANGE_START, at::RANGE_ITER_NEXT),
        (names::RANGE_STEP, at::RANGE_ITER_STEP),
        (names::RANGE_LEFT, at::RANGE_ITER_LEFT),
    ] {
        set.add(name, &[PTR], &[INT], Effects::READS, |b, p, _| {
            let field = b.load(Width::I64, p[0], offset);
            b.ret(&[field]);
        });
    }
    set.add(
        names::RANGE_PUT,
        &[PTR, INT, INT],
        &[],
        Effects::WRITES,
        |b, p, _| {
            b.store(Width::I64, p[0], at::RANGE_ITER_NEXT, p[1]);
            b.store(Width::I64, p[0], at::RANGE_ITER_LEFT, p[2]);
            b.ret(&[]);
        },
    );
    for (name, len) in [
        (names::LIST_ITER_MORE, at::LIST_LEN),
        (names::TUPLE_ITER_MORE, at::TUPLE_LEN),
    ] {
        set.add(name, &[PTR], &[Ty::Bool], Effects::READS, |b, p, _| {
            let (open, over) = (b.block(), b.cold_block());
            let seq = b.load(Width::Ptr, p[0], at::SEQ_ITER_SEQ);
            let closed = b.is_null(seq);
            b.br(closed, over, &[], open, &[]);
            b.switch_to(open);
            let index = b.load(Width::I64, p[0], at::SEQ_ITER_INDEX);
            let size = b.load(Width::I64, seq, len);
            let some = b.icmp(IntCond::Ult, index, size);
            b.ret(&[some]);
            b.switch_to(over);
            let none = b.bconst(false);
            b.ret(&[none]);
        });
    }
    for name in [names::LIST_ITER_END, names::TUPLE_ITER_END] {
        set.add(name, &[PTR], &[], Effects::WRITES, |b, p, _| {
            let (open, over) = (b.block(), b.cold_block());
            let seq = b.load(Width::Ptr, p[0], at::SEQ_ITER_SEQ);
            let closed = b.is_null(seq);
            b.br(closed, over, &[], open, &[]);
            b.switch_to(open);
            let (last, more) = (b.cold_block(), b.block());
            let count = b.load(Width::I64, seq, at::COUNT);
            let only = b.icmp_imm(IntCond::Eq, count, 1);
            b.br(only, last, &[], more, &[]);
            b.switch_to(last);
            b.terminate(Term::Fail);
            b.switch_to(more);
            let null = b.pconst(0);
            b.store(Width::Ptr, p[0], at::SEQ_ITER_SEQ, null);
            // Another reference is left.
            drop_reference(b, seq, |b| b.ret(&[]));
            b.switch_to(over);
            b.ret(&[]);
        });
    }
    for (name, items) in [
        (names::LIST_ITER_NEXT, at::LIST_ITEMS),
        (names::TUPLE_ITER_NEXT, at::TUPLE_ITEMS),
    ] {
        set.add(name, &[PTR], &[PTR], Effects::WRITES, |b, p, _| {
            let seq = b.load(Width::Ptr, p[0], at::SEQ_ITER_SEQ);
            let index = b.load(Width::I64, p[0], at::SEQ_ITER_INDEX);
            let items = b.load(Width::Ptr, seq, items);
            let place = element(b, items, index);
            let item = b.load(Width::Ptr, place, 0);
            let one = b.iconst(1);
            let next = b.op(Opcode::Iadd, &[index, one]);
            b.store(Width::I64, p[0], at::SEQ_ITER_INDEX, next);
            b.ret(&[item]);
        });
    }
}

fn thread(set: &mut Set<'_>) {
    set.add(
        names::NOTHING_PENDING,
        &[PTR, PTR],
        &[Ty::Bool],
        Effects::READS,
        |b, p, _| {
            let word = b.load(Width::I64, p[0], fl::THREAD_PENDING);
            let expected = b.load(Width::I64, p[1], 0);
            let same = b.icmp(IntCond::Eq, word, expected);
            b.ret(&[same]);
        },
    );
    // No code can inspect another's frame here, so a unit is valid until one of its assumptions
    // changes.
    set.add(
        names::STILL_VALID,
        &[PTR, PTR, PTR, PTR],
        &[Ty::Bool],
        Effects::READS,
        |b, p, _| {
            let state = b.load(Width::I64, p[2], 0);
            let valid = b.icmp_imm(IntCond::Eq, state, 0);
            b.ret(&[valid]);
        },
    );
    set.add(
        names::SET_POSITION,
        &[PTR, PTR],
        &[],
        Effects::WRITES,
        |b, p, _| {
            b.store(Width::Ptr, p[0], fl::POSITION, p[1]);
            b.ret(&[]);
        },
    );
}

fn frames(set: &mut Set<'_>) {
    set.add(FRAME_ROOM, &[PTR, INT], &[], Effects::READS, |b, p, _| {
        let (deep, fail) = (b.cold_block(), b.cold_block());
        let thread = p[0];
        let depth = b.load(Width::I64, thread, fl::THREAD_DEPTH);
        let depth = b.op(Opcode::Iadd, &[depth, p[1]]);
        let most = b.load(Width::I64, thread, fl::THREAD_MAX_DEPTH);
        let fits = b.icmp(IntCond::Sle, depth, most);
        b.guard(fits, deep);
        let size = b.iconst(SMALL_FRAME as i64);
        let size = b.op(Opcode::Imul, &[size, p[1]]);
        let top = b.load(Width::Ptr, thread, fl::THREAD_TOP);
        let end = b.op(Opcode::Padd, &[top, size]);
        let limit = b.load(Width::Ptr, thread, fl::THREAD_LIMIT);
        let fits = b.icmp(IntCond::Ult, end, limit);
        b.guard(fits, fail);
        b.ret(&[]);
        for block in [deep, fail] {
            b.switch_to(block);
            b.terminate(Term::Fail);
        }
    });
}

fn attributes(set: &mut Set<'_>) {
    set.add(CHECK_SHAPE, &[PTR, PTR], &[], Effects::READS, |b, p, _| {
        let fail = b.cold_block();
        let shape = b.load(Width::Ptr, p[0], at::INSTANCE_SHAPE);
        let same = b.icmp(IntCond::Eq, shape, p[1]);
        b.guard(same, fail);
        b.ret(&[]);
        b.switch_to(fail);
        b.terminate(Term::Fail);
    });
    set.add(LOAD_SLOT, &[PTR, INT], &[PTR], Effects::READS, |b, p, _| {
        let slots = b.load(Width::Ptr, p[0], at::INSTANCE_SLOTS);
        let place = element(b, slots, p[1]);
        let value = b.load(Width::Ptr, place, 0);
        b.ret(&[value]);
    });
    set.add(
        STORE_SLOT,
        &[PTR, PTR, INT],
        &[PTR],
        Effects::WRITES,
        |b, p, _| {
            let slots = b.load(Width::Ptr, p[0], at::INSTANCE_SLOTS);
            let place = element(b, slots, p[2]);
            let old = b.load(Width::Ptr, place, 0);
            b.store(Width::Ptr, place, 0, p[1]);
            b.ret(&[old]);
        },
    );
}

/// `(thread, function) -> frame`: creates and links a frame of a code; fails if there is no room
/// for one.
pub(super) fn enter(code: &super::code::CodeData) -> Func {
    let mut func = Func::new("enter", Signature::new(&[PTR, PTR], &[PTR]));
    let (thread, function) = (func.params()[0], func.params()[1]);
    let mut b = Builder::new(&mut func);
    let fail = b.cold_block();
    // Pending work is left to the interpreter, which tests for it at the start.
    let pending = b.load(Width::I64, thread, fl::THREAD_PENDING);
    let quiet = b.icmp_imm(IntCond::Eq, pending, 0);
    b.guard(quiet, fail);
    let depth = b.load(Width::I64, thread, fl::THREAD_DEPTH);
    let most = b.load(Width::I64, thread, fl::THREAD_MAX_DEPTH);
    let shallow = b.icmp(IntCond::Slt, depth, most);
    b.guard(shallow, fail);
    let frame = b.load(Width::Ptr, thread, fl::THREAD_TOP);
    let limit = b.load(Width::Ptr, thread, fl::THREAD_LIMIT);
    let end = b.padd_imm(frame, super::frame::size(&code.code) as i64);
    let room = b.icmp(IntCond::Ult, end, limit);
    b.guard(room, fail);
    b.store(Width::Ptr, thread, fl::THREAD_TOP, end);
    let one = b.iconst(1);
    let deeper = b.op(Opcode::Iadd, &[depth, one]);
    b.store(Width::I64, thread, fl::THREAD_DEPTH, deeper);
    let previous = b.load(Width::Ptr, thread, fl::THREAD_FRAME);
    b.store(Width::Ptr, thread, fl::THREAD_FRAME, frame);
    b.store(Width::Ptr, frame, fl::PREVIOUS, previous);
    b.store(Width::Ptr, frame, fl::FUNCTION, function);
    let this = b.pconst(std::ptr::from_ref(code) as u64);
    b.store(Width::Ptr, frame, fl::CODE, this);
    let (zero, null) = (b.iconst(0), b.pconst(0));
    b.store(Width::I64, frame, fl::POSITION, zero);
    b.store(Width::Ptr, frame, fl::NAMESPACE, null);
    b.store(Width::I64, frame, fl::DEPTH, zero);
    let words = code.code.locals.len() + code.code.stacksize as usize;
    for k in 0..words {
        b.store(Width::Ptr, frame, fl::SLOTS + 8 * k as i32, null);
    }
    b.ret(&[frame]);
    b.switch_to(fail);
    b.terminate(Term::Fail);
    func
}

/// `(thread, frame) -> ()`: drops the locals in order and unlinks the frame.
pub(super) fn leave(leave: usize) -> Func {
    let mut func = Func::new("leave", Signature::new(&[PTR, PTR], &[]));
    let frame = func.params()[1];
    let mut b = Builder::new(&mut func);
    let helper = b.pconst(leave as u64);
    b.call_indirect(Signature::new(&[PTR], &[]), helper, &[frame]);
    b.ret(&[]);
    func
}
