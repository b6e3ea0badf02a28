//! The answers of a [`World`] as data: the answers that a compile received, kept or written to a
//! file, so that the compile can be repeated without the host. A query without an answer here has
//! no answer.

use super::{
    AccessKind, Assumption, AttrPlan, Callee, Computed, FieldAccess, Forwarding, Global, Inlinee,
    InstanceAccess, IntrinsicCall, IntrinsicId, NativeCall, Operator, OperatorPlan, RawItems,
    StorePlan, World,
};
use crate::types::{ConstValue, ObjectHandle, Type};
use std::cell::RefCell;
use std::collections::HashMap;

/// A query about the program, with its answer.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// The value of a global of a namespace.
    Global(u64, String, Global),
    /// The load of a namespace's global whose value is not relied on.
    GlobalGet(u64, String, IntrinsicCall),
    /// The load of an attribute of a receiver.
    LoadAttr(Type, String, AttrPlan),
    /// The load of an attribute of `super` of a class, for a receiver.
    LoadSuper(ObjectHandle, Type, String, AttrPlan),
    /// The store of an attribute of a receiver.
    StoreAttr(Type, String, StorePlan),
    /// The layout of the raw items of an object of a class.
    RawItems(Type, u64, RawItems),
    /// A check reads nothing of its object.
    OfClass(IntrinsicId),
    /// The check that replaces two.
    Both(IntrinsicCall, IntrinsicCall, IntrinsicCall),
    /// The effect of an intrinsic on an instance that only compiled code has seen.
    Instance(Type, IntrinsicCall, InstanceAccess),
    /// The replacement of a store to an instance that so far has attributes at these places.
    FirstStore(Type, IntrinsicCall, Vec<u32>, IntrinsicCall),
    /// The word of an object that an intrinsic reads or writes.
    Field(IntrinsicCall, FieldAccess),
    /// The implementation of an operator for operands.
    Operator(Operator, Vec<Type>, OperatorPlan),
    /// The effect of a call.
    Callee(ObjectHandle, Callee),
    /// The call of a host function with this number of arguments.
    NativeCall(ObjectHandle, u32, NativeCall),
    /// The ways to compute the result of a call with these operands, at least one.
    Computed(ObjectHandle, Vec<Type>, Vec<Computed>),
    /// The code of a function.
    Inlinee(ObjectHandle, Inlinee),
    /// The items of a tuple.
    Tuple(ObjectHandle, Vec<ObjectHandle>),
    /// The value of an object.
    Value(ObjectHandle, ConstValue),
}

/// A query, as the key of its answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Question {
    /// [`World::global`]: namespace, name.
    Global(u64, String),
    /// [`World::global_get`]: namespace, name.
    GlobalGet(u64, String),
    /// [`World::load_attr`]: receiver, name.
    LoadAttr(Type, String),
    /// [`World::load_super`]: class, receiver, name.
    LoadSuper(ObjectHandle, Type, String),
    /// [`World::store_attr`]: receiver, name.
    StoreAttr(Type, String),
    /// [`World::raw_items`]: receiver, layout.
    RawItems(Type, u64),
    /// [`World::is_of_class`]
    OfClass(IntrinsicId),
    /// [`World::check_of_both`]
    Both(IntrinsicCall, IntrinsicCall),
    /// [`World::instance_access`]: type, intrinsic.
    Instance(Type, IntrinsicCall),
    /// [`World::first_store`]: type, intrinsic, places that are filled.
    FirstStore(Type, IntrinsicCall, Vec<u32>),
    /// [`World::field_access`]: intrinsic.
    Field(IntrinsicCall),
    /// [`World::operator`]: operator, operands.
    Operator(Operator, Vec<Type>),
    /// [`World::callee`]
    Callee(ObjectHandle),
    /// [`World::native_call`]: callee, number of arguments.
    NativeCall(ObjectHandle, u32),
    /// [`World::computed`]: callee, operands.
    Computed(ObjectHandle, Vec<Type>),
    /// [`World::inlinee`]
    Inlinee(ObjectHandle),
    /// [`World::tuple_items`]
    Tuple(ObjectHandle),
    /// [`World::value`]
    Value(ObjectHandle),
}

