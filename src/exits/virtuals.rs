//! Virtual objects: objects that the program created and compiled code did not allocate, described
//! by their fields.
//!
//! Only an exit materialises them. A record lists each once, so that an object to which a frame
//! refers twice is materialised once. An object that is a field of another precedes it, so that
//! there is no cycle and a host materialises them in one sweep. (This is scalar replacement with
//! frame states that refer to virtual objects, as in Graal, and PyPy's resume data.) For example,
//! `t = (a, b)` that is only unpacked again is a virtual tuple; an exit between the two statements
//! has a record `virtual 0 = tuple (owned 2, owned 3), local 4 = virtual 0`.

use super::{ExitRecord, Source};
use crate::bytecode::Pc;
use std::fmt;

/// The class of a virtual object.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum VirtualKind {
    /// A tuple; the fields are its items.
    Tuple,
    /// A dict; the fields are alternately its keys, strings, and their values.
    Dict,
    /// A cell; the field is its content, if any.
    Cell,
    /// A method; the fields are the function and the object that it is bound to.
    Method,
    /// A range iterator; the fields are the next value, the end, and the step.
    RangeIter,
    /// An iterator of a list or tuple; the fields are the sequence and the offset of the next item.
    SeqIter,
    /// A `chain`; the fields are a list, which nothing else refers to, and a generator.
    Chain,
    /// A suspended generator; the fields are the contents of its locals, null for those without a
    /// value, the function if the table only has its code, and the content of its stack.
    Generator {
        /// Its code: the number in the unit's table of inlined code objects.
        code: u32,
        /// The instruction at which it continues.
        at: Pc,
    },
    /// An instance of a user class; the fields are its attributes, in the order in which they were
    /// first assigned.
    Instance {
        /// The class, by the host's token.
        class: u64,
        /// The place of each attribute, in the host's encoding.
        places: Vec<u32>,
    },
}

impl VirtualKind {
    /// The kinds without parameters.
    pub const NAMED: [VirtualKind; 7] = [
        VirtualKind::Tuple,
        VirtualKind::Dict,
        VirtualKind::Cell,
        VirtualKind::Method,
        VirtualKind::RangeIter,
        VirtualKind::SeqIter,
        VirtualKind::Chain,
    ];

    /// The name in the text form.
    pub fn name(&self) -> &'static str {
        match self {
            VirtualKind::Tuple => "tuple",
            VirtualKind::Dict => "dict",
            VirtualKind::Cell => "cell",
            VirtualKind::Method => "method",
            VirtualKind::RangeIter => "range_iter",
            VirtualKind::SeqIter => "seq_iter",
            VirtualKind::Chain => "chain",
            VirtualKind::Instance { .. } => "instance",
            VirtualKind::Generator { .. } => "generator",
        }
    }
}

impl fmt::Display for VirtualKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            VirtualKind::Instance { class, places } => write!(f, " {class} {places:?}"),
            VirtualKind::Generator { code, at } => write!(f, " {code} {at}"),
            _ => Ok(()),
        }
    }
}

/// An object that an exit materialises. It takes over the references of its owned fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VirtualObject {
    /// Its class.
    pub kind: VirtualKind,
    /// Its fields, each an object.
    pub fields: Vec<Source>,
    /// A word of the exit buffer, and the value to use instead if that word is 0. In that case the
    /// object is not materialised and its fields own nothing (they may be null).
    pub instead: Option<(u32, Source)>,
}

impl VirtualObject {
    /// Returns true if a field may be null: a local of a generator, and the fields of an object
    /// that may not be materialised.
    fn may_lack_fields(&self) -> bool {
        self.instead.is_some() || matches!(self.kind, VirtualKind::Generator { .. })
    }
}

impl fmt::Display for VirtualObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: Vec<String> = self.fields.iter().map(Source::to_string).collect();
        write!(f, "{} ({})", self.kind, fields.join(", "))?;
        match self.instead {
            Some((flag, source)) => write!(f, " if {flag} else {source}"),
            None => Ok(()),
        }
    }
}

/// A fault in an exit record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RecordFault {
    /// A source refers to a virtual object that the record does not list.
    #[error("there is no virtual object {0}")]
    NoSuchVirtual(u32),
    /// A field is the object itself, or one that is listed later.
    #[error(
        "virtual object {object} has virtual object {field} as a field, which does not precede it"
    )]
    Order {
        /// The object.
        object: u32,
        /// The virtual object in the field.
        field: u32,
    },
    /// A field is not an object.
    #[error("field {field} of virtual object {object} is no object")]
    NoObject {
        /// The object.
        object: u32,
        /// The number of the field.
        field: u32,
    },
    /// A local of an inlined frame is `Keep`, but the frame has no slots.
    #[error("local {local} of inlined frame {frame} has no slot that could keep it")]
    Kept {
        /// The number of the frame.
        frame: u32,
        /// The local.
        local: u32,
    },
    /// A source refers to a word that the exit buffer does not have.
    #[error("there is no word {0} in the exit buffer")]
    NoSuchWord(u32),
}

