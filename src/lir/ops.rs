//! The LIR op table: one row per op, from which printing, parsing, verification and effects follow.

use crate::facts::Effects;
use crate::ll::Ty::{self, *};

/// The effects of an op, or of a helper that it calls, besides its results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OpEffects {
    /// Reads memory.
    pub reads: bool,
    /// Writes memory.
    pub writes: bool,
    /// May make an exception pending.
    pub raises: bool,
    /// May allocate objects.
    pub allocates: bool,
    /// May deallocate objects.
    pub releases: bool,
    /// May run user code, and so have any effect.
    pub runs_host_code: bool,
}

impl OpEffects {
    /// None: the op may be moved, merged or dropped.
    pub const PURE: OpEffects = OpEffects {
        reads: false,
        writes: false,
        raises: false,
        allocates: false,
        releases: false,
        runs_host_code: false,
    };
    /// Reads memory.
    pub const READS: OpEffects = OpEffects {
        reads: true,
        ..OpEffects::PURE
    };
    /// Writes memory.
    pub const WRITES: OpEffects = OpEffects {
        writes: true,
        ..OpEffects::PURE
    };
    /// All effects. Those of a call depend on its helper: see
    /// [`Func::effects`](super::Func::effects).
    pub const ANY: OpEffects = OpEffects {
        reads: true,
        writes: true,
        raises: true,
        allocates: true,
        releases: true,
        runs_host_code: true,
    };

    /// The effects of a helper: one that has any effect may allocate and release too.
    pub fn of_helper(effects: Effects) -> OpEffects {
        let any = effects != Effects::NONE;
        OpEffects {
            reads: effects.reads,
            writes: effects.writes,
            raises: effects.raises,
            allocates: any,
            releases: any,
            runs_host_code: effects.runs_host_code,
        }
    }

    /// Returns true if there is none.
    pub fn is_pure(self) -> bool {
        self == OpEffects::PURE
    }
}

/// The condition that an op's operands must satisfy. If it is violated, machine code's result is
/// undefined or it crashes, and the interpreter traps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Condition {
    /// None: the op is defined for all operands.
    Total,
    /// The second is not 0, nor -1 with the smallest first.
    Division,
    /// The second is below 64.
    Shift,
    /// The first is an address that may be read or written.
    Address,
    /// The callee accepts the arguments at this time.
    Callee,
}

impl Condition {
    /// The condition in words, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Condition::Total => "",
            Condition::Division => "divisor neither 0 nor, with the smallest dividend, -1",
            Condition::Shift => "count below 64",
            Condition::Address => "valid address",
            Condition::Callee => "valid callee and arguments",
        }
    }
}

/// The kind of immediate of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImmKind {
    /// None.
    None,
    /// An integer (`iconst 5`, `bconst 1`, `stack_addr 0`).
    Int,
    /// A double, kept as its bits.
    Float,
    /// An address with a name.
    Addr,
    /// An integer condition.
    IntCond,
    /// A float condition.
    FloatCond,
    /// A memory access: width and offset.
    Mem,
    /// A helper of the host.
    Helper,
    /// A signature.
    Sig,
    /// A routine.
    Routine,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The name in the text form.
    pub name: &'static str,
    /// Operand types. `None` if they depend on the immediate (loads, stores, calls) or several
    /// types are allowed.
    pub args: Option<&'static [Ty]>,
    /// Result types. `None` if they depend on the immediate or the operands.
    pub results: Option<&'static [Ty]>,
    /// The immediate.
    pub imm: ImmKind,
    /// Its effects besides its results.
    pub effects: OpEffects,
    /// The condition on its operands.
    pub condition: Condition,
}

