//! Classes and objects of hosts, as small numbers that can't dangle.
//!
//! A [`Type`](super::Type) must be sixteen context-free bytes, so it can't contain a class. It
//! contains a [`ClassHandle`]: a slot in the one process-wide table and the *generation* of its
//! occupant. A host registers a class, and calls [`forget`](ClassHandle::forget) when the class
//! dies. Code that relies on it meanwhile keeps a [`ClassPin`]. After the class is forgotten and
//! unpinned, the slot is reused under another generation, and the old handle is **stale**: equal to
//! itself, derived from itself, and unrelated to everything else; every query about it has an
//! answer that claims nothing.
//!
//! Classes of different hosts are never related. Host addresses ("tokens") are never dereferenced;
//! a class created at the address of a forgotten one is another class.
//!
//! Registering and naming take a lock; subtype tests take none (see `slots`).

mod labels;
mod registry;
mod slots;

use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;

use self::registry::{read, write};
use self::slots::{CLASSES, Lineage, OBJECTS};
use super::table::Predefined;

pub(crate) use self::registry::Named;

/// A class of some host, live or stale.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassHandle(NonZeroU64);

/// An object of some host, live or stale.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectHandle(NonZeroU64);

/// A host runtime: the owner of classes and objects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct HostId(u32);

/// A host's description of a class, for [`HostId::register_class`].
///
/// ```
/// use cladonia::types::{ClassDesc, HostId, Predefined};
///
/// # fn main() -> Result<(), cladonia::types::HandleError> {
/// let host = HostId::new();
/// let object = ClassDesc::builtin(Predefined::Object, Vec::new()).with_token(0x1000);
/// let object = host.register_class(object)?;
/// let point = ClassDesc::new("Point", vec![object], Predefined::Object).with_token(0x2000);
/// let point = host.register_class(point)?;
/// assert_eq!(host.builtin_class(Predefined::Object), Some(object));
/// assert_eq!(point.token(), 0x2000);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ClassDesc {
    /// Its name as text; also decides which class an intersection keeps (see [`super`]).
    pub(crate) name: String,
    /// Its method resolution order without itself.
    pub(crate) bases_mro: Vec<ClassHandle>,
    /// The predefined type this class is, or the most derived one it inherits from.
    pub(crate) predefined: Predefined,
    /// True if the class *is* `predefined`, and does not merely derive from it.
    pub(crate) is_builtin_itself: bool,
    /// True if the host forbids inheriting from it.
    pub(crate) is_final: bool,
    pub(crate) owns_layout: bool,
    pub(crate) token: u64,
}

impl ClassDesc {
    /// A user class that may be inherited from: its name, its method resolution order without
    /// itself, and the most derived predefined type that it inherits from.
    pub fn new(
        name: impl Into<String>,
        bases_mro: Vec<ClassHandle>,
        predefined: Predefined,
    ) -> Self {
        let (is_builtin_itself, is_final, owns_layout, token) = (false, false, false, 0);
        ClassDesc {
            name: name.into(),
            bases_mro,
            predefined,
            is_builtin_itself,
            is_final,
            owns_layout,
            token,
        }
    }

    /// The host's own class of a predefined type, under the spelling of the table.
    pub fn builtin(predefined: Predefined, bases_mro: Vec<ClassHandle>) -> Self {
        ClassDesc {
            is_builtin_itself: true,
            ..ClassDesc::new(predefined.spelled(), bases_mro, predefined)
        }
    }

    /// With another name as text. Names also decide which class an intersection keeps (see
    /// [`super`]).
    pub fn with_name(self, name: impl Into<String>) -> Self {
        let name = name.into();
        ClassDesc { name, ..self }
    }

    /// With the host's address of the class, which is otherwise 0.
    pub fn with_token(self, token: u64) -> Self {
        ClassDesc { token, ..self }
    }

    /// A class that the host forbids to inherit from, if `is_final`.
    pub fn with_final(self, is_final: bool) -> Self {
        ClassDesc { is_final, ..self }
    }

    /// A class whose instances have another layout than those of its bases, so that no class can
    /// inherit both from it and from another such class, unless one of the two derives from the
    /// other. `false` claims nothing.
    pub fn with_own_layout(self, owns_layout: bool) -> Self {
        ClassDesc {
            owns_layout,
            ..self
        }
    }
}

/// A host's description of an object, for [`HostId::register_object`].
#[derive(Clone, Debug)]
pub struct ObjectDesc {
    pub(crate) name: String,
    pub(crate) class: ClassHandle,
    pub(crate) immortal: bool,
    pub(crate) denotes: Option<ClassHandle>,
    pub(crate) token: u64,
}

