//! Generators that wait for each other, by `yield from` or `await`, or in loops that [only
//! forward](super::forward) values.
//!
//! # Frames that are linked late
//! If a generator waits for another one, which waits for a third and so on, each value comes from
//! the innermost, and the frames in between are only links of the chain. Code that inspects frames
//! must find them there, running, each at its waiting instruction; but such code is rare: compiled
//! code mostly runs from one `yield` to the next without a call. So the innermost frame is entered
//! as if the others were not there, and they are linked before a [call](announcement) that may
//! inspect them. Two observers see them unlinked: another process, and C code that is called where
//! user code can't run, such as tracemalloc at an allocation.

use super::super::capi::*;
use super::super::units::Busy;
use super::super::{entries, exits};
use super::abi;
use super::forward::Forward;
use super::{
    Gil, ResumeCell, cell_of, enter_unit, frame_of, is_resumable, is_suspended, resume_in_place,
};
use crate::intrinsics::is_leaf;
use abi::code_units::{SEND_TO_RESUME, WAIT_TO_NEXT, after_loop, after_send};
use abi::generators::ABOVE_ITERATOR as ABOVE;
use abi::{
    eval_breaker, frame as f, frames as frame_state, generator as g, generators as states, slots,
    thread as t,
};
use cladonia::lir::Announcement;
use pyo3_ffi::*;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The chain whose frames are not linked, though its innermost generator runs; null if there is
/// none. Only the thread with the GIL reads it, and code that releases the GIL links the frames
/// first.
static UNLINKED: AtomicPtr<Chain> = AtomicPtr::new(ptr::null_mut());

/// Number of innermost waiting generators that are noted.
const NOTED: usize = 8;

/// Maximum number of forwarding generators in a chain.
const MAX_FORWARDS: usize = 32;

/// Generators that each wait for the next, and the innermost one, which runs or is about to.
struct Chain {
    gil: Gil,
    ts: Thread,
    /// The eval breaker at the beginning.
    quiet: u64,
    outermost: Object,
    /// Number of waiting generators.
    length: usize,
    /// The last of those, each at its number modulo the size.
    noted: [Object; NOTED],
    /// Number of those that are still noted.
    known: usize,
    /// The local slots of the forwarding generators, from the outermost.
    forwards: [MaybeUninit<*mut slots::Word>; MAX_FORWARDS],
    /// Number of those slots.
    kept: usize,
    /// The one that does not wait.
    running: Object,
    /// True if the frames of the waiting generators are linked.
    is_linked: bool,
}

/// The code that a generator's unit runs before a call that may inspect frames.
pub fn announcement() -> Announcement {
    let slots = [slots::SHOW, slots::HIDE].into_iter().flatten();
    Announcement::new((&raw const UNLINKED) as u64, link_now as *const () as u64)
        .exempt_helpers(crate::helpers::announced())
        .exempt([super::frames::end as *const () as u64])
        .exempt(crate::helpers::computed::addresses())
        .exempt(slots.map(|f| f as usize as u64))
}

/// Links the frames that were to be linked late: the code that follows may inspect them.
#[inline(always)]
pub fn announce() {
    if !is_announced() {
        link_now(0);
    }
}

/// True if [`announce`] has nothing to do.
#[inline(always)]
pub fn is_announced() -> bool {
    UNLINKED.load(Ordering::Relaxed).is_null()
}

#[cold]
extern "C" fn link_now(callee: u64) {
    let chain = UNLINKED.load(Ordering::Relaxed);
    if !chain.is_null() && !entries::is_maker(callee) {
        // SAFETY: a chain exists while [`resume`] runs, on this thread.
        unsafe { (*chain).link() };
    }
}

/// Resumes a generator that waits for another one: runs the innermost. When that has returned or
/// raised, the one that waited for it continues, in its unit if it still has one.
///
/// # Safety
/// As for [`super::resume`]; the generator waits for another, and the cell belongs to its code.
pub(super) unsafe fn resume(
    gil: Gil,
    ts: Thread,
    outermost: Object,
    cell: &ResumeCell,
    value: Object,
) -> Object {
    announce();
    let mut chain = Chain {
        gil,
        ts,
        // SAFETY: the caller's promise: the current thread.
        quiet: unsafe { eval_breaker::word(ts) },
        outermost,
        length: 0,
        noted: [ptr::null_mut(); NOTED],
        known: 0,
        forwards: [const { MaybeUninit::uninit() }; MAX_FORWARDS],
        kept: 0,
        running: outermost,
        is_linked: false,
    };
    // SAFETY: the caller's promises; the frame of each generator keeps the next one alive.
    unsafe {
        let mut cell = Some(chain.find(cell, value));
        let mut sent = Py_NewRef(value);
        loop {
            let result = chain.enter(cell, sent);
            if chain.is_linked {
                return chain.leave_linked(result);
            }
            if chain.length == 0 {
                return result;
            }
            if result.is_null() {
                // Code that raises has linked the frames, so this cannot happen; but nothing is
                // wrong yet.
            } else if is_suspended(chain.running) {
                if chain.hand_on(result) {
                    return result;
                }
            } else if let Some(next) = chain.step_out(result) {
                (cell, sent) = (cell_of(chain.running), next);
                continue;
            }
            chain.link();
            return chain.leave_linked(result);
        }
    }
}

