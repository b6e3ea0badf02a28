//! Calls of small functions become the functions' code.
//!
//! The callee must be a **leaf**: a function that may exit at guards, and otherwise runs no
//! arbitrary user code, writes nothing, and raises nothing natively. (An instruction that would
//! raise exits before it does. If there is no memory for a tuple, the exit creates the callee's
//! frame and raises in it.) So no code can observe that the callee's frame does not exist, and no
//! fact that the unit relies on changes during the call. An exit creates the frames: behind the
//! caller's frame, which waits at its call, the frame state has one frame for each inlined call
//! ([`crate::hir::InlinedState`]). For example, with `def double(x): return x + x` and a number
//! `n`, the call `double(n)` becomes an addition. If that exits, the exit creates the frame of
//! `double` behind the caller's frame.
//!
//! # References
//! A callee owns its arguments. If a local of the caller or the code's constants keep the object
//! alive, the callee's local **borrows** it, unless the callee assigns to that local: the caller's
//! increment is removed. References that the callee owns are dropped where it returns: a destructor
//! that runs there finds the caller's frame on top, as in the interpreter. (Within a callee of the
//! callee, a drop that is observable means that the outer callee is no leaf.) The callable is kept
//! alive by a watched constant or by a local.
//!
//! # Operators
//! A frame that waits for the method of an operator has not completed the operator's instruction,
//! and its operands are on the stack. The rest of the instruction, such as the truth test of a
//! comparison, is behind the inlined code, as it was behind the call. If the frames are created
//! after all, the host does the rest ([`crate::bytecode::Awaited`]).
//!
//! # Checks
//! The replaced call already checked the callee. The host may require more where no frame is
//! created, in particular that there is room for frames: these are checks before the body, and
//! their exits resume at the callee's start. A call at whose place a speculation has failed is not
//! inlined again.
//!
//! (Frame states of inlined calls are those of Graal and of HotSpot's compilers; PyPy's resume data
//! has the same chains.)

mod generators;
mod plan;
mod splice;

use super::{Context, merge};
use crate::hir::Function;
use crate::types::ObjectHandle;
use plan::{Bodies, Plan};
use std::collections::HashSet;

/// The most instructions of callees in a function: beyond it no more calls are inlined.
const MOST_INSERTED: usize = 600;

/// Inlines calls where possible.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    cx.inlines && run_within(f, cx, &[])
}

/// Inlines calls in a function that is itself to be inlined in the functions `within`. The caller
/// applies the aliases: that visits the whole function, which costs too much after each call.
fn run_within(f: &mut Function, cx: &Context<'_>, within: &[ObjectHandle]) -> bool {
    let mut inserted = 0;
    let (mut bodies, mut refused) = (Bodies::default(), HashSet::new());
    while let Some(plan) = Plan::next(f, cx, within, &mut bodies, &mut refused) {
        inserted += 1 + plan.size;
        splice::splice(f, plan);
        // Once the code is one straight line again, fewer references are needed for later calls.
        merge::run(f, cx);
        if inserted > MOST_INSERTED {
            break;
        }
    }
    refused.clear();
    while let Some(consumer) = generators::next(f, cx, within, &mut bodies, &mut refused) {
        inserted += 1 + consumer.size();
        generators::splice(f, consumer);
        if inserted > MOST_INSERTED {
            break;
        }
    }
    inserted > 0
}