impl ObjectDesc {
    /// An object that is not known to live forever: its text, which is a literal (`5`, `"hello!"`)
    /// or a name, and its class.
    pub fn new(name: impl Into<String>, class: ClassHandle) -> Self {
        ObjectDesc {
            name: name.into(),
            class,
            immortal: false,
            denotes: None,
            token: 0,
        }
    }

    /// With the host's address of the object, which is otherwise 0.
    pub fn with_token(self, token: u64) -> Self {
        ObjectDesc { token, ..self }
    }

    /// An object that is known to live forever, if `immortal`. `false` claims nothing: an object
    /// that is mortal today may become immortal.
    pub fn with_immortal(self, immortal: bool) -> Self {
        ObjectDesc { immortal, ..self }
    }

    /// An object that *is* this class, if there is one.
    pub fn denoting(self, denotes: Option<ClassHandle>) -> Self {
        ObjectDesc { denotes, ..self }
    }
}

/// The reason why a class or an object was not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// A handle in the description is no longer alive.
    #[error("`{name}` refers to a class that is gone")]
    Stale {
        /// The name of the described class or object.
        name: String,
    },
    /// A handle in the description belongs to another host.
    #[error("`{name}` refers to `{class}`, which belongs to another host")]
    ForeignClass {
        /// The name of the described class or object.
        name: String,
        /// The other host's class.
        class: String,
    },
    /// A class is in the order twice.
    #[error("the resolution order of `{name}` holds `{class}` twice")]
    RepeatedInMro {
        /// The name of the described class or object.
        name: String,
        /// The repeated class.
        class: String,
    },
    /// A base's own base is missing, or comes before the base.
    #[error(
        "the resolution order of `{name}` does not hold `{base}` after `{class}`, which derives from it"
    )]
    MroNotClosed {
        /// The name of the described class or object.
        name: String,
        /// A class in the order.
        class: String,
        /// Its missing or misplaced base.
        base: String,
    },
    /// The declared predefined base contradicts the resolution order.
    #[error("`{name}` is declared a `{declared:?}` but inherits from `{base}`, a `{found:?}`")]
    InconsistentBase {
        /// The name of the described class or object.
        name: String,
        /// The predefined base of the description.
        declared: Predefined,
        /// The class in the order that contradicts it.
        base: String,
        /// That class's predefined base.
        found: Predefined,
    },
    /// The base can't be inherited from.
    #[error("`{name}` can't inherit from `{base}`: it is closed")]
    ClosedBase {
        /// The name of the described class or object.
        name: String,
        /// The closed base.
        base: String,
    },
    /// Two bases have conflicting layouts.
    #[error(
        "the layouts of `{first}` and `{second}` conflict, so `{name}` can't inherit from both"
    )]
    LayoutConflict {
        /// The name of the described class or object.
        name: String,
        /// One base.
        first: String,
        /// The other base.
        second: String,
    },
    /// The token belongs to another live class or object.
    #[error("the token of `{name}` is in use by `{other}`")]
    TokenInUse {
        /// The name of the described class or object.
        name: String,
        /// The owner of the token.
        other: String,
    },
    /// The host already has a class for the predefined type, or an object for the class.
    #[error("`{name}` is registered already, as `{other}`")]
    AlreadyRegistered {
        /// The name of the described class or object.
        name: String,
        /// The registered class or object.
        other: String,
    },
    /// The host was closed.
    #[error("the host is closed")]
    HostClosed,
    /// There is no free slot.
    #[error("the table of classes and objects is full")]
    TableFull,
}

impl HostId {
    /// A new host, with no classes.
    // each call creates another host, so no value is the default
    #[allow(clippy::new_without_default)]
    pub fn new() -> HostId {
        HostId(write().open_host())
    }

    /// Registers a class. If its token is already registered, that class is returned, provided that
    /// the descriptions agree.
    pub fn register_class(self, desc: ClassDesc) -> Result<ClassHandle, HandleError> {
        write().add_class(self.0, desc)
    }

    /// Registers an object. If its token is already registered, that object is returned, provided
    /// that the classes agree.
    pub fn register_object(self, desc: ObjectDesc) -> Result<ObjectHandle, HandleError> {
        write().add_object(self.0, desc)
    }

    /// The live class with this token (not 0).
    pub fn class_by_token(self, token: u64) -> Option<ClassHandle> {
        read().class_by_token(self.0, token)
    }

    /// The live object with this token (not 0).
    pub fn object_by_token(self, token: u64) -> Option<ObjectHandle> {
        read().object_by_token(self.0, token)
    }

    /// The host's class of a predefined type, if registered.
    pub fn builtin_class(self, row: Predefined) -> Option<ClassHandle> {
        read().builtin_class(self.0, row)
    }

