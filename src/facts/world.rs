//! Facts about the program's state, as data: the value of a global, the access to an attribute, the
//! effect of a call. The host answers queries about them for one compile through [`World`]. Plans
//! refer to the host's intrinsics by number, so that nothing here knows their content.

use super::{Assumption, RawEntry, RawKind};
use crate::types::{ClassHandle, ConstValue, ObjectHandle, Type};
use cranelift_entity::entity_impl;
use std::any::Any;
use std::fmt::{Debug, Display};
use std::ops::Range;
use std::sync::Arc;

/// An intrinsic of the host, printed `intrinsic3` or by name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IntrinsicId(u32);
entity_impl!(IntrinsicId, "intrinsic");

/// A use of an intrinsic, with constants after the object operand (and, for stores, the value).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct IntrinsicCall {
    /// The intrinsic.
    pub id: IntrinsicId,
    /// Constants that follow the other operands: addresses where the intrinsic takes a `ptr`,
    /// otherwise integers. A number that differs between processes must be passed as an address, so
    /// that the machine code can be cached for another process.
    pub imms: Vec<i64>,
}

/// The access to an attribute of an object of a known class, after a check of the class.
#[derive(Clone, PartialEq, Debug)]
pub enum AttrPlan {
    /// Not known: the general operation.
    General,
    /// A field: `guards` on the object, then `load` returns the value (borrowed; it fails if the
    /// attribute is missing).
    Field {
        /// Checks `(object, imms...) -> ()`; each may fail.
        guards: Vec<IntrinsicCall>,
        /// `(object, imms...) -> ptr`, borrowed, may fail.
        load: IntrinsicCall,
        /// A hint: the Python function that is the value now, of an object that the query names. A
        /// call of the value speculates on it. For example, `self.fget(obj)` in the `__get__` of a
        /// known descriptor.
        now: Option<ObjectHandle>,
        /// The facts to watch.
        assumptions: Vec<Assumption>,
    },
    /// A constant of the class, or the attribute of a constant object: a module or a class.
    Constant {
        /// Checks that the object has no own attribute of this name.
        guards: Vec<IntrinsicCall>,
        /// The value.
        value: ObjectHandle,
        /// The value's context.
        binds: Binds,
        /// The facts to watch.
        assumptions: Vec<Assumption>,
    },
    /// There is none: the access raises AttributeError.
    Absent {
        /// Checks that the object has no own attribute of this name.
        guards: Vec<IntrinsicCall>,
        /// The facts to watch.
        assumptions: Vec<Assumption>,
    },
    /// The result of a function that is called with the object alone (a property).
    Getter {
        /// The function.
        function: ObjectHandle,
        /// The facts to watch, besides those of [`World::callee`] for the function.
        assumptions: Vec<Assumption>,
    },
    /// The result of a function that is called with the object and constants, while the
    /// instruction keeps its reference to the object: `__getattr__(object, name)`, or the
    /// `__get__(descriptor, object, class)` of a descriptor. If it raises an AttributeError, the
    /// general operation `GetterRaised` completes that.
    Computed {
        /// Checks that the object has no own attribute of this name.
        guards: Vec<IntrinsicCall>,
        /// The function.
        function: ObjectHandle,
        /// Its arguments, one of which is the object.
        args: Vec<GetterArg>,
        /// The facts to watch, besides those of [`World::callee`] for the function.
        assumptions: Vec<Assumption>,
    },
}

/// An argument of the function that computes an attribute ([`AttrPlan::Computed`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GetterArg {
    /// The object whose attribute is loaded.
    Receiver,
    /// A constant, such as the attribute's name.
    Constant(ObjectHandle),
}

impl GetterArg {
    /// The constant.
    pub fn constant(self) -> Option<ObjectHandle> {
        match self {
            GetterArg::Constant(object) => Some(object),
            GetterArg::Receiver => None,
        }
    }
}

/// The parts of an iterator over tuples, such as `enumerate` and `zip`: each of its items consists
/// of a number, if there is one, and of an item of each of some iterators. It ends with the first
/// of these that does.
#[derive(Clone, PartialEq, Debug)]
pub struct Parts {
    /// Checks `(iterator, imms...) -> ()` that it has this form.
    pub guards: Vec<IntrinsicCall>,
    /// `(iterator, imms...) -> i64`: counts, and returns the number of before.
    pub index: Option<IntrinsicCall>,
    /// For each iterator the loads `(object, imms...) -> ptr` that lead to it, one from the result
    /// of the other.
    pub iterators: Vec<Vec<IntrinsicCall>>,
}

/// The object that a call of a constant attribute passes before its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binds {
    /// None: the attribute does not bind.
    Nothing,
    /// The receiver of the access: the attribute is a method.
    Receiver,
    /// Another object: the class of the receiver, if the attribute is a class method.
    Object(ObjectHandle),
}

impl Binds {
    /// The other object.
    pub fn object(self) -> Option<ObjectHandle> {
        match self {
            Binds::Object(object) => Some(object),
            Binds::Nothing | Binds::Receiver => None,
        }
    }
}

