//! The HIR op table: what each op is called, what it does, and the type it gives.

use crate::bytecode::{GeneralOp, Gives, Reason};
use crate::facts::Effects;
use crate::facts::{IntrinsicCall, RawEntry, RawKind};
use crate::types::{ObjectHandle, Type};

/// A comparison of primitive values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cmp {
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Cmp {
    /// The comparison with this bytecode number.
    pub fn from_arg(n: u32) -> Option<Cmp> {
        [Cmp::Lt, Cmp::Le, Cmp::Eq, Cmp::Ne, Cmp::Gt, Cmp::Ge]
            .get(n as usize)
            .copied()
    }

    /// The name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Cmp::Lt => "lt",
            Cmp::Le => "le",
            Cmp::Eq => "eq",
            Cmp::Ne => "ne",
            Cmp::Gt => "gt",
            Cmp::Ge => "ge",
        }
    }
}

/// An op of the HIR. General ops work on objects; primitive ops on the lattice's C types; `Box*` and `Unbox*` join
/// the two. Operands are in the instruction, immediates here.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// A parameter of a block.
    Param,
    /// An argument of the function unit, already in its slot.
    Arg(u32),
    /// What a local slot (or, after the locals, a stack entry) holds when the unit is entered, or after an op that
    /// fills slots; borrowed from the slot.
    LoadSlot(u32),
    /// An object.
    Const(ObjectHandle),
    /// A C integer.
    ConstInt(i64),
    /// A C double, by its bits.
    ConstDouble(u64),
    /// A C truth value.
    ConstBool(bool),
    /// No object.
    Null,

    /// The local's slot takes over the operand's reference.
    StoreSlot(u32),
    /// Take a reference.
    Incref,
    /// Drop a reference.
    Decref,

    /// Exit unless the operand has the type; gives the operand.
    GuardType(Type),
    /// Exit unless the operand is the object; gives the operand.
    GuardIs(ObjectHandle),
    /// Exit if the operand is null; gives the operand.
    GuardBound,
    /// Exit unless the C truth value holds.
    GuardTrue(Reason),
    /// Exit unless the operand's class is exactly one of these.
    CheckClasses(Vec<Type>),
    /// Whether the operand's class is exactly one of these.
    IsClass(Vec<Type>),
    /// The operand, known (by the bytecode's rules or a dominating branch) to have the type.
    Refine(Type),
    /// Exit if the unit was invalidated, its frame opened to others, or tracing switched on.
    CheckValid,
    /// Do pending work; exit if the unit must give way.
    CheckPending,
    /// Exit if any work is pending or tracing was switched on.
    CheckQuiet,

    /// What a name of the namespace holds, borrowed from it; exits if it holds nothing.
    NameGet(u32),
    /// The C value of the number (of the exact class) that a name of the namespace holds; exits if it holds anything else.
    NameGetRaw(u32, Type),
    /// Store into the namespace: takes over the object, gives what the name held, owned, or null.
    NameSet(u32),

    /// The int object of a C integer.
    BoxInt,
    /// The float object of a C double.
    BoxFloat,
    /// The bool object of a C truth value.
    BoxBool,
    /// The int object of a C integer if the second operand holds, else no object (an unbound local).
    BoxIntIf,
    /// The float object of a C double if the second operand holds, else no object.
    BoxFloatIf,
    /// The value of an exact int; exits if it has more than two digits.
    UnboxInt,
    /// The value of an exact float.
    UnboxFloat,
    /// The value of a bool.
    UnboxBool,

    /// `a + b`; exits on overflow.
    IntAdd,
    /// `a - b`; exits on overflow.
    IntSub,
    /// `a * b`; exits on overflow.
    IntMul,
    /// `a // b`; exits if b is zero, or on overflow.
    IntFloorDiv,
    /// `a % b`; exits if b is zero, or on overflow.
    IntMod,
    /// `a / b` as a double; exits if b is zero or an operand is beyond 2^53.
    IntTrueDiv,
    /// `a & b`
    IntAnd,
    /// `a | b`
    IntOr,
    /// `a ^ b`
    IntXor,
    /// `a << b`; exits on a negative or large count, or on overflow.
    IntShl,
    /// `a >> b`; exits on a negative count.
    IntShr,
    /// `-a`; exits on overflow.
    IntNeg,
    /// `~a`
    IntInvert,
    /// Comparison.
    IntCmp(Cmp),
    /// The nearest double.
    IntToDouble,
    /// The same double; exits beyond 2^53.
    IntToDoubleExact,
    /// 0 or 1.
    BoolToInt,

    /// `a + b`
    FloatAdd,
    /// `a - b`
    FloatSub,
    /// `a * b`
    FloatMul,
    /// `a / b`; exits if b is zero.
    FloatDiv,
    /// `a // b`; exits if b is zero.
    FloatFloorDiv,
    /// `a % b`; exits if b is zero.
    FloatMod,
    /// `a ** b`; exits unless a > 0 and the result is finite.
    FloatPow,
    /// `-a`
    FloatNeg,
    /// `abs(a)`
    FloatAbs,
    /// Square root; exits if a is negative or nan.
    FloatSqrt,
    /// The integer part; exits unless it fits 63 bits.
    FloatToInt,
    /// IEEE comparison.
    FloatCmp(Cmp),

    /// `not a`
    BoolNot,
    /// Whether two objects are one.
    Is,
    /// Whether there is no object.
    IsNull,
    /// Whether the object is the host's None.
    IsNone,

    /// Length of a list.
    ListLen,
    /// Length of a tuple.
    TupleLen,
    /// A Python index made an offset: operands index and length; exits if out of range.
    Index,
    /// Item of a list at an offset in range, borrowed.
    ListGet,
    /// Replace an item (list, offset, object): takes over the object, gives the old item, owned.
    ListSet,
    /// Item of a tuple at an offset in range, borrowed.
    TupleGet,
    /// Append to a list (list, object): takes over the object.
    ListAppend,
    /// What a cell holds, borrowed, or null.
    CellGet,
    /// Replace what a cell holds: takes over the object, gives the old content, owned, or null.
    CellSet,
    /// Whether a range iterator had a next value; the value is output 0, a C integer.
    RangeNext,
    /// Whether a list's or tuple's iterator has another item.
    IterMore,
    /// Next item of a list iterator, borrowed, or null.
    ListIterNext,
    /// Next item of a tuple iterator, borrowed, or null.
    TupleIterNext,
    /// Output of the operand's operation.
    Output(u32),
    /// A check of the host's on an object; exits with `Reason::Shape`.
    Check(IntrinsicCall),
    /// A load of the host's from an object, borrowed; exits with `Reason::Shape`.
    Load(IntrinsicCall),
    /// A store of the host's into an object (object, value): takes over the value, gives the old one or null.
    Store(IntrinsicCall),

    /// A general operation.
    General(GeneralOp, [i64; 2]),
    /// Call of a known function through the cell with its entry: operands are the function and the arguments, whose
    /// references are taken over.
    CallDirect(u64),
    /// Call of a known function through its raw entry: operands are the function and the raw arguments. The number is
    /// that of the stack entries that the call consumes in the interpreter, which the frame state still has. It looks
    /// itself whether the unit is still valid if it had to run host code, and exits after the call if not.
    CallRaw(RawEntry, u32),
}

