//! Frames that compiled code elided, built at a side exit and run in the interpreter.
//!
//! Closed units and inlined calls have no frames. At a side exit of such code, the contents of each
//! frame are recorded first; then the frames are built, outermost first, and run to their ends,
//! innermost first, one after the other: their number takes no native stack.
//!
//! For example, `f` calls `g`, which is inlined. If a guard in the code of `g` fails, a frame of
//! `g` is built, and its result goes onto the stack of the frame of `f`.

use super::capi::*;
use super::exits::{self, Values};
use super::units::{InlinedShape, UnitState};
use super::{Gil, abi, generators};
use crate::capi::frame_name;
use crate::helpers::{self, complete_error, operator_rest};
use abi::{frame as f, frames as state, instructions, slots, thread as t};
use cladonia::bytecode::{Awaited, COMPARISON, Op, Operation};
use cladonia::exits::{ExitRecord, Source};
use pyo3_ffi::*;

/// The contents of an elided frame, all owned.
pub struct Rebuilt {
    shape: CodeShape,
    func: Object,
    /// Position of the instruction, in code units.
    pos: u32,
    /// The position at which the interpreter continues: the instruction, or the one after the call.
    resume: u32,
    /// The position at which the interpreter repeats the instruction.
    again: u32,
    locals: Vec<Object>,
    stack: Vec<Object>,
    /// The use that the caller's frame makes of the result.
    awaited: Awaited,
    /// The exception of a box that could not be allocated.
    lost: Object,
    /// The list of the items that this generator has passed to the builtin which consumes it;
    /// null if there is none.
    gathered: Object,
}

impl Rebuilt {
    /// Records a frame: `func`, `locals` and `stack` are owned, `pos`, `resume` and `again`
    /// positions in code units.
    ///
    /// # Safety
    /// `func` is a live function of the code of `shape`.
    pub unsafe fn new(
        shape: CodeShape,
        func: Object,
        (pos, resume, again): (u32, u32, u32),
        locals: Vec<Object>,
        stack: Vec<Object>,
        lost: Object,
    ) -> Rebuilt {
        Rebuilt {
            shape,
            func,
            pos,
            resume,
            again,
            locals,
            stack,
            awaited: Awaited::Result,
            lost,
            gathered: std::ptr::null_mut(),
        }
    }

