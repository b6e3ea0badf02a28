//! Warnings about functions that the user asked to compile (`@cladonia.jit`): a function that is
//! slower as machine code is reported once, with the reason.
//!
//! A Python warning runs arbitrary user code. So it is not issued where the loss is found, in the
//! middle of an exit, but by a pending call.

use super::abi::eval_breaker;
use super::capi::{AddressMap, CodeShape, Object};
use super::{Gil, worth};
use pyo3_ffi::*;
use std::cell::RefCell;
use std::ffi::{CString, c_int, c_void};

/// Minimum entries before a function is reported as slower than in the interpreter.
const SOME_ENTRIES: u64 = 1_000;

/// The functions that the user asked to compile, and the warnings to issue.
#[derive(Default)]
pub struct Advice {
    /// By code object; those without a warning so far.
    asked: RefCell<AddressMap<()>>,
    news: RefCell<Vec<News>>,
}

struct News {
    name: String,
    file: String,
    line: i32,
    text: String,
}

impl Advice {
    /// Watches functions with this code.
    pub fn ask(&self, code: Object) {
        self.asked.borrow_mut().insert(code as usize, ());
    }

    /// The code object is deallocated.
    pub fn forget(&self, code: Object) {
        self.asked.borrow_mut().remove(&(code as usize));
    }

    /// Functions with this code are interpreted from now on.
    ///
    /// # Safety
    /// The code object is alive.
    pub unsafe fn given_up(&self, code: Object, reason: &str) {
        if self.asked.borrow_mut().remove(&(code as usize)).is_none() {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { self.note(code, format!("it was given up: {reason}")) };
        // SAFETY: this thread has the GIL, so the interpreter is there.
        unsafe { eval_breaker::ask_for_call(tell_when_called) };
    }

    /// Checks if functions that the user requested are slower than in the interpreter.
    pub fn look(&self, gil: Gil) {
        let codes: Vec<usize> = self.asked.borrow().keys().copied().collect();
        for code in codes {
            let Some(state) = gil.runtime().state(code as Object) else {
                continue;
            };
            let (mut entries, mut gain) = (0, 0);
            for unit in state.units() {
                // SAFETY: units in tables are alive.
                let unit = unsafe { &*unit };
                entries += unit.all_entries();
                // SAFETY: as above.
                gain += unsafe { worth::gain(unit) };
            }
            let lost = worth::cost_of_entries(entries) - gain;
            if entries >= SOME_ENTRIES && lost > 0 {
                let each = lost / entries as i64;
                let text = format!(
                    "each call ({entries} so far) takes some {each} ns longer than in the interpreter, by an estimate: entering machine code costs more than it saves there"
                );
                self.asked.borrow_mut().remove(&code);
                // SAFETY: code objects in the table are alive.
                unsafe { self.note(code as Object, text) };
            }
        }
    }

    /// # Safety
    /// The code object is alive.
    unsafe fn note(&self, code: Object, text: String) {
        // SAFETY: the caller's promise.
        let shape = unsafe { CodeShape::of(code) };
        self.news.borrow_mut().push(News {
            name: shape.name(),
            file: shape.filename(),
            line: shape.line(0),
            text,
        });
    }

    /// Issues the pending warnings. Runs arbitrary user code.
    pub fn tell(&self, _: Gil) {
        for news in self.news.take() {
            let words =
                [news.name, news.file, news.text].map(|word| CString::new(word.replace('\0', "?")));
            let [Ok(name), Ok(file), Ok(text)] = &words else {
                continue;
            };
            // SAFETY: this thread has the GIL. If the warning filter makes the warning an error,
            // there is no caller to raise it in.
            unsafe {
                let module = PyImport_ImportModule(c"cladonia._warn".as_ptr());
                if !module.is_null() {
                    Py_XDECREF(PyObject_CallMethod(
                        module,
                        c"slower".as_ptr(),
                        c"ssis".as_ptr(),
                        name.as_ptr(),
                        file.as_ptr(),
                        news.line as c_int,
                        text.as_ptr(),
                    ));
                }
                if !PyErr_Occurred().is_null() {
                    PyErr_WriteUnraisable(module);
                }
                Py_XDECREF(module);
            }
        }
    }
}

extern "C" fn tell_when_called(_: *mut c_void) -> c_int {
    // SAFETY: the interpreter makes pending calls with its lock held.
    let gil = unsafe { Gil::held() };
    if let Some(runtime) = gil.started() {
        runtime.advice.tell(gil);
    }
    0
}
