//! The annotation engine: the types and heap facts that hold in a whole program, computed as a
//! fixpoint.
//!
//! # Terms
//! An **abstract value** ([`Sv`]) describes the possible values of a variable: a type, a constant,
//! and the **identities** that it may be. An [`Identity`] represents the objects that one place in
//! the program allocates; the facts about their insides are in its slots. A **version** is a
//! function analysed for some of its call sites. A fact's [`Source`](crate::facts::Source) is the
//! weakest of those it follows from.
//!
//! # Guarantees to readers
//! - Facts only decrease: a value changes by joins alone. *Impossible* (no value can be here yet)
//!   and *most general* (any value may be here) are never confused, and setting a fact on either is
//!   an error.
//! - Two identities of mutable objects that meet in one value are unified for the whole program.
//! - The result does not depend on the order of steps, budgets included.
//! - Values from outside the analysed program are most general, and an object that reaches outside
//!   code loses its heap facts. For example, after a call of an unknown `f(xs)`, `xs` is still a
//!   list, but of unknown items.
//! - Exceptions from outside (signals, memory, depth of recursion) are not followed. So an
//!   unreached or blocked block may still run: compiled code must deoptimise there, and not assume
//!   that it does not run.
//!
//! # Deliberately absent
//! Nothing here changes HIR or queries a host. `docs/infer.md` describes the engine in full.

mod analysis;
mod annset;
mod classes;
mod engine;
mod flow;
mod identity;
mod lookup;
mod names;
pub mod paths;
mod predicate;
mod program;
mod report;
mod share;
mod special;
#[cfg(test)]
mod tests;
mod trace;
mod transfer;
mod unit;
mod value;

pub use analysis::{Analysis, Blocked, Found, Object};
pub use annset::{AnnotationSet, Fact, FactError, FactName, MAX_OBJECTS, Reader};
pub use engine::{MAX_CALLEES, Options, Status, VersionId};
pub use identity::{Identity, Kind, Slot};
pub use program::{FuncId, Program};
pub use special::Group;
pub use unit::{UnitFacts, unit_facts};
pub use value::{Facts, Objects, Sv};

use crate::types::Type;
use engine::{Engine, VersionKey};
use special::{Plan, Site};

/// The entry of an analysis that follows the module's body.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// The function.
    pub function: FuncId,
    /// The argument types. Nothing is known of an argument without a type here.
    pub types: &'a [Type],
}

/// Analyses a program from its module's body, if it has one, and then from functions that may be
/// called in any order and any number of times.
pub fn analyse(program: &Program, starts: &[Start<'_>], options: &Options) -> Analysis {
    let mut plan = Plan::default();
    let (mut steps, mut changes, mut rounds) = (0, 0, 0);
    loop {
        let mut engine = Engine::new(program, &plan, options);
        engine.start(starts);
        engine.run();
        // Analyse once more with the final facts, for their sources and for the arguments of call
        // sites.
        engine.find_sources();
        for start in starts {
            engine.enter(start);
        }
        engine.run();
        rounds += 1;
        let next = engine.next_plan(options);
        if next == plan || rounds >= options.max_rounds.max(1) {
            let mut analysis = engine.report();
            analysis.steps += steps;
            analysis.changes += changes;
            analysis.rounds = rounds;
            return analysis;
        }
        steps += engine.steps;
        changes += engine.set.changes;
        plan = next;
    }
}

impl Engine<'_> {
    fn start(&mut self, starts: &[Start<'_>]) {
        let program = self.program;
        for (name, &func) in &program.globals {
            let id = self.plain_function(func);
            let facts = Facts::object(Type::FUNC, id);
            let slot = Slot::Attr(name.as_str().into());
            self.set.store_facts(self.globals, slot, facts);
        }
        for name in &program.unknown_globals {
            let slot = Slot::Attr(name.as_str().into());
            let any = Facts::any_object();
            self.set.store_facts(self.globals, slot, any);
        }
        if let Some(func) = program.module {
            self.version(VersionKey {
                func,
                group: None,
                extra: 0,
                namespace: None,
            });
        }
        for start in starts {
            self.enter(start);
        }
    }

    fn enter(&mut self, start: &Start<'_>) {
        let func = start.function;
        let code = &self.program.functions[func].code;
        let types = (0..code.arity() as usize)
            .map(|index| start.types.get(index).copied().unwrap_or(Type::OBJECT));
        let facts: Vec<Facts> = types.map(Engine::entry_facts).collect();
        let site = Site {
            func,
            group: None,
            op: None,
        };
        let version = self.version(VersionKey {
            func,
            group: self.plan.group(&site, func),
            extra: 0,
            namespace: None,
        });
        for (index, facts) in facts.iter().enumerate() {
            let param = self.versions[version].params[index];
            self.set.widen(param, facts.clone());
        }
        self.note_call(site, func, &facts);
    }

    /// Notes the arguments that a site passes to a function.
    fn note_call(&mut self, site: Site, func: FuncId, args: &[Facts]) {
        let noted = self.calls.entry(site).or_default().entry(func).or_default();
        for (index, facts) in args.iter().enumerate() {
            match noted.get_mut(index) {
                Some(known) => *known = known.join(facts),
                None => noted.push(facts.clone()),
            }
        }
    }
}
