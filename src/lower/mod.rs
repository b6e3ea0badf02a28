//! From HIR to LIR: one representation for each value, explicit references, exits as records.
//!
//! # One instruction at a time
//! `dispatch` selects the lowering of an op; each is a method of the `HighLevelOp` in `hop`, in the
//! file for its kind of values (`numbers`, `objects`, `attributes`, `containers`, `namespace`,
//! `calls`, `pending`, `closed` for raw calls). State of the whole function is in `Lower`:
//! representations (`repr`), references, edges, exits, the published part of the frame. An error in
//! lowering is a [`Fault`], not a panic: the function is refused.
//!
//! # Representation of values
//! A C value is raw. An object is a pointer, except a box of a raw value, which is **virtual**: the
//! box is allocated where an operation needs the object, and everywhere else the raw value is used
//! (in exits too). A virtual tuple is materialised by exits alone, from its items. A local's slot
//! in the frame holds its object as an owned reference, or nothing while the local is raw or
//! virtual.
//!
//! # Call-outs
//! Before an operation that may run user code, the unit stores the instruction's position and the
//! words of the raw locals into the frame, so that code that inspects the frame finds them;
//! `raw_maps` records which locals are raw at which position.
//!
//! # Deliberately absent
//! `lower` adds no speculation: every exit here comes from an HIR op that has a frame state. It
//! knows no offset of the host except the distance of slots.

mod assertions;
mod attributes;
mod calls;
mod closed;
mod containers;
mod dispatch;
mod edges;
mod exits;
mod fault;
mod hop;
mod intervals;
mod namespace;
mod numbers;
mod objects;
mod pending;
mod references;
mod repr;
mod resume;
mod routines;
mod shown;
#[cfg(test)]
mod tests;

use closed::Closed;
pub use closed::{adapter, lower_closed};
use exits::LastExit;
pub use fault::{Fault, Faults, What};
use intervals::{Interval, Intervals};
pub use repr::{Repr, Wanted};
use routines::Policy;
pub use routines::{Routine, Routines, routine};
use shown::{Shadows, Shown};

use crate::exits::ExitRecord;
use crate::hir::{self, Function, GeneralOp, Op, Value};
use crate::host::Host;
use crate::host::{Entry, RawMap, UnitParts};
use crate::lir::{self, Builder, Func, Opcode, Signature};
use crate::ll::{Ty, Width};
use crate::types::ObjectHandle;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// The result of lowering.
#[derive(Debug)]
pub struct Lowered {
    /// The unit.
    pub func: Func,
    /// Its exits.
    pub exits: Vec<ExitRecord>,
    /// Raw locals by call-out.
    pub raw_maps: Vec<RawMap>,
}

/// The values at the entry of a unit that resumes frames.
#[derive(Clone, Copy)]
struct Resumed {
    words: lir::Value,
    point: lir::Value,
    sent: lir::Value,
}

/// The knowledge, at a place in the code, of the unit being still valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum UnitValidity {
    /// No user code has run since the last check.
    Clean,
    /// User code has run, and this value tells if the unit is still valid.
    Known(lir::Value),
    /// User code has run.
    Unknown,
}

