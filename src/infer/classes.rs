//! Classes: the host's, which the engine knows by name, and those that the program defines.

use super::engine::Engine;
use super::identity::{Identity, Kind, Slot};
use super::value::Facts;
use crate::types::{ConstValue, Type};

/// The host's classes whose instances are fully described by their types.
const CLASSES: &[(&str, Type)] = &[
    ("object", Type::OBJECT),
    ("int", Type::LONG),
    ("bool", Type::BOOL),
    ("float", Type::FLOAT),
    ("str", Type::UNICODE),
    ("bytes", Type::BYTES),
    ("list", Type::LIST),
    ("tuple", Type::TUPLE),
    ("dict", Type::DICT),
    ("set", Type::SET),
    ("frozenset", Type::FROZEN_SET),
    ("range", Type::RANGE),
    ("type", Type::TYPE),
    ("NoneType", Type::NONE_TYPE),
];

/// The host's functions that the engine knows.
const FUNCTIONS: &[&str] = &[
    "__build_class__",
    "len",
    "abs",
    "min",
    "max",
    "isinstance",
    "iter",
    "next",
    "print",
    "sum",
    "sorted",
    "enumerate",
    "chr",
    "ord",
    "repr",
    "id",
    "hash",
    "round",
    "super",
    "zip",
    "reversed",
    "object.__init__",
    "list.append",
    "list.pop",
    "list.extend",
    "list.insert",
    "list.index",
    "list.count",
    "list.reverse",
    "list.sort",
    "list.clear",
    "list.copy",
    "list.remove",
    "dict.get",
    "dict.keys",
    "dict.values",
    "dict.items",
    "dict.pop",
    "dict.setdefault",
    "dict.update",
    "dict.clear",
    "dict.copy",
    "set.add",
    "set.discard",
    "set.remove",
    "set.pop",
    "set.clear",
    "set.copy",
    "str.join",
    "str.upper",
    "str.lower",
    "str.strip",
    "str.replace",
    "str.startswith",
    "str.endswith",
    "str.split",
    "str.find",
    "str.format",
];

/// The host's exceptions, each with its base.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("BaseException", "object"),
    ("Exception", "BaseException"),
    ("KeyboardInterrupt", "BaseException"),
    ("SystemExit", "BaseException"),
    ("GeneratorExit", "BaseException"),
    ("ArithmeticError", "Exception"),
    ("ZeroDivisionError", "ArithmeticError"),
    ("OverflowError", "ArithmeticError"),
    ("FloatingPointError", "ArithmeticError"),
    ("AssertionError", "Exception"),
    ("AttributeError", "Exception"),
    ("LookupError", "Exception"),
    ("IndexError", "LookupError"),
    ("KeyError", "LookupError"),
    ("MemoryError", "Exception"),
    ("NameError", "Exception"),
    ("UnboundLocalError", "NameError"),
    ("OSError", "Exception"),
    ("RuntimeError", "Exception"),
    ("NotImplementedError", "RuntimeError"),
    ("RecursionError", "RuntimeError"),
    ("StopIteration", "Exception"),
    ("SyntaxError", "Exception"),
    ("TypeError", "Exception"),
    ("ValueError", "Exception"),
    ("UnicodeError", "ValueError"),
];

/// The depth of nested tuples in an operand of `isinstance` that is searched for classes. There is
/// a limit because a tuple of the analysis may contain itself: an identity represents all tuples of
/// one place.
const DEPTH: u32 = 4;