impl ExitRecord {
    /// Every source of the record, those in virtual objects first.
    pub fn sources(&self) -> impl Iterator<Item = Source> + '_ {
        let fields = self.virtuals.iter().flat_map(|object| {
            let instead = object.instead.into_iter();
            let instead = instead.flat_map(|(flag, source)| [Source::Bool(flag), source]);
            object.fields.iter().copied().chain(instead)
        });
        fields
            .chain(self.locals.iter().map(|(_, source)| *source))
            .chain(self.names.iter().map(|name| name.source))
            .chain(self.stack.iter().copied())
            .chain(self.inlined.iter().flat_map(|frame| frame.sources()))
    }

    /// Renumbers the words of the exit buffer in all sources.
    pub(crate) fn number_words(&mut self, number: impl Fn(u32) -> u32) {
        let fields = self.virtuals.iter_mut().flat_map(|object| {
            if let Some((flag, _)) = &mut object.instead {
                *flag = number(*flag);
            }
            let instead = object.instead.iter_mut().map(|(_, source)| source);
            object.fields.iter_mut().chain(instead)
        });
        let locals = self.locals.iter_mut().map(|(_, source)| source);
        let names = self.names.iter_mut().map(|name| &mut name.source);
        let inlined = self.inlined.iter_mut();
        let inlined = inlined.flat_map(|frame| frame.locals.iter_mut().chain(&mut frame.stack));
        let sources = fields.chain(locals).chain(names).chain(&mut self.stack);
        for source in sources.chain(inlined) {
            *source = source.with_words(&number);
        }
    }

    /// Checks that everything that sources refer to exists, and that virtual objects can be
    /// materialised in order.
    ///
    /// # Errors
    /// The first [`RecordFault`].
    pub fn verify(&self) -> Result<(), RecordFault> {
        for (object, made) in (0u32..).zip(&self.virtuals) {
            for (field, source) in (0u32..).zip(&made.fields) {
                match *source {
                    Source::Virtual(n) if n >= object => {
                        return Err(RecordFault::Order { object, field: n });
                    }
                    Source::Null if made.may_lack_fields() => {}
                    Source::Keep | Source::Null => {
                        return Err(RecordFault::NoObject { object, field });
                    }
                    _ => {}
                }
            }
        }
        for (frame, inlined) in (0u32..).zip(&self.inlined) {
            for (local, source) in (0u32..).zip(&inlined.locals) {
                if *source == Source::Keep {
                    return Err(RecordFault::Kept { frame, local });
                }
            }
        }
        for source in self.sources() {
            match source {
                Source::Virtual(n) if n as usize >= self.virtuals.len() => {
                    return Err(RecordFault::NoSuchVirtual(n));
                }
                source => {
                    let words = self.words as usize + self.shown.len();
                    if let Some(word) = source.words().find(|word| *word as usize >= words) {
                        return Err(RecordFault::NoSuchWord(word));
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Result<(), RecordFault> {
        ExitRecord::parse(text).expect("a record").verify()
    }

    #[test]
    fn the_order_of_virtual_objects_is_checked() {
        let nested = "resume @1 type, virtual 0 = tuple (owned 2), virtual 1 = tuple (virtual 0, virtual 0), \
                      local 1 = virtual 1, stack [virtual 0]";
        assert_eq!(fault(nested), Ok(()));
        let own = "resume @1 type, virtual 0 = tuple (virtual 0), stack []";
        let order = |object, field| Err(RecordFault::Order { object, field });
        assert_eq!(fault(own), order(0, 0));
        let cycle = "resume @1 type, virtual 0 = tuple (virtual 1), virtual 1 = tuple (virtual 0), stack []";
        assert_eq!(fault(cycle), order(0, 1));
    }

    #[test]
    fn missing_parts_are_found() {
        let missing = "resume @1 type, virtual 0 = tuple (), stack [virtual 1]";
        assert_eq!(fault(missing), Err(RecordFault::NoSuchVirtual(1)));
        let null = "resume @1 type, virtual 0 = tuple (int 2, null), stack []";
        let (object, field) = (0, 1);
        assert_eq!(fault(null), Err(RecordFault::NoObject { object, field }));
        let mut short = ExitRecord::parse("resume @1 type, stack [int 2 if 3]").expect("a record");
        short.words = 3;
        assert_eq!(short.verify(), Err(RecordFault::NoSuchWord(3)));
    }
}
