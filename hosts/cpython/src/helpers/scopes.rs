//! Names (globals, builtins, namespaces, cells) and the operations that make functions and classes.
//!
//! Safety: the contract of [`super`].

use crate::abi::{self, changed};
use crate::capi::{
    _PyEval_FormatExcCheckArg, _PyEval_FormatExcUnbound, _PyFunction_SetVersion, Frame, Obj,
    current_thread, field, frame_name, interned, set_field,
};
use crate::namespace::{self, NameCell};
use crate::runtime::{Gil, function_state};
use cladonia::bytecode::FunctionAttribute;
use pyo3_ffi::*;
use std::cell::UnsafeCell;
use std::ffi::CStr;
use std::ptr;

unsafe fn globals(frame: Frame) -> Obj {
    // SAFETY: the caller's: a frame.
    unsafe { field(frame, abi::frame::GLOBALS) }
}

unsafe fn builtins(frame: Frame) -> Obj {
    // SAFETY: the caller's: a frame.
    unsafe { field(frame, abi::frame::BUILTINS) }
}

/// The namespace, borrowed; null (without an exception) in functions.
unsafe fn namespace(frame: Frame) -> Obj {
    // SAFETY: the caller's: a frame.
    unsafe { field(frame, abi::frame::LOCALS) }
}

unsafe fn name_error(name: Obj) {
    // SAFETY: the caller's: a live name, with the lock held.
    unsafe {
        _PyEval_FormatExcCheckArg(
            current_thread(),
            PyExc_NameError,
            c"name '%.200s' is not defined".as_ptr(),
            name,
        );
    }
}

/// The namespace, or a `SystemError` about `name`.
unsafe fn namespace_for(frame: Frame, text: &'static CStr, name: Obj) -> Option<Obj> {
    // SAFETY: the caller's: a frame and a live name; the text has one place for an object.
    unsafe {
        let locals = namespace(frame);
        if locals.is_null() {
            PyErr_Format(PyExc_SystemError, text.as_ptr(), name);
            return None;
        }
        Some(locals)
    }
}

pub unsafe extern "C" fn load_global(frame: Frame, name: i64) -> Obj {
    // SAFETY: the thread's frame, whose code has a name of this number. A cell is used only if the
    // dict, an exact one, still has the name there; the lock is held, so no other thread uses the
    // cells.
    unsafe {
        let name = frame_name(frame, name);
        let globals = globals(frame);
        if PyDict_CheckExact(globals) == 0 {
            return global_or_builtin(frame, name);
        }
        let cell = PLACES.of(globals, name);
        let known = (*cell).value(globals, name);
        if !known.is_null() && !changed::is_deferred(known) {
            return Py_NewRef(known);
        }
        let value = global_or_builtin(frame, name);
        if !value.is_null() {
            namespace::find(globals, name, cell);
        }
        value
    }
}

/// The places where names were found in namespaces. Each use checks that the place is still right.
struct Places(UnsafeCell<[NameCell; PLACES_KEPT]>);

const PLACES_KEPT: usize = 512;
static PLACES: Places = Places(UnsafeCell::new([NameCell::EMPTY; PLACES_KEPT]));

// SAFETY: used with the interpreter's lock only.
unsafe impl Sync for Places {}

impl Places {
    /// The cell for the place of a name in a dict. It may have the place of another name.
    #[inline(always)]
    unsafe fn of(&self, dict: Obj, name: Obj) -> *mut NameCell {
        // SAFETY: the index is inside.
        unsafe {
            let index = (dict as usize >> 4 ^ name as usize >> 4) % PLACES_KEPT;
            self.0.get().cast::<NameCell>().add(index)
        }
    }
}

unsafe fn global_or_builtin(frame: Frame, name: Obj) -> Obj {
    // SAFETY: the caller's: a frame and a live name.
    unsafe {
        let (globals, builtins) = (globals(frame), builtins(frame));
        let mut value = ptr::null_mut();
        if PyDict_CheckExact(globals) != 0 && PyDict_CheckExact(builtins) != 0 {
            if PyDict_GetItemRef(globals, name, &mut value) == 0
                && PyDict_GetItemRef(builtins, name, &mut value) == 0
            {
                name_error(name);
            }
        } else if PyMapping_GetOptionalItem(globals, name, &mut value) == 0
            && PyMapping_GetOptionalItem(builtins, name, &mut value) == 0
        {
            name_error(name);
        }
        changed::found(globals, name, value)
    }
}