/// What `decref`ing or computing may do, and how an op leaves.
impl Op {
    /// Whether the op gives its first operand itself, of which more is known afterwards.
    pub fn gives_operand(&self) -> bool {
        matches!(
            self,
            Op::GuardType(_) | Op::GuardIs(_) | Op::GuardBound | Op::Refine(_)
        )
    }

    /// The op that makes an object of a raw value.
    pub fn boxing(kind: RawKind) -> Op {
        match kind {
            RawKind::Int => Op::BoxInt,
            RawKind::Float => Op::BoxFloat,
            RawKind::Bool => Op::BoxBool,
        }
    }

    /// The op that takes the raw value out of an object.
    pub fn unboxing(kind: RawKind) -> Op {
        match kind {
            RawKind::Int => Op::UnboxInt,
            RawKind::Float => Op::UnboxFloat,
            RawKind::Bool => Op::UnboxBool,
        }
    }

    /// Why the op may exit, if it may (a guard that resumes at its instruction).
    pub fn exit_reason(&self) -> Option<Reason> {
        Some(match self {
            Op::GuardType(_) => Reason::Type,
            Op::CheckClasses(_) => Reason::Type,
            Op::GuardIs(_) => Reason::Identity,
            Op::GuardBound => Reason::Unbound,
            Op::GuardTrue(reason) => *reason,
            Op::CheckValid => Reason::Invalidated,
            Op::CheckPending | Op::CheckQuiet => Reason::Observed,
            Op::NameGet(_) | Op::NameGetRaw(..) => Reason::Name,
            Op::UnboxInt => Reason::IntTooLarge,
            Op::IntAdd | Op::IntSub | Op::IntMul | Op::IntNeg => Reason::Overflow,
            Op::IntFloorDiv | Op::IntMod | Op::IntTrueDiv | Op::IntShr | Op::IntToDoubleExact => {
                Reason::Domain
            }
            Op::IntShl => Reason::Overflow,
            Op::FloatDiv | Op::FloatFloorDiv | Op::FloatMod | Op::FloatPow => Reason::Domain,
            Op::FloatSqrt | Op::FloatToInt => Reason::Domain,
            Op::Index => Reason::Bounds,
            Op::Check(_) | Op::Load(_) | Op::Store(_) | Op::ListAppend => Reason::Shape,
            _ => return None,
        })
    }

