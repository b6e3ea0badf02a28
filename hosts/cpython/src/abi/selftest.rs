//! The live part of the validation: objects are made through the C API and read through the table.
//!
//! A read at a wrong offset of a live object gives a wrong number, not a crash, as long as no value
//! is followed as a pointer before it has been compared. The checks here keep to that order.
//!
//! Every function here runs with the GIL held and no exception pending, on objects that live while
//! it runs. So its calls of the C API and its reads are sound.

use super::*;
use crate::capi::{_PyEval_EvalFrameDefault, PyUnstable_Type_AssignVersionTag};
use crate::owned::Owned;
use crate::runtime::capi::{PyType_AddWatcher, PyType_ClearWatcher};
use pyo3_ffi::{Py_ssize_t, PyObject, PyTypeObject};
use std::ptr::null_mut;

unsafe extern "C" {
    fn _PyInterpreterState_GetEvalFrameFunc(interpreter: *mut ffi::PyInterpreterState) -> usize;
    fn _PyInterpreterState_SetEvalFrameFunc(
        interpreter: *mut ffi::PyInterpreterState,
        function: usize,
    );
    fn PyFunction_GetKwDefaults(function: *mut PyObject) -> *mut PyObject;
    fn PyFunction_GetClosure(function: *mut PyObject) -> *mut PyObject;
    fn PyErr_GetRaisedException() -> *mut PyObject;
    fn PyVectorcall_Function(callable: *mut PyObject) -> Option<ffi::vectorcallfunc>;
}

const PROGRAM: &std::ffi::CStr = c"
def outer(seen, other=7, *, third=9):
    cell = seen
    def inner():
        return cell
    inner()
    return inner
inner = outer(1)
def generate(first):
    yield first
    try:
        yield 2
    finally:
        first = 3
generator = generate(1)
next(generator)
class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y
    def method(self):
        return self.x
point = Point(1.5, 2.5)
point = Point(3.5, 4.5)
bound = point.method
def look(check, marker):
    return check(look, marker)
def recursion_1(check):
    return check()
def recursion_2(check):
    return recursion_1(check)
";

type Checked = Result<(), AbiError>;

fn expect(what: &'static str, agrees: bool) -> Checked {
    if agrees {
        Ok(())
    } else {
        Err(AbiError::SelfTest { what })
    }
}

/// # Safety
/// As [`Owned::take`].
unsafe fn made(what: &'static str, object: *mut PyObject) -> Result<Owned, AbiError> {
    // SAFETY: the caller's promise.
    unsafe { Owned::take(object) }.ok_or(AbiError::Raised { what })
}

/// # Safety
/// The thread has the GIL, no exception is pending, the version is the one that is built for.
pub(super) unsafe fn run() -> Checked {
    // SAFETY: see the module page.
    unsafe {
        scalars()?;
        containers()?;
        iterators()?;
        let globals = made("a namespace", ffi::PyDict_New())?;
        let builtins = ffi::PyEval_GetBuiltins();
        if builtins.is_null()
            || ffi::PyDict_SetItemString(globals.as_ptr(), c"__builtins__".as_ptr(), builtins) < 0
        {
            ffi::PyErr_Clear();
            return Err(AbiError::Raised {
                what: "a namespace",
            });
        }
        let name = made(
            "a name",
            ffi::PyUnicode_FromString(c"cladonia.selftest".as_ptr()),
        )?;
        if ffi::PyDict_SetItemString(globals.as_ptr(), c"__name__".as_ptr(), name.as_ptr()) < 0 {
            ffi::PyErr_Clear();
            return Err(AbiError::Raised {
                what: "a namespace",
            });
        }
        made(
            "the test program",
            ffi::PyRun_String(
                PROGRAM.as_ptr(),
                ffi::Py_file_input,
                globals.as_ptr(),
                globals.as_ptr(),
            ),
        )?;
        let get = |name: &std::ffi::CStr| {
            Owned::borrow(ffi::PyDict_GetItemString(globals.as_ptr(), name.as_ptr())).ok_or(
                AbiError::Raised {
                    what: "the test program",
                },
            )
        };
        function(get(c"outer")?.as_ptr(), globals.as_ptr())?;
        closure(get(c"inner")?.as_ptr())?;
        generator_(get(c"generator")?.as_ptr())?;
        made(
            "the end of a generator",
            ffi::PyObject_CallMethod(
                get(c"generator")?.as_ptr(),
                c"close".as_ptr(),
                std::ptr::null(),
            ),
        )?;
        instance(get(c"point")?.as_ptr(), get(c"bound")?.as_ptr())?;
        frames(
            get(c"look")?.as_ptr(),
            get(c"recursion_1")?.as_ptr(),
            get(c"recursion_2")?.as_ptr(),
        )?;
        thread_state()?;
        // The program's functions refer to their namespace, which refers to them.
        ffi::PyDict_Clear(globals.as_ptr());
        Ok(())
    }
}

