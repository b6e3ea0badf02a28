//! `import`.
//!
//! Safety: the contract of [`super`].

use crate::abi::{self, changed};
use crate::capi::{Frame, Obj, Thread, field, frame_name, interned};
use crate::runtime::Gil;
use pyo3_ffi::*;
use std::ptr;

pub unsafe extern "C" fn import_name(
    thread: Thread,
    frame: Frame,
    name: i64,
    lazy: i64,
    level: Obj,
    names: Obj,
) -> Obj {
    // SAFETY: the thread's frame, whose code has a name of this number, and live operands.
    unsafe {
        let text = frame_name(frame, name);
        if let Some(module) = changed::import_name(thread, frame, text, lazy, level, names) {
            return module;
        }
        let import = interned!("__import__");
        let mut function = ptr::null_mut();
        if import.is_null()
            || PyMapping_GetOptionalItem(field(frame, abi::frame::BUILTINS), import, &mut function)
                < 0
        {
            return ptr::null_mut();
        }
        if function.is_null() {
            PyErr_SetString(PyExc_ImportError, c"__import__ not found".as_ptr());
            return function;
        }
        let mut locals: Obj = field(frame, abi::frame::LOCALS);
        if locals.is_null() {
            locals = Py_None();
        }
        let args = [
            text,
            field(frame, abi::frame::GLOBALS),
            locals,
            names,
            level,
        ];
        let module = PyObject_Vectorcall(function, args.as_ptr(), args.len(), ptr::null_mut());
        Py_DECREF(function);
        module
    }
}

pub unsafe extern "C" fn import_from(thread: Thread, frame: Frame, name: i64, module: Obj) -> Obj {
    // SAFETY: the thread's frame, whose code has a name of this number, and a live operand; the
    // lock is held.
    unsafe {
        let name = frame_name(frame, name);
        if let Some(value) = changed::import_from(thread, frame, module, name) {
            return value;
        }
        let mut value = ptr::null_mut();
        if PyObject_GetOptionalAttr(module, name, &mut value) != 0 {
            return value;
        }
        // A circular import: the submodule may be known before its parent has it.
        let mut parent = ptr::null_mut();
        let name_attr = interned!("__name__");
        if name_attr.is_null() || PyObject_GetOptionalAttr(module, name_attr, &mut parent) < 0 {
            return ptr::null_mut();
        }
        if !parent.is_null() && PyUnicode_Check(parent) != 0 {
            let full = PyUnicode_FromFormat(c"%U.%U".as_ptr(), parent, name);
            Py_DECREF(parent);
            if full.is_null() {
                return full;
            }
            value = PyImport_GetModule(full);
            Py_DECREF(full);
            if !value.is_null() || !PyErr_Occurred().is_null() {
                return value;
            }
        } else {
            Py_XDECREF(parent);
        }
        crate::runtime::interpreted(Gil::held(), || cannot_import(module, name))
    }
}

/// The `ImportError`. Its text depends on the module's spec, its file, `sys.path` and the release
/// of CPython. So the interpreter raises it, in a small function of its own, whose traceback entry
/// is then dropped.
#[cold]
unsafe fn cannot_import(module: Obj, name: Obj) -> Obj {
    // SAFETY: the caller's: live objects, with the lock held. New objects are owned, and dropped
    // once; `stub` is a Python function.
    unsafe {
        let scope = PyDict_New();
        if scope.is_null() {
            return scope;
        }
        // The second instruction of `get` loads the module, the fifth of `stub` is the
        // `IMPORT_FROM`.
        let source = c"
def make(name):
    def get(module): return module
    def stub(): from _ import _
    get, stub = get.__code__, stub.__code__.co_code
    body = get.co_code[:4] + stub[8:10] + get.co_code[4:]
    return type(make)(get.replace(co_code=body, co_names=(name,), co_stacksize=2), {})
";
        let builtins = PyEval_GetBuiltins();
        let ready = PyDict_SetItemString(scope, c"__builtins__".as_ptr(), builtins) == 0
            && not_null(PyRun_String(source.as_ptr(), Py_file_input, scope, scope));
        let maker = if ready {
            PyDict_GetItemString(scope, c"make".as_ptr())
        } else {
            ptr::null_mut()
        };
        let mut value = ptr::null_mut();
        if !maker.is_null() {
            let stub = PyObject_CallOneArg(maker, name);
            if !stub.is_null() {
                // Compiled code for it would call this helper again.
                if crate::runtime::is_started() {
                    let code = field(stub, abi::function::CODE);
                    let reason = "it raises what an import can't";
                    crate::runtime::function_state::give_up(Gil::held(), code, reason);
                }
                value = PyObject_CallOneArg(stub, module);
                Py_DECREF(stub);
                if value.is_null() {
                    let error = PyErr_GetRaisedException();
                    PyException_SetTraceback(error, Py_None());
                    PyErr_SetRaisedException(error);
                }
            }
        }
        Py_DECREF(scope);
        value
    }
}

unsafe fn not_null(object: Obj) -> bool {
    // SAFETY: the caller's: an owned reference, or null.
    unsafe {
        Py_XDECREF(object);
        !object.is_null()
    }
}
