//! The table behind the handles: the occupants of slots, their names, and the pins. Everything here
//! happens under one lock; the data that must be read fast is copied into the lock-free slots when
//! a slot is occupied.

mod arena;
mod check;
mod forget;
mod restore;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::super::table::Predefined;
use super::labels::label_text;
use super::slots::{CLASSES, OBJECTS};
use super::{ClassDesc, ClassHandle, HandleError, ObjectDesc, ObjectHandle};
use arena::Arena;

static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(RwLock::default);

/// The registry, for reading. A panic elsewhere can't have left it inconsistent: no code under the
/// lock calls out.
pub(super) fn read() -> RwLockReadGuard<'static, Registry> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner)
}

/// The registry, for writing.
pub(super) fn write() -> RwLockWriteGuard<'static, Registry> {
    REGISTRY.write().unwrap_or_else(PoisonError::into_inner)
}

/// The data of a class's lock-free slot, besides its ancestors.
#[derive(Clone, Copy)]
pub(super) struct ClassMeta(pub(super) u32);

impl ClassMeta {
    const BUILTIN: u32 = 1 << 8;
    const FINAL: u32 = 1 << 9;

    fn new(desc: &ClassDesc) -> Self {
        let builtin = if desc.is_builtin_itself {
            Self::BUILTIN
        } else {
            0
        };
        let is_final = if desc.is_final || (desc.is_builtin_itself && desc.predefined.is_closed()) {
            Self::FINAL
        } else {
            0
        };
        ClassMeta(desc.predefined as u32 | builtin | is_final)
    }

    pub(super) fn predefined(self) -> Predefined {
        Predefined::from_u8(self.0 as u8)
    }

    pub(super) fn is_builtin_itself(self) -> bool {
        self.0 & Self::BUILTIN != 0
    }

    pub(super) fn is_final(self) -> bool {
        self.0 & Self::FINAL != 0
    }
}

/// The class or object with a label.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Named {
    /// A class.
    Class(ClassHandle),
    /// An object that is no class.
    Object(ObjectHandle),
}

/// The cold part of a class.
pub(super) struct ClassRecord {
    pub(super) host: u32,
    pub(super) name: Arc<str>,
    pub(super) label: Arc<str>,
    pub(super) mro: Arc<[ClassHandle]>,
    pub(super) token: u64,
    pub(super) pins: u32,
    forgotten: bool,
    meta: ClassMeta,
    pub(super) owns_layout: bool,
    /// The most derived class of the order, itself included, that owns its layout.
    layout: Option<ClassHandle>,
    pub(super) join_parent: Option<ClassHandle>,
    pub(super) join_depth: u32,
    pub(super) object: Option<ObjectHandle>,
}

/// The cold part of an object.
pub(super) struct ObjectRecord {
    pub(super) host: u32,
    pub(super) name: Arc<str>,
    pub(super) label: Arc<str>,
    pub(super) token: u64,
    pub(super) pins: u32,
    forgotten: bool,
    class: ClassHandle,
    pub(super) denotes: Option<ClassHandle>,
}

#[derive(Default)]
pub(super) struct Registry {
    pub(super) classes: Arena<ClassRecord>,
    pub(super) objects: Arena<ObjectRecord>,
    hosts: HashSet<u32>,
    last_host: u32,
    labels: HashMap<(u32, Arc<str>), Named>,
    /// The number of times that a label was wanted since it was first taken.
    repeats: HashMap<(u32, Arc<str>), u32>,
    class_tokens: HashMap<(u32, u64), ClassHandle>,
    object_tokens: HashMap<(u32, u64), ObjectHandle>,
    builtins: HashMap<(u32, Predefined), ClassHandle>,
    nones: HashMap<u32, ObjectHandle>,
}

impl Registry {
    fn class(&self, class: ClassHandle) -> Option<&ClassRecord> {
        self.classes.get(class.slot(), class.generation())
    }

    fn object(&self, object: ObjectHandle) -> Option<&ObjectRecord> {
        self.objects.get(object.slot(), object.generation())
    }

