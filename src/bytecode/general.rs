//! General operations: the operations of bytecode on objects of any type, each implemented by one
//! helper of the host.
//!
//! The table has one row for each operation. The helper's C signature follows from the row, in this
//! order: thread and frame if the row has them, immediates (`i64`), operands (objects; borrowed),
//! then for a variadic row the address of an array with the remaining operands (objects or nulls;
//! the helper takes over their references, also when it raises) and their number, then for a row
//! with outputs the address of an array that the helper fills with new references.

/// Added to the number of a comparison, for operations that take both kinds of operators.
pub const COMPARISON: i64 = 256;

/// The number of no intrinsic.
pub const NO_INTRINSIC: i64 = -1;

/// The result of a general operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gives {
    /// A new reference; null means that it raised.
    Object,
    /// No value; a negative status means that it raised.
    Nothing,
    /// A truth value as 0 or 1; negative means that it raised.
    Bool,
    /// 1 and an output, or 0 at the end of the iteration; negative means that it raised.
    Next,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct GeneralInfo {
    /// The name of the op and of the host's helper.
    pub name: &'static str,
    /// True if the thread is passed.
    pub thread: bool,
    /// True if the frame is passed.
    pub frame: bool,
    /// Number of immediates.
    pub imms: u32,
    /// Number of borrowed operands.
    pub operands: u32,
    /// True if an array of further operands follows.
    pub variadic: bool,
    /// True if the helper fills an array of outputs.
    pub outputs: bool,
    /// The result.
    pub gives: Gives,
    /// True if it can raise.
    pub raises: bool,
    /// True if it runs no user code.
    pub quiet: bool,
    /// True if the exception that it raises already has this instruction in its traceback, if it
    /// belongs there.
    pub traced: bool,
}

