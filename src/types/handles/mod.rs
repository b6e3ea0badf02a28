//! Classes and objects of hosts, as small numbers that can't dangle.
//!
//! A [`Type`](super::Type) must be sixteen context-free bytes, so it can't hold a class; it holds a [`ClassHandle`]: a slot in the one
//! process-wide table and the *generation* of whoever lives there. A host registers a class, and says
//! [`forget`](ClassHandle::forget) when the class dies. Whoever relies on it meanwhile holds a [`ClassPin`]. Once it is forgotten and unpinned
//! the slot goes to somebody else under another generation, and the old handle is **stale**: equal to itself,
//! derived from itself, and from and to nothing else; every question about it has an answer that claims nothing.
//!
//! Classes of different hosts are never related. Host addresses ("tokens") are never looked at; a class
//! re-created at the same address, after the first was forgotten, is another class.
//!
//! Registering and naming take a lock; what a subtype test asks takes none (see `slots`).

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

/// What a host says of a class.
#[derive(Clone, Debug)]
pub struct ClassDesc {
    /// Its name, as a person would write it; also decides which class an intersection keeps (see [`super`]).
    pub name: String,
    /// Its method resolution order without itself.
    pub bases_mro: Vec<ClassHandle>,
    /// The predefined type this class is, or the most derived one it inherits from.
    pub predefined: Predefined,
    /// Whether the class *is* `predefined` and does not merely derive from it.
    pub is_builtin_itself: bool,
    /// Whether the host forbids to inherit from it.
    pub is_final: bool,
    /// Whether it lays its instances out differently from its bases, so that no class can inherit both from it and
    /// from another that does, unless one of the two derives from the other. `false` claims nothing.
    pub owns_layout: bool,
    /// The host's address of the class, or 0.
    pub token: u64,
}

impl ClassDesc {
    /// A user class that may be inherited from.
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

    /// With the host's address of the class.
    pub fn with_token(self, token: u64) -> Self {
        ClassDesc { token, ..self }
    }
}

/// What a host says of an object.
#[derive(Clone, Debug)]
pub struct ObjectDesc {
    /// How to write it: a literal (`5`, `"hello!"`), or a name.
    pub name: String,
    /// Its class.
    pub class: ClassHandle,
    /// Whether it is known to live forever. `false` claims nothing: what is mortal today may be made immortal.
    pub immortal: bool,
    /// The class this object *is*, if it is one.
    pub denotes: Option<ClassHandle>,
    /// The host's address of the object, or 0.
    pub token: u64,
}

impl ObjectDesc {
    /// An object not known to live forever.
    pub fn new(name: impl Into<String>, class: ClassHandle) -> Self {
        ObjectDesc {
            name: name.into(),
            class,
            immortal: false,
            denotes: None,
            token: 0,
        }
    }
}

/// Why a class or an object was not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// A handle in the description is no longer alive.
    #[error("`{name}` refers to a class that is gone")]
    Stale {
        /// What was to be registered.
        name: String,
    },
    /// A handle in the description is another host's.
    #[error("`{name}` refers to `{class}`, which belongs to another host")]
    ForeignClass {
        /// What was to be registered.
        name: String,
        /// The other host's class.
        class: String,
    },
    /// A class is in the order twice.
    #[error("the resolution order of `{name}` holds `{class}` twice")]
    RepeatedInMro {
        /// What was to be registered.
        name: String,
        /// The class that is there twice.
        class: String,
    },
    /// A base's own base is missing, or stands before the base.
    #[error(
        "the resolution order of `{name}` does not hold `{base}` after `{class}`, which derives from it"
    )]
    MroNotClosed {
        /// What was to be registered.
        name: String,
        /// A class in the order.
        class: String,
        /// Its missing or misplaced base.
        base: String,
    },
    /// The declared predefined base is not what the resolution order says.
    #[error("`{name}` is declared a `{declared:?}` but inherits from `{base}`, a `{found:?}`")]
    InconsistentBase {
        /// What was to be registered.
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
        /// What was to be registered.
        name: String,
        /// The closed base.
        base: String,
    },
    /// Two bases lay instances out in conflicting ways.
    #[error(
        "the layouts of `{first}` and `{second}` conflict, so `{name}` can't inherit from both"
    )]
    LayoutConflict {
        /// What was to be registered.
        name: String,
        /// One base.
        first: String,
        /// The other base.
        second: String,
    },
    /// The token is another live class's or object's.
    #[error("the token of `{name}` is in use by `{other}`")]
    TokenInUse {
        /// What was to be registered.
        name: String,
        /// Whose token it is.
        other: String,
    },
    /// The host has a class for the predefined type, or an object for the class, already.
    #[error("`{name}` is registered already, as `{other}`")]
    AlreadyRegistered {
        /// What was to be registered.
        name: String,
        /// What stands in the way.
        other: String,
    },
    /// The host was closed.
    #[error("the host is closed")]
    HostClosed,
    /// There is no slot left.
    #[error("the table of classes and objects is full")]
    TableFull,
}

