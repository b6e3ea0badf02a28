//! Memory layout of CPython 3.13 on 64-bit platforms: byte offsets of fields, and the few values
//! that go with them.
//!
//! A row is a constant in the module of its struct. `tests/probe.c` prints the same names from a
//! header tree, a test compares; at run time [`super::validate`] compares with the interpreter that
//! is running.

layout! {
    /// `PyObject`, `PyVarObject` and the words before an object.
    object {
        REFCNT = 0, "`ob_refcnt`.";
        TYPE = 8, "`ob_type`.";
        VAR_SIZE = 16, "`ob_size` of objects of variable size.";
        MANAGED_DICT = -24, "The managed dict pointer, before the object.";
        MANAGED_WEAKREF = -32, "The managed list of weak references, before the object.";
        GC_HEAD = 16, "Size of the collector's header before an object.";
    }

    /// `PyGC_Head`, which lies before an object that the collector may know of.
    gc_head {
        NEXT = 0, "`_gc_next`: 0 while the collector does not know of the object.";
        PREVIOUS = 8, "`_gc_prev`, with flags in its low bits.";
        FLAGS = 3, "Those flags.";
        FINALIZED = 1, "The flag that is kept while the object is not tracked: its finaliser was called.";
    }

    /// `_PyInterpreterFrame`: an activation in the interpreter.
    frame {
        EXECUTABLE = 0, "`f_executable`.";
        PREVIOUS = 8, "`previous`.";
        FUNCOBJ = 16, "`f_funcobj`.";
        GLOBALS = 24, "`f_globals`.";
        BUILTINS = 32, "`f_builtins`.";
        LOCALS = 40, "`f_locals`.";
        FRAME_OBJ = 48, "`frame_obj`.";
        INSTR_PTR = 56, "`instr_ptr`: the instruction that runs, or is next.";
        STACKTOP = 64, "`stacktop` (i32): entries in use from slot 0, locals included.";
        RETURN_OFFSET = 68, "`return_offset` (u16): code units from the call to where a callee returns.";
        OWNER = 70, "`owner` (u8), one of the `OWNED_BY` values.";
        SPARE = 71, "A byte behind `owner` that the interpreter does not use.";
        LOCALSPLUS = 72, "`localsplus`: locals, cells, free variables, then the operand stack.";
        SIZE = 80, "Size of the struct with one slot.";
        OWNED_BY_THREAD = 0, "Owner: the thread's data stack.";
        OWNED_BY_GENERATOR = 1, "Owner: a generator.";
        OWNED_BY_FRAME_OBJECT = 2, "Owner: a frame object.";
        OWNED_BY_CSTACK = 3, "Owner: the C stack (an entry frame of the interpreter loop).";
    }

    /// `PyFrameObject`.
    frame_object {
        FRAME = 24, "`f_frame`.";
        TRACE = 32, "`f_trace`.";
        EXTRA_LOCALS = 48, "`f_extra_locals`.";
    }

    /// `PyFrameLocalsProxyObject`.
    locals_proxy {
        FRAME = 16, "`frame`: the frame object, or null.";
    }

    /// `PyThreadState`.
    thread {
        INTERP = 16, "`interp`.";
        EVAL_BREAKER = 24, "`eval_breaker` (u64): events in the low byte, the monitoring version above.";
        PY_RECURSION_REMAINING = 44, "`py_recursion_remaining` (i32).";
        C_RECURSION_REMAINING = 52, "`c_recursion_remaining` (i32).";
        TRACING = 60, "`tracing` (i32).";
        WHAT_EVENT = 64, "`what_event` (i32).";
        CURRENT_FRAME = 72, "`current_frame`.";
        CURRENT_EXCEPTION = 112, "`current_exception`.";
        EXC_INFO = 120, "`exc_info`.";
        ORIGIN_DEPTH = 184, "`coroutine_origin_tracking_depth` (i32).";
        DATASTACK_CHUNK = 232, "`datastack_chunk`.";
        DATASTACK_TOP = 240, "`datastack_top`.";
        DATASTACK_LIMIT = 248, "`datastack_limit`.";
        SPARE = 272, "`previous_executor`, which only interpreters built with their own experimental compiler use.";
        SIZE = 304, "Size of the struct in 3.13.0, which has grown at its end since (312 bytes in 3.13.15).";
    }

    /// `_PyStackChunk`: a block of the data stack.
    chunk {
        PREVIOUS = 0, "`previous`: the block below, or null.";
        SIZE = 8, "`size`: its bytes.";
        TOP = 16, "`top`: how many words of its data are taken, while it is not the topmost.";
        DATA = 24, "`data`.";
        USUAL_SIZE = 16384, "`DATA_STACK_CHUNK_SIZE`: the bytes of a block, unless a frame needs more.";
    }

    /// `_PyErr_StackItem`: the handled exception of one generator, or of the thread outside all.
    exc_info {
        VALUE = 0, "`exc_value`: an owned reference, or null.";
        PREVIOUS = 8, "`previous_item`.";
    }

    /// `PyInterpreterState`: the fragile ones; the self-test checks those that are written through.
    interp {
        EVAL_FRAME = 8472, "`eval_frame`.";
        AUDIT_HOOKS = 10808, "`audit_hooks`: a list, or null.";
        TYPE_WATCHERS = 10816, "`type_watchers`: callbacks by their ids.";
        FLOAT_NUMFREE = 10952, "`object_state.freelists.floats.numfree` (i32).";
        FLOAT_ITEMS = 10960, "`object_state.freelists.floats.items`, linked through `ob_type`.";
        FLOAT_MAXFREE = 100, "How many floats the free list keeps.";
        FUNC_VERSION_CACHE = 17008, "`func_state.func_version_cache`: pairs of function and code, borrowed.";
        FUNC_VERSION_CACHE_LEN = 4096, "Entries of the function version cache; a version's is at its remainder.";
        FUNC_VERSION_CACHE_ENTRY = 16, "Size of an entry of the function version cache.";
        FUNC_VERSION_CACHE_CODE = 8, "Offset of the code in such an entry.";
        DICT_STATE = 82560, "`dict_state`.";
        MONITORS = 193136, "`monitors`.";
    }

    /// `PyCodeObject`.
    code {
        CONSTS = 24, "`co_consts`.";
        NAMES = 32, "`co_names`.";
        EXCEPTION_TABLE = 40, "`co_exceptiontable`.";
        FLAGS = 48, "`co_flags`.";
        ARGCOUNT = 52, "`co_argcount`.";
        POSONLYARGCOUNT = 56, "`co_posonlyargcount`.";
        KWONLYARGCOUNT = 60, "`co_kwonlyargcount`.";
        STACKSIZE = 64, "`co_stacksize`.";
        FIRSTLINENO = 68, "`co_firstlineno`.";
        NLOCALSPLUS = 72, "`co_nlocalsplus`.";
        FRAMESIZE = 76, "`co_framesize` (i32), in words.";
        NLOCALS = 80, "`co_nlocals`.";
        NCELLVARS = 84, "`co_ncellvars`.";
        NFREEVARS = 88, "`co_nfreevars`.";
        VERSION = 92, "`co_version` (u32).";
        LOCALSPLUS_NAMES = 96, "`co_localsplusnames`.";
        LOCALSPLUS_KINDS = 104, "`co_localspluskinds`.";
        FILENAME = 112, "`co_filename`.";
        NAME = 120, "`co_name`.";
        QUALNAME = 128, "`co_qualname`.";
        LINETABLE = 136, "`co_linetable`.";
        INSTRUMENTATION_VERSION = 168, "`_co_instrumentation_version` (u64): compares equal to the eval breaker when nothing is pending.";
        MONITORING = 176, "`_co_monitoring`.";
        FIRST_TRACEABLE = 184, "`_co_firsttraceable` (i32), in code units.";
        EXTRA = 192, "`co_extra`.";
        ADAPTIVE = 200, "`co_code_adaptive`: the code units.";
        SIZE_WITHOUT_UNITS = 200, "Size of the struct without its code units.";
        KIND_LOCAL = 32, "`CO_FAST_LOCAL` in `co_localspluskinds`.";
        KIND_CELL = 64, "`CO_FAST_CELL`.";
        KIND_FREE = 128, "`CO_FAST_FREE`.";
        KIND_HIDDEN = 16, "`CO_FAST_HIDDEN`: a local of an inlined comprehension.";
    }

    /// `_PyCodeObjectExtra`: the data that other extensions keep with a code object.
    code_extra {
        LENGTH = 0, "`ce_size`.";
        ITEMS = 8, "`ce_extras`.";
    }

    /// `PyFunctionObject`.
    function {
        GLOBALS = 16, "`func_globals`.";
        BUILTINS = 24, "`func_builtins`.";
        NAME = 32, "`func_name`.";
        QUALNAME = 40, "`func_qualname`.";
        CODE = 48, "`func_code`.";
        DEFAULTS = 56, "`func_defaults`.";
        KWDEFAULTS = 64, "`func_kwdefaults`.";
        CLOSURE = 72, "`func_closure`.";
        VECTORCALL = 128, "`vectorcall`.";
        VERSION = 136, "`func_version` (u32).";
        SIZE = 144, "Size of the struct.";
    }

    /// `PyMethodObject`: a bound method.
    method {
        FUNC = 16, "`im_func`.";
        SELF = 24, "`im_self`.";
    }

    /// `PyCFunctionObject`.
    builtin {
        ML = 16, "`m_ml`.";
        SELF = 24, "`m_self`.";
    }

    /// `PyDescrObject` and its kinds.
    descr {
        TYPE = 16, "`d_type`.";
        METHOD = 40, "`d_method`.";
        MEMBER = 40, "`d_member`.";
    }

    /// `PyLongObject`: value = (1 - sign) * digit for compact ints.
    long {
        TAG = 16, "`lv_tag` (u64): sign in the low bits, number of digits above.";
        DIGITS = 24, "`ob_digit` (u32 each).";
        SIZE = 32, "Size of the struct with one digit.";
        DIGIT_BITS = 30, "Bits in a digit.";
        NON_SIZE_BITS = 3, "Bits of the tag below the number of digits; a compact int has at most one digit.";
        SIGN_MASK = 3, "Bits of the tag that hold the sign; 0 is positive.";
        SIGN_ZERO = 1, "Sign: zero.";
        SIGN_NEGATIVE = 2, "Sign: negative.";
        IMMORTAL = 0, "The bit of the tag that says that the int is one of those of which there is one each, if there is one.";
        SMALL_NEGATIVE = 5, "How many ints below 0 there is one object of each of.";
        SMALL_INTS = 257, "Of the ints from 0 to below this, and of some below 0 that are nearer to it, there is one object each.";
    }

    /// `PyFloatObject`.
    float {
        VALUE = 16, "`ob_fval`.";
        SIZE = 24, "Size of the struct.";
    }

    /// `PyListObject`.
    list {
        ITEMS = 24, "`ob_item`.";
        ALLOCATED = 32, "`allocated`.";
        SIZE = 40, "Size of the struct.";
    }

    /// `PyByteArrayObject`.
    bytearray {
        START = 40, "`ob_start`.";
    }

    /// `arrayobject` of `array`.
    array {
        ITEMS = 24, "`ob_item`.";
        DESCR = 40, "`ob_descr`.";
        SIZE = 64, "Size of the struct.";
    }

    /// `PyTupleObject`.
    tuple {
        ITEMS = 24, "`ob_item`.";
    }

    /// `_tuplegetterobject` of `_collections`.
    tuple_getter {
        INDEX = 16, "`index`.";
        SIZE = 32, "Size of the struct.";
    }

    /// `PyCellObject`.
    cell {
        CONTENT = 16, "`ob_ref`.";
    }

    /// `PySliceObject`.
    slice {
        START = 16, "`start`.";
        STOP = 24, "`stop`.";
        STEP = 32, "`step`.";
    }

    /// `PySetObject`.
    set {
        FILL = 16, "`fill`.";
        USED = 24, "`used`.";
    }

    /// `PyModuleObject`.
    module {
        DICT = 16, "`md_dict`.";
    }

    /// `PyDictObject`.
    dict {
        USED = 16, "`ma_used`.";
        VERSION_TAG = 24, "`ma_version_tag`.";
        KEYS = 32, "`ma_keys`.";
        VALUES = 40, "`ma_values`.";
        SIZE = 48, "Size of the struct.";
        VERSION_STEP = 4096, "Distance of two version tags; the bits below are the dict's own.";
        WATCHERS = 255, "The bits of a version tag that say who watches the dict.";
    }

    /// `PyDictKeysObject`: a dict's table.
    dict_keys {
        LOG2_SIZE = 8, "`dk_log2_size` (u8).";
        LOG2_INDEX_BYTES = 9, "`dk_log2_index_bytes` (u8).";
        KIND = 10, "`dk_kind` (u8), one of the `KIND` values.";
        VERSION = 12, "`dk_version` (u32).";
        USABLE = 16, "`dk_usable`.";
        NENTRIES = 24, "`dk_nentries`.";
        EMPTY = 255, "What is in a table of one byte each where nothing has ever been.";
        SHAPE_MASK = 16777215, "The bits of the word at `LOG2_SIZE` that say how a table is laid out; what follows them is padding.";
        INDICES = 32, "`dk_indices`; the entries follow, `1 << log2_index_bytes` bytes later.";
        UNICODE_ENTRY_SIZE = 16, "Size of an entry of a table with only strings as keys.";
        UNICODE_ENTRY_VALUE = 8, "`me_value`.";
        GENERAL_ENTRY_SIZE = 24, "Size of an entry of a general table (hash, key, value).";
        GENERAL_ENTRY_KEY = 8, "`me_key`.";
        GENERAL_ENTRY_VALUE = 16, "`me_value`.";
        KIND_GENERAL = 0, "Kind: any keys.";
        KIND_UNICODE = 1, "Kind: strings only.";
        KIND_SPLIT = 2, "Kind: strings only, shared by instances that keep their own values.";
    }

    /// `PyDictValues`: the values of a split table, or inline values.
    dict_values {
        CAPACITY = 0, "`capacity` (u8).";
        USED = 1, "`size` (u8).";
        EMBEDDED = 2, "`embedded` (u8).";
        VALID = 3, "`valid` (u8): whether the inline values are in use.";
        VALUES = 8, "`values`.";
    }

    /// `PyTypeObject` and `PyHeapTypeObject`.
    type_ {
        NAME = 24, "`tp_name`.";
        BASICSIZE = 32, "`tp_basicsize`.";
        ITEMSIZE = 40, "`tp_itemsize`.";
        FLAGS = 168, "`tp_flags` (u64).";
        DICT = 264, "`tp_dict`.";
        DICTOFFSET = 288, "`tp_dictoffset`.";
        MRO = 344, "`tp_mro`.";
        VERSION_TAG = 384, "`tp_version_tag` (u32).";
        WATCHED = 408, "`tp_watched` (u8).";
        SIZE = 416, "Size of the struct.";
        CACHED_KEYS = 880, "`ht_cached_keys` of heap types: the keys instances share.";
        FLAG_INLINE_VALUES = 4, "Flag: instances have inline values behind `tp_basicsize`.";
        FLAG_MANAGED_DICT = 16, "Flag: instances have a managed dict.";
        FLAG_HEAPTYPE = 512, "Flag: the class was made at run time.";
        FLAG_READY = 4096, "Flag: the class is complete.";
        FLAG_VALID_VERSION_TAG = 524288, "Flag: the version tag is in use.";
    }

    /// `rangeobject`: exact ints.
    range {
        START = 16, "`start`.";
        STOP = 24, "`stop`.";
        STEP = 32, "`step`.";
    }

    /// `dictiterobject`: the iterator of a view.
    dict_iter {
        DICT = 16, "`di_dict`, null at the end.";
        USED = 24, "`di_used`.";
        POSITION = 32, "`di_pos`, the index of the next entry.";
        LEFT = 48, "`len`, the number of entries that are left.";
    }

    /// `listreviterobject`: the list is null at the end.
    list_reverse_iter {
        INDEX = 16, "`it_index`, of the next item.";
        SEQ = 24, "`it_seq`.";
    }

    /// `enumobject`.
    enumerate {
        INDEX = 16, "`en_index`.";
        ITERATOR = 24, "`en_sit`.";
    }

    /// `zipobject`.
    zip {
        ITERATORS = 24, "`ittuple`.";
        STRICT = 40, "`strict`.";
    }

    /// `_PyRangeIterObject`: C longs.
    range_iter {
        START = 16, "`start`.";
        STEP = 24, "`step`.";
        LEN = 32, "`len`.";
        SIZE = 40, "Size of the struct.";
    }

    /// `_PyListIterObject`: the list is null at the end.
    list_iter {
        INDEX = 16, "`it_index`.";
        SEQ = 24, "`it_seq`.";
    }

    /// `_PyTupleIterObject`: the tuple is null at the end.
    tuple_iter {
        INDEX = 16, "`it_index`.";
        SEQ = 24, "`it_seq`.";
    }

    /// `PyGenObject`.
    generator {
        WEAK_REFERENCES = 16, "`gi_weakreflist`.";
        NAME = 24, "`gi_name`.";
        QUALNAME = 32, "`gi_qualname`.";
        ORIGIN = 56, "`gi_origin_or_finalizer`, which only coroutines and asynchronous generators fill.";
        EXC_STATE = 40, "`gi_exc_state`: what the generator handles, while it runs the thread's `exc_info`.";
        EXC_PREVIOUS = 48, "`gi_exc_state.previous_item`.";
        FRAME_STATE = 67, "`gi_frame_state` (i8), one of the `STATE` values.";
        FRAME = 72, "`gi_iframe`.";
        STATE_CREATED = -3, "State: not yet begun.";
        STATE_SUSPENDED = -2, "State: at a `yield`.";
        STATE_DELEGATING = -1, "State: at a `yield from` or an `await`.";
        STATE_EXECUTING = 0, "State: running.";
        STATE_CLEARED = 4, "State: ended.";
    }

    /// `PyASCIIObject` and `PyCompactUnicodeObject`.
    unicode {
        LENGTH = 16, "`length`.";
        HASH = 24, "`hash`.";
        STATE = 32, "`state` (u32 of bit fields).";
        STATE_KIND = 28, "Bits of `state`: how many bytes a character has.";
        STATE_KIND_BYTE = 4, "What those bits are where a character has one byte.";
        STATE_ASCII = 64, "Bit of `state`: all characters are ASCII.";
        ASCII_DATA = 40, "Data of compact ASCII strings.";
        COMPACT_DATA = 56, "Data of other compact strings.";
    }

    /// `PyBytesObject`.
    bytes {
        DATA = 32, "`ob_sval`.";
    }

    /// `_Py_DebugOffsets`, at the start of `_PyRuntime`: groups of `u64`.
    debug {
        VERSION = 8, "`version`.";
        FREE_THREADED = 16, "`free_threaded`.";
        RUNTIME = 24, "`runtime_state`.";
        INTERPRETER = 48, "`interpreter_state`.";
        THREAD = 152, "`thread_state`.";
        THREAD_CHUNK = 7, "The place of `datastack_chunk` in that group.";
        FRAME = 224, "`interpreter_frame`.";
        CODE = 272, "`code_object`.";
        OBJECT = 352, "`pyobject`.";
        TYPE = 368, "`type_object`.";
        TUPLE = 400, "`tuple_object`.";
        LIST = 424, "`list_object`.";
        DICT = 448, "`dict_object`.";
        FLOAT = 472, "`float_object`.";
        LONG = 488, "`long_object`.";
        BYTES = 512, "`bytes_object`.";
        UNICODE = 536, "`unicode_object`.";
    }
}
