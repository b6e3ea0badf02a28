//! Access plans: the facts about one access, in thirteen fields, with the checks and watches that
//! they need.

use super::accesses::{Access, Action, roots};
use super::deduce::{AttributeOwner, Candidate, Deduction, Unit};
use super::guards::{Aspect, Exactness, Test, check_for, general};
use super::index::Types;
use super::references::{Owner, Resolver};
use super::world::{Name, Reference};
use std::collections::BTreeSet;
use std::fmt;

macro_rules! words {
    ($(#[$doc:meta])* $ty:ident { $($(#[$vdoc:meta])* $v:ident $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $ty { $($(#[$vdoc])* $v),* }
        impl $ty {
            /// All variants.
            pub const ALL: &'static [$ty] = &[$($ty::$v),*];
        }
        impl fmt::Display for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($ty::$v => $word),* })
            }
        }
    };
}

words! {
    /// The place from which a traversed attribute is obtained.
    Mode {
        /// From the object.
        Object "object",
        /// From its class.
        Class "class",
    }
}

words! {
    /// The object that a call of the attribute passes before its arguments.
    Context {
        /// None, or the one that the attribute itself brings.
        Unset "unset",
        /// The base.
        Base "base",
        /// The value on which the first attribute is accessed.
        OriginalAccessor "original-accessor",
        /// The value on which the last attribute is accessed.
        FinalAccessor "final-accessor",
    }
}

words! {
    /// The treatment of the context.
    ContextTest {
        /// The attribute brings its own context, or needs none.
        Ignore "ignore",
        /// The context is set.
        Replace "replace",
        /// A test at run time decides.
        Test "test",
    }
}

words! {
    /// The place from which the first attribute is obtained.
    FirstMethod {
        /// From the object.
        RelativeObject "relative-object",
        /// From its class, if it is an instance, otherwise from the object.
        RelativeClass "relative-class",
        /// From its class, if it is an instance, else from the object.
        RelativeObjectClass "relative-object-class",
        /// From the object, which may lack it.
        CheckObject "check-object",
        /// From its class, which may lack it.
        CheckClass "check-class",
        /// From either, both of which may lack it.
        CheckObjectClass "check-object-class",
    }
}

words! {
    /// The action on the last attribute.
    FinalMethod {
        /// It is the origin.
        Static "static",
        /// The origin's attribute is assigned.
        StaticAssign "static-assign",
        /// The origin is called.
        StaticInvoke "static-invoke",
        /// The origin is called with the accessor for its value.
        StaticGet "static-get",
        /// It is loaded.
        Access "access",
        /// It is loaded and called.
        AccessInvoke "access-invoke",
        /// It is assigned.
        Assign "assign",
        /// It is deleted.
        Delete "delete",
        /// The language's generic access, from the start.
        Generic "generic",
    }
}

/// A fact on which a plan relies without a check.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Watch {
    /// A name of a module keeps its value.
    Name(Name, Name),
    /// A class, and those it inherits from, keep their attributes.
    Class(Name),
    /// No class derived from this one, other than the candidates, has this attribute or gets it.
    NoOverride(Name, Name),
    /// A function keeps its code and its defaults.
    Function(Name),
}

impl fmt::Display for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Watch::Name(module, name) => write!(f, "name {module}.{name}"),
            Watch::Class(class) => write!(f, "class {class}"),
            Watch::NoOverride(class, attr) => write!(f, "no other {attr} below {class}"),
            Watch::Function(function) => write!(f, "function {function}"),
        }
    }
}

/// A check at the access, besides its test.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Check {
    /// The instance still has the class, if user code may have run since that was checked.
    Class(Name),
    /// The instance has no own attribute of this name.
    NotHidden(Name),
    /// The instance has this attribute in the place that the class's instances use for it.
    Field(Name),
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Check::Class(class) => write!(f, "class still {class}"),
            Check::NotHidden(attr) => write!(f, "no own {attr}"),
            Check::Field(attr) => write!(f, "field {attr}"),
        }
    }
}

