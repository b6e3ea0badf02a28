//! The text of one function, and the state at the place of the next instruction.

use super::Choices;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Locals with any values.
pub(super) const VALUES: usize = 4;
/// Loop counters.
pub(super) const COUNTERS: usize = 3;
/// Entries of the operand stack, enough for expressions of the sizes used here.
const STACK: usize = 64;

/// The kind of function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A function of two parameters that may call earlier ones.
    Function(usize),
    /// The method `m` of a class: an instance and a value.
    Method,
    /// A nested function of one parameter, which shares a cell with the outer one.
    Closure,
    /// A recursive function, counting down.
    Recursive,
}

/// A loop around the current place.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub head: String,
    /// The label to jump to after popping the iterator.
    pub end: String,
    pub has_iterator: bool,
    /// Stack entries in its body.
    pub depth: usize,
    /// Handlers and `with` blocks around.
    pub nesting: usize,
}

/// Writes one function.
pub(super) struct Writer<'a, 'b> {
    pub choices: &'a mut Choices<'b>,
    pub kind: Kind,
    body: String,
    handlers: Vec<String>,
    consts: Vec<String>,
    names: BTreeSet<String>,
    labels: usize,
    instructions: usize,
    /// Stack entries below those that the statement pushes itself.
    pub depth: usize,
    pub loops: Vec<Loop>,
    /// Handlers and `with` blocks around.
    pub nesting: usize,
    /// True if an exception is being handled.
    pub is_handling: bool,
    /// Statements left.
    pub room: usize,
}

impl<'a, 'b> Writer<'a, 'b> {
    /// The text of a function.
    pub fn function(
        choices: &'a mut Choices<'b>,
        kind: Kind,
        name: &str,
        statements: usize,
    ) -> String {
        let mut writer = Writer {
            choices,
            kind,
            body: String::new(),
            handlers: Vec::new(),
            consts: Vec::new(),
            names: BTreeSet::new(),
            labels: 0,
            instructions: 0,
            depth: 0,
            loops: Vec::new(),
            nesting: 0,
            is_handling: false,
            room: statements,
        };
        writer.everything(name);
        writer.finish(name)
    }

    fn finish(self, name: &str) -> String {
        let mut text = format!("code \"{name}\" {{\n");
        let params: &[&str] = match self.kind {
            Kind::Closure => &["a"],
            Kind::Method => &["o", "a"],
            _ => &["a", "b"],
        };
        let _ = writeln!(text, "  params {}", params.len());
        let others = ["a", "b", "o", "xs", "d", "u", "t", "g", "k", "n"];
        let others = others.iter().filter(|name| !params.contains(name));
        for local in params.iter().chain(others) {
            let _ = writeln!(text, "  local {local}");
        }
        (0..VALUES).for_each(|k| text += &format!("  local v{k}\n"));
        (0..COUNTERS).for_each(|k| text += &format!("  local i{k}\n"));
        let cell = match self.kind {
            Kind::Closure => "free",
            _ => "cell",
        };
        let _ = writeln!(text, "  local c {cell}\n  stack {STACK}");
        for constant in &self.consts {
            let _ = writeln!(text, "  const {constant}");
        }
        for name in &self.names {
            let _ = writeln!(text, "  name {name}");
        }
        text += &self.body;
        // The last matching handler applies, so the inner ones come last.
        self.handlers.iter().rev().for_each(|line| text += line);
        text + "}\n"
    }

    /// An instruction.
    pub fn op(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.body, "  {}", line.as_ref());
        self.instructions += 1;
    }

    /// Several instructions.
    pub fn ops(&mut self, lines: &[&str]) {
        lines.iter().for_each(|line| self.op(line));
    }

    /// `load_const`
    pub fn constant(&mut self, literal: &str) {
        let index = self.consts.iter().position(|known| known == literal);
        let index = index.unwrap_or_else(|| {
            self.consts.push(literal.to_owned());
            self.consts.len() - 1
        });
        self.op(format!("load_const #{index}"));
    }

    /// An instruction with a name, and further text.
    pub fn named(&mut self, op: &str, name: &str, rest: &str) {
        self.names.insert(name.to_owned());
        self.op(format!("{op} {name}{rest}"));
    }

    /// A global to be called.
    pub fn callee(&mut self, name: &str) {
        self.named("load_global", name, ", 1");
    }

    /// A method of the object on the stack, to be called.
    pub fn method(&mut self, name: &str) {
        self.named("load_attr", name, ", 1");
    }

    /// A new label.
    pub fn label(&mut self) -> String {
        self.labels += 1;
        format!("l{}", self.labels)
    }

    /// Places a label here.
    pub fn bind(&mut self, label: &str) {
        let _ = writeln!(self.body, "{label}:");
    }

    /// The index of the next instruction.
    pub fn here(&self) -> usize {
        self.instructions
    }

    /// Instructions from `start` to `stop` are in the range of the handler at `target`.
    pub fn handler(
        &mut self,
        start: usize,
        stop: usize,
        target: usize,
        depth: usize,
        with_position: bool,
    ) {
        if start < stop {
            let lasti = if with_position { " lasti" } else { "" };
            self.handlers.push(format!(
                "  handler @{start}..@{stop} -> @{target} depth {depth}{lasti}\n"
            ));
        }
    }

    /// Returns true for a method or closure, which makes no calls.
    pub fn is_leaf(&self) -> bool {
        matches!(self.kind, Kind::Method | Kind::Closure)
    }
}