impl Question {
    /// The answer of a `World`. None if it has none.
    pub fn ask(&self, world: &dyn World) -> Option<Answer> {
        let recorder = Recorder::new(world);
        match self {
            Question::Global(namespace, name) => drop(recorder.global(*namespace, name)),
            Question::GlobalGet(namespace, name) => {
                drop(recorder.global_get(*namespace, name));
            }
            Question::LoadAttr(receiver, name) => drop(recorder.load_attr(*receiver, name)),
            Question::LoadSuper(class, receiver, name) => {
                drop(recorder.load_super(*class, *receiver, name));
            }
            Question::StoreAttr(receiver, name) => drop(recorder.store_attr(*receiver, name)),
            Question::RawItems(receiver, way) => drop(recorder.raw_items(*receiver, *way)),
            Question::OfClass(check) => {
                recorder.is_of_class(*check);
            }
            Question::Instance(ty, call) => {
                recorder.instance_access(*ty, call);
            }
            Question::Both(a, b) => drop(recorder.check_of_both(a, b)),
            Question::FirstStore(ty, store, stored) => {
                drop(recorder.first_store(*ty, store, stored));
            }
            Question::Field(call) => drop(recorder.field_access(call)),
            Question::Operator(operator, operands) => {
                drop(recorder.operator(*operator, operands));
            }
            Question::Callee(object) => drop(recorder.callee(*object)),
            Question::NativeCall(object, given) => drop(recorder.native_call(*object, *given)),
            Question::Computed(object, operands) => drop(recorder.computed(*object, operands)),
            Question::Inlinee(object) => drop(recorder.inlinee(*object)),
            Question::Tuple(object) => drop(recorder.tuple_items(*object)),
            Question::Value(object) => drop(recorder.value(*object)),
        }
        recorder.seen.into_inner().answers.pop()
    }

    /// The types in the query.
    pub fn subjects(&self) -> Vec<Type> {
        match self {
            Question::Global(..)
            | Question::GlobalGet(..)
            | Question::OfClass(_)
            | Question::Both(..)
            | Question::Field(_) => Vec::new(),
            Question::LoadAttr(receiver, _)
            | Question::LoadSuper(_, receiver, _)
            | Question::StoreAttr(receiver, _)
            | Question::Instance(receiver, _)
            | Question::FirstStore(receiver, ..)
            | Question::RawItems(receiver, _) => vec![*receiver],
            Question::Operator(_, operands) | Question::Computed(_, operands) => operands.clone(),
            Question::Callee(_)
            | Question::NativeCall(..)
            | Question::Inlinee(_)
            | Question::Tuple(_)
            | Question::Value(_) => Vec::new(),
        }
    }

    /// The object in the query.
    pub fn object(&self) -> Option<ObjectHandle> {
        match self {
            Question::Callee(object)
            | Question::NativeCall(object, _)
            | Question::Computed(object, _)
            | Question::Inlinee(object)
            | Question::Tuple(object)
            | Question::Value(object)
            | Question::LoadSuper(object, ..) => Some(*object),
            _ => None,
        }
    }
}

impl Answer {
    /// The receiver or the operands in the query, if it is about an attribute, items or an
    /// operator.
    pub fn receivers(&self) -> &[Type] {
        match self {
            Answer::LoadAttr(receiver, ..)
            | Answer::LoadSuper(_, receiver, ..)
            | Answer::StoreAttr(receiver, ..)
            | Answer::Instance(receiver, ..)
            | Answer::FirstStore(receiver, ..)
            | Answer::RawItems(receiver, ..) => std::slice::from_ref(receiver),
            Answer::Operator(_, operands, _) => operands,
            _ => &[],
        }
    }