impl AttrPlan {
    /// A field that every object of the class has, without assumptions.
    pub fn field(load: IntrinsicCall) -> AttrPlan {
        AttrPlan::Field {
            guards: Vec::new(),
            load,
            now: None,
            assumptions: Vec::new(),
        }
    }
}

/// The store to an attribute of an object of a known class.
#[derive(Clone, PartialEq, Debug)]
pub enum StorePlan {
    /// Not known: the general operation.
    General,
    /// A field: `guards`, then `store` takes over the reference and returns the old value (or
    /// null). It may fail before it has any effect.
    Field {
        /// Checks `(object, imms...) -> ()`.
        guards: Vec<IntrinsicCall>,
        /// `(object, value, imms...) -> ptr`. It does not write to lists or cells.
        store: IntrinsicCall,
        /// A check `(object, imms...) -> ()`, if there is one. It fails unless the store would
        /// return null, or an object whose reference can be dropped without side effects that user
        /// code could observe.
        quiet: Option<IntrinsicCall>,
        /// The facts to watch.
        assumptions: Vec<Assumption>,
    },
    /// A function that is called with the object and the value (the setter of a property); its
    /// result is dropped.
    Setter {
        /// The function.
        function: ObjectHandle,
        /// The descriptor that is the first argument, if the function is its `__set__`.
        descriptor: Option<ObjectHandle>,
        /// The facts to watch, besides those of [`World::callee`] for the function.
        assumptions: Vec<Assumption>,
    },
}

/// Access to an object's items that are raw values in its own memory: numbers of one size, as in
/// `array.array` and `bytes`.
#[derive(Clone, PartialEq, Debug)]
pub struct RawItems {
    /// The kind of the items.
    pub kind: RawKind,
    /// Checks `(object, imms...) -> ()` that the items have this layout; each may fail.
    pub guards: Vec<IntrinsicCall>,
    /// `(object, imms...) -> i64`: the number of items.
    pub len: IntrinsicCall,
    /// `(object, offset, imms...) -> i64` or `f64`: the item at an offset in range.
    pub get: IntrinsicCall,
    /// `(object, offset, raw, imms...) -> ()`: replace the item. Fails, before it has any effect,
    /// if the value does not fit. None if items are never replaced.
    pub set: Option<IntrinsicCall>,
}

/// An operator that classes may define.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operator {
    /// `a op b`: the bytecode's number, in-place forms included.
    Binary(u32),
    /// A comparison: the bytecode's number.
    Compare(u32),
    /// `a[b]`, by the class of `a`.
    Item,
    /// `a[b] = v`, by the class of `a`; the result of the method is dropped.
    StoreItem,
    /// The truth of an object.
    Truth,
    /// `-a`
    Negative,
    /// `~a`
    Invert,
    /// The iterator of an object.
    Iter,
    /// The next item of an iterator.
    Next,
    /// `a(...)`, by the class of `a`. The method gets `a` before the arguments.
    Call,
    /// `a, b = c`: the items of an object, of which there must be so many.
    Unpack(u32),
    /// `for a, b in c`, by the class of the iterator: its next item, which has so many items.
    UnpackNext(u32),
}

/// The implementation of an operator for operands of known classes, after checks of them.
#[derive(Clone, PartialEq, Debug)]
pub enum OperatorPlan {
    /// Not known: the general operation.
    General,
    /// The result of a function that is called with the operands.
    Method {
        /// The function.
        function: ObjectHandle,
        /// True if it is the right operand's method, which gets that operand first.
        swapped: bool,
        /// The result with which the function declines (NotImplemented): then the general operation
        /// `OperatorRest` completes the operator.
        declined: Option<ObjectHandle>,
        /// The facts to watch, besides those of [`World::callee`] for the function.
        assumptions: Vec<Assumption>,
    },
    /// For `==` and `!=`: the comparison of the operands' identities.
    Identity {
        /// The facts to watch.
        assumptions: Vec<Assumption>,
    },
    /// For truth: always true.
    True {
        /// The facts to watch.
        assumptions: Vec<Assumption>,
    },
    /// The operand itself: it is its own iterator.
    Operand {
        /// The facts to watch.
        assumptions: Vec<Assumption>,
    },
    /// For a call: that of a callable which the operand holds.
    Forwards(Forwarding),
    /// For the iterator of an object: a new one of this class. No user code runs.
    Iterator {
        /// The exact type.
        ty: Type,
        /// The facts to watch.
        assumptions: Vec<Assumption>,
    },
    /// For the next item of an iterator: the general operation `IterNextBy`.
    NextBy {
        /// `(iterator) -> ptr`: the item, a new reference. Fails, before it has any effect, where
        /// the iterator's own function must be called, which is also its end.
        fast: IntrinsicCall,
        /// The facts to watch.
        assumptions: Vec<Assumption>,
    },
    /// For an iterator whose items are unpacked: the general operation `NextItems`.
    NextItems {
        /// Checks `(iterator, imms...) -> ()` that the next item, if there is one, is a tuple of
        /// as many.
        guards: Vec<IntrinsicCall>,
        /// `(iterator) -> ptr...`: the items, each with a new reference. Fails, before it has any
        /// effect, where `NextItems` must be called.
        fast: Option<IntrinsicCall>,
        /// The iterators from which that item's own items come, if the loop may advance them
        /// itself.
        parts: Option<Parts>,
        /// The facts to watch.
        assumptions: Vec<Assumption>,
    },
    /// For unpacking: the items that the operand holds, as a tuple does.
    Items {
        /// Checks `(object, imms...) -> ()` that it has as many.
        guards: Vec<IntrinsicCall>,
        /// For each item `(object, imms...) -> ptr`, borrowed.
        items: Vec<IntrinsicCall>,
        /// The facts to watch.
        assumptions: Vec<Assumption>,
    },
}

