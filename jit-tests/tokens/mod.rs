//! What the tests that read sources see in them: files, and their words.

#![allow(dead_code, reason = "each test has its own use of it")]

use std::fs;
use std::path::{Path, PathBuf};

/// All Rust files below `folder`, in order.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Words and punctuation with their lines, without comments, texts and lifetimes.
pub fn tokens(text: &str) -> Vec<(usize, &str)> {
    let mut found = tokens_and_texts(text);
    found.retain(|(_, token)| !is_text(token));
    found
}

/// Whether a token is a text.
pub fn is_text(token: &str) -> bool {
    token
        .trim_start_matches(['b', 'c', 'r', '#'])
        .starts_with('"')
}

/// Words, punctuation and texts with their lines, without comments, characters and lifetimes.
pub fn tokens_and_texts(text: &str) -> Vec<(usize, &str)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut i, mut line) = (0, 1);
    while i < bytes.len() {
        let start = i;
        let rest = &text[i..];
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        i += if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment(rest)
        } else if rest.starts_with("r\"")
            || rest.starts_with("r#\"")
            || rest.starts_with("br") && raw(rest)
        {
            let length = raw_text(rest);
            found.push((line, &rest[..length]));
            length
        } else if rest.starts_with('"') || rest.starts_with("b\"") || rest.starts_with("c\"") {
            let length = quoted(rest);
            found.push((line, &rest[..length]));
            length
        } else if rest.starts_with('\'') {
            character(rest)
        } else if rest.starts_with("::") {
            found.push((line, "::"));
            2
        } else if rest.starts_with(is_word) {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            found.push((line, &rest[..length]));
            length
        } else {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            if !rest.starts_with(char::is_whitespace) {
                found.push((line, &rest[..length]));
            }
            length
        };
        line += text[start..i].matches('\n').count();
    }
    found
}

/// Length of a block comment; they nest.
fn comment(text: &str) -> usize {
    let (mut depth, mut i) = (0, 0);
    while i < text.len() {
        let rest = &text.as_bytes()[i..];
        if rest.starts_with(b"/*") {
            depth += 1;
            i += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            i += 2;
            if depth == 0 {
                break;
            }
        } else {
            i += 1;
        }
    }
    i
}

fn raw(text: &str) -> bool {
    text.starts_with("br\"") || text.starts_with("br#\"")
}

/// Length of a raw text.
fn raw_text(text: &str) -> usize {
    let open = text.find('"').unwrap_or(0);
    let hashes = text[..open].matches('#').count();
    let close = format!("\"{}", "#".repeat(hashes));
    text[open + 1..]
        .find(&close)
        .map_or(text.len(), |at| open + 1 + at + close.len())
}

/// Length of a text in quotes.
fn quoted(text: &str) -> usize {
    let mut escaped = true; // The opening quote (a `b` before it does no harm).
    let mut opened = false;
    for (i, c) in text.char_indices() {
        match c {
            '"' if !opened => (opened, escaped) = (true, false),
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return i + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of a character, or of the quote of a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, _))) => text[at + 1..].find('\'').map_or(1, |i| at + 1 + i + 1),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}