    /// The host's only object of class `NoneType`, if registered.
    pub fn none_object(self) -> Option<ObjectHandle> {
        read().none_object(self.0)
    }

    /// The class or object with this label.
    pub(crate) fn named(self, label: &str) -> Option<Named> {
        read().named(self.0, label)
    }

    /// Gives a class or an object that a text describes the label and the address (not 0) that it
    /// had there. A label that is taken, or that its name could not have, is not given.
    pub(crate) fn restore(self, whom: Named, label: &str, token: u64) {
        write().restore(self.0, whom, label, token);
    }

    /// Updates the flag that an object lives forever.
    pub(crate) fn set_immortal(self, object: ObjectHandle, immortal: bool) {
        write().set_immortal(self.0, object, immortal);
    }

    /// Forgets all the host's classes and objects; no more can be registered with it.
    pub fn close(self) {
        write().close_host(self.0);
    }
}

/// Keeps a class's handle from becoming stale.
#[derive(Debug)]
pub struct ClassPin(Option<ClassHandle>);

/// Keeps an object's handle from becoming stale.
#[derive(Debug)]
pub struct ObjectPin(Option<ObjectHandle>);

macro_rules! handle {
    ($Handle:ident, $Pin:ident, $slots:ident, $arena:ident, $letter:literal) => {
        impl $Handle {
            pub(crate) const fn from_raw(raw: u64) -> Option<Self> {
                match NonZeroU64::new(raw) {
                    Some(raw) => Some($Handle(raw)),
                    None => None,
                }
            }

            pub(crate) const fn to_raw(self) -> u64 {
                self.0.get()
            }

            pub(crate) fn from_parts(slot: u32, generation: u32) -> Option<Self> {
                if generation == 0 {
                    None
                } else {
                    Self::from_raw(u64::from(generation) << 32 | u64::from(slot))
                }
            }

            #[inline]
            pub(crate) const fn slot(self) -> u32 {
                self.0.get() as u32
            }

            #[inline]
            pub(crate) const fn generation(self) -> u32 {
                (self.0.get() >> 32) as u32
            }

            /// Returns true if the handle is not stale.
            #[inline]
            pub fn is_alive(self) -> bool {
                $slots
                    .get(self.slot())
                    .is_some_and(|slot| slot.is_alive(self.generation()))
            }

            /// Returns true if the handle was alive once and no longer is. False for a number that
            /// was never given out.
            pub(crate) fn is_stale(self) -> bool {
                !self.is_alive() && read().$arena.was_given(self.slot(), self.generation())
            }

            /// The name given at registration; `<stale>` for a stale handle.
            pub fn name(self) -> Arc<str> {
                read()
                    .$arena
                    .get(self.slot(), self.generation())
                    .map_or_else(|| Arc::from("<stale>"), |r| r.name.clone())
            }

            /// The host's address, 0 for a stale handle.
            pub fn token(self) -> u64 {
                read()
                    .$arena
                    .get(self.slot(), self.generation())
                    .map_or(0, |record| record.token)
            }

            /// Its host; none for a stale handle.
            pub fn host(self) -> Option<HostId> {
                read()
                    .$arena
                    .get(self.slot(), self.generation())
                    .map(|record| HostId(record.host))
            }

            /// The name in text form: unique in its host, cut if long, quoted if the parser could
            /// misread it.
            pub(crate) fn label(self) -> Option<Arc<str>> {
                read()
                    .$arena
                    .get(self.slot(), self.generation())
                    .map(|record| record.label.clone())
            }

            /// Keeps the handle from becoming stale while the pin lives. A stale handle gives an
            /// empty pin; use [`try_pin`](Self::try_pin) where that makes a difference.
            pub fn pin(self) -> $Pin {
                self.try_pin().unwrap_or($Pin(None))
            }

            /// A pin, unless the handle is stale.
            pub fn try_pin(self) -> Option<$Pin> {
                let mut registry = write();
                registry
                    .$arena
                    .get_mut(self.slot(), self.generation())?
                    .pins += 1;
                Some($Pin(Some(self)))
            }
        }

        impl $Pin {
            /// The pinned handle; none if the handle was stale.
            pub fn handle(&self) -> Option<$Handle> {
                self.0
            }
        }

        impl Clone for $Pin {
            fn clone(&self) -> Self {
                self.0.map_or($Pin(None), $Handle::pin)
            }
        }

        impl fmt::Debug for $Handle {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(
                    f,
                    "{}{}.{}({})",
                    $letter,
                    self.slot(),
                    self.generation(),
                    self.name()
                )
            }
        }
    };
}

