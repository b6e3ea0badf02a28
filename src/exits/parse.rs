//! Reads the text form of an exit record back.
//!
//! ```text
//! record := kind "@" NUMBER reason { ", virtual" NUMBER "=" object }
//!           { ", local" NUMBER "=" source } { ", name" NUMBER "=" source } ", stack" list
//!           { ", inlined" NUMBER "@" NUMBER awaited list list }
//! object := made "(" [ source { "," source } ] ")" [ "if" NUMBER "else" source ]
//! made   := "tuple" | "range_iter" | "seq_iter"
//!         | "instance" NUMBER "[" [ NUMBER { "," NUMBER } ] "]"
//! list   := "[" [ source { "," source } ] "]"
//! kind   := "resume" | "raise" | "await" | "pending" | "reraise"
//! awaited := [ "constructs" | "consumes" | OP NUMBER [ "swapped" ] [ "flag" ] ]
//! source := "keep" | "null" | ("owned" | "borrowed" | "int" | "float" | "bool") NUMBER
//!         | ("int" | "float") NUMBER "if" NUMBER | "virtual" NUMBER
//!         | "int" NUMBER "plus" INT | "const_int" INT | "const" NUMBER
//! ```
//! `reason` is the name of a [`Reason`]. Virtual objects are numbered from 0 in their order. The
//! number of words is that of the last one that a source names.

use super::{
    CONTEXT_WORDS, ExitKind, ExitRecord, InlinedFrame, NameWrite, Reason, Source, VirtualKind,
    VirtualObject,
};
use crate::bytecode::{Awaited, Pc};
use std::str::FromStr;

/// A syntax error in an exit record's text, with its place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("column {column}: expected {expected}")]
pub struct RecordError {
    /// The column, from 1, in characters.
    pub column: usize,
    /// The expected token.
    pub expected: &'static str,
}

type Parsed<T> = Result<T, RecordError>;

impl ExitRecord {
    /// Reads the text of a printed record.
    ///
    /// # Errors
    /// A [`RecordError`] with the place.
    pub fn parse(text: &str) -> Parsed<ExitRecord> {
        let mut reader = Reader { text, at: 0 };
        let start = reader.clone();
        let kind = match reader.word() {
            "resume" => ExitKind::Resume,
            "raise" => ExitKind::Raise,
            "await" => ExitKind::Await,
            "pending" => ExitKind::Pending,
            "reraise" => ExitKind::Reraise,
            _ => return start.expected("a kind of exit"),
        };
        reader.expect("@", "`@` and an instruction")?;
        let pc = Pc(reader.number()?);
        let start = reader.clone();
        let name = reader.word();
        let Some(&reason) = Reason::ALL.iter().find(|reason| reason.name() == name) else {
            return start.expected("a reason");
        };
        let (mut virtuals, mut locals, mut names) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            reader.expect(",", "`,`")?;
            let start = reader.clone();
            match reader.word() {
                "virtual" if locals.is_empty() && names.is_empty() => {
                    virtuals.push(reader.virtual_object(virtuals.len())?);
                }
                "local" if names.is_empty() => locals.push(reader.assignment()?),
                "name" => {
                    let (name, source) = reader.assignment()?;
                    names.push(NameWrite { name, source });
                }
                "stack" => break,
                _ => return start.expected("`virtual`, `local`, `name` or `stack`"),
            }
        }
        let stack = reader.list()?;
        let mut inlined = Vec::new();
        let mut shown = None;
        while reader.eat(",") {
            if reader.eat("shown") {
                let first = reader.number()?;
                reader.expect("[", "`[`")?;
                shown = Some((first, reader.items("]", "`,` or `]`", Reader::number)?));
                break;
            }
            reader.expect("inlined", "`inlined` or `shown`")?;
            let code = reader.number()?;
            reader.expect("@", "`@` and an instruction")?;
            inlined.push(InlinedFrame {
                code,
                pc: Pc(reader.number()?),
                awaited: Awaited::read(&mut reader, |r, w| r.eat(w), |r| r.number())?,
                locals: reader.list()?,
                stack: reader.list()?,
            });
        }
        if !reader.rest().is_empty() {
            return reader.expected("`,` or the end");
        }
        let mut record = ExitRecord {
            kind,
            reason,
            pc,
            virtuals,
            words: CONTEXT_WORDS,
            locals,
            names,
            stack,
            inlined,
            shown: Vec::new(),
        };
        if let Some((first, shown)) = shown {
            (record.words, record.shown) = (first, shown);
            return Ok(record);
        }
        let last = record.sources().flat_map(Source::words).max();
        record.words = last
            .map_or(0, |last| last.saturating_add(1))
            .max(CONTEXT_WORDS);
        Ok(record)
    }
}

