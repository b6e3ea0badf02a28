//! Frames that compiled code did without, built where it is left and run in the interpreter.
//!
//! Closed units make no frames, and calls whose function's code stands in their caller's make none. Where such code
//! leaves, what each frame would hold is taken down first; then the frames are built, outermost first, and run to their
//! ends, innermost first, one after the other: no native stack is used up by their number.

use super::abi;
use super::capi::*;
use super::exits::{self, Values};
use super::units::{InlinedShape, UnitState};
use crate::helpers;
use abi::{frame as f, thread as t};
use cladonia::exits::{ExitRecord, Source};
use pyo3_ffi::*;

/// What a frame would hold, all of it owned.
pub struct Rebuilt {
    shape: CodeShape,
    func: Object,
    /// Position of the instruction, in code units.
    pos: u32,
    /// Where the interpreter goes on: at the instruction, or after the call.
    resume: u32,
    locals: Vec<Object>,
    stack: Vec<Object>,
    /// Whether it is an `__init__`, whose object the frame before has on its stack.
    constructs: bool,
    /// The exception of a box that could not be made.
    lost: Object,
}

impl Rebuilt {
    /// Take a frame down: `locals` and `stack` are owned, `pos` and `resume` positions in code units.
    ///
    /// # Safety
    /// `func` is a live function of the code of `shape`.
    pub unsafe fn new(
        shape: CodeShape,
        func: Object,
        (pos, resume): (u32, u32),
        locals: Vec<Object>,
        stack: Vec<Object>,
        lost: Object,
    ) -> Rebuilt {
        Rebuilt {
            shape,
            // SAFETY: the caller's promise.
            func: unsafe { Py_NewRef(func) },
            pos,
            resume,
            locals,
            stack,
            constructs: false,
            lost,
        }
    }

    /// The frames of inlined calls that an exit is in, outermost first; all but the innermost wait at their calls.
    ///
    /// # Safety
    /// As for [`Values::of`]; the functions are those of the unit, which are alive.
    pub(super) unsafe fn inlined(
        unit: &UnitState,
        record: &ExitRecord,
        values: &mut Values<'_>,
    ) -> Vec<Rebuilt> {
        let mut all = |sources: &[Source]| -> Vec<Object> {
            let of = |&source: &Source| {
                // SAFETY: the caller's promise.
                unsafe { values.of(source, std::ptr::null_mut()) }
            };
            sources.iter().map(of).collect()
        };
        let count = record.inlined.len();
        let frames = record.inlined.iter().enumerate();
        frames
            .map(|(n, frame)| {
                let InlinedShape {
                    func,
                    shape,
                    positions,
                } = &unit.inlined[frame.code as usize];
                let (pos, here) = positions[frame.pc.0 as usize];
                let resume = match n + 1 == count {
                    true => here,
                    false => positions[frame.pc.0 as usize + 1].1,
                };
                let mut locals = all(&frame.locals);
                locals.resize(shape.nlocalsplus as usize, std::ptr::null_mut());
                let stack = all(&frame.stack);
                // SAFETY: the caller's promise.
                let mut made = unsafe {
                    let lost = std::ptr::null_mut();
                    Rebuilt::new(*shape, *func, (pos, resume), locals, stack, lost)
                };
                made.constructs = frame.constructs;
                made
            })
            .collect()
    }

    /// The frame could not hold what it should: it raises this exception, which is taken over.
    pub fn lose(&mut self, exception: Object) {
        debug_assert!(self.lost.is_null(), "lost twice");
        self.lost = exception;
    }