unsafe fn scalars() -> Checked {
    // SAFETY: see the module page.
    unsafe {
        let value = made("a float", ffi::PyFloat_FromDouble(1234.5))?;
        expect(
            "PyObject.ob_type",
            read::<*mut PyTypeObject, _>(value.as_ptr(), object::TYPE)
                == &raw mut ffi::PyFloat_Type,
        )?;
        expect(
            "PyObject.ob_refcnt",
            read::<isize, _>(value.as_ptr(), object::REFCNT) == 1,
        )?;
        expect(
            "PyFloatObject.ob_fval",
            read::<f64, _>(value.as_ptr(), float::VALUE) == 1234.5,
        )?;
        float_free_list(value)?;
        for (number, sign, digits) in [
            (0_i64, long::SIGN_ZERO, &[][..]),
            (5, 0, &[5][..]),
            (-7, long::SIGN_NEGATIVE, &[7]),
            (1 << 40 | 3, 0, &[3, 1 << (40 - long::DIGIT_BITS)]),
            (-(1 << 30), long::SIGN_NEGATIVE, &[0, 1]),
        ] {
            let value = made("an int", ffi::PyLong_FromLongLong(number))?;
            let tag = read::<u64, _>(value.as_ptr(), long::TAG);
            expect(
                "PyLongObject.lv_tag",
                tag & !(long::IMMORTAL as u64)
                    == (digits.len() as u64) << long::NON_SIZE_BITS | sign as u64,
            )?;
            for (i, digit) in digits.iter().enumerate() {
                let found = read::<u32, _>(value.as_ptr(), long::DIGITS + 4 * i as i32);
                expect("PyLongObject.ob_digit", found == *digit)?;
            }
        }
        let text = made("a string", ffi::PyUnicode_FromString(c"cladonia?".as_ptr()))?;
        expect(
            "PyASCIIObject.length",
            read::<Py_ssize_t, _>(text.as_ptr(), unicode::LENGTH) == 9,
        )?;
        expect(
            "PyASCIIObject's data",
            read::<[u8; 9], _>(text.as_ptr(), unicode::ASCII_DATA) == *b"cladonia?",
        )?;
        let state = |text: *mut PyObject| read::<u32, _>(text, unicode::STATE) as i32;
        let is_byte = |state: i32| state & unicode::STATE_KIND == unicode::STATE_KIND_BYTE;
        let plain = state(text.as_ptr());
        expect(
            "PyASCIIObject.state",
            is_byte(plain) && plain & unicode::STATE_ASCII != 0,
        )?;
        let latin = made(
            "a string",
            ffi::PyUnicode_FromString(c"\u{e9}t\u{e9}".as_ptr()),
        )?;
        let bits = state(latin.as_ptr());
        expect(
            "PyASCIIObject.state",
            is_byte(bits) && bits & unicode::STATE_ASCII == 0,
        )?;
        expect(
            "PyCompactUnicodeObject's data",
            read::<[u8; 3], _>(latin.as_ptr(), unicode::COMPACT_DATA) == [0xe9, b't', 0xe9],
        )?;
        let wide = made("a string", ffi::PyUnicode_FromString(c"\u{20ac}".as_ptr()))?;
        expect("PyASCIIObject.state", !is_byte(state(wide.as_ptr())))?;
        let hash = ffi::PyObject_Hash(text.as_ptr());
        expect(
            "PyASCIIObject.hash",
            read::<Py_ssize_t, _>(text.as_ptr(), unicode::HASH) == hash,
        )?;
        let data = made(
            "bytes",
            ffi::PyBytes_FromStringAndSize(c"lichen".as_ptr(), 6),
        )?;
        expect(
            "PyBytesObject.ob_sval",
            read::<[u8; 6], _>(data.as_ptr(), bytes::DATA) == *b"lichen",
        )?;
        let copy = made("a bytearray", ffi::PyByteArray_FromObject(data.as_ptr()))?;
        expect(
            "PyByteArrayObject.ob_size",
            read::<Py_ssize_t, _>(copy.as_ptr(), object::VAR_SIZE) == 6,
        )?;
        expect(
            "PyByteArrayObject.ob_start",
            read::<*mut std::ffi::c_char, _>(copy.as_ptr(), bytearray::START)
                == ffi::PyByteArray_AsString(copy.as_ptr()),
        )
    }
}

/// Frees a float and looks for it at the head of the free list.
unsafe fn float_free_list(value: Owned) -> Checked {
    // SAFETY: see the module page.
    unsafe {
        let interpreter = ffi::PyInterpreterState_Get();
        let address = value.as_ptr();
        let interpreter = interpreter.cast::<u8>().cast_const();
        let (before, head) = (
            free_floats::count(interpreter),
            free_floats::head(interpreter),
        );
        expect(
            "the length of the float free list",
            (0..=interp::FLOAT_MAXFREE).contains(&before),
        )?;
        // With the list full, the float would go back to the allocator: take one out first.
        let spare = if before == interp::FLOAT_MAXFREE {
            Some(made("a float", ffi::PyFloat_FromDouble(0.25))?)
        } else {
            None
        };
        let (before, head) = match &spare {
            Some(spare) => {
                expect("the head of the float free list", spare.as_ptr() == head)?;
                (before - 1, free_floats::head(interpreter))
            }
            None => (before, head),
        };
        drop(value);
        let after = free_floats::count(interpreter);
        expect("the length of the float free list", after == before + 1)?;
        expect(
            "the head of the float free list",
            free_floats::head(interpreter) == address,
        )?;
        expect(
            "the links of the float free list",
            free_floats::next(address) == head,
        )?;
        let again = made("a float", ffi::PyFloat_FromDouble(-2.5))?;
        expect("the head of the float free list", again.as_ptr() == address)?;
        expect(
            "the length of the float free list",
            free_floats::count(interpreter) == before,
        )
    }
}

