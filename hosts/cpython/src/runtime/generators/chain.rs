//! Generators that wait for each other, by `yield from` or `await`, or in loops that [only hand on](super::forward) what they get.
//!
//! # Frames that are linked late
//! Where a generator waits for another one, which waits for a third and so on, each value comes from the innermost, and the frames in
//! between only stand in the chain of frames meanwhile. Whoever looks must find them there, running, each where it waits; but hardly
//! anybody looks: compiled code mostly runs from one `yield` to the next without a call. So the innermost frame is entered as if the
//! others were not there, and they are linked when [something is called](announcement) that may look. Who is not announced is another
//! process, and C code that is called where code of the program can't be, as tracemalloc is at an allocation.

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
use abi::{
    eval_breaker, frame as f, frames as frame_state, generator as g, generators as states, slots,
    thread as t,
};
use cladonia::lir::Announcement;
use pyo3_ffi::*;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The chain whose frames are not linked, though its innermost runs; null if there is none. Only who has the GIL asks, and whoever
/// gives it up was announced.
static UNLINKED: AtomicPtr<Chain> = AtomicPtr::new(ptr::null_mut());

/// So many of the innermost generators that wait are noted.
const NOTED: usize = 8;

/// So many generators of a chain may hand on what they get.
const MOST_FORWARDS: usize = 32;

/// Generators that wait for each other, each for the next, and the one that does not, which runs or is about to.
struct Chain {
    gil: Gil,
    ts: Thread,
    /// The eval breaker at the beginning.
    quiet: u64,
    outermost: Object,
    /// How many wait.
    length: usize,
    /// The last of those, each at its number modulo the size.
    noted: [Object; NOTED],
    /// How many of those are still noted.
    known: usize,
    /// Where those that hand on what they get keep it, from the outermost.
    forwards: [MaybeUninit<*mut slots::Word>; MOST_FORWARDS],
    /// How many of them there are.
    kept: usize,
    /// The one that does not wait.
    running: Object,
    /// Whether the frames of those that wait are linked.
    is_linked: bool,
}

/// What the unit of a generator does before it calls what may look at frames.
pub fn announcement() -> Announcement {
    Announcement {
        word: (&raw const UNLINKED) as u64,
        hook: link_now as *const () as u64,
        exempt_helpers: crate::helpers::announced().map(str::to_owned).collect(),
        exempt: [super::frames::end as *const () as u64]
            .into_iter()
            .chain(
                [slots::SHOW, slots::HIDE]
                    .into_iter()
                    .flatten()
                    .map(|f| f as usize as u64),
            )
            .collect(),
    }
}

/// Link the frames that were to be linked late: somebody may look at them now.
#[inline(always)]
pub fn announce() {
    if !is_announced() {
        link_now(0);
    }
}

/// Whether [`announce`] has nothing to do.
#[inline(always)]
pub fn is_announced() -> bool {
    UNLINKED.load(Ordering::Relaxed).is_null()
}

#[cold]
extern "C" fn link_now(callee: u64) {
    let chain = UNLINKED.load(Ordering::Relaxed);
    if !chain.is_null() && !entries::is_maker(callee) {
        // SAFETY: a chain is there while [`resume`] runs, on this thread.
        unsafe { (*chain).link() };
    }
}

/// Resume a generator that waits for another one: the innermost is. Where that has returned or raised, the one that waited for it
/// goes on, in its unit if there is one still.
///
/// # Safety
/// As of [`super::resume`]; the generator waits for another, and the cell is of its code.
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
        forwards: [const { MaybeUninit::uninit() }; MOST_FORWARDS],
        kept: 0,
        running: outermost,
        is_linked: false,
    };
    // SAFETY: the caller's promises; each generator is held by the frame of the one before.
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
                // Who raises has announced it, so this is not to be; but nothing is wrong yet.
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

/// What a generator that waits to be asked for the next item hands on, if it has that from another one.
///
/// # Safety
/// It waits at a `yield`; the cell is of its code.
#[inline(always)]
pub(super) unsafe fn forwards(generator: Object, cell: &ResumeCell) -> Option<Forward> {
    // SAFETY: the caller's promise; what a loop asks is on top of the stack.
    unsafe {
        let forward = forward_of(generator, cell);
        let some = forward.is_some() && Py_TYPE(awaited(generator)) == &raw mut PyGen_Type;
        some.then_some(forward)
    }
}

/// What a generator that waits at a `yield` hands on.
#[inline(always)]
unsafe fn forward_of(generator: Object, cell: &ResumeCell) -> Forward {
    let table = cell.forwards.get();
    if table.is_null() {
        return Forward::default();
    }
    // SAFETY: the caller's: the generator's place is in its code, whose units the table has, two bytes each.
    unsafe {
        let frame = frame_of(generator);
        let code = slots::code(frame).cast::<u8>();
        let first = code.offset(abi::code::ADAPTIVE as isize).cast_const();
        let at: *const u8 = get(frame, f::INSTR_PTR);
        *table.byte_offset(at.offset_from(first))
    }
}

