//! The packed form in which a unit keeps its exits.
//!
//! A unit has hundreds of exits, few of which are ever taken, and a decoded record takes a kilobyte
//! of lists. So records are kept as a string of bytes, a small fraction of that, and decoded at
//! their first use; the decoded record is kept. (Compilers keep safepoint maps and debug scopes in
//! the same form, as a sequence of LEB128 numbers.)

use super::{ExitKind, ExitRecord, InlinedFrame, NameWrite, Source, VirtualKind, VirtualObject};
use crate::bytecode::{Awaited, Operation, Pc, Reason};
use std::ops::Index;
use std::sync::OnceLock;

/// The parts of an exit that are known without decoding its record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExitHead {
    /// [`ExitRecord::kind`]
    pub kind: ExitKind,
    /// [`ExitRecord::reason`]
    pub reason: Reason,
    /// [`ExitRecord::pc`]
    pub pc: Pc,
}

/// The exits of a unit, by number. Indexing gives a record, which is decoded at its first use.
#[derive(Default, Debug)]
pub struct Exits {
    heads: Box<[ExitHead]>,
    /// The start of each record in `bytes`.
    starts: Box<[u32]>,
    bytes: Box<[u8]>,
    made: Box<[OnceLock<Box<ExitRecord>>]>,
}

impl Exits {
    /// Packs the records.
    ///
    /// # Panics
    /// If the bytes exceed four gigabytes, which a unit's exits never do.
    pub fn pack(records: &[ExitRecord]) -> Exits {
        let mut bytes = Vec::new();
        let mut starts = Vec::with_capacity(records.len());
        for record in records {
            starts.push(u32::try_from(bytes.len()).expect("exits of less than 4 GiB"));
            record.virtuals.pack(&mut bytes);
            record.locals.pack(&mut bytes);
            record.names.pack(&mut bytes);
            record.stack.pack(&mut bytes);
            record.inlined.pack(&mut bytes);
            record.words.pack(&mut bytes);
            record.shown.pack(&mut bytes);
        }
        let heads = records.iter().map(|record| ExitHead {
            kind: record.kind,
            reason: record.reason,
            pc: record.pc,
        });
        Exits {
            heads: heads.collect(),
            starts: starts.into(),
            bytes: bytes.into(),
            made: records.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// The number of exits.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The parts of the exits that are known without decoding, by number.
    pub fn heads(&self) -> &[ExitHead] {
        &self.heads
    }

    /// The records by number, each decoded again.
    pub fn records(&self) -> impl Iterator<Item = ExitRecord> + '_ {
        (0..self.len()).map(|number| self.unpack(number))
    }

    fn unpack(&self, number: usize) -> ExitRecord {
        let ExitHead { kind, reason, pc } = self.heads[number];
        let from = &mut &self.bytes[self.starts[number] as usize..];
        ExitRecord {
            kind,
            reason,
            pc,
            virtuals: Packed::unpack(from),
            locals: Packed::unpack(from),
            names: Packed::unpack(from),
            stack: Packed::unpack(from),
            inlined: Packed::unpack(from),
            words: Packed::unpack(from),
            shown: Packed::unpack(from),
        }
    }
}

impl Index<usize> for Exits {
    type Output = ExitRecord;

    /// # Panics
    /// If there is no such exit.
    fn index(&self, number: usize) -> &ExitRecord {
        self.made[number].get_or_init(|| Box::new(self.unpack(number)))
    }
}

/// A value that is written as bytes and read back; only bytes that [`Exits::pack`] wrote are ever
/// read.
trait Packed: Sized {
    fn pack(&self, to: &mut Vec<u8>);

    fn unpack(from: &mut &[u8]) -> Self;
}

impl Packed for u64 {
    fn pack(&self, to: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            to.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        to.push(rest as u8);
    }

    fn unpack(from: &mut &[u8]) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (&byte, rest) = from.split_first().expect("a packed number");
            *from = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }
}

impl Packed for u32 {
    fn pack(&self, to: &mut Vec<u8>) {
        u64::from(*self).pack(to);
    }

    fn unpack(from: &mut &[u8]) -> u32 {
        u64::unpack(from) as u32
    }
}

/// Encoded with the sign in the lowest bit, so that small numbers of both signs are short.
impl Packed for i64 {
    fn pack(&self, to: &mut Vec<u8>) {
        (self.cast_unsigned() << 1 ^ (self >> 63).cast_unsigned()).pack(to);
    }

    fn unpack(from: &mut &[u8]) -> i64 {
        let number = u64::unpack(from);
        (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
    }
}

impl Packed for bool {
    fn pack(&self, to: &mut Vec<u8>) {
        u64::from(*self).pack(to);
    }

    fn unpack(from: &mut &[u8]) -> bool {
        u64::unpack(from) != 0
    }
}

impl<A: Packed, B: Packed> Packed for (A, B) {
    fn pack(&self, to: &mut Vec<u8>) {
        self.0.pack(to);
        self.1.pack(to);
    }

    fn unpack(from: &mut &[u8]) -> (A, B) {
        (A::unpack(from), B::unpack(from))
    }
}

impl<T: Packed> Packed for Option<T> {
    fn pack(&self, to: &mut Vec<u8>) {
        self.is_some().pack(to);
        if let Some(value) = self {
            value.pack(to);
        }
    }

    fn unpack(from: &mut &[u8]) -> Option<T> {
        bool::unpack(from).then(|| T::unpack(from))
    }
}

impl<T: Packed> Packed for Vec<T> {
    fn pack(&self, to: &mut Vec<u8>) {
        (self.len() as u64).pack(to);
        self.iter().for_each(|item| item.pack(to));
    }

