//! Reads the text form of bytecode back; see [`super::text`] for how it looks. Every error has its line and column.

use super::text::print_document;
use super::{
    ArgKind, BinaryOp, Code, CompareOp, Const, ConstValue, Handler, INPLACE, Instr, LocalKind, Op,
    Pc,
};
use crate::types::{
    ClassDesc, ClassHandle, Hierarchy, HostId, Names, ObjectDesc, ObjectHandle, Predefined, Type,
};
use std::collections::HashMap;

/// A text that is no bytecode, and where it stops being some.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

type Parsed<T> = Result<T, TextError>;

/// Codes with the classes and objects they name, in a host that exists on paper only and ends with the document.
#[derive(Debug)]
pub struct Document {
    /// The codes.
    pub codes: Vec<Code>,
    hierarchy: Hierarchy,
}

impl Document {
    /// Reads what [`Document::print`] gives. Labels with a number (`tuple#3`) may have another number afterwards.
    ///
    /// # Errors
    /// A [`TextError`] says where.
    pub fn parse(text: &str) -> Parsed<Document> {
        let hierarchy = Hierarchy::parse("").map_err(|fault| TextError {
            line: 1,
            column: 1,
            message: format!("no host on paper: {fault}"),
        })?;
        let mut scope = Scope::new(hierarchy.host(), hierarchy.names());
        let mut lines = Lines::new(text);
        let mut codes = Vec::new();
        while let Some(mut line) = lines.next() {
            match () {
                () if line.eat_word("class") => scope.class(&mut line)?,
                () if line.eat_word("object") => scope.object(&mut line)?,
                () if line.eat_word("code") => codes.push(code(&mut line, &mut lines, &scope)?),
                () => return line.expected("`class`, `object` or `code`"),
            }
        }
        Ok(Document { codes, hierarchy })
    }

    /// The codes as text, with all the classes and objects that they name.
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
    /// A [`TextError`] says where.
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
        let code = code(&mut line, &mut lines, &scope)?;
        match lines.next() {
            Some(mut line) => line.expected("the end"),
            None => Ok(code),
        }
    }
}

/// What names stand for.
struct Scope {
    host: HostId,
    names: Names,
    /// Classes and objects of the text, by how it prints them. The host may have given them other labels, and these
    /// labels to others: numbers count what was registered before.
    classes: HashMap<String, ClassHandle>,
    objects: HashMap<String, ObjectHandle>,
}

impl Scope {
    fn new(host: HostId, names: Names) -> Scope {
        let builtins = Predefined::ALL.iter().filter_map(|row| {
            let class = host.builtin_class(*row)?;
            Some((class.label()?.to_string(), class))
        });
        Scope {
            host,
            names,
            classes: builtins.collect(),
            objects: HashMap::new(),
        }
    }

    /// `"name": Row (base, ...) final = label`, or `builtin Row = label`
    fn class(&mut self, line: &mut Line) -> Parsed<()> {
        let start = line.at;
        if line.eat_word("builtin") {
            let row = predefined(line)?;
            line.expect("=")?;
            return match self.host.builtin_class(row) {
                Some(class) => self.declare(line.remainder(), class),
                None => line.error_at(start, "the host has no such class"),
            };
        }
        let name = line.quoted("the class's name")?;
        line.expect(":")?;
        let predefined = predefined(line)?;
        line.expect("(")?;
        let mut bases = Vec::new();
        while !line.eat(")") {
            bases.push(self.known(line)?);
            if !line.eat(",") && !line.rest().starts_with(')') {
                return line.expected("`,` or `)`");
            }
        }
        let is_final = line.eat_word("final");
        line.expect("=")?;
        let label = line.remainder();
        let desc = ClassDesc {
            is_final,
            ..ClassDesc::new(name, bases, predefined)
        };
        match self.host.register_class(desc) {
            Ok(class) => self.declare(label, class),
            Err(refused) => line.error_at(start, refused.to_string()),
        }
    }

    fn declare(&mut self, label: &str, class: ClassHandle) -> Parsed<()> {
        self.classes.insert(label.to_owned(), class);
        self.objects.remove(label);
        Ok(())
    }

