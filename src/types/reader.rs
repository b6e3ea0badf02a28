//! Reads text forms line by line: skips lines without content, and reads the tokens of a line.
//! Every text form whose units are lines (bytecode, HIR, snapshots) is read with it, so that words,
//! texts, literals and types are the same in all.

use super::ConstValue;

/// A syntax error in a text form, with its place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The fault.
    pub message: String,
}

pub(crate) type Parsed<T> = Result<T, TextError>;

/// The lines with content.
pub(crate) struct Lines<'a> {
    lines: std::str::Lines<'a>,
    pub(crate) number: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Lines<'a> {
        Lines {
            lines: text.lines(),
            number: 0,
        }
    }

    /// Lines of a section that begins at line `first` of its document.
    pub(crate) fn from(text: &'a str, first: usize) -> Lines<'a> {
        Lines {
            lines: text.lines(),
            number: first - 1,
        }
    }

    /// The section that begins with this line, up to one that begins with `}`.
    pub(crate) fn section(&mut self, first: &Line<'a>) -> Parsed<String> {
        let mut text = format!("{}\n", first.text);
        loop {
            let Some(line) = self.lines.next() else {
                return self.missing("`}` at the start of a line");
            };
            self.number += 1;
            text.push_str(line);
            text.push('\n');
            if line.starts_with('}') {
                return Ok(text);
            }
        }
    }

    /// The lines up to one that is only `}`.
    pub(crate) fn nested(&mut self) -> Parsed<String> {
        let mut text = String::new();
        loop {
            let Some(line) = self.lines.next() else {
                return self.missing("`}` on a line of its own");
            };
            self.number += 1;
            text.push_str(line);
            text.push('\n');
            if line.trim() == "}" {
                return Ok(text);
            }
        }
    }

    /// An error: the text ends too early.
    pub(crate) fn missing<T>(&self, expected: &str) -> Parsed<T> {
        Err(TextError {
            line: self.number + 1,
            column: 1,
            message: format!("expected {expected}, found the end"),
        })
    }

    pub(crate) fn next(&mut self) -> Option<Line<'a>> {
        loop {
            let text = self.lines.next()?;
            self.number += 1;
            let mut line = Line {
                text,
                line: self.number,
                at: 0,
            };
            if !line.at_end() {
                return Some(line);
            }
        }
    }
}

/// A line, read from the left.
#[derive(Clone)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
    pub(crate) at: usize,
}

impl<'a> Line<'a> {
    pub(crate) fn error_at<T>(&self, at: usize, message: impl Into<String>) -> Parsed<T> {
        let column = self.text[..at].chars().count() + 1;
        Err(TextError {
            line: self.line,
            column,
            message: message.into(),
        })
    }

    pub(crate) fn expected<T>(&mut self, expected: &str) -> Parsed<T> {
        let found = match self.rest().chars().next() {
            Some(c) => format!("`{c}`"),
            None => "the end of the line".to_owned(),
        };
        self.error_at(self.at, format!("expected {expected}, found {found}"))
    }

    pub(crate) fn space(&mut self) {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
    }

