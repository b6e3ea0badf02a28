//! Pages from templates: minijinja, with Python objects as context. Text in a page is escaped for
//! HTML, except parts that the template marks as safe.

use crate::capi::Obj;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use pyo3_ffi::*;
use std::collections::BTreeMap;
use std::ffi::c_char;

/// Maximum nesting of containers; a deeper context is refused, since it could contain itself.
const MAX_DEPTH: u32 = 64;

/// The text of a template with this context.
///
/// # Errors
/// The error in the template, or the object of the context that a template can't use. An exception
/// may be pending in addition.
///
/// # Safety
/// The caller has the GIL; the context is a dict.
pub unsafe fn render(template: &str, context: Obj) -> Result<String, String> {
    let mut environment = Environment::new();
    // A missing name is a fault of ours, which a test must detect.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    // SAFETY: the caller's promise.
    let context = unsafe { value_of(context, 0)? };
    let text = environment.render_str(template, context);
    text.map_err(|error| format!("{error:#}"))
}

/// # Safety
/// The caller has the GIL; a live object.
unsafe fn value_of(object: Obj, depth: u32) -> Result<Value, String> {
    if depth > MAX_DEPTH {
        return Err("the context is nested too deeply".to_owned());
    }
    // SAFETY: the caller's promise; types are checked before anything is read.
    unsafe {
        if object == Py_None() {
            return Ok(Value::from(()));
        }
        if PyBool_Check(object) != 0 {
            return Ok(Value::from(object == Py_True()));
        }
        if PyLong_Check(object) != 0 {
            let mut overflows = 0;
            let number = PyLong_AsLongLongAndOverflow(object, &mut overflows);
            return match overflows {
                0 => Ok(Value::from(number)),
                _ => Ok(Value::from(PyLong_AsDouble(object))),
            };
        }
        if PyFloat_Check(object) != 0 {
            return Ok(Value::from(PyFloat_AsDouble(object)));
        }
        if PyUnicode_Check(object) != 0 {
            return Ok(Value::from(str_of(object)?));
        }
        if PyList_Check(object) != 0 || PyTuple_Check(object) != 0 {
            let count = PySequence_Size(object);
            let mut items = Vec::new();
            for index in 0..count {
                let item = match PyList_Check(object) {
                    0 => PyTuple_GetItem(object, index),
                    _ => PyList_GetItem(object, index),
                };
                items.push(value_of(item, depth + 1)?);
            }
            return Ok(Value::from(items));
        }
        if PyDict_Check(object) != 0 {
            let (mut place, mut key, mut item) = (0, std::ptr::null_mut(), std::ptr::null_mut());
            let mut fields = BTreeMap::new();
            while PyDict_Next(object, &mut place, &mut key, &mut item) != 0 {
                if PyUnicode_Check(key) == 0 {
                    return Err("a key of the context is no str".to_owned());
                }
                fields.insert(str_of(key)?, value_of(item, depth + 1)?);
            }
            return Ok(Value::from(fields));
        }
        let class = std::ffi::CStr::from_ptr((*Py_TYPE(object)).tp_name);
        Err(format!(
            "a template can't have a {}",
            class.to_string_lossy()
        ))
    }
}

/// # Safety
/// The caller has the GIL; a live str.
unsafe fn str_of(object: Obj) -> Result<String, String> {
    // SAFETY: the caller's promise; the UTF-8 form lives as long as the str.
    unsafe {
        let mut size = 0;
        let data: *const c_char = PyUnicode_AsUTF8AndSize(object, &mut size);
        if data.is_null() {
            return Err("a str of the context is no text".to_owned());
        }
        let bytes = std::slice::from_raw_parts(data.cast::<u8>(), size as usize);
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}
