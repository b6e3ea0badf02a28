//! The HIR op table: what each op is called, what it does, and the type it gives.

use super::immediates::{self, Reader, Words};
use crate::bytecode::{GeneralOp, Gives, Reason};
use crate::facts::Effects;
use crate::facts::{IntrinsicCall, RawEntry, RawKind};
use crate::types::{ObjectHandle, Parsed, Type};

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

    /// Whether it holds for two ints.
    pub fn of(self, x: i64, y: i64) -> bool {
        match self {
            Cmp::Lt => x < y,
            Cmp::Le => x <= y,
            Cmp::Eq => x == y,
            Cmp::Ne => x != y,
            Cmp::Gt => x > y,
            Cmp::Ge => x >= y,
        }
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

macro_rules! hir_ops {
    ($($(#[$doc:meta])* $op:ident $(($($field:ident: $payload:ty as $kind:ident),*))? = $name:literal, $operands:expr;)*) => {
        /// An op of the HIR. General ops work on objects; primitive ops on the lattice's C types; `Box*` and `Unbox*` join
        /// the two. Operands are in the instruction, immediates here.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub enum Op {
            $($(#[$doc])* $op $(($($payload),*))?,)*
            /// A general operation.
            General(GeneralOp, [i64; 2]),
        }

        impl Op {
            /// The names of all ops but the general ones, whose table is that of [`GeneralOp`].
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// The name in the text form.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Op::$op { .. } => $name,)*
                    Op::General(op, _) => op.info().name,
                }
            }

            /// Whether the op can have so many operands.
            pub fn takes(&self, count: usize) -> bool {
                let exact: Option<usize> = match self {
                    $(Op::$op { .. } => $operands,)*
                    Op::General(op, _) => {
                        let info = op.info();
                        let least = info.operands as usize;
                        return if info.variadic { count >= least } else { count == least };
                    }
                };
                exact.is_none_or(|exact| exact == count)
            }

            /// Write the immediates, each with a space before it.
            pub(super) fn print_immediates(&self, words: &Words<'_>, out: &mut String) {
                match self {
                    $(Op::$op $(($($field),*))? => { $($(immediates::$kind::print($field, words, out);)*)? })*
                    Op::General(op, imms) => immediates::print_numbers(&imms[..op.info().imms as usize], out),
                }
            }

            /// The op of this name, with the immediates that follow on the line; none if there is no such op.
            pub(super) fn read(name: &str, reader: &mut Reader<'_, '_>) -> Parsed<Option<Op>> {
                Ok(Some(match name {
                    $($name => Op::$op $(($(<immediates::$kind>::read(reader)?),*))?,)*
                    _ => {
                        let Some(op) = GeneralOp::ALL.iter().find(|op| op.info().name == name) else {
                            return Ok(None);
                        };
                        Op::General(*op, immediates::read_numbers(op.info().imms as usize, reader)?)
                    }
                }))
            }
        }
    };
}

hir_ops! {
    /// A parameter of a block.
    Param = "param", Some(0);
    /// An argument of the function unit, already in its slot.
    Arg(slot: u32 as Number) = "arg", Some(0);
    /// What a local slot (or, after the locals, a stack entry) holds when the unit is entered, or after an op that
    /// fills slots; borrowed from the slot.
    LoadSlot(slot: u32 as Number) = "load_slot", Some(0);
    /// At which of the code's resume points the frame goes on that the unit was entered with: its number, a C integer.
    ResumePoint = "resume_point", Some(0);
    /// What the suspended frame was resumed with, owned.
    Sent = "sent", Some(0);
    /// Suspend the frame as its state says (the instruction there is the one at which it goes on; the references of its
    /// stack are the frame's then), and give the operand, which is passed on, to who resumed it; whether it comes from
    /// another generator that the top of the stack is. Nothing comes after it.
    Yield(delegates: bool as Truth) = "yield", Some(1);
    /// An object.
    Const(object: ObjectHandle as Object) = "const", Some(0);
    /// A C integer.
    ConstInt(value: i64 as Integer) = "const_int", Some(0);
    /// A C double, by its bits.
    ConstDouble(bits: u64 as Double) = "const_double", Some(0);
    /// A C truth value.
    ConstBool(value: bool as Truth) = "const_bool", Some(0);
    /// No object.
    Null = "null", Some(0);

    /// The local's slot takes over the operand's reference.
    StoreSlot(slot: u32 as Number) = "store_slot", Some(1);
    /// Take a reference.
    Incref = "incref", Some(1);
    /// Drop a reference.
    Decref = "decref", Some(1);

    /// Exit unless the operand has the type; gives the operand.
    GuardType(ty: Type as Single) = "guard_type", Some(1);
    /// Exit unless the operand is the object; gives the operand.
    GuardIs(object: ObjectHandle as Object) = "guard_is", Some(1);
    /// Exit if the operand is null; gives the operand.
    GuardBound = "guard_bound", Some(1);
    /// Exit unless the C truth value holds.
    GuardTrue(reason: Reason as Why) = "guard_true", Some(1);
    /// Exit unless the operand's class is exactly one of these.
    CheckClasses(types: Vec<Type> as Several) = "check_classes", Some(1);
    /// Whether the operand's class is exactly one of these.
    IsClass(types: Vec<Type> as Several) = "is_class", Some(1);
    /// The operand, known (by the bytecode's rules or a dominating branch) to have the type.
    Refine(ty: Type as Single) = "refine", Some(1);
    /// The operand, where something else holds a reference to it as well: dropping another one ends nothing.
    Held = "held", Some(1);
    /// The operand, a function that a check before it has found to be of this code, in the namespace of the unit's own.
    Kin(code: ObjectHandle as Object) = "kin", Some(1);
    /// A cell of a function's closure, borrowed from the function, which has it for good.
    ClosureCell(call: IntrinsicCall as Intrinsic) = "closure_cell", Some(1);
    /// Exit if the unit was invalidated, its frame opened to others, or tracing switched on.
    CheckValid = "check_valid", Some(0);
    /// Exit if the [`Decref`](Op::Decref) right before this has ended an object whose end may run code of the program.
    CheckUnseen = "check_unseen", Some(0);
    /// Do pending work; exit if the unit must give way.
    CheckPending = "check_pending", Some(0);
    /// Exit if any work is pending or tracing was switched on.
    CheckQuiet = "check_quiet", Some(0);
    /// Whether no work is pending and the unit need not give way: where a [`CheckPending`](Op::CheckPending) was taken apart.
    Quiet = "quiet", Some(0);
    /// Do the work that is pending; exit if the unit must give way.
    DoPending = "do_pending", Some(0);

    /// Add one to a word of the host's, for its statistics.
    Count(word: u64 as Address) = "count", Some(0);

    /// A check of the thread that the unit runs on, which the host wants where an inlined call begins; exits where it fails.
    CheckThread(call: IntrinsicCall as Intrinsic) = "check_thread", Some(0);

    /// What a name of the namespace holds, borrowed from it; exits if it holds nothing.
    NameGet(name: u32 as Name) = "name_get", Some(0);
    /// The C value of the number (of the exact class) that a name of the namespace holds; exits if it holds anything else.
    NameGetRaw(name: u32 as Name, ty: Type as Single) = "name_get_raw", Some(0);
    /// Store into the namespace: takes over the object, gives what the name held, owned, or null.
    NameSet(name: u32 as Name) = "name_set", Some(1);

    /// The int object of a C integer.
    BoxInt = "box_int", Some(1);
    /// The float object of a C double.
    BoxFloat = "box_float", Some(1);
    /// The bool object of a C truth value.
    BoxBool = "box_bool", Some(1);
    /// The int object of a C integer if the second operand holds, else no object (an unbound local).
    BoxIntIf = "box_int_if", Some(2);
    /// The float object of a C double if the second operand holds, else no object.
    BoxFloatIf = "box_float_if", Some(2);
    /// A tuple of the operands that is never made unless an exit is taken: nothing but frame states, slots of locals and
    /// other such tuples may name it. It owns references to its items, which whoever lets it go drops, the last one first,
    /// as a host's tuple must.
    VirtualTuple = "virtual_tuple", None;
    /// An instance of a class of the program (the host's token of it), as it is from one assignment of an attribute to the next: of
    /// each attribute the place, and the operand that it holds, in the order in which they were first assigned. It is never made
    /// unless an exit is taken: nothing but frame states, slots of locals, virtual tuples and other such instances may name
    /// it. It owns references to its attributes' values, which whoever lets it go drops, in the order of the places.
    VirtualInstance(class: u64 as Address, places: Vec<u32> as Places) = "virtual_instance", None;
    /// The virtual tuple or instance that is the second operand where the first one, a C truth value, holds; else the third one, a
    /// constant or null, of which it owns no reference. What owns the second one's items has them either way. The same may name it.
    VirtualIf = "virtual_if", Some(3);
    /// A cell that is never made unless an exit is taken, as it is from one assignment to the next: the operand is in it, of which it owns
    /// a reference; without one it is empty. The same may name it as an instance.
    VirtualCell = "virtual_cell", None;
    /// The constant function bound to the operand, of which it owns a reference, likewise never made. The function is kept by the code.
    VirtualMethod(function: ObjectHandle as Object) = "virtual_method", Some(1);
    /// An iterator of a range, of C integers: the next value, where it ends, and the step. It is never made unless an exit is
    /// taken: nothing but the stacks of frame states may name it.
    VirtualRangeIter = "virtual_range_iter", Some(3);
    /// An iterator of a list or tuple (the first operand, of which it owns a reference), which goes on with the item at an offset.
    /// It is never made unless an exit is taken: nothing but the stacks of frame states may name it.
    VirtualSeqIter = "virtual_seq_iter", Some(2);
    /// The operand, as a local that has no reference of its own: its slot is empty, and an exit puts a new reference there.
    /// Nothing but the locals of frame states may name it. Something else holds the object while they do.
    Borrowed = "borrowed", Some(1);
    /// Drop a reference that is not the object's last one; exits if it is.
    DropShared = "drop_shared", Some(1);
    /// The value of an exact int; exits if it has more than two digits.
    UnboxInt = "unbox_int", Some(1);
    /// The value of an exact float.
    UnboxFloat = "unbox_float", Some(1);
    /// The double that an exact float is, or an exact int up to 2^53; exits for anything else, and for an int if there is a second
    /// operand and that is no float: the same object is none.
    UnboxNumber = "unbox_number", None;
    /// The value of a bool.
    UnboxBool = "unbox_bool", Some(1);

    /// `a + b`; exits on overflow.
    IntAdd = "int_add", Some(2);
    /// `a + b`, of which is known that it does not overflow (or is not used if it does).
    IntStep = "int_step", Some(2);
    /// `a - b`; exits on overflow.
    IntSub = "int_sub", Some(2);
    /// `a * b`; exits on overflow.
    IntMul = "int_mul", Some(2);
    /// `a // b`; exits if b is zero, or on overflow.
    IntFloorDiv = "int_floordiv", Some(2);
    /// `a % b`; exits if b is zero, or on overflow.
    IntMod = "int_mod", Some(2);
    /// `a / b` as a double; exits if b is zero or an operand is beyond 2^53.
    IntTrueDiv = "int_truediv", Some(2);
    /// `a & b`
    IntAnd = "int_and", Some(2);
    /// `a | b`
    IntOr = "int_or", Some(2);
    /// `a ^ b`
    IntXor = "int_xor", Some(2);
    /// `a << b`; exits on a negative or large count, or on overflow.
    IntShl = "int_shl", Some(2);
    /// `a >> b`; exits on a negative count.
    IntShr = "int_shr", Some(2);
    /// `-a`; exits on overflow.
    IntNeg = "int_neg", Some(1);
    /// `~a`
    IntInvert = "int_invert", Some(1);
    /// Comparison.
    IntCmp(cmp: Cmp as Comparison) = "int_cmp", Some(2);
    /// The nearest double.
    IntToDouble = "int_to_double", Some(1);
    /// The same double; exits beyond 2^53.
    IntToDoubleExact = "int_to_double_exact", Some(1);
    /// 0 or 1.
    BoolToInt = "bool_to_int", Some(1);

    /// `a + b`
    FloatAdd = "float_add", Some(2);
    /// `a - b`
    FloatSub = "float_sub", Some(2);
    /// `a * b`
    FloatMul = "float_mul", Some(2);
    /// `a / b`; exits if b is zero.
    FloatDiv = "float_div", Some(2);
    /// `a // b`; exits if b is zero.
    FloatFloorDiv = "float_floordiv", Some(2);
    /// `a % b`; exits if b is zero.
    FloatMod = "float_mod", Some(2);
    /// `a ** b`; exits unless a > 0, or a is 0 and b known to be above 0, and the result is finite.
    FloatPow = "float_pow", Some(2);
    /// `a ** b`, where a is known to be nan or not below zero; raises what the host's operation does where the result is no finite number.
    FloatPower = "float_power", Some(2);
    /// `-a`
    FloatNeg = "float_neg", Some(1);
    /// `abs(a)`
    FloatAbs = "float_abs", Some(1);
    /// Square root; exits if a is negative or nan.
    FloatSqrt = "float_sqrt", Some(1);
    /// Square root of what is known to be nan or not below zero.
    FloatRoot = "float_root", Some(1);
    /// The integer part; exits unless it fits 63 bits.
    FloatToInt = "float_to_int", Some(1);
    /// IEEE comparison.
    FloatCmp(cmp: Cmp as Comparison) = "float_cmp", Some(2);

    /// The second operand where the first one, a C truth value, holds; else the third. Both are C integers, or C doubles.
    Select = "select", Some(3);
    /// `not a`
    BoolNot = "bool_not", Some(1);
    /// Whether two objects are one.
    Is = "is", Some(2);
    /// The class of an object, borrowed from it.
    ClassOf = "class_of", Some(1);
    /// Whether there is no object.
    IsNull = "is_null", Some(1);
    /// Whether the object is the host's None.
    IsNone = "is_none", Some(1);

    /// Length of a list.
    ListLen = "list_len", Some(1);
    /// Length of a tuple.
    TupleLen = "tuple_len", Some(1);
    /// How many characters an exact string has.
    StrLen = "str_len", Some(1);
    /// Whether two exact strings have the same characters.
    StrEq = "str_eq", Some(2);
    /// The string of an exact string's character at an offset in range, which is immortal; exits if there is no such for that character.
    StrAt = "str_at", Some(2);
    /// A Python index made an offset: operands index and length; exits if out of range.
    Index = "index", Some(2);
    /// Item of a list at an offset in range, borrowed.
    ListGet = "list_get", Some(2);
    /// Replace an item (list, offset, object): takes over the object, gives the old item, owned.
    ListSet = "list_set", Some(3);
    /// Where the items of a list lie, until it is changed in length: an address, as a C integer.
    ListItems = "list_items", Some(1);
    /// Item at an offset in range from such an address, borrowed from the list.
    ItemGet = "item_get", Some(2);
    /// Replace an item (address, offset, object): takes over the object, gives the old item, owned.
    ItemSet = "item_set", Some(3);
    /// The items of a list from an offset to another, as indices of a slice with this step say that: a new list, owned. Exits where
    /// there is no memory.
    ListSlice(step: i64 as Integer) = "list_slice", Some(3);
    /// Put items of a list in place of a list's: the list, the indices of the slice of it that is replaced, the other list, which may be
    /// the same, and the indices of the slice of that, which has this step. Exits, and nothing has happened, where there is no
    /// memory, and where what is replaced ends in a way that the program may notice.
    ListCopySlice(step: i64 as Integer) = "list_copy_slice", Some(6);
    /// How many raw items an object has ([`RawItems`](crate::facts::RawItems)).
    RawLen(call: IntrinsicCall as Intrinsic) = "raw_len", Some(1);
    /// The raw item of an object at an offset in range.
    RawGet(call: IntrinsicCall as Intrinsic) = "raw_get", Some(2);
    /// Replace a raw item (object, offset in range, raw value); exits if the value does not fit.
    RawSet(call: IntrinsicCall as Intrinsic) = "raw_set", Some(3);
    /// Let a number that one place holds, and nobody else, have another, raw value: says whether it has. Nothing may name the object after.
    Reuse = "reuse", Some(2);
    /// Item of a tuple at an offset in range, borrowed.
    TupleGet = "tuple_get", Some(2);
    /// Append to a list (list, object): takes over the object.
    ListAppend = "list_append", Some(2);
    /// A new cell for the local of this slot, owned, with the operand in it, which it takes over, or null; exits where there is no memory.
    NewCell(slot: u32 as Number) = "new_cell", Some(1);
    /// A function, or a method of a class of the host's, bound to the second operand, which is taken over: a new object, owned; exits
    /// where there is no memory.
    BindMethod = "bind_method", Some(2);
    /// What a cell holds, borrowed, or null.
    CellGet = "cell_get", Some(1);
    /// Replace what a cell holds: takes over the object, gives the old content, owned, or null.
    CellSet = "cell_set", Some(2);
    /// The start (0), the end (1) or the step (2) of a range, if it is an integer that [`UnboxInt`](Op::UnboxInt) takes.
    RangeField(field: i64 as Integer) = "range_field", Some(1);
    /// Whether a range iterator had a next value; the value is output 0, a C integer.
    RangeNext = "range_next", Some(1);
    /// The value with which a range iterator goes on, if it has one left.
    RangeStart = "range_start", Some(1);
    /// By how much the values of a range iterator differ.
    RangeStep = "range_step", Some(1);
    /// How many values a range iterator has left.
    RangeLeft = "range_left", Some(1);
    /// The range iterator (the first operand), where loop work keeps its state in registers: it goes on with the second operand,
    /// and has so many values left as the third one says, or, if it counts by ones (`to_end`), all below that. It gives the
    /// iterator, which an exit makes true; nothing else may look at it.
    RangeAt(to_end: bool as Truth) = "range_at", Some(3);
    /// Whether a list's or tuple's iterator has another item.
    IterMore = "iter_more", Some(1);
    /// Next item of a list iterator that has one, borrowed.
    ListIterNext = "list_iter_next", Some(1);
    /// Next item of a tuple iterator that has one, borrowed.
    TupleIterNext = "tuple_iter_next", Some(1);
    /// Output of the operand's operation.
    Output(index: u32 as Number) = "output", Some(1);
    /// A check of the host's on an object; exits with `Reason::Shape`.
    Check(call: IntrinsicCall as Intrinsic) = "check", Some(1);
    /// A load of the host's from an object, borrowed; exits with `Reason::Shape`.
    Load(call: IntrinsicCall as Intrinsic) = "load", Some(1);
    /// What a namespace of the program has under a name, borrowed; exits with `Reason::Name` if that is nothing.
    GlobalGet(call: IntrinsicCall as Intrinsic) = "global_get", Some(0);
    /// A new instance of a class of the program, by the type of what is exactly of that class, owned; exits where there is no memory. The
    /// result's own type does not say which class: that may be assigned once somebody else has the instance.
    New(ty: Type as Single, call: IntrinsicCall as Intrinsic) = "new", Some(0);
    /// A store of the host's into an object (object, value): takes over the value, gives the old one or null.
    Store(call: IntrinsicCall as Intrinsic) = "store", Some(2);
    /// The same where a check stands before it, so that nobody notices when the old value is dropped.
    StoreQuiet(call: IntrinsicCall as Intrinsic) = "store_quiet", Some(2);

    /// A number that the host finds of an object without running any code of the program.
    NumberOf(call: IntrinsicCall as Intrinsic) = "number_of", Some(1);
    /// Call of a known function of the host's: takes over the operands, which are dropped, the first one first, when it is over,
    /// also if it raised.
    CallNative(call: IntrinsicCall as Intrinsic) = "call_native", None;
    /// Call of a known function through the cell with its entry: operands are the function and the arguments, whose
    /// references are taken over.
    CallDirect(cell: u64 as Address) = "call_direct", None;
    /// Call of a known function through its raw entry: operands are the function and the raw arguments. The number is
    /// that of the stack entries that the call consumes in the interpreter, which the frame state still has. It looks
    /// itself whether the unit is still valid if it had to run host code, and exits after the call if not.
    CallRaw(entry: RawEntry as Raw, consumed: u32 as Number) = "call_raw", None;
}

/// What `decref`ing or computing may do, and how an op leaves.
impl Op {
    /// Whether the op says of its operand what a check, its own or another, has found out.
    pub fn says_what_is_checked(&self) -> bool {
        matches!(
            self,
            Op::GuardType(_) | Op::GuardIs(_) | Op::GuardBound | Op::Refine(_)
        )
    }

    /// Whether the op gives its first operand itself, of which more is known afterwards.
    pub fn gives_operand(&self) -> bool {
        self.says_what_is_checked()
            || matches!(self, Op::RangeAt(_) | Op::Borrowed | Op::Held | Op::Kin(_))
    }

    /// Whether the op gives the object of a raw value, which is made only where something needs it.
    pub fn is_box(&self) -> bool {
        matches!(
            self,
            Op::BoxInt | Op::BoxFloat | Op::BoxBool | Op::BoxIntIf | Op::BoxFloatIf
        )
    }

    /// Whether the op gives an object that only an exit makes.
    pub fn is_virtual(&self) -> bool {
        matches!(
            self,
            Op::VirtualTuple
                | Op::VirtualInstance(..)
                | Op::VirtualCell
                | Op::VirtualMethod(_)
                | Op::VirtualIf
                | Op::VirtualRangeIter
                | Op::VirtualSeqIter
        )
    }

    /// Whether the op gives an object that only an exit makes, and that slots of locals and other such objects may name.
    pub fn is_virtual_aggregate(&self) -> bool {
        self.is_made_by_exits() || matches!(self, Op::VirtualIf)
    }

    /// The same where it is certain which object that is.
    pub fn is_made_by_exits(&self) -> bool {
        matches!(
            self,
            Op::VirtualTuple | Op::VirtualInstance(..) | Op::VirtualCell | Op::VirtualMethod(_)
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
            Op::CheckUnseen => Reason::Ended,
            Op::CheckPending | Op::DoPending | Op::CheckQuiet => Reason::Observed,
            Op::NameGet(_) | Op::NameGetRaw(..) | Op::GlobalGet(_) => Reason::Name,
            Op::UnboxInt | Op::RangeField(_) => Reason::IntTooLarge,
            Op::IntAdd | Op::IntSub | Op::IntMul | Op::IntNeg => Reason::Overflow,
            Op::IntFloorDiv | Op::IntMod | Op::IntTrueDiv | Op::IntShr | Op::IntToDoubleExact => {
                Reason::Domain
            }
            Op::IntShl => Reason::Overflow,
            Op::FloatDiv | Op::FloatFloorDiv | Op::FloatMod | Op::FloatPow => Reason::Domain,
            Op::FloatSqrt | Op::FloatToInt | Op::UnboxNumber | Op::RawSet(_) => Reason::Domain,
            Op::Index => Reason::Bounds,
            Op::StrAt => Reason::Domain,
            Op::Check(_)
            | Op::CheckThread(_)
            | Op::New(..)
            | Op::NewCell(_)
            | Op::BindMethod
            | Op::Load(_)
            | Op::Store(_)
            | Op::StoreQuiet(_)
            | Op::ListAppend
            | Op::ListSlice(_)
            | Op::ListCopySlice(_)
            | Op::DropShared => Reason::Shape,
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
            Op::CallDirect(_)
            | Op::CallNative(_)
            | Op::CallRaw(..)
            | Op::CheckPending
            | Op::DoPending
            | Op::FloatPower
            | Op::NameSet(_) => true,
            _ => false,
        }
    }

    /// Effects on memory; a `Decref`'s depend on its operand's type (see [`super::Function::may_run_host_code`]).
    #[inline] // Most who ask want one of them: a look at a bit set.
    pub fn effects(&self) -> Effects {
        match self {
            Op::General(op, _) => Effects {
                raises: op.info().raises,
                runs_host_code: !op.info().quiet,
                ..Effects::ANY
            },
            Op::CallDirect(_)
            | Op::CallNative(_)
            | Op::CallRaw(..)
            | Op::CheckPending
            | Op::DoPending
            | Op::CheckValid
            | Op::Yield(_)
            | Op::Decref => Effects::ANY,
            Op::FloatPower => Effects {
                raises: true,
                ..Effects::NONE
            },
            Op::StoreSlot(_) | Op::Incref | Op::DropShared => Effects {
                writes: true,
                ..Effects::NONE
            },
            Op::ListSet
            | Op::ItemSet
            | Op::Reuse
            | Op::ListAppend
            | Op::ListCopySlice(_)
            | Op::CellSet
            | Op::RangeNext
            | Op::ListIterNext
            | Op::TupleIterNext => Effects::WRITES,
            Op::Store(_) | Op::StoreQuiet(_) | Op::RawSet(_) | Op::NameSet(_) => Effects::WRITES,
            Op::LoadSlot(_)
            | Op::CheckUnseen
            | Op::CheckQuiet
            | Op::Quiet
            | Op::IterMore
            | Op::RangeStart
            | Op::RangeStep
            | Op::RangeLeft
            | Op::NameGet(_)
            | Op::NameGetRaw(..)
            | Op::ListLen
            | Op::ListGet
            | Op::ListItems
            | Op::ItemGet
            | Op::ListSlice(_)
            | Op::RawLen(_)
            | Op::RawGet(_)
            | Op::CellGet
            | Op::Check(_)
            | Op::CheckThread(_)
            | Op::CheckClasses(_)
            | Op::IsClass(_)
            | Op::ClassOf
            | Op::NumberOf(_)
            | Op::GlobalGet(_)
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
            && !e.raises
            && !self.is_box()
            && !self.is_virtual()
            && !matches!(
                self,
                Op::Param
                    | Op::Arg(_)
                    | Op::ResumePoint
                    | Op::Sent
                    | Op::Output(_)
                    | Op::Borrowed
                    | Op::Held
                    | Op::Kin(_)
                    | Op::RangeAt(_)
                    | Op::New(..)
                    | Op::NewCell(_)
                    | Op::BindMethod
                    | Op::CheckValid
                    | Op::Count(_)
            )
    }

    /// Whether the op is there for its exit, or for what no other op sees.
    fn must_stay(&self) -> bool {
        matches!(
            self,
            Op::Count(_)
                | Op::Check(_)
                | Op::CheckThread(_)
                | Op::New(..)
                | Op::NewCell(_)
                | Op::BindMethod
                | Op::CheckClasses(_)
                | Op::CheckValid
                | Op::CheckUnseen
                | Op::CheckQuiet
                | Op::FloatPower
                | Op::NameGet(_)
                | Op::NameGetRaw(..)
                | Op::GlobalGet(_)
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
            | Op::CallNative(_)
            | Op::New(..)
            | Op::NewCell(_)
            | Op::BindMethod
            | Op::ListSlice(_)
            | Op::Sent
            | Op::BoxInt
            | Op::BoxFloat
            | Op::BoxBool
            | Op::BoxIntIf
            | Op::BoxFloatIf => true,
            Op::ListSet
            | Op::ItemSet
            | Op::CellSet
            | Op::Store(_)
            | Op::StoreQuiet(_)
            | Op::NameSet(_) => true,
            _ => false,
        }
    }

    /// The operands, of `count`, whose references the op takes over; those of the others stay with who has them.
    pub fn takes_over(&self, count: usize) -> std::ops::Range<usize> {
        match self {
            Op::Decref | Op::DropShared | Op::NameSet(_) | Op::Yield(_) | Op::NewCell(_) => 0..1,
            Op::BindMethod | Op::CellSet | Op::ListAppend | Op::Store(_) | Op::StoreQuiet(_) => {
                1..2
            }
            Op::ListSet | Op::ItemSet => 2..3,
            Op::CallDirect(_) => 1..count,
            Op::CallNative(_) => 0..count,
            Op::General(op, _) if op.info().variadic => op.info().operands as usize..count,
            _ => 0..0,
        }
    }
}
