//! The syntax of the lines of a hierarchy's text.

use super::{HierarchyError, HierarchyFault, fault};

/// A class line.
pub(super) struct ClassLine<'a> {
    pub(super) line: usize,
    pub(super) name: Word<'a>,
    pub(super) bases: Vec<Word<'a>>,
    pub(super) metaclass: Option<Word<'a>>,
    pub(super) owns_layout: bool,
    pub(super) is_final: bool,
}

/// An object line.
pub(super) struct ObjectLine<'a> {
    pub(super) line: usize,
    pub(super) name: Word<'a>,
    pub(super) class: Word<'a>,
    pub(super) literal: Option<&'a str>,
    pub(super) immortal: bool,
}

/// A name, and its place.
#[derive(Clone, Copy)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) column: usize,
}

/// One line, read from the left.
pub(super) struct Line<'a> {
    number: usize,
    text: &'a str,
    at: usize,
}

impl<'a> Line<'a> {
    pub(super) fn new(number: usize, text: &'a str) -> Self {
        let at = 0;
        Line { number, text, at }
    }

    fn rest(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    fn column(&self) -> usize {
        self.text[..self.at].chars().count() + 1
    }

    pub(super) fn expected<T>(&mut self, expected: &'static str) -> Result<T, HierarchyError> {
        let rest = self.rest();
        let found = rest
            .chars()
            .next()
            .map_or_else(|| "the end of the line".to_owned(), |c| format!("`{c}`"));
        fault(
            self.number,
            self.column(),
            HierarchyFault::Expected { expected, found },
        )
    }

    pub(super) fn at_end(&mut self) -> bool {
        let rest = self.rest();
        rest.is_empty() || rest.starts_with('#')
    }

    fn end(&mut self) -> Result<(), HierarchyError> {
        if self.at_end() {
            Ok(())
        } else {
            self.expected("the end of the line")
        }
    }

    fn eat(&mut self, token: char) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len_utf8();
        }
        found
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let rest = self.rest();
        let found = rest
            .strip_prefix(word)
            .is_some_and(|after| !after.starts_with(is_name));
        if found {
            self.at += word.len();
        }
        found
    }

    fn word(&mut self, expected: &'static str) -> Result<Word<'a>, HierarchyError> {
        let rest = self.rest();
        let column = self.column();
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        if length == 0 || rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.expected(expected);
        }
        self.at += length;
        Ok(Word {
            text: &rest[..length],
            column,
        })
    }

    pub(super) fn class(&mut self) -> Result<ClassLine<'a>, HierarchyError> {
        let name = self.word("the name of a class")?;
        let mut class = ClassLine {
            line: self.number,
            name,
            bases: Vec::new(),
            metaclass: None,
            owns_layout: false,
            is_final: false,
        };
        if self.eat('(') && !self.eat(')') {
            loop {
                let word = self.word("a base class")?;
                match (self.eat('='), word.text) {
                    (false, _) => class.bases.push(word),
                    (true, "metaclass") => class.metaclass = Some(self.word("a class")?),
                    (true, "layout") if self.eat_word("own") => class.owns_layout = true,
                    (true, "layout") => return self.expected("`own`"),
                    (true, "final") if self.eat_word("yes") => class.is_final = true,
                    (true, "final") => return self.expected("`yes`"),
                    (true, _) => return self.expected("`metaclass=`, `layout=` or `final=`"),
                }
                if self.eat(')') {
                    break;
                }
                if !self.eat(',') {
                    return self.expected("`,` or `)`");
                }
            }
        }
        if self.eat(':') && !self.eat_word("pass") && !self.at_end() {
            return self.expected("`pass`");
        }
        self.end()?;
        Ok(class)
    }

    pub(super) fn object(&mut self) -> Result<ObjectLine<'a>, HierarchyError> {
        let name = self.word("the name of an object")?;
        if !self.eat(':') {
            return self.expected("`:` and the object's class");
        }
        let class = self.word("the object's class")?;
        let mut object = ObjectLine {
            line: self.number,
            name,
            class,
            literal: None,
            immortal: false,
        };
        if self.eat('=') {
            object.literal = Some(self.literal()?);
        }
        self.eat(',');
        let parenthesis = self.eat('(');
        object.immortal = self.eat_word("immortal");
        if parenthesis && (!object.immortal || !self.eat(')')) {
            return self.expected("`immortal)`");
        }
        self.end()?;
        Ok(object)
    }

    fn literal(&mut self) -> Result<&'a str, HierarchyError> {
        let rest = self.rest();
        let body = rest.strip_prefix('b').unwrap_or(rest);
        let length = match body.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            Some(quote) => body[1..]
                .find(quote)
                .map(|end| rest.len() - body.len() + end + 2),
            None => Some(
                rest.find(|c: char| !is_name(c) && c != '-' && c != '+')
                    .unwrap_or(rest.len()),
            ),
        };
        match length.filter(|length| *length > 0) {
            Some(length) => {
                self.at += length;
                Ok(&rest[..length])
            }
            None => self.expected("a literal"),
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}
