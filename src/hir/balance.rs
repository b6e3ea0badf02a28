//! A check that references are balanced: on every path of a function, each reference that is taken
//! is dropped once, or passed to its new owner.
//!
//! The check follows how many references to each value the compiled code has: those of operand
//! stack entries, those in the slots of locals, and those between. `incref` and operations that
//! return an owned object take one; `decref`, a return, and operations that take over their operand
//! give one up (the columns of the op table). A store into a slot moves one and takes none. So at
//! each exit, the references must be those that the [frame state](super::FrameState) passes to the
//! interpreter; where paths join they must agree; and a return leaves those in slots, which the
//! frame drops. A reference too many is a leak, one too few an object that is deallocated while it
//! is needed.
//!
//! Values are counted as one if one is an alias of the other. Boxes of raw values are virtual here,
//! and not counted; a virtual tuple has its items' references, which are counted with those of the
//! tuple's owner.

use super::function::{Block, Edge, FrameState, Function, Locals, Place, Term, Value};
use super::ops::Op;
use super::verify::VerifierErrors;
use crate::bytecode::GeneralOp;
use crate::types::Type;
use cranelift_entity::SecondaryMap;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// References by value; values without references are left out.
type Counts = BTreeMap<Value, i64>;

/// The state at one point of a function.
#[derive(Clone)]
struct At {
    counts: Counts,
    locals: Locals,
    /// Objects that a check has shown to be immortal, and values shown to be null: they are not
    /// counted from then on.
    immortal: BTreeSet<Value>,
}

/// Check a function whose host counts references, and which has a frame. A function that keeps
/// names of a namespace in registers is not followed: there, a store into the namespace drops an
/// object that another value represents.
///
/// # Errors
/// Each place where a path does not balance.
pub fn check_balance(f: &Function) -> Result<(), VerifierErrors> {
    if !f.names.is_empty() {
        return Ok(());
    }
    let mut audit = Audit {
        f,
        faults: Vec::new(),
    };
    let mut entry: SecondaryMap<Block, Option<At>> = SecondaryMap::new();
    // Blocks that no path reaches: the landing block of an operation that cannot raise, a successor
    // behind a check that always fails, and the blocks that only those lead to.
    let mut idle: HashSet<Block> = HashSet::new();
    entry[f.entry()] = Some(At {
        counts: Counts::new(),
        locals: f.blocks[f.entry()].entry_state.locals.clone(),
        immortal: BTreeSet::new(),
    });
    if let Some(at) = &mut entry[f.entry()] {
        // At the entry each slot has a reference to its content.
        for v in at.locals.clone().into_iter().take(f.code.locals.len()) {
            audit.add(&mut at.counts, f.object_of(*v), 1);
        }
    }
    for &b in &f.order {
        let Some(mut at) = entry[b].clone() else {
            if idle.contains(&b) {
                idle.extend(f.blocks[b].term.edges().iter().map(|edge| edge.block));
                continue;
            }
            // In the order of blocks, a predecessor comes first. Only a loop's header also has an
            // edge from a later block.
            audit
                .faults
                .push(format!("{b}: nothing before it leads there"));
            continue;
        };
        let insts = &f.blocks[b].insts;
        let leaves = insts.iter().position(|v| f.always_fails(*v));
        for &v in &insts[..leaves.map_or(insts.len(), |at| at + 1)] {
            audit.step(b, v, &mut at);
        }
        if leaves.is_some() {
            idle.extend(f.blocks[b].term.edges().iter().map(|edge| edge.block));
            continue;
        }
        let immortal = at.immortal.clone();
        if let Term::MayRaise { op, raised, .. } = &f.blocks[b].term
            && f.settled.contains(op)
        {
            idle.insert(raised.block);
        }
        let null = f.null_behind(b);
        for (edge, counts) in audit.leave(b, at) {
            let target = edge.block;
            let mut immortal = immortal.clone();
            immortal.extend(null.filter(|(side, _)| *side == target).map(|(_, v)| v));
            let Some(known) = &mut entry[target] else {
                entry[target] = Some(At {
                    counts,
                    locals: f.blocks[target].entry_state.locals.clone(),
                    immortal,
                });
                continue;
            };
            known.immortal.extend(&immortal);
            if let Some(what) = difference(&known.counts, &counts, &known.immortal) {
                let fault = format!("{b}: arrives in {target} otherwise than others: {what}");
                audit.faults.push(fault);
            }
        }
    }
    match audit.faults.is_empty() {
        true => Ok(()),
        false => Err(VerifierErrors(audit.faults)),
    }
}

struct Audit<'a> {
    f: &'a Function,
    faults: Vec<String>,
}

