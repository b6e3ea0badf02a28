//! From HIR to the typegraph and back: the checks that cannot fail, and the branches that are never
//! taken, on any path of a function.
//!
//! Types at joins forget which predecessor brought which type, and dominance forgets branches that
//! have joined again. Here both are queried over paths. For example:
//!
//! ```python
//! x = "s" if flag else 1
//! ...
//! if flag: use(x)     # can `x` be an int here?
//! ```
//!
//! Only the answer "infeasible" removes anything, and each removal is reported with the questions
//! that justify it ([`Finding::proof`]).
//!
//! # The graph
//! - **Nodes**: for a block, its definitions, the values derived from them, and one node behind
//!   each guard; for an edge, the branch's condition, then reading and writing the parameters.
//! - **Variables**: values that a question may depend on. Guards and refinements of a value are the
//!   value itself, and equal pure computations are one variable.
//! - **Bindings**: members of the value's type, as far as some test separates them; small
//!   constants.
//! - **Sources**: of a parameter, the values that edges pass; of a test, the members of its operand
//!   that give this outcome.
//! - **Conditions**: those of branches, and of guards on facts that cannot change: builtin classes,
//!   identity, being bound.
//!
//! All definitions of a block are bound at its start. That loses nothing: no use of a value
//! precedes its definition, and by then no question depends on the value of the previous visit. A
//! derived value is bound where the last of its operands is, not where it is computed. So two
//! computations of it that do not dominate each other are one.
//!
//! # Why a removal is right
//! Members cover the type, and the sources cover every path on which a member arrives. So an
//! execution of the function is an execution of the graph as long as no guard in it fails. Take the
//! first removed guard that would fail in some execution: all guards before it have passed, so it
//! is on a path of the graph, and the question about it was answered with "infeasible", which is a
//! proof.
//!
//! # Lazily
//! Nothing is built unless a guard or a branch depends on a parameter whose edges disagree. User
//! classes are not followed: the class of an instance may be assigned while the value lives.

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

/// The budget of one question. Most are answered in a few hundred steps, and a function has few
/// questions.
pub const BUDGET: Budget = Budget {
    nodes: 1 << 11,
    states: 256,
    results: 64,
    goals: 32,
    steps: 1 << 14,
};

/// The most questions about one function.
pub const MAX_QUESTIONS: usize = 256;

/// A fact that holds on all paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fact {
    /// This guard can't fail.
    Holds(Value),
    /// This block's branch always goes to one side: the true one, or the false one.
    Taken(Block, bool),
    /// This operand of this operation is always of the type there.
    Narrowed(Value, usize, Type),
    /// A parameter of a block reaches an instruction with several types.
    Disagrees(Disagreement),
}

/// An instruction that would be specialised differently for each of several types. The join before
/// it might be split by the type that each edge brings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disagreement {
    /// The join.
    pub block: Block,
    /// Its parameter.
    pub param: Value,
    /// The types that may arrive.
    pub types: Vec<Type>,
    /// The general operation, or the guard before one.
    pub at: Value,
}

/// The instructions that are queried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subjects {
    /// Guards and branches.
    Checks,
    /// Those, and the operands of general operations that could be specialised.
    Operands,
}

/// A fact that holds on all paths, with its proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The fact.
    pub fact: Fact,
    /// The bytecode instruction of the guard or the branch.
    pub pc: Pc,
    /// The questions that were answered with "infeasible": for each a node and the member that
    /// cannot be there.
    pub proof: String,
    /// The guards that may be on the paths there. The proof assumes that no path passes a failing
    /// guard, so each must stay ([`Function::rely_on`]) where the finding is used.
    pub guards: Vec<Value>,
}

/// The cost of the questions about a function.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Cost {
    /// Nodes of the graph.
    pub nodes: usize,
    /// Bindings in it.
    pub bindings: usize,
    /// The cost of each question, in order.
    pub questions: Vec<QuestionCost>,
}

/// The cost of one question.
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

/// Solves the questions about a function that could give a finding.
pub fn find(f: &Function, world: &dyn World, subjects: Subjects) -> (Vec<Finding>, Cost) {
    match Graph::build(f, world, subjects) {
        Some(graph) => graph.ask_all(),
        None => Default::default(),
    }
}
