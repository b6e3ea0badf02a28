//! LIR that resumes, suspends and ends the frame of a generator.

use super::super::capi::*;
use super::super::entries::entry_check;
use super::super::frames::{self, NATIVE};
use super::super::units::UnitState;
use super::abi;
use super::{NO_POINT, chain};
use abi::{frame as f, frames as state, generator as g, generators, recursion, slots, thread as t};
use cladonia::lir::{Block, Builder, Func, IntCond, Opcode, Signature, Term, Value};
use cladonia::ll::{Ty, Width};
use pyo3_ffi::Py_REFCNT;

/// LIR that resumes a frame: see [`UnitParts::suspend`](cladonia::engine::UnitParts::suspend).
pub fn enter(unit: &UnitState) -> Func {
    let shape = unit.shape;
    let mut func = Func::new(
        "enter",
        Signature::new(&[Ty::Ptr, Ty::Ptr], &[Ty::Ptr, Ty::I64, Ty::Ptr]),
    );
    let (ts, generator) = (func.params()[0], func.params()[1]);
    let mut b = Builder::new(&mut func);
    let fail = b.cold_block();

    frames::check_quiet(&mut b, ts, unit, entry_check, fail);
    let waits = generators::waits(&mut b, generator);
    b.guard(waits, fail);
    let frame = b.padd_imm(generator, g::FRAME.into());
    for (offset, known) in [(f::GLOBALS, unit.globals), (f::BUILTINS, unit.builtins)] {
        let found = b.load(Width::Ptr, frame, offset);
        let known = b.pconst(known as u64);
        let same = b.icmp(IntCond::Eq, found, known);
        b.guard(same, fail);
    }
    // The owner of a frame object may inspect the frame at any time.
    let object = b.load(Width::Ptr, frame, f::FRAME_OBJ);
    let private = b.is_null(object);
    let (seen, unseen) = (b.cold_block(), b.block());
    b.br(private, unseen, &[], seen, &[]);
    b.switch_to(seen);
    let alone = frames::call_host(
        &mut b,
        is_alone as *const () as usize,
        &[object],
        &[Ty::Ptr],
        &[Ty::I64],
    )[0];
    let alone = b.icmp_imm(IntCond::Ne, alone, 0);
    b.br(alone, unseen, &[], fail, &[]);
    b.switch_to(unseen);
    let left = recursion::check(&mut b, ts, fail);
    frames::check_stack(&mut b, ts, fail);

    let point = resume_point(&mut b, unit, frame, fail);
    let words = frames::push_words(&mut b, ts, shape.extra_words(), fail);

    let token = b.address(unit.token());
    b.store(Width::I64, words, shape.token(), token);
    b.store(Width::Ptr, frame, shape.last_slot(), words);
    generators::run(&mut b, generator);
    if let Some(hide) = abi::slots::HIDE {
        frames::call_host(
            &mut b,
            hide as *const () as usize,
            &[frame],
            &[Ty::Ptr],
            &[],
        );
    }
    let slots = shape.nlocalsplus;
    state::store_state(&mut b, frame, slots, None, f::OWNED_BY_GENERATOR, NATIVE);
    let handled = b.load(Width::Ptr, ts, t::EXC_INFO);
    b.store(Width::Ptr, generator, g::EXC_PREVIOUS, handled);
    let own = b.padd_imm(generator, g::EXC_STATE.into());
    b.store(Width::Ptr, ts, t::EXC_INFO, own);
    let previous = b.load(Width::Ptr, ts, t::CURRENT_FRAME);
    b.store(Width::Ptr, frame, f::PREVIOUS, previous);
    b.store(Width::Ptr, ts, t::CURRENT_FRAME, frame);
    recursion::take(&mut b, ts, &left);
    frames::count_entry(&mut b, unit);
    b.ret(&[frame, point, words]);

    b.switch_to(fail);
    b.terminate(Term::Fail);
    func
}

/// LIR for the number of the resume point at which a frame waits; it fails if the frame is
/// elsewhere.
fn resume_point(b: &mut Builder<'_>, unit: &UnitState, frame: Value, fail: Block) -> Value {
    let table = unit.points.as_deref().unwrap_or_default();
    let at = b.load(Width::I64, frame, f::INSTR_PTR);
    let first = b.address(unit.shape.units() as u64);
    let bytes = b.op(Opcode::Isub, &[at, first]);
    let inside = b.icmp_imm(IntCond::Ult, bytes, 2 * table.len() as i64);
    b.guard(inside, fail);
    let one = b.iconst(1);
    let index = b.op(Opcode::Iushr, &[bytes, one]);
    let table = b.pconst(table.as_ptr() as u64);
    let place = b.op(Opcode::Padd, &[table, index]);
    let point = b.load(Width::U8, place, 0);
    let known = b.icmp_imm(IntCond::Ne, point, NO_POINT.into());
    b.guard(known, fail);
    point
}

/// 1 if only the frame itself refers to its frame object, and nothing is stored there that the
/// frame does not have; else 0.
unsafe extern "C" fn is_alone(object: Object) -> i64 {
    // SAFETY: a frame's own frame object.
    unsafe { frames::is_unshared(object) as i64 }
}

