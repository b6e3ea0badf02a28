//! Calls: of anything, with unpacked arguments, of the bytecode's intrinsics, and of functions in the interpreter.
//!
//! Safety: the contract of [`super`].
#![allow(unsafe_op_in_unsafe_fn)]

use crate::abi;
use crate::capi::{
    _PyEval_EvalFrameDefault, _PyEvalFramePushAndInit, _PyIntrinsics_BinaryFunctions,
    _PyIntrinsics_UnaryFunctions, _PyObject_FunctionStr, Frame, Obj, PyMethod_Type, Thread,
    VectorCall, field,
};
use pyo3_ffi::*;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The interpreter's `_PyFunction_Vectorcall`, which is not exported: the runtime reads it from a fresh function.
pub static ORIGINAL_VECTORCALL: AtomicUsize = AtomicUsize::new(0);
/// Called before a builtin that reads the caller's locals, or 0: `extern "C" fn(thread, frame)` turns the frame's raw
/// locals into objects.
pub static MATERIALIZE_FRAME: AtomicUsize = AtomicUsize::new(0);

type Materialize = unsafe extern "C" fn(Thread, Frame);

/// The builtins that read their caller's frame: the function objects, borrowed from `builtins` for ever.
static FRAME_READERS: [AtomicPtr<PyObject>; 5] = [const { AtomicPtr::new(ptr::null_mut()) }; 5];

/// Find the builtins that read their caller's frame.
///
/// # Safety
/// The interpreter's lock is held.
pub unsafe fn find_frame_readers() {
    let builtins = PyEval_GetBuiltins();
    for (place, name) in FRAME_READERS
        .iter()
        .zip([c"locals", c"vars", c"dir", c"eval", c"exec"])
    {
        let found = PyDict_GetItemString(builtins, name.as_ptr());
        if !found.is_null()
            && PyCFunction_CheckExact(found) != 0
            && place.load(Ordering::Relaxed).is_null()
        {
            // Kept for ever, so that no other object can take its address.
            place.store(Py_NewRef(found), Ordering::Relaxed);
        }
    }
}

#[inline]
unsafe fn before_frame_reader(thread: Thread, callable: Obj) {
    if Py_TYPE(callable) == &raw mut PyCFunction_Type
        && FRAME_READERS
            .iter()
            .any(|reader| reader.load(Ordering::Relaxed) == callable)
    {
        materialize(thread);
    }
}

#[cold]
unsafe fn materialize(thread: Thread) {
    let hook = MATERIALIZE_FRAME.load(Ordering::Relaxed);
    if hook != 0 {
        let hook = std::mem::transmute::<usize, Materialize>(hook);
        hook(thread, field(thread, abi::thread::CURRENT_FRAME));
    }
}

/// The interpreter's generic `CALL` and `CALL_KW`: array of callable, self or null, arguments.
pub unsafe extern "C" fn call(thread: Thread, kwnames: Obj, array: *mut Obj, length: i64) -> Obj {
    let mut callable = *array;
    let (mut args, mut count) = (array.add(2), length as usize - 2);
    if !(*array.add(1)).is_null() {
        (args, count) = (array.add(1), count + 1);
    } else if Py_TYPE(callable) == &raw mut PyMethod_Type {
        let method = callable;
        (args, count) = (array.add(1), count + 1);
        *args = Py_NewRef(field(method, abi::method::SELF));
        callable = Py_NewRef(field(method, abi::method::FUNC));
        *array = callable;
        Py_DECREF(method);
    }
    let positional = count
        - if kwnames.is_null() {
            0
        } else {
            Py_SIZE(kwnames) as usize
        };
    if Py_TYPE(callable) == &raw mut PyFunction_Type {
        let entry: usize = field(callable, abi::function::VECTORCALL);
        if entry == ORIGINAL_VECTORCALL.load(Ordering::Relaxed) {
            return interpret(thread, callable, args, positional, kwnames);
        }
        if let Some(result) =
            crate::runtime::entries::call_native(thread, callable, args, positional, kwnames)
        {
            Py_DECREF(callable);
            return result;
        }
    } else {
        before_frame_reader(thread, callable);
    }
    let result = PyObject_Vectorcall(
        callable,
        args,
        positional | PY_VECTORCALL_ARGUMENTS_OFFSET,
        kwnames,
    );
    Py_DECREF(callable);
    for i in 0..count {
        Py_DECREF(*args.add(i));
    }
    after_call(thread, result)
}