unsafe fn containers() -> Checked {
    // SAFETY: see the module page.
    unsafe {
        let key = made("a string", ffi::PyUnicode_FromString(c"key".as_ptr()))?;
        let value = made("a float", ffi::PyFloat_FromDouble(8.5))?;
        let (k, v) = (key.as_ptr(), value.as_ptr());

        let pair = made("a tuple", ffi::PyTuple_Pack(2, k, v))?;
        expect(
            "PyVarObject.ob_size",
            read::<Py_ssize_t, _>(pair.as_ptr(), object::VAR_SIZE) == 2,
        )?;
        expect(
            "PyTupleObject.ob_item",
            read::<[*mut PyObject; 2], _>(pair.as_ptr(), tuple::ITEMS) == [k, v],
        )?;

        let items = made("a list", ffi::PySequence_List(pair.as_ptr()))?;
        expect(
            "PyListObject.ob_size",
            read::<Py_ssize_t, _>(items.as_ptr(), object::VAR_SIZE) == 2,
        )?;
        let allocated = read::<Py_ssize_t, _>(items.as_ptr(), list::ALLOCATED);
        expect("PyListObject.allocated", (2..64).contains(&allocated))?;
        let array = read::<*mut *mut PyObject, _>(items.as_ptr(), list::ITEMS);
        expect(
            "PyListObject.ob_item",
            array as usize > 4096 && array.read() == k && array.add(1).read() == v,
        )?;

        let table = made("a dict", ffi::PyDict_New())?;
        if ffi::PyDict_SetItem(table.as_ptr(), k, v) < 0 {
            ffi::PyErr_Clear();
            return Err(AbiError::Raised { what: "a dict" });
        }
        expect(
            "PyDictObject.ma_used",
            read::<Py_ssize_t, _>(table.as_ptr(), dict::USED) == 1,
        )?;
        expect(
            "PyDictObject.ma_values",
            read::<*mut u8, _>(table.as_ptr(), dict::VALUES).is_null(),
        )?;
        let tag = read::<u64, _>(table.as_ptr(), dict_versions::WATCHERS_AT);
        ffi::PyDict_SetItem(table.as_ptr(), k, k);
        ffi::PyDict_SetItem(table.as_ptr(), k, v);
        expect(
            "the word of a dict with its watchers",
            dict_versions::is_later(
                tag,
                read::<u64, _>(table.as_ptr(), dict_versions::WATCHERS_AT),
            ),
        )?;
        let keys = read::<*mut u8, _>(table.as_ptr(), dict::KEYS);
        keys_hold(keys, dict_keys::KIND_UNICODE, k)?;
        let first = first_entry(keys);
        expect(
            "PyDictUnicodeEntry.me_value",
            read::<*mut PyObject, _>(first, dict_keys::UNICODE_ENTRY_VALUE) == v,
        )?;

        let cell_ = made("a cell", ffi::PyCell_New(v))?;
        expect(
            "PyCellObject.ob_ref",
            read::<*mut PyObject, _>(cell_.as_ptr(), cell::CONTENT) == v,
        )?;
        let slice_ = made("a slice", ffi::PySlice_New(k, v, k))?;
        expect(
            "PySliceObject.start",
            read::<*mut PyObject, _>(slice_.as_ptr(), slice::START) == k,
        )?;
        expect(
            "PySliceObject.stop",
            read::<*mut PyObject, _>(slice_.as_ptr(), slice::STOP) == v,
        )?;
        expect(
            "PySliceObject.step",
            read::<*mut PyObject, _>(slice_.as_ptr(), slice::STEP) == k,
        )?;
        let set_ = made("a set", ffi::PySet_New(pair.as_ptr()))?;
        expect(
            "PySetObject.used",
            read::<Py_ssize_t, _>(set_.as_ptr(), set::USED) == 2,
        )?;
        expect(
            "PySetObject.fill",
            read::<Py_ssize_t, _>(set_.as_ptr(), set::FILL) == 2,
        )?;
        let module_ = made("a module", ffi::PyModule_New(c"cladonia.selftest".as_ptr()))?;
        let namespace = ffi::PyModule_GetDict(module_.as_ptr());
        expect(
            "PyModuleObject.md_dict",
            read::<*mut PyObject, _>(module_.as_ptr(), module::DICT) == namespace,
        )
    }
}

/// Checks a table of a dict or a class whose first key is `key`.
unsafe fn keys_hold(keys: *mut u8, kind: i32, key: *mut PyObject) -> Checked {
    // SAFETY: see the module page.
    unsafe {
        expect("a dict's keys", keys as usize > 4096)?;
        expect(
            "PyDictKeysObject.dk_kind",
            read::<u8, _>(keys, dict_keys::KIND) == kind as u8,
        )?;
        let (log2_size, log2_bytes) = (
            read::<u8, _>(keys, dict_keys::LOG2_SIZE),
            read::<u8, _>(keys, dict_keys::LOG2_INDEX_BYTES),
        );
        // Tables of up to 128 places have one index byte a place.
        expect(
            "PyDictKeysObject.dk_log2_size",
            (3..=6).contains(&log2_size),
        )?;
        expect(
            "PyDictKeysObject.dk_log2_index_bytes",
            log2_bytes == log2_size,
        )?;
        let entries = read::<Py_ssize_t, _>(keys, dict_keys::NENTRIES);
        expect("PyDictKeysObject.dk_nentries", (1..=2).contains(&entries))?;
        let usable = read::<Py_ssize_t, _>(keys, dict_keys::USABLE);
        expect("PyDictKeysObject.dk_usable", (0..64).contains(&usable))?;
        let held = read::<*mut PyObject, _>(first_entry(keys), 0);
        expect(
            "PyDictUnicodeEntry.me_key",
            ffi::PyUnicode_CheckExact(key) != 0 && held == key,
        )
    }
}

/// # Safety
/// The index bytes have been checked.
unsafe fn first_entry(keys: *mut u8) -> *mut u8 {
    // SAFETY: see the module page.
    unsafe {
        let index_bytes = 1_i32 << read::<u8, _>(keys, dict_keys::LOG2_INDEX_BYTES);
        keys.byte_offset((dict_keys::INDICES + index_bytes) as isize)
    }
}

