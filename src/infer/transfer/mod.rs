//! The effects of operations on facts.
//!
//! A transfer function reads its operands (and so is notified when they are widened), raises the
//! possible exceptions, stores into slots, and returns an outcome. It never runs on an impossible
//! operand: the block is blocked instead. An operation without a function of its own is treated as
//! unknown code: its operands escape, and its result has the type that HIR gives it.

mod arith;
mod attributes;
mod builtins;
mod calls;
mod containers;
mod exits;
mod iterate;
mod keys;
mod unit;

use super::engine::{Engine, Outcome};
use super::identity::{Kind, Slot};
use super::value::{Facts, Sv, ints};
use crate::bytecode::{GeneralOp as G, Gives};
use crate::facts::Source;
use crate::hir::{self, Memory, Op, Reference, Value};
use crate::types::{ConstValue, ObjectHandle, Predefined, Type};
use std::sync::Arc;

/// An operand: its abstract value, and the facts about it at this place.
#[derive(Clone)]
pub(super) struct Arg {
    pub sv: Sv,
    pub facts: Facts,
}

impl Engine<'_> {
    /// Evaluates the operation.
    pub(super) fn transfer(&mut self, v: Value) -> Outcome {
        let f = self.function(self.here.version);
        let inst = &f.insts[v];
        let mut args = Vec::with_capacity(inst.args.len());
        for &arg in &inst.args {
            let facts = self.read(arg);
            let sv = self.binding(arg);
            // The interpreter's bookkeeping operations do not depend on values.
            if facts.is_impossible() && !is_bookkeeping(&inst.op) {
                return Outcome::Blocked;
            }
            // A refinement by a branch holds in this block only, so the value cannot be shared.
            let sv = if self.is_refined(arg) {
                Sv::MOST_GENERAL
            } else {
                sv
            };
            self.weakest = self.weakest.max(facts.source);
            args.push(Arg { sv, facts });
        }
        if self.unit.is_some() {
            if let Some(outcome) = self.transfer_in_unit(v, &args) {
                return outcome;
            }
        } else if self.may_leave(&inst.op, &args) {
            self.leave_to_interpreter(v);
        }
        match &inst.op {
            Op::Param => Outcome::Nothing,
            Op::Incref
            | Op::Decref
            | Op::StoreSlot(_)
            | Op::CheckValid
            | Op::CheckUnseen
            | Op::CheckPending
            | Op::DoPending
            | Op::CheckQuiet
            | Op::CheckClasses(_)
            | Op::Check(_)
            | Op::Count(_)
            | Op::CheckThread(_) => Outcome::Nothing,
            Op::Arg(slot) => self.argument(*slot as usize),
            Op::LoadSlot(slot) => self.load_slot(*slot),
            Op::Const(object) => Outcome::Value(self.constant(*object).because(inst.source)),
            Op::ConstInt(value) => {
                Outcome::Value(Facts::constant(inst.ty, ConstValue::Int(*value)))
            }
            Op::ConstBool(value) => {
                Outcome::Value(Facts::constant(inst.ty, ConstValue::Bool(*value)))
            }
            Op::ConstDouble(bits) => {
                let value = ConstValue::Float(f64::from_bits(*bits));
                Outcome::Value(Facts::constant(inst.ty, value))
            }
            Op::Null => Outcome::Value(Facts::of_type(Type::NULLPTR)),
            Op::GuardType(ty) => {
                let known = args[0].facts.is(*ty);
                self.narrowed(
                    &args[0],
                    *ty,
                    if known {
                        Source::Proved
                    } else {
                        Source::Guarded
                    },
                )
            }
            Op::Refine(ty) => self.narrowed(&args[0], *ty, Source::Proved),
            Op::Held | Op::Kin(_) => Outcome::Value(args[0].facts.clone()),
            Op::GuardBound => self.narrowed(&args[0], Type::OBJECT, Source::Proved),
            Op::GuardIs(object) => {
                let facts = self.constant(*object).because(Source::Guarded);
                Outcome::Value(facts)
            }
            Op::GuardTrue(_) => match args[0].facts.as_truth() {
                Some(false) => Outcome::Never,
                _ => Outcome::Nothing,
            },
            Op::BoxInt | Op::BoxFloat | Op::BoxBool => self.converted(&args[0], inst.ty),
            Op::UnboxInt | Op::UnboxFloat | Op::UnboxBool => self.converted(&args[0], inst.ty),
            Op::BoolNot => {
                let known = args[0].facts.as_truth().map(|value| !value);
                self.derived(Facts::truth(Type::CBOOL, known), &args)
            }
            Op::IsNone => self.derived(is_none(&args[0].facts), &args),
            Op::IsNull => {
                let facts = &args[0].facts;
                let known = if facts.is(Type::NULLPTR) {
                    Some(true)
                } else {
                    (!facts.ty.could_be(Type::NULLPTR)).then_some(false)
                };
                self.derived(Facts::truth(Type::CBOOL, known), &args)
            }
            Op::Is => self.same_object(&args),
            Op::Output(index) => {
                let key = (inst.args[0], *index);
                match self.versions[self.here.version].outputs.get(&key) {
                    Some(&sv) => Outcome::Same(sv),
                    None => Outcome::Value(Facts::of_type(inst.ty)),
                }
            }
            Op::NewCell(_) => {
                let cell = self.site(0, Kind::Cell, "cell");
                self.store_arg(cell, Slot::Content, &args[0]);
                Outcome::Value(Facts::object(Type::CELL, cell))
            }
            Op::CellGet => {
                let facts = self.slots_of(&args[0].facts, &Slot::Content, Kind::Cell);
                Outcome::Value(facts)
            }
            Op::CellSet => {
                let old = self.slots_of(&args[0].facts, &Slot::Content, Kind::Cell);
                self.store_in(&args[0].facts, Slot::Content, Kind::Cell, &args[1]);
                Outcome::Value(old)
            }
            Op::RangeNext => {
                self.output(0, Facts::of_type(Type::CINT64));
                Outcome::Value(Facts::of_type(Type::CBOOL))
            }
            Op::IterMore => self.iter_more(&args[0]),
            Op::ListIterNext | Op::TupleIterNext => {
                let facts = self.slots_of(&args[0].facts, &Slot::Items, Kind::Iterator);
                Outcome::Value(facts)
            }
            Op::ListLen | Op::TupleLen => {
                let facts = self.length(&args[0].facts);
                self.converted(&Arg { facts, ..args[0] }, Type::CINT64)
            }
            Op::ListGet | Op::TupleGet => self.item_at(&args),
            Op::StrLen | Op::StrEq | Op::StrAt | Op::Select => {
                self.derived(Facts::of_type(inst.ty), &args)
            }
            Op::ListAppend => {
                self.append(&args[0], &args[1]);
                Outcome::Nothing
            }
            Op::ListSet => {
                let old = self.slots_of(&args[0].facts, &Slot::Items, Kind::List);
                self.replace_item(&args[0], &args[2]);
                Outcome::Value(old)
            }
            Op::ListSlice(_) => self.offspring(Kind::List, Type::LIST_EXACT, &[&args[0].facts]),
            Op::ListCopySlice(_) => self.extend_from(v, &[args[0].clone(), args[3].clone()]),
            Op::CallDirect(_) | Op::CallGetter(..) => {
                let callee = args.remove(0);
                self.call(&callee, args)
            }
            Op::General(op, imms) => self.general(v, *op, *imms, args),
            op if touches_objects(op) => self.unknown(v, &args),
            _ if inst.ty.is_bottom() => Outcome::Nothing,
            _ => self.derived(Facts::of_type(inst.ty), &args),
        }
    }

    /// An operation on objects.
    fn general(&mut self, v: Value, op: G, imms: [i64; 2], args: Vec<Arg>) -> Outcome {
        match op {
            G::Binary | G::BinaryInts => self.binary(v, imms[0] as u32, &args),
            G::Compare => self.compare(v, imms[0] as u32, &args, Type::BOOL),
            G::CompareBool => self.compare(v, imms[0] as u32, &args, Type::CBOOL),
            G::Contains => self.contains(v, &args),
            G::Truth => self.truth(v, &args),
            G::Negative | G::Invert => self.unary(v, op, &args),
            G::GetItem | G::FindItem => self.get_item(v, &args),
            G::IsRaised => Outcome::Value(Facts::of_type(Type::CBOOL)),
            G::SetItem | G::MapAdd => self.set_item(v, &args),
            G::SetSlice => self.set_slice(v, &args),
            G::DelItem => self.del_item(v, &args),
            G::GetSlice | G::GetExtendedSlice => self.get_slice(v, &args),
            G::LoadAttr => self.load_attr(v, imms[0], &args[0]),
            G::LoadMethod => self.load_method(v, imms[0], &args[0]),
            G::LoadSuperAttr => self.load_super(v, imms, &args),
            G::StoreAttr => self.store_attr(v, imms[0], &args),
            G::LoadGlobal | G::LoadName => self.load_global(v, op, imms[0]),
            G::StoreName | G::StoreGlobal => self.store_name(imms[0], &args[0], op),
            G::CopyFreeVars => Outcome::Nothing,
            G::Call | G::CallLent => self.call_general(v, args),
            G::GetIter => self.get_iter(v, &args[0]),
            G::RangeIter => Outcome::Value(Facts::any_object()),
            G::IterNext | G::IterNextBy => self.iter_next(v, &args[0]),
            G::NextItems => {
                (0..imms[0] as u32).for_each(|k| self.output(k, Facts::MOST_GENERAL));
                self.unknown(v, &args)
            }
            G::EndIteration | G::GetterRaised => Outcome::Nothing,
            G::BuildTuple => self.build_tuple(&args),
            G::BuildList => self.build(Kind::List, Type::LIST_EXACT, &args),
            G::BuildSet => self.build(Kind::Set, Type::SET_EXACT, &args),
            G::BuildMap | G::BuildKeywords => self.build_map(&args),
            G::ListAppend => {
                self.append(&args[0], &args[1]);
                Outcome::Nothing
            }
            G::SetAdd => {
                self.add_to(&args[0], &args[1], Kind::Set);
                Outcome::Nothing
            }
            G::ListExtend | G::SetUpdate => self.extend_from(v, &args),
            G::UnpackSequence => self.unpack(v, imms[0] as u32, &args[0]),
            G::MakeFunction => self.make_function(v, &args[0]),
            G::SetFunctionAttribute => self.set_function_attribute(imms[0], &args),
            G::LoadBuildClass => self.known_builtin("__build_class__"),
            G::LoadAssertionError => self.known_builtin("AssertionError"),
            G::Raise => self.raise_operand(&args),
            G::Reraise => {
                self.raise(args[1].facts.clone());
                Outcome::Never
            }
            G::RaiseAgain => {
                let handled = self.set.read(self.handled, self.here.reader);
                self.raise(handled);
                self.raise_any();
                Outcome::Never
            }
            G::Catch => {
                let (version, block) = (self.here.version, self.here.block);
                match self.block(version, block).exception {
                    Some(sv) => Outcome::Same(sv),
                    None => Outcome::Value(Facts::of_type(Type::BASE_EXCEPTION)),
                }
            }
            G::PushExcInfo => Outcome::Value(Facts::any_object()),
            G::PopExcept | G::SetHandled | G::ForgetTraceback | G::HandlePending => {
                Outcome::Nothing
            }
            G::CheckExcMatch => self.matches(&args),
            G::GetLen => self.call_builtin("len", &args, Source::Proved),
            G::BuildString | G::ConcatStrings | G::FormatSimple | G::ConvertValue => {
                self.formatted(v, &args)
            }
            G::MatchMapping | G::MatchSequence => Outcome::Value(Facts::of_type(Type::CBOOL)),
            G::BuildSlice => {
                // A bound may define `__index__`, which runs later.
                for arg in &args {
                    self.set.escape(&arg.facts);
                }
                Outcome::Value(Facts::of_type(Type::SLICE))
            }
            _ => self.unknown(v, &args),
        }
    }

    /// An operation of which only the result type is known.
    pub(super) fn unknown(&mut self, v: Value, args: &[Arg]) -> Outcome {
        for arg in args {
            self.set.escape(&arg.facts);
        }
        // Objects that this operation allocated, while more was known, are among its possible
        // results.
        let made = (self.here.version, v, 0)..=(self.here.version, v, u32::MAX);
        for (_, &id) in self.sites.range(made) {
            let made = Facts::object(Type::OBJECT, id);
            self.set.escape(&made);
        }
        let f = self.function(self.here.version);
        let inst = &f.insts[v];
        if inst.op.raises() || inst.op.exit_may_raise() {
            self.raise_any();
        }
        let version = self.here.version;
        for index in 0.. {
            if !self.versions[version].outputs.contains_key(&(v, index)) {
                break;
            }
            self.output(index, Facts::MOST_GENERAL);
        }
        let gives = match inst.op {
            Op::General(op, _) => op.info().gives,
            _ if inst.ty.is_bottom() => Gives::Nothing,
            _ => Gives::Object,
        };
        match (gives, inst.ty.is_bottom()) {
            (Gives::Object, false) => Outcome::Value(Facts::of_type(inst.ty)),
            (Gives::Bool | Gives::Next, _) => Outcome::Value(Facts::of_type(Type::CBOOL)),
            _ => Outcome::Nothing,
        }
    }

    /// Returns true if a predicate on the value holds at the current block.
    fn is_refined(&mut self, v: Value) -> bool {
        let (version, block) = (self.here.version, self.here.block);
        let env = &self.block(version, block).env;
        env.iter().any(|(subject, _)| *subject == v)
    }

    /// Facts that follow from the operands, with the weakest of their sources.
    pub(super) fn derived(&self, facts: Facts, args: &[Arg]) -> Outcome {
        let sources = args.iter().map(|arg| arg.facts.source);
        let source = sources.max().unwrap_or(Source::Proved);
        Outcome::Value(facts.because(source))
    }

    /// The operand, restricted to the type.
    fn narrowed(&mut self, arg: &Arg, ty: Type, source: Source) -> Outcome {
        let facts = self.restrict(arg.facts.clone(), ty);
        Outcome::Value(facts.because(source))
    }

    /// The operand, boxed or unboxed.
    fn converted(&mut self, arg: &Arg, ty: Type) -> Outcome {
        let mut facts = Facts::of_type(ty).because(arg.facts.source);
        let scalar = arg
            .facts
            .is(Type::LONG_EXACT | Type::BOOL | Type::FLOAT_EXACT | Type::PRIMITIVE);
        if scalar {
            facts.constant = arg.facts.constant.clone();
            facts.nonneg |= arg.facts.nonneg && arg.facts.ty.could_be(ints());
        }
        Outcome::Value(facts.normal())
    }

    /// Sets an output of the current operation.
    pub(super) fn output(&mut self, index: u32, facts: Facts) {
        let key = (self.here.op, index);
        let version = self.here.version;
        let sv = match self.versions[version].outputs.get(&key) {
            Some(&sv) => sv,
            None => {
                let sv = self.set.fresh(Facts::IMPOSSIBLE);
                self.versions[version].outputs.insert(key, sv);
                sv
            }
        };
        self.set.widen(sv, facts.because(self.weakest));
    }

    fn argument(&mut self, slot: usize) -> Outcome {
        match self.versions[self.here.version].params.get(slot) {
            Some(&sv) => Outcome::Same(sv),
            None => Outcome::Value(Facts::MOST_GENERAL),
        }
    }

    fn load_slot(&mut self, slot: u32) -> Outcome {
        let f = self.function(self.here.version);
        let locals = &f.code.locals;
        let is_free = |k: usize| locals[k].1 == crate::bytecode::LocalKind::Free;
        if (slot as usize) < locals.len() && is_free(slot as usize) {
            let index = (0..slot as usize).filter(|k| is_free(*k)).count();
            return Outcome::Same(self.versions[self.here.version].free[index]);
        }
        if f.code.optimized {
            Outcome::Value(Facts::MOST_GENERAL)
        } else {
            // The slots of a body are empty at the start.
            Outcome::Value(Facts::of_type(Type::NULLPTR))
        }
    }

    /// The facts about an object that the program refers to as a constant.
    pub(super) fn constant(&mut self, object: ObjectHandle) -> Facts {
        let ty = Type::from_object(object);
        if let Some(&func) = self.program.by_object.get(&object)
            && object.class().and_then(|c| c.predefined()) == Some(Predefined::Func)
        {
            let id = self.plain_function(func);
            return Facts {
                ty,
                ..Facts::object(Type::FUNC, id)
            };
        }
        match self.program.values.get(&object) {
            Some(value) => Facts::constant(ty, value.clone()),
            None => {
                let name = object.name();
                let name = name
                    .trim_start_matches("<built-in function ")
                    .trim_end_matches('>');
                let known = ty.could_be(Type::TYPE | Type::BUILTIN_METHOD);
                match known.then(|| self.builtin_facts(name)).flatten() {
                    Some(facts) => facts,
                    None => Facts::of_type(ty),
                }
            }
        }
    }

    fn same_object(&mut self, args: &[Arg]) -> Outcome {
        let (a, b) = (&args[0].facts, &args[1].facts);
        let none = Type::NONE_TYPE;
        let known = if a.is(none) && b.is(none) {
            Some(true)
        } else if !a.ty.could_be(b.ty) {
            Some(false)
        } else {
            match (&a.constant, &b.constant) {
                (Some(ConstValue::Bool(a)), Some(ConstValue::Bool(b))) => Some(a == b),
                _ => self.same_class(a, b),
            }
        };
        self.derived(Facts::truth(Type::CBOOL, known), args)
    }

    /// Returns true if two values are the same class, false if not. None if that is not known.
    fn same_class(&self, a: &Facts, b: &Facts) -> Option<bool> {
        let is_class = |facts: &Facts| {
            let mut ids = facts.objects.ids.iter();
            facts.is(Type::TYPE)
                && !facts.objects.open
                && ids.all(|id| self.set.own_heap(*id).kind == Kind::Class)
        };
        if !is_class(a) || !is_class(b) {
            return None;
        }
        match (&a.objects.ids[..], &b.objects.ids[..]) {
            ([a], [b]) if a == b => self.is_one_class(*a).then_some(true),
            (a, b) => (!a.iter().any(|id| b.contains(id))).then_some(false),
        }
    }

    /// Compares the type of an exception with classes, for `except`.
    fn matches(&mut self, args: &[Arg]) -> Outcome {
        let facts = args[0].facts.clone();
        let Some(classes) = self.classes_of(&args[1].facts) else {
            self.raise_named("TypeError");
            return self.derived(Facts::of_type(Type::CBOOL), args);
        };
        if args[1].facts.ty.could_be(super::value::plain()) {
            self.raise_named("TypeError");
        }
        let known = self.is_instance(&facts, &args[1].facts, classes);
        self.derived(Facts::truth(Type::CBOOL, known), args)
    }

    /// Returns true if a value is an instance of one of the classes, false if not. None if that is
    /// not known.
    pub(super) fn is_instance(
        &mut self,
        facts: &Facts,
        operand: &Facts,
        classes: Vec<super::Identity>,
    ) -> Option<bool> {
        use super::predicate::Predicate;
        let inside = self.refine(facts.clone(), &Predicate::Instance(classes.clone()));
        if inside.is_impossible() {
            return Some(false);
        }
        // The operand may be one class or another, so no single answer holds.
        if !self.names_all(operand) {
            return None;
        }
        let has_user = classes.iter().any(|class| !self.is_builtin_class(*class));
        let has_exception = classes.iter().any(|class| self.is_exception(*class));
        if facts.objects.open && (has_user || has_exception) {
            return None;
        }
        let outside = self.refine(facts.clone(), &Predicate::NotInstance(classes));
        outside.is_impossible().then_some(true)
    }

    fn raise_operand(&mut self, args: &[Arg]) -> Outcome {
        let facts = args[0].facts.clone();
        let mut raised = Facts::IMPOSSIBLE;
        for &id in &facts.objects.ids {
            let kind = self.set.own_heap(id).kind;
            let one = match kind {
                Kind::Class if self.is_exception(id) => {
                    let instance = self.instance_of(id);
                    let class = Facts::object(Type::TYPE_EXACT, id);
                    let class = Arg {
                        facts: class,
                        ..args[0]
                    };
                    self.call(&class, Vec::new());
                    instance
                }
                Kind::Instance | Kind::Exception => {
                    let ty = facts.ty & (Type::BASE_EXCEPTION | Type::USER);
                    Facts::object(ty, id)
                }
                _ => self.exception("TypeError"),
            };
            raised = raised.join(&one);
        }
        if facts.objects.open {
            raised = raised.join(&Facts::of_type(Type::BASE_EXCEPTION));
        }
        if facts.ty.could_be(super::value::plain()) {
            self.raise_named("TypeError");
        }
        // Other code can read the cause.
        for cause in args[1..].iter().filter(|arg| !arg.facts.is(Type::NULLPTR)) {
            self.set.escape(&cause.facts);
            self.raise_named("TypeError");
        }
        self.raise(raised);
        Outcome::Never
    }

    fn formatted(&mut self, v: Value, args: &[Arg]) -> Outcome {
        let known = args.iter().all(|arg| arg.facts.ty <= super::value::plain());
        if known {
            self.derived(Facts::of_type(Type::UNICODE_EXACT), args)
        } else {
            self.unknown(v, args)
        }
    }

    fn known_builtin(&mut self, name: &str) -> Outcome {
        let facts = self.builtin_facts(name);
        Outcome::Value(
            facts
                .unwrap_or_else(Facts::any_object)
                .because(Source::Assumed),
        )
    }

    /// The name with this index in the code.
    pub(super) fn name(&self, index: i64) -> Arc<str> {
        let f = self.function(self.here.version);
        let name = f.code.names.get(index as usize);
        Arc::from(name.map_or("?", |name| name.as_str()))
    }

    /// The type that the rules of the language give.
    pub(super) fn typed(&self, op: G, imms: [i64; 2], args: &[Type]) -> Type {
        hir::general_type(op, imms, args)
    }
}

/// Returns true if an op without a rule above reads an object from memory, or may store one there.
fn touches_objects(op: &Op) -> bool {
    const OBJECTS: Memory = Memory::WRITABLE.without(Memory::RAW_ITEMS);
    let row = op.row();
    row.runs_host_code()
        || row.writes.meets(OBJECTS)
        || row.reads.meets(OBJECTS) && row.reference != Reference::None
}

fn is_bookkeeping(op: &Op) -> bool {
    matches!(
        op,
        Op::Incref | Op::Decref | Op::StoreSlot(_) | Op::Output(_) | Op::General(G::PopExcept, _)
    )
}

fn is_none(facts: &Facts) -> Facts {
    let known = if facts.is(Type::NONE_TYPE) {
        Some(true)
    } else {
        (!facts.ty.could_be(Type::NONE_TYPE)).then_some(false)
    };
    Facts::truth(Type::CBOOL, known)
}
