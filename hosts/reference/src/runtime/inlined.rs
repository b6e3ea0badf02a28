//! Inlined frames, created at a side exit: the innermost continues, and each passes its result to
//! the one before, out to the frame of the unit.

use super::code::CodeData;
use super::error::Raised;
use super::frame::{self, FrameRef};
use super::heap::{Function, Ref};
use super::units::object_of;
use super::{Result, call, interp, rt};
use cladonia::bytecode::Pc;
use cladonia::exits::LiveInlined;
use cladonia::types::ObjectHandle;
use std::rc::Rc;

/// Frames inside a unit's, outermost first.
pub(super) struct Within {
    frames: Vec<Made>,
    /// The exception if the call of the next one failed: there were too many frames.
    failed: Option<Raised>,
}

/// A frame on the thread, with the references that its caller keeps while it runs.
struct Made {
    frame: FrameRef,
    /// The instruction at which it continues, or the call at which it waits.
    pc: Pc,
    _function: Ref,
    _code: Rc<CodeData>,
}

impl Within {
    /// Creates the frames; `function` returns each one's function by its number. None if there are
    /// none. A waiting frame is outside the next one.
    pub(super) fn make(
        inlined: Vec<LiveInlined>,
        function: impl Fn(u32) -> ObjectHandle,
        virtuals: &[Option<Ref>],
    ) -> Option<Within> {
        if inlined.is_empty() {
            return None;
        }
        let mut within = Within {
            frames: Vec::new(),
            failed: None,
        };
        for live in inlined {
            // The references that the frame takes over are taken even if there is no room for the
            // frame.
            let all = |values: Vec<_>| -> Vec<Option<Ref>> {
                let values = values.into_iter();
                values.map(|value| object_of(value, virtuals)).collect()
            };
            let (locals, stack) = (all(live.locals), all(live.stack));
            if within.failed.is_none() {
                within.push(function(live.code), live.pc, locals, stack);
            }
        }
        Some(within)
    }

    fn push(
        &mut self,
        function: ObjectHandle,
        pc: Pc,
        locals: Vec<Option<Ref>>,
        stack: Vec<Option<Ref>>,
    ) {
        let function = rt().object_of(function);
        let function = function.expect("nothing has run that could have dropped it");
        let code = function.get::<Function>().map(call::code_of);
        let code = code.expect("what is inlined is a function").clone();
        match frame::push(&function, &code, None) {
            Ok(frame) => {
                for (k, value) in locals.into_iter().enumerate() {
                    frame.set_local(k, value);
                }
                stack.into_iter().for_each(|entry| frame.push(entry));
                frame.set_pc(pc);
                self.frames.push(Made {
                    frame,
                    pc,
                    _function: function,
                    _code: code,
                });
            }
            Err(raised) => self.failed = Some(raised),
        }
    }

    /// Runs all of them to their ends. Returns the result of the outermost.
    pub(super) fn run(mut self) -> Result<Ref> {
        let mut result = self.failed.take().map(Err);
        while let Some(made) = self.frames.pop() {
            let next = match result {
                None => Ok(made.pc),
                Some(result) => come_back(made.frame, made.pc, result),
            };
            result = Some(next.and_then(|pc| interp::go_on(made.frame, pc)));
            frame::pop(made.frame);
        }
        result.expect("there was a frame, or none could be made")
    }
}

/// Passes the result of a frame called at `pc` to its caller. Returns the instruction at which the
/// caller continues.
///
/// # Errors
/// The exception, if the frame does not handle it.
pub(super) fn come_back(frame: FrameRef, pc: Pc, result: Result<Ref>) -> Result<Pc> {
    match result {
        Ok(result) => {
            frame.push(Some(result));
            Ok(Pc(pc.0 + 1))
        }
        Err(raised) => interp::unwind(frame, pc, raised, false),
    }
}
