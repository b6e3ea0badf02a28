//! Frames that compiled code never made: those of calls whose callee's code stands in the caller's.
//!
//! Only an exit makes them. A record describes the frame that its unit was entered for, which is there, and behind it the
//! frames that the program would have within that one, the outermost first. All but the innermost wait at a call for the
//! next one's result; the innermost goes on as the record's kind says.

use super::Source;
use crate::bytecode::{Awaited, Pc};
use std::fmt;

/// A frame to be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InlinedFrame {
    /// Whose it is: the number in the unit's table of inlined codes.
    pub code: u32,
    /// The instruction at which it goes on, or the call at which it waits.
    pub pc: Pc,
    /// What the frame before it waits for.
    pub awaited: Awaited,
    /// One source for each local. There is no slot that could hold a value already, so none is [`Source::Keep`].
    pub locals: Vec<Source>,
    /// The operand stack from the bottom; where the frame waits, without what the call consumes ([`Awaited`]).
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
    fn what_a_frame_names_must_be_there() {
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
