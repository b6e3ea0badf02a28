//! Calls with a tuple of arguments, such as `f(*args)`: a wrapper passes its arguments on.

use super::Named;
use crate::bytecode::{GeneralOp as G, Op as B, Pc, Reason};
use crate::facts::Callee;
use crate::hir::Op;
use crate::hir::build::Builder;
use crate::hir::function::Value;
use crate::types::Type;

impl Builder<'_> {
    /// `f(*args)` of a known function with a tuple of a known number of items, or with one whose
    /// length is speculated to be the number of its parameters: the items become the arguments.
    /// Speculations are made at the current instruction, and `call` is the one that calls. Returns
    /// false, and does nothing, for any other call.
    pub(in crate::hir::translate) fn call_spread(&mut self, call: Pc) -> bool {
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
        let Some(n) = count.or(is_likely.then_some(arity)) else {
            return false;
        };
        let named = Named::default();
        let bound = match &kin {
            Some(kin) => named.bind_kin(&params, n, kin, true),
            None => named.bind(&params, n),
        };
        let Some(bound) = bound else { return false };
        self.take_operands(3);
        // The speculation is on one function, not on its code.
        let is_one = kin.is_none() && known.is_none();
        let function = match kin {
            Some(kin) => self.check_kin(callable, kin),
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
        self.call_direct(target, base, None, bound, &named);
        true
    }

    /// The number of entries of a tuple, or of an argument's dict, if that is known.
    fn size_of(&self, made: Value) -> Option<usize> {
        let root = self.f.object_of(made);
        match *self.f.op(root) {
            Op::General(G::BuildTuple, _) => Some(self.f.insts[root].args.len()),
            Op::Const(object) => self.world.tuple_items(object).map(|items| items.len()),
            Op::Arg(k) => *self.inlined?.sizes.get(k as usize)?,
            _ => None,
        }
    }

    /// `f(*args, **names)` where `names` is a dict that the caller has made without entries: the
    /// instructions up to the call, which copy it, are skipped. Returns false, and does nothing, in
    /// any other place.
    pub(in crate::hir::translate) fn forwards_no_names(&mut self) -> bool {
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
        let names = self.f.object_of(self.locals[load.arg as usize]);
        let is_empty = self.ty(names) <= Type::DICT_EXACT && self.size_of(names) == Some(0);
        is_empty && self.call_spread(Pc(self.pc.0 + 3))
    }
}
