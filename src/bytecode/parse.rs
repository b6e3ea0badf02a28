//! Reads the text form of bytecode back; [`super::text`] describes it. Every error has its line and
//! column.

use super::text::print_document;
use super::{
    ArgKind, BinaryOp, Code, Const, ConstValue, Handler, INPLACE, Instr, LocalKind, Op, Pc,
};
use crate::types::{Hierarchy, HostId, Line, Lines, Names, Parsed, Scope, TextError, Type};
use std::collections::HashMap;

/// Code objects with the classes and objects that they refer to. Those belong to a simulated host
/// that exists as long as the document.
///
/// ```
/// use cladonia::bytecode::{Document, Op};
///
/// let text = r#"code "twice" {
///   params 1
///   local x
///   stack 2
///   load_fast x
///   load_fast x
///   binary_op +
///   return_value
/// }"#;
/// let document = Document::parse(text).expect("a document");
/// let code = &document.codes[0];
/// code.verify().expect("bytecode that is well-formed");
/// assert_eq!(code.instrs[2].op, Op::BinaryOp);
/// // The text form prints back, with the index of each instruction.
/// assert!(code.to_string().contains("@2  binary_op +"));
/// ```
#[derive(Debug)]
pub struct Document {
    /// The codes.
    pub codes: Vec<Code>,
    /// The other sections of the text, for the modules that define their forms.
    pub sections: Vec<Section>,
    pub(crate) scope: Scope,
    hierarchy: Hierarchy,
}

/// A part of a document that is not bytecode, as text: from a line that begins with its keyword to
/// one that begins with `}`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// The first word.
    pub keyword: &'static str,
    /// The number of its first line, from 1.
    pub line: usize,
    /// Its lines.
    pub text: String,
    /// The number of codes before it.
    pub codes: usize,
}

/// The keywords of sections.
const SECTIONS: [&str; 4] = ["function", "world", "host", "unit"];

impl Document {
    /// Reads the text of [`Document::print`]. Numbers of labels (`tuple#3`) may differ afterwards.
    ///
    /// # Errors
    /// A [`TextError`] with the place.
    pub fn parse(text: &str) -> Parsed<Document> {
        let hierarchy = Hierarchy::parse("").map_err(|fault| TextError {
            line: 1,
            column: 1,
            message: format!("no host on paper: {fault}"),
        })?;
        let mut scope = Scope::new(hierarchy.host(), hierarchy.names());
        let mut lines = Lines::new(text);
        let (mut codes, mut sections) = (Vec::new(), Vec::new());
        while let Some(mut line) = lines.next() {
            let keyword = SECTIONS.into_iter().find(|word| line.eat_word(word));
            if let Some(keyword) = keyword {
                sections.push(Section {
                    keyword,
                    line: lines.number,
                    text: lines.section(&line)?,
                    codes: codes.len(),
                });
                continue;
            }
            if line.eat_word("class") {
                scope.class(&mut line)?
            } else if line.eat_word("object") {
                scope.object(&mut line)?
            } else if line.eat_word("code") {
                codes.push(parse_code(&mut line, &mut lines, &scope)?)
            } else {
                return line.expected("`class`, `object`, `code` or a section");
            }
        }
        Ok(Document {
            codes,
            sections,
            scope,
            hierarchy,
        })
    }

    /// The codes as text, with all the classes and objects that they refer to.
    pub fn print(codes: &[Code]) -> String {
        print_document(codes)
    }

    /// The host of the document's classes and objects.
    pub fn host(&self) -> HostId {
        self.hierarchy.host()
    }
}

impl Code {
    /// Reads one code. Classes and objects are looked up in `names`, literals in `host`.
    ///
    /// # Errors
    /// A [`TextError`] with the place.
    pub fn parse(text: &str, host: HostId, names: &Names) -> Parsed<Code> {
        let scope = Scope::new(host, names.clone());
        let mut lines = Lines::new(text);
        let Some(mut line) = lines.next() else {
            return Err(TextError {
                line: lines.number + 1,
                column: 1,
                message: "expected `code`, found the end".into(),
            });
        };
        if !line.eat_word("code") {
            return line.expected("`code`");
        }
        let code = parse_code(&mut line, &mut lines, &scope)?;
        match lines.next() {
            Some(mut line) => line.expected("the end"),
            None => Ok(code),
        }
    }
}

impl Scope {
    /// A constant: a literal, or a type that is one object, perhaps followed by the object's value.
    pub(crate) fn constant(&self, line: &mut Line) -> Parsed<Const> {
        line.space();
        let at = line.at;
        if let Some(value) = line.literal()? {
            return match self.make(&value) {
                Some(object) => Ok(Const { object, value }),
                None => line.error_at(at, "the host has no class for this literal"),
            };
        }
        let ty = self.ty(line)?;
        let Some(object) = ty.as_object_in(self.host) else {
            return line.error_at(at, format!("`{ty}` is no single object"));
        };
        let value = if line.eat("=") {
            match line.literal()? {
                Some(value) => value,
                None => return line.expected("a literal"),
            }
        } else {
            ConstValue::Other
        };
        Ok(Const { object, value })
    }
}

