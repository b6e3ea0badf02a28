//! Numbers, comparisons and truth.

use super::Arg;
use crate::bytecode::{BinaryOp, CompareOp, GeneralOp as G, INPLACE};
use crate::hir::Value;
use crate::infer::engine::{Engine, Outcome};
use crate::infer::identity::{Kind, Slot};
use crate::infer::value::{Facts, ints, plain};
use crate::types::{ConstValue, Type};

/// The builtin numbers.
const NUMBERS: [Type; 3] = [Type::LONG_EXACT, Type::BOOL, Type::FLOAT_EXACT];

fn number() -> Type {
    Type::LONG_EXACT | Type::BOOL | Type::FLOAT_EXACT
}

impl Engine<'_> {
    pub(super) fn binary(&mut self, v: Value, number_of: u32, args: &[Arg]) -> Outcome {
        let Some(op) = BinaryOp::from_arg(number_of % INPLACE) else {
            return self.unknown(v, args);
        };
        // An operation with None raises, unless the other operand may have a method for it.
        let mut args = args.to_vec();
        let mut nobody = number() | Type::NONE_TYPE | Type::LIST_EXACT | Type::TUPLE_EXACT;
        if op != BinaryOp::Remainder {
            nobody |= Type::UNICODE_EXACT;
        }
        for i in 0..2 {
            let other = &args[1 - i].facts;
            let has_none = args[i].facts.ty.could_be(Type::NONE_TYPE);
            if has_none && other.is(nobody) && !args[i].facts.is_most_general() {
                self.raise_named("TypeError");
                let rest = args[i].facts.ty - Type::NONE_TYPE;
                args[i].facts = self.restrict(args[i].facts.clone(), rest);
                args[i].sv = crate::infer::Sv::MOST_GENERAL;
                if args[i].facts.is_impossible() {
                    return Outcome::Blocked;
                }
            }
        }
        let (a, b) = (args[0].facts.clone(), args[1].facts.clone());
        if a.is(number()) && b.is(number()) {
            return self.arithmetic(op, number_of % INPLACE, &args);
        }
        let ty = self.typed(G::Binary, [number_of as i64, 0], &[a.ty, b.ty]);
        if ty <= Type::LIST_EXACT && !ty.is_bottom() {
            return self.concatenate(number_of >= INPLACE, op, &args);
        }
        if ty <= Type::TUPLE_EXACT && !ty.is_bottom() {
            return self.concatenate_tuples(&args);
        }
        if ty <= Type::UNICODE_EXACT && !ty.is_bottom() {
            if op == BinaryOp::Remainder {
                self.set.escape(&b);
                self.raise_any();
            }
            return self.derived(Facts::of_type(ty), &args);
        }
        let name = match op {
            BinaryOp::Add => "add",
            BinaryOp::And => "and",
            BinaryOp::FloorDivide => "floordiv",
            BinaryOp::LeftShift => "lshift",
            BinaryOp::MatrixMultiply => "matmul",
            BinaryOp::Multiply => "mul",
            BinaryOp::Remainder => "mod",
            BinaryOp::Or => "or",
            BinaryOp::Power => "pow",
            BinaryOp::RightShift => "rshift",
            BinaryOp::Subtract => "sub",
            BinaryOp::TrueDivide => "truediv",
            BinaryOp::Xor => "xor",
        };
        let in_place = (number_of >= INPLACE).then(|| format!("__i{name}__"));
        let names = [format!("__{name}__"), format!("__r{name}__")];
        match self.operate(&args, in_place.as_deref(), [&names[0], &names[1]], false) {
            Some(outcome) => outcome,
            None => self.unknown(v, &args),
        }
    }

    /// Calls the methods that two operands have for an operation, where at least one is an instance
    /// of a user class. Returns none if an unknown object may define the operation.
    fn operate(
        &mut self,
        args: &[Arg],
        in_place: Option<&str>,
        names: [&str; 2],
        is_equality: bool,
    ) -> Option<Outcome> {
        let is_instance = |facts: &Facts| !facts.objects.open && !facts.objects.ids.is_empty();
        let known =
            |facts: &Facts| facts.is(plain()) || is_instance(facts) && !facts.ty.could_be(plain());
        if !args.iter().all(|arg| known(&arg.facts)) || args.iter().all(|arg| arg.facts.is(plain()))
        {
            return None;
        }
        // First find all methods, then call them.
        let mut calls: Vec<(Facts, usize)> = Vec::new();
        let mut is_sure = false;
        for (index, name) in names.into_iter().enumerate() {
            let facts = &args[index].facts.clone();
            if facts.is(plain()) {
                continue;
            }
            if index == 0
                && let Some(in_place) = in_place
                && !self.special_methods(facts, in_place)?.is_absent()
            {
                return None;
            }
            let mut looked = self.special_methods(facts, name)?;
            if name == "__ne__" && !looked.surely {
                // The default `!=` negates `==`.
                let equal = self.special_methods(facts, "__eq__")?;
                looked.facts = looked.facts.join(&equal.facts);
            }
            is_sure |= looked.surely;
            calls.push((looked.facts, index));
        }
        let mut found = Facts::IMPOSSIBLE;
        for (method, index) in calls {
            if method.is_impossible() {
                continue;
            }
            let callee = Arg {
                sv: crate::infer::Sv::MOST_GENERAL,
                facts: method,
            };
            let both = vec![args[index].clone(), args[1 - index].clone()];
            let outcome = self.call(&callee, both);
            let one = self.outcome_facts(outcome);
            found = found.join(&one);
        }
        // A method that returns NotImplemented passes the operation to the other operand; if that
        // one does too, the operation raises.
        let is_final = is_sure && found.ty <= plain();
        if is_equality {
            if !is_final {
                found = found.join(&Facts::of_type(Type::BOOL));
            }
            if !(found.ty <= plain()) {
                self.set.escape(&found);
            }
        } else if !is_final {
            self.raise_named("TypeError");
        }
        Some(if found.is_impossible() {
            Outcome::Blocked
        } else {
            Outcome::Value(found)
        })
    }

    /// An operation on numbers, over all pairs of classes of the operands.
    fn arithmetic(&mut self, op: BinaryOp, imm: u32, args: &[Arg]) -> Outcome {
        let (a, b) = (&args[0].facts, &args[1].facts);
        let mut ty = Type::BOTTOM;
        for x in NUMBERS.into_iter().filter(|x| x.could_be(a.ty)) {
            for y in NUMBERS.into_iter().filter(|y| y.could_be(b.ty)) {
                let one = self.typed(G::Binary, [imm as i64, 0], &[x, y]);
                ty = ty.join(match (one == Type::OBJECT, op) {
                    // A power of ints is a float if the exponent is negative; a power of floats may
                    // be complex.
                    (true, BinaryOp::Power)
                        if x <= (Type::LONG_EXACT | Type::BOOL)
                            && y <= (Type::LONG_EXACT | Type::BOOL) =>
                    {
                        if b.nonneg {
                            Type::LONG_EXACT
                        } else {
                            Type::LONG_EXACT | Type::FLOAT_EXACT
                        }
                    }
                    _ => one,
                });
            }
        }
        if ty == Type::OBJECT {
            self.raise_any();
            return self.derived(Facts::of_type(ty), args);
        }
        use BinaryOp::*;
        let zero = |facts: &Facts| match &facts.constant {
            Some(ConstValue::Int(value)) => *value == 0,
            Some(ConstValue::Float(value)) => *value == 0.0,
            Some(ConstValue::Bool(value)) => !value,
            _ => true,
        };
        if matches!(op, FloorDivide | Remainder | TrueDivide) && zero(b) || op == Power && !b.nonneg
        {
            self.raise_named("ZeroDivisionError");
        }
        if matches!(op, LeftShift | RightShift) && !(b.nonneg && b.ty.could_be(ints())) {
            self.raise_named("ValueError");
        }
        // An int may be too large to convert to a float.
        let is_large = |facts: &Facts| facts.ty.could_be(ints()) && facts.constant.is_none();
        let is_float = ty.could_be(Type::FLOAT_EXACT);
        let is_power = op == Power && (a.ty | b.ty).could_be(ints());
        if is_float && (is_power || is_large(a) || is_large(b)) || op == LeftShift {
            self.raise_named("OverflowError");
        }
        let sign = |facts: &Facts| facts.nonneg || facts.is(Type::BOOL);
        let (x, y) = (sign(a), sign(b));
        let nonneg = match op {
            Add | Multiply | Or | Xor | FloorDivide | Remainder | Power => x && y,
            And => x || y,
            LeftShift | RightShift => x,
            _ => false,
        };
        let mut facts = Facts::of_type(ty);
        if nonneg && a.is(Type::LONG_EXACT | Type::BOOL) && b.is(Type::LONG_EXACT | Type::BOOL) {
            facts = facts.not_negative();
        }
        self.derived(facts, args)
    }

    pub(super) fn unary(&mut self, v: Value, op: G, args: &[Arg]) -> Outcome {
        let ty = self.typed(op, [0, 0], &[args[0].facts.ty]);
        if ty == Type::OBJECT {
            let name = match op {
                G::Negative => "__neg__",
                _ => "__invert__",
            };
            match self.special(&args[0], name, Vec::new()) {
                Some(outcome) => outcome,
                None => self.unknown(v, args),
            }
        } else {
            self.derived(Facts::of_type(ty), args)
        }
    }

    pub(super) fn compare(&mut self, v: Value, imm: u32, args: &[Arg], ty: Type) -> Outcome {
        let Some(op) = CompareOp::from_arg(imm & 15) else {
            return self.unknown(v, args);
        };
        let (a, b) = (args[0].facts.clone(), args[1].facts.clone());
        let is_equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
        let both = |ty: Type| a.is(ty) && b.is(ty);
        if both(number()) {
            let known = folded(op, &a, &b);
            return self.derived(Facts::truth(ty, known), args);
        }
        if both(Type::UNICODE_EXACT) {
            let known = match (&a.constant, &b.constant) {
                (Some(ConstValue::Str(a)), Some(ConstValue::Str(b))) => Some(op.holds(a.cmp(b))),
                _ => None,
            };
            return self.derived(Facts::truth(ty, known), args);
        }
        if both(plain()) {
            if !is_equality {
                self.raise_named("TypeError");
                let orders = a.ty.could_be(number()) && b.ty.could_be(number());
                let either = |ty: Type| a.ty.could_be(ty) && b.ty.could_be(ty);
                let texts = either(Type::UNICODE_EXACT) || either(Type::BYTES_EXACT);
                if !orders && !texts {
                    return Outcome::Never;
                }
            }
            return self.derived(Facts::of_type(ty), args);
        }
        let name = match op {
            CompareOp::Lt => "__lt__",
            CompareOp::Le => "__le__",
            CompareOp::Eq => "__eq__",
            CompareOp::Ne => "__ne__",
            CompareOp::Gt => "__gt__",
            CompareOp::Ge => "__ge__",
        };
        let turned = match op {
            CompareOp::Lt => "__gt__",
            CompareOp::Le => "__ge__",
            CompareOp::Eq => "__eq__",
            CompareOp::Ne => "__ne__",
            CompareOp::Gt => "__lt__",
            CompareOp::Ge => "__le__",
        };
        if let Some(outcome) = self.operate(args, None, [name, turned], is_equality) {
            if ty != Type::CBOOL {
                return outcome;
            }
            let facts = self.outcome_facts(outcome);
            if facts.is_impossible() {
                return Outcome::Blocked;
            }
            // The operation calls `bool` on the result.
            if !(facts.ty <= plain()) {
                self.set.escape(&facts);
                self.raise_any();
            }
            return self.derived(Facts::truth(ty, facts.as_truth()), args);
        }
        self.unknown(v, args);
        if ty == Type::CBOOL {
            Outcome::Value(Facts::of_type(Type::CBOOL))
        } else {
            Outcome::Value(Facts::any_object())
        }
    }

    /// The truth of an object.
    pub(super) fn truth(&mut self, v: Value, args: &[Arg]) -> Outcome {
        let facts = args[0].facts.clone();
        let known = match &facts.constant {
            Some(ConstValue::Bool(value)) => Some(*value),
            Some(ConstValue::Int(value)) => Some(*value != 0),
            Some(ConstValue::Float(value)) => Some(*value != 0.0),
            Some(ConstValue::Str(value)) => Some(!value.is_empty()),
            Some(ConstValue::None) => Some(false),
            _ => None,
        };
        let truth = |known| Facts::truth(Type::CBOOL, known);
        if known.is_some() || facts.is(plain()) {
            return self.derived(truth(known), args);
        }
        let sized = Type::LIST_EXACT | Type::DICT_EXACT | Type::SET_EXACT | Type::TUPLE_EXACT;
        if facts.is(sized | Type::RANGE) {
            let length = self.length(&facts);
            let known = match length.constant {
                Some(ConstValue::Int(value)) => Some(value != 0),
                _ => None,
            };
            return self.derived(truth(known), args);
        }
        // Objects without `__bool__` and `__len__` are true.
        let mut all_true = !facts.objects.open;
        let mut unknown =
            facts.objects.open && !facts.is(sized | Type::RANGE | plain() | Type::FUNC);
        for &id in &facts.objects.ids {
            match self.set.own_heap(id).kind {
                Kind::Instance => {
                    let class = self.class_of(id);
                    for name in ["__bool__", "__len__"] {
                        if !self.lookup(class, name).is_absent() {
                            all_true = false;
                            unknown = true;
                        }
                    }
                }
                Kind::Function | Kind::Bound | Kind::Builtin | Kind::Class => {}
                _ => all_true = false,
            }
        }
        let maybe_none = facts.ty.could_be(plain() - Type::NULLPTR);
        if unknown {
            self.unknown(v, args);
        }
        self.derived(
            truth((all_true && !maybe_none && !unknown).then_some(true)),
            args,
        )
    }

    /// The test `x in y`: the second operand contains the first.
    pub(super) fn contains(&mut self, v: Value, args: &[Arg]) -> Outcome {
        let known =
            Type::LIST_EXACT | Type::DICT_EXACT | Type::SET_EXACT | Type::TUPLE_EXACT | Type::RANGE;
        let (item, container) = (&args[0].facts, &args[1].facts);
        if container.is(known) && !container.objects.open && item.is(plain()) {
            let mut inside = Facts::IMPOSSIBLE;
            for slot in [Slot::Items, Slot::Keys] {
                let facts = self.items_or_keys(container, slot);
                inside = inside.join(&facts);
            }
            if inside.is_impossible() {
                return self.derived(Facts::truth(Type::CBOOL, Some(false)), args);
            }
            if inside.is(plain()) {
                return self.derived(Facts::of_type(Type::CBOOL), args);
            }
        }
        if container.is(Type::UNICODE_EXACT) && item.is(Type::UNICODE_EXACT) {
            return self.derived(Facts::of_type(Type::CBOOL), args);
        }
        self.unknown(v, args)
    }
}

