//! The embedding interface: a host runtime's description of itself and of the running program.
//!
//! A host supplies, once, a [`Host`]: helpers (functions of its own that compiled code calls),
//! intrinsics (operations on its objects written as LIR, inlined into compiled code) and the
//! addresses of its singletons. For each compile it answers queries about the program through a
//! [`World`]: the value of a global, the place of an attribute, the effect of a callee. `src/`
//! never names a host: layouts, tags, reference counts and frames enter only here.
//!
//! # Calling convention of compiled code
//! - A **function unit** is called as `(thread, function, arg0, ... argN) -> object`. Arguments are
//!   owned by the callee, the result by the caller; null means that an exception is pending.
//! - A **loop unit** (on-stack replacement) is called as `(thread, frame) -> object` on a frame of
//!   the host's interpreter. It returns the function's result, or null, or the result of the exit
//!   hook.
//! - An exit stores `thread`, `frame` and the values that its record lists into a buffer and
//!   returns `exit_hook(unit token, exit number, buffer)`. Raw locals that are already in the
//!   frame's words are not among those:
//!   [`ExitRecord::all_words`](crate::exits::ExitRecord::all_words) adds them, before anything
//!   changes the frame, and [`ExitRecord::read`](crate::exits::ExitRecord::read) decodes all these
//!   words.

mod builder;
#[cfg(test)]
mod docs;
mod document;
mod error;
mod frozen;
mod helpers;
mod inlinee;
mod lifetimes;
mod native;
mod raw;
mod replay;
mod simple;
mod stubs;
#[cfg(test)]
pub(crate) mod tests;
mod unit;

pub use crate::facts::{
    AccessKind, Answer, Argument, AttrPlan, Binds, Builtin, Callee, Computed, FieldAccess,
    Forwarding, GetterArg, Global, Inlinee, InstanceAccess, IntrinsicCall, IntrinsicId, Kin,
    LOCAL_WORDS, MOST_INLINED, NativeCall, Operator, OperatorPlan, Parameters, Parts, Question,
    RawEntry, RawKind, RawSignature, Recorder, Snapshot, StorePlan, World,
};
pub use builder::HostBuilder;
pub use document::world_of;
pub use error::{HostError, HostFault};
pub use frozen::{Evidence, FrozenWorld, Pins};
pub use helpers::{DEALLOC, EXIT_HOOK, FREE_LEAF, HelperRow, MATH, closed_helpers, helpers};
pub use inlinee::code_of;
pub use lifetimes::Lifetimes;
pub use native::{Given, HelperFn, ObjectRef, Passed};
pub use raw::{CALL_BOXED, ClosedParts, RECORD_EXIT, RESUME_EXITS, raw_signature, raw_type};
pub use replay::{ReadUnit, Replay, print_host, read_units};
pub use simple::{Counted, Lists};
pub use stubs::{adapter, interpreted_call, interpreted_call_at};
pub(crate) use unit::STATE_OFFSET;
pub use unit::{Entry, Namespace, RawMap, UnitCells, UnitParts};

use crate::facts::Effects;
use crate::lir::{Func, Helper, HelperId, Imm, Term};
use crate::ll::Struct;
use crate::types::HostId;
use cranelift_entity::PrimaryMap;
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// An operation on the host's objects, written as LIR.
#[derive(Clone, Debug)]
pub struct Intrinsic {
    /// The name, unique in the host.
    pub name: &'static str,
    /// The body. A [`Term::Fail`] in it means that the operation does not apply and the unit must
    /// exit.
    pub func: Func,
    /// Its effects.
    pub effects: Effects,
}

impl Intrinsic {
    /// Returns true if some path fails.
    pub fn can_fail(&self) -> bool {
        self.func
            .blocks
            .values()
            .any(|b| matches!(b.term, Some(Term::Fail)))
    }
}

/// The standard intrinsics: those that the core uses by name. A host may have more, to which its
/// access plans refer by [`IntrinsicId`]. The page of each constant has the intrinsic's signature;
/// `docs/helpers.md` has all of them in one table.
pub mod names {
    /// An intrinsic's name, operands and results.
    pub type Row = (
        &'static str,
        &'static [crate::ll::Ty],
        &'static [crate::ll::Ty],
    );

