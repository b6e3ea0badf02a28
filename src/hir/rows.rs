//! The columns of a row of the HIR op table: operands, result, exit, purity, and the memory that
//! the op reads and writes.
//!
//! A row has a cell in each column ([`Row`]); there are no defaults, so an op that leaves one out
//! does not build. The constants in [`cells`] are the words that rows are written with.

use crate::bytecode::{GeneralInfo, GeneralOp, Gives, Reason};
use crate::types::Type;

/// A row of the op table.
#[derive(Debug)]
pub struct Row {
    /// The name in the text form.
    pub name: &'static str,
    /// The operands that the op always has.
    pub operands: &'static [Operand],
    /// The operands that may follow them.
    pub rest: Rest,
    /// The relation of the result to the operands.
    pub form: Form,
    /// The reference that the result comes with.
    pub reference: Reference,
    /// The type of the result.
    pub rule: Rule,
    /// The reason why the op exits to the interpreter, if it may.
    pub exit: Exit,
    /// The effects on user code: the op raises, or runs arbitrary user code.
    pub code: UserCode,
    /// The fate of the op if its result is not used: removed, or kept.
    pub unused: Unused,
    /// The result of a second op with equal operands: the same, or another one.
    pub again: Again,
    /// The memory that the result (or the exit) depends on.
    pub reads: Memory,
    /// The memory that the op changes.
    pub writes: Memory,
}

/// An operand of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The operand's type lies within this one.
    pub ty: Type,
    /// True if the op takes over the operand's reference. Otherwise the operand is borrowed (if it
    /// is an object at all), and its owner drops it later.
    pub is_taken: bool,
}

/// Operands after the fixed ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rest {
    /// There are none.
    None,
    /// At most one.
    One(Operand),
    /// Any number.
    Many(Operand),
}

/// The relation of a result to the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A value of the op's own, or no value.
    Value,
    /// The first operand, of which the op (or a check before it) has proved a fact.
    Checked,
    /// The first operand, which the op marks for the instructions that use it.
    Same,
    /// The object of a raw value. It is virtual: lowering allocates it where an instruction needs
    /// the object.
    Box,
    /// A virtual object with fields. Only an exit materialises it.
    VirtualObject,
    /// A virtual object with fields, or a constant: the first operand selects it.
    VirtualEither,
    /// A virtual iterator: only stacks of frame states name it.
    VirtualIterator,
}

/// The reference that a result comes with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reference {
    /// None: the result is a C value, null, or virtual, or there is no result.
    None,
    /// The result is an object that another owner keeps alive.
    Borrowed,
    /// The result is a new reference, which must be dropped or taken over.
    Owned,
}

/// The rule for the type of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// There is no result; its type is `Bottom`.
    Nothing,
    /// This type.
    Is(Type),
    /// The type with which the instruction was created, which lies within this one.
    Within(Type),
    /// The type of the first operand.
    Operand,
    /// The type of the first operand, as far as it lies within the immediate.
    Narrowed,
    /// The type of the first operand without null.
    Bound,
    /// The type by the language's rules ([`super::typing::general`]), or the type with which the
    /// instruction was created if that is more precise.
    Language,
}

/// The reason why an op exits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// It does not.
    Never,
    /// The compiled code does not handle the case; the interpreter does, without raising.
    On(Reason),
    /// The interpreter may raise there.
    Failing(Reason),
    /// The immediate is the reason.
    Given,
}

/// Code of the host and arbitrary user code that an op may run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UserCode {
    /// None, and the op does not raise.
    Quiet,
    /// The op may raise, but runs no user code.
    Raises,
    /// Arbitrary user code may run (or the op makes its effects visible), but the op does not
    /// raise: a destructor.
    Runs,
    /// Arbitrary user code may run, and the op may raise.
    RunsAndRaises,
}

/// The fate of an op whose result is not used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unused {
    /// It is removed.
    Goes,
    /// It is kept: it has an effect, or other instructions rely on its exit.
    Stays,
}

/// The result of a second op with equal operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Again {
    /// The same, unless memory that the op reads was written in between.
    Same,
    /// Another one: a new object, or one that depends on the place of the instruction.
    Anew,
}

/// A set of memory classes. A write by one op invalidates the result of another op that reads the
/// same class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Memory(u16);

