//! The annotation engine: which types and heap facts hold in a whole program, found by following it to a fixpoint.
//!
//! # Terms
//! An **abstract value** ([`Sv`]) is what is known of the values that a variable may have: a type, a constant, and
//! the **identities** that it may be. An [`Identity`] stands for the objects that one place of the program makes; what
//! is inside of them is in its slots. A **version** is a function analysed for some of its call sites. A fact's
//! [`Source`](crate::facts::Source) is the weakest of those it follows from.
//!
//! # What a reader may rely on
//! - Facts only decrease: a value changes by joins alone. *Impossible* (nothing can be here yet) and *most general*
//!   (anything may be here) are never confused, and to set a fact on either is an error.
//! - Two identities of mutable objects that meet in one value are one for the whole program.
//! - The result does not depend on the order of steps, budgets included.
//! - What is beyond the known world is most general, and an object that reaches it loses its heap facts.
//! - Exceptions from outside (signals, memory, depth of recursion) are not followed. A block that is not reached, or
//!   blocked, is one that nothing has been found to lead to: compiled code must leave there, not assume.
//!
//! # Deliberately absent
//! Nothing here changes HIR, and nothing asks a host. `docs/infer.md` has the whole.

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

/// Where an analysis begins, after the module's body.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// The function.
    pub function: FuncId,
    /// The types of its arguments; of those that are missing nothing is known.
    pub types: &'a [Type],
}

/// Analyse a program from its module's body, if it has one, and functions that may be called then, in any order and any
/// number of times.
pub fn analyse(program: &Program, starts: &[Start<'_>], options: &Options) -> Analysis {
    let mut plan = Plan::default();
    let (mut steps, mut changes, mut rounds) = (0, 0, 0);
    loop {
        let mut engine = Engine::new(program, &plan, options);
        engine.start(starts);
        engine.run();
        // Once more, with the facts that stand: for their sources, and for what call sites pass.
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

    /// Note what a site passes to a function.
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