pub unsafe extern "C" fn load_name(frame: Frame, name: i64) -> Obj {
    // SAFETY: the thread's frame, whose code has a name of this number.
    unsafe {
        let locals = namespace(frame);
        if locals.is_null() {
            PyErr_SetString(PyExc_SystemError, c"no locals".as_ptr());
            return ptr::null_mut();
        }
        let name = frame_name(frame, name);
        let mut value = ptr::null_mut();
        if PyMapping_GetOptionalItem(locals, name, &mut value) == 0
            && PyDict_GetItemRef(globals(frame), name, &mut value) == 0
            && PyMapping_GetOptionalItem(builtins(frame), name, &mut value) == 0
        {
            name_error(name);
        }
        changed::found(globals(frame), name, value)
    }
}

pub unsafe extern "C" fn store_name(frame: Frame, name: i64, value: Obj) -> i64 {
    // SAFETY: the thread's frame, whose code has a name of this number, and a live value.
    unsafe {
        let name = frame_name(frame, name);
        let Some(locals) = namespace_for(frame, c"no locals found when storing %R", name) else {
            return -1;
        };
        i64::from(if PyDict_CheckExact(locals) != 0 {
            PyDict_SetItem(locals, name, value)
        } else {
            PyObject_SetItem(locals, name, value)
        })
    }
}

pub unsafe extern "C" fn delete_name(frame: Frame, name: i64) -> i64 {
    // SAFETY: the thread's frame, whose code has a name of this number.
    unsafe {
        let name = frame_name(frame, name);
        let Some(locals) = namespace_for(frame, c"no locals when deleting %R", name) else {
            return -1;
        };
        if PyObject_DelItem(locals, name) != 0 {
            // The interpreter replaces the raised exception, whatever its class is.
            name_error(name);
            return -1;
        }
        0
    }
}

pub unsafe extern "C" fn store_global(frame: Frame, name: i64, value: Obj) -> i64 {
    // SAFETY: the thread's frame, whose code has a name of this number, and a live value.
    unsafe {
        i64::from(PyDict_SetItem(
            globals(frame),
            frame_name(frame, name),
            value,
        ))
    }
}

pub unsafe extern "C" fn delete_global(frame: Frame, name: i64) -> i64 {
    // SAFETY: the thread's frame, whose code has a name of this number.
    unsafe {
        let name = frame_name(frame, name);
        match PyDict_Pop(globals(frame), name, ptr::null_mut()) {
            0 => {
                name_error(name);
                -1
            }
            found if found < 0 => -1,
            _ => 0,
        }
    }
}

pub unsafe extern "C" fn load_locals(frame: Frame) -> Obj {
    // SAFETY: the thread's frame.
    unsafe {
        let locals = namespace(frame);
        if locals.is_null() {
            PyErr_SetString(PyExc_SystemError, c"no locals".as_ptr());
            return locals;
        }
        Py_NewRef(locals)
    }
}

pub unsafe extern "C" fn load_from_dict_or_globals(frame: Frame, name: i64, mapping: Obj) -> Obj {
    // SAFETY: the thread's frame, whose code has a name of this number, and a live mapping.
    unsafe {
        let name = frame_name(frame, name);
        let mut value = ptr::null_mut();
        if PyMapping_GetOptionalItem(mapping, name, &mut value) != 0 {
            return value;
        }
        global_or_builtin(frame, name)
    }
}

pub unsafe extern "C" fn load_from_dict_or_deref(frame: Frame, slot: i64, mapping: Obj) -> Obj {
    // SAFETY: the thread's frame, whose code has a variable of this number, with a cell in its
    // slot; a live mapping.
    unsafe {
        let code: Obj = abi::slots::code(frame);
        let names: Obj = field(code, abi::code::LOCALSPLUS_NAMES);
        let name: Obj = field(names, abi::tuple::ITEMS + 8 * slot as i32);
        let mut value = ptr::null_mut();
        if PyMapping_GetOptionalItem(mapping, name, &mut value) != 0 {
            return value;
        }
        let cell: Obj = abi::slots::get(frame, abi::frame::LOCALSPLUS + 8 * slot as i32);
        let content: Obj = field(cell, abi::cell::CONTENT);
        if content.is_null() {
            _PyEval_FormatExcUnbound(current_thread(), code, slot as i32);
            return content;
        }
        Py_NewRef(content)
    }
}

/// A new cell, which takes its content over, or null without an exception.
///
/// # Safety
/// An owned object, or null; the lock is held.
pub unsafe extern "C" fn new_cell(content: Obj) -> Obj {
    // SAFETY: the content is owned, or null.
    unsafe {
        let cell = PyCell_New(content);
        match cell.is_null() {
            true => PyErr_Clear(),
            false => Py_XDECREF(content),
        }
        cell
    }
}