pub(crate) struct Lower<'a> {
    f: &'a Function,
    host: &'a Host,
    parts: &'a UnitParts,
    entry: Entry,
    /// For a closed unit, which has no frame; `frame` is the function then.
    closed: Option<Closed<'a>>,
    /// The room of a closed unit's calls ([`crate::host::raw_signature`]); unused otherwise.
    room: lir::Value,
    b: Builder<'a>,
    values: SecondaryMap<Value, PackedOption<lir::Value>>,
    /// The representations of values that have been queried.
    reprs: Vec<Cell<Option<Repr>>>,
    blocks: FxHashMap<hir::Block, lir::Block>,
    exits: Vec<ExitRecord>,
    /// By the host's position. Two instructions may have the same position: then there is one map
    /// for each copy of an instruction that differs in it.
    raw_maps: BTreeMap<u32, Vec<RawMap>>,
    /// Positions that are known to have several maps.
    copied: &'a BTreeSet<u32>,
    thread: lir::Value,
    frame: lir::Value,
    /// For a unit that resumes frames, which have no words after them: the place of the words, the
    /// resume point and the sent value.
    resumed: Option<Resumed>,
    /// The common block of all returns.
    leave: Option<lir::Block>,
    /// The instruction that may raise at the end of this block, and its landing block.
    landing: Option<(Value, hir::Block)>,
    /// The known contents of the frame's words at the starts of blocks.
    shown: Shown,
    /// The locals at the current place.
    locals: hir::Locals,
    /// The position stored in the frame, if known here.
    position: Option<u32>,
    /// The raw words stored in the frame, if known here.
    shadows: Shadows,
    /// The outputs of operations, and the number of them that are read.
    outputs: FxHashMap<Value, Vec<lir::Value>>,
    output_counts: FxHashMap<Value, u32>,
    /// True if references are counted. Otherwise they are marked, for the host's collector.
    is_counted: bool,
    /// A fault for tests: integer subtraction with exchanged operands.
    planted: bool,
    /// The check of validity after this instruction, if no user code has run before it. Then the
    /// check is needed only where the instruction runs user code.
    check_after: Option<Value>,
    /// The drops between this one and the check.
    rest_of_group: Vec<Value>,
    /// The check, if the instruction has made it.
    checked: Option<Value>,
    /// The knowledge of the unit being still valid here.
    validity: UnitValidity,
    /// True if the next check of validity uses the instruction's [answer](Lower::account).
    wants_answer: bool,
    /// True if the instruction has given its answer, or runs no user code.
    is_accounted: bool,
    /// The latest exit.
    last_exit: Option<LastExit>,
    /// The choice of intrinsics that are called, not inlined.
    policy: Policy<'a>,
    /// The index of the current block in the order of blocks.
    place: usize,
    /// The intervals of integers.
    intervals: Intervals,
    /// The current instruction; none at the end of a block.
    lowered: Option<Value>,
    /// The faults found.
    faults: Vec<Fault>,
}

/// Lowers `f`. `planted` inserts a fault, for tests that must find it.
///
/// # Errors
/// Faults of lowering itself: an operand that can't be converted to the wanted form, or an
/// exception without a marked place.
///
/// # Panics
/// If `f` is not in canonical form (the verifier's and builder's promise).
pub fn lower(
    f: &Function,
    host: &Host,
    parts: &UnitParts,
    entry: Entry,
    planted: bool,
    routines: Routines<'_>,
) -> Result<Lowered, Faults> {
    let code = f.code.clone();
    let mut params = vec![Ty::Ptr, Ty::Ptr];
    match entry {
        Entry::Function => params.extend((0..code.arity()).map(|_| Ty::Ptr)),
        Entry::Resume => params.push(Ty::Ptr),
        Entry::Loop(_) => {}
    }
    let func = Func::new(
        code.name.clone(),
        Signature {
            params,
            results: vec![Ty::Ptr],
        },
    );
    let closed = None;
    finish(func, f, host, parts, entry, closed, planted, routines)
}

/// The address of an object in the code.
fn address(object: ObjectHandle) -> u64 {
    if object.host().is_none() {
        gone();
    }
    object.token()
}

/// Aborts the lowering of a unit whose objects or classes were freed: the host has discarded it
/// from another thread. That is no fault, so nothing is printed; the caller of the code generator
/// catches it.
fn gone() -> ! {
    std::panic::resume_unwind(Box::new(
        "a class or an object of the unit was deallocated".to_owned(),
    ))
}

/// Lowers the body of a unit whose parameters are thread, function or frame, and arguments.
#[expect(
    clippy::too_many_arguments,
    reason = "what `lower` was given, and the kind of unit"
)]
fn finish(
    func: Func,
    f: &Function,
    host: &Host,
    parts: &UnitParts,
    entry: Entry,
    closed: Option<Closed<'_>>,
    planted: bool,
    routines: Routines<'_>,
) -> Result<Lowered, Faults> {
    let mut copied = BTreeSet::new();
    let (mut func, exits, raw_maps) = loop {
        let mut start = func.clone();
        let mut lower = Lower::new(
            &mut start, f, host, parts, entry, closed, planted, routines, &copied,
        );
        lower.run();
        let (exits, raw_maps, faults) = (lower.exits, lower.raw_maps, lower.faults);
        if !faults.is_empty() {
            return Err(Faults(faults));
        }
        let several = raw_maps.iter().filter(|(_, maps)| maps.len() > 1);
        let several: BTreeSet<u32> = several.map(|(pos, _)| *pos).collect();
        // Positions of which the copies differ in their raw locals are known after the first pass;
        // then each copy records which one is running.
        if several.is_subset(&copied) {
            break (start, exits, raw_maps);
        }
        copied.extend(several);
    };
    lir::tidy(&mut func);
    if let Some(announcement) = &parts.announcement {
        func.announce_calls(announcement, &host.helpers);
    }
    lir::tend_loops(
        &mut func,
        &host.helpers,
        parts.loop_counter,
        parts.pending_cell(),
    );
    Ok(Lowered {
        func,
        exits,
        raw_maps: raw_maps.into_values().flatten().collect(),
    })
}