    macro_rules! names {
        ($(#[$table_doc:meta])* $table:ident: $($(#[$doc:meta])* $id:ident = $name:literal ($($p:ident),*) -> ($($r:ident),*);)*) => {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\nIts signature: `", stringify!(($($p),*) -> ($($r),*)), "`.")]
                pub const $id: &str = $name;
            )*
            $(#[$table_doc])*
            pub const $table: &[Row] =
                &[$(($name, &[$(crate::ll::Ty::$p),*], &[$(crate::ll::Ty::$r),*])),*];
        };
    }
    names! {
        /// Every standard intrinsic with its signature; [`super::HostBuilder::finish`] checks them.
        STANDARD:
        /// Take a reference.
        INCREF = "incref" (Ptr) -> ();
        /// Drop a reference. Fails if it was the last one: the object must then be given to the
        /// helper `dealloc`.
        DROP = "drop" (Ptr) -> ();
        /// Drop a reference to an object whose deallocation runs no host code (int, float, str,
        /// ...).
        DECREF_LEAF = "decref_leaf" (Ptr) -> ();
        /// Drop a reference to an exact int.
        DECREF_INT = "decref_int" (Ptr) -> ();
        /// Drop a reference to an exact float.
        DECREF_FLOAT = "decref_float" (Ptr) -> ();
        /// An object's class.
        CLASS_OF = "class_of" (Ptr) -> (Ptr);
        /// Value of an exact int; fails if the value is further from 0 than the host unboxes
        /// ([`HostBuilder::unboxed_bits`](super::HostBuilder::unboxed_bits)).
        INT_UNBOX = "int_unbox" (Ptr) -> (I64);
        /// A new reference to the int of a value.
        INT_BOX = "int_box" (I64) -> (Ptr);
        /// Overwrite the value of an exact int, if it has a single reference and the change is not
        /// observable. The result is true if it was overwritten. Without this intrinsic and the
        /// next, another object is stored.
        INT_REUSE = "int_reuse" (Ptr, I64) -> (Bool);
        /// The same for an exact float.
        FLOAT_REUSE = "float_reuse" (Ptr, F64) -> (Bool);
        /// Value of an exact float.
        FLOAT_UNBOX = "float_unbox" (Ptr) -> (F64);
        /// A new float.
        FLOAT_BOX = "float_box" (F64) -> (Ptr);
        /// Value of a bool.
        BOOL_UNBOX = "bool_unbox" (Ptr) -> (Bool);
        /// The bool (immortal).
        BOOL_BOX = "bool_box" (Bool) -> (Ptr);
        /// Length of a list.
        LIST_LEN = "list_len" (Ptr) -> (I64);
        /// Item of a list, borrowed; the index is in range.
        LIST_GET = "list_get" (Ptr, I64) -> (Ptr);
        /// Replace an item of a list: takes over the reference, gives the old item; the index is in
        /// range.
        LIST_SET = "list_set" (Ptr, I64, Ptr) -> (Ptr);
        /// Append to a list, taking over the reference; fails if the list must grow.
        LIST_APPEND = "list_append" (Ptr, Ptr) -> ();
        /// A new list of a list's items: start, stop and step are those of a slice, with a step
        /// other than 0. A bound that is left out is the least or the greatest integer. Fails if
        /// there is no memory, without an exception.
        LIST_SLICE = "list_slice" (Ptr, I64, I64, I64) -> (Ptr);
        /// Replace items of a list by items of a list: the list, start and stop of the replaced
        /// slice, the other list (or the same), start, stop and step of its slice. Runs no user
        /// code: it fails without any effect if deallocating a replaced item would run some, and if
        /// there is no memory.
        LIST_COPY_SLICE = "list_copy_slice" (Ptr, I64, I64, Ptr, I64, I64, I64) -> ();
        /// Length of a tuple.
        TUPLE_LEN = "tuple_len" (Ptr) -> (I64);
        /// Item of a tuple, borrowed; the index is in range.
        TUPLE_GET = "tuple_get" (Ptr, I64) -> (Ptr);
        /// A new cell that contains an object, whose reference is taken over, or null. Fails if
        /// there is no memory, without an exception.
        NEW_CELL = "new_cell" (Ptr) -> (Ptr);
        /// A function, or a method descriptor of a host's class, bound to an object, whose
        /// reference is taken over. Fails if there is no memory, without an exception.
        BIND_METHOD = "bind_method" (Ptr, Ptr) -> (Ptr);
        /// The content of a cell, borrowed, or null.
        CELL_GET = "cell_get" (Ptr) -> (Ptr);
        /// Replace the content of a cell: takes over the reference, gives the old content (or
        /// null).
        CELL_SET = "cell_set" (Ptr, Ptr) -> (Ptr);
        /// Start of a range; fails if `INT_UNBOX` would.
        RANGE_FIRST = "range_first" (Ptr) -> (I64);
        /// End of a range; fails likewise.
        RANGE_END = "range_end" (Ptr) -> (I64);
        /// Step of a range; fails likewise.
        RANGE_BY = "range_by" (Ptr) -> (I64);
        /// Next value of a range iterator, and true if there was one.
        RANGE_NEXT = "range_next" (Ptr) -> (I64, Bool);
        /// The next value of a range iterator, if it has one.
        RANGE_START = "range_start" (Ptr) -> (I64);
        /// The step of a range iterator.
        RANGE_STEP = "range_step" (Ptr) -> (I64);
        /// The number of values that a range iterator has left, limited so that the values remain
        /// 64-bit integers.
        RANGE_LEFT = "range_left" (Ptr) -> (I64);
        /// Set the next value of a range iterator and the number of values left.
        RANGE_PUT = "range_put" (Ptr, I64, I64) -> ();
        /// True if a list iterator has another item.
        LIST_ITER_MORE = "list_iter_more" (Ptr) -> (Bool);
        /// The same for a tuple iterator.
        TUPLE_ITER_MORE = "tuple_iter_more" (Ptr) -> (Bool);
        /// Next item of a list iterator that has one, borrowed.
        LIST_ITER_NEXT = "list_iter_next" (Ptr) -> (Ptr);
        /// The same for a tuple iterator.
        TUPLE_ITER_NEXT = "tuple_iter_next" (Ptr) -> (Ptr);
        /// The end of a list iterator without a next item: it drops the list. Fails, and changes
        /// nothing, if that would deallocate the list.
        LIST_ITER_END = "list_iter_end" (Ptr) -> ();
        /// The same for a tuple iterator.
        TUPLE_ITER_END = "tuple_iter_end" (Ptr) -> ();
        /// True if nothing is pending (signals, tracing, a request to stop) for this thread and
        /// unit. The address is the unit's cell with the expected pending-work word.
        NOTHING_PENDING = "nothing_pending" (Ptr, Ptr) -> (Bool);
        /// True if the frame is still private, the unit still valid and the thread not yet
        /// observed. The operands are thread, frame, the unit's state cell and its cell with the
        /// expected pending-work word.
        STILL_VALID = "still_valid" (Ptr, Ptr, Ptr, Ptr) -> (Bool);
        /// Record the running instruction in the frame (the host's position as a byte address in
        /// its code).
        SET_POSITION = "set_position" (Ptr, Ptr) -> ();
    }
    names! {
        /// Intrinsics that a host also needs if it gives its units a namespace
        /// ([`super::Namespace`]): all of them, or none.
        NAMESPACE:
        /// The value of a name in a namespace, borrowed, or null. Operands are the namespace, the
        /// name and the name's cell ([`Namespace`](super::Namespace)).
        NAME_GET = "name_get" (Ptr, Ptr, Ptr) -> (Ptr);
        /// Store a name: the same operands, the value, which is taken over, and the namespace's
        /// notes; gives the old value (or null). Fails with an exception.
        NAME_SET = "name_set" (Ptr, Ptr, Ptr, Ptr, I64) -> (Ptr);
    }
    names! {
        /// Intrinsics that a host may also offer if its lists have their items in an array: all of
        /// them, or none.
        ITEMS:
        /// The address of a list's items, valid until its length changes.
        LIST_ITEMS = "list_items" (Ptr) -> (I64);
        /// Item at an offset in range of that address, borrowed from the list.
        ITEM_GET = "item_get" (I64, I64) -> (Ptr);
        /// Replace that item: takes over the reference, gives the old item.
        ITEM_SET = "item_set" (I64, I64, Ptr) -> (Ptr);
    }
    names! {
        /// Intrinsics that a host may also offer if its strings can be read in place: all of them,
        /// or none.
        STRINGS:
        /// The number of characters of a string.
        STR_LEN = "str_len" (Ptr) -> (I64);
        /// True if two strings have the same characters.
        STR_EQ = "str_eq" (Ptr, Ptr) -> (Bool);
        /// The string of the character at an offset in range; fails if the host has no immortal
        /// string for it.
        STR_AT = "str_at" (Ptr, I64) -> (Ptr);
    }
    names! {
        /// Intrinsics that a host also needs if it has closed units
        /// ([`RECORD_EXIT`](super::RECORD_EXIT)).
        CLOSED:
        /// The number of nested calls from here on before the thread reaches its limit: the room of
        /// a raw call ([`raw_signature`](super::raw_signature)) from code that has a frame.
        CALL_ROOM = "call_room" (Ptr) -> (I64);
    }
}

/// The constant description of a host, built once with [`HostBuilder`].
#[derive(Debug)]
pub struct Host {
    pub(crate) name: &'static str,
    pub(crate) id: HostId,
    /// Helpers by number.
    pub(crate) helpers: PrimaryMap<HelperId, Helper>,
    /// Intrinsics by number.
    pub(crate) intrinsics: PrimaryMap<IntrinsicId, Intrinsic>,
    /// Byte offset in a frame of local slot 0; slots are 8 bytes apart.
    pub(crate) frame_slots: i32,
    /// The ints that `int_unbox` returns are at most two to this power away from 0.
    pub(crate) unboxed_bits: u32,
    /// Address of the object for None.
    pub(crate) none: u64,
    /// Address of the object for true.
    pub(crate) true_: u64,
    /// Address of the object for false.
    pub(crate) false_: u64,
    pub(crate) lifetimes: Lifetimes,
    /// The layouts of its objects, frames and threads that it has declared.
    pub(crate) layouts: Vec<Struct>,
    helper_names: FxHashMap<&'static str, HelperId>,
    intrinsic_names: FxHashMap<&'static str, IntrinsicId>,
    /// The stand-ins for the missing helpers and intrinsics of a partial host, with the kind and
    /// name of each.
    missing: HashMap<HelperId, (&'static str, &'static str)>,
}

impl Host {
    /// The name, for messages.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The host's number, under which its classes and objects are registered. Their tokens are
    /// their addresses.
    pub fn id(&self) -> HostId {
        self.id
    }

