//! Classes and objects written as text: a simulated host, for tests, the shell and the law checker.
//!
//! ```text
//! # a comment
//! class MyClass
//! class MyInt(int)
//! class MyClassInt(MyInt, MyClass)          # order of lines does not matter
//! class WithMeta(metaclass=Metaclass)
//! class Slotted(MyClass, layout=own)        # no class inherits from it and another layout owner
//! class Sealed(final=yes)                   # no class inherits from it
//! object my_obj: MyClass
//! object forever: MyClass immortal
//! object an_int: int = 5                    # prints as the literal, has both names
//! ```
//!
//! The resolution order is the C3 linearisation. Every class is an object too, of its metaclass.

mod build;
mod lines;

use super::handles::{ClassHandle, HandleError, HostId, ObjectHandle};
use super::parse::Names;
use build::{Builder, MAX_DEPTH};
use lines::Line;

/// A hierarchy of classes and objects of its own host. Dropping it closes the host.
#[derive(Debug)]
pub struct Hierarchy {
    host: HostId,
    classes: Vec<ClassHandle>,
    objects: Vec<ObjectHandle>,
    aliases: Vec<(String, ObjectHandle)>,
}

/// A fault in a hierarchy's text, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {fault}")]
pub struct HierarchyError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The fault.
    pub fault: HierarchyFault,
}

/// A fault in a hierarchy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HierarchyFault {
    /// The line is neither a class nor an object.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The expected text.
        expected: &'static str,
        /// The actual text.
        found: String,
    },
    /// A repeated name.
    #[error("`{0}` is defined already")]
    Redefined(String),
    /// An unknown class.
    #[error("unknown class `{0}`")]
    UnknownClass(String),
    /// A class that derives from itself.
    #[error("`{0}` derives from itself")]
    Cycle(String),
    /// A class with more levels of bases than the limit.
    #[error("more than {MAX_DEPTH} classes are above `{0}`")]
    TooDeep(String),
    /// No order of the bases is consistent with theirs.
    #[error("the bases of `{0}` have no consistent resolution order")]
    NoLinearisation(String),
    /// The metaclass does not derive from `type`.
    #[error("the metaclass `{0}` does not derive from `type`")]
    NotAMetaclass(String),
    /// Two bases require different metaclasses.
    #[error("the metaclasses of the bases of `{0}` conflict")]
    MetaclassConflict(String),
    /// The table of handles refuses it.
    #[error(transparent)]
    Refused(#[from] HandleError),
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
    /// Reads a hierarchy, to which the builtin classes are added.
    pub fn parse(text: &str) -> Result<Hierarchy, HierarchyError> {
        let mut classes = Vec::new();
        let mut objects = Vec::new();
        for (index, text) in text.lines().enumerate() {
            let mut line = Line::new(index + 1, text);
            if line.at_end() {
            } else if line.eat_word("class") {
                classes.push(line.class()?)
            } else if line.eat_word("object") {
                objects.push(line.object()?)
            } else {
                return line.expected("`class` or `object`");
            }
        }
        Builder::new()?.build(&classes, &objects)
    }

    /// The host of the hierarchy.
    pub fn host(&self) -> HostId {
        self.host
    }

    /// The classes of the text, bases before derived classes.
    pub fn classes(&self) -> &[ClassHandle] {
        &self.classes
    }

    /// The objects of the text, in its order.
    pub fn objects(&self) -> &[ObjectHandle] {
        &self.objects
    }

    /// The names for [`Type::parse`](super::Type::parse) and `evaluate`.
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