    /// The objects in the answer; the one in the query comes first.
    pub fn objects(&self) -> Vec<ObjectHandle> {
        let (about, others): (ObjectHandle, &[ObjectHandle]) = match self {
            Answer::Global(_, _, global) => (global.value, &[]),
            Answer::LoadAttr(_, _, AttrPlan::Constant { value, binds, .. }) => {
                return [*value].into_iter().chain(binds.object()).collect();
            }
            Answer::LoadAttr(
                _,
                _,
                AttrPlan::Field {
                    now: Some(function),
                    ..
                }
                | AttrPlan::Getter { function, .. },
            ) => (*function, &[]),
            Answer::LoadAttr(_, _, AttrPlan::Computed { function, args, .. }) => {
                let constants = args.iter().filter_map(|arg| arg.constant());
                return [*function].into_iter().chain(constants).collect();
            }
            Answer::StoreAttr(
                _,
                _,
                StorePlan::Setter {
                    function,
                    descriptor,
                    ..
                },
            ) => (*function, descriptor.as_slice()),
            Answer::LoadSuper(class, _, _, AttrPlan::Constant { value, binds, .. }) => {
                return [*class, *value].into_iter().chain(binds.object()).collect();
            }
            Answer::LoadSuper(class, _, _, AttrPlan::Getter { function, .. }) => {
                return vec![*class, *function];
            }
            Answer::Operator(
                _,
                _,
                OperatorPlan::Method {
                    function, declined, ..
                },
            ) => (*function, declined.as_slice()),
            Answer::LoadAttr(..)
            | Answer::LoadSuper(..)
            | Answer::StoreAttr(..)
            | Answer::RawItems(..)
            | Answer::OfClass(_)
            | Answer::Instance(..)
            | Answer::FirstStore(..)
            | Answer::GlobalGet(..)
            | Answer::Both(..)
            | Answer::Field(..)
            | Answer::Operator(..) => return Vec::new(),
            Answer::Callee(object, Callee::Function { params, kin, .. }) => {
                let code = kin.iter().filter_map(|kin| kin.code);
                let others = params.objects().into_iter().chain(code);
                return [*object].into_iter().chain(others).collect();
            }
            Answer::Callee(object, Callee::Class { init, .. }) => (*object, init.as_slice()),
            Answer::Callee(object, Callee::Exception { bases, .. }) => (*object, bases),
            Answer::Callee(object, Callee::Tuple { params, .. }) => {
                return [*object].into_iter().chain(params.objects()).collect();
            }
            Answer::Callee(object, _) | Answer::NativeCall(object, ..) => (*object, &[]),
            Answer::Computed(object, operands, _) => {
                let known = operands.iter().filter_map(|ty| ty.as_object());
                return [*object].into_iter().chain(known).collect();
            }
            Answer::Inlinee(object, inlinee) => (*object, &inlinee.cells),
            Answer::Value(object, _) => (*object, &[]),
            Answer::Tuple(object, items) => (*object, items),
        };
        [&[about], others].concat()
    }

    /// The assumptions of the answer.
    pub fn assumptions(&self) -> &[Assumption] {
        match self {
            Answer::Global(_, _, Global { assumptions, .. })
            | Answer::LoadAttr(
                _,
                _,
                AttrPlan::Field { assumptions, .. }
                | AttrPlan::Constant { assumptions, .. }
                | AttrPlan::Getter { assumptions, .. }
                | AttrPlan::Absent { assumptions, .. }
                | AttrPlan::Computed { assumptions, .. },
            )
            | Answer::LoadSuper(
                _,
                _,
                _,
                AttrPlan::Constant { assumptions, .. } | AttrPlan::Getter { assumptions, .. },
            )
            | Answer::StoreAttr(
                _,
                _,
                StorePlan::Field { assumptions, .. } | StorePlan::Setter { assumptions, .. },
            )
            | Answer::Operator(
                _,
                _,
                OperatorPlan::Method { assumptions, .. }
                | OperatorPlan::Identity { assumptions }
                | OperatorPlan::True { assumptions }
                | OperatorPlan::Operand { assumptions }
                | OperatorPlan::Forwards(Forwarding { assumptions, .. })
                | OperatorPlan::Iterator { assumptions, .. }
                | OperatorPlan::NextBy { assumptions, .. }
                | OperatorPlan::NextItems { assumptions, .. }
                | OperatorPlan::Items { assumptions, .. },
            )
            | Answer::Callee(
                _,
                Callee::Function { assumptions, .. }
                | Callee::Class { assumptions, .. }
                | Callee::Tuple { assumptions, .. }
                | Callee::Exception { assumptions, .. },
            ) => assumptions,
            _ => &[],
        }
    }

