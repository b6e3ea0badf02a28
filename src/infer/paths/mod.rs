//! From HIR to the typegraph and back: which checks and branches no path of a function can fail or take.
//!
//! Types at joins forget which predecessor brought which type, and dominance forgets branches that have joined again.
//! Here both are asked of the paths: *can this parameter be a string where `flag` holds?* Only "infeasible" removes
//! anything, and each removal is reported with the questions that justify it ([`Finding::proof`]).
//!
//! # The graph
//! | in the graph | is |
//! | --- | --- |
//! | nodes | of a block: what is defined in it, what is derived from that, and one behind each guard; of an edge: the branch's condition, reading, and writing the parameters |
//! | variables | values that a question may depend on; guards and refinements of a value are the value; equal pure computations are one |
//! | bindings | members of the value's type, as far as some test tells them apart; small constants |
//! | sources | of a parameter: what the edge passes; of a test: the members of its operand for which it comes out so |
//! | conditions | of branches and of guards on what cannot change: builtin classes, identity, being bound |
//!
//! All definitions of a block stand at its start. That loses nothing: no use of a value comes before it, and by then its
//! last visit's is not asked for any more. A derived value is bound where the last of its operands is, not where it is
//! computed: so two computations of it that do not dominate each other are one.
//!
//! # Why a removal is right
//! Members cover the type, and the sources cover every way a member comes to be there; so an execution of the function
//! is one of the graph as long as no guard in it fails. Take the first removed guard that would fail in some
//! execution: all before it have held, so it is on a path of the graph, and the question about it was answered with
//! "infeasible", which is a proof.
//!
//! # Lazily
//! Nothing is built unless a guard or a branch depends on a parameter whose edges disagree. The classes of users are not
//! followed: they may be assigned while the value lives.

mod build;
mod members;
mod nodes;
#[cfg(test)]
mod tests;

use crate::bytecode::Pc;
use crate::hir::{Block, Function, Value};
use crate::host::World;
use crate::typegraph::Budget;
use crate::types::Type;
use build::Graph;

/// What one question may cost. Most are answered in a few hundred steps; a function has few that are worth asking.
pub const BUDGET: Budget = Budget {
    nodes: 1 << 11,
    states: 256,
    results: 64,
    goals: 32,
    steps: 1 << 14,
};

/// The most questions about one function.
pub const MAX_QUESTIONS: usize = 256;

/// What no path can do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fact {
    /// This guard can't fail.
    Holds(Value),
    /// This block's branch is always taken to one side: if the condition holds (true), or if not.
    Taken(Block, bool),
    /// This operand of this operation can only be of the type there.
    Narrowed(Value, usize, Type),
    /// A parameter of a block comes to an instruction as each of several types.
    Disagrees(Disagreement),
}

/// An instruction that each of several types would make another: the join might be split by what its edges bring.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disagreement {
    /// The join.
    pub block: Block,
    /// Its parameter.
    pub param: Value,
    /// What may come.
    pub types: Vec<Type>,
    /// The general operation, or the guard before one.
    pub at: Value,
}

/// What is asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subjects {
    /// Guards and branches.
    Checks,
    /// And the operands of general operations that are worth specialising.
    Operands,
}

/// Something that no path can do, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What it is.
    pub fact: Fact,
    /// The bytecode instruction of the guard or the branch.
    pub pc: Pc,
    /// The questions that were answered with "infeasible": a node and what can't hold there.
    pub proof: String,
    /// The guards that may be on the way there: no path comes past one that fails, so each must stay
    /// ([`Function::rely_on`]) where what is found is used.
    pub guards: Vec<Value>,
}

/// What the questions about a function cost.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Cost {
    /// Nodes of the graph.
    pub nodes: usize,
    /// Bindings in it.
    pub bindings: usize,
    /// What each question cost, in order.
    pub questions: Vec<QuestionCost>,
}

/// What one question cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuestionCost {
    /// Elementary steps of the solver: visits of nodes, and goals looked at.
    pub steps: u64,
    /// Nodes that a plain walk backwards from the question's node visits.
    pub walk: u64,
}

impl Cost {
    /// Elementary steps for all questions.
    pub fn steps(&self) -> u64 {
        self.questions.iter().map(|question| question.steps).sum()
    }
}

/// Ask about everything in a function that is worth it.
pub fn find(f: &Function, world: &dyn World, subjects: Subjects) -> (Vec<Finding>, Cost) {
    match Graph::build(f, world, subjects) {
        Some(graph) => graph.ask_all(),
        None => Default::default(),
    }
}
