//! The program's state frozen for one compile, so that it can go to another thread.
//!
//! A [`World`] is asked while the compiler works, and only on the host's thread. A [`FrozenWorld`] is answers, kept: it
//! can be sent. Which questions a compile asks is known only when it asks them, since what is called and accessed
//! follows from types. So a snapshot begins with what the bytecode and its hints show, notes what it was asked in
//! vain, and takes the answers the next time it is on the host's thread ([`FrozenWorld::answer`]). A question without an
//! answer is answered "not known", which costs a bet and never correctness.

use crate::bytecode::{Code, ConstValue, Op};
use crate::facts::{Assumption, AttrPlan, Callee, Global, StorePlan, World};
use crate::types::{ClassPin, ObjectHandle, ObjectPin, Type};
use std::cell::RefCell;
use std::collections::HashMap;

/// What a compile may ask about the program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Question {
    /// [`World::global`]
    Global {
        /// The namespace.
        namespace: u64,
        /// The name.
        name: String,
    },
    /// [`World::load_attr`]
    LoadAttr {
        /// The receiver's type.
        receiver: Type,
        /// The name.
        name: String,
    },
    /// [`World::store_attr`]
    StoreAttr {
        /// The receiver's type.
        receiver: Type,
        /// The name.
        name: String,
    },
    /// [`World::callee`]
    Callee(ObjectHandle),
    /// [`World::tuple_items`]
    TupleItems(ObjectHandle),
    /// [`World::value`]
    Value(ObjectHandle),
}

#[derive(Clone, PartialEq, Debug)]
enum Answer {
    Global(Option<Global>),
    LoadAttr(AttrPlan),
    StoreAttr(StorePlan),
    Callee(Callee),
    TupleItems(Option<Vec<ObjectHandle>>),
    Value(ConstValue),
}

/// Frozen answers about the program. See the module's page.
#[derive(Debug, Default)]
pub struct FrozenWorld {
    answers: HashMap<Question, Answer>,
    /// Asked in vain, in order.
    open: RefCell<Vec<Question>>,
    /// What the answers name must not go stale on the way.
    classes: Vec<ClassPin>,
    objects: Vec<ObjectPin>,
}

impl FrozenWorld {
    /// What a compile of `code` will probably ask.
    pub fn of(code: &Code, world: &dyn World) -> FrozenWorld {
        let mut snapshot = FrozenWorld::default();
        for constant in &code.consts {
            snapshot.add(Question::Value(constant.object), world);
            if Type::from_object(constant.object) <= Type::TUPLE_EXACT {
                snapshot.add(Question::TupleItems(constant.object), world);
            }
        }
        for (i, instr) in code.instrs.iter().enumerate() {
            let name = || code.names.get(instr.arg as usize).cloned();
            let seen = instr.hint.first().copied().filter(|ty| !ty.is_bottom());
            match (instr.op, seen) {
                (Op::LoadGlobal | Op::LoadName, _) => {
                    let Some(name) = name() else { continue };
                    let namespace = code.globals;
                    snapshot.add(Question::Global { namespace, name }, world);
                    let attr = code
                        .instrs
                        .get(i + 1)
                        .filter(|next| next.op == Op::LoadAttr);
                    let attr = attr.and_then(|next| code.names.get(next.arg as usize));
                    let known = world.global(namespace, &code.names[instr.arg as usize]);
                    if let (Some(name), Some(global)) = (attr.cloned(), known) {
                        let receiver = Type::from_object(global.value);
                        snapshot.add(Question::LoadAttr { receiver, name }, world);
                    }
                }
                (Op::LoadAttr, Some(receiver)) => {
                    let Some(name) = name() else { continue };
                    snapshot.add(Question::LoadAttr { receiver, name }, world);
                }
                (Op::StoreAttr, Some(receiver)) => {
                    let Some(name) = name() else { continue };
                    snapshot.add(Question::StoreAttr { receiver, name }, world);
                }
                (Op::Call, Some(callee)) => {
                    if let Some(object) = callee.as_object() {
                        snapshot.add(Question::Callee(object), world);
                    }
                }
                _ => {}
            }
        }
        snapshot
    }

    /// Answer what was asked in vain; gives how many questions that were.
    pub fn answer(&mut self, world: &dyn World) -> usize {
        let open = self.open.take();
        let count = open.len();
        open.into_iter()
            .for_each(|question| self.add(question, world));
        count
    }

    /// What was asked and not answered since the last [`answer`](Self::answer).
    pub fn open_questions(&self) -> Vec<Question> {
        self.open.borrow().clone()
    }

