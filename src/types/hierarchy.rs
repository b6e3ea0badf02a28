//! Classes and objects written down as text: a host that exists on paper, for tests, the shell and the law checker.
//!
//! ```text
//! # a comment
//! class MyClass
//! class MyInt(int)
//! class MyClassInt(MyInt, MyClass)          # order of lines does not matter
//! class WithMeta(metaclass=Metaclass)
//! class Slotted(MyClass, layout=own)        # no class inherits from it and from another that owns its layout
//! class Sealed(final=yes)                   # nothing inherits from it
//! object my_obj: MyClass
//! object forever: MyClass immortal
//! object an_int: int = 5                    # prints as the literal, answers to both names
//! ```
//!
//! The resolution order is the C3 linearisation. Every class is an object too, of its metaclass.

use std::collections::HashMap;

use super::handles::{ClassDesc, ClassHandle, HandleError, HostId, ObjectDesc, ObjectHandle};
use super::parse::Names;
use super::table::Predefined;

/// A hierarchy of classes and objects of its own host; closing the host with it.
#[derive(Debug)]
pub struct Hierarchy {
    host: HostId,
    classes: Vec<ClassHandle>,
    objects: Vec<ObjectHandle>,
    aliases: Vec<(String, ObjectHandle)>,
}

/// What is wrong with a hierarchy's text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {fault}")]
pub struct HierarchyError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// What is wrong.
    pub fault: HierarchyFault,
}

/// What can be wrong with a hierarchy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HierarchyFault {
    /// The line is neither a class nor an object.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What would have been right.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// The same name twice.
    #[error("`{0}` is defined already")]
    Redefined(String),
    /// A class that is not there.
    #[error("unknown class `{0}`")]
    UnknownClass(String),
    /// A class that derives from itself.
    #[error("`{0}` derives from itself")]
    Cycle(String),
    /// A class with more levels above it than are followed.
    #[error("more than {MAX_DEPTH} classes are above `{0}`")]
    TooDeep(String),
    /// No order of the bases is consistent with theirs.
    #[error("the bases of `{0}` have no consistent resolution order")]
    NoLinearisation(String),
    /// The metaclass is no class of classes.
    #[error("the metaclass `{0}` does not derive from `type`")]
    NotAMetaclass(String),
    /// Two bases ask for different metaclasses.
    #[error("the metaclasses of the bases of `{0}` conflict")]
    MetaclassConflict(String),
    /// The table of handles refuses it.
    #[error(transparent)]
    Refused(#[from] HandleError),
}

/// How many levels of classes not yet registered are followed upwards.
const MAX_DEPTH: usize = 256;

/// A class line.
struct ClassLine<'a> {
    line: usize,
    name: Word<'a>,
    bases: Vec<Word<'a>>,
    metaclass: Option<Word<'a>>,
    owns_layout: bool,
    is_final: bool,
}

/// An object line.
struct ObjectLine<'a> {
    line: usize,
    name: Word<'a>,
    class: Word<'a>,
    literal: Option<&'a str>,
    immortal: bool,
}

#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    column: usize,
}

fn fault<T>(
    line: usize,
    column: usize,
    fault: impl Into<HierarchyFault>,
) -> Result<T, HierarchyError> {
    Err(HierarchyError {
        line,
        column,
        fault: fault.into(),
    })
}

impl Hierarchy {
    /// Reads a hierarchy; its builtin classes are there already.
    pub fn parse(text: &str) -> Result<Hierarchy, HierarchyError> {
        let mut classes = Vec::new();
        let mut objects = Vec::new();
        for (index, text) in text.lines().enumerate() {
            let mut line = Line {
                number: index + 1,
                text,
                at: 0,
            };
            match () {
                () if line.at_end() => {}
                () if line.eat_word("class") => classes.push(line.class()?),
                () if line.eat_word("object") => objects.push(line.object()?),
                () => return line.expected("`class` or `object`"),
            }
        }
        Builder::new()?.build(&classes, &objects)
    }

    /// The host of the hierarchy.
    pub fn host(&self) -> HostId {
        self.host
    }

    /// The classes of the text, bases before what derives from them.
    pub fn classes(&self) -> &[ClassHandle] {
        &self.classes
    }

    /// The objects of the text, in its order.
    pub fn objects(&self) -> &[ObjectHandle] {
        &self.objects
    }

