//! `isinstance`, where the metaclass has no say.

use crate::capi::Obj;
use crate::helpers::instances::has_own_class;
use pyo3_ffi::*;

/// Returns 1 if an object is an instance of a class, 0 if not, and -1 if the interpreter must
/// answer: the class of the class, or the object, may have an answer of its own.
pub(super) unsafe extern "C" fn is_instance(object: Obj, class: Obj) -> i64 {
    // SAFETY: the caller's: a live object and a live class.
    unsafe {
        let own = Py_TYPE(object);
        if Py_TYPE(class) != &raw mut PyType_Type {
            return -1;
        }
        if PyType_IsSubtype(own, class.cast()) != 0 {
            return 1;
        }
        if has_own_class(own) { 0 } else { -1 }
    }
}
