//! Fibonacci hashing, for tables whose keys are close to each other, such as addresses and
//! versions.

/// The golden ratio's part of 2^64.
const MIX: u64 = 11_400_714_819_323_198_485;

/// A key in whose high bits all bits of the given one count.
#[inline]
pub const fn mix(key: u64) -> u64 {
    key.wrapping_mul(MIX)
}

/// The row of a key in a table of `ROWS` rows, a power of two.
#[inline]
pub const fn row<const ROWS: usize>(key: u64) -> usize {
    const { assert!(ROWS.is_power_of_two()) };
    (mix(key) >> (u64::BITS - ROWS.ilog2())) as usize
}