/// Binds a function, or a method descriptor, to an object, which is taken over. The result is that
/// of the attribute `this.method`; null without an exception if there is no memory.
///
/// # Safety
/// A live function, and an owned object of a class that it is for; the lock is held.
pub unsafe extern "C" fn bind_method(function: Obj, this: Obj) -> Obj {
    // SAFETY: a live function, and an object of its class that is owned.
    unsafe {
        let method = bound(function, this);
        match method.is_null() {
            true => PyErr_Clear(),
            false => Py_DECREF(this),
        }
        method
    }
}

/// A function, or a method descriptor, as an attribute of an object: a new reference, or null with
/// an exception.
///
/// # Safety
/// The lock is held; both are live, and the object is of a class that the descriptor is for.
pub unsafe fn bound(function: Obj, this: Obj) -> Obj {
    // SAFETY: the caller's promise.
    unsafe {
        match (*Py_TYPE(function)).tp_descr_get {
            Some(get) => get(function, this, Py_TYPE(this).cast()),
            None => Py_NewRef(function),
        }
    }
}

pub unsafe extern "C" fn copy_free_vars(frame: Frame, count: i64) -> i64 {
    // SAFETY: the thread's frame, whose function closes over so many variables: the last of its
    // slots are theirs, and still empty.
    unsafe {
        let code: Obj = abi::slots::code(frame);
        let func: Obj = abi::slots::function(frame);
        let closure: Obj = field(func, abi::function::CLOSURE);
        let slots: i32 = field(code, abi::code::NLOCALSPLUS);
        let count = count as i32;
        for i in 0..count {
            let cell: Obj = field(closure, abi::tuple::ITEMS + 8 * i);
            set_field(
                frame,
                abi::frame::LOCALSPLUS + 8 * (slots - count + i),
                Py_NewRef(cell),
            );
        }
        0
    }
}

pub unsafe extern "C" fn make_function(frame: Frame, code: Obj) -> Obj {
    // SAFETY: the thread's frame and a live code object; the new function is owned, and the lock is
    // held.
    unsafe {
        let func = PyFunction_New(code, globals(frame));
        if !func.is_null() {
            _PyFunction_SetVersion(func, field(code, abi::code::VERSION));
            function_state::adopt(Gil::held(), func);
        }
        func
    }
}

/// The function was just made: nothing watches it yet and the field is empty.
pub unsafe extern "C" fn set_function_attribute(which: i64, func: Obj, value: Obj) -> i64 {
    // SAFETY: a new function, and a live value for that attribute: the field is empty.
    unsafe {
        let func = func.cast::<PyFunctionObject>();
        let place = match FunctionAttribute::from_arg(which as u32) {
            Some(FunctionAttribute::Defaults) => &raw mut (*func).func_defaults,
            Some(FunctionAttribute::KeywordDefaults) => &raw mut (*func).func_kwdefaults,
            Some(FunctionAttribute::Annotations) => &raw mut (*func).func_annotations,
            Some(FunctionAttribute::Annotate) if let Some(offset) = abi::ANNOTATE => {
                func.cast::<u8>().offset(offset as isize).cast()
            }
            Some(FunctionAttribute::Closure | FunctionAttribute::Annotate) | None => {
                &raw mut (*func).func_closure
            }
        };
        *place = Py_NewRef(value);
        0
    }
}

pub unsafe extern "C" fn load_build_class(frame: Frame) -> Obj {
    // SAFETY: the thread's frame.
    unsafe {
        let name = interned!("__build_class__");
        let mut value = ptr::null_mut();
        if !name.is_null() && PyMapping_GetOptionalItem(builtins(frame), name, &mut value) == 0 {
            PyErr_SetString(PyExc_NameError, c"__build_class__ not found".as_ptr());
        }
        value
    }
}

pub unsafe extern "C" fn setup_annotations(frame: Frame) -> i64 {
    // SAFETY: the thread's frame; each new reference is owned, and dropped once.
    unsafe {
        let locals = namespace(frame);
        if locals.is_null() {
            PyErr_SetString(
                PyExc_SystemError,
                c"no locals found when setting up annotations".as_ptr(),
            );
            return -1;
        }
        let name = interned!("__annotations__");
        let mut known = ptr::null_mut();
        if name.is_null() {
            return -1;
        }
        match PyMapping_GetOptionalItem(locals, name, &mut known) {
            0 => {
                let made = PyDict_New();
                if made.is_null() {
                    return -1;
                }
                let status = PyObject_SetItem(locals, name, made);
                Py_DECREF(made);
                i64::from(status)
            }
            1 => {
                Py_DECREF(known);
                0
            }
            _ => -1,
        }
    }
}
