//! Virtual objects: what the program has made and compiled code never did, described by what is in it.
//!
//! Only an exit makes them. A record lists each once, so that an object that a frame names twice is made once; those that
//! are part of another stand before it, so that there is no cycle and a host makes them in one sweep. (The idea is that of
//! scalar replacement with frame states that name virtual objects, as in Graal and PyPy's resume data.)

use super::{ExitRecord, Source};
use std::fmt;

/// The class of a virtual object.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum VirtualKind {
    /// A tuple; the fields are its items.
    Tuple,
    /// A cell; the field is what is in it, if anything is.
    Cell,
    /// A method: the fields are the function and the object that it is bound to.
    Method,
    /// An iterator of a range; the fields are the next value, where it ends, and the step.
    RangeIter,
    /// An iterator of a list or tuple; the fields are that, and the offset of the next item.
    SeqIter,
    /// An instance of a class of the program; the fields are its attributes, in the order in which they were first assigned.
    Instance {
        /// The class, by the host's token.
        class: u64,
        /// Where each attribute is, as the host says it.
        places: Vec<u32>,
    },
}

impl VirtualKind {
    /// The kinds that are no more than their names.
    pub const NAMED: [VirtualKind; 5] = [
        VirtualKind::Tuple,
        VirtualKind::Cell,
        VirtualKind::Method,
        VirtualKind::RangeIter,
        VirtualKind::SeqIter,
    ];

    /// The name in the text form.
    pub fn name(&self) -> &'static str {
        match self {
            VirtualKind::Tuple => "tuple",
            VirtualKind::Cell => "cell",
            VirtualKind::Method => "method",
            VirtualKind::RangeIter => "range_iter",
            VirtualKind::SeqIter => "seq_iter",
            VirtualKind::Instance { .. } => "instance",
        }
    }
}

impl fmt::Display for VirtualKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            VirtualKind::Instance { class, places } => write!(f, " {class} {places:?}"),
            _ => Ok(()),
        }
    }
}

/// An object to be made if somebody asks for it. It takes over what its fields own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VirtualObject {
    /// Its class.
    pub kind: VirtualKind,
    /// What it holds, each an object.
    pub fields: Vec<Source>,
    /// A word of the exit buffer, and what is meant instead where that is 0: then the object is not made, and nobody has what its
    /// fields own (a field may be null then).
    pub instead: Option<(u32, Source)>,
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

/// What is wrong with an exit record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RecordFault {
    /// A source names a virtual object that the record does not list.
    #[error("there is no virtual object {0}")]
    NoSuchVirtual(u32),
    /// A field is the object itself, or one that is listed later.
    #[error(
        "virtual object {object} has virtual object {field} in it, which does not stand before it"
    )]
    Order {
        /// The object.
        object: u32,
        /// What it names.
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
    /// A local of an inlined frame is to be what its slot holds, and there is none.
    #[error("local {local} of inlined frame {frame} has no slot that could keep it")]
    Kept {
        /// The number of the frame.
        frame: u32,
        /// The local.
        local: u32,
    },
    /// A source names a word that the exit buffer does not have.
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

    /// Give the words that sources name other numbers.
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

    /// Check that what sources name is there, and that virtual objects can be made in their order.
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
                    Source::Null if made.instead.is_some() => {}
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
    fn what_is_missing_is_found() {
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
