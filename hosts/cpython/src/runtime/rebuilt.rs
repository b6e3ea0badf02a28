//! Frames that compiled code did without, built where it is left and run in the interpreter.
//!
//! Closed units make no frames, and calls whose function's code stands in their caller's make none. Where such code
//! leaves, what each frame would hold is taken down first; then the frames are built, outermost first, and run to their
//! ends, innermost first, one after the other: no native stack is used up by their number.

use super::capi::*;
use super::exits::{self, Values};
use super::units::{InlinedShape, UnitState};
use super::{Gil, abi};
use crate::helpers::{self, operator_rest};
use abi::{frame as f, frames as state, slots, thread as t};
use cladonia::bytecode::{Awaited, COMPARISON, Op, Operation};
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
    /// What the frame before waits for.
    awaited: Awaited,
    /// The exception of a box that could not be made.
    lost: Object,
}

impl Rebuilt {
    /// Take a frame down: `func`, `locals` and `stack` are owned, `pos` and `resume` positions in code units.
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
            func,
            pos,
            resume,
            locals,
            stack,
            awaited: Awaited::Result,
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
                // SAFETY: the caller's promise.
                let func = match func.is_null() {
                    true => locals.pop().expect("the function"),
                    false => unsafe { Py_NewRef(*func) },
                };
                locals.resize(shape.nlocalsplus as usize, std::ptr::null_mut());
                let stack = all(&frame.stack);
                // SAFETY: the caller's promise.
                let mut made = unsafe {
                    let lost = std::ptr::null_mut();
                    Rebuilt::new(*shape, func, (pos, resume), locals, stack, lost)
                };
                made.awaited = frame.awaited;
                made
            })
            .collect()
    }

    /// There was no memory for what the frame should hold, or made: it raises this exception, which is taken over.
    pub fn lose(&mut self, exception: Object) {
        debug_assert!(self.lost.is_null(), "lost twice");
        self.lost = exception;
    }

    /// A frame of the interpreter with all this, linked; `None` with an exception if there is no memory.
    unsafe fn build(&mut self, ts: Thread) -> Option<Frame> {
        // SAFETY: the function is alive; its code is the unit's. The arguments are None and are overwritten.
        unsafe {
            let shape = self.shape;
            let func = std::mem::replace(&mut self.func, std::ptr::null_mut());
            let frame = abi::exports::push_frame(ts, func, shape.argcount as usize);
            if frame.is_null() {
                self.drop_objects();
                return None;
            }
            let all = self.locals.drain(..).chain(self.stack.drain(..));
            let mut top = 0;
            for object in all {
                slots::put(frame, f::LOCALSPLUS + 8 * top, object);
                top += 1;
            }
            state::set_depth(frame, top);
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

/// How a frame has ended.
pub struct Ended {
    /// What it returned, owned; null if an exception is pending.
    result: Object,
    /// What the frame before it waits for.
    awaited: Awaited,
}

/// Build frames, outermost first, and run them to their ends: what has become of the outermost.
///
/// # Safety
/// Called on the thread of the frames, of which the innermost that there is waits for the first of these. The codes
/// stay alive.
pub unsafe fn run(gil: Gil, ts: Thread, frames: Vec<Rebuilt>) -> Ended {
    // SAFETY: the caller's promise.
    unsafe {
        let mut built: Vec<(Frame, Rebuilt)> = Vec::with_capacity(frames.len());
        let mut waiting = frames.into_iter();
        let mut missing = None;
        for mut frame in waiting.by_ref() {
            match frame.build(ts) {
                Some(made) => built.push((made, frame)),
                None => {
                    missing = Some(frame.awaited);
                    break;
                }
            }
        }
        // Without memory for a frame, what it was called for raises.
        waiting.for_each(|mut frame| frame.drop_objects());
        let mut ended = Ended {
            result: std::ptr::null_mut(),
            awaited: missing.unwrap_or(Awaited::Result),
        };
        let mut first = missing.is_none();
        while let Some((frame, mut of)) = built.pop() {
            let shape = of.shape;
            let result = if first && !of.lost.is_null() {
                PyErr_SetRaisedException(std::mem::replace(&mut of.lost, std::ptr::null_mut()));
                exits::raise_owned(gil, ts, frame, &shape, of.pos)
            } else if first || ended.come_back(frame) {
                exits::run_owned(gil, ts, frame, &shape, of.resume)
            } else {
                exits::raise_owned(gil, ts, frame, &shape, of.pos)
            };
            ended = Ended {
                result,
                awaited: of.awaited,
            };
            Py_XDECREF(of.lost);
            first = false;
        }
        ended
    }
}

impl Ended {
    /// What a call gives, owned; null if an exception is pending.
    pub(super) fn into_result(self) -> Object {
        debug_assert_eq!(self.awaited, Awaited::Result, "no call waits");
        self.result
    }

    /// Let a frame have what it has waited for; false if it has got an exception, which is pending.
    ///
    /// # Safety
    /// The frame is the innermost one, at the instruction at which it waits; its stack is complete but for the result.
    pub(super) unsafe fn come_back(self, frame: Frame) -> bool {
        let Ended { result, awaited } = self;
        // SAFETY: the caller's promise.
        unsafe {
            match awaited {
                Awaited::Operator(operation) => return finish(frame, operation, result),
                _ if result.is_null() => return false,
                Awaited::Result => push(frame, result),
                Awaited::Constructed => {
                    let status = helpers::init_result(result);
                    Py_DECREF(result);
                    return status == 0;
                }
            }
            true
        }
    }
}

/// Put an owned object onto a frame's stack.
unsafe fn push(frame: Frame, object: Object) {
    // SAFETY: the caller's frame has room for it.
    unsafe {
        let top: i32 = state::depth(frame);
        slots::put(frame, f::LOCALSPLUS + 8 * top, object);
        state::set_depth(frame, top + 1);
    }
}

/// Do what an operator's instruction does once the method that it asked first has ended with `given`; false if that comes to an
/// exception.
///
/// # Safety
/// As for [`Ended::come_back`]; the operands are on the frame's stack.
unsafe fn finish(frame: Frame, operation: Operation, given: Object) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let count = operation.operands() as i32;
        let base = state::depth(frame) - count;
        let place = |k: i32| f::LOCALSPLUS + 8 * (base + k);
        let operand = |k: i32| slots::get(frame, place(k));
        let mut result = given;
        if !given.is_null() && operation.may_decline() {
            let number = i64::from(operation.arg);
            let number = match operation.op {
                Op::CompareOp => number + COMPARISON,
                _ => number,
            };
            let swapped = operation.swapped.into();
            let (a, b) = (operand(0), operand(1));
            result = operator_rest(number, swapped, a, b, Py_NotImplemented(), &mut result, 1);
        }
        let raised = result.is_null();
        if !operation.gives() {
            Py_XDECREF(result);
        }
        // Whoever looks at the frame meanwhile sees a stack without them; nothing is pushed where they are.
        state::set_depth(frame, base);
        (0..count).for_each(|k| slots::close(get(frame, place(k))));
        if raised {
            return false;
        }
        if operation.truth {
            let truth = PyObject_IsTrue(result);
            Py_DECREF(result);
            if truth < 0 {
                return false;
            }
            result = PyBool_FromLong(truth.into());
        }
        if operation.gives() {
            push(frame, result);
        }
        true
    }
}