    fn unpack(from: &mut &[u8]) -> Vec<T> {
        let count = u64::unpack(from);
        (0..count).map(|_| T::unpack(from)).collect()
    }
}

impl Packed for Source {
    fn pack(&self, to: &mut Vec<u8>) {
        match *self {
            Source::Keep => to.push(0),
            Source::Null => to.push(1),
            Source::Owned(n) => (2u32, n).pack(to),
            Source::Borrowed(n) => (3u32, n).pack(to),
            Source::Int(n) => (4u32, n).pack(to),
            Source::IntPlus(n, more) => (5u32, (n, i64::from(more))).pack(to),
            Source::ConstInt(n) => (6u32, n).pack(to),
            Source::Const(object) => (7u32, object).pack(to),
            Source::Float(n) => (8u32, n).pack(to),
            Source::Bool(n) => (9u32, n).pack(to),
            Source::IntIf(n, flag) => (10u32, (n, flag)).pack(to),
            Source::FloatIf(n, flag) => (11u32, (n, flag)).pack(to),
            Source::Virtual(n) => (12u32, n).pack(to),
        }
    }

    fn unpack(from: &mut &[u8]) -> Source {
        match u32::unpack(from) {
            0 => Source::Keep,
            1 => Source::Null,
            2 => Source::Owned(u32::unpack(from)),
            3 => Source::Borrowed(u32::unpack(from)),
            4 => Source::Int(u32::unpack(from)),
            5 => Source::IntPlus(u32::unpack(from), i64::unpack(from) as i32),
            6 => Source::ConstInt(i64::unpack(from)),
            7 => Source::Const(u64::unpack(from)),
            8 => Source::Float(u32::unpack(from)),
            9 => Source::Bool(u32::unpack(from)),
            10 => Source::IntIf(u32::unpack(from), u32::unpack(from)),
            11 => Source::FloatIf(u32::unpack(from), u32::unpack(from)),
            12 => Source::Virtual(u32::unpack(from)),
            kind => unreachable!("no source is packed as {kind}"),
        }
    }
}

impl Packed for NameWrite {
    fn pack(&self, to: &mut Vec<u8>) {
        (self.name, self.source).pack(to);
    }

    fn unpack(from: &mut &[u8]) -> NameWrite {
        let (name, source) = Packed::unpack(from);
        NameWrite { name, source }
    }
}

impl Packed for VirtualKind {
    fn pack(&self, to: &mut Vec<u8>) {
        let named = VirtualKind::NAMED.iter().position(|named| named == self);
        match self {
            VirtualKind::Instance { class, places } => {
                (VirtualKind::NAMED.len() as u32, *class).pack(to);
                places.pack(to);
            }
            VirtualKind::Generator { code, at } => {
                (VirtualKind::NAMED.len() as u32 + 1, *code).pack(to);
                at.0.pack(to);
            }
            _ => (named.expect("a kind that is no more than its name") as u32).pack(to),
        }
    }

    fn unpack(from: &mut &[u8]) -> VirtualKind {
        let number = u32::unpack(from) as usize;
        let named = VirtualKind::NAMED.get(number);
        named.cloned().unwrap_or_else(|| {
            if number == VirtualKind::NAMED.len() {
                VirtualKind::Instance {
                    class: Packed::unpack(from),
                    places: Packed::unpack(from),
                }
            } else {
                VirtualKind::Generator {
                    code: Packed::unpack(from),
                    at: Pc(Packed::unpack(from)),
                }
            }
        })
    }
}

impl Packed for VirtualObject {
    fn pack(&self, to: &mut Vec<u8>) {
        self.kind.pack(to);
        self.fields.pack(to);
        self.instead.pack(to);
    }

    fn unpack(from: &mut &[u8]) -> VirtualObject {
        VirtualObject {
            kind: Packed::unpack(from),
            fields: Packed::unpack(from),
            instead: Packed::unpack(from),
        }
    }
}

impl Packed for InlinedFrame {
    fn pack(&self, to: &mut Vec<u8>) {
        (self.code, self.pc.0).pack(to);
        self.awaited.pack(to);
        self.locals.pack(to);
        self.stack.pack(to);
    }

    fn unpack(from: &mut &[u8]) -> InlinedFrame {
        InlinedFrame {
            code: Packed::unpack(from),
            pc: Pc(Packed::unpack(from)),
            awaited: Packed::unpack(from),
            locals: Packed::unpack(from),
            stack: Packed::unpack(from),
        }
    }
}

impl Packed for Awaited {
    fn pack(&self, to: &mut Vec<u8>) {
        match *self {
            Awaited::Result => to.push(0),
            Awaited::Constructed => to.push(1),
            Awaited::Item => to.push(2),
            Awaited::Operator(Operation {
                op,
                arg,
                swapped,
                flag,
            }) => {
                let op = Operation::OPS.iter().position(|other| *other == op);
                let op = op.expect("an op whose instructions may wait for a method");
                (3 + op as u32, arg).pack(to);
                (swapped, flag).pack(to);
            }
        }
    }

    fn unpack(from: &mut &[u8]) -> Awaited {
        match u32::unpack(from) {
            0 => Awaited::Result,
            1 => Awaited::Constructed,
            2 => Awaited::Item,
            op => Awaited::Operator(Operation {
                op: Operation::OPS[op as usize - 3],
                arg: Packed::unpack(from),
                swapped: Packed::unpack(from),
                flag: Packed::unpack(from),
            }),
        }
    }
}
