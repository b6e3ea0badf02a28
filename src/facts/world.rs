//! Facts about the program's world, as data: what a global is, how an attribute is reached, what a callee does. The host
//! answers them for one compile through [`World`]; plans name the host's intrinsics by number, so that nothing here
//! knows what is inside.

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

/// A use of an intrinsic with constant operands after the object's (and the value's, for stores).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct IntrinsicCall {
    /// The intrinsic.
    pub id: IntrinsicId,
    /// Constants that follow the others: addresses where the intrinsic takes a `ptr`, else integers. What is another number in each process
    /// is to be taken as an address, so that code can be kept for another process.
    pub imms: Vec<i64>,
}

/// How an attribute of an object of a known class is reached, once the class is checked.
#[derive(Clone, PartialEq, Debug)]
pub enum AttrPlan {
    /// Not known: the general operation.
    General,
    /// A field: `guards` on the object, then `load` gives the value (borrowed; it fails where the attribute is
    /// missing).
    Field {
        /// Checks `(object, imms...) -> ()`, each of which may fail.
        guards: Vec<IntrinsicCall>,
        /// `(object, imms...) -> ptr`, borrowed, may fail.
        load: IntrinsicCall,
        /// What must be watched.
        assumptions: Vec<Assumption>,
    },
    /// A constant of the class (or the object itself is a constant: a module or a class).
    Constant {
        /// Checks on the object that it has nothing of its own by this name.
        guards: Vec<IntrinsicCall>,
        /// The value.
        value: ObjectHandle,
        /// What it binds.
        binds: Binds,
        /// What must be watched.
        assumptions: Vec<Assumption>,
    },
    /// What a function gives that is called with the object alone (a property).
    Getter {
        /// The function.
        function: ObjectHandle,
        /// What must be watched, besides what [`World::callee`] says of the function.
        assumptions: Vec<Assumption>,
    },
}

/// What a constant attribute is called with before the arguments of the call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binds {
    /// Nothing: it is what it is.
    Nothing,
    /// The object that was asked: a method.
    Receiver,
    /// Another object: the class of the one that was asked, if the attribute is a class method.
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
    /// A field that every object of the class has, and that relies on nothing.
    pub fn field(load: IntrinsicCall) -> AttrPlan {
        AttrPlan::Field {
            guards: Vec::new(),
            load,
            assumptions: Vec::new(),
        }
    }
}

/// How an attribute of an object of a known class is stored.
#[derive(Clone, PartialEq, Debug)]
pub enum StorePlan {
    /// Not known: the general operation.
    General,
    /// A field: `guards`, then `store` takes over the reference and gives the old value (or null); it may fail
    /// before it has done anything.
    Field {
        /// Checks `(object, imms...) -> ()`.
        guards: Vec<IntrinsicCall>,
        /// `(object, value, imms...) -> ptr`. It writes into nothing that is a list or a cell.
        store: IntrinsicCall,
        /// A check `(object, imms...) -> ()`, if there is one, that fails unless the store would give null, or an object
        /// that its one reference can be dropped of without anybody noticing, the program's code included.
        quiet: Option<IntrinsicCall>,
        /// What must be watched.
        assumptions: Vec<Assumption>,
    },
}

/// How the items of an object are read and written that are raw values in memory of its own: numbers of one size, as in
/// `array.array` and `bytes`.
#[derive(Clone, PartialEq, Debug)]
pub struct RawItems {
    /// What the items are.
    pub kind: RawKind,
    /// Checks `(object, imms...) -> ()` that the items are such, each of which may fail.
    pub guards: Vec<IntrinsicCall>,
    /// `(object, imms...) -> i64`: how many there are.
    pub len: IntrinsicCall,
    /// `(object, offset, imms...) -> i64` or `f64`: the item at an offset in range.
    pub get: IntrinsicCall,
    /// `(object, offset, raw, imms...) -> ()`: replace it; fails, before anything is done, if the value does not fit. None if
    /// items are never replaced.
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
    /// `a[b] = v`, by the class of `a`; what the method gives is dropped.
    StoreItem,
    /// Whether an object is true.
    Truth,
    /// `-a`
    Negative,
    /// `~a`
    Invert,
}

