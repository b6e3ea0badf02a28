//! Attribute lookup in classes, in method resolution order.

use super::engine::Engine;
use super::identity::{Identity, Slot};
use super::value::Facts;
use std::sync::Arc;

/// The result of looking a name up in a class.
pub(super) struct Looked {
    /// The value.
    pub facts: Facts,
    /// True if there surely is a value.
    pub surely: bool,
}

impl Looked {
    /// Returns true if there is no value, and none can be added.
    pub fn is_absent(&self) -> bool {
        self.facts.is_impossible() && !self.surely
    }
}

/// Attributes that instances of the host's exceptions have from creation on, by class.
const OF_EXCEPTIONS: &[(&str, &[&str])] = &[
    ("BaseException", &["args"]),
    ("StopIteration", &["value"]),
    ("SystemExit", &["code"]),
    ("NameError", &["name"]),
    ("AttributeError", &["name", "obj"]),
    (
        "OSError",
        &[
            "errno",
            "strerror",
            "filename",
            "filename2",
            "characters_written",
        ],
    ),
    (
        "SyntaxError",
        &[
            "msg",
            "filename",
            "lineno",
            "offset",
            "text",
            "end_lineno",
            "end_offset",
            "print_file_and_line",
        ],
    ),
    (
        "UnicodeError",
        &["encoding", "object", "start", "end", "reason"],
    ),
];

impl Engine<'_> {
    /// The class and its bases in method resolution order. None if the order is not known.
    pub(super) fn linearized(&self, class: Identity) -> Option<Vec<Identity>> {
        self.linearized_within(class, 0)
    }

    fn linearized_within(&self, class: Identity, depth: u32) -> Option<Vec<Identity>> {
        let mut lists: Vec<Vec<Identity>> = Vec::new();
        let mut bases: Vec<Identity> = Vec::new();
        for index in 0.. {
            let Some(facts) = self.set.slot_facts(class, &Slot::Base(index)) else {
                break;
            };
            let [base] = facts.objects.ids[..] else {
                return None;
            };
            if facts.objects.open || depth > 50 {
                return None;
            }
            lists.push(self.linearized_within(base, depth + 1)?);
            bases.push(base);
        }
        lists.push(bases);
        let mut order = vec![class];
        loop {
            lists.retain(|list| !list.is_empty());
            if lists.is_empty() {
                return Some(order);
            }
            let heads = lists.iter().map(|list| list[0]);
            let is_behind = |head: &Identity| lists.iter().any(|l| l[1..].contains(head));
            let next = heads.into_iter().find(|head| !is_behind(head))?;
            order.push(next);
            for list in &mut lists {
                list.retain(|id| *id != next);
            }
        }
    }

    /// Looks the name up in the class and its bases.
    pub(super) fn lookup(&mut self, class: Identity, name: &str) -> Looked {
        match self.linearized(class) {
            Some(order) => self.lookup_in(&order, name),
            None => Looked {
                facts: Facts::any_object(),
                surely: false,
            },
        }
    }

    /// Looks the name up in classes, in the given order.
    pub(super) fn lookup_in(&mut self, order: &[Identity], name: &str) -> Looked {
        let mut facts = Facts::IMPOSSIBLE;
        for &class in order {
            if self.is_builtin_class(class) {
                let own = self.set.own_heap(class).name.clone();
                let row = OF_EXCEPTIONS.iter().find(|row| row.0 == &*own);
                if row.is_some_and(|row| row.1.contains(&name)) {
                    let facts = facts.join(&Facts::any_object());
                    return Looked {
                        facts,
                        surely: true,
                    };
                }
                continue;
            }
            let (_, own) = self.read_slot(class, Slot::Attr(Arc::from(name)));
            facts = facts.join(&own);
            let body = self.bodies.get(&class);
            if body.is_some_and(|body| self.names.surely_binds(*body, name)) {
                return Looked {
                    facts,
                    surely: true,
                };
            }
        }
        // The attributes of `object`.
        if name == "__init__"
            && let Some(init) = self.builtin_facts("object.__init__")
        {
            return Looked {
                facts: facts.join(&init),
                surely: true,
            };
        }
        Looked {
            facts,
            surely: false,
        }
    }

    /// The special methods (such as `__add__`) of the value's classes. None if the value may be
    /// an object that is not an instance of a user class, or if a class may have an attribute of
    /// this name that is not a function.
    pub(super) fn special_methods(&mut self, facts: &Facts, name: &str) -> Option<Looked> {
        let mut all = Looked {
            facts: Facts::IMPOSSIBLE,
            surely: true,
        };
        for &id in &facts.objects.ids {
            if self.set.own_heap(id).kind != super::Kind::Instance {
                return None;
            }
            let class = self.class_of(id);
            let one = self.lookup(class, name);
            all.facts = all.facts.join(&one.facts);
            all.surely &= one.surely;
        }
        let known = all.facts.is_impossible()
            || all.facts.is(crate::types::Type::FUNC) && !all.facts.objects.open;
        known.then_some(all)
    }
}
