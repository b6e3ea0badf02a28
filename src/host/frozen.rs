//! The program's state frozen for one compile, so that it can go to another thread.
//!
//! A [`World`] is asked while the compiler works, and only on the host's thread. A [`FrozenWorld`] is answers, kept: it
//! can be sent. Which questions a compile asks is known only when it asks them, since what is called and accessed
//! follows from types. So it begins with what the bytecode and its hints show, notes what it was asked in
//! vain, and takes the answers the next time it is on the host's thread ([`FrozenWorld::answer`]). A question without an
//! answer is answered "not known", which costs a bet and never correctness.

use super::inlinee;
use crate::bytecode::{Code, ConstValue, Op};
use crate::facts::{
    AccessKind, Answer, Assumption, AttrPlan, Callee, FieldAccess, Global, Inlinee, InstanceAccess,
    IntrinsicCall, IntrinsicId, NativeCall, Operator, OperatorPlan, Question, RawItems, Snapshot,
    StorePlan, World,
};
use crate::types::{ClassHandle, ClassPin, ObjectHandle, ObjectPin, Type};
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// How often what was asked in vain is answered, before a compile goes on without.
const MOST_ROUNDS: u32 = 32;

/// Handles that must not go stale.
#[derive(Debug, Default)]
pub struct Pins {
    /// Classes.
    pub classes: Vec<ClassPin>,
    /// Objects.
    pub objects: Vec<ObjectPin>,
}

impl Pins {
    /// Pins of those handles that are alive.
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

/// What one answer shows to be alive. See [`FrozenWorld::evidence`].
#[derive(Clone, Debug)]
pub struct Evidence {
    /// What the answer relies on. If it relies on nothing, the objects are alive while what it is about is: an inlined function's
    /// constants, a tuple's items.
    pub assumptions: Vec<Assumption>,
    /// What it is about, if that is an object.
    pub about: Option<ObjectHandle>,
    /// The objects that it names.
    pub objects: Vec<ObjectHandle>,
}

/// Frozen answers about the program. See the module's page.
#[derive(Default)]
pub struct FrozenWorld {
    known: Snapshot,
    /// Of the answers that name objects.
    evidence: Vec<Evidence>,
    /// What was asked of the host, also where it did not know.
    asked: HashSet<Question>,
    /// Asked in vain, in order.
    open: RefCell<Vec<Question>>,
    /// How often that was answered.
    rounds: u32,
    /// Answers what depends on nothing that the program may change.
    anywhere: Option<Arc<dyn World + Send + Sync>>,
    /// What the answers name, and what was named before: it must not go stale on the way.
    pins: Pins,
    /// Whose pins these are.
    pinned: FxHashSet<Result<ClassHandle, ObjectHandle>>,
}

impl FrozenWorld {
    /// What a compile of `code` will probably ask. `anywhere` is asked for the rest first, on whatever thread that is.
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

    /// Ask what a compile of a code will probably ask.
    fn add_code(&mut self, code: &Code, world: &dyn World) {
        for constant in &code.consts {
            self.add(Question::Value(constant.object), world);
            if Type::from_object(constant.object) <= Type::TUPLE_EXACT {
                self.add(Question::Tuple(constant.object), world);
            }
        }
        // What the code itself changes is not relied on.
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

    /// Answer what was asked in vain; gives how many questions that were.
    pub fn answer(&mut self, world: &dyn World) -> usize {
        let open = self.open.take();
        let count = open.len();
        self.rounds += 1;
        open.into_iter()
            .for_each(|question| self.add(question, world));
        count
    }

    /// What was asked and not answered since the last [`answer`](Self::answer).
    pub fn open_questions(&self) -> Vec<Question> {
        self.open.borrow().clone()
    }

    /// How many questions are answered.
    pub fn len(&self) -> usize {
        self.asked.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// What the answers name. There is more behind what was there before as there are more answers.
    pub fn pins(&self) -> &Pins {
        &self.pins
    }

    /// Everything that must hold for the answers to hold. There is more behind what was there before as there are more answers.
    pub fn assumptions(&self) -> impl Iterator<Item = &Assumption> {
        self.known.answers().iter().flat_map(Answer::assumptions)
    }

    /// Why the objects that the answers name are alive, for a host that pins their handles without a reference to the objects. More
    /// answers append to the list.
    pub fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }

    /// Ask one question, and those that its answer leads to.
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

    /// See to it that what a type names does not go stale.
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

    /// The same for an object. (There are some that no type says anything of, as None.)
    fn pin_object(&mut self, object: ObjectHandle) {
        if self.pinned.insert(Err(object)) {
            self.pins.objects.extend(object.try_pin());
        }
    }

    /// What is known, with a note of the question if it was not asked of the host.
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
        self.rounds < MOST_ROUNDS && !self.open.borrow().is_empty()
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
    fn what_was_not_asked_of_the_host_is_noted() {
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
