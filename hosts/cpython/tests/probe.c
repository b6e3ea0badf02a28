/* Prints the layout constants that the `layouts.rs` of a version in `src/abi` checks in, one `group.NAME value` a line, from the headers of
 * the interpreter it is compiled against. `src/abi/tests.rs` compiles and runs it and compares. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "internal/pycore_code.h"
#include "internal/pycore_ceval_state.h"
#include "internal/pycore_dict.h"
#include "internal/pycore_frame.h"
#if PY_VERSION_HEX >= 0x030E0000
#include "internal/pycore_interpframe.h"
#endif
#include "internal/pycore_function.h"
#include "internal/pycore_gc.h"
#include "internal/pycore_genobject.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_list.h"
#include "internal/pycore_long.h"
#include "internal/pycore_moduleobject.h"
#include "internal/pycore_object.h"
#include "internal/pycore_range.h"
#include "internal/pycore_runtime.h"
#include "internal/pycore_tuple.h"
#include "internal/pycore_typeobject.h"

#define V(group, name, value) printf(#group "." #name " %lld\n", (long long)(value))
#define O(group, name, type, field) V(group, name, offsetof(type, field))
#define S(group, type) V(group, SIZE, sizeof(type))

typedef struct _PyInterpreterFrame Frame;
typedef struct PyCodeObject Code;
typedef struct _dictkeysobject Keys;
typedef struct _dictvalues Values;

/* What no header has, as the sources say it; the self-test and whoever reads them look at objects too. */
typedef struct { PyObject_HEAD PyObject *start, *stop, *step, *length; } Range;
typedef struct { PyObject_HEAD Py_ssize_t index; PyObject *doc; } TupleGetter;
typedef struct { PyObject_HEAD PyDictObject *di_dict; Py_ssize_t di_used, di_pos; PyObject *di_result; Py_ssize_t len; } DictIter;
typedef struct { PyObject_HEAD Py_ssize_t it_index; PyListObject *it_seq; } ListReverseIter;
typedef struct { PyObject_HEAD Py_ssize_t en_index; PyObject *en_sit, *en_result, *en_longindex, *one; } Enumerate;
typedef struct { PyObject_HEAD Py_ssize_t tuplesize; PyObject *ittuple, *result; int strict; } Zip;
typedef struct { Py_ssize_t ce_size; void *ce_extras[1]; } CodeExtra;
typedef struct {
    PyObject_VAR_HEAD
    char *ob_item;
    Py_ssize_t allocated;
    const void *ob_descr;
    PyObject *weakreflist;
    Py_ssize_t ob_exports;
} Array;
#define DATA_STACK_CHUNK_SIZE (16 * 1024)

/* What `src/abi/v3_13/audit.rs` relies on. */
_Static_assert(offsetof(_PyRuntimeState, preconfig) - offsetof(_PyRuntimeState, ref_tracer) == 48, "preconfig");
_Static_assert(offsetof(_PyRuntimeState, audit_hooks.head) - offsetof(_PyRuntimeState, ref_tracer) == 112, "audit_hooks");
_Static_assert(offsetof(PyPreConfig, utf8_mode) == 4 * 7 && offsetof(PyPreConfig, dev_mode) == 4 * 8, "PyPreConfig");

