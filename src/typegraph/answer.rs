//! What a question gets, and what it may cost.

use std::fmt;

/// Whether bindings can hold together at a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// On no path. This is a proof, and the only answer by which anything may be removed.
    Infeasible,
    /// On some path of the graph, of which there is a witness.
    Feasible,
    /// The budget was used up before. To be treated like [`Answer::Feasible`].
    Unknown(Exhausted),
}

/// Which part of a [`Budget`] was used up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exhausted {
    /// Nodes of the graph.
    Nodes,
    /// States looked at.
    States,
    /// Ways to resolve the goals of one state.
    Results,
    /// Goals of one state.
    Goals,
    /// Elementary steps.
    Steps,
}

impl Answer {
    pub(super) const TOO_LARGE: Answer = Answer::Unknown(Exhausted::Nodes);

    /// Whether the bindings are proved not to hold together.
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

/// What one question may cost. Counted, not timed: the same question costs the same on every machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Nodes of the graph: it is not searched at all if it has more (the rows of [`Reachability`](super::Reachability)
    /// take n²/8 bytes).
    pub nodes: usize,
    /// States (a node and goals) that are looked at.
    pub states: usize,
    /// Different ways to resolve the goals of one state.
    pub results: usize,
    /// Goals of one state.
    pub goals: usize,
    /// Elementary steps: a node visited by a walk, or a goal looked at.
    pub steps: u64,
}

impl Budget {
    /// Without bounds, but for memory.
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
