//! The rest of an operator after its first method has returned `NotImplemented`.
//!
//! Safety: the contract of [`super`].

use crate::capi::{_PyObject_LookupSpecial, Obj};
use crate::world::operators::{binary, mirrored};
use cladonia::bytecode::{BinaryOp, COMPARISON, CompareOp, INPLACE};
use pyo3_ffi::*;
use std::ffi::{CStr, CString};
use std::ptr;

/// Array: the result of the method that was called, which is taken over. If it is `declined`, that
/// was the method of the left operand, and the class of the right one may have a method that is
/// tried here. If `swapped`, no other method is tried.
///
/// # Safety
/// Live operands, and an array with one owned result; the lock is held.
pub unsafe extern "C" fn operator_rest(
    number: i64,
    swapped: i64,
    a: Obj,
    b: Obj,
    declined: Obj,
    array: *mut Obj,
    _length: i64,
) -> Obj {
    // SAFETY: live operands; the array has the one owned result.
    unsafe {
        let given = *array;
        if given != declined {
            return given;
        }
        Py_DECREF(given);
        match u32::try_from(number - COMPARISON) {
            Ok(number) => compare_rest(number, swapped != 0, a, b),
            Err(_) => binary_rest(number as u32, swapped != 0, a, b),
        }
    }
}

/// Returns true for a result or an error. `NotImplemented` is dropped.
unsafe fn is_final(result: Obj) -> bool {
    // SAFETY: the caller's: an owned result, or null.
    unsafe {
        if result != Py_NotImplemented() {
            return true;
        }
        Py_DECREF(result);
        false
    }
}

unsafe fn binary_rest(number: u32, swapped: bool, a: Obj, b: Obj) -> Obj {
    // SAFETY: the caller's: live operands. A slot is called as the interpreter does, and its result
    // is owned.
    unsafe {
        let Some(operator) = binary(number) else {
            PyErr_SetString(PyExc_SystemError, c"no such operator".as_ptr());
            return ptr::null_mut();
        };
        let (left, right) = (Py_TYPE(a), Py_TYPE(b));
        if !swapped && left != right {
            let of = |class| operator.of(class).map(|f| (f, f as usize));
            let result = match (of(left), of(right)) {
                // The same slot function for both: each calls the method of its class.
                (Some((_, own)), Some((_, other))) if own == other => {
                    reflected(operator.reflected, a, b)
                }
                (_, Some((slot, _))) => slot(a, b),
                (_, None) => Py_NewRef(Py_NotImplemented()),
            };
            if is_final(result) {
                return result;
            }
        }
        let sign = BinaryOp::from_arg(number % INPLACE).map_or("", BinaryOp::symbol);
        let equals = if number < INPLACE { "" } else { "=" };
        if let Ok(sign) = CString::new(format!("{sign}{equals}")) {
            PyErr_Format(
                PyExc_TypeError,
                c"unsupported operand type(s) for %.100s: '%.100s' and '%.100s'".as_ptr(),
                sign.as_ptr(),
                (*left).tp_name,
                (*right).tp_name,
            );
        }
        ptr::null_mut()
    }
}

/// The result of the right operand's method, if it has one, else `NotImplemented`.
unsafe fn reflected(name: &CStr, a: Obj, b: Obj) -> Obj {
    // SAFETY: the caller's: live operands. The name and the method are owned, and dropped once.
    unsafe {
        let name = PyUnicode_InternFromString(name.as_ptr());
        if name.is_null() {
            return name;
        }
        let method = _PyObject_LookupSpecial(b, name);
        Py_DECREF(name);
        if method.is_null() {
            return match PyErr_Occurred().is_null() {
                true => Py_NewRef(Py_NotImplemented()),
                false => method,
            };
        }
        let result = PyObject_CallOneArg(method, a);
        Py_DECREF(method);
        result
    }
}

unsafe fn compare_rest(number: u32, swapped: bool, a: Obj, b: Obj) -> Obj {
    // SAFETY: the caller's: live operands. A slot is called as the interpreter does, and its result
    // is owned.
    unsafe {
        let Some(op) = CompareOp::from_arg(number) else {
            PyErr_SetString(PyExc_SystemError, c"no such comparison".as_ptr());
            return ptr::null_mut();
        };
        if !swapped && let Some(compare) = (*Py_TYPE(b)).tp_richcompare {
            if Py_EnterRecursiveCall(c" in comparison".as_ptr()) != 0 {
                return ptr::null_mut();
            }
            let result = compare(b, a, mirrored(op) as i32);
            Py_LeaveRecursiveCall();
            if is_final(result) {
                return result;
            }
        }
        match op {
            CompareOp::Eq => PyBool_FromLong((a == b).into()),
            CompareOp::Ne => PyBool_FromLong((a != b).into()),
            _ => {
                if let Ok(sign) = CString::new(op.symbol()) {
                    PyErr_Format(
                        PyExc_TypeError,
                        c"'%s' not supported between instances of '%.100s' and '%.100s'".as_ptr(),
                        sign.as_ptr(),
                        (*Py_TYPE(a)).tp_name,
                        (*Py_TYPE(b)).tp_name,
                    );
                }
                ptr::null_mut()
            }
        }
    }
}
