//! The results, as data and as text: one paragraph for each accessor, one for each access.

use super::accesses::{Access, Action, roots};
use super::deduce::{Accessor, Candidate, Deduction, Unit};
use super::index::Types;
use super::instructions::{Step, steps};
use super::plan::{AccessPlan, FinalMethod};
use super::references::{Owner, Resolver};
use super::usage::{Usage, Usages};
use super::world::{Name, References};
use crate::hir::{GeneralOp as G, Op, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Write};

/// One access with its plan and its steps.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The access.
    pub access: Access,
    /// Its plan.
    pub plan: AccessPlan,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// One accessor.
#[derive(Clone, Debug)]
pub struct AccessorReport {
    /// Its name in the source, with a number if several accessors have that name.
    pub label: String,
    /// The results for it.
    pub accessor: Accessor,
    /// Its most general types.
    pub general: Types,
    /// The number of accesses that it supplies.
    pub accesses: usize,
}

/// One function.
#[derive(Clone, Debug)]
pub struct FunctionReport {
    /// Its name.
    pub name: String,
    /// The names of its module and of the builtins that it loads, with their referents; the flag is
    /// true if the name is watched, false if it is looked up.
    pub names: BTreeMap<Name, (References, bool)>,
    /// Its accessors, in order.
    pub accessors: Vec<AccessorReport>,
    /// Its accesses, in order.
    pub accesses: Vec<Planned>,
}

/// A program.
#[derive(Clone, Debug)]
pub struct PlanReport {
    /// Its functions.
    pub functions: Vec<FunctionReport>,
    /// Attributes that assignments of the program may change, by their owners.
    pub mutated: BTreeSet<(Name, Name)>,
    /// Code objects without results, each with the reason.
    pub refused: Vec<(String, String)>,
    /// The number of rounds of the deduction.
    pub rounds: usize,
}

/// Names that each class's body defines, and that are not reported.
const OWN_NAMES: &[&str] = &["__module__", "__qualname__"];

impl Deduction<'_> {
    /// The results of the deduction.
    pub(super) fn report(&self) -> PlanReport {
        let resolver = self.resolver();
        let mut functions = Vec::new();
        for unit in &self.units {
            let f = self.world.program.function(unit.func);
            let mut accesses = Vec::new();
            for access in &unit.accesses {
                let plan = self.plan(unit, access, &resolver);
                let steps = steps(&plan, &access.attrs);
                accesses.push(Planned {
                    access: access.clone(),
                    plan,
                    steps,
                });
            }
            functions.push(FunctionReport {
                name: f.code.name.clone(),
                names: self.names(unit, &resolver),
                accessors: self.accessor_reports(unit),
                accesses,
            });
        }
        let mutated = self.mutated.iter();
        let mutated = mutated.map(|(owner, attr)| (owner.name().clone(), attr.clone()));
        PlanReport {
            functions,
            mutated: mutated
                .filter(|(_, attr)| !OWN_NAMES.contains(&&**attr))
                .collect(),
            refused: self.world.program.refused.clone(),
            rounds: self.rounds,
        }
    }

    fn names(&self, unit: &Unit, resolver: &Resolver<'_>) -> BTreeMap<Name, (References, bool)> {
        let f = self.world.program.function(unit.func);
        let module = &self.world.functions[&unit.func].module;
        let mut names = BTreeMap::new();
        let insts = f.order.iter().flat_map(|block| &f.blocks[*block].insts);
        for v in insts {
            if let Op::General(G::LoadGlobal, imms) = f.op(*v) {
                let name: Name = f.code.names[imms[0] as usize].as_str().into();
                let owner = Owner::Module(module.clone());
                let has_own = self.world.modules[module].attributes.contains_key(&name);
                // A name refers to a builtin as long as the module does not define it.
                let watched = !has_own || resolver.is_constant(&owner, &name);
                let refs = resolver.of_name(module, &name);
                names.insert(name, (refs, watched));
            }
        }
        names
    }

    fn accessor_reports(&self, unit: &Unit) -> Vec<AccessorReport> {
        let f = self.world.program.function(unit.func);
        let mut supplied: BTreeMap<Value, (usize, Option<String>)> = BTreeMap::new();
        for access in &unit.accesses {
            if access.is_super {
                continue;
            }
            for root in roots(f, access.accessor) {
                let entry = supplied.entry(root).or_default();
                entry.0 += 1;
                entry.1 = entry.1.take().or_else(|| access.name.clone());
            }
        }
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let mut reports = Vec::new();
        for (root, accessor) in &unit.accessors {
            let (accesses, name) = supplied.get(root).cloned().unwrap_or_default();
            // A name that is looked up each time would have one paragraph for each lookup.
            let is_looked_up = matches!(f.op(*root), Op::General(G::LoadGlobal | G::LoadName, _));
            if accesses == 0 || is_looked_up && accessor.is_constrained {
                continue;
            }
            let name = name.unwrap_or_else(|| "<expr>".into());
            let number = numbers.entry(name.clone()).or_default();
            *number += 1;
            let label = match *number {
                1 => name,
                n => format!("{name}#{n}"),
            };
            reports.push(AccessorReport {
                label,
                accessor: accessor.clone(),
                general: self.general_types(&accessor.types),
                accesses,
            });
        }
        reports
    }
}

fn usage_text(usage: &Usage) -> String {
    let names: Vec<String> = usage.iter().map(ToString::to_string).collect();
    format!("({})", names.join(", "))
}

fn usages_text(usages: &Usages) -> String {
    let all: Vec<String> = usages.iter().map(usage_text).collect();
    all.join(" | ")
}

