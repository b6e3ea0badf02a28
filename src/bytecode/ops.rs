//! The bytecode op table: one row for each op, from which printing, parsing, stack effects and
//! verification follow.
//!
//! The ops are those of a stack machine, much like CPython's, with superinstructions split,
//! specialised and instrumented forms undone, caches removed and jump targets made absolute. They
//! are named by their effect. If an op has variants, its argument is a number of an enumeration
//! with a name for each variant; a host translates its own instructions and numbers into them.

/// The meaning of an op's argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgKind {
    /// No argument.
    None,
    /// A number, described at the op.
    Count,
    /// A local slot.
    Local,
    /// Index of a constant.
    Const,
    /// Index of a name.
    Name,
    /// A jump target: an instruction index.
    Target,
    /// A [`BinaryOp`].
    Binary,
    /// A [`CompareOp`].
    Compare,
    /// A [`UnaryIntrinsic`].
    UnaryIntrinsic,
    /// A [`BinaryIntrinsic`].
    BinaryIntrinsic,
    /// A [`Conversion`].
    Conversion,
    /// A [`FunctionAttribute`].
    FunctionAttribute,
    /// A [`SpecialMethod`].
    SpecialMethod,
    /// 0 or 1.
    Flag,
}

impl ArgKind {
    /// The names of the variants that the argument numbers, in order. None for other arguments, and
    /// for a [`BinaryOp`], whose in-place forms are written as the name followed by `=`.
    pub fn variants(self) -> Option<(&'static str, Vec<&'static str>)> {
        match self {
            ArgKind::Compare => Some(("comparison", symbols(CompareOp::ALL, CompareOp::symbol))),
            ArgKind::UnaryIntrinsic => Some((
                "intrinsic",
                symbols(UnaryIntrinsic::ALL, UnaryIntrinsic::symbol),
            )),
            ArgKind::BinaryIntrinsic => Some((
                "intrinsic",
                symbols(BinaryIntrinsic::ALL, BinaryIntrinsic::symbol),
            )),
            ArgKind::Conversion => {
                Some(("conversion", symbols(Conversion::ALL, Conversion::symbol)))
            }
            ArgKind::FunctionAttribute => Some((
                "attribute",
                symbols(FunctionAttribute::ALL, FunctionAttribute::symbol),
            )),
            ArgKind::SpecialMethod => {
                Some(("method", symbols(SpecialMethod::ALL, SpecialMethod::symbol)))
            }
            ArgKind::None
            | ArgKind::Count
            | ArgKind::Local
            | ArgKind::Const
            | ArgKind::Name
            | ArgKind::Target
            | ArgKind::Binary
            | ArgKind::Flag => None,
        }
    }
}

fn symbols<T: Copy>(all: &[T], symbol: fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|variant| symbol(*variant)).collect()
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The name in the text form.
    pub name: &'static str,
    /// The argument.
    pub arg: ArgKind,
    /// Operands taken from the stack, as a function of the argument (and the second one).
    pub pops: fn(u32, u32) -> u32,
    /// Results put on the stack.
    pub pushes: fn(u32, u32) -> u32,
    /// True if it may raise.
    pub raises: bool,
}

