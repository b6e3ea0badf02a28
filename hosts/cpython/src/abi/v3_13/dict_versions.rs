//! The record that a dict keeps of a replaced value: a version, of which each change takes the
//! next, and the bits of its watchers.

use super::layouts::{dict, interp, thread};
use crate::capi::{Obj, current_thread, field, set_field};
use cladonia::lir::{Builder, Opcode, Value};
use cladonia::ll::Width;
use pyo3_ffi::*;

/// The offset in a dict of the word with its watchers' bits (i64), and the mask of these bits.
pub const WATCHERS_AT: i32 = dict::VERSION_TAG;
/// The bits.
pub const WATCHERS: i32 = dict::WATCHERS;

/// Returns the operand of [`bump`], if the interpreter keeps versions where the layout has them:
/// the address of the counter from which each change of a dict takes its version. A test with a new
/// dict decides that.
///
/// # Safety
/// The thread has the GIL and no exception is set.
pub unsafe fn find() -> Option<u64> {
    // SAFETY: the caller's promise: the interpreter's state has the counter at the layout's offset,
    // which is tested here; new objects are dropped once.
    unsafe {
        let interp: *mut u8 = field(current_thread(), thread::INTERP);
        let counter = interp.offset(interp::DICT_STATE as isize);
        let (dict, name) = (PyDict_New(), PyUnicode_FromStringAndSize(c"a".as_ptr(), 1));
        if dict.is_null() || name.is_null() {
            PyErr_Clear();
            Py_XDECREF(dict);
            Py_XDECREF(name);
            return None;
        }
        let mut agrees = true;
        let mut last: u64 = counter.cast::<u64>().read();
        for value in [Py_None(), Py_True(), Py_False()] {
            agrees &= PyDict_SetItem(dict, name, value) == 0;
            let tag: u64 = field(dict, dict::VERSION_TAG);
            let next: u64 = counter.cast::<u64>().read();
            agrees &= tag == next && next == last + dict::VERSION_STEP as u64;
            last = next;
        }
        // The same change as compiled code makes.
        set_field::<u64>(counter, 0, last + dict::VERSION_STEP as u64);
        agrees &= PyDict_SetItem(dict, name, Py_None()) == 0;
        agrees &= field::<u64>(dict, dict::VERSION_TAG) == last + 2 * dict::VERSION_STEP as u64;
        PyErr_Clear();
        Py_DECREF(dict);
        Py_DECREF(name);
        agrees.then_some(counter as u64)
    }
}

/// LIR that gives a dict, of which `tag` is the word with the watchers, the next version.
pub fn bump(b: &mut Builder<'_>, namespace: Value, tag: Value, counter: u64) {
    let counter = b.pconst(counter);
    let version = b.load(Width::I64, counter, 0);
    let step = b.iconst(dict::VERSION_STEP.into());
    let version = b.op(Opcode::Iadd, &[version, step]);
    b.store(Width::I64, counter, 0, version);
    let own = b.iconst((dict::VERSION_STEP - 1).into());
    let own = b.op(Opcode::Iand, &[tag, own]);
    let tag = b.op(Opcode::Ior, &[version, own]);
    b.store(Width::I64, namespace, dict::VERSION_TAG, tag);
}

/// Notes that a value of a dict was replaced, as [`bump`] does.
///
/// # Safety
/// The thread has the GIL; a live dict, and the address that [`find`] has returned.
pub unsafe fn note_replaced(dict: Obj, counter: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        let counter = counter as *mut u64;
        let version = counter.read() + dict::VERSION_STEP as u64;
        counter.write(version);
        let own: u64 = field(dict, dict::VERSION_TAG);
        let own = own & (dict::VERSION_STEP as u64 - 1);
        set_field::<u64>(dict, dict::VERSION_TAG, version | own);
    }
}

/// Returns whether a dict has changed from when it had the first of two words with watchers to when
/// it had the second.
pub fn is_later(before: u64, after: u64) -> bool {
    after > before
}