unsafe fn iterators() -> Checked {
    // SAFETY: see the module page.
    unsafe {
        let numbers = made(
            "a range",
            ffi::PyObject_CallFunction(
                (&raw mut ffi::PyRange_Type).cast(),
                c"iii".as_ptr(),
                3 as std::ffi::c_int,
                30 as std::ffi::c_int,
                4 as std::ffi::c_int,
            ),
        )?;
        let fields = [range::START, range::STOP, range::STEP]
            .map(|offset| ffi::PyLong_AsLong(read(numbers.as_ptr(), offset)));
        expect("rangeobject", fields == [3, 30, 4])?;
        let iterator = made("an iterator", ffi::PyObject_GetIter(numbers.as_ptr()))?;
        expect(
            "the class of range iterators",
            ffi::Py_TYPE(iterator.as_ptr()) == &raw mut ffi::PyRangeIter_Type,
        )?;
        let found = [range_iter::START, range_iter::STEP, range_iter::LEN]
            .map(|offset| read::<std::ffi::c_long, _>(iterator.as_ptr(), offset));
        expect("_PyRangeIterObject", found == [3, 4, 7])?;
        drop(made("an item", ffi::PyIter_Next(iterator.as_ptr()))?);
        expect(
            "_PyRangeIterObject.start",
            read::<std::ffi::c_long, _>(iterator.as_ptr(), range_iter::START) == 7,
        )?;
        expect(
            "_PyRangeIterObject.len",
            read::<std::ffi::c_long, _>(iterator.as_ptr(), range_iter::LEN) == 6,
        )?;

        let items = made("a tuple", ffi::PySequence_Tuple(numbers.as_ptr()))?;
        let iterator = made("an iterator", ffi::PyObject_GetIter(items.as_ptr()))?;
        drop(made("an item", ffi::PyIter_Next(iterator.as_ptr()))?);
        expect(
            "_PyTupleIterObject.it_index",
            read::<Py_ssize_t, _>(iterator.as_ptr(), tuple_iter::INDEX) == 1,
        )?;
        let seq = read::<*mut PyObject, _>(iterator.as_ptr(), tuple_iter::SEQ);
        expect("_PyTupleIterObject.it_seq", seq == items.as_ptr())?;

        let items = made("a list", ffi::PySequence_List(numbers.as_ptr()))?;
        let iterator = made("an iterator", ffi::PyObject_GetIter(items.as_ptr()))?;
        drop(made("an item", ffi::PyIter_Next(iterator.as_ptr()))?);
        expect(
            "_PyListIterObject.it_index",
            read::<Py_ssize_t, _>(iterator.as_ptr(), list_iter::INDEX) == 1,
        )?;
        expect(
            "_PyListIterObject.it_seq",
            read::<*mut PyObject, _>(iterator.as_ptr(), list_iter::SEQ) == items.as_ptr(),
        )
    }
}

unsafe fn attribute_is(
    object: *mut PyObject,
    name: &std::ffi::CStr,
    what: &'static str,
    found: *mut PyObject,
) -> Checked {
    // SAFETY: see the module page.
    unsafe {
        let attribute = made(what, ffi::PyObject_GetAttrString(object, name.as_ptr()))?;
        expect(what, attribute.as_ptr() == found)
    }
}

unsafe fn number_is(
    object: *mut PyObject,
    name: &std::ffi::CStr,
    what: &'static str,
    found: i32,
) -> Checked {
    // SAFETY: see the module page.
    unsafe {
        let attribute = made(what, ffi::PyObject_GetAttrString(object, name.as_ptr()))?;
        expect(what, ffi::PyLong_AsLong(attribute.as_ptr()) == found.into())
    }
}

/// `outer`: three parameters, a cell variable, defaults of both kinds.
unsafe fn function(f: *mut PyObject, globals: *mut PyObject) -> Checked {
    // SAFETY: see the module page.
    unsafe {
        let at = |offset| read::<*mut PyObject, _>(f, offset);
        let c = ffi::PyFunction_GetCode(f);
        expect("PyFunctionObject.func_code", at(function::CODE) == c)?;
        expect(
            "PyFunctionObject.func_globals",
            at(function::GLOBALS) == globals,
        )?;
        expect(
            "PyFunctionObject.func_builtins",
            at(function::BUILTINS) == ffi::PyEval_GetBuiltins(),
        )?;
        expect(
            "PyFunctionObject.func_defaults",
            at(function::DEFAULTS) == ffi::PyFunction_GetDefaults(f),
        )?;
        expect(
            "PyFunctionObject.func_defaults",
            !at(function::DEFAULTS).is_null(),
        )?;
        expect(
            "PyFunctionObject.func_kwdefaults",
            at(function::KWDEFAULTS) == PyFunction_GetKwDefaults(f),
        )?;
        expect(
            "PyFunctionObject.func_kwdefaults",
            !at(function::KWDEFAULTS).is_null(),
        )?;
        attribute_is(
            f,
            c"__name__",
            "PyFunctionObject.func_name",
            at(function::NAME),
        )?;
        attribute_is(
            f,
            c"__qualname__",
            "PyFunctionObject.func_qualname",
            at(function::QUALNAME),
        )?;
        let entry = PyVectorcall_Function(f).map_or(0, |entry| entry as usize);
        expect(
            "PyFunctionObject.vectorcall",
            entry != 0 && at(function::VECTORCALL) as usize == entry,
        )?;
        let version = read::<u32, _>(f, function::VERSION);
        expect(
            "PyFunctionObject.func_version",
            version != 0 && version == read::<u32, _>(c, code::VERSION),
        )?;
        let place = (version % interp::FUNC_VERSION_CACHE_LEN as u32) as i32
            * interp::FUNC_VERSION_CACHE_ENTRY;
        let cached = read::<[*mut PyObject; 2], _>(
            ffi::PyInterpreterState_Get(),
            interp::FUNC_VERSION_CACHE + place,
        );
        expect("the cache of function versions", cached == [f, c])?;
        code_object(c)?;
        expect(
            "PyCodeObject.co_ncellvars",
            read::<i32, _>(c, code::NCELLVARS) == 1,
        )?;
        expect(
            "PyCodeObject.co_nfreevars",
            read::<i32, _>(c, code::NFREEVARS) == 0,
        )
    }
}