/// What an operator does for operands of known classes, once these are checked.
#[derive(Clone, PartialEq, Debug)]
pub enum OperatorPlan {
    /// Not known: the general operation.
    General,
    /// What a function gives that is called with the operands.
    Method {
        /// The function.
        function: ObjectHandle,
        /// Whether it is the right operand's, and is called with that first.
        swapped: bool,
        /// What the function gives if it does not know such operands: the general operation `OperatorRest` goes on from there.
        declined: Option<ObjectHandle>,
        /// What must be watched, besides what [`World::callee`] says of the function.
        assumptions: Vec<Assumption>,
    },
    /// Of a comparison for equality or inequality: whether the operands are one object.
    Identity {
        /// What must be watched.
        assumptions: Vec<Assumption>,
    },
    /// Of truth: always true.
    True {
        /// What must be watched.
        assumptions: Vec<Assumption>,
    },
}

macro_rules! builtins {
    ($($(#[$doc:meta])* $builtin:ident = $name:literal;)*) => {
        /// A builtin whose meaning the compiler knows.
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
    /// `min` of two
    Min = "min";
    /// `max` of two
    Max = "max";
    /// `int` (the class)
    Int = "int";
    /// `float` (the class)
    Float = "float";
    /// `bool` (the class)
    Bool = "bool";
    /// `isinstance`
    IsInstance = "isinstance";
    /// `math.sqrt`
    Sqrt = "sqrt";
    /// `list.append` (the method descriptor)
    ListAppend = "list_append";
    /// `chr`
    Chr = "chr";
    /// `ord`
    Ord = "ord";
    /// `super` (the class)
    Super = "super";
    /// `type` (the class)
    Type = "type";
}

/// What a known object does when it is called.
#[derive(Clone, PartialEq, Debug)]
pub enum Callee {
    /// Not known: the general call.
    Unknown,
    /// A function of the program that can be entered directly.
    Function {
        /// What it is called with. Its native entry takes one object for each: those that may be given by position, those that must be
        /// named, the tuple of further arguments, the dict of further named ones.
        params: Parameters,
        /// Address of a cell with the address of the function's native entry, or of a stub with the same calling
        /// convention that runs it in the interpreter.
        entry_cell: u64,
        /// Where it can be called with raw values, if it has a closed unit.
        raw: Option<RawEntry>,
        /// For code that makes functions again and again: how another one of the same code in the same namespace is known. A host has
        /// it where the unit that is compiled keeps that code alive.
        kin: Option<Kin>,
        /// What must be watched.
        assumptions: Vec<Assumption>,
    },
    /// A class of the program whose instances are made by calling it.
    Class {
        /// The class.
        class: ClassHandle,
        /// `(imms...) -> object`: a new instance as its `__init__` is given it, owned; fails where there is no memory. It
        /// runs no code of the program.
        make: IntrinsicCall,
        /// The class's `__init__`, a function of the program; without one, nothing may be given.
        init: Option<ObjectHandle>,
        /// What must be watched.
        assumptions: Vec<Assumption>,
    },
    /// A builtin.
    Builtin(Builtin),
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

/// How functions of one code in one namespace are known: they have the same entry and parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Kin {
    /// `(function, imms...) -> ()` check of an exact function, which fails unless it is one of them.
    pub check: IntrinsicCall,
    /// The code, for [`World::inlinee`], if that is a constant of the code that is compiled.
    pub code: Option<ObjectHandle>,
}

/// The parameters of a function of the program, with what stands for the arguments that a call leaves out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parameters {
    /// How many may be given by position.
    pub positional: u32,
    /// How many of these, the first ones, may not be named.
    pub positional_only: u32,
    /// The names of those that may be given by position; none if the host does not tell: then none of them can be named.
    pub names: Vec<String>,
    /// Values for the last of those that may be given by position, as constants.
    pub defaults: Vec<ObjectHandle>,
    /// Those that must be named, with their values where a call leaves them out, as constants.
    pub keywords: Vec<(String, Option<ObjectHandle>)>,
    /// If there is one for further arguments (`*args`): what it is given if there are none, the empty tuple.
    pub rest: Option<ObjectHandle>,
    /// Whether there is one for further named arguments, a dict (`**kwargs`).
    pub has_named_rest: bool,
}

/// What a parameter is given by a call, whose arguments are numbered, the named ones last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// An argument.
    Given(usize),
    /// What stands for one that was left out.
    Default(ObjectHandle),
    /// A tuple of these arguments, one at least.
    Rest(Range<usize>),
    /// A dict of these arguments, which are named.
    NamedRest(Vec<usize>),
}

impl Parameters {
    /// So many that may be given by position, without defaults.
    pub fn positional(count: u32) -> Parameters {
        Parameters {
            positional: count,
            ..Parameters::default()
        }
    }

    /// What each parameter is given by a call with so many arguments, the last of which have these names; none if it raises. As in
    /// `def f(a, b=1, *rest, k=2)`, where `f(5, 6, 7, k=8)` gives `[Given(0), Given(1), Given(3), Rest(2..3)]`.
    pub fn bind(&self, given: usize, names: &[&str]) -> Option<Vec<Argument>> {
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
        // The last ones have defaults.
        let first_default = positional.checked_sub(self.defaults.len())?;
        let defaults = (first_default..).zip(self.defaults.iter().map(|value| Some(*value)));
        let keywords = (positional..).zip(self.keywords.iter().map(|(_, value)| *value));
        for (at, value) in defaults.chain(keywords) {
            let place = &mut bound[at];
            *place = place.take().or(value.map(Argument::Default));
        }
        let mut bound: Vec<Argument> = bound.into_iter().collect::<Option<_>>()?;
        bound.extend(self.rest.map(|none| match rest.is_empty() {
            true => Argument::Default(none),
            false => Argument::Rest(rest),
        }));
        bound.extend(
            self.has_named_rest
                .then_some(Argument::NamedRest(named_rest)),
        );
        Some(bound)
    }

    /// The same where nothing stands for an argument that is left out.
    pub fn without_defaults(&self) -> Parameters {
        let keywords = self.keywords.iter().map(|(name, _)| (name.clone(), None));
        Parameters {
            defaults: Vec::new(),
            keywords: keywords.collect(),
            ..self.clone()
        }
    }

    /// Whether it is called with so many arguments by position, none more and none less.
    pub fn takes_just(&self, count: usize) -> bool {
        self.are_plain() && self.positional as usize == count
    }

    /// Whether each call gives every parameter one of its arguments, in their order, or a default: nothing is collected or named.
    pub fn are_plain(&self) -> bool {
        self.keywords.is_empty() && self.rest.is_none() && !self.has_named_rest
    }

    /// The constants that stand for arguments.
    pub fn objects(&self) -> Vec<ObjectHandle> {
        let named = self.keywords.iter().filter_map(|(_, value)| *value);
        let defaults = self.defaults.iter().copied().chain(named);
        defaults.chain(self.rest).collect()
    }
}

/// How a known function of the host's is called with so many arguments.
#[derive(Clone, PartialEq, Debug)]
pub enum NativeCall {
    /// A call that may do anything.
    Any {
        /// `(thread, operands, imms...) -> object`, where `operands` is the address of the arguments, a method's object first,
        /// which are borrowed: a new reference, or null with an exception. Work that is pending by then is done.
        call: IntrinsicCall,
        /// What the first operand must be.
        first: Option<Type>,
        /// What it gives.
        result: Type,
    },
    /// A number that is found of the one argument without running any code of the program.
    Number {
        /// Checks `(thread, imms...) -> ()` that it is so, each of which may fail.
        checks: Vec<IntrinsicCall>,
        /// `(object, imms...) -> raw`
        call: IntrinsicCall,
        /// What the number is.
        kind: RawKind,
    },
}

/// Bytecode as it passes through this room, which does not know it: `bytecode::Code` is all that is ever meant.
pub trait AnyCode: Any + Debug + Display + Send + Sync {}

impl<T: Any + Debug + Display + Send + Sync> AnyCode for T {}

/// A function's code, offered so that calls of it need no frame as long as nothing leaves.
#[derive(Clone, Debug)]
pub struct Inlinee {
    /// The bytecode with its hints: a `bytecode::Code`, or it is not used. Its objects live as long as the function is
    /// unchanged, which [`Callee::Function`] must assume.
    pub code: Arc<dyn AnyCode>,
    /// Checks `(thread, imms...) -> ()`, each of which may fail, made before the call's code: whatever the host wants to
    /// hold where it makes no frames, in particular that there is room for [`MOST_INLINED`] more. Where one fails, the
    /// frame is made.
    pub checks: Vec<IntrinsicCall>,
    /// The cells that the function's closure holds, in the order of its code's free variables, as long as the function is
    /// unchanged. A host that gives none has code with free variables called.
    pub cells: Vec<ObjectHandle>,
    /// Instead, where it is the code that was asked for ([`Kin`]): `(function, imms..., number) -> cell`, the cell of this number in a
    /// function's closure, borrowed from the function.
    pub closure: Option<IntrinsicCall>,
}

/// So many frames that are not made stand in each other at most.
pub const MOST_INLINED: usize = 3;

/// Words that compiled code has for each local of a frame besides its slot, behind the frame or where the host keeps them: for a number that
/// is raw, whether it is bound, and what an object holds that is not made.
pub const LOCAL_WORDS: usize = 4;

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
    /// What must be watched.
    pub assumptions: Vec<Assumption>,
}

