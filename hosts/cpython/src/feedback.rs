//! What the interpreter observed: inline caches and live values as hints.
//!
//! A hint is a bet, never a fact. The caches are read from the code's adaptive units; an instrumented unit hides its
//! form, and has no hint.

use crate::abi::{self, opcodes as op};
use crate::objects;
use cladonia::bytecode::Code;
use cladonia::types::Type;
use pyo3_ffi as ffi;
use pyo3_ffi::{PyObject, PyTypeObject};
use std::collections::HashMap;

/// Type of a live value: its exact class if the class is a builtin one, else the class as it is now; the null of an
/// unbound slot.
///
/// # Safety
/// The GIL is held; `value` is null or a live object.
pub unsafe fn live_type(value: *mut PyObject) -> Type {
    if value.is_null() {
        return Type::NULLPTR;
    }
    // SAFETY: as the caller says.
    unsafe { Type::from_class_exact(objects::class_handle(ffi::Py_TYPE(value))) }
}

/// Put the hints of `code`'s inline caches into `decoded`.
///
/// # Safety
/// The GIL is held; `decoded` was decoded from the live code object `code`.
pub unsafe fn add_hints(decoded: &mut Code, code: *mut PyObject) {
    // SAFETY: the units lie behind the code object's struct.
    let units = unsafe { code.cast::<u8>().add(abi::code::ADAPTIVE as usize) };
    let mut classes = Classes::default();
    for instr in &mut decoded.instrs {
        if !instr.resumable {
            continue;
        }
        // SAFETY: `pos` is a unit of the code.
        let at = unsafe { units.add(2 * instr.pos as usize) };
        // SAFETY: as above.
        instr.hint = unsafe { hint(at.read(), at.add(2), &mut classes) };
    }
}

