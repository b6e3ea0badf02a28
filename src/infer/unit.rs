//! What is known in one unit of compiled code.
//!
//! The same engine, over one function as the compiler has it, with what was inlined. What compiled code relies on must hold whatever the
//! program does, so here
//!
//! - nothing is known of arguments, of what slots hold when the unit is entered, and of what names and constants are;
//! - what has no rule of its own is beyond the known world, and so is whatever calls or may call the program's code;
//! - a handler may be entered by any exception, from every operation in its range: a signal's handler may raise anywhere;
//! - a check that fails ends the unit, and with it all that is known: what the interpreter does then is nobody's business here.
//!
//! What is left is what the unit stores into objects that nobody else has: the items of a list that it made itself, the values of a dict.
//! That nobody else has them is more than references say. Whoever looks at the frame finds them, and who asks the collector for all
//! objects: the host watches for both ([`ObjectsPrivate`](crate::facts::Assumption::ObjectsPrivate)).

use super::engine::{Engine, Options};
use super::special::Plan;
use super::{Facts, Program, Start};
use crate::hir::{Function, Op, Value};
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashSet;

/// An operation is evaluated so many times on the average before the analysis is given up.
const MOST_LOOKS: u64 = 16;

/// What was found of a unit's values.
#[derive(Debug, Default)]
pub struct UnitFacts {
    facts: SecondaryMap<Value, Option<Facts>>,
    /// How many operations were evaluated.
    pub steps: u64,
}

impl UnitFacts {
    /// What a value may be; none if nothing was found to lead to it.
    pub fn of(&self, v: Value) -> Option<&Facts> {
        self.facts[v].as_ref()
    }
}

/// What is known of the values of a unit; none if it would take too long to find out, or if not all of its code was followed.
pub fn unit_facts(f: &mut Function) -> Option<UnitFacts> {
    let mut program = Program::default();
    let placeholder = Function::new(f.code.clone());
    let function = program.add(std::mem::replace(f, placeholder));
    let found = find(
        &program,
        &Start {
            function,
            types: &[],
        },
    );
    *f = program.take(function);
    found
}

fn find(program: &Program, start: &Start<'_>) -> Option<UnitFacts> {
    let f = program.function(start.function);
    let live: usize = f.order.iter().map(|b| f.blocks[*b].insts.len()).sum();
    let plan = Plan::default();
    let mut engine = Engine::new(program, &plan, &Options::default());
    engine.unit = Some(reloaded(f));
    engine.enter(start);
    if !engine.run_within(MOST_LOOKS * live as u64) {
        return None;
    }
    let mut found = UnitFacts {
        facts: SecondaryMap::new(),
        steps: engine.steps,
    };
    let (_, version) = engine.versions.iter().next()?;
    // The code behind an operation that was found to raise, or to have nothing to work on, stays in the unit without having been looked at.
    // That it is never reached is no more than a rule says; a check says it of itself.
    let stops = version.blocks.values().flatten().filter_map(|b| b.stops);
    let is_check = |v| matches!(f.op(v), Op::GuardTrue(_)) || f.op(v).says_what_is_checked();
    if !stops.into_iter().all(is_check) {
        return None;
    }
    for (v, sv) in version.bindings.iter() {
        if let Some(sv) = sv.expand() {
            found.facts[v] = Some(engine.set.get(sv));
        }
    }
    Some(found)
}

/// The slots whose content is read again after the unit may have stored into them: what is stored there goes where it is not followed.
fn reloaded(f: &Function) -> FxHashSet<u32> {
    let mut slots = FxHashSet::default();
    for &b in &f.order {
        let mut is_start = b == f.entry();
        for &v in &f.blocks[b].insts {
            match f.op(v) {
                Op::LoadSlot(slot) if !is_start => {
                    slots.insert(*slot);
                }
                Op::StoreSlot(_) => is_start = false,
                op => is_start &= !op.effects().runs_host_code,
            }
        }
    }
    slots
}
