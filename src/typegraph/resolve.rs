//! Applies a node to the goals of a state: goals that are bound in it are replaced by their
//! sources.
//!
//! A **goal** is a binding that must hold when control leaves the node. If the node binds the
//! goal's variable, it must be by this very binding, which is then **here**, and one of its source
//! sets must hold; otherwise the goal is for **before** the node. A source, or the node's
//! condition, may be read before the node's own bindings or among them: a node does not specify the
//! order of its actions, and a "no" must be true for every order. (The original has one value per
//! visit for both; with it, `x = x + 1` in one node is never visible.) But in one visit a node
//! binds a variable at most once.
//!
//! So a **result** is a set of goals for before the node. There may be exponentially many. They are
//! enumerated lazily, as a satisfiability solver does (Davis, Logemann, Loveland 1962): first the
//! forced choices, then a branch on the choice with the fewest alternatives; a branch in which two
//! goals contradict each other is never entered.

use super::answer::Exhausted;
use super::graph::{Binding, Node};
use super::search::View;

/// The reason why a branch has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dead {
    /// The node binds the variable of the goal, but never to this value.
    Overwritten(Binding),
    /// The binding has an origin in the node, without any source set.
    WithoutSources(Binding),
    /// The binding is created neither in the node nor anywhere from where control reaches it.
    OutOfReach(Binding),
    /// The two would be values of one variable at the same time.
    Contradiction(Binding, Binding),
}

/// One result: the bindings created here, their source sets, and the goals for before.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Resolved {
    /// Bindings created in the node, each with the index of its source set; in ascending order.
    pub(super) here: Vec<(Binding, usize)>,
    /// Goals for before the node, in ascending order.
    pub(super) before: Vec<Binding>,
}

/// A branch of the search: some choices are made, some are open.
#[derive(Clone, Default, Debug)]
struct Branch {
    /// Bindings created in the node, in ascending order; with the source set, if it is chosen.
    here: Vec<(Binding, Option<usize>)>,
    /// For before the node, in ascending order.
    before: Vec<Binding>,
    /// Members of source sets that may be read before the node or in it.
    floating: Vec<Binding>,
}

/// An open choice.
#[derive(Clone, Copy)]
enum Choice {
    /// A source set of a binding that is created here.
    Sources(Binding),
    /// The time at which a source is read.
    Time(Binding),
}

/// The results of one state, one after the other.
#[derive(Debug)]
pub(super) struct Resolver {
    node: Node,
    /// The branches still to visit; the next one is last.
    branches: Vec<Branch>,
    /// The reasons why branches failed, if they are wanted.
    dead: Option<Vec<Dead>>,
}

impl Resolver {
    pub(super) fn new(view: View<'_>, node: Node, goals: &[Binding]) -> Resolver {
        Resolver::with(view, node, goals, None)
    }

    /// A resolver that records why there is no result.
    pub(super) fn explaining(view: View<'_>, node: Node, goals: &[Binding]) -> Resolver {
        Resolver::with(view, node, goals, Some(Vec::new()))
    }

    fn with(view: View<'_>, node: Node, goals: &[Binding], dead: Option<Vec<Dead>>) -> Resolver {
        let mut resolver = Resolver {
            node,
            branches: Vec::new(),
            dead,
        };
        match resolver.begin(view, goals) {
            Ok(branch) => resolver.branches.push(branch),
            Err(dead) => resolver.note(dead),
        }
        resolver
    }

    /// The recorded reasons why there was no result.
    pub(super) fn into_dead(self) -> Vec<Dead> {
        self.dead.unwrap_or_default()
    }

    /// The next result. `steps` is the remaining budget.
    pub(super) fn next(
        &mut self,
        view: View<'_>,
        steps: &mut u64,
    ) -> Result<Option<Resolved>, Exhausted> {
        while let Some(mut branch) = self.branches.pop() {
            match self.propagate(view, &mut branch, steps)? {
                Err(dead) => self.note(dead),
                Ok(None) => return Ok(Some(branch.result())),
                Ok(Some(choice)) => self.split(view, &branch, choice),
            }
        }
        Ok(None)
    }

