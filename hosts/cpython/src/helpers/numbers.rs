//! Arithmetic on raw values, and boxing that cannot fail.
//!
//! Safety: the contract of [`super`].

use crate::abi::long;
use crate::capi::{Obj, field};
use pyo3_ffi::*;

/// C's `pow`. The result is not finite though both operands are for zero to a negative power, a
/// negative base with a fractional exponent, and overflow. The operation raises then, so the caller
/// must take a side exit.
pub unsafe extern "C" fn float_pow(a: f64, b: f64) -> f64 {
    a.powf(b)
}

/// `a % b` as `float.__mod__` gives it; `b` is not zero.
pub unsafe extern "C" fn float_mod(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest == 0.0 {
        0f64.copysign(b)
    } else if (b < 0.0) != (rest < 0.0) {
        rest + b
    } else {
        rest
    }
}

/// `a // b` as `float.__floordiv__` gives it; `b` is not zero.
pub unsafe extern "C" fn float_floordiv(a: f64, b: f64) -> f64 {
    let rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest != 0.0 && (b < 0.0) != (rest < 0.0) {
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return 0f64.copysign(a / b);
    }
    let floor = quotient.floor();
    if quotient - floor > 0.5 {
        floor + 1.0
    } else {
        floor
    }
}

/// A new float. Side exits box values where no error may occur: without memory for 24 bytes the
/// process ends.
///
/// # Safety
/// The lock is held.
pub unsafe extern "C" fn box_float(value: f64) -> Obj {
    // SAFETY: the lock is held, and the called function requires no more.
    unsafe { boxed(|| PyFloat_FromDouble(value)) }
}

/// A new reference to an int; ends the process if there is no memory.
///
/// # Safety
/// The lock is held.
pub unsafe extern "C" fn box_int(value: i64) -> Obj {
    // SAFETY: the lock is held, and the called function requires no more.
    unsafe { boxed(|| PyLong_FromLongLong(value)) }
}

unsafe fn boxed(make: impl Fn() -> Obj) -> Obj {
    // SAFETY: the caller's: the lock is held.
    unsafe {
        let object = make();
        if object.is_null() {
            retry(make)
        } else {
            object
        }
    }
}

#[cold]
unsafe fn retry(make: impl Fn() -> Obj) -> Obj {
    // SAFETY: the caller's: the lock is held, and the exception is that there was no memory.
    unsafe {
        PyErr_Clear();
        let object = make();
        if object.is_null() {
            Py_FatalError(c"cladonia: no memory to box a number".as_ptr());
        }
        object
    }
}

/// The value of an exact int of one digit at most.
///
/// # Safety
/// The lock is held; a live object.
#[inline]
pub(super) unsafe fn small_int(object: Obj) -> Option<Py_hash_t> {
    // SAFETY: the caller's: a live object; an exact int has its fields.
    unsafe {
        if PyLong_CheckExact(object) == 0 {
            return None;
        }
        let tag: u64 = field(object, long::TAG);
        if tag >> long::NON_SIZE_BITS > 1 {
            return None;
        }
        let digit: u32 = field(object, long::DIGITS);
        let sign = 1 - (tag & long::SIGN_MASK as u64) as Py_hash_t;
        Some(sign * digit as Py_hash_t)
    }
}
