//! From a Rust `extern "C"` function to an address with its LIR signature.

use cladonia::ll::Ty;

/// A function that compiled code may call.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its address.
    pub address: usize,
    /// Its parameters.
    pub params: Vec<Ty>,
    /// Its results.
    pub results: Vec<Ty>,
}

/// A parameter or result that one machine register holds.
pub trait Register {
    /// The LIR types: one, or none for `()`.
    fn types() -> Vec<Ty>;
}

impl Register for i64 {
    fn types() -> Vec<Ty> {
        vec![Ty::I64]
    }
}
impl Register for f64 {
    fn types() -> Vec<Ty> {
        vec![Ty::F64]
    }
}
impl<T> Register for *mut T {
    fn types() -> Vec<Ty> {
        vec![Ty::Ptr]
    }
}
impl Register for () {
    fn types() -> Vec<Ty> {
        Vec::new()
    }
}

macro_rules! arities {
    ($($name:ident ($($param:ident)*);)*) => {$(
        /// The entry of a function with this many parameters.
        pub fn $name<$($param: Register,)* R: Register>(f: unsafe extern "C" fn($($param),*) -> R) -> Entry {
            #[allow(unused_mut, reason = "functions without parameters")]
            let mut params = Vec::new();
            $(params.extend($param::types());)*
            Entry { address: f as usize, params, results: R::types() }
        }
    )*};
}

arities! {
    of0();
    of1(A);
    of2(A B);
    of3(A B C);
    of4(A B C D);
    of5(A B C D E);
    of6(A B C D E F);
    of7(A B C D E F G);
}

/// The [`Entry`] of a function with the given number of parameters.
macro_rules! entry {
    ($f:path, 0) => {
        $crate::helpers::native::of0($f)
    };
    ($f:path, 1) => {
        $crate::helpers::native::of1($f)
    };
    ($f:path, 2) => {
        $crate::helpers::native::of2($f)
    };
    ($f:path, 3) => {
        $crate::helpers::native::of3($f)
    };
    ($f:path, 4) => {
        $crate::helpers::native::of4($f)
    };
    ($f:path, 5) => {
        $crate::helpers::native::of5($f)
    };
    ($f:path, 6) => {
        $crate::helpers::native::of6($f)
    };
    ($f:path, 7) => {
        $crate::helpers::native::of7($f)
    };
}
pub(crate) use entry;
