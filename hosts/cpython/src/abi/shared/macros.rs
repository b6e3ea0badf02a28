//! The forms of the tables that each version has: its opcodes and its layouts.

macro_rules! opcodes {
    (
        general { $($name:ident = $number:literal, $caches:literal;)* }
        variants { $($variant:ident = $vnumber:literal of $base:ident;)* }
    ) => {
        // The table is complete, though some rows are not used.
        $(#[doc = concat!("`", stringify!($name), "`.")] #[allow(dead_code)] pub const $name: u8 = $number;)*
        $(#[doc = concat!("`", stringify!($variant), "`, a form of `", stringify!($base), "`.")] #[allow(dead_code)] pub const $variant: u8 = $vnumber;)*

        /// Every opcode as (name, number, code units of inline cache, general opcode).
        pub const ALL: &[(&str, u8, u8, u8)] = &[
            $((stringify!($name), $number, $caches, $number),)*
            $((stringify!($variant), $vnumber, CACHES[$base as usize], $base),)*
        ];

        /// Code units of inline cache after an opcode, instrumented or specialised or not.
        pub const CACHES: [u8; 256] = {
            let mut table = [0; 256];
            $(table[$number] = $caches;)*
            $(table[$vnumber] = table[$base as usize];)*
            table
        };

        const GENERAL: [u8; 256] = {
            let mut table = [0; 256];
            $(table[$number] = $number;)*
            $(table[$vnumber] = $base;)*
            table
        };

        /// The general opcode of a specialised or instrumented one; [`CACHE`] (no instruction) for
        /// a number that is none, and for `INSTRUMENTED_LINE` and `INSTRUMENTED_INSTRUCTION`, which
        /// hide theirs.
        pub const fn general(opcode: u8) -> u8 {
            GENERAL[opcode as usize]
        }
    };
}

macro_rules! layout {
    ($($(#[doc = $gdoc:literal])* $group:ident { $($name:ident = $value:literal, $doc:literal;)* })*) => {
        $(
            $(#[doc = $gdoc])*
            pub mod $group {
                $(#[doc = $doc] pub const $name: i32 = $value;)*
            }
        )*
        /// Every constant as (`group`, `NAME`, value).
        pub const TABLE: &[(&str, &str, i32)] = &[$($((stringify!($group), stringify!($name), $value),)*)*];
    };
}
