//! Random programs of typed bytecode that are valid by construction: every operand is bound and every stack balanced, so what is
//! left to differ is what the executors do.
//!
//! A program is a module body that makes classes and globals, and functions with loops, calls, attribute accesses,
//! containers and handlers. Choices come from a stream of bytes (a fuzzer's input), and end where it ends.

use cladonia::bytecode::{BinaryOp, CompareOp, INPLACE};
use std::fmt::Write;

/// Functions of a program.
const FUNCTIONS: usize = 3;
/// Locals of each beside its parameters.
const LOCALS: usize = 4;

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

    fn is_over(&self) -> bool {
        self.at >= self.bytes.len()
    }
}

/// The text of a program, and calls of its functions.
pub fn generate(bytes: &[u8]) -> (String, Vec<String>) {
    let mut choices = Choices { bytes, at: 0 };
    let mut text = String::from(
        "object \"A.__init__\": code = A.__init__\nobject \"A.m\": code = A.m\nobject \"A\": code = A\n\n",
    );
    text += MODULE;
    for index in 0..FUNCTIONS {
        let mut function = FunctionText {
            choices: &mut choices,
            index,
            body: String::new(),
            handlers: String::new(),
            labels: 0,
            depth: 0,
            room: 26,
            is_protected: false,
        };
        function.run();
        let (body, handlers) = (function.body, function.handlers);
        let _ = writeln!(
            text,
            "code \"f{index}\" {{\n  params 2\n  local a\n  local b"
        );
        for k in 0..LOCALS {
            let _ = writeln!(text, "  local v{k}");
        }
        for k in 0..3 {
            let _ = writeln!(text, "  local i{k}");
        }
        text += "  stack 24\n";
        for literal in LITERALS {
            let _ = writeln!(text, "  const {literal}");
        }
        for name in NAMES {
            let _ = writeln!(text, "  name {name}");
        }
        text += &body;
        text += &handlers;
        text += "}\n";
    }
    let calls = (0..FUNCTIONS)
        .rev()
        .flat_map(|f| ARGUMENTS.iter().map(move |args| format!("f{f}({args})")))
        .collect();
    (text, calls)
}

const LITERALS: &[&str] = &[
    "None",
    "0",
    "1",
    "2",
    "-3",
    "7",
    "1.5",
    "-0.5",
    "0.0",
    "\"ab\"",
    "True",
    "False",
    "4611686018427387904",
    "100",
];
const NAMES: &[&str] = &[
    "f0",
    "f1",
    "f2",
    "range",
    "len",
    "abs",
    "A",
    "x",
    "y",
    "m",
    "G",
    "list",
    "Exception",
    "append",
    "int",
    "float",
    "limit",
];
const ARGUMENTS: &[&str] = &["1, 2", "3, 1.5", "2.5, -4", "7, 7", "\"q\", 2"];

/// The class and the globals that all programs have.
const MODULE: &str = "\
code \"A.__init__\" {
  params 3
  local self
  local x
  local y
  stack 3
  const None
  name x
  name y
  load_fast x
  load_fast self
  store_attr x
  load_fast y
  load_fast self
  store_attr y
  return_const #0
}
code \"A.m\" {
  params 2
  local self
  local d
  stack 4
  name x
  name y
  load_fast self
  load_attr x
  load_fast d
  binary_op +
  load_fast self
  store_attr x
  load_fast self
  load_attr y
  return_value
}
code \"A\" {
  params 0
  stack 2
  namespace
  const Code[A.__init__]
  const Code[A.m]
  const None
  const 3
  name __init__
  name m
  name limit
  load_const #0
  make_function
  store_name __init__
  load_const #1
  make_function
  store_name m
  load_const #3
  store_name limit
  return_const #2
}
code \"<module>\" {
  params 0
  stack 5
  namespace
  const Code[A]
  const \"A\"
  const None
  const 5
  name A
  name G
  load_build_class
  push_null
  load_const #0
  make_function
  load_const #1
  call 2
  store_name A
  load_const #3
  store_name G
  return_const #2
}
";

struct FunctionText<'a, 'b> {
    choices: &'a mut Choices<'b>,
    index: usize,
    body: String,
    handlers: String,
    labels: usize,
    /// Loops around.
    depth: usize,
    /// Statements left.
    room: usize,
    is_protected: bool,
}

