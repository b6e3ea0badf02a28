//! Functions of `math`: those of the C library, which the interpreter calls too.

use super::{NONE, Raw};
use std::ffi::CStr;
use std::sync::OnceLock;

/// Functions of a double.
const OF_DOUBLE: &[&CStr] = &[
    c"acos", c"acosh", c"asin", c"asinh", c"atan", c"atanh", c"cbrt", c"cos", c"cosh", c"exp",
    c"exp2", c"expm1", c"log", c"log10", c"log2", c"sin", c"sinh", c"tan", c"tanh",
];

/// Functions of two doubles.
const OF_DOUBLES: &[&CStr] = &[c"atan2", c"copysign", c"fmod", c"pow"];

/// The functions by their names. Those of the C library are looked up as the interpreter's were:
/// the linker may give other ones of the same name to this library.
pub fn functions() -> &'static [(&'static CStr, Raw)] {
    static FUNCTIONS: OnceLock<Vec<(&CStr, Raw)>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        let single = OF_DOUBLE.iter().filter_map(|name| {
            let found = address(name)?;
            // SAFETY: the C library's function of this name takes and returns a double.
            let function = unsafe { std::mem::transmute::<usize, OfDouble>(found) };
            Some((*name, Raw::Double(function)))
        });
        let double = OF_DOUBLES.iter().filter_map(|name| {
            let found = address(name)?;
            // SAFETY: the C library's function of this name takes two doubles and returns one.
            let function = unsafe { std::mem::transmute::<usize, OfDoubles>(found) };
            Some((*name, Raw::Doubles(function)))
        });
        let own = [
            (c"gcd", Raw::Ints(greatest_divisor)),
            (c"isqrt", Raw::Int(integer_root)),
        ];
        single.chain(double).chain(own).collect()
    })
}

type OfDouble = unsafe extern "C" fn(f64) -> f64;
type OfDoubles = unsafe extern "C" fn(f64, f64) -> f64;

/// The address of a function of the process.
fn address(name: &CStr) -> Option<usize> {
    // SAFETY: a lookup, which calls nothing of the program.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
    (found != 0).then_some(found)
}

/// `math.gcd` of two integers.
unsafe extern "C" fn greatest_divisor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(NONE)
}

/// `math.isqrt` of an integer that is not negative.
unsafe extern "C" fn integer_root(n: i64) -> i64 {
    match n {
        0.. => n.isqrt(),
        _ => NONE,
    }
}
