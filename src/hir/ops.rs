//! The HIR op table: one row an op.
//!
//! A row is
//!
//! ```text
//! Op(immediates) = "name" (operands) -> form reference type,
//!     exit, user code, unused, again, [reads], [writes];
//! ```
//!
//! [`Row`] defines each column. Printing, parsing, the verifier, types, the passes over memory and
//! references, and lowering read the row; a row without one of the columns does not build. The
//! computation of an op is in `lower::dispatch`, which names every op.

use super::build::is_builtin_exact;
use super::immediates::{self, Reader, Words};
use super::rows::{Again, Exit, Form, GENERAL, Memory, Reference, Rest, Row, Unused, cells};
use crate::bytecode::{GeneralOp, Reason};
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

    /// Returns true if it holds for two ints.
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

macro_rules! exit {
    (never) => {
        Exit::Never
    };
    (given) => {
        Exit::Given
    };
    (exits($reason:ident)) => {
        Exit::On(Reason::$reason)
    };
    (fails($reason:ident)) => {
        Exit::Failing(Reason::$reason)
    };
}

macro_rules! rest {
    () => {
        Rest::None
    };
    (.. $operand:ident) => {
        Rest::Many(cells::operand::$operand)
    };
    (? $operand:ident) => {
        Rest::One(cells::operand::$operand)
    };
}

