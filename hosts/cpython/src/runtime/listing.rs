//! Who asks the collector for objects that he was not given.
//!
//! Some units rely on it that nobody finds the objects which they have made and given to nobody
//! ([`ObjectsPrivate`](cladonia::facts::Assumption::ObjectsPrivate)). `gc.get_objects()`, `gc.get_referrers()` and `gc.get_referents()` (of a
//! frame) find them. So these functions are replaced while the JIT is on: before they answer, such units become invalid, which leave at
//! their next check. A program that asks again and again has no such units any more.

use super::Gil;
use super::capi::*;
use pyo3_ffi::*;
use std::cell::Cell;
use std::ffi::CStr;
use std::sync::OnceLock;

/// How often somebody may ask before no unit relies on it any more that nobody does.
const MOST_QUESTIONS: u32 = 8;

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

/// The module's own, and the rows of its table that they are in.
static ORIGINALS: OnceLock<(Functions, [Row; 3])> = OnceLock::new();

/// The row of a C function in its module's table of methods.
#[derive(Clone, Copy)]
pub(super) struct Row(*mut PyMethodDef);

// SAFETY: rows of a static table, which are changed with the GIL held.
unsafe impl Send for Row {}
// SAFETY: as above.
unsafe impl Sync for Row {}

impl Row {
    /// What the function does.
    ///
    /// # Safety
    /// The GIL is held.
    pub(super) unsafe fn function(self) -> PyMethodDefPointer {
        // SAFETY: the table is static.
        unsafe { (*self.0).ml_meth }
    }

    /// Let the function do `to` if it does `from`; says whether it does `to` then.
    ///
    /// # Safety
    /// The GIL is held; both are addresses of functions that are called as the row's flags say.
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

/// What is counted of questions.
#[derive(Default)]
pub struct Listing {
    /// Whether the module's functions are ours.
    is_watched: Cell<bool>,
    /// How often somebody has asked.
    questions: Cell<u32>,
}

impl Listing {
    /// Whether units may rely on it that nobody asks.
    pub fn is_unlikely(&self) -> bool {
        self.is_watched.get() && self.questions.get() < MOST_QUESTIONS
    }
}

fn originals() -> &'static Functions {
    &ORIGINALS.get().expect("they were replaced").0
}

/// Somebody asks.
fn note(gil: Gil) {
    gil.runtime().listing.questions.update(|asked| asked + 1);
    gil.runtime().watches.objects_are_listed(gil);
}

unsafe extern "C" fn objects(
    module: Object,
    args: *const Object,
    count: Py_ssize_t,
    names: Object,
) -> Object {
    // SAFETY: the interpreter calls with its lock held.
    let gil = unsafe { Gil::held() };
    note(gil);
    // SAFETY: a method's promises.
    unsafe { (originals().objects)(module, args, count, names) }
}

unsafe extern "C" fn referrers(module: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter calls with its lock held.
    let gil = unsafe { Gil::held() };
    note(gil);
    // SAFETY: a method's promises.
    unsafe { (originals().referrers)(module, args, count) }
}

unsafe extern "C" fn referents(module: Object, args: *mut Object, count: Py_ssize_t) -> Object {
    // SAFETY: the interpreter calls with its lock held.
    let gil = unsafe { Gil::held() };
    note(gil);
    // SAFETY: a method's promises.
    unsafe { (originals().referents)(module, args, count) }
}

/// Hear who asks; undone by [`restore`].
pub fn interpose(gil: Gil) {
    // SAFETY: the GIL is held.
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

/// Give the module its own functions back, where nobody else has replaced ours since.
pub fn restore(gil: Gil) {
    gil.runtime().listing.is_watched.set(false);
    if let Some((own, rows)) = ORIGINALS.get() {
        // SAFETY: the GIL is held.
        unsafe { exchange(rows, &OURS, own) };
    }
}

/// What the module has, before anything was replaced.
unsafe fn functions() -> Option<(Functions, [Row; 3])> {
    // SAFETY: the caller's: the GIL is held. The flags say how a function is called.
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

/// The row of a function of a module that is called so; `None` if another object has its name there.
///
/// # Safety
/// The GIL is held.
pub(super) unsafe fn row(module: Object, name: &CStr, flags: std::ffi::c_int) -> Option<Row> {
    // SAFETY: the caller's: the GIL is held. A C function has its row, which is static.
    unsafe {
        let function = PyObject_GetAttrString(module, name.as_ptr());
        if function.is_null() {
            PyErr_Clear();
            return None;
        }
        let is_own = Py_TYPE(function) == &raw mut PyCFunction_Type;
        let row = is_own.then(|| (*function.cast::<PyCFunctionObject>()).m_ml);
        // The module keeps it.
        Py_DECREF(function);
        let row =
            row.filter(|row| (**row).ml_flags == flags && CStr::from_ptr((**row).ml_name) == name);
        row.map(Row)
    }
}

/// Put some functions where others are now; says whether they are in all places then.
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
        // SAFETY: the caller's: the GIL is held; both are called alike.
        all &= unsafe { row.exchange(from, to) };
    }
    all
}
