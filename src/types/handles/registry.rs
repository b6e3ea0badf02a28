//! The table behind the handles: who lives in which slot, under which name, and who pins whom. Everything here happens
//! under one lock; what must be quick is copied into the lock-free slots when somebody moves in.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::super::table::Predefined;
use super::labels::label_text;
use super::slots::{CLASSES, MAX_SLOTS, OBJECTS};
use super::{ClassDesc, ClassHandle, HandleError, ObjectDesc, ObjectHandle};

static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(RwLock::default);

/// The registry, to look at. A panic elsewhere can't have left it inconsistent: nothing under the lock calls out.
pub(super) fn read() -> RwLockReadGuard<'static, Registry> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner)
}

/// The registry, to change.
pub(super) fn write() -> RwLockWriteGuard<'static, Registry> {
    REGISTRY.write().unwrap_or_else(PoisonError::into_inner)
}

/// What the lock-free slot of a class knows besides its ancestors.
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

/// What answers to a label.
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

/// Slots with generations.
pub(super) struct Arena<R> {
    slots: Vec<(u32, Option<R>)>,
    free: Vec<u32>,
}

impl<R> Default for Arena<R> {
    fn default() -> Self {
        Arena {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<R> Arena<R> {
    pub(super) fn get(&self, slot: u32, generation: u32) -> Option<&R> {
        match self.slots.get(slot as usize)? {
            (current, Some(record)) if *current == generation => Some(record),
            _ => None,
        }
    }

    /// Whether this generation of the slot lives or lived.
    pub(super) fn was_given(&self, slot: u32, generation: u32) -> bool {
        self.slots
            .get(slot as usize)
            .is_some_and(|(current, _)| generation <= *current)
    }

    pub(super) fn get_mut(&mut self, slot: u32, generation: u32) -> Option<&mut R> {
        match self.slots.get_mut(slot as usize)? {
            (current, Some(record)) if *current == generation => Some(record),
            _ => None,
        }
    }

    /// A free slot and the generation its next inhabitant will have.
    fn vacancy(&mut self) -> Option<(u32, u32)> {
        if self.free.is_empty() {
            let slot = u32::try_from(self.slots.len())
                .ok()
                .filter(|slot| *slot < MAX_SLOTS)?;
            self.slots.push((0, None));
            self.free.push(slot);
        }
        let slot = *self.free.last()?;
        Some((slot, self.slots.get(slot as usize)?.0 + 1))
    }

    /// Moves `record` into the slot [`vacancy`](Self::vacancy) named last.
    fn occupy(&mut self, slot: u32, generation: u32, record: R) {
        self.free.pop();
        if let Some(entry) = self.slots.get_mut(slot as usize) {
            *entry = (generation, Some(record));
        }
    }

    /// Moves the inhabitant out. A slot whose generations are used up is not let again.
    fn vacate(&mut self, slot: u32, generation: u32) -> Option<R> {
        let entry = self
            .slots
            .get_mut(slot as usize)
            .filter(|(current, _)| *current == generation)?;
        let record = entry.1.take()?;
        if generation < u32::MAX {
            self.free.push(slot);
        }
        Some(record)
    }
}

#[derive(Default)]
pub(super) struct Registry {
    pub(super) classes: Arena<ClassRecord>,
    pub(super) objects: Arena<ObjectRecord>,
    hosts: HashSet<u32>,
    last_host: u32,
    labels: HashMap<(u32, Arc<str>), Named>,
    /// How often a label was wanted since it was first taken.
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

    pub(super) fn close_host(&mut self, host: u32) {
        self.hosts.remove(&host);
        let objects =
            self.objects
                .slots
                .iter()
                .zip(0..)
                .filter_map(|((generation, record), slot)| {
                    record
                        .as_ref()
                        .filter(|record| record.host == host && !record.forgotten)?;
                    ObjectHandle::from_parts(slot, *generation)
                });
        let objects = objects.collect::<Vec<_>>();
        objects
            .into_iter()
            .for_each(|object| self.forget_object(object));
        let classes: Vec<_> = self
            .classes
            .slots
            .iter()
            .zip(0..)
            .filter_map(|((generation, record), slot)| {
                record
                    .as_ref()
                    .filter(|record| record.host == host && !record.forgotten)?;
                ClassHandle::from_parts(slot, *generation)
            })
            .collect();
        classes
            .into_iter()
            .for_each(|class| self.forget_class(class));
        self.repeats.retain(|(owner, _), _| *owner != host);
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

    /// Whether the description is possible: only what is checked here may be relied on by the operations on types.
    fn check_class(&self, host: u32, desc: &ClassDesc) -> Result<(), HandleError> {
        let name = || desc.name.clone();
        for (position, &base) in desc.bases_mro.iter().enumerate() {
            let record = self
                .class(base)
                .ok_or_else(|| HandleError::Stale { name: name() })?;
            if record.host != host {
                return Err(HandleError::ForeignClass {
                    name: name(),
                    class: record.name.to_string(),
                });
            }
            let after = &desc.bases_mro[position + 1..];
            if after.contains(&base) {
                return Err(HandleError::RepeatedInMro {
                    name: name(),
                    class: record.name.to_string(),
                });
            }
            if let Some(missing) = record.mro.iter().find(|grand| !after.contains(grand)) {
                let base = self.name(*missing);
                return Err(HandleError::MroNotClosed {
                    name: name(),
                    class: record.name.to_string(),
                    base,
                });
            }
            if record.meta.is_final() {
                return Err(HandleError::ClosedBase {
                    name: name(),
                    base: record.name.to_string(),
                });
            }
            let found = record.meta.predefined();
            if !desc.predefined.derives_from(found) {
                let (declared, base) = (desc.predefined, record.name.to_string());
                return Err(HandleError::InconsistentBase {
                    name: name(),
                    declared,
                    base,
                    found,
                });
            }
            if let Some(other) = after
                .iter()
                .find(|other| !self.could_share_a_subclass(base, **other))
            {
                let (first, second) = (record.name.to_string(), self.name(*other));
                return Err(HandleError::LayoutConflict {
                    name: name(),
                    first,
                    second,
                });
            }
        }
        if !desc.is_builtin_itself && desc.predefined.is_closed() {
            return Err(HandleError::ClosedBase {
                name: name(),
                base: desc.predefined.spelled().to_owned(),
            });
        }
        Ok(())
    }

    /// The direct base with the longest way up, the first of several: the tree of these is what the join climbs. Predefined classes
    /// are no part of it, a type's leaves speak for them.
    fn join_parent(&self, desc: &ClassDesc) -> (Option<ClassHandle>, u32) {
        let mut best: Option<(ClassHandle, u32)> = None;
        for &base in &desc.bases_mro {
            let Some(record) = self.class(base) else {
                continue;
            };
            let is_direct = !desc
                .bases_mro
                .iter()
                .any(|other| *other != base && self.derives(*other, base));
            if is_direct
                && !record.meta.is_builtin_itself()
                && best.is_none_or(|(_, depth)| record.join_depth > depth)
            {
                best = Some((base, record.join_depth));
            }
        }
        best.map_or((None, 0), |(base, depth)| (Some(base), depth + 1))
    }

    pub(super) fn could_share_a_subclass(&self, a: ClassHandle, b: ClassHandle) -> bool {
        if self.derives(a, b) || self.derives(b, a) {
            return true;
        }
        let (Some(first), Some(second)) = (self.class(a), self.class(b)) else {
            return false;
        };
        if first.host != second.host || first.meta.is_final() || second.meta.is_final() {
            return false;
        }
        let (rows, layouts) = (
            (first.meta.predefined(), second.meta.predefined()),
            (first.layout, second.layout),
        );
        let rows_agree = rows.0.derives_from(rows.1) || rows.1.derives_from(rows.0);
        rows_agree
            && layouts
                .0
                .zip(layouts.1)
                .is_none_or(|(a, b)| self.derives(a, b) || self.derives(b, a))
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

    /// Takes the label for `whom`, with a number behind it if it is taken.
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

    pub(super) fn forget_class(&mut self, class: ClassHandle) {
        let Some(record) = self.classes.get_mut(class.slot(), class.generation()) else {
            return;
        };
        record.forgotten = true;
        let (host, token, row) = (record.host, record.token, record.meta.predefined());
        if self.class_by_token(host, token) == Some(class) {
            self.class_tokens.remove(&(host, token));
        }
        if self.builtin_class(host, row) == Some(class) {
            self.builtins.remove(&(host, row));
        }
        self.free_classes(vec![class]);
    }

    pub(super) fn forget_object(&mut self, object: ObjectHandle) {
        let Some(record) = self.objects.get_mut(object.slot(), object.generation()) else {
            return;
        };
        record.forgotten = true;
        let (host, token) = (record.host, record.token);
        if self.object_by_token(host, token) == Some(object) {
            self.object_tokens.remove(&(host, token));
        }
        if self.none_object(host) == Some(object) {
            self.nones.remove(&host);
        }
        self.free_object(object);
    }

    pub(super) fn unpin_class(&mut self, class: ClassHandle) {
        if let Some(record) = self.classes.get_mut(class.slot(), class.generation()) {
            record.pins = record.pins.saturating_sub(1);
        }
        self.free_classes(vec![class]);
    }

    pub(super) fn unpin_object(&mut self, object: ObjectHandle) {
        if let Some(record) = self.objects.get_mut(object.slot(), object.generation()) {
            record.pins = record.pins.saturating_sub(1);
        }
        self.free_object(object);
    }

    fn free_object(&mut self, object: ObjectHandle) {
        if !self
            .object(object)
            .is_some_and(|record| record.forgotten && record.pins == 0)
        {
            return;
        }
        if let Some(slot) = OBJECTS.get(object.slot()) {
            slot.vacate();
        }
        let Some(record) = self.objects.vacate(object.slot(), object.generation()) else {
            return;
        };
        if record.denotes.is_none() {
            self.labels.remove(&(record.host, record.label));
        }
        for class in [Some(record.class), record.denotes].into_iter().flatten() {
            self.unpin_class(class);
        }
    }

    /// Frees those of `candidates` that nobody needs any more, and what only they needed.
    fn free_classes(&mut self, mut candidates: Vec<ClassHandle>) {
        while let Some(class) = candidates.pop() {
            if !self
                .class(class)
                .is_some_and(|record| record.forgotten && record.pins == 0)
            {
                continue;
            }
            if let Some(slot) = CLASSES.get(class.slot()) {
                slot.vacate();
            }
            let Some(record) = self.classes.vacate(class.slot(), class.generation()) else {
                continue;
            };
            self.labels.remove(&(record.host, record.label));
            for base in record.mro.iter() {
                if let Some(base) = self.classes.get_mut(base.slot(), base.generation()) {
                    base.pins = base.pins.saturating_sub(1);
                }
                candidates.push(*base);
            }
        }
    }
}
