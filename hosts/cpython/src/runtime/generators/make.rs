//! Generators allocated and freed without the interpreter's help: calls that only create a
//! generator, and the memory of ended generators, which is reused for the same code.
//!
//! For example, `any(x > 3 for x in xs)` in a loop creates a generator of the same code at each
//! iteration, in the memory of the one before.

use super::super::capi::*;
use super::super::entries;
use super::super::function_state::CodeState;
use super::frames::clear_slots;
use super::{ResumeCell, abi, cell_of_code};
use crate::objects::{list_iterators, tracking};
use abi::code_units::GeneratorStart;
use abi::{
    frame as f, frames as frame_state, function, generator as g, generators as states, slots,
    thread as t,
};
use pyo3_ffi::*;

/// The beginning of the code, if it does nothing but to create the generator. (Code that awaits at
/// its top level has its globals as locals.)
unsafe fn prologue(code: Object) -> Option<GeneratorStart> {
    // SAFETY: the caller's: a code object.
    unsafe {
        if get::<i32>(code.cast(), abi::code::FLAGS) & CO_OPTIMIZED == 0 {
            return None;
        }
        abi::code_units::generator_start(code.cast::<u8>().offset(abi::code::ADAPTIVE as isize))
    }
}

/// The iterator of an object of a builtin class, whose `__iter__` runs no user code; `None` for any
/// other object, or if there is no memory.
unsafe fn iterator_of(iterable: Object) -> Option<Object> {
    // SAFETY: the caller's: a live object; the classes are static.
    unsafe {
        let class = Py_TYPE(iterable);
        if class == &raw mut PyGen_Type {
            return Some(Py_NewRef(iterable));
        }
        let iterator = if class == &raw mut PyList_Type {
            list_iterators::make(iterable)
        } else {
            let classes = [
                &raw mut PyRange_Type,
                &raw mut PyTuple_Type,
                &raw mut PyDict_Type,
                &raw mut PyUnicode_Type,
                &raw mut PySet_Type,
                &raw mut PyFrozenSet_Type,
                &raw mut PyBytes_Type,
                &raw mut PyDictItems_Type,
                &raw mut PyDictValues_Type,
                &raw mut PyDictKeys_Type,
                &raw mut PyEnum_Type,
                &raw mut PyZip_Type,
                &raw mut PyMap_Type,
                &raw mut PyFilter_Type,
            ];
            if !classes.contains(&class) {
                return None;
            }
            PyObject_GetIter(iterable)
        };
        if iterator.is_null() {
            PyErr_Clear();
            return None;
        }
        Some(iterator)
    }
}

/// The native entry of a generator function whose calls only create a generator; `None` if there is
/// more to do.
///
/// # Safety
/// The code object is alive.
pub unsafe fn maker(state: &CodeState) -> Option<u64> {
    let shape = state.shape;
    // SAFETY: the caller's promise.
    let only = shape.is_generator() && unsafe { prologue(shape.code).is_some() };
    only.then(|| entries::maker(shape.arity())).flatten()
}

/// A call that only creates a generator, without a frame: the frame would not be observable.
/// Returns `None`, without side effects, if there is more to do, or if the interpreter would raise.
///
/// # Safety
/// `func` is a Python function, the arguments are owned (and taken over) and bound.
#[inline]
pub unsafe fn make(ts: Thread, func: Object, args: &[Object]) -> Option<Object> {
    // SAFETY: the caller's promise; a new generator has room for the slots of its code.
    unsafe {
        let code: Object = get(func.cast(), function::CODE);
        let start = prologue(code)?;
        if get::<i32>(ts, t::PY_RECURSION_REMAINING) <= 1 || get::<i32>(ts, t::ORIGIN_DEPTH) != 0 {
            return None;
        }
        let iterator = match args {
            [iterable, ..] if start.iterates => Some(iterator_of(*iterable)?),
            _ => None,
        };
        let spare = cell_of_code(code).and_then(|cell| cell.spares.take());
        let generator = match spare {
            Some(spare) => renew(spare, func),
            None => {
                let made = _Py_MakeCoro(func);
                if made.is_null() {
                    PyErr_Clear();
                    Py_XDECREF(iterator.unwrap_or(std::ptr::null_mut()));
                    return None;
                }
                made
            }
        };
        let frame = fill(generator, func, code, start.next);
        let copied = start.copied;
        let count: i32 = get(code.cast(), abi::code::NLOCALSPLUS);
        let slot = |k: i32| f::LOCALSPLUS + 8 * k;
        for (k, &arg) in (0..).zip(args) {
            put(frame, slot(k), arg);
        }
        for k in args.len() as i32..count - copied {
            put::<Object>(frame, slot(k), std::ptr::null_mut());
        }
        if copied != 0 {
            let closure: Object = get(func.cast(), function::CLOSURE);
            for k in 0..copied {
                let cell: Object = get(closure.cast(), abi::tuple::ITEMS + 8 * k);
                put(frame, slot(count - copied + k), Py_NewRef(cell));
            }
        }
        let mut depth = count;
        if let Some(iterator) = iterator {
            put(frame, slot(depth), iterator);
            depth += 1;
            for null in [std::ptr::null_mut::<PyObject>(); states::ABOVE_ITERATOR as usize] {
                put(frame, slot(depth), null);
                depth += 1;
            }
            frame_state::set_depth(frame, depth);
        }
        slots::show(frame, depth);
        put::<i8>(generator.cast(), g::FRAME_STATE, g::STATE_CREATED as i8);
        if spare.is_some() {
            tracking::track(generator);
        }
        Some(generator)
    }
}

