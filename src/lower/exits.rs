//! Exit records, and the cold blocks of side exits.

use super::{Lower, Repr};
use crate::exits::{
    CONTEXT_WORDS, ExitId, ExitKind, ExitRecord, InlinedFrame, NameWrite, Reason, Source,
    VirtualKind, VirtualObject,
};
use crate::facts::LOCAL_WORDS;
use crate::hir::{Entry, Locals, Op, Pc, StateId, Value};
use crate::host::RawMap;
use crate::host::names;
use crate::lir::{self, IntCond, Opcode, Signature, Term};
use crate::ll::{Ty, Width};
use cranelift_entity::EntityRef;

/// The values that an exit passes, each once, and the virtual objects in its record.
struct Words {
    /// The contents of the frame's locals.
    locals: Locals,
    hir: Vec<Value>,
    args: Vec<lir::Value>,
    virtuals: Vec<(Value, VirtualObject)>,
    /// Values that are not passed, since a word after the frame holds them: the word, and the
    /// value. They are numbered from [`FIRST_SHOWN`] on until the number of passed values is known.
    shown: Vec<(u32, Value)>,
}

/// A bound on the words that an exit passes.
const FIRST_SHOWN: u32 = 1 << 31;

/// An exit, with the data to decide if another place can share it.
pub(super) struct LastExit {
    kind: ExitKind,
    reason: Reason,
    state: StateId,
    block: lir::Block,
    /// The words after the frame that its record uses, with their required values.
    shown: Vec<(u32, Value)>,
}

impl Words {
    /// The index of a value that is already passed, or shown.
    fn place_of(&self, v: Value) -> Option<u32> {
        if let Some(i) = self.hir.iter().position(|w| *w == v) {
            return Some(i as u32 + CONTEXT_WORDS);
        }
        let i = self.shown.iter().position(|(_, shown)| *shown == v)?;
        Some(i as u32 + FIRST_SHOWN)
    }

    /// Passes a value. Returns its index.
    fn add(&mut self, v: Value, value: lir::Value) -> u32 {
        self.hir.push(v);
        self.args.push(value);
        self.args.len() as u32 - 1
    }
}