/// The [`Forward`] of a generator that waits to be resumed for the next item, if its items come
/// from another generator.
///
/// # Safety
/// It waits at a `yield`; the cell belongs to its code.
#[inline(always)]
pub(super) unsafe fn forwards(generator: Object, cell: &ResumeCell) -> Option<Forward> {
    // SAFETY: the caller's promise; the iterator of a loop is on the stack.
    unsafe {
        let forward = forward_of(generator, cell);
        let some = forward.is_some() && Py_TYPE(awaited(generator)) == &raw mut PyGen_Type;
        some.then_some(forward)
    }
}

/// The [`Forward`] of a generator that waits at a `yield`.
#[inline(always)]
unsafe fn forward_of(generator: Object, cell: &ResumeCell) -> Forward {
    let table = cell.forwards.get();
    if table.is_null() {
        return Forward::default();
    }
    // SAFETY: the caller's: the generator's position is in its code, whose units the table covers,
    // two bytes each.
    unsafe {
        let frame = frame_of(generator);
        let code = slots::code(frame).cast::<u8>();
        let first = code.offset(abi::code::ADAPTIVE as isize).cast_const();
        let at: *const u8 = get(frame, f::INSTR_PTR);
        *table.byte_offset(at.offset_from(first))
    }
}

/// The object that a generator waits for if it does nothing else. A generator that handles an
/// exception does more, and one with a frame object may have been changed. `depth` is the stack
/// depth of another one.
#[inline(always)]
unsafe fn waits_for(generator: Object, depth: &mut i32) -> Option<Object> {
    // SAFETY: the caller's: a generator that waits for an object on its stack.
    unsafe {
        let frame = frame_of(generator);
        let object: usize = get(frame, f::FRAME_OBJ);
        let handled: usize = get(generator.cast(), g::EXC_STATE);
        if object | handled != 0 {
            return None;
        }
        let top: i32 = frame_state::depth(frame);
        if top != *depth {
            // Mostly they are equal, so that the next load need not wait for this one. `black_box`
            // hides the equality from the compiler.
            *depth = std::hint::black_box(top);
        }
        Some(slots::get(frame, f::LOCALSPLUS + 8 * (*depth - 1 - ABOVE)))
    }
}

/// The object for which a generator waits, on top of its stack but for an index.
#[inline(always)]
unsafe fn awaited(generator: Object) -> Object {
    // SAFETY: the caller's: its stack is not empty.
    unsafe {
        let frame = frame_of(generator);
        let depth: i32 = frame_state::depth(frame);
        slots::get(frame, f::LOCALSPLUS + 8 * (depth - 1 - ABOVE))
    }
}

/// True if dropping a reference deallocates the object and may run arbitrary user code.
#[inline(always)]
unsafe fn drop_may_run_code(object: Object) -> bool {
    // SAFETY: the caller's: a live object.
    unsafe { Py_REFCNT(object) == 1 && !is_leaf(object) }
}

