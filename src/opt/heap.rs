//! Facts about the contents of the unit's own objects.
//!
//! A list that a function allocates, fills and reads contains only objects that the function has
//! put into it. For example, after `l = [x * 0.5]` the item `l[0]` is a float: if no other code has
//! the list, its items need no checks of their class. The [annotation engine](crate::infer) finds
//! these facts, over the whole unit. It runs only if a check could be removed: a check of an item
//! of an object that the unit has allocated, or a store that replaces such an item.
//!
//! The facts follow from the program, as long as no code finds an object that it was not given:
//! that is [assumed](Assumption::ObjectsPrivate), and the host watches for it.

use super::Context;
use crate::bytecode::{GeneralOp, Reason};
use crate::facts::{Assumption, Source};
use crate::hir::{Block, Function, Inst, Op, Predecessors, Term, Value, is_builtin_exact};
use crate::infer::unit_facts;
use crate::types::Type;
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashSet;

/// The most instructions of a unit that is looked through: the engine's work grows with them.
const MOST_INSTS: usize = 4000;

/// Removes checks that always hold.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    if !cx.objects_are_private || !Own::of(f).has_checks() {
        return false;
    }
    let Some(facts) = unit_facts(f) else {
        return false;
    };
    let mut changed = false;
    for b in f.order.clone() {
        let insts = std::mem::take(&mut f.blocks[b].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for v in insts {
            kept.push(v);
            let operand = f.insts[v]
                .args
                .first()
                .and_then(|a| facts.of(f.resolve(*a)));
            let known = match (&f.insts[v].op, operand, facts.of(v)) {
                (Op::GuardType(ty), Some(operand), _) if operand.is(*ty) => Known::Class(*ty),
                (op, _, Some(result)) if takes_out(op) => match news(f.ty(v), result.ty) {
                    Some(ty) => Known::Item(ty),
                    None => continue,
                },
                (op, _, Some(result)) if is_question(op) => match result.as_truth() {
                    Some(truth) => Known::Truth(truth),
                    None => continue,
                },
                _ => continue,
            };
            match cx.check_facts {
                true => kept.extend(assert(f, b, v, known)),
                false => rely_on(f, v, known),
            }
            changed = true;
        }
        f.blocks[b].insts = kept;
    }
    if changed {
        f.assume(Assumption::ObjectsPrivate);
    }
    changed
}

/// A fact about an instruction.
#[derive(Clone, Copy)]
enum Known {
    /// A guard holds: the operand is of this type.
    Class(Type),
    /// The item that the op reads or overwrites has this type: the instructions behind it need no
    /// check.
    Item(Type),
    /// The truth value that it gives.
    Truth(bool),
}

/// Returns true for an op that reads or overwrites an item of an object, and remains such an op. (A
/// general operation may become another instruction, and an item of a virtual tuple is the value
/// that was put there: the fact is kept for neither.)
fn takes_out(op: &Op) -> bool {
    matches!(
        op,
        Op::ListGet | Op::ListIterNext | Op::TupleIterNext | Op::ListSet
    )
}

/// The class that a value was found to have, if that is more precise than its type.
fn news(known: Type, found: Type) -> Option<Type> {
    if found.is_bottom() {
        return None;
    }
    let class = found.unspecialized().drop_mortality();
    (is_builtin_exact(class) && class <= known && class != known).then_some(class)
}

/// Returns true for an op that only tests its operand and returns a truth value.
fn is_question(op: &Op) -> bool {
    matches!(op, Op::IsNone | Op::IsNull)
}

fn rely_on(f: &mut Function, v: Value, known: Known) {
    let inst = &mut f.insts[v];
    inst.source = Source::Assumed;
    match known {
        Known::Class(ty) => {
            inst.op = Op::Refine(ty);
            inst.state = None;
        }
        Known::Item(ty) => inst.ty = ty,
        Known::Truth(truth) => {
            inst.op = Op::ConstBool(truth);
            inst.args.clear();
        }
    }
}

