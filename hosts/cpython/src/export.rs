//! Programs as text: a code object with all the code objects inside it, as one document of typed
//! bytecode that another host can run. The interpreter's feedback so far is included as hints.

use crate::capi::Obj;
use crate::decode::{self, DecodeError};
use crate::objects;
use crate::owned::Owned;
use cladonia::bytecode::{Code, Const, ConstValue, Document};
use cladonia::types::{ObjectDesc, ObjectHandle};
use pyo3_ffi as ffi;
use std::collections::{HashMap, HashSet};

/// The document of a module's (or function's) code.
///
/// Names of code objects are unique: a repeated name gets a number. A constant that is a code
/// object has its name; one without a value in the document is named by its `repr`.
///
/// # Errors
/// A code can't be decoded.
///
/// # Safety
/// The caller has the GIL; `code` is a code object.
pub unsafe fn export(code: Obj) -> Result<String, DecodeError> {
    // SAFETY: as the caller says.
    unsafe {
        let mut exporter = Exporter::default();
        exporter.collect(code);
        let mut codes = Vec::new();
        for index in 0..exporter.order.len() {
            codes.push(exporter.code(exporter.order[index])?);
        }
        let text = Document::print(&codes);
        exporter.made.into_iter().for_each(ObjectHandle::forget);
        Ok(text)
    }
}

#[derive(Default)]
struct Exporter {
    order: Vec<Obj>,
    names: HashMap<usize, String>,
    taken: HashSet<String>,
    made: Vec<ObjectHandle>,
}

impl Exporter {
    /// Names a code object and those inside it.
    unsafe fn collect(&mut self, code: Obj) {
        if self.names.contains_key(&(code as usize)) {
            return;
        }
        // SAFETY: a live code object.
        unsafe {
            let name =
                attribute(code, c"co_qualname").and_then(|name| objects::text(name.as_ptr()));
            let base = name.unwrap_or_default();
            let mut name = base.clone();
            let mut number = 1;
            while !self.taken.insert(name.clone()) {
                number += 1;
                name = format!("{base}#{number}");
            }
            self.names.insert(code as usize, name);
            self.order.push(code);
            for constant in constants(code) {
                if is_code(constant.as_ptr()) {
                    self.collect(constant.as_ptr());
                }
            }
        }
    }

    unsafe fn code(&mut self, code: Obj) -> Result<Code, DecodeError> {
        // SAFETY: a live code object.
        unsafe {
            let mut decoded = decode::decode(code)?;
            decoded.name = self.names[&(code as usize)].clone();
            for (constant, object) in decoded.consts.iter_mut().zip(constants(code)) {
                self.name(constant, object.as_ptr());
            }
            Ok(decoded)
        }
    }

    /// Gives a constant without a value the name by which a reader of the document knows it.
    unsafe fn name(&mut self, constant: &mut Const, object: Obj) {
        if constant.value != ConstValue::Other {
            return;
        }
        // SAFETY: a live object.
        let name = match self.names.get(&(object as usize)) {
            Some(name) => name.clone(),
            None => match unsafe { repr(object) } {
                Some(name) => name,
                None => return,
            },
        };
        let Some(class) = constant.object.class() else {
            return;
        };
        let desc = ObjectDesc::new(name, class);
        if let Ok(handle) = objects::host().register_object(desc) {
            self.made.push(handle);
            constant.object = handle;
        }
    }
}

unsafe fn is_code(object: Obj) -> bool {
    // SAFETY: a live object.
    unsafe { ffi::Py_TYPE(object) == &raw mut ffi::PyCode_Type }
}

unsafe fn attribute(object: Obj, name: &std::ffi::CStr) -> Option<Owned> {
    // SAFETY: a live object.
    unsafe { Owned::take(ffi::PyObject_GetAttrString(object, name.as_ptr())) }
}

unsafe fn constants(code: Obj) -> Vec<Owned> {
    // SAFETY: a code object's constants are a tuple.
    unsafe {
        let Some(tuple) = attribute(code, c"co_consts") else {
            return Vec::new();
        };
        (0..ffi::PyTuple_Size(tuple.as_ptr()))
            .filter_map(|i| Owned::borrow(ffi::PyTuple_GetItem(tuple.as_ptr(), i)))
            .collect()
    }
}

unsafe fn repr(object: Obj) -> Option<String> {
    // SAFETY: a live object.
    unsafe {
        let text = Owned::take(ffi::PyObject_Repr(object))?;
        objects::text(text.as_ptr())
    }
}