/// An access plan.
#[derive(Clone, PartialEq, Debug)]
pub struct AccessPlan {
    /// The accessor's name in the source.
    pub name: Option<String>,
    /// The way in which the accessor's type is known.
    pub test: Test,
    /// The type of a test.
    pub test_type: Option<Name>,
    /// A known object that represents the accessor.
    pub base: Option<Name>,
    /// Attributes that lead to one known object each.
    pub traversed: Vec<Name>,
    /// The place from which each of them is obtained.
    pub traversal_modes: Vec<Mode>,
    /// The attributes after those.
    pub attrnames: Vec<Name>,
    /// The context of a call.
    pub context: Context,
    /// The treatment of the context.
    pub context_test: ContextTest,
    /// The place from which the first attribute is obtained.
    pub first_method: FirstMethod,
    /// The action on the last attribute.
    pub final_method: FinalMethod,
    /// The last attribute, if it is one known object.
    pub origin: Option<Name>,
    /// The kinds of the accessors of the last attribute.
    pub accessor_kinds: BTreeSet<&'static str>,
    /// The facts on which it relies.
    pub watches: BTreeSet<Watch>,
    /// The checks besides the test.
    pub checks: BTreeSet<Check>,
    /// The candidates of the last attribute.
    pub candidates: Vec<Candidate>,
    /// The name of the origin's parent, if that is a known object: the place of an assignment.
    pub parent: Option<Name>,
    /// The action of the access, for plans whose final method does not say it.
    pub action: Action,
    /// For `super()`, the class whose method it is in.
    pub above: Option<Name>,
    /// The reason for a generic plan.
    pub why: Option<String>,
}

impl fmt::Display for AccessPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dash = |text: Option<&str>| text.unwrap_or("-").to_owned();
        let list = |names: Vec<String>| {
            if names.is_empty() {
                "-".to_owned()
            } else {
                names.join(".")
            }
        };
        let names = |names: &[Name]| list(names.iter().map(|n| n.to_string()).collect());
        let modes = self.traversal_modes.iter().map(Mode::to_string).collect();
        let kinds: Vec<&str> = self.accessor_kinds.iter().copied().collect();
        write!(
            f,
            "name={} test={} type={} base={} traversed={} modes={} attrs={} context={} context-test={} first={} final={} origin={} kinds={}",
            dash(self.name.as_deref()),
            self.test,
            dash(self.test_type.as_deref()),
            dash(self.base.as_deref()),
            names(&self.traversed),
            list(modes),
            names(&self.attrnames),
            self.context,
            self.context_test,
            self.first_method,
            self.final_method,
            dash(self.origin.as_deref()),
            if kinds.is_empty() {
                "-".to_owned()
            } else {
                kinds.join(",")
            },
        )
    }
}

impl AccessPlan {
    /// Returns true if the access stores.
    pub fn is_store(&self) -> bool {
        self.action == Action::Store
    }

    /// Returns true if the access deletes.
    pub fn is_delete(&self) -> bool {
        self.action == Action::Delete
    }
}

/// The state of a walk along a chain.
struct Walk {
    base: Option<Name>,
    traversed: Vec<Name>,
    modes: Vec<Mode>,
    watches: BTreeSet<Watch>,
    checks: BTreeSet<Check>,
    candidates: Vec<Candidate>,
    /// Candidates of the first attribute after the base.
    first: Vec<Candidate>,
    /// The index of the first attribute that is accessed on an object that is not known.
    start: usize,
    /// The index of the attribute with several possible values, where the walk stops.
    stop: usize,
}

