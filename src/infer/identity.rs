//! Identities: the facts about the insides of the objects that one place in the program allocates.
//!
//! An identity represents all objects that its place allocates. For example, one identity
//! represents every list that `[x]` in a loop creates. Its facts are **slots**, each with an
//! abstract value of its own, so that a reader of a slot is notified when it is widened. Two
//! identities of mutable objects that meet in a value are unified for the whole program.

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

/// The kind of an object.
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
    /// A range object.
    Range,
    /// A function that the program defines.
    Function,
    /// A method bound to its receiver.
    Bound,
    /// A host function or method that the engine knows.
    Builtin,
    /// A class.
    Class,
    /// All instances of a user class.
    Instance,
    /// All instances of one of the host's exception classes.
    Exception,
    /// The names of a module.
    Namespace,
}

impl Kind {
    /// Returns true if its objects may change. Two of them that meet must share all facts.
    pub fn is_mutable_container(self) -> bool {
        matches!(
            self,
            Kind::List | Kind::Set | Kind::Dict | Kind::Cell | Kind::Iterator | Kind::Range
        )
    }

    /// Returns true if many of them in one value are unified.
    pub(super) fn may_be_crowded(self) -> bool {
        matches!(self, Kind::Tuple | Kind::Instance)
    }

    /// The possible types of objects of this kind.
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
    /// The content of a cell.
    Content,
    /// The receiver of a bound method.
    ImSelf,
    /// The function of a bound method.
    ImFunc,
    /// The tuple of a function's cells.
    Closure,
    /// The tuple of a function's defaults.
    Defaults,
    /// The bases of a class, one slot each.
    Base(u32),
    /// An attribute of a class or of all instances of one, or a name of a module.
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

/// The place of a slot's value.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotValue {
    pub sv: Sv,
    /// True if the value is the slot's own. Otherwise the slot shares the value of the one place
    /// that stores there.
    pub own: bool,
}

/// The facts about an identity.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    pub kind: Kind,
    /// Its name: that of the function, class or builtin.
    pub name: Arc<str>,
    /// The function's index in the program or the builtin's index in the table. For an instance its
    /// class, and for a class its instance.
    pub link: u32,
    pub slots: BTreeMap<Slot, SlotValue>,
    /// An object of this identity is reachable from outside the analysed program.
    pub escaped: bool,
    /// It can be reached through names that outside code may rebind.
    pub published: bool,
    /// Some operation replaced an item.
    pub mutated: bool,
    /// Some operation changed the length.
    pub resized: bool,
    /// The identities that were unified with it, itself included.
    pub members: Vec<Identity>,
}