    /// The names for [`Type::parse`](super::Type::parse) and [`evaluate`](super::evaluate).
    pub fn names(&self) -> Names {
        let names = Names::of(self.host).making_literals();
        self.aliases.iter().fold(names, |names, (alias, object)| {
            names.with_alias(alias, *object)
        })
    }
}

impl Drop for Hierarchy {
    fn drop(&mut self) {
        self.host.close();
    }
}

/// One line, read from the left.
struct Line<'a> {
    number: usize,
    text: &'a str,
    at: usize,
}

impl<'a> Line<'a> {
    fn rest(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    fn column(&self) -> usize {
        self.text[..self.at].chars().count() + 1
    }

    fn expected<T>(&mut self, expected: &'static str) -> Result<T, HierarchyError> {
        let rest = self.rest();
        let found = rest
            .chars()
            .next()
            .map_or_else(|| "the end of the line".to_owned(), |c| format!("`{c}`"));
        fault(
            self.number,
            self.column(),
            HierarchyFault::Expected { expected, found },
        )
    }

    fn at_end(&mut self) -> bool {
        let rest = self.rest();
        rest.is_empty() || rest.starts_with('#')
    }

    fn end(&mut self) -> Result<(), HierarchyError> {
        if self.at_end() {
            Ok(())
        } else {
            self.expected("the end of the line")
        }
    }

    fn eat(&mut self, token: char) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len_utf8();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let rest = self.rest();
        let found = rest
            .strip_prefix(word)
            .is_some_and(|after| !after.starts_with(is_name));
        if found {
            self.at += word.len();
        }
        found
    }

    fn word(&mut self, expected: &'static str) -> Result<Word<'a>, HierarchyError> {
        let rest = self.rest();
        let column = self.column();
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        if length == 0 || rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.expected(expected);
        }
        self.at += length;
        Ok(Word {
            text: &rest[..length],
            column,
        })
    }

    fn class(&mut self) -> Result<ClassLine<'a>, HierarchyError> {
        let name = self.word("the name of a class")?;
        let mut class = ClassLine {
            line: self.number,
            name,
            bases: Vec::new(),
            metaclass: None,
            owns_layout: false,
            is_final: false,
        };
        if self.eat('(') && !self.eat(')') {
            loop {
                let word = self.word("a base class")?;
                match (self.eat('='), word.text) {
                    (false, _) => class.bases.push(word),
                    (true, "metaclass") => class.metaclass = Some(self.word("a class")?),
                    (true, "layout") if self.eat_word("own") => class.owns_layout = true,
                    (true, "layout") => return self.expected("`own`"),
                    (true, "final") if self.eat_word("yes") => class.is_final = true,
                    (true, "final") => return self.expected("`yes`"),
                    (true, _) => return self.expected("`metaclass=`, `layout=` or `final=`"),
                }
                if self.eat(')') {
                    break;
                }
                if !self.eat(',') {
                    return self.expected("`,` or `)`");
                }
            }
        }
        if self.eat(':') && !self.eat_word("pass") && !self.at_end() {
            return self.expected("`pass`");
        }
        self.end()?;
        Ok(class)
    }

    fn object(&mut self) -> Result<ObjectLine<'a>, HierarchyError> {
        let name = self.word("the name of an object")?;
        if !self.eat(':') {
            return self.expected("`:` and the object's class");
        }
        let class = self.word("the object's class")?;
        let mut object = ObjectLine {
            line: self.number,
            name,
            class,
            literal: None,
            immortal: false,
        };
        if self.eat('=') {
            object.literal = Some(self.literal()?);
        }
        self.eat(',');
        let parenthesis = self.eat('(');
        object.immortal = self.eat_word("immortal");
        if parenthesis && (!object.immortal || !self.eat(')')) {
            return self.expected("`immortal)`");
        }
        self.end()?;
        Ok(object)
    }

    fn literal(&mut self) -> Result<&'a str, HierarchyError> {
        let rest = self.rest();
        let body = rest.strip_prefix('b').unwrap_or(rest);
        let length = match body.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            Some(quote) => body[1..]
                .find(quote)
                .map(|end| rest.len() - body.len() + end + 2),
            None => Some(
                rest.find(|c: char| !is_name(c) && c != '-' && c != '+')
                    .unwrap_or(rest.len()),
            ),
        };
        match length.filter(|length| *length > 0) {
            Some(length) => {
                self.at += length;
                Ok(&rest[..length])
            }
            None => self.expected("a literal"),
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// The host being filled.
struct Builder<'a> {
    hierarchy: Hierarchy,
    by_name: HashMap<&'a str, Known>,
}