impl Engine<'_> {
    /// The identity of a builtin that the engine knows by this name.
    pub(super) fn builtin(&mut self, name: &str) -> Option<Identity> {
        if let Some(&id) = self.builtins.get(name) {
            return Some(id);
        }
        if let Some((name, _)) = CLASSES.iter().find(|row| row.0 == name) {
            let id = self.set.identity(Kind::Class, name);
            self.builtins.insert(name, id);
            return Some(id);
        }
        if let Some(name) = FUNCTIONS.iter().find(|row| **row == name) {
            let id = self.set.identity(Kind::Builtin, name);
            self.builtins.insert(name, id);
            return Some(id);
        }
        let (name, base) = EXCEPTIONS.iter().find(|row| row.0 == name)?;
        let class = self.set.identity(Kind::Class, name);
        let instance = self.set.identity(Kind::Exception, name);
        self.set.heap_mut(class).link = instance.as_u32();
        self.set.heap_mut(instance).link = class.as_u32();
        self.builtins.insert(name, class);
        let base = self.builtin(base)?;
        self.set
            .store_facts(class, Slot::Base(0), Facts::object(Type::TYPE_EXACT, base));
        Some(class)
    }

    /// The facts of a builtin.
    pub(super) fn builtin_facts(&mut self, name: &str) -> Option<Facts> {
        let id = self.builtin(name)?;
        Some(Facts::object(self.set.own_heap(id).kind.ty(), id))
    }

    /// The facts of one of the host's exceptions.
    pub(super) fn exception(&mut self, name: &str) -> Facts {
        match self.builtin(name) {
            Some(class) => self.instance_of(class),
            None => Facts::of_type(Type::BASE_EXCEPTION),
        }
    }

    /// Notes that the operation may raise one of the host's exceptions.
    pub(super) fn raise_named(&mut self, name: &str) {
        let facts = self.exception(name);
        self.raise(facts);
    }

    /// Notes that the operation may raise any exception.
    pub(super) fn raise_any(&mut self) {
        self.raise(Facts::of_type(Type::BASE_EXCEPTION));
    }

    /// The facts of an instance of exactly this class (a user class or an exception class).
    pub(super) fn instance_of(&mut self, class: Identity) -> Facts {
        let instance = Identity::from_u32(self.set.own_heap(class).link);
        let kind = self.set.own_heap(instance).kind;
        let ty = match kind {
            Kind::Exception => Type::BASE_EXCEPTION,
            _ if self.is_exception(class) => Type::BASE_EXCEPTION_USER,
            _ => Type::OBJECT_USER,
        };
        Facts::object(ty, instance)
    }

    /// Returns true if the class is one of the host's.
    pub(super) fn is_builtin_class(&self, class: Identity) -> bool {
        self.builtins.get(&*self.set.own_heap(class).name) == Some(&class)
    }

    /// Returns true if instances of the class are exceptions.
    pub(super) fn is_exception(&mut self, class: Identity) -> bool {
        match self.builtin("BaseException") {
            Some(base) => self.derives_from_one(class, &[base]),
            None => false,
        }
    }

    /// A type that all instances of the class have.
    pub(super) fn instance_type(&self, class: Identity) -> Type {
        let name = self.set.own_heap(class).name.clone();
        if !self.is_builtin_class(class) {
            return Type::USER;
        }
        match CLASSES.iter().find(|row| row.0 == &*name) {
            Some((_, ty)) => *ty,
            None => Type::BASE_EXCEPTION,
        }
    }

    /// Returns true if the class is one of `classes` or derives from one.
    pub(super) fn derives_from_one(&self, class: Identity, classes: &[Identity]) -> bool {
        let mut work = vec![class];
        let mut seen = Vec::new();
        while let Some(class) = work.pop() {
            let is_object = |id: &Identity| self.builtins.get("object") == Some(id);
            if classes.contains(&class) || classes.iter().any(is_object) {
                return true;
            }
            if !seen.contains(&class) {
                seen.push(class);
                work.extend(self.bases(class));
            }
        }
        false
    }

    fn bases(&self, class: Identity) -> Vec<Identity> {
        let mut found = Vec::new();
        for index in 0.. {
            let Some(facts) = self.set.slot_facts(class, &Slot::Base(index)) else {
                return found;
            };
            found.extend(facts.objects.ids);
        }
        found
    }

    /// Returns true if the operand of `isinstance` or `except` names every class that
    /// [`Engine::classes_of`] finds. Returns false if it may name one or another of them; then a
    /// failed test does not prove that the object is an instance of none.
    pub(super) fn names_all(&mut self, facts: &Facts) -> bool {
        self.names_all_within(facts, DEPTH)
    }

    fn names_all_within(&mut self, facts: &Facts, depth: u32) -> bool {
        let [id] = facts.objects.ids[..] else {
            return false;
        };
        if depth == 0 {
            return false;
        }
        if self.set.own_heap(id).kind != Kind::Tuple {
            return self.is_one_class(id);
        }
        // Tuples that were unified hold the items of all of them.
        let slots = self.set.heap(id).slots.keys();
        let items: Vec<Slot> = slots.filter(|slot| **slot != Slot::Len).cloned().collect();
        let (_, length) = self.read_slot(id, Slot::Len);
        let is_whole = match length.constant {
            Some(ConstValue::Int(length)) => length == items.len() as i64,
            _ => false,
        };
        is_whole
            && items.into_iter().all(|slot| {
                let (_, item) = self.read_slot(id, slot);
                self.names_all_within(&item, depth - 1)
            })
    }

    /// Returns true if the identity represents one class, not all classes that a function creates
    /// in its runs.
    pub(super) fn is_one_class(&self, class: Identity) -> bool {
        self.is_builtin_class(class) || self.made_once.contains(&class)
    }

    /// The classes that an operand of `isinstance` or `except` names. Returns none if there may be
    /// others.
    pub(super) fn classes_of(&mut self, facts: &Facts) -> Option<Vec<Identity>> {
        self.classes_within(facts, DEPTH)
    }

    fn classes_within(&mut self, facts: &Facts, depth: u32) -> Option<Vec<Identity>> {
        if facts.objects.open || facts.objects.ids.is_empty() || depth == 0 {
            return None;
        }
        let mut classes = Vec::new();
        for &id in &facts.objects.ids {
            match self.set.own_heap(id).kind {
                Kind::Class => classes.push(id),
                Kind::Tuple => {
                    let slots: Vec<Slot> = self.set.heap(id).slots.keys().cloned().collect();
                    for slot in slots {
                        match slot {
                            Slot::TupleItem(_) => {
                                let (_, item) = self.read_slot(id, slot);
                                classes.extend(self.classes_within(&item, depth - 1)?);
                            }
                            Slot::Items => return None,
                            _ => {}
                        }
                    }
                }
                _ => return None,
            }
        }
        classes.sort_unstable();
        classes.dedup();
        (!classes.is_empty()).then_some(classes)
    }
}
