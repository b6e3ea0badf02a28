//! Calls of small functions become the functions' code.
//!
//! What is inlined is a **leaf**: a function that may leave at guards, and otherwise runs no code of the program, writes
//! nothing, and raises nothing natively (what raises is an exit before it; where there is no memory for a tuple, the exit raises in
//! the frame that it makes). So nobody can look for the frame that is not
//! made, and nothing that the unit relies on changes on the way. An exit makes the frames: its state has, behind the
//! caller's frame, which waits at its call, one for each inlined call ([`crate::hir::InlinedState`]).
//!
//! # References
//! A callee owns its arguments. Where a local of the caller holds the object anyway, or the code a constant, the callee's
//! local **borrows** it, unless it is assigned to: the caller's increment goes. What a callee owns is dropped where it
//! returns: whoever looks then finds the caller, in the interpreter too. (In a callee of the callee that makes the callee no leaf,
//! if it can be noticed.) The callable is somebody's who is watched, or a local's.
//!
//! # Operators
//! The frame that waits for the method of an operator is in the midst of that instruction, its operands on the stack. What the
//! operator does with the result stands behind the inlined code as it stood behind the call; where the frames are made after all,
//! the host does it ([`crate::bytecode::Awaited`]).
//!
//! # What is checked
//! The callee is known, by the call that stood here. What the host wants to hold where no frame is made, in particular
//! that there is room for frames, are checks before the body, which leave at the callee's start. A call in whose place a bet
//! has failed before is not inlined again.
//!
//! (Frame states of inlined calls are those of Graal and HotSpot's compilers; PyPy's resume data has the same chains.)

mod plan;
mod splice;

use super::{Context, merge};
use crate::hir::Function;
use crate::types::ObjectHandle;
use plan::{Bodies, Plan};
use std::collections::HashSet;

/// When so many instructions of callees stand in a function, no more are put into it.
const MOST_INSERTED: usize = 600;

/// Inline what can be.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    cx.inlines && run_within(f, cx, &[])
}

/// The same in a function that is itself to be inlined, in those before it. Aliases are left to the caller: applying them goes through the
/// whole function, which is too much for each call.
fn run_within(f: &mut Function, cx: &Context<'_>, within: &[ObjectHandle]) -> bool {
    let mut inserted = 0;
    let (mut bodies, mut refused) = (Bodies::default(), HashSet::new());
    while let Some(plan) = Plan::next(f, cx, within, &mut bodies, &mut refused) {
        inserted += 1 + plan.size;
        splice::splice(f, plan);
        // What is one straight line again shows more of the references that later calls need not take.
        merge::run(f, cx);
        if inserted > MOST_INSERTED {
            break;
        }
    }
    inserted > 0
}