/// What a generator waits for that does nothing else: one that handles an exception does, and somebody may have changed one whose
/// frame object is there. `depth` is that of the stack of another one.
#[inline(always)]
unsafe fn waits_for(generator: Object, depth: &mut i32) -> Option<Object> {
    // SAFETY: the caller's: a generator that waits for what is on top of its stack.
    unsafe {
        let frame = frame_of(generator);
        let object: usize = get(frame, f::FRAME_OBJ);
        let handled: usize = get(generator.cast(), g::EXC_STATE);
        if object | handled != 0 {
            return None;
        }
        let top: i32 = frame_state::depth(frame);
        if top != *depth {
            // Mostly they are equal, so that the next load need not wait for this one. The compiler must not see it.
            *depth = std::hint::black_box(top);
        }
        Some(slots::get(frame, f::LOCALSPLUS + 8 * (*depth - 1)))
    }
}

/// What a generator that waits has on top of its stack.
#[inline(always)]
unsafe fn awaited(generator: Object) -> Object {
    // SAFETY: the caller's: its stack is not empty.
    unsafe {
        let frame = frame_of(generator);
        let depth: i32 = frame_state::depth(frame);
        slots::get(frame, f::LOCALSPLUS + 8 * (depth - 1))
    }
}

/// Whether the end of a reference is that of an object, and may run code of the program.
#[inline(always)]
unsafe fn may_be_mourned(object: Object) -> bool {
    // SAFETY: the caller's: a live object.
    unsafe { Py_REFCNT(object) == 1 && !is_leaf(object) }
}

impl Chain {
    /// Find those that wait, from the outermost inwards, as far as the next can be resumed in place of it; gives the cell of the
    /// one that is to run.
    ///
    /// Each value costs a turn for each of the generators, so a turn looks at each field once, and does little more: that a generator
    /// waits for another is known from the turn before, and mostly the next one is of the same class and code, and waits too. One
    /// that handles an exception does not only wait: one that handles nothing adds nothing to what is handled further in.
    #[inline(always)]
    unsafe fn find<'a>(&mut self, cell: &'a ResumeCell, value: Object) -> &'a ResumeCell {
        // SAFETY: the caller's promises; the top of the stack of a frame that waits is what it waits for. Nothing of the
        // program runs meanwhile.
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
            // Mostly all of them delegate, and are of one code.
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
                    if !asks || kept == MOST_FORWARDS {
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

    /// Let the one that does not wait run, with what is sent taken over.
    #[inline(always)]
    unsafe fn enter(&mut self, cell: Option<&ResumeCell>, sent: Object) -> Object {
        if self.length != 0 {
            UNLINKED.store(self, Ordering::Relaxed);
        }
        // SAFETY: the caller's promises. Nobody but who links the frames uses the chain meanwhile.
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

    /// Let those that hand on what they get keep a value that the innermost has yielded. False if what one of them held may run code
    /// when it ends: then the frames must be linked, and all be done again.
    #[inline(always)]
    unsafe fn hand_on(&mut self, value: Object) -> bool {
        // SAFETY: the caller's promise: places of those that wait, which hold objects or null.
        unsafe {
            for place in self.forwards[..self.kept].iter().rev() {
                let place = place.assume_init();
                let old = *place;
                let object = slots::object(old);
                if !object.is_null() && may_be_mourned(object) {
                    return false;
                }
                *place = slots::word(Py_NewRef(value));
                slots::close(old);
            }
            true
        }
    }

    /// The one that ran has ended, and the last of those that wait is to run: gives what it is sent. Nothing happens if it is not
    /// noted, or drops what may run code when it ends.
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
            } else if may_be_mourned(result) {
                return None;
            } else {
                // Its loop asks the one that has ended once more.
                Py_DECREF(result);
                self.kept -= 1;
                Py_NewRef(Py_None())
            }
        };
        (self.length, self.known) = (self.length - 1, known);
        self.running = waits;
        Some(sent)
    }

    /// Let the frames of those that wait run, each where it waits, inside of what resumes the outermost.
    unsafe fn link(&mut self) {
        UNLINKED.store(ptr::null_mut(), Ordering::Relaxed);
        self.is_linked = true;
        // SAFETY: nothing has happened to those that wait. The frame of the one that runs is linked, whatever has been linked to it
        // since; otherwise whoever resumes the outermost has the current frame.
        unsafe {
            let state = states::state(self.running.cast());
            let runs = state == g::STATE_EXECUTING as i8;
            let innermost = frame_of(self.running);
            let mut above: Frame = match runs {
                true => get(innermost, f::PREVIOUS),
                false => get(self.ts, t::CURRENT_FRAME),
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
                let back = match forward.is_some() {
                    true => forward.back(),
                    false => SEND_TO_RESUME,
                };
                // The interpreter has a use for this only while a frame is called that it runs itself.
                frame_state::set_mark(frame, forward.bits());
                put::<i8>(generator.cast(), g::FRAME_STATE, g::STATE_EXECUTING as i8);
                let at: *const u8 = get(frame, f::INSTR_PTR);
                put(frame, f::INSTR_PTR, at.sub(back));
                generator = awaited(generator);
            }
            match runs {
                true => put(innermost, f::PREVIOUS, above),
                false => put(self.ts, t::CURRENT_FRAME, above),
            }
            let left: i32 = get(self.ts, t::PY_RECURSION_REMAINING);
            put(
                self.ts,
                t::PY_RECURSION_REMAINING,
                left - self.length as i32,
            );
        }
    }

    /// Go on where the one that ran, inside of those that are linked, has come to `result`.
    unsafe fn leave_linked(&self, mut result: Object) -> Object {
        let (gil, ts, mut last) = (self.gil, self.ts, self.running);
        // SAFETY: the caller's promises: the frames from the current one to that of the outermost are those that wait.
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

    /// Whether somebody asks for other events than at the beginning.
    unsafe fn is_watched(&self) -> bool {
        // SAFETY: the current thread.
        let word = unsafe { eval_breaker::word(self.ts) };
        (word ^ self.quiet) & !eval_breaker::EVENTS != 0
    }
}

