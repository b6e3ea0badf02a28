//! Reference counts, whose representation [the version's module](crate::abi::counts) knows.

use super::{Context, FreeInts, Set};
use crate::abi::{counts, free_floats, long, object};
use cladonia::facts::Effects;
use cladonia::host::names;
use cladonia::lir::{Block, Builder, IntCond, Term, Value};
use cladonia::ll::{Ty, Width};

pub(super) fn define(set: &mut Set<'_>) {
    set.add(
        names::INCREF,
        &[Ty::Ptr],
        &[],
        Effects::WRITES,
        |b, p, _| {
            counts::take(b, p[0]);
            b.ret(&[]);
        },
    );
    set.add(names::DROP, &[Ty::Ptr], &[], Effects::WRITES, |b, p, _| {
        decref(b, p[0], |b, _| b.terminate(Term::Fail));
    });
    set.add(
        names::DECREF_LEAF,
        &[Ty::Ptr],
        &[],
        Effects::WRITES,
        |b, p, context| {
            decref(b, p[0], |b, done| call_dealloc(b, p[0], context, done));
        },
    );
    set.add(
        names::DECREF_INT,
        &[Ty::Ptr],
        &[],
        Effects::WRITES,
        |b, p, context| {
            decref(b, p[0], |b, done| {
                let free = b.pconst(FreeInts::address());
                let count = b.load(Width::I64, free, FreeInts::COUNT);
                let room = b.icmp_imm(IntCond::Slt, count, FreeInts::MOST);
                let (check, push, full) = (b.block(), b.block(), b.cold_block());
                b.br(room, check, &[], full, &[]);
                b.switch_to(check);
                // Ints of more digits are kept apart, or not at all.
                let tag = b.load(Width::I64, p[0], long::TAG);
                let short = b.icmp_imm(IntCond::Ult, tag, 2 << long::NON_SIZE_BITS);
                b.br(short, push, &[], full, &[]);
                b.switch_to(push);
                let one = b.iconst(1);
                let more = b.op(cladonia::lir::Opcode::Iadd, &[count, one]);
                let head = b.load(Width::Ptr, free, FreeInts::HEAD);
                b.store(Width::Ptr, p[0], object::TYPE, head);
                b.store(Width::Ptr, free, FreeInts::HEAD, p[0]);
                b.store(Width::I64, free, FreeInts::COUNT, more);
                b.jump(done, &[]);
                b.switch_to(full);
                b.call(context.free_int, &[p[0]], &[]);
                b.jump(done, &[]);
            });
        },
    );
    set.add(
        names::DECREF_FLOAT,
        &[Ty::Ptr],
        &[],
        Effects::WRITES,
        |b, p, context| {
            let Some(interpreter) = context.float_freelist else {
                decref(b, p[0], |b, done| call_dealloc(b, p[0], context, done));
                return;
            };
            decref(b, p[0], |b, done| {
                let interpreter = b.pconst(interpreter);
                let full = b.cold_block();
                free_floats::push(b, interpreter, p[0], full, done);
                b.switch_to(full);
                call_dealloc(b, p[0], context, done);
            });
        },
    );
    set.add(
        names::CLASS_OF,
        &[Ty::Ptr],
        &[Ty::Ptr],
        Effects::READS,
        |b, p, _| {
            let class = b.load(Width::Ptr, p[0], object::TYPE);
            b.ret(&[class]);
        },
    );
}

/// Drops a reference; `last` fills the block for the last one and jumps to the given block.
fn decref(b: &mut Builder<'_>, p: Value, last: impl FnOnce(&mut Builder<'_>, Block)) {
    let (die, done) = (b.block(), b.block());
    counts::drop(b, p, die, done);
    b.switch_to(die);
    last(b, done);
    b.switch_to(done);
    b.ret(&[]);
}

/// Not a cold block itself: temporaries are mostly deallocated. The call is rare only for floats.
fn call_dealloc(b: &mut Builder<'_>, p: Value, context: &Context, done: Block) {
    b.call(context.dealloc, &[p], &[]);
    b.jump(done, &[]);
}