/// The call of an object that passes it on to a callable that it holds, with the items of a tuple
/// that it holds before the arguments of the call. (CPython: a `functools.partial`.)
#[derive(Clone, PartialEq, Debug)]
pub struct Forwarding {
    /// Checks `(object, imms...) -> ()`; each may fail.
    pub guards: Vec<IntrinsicCall>,
    /// `(object, imms...) -> ptr`, borrowed, may fail: the callable.
    pub callable: IntrinsicCall,
    /// `(object, imms...) -> ptr`, borrowed, may fail: the tuple.
    pub items: IntrinsicCall,
    /// The item that marks a position for a later argument: a tuple with it has no such plan.
    pub placeholder: Option<ObjectHandle>,
    /// The facts to watch.
    pub assumptions: Vec<Assumption>,
}

macro_rules! builtins {
    ($($(#[$doc:meta])* $builtin:ident = $name:literal;)*) => {
        /// A builtin that the compiler knows.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Builtin { $($(#[$doc])* $builtin),* }
        impl Builtin {
            /// All builtins.
            pub const ALL: &'static [Builtin] = &[$(Builtin::$builtin),*];
            /// The name in the text form.
            pub fn name(self) -> &'static str {
                match self { $(Builtin::$builtin => $name),* }
            }
        }
    };
}

builtins! {
    /// `len`
    Len = "len";
    /// `range` (the class)
    Range = "range";
    /// `abs`
    Abs = "abs";
    /// `min`
    Min = "min";
    /// `max`
    Max = "max";
    /// `int` (the class)
    Int = "int";
    /// `float` (the class)
    Float = "float";
    /// `bool` (the class)
    Bool = "bool";
    /// `isinstance`
    IsInstance = "isinstance";
    /// `hasattr`
    HasAttr = "hasattr";
    /// `getattr`
    GetAttr = "getattr";
    /// `math.sqrt`
    Sqrt = "sqrt";
    /// `any`
    Any = "any";
    /// `all`
    All = "all";
    /// `sum`
    Sum = "sum";
    /// `sorted`
    Sorted = "sorted";
    /// `list` (the class)
    List = "list";
    /// `tuple` (the class)
    Tuple = "tuple";
    /// `set` (the class)
    Set = "set";
    /// `frozenset` (the class)
    FrozenSet = "frozenset";
    /// `str.join` (the method descriptor)
    StrJoin = "str_join";
    /// `list.append` (the method descriptor)
    ListAppend = "list_append";
    /// `dict.get` (the method descriptor)
    DictGet = "dict_get";
    /// `chr`
    Chr = "chr";
    /// `ord`
    Ord = "ord";
    /// `super` (the class)
    Super = "super";
    /// `type` (the class)
    Type = "type";
    /// `StopIteration` (the class)
    StopIteration = "stop_iteration";
}

/// The effect of calling a known object.
#[derive(Clone, PartialEq, Debug)]
pub enum Callee {
    /// Not known: the general call.
    Unknown,
    /// A user function that can be entered directly.
    Function {
        /// Its parameters. Its native entry takes one object for each: positional parameters,
        /// keyword-only parameters, the tuple of `*args`, the dict of `**kwargs`.
        params: Parameters,
        /// The address of a cell that holds the address of the function's native entry, or of a
        /// stub with the same calling convention that runs the function in the interpreter.
        entry_cell: u64,
        /// Its raw entry, if it has a closed unit.
        raw: Option<RawEntry>,
        /// A check for functions of the same code. For example, `def outer(k): f = lambda x: x + k`
        /// creates another `f` in each call, but all run the same code in the same namespace. A
        /// host offers this if the compiled unit keeps that code alive.
        kin: Option<Kin>,
        /// The facts to watch.
        assumptions: Vec<Assumption>,
    },
    /// A user class whose instances are created by calling it.
    Class {
        /// The class.
        class: ClassHandle,
        /// `(imms...) -> object`: a new instance before `__init__`, owned. Fails if there is no
        /// memory. It runs no user code.
        make: IntrinsicCall,
        /// The class's `__init__`, a user function. Without one, calls have no arguments.
        init: Option<ObjectHandle>,
        /// The facts to watch.
        assumptions: Vec<Assumption>,
    },
    /// A user class derived from `tuple` whose instances have one item for each parameter, in
    /// order, and nothing else: calling it runs no user code. (CPython: a `namedtuple`.)
    Tuple {
        /// The class.
        class: ClassHandle,
        /// Its parameters, all of which may be given by position.
        params: Parameters,
        /// `(imms...) -> object`: a new instance without its items, owned. Fails if there is no
        /// memory. It runs no user code.
        make: IntrinsicCall,
        /// For each item, `(object, value, imms...) -> ()`: sets it in a new instance, which takes
        /// over the reference.
        stores: Vec<IntrinsicCall>,
        /// The facts to watch.
        assumptions: Vec<Assumption>,
    },
    /// An exception class.
    Exception {
        /// The class and its bases: an `except` clause for one of them catches its instances.
        bases: Vec<ObjectHandle>,
        /// True if calling the class with arguments by position makes an instance of exactly this
        /// class, and neither that nor deallocating the instance runs user code.
        is_plain: bool,
        /// The errors of missing items that a clause for the class catches.
        missing: Vec<Missing>,
        /// The facts to watch.
        assumptions: Vec<Assumption>,
    },
    /// A builtin.
    Builtin(Builtin),
}

/// The error of a subscript whose item is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// `KeyError`, of a dict.
    Key,
    /// `IndexError`, of a sequence.
    Index,
}

