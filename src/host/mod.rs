//! The embedding interface: what a host runtime tells the compiler about itself and its world.
//!
//! A host supplies, once, a [`Host`]: helpers (functions of its own that compiled code calls), intrinsics (operations
//! on its objects written as LIR, copied into compiled code) and the addresses of its singletons. For each compile
//! it answers questions about the program through a [`World`]: what a global is, where an attribute lies, what a
//! callee is. `src/` never names a host: layouts, tags, reference counts and frames enter only here.
//!
//! # Calling convention of compiled code
//! - A **function unit** is called as `(thread, function, arg0, ... argN) -> object`. Arguments are owned by the
//!   callee, the result by the caller; null means that an exception is pending.
//! - A **loop unit** (on-stack replacement) is called as `(thread, frame) -> object` on a frame of the host's
//!   interpreter. It gives the function's result, or null, or whatever the exit hook returned.
//! - An exit stores `thread`, `frame` and the values its record lists into a buffer and returns
//!   `exit_hook(unit token, exit number, buffer)`.

mod helpers;
mod raw;
mod unit;

pub use crate::facts::{
    AttrPlan, Builtin, Callee, Global, IntrinsicCall, IntrinsicId, RawEntry, RawKind, RawSignature,
    StorePlan, World,
};
use helpers::helper_effects;
pub use helpers::{DEALLOC, EXIT_HOOK, FREE_LEAF, HelperRow, MATH, closed_helpers, helpers};
pub use raw::{CALL_BOXED, ClosedParts, RECORD_EXIT, RESUME_EXITS, raw_signature, raw_type};
pub use unit::{Entry, Namespace, RawMap, UnitParts};

use crate::facts::Effects;
use crate::lir::{Func, Helper, HelperId, Signature, Term};
use crate::ll::Ty;
use crate::types::HostId;
use cranelift_entity::PrimaryMap;
use std::collections::HashMap;

/// An operation on the host's objects, written as LIR.
#[derive(Clone, Debug)]
pub struct Intrinsic {
    /// The name, unique in the host.
    pub name: &'static str,
    /// The body; a [`Term::Fail`] in it means that the operation does not apply and the unit must exit.
    pub func: Func,
    /// What it does.
    pub effects: Effects,
}

impl Intrinsic {
    /// Whether some path fails.
    pub fn can_fail(&self) -> bool {
        self.func
            .blocks
            .values()
            .any(|b| matches!(b.term, Some(Term::Fail)))
    }
}

