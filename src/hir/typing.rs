//! The types of results, from the types of operands. They are proved by the language's rules,
//! without speculation.

use super::function::{Function, Value};
use super::ops::Op;
use super::rows::Rule;
use crate::bytecode::{BinaryOp, GeneralOp as G, Gives, INPLACE};
use crate::facts::Builtin;
use crate::types::Type;

/// The type of a value by the rule of its op, as the types of its operands are now. `declared` is
/// the type that the instruction was created with, which is valid for all operands. (A type that
/// the instruction got meanwhile followed from operands that may have become wider.)
pub fn result(f: &Function, v: Value, declared: Type) -> Type {
    let inst = &f.insts[v];
    let operand = || f.ty(inst.args[0]);
    match inst.op.row().rule {
        Rule::Nothing | Rule::Is(_) | Rule::Within(_) => inst.ty,
        Rule::Operand => operand(),
        Rule::Narrowed => {
            let (Op::GuardType(ty) | Op::Refine(ty)) = inst.op else {
                unreachable!("`{}` narrows to nothing", inst.op.name());
            };
            let a = operand();
            if a.is_bottom() || a <= ty {
                return a;
            }
            let both = a & ty;
            if !both.is_bottom() {
                return both;
            }
            // The check fails on every path. The instructions behind it were typed by the declared
            // type.
            if declared.is_bottom() || !(declared <= ty) {
                ty
            } else {
                declared
            }
        }
        Rule::Bound => {
            let a = operand();
            if a.is_bottom() {
                return a;
            }
            let bound = a - Type::NULLPTR;
            // As above.
            if bound.is_bottom() { declared } else { bound }
        }
        Rule::Language => {
            let Op::General(op, imms) = inst.op else {
                unreachable!("`{}` is no general operation", inst.op.name());
            };
            let types: Vec<Type> = inst.args.iter().map(|a| f.ty(*a)).collect();
            let new = general(op, imms, &types);
            // The builder may have a more precise type (a builtin's result).
            if new == Type::OBJECT { declared } else { new }
        }
    }
}

/// The result type of a general operation.
pub fn general(op: G, imms: [i64; 2], args: &[Type]) -> Type {
    let object = Type::OBJECT;
    match op {
        G::Binary | G::BinaryInts => binary(imms[0] as u32, args[0], args[1]),
        G::Compare => {
            let plain = Type::LONG_EXACT | Type::FLOAT_EXACT | Type::UNICODE_EXACT | Type::BOOL;
            if args.iter().all(|a| *a <= plain) {
                Type::BOOL
            } else {
                object
            }
        }
        G::Negative => match args[0] {
            a if a <= Type::FLOAT_EXACT => Type::FLOAT_EXACT,
            a if a <= (Type::LONG_EXACT | Type::BOOL) => Type::LONG_EXACT,
            _ => object,
        },
        G::Invert if args[0] <= Type::LONG_EXACT => Type::LONG_EXACT,
        G::GetItem | G::FindItem if args[0] <= Type::UNICODE_EXACT => Type::UNICODE_EXACT,
        G::GetSlice | G::GetExtendedSlice => match args[0] {
            a if a <= Type::LIST_EXACT => Type::LIST_EXACT,
            a if a <= Type::TUPLE_EXACT => Type::TUPLE_EXACT,
            a if a <= Type::UNICODE_EXACT => Type::UNICODE_EXACT,
            _ => object,
        },
        G::BuildSlice => Type::SLICE,
        G::BuildTuple => Type::TUPLE_EXACT,
        G::BuildList => Type::LIST_EXACT,
        G::BuildSet => Type::SET_EXACT,
        G::BuildMap | G::BuildKeywords | G::BuildConstKeyMap => Type::DICT_EXACT,
        G::BuildString | G::ConcatStrings => Type::UNICODE_EXACT,
        G::MakeFunction => Type::FUNC,
        G::GetLen => Type::LONG_EXACT,
        _ => match op.info().gives {
            Gives::Object => object,
            Gives::Bool | Gives::Next => Type::CBOOL,
            Gives::Nothing => Type::BOTTOM,
        },
    }
}

