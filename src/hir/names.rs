//! Names of a namespace kept in registers.
//!
//! Module code keeps its variables in a dict, and so do functions that bind globals. In the units
//! of a loop of such module code, where the namespace is the globals' dict, and of such functions,
//! names become as cheap as locals. That is not observable: between two instructions that may run
//! user code (**barriers**), only the unit reads the dict.
//!
//! # The states of a name
//! - Unknown.
//! - **Clean**: the dict has the value, which is borrowed from it.
//! - **Dirty**: the value, a raw number, is newer than the dict's, which is an object whose
//!   destructor runs no user code. A dirty value is in the frame state, behind the locals, so that
//!   an exit writes it.
//!
//! At a barrier dirty names are stored, and all names are unknown afterwards. Example: in
//! `for i in range(n): total += i` at module level, `total` is dirty in the loop, and is stored to
//! the dict on the loop's exit.
//!
//! # Regions
//! A **region** is a loop's blocks without barriers (a strongly connected component of them). At
//! all joins of a region the same names are in registers: the names that the region uses, loaded on
//! entry. Of these, the names that it stores are dirty there if they are numbers. At other joins
//! all names are unknown. A block with one predecessor starts with the states at the end of that.
//!
//! # Barriers are found by trying
//! Only optimisation shows that an operation runs no user code. So the first attempt assumes that
//! there are no barriers, [`Plan::learn`] adds those that were missed, and the function is built
//! again until none is missed.

mod regions;

use super::build::{Builder, is_builtin_exact};
use super::function::{Edge, FrameState, Function, Place, StateId, Term, Value};
use super::{Block, Op};
use crate::bytecode::{Pc, Reason};
use crate::facts::{Global, RawKind};
use crate::types::Type;
use regions::Region;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The assumptions of an attempt to build.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The type of the current value of each of the code's names; `NullPtr` if it has none.
    live: Vec<Type>,
    /// Instructions that may run user code.
    barriers: HashSet<Pc>,
    /// Names that do not stay numbers of one class.
    through: BTreeSet<u32>,
}

impl Plan {
    /// The plan of the first attempt: `live` has the type of the current value of each name of the
    /// code.
    pub fn new(live: &[Type]) -> Plan {
        Plan {
            live: live.to_vec(),
            ..Plan::default()
        }
    }

    /// Compare the plan with the optimised function. Returns true if the plan was right; otherwise
    /// returns false and improves the plan.
    pub fn learn(&mut self, f: &Function) -> bool {
        let before = (self.barriers.len(), self.through.len());
        self.through.extend(f.unsteady_names.iter().copied());
        for &v in f.order.iter().flat_map(|&b| &f.blocks[b].insts) {
            let inst = f.inst(v);
            let checks = matches!(inst.op, Op::CheckPending | Op::DoPending | Op::CheckValid);
            if !checks && f.may_run_host_code(v) && !f.settled.contains(&v) {
                // Instructions that are translated together count as one.
                let first = f.fused.iter().find(|(pc, _)| *pc == inst.pc);
                self.barriers
                    .insert(first.map_or(inst.pc, |(_, first)| *first));
            }
        }
        before != (self.barriers.len(), self.through.len())
    }
}

/// The state of a name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Held {
    Clean(Value),
    Dirty(Value, RawKind),
}

pub(super) type Known = BTreeMap<u32, Held>;

/// The builder's part for names.
pub(super) struct Names<'a> {
    plan: &'a Plan,
    here: Known,
    at_entry: HashMap<Block, Known>,
    regions: Vec<Region>,
    region_of: HashMap<Pc, usize>,
    /// Names that some reachable instruction binds or deletes.
    bound: BTreeSet<u32>,
    /// The expected type of each name.
    guess: Vec<Type>,
    /// Parameters that represent a clean name.
    params: HashSet<Value>,
    barriers: HashSet<Pc>,
}

