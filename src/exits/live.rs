//! The values of a frame after a side exit: the exit buffer, decoded by its record.

use super::{ExitRecord, Source, VirtualKind};
use crate::bytecode::{Awaited, Pc};
use smallvec::SmallVec;

/// A value of a frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Live {
    /// No value: an unbound local, or a null on the stack.
    Null,
    /// The host's word for an object; its reference goes to the frame.
    Owned(u64),
    /// The host's word for an object; the frame takes a new reference.
    Borrowed(u64),
    /// A raw int.
    Int(i64),
    /// A raw float.
    Float(f64),
    /// A raw truth value.
    Bool(bool),
    /// A virtual object: its index in [`LiveFrame::virtuals`]. All places with the same index refer
    /// to one object, and each takes a reference of its own.
    Virtual(u32),
}

/// A virtual object, which the host materialises. It takes over the references of its owned fields.
#[derive(Clone, PartialEq, Debug)]
pub struct LiveObject {
    /// Its class.
    pub kind: VirtualKind,
    /// Its fields. A virtual object among them precedes this one.
    pub fields: Vec<Live>,
    /// The value to use instead. If there is one, the host does not materialise the object, and
    /// releases the owned fields.
    pub instead: Option<Live>,
}

/// A frame inside the unit's, which the host creates. See [`super::InlinedFrame`].
#[derive(Clone, PartialEq, Debug)]
pub struct LiveInlined {
    /// Its code: the number in the unit's table of inlined code objects.
    pub code: u32,
    /// The instruction at which it continues, or the call at which it waits.
    pub pc: Pc,
    /// The use that the frame before it makes of its result.
    pub awaited: Awaited,
    /// Every local.
    pub locals: Vec<Live>,
    /// The operand stack from the bottom. For a waiting frame, without the operands that the call
    /// consumes.
    pub stack: Vec<Live>,
}

/// A frame at a side exit.
#[derive(Clone, PartialEq, Debug)]
pub struct LiveFrame {
    /// The first word of the context: the thread.
    pub thread: u64,
    /// The second word of the context: the frame (in a closed unit, the function).
    pub frame: u64,
    /// The objects to materialise, inner ones first.
    pub virtuals: Vec<LiveObject>,
    /// The locals whose slot does not already hold their value.
    pub locals: Vec<(u32, Live)>,
    /// The operand stack from the bottom.
    pub stack: Vec<Live>,
    /// Names of the namespace to write: index in the code's names, and value.
    pub names: Vec<(u32, Live)>,
    /// The frames inside this one, outermost first. The host creates them and continues the last
    /// one.
    pub inlined: Vec<LiveInlined>,
}

impl ExitRecord {
    /// The words of the exit buffer, followed by the words of the frame that the record
    /// [lists](ExitRecord::shown).
    ///
    /// # Safety
    /// An exit with this record has filled `buffer`, whose second word is the address of the frame,
    /// and neither has changed since.
    pub unsafe fn all_words(&self, buffer: *const u64) -> SmallVec<[u64; 32]> {
        // SAFETY: the caller promises that the buffer has the record's number of words.
        let passed = unsafe { std::slice::from_raw_parts(buffer, self.words as usize) };
        let mut words = SmallVec::from_slice(passed);
        let frame = std::ptr::with_exposed_provenance::<u8>(words[1] as usize);
        // SAFETY: the compiled code has stored these words.
        let at = |offset: &u32| unsafe { frame.add(*offset as usize).cast::<u64>().read() };
        words.extend(self.shown.iter().map(at));
        words
    }

    /// The frame's values, decoded from [these words](ExitRecord::all_words). None if there are
    /// fewer words than the record needs, or if the record is malformed (see
    /// [`ExitRecord::verify`]).
    pub fn read(&self, words: &[u64]) -> Option<LiveFrame> {
        self.verify().ok()?;
        let words = words.get(..self.words as usize + self.shown.len())?;
        let live = |source: Source| live(source, words);
        let named = |n: &super::NameWrite| Some((n.name, live(n.source)?));
        let local = |&(slot, source): &(u32, Source)| match source {
            Source::Keep => None,
            source => Some(live(source).map(|value| (slot, value))),
        };
        let object = |object: &super::VirtualObject| {
            let fields = object.fields.iter().map(|&field| live(field));
            let instead = match object.instead {
                Some((flag, source)) if *words.get(flag as usize)? & 1 == 0 => Some(live(source)?),
                _ => None,
            };
            Some(LiveObject {
                kind: object.kind.clone(),
                fields: fields.collect::<Option<_>>()?,
                instead,
            })
        };
        let all = |sources: &[Source]| sources.iter().map(|&s| live(s)).collect::<Option<_>>();
        let inlined = |frame: &super::InlinedFrame| {
            Some(LiveInlined {
                code: frame.code,
                pc: frame.pc,
                awaited: frame.awaited,
                locals: all(&frame.locals)?,
                stack: all(&frame.stack)?,
            })
        };
        Some(LiveFrame {
            inlined: self.inlined.iter().map(inlined).collect::<Option<_>>()?,
            virtuals: self.virtuals.iter().map(object).collect::<Option<_>>()?,
            thread: *words.first()?,
            frame: *words.get(1)?,
            locals: self
                .locals
                .iter()
                .filter_map(local)
                .collect::<Option<_>>()?,
            stack: self
                .stack
                .iter()
                .map(|&source| live(source))
                .collect::<Option<_>>()?,
            names: self.names.iter().map(named).collect::<Option<_>>()?,
        })
    }
}