fn binary(arg: u32, a: Type, b: Type) -> Type {
    let int = |t: Type| t <= (Type::LONG_EXACT | Type::BOOL);
    let number = |t: Type| t <= (Type::LONG_EXACT | Type::BOOL | Type::FLOAT_EXACT);
    let Some(op) = BinaryOp::from_arg(arg % INPLACE) else {
        return Type::OBJECT;
    };
    use BinaryOp::*;
    match op {
        Add | Subtract | Multiply | FloorDivide | Remainder if int(a) && int(b) => Type::LONG_EXACT,
        LeftShift | RightShift if int(a) && int(b) => Type::LONG_EXACT,
        And | Or | Xor if a <= Type::BOOL && b <= Type::BOOL => Type::BOOL,
        And | Or | Xor if int(a) && int(b) => Type::LONG_EXACT,
        TrueDivide if int(a) && int(b) => Type::FLOAT_EXACT,
        Add | Subtract | Multiply | TrueDivide | FloorDivide | Remainder
            if number(a) && number(b) && (a <= Type::FLOAT_EXACT || b <= Type::FLOAT_EXACT) =>
        {
            Type::FLOAT_EXACT
        }
        Add if a <= Type::UNICODE_EXACT && b <= Type::UNICODE_EXACT => Type::UNICODE_EXACT,
        Add if a <= Type::LIST_EXACT && b <= Type::LIST_EXACT => Type::LIST_EXACT,
        Add if a <= Type::TUPLE_EXACT && b <= Type::TUPLE_EXACT => Type::TUPLE_EXACT,
        Multiply if a <= Type::LIST_EXACT && int(b) => Type::LIST_EXACT,
        Multiply if a <= Type::UNICODE_EXACT && int(b) => Type::UNICODE_EXACT,
        Remainder if a <= Type::UNICODE_EXACT && int(b) => Type::UNICODE_EXACT,
        _ => Type::OBJECT,
    }
}

/// The type of `iter(x)`; the flag is true if that is proved (a range too long for machine words
/// has another iterator).
pub fn iterator_of(ty: Type) -> Option<(Type, bool)> {
    if ty <= Type::RANGE {
        Some((Type::RANGE_ITER, false))
    } else if ty <= Type::LIST_EXACT {
        Some((Type::LIST_ITER, true))
    } else if ty <= Type::TUPLE_EXACT {
        Some((Type::TUPLE_ITER, true))
    } else {
        None
    }
}

/// The type of a call of a builtin.
pub fn builtin(b: Builtin) -> Type {
    match b {
        Builtin::Range => Type::RANGE,
        Builtin::Len | Builtin::Ord => Type::LONG_EXACT,
        Builtin::Chr => Type::UNICODE_EXACT,
        Builtin::IsInstance | Builtin::HasAttr | Builtin::Bool | Builtin::Any | Builtin::All => {
            Type::BOOL
        }
        Builtin::Sqrt => Type::FLOAT_EXACT,
        Builtin::List | Builtin::Sorted => Type::LIST_EXACT,
        Builtin::Tuple => Type::TUPLE_EXACT,
        _ => Type::OBJECT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gives_a_truth_value_has_its_type() {
        for &op in G::ALL {
            let is_truth = matches!(op.info().gives, Gives::Bool | Gives::Next);
            let ty = general(op, [0; 2], &[Type::OBJECT; 4]);
            let name = op.info().name;
            assert_eq!(ty == Type::CBOOL, is_truth, "{name}");
            let is_nothing = op.info().gives == Gives::Nothing;
            assert_eq!(ty.is_bottom(), is_nothing, "{name}");
        }
    }
}