    /// The frames of inlined calls that an exit is in, outermost first; all but the innermost wait
    /// at their calls.
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
                let resume = if n + 1 == count {
                    here
                } else {
                    positions[frame.pc.0 as usize + 1].1
                };
                let mut locals = all(&frame.locals);
                // SAFETY: the caller's promise.
                let func = if func.is_null() {
                    locals.pop().expect("the function")
                } else {
                    unsafe { Py_NewRef(*func) }
                };
                locals.resize(shape.nlocalsplus as usize, std::ptr::null_mut());
                let stack = all(&frame.stack);
                // SAFETY: the caller's promise.
                let mut made = unsafe {
                    let lost = std::ptr::null_mut();
                    Rebuilt::new(*shape, func, (pos, resume, here), locals, stack, lost)
                };
                made.awaited = frame.awaited;
                made
            })
            .collect()
    }

    /// There was no memory for an object of the frame, so the frame raises this exception, which is
    /// taken over.
    pub fn lose(&mut self, exception: Object) {
        debug_assert!(self.lost.is_null(), "lost twice");
        self.lost = exception;
    }

    /// An interpreter frame with these contents, linked; `None` with an exception if there is no
    /// memory.
    unsafe fn build(&mut self, ts: Thread) -> Option<Frame> {
        if self.shape.is_generator() {
            // SAFETY: the caller's promise.
            return unsafe { self.build_generator(ts) };
        }
        // SAFETY: the function is alive; its code is the unit's. The arguments are None and are
        // overwritten.
        unsafe {
            let shape = self.shape;
            let func = std::mem::replace(&mut self.func, std::ptr::null_mut());
            let names = if shape.kwonly > 0 {
                shape.keyword_names()
            } else {
                std::ptr::null_mut()
            };
            if names.is_null() && shape.kwonly > 0 {
                Py_DECREF(func);
                self.drop_objects();
                return None;
            }
            let frame = abi::exports::push_frame(ts, func, shape.argcount as usize, names);
            Py_XDECREF(names);
            if frame.is_null() {
                self.drop_objects();
                return None;
            }
            if shape.varkeywords() {
                // The parameter `**kwargs` got a new dict, which is overwritten below.
                let place = f::LOCALSPLUS + 8 * (shape.arity() as i32 - 1);
                slots::close(get(frame, place));
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

    /// The frame of a running generator over whose items the frame before it iterates: that has a
    /// place for the generator on top of its stack, with the list of the items so far if the call
    /// of a builtin gathers them.
    unsafe fn build_generator(&mut self, ts: Thread) -> Option<Frame> {
        // SAFETY: as for `build`.
        unsafe {
            let shape = self.shape;
            let before: Frame = get(ts, t::CURRENT_FRAME);
            let operands = match self.awaited {
                Awaited::Operator(operation) => operation.operands() as i32,
                _ => 1,
            };
            let place = f::LOCALSPLUS + 8 * (state::depth(before) - operands);
            let at = shape.units().add(2 * self.pos as usize);
            let contents = [&self.locals[..], &self.stack[..]].concat();
            self.gathered = slots::get(before, place);
            let (generator, frame) = generators::running(ts, self.func, shape.code, at, &contents);
            if generator.is_null() {
                slots::put(before, place, Py_NewRef(Py_None()));
                self.drop_objects();
                return None;
            }
            slots::put(before, place, generator);
            self.locals.clear();
            self.stack.clear();
            Py_DECREF(std::mem::replace(&mut self.func, std::ptr::null_mut()));
            let py: i32 = get(ts, t::PY_RECURSION_REMAINING);
            put::<i32>(ts, t::PY_RECURSION_REMAINING, py - 1);
            Some(frame)
        }
    }

    fn drop_objects(&mut self) {
        let objects = self.locals.drain(..).chain(self.stack.drain(..));
        for object in objects.chain([self.func, self.lost, self.gathered]) {
            // SAFETY: owned or null.
            unsafe { Py_XDECREF(object) };
        }
        let null = std::ptr::null_mut();
        (self.func, self.lost, self.gathered) = (null, null, null);
    }
}

/// The outcome of a frame.
pub struct Ended {
    /// Its return value, owned; null if an exception is pending.
    result: Object,
    /// The use that the frame before it makes of the result.
    awaited: Awaited,
    /// The list of the items that a builtin has gathered from the generator which has ended here,
    /// owned, or null.
    gathered: Object,
}

/// Builds frames, outermost first, and runs them to their ends; returns the outcome of the
/// outermost.
///
/// # Safety
/// Called on the thread of the frames. Its innermost existing frame waits for the first of these.
/// The code objects stay alive.
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
        // Without memory for a frame, the call that needs it raises.
        waiting.for_each(|mut frame| frame.drop_objects());
        let mut ended = Ended {
            result: std::ptr::null_mut(),
            awaited: missing.unwrap_or(Awaited::Result),
            gathered: std::ptr::null_mut(),
        };
        let mut first = missing.is_none();
        while let Some((frame, mut of)) = built.pop() {
            let shape = of.shape;
            let result = if first && !of.lost.is_null() {
                PyErr_SetRaisedException(std::mem::replace(&mut of.lost, std::ptr::null_mut()));
                raise(gil, ts, frame, &shape, of.pos)
            } else {
                let next = if first {
                    Continues::Behind
                } else {
                    ended.come_back(frame)
                };
                match next {
                    Continues::Behind => exits::run_owned(gil, ts, frame, &shape, of.resume),
                    Continues::Again => exits::run_owned(gil, ts, frame, &shape, of.again),
                    Continues::Raised => raise(gil, ts, frame, &shape, of.pos),
                }
            };
            let result = if shape.is_generator() {
                item_of(frame, result)
            } else {
                result
            };
            ended = Ended {
                result,
                awaited: of.awaited,
                gathered: of.gathered,
            };
            Py_XDECREF(of.lost);
            first = false;
        }
        ended
    }
}