impl Callee {
    /// A function that never changes, without defaults, called with objects only.
    pub fn function(argcount: u32, entry_cell: u64) -> Callee {
        Callee::Function {
            params: Parameters::positional(argcount),
            entry_cell,
            raw: None,
            kin: None,
            assumptions: Vec::new(),
        }
    }
}

/// Functions of the same code in the same namespace. They have the same entry and parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Kin {
    /// `(function, imms...) -> ()`: a check of an exact function, which fails unless it is one of
    /// them.
    pub check: IntrinsicCall,
    /// `(object, imms...) -> bool`, if there is one: true if an object of any class is one of them.
    pub test: Option<IntrinsicCall>,
    /// The code, for [`World::inlinee`], if it is a constant of the code that is compiled.
    pub code: Option<ObjectHandle>,
    /// `(function, imms..., from_end) -> object`, if there is one: the default that is so many
    /// places from the end of those of parameters that may be given by position (1 is the last
    /// one), borrowed. Fails if the function has fewer.
    pub default: Option<IntrinsicCall>,
    /// For each keyword-only parameter `(function, imms...) -> object`: its default, borrowed.
    /// Fails if it has none. Empty if the host does not provide them.
    pub keywords: Vec<IntrinsicCall>,
}

impl Kin {
    /// The load of the default of a parameter, by number.
    fn default_of(&self, params: &Parameters, at: usize) -> Option<IntrinsicCall> {
        let positional = params.positional as usize;
        if at >= positional {
            return self.keywords.get(at - positional).cloned();
        }
        let mut load = self.default.clone()?;
        load.imms.push((positional - at) as i64);
        Some(load)
    }
}

/// The parameters of a user function, with the values of arguments that a call leaves out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parameters {
    /// The number of parameters that may be given by position.
    pub positional: u32,
    /// The number of these, from the first, that may not be given by name.
    pub positional_only: u32,
    /// The names of those that may be given by position. Empty if the host does not provide them;
    /// then none can be given by name.
    pub names: Vec<String>,
    /// Values for the last of those that may be given by position, as constants.
    pub defaults: Vec<ObjectHandle>,
    /// The keyword-only parameters, each with its default, if any, as a constant.
    pub keywords: Vec<(String, Option<ObjectHandle>)>,
    /// If there is a parameter for further positional arguments (`*args`): its value if there are
    /// none, the empty tuple.
    pub rest: Option<ObjectHandle>,
    /// True if there is a parameter for further named arguments (`**kwargs`).
    pub has_named_rest: bool,
}

/// The value that a call gives to a parameter. The call's arguments are numbered, the named ones
/// last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// An argument.
    Given(usize),
    /// The default of an argument that was left out.
    Default(ObjectHandle),
    /// The same, which is loaded from the function ([`Kin`]).
    Loaded(IntrinsicCall),
    /// A tuple of these arguments, at least one.
    Rest(Range<usize>),
    /// A dict of these arguments, which are named.
    NamedRest(Vec<usize>),
}

impl Parameters {
    /// `count` positional parameters, without defaults.
    pub fn positional(count: u32) -> Parameters {
        Parameters {
            positional: count,
            ..Parameters::default()
        }
    }

    /// The value of each parameter in a call with `given` arguments, the last of which have these
    /// names. None if the call raises. For example, with `def f(a, b=1, *rest, k=2)`, the call
    /// `f(5, 6, 7, k=8)` gives `[Given(0), Given(1), Given(3), Rest(2..3)]`.
    pub fn bind(&self, given: usize, names: &[&str]) -> Option<Vec<Argument>> {
        let positional = self.positional as usize;
        // The last ones have defaults.
        let first_default = positional.checked_sub(self.defaults.len())?;
        let default = |at: usize| match at.checked_sub(positional) {
            Some(keyword) => self.keywords[keyword].1,
            None => Some(self.defaults[at.checked_sub(first_default)?]),
        };
        self.bind_with(given, names, |at| default(at).map(Argument::Default))
    }

