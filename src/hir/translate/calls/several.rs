//! Calls of one of several functions: tests of the callable branch to the direct call of each, and
//! join again. The functions are those of several classes' methods, or were observed at the call.

use super::{Named, Target};
use crate::bytecode::{Instr, Reason};
use crate::facts::{Argument, Assumption, Callee, IntrinsicCall};
use crate::hir::Op;
use crate::hir::build::Builder;
use crate::hir::function::{Block, Edge, Entry, Term, Value};
use crate::hir::translate::dispatch::plain_edge;
use crate::types::{ObjectHandle, Type};

/// One of several functions that a call may be of.
struct Arm {
    /// The function's name, by which arms are ordered.
    name: String,
    test: Test,
    entry_cell: u64,
    bound: Vec<Argument>,
}

/// The test of a callable being a function.
enum Test {
    /// By its code: the host's test, and the code if calls may be inlined.
    Code(IntrinsicCall, Option<ObjectHandle>),
    /// By its identity, as long as the function is unchanged.
    Identity(ObjectHandle, Vec<Assumption>),
}

impl Builder<'_> {
    /// A call of one of several methods: tests of the callable branch to each one's direct call.
    /// False if there are none that take these arguments.
    pub(super) fn call_one_of(
        &mut self,
        base: usize,
        n: usize,
        names: Option<Value>,
        named: &Named,
    ) -> bool {
        let callable = self.stack[base].value;
        let Some(methods) = self.candidates.get(&callable) else {
            return false;
        };
        let mut arms = Vec::new();
        for &method in methods {
            if let Callee::Function {
                params,
                entry_cell,
                assumptions,
                ..
            } = self.world.callee(method)
                && let Some(bound) = named.bind(&params, n + 1)
            {
                arms.push((method, bound, entry_cell, assumptions));
            }
        }
        if arms.is_empty() {
            return false;
        }
        self.take_operands(n + 2);
        let (join, general) = (self.inner_block(), self.inner_block());
        // If the attribute is no method of the class, there is no `self` on the stack.
        let null = self.emit(Op::IsNull, vec![self.stack[base + 1].value], Type::CBOOL);
        let there = self.emit(Op::BoolNot, vec![null], Type::CBOOL);
        let chain = self.inner_block();
        self.end_block(Term::Branch {
            cond: there,
            then: plain_edge(chain),
            els: plain_edge(general),
        });
        self.cur = chain;
        let before = self.before_arms();
        for (method, bound, entry_cell, assumptions) in arms {
            self.assume(assumptions);
            let function = self.assumed(method);
            let is = self.emit(Op::Is, vec![callable, function], Type::CBOOL);
            let next = self.fork(is);
            let this = self.stack[base + 1].value;
            self.stack[base + 1].value =
                self.emit(Op::Refine(Type::OBJECT), vec![this], Type::OBJECT);
            self.call_direct(Target::new(function, entry_cell), base, None, bound, named);
            self.end_call(join);
            self.next_arm(next, &before);
        }
        self.end_block(Term::Jump(plain_edge(general)));
        self.cur = general;
        self.call_generally(base, n, names);
        self.end_call(join);
        self.enter_join(join, &[Type::OBJECT], before);
        self.unchecked = true;
        true
    }

    /// The call of one of several functions that were observed here: tests of the callable branch
    /// to the direct call of each. Functions of a code object that the unit keeps alive are told
    /// by that, others by their identity. The operands are owned. Returns false, and does nothing,
    /// unless at least two were observed that take these arguments.
    pub(super) fn call_some(
        &mut self,
        instr: &Instr,
        base: usize,
        n: usize,
        names: Option<Value>,
        named: &Named,
    ) -> bool {
        let [callable, this] = [base, base + 1].map(|i| self.stack[i].value);
        let Some(met) = self.met.get(&self.pc) else {
            return false;
        };
        if !(self.ty(this) <= Type::NULLPTR) {
            return false;
        }
        // A function had no default where the call needed one.
        let loads = !self.avoids(Reason::Shape);
        let mut arms: Vec<Arm> = Vec::new();
        let observed = instr.hint.first().into_iter().chain(&met.seen);
        for object in observed.filter_map(|ty| ty.as_object()) {
            let Callee::Function {
                params,
                entry_cell,
                kin,
                assumptions,
                ..
            } = self.world.callee(object)
            else {
                continue;
            };
            let by_code = kin.and_then(|kin| Some((kin.test.clone()?, kin)));
            let kin = by_code.as_ref().map(|(_, kin)| kin);
            let bound = named.bind_kin(&params, n, kin, loads);
            if let Some(bound) = bound {
                let test = match by_code {
                    Some((test, kin)) => Test::Code(test, kin.code),
                    None => Test::Identity(object, assumptions),
                };
                if arms.iter().any(|arm: &Arm| arm.entry_cell == entry_cell) {
                    continue;
                }
                arms.push(Arm {
                    name: Type::from_object(object).to_string(),
                    test,
                    entry_cell,
                    bound,
                });
            }
        }
        if arms.len() < 2 {
            return false;
        }
        // The same functions give the same code, in whatever order they were observed.
        arms.sort_by(|a, b| a.name.cmp(&b.name));
        self.take_operands(n + 2);
        let join = self.inner_block();
        let before = self.before_arms();
        for arm in arms {
            let next = match arm.test {
                Test::Code(test, code) => {
                    let is = self.emit(Op::NumberOf(test), vec![callable], Type::CBOOL);
                    let next = self.fork(is);
                    let function = self.emit(Op::Refine(Type::FUNC), vec![callable], Type::FUNC);
                    let function = match code {
                        Some(code) => self.emit(Op::Kin(code), vec![function], Type::FUNC),
                        None => function,
                    };
                    let target = self.load_defaults(function, arm.entry_cell, &arm.bound);
                    self.call_direct(target, base, None, arm.bound, named);
                    next
                }
                Test::Identity(object, assumptions) => {
                    self.assume(assumptions);
                    let function = self.assumed(object);
                    let is = self.emit(Op::Is, vec![callable, function], Type::CBOOL);
                    let next = self.fork(is);
                    self.replace_callable(base, function);
                    let target = Target::new(function, arm.entry_cell);
                    self.call_direct(target, base, None, arm.bound, named);
                    next
                }
            };
            self.end_call(join);
            self.next_arm(next, &before);
        }
        self.call_generally(base, n, names);
        self.end_call(join);
        self.enter_join(join, &[Type::OBJECT], before);
        self.unchecked = true;
        true
    }

    fn end_call(&mut self, join: Block) {
        let args = self.top_values(1);
        self.end_block(Term::Jump(Edge { block: join, args }));
    }

    /// Replace a callable on the stack by the constant that it was found to be.
    pub(super) fn replace_callable(&mut self, at: usize, function: Value) {
        self.emit(Op::Incref, vec![function], Type::BOTTOM);
        let new = Entry {
            value: function,
            owned: true,
        };
        let old = std::mem::replace(&mut self.stack[at], new);
        if old.owned && self.is_counted(old.value) {
            let ty = self.ty(old.value);
            let held = self.emit(Op::Held, vec![old.value], ty);
            self.decref(held);
        }
    }
}