impl Global {
    /// What a name stands for as long as its namespace holds that.
    pub fn named(namespace: u64, name: &str, value: ObjectHandle) -> Global {
        Global {
            value,
            assumptions: vec![Assumption::name(namespace, name)],
        }
    }
}

/// How compiled code makes an attribute access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AccessKind {
    /// By a plan for an object or a class that is known: what the plan relies on is watched, or checked by the plan itself.
    Watched,
    /// By one plan, after a check of the class, or of the object.
    Guarded,
    /// By one of several plans, for the class that is there.
    Polymorphic,
    /// By the general operation, for which a cache had the place in objects of the class.
    Cached,
    /// By the general operation.
    General,
}

impl AccessKind {
    /// All of them.
    pub const ALL: [AccessKind; 5] = [
        AccessKind::Watched,
        AccessKind::Guarded,
        AccessKind::Polymorphic,
        AccessKind::Cached,
        AccessKind::General,
    ];

    /// What it is called in statistics.
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

/// What an intrinsic of a plan does with an instance that compiled code has made and nobody else has seen: such an object
/// need not be there for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InstanceAccess {
    /// Makes it, without attributes; the host can make it as well where an exit is taken, of the class with this token. Its end
    /// runs no code but what its attributes' values do, which it drops in the order of their places.
    New(u64),
    /// Gives the attribute at a place; fails if there is none.
    Load(u32),
    /// Replaces it.
    Store(u32),
    /// A check that holds.
    Holds,
    /// A check that holds if there is no attribute at a place.
    Lacks(u32),
    /// A check that holds if there is none at the place nor at a higher one.
    LacksFrom(u32),
    /// A check that holds if the attribute at a place, if there is one, can be dropped without anybody noticing.
    Quiet(u32),
}