/// The standard intrinsics: those that the core itself asks for, by name. A host may have more, which its access
/// plans name by [`IntrinsicId`].
pub mod names {
    macro_rules! names {
        ($(#[$table_doc:meta])* $table:ident: $($(#[$doc:meta])* $id:ident = $name:literal ($($p:ident),*) -> ($($r:ident),*);)*) => {
            $($(#[$doc])* pub const $id: &str = $name;)*
            $(#[$table_doc])*
            pub const $table: &[(&str, &[crate::ll::Ty], &[crate::ll::Ty])] =
                &[$(($name, &[$(crate::ll::Ty::$p),*], &[$(crate::ll::Ty::$r),*])),*];
        };
    }
    names! {
        /// Every standard intrinsic with its signature; [`super::HostBuilder::finish`] checks them.
        STANDARD:
        /// Take a reference.
        INCREF = "incref" (Ptr) -> ();
        /// Drop a reference; fails when it was the last one: the object must then be given to the helper `dealloc`.
        DROP = "drop" (Ptr) -> ();
        /// Drop a reference to an object whose death runs no host code (int, float, str, ...).
        DECREF_LEAF = "decref_leaf" (Ptr) -> ();
        /// Drop a reference to an exact int.
        DECREF_INT = "decref_int" (Ptr) -> ();
        /// Drop a reference to an exact float.
        DECREF_FLOAT = "decref_float" (Ptr) -> ();
        /// An object's class.
        CLASS_OF = "class_of" (Ptr) -> (Ptr);
        /// Value of an exact int; fails if it has more than two digits.
        INT_UNBOX = "int_unbox" (Ptr) -> (I64);
        /// A new reference to the int of a value.
        INT_BOX = "int_box" (I64) -> (Ptr);
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
        /// Replace an item of a list: takes over the reference, gives the old item; the index is in range.
        LIST_SET = "list_set" (Ptr, I64, Ptr) -> (Ptr);
        /// Append to a list, taking over the reference; fails if the list must grow.
        LIST_APPEND = "list_append" (Ptr, Ptr) -> ();
        /// Length of a tuple.
        TUPLE_LEN = "tuple_len" (Ptr) -> (I64);
        /// Item of a tuple, borrowed; the index is in range.
        TUPLE_GET = "tuple_get" (Ptr, I64) -> (Ptr);
        /// What a cell holds, borrowed, or null.
        CELL_GET = "cell_get" (Ptr) -> (Ptr);
        /// Replace what a cell holds: takes over the reference, gives the old content (or null).
        CELL_SET = "cell_set" (Ptr, Ptr) -> (Ptr);
        /// Next value of a range iterator, and whether there was one.
        RANGE_NEXT = "range_next" (Ptr) -> (I64, Bool);
        /// Whether a list iterator has another item.
        LIST_ITER_MORE = "list_iter_more" (Ptr) -> (Bool);
        /// The same for a tuple iterator.
        TUPLE_ITER_MORE = "tuple_iter_more" (Ptr) -> (Bool);
        /// Next item of a list iterator, borrowed, or null at the end (which is then marked in the iterator).
        LIST_ITER_NEXT = "list_iter_next" (Ptr) -> (Ptr);
        /// The same for a tuple iterator.
        TUPLE_ITER_NEXT = "tuple_iter_next" (Ptr) -> (Ptr);
        /// Whether nothing is pending (signals, tracing, a request to give way) for this thread and unit: the
        /// address is the unit's cell with the expected eval-breaker word.
        NOTHING_PENDING = "nothing_pending" (Ptr, Ptr) -> (Bool);
        /// Whether the frame is still private, the unit still valid and nobody has begun to watch the thread: the operands
        /// are thread, frame, the unit's state cell and its cell with the expected eval-breaker word.
        STILL_VALID = "still_valid" (Ptr, Ptr, Ptr, Ptr) -> (Bool);
        /// Record in the frame which instruction runs (the host's position as a byte address in its code).
        SET_POSITION = "set_position" (Ptr, Ptr) -> ();
    }
    names! {
        /// What a host needs besides if it gives its units a namespace ([`super::Namespace`]): all of them, or none.
        NAMESPACE:
        /// What a namespace holds under a name, borrowed, or null: operands are the namespace, the name and the name's
        /// cell ([`Namespace`]).
        NAME_GET = "name_get" (Ptr, Ptr, Ptr) -> (Ptr);
        /// Store under a name: the same operands, the value, which is taken over, and the namespace's notes; gives what
        /// was there (or null). Fails with an exception.
        NAME_SET = "name_set" (Ptr, Ptr, Ptr, Ptr, I64) -> (Ptr);
    }
}

/// Everything constant about a host: made once with [`HostBuilder`].
#[derive(Debug)]
pub struct Host {
    /// The host's name, for messages.
    pub name: &'static str,
    /// Under which its classes and objects are registered; their tokens are their addresses.
    pub id: HostId,
    /// Helpers by number.
    pub helpers: PrimaryMap<HelperId, Helper>,
    /// Intrinsics by number.
    pub intrinsics: PrimaryMap<IntrinsicId, Intrinsic>,
    /// Byte offset in a frame of local slot 0; slots are 8 bytes apart.
    pub frame_slots: i32,
    /// Address of the object for None.
    pub none: u64,
    /// Address of the object for true.
    pub true_: u64,
    /// Address of the object for false.
    pub false_: u64,
    helper_names: HashMap<&'static str, HelperId>,
    intrinsic_names: HashMap<&'static str, IntrinsicId>,
}

/// What is wrong with a host's description.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HostError {
    /// A standard intrinsic is missing.
    #[error("the host `{host}` has no intrinsic `{name}`; define it with HostBuilder::intrinsic")]
    MissingIntrinsic {
        /// The host.
        host: &'static str,
        /// The intrinsic.
        name: &'static str,
    },
    /// A helper that the core calls is missing.
    #[error("the host `{host}` has no helper `{name}`; define it with HostBuilder::helper")]
    MissingHelper {
        /// The host.
        host: &'static str,
        /// The helper.
        name: &'static str,
    },
    /// A helper or intrinsic has another signature than the core expects.
    #[error("`{name}` of the host `{host}` has the signature {found}, but {expected} is expected")]
    WrongSignature {
        /// The host.
        host: &'static str,
        /// The helper or intrinsic.
        name: &'static str,
        /// Its signature.
        found: String,
        /// The one expected.
        expected: String,
    },
    /// Two helpers or two intrinsics have one name.
    #[error("the host `{host}` defines `{name}` twice")]
    Duplicate {
        /// The host.
        host: &'static str,
        /// The name.
        name: &'static str,
    },
}

/// Collects a host's description and checks it.
#[derive(Debug)]
pub struct HostBuilder {
    host: Host,
    duplicate: Option<&'static str>,
}

impl HostBuilder {
    /// A description without helpers and intrinsics.
    pub fn new(name: &'static str, id: HostId) -> HostBuilder {
        HostBuilder {
            host: Host {
                name,
                id,
                helpers: PrimaryMap::new(),
                intrinsics: PrimaryMap::new(),
                frame_slots: 0,
                none: 0,
                true_: 0,
                false_: 0,
                helper_names: HashMap::new(),
                intrinsic_names: HashMap::new(),
            },
            duplicate: None,
        }
    }

    /// The addresses of the singletons.
    pub fn singletons(&mut self, none: u64, true_: u64, false_: u64) -> &mut Self {
        (self.host.none, self.host.true_, self.host.false_) = (none, true_, false_);
        self
    }

    /// Where a frame's local slots begin.
    pub fn frame_slots(&mut self, offset: i32) -> &mut Self {
        self.host.frame_slots = offset;
        self
    }

    /// Add a helper with the C calling convention.
    pub fn helper(
        &mut self,
        name: &'static str,
        address: usize,
        params: &[Ty],
        results: &[Ty],
    ) -> HelperId {
        let id = self.host.helpers.push(Helper {
            name,
            address,
            signature: Signature::new(params, results),
            effects: helper_effects(name),
        });
        if self.host.helper_names.insert(name, id).is_some() {
            self.duplicate = Some(name);
        }
        id
    }

    /// Add an intrinsic.
    pub fn intrinsic(&mut self, name: &'static str, effects: Effects, func: Func) -> IntrinsicId {
        let id = self.host.intrinsics.push(Intrinsic {
            name,
            func,
            effects,
        });
        if self.host.intrinsic_names.insert(name, id).is_some() {
            self.duplicate = Some(name);
        }
        id
    }

    /// The finished description.
    ///
    /// # Errors
    /// A [`HostError`] names what is missing, doubled or wrongly typed.
    pub fn finish(self) -> Result<Host, HostError> {
        let host = self.host;
        if let Some(name) = self.duplicate {
            return Err(HostError::Duplicate {
                host: host.name,
                name,
            });
        }
        let has = |row: &&(&str, _, _)| host.intrinsic_names.contains_key(row.0);
        let namespace = match names::NAMESPACE.iter().find(has) {
            Some(_) => names::NAMESPACE,
            None => &[],
        };
        for &(name, params, results) in names::STANDARD.iter().chain(namespace) {
            let id = host
                .intrinsic_names
                .get(name)
                .ok_or(HostError::MissingIntrinsic {
                    host: host.name,
                    name,
                })?;
            check_signature(
                &host,
                name,
                &host.intrinsics[*id].func.signature,
                params,
                results,
            )?;
        }
        let closed = closed_helpers();
        let has = |row: &HelperRow| host.helper_names.contains_key(row.name);
        let closed = if closed.iter().any(has) {
            closed
        } else {
            Vec::new()
        };
        for row in helpers().into_iter().chain(closed) {
            let id = host
                .helper_names
                .get(row.name)
                .ok_or(HostError::MissingHelper {
                    host: host.name,
                    name: row.name,
                })?;
            check_signature(
                &host,
                row.name,
                &host.helpers[*id].signature,
                &row.params,
                &row.results,
            )?;
        }
        Ok(host)
    }
}

fn check_signature(
    host: &Host,
    name: &'static str,
    found: &Signature,
    params: &[Ty],
    results: &[Ty],
) -> Result<(), HostError> {
    if found.params == params && found.results == results {
        return Ok(());
    }
    Err(HostError::WrongSignature {
        host: host.name,
        name,
        found: format!("{:?} -> {:?}", found.params, found.results),
        expected: format!("{params:?} -> {results:?}"),
    })
}

impl Host {
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

    /// Whether the host has closed units: see [`RawEntry`].
    pub fn has_closed_units(&self) -> bool {
        self.helper_names.contains_key(RECORD_EXIT)
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