/// The hint of a specialised unit whose cache starts at `cache`.
unsafe fn hint(opcode: u8, cache: *const u8, classes: &mut Classes) -> Vec<Type> {
    const INT: Type = Type::LONG_EXACT;
    const FLOAT: Type = Type::FLOAT_EXACT;
    const STR: Type = Type::UNICODE_EXACT;
    // SAFETY: the family's cache is as long as the offsets read.
    let word = |unit: usize| unsafe { cache.add(2 * unit).cast::<u32>().read_unaligned() };
    match opcode {
        op::BINARY_OP_ADD_INT | op::BINARY_OP_SUBTRACT_INT | op::BINARY_OP_MULTIPLY_INT => vec![INT, INT],
        op::BINARY_OP_ADD_FLOAT | op::BINARY_OP_SUBTRACT_FLOAT | op::BINARY_OP_MULTIPLY_FLOAT => vec![FLOAT, FLOAT],
        op::BINARY_OP_ADD_UNICODE | op::BINARY_OP_INPLACE_ADD_UNICODE => vec![STR, STR],
        op::COMPARE_OP_INT => vec![INT, INT],
        op::COMPARE_OP_FLOAT => vec![FLOAT, FLOAT],
        op::COMPARE_OP_STR => vec![STR, STR],
        op::BINARY_SUBSCR_LIST_INT => vec![Type::LIST_EXACT, INT],
        op::BINARY_SUBSCR_TUPLE_INT => vec![Type::TUPLE_EXACT, INT],
        op::BINARY_SUBSCR_STR_INT => vec![STR, INT],
        op::BINARY_SUBSCR_DICT => vec![Type::DICT_EXACT, Type::OBJECT],
        op::STORE_SUBSCR_LIST_INT => vec![Type::OBJECT, Type::LIST_EXACT, INT],
        op::STORE_SUBSCR_DICT => vec![Type::OBJECT, Type::DICT_EXACT, Type::OBJECT],
        op::CONTAINS_OP_DICT => vec![Type::OBJECT, Type::DICT_EXACT],
        op::UNPACK_SEQUENCE_TWO_TUPLE | op::UNPACK_SEQUENCE_TUPLE => vec![Type::TUPLE_EXACT],
        op::UNPACK_SEQUENCE_LIST => vec![Type::LIST_EXACT],
        op::FOR_ITER_LIST => vec![Type::LIST_ITER],
        op::FOR_ITER_TUPLE => vec![Type::TUPLE_ITER],
        op::FOR_ITER_RANGE => vec![Type::RANGE_ITER],
        op::TO_BOOL_BOOL => vec![Type::BOOL],
        op::TO_BOOL_INT => vec![INT],
        op::TO_BOOL_LIST => vec![Type::LIST_EXACT],
        op::TO_BOOL_NONE => vec![Type::NONE_TYPE],
        op::TO_BOOL_STR => vec![STR],
        // The class version follows the counter.
        op::LOAD_ATTR_INSTANCE_VALUE
        | op::LOAD_ATTR_WITH_HINT
        | op::LOAD_ATTR_SLOT
        | op::LOAD_ATTR_PROPERTY
        | op::LOAD_ATTR_METHOD_WITH_VALUES
        | op::LOAD_ATTR_METHOD_NO_DICT
        | op::LOAD_ATTR_METHOD_LAZY_DICT
        | op::LOAD_ATTR_NONDESCRIPTOR_WITH_VALUES
        | op::LOAD_ATTR_NONDESCRIPTOR_NO_DICT => classes.receiver(word(1)),
        op::STORE_ATTR_INSTANCE_VALUE | op::STORE_ATTR_SLOT | op::STORE_ATTR_WITH_HINT => classes.receiver(word(1)),
        op::LOAD_ATTR_CLASS => classes.of_version(word(1))
            // SAFETY: the GIL is held; the class is alive.
            .map(|class| vec![Type::from_object(unsafe { objects::object_handle(class.cast()) })])
            .unwrap_or_default(),
        op::CALL_PY_EXACT_ARGS
        | op::CALL_PY_GENERAL
        | op::CALL_BOUND_METHOD_EXACT_ARGS
        | op::CALL_BOUND_METHOD_GENERAL => function_of_version(word(1))
            // SAFETY: the GIL is held; the function's version was checked, so it is alive.
            .map(|function| vec![Type::from_object(unsafe { objects::object_handle(function) })])
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The function with this version, if the interpreter still knows it.
fn function_of_version(version: u32) -> Option<*mut PyObject> {
    if version == 0 {
        return None;
    }
    // SAFETY: the GIL is held; the cache is a table of the interpreter's, and a function leaves it when it dies.
    unsafe {
        let interp = ffi::PyInterpreterState_Get().cast::<u8>();
        let entry = interp.offset(abi::interp::FUNC_VERSION_CACHE as isize).add(16 * (version as usize % 4096));
        let function: *mut PyObject = entry.cast::<*mut PyObject>().read();
        (!function.is_null() && abi::read::<u32, _>(function, abi::function::VERSION) == version).then_some(function)
    }
}

/// Classes by version tag, gathered when the first one is asked for. It serves one code object: a class may die, and
/// its version tag be given to another, between two.
#[derive(Default)]
struct Classes(Option<HashMap<u32, usize>>);

impl Classes {
    fn of_version(&mut self, version: u32) -> Option<*mut PyTypeObject> {
        if version == 0 {
            return None;
        }
        // SAFETY: the GIL is held.
        let map = self.0.get_or_insert_with(|| unsafe { all_classes() });
        map.get(&version).map(|&class| class as *mut PyTypeObject)
    }

    fn receiver(&mut self, version: u32) -> Vec<Type> {
        self.of_version(version)
            // SAFETY: the GIL is held; the class is alive.
            .map(|class| vec![Type::from_class_exact(unsafe { objects::class_handle(class) })])
            .unwrap_or_default()
    }
}

/// Every class by version tag, through `__subclasses__` from `object` on.
///
/// # Safety
/// The GIL is held.
unsafe fn all_classes() -> HashMap<u32, usize> {
    // SAFETY: as the caller says; every list and class is alive while it is looked at.
    unsafe {
        let mut classes = HashMap::new();
        let mut seen = std::collections::HashSet::new();
        let mut work: Vec<*mut PyTypeObject> = vec![&raw mut ffi::PyBaseObject_Type];
        let type_ = (&raw mut ffi::PyType_Type).cast::<PyObject>();
        let method = ffi::PyObject_GetAttrString(type_, c"__subclasses__".as_ptr());
        if method.is_null() {
            ffi::PyErr_Clear();
            return classes;
        }
        while let Some(class) = work.pop() {
            if !seen.insert(class as usize) {
                continue;
            }
            let version: u32 = abi::read(class, abi::type_::VERSION_TAG);
            if version != 0 {
                classes.insert(version, class as usize);
            }
            let list = ffi::PyObject_CallOneArg(method, class.cast());
            if list.is_null() {
                ffi::PyErr_Clear();
                continue;
            }
            for i in 0..ffi::PyList_Size(list) {
                work.push(ffi::PyList_GetItem(list, i).cast());
            }
            ffi::Py_DECREF(list);
        }
        ffi::Py_DECREF(method);
        classes
    }
}