    /// The way in which unused objects are recognised.
    pub fn lifetimes(&self) -> Lifetimes {
        self.lifetimes
    }

    /// The helpers by number, to read and print LIR that calls them.
    pub fn helpers(&self) -> &PrimaryMap<HelperId, Helper> {
        &self.helpers
    }

    /// The intrinsics by number.
    pub fn intrinsics(&self) -> &PrimaryMap<IntrinsicId, Intrinsic> {
        &self.intrinsics
    }

    /// The body of the intrinsic of this name, which a host may inline into LIR of its own
    /// ([`Builder::inline`](crate::lir::Builder::inline)).
    ///
    /// # Panics
    /// If there is none.
    pub fn intrinsic_func(&self, name: &str) -> &Func {
        &self.intrinsics[self.intrinsic(name)].func
    }

    /// The helper of this name.
    ///
    /// # Panics
    /// If there is none: [`HostBuilder::finish`] has checked the core's names.
    pub fn helper(&self, name: &str) -> HelperId {
        *self
            .helper_names
            .get(name)
            .unwrap_or_else(|| panic!("no helper `{name}`"))
    }

    /// The layout of this name.
    pub fn layout(&self, name: &str) -> Option<&Struct> {
        self.layouts.iter().find(|layout| layout.name == name)
    }