    fn name(&self, class: ClassHandle) -> String {
        self.class(class)
            .map_or_else(|| "<stale>".to_owned(), |record| record.name.to_string())
    }

    fn derives(&self, class: ClassHandle, base: ClassHandle) -> bool {
        class == base
            || self
                .class(class)
                .is_some_and(|record| record.mro.contains(&base))
    }

    pub(super) fn open_host(&mut self) -> u32 {
        self.last_host += 1;
        self.hosts.insert(self.last_host);
        self.last_host
    }

    pub(super) fn class_by_token(&self, host: u32, token: u64) -> Option<ClassHandle> {
        self.class_tokens.get(&(host, token)).copied()
    }

    pub(super) fn object_by_token(&self, host: u32, token: u64) -> Option<ObjectHandle> {
        self.object_tokens.get(&(host, token)).copied()
    }

    pub(super) fn builtin_class(&self, host: u32, row: Predefined) -> Option<ClassHandle> {
        self.builtins.get(&(host, row)).copied()
    }

    pub(super) fn none_object(&self, host: u32) -> Option<ObjectHandle> {
        self.nones.get(&host).copied()
    }

    pub(super) fn named(&self, host: u32, label: &str) -> Option<Named> {
        self.labels.get(&(host, Arc::from(label))).copied()
    }

    pub(super) fn add_class(
        &mut self,
        host: u32,
        desc: ClassDesc,
    ) -> Result<ClassHandle, HandleError> {
        if !self.hosts.contains(&host) {
            return Err(HandleError::HostClosed);
        }
        if let Some(class) = self.class_by_token(host, desc.token) {
            return self.same_class(class, &desc);
        }
        self.check_class(host, &desc)?;
        if desc.is_builtin_itself
            && let Some(other) = self.builtin_class(host, desc.predefined)
        {
            return Err(HandleError::AlreadyRegistered {
                name: desc.name,
                other: self.name(other),
            });
        }
        let (slot, generation) = self.classes.vacancy().ok_or(HandleError::TableFull)?;
        let class = ClassHandle::from_parts(slot, generation).ok_or(HandleError::TableFull)?;
        let hot = CLASSES.get_or_make(slot).ok_or(HandleError::TableFull)?;
        let (join_parent, join_depth) = self.join_parent(&desc);
        let inherited = desc
            .bases_mro
            .iter()
            .filter_map(|base| self.class(*base)?.layout);
        let inherited = inherited.reduce(|a, b| if self.derives(b, a) { b } else { a });
        let label = self.label(host, label_text(&desc.name), Named::Class(class));
        let meta = ClassMeta::new(&desc);
        let record = ClassRecord {
            host,
            name: Arc::from(desc.name.as_str()),
            label,
            token: desc.token,
            pins: 0,
            forgotten: false,
            meta,
            owns_layout: desc.owns_layout,
            layout: if desc.owns_layout {
                Some(class)
            } else {
                inherited
            },
            join_parent,
            join_depth,
            object: None,
            mro: Arc::from(desc.bases_mro.as_slice()),
        };
        for base in &desc.bases_mro {
            if let Some(base) = self.classes.get_mut(base.slot(), base.generation()) {
                base.pins += 1;
            }
        }
        if desc.token != 0 {
            self.class_tokens.insert((host, desc.token), class);
        }
        if desc.is_builtin_itself {
            self.builtins.insert((host, desc.predefined), class);
        }
        self.classes.occupy(slot, generation, record);
        let ancestors: Vec<_> = desc
            .bases_mro
            .iter()
            .map(|base| (base.slot(), base.to_raw()))
            .collect();
        hot.occupy(generation, meta.0, &ancestors);
        Ok(class)
    }