    /// The same for a call of any function of a code, which may have other defaults. For example, a
    /// loop that runs `def f(a, b=i)` calls another `f` each time. The call fails if the function
    /// has no default where it needs one.
    pub fn bind_kin(&self, given: usize, names: &[&str], kin: &Kin) -> Option<Vec<Argument>> {
        let default = |at| kin.default_of(self, at).map(Argument::Loaded);
        self.bind_with(given, names, default)
    }

    /// The value of each parameter, with `default` for those left out.
    fn bind_with(
        &self,
        given: usize,
        names: &[&str],
        default: impl Fn(usize) -> Option<Argument>,
    ) -> Option<Vec<Argument>> {
        let by_position = given.checked_sub(names.len())?;
        let positional = self.positional as usize;
        let rest = positional.min(by_position)..by_position;
        if !rest.is_empty() && self.rest.is_none() {
            return None;
        }
        let mut bound = vec![None; positional + self.keywords.len()];
        for (index, place) in bound.iter_mut().enumerate().take(rest.start) {
            *place = Some(Argument::Given(index));
        }
        let mut named_rest = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let may_be_named = self
                .names
                .iter()
                .enumerate()
                .skip(self.positional_only as usize);
            let keywords = (positional..)
                .zip(&self.keywords)
                .map(|(at, known)| (at, &known.0));
            let found = may_be_named
                .chain(keywords)
                .find(|(_, known)| *known == name);
            match found {
                Some((at, _)) if bound[at].is_none() => {
                    bound[at] = Some(Argument::Given(by_position + index));
                }
                None if self.has_named_rest => named_rest.push(by_position + index),
                _ => return None,
            }
        }
        let bound = bound.into_iter().enumerate();
        let bound = bound.map(|(at, given)| given.or_else(|| default(at)));
        let mut bound: Vec<Argument> = bound.collect::<Option<_>>()?;
        bound.extend(self.rest.map(|none| {
            if rest.is_empty() {
                Argument::Default(none)
            } else {
                Argument::Rest(rest)
            }
        }));
        bound.extend(
            self.has_named_rest
                .then_some(Argument::NamedRest(named_rest)),
        );
        Some(bound)
    }

    /// The same parameters without defaults.
    pub fn without_defaults(&self) -> Parameters {
        let keywords = self.keywords.iter().map(|(name, _)| (name.clone(), None));
        Parameters {
            defaults: Vec::new(),
            keywords: keywords.collect(),
            ..self.clone()
        }
    }

    /// Returns true if it takes exactly this number of positional arguments.
    pub fn takes_just(&self, count: usize) -> bool {
        self.are_plain() && self.positional as usize == count
    }

    /// Returns true if each call gives every parameter one of its arguments, in order, or a
    /// default: there are no keyword-only parameters, `*args` or `**kwargs`.
    pub fn are_plain(&self) -> bool {
        self.keywords.is_empty() && self.rest.is_none() && !self.has_named_rest
    }

    /// The constants that calls may use as arguments.
    pub fn objects(&self) -> Vec<ObjectHandle> {
        let named = self.keywords.iter().filter_map(|(_, value)| *value);
        let defaults = self.defaults.iter().copied().chain(named);
        defaults.chain(self.rest).collect()
    }
}

/// The call of a known host function with a given number of arguments.
#[derive(Clone, PartialEq, Debug)]
pub enum NativeCall {
    /// A call that may have any effect.
    Any {
        /// `(thread, operands, imms...) -> object`, where `operands` is the address of the borrowed
        /// arguments, a method's object first. Returns a new reference, or null with an exception.
        /// It also runs pending work.
        call: IntrinsicCall,
        /// The required type of the first operand.
        first: Option<Type>,
        /// The type of the result.
        result: Type,
    },
    /// A number that is computed from the single argument without running user code.
    Number {
        /// Checks `(thread, imms...) -> ()` for that; each may fail.
        checks: Vec<IntrinsicCall>,
        /// `(object, imms...) -> raw`
        call: IntrinsicCall,
        /// The kind of the number.
        kind: RawKind,
    },
}

/// A result that the host computes from the operands of a call, without the call: no user code
/// runs, nothing raises, and the frame is not read. For example, `math.sin` of a float is a raw
/// function of a double.
#[derive(Clone, PartialEq, Debug)]
pub struct Computed {
    /// The types of the operands, a method's object first. Exact floats are passed as doubles, also
    /// where ints are taken too; exact ints as integers; all others as objects, borrowed. An
    /// operand whose type is that of a single object is not passed.
    pub params: Vec<Type>,
    /// `(operands..., imms...) -> result`: fails where the call must be made after all, for example
    /// because it raises.
    pub call: IntrinsicCall,
    /// The type of the result: `CInt64`, `CDouble` or `CBool` if it is raw; an object is a new
    /// reference.
    pub result: Type,
    /// True if the result depends on memory that a program can write, such as the items of a set.
    pub reads: bool,
}