    /// Whether the interpreter may raise where the op exits: then the op must stay even if nobody uses its result.
    /// (An overflow, or an int with many digits, is only more than the op can do.)
    pub fn exit_may_raise(&self) -> bool {
        match self {
            Op::IntToDoubleExact => false,
            Op::IntShl => true,
            op => matches!(
                op.exit_reason(),
                Some(Reason::Bounds | Reason::Domain | Reason::Shape | Reason::Unbound)
            ),
        }
    }

    /// Whether the op calls helpers that may raise (an exit of the raising kind).
    pub fn raises(&self) -> bool {
        match self {
            Op::General(op, _) => op.info().raises,
            Op::CallDirect(_) | Op::CallRaw(..) | Op::CheckPending | Op::NameSet(_) => true,
            _ => false,
        }
    }

    /// Effects on memory; a `Decref`'s depend on its operand's type (see [`super::Function::may_run_host_code`]).
    pub fn effects(&self) -> Effects {
        match self {
            Op::General(op, _) => Effects {
                raises: op.info().raises,
                runs_host_code: !op.info().quiet,
                ..Effects::ANY
            },
            Op::CallDirect(_)
            | Op::CallRaw(..)
            | Op::CheckPending
            | Op::CheckValid
            | Op::Decref => Effects::ANY,
            Op::StoreSlot(_) | Op::Incref => Effects {
                writes: true,
                ..Effects::NONE
            },
            Op::ListSet
            | Op::ListAppend
            | Op::CellSet
            | Op::RangeNext
            | Op::ListIterNext
            | Op::TupleIterNext => Effects::WRITES,
            Op::Store(_) | Op::NameSet(_) => Effects::WRITES,
            Op::LoadSlot(_)
            | Op::CheckQuiet
            | Op::IterMore
            | Op::NameGet(_)
            | Op::NameGetRaw(..)
            | Op::ListLen
            | Op::ListGet
            | Op::CellGet
            | Op::Check(_)
            | Op::CheckClasses(_)
            | Op::IsClass(_)
            | Op::Load(_) => Effects::READS,
            _ => Effects::NONE,
        }
    }

    /// Whether equal operands give an equal result wherever it is computed: such ops may be numbered and hoisted.
    pub fn is_pure(&self) -> bool {
        let e = self.effects();
        !e.reads
            && !e.writes
            && !e.runs_host_code
            && !matches!(
                self,
                Op::Param
                    | Op::Arg(_)
                    | Op::Output(_)
                    | Op::BoxInt
                    | Op::BoxFloat
                    | Op::BoxBool
                    | Op::BoxIntIf
                    | Op::BoxFloatIf
                    | Op::CheckValid
            )
    }

    /// Whether the op is there for its exit alone, or for that too.
    fn must_stay(&self) -> bool {
        matches!(
            self,
            Op::Check(_)
                | Op::CheckClasses(_)
                | Op::CheckValid
                | Op::CheckQuiet
                | Op::NameGet(_)
                | Op::NameGetRaw(..)
        )
    }

    /// Whether the op must stay even if nobody uses its result (and it cannot exit).
    pub fn has_side_effect(&self) -> bool {
        let e = self.effects();
        e.writes || e.runs_host_code || self.must_stay()
    }

