//! The answer of a question, and its budget.

use std::fmt;

/// The answer to a question: can bindings hold together at a node?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// On no path. This is a proof, and the only answer that justifies removing anything.
    Infeasible,
    /// On some path of the graph, which has a witness.
    Feasible,
    /// The budget was used up first. To be treated like [`Answer::Feasible`].
    Unknown(Exhausted),
}

/// The part of a [`Budget`] that was used up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exhausted {
    /// Nodes of the graph.
    Nodes,
    /// States visited.
    States,
    /// Results for the goals of one state.
    Results,
    /// Goals of one state.
    Goals,
    /// Elementary steps.
    Steps,
}

impl Answer {
    pub(super) const TOO_LARGE: Answer = Answer::Unknown(Exhausted::Nodes);

    /// Returns true if the bindings are proved not to hold together.
    pub fn is_infeasible(self) -> bool {
        self == Answer::Infeasible
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Infeasible => f.write_str("infeasible"),
            Answer::Feasible => f.write_str("feasible"),
            Answer::Unknown(what) => write!(f, "unknown: {what}"),
        }
    }
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Exhausted::Nodes => "too many nodes",
            Exhausted::States => "too many states",
            Exhausted::Results => "too many results",
            Exhausted::Goals => "too many goals",
            Exhausted::Steps => "too many steps",
        })
    }
}

/// The budget of one question. It is counted, not timed: the same question costs the same on every
/// machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Nodes of the graph: a larger graph is not searched at all (the rows of
    /// [`Reachability`](super::Reachability) take n²/8 bytes).
    pub nodes: usize,
    /// States (a node and goals) that are visited.
    pub states: usize,
    /// Different results for the goals of one state.
    pub results: usize,
    /// Goals of one state.
    pub goals: usize,
    /// Elementary steps: a node visited by a walk, or a goal examined.
    pub steps: u64,
}

impl Budget {
    /// Without bounds, except for memory.
    pub const UNLIMITED: Budget = Budget {
        nodes: usize::MAX,
        states: usize::MAX,
        results: usize::MAX,
        goals: usize::MAX,
        steps: u64::MAX,
    };
}

impl Default for Budget {
    /// For one question of a compiler about one function.
    fn default() -> Budget {
        Budget {
            nodes: 1 << 15,
            states: 1024,
            results: 256,
            goals: 128,
            steps: 1 << 20,
        }
    }
}