macro_rules! lir_ops {
    ($($(#[$doc:meta])* $op:ident $name:literal $args:expr, $results:expr, $imm:ident, $effects:ident, $condition:ident;)*) => {
        /// A LIR op.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum Opcode { $($(#[$doc])* $op),* }

        impl Opcode {
            /// All ops, in table order.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$op),*];

            /// The op's row.
            pub fn info(self) -> &'static OpInfo {
                const TABLE: &[OpInfo] = &[$(OpInfo {
                    name: $name, args: $args, results: $results, imm: ImmKind::$imm, effects: OpEffects::$effects,
                    condition: Condition::$condition,
                }),*];
                &TABLE[self as usize]
            }
        }
    };
}

lir_ops! {
    /// An integer constant.
    Iconst "iconst" Some(&[]), Some(&[I64]), Int, PURE, Total;
    /// A truth value, 0 or 1.
    Bconst "bconst" Some(&[]), Some(&[Bool]), Int, PURE, Total;
    /// A double.
    Fconst "fconst" Some(&[]), Some(&[F64]), Float, PURE, Total;
    /// An address, with a name for the text form.
    Pconst "pconst" Some(&[]), Some(&[Ptr]), Addr, PURE, Total;

    /// Wrapping sum.
    Iadd "iadd" Some(&[I64, I64]), Some(&[I64]), None, PURE, Total;
    /// Wrapping difference.
    Isub "isub" Some(&[I64, I64]), Some(&[I64]), None, PURE, Total;
    /// Wrapping product.
    Imul "imul" Some(&[I64, I64]), Some(&[I64]), None, PURE, Total;
    /// The upper 64 bits of the product of unsigned integers.
    Umulhi "umulhi" Some(&[I64, I64]), Some(&[I64]), None, PURE, Total;
    /// Quotient rounded towards zero. The divisor is neither 0 nor, with the smallest dividend, -1.
    Sdiv "sdiv" Some(&[I64, I64]), Some(&[I64]), None, PURE, Division;
    /// Remainder with the dividend's sign; same condition as `sdiv`.
    Srem "srem" Some(&[I64, I64]), Some(&[I64]), None, PURE, Division;
    /// Bitwise and.
    Iand "iand" Some(&[I64, I64]), Some(&[I64]), None, PURE, Total;
    /// Bitwise or.
    Ior "ior" Some(&[I64, I64]), Some(&[I64]), None, PURE, Total;
    /// Bitwise exclusive or.
    Ixor "ixor" Some(&[I64, I64]), Some(&[I64]), None, PURE, Total;
    /// Shift left; the count is below 64.
    Ishl "ishl" Some(&[I64, I64]), Some(&[I64]), None, PURE, Shift;
    /// Arithmetic shift right; the count is below 64.
    Isshr "isshr" Some(&[I64, I64]), Some(&[I64]), None, PURE, Shift;
    /// Logical shift right; the count is below 64.
    Iushr "iushr" Some(&[I64, I64]), Some(&[I64]), None, PURE, Shift;
    /// Wrapping negation.
    Ineg "ineg" Some(&[I64]), Some(&[I64]), None, PURE, Total;
    /// Bitwise not.
    Inot "inot" Some(&[I64]), Some(&[I64]), None, PURE, Total;
    /// Sum, and true if it overflowed.
    IaddOvf "iadd_ovf" Some(&[I64, I64]), Some(&[I64, Bool]), None, PURE, Total;
    /// Difference, and true if it overflowed.
    IsubOvf "isub_ovf" Some(&[I64, I64]), Some(&[I64, Bool]), None, PURE, Total;
    /// Product, and true if it overflowed.
    ImulOvf "imul_ovf" Some(&[I64, I64]), Some(&[I64, Bool]), None, PURE, Total;
    /// Comparison of two integers, or of two addresses (`eq`, `ne` and the unsigned ones).
    Icmp "icmp" Option::None, Some(&[Bool]), IntCond, PURE, Total;

    /// Sum.
    Fadd "fadd" Some(&[F64, F64]), Some(&[F64]), None, PURE, Total;
    /// Difference.
    Fsub "fsub" Some(&[F64, F64]), Some(&[F64]), None, PURE, Total;
    /// Product.
    Fmul "fmul" Some(&[F64, F64]), Some(&[F64]), None, PURE, Total;
    /// Quotient.
    Fdiv "fdiv" Some(&[F64, F64]), Some(&[F64]), None, PURE, Total;
    /// Negation.
    Fneg "fneg" Some(&[F64]), Some(&[F64]), None, PURE, Total;
    /// Absolute value.
    Fabs "fabs" Some(&[F64]), Some(&[F64]), None, PURE, Total;
    /// Square root.
    Fsqrt "fsqrt" Some(&[F64]), Some(&[F64]), None, PURE, Total;
    /// Round towards minus infinity.
    Ffloor "ffloor" Some(&[F64]), Some(&[F64]), None, PURE, Total;
    /// Round towards zero.
    Ftrunc "ftrunc" Some(&[F64]), Some(&[F64]), None, PURE, Total;
    /// IEEE comparison: all but `ne` are false for nan.
    Fcmp "fcmp" Some(&[F64, F64]), Some(&[Bool]), FloatCond, PURE, Total;
    /// Nearest double of an integer.
    I2f "i2f" Some(&[I64]), Some(&[F64]), None, PURE, Total;
    /// Integer part of a double, saturating; nan gives 0.
    F2i "f2i" Some(&[F64]), Some(&[I64]), None, PURE, Total;
    /// The bits of a double.
    F2bits "f2bits" Some(&[F64]), Some(&[I64]), None, PURE, Total;
    /// The double with these bits.
    Bits2f "bits2f" Some(&[I64]), Some(&[F64]), None, PURE, Total;

    /// Not.
    Bnot "bnot" Some(&[Bool]), Some(&[Bool]), None, PURE, Total;
    /// And of truth values.
    Band "band" Some(&[Bool, Bool]), Some(&[Bool]), None, PURE, Total;
    /// Or of truth values.
    Bor "bor" Some(&[Bool, Bool]), Some(&[Bool]), None, PURE, Total;
    /// Exclusive or of truth values.
    Bxor "bxor" Some(&[Bool, Bool]), Some(&[Bool]), None, PURE, Total;
    /// 0 or 1.
    B2i "b2i" Some(&[Bool]), Some(&[I64]), None, PURE, Total;
    /// Second operand if the first is true, otherwise the third; both of one type.
    Select "select" Option::None, Option::None, None, PURE, Total;
    /// Its operand, as a value with a live range of its own.
    Copy "copy" Option::None, Option::None, None, PURE, Total;

    /// Address plus bytes.
    Padd "padd" Some(&[Ptr, I64]), Some(&[Ptr]), None, PURE, Total;
    /// An address as an integer.
    P2i "p2i" Some(&[Ptr]), Some(&[I64]), None, PURE, Total;
    /// An integer as an address.
    I2p "i2p" Some(&[I64]), Some(&[Ptr]), None, PURE, Total;
    /// The machine's stack pointer.
    Sp "sp" Some(&[]), Some(&[I64]), None, READS, Total;
    /// Address of a stack slot of the function (the immediate is its number).
    StackAddr "stack_addr" Some(&[]), Some(&[Ptr]), Int, PURE, Total;

    /// Load from address plus offset.
    Load "load" Some(&[Ptr]), Option::None, Mem, READS, Address;
    /// Store: address, value.
    Store "store" Option::None, Some(&[]), Mem, WRITES, Address;
    /// Call of a helper of the host.
    Call "call" Option::None, Option::None, Helper, ANY, Callee;
    /// Call through an address: address, arguments.
    CallIndirect "call_indirect" Option::None, Option::None, Sig, ANY, Callee;
    /// Call of a routine.
    CallRoutine "call_routine" Option::None, Option::None, Routine, ANY, Callee;
}

impl Opcode {
    /// Returns true if the text form includes the type of its result, because it follows neither
    /// from the table nor from an immediate.
    pub fn names_type(self) -> bool {
        matches!(self, Opcode::Select | Opcode::Copy)
    }

    /// Returns true for calls of any kind.
    pub fn is_call(self) -> bool {
        matches!(
            self,
            Opcode::Call | Opcode::CallIndirect | Opcode::CallRoutine
        )
    }
}

macro_rules! conds {
    ($(#[$doc:meta])* $ty:ident { $($op:ident $name:literal),* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $ty { $(#[doc = $name] $op),* }
        impl $ty {
            /// All conditions.
            pub const ALL: &'static [$ty] = &[$($ty::$op),*];
            /// The name in the text form.
            pub fn name(self) -> &'static str { match self { $($ty::$op => $name),* } }
        }
    };
}

conds!(
    /// A comparison of integers or addresses.
    IntCond { Eq "eq", Ne "ne", Slt "slt", Sle "sle", Sgt "sgt", Sge "sge", Ult "ult", Ule "ule", Ugt "ugt", Uge "uge" }
);
conds!(
    /// A comparison of doubles.
    FloatCond { Eq "eq", Ne "ne", Lt "lt", Le "le", Gt "gt", Ge "ge" }
);