unsafe fn code_object(c: *mut PyObject) -> Checked {
    // SAFETY: see the module page.
    unsafe {
        let at = |offset| read::<*mut PyObject, _>(c, offset);
        let int = |offset| read::<i32, _>(c, offset);
        attribute_is(c, c"co_consts", "PyCodeObject.co_consts", at(code::CONSTS))?;
        attribute_is(c, c"co_names", "PyCodeObject.co_names", at(code::NAMES))?;
        attribute_is(
            c,
            c"co_exceptiontable",
            "PyCodeObject.co_exceptiontable",
            at(code::EXCEPTION_TABLE),
        )?;
        attribute_is(
            c,
            c"co_filename",
            "PyCodeObject.co_filename",
            at(code::FILENAME),
        )?;
        attribute_is(c, c"co_name", "PyCodeObject.co_name", at(code::NAME))?;
        attribute_is(
            c,
            c"co_qualname",
            "PyCodeObject.co_qualname",
            at(code::QUALNAME),
        )?;
        attribute_is(
            c,
            c"co_linetable",
            "PyCodeObject.co_linetable",
            at(code::LINETABLE),
        )?;
        number_is(c, c"co_flags", "PyCodeObject.co_flags", int(code::FLAGS))?;
        number_is(
            c,
            c"co_argcount",
            "PyCodeObject.co_argcount",
            int(code::ARGCOUNT),
        )?;
        number_is(
            c,
            c"co_posonlyargcount",
            "PyCodeObject.co_posonlyargcount",
            int(code::POSONLYARGCOUNT),
        )?;
        number_is(
            c,
            c"co_kwonlyargcount",
            "PyCodeObject.co_kwonlyargcount",
            int(code::KWONLYARGCOUNT),
        )?;
        number_is(
            c,
            c"co_stacksize",
            "PyCodeObject.co_stacksize",
            int(code::STACKSIZE),
        )?;
        number_is(
            c,
            c"co_firstlineno",
            "PyCodeObject.co_firstlineno",
            int(code::FIRSTLINENO),
        )?;
        number_is(
            c,
            c"co_nlocals",
            "PyCodeObject.co_nlocals",
            int(code::NLOCALS),
        )?;
        let words = int(code::NLOCALSPLUS) + int(code::STACKSIZE) + frame::LOCALSPLUS / 8;
        expect("PyCodeObject.co_framesize", int(code::FRAMESIZE) == words)?;
        let names = at(code::LOCALSPLUS_NAMES);
        let kinds = at(code::LOCALSPLUS_KINDS);
        let slots = int(code::NLOCALSPLUS) as Py_ssize_t;
        expect(
            "PyCodeObject.co_localsplusnames",
            read::<Py_ssize_t, _>(names, object::VAR_SIZE) == slots,
        )?;
        expect(
            "PyCodeObject.co_localspluskinds",
            read::<Py_ssize_t, _>(kinds, object::VAR_SIZE) == slots,
        )?;

        // The function has run, so its code was compared with the state of monitoring.
        let breaker = eval_breaker::version(ffi::PyThreadState_Get().cast());
        let version = read::<u64, _>(c, code::INSTRUMENTATION_VERSION);
        expect(
            "PyCodeObject._co_instrumentation_version or PyThreadState.eval_breaker",
            version == breaker,
        )?;
        let first = int(code::FIRST_TRACEABLE);
        expect("PyCodeObject._co_firsttraceable", (0..64).contains(&first))?;
        let units = read::<Py_ssize_t, _>(c, object::VAR_SIZE);
        expect(
            "the length of the code",
            (first as Py_ssize_t) < units && units < 4096,
        )?;
        let opcode = read::<u8, _>(c, code::ADAPTIVE + 2 * first);
        expect(
            "PyCodeObject.co_code_adaptive",
            code_units::is_start(opcode),
        )
    }
}

/// `inner`: one free variable.
unsafe fn closure(f: *mut PyObject) -> Checked {
    // SAFETY: see the module page.
    unsafe {
        let c = ffi::PyFunction_GetCode(f);
        code_object(c)?;
        expect(
            "PyCodeObject.co_nfreevars",
            read::<i32, _>(c, code::NFREEVARS) == 1,
        )?;
        expect(
            "PyCodeObject.co_ncellvars",
            read::<i32, _>(c, code::NCELLVARS) == 0,
        )?;
        let cells = read::<*mut PyObject, _>(f, function::CLOSURE);
        expect(
            "PyFunctionObject.func_closure",
            !cells.is_null() && cells == PyFunction_GetClosure(f),
        )
    }
}

/// A generator suspended at its first `yield`, where the operand stack is empty.
unsafe fn generator_(g: *mut PyObject) -> Checked {
    // SAFETY: see the module page.
    unsafe {
        expect(
            "PyGenObject.gi_frame_state",
            read::<i8, _>(g, generator::FRAME_STATE) == generator::STATE_SUSPENDED as i8,
        )?;
        for (name, offset) in [
            (c"__name__", generator::NAME),
            (c"__qualname__", generator::QUALNAME),
        ] {
            let own = made("a name", ffi::PyObject_GetAttrString(g, name.as_ptr()))?;
            expect(
                "PyGenObject.gi_name or gi_qualname",
                read::<*mut PyObject, _>(g, offset) == own.as_ptr(),
            )?;
        }
        let reference = made("a weak reference", ffi::PyWeakref_NewRef(g, null_mut()))?;
        expect(
            "PyGenObject.gi_weakreflist",
            read::<*mut PyObject, _>(g, generator::WEAK_REFERENCES) == reference.as_ptr(),
        )?;
        drop(reference);
        let f = g.byte_offset(generator::FRAME as isize);
        let c = made(
            "gi_code",
            ffi::PyObject_GetAttrString(g, c"gi_code".as_ptr()),
        )?;
        expect("PyGenObject.gi_iframe", slots::code(f.cast()) == c.as_ptr())?;
        expect(
            "_PyInterpreterFrame.owner",
            read::<u8, _>(f, frame::OWNER) == frame::OWNED_BY_GENERATOR as u8,
        )?;
        let count = read::<i32, _>(c.as_ptr(), code::NLOCALSPLUS);
        expect(
            "the top of _PyInterpreterFrame's stack",
            super::frames::depth(f.cast()) == count,
        )
    }
}

