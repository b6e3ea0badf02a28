//! The opcodes of CPython 3.15: numbers, inline caches, and which general opcode each specialised
//! or instrumented one replaces.
//!
//! A test compares the table with the `opcode` module of the interpreter.

macro_rules! opcodes {
    (
        general { $($name:ident = $number:literal, $caches:literal;)* }
        variants { $($variant:ident = $vnumber:literal of $base:ident;)* }
    ) => {
        // The table is complete, though some rows are not used.
        $(#[doc = concat!("`", stringify!($name), "`.")] #[allow(dead_code)] pub const $name: u8 = $number;)*
        $(#[doc = concat!("`", stringify!($variant), "`, a form of `", stringify!($base), "`.")] #[allow(dead_code)] pub const $variant: u8 = $vnumber;)*

        /// Every opcode as (name, number, code units of inline cache, general opcode).
        pub const ALL: &[(&str, u8, u8, u8)] = &[
            $((stringify!($name), $number, $caches, $number),)*
            $((stringify!($variant), $vnumber, CACHES[$base as usize], $base),)*
        ];

        /// Code units of inline cache after an opcode, instrumented or specialised or not.
        pub const CACHES: [u8; 256] = {
            let mut table = [0; 256];
            $(table[$number] = $caches;)*
            $(table[$vnumber] = table[$base as usize];)*
            table
        };

        const GENERAL: [u8; 256] = {
            let mut table = [0; 256];
            $(table[$number] = $number;)*
            $(table[$vnumber] = $base;)*
            table
        };
    };
}

/// The general opcode of a specialised or instrumented one; [`CACHE`] (no instruction) for a number
/// that is none, and for `INSTRUMENTED_LINE` and `INSTRUMENTED_INSTRUCTION`, which hide theirs.
pub const fn general(opcode: u8) -> u8 {
    GENERAL[opcode as usize]
}

opcodes! {
    general {
        CACHE = 0, 0;
        BINARY_SLICE = 1, 0;
        BUILD_TEMPLATE = 2, 0;
        CALL_FUNCTION_EX = 4, 1;
        CHECK_EG_MATCH = 5, 0;
        CHECK_EXC_MATCH = 6, 0;
        CLEANUP_THROW = 7, 0;
        DELETE_SUBSCR = 8, 0;
        END_FOR = 9, 0;
        END_SEND = 10, 0;
        EXIT_INIT_CHECK = 11, 0;
        FORMAT_SIMPLE = 12, 0;
        FORMAT_WITH_SPEC = 13, 0;
        GET_AITER = 14, 0;
        GET_ANEXT = 15, 0;
        GET_LEN = 16, 0;
        RESERVED = 17, 0;
        INTERPRETER_EXIT = 18, 0;
        LOAD_BUILD_CLASS = 19, 0;
        LOAD_LOCALS = 20, 0;
        MAKE_FUNCTION = 21, 0;
        MATCH_KEYS = 22, 0;
        MATCH_MAPPING = 23, 0;
        MATCH_SEQUENCE = 24, 0;
        NOP = 25, 0;
        NOT_TAKEN = 26, 0;
        POP_EXCEPT = 27, 0;
        POP_ITER = 28, 0;
        POP_TOP = 29, 0;
        PUSH_EXC_INFO = 30, 0;
        PUSH_NULL = 31, 0;
        RETURN_GENERATOR = 32, 0;
        RETURN_VALUE = 33, 0;
        SETUP_ANNOTATIONS = 34, 0;
        STORE_SLICE = 35, 0;
        STORE_SUBSCR = 36, 1;
        TO_BOOL = 37, 3;
        UNARY_INVERT = 38, 0;
        UNARY_NEGATIVE = 39, 0;
        UNARY_NOT = 40, 0;
        WITH_EXCEPT_START = 41, 0;
        BINARY_OP = 42, 5;
        BUILD_INTERPOLATION = 43, 0;
        BUILD_LIST = 44, 0;
        BUILD_MAP = 45, 0;
        BUILD_SET = 46, 0;
        BUILD_SLICE = 47, 0;
        BUILD_STRING = 48, 0;
        BUILD_TUPLE = 49, 0;
        CALL = 50, 3;
        CALL_INTRINSIC_1 = 51, 0;
        CALL_INTRINSIC_2 = 52, 0;
        CALL_KW = 53, 3;
        COMPARE_OP = 54, 1;
        CONTAINS_OP = 55, 1;
        CONVERT_VALUE = 56, 0;
        COPY = 57, 0;
        COPY_FREE_VARS = 58, 0;
        DELETE_ATTR = 59, 0;
        DELETE_DEREF = 60, 0;
        DELETE_FAST = 61, 0;
        DELETE_GLOBAL = 62, 0;
        DELETE_NAME = 63, 0;
        DICT_MERGE = 64, 0;
        DICT_UPDATE = 65, 0;
        END_ASYNC_FOR = 66, 0;
        EXTENDED_ARG = 67, 0;
        FOR_ITER = 68, 1;
        GET_AWAITABLE = 69, 0;
        GET_ITER = 70, 1;
        IMPORT_FROM = 71, 0;
        IMPORT_NAME = 72, 0;
        IS_OP = 73, 0;
        JUMP_BACKWARD = 74, 1;
        JUMP_BACKWARD_NO_INTERRUPT = 75, 0;
        JUMP_FORWARD = 76, 0;
        LIST_APPEND = 77, 0;
        LIST_EXTEND = 78, 0;
        LOAD_ATTR = 79, 9;
        LOAD_COMMON_CONSTANT = 80, 0;
        LOAD_CONST = 81, 0;
        LOAD_DEREF = 82, 0;
        LOAD_FAST = 83, 0;
        LOAD_FAST_AND_CLEAR = 84, 0;
        LOAD_FAST_BORROW = 85, 0;
        LOAD_FAST_BORROW_LOAD_FAST_BORROW = 86, 0;
        LOAD_FAST_CHECK = 87, 0;
        LOAD_FAST_LOAD_FAST = 88, 0;
        LOAD_FROM_DICT_OR_DEREF = 89, 0;
        LOAD_FROM_DICT_OR_GLOBALS = 90, 0;
        LOAD_GLOBAL = 91, 4;
        LOAD_NAME = 92, 0;
        LOAD_SMALL_INT = 93, 0;
        LOAD_SPECIAL = 94, 0;
        LOAD_SUPER_ATTR = 95, 1;
        MAKE_CELL = 96, 0;
        MAP_ADD = 97, 0;
        MATCH_CLASS = 98, 0;
        POP_JUMP_IF_FALSE = 99, 1;
        POP_JUMP_IF_NONE = 100, 1;
        POP_JUMP_IF_NOT_NONE = 101, 1;
        POP_JUMP_IF_TRUE = 102, 1;
        RAISE_VARARGS = 103, 0;
        RERAISE = 104, 0;
        SEND = 105, 1;
        SET_ADD = 106, 0;
        SET_FUNCTION_ATTRIBUTE = 107, 0;
        SET_UPDATE = 108, 0;
        STORE_ATTR = 109, 4;
        STORE_DEREF = 110, 0;
        STORE_FAST = 111, 0;
        STORE_FAST_LOAD_FAST = 112, 0;
        STORE_FAST_STORE_FAST = 113, 0;
        STORE_GLOBAL = 114, 0;
        STORE_NAME = 115, 0;
        SWAP = 116, 0;
        UNPACK_EX = 117, 0;
        UNPACK_SEQUENCE = 118, 1;
        YIELD_VALUE = 119, 0;
        RESUME = 128, 1;
        ENTER_EXECUTOR = 254, 0;
        TRACE_RECORD = 255, 0;
    }
    variants {
        BINARY_OP_INPLACE_ADD_UNICODE = 3 of BINARY_OP;
        BINARY_OP_ADD_FLOAT = 129 of BINARY_OP;
        BINARY_OP_ADD_INT = 130 of BINARY_OP;
        BINARY_OP_ADD_UNICODE = 131 of BINARY_OP;
        BINARY_OP_EXTEND = 132 of BINARY_OP;
        BINARY_OP_MULTIPLY_FLOAT = 133 of BINARY_OP;
        BINARY_OP_MULTIPLY_INT = 134 of BINARY_OP;
        BINARY_OP_SUBSCR_DICT = 135 of BINARY_OP;
        BINARY_OP_SUBSCR_GETITEM = 136 of BINARY_OP;
        BINARY_OP_SUBSCR_LIST_INT = 137 of BINARY_OP;
        BINARY_OP_SUBSCR_LIST_SLICE = 138 of BINARY_OP;
        BINARY_OP_SUBSCR_STR_INT = 139 of BINARY_OP;
        BINARY_OP_SUBSCR_TUPLE_INT = 140 of BINARY_OP;
        BINARY_OP_SUBSCR_USTR_INT = 141 of BINARY_OP;
        BINARY_OP_SUBTRACT_FLOAT = 142 of BINARY_OP;
        BINARY_OP_SUBTRACT_INT = 143 of BINARY_OP;
        CALL_ALLOC_AND_ENTER_INIT = 144 of CALL;
        CALL_BOUND_METHOD_EXACT_ARGS = 145 of CALL;
        CALL_BOUND_METHOD_GENERAL = 146 of CALL;
        CALL_BUILTIN_CLASS = 147 of CALL;
        CALL_BUILTIN_FAST = 148 of CALL;
        CALL_BUILTIN_FAST_WITH_KEYWORDS = 149 of CALL;
        CALL_BUILTIN_O = 150 of CALL;
        CALL_EX_NON_PY_GENERAL = 151 of CALL_FUNCTION_EX;
        CALL_EX_PY = 152 of CALL_FUNCTION_EX;
        CALL_ISINSTANCE = 153 of CALL;
        CALL_KW_BOUND_METHOD = 154 of CALL_KW;
        CALL_KW_NON_PY = 155 of CALL_KW;
        CALL_KW_PY = 156 of CALL_KW;
        CALL_LEN = 157 of CALL;
        CALL_LIST_APPEND = 158 of CALL;
        CALL_METHOD_DESCRIPTOR_FAST = 159 of CALL;
        CALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS = 160 of CALL;
        CALL_METHOD_DESCRIPTOR_NOARGS = 161 of CALL;
        CALL_METHOD_DESCRIPTOR_O = 162 of CALL;
        CALL_NON_PY_GENERAL = 163 of CALL;
        CALL_PY_EXACT_ARGS = 164 of CALL;
        CALL_PY_GENERAL = 165 of CALL;
        CALL_STR_1 = 166 of CALL;
        CALL_TUPLE_1 = 167 of CALL;
        CALL_TYPE_1 = 168 of CALL;
        COMPARE_OP_FLOAT = 169 of COMPARE_OP;
        COMPARE_OP_INT = 170 of COMPARE_OP;
        COMPARE_OP_STR = 171 of COMPARE_OP;
        CONTAINS_OP_DICT = 172 of CONTAINS_OP;
        CONTAINS_OP_SET = 173 of CONTAINS_OP;
        FOR_ITER_GEN = 174 of FOR_ITER;
        FOR_ITER_LIST = 175 of FOR_ITER;
        FOR_ITER_RANGE = 176 of FOR_ITER;
        FOR_ITER_TUPLE = 177 of FOR_ITER;
        FOR_ITER_VIRTUAL = 178 of FOR_ITER;
        GET_ITER_SELF = 179 of GET_ITER;
        GET_ITER_VIRTUAL = 180 of GET_ITER;
        JUMP_BACKWARD_JIT = 181 of JUMP_BACKWARD;
        JUMP_BACKWARD_NO_JIT = 182 of JUMP_BACKWARD;
        LOAD_ATTR_CLASS = 183 of LOAD_ATTR;
        LOAD_ATTR_CLASS_WITH_METACLASS_CHECK = 184 of LOAD_ATTR;
        LOAD_ATTR_GETATTRIBUTE_OVERRIDDEN = 185 of LOAD_ATTR;
        LOAD_ATTR_INSTANCE_VALUE = 186 of LOAD_ATTR;
        LOAD_ATTR_METHOD_LAZY_DICT = 187 of LOAD_ATTR;
        LOAD_ATTR_METHOD_NO_DICT = 188 of LOAD_ATTR;
        LOAD_ATTR_METHOD_WITH_VALUES = 189 of LOAD_ATTR;
        LOAD_ATTR_MODULE = 190 of LOAD_ATTR;
        LOAD_ATTR_NONDESCRIPTOR_NO_DICT = 191 of LOAD_ATTR;
        LOAD_ATTR_NONDESCRIPTOR_WITH_VALUES = 192 of LOAD_ATTR;
        LOAD_ATTR_PROPERTY = 193 of LOAD_ATTR;
        LOAD_ATTR_SLOT = 194 of LOAD_ATTR;
        LOAD_ATTR_WITH_HINT = 195 of LOAD_ATTR;
        LOAD_GLOBAL_BUILTIN = 196 of LOAD_GLOBAL;
        LOAD_GLOBAL_MODULE = 197 of LOAD_GLOBAL;
        LOAD_SUPER_ATTR_ATTR = 198 of LOAD_SUPER_ATTR;
        LOAD_SUPER_ATTR_METHOD = 199 of LOAD_SUPER_ATTR;
        RESUME_CHECK = 200 of RESUME;
        RESUME_CHECK_JIT = 201 of RESUME;
        SEND_ASYNC_GEN = 202 of SEND;
        SEND_GEN = 203 of SEND;
        SEND_VIRTUAL = 204 of SEND;
        STORE_ATTR_INSTANCE_VALUE = 205 of STORE_ATTR;
        STORE_ATTR_SLOT = 206 of STORE_ATTR;
        STORE_ATTR_WITH_HINT = 207 of STORE_ATTR;
        STORE_SUBSCR_DICT = 208 of STORE_SUBSCR;
        STORE_SUBSCR_LIST_INT = 209 of STORE_SUBSCR;
        TO_BOOL_ALWAYS_TRUE = 210 of TO_BOOL;
        TO_BOOL_BOOL = 211 of TO_BOOL;
        TO_BOOL_INT = 212 of TO_BOOL;
        TO_BOOL_LIST = 213 of TO_BOOL;
        TO_BOOL_NONE = 214 of TO_BOOL;
        TO_BOOL_STR = 215 of TO_BOOL;
        UNPACK_SEQUENCE_LIST = 216 of UNPACK_SEQUENCE;
        UNPACK_SEQUENCE_TUPLE = 217 of UNPACK_SEQUENCE;
        UNPACK_SEQUENCE_TWO_TUPLE = 218 of UNPACK_SEQUENCE;
        INSTRUMENTED_END_FOR = 233 of END_FOR;
        INSTRUMENTED_POP_ITER = 234 of POP_ITER;
        INSTRUMENTED_END_SEND = 235 of END_SEND;
        INSTRUMENTED_FOR_ITER = 236 of FOR_ITER;
        INSTRUMENTED_INSTRUCTION = 237 of CACHE;
        INSTRUMENTED_JUMP_FORWARD = 238 of JUMP_FORWARD;
        INSTRUMENTED_NOT_TAKEN = 239 of NOT_TAKEN;
        INSTRUMENTED_POP_JUMP_IF_TRUE = 240 of POP_JUMP_IF_TRUE;
        INSTRUMENTED_POP_JUMP_IF_FALSE = 241 of POP_JUMP_IF_FALSE;
        INSTRUMENTED_POP_JUMP_IF_NONE = 242 of POP_JUMP_IF_NONE;
        INSTRUMENTED_POP_JUMP_IF_NOT_NONE = 243 of POP_JUMP_IF_NOT_NONE;
        INSTRUMENTED_RESUME = 244 of RESUME;
        INSTRUMENTED_RETURN_VALUE = 245 of RETURN_VALUE;
        INSTRUMENTED_YIELD_VALUE = 246 of YIELD_VALUE;
        INSTRUMENTED_END_ASYNC_FOR = 247 of END_ASYNC_FOR;
        INSTRUMENTED_LOAD_SUPER_ATTR = 248 of LOAD_SUPER_ATTR;
        INSTRUMENTED_CALL = 249 of CALL;
        INSTRUMENTED_CALL_KW = 250 of CALL_KW;
        INSTRUMENTED_CALL_FUNCTION_EX = 251 of CALL_FUNCTION_EX;
        INSTRUMENTED_JUMP_BACKWARD = 252 of JUMP_BACKWARD;
        INSTRUMENTED_LINE = 253 of CACHE;
    }
}
