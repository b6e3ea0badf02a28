//! Reads types back from their text form, and evaluates expressions of them:
//! `User[MyClass] & LongUser[MyInt]`, `a <= b`, `!(a == b)`. Every error has a column, and every
//! input that is not a type or an expression is reported as an error.

use std::collections::HashMap;
use std::fmt;

use super::handles::{ClassHandle, HostId, Named, ObjectDesc, ObjectHandle};
use super::repr::{Spec, Type};
use super::spec::LiteralError;
use super::table::{NAMES, OBJECT_BITS, PRIMITIVE_BITS, Predefined};

/// The classes and objects of names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    host: Option<HostId>,
    aliases: HashMap<String, ObjectHandle>,
    makes_literals: bool,
}

impl Names {
    /// No names of classes and objects: only predefined types and primitive literals are known.
    pub fn none() -> Names {
        Names::default()
    }

    /// The names of the host's classes and objects, as types print them.
    pub fn of(host: HostId) -> Names {
        Names {
            host: Some(host),
            ..Names::default()
        }
    }

    /// Adds a name for an object.
    pub fn with_alias(mut self, name: impl Into<String>, object: ObjectHandle) -> Names {
        self.aliases.insert(name.into(), object);
        self
    }

    /// Creates the objects of literals (`Long[5]`, `UnicodeExact["hi"]`) where they occur. For
    /// simulated hosts only: a real host must supply the object.
    pub fn making_literals(mut self) -> Names {
        self.makes_literals = true;
        self
    }
}

/// A syntax error in a type, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}")]
pub struct ParseError {
    /// The column, from 1, in characters.
    pub column: usize,
    /// The fault.
    pub message: String,
}

/// The value of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// A type, of an operation.
    Type(Type),
    /// A truth value, of a comparison.
    Truth(bool),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Type(ty) => fmt::Display::fmt(ty, f),
            Answer::Truth(truth) => fmt::Display::fmt(truth, f),
        }
    }
}

impl Type {
    /// Reads a type's text form.
    pub fn parse(text: &str, names: &Names) -> Result<Type, ParseError> {
        let mut parser = Parser::new(text, names);
        let ty = parser.ty()?;
        parser.end()?;
        Ok(ty)
    }
}

/// Evaluates an expression of types: `|`, `&`, `-` (the last two bind equally and closer),
/// parentheses, one comparison (`==`, `!=`, `<=`, `<`, `>=`, `>`, `could_be`, or `join` for the
/// join), and `!( )`.
pub fn evaluate(text: &str, names: &Names) -> Result<Answer, ParseError> {
    let mut parser = Parser::new(text, names);
    let answer = parser.comparison()?;
    parser.end()?;
    Ok(answer)
}

/// A comparison operator.
type Comparison = fn(Type, Type) -> Answer;

/// The depth limit of nested braces and parentheses.
const DEPTH: u32 = 64;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    names: &'a Names,
}

type Parsed<T> = Result<T, ParseError>;

impl<'a> Parser<'a> {
    fn new(text: &'a str, names: &'a Names) -> Self {
        Parser {
            text,
            at: 0,
            depth: 0,
            names,
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error_at<T>(&self, at: usize, message: impl Into<String>) -> Parsed<T> {
        Err(ParseError {
            column: self.text[..at].chars().count() + 1,
            message: message.into(),
        })
    }

    fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        self.error_at(self.at, message)
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.eat(token) {
            return Ok(());
        }
        self.error(format!("expected `{token}`, found {}", self.found()))
    }

    fn found(&self) -> String {
        self.rest()
            .chars()
            .next()
            .map_or_else(|| "the end".to_owned(), |c| format!("`{c}`"))
    }

    fn end(&mut self) -> Parsed<()> {
        self.space();
        if self.rest().is_empty() {
            Ok(())
        } else {
            self.error(format!("expected the end, found {}", self.found()))
        }
    }

    fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > DEPTH {
            self.error("nested too deeply")
        } else {
            Ok(())
        }
    }