/// Raises the pending exception in a frame.
///
/// # Safety
/// As for [`exits::raise_owned`].
unsafe fn raise(gil: Gil, ts: Thread, frame: Frame, shape: &CodeShape, pos: u32) -> Object {
    // SAFETY: the caller's promise.
    unsafe {
        if shape.is_generator() {
            exits::raise_in_generator(gil, ts, frame, shape, pos)
        } else {
            exits::raise_owned(gil, ts, frame, shape, pos)
        }
    }
}

/// The item of a generator that has run: null if it has returned, or raised an exception.
///
/// # Safety
/// `frame` is the generator's, which is alive; the result is owned.
unsafe fn item_of(frame: Frame, result: Object) -> Object {
    // SAFETY: the caller's promise.
    unsafe {
        let generator = frame.offset(-(abi::generator::FRAME as isize)).cast();
        if result.is_null() || generators::is_suspended(generator) {
            return result;
        }
        Py_DECREF(result);
        std::ptr::null_mut()
    }
}

impl Ended {
    /// The result of a call, owned; null if an exception is pending.
    pub(super) fn into_result(self) -> Object {
        debug_assert_eq!(self.awaited, Awaited::Result, "no call waits");
        self.result
    }

    /// Gives a waiting frame its result; returns where the frame continues.
    ///
    /// # Safety
    /// The frame is the innermost one, at the instruction at which it waits; its stack is complete
    /// but for the result.
    pub(super) unsafe fn come_back(self, frame: Frame) -> Continues {
        let Ended {
            result,
            awaited,
            gathered,
        } = self;
        // SAFETY: the caller's promise.
        unsafe {
            match awaited {
                Awaited::Operator(it) if it.op == Op::ForIter && result.is_null() => {
                    return end_loop(frame, it.operands() as i32);
                }
                Awaited::Operator(it) if it.op == Op::ForIter => push(frame, result),
                Awaited::Operator(operation) => {
                    return Continues::unless_raised(finish(frame, operation, result));
                }
                Awaited::Item => return consume_again(frame, result, gathered),
                _ if result.is_null() => return Continues::Raised,
                Awaited::Result => push(frame, result),
                Awaited::Constructed => {
                    let status = helpers::init_result(result);
                    Py_DECREF(result);
                    return Continues::unless_raised(status == 0);
                }
            }
            Continues::Behind
        }
    }
}

/// `itertools.chain(first, rest)`; null with an exception if it cannot be had. No `__import__` of
/// the program is called for it.
///
/// # Safety
/// Live objects.
pub(super) unsafe fn chained(first: Object, rest: Object) -> Object {
    // SAFETY: live objects.
    unsafe {
        let none = std::ptr::null_mut();
        let module = PyImport_ImportModuleLevel(c"itertools".as_ptr(), none, none, none, 0);
        if module.is_null() {
            return module;
        }
        let chain = PyObject_GetAttrString(module, c"chain".as_ptr());
        Py_DECREF(module);
        if chain.is_null() {
            return chain;
        }
        let args = [first, rest];
        let all = PyObject_Vectorcall(chain, args.as_ptr(), 2, none);
        Py_DECREF(chain);
        all
    }
}

