//! Iteration, unpacking, and the making and filling of containers.

use crate::bytecode::{ConstValue, GeneralOp as G, Instr, NO_INTRINSIC, Op as B, Pc, Reason};
use crate::facts::{Operator, OperatorPlan, Parts};
use crate::hir::build::Builder;
use crate::hir::function::{Edge, Entry, Term, Value};
use crate::hir::translate::dispatch::{Expected, is_one_class};
use crate::hir::typing;
use crate::hir::{Cmp, Op};
use crate::types::Type;

/// The most iterators that a loop over a `zip` advances itself: each must differ from each other
/// one.
const MOST_PARTS: usize = 4;

impl Builder<'_> {
    /// A slice of `n` bounds with which the next instruction cuts a list, tuple or string
    /// (`xs[1:n]`): translates both as one, without the slice object. Returns false, and does
    /// nothing, where user code might run between the two.
    pub(super) fn cut_at_once(&mut self, n: usize) -> bool {
        let next = Pc(self.pc.0 + 1);
        let Some(instr) = self.code.instrs.get(next.0 as usize) else {
            return false;
        };
        if instr.op != B::BinarySubscr || instr.is_unreached() || self.is_leader(next) {
            return false;
        }
        let at = self.stack.len() - n - 1;
        let expected = |s: &Self, v: Value| s.hints.get(&v).copied().unwrap_or(s.ty(v));
        let container = self.stack[at].value;
        let hint = instr.hint.first().copied();
        let want = match hint.unwrap_or(expected(self, container)) {
            ty if ty.is_bottom() => return false,
            ty if ty <= Type::LIST_EXACT => Type::LIST_EXACT,
            ty if ty <= Type::TUPLE_EXACT => Type::TUPLE_EXACT,
            ty if ty <= Type::UNICODE_EXACT => Type::UNICODE_EXACT,
            _ => return false,
        };
        let avoided = |pc| self.avoid.contains(&(pc, Reason::Type));
        if avoided(self.pc) || avoided(next) || !self.ty(container).could_be(want) {
            return false;
        }
        let bound_type = |ty: Type| {
            [Type::LONG_EXACT, Type::NONE_TYPE]
                .into_iter()
                .find(|want| ty <= *want && !ty.is_bottom())
        };
        let bounds = self.top_values(n);
        let Some(types) = bounds
            .iter()
            .map(|&v| bound_type(expected(self, v)))
            .collect::<Option<Vec<Type>>>()
        else {
            return false;
        };
        self.take_operands(n + 1);
        self.guard_type(container, want);
        for (&v, ty) in bounds.iter().zip(types) {
            self.guard_type(v, ty);
        }
        let container = self.stack[at].value;
        let bounds = self.top_values(n);
        if want == Type::LIST_EXACT
            && let Some(step) = self.known_step(bounds.get(2).copied())
        {
            bounds.get(2).iter().for_each(|step| self.f.rely_on(**step));
            let v = self.slice_list(container, bounds[0], bounds[1], step);
            self.drop_top(n);
            self.pc = next;
            self.start_instr();
            self.drop_top(1);
            self.push_owned(v);
            return true;
        }
        let mut args = vec![container];
        args.extend(bounds);
        args.resize(4, self.null);
        // If the operation raises, the interpreter has the slice in the place of the bounds, which
        // were dropped with the call.
        self.forget_top(n);
        self.pc = next;
        self.push_owned(self.null);
        self.start_instr();
        let v = self.general(G::GetExtendedSlice, [0, 0], args, want);
        self.forget_top(1);
        self.drop_top(1);
        self.push_owned(v);
        true
    }

    /// A slice's step, if it is known, and if the speculation that the bounds fit a machine word is
    /// not avoided here.
    fn known_step(&self, step: Option<Value>) -> Option<i64> {
        let bets = [Reason::Shape, Reason::IntTooLarge];
        if bets.iter().any(|&bet| self.avoids(bet)) {
            return None;
        }
        let Some(step) = step.filter(|step| !(self.ty(*step) <= Type::NONE_TYPE)) else {
            return Some(1);
        };
        match self.world.value(self.ty(step).as_object()?) {
            ConstValue::Int(0 | i64::MIN) => None,
            ConstValue::Int(step) => Some(step),
            _ => None,
        }
    }

    /// A slice of an exact list between bounds that are exact ints or None.
    fn slice_list(&mut self, list: Value, start: Value, stop: Value, step: i64) -> Value {
        let state = self.state();
        let mut bound = |v: Value, open: i64| match self.ty(v) <= Type::NONE_TYPE {
            true => {
                self.f.rely_on(v);
                self.emit(Op::ConstInt(open), vec![], Type::CINT64)
            }
            false => self.emit_with(Op::UnboxInt, vec![v], Type::CINT64, Some(state)),
        };
        let (first, last) = match step > 0 {
            true => (i64::MIN, i64::MAX),
            false => (i64::MAX, i64::MIN),
        };
        let ends = vec![list, bound(start, first), bound(stop, last)];
        self.emit_with(Op::ListSlice(step), ends, Type::LIST_EXACT, Some(state))
    }

    pub(super) fn for_iter(&mut self, instr: &Instr) {
        self.settle();
        self.start_instr();
        let pair = instr.arg2 as usize;
        self.bet_operands_below(instr, 1, pair);
        let iter = self.stack[self.stack.len() - 1 - pair].value;
        let ty = self.ty(iter);
        let next = Pc(self.pc.0 + 1);
        let sequence = ty <= Type::LIST_ITER || ty <= Type::TUPLE_ITER;
        if sequence {
            return self.for_iter_of_sequence(instr, iter);
        }
        if self.for_iter_unpacked(instr, iter) || self.for_iter_by_method(instr, iter) {
            return;
        }
        // The loop continues with the item on the stack; on its exit the iterator is gone.
        let (more, item) = if ty <= Type::RANGE_ITER {
            let more = self.emit(Op::RangeNext, vec![iter], Type::CBOOL);
            let raw = self.emit(Op::Output(0), vec![more], Type::CINT64);
            (
                more,
                Some(self.emit(Op::BoxInt, vec![raw], Type::LONG_EXACT)),
            )
        } else {
            let more = match self.fast_next(instr, iter) {
                Some((checked, id)) => {
                    self.general(G::IterNextBy, [id, 0], vec![checked], Type::CBOOL)
                }
                None => self.general(G::IterNext, [0, 0], vec![iter], Type::CBOOL),
            };
            let item = self.emit(Op::Output(0), vec![more], Type::OBJECT.opt());
            (more, Some(item))
        };
        let item = item.expect("every iterator gives items");
        self.push_owned(item);
        let then = self.edge_with_names(next);
        self.forget_top(1);
        self.end_iteration(instr, more, then, |_, iter| iter);
    }

    /// The next item of an iterator of a class whose items are tuples, where the loop unpacks them:
    /// `for i, x in enumerate(xs)`. The tuple consists of the items that the host gives; as it is
    /// unpacked at once, it is never allocated. Returns false, and does nothing, if no such
    /// iterator is expected.
    fn for_iter_unpacked(&mut self, instr: &Instr, iter: Value) -> bool {
        let next = Pc(self.pc.0 + 1);
        let unpack = self.code.instrs.get(next.0 as usize);
        let Some(n) = unpack
            .filter(|unpack| unpack.op == B::UnpackSequence)
            .map(|unpack| unpack.arg)
        else {
            return false;
        };
        let [Expected { ty, .. }] = self.receiver_types(iter, instr)[..] else {
            return false;
        };
        if !is_one_class(ty) {
            return false;
        }
        let OperatorPlan::NextItems {
            guards,
            fast,
            parts,
            assumptions,
        } = self.world.operator(Operator::UnpackNext(n), &[ty])
        else {
            return false;
        };
        let inner = self.iterator_within(iter);
        let checked = self.check_receiver(iter, ty);
        self.f.rely_on(checked);
        self.assume(assumptions);
        self.checks(checked, &guards);
        let few = |parts: &Parts| parts.iterators.len() <= MOST_PARTS;
        if let (Some(parts), Some(inner)) = (parts.filter(few), inner) {
            self.for_iter_of_parts(instr, checked, parts, inner);
            return true;
        }
        let fast = fast.map_or(NO_INTRINSIC, |fast| i64::from(fast.id.as_u32()));
        let more = self.general(G::NextItems, [n.into(), fast], vec![checked], Type::CBOOL);
        let outputs: Vec<Value> = (0..n)
            .map(|k| self.emit(Op::Output(k), vec![more], Type::OBJECT.opt()))
            .collect();
        let then = self.edge_through(next, self.pc, |b| {
            for output in outputs {
                let item = b.emit(Op::Refine(Type::OBJECT), vec![output], Type::OBJECT);
                b.push_owned(item);
            }
            b.start_instr();
            b.build_from(G::BuildTuple, n as usize, Type::TUPLE_EXACT);
        });
        self.end_iteration(instr, more, then, |_, iter| iter);
        true
    }

    /// The iterator of a loop, checked to be of the expected class, and the number of the host's
    /// intrinsic that gives its next item.
    fn fast_next(&mut self, instr: &Instr, iter: Value) -> Option<(Value, i64)> {
        let [Expected { ty, .. }] = self.receiver_types(iter, instr)[..] else {
            return None;
        };
        if !is_one_class(ty) {
            return None;
        }
        let plan = self.world.operator(Operator::Next, &[ty]);
        let OperatorPlan::NextBy { fast, assumptions } = plan else {
            return None;
        };
        let checked = self.check_receiver(iter, ty);
        self.f.rely_on(checked);
        self.assume(assumptions);
        Some((checked, i64::from(fast.id.as_u32())))
    }

    /// The type that is expected of the iterators of which an `enumerate` or `zip` consists, if a
    /// loop over it can advance them: that of the arguments' iterators, otherwise that of lists.
    fn iterator_within(&self, iter: Value) -> Option<Type> {
        let is_inlined = self.inlined.is_some() && self.code.is_generator;
        let bets = [Reason::Type, Reason::Shape, Reason::Alias];
        if is_inlined || bets.iter().any(|&bet| self.avoids(bet)) {
            return None;
        }
        let made = self.f.object_of(iter);
        let args: &[Value] = match self.f.op(made) {
            Op::CallNative(_) | Op::CallNativeLent(..) => &self.f.insts[made].args,
            _ => &[],
        };
        let mut types = args.iter().filter_map(|arg| {
            let known = self.ty(*arg);
            let ty = match is_one_class(known) {
                true => Some(known),
                false => self.hints.get(arg).copied(),
            };
            ty.filter(|ty| !(*ty <= Type::LONG_EXACT))
        });
        let first = types.next().unwrap_or(Type::LIST_EXACT);
        match typing::iterator_of(first) {
            Some((iterator, true)) if types.all(|ty| ty <= first.unspecialized()) => Some(iterator),
            _ => None,
        }
    }

    /// The next item of an iterator whose parts are iterators of lists, or of tuples: the loop
    /// advances these. At the end the host exhausts the iterator as a whole.
    fn for_iter_of_parts(&mut self, instr: &Instr, iter: Value, parts: Parts, inner: Type) {
        self.checks(iter, &parts.guards);
        let mut iterators = Vec::new();
        for loads in parts.iterators {
            let iterator = loads
                .into_iter()
                .fold(iter, |from, load| self.load_from(load, from, Type::OBJECT));
            iterators.push(self.guard_type(iterator, inner));
        }
        // In `zip(it, it)` the first item's end would be missed at the second one.
        for (k, &other) in iterators.iter().enumerate() {
            for &iterator in &iterators[..k] {
                let state = self.state();
                let same = self.emit(Op::Is, vec![iterator, other], Type::CBOOL);
                let differ = self.emit(Op::BoolNot, vec![same], Type::CBOOL);
                let check = Op::GuardTrue(Reason::Alias);
                self.emit_with(check, vec![differ], Type::BOTTOM, Some(state));
            }
        }
        let mut more = None;
        for &iterator in &iterators {
            let next = self.emit(Op::IterMore, vec![iterator], Type::CBOOL);
            more = Some(match more {
                None => next,
                Some(more) => self.emit(Op::BoolAnd, vec![more, next], Type::CBOOL),
            });
        }
        let more = more.expect("there are iterators");
        let at = self.pc;
        let then = self.edge_through(Pc(at.0 + 1), at, |b| {
            let mut count = iterators.len();
            let items: Vec<Value> = iterators.iter().map(|it| b.next_item(*it)).collect();
            if let Some(index) = parts.index {
                let index = b.emit(Op::IterIndex(index), vec![iter], Type::CINT64);
                let index = b.emit(Op::BoxInt, vec![index], Type::LONG_EXACT);
                b.push_owned(index);
                count += 1;
            }
            for item in items {
                b.emit(Op::Incref, vec![item], Type::BOTTOM);
                b.push_owned(item);
            }
            b.start_instr();
            b.build_from(G::BuildTuple, count, Type::TUPLE_EXACT);
        });
        self.end_iteration(instr, more, then, Self::exhaust);
    }

    /// Exhausts the iterator of a loop that has ended; returns it.
    fn exhaust(&mut self, iter: Value) -> Value {
        if self.names.is_some() {
            self.publish_names(self.pc);
        }
        let last = self.general(G::IterNext, [0, 0], vec![iter], Type::CBOOL);
        self.f.settled.insert(last);
        self.unchecked = true;
        iter
    }

    /// Push the null above an iterator, if the instruction has the iterator in a pair with it.
    pub(super) fn push_pair(&mut self, instr: &Instr) {
        if instr.arg2 != 0 {
            self.push_borrowed(self.null);
        }
    }

    /// Replace the top of the stack by its iterator.
    pub(super) fn get_iter(&mut self, instr: &Instr) {
        let top = self.stack[self.stack.len() - 1].value;
        let made = self.f.op(self.f.object_of(top));
        if matches!(made, Op::General(G::RangeIter, _)) || self.is_iterator_again() {
            return;
        }
        // A generator is its own iterator.
        let ty = self.ty(top);
        if ty <= Type::GEN && !ty.is_bottom() {
            self.own_operands(1);
            return;
        }
        if self.is_own_iterator(instr) {
            return;
        }
        // An inlined generator does not drop what a local keeps alive: the drop might run code.
        let is_inlined = self.inlined.is_some() && self.code.is_generator;
        if is_inlined {
            self.start_instr();
        } else {
            self.own_operands(1);
        }
        if self.iterate_range() {
            return;
        }
        self.bet_sequence();
        let over = self.ty(self.stack[self.stack.len() - 1].value);
        let mut ty = typing::iterator_of(over);
        if ty.is_none()
            && is_one_class(over)
            && let OperatorPlan::Iterator {
                ty: iterator,
                assumptions,
            } = self.world.operator(Operator::Iter, &[over])
        {
            self.assume(assumptions);
            ty = Some((iterator, true));
        }
        let unchecked = self.unchecked;
        let v = self.general_on_stack(G::GetIter, [0, 0], 1);
        if let Some((iter, proved)) = ty {
            if is_inlined && proved {
                // That of a list or a tuple runs no user code.
                self.unchecked = unchecked;
            }
            if proved {
                self.f.insts[v].ty = iter;
            } else {
                self.hints.insert(v, iter);
            }
        }
        self.push_owned(v);
    }

    /// Returns true if the top of the stack is expected to be of a user class whose objects are
    /// their own iterators (`def __iter__(self): return self`): it stays where it is.
    pub(super) fn is_own_iterator(&mut self, instr: &Instr) -> bool {
        let top = self.stack.len() - 1;
        let over = self.stack[top].value;
        let mut expected = self.receiver_types(over, instr);
        if expected.is_empty() && !self.avoids(Reason::Type) {
            // Mostly the loop's iterators are these objects.
            let next = Pc(self.pc.0 + 1);
            let met = self.met.get(&next).map_or(&[][..], |met| &met.seen);
            expected = met.iter().map(|ty| Expected::seen(*ty)).collect();
        }
        let [Expected { ty, .. }] = expected[..] else {
            return false;
        };
        if !is_one_class(ty) || !ty.could_be(self.ty(over)) {
            return false;
        }
        let OperatorPlan::Operand { assumptions } = self.world.operator(Operator::Iter, &[ty])
        else {
            return false;
        };
        self.own_operands(1);
        let checked = self.check_receiver(over, ty);
        self.f.rely_on(checked);
        self.assume(assumptions);
        self.own(top);
        self.iterators.insert(Pc(self.pc.0 + 1), ty);
        true
    }

    /// The next item of an iterator that is expected to be of a user class with a function
    /// `__next__`. Returns false, and does nothing, if there is no such expectation.
    fn for_iter_by_method(&mut self, instr: &Instr, iter: Value) -> bool {
        let mut expected = self.receiver_types(iter, instr);
        if expected.is_empty() && !self.avoids(Reason::Type) {
            let of_loop = self.iterators.get(&self.pc);
            expected.extend(of_loop.map(|ty| Expected::seen(*ty)));
        }
        let [Expected { ty, .. }] = expected[..] else {
            return false;
        };
        if !is_one_class(ty) || self.names.is_some() {
            return false;
        }
        let OperatorPlan::Method {
            function,
            assumptions,
            ..
        } = self.world.operator(Operator::Next, &[ty])
        else {
            return false;
        };
        let Some((entry_cell, more)) = self.method_of(function, 1) else {
            return false;
        };
        let receiver = self.check_receiver(iter, ty);
        self.f.rely_on(receiver);
        self.assume(assumptions);
        self.assume(more);
        let function = self.assumed(function);
        self.emit(Op::Incref, vec![receiver], Type::BOTTOM);
        let state = self.state();
        let call = Op::CallNext(entry_cell);
        let args = vec![function, receiver];
        let item = self.emit_raising(call, args, Type::OBJECT.opt(), state);
        let none = self.emit(Op::IsNull, vec![item], Type::CBOOL);
        let more = self.emit(Op::BoolNot, vec![none], Type::CBOOL);
        let then = self.edge_through(Pc(self.pc.0 + 1), self.pc, |b| {
            let item = b.emit(Op::Refine(Type::OBJECT), vec![item], Type::OBJECT);
            b.push_owned(item);
        });
        self.end_iteration(instr, more, then, |_, iter| iter);
        true
    }

    /// Returns true if an instruction requests the iterator of an operand that is an iterator
    /// already: the result is the operand itself, and there is nothing to do.
    ///
    /// Compilers that inline comprehensions may emit the request twice, as CPython's does in later
    /// patch versions of 3.13: `[x for x in xs]` has a `GET_ITER` before the comprehension's names
    /// are put aside, and another in front of the loop. A generator expression gets the iterator as
    /// an argument (`.0`, a name that no source code can write) and requests the iterator of that.
    /// So here the profile of the loop's iterators describes the operand itself, not the container
    /// that was iterated.
    pub(super) fn is_iterator_again(&mut self) -> bool {
        let over = self.stack[self.stack.len() - 1].value;
        let made = self.f.object_of(over);
        let is_made = matches!(self.f.op(made), Op::General(G::GetIter, _));
        let is_given = || {
            let before = self.pc.0.checked_sub(1).map(|pc| self.code.instr(Pc(pc)));
            let is_load = |op| matches!(op, B::LoadFast | B::LoadFastBorrow | B::LoadFastCheck);
            let local = before.filter(|load| is_load(load.op));
            let name = local.and_then(|load| self.code.locals.get(load.arg as usize));
            name.is_some_and(|(name, _)| name.starts_with('.'))
        };
        if !is_made && !is_given() {
            return false;
        }
        let is_known = |ty: Type| {
            [Type::RANGE_ITER, Type::LIST_ITER, Type::TUPLE_ITER]
                .into_iter()
                .any(|iter| ty <= iter)
        };
        if let Some(met) = self.iterators_met().filter(|met| is_known(*met)) {
            self.guard_type(over, met);
        }
        let top = self.stack[self.stack.len() - 1].value;
        is_known(self.ty(top))
    }

    /// The class of the iterators that the loop behind this instruction was observed to use, if it
    /// is one class.
    fn iterators_met(&self) -> Option<Type> {
        let next = self.code.instrs.get(self.pc.0 as usize + 1)?;
        let met = next.hint.last().filter(|ty| !ty.is_bottom());
        met.copied().filter(|_| next.op == B::ForIter)
    }

    /// If the iterators of a loop were of a range, its topmost operand is mostly a range
    /// (`r = range(n)`, then `for i in r`). Guards that, and pushes the iterator that a call of
    /// `range` in that place pushes, if the step is one.
    pub(super) fn iterate_range(&mut self) -> bool {
        let over = self.stack[self.stack.len() - 1].value;
        let bets = [Reason::Type, Reason::IntTooLarge, Reason::Domain];
        let failed = bets.iter().any(|bet| self.avoids(*bet));
        let is_range = self
            .iterators_met()
            .is_some_and(|ty| ty <= Type::RANGE_ITER);
        if !is_range || failed || !self.ty(over).could_be(Type::RANGE) {
            return false;
        }
        // The call of `range` has pushed an iterator already if its step was known to be 1.
        let before = self.pc.0.checked_sub(1).map(|pc| self.code.instr(Pc(pc)));
        if before.is_some_and(|made| made.op == B::Call && made.arg > 2) {
            return false;
        }
        let state = self.state();
        let range = self.guard_type(over, Type::RANGE);
        let mut field = |k| {
            let op = Op::RangeField(k);
            self.emit_with(op, vec![range], Type::CINT64, Some(state))
        };
        let (start, end, step) = (field(0), field(1), field(2));
        let one = self.emit(Op::ConstInt(1), vec![], Type::CINT64);
        let by_ones = self.emit(Op::IntCmp(Cmp::Eq), vec![step, one], Type::CBOOL);
        let check = Op::GuardTrue(Reason::Domain);
        self.emit_with(check, vec![by_ones], Type::BOTTOM, Some(state));
        let mut boxed = |raw| self.emit(Op::BoxInt, vec![raw], Type::LONG_EXACT);
        let bounds = vec![boxed(start), boxed(end), boxed(one)];
        let iter = self.range_iter(bounds);
        self.drop_top(1);
        self.push_owned(iter);
        true
    }

    /// Speculate that the topmost operand, over which a loop runs, is the container of the observed
    /// iterators, if that is a list or a tuple.
    pub(super) fn bet_sequence(&mut self) {
        let want = match self.iterators_met() {
            Some(ty) if ty <= Type::LIST_ITER => Type::LIST_EXACT,
            Some(ty) if ty <= Type::TUPLE_ITER => Type::TUPLE_EXACT,
            _ => return,
        };
        let over = self.stack[self.stack.len() - 1].value;
        self.guard_type(over, want);
    }

    fn next_item(&mut self, iter: Value) -> Value {
        let op = if self.ty(iter) <= Type::LIST_ITER {
            Op::ListIterNext
        } else {
            Op::TupleIterNext
        };
        self.emit(op, vec![iter], Type::OBJECT)
    }

    /// An exhausted iterator drops its list, and the destructors of the list and its items may run
    /// user code. So the frame (and a module's names) must be stored then, but not at each item.
    fn for_iter_of_sequence(&mut self, instr: &Instr, iter: Value) {
        let next = Pc(self.pc.0 + 1);
        let more = self.emit(Op::IterMore, vec![iter], Type::CBOOL);
        let at = self.pc;
        let then = self.edge_through(next, at, |b| {
            let item = b.next_item(iter);
            b.emit(Op::Incref, vec![item], Type::BOTTOM);
            b.push_owned(item);
        });
        // An inlined generator, whose frame user code would miss, must not run any.
        let is_inlined = self.inlined.is_some() && self.code.is_generator;
        let state = self.state();
        self.end_iteration(instr, more, then, |b, iter| {
            if is_inlined {
                let ty = b.ty(iter);
                return b.emit_with(Op::IterEnd, vec![iter], ty, Some(state));
            }
            b.exhaust(iter)
        });
    }

    /// End the block of a loop's head: branch to `then` if there are `more` items, else out of the
    /// loop, where the exhausted iterator that `last` returns is dropped.
    fn end_iteration(
        &mut self,
        instr: &Instr,
        more: Value,
        then: Edge,
        last: impl FnOnce(&mut Self, Value) -> Value,
    ) {
        // The loop's exit, in a block of its own.
        self.forget_top(instr.arg2 as usize);
        let e = self.pop();
        let from = self.cur;
        let out = self.follower();
        self.f.blocks[out].entry_state.pc = Pc(instr.arg);
        let els = Edge {
            block: out,
            args: Vec::new(),
        };
        self.end_block(Term::Branch {
            cond: more,
            then,
            els,
        });
        self.cur = out;
        self.start_instr();
        let value = last(self, e.value);
        self.drop_entry(Entry { value, ..e });
        if self.names.is_some() {
            // The drop cannot change a name in a register: here no name is in one, or the iterator
            // is not a list's, and then its drop runs no destructor.
            let dropped = self.f.blocks[out].insts.last().copied();
            self.f.settled.extend(dropped);
        }
        self.jump_to(Pc(instr.arg), false);
        self.cur = from;
    }

    pub(super) fn unpack(&mut self, instr: &Instr) {
        let n = instr.arg as usize;
        self.own_operands(1);
        self.bet_operands(instr, 1);
        let seq = self.stack[self.stack.len() - 1].value;
        let ty = self.ty(seq);
        let exact = ty <= Type::TUPLE_EXACT || ty <= Type::LIST_EXACT;
        if exact && !self.avoids(Reason::Length) {
            self.guard_length(seq, n);
            let items = self.first_items(seq, n);
            self.drop_top(1);
            for item in items.into_iter().rev() {
                self.push_owned(item);
            }
            return;
        }
        if self.unpack_by_class(instr, seq, n) {
            return;
        }
        let op = self.general(G::UnpackSequence, [n as i64, 0], vec![seq], Type::BOTTOM);
        self.push_outputs(op, n);
    }

    /// Unpacks an object of a class whose objects hold their items, such as a namedtuple. Returns
    /// false, and does nothing, if none is expected.
    fn unpack_by_class(&mut self, instr: &Instr, seq: Value, n: usize) -> bool {
        if self.avoids(Reason::Shape) {
            return false;
        }
        let Some(types) = self.classes_of(&[seq], 0..1, &instr.hint) else {
            return false;
        };
        let OperatorPlan::Items {
            guards,
            items,
            assumptions,
        } = self.world.operator(Operator::Unpack(n as u32), &types)
        else {
            return false;
        };
        let object = self.guard_type(seq, types[0]);
        self.f.rely_on(object);
        self.assume(assumptions);
        self.checks(object, &guards);
        // A load may exit: the references come behind all of them.
        let items: Vec<Value> = items
            .into_iter()
            .map(|load| self.load_from(load, object, Type::OBJECT))
            .collect();
        for &item in &items {
            self.emit(Op::Incref, vec![item], Type::BOTTOM);
        }
        self.drop_top(1);
        items
            .into_iter()
            .rev()
            .for_each(|item| self.push_owned(item));
        true
    }

    /// Speculates that an exact tuple or list has `n` items.
    pub(super) fn guard_length(&mut self, seq: Value, n: usize) {
        let state = self.state();
        let len = match self.ty(seq) {
            ty if ty <= Type::TUPLE_EXACT => Op::TupleLen,
            _ => Op::ListLen,
        };
        let len = self.emit(len, vec![seq], Type::CINT64);
        let want = self.emit(Op::ConstInt(n as i64), vec![], Type::CINT64);
        let same = self.emit(Op::IntCmp(Cmp::Eq), vec![len, want], Type::CBOOL);
        let check = Op::GuardTrue(Reason::Length);
        self.emit_with(check, vec![same], Type::BOTTOM, Some(state));
    }

    /// The first `n` items of an exact tuple or list that has as many, each with a new reference.
    pub(super) fn first_items(&mut self, seq: Value, n: usize) -> Vec<Value> {
        let get = match self.ty(seq) {
            ty if ty <= Type::TUPLE_EXACT => Op::TupleGet,
            _ => Op::ListGet,
        };
        let mut items = Vec::with_capacity(n);
        for i in 0..n {
            let index = self.emit(Op::ConstInt(i as i64), vec![], Type::CINT64);
            let item = self.emit(get.clone(), vec![seq, index], Type::OBJECT);
            self.emit(Op::Incref, vec![item], Type::BOTTOM);
            items.push(item);
        }
        items
    }

    /// Replace the top by `n` outputs of `op`, the first one on top.
    pub(super) fn push_outputs(&mut self, op: Value, n: usize) {
        let outputs: Vec<Value> = (0..n)
            .map(|i| self.emit(Op::Output(i as u32), vec![op], Type::OBJECT))
            .collect();
        self.drop_top(1);
        for v in outputs.into_iter().rev() {
            self.push_owned(v);
        }
    }

    pub(super) fn build_from(&mut self, op: G, n: usize, ty: Type) {
        self.take_operands(n);
        let state = self.state_without(n);
        let args = self.top_values(n);
        let v = self.general_at(op, [0, 0], args, ty, state);
        self.forget_top(n);
        self.push_owned(v);
    }

    /// Pop `n` values into the container at depth `depth`.
    pub(super) fn update(&mut self, op: G, n: usize, depth: usize) {
        self.own_operands(n);
        let len = self.stack.len();
        let mut args = vec![self.stack[len - n - depth].value];
        args.extend(self.top_values(n));
        self.general(op, [0, 0], args, Type::BOTTOM);
        self.drop_top(n);
    }
}
