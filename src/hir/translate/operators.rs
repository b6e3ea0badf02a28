//! Operators, comparisons and truth.

use crate::bytecode::{BinaryOp, CompareOp, GeneralOp as G, INPLACE, Instr, Op as B, Pc, Reason};
use crate::facts::{Assumption, Operator, OperatorPlan, World};
use crate::hir::build::Builder;
use crate::hir::function::Value;
use crate::hir::translate::dispatch::{Expected, Merge, Site, site};
use crate::hir::translate::overloads::Wanted;
use crate::hir::{Op, Unsupported};
use crate::types::Type;

/// The truth that all objects of a class have.
#[derive(Clone)]
struct ClassTruth {
    is_true: bool,
    assumptions: Vec<Assumption>,
}

impl Merge for ClassTruth {
    fn merge(&self, other: &ClassTruth, _: &dyn World) -> Option<ClassTruth> {
        let mut both = self.clone();
        let more = other.assumptions.iter();
        both.assumptions
            .extend(more.filter(|a| !self.assumptions.contains(a)).cloned());
        (self.is_true == other.is_true).then_some(both)
    }
}

/// The most strings that are joined at once.
const MOST_JOINED: usize = 16;

impl Builder<'_> {
    pub(super) fn unary(&mut self, op: G, operator: Operator, instr: &Instr) {
        self.own_operands(1);
        if self.overloaded(operator, instr, 1, Wanted::Object) {
            return;
        }
        self.bet_operands(instr, 1);
        let v = self.general_on_stack(op, [0, 0], 1);
        self.push_owned(v);
    }

    pub(super) fn binary(&mut self, instr: &Instr) -> Result<(), Unsupported> {
        if BinaryOp::from_arg(instr.arg % INPLACE).is_none() || instr.arg >= 2 * INPLACE {
            return Err(self.unsupported("an unknown binary operator"));
        }
        if self.grow_local(instr) {
            return Ok(());
        }
        if self.join_strings(instr) {
            return Ok(());
        }
        self.own_operands(2);
        if self.binary_on_numbers(instr)
            || self.overloaded(Operator::Binary(instr.arg), instr, 2, Wanted::Object)
        {
            return Ok(());
        }
        self.bet_operands(instr, 2);
        let v = self.general_on_stack(G::Binary, [instr.arg as i64, 0], 2);
        self.push_owned(v);
        Ok(())
    }

    /// `s = s + t` of strings, where the local `s` has the first operand. The local's reference is
    /// passed to the operation, so that a string without other references grows in place, as in the
    /// interpreter. If there is no memory for it, the local is unbound afterwards.
    fn grow_local(&mut self, instr: &Instr) -> bool {
        let is_add = BinaryOp::from_arg(instr.arg % INPLACE) == Some(BinaryOp::Add);
        let next = Pc(self.pc.0 + 1);
        let store = self.code.instrs.get(next.0 as usize);
        let store = store.filter(|i| i.op == B::StoreFast && is_add && !self.is_leader(next));
        let Some(local) = store.map(|store| store.arg as usize) else {
            return false;
        };
        let n = self.stack.len();
        let is_text = |s: &Self, i: usize| s.ty(s.stack[n - 2 + i].value) <= Type::UNICODE_EXACT;
        let is_bet = |i| is_text(self, i) || instr.hint.get(i) == Some(&Type::UNICODE_EXACT);
        let held = self.f.object_of(self.locals[local]);
        let is_held = self.f.object_of(self.stack[n - 2].value) == held;
        if self.closed.is_some() || !is_held || !is_bet(0) || !is_bet(1) {
            return false;
        }
        self.bet_operands(instr, 2);
        if !is_text(self, 0) || !is_text(self, 1) {
            return false;
        }
        for i in 0..n {
            if i != n - 2 && (i == n - 1 || self.f.object_of(self.stack[i].value) == held) {
                self.own(i);
            }
        }
        let (right, left) = (self.pop(), self.pop());
        self.start_instr();
        self.drop_entry(left);
        self.emit(Op::StoreSlot(local as u32), vec![self.null], Type::BOTTOM);
        self.locals[local] = self.null;
        let state = self.state_without(0);
        let args = vec![left.value, right.value];
        let v = self.general_at(G::ConcatStrings, [0, 0], args, Type::UNICODE_EXACT, state);
        self.push_owned(v);
        true
    }

    /// `a + b + c` of strings, where the operands behind `b` are locals and constants: one string
    /// is made of all of them. Returns false for any other addition.
    fn join_strings(&mut self, instr: &Instr) -> bool {
        let is_text = |ty: Type| ty <= Type::UNICODE_EXACT && !ty.is_bottom();
        let is_sum = |i: &Instr| BinaryOp::from_arg(i.arg) == Some(BinaryOp::Add);
        let is_bet = |s: &Self, i: &Instr, k: usize, v: Value| {
            is_text(s.ty(v)) || i.hint.get(k) == Some(&Type::UNICODE_EXACT)
        };
        let n = self.stack.len();
        let [left, right] = [n - 2, n - 1].map(|i| self.stack[i].value);
        if !is_sum(instr)
            || !is_bet(self, instr, 0, left)
            || !is_bet(self, instr, 1, right)
            || self.avoids(Reason::Type)
        {
            return false;
        }
        let mut more = Vec::new();
        let mut last = self.pc;
        while more.len() + 2 < MOST_JOINED {
            let next = |k| {
                let pc = Pc(last.0 + k);
                let instr = self.code.instrs.get(pc.0 as usize);
                instr.filter(|_| !self.is_leader(pc))
            };
            let (Some(load), Some(add)) = (next(1), next(2)) else {
                break;
            };
            let v = match load.op {
                B::LoadFast | B::LoadFastBorrow => self.locals[load.arg as usize],
                B::LoadConst => self.constant(load.arg as usize),
                _ => break,
            };
            if add.op != B::BinaryOp || !is_sum(add) || !is_bet(self, add, 1, v) {
                break;
            }
            more.push(v);
            last = Pc(last.0 + 2);
        }
        if more.is_empty() {
            return false;
        }
        self.own_operands(2);
        let guarded = [left, right].into_iter().chain(more.iter().copied());
        let guarded: Vec<Value> = guarded
            .map(|v| self.guard_type(v, Type::UNICODE_EXACT))
            .collect();
        if !guarded.iter().all(|v| is_text(self.ty(*v))) {
            return false;
        }
        self.pc = last;
        for &v in &guarded[2..] {
            self.push_new_ref(v);
        }
        let count = guarded.len();
        self.take_operands(count);
        let args = self.top_values(count);
        self.forget_top(count);
        self.start_instr();
        let state = self.state_without(0);
        let v = self.general_at(G::ConcatStrings, [0, 0], args, Type::UNICODE_EXACT, state);
        self.push_owned(v);
        true
    }

    pub(super) fn compare(&mut self, instr: &Instr) -> Result<(), Unsupported> {
        if CompareOp::from_arg(instr.arg).is_none() {
            return Err(self.unsupported("an unknown comparison"));
        }
        self.own_operands(2);
        let result = match instr.arg2 {
            0 => Wanted::Object,
            _ => Wanted::Truth,
        };
        if self.compare_numbers(instr)
            || self.overloaded(Operator::Compare(instr.arg), instr, 2, result)
        {
            return Ok(());
        }
        self.bet_operands(instr, 2);
        let n = self.stack.len();
        let plain = |t: Type| {
            t <= (Type::LONG_EXACT | Type::FLOAT_EXACT | Type::BOOL | Type::UNICODE_EXACT)
        };
        let operands = [n - 2, n - 1].map(|i| self.stack[i].value);
        let both = operands.iter().all(|v| plain(self.ty(*v)));
        if instr.arg2 != 0 || both {
            if instr.arg2 == 0 {
                operands.iter().for_each(|v| self.f.rely_on(*v));
            }
            let v = self.general_on_stack(G::CompareBool, [instr.arg as i64, 0], 2);
            self.push_bool(v);
        } else {
            let v = self.general_on_stack(G::Compare, [instr.arg as i64, 0], 2);
            self.push_owned(v);
        }
        Ok(())
    }

    pub(super) fn test_truth(&mut self, instr: &Instr) {
        let v = self.stack[self.stack.len() - 1].value;
        if let Some(count) = self.count_of_names(v) {
            self.drop_top(1);
            let is_true = self.emit(Op::ConstBool(count > 0), vec![], Type::CBOOL);
            return self.push_bool(is_true);
        }
        self.own_operands(1);
        let v = self.stack[self.stack.len() - 1].value;
        if self.truth_by_class(v, instr)
            || self.truth_unless_none(v, instr)
            || self.overloaded(Operator::Truth, instr, 1, Wanted::Object)
        {
            return;
        }
        self.bet_operands(instr, 1);
        let v = self.stack[self.stack.len() - 1].value;
        if self.ty(v) <= Type::BOOL {
            return;
        }
        self.ask_truth();
    }

    /// Replace the top of the stack by its truth, by the general operation.
    fn ask_truth(&mut self) {
        let t = self.general_on_stack(G::Truth, [0, 0], 1);
        self.push_bool(t);
    }

    /// The truth of the top of the stack where it is expected to be of one of several classes whose
    /// objects are all true or all false, such as None and a user class without `__bool__` and
    /// `__len__`. Returns false, and does nothing, if it is not.
    fn truth_by_class(&mut self, v: Value, instr: &Instr) -> bool {
        let mut types = self.receiver_types(v, instr);
        if types.len() < 2 {
            return false;
        }
        // The test for None does not read the object.
        types.sort_by_key(|expected| !(expected.ty <= Type::NONE_TYPE));
        let plans = types.into_iter();
        let plans = plans.map(|expected| (expected, self.truth_of_class(expected.ty)));
        match site(plans.collect(), self.world) {
            Site::General => return false,
            Site::One(types, truth) => {
                let g = self.check_receivers(v, types);
                self.f.rely_on(g);
                self.push_truth_of_class(truth);
            }
            Site::Several(arms) => {
                let result = [Type::BOOL];
                self.dispatch(v, arms, &result, Self::push_truth_of_class, Self::ask_truth);
            }
        }
        true
    }

    /// The truth of the top of the stack where one class is expected but not proved, without a
    /// speculation on it. Programs use `if found:` to distinguish None from other objects, so a
    /// class that was observed once says little about the next time. Returns false, and does
    /// nothing, for numbers (arithmetic follows, so a guard on the class pays) and for classes such
    /// as `dict`, whose objects may be true or false.
    fn truth_unless_none(&mut self, v: Value, instr: &Instr) -> bool {
        let expected = self.receiver_types(v, instr);
        let [Expected { ty, .. }] = expected[..] else {
            return false;
        };
        let known = self.ty(v);
        if ty.as_object().is_some() || known <= ty || !Type::NONE_TYPE.could_be(known) {
            return false;
        }
        let mut arms = vec![(vec![Type::NONE_TYPE], self.truth_of_class(Type::NONE_TYPE))];
        if !(ty <= Type::NONE_TYPE) {
            let is_counted = ty <= (Type::UNICODE_EXACT | Type::LIST_EXACT | Type::TUPLE_EXACT);
            match self.truth_of_class(ty) {
                Some(truth) => arms.push((vec![ty], Some(truth))),
                None if is_counted => arms.push((vec![ty], None)),
                None => return false,
            }
        }
        let fast = |b: &mut Self, truth: Option<ClassTruth>| match truth {
            Some(truth) => b.push_truth_of_class(truth),
            None => {
                let top = b.stack.len() - 1;
                let v = b.stack[top].value;
                b.stack[top].value = b.emit(Op::Refine(ty), vec![v], ty);
                b.ask_truth();
            }
        };
        self.dispatch(v, arms, &[Type::BOOL], fast, Self::ask_truth);
        true
    }

    /// The truth of all objects of a type, if it is a class whose objects are all true or all
    /// false.
    fn truth_of_class(&self, ty: Type) -> Option<ClassTruth> {
        if ty <= Type::NONE_TYPE {
            return Some(ClassTruth {
                is_true: false,
                assumptions: Vec::new(),
            });
        }
        match self.world.operator(Operator::Truth, &[ty]) {
            OperatorPlan::True { assumptions } => Some(ClassTruth {
                is_true: true,
                assumptions,
            }),
            _ => None,
        }
    }

    /// Replace the top of the stack by the truth that all objects of its class have.
    fn push_truth_of_class(&mut self, truth: ClassTruth) {
        self.assume(truth.assumptions);
        if !truth.is_true {
            let top = self.stack.len() - 1;
            let v = self.stack[top].value;
            self.stack[top].value =
                self.emit(Op::Refine(Type::NONE_TYPE), vec![v], Type::NONE_TYPE);
        }
        let v = self.emit(Op::ConstBool(truth.is_true), vec![], Type::CBOOL);
        self.drop_top(1);
        self.push_bool(v);
    }
}