/// LIR that suspends a frame whose slots are filled: see
/// [`UnitParts::suspend`](cladonia::engine::UnitParts::suspend).
pub fn suspend(unit: &UnitState) -> Func {
    let mut func = Func::new(
        "suspend",
        Signature::new(&[Ty::Ptr, Ty::Ptr, Ty::Ptr, Ty::I64, Ty::I64], &[]),
    );
    let (ts, frame, words, depth, delegates) = {
        let p = func.params();
        (p[0], p[1], p[2], p[3], p[4])
    };
    let mut b = Builder::new(&mut func);
    let generator = b.padd_imm(frame, (-g::FRAME).into());
    // This also removes the mark.
    let slots = unit.shape.nlocalsplus;
    state::store_state(&mut b, frame, slots, Some(depth), f::OWNED_BY_GENERATOR, 0);
    if let Some(show) = abi::slots::SHOW {
        frames::call_host(
            &mut b,
            show as *const () as usize,
            &[frame],
            &[Ty::Ptr],
            &[],
        );
    }
    generators::suspend(&mut b, generator, delegates);
    let null = b.pconst(0);
    let handled = b.load(Width::Ptr, generator, g::EXC_PREVIOUS);
    b.store(Width::Ptr, ts, t::EXC_INFO, handled);
    b.store(Width::Ptr, generator, g::EXC_PREVIOUS, null);
    let previous = b.load(Width::Ptr, frame, f::PREVIOUS);
    b.store(Width::Ptr, ts, t::CURRENT_FRAME, previous);
    b.store(Width::Ptr, frame, f::PREVIOUS, null);
    recursion::give(&mut b, ts);
    frames::pop_words(&mut b, ts, words);
    frames::count_end(&mut b, unit);
    b.ret(&[]);
    func
}

/// LIR that ends a generator: `(thread, frame) -> ()`.
pub fn leave(unit: &UnitState) -> Func {
    let mut func = Func::new("leave", Signature::new(&[Ty::Ptr, Ty::Ptr], &[]));
    let (ts, frame) = (func.params()[0], func.params()[1]);
    let mut b = Builder::new(&mut func);
    // Read first: clearing the frame may free the generator's memory.
    let words = b.load(Width::Ptr, frame, unit.shape.last_slot());
    frames::call_host(
        &mut b,
        end as *const () as usize,
        &[ts, frame],
        &[Ty::Ptr, Ty::Ptr],
        &[],
    );
    frames::pop_words(&mut b, ts, words);
    frames::count_end(&mut b, unit);
    b.ret(&[]);
    func
}

/// Unlinks and clears the frame of a generator that has returned.
pub(super) unsafe extern "C" fn end(ts: Thread, frame: Frame) {
    // SAFETY: the frame is the innermost one, its stack empty. The caller that resumed its
    // generator keeps it alive.
    unsafe {
        let generator = frame.offset(-(g::FRAME as isize));
        let object: Object = get(frame, f::FRAME_OBJ);
        let handled: Object = get(generator, g::EXC_STATE);
        if !chain::is_announced()
            && (!object.is_null() || !handled.is_null() || holds_the_last(frame))
        {
            chain::announce();
        }
        if !object.is_null() {
            frames::keep_locals(frame);
        }
        state::set_mark(frame, 0);
        put::<Frame>(ts, t::CURRENT_FRAME, get(frame, f::PREVIOUS));
        recursion::give_back(ts);
        if object.is_null() && handled.is_null() {
            // Later patch versions do so before the slots are cleared, earlier ones after that; the
            // difference is not observable without a frame object.
            put::<Frame>(frame, f::PREVIOUS, std::ptr::null_mut());
            clear(ts, generator, frame);
        } else {
            slots::show(frame, state::depth(frame));
            _PyEval_FrameClearAndPop(ts, frame);
            put::<Frame>(frame, f::PREVIOUS, std::ptr::null_mut());
        }
    }
}

/// True if clearing a frame deallocates an object.
unsafe fn holds_the_last(frame: Frame) -> bool {
    // SAFETY: the caller's: slots hold objects or null.
    unsafe {
        let count: i32 = state::depth(frame);
        let mut held = (0..count).map(|slot| slots::get(frame, f::LOCALSPLUS + 8 * slot));
        held.any(|object| !object.is_null() && Py_REFCNT(object) == 1)
            || Py_REFCNT(slots::function(frame)) == 1
    }
}

/// The actions of `_PyEval_FrameClearAndPop` for a generator whose frame has no object and that
/// handles no exception.
unsafe fn clear(ts: Thread, generator: *mut u8, frame: Frame) {
    // SAFETY: the caller's. The finished frame is not read, so its slots need not be emptied.
    unsafe {
        put::<i8>(generator, g::FRAME_STATE, g::STATE_CLEARED as i8);
        put::<*mut u8>(ts, t::EXC_INFO, get(generator, g::EXC_PREVIOUS));
        put::<*mut u8>(generator, g::EXC_PREVIOUS, std::ptr::null_mut());
        clear_slots(frame);
    }
}

/// Drops the contents of the frame of an ended generator, except its code.
///
/// # Safety
/// The frame is not read any more: its slots are not emptied.
#[inline(always)]
pub(super) unsafe fn clear_slots(frame: Frame) {
    // SAFETY: the caller's promise.
    unsafe {
        let count: i32 = state::depth(frame);
        state::set_depth(frame, 0);
        for slot in frames::in_order_of_clearing(count) {
            slots::close(get(frame, f::LOCALSPLUS + 8 * slot));
        }
        slots::close(get(frame, f::FUNCOBJ));
    }
}