macro_rules! memory_classes {
    ($($(#[$doc:meta])* $name:ident = $word:literal;)*) => {
        // The variants number the constants below and have their names.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u16)]
        enum Class { $($name),* }

        impl Memory {
            /// None.
            pub const NOTHING: Memory = Memory(0);
            /// Every class.
            pub const ALL: Memory = Memory(0 $(| 1 << Class::$name as u16)*);
            $($(#[$doc])* pub const $name: Memory = Memory(1 << Class::$name as u16);)*

            const WORDS: &[(Memory, &str)] = &[$((Memory::$name, $word)),*];
        }
    };
}

memory_classes! {
    /// The frame's slots.
    SLOTS = "slots";
    /// Reference counts.
    COUNTS = "counts";
    /// Pending work, the unit's validity, and whether an object was finalised.
    STATE = "state";
    /// The state of iterators.
    ITERATORS = "iterators";
    /// The thread that the unit runs on.
    THREAD = "thread";
    /// The classes of instances.
    CLASSES = "classes";
    /// Items of lists.
    ITEMS = "items";
    /// Lengths of lists and of arrays, and the addresses of their items.
    LENGTHS = "lengths";
    /// Items of arrays, which are raw.
    RAW_ITEMS = "raw_items";
    /// Contents of cells.
    CELLS = "cells";
    /// Attributes of objects, and the memory of objects and classes that the host's checks read.
    ATTRIBUTES = "attributes";
    /// Values of names in namespaces.
    NAMES = "names";
}

impl Memory {
    /// The memory of which [`crate::opt`] keeps known contents, as far as the host's own code
    /// writes it. Only user code assigns classes, and the thread changes only across a call.
    pub const WRITABLE: Memory = Memory::ITEMS
        .and(Memory::LENGTHS)
        .and(Memory::RAW_ITEMS)
        .and(Memory::CELLS)
        .and(Memory::ATTRIBUTES)
        .and(Memory::NAMES);

    /// Both sets.
    pub const fn and(self, other: Memory) -> Memory {
        Memory(self.0 | other.0)
    }

    /// The classes that are in both sets.
    pub const fn within(self, other: Memory) -> Memory {
        Memory(self.0 & other.0)
    }

    /// This set without the other one.
    pub const fn without(self, other: Memory) -> Memory {
        Memory(self.0 & !other.0)
    }

    /// Returns true if the set is empty.
    pub const fn is_nothing(self) -> bool {
        self.0 == 0
    }

    /// Returns true if the sets have a class in common.
    pub const fn meets(self, other: Memory) -> bool {
        self.0 & other.0 != 0
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = Memory::WORDS.iter().filter(|row| self.meets(row.0));
        f.debug_set().entries(words.map(|row| row.1)).finish()
    }
}

impl Row {
    /// Returns true if the op may have so many operands.
    pub fn takes(&self, count: usize) -> bool {
        let fixed = self.operands.len();
        match self.rest {
            Rest::None => count == fixed,
            Rest::One(_) => (fixed..=fixed + 1).contains(&count),
            Rest::Many(_) => count >= fixed,
        }
    }

    /// The operand at an index, of a row that [`takes`](Self::takes) it.
    pub fn operand(&self, index: usize) -> Operand {
        match (self.operands.get(index), self.rest) {
            (Some(operand), _) => *operand,
            (None, Rest::One(operand) | Rest::Many(operand)) => operand,
            (None, Rest::None) => panic!("`{}` has no operand {index}", self.name),
        }
    }

    /// Returns true if the op may raise.
    pub fn raises(&self) -> bool {
        matches!(self.code, UserCode::Raises | UserCode::RunsAndRaises)
    }

    /// Returns true if arbitrary user code may run.
    pub fn runs_host_code(&self) -> bool {
        matches!(self.code, UserCode::Runs | UserCode::RunsAndRaises)
    }

    /// The row of a general operation, from its row in the bytecode's table: it may access all
    /// memory that the helper may access.
    const fn general(info: &'static GeneralInfo) -> Row {
        const BORROWED: Operand = cells::operand::OPTIONAL;
        const TAKEN: Operand = cells::operand::OPTIONAL_TAKEN;
        const OPERANDS: &[Operand] = &[BORROWED; 8];
        let (reference, rule) = match info.gives {
            Gives::Object => (Reference::Owned, Rule::Language),
            Gives::Nothing | Gives::Bool | Gives::Next => (Reference::None, Rule::Language),
        };
        let runs = !info.quiet;
        Row {
            name: info.name,
            operands: OPERANDS.split_at(info.operands as usize).0,
            rest: if info.variadic {
                Rest::Many(TAKEN)
            } else {
                Rest::None
            },
            form: Form::Value,
            reference,
            rule,
            exit: Exit::Never,
            code: match (runs, info.raises) {
                (true, true) => UserCode::RunsAndRaises,
                (true, false) => UserCode::Runs,
                (false, true) => UserCode::Raises,
                (false, false) => UserCode::Quiet,
            },
            unused: Unused::Stays,
            again: Again::Anew,
            reads: Memory::ALL,
            writes: if runs {
                Memory::ALL
            } else {
                Memory::ALL.without(Memory::CLASSES).without(Memory::THREAD)
            },
        }
    }
}

/// The rows of the general operations.
pub(super) static GENERAL: [Row; GeneralOp::ALL.len()] = {
    let mut rows = [const { Row::general(GeneralOp::ALL[0].info()) }; GeneralOp::ALL.len()];
    let mut i = 0;
    while i < rows.len() {
        rows[i] = Row::general(GeneralOp::ALL[i].info());
        i += 1;
    }
    rows
};

/// The words that rows are written with.
#[allow(non_upper_case_globals)]
pub(super) mod cells {
    /// Operands.
    pub mod operand {
        use super::super::Operand;
        use crate::types::Type;

        const fn borrowed(ty: Type) -> Operand {
            Operand {
                ty,
                is_taken: false,
            }
        }

        const fn taken(ty: Type) -> Operand {
            Operand { ty, is_taken: true }
        }

        /// A C integer.
        pub const INT: Operand = borrowed(Type::CINT64);
        /// A C double.
        pub const DOUBLE: Operand = borrowed(Type::CDOUBLE);
        /// A C truth value.
        pub const TRUTH: Operand = borrowed(Type::CBOOL);
        /// A C value.
        pub const RAW: Operand = borrowed(Type::PRIMITIVE);
        /// An object.
        pub const OBJECT: Operand = borrowed(Type::OBJECT);
        /// An object, of which the reference is taken over.
        pub const TAKEN: Operand = taken(Type::OBJECT);
        /// An object or null.
        pub const OPTIONAL: Operand = borrowed(Type::OBJECT.opt());
        /// An object or null, of which the reference is taken over.
        pub const OPTIONAL_TAKEN: Operand = taken(Type::OBJECT.opt());
        /// Any value.
        pub const ANY: Operand = borrowed(Type::TOP);
        /// Any value, of which the reference, if it has one, is taken over.
        pub const ANY_TAKEN: Operand = taken(Type::TOP);
        /// An exact int.
        pub const LONG: Operand = borrowed(Type::LONG_EXACT);
        /// An exact float.
        pub const FLOAT: Operand = borrowed(Type::FLOAT_EXACT);
        /// A bool.
        pub const BOOL: Operand = borrowed(Type::BOOL);
        /// An exact list.
        pub const LIST: Operand = borrowed(Type::LIST_EXACT);
        /// An exact tuple.
        pub const TUPLE: Operand = borrowed(Type::TUPLE_EXACT);
        /// An exact string.
        pub const STRING: Operand = borrowed(Type::UNICODE_EXACT);
        /// A range.
        pub const RANGE: Operand = borrowed(Type::RANGE);
    }

    /// Rules for the types of results.
    pub mod rule {
        use super::super::Rule;
        use crate::types::Type;

        /// No result.
        pub const NOTHING: Rule = Rule::Nothing;
        /// A C integer.
        pub const INT: Rule = Rule::Is(Type::CINT64);
        /// A C double.
        pub const DOUBLE: Rule = Rule::Is(Type::CDOUBLE);
        /// A C truth value.
        pub const TRUTH: Rule = Rule::Is(Type::CBOOL);
        /// Null.
        pub const NULL: Rule = Rule::Is(Type::NULLPTR);
        /// A C value.
        pub const RAW: Rule = Rule::Within(Type::PRIMITIVE);
        /// An object.
        pub const OBJECT: Rule = Rule::Within(Type::OBJECT);
        /// An object or null.
        pub const OPTIONAL: Rule = Rule::Within(Type::OBJECT.opt());
        /// Any value.
        pub const ANY: Rule = Rule::Within(Type::TOP);
        /// An exact int.
        pub const LONG: Rule = Rule::Within(Type::LONG_EXACT);
        /// An exact float.
        pub const FLOAT: Rule = Rule::Within(Type::FLOAT_EXACT);
        /// A bool.
        pub const BOOL: Rule = Rule::Within(Type::BOOL);
        /// An exact int or null.
        pub const LONG_IF: Rule = Rule::Within(Type::LONG_EXACT.opt());
        /// An exact float or null.
        pub const FLOAT_IF: Rule = Rule::Within(Type::FLOAT_EXACT.opt());
        /// An exact list.
        pub const LIST: Rule = Rule::Within(Type::LIST_EXACT);
        /// An exact string.
        pub const STRING: Rule = Rule::Within(Type::UNICODE_EXACT);
        /// The first operand's type.
        pub const OPERAND: Rule = Rule::Operand;
        /// The same within the immediate.
        pub const NARROWED: Rule = Rule::Narrowed;
        /// The same without null.
        pub const BOUND: Rule = Rule::Bound;
    }

    /// Forms of results.
    pub mod form {
        use super::super::Form;

        pub const value: Form = Form::Value;
        pub const checked: Form = Form::Checked;
        pub const same: Form = Form::Same;
        pub const boxed: Form = Form::Box;
        pub const virtual_object: Form = Form::VirtualObject;
        pub const virtual_either: Form = Form::VirtualEither;
        pub const virtual_iterator: Form = Form::VirtualIterator;
    }

    /// References of results.
    pub mod reference {
        use super::super::Reference;

        pub const none: Reference = Reference::None;
        pub const borrowed: Reference = Reference::Borrowed;
        pub const owned: Reference = Reference::Owned;
    }

    /// User code.
    pub mod code {
        use super::super::UserCode;

        pub const quiet: UserCode = UserCode::Quiet;
        pub const raises: UserCode = UserCode::Raises;
        pub const runs: UserCode = UserCode::Runs;
        pub const runs_and_raises: UserCode = UserCode::RunsAndRaises;
    }

    /// Unused results.
    pub mod unused {
        use super::super::Unused;

        pub const goes: Unused = Unused::Goes;
        pub const stays: Unused = Unused::Stays;
    }

    /// Equal ops.
    pub mod again {
        use super::super::Again;

        pub const same: Again = Again::Same;
        pub const anew: Again = Again::Anew;
    }
}

#[cfg(test)]
mod tests {
    use super::super::ops::Op;
    use super::*;

    #[test]
    fn the_cells_of_each_row_agree() {
        for row in Op::ROWS.iter().chain(&GENERAL) {
            let name = row.name;
            let acts = !row.writes.is_nothing() || row.code != UserCode::Quiet;
            let fails = matches!(row.exit, Exit::Failing(_) | Exit::Given);
            if acts || fails {
                assert_eq!(row.unused, Unused::Stays, "{name} does something");
            }
            if row.runs_host_code() {
                assert_eq!(
                    row.writes,
                    Memory::ALL,
                    "user code writes all that {name} may"
                );
            } else {
                assert!(!row.writes.meets(Memory::CLASSES), "{name} assigns a class");
            }
            if row.again == Again::Same {
                assert!(row.writes.is_nothing(), "{name} changes what it reads");
                assert_ne!(
                    row.reference,
                    Reference::Owned,
                    "{name} gives a new reference"
                );
            }
            let is_raw = match row.rule {
                Rule::Nothing => true,
                Rule::Is(ty) | Rule::Within(ty) => ty <= Type::PRIMITIVE,
                Rule::Operand | Rule::Narrowed | Rule::Bound | Rule::Language => false,
            };
            if is_raw {
                assert_eq!(row.reference, Reference::None, "{name} gives no object");
            }
            if matches!(row.form, Form::Checked | Form::Same) {
                assert!(!row.operands.is_empty(), "{name} gives its first operand");
            }
        }
    }

    #[test]
    fn no_two_ops_have_one_name() {
        let mut names: Vec<&str> = Op::ROWS.iter().map(|row| row.name).collect();
        names.extend(GENERAL.iter().map(|row| row.name));
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
