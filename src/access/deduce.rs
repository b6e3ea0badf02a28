//! Deduction: types of accessors from the attributes used on them, then the results of accesses,
//! then the attributes that assignments may change, repeated to a fixpoint.
//!
//! For example, if a program uses `v.x` and `v.dot(w)`, and only class `Vector` has both
//! attributes, then `v` is probably a `Vector`. Types deduced from usage are **speculation**: `v`
//! may be an instance of a class that appears later, and then the access is made in the generic
//! form. Types that follow from the initialisation of a name are facts of the program; those of
//! constants are watched.

use super::accesses::{self, Access, Action, roots};
use super::guards::{TypeCheck, check_for};
use super::index::{Index, Types};
use super::references::{Facts, Given, Mutated, Owner, Resolver, facts_of, single, var};
use super::usage::{self, Usages};
use super::world::{Name, Reference, References, World, Wrapper};
use crate::hir::{Op, Value};
use crate::infer::{Analysis, FuncId};
use std::collections::{BTreeMap, BTreeSet};

/// An object that has attributes, by kind.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum AttributeOwner {
    /// The class.
    Class(Name),
    /// An instance of the class.
    Instance(Name),
    /// The module.
    Module(Name),
}

impl AttributeOwner {
    /// The name of the class or module.
    pub fn name(&self) -> &Name {
        match self {
            AttributeOwner::Class(name)
            | AttributeOwner::Instance(name)
            | AttributeOwner::Module(name) => name,
        }
    }

    /// The kind as a word.
    pub fn kind(&self) -> &'static str {
        match self {
            AttributeOwner::Class(_) => "class",
            AttributeOwner::Instance(_) => "instance",
            AttributeOwner::Module(_) => "module",
        }
    }
}

/// A possible outcome of an access.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Candidate {
    /// The object on which the attribute is accessed.
    pub accessor: AttributeOwner,
    /// The object that has the attribute.
    pub provider: AttributeOwner,
    /// The value of the attribute.
    pub reference: Reference,
}

/// The results for an accessor.
#[derive(Clone, Debug, Default)]
pub struct Accessor {
    /// The attributes used on it, for each route.
    pub usages: Usages,
    /// The types that may provide the used attributes.
    pub providers: Types,
    /// Its possible types.
    pub types: Types,
    /// True if the program's text determines the type.
    pub is_constrained: bool,
    /// True for the first parameter of a method.
    pub is_self: bool,
    /// A check at its definition on which all its accesses may rely.
    pub guard: Option<TypeCheck>,
}

/// The results for one function.
pub(super) struct Unit {
    pub func: FuncId,
    pub accesses: Vec<Access>,
    pub usages: BTreeMap<Value, Usages>,
    pub accessors: BTreeMap<Value, Accessor>,
}

/// The results for a program.
pub(super) struct Deduction<'w> {
    pub world: &'w World<'w>,
    pub index: Index,
    pub units: Vec<Unit>,
    pub mutated: Mutated,
    pub given: Given,
    pub facts: Option<Facts>,
    /// The number of rounds.
    pub rounds: usize,
}

