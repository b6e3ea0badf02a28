//! Subscripts of objects whose items are raw values: numbers in memory, of which no object need be made.

use crate::bytecode::{Instr, Reason};
use crate::facts::RawItems;
use crate::hir::Op;
use crate::hir::build::Builder;
use crate::hir::function::Value;
use crate::types::Type;

impl Builder<'_> {
    /// `container[index]`, where containers with raw items were met. False, and nothing done, otherwise.
    pub(super) fn get_raw_item(&mut self, instr: &Instr) -> bool {
        let Some((class, items)) = self.raw_items(instr) else {
            return false;
        };
        let (container, offset) = self.raw_offset(class, &items);
        let RawItems { kind, get, .. } = items;
        let raw = self.emit(Op::RawGet(get), vec![container, offset], kind.raw());
        let item = self.emit(Op::boxing(kind), vec![raw], kind.boxed());
        self.drop_top(2);
        self.push_owned(item);
        true
    }

    /// `container[index] = value`, likewise, where the value is an object of what the items are.
    pub(super) fn set_raw_item(&mut self, instr: &Instr) -> bool {
        let Some((class, items)) = self.raw_items(instr) else {
            return false;
        };
        let Some(set) = items.set.clone() else {
            return false;
        };
        let value = self.stack[self.stack.len() - 3].value;
        let want = items.kind.boxed();
        if self.avoids(Reason::Domain) || !self.ty(value).could_be(want) {
            return false;
        }
        let value = self.guard_type(value, want);
        let (container, offset) = self.raw_offset(class, &items);
        let state = Some(self.state());
        let unboxing = Op::unboxing(items.kind);
        let raw = self.emit_with(unboxing, vec![value], items.kind.raw(), state);
        let args = vec![container, offset, raw];
        self.emit_with(Op::RawSet(set), args, Type::BOTTOM, state);
        self.drop_top(3);
        true
    }

    /// How the items lie, if that is known and both the container and the index, on top of the stack, may be what is bet on.
    fn raw_items(&self, instr: &Instr) -> Option<(Type, RawItems)> {
        let bets = [
            Reason::Type,
            Reason::Shape,
            Reason::Bounds,
            Reason::IntTooLarge,
        ];
        if bets.iter().any(|bet| self.avoids(*bet)) {
            return None;
        }
        let [container, index] = [2, 1].map(|depth| self.stack[self.stack.len() - depth].value);
        // The container stands under the index.
        let class = *instr.hint.iter().rev().nth(1)?;
        if !self.ty(container).could_be(class) || !self.ty(index).could_be(Type::LONG_EXACT) {
            return None;
        }
        Some((class, self.world.raw_items(class, instr.items?)?))
    }

    /// The container, of which is known how its items lie, and the offset of the item in them.
    fn raw_offset(&mut self, class: Type, items: &RawItems) -> (Value, Value) {
        let [container, index] = [2, 1].map(|depth| self.stack[self.stack.len() - depth].value);
        let index = self.guard_type(index, Type::LONG_EXACT);
        let container = self.guard_type(container, class);
        self.checks(container, &items.guards);
        let state = Some(self.state());
        let index = self.emit_with(Op::UnboxInt, vec![index], Type::CINT64, state);
        let len = Op::RawLen(items.len.clone());
        let len = self.emit(len, vec![container], Type::CINT64);
        let offset = self.emit_with(Op::Index, vec![index, len], Type::CINT64, state);
        (container, offset)
    }
}