    fn question(&self) -> Question {
        match self {
            Answer::Global(namespace, name, _) => Question::Global(*namespace, name.clone()),
            Answer::GlobalGet(namespace, name, _) => Question::GlobalGet(*namespace, name.clone()),
            Answer::LoadAttr(ty, name, _) => Question::LoadAttr(*ty, name.clone()),
            Answer::LoadSuper(class, ty, name, _) => Question::LoadSuper(*class, *ty, name.clone()),
            Answer::StoreAttr(ty, name, _) => Question::StoreAttr(*ty, name.clone()),
            Answer::RawItems(ty, way, _) => Question::RawItems(*ty, *way),
            Answer::OfClass(check) => Question::OfClass(*check),
            Answer::Instance(ty, call, _) => Question::Instance(*ty, call.clone()),
            Answer::Both(a, b, _) => Question::Both(a.clone(), b.clone()),
            Answer::FirstStore(ty, store, stored, _) => {
                Question::FirstStore(*ty, store.clone(), stored.clone())
            }
            Answer::Field(call, _) => Question::Field(call.clone()),
            Answer::Operator(operator, operands, _) => {
                Question::Operator(*operator, operands.clone())
            }
            Answer::Callee(object, _) => Question::Callee(*object),
            Answer::NativeCall(object, given, _) => Question::NativeCall(*object, *given),
            Answer::Computed(object, operands, _) => Question::Computed(*object, operands.clone()),
            Answer::Inlinee(object, _) => Question::Inlinee(*object),
            Answer::Tuple(object, _) => Question::Tuple(*object),
            Answer::Value(object, _) => Question::Value(*object),
        }
    }
}

/// Answers, in the order in which they were first given.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    answers: Vec<Answer>,
    index: HashMap<Question, usize>,
}

impl Snapshot {
    /// The answers.
    pub fn answers(&self) -> &[Answer] {
        &self.answers
    }

    /// Adds an answer. It replaces an older answer to the same query.
    pub fn add(&mut self, answer: Answer) {
        match self.index.entry(answer.question()) {
            std::collections::hash_map::Entry::Occupied(at) => self.answers[*at.get()] = answer,
            std::collections::hash_map::Entry::Vacant(at) => {
                at.insert(self.answers.len());
                self.answers.push(answer);
            }
        }
    }

    fn find(&self, question: Question) -> Option<&Answer> {
        self.index.get(&question).map(|at| &self.answers[*at])
    }
}

impl World for Snapshot {
    fn global(&self, namespace: u64, name: &str) -> Option<Global> {
        match self.find(Question::Global(namespace, name.to_owned()))? {
            Answer::Global(_, _, global) => Some(global.clone()),
            _ => None,
        }
    }

    fn global_get(&self, namespace: u64, name: &str) -> Option<IntrinsicCall> {
        match self.find(Question::GlobalGet(namespace, name.to_owned()))? {
            Answer::GlobalGet(_, _, load) => Some(load.clone()),
            _ => None,
        }
    }

    fn load_attr(&self, receiver: Type, name: &str) -> AttrPlan {
        match self.find(Question::LoadAttr(receiver, name.to_owned())) {
            Some(Answer::LoadAttr(_, _, plan)) => plan.clone(),
            _ => AttrPlan::General,
        }
    }

    fn load_super(&self, class: ObjectHandle, receiver: Type, name: &str) -> AttrPlan {
        match self.find(Question::LoadSuper(class, receiver, name.to_owned())) {
            Some(Answer::LoadSuper(_, _, _, plan)) => plan.clone(),
            _ => AttrPlan::General,
        }
    }

    fn store_attr(&self, receiver: Type, name: &str) -> StorePlan {
        match self.find(Question::StoreAttr(receiver, name.to_owned())) {
            Some(Answer::StoreAttr(_, _, plan)) => plan.clone(),
            _ => StorePlan::General,
        }
    }

    fn raw_items(&self, receiver: Type, way: u64) -> Option<RawItems> {
        match self.find(Question::RawItems(receiver, way))? {
            Answer::RawItems(_, _, items) => Some(items.clone()),
            _ => None,
        }
    }

    fn is_of_class(&self, check: IntrinsicId) -> bool {
        self.find(Question::OfClass(check)).is_some()
    }

