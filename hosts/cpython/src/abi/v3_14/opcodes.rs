//! The opcodes of CPython 3.14: numbers, inline caches, and which general opcode each specialised
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
        CALL_FUNCTION_EX = 4, 0;
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
        GET_ITER = 16, 0;
        RESERVED = 17, 0;
        GET_LEN = 18, 0;
        GET_YIELD_FROM_ITER = 19, 0;
        INTERPRETER_EXIT = 20, 0;
        LOAD_BUILD_CLASS = 21, 0;
        LOAD_LOCALS = 22, 0;
        MAKE_FUNCTION = 23, 0;
        MATCH_KEYS = 24, 0;
        MATCH_MAPPING = 25, 0;
        MATCH_SEQUENCE = 26, 0;
        NOP = 27, 0;
        NOT_TAKEN = 28, 0;
        POP_EXCEPT = 29, 0;
        POP_ITER = 30, 0;
        POP_TOP = 31, 0;
        PUSH_EXC_INFO = 32, 0;
        PUSH_NULL = 33, 0;
        RETURN_GENERATOR = 34, 0;
        RETURN_VALUE = 35, 0;
        SETUP_ANNOTATIONS = 36, 0;
        STORE_SLICE = 37, 0;
        STORE_SUBSCR = 38, 1;
        TO_BOOL = 39, 3;
        UNARY_INVERT = 40, 0;
        UNARY_NEGATIVE = 41, 0;
        UNARY_NOT = 42, 0;
        WITH_EXCEPT_START = 43, 0;
        BINARY_OP = 44, 5;
        BUILD_INTERPOLATION = 45, 0;
        BUILD_LIST = 46, 0;
        BUILD_MAP = 47, 0;
        BUILD_SET = 48, 0;
        BUILD_SLICE = 49, 0;
        BUILD_STRING = 50, 0;
        BUILD_TUPLE = 51, 0;
        CALL = 52, 3;
        CALL_INTRINSIC_1 = 53, 0;
        CALL_INTRINSIC_2 = 54, 0;
        CALL_KW = 55, 3;
        COMPARE_OP = 56, 1;
        CONTAINS_OP = 57, 1;
        CONVERT_VALUE = 58, 0;
        COPY = 59, 0;
        COPY_FREE_VARS = 60, 0;
        DELETE_ATTR = 61, 0;
        DELETE_DEREF = 62, 0;
        DELETE_FAST = 63, 0;
        DELETE_GLOBAL = 64, 0;
        DELETE_NAME = 65, 0;
        DICT_MERGE = 66, 0;
        DICT_UPDATE = 67, 0;
        END_ASYNC_FOR = 68, 0;
        EXTENDED_ARG = 69, 0;
        FOR_ITER = 70, 1;
        GET_AWAITABLE = 71, 0;
        IMPORT_FROM = 72, 0;
        IMPORT_NAME = 73, 0;
        IS_OP = 74, 0;
        JUMP_BACKWARD = 75, 1;
        JUMP_BACKWARD_NO_INTERRUPT = 76, 0;
        JUMP_FORWARD = 77, 0;
        LIST_APPEND = 78, 0;
        LIST_EXTEND = 79, 0;
        LOAD_ATTR = 80, 9;
        LOAD_COMMON_CONSTANT = 81, 0;
        LOAD_CONST = 82, 0;
        LOAD_DEREF = 83, 0;
        LOAD_FAST = 84, 0;
        LOAD_FAST_AND_CLEAR = 85, 0;
        LOAD_FAST_BORROW = 86, 0;
        LOAD_FAST_BORROW_LOAD_FAST_BORROW = 87, 0;
        LOAD_FAST_CHECK = 88, 0;
        LOAD_FAST_LOAD_FAST = 89, 0;
        LOAD_FROM_DICT_OR_DEREF = 90, 0;
        LOAD_FROM_DICT_OR_GLOBALS = 91, 0;
        LOAD_GLOBAL = 92, 4;
        LOAD_NAME = 93, 0;
        LOAD_SMALL_INT = 94, 0;
        LOAD_SPECIAL = 95, 0;
        LOAD_SUPER_ATTR = 96, 1;
        MAKE_CELL = 97, 0;
        MAP_ADD = 98, 0;
        MATCH_CLASS = 99, 0;
        POP_JUMP_IF_FALSE = 100, 1;
        POP_JUMP_IF_NONE = 101, 1;
        POP_JUMP_IF_NOT_NONE = 102, 1;
        POP_JUMP_IF_TRUE = 103, 1;
        RAISE_VARARGS = 104, 0;
        RERAISE = 105, 0;
        SEND = 106, 1;
        SET_ADD = 107, 0;
        SET_FUNCTION_ATTRIBUTE = 108, 0;
        SET_UPDATE = 109, 0;
        STORE_ATTR = 110, 4;
        STORE_DEREF = 111, 0;
        STORE_FAST = 112, 0;
        STORE_FAST_LOAD_FAST = 113, 0;
        STORE_FAST_STORE_FAST = 114, 0;
        STORE_GLOBAL = 115, 0;
        STORE_NAME = 116, 0;
        SWAP = 117, 0;
        UNPACK_EX = 118, 0;
        UNPACK_SEQUENCE = 119, 1;
        YIELD_VALUE = 120, 0;
        RESUME = 128, 0;
        ENTER_EXECUTOR = 255, 0;
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
        BINARY_OP_SUBTRACT_FLOAT = 141 of BINARY_OP;
        BINARY_OP_SUBTRACT_INT = 142 of BINARY_OP;
        CALL_ALLOC_AND_ENTER_INIT = 143 of CALL;
        CALL_BOUND_METHOD_EXACT_ARGS = 144 of CALL;
        CALL_BOUND_METHOD_GENERAL = 145 of CALL;
        CALL_BUILTIN_CLASS = 146 of CALL;
        CALL_BUILTIN_FAST = 147 of CALL;
        CALL_BUILTIN_FAST_WITH_KEYWORDS = 148 of CALL;
        CALL_BUILTIN_O = 149 of CALL;
        CALL_ISINSTANCE = 150 of CALL;
        CALL_KW_BOUND_METHOD = 151 of CALL_KW;
        CALL_KW_NON_PY = 152 of CALL_KW;
        CALL_KW_PY = 153 of CALL_KW;
        CALL_LEN = 154 of CALL;
        CALL_LIST_APPEND = 155 of CALL;
        CALL_METHOD_DESCRIPTOR_FAST = 156 of CALL;
        CALL_METHOD_DESCRIPTOR_FAST_WITH_KEYWORDS = 157 of CALL;
        CALL_METHOD_DESCRIPTOR_NOARGS = 158 of CALL;
        CALL_METHOD_DESCRIPTOR_O = 159 of CALL;
        CALL_NON_PY_GENERAL = 160 of CALL;
        CALL_PY_EXACT_ARGS = 161 of CALL;
        CALL_PY_GENERAL = 162 of CALL;
        CALL_STR_1 = 163 of CALL;
        CALL_TUPLE_1 = 164 of CALL;
        CALL_TYPE_1 = 165 of CALL;
        COMPARE_OP_FLOAT = 166 of COMPARE_OP;
        COMPARE_OP_INT = 167 of COMPARE_OP;
        COMPARE_OP_STR = 168 of COMPARE_OP;
        CONTAINS_OP_DICT = 169 of CONTAINS_OP;
        CONTAINS_OP_SET = 170 of CONTAINS_OP;
        FOR_ITER_GEN = 171 of FOR_ITER;
        FOR_ITER_LIST = 172 of FOR_ITER;
        FOR_ITER_RANGE = 173 of FOR_ITER;
        FOR_ITER_TUPLE = 174 of FOR_ITER;
        JUMP_BACKWARD_JIT = 175 of JUMP_BACKWARD;
        JUMP_BACKWARD_NO_JIT = 176 of JUMP_BACKWARD;
        LOAD_ATTR_CLASS = 177 of LOAD_ATTR;
        LOAD_ATTR_CLASS_WITH_METACLASS_CHECK = 178 of LOAD_ATTR;
        LOAD_ATTR_GETATTRIBUTE_OVERRIDDEN = 179 of LOAD_ATTR;
        LOAD_ATTR_INSTANCE_VALUE = 180 of LOAD_ATTR;
        LOAD_ATTR_METHOD_LAZY_DICT = 181 of LOAD_ATTR;
        LOAD_ATTR_METHOD_NO_DICT = 182 of LOAD_ATTR;
        LOAD_ATTR_METHOD_WITH_VALUES = 183 of LOAD_ATTR;
        LOAD_ATTR_MODULE = 184 of LOAD_ATTR;
        LOAD_ATTR_NONDESCRIPTOR_NO_DICT = 185 of LOAD_ATTR;
        LOAD_ATTR_NONDESCRIPTOR_WITH_VALUES = 186 of LOAD_ATTR;
        LOAD_ATTR_PROPERTY = 187 of LOAD_ATTR;
        LOAD_ATTR_SLOT = 188 of LOAD_ATTR;
        LOAD_ATTR_WITH_HINT = 189 of LOAD_ATTR;
        LOAD_CONST_IMMORTAL = 190 of LOAD_CONST;
        LOAD_CONST_MORTAL = 191 of LOAD_CONST;
        LOAD_GLOBAL_BUILTIN = 192 of LOAD_GLOBAL;
        LOAD_GLOBAL_MODULE = 193 of LOAD_GLOBAL;
        LOAD_SUPER_ATTR_ATTR = 194 of LOAD_SUPER_ATTR;
        LOAD_SUPER_ATTR_METHOD = 195 of LOAD_SUPER_ATTR;
        RESUME_CHECK = 196 of RESUME;
        SEND_GEN = 197 of SEND;
        STORE_ATTR_INSTANCE_VALUE = 198 of STORE_ATTR;
        STORE_ATTR_SLOT = 199 of STORE_ATTR;
        STORE_ATTR_WITH_HINT = 200 of STORE_ATTR;
        STORE_SUBSCR_DICT = 201 of STORE_SUBSCR;
        STORE_SUBSCR_LIST_INT = 202 of STORE_SUBSCR;
        TO_BOOL_ALWAYS_TRUE = 203 of TO_BOOL;
        TO_BOOL_BOOL = 204 of TO_BOOL;
        TO_BOOL_INT = 205 of TO_BOOL;
        TO_BOOL_LIST = 206 of TO_BOOL;
        TO_BOOL_NONE = 207 of TO_BOOL;
        TO_BOOL_STR = 208 of TO_BOOL;
        UNPACK_SEQUENCE_LIST = 209 of UNPACK_SEQUENCE;
        UNPACK_SEQUENCE_TUPLE = 210 of UNPACK_SEQUENCE;
        UNPACK_SEQUENCE_TWO_TUPLE = 211 of UNPACK_SEQUENCE;
        INSTRUMENTED_END_FOR = 234 of END_FOR;
        INSTRUMENTED_POP_ITER = 235 of POP_ITER;
        INSTRUMENTED_END_SEND = 236 of END_SEND;
        INSTRUMENTED_FOR_ITER = 237 of FOR_ITER;
        INSTRUMENTED_INSTRUCTION = 238 of CACHE;
        INSTRUMENTED_JUMP_FORWARD = 239 of JUMP_FORWARD;
        INSTRUMENTED_NOT_TAKEN = 240 of NOT_TAKEN;
        INSTRUMENTED_POP_JUMP_IF_TRUE = 241 of POP_JUMP_IF_TRUE;
        INSTRUMENTED_POP_JUMP_IF_FALSE = 242 of POP_JUMP_IF_FALSE;
        INSTRUMENTED_POP_JUMP_IF_NONE = 243 of POP_JUMP_IF_NONE;
        INSTRUMENTED_POP_JUMP_IF_NOT_NONE = 244 of POP_JUMP_IF_NOT_NONE;
        INSTRUMENTED_RESUME = 245 of RESUME;
        INSTRUMENTED_RETURN_VALUE = 246 of RETURN_VALUE;
        INSTRUMENTED_YIELD_VALUE = 247 of YIELD_VALUE;
        INSTRUMENTED_END_ASYNC_FOR = 248 of END_ASYNC_FOR;
        INSTRUMENTED_LOAD_SUPER_ATTR = 249 of LOAD_SUPER_ATTR;
        INSTRUMENTED_CALL = 250 of CALL;
        INSTRUMENTED_CALL_KW = 251 of CALL_KW;
        INSTRUMENTED_CALL_FUNCTION_EX = 252 of CALL_FUNCTION_EX;
        INSTRUMENTED_JUMP_BACKWARD = 253 of JUMP_BACKWARD;
        INSTRUMENTED_LINE = 254 of CACHE;
    }
}