macro_rules! hir_ops {
    ($(
        $(#[$doc:meta])*
        $op:ident $(($($field:ident: $payload:ty as $kind:ident),*))? = $name:literal
            ($($operand:ident)* $(; $dots:tt $rest:ident)?) -> $form:ident $reference:ident $rule:ident,
            $exit:ident $(($reason:ident))?, $code:ident, $unused:ident, $again:ident,
            [$($reads:ident)*], [$($writes:ident)*];
    )*) => {
        /// An op of the HIR. General ops work on objects; primitive ops on the lattice's C types;
        /// `Box*` and `Unbox*` join the two. Operands are in the instruction, immediates here.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub enum Op {
            $($(#[$doc])* $op $(($($payload),*))?,)*
            /// A general operation.
            General(GeneralOp, [i64; 2]),
        }

        /// The places of the rows in the table. An op has the name of its operation, such as
        /// `Index`.
        #[allow(clippy::enum_variant_names)]
        enum Index { $($op),* }

        impl Op {
            /// The rows of all ops but the general ones, whose table is that of [`GeneralOp`].
            pub const ROWS: &'static [Row] = &[$(Row {
                name: $name,
                operands: &[$(cells::operand::$operand),*],
                rest: rest!($($dots $rest)?),
                form: cells::form::$form,
                reference: cells::reference::$reference,
                rule: cells::rule::$rule,
                exit: exit!($exit $(($reason))?),
                code: cells::code::$code,
                unused: cells::unused::$unused,
                again: cells::again::$again,
                reads: Memory::NOTHING$(.and(Memory::$reads))*,
                writes: Memory::NOTHING$(.and(Memory::$writes))*,
            }),*];

            /// The names of all ops but the general ones.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// The op's row of the table.
            #[inline] // The match is the identity on the discriminant.
            pub fn row(&self) -> &'static Row {
                static ROWS: &[Row] = Op::ROWS;
                let index = match self {
                    $(Op::$op { .. } => Index::$op,)*
                    Op::General(op, _) => return &GENERAL[*op as usize],
                };
                &ROWS[index as usize]
            }

            /// Writes the immediates, each with a space before it.
            pub(super) fn print_immediates(&self, words: &Words<'_>, out: &mut String) {
                match self {
                    $(Op::$op $(($($field),*))? => { $($(immediates::$kind::print($field, words, out);)*)? })*
                    Op::General(op, imms) => immediates::print_numbers(&imms[..op.info().imms as usize], out),
                }
            }

            /// Reads the immediates of the op with this name, which follow on the line. Returns
            /// nothing if there is no such op.
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
    Param = "param" () -> value borrowed ANY,
        never, quiet, goes, anew, [], [];
    /// An argument of the function unit, already in its slot.
    Arg(slot: u32 as Number) = "arg" () -> value borrowed ANY,
        never, quiet, goes, anew, [], [];
    /// The content of a local's slot (or, after the locals, of a stack entry) when the unit is
    /// entered, or after an op that fills slots. The slot owns the reference.
    LoadSlot(slot: u32 as Number) = "load_slot" () -> value borrowed OPTIONAL,
        never, quiet, goes, anew, [SLOTS], [];
    /// The number of the code's resume point at which the frame that the unit was entered with
    /// continues: a C integer.
    ResumePoint = "resume_point" () -> value none INT,
        never, quiet, goes, anew, [], [];
    /// The value that the suspended frame was resumed with, owned.
    Sent = "sent" () -> value owned OBJECT,
        never, quiet, goes, anew, [], [];
    /// Suspends the frame as its state describes it, and passes the operand to the code that
    /// resumed it. The state's instruction is the one at which the frame continues; the frame owns
    /// the references of the state's stack from here. The immediate is true if the operand comes
    /// from another generator, which is the top of the stack (`yield from`). No instruction
    /// follows.
    Yield(delegates: bool as Truth) = "yield" (TAKEN) -> value none NOTHING,
        never, runs, stays, anew, [ALL], [ALL];
    /// In the body of a generator that is inlined into the loop that consumes it: passes an item to
    /// the loop, whose body is what runs here. The state's instruction is the one at which the
    /// generator continues, and its locals and stack are those of the suspended generator.
    YieldItem = "yield_item" (TAKEN) -> value none NOTHING,
        never, runs, stays, anew, [ALL], [ALL];
    /// An object.
    Const(object: ObjectHandle as Object) = "const" () -> value borrowed OBJECT,
        never, quiet, goes, same, [], [];
    /// A C integer.
    ConstInt(value: i64 as Integer) = "const_int" () -> value none INT,
        never, quiet, goes, same, [], [];
    /// A C double, by its bits.
    ConstDouble(bits: u64 as Double) = "const_double" () -> value none DOUBLE,
        never, quiet, goes, same, [], [];
    /// A C truth value.
    ConstBool(value: bool as Truth) = "const_bool" () -> value none TRUTH,
        never, quiet, goes, same, [], [];
    /// No object.
    Null = "null" () -> value none NULL,
        never, quiet, goes, same, [], [];

    /// The local's slot takes the operand's reference. The frame has the reference before and
    /// after, so the row does not take it over.
    StoreSlot(slot: u32 as Number) = "store_slot" (ANY) -> value none NOTHING,
        never, quiet, stays, anew, [], [SLOTS];
    /// Takes a reference.
    Incref = "incref" (ANY) -> value none NOTHING,
        never, quiet, stays, anew, [], [COUNTS];
    /// Drops a reference. If that was the last one, the object's destructor runs.
    /// [`super::Function::may_run_host_code`] lists the operands of which the destructor runs no
    /// user code.
    Decref = "decref" (ANY_TAKEN) -> value none NOTHING,
        never, runs, stays, anew, [ALL], [ALL];

    /// Exits unless the operand has the type; returns the operand.
    GuardType(ty: Type as Single) = "guard_type" (ANY) -> checked borrowed NARROWED,
        exits(Type), quiet, stays, same, [CLASSES], [];
    /// Exits unless the operand is the object; returns the operand.
    GuardIs(object: ObjectHandle as Object) = "guard_is" (OPTIONAL) -> checked borrowed OBJECT,
        exits(Identity), quiet, stays, same, [], [];
    /// Exits if the operand is null; returns the operand.
    GuardBound = "guard_bound" (OPTIONAL) -> checked borrowed BOUND,
        fails(Unbound), quiet, stays, same, [], [];
    /// Exits unless the C truth value holds.
    GuardTrue(reason: Reason as Why) = "guard_true" (TRUTH) -> value none TRUTH,
        given, quiet, stays, same, [], [];
    /// Exits unless the operand's class is exactly one of these.
    CheckClasses(types: Vec<Type> as Several) = "check_classes" (OPTIONAL) -> value none NOTHING,
        exits(Type), quiet, stays, same, [CLASSES], [];
    /// Tests that the operand's class is exactly one of these.
    IsClass(types: Vec<Type> as Several) = "is_class" (OPTIONAL) -> value none TRUTH,
        never, quiet, goes, same, [CLASSES], [];
    /// The operand, known to have the type by the bytecode's rules or a dominating branch.
    Refine(ty: Type as Single) = "refine" (ANY) -> checked borrowed NARROWED,
        never, quiet, goes, same, [], [];
    /// The operand, where another owner has a reference to it as well: the drop of another
    /// reference does not deallocate it.
    Held = "held" (OPTIONAL) -> same borrowed OPERAND,
        never, quiet, goes, anew, [], [];
    /// The operand, a function. An earlier check has shown that it has this code object, and the
    /// globals of the unit's function.
    Kin(code: ObjectHandle as Object) = "kin" (OBJECT) -> same borrowed OPERAND,
        never, quiet, goes, anew, [], [];
    /// A cell of a function's closure, borrowed from the function, which never replaces it.
    ClosureCell(call: IntrinsicCall as Intrinsic) = "closure_cell" (OBJECT) -> value borrowed OBJECT,
        never, quiet, goes, same, [], [];
    /// Exits if the unit was invalidated, its frame became visible to introspection, or tracing was
    /// switched on.
    CheckValid = "check_valid" () -> value none NOTHING,
        exits(Invalidated), runs, stays, anew, [ALL], [ALL];
    /// Exits if the [`Decref`](Op::Decref) right before this has deallocated an object whose
    /// destructor may run user code.
    CheckUnseen = "check_unseen" () -> value none NOTHING,
        exits(Ended), quiet, stays, anew, [STATE], [];
    /// Does pending work (such as a signal's handler); exits if the unit must give way.
    CheckPending = "check_pending" () -> value none NOTHING,
        exits(Observed), runs_and_raises, stays, anew, [ALL], [ALL];
    /// Exits if work is pending or tracing was switched on.
    CheckQuiet = "check_quiet" () -> value none NOTHING,
        exits(Observed), quiet, stays, anew, [STATE], [];
    /// Tests that no work is pending and the unit need not give way: the first half of a
    /// [`CheckPending`](Op::CheckPending).
    Quiet = "quiet" () -> value none TRUTH,
        never, quiet, goes, anew, [STATE], [];
    /// Does the work that is pending; exits if the unit must give way.
    DoPending = "do_pending" () -> value none NOTHING,
        exits(Observed), runs_and_raises, stays, anew, [ALL], [ALL];

    /// Adds one to a word of the host's statistics, which no op reads.
    Count(word: u64 as Address) = "count" () -> value none NOTHING,
        never, quiet, stays, anew, [], [];

    /// The host's check of the thread that the unit runs on, where an inlined call begins; exits
    /// where it fails.
    CheckThread(call: IntrinsicCall as Intrinsic) = "check_thread" () -> value none NOTHING,
        fails(Shape), quiet, stays, same, [THREAD], [];

    /// The value of a name of the namespace, borrowed from it; exits if there is none.
    NameGet(name: u32 as Name) = "name_get" () -> value borrowed OBJECT,
        exits(Name), quiet, stays, same, [NAMES], [];
    /// The C value of the number (of the exact class) that a name of the namespace has; exits if it
    /// has any other value.
    NameGetRaw(name: u32 as Name, ty: Type as Single) = "name_get_raw" () -> value none RAW,
        exits(Name), quiet, stays, same, [NAMES], [];
    /// Stores into the namespace: takes over the object, returns the value that the name had,
    /// owned, or null.
    NameSet(name: u32 as Name) = "name_set" (TAKEN) -> value owned OPTIONAL,
        never, raises, stays, anew, [NAMES], [NAMES];

    /// The int object of a C integer.
    BoxInt = "box_int" (INT) -> boxed owned LONG,
        never, quiet, goes, anew, [], [];
    /// The float object of a C double.
    BoxFloat = "box_float" (DOUBLE) -> boxed owned FLOAT,
        never, quiet, goes, anew, [], [];
    /// The bool object of a C truth value.
    BoxBool = "box_bool" (TRUTH) -> boxed owned BOOL,
        never, quiet, goes, anew, [], [];
    /// The int object of a C integer if the second operand holds, else no object (an unbound
    /// local).
    BoxIntIf = "box_int_if" (INT TRUTH) -> boxed owned LONG_IF,
        never, quiet, goes, anew, [], [];
    /// The float object of a C double if the second operand holds, else no object.
    BoxFloatIf = "box_float_if" (DOUBLE TRUTH) -> boxed owned FLOAT_IF,
        never, quiet, goes, anew, [], [];
    /// A tuple of the operands that only an exit materialises: only frame states, slots of locals
    /// and other virtual objects name it. It owns references to its items. The code that lets the
    /// tuple go drops them, the last one first, as a host's tuple does.
    VirtualTuple = "virtual_tuple" (; .. OPTIONAL) -> virtual_object none OBJECT,
        never, quiet, goes, anew, [], [];
    /// A dict of named arguments, the operands alternating names and values, that only an exit
    /// materialises: only frame states and other virtual objects name it. The names are immortal
    /// constants. The code that lets the dict go drops the values, the first one first.
    VirtualDict = "virtual_dict" (; .. OPTIONAL) -> virtual_object none OBJECT,
        never, quiet, goes, anew, [], [];
    /// An instance of a user class (the host's token of it), from one assignment of an attribute to
    /// the next: the place of each attribute, and the operand that it has, in the order in which
    /// they were first assigned. Only an exit materialises it: only frame states, slots of locals
    /// and other virtual objects name it. It owns references to its attributes' values. The code
    /// that lets the instance go drops them, in the order of the places.
    VirtualInstance(class: u64 as Address, places: Vec<u32> as Places) = "virtual_instance"
        (; .. OPTIONAL) -> virtual_object none OBJECT,
        never, quiet, goes, anew, [], [];
    /// The virtual object that is the second operand if the first one, a C truth value, holds; else
    /// the third one, a constant or null, of which it owns no reference. The owner of the second
    /// one's items has them in both cases. The same places name it as a virtual tuple.
    VirtualIf = "virtual_if" (TRUTH OBJECT OPTIONAL) -> virtual_either none OPTIONAL,
        never, quiet, goes, anew, [], [];
    /// A cell that only an exit materialises, from one assignment to the next. It owns a reference
    /// to its content, the operand; without one it is empty. The same places name it as a virtual
    /// instance.
    VirtualCell = "virtual_cell" (; ? OPTIONAL) -> virtual_object none OBJECT,
        never, quiet, goes, anew, [], [];
    /// The constant function bound to the operand, of which it owns a reference. Only an exit
    /// materialises it. The code object keeps the function alive.
    VirtualMethod(function: ObjectHandle as Object) = "virtual_method" (OPTIONAL) -> virtual_object none OBJECT,
        never, quiet, goes, anew, [], [];
    /// A suspended generator that continues at an instruction of its code, which is a number in
    /// [`super::Function::inlined`]. The operands are the content of its locals (null for those
    /// without a value), the function if the table only has its code, and the content of its stack;
    /// it owns their references. Only an exit materialises it,
    /// and only stacks of frame states name it.
    VirtualGenerator(code: u32 as Number, at: u32 as Number) = "virtual_generator" (; .. OPTIONAL)
        -> virtual_object none OBJECT,
        never, quiet, goes, anew, [], [];
    /// `itertools.chain(list, generator)`: the items that a builtin such as `max` has taken so
    /// far, then the remaining ones. It owns a reference to each operand. Only an exit
    /// materialises it, and only stacks of frame states name it.
    VirtualChain = "virtual_chain" (OBJECT OBJECT) -> virtual_object none OBJECT,
        never, quiet, goes, anew, [], [];
    /// An iterator of a range of C integers: the next value, the end, and the step. Only an exit
    /// materialises it, and only stacks of frame states name it.
    VirtualRangeIter = "virtual_range_iter" (INT INT INT) -> virtual_iterator none OBJECT,
        never, quiet, goes, anew, [], [];
    /// An iterator of a list or tuple (the first operand, of which it owns a reference) that
    /// continues with the item at an offset. Only an exit materialises it, and only stacks of frame
    /// states name it.
    VirtualSeqIter = "virtual_seq_iter" (OBJECT INT) -> virtual_iterator none OBJECT,
        never, quiet, goes, anew, [], [];
    /// The operand, as a local that has no reference of its own: its slot is empty, and an exit
    /// puts a new reference there. Only locals of frame states name it. Another owner keeps the
    /// object alive while they do.
    Borrowed = "borrowed" (OPTIONAL) -> same borrowed OPTIONAL,
        never, quiet, goes, anew, [], [];
    /// Drops a reference that is not the object's last one; exits if it is.
    DropShared = "drop_shared" (OPTIONAL_TAKEN) -> value none NOTHING,
        fails(Shape), quiet, stays, anew, [COUNTS], [COUNTS];
    /// The value of an exact int; exits if it is further from 0 than the host unboxes.
    UnboxInt = "unbox_int" (LONG) -> value none INT,
        exits(IntTooLarge), quiet, goes, same, [], [];
    /// The value of an exact float.
    UnboxFloat = "unbox_float" (FLOAT) -> value none DOUBLE,
        never, quiet, goes, same, [], [];
    /// The double that an exact float is, or an exact int up to 2^53; exits for any other object.
    /// With a second operand it exits for an int too, unless that one is a float (`x + x` of an int
    /// is no float).
    UnboxNumber = "unbox_number" (OBJECT; ? OBJECT) -> value none DOUBLE,
        fails(Domain), quiet, stays, same, [], [];
    /// The value of a bool.
    UnboxBool = "unbox_bool" (BOOL) -> value none TRUTH,
        never, quiet, goes, same, [], [];

    /// `a + b`; exits on overflow.
    IntAdd = "int_add" (INT INT) -> value none INT,
        exits(Overflow), quiet, goes, same, [], [];
    /// `a + b`, known not to overflow (or not to be used if it does).
    IntStep = "int_step" (INT INT) -> value none INT,
        never, quiet, goes, same, [], [];
    /// `a - b`; exits on overflow.
    IntSub = "int_sub" (INT INT) -> value none INT,
        exits(Overflow), quiet, goes, same, [], [];
    /// `a * b`; exits on overflow.
    IntMul = "int_mul" (INT INT) -> value none INT,
        exits(Overflow), quiet, goes, same, [], [];
    /// `a // b`; exits if b is zero, or on overflow.
    IntFloorDiv = "int_floordiv" (INT INT) -> value none INT,
        fails(Domain), quiet, stays, same, [], [];
    /// `a % b`; exits if b is zero, or on overflow.
    IntMod = "int_mod" (INT INT) -> value none INT,
        fails(Domain), quiet, stays, same, [], [];
    /// `a / b` as a double; exits if b is zero or an operand is beyond 2^53.
    IntTrueDiv = "int_truediv" (INT INT) -> value none DOUBLE,
        fails(Domain), quiet, stays, same, [], [];
    /// `a & b`
    IntAnd = "int_and" (INT INT) -> value none INT,
        never, quiet, goes, same, [], [];
    /// `a | b`
    IntOr = "int_or" (INT INT) -> value none INT,
        never, quiet, goes, same, [], [];
    /// `a ^ b`
    IntXor = "int_xor" (INT INT) -> value none INT,
        never, quiet, goes, same, [], [];
    /// `a << b`; exits on a negative or large count, or on overflow.
    IntShl = "int_shl" (INT INT) -> value none INT,
        fails(Overflow), quiet, stays, same, [], [];
    /// `a >> b`; exits on a negative count.
    IntShr = "int_shr" (INT INT) -> value none INT,
        fails(Domain), quiet, stays, same, [], [];
    /// `-a`; exits on overflow.
    IntNeg = "int_neg" (INT) -> value none INT,
        exits(Overflow), quiet, goes, same, [], [];
    /// `~a`
    IntInvert = "int_invert" (INT) -> value none INT,
        never, quiet, goes, same, [], [];
    /// Comparison.
    IntCmp(cmp: Cmp as Comparison) = "int_cmp" (INT INT) -> value none TRUTH,
        never, quiet, goes, same, [], [];
    /// The nearest double.
    IntToDouble = "int_to_double" (INT) -> value none DOUBLE,
        never, quiet, goes, same, [], [];
    /// The double that is the integer; exits beyond 2^53.
    IntToDoubleExact = "int_to_double_exact" (INT) -> value none DOUBLE,
        exits(Domain), quiet, goes, same, [], [];
    /// 0 or 1.
    BoolToInt = "bool_to_int" (TRUTH) -> value none INT,
        never, quiet, goes, same, [], [];

    /// `a + b`
    FloatAdd = "float_add" (DOUBLE DOUBLE) -> value none DOUBLE,
        never, quiet, goes, same, [], [];
    /// `a - b`
    FloatSub = "float_sub" (DOUBLE DOUBLE) -> value none DOUBLE,
        never, quiet, goes, same, [], [];
    /// `a * b`
    FloatMul = "float_mul" (DOUBLE DOUBLE) -> value none DOUBLE,
        never, quiet, goes, same, [], [];
    /// `a / b`; exits if b is zero.
    FloatDiv = "float_div" (DOUBLE DOUBLE) -> value none DOUBLE,
        fails(Domain), quiet, stays, same, [], [];
    /// `a // b`; exits if b is zero.
    FloatFloorDiv = "float_floordiv" (DOUBLE DOUBLE) -> value none DOUBLE,
        fails(Domain), quiet, stays, same, [], [];
    /// `a % b`; exits if b is zero.
    FloatMod = "float_mod" (DOUBLE DOUBLE) -> value none DOUBLE,
        fails(Domain), quiet, stays, same, [], [];
    /// `a ** b`; exits unless a > 0, or a is 0 and b known to be above 0, and the result is finite.
    FloatPow = "float_pow" (DOUBLE DOUBLE) -> value none DOUBLE,
        fails(Domain), quiet, stays, same, [], [];
    /// `-a`
    FloatNeg = "float_neg" (DOUBLE) -> value none DOUBLE,
        never, quiet, goes, same, [], [];
    /// `abs(a)`
    FloatAbs = "float_abs" (DOUBLE) -> value none DOUBLE,
        never, quiet, goes, same, [], [];
    /// Square root; exits if a is negative or nan.
    FloatSqrt = "float_sqrt" (DOUBLE) -> value none DOUBLE,
        fails(Domain), quiet, stays, same, [], [];
    /// The integer part; exits unless it fits 63 bits.
    FloatToInt = "float_to_int" (DOUBLE) -> value none INT,
        fails(Domain), quiet, stays, same, [], [];
    /// IEEE comparison.
    FloatCmp(cmp: Cmp as Comparison) = "float_cmp" (DOUBLE DOUBLE) -> value none TRUTH,
        never, quiet, goes, same, [], [];

    /// The second operand where the first one, a C truth value, holds; else the third. Both are C
    /// integers, or C doubles.
    Select = "select" (TRUTH RAW RAW) -> value none RAW,
        never, quiet, goes, same, [], [];
    /// Both of two C truth values hold.
    BoolAnd = "bool_and" (TRUTH TRUTH) -> value none TRUTH,
        never, quiet, goes, same, [], [];
    /// `not a`
    BoolNot = "bool_not" (TRUTH) -> value none TRUTH,
        never, quiet, goes, same, [], [];
    /// Tests that two objects are the same one.
    Is = "is" (OPTIONAL OPTIONAL) -> value none TRUTH,
        never, quiet, goes, same, [], [];
    /// The class of an object, borrowed from it.
    ClassOf = "class_of" (OBJECT) -> value borrowed OBJECT,
        never, quiet, goes, same, [CLASSES], [];
    /// Tests that there is no object.
    IsNull = "is_null" (OPTIONAL) -> value none TRUTH,
        never, quiet, goes, same, [], [];
    /// Tests that the object is the host's None.
    IsNone = "is_none" (OPTIONAL) -> value none TRUTH,
        never, quiet, goes, same, [], [];

    /// Length of a list.
    ListLen = "list_len" (LIST) -> value none INT,
        never, quiet, goes, same, [LENGTHS], [];
    /// Length of a tuple.
    TupleLen = "tuple_len" (TUPLE) -> value none INT,
        never, quiet, goes, same, [], [];
    /// The number of characters of an exact string.
    StrLen = "str_len" (STRING) -> value none INT,
        never, quiet, goes, same, [], [];
    /// Tests that two exact strings have the same characters.
    StrEq = "str_eq" (STRING STRING) -> value none TRUTH,
        never, quiet, goes, same, [], [];
    /// The string of an exact string's character at an offset in range, which is immortal; exits if
    /// the host has no immortal string of that character.
    StrAt = "str_at" (STRING INT) -> value borrowed STRING,
        fails(Domain), quiet, stays, same, [], [];
    /// A Python index as an offset: operands index and length; exits if out of range.
    Index = "index" (INT INT) -> value none INT,
        fails(Bounds), quiet, stays, same, [], [];
    /// Item of a list at an offset in range, borrowed.
    ListGet = "list_get" (LIST INT) -> value borrowed OBJECT,
        never, quiet, goes, same, [ITEMS], [];
    /// Replaces an item (list, offset, object): takes over the object, returns the old item, owned.
    ListSet = "list_set" (LIST INT TAKEN) -> value owned OBJECT,
        never, quiet, stays, anew, [ITEMS], [ITEMS];
    /// The address of a list's items, as a C integer. It changes with the list's length.
    ListItems = "list_items" (LIST) -> value none INT,
        never, quiet, goes, same, [LENGTHS], [];
    /// Item at an offset in range from such an address, borrowed from the list.
    ItemGet = "item_get" (INT INT) -> value borrowed OBJECT,
        never, quiet, goes, same, [ITEMS], [];
    /// Replaces an item (address, offset, object): takes over the object, returns the old item,
    /// owned.
    ItemSet = "item_set" (INT INT TAKEN) -> value owned OBJECT,
        never, quiet, stays, anew, [ITEMS], [ITEMS];
    /// A new list of a list's items between two offsets, which are indices of a slice with this
    /// step; owned. Exits where there is no memory.
    ListSlice(step: i64 as Integer) = "list_slice" (LIST INT INT) -> value owned LIST,
        fails(Shape), quiet, stays, anew, [ITEMS LENGTHS], [];
    /// Replaces a slice of a list by items of a list: the list, the indices of the slice of it that
    /// is replaced, the other list (which may be the same one), and the indices of the slice of
    /// that, which has this step. Exits without effect where there is no memory, and where the
    /// destructor of a replaced item may run user code.
    ListCopySlice(step: i64 as Integer) = "list_copy_slice" (LIST INT INT LIST INT INT) -> value none NOTHING,
        fails(Shape), quiet, stays, anew, [ITEMS LENGTHS], [ITEMS LENGTHS];
    /// The number of an object's raw items ([`RawItems`](crate::facts::RawItems)).
    RawLen(call: IntrinsicCall as Intrinsic) = "raw_len" (OBJECT) -> value none INT,
        never, quiet, goes, same, [LENGTHS], [];
    /// The raw item of an object at an offset in range.
    RawGet(call: IntrinsicCall as Intrinsic) = "raw_get" (OBJECT INT) -> value none RAW,
        never, quiet, goes, same, [RAW_ITEMS], [];
    /// Replaces a raw item (object, offset in range, raw value); exits if the value does not fit.
    RawSet(call: IntrinsicCall as Intrinsic) = "raw_set" (OBJECT INT RAW) -> value none NOTHING,
        fails(Domain), quiet, stays, anew, [RAW_ITEMS], [RAW_ITEMS];
    /// Overwrites the value of a number object that has one owner; returns whether it did. No
    /// instruction that follows names the object.
    Reuse = "reuse" (OBJECT RAW) -> value none TRUTH,
        never, quiet, stays, anew, [COUNTS], [COUNTS ITEMS ATTRIBUTES];
    /// Item of a tuple at an offset in range, borrowed.
    TupleGet = "tuple_get" (TUPLE INT) -> value borrowed OBJECT,
        never, quiet, goes, same, [], [];
    /// Appends to a list (list, object): takes over the object; exits where there is no memory.
    ListAppend = "list_append" (LIST TAKEN) -> value none NOTHING,
        fails(Shape), quiet, stays, anew, [ITEMS LENGTHS], [ITEMS LENGTHS];
    /// A new cell for the local of this slot, owned. Its content is the operand, which it takes
    /// over, or null. Exits where there is no memory.
    NewCell(slot: u32 as Number) = "new_cell" (OPTIONAL_TAKEN) -> value owned OBJECT,
        fails(Shape), quiet, stays, anew, [], [];
    /// A function, or a method of a class of the host's, bound to the second operand, which it
    /// takes over: a new object, owned. Exits where there is no memory.
    BindMethod = "bind_method" (OBJECT TAKEN) -> value owned OBJECT,
        fails(Shape), quiet, stays, anew, [], [];
    /// The content of a cell, borrowed, or null.
    CellGet = "cell_get" (OBJECT) -> value borrowed OPTIONAL,
        never, quiet, goes, same, [CELLS], [];
    /// Replaces the content of a cell: takes over the object, returns the old content, owned, or
    /// null.
    CellSet = "cell_set" (OBJECT OPTIONAL_TAKEN) -> value owned OPTIONAL,
        never, quiet, stays, anew, [CELLS], [CELLS];
    /// The start (0), the end (1) or the step (2) of a range; exits if it is no integer that
    /// [`UnboxInt`](Op::UnboxInt) takes.
    RangeField(field: i64 as Integer) = "range_field" (RANGE) -> value none INT,
        exits(IntTooLarge), quiet, goes, same, [], [];
    /// Advances a range iterator and returns whether it had a next value, which is output 0, a C
    /// integer.
    RangeNext = "range_next" (OBJECT) -> value none TRUTH,
        never, quiet, stays, anew, [ITERATORS], [ITERATORS];
    /// The next value of a range iterator, if it has one left.
    RangeStart = "range_start" (OBJECT) -> value none INT,
        never, quiet, goes, same, [ITERATORS], [];
    /// The difference of a range iterator's values.
    RangeStep = "range_step" (OBJECT) -> value none INT,
        never, quiet, goes, same, [ITERATORS], [];
    /// The number of values that a range iterator has left.
    RangeLeft = "range_left" (OBJECT) -> value none INT,
        never, quiet, goes, same, [ITERATORS], [];
    /// The range iterator (the first operand), where a loop keeps its state in registers: the
    /// second operand is the next value, the third the number of values left, or, if the step is
    /// one (`to_end`), the end. An exit writes the state back to the iterator; no other instruction
    /// may read it.
    RangeAt(to_end: bool as Truth) = "range_at" (OBJECT INT INT) -> same borrowed OBJECT,
        never, quiet, goes, anew, [], [];
    /// Tests that a list's or tuple's iterator has another item.
    IterMore = "iter_more" (OBJECT) -> value none TRUTH,
        never, quiet, goes, same, [ITERATORS LENGTHS], [];
    /// Advances a list iterator that has a next item, which it returns, borrowed.
    ListIterNext = "list_iter_next" (OBJECT) -> value borrowed OBJECT,
        never, quiet, stays, anew, [ITERATORS ITEMS], [ITERATORS];
    /// Advances a tuple iterator that has a next item, which it returns, borrowed.
    TupleIterNext = "tuple_iter_next" (OBJECT) -> value borrowed OBJECT,
        never, quiet, stays, anew, [ITERATORS], [ITERATORS];
    /// Counts in an iterator that numbers items, such as `enumerate`; returns the number of before.
    IterIndex(call: IntrinsicCall as Intrinsic) = "iter_index" (OBJECT) -> value none INT,
        never, quiet, stays, anew, [ITERATORS], [ITERATORS];
    /// The same iterator of a list or a tuple, which has no next item, without its list: its own
    /// end, after which a drop of it runs no user code. Exits if nothing else has the list.
    IterEnd = "iter_end" (OBJECT) -> same borrowed OBJECT,
        fails(Shape), quiet, stays, anew, [ITERATORS COUNTS], [ITERATORS COUNTS];
    /// Output of the operand's operation. An object is owned: the operation has left a reference
    /// for it.
    Output(index: u32 as Number) = "output" (ANY) -> value borrowed ANY,
        never, quiet, goes, anew, [], [];
    /// The host's check of an object; exits where it fails.
    Check(call: IntrinsicCall as Intrinsic) = "check" (OBJECT) -> value none NOTHING,
        fails(Shape), quiet, stays, same, [ATTRIBUTES], [];
    /// The host's load from an object, borrowed; exits where there is nothing to load.
    Load(call: IntrinsicCall as Intrinsic) = "load" (OBJECT) -> value borrowed OBJECT,
        fails(Shape), quiet, stays, same, [ATTRIBUTES], [];
    /// The value of a name in a namespace of the program, borrowed; exits if there is none.
    GlobalGet(call: IntrinsicCall as Intrinsic) = "global_get" () -> value borrowed OBJECT,
        exits(Name), quiet, stays, same, [NAMES], [];
    /// A new instance of a user class, by the type of the objects that are exactly of that class;
    /// owned. Exits where there is no memory. The result's own type does not contain the class,
    /// since user code with a reference to the instance may assign it.
    New(ty: Type as Single, call: IntrinsicCall as Intrinsic) = "new" () -> value owned OBJECT,
        fails(Shape), quiet, stays, anew, [], [];
    /// The host's store into an object (object, value): takes over the value, returns the old one,
    /// owned, or null. [`World::field_access`](crate::host::World::field_access) returns the place
    /// that it writes; a store of which it returns none may be into a namespace.
    Store(call: IntrinsicCall as Intrinsic) = "store" (OBJECT TAKEN) -> value owned OPTIONAL,
        fails(Shape), quiet, stays, anew, [ATTRIBUTES], [ATTRIBUTES NAMES];
    /// The same behind a check that the drop of the old value runs no user code.
    StoreQuiet(call: IntrinsicCall as Intrinsic) = "store_quiet" (OBJECT TAKEN) -> value owned OPTIONAL,
        fails(Shape), quiet, stays, anew, [ATTRIBUTES], [ATTRIBUTES NAMES];

    /// The host's first store into a part of a new object (object, value): takes over the value.
    InitField(call: IntrinsicCall as Intrinsic) = "init_field" (OBJECT TAKEN) -> value none NOTHING,
        never, quiet, stays, anew, [ATTRIBUTES], [ATTRIBUTES];

    /// A number that the host computes from an object without user code.
    NumberOf(call: IntrinsicCall as Intrinsic) = "number_of" (OBJECT) -> value none RAW,
        never, quiet, goes, same, [ATTRIBUTES], [];
    /// A raw value that the host computes from raw values and immutable objects
    /// ([`Computed`](crate::facts::Computed)); exits where it must make the call instead.
    Compute(call: IntrinsicCall as Intrinsic) = "compute" (; .. ANY) -> value none RAW,
        fails(Domain), quiet, stays, same, [], [];
    /// The same of objects that the program may change.
    Examine(call: IntrinsicCall as Intrinsic) = "examine" (; .. ANY) -> value none RAW,
        fails(Domain), quiet, stays, same, [ALL], [];
    /// A new object that the host computes in the same way.
    ComputeObject(call: IntrinsicCall as Intrinsic) = "compute_object" (; .. ANY) -> value owned OBJECT,
        fails(Domain), quiet, stays, anew, [ALL], [];
    /// Call of a known function of the host's: takes over the operands, which it drops, the first
    /// one first, when it is done, also if it raises.
    CallNative(call: IntrinsicCall as Intrinsic) = "call_native" (; .. OPTIONAL_TAKEN) -> value owned OBJECT,
        never, runs_and_raises, stays, anew, [ALL], [ALL];
    /// The same call, which drops the operands from the last to the first. The number has a bit for
    /// each operand that is lent: a local keeps it alive, and the call drops no reference to it.
    CallNativeLent(call: IntrinsicCall as Intrinsic, lent: u32 as Number) = "call_native_lent" (; .. OPTIONAL_TAKEN) -> value owned OBJECT,
        never, runs_and_raises, stays, anew, [ALL], [ALL];
    /// Call of a known function through the cell that has its entry: operands are the function and
    /// the arguments, whose references the call takes over.
    CallDirect(cell: u64 as Address) = "call_direct" (OBJECT; .. OPTIONAL_TAKEN) -> value owned OBJECT,
        never, runs_and_raises, stays, anew, [ALL], [ALL];
    /// The same call of a function that computes an attribute, such as `__getattr__`. The first
    /// number is the place of the object among the function's arguments, the second that of the
    /// attribute's name in the code's names: they complete an AttributeError that the function
    /// raises.
    CallGetter(cell: u64 as Address, receiver: u32 as Number, name: u32 as Number) = "call_getter" (OBJECT; .. OPTIONAL_TAKEN) -> value owned OBJECT,
        never, runs_and_raises, stays, anew, [ALL], [ALL];
    /// Call of an iterator's `__next__` through the cell of its entry: operands are the function
    /// and the iterator, whose reference the call takes over. Null if the function raises
    /// StopIteration, which is cleared.
    CallNext(cell: u64 as Address) = "call_next" (OBJECT OPTIONAL_TAKEN) -> value owned OPTIONAL,
        never, runs_and_raises, stays, anew, [ALL], [ALL];
    /// Call of a known function through its raw entry: operands are the function and the raw
    /// arguments. The number is that of the stack entries that the call consumes in the
    /// interpreter, which the frame state still has. The call checks whether the unit is still
    /// valid if it had to run host code, and exits if not.
    CallRaw(entry: RawEntry as Raw, consumed: u32 as Number) = "call_raw" (OBJECT; .. RAW) -> value none RAW,
        never, runs_and_raises, stays, anew, [ALL], [ALL];
}