    /// `"name": class immortal denotes class = label`
    fn object(&mut self, line: &mut Line) -> Parsed<()> {
        let start = line.at;
        let name = line.quoted("the object's name")?;
        line.expect(":")?;
        let class = self.known(line)?;
        let immortal = line.eat_word("immortal");
        let denotes = if line.eat_word("denotes") {
            Some(self.known(line)?)
        } else {
            None
        };
        line.expect("=")?;
        let label = line.remainder();
        let known = match denotes {
            Some(denoted) => denoted.as_object(),
            None if class.predefined() == Some(Predefined::NoneType) => self.host.none_object(),
            None => None,
        };
        let desc = ObjectDesc {
            immortal,
            denotes,
            ..ObjectDesc::new(name, class)
        };
        match known.map_or_else(|| self.host.register_object(desc), Ok) {
            Ok(object) => {
                if denotes.is_none() {
                    // The host of the text may not have met the builtin class of this name.
                    self.classes.remove(label);
                    self.objects.insert(label.to_owned(), object);
                }
                Ok(())
            }
            Err(refused) => line.error_at(start, refused.to_string()),
        }
    }

    fn known(&self, line: &mut Line) -> Parsed<ClassHandle> {
        line.space();
        let at = line.at;
        let label = line.label();
        match self.classes.get(label) {
            Some(class) => Ok(*class),
            None => line.error_at(at, format!("unknown class `{label}`")),
        }
    }

    fn ty(&self, line: &mut Line) -> Parsed<Type> {
        line.space();
        let at = line.at;
        let text = line.type_text();
        let relabelled = self.relabel(text);
        match Type::parse(relabelled.as_deref().unwrap_or(text), &self.names) {
            Ok(ty) => Ok(ty),
            Err(error) => {
                // Columns of a text with another label in it would not be those of the line.
                let columns = if relabelled.is_some() {
                    0
                } else {
                    error.column - 1
                };
                let into: usize = text.chars().take(columns).map(char::len_utf8).sum();
                line.error_at(at + into, error.message)
            }
        }
    }

    /// The type's text with the label that the host has given to what the text's label stands for, if that is another.
    fn relabel(&self, text: &str) -> Option<String> {
        let start = text.find('[')? + 1;
        let length = label_length(&text[start..]);
        let printed = text[start..start + length].trim_end();
        let class = self.classes.get(printed).and_then(|class| class.label());
        let label = class
            .or_else(|| self.objects.get(printed)?.label())
            .filter(|label| **label != *printed)?;
        Some(format!(
            "{}{label}{}",
            &text[..start],
            &text[start + length..]
        ))
    }

    /// A constant: a literal, a type that is one object, or that and the object's value.
    fn constant(&self, line: &mut Line) -> Parsed<Const> {
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

    /// The object of a literal.
    fn make(&self, value: &ConstValue) -> Option<ObjectHandle> {
        let row = match value {
            ConstValue::None => Predefined::NoneType,
            ConstValue::Bool(_) => Predefined::Bool,
            ConstValue::Int(_) => Predefined::Long,
            ConstValue::Float(_) => Predefined::Float,
            ConstValue::Str(_) => Predefined::Unicode,
            ConstValue::Other => return None,
        };
        if let (Predefined::NoneType, Some(none)) = (row, self.host.none_object()) {
            return Some(none);
        }
        let class = self.host.builtin_class(row)?;
        let immortal = matches!(row, Predefined::NoneType | Predefined::Bool);
        self.host
            .register_object(ObjectDesc {
                immortal,
                ..ObjectDesc::new(value.to_string(), class)
            })
            .ok()
    }
}

fn predefined(line: &mut Line) -> Parsed<Predefined> {
    line.space();
    let at = line.at;
    let row = line.word("a predefined type")?;
    let found = Predefined::ALL
        .iter()
        .copied()
        .find(|predefined| predefined.name() == row);
    found.map_or_else(
        || line.error_at(at, format!("there is no predefined class `{row}`")),
        Ok,
    )
}

/// A code, of which the word `code` has been read.
fn code(line: &mut Line, lines: &mut Lines, scope: &Scope) -> Parsed<Code> {
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
    /// Line of the instruction before.
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
            match () {
                () if line.eat_word("kwonly") => self.code.kwonly = line.number()?,
                () if line.eat_word("varargs") => self.code.varargs = true,
                () if line.eat_word("varkeywords") => self.code.varkeywords = true,
                () => return line.expected("`kwonly`, `varargs` or `varkeywords`"),
            }
        }
        Ok(())
    }

    fn local(&mut self, line: &mut Line) -> Parsed<()> {
        let name = line.name("a local's name")?;
        let kind = match () {
            () if line.eat_word("cell") => LocalKind::Cell,
            () if line.eat_word("free") => LocalKind::Free,
            () => LocalKind::Local,
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
            ArgKind::Local => {
                let name = line.name("a local")?;
                index_of(self.code.locals.iter().map(|local| &local.0), &name).map_or_else(
                    || line.error_at(at, format!("no local, or several, named `{name}`")),
                    Ok,
                )
            }
            ArgKind::Name => {
                let name = line.name("a name")?;
                index_of(self.code.names.iter(), &name).map_or_else(
                    || line.error_at(at, format!("no name, or several, `{name}`")),
                    Ok,
                )
            }
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
            ArgKind::Compare => line.symbol(
                CompareOp::ALL
                    .iter()
                    .enumerate()
                    .map(|(i, op)| (op.symbol(), i as u32)),
                "a comparison",
            ),
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

/// The index of a name that is there once.
fn index_of<'a>(mut names: impl Iterator<Item = &'a String>, wanted: &str) -> Option<u32> {
    let index = names.by_ref().position(|name| name == wanted)?;
    names.all(|name| name != wanted).then_some(index as u32)
}

/// The lines that say something.
struct Lines<'a> {
    lines: std::str::Lines<'a>,
    number: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Lines<'a> {
        Lines {
            lines: text.lines(),
            number: 0,
        }
    }

    fn next(&mut self) -> Option<Line<'a>> {
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
struct Line<'a> {
    text: &'a str,
    line: usize,
    at: usize,
}

