//! The tokens of a line, and its syntax errors.

use std::fmt;

/// An error in a script, with its place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: {fault}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters, from 1.
    pub column: usize,
    /// The fault.
    pub fault: ScriptFault,
}

/// A fault in a script.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ScriptFault {
    /// Another token is expected.
    #[error("expected {wanted}, found {found}")]
    Expected {
        /// The expected token.
        wanted: &'static str,
        /// The actual token.
        found: String,
    },
    /// A quoted text does not end on its line.
    #[error("the text has no end")]
    EndlessText,
    /// A quoted text has an unknown escape.
    #[error("`\\{0}` is no escape")]
    Escape(char),
    /// No `node` line has this name.
    #[error("there is no node `{0}`")]
    UnknownNode(String),
    /// No line so far has bound the variable.
    #[error("there is no variable `{0}`")]
    UnknownVariable(String),
    /// No line so far has created the binding.
    #[error("there is no binding `{0}`")]
    UnknownBinding(String),
    /// A number is too large, or not one.
    #[error("`{0}` is no number that is possible here")]
    Number(String),
}

impl ScriptFault {
    /// The error at a place.
    pub(super) fn at(self, line: usize, column: usize) -> ScriptError {
        ScriptError {
            line,
            column,
            fault: self,
        }
    }
}

/// A token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// A name, or a value: anything without spaces and punctuation, or quoted.
    Word(String),
    /// `->`
    Arrow,
    /// One of `, = @ { } | : ?`
    Punct(char),
    /// The end of the line, or a comment.
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => write!(f, "`{}`", word.escape_debug()),
            Token::Arrow => f.write_str("`->`"),
            Token::Punct(c) => write!(f, "`{c}`"),
            Token::End => f.write_str("the end of the line"),
        }
    }
}

/// Returns true if a character can be part of an unquoted word.
fn is_plain(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !",=@{}|:?#\"\\".contains(c)
}

/// A word as a script writes it.
pub(super) fn quote(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_plain) && !word.contains("->") {
        return word.to_owned();
    }
    let mut quoted = String::from('"');
    for c in word.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted += "\\n",
            '\r' => quoted += "\\r",
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The tokens of a line with their columns; the last one is [`Token::End`].
pub(super) fn lex(text: &str, line: usize) -> Result<Vec<(Token, usize)>, ScriptError> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        while chars.get(at).is_some_and(|c| c.is_whitespace()) {
            at += 1;
        }
        let column = at + 1;
        let token = match chars.get(at) {
            None | Some('#') => {
                tokens.push((Token::End, column));
                return Ok(tokens);
            }
            Some('-') if chars.get(at + 1) == Some(&'>') => {
                at += 2;
                Token::Arrow
            }
            Some('"') => {
                let (word, length) = quoted(&chars[at..])
                    .map_err(|(offset, fault)| fault.at(line, column + offset))?;
                at += length;
                Token::Word(word)
            }
            Some(&c) if is_plain(c) => {
                let is_end = |i: usize| {
                    let is_arrow = chars[i] == '-' && chars.get(i + 1) == Some(&'>');
                    !is_plain(chars[i]) || is_arrow
                };
                let end = (at..chars.len()).find(|&i| is_end(i));
                let word = &chars[at..end.unwrap_or(chars.len())];
                at += word.len();
                Token::Word(word.iter().collect())
            }
            Some(&c) => {
                at += 1;
                Token::Punct(c)
            }
        };
        tokens.push((token, column));
    }
}

/// The quoted text at the beginning, and its length with the quotes; or the place of a fault in it.
fn quoted(chars: &[char]) -> Result<(String, usize), (usize, ScriptFault)> {
    let mut word = String::new();
    let mut at = 1;
    while let Some(&c) = chars.get(at) {
        at += 1;
        match c {
            '"' => return Ok((word, at)),
            '\\' => {
                let escape = chars.get(at).copied();
                word.push(match escape {
                    Some(c @ ('"' | '\\')) => c,
                    Some('n') => '\n',
                    Some('r') => '\r',
                    Some(c) => return Err((at - 1, ScriptFault::Escape(c))),
                    None => break,
                });
                at += 1;
            }
            c => word.push(c),
        }
    }
    Err((0, ScriptFault::EndlessText))
}