macro_rules! general_ops {
    ($($(#[$doc:meta])* $op:ident $name:literal ($($ctx:ident)*) $imms:literal $operands:literal $gives:ident;)*) => {
        /// A general operation.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum GeneralOp { $($(#[$doc])* $op),* }
        impl GeneralOp {
            /// All operations, in table order.
            pub const ALL: &'static [GeneralOp] = &[$(GeneralOp::$op),*];
            /// The operation's row.
            pub const fn info(self) -> &'static GeneralInfo {
                const TABLE: &[GeneralInfo] = &[$({
                    const CTX: &[&str] = &[$(stringify!($ctx)),*];
                    GeneralInfo {
                        name: $name,
                        thread: has(CTX, "thread"),
                        frame: has(CTX, "frame"),
                        imms: $imms,
                        operands: $operands,
                        variadic: has(CTX, "variadic"),
                        outputs: has(CTX, "outputs"),
                        gives: Gives::$gives,
                        raises: !has(CTX, "safe"),
                        quiet: has(CTX, "quiet"),
                        traced: has(CTX, "traced"),
                    }
                }),*];
                &TABLE[self as usize]
            }
        }
    };
}

const fn has(list: &[&str], word: &str) -> bool {
    let mut i = 0;
    while i < list.len() {
        let (a, b) = (list[i].as_bytes(), word.as_bytes());
        if a.len() == b.len() {
            let mut j = 0;
            while j < a.len() && a[j] == b[j] {
                j += 1;
            }
            if j == a.len() {
                return true;
            }
        }
        i += 1;
    }
    false
}

general_ops! {
    /// `a op b`; the immediate is the bytecode's operator number (in-place forms included).
    Binary "binary_op" () 1 2 Object;
    /// The same of two exact ints: what [`Binary`](Self::Binary) becomes where its operands are
    /// known to be, and may have too many digits for machine code.
    BinaryInts "binary_ints" () 1 2 Object;
    /// A comparison; the immediate is the comparison's number.
    Compare "compare" () 1 2 Object;
    /// The truth of a comparison.
    CompareBool "compare_bool" () 1 2 Bool;
    /// Completes an operator whose special method was called with the first two operands. The
    /// array's one entry is the method's result, which is taken over. If that is not NotImplemented
    /// (the third operand), it is the result. Otherwise the operator tries the next method in the
    /// language's order. The immediates are the operator's number (for a comparison plus
    /// [`COMPARISON`]), and 1 if the method was the right operand's.
    OperatorRest "operator_rest" (variadic) 2 3 Object;
    /// `a in b`.
    Contains "contains" () 0 2 Bool;
    /// The truth of an object.
    Truth "truth" () 0 1 Bool;
    /// `-a`.
    Negative "negative" () 0 1 Object;
    /// `~a`.
    Invert "invert" () 0 1 Object;
    /// `a[b]`.
    GetItem "get_item" () 0 2 Object;
    /// The same, but an item that is missing in a dict (immediate 0), or in a list or tuple (1), is
    /// null without an exception, if no user code had to run to find that.
    FindItem "find_item" () 1 2 Object;
    /// Whether an exception is pending.
    IsRaised "is_raised" (thread safe quiet) 0 0 Bool;
    /// `a[b] = c`.
    SetItem "set_item" () 0 3 Nothing;
    /// `del a[b]`.
    DelItem "del_item" () 0 2 Nothing;
    /// `a[b:c]`.
    GetSlice "get_slice" () 0 3 Object;
    /// `a[b:c] = d`.
    SetSlice "set_slice" () 0 4 Nothing;
    /// `a[b:c:d]`: array of the bounds, the step null if there is none.
    GetExtendedSlice "get_extended_slice" (variadic) 0 1 Object;
    /// A slice object; the step may be null.
    BuildSlice "build_slice" () 0 3 Object;
    /// Attribute; the immediate is the index in the code's names.
    LoadAttr "load_attr" (frame) 1 1 Object;
    /// `a.name = b`.
    StoreAttr "store_attr" (frame) 1 2 Nothing;
    /// `del a.name`.
    DeleteAttr "delete_attr" (frame) 1 1 Nothing;
    /// Raises unless the operand, the result of an `__init__`, is None.
    InitResult "init_result" () 0 1 Nothing;
    /// Method lookup: two outputs, callable and self, or attribute and null.
    LoadMethod "load_method" (frame outputs) 1 1 Nothing;
    /// `super().name`: immediates are the name's index and the bytecode's flags; operands are
    /// super, class, self; two outputs as for a method (the second is null without the method
    /// flag).
    LoadSuperAttr "load_super_attr" (frame outputs) 2 3 Nothing;
    /// A global or builtin.
    LoadGlobal "load_global" (frame) 1 0 Object;
    /// A name of the namespace, the globals or the builtins.
    LoadName "load_name" (frame) 1 0 Object;
    /// Store into the namespace.
    StoreName "store_name" (frame) 1 1 Nothing;
    /// Delete from the namespace.
    DeleteName "delete_name" (frame) 1 0 Nothing;
    /// Store a global.
    StoreGlobal "store_global" (frame) 1 1 Nothing;
    /// Delete a global.
    DeleteGlobal "delete_global" (frame) 1 0 Nothing;
    /// The namespace.
    LoadLocals "load_locals" (frame) 0 0 Object;
    /// A name of the operand (a mapping), the globals or the builtins.
    LoadFromDictOrGlobals "load_from_dict_or_globals" (frame) 1 1 Object;
    /// A name of the operand (a mapping), or the content of the cell in the slot.
    LoadFromDictOrDeref "load_from_dict_or_deref" (frame) 1 1 Object;
    /// Copy the closure's cells into the frame's last n slots.
    CopyFreeVars "copy_free_vars" (frame safe) 1 0 Nothing;
    /// Call: array of callable, self or null, positional arguments, keyword values; the operand is
    /// the tuple of keyword names or null. (The number is the length of the whole array.)
    Call "call" (thread variadic) 0 1 Object;
    /// The same where entries of the array are lent: bit `k` of the immediate is set if the call
    /// takes over no reference to entry `k`, which a local keeps alive.
    CallLent "call_lent" (thread variadic) 1 1 Object;
    /// `a(*b, **c)`: array of a, b and c, or of a and b.
    CallEx "call_ex" (thread variadic) 0 0 Object;
    /// A one-operand intrinsic of the bytecode; the immediate is the number of a `UnaryIntrinsic`.
    CallIntrinsic1 "call_intrinsic_1" (thread) 1 1 Object;
    /// A two-operand intrinsic of the bytecode; the immediate is the number of a `BinaryIntrinsic`.
    CallIntrinsic2 "call_intrinsic_2" (thread) 1 2 Object;
    /// `iter(a)`.
    GetIter "get_iter" (thread) 0 1 Object;
    /// `iter(range(a, b, c))` of ints.
    RangeIter "range_iter" (quiet) 0 3 Object;
    /// Next item: one output.
    IterNext "iter_next" (thread outputs) 0 1 Next;
    /// The end of the load of an attribute (its name is the immediate) whose `__getattr__` or
    /// `__get__` has raised: an AttributeError gets the name and the object, unless it has some.
    /// The exception stays.
    GetterRaised "getter_raised" (frame) 1 1 Nothing;
    /// The next item of an iterator, by the host's intrinsic of this number, or where that fails as
    /// [`IterNext`](Self::IterNext).
    IterNextBy "iter_next_by" (thread outputs) 1 1 Next;
    /// The items of an iterator's next item, a tuple of so many (the first immediate): `for a, b in
    /// zip(...)`. The second is the number of the host's intrinsic that is tried first, or
    /// [`NO_INTRINSIC`].
    NextItems "next_items" (thread outputs) 2 1 Next;
    /// The end of an iteration whose `__next__` has raised: clears the exception if it is a
    /// StopIteration, else it stays.
    EndIteration "end_iteration" (thread quiet) 0 0 Nothing;
    /// A tuple.
    BuildTuple "build_tuple" (quiet variadic) 0 0 Object;
    /// A list.
    BuildList "build_list" (quiet variadic) 0 0 Object;
    /// A set.
    BuildSet "build_set" (variadic) 0 0 Object;
    /// A dict of alternating keys and values.
    BuildMap "build_map" (variadic) 0 0 Object;
    /// A dict of named arguments: alternating names, which are strings, and values.
    BuildKeywords "build_keywords" (quiet variadic) 0 0 Object;
    /// A dict of values; the operand is the tuple of keys.
    BuildConstKeyMap "build_const_key_map" (variadic) 0 1 Object;
    /// A string of strings.
    BuildString "build_string" (variadic) 0 0 Object;
    /// Concatenates strings. Of two the first grows in place if it has no other reference. If only
    /// one is not empty, it is the result.
    ConcatStrings "concat_strings" (quiet variadic) 0 0 Object;
    /// Append b to list a.
    ListAppend "list_append_object" (quiet) 0 2 Nothing;
    /// Extend list a by b.
    ListExtend "list_extend" (thread) 0 2 Nothing;
    /// Add b to set a.
    SetAdd "set_add" () 0 2 Nothing;
    /// Add the items of b to set a.
    SetUpdate "set_update" () 0 2 Nothing;
    /// `a[b] = c` in a dict.
    MapAdd "map_add" () 0 3 Nothing;
    /// Update dict a by mapping b.
    DictUpdate "dict_update" (thread) 0 2 Nothing;
    /// Merge mapping b into dict a for a call of c.
    DictMerge "dict_merge" (thread) 0 3 Nothing;
    /// Unpack into outputs, as many as the immediate (the first item first).
    UnpackSequence "unpack_sequence" (thread outputs) 1 1 Nothing;
    /// Unpack with a star: outputs are the items before, the list, the items after.
    UnpackEx "unpack_ex" (thread outputs) 1 1 Nothing;
    /// `format(a, "")`.
    FormatSimple "format_simple" () 0 1 Object;
    /// `format(a, b)`.
    FormatWithSpec "format_with_spec" () 0 2 Object;
    /// A value of a template string (array: value, expression, and a format if there is one); the
    /// immediate is the conversion, or 0.
    BuildInterpolation "build_interpolation" (variadic) 1 0 Object;
    /// `str`, `repr`, `ascii` (1, 2, 3).
    ConvertValue "convert_value" () 1 1 Object;
    /// A function of a code object.
    MakeFunction "make_function" (frame) 0 1 Object;
    /// Set the attribute of function a that the immediate selects to b.
    SetFunctionAttribute "set_function_attribute" (safe) 1 2 Nothing;
    /// `__build_class__`.
    LoadBuildClass "load_build_class" (frame) 0 0 Object;
    /// `AssertionError`.
    LoadAssertionError "load_assertion_error" () 0 0 Object;
    /// Raise: the immediate is the number of operands that are not null (1, 2).
    Raise "raise" (thread) 1 2 Nothing;
    /// Import: immediate name; operands level, list of names.
    ImportName "import_name" (thread frame) 2 2 Object;
    /// `from a import name`.
    ImportFrom "import_from" (thread frame) 1 1 Object;
    /// True if a is a mapping.
    MatchMapping "match_mapping" (safe) 0 1 Bool;
    /// True if a is a sequence.
    MatchSequence "match_sequence" (safe) 0 1 Bool;
    /// Values of keys b in a, or None.
    MatchKeys "match_keys" (thread) 0 2 Object;
    /// Attributes of a for class pattern b with names c, or None; the immediate is the number of
    /// positional patterns.
    MatchClass "match_class" (thread) 1 3 Object;
    /// `len(a)` as an int object.
    GetLen "get_len" () 0 1 Object;
    /// Create `__annotations__`.
    SetupAnnotations "setup_annotations" (frame) 0 0 Nothing;
    /// `with a`: outputs are `__exit__` and the result of `__enter__`.
    BeforeWith "before_with" (thread outputs) 0 1 Nothing;
    /// The bound special method of a, looked up in its class; the immediate is the number of a
    /// `SpecialMethod`.
    LoadSpecial "load_special" (thread) 1 1 Object;
    /// Take the pending exception, which the current instruction raised. With immediate 1, first
    /// add the instruction to its traceback. With 2, the entry is added later by
    /// [`GeneralOp::CompleteTraceback`]; until then no code reads the traceback.
    Catch "catch" (thread safe quiet) 1 0 Object;
    /// If the current frame's traceback entry was deferred, and the handler has not ended, add it.
    CompleteTraceback "complete_traceback" (thread safe quiet) 0 0 Nothing;
    /// The operand is an exception, which the frame that caught it is about to drop. Its deferred
    /// entry is no longer needed, unless other code has a reference to the exception.
    ForgetTraceback "forget_traceback" (thread safe quiet) 0 1 Nothing;
    /// Make the operand the handled exception; gives the previous one, or None.
    PushExcInfo "push_exc_info" (thread safe quiet) 0 1 Object;
    /// Restore the array's one entry, an exception or None, as the handled exception. With
    /// immediate 1, the frame holds the exception that was handled until now in a local, and its
    /// deferred traceback entry stays pending, for [`GeneralOp::ForgetTraceback`].
    PopExcept "pop_except" (thread safe variadic) 1 0 Nothing;
    /// True if exception a matches class b, or one of the classes in b.
    CheckExcMatch "check_exc_match" (thread quiet) 0 2 Bool;
    /// Split exception a by class b: outputs are the rest and the match, either may be None.
    CheckEgMatch "check_eg_match" (thread outputs) 0 2 Nothing;
    /// Make the operand the handled exception, unless it is None.
    SetHandled "set_handled" (safe) 0 1 Nothing;
    /// Call `__exit__` a with exception b, its type and its traceback.
    WithExceptStart "with_except_start" () 0 2 Object;
    /// Raise the handled exception again.
    RaiseAgain "raise_again" (quiet traced) 0 0 Nothing;
    /// Raise exception b again; if the immediate is not 0, the frame goes back to position a first.
    Reraise "reraise" (frame quiet traced) 1 2 Nothing;
    /// Run the pending work: signals, yielding the lock, collection.
    HandlePending "handle_pending" (thread) 0 0 Nothing;
    /// Create the generator of the frame, whose locals it takes over: array of the entries of its
    /// stack, which are taken over too. The instruction's position is in the frame.
    MakeGenerator "make_generator" (thread frame variadic quiet) 0 0 Object;
    /// Let the interpreter resume generator a with the array's one entry, which is taken over. The
    /// generator's own state shows if it yielded or returned.
    ResumeInterpreted "resume_interpreted" (thread variadic) 0 1 Object;
    /// The iterator of `yield from a`.
    GetYieldFromIter "get_yield_from_iter" (thread frame) 0 1 Object;
    /// Send b into a: the output is the yielded value (1) or the returned one (0).
    Send "send" (thread outputs) 0 2 Next;
    /// The iterator of `await a`; the immediate is the bytecode's argument, which gives the context
    /// of the `await`.
    GetAwaitable "get_awaitable" (thread) 1 1 Object;
    /// `a.__aiter__()`.
    GetAiter "get_aiter" (thread) 0 1 Object;
    /// The awaitable of `a.__anext__()`.
    GetAnext "get_anext" (thread) 0 1 Object;
    /// Raise exception a again, unless it is the end of an asynchronous iteration.
    EndAsyncFor "end_async_for" (quiet traced) 0 1 Nothing;
    /// `async with a`: outputs are `__aexit__` and the result of `__aenter__`.
    BeforeAsyncWith "before_async_with" (thread outputs) 0 1 Nothing;
    /// Run a call of function a in the interpreter (array: its arguments).
    CallInterpreted "call_interpreted" (thread variadic) 0 1 Object;
}
