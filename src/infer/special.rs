//! Specialisation: call sites with different argument types get their own versions of a function.
//!
//! The analysis runs in rounds. In the first, each function has one version. That gives the
//! arguments of each call site, and in the next round call sites with other types call another
//! version. The version that a site calls is fixed within a round, so the result of each round, and
//! of all, does not depend on the order of steps. A function that would have more versions than the
//! budget allows keeps one. For example, after `f(1); f("a")` the second round analyses `f` once
//! for ints and once for strings.

use super::engine::{Engine, Options};
use super::identity::Kind;
use super::program::FuncId;
use super::value::Facts;
use crate::hir::Value;
use crate::types::Type;
use std::collections::{BTreeMap, BTreeSet};

/// The argument types that a version is for, one text for each parameter.
pub type Group = Vec<String>;

/// A call site.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Site {
    pub func: FuncId,
    pub group: Option<Group>,
    /// The call; none: the entry of the analysis.
    pub op: Option<Value>,
}

/// The version that each call site calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Plan {
    groups: BTreeMap<(Site, FuncId), Group>,
    crowded: BTreeSet<Site>,
}

impl Plan {
    /// Returns true if the site has too many callees to follow.
    pub fn is_crowded(&self, site: &Site) -> bool {
        self.crowded.contains(site)
    }

    pub fn group(&self, site: &Site, callee: FuncId) -> Option<Group> {
        self.groups.get(&(site.clone(), callee)).cloned()
    }
}

impl Engine<'_> {
    /// The plan for the next round, from the arguments that call sites passed.
    pub(super) fn next_plan(&self, options: &Options) -> Plan {
        let mut by_callee: BTreeMap<FuncId, Vec<(&Site, Group)>> = BTreeMap::new();
        for (site, callees) in &self.calls {
            for (callee, args) in callees {
                let group = args.iter().map(|facts| self.key_part(facts)).collect();
                by_callee.entry(*callee).or_default().push((site, group));
            }
        }
        let crowded = self.crowded.union(&self.plan.crowded).cloned().collect();
        let mut plan = Plan {
            crowded,
            ..Plan::default()
        };
        for (callee, sites) in by_callee {
            let groups: BTreeSet<&Group> = sites.iter().map(|(_, group)| group).collect();
            if (2..=options.max_versions).contains(&groups.len()) {
                for (site, group) in &sites {
                    plan.groups.insert(((*site).clone(), callee), group.clone());
                }
            }
        }
        plan
    }

    /// The part of an argument's facts that separates call sites: its builtin class or its user
    /// class.
    fn key_part(&self, facts: &Facts) -> String {
        let ty = facts.ty.unspecialized().drop_mortality();
        let mut classes: BTreeSet<&str> = BTreeSet::new();
        for id in &facts.objects.ids {
            let heap = self.set.own_heap(*id);
            if heap.kind == Kind::Instance {
                classes.insert(&heap.name);
            }
        }
        match classes.len() {
            1 if !facts.objects.open && ty <= Type::USER => {
                classes.into_iter().next().unwrap_or_default().to_owned()
            }
            _ => ty.to_string(),
        }
    }
}
