//! Reading a line token by token.

use super::lex::{ScriptError, ScriptFault, Token, lex};

/// The reader's place in a line.
pub(super) struct Cursor {
    line: usize,
    tokens: Vec<(Token, usize)>,
    at: usize,
}

impl Cursor {
    /// A cursor at the start of a line.
    pub(super) fn of(text: &str, line: usize) -> Result<Cursor, ScriptError> {
        let tokens = lex(text, line)?;
        Ok(Cursor {
            line,
            tokens,
            at: 0,
        })
    }

    /// The column of the next token.
    pub(super) fn column(&self) -> usize {
        self.tokens[self.at].1
    }

    pub(super) fn peek(&self) -> &Token {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, by: usize) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + by).min(last)].0
    }

    /// The next token, with its column.
    pub(super) fn next(&mut self) -> (Token, usize) {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn error(&self, column: usize, fault: ScriptFault) -> ScriptError {
        fault.at(self.line, column)
    }

    /// An error: another token is expected next.
    pub(super) fn expected<T>(&self, wanted: &'static str) -> Result<T, ScriptError> {
        let found = self.peek().to_string();
        let fault = ScriptFault::Expected { wanted, found };
        Err(self.error(self.column(), fault))
    }

    pub(super) fn take(&mut self, punct: char) -> bool {
        let is_there = *self.peek() == Token::Punct(punct);
        if is_there {
            self.next();
        }
        is_there
    }

    pub(super) fn expect(&mut self, punct: char, wanted: &'static str) -> Result<(), ScriptError> {
        if self.take(punct) {
            Ok(())
        } else {
            self.expected(wanted)
        }
    }

    pub(super) fn take_arrow(&mut self) -> bool {
        let is_there = *self.peek() == Token::Arrow;
        if is_there {
            self.next();
        }
        is_there
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let is_there = matches!(self.peek(), Token::Word(w) if w == word);
        if is_there {
            self.next();
        }
        is_there
    }

    pub(super) fn word(&mut self, wanted: &'static str) -> Result<(String, usize), ScriptError> {
        match self.peek() {
            Token::Word(_) => match self.next() {
                (Token::Word(word), column) => Ok((word, column)),
                _ => self.expected(wanted),
            },
            _ => self.expected(wanted),
        }
    }

    pub(super) fn number(&mut self) -> Result<u64, ScriptError> {
        let (word, column) = self.word("a number")?;
        match word.parse() {
            _ if word == "unlimited" => Ok(u64::MAX),
            Ok(number) => Ok(number),
            Err(_) => Err(self.error(column, ScriptFault::Number(word))),
        }
    }

    pub(super) fn end(&self) -> Result<(), ScriptError> {
        if *self.peek() == Token::End {
            Ok(())
        } else {
            self.expected("the end of the line")
        }
    }
}
