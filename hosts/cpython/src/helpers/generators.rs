//! Creating generators, and sending values to them.
//!
//! Safety: the contract of [`super`].

use super::unpack::get_iter;
use crate::abi;
use crate::capi::{Frame, Obj, Thread, field, interned};
use crate::runtime::Gil;
use crate::runtime::capi::{_Py_MakeCoro, _PyGen_FetchStopIterationValue, put};
use crate::runtime::generators::{announce, fill, is_resumable, is_suspended, resume};
use abi::{code, frame as f, frames, generator as g, slots};
use pyo3_ffi::*;
use std::ptr;

/// The interpreter's `RETURN_GENERATOR`: the locals move from the frame to the generator. The array
/// has the entries of the frame's stack, which are taken over.
pub unsafe extern "C" fn make_generator(
    _thread: Thread,
    frame: Frame,
    array: *mut Obj,
    entries: i64,
) -> Obj {
    // SAFETY: the thread's frame, of a generator's code that has just begun: the generator has room
    // for its slots, whose references move.
    unsafe {
        let func: Obj = slots::function(frame);
        let generator = _Py_MakeCoro(func);
        if generator.is_null() {
            for k in 0..entries {
                Py_XDECREF(*array.offset(k as isize));
            }
            return generator;
        }
        let executable: Obj = slots::code(frame);
        let count: i32 = field(executable, code::NLOCALSPLUS);
        let at: *const u8 = field(frame, f::INSTR_PTR);
        let to = fill(generator, func, executable, at.add(2));
        for slot in 0..count {
            let place = f::LOCALSPLUS + 8 * slot;
            put::<Obj>(to, place, field(frame, place));
            put::<Obj>(frame, place, ptr::null_mut());
        }
        let all = count + entries as i32;
        for k in count..all {
            let entry = *array.offset((k - count) as isize);
            put::<Obj>(to, f::LOCALSPLUS + 8 * k, entry);
        }
        frames::set_depth(to, all);
        slots::show(to, all);
        put::<i8>(generator.cast(), g::FRAME_STATE, g::STATE_CREATED as i8);
        generator
    }
}

/// The interpreter's `GET_YIELD_FROM_ITER`.
pub unsafe extern "C" fn get_yield_from_iter(thread: Thread, frame: Frame, iterable: Obj) -> Obj {
    // SAFETY: the running thread and its frame, and a live operand.
    unsafe {
        if Py_TYPE(iterable) == &raw mut PyCoro_Type {
            let executable: Obj = slots::code(frame);
            let flags: i32 = field(executable, code::FLAGS);
            if flags & (CO_COROUTINE | CO_ITERABLE_COROUTINE) == 0 {
                PyErr_SetString(
                    PyExc_TypeError,
                    c"cannot 'yield from' a coroutine object in a non-coroutine generator".as_ptr(),
                );
                return ptr::null_mut();
            }
            return Py_NewRef(iterable);
        }
        if Py_TYPE(iterable) == &raw mut PyGen_Type {
            return Py_NewRef(iterable);
        }
        get_iter(thread, iterable)
    }
}

/// The interpreter's `SEND`.
pub unsafe extern "C" fn send(thread: Thread, receiver: Obj, value: Obj, out: *mut Obj) -> i64 {
    // SAFETY: the running thread, with the lock held, and live operands; there is room for a
    // result.
    unsafe {
        if is_resumable(receiver)
            && let Some(result) = resume(Gil::held(), thread, receiver, value)
        {
            if result.is_null() {
                return -1;
            }
            *out = result;
            return is_suspended(receiver) as i64;
        }
        announce();
        let next = (*Py_TYPE(receiver)).tp_iternext;
        let result = match next {
            Some(next) if value == Py_None() => next(receiver),
            _ => {
                let name = interned!("send");
                if name.is_null() {
                    return -1;
                }
                PyObject_CallMethodOneArg(receiver, name, value)
            }
        };
        if !result.is_null() {
            *out = result;
            return 1;
        }
        if _PyGen_FetchStopIterationValue(out) == 0 {
            0
        } else {
            -1
        }
    }
}