impl<'a> Audit<'a> {
    fn add(&self, counts: &mut Counts, v: Value, n: i64) {
        if let Some(root) = self.f.counted(v) {
            let count = counts.entry(root).or_insert(0);
            *count += n;
            if *count == 0 {
                counts.remove(&root);
            }
        }
    }

    /// The references that a state passes to the interpreter.
    fn expected(&self, state: &FrameState) -> Counts {
        let f = self.f;
        let mut counts = Counts::new();
        let mut made = HashSet::new();
        let mut work: Vec<Value> = Vec::new();
        let names = f.code.locals.len();
        let locals = state.locals.iter().take(names).copied();
        let entries = state.entries().filter(|entry| entry.owned);
        work.extend(locals.chain(entries.map(|entry| entry.value)));
        while let Some(v) = work.pop() {
            let root = f.object_of(v);
            if f.op(root).is_virtual() {
                if made.insert(root) {
                    let args = &f.inst(root).args[..];
                    work.extend(match f.op(root) {
                        Op::VirtualIf => &args[1..2],
                        _ => args,
                    });
                }
                continue;
            }
            self.add(&mut counts, v, 1);
        }
        counts
    }

    fn step(&mut self, b: Block, v: Value, at: &mut At) {
        let f = self.f;
        let inst = f.inst(v);
        let args = &inst.args;
        // An exit resumes before the instruction has done anything. Where an asserted fact does not
        // hold, the process ends.
        if let (Some(_), Some(state)) = (inst.op.exit_reason(), inst.state)
            && !f.asserted.contains(&v)
        {
            let mut expected = self.expected(&f.states[state]);
            // The value that the exit puts in a slot replaces the object that was there.
            let slots = at.locals.iter().zip(&f.states[state].locals);
            for (&held, &local) in slots.take(f.code.locals.len()) {
                if f.object_of(held) != f.object_of(local) {
                    self.add(&mut expected, held, 1);
                }
            }
            if let Some(what) = difference(&expected, &at.counts, &at.immortal) {
                let op = inst.op.name();
                self.faults
                    .push(format!("{b}: {v} = {op} at {}: {what}", inst.pc));
                // Each fault is reported once.
                at.counts = expected;
            }
        }
        if inst.op.gives_operand() && f.is_immortal_type(v) {
            at.immortal.insert(f.object_of(v));
        }
        if let Op::GuardTrue(_) = inst.op
            && *f.op(args[0]) == Op::IsNull
        {
            // There is no object, so it is not counted.
            at.immortal.insert(f.object_of(f.arg(args[0], 0)));
        }
        let counts = &mut at.counts;
        match &inst.op {
            Op::Incref => self.add(counts, args[0], 1),
            Op::StoreSlot(k) => at.locals[*k as usize] = args[0],
            Op::LoadSlot(k) => {
                // The host accounts for the previous content of the slot.
                match at
                    .locals
                    .get_mut(*k as usize)
                    .filter(|_| (*k as usize) < f.code.locals.len())
                {
                    Some(local) => {
                        let old = std::mem::replace(local, v);
                        // Where a unit is entered, the entry state names the value that is loaded
                        // here.
                        if f.object_of(old) != v {
                            self.add(counts, old, -1);
                            self.add(counts, v, 1);
                        }
                    }
                    None => self.add(counts, v, 1),
                }
            }
            Op::Output(_) => self.add(counts, v, 1),
            _ => {}
        }
        for taken in inst.op.takes_over(args.len()) {
            self.add(counts, args[taken], -1);
        }
        let raises_to_landing =
            matches!(f.blocks[b].term, Term::MayRaise { op, .. } if f.resolve(op) == v);
        if inst.op.gives_owned() && !raises_to_landing {
            self.add(counts, v, 1);
        }
    }

    /// The edges out of a block, with the references that each of them passes on.
    fn leave(&mut self, b: Block, mut at: At) -> Vec<(&'a Edge, Counts)> {
        let f = self.f;
        let mut edges = Vec::new();
        match &f.blocks[b].term {
            Term::Jump(edge) => edges.push((edge, at.counts.clone())),
            Term::Branch { cond, then, els } => {
                let cond = f.resolve(*cond);
                edges.push((then, at.counts.clone()));
                if matches!(
                    f.op(cond),
                    Op::General(
                        GeneralOp::IterNext | GeneralOp::IterNextBy | GeneralOp::NextItems,
                        _
                    )
                ) {
                    // When the iterator is exhausted there is no item.
                    at.counts.retain(|v, _| {
                        !(matches!(f.op(*v), Op::Output(_)) && f.arg(*v, 0) == cond)
                    });
                }
                edges.push((els, at.counts.clone()));
            }
            Term::MayRaise { op, next, raised } => {
                // An exhausted iterator only drops its list: that raises nothing.
                if !f.settled.contains(op) {
                    edges.push((raised, at.counts.clone()));
                }
                if f.op(*op).gives_owned() {
                    self.add(&mut at.counts, *op, 1);
                }
                edges.push((next, at.counts.clone()));
            }
            Term::Return(v) => {
                self.add(&mut at.counts, *v, -1);
                // A virtual object in a slot adds nothing: its items were dropped before, or are
                // not counted.
                let mut expected = Counts::new();
                for &v in at.locals.iter().take(f.code.locals.len()) {
                    self.add(&mut expected, v, 1);
                }
                if let Some(what) = difference(&expected, &at.counts, &at.immortal) {
                    self.faults.push(format!("{b}: returns: {what}"));
                }
            }
            Term::Unreachable => {}
        }
        for (edge, counts) in &mut edges {
            self.travel(&at.locals, edge, counts);
        }
        edges
    }

