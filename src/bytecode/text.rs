//! The text form of bytecode (`.tbc`), printed. [`Code::parse`] and [`Document::parse`] read it
//! back.
//!
//! ```text
//! ; classes and objects that the code refers to, and the form in which types print them (to the
//! ; end of the line): see `Document`
//! class "Point": Object (object) = Point
//! class builtin Slice = slice#2
//! object "5": int immortal = 5
//!
//! code "norm" {
//!   file "geometry.py" 12
//!   params 1                                ; , kwonly 2, varargs, varkeywords
//!   stack 3                                 ; separate lines: globals 7, generator, last_first,
//!                                           ; namespace
//!   local p: ObjectUser[Point:Exact]        ; the observed type
//!   local total cell
//!   name x
//!   const ImmortalLongExact[5] = 5
//!   @0  resume 0                at 0 line 12
//!   @1  load_fast p             at 1 line 13
//!   @2  load_attr x, 1          hint [ObjectUser[Point:Exact]] at 3 from 2
//!   @3  return_value            at 13
//!   handler @1..@3 -> @3 depth 0 lasti
//! }
//! ```
//! A local, name or constant is written by its name if that is unique and plain, otherwise as `#`
//! with its index. `at` is the host's position (the instruction's index by default), `from` is the
//! place where the host resumes if that differs, `part` means that it can't resume there; `line`
//! holds until the next. `;` begins a comment. In texts written by hand, `@` and the index before
//! an instruction may be left out, and `name:` on a line of its own is a label for targets.
//!
//! [`Document::parse`]: super::Document::parse

use super::{ArgKind, BinaryOp, Code, Const, ConstValue, INPLACE, Instr, LocalKind, Op};
use crate::types::{Declarations, Quoted, Type};
use std::collections::HashSet;
use std::fmt::{self, Write};

impl fmt::Display for Code {
    /// The code alone, without the classes and objects that its types refer to; a reader must know
    /// the host to look them up.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "code {} {{", Quoted(&self.name))?;
        writeln!(f, "  file {} {}", Quoted(&self.file), self.line)?;
        write!(f, "  params {}", self.argcount)?;
        if self.kwonly != 0 {
            write!(f, ", kwonly {}", self.kwonly)?;
        }
        for (flag, name) in [(self.varargs, "varargs"), (self.varkeywords, "varkeywords")] {
            if flag {
                write!(f, ", {name}")?;
            }
        }
        writeln!(f)?;
        writeln!(f, "  stack {}", self.stacksize)?;
        if self.globals != 0 {
            writeln!(f, "  globals {}", self.globals)?;
        }
        for (flag, name) in [
            (self.is_generator, "generator"),
            (self.is_coroutine, "coroutine"),
            (self.last_first, "last_first"),
            (self.operators_last_first, "operators_last_first"),
            (!self.optimized, "namespace"),
        ] {
            if flag {
                writeln!(f, "  {name}")?;
            }
        }
        for (i, (name, kind)) in self.locals.iter().enumerate() {
            write!(f, "  local {}{}", Word(name), kind_suffix(*kind))?;
            match self.local_hints.get(i) {
                Some(hint) => writeln!(f, ": {hint}")?,
                None => writeln!(f)?,
            }
        }
        for name in &self.names {
            writeln!(f, "  name {}", Word(name))?;
        }
        for constant in &self.consts {
            writeln!(f, "  const {constant}")?;
        }
        self.fmt_instrs(f)?;
        for h in &self.handlers {
            let lasti = if h.lasti { " lasti" } else { "" };
            writeln!(
                f,
                "  handler {}..{} -> {} depth {}{lasti}",
                h.start, h.end, h.target, h.depth
            )?;
        }
        writeln!(f, "}}")
    }
}