/// The most rounds until aliases and changed attributes are stable. Facts that still change after
/// that are dropped.
const MAX_ROUNDS: usize = 12;

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

    /// Runs rounds. An access's result is unknown in a round until the round before has computed
    /// it.
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
                        // A store to an instance hides the attribute of its class, but does not
                        // change it.
                        let owners = candidates.iter().filter_map(|c| match &c.provider {
                            AttributeOwner::Class(name) => Some(Owner::Class(name.clone())),
                            AttributeOwner::Module(name) => Some(Owner::Module(name.clone())),
                            AttributeOwner::Instance(_) => None,
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
            if round + 1 >= MAX_ROUNDS {
                // Then all aliases count as unknown.
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

    /// The class of which the value is a method's first parameter, and true if it is the class
    /// itself (a class method).
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

    /// Returns true if the program's text determines the value and no other code can change it, or
    /// if the value is watched.
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
                | G::BuildKeywords
                | G::BuildConstKeyMap
                | G::BuildString
                | G::ConcatStrings
                | G::MakeFunction
                | G::ImportName,
                _,
            ) => true,
            // A new instance of a watched class.
            Op::General(G::Call | G::CallLent, _) => {
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

    /// Returns true if the class's attribute of this name is a function that takes an instance.
    fn is_method_of(&self, class: &Name, attr: &Name, resolver: &Resolver<'_>) -> bool {
        let Some(owner) = self.world.owner(class, attr) else {
            return false;
        };
        let refs = resolver.attribute(&Owner::Class(owner.clone()), attr);
        matches!(single(&refs), Some(Reference::Function(_)))
    }

    /// All candidates for the last attribute of an access.
    pub fn candidates_of_chain(
        &self,
        unit: &Unit,
        access: &Access,
        resolver: &Resolver<'_>,
    ) -> Vec<Candidate> {
        let last = access.attrs.len() - 1;
        let mut types = self.types_at(unit, access);
        for (at, attr) in access.attrs.iter().enumerate() {
            let candidates = if access.is_super {
                self.above(unit, attr, &types, resolver)
            } else {
                self.candidates(
                    &types,
                    attr,
                    at == last && access.action != Action::Load,
                    resolver,
                )
            };
            if at == last {
                return self.suitable(candidates, access);
            }
            types = self.types_of(&candidates);
        }
        Vec::new()
    }

    /// The types of the candidates' values, as accessors of the next attribute. An unknown value
    /// has all types.
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
        if types.is_empty() {
            self.index.all().clone()
        } else {
            types
        }
    }

    /// The types of an access's accessor: those of all definitions that it may come from.
    pub fn types_at(&self, unit: &Unit, access: &Access) -> Types {
        let f = self.world.program.function(unit.func);
        let mut types = Types::default();
        for root in roots(f, access.accessor) {
            if access.is_super {
                // The attribute is bound to the instance of the method itself.
                if let Some((class, is_class)) = self.self_of(unit.func, root) {
                    let own = self.world.descendants(&class);
                    if is_class {
                        types.class.extend(own)
                    } else {
                        types.instance.extend(own)
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

    /// The candidates for an attribute of accessors of these types.
    pub fn candidates(
        &self,
        types: &Types,
        attr: &Name,
        assigned: bool,
        resolver: &Resolver<'_>,
    ) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut add = |accessor: &AttributeOwner, provider: AttributeOwner, refs: References| {
            found.extend(refs.into_iter().map(|reference| Candidate {
                accessor: accessor.clone(),
                provider: provider.clone(),
                reference,
            }));
        };
        for class in &types.class {
            let accessor = AttributeOwner::Class(class.clone());
            match self.shared(class, attr, resolver) {
                // An assignment to a class always stores in that class, wherever the attribute was
                // found.
                Some(_) if assigned => add(&accessor, accessor.clone(), var()),
                None if assigned && types.len() == 1 => add(&accessor, accessor.clone(), var()),
                Some((owner, refs)) => add(&accessor, owner, refs),
                None => {}
            }
        }
        for class in &types.instance {
            let accessor = AttributeOwner::Instance(class.clone());
            let shared = self.shared(class, attr, resolver);
            let is_property = matches!(
                shared.as_ref().and_then(|(_, refs)| single(refs)),
                Some(Reference::Property(_))
            );
            if self.world.has_instance_attribute(class, attr) && !is_property {
                // Instance attributes may have any value at any time.
                add(&accessor, accessor.clone(), var());
            }
            if let Some((owner, refs)) = shared
                && (!assigned || is_property)
            {
                add(&accessor, owner, refs);
            }
        }
        for module in &types.module {
            let accessor = AttributeOwner::Module(module.clone());
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

    /// The attribute that instances of a class share under the name, and the class that has it. An
    /// assigned attribute of a class earlier in the order hides the owner's.
    fn shared(
        &self,
        class: &Name,
        attr: &Name,
        resolver: &Resolver<'_>,
    ) -> Option<(AttributeOwner, References)> {
        let order = &self.world.classes.get(class)?.mro;
        self.shared_in(order, attr, resolver)
    }

    fn shared_in(
        &self,
        order: &[Name],
        attr: &Name,
        resolver: &Resolver<'_>,
    ) -> Option<(AttributeOwner, References)> {
        let has = |c: &&Name| self.world.classes[*c].attributes.contains_key(attr);
        let at = order.iter().position(|c| has(&c))?;
        let owner = Owner::Class(order[at].clone());
        let changed = |c: &Name| {
            self.mutated
                .contains(&(Owner::Class(c.clone()), attr.clone()))
        };
        let refs = if order[..=at].iter().any(changed) {
            var()
        } else {
            resolver.attribute(&owner, attr)
        };
        Some((AttributeOwner::Class(order[at].clone()), refs))
    }

    /// The possible values of `super().attr`, by the class of the instance: the method resolution
    /// order of that class determines the lookup.
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
        let instances = types
            .instance
            .iter()
            .map(|c| AttributeOwner::Instance(c.clone()));
        let classes = types.class.iter().map(|c| AttributeOwner::Class(c.clone()));
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

    /// The candidates that can be called with the access's arguments.
    pub fn suitable(&self, candidates: Vec<Candidate>, access: &Access) -> Vec<Candidate> {
        let Some(invocation) = &access.invocation else {
            return candidates;
        };
        let fits = |candidate: &Candidate| {
            let (name, bound) = match &candidate.reference {
                Reference::Function(name) => {
                    let binds = matches!(candidate.accessor, AttributeOwner::Instance(_))
                        && matches!(candidate.provider, AttributeOwner::Class(_));
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
