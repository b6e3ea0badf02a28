//! Generators that wait for each other, by `yield from` or `await`.

use super::super::capi::*;
use super::super::exits;
use super::super::units::Busy;
use super::abi;
use super::{ResumeCell, cell_of, enter_unit, is_resumable, is_suspended, resume_in_place};
use abi::{frame as f, generator as g, thread as t};
use pyo3_ffi::*;

/// Resume a generator that waits for another one: the frames in between are only linked, and unlinked when the innermost
/// has yielded, because that is all that happens in them. Where it has returned or raised, the frame that waited for it
/// goes on, in its unit if it has one still.
///
/// # Safety
/// As of [`super::resume`]; the generator waits for another, and the cell is of its code.
pub(super) unsafe fn resume(
    ts: Thread,
    outermost: Object,
    cell: &ResumeCell,
    value: Object,
) -> Object {
    // SAFETY: the caller's promises; each generator is held by the frame of the one before.
    unsafe {
        let (generator, cell) = link_chain(ts, outermost, cell, value);
        let mut result = enter_unit(ts, generator, cell, Py_NewRef(value));
        let mut last = generator;
        while last != outermost {
            if !result.is_null() && is_suspended(last) {
                unlink_chain(ts, outermost);
                return result;
            }
            let frame: Frame = get(ts, t::CURRENT_FRAME);
            last = frame.sub(g::FRAME as usize).cast();
            if result.is_null() {
                result = raise_at_send(ts, frame);
                continue;
            }
            let send: *const u8 = get(frame, f::INSTR_PTR);
            unlink_chain(ts, last);
            // Where the interpreter goes on if the unit does not.
            let after = send.add(2 * (2 + send.add(1).read() as usize));
            put(frame, f::INSTR_PTR, after);
            result = match cell_of(last) {
                Some(cell) => enter_unit(ts, last, cell, result),
                None => resume_in_place(last, result),
            };
        }
        result
    }
}

/// Bytes from a `SEND`, with its cache and the `YIELD_VALUE` after it, to the `RESUME` at which a frame waits.
const SEND_TO_RESUME: usize = 6;

/// Let the frames of generators that wait for each other run, each at its `SEND`, as far as the next can be resumed in
/// place of it; gives the first that is not linked.
///
/// Each value costs a turn for each of the generators, so a turn looks at each field once, and does little more: that a generator
/// waits for another is known from the turn before, and mostly the next one is of the same class and code, and waits too. What a
/// generator handles is not linked: one that handles nothing adds nothing to what is handled further in, and one that handles
/// something is not linked itself.
unsafe fn link_chain(
    ts: Thread,
    outermost: Object,
    cell: &ResumeCell,
    value: Object,
) -> (Object, &ResumeCell) {
    // SAFETY: the caller's promises; the top of the stack of a frame that waits is what it waits for. Nothing of the
    // program runs meanwhile.
    unsafe {
        let quiet: u64 = get(ts, t::EVAL_BREAKER);
        let mut frame_above: Frame = get(ts, t::CURRENT_FRAME);
        let mut left: i32 = get(ts, t::PY_RECURSION_REMAINING);
        let (mut generator, mut cell) = (outermost, cell);
        let class = Py_TYPE(generator);
        let mut code: Object = get(generator.cast(), g::FRAME + f::EXECUTABLE);
        let mut depth: i32 = get(generator.cast(), g::FRAME + f::STACKTOP);
        let mut waits = *cell.pending.get() == quiet;
        while waits && left > 1 {
            let base = generator.cast::<u8>();
            let frame = base.add(g::FRAME as usize);
            let object: usize = get(frame, f::FRAME_OBJ);
            let handled: usize = get(base, g::EXC_STATE);
            if object | handled != 0 {
                break;
            }
            let top: i32 = get(frame, f::STACKTOP);
            if top != depth {
                // Mostly they are equal, so that the next load need not wait for this one. The compiler must not see it.
                depth = std::hint::black_box(top);
            }
            let inner: Object = get(frame, f::LOCALSPLUS + 8 * (depth - 1));
            if Py_TYPE(inner) != class && !is_resumable(inner) {
                break;
            }
            let mut its_cell = cell;
            let its_code: Object = get(inner.cast(), g::FRAME + f::EXECUTABLE);
            if its_code != code {
                let Some(its) = cell_of(inner) else { break };
                (code, its_cell) = (its_code, its);
                waits = *its.pending.get() == quiet;
            }
            let state: i8 = get(inner.cast(), g::FRAME_STATE);
            if state != g::STATE_DELEGATING as i8 {
                if state >= g::STATE_EXECUTING as i8
                    || state == g::STATE_CREATED as i8 && value != Py_None()
                {
                    break;
                }
                waits = false;
            }
            put(frame, f::PREVIOUS, frame_above);
            frame_above = frame;
            put::<i8>(base, g::FRAME_STATE, g::STATE_EXECUTING as i8);
            let at: *const u8 = get(frame, f::INSTR_PTR);
            put(frame, f::INSTR_PTR, at.sub(SEND_TO_RESUME));
            left -= 1;
            (generator, cell) = (inner, its_cell);
        }
        put(ts, t::CURRENT_FRAME, frame_above);
        put(ts, t::PY_RECURSION_REMAINING, left);
        (generator, cell)
    }
}

/// Undo [`link_chain`] from the innermost frame that is linked to that of a generator.
unsafe fn unlink_chain(ts: Thread, outermost: Object) {
    // SAFETY: the frames from there inwards are those of generators that were linked.
    unsafe {
        let mut frame: Frame = get(ts, t::CURRENT_FRAME);
        let mut left: i32 = get(ts, t::PY_RECURSION_REMAINING);
        loop {
            let base = frame.sub(g::FRAME as usize);
            let above: Frame = get(frame, f::PREVIOUS);
            put(frame, f::PREVIOUS, std::ptr::null_mut::<u8>());
            put::<i8>(base, g::FRAME_STATE, g::STATE_DELEGATING as i8);
            let send: *const u8 = get(frame, f::INSTR_PTR);
            put(frame, f::INSTR_PTR, send.add(SEND_TO_RESUME));
            left += 1;
            if base == outermost.cast::<u8>() {
                put(ts, t::CURRENT_FRAME, above);
                put(ts, t::PY_RECURSION_REMAINING, left);
                return;
            }
            frame = above;
        }
    }
}

/// Let the pending exception be raised by the `SEND` at which a linked frame stands; gives what the frame comes to.
#[cold]
unsafe fn raise_at_send(ts: Thread, frame: Frame) -> Object {
    let _busy = Busy::new();
    // SAFETY: the frame is the innermost one, and complete but for what was sent, which is dropped with the stack, and for
    // what it handles.
    unsafe {
        let base = frame.sub(g::FRAME as usize);
        put::<*mut u8>(base, g::EXC_PREVIOUS, get(ts, t::EXC_INFO));
        put(ts, t::EXC_INFO, base.add(g::EXC_STATE as usize));
        let shape = CodeShape::of(get(frame, f::EXECUTABLE));
        let at: *const u8 = get(frame, f::INSTR_PTR);
        let pos = (at as usize - shape.units() as usize) / 2;
        exits::raise_in_generator(ts, frame, &shape, pos as u32)
    }
}
