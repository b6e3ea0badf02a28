//! The removal of classes and objects: forgotten by their host, and freed as soon as nothing pins
//! them.

use super::super::slots::{CLASSES, OBJECTS};
use super::super::{ClassHandle, ObjectHandle};
use super::Registry;

impl Registry {
    pub(in crate::types::handles) fn close_host(&mut self, host: u32) {
        self.hosts.remove(&host);
        let objects: Vec<_> = self
            .objects
            .inhabitants()
            .filter(|(.., record)| record.host == host && !record.forgotten)
            .filter_map(|(slot, generation, _)| ObjectHandle::from_parts(slot, generation))
            .collect();
        objects
            .into_iter()
            .for_each(|object| self.forget_object(object));
        let classes: Vec<_> = self
            .classes
            .inhabitants()
            .filter(|(.., record)| record.host == host && !record.forgotten)
            .filter_map(|(slot, generation, _)| ClassHandle::from_parts(slot, generation))
            .collect();
        classes
            .into_iter()
            .for_each(|class| self.forget_class(class));
        self.repeats.retain(|(owner, _), _| *owner != host);
    }

    pub(in crate::types::handles) fn forget_class(&mut self, class: ClassHandle) {
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

    pub(in crate::types::handles) fn forget_object(&mut self, object: ObjectHandle) {
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

    pub(in crate::types::handles) fn unpin_class(&mut self, class: ClassHandle) {
        if let Some(record) = self.classes.get_mut(class.slot(), class.generation()) {
            record.pins = record.pins.saturating_sub(1);
        }
        self.free_classes(vec![class]);
    }

    pub(in crate::types::handles) fn unpin_object(&mut self, object: ObjectHandle) {
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

    /// Frees those of `candidates` that are not needed any more, and those that only they needed.
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
