//! Generators that wait for each other, by `yield from` or `await`.
//!
//! # Frames that are linked late
//! Where a generator waits for another one, which waits for a third and so on, each value comes from the innermost, and the frames in
//! between only stand in the chain of frames meanwhile. Whoever looks must find them there, running, each at its `SEND`; but hardly
//! anybody looks: compiled code mostly runs from one `yield` to the next without a call. So the innermost frame is entered as if the
//! others were not there, and they are linked when [something is called](announcement) that may look. Who is not announced is another
//! process, and C code that is called where code of the program can't be, as tracemalloc is at an allocation.

use super::super::capi::*;
use super::super::units::Busy;
use super::super::{entries, exits};
use super::abi;
use super::{ResumeCell, cell_of, enter_unit, is_resumable, is_suspended, resume_in_place};
use abi::{frame as f, generator as g, thread as t};
use cladonia::lir::Announcement;
use pyo3_ffi::*;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The chain whose frames are not linked, though its innermost runs; null if there is none. Only who has the GIL asks, and whoever
/// gives it up was announced.
static UNLINKED: AtomicPtr<Chain> = AtomicPtr::new(ptr::null_mut());

/// So many of the innermost generators that wait are noted.
const NOTED: usize = 8;

/// Generators that wait for each other, each for the next, and the one that does not, which runs or is about to.
struct Chain {
    ts: Thread,
    outermost: Object,
    /// How many wait.
    length: usize,
    /// The last of those, each at its number modulo the size.
    noted: [Object; NOTED],
    /// How many of those are still noted.
    known: usize,
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
        exempt: vec![super::frames::end as *const () as u64],
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
    ts: Thread,
    outermost: Object,
    cell: &ResumeCell,
    value: Object,
) -> Object {
    announce();
    let mut chain = Chain {
        ts,
        outermost,
        length: 0,
        noted: [ptr::null_mut(); NOTED],
        known: 0,
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
                return leave_linked(ts, outermost, chain.running, result);
            }
            if chain.length == 0 || !result.is_null() && is_suspended(chain.running) {
                return result;
            }
            // Who raises has announced it, so null does not come here without a link; but nothing would be wrong then.
            if result.is_null() || chain.known == 0 {
                chain.link();
                return leave_linked(ts, outermost, chain.running, result);
            }
            chain.step_out();
            let frame = frame_of(chain.running);
            let at: *const u8 = get(frame, f::INSTR_PTR);
            put(frame, f::INSTR_PTR, after_send(at.sub(SEND_TO_RESUME)));
            (cell, sent) = (cell_of(chain.running), result);
        }
    }
}

/// Bytes from a `SEND`, with its cache and the `YIELD_VALUE` after it, to the `RESUME` at which a frame waits.
const SEND_TO_RESUME: usize = 6;

/// Where the interpreter goes on when a `SEND` has a result.
unsafe fn after_send(send: *const u8) -> *const u8 {
    // SAFETY: the caller's: an instruction with its operand.
    unsafe { send.add(2 * (2 + send.add(1).read() as usize)) }
}