    /// The first helper or intrinsic that a function calls and this [partial](HostBuilder::partial)
    /// host lacks: `helper` or `intrinsic`, and the name.
    pub fn missing_in(&self, func: &Func) -> Option<(&'static str, &'static str)> {
        if self.missing.is_empty() {
            return None;
        }
        let insts = func.order.iter().flat_map(|&b| &func.blocks[b].insts);
        insts
            .filter_map(|inst| match inst.imm {
                Imm::Helper(id) => self.missing.get(&id).copied(),
                _ => None,
            })
            .next()
    }

    /// Returns true if this [partial](HostBuilder::partial) host has no helper of this name.
    pub(crate) fn lacks(&self, name: &str) -> bool {
        (self.helper_names.get(name)).is_none_or(|id| self.missing.contains_key(id))
    }

    /// Returns true if the host has closed units: see [`RawEntry`]. A host with traced objects has
    /// none.
    pub fn has_closed_units(&self) -> bool {
        self.helper_names.contains_key(RECORD_EXIT) && self.lifetimes.are_counted()
    }

    /// Returns true if compiled code may keep the address of a list's items. In a host with traced
    /// objects they move.
    pub fn has_item_arrays(&self) -> bool {
        self.intrinsic_names.contains_key(names::LIST_ITEMS) && self.lifetimes.are_counted()
    }

    /// Returns true if compiled code may read strings.
    pub fn has_strings(&self) -> bool {
        self.intrinsic_names.contains_key(names::STR_LEN)
    }

    /// Returns true if a number with a single reference that is about to be dropped may be
    /// overwritten. Only counts show that there are no other references.
    pub fn has_reuse(&self) -> bool {
        let mut both = [names::INT_REUSE, names::FLOAT_REUSE].into_iter();
        both.all(|name| self.intrinsic_names.contains_key(name)) && self.lifetimes.are_counted()
    }

    /// The intrinsic of this name.
    ///
    /// # Panics
    /// If there is none: [`HostBuilder::finish`] has checked the core's names.
    pub fn intrinsic(&self, name: &str) -> IntrinsicId {
        *self
            .intrinsic_names
            .get(name)
            .unwrap_or_else(|| panic!("no intrinsic `{name}`"))
    }
}