    fn instance_access(&self, instance: Type, call: &IntrinsicCall) -> Option<InstanceAccess> {
        match self.find(Question::Instance(instance, call.clone()))? {
            Answer::Instance(_, _, access) => Some(*access),
            _ => None,
        }
    }

    fn check_of_both(&self, a: &IntrinsicCall, b: &IntrinsicCall) -> Option<IntrinsicCall> {
        match self.find(Question::Both(a.clone(), b.clone()))? {
            Answer::Both(_, _, check) => Some(check.clone()),
            _ => None,
        }
    }

    fn first_store(
        &self,
        instance: Type,
        store: &IntrinsicCall,
        stored: &[u32],
    ) -> Option<IntrinsicCall> {
        let question = Question::FirstStore(instance, store.clone(), stored.to_vec());
        match self.find(question)? {
            Answer::FirstStore(.., first) => Some(first.clone()),
            _ => None,
        }
    }

    fn field_access(&self, call: &IntrinsicCall) -> Option<FieldAccess> {
        match self.find(Question::Field(call.clone()))? {
            Answer::Field(_, access) => Some(access.clone()),
            _ => None,
        }
    }

    fn operator(&self, operator: Operator, operands: &[Type]) -> OperatorPlan {
        match self.find(Question::Operator(operator, operands.to_vec())) {
            Some(Answer::Operator(_, _, plan)) => plan.clone(),
            _ => OperatorPlan::General,
        }
    }

    fn callee(&self, callee: ObjectHandle) -> Callee {
        match self.find(Question::Callee(callee)) {
            Some(Answer::Callee(_, callee)) => callee.clone(),
            _ => Callee::Unknown,
        }
    }

    fn native_call(&self, callee: ObjectHandle, given: u32) -> Option<NativeCall> {
        match self.find(Question::NativeCall(callee, given))? {
            Answer::NativeCall(_, _, call) => Some(call.clone()),
            _ => None,
        }
    }

    fn computed(&self, callee: ObjectHandle, operands: &[Type]) -> Vec<Computed> {
        match self.find(Question::Computed(callee, operands.to_vec())) {
            Some(Answer::Computed(_, _, ways)) => ways.clone(),
            _ => Vec::new(),
        }
    }

    fn inlinee(&self, callee: ObjectHandle) -> Option<Inlinee> {
        match self.find(Question::Inlinee(callee))? {
            Answer::Inlinee(_, inlinee) => Some(inlinee.clone()),
            _ => None,
        }
    }

    fn tuple_items(&self, object: ObjectHandle) -> Option<Vec<ObjectHandle>> {
        match self.find(Question::Tuple(object))? {
            Answer::Tuple(_, items) => Some(items.clone()),
            _ => None,
        }
    }

    fn value(&self, object: ObjectHandle) -> ConstValue {
        match self.find(Question::Value(object)) {
            Some(Answer::Value(_, value)) => value.clone(),
            _ => ConstValue::Other,
        }
    }
}

/// A `World` that records the queries and answers of another.
pub struct Recorder<'a> {
    world: &'a dyn World,
    seen: RefCell<Snapshot>,
}

impl<'a> Recorder<'a> {
    /// A recorder of this `World`'s answers.
    pub fn new(world: &'a dyn World) -> Recorder<'a> {
        Recorder {
            world,
            seen: RefCell::default(),
        }
    }

    /// The answers so far, without queries that had no answer.
    pub fn snapshot(&self) -> Snapshot {
        self.seen.borrow().clone()
    }

    fn note(&self, answer: Answer) {
        self.seen.borrow_mut().add(answer);
    }
}

impl World for Recorder<'_> {
    fn global(&self, namespace: u64, name: &str) -> Option<Global> {
        let global = self.world.global(namespace, name)?;
        self.note(Answer::Global(namespace, name.to_owned(), global.clone()));
        Some(global)
    }

    fn global_get(&self, namespace: u64, name: &str) -> Option<IntrinsicCall> {
        let load = self.world.global_get(namespace, name)?;
        self.note(Answer::GlobalGet(namespace, name.to_owned(), load.clone()));
        Some(load)
    }

