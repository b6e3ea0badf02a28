//! Helpers as Rust functions: their signatures follow from their types, so that compiled code
//! passes the arguments that they take.

use crate::lir::Signature;
use crate::ll::Ty;
use std::mem::ManuallyDrop;

/// A type of parameters and results of helpers.
///
/// # Safety
/// Values are passed by the C calling convention as `TY` is.
pub unsafe trait Passed {
    /// Its type in compiled code.
    const TY: Ty;
}

// SAFETY: integers and addresses of 64 bits are passed in a general register, doubles in a
// floating-point one.
unsafe impl Passed for i64 {
    const TY: Ty = Ty::I64;
}
// SAFETY: as above.
unsafe impl Passed for u64 {
    const TY: Ty = Ty::I64;
}
// SAFETY: as above.
unsafe impl Passed for f64 {
    const TY: Ty = Ty::F64;
}
// SAFETY: as above.
unsafe impl<T> Passed for *const T {
    const TY: Ty = Ty::Ptr;
}
// SAFETY: as above.
unsafe impl<T> Passed for *mut T {
    const TY: Ty = Ty::Ptr;
}
// SAFETY: as above; a host that takes a reference promises that it is valid.
unsafe impl<T> Passed for &T {
    const TY: Ty = Ty::Ptr;
}

/// A reference to an object in a host's Rust code.
///
/// # Safety
/// The type is `repr(transparent)` over a `NonNull` or a `NonZeroU64`, the word of the object;
/// dropping it releases the reference. Or it is a Rust reference.
pub unsafe trait ObjectRef {}

// SAFETY: see there.
unsafe impl<T> ObjectRef for &T {}

// SAFETY: a word that is not 0; none is 0. As a parameter or result it is owned.
unsafe impl<T: ObjectRef> Passed for Option<T> {
    const TY: Ty = Ty::Ptr;
}
// SAFETY: the same word. As a parameter it is borrowed.
unsafe impl<T: ObjectRef> Passed for ManuallyDrop<T> {
    const TY: Ty = Ty::Ptr;
}

/// The result of a helper: a [`Passed`] type, or none.
pub trait Given {
    /// The results.
    const TYPES: &'static [Ty];
}

impl<T: Passed> Given for T {
    const TYPES: &'static [Ty] = &[T::TY];
}

impl Given for () {
    const TYPES: &'static [Ty] = &[];
}

/// A Rust function that compiled code can call: `name as extern "C" fn(_, _) -> _`.
pub trait HelperFn: Copy {
    /// Its signature.
    fn signature() -> Signature;
    /// Its address.
    fn address(self) -> usize;
}

macro_rules! helper_fns {
    ($(($($param:ident),*))*) => {
        $(impl<R: Given, $($param: Passed),*> HelperFn for extern "C" fn($($param),*) -> R {
            fn signature() -> Signature {
                Signature::new(&[$($param::TY),*], R::TYPES)
            }

            fn address(self) -> usize {
                self as usize
            }
        })*
    };
}

helper_fns! { () (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) (A, B, C, D, E, F, G) }

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn mixed(_: &u8, _: i64, _: f64) -> *mut u8 {
        std::ptr::null_mut()
    }

    extern "C" fn nothing(_: u64) {}

    fn signature<F: HelperFn>(_: F) -> Signature {
        F::signature()
    }

    #[test]
    fn signatures_follow_from_types() {
        let found = signature(mixed as extern "C" fn(_, _, _) -> _);
        assert_eq!(
            found,
            Signature::new(&[Ty::Ptr, Ty::I64, Ty::F64], &[Ty::Ptr])
        );
        let found = signature(nothing as extern "C" fn(_));
        assert_eq!(found, Signature::new(&[Ty::I64], &[]));
    }
}