impl FunctionText<'_, '_> {
    fn line(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.body, "  {}", line.as_ref());
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("l{}", self.labels)
    }

    fn bind(&mut self, label: &str) {
        let _ = writeln!(self.body, "{label}:");
    }

    /// The number of instructions so far.
    fn here(&self) -> usize {
        self.body
            .lines()
            .filter(|line| line.starts_with("  "))
            .count()
    }

    fn run(&mut self) {
        self.line("resume 0");
        // Every local is bound from the start.
        for k in 0..LOCALS {
            let constant = self.choices.below(LITERALS.len());
            self.line(format!("load_const #{constant}"));
            self.line(format!("store_fast v{k}"));
        }
        for k in 0..3 {
            self.line("load_const #1");
            self.line(format!("store_fast i{k}"));
        }
        self.block(6);
        for k in 0..LOCALS {
            self.line(format!("load_fast v{k}"));
        }
        self.line(format!("build_tuple {LOCALS}"));
        self.line("return_value");
    }

    fn block(&mut self, most: usize) {
        for _ in 0..1 + self.choices.below(most) {
            if self.room == 0 {
                return;
            }
            self.room -= 1;
            self.statement();
        }
    }

    fn target(&mut self) -> String {
        match self.choices.below(LOCALS + 2) {
            4 => "a".into(),
            5 => "b".into(),
            k => format!("v{k}"),
        }
    }

    fn statement(&mut self) {
        match self.choices.below(12) {
            0..=2 => {
                self.value(3);
                let target = self.target();
                self.line(format!("store_fast {target}"));
            }
            3 if self.depth < 2 => self.counted_loop(),
            4 if self.depth < 2 => self.list_loop(),
            5 => self.branch(),
            6 if !self.is_protected => self.protected(),
            7 => {
                self.value(2);
                self.instance();
                let name = ["x", "y"][self.choices.below(2)];
                self.line(format!("store_attr {name}"));
            }
            8 => {
                self.value(1);
                self.line("store_global G");
            }
            9 => {
                // A class is changed, or gets a new attribute.
                self.value(1);
                self.line("load_global A");
                self.line("store_attr limit");
            }
            10 => {
                // An object that lives on in a local is changed.
                let target = self.target();
                self.instance();
                self.line(format!("store_fast {target}"));
                self.value(1);
                self.line(format!("load_fast {target}"));
                self.line("store_attr x");
            }
            _ => {
                self.value(2);
                self.line("pop_top");
            }
        }
    }

    /// A new instance on the stack.
    fn instance(&mut self) {
        self.line("load_global A, 1");
        self.value(1);
        self.value(1);
        self.line("call 2");
    }

    fn counted_loop(&mut self) {
        let (head, out) = (self.label(), self.label());
        let counter = self.depth;
        let rounds = 1 + self.choices.below(24);
        self.line("load_global range, 1");
        self.line(if rounds > 12 {
            "load_const #13"
        } else {
            "load_const #5"
        });
        self.line("call 1");
        self.line("get_iter");
        self.bind(&head);
        self.line(format!("for_iter {out}"));
        self.line(format!("store_fast i{counter}"));
        self.depth += 1;
        // Deep loops are short: the product of rounds is what a run costs.
        if self.depth == 2 || rounds > 12 {
            self.block(2);
        } else {
            self.block(4);
        }
        self.depth -= 1;
        self.line(format!("jump_backward {head}"));
        self.bind(&out);
    }

    fn list_loop(&mut self) {
        let (head, out) = (self.label(), self.label());
        let n = 1 + self.choices.below(3);
        for _ in 0..n {
            self.value(1);
        }
        let what = ["build_list", "build_tuple"][self.choices.below(2)];
        self.line(format!("{what} {n}"));
        self.line("get_iter");
        self.bind(&head);
        self.line(format!("for_iter {out}"));
        let target = self.target();
        self.line(format!("store_fast {target}"));
        self.depth += 1;
        self.block(3);
        self.depth -= 1;
        self.line(format!("jump_backward {head}"));
        self.bind(&out);
    }

    fn branch(&mut self) {
        let (els, end) = (self.label(), self.label());
        self.condition();
        self.line(format!("pop_jump_if_false {els}"));
        self.block(2);
        self.line(format!("jump {end}"));
        self.bind(&els);
        self.block(2);
        self.bind(&end);
    }

    fn condition(&mut self) {
        match self.choices.below(4) {
            0 | 1 => {
                self.value(1);
                self.value(1);
                let op = CompareOp::ALL[self.choices.below(CompareOp::ALL.len())].symbol();
                self.line(format!("compare_op {op}, 1"));
            }
            2 => {
                self.value(1);
                self.line("to_bool");
            }
            _ => {
                self.value(1);
                self.line("load_const #0");
                let not = self.choices.below(2);
                self.line(format!("is_op {not}"));
            }
        }
    }

    /// `try: ... except Exception as v: ...`; the operand stack holds the iterators of the loops around.
    fn protected(&mut self) {
        let (end, other) = (self.label(), self.label());
        let depth = self.depth;
        let start = self.here();
        self.is_protected = true;
        self.block(3);
        self.is_protected = false;
        self.line("nop");
        let stop = self.here();
        self.line(format!("jump {end}"));
        let target = self.here();
        self.line("push_exc_info");
        self.line("load_global Exception");
        self.line("check_exc_match");
        self.line(format!("pop_jump_if_false {other}"));
        let local = self.target();
        // What it was is told by its class.
        self.line("pop_top");
        self.line("pop_except");
        self.line("load_const #9");
        self.line(format!("store_fast {local}"));
        self.line(format!("jump {end}"));
        self.bind(&other);
        self.line("reraise 0");
        self.bind(&end);
        let _ = writeln!(
            self.handlers,
            "  handler @{start}..@{stop} -> @{target} depth {depth}"
        );
    }

    /// A value on the stack.
    fn value(&mut self, size: usize) {
        let kinds = if size == 0 || self.choices.is_over() {
            3
        } else {
            15
        };
        match self.choices.below(kinds) {
            0 => {
                let constant = self.choices.below(LITERALS.len());
                self.line(format!("load_const #{constant}"));
            }
            1 => {
                let target = self.target();
                self.line(format!("load_fast {target}"));
            }
            2 => {
                let local = self.choices.below(3);
                self.line(format!("load_fast i{local}"));
            }
            3..=7 => {
                self.value(size - 1);
                self.value(size - 1);
                self.operator();
            }
            8 => {
                self.value(size - 1);
                let op = ["unary_negative", "unary_invert"][self.choices.below(2)];
                self.line(op);
            }
            9 => {
                // Calls go to functions before this one only, so that programs end.
                if self.index == 0 {
                    return self.value(0);
                }
                let callee = self.choices.below(self.index);
                self.line(format!("load_global f{callee}, 1"));
                self.value(size - 1);
                self.value(size - 1);
                self.line("call 2");
            }
            10 => {
                self.instance();
                match self.choices.below(3) {
                    0 => self.line("load_attr x"),
                    1 => self.line("load_attr limit"),
                    _ => {
                        self.line("load_attr m, 1");
                        self.value(size - 1);
                        self.line("call 1");
                    }
                }
            }
            11 => {
                self.value(size - 1);
                self.value(size - 1);
                self.line("build_list 2");
                let index = self.choices.below(4);
                self.line(format!("load_const #{}", [1, 2, 3, 4][index]));
                self.line("binary_subscr");
            }
            12 => {
                let name = ["len", "abs", "int", "float"][self.choices.below(4)];
                self.line(format!("load_global {name}, 1"));
                self.value(size - 1);
                self.line("call 1");
            }
            13 => self.line("load_global G"),
            _ => {
                self.condition();
            }
        }
    }

    fn operator(&mut self) {
        let op = match self.choices.below(10) {
            0..=2 => BinaryOp::Add,
            3 => BinaryOp::Subtract,
            4 => BinaryOp::Multiply,
            _ => BinaryOp::ALL[self.choices.below(BinaryOp::ALL.len())],
        };
        // Powers and shifts make ints that take long to print.
        let op = match op {
            BinaryOp::Power | BinaryOp::LeftShift | BinaryOp::MatrixMultiply => BinaryOp::Xor,
            op => op,
        };
        let in_place = self.choices.below(4) == 0;
        debug_assert!((op as u32) < INPLACE);
        self.line(format!(
            "binary_op {}{}",
            op.symbol(),
            if in_place { "=" } else { "" }
        ));
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use cladonia::bytecode::Document;

    #[test]
    fn every_program_is_well_formed() {
        for seed in 0..200 {
            let (text, _) = generate(&bytes(seed, 300));
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