    fn note(&mut self, why: Dead) {
        if let Some(dead) = &mut self.dead
            && !dead.contains(&why)
        {
            dead.push(why);
        }
    }

    /// Goals are for after the node; the condition is like a source.
    fn begin(&self, view: View<'_>, goals: &[Binding]) -> Result<Branch, Dead> {
        let mut branch = Branch::default();
        for &goal in goals {
            if view.graph.origin_at(goal, self.node).is_some() {
                branch.put_here(view, goal)?;
            } else if view.graph.binds(self.node, view.graph.variable_of(goal)) {
                return Err(Dead::Overwritten(goal));
            } else {
                branch.put_before(view, self.node, goal)?;
            }
        }
        if let Some(condition) = view.graph.condition(self.node) {
            branch.floating.push(condition);
        }
        Ok(branch)
    }

    /// Makes all forced choices. Returns a choice to branch on, if one is open.
    fn propagate(
        &self,
        view: View<'_>,
        branch: &mut Branch,
        steps: &mut u64,
    ) -> Result<Result<Option<Choice>, Dead>, Exhausted> {
        loop {
            let mut is_changed = false;
            let mut best: Option<(usize, Choice)> = None;
            let mut offer = |ways: usize, choice: Choice| {
                if best.is_none_or(|(fewest, _)| ways < fewest) {
                    best = Some((ways, choice));
                }
            };
            let cost = branch.floating.len() + branch.here.len() + branch.before.len();
            *steps = steps.checked_sub(1 + cost as u64).ok_or(Exhausted::Steps)?;
            for source in std::mem::take(&mut branch.floating) {
                if branch.has(source) {
                    continue;
                }
                let ways = [
                    branch.may_be_here(view, self.node, source),
                    branch.may_be_before(view, self.node, source),
                ];
                match ways {
                    [Ok(()), Ok(())] => {
                        branch.floating.push(source);
                        offer(2, Choice::Time(source));
                        continue;
                    }
                    [Ok(()), Err(_)] => branch.insert_here(source),
                    [Err(_), Ok(())] => branch.insert_before(source),
                    // The reason against reading it before is more useful, unless it is only
                    // created here.
                    [Err(here), Err(before)] => {
                        let is_here = view.graph.origin_at(source, self.node).is_some();
                        return Ok(Err(if is_here { here } else { before }));
                    }
                }
                is_changed = true;
            }
            for at in 0..branch.here.len() {
                let (binding, None) = branch.here[at] else {
                    continue;
                };
                let sets = view.graph.origin_at(binding, self.node);
                let sets = sets.map_or(&[][..], |origin| &origin.sources);
                *steps = steps
                    .checked_sub(sets.iter().map(|set| 1 + set.len() as u64).sum())
                    .ok_or(Exhausted::Steps)?;
                // A set without new goals can't be worse than another.
                let chosen = match sets.iter().position(|set| branch.has_all(set)) {
                    Some(free) => free,
                    None => {
                        let mut why = Dead::WithoutSources(binding);
                        let mut viable = 0..0;
                        let mut count = 0;
                        for (i, set) in sets.iter().enumerate() {
                            match branch.may_have_all(view, self.node, set) {
                                Ok(()) if count == 0 => (count, viable) = (1, i..i + 1),
                                Ok(()) => count += 1,
                                Err(dead) => why = dead,
                            }
                        }
                        match count {
                            0 => return Ok(Err(why)),
                            1 => viable.start,
                            _ => {
                                offer(count, Choice::Sources(binding));
                                continue;
                            }
                        }
                    }
                };
                branch.here[at].1 = Some(chosen);
                branch.floating.extend(&sets[chosen]);
                is_changed = true;
            }
            if !is_changed {
                return Ok(Ok(best.map(|(_, choice)| choice)));
            }
        }
    }

