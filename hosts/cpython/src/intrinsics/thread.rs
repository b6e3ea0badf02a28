//! The thread's and the frame's state, as compiled code sees it.

use super::Set;
use crate::abi::eval_breaker::EVENT_BITS;
use crate::abi::{frame, frames, thread};
use crate::runtime::frames::NATIVE;
use cladonia::facts::Effects;
use cladonia::host::names;
use cladonia::lir::{IntCond, Opcode, Term};
use cladonia::ll::{Ty, Width};

/// `(thread, frames)`: the recursion limit leaves room for this many more frames.
pub const FRAME_ROOM: &str = "frame_room";

pub(super) fn define(set: &mut Set<'_>) {
    // The eval breaker has events in its low byte and the version of the monitoring tools above: it
    // equals the version that the code was instrumented for if no event is pending and tracing was
    // not started.
    set.add(
        names::NOTHING_PENDING,
        &[Ty::Ptr, Ty::Ptr],
        &[Ty::Bool],
        Effects::READS,
        |b, p, _| {
            let word = b.load(Width::I64, p[0], thread::EVAL_BREAKER);
            let expected = b.load(Width::I64, p[1], 0);
            let same = b.icmp(IntCond::Eq, word, expected);
            b.ret(&[same]);
        },
    );
    // The state cell is one word, 0 while the unit's assumptions hold. A frame whose raw locals
    // were stored into their slots, for a reader of the frame, continues in the interpreter: they
    // may be set there from now on. Starting to trace or to profile raises the version; events
    // alone can wait for their next check.
    set.add(
        names::STILL_VALID,
        &[Ty::Ptr, Ty::Ptr, Ty::Ptr, Ty::Ptr],
        &[Ty::Bool],
        Effects::READS,
        |b, p, _| {
            let state = b.load(Width::I64, p[2], 0);
            let mark = frames::load_mark(b, p[1]);
            let native = b.iconst(NATIVE.into());
            let opened = b.op(Opcode::Ixor, &[mark, native]);
            let word = b.load(Width::I64, p[0], thread::EVAL_BREAKER);
            let expected = b.load(Width::I64, p[3], 0);
            let differ = b.op(Opcode::Ixor, &[word, expected]);
            let events = b.iconst(EVENT_BITS.into());
            let version = b.op(Opcode::Iushr, &[differ, events]);
            let either = b.op(Opcode::Ior, &[state, opened]);
            let any = b.op(Opcode::Ior, &[either, version]);
            let valid = b.icmp_imm(IntCond::Eq, any, 0);
            b.ret(&[valid]);
        },
    );
    set.add(
        names::CALL_ROOM,
        &[Ty::Ptr],
        &[Ty::I64],
        Effects::READS,
        |b, p, _| {
            let room = b.load(Width::I32, p[0], thread::PY_RECURSION_REMAINING);
            b.ret(&[room]);
        },
    );
    // The program must not observe that frames are elided, so as many more must be allowed by the
    // recursion limit.
    set.add(
        FRAME_ROOM,
        &[Ty::Ptr, Ty::I64],
        &[],
        Effects::READS,
        |b, p, _| {
            let fail = b.cold_block();
            let room = b.load(Width::I32, p[0], thread::PY_RECURSION_REMAINING);
            let fits = b.icmp(IntCond::Sge, room, p[1]);
            b.guard(fits, fail);
            b.ret(&[]);
            b.switch_to(fail);
            b.terminate(Term::Fail);
        },
    );
    set.add(
        names::SET_POSITION,
        &[Ty::Ptr, Ty::Ptr],
        &[],
        Effects::WRITES,
        |b, p, _| {
            b.store(Width::Ptr, p[0], frame::INSTR_PTR, p[1]);
            b.ret(&[]);
        },
    );
}