/// A generator that a builtin consumes has passed an item (owned), has returned, or has raised an
/// exception. The call of the builtin is executed again, with the items `gathered` (a list, owned,
/// or null) and this one in front of the generator.
///
/// # Safety
/// As for [`Ended::come_back`]; the generator is on top of the stack.
unsafe fn consume_again(frame: Frame, item: Object, gathered: Object) -> Continues {
    // SAFETY: the caller's promise.
    unsafe {
        if item.is_null() && (gathered.is_null() || !PyErr_Occurred().is_null()) {
            Py_XDECREF(gathered);
            return match PyErr_Occurred().is_null() {
                true => Continues::Again,
                false => Continues::Raised,
            };
        }
        let place = f::LOCALSPLUS + 8 * (state::depth(frame) - 1);
        let first = match gathered.is_null() {
            true => PyTuple_Pack(1, item),
            false if item.is_null() || PyList_Append(gathered, item) == 0 => Py_NewRef(gathered),
            false => std::ptr::null_mut(),
        };
        Py_XDECREF(item);
        Py_XDECREF(gathered);
        let all = if first.is_null() {
            first
        } else {
            let all = chained(first, slots::get(frame, place));
            Py_DECREF(first);
            all
        };
        if all.is_null() {
            return Continues::Raised;
        }
        let old = get(frame, place);
        slots::put(frame, place, all);
        slots::close(old);
        Continues::Again
    }
}

/// The place at which a frame continues whose call has returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Continues {
    /// Behind the instruction that called.
    Behind,
    /// At that instruction, which is executed again.
    Again,
    /// Where the exception is handled, which is pending.
    Raised,
}

impl Continues {
    fn unless_raised(done: bool) -> Continues {
        if done {
            Continues::Behind
        } else {
            Continues::Raised
        }
    }
}

/// The `__next__` of a loop's iterator has raised: if that is a StopIteration, the loop ends. A
/// generator that has returned raises nothing; it is executed again, and ends the loop. Any other
/// iterator on the stack is replaced by an exhausted one, with which the interpreter executes the
/// instruction again: only that knows how a loop ends in its version.
///
/// # Safety
/// As for [`Ended::come_back`].
unsafe fn end_loop(frame: Frame, operands: i32) -> Continues {
    // SAFETY: the caller's promise: the iterator is so far below the top of the stack.
    unsafe {
        if PyErr_Occurred().is_null() {
            return Continues::Again;
        }
        if PyErr_ExceptionMatches(PyExc_StopIteration) == 0 {
            return Continues::Raised;
        }
        PyErr_Clear();
        let empty = PyTuple_New(0);
        let exhausted = if empty.is_null() {
            empty
        } else {
            PyObject_GetIter(empty)
        };
        Py_XDECREF(empty);
        if exhausted.is_null() {
            return Continues::Raised;
        }
        let place = f::LOCALSPLUS + 8 * (state::depth(frame) - operands);
        let iterator = get(frame, place);
        slots::put(frame, place, exhausted);
        slots::close(iterator);
        Continues::Again
    }
}

/// Pushes an owned object onto a frame's stack.
unsafe fn push(frame: Frame, object: Object) {
    // SAFETY: the caller's frame has room for it.
    unsafe {
        let top: i32 = state::depth(frame);
        slots::put(frame, f::LOCALSPLUS + 8 * top, object);
        state::set_depth(frame, top + 1);
    }
}

/// Completes an operator's instruction after its first method, such as `__add__`, has returned
/// `given`; false if that raised an exception.
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
        let is_load = operation.op == Op::LoadAttr;
        if raised && is_load {
            complete_error(operand(0), frame_name(frame, operation.arg.into()));
        }
        if !operation.gives() {
            Py_XDECREF(result);
        }
        // Code that inspects the frame meanwhile sees a stack without them; nothing is pushed in
        // their place.
        state::set_depth(frame, base);
        let is_binary = matches!(operation.op, Op::BinaryOp | Op::BinarySubscr);
        for k in 0..count {
            let k = match is_binary && instructions::OPERATORS_LAST_FIRST {
                true => count - 1 - k,
                false => k,
            };
            slots::close(get(frame, place(k)));
        }
        if raised {
            return false;
        }
        if operation.gives_truth() {
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
        if is_load && operation.flag {
            // For a call, which has no object to which the attribute was bound.
            push(frame, std::ptr::null_mut());
        }
        true
    }
}