    /// A frame of the interpreter with all this, linked; `None` with an exception if there is no memory.
    unsafe fn build(&mut self, ts: Thread) -> Option<Frame> {
        // SAFETY: the function is alive; its code is the unit's. The arguments are immortal and are overwritten.
        unsafe {
            let shape = self.shape;
            let args = vec![Py_None(); shape.argcount as usize + 1];
            let func = std::mem::replace(&mut self.func, std::ptr::null_mut());
            let frame = _PyEvalFramePushAndInit(
                ts,
                func,
                std::ptr::null_mut(),
                args.as_ptr(),
                shape.argcount as usize,
                std::ptr::null_mut(),
            );
            if frame.is_null() {
                self.drop_objects();
                return None;
            }
            let all = self.locals.drain(..).chain(self.stack.drain(..));
            let mut top = 0;
            for object in all {
                put(frame, f::LOCALSPLUS + 8 * top, object);
                top += 1;
            }
            put(frame, f::STACKTOP, top);
            put(
                frame,
                f::INSTR_PTR,
                shape.units().add(2 * self.pos as usize),
            );
            put::<Frame>(frame, f::PREVIOUS, get(ts, t::CURRENT_FRAME));
            put(ts, t::CURRENT_FRAME, frame);
            let py: i32 = get(ts, t::PY_RECURSION_REMAINING);
            put::<i32>(ts, t::PY_RECURSION_REMAINING, py - 1);
            Some(frame)
        }
    }

    fn drop_objects(&mut self) {
        let objects = self.locals.drain(..).chain(self.stack.drain(..));
        for object in objects.chain([self.func, self.lost]) {
            // SAFETY: owned or null.
            unsafe { Py_XDECREF(object) };
        }
        (self.func, self.lost) = (std::ptr::null_mut(), std::ptr::null_mut());
    }
}

/// What the program has of the end of a frame: an exception, a result, or (of an `__init__`) nothing.
pub enum Ended {
    /// An exception is pending.
    Raised,
    /// What the call gives.
    Gave(Object),
    /// The object that was made is on the stack of who called.
    Constructed,
}

/// Build frames, outermost first, and run them to their ends: what has become of the outermost.
///
/// # Safety
/// Called on the thread of the frames, of which the innermost that there is waits for the first of these. The codes
/// stay alive.
pub unsafe fn run(ts: Thread, frames: Vec<Rebuilt>) -> Ended {
    // SAFETY: the caller's promise.
    unsafe {
        let mut built: Vec<(Frame, Rebuilt)> = Vec::with_capacity(frames.len());
        let mut waiting = frames.into_iter();
        let mut broken = false;
        for mut frame in waiting.by_ref() {
            match frame.build(ts) {
                Some(made) => built.push((made, frame)),
                None => {
                    broken = true;
                    break;
                }
            }
        }
        // Without memory for a frame, what it was called for raises.
        waiting.for_each(|mut frame| frame.drop_objects());
        let mut ended = Ended::Raised;
        let mut first = !broken;
        while let Some((frame, mut of)) = built.pop() {
            let shape = of.shape;
            let result = if first && !of.lost.is_null() {
                PyErr_SetRaisedException(std::mem::replace(&mut of.lost, std::ptr::null_mut()));
                exits::raise_owned(ts, frame, &shape, of.pos)
            } else if first || ended.come_back(frame) {
                exits::run_owned(ts, frame, &shape, of.resume)
            } else {
                exits::raise_owned(ts, frame, &shape, of.pos)
            };
            ended = Ended::of(result, of.constructs);
            Py_XDECREF(of.lost);
            first = false;
        }
        ended
    }
}

impl Ended {
    /// What has become of a call, given what its frame returned, which is taken over.
    unsafe fn of(result: Object, constructs: bool) -> Ended {
        // SAFETY: the caller's: an owned object or null with an exception.
        unsafe {
            if result.is_null() {
                return Ended::Raised;
            }
            if !constructs {
                return Ended::Gave(result);
            }
            let status = helpers::init_result(result);
            Py_DECREF(result);
            match status {
                0 => Ended::Constructed,
                _ => Ended::Raised,
            }
        }
    }

    /// Put the result on the stack of a frame that has waited for it; false if it is an exception.
    ///
    /// # Safety
    /// The frame's stack is complete but for the result, which is owned.
    pub(super) unsafe fn come_back(self, frame: Frame) -> bool {
        match self {
            Ended::Raised => return false,
            Ended::Constructed => {}
            // SAFETY: the caller's promise.
            Ended::Gave(result) => unsafe {
                let top: i32 = get(frame, f::STACKTOP);
                put(frame, f::LOCALSPLUS + 8 * top, result);
                put(frame, f::STACKTOP, top + 1);
            },
        }
        true
    }
}
