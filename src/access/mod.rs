//! Attribute accesses: from what is used of a value to its types, to guards and tests, to a plan of each access, to
//! the instructions of the plan.
//!
//! # Terms
//! An **accessor** is a value that attributes are asked of; a **provider** is what has the attribute. A **usage** is what one
//! route uses of an accessor; the types that support all of it are **candidates**. A **guard** checks an accessor once, where it
//! is defined; a **test** checks it at one access. A **plan** says in thirteen fields how an access is made, an **instruction
//! plan** in which steps. What a plan relies on is checked there or **watched**.
//!
//! # What a reader may rely on
//! - What usage alone tells is a bet. Nothing is folded that no check or watch of the plan covers.
//! - An attribute that some assignment of the program may change is never folded, constants included.
//! - The steps of a chain have the modes of their own attributes, and an ancestor's object never stands for a descendant's.
//! - A plan that knows nothing better is the language's own way (`generic`), and says why.
//!
//! # Deliberately absent
//! Nothing here changes HIR or knows a host. After the design of Lichen's deducer; `docs/access.md` has the whole, and where it
//! differs.

mod accesses;
mod builtins;
mod deduce;
mod guards;
mod index;
mod instructions;
mod plan;
mod references;
mod report;
#[cfg(test)]
mod tests;
mod usage;
mod world;

pub use accesses::{Access, Action, Invocation};
pub use deduce::{Accessor, Candidate, Thing};
pub use guards::{Aspect, Exactness, Test, TypeCheck};
pub use index::Types;
pub use instructions::{Instruction, Step};
pub use plan::{AccessPlan, Check, Context, ContextTest, FinalMethod, FirstMethod, Mode, Watch};
pub use report::{AccessorReport, FunctionReport, PlanReport, Planned};
pub use usage::{Usage, Usages, Use};
pub use world::{Name, Reference, References, World};

use crate::infer::{Analysis, Program};

/// Plan every attribute access of a program. With an analysis, what it has found of values counts as the program's word.
pub fn plan(program: &Program, analysis: Option<&Analysis>) -> PlanReport {
    let world = World::new(program);
    deduce::Deduction::new(&world, analysis).report()
}

/// The items of a tuple as `repr` writes it.
fn text_of_tuple(text: &str) -> Vec<String> {
    let inner = text.trim();
    let inner = inner.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    let Some(inner) = inner else {
        return Vec::new();
    };
    let (mut items, mut item, mut depth, mut quote) = (Vec::new(), String::new(), 0, None);
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => {
                item.push(c);
                item.extend(chars.next());
                continue;
            }
            (Some(end), c) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                items.push(std::mem::take(&mut item).trim().to_owned());
                continue;
            }
            _ => {}
        }
        item.push(c);
    }
    let rest = item.trim();
    if !rest.is_empty() {
        items.push(rest.to_owned());
    }
    items
}
