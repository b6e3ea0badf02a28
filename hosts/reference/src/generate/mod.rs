//! Random programs of typed bytecode that are valid by construction: every stack is balanced and
//! every local that is read without a check is bound, so that only bugs of an executor can cause
//! differences.
//!
//! A program has classes and globals that are always the same ([`module`](self)'s text), and random
//! functions, a method and a closure: statements in `statement` and `change`, expressions in
//! `value`, and the text of a function in `writer`. Choices come from a stream of bytes (a fuzzer's
//! input), and end where it ends.
//!
//! Programs terminate: loops are counted, calls go to functions before the caller only, and the one
//! recursive function counts down.

mod change;
mod module;
mod statement;
mod value;
mod writer;

use std::fmt::Write;
use writer::{Kind, Writer};

/// Random functions of a program, besides those that are always the same.
const FUNCTIONS: usize = 3;
/// The most statements of one function.
const STATEMENTS: usize = 20;

/// Choices.
struct Choices<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    fn below(&mut self, n: usize) -> usize {
        self.byte() as usize % n
    }

    fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())]
    }

    fn is_over(&self) -> bool {
        self.at >= self.bytes.len()
    }
}

/// The text of a program, and calls of its functions.
pub fn generate(bytes: &[u8]) -> (String, Vec<String>) {
    let mut choices = Choices { bytes, at: 0 };
    let mut text = String::from(module::OBJECTS);
    text.push_str(module::CLASSES);
    // The parts alternate in using the bytes, so that none is empty because another used them all.
    text += &Writer::function(&mut choices, Kind::Method, "A.m", 3);
    for index in 0..FUNCTIONS {
        let name = format!("f{index}");
        text += &Writer::function(&mut choices, Kind::Closure, &format!("{name}.inner"), 2);
        let kind = Kind::Function(index);
        text += &Writer::function(&mut choices, kind, &name, STATEMENTS);
    }
    text += &Writer::function(&mut choices, Kind::Recursive, "r", 3);
    let mut calls: Vec<String> = (0..FUNCTIONS)
        .rev()
        .flat_map(|f| ARGUMENTS.iter().map(move |args| format!("f{f}({args})")))
        .collect();
    calls.extend(["r(5, 2)", "r(30, 1.5)", "r(3, \"q\")"].map(str::to_owned));
    (text, calls)
}

/// Arguments of the calls: first several of one kind, so that the compiler speculates on their
/// types, then others.
const ARGUMENTS: &[&str] = &["1, 2", "7, 7", "3, 1.5", "2.5, -0.0", "\"q\", 2"];

/// Bytes from a seed, for runs without a fuzzer.
pub fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..len)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x >> 32) as u8
        })
        .collect()
}

/// A call as it is written in a file test.
pub fn call_text(name: &str, values: &[cladonia::bytecode::ConstValue]) -> String {
    let mut text = format!("{name}(");
    for (i, value) in values.iter().enumerate() {
        let _ = write!(text, "{}{value}", if i > 0 { ", " } else { "" });
    }
    text + ")"
}

#[cfg(test)]
mod tests {
    use super::*;
    use cladonia::bytecode::Document;

    #[test]
    fn every_program_is_well_formed() {
        for seed in 0..300 {
            let (text, _) = generate(&bytes(seed, 600));
            let document =
                Document::parse(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
            for code in &document.codes {
                code.verify()
                    .unwrap_or_else(|e| panic!("seed {seed}: `{}`: {e}\n{text}", code.name));
            }
        }
        let (text, _) = generate(&[]);
        assert!(Document::parse(&text).is_ok());
    }
}
