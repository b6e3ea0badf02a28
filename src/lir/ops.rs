//! The LIR op table: one row an op, from which printing, parsing, verification and effects follow.

use crate::ll::Ty::{self, *};

/// What an op does besides giving results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing: may be moved, merged or dropped.
    Pure,
    /// Reads memory.
    Reads,
    /// Writes memory.
    Writes,
    /// Calls out; its helper says more.
    Calls,
}

/// Which immediate an op carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImmKind {
    /// None.
    None,
    /// An integer (`iconst 5`, `bconst 1`, `stack_addr 0`).
    Int,
    /// A double, kept as its bits.
    Float,
    /// An address with the name of what is there.
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
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The name in the text form.
    pub name: &'static str,
    /// Operand types; `None` where the immediate decides (loads, stores, calls) or several types are allowed.
    pub args: Option<&'static [Ty]>,
    /// Result types; `None` where the immediate or the operands decide.
    pub results: Option<&'static [Ty]>,
    /// The immediate.
    pub imm: ImmKind,
    /// The effect.
    pub effect: Effect,
}

macro_rules! lir_ops {
    ($($(#[$doc:meta])* $op:ident $name:literal $args:expr, $results:expr, $imm:ident, $effect:ident;)*) => {
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
                    name: $name, args: $args, results: $results, imm: ImmKind::$imm, effect: Effect::$effect,
                }),*];
                &TABLE[self as usize]
            }
        }
    };
}