impl Chain {
    /// Finds the waiting generators, from the outermost inwards, as far as the next can be resumed
    /// in place of it; returns the cell of the one that is to run.
    ///
    /// Each value costs an iteration for each of the generators, so an iteration reads each field
    /// once, and does little more. That a generator waits for another is known from the iteration
    /// before, and mostly the next one has the same class and code, and waits too. A generator that
    /// handles an exception does more than wait; one that handles none adds nothing to the
    /// exceptions handled further in.
    #[inline(always)]
    unsafe fn find<'a>(&mut self, cell: &'a ResumeCell, value: Object) -> &'a ResumeCell {
        // SAFETY: the caller's promises; the stack of a waiting frame has the object that it waits
        // for. No user code runs meanwhile.
        unsafe {
            let quiet = self.quiet;
            let most = get::<i32>(self.ts, t::PY_RECURSION_REMAINING) as isize - 1;
            let (mut generator, mut cell) = (self.outermost, cell);
            let class = Py_TYPE(generator);
            let mut code = slots::code(frame_of(generator));
            let mut depth: i32 = frame_state::depth(frame_of(generator));
            let mut state = states::state(generator.cast());
            let mut is_quiet = *cell.pending.get() == quiet;
            let (mut length, mut kept) = (0, 0);
            // Mostly all of them delegate, and have the same code.
            while is_quiet && state == g::STATE_DELEGATING as i8 && (length as isize) < most {
                let Some(inner) = waits_for(generator, &mut depth) else {
                    break;
                };
                if Py_TYPE(inner) != class {
                    break;
                }
                let its_code = slots::code(frame_of(inner));
                let its_state = states::state(inner.cast());
                if its_code != code || its_state != state {
                    break;
                }
                self.noted[length % NOTED] = generator;
                length += 1;
                generator = inner;
            }
            while is_quiet && (length as isize) < most {
                let delegates = state == g::STATE_DELEGATING as i8;
                if !delegates {
                    let asks = state == g::STATE_SUSPENDED as i8 && value == Py_None();
                    if !asks || kept == MAX_FORWARDS {
                        break;
                    }
                    let Some(forward) = forwards(generator, cell) else {
                        break;
                    };
                    let place = (f::LOCALSPLUS + 8 * forward.slot()) as isize;
                    self.forwards[kept].write(frame_of(generator).offset(place).cast());
                }
                let Some(inner) = waits_for(generator, &mut depth) else {
                    break;
                };
                if Py_TYPE(inner) != class && !is_resumable(inner) {
                    break;
                }
                let its_code = slots::code(frame_of(inner));
                let mut its_cell = cell;
                if its_code != code {
                    let Some(its) = cell_of(inner) else { break };
                    its_cell = its;
                }
                let its_state = states::state(inner.cast());
                if !states::may_be_resumed(its_state)
                    || its_state == g::STATE_CREATED as i8 && value != Py_None()
                {
                    break;
                }
                if its_code != code {
                    code = its_code;
                    is_quiet = *its_cell.pending.get() == quiet;
                }
                kept += usize::from(!delegates);
                self.noted[length % NOTED] = generator;
                length += 1;
                (generator, cell, state) = (inner, its_cell, its_state);
            }
            self.kept = kept;
            self.length = length;
            self.known = length.min(NOTED);
            self.running = generator;
            cell
        }
    }

    /// Runs the generator that does not wait; the value sent is taken over.
    #[inline(always)]
    unsafe fn enter(&mut self, cell: Option<&ResumeCell>, sent: Object) -> Object {
        if self.length != 0 {
            UNLINKED.store(self, Ordering::Relaxed);
        }
        // SAFETY: the caller's promises. Only the code that links the frames uses the chain
        // meanwhile.
        let result = unsafe {
            match cell {
                Some(cell) => enter_unit(self.ts, self.running, cell, sent),
                None => {
                    announce();
                    resume_in_place(self.gil, self.running, sent)
                }
            }
        };
        UNLINKED.store(ptr::null_mut(), Ordering::Relaxed);
        result
    }

    /// Stores a value that the innermost has yielded into the locals of the forwarding generators.
    /// False if an overwritten object may run code when it is deallocated: then the frames must be
    /// linked, and all is repeated.
    #[inline(always)]
    unsafe fn hand_on(&mut self, value: Object) -> bool {
        // SAFETY: the caller's promise: places of those that wait, which hold objects or null.
        unsafe {
            for place in self.forwards[..self.kept].iter().rev() {
                let place = place.assume_init();
                let old = *place;
                let object = slots::object(old);
                if !object.is_null() && drop_may_run_code(object) {
                    return false;
                }
                *place = slots::word(Py_NewRef(value));
                slots::close(old);
            }
            true
        }
    }

    /// The generator that ran has ended, and the last waiting one is to run: returns the value to
    /// send to it. Returns `None`, without side effects, if that one is not noted, or if the
    /// deallocation of a dropped object may run user code.
    #[inline(always)]
    unsafe fn step_out(&mut self, result: Object) -> Option<Object> {
        let known = self.known.checked_sub(1)?;
        let waits = self.noted[(self.length - 1) % NOTED];
        // SAFETY: the caller's promise.
        let sent = unsafe {
            if states::state(waits.cast()) == g::STATE_DELEGATING as i8 {
                let frame = frame_of(waits);
                let at: *const u8 = get(frame, f::INSTR_PTR);
                put(frame, f::INSTR_PTR, after_send(at.sub(SEND_TO_RESUME)));
                result
            } else if drop_may_run_code(result) {
                return None;
            } else {
                // Its loop requests the next item from the ended generator once more.
                Py_DECREF(result);
                self.kept -= 1;
                Py_NewRef(Py_None())
            }
        };
        (self.length, self.known) = (self.length - 1, known);
        self.running = waits;
        Some(sent)
    }

    /// Links the frames of the waiting generators, as running, each at its waiting instruction,
    /// inside the frame that resumes the outermost.
    unsafe fn link(&mut self) {
        UNLINKED.store(ptr::null_mut(), Ordering::Relaxed);
        self.is_linked = true;
        // SAFETY: the waiting generators are unchanged. The frame of the running one is linked,
        // with any frames inside it; otherwise the caller that resumes the outermost has the
        // current frame.
        unsafe {
            let state = states::state(self.running.cast());
            let runs = state == g::STATE_EXECUTING as i8;
            let innermost = frame_of(self.running);
            let mut above: Frame = if runs {
                get(innermost, f::PREVIOUS)
            } else {
                get(self.ts, t::CURRENT_FRAME)
            };
            let mut generator = self.outermost;
            for _ in 0..self.length {
                let frame = frame_of(generator);
                put(frame, f::PREVIOUS, above);
                above = frame;
                let state = states::state(generator.cast());
                let forward = match cell_of(generator) {
                    Some(cell) if state == g::STATE_SUSPENDED as i8 => forward_of(generator, cell),
                    _ => Forward::default(),
                };
                let back = if forward.is_some() {
                    forward.back()
                } else {
                    SEND_TO_RESUME
                };
                // The interpreter uses this field only while it runs a frame called from this one.
                frame_state::set_mark(frame, forward.bits());
                put::<i8>(generator.cast(), g::FRAME_STATE, g::STATE_EXECUTING as i8);
                let at: *const u8 = get(frame, f::INSTR_PTR);
                put(frame, f::INSTR_PTR, at.sub(back));
                generator = awaited(generator);
            }
            if runs {
                put(innermost, f::PREVIOUS, above)
            } else {
                put(self.ts, t::CURRENT_FRAME, above)
            }
            let left: i32 = get(self.ts, t::PY_RECURSION_REMAINING);
            put(
                self.ts,
                t::PY_RECURSION_REMAINING,
                left - self.length as i32,
            );
        }
    }

    /// Continues after the generator that ran, inside the linked ones, has produced `result`.
    unsafe fn leave_linked(&self, mut result: Object) -> Object {
        let (gil, ts, mut last) = (self.gil, self.ts, self.running);
        // SAFETY: the caller's promises: the frames from the current one to that of the outermost
        // are those that wait.
        unsafe {
            while last != self.outermost {
                let has_yielded = !result.is_null() && is_suspended(last);
                if has_yielded && !self.is_watched() {
                    unlink(ts, self.outermost, result);
                    return result;
                }
                let frame: Frame = get(ts, t::CURRENT_FRAME);
                last = frame.sub(g::FRAME as usize).cast();
                if result.is_null() {
                    result = raise_at_wait(gil, ts, frame);
                    continue;
                }
                if has_yielded {
                    result = yield_interpreted(gil, ts, frame, result);
                    continue;
                }
                let asks_again = Forward::of_bits(frame_state::mark(frame)).is_some();
                if asks_again {
                    Py_DECREF(result);
                    if self.is_watched() {
                        result = end_loop_interpreted(gil, ts, frame);
                        continue;
                    }
                    result = Py_NewRef(Py_None());
                }
                let at: *const u8 = get(frame, f::INSTR_PTR);
                unlink(ts, last, ptr::null_mut());
                if !asks_again {
                    put(frame, f::INSTR_PTR, after_send(at));
                }
                result = match cell_of(last) {
                    Some(cell) => enter_unit(ts, last, cell, result),
                    None => resume_in_place(gil, last, result),
                };
            }
            result
        }
    }

    /// True if other events are requested than at the beginning.
    unsafe fn is_watched(&self) -> bool {
        // SAFETY: the current thread.
        let word = unsafe { eval_breaker::word(self.ts) };
        (word ^ self.quiet) & !eval_breaker::EVENTS != 0
    }
}