impl HostId {
    /// A new host, with no classes.
    #[allow(clippy::new_without_default)] // every call makes another host: no value is the default one
    pub fn new() -> HostId {
        HostId(write().open_host())
    }

    /// Registers a class. One whose token is registered already is the same class, if the descriptions agree.
    pub fn register_class(self, desc: ClassDesc) -> Result<ClassHandle, HandleError> {
        write().add_class(self.0, desc)
    }

    /// Registers an object. One whose token is registered already is the same object, if the classes agree.
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

    /// Whoever prints under this label.
    pub(crate) fn named(self, label: &str) -> Option<Named> {
        read().named(self.0, label)
    }

    /// Gives a class or an object that a text describes the label and the address (not 0) that it had there. A label that
    /// is taken, or is none that its name could have, is not given.
    pub(crate) fn restore(self, whom: Named, label: &str, token: u64) {
        write().restore(self.0, whom, label, token);
    }

    /// Says anew whether an object lives forever.
    pub(crate) fn set_immortal(self, object: ObjectHandle, immortal: bool) {
        write().set_immortal(self.0, object, immortal);
    }

    /// Forgets all the host's classes and objects; nothing more can be registered with it.
    pub fn close(self) {
        write().close_host(self.0);
    }
}

/// Keeps a class's handle from going stale.
#[derive(Debug)]
pub struct ClassPin(Option<ClassHandle>);

/// Keeps an object's handle from going stale.
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

            /// Whether the handle is not stale.
            #[inline]
            pub fn is_alive(self) -> bool {
                $slots
                    .get(self.slot())
                    .is_some_and(|slot| slot.is_alive(self.generation()))
            }

            /// Whether the handle once was alive and no longer is; not so of a number nobody was given yet.
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

            /// Whose it is; none for a stale handle.
            pub fn host(self) -> Option<HostId> {
                read()
                    .$arena
                    .get(self.slot(), self.generation())
                    .map(|record| HostId(record.host))
            }

            /// The name in text form: unique in its host, cut where long, quoted where a name could mislead the parser.
            pub(crate) fn label(self) -> Option<Arc<str>> {
                read()
                    .$arena
                    .get(self.slot(), self.generation())
                    .map(|record| record.label.clone())
            }

            /// Keeps the handle from going stale while the pin lives. A stale handle gives a pin that holds nothing; ask
            /// [`try_pin`](Self::try_pin) where that makes a difference.
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
            /// What is pinned; nothing if the handle was stale.
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

/// Whether a class, as a raw handle, properly derives from another.
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

    /// Whether `other` is this class or in its resolution order. A stale class derives from itself only.
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

    /// The predefined type the class is or derives from; none for a stale handle.
    pub fn predefined(self) -> Option<Predefined> {
        self.meta().map(|meta| meta.predefined())
    }

    /// Whether the class is the host's own class of its predefined type.
    pub fn is_builtin_itself(self) -> bool {
        self.meta().is_some_and(|meta| meta.is_builtin_itself())
    }

    /// Whether nothing can inherit from the class.
    pub fn is_final(self) -> bool {
        self.meta().is_some_and(|meta| meta.is_final())
    }

    /// Whether some class could, as far as is known, inherit from both.
    pub(crate) fn could_share_a_subclass(self, other: ClassHandle) -> bool {
        read().could_share_a_subclass(self, other)
    }

    /// The one base which the join climbs to from here; see [`Type::join`](super::Type::join).
    pub(crate) fn join_parent(self) -> Option<ClassHandle> {
        read()
            .classes
            .get(self.slot(), self.generation())?
            .join_parent
    }

    /// How many steps [`join_parent`](Self::join_parent) climbs until the end.
    pub(crate) fn join_depth(self) -> u32 {
        read()
            .classes
            .get(self.slot(), self.generation())
            .map_or(0, |record| record.join_depth)
    }

    /// Whether the class owns its layout, as it was registered.
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

    /// The host says the class is gone. The handle goes stale as soon as nothing pins it, at once if nothing does; subclasses and
    /// instances pin it.
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

    /// Whether the object is known to live forever; no for a stale handle.
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

    /// The host says the object is gone; see [`ClassHandle::forget`].
    pub fn forget(self) {
        write().forget_object(self);
    }
}