/// What the interpreter does after a call that was not one of a Python function: the events that are pending by now
/// (the callee may have raised a signal), which may raise.
#[inline]
unsafe fn after_call(thread: Thread, result: Obj) -> Obj {
    let breaker: u64 = field(thread, abi::thread::EVAL_BREAKER);
    if breaker & 0xff != 0 && !result.is_null() && crate::capi::_Py_HandlePending(thread) != 0 {
        Py_DECREF(result);
        return ptr::null_mut();
    }
    result
}

/// Run a function in the interpreter as an inlined call does: the function's reference and those of all arguments go
/// to the new frame, so that they die where the callee drops them.
///
/// # Safety
/// `func` and the arguments are owned; the positional ones come first.
pub unsafe fn interpret(
    thread: Thread,
    func: Obj,
    args: *const Obj,
    positional: usize,
    kwnames: Obj,
) -> Obj {
    let code: Obj = field(func, abi::function::CODE);
    let flags: i32 = field(code, abi::code::FLAGS);
    let locals = if flags & CO_OPTIMIZED != 0 {
        ptr::null_mut()
    } else {
        Py_NewRef(field(func, abi::function::GLOBALS))
    };
    let frame = _PyEvalFramePushAndInit(thread, func, locals, args, positional, kwnames);
    if frame.is_null() {
        return ptr::null_mut();
    }
    let interp: *mut u8 = field(thread, abi::thread::INTERP);
    let hook: Option<unsafe extern "C" fn(Thread, Frame, i32) -> Obj> =
        field(interp, abi::interp::EVAL_FRAME);
    match hook {
        Some(hook) => hook(thread, frame, 0),
        None => _PyEval_EvalFrameDefault(thread, frame, 0),
    }
}

/// A call of a function by the entry it was born with, with a vectorcall's borrowed arguments.
///
/// # Safety
/// As of a vectorcall; the runtime has set [`ORIGINAL_VECTORCALL`].
pub unsafe fn call_original(func: Obj, args: *const Obj, count: usize, kwnames: Obj) -> Obj {
    let original = ORIGINAL_VECTORCALL.load(Ordering::Relaxed);
    std::mem::transmute::<usize, VectorCall>(original)(func, args, count, kwnames)
}

pub unsafe extern "C" fn call_ex(thread: Thread, callable: Obj, args: Obj, kwargs: Obj) -> Obj {
    let tuple = if PyTuple_CheckExact(args) != 0 {
        Py_NewRef(args)
    } else {
        if (*Py_TYPE(args)).tp_iter.is_none() && PySequence_Check(args) == 0 {
            not_iterable(callable, args);
            return ptr::null_mut();
        }
        PySequence_Tuple(args)
    };
    if tuple.is_null() {
        return tuple;
    }
    before_frame_reader(thread, callable);
    let result = PyObject_Call(callable, tuple, kwargs);
    Py_DECREF(tuple);
    after_call(thread, result)
}

#[cold]
unsafe fn not_iterable(callable: Obj, args: Obj) {
    PyErr_Clear();
    let text = _PyObject_FunctionStr(callable);
    if !text.is_null() {
        PyErr_Format(
            PyExc_TypeError,
            c"%U argument after * must be an iterable, not %.200s".as_ptr(),
            text,
            (*Py_TYPE(args)).tp_name,
        );
        Py_DECREF(text);
    }
}

pub unsafe extern "C" fn call_intrinsic_1(thread: Thread, number: i64, a: Obj) -> Obj {
    match _PyIntrinsics_UnaryFunctions
        .get(number as usize)
        .and_then(|row| row.func)
    {
        Some(func) => func(thread, a),
        None => unknown_intrinsic(),
    }
}

pub unsafe extern "C" fn call_intrinsic_2(thread: Thread, number: i64, a: Obj, b: Obj) -> Obj {
    match _PyIntrinsics_BinaryFunctions
        .get(number as usize)
        .and_then(|row| row.func)
    {
        Some(func) => func(thread, a, b),
        None => unknown_intrinsic(),
    }
}

#[cold]
unsafe fn unknown_intrinsic() -> Obj {
    PyErr_SetString(PyExc_SystemError, c"invalid intrinsic function".as_ptr());
    ptr::null_mut()
}
