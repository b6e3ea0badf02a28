//! Identities: what is known of the inside of the objects that one place of the program makes.
//!
//! An identity stands for all objects that its place makes. Its facts are **slots**, each with an abstract value
//! of its own, so that whoever reads one is told when it becomes more general. Two identities of mutable objects that
//! meet in a value become one for the whole program.

use super::value::Sv;
use crate::types::Type;
use cranelift_entity::entity_impl;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A shared identity, printed `obj3`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity(u32);
entity_impl!(Identity, "obj");

/// What kind of object it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A list.
    List,
    /// A set.
    Set,
    /// A dict.
    Dict,
    /// A tuple.
    Tuple,
    /// A cell of a closure.
    Cell,
    /// An iterator over something.
    Iterator,
    /// A range.
    Range,
    /// A function of the program.
    Function,
    /// A method bound to its receiver.
    Bound,
    /// A function or method of the host that the engine knows.
    Builtin,
    /// A class.
    Class,
    /// All instances of a class of the program.
    Instance,
    /// All instances of one of the host's classes of exceptions.
    Exception,
    /// The names of a module.
    Namespace,
}

impl Kind {
    /// Whether its objects may change, so that two that meet must share everything.
    pub fn is_mutable_container(self) -> bool {
        matches!(
            self,
            Kind::List | Kind::Set | Kind::Dict | Kind::Cell | Kind::Iterator | Kind::Range
        )
    }

    /// Whether many of them in one value become one.
    pub(super) fn may_be_crowded(self) -> bool {
        matches!(self, Kind::Tuple | Kind::Instance)
    }

    /// The types that objects of this kind may have.
    pub fn ty(self) -> Type {
        match self {
            Kind::List => Type::LIST_EXACT,
            Kind::Set => Type::SET_EXACT | Type::FROZEN_SET_EXACT,
            Kind::Dict => Type::DICT_EXACT,
            Kind::Tuple => Type::TUPLE_EXACT,
            Kind::Cell => Type::CELL,
            Kind::Iterator => {
                Type::LIST_ITER
                    | Type::TUPLE_ITER
                    | Type::RANGE_ITER
                    | Type::DICT_KEY_ITER
                    | Type::DICT_ITEM_ITER
                    | Type::OBJECT_EXACT
            }
            Kind::Range => Type::RANGE,
            Kind::Function => Type::FUNC,
            Kind::Bound => Type::METHOD | Type::BUILTIN_METHOD_EXACT,
            Kind::Builtin => Type::BUILTIN_METHOD_EXACT,
            Kind::Class => Type::TYPE_EXACT,
            Kind::Instance => Type::USER | Type::OBJECT_EXACT,
            Kind::Exception => Type::BASE_EXCEPTION | Type::OBJECT_USER,
            Kind::Namespace => Type::MODULE,
        }
    }
}

/// A fact about the inside of an object: the name of a slot.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Slot {
    /// The length.
    Len,
    /// Any item of a list, a set, an iterator, or a tuple of unknown length.
    Items,
    /// Any key.
    Keys,
    /// Any value.
    Values,
    /// The item of a tuple with this index.
    TupleItem(u32),
    /// The step of a range.
    RangeStep,
    /// What a cell holds.
    Content,
    /// The receiver of a bound method.
    ImSelf,
    /// The function of a bound method.
    ImFunc,
    /// The tuple of a function's cells.
    Closure,
    /// The tuple of a function's defaults.
    Defaults,
    /// The bases of a class, each as a tuple item would be.
    Base(u32),
    /// An attribute of a class, of all instances of one, or a name of a module.
    Attr(Arc<str>),
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slot::Len => f.write_str("len"),
            Slot::Items => f.write_str("items"),
            Slot::Keys => f.write_str("keys"),
            Slot::Values => f.write_str("values"),
            Slot::TupleItem(index) => write!(f, "tupleitem[{index}]"),
            Slot::RangeStep => f.write_str("range_step"),
            Slot::Content => f.write_str("content"),
            Slot::ImSelf => f.write_str("im_self"),
            Slot::ImFunc => f.write_str("im_func"),
            Slot::Closure => f.write_str("closure"),
            Slot::Defaults => f.write_str("defaults"),
            Slot::Base(index) => write!(f, "base[{index}]"),
            Slot::Attr(name) => write!(f, "attr[{name}]"),
        }
    }
}

/// Where the value of a slot is.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotValue {
    pub sv: Sv,
    /// Whether the value is the slot's own; else it is that of the one place that stores there.
    pub own: bool,
}

/// What is known of an identity.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    pub kind: Kind,
    /// What it is called: of a function or a class its name, of a builtin its.
    pub name: Arc<str>,
    /// The function in the program, the builtin in the table, or the class of an instance and the reverse.
    pub link: u32,
    pub slots: BTreeMap<Slot, SlotValue>,
    /// An object of it has reached what is beyond the known world.
    pub escaped: bool,
    /// It can be reached through names that others may rebind.
    pub published: bool,
    /// Something has replaced an item.
    pub mutated: bool,
    /// Something has changed the length.
    pub resized: bool,
    /// The identities that became one with it, itself included.
    pub members: Vec<Identity>,
}