impl Deduction<'_> {
    /// The plan of an access.
    pub(super) fn plan(&self, unit: &Unit, access: &Access, resolver: &Resolver<'_>) -> AccessPlan {
        let types = self.types_at(unit, access);
        let mut watches = BTreeSet::new();
        let mut base = None;
        if let (Some((reference, names)), false) = (
            resolver.constant(unit.func, access.accessor),
            access.is_super,
        ) {
            base = reference.identity().cloned();
            watches.extend(
                names
                    .iter()
                    .map(|(o, n)| Watch::Name(o.name().clone(), n.clone())),
            );
        }
        let first = if access.is_super {
            self.candidates_of_chain(unit, access, resolver)
        } else {
            let assigned = access.attrs.len() == 1 && access.action != Action::Load;
            self.candidates(&types, &access.attrs[0], assigned, resolver)
        };
        let first = match access.attrs.len() {
            1 => self.suitable(first, access),
            _ => first,
        };
        let test = self.test(unit, access, &types, &first);
        if let (None, Test::Guarded(check) | Test::Checked(check)) = (&base, &test)
            && (check.exactness, check.aspect) == (Exactness::Specific, Aspect::Type)
        {
            // A class represents the accessor only if it is the exact one; a base class does not.
            base = Some(check.ty.clone());
        }
        let walk = self.walk(unit, access, first, base, watches, &test, resolver);
        let mut plan = self.finish(access, test, walk);
        if access.is_super {
            plan.above = self.world.functions[&unit.func].class.clone();
        }
        plan
    }

    /// The way in which an access's accessor type is known.
    fn test(&self, unit: &Unit, access: &Access, types: &Types, first: &[Candidate]) -> Test {
        let f = self.world.program.function(unit.func);
        let versions: Vec<_> = roots(f, access.accessor)
            .into_iter()
            .filter_map(|root| unit.accessors.get(&root))
            .collect();
        if access.is_super {
            return match check_for(self.world, types) {
                Some(check) => Test::Checked(check),
                None => Test::Validate,
            };
        }
        if versions.is_empty() || first.is_empty() {
            return Test::Validate;
        }
        if versions.iter().all(|version| version.is_constrained) {
            return match check_for(self.world, types) {
                Some(check) => Test::Constrained(check),
                None => Test::ConstrainedMany,
            };
        }
        let guarded = |v: &&super::deduce::Accessor| v.guard.is_some() || v.is_constrained;
        let asked: Types = of_candidates(first);
        if versions.iter().all(guarded)
            && let Some(check) = check_for(self.world, types)
            && asked.class.is_subset(&types.class)
        {
            return Test::Guarded(check);
        }
        match check_for(self.world, &asked) {
            Some(check) => Test::Checked(check),
            None => Test::Validate,
        }
    }

    /// Follows a chain as far as each attribute has one known value.
    #[expect(
        clippy::too_many_arguments,
        reason = "the plan's beginning, not yet a plan"
    )]
    fn walk(
        &self,
        unit: &Unit,
        access: &Access,
        first: Vec<Candidate>,
        base: Option<Name>,
        watches: BTreeSet<Watch>,
        test: &Test,
        resolver: &Resolver<'_>,
    ) -> Walk {
        let last = access.attrs.len() - 1;
        let mut walk = Walk {
            base,
            traversed: Vec::new(),
            modes: Vec::new(),
            watches,
            checks: BTreeSet::new(),
            candidates: first.clone(),
            first,
            start: 0,
            stop: 0,
        };
        let mut is_known = walk.base.is_some() || test.check().is_some();
        for (at, attr) in access.attrs.iter().enumerate() {
            if at > 0 {
                let types = self.types_of(&walk.candidates);
                let assigned = at == last && access.action != Action::Load;
                let next = self.candidates(&types, attr, assigned, resolver);
                walk.candidates = if at == last {
                    self.suitable(next, access)
                } else {
                    next
                };
                if at == walk.start {
                    walk.first = walk.candidates.clone();
                }
            }
            let opaque = walk.candidates.iter().any(|c| self.is_opaque(c));
            let place = one_place(&walk.candidates).cloned();
            let is_relative = is_known && !opaque && !access.is_super;
            if is_relative && place.is_none() {
                // The value is not known, but its place is: the plan relies on that.
                self.rely(&mut walk, attr, test, at);
            }
            if !is_known || opaque || place.is_none() {
                walk.stop = at;
                if at < last {
                    walk.candidates = self.candidates_of_chain(unit, access, resolver);
                }
                return walk;
            }
            let candidate = &place.expect("it was asked for");
            self.rely(&mut walk, attr, test, at);
            if access.is_super {
                // `super()` does not look at the instance's own attributes.
                walk.checks.remove(&Check::NotHidden(attr.clone()));
            }
            let is_static =
                candidate.reference.is_static() && self.is_kept(candidate, attr, resolver);
            if at < last && is_static {
                walk.base = candidate.reference.identity().cloned();
                walk.traversed.clear();
                walk.modes.clear();
                walk.start = at + 1;
            } else if at < last || at > walk.start {
                let is_same = candidate.accessor.kind() == candidate.provider.kind();
                walk.traversed.push(attr.clone());
                walk.modes
                    .push(if is_same { Mode::Object } else { Mode::Class });
            }
            walk.stop = at + 1;
            is_known = candidate.reference != Reference::Var;
        }
        walk
    }

    /// Returns true if the candidate's value holds until a watch reports a change.
    fn is_kept(&self, candidate: &Candidate, attr: &Name, resolver: &Resolver<'_>) -> bool {
        match &candidate.provider {
            AttributeOwner::Class(name) if self.world.classes[name].is_builtin => true,
            AttributeOwner::Class(name) => resolver.is_constant(&Owner::Class(name.clone()), attr),
            AttributeOwner::Module(name) => {
                resolver.is_constant(&Owner::Module(name.clone()), attr)
            }
            AttributeOwner::Instance(_) => false,
        }
    }

    fn is_opaque(&self, candidate: &Candidate) -> bool {
        match &candidate.accessor {
            AttributeOwner::Class(name) | AttributeOwner::Instance(name) => {
                self.world.classes[name].is_opaque
            }
            AttributeOwner::Module(_) => false,
        }
    }

    /// Notes the facts on which a step relies.
    fn rely(&self, walk: &mut Walk, attr: &Name, test: &Test, at: usize) {
        let is_common = at == 0
            && test
                .check()
                .is_some_and(|check| check.exactness == Exactness::Common);
        for candidate in &walk.candidates {
            let owner = match &candidate.provider {
                AttributeOwner::Class(name) => Some(Owner::Class(name.clone())),
                AttributeOwner::Module(name) => Some(Owner::Module(name.clone())),
                AttributeOwner::Instance(_) => None,
            };
            let changes = |owner: Owner| self.mutated.contains(&(owner, attr.clone()));
            match (&candidate.accessor, &candidate.provider) {
                // An attribute that the program itself changes is looked up each time; a watch on
                // it would fail.
                _ if owner.is_some_and(changes) => {}
                (AttributeOwner::Module(module), _) => {
                    walk.watches
                        .insert(Watch::Name(module.clone(), attr.clone()));
                }
                (AttributeOwner::Class(class) | AttributeOwner::Instance(class), _) => {
                    // That covers properties, which take precedence over an instance's own
                    // attribute.
                    if !self.world.classes[class].is_builtin {
                        walk.watches.insert(Watch::Class(class.clone()));
                    }
                }
            }
            let is_told = !matches!(test, Test::Checked(_)) || at > 0;
            if let (AttributeOwner::Instance(class), true) = (&candidate.accessor, is_told)
                && !self.world.classes[class].is_builtin
            {
                // Code that ran since the check, or since the allocation, may have assigned
                // `__class__`.
                walk.checks.insert(Check::Class(match test.check() {
                    Some(check) if at == 0 => check.ty.clone(),
                    _ => class.clone(),
                }));
            }
            let hides = !matches!(candidate.reference, Reference::Property(_));
            match (&candidate.accessor, &candidate.provider) {
                (AttributeOwner::Instance(class), AttributeOwner::Class(_))
                    if hides && !self.world.classes[class].is_builtin =>
                {
                    walk.checks.insert(Check::NotHidden(attr.clone()));
                }
                (AttributeOwner::Instance(_), AttributeOwner::Instance(_)) => {
                    walk.checks.insert(Check::Field(attr.clone()));
                }
                _ => {}
            }
        }
        if let (true, Some(check)) = (is_common, test.check()) {
            walk.watches
                .insert(Watch::NoOverride(check.ty.clone(), attr.clone()));
        }
    }

    /// The plan from the end of the walk.
    fn finish(&self, access: &Access, test: Test, walk: Walk) -> AccessPlan {
        let (mut walk, test) = (walk, test);
        let names = &access.attrs[walk.start..];
        let attrnames = names[walk.traversed.len().min(names.len())..].to_vec();
        let is_single = names.len() == 1;
        let all_known = walk.stop == access.attrs.len();
        let is_generic = walk.candidates.is_empty()
            || walk.candidates.iter().any(|c| self.is_opaque(c))
            || walk.first.is_empty();
        let why = if walk.candidates.is_empty() {
            Some("no known type has what is used of it".to_owned())
        } else if is_generic {
            Some("a class that is not known has a say".to_owned())
        } else {
            None
        };
        let resolver = self.resolver();
        let attr = access.attrs.last().expect("an access has an attribute");
        let place = one_place(&walk.candidates);
        let kept = place.filter(|c| all_known && self.is_kept(c, attr, &resolver));
        let mut origin = kept.and_then(|c| match &c.reference {
            Reference::Property(name) if access.action == Action::Load => Some(name.clone()),
            Reference::StaticMethod(name) => Some(name.clone()),
            reference => reference.identity().cloned(),
        });
        let is_getter = matches!(kept.map(|c| &c.reference), Some(Reference::Property(_)));
        let mut parent = None;
        if access.action != Action::Load {
            origin = None;
            // Only an assignment to a known object has a parent; an unknown instance of a known
            // class does not.
            parent = walk.base.clone().filter(|_| is_single);
        }
        let mut final_method = final_method(access, origin.is_some(), is_getter, parent.is_some());
        if is_generic {
            (final_method, origin, parent) = (FinalMethod::Generic, None, None);
            walk.watches.clear();
            walk.checks.clear();
        }
        let context_test = context_test(access, &walk.candidates, final_method);
        let context = match context_test {
            ContextTest::Ignore => Context::Unset,
            _ if is_single && walk.base.is_some() => Context::Base,
            _ if is_single => Context::OriginalAccessor,
            _ => Context::FinalAccessor,
        };
        if final_method == FinalMethod::StaticInvoke || final_method == FinalMethod::StaticGet {
            walk.watches.extend(
                origin
                    .iter()
                    .filter(|name| !super::builtins::is_method(name))
                    .map(|name| {
                        if self.world.classes.contains_key(name) {
                            Watch::Class(name.clone())
                        } else {
                            Watch::Function(name.clone())
                        }
                    }),
            );
        }
        let is_word = walk.base.is_some()
            || match &test {
                Test::Constrained(_) | Test::Guarded(_) | Test::Checked(_) => true,
                Test::ConstrainedMany | Test::Validate => false,
            };
        let accessor_kinds = walk.candidates.iter().map(|c| c.accessor.kind()).collect();
        AccessPlan {
            name: access.name.clone(),
            test_type: match &test {
                Test::Checked(check) => Some(check.ty.clone()),
                _ => None,
            },
            first_method: first_method(walk.base.is_some(), is_word, &walk.first),
            test,
            base: walk.base,
            traversed: walk.traversed,
            traversal_modes: walk.modes,
            attrnames,
            context,
            context_test,
            final_method,
            origin,
            accessor_kinds,
            watches: walk.watches,
            checks: walk.checks,
            candidates: walk.candidates,
            parent,
            action: access.action,
            above: None,
            why,
        }
    }

    /// The most general types of a set, for printing.
    pub(super) fn general_types(&self, types: &Types) -> Types {
        Types {
            class: general(self.world, &types.class),
            instance: general(self.world, &types.instance),
            module: types.module.clone(),
        }
    }
}

