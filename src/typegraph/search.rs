//! The solver: searches against the direction of control for a path on which goals hold together at
//! a node.
//!
//! A **state** is a node and the goals that must hold when control leaves it. One step resolves the
//! goals that the node binds (`resolve`), walks to nodes that concern the remaining goals (`walk`),
//! and so gives the next states. A state is feasible if no goal is left, or one of the next states
//! is feasible. States, steps, treating conditions like goals, testing each goal alone first, and
//! the cache are the original's; so are the figures that are counted.
//!
//! # Why a "no" is true
//!
//! - A state that is being visited is neither yes nor no. States on cycles are decided together,
//!   when the last path out of their **strongly connected component** has failed (Tarjan 1972; in
//!   tabled logic programs this is called completion, Chen and Warren 1996). The original takes
//!   "being visited" for an answer, and caches the conclusions.
//! - A search that uses up its budget decides only the components completed until then.
//! - Goals at a node that contain a set refuted there are refuted. Nothing else is inferred.
//! - Two states are the same if their node and goals are, not if their hashes are.
//!
//! # Two passes
//!
//! Like the original, the first pass considers the condition of a node only if it is mandatory: on
//! every relevant path. Its "no" is true, since it leaves conditions out; and it is cheap, since it
//! steps over irrelevant conditional statements. If it says yes but can't show a path whose every
//! condition holds, the second pass considers each condition on each path; its "yes" has a witness.
//! Both arms of a statement may require a binding that its end contradicts: only the second pass
//! sees that.

use super::answer::{Answer, Budget, Exhausted};
use super::graph::{Binding, Graph, Node, Origin};
use super::metrics::{SolverMetrics, Step};
use super::reach::Reachability;
use super::resolve::{Resolved, Resolver};
use super::table::{GoalsId, Mark, StateId, Table};
use super::walk::{Conditions, Walker};
use super::why::{Refutation, Witness};
use std::collections::HashMap;

/// If a binding has more origins than this, they are not all tested just to save a walk.
const MANY: usize = 16;

/// A graph that does not change during a search.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) graph: &'a Graph,
    pub(super) reach: &'a Reachability,
}

impl View<'_> {
    /// Returns true if a binding has an origin from where control reaches the node, so that it
    /// might hold before it. Also returns true if the test costs too much; the walk decides then.
    pub(super) fn is_before(self, binding: Binding, node: Node) -> bool {
        let origins = self.graph.origins(binding);
        let is_from = |origin: &Origin| {
            if origin.node != node {
                return self.reach.reaches(origin.node, node);
            }
            let mut before = self.graph.before(node);
            before.any(|before| self.reach.reaches(node, before))
        };
        origins.len() > MANY || origins.iter().any(is_from)
    }

    /// Returns true if control reaches the node from an origin of the goal, or if the test costs
    /// too much.
    pub(super) fn is_behind(self, goal: Option<Binding>, node: Node) -> bool {
        let origins = goal.map_or(&[][..], |goal| self.graph.origins(goal));
        let mut origins_reach = origins.iter().map(|o| self.reach.reaches(o.node, node));
        goal.is_none() || origins.len() > MANY || origins_reach.any(|reaches| reaches)
    }
}

/// A planted fault, which the tests must find. These are mistakes of the original.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A state that failed because it led back to one being visited is cached as a "no".
    NoOnACycle,
    /// The condition of a node on one path counts as being on every path.
    OneWayIsAll,
}

/// The results for a graph, and the working memory of searches.
#[derive(Clone, Default)]
pub(super) struct Search {
    budget: Budget,
    /// By the conditions considered: mandatory ones, all.
    tables: [Table; 2],
    walker: Walker,
    /// Answers to questions that the first table leaves open.
    confirmed: HashMap<StateId, Confirmed>,
    metrics: SolverMetrics,
    fault: Option<Fault>,
}

/// The confirmation of a state that is feasible by mandatory conditions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Confirmed {
    /// The first path found has no other conditions.
    Directly,
    /// Decided by the second pass.
    InFull,
}

/// A state being visited.
struct Frame {
    state: StateId,
    resolver: Resolver,
    /// The goals for before the node, of all results so far. The positions are those of the last.
    results: Vec<GoalsId>,
    positions: std::vec::IntoIter<Node>,
}

/// The remaining budget of a question.
struct Account {
    steps: u64,
    states: usize,
}

const MANDATORY: usize = 0;
const ALL: usize = 1;