/// Bytecode, of a type that this module does not know. It is always a `bytecode::Code`.
pub trait AnyCode: Any + Debug + Display + Send + Sync {}

impl<T: Any + Debug + Display + Send + Sync> AnyCode for T {}

/// A function's code, for inlining. Inlined calls need no frame unless they deoptimise.
#[derive(Clone, Debug)]
pub struct Inlinee {
    /// The bytecode with its hints: a `bytecode::Code`; any other type is ignored. Its objects live
    /// as long as the function is unchanged, which [`Callee::Function`] must assume.
    pub code: Arc<dyn AnyCode>,
    /// Checks `(thread, imms...) -> ()`, each of which may fail, made before the inlined code. They
    /// test the host's conditions for omitting frames, in particular that the recursion limit
    /// allows [`MOST_INLINED`] more. If one fails, the frame is created.
    pub checks: Vec<IntrinsicCall>,
    /// The cells in the function's closure, in the order of its code's free variables, as long as
    /// the function is unchanged. Without them, a function with free variables is called, not
    /// inlined.
    pub cells: Vec<ObjectHandle>,
    /// For an inlinee that was found by its code ([`Kin`]): `(function, imms..., number) -> cell`,
    /// which returns a cell of a function's closure, borrowed from the function.
    pub closure: Option<IntrinsicCall>,
}

/// The largest depth of nested inlined frames.
pub const MOST_INLINED: usize = 3;

/// The words that compiled code has for each local of a frame besides its slot, after the frame or
/// where the host keeps them. They hold a raw number, the flag that it is bound, and the fields of
/// a virtual object.
pub const LOCAL_WORDS: usize = 4;

impl Inlinee {
    /// The bytecode, if it is of this type.
    pub fn code_as<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let code: Arc<dyn Any + Send + Sync> = self.code.clone();
        code.downcast().ok()
    }
}

impl PartialEq for Inlinee {
    fn eq(&self, other: &Inlinee) -> bool {
        let same = || self.code.to_string() == other.code.to_string();
        (&self.checks, &self.cells, &self.closure) == (&other.checks, &other.cells, &other.closure)
            && (Arc::ptr_eq(&self.code, &other.code) || same())
    }
}

/// The value of a global.
#[derive(Clone, PartialEq, Debug)]
pub struct Global {
    /// The object.
    pub value: ObjectHandle,
    /// The facts to watch.
    pub assumptions: Vec<Assumption>,
}

impl Global {
    /// The value of a name as long as its namespace keeps it.
    pub fn named(namespace: u64, name: &str, value: ObjectHandle) -> Global {
        Global {
            value,
            assumptions: vec![Assumption::name(namespace, name)],
        }
    }
}

/// The form of an attribute access in compiled code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AccessKind {
    /// By a plan for a known object or class: the facts on which the plan relies are watched, or
    /// checked by the plan itself.
    Watched,
    /// By one plan, after a check of the class, or of the object.
    Guarded,
    /// By one of several plans, chosen by the class.
    Polymorphic,
    /// By the general operation, for which a cache had the place in objects of the class.
    Cached,
    /// By the general operation.
    General,
}

impl AccessKind {
    /// All kinds.
    pub const ALL: [AccessKind; 5] = [
        AccessKind::Watched,
        AccessKind::Guarded,
        AccessKind::Polymorphic,
        AccessKind::Cached,
        AccessKind::General,
    ];

    /// The name in statistics.
    pub fn name(self) -> &'static str {
        match self {
            AccessKind::Watched => "watched",
            AccessKind::Guarded => "guarded",
            AccessKind::Polymorphic => "polymorphic",
            AccessKind::Cached => "cached",
            AccessKind::General => "general",
        }
    }
}

/// The effect of a plan's intrinsic on an instance that compiled code has created and no other code
/// has seen. The compiler can then do without the object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InstanceAccess {
    /// Allocates it, without attributes; the host can also materialise it at an exit, by the class
    /// with this token. Its deallocation only drops the values of its attributes, in the order of
    /// their places.
    New(u64),
    /// Loads the attribute at a place; fails if there is none.
    Load(u32),
    /// Replaces the attribute at a place.
    Store(u32),
    /// A check that passes.
    Holds,
    /// A check that passes if there is no attribute at a place.
    Lacks(u32),
    /// A check that passes if there is no attribute at the place or at a higher one.
    LacksFrom(u32),
    /// A check that passes if dropping the attribute at a place, if there is one, has no observable
    /// side effects.
    Quiet(u32),
}

/// The effect of a plan's intrinsic on words that a store of a plan may change. Words of one object
/// at different places are different.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FieldAccess {
    /// Reads nothing that a store of a plan writes.
    Apart,
    /// Reads the word at a place of its object, and nothing else that a store of a plan writes.
    Reads(u32),
    /// Stores its second operand at a place of its first, and returns the old value.
    Writes {
        /// The place.
        place: u32,
        /// The intrinsic that loads it, as long as the place is unchanged.
        load: IntrinsicCall,
    },
}

