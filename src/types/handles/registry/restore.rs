//! Gives classes and objects of a simulated host the labels and addresses that they had where a
//! text was written.

use super::super::labels::label_text;
use super::{Named, OBJECTS, Registry};
use crate::types::handles::ObjectHandle;
use std::sync::Arc;

impl Registry {
    pub(in crate::types::handles) fn restore(
        &mut self,
        host: u32,
        whom: Named,
        label: &str,
        token: u64,
    ) {
        self.restore_label(host, whom, label);
        if token == 0 {
            return;
        }
        match whom {
            Named::Class(class) => {
                if let Some(record) = self.classes.get_mut(class.slot(), class.generation())
                    && record.host == host
                    && !self.class_tokens.contains_key(&(host, token))
                {
                    self.class_tokens.remove(&(host, record.token));
                    record.token = token;
                    self.class_tokens.insert((host, token), class);
                }
            }
            Named::Object(object) => {
                if let Some(record) = self.objects.get_mut(object.slot(), object.generation())
                    && record.host == host
                    && !self.object_tokens.contains_key(&(host, token))
                {
                    self.object_tokens.remove(&(host, record.token));
                    record.token = token;
                    self.object_tokens.insert((host, token), object);
                }
            }
        }
    }

    fn restore_label(&mut self, host: u32, whom: Named, label: &str) {
        let (of_host, name, old) = match whom {
            Named::Class(class) => match self.class(class) {
                Some(record) => (record.host, record.name.clone(), record.label.clone()),
                None => return,
            },
            // An object that denotes a class has the class's label.
            Named::Object(object) => match self.object(object) {
                Some(record) if record.denotes.is_none() => {
                    (record.host, record.name.clone(), record.label.clone())
                }
                _ => return,
            },
        };
        let plain = label_text(&name);
        let number = label.strip_prefix(plain.as_str());
        let fits = number.is_some_and(|number| {
            let digits = number.strip_prefix('#').unwrap_or("x");
            number.is_empty() || digits.bytes().all(|b| b.is_ascii_digit()) && !digits.is_empty()
        });
        let label: Arc<str> = Arc::from(label);
        if !fits || of_host != host || self.labels.contains_key(&(host, label.clone())) {
            return;
        }
        self.labels.remove(&(host, old));
        self.labels.insert((host, label.clone()), whom);
        match whom {
            Named::Class(class) => {
                let Some(record) = self.classes.get_mut(class.slot(), class.generation()) else {
                    return;
                };
                record.label = label.clone();
                if let Some(object) = record.object
                    && let Some(record) = self.objects.get_mut(object.slot(), object.generation())
                {
                    record.label = label;
                }
            }
            Named::Object(object) => {
                if let Some(record) = self.objects.get_mut(object.slot(), object.generation()) {
                    record.label = label;
                }
            }
        }
    }

    pub(in crate::types::handles) fn set_immortal(
        &mut self,
        host: u32,
        object: ObjectHandle,
        immortal: bool,
    ) {
        if self
            .object(object)
            .is_some_and(|record| record.host == host)
            && let Some(slot) = OBJECTS.get(object.slot())
        {
            slot.set_immortal(immortal);
        }
    }
}
