//! The one table of predefined types. A row gives its name in text form, the constant on [`Type`],
//! and its parts; leaf bits, masks, names, constants and the rows for a host's classes all follow
//! from it.
//!
//! It is separate because it is data: adding a predefined type means adding a line here only. The
//! compile-time checks at the end keep the bits within the size of [`Type`].

use super::Type;

/// Expands the table. The kinds of rows differ in the leaves that they own: `open` rows (classes
/// from which a program may inherit) own an `Exact` and a `User` leaf, `closed` rows own one leaf,
/// `primitive` rows own one leaf that is no object, and `union` rows own none.
macro_rules! predefined_types {
    (
        open { $( $P:ident $PE:ident $PU:ident : $PC:ident $PCE:ident $PCU:ident, spelled $psp:literal; )* }
        closed { $( $F:ident : $FC:ident, under $parent:ident, spelled $fsp:literal; )* }
        primitive { $( $C:ident : $CC:ident, bytes $size:literal; )* }
        union { $( #[doc = $udoc:literal] $U:ident : $UC:ident = $mask:expr; )* }
    ) => {
        /// The leaves of the hierarchy, one bit of a [`Type`] each, primitives below objects.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub(crate) enum Leaf { $($C,)* $($F,)* $($PE,)* $($PU,)* }

        /// The number of leaves.
        pub(crate) const LEAVES: u32 = [$(Leaf::$C,)* $(Leaf::$F,)* $(Leaf::$PE,)* $(Leaf::$PU,)*].len() as u32;

        /// The predefined types that are classes: a host declares for each class that it registers
        /// which of them it *is*, or from which it derives.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Predefined {
            $( #[doc = concat!("`", stringify!($P), "`: may be inherited from")] $P, )*
            $( #[doc = concat!("`", stringify!($F), "`: closed to inheritance, derives from `", stringify!($parent), "`")] $F, )*
        }

        impl Predefined {
            /// Every row, in the table's order.
            pub const ALL: &'static [Predefined] = &[$(Predefined::$P,)* $(Predefined::$F,)*];

            /// The row's name in text form.
            pub const fn name(self) -> &'static str {
                match self { $(Predefined::$P => stringify!($P),)* $(Predefined::$F => stringify!($F),)* }
            }

            /// The spelling of the row's class as a base in a program (or a text hierarchy).
            pub const fn spelled(self) -> &'static str {
                match self { $(Predefined::$P => $psp,)* $(Predefined::$F => $fsp,)* }
            }

            /// The leaf of the instances of exactly this class.
            pub(crate) const fn exact_bit(self) -> u64 {
                match self { $(Predefined::$P => bit(Leaf::$PE),)* $(Predefined::$F => bit(Leaf::$F),)* }
            }

            /// The leaf of the instances of classes that derive from this one and no other; 0 for a
            /// closed row.
            pub(crate) const fn user_bit(self) -> u64 {
                match self { $(Predefined::$P => bit(Leaf::$PU),)* $(Predefined::$F => 0,)* }
            }

            /// The row from which this one's class derives; `Object` for `Object`.
            pub const fn parent(self) -> Predefined {
                match self { $(Predefined::$P => Predefined::Object,)* $(Predefined::$F => Predefined::$parent,)* }
            }

            /// Returns true if no class may derive from this one.
            pub const fn is_closed(self) -> bool {
                match self { $(Predefined::$P => false,)* $(Predefined::$F => true,)* }
            }
        }

        /// The leaves that are `Exact` leaves or closed rows.
        pub(crate) const BUILTIN_EXACT_BITS: u64 = $(bit(Leaf::$F) |)* $(bit(Leaf::$PE) |)* 0;
        /// The `User` leaves.
        pub(crate) const USER_BITS: u64 = $(bit(Leaf::$PU) |)* 0;
        /// The leaves that are no objects.
        pub(crate) const PRIMITIVE_BITS: u64 = $(bit(Leaf::$C) |)* 0;

        /// Every name of the text form without `Mortal`, `Immortal` and `Opt`, with its leaves.
        pub(crate) const NAMES: &[(&str, u64)] = &[
            $( (stringify!($P), Predefined::$P.family_bits()), (stringify!($PE), bit(Leaf::$PE)), (stringify!($PU), bit(Leaf::$PU)), )*
            $( (stringify!($F), bit(Leaf::$F)), )*
            $( (stringify!($C), bit(Leaf::$C)), )*
            $( (stringify!($U), $mask), )*
        ];

        /// The primitives: leaf, and size in bytes.
        pub(crate) const PRIMITIVES: &[(u64, u32)] = &[$( (bit(Leaf::$C), $size), )*];

        impl Type {
            $(
                #[doc = concat!("`", stringify!($P), "`: the class and all that derive from it.")]
                pub const $PC: Type = Type::plain(Predefined::$P.family_bits());
                #[doc = concat!("`", stringify!($PE), "`: instances of exactly this class.")]
                pub const $PCE: Type = Type::plain(bit(Leaf::$PE));
                #[doc = concat!("`", stringify!($PU), "`: instances of user classes that derive from it and from no other predefined class.")]
                pub const $PCU: Type = Type::plain(bit(Leaf::$PU));
            )*
            $(
                #[doc = concat!("`", stringify!($F), "`: a class that cannot be inherited from.")]
                pub const $FC: Type = Type::plain(bit(Leaf::$F));
            )*
            $(
                #[doc = concat!("`", stringify!($C), "`: a primitive, no object.")]
                pub const $CC: Type = Type::plain(bit(Leaf::$C));
            )*
            $(
                #[doc = $udoc]
                pub const $UC: Type = Type::plain($mask);
            )*
        }
    };
}

/// The bit of a leaf: those that do not fit below the lifetimes are above them.
pub(crate) const fn bit(leaf: Leaf) -> u64 {
    let place = leaf as u32;
    let shift = if place < super::repr::LEAVES_BELOW {
        0
    } else {
        super::repr::MIDDLE_WIDTH
    };
    1 << (place + shift)
}

predefined_types! {
    open {
        Object ObjectExact ObjectUser: OBJECT OBJECT_EXACT OBJECT_USER, spelled "object";
        BaseException BaseExceptionExact BaseExceptionUser: BASE_EXCEPTION BASE_EXCEPTION_EXACT BASE_EXCEPTION_USER, spelled "BaseException";
        BuiltinMethod BuiltinMethodExact BuiltinMethodUser: BUILTIN_METHOD BUILTIN_METHOD_EXACT BUILTIN_METHOD_USER, spelled "builtin_function_or_method";
        ByteArray ByteArrayExact ByteArrayUser: BYTE_ARRAY BYTE_ARRAY_EXACT BYTE_ARRAY_USER, spelled "bytearray";
        Bytes BytesExact BytesUser: BYTES BYTES_EXACT BYTES_USER, spelled "bytes";
        Dict DictExact DictUser: DICT DICT_EXACT DICT_USER, spelled "dict";
        Float FloatExact FloatUser: FLOAT FLOAT_EXACT FLOAT_USER, spelled "float";
        FrozenSet FrozenSetExact FrozenSetUser: FROZEN_SET FROZEN_SET_EXACT FROZEN_SET_USER, spelled "frozenset";
        List ListExact ListUser: LIST LIST_EXACT LIST_USER, spelled "list";
        Long LongExact LongUser: LONG LONG_EXACT LONG_USER, spelled "int";
        Module ModuleExact ModuleUser: MODULE MODULE_EXACT MODULE_USER, spelled "module";
        Set SetExact SetUser: SET SET_EXACT SET_USER, spelled "set";
        Tuple TupleExact TupleUser: TUPLE TUPLE_EXACT TUPLE_USER, spelled "tuple";
        Type TypeExact TypeUser: TYPE TYPE_EXACT TYPE_USER, spelled "type";
        Unicode UnicodeExact UnicodeUser: UNICODE UNICODE_EXACT UNICODE_USER, spelled "str";
    }
    closed {
        Bool: BOOL, under Long, spelled "bool";
        Cell: CELL, under Object, spelled "cell";
        Code: CODE, under Object, spelled "code";
        DictItemIter: DICT_ITEM_ITER, under Object, spelled "dict_itemiterator";
        DictKeyIter: DICT_KEY_ITER, under Object, spelled "dict_keyiterator";
        Frame: FRAME, under Object, spelled "frame";
        Func: FUNC, under Object, spelled "function";
        Gen: GEN, under Object, spelled "generator";
        ListIter: LIST_ITER, under Object, spelled "list_iterator";
        Method: METHOD, under Object, spelled "method";
        MethodDescr: METHOD_DESCR, under Object, spelled "method_descriptor";
        NoneType: NONE_TYPE, under Object, spelled "NoneType";
        Range: RANGE, under Object, spelled "range";
        RangeIter: RANGE_ITER, under Object, spelled "range_iterator";
        Slice: SLICE, under Object, spelled "slice";
        TupleIter: TUPLE_ITER, under Object, spelled "tuple_iterator";
    }
    primitive {
        CBool: CBOOL, bytes 1;
        CDouble: CDOUBLE, bytes 8;
        CInt8: CINT8, bytes 1;
        CInt16: CINT16, bytes 2;
        CInt32: CINT32, bytes 4;
        CInt64: CINT64, bytes 8;
        CPtr: CPTR, bytes 8;
        CUInt8: CUINT8, bytes 1;
        CUInt16: CUINT16, bytes 2;
        CUInt32: CUINT32, bytes 4;
        CUInt64: CUINT64, bytes 8;
        Nullptr: NULLPTR, bytes 8;
    }
    union {
        #[doc = "`Top`: every value."]
        Top: TOP = OBJECT_BITS | PRIMITIVE_BITS;
        #[doc = "`Bottom`: no value."]
        Bottom: BOTTOM = 0;
        #[doc = "`Primitive`: every value that is no object."]
        Primitive: PRIMITIVE = PRIMITIVE_BITS;
        #[doc = "`User`: instances of all user-defined classes."]
        User: USER = USER_BITS;
        #[doc = "`BuiltinExact`: instances of exactly the predefined classes."]
        BuiltinExact: BUILTIN_EXACT = BUILTIN_EXACT_BITS;
        #[doc = "`CSigned`: the signed integers of every width."]
        CSigned: CSIGNED = CSIGNED_BITS;
        #[doc = "`CUnsigned`: the unsigned integers of every width."]
        CUnsigned: CUNSIGNED = CUNSIGNED_BITS;
        #[doc = "`CInt`: the integers of every width, signed or not."]
        CInt: CINT = CSIGNED_BITS | CUNSIGNED_BITS;
    }
}

/// The leaves that are objects.
pub(crate) const OBJECT_BITS: u64 = USER_BITS | BUILTIN_EXACT_BITS;
/// The leaves of signed integers.
pub(crate) const CSIGNED_BITS: u64 =
    bit(Leaf::CInt8) | bit(Leaf::CInt16) | bit(Leaf::CInt32) | bit(Leaf::CInt64);
/// The leaves of unsigned integers.
pub(crate) const CUNSIGNED_BITS: u64 =
    bit(Leaf::CUInt8) | bit(Leaf::CUInt16) | bit(Leaf::CUInt32) | bit(Leaf::CUInt64);

impl Predefined {
    /// The leaves of the class and of everything that derives from it.
    pub(crate) const fn family_bits(self) -> u64 {
        if let Predefined::Object = self {
            return OBJECT_BITS;
        }
        let mut bits = self.exact_bit() | self.user_bit();
        let mut i = 0;
        while i < Predefined::ALL.len() {
            let row = Predefined::ALL[i];
            if row.is_closed() && row.parent() as u8 == self as u8 {
                bits |= row.exact_bit();
            }
            i += 1;
        }
        bits
    }

    /// The leaves of instances of a *user* class that derives from this row (and from no further
    /// row), with those of its own subclasses: for `Object` those of every open row, because a
    /// subclass may also inherit from one of them.
    pub(crate) const fn user_family_bits(self) -> u64 {
        if let Predefined::Object = self {
            USER_BITS
        } else {
            self.user_bit()
        }
    }

    /// Returns true if this row's class is that of `other` or derives from it.
    pub fn derives_from(self, other: Predefined) -> bool {
        self == other || other == Predefined::Object || self.parent() == other
    }

    /// The row whose class has this spelling.
    pub fn from_spelling(spelling: &str) -> Option<Predefined> {
        Predefined::ALL
            .iter()
            .copied()
            .find(|row| row.spelled() == spelling)
    }

    /// The type of the class with all that derives from it.
    pub fn ty(self) -> Type {
        Type::plain(self.family_bits())
    }

    /// The type of the instances of exactly this class.
    pub fn exact_ty(self) -> Type {
        Type::plain(self.exact_bit())
    }

    pub(crate) const fn from_u8(index: u8) -> Predefined {
        Predefined::ALL[index as usize]
    }
}

const _: () = {
    assert!(
        LEAVES <= super::repr::LEAF_BUDGET,
        "the predefined types no longer fit beside lifetime and specialization"
    );
    assert!((OBJECT_BITS | PRIMITIVE_BITS).count_ones() == LEAVES);
    assert!((OBJECT_BITS | PRIMITIVE_BITS) & !super::repr::LEAF_MASK == 0);
    // This allows one comparison to test for objects.
    assert!(PRIMITIVE_BITS < OBJECT_BITS & OBJECT_BITS.wrapping_neg());
    // `from_u8` undoes `as u8`.
    let mut i = 0;
    while i < Predefined::ALL.len() {
        assert!(Predefined::ALL[i] as usize == i);
        i += 1;
    }
};