    pub(crate) fn rest(&mut self) -> &'a str {
        self.space();
        &self.text[self.at..]
    }

    pub(crate) fn at_end(&mut self) -> bool {
        let rest = self.rest();
        rest.is_empty() || rest.starts_with(';')
    }

    pub(crate) fn end(&mut self) -> Parsed<()> {
        if self.at_end() {
            Ok(())
        } else {
            self.expected("the end of the line")
        }
    }

    /// The rest of the line, without surrounding space.
    pub(crate) fn remainder(&mut self) -> &'a str {
        let rest = self.rest().trim_end();
        self.at = self.text.len();
        rest
    }

    pub(crate) fn eat(&mut self, token: &str) -> bool {
        self.space();
        self.eat_here(token)
    }

    /// Takes the token where it follows without space.
    pub(crate) fn eat_here(&mut self, token: &str) -> bool {
        let found = self.text[self.at..].starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    pub(crate) fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.eat(token) {
            Ok(())
        } else {
            self.expected(&format!("`{token}`"))
        }
    }

    fn word_here(&mut self) -> &'a str {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            ""
        } else {
            &rest[..length]
        }
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.word_here() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    pub(crate) fn word(&mut self, expected: &str) -> Parsed<&'a str> {
        let word = self.word_here();
        if word.is_empty() {
            return self.expected(expected);
        }
        self.at += word.len();
        Ok(word)
    }

    /// A plain word, or one in quotes.
    pub(crate) fn name(&mut self, expected: &str) -> Parsed<String> {
        if self.rest().starts_with('"') {
            self.quoted(expected)
        } else {
            Ok(self.word(expected)?.to_owned())
        }
    }

    /// A number with or without a sign.
    pub(crate) fn integer(&mut self) -> Parsed<i64> {
        let start = self.at;
        let sign = if self.eat("-") { "-" } else { "" };
        let rest = &self.text[self.at..];
        let length = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        match format!("{sign}{}", &rest[..length]).parse() {
            Ok(number) => {
                self.at += length;
                Ok(number)
            }
            Err(_) => {
                self.at = start;
                self.expected("an integer of 64 bits")
            }
        }
    }

    /// A number written with `0x`.
    pub(crate) fn hexadecimal(&mut self) -> Parsed<u64> {
        let rest = self.rest();
        let digits = rest.strip_prefix("0x").unwrap_or_default();
        let length = digits
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(digits.len());
        match u64::from_str_radix(&digits[..length], 16) {
            Ok(number) => {
                self.at += 2 + length;
                Ok(number)
            }
            Err(_) => self.expected("`0x` and a number of 64 bits"),
        }
    }

    /// The number of a name such as `v3`.
    pub(crate) fn entity(&mut self, prefix: &str, expected: &str) -> Parsed<u32> {
        self.space();
        let start = self.at;
        let number = self.word("").ok().and_then(|word| {
            let digits = word.strip_prefix(prefix)?;
            let plain = digits.bytes().all(|b| b.is_ascii_digit());
            // The largest number is no valid entity.
            digits.parse().ok().filter(|n| plain && *n != u32::MAX)
        });
        match number {
            Some(number) => Ok(number),
            None => {
                self.at = start;
                self.expected(expected)
            }
        }
    }

    /// Items separated by commas, up to `close`.
    pub(crate) fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.eat(",") && !self.rest().starts_with(close) {
                return self.expected(&format!("`,` or `{close}`"));
            }
        }
        Ok(items)
    }

    pub(crate) fn number<N: std::str::FromStr>(&mut self) -> Parsed<N> {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        if length == 0 {
            return self.expected("a number");
        }
        match rest[..length].parse() {
            Ok(number) => {
                self.at += length;
                Ok(number)
            }
            Err(_) => self.error_at(self.at, format!("{} is too large", &rest[..length])),
        }
    }

    /// The longest of the symbols at this place.
    pub(crate) fn symbol(
        &mut self,
        symbols: impl Iterator<Item = (&'static str, u32)>,
        expected: &str,
    ) -> Parsed<u32> {
        let rest = self.rest();
        match symbols
            .filter(|(symbol, _)| rest.starts_with(symbol))
            .max_by_key(|(symbol, _)| symbol.len())
        {
            Some((symbol, value)) => {
                self.at += symbol.len();
                Ok(value)
            }
            None => self.expected(expected),
        }
    }

    /// Text in double quotes, with Rust's escapes.
    pub(crate) fn quoted(&mut self, expected: &str) -> Parsed<String> {
        let start = self.at;
        if !self.eat("\"") {
            return self.expected(&format!("{expected} in quotes"));
        }
        let mut text = String::new();
        loop {
            let at = self.at;
            match self.take() {
                None => return self.error_at(start, "no closing quote"),
                Some('"') => return Ok(text),
                Some('\\') => match self.escape() {
                    Some(c) => text.push(c),
                    None => return self.error_at(at, "unknown escape"),
                },
                Some(c) => text.push(c),
            }
        }
    }

    fn take(&mut self) -> Option<char> {
        let c = self.text[self.at..].chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn escape(&mut self) -> Option<char> {
        Some(match self.take()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            c @ ('\\' | '"' | '\'') => c,
            'u' => {
                let digits = self.text[self.at..].strip_prefix('{')?;
                let length = digits.find('}')?;
                self.at += length + 2;
                char::from_u32(u32::from_str_radix(&digits[..length], 16).ok()?)?
            }
            _ => return None,
        })
    }

    /// A literal, if there is one at this place.
    pub(crate) fn literal(&mut self) -> Parsed<Option<ConstValue>> {
        for (word, value) in [
            ("None", ConstValue::None),
            ("True", ConstValue::Bool(true)),
            ("False", ConstValue::Bool(false)),
        ] {
            if self.eat_word(word) {
                return Ok(Some(value));
            }
        }
        let rest = self.rest();
        if rest.starts_with('"') {
            return Ok(Some(ConstValue::Str(self.quoted("a string")?)));
        }
        let unsigned = rest.strip_prefix('-').unwrap_or(rest);
        let is_number = unsigned.starts_with(|c: char| c.is_ascii_digit())
            || unsigned.starts_with("inf")
            || unsigned.starts_with("nan");
        if !is_number {
            return Ok(None);
        }
        let length = rest
            .find(|c: char| c.is_whitespace() || c == ';')
            .unwrap_or(rest.len());
        let token = &rest[..length];
        let value = if let Some(bits) = token.strip_prefix("nan:0x") {
            u64::from_str_radix(bits, 16)
                .ok()
                .map(f64::from_bits)
                .filter(|value| value.is_nan())
                .map(ConstValue::Float)
        } else if token.contains(['.', 'e', 'i', 'n']) {
            token.parse().ok().map(ConstValue::Float)
        } else {
            token.parse().ok().map(ConstValue::Int)
        };
        match value {
            Some(value) => {
                self.at += length;
                Ok(Some(value))
            }
            None => self.error_at(self.at, format!("`{token}` is no number of 64 bits")),
        }
    }

    /// A class's label: up to a space, comma or parenthesis, but text between backticks is taken
    /// whole.
    pub(crate) fn label(&mut self) -> &'a str {
        let rest = self.rest();
        let quoted = rest
            .strip_prefix('`')
            .and_then(|body| body.find('`'))
            .map_or(0, |close| close + 2);
        let length = rest[quoted..]
            .find([' ', ',', ')'])
            .map_or(rest.len(), |end| quoted + end);
        self.at += length;
        &rest[..length]
    }

    /// A type's text: up to a space, comma or bracket that is not part of it.
    pub(crate) fn type_text(&mut self) -> &'a str {
        let rest = self.rest();
        let mut depth = 0_u32;
        let mut at = 0;
        while let Some(c) = rest[at..].chars().next() {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                '[' => {
                    at += 1 + specialization_length(&rest[at + 1..]);
                    continue;
                }
                ',' | ']' | ' ' | ';' if depth == 0 => break,
                _ => {}
            }
            at += c.len_utf8();
        }
        self.at += at;
        &rest[..at]
    }
}

/// The length of the text between a type's brackets, the closing one included.
fn specialization_length(text: &str) -> usize {
    let label = label_length(text);
    text[label..]
        .find(']')
        .map_or(text.len(), |close| label + close + 1)
}

/// The length of the label at the start of a type's brackets: up to `:` or the end, but quoted text
/// is taken whole.
pub(super) fn label_length(text: &str) -> usize {
    let body = text.strip_prefix('b').unwrap_or(text);
    let mut from = 0;
    if let Some(quote) = body
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\'' | '`'))
    {
        let start = text.len() - body.len() + 1;
        let mut escaped = false;
        let close = text[start..].char_indices().find(|(_, c)| {
            let closes = *c == quote && !escaped;
            escaped = quote != '`' && *c == '\\' && !escaped;
            closes
        });
        from = close.map_or(text.len(), |(close, _)| start + close + 1);
    }
    text[from..]
        .find([']', ':'])
        .map_or(text.len(), |end| from + end)
}
