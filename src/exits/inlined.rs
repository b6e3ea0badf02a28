//! Inlined frames: those of calls whose callee was inlined, so that compiled code creates no frame.
//!
//! Only an exit creates them. A record describes the frame of the unit, which exists, and after it
//! the inlined frames, the outermost first. Each but the innermost waits at a call for the next
//! one's result; the innermost continues as the record's kind says. For example, for an exit in `g`
//! that was inlined into `f`, the record describes `f`'s frame, waiting at the call of `g`, and one
//! inlined frame for `g`.

use super::Source;
use crate::bytecode::{Awaited, Pc};
use std::fmt;

/// A frame that the exit creates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InlinedFrame {
    /// Its code: the number in the unit's table of inlined code objects.
    pub code: u32,
    /// The instruction at which it continues, or the call at which it waits.
    pub pc: Pc,
    /// The use that the frame before it makes of its result.
    pub awaited: Awaited,
    /// One source for each local. An inlined frame has no slots yet that could hold a value, so
    /// none is [`Source::Keep`].
    pub locals: Vec<Source>,
    /// The operand stack from the bottom. For a waiting frame, without the operands that the call
    /// consumes ([`Awaited`]).
    pub stack: Vec<Source>,
}

impl InlinedFrame {
    /// Every source.
    pub fn sources(&self) -> impl Iterator<Item = Source> + '_ {
        self.locals.iter().chain(&self.stack).copied()
    }
}

/// `[owned 2, int 3]`
pub(super) struct List<'a>(pub &'a [Source]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources: Vec<String> = self.0.iter().map(Source::to_string).collect();
        write!(f, "[{}]", sources.join(", "))
    }
}

impl fmt::Display for InlinedFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (locals, stack) = (List(&self.locals), List(&self.stack));
        write!(
            f,
            "inlined {} {} {}{locals} {stack}",
            self.code, self.pc, self.awaited
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ExitRecord, Live, LiveInlined, RecordFault};
    use crate::bytecode::{Awaited, Pc};

    const TWO: &str = "resume @5 overflow, virtual 0 = tuple (int 2), local 0 = int 2, stack [borrowed 3], \
                       inlined 0 @4 constructs [virtual 0, null] [], inlined 1 @2 [owned 3] [virtual 0, float 4]";

    #[test]
    fn frames_are_read_outermost_first() {
        let record = ExitRecord::parse(TWO).expect("a record");
        assert_eq!(record.to_string(), TWO);
        assert_eq!((record.verify(), record.words), (Ok(()), 5));
        let half = 0.5f64.to_bits();
        let frame = record.read(&[1, 2, 7, 0x40, half]).expect("a frame");
        let outer = LiveInlined {
            code: 0,
            pc: Pc(4),
            awaited: Awaited::Constructed,
            locals: vec![Live::Virtual(0), Live::Null],
            stack: vec![],
        };
        let inner = LiveInlined {
            code: 1,
            pc: Pc(2),
            awaited: Awaited::Result,
            locals: vec![Live::Owned(0x40)],
            stack: vec![Live::Virtual(0), Live::Float(0.5)],
        };
        assert_eq!(frame.inlined, [outer, inner]);
        assert_eq!(frame.stack, [Live::Borrowed(0x40)]);
    }

    #[test]
    fn a_frame_refers_only_to_existing_values() {
        let fault = |text: &str| ExitRecord::parse(text).expect("a record").verify();
        let kept =
            "resume @1 type, stack [], inlined 0 @0 [int 2] [], inlined 0 @0 [null, keep] []";
        let (frame, local) = (1, 1);
        assert_eq!(fault(kept), Err(RecordFault::Kept { frame, local }));
        let missing = "resume @1 type, stack [], inlined 0 @0 [] [virtual 0]";
        assert_eq!(fault(missing), Err(RecordFault::NoSuchVirtual(0)));
        let mut short = ExitRecord::parse("resume @1 type, stack [], inlined 0 @0 [int 2] []")
            .expect("a record");
        short.words = 2;
        assert_eq!(short.verify(), Err(RecordFault::NoSuchWord(2)));
        assert_eq!(short.read(&[1, 2]), None);
    }
}
