//! Facts about one unit of compiled code.
//!
//! The same engine runs over one function as the compiler has it, with its inlined callees.
//! Compiled code may rely only on facts that hold for every program, so here
//!
//! - nothing is known of arguments, of slots at the entry of the unit, and of the objects behind
//!   names and constants;
//! - an operation without a rule of its own counts as unknown code, and so does every operation
//!   that calls or may call user code;
//! - a handler may be entered with any exception, from every operation in its range, since a
//!   signal's handler may raise anywhere;
//! - a check that fails ends the unit and all facts about it: the interpreter's execution after
//!   that is not analysed.
//!
//! The remaining facts are those about the contents of objects that only the unit can reach. For
//! example, the items of `xs` in `xs = []; xs.append(1.5)`. That no other code can reach the object
//! does not follow from references alone: an inspected frame shows its locals, and
//! `gc.get_objects()` finds all objects. The host watches for both
//! ([`ObjectsPrivate`](crate::facts::Assumption::ObjectsPrivate)).

use super::engine::{Engine, Options};
use super::special::Plan;
use super::{Facts, Program, Start};
use crate::hir::{Function, Op, Value};
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashSet;

/// The average number of evaluations per operation after which the analysis gives up.
const MAX_EVALUATIONS: u64 = 16;

/// The facts about a unit's values.
#[derive(Debug, Default)]
pub struct UnitFacts {
    facts: SecondaryMap<Value, Option<Facts>>,
    /// The number of operations evaluated.
    pub steps: u64,
}

impl UnitFacts {
    /// The facts about a value. None if the value was found unreachable.
    pub fn of(&self, v: Value) -> Option<&Facts> {
        self.facts[v].as_ref()
    }
}

/// The facts about the values of a unit. None if the analysis takes too long, or if it did not
/// follow all code of the unit.
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
    if !engine.run_within(MAX_EVALUATIONS * live as u64) {
        return None;
    }
    let mut found = UnitFacts {
        facts: SecondaryMap::new(),
        steps: engine.steps,
    };
    let (_, version) = engine.versions.iter().next()?;
    // Code behind an operation that always raises, or whose operands are impossible, stays in the
    // unit but was not analysed. A rule of the analysis claims that this code is never reached.
    // Accept the claim only if a check in the unit enforces it.
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

/// The slots that are read again after the unit may have stored into them. A value that is stored
/// there is not followed.
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
