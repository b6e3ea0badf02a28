//! The referents of values and attributes: initialised names, constants, aliases, results of calls.
//!
//! An attribute that some assignment of the program may change can refer to any object
//! ([`Reference::Var`]); constants are no exception. An unknown value is `Var` too.
//!
//! For example, after `K = C` at module level, with no other assignment to `K`, the value of `K`
//! refers to class `C`, and `K()` to an instance of `C`.

use super::builtins;
use super::world::{
    Attribute, Name, Reference, References, World, class_of_constant, class_statement,
    made_function, wrapped,
};
use crate::hir::{GeneralOp as G, Op, Term, Value};
use crate::infer::{FuncId, Kind};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// An owner of attributes: a class or a module.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Owner {
    Class(Name),
    Module(Name),
}

impl Owner {
    pub fn name(&self) -> &Name {
        match self {
            Owner::Class(name) | Owner::Module(name) => name,
        }
    }
}

/// Attributes that assignments may change, by their owners.
pub(super) type Mutated = BTreeSet<(Owner, Name)>;

/// The result of each access, as far as it is known.
pub(super) type Given = BTreeMap<(FuncId, Value), References>;

/// The annotation engine's facts about values.
pub(super) type Facts = HashMap<(FuncId, Value), References>;

pub(super) fn var() -> References {
    References::from([Reference::Var])
}

/// Finds the referents of values.
pub(super) struct Resolver<'w> {
    world: &'w World<'w>,
    mutated: Option<&'w Mutated>,
    given: Option<&'w Given>,
    facts: Option<&'w Facts>,
    memo: RefCell<HashMap<(FuncId, Value), Option<References>>>,
}