/// A suspended generator of a function, which continues at `at` and takes over the contents of its
/// slots; null with an exception if there is no memory, and then nothing is taken over.
///
/// # Safety
/// `func` is a generator function with this code; the slots have what the code's locals and stack
/// have at that position.
pub unsafe fn suspended(func: Object, code: Object, at: *const u8, contents: &[Object]) -> Object {
    // SAFETY: the caller's promise.
    unsafe {
        let generator = with_slots(func, code, at, contents);
        if !generator.is_null() {
            let state = g::STATE_SUSPENDED as i8;
            put::<i8>(generator.cast(), g::FRAME_STATE, state);
        }
        generator
    }
}

/// A generator with these slots, whose state is not set yet.
unsafe fn with_slots(func: Object, code: Object, at: *const u8, contents: &[Object]) -> Object {
    // SAFETY: the caller's promise; a new generator has room for the slots of its code.
    unsafe {
        let generator = _Py_MakeCoro(func);
        if generator.is_null() {
            return generator;
        }
        let frame = fill(generator, func, code, at);
        let count = contents.len() as i32;
        for (k, &object) in (0..).zip(contents) {
            put(frame, f::LOCALSPLUS + 8 * k, object);
        }
        frame_state::set_depth(frame, count);
        slots::show(frame, count);
        generator
    }
}

/// A generator that runs: its frame is the innermost one of the thread, and it handles no
/// exception. Returns the generator and the frame; null with an exception if there is no memory,
/// and then nothing is taken over.
///
/// # Safety
/// As for [`suspended`], on the thread `ts`.
pub unsafe fn running(
    ts: Thread,
    func: Object,
    code: Object,
    at: *const u8,
    contents: &[Object],
) -> (Object, Frame) {
    // SAFETY: the caller's promise.
    unsafe {
        let generator = with_slots(func, code, at, contents);
        if generator.is_null() {
            return (generator, std::ptr::null_mut());
        }
        let base = generator.cast::<u8>();
        let frame = base.offset(g::FRAME as isize);
        put::<i8>(base, g::FRAME_STATE, g::STATE_EXECUTING as i8);
        put::<*mut u8>(base, g::EXC_PREVIOUS, get(ts, t::EXC_INFO));
        put(ts, t::EXC_INFO, base.offset(g::EXC_STATE as isize));
        put::<Frame>(frame, f::PREVIOUS, get(ts, t::CURRENT_FRAME));
        put(ts, t::CURRENT_FRAME, frame);
        (generator, frame)
    }
}

/// Fills the frame of a new generator, except its locals, and returns it. It starts at `at`.
///
/// # Safety
/// As for [`make`].
#[inline(always)]
pub unsafe fn fill(generator: Object, func: Object, code: Object, at: *const u8) -> Frame {
    // SAFETY: the caller's promise.
    unsafe {
        let frame = generator.cast::<u8>().offset(g::FRAME as isize);
        put(frame, f::EXECUTABLE, Py_NewRef(code));
        put(frame, f::PREVIOUS, std::ptr::null_mut::<u8>());
        put(frame, f::FUNCOBJ, Py_NewRef(func));
        for (offset, own) in [
            (f::GLOBALS, function::GLOBALS),
            (f::BUILTINS, function::BUILTINS),
        ] {
            put::<Object>(frame, offset, get(func.cast(), own));
        }
        for offset in [f::LOCALS, f::FRAME_OBJ] {
            put::<Object>(frame, offset, std::ptr::null_mut());
        }
        put(frame, f::INSTR_PTR, at);
        let slots: i32 = get(code.cast(), abi::code::NLOCALSPLUS);
        frame_state::set_depth(frame, slots);
        frame_state::begin(frame, f::OWNED_BY_GENERATOR);
        frame
    }
}