fn live(source: Source, words: &[u64]) -> Option<Live> {
    let word = |n: u32| words.get(n as usize).copied();
    let object = |n: u32, live: fn(u64) -> Live| {
        word(n).map(|word| if word == 0 { Live::Null } else { live(word) })
    };
    Some(match source {
        Source::Keep | Source::Null => Live::Null,
        Source::Owned(n) => object(n, Live::Owned)?,
        Source::Borrowed(n) => object(n, Live::Borrowed)?,
        Source::IntIf(_, bound) | Source::FloatIf(_, bound) if word(bound)? & 1 == 0 => Live::Null,
        Source::Int(n) | Source::IntIf(n, _) => Live::Int(word(n)? as i64),
        Source::IntPlus(n, more) => Live::Int((word(n)? as i64).wrapping_add(more.into())),
        Source::ConstInt(n) => Live::Int(n),
        Source::Const(object) => Live::Borrowed(object),
        Source::Float(n) | Source::FloatIf(n, _) => Live::Float(f64::from_bits(word(n)?)),
        Source::Bool(n) => Live::Bool(word(n)? & 1 != 0),
        Source::Virtual(n) => Live::Virtual(n),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytecode::Reason;
    use crate::exits::ExitKind;

    fn record() -> ExitRecord {
        ExitRecord {
            kind: ExitKind::Resume,
            reason: Reason::Raised,
            pc: Pc(3),
            virtuals: Vec::new(),
            locals: vec![
                (0, Source::Keep),
                (1, Source::Int(2)),
                (2, Source::FloatIf(3, 4)),
                (4, Source::IntIf(2, 5)),
            ],
            names: Vec::new(),
            stack: vec![
                Source::Owned(6),
                Source::Borrowed(7),
                Source::Bool(5),
                Source::Null,
            ],
            inlined: Vec::new(),
            words: 8,
            shown: Vec::new(),
        }
    }

    #[test]
    fn each_source_is_read_as_what_it_is() {
        let half = 0.5f64.to_bits();
        let frame = record()
            .read(&[10, 20, -7i64 as u64, half, 1, 0, 0x30, 0])
            .unwrap();
        assert_eq!((frame.thread, frame.frame), (10, 20));
        let locals = [(1, Live::Int(-7)), (2, Live::Float(0.5)), (4, Live::Null)];
        assert_eq!(frame.locals, locals);
        let stack = [Live::Owned(0x30), Live::Null, Live::Bool(false), Live::Null];
        assert_eq!(frame.stack, stack);
    }

    #[test]
    fn a_virtual_object_is_read_once_and_named_often() {
        let text = "resume @1 type, virtual 0 = tuple (int 2, owned 3), virtual 1 = tuple (virtual 0), \
                    local 0 = virtual 1, stack [virtual 0, virtual 0]";
        let record = ExitRecord::parse(text).expect("a record");
        let frame = record.read(&[1, 2, 3, 0x40]).expect("a frame");
        let tuple = |fields| LiveObject {
            kind: VirtualKind::Tuple,
            fields,
            instead: None,
        };
        assert_eq!(
            frame.virtuals,
            [
                tuple(vec![Live::Int(3), Live::Owned(0x40)]),
                tuple(vec![Live::Virtual(0)])
            ]
        );
        assert_eq!(frame.locals, [(0, Live::Virtual(1))]);
        assert_eq!(frame.stack, [Live::Virtual(0), Live::Virtual(0)]);
        let mut cycle = record;
        cycle.virtuals[0].fields[0] = Source::Virtual(1);
        assert_eq!(cycle.read(&[1, 2, 3, 0x40]), None);
    }

    #[test]
    fn the_alternative_of_a_virtual_object_is_read_if_its_word_is_zero() {
        let text = "resume @1 type, virtual 0 = tuple (owned 3) if 2 else borrowed 4, local 0 = virtual 0, stack []";
        let record = ExitRecord::parse(text).expect("a record");
        assert_eq!(record.to_string(), text);
        let instead = |flag, field| {
            let mut frame = record.read(&[1, 2, flag, field, 0x50]).expect("a frame");
            frame.virtuals.remove(0).instead
        };
        assert_eq!(instead(1, 0x40), None);
        assert_eq!(instead(0, 0), Some(Live::Borrowed(0x50)));
        assert_eq!(record.words, 5);
    }

    #[test]
    fn words_of_the_frame_come_after_those_of_the_buffer() {
        let text =
            "resume @1 type, local 0 = int 3, local 1 = float 4, stack [int 2], shown 3 [8, 24]";
        let record = ExitRecord::parse(text).expect("a record");
        assert_eq!(record.to_string(), text);
        let frame = [0, 7, 0, 0.5f64.to_bits()];
        let buffer = [10, frame.as_ptr().expose_provenance() as u64, 5];
        // SAFETY: the buffer has the record's words, of which the second is the frame.
        let words = unsafe { record.all_words(buffer.as_ptr()) };
        let live = record.read(&words).expect("a frame");
        assert_eq!(live.locals, [(0, Live::Int(7)), (1, Live::Float(0.5))]);
        assert_eq!(live.stack, [Live::Int(5)]);
        assert_eq!(record.read(&words[..4]), None);
    }

    #[test]
    fn a_short_buffer_is_refused() {
        assert_eq!(record().read(&[0; 7]), None);
    }
}
