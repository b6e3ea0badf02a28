//! From the lines of a hierarchy to registered classes and objects: resolution orders, metaclasses,
//! and faults.

use std::collections::HashMap;

use super::lines::{ClassLine, ObjectLine, Word};
use super::{Hierarchy, HierarchyError, HierarchyFault, fault};
use crate::types::handles::{ClassDesc, ClassHandle, HandleError, HostId, ObjectDesc};
use crate::types::table::Predefined;

/// The most levels of classes not yet registered.
pub(super) const MAX_DEPTH: usize = 256;

/// The host under construction.
pub(super) struct Builder<'a> {
    hierarchy: Hierarchy,
    by_name: HashMap<&'a str, Known>,
}

#[derive(Clone, Copy)]
struct Known {
    class: ClassHandle,
    metaclass: ClassHandle,
}

impl<'a> Builder<'a> {
    pub(super) fn new() -> Result<Self, HierarchyError> {
        let host = HostId::new();
        let hierarchy = Hierarchy {
            host,
            classes: Vec::new(),
            objects: Vec::new(),
            aliases: Vec::new(),
        };
        let mut builder = Builder {
            hierarchy,
            by_name: HashMap::new(),
        };
        match builder.builtins(host) {
            Ok(()) => Ok(builder),
            Err(refused) => fault(0, 0, refused),
        }
    }

    fn builtins(&mut self, host: HostId) -> Result<(), HandleError> {
        let mut classes: Vec<(Predefined, ClassHandle)> = Vec::new();
        for row in Predefined::ALL {
            // The table lists each row after its parent.
            let mut bases: Vec<_> = classes
                .iter()
                .filter(|(base, _)| row.derives_from(*base))
                .collect();
            bases.sort_by_key(|(base, _)| *base == Predefined::Object);
            let bases = bases.into_iter().map(|(_, class)| *class).collect();
            classes.push((*row, host.register_class(ClassDesc::builtin(*row, bases))?));
        }
        let Some(metaclass) = host.builtin_class(Predefined::Type) else {
            return Ok(());
        };
        for (row, class) in classes {
            self.by_name
                .insert(row.spelled(), Known { class, metaclass });
            self.as_object(class, metaclass, true)?;
        }
        Ok(())
    }

    /// A class is an object, too.
    fn as_object(
        &mut self,
        class: ClassHandle,
        metaclass: ClassHandle,
        immortal: bool,
    ) -> Result<(), HandleError> {
        let desc = ObjectDesc::new(&*class.name(), metaclass);
        self.hierarchy.host.register_object(ObjectDesc {
            immortal,
            denotes: Some(class),
            ..desc
        })?;
        Ok(())
    }