    /// How many answers there are.
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// Whether there is no answer.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// Everything that must hold for the answers to hold.
    pub fn assumptions(&self) -> impl Iterator<Item = &Assumption> {
        self.answers.values().flat_map(|answer| match answer {
            Answer::Global(Some(Global { assumptions, .. }))
            | Answer::LoadAttr(
                AttrPlan::Field { assumptions, .. } | AttrPlan::Constant { assumptions, .. },
            )
            | Answer::StoreAttr(StorePlan::Field { assumptions, .. })
            | Answer::Callee(Callee::Function { assumptions, .. }) => &assumptions[..],
            _ => &[],
        })
    }

    /// Ask one question, and those that its answer leads to.
    fn add(&mut self, question: Question, world: &dyn World) {
        if self.answers.contains_key(&question) {
            return;
        }
        let mut follows = Vec::new();
        let answer = match &question {
            Question::Global { namespace, name } => {
                let global = world.global(*namespace, name);
                follows.extend(global.iter().map(|global| global.value));
                Answer::Global(global)
            }
            Question::LoadAttr { receiver, name } => {
                let plan = world.load_attr(*receiver, name);
                if let AttrPlan::Constant { value, .. } = &plan {
                    follows.push(*value);
                }
                Answer::LoadAttr(plan)
            }
            Question::StoreAttr { receiver, name } => {
                Answer::StoreAttr(world.store_attr(*receiver, name))
            }
            Question::Callee(object) => Answer::Callee(world.callee(*object)),
            Question::TupleItems(object) => Answer::TupleItems(world.tuple_items(*object)),
            Question::Value(object) => Answer::Value(world.value(*object)),
        };
        let receiver = match &question {
            Question::LoadAttr { receiver, .. } | Question::StoreAttr { receiver, .. } => *receiver,
            Question::Callee(object) | Question::TupleItems(object) | Question::Value(object) => {
                Type::from_object(*object)
            }
            Question::Global { .. } => Type::BOTTOM,
        };
        self.pin(receiver);
        follows
            .iter()
            .for_each(|value| self.pin(Type::from_object(*value)));
        if let Answer::TupleItems(Some(items)) = &answer {
            items
                .iter()
                .for_each(|item| self.pin(Type::from_object(*item)));
        }
        if let Answer::Callee(Callee::Function { defaults, .. }) = &answer {
            defaults
                .iter()
                .for_each(|item| self.pin(Type::from_object(*item)));
        }
        self.answers.insert(question, answer);
        for value in follows {
            self.add(Question::Callee(value), world);
            self.add(Question::Value(value), world);
        }
    }

    fn pin(&mut self, ty: Type) {
        self.classes
            .extend(ty.unique_class().and_then(|class| class.try_pin()));
        self.objects
            .extend(ty.as_object().and_then(|object| object.try_pin()));
    }

    /// The answer to a question, or a note that there is none.
    fn look_up<T>(
        &self,
        question: Question,
        found: impl FnOnce(&Answer) -> Option<T>,
    ) -> Option<T> {
        if let Some(answer) = self.answers.get(&question) {
            return found(answer);
        }
        let mut open = self.open.borrow_mut();
        if !open.contains(&question) {
            open.push(question);
        }
        None
    }
}

impl World for FrozenWorld {
    fn global(&self, namespace: u64, name: &str) -> Option<Global> {
        let name = name.to_owned();
        self.look_up(
            Question::Global { namespace, name },
            |answer| match answer {
                Answer::Global(global) => global.clone(),
                _ => None,
            },
        )
    }

    fn load_attr(&self, receiver: Type, name: &str) -> AttrPlan {
        let name = name.to_owned();
        let plan = self.look_up(
            Question::LoadAttr { receiver, name },
            |answer| match answer {
                Answer::LoadAttr(plan) => Some(plan.clone()),
                _ => None,
            },
        );
        plan.unwrap_or(AttrPlan::General)
    }

    fn store_attr(&self, receiver: Type, name: &str) -> StorePlan {
        let name = name.to_owned();
        let plan = self.look_up(
            Question::StoreAttr { receiver, name },
            |answer| match answer {
                Answer::StoreAttr(plan) => Some(plan.clone()),
                _ => None,
            },
        );
        plan.unwrap_or(StorePlan::General)
    }

    fn callee(&self, callee: ObjectHandle) -> Callee {
        let known = self.look_up(Question::Callee(callee), |answer| match answer {
            Answer::Callee(callee) => Some(callee.clone()),
            _ => None,
        });
        known.unwrap_or(Callee::Unknown)
    }

    fn tuple_items(&self, object: ObjectHandle) -> Option<Vec<ObjectHandle>> {
        self.look_up(Question::TupleItems(object), |answer| match answer {
            Answer::TupleItems(items) => items.clone(),
            _ => None,
        })
    }

    fn value(&self, object: ObjectHandle) -> ConstValue {
        let known = self.look_up(Question::Value(object), |answer| match answer {
            Answer::Value(value) => Some(value.clone()),
            _ => None,
        });
        known.unwrap_or(ConstValue::Other)
    }
}

const _: () = {
    const fn sent<T: Send>() {}
    sent::<FrozenWorld>();
};
