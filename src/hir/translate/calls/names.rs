//! Reads of a dict of named arguments that the caller has made, in the body of an inlined call.
//!
//! For example, with `def area(**size): return size["w"] * size.get("h", 1)`, the body of the call
//! `area(w=2)` is `2 * 1`. The body is inlined only if it is a leaf, so nothing in it can have
//! changed the dict before it is read.

use super::Named;
use crate::bytecode::ConstValue;
use crate::hir::Op;
use crate::hir::build::{Builder, Collected};
use crate::hir::function::Value;
use crate::types::Type;

/// An entry of a dict that is read.
enum Read {
    /// The dict has the name: the argument that is its value.
    Argument(usize),
    Missing,
}

impl Builder<'_> {
    /// The names of a dict of named arguments that the caller has made, and the number of the
    /// argument that is the value of the first one.
    pub(super) fn names_in(&self, dict: Value) -> Option<(Named, usize)> {
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

    /// The entry of a dict of named arguments for a constant key; `None` for any other dict or key.
    fn read_name(&self, dict: Value, key: Value) -> Option<Read> {
        let (named, first) = self.names_in(dict)?;
        let ConstValue::Str(key) = self.world.value(self.ty(key).as_object()?) else {
            return None;
        };
        let at = named.names.iter().position(|name| *name == key);
        Some(at.map_or(Read::Missing, |at| Read::Argument(first + at)))
    }

    /// `names["key"]` at the top of the stack. Returns false, and does nothing, if it isn't known
    /// to be there.
    pub(in crate::hir::translate) fn item_of_names(&mut self) -> bool {
        let [dict, key] = self.top_two();
        let Some(Read::Argument(k)) = self.read_name(dict, key) else {
            return false;
        };
        let value = self.emit(Op::Arg(k as u32), vec![], Type::OBJECT);
        self.drop_top(2);
        self.push_new_ref(value);
        true
    }

    /// `"key" in names`, or `not in`, at the top of the stack. Returns false, and does nothing, for
    /// other operands.
    pub(in crate::hir::translate) fn is_in_names(&mut self, inverted: bool) -> bool {
        let [key, dict] = self.top_two();
        let Some(read) = self.read_name(dict, key) else {
            return false;
        };
        let is_there = matches!(read, Read::Argument(_)) != inverted;
        self.drop_top(2);
        let is_there = self.emit(Op::ConstBool(is_there), vec![], Type::CBOOL);
        self.push_bool(is_there);
        true
    }

    /// `names.get("key")` or `names.get("key", default)`: the call whose callable is at `base`,
    /// with `n` arguments behind the dict. Returns false, and does nothing, for other operands.
    pub(super) fn get_of_names(&mut self, base: usize, n: usize) -> bool {
        if !(1..=2).contains(&n) {
            return false;
        }
        let [dict, key] = [1, 2].map(|i| self.stack[base + i].value);
        let result = match (self.read_name(dict, key), n) {
            (Some(Read::Argument(k)), _) => self.emit(Op::Arg(k as u32), vec![], Type::OBJECT),
            (Some(Read::Missing), 2) => self.stack[base + 3].value,
            _ => return false,
        };
        self.own_operands(1);
        self.emit(Op::Incref, vec![result], Type::BOTTOM);
        self.drop_top(n + 2);
        self.push_owned(result);
        true
    }

    /// The number of entries of a dict of named arguments; `None` for any other object.
    pub(in crate::hir::translate) fn count_of_names(&self, dict: Value) -> Option<usize> {
        let (named, _) = self.names_in(dict)?;
        Some(named.objects.len())
    }

    fn top_two(&self) -> [Value; 2] {
        let n = self.stack.len();
        [self.stack[n - 2].value, self.stack[n - 1].value]
    }
}
