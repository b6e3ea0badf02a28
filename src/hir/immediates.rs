//! Printing and reading of the immediates of HIR ops: one row a kind, which the op table names.

use super::ops::Cmp;
pub(super) use crate::bytecode::Words;
use crate::bytecode::{Code, ConstValue};
use crate::facts::{IntrinsicCall, RawEntry};
use crate::types::{Line, ObjectHandle, Parsed, Scope, Type};
use std::fmt::Write;

/// A line of HIR, with the scope and the code in which its names are looked up.
pub(super) struct Reader<'r, 'a> {
    pub(super) line: &'r mut Line<'a>,
    pub(super) scope: &'r Scope,
    pub(super) code: &'r Code,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident: $ty:ty {
        print |$value:ident, $words:ident, $out:ident| $print:expr;
        read |$reader:ident| $read:expr;
    })*) => {
        $($(#[$doc])* pub(super) struct $kind;
        impl $kind {
            // A row names the type that the op has.
            #[allow(clippy::ptr_arg)]
            pub(super) fn print($value: &$ty, $words: &Words<'_>, $out: &mut String) {
                $out.push(' ');
                $print;
                let _ = $words;
            }
            pub(super) fn read($reader: &mut Reader<'_, '_>) -> Parsed<$ty> {
                $read
            }
        })*
    };
}

kinds! {
    /// A number.
    Number: u32 {
        print |value, words, out| write(out, value);
        read |reader| reader.line.number();
    }
    /// Places of attributes.
    Places: Vec<u32> {
        print |value, words, out| { let _ = write!(out, "{value:?}"); };
        read |reader| {
            reader.line.expect("[")?;
            reader.line.list("]", |line| line.number())
        };
    }
    /// A C integer.
    Integer: i64 {
        print |value, words, out| write(out, value);
        read |reader| reader.line.integer();
    }
    /// A double, as the shortest text that reads back as the same bits.
    Double: u64 {
        print |value, words, out| write(out, ConstValue::Float(f64::from_bits(*value)));
        read |reader| match reader.line.literal()? {
            Some(ConstValue::Float(value)) => Ok(value.to_bits()),
            _ => reader.line.expected("a double"),
        };
    }
    /// A truth value.
    Truth: bool {
        print |value, words, out| write(out, value);
        read |reader| match () {
            () if reader.line.eat_word("true") => Ok(true),
            () if reader.line.eat_word("false") => Ok(false),
            () => reader.line.expected("`true` or `false`"),
        };
    }
    /// A type.
    Single: Type {
        print |value, words, out| write(out, value);
        read |reader| reader.scope.ty(reader.line);
    }
    /// Types with `|` between them.
    Several: Vec<Type> {
        print |value, words, out| {
            let types: Vec<String> = value.iter().map(Type::to_string).collect();
            out.push_str(&types.join(" | "));
        };
        read |reader| {
            let mut types = vec![reader.scope.ty(reader.line)?];
            while reader.line.eat("|") {
                types.push(reader.scope.ty(reader.line)?);
            }
            Ok(types)
        };
    }
    /// An object, by its type.
    Object: ObjectHandle {
        print |value, words, out| write(out, Type::from_object(*value));
        read |reader| reader.scope.single_object(reader.line);
    }
    /// A name of the code.
    Name: u32 {
        print |value, words, out| out.push_str(&words.names.word(*value));
        read |reader| read_name(reader);
    }
    /// The reason of an exit.
    Why: crate::bytecode::Reason {
        print |value, words, out| write(out, value);
        read |reader| {
            reader.line.space();
            let at = reader.line.at;
            let word = reader.line.word("a reason")?;
            let found = crate::bytecode::Reason::ALL.into_iter().find(|reason| reason.name() == word);
            found.map_or_else(|| reader.line.error_at(at, format!("there is no reason `{word}`")), Ok)
        };
    }
    /// A comparison.
    Comparison: Cmp {
        print |value, words, out| out.push_str(value.name());
        read |reader| {
            reader.line.space();
            let at = reader.line.at;
            let word = reader.line.word("a comparison")?;
            let found = (0..6).filter_map(Cmp::from_arg).find(|cmp| cmp.name() == word);
            found.map_or_else(|| reader.line.error_at(at, format!("there is no comparison `{word}`")), Ok)
        };
    }
    /// An intrinsic of the host with its constants.
    Intrinsic: IntrinsicCall {
        print |value, words, out| write(out, value);
        read |reader| IntrinsicCall::read(reader.line);
    }
    /// The address of a cell.
    Address: u64 {
        print |value, words, out| { let _ = write!(out, "{value:#x}"); };
        read |reader| reader.line.hexadecimal();
    }
    /// The raw entry of a function.
    Raw: RawEntry {
        print |value, words, out| write(out, value);
        read |reader| RawEntry::read(reader.line);
    }
}

fn write(out: &mut String, value: impl std::fmt::Display) {
    let _ = write!(out, "{value}");
}

/// Numbers between brackets, if there are any.
pub(super) fn print_numbers(numbers: &[i64], out: &mut String) {
    if !numbers.is_empty() {
        let _ = write!(out, " {numbers:?}");
    }
}

/// As many immediates as the op has.
pub(super) fn read_numbers(count: usize, reader: &mut Reader<'_, '_>) -> Parsed<[i64; 2]> {
    let mut numbers = [0; 2];
    for (i, number) in numbers.iter_mut().take(count).enumerate() {
        reader.line.expect(if i == 0 { "[" } else { "," })?;
        *number = reader.line.integer()?;
    }
    if count > 0 {
        reader.line.expect("]")?;
    }
    Ok(numbers)
}

fn read_name(reader: &mut Reader<'_, '_>) -> Parsed<u32> {
    reader.line.space();
    let at = reader.line.at;
    let index = reader.code.read_name(reader.line)?;
    if index as usize >= reader.code.names.len() {
        return reader
            .line
            .error_at(at, format!("there is no name #{index}"));
    }
    Ok(index)
}
