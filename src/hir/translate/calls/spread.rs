//! Calls with a tuple of arguments, such as `f(*args)`: a wrapper passes its arguments on.

use super::Named;
use crate::bytecode::{GeneralOp as G, Instr, Op as B, Pc, Reason};
use crate::facts::Callee;
use crate::hir::Op;
use crate::hir::build::{Builder, Collected};
use crate::hir::function::Value;
use crate::types::Type;

/// The number of the intrinsic that makes a tuple of a list.
const LIST_TO_TUPLE: u32 = 6;

/// A call with a tuple of arguments.
struct Spread<'a> {
    call: Pc,
    /// The number of arguments on the stack before those in the tuple.
    before: usize,
    tuple: Value,
    /// True if the tuple is on the stack behind them; else a local has it.
    is_on_stack: bool,
    /// The named arguments that follow, with their values.
    named: &'a Named,
    keywords: &'a [Value],
}

impl Builder<'_> {
    /// `f(*args)` of a known function with a tuple of a known number of items, or with one whose
    /// length is speculated to be the number of its parameters: the items become the arguments.
    /// Speculations are made at the current instruction, and `call` is the one that calls. Returns
    /// false, and does nothing, for any other call.
    fn spread(&mut self, spread: &Spread<'_>) -> bool {
        let &Spread {
            call,
            before,
            tuple,
            is_on_stack,
            named,
            keywords,
        } = spread;
        let operands = 2 + before + usize::from(is_on_stack);
        let base = self.stack.len() - operands;
        let [callable, this] = [0, 1].map(|i| self.stack[base + i].value);
        let is_tuple = self.ty(tuple) <= Type::TUPLE_EXACT && !self.ty(tuple).is_bottom();
        if !(self.ty(this) <= Type::NULLPTR) || !is_tuple {
            return false;
        }
        let known = self.ty(callable).as_object();
        let failed = self.avoids(Reason::Identity);
        let instr = self.code.instr(call);
        let expected = || instr.hint.first().filter(|_| !failed)?.as_object();
        let Some(object) = known.or_else(expected) else {
            return false;
        };
        let Callee::Function {
            params,
            entry_cell,
            kin,
            assumptions,
            ..
        } = self.world.callee(object)
        else {
            return false;
        };
        let kin = kin.filter(|_| known.is_none());
        if kin.is_some() && (self.avoids(Reason::Type) || self.avoids(Reason::Shape)) {
            return false;
        }
        let count = self.size_of(tuple);
        let arity = params.positional as usize;
        let is_likely = params.takes_just(arity) && !self.avoids(Reason::Length);
        let likely = arity.checked_sub(before + keywords.len());
        let Some(n) = count.or(likely.filter(|_| is_likely)) else {
            return false;
        };
        let given = before + n + keywords.len();
        let Some(bound) = named.bind_kin(&params, given, kin.as_ref(), true) else {
            return false;
        };
        self.take_operands(operands);
        // The speculation is on one function, not on its code.
        let is_one = kin.is_none() && known.is_none();
        let function = if known.is_some() {
            self.assume(assumptions);
            callable
        } else {
            self.check_function(callable, object, kin, assumptions)
        };
        if count.is_none() {
            self.guard_length(tuple, n);
        }
        let target = self.load_defaults(function, entry_cell, &bound);
        self.pc = call;
        self.start_instr();
        if is_one {
            self.replace_callable(base, function);
        }
        let items = self.first_items(tuple, n);
        // The interpreter drops the tuple before the callee begins.
        if is_on_stack {
            self.drop_top(1);
        }
        items.into_iter().for_each(|item| self.push_owned(item));
        for &value in keywords {
            self.push_new_ref(value);
        }
        self.call_direct(target, base, None, bound, named);
        true
    }

    /// A call with a tuple of arguments alone: see [`spread`](Self::spread).
    pub(in crate::hir::translate) fn call_spread(&mut self, call: Pc) -> bool {
        let tuple = self.stack[self.stack.len() - 1].value;
        self.spread(&Spread {
            call,
            before: 0,
            tuple,
            is_on_stack: true,
            named: &Named::default(),
            keywords: &[],
        })
    }

    /// The number of items of a tuple, if that is known.
    fn size_of(&self, made: Value) -> Option<usize> {
        let root = self.f.object_of(made);
        match *self.f.op(root) {
            Op::General(G::BuildTuple, _) => Some(self.f.insts[root].args.len()),
            Op::Const(object) => self.world.tuple_items(object).map(|items| items.len()),
            Op::Arg(k) => match self.inlined?.collected.get(k as usize)? {
                Some(Collected::Items(count)) => Some(*count),
                _ => None,
            },
            _ => None,
        }
    }

    /// `f(*args, **names)` where `names` is a dict that the caller has made: the instructions up to
    /// the call, which copy it, are skipped, and the call has its values. Returns false, and does
    /// nothing, in any other place.
    pub(in crate::hir::translate) fn forwards_names(&mut self) -> bool {
        let Some((call, Some(names))) = self.names_ahead(0) else {
            return false;
        };
        let tuple = self.stack[self.stack.len() - 1].value;
        self.forwards(call, 0, tuple, true, Some(names)) || self.forwards_dict(call, names)
    }

    /// `f(x, *args)` or `f(x, *args, **names)` where a local has the tuple: no list is made.
    /// Returns false, and does nothing, in any other place.
    pub(in crate::hir::translate) fn forwards_list(&mut self, before: usize) -> bool {
        let (Some(load), Some(extend), Some(to_tuple)) =
            (self.ahead(1), self.ahead(2), self.ahead(3))
        else {
            return false;
        };
        let is_load = matches!(load.op, B::LoadFast | B::LoadFastBorrow);
        if !is_load
            || (extend.op, extend.arg) != (B::ListExtend, 1)
            || (to_tuple.op, to_tuple.arg) != (B::CallIntrinsic1, LIST_TO_TUPLE)
        {
            return false;
        }
        let tuple = self.locals[load.arg as usize];
        let Some((call, names)) = self.names_ahead(4) else {
            return false;
        };
        self.stack.len() >= before + 2 && self.forwards(call, before, tuple, false, names)
    }

    /// A call with a tuple and with the named arguments of a dict that the caller has made.
    fn forwards(
        &mut self,
        call: Pc,
        before: usize,
        tuple: Value,
        is_on_stack: bool,
        names: Option<Value>,
    ) -> bool {
        let (named, first) = match names.map(|names| self.names_in(names)) {
            None => (Named::default(), 0),
            Some(Some(found)) => found,
            Some(None) => return false,
        };
        let keywords = (first..).take(named.objects.len());
        let keywords: Vec<Value> = keywords
            .map(|k| self.emit(Op::Arg(k as u32), vec![], Type::OBJECT))
            .collect();
        self.spread(&Spread {
            call,
            before,
            tuple,
            is_on_stack,
            named: &named,
            keywords: &keywords,
        })
    }

    /// `f(*args, **names)` where `names` is a dict in a local: the general call, which copies the
    /// dict where the callee could change it.
    fn forwards_dict(&mut self, call: Pc, names: Value) -> bool {
        let base = self.stack.len() - 3;
        let is_dict = self.ty(names) <= Type::DICT_EXACT && !self.ty(names).is_bottom();
        if !is_dict || !(self.ty(self.stack[base + 1].value) <= Type::NULLPTR) {
            return false;
        }
        self.pc = call;
        self.push_new_ref(names);
        self.call_with_collected(4);
        true
    }

    /// The general call with a tuple, and maybe a dict, of arguments: so many operands.
    pub(in crate::hir::translate) fn call_with_collected(&mut self, n: usize) {
        self.take_operands(n);
        let state = self.state_without(n);
        let mut args = self.top_values(n);
        args.remove(1);
        let v = self.general_at(G::CallEx, [0, 0], args, Type::OBJECT, state);
        self.forget_top(n);
        self.push_owned(v);
    }

    /// The instruction so many behind the current one, if the code in between is a straight line.
    fn ahead(&self, n: u32) -> Option<&Instr> {
        let is_straight = (1..=n).all(|k| !self.is_leader(Pc(self.pc.0 + k)));
        let instr = self.code.instrs.get((self.pc.0 + n) as usize);
        instr.filter(|_| is_straight)
    }

    /// The call so many instructions ahead, which has a tuple of arguments; and the local's dict
    /// whose entries it gets as named arguments, from this place on.
    fn names_ahead(&self, at: u32) -> Option<(Pc, Option<Value>)> {
        let is_call = |k: u32, arg: u32| {
            let call = self.ahead(k);
            call.is_some_and(|call| call.op == B::CallFunctionEx && call.arg & 1 == arg)
        };
        if is_call(at, 0) {
            return Some((Pc(self.pc.0 + at), None));
        }
        let [build, load, merge] = [0, 1, 2].map(|k| self.ahead(at + k));
        let (build, load, merge) = (build?, load?, merge?);
        let is_load = matches!(load.op, B::LoadFast | B::LoadFastBorrow);
        let copies = (build.op, build.arg) == (B::BuildMap, 0)
            && is_load
            && (merge.op, merge.arg) == (B::DictMerge, 1)
            && is_call(at + 3, 1);
        copies.then(|| (Pc(self.pc.0 + at + 3), Some(self.locals[load.arg as usize])))
    }
}