    fn comparison(&mut self) -> Parsed<Answer> {
        if self.eat("!") {
            self.deeper()?;
            self.expect("(")?;
            let start = self.at;
            let inner = self.comparison()?;
            self.expect(")")?;
            self.depth -= 1;
            return match inner {
                Answer::Truth(truth) => Ok(Answer::Truth(!truth)),
                Answer::Type(_) => self.error_at(start, "`!` needs a comparison"),
            };
        }
        let left = self.union()?;
        self.space();
        const OPERATORS: [(&str, Comparison); 8] = [
            ("==", |a, b| Answer::Truth(a == b)),
            ("!=", |a, b| Answer::Truth(a != b)),
            ("<=", |a, b| Answer::Truth(a <= b)),
            (">=", |a, b| Answer::Truth(a >= b)),
            ("<", |a, b| Answer::Truth(a < b)),
            (">", |a, b| Answer::Truth(a > b)),
            ("could_be", |a, b| Answer::Truth(a.could_be(b))),
            ("join", |a, b| Answer::Type(a.join(b))),
        ];
        for (token, apply) in OPERATORS {
            if self.eat(token) {
                let right = self.union()?;
                return Ok(apply(left, right));
            }
        }
        Ok(Answer::Type(left))
    }

    fn union(&mut self) -> Parsed<Type> {
        let mut ty = self.term()?;
        while self.eat("|") {
            ty |= self.term()?;
        }
        Ok(ty)
    }

    fn term(&mut self) -> Parsed<Type> {
        let mut ty = self.operand()?;
        loop {
            if self.eat("&") {
                ty &= self.operand()?;
            } else if self.eat("-") {
                ty -= self.operand()?;
            } else {
                return Ok(ty);
            }
        }
    }

    fn operand(&mut self) -> Parsed<Type> {
        if self.eat("(") {
            self.deeper()?;
            let ty = self.union()?;
            self.expect(")")?;
            self.depth -= 1;
            return Ok(ty);
        }
        self.ty()
    }

    /// One type: leaves, and a specialization if brackets follow.
    fn ty(&mut self) -> Parsed<Type> {
        self.space();
        let start = self.at;
        let base = self.leaves()?;
        if self.eat("[") {
            let ty = self.specialization(base, start)?;
            self.expect("]")?;
            return Ok(ty);
        }
        Ok(base)
    }

    fn leaves(&mut self) -> Parsed<Type> {
        self.space();
        let start = self.at;
        let length = self
            .rest()
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        self.at += length;
        if self.rest().starts_with('{') {
            let Some(prefix) = prefix(word) else {
                return self.error_at(start, format!("`{word}` is no lifetime"));
            };
            return self.braces(prefix, start);
        }
        if word.is_empty() {
            return self.error(format!("expected a type, found {}", self.found()));
        }
        match named_leaves(word) {
            Some(ty) => Ok(ty),
            None => self.error_at(start, format!("there is no predefined type `{word}`")),
        }
    }

    fn braces(&mut self, prefix: Prefix, start: usize) -> Parsed<Type> {
        self.deeper()?;
        self.expect("{")?;
        let mut ty = self.leaves()?;
        while self.eat("|") {
            ty |= self.leaves()?;
        }
        self.expect("}")?;
        self.depth -= 1;
        match prefix.apply(ty) {
            Some(ty) => Ok(ty),
            None => self.error_at(
                start,
                "only objects have a lifetime, and only objects can be missing",
            ),
        }
    }

    fn specialization(&mut self, base: Type, start: usize) -> Parsed<Type> {
        self.space();
        let at = self.at;
        let token = self.label()?;
        if base.leaves() & OBJECT_BITS == 0 {
            return match literal(base, token) {
                Ok(ty) => Ok(ty),
                Err(message) => self.error_at(at, message),
            };
        }
        if base.leaves() & PRIMITIVE_BITS != 0 {
            return self.error_at(
                start,
                "one specialization can't speak of objects and primitives",
            );
        }
        if let Some(ty) = self.stale(token, base, at)? {
            return Ok(ty);
        }
        let special = if self.eat(":Exact") {
            Type::from_class_exact(self.class(token, at)?)
        } else if self.eat(":obj") {
            let object = self.class(token, at)?.as_object();
            match object {
                Some(object) => Type::from_object(object),
                None => {
                    return self
                        .error_at(at, format!("the class `{token}` is not known as an object"));
                }
            }
        } else {
            self.named(token, base, at)?
        };
        let ty = base & special;
        if ty.is_bottom() && !base.is_bottom() {
            return self.error_at(at, format!("nothing in `{base}` is in `{special}`"));
        }
        Ok(ty)
    }