/// An instance of a Python class with two attributes, and a method bound to it.
unsafe fn instance(point: *mut PyObject, bound: *mut PyObject) -> Checked {
    // SAFETY: see the module page.
    unsafe {
        let class = ffi::Py_TYPE(point);
        let flags = read::<u64, _>(class, type_::FLAGS);
        expect(
            "PyTypeObject.tp_flags",
            flags == ffi::PyType_GetFlags(class) as u64,
        )?;
        let wanted = type_::FLAG_INLINE_VALUES
            | type_::FLAG_MANAGED_DICT
            | type_::FLAG_HEAPTYPE
            | type_::FLAG_READY;
        expect(
            "the flags of a class",
            flags & wanted as u64 == wanted as u64,
        )?;
        number_is(
            class.cast(),
            c"__basicsize__",
            "PyTypeObject.tp_basicsize",
            read::<isize, _>(class, type_::BASICSIZE) as i32,
        )?;
        number_is(
            class.cast(),
            c"__itemsize__",
            "PyTypeObject.tp_itemsize",
            read::<isize, _>(class, type_::ITEMSIZE) as i32,
        )?;
        number_is(
            class.cast(),
            c"__dictoffset__",
            "PyTypeObject.tp_dictoffset",
            read::<isize, _>(class, type_::DICTOFFSET) as i32,
        )?;
        attribute_is(
            class.cast(),
            c"__mro__",
            "PyTypeObject.tp_mro",
            read::<*mut PyObject, _>(class, type_::MRO),
        )?;
        let namespace = read::<*mut PyObject, _>(class, type_::DICT);
        let method = Owned::borrow(ffi::PyDict_GetItemString(namespace, c"method".as_ptr()));
        expect("PyTypeObject.tp_dict", method.is_some())?;
        if PyUnstable_Type_AssignVersionTag(class) == 0 {
            return Err(AbiError::Raised {
                what: "a version tag",
            });
        }
        let tag = read::<u32, _>(class, type_::VERSION_TAG);
        expect("PyTypeObject.tp_version_tag", tag != 0)?;
        expect(
            "PyTypeObject.tp_watched",
            read::<u8, _>(class, type_::WATCHED) == 0,
        )?;

        let values = point
            .byte_offset(read::<isize, _>(class, type_::BASICSIZE))
            .cast::<u8>();
        expect(
            "PyDictValues.valid",
            read::<u8, _>(values, dict_values::VALID) == 1,
        )?;
        expect(
            "PyDictValues.embedded",
            read::<u8, _>(values, dict_values::EMBEDDED) == 1,
        )?;
        expect(
            "PyDictValues.size",
            read::<u8, _>(values, dict_values::USED) == 2,
        )?;
        expect(
            "PyDictValues.capacity",
            (2..=30).contains(&read::<u8, _>(values, dict_values::CAPACITY)),
        )?;
        expect(
            "the managed dict",
            read::<*mut PyObject, _>(point, object::MANAGED_DICT).is_null(),
        )?;
        attribute_is(
            point,
            c"x",
            "PyDictValues.values",
            read::<*mut PyObject, _>(values, dict_values::VALUES),
        )?;
        attribute_is(
            point,
            c"y",
            "PyDictValues.values",
            read::<*mut PyObject, _>(values, dict_values::VALUES + 8),
        )?;
        let x = made("a name", ffi::PyUnicode_InternFromString(c"x".as_ptr()))?;
        keys_hold(
            read::<*mut u8, _>(class, type_::CACHED_KEYS),
            dict_keys::KIND_SPLIT,
            x.as_ptr(),
        )?;

        expect(
            "PyMethodObject.im_func",
            read::<*mut PyObject, _>(bound, method::FUNC)
                == method.map_or(null_mut(), |m| m.as_ptr()),
        )?;
        expect(
            "PyMethodObject.im_self",
            read::<*mut PyObject, _>(bound, method::SELF) == point,
        )?;
        // The class must notice a change.
        let none = ffi::Py_None();
        if ffi::PyObject_SetAttrString(class.cast(), c"added".as_ptr(), none) < 0 {
            ffi::PyErr_Clear();
            return Err(AbiError::Raised {
                what: "a class attribute",
            });
        }
        expect(
            "PyTypeObject.tp_version_tag",
            read::<u32, _>(class, type_::VERSION_TAG) != tag,
        )
    }
}