#[inline(always)]
unsafe fn frame_of(generator: Object) -> Frame {
    // SAFETY: the caller's: a generator, with its frame inside.
    unsafe { generator.cast::<u8>().offset(g::FRAME as isize) }
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
            let quiet: u64 = get(self.ts, t::EVAL_BREAKER);
            let most = get::<i32>(self.ts, t::PY_RECURSION_REMAINING) as isize - 1;
            let (mut generator, mut cell) = (self.outermost, cell);
            let class = Py_TYPE(generator);
            let mut code: Object = get(generator.cast(), g::FRAME + f::EXECUTABLE);
            let mut depth: i32 = get(generator.cast(), g::FRAME + f::STACKTOP);
            let mut is_quiet = *cell.pending.get() == quiet;
            let mut length = 0;
            while is_quiet && (length as isize) < most {
                let frame = frame_of(generator);
                let object: usize = get(frame, f::FRAME_OBJ);
                let handled: usize = get(generator.cast(), g::EXC_STATE);
                if object | handled != 0 {
                    break;
                }
                let top: i32 = get(frame, f::STACKTOP);
                if top != depth {
                    // Mostly they are equal, so that the next load need not wait for this one. The compiler must not see it.
                    depth = std::hint::black_box(top);
                }
                let inner: Object = get(frame, f::LOCALSPLUS + 8 * (depth - 1));
                let mut its_cell = cell;
                if Py_TYPE(inner) != class && !is_resumable(inner) {
                    break;
                }
                let its_code: Object = get(inner.cast(), g::FRAME + f::EXECUTABLE);
                if its_code != code {
                    let Some(its) = cell_of(inner) else { break };
                    (code, its_cell) = (its_code, its);
                    is_quiet = *its.pending.get() == quiet;
                }
                let state: i8 = get(inner.cast(), g::FRAME_STATE);
                let waits = state == g::STATE_DELEGATING as i8;
                if !waits
                    && (state >= g::STATE_EXECUTING as i8
                        || state == g::STATE_CREATED as i8 && value != Py_None())
                {
                    break;
                }
                self.noted[length % NOTED] = generator;
                length += 1;
                (generator, cell) = (inner, its_cell);
                if !waits {
                    break;
                }
            }
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
                    resume_in_place(self.running, sent)
                }
            }
        };
        UNLINKED.store(ptr::null_mut(), Ordering::Relaxed);
        result
    }

    /// The one that ran has ended: the last of those that wait is to run. It must be noted.
    #[inline(always)]
    fn step_out(&mut self) {
        self.length -= 1;
        self.known -= 1;
        self.running = self.noted[self.length % NOTED];
    }

    /// Let the frames of those that wait run, each at its `SEND`, inside of what resumes the outermost.
    unsafe fn link(&mut self) {
        UNLINKED.store(ptr::null_mut(), Ordering::Relaxed);
        self.is_linked = true;
        // SAFETY: nothing has happened to those that wait. The frame of the one that runs is linked, whatever has been linked to it
        // since; otherwise whoever resumes the outermost has the current frame.
        unsafe {
            let state: i8 = get(self.running.cast(), g::FRAME_STATE);
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
                put::<i8>(generator.cast(), g::FRAME_STATE, g::STATE_EXECUTING as i8);
                let at: *const u8 = get(frame, f::INSTR_PTR);
                put(frame, f::INSTR_PTR, at.sub(SEND_TO_RESUME));
                let depth: i32 = get(frame, f::STACKTOP);
                generator = get(frame, f::LOCALSPLUS + 8 * (depth - 1));
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
}

/// Go on where the one of a linked chain that ran, `last`, has come to `result`.
unsafe fn leave_linked(
    ts: Thread,
    outermost: Object,
    mut last: Object,
    mut result: Object,
) -> Object {
    // SAFETY: the caller's promises: the frames from the current one to that of the outermost are those that wait.
    unsafe {
        while last != outermost {
            if !result.is_null() && is_suspended(last) {
                unlink(ts, outermost);
                return result;
            }
            let frame: Frame = get(ts, t::CURRENT_FRAME);
            last = frame.sub(g::FRAME as usize).cast();
            if result.is_null() {
                result = raise_at_send(ts, frame);
                continue;
            }
            let send: *const u8 = get(frame, f::INSTR_PTR);
            unlink(ts, last);
            put(frame, f::INSTR_PTR, after_send(send));
            result = match cell_of(last) {
                Some(cell) => enter_unit(ts, last, cell, result),
                None => resume_in_place(last, result),
            };
        }
        result
    }
}

/// Undo [`Chain::link`] from the innermost frame that waits to that of a generator.
unsafe fn unlink(ts: Thread, outermost: Object) {
    // SAFETY: the frames from there inwards are those of generators that were linked.
    unsafe {
        let mut frame: Frame = get(ts, t::CURRENT_FRAME);
        let mut left: i32 = get(ts, t::PY_RECURSION_REMAINING);
        loop {
            let base = frame.sub(g::FRAME as usize);
            let above: Frame = get(frame, f::PREVIOUS);
            put(frame, f::PREVIOUS, ptr::null_mut::<u8>());
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