/// Let the interpreter yield a value, which is taken over, from a linked frame that waited for it: it tells those who ask for that.
#[cold]
unsafe fn yield_interpreted(gil: Gil, ts: Thread, frame: Frame, value: Object) -> Object {
    let _busy = Busy::new();
    // SAFETY: the frame is the innermost one, and complete but for what it handles. A `SEND` has given the value, or a `FOR_ITER`.
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

/// Let the interpreter go on behind the loop of a linked frame that handed on what an inner generator yielded, since that has ended.
#[cold]
unsafe fn end_loop_interpreted(gil: Gil, ts: Thread, frame: Frame) -> Object {
    let _busy = Busy::new();
    // SAFETY: the frame is the innermost one, at its `FOR_ITER`, and complete but for what it handles.
    unsafe {
        show_handled(ts, frame);
        let depth = frame_state::depth(frame) - 1;
        let inner: slots::Word = get(frame, f::LOCALSPLUS + 8 * depth);
        frame_state::set_depth(frame, depth);
        slots::close(inner);
        let at: *const u8 = get(frame, f::INSTR_PTR);
        put(frame, f::INSTR_PTR, after_loop(at));
        exits::go_on_owned(gil, ts, frame)
    }
}

/// Let what the generator of a linked frame handles be the innermost, as where it runs.
unsafe fn show_handled(ts: Thread, frame: Frame) {
    // SAFETY: the caller's promise.
    unsafe {
        let base = frame.sub(g::FRAME as usize);
        frame_state::set_mark(frame, 0);
        put::<*mut u8>(base, g::EXC_PREVIOUS, get(ts, t::EXC_INFO));
        put(ts, t::EXC_INFO, base.add(g::EXC_STATE as usize));
    }
}

/// Undo [`Chain::link`] from the innermost frame that waits to that of a generator; those that hand on what they get keep `value`, if
/// there is one.
unsafe fn unlink(ts: Thread, outermost: Object, value: Object) {
    // SAFETY: the frames from there inwards are those of generators that were linked. Each is the current one, and all around it are
    // linked, when what it held may end.
    unsafe {
        loop {
            let frame: Frame = get(ts, t::CURRENT_FRAME);
            let base = frame.sub(g::FRAME as usize);
            let forward = Forward::of_bits(frame_state::mark(frame));
            let at: *const u8 = get(frame, f::INSTR_PTR);
            let (back, state) = match forward.is_some() {
                true => (forward.back(), g::STATE_SUSPENDED),
                false => (SEND_TO_RESUME, g::STATE_DELEGATING),
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

/// Let the pending exception be raised where a linked frame waits; gives what the frame comes to.
#[cold]
unsafe fn raise_at_wait(gil: Gil, ts: Thread, frame: Frame) -> Object {
    let _busy = Busy::new();
    // SAFETY: the frame is the innermost one, and complete but for what was sent, which is dropped with the stack, and for
    // what it handles.
    unsafe {
        show_handled(ts, frame);
        let shape = CodeShape::of(slots::code(frame));
        let at: *const u8 = get(frame, f::INSTR_PTR);
        let pos = (at as usize - shape.units() as usize) / 2;
        exits::raise_in_generator(gil, ts, frame, &shape, pos as u32)
    }
}
