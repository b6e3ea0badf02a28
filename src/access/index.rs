//! The indexes: the types that have an attribute of a given name, with one list for attributes that
//! are only loaded and one for those that may be assigned.
//!
//! The lists are posting lists, to be intersected. A class's attributes may be accessed on the
//! class and on its instances. On an instance, a program may assign the instance's own attributes;
//! it may load those and the attributes of the class.
//!
//! For example, if only the classes `Point` and `Vector` store `self.x`, and only `Vector` defines
//! `dot`, then the lists for `x` and `dot` have the instances of `Vector` in common.

use super::usage::Usage;
use super::world::{Name, World};
use std::collections::{BTreeMap, BTreeSet};

/// A set of types, by kind.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Types {
    /// Classes, as objects of their own.
    pub class: BTreeSet<Name>,
    /// Instances of these classes.
    pub instance: BTreeSet<Name>,
    /// Modules.
    pub module: BTreeSet<Name>,
}

impl Types {
    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.class.is_empty() && self.instance.is_empty() && self.module.is_empty()
    }

    /// Adds the types of another set.
    pub fn extend(&mut self, other: Types) {
        self.class.extend(other.class);
        self.instance.extend(other.instance);
        self.module.extend(other.module);
    }

    /// The number of types.
    pub fn len(&self) -> usize {
        self.class.len() + self.instance.len() + self.module.len()
    }
}

type Postings = BTreeMap<(Name, bool), BTreeSet<Name>>;

/// Attribute names to types.
pub(super) struct Index {
    class: Postings,
    instance: Postings,
    module: Postings,
    all: Types,
}

impl Index {
    pub fn new(world: &World<'_>) -> Index {
        let mut index = Index {
            class: Postings::new(),
            instance: Postings::new(),
            module: Postings::new(),
            all: Types::default(),
        };
        let put = |postings: &mut Postings, attr: &Name, assigned: bool, ty: &Name| {
            let types = postings.entry((attr.clone(), assigned)).or_default();
            types.insert(ty.clone());
        };
        for (name, class) in &world.classes {
            index.all.class.insert(name.clone());
            index.all.instance.insert(name.clone());
            for data in class.mro.iter().map(|c| &world.classes[c]) {
                for attr in data.attributes.keys() {
                    put(&mut index.class, attr, false, name);
                    put(&mut index.class, attr, true, name);
                    put(&mut index.instance, attr, false, name);
                }
                for attr in &data.instance {
                    put(&mut index.instance, attr, false, name);
                    put(&mut index.instance, attr, true, name);
                }
            }
        }
        for (name, module) in &world.modules {
            index.all.module.insert(name.clone());
            for attr in module.attributes.keys() {
                put(&mut index.module, attr, false, name);
                put(&mut index.module, attr, true, name);
            }
        }
        index
    }

    /// Every type.
    pub fn all(&self) -> &Types {
        &self.all
    }

    /// The types that support a usage: classes; instances that support it with more than their
    /// class; modules. All types for an empty usage.
    pub fn supporting(&self, usage: &Usage) -> Types {
        if usage.is_empty() {
            return self.all.clone();
        }
        let of = |postings: &Postings| {
            let mut lists = usage.iter().map(|used| {
                let key = (used.name.clone(), used.assigned);
                postings.get(&key).cloned().unwrap_or_default()
            });
            let first = lists.next().unwrap_or_default();
            lists.fold(first, |a, b| &a & &b)
        };
        let class = of(&self.class);
        let instance = &of(&self.instance) - &class;
        Types {
            module: of(&self.module),
            class,
            instance,
        }
    }
}