/// Lets the interpreter yield a value, which is taken over, from a linked frame that waited for it:
/// it reports the yield to monitoring tools.
#[cold]
unsafe fn yield_interpreted(gil: Gil, ts: Thread, frame: Frame, value: Object) -> Object {
    let _busy = Busy::new();
    // SAFETY: the frame is the innermost one, and complete except for its exception state. A `SEND`
    // or a `FOR_ITER` has produced the value.
    unsafe {
        show_handled(ts, frame);
        let depth: i32 = frame_state::depth(frame);
        slots::put(frame, f::LOCALSPLUS + 8 * depth, value);
        frame_state::set_depth(frame, depth + 1);
        let at: *const u8 = get(frame, f::INSTR_PTR);
        put(frame, f::INSTR_PTR, at.add(WAIT_TO_NEXT));
        exits::go_on_owned(gil, ts, frame)
    }
}

/// Lets the interpreter continue after the loop of a linked forwarding frame, since the inner
/// generator has ended.
#[cold]
unsafe fn end_loop_interpreted(gil: Gil, ts: Thread, frame: Frame) -> Object {
    let _busy = Busy::new();
    // SAFETY: the frame is the innermost one, at its `FOR_ITER`, and complete except for its
    // exception state.
    unsafe {
        show_handled(ts, frame);
        let depth = frame_state::depth(frame) - 1 - ABOVE;
        let inner: slots::Word = get(frame, f::LOCALSPLUS + 8 * depth);
        frame_state::set_depth(frame, depth);
        slots::close(inner);
        let at: *const u8 = get(frame, f::INSTR_PTR);
        put(frame, f::INSTR_PTR, after_loop(at));
        exits::go_on_owned(gil, ts, frame)
    }
}

