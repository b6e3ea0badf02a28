//! Deduction: from what is used of accessors to their types, to what accesses give, to what assignments may change, until
//! nothing changes.
//!
//! Types that usage tells are a **bet**: in a language where anything may be assigned, an accessor may be something else, and
//! then the access is made in the general way. Types that follow from how a name was initialised are the program's word; those
//! of constants are watched.

use super::accesses::{self, Access, Action, roots};
use super::guards::{TypeCheck, check_for};
use super::index::{Index, Types};
use super::references::{Facts, Given, Mutated, Owner, Resolver, facts_of, single, var};
use super::usage::{self, Usages};
use super::world::{Name, Reference, References, World, Wrapper};
use crate::hir::{Op, Value};
use crate::infer::{Analysis, FuncId};
use std::collections::{BTreeMap, BTreeSet};

/// What kind of thing gives an attribute, or is asked for one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Thing {
    /// The class.
    Class(Name),
    /// An instance of the class.
    Instance(Name),
    /// The module.
    Module(Name),
}

impl Thing {
    /// The name of the class or module.
    pub fn name(&self) -> &Name {
        match self {
            Thing::Class(name) | Thing::Instance(name) | Thing::Module(name) => name,
        }
    }

    /// What it is, in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Thing::Class(_) => "class",
            Thing::Instance(_) => "instance",
            Thing::Module(_) => "module",
        }
    }
}

/// One way in which an access may go.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Candidate {
    /// What is asked.
    pub accessor: Thing,
    /// What has the attribute.
    pub provider: Thing,
    /// What it is.
    pub reference: Reference,
}

/// What was found of an accessor.
#[derive(Clone, Debug, Default)]
pub struct Accessor {
    /// What is used of it, on each route.
    pub usages: Usages,
    /// The types that may give what is used.
    pub providers: Types,
    /// The types that it may have.
    pub types: Types,
    /// Whether the program says so itself.
    pub is_constrained: bool,
    /// Whether it is the first parameter of a method.
    pub is_self: bool,
    /// A check where it is defined that all its accesses may rely on.
    pub guard: Option<TypeCheck>,
}

/// What was found of one function.
pub(super) struct Unit {
    pub func: FuncId,
    pub accesses: Vec<Access>,
    pub usages: BTreeMap<Value, Usages>,
    pub accessors: BTreeMap<Value, Accessor>,
}

/// What was deduced of a program.
pub(super) struct Deduction<'w> {
    pub world: &'w World<'w>,
    pub index: Index,
    pub units: Vec<Unit>,
    pub mutated: Mutated,
    pub given: Given,
    pub facts: Option<Facts>,
    /// How many rounds there were.
    pub rounds: usize,
}

/// Rounds until what is known of aliases and changes stands; after so many, what still changes is not known.
const MOST_ROUNDS: usize = 12;