/// The last step of an access. `has_origin` is true if the attribute is a known constant or getter,
/// `has_parent` if the object is known.
fn final_method(
    access: &Access,
    has_origin: bool,
    is_getter: bool,
    has_parent: bool,
) -> FinalMethod {
    match access.action {
        Action::Store if has_parent => FinalMethod::StaticAssign,
        Action::Store => FinalMethod::Assign,
        Action::Delete => FinalMethod::Delete,
        Action::Load if has_origin && is_getter => FinalMethod::StaticGet,
        Action::Load => match (has_origin, access.invocation.is_some()) {
            (true, true) => FinalMethod::StaticInvoke,
            (true, false) => FinalMethod::Static,
            (false, true) => FinalMethod::AccessInvoke,
            (false, false) => FinalMethod::Access,
        },
    }
}

fn of_candidates(candidates: &[Candidate]) -> Types {
    let mut types = Types::default();
    for candidate in candidates {
        match &candidate.accessor {
            AttributeOwner::Class(name) => types.class.insert(name.clone()),
            AttributeOwner::Instance(name) => types.instance.insert(name.clone()),
            AttributeOwner::Module(name) => types.module.insert(name.clone()),
        };
    }
    types
}

/// The candidate that represents all, if all find the same value in the same place.
fn one_place(candidates: &[Candidate]) -> Option<&Candidate> {
    let first = candidates.first()?;
    let alike = |c: &Candidate| {
        c.reference == first.reference
            && c.accessor.kind() == first.accessor.kind()
            && match (&c.provider, &first.provider) {
                // Each instance has its own attribute.
                (AttributeOwner::Instance(_), AttributeOwner::Instance(_)) => true,
                (a, b) => a == b,
            }
    };
    candidates.iter().all(alike).then_some(first)
}

