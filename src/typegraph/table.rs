//! States, sets of goals, and the results for each.

use super::graph::{Binding, Node};
use std::collections::HashMap;

/// A set of goals.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct GoalsId(u32);

/// A state: a node and the goals that must hold when control leaves it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct StateId(u32);

/// The result for a state.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    /// Nothing.
    Fresh,
    /// It is being visited. `index` counts the open states in the order in which they were opened;
    /// `low` is the least index of a state to which this one is known to lead.
    Open { index: u32, low: u32 },
    /// Infeasible.
    No,
    /// Feasible: with this result, by this state (none if no goal is left).
    Yes {
        result: GoalsId,
        next: Option<StateId>,
    },
}

/// All states of one kind of search.
#[derive(Clone, Default, Debug)]
pub(super) struct Table {
    goals: Vec<Box<[Binding]>>,
    goal_ids: HashMap<Box<[Binding]>, GoalsId>,
    states: Vec<(Node, GoalsId, Mark)>,
    state_ids: HashMap<(Node, GoalsId), StateId>,
    /// For each node, the refuted sets of goals, each with a signature that excludes most sets that
    /// are no subset.
    refuted: HashMap<Node, Vec<(u64, GoalsId)>>,
    decided: usize,
}

impl Table {
    /// The number of a set of goals, which must be in ascending order.
    pub(super) fn goals_id(&mut self, goals: &[Binding]) -> GoalsId {
        if let Some(id) = self.goal_ids.get(goals) {
            return *id;
        }
        let id = GoalsId(self.goals.len() as u32);
        self.goals.push(goals.into());
        self.goal_ids.insert(goals.into(), id);
        id
    }

    pub(super) fn goals(&self, id: GoalsId) -> &[Binding] {
        &self.goals[id.0 as usize]
    }

    /// The state of a node and goals in any order.
    pub(super) fn state(&mut self, node: Node, goals: &[Binding]) -> StateId {
        let goals = self.goals_id(&sorted(goals));
        self.state_of(node, goals)
    }

    pub(super) fn state_of(&mut self, node: Node, goals: GoalsId) -> StateId {
        *self.state_ids.entry((node, goals)).or_insert_with(|| {
            self.states.push((node, goals, Mark::Fresh));
            StateId(self.states.len() as u32 - 1)
        })
    }

    /// The state of a node and goals in any order, if it exists.
    pub(super) fn find(&self, node: Node, goals: &[Binding]) -> Option<StateId> {
        let goals = self.goal_ids.get(&*sorted(goals))?;
        self.state_ids.get(&(node, *goals)).copied()
    }

    pub(super) fn key(&self, state: StateId) -> (Node, GoalsId) {
        let (node, goals, _) = self.states[state.0 as usize];
        (node, goals)
    }

    pub(super) fn mark(&self, state: StateId) -> Mark {
        self.states[state.0 as usize].2
    }

    pub(super) fn set(&mut self, state: StateId, mark: Mark) {
        let old = std::mem::replace(&mut self.states[state.0 as usize].2, mark);
        let is_decided = |mark| matches!(mark, Mark::Yes { .. } | Mark::No);
        self.decided += usize::from(is_decided(mark));
        self.decided -= usize::from(is_decided(old));
    }

    /// Notes that an open state leads to the open state with this index.
    pub(super) fn lower(&mut self, state: StateId, to: u32) {
        if let Mark::Open { low, .. } = &mut self.states[state.0 as usize].2 {
            *low = (*low).min(to);
        }
    }

    /// Marks a state as infeasible, and with it all of its node whose goals contain its own.
    pub(super) fn refute(&mut self, state: StateId) {
        self.set(state, Mark::No);
        let (node, goals) = self.key(state);
        let signature = signature(self.goals(goals));
        self.refuted
            .entry(node)
            .or_default()
            .push((signature, goals));
    }

    /// Returns true if the goals at a node contain a refuted set, and the number of sets compared.
    pub(super) fn holds_refuted(&self, node: Node, goals: &[Binding]) -> (bool, u64) {
        let Some(refuted) = self.refuted.get(&node) else {
            return (false, 0);
        };
        let own = signature(goals);
        let holds = |&(signature, id): &(u64, GoalsId)| {
            let fewer = self.goals(id);
            signature & !own == 0 && fewer.iter().all(|goal| goals.binary_search(goal).is_ok())
        };
        match refuted.iter().position(holds) {
            Some(at) => (true, at as u64 + 1),
            None => (false, refuted.len() as u64),
        }
    }

    /// The number of decided states.
    pub(super) fn decided(&self) -> usize {
        self.decided
    }
}

/// A bit for every goal, by its number: a subset has no bit that the whole lacks.
fn signature(goals: &[Binding]) -> u64 {
    let bit = |goal: &Binding| 1 << (goal.as_u32() & 63);
    goals.iter().map(bit).fold(0, |all, bit| all | bit)
}

fn sorted(goals: &[Binding]) -> Vec<Binding> {
    let mut goals = goals.to_vec();
    goals.sort_unstable();
    goals.dedup();
    goals
}