#[derive(Clone, Copy)]
struct Known {
    class: ClassHandle,
    metaclass: ClassHandle,
}

impl<'a> Builder<'a> {
    fn new() -> Result<Self, HierarchyError> {
        let host = HostId::new();
        let hierarchy = Hierarchy {
            host,
            classes: Vec::new(),
            objects: Vec::new(),
            aliases: Vec::new(),
        };
        let mut builder = Builder {
            hierarchy,
            by_name: HashMap::new(),
        };
        match builder.builtins(host) {
            Ok(()) => Ok(builder),
            Err(refused) => fault(0, 0, refused),
        }
    }

    fn builtins(&mut self, host: HostId) -> Result<(), HandleError> {
        let mut classes: Vec<(Predefined, ClassHandle)> = Vec::new();
        for row in Predefined::ALL {
            // The table lists each row after the one it derives from.
            let mut bases: Vec<_> = classes
                .iter()
                .filter(|(base, _)| row.derives_from(*base))
                .collect();
            bases.sort_by_key(|(base, _)| *base == Predefined::Object);
            let bases = bases.into_iter().map(|(_, class)| *class).collect();
            classes.push((*row, host.register_class(ClassDesc::builtin(*row, bases))?));
        }
        let Some(metaclass) = host.builtin_class(Predefined::Type) else {
            return Ok(());
        };
        for (row, class) in classes {
            self.by_name
                .insert(row.spelled(), Known { class, metaclass });
            self.as_object(class, metaclass, true)?;
        }
        Ok(())
    }

    /// A class is an object, too.
    fn as_object(
        &mut self,
        class: ClassHandle,
        metaclass: ClassHandle,
        immortal: bool,
    ) -> Result<(), HandleError> {
        let desc = ObjectDesc::new(&*class.name(), metaclass);
        self.hierarchy.host.register_object(ObjectDesc {
            immortal,
            denotes: Some(class),
            ..desc
        })?;
        Ok(())
    }