    /// The text between the brackets up to `:` or `]`; quoted text is taken whole, with the dots
    /// and number behind it.
    fn label(&mut self) -> Parsed<&'a str> {
        let start = self.at;
        let quoted = self.rest().strip_prefix('b').unwrap_or(self.rest());
        if let Some(quote) = quoted
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\'' | '`'))
        {
            let body = self.text.len() - quoted.len() + 1;
            let mut escaped = false;
            let close = self.text[body..].char_indices().find(|(_, c)| {
                let closes = *c == quote && !escaped;
                escaped = quote != '`' && *c == '\\' && !escaped;
                closes
            });
            let Some((close, _)) = close else {
                return self.error_at(start, format!("no closing `{quote}`"));
            };
            self.at = body + close + 1;
        }
        let is_doubled_nan = self.rest().starts_with("nan:");
        let end = |c: char| c == ']' || (c == ':' && !is_doubled_nan);
        self.at += self.rest().find(end).unwrap_or(self.rest().len());
        let label = self.text[start..self.at].trim_end();
        if label.is_empty() {
            self.error_at(
                start,
                format!("expected a name or a literal, found {}", self.found()),
            )
        } else {
            Ok(label)
        }
    }

    fn lookup(&self, label: &str) -> Option<Named> {
        let alias = || self.names.aliases.get(label).copied().map(Named::Object);
        self.names.host?.named(label).or_else(alias)
    }

    fn class(&mut self, label: &str, at: usize) -> Parsed<ClassHandle> {
        match self.lookup(label) {
            Some(Named::Class(class)) => Ok(class),
            Some(Named::Object(_)) => {
                self.error_at(at, format!("`{label}` is an object, not a class"))
            }
            None => self.error_at(at, format!("unknown class `{label}`")),
        }
    }

    /// `<stale 3.1>` or `<stale object 3.1>`: the text of a type whose class or object is gone.
    fn stale(&mut self, label: &str, base: Type, at: usize) -> Parsed<Option<Type>> {
        let Some(numbers) = label
            .strip_prefix("<stale ")
            .and_then(|rest| rest.strip_suffix('>'))
        else {
            return Ok(None);
        };
        let object = numbers.strip_prefix("object ");
        let spec = match parts(object.unwrap_or(numbers)) {
            None => None,
            Some((slot, generation)) if object.is_some() => {
                ObjectHandle::from_parts(slot, generation)
                    .filter(|object| object.is_stale())
                    .map(Spec::Object)
            }
            Some((slot, generation)) => ClassHandle::from_parts(slot, generation)
                .filter(|class| class.is_stale())
                .map(if self.eat(":Exact") {
                    Spec::Exact
                } else {
                    Spec::Class
                }),
        };
        let fits = match spec {
            Some(Spec::Class(_)) => base.leaves() & !Type::USER.leaves() == 0,
            Some(_) => base.leaves().is_power_of_two(),
            None => return self.error_at(at, format!("`{label}` is no stale class or object")),
        };
        if !fits {
            return self.error_at(at, format!("`{base}` can't be specialized so"));
        }
        Ok(spec.map(|spec| Type::with_spec(base.word(), spec)))
    }

    /// A class or an object.
    fn named(&mut self, label: &'a str, base: Type, at: usize) -> Parsed<Type> {
        match self.lookup(label) {
            Some(Named::Class(class)) => Ok(Type::from_class(class)),
            Some(Named::Object(object)) => Ok(Type::from_object(object)),
            None => match self.make_literal(label, base) {
                Some(object) => Ok(Type::from_object(object)),
                None => self.error_at(at, format!("unknown class or object `{label}`")),
            },
        }
    }

    /// The object of a literal, in a simulated host only.
    fn make_literal(&self, label: &str, base: Type) -> Option<ObjectHandle> {
        let host = self.names.host.filter(|_| self.names.makes_literals)?;
        let (row, immortal) = match label {
            "True" | "False" => (Predefined::Bool, true),
            _ if label.starts_with('"') || label.starts_with('\'') => (Predefined::Unicode, false),
            _ if label.starts_with("b'") || label.starts_with("b\"") => (Predefined::Bytes, false),
            _ if is_decimal(label) => (Predefined::Long, false),
            _ if label.parse::<f64>().is_ok() => (Predefined::Float, false),
            _ => return None,
        };
        if !row.exact_ty().could_be(base) {
            return None;
        }
        let class = host.builtin_class(row)?;
        host.register_object(ObjectDesc {
            immortal,
            ..ObjectDesc::new(label, class)
        })
        .ok()
    }
}