lir_ops! {
    /// An integer constant.
    Iconst "iconst" Some(&[]), Some(&[I64]), Int, Pure;
    /// A truth value, 0 or 1.
    Bconst "bconst" Some(&[]), Some(&[Bool]), Int, Pure;
    /// A double.
    Fconst "fconst" Some(&[]), Some(&[F64]), Float, Pure;
    /// An address, with a name for the text form.
    Pconst "pconst" Some(&[]), Some(&[Ptr]), Addr, Pure;

    /// Wrapping sum.
    Iadd "iadd" Some(&[I64, I64]), Some(&[I64]), None, Pure;
    /// Wrapping difference.
    Isub "isub" Some(&[I64, I64]), Some(&[I64]), None, Pure;
    /// Wrapping product.
    Imul "imul" Some(&[I64, I64]), Some(&[I64]), None, Pure;
    /// Quotient rounded towards zero. The divisor is neither 0 nor, with the smallest dividend, -1.
    Sdiv "sdiv" Some(&[I64, I64]), Some(&[I64]), None, Pure;
    /// Remainder with the dividend's sign; same condition as `sdiv`.
    Srem "srem" Some(&[I64, I64]), Some(&[I64]), None, Pure;
    /// Bitwise and.
    Iand "iand" Some(&[I64, I64]), Some(&[I64]), None, Pure;
    /// Bitwise or.
    Ior "ior" Some(&[I64, I64]), Some(&[I64]), None, Pure;
    /// Bitwise exclusive or.
    Ixor "ixor" Some(&[I64, I64]), Some(&[I64]), None, Pure;
    /// Shift left; the count is below 64.
    Ishl "ishl" Some(&[I64, I64]), Some(&[I64]), None, Pure;
    /// Arithmetic shift right; the count is below 64.
    Isshr "isshr" Some(&[I64, I64]), Some(&[I64]), None, Pure;
    /// Logical shift right; the count is below 64.
    Iushr "iushr" Some(&[I64, I64]), Some(&[I64]), None, Pure;
    /// Wrapping negation.
    Ineg "ineg" Some(&[I64]), Some(&[I64]), None, Pure;
    /// Bitwise not.
    Inot "inot" Some(&[I64]), Some(&[I64]), None, Pure;
    /// Sum, and whether it overflowed.
    IaddOvf "iadd_ovf" Some(&[I64, I64]), Some(&[I64, Bool]), None, Pure;
    /// Difference, and whether it overflowed.
    IsubOvf "isub_ovf" Some(&[I64, I64]), Some(&[I64, Bool]), None, Pure;
    /// Product, and whether it overflowed.
    ImulOvf "imul_ovf" Some(&[I64, I64]), Some(&[I64, Bool]), None, Pure;
    /// Comparison of two integers, or of two addresses (`eq`, `ne` and the unsigned ones).
    Icmp "icmp" Option::None, Some(&[Bool]), IntCond, Pure;

    /// Sum.
    Fadd "fadd" Some(&[F64, F64]), Some(&[F64]), None, Pure;
    /// Difference.
    Fsub "fsub" Some(&[F64, F64]), Some(&[F64]), None, Pure;
    /// Product.
    Fmul "fmul" Some(&[F64, F64]), Some(&[F64]), None, Pure;
    /// Quotient.
    Fdiv "fdiv" Some(&[F64, F64]), Some(&[F64]), None, Pure;
    /// Negation.
    Fneg "fneg" Some(&[F64]), Some(&[F64]), None, Pure;
    /// Absolute value.
    Fabs "fabs" Some(&[F64]), Some(&[F64]), None, Pure;
    /// Square root.
    Fsqrt "fsqrt" Some(&[F64]), Some(&[F64]), None, Pure;
    /// Round towards minus infinity.
    Ffloor "ffloor" Some(&[F64]), Some(&[F64]), None, Pure;
    /// Round towards zero.
    Ftrunc "ftrunc" Some(&[F64]), Some(&[F64]), None, Pure;
    /// IEEE comparison: all but `ne` are false for nan.
    Fcmp "fcmp" Some(&[F64, F64]), Some(&[Bool]), FloatCond, Pure;
    /// Nearest double of an integer.
    I2f "i2f" Some(&[I64]), Some(&[F64]), None, Pure;
    /// Integer part of a double, saturating; nan gives 0.
    F2i "f2i" Some(&[F64]), Some(&[I64]), None, Pure;
    /// The bits of a double.
    F2bits "f2bits" Some(&[F64]), Some(&[I64]), None, Pure;
    /// The double with these bits.
    Bits2f "bits2f" Some(&[I64]), Some(&[F64]), None, Pure;

    /// Not.
    Bnot "bnot" Some(&[Bool]), Some(&[Bool]), None, Pure;
    /// And of truth values.
    Band "band" Some(&[Bool, Bool]), Some(&[Bool]), None, Pure;
    /// Or of truth values.
    Bor "bor" Some(&[Bool, Bool]), Some(&[Bool]), None, Pure;
    /// Exclusive or of truth values.
    Bxor "bxor" Some(&[Bool, Bool]), Some(&[Bool]), None, Pure;
    /// 0 or 1.
    B2i "b2i" Some(&[Bool]), Some(&[I64]), None, Pure;
    /// Second operand if the first holds, else the third; both of one type.
    Select "select" Option::None, Option::None, None, Pure;

    /// Address plus bytes.
    Padd "padd" Some(&[Ptr, I64]), Some(&[Ptr]), None, Pure;
    /// An address as an integer.
    P2i "p2i" Some(&[Ptr]), Some(&[I64]), None, Pure;
    /// An integer as an address.
    I2p "i2p" Some(&[I64]), Some(&[Ptr]), None, Pure;
    /// The machine's stack pointer.
    Sp "sp" Some(&[]), Some(&[I64]), None, Reads;
    /// Address of a stack slot of the function (the immediate is its number).
    StackAddr "stack_addr" Some(&[]), Some(&[Ptr]), Int, Pure;

    /// Load from address plus offset.
    Load "load" Some(&[Ptr]), Option::None, Mem, Reads;
    /// Store: address, value.
    Store "store" Option::None, Some(&[]), Mem, Writes;
    /// Call of a helper of the host.
    Call "call" Option::None, Option::None, Helper, Calls;
    /// Call through an address: address, arguments.
    CallIndirect "call_indirect" Option::None, Option::None, Sig, Calls;
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
