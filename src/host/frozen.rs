//! The program's state frozen for one compile, so that it can move to another thread.
//!
//! The compiler queries a [`World`] while it works, and that is possible only on the host's thread.
//! A [`FrozenWorld`] keeps answers, and can be sent. The queries of a compile are known only when
//! it makes them, since accesses and callees follow from types. So a `FrozenWorld` begins with the
//! queries that the bytecode and its hints suggest, notes queries without answers, and answers them
//! the next time it is on the host's thread ([`FrozenWorld::answer`]). Until then, such a query has
//! the answer "not known", which costs a speculation but never correctness. For example, only when
//! `p` is known to be a `Point` does the compiler query the class of `p.x`'s value.

use super::inlinee;
use crate::bytecode::{Code, ConstValue, Op};
use crate::facts::{
    AccessKind, Answer, Assumption, AttrPlan, Callee, Computed, FieldAccess, Global, Inlinee,
    InstanceAccess, IntrinsicCall, IntrinsicId, NativeCall, Operator, OperatorPlan, Question,
    RawItems, Snapshot, StorePlan, World,
};
use crate::types::{ClassHandle, ClassPin, ObjectHandle, ObjectPin, Type};
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// The most rounds of answering noted queries before a compile continues without their answers.
const MAX_ROUNDS: u32 = 32;

/// Handles that must not become stale.
#[derive(Debug, Default)]
pub struct Pins {
    /// Classes.
    pub classes: Vec<ClassPin>,
    /// Objects.
    pub objects: Vec<ObjectPin>,
}

impl Pins {
    /// Pins for those of the handles that are alive.
    pub fn of(
        classes: impl IntoIterator<Item = ClassHandle>,
        objects: impl IntoIterator<Item = ObjectHandle>,
    ) -> Pins {
        let classes = classes.into_iter().filter_map(ClassHandle::try_pin);
        let objects = objects.into_iter().filter_map(ObjectHandle::try_pin);
        Pins {
            classes: classes.collect(),
            objects: objects.collect(),
        }
    }
}

/// Evidence, from one answer, that objects are alive. See [`FrozenWorld::evidence`].
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The assumptions of the answer. If there are none, the objects live as long as the object of
    /// the query: an inlined function's constants, a tuple's items.
    pub assumptions: Vec<Assumption>,
    /// The object of the query, if there is one.
    pub about: Option<ObjectHandle>,
    /// The objects in the answer.
    pub objects: Vec<ObjectHandle>,
}

/// Frozen answers about the program. See the module's documentation.
#[derive(Default)]
pub struct FrozenWorld {
    known: Snapshot,
    /// Evidence for answers that contain objects.
    evidence: Vec<Evidence>,
    /// The queries that the host received, also those without an answer.
    asked: HashSet<Question>,
    /// The queries without an answer, in order.
    open: RefCell<Vec<Question>>,
    /// The number of rounds of answers so far.
    rounds: u32,
    /// Answers queries that do not depend on the program's state.
    anywhere: Option<Arc<dyn World + Send + Sync>>,
    /// Pins of all handles in the answers, and of those that were pinned before: they must not
    /// become stale in transit.
    pins: Pins,
    /// The pinned classes and objects.
    pinned: FxHashSet<Result<ClassHandle, ObjectHandle>>,
}

impl FrozenWorld {
    /// Collects the answers to the probable queries of a compile of `code`. For other queries,
    /// `anywhere` is tried first, on any thread.
    pub fn of(
        code: &Code,
        world: &dyn World,
        anywhere: Option<Arc<dyn World + Send + Sync>>,
    ) -> FrozenWorld {
        let mut frozen = FrozenWorld {
            anywhere,
            ..FrozenWorld::default()
        };
        code.hints().for_each(|ty| frozen.pin(ty));
        frozen.add_code(code, world);
        frozen
    }

    /// Collects the answers to the probable queries of a compile of a code.
    fn add_code(&mut self, code: &Code, world: &dyn World) {
        for constant in &code.consts {
            self.add(Question::Value(constant.object), world);
            if Type::from_object(constant.object) <= Type::TUPLE_EXACT {
                self.add(Question::Tuple(constant.object), world);
            }
        }
        // Names that the code itself rebinds are not relied on.
        let binds = |op| {
            use Op::{DeleteGlobal, DeleteName, StoreGlobal, StoreName};
            matches!(op, StoreName | StoreGlobal | DeleteName | DeleteGlobal)
        };
        let bound = code.instrs.iter().filter(|instr| binds(instr.op));
        let bound: FxHashSet<u32> = bound.map(|instr| instr.arg).collect();
        for (i, instr) in code.instrs.iter().enumerate() {
            let is_unreached = instr.hint.first().is_some_and(|ty| ty.is_bottom());
            if is_unreached {
                continue;
            }
            let name = || code.names.get(instr.arg as usize).cloned();
            let seen = instr.hint.first().copied();
            match (instr.op, seen) {
                (Op::LoadGlobal | Op::LoadName, _) if !bound.contains(&instr.arg) => {
                    let Some(name) = name() else { continue };
                    let namespace = code.globals;
                    self.add(Question::Global(namespace, name), world);
                    let attr = code
                        .instrs
                        .get(i + 1)
                        .filter(|next| next.op == Op::LoadAttr);
                    let attr = attr.and_then(|next| code.names.get(next.arg as usize));
                    let known = world.global(namespace, &code.names[instr.arg as usize]);
                    if let (Some(name), Some(global)) = (attr.cloned(), known) {
                        let receiver = Type::from_object(global.value);
                        self.add(Question::LoadAttr(receiver, name), world);
                    }
                }
                (Op::LoadAttr, Some(receiver)) => {
                    let Some(name) = name() else { continue };
                    self.add(Question::LoadAttr(receiver, name), world);
                }
                (Op::StoreAttr, Some(receiver)) => {
                    let Some(name) = name() else { continue };
                    self.add(Question::StoreAttr(receiver, name), world);
                }
                (Op::Call, Some(callee)) => {
                    if let Some(object) = callee.as_object() {
                        self.add(Question::Callee(object), world);
                    }
                }
                _ => {}
            }
        }
    }