fn is_decimal(label: &str) -> bool {
    let digits = label.strip_prefix('-').unwrap_or(label);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// A primitive's literal.
fn literal(base: Type, token: &str) -> Result<Type, String> {
    let number = |digits: &str, radix| i128::from_str_radix(digits, radix).ok();
    if base == Type::CBOOL {
        return match token {
            "true" => Ok(Type::from_cbool(true)),
            "false" => Ok(Type::from_cbool(false)),
            _ => Err(format!("`{token}` is neither `true` nor `false`")),
        };
    }
    if base == Type::CDOUBLE {
        let bits = token
            .strip_prefix("nan:0x")
            .and_then(|bits| u64::from_str_radix(bits, 16).ok());
        let nan = bits.map(f64::from_bits).filter(|value| value.is_nan());
        let value = nan.or_else(|| {
            if token == "nan" {
                Some(f64::NAN)
            } else {
                token.parse().ok()
            }
        });
        return value
            .map(Type::from_cdouble)
            .ok_or_else(|| format!("`{token}` is no double"));
    }
    let value = match token.strip_prefix("0x") {
        Some(digits) => number(digits, 16),
        None => is_decimal(token).then(|| number(token, 10).unwrap_or(i128::MAX)),
    };
    let Some(value) = value else {
        return Err(format!("`{token}` is no integer"));
    };
    Type::from_integer(base, value).map_err(|error| match error {
        LiteralError::OutOfRange { .. } => format!("{token} does not fit `{base}`"),
        LiteralError::NotAnInteger { .. } => error.to_string(),
    })
}

/// `Opt`, `Mortal` or `Immortal` before a name or a brace.
#[derive(Clone, Copy)]
struct Prefix {
    opt: bool,
    life: Option<bool>,
}

impl Prefix {
    const ALL: [(&'static str, Prefix); 6] = [
        (
            "OptImmortal",
            Prefix {
                opt: true,
                life: Some(true),
            },
        ),
        (
            "OptMortal",
            Prefix {
                opt: true,
                life: Some(false),
            },
        ),
        (
            "Opt",
            Prefix {
                opt: true,
                life: None,
            },
        ),
        (
            "Immortal",
            Prefix {
                opt: false,
                life: Some(true),
            },
        ),
        (
            "Mortal",
            Prefix {
                opt: false,
                life: Some(false),
            },
        ),
        (
            "",
            Prefix {
                opt: false,
                life: None,
            },
        ),
    ];

    fn apply(self, ty: Type) -> Option<Type> {
        if (self.opt || self.life.is_some())
            && (ty.is_bottom() || ty.leaves() & PRIMITIVE_BITS != 0)
        {
            return None;
        }
        let ty = match self.life {
            Some(true) => ty.immortal(),
            Some(false) => ty.mortal(),
            None => ty,
        };
        Some(if self.opt { ty.opt() } else { ty })
    }
}

fn prefix(word: &str) -> Option<Prefix> {
    Prefix::ALL
        .iter()
        .find(|(text, _)| *text == word)
        .map(|(_, prefix)| *prefix)
}

fn named_leaves(word: &str) -> Option<Type> {
    let plain = |name: &str| {
        NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, mask)| Type::plain(*mask))
    };
    Prefix::ALL
        .iter()
        .rev()
        .find_map(|(text, prefix)| prefix.apply(plain(word.strip_prefix(text)?)?))
}

/// `3.1`: slot and generation.
fn parts(numbers: &str) -> Option<(u32, u32)> {
    let (slot, generation) = numbers.split_once('.')?;
    Some((slot.parse().ok()?, generation.parse().ok()?))
}
