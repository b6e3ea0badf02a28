//! The structures that the intrinsics read, as the core reads them.

use super::layouts::{
    cell, code, dict, dict_keys, float, frame, interp, list, list_iter, long, object, range,
    range_iter, thread, tuple, tuple_iter, type_,
};
use super::{dict_versions, forms, frames};
use cladonia::host::HostBuilder;
use cladonia::ll::{Field, Width};

/// Declare them. A field without a fixed size is declared by its first element.
pub fn declare(host: &mut HostBuilder) {
    use Width::{F64, I32, I64, Ptr, U8, U16, U32};
    let field = |name, offset: i32, width| Field::new(name, offset as usize, width);
    let head = [
        // The upper half of the word is the interpreter's: an immortal object has its lower half's
        // sign set.
        field("ob_refcnt", object::REFCNT, U32),
        field("ob_type", object::TYPE, Ptr),
    ];
    let head = host.layout("PyObject", None, &head);
    let sized = [field("ob_size", object::VAR_SIZE, I64)];
    let sized = host.layout("PyVarObject", Some(&head), &sized);
    let objects: [(&str, &[Field]); 8] = [
        (
            "PyLongObject",
            &[
                field("lv_tag", long::TAG, I64),
                field("ob_digit", long::DIGITS, U32),
            ],
        ),
        ("PyFloatObject", &[field("ob_fval", float::VALUE, F64)]),
        ("PyCellObject", &[field("ob_ref", cell::CONTENT, Ptr)]),
        (
            "PyDictObject",
            &[
                field("ma_used", dict::USED, I64),
                field("watchers", dict_versions::WATCHERS_AT, I64),
                field("ma_keys", dict::KEYS, Ptr),
                field("ma_values", dict::VALUES, Ptr),
            ],
        ),
        (
            "rangeobject",
            &[
                field("start", range::START, Ptr),
                field("stop", range::STOP, Ptr),
                field("step", range::STEP, Ptr),
            ],
        ),
        (
            "_PyRangeIterObject",
            &[
                field("start", range_iter::START, I64),
                field("step", range_iter::STEP, I64),
                field("len", range_iter::LEN, I64),
            ],
        ),
        (
            "_PyListIterObject",
            &[
                field("it_index", list_iter::INDEX, I64),
                field("it_seq", list_iter::SEQ, Ptr),
            ],
        ),
        (
            "_PyTupleIterObject",
            &[
                field("it_index", tuple_iter::INDEX, I64),
                field("it_seq", tuple_iter::SEQ, Ptr),
            ],
        ),
    ];
    for (name, fields) in objects {
        host.layout(name, Some(&head), fields);
    }
    let sized_objects: [(&str, &[Field]); 3] = [
        (
            "PyListObject",
            &[
                field("ob_item", list::ITEMS, Ptr),
                field("allocated", list::ALLOCATED, I64),
            ],
        ),
        ("PyTupleObject", &[field("ob_item", tuple::ITEMS, Ptr)]),
        (
            "PyHeapTypeObject",
            &[
                field("tp_basicsize", type_::BASICSIZE, I64),
                field("tp_flags", type_::FLAGS, I64),
                field("tp_version_tag", type_::VERSION_TAG, U32),
                field("ht_cached_keys", type_::CACHED_KEYS, Ptr),
            ],
        ),
    ];
    for (name, fields) in sized_objects {
        host.layout(name, Some(&sized), fields);
    }
    let others: [(&str, &[Field]); 5] = [
        (
            "PyDictKeysObject",
            &[
                field("dk_kind", dict_keys::KIND, U8),
                field("dk_version", dict_keys::VERSION, U32),
                field("dk_nentries", dict_keys::NENTRIES, I64),
            ],
        ),
        (
            "PyCodeObject",
            &[
                field("co_framesize", code::FRAMESIZE, I32),
                field("co_code_adaptive", code::ADAPTIVE, U16),
            ],
        ),
        (
            "_PyInterpreterFrame",
            &[
                field("f_executable", frame::EXECUTABLE, Ptr),
                field("previous", frame::PREVIOUS, Ptr),
                field("f_funcobj", frame::FUNCOBJ, Ptr),
                field("f_globals", frame::GLOBALS, Ptr),
                field("f_builtins", frame::BUILTINS, Ptr),
                field("f_locals", frame::LOCALS, Ptr),
                field("frame_obj", frame::FRAME_OBJ, Ptr),
                field("instr_ptr", frame::INSTR_PTR, Ptr),
                field(frames::TOP.0, frames::TOP.1, frames::TOP.2),
                field("return_offset", frame::RETURN_OFFSET, U16),
                field("owner", frame::OWNER, U8),
                field("localsplus", frame::LOCALSPLUS, Ptr),
            ],
        ),
        (
            "PyThreadState",
            &[
                field("interp", thread::INTERP, Ptr),
                field("eval_breaker", thread::EVAL_BREAKER, I64),
                field(
                    "py_recursion_remaining",
                    thread::PY_RECURSION_REMAINING,
                    I32,
                ),
                field("current_frame", thread::CURRENT_FRAME, Ptr),
                field("current_exception", thread::CURRENT_EXCEPTION, Ptr),
                field("datastack_top", thread::DATASTACK_TOP, Ptr),
                field("datastack_limit", thread::DATASTACK_LIMIT, Ptr),
            ],
        ),
        (
            "PyInterpreterState",
            &[
                field("floats_numfree", interp::FLOAT_NUMFREE, forms::FREE_FLOATS),
                field("floats_items", interp::FLOAT_ITEMS, Ptr),
            ],
        ),
    ];
    for (name, fields) in others {
        host.layout(name, None, fields);
    }
}