impl Line<'_> {
    /// `@` and the number of an instruction.
    pub(crate) fn pc(&mut self) -> Parsed<Pc> {
        self.expect("@")?;
        if !self.text[self.at..].starts_with(|c: char| c.is_ascii_digit()) {
            return self.error_at(self.at, "expected the number of an instruction");
        }
        self.number().map(Pc)
    }
}

/// Reads a code after its word `code`.
pub(crate) fn parse_code(line: &mut Line, lines: &mut Lines, scope: &Scope) -> Parsed<Code> {
    let name = line.quoted("the code's name")?;
    line.expect("{")?;
    line.end()?;
    let code = Code {
        name,
        file: String::new(),
        line: 1,
        argcount: 0,
        kwonly: 0,
        varargs: false,
        varkeywords: false,
        is_generator: false,
        is_coroutine: false,
        last_first: false,
        operators_last_first: false,
        globals: 0,
        optimized: true,
        locals: Vec::new(),
        stacksize: 0,
        consts: Vec::new(),
        names: Vec::new(),
        instrs: Vec::new(),
        handlers: Vec::new(),
        local_hints: Vec::new(),
    };
    let mut parser = CodeParser {
        scope,
        code,
        labels: HashMap::new(),
        jumps: Vec::new(),
        hints: Vec::new(),
        line: None,
    };
    loop {
        let Some(mut line) = lines.next() else {
            return Err(TextError {
                line: lines.number + 1,
                column: 1,
                message: "expected `}`, found the end".into(),
            });
        };
        if line.eat("}") {
            line.end()?;
            return parser.finish();
        }
        parser.line(&mut line)?;
        line.end()?;
    }
}

struct CodeParser<'a> {
    scope: &'a Scope,
    code: Code,
    labels: HashMap<String, Pc>,
    /// Jumps to labels: instruction, label, and the error if there is none.
    jumps: Vec<(usize, String, TextError)>,
    hints: Vec<Option<Type>>,
    /// Line of the previous instruction.
    line: Option<u32>,
}