handle!(ClassHandle, ClassPin, CLASSES, classes, "class");
handle!(ObjectHandle, ObjectPin, OBJECTS, objects, "object");

impl Drop for ClassPin {
    fn drop(&mut self) {
        if let Some(class) = self.0 {
            write().unpin_class(class);
        }
    }
}

impl Drop for ObjectPin {
    fn drop(&mut self) {
        if let Some(object) = self.0 {
            write().unpin_object(object);
        }
    }
}

/// Returns true if a class, as a raw handle, properly derives from another.
#[inline]
pub(crate) fn raw_is_subclass(class: u64, base: u64) -> bool {
    let Some(slot) = CLASSES.get(class as u32) else {
        return false;
    };
    match slot.derives_from((class >> 32) as u32, base as u32, base) {
        Lineage::Yes => true,
        Lineage::No => false,
        Lineage::Unknown => is_in_mro(class, base),
    }
}

/// For classes with more ancestors than fit a slot.
#[cold]
#[inline(never)]
fn is_in_mro(class: u64, base: u64) -> bool {
    ClassHandle::from_raw(class)
        .is_some_and(|class| class.mro().iter().any(|ancestor| ancestor.to_raw() == base))
}

impl ClassHandle {
    /// The method resolution order without the class itself; empty for a stale handle.
    pub fn mro(self) -> Arc<[ClassHandle]> {
        read()
            .classes
            .get(self.slot(), self.generation())
            .map_or_else(|| Arc::from([]), |record| record.mro.clone())
    }

    /// Returns true if `other` is this class or in its resolution order. A stale class derives from
    /// itself only.
    #[inline]
    pub fn is_subclass_of(self, other: ClassHandle) -> bool {
        self == other || raw_is_subclass(self.to_raw(), other.to_raw())
    }

    fn meta(self) -> Option<registry::ClassMeta> {
        CLASSES
            .get(self.slot())?
            .meta(self.generation())
            .map(registry::ClassMeta)
    }

    /// The predefined type that the class is or derives from; none for a stale handle.
    pub fn predefined(self) -> Option<Predefined> {
        self.meta().map(|meta| meta.predefined())
    }

    /// Returns true if the class is the host's own class of its predefined type.
    pub fn is_builtin_itself(self) -> bool {
        self.meta().is_some_and(|meta| meta.is_builtin_itself())
    }

    /// Returns true if no class can inherit from it.
    pub fn is_final(self) -> bool {
        self.meta().is_some_and(|meta| meta.is_final())
    }

    /// Returns true if some class could, as far as is known, inherit from both.
    pub(crate) fn could_share_a_subclass(self, other: ClassHandle) -> bool {
        read().could_share_a_subclass(self, other)
    }

    /// The base to which the join climbs from here; see [`Type::join`](super::Type::join).
    pub(crate) fn join_parent(self) -> Option<ClassHandle> {
        read()
            .classes
            .get(self.slot(), self.generation())?
            .join_parent
    }

    /// The number of steps that [`join_parent`](Self::join_parent) climbs to the end.
    pub(crate) fn join_depth(self) -> u32 {
        read()
            .classes
            .get(self.slot(), self.generation())
            .map_or(0, |record| record.join_depth)
    }

    /// Returns true if the class was registered as owning its layout.
    pub fn owns_layout(self) -> bool {
        read()
            .classes
            .get(self.slot(), self.generation())
            .is_some_and(|record| record.owns_layout)
    }

    /// The object that is this class, if registered.
    pub fn as_object(self) -> Option<ObjectHandle> {
        read()
            .classes
            .get(self.slot(), self.generation())?
            .object
            .filter(|object| object.is_alive())
    }

    /// Notes that the class died. The handle becomes stale as soon as nothing pins it, at once if
    /// nothing does; subclasses and instances pin it.
    pub fn forget(self) {
        write().forget_class(self);
    }
}

impl ObjectHandle {
    /// The object's class; none for a stale handle.
    #[inline]
    pub fn class(self) -> Option<ClassHandle> {
        ClassHandle::from_raw(OBJECTS.get(self.slot())?.class(self.generation())?)
    }

    /// Returns true if the object is known to live forever; false for a stale handle.
    #[inline]
    pub fn is_immortal(self) -> bool {
        OBJECTS
            .get(self.slot())
            .and_then(|slot| slot.is_immortal(self.generation()))
            .unwrap_or(false)
    }

    /// The class this object is, if it is one.
    pub fn denotes(self) -> Option<ClassHandle> {
        read().objects.get(self.slot(), self.generation())?.denotes
    }

    /// Notes that the object died; see [`ClassHandle::forget`].
    pub fn forget(self) {
        write().forget_object(self);
    }
}