/// The program's state during one compile, as the host answers queries about it. By default a query
/// has no answer, and the compiler uses the general operation or the general call.
///
/// ```
/// use cladonia::host::{Global, World};
/// use cladonia::types::{ClassDesc, HostId, ObjectDesc, ObjectHandle, Predefined};
/// use std::collections::HashMap;
///
/// /// Knows the values of the globals of its one module.
/// struct Program(HashMap<String, ObjectHandle>);
///
/// impl World for Program {
///     fn global(&self, namespace: u64, name: &str) -> Option<Global> {
///         let value = self.0.get(name)?;
///         // It holds until the program stores another value: then the host notifies the engine
///         // (`Engine::changed`).
///         Some(Global::named(namespace, name, *value))
///     }
/// }
///
/// # fn main() -> Result<(), cladonia::types::HandleError> {
/// let host = HostId::new();
/// let object = host.register_class(ClassDesc::builtin(Predefined::Object, Vec::new()))?;
/// let limit = host.register_object(ObjectDesc::new("limit", object))?;
/// let program = Program(HashMap::from([("limit".to_owned(), limit)]));
/// assert_eq!(program.global(0, "limit").map(|global| global.value), Some(limit));
/// assert!(program.global(0, "other").is_none());
/// # Ok(())
/// # }
/// ```
pub trait World {
    /// The value of global (or builtin) `name` in the namespace with this token, if the compiler
    /// may rely on it. (A code object has
    /// the token of its globals.)
    fn global(&self, namespace: u64, name: &str) -> Option<Global> {
        let _ = (namespace, name);
        None
    }
    /// The intrinsic that loads global `name` of that namespace, borrowed, if the compiler may not
    /// rely on the value: `(imms...) -> value`, which fails if the name is unbound.
    fn global_get(&self, namespace: u64, name: &str) -> Option<IntrinsicCall> {
        let _ = (namespace, name);
        None
    }
    /// The load of attribute `name` of an object of type `receiver` (one exact class, or one
    /// object).
    fn load_attr(&self, receiver: Type, name: &str) -> AttrPlan {
        let _ = (receiver, name);
        AttrPlan::General
    }
    /// The store to attribute `name` of an object of type `receiver` (one exact class).
    fn store_attr(&self, receiver: Type, name: &str) -> StorePlan {
        let _ = (receiver, name);
        StorePlan::General
    }
    /// The load of attribute `name` of `super(class, instance)`, with the builtin `super`, where
    /// the instance is of type `receiver` (one exact class): a constant or a getter.
    fn load_super(&self, class: ObjectHandle, receiver: Type, name: &str) -> AttrPlan {
        let _ = (class, receiver, name);
        AttrPlan::General
    }
    /// The layout of the raw items of an object of type `receiver` (one exact class); `way` is the
    /// host's note about it (`bytecode::Instr::items`).
    fn raw_items(&self, receiver: Type, way: u64) -> Option<RawItems> {
        let _ = (receiver, way);
        None
    }
    /// Returns true if a plan's check reads nothing of its object, so that it may be applied to an
    /// object of any class.
    fn is_of_class(&self, check: IntrinsicId) -> bool {
        let _ = check;
        false
    }
    /// The check that replaces two checks that read nothing of their object. If it is one of the
    /// two, that one implies the other.
    fn check_of_both(&self, a: &IntrinsicCall, b: &IntrinsicCall) -> Option<IntrinsicCall> {
        let _ = (a, b);
        None
    }
    /// The effect of a plan's intrinsic on an instance of a type (one exact class) that no other
    /// code has seen. None if the intrinsic needs the actual object.
    fn instance_access(&self, instance: Type, call: &IntrinsicCall) -> Option<InstanceAccess> {
        let _ = (instance, call);
        None
    }
    /// The word of an object, of any class, that a plan's intrinsic reads or writes. None if any
    /// store of a plan may change its result, and if it may change the result of any check or load.
    fn field_access(&self, call: &IntrinsicCall) -> Option<FieldAccess> {
        let _ = call;
        None
    }
    /// The replacement of a store for an instance that no other code has seen. Attributes have been
    /// stored at the places `stored` so far, in this order, and none at the store's place. The
    /// replacement returns null and does not fail.
    fn first_store(
        &self,
        instance: Type,
        store: &IntrinsicCall,
        stored: &[u32],
    ) -> Option<IntrinsicCall> {
        let _ = (instance, store, stored);
        None
    }
    /// The address of a 64-bit word that compiled code increments at each plan's access of this
    /// kind, if the host counts them. (General operations belong to the host, which counts them
    /// itself.)
    fn access_counter(&self, kind: AccessKind) -> Option<u64> {
        let _ = kind;
        None
    }
    /// The implementation of an operator for operands of these types (each one exact class).
    fn operator(&self, operator: Operator, operands: &[Type]) -> OperatorPlan {
        let _ = (operator, operands);
        OperatorPlan::General
    }
    /// The effect of calling `callee`. If `callee` is a code object: the effect of calling a
    /// function of this code in the namespace of the compiled code, if that code keeps it alive
    /// ([`Kin`]).
    fn callee(&self, callee: ObjectHandle) -> Callee {
        let _ = callee;
        Callee::Unknown
    }
    /// The call of `callee`, which is not a user function, with `given` arguments (a method's
    /// object included).
    fn native_call(&self, callee: ObjectHandle, given: u32) -> Option<NativeCall> {
        let _ = (callee, given);
        None
    }
    /// The ways to compute the result of a call of `callee` with these operands (a method's object
    /// first) without the call: the first one that fits them is taken. Of an operand that is one
    /// known object the type names it; all others have the type of any object.
    fn computed(&self, callee: ObjectHandle, operands: &[Type]) -> Vec<Computed> {
        let _ = (callee, operands);
        Vec::new()
    }
    /// The code of a function, for inlining. A host that returns it creates the frames when an exit
    /// is taken in it (`exits::ExitRecord::inlined`). By default nothing is inlined.
    fn inlinee(&self, callee: ObjectHandle) -> Option<Inlinee> {
        let _ = callee;
        None
    }
    /// The items of a known object, if it is an exact tuple.
    fn tuple_items(&self, object: ObjectHandle) -> Option<Vec<ObjectHandle>> {
        let _ = object;
        None
    }
    /// The value of a known object.
    fn value(&self, object: ObjectHandle) -> ConstValue {
        let _ = object;
        ConstValue::Other
    }
    /// Returns true if some query had no answer only because the host has not received that answer
    /// yet. Results that depend on the answers should then be recomputed later. False by default.
    fn lacks_answers(&self) -> bool {
        false
    }
    /// Starts to notify the engine when `assumption` ceases to hold. Returns false if the host
    /// cannot do that; then code that relies on it must not be installed. The default is for hosts
    /// that report every change.
    fn watch(&self, assumption: &Assumption) -> bool {
        let _ = assumption;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Argument::{Given, Loaded, NamedRest};
    use super::{IntrinsicCall, IntrinsicId, Kin, Parameters};
    use cranelift_entity::EntityRef;

    /// `def f(a, b, *, k)`.
    fn three() -> Parameters {
        Parameters {
            names: vec!["a".to_owned(), "b".to_owned()],
            keywords: vec![("k".to_owned(), None)],
            ..Parameters::positional(2)
        }
    }

    #[test]
    fn keyword_arguments_are_matched_with_parameters() {
        let f = three();
        let (first, second, third) = (Given(0), Given(1), Given(2));
        let in_order = Some(vec![first.clone(), second.clone(), third.clone()]);
        assert_eq!(f.bind(3, &["k"]), in_order);
        assert_eq!(f.bind(3, &["b", "k"]), in_order);
        assert_eq!(
            f.bind(3, &["k", "b", "a"]),
            Some(vec![third, second, first])
        );
    }

    #[test]
    fn a_call_that_raises_is_not_bound() {
        let f = three();
        for (given, names) in [
            (2, &[][..]),
            (3, &[]),
            (2, &["k"]),
            (3, &["a", "k"]),
            (4, &["b", "b", "k"]),
            (3, &["c", "k"]),
            (4, &["k"]),
            (0, &["k"]),
        ] {
            assert_eq!(f.bind(given, names), None, "{given} {names:?}");
        }
        assert_eq!(Parameters::positional(1).bind(1, &["a"]), None);
    }

    #[test]
    fn functions_of_a_code_are_asked_for_their_defaults() {
        let load = |id, imms: &[i64]| IntrinsicCall {
            id: IntrinsicId::new(id),
            imms: imms.to_vec(),
        };
        let kin = Kin {
            check: load(0, &[]),
            test: None,
            code: None,
            default: Some(load(1, &[])),
            keywords: vec![load(2, &[8])],
        };
        let f = three();
        let default = |from_end| Loaded(load(1, &[from_end]));
        let named = Loaded(load(2, &[8]));
        assert_eq!(
            f.bind_kin(0, &[], &kin),
            Some(vec![default(2), default(1), named.clone()])
        );
        assert_eq!(
            f.bind_kin(1, &["b"], &kin),
            Some(vec![default(2), Given(0), named])
        );
        assert_eq!(f.bind_kin(3, &[], &kin), None);
        let without = Kin {
            default: None,
            keywords: Vec::new(),
            ..kin
        };
        assert_eq!(f.bind_kin(2, &[], &without), None);
        assert_eq!(f.bind_kin(1, &["k"], &without), None);
    }

    #[test]
    fn keywords_with_names_of_positional_only_parameters_are_collected() {
        let f = Parameters {
            positional_only: 1,
            has_named_rest: true,
            ..three()
        };
        let bound = f.bind(5, &["k", "a", "c"]);
        let collected = NamedRest(vec![3, 4]);
        assert_eq!(bound, Some(vec![Given(0), Given(1), Given(2), collected]));
        assert_eq!(f.bind(3, &["a", "b", "k"]), None);
        let none = NamedRest(Vec::new());
        assert_eq!(
            f.bind(3, &["k"]),
            Some(vec![Given(0), Given(1), Given(2), none])
        );
    }
}
