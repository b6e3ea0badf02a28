//! Subscripts of objects whose items are raw values: numbers in memory, for which no object need be
//! allocated. An `array.array("d")` is one.

use crate::bytecode::{Instr, Reason};
use crate::facts::RawItems;
use crate::hir::Op;
use crate::hir::build::Builder;
use crate::hir::function::Value;
use crate::types::Type;

impl Builder<'_> {
    /// `container[index]`, where containers with raw items were observed. Otherwise returns false
    /// and does nothing.
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

    /// `container[index] = value`, likewise, where the value is of the class of the items' objects.
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

    /// The class of the container and the layout of its items, if the layout is known, and if the
    /// container and the index, on top of the stack, may be of the expected classes.
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
        // The container is under the index.
        let class = *instr.hint.iter().rev().nth(1)?;
        if !self.ty(container).could_be(class) || !self.ty(index).could_be(Type::LONG_EXACT) {
            return None;
        }
        Some((class, self.world.raw_items(class, instr.items?)?))
    }

    /// The container, guarded to have this layout of items, and the offset of the item.
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