    /// The references that an edge passes on: parameters are aliases of the values that are passed
    /// to them, and a local may have an object on one side alone.
    fn travel(&self, from: &[Value], edge: &Edge, counts: &mut Counts) {
        let f = self.f;
        let target = &f.blocks[edge.block];
        let state = &target.entry_state;
        for (&a, &t) in from.iter().zip(&state.locals).take(f.code.locals.len()) {
            self.add(counts, a, -1);
            self.add(counts, t, 1);
        }
        for (&(p, place), &a) in target.params.iter().zip(&edge.args) {
            let is_owned = match place {
                Place::Stack(k) => state.stack[k as usize].owned,
                Place::Inlined => f.owns(edge.block, p),
                Place::Field => true,
                Place::Local(_) | Place::Bound(_) | Place::Name(_) | Place::Carried => false,
            };
            if is_owned {
                self.add(counts, a, -1);
                self.add(counts, p, 1);
            }
        }
    }
}

impl Function {
    /// Returns true if the frame of an inlined call owns the object of a block's parameter, or of
    /// its box; if no frame has the parameter, the code behind the block's start owns it.
    pub(crate) fn owns(&self, block: Block, param: Value) -> bool {
        let state = &self.blocks[block].entry_state;
        let is_it = |v: Value| {
            let v = self.resolve(v);
            v == param || self.op(v).is_box() && self.arg(v, 0) == param
        };
        let entries = state.entries().filter(|entry| is_it(entry.value));
        let owned = entries.map(|entry| entry.owned);
        owned.reduce(|any, owned| any || owned).unwrap_or(true)
    }

    /// The successor of a block in which a value is null, as the branch to it has tested.
    fn null_behind(&self, b: Block) -> Option<(Block, Value)> {
        let Term::Branch { cond, then, els } = &self.blocks[b].term else {
            return None;
        };
        let (tested, is_null) = self.tested_for_null(self.resolve(*cond))?;
        let side = if is_null { then } else { els };
        Some((side.block, self.counted(tested)?))
    }

    /// The value that a condition tests for being null; true if it holds for null.
    fn tested_for_null(&self, cond: Value) -> Option<(Value, bool)> {
        match self.op(cond) {
            Op::IsNull => Some((self.arg(cond, 0), true)),
            Op::BoolNot => {
                let (tested, holds) = self.tested_for_null(self.arg(cond, 0))?;
                Some((tested, !holds))
            }
            _ => None,
        }
    }

    /// The value whose references are counted for `v`, if any are.
    pub(crate) fn counted(&self, v: Value) -> Option<Value> {
        if *self.op(v) == Op::Borrowed {
            return None;
        }
        let root = self.object_of(v);
        let op = self.op(root);
        let is_object = |v: Value| {
            let ty = self.ty(v);
            ty.is_bottom() || !(ty <= Type::PRIMITIVE || ty <= Type::NULLPTR)
        };
        let is_immortal = matches!(op, Op::Const(object) if object.is_immortal());
        let none = op.is_box() || op.is_virtual() || *op == Op::Null || is_immortal;
        (!none && is_object(root) && !self.is_immortal_type(v)).then_some(root)
    }

    fn is_immortal_type(&self, v: Value) -> bool {
        let ty = self.ty(v);
        !ty.is_bottom() && (ty <= (Type::BOOL | Type::NONE_TYPE) || ty <= ty.immortal())
    }
}