    fn load_attr(&self, receiver: Type, name: &str) -> AttrPlan {
        let plan = self.world.load_attr(receiver, name);
        if plan != AttrPlan::General {
            self.note(Answer::LoadAttr(receiver, name.to_owned(), plan.clone()));
        }
        plan
    }

    fn load_super(&self, class: ObjectHandle, receiver: Type, name: &str) -> AttrPlan {
        let plan = self.world.load_super(class, receiver, name);
        if plan != AttrPlan::General {
            let name = name.to_owned();
            self.note(Answer::LoadSuper(class, receiver, name, plan.clone()));
        }
        plan
    }

    fn store_attr(&self, receiver: Type, name: &str) -> StorePlan {
        let plan = self.world.store_attr(receiver, name);
        if plan != StorePlan::General {
            self.note(Answer::StoreAttr(receiver, name.to_owned(), plan.clone()));
        }
        plan
    }

    fn raw_items(&self, receiver: Type, way: u64) -> Option<RawItems> {
        let items = self.world.raw_items(receiver, way)?;
        self.note(Answer::RawItems(receiver, way, items.clone()));
        Some(items)
    }

    fn access_counter(&self, kind: AccessKind) -> Option<u64> {
        self.world.access_counter(kind)
    }

    fn is_of_class(&self, check: IntrinsicId) -> bool {
        let is = self.world.is_of_class(check);
        if is {
            self.note(Answer::OfClass(check));
        }
        is
    }

    fn instance_access(&self, instance: Type, call: &IntrinsicCall) -> Option<InstanceAccess> {
        let access = self.world.instance_access(instance, call)?;
        self.note(Answer::Instance(instance, call.clone(), access));
        Some(access)
    }

    fn check_of_both(&self, a: &IntrinsicCall, b: &IntrinsicCall) -> Option<IntrinsicCall> {
        let check = self.world.check_of_both(a, b)?;
        self.note(Answer::Both(a.clone(), b.clone(), check.clone()));
        Some(check)
    }

    fn first_store(
        &self,
        instance: Type,
        store: &IntrinsicCall,
        stored: &[u32],
    ) -> Option<IntrinsicCall> {
        let first = self.world.first_store(instance, store, stored)?;
        let (of, places) = (store.clone(), stored.to_vec());
        self.note(Answer::FirstStore(instance, of, places, first.clone()));
        Some(first)
    }

    fn field_access(&self, call: &IntrinsicCall) -> Option<FieldAccess> {
        let access = self.world.field_access(call)?;
        self.note(Answer::Field(call.clone(), access.clone()));
        Some(access)
    }

    fn operator(&self, operator: Operator, operands: &[Type]) -> OperatorPlan {
        let plan = self.world.operator(operator, operands);
        if plan != OperatorPlan::General {
            let operands = operands.to_vec();
            self.note(Answer::Operator(operator, operands, plan.clone()));
        }
        plan
    }

    fn callee(&self, callee: ObjectHandle) -> Callee {
        let found = self.world.callee(callee);
        if found != Callee::Unknown {
            self.note(Answer::Callee(callee, found.clone()));
        }
        found
    }

    fn native_call(&self, callee: ObjectHandle, given: u32) -> Option<NativeCall> {
        let call = self.world.native_call(callee, given)?;
        self.note(Answer::NativeCall(callee, given, call.clone()));
        Some(call)
    }

    fn computed(&self, callee: ObjectHandle, operands: &[Type]) -> Vec<Computed> {
        let ways = self.world.computed(callee, operands);
        if !ways.is_empty() {
            self.note(Answer::Computed(callee, operands.to_vec(), ways.clone()));
        }
        ways
    }

    fn inlinee(&self, callee: ObjectHandle) -> Option<Inlinee> {
        let inlinee = self.world.inlinee(callee)?;
        self.note(Answer::Inlinee(callee, inlinee.clone()));
        Some(inlinee)
    }

    fn tuple_items(&self, object: ObjectHandle) -> Option<Vec<ObjectHandle>> {
        let items = self.world.tuple_items(object)?;
        self.note(Answer::Tuple(object, items.clone()));
        Some(items)
    }

    fn value(&self, object: ObjectHandle) -> ConstValue {
        let value = self.world.value(object);
        if value != ConstValue::Other {
            self.note(Answer::Value(object, value.clone()));
        }
        value
    }
}