/// Makes the exception state of a linked frame's generator the innermost, as when it runs.
unsafe fn show_handled(ts: Thread, frame: Frame) {
    // SAFETY: the caller's promise.
    unsafe {
        let base = frame.sub(g::FRAME as usize);
        frame_state::set_mark(frame, 0);
        put::<*mut u8>(base, g::EXC_PREVIOUS, get(ts, t::EXC_INFO));
        put(ts, t::EXC_INFO, base.add(g::EXC_STATE as usize));
    }
}

/// Undoes [`Chain::link`] from the innermost waiting frame to that of a generator; the forwarding
/// ones store `value`, if there is one.
unsafe fn unlink(ts: Thread, outermost: Object, value: Object) {
    // SAFETY: the frames from there inwards are those of linked generators. When an overwritten
    // object is deallocated, the frame is the current one, and all frames around it are linked.
    unsafe {
        loop {
            let frame: Frame = get(ts, t::CURRENT_FRAME);
            let base = frame.sub(g::FRAME as usize);
            let forward = Forward::of_bits(frame_state::mark(frame));
            let at: *const u8 = get(frame, f::INSTR_PTR);
            let (back, state) = if forward.is_some() {
                (forward.back(), g::STATE_SUSPENDED)
            } else {
                (SEND_TO_RESUME, g::STATE_DELEGATING)
            };
            if forward.is_some() && !value.is_null() {
                put(frame, f::INSTR_PTR, at.add(WAIT_TO_NEXT));
                let place = f::LOCALSPLUS + 8 * forward.slot();
                let old: slots::Word = get(frame, place);
                slots::put(frame, place, Py_NewRef(value));
                slots::close(old);
            }
            frame_state::set_mark(frame, 0);
            put(frame, f::INSTR_PTR, at.add(back));
            put::<i8>(base, g::FRAME_STATE, state as i8);
            let above: Frame = get(frame, f::PREVIOUS);
            put(frame, f::PREVIOUS, ptr::null_mut::<u8>());
            put(ts, t::CURRENT_FRAME, above);
            let left: i32 = get(ts, t::PY_RECURSION_REMAINING);
            put(ts, t::PY_RECURSION_REMAINING, left + 1);
            if base == outermost.cast::<u8>() {
                return;
            }
        }
    }
}

/// Raises the pending exception where a linked frame waits; returns the frame's result.
#[cold]
unsafe fn raise_at_wait(gil: Gil, ts: Thread, frame: Frame) -> Object {
    let _busy = Busy::new();
    // SAFETY: the frame is the innermost one, and complete except for the value sent, which is
    // dropped with the stack, and for its exception state.
    unsafe {
        show_handled(ts, frame);
        let shape = CodeShape::of(slots::code(frame));
        let at: *const u8 = get(frame, f::INSTR_PTR);
        let pos = (at as usize - shape.units() as usize) / 2;
        exits::raise_in_generator(gil, ts, frame, &shape, pos as u32)
    }
}