/// What an intrinsic of a plan reads or writes of what a store of a plan may change. Places tell words of objects apart: those of
/// one object at different places are different.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FieldAccess {
    /// Reads nothing that such a store writes.
    Apart,
    /// Reads, of its object, what stands at a place, and nothing else that such a store writes.
    Reads(u32),
    /// Stores its second operand at a place of its first, and gives what stood there.
    Writes {
        /// The place.
        place: u32,
        /// What loads it from there, for as long as nobody has changed it.
        load: IntrinsicCall,
    },
}

/// The program's state as one compile sees it. What a host does not answer is not known: the general operation, the
/// general call.
pub trait World {
    /// The value of global (or builtin) `name` in the namespace of this token ([`crate::facts`] knows no codes: it is what
    /// the code says of itself), if it may be relied on.
    fn global(&self, namespace: u64, name: &str) -> Option<Global> {
        let _ = (namespace, name);
        None
    }
    /// What gives the value of global `name` in that namespace, borrowed, where it may not be relied on: `(imms...) -> value`, which
    /// fails if the namespace has none by then.
    fn global_get(&self, namespace: u64, name: &str) -> Option<IntrinsicCall> {
        let _ = (namespace, name);
        None
    }
    /// How to load attribute `name` of an object of type `receiver` (one exact class, or one object).
    fn load_attr(&self, receiver: Type, name: &str) -> AttrPlan {
        let _ = (receiver, name);
        AttrPlan::General
    }
    /// How to store attribute `name` of an object of type `receiver` (one exact class).
    fn store_attr(&self, receiver: Type, name: &str) -> StorePlan {
        let _ = (receiver, name);
        StorePlan::General
    }
    /// How to load attribute `name` of `super(class, instance)`, the builtin's, where the instance is of type `receiver` (one
    /// exact class): a constant or a getter.
    fn load_super(&self, class: ObjectHandle, receiver: Type, name: &str) -> AttrPlan {
        let _ = (class, receiver, name);
        AttrPlan::General
    }
    /// How the raw items of an object of type `receiver` (one exact class) lie, of which the host has noted `way`
    /// (`bytecode::Instr::items`).
    fn raw_items(&self, receiver: Type, way: u64) -> Option<RawItems> {
        let _ = (receiver, way);
        None
    }
    /// Whether a check of a plan reads nothing of the object that it is made of, so that it may be made of one of any class.
    fn is_of_class(&self, check: IntrinsicId) -> bool {
        let _ = check;
        false
    }
    /// One check in place of two that read nothing of their object. If that is one of the two, it implies the other.
    fn check_of_both(&self, a: &IntrinsicCall, b: &IntrinsicCall) -> Option<IntrinsicCall> {
        let _ = (a, b);
        None
    }
    /// What an intrinsic of a plan does with an instance of a type (one exact class) that nobody else has seen; nothing if such
    /// an object must be there for it.
    fn instance_access(&self, instance: Type, call: &IntrinsicCall) -> Option<InstanceAccess> {
        let _ = (instance, call);
        None
    }
    /// What an intrinsic of a plan reads or writes of an object, of whatever class; nothing if any store of a plan may change what it
    /// finds, and it may change what any check or load finds.
    fn field_access(&self, call: &IntrinsicCall) -> Option<FieldAccess> {
        let _ = call;
        None
    }
    /// The same store for an instance that has had attributes put at these places so far, in this order, and nobody else has seen:
    /// none at the store's place. It gives null and does not fail.
    fn first_store(
        &self,
        instance: Type,
        store: &IntrinsicCall,
        stored: &[u32],
    ) -> Option<IntrinsicCall> {
        let _ = (instance, store, stored);
        None
    }
    /// Address of a 64-bit word that compiled code adds one to at each access that a plan makes in this way, where the host wants
    /// them counted. (General operations are the host's own, which count for themselves.)
    fn access_counter(&self, kind: AccessKind) -> Option<u64> {
        let _ = kind;
        None
    }
    /// What an operator does for operands of these types (each one exact class).
    fn operator(&self, operator: Operator, operands: &[Type]) -> OperatorPlan {
        let _ = (operator, operands);
        OperatorPlan::General
    }
    /// What calling `callee` does. Of a code: what calling a function does that was made of it in the namespace of the code that is
    /// compiled, if that keeps it ([`Kin`]).
    fn callee(&self, callee: ObjectHandle) -> Callee {
        let _ = callee;
        Callee::Unknown
    }
    /// How to call `callee`, which is no function of the program, with so many arguments (a method's object included).
    fn native_call(&self, callee: ObjectHandle, given: u32) -> Option<NativeCall> {
        let _ = (callee, given);
        None
    }
    /// The code of a function, to be put in place of calls; a host that gives it makes the frames when an exit is taken
    /// there (`exits::ExitRecord::inlined`). The default is for hosts that don't.
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
    /// Whether it has said that something is not known only because it has not been told yet. What follows from its answers is then to be
    /// found again once it has. No by default.
    fn lacks_answers(&self) -> bool {
        false
    }
    /// Begin to tell the engine when `assumption` ceases to hold; false if that can't be told, and so nothing that
    /// relies on it may be installed. The default is for hosts that tell of every change.
    fn watch(&self, assumption: &Assumption) -> bool {
        let _ = assumption;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Argument::{Given, NamedRest};
    use super::Parameters;

    /// `def f(a, b, *, k)`.
    fn three() -> Parameters {
        Parameters {
            names: vec!["a".to_owned(), "b".to_owned()],
            keywords: vec![("k".to_owned(), None)],
            ..Parameters::positional(2)
        }
    }

    #[test]
    fn arguments_go_to_the_parameters_of_their_names() {
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
    fn what_may_not_be_named_is_collected_under_its_name() {
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
