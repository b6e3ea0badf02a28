//! Methods of exact strings.

use super::{NONE, Raw};
use crate::capi::Obj;
use crate::helpers::strings::{self, bytes, width};
use pyo3_ffi::*;
use std::ffi::CStr;

/// The methods by their names.
pub const METHODS: &[(&CStr, Raw)] = &[
    (c"isalnum", Raw::Test(is_alnum)),
    (c"isalpha", Raw::Test(is_alpha)),
    (c"isascii", Raw::Test(is_ascii)),
    (c"isdecimal", Raw::Test(is_digit)),
    (c"isdigit", Raw::Test(is_digit)),
    (c"islower", Raw::Test(is_lower)),
    (c"isnumeric", Raw::Test(is_digit)),
    (c"isspace", Raw::Test(is_space)),
    (c"isupper", Raw::Test(is_upper)),
    (c"startswith", Raw::TestOfTwo(starts_with)),
    (c"endswith", Raw::TestOfTwo(ends_with)),
    (c"find", Raw::NumberOfTwo(find)),
    (c"rfind", Raw::NumberOfTwo(find_last)),
    (c"count", Raw::NumberOfTwo(count)),
    (c"index", Raw::NumberOfTwo(index)),
    (c"rindex", Raw::NumberOfTwo(last_index)),
];

/// The characters of an ASCII string.
unsafe fn ascii<'a>(text: Obj) -> Option<&'a [u8]> {
    // SAFETY: the caller's: a live exact string.
    unsafe { strings::is_ascii(text) }.then(|| unsafe { bytes(text) })
}

macro_rules! tests {
    ($($(#[$doc:meta])* $name:ident: $holds:expr;)*) => {$(
        $(#[$doc])*
        unsafe extern "C" fn $name(text: Obj) -> i64 {
            let holds: fn(u8) -> bool = $holds;
            // SAFETY: the caller's: a live exact string.
            match unsafe { ascii(text) } {
                Some(text) => i64::from(!text.is_empty() && text.iter().all(|c| holds(*c))),
                None => -1,
            }
        }
    )*};
}

tests! {
    /// `isalnum` of an ASCII string.
    is_alnum: |c| c.is_ascii_alphanumeric();
    /// `isalpha`.
    is_alpha: |c| c.is_ascii_alphabetic();
    /// `isdigit`; of ASCII characters `isdecimal` and `isnumeric` are the same.
    is_digit: |c| c.is_ascii_digit();
    /// `isspace`: the separators 28 to 31 count.
    is_space: |c| matches!(c, 9..=13 | 28..=32);
}

/// `islower` of an ASCII string.
unsafe extern "C" fn is_lower(text: Obj) -> i64 {
    // SAFETY: the caller's.
    unsafe { is_of_case(text, |c| c.is_ascii_lowercase(), |c| c.is_ascii_uppercase()) }
}

/// `isupper` of an ASCII string.
unsafe extern "C" fn is_upper(text: Obj) -> i64 {
    // SAFETY: the caller's.
    unsafe { is_of_case(text, |c| c.is_ascii_uppercase(), |c| c.is_ascii_lowercase()) }
}

/// Tests that there is a letter of one case and none of the other.
unsafe fn is_of_case(text: Obj, one: fn(&u8) -> bool, other: fn(&u8) -> bool) -> i64 {
    // SAFETY: the caller's: a live exact string.
    match unsafe { ascii(text) } {
        Some(text) => i64::from(text.iter().any(one) && !text.iter().any(other)),
        None => -1,
    }
}

unsafe extern "C" fn is_ascii(text: Obj) -> i64 {
    // SAFETY: the caller's: a live exact string.
    unsafe { i64::from(strings::is_ascii(text)) }
}

/// The operands' characters, if both have characters of one width. If only the widths differ, the
/// wider string may still contain the other one.
unsafe fn alike<'a>(text: Obj, part: Obj) -> Option<(&'a [u8], &'a [u8])> {
    // SAFETY: the caller's: live exact strings.
    unsafe { (width(text) == width(part)).then(|| (bytes(text), bytes(part))) }
}

unsafe extern "C" fn starts_with(text: Obj, part: Obj) -> i64 {
    // SAFETY: the caller's: live exact strings.
    unsafe {
        match alike(text, part) {
            Some((text, part)) => i64::from(text.starts_with(part)),
            None => quiet(PyUnicode_Tailmatch(text, part, 0, isize::MAX, -1), -1),
        }
    }
}

unsafe extern "C" fn ends_with(text: Obj, part: Obj) -> i64 {
    // SAFETY: the caller's: live exact strings.
    unsafe {
        match alike(text, part) {
            Some((text, part)) => i64::from(text.ends_with(part)),
            None => quiet(PyUnicode_Tailmatch(text, part, 0, isize::MAX, 1), -1),
        }
    }
}

/// A result, or `failed` if there is an exception, which is cleared.
unsafe fn quiet(found: Py_ssize_t, failed: i64) -> i64 {
    if found < -1 || found == -1 && failed == -1 {
        // SAFETY: the lock is held.
        unsafe { PyErr_Clear() };
        return failed;
    }
    found as i64
}

unsafe extern "C" fn find(text: Obj, part: Obj) -> i64 {
    // SAFETY: the caller's: live exact strings.
    unsafe { quiet(PyUnicode_Find(text, part, 0, isize::MAX, 1), NONE) }
}

unsafe extern "C" fn find_last(text: Obj, part: Obj) -> i64 {
    // SAFETY: the caller's: live exact strings.
    unsafe { quiet(PyUnicode_Find(text, part, 0, isize::MAX, -1), NONE) }
}

unsafe extern "C" fn index(text: Obj, part: Obj) -> i64 {
    // SAFETY: the caller's: live exact strings.
    let found = unsafe { find(text, part) };
    if found < 0 { NONE } else { found }
}

unsafe extern "C" fn last_index(text: Obj, part: Obj) -> i64 {
    // SAFETY: the caller's: live exact strings.
    let found = unsafe { find_last(text, part) };
    if found < 0 { NONE } else { found }
}

unsafe extern "C" fn count(text: Obj, part: Obj) -> i64 {
    // SAFETY: the caller's: live exact strings. An error is -1.
    unsafe {
        let found = PyUnicode_Count(text, part, 0, isize::MAX);
        if found < 0 {
            PyErr_Clear();
            return NONE;
        }
        found as i64
    }
}