impl Code {
    fn fmt_instrs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Words { locals, names } = Words::of(self);
        let width = self.instrs.len().to_string().len() + 2;
        let mut line = self.line;
        for (pc, instr) in self.pcs() {
            let mut text = format!("  {:width$} {}", pc.to_string(), instr.op.info().name);
            self.fmt_argument(instr, &locals, &names, &mut text)?;
            let mut tail = String::new();
            if !instr.hint.is_empty() {
                let hints: Vec<String> = instr.hint.iter().map(Type::to_string).collect();
                write!(tail, " hint [{}]", hints.join(", "))?;
            }
            if let Some(items) = instr.items {
                write!(tail, " items {items:#x}")?;
            }
            if instr.pos != pc.0 || instr.resume != instr.pos {
                write!(tail, " at {}", instr.pos)?;
            }
            if instr.resume != instr.pos {
                write!(tail, " from {}", instr.resume)?;
            }
            if !instr.resumable {
                tail.push_str(" part");
            }
            if instr.line != line {
                write!(tail, " line {}", instr.line)?;
                line = instr.line;
            }
            if let (Op::LoadConst | Op::ReturnConst, Some(constant)) =
                (instr.op, self.consts.get(instr.arg as usize))
            {
                write!(tail, " ; {constant}")?;
            }
            if !tail.is_empty() {
                let column = width + 32;
                text = format!("{text:column$}{tail}");
            }
            writeln!(f, "{text}")?;
        }
        Ok(())
    }

    fn fmt_argument(
        &self,
        instr: &Instr,
        locals: &Table,
        names: &Table,
        text: &mut String,
    ) -> fmt::Result {
        let arg = instr.arg;
        match instr.op.info().arg {
            ArgKind::None if arg == 0 => {}
            ArgKind::None | ArgKind::Count | ArgKind::Flag => write!(text, " {arg}")?,
            ArgKind::Local => write!(text, " {}", locals.word(arg))?,
            ArgKind::Name => write!(text, " {}", names.word(arg))?,
            ArgKind::Const => write!(text, " #{arg}")?,
            ArgKind::Target => write!(text, " @{arg}")?,
            ArgKind::Binary => {
                match BinaryOp::from_arg(arg % INPLACE).filter(|_| arg < 2 * INPLACE) {
                    Some(op) => write!(
                        text,
                        " {}{}",
                        op.symbol(),
                        if arg >= INPLACE { "=" } else { "" }
                    )?,
                    None => write!(text, " #{arg}")?,
                }
            }
            kind @ (ArgKind::Compare
            | ArgKind::UnaryIntrinsic
            | ArgKind::BinaryIntrinsic
            | ArgKind::Conversion
            | ArgKind::FunctionAttribute
            | ArgKind::SpecialMethod) => {
                let variant = kind
                    .variants()
                    .and_then(|(_, names)| names.get(arg as usize).copied());
                match variant {
                    Some(name) => write!(text, " {name}")?,
                    None => write!(text, " #{arg}")?,
                }
            }
        }
        if instr.arg2 != 0 {
            write!(text, ", {}", instr.arg2)?;
        }
        Ok(())
    }
}

fn kind_suffix(kind: LocalKind) -> &'static str {
    match kind {
        LocalKind::Local => "",
        LocalKind::Cell => " cell",
        LocalKind::Free => " free",
    }
}

impl fmt::Display for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Type::from_object(self.object))?;
        match &self.value {
            ConstValue::Other => Ok(()),
            value => write!(f, " = {value}"),
        }
    }
}

/// A name, quoted if it is not plain.
struct Word<'a>(&'a str);

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_plain(self.0) {
            f.write_str(self.0)
        } else {
            Quoted(self.0).fmt(f)
        }
    }
}

/// Returns true if a name needs no quotes.
pub(super) fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The words for a code's locals and names.
pub(crate) struct Words<'a> {
    /// By slot.
    pub(crate) locals: Table<'a>,
    /// By index.
    pub(crate) names: Table<'a>,
}

impl<'a> Words<'a> {
    pub(crate) fn of(code: &'a Code) -> Words<'a> {
        Words {
            locals: Table::new(code.locals.iter().map(|local| local.0.as_str())),
            names: Table::new(code.names.iter().map(String::as_str)),
        }
    }
}

/// Names by index, with those that occur more than once.
pub(crate) struct Table<'a> {
    names: Vec<&'a str>,
    repeated: HashSet<&'a str>,
}

impl<'a> Table<'a> {
    fn new(names: impl Iterator<Item = &'a str>) -> Table<'a> {
        let names: Vec<&str> = names.collect();
        let mut seen = HashSet::new();
        let repeated = names
            .iter()
            .copied()
            .filter(|name| !seen.insert(*name))
            .collect();
        Table { names, repeated }
    }

    /// The name, or `#` and the index.
    pub(crate) fn word(&self, index: u32) -> String {
        match self.names.get(index as usize) {
            Some(name) if is_plain(name) && !self.repeated.contains(name) => (*name).to_owned(),
            _ => format!("#{index}"),
        }
    }
}

impl Code {
    /// Declares the classes and objects that it refers to.
    pub(crate) fn declare(&self, to: &mut Declarations) {
        self.consts.iter().for_each(|c| to.object(c.object));
        self.hints().for_each(|ty| to.ty(ty));
    }
}

/// The codes with all the classes and objects that they refer to, so that
/// [`Document::parse`](super::Document::parse) needs nothing else.
pub fn print_document(codes: &[Code]) -> String {
    let mut named = Declarations::default();
    codes.iter().for_each(|code| code.declare(&mut named));
    let mut text = named.text;
    for code in codes {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&code.to_string());
    }
    text
}