    /// Whether the result is a reference that somebody must drop or take over.
    pub fn gives_owned(&self) -> bool {
        match self {
            Op::General(op, _) => op.info().gives == Gives::Object,
            Op::CallDirect(_)
            | Op::BoxInt
            | Op::BoxFloat
            | Op::BoxBool
            | Op::BoxIntIf
            | Op::BoxFloatIf => true,
            Op::ListSet | Op::CellSet | Op::Store(_) | Op::NameSet(_) => true,
            _ => false,
        }
    }

    /// The name in the text form.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Param => "param",
            Op::Arg(_) => "arg",
            Op::LoadSlot(_) => "load_slot",
            Op::Const(_) => "const",
            Op::ConstInt(_) => "const_int",
            Op::ConstDouble(_) => "const_double",
            Op::ConstBool(_) => "const_bool",
            Op::Null => "null",
            Op::StoreSlot(_) => "store_slot",
            Op::Incref => "incref",
            Op::Decref => "decref",
            Op::GuardType(_) => "guard_type",
            Op::CheckClasses(_) => "check_classes",
            Op::IsClass(_) => "is_class",
            Op::GuardIs(_) => "guard_is",
            Op::GuardBound => "guard_bound",
            Op::GuardTrue(_) => "guard_true",
            Op::Refine(_) => "refine",
            Op::CheckValid => "check_valid",
            Op::CheckPending => "check_pending",
            Op::CheckQuiet => "check_quiet",
            Op::NameGet(_) => "name_get",
            Op::NameGetRaw(..) => "name_get_raw",
            Op::NameSet(_) => "name_set",
            Op::BoxInt => "box_int",
            Op::BoxFloat => "box_float",
            Op::BoxBool => "box_bool",
            Op::BoxIntIf => "box_int_if",
            Op::BoxFloatIf => "box_float_if",
            Op::UnboxInt => "unbox_int",
            Op::UnboxFloat => "unbox_float",
            Op::UnboxBool => "unbox_bool",
            Op::IntAdd => "int_add",
            Op::IntSub => "int_sub",
            Op::IntMul => "int_mul",
            Op::IntFloorDiv => "int_floordiv",
            Op::IntMod => "int_mod",
            Op::IntTrueDiv => "int_truediv",
            Op::IntAnd => "int_and",
            Op::IntOr => "int_or",
            Op::IntXor => "int_xor",
            Op::IntShl => "int_shl",
            Op::IntShr => "int_shr",
            Op::IntNeg => "int_neg",
            Op::IntInvert => "int_invert",
            Op::IntCmp(_) => "int_cmp",
            Op::IntToDouble => "int_to_double",
            Op::IntToDoubleExact => "int_to_double_exact",
            Op::BoolToInt => "bool_to_int",
            Op::FloatAdd => "float_add",
            Op::FloatSub => "float_sub",
            Op::FloatMul => "float_mul",
            Op::FloatDiv => "float_div",
            Op::FloatFloorDiv => "float_floordiv",
            Op::FloatMod => "float_mod",
            Op::FloatPow => "float_pow",
            Op::FloatNeg => "float_neg",
            Op::FloatAbs => "float_abs",
            Op::FloatSqrt => "float_sqrt",
            Op::FloatToInt => "float_to_int",
            Op::FloatCmp(_) => "float_cmp",
            Op::BoolNot => "bool_not",
            Op::Is => "is",
            Op::IsNull => "is_null",
            Op::IsNone => "is_none",
            Op::ListLen => "list_len",
            Op::TupleLen => "tuple_len",
            Op::Index => "index",
            Op::ListGet => "list_get",
            Op::ListSet => "list_set",
            Op::TupleGet => "tuple_get",
            Op::ListAppend => "list_append",
            Op::CellGet => "cell_get",
            Op::CellSet => "cell_set",
            Op::RangeNext => "range_next",
            Op::IterMore => "iter_more",
            Op::ListIterNext => "list_iter_next",
            Op::TupleIterNext => "tuple_iter_next",
            Op::Output(_) => "output",
            Op::Check(_) => "check",
            Op::Load(_) => "load",
            Op::Store(_) => "store",
            Op::General(op, _) => op.info().name,
            Op::CallDirect(_) => "call_direct",
            Op::CallRaw(..) => "call_raw",
        }
    }
}