/// The properties of an op that follow from its row and its immediates.
impl Op {
    /// The name in the text form.
    pub fn name(&self) -> &'static str {
        self.row().name
    }

    /// Returns true if the op can have so many operands.
    pub fn takes(&self, count: usize) -> bool {
        self.row().takes(count)
    }

    /// Returns true if the op returns its operand, and has checked a fact of it.
    pub fn says_what_is_checked(&self) -> bool {
        self.row().form == Form::Checked
    }

    /// Returns true if the op returns its first operand, of which more is known from there.
    pub fn gives_operand(&self) -> bool {
        matches!(self.row().form, Form::Checked | Form::Same)
    }

    /// Returns true if the op returns the object of a raw value, which lowering allocates only
    /// where an instruction needs it.
    pub fn is_box(&self) -> bool {
        self.row().form == Form::Box
    }

    /// Returns true if the op returns an object that only an exit materialises.
    pub fn is_virtual(&self) -> bool {
        matches!(
            self.row().form,
            Form::VirtualObject | Form::VirtualEither | Form::VirtualIterator
        )
    }

    /// Returns true if the op returns an object that only an exit materialises, and that slots of
    /// locals and other such objects may name.
    pub fn is_virtual_aggregate(&self) -> bool {
        matches!(self.row().form, Form::VirtualObject | Form::VirtualEither)
    }

    /// The same, but only if it is certain which object it is: not a [`VirtualIf`](Op::VirtualIf).
    pub fn is_made_by_exits(&self) -> bool {
        self.row().form == Form::VirtualObject
    }

    /// The op that boxes a raw value.
    pub fn boxing(kind: RawKind) -> Op {
        match kind {
            RawKind::Int => Op::BoxInt,
            RawKind::Float => Op::BoxFloat,
            RawKind::Bool => Op::BoxBool,
        }
    }

    /// The op that unboxes an object.
    pub fn unboxing(kind: RawKind) -> Op {
        match kind {
            RawKind::Int => Op::UnboxInt,
            RawKind::Float => Op::UnboxFloat,
            RawKind::Bool => Op::UnboxBool,
        }
    }

    /// The reason for which the op may exit, if it may (a guard that resumes at its instruction).
    pub fn exit_reason(&self) -> Option<Reason> {
        match (self.row().exit, self) {
            (Exit::Never, _) => None,
            (Exit::On(reason) | Exit::Failing(reason), _) => Some(reason),
            (Exit::Given, Op::GuardTrue(reason)) => Some(*reason),
            (Exit::Given, _) => unreachable!("`{}` has no reason", self.name()),
        }
    }

    /// Returns true if the interpreter may raise where the op exits. (An overflow, or an int with
    /// many digits, is only more than the op can do.)
    pub fn exit_may_raise(&self) -> bool {
        match self.row().exit {
            Exit::Never | Exit::On(_) => false,
            Exit::Failing(_) => true,
            Exit::Given => matches!(
                self.exit_reason(),
                Some(Reason::Bounds | Reason::Domain | Reason::Shape | Reason::Unbound)
            ),
        }
    }

    /// Returns true if the op calls helpers that may raise (an exit of the raising kind).
    pub fn raises(&self) -> bool {
        self.row().raises()
    }

    /// Effects on memory; a `Decref`'s depend on its operand's type (see
    /// [`super::Function::may_run_host_code`]).
    pub fn effects(&self) -> Effects {
        let row = self.row();
        Effects {
            reads: !self.reads().is_nothing(),
            writes: !row.writes.is_nothing(),
            runs_host_code: row.runs_host_code(),
            raises: row.raises(),
            releases: row.runs_host_code(),
        }
    }

    /// The memory that the result, or the exit, depends on. That does not include the class of an
    /// object of a builtin class: user code cannot assign it.
    pub fn reads(&self) -> Memory {
        let reads = self.row().reads;
        match self {
            Op::GuardType(ty) if is_builtin_exact(*ty) => reads.without(Memory::CLASSES),
            _ => reads,
        }
    }

    /// Returns true if equal operands give an equal result wherever it is computed: such ops may be
    /// numbered and hoisted.
    pub fn is_pure(&self) -> bool {
        let row = self.row();
        row.again == Again::Same && !row.raises() && self.reads().is_nothing()
    }

    /// Returns true if the op must stay even if its result is not used.
    pub fn must_stay(&self) -> bool {
        self.row().unused == Unused::Stays
    }

    /// Returns true if the result is a reference that must be dropped or taken over.
    pub fn gives_owned(&self) -> bool {
        self.row().reference == Reference::Owned
    }

    /// The operands, of `count`, whose references the op takes over; the others keep their owners.
    pub fn takes_over(&self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let row = self.row();
        let lent = match self {
            Op::CallNativeLent(_, lent) => u64::from(*lent),
            Op::General(GeneralOp::CallLent, [lent, _]) => {
                (*lent as u64) << GeneralOp::CallLent.info().operands
            }
            _ => 0,
        };
        let is_lent = move |index: usize| lent.checked_shr(index as u32).unwrap_or(0) & 1 != 0;
        (0..count).filter(move |index| row.operand(*index).is_taken && !is_lent(*index))
    }
}