    /// Answers the noted queries. Returns their number.
    pub fn answer(&mut self, world: &dyn World) -> usize {
        let open = self.open.take();
        let count = open.len();
        self.rounds += 1;
        open.into_iter()
            .for_each(|question| self.add(question, world));
        count
    }

    /// The queries noted since the last [`answer`](Self::answer).
    pub fn open_questions(&self) -> Vec<Question> {
        self.open.borrow().clone()
    }

    /// The number of answered queries.
    pub fn len(&self) -> usize {
        self.asked.len()
    }

    /// Returns true if none is answered.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Pins of all handles in the answers. More answers append to them.
    pub fn pins(&self) -> &Pins {
        &self.pins
    }

    /// The assumptions of all answers. More answers append to them.
    pub fn assumptions(&self) -> impl Iterator<Item = &Assumption> {
        self.known.answers().iter().flat_map(Answer::assumptions)
    }

    /// The evidence that the objects in the answers are alive, for a host that pins their handles
    /// without a reference to the objects. More answers append to it.
    pub fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }

    /// Makes one query, and those to which its answer leads.
    fn add(&mut self, question: Question, world: &dyn World) {
        if self.asked.contains(&question) {
            return;
        }
        question.subjects().into_iter().for_each(|ty| self.pin(ty));
        let about = question.object();
        about.into_iter().for_each(|object| self.pin_object(object));
        let answer = question.ask(world);
        self.asked.insert(question);
        let Some(answer) = answer else { return };
        let relied_on = answer
            .assumptions()
            .iter()
            .map(|assumption| match assumption {
                Assumption::ClassUnchanged(class) => Some(Type::from_class(*class)),
                Assumption::FunctionUnchanged(function) => Some(Type::from_object(*function)),
                Assumption::NameUnchanged { .. } | Assumption::ObjectsPrivate => None,
            });
        let relied_on: Vec<Type> = relied_on.flatten().collect();
        relied_on.into_iter().for_each(|ty| self.pin(ty));
        let objects = answer.objects();
        for &object in &objects {
            self.pin_object(object);
        }
        let code = inlinee::inlined_code(&answer);
        let constants = code.iter().flat_map(|code| &code.consts);
        let constants = constants.map(|constant| constant.object);
        let named: Vec<ObjectHandle> = objects.iter().copied().chain(constants).collect();
        if !named.is_empty() {
            self.evidence.push(Evidence {
                assumptions: answer.assumptions().to_vec(),
                about,
                objects: named,
            });
        }
        if let Some(code) = &code {
            for constant in &code.consts {
                self.pin_object(constant.object);
            }
            for ty in code.hints() {
                self.pin(ty);
            }
        }
        let leads_on = matches!(
            answer,
            Answer::Global(..)
                | Answer::LoadAttr(..)
                | Answer::LoadSuper(..)
                | Answer::Operator(..)
                | Answer::Callee(_, Callee::Class { .. })
        );
        self.known.add(answer);
        if leads_on {
            for object in objects {
                self.add(Question::Callee(object), world);
                self.add(Question::Value(object), world);
            }
        }
        if let Some(code) = code {
            self.add_code(&code, world);
        }
    }

    /// Pins the class and the object of a type.
    pub fn pin(&mut self, ty: Type) {
        ty.as_object()
            .into_iter()
            .for_each(|object| self.pin_object(object));
        if let Some(class) = ty.unique_class()
            && self.pinned.insert(Ok(class))
        {
            self.pins.classes.extend(class.try_pin());
        }
    }

    /// Pins an object. (Some objects, such as None, are in no type.)
    fn pin_object(&mut self, object: ObjectHandle) {
        if self.pinned.insert(Err(object)) {
            self.pins.objects.extend(object.try_pin());
        }
    }

    /// The known answers. Notes the query if the host has not received it.
    fn after(&self, question: Question) -> &Snapshot {
        if !self.asked.contains(&question) {
            let mut open = self.open.borrow_mut();
            if !open.contains(&question) {
                open.push(question);
            }
        }
        &self.known
    }
}