/// Called by `look(check, marker)` as `check(look, marker)`: raises an error that names the field
/// that disagrees.
unsafe extern "C" fn check_frame(_: *mut PyObject, arguments: *mut PyObject) -> *mut PyObject {
    // SAFETY: see the module page.
    unsafe {
        let f = ffi::PyTuple_GetItem(arguments, 0);
        let marker = ffi::PyTuple_GetItem(arguments, 1);
        let c = ffi::PyFunction_GetCode(f);
        let tstate = ffi::PyThreadState_Get();
        let current = read::<*mut u8, _>(tstate, thread::CURRENT_FRAME);
        let at = |offset| read::<*mut PyObject, _>(current, offset);
        let checked = (|| {
            expect("PyThreadState.current_frame", current as usize > 4096)?;
            expect(
                "_PyInterpreterFrame.f_executable",
                slots::code(current) == c,
            )?;
            expect(
                "_PyInterpreterFrame.f_funcobj",
                slots::function(current) == f,
            )?;
            expect(
                "_PyInterpreterFrame.f_globals",
                at(frame::GLOBALS) == ffi::PyFunction_GetGlobals(f),
            )?;
            expect(
                "_PyInterpreterFrame.f_builtins",
                at(frame::BUILTINS) == ffi::PyEval_GetBuiltins(),
            )?;
            expect("_PyInterpreterFrame.f_locals", at(frame::LOCALS).is_null())?;
            expect(
                "_PyInterpreterFrame.localsplus",
                slots::get(current, frame::LOCALSPLUS + 8) == marker,
            )?;
            expect(
                "_PyInterpreterFrame.owner",
                read::<u8, _>(current, frame::OWNER) == frame::OWNED_BY_THREAD as u8,
            )?;
            let units = read::<Py_ssize_t, _>(c, object::VAR_SIZE) as usize;
            let position =
                (at(frame::INSTR_PTR) as usize).wrapping_sub(c as usize + code::ADAPTIVE as usize);
            expect("_PyInterpreterFrame.instr_ptr", position < 2 * units)?;
            // A tracer may have requested it already.
            let frame_object = ffi::PyEval_GetFrame().cast::<PyObject>();
            expect(
                "_PyInterpreterFrame.frame_obj",
                !frame_object.is_null() && at(frame::FRAME_OBJ) == frame_object,
            )?;
            expect(
                "PyFrameObject.f_frame",
                read::<*mut u8, _>(frame_object, frame_object::FRAME) == current,
            )?;
            let proxy = Owned::take(ffi::PyObject_GetAttrString(
                frame_object,
                c"f_locals".as_ptr(),
            ));
            expect(
                "PyFrameLocalsProxyObject.frame",
                proxy.is_some_and(|proxy| {
                    read::<*mut PyObject, _>(proxy.as_ptr(), locals_proxy::FRAME) == frame_object
                }),
            )?;
            let previous = at(frame::PREVIOUS);
            expect(
                "_PyInterpreterFrame.previous",
                previous.is_null() || previous as usize > 4096,
            )?;
            let words = read::<i32, _>(c, code::FRAMESIZE) as usize;
            let top = read::<usize, _>(tstate, thread::DATASTACK_TOP);
            expect(
                "PyThreadState.datastack_top",
                top == current as usize + 8 * words,
            )?;
            expect(
                "PyThreadState.datastack_limit",
                read::<usize, _>(tstate, thread::DATASTACK_LIMIT) >= top,
            )?;
            let chunk = read::<usize, _>(tstate, thread::DATASTACK_CHUNK);
            expect(
                "PyThreadState.datastack_chunk",
                chunk != 0 && chunk < current as usize,
            )?;
            let size = read::<usize, _>(chunk as *const u8, chunk::SIZE);
            let limit = read::<usize, _>(tstate, thread::DATASTACK_LIMIT);
            expect(
                "_PyStackChunk.size",
                // The interpreter may reuse a block that it has kept, which may be larger than the
                // used part.
                size % chunk::USUAL_SIZE as usize == 0
                    && (limit - chunk) % chunk::USUAL_SIZE as usize == 0
                    && limit <= chunk + size,
            )?;
            let below = read::<*const u8, _>(chunk as *const u8, chunk::PREVIOUS);
            expect(
                "_PyStackChunk.top",
                below.is_null()
                    || chunk::DATA as usize + 8 * read::<usize, _>(below, chunk::TOP)
                        <= read::<usize, _>(below, chunk::SIZE),
            )
        })();
        let none = ffi::Py_None();
        match checked {
            Ok(()) => ffi::Py_NewRef(none),
            Err(AbiError::SelfTest { what }) => {
                ffi::PyUnicode_FromStringAndSize(what.as_ptr().cast(), what.len() as Py_ssize_t)
            }
            Err(_) => ffi::Py_NewRef(none),
        }
    }
}

/// Gives the recursion that remains.
unsafe extern "C" fn recursion(_: *mut PyObject, _: *mut PyObject) -> *mut PyObject {
    // SAFETY: see the module page.
    unsafe {
        let tstate = ffi::PyThreadState_Get();
        let current = read::<*const u8, _>(tstate, thread::CURRENT_FRAME);
        let caller = read::<*const u8, _>(current, frame::PREVIOUS);
        // A caller that the interpreter runs in the same loop has noted where it continues.
        if !caller.is_null() && read::<u8, _>(caller, frame::OWNER) == frame::OWNED_BY_THREAD as u8
        {
            let code = slots::code(caller);
            let name = read::<*mut PyObject, _>(code, code::NAME);
            let is_ours = ffi::PyUnicode_CompareWithASCIIString(name, c"recursion_2".as_ptr()) == 0;
            if is_ours && frames::mark(caller) != code_units::CALL_LENGTH {
                return ffi::PyLong_FromLong(WRONG_RETURN);
            }
        }
        ffi::PyLong_FromLong(read::<i32, _>(tstate, thread::PY_RECURSION_REMAINING).into())
    }
}

/// The result of [`recursion`] if the caller's `return_offset` is not as expected.
const WRONG_RETURN: std::ffi::c_long = -1_000_000_000;

/// The fields of `_PyInterpreterFrame` that [`check_frame`] may name.
const FRAME_CHECKS: &[&str] = &[
    "PyThreadState.current_frame",
    "_PyInterpreterFrame.f_executable",
    "_PyInterpreterFrame.f_funcobj",
    "_PyInterpreterFrame.f_globals",
    "_PyInterpreterFrame.f_builtins",
    "_PyInterpreterFrame.f_locals",
    "_PyInterpreterFrame.localsplus",
    "_PyInterpreterFrame.owner",
    "_PyInterpreterFrame.instr_ptr",
    "_PyInterpreterFrame.frame_obj",
    "PyFrameObject.f_frame",
    "PyFrameLocalsProxyObject.frame",
    "_PyInterpreterFrame.previous",
    "PyThreadState.datastack_top",
    "PyThreadState.datastack_limit",
    "PyThreadState.datastack_chunk",
    "_PyStackChunk.size",
    "_PyStackChunk.top",
];

struct Methods([ffi::PyMethodDef; 2]);
// SAFETY: never written.
unsafe impl Sync for Methods {}
static METHODS: Methods = Methods([
    ffi::PyMethodDef {
        ml_name: c"check_frame".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer {
            PyCFunction: check_frame,
        },
        ml_flags: ffi::METH_VARARGS,
        ml_doc: std::ptr::null(),
    },
    ffi::PyMethodDef {
        ml_name: c"recursion".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer {
            PyCFunction: recursion,
        },
        ml_flags: ffi::METH_NOARGS,
        ml_doc: std::ptr::null(),
    },
]);

