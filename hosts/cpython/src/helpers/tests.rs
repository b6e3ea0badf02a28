//! Each helper against the interpreter's own bytecode: values, exceptions, and no lost references.

use super::helper_of;
use crate::abi;
use crate::capi::{Frame, Obj, current_thread, field};
use crate::testing::{get, run, with_python};
use cladonia::bytecode::{GeneralOp, Gives};
use cladonia::host::{DEALLOC, EXIT_HOOK, FREE_LEAF, helpers};
use pyo3_ffi::*;
use std::ffi::CStr;
use std::ptr;

/// `helper(name, imms, operands, array, outputs)`: call a helper on the caller's frame. `NULL` is
/// passed as null; a string among the immediates is a name of the caller's code.
unsafe extern "C" fn helper(_self: Obj, args: Obj) -> Obj {
    // SAFETY: called by the test script with five arguments of these types.
    unsafe {
        let item = |i| PyTuple_GetItem(args, i);
        let name = CStr::from_ptr(PyUnicode_AsUTF8(item(0))).to_str().unwrap();
        let op = *GeneralOp::ALL
            .iter()
            .find(|op| op.info().name == name)
            .expect("an operation");
        let (info, thread) = (op.info(), current_thread());
        let frame: Frame = field(thread, abi::thread::CURRENT_FRAME);
        let null = get(PyEval_GetGlobals(), "NULL");
        let value = |o: Obj| if o == null { ptr::null_mut() } else { o };
        let mut words: Vec<u64> = Vec::new();
        words.extend(info.thread.then_some(thread as u64));
        words.extend(info.frame.then_some(frame as u64));
        for i in 0..PyTuple_Size(item(1)) {
            words.push(immediate(frame, PyTuple_GetItem(item(1), i)));
        }
        for i in 0..PyTuple_Size(item(2)) {
            words.push(value(PyTuple_GetItem(item(2), i)) as u64);
        }
        let mut array: Vec<Obj> = (0..PyTuple_Size(item(3)))
            .map(|i| value(PyTuple_GetItem(item(3), i)))
            .collect();
        array.iter().for_each(|&o| Py_XINCREF(o));
        if info.variadic {
            words.extend([array.as_mut_ptr() as u64, array.len() as u64]);
        }
        let mut out: Vec<Obj> = vec![ptr::null_mut(); PyLong_AsSize_t(item(4))];
        words.extend(info.outputs.then_some(out.as_mut_ptr() as u64));
        words.resize(8, 0);
        let f: unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64) -> u64 =
            std::mem::transmute(helper_of(op).address);
        let w = &words;
        let result = f(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]);
        let outputs = || {
            let tuple = PyTuple_New(out.len() as Py_ssize_t);
            for (i, &o) in out.iter().enumerate() {
                PyTuple_SetItem(
                    tuple,
                    i as Py_ssize_t,
                    if o.is_null() { Py_NewRef(null) } else { o },
                );
            }
            tuple
        };
        let status = result as i64;
        match info.gives {
            Gives::Object => result as Obj,
            _ if status < 0 => ptr::null_mut(),
            Gives::Bool => PyBool_FromLong(status),
            Gives::Next if status == 0 => Py_NewRef(null),
            Gives::Next | Gives::Nothing => outputs(),
        }
    }
}

unsafe fn immediate(frame: Frame, imm: Obj) -> u64 {
    // SAFETY: as above.
    unsafe {
        if PyLong_Check(imm) != 0 {
            return PyLong_AsLong(imm) as u64;
        }
        let code: Obj = abi::slots::code(frame);
        let index = PySequence_Index(field(code, abi::code::NAMES), imm);
        assert!(index >= 0, "the caller's code does not have the name");
        index as u64
    }
}

