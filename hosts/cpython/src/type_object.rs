//! `cladonia.Type`: the type lattice in Python's hands.
//!
//! A Python object is a [`Type`] with a pin on the class or object that it is specialized with, and
//! references to all that this reaches. While it lives the handle can't go stale, so its text form
//! and its answers stay true. The collector sees the references, so a class may refer to a type of
//! itself. When the object is deallocated, references that only it needed are released at once. The
//! lattice needs no compiler, so all of this works where the JIT is off or can't start.

mod methods;

use crate::abi;
use crate::objects::{self, Reach};
use crate::runtime::api::{guarded, raise};
use crate::runtime::capi::Object;
use crate::runtime::stats::text;
use crate::runtime::{Gil, is_started};
use cladonia::types::{ClassPin, ObjectPin, Type, predefined_names};
use pyo3_ffi::*;
use std::ffi::{CString, c_int, c_void};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The pin that keeps the type from going stale.
enum Pin {
    None,
    Class(#[expect(dead_code, reason = "only kept alive")] ClassPin),
    Object(#[expect(dead_code, reason = "only kept alive")] ObjectPin),
}

/// The Python object.
#[repr(C)]
struct TypeObject {
    head: PyObject,
    ty: Type,
    pin: Pin,
    /// A tuple of the reach of the pinned handle, or null.
    keeps: Object,
}

/// The class `cladonia.Type`, once it is created.
static CLASS: AtomicPtr<PyObject> = AtomicPtr::new(null_mut());

const DOC: &std::ffi::CStr = c"A set of values, as the compiler represents it.

`Type.of(obj)`, `Type.of_class(cls, exact=False)` and `Type.parse(text)` make types; every predefined type is an attribute, as in
`Type.Long`. `a <= b` is true if every value of `a` is one of `b`; `a | b`, `a & b` and `a - b` contain every value they should and may
contain more. A type keeps the class or object that it names alive.";

/// The class, created by the first call; a new reference, or null with an exception set.
///
/// # Safety
/// The caller has the GIL.
pub unsafe fn class() -> Object {
    // SAFETY: the caller's promise; the static is read and written under the GIL.
    unsafe {
        if CLASS.load(Ordering::Relaxed).is_null() {
            CLASS.store(make_class(), Ordering::Relaxed);
        }
        Py_XNewRef(CLASS.load(Ordering::Relaxed))
    }
}

/// # Safety
/// As for [`class`].
unsafe fn make_class() -> Object {
    let slot = |slot: c_int, function: *mut c_void| PyType_Slot {
        slot,
        pfunc: function,
    };
    let mut slots = [
        slot(Py_tp_dealloc, dealloc as *mut c_void),
        slot(Py_tp_traverse, traverse as *mut c_void),
        slot(Py_tp_clear, clear as *mut c_void),
        slot(Py_tp_repr, repr as *mut c_void),
        slot(Py_tp_hash, hash as *mut c_void),
        slot(Py_tp_richcompare, compare as *mut c_void),
        slot(Py_nb_or, union as *mut c_void),
        slot(Py_nb_and, intersection as *mut c_void),
        slot(Py_nb_subtract, difference as *mut c_void),
        slot(Py_tp_methods, methods::table().cast()),
        slot(Py_tp_doc, DOC.as_ptr() as *mut c_void),
        slot(0, null_mut()),
    ];
    let flags = Py_TPFLAGS_DEFAULT
        | Py_TPFLAGS_HAVE_GC
        | Py_TPFLAGS_DISALLOW_INSTANTIATION
        | Py_TPFLAGS_IMMUTABLETYPE;
    let mut spec = PyType_Spec {
        name: c"cladonia.Type".as_ptr(),
        basicsize: size_of::<TypeObject>() as c_int,
        itemsize: 0,
        flags: flags as _,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the slots are functions of these signatures, and live for the call; the class keeps
    // only static data of them. The class is not published yet, so its dictionary may still be
    // filled.
    unsafe {
        let class = PyType_FromSpec(&mut spec);
        if class.is_null() {
            return class;
        }
        let attributes = (*class.cast::<PyTypeObject>()).tp_dict;
        for (name, ty) in predefined_names() {
            let name = CString::new(name).unwrap_or_default();
            let value = allocate(class, ty, Pin::None, null_mut());
            if value.is_null() || PyDict_SetItemString(attributes, name.as_ptr(), value) < 0 {
                Py_XDECREF(value);
                Py_DECREF(class);
                return null_mut();
            }
            Py_DECREF(value);
        }
        PyType_Modified(class.cast());
        class
    }
}

/// A new object; takes over the reference to `keeps`.
///
/// # Safety
/// The caller has the GIL; `class` is the class of types; `keeps` is a tuple or null.
unsafe fn allocate(class: Object, ty: Type, pin: Pin, keeps: Object) -> Object {
    // SAFETY: the class determines the size of its instances; the fields are written before the
    // object is published.
    unsafe {
        let object = PyType_GenericAlloc(class.cast(), 0).cast::<TypeObject>();
        if object.is_null() {
            Py_XDECREF(keeps);
            return null_mut();
        }
        (&raw mut (*object).ty).write(ty);
        (&raw mut (*object).pin).write(pin);
        (&raw mut (*object).keeps).write(keeps);
        if keeps.is_null() {
            PyObject_GC_UnTrack(object.cast());
        }
        object.cast()
    }
}

/// A type as a Python object, with its reach pinned and kept alive.
///
/// # Safety
/// The caller has the GIL, the class was created, and the handles in the type are alive or
/// permanently stale.
unsafe fn new(ty: Type) -> Result<Object, ()> {
    let pin = match (ty.unique_class(), ty.as_object()) {
        (Some(class), _) => class.try_pin().map_or(Pin::None, Pin::Class),
        (_, Some(object)) => object.try_pin().map_or(Pin::None, Pin::Object),
        _ => Pin::None,
    };
    // SAFETY: the caller's promise; pinned objects are alive.
    unsafe {
        if matches!(pin, Pin::None) {
            let object = allocate(CLASS.load(Ordering::Relaxed), ty, pin, null_mut());
            return if object.is_null() {
                Err(())
            } else {
                Ok(object)
            };
        }
        let reach = Reach::of(ty);
        let keeps = reach.keeps();
        if keeps.is_null() {
            return Err(());
        }
        let object = allocate(CLASS.load(Ordering::Relaxed), ty, pin, keeps);
        if is_quiet(Gil::held()) {
            reach.settle();
        }
        if object.is_null() {
            Err(())
        } else {
            Ok(object)
        }
    }
}

/// The type behind a Python object, if it is one.
///
/// # Safety
/// The caller has the GIL, and the object is alive.
unsafe fn type_of(object: Object) -> Option<Type> {
    // SAFETY: the class has no subclasses, so its instances have this layout.
    unsafe {
        let is_one = Py_TYPE(object).cast() == CLASS.load(Ordering::Relaxed);
        is_one.then(|| (*object.cast::<TypeObject>()).ty)
    }
}

/// True if objects without a pin may be released, since no compile is running.
fn is_quiet(gil: Gil) -> bool {
    gil.started()
        .is_none_or(|runtime| !runtime.compiler.is_at_work())
}

/// Makes sure that classes can be read; else raises an error with the reason.
fn ready() -> Result<(), ()> {
    use std::sync::OnceLock;
    static READY: OnceLock<Result<(), String>> = OnceLock::new();
    let ready = READY.get_or_init(|| {
        if is_started() {
            return Ok(());
        }
        // SAFETY: this thread has the GIL, and a method runs without a pending exception.
        unsafe {
            abi::validate().map_err(|error| error.to_string())?;
            objects::register_builtins();
        }
        Ok(())
    });
    ready.as_ref().copied().map_err(|reason| {
        // SAFETY: this thread has the GIL.
        raise(unsafe { PyExc_RuntimeError }, reason);
    })
}

/// Releases the type's pin and references.
///
/// # Safety
/// The caller has the GIL; the object is a type.
unsafe fn let_go(object: Object) {
    // SAFETY: the caller's promise. The object is empty before any other code runs.
    unsafe {
        let object = object.cast::<TypeObject>();
        let pin = std::mem::replace(&mut (*object).pin, Pin::None);
        let keeps = std::mem::replace(&mut (*object).keeps, null_mut());
        if !matches!(pin, Pin::None) {
            let reach = Reach::of((*object).ty);
            drop(pin);
            if is_quiet(Gil::held()) {
                reach.settle();
            } else {
                reach.settle_later();
            }
        }
        Py_XDECREF(keeps);
    }
}

unsafe extern "C" fn dealloc(object: Object) {
    // SAFETY: the object is being deallocated; an instance of a heap class owns a reference to its
    // class.
    unsafe {
        let class = Py_TYPE(object);
        PyObject_GC_UnTrack(object.cast());
        let_go(object);
        PyObject_GC_Del(object.cast());
        Py_DECREF(class.cast());
    }
}

unsafe extern "C" fn traverse(object: Object, visit: visitproc, context: *mut c_void) -> c_int {
    // SAFETY: the collector's calling convention.
    unsafe {
        for held in [Py_TYPE(object).cast(), (*object.cast::<TypeObject>()).keeps] {
            let status = if held.is_null() {
                0
            } else {
                visit(held, context)
            };
            if status != 0 {
                return status;
            }
        }
        0
    }
}

unsafe extern "C" fn clear(object: Object) -> c_int {
    // SAFETY: the collector's calling convention.
    unsafe { let_go(object) };
    0
}

unsafe extern "C" fn repr(object: Object) -> Object {
    // SAFETY: the slot's first operand is a type.
    guarded(|| Ok(text(&unsafe { own(object) }.to_string())))
}

unsafe extern "C" fn hash(object: Object) -> Py_hash_t {
    let mut hasher = DefaultHasher::new();
    // SAFETY: the slot's operand is a type.
    unsafe { own(object) }.hash(&mut hasher);
    match hasher.finish() as Py_hash_t {
        // -1 would signal an error.
        -1 => -2,
        hash => hash,
    }
}

/// # Safety
/// `object` is a type.
unsafe fn own(object: Object) -> Type {
    // SAFETY: the caller's promise.
    unsafe { (*object.cast::<TypeObject>()).ty }
}

fn not_implemented() -> Result<Object, ()> {
    // SAFETY: the object is immortal.
    Ok(unsafe { Py_NewRef(Py_NotImplemented()) })
}

#[allow(
    non_upper_case_globals,
    reason = "the interpreter's names of comparisons"
)]
unsafe extern "C" fn compare(left: Object, right: Object, operator: c_int) -> Object {
    // SAFETY: the interpreter's operands are alive.
    guarded(|| unsafe {
        let (Some(a), Some(b)) = (type_of(left), type_of(right)) else {
            return not_implemented();
        };
        let answer = match operator {
            Py_EQ => a == b,
            Py_NE => a != b,
            Py_LE => a <= b,
            Py_LT => a < b,
            Py_GE => a >= b,
            Py_GT => a > b,
            _ => return not_implemented(),
        };
        methods::boolean(answer)
    })
}

/// # Safety
/// The caller has the GIL; the operands are alive.
unsafe fn operate(left: Object, right: Object, operation: fn(Type, Type) -> Type) -> Object {
    // SAFETY: the caller's promise.
    guarded(|| unsafe {
        match (type_of(left), type_of(right)) {
            (Some(a), Some(b)) => new(operation(a, b)),
            _ => not_implemented(),
        }
    })
}

unsafe extern "C" fn union(left: Object, right: Object) -> Object {
    // SAFETY: the interpreter's operands are alive.
    unsafe { operate(left, right, |a, b| a | b) }
}

unsafe extern "C" fn intersection(left: Object, right: Object) -> Object {
    // SAFETY: the interpreter's operands are alive.
    unsafe { operate(left, right, |a, b| a & b) }
}

unsafe extern "C" fn difference(left: Object, right: Object) -> Object {
    // SAFETY: the interpreter's operands are alive.
    unsafe { operate(left, right, |a, b| a - b) }
}