    /// Adds a branch for every alternative, the first one to be visited first.
    fn split(&mut self, view: View<'_>, branch: &Branch, choice: Choice) {
        let first = self.branches.len();
        match choice {
            Choice::Time(source) => {
                let mut here = branch.clone();
                here.insert_here(source);
                let mut before = branch.clone();
                before.insert_before(source);
                self.branches.extend([here, before]);
            }
            Choice::Sources(binding) => {
                let origin = view.graph.origin_at(binding, self.node);
                let sets = origin.map_or(&[][..], |origin| &origin.sources);
                for (i, set) in sets.iter().enumerate() {
                    if branch.may_have_all(view, self.node, set).is_err() {
                        continue;
                    }
                    let mut branch = branch.clone();
                    if let Some(entry) = branch.here.iter_mut().find(|entry| entry.0 == binding) {
                        entry.1 = Some(i);
                    }
                    branch.floating.extend(set);
                    self.branches.push(branch);
                }
            }
        }
        self.branches[first..].reverse();
    }
}

impl Branch {
    fn is_here(&self, binding: Binding) -> bool {
        self.here.binary_search_by_key(&binding, |e| e.0).is_ok()
    }

    /// Returns true if a source already holds.
    fn has(&self, source: Binding) -> bool {
        self.is_here(source) || self.before.binary_search(&source).is_ok()
    }

    fn has_all(&self, sources: &[Binding]) -> bool {
        sources.iter().all(|&source| self.has(source))
    }

    /// Returns true if each source alone may still hold.
    fn may_have_all(&self, view: View<'_>, node: Node, sources: &[Binding]) -> Result<(), Dead> {
        for &source in sources {
            if self.has(source) || self.may_be_before(view, node, source).is_ok() {
                continue;
            }
            self.may_be_here(view, node, source)?;
        }
        Ok(())
    }

    fn may_be_here(&self, view: View<'_>, node: Node, source: Binding) -> Result<(), Dead> {
        if view.graph.origin_at(source, node).is_none() {
            return Err(Dead::OutOfReach(source));
        }
        self.agrees(view, source, self.here.iter().map(|entry| entry.0))
    }

    fn may_be_before(&self, view: View<'_>, node: Node, source: Binding) -> Result<(), Dead> {
        if !view.is_before(source, node) {
            return Err(Dead::OutOfReach(source));
        }
        self.agrees(view, source, self.before.iter().copied())
    }

    /// Returns true if some bindings contain no other value of the variable.
    fn agrees(
        &self,
        view: View<'_>,
        source: Binding,
        mut others: impl Iterator<Item = Binding>,
    ) -> Result<(), Dead> {
        let variable = view.graph.variable_of(source);
        match others.find(|&other| other != source && view.graph.variable_of(other) == variable) {
            Some(other) => Err(Dead::Contradiction(source.min(other), source.max(other))),
            None => Ok(()),
        }
    }

    fn put_here(&mut self, view: View<'_>, goal: Binding) -> Result<(), Dead> {
        self.agrees(view, goal, self.here.iter().map(|entry| entry.0))?;
        self.insert_here(goal);
        Ok(())
    }

    fn put_before(&mut self, view: View<'_>, node: Node, goal: Binding) -> Result<(), Dead> {
        self.may_be_before(view, node, goal)?;
        self.insert_before(goal);
        Ok(())
    }

    fn insert_here(&mut self, binding: Binding) {
        if let Err(at) = self.here.binary_search_by_key(&binding, |e| e.0) {
            self.here.insert(at, (binding, None));
        }
    }

    fn insert_before(&mut self, binding: Binding) {
        if let Err(at) = self.before.binary_search(&binding) {
            self.before.insert(at, binding);
        }
    }

    fn result(self) -> Resolved {
        let chosen = |(binding, set): (Binding, Option<usize>)| Some((binding, set?));
        Resolved {
            here: self.here.into_iter().filter_map(chosen).collect(),
            before: self.before,
        }
    }
}
