//! The opcodes of CPython 3.13: numbers, inline caches, and which general opcode each specialised
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
        BEFORE_ASYNC_WITH = 1, 0;
        BEFORE_WITH = 2, 0;
        BINARY_SLICE = 4, 0;
        BINARY_SUBSCR = 5, 1;
        CHECK_EG_MATCH = 6, 0;
        CHECK_EXC_MATCH = 7, 0;
        CLEANUP_THROW = 8, 0;
        DELETE_SUBSCR = 9, 0;
        END_ASYNC_FOR = 10, 0;
        END_FOR = 11, 0;
        END_SEND = 12, 0;
        EXIT_INIT_CHECK = 13, 0;
        FORMAT_SIMPLE = 14, 0;
        FORMAT_WITH_SPEC = 15, 0;
        GET_AITER = 16, 0;
        RESERVED = 17, 0;
        GET_ANEXT = 18, 0;
        GET_ITER = 19, 0;
        GET_LEN = 20, 0;
        GET_YIELD_FROM_ITER = 21, 0;
        INTERPRETER_EXIT = 22, 0;
        LOAD_ASSERTION_ERROR = 23, 0;
        LOAD_BUILD_CLASS = 24, 0;
        LOAD_LOCALS = 25, 0;
        MAKE_FUNCTION = 26, 0;
        MATCH_KEYS = 27, 0;
        MATCH_MAPPING = 28, 0;
        MATCH_SEQUENCE = 29, 0;
        NOP = 30, 0;
        POP_EXCEPT = 31, 0;
        POP_TOP = 32, 0;
        PUSH_EXC_INFO = 33, 0;
        PUSH_NULL = 34, 0;
        RETURN_GENERATOR = 35, 0;
        RETURN_VALUE = 36, 0;
        SETUP_ANNOTATIONS = 37, 0;
        STORE_SLICE = 38, 0;
        STORE_SUBSCR = 39, 1;
        TO_BOOL = 40, 3;
        UNARY_INVERT = 41, 0;
        UNARY_NEGATIVE = 42, 0;
        UNARY_NOT = 43, 0;
        WITH_EXCEPT_START = 44, 0;
        BINARY_OP = 45, 1;
        BUILD_CONST_KEY_MAP = 46, 0;
        BUILD_LIST = 47, 0;
        BUILD_MAP = 48, 0;
        BUILD_SET = 49, 0;
        BUILD_SLICE = 50, 0;
        BUILD_STRING = 51, 0;
        BUILD_TUPLE = 52, 0;
        CALL = 53, 3;
        CALL_FUNCTION_EX = 54, 0;
        CALL_INTRINSIC_1 = 55, 0;
        CALL_INTRINSIC_2 = 56, 0;
        CALL_KW = 57, 0;
        COMPARE_OP = 58, 1;
        CONTAINS_OP = 59, 1;
        CONVERT_VALUE = 60, 0;
        COPY = 61, 0;
        COPY_FREE_VARS = 62, 0;
        DELETE_ATTR = 63, 0;
        DELETE_DEREF = 64, 0;
        DELETE_FAST = 65, 0;
        DELETE_GLOBAL = 66, 0;
        DELETE_NAME = 67, 0;
        DICT_MERGE = 68, 0;
        DICT_UPDATE = 69, 0;
        ENTER_EXECUTOR = 70, 0;
        EXTENDED_ARG = 71, 0;
        FOR_ITER = 72, 1;
        GET_AWAITABLE = 73, 0;
        IMPORT_FROM = 74, 0;
        IMPORT_NAME = 75, 0;
        IS_OP = 76, 0;
        JUMP_BACKWARD = 77, 1;
        JUMP_BACKWARD_NO_INTERRUPT = 78, 0;
        JUMP_FORWARD = 79, 0;
        LIST_APPEND = 80, 0;
        LIST_EXTEND = 81, 0;
        LOAD_ATTR = 82, 9;
        LOAD_CONST = 83, 0;
        LOAD_DEREF = 84, 0;
        LOAD_FAST = 85, 0;
        LOAD_FAST_AND_CLEAR = 86, 0;
        LOAD_FAST_CHECK = 87, 0;
        LOAD_FAST_LOAD_FAST = 88, 0;
        LOAD_FROM_DICT_OR_DEREF = 89, 0;
        LOAD_FROM_DICT_OR_GLOBALS = 90, 0;
        LOAD_GLOBAL = 91, 4;
        LOAD_NAME = 92, 0;
        LOAD_SUPER_ATTR = 93, 1;
        MAKE_CELL = 94, 0;
        MAP_ADD = 95, 0;
        MATCH_CLASS = 96, 0;
        POP_JUMP_IF_FALSE = 97, 1;
        POP_JUMP_IF_NONE = 98, 1;
        POP_JUMP_IF_NOT_NONE = 99, 1;
        POP_JUMP_IF_TRUE = 100, 1;
        RAISE_VARARGS = 101, 0;
        RERAISE = 102, 0;
        RETURN_CONST = 103, 0;
        SEND = 104, 1;
        SET_ADD = 105, 0;
        SET_FUNCTION_ATTRIBUTE = 106, 0;
        SET_UPDATE = 107, 0;
        STORE_ATTR = 108, 4;
        STORE_DEREF = 109, 0;
        STORE_FAST = 110, 0;
        STORE_FAST_LOAD_FAST = 111, 0;
        STORE_FAST_STORE_FAST = 112, 0;
        STORE_GLOBAL = 113, 0;
        STORE_NAME = 114, 0;
        SWAP = 115, 0;
        UNPACK_EX = 116, 0;
        UNPACK_SEQUENCE = 117, 1;
        YIELD_VALUE = 118, 0;
        RESUME = 149, 0;
    }
    variants {
        BINARY_OP_INPLACE_ADD_UNICODE = 3 of BINARY_OP;
        BINARY_OP_ADD_FLOAT = 150 of BINARY_OP;
        BINARY_OP_ADD_INT = 151 of BINARY_OP;
        BINARY_OP_ADD_UNICODE = 152 of BINARY_OP;
        BINARY_OP_MULTIPLY_FLOAT = 153 of BINARY_OP;
        BINARY_OP_MULTIPLY_INT = 154 of BINARY_OP;
        BINARY_OP_SUBTRACT_FLOAT = 155 of BINARY_OP;
        BINARY_OP_SUBTRACT_INT = 156 of BINARY_OP;
        BINARY_SUBSCR_DICT = 157 of BINARY_SUBSCR;
        BINARY_SUBSCR_GETITEM = 158 of BINARY_SUBSCR;
        BINARY_SUBSCR_LIST_INT = 159 of BINARY_SUBSCR;
        BINARY_SUBSCR_STR_INT = 160 of BINARY_SUBSCR;
        BINARY_SUBSCR_TUPLE_INT = 161 of BINARY_SUBSCR;
        CALL_ALLOC_AND_ENTER_INIT = 162 of CALL;
        CALL_BOUND_METHOD_EXACT_ARGS = 163 of CALL;
        CALL_BOUND_METHOD_GENERAL = 164 of CALL;
        CALL_BUILTIN_CLASS = 165 of CALL;
        CALL_BUILTIN_FAST = 166 of CALL;
        CALL_BUILTIN_FAST_WITH_KEYWORDS = 167 of CALL;
        CALL_BUILTIN_O = 168 of CALL;
        CALL_ISINSTANCE = 169 of CALL;
        CALL_LEN = 170 of CALL;
        CALL_LIST_APPEND = 171 of CALL;
        CALL_METHOD_DESCRIPTOR_FAST = 172 of CALL;
        CALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS = 173 of CALL;
        CALL_METHOD_DESCRIPTOR_NOARGS = 174 of CALL;
        CALL_METHOD_DESCRIPTOR_O = 175 of CALL;
        CALL_NON_PY_GENERAL = 176 of CALL;
        CALL_PY_EXACT_ARGS = 177 of CALL;
        CALL_PY_GENERAL = 178 of CALL;
        CALL_STR_1 = 179 of CALL;
        CALL_TUPLE_1 = 180 of CALL;
        CALL_TYPE_1 = 181 of CALL;
        COMPARE_OP_FLOAT = 182 of COMPARE_OP;
        COMPARE_OP_INT = 183 of COMPARE_OP;
        COMPARE_OP_STR = 184 of COMPARE_OP;
        CONTAINS_OP_DICT = 185 of CONTAINS_OP;
        CONTAINS_OP_SET = 186 of CONTAINS_OP;
        FOR_ITER_GEN = 187 of FOR_ITER;
        FOR_ITER_LIST = 188 of FOR_ITER;
        FOR_ITER_RANGE = 189 of FOR_ITER;
        FOR_ITER_TUPLE = 190 of FOR_ITER;
        LOAD_ATTR_CLASS = 191 of LOAD_ATTR;
        LOAD_ATTR_GETATTRIBUTE_OVERRIDDEN = 192 of LOAD_ATTR;
        LOAD_ATTR_INSTANCE_VALUE = 193 of LOAD_ATTR;
        LOAD_ATTR_METHOD_LAZY_DICT = 194 of LOAD_ATTR;
        LOAD_ATTR_METHOD_NO_DICT = 195 of LOAD_ATTR;
        LOAD_ATTR_METHOD_WITH_VALUES = 196 of LOAD_ATTR;
        LOAD_ATTR_MODULE = 197 of LOAD_ATTR;
        LOAD_ATTR_NONDESCRIPTOR_NO_DICT = 198 of LOAD_ATTR;
        LOAD_ATTR_NONDESCRIPTOR_WITH_VALUES = 199 of LOAD_ATTR;
        LOAD_ATTR_PROPERTY = 200 of LOAD_ATTR;
        LOAD_ATTR_SLOT = 201 of LOAD_ATTR;
        LOAD_ATTR_WITH_HINT = 202 of LOAD_ATTR;
        LOAD_GLOBAL_BUILTIN = 203 of LOAD_GLOBAL;
        LOAD_GLOBAL_MODULE = 204 of LOAD_GLOBAL;
        LOAD_SUPER_ATTR_ATTR = 205 of LOAD_SUPER_ATTR;
        LOAD_SUPER_ATTR_METHOD = 206 of LOAD_SUPER_ATTR;
        RESUME_CHECK = 207 of RESUME;
        SEND_GEN = 208 of SEND;
        STORE_ATTR_INSTANCE_VALUE = 209 of STORE_ATTR;
        STORE_ATTR_SLOT = 210 of STORE_ATTR;
        STORE_ATTR_WITH_HINT = 211 of STORE_ATTR;
        STORE_SUBSCR_DICT = 212 of STORE_SUBSCR;
        STORE_SUBSCR_LIST_INT = 213 of STORE_SUBSCR;
        TO_BOOL_ALWAYS_TRUE = 214 of TO_BOOL;
        TO_BOOL_BOOL = 215 of TO_BOOL;
        TO_BOOL_INT = 216 of TO_BOOL;
        TO_BOOL_LIST = 217 of TO_BOOL;
        TO_BOOL_NONE = 218 of TO_BOOL;
        TO_BOOL_STR = 219 of TO_BOOL;
        UNPACK_SEQUENCE_LIST = 220 of UNPACK_SEQUENCE;
        UNPACK_SEQUENCE_TUPLE = 221 of UNPACK_SEQUENCE;
        UNPACK_SEQUENCE_TWO_TUPLE = 222 of UNPACK_SEQUENCE;
        INSTRUMENTED_RESUME = 236 of RESUME;
        INSTRUMENTED_END_FOR = 237 of END_FOR;
        INSTRUMENTED_END_SEND = 238 of END_SEND;
        INSTRUMENTED_RETURN_VALUE = 239 of RETURN_VALUE;
        INSTRUMENTED_RETURN_CONST = 240 of RETURN_CONST;
        INSTRUMENTED_YIELD_VALUE = 241 of YIELD_VALUE;
        INSTRUMENTED_LOAD_SUPER_ATTR = 242 of LOAD_SUPER_ATTR;
        INSTRUMENTED_FOR_ITER = 243 of FOR_ITER;
        INSTRUMENTED_CALL = 244 of CALL;
        INSTRUMENTED_CALL_KW = 245 of CALL_KW;
        INSTRUMENTED_CALL_FUNCTION_EX = 246 of CALL_FUNCTION_EX;
        INSTRUMENTED_INSTRUCTION = 247 of CACHE;
        INSTRUMENTED_JUMP_FORWARD = 248 of JUMP_FORWARD;
        INSTRUMENTED_JUMP_BACKWARD = 249 of JUMP_BACKWARD;
        INSTRUMENTED_POP_JUMP_IF_TRUE = 250 of POP_JUMP_IF_TRUE;
        INSTRUMENTED_POP_JUMP_IF_FALSE = 251 of POP_JUMP_IF_FALSE;
        INSTRUMENTED_POP_JUMP_IF_NONE = 252 of POP_JUMP_IF_NONE;
        INSTRUMENTED_POP_JUMP_IF_NOT_NONE = 253 of POP_JUMP_IF_NOT_NONE;
        INSTRUMENTED_LINE = 254 of CACHE;
    }
}
