//! Detects code that lists objects to which it has no reference, through the collector.
//!
//! Some units assume that the objects which they allocate, and store nowhere else, are not visible
//! to introspection ([`ObjectsPrivate`](cladonia::facts::Assumption::ObjectsPrivate)).
//! `gc.get_objects()`, `gc.get_referrers()` and `gc.get_referents()` (of a frame) find them. So
//! these functions are replaced while the JIT is on: before they answer, such units become invalid
//! and exit at their next check. A program that calls them again and again gets no such units any
//! more.
//!
//! For example, `t = (a, b)` whose items are only read again needs no tuple object; but then
//! `gc.get_objects()` in a callee would miss it.

use super::Gil;
use super::capi::*;
use crate::capi::in_main_interpreter;
use pyo3_ffi::*;
use std::cell::Cell;
use std::ffi::CStr;
use std::sync::OnceLock;

/// Number of such calls after which no unit relies on this assumption any more.
const MAX_QUESTIONS: u32 = 8;

/// The functions of the module `gc`, by their flags.
#[derive(Clone, Copy)]
struct Functions {
    objects: PyCFunctionFastWithKeywords,
    referrers: PyCFunctionFast,
    referents: PyCFunctionFast,
}

const OURS: Functions = Functions {
    objects,
    referrers,
    referents,
};

/// The module's own functions, and the rows of its method table that they are in.
static ORIGINALS: OnceLock<(Functions, [Row; 3])> = OnceLock::new();

/// The row of a C function in its module's table of methods.
#[derive(Clone, Copy)]
pub(super) struct Row(*mut PyMethodDef);

// SAFETY: rows of a static table, which are changed with the GIL held.
unsafe impl Send for Row {}
// SAFETY: as above.
unsafe impl Sync for Row {}

impl Row {
    /// The function in the row.
    ///
    /// # Safety
    /// The caller has the GIL.
    pub(super) unsafe fn function(self) -> PyMethodDefPointer {
        // SAFETY: the table is static.
        unsafe { (*self.0).ml_meth }
    }

    /// Replaces the function by `to` if it is `from`; returns true if the row has `to` then.
    ///
    /// # Safety
    /// The caller has the GIL; both are addresses of functions with the row's calling convention.
    pub(super) unsafe fn exchange(self, from: usize, to: usize) -> bool {
        // SAFETY: the caller's promise; a row's function is a word.
        unsafe {
            let place: *mut usize = (&raw mut (*self.0).ml_meth).cast();
            if *place == from {
                *place = to;
            }
            *place == to
        }
    }
}

/// Counts of such calls.
#[derive(Default)]
pub struct Listing {
    /// True while the module's functions are replaced.
    is_watched: Cell<bool>,
    /// Number of calls.
    questions: Cell<u32>,
}

impl Listing {
    /// True if units may assume that there are no such calls.
    pub fn is_unlikely(&self) -> bool {
        self.is_watched.get() && self.questions.get() < MAX_QUESTIONS
    }
}

fn originals() -> &'static Functions {
    &ORIGINALS.get().expect("they were replaced").0
}

/// Records a call. Other interpreters share the method table, but have no compiled code.
fn note() {
    if in_main_interpreter() {
        // SAFETY: the interpreter calls with its lock held, and it is the main one.
        let gil = unsafe { Gil::held() };
        gil.runtime().listing.questions.update(|asked| asked + 1);
        gil.runtime().watches.gc_lists_objects(gil);
    }
}

unsafe extern "C" fn objects(
    module: Object,
    args: *const Object,
    count: Py_ssize_t,
    names: Object,
) -> Object {
    note();
    // SAFETY: a method's promises.
    unsafe { (originals().objects)(module, args, count, names) }
}

unsafe extern "C" fn referrers(module: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    note();
    // SAFETY: a method's promises.
    unsafe { (originals().referrers)(module, args, count) }
}

unsafe extern "C" fn referents(module: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    note();
    // SAFETY: a method's promises.
    unsafe { (originals().referents)(module, args, count) }
}

/// Replaces the functions; undone by [`restore`].
pub fn interpose(gil: Gil) {
    // SAFETY: this thread has the GIL.
    unsafe {
        if ORIGINALS.get().is_none()
            && let Some(own) = functions()
        {
            let _ = ORIGINALS.set(own);
        }
        if let Some((own, rows)) = ORIGINALS.get() {
            let are_ours = exchange(rows, own, &OURS);
            gil.runtime().listing.is_watched.set(are_ours);
        }
    }
}

/// Restores the module's own functions, unless other code has replaced ours since.
pub fn restore(gil: Gil) {
    gil.runtime().listing.is_watched.set(false);
    if let Some((own, rows)) = ORIGINALS.get() {
        // SAFETY: this thread has the GIL.
        unsafe { exchange(rows, &OURS, own) };
    }
}

/// The module's own functions, before any replacement.
unsafe fn functions() -> Option<(Functions, [Row; 3])> {
    // SAFETY: the caller's: this thread has the GIL. The flags give a function's calling
    // convention.
    unsafe {
        let module = PyImport_ImportModule(c"gc".as_ptr());
        if module.is_null() {
            PyErr_Clear();
            return None;
        }
        let rows = (|| {
            Some([
                row(module, c"get_objects", METH_FASTCALL | METH_KEYWORDS)?,
                row(module, c"get_referrers", METH_FASTCALL)?,
                row(module, c"get_referents", METH_FASTCALL)?,
            ])
        })();
        Py_DECREF(module);
        let [objects, referrers, referents] = rows?.map(|row| row.function());
        let functions = Functions {
            objects: objects.PyCFunctionFastWithKeywords,
            referrers: referrers.PyCFunctionFast,
            referents: referents.PyCFunctionFast,
        };
        Some((functions, rows?))
    }
}

/// The row of a module's function of this name; `None` if another object has its name there.
///
/// # Safety
/// The caller has the GIL.
pub(super) unsafe fn row(module: Object, name: &CStr, flags: std::ffi::c_int) -> Option<Row> {
    // SAFETY: the caller's: this thread has the GIL. A C function has its row, which is static.
    unsafe {
        let function = PyObject_GetAttrString(module, name.as_ptr());
        if function.is_null() {
            PyErr_Clear();
            return None;
        }
        let is_own = Py_TYPE(function) == &raw mut PyCFunction_Type;
        let row = is_own.then(|| (*function.cast::<PyCFunctionObject>()).m_ml);
        // The module keeps it alive.
        Py_DECREF(function);
        let row =
            row.filter(|row| (**row).ml_flags == flags && CStr::from_ptr((**row).ml_name) == name);
        row.map(Row)
    }
}

/// Replaces some functions by others; returns true if the others are in all places then.
unsafe fn exchange(rows: &[Row; 3], from: &Functions, to: &Functions) -> bool {
    let words = |f: &Functions| {
        [
            f.objects as usize,
            f.referrers as usize,
            f.referents as usize,
        ]
    };
    let mut all = true;
    for ((row, from), to) in rows.iter().zip(words(from)).zip(words(to)) {
        // SAFETY: the caller's: this thread has the GIL; both have the same calling convention.
        all &= unsafe { row.exchange(from, to) };
    }
    all
}