impl fmt::Debug for FrozenWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrozenWorld")
            .field("asked", &self.asked.len())
            .field("open", &self.open)
            .field("rounds", &self.rounds)
            .finish_non_exhaustive()
    }
}

impl World for FrozenWorld {
    fn global(&self, namespace: u64, name: &str) -> Option<Global> {
        self.after(Question::Global(namespace, name.to_owned()))
            .global(namespace, name)
    }

    fn global_get(&self, namespace: u64, name: &str) -> Option<IntrinsicCall> {
        self.after(Question::GlobalGet(namespace, name.to_owned()))
            .global_get(namespace, name)
    }

    fn load_attr(&self, receiver: Type, name: &str) -> AttrPlan {
        self.after(Question::LoadAttr(receiver, name.to_owned()))
            .load_attr(receiver, name)
    }

    fn load_super(&self, class: ObjectHandle, receiver: Type, name: &str) -> AttrPlan {
        self.after(Question::LoadSuper(class, receiver, name.to_owned()))
            .load_super(class, receiver, name)
    }

    fn store_attr(&self, receiver: Type, name: &str) -> StorePlan {
        self.after(Question::StoreAttr(receiver, name.to_owned()))
            .store_attr(receiver, name)
    }

    fn raw_items(&self, receiver: Type, way: u64) -> Option<RawItems> {
        self.after(Question::RawItems(receiver, way))
            .raw_items(receiver, way)
    }

    fn access_counter(&self, kind: AccessKind) -> Option<u64> {
        self.anywhere.as_ref()?.access_counter(kind)
    }

    fn lacks_answers(&self) -> bool {
        self.rounds < MAX_ROUNDS && !self.open.borrow().is_empty()
    }

    fn is_of_class(&self, check: IntrinsicId) -> bool {
        if let Some(anywhere) = &self.anywhere {
            return anywhere.is_of_class(check);
        }
        self.after(Question::OfClass(check)).is_of_class(check)
    }

    fn instance_access(&self, instance: Type, call: &IntrinsicCall) -> Option<InstanceAccess> {
        self.after(Question::Instance(instance, call.clone()))
            .instance_access(instance, call)
    }

    fn check_of_both(&self, a: &IntrinsicCall, b: &IntrinsicCall) -> Option<IntrinsicCall> {
        if let Some(anywhere) = &self.anywhere {
            return anywhere.check_of_both(a, b);
        }
        self.after(Question::Both(a.clone(), b.clone()))
            .check_of_both(a, b)
    }

    fn first_store(
        &self,
        instance: Type,
        store: &IntrinsicCall,
        stored: &[u32],
    ) -> Option<IntrinsicCall> {
        let question = Question::FirstStore(instance, store.clone(), stored.to_vec());
        self.after(question).first_store(instance, store, stored)
    }

    fn field_access(&self, call: &IntrinsicCall) -> Option<FieldAccess> {
        if let Some(anywhere) = &self.anywhere {
            return anywhere.field_access(call);
        }
        self.after(Question::Field(call.clone())).field_access(call)
    }

    fn operator(&self, operator: Operator, operands: &[Type]) -> OperatorPlan {
        self.after(Question::Operator(operator, operands.to_vec()))
            .operator(operator, operands)
    }

    fn callee(&self, callee: ObjectHandle) -> Callee {
        self.after(Question::Callee(callee)).callee(callee)
    }

    fn native_call(&self, callee: ObjectHandle, given: u32) -> Option<NativeCall> {
        self.after(Question::NativeCall(callee, given))
            .native_call(callee, given)
    }

    fn computed(&self, callee: ObjectHandle, operands: &[Type]) -> Vec<Computed> {
        self.after(Question::Computed(callee, operands.to_vec()))
            .computed(callee, operands)
    }

    fn inlinee(&self, callee: ObjectHandle) -> Option<Inlinee> {
        self.after(Question::Inlinee(callee)).inlinee(callee)
    }

    fn tuple_items(&self, object: ObjectHandle) -> Option<Vec<ObjectHandle>> {
        self.after(Question::Tuple(object)).tuple_items(object)
    }

    fn value(&self, object: ObjectHandle) -> ConstValue {
        self.after(Question::Value(object)).value(object)
    }
}

const _: () = {
    const fn sent<T: Send>() {}
    sent::<FrozenWorld>();
};

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;

    #[test]
    fn queries_without_a_recorded_answer_are_noted() {
        let name = || "x".to_owned();
        for question in [
            Question::Global(0, name()),
            Question::LoadAttr(Type::LONG_EXACT, name()),
            Question::StoreAttr(Type::LONG_EXACT, name()),
            Question::RawItems(Type::BYTES_EXACT, 1),
            Question::OfClass(IntrinsicId::new(0)),
            Question::Operator(Operator::Truth, vec![Type::LONG_EXACT]),
        ] {
            let frozen = FrozenWorld::default();
            assert_eq!(question.ask(&frozen), None);
            assert_eq!(*frozen.open.borrow(), [question]);
        }
    }
}