macro_rules! bytecode_ops {
    ($($(#[$doc:meta])* $op:ident $name:literal $arg:ident, $pops:expr => $pushes:expr, $raises:expr;)*) => {
        /// A bytecode op.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum Op { $($(#[$doc])* $op),* }
        impl Op {
            /// All ops, in table order.
            pub const ALL: &'static [Op] = &[$(Op::$op),*];
            /// The op's row.
            pub fn info(self) -> &'static OpInfo {
                const TABLE: &[OpInfo] = &[$(OpInfo {
                    name: $name, arg: ArgKind::$arg, pops: $pops, pushes: $pushes, raises: $raises,
                }),*];
                &TABLE[self as usize]
            }
        }
    };
}

bytecode_ops! {
    /// Does nothing.
    Nop "nop" None, |_, _| 0 => |_, _| 0, false;
    /// Start of a function, or point of return into a generator; the argument distinguishes them
    /// (0: start).
    Resume "resume" Count, |_, _| 0 => |_, _| 0, true;
    /// Drop the top.
    PopTop "pop_top" None, |_, _| 1 => |_, _| 0, false;
    /// Push a null.
    PushNull "push_null" None, |_, _| 0 => |_, _| 1, false;
    /// Push the entry at depth n (1 is the top).
    Copy "copy" Count, |n, _| n => |n, _| n + 1, false;
    /// Exchange the top with the entry at depth n.
    Swap "swap" Count, |n, _| n => |n, _| n, false;
    /// Push a constant.
    LoadConst "load_const" Const, |_, _| 0 => |_, _| 1, false;
    /// Push a local that is bound.
    LoadFast "load_fast" Local, |_, _| 0 => |_, _| 1, false;
    /// Push a local that is bound, without a reference of the stack's own: the entry is popped
    /// before the local is given another value.
    LoadFastBorrow "load_fast_borrow" Local, |_, _| 0 => |_, _| 1, false;
    /// Push a local, or raise if it is unbound.
    LoadFastCheck "load_fast_check" Local, |_, _| 0 => |_, _| 1, true;
    /// Push a local (or null) and unbind it.
    LoadFastAndClear "load_fast_and_clear" Local, |_, _| 0 => |_, _| 1, false;
    /// Store into a local (a null unbinds it).
    StoreFast "store_fast" Local, |_, _| 1 => |_, _| 0, false;
    /// Unbind a local, or raise.
    DeleteFast "delete_fast" Local, |_, _| 0 => |_, _| 0, true;
    /// Push a global or builtin; with second argument 1, push a null after it.
    LoadGlobal "load_global" Name, |_, _| 0 => |_, null| 1 + null, true;
    /// Push a name of the namespace, the globals or the builtins.
    LoadName "load_name" Name, |_, _| 0 => |_, _| 1, true;
    /// Store a name into the namespace.
    StoreName "store_name" Name, |_, _| 1 => |_, _| 0, true;
    /// Delete a name of the namespace.
    DeleteName "delete_name" Name, |_, _| 0 => |_, _| 0, true;
    /// Store a global.
    StoreGlobal "store_global" Name, |_, _| 1 => |_, _| 0, true;
    /// Delete a global.
    DeleteGlobal "delete_global" Name, |_, _| 0 => |_, _| 0, true;
    /// Push the namespace.
    LoadLocals "load_locals" None, |_, _| 0 => |_, _| 1, true;
    /// Push a name of the mapping on the stack, the globals or the builtins.
    LoadFromDictOrGlobals "load_from_dict_or_globals" Name, |_, _| 1 => |_, _| 1, true;
    /// Push the content of a cell, or raise.
    LoadDeref "load_deref" Local, |_, _| 0 => |_, _| 1, true;
    /// Store into a cell.
    StoreDeref "store_deref" Local, |_, _| 1 => |_, _| 0, false;
    /// Empty a cell, or raise.
    DeleteDeref "delete_deref" Local, |_, _| 0 => |_, _| 0, true;
    /// Push a name of the mapping on the stack, or the content of a cell.
    LoadFromDictOrDeref "load_from_dict_or_deref" Local, |_, _| 1 => |_, _| 1, true;
    /// Put the local into a new cell.
    MakeCell "make_cell" Local, |_, _| 0 => |_, _| 0, true;
    /// Copy the closure's cells into the last n slots.
    CopyFreeVars "copy_free_vars" Count, |_, _| 0 => |_, _| 0, false;

    /// `-x`.
    UnaryNegative "unary_negative" None, |_, _| 1 => |_, _| 1, true;
    /// `not x`, of a bool.
    UnaryNot "unary_not" None, |_, _| 1 => |_, _| 1, false;
    /// `~x`.
    UnaryInvert "unary_invert" None, |_, _| 1 => |_, _| 1, true;
    /// `bool(x)`.
    ToBool "to_bool" None, |_, _| 1 => |_, _| 1, true;
    /// `x op y`, or `x op= y`.
    BinaryOp "binary_op" Binary, |_, _| 2 => |_, _| 1, true;
    /// `x[y]`.
    BinarySubscr "binary_subscr" None, |_, _| 2 => |_, _| 1, true;
    /// `x[y] = v`; the stack is v, x, y.
    StoreSubscr "store_subscr" None, |_, _| 3 => |_, _| 0, true;
    /// `del x[y]`.
    DeleteSubscr "delete_subscr" None, |_, _| 2 => |_, _| 0, true;
    /// `x[y:z]`.
    BinarySlice "binary_slice" None, |_, _| 3 => |_, _| 1, true;
    /// `x[y:z] = v`; the stack is v, x, y, z.
    StoreSlice "store_slice" None, |_, _| 4 => |_, _| 0, true;
    /// A slice of 2 or 3 parts.
    BuildSlice "build_slice" Count, |n, _| n => |_, _| 1, true;
    /// A comparison; with second argument 1, the result is converted to a bool.
    CompareOp "compare_op" Compare, |_, _| 2 => |_, _| 1, true;
    /// `x is y`, or `is not`.
    IsOp "is_op" Flag, |_, _| 2 => |_, _| 1, false;
    /// `x in y`, or `not in`.
    ContainsOp "contains_op" Flag, |_, _| 2 => |_, _| 1, true;
    /// An attribute; with the second argument, a method and its receiver (or the attribute and a
    /// null).
    LoadAttr "load_attr" Name, |_, _| 1 => |_, method| 1 + method, true;
    /// `x.name = v`; the stack is v, x.
    StoreAttr "store_attr" Name, |_, _| 2 => |_, _| 0, true;
    /// `del x.name`.
    DeleteAttr "delete_attr" Name, |_, _| 1 => |_, _| 0, true;
    /// `super().name`; the stack is super, class, self; the second argument: bit 0 method, bit 1
    /// two-argument form.
    LoadSuperAttr "load_super_attr" Name, |_, _| 3 => |_, m| 1 + (m & 1), true;

    /// Jump forward.
    Jump "jump" Target, |_, _| 0 => |_, _| 0, false;
    /// Jump backward, after a check for pending work.
    JumpBackward "jump_backward" Target, |_, _| 0 => |_, _| 0, true;
    /// Jump backward.
    JumpBackwardNoInterrupt "jump_backward_no_interrupt" Target, |_, _| 0 => |_, _| 0, false;
    /// Pop a bool; jump if false.
    PopJumpIfFalse "pop_jump_if_false" Target, |_, _| 1 => |_, _| 0, false;
    /// Pop a bool; jump if true.
    PopJumpIfTrue "pop_jump_if_true" Target, |_, _| 1 => |_, _| 0, false;
    /// Pop; jump if None.
    PopJumpIfNone "pop_jump_if_none" Target, |_, _| 1 => |_, _| 0, false;
    /// Pop; jump if not None.
    PopJumpIfNotNone "pop_jump_if_not_none" Target, |_, _| 1 => |_, _| 0, false;
    /// `iter(x)`; and null above it, if the second argument is 1. In a host whose loops keep a
    /// place for an index beside the iterator, compiled code always has null there.
    GetIter "get_iter" None, |_, _| 1 => |_, pair| 1 + pair, true;
    /// Push the iterator's next item. When it is exhausted, pop the iterator and jump to the target
    /// (which is after the host's end-of-loop instructions). Null lies above the iterator if the
    /// second argument is 1.
    ForIter "for_iter" Target, |_, pair| 1 + pair => |_, pair| 2 + pair, true;
    /// `yield from`'s iterator; and null above it, if the second argument is 1.
    GetYieldFromIter "get_yield_from_iter" None, |_, _| 1 => |_, pair| 1 + pair, true;
    /// Send into a generator; jumps when it has returned. Null lies between the generator and the
    /// value if the second argument is 1.
    Send "send" Target, |_, pair| 2 + pair => |_, pair| 2 + pair, true;
    /// Drop the entry below the top, or both, if the second argument is 1.
    EndSend "end_send" None, |_, pair| 2 + pair => |_, _| 1, false;
    /// Yield the top.
    YieldValue "yield_value" Count, |_, _| 1 => |_, _| 1, true;
    /// Create the generator of this frame and return it.
    ReturnGenerator "return_generator" None, |_, _| 0 => |_, _| 1, true;
    /// Return the top.
    ReturnValue "return_value" None, |_, _| 1 => |_, _| 0, false;
    /// Return a constant.
    ReturnConst "return_const" Const, |_, _| 0 => |_, _| 0, false;

    /// Call with n positional arguments; the stack is callable, self or null, arguments.
    Call "call" Count, |n, _| n + 2 => |_, _| 1, true;
    /// Call whose last arguments are named by the tuple on top.
    CallKw "call_kw" Count, |n, _| n + 3 => |_, _| 1, true;
    /// `f(*args, **kwargs)`; bit 0: with a mapping.
    CallFunctionEx "call_function_ex" Count, |n, _| 3 + (n & 1) => |_, _| 1, true;
    /// A rare operation on one operand.
    CallIntrinsic1 "call_intrinsic_1" UnaryIntrinsic, |_, _| 1 => |_, _| 1, true;
    /// A rare operation on two operands.
    CallIntrinsic2 "call_intrinsic_2" BinaryIntrinsic, |_, _| 2 => |_, _| 1, true;
    /// A tuple of n entries.
    BuildTuple "build_tuple" Count, |n, _| n => |_, _| 1, true;
    /// A list of n entries.
    BuildList "build_list" Count, |n, _| n => |_, _| 1, true;
    /// A set of n entries.
    BuildSet "build_set" Count, |n, _| n => |_, _| 1, true;
    /// A dict of n pairs.
    BuildMap "build_map" Count, |n, _| 2 * n => |_, _| 1, true;
    /// A dict of n values whose keys are the tuple on top.
    BuildConstKeyMap "build_const_key_map" Count, |n, _| n + 1 => |_, _| 1, true;
    /// A string of n strings.
    BuildString "build_string" Count, |n, _| n => |_, _| 1, true;
    /// Pop a value and append it to the list at depth n (after the pop).
    ListAppend "list_append" Count, |n, _| n + 1 => |n, _| n, true;
    /// Pop an iterable and extend the list at depth n.
    ListExtend "list_extend" Count, |n, _| n + 1 => |n, _| n, true;
    /// Pop a value and add it to the set at depth n.
    SetAdd "set_add" Count, |n, _| n + 1 => |n, _| n, true;
    /// Pop an iterable and add it to the set at depth n.
    SetUpdate "set_update" Count, |n, _| n + 1 => |n, _| n, true;
    /// Pop a key and a value into the dict at depth n.
    MapAdd "map_add" Count, |n, _| n + 2 => |n, _| n, true;
    /// Pop a mapping and update the dict at depth n.
    DictUpdate "dict_update" Count, |n, _| n + 1 => |n, _| n, true;
    /// Pop a mapping and merge it into the call's dict at depth n; a doubled key raises.
    DictMerge "dict_merge" Count, |n, _| n + 4 => |n, _| n + 3, true;
    /// Push the n items, last first.
    UnpackSequence "unpack_sequence" Count, |_, _| 1 => |n, _| n, true;
    /// Push items before and after a starred one; low byte before, high byte after.
    UnpackEx "unpack_ex" Count, |_, _| 1 => |n, _| (n & 0xff) + (n >> 8) + 1, true;
    /// `format(x)`.
    FormatSimple "format_simple" None, |_, _| 1 => |_, _| 1, true;
    /// `format(x, spec)`.
    FormatWithSpec "format_with_spec" None, |_, _| 2 => |_, _| 1, true;
    /// A value of a template string; the stack is value, expression, and with bit 0 a format; the
    /// bits above are 0, or the number of a [`Conversion`] from 1.
    BuildInterpolation "build_interpolation" Count, |n, _| 2 + (n & 1) => |_, _| 1, true;
    /// `str`, `repr` or `ascii` of the top.
    ConvertValue "convert_value" Conversion, |_, _| 1 => |_, _| 1, true;
    /// A function of the code object on top.
    MakeFunction "make_function" None, |_, _| 1 => |_, _| 1, true;
    /// Set defaults, keyword defaults, annotations or closure of the function on top.
    SetFunctionAttribute "set_function_attribute" FunctionAttribute, |_, _| 2 => |_, _| 1, false;
    /// The builtin that builds classes.
    LoadBuildClass "load_build_class" None, |_, _| 0 => |_, _| 1, true;
    /// `AssertionError`.
    LoadAssertionError "load_assertion_error" None, |_, _| 0 => |_, _| 1, false;
    /// `raise`, with 0, 1 or 2 operands.
    RaiseVarargs "raise_varargs" Count, |n, _| n => |_, _| 0, true;
    /// Raise the exception on top again; the entry n below it is the position to restore.
    Reraise "reraise" Count, |n, _| n + 1 => |n, _| n, true;
    /// Put the current exception below the top and make the top current.
    PushExcInfo "push_exc_info" None, |_, _| 1 => |_, _| 2, false;
    /// Restore the current exception.
    PopExcept "pop_except" None, |_, _| 1 => |_, _| 0, false;
    /// True if the exception below the top matches the class on top.
    CheckExcMatch "check_exc_match" None, |_, _| 2 => |_, _| 2, true;
    /// The same for groups.
    CheckEgMatch "check_eg_match" None, |_, _| 2 => |_, _| 2, true;
    /// Call `__exit__` with the exception on top.
    WithExceptStart "with_except_start" None, |_, _| 4 => |_, _| 5, true;
    /// `__exit__` and the result of `__enter__`.
    BeforeWith "before_with" None, |_, _| 1 => |_, _| 2, true;
    /// The same, asynchronous.
    BeforeAsyncWith "before_async_with" None, |_, _| 1 => |_, _| 2, true;
    /// A method of a context manager, looked up in its class, and a null: for hosts whose bytecode
    /// calls `__enter__` and `__exit__` itself.
    LoadSpecial "load_special" SpecialMethod, |_, _| 1 => |_, _| 2, true;
    /// The iterator of an `await`.
    GetAwaitable "get_awaitable" Count, |_, _| 1 => |_, _| 1, true;
    /// `__aiter__`.
    GetAiter "get_aiter" None, |_, _| 1 => |_, _| 1, true;
    /// `__anext__`.
    GetAnext "get_anext" None, |_, _| 1 => |_, _| 2, true;
    /// End of an asynchronous loop.
    EndAsyncFor "end_async_for" None, |_, _| 2 => |_, _| 0, true;
    /// A generator's clean-up after `throw`.
    CleanupThrow "cleanup_throw" None, |_, pair| 3 + pair => |_, pair| 2 + pair, true;
    /// `import`; the stack is level, list of names. The second argument is 1 if the module is
    /// imported when it is first used where the program asks for that, 2 if the statement says so.
    ImportName "import_name" Name, |_, _| 2 => |_, _| 1, true;
    /// `from ... import`.
    ImportFrom "import_from" Name, |_, _| 1 => |_, _| 2, true;
    /// Class pattern with n positional sub-patterns.
    MatchClass "match_class" Count, |_, _| 3 => |_, _| 1, true;
    /// Keys of a mapping pattern.
    MatchKeys "match_keys" None, |_, _| 2 => |_, _| 3, true;
    /// True if the top is a mapping.
    MatchMapping "match_mapping" None, |_, _| 1 => |_, _| 2, false;
    /// True if the top is a sequence.
    MatchSequence "match_sequence" None, |_, _| 1 => |_, _| 2, false;
    /// `len` of the top, which stays.
    GetLen "get_len" None, |_, _| 1 => |_, _| 2, true;
    /// Create `__annotations__`.
    SetupAnnotations "setup_annotations" None, |_, _| 0 => |_, _| 0, true;
    /// Check that the result of `__init__` is None.
    ExitInitCheck "exit_init_check" None, |_, _| 1 => |_, _| 0, true;
    /// Leave the interpreter.
    InterpreterExit "interpreter_exit" None, |_, _| 1 => |_, _| 0, false;
}

macro_rules! small_enum {
    ($(#[$doc:meta])* $ty:ident { $($v:ident $name:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum $ty { $(#[doc = $name] $v),* }
        impl $ty {
            /// All variants; the index is the argument's value.
            pub const ALL: &'static [$ty] = &[$($ty::$v),*];
            /// Its symbol.
            pub fn symbol(self) -> &'static str { match self { $($ty::$v => $name),* } }
            /// The variant with this number.
            pub fn from_arg(n: u32) -> Option<$ty> { Self::ALL.get(n as usize).copied() }
        }
    };
}

small_enum!(
    /// A binary operator. The argument of [`Op::BinaryOp`] is its number, plus [`INPLACE`] for
    /// `op=`.
    BinaryOp {
        Add "+", And "&", FloorDivide "//", LeftShift "<<", MatrixMultiply "@", Multiply "*", Remainder "%",
        Or "|", Power "**", RightShift ">>", Subtract "-", TrueDivide "/", Xor "^",
    }
);
/// Added to a binary operator's number for its in-place form.
pub const INPLACE: u32 = 13;

small_enum!(
    /// A comparison.
    CompareOp { Lt "<", Le "<=", Eq "==", Ne "!=", Gt ">", Ge ">=" }
);

small_enum!(
    /// The operation of [`Op::CallIntrinsic1`].
    UnaryIntrinsic {
        ShowValue "show_value", ImportStar "import_star", StopIterationError "stop_iteration_error",
        WrapAsyncYield "wrap_async_yield", Positive "positive", ListToTuple "list_to_tuple", TypeVar "type_var",
        ParamSpec "param_spec", TypeVarTuple "type_var_tuple", SubscriptGeneric "subscript_generic", TypeAlias "type_alias",
    }
);

small_enum!(
    /// The operation of [`Op::CallIntrinsic2`].
    BinaryIntrinsic {
        RestOfGroup "rest_of_group", TypeVarWithBound "type_var_with_bound",
        TypeVarWithConstraints "type_var_with_constraints", SetTypeParams "set_type_params",
        SetTypeParamDefault "set_type_param_default", Template "template",
    }
);

small_enum!(
    /// The conversion of [`Op::ConvertValue`].
    Conversion { Str "str", Repr "repr", Ascii "ascii" }
);

small_enum!(
    /// The attribute that [`Op::SetFunctionAttribute`] sets.
    FunctionAttribute {
        Defaults "defaults", KeywordDefaults "keyword_defaults", Annotations "annotations", Closure "closure",
        Annotate "annotate",
    }
);

small_enum!(
    /// The method that [`Op::LoadSpecial`] looks up.
    SpecialMethod { Enter "enter", Exit "exit", AsyncEnter "async_enter", AsyncExit "async_exit" }
);

impl CompareOp {
    /// Returns true if the comparison holds for two values in this order.
    pub fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            CompareOp::Lt => order.is_lt(),
            CompareOp::Le => order.is_le(),
            CompareOp::Eq => order.is_eq(),
            CompareOp::Ne => order.is_ne(),
            CompareOp::Gt => order.is_gt(),
            CompareOp::Ge => order.is_ge(),
        }
    }
}