impl<'a> Line<'a> {
    fn error_at<T>(&self, at: usize, message: impl Into<String>) -> Parsed<T> {
        let column = self.text[..at].chars().count() + 1;
        Err(TextError {
            line: self.line,
            column,
            message: message.into(),
        })
    }

    fn expected<T>(&mut self, expected: &str) -> Parsed<T> {
        let found = match self.rest().chars().next() {
            Some(c) => format!("`{c}`"),
            None => "the end of the line".to_owned(),
        };
        self.error_at(self.at, format!("expected {expected}, found {found}"))
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
    }

    fn rest(&mut self) -> &'a str {
        self.space();
        &self.text[self.at..]
    }

    fn at_end(&mut self) -> bool {
        let rest = self.rest();
        rest.is_empty() || rest.starts_with(';')
    }

    fn end(&mut self) -> Parsed<()> {
        if self.at_end() {
            Ok(())
        } else {
            self.expected("the end of the line")
        }
    }

    /// What is left of the line, without the space around it.
    fn remainder(&mut self) -> &'a str {
        let rest = self.rest().trim_end();
        self.at = self.text.len();
        rest
    }

    fn eat(&mut self, token: &str) -> bool {
        self.space();
        self.eat_here(token)
    }

    /// Takes the token where it follows without space.
    fn eat_here(&mut self, token: &str) -> bool {
        let found = self.text[self.at..].starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Parsed<()> {
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

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.word_here() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    fn word(&mut self, expected: &str) -> Parsed<&'a str> {
        let word = self.word_here();
        if word.is_empty() {
            return self.expected(expected);
        }
        self.at += word.len();
        Ok(word)
    }

    /// A plain word, or one in quotes.
    fn name(&mut self, expected: &str) -> Parsed<String> {
        if self.rest().starts_with('"') {
            self.quoted(expected)
        } else {
            Ok(self.word(expected)?.to_owned())
        }
    }

    fn number<N: std::str::FromStr>(&mut self) -> Parsed<N> {
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

    fn pc(&mut self) -> Parsed<Pc> {
        self.expect("@")?;
        if !self.text[self.at..].starts_with(|c: char| c.is_ascii_digit()) {
            return self.error_at(self.at, "expected the number of an instruction");
        }
        self.number().map(Pc)
    }

    /// The longest of the symbols that stands here.
    fn symbol(
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
    fn quoted(&mut self, expected: &str) -> Parsed<String> {
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

    /// A literal, if one stands here.
    fn literal(&mut self) -> Parsed<Option<ConstValue>> {
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

    /// A class's label: up to a space, comma or parenthesis, but text between backticks whole.
    fn label(&mut self) -> &'a str {
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

    /// A type's text: up to a space, comma or bracket that is not its own.
    fn type_text(&mut self) -> &'a str {
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

/// How long what is between a type's brackets is, the closing one included.
fn specialization_length(text: &str) -> usize {
    let label = label_length(text);
    text[label..]
        .find(']')
        .map_or(text.len(), |close| label + close + 1)
}

/// How long the label at the start of a type's brackets is: up to `:` or the end, but quoted text whole.
fn label_length(text: &str) -> usize {
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