/// A new object in the memory of one that [`retire`] has taken; the other fields are unchanged.
#[inline(always)]
unsafe fn renew(memory: Object, func: Object) -> Object {
    // SAFETY: the memory comes from a generator of the same code, so class and size are right.
    unsafe {
        let header = memory.cast::<u64>().sub(2);
        *header = 0;
        *header.add(1) = 0;
        _Py_NewReference(memory);
        let base = memory.cast::<u8>();
        for (own, its) in [(g::NAME, function::NAME), (g::QUALNAME, function::QUALNAME)] {
            put(base, own, Py_NewRef(get(func.cast(), its)));
        }
        memory
    }
}

/// Frees a generator or coroutine that has ended, or waits at a `yield` or to begin, as its class
/// does, but keeps its memory for reuse. False if there is more to do, or no room; then the class
/// continues from the state reached here.
///
/// # Safety
/// The object is one, with no references.
#[inline]
pub(super) unsafe fn retire(generator: Object) -> bool {
    // SAFETY: the caller's promise. An ended generator owns only these references; the code is
    // dropped last, since its deallocation may free the memory too.
    unsafe {
        let base = generator.cast::<u8>();
        let is_bare = get::<Object>(base, g::WEAK_REFERENCES).is_null()
            && get::<Object>(base, g::EXC_STATE).is_null()
            && (Py_TYPE(generator) == &raw mut PyGen_Type
                || get::<Object>(base, g::ORIGIN).is_null());
        if !is_bare {
            return false;
        }
        let code: Object = slots::code(base.offset(g::FRAME as isize));
        let Some(ResumeCell { spares, .. }) = cell_of_code(code) else {
            return false;
        };
        let state = states::state(base);
        if state != g::STATE_CLEARED as i8 {
            return states::may_be_resumed(state) && spares.has_room() && retire_waiting(generator);
        }
        if !spares.keep(generator) {
            return false;
        }
        tracking::untrack(generator);
        Py_DECREF(get(base, g::NAME));
        Py_DECREF(get(base, g::QUALNAME));
        Py_DECREF(code);
        true
    }
}

/// Frees a generator without references if it has ended and no object is deallocated with it; true
/// if that was done.
///
/// # Safety
/// The object is one, with no references.
pub unsafe fn free_ended(generator: Object) -> bool {
    // SAFETY: the caller's promise. The deallocation of names runs no user code.
    unsafe {
        let state = states::state(generator.cast());
        let code: Object = slots::code(generator.cast::<u8>().offset(g::FRAME as isize));
        state == g::STATE_CLEARED as i8 && Py_REFCNT(code) > 1 && retire(generator)
    }
}

/// [`retire`] for one that has not ended.
#[inline(never)]
unsafe fn retire_waiting(generator: Object) -> bool {
    // SAFETY: the caller's.
    unsafe {
        match end_waiting(generator) {
            Ended::Wholly => {}
            Ended::Not => return false,
            Ended::Alive => return true,
        }
        let base = generator.cast::<u8>();
        Py_DECREF(get(base, g::NAME));
        Py_DECREF(get(base, g::QUALNAME));
        let code: Object = slots::code(base.offset(g::FRAME as isize));
        // User code may have run: the room, or the cell, may be gone.
        if !cell_of_code(code).is_some_and(|cell| cell.spares.keep(generator)) {
            PyObject_GC_Del(generator.cast());
        }
        Py_DECREF(code);
        true
    }
}

/// The outcome for a generator without references.
enum Ended {
    /// The collector does not track it, and its frame is empty.
    Wholly,
    /// At most it was closed.
    Not,
    /// There is a reference to it again.
    Alive,
}

/// Ends a generator that waits, and handles no exception.
unsafe fn end_waiting(generator: Object) -> Ended {
    // SAFETY: the caller's.
    unsafe {
        let base = generator.cast::<u8>();
        let frame = base.offset(g::FRAME as isize);
        // Its class calls the finaliser only once.
        if PyObject_CallFinalizerFromDealloc(generator) < 0 {
            return Ended::Alive;
        }
        let is_bare = get::<Object>(base, g::WEAK_REFERENCES).is_null()
            && get::<Object>(base, g::EXC_STATE).is_null()
            && get::<Object>(frame, f::FRAME_OBJ).is_null()
            && get::<Object>(frame, f::LOCALS).is_null();
        if !is_bare {
            return Ended::Not;
        }
        tracking::untrack(generator);
        if states::state(base) != g::STATE_CLEARED as i8 {
            put::<i8>(base, g::FRAME_STATE, g::STATE_CLEARED as i8);
            clear_slots(frame);
        }
        Ended::Wholly
    }
}