impl<'w> Resolver<'w> {
    /// A resolver that knows only names, for the bases of classes.
    pub fn early(world: &'w World<'w>) -> Resolver<'w> {
        Resolver {
            world,
            mutated: None,
            given: None,
            facts: None,
            memo: RefCell::default(),
        }
    }

    pub fn new(
        world: &'w World<'w>,
        mutated: &'w Mutated,
        given: &'w Given,
        facts: Option<&'w Facts>,
    ) -> Resolver<'w> {
        Resolver {
            mutated: Some(mutated),
            given: Some(given),
            facts,
            ..Resolver::early(world)
        }
    }

    /// The possible referents of a value.
    pub fn of(&self, func: FuncId, v: Value) -> References {
        let f = self.world.program.function(func);
        let key = (func, f.object_of(v));
        if let Some(known) = self.memo.borrow().get(&key) {
            // A value that depends on itself is unknown.
            return known.clone().unwrap_or_else(var);
        }
        self.memo.borrow_mut().insert(key, None);
        let mut found = self.find(func, key.1);
        if found.contains(&Reference::Var)
            && let Some(facts) = self.facts.and_then(|facts| facts.get(&key))
        {
            found = facts.clone();
        }
        if found.is_empty() {
            found = var();
        }
        self.memo.borrow_mut().insert(key, Some(found.clone()));
        found
    }

    fn find(&self, func: FuncId, v: Value) -> References {
        let program = self.world.program;
        let f = program.function(func);
        if let Some(made) = made_function(program, f, v) {
            let name = self.world.functions[&made].name.clone();
            return one(Reference::Function(name));
        }
        match f.op(v) {
            Op::Const(object) => {
                let value = f.code.consts.iter().find(|c| c.object == *object);
                let value = value.map(|c| c.value.clone());
                let value = value.unwrap_or(crate::types::ConstValue::Other);
                match class_of_constant(&value, f.ty(v)) {
                    Some(class) => one(Reference::Instance(class.into())),
                    None => var(),
                }
            }
            Op::Param => self.of_parameter(func, v),
            Op::Output(0) => self.of(func, f.arg(v, 0)),
            Op::General(op, imms) => self.of_operation(func, v, *op, *imms),
            _ => var(),
        }
    }

    fn of_parameter(&self, func: FuncId, v: Value) -> References {
        let f = self.world.program.function(func);
        let mut found = References::new();
        for root in super::accesses::roots(f, v) {
            found.extend(self.of(func, root));
        }
        found
    }

    fn of_operation(&self, func: FuncId, v: Value, op: G, imms: [i64; 2]) -> References {
        let program = self.world.program;
        let f = program.function(func);
        let name = || -> Name { f.code.names[imms[0] as usize].as_str().into() };
        let instance = |class: &str| one(Reference::Instance(class.into()));
        match op {
            G::LoadGlobal => self.of_name(&self.world.functions[&func].module, &name()),
            G::LoadName => {
                let module = &self.world.functions[&func].module;
                let body = self.world.body_of.get(&func);
                let class = body.map(|class| &self.world.classes[class]);
                match class.and_then(|class| class.attributes.get(&name())) {
                    Some(attribute) => {
                        let mut found = self.of_stores(attribute);
                        if attribute.is_shaky {
                            found.extend(self.of_name(module, &name()));
                        }
                        found
                    }
                    None => self.of_name(module, &name()),
                }
            }
            G::ImportName => {
                if self.world.modules.contains_key(&name()) {
                    one(Reference::Module(name()))
                } else {
                    var()
                }
            }
            G::ImportFrom => match single(&self.of(func, f.arg(v, 0))) {
                Some(Reference::Module(module)) => self.of_name(module, &name()),
                _ => var(),
            },
            G::LoadAttr | G::LoadMethod | G::LoadSuperAttr => match self.given {
                Some(given) => given.get(&(func, v)).cloned().unwrap_or_else(var),
                None => match single(&self.of(func, f.arg(v, 0))) {
                    Some(Reference::Module(m)) => {
                        self.attribute(&Owner::Module(m.clone()), &name())
                    }
                    Some(Reference::Class(c)) => match self.world.owner(c, &name()) {
                        Some(owner) => self.attribute(&Owner::Class(owner.clone()), &name()),
                        None => self.attribute(&Owner::Class(c.clone()), &name()),
                    },
                    _ => var(),
                },
            },
            G::Call | G::CallLent => self.of_call(func, v),
            G::BuildList => instance("list"),
            G::BuildTuple => instance("tuple"),
            G::BuildSet => instance("set"),
            G::BuildMap | G::BuildKeywords | G::BuildConstKeyMap => instance("dict"),
            G::BuildString | G::ConcatStrings | G::FormatSimple | G::ConvertValue => {
                instance("str")
            }
            _ => var(),
        }
    }

    fn of_call(&self, func: FuncId, v: Value) -> References {
        let program = self.world.program;
        let f = program.function(func);
        if let Some((body, ..)) = class_statement(program, f, v) {
            let name = self.world.functions[&body].name.clone();
            return one(Reference::Class(name));
        }
        if let Some((wrapper, inner)) = wrapped(f, v)
            && let Some(Reference::Function(name)) = single(&self.of(func, inner))
        {
            use super::world::Wrapper as W;
            let name = name.clone();
            return one(match wrapper {
                W::Static => Reference::StaticMethod(name),
                W::Class => Reference::ClassMethod(name),
                W::Property => Reference::Property(name),
            });
        }
        let mut found = References::new();
        for callee in self.of(func, f.arg(v, 1)) {
            found.extend(self.result_of(&callee));
        }
        found
    }

    /// The result of calling it.
    pub fn result_of(&self, callee: &Reference) -> References {
        match callee {
            Reference::Class(class) => match self.world.classes.get(class) {
                Some(data) if !data.is_opaque && !data.is_builtin => {
                    one(Reference::Instance(class.clone()))
                }
                _ => var(),
            },
            Reference::Function(name)
            | Reference::StaticMethod(name)
            | Reference::ClassMethod(name) => self.returned(name),
            _ => var(),
        }
    }

    /// The result of a function.
    pub fn returned(&self, name: &Name) -> References {
        let Some(&id) = self.world.by_name.get(name) else {
            return var();
        };
        let f = self.world.program.function(id);
        if f.code.is_generator {
            return var();
        }
        let mut found = References::new();
        for &block in &f.order {
            if let Term::Return(v) = f.blocks[block].term {
                found.extend(self.of(id, v));
            }
        }
        found
    }

    /// The possible referents of a module's name or a builtin.
    pub fn of_name(&self, module: &Name, name: &Name) -> References {
        let attributes = self.world.modules.get(module).map(|m| &m.attributes);
        match attributes.and_then(|a| a.get(name)) {
            Some(_) => self.attribute(&Owner::Module(module.clone()), name),
            None => match builtins::class(name) {
                Some(class) => one(class),
                None => var(),
            },
        }
    }

    /// The possible referents of an attribute that the owner itself has.
    pub fn attribute(&self, owner: &Owner, name: &Name) -> References {
        if let Some(mutated) = self.mutated
            && mutated.contains(&(owner.clone(), name.clone()))
        {
            return var();
        }
        match self.own_attribute(owner, name) {
            Some(attribute) => self.of_stores(attribute),
            None => var(),
        }
    }

    fn own_attribute(&self, owner: &Owner, name: &Name) -> Option<&'w Attribute> {
        match owner {
            Owner::Class(class) => self.world.classes.get(class)?.attributes.get(name),
            Owner::Module(module) => self.world.modules.get(module)?.attributes.get(name),
        }
    }

    fn of_stores(&self, attribute: &Attribute) -> References {
        let mut found: References = attribute.given.iter().cloned().collect();
        for (func, v) in &attribute.stores {
            found.extend(self.of(*func, *v));
        }
        if found.is_empty() { var() } else { found }
    }

    /// Returns true if the attribute keeps the value that its owner's body stored, as far as the
    /// program's text shows.
    pub fn is_constant(&self, owner: &Owner, name: &Name) -> bool {
        let mutated = self
            .mutated
            .is_some_and(|m| m.contains(&(owner.clone(), name.clone())));
        let attribute = self.own_attribute(owner, name);
        let is_once =
            |a: &Attribute| !a.is_shaky && a.stores.len() + usize::from(a.given.is_some()) == 1;
        !mutated && attribute.is_some_and(is_once)
    }

    /// The single object that a value must be, with the names that must stay unchanged for that.
    pub fn constant(&self, func: FuncId, v: Value) -> Option<(Reference, Vec<(Owner, Name)>)> {
        let f = self.world.program.function(func);
        let v = f.object_of(v);
        let reference = single(&self.of(func, v))?.clone();
        if !reference.is_static() {
            return None;
        }
        let Op::General(op, imms) = f.op(v) else {
            return made_function(self.world.program, f, v).map(|_| (reference, Vec::new()));
        };
        match op {
            G::LoadGlobal | G::LoadName => {
                let name: Name = f.code.names[imms[0] as usize].as_str().into();
                let module = self.world.functions[&func].module.clone();
                let in_class = self.world.body_of.get(&func).filter(|class| {
                    let own = &self.world.classes[*class].attributes;
                    *op == G::LoadName && own.contains_key(&name)
                });
                if in_class.is_some() {
                    return None;
                }
                let owner = Owner::Module(module);
                match self.own_attribute(&owner, &name) {
                    Some(_) if !self.is_constant(&owner, &name) => None,
                    _ => Some((reference, vec![(owner, name)])),
                }
            }
            G::ImportName | G::MakeFunction => Some((reference, Vec::new())),
            G::Call | G::CallLent => {
                class_statement(self.world.program, f, v).map(|_| (reference, Vec::new()))
            }
            _ => None,
        }
    }
}