impl Lower<'_> {
    /// A cold block that exits with `state`. The values that it needs are computed there.
    pub(super) fn exit_block(
        &mut self,
        kind: ExitKind,
        reason: Reason,
        state: StateId,
    ) -> lir::Block {
        self.exit_at_call(kind, reason, state, 0, None)
    }

    /// The same at a call: without the topmost entries that the call consumes or, if there is a
    /// result (owned), with the result pushed.
    pub(super) fn exit_at_call(
        &mut self,
        kind: ExitKind,
        reason: Reason,
        state: StateId,
        without: u32,
        result: Option<lir::Value>,
    ) -> lir::Block {
        self.make_exit(kind, reason, state, without, result).0
    }

    /// The same. Also returns the words after the frame that the record uses, with their required
    /// values.
    fn make_exit(
        &mut self,
        kind: ExitKind,
        reason: Reason,
        state: StateId,
        without: u32,
        result: Option<lir::Value>,
    ) -> (lir::Block, Vec<(u32, Value)>) {
        let here = self.b.current();
        let block = self.b.cold_block();
        self.b.switch_to(block);
        let state = &self.f.states[state];
        let mut words = Words {
            locals: state.locals.clone(),
            hir: Vec::new(),
            args: vec![self.thread, self.frame],
            virtuals: Vec::new(),
            shown: Vec::new(),
        };
        let (mut locals, mut names) = (Vec::new(), Vec::new());
        for (k, &v) in state.locals.iter().enumerate() {
            // A closed unit has no slots, and owns no references.
            let slotless = self.closed.is_some() && self.repr(v) != Repr::Null;
            if !slotless && !self.repr(v).is_unmade() {
                continue;
            }
            let owned = self.closed.is_none();
            let source = self.source(&mut words, v, owned);
            match k.checked_sub(self.f.code.locals.len()) {
                None => locals.push((k as u32, source)),
                Some(k) => names.push(NameWrite {
                    name: self.f.names[k],
                    source,
                }),
            }
        }
        let depth = state.stack.len() - without as usize;
        let mut stack: Vec<Source> = state.stack[..depth]
            .iter()
            .map(|e| self.source(&mut words, e.value, e.owned && self.closed.is_none()))
            .collect();
        let owned = self.closed.is_none();
        let mut inlined = Vec::new();
        for frame in &state.inlined {
            let mut entries = |all: &[Entry]| {
                let each = all.iter();
                each.map(|e| self.source(&mut words, e.value, e.owned && owned))
                    .collect()
            };
            inlined.push(InlinedFrame {
                code: frame.code,
                pc: frame.pc,
                awaited: frame.awaited,
                locals: entries(&frame.locals),
                stack: entries(&frame.stack),
            });
        }
        let mut pc = state.pc;
        if let Some(result) = result {
            words.args.push(result);
            stack.push(Source::Owned(words.args.len() as u32 - 1));
            pc = Pc(pc.0 + 1);
        }
        let exit = ExitId::new(self.exits.len());
        let passed = words.args.len() as u32;
        let mut record = ExitRecord {
            kind,
            reason,
            pc,
            virtuals: words
                .virtuals
                .into_iter()
                .map(|(_, object)| object)
                .collect(),
            locals,
            names,
            stack,
            inlined,
            words: passed,
            shown: words.shown.iter().map(|(k, _)| self.word_at(*k)).collect(),
        };
        record.number_words(|n| match n.checked_sub(FIRST_SHOWN) {
            Some(shown) => passed + shown,
            None => n,
        });
        self.exits.push(record);
        self.b.terminate(Term::Exit {
            exit,
            args: words.args,
        });
        self.b.switch_to(here);
        (block, words.shown)
    }

    fn source(&mut self, words: &mut Words, v: Value, owned: bool) -> Source {
        let v = self.f.resolve(v);
        if let Op::RangeAt(to_end) = *self.f.op(v) {
            self.put_range(v, to_end);
        }
        match self.repr(v) {
            Repr::Null => Source::Null,
            Repr::Int(raw) => self.int_source(words, raw),
            Repr::Double(raw) => Source::Float(self.word(words, raw)),
            Repr::Bool(raw) => Source::Bool(self.word(words, raw)),
            Repr::IntIf(raw, bound) => {
                let bound = self.word(words, bound);
                Source::IntIf(self.word(words, raw), bound)
            }
            Repr::DoubleIf(raw, bound) => {
                let bound = self.word(words, bound);
                Source::FloatIf(self.word(words, raw), bound)
            }
            Repr::Object => self.object_source(words, v, owned),
            Repr::Virtual => self.virtual_object(words, v),
            Repr::Borrowed(object) => self.source(words, object, false),
        }
    }

    /// The source of an object.
    fn object_source(&mut self, words: &mut Words, v: Value, owned: bool) -> Source {
        if let Some(constant) = self.constant_at_exit(v, owned) {
            return constant;
        }
        let index = words.place_of(v).unwrap_or_else(|| {
            let value = match self.slot_of(words, v) {
                // An owned reference may outlive the slot's content.
                Some(k) if !owned => {
                    let value = self.b.load(Width::Ptr, self.frame, self.slot_offset(k));
                    self.reference(value);
                    value
                }
                _ => self.object(v).0,
            };
            words.add(v, value)
        });
        if owned {
            Source::Owned(index)
        } else {
            Source::Borrowed(index)
        }
    }

    /// The source of a constant: an object that the unit keeps alive, to which the frame takes a
    /// reference.
    fn constant_at_exit(&self, v: Value, owned: bool) -> Option<Source> {
        let Op::Const(object) = self.f.op(self.f.object_of(v)) else {
            return None;
        };
        (object.is_immortal() || !owned).then(|| Source::Const(super::address(*object)))
    }

    /// The source of an integer. An integer that follows from another passed word (the value of a
    /// range iterator follows from the next value) is not passed itself.
    fn int_source(&mut self, words: &mut Words, raw: Value) -> Source {
        let raw = self.f.resolve(raw);
        match *self.f.op(raw) {
            Op::ConstInt(n) => return Source::ConstInt(n),
            Op::IntStep => {
                let [from, by] = [0, 1].map(|i| self.f.resolve(self.f.arg(raw, i)));
                if let (Some(from), Op::ConstInt(by)) = (words.place_of(from), self.f.op(by))
                    && let Ok(by) = i32::try_from(*by)
                {
                    return Source::IntPlus(from, by);
                }
            }
            _ => {}
        }
        Source::Int(self.word(words, raw))
    }

    /// The slot that holds an object at the exit. A value that is read there needs no register
    /// until then.
    fn slot_of(&self, words: &Words, v: Value) -> Option<u32> {
        let v = self.f.object_of(v);
        if self.closed.is_some() {
            return None;
        }
        let slots = words.locals.iter().take(self.f.code.locals.len());
        let at = slots
            .enumerate()
            .find(|(_, local)| self.f.object_of(**local) == v);
        at.filter(|(_, local)| self.repr(**local) == Repr::Object)
            .map(|(k, _)| k as u32)
    }

    /// Writes back the state of a range iterator that is kept in registers.
    fn put_range(&mut self, v: Value, to_end: bool) {
        let (iter, _) = self.object(v);
        let next = self.raw(self.f.arg(v, 1));
        let mut left = self.raw(self.f.arg(v, 2));
        if to_end {
            left = self.b.op(Opcode::Isub, &[left, next]);
        }
        self.intrinsic(names::RANGE_PUT, &[iter, next, left]);
    }

    /// The index of a virtual object in the record's table, where its fields precede it.
    fn virtual_object(&mut self, words: &mut Words, v: Value) -> Source {
        if let Some(i) = words.virtuals.iter().position(|(made, _)| *made == v) {
            return Source::Virtual(i as u32);
        }
        let (aggregate, items, instead) = self.parts_of(v);
        let instead = instead.map(|(flag, other)| {
            let flag = self.word(words, flag);
            (flag, self.source(words, other, false))
        });
        let (kind, fields) = match self.f.op(v) {
            Op::VirtualRangeIter => {
                let word = |raw| self.int_source(words, raw);
                (
                    VirtualKind::RangeIter,
                    items.into_iter().map(word).collect(),
                )
            }
            Op::VirtualSeqIter => {
                let seq = self.source(words, items[0], true);
                let next = self.int_source(words, items[1]);
                (VirtualKind::SeqIter, vec![seq, next])
            }
            _ => {
                // The object takes over its fields' references; a closed unit owns none.
                let owned = self.closed.is_none();
                let item = |item| self.source(words, item, owned);
                let items = items.into_iter().map(item).collect();
                let (kind, first) = kind_of(self.f.op(aggregate));
                (kind, [first, items].concat())
            }
        };
        let object = VirtualObject {
            kind,
            fields,
            instead,
        };
        words.virtuals.push((v, object));
        Source::Virtual(words.virtuals.len() as u32 - 1)
    }

    /// The aggregate of a virtual object, its fields and, for `virtual_if`, the flag and the value
    /// to use otherwise.
    fn parts_of(&self, v: Value) -> (Value, Vec<Value>, Option<(Value, Value)>) {
        let (made, instead) = match self.f.op(v) {
            Op::VirtualIf => {
                let [flag, made, other] = [0, 1, 2].map(|i| self.f.arg(v, i));
                (made, Some((flag, other)))
            }
            _ => (self.f.resolve(v), None),
        };
        let mut items = self.f.inst(made).args.clone();
        if *self.f.op(made) == Op::VirtualCell {
            items.retain(|item| self.repr(*item) != Repr::Null);
        }
        (made, items, instead)
    }

    /// The index of a raw value among the words.
    fn word(&mut self, words: &mut Words, raw: Value) -> u32 {
        let raw = self.f.resolve(raw);
        words.place_of(raw).unwrap_or_else(|| {
            // A value that a word after the frame holds needs no register until then.
            if let Some(word) = self.shown_as(&words.locals, raw) {
                words.shown.push((word, raw));
                return FIRST_SHOWN + words.shown.len() as u32 - 1;
            }
            let value = self.raw(raw);
            words.add(raw, value)
        })
    }

    /// Continues only if `ok`; otherwise the interpreter resumes at the instruction of `v`.
    pub(super) fn guard(&mut self, v: Value, ok: lir::Value) {
        let exit = self.guard_exit(v);
        self.b.guard(ok, exit);
    }

    /// The exit of a guard. With forced exits its countdown is tested here first, except for a dead
    /// end.
    pub(super) fn guard_exit(&mut self, v: Value) -> lir::Block {
        self.leave_as(ExitKind::Resume, v)
    }

    /// The same for an exit of another kind.
    pub(super) fn leave_as(&mut self, kind: ExitKind, v: Value) -> lir::Block {
        if self.f.asserted.contains(&v) {
            return self.false_fact(v);
        }
        let inst = self.f.inst(v);
        let reason = inst.op.exit_reason().expect("an op that may exit");
        let state = inst
            .state
            .unwrap_or_else(|| panic!("{v} may exit but has no frame state"));
        let number = self.exits.len();
        if let Some(exit) = self.shared_exit(kind, reason, state) {
            return exit;
        }
        let (exit, shown) = self.make_exit(kind, reason, state, 0, None);
        self.last_exit = Some(LastExit {
            kind,
            reason,
            state,
            block: exit,
            shown,
        });
        if let Some(table) = self.parts.force_table
            && !reason.is_dead_end()
        {
            let cell = self.b.pconst(table + 8 * number as u64);
            let count = self.b.load(Width::I64, cell, 0);
            let armed = self.b.icmp_imm(IntCond::Ne, count, 0);
            let (down, go) = (self.b.cold_block(), self.b.block());
            self.b.br(armed, down, &[], go, &[]);
            self.b.switch_to(down);
            let one = self.b.iconst(1);
            let left = self.b.op(Opcode::Isub, &[count, one]);
            self.b.store(Width::I64, cell, 0, left);
            let now = self.b.icmp_imm(IntCond::Eq, left, 0);
            self.b.br(now, exit, &[], go, &[]);
            self.b.switch_to(go);
        }
        exit
    }

    /// The last exit, if it has the same reason and state. (Exits for a wrong class are counted for
    /// each guard, and so are forced exits.)
    fn shared_exit(&self, kind: ExitKind, reason: Reason, state: StateId) -> Option<lir::Block> {
        let last = self.last_exit.as_ref()?;
        let is_same = last.kind == kind && last.reason == reason && reason != Reason::Type;
        let is_same = is_same && self.parts.force_table.is_none();
        let states = &self.f.states;
        let is_same = is_same && (last.state == state || states[last.state] == states[state]);
        let mut shown = last.shown.iter();
        let is_shown = shown.all(|(word, raw)| self.shadows.get(word) == Some(raw));
        (is_same && is_shown).then_some(last.block)
    }

    /// A cold block for a false fact: it ends the process.
    fn false_fact(&mut self, v: Value) -> lir::Block {
        let here = self.b.current();
        let block = self.b.cold_block();
        self.b.switch_to(block);
        let number = super::assertions::number(self.f, v);
        let number = self.b.iconst(number);
        let callee = self.b.pconst(super::assertions::address());
        self.b
            .call_indirect(Signature::new(&[Ty::I64], &[Ty::I64]), callee, &[number]);
        self.b.terminate(Term::Unreachable);
        self.b.switch_to(here);
        block
    }

    /// True if the unit may continue: it is valid, nothing traces, and the frame's slots were not
    /// changed from outside.
    pub(super) fn still_valid(&mut self) -> lir::Value {
        let cell = self.b.pconst(self.parts.state_cell());
        let pending = self.b.pconst(self.parts.pending_cell());
        let args = [self.thread, self.frame, cell, pending];
        self.intrinsic(names::STILL_VALID, &args)[0]
    }

    /// Stores the frame's position and raw locals before a call-out of instruction `v`, for code
    /// that inspects the frame.
    pub(super) fn publish(&mut self, v: Value) {
        let pc = self.place_of(v);
        self.publish_position(pc);
        let Some(state) = self.f.inst(v).state else {
            return;
        };
        self.publish_locals(pc, &self.f.states[state].locals.clone());
    }

    /// Returns true if publishing only stores the position, because the frame's words are up to
    /// date.
    pub(super) fn publishes_position_alone(&self, v: Value) -> bool {
        let is_shown = |(k, local): (usize, &Value)| {
            let mut words = self.words(k, *local).into_iter();
            self.repr(*local) != Repr::Virtual
                && words.all(|(word, raw)| self.shadows.get(&word) == Some(&raw))
        };
        let mut locals = self.locals_at(v).iter().enumerate();
        let needs_copy = || (self.copied).contains(&self.f.code.instr(self.place_of(v)).pos);
        locals.all(is_shown) && (self.f.inst(v).state.is_none() || !needs_copy())
    }

    /// Returns true if the frame has the position already.
    pub(super) fn is_published(&self, v: Value) -> bool {
        self.position == Some(self.f.code.instr(self.place_of(v)).pos)
    }

    /// Notes that the frame is published by storing its position, and returns the address to store.
    /// The caller stores it.
    pub(super) fn published_at(&mut self, v: Value) -> u64 {
        let pc = self.place_of(v);
        let pos = self.f.code.instr(pc).pos;
        self.position = Some(pos);
        if let Some(state) = self.f.inst(v).state {
            self.publish_locals(pc, &self.f.states[state].locals.clone());
        }
        self.position_address(pos)
    }

    /// The bytecode instruction of a frame during a call-out of `v`.
    fn place_of(&self, v: Value) -> Pc {
        let inst = self.f.inst(v);
        let state = inst.state.map(|state| self.f.states[state].pc);
        state.unwrap_or(inst.pc)
    }

    /// The host's address for a position.
    fn position_address(&self, pos: u32) -> u64 {
        self.parts.position_base + u64::from(self.parts.position_scale) * u64::from(pos)
    }

    pub(super) fn publish_position(&mut self, pc: Pc) {
        let pos = self.f.code.instr(pc).pos;
        if self.position != Some(pos) {
            let p = self.b.pconst(self.position_address(pos));
            self.intrinsic(names::SET_POSITION, &[self.frame, p]);
            self.position = Some(pos);
        }
    }

    /// Stores the flag that local `k` is bound, after the words of the locals. Returns the number
    /// of that word.
    fn publish_bound(&mut self, k: u32, bound: Value) -> u32 {
        let word = self.f.code.locals.len() as u32 + k;
        if self.shadows.insert(word, bound) == Some(bound) {
            return word;
        }
        self.show(word, bound);
        word
    }

    pub(super) fn publish_locals(&mut self, pc: Pc, locals: &[Value]) {
        let mut map = Vec::new();
        let mut virtuals: Vec<(Value, VirtualObject)> = Vec::new();
        for (k, &v) in locals.iter().enumerate().take(self.f.code.locals.len()) {
            let k = k as u32;
            let (source, raw) = match self.repr(v) {
                Repr::Int(raw) => (Source::Int(k), raw),
                Repr::Double(raw) => (Source::Float(k), raw),
                Repr::Bool(raw) => (Source::Bool(k), raw),
                Repr::IntIf(raw, bound) => (Source::IntIf(k, self.publish_bound(k, bound)), raw),
                Repr::DoubleIf(raw, bound) => {
                    (Source::FloatIf(k, self.publish_bound(k, bound)), raw)
                }
                Repr::Virtual => {
                    let source = self.publish_virtual(&mut virtuals, k, self.f.resolve(v));
                    map.push((k, source));
                    continue;
                }
                _ => continue,
            };
            map.push((k, source));
            if self.shadows.get(&k) == Some(&raw) {
                continue;
            }
            self.show(k, raw);
            self.shadows.insert(k, raw);
        }
        let virtuals = virtuals.into_iter().map(|(_, object)| object).collect();
        let pos = self.f.code.instr(pc).pos;
        let maps = self.raw_maps.entry(pos).or_default();
        let is_same = |known: &RawMap| known.locals == map && known.virtuals == virtuals;
        let copy = maps.iter().position(is_same).unwrap_or(maps.len());
        if copy == maps.len() {
            maps.push(RawMap {
                pc,
                copy: copy as u64,
                locals: map,
                virtuals,
            });
        }
        if self.copied.contains(&pos) {
            let copy = self.b.iconst(copy as i64);
            let word = LOCAL_WORDS as u32 * self.f.code.locals.len() as u32;
            self.store_word(Width::I64, word, copy);
        }
    }

    /// Stores the fields of the virtual object in local `k` into the words of that local. If
    /// several locals refer to the object, the first one does it for all.
    fn publish_virtual(
        &mut self,
        virtuals: &mut Vec<(Value, VirtualObject)>,
        k: u32,
        v: Value,
    ) -> Source {
        if let Some(i) = virtuals.iter().position(|(made, _)| *made == v) {
            return Source::Virtual(i as u32);
        }
        let (aggregate, items, instead) = self.parts_of(v);
        let is_shown = |other: Value| self.repr(other) != Repr::Null;
        let words = instead.map_or(0, |(_, other)| 1 + usize::from(is_shown(other)));
        assert!(
            items.len() + words <= LOCAL_WORDS,
            "{v} has too many items to be seen"
        );
        // The words no longer hold a raw local.
        self.shadows.remove(&k);
        self.shadows.remove(&(self.f.code.locals.len() as u32 + k));
        let word = |i: usize| k + (i * self.f.code.locals.len()) as u32;
        let instead = instead.map(|(flag, other)| {
            let shown = word(items.len());
            self.show(shown, flag);
            let source = match self.repr(other) {
                Repr::Null => Source::Null,
                _ => {
                    let (p, shown) = (self.object(other).0, word(items.len() + 1));
                    self.store_word(Width::Ptr, shown, p);
                    Source::Borrowed(shown)
                }
            };
            (shown, source)
        });
        let (kind, mut fields) = kind_of(self.f.op(aggregate));
        for (i, item) in items.into_iter().enumerate() {
            let word = word(i);
            let (source, raw) = match self.repr(item) {
                // A field is always an object, even if a local that holds the same value may be
                // unbound.
                Repr::Int(raw) | Repr::IntIf(raw, _) => (Source::Int(word), raw),
                Repr::Double(raw) | Repr::DoubleIf(raw, _) => (Source::Float(word), raw),
                Repr::Bool(raw) => (Source::Bool(word), raw),
                Repr::Null => {
                    fields.push(Source::Null);
                    continue;
                }
                Repr::Object => {
                    let p = self.object(item).0;
                    self.store_word(Width::Ptr, word, p);
                    fields.push(Source::Borrowed(word));
                    continue;
                }
                other => panic!("{item}, {other:?}, is an item of {v}, which can be seen"),
            };
            self.show(word, raw);
            fields.push(source);
        }
        let object = VirtualObject {
            kind,
            fields,
            instead,
        };
        virtuals.push((v, object));
        Source::Virtual(virtuals.len() as u32 - 1)
    }
}

/// The kind of a virtual object in a record, and its fields before those of the operands.
fn kind_of(op: &Op) -> (VirtualKind, Vec<Source>) {
    let kind = match op {
        Op::VirtualInstance(class, places) => VirtualKind::Instance {
            class: *class,
            places: places.clone(),
        },
        Op::VirtualCell => VirtualKind::Cell,
        Op::VirtualDict => VirtualKind::Dict,
        Op::VirtualChain => VirtualKind::Chain,
        Op::VirtualGenerator(code, at) => VirtualKind::Generator {
            code: *code,
            at: Pc(*at),
        },
        Op::VirtualMethod(function) => {
            return (
                VirtualKind::Method,
                vec![Source::Const(super::address(*function))],
            );
        }
        _ => VirtualKind::Tuple,
    };
    (kind, Vec::new())
}
