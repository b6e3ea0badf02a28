//! The hooks of audited events: two words, one of the process and one of the interpreter, which are
//! null if there is no hook.
//!
//! The word of the process lies in `_PyRuntime` behind fields that have grown in patch versions
//! (283320 bytes in 3.13.0, 283408 in 3.13.15, others without perf trampolines), so it is searched
//! for in the running interpreter. A tracer of references, whose two words occur nowhere else, is
//! set for a moment and searched for; the word lies at a fixed distance behind it. The fields in
//! between are compared with their known values.

use super::layouts::{debug, interp};
use crate::abi::read;
use pyo3_ffi::{self as ffi, PyObject};
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

type Tracer = unsafe extern "C" fn(*mut PyObject, c_int, *mut c_void) -> c_int;

unsafe extern "C" {
    fn PyRefTracer_SetTracer(tracer: Option<Tracer>, data: *mut c_void) -> c_int;
    fn PyRefTracer_GetTracer(data: *mut *mut c_void) -> Option<Tracer>;
}

/// From `ref_tracer` to `preconfig`: a lock, and the state of stopping the world.
const TRACER_TO_CONFIG: usize = 48;
/// From `ref_tracer` to `audit_hooks.head`.
const TRACER_TO_HOOKS: usize = 112;

/// Places of `int`s in `PyPreConfig`.
mod preconfig {
    pub const LENGTH: usize = 10;
    pub const INITIALISER: usize = 0;
    pub const UTF8_MODE: usize = 7;
    pub const DEV_MODE: usize = 8;
}

/// The addresses of the two words; `None` where one of them was not found for certain: then some
/// hook may be called for any event.
///
/// # Safety
/// The thread has the GIL; the interpreter has been validated.
pub unsafe fn hooks(runtime: *const u8) -> Option<[i64; 2]> {
    static OF_PROCESS: OnceLock<Option<usize>> = OnceLock::new();
    // SAFETY: the caller's promise.
    let of_process = (*OF_PROCESS.get_or_init(|| unsafe { find(runtime) }))?;
    // SAFETY: an address only.
    let ours = unsafe {
        let interpreter = ffi::PyInterpreterState_Get().cast::<u8>();
        interpreter.byte_offset(interp::AUDIT_HOOKS as isize) as i64
    };
    Some([ours, of_process as i64])
}

/// The tracer that is searched for. It would be called when an object is created or destroyed, and
/// none is while it is set.
unsafe extern "C" fn mark(_: *mut PyObject, _: c_int, _: *mut c_void) -> c_int {
    0
}

/// # Safety
/// As of [`hooks`].
unsafe fn find(runtime: *const u8) -> Option<usize> {
    static MARK: u8 = 0;
    let pair = [mark as *const () as usize, &raw const MARK as usize];
    // SAFETY: the runtime state is as large as it says; the tracer that was set is set again before
    // anything else runs.
    let places = unsafe {
        let words = read::<u64, _>(runtime, debug::RUNTIME) as usize / 8;
        let words = std::slice::from_raw_parts(runtime.cast::<usize>(), words);
        let mut data = std::ptr::null_mut();
        let before = PyRefTracer_GetTracer(&mut data);
        if PyRefTracer_SetTracer(Some(mark), pair[1] as *mut c_void) < 0 {
            ffi::PyErr_Clear();
            return None;
        }
        let is_mark = |at: &usize| {
            // The words change under the slice, so each is read as volatile.
            let at = words.as_ptr().add(*at);
            [at.read_volatile(), at.add(1).read_volatile()] == pair
        };
        let places: Vec<usize> = (0..words.len() - 1).filter(is_mark).collect();
        let restored = PyRefTracer_SetTracer(before, data);
        if restored < 0 {
            ffi::PyErr_Clear();
        }
        places
    };
    let &[place] = &places[..] else {
        return None;
    };
    let tracer = runtime as usize + 8 * place;
    // SAFETY: all lies in the runtime state, whose end is far behind.
    unsafe {
        let size = read::<u64, _>(runtime, debug::RUNTIME) as usize;
        if tracer + TRACER_TO_HOOKS + 8 > runtime as usize + size {
            return None;
        }
        let config = (tracer + TRACER_TO_CONFIG) as *const [c_int; preconfig::LENGTH];
        let config = config.read();
        let is_config = (1..=3).contains(&config[preconfig::INITIALISER])
            && config[1..].iter().all(|value| (-1..=16).contains(value))
            && flag(c"utf8_mode") == Some(config[preconfig::UTF8_MODE].into())
            && flag(c"dev_mode") == Some(config[preconfig::DEV_MODE].into());
        let (lock, head) = (
            ((tracer + TRACER_TO_HOOKS - 8) as *const usize).read(),
            ((tracer + TRACER_TO_HOOKS) as *const usize).read(),
        );
        let is_list = head == 0 || head > 4096 && head % 8 == 0;
        (is_config && lock == 0 && is_list).then_some(tracer + TRACER_TO_HOOKS)
    }
}

/// A number of `sys.flags`.
///
/// # Safety
/// The thread has the GIL.
unsafe fn flag(name: &std::ffi::CStr) -> Option<i64> {
    // SAFETY: the caller's promise.
    unsafe {
        let flags = ffi::PySys_GetObject(c"flags".as_ptr());
        if flags.is_null() {
            return None;
        }
        let value = ffi::PyObject_GetAttrString(flags, name.as_ptr());
        if value.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        let number = ffi::PyLong_AsLong(value);
        ffi::Py_DECREF(value);
        Some(number)
    }
}
