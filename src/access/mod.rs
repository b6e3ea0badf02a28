//! Attribute accesses: from the attributes used on a value to its types, to guards and tests, to a
//! plan for each access, to the instructions of the plan.
//!
//! # Terms
//! An **accessor** is a value on which attributes are accessed; a **provider** is the object that
//! has the attribute. A **usage** is the set of attributes that one route uses on an accessor; the
//! types that support all of it are **candidates**. A **guard** checks an accessor once, at its
//! definition; a **test** checks it at one access. A **plan** describes an access in thirteen
//! fields, an **instruction plan** lists its steps. Each fact on which a plan relies is checked
//! there or **watched**.
//!
//! # Guarantees to readers
//! - Types deduced from usage alone are speculation. A plan folds nothing that none of its checks
//!   or watches covers.
//! - An attribute that some assignment of the program may change is never folded, constants
//!   included.
//! - The steps of a chain have the modes of their own attributes, and a base class never represents
//!   a derived one.
//! - A plan without better knowledge is the language's generic access (`generic`), with the reason.
//!
//! # Deliberately absent
//! Nothing here changes HIR or knows a host. The design follows Lichen's deducer; `docs/access.md`
//! describes it and the differences.

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
pub use deduce::{Accessor, AttributeOwner, Candidate};
pub use guards::{Aspect, Exactness, Test, TypeCheck};
pub use index::Types;
pub use instructions::{Instruction, Step};
pub use plan::{AccessPlan, Check, Context, ContextTest, FinalMethod, FirstMethod, Mode, Watch};
pub use report::{AccessorReport, FunctionReport, PlanReport, Planned};
pub use usage::{Usage, Usages, Use};
pub use world::{Name, Reference, References, World};

use crate::infer::{Analysis, Program};

/// Plans every attribute access of a program. With an analysis, its facts count like those that the
/// program's text determines.
pub fn plan(program: &Program, analysis: Option<&Analysis>) -> PlanReport {
    let world = World::new(program);
    deduce::Deduction::new(&world, analysis).report()
}

/// The items of a tuple, from its `repr`.
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