    fn build(
        mut self,
        classes: &[ClassLine<'a>],
        objects: &[ObjectLine<'a>],
    ) -> Result<Hierarchy, HierarchyError> {
        let mut lines: HashMap<&str, &ClassLine<'a>> = HashMap::new();
        for class in classes {
            let name = class.name.text;
            if self.by_name.contains_key(name) || lines.insert(name, class).is_some() {
                return fault(
                    class.line,
                    class.name.column,
                    HierarchyFault::Redefined(name.to_owned()),
                );
            }
        }
        for class in classes {
            self.class(class, &lines, &mut Vec::new())?;
        }
        for object in objects {
            self.object(object)?;
        }
        Ok(self.hierarchy)
    }

    /// The class of this name, registered with its bases if it was not yet.
    fn known(
        &mut self,
        word: Word<'a>,
        line: usize,
        lines: &HashMap<&str, &ClassLine<'a>>,
        path: &mut Vec<&'a str>,
    ) -> Result<Known, HierarchyError> {
        if let Some(known) = self.by_name.get(word.text) {
            return Ok(*known);
        }
        match lines.get(word.text) {
            _ if path.contains(&word.text) => fault(
                line,
                word.column,
                HierarchyFault::Cycle(word.text.to_owned()),
            ),
            Some(class) => self.class(class, lines, path),
            None => fault(
                line,
                word.column,
                HierarchyFault::UnknownClass(word.text.to_owned()),
            ),
        }
    }

    fn class(
        &mut self,
        line: &ClassLine<'a>,
        lines: &HashMap<&str, &ClassLine<'a>>,
        path: &mut Vec<&'a str>,
    ) -> Result<Known, HierarchyError> {
        let name = line.name.text;
        if let Some(known) = self.by_name.get(name) {
            return Ok(*known);
        }
        if path.len() >= MAX_DEPTH {
            return fault(
                line.line,
                line.name.column,
                HierarchyFault::TooDeep(name.to_owned()),
            );
        }
        path.push(name);
        let mut bases = Vec::new();
        for base in &line.bases {
            bases.push(self.known(*base, line.line, lines, path)?);
        }
        if bases.is_empty() {
            bases.push(self.known(
                Word {
                    text: "object",
                    column: 1,
                },
                line.line,
                lines,
                path,
            )?);
        }
        let declared = match line.metaclass {
            Some(word) => Some(self.known(word, line.line, lines, path)?.class),
            None => None,
        };
        path.pop();
        let here = |what| HierarchyError {
            line: line.line,
            column: line.name.column,
            fault: what,
        };
        if let (Some(class), Some(word)) = (declared, line.metaclass)
            && class.predefined() != Some(Predefined::Type)
        {
            return fault(
                line.line,
                word.column,
                HierarchyFault::NotAMetaclass(word.text.to_owned()),
            );
        }
        let metaclass = most_derived(
            declared
                .into_iter()
                .chain(bases.iter().map(|base| base.metaclass)),
        )
        .ok_or_else(|| here(HierarchyFault::MetaclassConflict(name.to_owned())))?;
        let direct: Vec<_> = bases.iter().map(|base| base.class).collect();
        let bases_mro = linearise(&direct)
            .ok_or_else(|| here(HierarchyFault::NoLinearisation(name.to_owned())))?;
        let rows = bases_mro.iter().filter_map(|base| base.predefined());
        let predefined = rows
            .reduce(|a, b| if b.derives_from(a) { b } else { a })
            .unwrap_or(Predefined::Object);
        let desc = ClassDesc {
            owns_layout: line.owns_layout,
            is_final: line.is_final,
            ..ClassDesc::new(name, bases_mro, predefined)
        };
        let class = self
            .hierarchy
            .host
            .register_class(desc)
            .map_err(|refused| here(refused.into()))?;
        self.as_object(class, metaclass, false)
            .map_err(|refused| here(refused.into()))?;
        self.hierarchy.classes.push(class);
        let known = Known { class, metaclass };
        self.by_name.insert(name, known);
        Ok(known)
    }

    fn object(&mut self, line: &ObjectLine<'a>) -> Result<(), HierarchyError> {
        let name = line.name.text;
        let taken = self.by_name.contains_key(name)
            || self
                .hierarchy
                .aliases
                .iter()
                .any(|(alias, _)| alias == name);
        if taken {
            return fault(
                line.line,
                line.name.column,
                HierarchyFault::Redefined(name.to_owned()),
            );
        }
        let Some(known) = self.by_name.get(line.class.text) else {
            return fault(
                line.line,
                line.class.column,
                HierarchyFault::UnknownClass(line.class.text.to_owned()),
            );
        };
        let desc = ObjectDesc::new(line.literal.unwrap_or(name), known.class);
        let registered = self.hierarchy.host.register_object(ObjectDesc {
            immortal: line.immortal,
            ..desc
        });
        let object = registered.or_else(|refused| fault(line.line, line.name.column, refused))?;
        self.hierarchy.objects.push(object);
        self.hierarchy.aliases.push((name.to_owned(), object));
        Ok(())
    }
}

/// The class that derives from all the others, if one does.
fn most_derived(classes: impl Iterator<Item = ClassHandle>) -> Option<ClassHandle> {
    let classes: Vec<_> = classes.collect();
    classes
        .iter()
        .copied()
        .find(|class| classes.iter().all(|other| class.is_subclass_of(*other)))
}

/// The C3 linearisation of a class with these bases, without the class.
fn linearise(bases: &[ClassHandle]) -> Option<Vec<ClassHandle>> {
    let mut queues: Vec<Vec<ClassHandle>> = bases
        .iter()
        .map(|base| {
            std::iter::once(*base)
                .chain(base.mro().iter().copied())
                .collect()
        })
        .collect();
    queues.push(bases.to_vec());
    let mut order = Vec::new();
    loop {
        queues.retain(|queue| !queue.is_empty());
        if queues.is_empty() {
            return Some(order);
        }
        let heads = queues.iter().filter_map(|queue| queue.first().copied());
        let next = heads
            .into_iter()
            .find(|head| !queues.iter().any(|queue| queue[1..].contains(head)))?;
        order.push(next);
        queues
            .iter_mut()
            .for_each(|queue| queue.retain(|class| *class != next));
    }
}