/// Longer sets of types are counted, not listed.
const MAX_NAMED: usize = 8;

fn types_text(types: &Types) -> String {
    let mut parts = Vec::new();
    for (word, names) in [
        ("class", &types.class),
        ("instance", &types.instance),
        ("module", &types.module),
    ] {
        let names: Vec<&str> = names.iter().map(|n| &**n).collect();
        if names.len() > MAX_NAMED {
            parts.push(format!("{word} of {} types", names.len()));
        } else if !names.is_empty() {
            parts.push(format!("{word} {}", names.join(" ")));
        }
    }
    if parts.is_empty() {
        "none".into()
    } else {
        parts.join("; ")
    }
}

fn candidate_text(candidate: &Candidate) -> String {
    let (accessor, provider) = (&candidate.accessor, &candidate.provider);
    format!(
        "{} {} from {} {}: {}",
        accessor.kind(),
        accessor.name(),
        provider.kind(),
        provider.name(),
        candidate.reference
    )
}

fn joined<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let all: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    if all.is_empty() {
        "nothing".into()
    } else {
        all.join(", ")
    }
}

impl Display for AccessorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let accessor = &self.accessor;
        write!(f, "  accessor {}", self.label)?;
        if accessor.is_self {
            f.write_str(" (self)")?;
        }
        writeln!(f)?;
        writeln!(f, "    usage       {}", usages_text(&accessor.usages))?;
        writeln!(f, "    types       {}", types_text(&accessor.types))?;
        if self.general != accessor.types {
            writeln!(f, "    general     {}", types_text(&self.general))?;
        }
        let guard = match (&accessor.guard, accessor.is_constrained) {
            (Some(guard), _) => match self.accesses {
                1 => format!("{guard} for 1 access"),
                n => format!("{guard} for {n} accesses"),
            },
            (None, true) => "not needed: the program says so".into(),
            (None, false) => "none".into(),
        };
        writeln!(f, "    guard       {guard}")
    }
}

impl Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (access, plan) = (&self.access, &self.plan);
        let name = match (&access.name, access.is_super) {
            (_, true) => "super()",
            (Some(name), _) => name,
            (None, _) => "<expr>",
        };
        let attrs: Vec<&str> = access.attrs.iter().map(|attr| &**attr).collect();
        write!(f, "  access {name}.{}", attrs.join("."))?;
        match (access.action, &access.invocation) {
            (Action::Store, _) => f.write_str(" = ")?,
            (Action::Delete, _) => f.write_str(" deleted")?,
            (Action::Load, Some(call)) => {
                let mut args: Vec<String> = match call.args {
                    Some(count) => vec!["_".to_owned(); count],
                    None => vec!["*".into()],
                };
                args.extend(call.keywords.iter().map(|name| format!("{name}=_")));
                write!(f, "({})", args.join(", "))?;
            }
            (Action::Load, None) => {}
        }
        writeln!(f, " {} line {}", access.pc, access.line)?;
        if plan.candidates.len() > MAX_NAMED {
            writeln!(f, "    candidates  {}", plan.candidates.len())?;
        } else {
            for candidate in &plan.candidates {
                writeln!(f, "    candidate   {}", candidate_text(candidate))?;
            }
        }
        writeln!(f, "    plan        {plan}")?;
        if let Some(why) = &plan.why {
            writeln!(f, "    because     {why}")?;
        }
        for step in &self.steps {
            writeln!(f, "    step        {step}")?;
        }
        writeln!(f, "    checked     {}", joined(&plan.checks))?;
        writeln!(f, "    watched     {}", joined(&plan.watches))
    }
}

impl PlanReport {
    /// The text about one function, or about all.
    pub fn text(&self, function: Option<&str>) -> String {
        let mut text = String::new();
        for report in &self.functions {
            let is_asked = function.is_none_or(|name| name == report.name);
            if is_asked && !(report.accesses.is_empty() && report.names.is_empty()) {
                let _ = writeln!(text, "{}", report.name);
                for (name, (refs, watched)) in &report.names {
                    let how = if *watched { "watched" } else { "looked up" };
                    let _ = writeln!(text, "  name {name}: {}, {how}", joined(refs));
                }
                for accessor in &report.accessors {
                    let _ = write!(text, "{accessor}");
                }
                for planned in &report.accesses {
                    let _ = write!(text, "{planned}");
                }
            }
        }
        if function.is_none() {
            if !self.mutated.is_empty() {
                let names = self.mutated.iter();
                let names = names.map(|(owner, attr)| format!("{owner}.{attr}"));
                let _ = writeln!(text, "may change: {}", joined(names));
            }
            for (name, why) in &self.refused {
                let _ = writeln!(text, "not read: {name}: {why}");
            }
            let _ = writeln!(text, "{}", self.kinds());
        }
        text
    }

    /// The number of accesses for each final method.
    pub fn kinds(&self) -> String {
        let mut counts: BTreeMap<FinalMethod, usize> = BTreeMap::new();
        let mut validated = 0;
        for planned in self.functions.iter().flat_map(|f| &f.accesses) {
            *counts.entry(planned.plan.final_method).or_default() += 1;
            let is_asked =
                planned.plan.test == super::Test::Validate && planned.plan.base.is_none();
            validated += usize::from(is_asked && planned.plan.final_method != FinalMethod::Generic);
        }
        let parts = counts.iter().map(|(kind, count)| format!("{kind} {count}"));
        let all: usize = counts.values().sum();
        match all {
            0 => "no accesses".into(),
            1 => format!("1 access: {}; {validated} validated", joined(parts)),
            _ => format!("{all} accesses: {}; {validated} validated", joined(parts)),
        }
    }
}