#[test]
fn helpers_do_what_the_interpreter_does() {
    with_python(|| {
        let method = Box::leak(Box::new(PyMethodDef {
            ml_name: c"helper".as_ptr(),
            ml_meth: PyMethodDefPointer {
                PyCFunction: helper,
            },
            ml_flags: METH_VARARGS,
            ml_doc: ptr::null(),
        }));
        // SAFETY: inside the interpreter; the definition is kept for ever.
        let function = unsafe { PyCFunction_NewEx(method, ptr::null_mut(), ptr::null_mut()) };
        // SAFETY: as above; a function's vectorcall is read from a live function.
        unsafe {
            super::find_frame_readers();
            let scope = run("def f(): pass", &[]);
            let original: usize = field(get(scope, "f"), abi::function::VECTORCALL);
            super::ORIGINAL_VECTORCALL.store(original, std::sync::atomic::Ordering::Relaxed);
            Py_DECREF(scope);
        }
        run(include_str!("tests.py"), &[("helper", function)]);
    });
}

/// Helpers of the runtime and of the intrinsics.
const ELSEWHERE: &[&str] = &[EXIT_HOOK, DEALLOC, FREE_LEAF];

#[test]
fn signatures_are_those_the_core_expects() {
    let found = super::all();
    for row in helpers()
        .iter()
        .filter(|row| !ELSEWHERE.contains(&row.name))
    {
        let (_, entry) = found
            .iter()
            .find(|(name, _)| *name == row.name)
            .expect(row.name);
        assert_eq!(
            (&entry.params, &entry.results),
            (&row.params, &row.results),
            "{}",
            row.name
        );
    }
}

#[test]
fn float_arithmetic_is_that_of_float() {
    with_python(|| {
        let scope = run("def f(op, a, b): return (a % b, a // b, 0.0)[op]", &[]);
        let f = get(scope, "f");
        let numbers = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            3.7,
            -3.7,
            1e300,
            -1e-300,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        for a in numbers {
            for b in numbers.into_iter().filter(|&b| b != 0.0) {
                // SAFETY: inside the interpreter.
                unsafe {
                    let ask = |op: i64| {
                        let r = PyObject_CallFunction(f, c"Ldd".as_ptr(), op, a, b);
                        PyFloat_AsDouble(r)
                    };
                    let same =
                        |x: f64, y: f64| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
                    assert!(same(super::numbers::float_mod(a, b), ask(0)), "{a} % {b}");
                    assert!(
                        same(super::numbers::float_floordiv(a, b), ask(1)),
                        "{a} // {b}"
                    );
                }
            }
        }
    });
}

#[test]
fn keys_have_the_hashes_and_the_equality_of_the_interpreter() {
    with_python(|| {
        let scope = run(
            "keys = ['', 'a', 'ab' * 9, 'é', '\\U0001f600', 0, 1, -1, -2, 2**30 - 1, -(2**30 - 1), (), (1,), (1, 2), (2, 1),\n\
             \x20 (-1, -2), ('a', 3), ('ab' * 9, 'é', -1, 0), (0, 0, 0, 0), ('', '')]\n\
             keys += [''.join(list('abab')), tuple([1, 2]), tuple([-1, -2]), tuple(['a', 3])]\n\
             others = [2**30, 1.5, None, True, (1, 2, 3, 4, 5), (1.5,), ((1,),), [], (None,)]",
            &[],
        );
        let items = |name| {
            let list = get(scope, name);
            // SAFETY: a list that lives as long as the scope.
            (0..unsafe { PyList_Size(list) }).map(move |i| unsafe { PyList_GetItem(list, i) })
        };
        for a in items("keys") {
            // SAFETY: live objects.
            unsafe {
                assert_eq!(super::keys::hash_of(a), Some(PyObject_Hash(a)));
                for b in items("keys") {
                    let equal = PyObject_RichCompareBool(a, b, Py_EQ) != 0;
                    match super::keys::are_equal(a, b) {
                        Some(found) => assert_eq!(found, equal),
                        // Such keys have different hashes, or the interpreter compares them.
                        None => assert!(Py_TYPE(a) != Py_TYPE(b) && !equal),
                    }
                }
            }
        }
        for a in items("others") {
            // SAFETY: live objects.
            assert_eq!(unsafe { super::keys::hash_of(a) }, None);
        }
    });
}