impl<'w> Deduction<'w> {
    pub fn new(world: &'w World<'w>, analysis: Option<&Analysis>) -> Deduction<'w> {
        let mut units = Vec::new();
        for (func, f) in world.program.functions() {
            let accesses = accesses::find(f);
            let usages = usage::find(f, &accesses);
            units.push(Unit {
                func,
                accesses,
                usages,
                accessors: BTreeMap::new(),
            });
        }
        let mut deduction = Deduction {
            index: Index::new(world),
            facts: analysis.map(|analysis| facts_of(world, analysis)),
            world,
            units,
            mutated: Mutated::new(),
            given: Given::new(),
            rounds: 0,
        };
        deduction.run();
        deduction
    }

    pub fn resolver(&self) -> Resolver<'_> {
        Resolver::new(self.world, &self.mutated, &self.given, self.facts.as_ref())
    }

    /// Rounds in which nothing is known of an access until the one before has told.
    fn run(&mut self) {
        for round in 0.. {
            self.rounds = round + 1;
            let mut units = std::mem::take(&mut self.units);
            let resolver =
                Resolver::new(self.world, &self.mutated, &self.given, self.facts.as_ref());
            let (mut given, mut mutated) = (Given::new(), self.mutated.clone());
            for unit in &mut units {
                unit.accessors = self.accessors(unit, &resolver);
            }
            for unit in &units {
                for access in &unit.accesses {
                    let candidates = self.candidates_of_chain(unit, access, &resolver);
                    if access.action != Action::Load {
                        // What an instance gets hides its class's attribute; it does not change it.
                        let owners = candidates.iter().filter_map(|c| match &c.provider {
                            Thing::Class(name) => Some(Owner::Class(name.clone())),
                            Thing::Module(name) => Some(Owner::Module(name.clone())),
                            Thing::Instance(_) => None,
                        });
                        let attr = access.attrs.last().expect("an access has an attribute");
                        mutated.extend(owners.map(|owner| (owner, attr.clone())));
                        continue;
                    }
                    let refs: References = candidates.iter().map(|c| c.reference.clone()).collect();
                    let refs = if refs.is_empty() { var() } else { refs };
                    given.insert((unit.func, access.value), refs);
                }
            }
            let stands = given == self.given && mutated == self.mutated;
            drop(resolver);
            self.units = units;
            self.mutated = mutated;
            if stands {
                return;
            }
            if round + 1 >= MOST_ROUNDS {
                // Nothing is known of any alias then.
                self.given.clear();
                let resolver = self.resolver();
                let accessors: Vec<_> = self
                    .units
                    .iter()
                    .map(|unit| self.accessors(unit, &resolver))
                    .collect();
                drop(resolver);
                for (unit, accessors) in self.units.iter_mut().zip(accessors) {
                    unit.accessors = accessors;
                }
                return;
            }
            self.given = given;
        }
    }

    fn accessors(&self, unit: &Unit, resolver: &Resolver<'_>) -> BTreeMap<Value, Accessor> {
        let f = self.world.program.function(unit.func);
        let mut found = BTreeMap::new();
        for access in &unit.accesses {
            for root in roots(f, access.accessor) {
                found
                    .entry(root)
                    .or_insert_with(|| self.accessor(unit, root, resolver));
            }
        }
        found
    }

    /// The class that a value is the first parameter of a method of, and whether it is the class itself.
    pub fn self_of(&self, func: FuncId, v: Value) -> Option<(Name, bool)> {
        let f = self.world.program.function(func);
        let info = &self.world.functions[&func];
        let class = info.class.clone()?;
        if !matches!(f.op(v), Op::Arg(0)) || info.wrapper == Some(Wrapper::Static) {
            return None;
        }
        Some((class, info.wrapper == Some(Wrapper::Class)))
    }

    /// The types of one accessor.
    fn accessor(&self, unit: &Unit, v: Value, resolver: &Resolver<'_>) -> Accessor {
        let mut found = Accessor {
            usages: unit.usages.get(&v).cloned().unwrap_or_default(),
            ..Accessor::default()
        };
        let refs = resolver.of(unit.func, v);
        if !refs.contains(&Reference::Var) {
            found.is_constrained = self.is_word(unit, v, resolver);
            for reference in &refs {
                match reference {
                    Reference::Class(name) => found.types.class.insert(name.clone()),
                    Reference::Instance(name) => found.types.instance.insert(name.clone()),
                    Reference::Module(name) => found.types.module.insert(name.clone()),
                    _ => continue,
                };
            }
            found.providers = found.types.clone();
            found.guard = self.guard(&found);
            return found;
        }
        let of_self = self.self_of(unit.func, v);
        found.is_self = of_self.is_some();
        for usage in &found.usages {
            let mut types = self.index.supporting(usage);
            if let Some((class, _)) = &of_self {
                let own = self.world.descendants(class);
                types.class.retain(|c| own.contains(c));
                types.instance.retain(|c| own.contains(c));
                types.module.clear();
            }
            let is_class_method = matches!(of_self, Some((_, true)));
            let assigned = usage.iter().any(|used| used.assigned);
            let may_be_class = |class: &&Name| {
                let mut invoked = usage.iter().filter(|used| used.invoked);
                !invoked.any(|used| self.is_method_of(class, &used.name, resolver))
            };
            let classes = types.class.iter();
            if of_self.is_none() || is_class_method {
                let classes = classes
                    .clone()
                    .filter(|c| is_class_method || may_be_class(c));
                found.types.class.extend(classes.cloned());
            }
            if !is_class_method {
                if !assigned {
                    found.types.instance.extend(classes.cloned());
                }
                found.types.instance.extend(types.instance.iter().cloned());
            }
            found.types.module.extend(types.module.iter().cloned());
            found.providers.extend(types);
        }
        found.guard = self.guard(&found);
        found
    }

    /// Whether the value is what the program says whatever others do, or something watched.
    fn is_word(&self, unit: &Unit, v: Value, resolver: &Resolver<'_>) -> bool {
        use crate::hir::GeneralOp as G;
        let f = self.world.program.function(unit.func);
        match f.op(v) {
            Op::Const(_) => true,
            Op::General(
                G::BuildList
                | G::BuildTuple
                | G::BuildSet
                | G::BuildMap
                | G::BuildConstKeyMap
                | G::BuildString
                | G::ConcatStrings
                | G::MakeFunction
                | G::ImportName,
                _,
            ) => true,
            // An instance just made, of a class that is watched.
            Op::General(G::Call, _) => {
                resolver.constant(unit.func, v).is_some() || {
                    let callee = f.object_of(f.arg(v, 1));
                    matches!(
                        resolver.constant(unit.func, callee),
                        Some((Reference::Class(_), _))
                    )
                }
            }
            _ => resolver.constant(unit.func, v).is_some(),
        }
    }

    fn guard(&self, accessor: &Accessor) -> Option<TypeCheck> {
        if accessor.is_constrained || accessor.usages.iter().any(BTreeSet::is_empty) {
            return None;
        }
        check_for(self.world, &accessor.types)
    }

    /// Whether what the class has by this name is a function that wants an instance.
    fn is_method_of(&self, class: &Name, attr: &Name, resolver: &Resolver<'_>) -> bool {
        let Some(owner) = self.world.owner(class, attr) else {
            return false;
        };
        let refs = resolver.attribute(&Owner::Class(owner.clone()), attr);
        matches!(single(&refs), Some(Reference::Function(_)))
    }

    /// All ways in which the last attribute of an access may be reached.
    pub fn candidates_of_chain(
        &self,
        unit: &Unit,
        access: &Access,
        resolver: &Resolver<'_>,
    ) -> Vec<Candidate> {
        let last = access.attrs.len() - 1;
        let mut types = self.types_at(unit, access);
        for (at, attr) in access.attrs.iter().enumerate() {
            let candidates = match access.is_super {
                true => self.above(unit, attr, &types, resolver),
                false => self.candidates(
                    &types,
                    attr,
                    at == last && access.action != Action::Load,
                    resolver,
                ),
            };
            if at == last {
                return self.suitable(candidates, access);
            }
            types = self.types_of(&candidates);
        }
        Vec::new()
    }

    /// The types that candidates' values have as accessors of the next attribute; of what is not known, all.
    pub fn types_of(&self, candidates: &[Candidate]) -> Types {
        let mut types = Types::default();
        for candidate in candidates {
            match &candidate.reference {
                Reference::Class(name) => types.class.insert(name.clone()),
                Reference::Instance(name) => types.instance.insert(name.clone()),
                Reference::Module(name) => types.module.insert(name.clone()),
                _ => return self.index.all().clone(),
            };
        }
        match types.is_empty() {
            true => self.index.all().clone(),
            false => types,
        }
    }

    /// The types of an access's accessor: those of all definitions that it may come from.
    pub fn types_at(&self, unit: &Unit, access: &Access) -> Types {
        let f = self.world.program.function(unit.func);
        let mut types = Types::default();
        for root in roots(f, access.accessor) {
            if access.is_super {
                // What is bound to is the method's own instance.
                if let Some((class, is_class)) = self.self_of(unit.func, root) {
                    let own = self.world.descendants(&class);
                    match is_class {
                        true => types.class.extend(own),
                        false => types.instance.extend(own),
                    }
                }
                continue;
            }
            if let Some(accessor) = unit.accessors.get(&root) {
                types.extend(accessor.types.clone());
            }
        }
        types
    }

    /// The ways in which accessors of these types have the attribute.
    pub fn candidates(
        &self,
        types: &Types,
        attr: &Name,
        assigned: bool,
        resolver: &Resolver<'_>,
    ) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut add = |accessor: &Thing, provider: Thing, refs: References| {
            found.extend(refs.into_iter().map(|reference| Candidate {
                accessor: accessor.clone(),
                provider: provider.clone(),
                reference,
            }));
        };
        for class in &types.class {
            let accessor = Thing::Class(class.clone());
            match self.shared(class, attr, resolver) {
                // An assignment to a class is to that class, wherever the attribute was.
                Some(_) if assigned => add(&accessor, accessor.clone(), var()),
                None if assigned && types.len() == 1 => add(&accessor, accessor.clone(), var()),
                Some((owner, refs)) => add(&accessor, owner, refs),
                None => {}
            }
        }
        for class in &types.instance {
            let accessor = Thing::Instance(class.clone());
            let shared = self.shared(class, attr, resolver);
            let is_property = matches!(
                shared.as_ref().and_then(|(_, refs)| single(refs)),
                Some(Reference::Property(_))
            );
            if self.world.has_instance_attribute(class, attr) && !is_property {
                // What instances hold may be anything at any time.
                add(&accessor, accessor.clone(), var());
            }
            if let Some((owner, refs)) = shared
                && (!assigned || is_property)
            {
                add(&accessor, owner, refs);
            }
        }
        for module in &types.module {
            let accessor = Thing::Module(module.clone());
            let attributes = &self.world.modules[module].attributes;
            if attributes.contains_key(attr) {
                let refs = resolver.attribute(&Owner::Module(module.clone()), attr);
                add(&accessor, accessor.clone(), refs);
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// What instances of a class share under the name, and which class has it. An assignment to one that is asked before
    /// the owner hides what the owner has.
    fn shared(
        &self,
        class: &Name,
        attr: &Name,
        resolver: &Resolver<'_>,
    ) -> Option<(Thing, References)> {
        let order = &self.world.classes.get(class)?.mro;
        self.shared_in(order, attr, resolver)
    }

    fn shared_in(
        &self,
        order: &[Name],
        attr: &Name,
        resolver: &Resolver<'_>,
    ) -> Option<(Thing, References)> {
        let has = |c: &&Name| self.world.classes[*c].attributes.contains_key(attr);
        let at = order.iter().position(|c| has(&c))?;
        let owner = Owner::Class(order[at].clone());
        let changed = |c: &Name| {
            self.mutated
                .contains(&(Owner::Class(c.clone()), attr.clone()))
        };
        let refs = match order[..=at].iter().any(changed) {
            true => var(),
            false => resolver.attribute(&owner, attr),
        };
        Some((Thing::Class(order[at].clone()), refs))
    }

    /// What `super().attr` may be, by the class of the instance: the order of that class tells where to look.
    fn above(
        &self,
        unit: &Unit,
        attr: &Name,
        types: &Types,
        resolver: &Resolver<'_>,
    ) -> Vec<Candidate> {
        let mut found = Vec::new();
        let Some(own) = &self.world.functions[&unit.func].class else {
            return found;
        };
        let instances = types.instance.iter().map(|c| Thing::Instance(c.clone()));
        let classes = types.class.iter().map(|c| Thing::Class(c.clone()));
        for accessor in instances.chain(classes) {
            let order = &self.world.classes[accessor.name()].mro;
            let Some(at) = order.iter().position(|class| class == own) else {
                continue;
            };
            if let Some((provider, refs)) = self.shared_in(&order[at + 1..], attr, resolver) {
                found.extend(refs.into_iter().map(|reference| Candidate {
                    accessor: accessor.clone(),
                    provider: provider.clone(),
                    reference,
                }));
            }
        }
        found
    }

    /// Those of the candidates that can be called as the access calls them.
    pub fn suitable(&self, candidates: Vec<Candidate>, access: &Access) -> Vec<Candidate> {
        let Some(invocation) = &access.invocation else {
            return candidates;
        };
        let fits = |candidate: &Candidate| {
            let (name, bound) = match &candidate.reference {
                Reference::Function(name) => {
                    let binds = matches!(candidate.accessor, Thing::Instance(_))
                        && matches!(candidate.provider, Thing::Class(_));
                    (name.clone(), usize::from(binds || access.is_super))
                }
                Reference::StaticMethod(name) => (name.clone(), 0),
                Reference::ClassMethod(name) => (name.clone(), 1),
                Reference::Class(class) => {
                    let Some(owner) = self.world.owner(class, "__init__") else {
                        return true;
                    };
                    let owner = Owner::Class(owner.clone());
                    let refs = self.resolver().attribute(&owner, &"__init__".into());
                    match single(&refs) {
                        Some(Reference::Function(name)) => (name.clone(), 1),
                        _ => return true,
                    }
                }
                _ => return true,
            };
            let Some((f, info)) = self.world.function(&name) else {
                return true;
            };
            let code = &f.code;
            let Some(args) = invocation.args else {
                return true;
            };
            let total = code.argcount as usize;
            let given = args + bound;
            let known = |keyword: &String| {
                let named = (total + code.kwonly as usize).min(code.locals.len());
                let names = code.locals[..named].iter();
                names.skip(given).any(|(local, _)| local == keyword)
            };
            let required = total.saturating_sub(info.defaults as usize);
            (given <= total || code.varargs)
                && given + invocation.keywords.len() >= required
                && (code.varkeywords || invocation.keywords.iter().all(known))
        };
        candidates.into_iter().filter(fits).collect()
    }
}
