//! Exact strings, which are all compact; and template strings.
//!
//! Safety: the contract of [`super`].

use crate::abi::{exports, unicode};
use crate::capi::{Obj, field};
use pyo3_ffi::Py_XDECREF;
use std::slice;

/// Compares the characters of two exact strings: 1 if they are the same, else 0.
///
/// # Safety
/// Live strings of exactly that class.
pub unsafe extern "C" fn same_text(a: Obj, b: Obj) -> i64 {
    // SAFETY: two live strings of exactly that class.
    unsafe {
        let same = width(a) == width(b) && bytes(a) == bytes(b);
        same.into()
    }
}

/// The number of bytes of a character in an exact string: the least that its characters allow.
pub(super) unsafe fn width(text: Obj) -> usize {
    // SAFETY: the caller's: a live string, which says itself how wide its characters are.
    unsafe {
        let state: u32 = field(text, unicode::STATE);
        ((state & unicode::STATE_KIND as u32) / (unicode::STATE_KIND_BYTE as u32)) as usize
    }
}

/// Returns whether all characters of an exact string are ASCII.
pub(super) unsafe fn is_ascii(text: Obj) -> bool {
    // SAFETY: the caller's: a live string.
    unsafe { field::<u32>(text, unicode::STATE) & unicode::STATE_ASCII as u32 != 0 }
}

pub(super) unsafe fn bytes<'a>(text: Obj) -> &'a [u8] {
    // SAFETY: the caller's: a live compact string, whose characters follow its head; they do not
    // change while it lives.
    unsafe {
        let state: u32 = field(text, unicode::STATE);
        let offset = match state & unicode::STATE_ASCII as u32 {
            0 => unicode::COMPACT_DATA,
            _ => unicode::ASCII_DATA,
        };
        let length: usize = field(text, unicode::LENGTH);
        let data = text.cast::<u8>().offset(offset as isize);
        slice::from_raw_parts(data, length * width(text))
    }
}

/// A value of a template string: array of the value, its expression, and a format if there is one.
/// The immediate is 0, or the number of a [`Conversion`](cladonia::bytecode::Conversion) from 1.
pub unsafe extern "C" fn build_interpolation(conversion: i64, array: *mut Obj, count: i64) -> Obj {
    // SAFETY: the array has so many owned objects, each of which is dropped once.
    unsafe {
        let parts = slice::from_raw_parts(array, count as usize);
        let made = exports::build_interpolation(conversion as i32, parts);
        for part in parts.iter().rev() {
            Py_XDECREF(*part);
        }
        made
    }
}