unsafe fn frames(
    look: *mut PyObject,
    recursion_1: *mut PyObject,
    recursion_2: *mut PyObject,
) -> Checked {
    // SAFETY: see the module page.
    unsafe {
        let native = |i: usize| {
            let def = &raw const METHODS.0[i];
            made(
                "a builtin",
                ffi::PyCFunction_NewEx(def.cast_mut(), null_mut(), null_mut()),
            )
        };
        let check = native(0)?;
        expect(
            "PyCFunctionObject.m_ml",
            read::<*const ffi::PyMethodDef, _>(check.as_ptr(), builtin::ML)
                == &raw const METHODS.0[0],
        )?;
        expect(
            "PyCFunctionObject.m_self",
            read::<*mut PyObject, _>(check.as_ptr(), builtin::SELF).is_null(),
        )?;
        let marker = made("a marker", ffi::PyFloat_FromDouble(77.5))?;
        let found = made(
            "a call",
            ffi::PyObject_CallFunctionObjArgs(
                look,
                check.as_ptr(),
                marker.as_ptr(),
                null_mut::<PyObject>(),
            ),
        )?;
        if found.as_ptr() != ffi::Py_None() {
            let mut length = 0;
            let text = ffi::PyUnicode_AsUTF8AndSize(found.as_ptr(), &mut length);
            let bytes = if text.is_null() {
                &[][..]
            } else {
                std::slice::from_raw_parts(text.cast(), length as usize)
            };
            let what = FRAME_CHECKS
                .iter()
                .find(|name| name.as_bytes() == bytes)
                .unwrap_or(&"a frame");
            return Err(AbiError::SelfTest { what });
        }
        let remaining = native(1)?;
        let depth = |f| {
            let n = made(
                "a call",
                ffi::PyObject_CallFunctionObjArgs(f, remaining.as_ptr(), null_mut::<PyObject>()),
            )?;
            Ok(ffi::PyLong_AsLong(n.as_ptr()))
        };
        let (one, two) = (depth(recursion_1)?, depth(recursion_2)?);
        expect("_PyInterpreterFrame.return_offset", two != WRONG_RETURN)?;
        expect(
            "PyThreadState.py_recursion_remaining",
            one == two + 1 && two > 0 && one <= ffi::Py_GetRecursionLimit().into(),
        )
    }
}

unsafe fn thread_state() -> Checked {
    // SAFETY: see the module page.
    unsafe {
        let tstate = ffi::PyThreadState_Get();
        let interpreter = read::<*mut ffi::PyInterpreterState, _>(tstate, thread::INTERP);
        expect(
            "PyThreadState.interp",
            interpreter == ffi::PyInterpreterState_Get(),
        )?;
        expect(
            "what PyThreadState has of native recursion",
            recursion::is_plausible(tstate.cast()),
        )?;
        expect(
            "PyThreadState.tracing",
            (0..1000).contains(&read::<i32, _>(tstate, thread::TRACING)),
        )?;
        expect(
            "PyThreadState.exc_info",
            read::<usize, _>(tstate, thread::EXC_INFO) > 4096,
        )?;
        expect(
            "PyThreadState.current_exception",
            read::<*mut PyObject, _>(tstate, thread::CURRENT_EXCEPTION).is_null(),
        )?;
        watchers(interpreter)?;
        eval_frame(interpreter)?;
        let depth = |depth: i32| -> Result<i32, AbiError> {
            let set = ffi::PySys_GetObject(c"set_coroutine_origin_tracking_depth".as_ptr());
            let result = ffi::PyObject_CallFunction(set, c"i".as_ptr(), depth);
            made("a depth of origins", result)?;
            Ok(read(tstate, thread::ORIGIN_DEPTH))
        };
        let before: i32 = read(tstate, thread::ORIGIN_DEPTH);
        let seen = depth(37)?;
        expect(
            "PyThreadState.coroutine_origin_tracking_depth",
            seen == 37 && depth(before)? == before,
        )?;
        ffi::PyErr_SetNone(ffi::PyExc_ValueError);
        let pending = read::<*mut PyObject, _>(tstate, thread::CURRENT_EXCEPTION);
        let raised = Owned::take(PyErr_GetRaisedException());
        expect(
            "PyThreadState.current_exception",
            raised.is_some_and(|raised| raised.as_ptr() == pending),
        )
    }
}

/// The callbacks that watch classes, and, before them, the hooks of audited events.
unsafe fn watchers(interpreter: *mut ffi::PyInterpreterState) -> Checked {
    unsafe extern "C" fn watcher(_: *mut PyObject) -> std::ffi::c_int {
        0
    }
    // SAFETY: see the module page.
    unsafe {
        let id = PyType_AddWatcher(watcher);
        if id < 0 {
            // All ids are taken; then nothing can be checked, and no watcher of ours is called for
            // classes either.
            ffi::PyErr_Clear();
            return Ok(());
        }
        let found: usize = read(interpreter, interp::TYPE_WATCHERS + 8 * id);
        PyType_ClearWatcher(id);
        expect(
            "PyInterpreterState.type_watchers",
            found == watcher as *const () as usize,
        )?;
        let hooks: *mut PyObject = read(interpreter, interp::AUDIT_HOOKS);
        expect(
            "PyInterpreterState.audit_hooks",
            hooks.is_null() || hooks as usize > 4096 && ffi::PyList_CheckExact(hooks) != 0,
        )
    }
}

/// The function that runs frames, if it is not the interpreter's own.
unsafe fn eval_frame(interpreter: *mut ffi::PyInterpreterState) -> Checked {
    unsafe extern "C" fn hook(thread: *mut u8, frame: *mut u8, throw: i32) -> *mut PyObject {
        // SAFETY: the interpreter's promises.
        unsafe { _PyEval_EvalFrameDefault(thread, frame, throw) }
    }
    // SAFETY: see the module page. No frame is run while the hook is set.
    unsafe {
        let before = _PyInterpreterState_GetEvalFrameFunc(interpreter);
        _PyInterpreterState_SetEvalFrameFunc(interpreter, hook as *const () as usize);
        let found: usize = read(interpreter, interp::EVAL_FRAME);
        _PyInterpreterState_SetEvalFrameFunc(interpreter, before);
        expect(
            "PyInterpreterState.eval_frame",
            found == hook as *const () as usize,
        )
    }
}