/// Ends the process where the fact is false. Returns the instructions for that, which follow the
/// instruction `v`.
fn assert(f: &mut Function, b: Block, v: Value, known: Known) -> Vec<Value> {
    let mut checks = Vec::new();
    match known {
        Known::Class(_) => {
            f.asserted.insert(v);
        }
        // Behind the last instruction of a block that may raise there is no place for one.
        Known::Item(_) if matches!(f.blocks[b].term, Term::MayRaise { op, .. } if op == v) => {}
        Known::Item(ty) => checks.push(assert_here(f, b, Op::GuardType(ty), v, ty)),
        Known::Truth(truth) => {
            let pc = f.insts[v].pc;
            let mut holds = v;
            if !truth {
                let not = Inst::proved(Op::BoolNot, vec![v], Type::CBOOL, pc);
                holds = f.insts.push(not);
                checks.push(holds);
            }
            let guard = Op::GuardTrue(Reason::Type);
            checks.push(assert_here(f, b, guard, holds, Type::BOTTOM));
        }
    }
    checks
}

/// A guard that ends the process where it fails.
fn assert_here(f: &mut Function, b: Block, op: Op, operand: Value, ty: Type) -> Value {
    let mut guard = Inst::proved(op, vec![operand], ty, f.insts[operand].pc);
    // The process does not continue from here.
    guard.state = Some(f.states.push(f.blocks[b].entry_state.clone()));
    let guard = f.insts.push(guard);
    f.asserted.insert(guard);
    guard
}

/// The values that are objects that the unit has allocated, or come out of such.
struct Own<'a> {
    f: &'a Function,
    preds: Predecessors,
    /// Of a block's parameter: the block, and its place there.
    params: SecondaryMap<Value, Option<(Block, u32)>>,
}

impl Own<'_> {
    fn of(f: &Function) -> Own<'_> {
        let mut params = SecondaryMap::new();
        for &b in &f.order {
            for (place, (param, _)) in (0..).zip(&f.blocks[b].params) {
                params[*param] = Some((b, place));
            }
        }
        Own {
            f,
            preds: f.predecessors(),
            params,
        }
    }

    /// Returns true if the unit is not too long and contains a check of an item of an own object,
    /// or a store into one.
    fn has_checks(&self) -> bool {
        let f = self.f;
        let insts = f.order.iter().flat_map(|b| &f.blocks[*b].insts);
        let count = insts.clone().count();
        // Most units make nothing.
        if count > MOST_INSTS || !insts.clone().any(|v| self.makes(*v)) {
            return false;
        }
        let mut insts = insts.copied();
        insts.any(|v| {
            let checked = match f.op(v) {
                Op::GuardType(_) | Op::IsNone => self.container_of(f.object_of(f.arg(v, 0))),
                // It drops the item that it replaces, of which the destructor may run user code.
                Op::ListSet => Some(f.arg(v, 0)),
                _ => None,
            };
            checked.is_some_and(|container| self.is_own(container, &mut FxHashSet::default()))
        })
    }

    /// Returns true if the instruction allocates a container.
    fn makes(&self, v: Value) -> bool {
        match self.f.op(v) {
            Op::General(op, _) => {
                let is_new = matches!(
                    op,
                    GeneralOp::BuildList
                        | GeneralOp::BuildMap
                        | GeneralOp::BuildKeywords
                        | GeneralOp::BuildTuple
                        | GeneralOp::BuildSet
                );
                is_new || *op == GeneralOp::Binary && self.f.ty(v) <= Type::LIST_EXACT
            }
            Op::ListSlice(_) => true,
            _ => false,
        }
    }

    /// The container that an object was read from.
    fn container_of(&self, v: Value) -> Option<Value> {
        let f = self.f;
        match f.op(v) {
            Op::ListGet | Op::TupleGet | Op::ListIterNext | Op::TupleIterNext => Some(f.arg(v, 0)),
            Op::General(GeneralOp::GetItem | GeneralOp::GetIter, _) => Some(f.arg(v, 0)),
            Op::Output(_) => match f.op(f.arg(v, 0)) {
                Op::General(
                    GeneralOp::IterNext | GeneralOp::IterNextBy | GeneralOp::UnpackSequence,
                    _,
                ) => Some(f.arg(f.arg(v, 0), 0)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns true if a value can only be an own object, or an item of one.
    fn is_own(&self, v: Value, seen: &mut FxHashSet<Value>) -> bool {
        let v = self.f.object_of(v);
        if !seen.insert(v) || self.makes(v) || *self.f.op(v) == Op::Null {
            return true;
        }
        if let Some(container) = self.container_of(v) {
            return self.is_own(container, seen);
        }
        let Some((block, place)) = self.params[v] else {
            return false;
        };
        let from = self.preds[block].iter();
        let mut edges = from.flat_map(|b| self.f.blocks[*b].term.edges());
        edges.all(|edge| edge.block != block || self.is_own(edge.args[place as usize], seen))
    }
}