fn first_method(is_base: bool, is_word: bool, first: &[Candidate]) -> FirstMethod {
    if is_base {
        return FirstMethod::RelativeObject;
    }
    let of_object = |c: &Candidate| {
        !matches!(c.accessor, AttributeOwner::Instance(_))
            || matches!(c.provider, AttributeOwner::Instance(_))
    };
    let object = first.iter().any(of_object);
    let class = first.iter().any(|c| !of_object(c));
    match (is_word, object, class) {
        (true, true, true) => FirstMethod::RelativeObjectClass,
        (true, false, true) => FirstMethod::RelativeClass,
        (true, ..) => FirstMethod::RelativeObject,
        (false, true, false) => FirstMethod::CheckObject,
        (false, false, true) => FirstMethod::CheckClass,
        (false, ..) => FirstMethod::CheckObjectClass,
    }
}

/// The treatment of the context. A function binds an instance wherever it was defined; a property's
/// getter receives it; a static method has no context, and a class method has its class.
fn context_test(access: &Access, candidates: &[Candidate], last: FinalMethod) -> ContextTest {
    if access.action != Action::Load || last == FinalMethod::Generic {
        return ContextTest::Ignore;
    }
    let through_class = |c: &&Candidate| {
        matches!(c.accessor, AttributeOwner::Instance(_))
            && matches!(c.provider, AttributeOwner::Class(_))
    };
    let may_bind = |c: &Candidate| {
        matches!(
            c.reference,
            Reference::Function(_)
                | Reference::Var
                | Reference::Property(_)
                | Reference::ClassMethod(_)
        )
    };
    let binds = |c: &Candidate| {
        matches!(
            c.reference,
            Reference::Function(_) | Reference::Property(_) | Reference::ClassMethod(_)
        )
    };
    let is_super = access.is_super;
    let bound: Vec<&Candidate> = candidates
        .iter()
        .filter(|c| is_super || through_class(c))
        .collect();
    if bound.is_empty() || !bound.iter().any(|c| may_bind(c)) {
        ContextTest::Ignore
    } else if bound.len() == candidates.len() && bound.iter().all(|c| binds(c)) {
        ContextTest::Replace
    } else {
        ContextTest::Test
    }
}