impl Search {
    pub(super) fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }

    pub(super) fn new(fault: Option<Fault>) -> Search {
        Search {
            walker: Walker::new(fault),
            fault,
            ..Search::default()
        }
    }

    pub(super) fn metrics(&self) -> &SolverMetrics {
        &self.metrics
    }

    pub(super) fn ask(&mut self, view: View<'_>, node: Node, goals: &[Binding]) -> Answer {
        let visits = self.walker.visits();
        self.metrics.begin(node, goals.len());
        let mut account = Account {
            steps: self.budget.steps,
            states: self.budget.states,
        };
        let answer = self.decide(view, node, goals, &mut account);
        let answer = answer.unwrap_or_else(Answer::Unknown);
        let walked = self.walker.visits() - visits;
        self.metrics.update(|query| {
            query.answer = answer;
            query.steps = self.budget.steps - account.steps;
            query.walked = walked;
        });
        self.metrics.cache.size = self.tables[MANDATORY].decided();
        answer
    }

    pub(super) fn witness(
        &mut self,
        view: View<'_>,
        node: Node,
        goals: &[Binding],
    ) -> (Answer, Option<Witness>) {
        let answer = self.ask(view, node, goals);
        let witness = (answer == Answer::Feasible)
            .then(|| {
                let root = self.tables[MANDATORY].state(node, goals);
                let pass = match self.confirmed.get(&root)? {
                    Confirmed::Directly => MANDATORY,
                    Confirmed::InFull => ALL,
                };
                let root = self.tables[pass].state(node, goals);
                let found = self.show(view, pass, root, &mut u64::MAX.clone());
                found.ok().flatten()
            })
            .flatten();
        (answer, witness)
    }

    pub(super) fn refutation(
        &mut self,
        view: View<'_>,
        node: Node,
        goals: &[Binding],
    ) -> (Answer, Option<Refutation>) {
        let answer = self.ask(view, node, goals);
        let refutation = answer.is_infeasible().then(|| {
            // Few impossible goals explain more than all together.
            let alone = goals.iter().map(|goal| vec![*goal]);
            let pairs = goals.iter().enumerate().flat_map(|(i, &a)| {
                let with = goals[i + 1..].iter();
                with.map(move |&b| vec![a, b])
            });
            let all = goals.to_vec();
            let mut candidates = alone.chain(pairs).chain(Some(all));
            let refuted = candidates.find_map(|goals| {
                let conditions = [Conditions::Mandatory, Conditions::All];
                conditions.into_iter().enumerate().find_map(|(pass, c)| {
                    let id = self.tables[pass].find(node, &goals)?;
                    let is_no = matches!(self.tables[pass].mark(id), Mark::No);
                    is_no.then(|| (goals.clone(), c))
                })
            });
            let (goals, conditions) = refuted.unwrap_or((goals.to_vec(), Conditions::All));
            Refutation::find(view, &mut self.walker, node, &goals, conditions)
        });
        (answer, refutation)
    }

    /// Decides single goals, then all, then pairs if all are too expensive.
    fn decide(
        &mut self,
        view: View<'_>,
        node: Node,
        goals: &[Binding],
        account: &mut Account,
    ) -> Result<Answer, Exhausted> {
        if goals.len() > 1 {
            for &goal in goals {
                let alone = self.tables[MANDATORY].state(node, &[goal]);
                if !self.solve(view, MANDATORY, alone, account)? {
                    self.metrics.update(|query| query.shortcircuited = true);
                    return Ok(Answer::Infeasible);
                }
            }
        }
        if goals.len() < 3 {
            return self.decide_together(view, node, goals, account);
        }
        // Some budget is kept for pairs: two goals that never hold together are found soon where
        // many goals have too many alternatives.
        let kept = Account {
            steps: account.steps / 4,
            states: account.states / 4,
        };
        account.steps -= kept.steps;
        account.states -= kept.states;
        let answer = self.decide_together(view, node, goals, account);
        account.steps += kept.steps;
        account.states += kept.states;
        match answer {
            // The answer is the budget that was exhausted first.
            Err(_) if self.is_some_pair_refuted(view, node, goals, account) => {
                self.metrics.update(|query| query.shortcircuited = true);
                Ok(Answer::Infeasible)
            }
            answer => answer,
        }
    }

    /// Returns true if two of the goals are proved not to hold together. Pairs with few
    /// alternatives come first: the others make all together expensive.
    fn is_some_pair_refuted(
        &mut self,
        view: View<'_>,
        node: Node,
        goals: &[Binding],
        account: &mut Account,
    ) -> bool {
        let ways = |goal: &Binding| {
            let origin = view.graph.origin_at(*goal, node);
            origin.map_or(0, |origin| origin.sources.len())
        };
        let mut goals = goals.to_vec();
        goals.sort_by_key(ways);
        for (i, &a) in goals.iter().enumerate() {
            for &b in &goals[i + 1..] {
                let pair = self.tables[MANDATORY].state(node, &[a, b]);
                match self.solve(view, MANDATORY, pair, account) {
                    Ok(true) => {}
                    Ok(false) => return true,
                    Err(_) => return false,
                }
            }
        }
        false
    }

    /// Decides all goals together.
    fn decide_together(
        &mut self,
        view: View<'_>,
        node: Node,
        goals: &[Binding],
        account: &mut Account,
    ) -> Result<Answer, Exhausted> {
        let root = self.tables[MANDATORY].state(node, goals);
        if !self.solve(view, MANDATORY, root, account)? {
            return Ok(Answer::Infeasible);
        }
        if !self.confirmed.contains_key(&root) {
            let confirmed = match self.show(view, MANDATORY, root, &mut account.steps)? {
                Some(_) => Confirmed::Directly,
                None => Confirmed::InFull,
            };
            self.confirmed.insert(root, confirmed);
        }
        if self.confirmed.get(&root) == Some(&Confirmed::InFull) {
            self.metrics.update(|query| query.second_pass = true);
            let root = self.tables[ALL].state(node, goals);
            if !self.solve(view, ALL, root, account)? {
                return Ok(Answer::Infeasible);
            }
        }
        Ok(Answer::Feasible)
    }

    /// Decides a state.
    fn solve(
        &mut self,
        view: View<'_>,
        pass: usize,
        root: StateId,
        account: &mut Account,
    ) -> Result<bool, Exhausted> {
        match self.tables[pass].mark(root) {
            Mark::No => return Ok(self.recall(false)),
            Mark::Yes { .. } => return Ok(self.recall(true)),
            Mark::Fresh | Mark::Open { .. } => {}
        }
        let (node, goals) = self.tables[pass].key(root);
        if self.is_refuted(pass, node, goals, account)? {
            self.tables[pass].set(root, Mark::No);
            return Ok(self.recall(false));
        }
        let (mut frames, mut open) = (Vec::new(), Vec::new());
        let found = self.run(view, pass, root, account, &mut frames, &mut open);
        // A state that was neither completed nor on the successful path is reset.
        for state in open {
            if matches!(self.tables[pass].mark(state), Mark::Open { .. }) {
                self.tables[pass].set(state, Mark::Fresh);
            }
        }
        found
    }

    fn recall(&mut self, answer: bool) -> bool {
        self.metrics.cache.hits += 1;
        self.metrics.update(|query| query.from_cache = true);
        answer
    }

    /// The search itself. `frames` is the path from the root, `open` all undecided states, in the
    /// order in which they were entered.
    fn run(
        &mut self,
        view: View<'_>,
        pass: usize,
        root: StateId,
        account: &mut Account,
        frames: &mut Vec<Frame>,
        open: &mut Vec<StateId>,
    ) -> Result<bool, Exhausted> {
        let conditions = [Conditions::Mandatory, Conditions::All][pass];
        self.enter(view, pass, root, account, frames, open)?;
        while let Some(frame) = frames.last_mut() {
            let (node, _) = self.tables[pass].key(frame.state);
            if let Some(position) = frame.positions.next() {
                let Some(&result) = frame.results.last() else {
                    continue;
                };
                let state = frame.state;
                let next = self.tables[pass].state_of(position, result);
                match self.tables[pass].mark(next) {
                    Mark::No => {
                        self.recall(false);
                    }
                    Mark::Yes { .. } => {
                        self.recall(true);
                        self.succeed(pass, frames, Some(next));
                        return Ok(true);
                    }
                    Mark::Open { index, .. } => self.tables[pass].lower(state, index),
                    Mark::Fresh if self.is_refuted(pass, position, result, account)? => {
                        self.tables[pass].set(next, Mark::No);
                        self.recall(false);
                    }
                    Mark::Fresh => self.enter(view, pass, next, account, frames, open)?,
                }
                continue;
            }
            if let Some(resolved) = frame.resolver.next(view, &mut account.steps)? {
                if resolved.before.is_empty() {
                    let none = self.tables[pass].goals_id(&[]);
                    frame.results.push(none);
                    self.succeed(pass, frames, None);
                    return Ok(true);
                }
                if resolved.before.len() > self.budget.goals {
                    return Err(Exhausted::Goals);
                }
                let result = self.tables[pass].goals_id(&resolved.before);
                if frame.results.contains(&result) {
                    continue;
                }
                if frame.results.len() == self.budget.results {
                    return Err(Exhausted::Results);
                }
                frame.results.push(result);
                let positions = self.walker.positions(
                    view,
                    node,
                    &resolved.before,
                    conditions,
                    &mut account.steps,
                )?;
                frame.positions = positions.into_iter();
                continue;
            }
            // Every path out of this state has failed.
            let state = frame.state;
            frames.pop();
            let Mark::Open { index, low } = self.tables[pass].mark(state) else {
                continue;
            };
            if let Some(frame) = frames.last() {
                self.tables[pass].lower(frame.state, low);
            }
            if low == index || self.fault == Some(Fault::NoOnACycle) {
                let start = open.iter().rposition(|&s| s == state).unwrap_or(0);
                for state in open.drain(start..) {
                    self.tables[pass].refute(state);
                }
            }
        }
        Ok(false)
    }

    /// Begins to visit a state.
    fn enter(
        &mut self,
        view: View<'_>,
        pass: usize,
        state: StateId,
        account: &mut Account,
        frames: &mut Vec<Frame>,
        open: &mut Vec<StateId>,
    ) -> Result<(), Exhausted> {
        account.states = account.states.checked_sub(1).ok_or(Exhausted::States)?;
        let (node, goals) = self.tables[pass].key(state);
        let goals = self.tables[pass].goals(goals);
        if goals.len() > self.budget.goals {
            return Err(Exhausted::Goals);
        }
        self.metrics.cache.misses += 1;
        self.metrics.visit(Step {
            node,
            goals: goals.into(),
            depth: frames.len(),
        });
        frames.push(Frame {
            state,
            resolver: Resolver::new(view, node, goals),
            results: Vec::new(),
            positions: Vec::new().into_iter(),
        });
        let index = open.len() as u32;
        open.push(state);
        self.tables[pass].set(state, Mark::Open { index, low: index });
        Ok(())
    }

    /// Marks all states being visited as feasible, each by its last result and position.
    fn succeed(&mut self, pass: usize, frames: &mut Vec<Frame>, last: Option<StateId>) {
        let mut next = last;
        while let Some(frame) = frames.pop() {
            let result = frame.results.last().copied();
            let result = result.unwrap_or_else(|| self.tables[pass].goals_id(&[]));
            self.tables[pass].set(frame.state, Mark::Yes { result, next });
            next = Some(frame.state);
        }
    }

    /// Returns true if a subset of the goals is already refuted at the node.
    fn is_refuted(
        &self,
        pass: usize,
        node: Node,
        goals: GoalsId,
        account: &mut Account,
    ) -> Result<bool, Exhausted> {
        let goals = self.tables[pass].goals(goals);
        // Goals that are impossible with some conditions are so with all.
        for table in &self.tables[..=pass] {
            let (is_refuted, compared) = table.holds_refuted(node, goals);
            account.steps = account
                .steps
                .checked_sub(compared)
                .ok_or(Exhausted::Steps)?;
            if is_refuted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The path of a feasible state in a table, if no other condition on it fails.
    fn show(
        &mut self,
        view: View<'_>,
        pass: usize,
        root: StateId,
        steps: &mut u64,
    ) -> Result<Option<Witness>, Exhausted> {
        let mut witness = Witness::default();
        let mut at = root;
        loop {
            let Mark::Yes { result, next } = self.tables[pass].mark(at) else {
                return Ok(None);
            };
            let (node, goals) = self.tables[pass].key(at);
            let before = self.tables[pass].goals(result);
            let goals = self.tables[pass].goals(goals);
            let Some(resolved) = resolved(view, node, goals, before, steps)? else {
                return Ok(None);
            };
            witness.visit(node, resolved);
            let Some(next) = next else {
                return Ok(Some(witness));
            };
            let (to, _) = self.tables[pass].key(next);
            let Some(mut way) = self.walker.free_way(view, node, to, before, steps)? else {
                return Ok(None);
            };
            way.pop();
            for node in way {
                witness.pass(node, before);
            }
            at = next;
        }
    }
}

/// The result of a state that leaves these goals.
fn resolved(
    view: View<'_>,
    node: Node,
    goals: &[Binding],
    before: &[Binding],
    steps: &mut u64,
) -> Result<Option<Resolved>, Exhausted> {
    let mut resolver = Resolver::new(view, node, goals);
    while let Some(resolved) = resolver.next(view, steps)? {
        if resolved.before == before {
            return Ok(Some(resolved));
        }
    }
    Ok(None)
}