impl CodeParser<'_> {
    fn line(&mut self, line: &mut Line) -> Parsed<()> {
        if line.rest().starts_with('@') {
            return self.instr(line);
        }
        let start = line.at;
        let word = line.word("a declaration or an instruction")?;
        if line.rest().starts_with(':') && Op::from_name(word).is_none() {
            line.expect(":")?;
            if self
                .labels
                .insert(word.to_owned(), Pc(self.code.instrs.len() as u32))
                .is_some()
            {
                return line.error_at(start, format!("the label `{word}` is there twice"));
            }
            return Ok(());
        }
        match word {
            "file" => {
                self.code.file = line.quoted("the file's name")?;
                self.code.line = line.number()?;
            }
            "params" => self.params(line)?,
            "stack" => self.code.stacksize = line.number()?,
            "globals" => self.code.globals = line.number()?,
            "generator" => self.code.is_generator = true,
            "coroutine" => self.code.is_coroutine = true,
            "last_first" => self.code.last_first = true,
            "operators_last_first" => self.code.operators_last_first = true,
            "namespace" => self.code.optimized = false,
            "local" => self.local(line)?,
            "name" => {
                let name = line.name("a name")?;
                self.code.names.push(name);
            }
            "const" => {
                let constant = self.scope.constant(line)?;
                self.code.consts.push(constant);
            }
            "handler" => self.handler(line)?,
            _ => {
                line.at = start;
                return self.instr(line);
            }
        }
        Ok(())
    }

    fn params(&mut self, line: &mut Line) -> Parsed<()> {
        self.code.argcount = line.number()?;
        while line.eat(",") {
            if line.eat_word("kwonly") {
                self.code.kwonly = line.number()?;
            } else if line.eat_word("varargs") {
                self.code.varargs = true;
            } else if line.eat_word("varkeywords") {
                self.code.varkeywords = true;
            } else {
                return line.expected("`kwonly`, `varargs` or `varkeywords`");
            }
        }
        Ok(())
    }

    fn local(&mut self, line: &mut Line) -> Parsed<()> {
        let name = line.name("a local's name")?;
        let kind = if line.eat_word("cell") {
            LocalKind::Cell
        } else if line.eat_word("free") {
            LocalKind::Free
        } else {
            LocalKind::Local
        };
        self.code.locals.push((name, kind));
        self.hints.push(if line.eat(":") {
            Some(self.scope.ty(line)?)
        } else {
            None
        });
        Ok(())
    }

    fn handler(&mut self, line: &mut Line) -> Parsed<()> {
        let start = line.pc()?;
        line.expect("..")?;
        let end = line.pc()?;
        line.expect("->")?;
        let target = line.pc()?;
        let depth = if line.eat_word("depth") {
            line.number()?
        } else {
            0
        };
        let lasti = line.eat_word("lasti");
        self.code.handlers.push(Handler {
            start,
            end,
            target,
            depth,
            lasti,
        });
        Ok(())
    }

    fn instr(&mut self, line: &mut Line) -> Parsed<()> {
        let index = self.code.instrs.len() as u32;
        let at = line.at;
        if line.rest().starts_with('@') && line.pc()?.0 != index {
            return line.error_at(at, format!("this is instruction @{index}"));
        }
        line.space();
        let at = line.at;
        let name = line.word("an op")?;
        let Some(op) = Op::from_name(name) else {
            return line.error_at(at, format!("there is no op `{name}`"));
        };
        let arg = self.argument(op, line)?;
        let arg2 = if line.eat(",") { line.number()? } else { 0 };
        let mut hint = Vec::new();
        if line.eat_word("hint") {
            line.expect("[")?;
            while !line.eat("]") {
                hint.push(self.scope.ty(line)?);
                if !line.eat(",") && !line.rest().starts_with(']') {
                    return line.expected("`,` or `]`");
                }
            }
        }
        let items = if line.eat_word("items") {
            Some(line.hexadecimal()?)
        } else {
            None
        };
        let pos = if line.eat_word("at") {
            line.number()?
        } else {
            index
        };
        let resume = if line.eat_word("from") {
            line.number()?
        } else {
            pos
        };
        let resumable = !line.eat_word("part");
        if line.eat_word("line") {
            self.line = Some(line.number()?);
        }
        let source = self.line.unwrap_or(self.code.line);
        self.code.instrs.push(Instr {
            op,
            arg,
            arg2,
            pos,
            resume,
            resumable,
            hint,
            items,
            line: source,
        });
        Ok(())
    }

    fn argument(&mut self, op: Op, line: &mut Line) -> Parsed<u32> {
        if line.eat("#") {
            return line.number();
        }
        let at = line.at;
        match op.info().arg {
            ArgKind::None if line.rest().starts_with(|c: char| c.is_ascii_digit()) => line.number(),
            ArgKind::None => Ok(0),
            ArgKind::Count | ArgKind::Flag => line.number(),
            ArgKind::Const => line.expected("`#` and the index of a constant"),
            ArgKind::Local => self.code.read_local(line),
            ArgKind::Name => self.code.read_name(line),
            ArgKind::Target if line.rest().starts_with('@') => Ok(line.pc()?.0),
            ArgKind::Target => {
                let label = line.word("a target")?;
                let missing = line.error_at::<()>(at, format!("there is no label `{label}`"));
                if let Err(missing) = missing {
                    self.jumps
                        .push((self.code.instrs.len(), label.to_owned(), missing));
                }
                Ok(0)
            }
            ArgKind::Binary => {
                let symbols = BinaryOp::ALL
                    .iter()
                    .enumerate()
                    .map(|(i, op)| (op.symbol(), i as u32));
                let op = line.symbol(symbols, "an operator")?;
                Ok(if line.eat_here("=") { op + INPLACE } else { op })
            }
            kind @ (ArgKind::Compare
            | ArgKind::UnaryIntrinsic
            | ArgKind::BinaryIntrinsic
            | ArgKind::Conversion
            | ArgKind::FunctionAttribute
            | ArgKind::SpecialMethod) => {
                let (what, names) = kind.variants().unwrap_or_default();
                let article = if what.starts_with(['a', 'i']) {
                    "an"
                } else {
                    "a"
                };
                line.symbol(names.into_iter().zip(0..), &format!("{article} {what}"))
            }
        }
    }

    fn finish(mut self) -> Parsed<Code> {
        for (at, label, missing) in self.jumps {
            self.code.instrs[at].arg = self.labels.get(&label).ok_or(missing)?.0;
        }
        if self.hints.iter().any(Option::is_some) {
            self.code.local_hints = self
                .hints
                .into_iter()
                .map(|hint| hint.unwrap_or(Type::OBJECT))
                .collect();
        }
        Ok(self.code)
    }
}

/// Locals and names are referred to by name, if it is unique, or by `#` and the index, which need
/// not be in range.
impl Code {
    pub(crate) fn read_local(&self, line: &mut Line) -> Parsed<u32> {
        let locals = self.locals.iter().map(|local| &local.0);
        read_index(line, locals, "a local", "no local, or several, named")
    }

    pub(crate) fn read_name(&self, line: &mut Line) -> Parsed<u32> {
        read_index(line, self.names.iter(), "a name", "no name, or several,")
    }
}

fn read_index<'a>(
    line: &mut Line,
    names: impl Iterator<Item = &'a String>,
    expected: &str,
    missing: &str,
) -> Parsed<u32> {
    if line.eat("#") {
        return line.number();
    }
    let at = line.at;
    let name = line.name(expected)?;
    index_of(names, &name).map_or_else(|| line.error_at(at, format!("{missing} `{name}`")), Ok)
}

/// The index of a name that occurs once.
fn index_of<'a>(mut names: impl Iterator<Item = &'a String>, wanted: &str) -> Option<u32> {
    let index = names.by_ref().position(|name| name == wanted)?;
    names.all(|name| name != wanted).then_some(index as u32)
}
