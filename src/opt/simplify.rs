//! Local simplification: guards that are proved, boxes that are unboxed at once, constants.

use super::Context;
use super::plant::{Fault, is_planted};
use crate::bytecode::{ConstValue, GeneralOp};
use crate::hir::{Edge, Function, Op, Term, Value, is_builtin_exact};
use crate::types::Type;

/// Simplify every instruction once, in dominance order.
pub fn run(f: &mut Function, cx: &Context<'_>) -> bool {
    let mut changed = false;
    for b in f.order.clone() {
        for v in f.blocks[b].insts.clone() {
            changed |= simplify(f, cx, v);
        }
        changed |= fold_branch(f, b);
    }
    if changed {
        f.apply_aliases();
        let entry = f.entry();
        f.compute_order(entry);
        crate::hir::remove_trivial_params(f);
    }
    changed
}

fn simplify(f: &mut Function, cx: &Context<'_>, v: Value) -> bool {
    let inst = &f.insts[v];
    let arg = |i: usize| f.resolve(inst.args[i]);
    let ty = |i: usize| f.ty(inst.args[i]);
    match &inst.op {
        Op::GuardType(t) | Op::Refine(t) if ty(0) <= *t => replace(f, v, inst.args[0]),
        Op::Refine(_) if matches!(f.op(arg(0)), Op::BoxIntIf | Op::BoxFloatIf) => {
            // By the bytecode, the local is bound here.
            let boxed = arg(0);
            let raw = f.arg(boxed, 0);
            let (op, ty) = match f.op(boxed) {
                Op::BoxIntIf => (Op::BoxInt, Type::LONG_EXACT),
                _ => (Op::BoxFloat, Type::FLOAT_EXACT),
            };
            let inst = &mut f.insts[v];
            (inst.op, inst.ty, inst.args) = (op, ty, vec![raw]);
            true
        }
        Op::General(GeneralOp::InitResult, _) if ty(0) <= Type::NONE_TYPE => {
            let given = arg(0);
            f.rely_on(given);
            replace(f, v, given)
        }
        // The result of a method need not be such an object. (An object that the function has
        // allocated is another one than any constant.)
        Op::General(GeneralOp::OperatorRest, _)
            if !ty(3).could_be(ty(2)) || matches!(f.op(f.object_of(arg(3))), Op::New(..)) =>
        {
            let given = arg(3);
            f.rely_on(given);
            replace(f, v, given)
        }
        Op::GuardBound if ty(0) <= Type::OBJECT => replace(f, v, inst.args[0]),
        Op::GuardIs(object) if ty(0).as_object() == Some(*object) => replace(f, v, inst.args[0]),
        Op::UnboxInt | Op::UnboxFloat | Op::UnboxBool => {
            let mut a = arg(0);
            // A check that a raw local is bound stays; its value is the raw one.
            while matches!(f.op(a), Op::GuardBound | Op::GuardType(_) | Op::Refine(_)) {
                a = f.arg(a, 0);
            }
            let inner = match (&inst.op, f.op(a)) {
                (Op::UnboxInt, Op::BoxInt | Op::BoxIntIf)
                | (Op::UnboxFloat, Op::BoxFloat | Op::BoxFloatIf)
                | (Op::UnboxBool, Op::BoxBool) => Some(f.arg(a, 0)),
                _ => None,
            };
            if let Some(inner) = inner {
                return replace(f, v, inner);
            }
            let object = match f.op(a) {
                Op::Const(object) => *object,
                _ => return false,
            };
            let constant = match (&inst.op, cx.world.value(object)) {
                (Op::UnboxInt, ConstValue::Int(n)) if is_planted(Fault::Fold) => {
                    Op::ConstInt(n.saturating_abs())
                }
                (Op::UnboxInt, ConstValue::Int(n)) => Op::ConstInt(n),
                (Op::UnboxFloat, ConstValue::Float(x)) => Op::ConstDouble(x.to_bits()),
                (Op::UnboxBool, ConstValue::Bool(b)) => Op::ConstBool(b),
                _ => return false,
            };
            become_constant(f, v, constant)
        }
        // The type of the operand, or of the other one, decides the comparison.
        Op::UnboxNumber if ty(0) <= Type::FLOAT_EXACT => {
            let a = inst.args[0];
            let inst = &mut f.insts[v];
            (inst.op, inst.args, inst.state) = (Op::UnboxFloat, vec![a], None);
            true
        }
        Op::BoolNot => match f.op(arg(0)) {
            Op::BoolNot => {
                let inner = f.arg(arg(0), 0);
                replace(f, v, inner)
            }
            Op::ConstBool(b) => {
                let b = !*b;
                become_constant(f, v, Op::ConstBool(b))
            }
            _ => false,
        },
        Op::CheckClasses(types)
            if is_builtin_exact(ty(0)) && types.iter().any(|of| ty(0) <= *of) =>
        {
            let checked = arg(0);
            f.rely_on(checked);
            replace(f, v, checked)
        }
        Op::IsClass(types) => {
            let (t, a) = (ty(0), arg(0));
            if !is_builtin_exact(t) || !types.iter().all(|ty| is_builtin_exact(*ty)) {
                return false;
            }
            let is = types.iter().any(|ty| t <= *ty);
            f.rely_on(a);
            become_constant(f, v, Op::ConstBool(is))
        }
        Op::IsNone => {
            let t = ty(0);
            let a = arg(0);
            if t <= Type::NONE_TYPE {
                f.rely_on(a);
                become_constant(f, v, Op::ConstBool(true))
            } else if !t.could_be(Type::NONE_TYPE) {
                f.rely_on(a);
                become_constant(f, v, Op::ConstBool(false))
            } else {
                false
            }
        }
        Op::Is => {
            let (a, b) = (arg(0), arg(1));
            let (ta, tb) = (ty(0), ty(1));
            if a == b {
                become_constant(f, v, Op::ConstBool(true))
            } else if !ta.could_be(tb) {
                f.rely_on(a);
                f.rely_on(b);
                become_constant(f, v, Op::ConstBool(false))
            } else if tb <= Type::NONE_TYPE {
                f.rely_on(b);
                f.insts[v].op = Op::IsNone;
                f.insts[v].args = vec![a];
                true
            } else {
                false
            }
        }
        Op::GuardTrue(_) if matches!(f.op(arg(0)), Op::ConstBool(true)) => {
            f.insts[v].op = Op::Refine(Type::CBOOL);
            f.insts[v].state = None;
            true
        }
        Op::TupleLen | Op::TupleGet => {
            let Op::Const(tuple) = *f.op(arg(0)) else {
                return false;
            };
            let get = matches!(inst.op, Op::TupleGet);
            let index = if get {
                let Op::ConstInt(index) = *f.op(arg(1)) else {
                    return false;
                };
                index as usize
            } else {
                0
            };
            let Some(items) = cx.world.tuple_items(tuple) else {
                return false;
            };
            if !get {
                return become_constant(f, v, Op::ConstInt(items.len() as i64));
            }
            // The tuple is a constant of the unit, which keeps its items alive.
            let Some(&item) = items.get(index) else {
                return false;
            };
            let inst = &mut f.insts[v];
            (inst.op, inst.ty, inst.args) = (Op::Const(item), Type::from_object(item), Vec::new());
            true
        }
        Op::IntCmp(c) => {
            let (c, a, b) = (*c, arg(0), arg(1));
            match (f.op(a), f.op(b)) {
                (Op::ConstInt(x), Op::ConstInt(y)) => {
                    let r = c.of(*x, *y);
                    become_constant(f, v, Op::ConstBool(r))
                }
                _ => false,
            }
        }
        Op::IntToDouble | Op::IntToDoubleExact => match f.op(arg(0)) {
            Op::ConstInt(n) if n.unsigned_abs() <= 1 << 53 => {
                let bits = (*n as f64).to_bits();
                become_constant(f, v, Op::ConstDouble(bits))
            }
            _ => false,
        },
        _ => false,
    }
}

fn replace(f: &mut Function, v: Value, new: Value) -> bool {
    f.replace(v, new);
    true
}

fn become_constant(f: &mut Function, v: Value, op: Op) -> bool {
    let inst = &mut f.insts[v];
    inst.ty = match op {
        Op::ConstInt(_) => Type::CINT64,
        Op::ConstDouble(_) => Type::CDOUBLE,
        _ => Type::CBOOL,
    };
    inst.op = op;
    inst.args.clear();
    inst.state = None;
    true
}

/// A branch on a constant becomes a jump, and so does the end of a block whose operation does not
/// raise any more.
fn fold_branch(f: &mut Function, b: crate::hir::Block) -> bool {
    if let Term::MayRaise { op, next, .. } = &f.blocks[b].term
        && !f.op(*op).raises()
    {
        f.blocks[b].term = Term::Jump(next.clone());
        return true;
    }
    let Term::Branch { cond, then, els } = &f.blocks[b].term else {
        return false;
    };
    let Op::ConstBool(c) = f.op(*cond) else {
        return false;
    };
    let edge: Edge = if *c { then.clone() } else { els.clone() };
    f.blocks[b].term = Term::Jump(edge);
    true
}