int main(void)
{
    O(object, REFCNT, PyObject, ob_refcnt);
    O(object, TYPE, PyObject, ob_type);
    O(object, VAR_SIZE, PyVarObject, ob_size);
    V(object, MANAGED_DICT, MANAGED_DICT_OFFSET);
    V(object, MANAGED_WEAKREF, MANAGED_WEAKREF_OFFSET);
    V(object, GC_HEAD, sizeof(PyGC_Head));
    O(gc_head, NEXT, PyGC_Head, _gc_next);
    O(gc_head, PREVIOUS, PyGC_Head, _gc_prev);
    V(gc_head, FLAGS, ~_PyGC_PREV_MASK);
    V(gc_head, FINALIZED, _PyGC_PREV_MASK_FINALIZED);

    O(frame, EXECUTABLE, Frame, f_executable);
    O(frame, PREVIOUS, Frame, previous);
    O(frame, FUNCOBJ, Frame, f_funcobj);
    O(frame, GLOBALS, Frame, f_globals);
    O(frame, BUILTINS, Frame, f_builtins);
    O(frame, LOCALS, Frame, f_locals);
    O(frame, FRAME_OBJ, Frame, frame_obj);
    O(frame, INSTR_PTR, Frame, instr_ptr);
#if PY_VERSION_HEX >= 0x030E0000
    O(frame, STACKPOINTER, Frame, stackpointer);
#else
    O(frame, STACKTOP, Frame, stacktop);
#endif
    O(frame, RETURN_OFFSET, Frame, return_offset);
    O(frame, OWNER, Frame, owner);
#if PY_VERSION_HEX >= 0x030E0000
    V(frame, SPARE, offsetof(Frame, visited) + 1);
    _Static_assert(offsetof(Frame, visited) + 1 < offsetof(Frame, localsplus), "no padding");
#else
    V(frame, SPARE, offsetof(Frame, owner) + 1);
#endif
    O(frame, LOCALSPLUS, Frame, localsplus);
    S(frame, Frame);
    V(frame, OWNED_BY_THREAD, FRAME_OWNED_BY_THREAD);
    V(frame, OWNED_BY_GENERATOR, FRAME_OWNED_BY_GENERATOR);
    V(frame, OWNED_BY_FRAME_OBJECT, FRAME_OWNED_BY_FRAME_OBJECT);
#if PY_VERSION_HEX >= 0x030E0000
    V(frame, OWNED_BY_INTERPRETER, FRAME_OWNED_BY_INTERPRETER);
#else
    V(frame, OWNED_BY_CSTACK, FRAME_OWNED_BY_CSTACK);
#endif

    O(frame_object, FRAME, struct _frame, f_frame);
    O(frame_object, TRACE, struct _frame, f_trace);
    O(frame_object, EXTRA_LOCALS, struct _frame, f_extra_locals);
#if PY_VERSION_HEX >= 0x030e0000
    O(frame_object, OVERWRITTEN_LOCALS, struct _frame, f_overwritten_fast_locals);
#endif
    O(locals_proxy, FRAME, PyFrameLocalsProxyObject, frame);

    O(thread, INTERP, PyThreadState, interp);
    O(thread, EVAL_BREAKER, PyThreadState, eval_breaker);
    O(thread, PY_RECURSION_REMAINING, PyThreadState, py_recursion_remaining);
#if PY_VERSION_HEX < 0x030E0000
    O(thread, C_RECURSION_REMAINING, PyThreadState, c_recursion_remaining);
#endif
    O(thread, TRACING, PyThreadState, tracing);
    O(thread, WHAT_EVENT, PyThreadState, what_event);
    O(thread, CURRENT_FRAME, PyThreadState, current_frame);
    O(thread, CURRENT_EXCEPTION, PyThreadState, current_exception);
    O(thread, EXC_INFO, PyThreadState, exc_info);
    O(thread, ORIGIN_DEPTH, PyThreadState, coroutine_origin_tracking_depth);
    O(thread, DATASTACK_CHUNK, PyThreadState, datastack_chunk);
    O(thread, DATASTACK_TOP, PyThreadState, datastack_top);
    O(thread, DATASTACK_LIMIT, PyThreadState, datastack_limit);
#if PY_VERSION_HEX >= 0x030E0000
    O(thread, SPARE, PyThreadState, dict_global_version);
    V(thread, SIZE, offsetof(PyThreadState, remote_debugger_support) + sizeof(_PyRemoteDebuggerSupport));
    V(thread_impl, SOFT_LIMIT, offsetof(_PyThreadStateImpl, c_stack_soft_limit) - sizeof(PyThreadState));
#else
    O(thread, SPARE, PyThreadState, previous_executor);
    S(thread, PyThreadState);
#endif
    O(chunk, PREVIOUS, _PyStackChunk, previous);
    O(chunk, SIZE, _PyStackChunk, size);
    O(chunk, TOP, _PyStackChunk, top);
    O(chunk, DATA, _PyStackChunk, data);
    V(chunk, USUAL_SIZE, DATA_STACK_CHUNK_SIZE);
    O(exc_info, VALUE, _PyErr_StackItem, exc_value);
    O(exc_info, PREVIOUS, _PyErr_StackItem, previous_item);

    O(interp, EVAL_FRAME, PyInterpreterState, eval_frame);
    O(interp, AUDIT_HOOKS, PyInterpreterState, audit_hooks);
    O(interp, TYPE_WATCHERS, PyInterpreterState, type_watchers);
#if PY_VERSION_HEX >= 0x030E0000
    O(interp, FLOAT_NUMFREE, PyInterpreterState, object_state.freelists.floats.size);
    O(interp, FLOAT_ITEMS, PyInterpreterState, object_state.freelists.floats.freelist);
    V(interp, FLOAT_MAXFREE, Py_floats_MAXFREELIST);
#else
    O(interp, FLOAT_NUMFREE, PyInterpreterState, object_state.freelists.floats.numfree);
    O(interp, FLOAT_ITEMS, PyInterpreterState, object_state.freelists.floats.items);
    V(interp, FLOAT_MAXFREE, PyFloat_MAXFREELIST);
#endif
    O(interp, FUNC_VERSION_CACHE, PyInterpreterState, func_state.func_version_cache);
    V(interp, FUNC_VERSION_CACHE_LEN,
      sizeof(((PyInterpreterState *)0)->func_state.func_version_cache) / sizeof(struct _func_version_cache_item));
    V(interp, FUNC_VERSION_CACHE_ENTRY, sizeof(struct _func_version_cache_item));
    O(interp, FUNC_VERSION_CACHE_CODE, struct _func_version_cache_item, code);
#if PY_VERSION_HEX >= 0x030E0000
    O(interp, MONITORS, PyInterpreterState, monitors);
    O(interp, JIT, PyInterpreterState, jit);
    O(interp, COMMON_CONSTS, PyInterpreterState, common_consts);
#else
    O(interp, DICT_STATE, PyInterpreterState, dict_state);
    O(interp, MONITORS, PyInterpreterState, monitors);
#endif

    O(code, CONSTS, Code, co_consts);
    O(code, NAMES, Code, co_names);
    O(code, EXCEPTION_TABLE, Code, co_exceptiontable);
    O(code, FLAGS, Code, co_flags);
    O(code, ARGCOUNT, Code, co_argcount);
    O(code, POSONLYARGCOUNT, Code, co_posonlyargcount);
    O(code, KWONLYARGCOUNT, Code, co_kwonlyargcount);
    O(code, STACKSIZE, Code, co_stacksize);
    O(code, FIRSTLINENO, Code, co_firstlineno);
    O(code, NLOCALSPLUS, Code, co_nlocalsplus);
    O(code, FRAMESIZE, Code, co_framesize);
    O(code, NLOCALS, Code, co_nlocals);
    O(code, NCELLVARS, Code, co_ncellvars);
    O(code, NFREEVARS, Code, co_nfreevars);
    O(code, VERSION, Code, co_version);
    O(code, LOCALSPLUS_NAMES, Code, co_localsplusnames);
    O(code, LOCALSPLUS_KINDS, Code, co_localspluskinds);
    O(code, FILENAME, Code, co_filename);
    O(code, NAME, Code, co_name);
    O(code, QUALNAME, Code, co_qualname);
    O(code, LINETABLE, Code, co_linetable);
    O(code, INSTRUMENTATION_VERSION, Code, _co_instrumentation_version);
    O(code, MONITORING, Code, _co_monitoring);
    O(code, FIRST_TRACEABLE, Code, _co_firsttraceable);
    O(code, EXTRA, Code, co_extra);
    O(code, ADAPTIVE, Code, co_code_adaptive);
    V(code, SIZE_WITHOUT_UNITS, offsetof(Code, co_code_adaptive));
    V(code, KIND_LOCAL, CO_FAST_LOCAL);
    V(code, KIND_CELL, CO_FAST_CELL);
    V(code, KIND_FREE, CO_FAST_FREE);
    V(code, KIND_HIDDEN, CO_FAST_HIDDEN);

    O(code_extra, LENGTH, CodeExtra, ce_size);
    O(code_extra, ITEMS, CodeExtra, ce_extras);

    O(function, GLOBALS, PyFunctionObject, func_globals);
    O(function, BUILTINS, PyFunctionObject, func_builtins);
    O(function, NAME, PyFunctionObject, func_name);
    O(function, QUALNAME, PyFunctionObject, func_qualname);
    O(function, CODE, PyFunctionObject, func_code);
    O(function, DEFAULTS, PyFunctionObject, func_defaults);
    O(function, KWDEFAULTS, PyFunctionObject, func_kwdefaults);
    O(function, CLOSURE, PyFunctionObject, func_closure);
#if PY_VERSION_HEX >= 0x030E0000
    O(function, ANNOTATE, PyFunctionObject, func_annotate);
#endif
    O(function, VECTORCALL, PyFunctionObject, vectorcall);
    O(function, VERSION, PyFunctionObject, func_version);
    S(function, PyFunctionObject);

    O(method, FUNC, PyMethodObject, im_func);
    O(method, SELF, PyMethodObject, im_self);
    O(builtin, ML, PyCFunctionObject, m_ml);
    O(builtin, SELF, PyCFunctionObject, m_self);
    O(descr, TYPE, PyDescrObject, d_type);
    O(descr, METHOD, PyMethodDescrObject, d_method);
    O(descr, MEMBER, PyMemberDescrObject, d_member);

    O(long, TAG, PyLongObject, long_value.lv_tag);
    O(long, DIGITS, PyLongObject, long_value.ob_digit);
    S(long, PyLongObject);
    V(long, DIGIT_BITS, PyLong_SHIFT);
    V(long, NON_SIZE_BITS, NON_SIZE_BITS);
    V(long, SIGN_MASK, SIGN_MASK);
    V(long, SIGN_ZERO, SIGN_ZERO);
    V(long, SIGN_NEGATIVE, SIGN_NEGATIVE);
#if PY_VERSION_HEX >= 0x030E0000
    V(long, IMMORTAL, IMMORTALITY_BIT_MASK);
#else
    V(long, IMMORTAL, 0);
#endif
    V(long, SMALL_NEGATIVE, _PY_NSMALLNEGINTS);
    V(long, SMALL_INTS, _PY_NSMALLPOSINTS);

    O(float, VALUE, PyFloatObject, ob_fval);
    S(float, PyFloatObject);

    O(list, ITEMS, PyListObject, ob_item);
    O(list, ALLOCATED, PyListObject, allocated);
    S(list, PyListObject);
    O(bytearray, START, PyByteArrayObject, ob_start);
    O(array, ITEMS, Array, ob_item);
    O(array, DESCR, Array, ob_descr);
    S(array, Array);
#if PY_VERSION_HEX >= 0x030e0000
    O(tuple, HASH, PyTupleObject, ob_hash);
#endif
    O(tuple, ITEMS, PyTupleObject, ob_item);
    O(tuple_getter, INDEX, TupleGetter, index);
    S(tuple_getter, TupleGetter);
    O(cell, CONTENT, PyCellObject, ob_ref);
    O(slice, START, PySliceObject, start);
    O(slice, STOP, PySliceObject, stop);
    O(slice, STEP, PySliceObject, step);
    O(set, FILL, PySetObject, fill);
    O(set, USED, PySetObject, used);
    O(module, DICT, PyModuleObject, md_dict);

    O(dict, USED, PyDictObject, ma_used);
#if PY_VERSION_HEX >= 0x030E0000
    O(dict, WATCHER_TAG, PyDictObject, _ma_watcher_tag);
#else
    O(dict, VERSION_TAG, PyDictObject, ma_version_tag);
#endif
    O(dict, KEYS, PyDictObject, ma_keys);
    O(dict, VALUES, PyDictObject, ma_values);
    S(dict, PyDictObject);
#if PY_VERSION_HEX < 0x030E0000
    V(dict, VERSION_STEP, DICT_VERSION_INCREMENT);
#endif
    V(dict, WATCHERS, DICT_WATCHER_MASK);
    O(dict_keys, LOG2_SIZE, Keys, dk_log2_size);
    O(dict_keys, LOG2_INDEX_BYTES, Keys, dk_log2_index_bytes);
    O(dict_keys, KIND, Keys, dk_kind);
    O(dict_keys, VERSION, Keys, dk_version);
    O(dict_keys, USABLE, Keys, dk_usable);
    O(dict_keys, NENTRIES, Keys, dk_nentries);
    V(dict_keys, EMPTY, (uint8_t)DKIX_EMPTY);
    V(dict_keys, SHAPE_MASK, (1 << (8 * (offsetof(Keys, dk_kind) + 1 - offsetof(Keys, dk_log2_size)))) - 1);
    O(dict_keys, INDICES, Keys, dk_indices);
    V(dict_keys, UNICODE_ENTRY_SIZE, sizeof(PyDictUnicodeEntry));
    O(dict_keys, UNICODE_ENTRY_VALUE, PyDictUnicodeEntry, me_value);
    V(dict_keys, GENERAL_ENTRY_SIZE, sizeof(PyDictKeyEntry));
    O(dict_keys, GENERAL_ENTRY_KEY, PyDictKeyEntry, me_key);
    O(dict_keys, GENERAL_ENTRY_VALUE, PyDictKeyEntry, me_value);
    V(dict_keys, KIND_GENERAL, DICT_KEYS_GENERAL);
    V(dict_keys, KIND_UNICODE, DICT_KEYS_UNICODE);
    V(dict_keys, KIND_SPLIT, DICT_KEYS_SPLIT);
    O(dict_values, CAPACITY, Values, capacity);
    O(dict_values, USED, Values, size);
    O(dict_values, EMBEDDED, Values, embedded);
    O(dict_values, VALID, Values, valid);
    O(dict_values, VALUES, Values, values);

    O(type_, NAME, PyTypeObject, tp_name);
    O(type_, BASICSIZE, PyTypeObject, tp_basicsize);
    O(type_, ITEMSIZE, PyTypeObject, tp_itemsize);
    O(type_, FLAGS, PyTypeObject, tp_flags);
    O(type_, DICT, PyTypeObject, tp_dict);
    O(type_, DICTOFFSET, PyTypeObject, tp_dictoffset);
    O(type_, MRO, PyTypeObject, tp_mro);
    O(type_, VERSION_TAG, PyTypeObject, tp_version_tag);
    O(type_, WATCHED, PyTypeObject, tp_watched);
    S(type_, PyTypeObject);
    O(type_, CACHED_KEYS, PyHeapTypeObject, ht_cached_keys);
    V(type_, FLAG_INLINE_VALUES, Py_TPFLAGS_INLINE_VALUES);
    V(type_, FLAG_MANAGED_DICT, Py_TPFLAGS_MANAGED_DICT);
    V(type_, FLAG_HEAPTYPE, Py_TPFLAGS_HEAPTYPE);
    V(type_, FLAG_READY, Py_TPFLAGS_READY);
    V(type_, FLAG_VALID_VERSION_TAG, Py_TPFLAGS_VALID_VERSION_TAG);

    O(range, START, Range, start);
    O(range, STOP, Range, stop);
    O(range, STEP, Range, step);
    O(dict_iter, DICT, DictIter, di_dict);
    O(dict_iter, USED, DictIter, di_used);
    O(dict_iter, POSITION, DictIter, di_pos);
    O(dict_iter, LEFT, DictIter, len);
    O(list_reverse_iter, INDEX, ListReverseIter, it_index);
    O(list_reverse_iter, SEQ, ListReverseIter, it_seq);
    O(enumerate, INDEX, Enumerate, en_index);
    O(enumerate, ITERATOR, Enumerate, en_sit);
    O(zip, ITERATORS, Zip, ittuple);
    O(zip, STRICT, Zip, strict);
    O(range_iter, START, _PyRangeIterObject, start);
    O(range_iter, STEP, _PyRangeIterObject, step);
    O(range_iter, LEN, _PyRangeIterObject, len);
    S(range_iter, _PyRangeIterObject);
    O(list_iter, INDEX, _PyListIterObject, it_index);
    O(list_iter, SEQ, _PyListIterObject, it_seq);
    O(tuple_iter, INDEX, _PyTupleIterObject, it_index);
    O(tuple_iter, SEQ, _PyTupleIterObject, it_seq);
    O(generator, WEAK_REFERENCES, PyGenObject, gi_weakreflist);
    O(generator, NAME, PyGenObject, gi_name);
    O(generator, QUALNAME, PyGenObject, gi_qualname);
    O(generator, ORIGIN, PyGenObject, gi_origin_or_finalizer);
    O(generator, EXC_STATE, PyGenObject, gi_exc_state);
    O(generator, EXC_PREVIOUS, PyGenObject, gi_exc_state.previous_item);
    O(generator, FRAME_STATE, PyGenObject, gi_frame_state);
    O(generator, FRAME, PyGenObject, gi_iframe);
    V(generator, STATE_CREATED, FRAME_CREATED);
    V(generator, STATE_SUSPENDED, FRAME_SUSPENDED);
    V(generator, STATE_DELEGATING, FRAME_SUSPENDED_YIELD_FROM);
    V(generator, STATE_EXECUTING, FRAME_EXECUTING);
    V(generator, STATE_CLEARED, FRAME_CLEARED);

    O(unicode, LENGTH, PyASCIIObject, length);
    O(unicode, HASH, PyASCIIObject, hash);
    O(unicode, STATE, PyASCIIObject, state);
    PyASCIIObject text = {0};
    uint32_t bits;
    text.state.kind = 7;
    memcpy(&bits, &text.state, sizeof bits);
    V(unicode, STATE_KIND, bits);
    text.state.kind = PyUnicode_1BYTE_KIND;
    memcpy(&bits, &text.state, sizeof bits);
    V(unicode, STATE_KIND_BYTE, bits);
    text.state.kind = 0;
    text.state.ascii = 1;
    memcpy(&bits, &text.state, sizeof bits);
    V(unicode, STATE_ASCII, bits);
    V(unicode, ASCII_DATA, sizeof(PyASCIIObject));
    V(unicode, COMPACT_DATA, sizeof(PyCompactUnicodeObject));
    O(bytes, DATA, PyBytesObject, ob_sval);

    O(debug, VERSION, _Py_DebugOffsets, version);
    O(debug, FREE_THREADED, _Py_DebugOffsets, free_threaded);
    O(debug, RUNTIME, _Py_DebugOffsets, runtime_state);
    O(debug, INTERPRETER, _Py_DebugOffsets, interpreter_state);
    O(debug, THREAD, _Py_DebugOffsets, thread_state);
    V(debug, THREAD_CHUNK, (offsetof(_Py_DebugOffsets, thread_state.datastack_chunk) - offsetof(_Py_DebugOffsets, thread_state)) / 8);
    O(debug, FRAME, _Py_DebugOffsets, interpreter_frame);
    O(debug, CODE, _Py_DebugOffsets, code_object);
    O(debug, OBJECT, _Py_DebugOffsets, pyobject);
    O(debug, TYPE, _Py_DebugOffsets, type_object);
    O(debug, TUPLE, _Py_DebugOffsets, tuple_object);
    O(debug, LIST, _Py_DebugOffsets, list_object);
    O(debug, DICT, _Py_DebugOffsets, dict_object);
    O(debug, FLOAT, _Py_DebugOffsets, float_object);
    O(debug, LONG, _Py_DebugOffsets, long_object);
    O(debug, BYTES, _Py_DebugOffsets, bytes_object);
    O(debug, UNICODE, _Py_DebugOffsets, unicode_object);
    return 0;
}