impl<'a> Names<'a> {
    pub(super) fn new(plan: &'a Plan) -> Names<'a> {
        Names {
            plan,
            here: Known::new(),
            at_entry: HashMap::new(),
            regions: Vec::new(),
            region_of: HashMap::new(),
            bound: BTreeSet::new(),
            guess: plan.live.clone(),
            params: HashSet::new(),
            barriers: plan.barriers.clone(),
        }
    }

    /// Replace an object by a value of which more is known.
    pub(super) fn replace(&mut self, old: Value, new: Value) {
        for held in self.here.values_mut() {
            match held {
                Held::Clean(v) if *v == old => *v = new,
                _ => {}
            }
        }
    }

    fn may_be_bound(&self, name: u32) -> bool {
        self.here.contains_key(&name)
            || self.bound.contains(&name)
            || !(self.guess[name as usize] <= Type::NULLPTR)
    }
}

/// Returns true if the destructor of an object of this type runs no user code.
fn dies_quietly(ty: Type) -> bool {
    let quiet = Type::LONG_EXACT
        | Type::FLOAT_EXACT
        | Type::BOOL
        | Type::UNICODE_EXACT
        | Type::BYTES_EXACT
        | Type::NONE_TYPE;
    !ty.is_bottom() && ty.unspecialized() <= quiet
}

impl<'a> Builder<'a> {
    fn names(&mut self) -> &mut Names<'a> {
        self.names
            .as_mut()
            .expect("asked only where there are some")
    }

    fn held(&self, name: u32) -> Option<Held> {
        self.names.as_ref()?.here.get(&name).copied()
    }

    /// The index of a name that may be dirty among the locals of a frame state.
    fn place(&self, name: u32) -> Option<usize> {
        let index = self.f.names.binary_search(&name).ok()?;
        Some(self.code.locals.len() + index)
    }

    fn set(&mut self, name: u32, held: Option<Held>) {
        if let Some(place) = self.place(name) {
            self.locals[place] = match held {
                Some(Held::Dirty(raw, _)) => raw,
                _ => self.null,
            };
        }
        match held {
            Some(held) => self.names().here.insert(name, held),
            None => self.names().here.remove(&name),
        };
    }

    /// The states at the start of a block.
    pub(super) fn names_at(&mut self, block: Block) {
        if let Some(names) = &mut self.names {
            names.here = names.at_entry.get(&block).cloned().unwrap_or_default();
        }
    }

    /// Returns true if the instruction may run user code; then all values have been stored to the
    /// dict.
    pub(super) fn names_before(&mut self, pc: Pc) -> bool {
        if !(self.names.as_ref()).is_some_and(|n| n.barriers.contains(&pc)) {
            return false;
        }
        self.publish_names(pc);
        true
    }

    /// Store the dirty names; afterwards the state of every name is unknown.
    pub(super) fn publish_names(&mut self, pc: Pc) {
        if self.names.is_some() {
            let dirty: Vec<u32> = self.dirty().collect();
            for name in dirty {
                self.flush(name, pc);
            }
            self.forget_names();
        }
    }

    /// The current states of names, to continue with in another block.
    pub(super) fn names_here(&self) -> Option<Known> {
        self.names.as_ref().map(|n| n.here.clone())
    }

    /// Continues with the states of names that [`Builder::names_here`] returned; the locals are
    /// those of that place.
    pub(super) fn restore_names(&mut self, known: &Option<Known>) {
        if let (Some(names), Some(known)) = (&mut self.names, known) {
            names.here = known.clone();
        }
    }

    pub(super) fn forget_names(&mut self) {
        if let Some(names) = &mut self.names {
            names.here.clear();
            let null = self.null;
            self.locals[self.code.locals.len()..].fill(null);
        }
    }