pub(super) fn one(reference: Reference) -> References {
    References::from([reference])
}

/// The only element.
pub(super) fn single(references: &References) -> Option<&Reference> {
    match references.len() {
        1 => references.first(),
        _ => None,
    }
}

/// An analysis's facts about values: the objects of the analysed program that each may be, for
/// values that cannot be others.
pub(super) fn facts_of(world: &World<'_>, analysis: &crate::infer::Analysis) -> Facts {
    let mut all: HashMap<(FuncId, Value), Option<References>> = HashMap::new();
    for version in &analysis.versions {
        for (v, facts) in &version.values {
            let mut found = Some(References::new());
            if facts.is_open() || facts.objects().is_empty() {
                found = None;
            }
            for id in facts.objects() {
                let object = &analysis.objects[id];
                let name: Name = object.name.as_str().into();
                let is_class = world.classes.contains_key(&name);
                let reference = match object.kind {
                    Kind::Instance if is_class => Reference::Instance(name),
                    Kind::Class if is_class => Reference::Class(name),
                    Kind::List => Reference::Instance("list".into()),
                    Kind::Dict => Reference::Instance("dict".into()),
                    Kind::Set => Reference::Instance("set".into()),
                    Kind::Tuple => Reference::Instance("tuple".into()),
                    _ => {
                        found = None;
                        break;
                    }
                };
                if let Some(found) = &mut found {
                    found.insert(reference);
                }
            }
            let entry = all
                .entry((version.func, *v))
                .or_insert(Some(References::new()));
            match (entry.as_mut(), found) {
                (Some(known), Some(found)) => known.extend(found),
                _ => *entry = None,
            }
        }
    }
    let known = all.into_iter().filter_map(|(key, refs)| Some((key, refs?)));
    known.collect()
}