    fn same_class(&self, class: ClassHandle, desc: &ClassDesc) -> Result<ClassHandle, HandleError> {
        let agrees = self.class(class).is_some_and(|record| {
            *record.name == *desc.name
                && *record.mro == *desc.bases_mro
                && record.meta.0 == ClassMeta::new(desc).0
                && record.owns_layout == desc.owns_layout
        });
        let other = self.name(class);
        if agrees {
            Ok(class)
        } else {
            Err(HandleError::TokenInUse {
                name: desc.name.clone(),
                other,
            })
        }
    }

    pub(super) fn add_object(
        &mut self,
        host: u32,
        desc: ObjectDesc,
    ) -> Result<ObjectHandle, HandleError> {
        if !self.hosts.contains(&host) {
            return Err(HandleError::HostClosed);
        }
        for class in [Some(desc.class), desc.denotes].into_iter().flatten() {
            let record = self.class(class).ok_or_else(|| HandleError::Stale {
                name: desc.name.clone(),
            })?;
            if record.host != host {
                return Err(HandleError::ForeignClass {
                    name: desc.name,
                    class: record.name.to_string(),
                });
            }
        }
        if let Some(object) = self.object_by_token(host, desc.token) {
            return match self.object(object) {
                Some(record)
                    if record.class == desc.class
                        && record.denotes == desc.denotes
                        && object.is_immortal() == desc.immortal =>
                {
                    Ok(object)
                }
                Some(record) => Err(HandleError::TokenInUse {
                    name: desc.name,
                    other: record.name.to_string(),
                }),
                None => Err(HandleError::Stale { name: desc.name }),
            };
        }
        let rival = match desc.denotes {
            Some(class) => self.class(class).and_then(|record| record.object),
            None if self.is_none_class(desc.class) => self.none_object(host),
            None => None,
        };
        if let Some(other) = rival.and_then(|rival| self.object(rival)) {
            return Err(HandleError::AlreadyRegistered {
                name: desc.name,
                other: other.name.to_string(),
            });
        }
        let (slot, generation) = self.objects.vacancy().ok_or(HandleError::TableFull)?;
        let object = ObjectHandle::from_parts(slot, generation).ok_or(HandleError::TableFull)?;
        let hot = OBJECTS.get_or_make(slot).ok_or(HandleError::TableFull)?;
        let label = match desc.denotes.and_then(|class| self.class(class)) {
            Some(class) => class.label.clone(),
            None => self.label(host, label_text(&desc.name), Named::Object(object)),
        };
        if desc.denotes.is_none() && self.is_none_class(desc.class) {
            self.nones.insert(host, object);
        }
        for class in [Some(desc.class), desc.denotes].into_iter().flatten() {
            if let Some(record) = self.classes.get_mut(class.slot(), class.generation()) {
                record.pins += 1;
            }
        }
        if let Some(record) = desc
            .denotes
            .and_then(|class| self.classes.get_mut(class.slot(), class.generation()))
        {
            record.object = Some(object);
        }
        if desc.token != 0 {
            self.object_tokens.insert((host, desc.token), object);
        }
        let (name, class, denotes, token) =
            (Arc::from(desc.name), desc.class, desc.denotes, desc.token);
        let record = ObjectRecord {
            host,
            name,
            label,
            token,
            pins: 0,
            forgotten: false,
            class,
            denotes,
        };
        self.objects.occupy(slot, generation, record);
        hot.occupy(generation, class.to_raw(), desc.immortal);
        Ok(object)
    }

    fn is_none_class(&self, class: ClassHandle) -> bool {
        self.class(class)
            .is_some_and(|record| record.meta.predefined() == Predefined::NoneType)
    }

    /// Takes the label for `whom`, with a number as a suffix if it is taken.
    fn label(&mut self, host: u32, wanted: String, whom: Named) -> Arc<str> {
        let wanted: Arc<str> = Arc::from(wanted);
        let mut label = wanted.clone();
        while self.labels.contains_key(&(host, label.clone())) {
            let count = self.repeats.entry((host, wanted.clone())).or_insert(1);
            *count += 1;
            label = Arc::from(format!("{wanted}#{count}"));
        }
        self.labels.insert((host, label.clone()), whom);
        label
    }
}
