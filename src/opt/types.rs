//! Types of values to a fixpoint: block parameters start with the empty type and get the union of
//! the types that their edges pass.

use super::Context;
use super::plant::{Fault, is_planted};
use crate::hir::{Function, Term, is_of_moment, result_type};
use crate::types::Type;
use cranelift_entity::EntityRef;

/// Recomputes all types; if the pass is to be left out, joins of objects are `Object`.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let joins_are_known = !cx.without.contains(&super::Pass::Types);
    let before: Vec<Type> = f.insts.values().map(|i| i.ty).collect();
    for b in f.order.clone() {
        for (p, _) in f.blocks[b].params.clone() {
            f.insts[p].ty = Type::BOTTOM;
        }
    }
    // A change at a block that comes later is seen in the same round: a block comes after those
    // that dominate it.
    let places = f.places();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for b in f.order.clone() {
            let insts = std::mem::take(&mut f.blocks[b].insts);
            for &v in &insts {
                f.insts[v].ty = result_type(f, v, before[v.index()]);
            }
            f.blocks[b].insts = insts;
            let term = std::mem::replace(&mut f.blocks[b].term, Term::Unreachable);
            for edge in term.edges() {
                for (i, &arg) in edge.args.iter().enumerate() {
                    let p = f.blocks[edge.block].params[i].0;
                    let known = f.insts[p].ty;
                    if is_planted(Fault::Types) && !known.is_bottom() {
                        continue;
                    }
                    let mut new = known.join(widen(f.ty(arg)));
                    if !joins_are_known && !(new <= Type::PRIMITIVE) {
                        new = new.join(Type::OBJECT);
                    }
                    if new != f.insts[p].ty {
                        f.insts[p].ty = new;
                        changed |= places[edge.block] <= places[b];
                    }
                }
            }
            f.blocks[b].term = term;
        }
    }
    f.insts.values().map(|i| i.ty).ne(before)
}

/// A parameter does not keep single values: they would only be widened one by one. Nor does it keep
/// a class that may be assigned: it is there where other code has run.
pub(super) fn widen(ty: Type) -> Type {
    let is_number = ty <= (Type::LONG_EXACT | Type::FLOAT_EXACT | Type::BOOL | Type::PRIMITIVE);
    match ty.has_value_spec() && is_number || is_of_moment(ty) {
        true => ty.unspecialized(),
        false => ty,
    }
}