/// The difference between the references found and those expected, if there is one.
fn difference(expected: &Counts, found: &Counts, immortal: &BTreeSet<Value>) -> Option<String> {
    let values: BTreeSet<Value> = expected.keys().chain(found.keys()).copied().collect();
    let count = |counts: &Counts, v: Value| counts.get(&v).copied().unwrap_or(0);
    let differs = values
        .into_iter()
        .filter(|v| count(expected, *v) != count(found, *v) && !immortal.contains(v));
    let shown = differs.map(|v| {
        let (found, expected) = (count(found, v), count(expected, v));
        format!("{v} has {found} references, not {expected}")
    });
    let all = shown.collect::<Vec<_>>().join(", ");
    (!all.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    const CODE: &str = "code \"f\" {\n  params 2\n  stack 3\n  local a\n  local b\n  name x\n  load_fast a\n  load_fast b\n  \
                        binary_op +\n  store_fast a\n  load_fast a\n  return_value\n}\n";

    fn check(body: &str, expect: Expect) {
        let text = format!("{CODE}\nfunction \"f\" {{\n{body}\n}}\n");
        let f = crate::hir::parse_only(&text);
        crate::hir::verify(&f).expect("well-formed HIR");
        let found = match check_balance(&f) {
            Ok(()) => "balanced".to_owned(),
            Err(faults) => faults.to_string(),
        };
        expect.assert_eq(&found);
    }

    #[test]
    fn a_store_into_a_local_drops_what_it_held() {
        check(
            "bb0 {@0 [v0 v1] []}:\n    v0: Object = arg 0\n    v1: Object = arg 1\n    \
             v2: Object = binary_op [0] v0, v1 {@2 [v0 v1] [&v0 &v1]}\n    store_slot 0 v2\n    \
             decref v0 {@3 [v2 v1] []}\n    check_valid {@4 [v2 v1] []}\n    incref v2\n    return v2 {@5 [v2 v1]}",
            expect!["balanced"],
        );
    }

    #[test]
    fn a_reference_not_dropped_is_a_fault_at_the_first_exit_after_it() {
        check(
            "bb0 {@0 [v0 v1] []}:\n    v0: Object = arg 0\n    v1: Object = arg 1\n    \
             v2: Object = binary_op [0] v0, v1 {@2 [v0 v1] [&v0 &v1]}\n    store_slot 0 v2\n    \
             check_valid {@4 [v2 v1] []}\n    incref v2\n    return v2 {@5 [v2 v1]}",
            expect!["bb0: v4 = check_valid at @4: v0 has 1 references, not 0"],
        );
    }

    #[test]
    fn a_reference_dropped_twice_and_one_not_taken_are_faults_of_the_return() {
        check(
            "bb0 {@0 [v0 v1] []}:\n    v0: Object = arg 0\n    v1: Object = arg 1\n    decref v1 {@1 [v0 v1] []}\n    \
             return v0 {@5 [v0 v1]}",
            expect!["bb0: returns: v0 has 0 references, not 1, v1 has 0 references, not 1"],
        );
    }

    #[test]
    fn nothing_comes_behind_a_check_that_always_fails() {
        // An int may be counted; a bool is immortal, and never is.
        check(
            "bb0 {@0 [v0 v1] []}:\n    v0: Object = arg 0\n    v1: Bool = arg 1\n    incref v1\n    \
             v2: LongExact = guard_type LongExact v1 guarded {@2 [v0 v1] [v1]}\n    decref v2 {@2 [v0 v1] [v1]}\n    \
             decref v2 {@2 [v0 v1] [v1]}\n    jump bb1 {@2 [v0 v1]}\nbb1 {@2 [v0 v1] []}:\n    return v0 {@5 [v0 v1]}",
            expect!["balanced"],
        );
    }

    #[test]
    fn what_is_known_to_be_immortal_is_not_counted() {
        let body = |ty: &str| {
            format!(
                "bb0 {{@0 [v0 v1] []}}:\n    v0: Object = arg 0\n    v1: {ty} = arg 1\n    store_slot 1 v0\n    \
                 incref v0\n    check_valid {{@1 [v0 v0] []}}\n    incref v0\n    return v0 {{@5 [v0 v0]}}"
            )
        };
        check(&body("ImmortalLongExact"), expect!["balanced"]);
        check(
            &body("LongExact"),
            expect!["bb0: v4 = check_valid at @1: v1 has 1 references, not 0"],
        );
    }

    #[test]
    fn paths_that_meet_must_agree() {
        check(
            "bb0 {@0 [v0 v1] []}:\n    v0: Object = arg 0\n    v1: Object = arg 1\n    v2: CBool = is_none v0\n    \
             branch v2, bb1, bb2 {@1 [v0 v1]}\nbb1 {@1 [v0 v1] []}:\n    incref v0\n    jump bb3 {@1 [v0 v1]}\n\
             bb2 {@1 [v0 v1] []}:\n    jump bb3 {@1 [v0 v1]}\nbb3 {@1 [v0 v1] []}:\n    incref v1\n    return v1 {@5 [v0 v1]}",
            expect![[r#"
                bb2: arrives in bb3 otherwise than others: v0 has 1 references, not 2
                bb3: returns: v0 has 2 references, not 1"#]],
        );
    }
}