/// The result of a number comparison, if constants or signs decide it.
fn folded(op: CompareOp, a: &Facts, b: &Facts) -> Option<bool> {
    use CompareOp::*;
    // A bool is an int here.
    let int = |facts: &Facts| match &facts.constant {
        Some(ConstValue::Bool(value)) => Some(ConstValue::Int(*value as i64)),
        other => other.clone(),
    };
    match (int(a), int(b)) {
        (Some(ConstValue::Int(a)), Some(ConstValue::Int(b))) => Some(op.holds(a.cmp(&b))),
        (_, Some(ConstValue::Int(least)))
            if a.nonneg && a.ty.could_be(ints()) && a.is(ints() | Type::BOOL) =>
        {
            match op {
                Lt if least <= 0 => Some(false),
                Le | Eq if least < 0 => Some(false),
                Ge if least <= 0 => Some(true),
                Gt | Ne if least < 0 => Some(true),
                _ => None,
            }
        }
        (Some(ConstValue::Int(_)), _)
            if b.nonneg && b.ty.could_be(ints()) && b.is(ints() | Type::BOOL) =>
        {
            let turned = match op {
                Lt => Gt,
                Le => Ge,
                Gt => Lt,
                Ge => Le,
                same => same,
            };
            folded(turned, b, a)
        }
        _ => None,
    }
}
