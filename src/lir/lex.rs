//! The tokens of the text form, each with its line and column.

use super::parse::ParseError;

/// A place in a text, counted from one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pos {
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Pos {
    /// An error here.
    pub(super) fn error(self, what: impl Into<String>) -> ParseError {
        ParseError {
            line: self.line,
            column: self.column,
            what: what.into(),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token<'a> {
    /// Letters, digits, `_` and `.`, not beginning with a digit.
    Word(&'a str),
    /// A token that begins with a digit, or with a sign and no space after it; also `-inf`.
    Number(&'a str),
    /// A quoted text, without its quotes and escapes.
    Text(String),
    Punct(char),
    Arrow,
    /// One or more line ends.
    Newline,
    End,
}

impl Token<'_> {
    /// The token as text, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Word(s) | Token::Number(s) => format!("`{s}`"),
            Token::Text(s) => format!("{s:?}"),
            Token::Punct(c) => format!("`{c}`"),
            Token::Arrow => "`->`".to_owned(),
            Token::Newline => "the end of the line".to_owned(),
            Token::End => "the end of the text".to_owned(),
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    pos: Pos,
}

/// All tokens of a text; the last one is [`Token::End`].
pub(super) fn lex(text: &str) -> Result<Vec<(Token<'_>, Pos)>, ParseError> {
    let mut lexer = Lexer {
        rest: text,
        pos: Pos { line: 1, column: 1 },
    };
    let mut tokens: Vec<(Token, Pos)> = Vec::new();
    loop {
        lexer.skip_blank();
        let pos = lexer.pos;
        let token = lexer.token()?;
        let end = token == Token::End;
        let repeated = token == Token::Newline
            && tokens
                .last()
                .is_none_or(|(last, _)| *last == Token::Newline);
        if !repeated {
            tokens.push((token, pos));
        }
        if end {
            return Ok(tokens);
        }
    }
}

impl<'a> Lexer<'a> {
    fn skip_blank(&mut self) {
        while let Some(c) = self.rest.chars().next() {
            match c {
                ';' => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.take(end);
                }
                ' ' | '\t' | '\r' => {
                    self.take(1);
                }
                _ => return,
            }
        }
    }

    /// Takes `bytes`, which contain no line end except as the last one.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        if taken.ends_with('\n') {
            self.pos = Pos {
                line: self.pos.line + 1,
                column: 1,
            };
        } else {
            self.pos.column += taken.chars().count() as u32;
        }
        taken
    }

    fn token(&mut self) -> Result<Token<'a>, ParseError> {
        let mut chars = self.rest.chars();
        let Some(first) = chars.next() else {
            return Ok(Token::End);
        };
        let second = chars.next().unwrap_or('\0');
        Ok(match first {
            '\n' => {
                self.take(1);
                Token::Newline
            }
            '"' => Token::Text(self.text()?),
            '-' if second == '>' => {
                self.take(2);
                Token::Arrow
            }
            '-' if second == 'i' => Token::Number(self.run(1, |_, c| c.is_ascii_alphanumeric())),
            '-' | '+' if second.is_ascii_digit() => Token::Number(self.run(1, continues_number)),
            c if c.is_ascii_digit() => Token::Number(self.run(0, continues_number)),
            c if c.is_ascii_alphabetic() || c == '_' => {
                Token::Word(self.run(0, |_, c| c.is_ascii_alphanumeric() || c == '_' || c == '.'))
            }
            '(' | ')' | '{' | '}' | ',' | ':' | '=' => {
                self.take(1);
                Token::Punct(first)
            }
            c => return Err(self.pos.error(format!("{c:?} means nothing here"))),
        })
    }

    /// The longest piece from `skip` on in which `goes_on(before, c)` is true for each character.
    fn run(&mut self, skip: usize, goes_on: impl Fn(&str, char) -> bool) -> &'a str {
        let rest = self.rest;
        let end = rest[skip..]
            .char_indices()
            .map(|(i, c)| (i + skip, c))
            .find(|&(i, c)| !goes_on(&rest[..i], c));
        self.take(end.map_or(rest.len(), |(i, _)| i))
    }

    fn text(&mut self) -> Result<String, ParseError> {
        let start = self.pos;
        self.take(1);
        let mut text = String::new();
        loop {
            let pos = self.pos;
            match self.next_char() {
                None | Some('\n') => return Err(start.error("the text has no closing quote")),
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape().ok_or_else(|| pos.error("unknown escape"))?),
                Some(c) => text.push(c),
            }
        }
    }

    /// The escapes that Rust's debug form of a string uses.
    fn escape(&mut self) -> Option<char> {
        Some(match self.next_char()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            'u' => {
                let digits = self.rest.strip_prefix('{')?.split_once('}')?.0;
                let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
                self.take(digits.len() + 2);
                c
            }
            c @ ('\\' | '"' | '\'') => c,
            _ => return None,
        })
    }

    fn next_char(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.take(c.len_utf8());
        Some(c)
    }
}

/// Digits, letters (`0x`, `1e9`), a point, and the sign of an exponent.
fn continues_number(before: &str, c: char) -> bool {
    let exponent = before.ends_with(['e', 'E']) && !before.contains(['x', 'X']);
    c.is_ascii_alphanumeric() || c == '.' || (exponent && (c == '-' || c == '+'))
}