    pub(super) fn build(
        mut self,
        classes: &[ClassLine<'a>],
        objects: &[ObjectLine<'a>],
    ) -> Result<Hierarchy, HierarchyError> {
        let mut lines: HashMap<&str, &ClassLine<'a>> = HashMap::new();
        for class in classes {
            let name = class.name.text;
            if self.by_name.contains_key(name) || lines.insert(name, class).is_some() {
                return fault(
                    class.line,
                    class.name.column,
                    HierarchyFault::Redefined(name.to_owned()),
                );
            }
        }
        for class in classes {
            self.class(class, &lines, &mut Vec::new())?;
        }
        for object in objects {
            self.object(object)?;
        }
        Ok(self.hierarchy)
    }

    /// The class of this name, registered with its bases if it was not yet.
    fn known(
        &mut self,
        word: Word<'a>,
        line: usize,
        lines: &HashMap<&str, &ClassLine<'a>>,
        path: &mut Vec<&'a str>,
    ) -> Result<Known, HierarchyError> {
        if let Some(known) = self.by_name.get(word.text) {
            return Ok(*known);
        }
        match lines.get(word.text) {
            _ if path.contains(&word.text) => fault(
                line,
                word.column,
                HierarchyFault::Cycle(word.text.to_owned()),
            ),
            Some(class) => self.class(class, lines, path),
            None => fault(
                line,
                word.column,
                HierarchyFault::UnknownClass(word.text.to_owned()),
            ),
        }
    }

    fn class(
        &mut self,
        line: &ClassLine<'a>,
        lines: &HashMap<&str, &ClassLine<'a>>,
        path: &mut Vec<&'a str>,
    ) -> Result<Known, HierarchyError> {
        let name = line.name.text;
        if let Some(known) = self.by_name.get(name) {
            return Ok(*known);
        }
        if path.len() >= MAX_DEPTH {
            return fault(
                line.line,
                line.name.column,
                HierarchyFault::TooDeep(name.to_owned()),
            );
        }
        path.push(name);
        let mut bases = Vec::new();
        for base in &line.bases {
            bases.push(self.known(*base, line.line, lines, path)?);
        }
        if bases.is_empty() {
            bases.push(self.known(
                Word {
                    text: "object",
                    column: 1,
                },
                line.line,
                lines,
                path,
            )?);
        }
        let declared = match line.metaclass {
            Some(word) => Some(self.known(word, line.line, lines, path)?.class),
            None => None,
        };
        path.pop();
        let here = |what| HierarchyError {
            line: line.line,
            column: line.name.column,
            fault: what,
        };
        if let (Some(class), Some(word)) = (declared, line.metaclass)
            && class.predefined() != Some(Predefined::Type)
        {
            return fault(
                line.line,
                word.column,
                HierarchyFault::NotAMetaclass(word.text.to_owned()),
            );
        }
        let metaclass = most_derived(
            declared
                .into_iter()
                .chain(bases.iter().map(|base| base.metaclass)),
        )
        .ok_or_else(|| here(HierarchyFault::MetaclassConflict(name.to_owned())))?;
        let direct: Vec<_> = bases.iter().map(|base| base.class).collect();
        let bases_mro = linearise(&direct)
            .ok_or_else(|| here(HierarchyFault::NoLinearisation(name.to_owned())))?;
        let rows = bases_mro.iter().filter_map(|base| base.predefined());
        let predefined = rows
            .reduce(|a, b| if b.derives_from(a) { b } else { a })
            .unwrap_or(Predefined::Object);
        let desc = ClassDesc {
            owns_layout: line.owns_layout,
            is_final: line.is_final,
            ..ClassDesc::new(name, bases_mro, predefined)
        };
        let class = self
            .hierarchy
            .host
            .register_class(desc)
            .map_err(|refused| here(refused.into()))?;
        self.as_object(class, metaclass, false)
            .map_err(|refused| here(refused.into()))?;
        self.hierarchy.classes.push(class);
        let known = Known { class, metaclass };
        self.by_name.insert(name, known);
        Ok(known)
    }

    fn object(&mut self, line: &ObjectLine<'a>) -> Result<(), HierarchyError> {
        let name = line.name.text;
        let taken = self.by_name.contains_key(name)
            || self
                .hierarchy
                .aliases
                .iter()
                .any(|(alias, _)| alias == name);
        if taken {
            return fault(
                line.line,
                line.name.column,
                HierarchyFault::Redefined(name.to_owned()),
            );
        }
        let Some(known) = self.by_name.get(line.class.text) else {
            return fault(
                line.line,
                line.class.column,
                HierarchyFault::UnknownClass(line.class.text.to_owned()),
            );
        };
        let desc = ObjectDesc::new(line.literal.unwrap_or(name), known.class);
        let registered = self.hierarchy.host.register_object(ObjectDesc {
            immortal: line.immortal,
            ..desc
        });
        let object = registered.or_else(|refused| fault(line.line, line.name.column, refused))?;
        self.hierarchy.objects.push(object);
        self.hierarchy.aliases.push((name.to_owned(), object));
        Ok(())
    }
}

/// The class that derives from all the others, if one does.
fn most_derived(classes: impl Iterator<Item = ClassHandle>) -> Option<ClassHandle> {
    let classes: Vec<_> = classes.collect();
    classes
        .iter()
        .copied()
        .find(|class| classes.iter().all(|other| class.is_subclass_of(*other)))
}

/// The C3 linearisation of a class with these bases, without the class.
fn linearise(bases: &[ClassHandle]) -> Option<Vec<ClassHandle>> {
    let mut queues: Vec<Vec<ClassHandle>> = bases
        .iter()
        .map(|base| {
            std::iter::once(*base)
                .chain(base.mro().iter().copied())
                .collect()
        })
        .collect();
    queues.push(bases.to_vec());
    let mut order = Vec::new();
    loop {
        queues.retain(|queue| !queue.is_empty());
        if queues.is_empty() {
            return Some(order);
        }
        let heads = queues.iter().filter_map(|queue| queue.first().copied());
        let next = heads
            .into_iter()
            .find(|head| !queues.iter().any(|queue| queue[1..].contains(head)))?;
        order.push(next);
        queues
            .iter_mut()
            .for_each(|queue| queue.retain(|class| *class != next));
    }
}