/// The number of outputs that are read, for each operation that has some.
fn output_counts(f: &Function) -> FxHashMap<Value, u32> {
    let mut counts: FxHashMap<Value, u32> = FxHashMap::default();
    for &b in &f.order {
        for &v in &f.blocks[b].insts {
            if let Op::Output(n) = f.op(v) {
                let count = counts.entry(f.arg(v, 0)).or_default();
                *count = (*count).max(n + 1);
            }
        }
    }
    counts
}

impl<'a> Lower<'a> {
    #[expect(
        clippy::too_many_arguments,
        reason = "what `finish` was given, and what it has found out"
    )]
    fn new(
        func: &'a mut Func,
        f: &'a Function,
        host: &'a Host,
        parts: &'a UnitParts,
        entry: Entry,
        closed: Option<Closed<'a>>,
        planted: bool,
        routines: Routines<'a>,
        copied: &'a BTreeSet<u32>,
    ) -> Lower<'a> {
        let (thread, second) = (func.params()[0], func.params()[1]);
        Lower {
            f,
            host,
            parts,
            entry,
            closed,
            room: closed.map_or(second, |_| func.params()[2]),
            b: Builder::folding(func),
            values: SecondaryMap::with_capacity(f.insts.len()),
            reprs: vec![Cell::new(None); f.insts.len()],
            blocks: FxHashMap::default(),
            exits: Vec::new(),
            raw_maps: BTreeMap::new(),
            copied,
            thread,
            frame: second,
            resumed: None,
            leave: None,
            landing: None,
            shown: Shown::new(f),
            locals: hir::Locals::default(),
            position: None,
            shadows: Shadows::default(),
            outputs: FxHashMap::default(),
            output_counts: output_counts(f),
            is_counted: host.lifetimes.are_counted(),
            planted,
            check_after: None,
            rest_of_group: Vec::new(),
            checked: None,
            validity: UnitValidity::Clean,
            wants_answer: false,
            is_accounted: false,
            last_exit: None,
            policy: Policy::new(f, routines),
            place: 0,
            intervals: Intervals::of(f, host.unboxed_bits),
            lowered: None,
            faults: Vec::new(),
        }
    }

    fn run(&mut self) {
        let second = self.frame;
        let before_args = if self.closed.is_some() { 3 } else { 2 };
        let args = self.b.func.params()[before_args..].to_vec();
        let args = args.as_slice();
        if self.entry == Entry::Function {
            self.reference(second);
            for &arg in args {
                if self.b.func.values[arg] == Ty::Ptr {
                    self.reference(arg);
                }
            }
        }
        let landings: FxHashSet<hir::Block> = self
            .f
            .order
            .iter()
            .filter_map(|&b| self.f.landing(b).map(|l| l.1))
            .collect();
        let is_rare = |&v: &Value| *self.f.op(v) == Op::DoPending;
        for &block in &self.f.order[1..] {
            let insts = &self.f.blocks[block].insts;
            let lb = if landings.contains(&block) || insts.first().is_some_and(is_rare) {
                self.b.cold_block()
            } else {
                self.b.block()
            };
            for &(p, _) in &self.f.blocks[block].params {
                let ty = self.repr(p).low_level();
                let v = self.b.param(lb, ty);
                let v = if ty == Ty::Ptr { self.reference(v) } else { v };
                self.values[p] = v.into();
            }
            self.blocks.insert(block, lb);
        }
        if self.closed.is_some() {
            self.enter_closed(args);
        } else if self.entry == Entry::Function {
            self.enter(second, args);
        } else if self.entry == Entry::Resume {
            self.enter_suspended(second, args[0]);
        }
        let validity = hir::Validity::of(self.f);
        for (i, &block) in self.f.order.iter().enumerate() {
            self.place = i;
            self.last_exit = None;
            if i > 0 {
                let lb = self.blocks[&block];
                self.b.switch_to(lb);
            }
            self.arrive(block);
            self.landing = self.f.landing(block);
            self.locals = self.f.blocks[block].entry_state.locals.clone();
            let dirty: Vec<bool> = validity.dirty_before(self.f, block).collect();
            self.insts(block, &dirty);
            self.lowered = None;
            self.terminator(block);
        }
    }

    /// Lowers the instructions of a block.
    ///
    /// A check of validity uses the answers of the instructions that have run user code since the
    /// last check, if each gave one. For example, the routine of a dropped reference tests the unit
    /// itself, and only if the object is deallocated.
    fn insts(&mut self, block: hir::Block, dirty: &[bool]) {
        let insts = &self.f.blocks[block].insts;
        let is_forced = self.parts.force_table.is_some();
        let wanted = self.wanted_answers(insts);
        self.validity = UnitValidity::Unknown;
        let mut i = 0;
        while i < insts.len() {
            if !dirty[i] {
                self.validity = UnitValidity::Clean;
            }
            self.show_ahead(insts[i]);
            if let Some((rest, check)) = dropped_together(self.f, &insts[i..])
                && self.can_store_openly(&rest)
            {
                self.drop_in_group(insts[i], rest, check);
                i += 1;
                continue;
            }
            let taken = self.incref_all(&insts[i..]);
            if taken > 0 {
                i += taken;
                continue;
            }
            // An op that only refines a value has no LIR, so a check may follow it too.
            let says_more = |v: &Value| {
                matches!(self.f.op(*v), Op::Refine(_) | Op::Held | Op::Kin(_))
                    && self.f.arg(*v, 0) != insts[i]
            };
            let more = insts[i + 1..].iter().take_while(|v| says_more(v)).count();
            let mut next = i + 1 + more;
            let check = insts.get(next).copied();
            let check = check.filter(|check| match self.f.op(*check) {
                Op::CheckValid => self.validity == UnitValidity::Clean && !is_forced,
                Op::CheckUnseen => *self.f.op(insts[i]) == Op::Decref,
                _ => false,
            });
            if check.is_none() {
                next = i + 1;
            }
            for &v in &insts[i + 1..next] {
                self.inst(v);
            }
            self.check_after = check;
            self.wants_answer = wanted[i]
                && check.is_none()
                && self.validity != UnitValidity::Unknown
                && !is_forced;
            self.is_accounted = false;
            self.inst(insts[i]);
            // The instruction has made the check itself.
            if check.is_some() && self.checked.take() == check {
                i = next + 1;
                continue;
            }
            if !self.is_accounted && self.f.may_run_host_code(insts[i]) {
                self.validity = UnitValidity::Unknown;
            }
            i = next;
        }
    }

    /// Drops a reference, before others and stores into locals that share one check. If the unit
    /// can't continue, those are done too, then it exits. If there are only drops, and a routine
    /// makes this one, the check uses its answer.
    ///
    /// The interpreter may store two locals by one instruction, so the unit can't exit between
    /// them: a finaliser that runs at the first store may have set the slot of the second local.
    fn drop_in_group(&mut self, drop: Value, rest: Vec<Value>, check: Value) {
        self.check_after = Some(check);
        self.rest_of_group = rest;
        self.wants_answer = false;
        self.inst(drop);
        self.rest_of_group.clear();
        self.checked = None;
    }

    /// For each instruction of a block: true if only dropped references run user code before the
    /// next check of validity.
    fn wanted_answers(&self, insts: &[Value]) -> Vec<bool> {
        let mut is_wanted = false;
        let mut wanted = vec![false; insts.len()];
        for (i, &v) in insts.iter().enumerate().rev() {
            wanted[i] = is_wanted;
            is_wanted = match self.f.op(v) {
                Op::CheckValid => true,
                Op::Decref => is_wanted,
                _ => is_wanted && !self.f.may_run_host_code(v),
            };
        }
        wanted
    }

    /// Records the answer if the unit may continue after the instruction's user code.
    fn account(&mut self, valid: lir::Value) {
        let valid = match self.validity {
            UnitValidity::Known(known) => self.b.op(Opcode::Band, &[known, valid]),
            UnitValidity::Clean | UnitValidity::Unknown => valid,
        };
        self.validity = UnitValidity::Known(valid);
        self.is_accounted = true;
    }

    /// Creates the frame. If that fails, makes the call through the interpreter.
    fn enter(&mut self, function: lir::Value, args: &[lir::Value]) {
        let slow = self.b.cold_block();
        let enter = &self.parts.enter;
        let frame = self.b.inline(enter, &[self.thread, function], Some(slow));
        self.leave_to_interpreter(slow, GeneralOp::CallInterpreted, function, args);
        self.frame = frame[0];
        for (k, &arg) in args.iter().enumerate() {
            self.b
                .store(Width::Ptr, self.frame, self.slot_offset(k as u32), arg);
        }
        let entry = self.f.entry();
        for &v in &self.f.blocks[entry].insts {
            if let Op::Arg(k) = self.f.op(v) {
                self.values[v] = args[*k as usize].into();
            }
        }
    }

    /// In the block `slow`: the interpreter does the unit's work with `args`, which it takes over.
    fn leave_to_interpreter(
        &mut self,
        slow: lir::Block,
        op: GeneralOp,
        object: lir::Value,
        args: &[lir::Value],
    ) {
        let here = self.b.current();
        self.b.switch_to(slow);
        let slot = self.b.slot(8 * args.len().max(1) as u32);
        self.references_in(slot, args.len());
        let buffer = self.b.stack_addr(slot);
        for (i, &arg) in args.iter().enumerate() {
            self.b.store(Width::Ptr, buffer, 8 * i as i32, arg);
        }
        let n = self.b.iconst(args.len() as i64);
        let helper = self.host.helper(op.info().name);
        let r = self
            .b
            .call(helper, &[self.thread, object, buffer, n], &[Ty::Ptr]);
        self.b.ret(&r);
        self.b.switch_to(here);
    }

    fn slot_offset(&self, k: u32) -> i32 {
        self.host.frame_slots + 8 * k as i32
    }

    /// The offset in bytes from the frame of the word of local `k` during call-outs, unless the
    /// frame is resumed.
    fn word_at(&self, k: u32) -> u32 {
        let behind = self.f.code.locals.len() as u32 + self.f.code.stacksize + k;
        self.host.frame_slots as u32 + 8 * behind
    }

    /// Stores the raw word of local `k` to its place during call-outs.
    fn store_word(&mut self, width: Width, k: u32, value: lir::Value) {
        let (base, offset) = match self.resumed {
            Some(resumed) => (resumed.words, 8 * k),
            None => (self.frame, self.word_at(k)),
        };
        self.b.store(width, base, offset as i32, value);
    }

    /// The interval of an integer.
    fn interval(&self, v: Value) -> Interval {
        self.intervals.at(self.f, v)
    }

    /// Inlines a standard intrinsic that cannot fail.
    fn intrinsic(&mut self, name: &str, args: &[lir::Value]) -> lir::Results {
        let id = self.host.intrinsic(name);
        self.perform(id, args, None)
    }

    /// Inlines an intrinsic that counts a reference, if the host counts.
    fn count(&mut self, name: &str, p: lir::Value) {
        if self.is_counted {
            self.intrinsic(name, &[p]);
        }
    }

    /// Marks the value as a reference to an object, which a collector must find.
    fn reference(&mut self, p: lir::Value) -> lir::Value {
        if !self.is_counted {
            self.b.mark_ref(p);
        }
        p
    }

    /// Marks the words of a stack slot as references.
    fn references_in(&mut self, slot: i64, words: usize) {
        if !self.is_counted && words > 0 {
            self.b.mark_ref_slot(slot);
        }
    }
}

/// If the first of these instructions is a drop, followed by other drops and stores into locals,
/// and then by a check (of validity if there are stores, otherwise that no user code ran): the
/// instructions between, and the check.
fn dropped_together(f: &Function, insts: &[Value]) -> Option<(Vec<Value>, Value)> {
    let (&first, behind) = insts.split_first()?;
    if *f.op(first) != Op::Decref {
        return None;
    }
    let mut rest = Vec::new();
    for &v in behind {
        match f.op(v) {
            Op::Decref | Op::StoreSlot(_) => rest.push(v),
            Op::Refine(_) | Op::Held | Op::Kin(_) => {}
            Op::CheckUnseen if !rest.is_empty() => return Some((rest, v)),
            Op::CheckValid => {
                let stores = rest.iter().any(|v| matches!(f.op(*v), Op::StoreSlot(_)));
                return stores.then_some((rest, v));
            }
            _ => return None,
        }
    }
    None
}
