//! Calls with a tuple of arguments, such as `f(*args)`: a wrapper passes its arguments on.

use super::Named;
use crate::bytecode::{ConstValue, GeneralOp as G, Op as B, Pc, Reason};
use crate::facts::Callee;
use crate::hir::Op;
use crate::hir::build::{Builder, Collected};
use crate::hir::function::Value;
use crate::types::Type;

impl Builder<'_> {
    /// `f(*args)` of a known function with a tuple of a known number of items, or with one whose
    /// length is speculated to be the number of its parameters: the items become the arguments.
    /// Speculations are made at the current instruction, and `call` is the one that calls. Named
    /// arguments follow, the values of `keywords`. Returns false, and does nothing, for any other
    /// call.
    fn spread(&mut self, call: Pc, named: &Named, keywords: &[Value]) -> bool {
        let base = self.stack.len() - 3;
        let [callable, this, tuple] = [0, 1, 2].map(|i| self.stack[base + i].value);
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
        let likely = arity.checked_sub(keywords.len()).filter(|_| is_likely);
        let Some(n) = count.or(likely) else {
            return false;
        };
        let given = n + keywords.len();
        let bound = match &kin {
            Some(kin) => named.bind_kin(&params, given, kin, true),
            None => named.bind(&params, given),
        };
        let Some(bound) = bound else { return false };
        self.take_operands(3);
        // The speculation is on one function, not on its code.
        let is_one = kin.is_none() && known.is_none();
        let function = match kin {
            Some(kin) => self.check_kin(callable, kin),
            None if known.is_some() => {
                self.assume(assumptions);
                callable
            }
            None => {
                let checked = self.check_receiver(callable, Type::from_object(object));
                self.f.rely_on(checked);
                self.assume(assumptions);
                self.assumed(object)
            }
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
        self.drop_top(1);
        items.into_iter().for_each(|item| self.push_owned(item));
        for &value in keywords {
            self.push_new_ref(value);
        }
        self.call_direct(target, base, None, bound, named);
        true
    }

    /// A call with a tuple of arguments alone: see [`spread`](Self::spread).
    pub(in crate::hir::translate) fn call_spread(&mut self, call: Pc) -> bool {
        self.spread(call, &Named::default(), &[])
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

    /// The names of a dict of named arguments that the caller has made, and the number of the
    /// argument that is the value of the first one.
    fn names_in(&self, dict: Value) -> Option<(Named, usize)> {
        let Op::Arg(k) = *self.f.op(self.f.object_of(dict)) else {
            return None;
        };
        let (before, rest) = self.inlined?.collected.split_at_checked(k as usize)?;
        let Some(Collected::Names(objects)) = rest.first()? else {
            return None;
        };
        let text = |object| match self.world.value(object) {
            ConstValue::Str(text) => Some(text),
            _ => None,
        };
        let names = objects.iter().map(|object| text(*object));
        let named = Named {
            names: names.collect::<Option<_>>()?,
            objects: objects.clone(),
        };
        let further = before.iter().map(|known| match known {
            Some(Collected::Names(names)) => names.len(),
            _ => 0,
        });
        let cells = self.code.locals.len() + self.code.free_count();
        Some((named, cells + further.sum::<usize>()))
    }

    /// `f(*args, **names)` where `names` is a dict that the caller has made: the instructions up to
    /// the call, which copy it, are skipped, and the call has its values. Returns false, and does
    /// nothing, in any other place.
    pub(in crate::hir::translate) fn forwards_names(&mut self) -> bool {
        let ahead = |k: u32| self.code.instrs.get((self.pc.0 + k) as usize);
        let [Some(load), Some(merge), Some(call)] = [1, 2, 3].map(ahead) else {
            return false;
        };
        let is_load = matches!(load.op, B::LoadFast | B::LoadFastBorrow);
        if !is_load
            || (merge.op, merge.arg) != (B::DictMerge, 1)
            || (call.op, call.arg & 1) != (B::CallFunctionEx, 1)
            || (1..=3).any(|k| self.is_leader(Pc(self.pc.0 + k)))
        {
            return false;
        }
        let Some((named, first)) = self.names_in(self.locals[load.arg as usize]) else {
            return false;
        };
        let keywords = (first..).take(named.objects.len());
        let keywords: Vec<Value> = keywords
            .map(|k| self.emit(Op::Arg(k as u32), vec![], Type::OBJECT))
            .collect();
        self.spread(Pc(self.pc.0 + 3), &named, &keywords)
    }
}
