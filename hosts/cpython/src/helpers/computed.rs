//! The raw functions behind builtins that are computed without a call
//! (`intrinsics/computed`): of doubles and integers, or of borrowed objects. They run no user code,
//! raise nothing, and read no frame. Where a builtin would raise, or must do more than they can,
//! their result tells so (the intrinsics say how), and the builtin itself is called.
//!
//! Safety: the contract of [`super`].

mod classes;
mod maths;
mod texts;

use crate::capi::Obj;

/// A raw function.
#[derive(Clone, Copy, Debug)]
pub enum Raw {
    /// Of a double.
    Double(unsafe extern "C" fn(f64) -> f64),
    /// Of two doubles.
    Doubles(unsafe extern "C" fn(f64, f64) -> f64),
    /// Of an integer; [`NONE`] if the builtin must be called.
    Int(unsafe extern "C" fn(i64) -> i64),
    /// Of two integers; likewise.
    Ints(unsafe extern "C" fn(i64, i64) -> i64),
    /// A number of two objects; [`NONE`] if the builtin must be called.
    NumberOfTwo(unsafe extern "C" fn(Obj, Obj) -> i64),
    /// A truth value of an object; -1 if the builtin must be called.
    Test(unsafe extern "C" fn(Obj) -> i64),
    /// A truth value of two objects; likewise.
    TestOfTwo(unsafe extern "C" fn(Obj, Obj) -> i64),
}

/// The result of a raw function whose builtin must be called.
pub const NONE: i64 = i64::MIN;

impl Raw {
    /// The function's address.
    pub fn address(self) -> i64 {
        let address = match self {
            Raw::Double(f) => f as usize,
            Raw::Doubles(f) => f as usize,
            Raw::Int(f) => f as usize,
            Raw::Ints(f) => f as usize,
            Raw::Test(f) => f as usize,
            Raw::NumberOfTwo(f) | Raw::TestOfTwo(f) => f as usize,
        };
        address as i64
    }
}

/// Functions of `math` that are raw functions, by their names.
pub use maths::functions as maths;
/// Methods of `str` that are raw functions, by their names.
pub use texts::METHODS as TEXTS;

/// The test for `isinstance`: of an object and a class.
pub const INSTANCE_TEST: Raw = Raw::TestOfTwo(classes::is_instance);

/// The addresses of all raw functions: no call of them needs an
/// [announcement](crate::runtime::generators::announce) of the frame.
pub fn addresses() -> impl Iterator<Item = u64> {
    let tables = maths().iter().chain(TEXTS).map(|row| row.1);
    tables
        .chain([INSTANCE_TEST])
        .map(|raw| raw.address() as u64)
}
