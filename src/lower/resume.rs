//! Units that resume frames: the entry, and the end at a yield.

use super::{Lower, Repr, Resumed};
use crate::hir::{GeneralOp, Op, Value};
use crate::host::names;
use crate::lir;
use crate::ll::Width;

impl Lower<'_> {
    pub(super) fn resumed(&self) -> Resumed {
        self.resumed.expect("a unit that resumes frames")
    }

    /// Takes over the frame of a suspended generator, or lets the interpreter resume it.
    pub(super) fn enter_suspended(&mut self, generator: lir::Value, sent: lir::Value) {
        let slow = self.b.cold_block();
        let enter = &self.parts.enter;
        let entered = self.b.inline(enter, &[self.thread, generator], Some(slow));
        self.leave_to_interpreter(slow, GeneralOp::ResumeInterpreted, generator, &[sent]);
        self.frame = entered[0];
        self.resumed = Some(Resumed {
            words: entered[2],
            point: entered[1],
            sent,
        });
    }

    /// The pointer to an object whose reference is passed on. A box that is needed in several
    /// places is allocated once.
    fn passed_on(&mut self, made: &mut Vec<(Value, lir::Value)>, v: Value) -> lir::Value {
        let (Repr::Int(raw) | Repr::Double(raw)) = self.repr(v) else {
            return self.moved(v);
        };
        let raw = self.f.resolve(raw);
        if let Some(&(_, p)) = made.iter().find(|(other, _)| *other == raw) {
            self.count(names::INCREF, p);
            return p;
        }
        let p = self.moved(v);
        made.push((raw, p));
        p
    }

    /// Stores all values of the frame state of `v` into the frame, and passes its operand to the
    /// code that resumed the frame.
    pub(super) fn suspend(&mut self, v: Value) {
        let inst = self.f.inst(v);
        let Op::Yield(delegates) = inst.op else {
            panic!("{v} does not suspend")
        };
        let state = inst.state.expect("a frame is suspended with a state");
        let state = &self.f.states[state];
        let mut made = Vec::new();
        let result = self.passed_on(&mut made, inst.args[0]);
        self.publish_position(state.pc);
        let locals = self.f.code.locals.len();
        for (k, &local) in state.locals.iter().enumerate().take(locals) {
            if self.repr(local).is_raw() {
                let p = self.passed_on(&mut made, local);
                let offset = self.slot_offset(k as u32);
                self.b.store(Width::Ptr, self.frame, offset, p);
            }
        }
        for (k, entry) in state.stack.iter().enumerate() {
            let p = self.passed_on(&mut made, entry.value);
            let offset = self.slot_offset((locals + k) as u32);
            self.b.store(Width::Ptr, self.frame, offset, p);
        }
        let depth = self.b.iconst(state.stack.len() as i64);
        let delegates = self.b.iconst(delegates as i64);
        let parts = self.parts;
        let suspend = parts.suspend.as_ref();
        let suspend = suspend.expect("checked with the request");
        let words = self.resumed().words;
        let args = [self.thread, self.frame, words, depth, delegates];
        self.b.inline(suspend, &args, None);
        self.b.ret(&[result]);
    }
}
