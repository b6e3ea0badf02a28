//! Functions that can be closed units: they run no user code, take and return numbers only, and so
//! need no frame.

use crate::facts::{RawKind, RawSignature};
use crate::hir::{Function, Op, Term, Value};
use crate::types::Type;

/// The signature that `f`, a function unit after all passes, would have as a closed unit: each
/// parameter travels as the class that the function checks it for, the result as the class of most
/// returns. `None` if there is no such signature, or if `f` plainly has an instruction that a
/// closed unit cannot have.
///
/// This is a guess: the function is built again for it, and [`find_open`] decides whether that is
/// closed.
pub fn signature(f: &Function) -> Option<RawSignature> {
    let argcount = f.code.argcount as usize;
    let mut params: Vec<Option<RawKind>> = vec![None; argcount];
    for &v in f.order.iter().flat_map(|&b| &f.blocks[b].insts) {
        match f.op(v) {
            Op::GuardType(ty) => {
                if let Op::Arg(k) = f.op(f.object_of(v)) {
                    let kind = RawKind::of(*ty)?;
                    if *params[*k as usize].get_or_insert(kind) != kind {
                        return None;
                    }
                }
            }
            Op::General(op, _) if op.info().raises => return None,
            op if op.effects().writes && !is_bookkeeping(op) => return None,
            _ => {}
        }
    }
    let kind_of = |v: Value| match f.op(f.object_of(v)) {
        Op::Arg(k) => params[*k as usize],
        _ => RawKind::of(f.ty(v)),
    };
    let mut result = None;
    for &b in &f.order {
        if f.blocks[b].is_loop_header {
            // A loop pays for its frame, and pending work can be done in that frame.
            return None;
        }
        if let Term::Return(v) = f.blocks[b].term
            && let Some(kind) = kind_of(v)
            && *result.get_or_insert(kind) != kind
        {
            return None;
        }
    }
    Some(RawSignature {
        params: params.into_iter().collect::<Option<_>>()?,
        result: result?,
    })
}

/// Returns true for ops that write only state which a closed unit does not have, such as slots and
/// reference counts, and for ops of calls that may become raw calls.
fn is_bookkeeping(op: &Op) -> bool {
    matches!(
        op,
        Op::StoreSlot(_)
            | Op::Incref
            | Op::Decref
            | Op::CheckValid
            | Op::CallDirect(_)
            | Op::CallRaw(..)
    )
}

/// The first instruction because of which `f`, built for a closed unit and after all passes, is not
/// one.
pub fn find_open(f: &Function) -> Option<Value> {
    for &b in &f.order {
        let data = &f.blocks[b];
        let params = data.params.iter().map(|(p, _)| *p);
        if let Some(open) = params.into_iter().find(|p| !is_raw(f, *p)) {
            return Some(open);
        }
        if let Some(open) = data.insts.iter().find(|v| !is_closed(f, **v)) {
            return Some(*open);
        }
        if let Term::Return(v) = data.term
            && !is_raw(f, v)
        {
            return Some(v);
        }
    }
    None
}

fn is_raw(f: &Function, v: Value) -> bool {
    let ty = f.ty(v);
    ty <= (Type::CINT64 | Type::CDOUBLE | Type::CBOOL) && !ty.is_bottom()
}

/// A box, a virtual object, a constant, or no object: a value that needs no reference.
fn is_uncounted(f: &Function, v: Value) -> bool {
    let op = f.op(f.object_of(v));
    op.is_box() || op.is_virtual_aggregate() || matches!(op, Op::Const(_) | Op::Null)
}

fn is_closed(f: &Function, v: Value) -> bool {
    let inst = f.inst(v);
    match &inst.op {
        Op::Incref | Op::Decref | Op::StoreSlot(_) => is_uncounted(f, inst.args[0]),
        Op::CallRaw(..) => matches!(f.op(f.object_of(inst.args[0])), Op::Const(_)),
        Op::CheckValid => false,
        // It exits with more frames than the one that the caller records.
        _ if inst.state.is_some_and(|s| !f.states[s].inlined.is_empty()) => false,
        op => {
            let effects = op.effects();
            !effects.reads
                && !effects.writes
                && !effects.runs_host_code
                && inst
                    .args
                    .iter()
                    .all(|a| is_raw(f, *a) || is_uncounted(f, *a))
        }
    }
}