    fn dirty(&self) -> impl Iterator<Item = u32> + '_ {
        let here = self.names.iter().flat_map(|n| &n.here);
        here.filter(|(_, held)| matches!(held, Held::Dirty(..)))
            .map(|(name, _)| *name)
    }

    /// The frame as it is now, before the instruction at `pc`.
    fn state_at(&mut self, pc: Pc) -> StateId {
        self.f.states.push(FrameState {
            pc,
            locals: self.locals.clone(),
            stack: self.stack.clone(),
            inlined: Vec::new(),
        })
    }

    fn boxed(&mut self, raw: Value, kind: RawKind) -> Value {
        self.emit(Op::boxing(kind), vec![raw], kind.boxed())
    }

    fn unboxed(&mut self, v: Value, kind: RawKind, state: StateId) -> Value {
        self.emit_with(Op::unboxing(kind), vec![v], kind.raw(), Some(state))
    }

    /// Store a dirty name.
    fn flush(&mut self, name: u32, pc: Pc) {
        let Some(Held::Dirty(raw, kind)) = self.held(name) else {
            return;
        };
        let state = self.state_at(pc);
        let boxed = self.boxed(raw, kind);
        let old = Type::LONG_EXACT.opt();
        let old = self.emit_with(Op::NameSet(name), vec![boxed], old, Some(state));
        self.set(name, None);
        self.emit_with(Op::Decref, vec![old], Type::BOTTOM, Some(state));
    }

    // ---- edges ----

    /// Returns true if paths join at `pc`.
    fn joins(&self, pc: Pc) -> bool {
        self.pred_count[&pc] > 1 || self.headers.contains(&pc)
    }

    /// The region at whose join `pc` is.
    fn region_at(&self, pc: Pc) -> Option<usize> {
        self.names.as_ref()?.region_of.get(&pc).copied()
    }

    /// The names that are in registers at the join `pc`.
    fn held_at(&mut self, pc: Pc) -> BTreeMap<u32, Option<RawKind>> {
        let Some(index) = self.region_at(pc) else {
            return BTreeMap::new();
        };
        let names = self.names.as_ref().expect("regions are of names");
        let region = &names.regions[index];
        if let Some(held) = &region.held {
            return held.clone();
        }
        let mut held = BTreeMap::new();
        for &name in &region.used {
            let constant = !names.bound.contains(&name);
            if constant && self.constant_name(name).is_some() || !names.may_be_bound(name) {
                continue;
            }
            let guess = names.guess[name as usize];
            if !names.here.contains_key(&name) && guess <= Type::NULLPTR {
                continue;
            }
            let mut kind = match names.here.get(&name) {
                Some(Held::Dirty(_, kind)) => Some(*kind),
                Some(Held::Clean(v)) if is_builtin_exact(self.ty(*v)) => RawKind::of(self.ty(*v)),
                _ => RawKind::of(guess),
            };
            if !region.stored.contains(&name) || names.plan.through.contains(&name) {
                kind = None;
            }
            held.insert(name, kind);
        }
        self.names().regions[index].held = Some(held.clone());
        held
    }

    /// Returns true if an edge to `pc` needs instructions.
    fn needs_work(&mut self, pc: Pc) -> bool {
        if self.names.is_none() || self.is_end(pc) || !self.joins(pc) {
            return false;
        }
        let wanted = self.held_at(pc);
        let names = self.names.as_ref().expect("checked");
        let missing = wanted
            .iter()
            .any(|(name, kind)| match (names.here.get(name), kind) {
                (Some(Held::Dirty(_, k)), Some(kind)) => k != kind,
                (Some(Held::Clean(v)), None) => !self.is_object(*v),
                _ => true,
            });
        missing
            || self
                .dirty()
                .any(|name| !matches!(wanted.get(&name), Some(Some(_))))
    }

    /// Returns true if the value surely is an object of the dict's or a constant: no number will
    /// replace it.
    fn is_object(&self, v: Value) -> bool {
        let mut v = self.f.resolve(v);
        while matches!(
            self.f.op(v),
            Op::GuardType(_) | Op::GuardIs(_) | Op::Refine(_)
        ) {
            v = self.f.arg(v, 0);
        }
        let known = self.names.as_ref().is_some_and(|n| n.params.contains(&v));
        known || matches!(self.f.op(v), Op::NameGet(_) | Op::Const(_))
    }

    /// Brings the names into the states that the block at `pc` expects, at the end of the current
    /// block.
    pub(super) fn carry_names(&mut self, pc: Pc) {
        if !self.needs_work(pc) {
            return;
        }
        let wanted = self.held_at(pc);
        let dirty: Vec<u32> = self.dirty().collect();
        for name in dirty {
            let stays = match (self.held(name), wanted.get(&name)) {
                (Some(Held::Dirty(_, kind)), Some(Some(wanted))) => {
                    if kind != *wanted {
                        self.f.unsteady_names.push(name);
                    }
                    kind == *wanted
                }
                _ => false,
            };
            if !stays {
                self.flush(name, pc);
            }
        }
        for (name, kind) in wanted {
            match (self.held(name), kind) {
                (Some(Held::Dirty(..)), _) => {}
                (Some(Held::Clean(v)), Some(kind)) if RawKind::of(self.ty(v)) == Some(kind) => {
                    let state = self.state_at(pc);
                    let raw = self.unboxed(v, kind, state);
                    self.set(name, Some(Held::Dirty(raw, kind)));
                }
                (held, Some(kind)) => {
                    if let Some(Held::Clean(v)) = held
                        && is_builtin_exact(self.ty(v))
                    {
                        self.f.unsteady_names.push(name);
                    }
                    let state = self.state_at(pc);
                    let raw = self.raw_name(name, kind, state);
                    self.set(name, Some(Held::Dirty(raw, kind)));
                }
                (Some(Held::Clean(v)), None) if self.is_object(v) => {}
                (_, None) => {
                    let state = self.state_at(pc);
                    let v = self.get_name(name, state);
                    self.set(name, Some(Held::Clean(v)));
                }
            }
        }
    }

    /// The edge to `pc` of a branch: through a block of its own if names need loads or stores.
    pub(super) fn edge_with_names(&mut self, pc: Pc) -> Edge {
        if self.needs_work(pc) {
            self.edge_through(pc, pc, |_| {})
        } else {
            self.edge_to(pc)
        }
    }

    /// The edge to `pc` through a block of its own, which begins with the instructions of `first`;
    /// before them, the interpreter is at `at`.
    pub(super) fn edge_through(&mut self, pc: Pc, at: Pc, first: impl FnOnce(&mut Self)) -> Edge {
        let block = self.follower();
        self.f.blocks[block].entry_state.pc = at;
        let from = std::mem::replace(&mut self.cur, block);
        let (locals, stack) = (self.locals.clone(), self.stack.clone());
        let here = self.names_here();
        first(self);
        self.carry_names(pc);
        let edge = self.edge_to(pc);
        self.end_block(Term::Jump(edge));
        self.cur = from;
        (self.locals, self.stack) = (locals, stack);
        self.restore_names(&here);
        Edge {
            block,
            args: Vec::new(),
        }
    }

    /// The frame state's values and the parameters for names, at the first edge to the block at
    /// `pc`.
    pub(super) fn enter_names(&mut self, block: Block, pc: Pc, locals: &mut [Value]) {
        if self.names.is_none() {
            return;
        }
        if !self.joins(pc) {
            let here = self.names().here.clone();
            self.names().at_entry.insert(block, here);
            return;
        }
        locals[self.code.locals.len()..].fill(self.null);
        let mut known = Known::new();
        for (name, kind) in self.held_at(pc) {
            let from = match self.held(name) {
                Some(Held::Clean(v) | Held::Dirty(v, _)) => v,
                None => unreachable!("{name} was not brought to {pc}"),
            };
            let param = self.param(block, from, Place::Name(name));
            let held = match kind {
                Some(kind) => {
                    self.f.insts[param].ty = kind.raw();
                    let place = self.place(name).expect("a name that is stored in a loop");
                    locals[place] = param;
                    Held::Dirty(param, kind)
                }
                None => {
                    self.f.insts[param].ty = Type::OBJECT;
                    self.names().params.insert(param);
                    Held::Clean(param)
                }
            };
            known.insert(name, held);
        }
        self.names().at_entry.insert(block, known);
    }

    /// The values for those parameters.
    pub(super) fn name_args(&mut self, pc: Pc) -> Vec<Value> {
        if self.names.is_none() || !self.joins(pc) {
            return Vec::new();
        }
        let wanted = self.held_at(pc);
        let value = |(name, kind): (&u32, &Option<RawKind>)| match (self.held(*name), kind) {
            (Some(Held::Clean(v)), None) => v,
            (Some(Held::Dirty(v, k)), Some(kind)) if k == *kind => v,
            (held, _) => unreachable!("name {name} is {held:?} on the way to {pc}"),
        };
        wanted.iter().map(value).collect()
    }

    /// Returns true if names are in registers at `pc`: pending work must then be done by the
    /// interpreter.
    pub(super) fn holds_names_at(&mut self, pc: Pc) -> bool {
        self.names.is_some() && !self.held_at(pc).is_empty()
    }

    // ---- instructions ----

    /// The value of a name that nothing in the unit binds, if it may be relied on.
    fn constant_name(&self, name: u32) -> Option<Global> {
        self.world
            .global(self.code.globals, &self.code.names[name as usize])
    }

    fn get_name(&mut self, name: u32, state: StateId) -> Value {
        let v = self.emit_with(Op::NameGet(name), vec![], Type::OBJECT, Some(state));
        self.f.insts[v].source = crate::facts::Source::Guarded;
        let guess = self.names().guess[name as usize];
        if is_builtin_exact(guess) {
            self.hints.insert(v, guess);
        }
        v
    }

    fn raw_name(&mut self, name: u32, kind: RawKind, state: StateId) -> Value {
        let op = Op::NameGetRaw(name, kind.boxed());
        self.emit_with(op, vec![], kind.raw(), Some(state))
    }

    /// Returns true if the unit itself binds or deletes a name that it keeps in a register.
    pub(super) fn binds_name(&self, name: u32) -> bool {
        (self.names.as_ref()).is_some_and(|names| names.bound.contains(&name))
    }

    /// Load a name and push it; false if the general operation must do it.
    pub(super) fn load_name(&mut self, name: u32) -> bool {
        if self.names.is_none() {
            return false;
        }
        match self.held(name) {
            Some(Held::Clean(v)) => self.push_new_ref(v),
            Some(Held::Dirty(raw, kind)) => {
                let v = self.boxed(raw, kind);
                self.push_owned(v);
            }
            None => {
                let names = self.names();
                if !names.bound.contains(&name)
                    && let Some(global) = self.constant_name(name)
                {
                    self.push_global(global);
                    return true;
                }
                let avoided = self.avoids(Reason::Name);
                if avoided || !self.names().may_be_bound(name) {
                    return false;
                }
                let state = self.state();
                let v = self.get_name(name, state);
                self.set(name, Some(Held::Clean(v)));
                self.push_new_ref(v);
            }
        }
        true
    }

    /// Pop a value and bind a name to it; false if the general operation must do it.
    pub(super) fn store_name(&mut self, name: u32) -> bool {
        if self.names.is_none() {
            return false;
        }
        let top = self.stack.len() - 1;
        self.own(top);
        self.start_instr();
        let guess = self.names().guess[name as usize];
        if !is_builtin_exact(self.ty(self.stack[top].value)) && RawKind::of(guess).is_some() {
            self.guard_type(self.stack[top].value, guess);
        }
        let value = self.stack[top].value;
        let ty = self.ty(value).unspecialized();
        if is_builtin_exact(ty) {
            self.names().guess[name as usize] = ty;
        } else if guess <= Type::NULLPTR {
            self.names().guess[name as usize] = Type::OBJECT;
        }
        let old = self.old_type(name, guess);
        match RawKind::of(ty) {
            Some(kind) if self.may_defer(name, kind) && dies_quietly(old) => {
                if let Some(Held::Clean(v)) = self.held(name) {
                    self.f.rely_on(v);
                }
                let state = self.state();
                let raw = self.unboxed(value, kind, state);
                self.set(name, Some(Held::Dirty(raw, kind)));
                let entry = self.pop();
                self.drop_entry(entry);
            }
            _ => self.write_through(name, value, old),
        }
        true
    }

    /// The type of the dict's value, with a speculation on it if its destructor is likely to run no
    /// user code.
    fn old_type(&mut self, name: u32, guess: Type) -> Type {
        match self.held(name) {
            Some(Held::Dirty(..)) => return Type::LONG_EXACT,
            Some(Held::Clean(v)) => return self.ty(v).unspecialized(),
            None => {}
        }
        let pc = self.pc;
        let barrier = self.names().barriers.contains(&pc);
        let avoided = |reason| self.avoids(reason);
        let lost = avoided(Reason::Name) || avoided(Reason::Type);
        if barrier || lost || !dies_quietly(guess) {
            return Type::OBJECT.opt();
        }
        let state = self.state();
        if let Some(kind) = RawKind::of(guess) {
            self.raw_name(name, kind, state);
        } else {
            let v = self.get_name(name, state);
            let v = self.guard_type(v, guess);
            self.set(name, Some(Held::Clean(v)));
        }
        guess
    }

    fn may_defer(&self, name: u32, kind: RawKind) -> bool {
        let names = self
            .names
            .as_ref()
            .expect("asked only where there are some");
        self.place(name).is_some()
            && !names.plan.through.contains(&name)
            && !(kind == RawKind::Int && self.avoids(Reason::IntTooLarge))
    }

    /// Stores at once, and drops the old value of the name.
    fn write_through(&mut self, name: u32, value: Value, old_type: Type) {
        let before = self.held(name);
        let entry = self.pop();
        let state = self.state_at(self.pc);
        let old = self.emit_with(Op::NameSet(name), vec![value], old_type.opt(), Some(state));
        let dropped = match before {
            // The same object, whose type may be known more precisely.
            Some(Held::Clean(v)) if self.is_object(v) => v,
            _ => old,
        };
        self.set(name, Some(Held::Clean(entry.value)));
        let state = self.state_at(self.pc);
        self.emit_with(Op::Decref, vec![dropped], Type::BOTTOM, Some(state));
        if self.f.drop_runs_host_code(dropped) {
            self.unchecked = true;
        }
    }
}