#[derive(Clone)]
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&mut self) -> &'a str {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
        &self.text[self.at..]
    }

    fn expected<T>(mut self, expected: &'static str) -> Parsed<T> {
        self.rest();
        let column = self.text[..self.at].chars().count() + 1;
        Err(RecordError { column, expected })
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !c.is_ascii_lowercase() && c != '_')
            .unwrap_or(rest.len());
        // An unknown word is not consumed, so that the error is reported there.
        self.at += length;
        &rest[..length]
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn expect(&mut self, token: &str, expected: &'static str) -> Parsed<()> {
        if self.eat(token) {
            Ok(())
        } else {
            self.clone().expected(expected)
        }
    }

    fn number(&mut self) -> Parsed<u32> {
        self.digits("a number of 32 bits")
    }

    fn digits<N: FromStr>(&mut self, expected: &'static str) -> Parsed<N> {
        self.made_of(|c| c.is_ascii_digit(), expected)
    }

    fn signed<N: FromStr>(&mut self, expected: &'static str) -> Parsed<N> {
        self.made_of(|c| c == '-' || c.is_ascii_digit(), expected)
    }

    /// A number that consists of these characters.
    fn made_of<N: FromStr>(
        &mut self,
        is_part: impl Fn(char) -> bool,
        expected: &'static str,
    ) -> Parsed<N> {
        let rest = self.rest();
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        match rest[..length].parse() {
            Ok(number) => {
                self.at += length;
                Ok(number)
            }
            Err(_) => self.clone().expected(expected),
        }
    }

    /// `[owned 2, int 3]`
    fn list(&mut self) -> Parsed<Vec<Source>> {
        self.expect("[", "`[`")?;
        self.items("]", "`,` or `]`", Self::source)
    }

    /// Items separated by commas, up to the closing token; `expected` names the tokens that may
    /// follow an item.
    fn items<T>(
        &mut self,
        close: &str,
        expected: &'static str,
        item: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.eat(close) {
            if !items.is_empty() {
                self.expect(",", expected)?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn assignment(&mut self) -> Parsed<(u32, Source)> {
        let index = self.number()?;
        self.expect("=", "`=`")?;
        Ok((index, self.source()?))
    }

    /// `0 = tuple (owned 2, int 3)`, where the number must be `number`.
    fn virtual_object(&mut self, number: usize) -> Parsed<VirtualObject> {
        let start = self.clone();
        if self.number()? as usize != number {
            return start.expected("the next number of a virtual object");
        }
        self.expect("=", "`=`")?;
        let start = self.clone();
        let name = self.word();
        let kind = match VirtualKind::NAMED.into_iter().find(|k| k.name() == name) {
            Some(kind) => kind,
            None if name == "instance" => self.instance()?,
            None if name == "generator" => VirtualKind::Generator {
                code: self.number()?,
                at: {
                    self.expect("@", "`@` and an instruction")?;
                    Pc(self.number()?)
                },
            },
            None => return start.expected("a kind of virtual object"),
        };
        self.expect("(", "`(`")?;
        let fields = self.items(")", "`,` or `)`", Self::source)?;
        let mut instead = None;
        if self.eat("if") {
            let flag = self.number()?;
            self.expect("else", "`else`")?;
            instead = Some((flag, self.source()?));
        }
        Ok(VirtualObject {
            kind,
            fields,
            instead,
        })
    }

    /// `4096 [24, 32]`: a class, and the places of attributes.
    fn instance(&mut self) -> Parsed<VirtualKind> {
        let class = self.digits("a class")?;
        self.expect("[", "`[`")?;
        let places = self.items("]", "`,` or `]`", Self::number)?;
        Ok(VirtualKind::Instance { class, places })
    }

    fn source(&mut self) -> Parsed<Source> {
        let start = self.clone();
        Ok(match self.word() {
            "keep" => Source::Keep,
            "null" => Source::Null,
            "owned" => Source::Owned(self.number()?),
            "borrowed" => Source::Borrowed(self.number()?),
            "bool" => Source::Bool(self.number()?),
            "virtual" => Source::Virtual(self.number()?),
            "const" => Source::Const(self.digits("a number of 64 bits")?),
            "const_int" => Source::ConstInt(self.signed("a signed number of 64 bits")?),
            kind @ ("int" | "float") => {
                let n = self.number()?;
                if kind == "int" && self.eat("plus") {
                    let more = self.signed("a signed number of 32 bits")?;
                    return Ok(Source::IntPlus(n, more));
                }
                match (kind, self.eat("if")) {
                    ("int", true) => Source::IntIf(n, self.number()?),
                    ("int", false) => Source::Int(n),
                    (_, true) => Source::FloatIf(n, self.number()?),
                    (_, false) => Source::Float(n),
                }
            }
            _ => return start.expected("a source"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ExitHead, Exits};
    use super::*;
    use crate::bytecode::Operation;
    use proptest::prelude::*;

    fn any_source() -> impl Strategy<Value = Source> {
        let number = prop_oneof![any::<i64>(), -9..9i64];
        (0..13usize, 0..99u32, 0..99u32, number).prop_map(|(kind, n, m, number)| match kind {
            0 => Source::Keep,
            1 => Source::Null,
            2 => Source::Owned(n),
            3 => Source::Borrowed(n),
            4 => Source::Int(n),
            5 => Source::Float(n),
            6 => Source::Bool(n),
            7 => Source::IntIf(n, m),
            8 => Source::Virtual(n),
            9 => Source::IntPlus(n, number as i32),
            10 => Source::ConstInt(number),
            11 => Source::Const(number.cast_unsigned()),
            _ => Source::FloatIf(n, m),
        })
    }

    fn any_kind() -> impl Strategy<Value = VirtualKind> {
        let instance = (any::<u64>(), prop::collection::vec(any::<u32>(), 0..4));
        prop_oneof![
            prop::sample::select(VirtualKind::NAMED.to_vec()),
            instance.prop_map(|(class, places)| VirtualKind::Instance { class, places }),
            any::<[u32; 2]>().prop_map(|[code, at]| VirtualKind::Generator { code, at: Pc(at) }),
        ]
    }

    fn any_awaited() -> impl Strategy<Value = Awaited> {
        let op = prop::sample::select(Operation::OPS.to_vec());
        let operation = (op, any::<u32>(), any::<bool>(), any::<bool>());
        prop_oneof![
            Just(Awaited::Result),
            Just(Awaited::Constructed),
            Just(Awaited::Item),
            operation.prop_map(|(op, arg, swapped, flag)| Awaited::Operator(Operation {
                op,
                arg,
                swapped,
                flag
            })),
        ]
    }

    fn any_frame() -> impl Strategy<Value = InlinedFrame> {
        let sources = || prop::collection::vec(any_source(), 0..4);
        let all = (
            any::<u32>(),
            any::<u32>(),
            any_awaited(),
            sources(),
            sources(),
        );
        all.prop_map(|(code, pc, awaited, locals, stack)| InlinedFrame {
            code,
            pc: Pc(pc),
            awaited,
            locals,
            stack,
        })
    }

    fn any_object() -> impl Strategy<Value = VirtualObject> {
        let fields = prop::collection::vec(any_source(), 0..4);
        let instead = prop::option::of((0..1000u32, any_source()));
        let all = (any_kind(), fields, instead);
        all.prop_map(|(kind, fields, instead)| VirtualObject {
            kind,
            fields,
            instead,
        })
    }

    /// A random record, with as many words as it refers to.
    fn any_record() -> impl Strategy<Value = ExitRecord> {
        let kinds = vec![
            ExitKind::Resume,
            ExitKind::Raise,
            ExitKind::Await,
            ExitKind::Pending,
            ExitKind::Reraise,
        ];
        let place = (
            prop::sample::select(kinds),
            prop::sample::select(Reason::ALL.to_vec()),
            any::<u32>(),
        );
        let sources = || prop::collection::vec((any::<u32>(), any_source()), 0..4);
        let frame = (
            prop::collection::vec(any_object(), 0..3),
            sources(),
            sources(),
            prop::collection::vec(any_source(), 0..4),
            prop::collection::vec(any_frame(), 0..3),
            prop::collection::vec(any::<u32>(), 0..3),
        );
        (place, frame).prop_map(|(place, frame)| {
            let (kind, reason, pc) = place;
            let (virtuals, locals, names, stack, inlined, shown) = frame;
            let names = names.into_iter();
            let mut record = ExitRecord {
                kind,
                reason,
                pc: Pc(pc),
                virtuals,
                locals,
                names: names
                    .map(|(name, source)| NameWrite { name, source })
                    .collect(),
                stack,
                inlined,
                words: CONTEXT_WORDS,
                shown,
            };
            let last = record.sources().flat_map(Source::words).max();
            record.words = last.map_or(CONTEXT_WORDS, |word| CONTEXT_WORDS.max(word + 1));
            record
        })
    }

    proptest! {
        #[test]
        fn packed_records_are_as_they_were(records in prop::collection::vec(any_record(), 0..5)) {
            let exits = Exits::pack(&records);
            prop_assert_eq!(exits.len(), records.len());
            prop_assert_eq!(exits.records().collect::<Vec<_>>(), records.clone());
            for (number, record) in records.iter().enumerate().rev() {
                prop_assert_eq!(&exits[number], record);
                let head = ExitHead { kind: record.kind, reason: record.reason, pc: record.pc };
                prop_assert_eq!(exits.heads()[number], head);
            }
        }

        #[test]
        fn records_read_back(record in any_record()) {
            prop_assert_eq!(ExitRecord::parse(&record.to_string()), Ok(record));
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC*|(resume|@|[0-9]| |type|,|stack|inlined|\\[|\\]|int|if|=|local)*") {
            let _ = ExitRecord::parse(&text);
        }
    }

    #[test]
    fn errors_have_a_place() {
        for (text, column, expected) in [
            ("leave @1 type, stack []", 1, "a kind of exit"),
            ("resume 1 type, stack []", 8, "`@` and an instruction"),
            ("resume @1 mood, stack []", 11, "a reason"),
            ("resume @1 type, local 1 = box 3, stack []", 27, "a source"),
            (
                "resume @1 type, name 1 = null, local 1 = null, stack []",
                32,
                "`virtual`, `local`, `name` or `stack`",
            ),
            (
                "resume @1 type, stack [int 99999999999]",
                28,
                "a number of 32 bits",
            ),
            ("resume @1 type, stack [] more", 26, "`,` or the end"),
            (
                "resume @1 type, stack [], frame",
                27,
                "`inlined` or `shown`",
            ),
            ("resume @1 type, stack [], inlined 0 @1 []", 42, "`[`"),
            (
                "resume @1 type, virtual 1 = tuple (), stack []",
                25,
                "the next number of a virtual object",
            ),
            (
                "resume @1 type, virtual 0 = list (), stack []",
                29,
                "a kind of virtual object",
            ),
            (
                "resume @1 type, local 0 = null, virtual 0 = tuple (), stack []",
                33,
                "`virtual`, `local`, `name` or `stack`",
            ),
        ] {
            assert_eq!(
                ExitRecord::parse(text),
                Err(RecordError { column, expected }),
                "{text}"
            );
        }
    }
}
